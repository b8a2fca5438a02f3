!> Does in single precision on cores as the core of `tuned` does (fd3d_tuned_core.cu): in boxes of a shot of fd3dcase.f90 velocities
!> grow by what they grew by before and by what stresses have grown by since. All other cells are those of the readable variant. The order
!> of operations is that of the kernel, but for products and sums that a GPU rounds once.
module fd3dcore_m
  use error_m, only: error_t
  use fd3d_absorb_m, only: fd3d_profiles_t, Fd3dSponge
  use fd3d_engine_m, only: field_sxx, field_vx, field_vz, part_all
  use fd3d_fortran_m, only: fd3d_fortran_t
  use fd3dcase_m, only: case3d_t, result3d_t
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: Case3dCore

  integer, parameter :: stress_of(3, 3) = reshape([3, 6, 7, 6, 4, 8, 7, 8, 5], [3, 3])

  type :: core_t
    integer :: half_length = 0
    real(sp) :: w(4, 3) = 0, twice = 0                     !< weights times dx over the spacing; 2 (dt/dx)**2
    real(sp), allocatable :: v(:, :, :, :), a(:, :, :, :)  !< (nx, ny, nz, 0:2): velocities, what they grow by
    real(sp), allocatable :: s(:, :, :, :)                 !< (nx, ny, nz, 3:8): what stresses grow by, over dt/dx
  end type core_t

