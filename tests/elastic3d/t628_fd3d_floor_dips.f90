!> A sea floor that dips, up to 15 degrees up and down, at random places between the nodes and over random rock: what its stairs of
!> cells cost at 10 and at 20 points per shortest wavelength, against the exact pressure and motion (elastic3d/accuracy.md).
!> DRAWS=all: more of them.
program t628_fd3d_floor_dips
  use check_m, only: Claim, Done, Drawn, Seed
  use floor3d_m, only: FloorMisfits
  use kinds_m, only: dp
  use text_m, only: Str
  implicit none
  real(dp), parameter :: steepest = 15*acos(-1.0_dp)/180

  call Seed(20261127)
  call Dips(count(Drawn(4, 24, 0)), 10.0_dp, [0.45_dp, 0.30_dp])
  call Dips(count(Drawn(4, 24, 0)), 20.0_dp, [0.12_dp, 0.12_dp])
  call Done()

contains

  subroutine Dips(n, points, most)
    integer, intent(in) :: n
    real(dp), intent(in) :: points, most(2)
    real(dp) :: u(5), vp, medium(3), dip, m(2), worst(2)
    integer :: i
    worst = 0
    do i = 1, n
      call random_number(u)
      vp = 1800*(4500/1800.0_dp)**((i - 1 + u(1))/n)
      medium = [vp, vp/(1.7_dp + u(2)*(0.2_dp + 1.6_dp*(1600/vp)**2)), 310*vp**0.25_dp*(0.95_dp + 0.1_dp*u(3))]
      dip = steepest*(2*u(4) - 1)
      m = FloorMisfits(medium, points, u(5), .true., 2, max(4000.0_dp, vp), dip)
      worst = max(worst, m)
      print '(a)', '  '//Str(points, 2)//' points, rock of '//Str(medium(1), 4)//', '//Str(medium(2), 4)//', '//Str(medium(3), 4)// &
        ', dip '//Str(dip/steepest*15, 3)//' degrees: pressure within '//Str(100*m(1), 3)//' %, motion '//Str(100*m(2), 3)//' %'
    end do
    call Claim(all(worst <= most), Str(n)//' dipping sea floors, '//Str(points, 2)//' points: pressure within '// &
               Str(100*worst(1), 3)//' %, motion within '//Str(100*worst(2), 3)//' %, at most '//Str(nint(100*most(1)))//' and '// &
               Str(nint(100*most(2))))
  end subroutine Dips

end program t628_fd3d_floor_dips
