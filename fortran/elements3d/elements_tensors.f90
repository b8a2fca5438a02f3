!> Anisotropic elements: their media, and the slowest and the fastest of their waves.
module elements_tensors_m
  use anisotropy_m, only: aniso_constants, AnisoAverage, AnisoIsotropic, AnisoMatrix, AnisoPacked, AnisoSpeeds
  use elements_m, only: elements_t
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: TensorRelative, TensorsSet, TensorOf, StiffnessOf, SlowestIn, FastestIn

contains

  !> What constants [Pa] differ from their isotropic average, over its mu.
  pure subroutine TensorRelative(c, lambda, mu, relative)
    real(dp), intent(in) :: c(6, 6)
    real(dp), intent(out) :: lambda, mu, relative(aniso_constants)
    call AnisoAverage(c, lambda, mu)
    relative = AnisoPacked((c - AnisoIsotropic(lambda, mu))/mu)
  end subroutine TensorRelative

  !> Makes elements anisotropic: the number of the medium of each, 0: isotropic, and the numbers of these media, whose speeds are
  !> found.
  pure subroutine TensorsSet(elements, tensor, relative)
    type(elements_t), intent(inout) :: elements
    integer, intent(in) :: tensor(:)                     !< (n)
    real(sp), intent(in) :: relative(:, :)               !< (aniso_constants, media)
    real(dp) :: last(3, size(relative, 2)), medium(3), v(2)
    integer :: e, p, t
    elements%tensor = tensor
    elements%relative = relative
    if (allocated(elements%speeds)) deallocate (elements%speeds)
    allocate (elements%speeds(2, size(relative, 2)))
    elements%speeds(1, :) = huge(1.0_dp)
    elements%speeds(2, :) = 0
    last = -1
    do e = 1, elements%solid
      t = tensor(e)
      if (t == 0) cycle
      do p = 1, size(elements%rho, 1)
        medium = [elements%rho(p, e), elements%lambda(p, e), elements%mu(p, e)]
        if (all(abs(medium - last(:, t)) <= 0)) cycle
        last(:, t) = medium
        v = AnisoSpeeds(StiffnessOf(elements, e, p), medium(1))
        elements%speeds(:, t) = [min(elements%speeds(1, t), v(1)), max(elements%speeds(2, t), v(2))]
      end do
    end do
  end subroutine TensorsSet

  !> The number of an element's anisotropic medium, or 0.
  pure integer function TensorOf(elements, e)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e
    TensorOf = 0
    if (allocated(elements%tensor)) TensorOf = elements%tensor(e)
  end function TensorOf

  !> All constants of an element at its point p [Pa].
  pure function StiffnessOf(elements, e, p) result(c)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e, p
    real(dp) :: c(6, 6)
    integer :: m
    m = min(p, size(elements%mu, 1))
    c = AnisoIsotropic(real(elements%lambda(m, e), dp), real(elements%mu(m, e), dp))
    if (TensorOf(elements, e) > 0) c = c + elements%mu(m, e)*AnisoMatrix(real(elements%relative(:, elements%tensor(e)), dp))
  end function StiffnessOf

  !> The velocity of the slowest wave in an element [m/s], at the point where it is least.
  pure real(dp) function SlowestIn(elements, e) result(v)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e
    if (TensorOf(elements, e) > 0) then
      v = elements%speeds(1, elements%tensor(e))
    else if (elements%mu(1, e) > 0) then
      v = sqrt(minval(elements%mu(:, e)/real(elements%rho(:, e), dp)))
    else
      v = sqrt(minval(elements%lambda(:, e)/real(elements%rho(:, e), dp)))
    end if
  end function SlowestIn

  !> Of the fastest, at the point where it is most.
  pure real(dp) function FastestIn(elements, e) result(v)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e
    if (TensorOf(elements, e) > 0) then
      v = elements%speeds(2, elements%tensor(e))
    else
      v = sqrt(maxval((elements%lambda(:, e) + 2*real(elements%mu(:, e), dp))/elements%rho(:, e)))
    end if
  end function FastestIn

end module elements_tensors_m
