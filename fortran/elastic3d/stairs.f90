!> Ground that is made of stairs of air and rock, and how far off it makes motion on slopes.
module stairs_m
  use kinds_m, only: dp
  use model3d_m, only: model3d_t
  use scheme_m, only: scheme_t, SchemeWarn
  use text_m, only: Str
  implicit none
  private
  public :: StairsWarn

  real(dp), parameter :: stairs_most = 0.04_dp    !< of the motion of the ground: errors above are told

contains

  !> Ground made of air above rock is made of stairs. On a hill with slopes to 32 degrees stations are off by 15 % with 16 points
  !> per shortest S wavelength, by 3.9 % with 32 (elastic3d/README.md).
  subroutine StairsWarn(earth, scheme)
    type(model3d_t), intent(in) :: earth
    class(scheme_t), intent(inout) :: scheme
    real(dp), parameter :: points = 16, off = 0.15_dp, order = log(0.15_dp/0.039_dp)/log(2.0_dp)
    real(dp) :: slowest, n, error
    if (earth%layers%n > 0) return
    slowest = SlowestStair(earth)
    if (.not. slowest > 0) return
    n = slowest/(scheme%fmax*max(scheme%dx, scheme%dy, scheme%dz))
    error = off*(points/n)**order
    if (.not. error > stairs_most*(1 + 1e-6_dp)) return
    call SchemeWarn(scheme, 'the ground is made of stairs of air and rock: at '//Str(n, 3)//' points per shortest S '// &
              'wavelength, vs = '//Str(slowest, 4)//' m/s at fmax = '//Str(scheme%fmax, 3)//' Hz, motion on slopes is off by '// &
              'some '//Str(min(100*error, 100.0_dp), 2)//' %; 16 points leave 15 %, 32 points 4 %: a spacing of '// &
              Str(slowest/(32*scheme%fmax), 3)//' m')
  end subroutine StairsWarn

  !> The slowest S wave [m/s] of rock that begins, under air, at another depth than beside it; 0: the ground is flat, or none.
  pure real(dp) function SlowestStair(e) result(slowest)
    type(model3d_t), intent(in) :: e
    integer :: i, j, m, n
    slowest = 0
    do j = 1, e%n(2)
      do i = 1, e%n(1)
        if (e%ground(i, j) == 0) cycle
        m = min(i + 1, e%n(1))
        n = min(j + 1, e%n(2))
        if (e%ground(i, j) == e%ground(m, j) .and. e%ground(i, j) == e%ground(i, n)) cycle
        call Slower(real(e%ground_vs(i, j), dp))
      end do
    end do

  contains

    pure subroutine Slower(vs)
      real(dp), intent(in) :: vs
      if (.not. vs > 0) return
      if (slowest > 0) slowest = min(slowest, vs)
      if (.not. slowest > 0) slowest = vs
    end subroutine Slower

  end function SlowestStair

end module stairs_m
