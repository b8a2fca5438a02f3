!> From the media of a window to the moduli of the grid around it, for as many cells as are asked for at a time: the window's media
!> are in memory once, and the moduli of all cells need never be.
module fd3d_moduli_m
  use checksum_c, only: checksum_floats
  use kinds_m, only: dp, i8, sp
  use window_m, only: window_t
  implicit none
  private
  public :: fd3d_moduli_t, fd3d_range_t, Fd3dModuli, Fd3dLame, Fd3dPart, Fd3dRange, Fd3dCell, Fd3dBulk

  integer, parameter :: q_steps = 500             !< of the table of moduli
  integer, parameter :: run = 1024                !< cells of a row at a time: they stay in the cache

  !> Ties the cells of a grid to those of its window, and attenuation to the moduli.
  type :: fd3d_moduli_t
    integer :: before(3) = 0                      !< cell i is cell i + before of the window; beyond it the outermost ones go on,
    logical :: periodic = .false.                 !< or, along x and y, those of the other end
    logical :: anelastic = .false.
    real(dp) :: most = 1                          !< 1/Q up to which there is
    real(dp) :: table(0:q_steps) = 1              !< the engine's modulus over that at the reference frequency
    integer :: threads = 1
  end type fd3d_moduli_t

  !> What a window holds, as far as its media are here.
  type :: fd3d_range_t
    real(dp) :: vp = 0, q = 0                     !< the largest, [m/s] and 1/Q
    real(sp) :: lightest = huge(1.0_sp)           !< density of what is not air [kg/m3]
    logical :: air = .false.                      !< rho = 0 somewhere
    logical :: soft = .false., rigid = .false.    !< mu = 0 somewhere, mu > 0 somewhere
    integer(i8) :: checksum = 0
  end type fd3d_range_t

