!> The field that the matrices of a mesh make of a source in a patch of its elements (near_patch.f90), of waves that grow as
!> exp(s t), s > 0: (K + s**2 M) u = b, solved by conjugate gradients with the diagonal as preconditioner, for all s at once, from
!> the exact field as it would be of a blunt source. Water and rock are solved by turns, each with what the other did last: what
!> comes back of it shrinks in each turn, as rock is heavier than water and has the larger impedance (PatchMake).
module near_solve_m
  use elements_m, only: along, in_element, on_face
  use gll_m, only: gll_d
  use hexahedron_m, only: hex_side_point
  use kinds_m, only: dp
  use near_exact_m, only: near_source_t, NearGuess, NearOuter
  use near_patch_m, only: near_patch_t
  use sem3d_element_m, only: AddAlong, ElementGeometry, SideArea
  implicit none
  private
  public :: PatchSolve

  integer, parameter, public :: near_times = 3    !< values of s
  real(dp), parameter :: tolerance = 3.0e-5_dp    !< of the residual's norm
  integer, parameter :: steps = 1000              !< of conjugate gradients, at most
  integer, parameter :: turns = 100               !< of water and rock, at most,
  real(dp), parameter :: share_left = 0.03_dp     !< of the residual's norm after each

  !> K + s**2 M of a patch, without what water and rock do to each other.
  type :: system_t
    integer :: parts = 1                          !< components of a field
    integer :: energies = 0                       !< points whose products of forces and fields are energies
    real(dp) :: s(near_times) = 0
    real(dp), allocatable :: slope(:, :, :, :), volume(:, :)     !< of points of elements (ElementGeometry)
    real(dp), allocatable :: mass(:), stiff(:, :) !< of points; K's diagonal, (parts, points)
    real(dp), allocatable :: area(:, :, :)        !< out of the fluid [m2], (3, on_face, contacts)
    logical, allocatable :: fixed(:)              !< points whose values are known
  end type system_t