contains

  !> Traces of a shot with a sponge or closed sides whose receivers are of velocities. box(:, n): first and last cell of a core, 2
  !> half-lengths inside the grid. Sources of moment are in a core or as far from it.
  subroutine Case3dCore(c, box, r, error)
    type(case3d_t), intent(in) :: c
    integer, intent(in) :: box(:, :)
    type(result3d_t), intent(out) :: r
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_fortran_t) :: engine
    type(core_t) :: core
    real(sp) :: t
    integer :: it, m, axis
    call Begin(c, engine, error)
    t = real(c%grid%dt/c%grid%d(1), sp)
    core%half_length = c%grid%half_length
    core%twice = 2*t*t
    do axis = 1, 3
      core%w(:, axis) = real(c%grid%w, sp)*(real(c%grid%dt/c%grid%d(axis), sp)/t)
    end do
    associate (n => c%grid%n)
      allocate (core%v(n(1), n(2), n(3), 0:2), source=0.0_sp)
      allocate (core%a, source=core%v)
      allocate (core%s(n(1), n(2), n(3), 3:8), source=0.0_sp)
    end associate
    allocate (r%traces(c%nt, size(c%rf)))
    do it = 1, c%nt
      if (allocated(error)) return
      call Take(c, engine, core, box, it, error)
      do m = 1, size(box, 2)
        call Increments(c, core, box(:3, m) - core%half_length, box(4:, m) + core%half_length)
      end do
      call Source(c, core, it, t)
      call engine%stress(it, part_all, error)
      do m = 1, size(c%rf)
        r%traces(it, m) = c%rw(m)*core%v(c%ri(m), c%rj(m), c%rk(m), c%rf(m))
      end do
    end do
    call engine%free()
  end subroutine Case3dCore

  subroutine Begin(c, engine, error)
    type(case3d_t), intent(in) :: c
    type(fd3d_fortran_t), intent(inout) :: engine
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_profiles_t) :: p
    call engine%new(c%grid, error)
    if (.not. allocated(error)) call engine%model(c%rho, c%lambda, c%mu, error)
    call Fd3dSponge(c%grid, c%sponge, p, 0.03_dp)
    if (.not. allocated(error)) call engine%sponge(p%x(:, 1), p%y(:, 1), p%z(:, 1), error)
    if (.not. allocated(error)) call engine%source(size(c%q, 1), c%sf, c%si, c%sj, c%sk, c%sh, c%sw, error)
    if (.not. allocated(error)) call engine%histories(1, c%q, error)
    if (.not. allocated(error)) call engine%histories(size(c%q, 2) + 1, c%q(:, 1:0), error)
  end subroutine Begin

  !> Velocities of a step: the engine's, but in the cores.
  subroutine Take(c, engine, core, box, it, error)
    type(case3d_t), intent(in) :: c
    type(fd3d_fortran_t), intent(inout) :: engine
    type(core_t), intent(inout) :: core
    integer, intent(in) :: box(:, :), it
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: new(:, :, :)
    integer :: n, m
    call engine%velocity(it, part_all, error)
    allocate (new, mold=core%v(:, :, :, 0))
    do n = field_vx, field_vz
      if (.not. allocated(error)) call engine%field(n, new, error)
      do m = 1, size(box, 2)
        call Grow(c, core, n, box(:3, m), box(4:, m))
        associate (lo => box(:3, m), hi => box(4:, m))
          new(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)) = core%v(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3), n) &
                                                       + core%a(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3), n)
        end associate
      end do
      core%v(:, :, :, n) = new
      if (.not. allocated(error)) call engine%set_field(n, new, error)
    end do
  end subroutine Take

  !> a += b D s; along z, planes are added as they come.
  subroutine Grow(c, core, n, lo, hi)
    type(case3d_t), intent(in) :: c
    type(core_t), intent(inout) :: core
    integer, intent(in) :: n, lo(3), hi(3)
    real(sp) :: d(lo(1):hi(1)), b(lo(1):hi(1))
    integer :: j, k, m, at(3), one(3)
    at = merge(-1, 0, [0, 1, 2] == n)                      ! along its own axis a velocity stands before the stress
    one = merge(1, 0, [0, 1, 2] == n)
    do k = lo(3), hi(3)
      do j = lo(2), hi(2)
        d = 0
        associate (z => core%s(lo(1):hi(1), j, :, stress_of(3, n + 1)), y => core%s(lo(1):hi(1), :, k, stress_of(2, n + 1)), &
                   x => core%s(:, j, k, stress_of(1, n + 1)))
          do m = core%half_length, 1, -1
            d = d - core%w(m, 3)*z(:, k + 1 - m + at(3))
          end do
          do m = 1, core%half_length
            d = d + core%w(m, 1)*(x(lo(1) + m + at(1):hi(1) + m + at(1)) - x(lo(1) + 1 - m + at(1):hi(1) + 1 - m + at(1)))
            d = d + core%w(m, 2)*(y(:, j + m + at(2)) - y(:, j + 1 - m + at(2)))
          end do
          do m = 1, core%half_length
            d = d + core%w(m, 3)*z(:, k + m + at(3))
          end do
        end associate
        b = core%twice*(1/(c%rho(lo(1):hi(1), j, k) + c%rho(lo(1) - one(1):hi(1) - one(1), j - one(2), k - one(3))))
        core%a(lo(1):hi(1), j, k, n) = core%a(lo(1):hi(1), j, k, n) + b*d
      end do
    end do
  end subroutine Grow

  !> Makes the increments of the stresses of cells lo .. hi.
  subroutine Increments(c, core, lo, hi)
    type(case3d_t), intent(in) :: c
    type(core_t), intent(inout) :: core
    integer, intent(in) :: lo(3), hi(3)
    real(sp) :: e(lo(1):hi(1), 3, 0:2), total(lo(1):hi(1)), mu2(lo(1):hi(1))
    integer :: j, k, n, axis
    do k = lo(3), hi(3)
      do j = lo(2), hi(2)
        do n = 0, 2
          do axis = 1, 3
            call Strain(core, lo(1), hi(1), j, k, n, axis, e(:, axis, n))
          end do
        end do
        total = (e(:, 1, 0) + e(:, 2, 1)) + e(:, 3, 2)
        mu2 = 2*c%mu(lo(1):hi(1), j, k)
        do n = 0, 2
          core%s(lo(1):hi(1), j, k, field_sxx + n) = c%lambda(lo(1):hi(1), j, k)*total + mu2*e(:, n + 1, n)
        end do
        core%s(lo(1):hi(1), j, k, 6) = Shear(1, 1, 0)*(e(:, 1, 1) + e(:, 2, 0))
        core%s(lo(1):hi(1), j, k, 7) = Shear(1, 0, 1)*(e(:, 1, 2) + e(:, 3, 0))
        core%s(lo(1):hi(1), j, k, 8) = Shear(0, 1, 1)*(e(:, 2, 2) + e(:, 3, 1))
      end do
    end do
  contains
    !> Mean of the four cells around an edge.
    pure function Shear(x, y, z) result(mu)
      integer, intent(in) :: x, y, z
      real(sp) :: mu(lo(1):hi(1))
      associate (m => c%mu)
        if (x == 0) mu = (1/m(lo(1):hi(1), j, k) + 1/m(lo(1):hi(1), j - 1, k)) + (1/m(lo(1):hi(1), j, k - 1) + 1/m(lo(1):hi(1), j - 1, k - 1))
        if (x == 1) mu = (1/m(lo(1):hi(1), j, k) + 1/m(lo(1) - 1:hi(1) - 1, j, k)) &
                         + (1/m(lo(1):hi(1), j - y, k - z) + 1/m(lo(1) - 1:hi(1) - 1, j - y, k - z))
      end associate
      mu = 4*(1/mu)
    end function Shear
  end subroutine Increments

  !> A weighted difference of velocity n along an axis, for cells lo .. hi of row (j, k).
  pure subroutine Strain(core, lo, hi, j, k, n, axis, d)
    type(core_t), intent(in) :: core
    integer, intent(in) :: lo, hi, j, k, n, axis
    real(sp), intent(inout) :: d(:)
    integer :: m, p, q
    d = 0
    do m = 1, core%half_length
      p = m - merge(0, 1, axis == n + 1)
      q = 1 - m - merge(0, 1, axis == n + 1)
      associate (v => core%v, w => core%w(m, axis))
        if (axis == 1) d = d + w*(v(lo + p:hi + p, j, k, n) - v(lo + q:hi + q, j, k, n))
        if (axis == 2) d = d + w*(v(lo:hi, j + p, k, n) - v(lo:hi, j + q, k, n))
        if (axis == 3) d = d + w*(v(lo:hi, j, k + p, n) - v(lo:hi, j, k + q, n))
      end associate
    end do
  end subroutine Strain

  !> Sources of moment are what stresses grow by, too; outside of cores nobody looks at that.
  subroutine Source(c, core, it, t)
    type(case3d_t), intent(in) :: c
    type(core_t), intent(inout) :: core
    integer, intent(in) :: it
    real(sp), intent(in) :: t
    integer :: n
    if (it > size(c%q, 2)) return
    do n = 1, size(c%sf)
      if (c%sf(n) < field_sxx) cycle
      associate (s => core%s(c%si(n), c%sj(n), c%sk(n), c%sf(n)))
        s = s + c%sw(n)*c%q(c%sh(n), it)/t
      end associate
    end do
  end subroutine Source

end module fd3dcore_m
