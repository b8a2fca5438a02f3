!> The field that the matrices of a mesh make of a source in a patch of its elements (near_patch.f90), of waves that grow as
!> exp(s t), s > 0: (K + s**2 M) u = b, solved by conjugate gradients with the diagonal as preconditioner, for all s at once, from
!> the exact field as it would be of a blunt source.
module near_solve_m
  use elements_m, only: along, in_element
  use gll_m, only: gll_d
  use kinds_m, only: dp
  use near_exact_m, only: near_source_t, NearGuess, NearOuter
  use near_patch_m, only: near_patch_t
  use sem3d_element_m, only: AddAlong, ElementGeometry
  implicit none
  private
  public :: PatchSolve

  integer, parameter, public :: near_times = 3    !< values of s
  real(dp), parameter :: tolerance = 3.0e-5_dp    !< of the residual's norm
  integer, parameter :: steps = 1000              !< of conjugate gradients, at most

contains

  !> The field of the mesh at all points, (times, components, points): u, or chi, of forces b(components, points). edge [m].
  subroutine PatchSolve(patch, source, s, b, edge, threads, u)
    type(near_patch_t), intent(in) :: patch
    type(near_source_t), intent(in) :: source
    real(dp), intent(in) :: s(near_times), b(:, :), edge
    integer, intent(in) :: threads
    real(dp), allocatable, intent(out) :: u(:, :, :)
    real(dp), allocatable :: slope(:, :, :, :), volume(:, :), mass(:), stiff(:, :), r(:, :, :), z(:, :, :), p(:, :, :), q(:, :, :)
    real(dp), allocatable :: outer(:, :)
    integer, allocatable :: list(:)
    logical :: fixed(patch%mesh%points)           !< points whose values are known
    real(dp) :: before(near_times), now(near_times), first(near_times), step(near_times)
    integer :: i, e, n, c, parts, taken
    parts = size(b, 1)
    associate (mesh => patch%mesh)
      allocate (slope(3, 3, in_element, mesh%n), volume(in_element, mesh%n), mass(mesh%points), stiff(parts, mesh%points))
      allocate (u(near_times, parts, mesh%points))
      allocate (r, z, p, q, mold=u)
      mass = 0
      stiff = 0
      do e = 1, mesh%n
        call ElementGeometry(mesh%corner(:, :, e), slope(:, :, :, e), volume(:, e))
        associate (medium => patch%medium(:, patch%kind(e)))
          mass(mesh%at(:, e)) = mass(mesh%at(:, e)) + volume(:, e)*merge(medium(1), 1/medium(2), source%solid)
          call AddDiagonal(source%solid, medium, slope(:, :, :, e), volume(:, e), mesh%at(:, e), stiff)
        end associate
      end do
      fixed = patch%outer
      list = pack([(i, i=1, mesh%points)], patch%outer)
      allocate (outer(parts, size(list)))
      do n = 1, near_times
        call NearOuter(source, s(n), patch%x(:, list), threads, outer)
        u(n, :, list) = outer
        do i = 1, mesh%points
          if (.not. patch%outer(i)) call NearGuess(source, s(n), patch%x(:, i), edge, u(n, :, i))
        end do
      end do
      if (.not. source%solid) then
        fixed = fixed .or. patch%free
        do i = 1, mesh%points
          if (patch%free(i)) u(:, :, i) = 0
        end do
      end if
      call Multiply(u, q)
      do i = 1, mesh%points
        do c = 1, parts
          r(:, c, i) = merge(0.0_dp, b(c, i) - q(:, c, i), fixed(i))
        end do
      end do
      do taken = 0, steps
        do i = 1, mesh%points
          do c = 1, parts
            z(:, c, i) = r(:, c, i)/(stiff(c, i) + s**2*mass(i))
          end do
        end do
        do n = 1, near_times
          now(n) = sum(r(n, :, :)*z(n, :, :))
        end do
        if (taken == 0) then
          first = now
          p = z
        else
          if (all(now <= tolerance**2*first)) exit
          do n = 1, near_times
            p(n, :, :) = z(n, :, :) + now(n)/before(n)*p(n, :, :)
          end do
        end if
        if (.not. all(now > 0)) exit
        before = now
        call Multiply(p, q)
        do n = 1, near_times
          step(n) = now(n)/sum(p(n, :, :)*q(n, :, :))
        end do
        do i = 1, mesh%points
          if (fixed(i)) cycle
          do c = 1, parts
            u(:, c, i) = u(:, c, i) + step*p(:, c, i)
            r(:, c, i) = r(:, c, i) - step*q(:, c, i)
          end do
        end do
      end do
    end associate

  contains

    !> y = (K + s**2 M) x.
    subroutine Multiply(x, y)
      real(dp), intent(in) :: x(:, :, :)
      real(dp), intent(out) :: y(:, :, :)
      real(dp) :: made(near_times*parts, in_element, patch%mesh%n)
      integer :: e, i, k, c
      !$omp parallel do schedule(static) num_threads(threads)
      do e = 1, patch%mesh%n
        call ElementForce(source%solid, patch%medium(:, patch%kind(e)), parts, &
                          reshape(x(:, :, patch%mesh%at(:, e)), [near_times*parts, in_element]), slope(:, :, :, e), &
                          volume(:, e), made(:, :, e))
      end do
      !$omp end parallel do
      do i = 1, size(y, 3)
        do c = 1, parts
          y(:, c, i) = s**2*mass(i)*x(:, c, i)
        end do
      end do
      do e = 1, patch%mesh%n
        do k = 1, in_element
          associate (i => patch%mesh%at(k, e))
            do c = 1, parts
              y(:, c, i) = y(:, c, i) + made(near_times*(c - 1) + 1:near_times*c, k, e)
            end do
          end associate
        end do
      end do
    end subroutine Multiply

  end subroutine PatchSolve

  !> Adds the diagonal of K of an element.
  pure subroutine AddDiagonal(solid, medium, slope, volume, at, stiff)
    logical, intent(in) :: solid
    real(dp), intent(in) :: medium(3)
    real(dp), intent(in) :: slope(3, 3, in_element), volume(in_element)
    integer, intent(in) :: at(in_element)
    real(dp), intent(inout) :: stiff(:, :)
    real(dp) :: g(3)
    integer :: p, q, a, m, i(3)
    do p = 1, in_element
      i = modulo([p - 1, (p - 1)/along, (p - 1)/along**2], along)
      do a = 1, 3
        do m = 0, along - 1
          if (m == i(a) .and. a > 1) cycle
          q = p + (m - i(a))*along**(a - 1)
          g = gll_d(m + 1, i(a) + 1)*slope(a, :, q)
          if (q == p) g = gll_d(i(1) + 1, i(1) + 1)*slope(1, :, p) + gll_d(i(2) + 1, i(2) + 1)*slope(2, :, p) + &
                          gll_d(i(3) + 1, i(3) + 1)*slope(3, :, p)
          if (solid) then
            stiff(:, at(p)) = stiff(:, at(p)) + volume(q)*((medium(2) + medium(3))*g**2 + medium(3)*sum(g**2))
          else
            stiff(1, at(p)) = stiff(1, at(p)) + volume(q)/medium(1)*sum(g**2)
          end if
        end do
      end do
    end do
  end subroutine AddDiagonal

  !> f = K u of an element (sem3d_element.f90), for all s.
  pure subroutine ElementForce(solid, medium, parts, u, slope, volume, f)
    logical, intent(in) :: solid
    real(dp), intent(in) :: medium(3)
    integer, intent(in) :: parts
    real(dp), intent(in) :: u(near_times*parts, in_element), slope(3, 3, in_element), volume(in_element)
    real(dp), intent(out) :: f(near_times*parts, in_element)
    real(dp), parameter :: of_all(along, along) = transpose(gll_d)
    real(dp) :: d(near_times*parts, in_element, 3)
    integer :: a
    d = 0
    do a = 1, 3
      call AddAlong(near_times*parts*along**(a - 1), along**(3 - a), of_all, u, d(:, :, a))
    end do
    if (solid) then
      call SolidFlux(medium(2), medium(3), slope, volume, d)
    else
      call FluidFlux(medium(1), slope, volume, d)
    end if
    f = 0
    do a = 1, 3
      call AddAlong(near_times*parts*along**(a - 1), along**(3 - a), gll_d, d(:, :, a), f)
    end do
  end subroutine ElementForce

  pure subroutine SolidFlux(lambda, mu, slope, volume, d)
    real(dp), intent(in) :: lambda, mu, slope(3, 3, in_element), volume(in_element)
    real(dp), intent(inout) :: d(near_times, 3, in_element, 3)
    real(dp) :: g(near_times, 3, 3), stress(near_times), total(near_times)
    integer :: p, c, m
    do p = 1, in_element
      do m = 1, 3
        do c = 1, 3
          g(:, c, m) = d(:, c, p, 1)*slope(1, m, p) + d(:, c, p, 2)*slope(2, m, p) + d(:, c, p, 3)*slope(3, m, p)
        end do
      end do
      total = lambda*volume(p)*(g(:, 1, 1) + g(:, 2, 2) + g(:, 3, 3))
      d(:, :, p, :) = 0
      do m = 1, 3
        do c = 1, 3
          stress = mu*volume(p)*(g(:, c, m) + g(:, m, c))
          if (c == m) stress = stress + total
          d(:, c, p, 1) = d(:, c, p, 1) + stress*slope(1, m, p)
          d(:, c, p, 2) = d(:, c, p, 2) + stress*slope(2, m, p)
          d(:, c, p, 3) = d(:, c, p, 3) + stress*slope(3, m, p)
        end do
      end do
    end do
  end subroutine SolidFlux

  pure subroutine FluidFlux(rho, slope, volume, d)
    real(dp), intent(in) :: rho, slope(3, 3, in_element), volume(in_element)
    real(dp), intent(inout) :: d(near_times, in_element, 3)
    integer :: p
    do p = 1, in_element
      d(:, p, :) = volume(p)/rho*matmul(matmul(d(:, p, :), slope(:, :, p)), transpose(slope(:, :, p)))
    end do
  end subroutine FluidFlux

end module near_solve_m
