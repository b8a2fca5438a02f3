!> The pieces of a shot give each other velocities and stresses beside their planes between half steps, and the rank that gathers
!> samples of receivers and planes of fields. Arguments stand in fd3d.f90.
!>
!> A step: the rim of the velocities, which neighbours need, then the inner cells while those travel, likewise the stresses. Or of
!> some steps all that needs nothing of the neighbours, ahead; then the rim is what is left, and no cells are inner. Whichever is
!> faster (fd3d_manner.f90).
!> Stencils run along one axis, so a neighbour gets three velocities, or the three stresses that are differentiated across the
!> plane, and edges and corners are never sent. Each cell is computed by its owner alone, by the operations that a shot on one rank
!> does: so are its bits.
!>
!> Wide halos save a meeting: velocities alone, twice as deep, and stresses of the margin (interfaces/fd3d_c.f90) by both
!> neighbours, by the same operations. Corners of margins come through two neighbours, so each axis waits for the one before.
!>
!> Pieces on GPUs that see each other are `linked`: their kernels store straight into each other's memory, and a chunk of steps is
!> only queued (fd3d_halo_offer in interfaces/fd3d_c.f90); hosts only look whether the partners live.
submodule(fd3d_m) fd3d_swaps
  use fd3d_engine_m, only: part_all, part_inner, part_rim
  use fd3d_manner_m, only: MannerTake, MannerTurn
  use gpu_ways_m, only: GpuWaysAwait
  use host_c, only: host_seconds
  use partners_m, only: traffic_t
  use receiver_sum_m, only: receiver_parts
  use shared_sums_m, only: header, SumsGather
  use subdomain_m, only: CutsPiece
  use travelling_m, only: travelling
  implicit none

  integer, parameter :: sides = 6
  integer, parameter :: at_once = 2**26          !< numbers that a piece sends home at a time, unless one trace has more

