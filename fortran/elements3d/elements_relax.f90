!> Elements that attenuate: the moduli of very high frequencies, and the shares of them that relax (zener.f90).
module elements_relax_m
  use elements_m, only: elements_t
  use elements_tensors_m, only: TensorOf, TensorsSet
  use kinds_m, only: dp, pi, sp
  use linear_m, only: SolvePositive
  use zener_m, only: zener_mechanisms, ZenerModulus, ZenerShares, ZenerTimes, ZenerUnrelaxed
  implicit none
  private
  public :: ElementsUnrelax, ElementsShares

contains

  !> Makes the moduli of elements, which are those of phase velocities at `ref` [Hz], those of very high frequencies.
  !> Of an anisotropic medium the isotropic average relaxes, and what it differs from that does not: all its S waves have the
  !> dissipation of the average, mu/Qmu, over their own stiffness.
  pure subroutine ElementsUnrelax(elements, band, ref)
    type(elements_t), intent(inout) :: elements
    real(dp), intent(in) :: band(2), ref
    integer, allocatable :: tensor(:)
    real(sp), allocatable :: relative(:, :)
    logical, allocatable :: same(:)              !< of anisotropic media: still over mu of phase velocities
    real(dp) :: rho, vp, mu, bulk, loss(2), last(2), medium(3), ratio
    complex(dp) :: relaxed(2)
    integer :: e, p
    last = -1
    medium = -1
    ratio = 1
    relaxed = 1
    if (allocated(elements%relative)) allocate (same(size(elements%relative, 2)), source=.true.)
    do e = 1, elements%solid
      loss = elements%loss(:, e)
      if (all(loss <= 0)) cycle
      if (any(abs(last - loss) > 0)) then
        last = loss
        medium = -1
        ratio = ZenerUnrelaxed(band, loss(2), ref)
        relaxed = [ZenerModulus(band, loss(1), ref), ZenerModulus(band, loss(2), ref)]
      end if
      do p = 1, size(elements%rho, 1)
        rho = elements%rho(p, e)
        vp = sqrt((elements%lambda(p, e) + 2*real(elements%mu(p, e), dp))/rho)
        mu = elements%mu(p, e)
        if (any(abs(medium - [rho, vp, mu]) > 0)) then
          medium = [rho, vp, mu]
          bulk = Bulk_(rho, vp, mu*ratio, relaxed)
        end if
        mu = mu*ratio
        elements%mu(p, e) = real(mu, sp)
        elements%lambda(p, e) = real(bulk - 2*mu/3, sp)
      end do
      if (TensorOf(elements, e) == 0) cycle
      associate (t => elements%tensor(e))
        if (same(t)) elements%relative(:, t) = real(elements%relative(:, t)/ratio, sp)
        same(t) = .false.
      end associate
    end do
    if (.not. allocated(elements%tensor)) return
    tensor = elements%tensor
    relative = elements%relative
    call TensorsSet(elements, tensor, relative)          ! speeds are those of the unrelaxed moduli too
  end subroutine ElementsUnrelax

  !> The bulk modulus with which P waves have the phase velocity vp where of bulk modulus and mu these parts are left, by Newton's
  !> method; mu: of very high frequencies.
  pure real(dp) function Bulk_(rho, vp, mu, relaxed) result(k)
    real(dp), intent(in) :: rho, vp, mu
    complex(dp), intent(in) :: relaxed(2)
    complex(dp) :: modulus
    real(dp) :: v(2), step
    integer :: i, j
    k = rho*vp**2 - 4*mu/3
    do i = 1, 6
      step = 1.0e-4_dp*rho*vp**2
      do j = 1, 2
        modulus = (k + (j - 1)*step)*relaxed(1) + 4*mu/3*relaxed(2)
        v(j) = 1/real(sqrt(rho/modulus))
      end do
      k = k - (v(1) - vp)*step/(v(2) - v(1))
    end do
  end function Bulk_

  !> Shares of bulk modulus and mu of each solid element that relax, (mechanisms, 1, solid). few: not all points have memory
  !> variables.
  pure subroutine ElementsShares(elements, band, bulk, shear, few)
    type(elements_t), intent(in) :: elements
    real(dp), intent(in) :: band(2)
    real(sp), allocatable, intent(out) :: bulk(:, :, :), shear(:, :, :)
    logical, intent(in), optional :: few
    real(dp) :: share(zener_mechanisms, 2)
    real(sp) :: last(2)
    integer :: e
    allocate (bulk(zener_mechanisms, 1, elements%solid), shear(zener_mechanisms, 1, elements%solid))
    last = -1
    do e = 1, elements%solid
      if (any(abs(last - elements%loss(:, e)) > 0)) then
        last = elements%loss(:, e)
        share(:, 1) = ZenerShares(band, real(last(1), dp))
        share(:, 2) = ZenerShares(band, real(last(2), dp))
        if (present(few)) then
          if (few) share(:, 1) = SharesOfFew(band, share(:, 1), 0.085_dp)
          if (few) share(:, 2) = SharesOfFew(band, share(:, 2), 0.048_dp)
        end if
      end if
      bulk(:, 1, e) = real(share(:, 1), sp)
      shear(:, 1, e) = real(share(:, 2), sp)
    end do
  end subroutine ElementsShares

  !> Shares with which a medium whose modulus relaxes by s + square s**2 is as one that relaxes by s (sem3d_geometry.h).
  pure function SharesOfFew(band, share, square) result(few)
    real(dp), intent(in) :: band(2), share(zener_mechanisms), square
    real(dp) :: few(zener_mechanisms), a(zener_mechanisms, zener_mechanisms), b(zener_mechanisms)
    integer, parameter :: frequencies = 60
    complex(dp) :: row(zener_mechanisms), wanted
    integer :: i, m
    few = share
    if (all(share <= 0)) return
    a = 0
    b = 0
    do i = 1, frequencies
      row = 1/cmplx(1.0_dp, 2*pi*band(1)*(band(2)/band(1))**((i - 1)/real(frequencies - 1, dp))*ZenerTimes(band), dp)
      wanted = sum(share*row)
      wanted = 2*wanted/(1 + sqrt(1 + 4*square*wanted))
      do m = 1, zener_mechanisms
        a(:, m) = a(:, m) + real(row*conjg(row(m)))
      end do
      b = b + real(wanted*conjg(row))
    end do
    call SolvePositive(a, b)
    few = b
  end function SharesOfFew

end module elements_relax_m
