!> A sea floor inside cells, flat, at random places between two faces: reflected pressure, to far beyond the critical angle and with
!> the waves along the floor, and motion of the rock below, P and S, against the exact ones: over all places far better than with the
!> floor on the nearest face, at 10 and at 5 points per shortest wavelength, nowhere worse at 10; the step chosen for the fastest
!> medium is stable. FLOORS=1: eight places, the table of accuracy.md.
program t621_fd3d_floor_in_cell
  use check_m, only: Claim, Done
  use floor3d_m, only: FloorMisfits
  use kinds_m, only: dp, i8
  use text_m, only: Str
  implicit none
  integer(i8), parameter :: seed0 = 20261125
  integer(i8) :: seed = seed0
  integer :: places, status
  character(8) :: word

  places = 2
  call get_environment_variable('FLOORS', word, status=status)
  if (status == 0) places = 8
  print '(a,i0)', 'places drawn from ', seed0
  call Rock('hard', [4000.0_dp, 2300.0_dp, 2500.0_dp], 10.0_dp, 0.6_dp)
  call Rock('sandstone', [2600.0_dp, 1300.0_dp, 2000.0_dp], 10.0_dp, 0.7_dp)
  call Rock('sand', [1800.0_dp, 600.0_dp, 1900.0_dp], 10.0_dp, 0.8_dp)
  call Rock('hard', [4000.0_dp, 2300.0_dp, 2500.0_dp], 5.0_dp, 0.5_dp)
  call Rock('sandstone', [2600.0_dp, 1300.0_dp, 2000.0_dp], 5.0_dp, 0.8_dp)
  call Rock('sand', [1800.0_dp, 600.0_dp, 1900.0_dp], 5.0_dp, 0.8_dp)
  call Done()

contains

  subroutine Rock(name, medium, points, share)
    character(*), intent(in) :: name
    real(dp), intent(in) :: medium(3), points, share
    character(:), allocatable :: nowhere
    real(dp) :: flush(2), inside(2), nearest(2), worst(2), far(2), place, mean(2), mean_far(2)
    integer :: i
    flush = FloorMisfits(medium, points, 0.0_dp, .true., 2, medium(1))
    worst = 0
    far = 0
    mean = 0
    mean_far = 0
    do i = 1, places
      place = (i - 1 + Draw())/places
      inside = FloorMisfits(medium, points, place, .true., 2, medium(1))
      nearest = FloorMisfits(medium, points, place, .false., 2, medium(1))
      print '(a)', '  '//name//', '//Str(points, 2)//' points, floor '//Str(place, 3)//' of a cell below a face: '//Of(inside)// &
        '; on the nearest face '//Of(nearest)
      worst = max(worst, inside)
      far = max(far, nearest)
      mean = mean + inside**2/places
      mean_far = mean_far + nearest**2/places
    end do
    print '(a)', '  all places, root mean square: '//Of(sqrt(mean))//'; on the nearest face '//Of(sqrt(mean_far))//', '//Of(far)// &
      ' at worst'
    nowhere = ''
    if (points >= 10) nowhere = ', no more than on the nearest face'
    call Claim((points < 10 .or. all(worst <= far)) .and. all(mean <= share**2*mean_far), name//', '//Str(points, 2)// &
               ' points per shortest wavelength: at worst '//Of(worst)//nowhere// &
               '; all places: '//Of(sqrt(mean))//', at most '//Str(share, 2)//' times that on it; where a face is: '//Of(flush))
  end subroutine Rock

  function Of(m) result(s)
    real(dp), intent(in) :: m(2)
    character(:), allocatable :: s
    s = 'pressure within '//Str(100*m(1), 3)//' %, motion below within '//Str(100*m(2), 3)//' %'
  end function Of

  !> Uniform in 0 .. 1.
  real(dp) function Draw() result(u)
    seed = modulo(seed*48271_i8, 2147483647_i8)
    u = real(seed, dp)/2147483647.0_dp
  end function Draw

end program t621_fd3d_floor_in_cell
