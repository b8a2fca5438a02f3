!> Finds what the grid lacks at the receivers of a shot, and adds it to their samples. Where the medium varies, but by one flat
!> contact of rock (fd3d_flat_near.f90), it is taken for an even one with the mean of what is at source and receiver, so that they
!> may change places (t630). Arguments stand in fd3d.f90.
submodule(fd3d_m) fd3d_nearfield
  use anelastic_m, only: anelastic_t, AnelasticFit
  use fd3d_moduli_m, only: Fd3dBulk, Fd3dCell
  use near_receivers_m, only: varies_most, Fd3dNearAsks, Fd3dNearHelps, Fd3dNearRange, Fd3dNearSlopes
  use floor_terms_m, only: floor_terms, FloorSeries
  use near_losses_m, only: NearLosses, NearLossSeries
  use nearfield3d_m, only: near3d_orders, near3d_place_t, near3d_source_t, near3d_t, Near3dNew, Near3dPlace, Near3dSeries, &
                           Near3dSource, Near3dTerms
  use source3d_m, only: source_fault, source_force, SourceParts
  implicit none

  integer, parameter :: few = 8                   !< receivers for which another thread is worth while

contains

  module procedure MakeNearfield
    type(near3d_t) :: table
    type(near3d_source_t) :: source
    type(near3d_place_t) :: place, even
    character(32), allocatable :: names(:)
    integer, allocatable :: list(:)
    logical, allocatable :: helped(:), slopes(:), flat(:, :)
    real(dp), allocatable :: here(:, :), beside(:, :, :, :)
    real(dp) :: at(3), quality(2)
    integer :: c, i, r, workers
    allocate (names, source=SplitList(self%scheme%components))
    if (allocated(self%near)) deallocate (self%near)
    if (allocated(self%near_floor)) deallocate (self%near_floor)
    allocate (self%near(0:near3d_orders, size(self%shot%rx), size(names), merge(3, 1, self%grid%anelastic)), source=0.0_dp)
    if (self%own%source%kind == source_fault) return
    call FindHelped(self, window, 0, helped, error)
    slopes = helped
    if (Fd3dNearSlopes(self%scheme%components)) call FindHelped(self, window, self%grid%half_length, slopes, error)
    call FlatNear(self, window, beside, flat, quality, error)
    do c = 1, size(names)
      do r = 1, size(helped)
        if (flat(r, merge(2, 1, Fd3dNearSlopes(trim(names(c)))))) self%near(:, r, c, :) = beside(:, r, c, :)
      end do
    end do
    if (self%grid%anelastic .and. any(flat) .and. .not. allocated(error)) call Relaxes(self, quality, error)
    helped = helped .and. .not. all(flat, dim=2)
    slopes = slopes .and. .not. flat(:, 2)
    if (allocated(error) .or. .not. any(helped)) return
    list = pack([(r, r=1, size(helped))], helped)
    call Media(self, window, list, here, error)
    if (allocated(error) .or. .not. self%gathers()) return
    call Near3dNew(table, self%grid%w(:self%grid%half_length), self%grid%d, self%scheme%free_top .and. self%own%wet)
    call NearSource(self, here(:, 0), table, source)
    if (self%grid%anelastic) call Relaxes(self, here(5:, 0), error)
    if (allocated(error)) return
    workers = min(max(1, self%scheme%threads), 1 + size(list)/few)
    !$omp parallel do private(r, c, at, place, even) firstprivate(source) schedule(dynamic) num_threads(workers)
    do i = 1, size(list)
      r = list(i)
      at = [self%shot%rx(r), self%shot%ry(r), self%shot%rz(r)] - self%corner
      call Near3dPlace(table, at/self%grid%d, .false., place)
      even = place
      if (self%grid%even) call Near3dPlace(table, at/self%grid%d, .true., even)
      call Between(source, here(:3, 0), here(:3, i))
      do c = 1, size(names)
        if (Fd3dNearSlopes(trim(names(c))) .and. .not. slopes(r)) cycle
        if (flat(r, 1) .and. .not. Fd3dNearSlopes(trim(names(c)))) cycle
        if (names(c)(1:1) == 'v') self%near(:, r, c, :) = Terms(table, source, place, trim(names(c)), size(self%near, 4))
        if (names(c)(1:1) /= 'v') self%near(:, r, c, :) = Terms(table, source, even, trim(names(c)), size(self%near, 4))
      end do
    end do
    !$omp end parallel do
  end procedure MakeNearfield

  !> Finds the way in which moduli relax at the source. q: 1/Q of P and S waves.
  subroutine Relaxes(self, q, error)
    class(fd3d_t), intent(inout) :: self
    real(dp), intent(in) :: q(2)
    type(error_t), allocatable, intent(inout) :: error
    type(anelastic_t) :: a
    call AnelasticFit(self%own%q_band(1), self%own%q_band(2), self%own%memory, a, error)
    if (.not. allocated(error)) self%near_losses = NearLosses(a, q)
  end subroutine Relaxes

  !> The terms of a component and, `n` = 3, their slopes by the logarithms of lambda + 2 mu and of mu.
  pure function Terms(table, source, place, name, n) result(t)
    type(near3d_t), intent(in) :: table
    type(near3d_source_t), intent(in) :: source
    type(near3d_place_t), intent(in) :: place
    character(*), intent(in) :: name
    integer, intent(in) :: n
    real(dp), parameter :: small = 1.0e-2_dp
    real(dp) :: t(0:near3d_orders, n)
    type(near3d_source_t) :: other
    integer :: m, side
    t = 0
    t(:, 1) = Near3dTerms(table, source, place, name)
    do m = 2, n
      do side = -1, 1, 2
        other = source
        if (m == 2) other%vp = source%vp*sqrt(1 + side*small)
        if (m == 3) other%vs = source%vs*sqrt(1 + side*small)
        t(:, m) = t(:, m) + side*Near3dTerms(table, other, place, name)/(2*small)
      end do
    end do
  end function Terms

  !> The receivers that get what the grid lacks of components that take `wider` cells more.
  subroutine FindHelped(self, window, wider, helped, error)
    class(fd3d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    integer, intent(in) :: wider
    logical, allocatable, intent(out) :: helped(:)
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: range(:)
    integer, allocatable :: list(:)
    integer :: i, r
    allocate (helped(size(self%shot%rx)))
    do r = 1, size(helped)
      helped(r) = Fd3dNearAsks(self%scheme, self%own, window, self%shot, r, wider)
    end do
    list = pack([(r, r=1, size(helped))], helped)
    if (allocated(error) .or. size(list) == 0) return
    allocate (range(6*size(list)))
    do i = 1, size(list)
      call Fd3dNearRange(window, self%shot, list(i), wider, range(6*i - 5:6*i))
    end do
    call OverAll(self, 'largest', range, error)
    do i = 1, size(list)
      helped(list(i)) = Fd3dNearHelps(self%own, reshape(range(6*i - 5:6*i), [2, 3]), varies_most)
    end do
  end subroutine FindHelped

  !> Media here(:, 0) at the source and here(:, i) at receivers list(i) (MediumAt).
  subroutine Media(self, window, list, here, error)
    class(fd3d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    integer, intent(in) :: list(:)
    real(dp), allocatable, intent(out) :: here(:, :)
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: all_of(:)
    integer :: i
    allocate (here(6, 0:size(list)))
    here(:, 0) = MediumAt(self, window, [self%shot%sx, self%shot%sy, self%shot%sz])
    do i = 1, size(list)
      associate (r => list(i))
        here(:, i) = MediumAt(self, window, [self%shot%rx(r), self%shot%ry(r), self%shot%rz(r)])
      end associate
    end do
    all_of = reshape(here, [size(here)])
    call OverAll(self, 'largest', all_of, error)
    here(:, 0:) = reshape(all_of, shape(here))
  end subroutine Media

  !> vp, vs and density of the window's cell that holds x, and the bulk modulus of the grid's [Pa]; where waves attenuate vp and vs
  !> of the grid's, and 1/Q of P and S waves. What this rank does not know is -huge().
  function MediumAt(self, window, x) result(here)
    class(fd3d_t), intent(in) :: self
    type(window_t), intent(in) :: window
    real(dp), intent(in) :: x(3)
    real(dp) :: here(6)
    type(box_t) :: known
    real(sp) :: rho, lambda, mu
    integer :: at(3), c(3)
    here = -huge(1.0_dp)
    at = floor((x - self%corner)/self%grid%d) + 1
    c = max(1, min(at - self%pad, [window%nx, window%ny, window%nz]))
    known = WindowBox(window)
    if (all(c >= known%low .and. c <= known%high)) then
      here(:3) = real(window%medium(c(1), c(2), c(3), :3), dp)
      if (self%grid%anelastic) here(5:) = real(window%medium(c(1), c(2), c(3), 4:5), dp)
    end if
    c = at - self%around%first + 1
    if (all(c >= 0 .and. c <= self%around%n + 1)) then
      here(4) = Fd3dBulk(self%moduli, window, c)
      call Fd3dCell(self%moduli, window, c, rho, lambda, mu)
      if (self%grid%anelastic .and. rho > 0) here(:2) = sqrt([lambda + 2*mu, mu]/real(rho, dp))
    end if
  end function MediumAt

  !> Gives the source the geometric mean of two media vp, vs, rho.
  pure subroutine Between(source, a, b)
    type(near3d_source_t), intent(inout) :: source
    real(dp), intent(in) :: a(3), b(3)
    real(dp) :: mean(3)
    mean = sqrt(a*b)
    where (.not. abs(a - b) > 0) mean = a
    source%vp = mean(1)
    source%vs = mean(2)
    source%rho = mean(3)
  end subroutine Between

  !> `here`: the medium there (MediumAt).
  subroutine NearSource(self, here, table, source)
    class(fd3d_t), intent(in) :: self
    real(dp), intent(in) :: here(:)
    type(near3d_t), intent(in) :: table
    type(near3d_source_t), intent(out) :: source
    real(dp) :: at(3), force(3), moment(6)
    at = ([self%shot%sx, self%shot%sy, self%shot%sz] - self%corner)/self%grid%d
    call SourceParts(self%own%source, here(4), force, moment)
    call Near3dSource(table, at, self%grid%even .and. .not. any(abs(force) > 0), force, moment, here(:3), source)
  end subroutine NearSource

  module procedure add_near
    real(dp), allocatable :: series(:, :, :)
    integer :: r, m
    if (allocated(self%near_floor)) call AddFloor(self, c, samples)
    if (.not. any(abs(self%near(:, :, c, 1)) > 0)) return
    allocate (series(size(samples, 1), 0:near3d_orders, size(self%near, 4)), source=0.0_dp)
    series(:, :, 1) = Near3dSeries(scale(self%scheme%q(:size(samples, 1)), -self%exponent2), self%grid%dt, &
                                   self%own%source%kind == source_force, self%at_whole(c))
    do m = 2, size(series, 3)
      if (.not. any(abs(self%near(:, :, c, m)) > 0)) cycle
      series(:, :, m) = NearLossSeries(self%near_losses, m - 1, series(:, :, 1), self%grid%dt)
    end do
    do r = 1, size(samples, 2)
      if (.not. any(abs(self%near(:, r, c, 1)) > 0)) cycle
      do m = 1, size(series, 3)
        samples(:, r) = samples(:, r) + real(matmul(series(:, :, m), self%near(:, r, c, m)), sp)
      end do
    end do
  end procedure add_near

  !> The same beside a sea floor.
  subroutine AddFloor(self, c, samples)
    class(fd3d_t), intent(in) :: self
    integer, intent(in) :: c
    real(sp), intent(inout) :: samples(:, :)
    real(dp) :: history(size(samples, 1), 0:near3d_orders), series(size(samples, 1), floor_terms)
    integer :: r
    if (.not. any(abs(self%near_floor(:, :, c)) > 0)) return
    history = Near3dSeries(scale(self%scheme%q(:size(samples, 1)), -self%exponent2), self%grid%dt, .false., self%at_whole(c))
    series = FloorSeries(history(:, 0), self%grid%dt, self%floor_poles, self%floor_unit)
    do r = 1, size(samples, 2)
      if (any(abs(self%near_floor(:, r, c)) > 0)) samples(:, r) = samples(:, r) + real(matmul(series, self%near_floor(:, r, c)), sp)
    end do
  end subroutine AddFloor

end submodule fd3d_nearfield
