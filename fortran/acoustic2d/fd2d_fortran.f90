!> Variant `fortran`: the 2D scheme as plainly as it can be written, the reference that every other variant is measured against.
!>
!>     rho dvx/dt = dσ/dx,   rho dvz/dt = dσ/dz,   dσ/dt = K (dvx/dx + dvz/dz) - K q,   σ = -p
!>
!> Absorbing layers: d becomes d/k + psi with psi = b psi + a d (convolutional PML, see pml.f90); outside the layers a = 0, k = 1.
!> Free surface: row 1 is at z = 0, where σ = 0; above it σ is continued antisymmetric and vz symmetric (images).
module fd2d_fortran_m
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_positive_inf, ieee_value
  use der_m, only: DerDifxba, DerDifxfw, DerDifyba, DerDifyfw
  use engine_m, only: EngineNumbers, EngineRoom, EngineState
  use error_m, only: error_t, Fail
  use fd2d_engine_m, only: fd2d_engine_t, fd2d_grid_t, field_sigma, field_vx
  use kinds_m, only: dp, i8, sp
  use text_m, only: Str
  implicit none
  private
  public :: fd2d_fortran_t

  !> The cells of a point, and what each counts.
  type :: cells_t
    integer, allocatable :: i(:), k(:)
    real(sp), allocatable :: w(:)
  end type cells_t

  type, extends(fd2d_engine_t) :: fd2d_fortran_t
    private
    type(fd2d_grid_t) :: grid
    real(sp), allocatable :: w(:)                               !< weights, (half_length)
    real(sp), allocatable, dimension(:, :) :: sigma, vx, vz     !< (nx, nz)
    real(sp), allocatable, dimension(:, :) :: bx, bz, kappa     !< dt/rho at vx and vz, K dt at σ
    real(sp), allocatable, dimension(:, :) :: psi_sx, psi_sz, psi_vx, psi_vz   !< memory variables of the four derivatives
    real(sp), allocatable :: px(:, :), pz(:, :)                 !< profiles, (nx, 6), (nz, 6)
    real(sp), allocatable :: q(:)                               !< wavelet, (nt)
    type(cells_t) :: source_cells, receiver_cells
    integer, allocatable :: start(:), which(:)                  !< receivers: (nrec+1), (nrec)
  contains
    procedure :: new, free, model, pml, source, receivers, timestep, field, set_field, maxabs, reset, bytes, device
    procedure :: state_size, save => save_state, load
    procedure :: peak => maxabs
  end type fd2d_fortran_t

