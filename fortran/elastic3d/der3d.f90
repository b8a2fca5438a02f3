!> The formulas of the 3D scheme along a row of cells, once for Fortran; der3d.h has them for C, interfaces/fd3d_c.f90 the grid.
module der3d_m
  use kinds_m, only: sp
  implicit none
  private
  public :: DerRow, StretchRow, AddVelocity, NormalIncrement, ShearIncrement, RelaxNormal, AddStress

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

  !> v += b (tx dx + ty dy + tz dz), then the sponge: all of a row.
  pure subroutine AddVelocity(t, dx, dy, dz, b, gx, gy, gz, v)
    real(sp), intent(in) :: t(3), gy, gz
    real(sp), contiguous, intent(in) :: dx(:), dy(:), dz(:), b(:), gx(:)
    real(sp), contiguous, intent(inout) :: v(:)
    v = (v + b*(t(1)*dx + t(2)*dy + t(3)*dz))*((gx*gy)*gz)
  end subroutine AddVelocity

  !> lambda (ex + ey + ez) + 2 mu e; total = ex + ey + ez.
  pure subroutine NormalIncrement(lambda, mu, total, e, more)
    real(sp), contiguous, intent(in) :: lambda(:), mu(:), total(:), e(:)
    real(sp), contiguous, intent(inout) :: more(:)
    more = lambda*total + 2*mu*e
  end subroutine NormalIncrement

  !> mu (ta da + tb db).
  pure subroutine ShearIncrement(mu, ta, da, tb, db, more)
    real(sp), intent(in) :: ta, tb
    real(sp), contiguous, intent(in) :: mu(:), da(:), db(:)
    real(sp), contiguous, intent(inout) :: more(:)
    more = mu*(ta*da + tb*db)
  end subroutine ShearIncrement

  !> The part of a normal increment that relaxes: p = y(qp) (lambda + 2 mu), s = 2 y(qs) mu.
  pure subroutine RelaxNormal(p, s, total, e, relaxing)
    real(sp), contiguous, intent(in) :: p(:), s(:), total(:), e(:)
    real(sp), contiguous, intent(inout) :: relaxing(:)
    relaxing = p*total - s*(total - e)
  end subroutine RelaxNormal

  pure subroutine AddStress(more, gx, gy, gz, s)
    real(sp), intent(in) :: gy, gz
    real(sp), contiguous, intent(in) :: more(:), gx(:)
    real(sp), contiguous, intent(inout) :: s(:)
    s = (s + more)*((gx*gy)*gz)
  end subroutine AddStress

end module der3d_m
