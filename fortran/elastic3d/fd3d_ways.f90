!> The ways between the pieces of a shot: opened before the first step, closed before anybody gives memory back, and what went
!> through them, for the log. Arguments stand in fd3d.f90.
submodule(fd3d_m) fd3d_ways
  use fd3d_engine_m, only: Fd3dHaloBox
  use fd3d_pieces_m, only: Fd3dPartner
  use gpu_ways_m, only: GpuWaysOpen
  use iso_c_binding, only: c_funloc, c_null_funptr
  use partners_m, only: carried_words, traffic_t
  use travelling_m, only: MessagesOn
  implicit none

  integer, parameter :: sides = 6
  character(*), parameter :: side_words(sides) = [character(6) :: 'left', 'right', 'front', 'back', 'top', 'bottom']

contains

  module procedure MeetPartners
    type(fd3d_grid_t) :: margins
    character(:), allocatable :: variant
    integer :: side, with(sides)
    integer(i8) :: n(sides)
    n = 0
    wide = self%own%wide == wide_yes
    self%linked = .false.
    self%remark = ''
    self%why_wide = ''
    variant = self%scheme%variant
    if (variant == 'auto') variant = fd3d_variants%for_rank(variant, .false.)
    self%partners%messages = self%own%halo == halo_mpi
    self%partners%on_gpu = fd3d_variants%needs_gpu(variant) .and. self%own%halo /= halo_host
    margins = Fd3dWiden(self%whole, self%width, self%piece)
    do side = 1, sides
      with(side) = Fd3dPartner(self%whole, self%cuts, self%partners%mine, side)
      if (with(side) == 0) cycle
      if (.not. wide) n(side) = Numbers(self%piece, side)
      if (self%may_widen) n(side) = max(n(side), Numbers(margins, side))
    end do
    call self%partners%open(with, [(merge(side + 1, side - 1, modulo(side, 2) == 1), side=1, sides)], n, error)
    if (self%may_widen .and. .not. (wide .or. allocated(error))) call Decide(self, variant, margins, wide, error)
  end procedure MeetPartners

  !> Of a halo.
  pure integer(i8) function Numbers(grid, side)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: side
    integer :: lo(3), hi(3)
    call Fd3dHaloBox(grid, side, .true., lo, hi)
    Numbers = 3*product(int(hi - lo + 1, i8))
  end function Numbers

  !> Wide halos meet once a step and cut axis, narrow ones twice a step, across all axes at once: so with two axes cut nothing is
  !> saved. With one, and a message of l seconds beside the inner cells of a step of t seconds, pieces wait for 2 max(0, l - t/2)
  !> narrow and max(0, l - t/3) wide, as stresses wait for all that travels and are two thirds of the work: wide is faster where
  !> l > 2t/3, with t that of the margins too. Memory that ranks of a machine share is never so slow, and GPUs of a machine are
  !> linked.
  subroutine Decide(self, variant, margins, wide, error)
    class(fd3d_t), intent(inout) :: self
    character(*), intent(in) :: variant
    type(fd3d_grid_t), intent(in) :: margins
    logical, intent(out) :: wide
    type(error_t), allocatable, intent(inout) :: error
    !> Seconds a cell, and of copies between GPU and host in an exchange (tools/bench/ranks.md, Scaling; the latter an estimate).
    real(dp), parameter :: on_core = 14.0e-9_dp, on_gpu = 44.0e-12_dp, copies = 60.0e-6_dp
    real(dp) :: x(2)
    logical :: gpu
    gpu = fd3d_variants%needs_gpu(variant)
    x(1) = maxval(self%partners%latency, self%partners%with > 0)
    x(2) = product(real(margins%n, dp))*merge(on_gpu, on_core/max(1, self%scheme%threads), gpu)
    call self%partners%largest(x, error)
    wide = count(self%cuts%parts > 1) == 1 .and. self%partners%ways(2) > 0 .and. &
           x(1) + merge(copies, 0.0_dp, gpu) > 2*x(2)/3 .and. .not. allocated(error)
    if (wide) self%why_wide = ', as a message takes '//Str(1e6_dp*x(1), 3)//' us and a step some '//Str(1e6_dp*x(2), 3)
  end subroutine Decide

  module procedure OpenWays
    integer :: side
    integer(i8) :: n(sides)
    n = 0
    do side = 1, sides
      if (self%partners%with(side) > 0) n(side) = self%engine%halo_size(side)
    end do
    if (.not. (self%own%halo == halo_mpi .or. self%grid%wide)) call GpuWaysOpen(self, self%own%halo, n, error)
    self%partners%traffic = traffic_t()
    if (allocated(error)) return
    call self%engine%between(merge(c_funloc(MessagesOn), c_null_funptr, self%partners%ways(2) > 0), error)
  end procedure OpenWays

  module procedure swap_once
    integer :: turn, what
    do turn = 0, 1
      what = merge(0, turn, self%grid%wide)
      call GiveRims(self, what, turn + 1, 1, sides, error)
      call TakeHalos(self, what, turn + 1, 1, sides, error)
    end do
    n = 2
  end procedure swap_once

  ! --- in numbers -----------------------------------------------------------------------------------------------------

  module procedure ways_found
    real(dp), allocatable :: x(:, :, :)
    integer :: p, side, with
    words = ''
    if (.not. self%grouped()) return
    associate (all => self%partners)
      allocate (x(4, sides, all%n), source=0.0_dp)
      x(1, :, all%mine) = all%with
      x(2, :, all%mine) = all%carried
      x(3, :, all%mine) = all%latency
      x(4, :, all%mine) = all%rate
    end associate
    call OfAll(self, x, error)
    if (allocated(error) .or. .not. self%gathers()) return
    do p = 1, self%partners%n
      do side = 1, sides
        with = nint(x(1, side, p))
        if (with < p) cycle                   ! a pair is told once
        words = Line(words, 'pieces '//Str(p)//' and '//Str(with)//', '//trim(side_words(side))//': '// &
                     trim(carried_words(nint(x(2, side, p))))//', '//Str(1e6_dp*x(3, side, p), 3)//' us and '// &
                     Str(1e-9_dp*x(4, side, p), 3)//' GB/s')
      end do
    end do
  end procedure ways_found

  module procedure exchanged
    real(dp), allocatable :: x(:, :, :)
    integer :: p, side, steps
    words = ''
    if (.not. self%grouped()) return
    associate (all => self%partners)
      allocate (x(3, sides, all%n), source=0.0_dp)
      x(1, :, all%mine) = real(all%traffic%bytes, dp)
      x(2, :, all%mine) = real(all%traffic%messages, dp)
      x(3, :, all%mine) = all%traffic%seconds
    end associate
    call OfAll(self, x, error)
    steps = nint(maxval(x(2, :, :))/merge(1, 2, self%grid%wide))     ! velocities, and unless halos are wide stresses
    if (allocated(error) .or. .not. self%gathers() .or. steps == 0) return
    do p = 1, self%partners%n
      do side = 1, sides
        if (nint(x(2, side, p)) == 0) cycle
        words = Line(words, 'piece '//Str(p)//', '//trim(side_words(side))//': '//Figures(x(:, side, p)))
      end do
    end do
    words = Line(Str(steps)//' steps; a step: '//Figures([sum(x(1, :, :)), sum(x(2, :, :)), maxval(sum(x(3, :, :), 1))])// &
                 ' where most', words)

  contains

    function Figures(sum) result(text)
      real(dp), intent(in) :: sum(:)
      character(:), allocatable :: text
      text = Str(nint(sum(1)/steps, i8))//' bytes, '//Str(nint(sum(2)/steps))//' messages, '//Str(1e6_dp*sum(3)/steps, 3)//' us'
    end function Figures
  end procedure exchanged

  !> Numbers of which each rank knows its own, and the others of which are 0, to all.
  subroutine OfAll(self, x, error)
    class(fd3d_t), intent(inout) :: self
    real(dp), intent(inout) :: x(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: flat(size(x))
    flat = reshape(x, [size(x)])
    call self%partners%total(flat, error)
    x = reshape(flat, shape(x))
  end subroutine OfAll

  pure function Line(text, more) result(both)
    character(*), intent(in) :: text, more
    character(:), allocatable :: both
    both = text
    if (text /= '') both = both//new_line('a')
    both = both//more
  end function Line

end submodule fd3d_ways
