!> Constant Q by a few relaxation mechanisms, all of them everywhere (Emmerich & Korn 1987, Geophysics 52, 1252-1264): the modulus
!> is
!>
!>     M(w) = M_u (1 - sum over m of share_m/(1 + i w tau_m)),   1/Q = Im M/Re M.
!>
!> For given relaxation times the wish for a Q is linear in the shares, which are fitted by least squares over the band. Relaxation
!> times are spread evenly in logarithm over the band. Q is right to 4 % in a band of 1 to 50 (t853).
module zener_m
  use kinds_m, only: dp, pi
  use linear_m, only: SolvePositive
  implicit none
  private
  public :: ZenerTimes, ZenerShares, ZenerModulus, ZenerUnrelaxed

  integer, parameter, public :: zener_mechanisms = 3
  integer, parameter :: frequencies = 60

contains

  !> Relaxation times [s] for a band of frequencies [Hz].
  pure function ZenerTimes(band) result(tau)
    real(dp), intent(in) :: band(2)
    real(dp) :: tau(zener_mechanisms)
    integer :: m
    do m = 1, zener_mechanisms
      tau(m) = 1/(2*pi*band(1)*(band(2)/band(1))**((m - 1)/real(zener_mechanisms - 1, dp)))
    end do
  end function ZenerTimes

  !> The shares for a loss 1/Q.
  pure function ZenerShares(band, loss) result(share)
    real(dp), intent(in) :: band(2), loss
    real(dp) :: share(zener_mechanisms), a(zener_mechanisms, zener_mechanisms), row(zener_mechanisms), tau(zener_mechanisms), w
    integer :: i
    a = 0
    share = 0
    tau = ZenerTimes(band)
    do i = 1, frequencies
      w = 2*pi*band(1)*(band(2)/band(1))**((i - 1)/real(frequencies - 1, dp))
      row = (w*tau + loss)/(1 + (w*tau)**2)
      a = a + spread(row, 1, zener_mechanisms)*spread(row, 2, zener_mechanisms)
      share = share + row*loss
    end do
    call SolvePositive(a, share)
  end function ZenerShares

  !> M over M_u at a frequency [Hz].
  pure complex(dp) function ZenerModulus(band, loss, f) result(modulus)
    real(dp), intent(in) :: band(2), loss, f
    modulus = 1 - sum(ZenerShares(band, loss)/cmplx(1.0_dp, 2*pi*f*ZenerTimes(band), dp))
  end function ZenerModulus

  !> M_u over rho v**2, where v is the phase velocity at a frequency [Hz].
  pure real(dp) function ZenerUnrelaxed(band, loss, f) result(ratio)
    real(dp), intent(in) :: band(2), loss, f
    ratio = real(1/sqrt(ZenerModulus(band, loss, f)))**2
  end function ZenerUnrelaxed

end module zener_m