contains

  !> The field of the mesh at all points, (times, components, points): u, or chi in the first component, of forces
  !> b(components, points). edge [m].
  subroutine PatchSolve(patch, source, s, b, edge, threads, u)
    type(near_patch_t), intent(in) :: patch
    type(near_source_t), intent(in) :: source
    real(dp), intent(in) :: s(near_times), b(:, :), edge
    integer, intent(in) :: threads
    real(dp), allocatable, intent(out) :: u(:, :, :)
    type(system_t) :: system
    real(dp), allocatable :: r(:, :, :)
    real(dp) :: now(near_times), least(near_times)
    integer :: turn
    call Assemble(patch, s, size(b, 1), system)
    call Begin(patch, source, edge, threads, system, u)
    allocate (r, mold=u)
    do turn = 1, turns
      call Residual(patch, system, threads, b, u, r)
      now = Norm(system, r)
      if (turn == 1) least = tolerance**2*now
      if (all(now <= least)) exit
      if (size(patch%mesh%contact, 2) == 0) then
        call Relax(patch, system, threads, least, r, u)
        exit
      end if
      call Relax(patch, system, threads, max(least/4, share_left**2*now), r, u)
    end do
  end subroutine PatchSolve

  !> Geometry, masses, diagonals and the points whose values are known.
  subroutine Assemble(patch, s, parts, system)
    type(near_patch_t), intent(in) :: patch
    real(dp), intent(in) :: s(near_times)
    integer, intent(in) :: parts
    type(system_t), intent(out) :: system
    integer :: e, c
    logical :: solid
    associate (mesh => patch%mesh, a => system)
      a%s = s
      a%parts = parts
      a%energies = merge(mesh%solid_points, mesh%points, mesh%solid > 0)
      allocate (a%slope(3, 3, in_element, mesh%n), a%volume(in_element, mesh%n), a%area(3, on_face, size(mesh%contact, 2)))
      allocate (a%mass(mesh%points), a%stiff(parts, mesh%points), source=0.0_dp)
      do e = 1, mesh%n
        solid = e <= mesh%solid
        call ElementGeometry(mesh%corner(:, :, e), a%slope(:, :, :, e), a%volume(:, e))
        associate (medium => patch%medium(:, patch%kind(e)), at => mesh%at(:, e))
          a%mass(at) = a%mass(at) + a%volume(:, e)*merge(medium(1), 1/medium(2), solid)
          call AddDiagonal(solid, medium, a%slope(:, :, :, e), a%volume(:, e), at, a%stiff)
        end associate
      end do
      do c = 1, size(mesh%contact, 2)
        call SideArea(mesh%corner(:, :, mesh%contact(1, c)), mesh%contact(2, c), a%area(:, :, c))
      end do
      a%fixed = patch%outer
      a%fixed(mesh%solid_points + 1:) = a%fixed(mesh%solid_points + 1:) .or. patch%free(mesh%solid_points + 1:)
    end associate
  end subroutine Assemble

  !> The exact field at outer points, 0 on the free side of a fluid, a guess elsewhere.
  subroutine Begin(patch, source, edge, threads, system, u)
    type(near_patch_t), intent(in) :: patch
    type(near_source_t), intent(in) :: source
    real(dp), intent(in) :: edge
    integer, intent(in) :: threads
    type(system_t), intent(in) :: system
    real(dp), allocatable, intent(out) :: u(:, :, :)
    real(dp), allocatable :: outer(:, :)
    integer, allocatable :: list(:)
    logical :: below(size(patch%outer))
    integer :: i, n
    allocate (u(near_times, system%parts, size(below)))
    below = [(patch%floored .and. i <= patch%mesh%solid_points, i=1, size(below))]
    list = pack([(i, i=1, size(below))], patch%outer)
    allocate (outer(system%parts, size(list)))
    do n = 1, near_times
      call NearOuter(source, system%s(n), patch%x(:, list), below(list), threads, outer)
      u(n, :, list) = outer
      do i = 1, size(below)
        if (.not. patch%outer(i)) call NearGuess(source, system%s(n), patch%x(:, i), below(i), edge, u(n, :, i))
      end do
    end do
    do i = patch%mesh%solid_points + 1, size(below)
      if (patch%free(i)) u(:, :, i) = 0
    end do
  end subroutine Begin

  !> b less what u makes. The rock's motion across a contact drives the fluid, whose pressure -s**2 chi loads the rock.
  subroutine Residual(patch, system, threads, b, u, r)
    type(near_patch_t), intent(in) :: patch
    type(system_t), intent(in) :: system
    integer, intent(in) :: threads
    real(dp), intent(in) :: b(:, :), u(:, :, :)
    real(dp), intent(out) :: r(:, :, :)
    integer :: i, c, p, solid
    call Multiply(patch, system, threads, u, r)
    do i = 1, size(r, 3)
      do c = 1, system%parts
        r(:, c, i) = b(c, i) - r(:, c, i)
      end do
    end do
    associate (mesh => patch%mesh)
      do c = 1, size(mesh%contact, 2)
        do p = 1, on_face
          i = mesh%at(hex_side_point(p, mesh%contact(2, c)), mesh%contact(1, c))
          solid = mesh%partner(p, c)
          associate (area => system%area(:, p, c))
            r(:, 1, i) = r(:, 1, i) + matmul(u(:, :, solid), area)
            r(:, :, solid) = r(:, :, solid) - spread(system%s**2*u(:, 1, i), 2, 3)*spread(area, 1, near_times)
          end associate
        end do
      end do
      do i = 1, size(r, 3)
        if (system%fixed(i)) r(:, :, i) = 0
        if (i > mesh%solid_points) r(:, 2:, i) = 0
      end do
    end associate
  end subroutine Residual

  !> Takes a residual down to a norm by conjugate gradients, each phase as if the other stood still.
  subroutine Relax(patch, system, threads, least, r, u)
    type(near_patch_t), intent(in) :: patch
    type(system_t), intent(in) :: system
    integer, intent(in) :: threads
    real(dp), intent(in) :: least(near_times)
    real(dp), intent(inout) :: r(:, :, :), u(:, :, :)
    real(dp), allocatable :: z(:, :, :), p(:, :, :), q(:, :, :)
    real(dp) :: before(near_times), now(near_times), step(near_times)
    integer :: i, c, n, taken
    allocate (z, p, q, mold=r)
    do taken = 0, steps
      call Divide(system, r, z)
      now = Inner(system, r, z)
      if (taken == 0) then
        p = z
      else
        if (all(now <= least)) exit
        do n = 1, near_times
          p(n, :, :) = z(n, :, :) + now(n)/before(n)*p(n, :, :)
        end do
      end if
      if (.not. all(now > 0)) exit
      before = now
      call Multiply(patch, system, threads, p, q)
      step = now/Inner(system, p, q)
      do i = 1, size(r, 3)
        if (system%fixed(i)) cycle
        do c = 1, system%parts
          u(:, c, i) = u(:, c, i) + step*p(:, c, i)
          r(:, c, i) = r(:, c, i) - step*q(:, c, i)
        end do
      end do
    end do
  end subroutine Relax

  !> z is r over the diagonal.
  pure subroutine Divide(system, r, z)
    type(system_t), intent(in) :: system
    real(dp), intent(in) :: r(:, :, :)
    real(dp), intent(out) :: z(:, :, :)
    integer :: i, c
    do i = 1, size(r, 3)
      do c = 1, system%parts
        z(:, c, i) = r(:, c, i)/(system%stiff(c, i) + system%s**2*system%mass(i))
      end do
    end do
  end subroutine Divide

  !> Of a residual, in the measure of Relax.
  pure function Norm(system, r)
    type(system_t), intent(in) :: system
    real(dp), intent(in) :: r(:, :, :)
    real(dp) :: Norm(near_times)
    real(dp), allocatable :: z(:, :, :)
    allocate (z, mold=r)
    call Divide(system, r, z)
    Norm = Inner(system, r, z)
  end function Norm

  !> The sum of products. Beside rock those of a fluid count s**2 times: all are energies.
  pure function Inner(system, x, y)
    type(system_t), intent(in) :: system
    real(dp), intent(in) :: x(:, :, :), y(:, :, :)
    real(dp) :: Inner(near_times)
    integer :: n
    do n = 1, near_times
      Inner(n) = sum(x(n, :, :system%energies)*y(n, :, :system%energies))
      if (system%energies < size(x, 3)) &
        Inner(n) = Inner(n) + system%s(n)**2*sum(x(n, :, system%energies + 1:)*y(n, :, system%energies + 1:))
    end do
  end function Inner

  !> y = (K + s**2 M) x.
  subroutine Multiply(patch, system, threads, x, y)
    type(near_patch_t), intent(in) :: patch
    type(system_t), intent(in) :: system
    integer, intent(in) :: threads
    real(dp), intent(in) :: x(:, :, :)
    real(dp), intent(out) :: y(:, :, :)
    real(dp) :: made(near_times*system%parts, in_element, patch%mesh%n)
    integer :: e, i, k, c, parts
    associate (mesh => patch%mesh)
      !$omp parallel do private(parts) schedule(static) num_threads(threads)
      do e = 1, mesh%n
        parts = merge(3, 1, e <= mesh%solid)
        call ElementForce(e <= mesh%solid, patch%medium(:, patch%kind(e)), parts, &
                          reshape(x(:, :parts, mesh%at(:, e)), [near_times*parts, in_element]), system%slope(:, :, :, e), &
                          system%volume(:, e), made(:near_times*parts, :, e))
      end do
      !$omp end parallel do
      do i = 1, size(y, 3)
        do c = 1, system%parts
          y(:, c, i) = system%s**2*system%mass(i)*x(:, c, i)
        end do
      end do
      do e = 1, mesh%n
        do k = 1, in_element
          associate (i => mesh%at(k, e))
            do c = 1, merge(3, 1, e <= mesh%solid)
              y(:, c, i) = y(:, c, i) + made(near_times*(c - 1) + 1:near_times*c, k, e)
            end do
          end associate
        end do
      end do
    end associate
  end subroutine Multiply

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
