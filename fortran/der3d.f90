!> The formulas of the 3D scheme along a row of cells, once for Fortran; der3d.h has them for C, interfaces/fd3d_c.f90 the grid.
module der3d_m
  use kinds_m, only: sp
  implicit none
  private
  public :: DerRow, StretchRow

contains

  !> Undivided difference of `a` along an axis, for the cells lo .. hi of row (j, k); `low`: first index of a along each axis.
  !>   backward (of what stands on whole numbers, wanted at i - 1/2):  d(i) = sum w(m) (a(i+m-1) - a(i-m))
  !>   forward  (of what stands on halves i - 1/2, wanted at i):       d(i) = sum w(m) (a(i+m) - a(i-m+1))
  pure subroutine DerRow(low, a, axis, backward, lo, hi, j, k, w, d)
    integer, intent(in) :: low, axis, lo, hi, j, k
    real(sp), contiguous, intent(in) :: a(low:, low:, low:), w(:)
    logical, intent(in) :: backward
    real(sp), intent(inout) :: d(lo:hi)                    ! out, but defined term by term
    integer :: m, p, q
    do m = 1, size(w)
      p = m - merge(1, 0, backward)
      q = 1 - m - merge(1, 0, backward)
      select case (axis)
      case (1)
        call AddTerm(m == 1, w(m), a(lo + p:hi + p, j, k), a(lo + q:hi + q, j, k), d)
      case (2)
        call AddTerm(m == 1, w(m), a(lo:hi, j + p, k), a(lo:hi, j + q, k), d)
      case default
        call AddTerm(m == 1, w(m), a(lo:hi, j, k + p), a(lo:hi, j, k + q), d)
      end select
    end do
  end subroutine DerRow

  pure subroutine AddTerm(first, w, ahead, behind, d)
    logical, intent(in) :: first
    real(sp), intent(in) :: w
    real(sp), contiguous, intent(in) :: ahead(:), behind(:)
    real(sp), contiguous, intent(inout) :: d(:)
    if (first) then
      d = w*(ahead - behind)
    else
      d = d + w*(ahead - behind)
    end if
  end subroutine AddTerm

  !> Absorbing layer: psi = b psi + a d, d becomes d/k + psi.
  elemental subroutine StretchRow(a, b, ik, psi, d)
    real(sp), intent(in) :: a, b, ik
    real(sp), intent(inout) :: psi, d
    psi = b*psi + a*d
    d = ik*d + psi
  end subroutine StretchRow

end module der3d_m
