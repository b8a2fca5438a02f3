!> A small earthquake under a layer, whose traces tell how variants of the 3D solver round: a dislocation leaves a stress at the source
!> for good, and far away waves are weak.
module fd3drounding_m
  use fd3d_engine_m, only: field_sxy
  use fd3dcase_m, only: case3d_t, Case3dNew, result3d_t
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: Case3dEarthquake, Apart, apart_t

  type :: apart_t
    real(dp) :: all = 0, worst = 0                 !< relative RMS of all traces together, and of the worst of them
  end type apart_t

contains

  !> nt steps on n(3) cells of 50 m at half-length 2, free surface and sponge; a layer of twelve cells over a half-space of 1.5 times
  !> its velocities, a source of moment at `source` and five receivers of three components from it to the far end.
  subroutine Case3dEarthquake(c, n, source, nt)
    type(case3d_t), intent(out) :: c
    integer, intent(in) :: n(3), source(3), nt
    integer :: r, at(3)
    call Case3dNew(c, n, 2, 3, .false., nt)
    c%grid%wet = .false.
    c%grid%d = 50
    c%grid%dt = real(0.0049_sp, dp)                ! 0.8 of the largest stable one, as all variants have it
    c%sponge = [8, 8, 8, 8, 0, 8]
    call Rock(c, 0, 12, 2600.0_dp, 2700.0_dp, 1350.0_dp)
    call Rock(c, 13, n(3) + 1, 2700.0_dp, 4000.0_dp, 2310.0_dp)
    c%q = reshape([(Rate(r*c%grid%dt), r=1, nt/2)], [1, nt/2])
    c%sf = [field_sxy]
    c%si = source(1:1)
    c%sj = source(2:2)
    c%sk = source(3:3)
    c%sh = [1]
    c%sw = [1.0e9_sp]
    c%start = [(r, r=1, 16)]
    c%rf = [(modulo(r, 3), r=0, 14)]
    c%rw = spread(1.0_sp, 1, 15)
    deallocate (c%ri, c%rj, c%rk)
    allocate (c%ri(15), c%rj(15), c%rk(15))
    do r = 1, 15
      at = source + nint((n - 10 - source)*((r + 2)/3)/5.0_dp)
      c%ri(r) = at(1)
      c%rj(r) = at(2) + modulo((r + 2)/3, 2)
      c%rk(r) = merge(1, 9, (r + 2)/3 /= 3)
    end do
  contains
    !> Moment rate of an earthquake of corner frequency 1.6 Hz (Brune 1970).
    pure real(sp) function Rate(t)
      real(dp), intent(in) :: t
      Rate = real(t/0.01_dp*exp(-t/0.1_dp), sp)
    end function Rate
  end subroutine Case3dEarthquake

  subroutine Rock(c, from, to, rho, vp, vs)
    type(case3d_t), intent(inout) :: c
    integer, intent(in) :: from, to
    real(dp), intent(in) :: rho, vp, vs
    c%rho(:, :, from:to) = real(rho, sp)
    c%mu(:, :, from:to) = real(rho*vs**2, sp)
    c%lambda(:, :, from:to) = real(rho*(vp**2 - 2*vs**2), sp)
  end subroutine Rock

  pure type(apart_t) function Apart(a, b) result(d)
    type(result3d_t), intent(in) :: a, b
    integer :: r
    d%all = norm2(real(a%traces, dp) - b%traces)/norm2(real(b%traces, dp))
    do r = 1, size(b%traces, 2)
      d%worst = max(d%worst, norm2(real(a%traces(:, r), dp) - b%traces(:, r))/norm2(real(b%traces(:, r), dp)))
    end do
    if (.not. d%all + d%worst <= huge(1.0_dp)) d = apart_t(huge(1.0_dp), huge(1.0_dp))
  end function Apart

end module fd3drounding_m
