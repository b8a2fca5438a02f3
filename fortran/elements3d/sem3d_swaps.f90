!> The pieces of a shot give each other what their bricks have of the points that they share, in each step, and the rank that
!> gathers samples of receivers. Arguments stand in sem3d.f90.
!>
!> A step: of the fluid, then of the solid, bricks whose sums others need; these travel while the other bricks are computed; then
!> the shared points take their step. All who have such a point add the same sums in the same order, and so move it by themselves.
submodule(sem3d_m) sem3d_swaps
  use elements_cut_m, only: CutWords
  use gpu_ways_m, only: GpuWaysAwait, GpuWaysOpen
  use host_c, only: host_seconds
  use iso_c_binding, only: c_funloc, c_null_funptr
  use partners_m, only: carried_words, halo_host, halo_mpi, traffic_t
  use receiver_sum_m, only: receiver_parts
  use sem3d_engine_m, only: part_inside, part_rim, part_shared
  use shared_sums_m, only: header, SumsGather
  use travelling_m, only: MessagesOn, travelling
  implicit none

  integer, parameter :: at_once = 2**26          !< numbers that a piece sends home at a time, unless one trace has more
  integer, parameter :: most_pieces = 500        !< each has flags for all

contains

  ! --- steps ----------------------------------------------------------------------------------------------------------------

  module procedure OpenWays
    integer :: with(self%partners%n), theirs(self%partners%n), w, phase, out, in
    integer(i8) :: n(self%partners%n)
    if (self%partners%n > most_pieces) call Fail(error, 'a group of '//Str(self%partners%n)//' ranks, at most '//Str(most_pieces))
    n = 0
    do w = 1, self%partners%n
      do phase = phase_solid, phase_fluid
        if (.not. allocated(error)) call self%engine%way_size(phase, w, out, in, error)
        if (.not. allocated(error)) n(w) = max(n(w), int(out, i8), int(in, i8))
      end do
    end do
    if (allocated(error)) return
    with = merge([(w, w=1, self%partners%n)], 0, n > 0)
    theirs = self%partners%mine
    self%linked = .false.
    self%remark = ''
    self%turns = 0
    self%partners%messages = self%own%halo == halo_mpi
    self%partners%on_gpu = self%engine%gpu .and. self%own%halo /= halo_host
    call self%partners%open(with, theirs, n, error)
    if (self%own%halo /= halo_mpi .and. .not. allocated(error)) call GpuWaysOpen(self, self%own%halo, n, error)
    self%partners%traffic = traffic_t()
    if (.not. allocated(error)) &
      call self%engine%between(merge(c_funloc(MessagesOn), c_null_funptr, self%partners%ways(2) > 0), error)
  end procedure OpenWays

  module procedure do_steps
    integer :: it
    if (self%linked .or. .not. self%grouped()) then
      call self%engine%timestep(self%steps + 1, n, error)
      if (self%linked) call CountSent(self, n, error)
      return
    end if
    do it = self%steps + 1, self%steps + n
      call Phase(self, it, phase_fluid, self%there(phase_fluid), error)
      call Phase(self, it, phase_solid, self%there(phase_solid), error)
      if (allocated(error)) return
    end do
  end procedure do_steps

  !> Kernels send, of each phase that travels at a way.
  subroutine CountSent(self, n, error)
    class(sem3d_t), intent(inout) :: self
    integer, intent(in) :: n
    type(error_t), allocatable, intent(inout) :: error
    integer :: w, phase, out, in
    associate (p => self%partners)
      do w = 1, p%n
        if (p%with(w) == 0) cycle
        do phase = phase_solid, phase_fluid
          call self%engine%way_size(phase, w, out, in, error)
          if (out + in == 0) cycle
          p%traffic(w)%bytes = p%traffic(w)%bytes + 4_i8*out*n
          p%traffic(w)%messages = p%traffic(w)%messages + n
        end do
      end do
    end associate
  end subroutine CountSent

  module procedure await_steps
    if (self%linked) then
      call GpuWaysAwait(self, most, error)
    else
      call self%engine%pending(most, error)
    end if
  end procedure await_steps

  module procedure swap_once
    integer :: phase
    n = 0
    do phase = phase_fluid, phase_solid, -1
      if (self%there(phase)) then
        call Send(self, phase, error)
        call Receive(self, phase, error)
        n = n + 1
      end if
    end do
  end procedure swap_once

  !> There: the mesh has elements of this phase.
  subroutine Phase(self, it, which, there, error)
    class(sem3d_t), intent(inout) :: self
    integer, intent(in) :: it, which
    logical, intent(in) :: there
    type(error_t), allocatable, intent(inout) :: error
    if (.not. allocated(error)) call self%engine%step_part(it, which, part_rim, error)
    if (there) call Send(self, which, error)
    travelling => self%partners
    if (.not. allocated(error)) call self%engine%step_part(it, which, part_inside, error)
    nullify (travelling)
    if (there) call Receive(self, which, error)
    if (.not. allocated(error)) call self%engine%step_part(it, which, part_shared, error)
  end subroutine Phase

  subroutine Send(self, phase, error)
    class(sem3d_t), intent(inout) :: self
    integer, intent(in) :: phase
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: start
    integer :: w, kind, out, in
    self%turns = self%turns + 1
    kind = 1 + modulo(self%turns, 2)
    associate (p => self%partners)
      do w = 1, p%n
        if (p%with(w) == 0 .or. allocated(error)) cycle
        start = host_seconds()
        call self%engine%way_size(phase, w, out, in, error)
        if (.not. allocated(error)) call self%engine%give(phase, w, p%out(w, kind)%a, error)
        if (.not. allocated(error)) call p%send(w, kind, error, out)
        p%traffic(w)%seconds = p%traffic(w)%seconds + host_seconds() - start
      end do
    end associate
  end subroutine Send

  subroutine Receive(self, phase, error)
    class(sem3d_t), intent(inout) :: self
    integer, intent(in) :: phase
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: start
    integer :: w, kind
    kind = 1 + modulo(self%turns, 2)
    associate (p => self%partners)
      do w = 1, p%n
        if (p%with(w) == 0 .or. allocated(error)) cycle
        start = host_seconds()
        call p%await(w, kind, error)
        if (.not. allocated(error)) call self%engine%take(phase, w, p%in(w, kind)%a, error)
        p%traffic(w)%seconds = p%traffic(w)%seconds + host_seconds() - start
      end do
    end associate
  end subroutine Receive

  ! --- source and receivers -------------------------------------------------------------------------------------------------

  module procedure SourceHere
    logical :: here(list%n)
    integer :: history(list%n), n
    history = [(merge(1, 2, n <= self%before_second), n=1, list%n)]
    if (.not. self%grouped()) then
      call self%engine%source(self%histories, list%field(:list%n), list%point(:list%n), history, list%w(:list%n), error)
      return
    end if
    here = list%point(:list%n) > 0
    call self%engine%source(self%histories, pack(list%field(:list%n), here), pack(list%point(:list%n), here), &
                            pack(history, here), pack(list%w(:list%n), here), error)
  end procedure SourceHere

  module procedure ReceiversHere
    integer, allocatable :: start(:), from(:)
    logical :: mine(list%n)
    integer :: copies(list%receivers), r, p, m, n, all
    integer(i8) :: total
    if (.not. self%grouped()) then
      call self%engine%receivers(list%start(:list%receivers + 1), list%field(:list%n), list%point(:list%n), list%w(:list%n), error)
      return
    end if
    do m = 1, list%n
      mine(m) = list%point(m) > 0
      if (mine(m)) mine(m) = self%piece%owns(list%point(m))
    end do
    total = 0
    do r = 1, list%receivers
      n = count(mine(list%start(r):list%start(r + 1) - 1))
      all = list%start(r + 1) - list%start(r)
      copies(r) = merge(0, merge(1, receiver_parts, n == all), n == 0)
      total = total + int(copies(r), i8)*n
    end do
    if (total > huge(1)) then
      call Fail(error, 'receivers take '//Str(real(total, dp), 3)//' weights on a rank, at most 2.1e9 can be: take fewer '// &
                'receivers, or fewer components')
      return
    end if
    self%heard = [((r, p=1, copies(r)), r=1, list%receivers)]
    self%part = [((merge(p, 0, copies(r) > 1), p=1, copies(r)), r=1, list%receivers)]
    allocate (start(size(self%heard) + 1), from(total))
    start(1) = 1
    do n = 1, size(self%heard)
      start(n + 1) = start(n)
      do m = list%start(self%heard(n)), list%start(self%heard(n) + 1) - 1
        if (.not. mine(m)) cycle
        from(start(n + 1)) = m
        start(n + 1) = start(n + 1) + 1
      end do
    end do
    call self%engine%receivers(start, list%field(from), list%point(from), list%w(from), error)
    if (.not. allocated(error)) call self%engine%receiver_part(self%part, error)
  end procedure ReceiversHere

  module procedure GatherSamples
    real(sp), allocatable :: mine(:, :)
    integer, allocatable :: here(:)           ! of some receivers
    integer :: r, first, some, last, next, before
    if (self%linked) call self%engine%halo_waited(self%partners%traffic%seconds, error)
    if (self%linked) call self%engine%halo_close()      ! all have, when the samples are gathered: memory may be given back
    self%linked = .false.
    allocate (mine(self%scheme%nt, size(self%heard)))
    call self%engine%traces(1, mine, error)
    last = size(self%slope)
    some = max(1, at_once/(receiver_parts*(self%scheme%nt + header)))
    next = 1
    do first = 1, last, some
      before = next                                     ! receivers are heard in their order
      do while (next <= size(self%heard))
        if (self%heard(next) >= first + some) exit
        next = next + 1
      end do
      here = [(r, r=before, next - 1)]
      if (.not. allocated(error)) call SumsGather(self%partners, self%heard(here), self%part(here), mine(:, here), raw, error)
    end do
  end procedure GatherSamples

  ! --- in words -------------------------------------------------------------------------------------------------------------

  module procedure shared_out
    words = ''
    if (.not. self%grouped()) return
    words = CutWords(self%cut)
    if (self%remark /= '') words = words//'; '//self%remark
  end procedure shared_out

  module procedure ways_found
    real(dp), allocatable :: x(:, :, :)
    integer :: p, w
    words = ''
    if (.not. self%grouped()) return
    associate (all => self%partners)
      allocate (x(3, all%n, all%n), source=0.0_dp)
      x(1, :, all%mine) = all%carried
      x(2, :, all%mine) = all%latency
      x(3, :, all%mine) = all%rate
    end associate
    call OfAllFigures(self, x, error)
    if (allocated(error) .or. .not. self%gathers()) return
    do p = 1, self%partners%n
      do w = p + 1, self%partners%n
        if (nint(x(1, w, p)) == 0) cycle
        call AddLine(words, 'pieces '//Str(p)//' and '//Str(w)//': '//trim(carried_words(nint(x(1, w, p))))//', '// &
                     Str(1e6_dp*x(2, w, p), 3)//' us and '//Str(1e-9_dp*x(3, w, p), 3)//' GB/s')
      end do
    end do
  end procedure ways_found

  module procedure exchanged
    real(dp), allocatable :: x(:, :, :)
    character(:), allocatable :: lines
    integer :: p, w
    words = ''
    if (.not. self%grouped()) return
    associate (all => self%partners)
      allocate (x(3, all%n, all%n), source=0.0_dp)
      x(1, :, all%mine) = real(all%traffic%bytes, dp)
      x(2, :, all%mine) = real(all%traffic%messages, dp)
      x(3, :, all%mine) = all%traffic%seconds
    end associate
    call OfAllFigures(self, x, error)
    if (allocated(error) .or. .not. self%gathers() .or. self%steps == 0) return
    lines = ''
    do p = 1, self%partners%n
      do w = 1, self%partners%n
        if (nint(x(2, w, p)) > 0) call AddLine(lines, 'piece '//Str(p)//' to '//Str(w)//': '//Figures(x(:, w, p)))
      end do
    end do
    words = Str(self%steps)//' steps; a step: '//Figures([sum(x(1, :, :)), sum(x(2, :, :)), maxval(sum(x(3, :, :), 1))])// &
            ' where most'
    if (lines /= '') call AddLine(words, lines)

  contains

    function Figures(sum) result(text)
      real(dp), intent(in) :: sum(:)
      character(:), allocatable :: text
      text = Str(nint(sum(1)/self%steps, i8))//' bytes, '//Str(nint(sum(2)/self%steps))//' messages, '// &
             Str(1e6_dp*sum(3)/self%steps, 3)//' us'
    end function Figures
  end procedure exchanged

  subroutine OfAllFigures(self, x, error)
    class(sem3d_t), intent(inout) :: self
    real(dp), intent(inout) :: x(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: flat(size(x))
    flat = reshape(x, [size(x)])
    call OfAll(self, flat, error)
    x = reshape(flat, shape(x))
  end subroutine OfAllFigures

  subroutine AddLine(text, more)
    character(:), allocatable, intent(inout) :: text
    character(*), intent(in) :: more
    if (text /= '') text = text//new_line('a')
    text = text//more
  end subroutine AddLine

end submodule sem3d_swaps
