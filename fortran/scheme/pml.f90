!> Absorbing layers: convolutional PML (Roden & Gedney 2000, Microwave Opt. Technol. Lett. 27, 334-339; Komatitsch & Martin 2007,
!> Geophysics 72, SM155-SM167).
!>
!> In a layer the coordinate is stretched by s(ω) = κ + δ/(α + iω). Its inverse acts on a derivative d in time as d/κ plus a
!> convolution with a decaying exponential, kept by one memory variable:
!>       psi = b psi + a d,   d becomes d/κ + psi,   b = exp(-(δ/κ + α) dt),   a = δ (b - 1)/(κ (δ + κ α)).
!> With ξ = 0 at the inner edge and 1 at the outer: δ = δ_max ξ^power, κ = 1 + (kappa - 1) ξ^power, α = α_max (1 - ξ);
!> δ_max = -(power + 1) c ln(r0)/(2 width) would reflect r0 of an amplitude at normal incidence were the grid infinitely fine.
module pml_m
  use kinds_m, only: dp, pi, sp
  implicit none
  private
  public :: pml_shape_t, PmlProfile

  !> The shape of a layer. See PmlShape for the values that were found best.
  type :: pml_shape_t
    real(dp) :: power = 4
    real(dp) :: r0 = 1.0e-8_dp
    real(dp) :: kappa = 1
    real(dp) :: alpha = 1                 !< α_max in units of π fpeak
  end type pml_shape_t

contains

  !> Shape of a layer of `cells` cells. Power, κ and α: searched for the least worst reflected energy at 0..80 degrees, at 5 and 10
  !> points per shortest wavelength and for waves 2.5 times slower than c; a narrow layer must begin less gently, or its coarse
  !> steps reflect, and κ = 1 is best. r0 is as small as the steps allow (t221: -82 dB for 10 cells, -114 for 20): along a cable of
  !> 7.5 km, at 86 degrees, a wave loses a fifteenth of the decibels that it loses at normal incidence (t270). Beyond 10**-16
  !> nothing is gained.
  pure type(pml_shape_t) function PmlShape(cells) result(shape)
    integer, intent(in) :: cells
    if (cells < 12) shape%power = 3
    shape%r0 = 10.0_dp**(-min(16.0_dp, 2 + 0.6_dp*cells))
  end function PmlShape

  !> Profiles p(n, 6) along an axis of n nodes with layers of `low` cells at its start and `high` cells at its end: columns a, b,
  !> 1/κ at the nodes i, then a, b, 1/κ at i + ½. Nodes low+1 and n-high are the inner edges. Outside the layers a = 0, 1/κ = 1.
  !>   h [m], dt [s], c [m/s] velocity that the layers are made for, fpeak [Hz] peak frequency of the source.
  pure subroutine PmlProfile(n, low, high, h, dt, c, fpeak, p, shape, alpha)
    integer, intent(in) :: n, low, high
    real(dp), intent(in) :: h, dt, c, fpeak
    real(sp), intent(out) :: p(:, :)
    type(pml_shape_t), intent(in), optional :: shape      !< default: PmlShape of the layer's width
    real(dp), intent(in), optional :: alpha               !< instead of that of PmlShape
    real(dp) :: x
    integer :: i, column
    p = 0
    p(:, 3::3) = 1
    do column = 1, 4, 3
      do i = 1, n
        x = i + merge(0.0_dp, 0.5_dp, column == 1)
        if (low > 0 .and. x < low + 1) then
          call Coefficients((low + 1 - x)/low, low, p(i, column:column + 2))
        else if (high > 0 .and. x > n - high) then
          call Coefficients(min(1.0_dp, (x - (n - high))/high), high, p(i, column:column + 2))
        end if
      end do
    end do

  contains

    pure subroutine Coefficients(xi, cells, abk)
      real(dp), intent(in) :: xi
      integer, intent(in) :: cells
      real(sp), intent(out) :: abk(:)
      type(pml_shape_t) :: form
      real(dp) :: delta, kappa, a, b
      form = PmlShape(cells)
      if (present(alpha)) form%alpha = alpha
      if (present(shape)) form = shape
      delta = -(form%power + 1)*c*log(form%r0)/(2*cells*h)*xi**form%power
      kappa = 1 + (form%kappa - 1)*xi**form%power
      a = form%alpha*pi*fpeak*(1 - xi)
      b = exp(-(delta/kappa + a)*dt)
      abk(1) = real(delta*(b - 1)/(kappa*(delta + kappa*a)), sp)
      abk(2) = real(b, sp)
      abk(3) = real(1/kappa, sp)
    end subroutine Coefficients

  end subroutine PmlProfile

end module pml_m
