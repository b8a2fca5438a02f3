!> A step of the readable 3D time loop: half steps, in boxes, row by row. Arguments stand in fd3d_engine.f90.
submodule(fd3d_fortran_m) fd3d_fortran_step
  use der3d_m, only: AddStress, AddVelocity, DerRow, NormalIncrement, RelaxNormal, ShearIncrement, StretchRow
  use fd3d_edges_m, only: FillPeriodic, OneWay
  use fd3d_engine_m, only: Fd3dInnerBox, Fd3dOwnBox, field_sxz, field_syy, field_szz, part_all, part_inner, part_rim, side_free, &
                           side_neighbour, side_one_way
  use fd3d_fortran_points_m, only: PointsInject, PointsKeep, PointsSample
  use fd3d_surface_m, only: surface_rows
  implicit none

  integer, parameter :: stress_of(3, 3) = reshape([field_sxx, field_sxy, field_sxz, field_sxy, field_syy, field_syz, &
                                                   field_sxz, field_syz, field_szz], [3, 3])       ! field of s_ab

contains

  module procedure timestep
    integer :: it
    if (any(self%grid%side == side_neighbour)) then
      call Fail(error, 'the subdomain has a neighbour: step it in halves')
      return
    end if
    do it = first, first + n - 1
      call self%velocity(it, part_all, error)
      if (.not. allocated(error)) call self%stress(it, part_all, error)
      if (allocated(error)) return
    end do
  end procedure timestep

  module procedure velocity
    if (part /= part_inner) then
      call FillPeriodic(self%grid, self%f, 1)
      if (self%grid%side(6) == side_one_way) call OneWay(self%grid, self%edges, self%f, 1)
    end if
    call EachBox(self, part, .true.)
    call Inject(self, it, part, field_vx, field_vz, error)
  end procedure velocity

  module procedure stress
    if (part /= part_inner) then
      call FillPeriodic(self%grid, self%f, 0)
      if (self%grid%side(6) == side_one_way) call OneWay(self%grid, self%edges, self%f, 0)
    end if
    call EachBox(self, part, .false.)
    call Inject(self, it, part, field_sxx, field_syz, error)
    if (part /= part_rim) call EndStep(self, it)
  end procedure stress

  module procedure ahead
    done = 0
  end procedure ahead

  module procedure between
  end procedure between

  subroutine EndStep(self, it)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: it
    if (self%steps == 0) self%first = it
    call EngineRoom(self, self%steps + 1)
    self%steps = self%steps + 1
    call PointsSample(self%receiver_points, self%start, self%part, self%f, self%samples(:, self%steps))
    if (allocated(self%watched%i) .and. it <= self%watched%last) &
      call PointsKeep(self%watched, self%f, self%peaks, ThreadsOf(self%grid%threads))
  end subroutine EndStep

  !> Updates the boxes of a part: the rim is all but the inner box, slab by slab. Velocities in margins come from neighbours.
  subroutine EachBox(self, part, velocities)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: part
    logical, intent(in) :: velocities
    integer :: lo(3), hi(3), from(3), to(3), a
    call Fd3dInnerBox(self%grid, lo, hi)
    from = 1
    to = self%grid%n
    if (velocities) call Fd3dOwnBox(self%grid, from, to)
    if (part == part_all) call Update(self, velocities, from, to)
    if (part == part_inner) call Update(self, velocities, lo, hi)
    if (part /= part_rim) return
    do a = 3, 1, -1
      call Update(self, velocities, from, [to(:a - 1), lo(a) - 1, to(a + 1:)])
      call Update(self, velocities, [from(:a - 1), hi(a) + 1, from(a + 1:)], to)
      from(a) = lo(a)
      to(a) = hi(a)
    end do
  end subroutine EachBox

  !> The cells lo .. hi, planes side by side.
  subroutine Update(self, velocities, lo, hi)
    class(fd3d_fortran_t), intent(inout) :: self
    logical, intent(in) :: velocities
    integer, intent(in) :: lo(3), hi(3)
    integer :: j, k
    if (any(hi < lo)) return
    !$omp parallel do num_threads(ThreadsOf(self%grid%threads)) private(j) schedule(static)
    do k = lo(3), hi(3)
      do j = lo(2), hi(2)
        if (velocities) then
          call VelocityRow(self, lo(1), hi(1), j, k)
        else
          call NormalRow(self, lo(1), hi(1), j, k)
          call ShearRow(self, lo(1), hi(1), j, k, 1, 2)
          call ShearRow(self, lo(1), hi(1), j, k, 1, 3)
          call ShearRow(self, lo(1), hi(1), j, k, 2, 3)
        end if
      end do
    end do
  end subroutine Update

  !> v_c += 1/rho sum_a (dt/dx_a) D_a s_ca: s_cc stands on whole numbers along c, the shear stresses on halves along the other axis.
  subroutine VelocityRow(self, lo, hi, j, k)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: lo, hi, j, k
    real(sp) :: d(lo:hi, 3)
    integer :: a, c
    do c = 1, 3
      do a = 1, 3
        call Derivative(self, stress_of(a, c), a, a == c, c, 1, lo, hi, j, k, d(:, a))
      end do
      call AddVelocity(self%t, d(:, 1), d(:, 2), d(:, 3), self%b(field_vx + c - 1)%a(lo:hi, j, k), self%gx(lo:hi), self%gy(j), &
                       self%gz(k), self%f(field_vx + c - 1)%a(lo:hi, j, k))
    end do
  end subroutine VelocityRow

  !> sxx, syy, szz.
  subroutine NormalRow(self, lo, hi, j, k)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: lo, hi, j, k
    real(sp), dimension(lo:hi) :: total, more, relaxing
    real(sp) :: e(lo:hi, 3)
    integer :: a, n, m
    do a = 1, 3
      call Derivative(self, field_vx + a - 1, a, .false., a, 0, lo, hi, j, k, e(:, a))
      e(:, a) = self%t(a)*e(:, a)
    end do
    total = e(:, 1) + e(:, 2) + e(:, 3)
    do a = 1, 3
      n = stress_of(a, a)
      call NormalIncrement(self%lambda(lo:hi, j, k), self%mu(lo:hi, j, k), total, e(:, a), more)
      do m = 1, self%each
        call RelaxNormal(self%relax_p(m)%a(lo:hi, j, k), self%relax_s(m)%a(lo:hi, j, k), total, e(:, a), relaxing)
        call Relax(self, n, m, lo, hi, j, k, relaxing, more)
      end do
      call AddStress(more, self%gx(lo:hi), self%gy(j), self%gz(k), self%f(n)%a(lo:hi, j, k))
    end do
  end subroutine NormalRow

  !> s_ab, a < b: both velocities stand on whole numbers along the axis they are differentiated along.
  subroutine ShearRow(self, lo, hi, j, k, a, b)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: lo, hi, j, k, a, b
    real(sp), dimension(lo:hi) :: da, db, elastic, more
    integer :: n, m
    n = stress_of(a, b)
    call Derivative(self, field_vx + b - 1, a, .true., b, 0, lo, hi, j, k, da)
    call Derivative(self, field_vx + a - 1, b, .true., a, 0, lo, hi, j, k, db)
    call ShearIncrement(self%mue(n)%a(lo:hi, j, k), self%t(a), da, self%t(b), db, elastic)
    more = elastic
    do m = 1, self%each
      call Relax(self, n, m, lo, hi, j, k, self%strength(n, m)%a(lo:hi, j, k)*elastic, more)
    end do
    call AddStress(more, self%gx(lo:hi), self%gy(j), self%gz(k), self%f(n)%a(lo:hi, j, k))
  end subroutine ShearRow

  !> Takes from an increment of stress what relaxes by mechanism m of the cell: r = -(dt/2) s becomes e r - (1-e)/2 (y dM); the
  !> stress gets the mean of s. A modulus that is not the unrelaxed one lacks a part of what relaxes.
  subroutine Relax(self, n, m, lo, hi, j, k, relaxing, more)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: n, m, lo, hi, j, k
    real(sp), intent(in) :: relaxing(lo:hi)
    real(sp), intent(inout) :: more(lo:hi)
    real(sp) :: e(0:1), stiff(0:1), old
    integer :: i, of(0:1)
    of = [Mechanism(self%grid, m, 0, j, k), Mechanism(self%grid, m, 1, j, k)]
    e = self%decay(of)
    stiff = self%stiff(of)
    associate (r => self%r(n, m)%a)
      do i = lo, hi
        old = r(i, j, k)
        r(i, j, k) = e(iand(i, 1))*old - 0.5_sp*(1 - e(iand(i, 1)))*relaxing(i)
        more(i) = (more(i) + stiff(iand(i, 1))*relaxing(i)) + (old + r(i, j, k))
      end do
    end associate
  end subroutine Relax

  !> Undivided difference of a field along an axis, stretched where there is an absorbing layer; c, what: its memory variable psi.
  subroutine Derivative(self, n, axis, backward, c, what, lo, hi, j, k, d)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: n, axis, c, what, lo, hi, j, k
    logical, intent(in) :: backward
    real(sp), intent(out) :: d(lo:hi)
    integer :: i, at, column
    call Difference(self, n, axis, backward, lo, hi, j, k, d)
    column = merge(3, 0, backward)                     ! a backward difference stands on a half
    associate (psi => self%psi(axis, c, what)%a)
      select case (axis)
      case (1)
        associate (p => self%px, low => self%grid%layer(1), from => self%grid%n(1) - self%grid%layer(2))
          do i = lo, min(hi, low)
            call StretchRow(p(i, column + 1), p(i, column + 2), p(i, column + 3), psi(i, j, k), d(i))
          end do
          do i = max(lo, from + 1), hi
            call StretchRow(p(i, column + 1), p(i, column + 2), p(i, column + 3), psi(low + i - from, j, k), d(i))
          end do
        end associate
      case (2)
        at = Slab(self%grid, 2, j)
        if (at > 0) call StretchRow(self%py(j, column + 1), self%py(j, column + 2), self%py(j, column + 3), psi(lo:hi, at, k), d)
      case default
        at = Slab(self%grid, 3, k)
        if (at > 0) call StretchRow(self%pz(k, column + 1), self%pz(k, column + 2), self%pz(k, column + 3), psi(lo:hi, j, at), d)
      end select
    end associate
  end subroutine Derivative

  !> Undivided difference of a field along an axis. Along layers of x and y, where their normal is another axis, weights are others,
  !> and so they are along z in the first rows below a free surface.
  subroutine Difference(self, n, axis, backward, lo, hi, j, k, d)
    class(fd3d_fortran_t), intent(in) :: self
    integer, intent(in) :: n, axis, lo, hi, j, k
    logical, intent(in) :: backward
    real(sp), intent(inout) :: d(lo:hi)
    integer :: end(0:3), part, first, last
    logical :: in_y, in_x
    in_y = axis /= 2 .and. Slab(self%grid, 2, j) > 0
    end = [lo - 1, min(hi, self%grid%layer(1)), min(hi, self%grid%n(1) - self%grid%layer(2)), hi]
    do part = 1, 3
      first = max(lo, end(part - 1) + 1)
      last = end(part)
      if (first > last) cycle
      in_x = axis /= 1 .and. part /= 2
      if (axis == 3 .and. k <= surface_rows .and. self%grid%side(5) == side_free) then
        if (in_x .or. in_y) call TopRow(self%top_along, 1 - self%grid%half_length, self%f(n)%a, backward, first, last, j, k, &
                                        d(first:last))
        if (.not. (in_x .or. in_y)) call TopRow(self%top, 1 - self%grid%half_length, self%f(n)%a, backward, first, last, j, k, &
                                                d(first:last))
      else if (in_x .or. in_y) then
        call DerRow(1 - self%grid%half_length, self%f(n)%a, axis, backward, first, last, j, k, self%along, d(first:last))
      else
        call DerRow(1 - self%grid%half_length, self%f(n)%a, axis, backward, first, last, j, k, self%w, d(first:last))
      end if
    end do
  end subroutine Difference

  !> Difference along z in row k of the first ones below a free surface, of the cells lo .. hi of row j.
  pure subroutine TopRow(top, low, a, backward, lo, hi, j, k, d)
    type(fd3d_surface_t), intent(in) :: top
    integer, intent(in) :: low, lo, hi, j, k
    real(sp), contiguous, intent(in) :: a(low:, low:, low:)
    logical, intent(in) :: backward
    real(sp), intent(inout) :: d(lo:hi)
    integer :: t
    d = 0
    do t = 1, top%taps
      d = d + real(top%w(t, k, merge(1, 2, backward)), sp)*a(lo:hi, j, t)
    end do
  end subroutine TopRow

  !> Place of row or plane i of an axis among those of its two layers; 0: between them.
  pure integer function Slab(grid, axis, i)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: axis, i
    integer :: low, high
    low = grid%layer(2*axis - 1)
    high = grid%n(axis) - grid%layer(2*axis)
    Slab = 0
    if (i <= low) Slab = i
    if (i > high) Slab = low + i - high
  end function Slab

  subroutine Inject(self, it, part, from, to, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: it, part, from, to
    type(error_t), allocatable, intent(inout) :: error
    if (self%nh == 0 .or. it >= self%silent) return
    if (it < self%q_first .or. it >= self%q_first + size(self%q, 2)) then
      call Fail(error, 'step '//Str(it)//' needs histories of the sources, which are known for steps '//Str(self%q_first)// &
                '..'//Str(self%q_first + size(self%q, 2) - 1))
    else
      call PointsInject(self%source_points, self%history, self%q(:, it - self%q_first + 1), self%grid, part, from, to, self%f)
    end if
  end subroutine Inject

end submodule fd3d_fortran_step
