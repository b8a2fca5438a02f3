!> The ways between the pieces of a shot: opened before the first step, closed before anybody gives memory back, and what went
!> through them, for the log. Arguments stand in fd3d.f90.
submodule(fd3d_m) fd3d_ways
  use fd3d_pieces_m, only: Fd3dPartner
  use gpu_ways_m, only: GpuWaysOpen
  use iso_c_binding, only: c_funloc, c_null_funptr
  use partners_m, only: carried_words, traffic_t
  use travelling_m, only: MessagesOn
  implicit none

  integer, parameter :: sides = 6
  character(*), parameter :: side_words(sides) = [character(6) :: 'left', 'right', 'front', 'back', 'top', 'bottom']

contains

  module procedure OpenWays
    integer :: side, with(sides)
    integer(i8) :: n(sides)
    n = 0
    self%linked = .false.
    self%remark = ''
    self%partners%messages = self%own%halo == halo_mpi
    self%partners%on_gpu = self%engine%gpu .and. self%own%halo /= halo_host
    do side = 1, sides
      with(side) = Fd3dPartner(self%whole, self%cuts, self%partners%mine, side)
      if (with(side) > 0) n(side) = self%engine%halo_size(side)
    end do
    call self%partners%open(with, [(merge(side + 1, side - 1, modulo(side, 2) == 1), side=1, sides)], n, error)
    if (self%own%halo /= halo_mpi) call GpuWaysOpen(self, self%own%halo, n, error)
    self%partners%traffic = traffic_t()
    if (allocated(error)) return
    call self%engine%between(merge(c_funloc(MessagesOn), c_null_funptr, self%partners%ways(2) > 0), error)
  end procedure OpenWays

  module procedure swap_once
    integer :: what
    do what = 0, 1
      call GiveRims(self, what, error)
      call TakeHalos(self, what, error)
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
    steps = nint(maxval(x(2, :, :))/2)         ! velocities and stresses
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