contains

  ! --- steps ----------------------------------------------------------------------------------------------------------

  module procedure do_steps
    integer :: first, it, turn, begun             ! begun: steps whose inner cells are done
    real(dp) :: from
    if (self%linked .or. .not. self%grouped()) then
      call self%engine%timestep(self%steps + 1, n, error)
      if (self%linked) call Count(self%partners%traffic)
      return
    end if
    begun = 0
    first = self%steps + 1
    do while (first <= self%steps + n .and. .not. allocated(error))
      from = host_seconds()
      call MannerTurn(self%manner, self%steps + n - first + 1, turn)
      do it = first, first + turn - 1
        if (self%manner%ahead .and. self%overlaps .and. .not. self%grid%wide .and. begun == 0 .and. .not. allocated(error)) &
          call self%engine%ahead(it, first + turn - it, begun, error)
        if (self%grid%wide) then
          call WideStep(self, it, error)
        else
          call HalfStep(self, it, 0, error)
          call HalfStep(self, it, 1, error)
        end if
        begun = max(0, begun - 1)
      end do
      call MannerTake(self%manner, (host_seconds() - from)/turn)
      first = first + turn
    end do

  contains

    !> Kernels send, velocities and stresses each step.
    subroutine Count(traffic)
      type(traffic_t), intent(inout) :: traffic(:)
      integer :: side
      do side = 1, sides
        if (self%partners%with(side) == 0) cycle
        traffic(side)%bytes = traffic(side)%bytes + 2*n*4*self%engine%halo_size(side)
        traffic(side)%messages = traffic(side)%messages + 2*n
      end do
    end subroutine Count
  end procedure do_steps

  module procedure await_steps
    if (self%linked) then
      call GpuWaysAwait(self, most, error)
    else
      call self%engine%pending(most, error)
    end if
  end procedure await_steps

  ! --- half steps through the host --------------------------------------------------------------------------------------

  !> Velocities (what = 0) or stresses (1) of step `it`.
  subroutine HalfStep(self, it, what, error)
    class(fd3d_t), intent(inout) :: self
    integer, intent(in) :: it, what
    type(error_t), allocatable, intent(inout) :: error
    call Update(self, it, what, merge(part_rim, part_all, self%overlaps), error)
    call GiveRims(self, what, what + 1, 1, sides, error)
    travelling => self%partners
    if (self%overlaps) call Update(self, it, what, part_inner, error)
    nullify (travelling)
    call TakeHalos(self, what, what + 1, 1, sides, error)
  end subroutine HalfStep

  !> Step `it` with wide halos. Inner cells are updated while what is given across the first cut axis travels.
  subroutine WideStep(self, it, error)
    class(fd3d_t), intent(inout) :: self
    integer, intent(in) :: it
    type(error_t), allocatable, intent(inout) :: error
    integer :: low, kind
    logical :: inner
    kind = 1 + modulo(it, 2)
    inner = self%overlaps
    call Update(self, it, 0, merge(part_rim, part_all, inner), error)
    do low = 1, sides, 2
      if (all(self%partners%with(low:low + 1) == 0)) cycle
      call GiveRims(self, 0, kind, low, low + 1, error)
      travelling => self%partners
      if (inner) call Update(self, it, 0, part_inner, error)
      nullify (travelling)
      inner = .false.
      call TakeHalos(self, 0, kind, low, low + 1, error)
    end do
    call Update(self, it, 1, part_all, error)
  end subroutine WideStep

  module procedure GiveRims
    real(dp) :: start
    integer :: side
    associate (p => self%partners)
      do side = first, last
        if (p%with(side) == 0 .or. allocated(error)) cycle
        start = host_seconds()
        call self%engine%halo_get(what, side, p%out(side, kind)%a, error)
        if (.not. allocated(error)) call p%send(side, kind, error, int(self%engine%halo_size(side)))
        p%traffic(side)%seconds = p%traffic(side)%seconds + host_seconds() - start
      end do
    end associate
  end procedure GiveRims

  module procedure TakeHalos
    real(dp) :: start
    integer :: side
    associate (p => self%partners)
      do side = first, last
        if (p%with(side) == 0 .or. allocated(error)) cycle
        start = host_seconds()
        call p%await(side, kind, error)
        if (.not. allocated(error)) call self%engine%halo_put(what, side, p%in(side, kind)%a, error)
        p%traffic(side)%seconds = p%traffic(side)%seconds + host_seconds() - start
      end do
    end associate
  end procedure TakeHalos

  subroutine Update(self, it, what, part, error)
    class(fd3d_t), intent(inout) :: self
    integer, intent(in) :: it, what, part
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    if (what == 0) call self%engine%velocity(it, part, error)
    if (what == 1) call self%engine%stress(it, part, error)
  end subroutine Update

  ! --- what comes home ------------------------------------------------------------------------------------------------

  module procedure samples
    real(sp), allocatable :: mine(:, :)
    integer, allocatable :: here(:)           ! of some receivers, without points of the map
    integer :: r, first, some, last
    if (.not. self%grouped()) then
      call self%engine%traces(1, raw, error)
      return
    end if
    if (self%linked) call self%engine%halo_waited(self%partners%traffic%seconds, error)
    if (self%linked) call self%engine%halo_close()      ! all have, when the samples are gathered: memory may be given back
    self%linked = .false.
    allocate (mine(self%scheme%nt, size(self%heard)))
    call self%engine%traces(1, mine, error)
    raw = 0
    last = size(self%shot%rx)*size(self%at_whole)
    some = max(1, at_once/(receiver_parts*(self%scheme%nt + header)))
    do first = 1, last, some
      here = pack([(r, r=1, size(self%heard))], self%heard >= first .and. self%heard < min(last + 1, first + some))
      call Gathered(self, self%heard(here), self%part(here), mine(:, here), raw, error)
      if (allocated(error)) return
    end do
  end procedure samples

  module procedure Gathered
    call SumsGather(self%partners, number, part, mine, all, error)
  end procedure Gathered

  module procedure Slice
    real(sp), allocatable :: part(:, :), got(:)
    integer(i8), allocatable :: count(:)
    integer(i8) :: at
    integer :: p, across(2), first(3), last(3), n(2), low(2)
    if (.not. self%grouped()) then
      call self%engine%slice(field, axis, index, plane, error)
      return
    end if
    across = pack([1, 2, 3], [1, 2, 3] /= axis)
    allocate (part(0, 0))
    if (Crosses(self, self%partners%mine, axis, index)) then
      deallocate (part)
      allocate (part(self%grid%n(across(1)), self%grid%n(across(2))))
      call self%engine%slice(field, axis, index - self%grid%first(axis) + 1, part, error)
      low = self%piece%first(across) - self%grid%first(across)
      n = self%piece%n(across)
      part = part(low(1) + 1:low(1) + n(1), low(2) + 1:low(2) + n(2))
    end if
    call self%partners%collect(reshape(part, [size(part)]), got, count, error)
    if (allocated(error) .or. .not. self%gathers()) return
    at = 0
    do p = 1, self%partners%n
      if (.not. Crosses(self, p, axis, index)) cycle
      call CutsPiece(self%cuts, p, first, last)
      n = last(across) - first(across) + 1
      plane(first(across(1)):last(across(1)), first(across(2)):last(across(2))) = reshape(got(at + 1:at + count(p)), n)
      at = at + count(p)
    end do
  end procedure Slice

  !> A plane goes through a piece.
  pure logical function Crosses(self, piece, axis, index)
    class(fd3d_t), intent(in) :: self
    integer, intent(in) :: piece, axis, index
    integer :: first(3), last(3)
    call CutsPiece(self%cuts, piece, first, last)
    Crosses = index >= first(axis) .and. index <= last(axis)
  end function Crosses

  module procedure OverAll
    if (.not. self%grouped()) return
    if (how == 'total') call self%partners%total(x, error)
    if (how == 'largest') call self%partners%largest(x, error)
  end procedure OverAll

end submodule fd3d_swaps
