!> Number kinds used everywhere, and pi. Fields are single precision, geometry and time double.
module kinds_m
  use, intrinsic :: iso_fortran_env, only: sp => real32, dp => real64, i2 => int16, i4 => int32, i8 => int64
  implicit none
  private
  public :: sp, dp, i2, i4, i8

  real(dp), parameter, public :: pi = acos(-1.0_dp)
end module kinds_m
