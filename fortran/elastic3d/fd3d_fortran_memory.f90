!> All arrays of the readable 3D time loop: taken, given back, set to zero, saved and loaded. Arguments stand in fd3d_engine.f90.
submodule(fd3d_fortran_m) fd3d_fortran_memory
  use engine_m, only: EngineNumbers, EngineState
  use fd3d_edges_m, only: EdgesFree
  implicit none

contains

  module procedure new
    integer :: n, a, c, m, s(3), status, none(0)
    real(sp) :: nothing(0)
    call self%free()
    self%grid = grid
    self%each = merge(merge(fd3d_together, 1, grid%together), 0, grid%anelastic)
    self%w = real(grid%w(:grid%half_length), sp)
    self%along = self%w
    if (grid%narrow) self%along = [1.0_sp]
    self%top = Fd3dSurface(grid, .false.)
    self%top_along = Fd3dSurface(grid, grid%narrow)
    self%t = real(grid%dt/grid%d, sp)
    status = 0
    do n = 0, fd3d_fields - 1
      if (status == 0) call Take(self%f(n)%a, 1 - grid%half_length, grid%n + grid%half_length, status)
      if (n <= field_vz .and. status == 0) call Take(self%b(n)%a, 1, grid%n, status)
      if (n >= field_sxy .and. status == 0) call Take(self%mue(n)%a, 1, grid%n, status)
      do m = 1, self%each
        if (n >= field_sxx .and. status == 0) call Take(self%r(n, m)%a, 1, grid%n, status)
        if (n >= field_sxy .and. status == 0) call Take(self%strength(n, m)%a, 1, grid%n, status)
      end do
    end do
    if (status == 0) call Take(self%lambda, 1, grid%n, status)
    if (status == 0) call Take(self%mu, 1, grid%n, status)
    do m = 1, self%each
      if (status == 0) call Take(self%relax_p(m)%a, 1, grid%n, status)
      if (status == 0) call Take(self%relax_s(m)%a, 1, grid%n, status)
    end do
    do a = 1, 3
      s = grid%n
      s(a) = grid%layer(2*a - 1) + grid%layer(2*a)
      do c = 1, 3
        if (status == 0) call Take(self%psi(a, c, 0)%a, 1, s, status)
        if (status == 0) call Take(self%psi(a, c, 1)%a, 1, s, status)
      end do
    end do
    if (status /= 0) then
      call Fail(error, 'no memory for the fields of '//Str(grid%n(1))//' x '//Str(grid%n(2))//' x '//Str(grid%n(3))// &
                ' cells: make the grid smaller or use variant=cpu')
      return
    end if
    call NeutralProfile(grid%n(1), self%px, self%gx)
    call NeutralProfile(grid%n(2), self%py, self%gy)
    call NeutralProfile(grid%n(3), self%pz, self%gz)
    call self%source(0, none, none, none, none, none, nothing, error)
    call self%receivers([1], none, none, none, none, nothing, error)
    call self%watch(fd3d_map_t(), error)
    call self%reset(error)
  end procedure new

  !> A volume of cells first .. last(:), zero.
  subroutine Take(a, first, last, status)
    real(sp), allocatable, intent(inout) :: a(:, :, :)
    integer, intent(in) :: first, last(3)
    integer, intent(out) :: status
    allocate (a(first:last(1), first:last(2), first:last(3)), source=0.0_sp, stat=status)
  end subroutine Take

  pure subroutine NeutralProfile(n, p, g)
    integer, intent(in) :: n
    real(sp), allocatable, intent(inout) :: p(:, :), g(:)
    p = spread([0, 0, 1, 0, 0, 1], 1, n)
    g = spread(1.0_sp, 1, n)
  end subroutine NeutralProfile

  module procedure free
    integer :: n, a, c, m
    do n = 0, fd3d_fields - 1
      call Give(self%f(n)%a)
      if (n <= field_vz) call Give(self%b(n)%a)
      if (n >= field_sxy) call Give(self%mue(n)%a)
      do m = 1, fd3d_together
        if (n >= field_sxx) call Give(self%r(n, m)%a)
        if (n >= field_sxy) call Give(self%strength(n, m)%a)
      end do
    end do
    do m = 1, fd3d_together
      call Give(self%relax_p(m)%a)
      call Give(self%relax_s(m)%a)
    end do
    do a = 1, 3
      do c = 1, 3
        call Give(self%psi(a, c, 0)%a)
        call Give(self%psi(a, c, 1)%a)
      end do
    end do
    call Give(self%lambda)
    call Give(self%mu)
    if (allocated(self%peaks)) deallocate (self%peaks)
    call EdgesFree(self%edges)
    if (allocated(self%samples)) deallocate (self%samples)
  end procedure free

  subroutine Give(a)
    real(sp), allocatable, intent(inout) :: a(:, :, :)
    if (allocated(a)) deallocate (a)
  end subroutine Give

  module procedure reset
    integer :: n, a, c, m
    do n = 0, fd3d_fields - 1
      self%f(n)%a = 0
      do m = 1, self%each
        if (n >= field_sxx) self%r(n, m)%a = 0
      end do
    end do
    do a = 1, 3
      do c = 1, 3
        self%psi(a, c, 0)%a = 0
        self%psi(a, c, 1)%a = 0
      end do
    end do
    if (allocated(self%edges%before)) self%edges%before = 0
    self%peaks = 0
    self%steps = 0
    self%q = reshape([real(sp) ::], [self%nh, 0])
    self%silent = huge(1)
  end procedure reset

  module procedure state_size
    integer :: n, a, c, m
    state_size = int(steps, i8)*size(self%samples, 1) + size(self%peaks) + size(self%edges%before)
    do n = 0, fd3d_fields - 1
      state_size = state_size + size(self%f(n)%a, kind=i8)
      do m = 1, self%each
        if (n >= field_sxx) state_size = state_size + size(self%r(n, m)%a, kind=i8)
      end do
    end do
    do a = 1, 3
      do c = 1, 3
        state_size = state_size + size(self%psi(a, c, 0)%a, kind=i8) + size(self%psi(a, c, 1)%a, kind=i8)
      end do
    end do
  end procedure state_size

  module procedure save_state
    call MoveState(self, self%steps, size(state, kind=i8), error, out=state)
  end procedure save_state

  module procedure load
    self%first = 1
    self%steps = 0
    call EngineRoom(self, steps)
    call MoveState(self, steps, size(state, kind=i8), error, in=state)
    if (.not. allocated(error)) self%steps = steps
  end procedure load

  !> Fields with their halos, memory variables, psi, the last row before a one-way bottom, the map, the samples.
  subroutine MoveState(self, steps, numbers, error, out, in)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: steps
    integer(i8), intent(in) :: numbers
    type(error_t), allocatable, intent(inout) :: error
    real(sp), intent(inout), optional :: out(:)
    real(sp), intent(in), optional :: in(:)
    integer(i8) :: at
    integer :: n, a, c, m
    call EngineState(self, steps, numbers, error)
    if (allocated(error)) return
    at = 0
    do n = 0, fd3d_fields - 1
      call EngineNumbers(self%f(n)%a, size(self%f(n)%a, kind=i8), at, out, in)
      do m = 1, self%each
        if (n >= field_sxx) call EngineNumbers(self%r(n, m)%a, size(self%r(n, m)%a, kind=i8), at, out, in)
      end do
    end do
    do a = 1, 3
      do c = 1, 3
        call EngineNumbers(self%psi(a, c, 0)%a, size(self%psi(a, c, 0)%a, kind=i8), at, out, in)
        call EngineNumbers(self%psi(a, c, 1)%a, size(self%psi(a, c, 1)%a, kind=i8), at, out, in)
      end do
    end do
    call EngineNumbers(self%edges%before, size(self%edges%before, kind=i8), at, out, in)
    call EngineNumbers(self%peaks, size(self%peaks, kind=i8), at, out, in)
    call EngineNumbers(self%samples, int(steps, i8)*size(self%samples, 1), at, out, in)
  end subroutine MoveState

  module procedure bytes
    integer(i8) :: cells
    bytes = 0
    if (.not. allocated(self%lambda)) return
    cells = product(int(self%grid%n, i8))
    bytes = 4*(self%state_size(0) + (8 + 5*self%each)*cells + size(self%samples, kind=i8))
  end procedure bytes

end submodule fd3d_fortran_memory
