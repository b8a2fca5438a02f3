!> The variants of the 3D solver on cores beside the same scheme in double precision, on small grids of every kind that it knows, and
!> after 2,000 steps of a small earthquake: `cpu` is no further from it than the readable variant. The form of velocities that the core
!> of `tuned` has is measured beside them, in a loop of the test's own.
program t657_fd3d_double
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd3dcase_m, only: case3d_t, Case3dDiffers, Case3dFortran, Case3dNative, Case3dNew, kinds_of_sides, result3d_t, SidesName
  use fd3dcore_m, only: Case3dCore
  use fd3ddouble_m, only: Case3dDouble
  use fd3drounding_m, only: Apart, apart_t, Case3dEarthquake
  use kinds_m, only: dp
  use text_m, only: Str
  implicit none

  !> Traces of different orders of operations scatter about those of double precision by up to a third more or less than each other
  !> (70 x 70 x 60 cells, 1,000 steps: 1.0e-4 to 1.3e-4 of the worst trace, 3.5e-5 to 4.1e-5 of all, over eight orders). Moduli of the
  !> core that are 1e-5 too large are found by this (with the source in it), those 1e-6 too large are not.
  real(dp), parameter :: likely = 2
  integer, parameter :: n(3) = [36, 32, 30], at(3) = [13, 13, 17], steps = 1000
  integer, parameter :: beside(6, 1) = reshape([17, 11, 8, 26, 22, 20], [6, 1]), around(6, 1) = reshape([11, 11, 8, 26, 22, 20], [6, 1])

  type(error_t), allocatable :: error
  integer :: sides

  do sides = 1, kinds_of_sides
    if (all(sides /= [5, 7])) call SmallGrids()              ! which have a one-way bottom
  end do
  call Earthquake()
  call Done()

contains

  subroutine SmallGrids()
    type(case3d_t) :: c
    type(result3d_t) :: double, r
    real(dp) :: difference, most
    character(:), allocatable :: worst
    integer :: half_length
    most = 0
    do half_length = 1, 4
      call Case3dNew(c, [23, 19, 21], half_length, sides, .false., 40)
      c%grid%threads = 1
      call Case3dFortran(c, r, error)
      call Case3dDouble(c, double)
      double%map = r%map
      call Case3dDiffers(c, r, double, difference, worst)
      most = max(most, difference)
    end do
    call Claim(most <= 3e-6_dp .and. most > 1e-8_dp .and. .not. allocated(error), SidesName(sides)//', half-lengths 1 to 4: traces '// &
               'and fields of fortran differ from double precision by '//Str(most, 2)//' relative RMS at most, <= 3e-6')
  end subroutine SmallGrids

  subroutine Earthquake()
    type(case3d_t) :: c
    type(result3d_t) :: double, r
    type(apart_t) :: plain, d
    call Case3dEarthquake(c, n, at, steps)
    c%grid%threads = 1
    call Case3dDouble(c, double)
    call Case3dFortran(c, r, error)
    plain = Apart(r, double)
    call Claim(plain%all < 1e-3_dp, 'an earthquake, '//Str(steps)//' steps: fortran '//Far(plain))
    call Case3dNative('cpu', c, steps, r, error)
    call ClaimNear('cpu', Apart(r, double), plain)
    call Case3dCore(c, beside, r, error)
    call ClaimNear('a core beside the source', Apart(r, double), plain)
    call Case3dCore(c, around, r, error)
    d = Apart(r, double)
    call ClaimNear('a core with the source in it', d, plain)
    call ClaimFine(error, 'all of them')
  end subroutine Earthquake

  function Far(d) result(words)
    type(apart_t), intent(in) :: d
    character(:), allocatable :: words
    words = 'is '//Str(d%all, 2)//' from double precision, the worst trace '//Str(d%worst, 2)
  end function Far

  subroutine ClaimNear(what, d, plain)
    character(*), intent(in) :: what
    type(apart_t), intent(in) :: d, plain
    call Claim(d%all <= likely*plain%all .and. d%worst <= likely*plain%worst, what//' '//Far(d)//', <= 2 times fortran''s')
  end subroutine ClaimNear

end program t657_fd3d_double
