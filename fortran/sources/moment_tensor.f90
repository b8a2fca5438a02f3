!> Moment tensors of earthquakes, and where places on the earth lie in the model.
!>
!> The model's axes: x points `azimuth` degrees clockwise from north, y 90 degrees further, z down; azimuth = 0: x north, y east. In
!> these axes, at azimuth 0, Aki & Richards (2002, box 4.4) give the tensor of strike, dip and rake.
module moment_tensor_m
  use kinds_m, only: dp, pi
  implicit none
  private
  public :: MomentTensor, MomentScalar, MomentMagnitude, MomentNorm, MomentPlace

  real(dp), parameter :: radian = pi/180

contains

  !> The tensor (xx, yy, zz, xy, xz, yz) of a unit moment for strike, dip and rake [degrees].
  pure function MomentTensor(strike, dip, rake, azimuth) result(m)
    real(dp), intent(in) :: strike, dip, rake, azimuth
    real(dp) :: m(6), s, d, r
    s = radian*strike
    d = radian*dip
    r = radian*rake
    m(1) = -sin(d)*cos(r)*sin(2*s) - sin(2*d)*sin(r)*sin(s)**2
    m(2) = sin(d)*cos(r)*sin(2*s) - sin(2*d)*sin(r)*cos(s)**2
    m(3) = sin(2*d)*sin(r)
    m(4) = sin(d)*cos(r)*cos(2*s) + 0.5_dp*sin(2*d)*sin(r)*sin(2*s)
    m(5) = -cos(d)*cos(r)*cos(s) - cos(2*d)*sin(r)*sin(s)
    m(6) = -cos(d)*cos(r)*sin(s) + cos(2*d)*sin(r)*cos(s)
    m = Rotated(m, azimuth)
  end function MomentTensor

  !> A tensor given with x north and y east, in axes turned by `azimuth` [degrees].
  pure function Rotated(north, azimuth) result(m)
    real(dp), intent(in) :: north(6), azimuth
    real(dp) :: m(6), a(3, 3), turn(3, 3), c, s
    if (.not. abs(azimuth) > 0) then
      m = north
      return
    end if
    c = cos(radian*azimuth)
    s = sin(radian*azimuth)
    a = reshape([north(1), north(4), north(5), north(4), north(2), north(6), north(5), north(6), north(3)], [3, 3])
    turn = reshape([c, -s, 0.0_dp, s, c, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp], [3, 3])   ! x = north c + east s, y = -north s + east c
    a = matmul(turn, matmul(a, transpose(turn)))
    m = [a(1, 1), a(2, 2), a(3, 3), a(1, 2), a(1, 3), a(2, 3)]
  end function Rotated

  !> Scalar moment [N m] of a moment magnitude (Hanks & Kanamori 1979, as IASPEI rounds it: Mw = (2/3)(log10 M0 - 9.1)).
  elemental real(dp) function MomentScalar(mw) result(m0)
    real(dp), intent(in) :: mw
    m0 = 10.0_dp**(1.5_dp*mw + 9.1_dp)
  end function MomentScalar

  !> Moment magnitude of a scalar moment [N m]; the way back of MomentScalar.
  elemental real(dp) function MomentMagnitude(m0) result(mw)
    real(dp), intent(in) :: m0
    mw = (log10(m0) - 9.1_dp)/1.5_dp
  end function MomentMagnitude

  !> Scalar moment of a tensor (xx, yy, zz, xy, xz, yz): the root of half the sum of the squares of its nine parts (Silver & Jordan
  !> 1982, Geophysical Journal of the Royal Astronomical Society 70, 755-787), for a double couple its M0.
  pure real(dp) function MomentNorm(m) result(m0)
    real(dp), intent(in) :: m(6)
    m0 = sqrt((sum(m(:3)**2) + 2*sum(m(4:)**2))/2)
  end function MomentNorm

  !> x, y [m] of a place, measured from another one [degrees] that is not far: along meridian and parallel of the WGS84 ellipsoid,
  !> with the radii of curvature half-way between.
  pure function MomentPlace(lon, lat, lon0, lat0, azimuth) result(xy)
    real(dp), intent(in) :: lon, lat, lon0, lat0, azimuth
    real(dp), parameter :: equator = 6378137.0_dp, e2 = 6.69437999014e-3_dp
    real(dp) :: xy(2), mid, w, north, east, turn
    mid = radian*(lat + lat0)/2
    w = 1 - e2*sin(mid)**2
    turn = modulo(lon - lon0 + 180, 360.0_dp) - 180
    north = radian*(lat - lat0)*equator*(1 - e2)/w**1.5_dp
    east = radian*turn*equator/sqrt(w)*cos(mid)
    xy = [north*cos(radian*azimuth) + east*sin(radian*azimuth), -north*sin(radian*azimuth) + east*cos(radian*azimuth)]
  end function MomentPlace

end module moment_tensor_m