contains

  !> One look at all of it, a plane at a time.
  subroutine Fd3dRange(window, threads, range)
    type(window_t), intent(in) :: window
    integer, intent(in) :: threads
    type(fd3d_range_t), intent(out) :: range
    integer(i8), allocatable :: sums(:, :)
    real(sp) :: vp, q, rho, least, lightest, weakest, strongest
    integer :: i, j, k, p
    vp = 0
    q = 0
    least = huge(1.0_sp)
    lightest = huge(1.0_sp)
    weakest = huge(1.0_sp)
    strongest = 0
    associate (m => window%medium)
      allocate (sums(size(m, 4), lbound(m, 3):ubound(m, 3)))
      !$omp parallel do private(i, j, p, rho) num_threads(threads) reduction(max: vp, q, strongest) &
      !$omp reduction(min: least, lightest, weakest)
      do k = lbound(m, 3), ubound(m, 3)
        do j = lbound(m, 2), ubound(m, 2)
          do i = lbound(m, 1), ubound(m, 1)
            rho = m(i, j, k, 3)
            vp = max(vp, m(i, j, k, 1))
            least = min(least, rho)
            if (rho > 0) lightest = min(lightest, rho)
            weakest = min(weakest, rho*m(i, j, k, 2))
            strongest = max(strongest, rho*m(i, j, k, 2))
          end do
          if (size(m, 4) > 3) q = max(q, maxval(m(:, j, k, 4)), maxval(m(:, j, k, 5)))
        end do
        do p = 1, size(m, 4)
          sums(p, k) = checksum_floats(0_i8, size(m(:, :, k, p), kind=i8), m(:, :, k, p))
        end do
      end do
      !$omp end parallel do
    end associate
    range = fd3d_range_t(vp=real(vp, dp), q=real(q, dp), lightest=lightest, air=.not. least > 0, soft=.not. weakest > 0, &
                         rigid=strongest > 0, checksum=checksum_floats(0_i8, 2*size(sums, kind=i8), transfer(sums, [0.0_sp])))
  end subroutine Fd3dRange

  !> Density, lambda and mu of cells low .. high.
  subroutine Fd3dModuli(moduli, window, low, high, rho, lambda, mu)
    type(fd3d_moduli_t), intent(in) :: moduli
    type(window_t), intent(in) :: window
    integer, intent(in) :: low(3), high(3)
    real(sp), contiguous, intent(inout), dimension(low(1):, low(2):, low(3):) :: rho, lambda, mu
    integer :: i, j, k, last
    !$omp parallel do collapse(2) private(i, last) num_threads(moduli%threads)
    do k = low(3), high(3)
      do j = low(2), high(2)
        do i = low(1), high(1), run
          last = min(i + run - 1, high(1))
          call Row(moduli, window, i, j, k, rho(i:last, j, k), lambda(i:last, j, k), mu(i:last, j, k))
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine Fd3dModuli

  !> Those of one cell.
  pure subroutine Fd3dCell(moduli, window, cell, rho, lambda, mu)
    type(fd3d_moduli_t), intent(in) :: moduli
    type(window_t), intent(in) :: window
    integer, intent(in) :: cell(3)
    real(sp), intent(out) :: rho, lambda, mu
    real(sp) :: m(1, 3)
    call Row(moduli, window, cell(1), cell(2), cell(3), m(:, 1), m(:, 2), m(:, 3))
    rho = m(1, 1)
    lambda = m(1, 2)
    mu = m(1, 3)
  end subroutine Fd3dCell

  !> Lame's moduli [Pa] of a medium: vp, vs [m/s], rho [kg/m3], 1/Qp, 1/Qs.
  pure function Fd3dLame(moduli, medium) result(lame)
    type(fd3d_moduli_t), intent(in) :: moduli
    real(dp), intent(in) :: medium(:)
    real(dp) :: lame(2), v2(2)                    !< lambda, mu
    v2 = medium(:2)**2
    if (moduli%anelastic) v2 = v2*[Factor(moduli, medium(4)), Factor(moduli, medium(5))]
    lame = medium(3)*[v2(1) - 2*v2(2), v2(2)]
  end function Fd3dLame

  !> The bulk modulus of one cell [Pa].
  pure real(sp) function Fd3dBulk(moduli, window, cell) result(bulk)
    type(fd3d_moduli_t), intent(in) :: moduli
    type(window_t), intent(in) :: window
    integer, intent(in) :: cell(3)
    real(sp) :: rho, lambda, mu
    call Fd3dCell(moduli, window, cell, rho, lambda, mu)
    bulk = lambda + mu*2/3
  end function Fd3dBulk

  !> Part p of the medium of cells low .. high, as it is in the window.
  subroutine Fd3dPart(moduli, window, p, low, high, values)
    type(fd3d_moduli_t), intent(in) :: moduli
    type(window_t), intent(in) :: window
    integer, intent(in) :: p, low(3), high(3)
    real(sp), contiguous, intent(inout) :: values(low(1):, low(2):, low(3):)
    integer :: j, k
    !$omp parallel do collapse(2) num_threads(moduli%threads)
    do k = low(3), high(3)
      do j = low(2), high(2)
        call PartRow(moduli, window, p, low(1), j, k, values(:high(1), j, k))
      end do
    end do
    !$omp end parallel do
  end subroutine Fd3dPart

  !> Of the cells from i on of row j, k.
  pure subroutine Row(moduli, window, i, j, k, rho, lambda, mu)
    type(fd3d_moduli_t), intent(in) :: moduli
    type(window_t), intent(in) :: window
    integer, intent(in) :: i, j, k
    real(sp), contiguous, intent(inout) :: rho(:), lambda(:), mu(:)
    real(sp) :: vp(size(rho)), vs(size(rho)), q(size(rho))
    real(dp) :: vp2(size(rho)), vs2(size(rho))
    call PartRow(moduli, window, 1, i, j, k, vp)
    call PartRow(moduli, window, 2, i, j, k, vs)
    call PartRow(moduli, window, 3, i, j, k, rho)
    vp2 = real(vp, dp)**2
    vs2 = real(vs, dp)**2
    if (moduli%anelastic) then
      call PartRow(moduli, window, 4, i, j, k, q)
      vp2 = vp2*Factor(moduli, real(q, dp))
      call PartRow(moduli, window, 5, i, j, k, q)
      vs2 = vs2*Factor(moduli, real(q, dp))
    end if
    mu = real(rho*vs2, sp)
    lambda = real(rho*(vp2 - 2*vs2), sp)
  end subroutine Row

  pure subroutine PartRow(moduli, window, p, i, j, k, values)
    type(fd3d_moduli_t), intent(in) :: moduli
    type(window_t), intent(in) :: window
    integer, intent(in) :: p, i, j, k
    real(sp), contiguous, intent(inout) :: values(:)
    integer :: l, jw, kw, first, last
    jw = Inside(j + moduli%before(2), window%ny, moduli%periodic)
    kw = Inside(k + moduli%before(3), window%nz, .false.)
    associate (shift => i - 1 + moduli%before(1), n => size(values))
      first = min(max(1, 1 - shift), n + 1)
      last = max(min(n, window%nx - shift), first - 1)
      values(first:last) = window%medium(first + shift:last + shift, jw, kw, p)
      do l = 1, first - 1
        values(l) = window%medium(Inside(l + shift, window%nx, moduli%periodic), jw, kw, p)
      end do
      do l = last + 1, n
        values(l) = window%medium(Inside(l + shift, window%nx, moduli%periodic), jw, kw, p)
      end do
    end associate
  end subroutine PartRow

  !> The window's cell, of n along an axis, that stands for cell i.
  pure integer function Inside(i, n, periodic)
    integer, intent(in) :: i, n
    logical, intent(in) :: periodic
    Inside = min(max(i, 1), n)
    if (periodic) Inside = modulo(i - 1, n) + 1
  end function Inside

  pure elemental real(dp) function Factor(moduli, q)
    type(fd3d_moduli_t), intent(in) :: moduli
    real(dp), intent(in) :: q
    real(dp) :: place
    integer :: at
    place = min(1.0_dp, q/moduli%most)*q_steps
    at = min(int(place), q_steps - 1)
    Factor = moduli%table(at) + (place - at)*(moduli%table(at + 1) - moduli%table(at))
  end function Factor

end module fd3d_moduli_m