contains

  subroutine new(self, grid, error)
    class(fd2d_fortran_t), intent(inout) :: self
    type(fd2d_grid_t), intent(in) :: grid
    type(error_t), allocatable, intent(inout) :: error
    integer :: status
    call self%free()
    self%grid = grid
    self%w = real(grid%w(:grid%half_length), sp)
    associate (nx => grid%nx, nz => grid%nz)
      allocate (self%sigma(nx, nz), self%vx(nx, nz), self%vz(nx, nz), self%bx(nx, nz), self%bz(nx, nz), self%kappa(nx, nz), &
                self%psi_sx(nx, nz), self%psi_sz(nx, nz), self%psi_vx(nx, nz), self%psi_vz(nx, nz), stat=status)
      if (status /= 0) then
        call Fail(error, 'no memory for 10 fields of '//Str(nx)//' x '//Str(nz)//' nodes ('// &
                  Str(40e-9_dp*nx*nz, 3)//' GB): make the grid smaller or use variant=cpu')
        return
      end if
      allocate (self%px(nx, 6), self%pz(nz, 6), source=0.0_sp)
    end associate
    self%px(:, 3::3) = 1
    self%pz(:, 3::3) = 1
    self%kappa = 0
    self%bx = 0
    self%bz = 0
    call self%source([real(sp) ::], [integer ::], [integer ::], [real(sp) ::], error)
    call self%receivers([1], [integer ::], [integer ::], [integer ::], [real(sp) ::], error)
    call self%reset(error)
  end subroutine new

  subroutine free(self)
    class(fd2d_fortran_t), intent(inout) :: self
    if (.not. allocated(self%sigma)) return
    deallocate (self%sigma, self%vx, self%vz, self%bx, self%bz, self%kappa, self%psi_sx, self%psi_sz, self%psi_vx, self%psi_vz)
    deallocate (self%px, self%pz, self%q, self%start, self%which, self%samples)
  end subroutine free

  !> 1/rho at the velocity points: one over the mean of the two neighbours' rho; at the last column and row, the edge itself. With
  !> rho_z, rho is at the points of vx and rho_z at those of vz.
  subroutine model(self, kappa, rho, error, rho_z)
    class(fd2d_fortran_t), intent(inout) :: self
    real(sp), intent(in) :: kappa(:, :), rho(:, :)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), intent(in), optional :: rho_z(:, :)
    integer :: nx, nz
    nx = self%grid%nx
    nz = self%grid%nz
    if (.not. (all(kappa > 0) .and. all(rho > 0))) then
      call Fail(error, 'bulk modulus and density of the grid must be positive everywhere')
      return
    end if
    self%kappa = real(self%grid%dt*kappa, sp)
    if (present(rho_z)) then
      if (.not. all(rho_z > 0)) then
        call Fail(error, 'the density at the points of vz must be positive everywhere')
        return
      end if
      self%bx = real(self%grid%dt/rho, sp)
      self%bz = real(self%grid%dt/rho_z, sp)
      return
    end if
    self%bx(:nx - 1, :) = real(2*self%grid%dt/(real(rho(:nx - 1, :), dp) + rho(2:, :)), sp)
    self%bx(nx, :) = real(self%grid%dt/rho(nx, :), sp)
    self%bz(:, :nz - 1) = real(2*self%grid%dt/(real(rho(:, :nz - 1), dp) + rho(:, 2:)), sp)
    self%bz(:, nz) = real(self%grid%dt/rho(:, nz), sp)
  end subroutine model

  subroutine pml(self, px, pz, error)
    class(fd2d_fortran_t), intent(inout) :: self
    real(sp), intent(in) :: px(:, :), pz(:, :)
    type(error_t), allocatable, intent(inout) :: error
    self%px = px
    self%pz = pz
  end subroutine pml

  subroutine source(self, q, i, k, w, error)
    class(fd2d_fortran_t), intent(inout) :: self
    real(sp), intent(in) :: q(:), w(:)
    integer, intent(in) :: i(:), k(:)
    type(error_t), allocatable, intent(inout) :: error
    self%q = q
    self%source_cells%i = i
    self%source_cells%k = k
    self%source_cells%w = w
    call CheckCells(self, self%source_cells, 'source', error)
  end subroutine source

  subroutine receivers(self, start, field, i, k, w, error)
    class(fd2d_fortran_t), intent(inout) :: self
    integer, intent(in) :: start(:), field(:), i(:), k(:)
    real(sp), intent(in) :: w(:)
    type(error_t), allocatable, intent(inout) :: error
    self%start = start
    self%which = field
    self%receiver_cells%i = i
    self%receiver_cells%k = k
    self%receiver_cells%w = w
    self%samples = reshape([real(sp) ::], [size(field), 0])
    self%steps = 0
    call CheckCells(self, self%receiver_cells, 'receivers', error)
  end subroutine receivers

  subroutine CheckCells(self, cells, what, error)
    class(fd2d_fortran_t), intent(in) :: self
    type(cells_t), intent(in) :: cells
    character(*), intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
    integer :: n
    do n = 1, size(cells%w)
      if (cells%i(n) >= 1 .and. cells%i(n) <= self%grid%nx .and. cells%k(n) >= 1 .and. cells%k(n) <= self%grid%nz) cycle
      call Fail(error, 'cell '//Str(n)//' of the '//what//' is ('//Str(cells%i(n))//', '//Str(cells%k(n))//'), must lie in 1..'// &
                Str(self%grid%nx)//', 1..'//Str(self%grid%nz))
      return
    end do
  end subroutine CheckCells

  subroutine timestep(self, first, n, error)
    class(fd2d_fortran_t), intent(inout) :: self
    integer, intent(in) :: first, n
    type(error_t), allocatable, intent(inout) :: error
    integer :: it
    if (self%steps > 0 .and. first /= self%first + self%steps) then
      call Fail(error, 'time stepping asked to go on with step '//Str(first)//', but the next step is '// &
                Str(self%first + self%steps))
      return
    end if
    if (self%steps == 0) self%first = first
    call EngineRoom(self, self%steps + n)
    do it = first, first + n - 1
      call StepVelocity(self)
      call StepSigma(self)
      call AddSource(self, it)
      self%steps = self%steps + 1
      call Sample(self, self%samples(:, self%steps))
    end do
  end subroutine timestep

  subroutine StepVelocity(self)
    class(fd2d_fortran_t), intent(inout) :: self
    real(sp), allocatable :: d(:, :)
    allocate (d(self%grid%nx, self%grid%nz))
    call DerDifxfw(self%sigma, self%w, self%grid%dx, d)
    call StretchX(self%px(:, 4:6), self%psi_sx, d)
    self%vx = self%vx + self%bx*d
    if (self%grid%free_top) then
      call BelowSurface(DerDifyfw, self%sigma, -1, self%w, self%grid%dz, d)
    else
      call DerDifyfw(self%sigma, self%w, self%grid%dz, d)
    end if
    call StretchZ(self%pz(:, 4:6), self%psi_sz, d)
    self%vz = self%vz + self%bz*d
  end subroutine StepVelocity

  subroutine StepSigma(self)
    class(fd2d_fortran_t), intent(inout) :: self
    real(sp), allocatable :: d(:, :), divergence(:, :)
    allocate (d(self%grid%nx, self%grid%nz), divergence(self%grid%nx, self%grid%nz))
    call DerDifxba(self%vx, self%w, self%grid%dx, divergence)
    call StretchX(self%px(:, 1:3), self%psi_vx, divergence)
    if (self%grid%free_top) then
      call BelowSurface(DerDifyba, self%vz, 1, self%w, self%grid%dz, d)
    else
      call DerDifyba(self%vz, self%w, self%grid%dz, d)
    end if
    call StretchZ(self%pz(:, 1:3), self%psi_vz, d)
    self%sigma = self%sigma + self%kappa*(divergence + d)
    if (self%grid%free_top) self%sigma(:, 1) = 0
  end subroutine StepSigma

  !> Derivative along z of a field continued above row 1: sign -1: a(1-j) = -a(1+j), as σ;
  !> +1: a(1-j) = a(j), as vz, which stands half a cell lower.
  subroutine BelowSurface(Derivative, a, sign, w, dz, d)
    interface
      pure subroutine Derivative(a, w, dz, d)
        import :: dp, sp
        real(sp), intent(in) :: a(:, :), w(:)
        real(dp), intent(in) :: dz
        real(sp), intent(out) :: d(:, :)
      end subroutine Derivative
    end interface
    real(sp), intent(in) :: a(:, :), w(:)
    integer, intent(in) :: sign
    real(dp), intent(in) :: dz
    real(sp), intent(out) :: d(:, :)
    real(sp), allocatable :: continued(:, :), all_d(:, :)
    integer :: j, from
    allocate (continued(size(a, 1), 1 - size(w):size(a, 2)), source=0.0_sp)
    allocate (all_d(size(a, 1), size(w) + size(a, 2)))
    continued(:, 1:) = a
    do j = 1, size(w)
      from = merge(1 + j, j, sign < 0)
      if (from <= size(a, 2)) continued(:, 1 - j) = sign*a(:, from)
    end do
    call Derivative(continued, w, dz, all_d)
    d = all_d(:, size(w) + 1:)
  end subroutine BelowSurface

  !> d(i,:) becomes d/k + psi, psi = b psi + a d; p(nx, 3): a, b, 1/k.
  pure subroutine StretchX(p, psi, d)
    real(sp), intent(in) :: p(:, :)
    real(sp), intent(inout) :: psi(:, :), d(:, :)
    integer :: k
    do k = 1, size(d, 2)
      psi(:, k) = p(:, 2)*psi(:, k) + p(:, 1)*d(:, k)
      d(:, k) = p(:, 3)*d(:, k) + psi(:, k)
    end do
  end subroutine StretchX

  !> The same along z; p(nz, 3).
  pure subroutine StretchZ(p, psi, d)
    real(sp), intent(in) :: p(:, :)
    real(sp), intent(inout) :: psi(:, :), d(:, :)
    integer :: k
    do k = 1, size(d, 2)
      psi(:, k) = p(k, 2)*psi(:, k) + p(k, 1)*d(:, k)
      d(:, k) = p(k, 3)*d(:, k) + psi(:, k)
    end do
  end subroutine StretchZ

  subroutine AddSource(self, it)
    class(fd2d_fortran_t), intent(inout) :: self
    integer, intent(in) :: it
    integer :: n
    if (it > size(self%q)) return
    associate (c => self%source_cells)
      do n = 1, size(c%w)
        if (self%grid%free_top .and. c%k(n) == 1) cycle     ! σ is 0 on a free surface, whatever is injected there
        self%sigma(c%i(n), c%k(n)) = self%sigma(c%i(n), c%k(n)) + c%w(n)*self%q(it)
      end do
    end associate
  end subroutine AddSource

  subroutine Sample(self, values)
    class(fd2d_fortran_t), intent(in) :: self
    real(sp), intent(out) :: values(:)
    real(dp) :: total
    integer :: r, n
    associate (c => self%receiver_cells)
      do r = 1, size(values)
        total = 0
        do n = self%start(r), self%start(r + 1) - 1
          select case (self%which(r))
          case (field_sigma)
            total = total + real(c%w(n), dp)*self%sigma(c%i(n), c%k(n))
          case (field_vx)
            total = total + real(c%w(n), dp)*self%vx(c%i(n), c%k(n))
          case default
            total = total + real(c%w(n), dp)*self%vz(c%i(n), c%k(n))
          end select
        end do
        values(r) = real(total, sp)
      end do
    end associate
  end subroutine Sample

  subroutine field(self, which, out, error)
    class(fd2d_fortran_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    select case (which)
    case (field_sigma)
      out = self%sigma
    case (field_vx)
      out = self%vx
    case default
      out = self%vz
    end select
  end subroutine field

  subroutine set_field(self, which, in, error)
    class(fd2d_fortran_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(in) :: in(:, :)
    type(error_t), allocatable, intent(inout) :: error
    select case (which)
    case (field_sigma)
      self%sigma = in
    case (field_vx)
      self%vx = in
    case default
      self%vz = in
    end select
    self%steps = 0
  end subroutine set_field

  subroutine maxabs(self, value, place, error)
    class(fd2d_fortran_t), intent(inout) :: self
    real(sp), intent(out) :: value
    integer, intent(out) :: place(3)
    type(error_t), allocatable, intent(inout) :: error
    place = 1
    if (all(ieee_is_finite(self%sigma))) then
      place(:2) = maxloc(abs(self%sigma))
      value = abs(self%sigma(place(1), place(2)))
    else
      place(:2) = findloc(ieee_is_finite(self%sigma), .false.)
      value = ieee_value(value, ieee_positive_inf)
    end if
  end subroutine maxabs

  subroutine reset(self, error)
    class(fd2d_fortran_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    self%sigma = 0
    self%vx = 0
    self%vz = 0
    self%psi_sx = 0
    self%psi_sz = 0
    self%psi_vx = 0
    self%psi_vz = 0
    self%steps = 0
  end subroutine reset

  integer(i8) function state_size(self, steps)
    class(fd2d_fortran_t), intent(in) :: self
    integer, intent(in) :: steps
    state_size = 7*size(self%sigma, kind=i8) + int(steps, i8)*size(self%which)
  end function state_size

  subroutine save_state(self, state, error)
    class(fd2d_fortran_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineState(self, self%steps, size(state, kind=i8), error)
    if (.not. allocated(error)) call MoveState(self, self%steps, out=state)
  end subroutine save_state

  subroutine load(self, steps, state, error)
    class(fd2d_fortran_t), intent(inout) :: self
    integer, intent(in) :: steps
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineState(self, steps, size(state, kind=i8), error)
    if (allocated(error)) return
    self%first = 1
    self%steps = 0
    call EngineRoom(self, steps)
    call MoveState(self, steps, in=state)
    self%steps = steps
  end subroutine load

  !> sigma, vx, vz, the four memory variables, the samples.
  subroutine MoveState(self, steps, out, in)
    class(fd2d_fortran_t), intent(inout) :: self
    integer, intent(in) :: steps
    real(sp), intent(inout), optional :: out(:)
    real(sp), intent(in), optional :: in(:)
    integer(i8) :: at, n
    at = 0
    n = size(self%sigma, kind=i8)
    call EngineNumbers(self%sigma, n, at, out, in)
    call EngineNumbers(self%vx, n, at, out, in)
    call EngineNumbers(self%vz, n, at, out, in)
    call EngineNumbers(self%psi_sx, n, at, out, in)
    call EngineNumbers(self%psi_sz, n, at, out, in)
    call EngineNumbers(self%psi_vx, n, at, out, in)
    call EngineNumbers(self%psi_vz, n, at, out, in)
    call EngineNumbers(self%samples, int(steps, i8)*size(self%samples, 1), at, out, in)
  end subroutine MoveState

  integer(i8) function bytes(self)
    class(fd2d_fortran_t), intent(in) :: self
    bytes = 0
    if (allocated(self%sigma)) bytes = 4*(10*size(self%sigma, kind=i8) + size(self%samples, kind=i8))
  end function bytes

  function device(self) result(text)
    class(fd2d_fortran_t), intent(in) :: self
    character(:), allocatable :: text
    text = 'one core, plain Fortran'
  end function device

end module fd2d_fortran_m
