!> Receivers within a few cells of the source of a 3D shot get what the grid lacks there (nearfield3d.f90), where that is known. The
!> module tells which they are, the submodule of the solver adds it.
module fd3d_nearfield_m
  use model3d_m, only: model3d_t
  use model3d_window_m, only: Model3dBox
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use nearfield3d_m, only: near3d_least, near3d_most, near3d_slender
  use parameters_m, only: job_t
  use scheme3d_m, only: elastic_t, scheme3d_t
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use source3d_m, only: source_fault, source_force
  use window_m, only: window_t
  implicit none
  private
  public :: Fd3dNear, Fd3dNearHelped

  real(dp), parameter :: near = 5                 !< cells: closer to a source its spread over the grid shows
  real(sp), parameter :: even = 1e-5_sp           !< relative: media closer than this are the same
  real(sp), parameter :: relaxes = 1/500.0_sp     !< 1/Q above which memory variables, each of a cell in eight, show

contains

  !> Receivers of a shot that are closer to its source than the grid can tell, and for which what it lacks cannot be said exactly;
  !> `first`: one of them, 0 if there is none.
  subroutine Fd3dNear(earth, job, scheme, shot, window, n, first, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    integer, intent(out) :: n, first
    type(error_t), allocatable, intent(inout) :: error
    type(window_t) :: box
    integer :: r, low(3), high(3), l(3), h(3)
    n = 0
    first = 0
    if (scheme%own%source%kind == source_fault) return
    low = huge(1)
    high = 0
    do r = 1, size(shot%rx)
      if (Cells(window, shot, r) >= near*(1 - 1e-6_dp)) cycle
      call Around(scheme, window, shot, r, l, h)
      low = min(low, l)
      high = max(high, h)
    end do
    if (any(high < low)) return
    call Model3dBox(earth, job, window, low, high, box, error)
    if (allocated(error)) return
    do r = 1, size(shot%rx)
      if (Cells(window, shot, r) >= near*(1 - 1e-6_dp)) cycle
      if (Fd3dNearHelped(scheme, scheme%own, window, shot, r, low, box%medium) .and. &
          .not. any(box%medium(:, :, :, 4:) > relaxes)) cycle
      n = n + 1
      if (first == 0) first = r
    end do
  end subroutine Fd3dNear

  ! --- pieces ---------------------------------------------------------------------------------------------------------

  !> From the source to receiver r.
  pure real(dp) function Cells(window, shot, r)
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    integer, intent(in) :: r
    Cells = norm2([(shot%rx(r) - shot%sx)/window%dx, (shot%ry(r) - shot%sy)/window%dy, (shot%rz(r) - shot%sz)/window%dz])
  end function Cells

  !> The window's cells that source and receiver r are spread over, and those between.
  pure subroutine Around(scheme, window, shot, r, low, high)
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    integer, intent(in) :: r
    integer, intent(out) :: low(3), high(3)
    low = min(floor(OfWindow(window, shot%sx, shot%sy, shot%sz)), floor(OfWindow(window, shot%rx(r), shot%ry(r), shot%rz(r)))) &
          - 3 - Wider(scheme)
    high = max(floor(OfWindow(window, shot%sx, shot%sy, shot%sz)), floor(OfWindow(window, shot%rx(r), shot%ry(r), shot%rz(r)))) &
           + 5 + Wider(scheme)
    low = max(low, 1)
    high = min(high, [window%nx, window%ny, window%nz])
  end subroutine Around

  pure function OfWindow(window, x, y, z) result(cell)
    type(window_t), intent(in) :: window
    real(dp), intent(in) :: x, y, z
    real(dp) :: cell(3)
    cell = [(x - window%x0)/window%dx, (y - window%y0)/window%dy, (z - window%z0)/window%dz]
  end function OfWindow

  !> Cells more that rates of strain and rotation take.
  pure integer function Wider(scheme)
    class(scheme_t), intent(in) :: scheme
    Wider = merge(scheme%half_length, 0, scan(','//scheme%components, 'ew') > 0)
  end function Wider

  !> True if receiver r gets what the grid lacks: it is close to the source, the medium around both is the same, and no surface is
  !> near. media: of the window's cells from `first` on.
  pure logical function Fd3dNearHelped(scheme, own, window, shot, r, first, media)
    class(scheme_t), intent(in) :: scheme
    type(elastic_t), intent(in) :: own
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    integer, intent(in) :: r, first(3)
    real(sp), intent(in) :: media(:, :, :, :)
    integer :: a(3), b(3), p
    Fd3dNearHelped = .false.
    if (Cells(window, shot, r) < near3d_least .or. Cells(window, shot, r) > near3d_most) return
    if (max(window%dx, window%dy, window%dz) > near3d_slender*min(window%dx, window%dy, window%dz)) return
    call Around(scheme, window, shot, r, a, b)
    if (scheme%free_top .and. min(shot%sz, shot%rz(r)) - window%z0 < (4 + Wider(scheme))*window%dz) return
    if (scheme%periodic .and. (any(a(:2) == 1) .or. b(1) == window%nx .or. b(2) == window%ny)) return
    a = a - first + 1
    b = b - first + 1
    do p = 1, 3
      associate (part => media(a(1):b(1), a(2):b(2), a(3):b(3), p))
        if (.not. maxval(part) - minval(part) <= even*maxval(part)) return
        if (p == 2 .and. maxval(part) <= 0 .and. Shears(own)) return
        if (p == 3 .and. maxval(part) <= 0) return
      end associate
    end do
    Fd3dNearHelped = .true.
  end function Fd3dNearHelped

  !> True of a source that does more than push to all sides.
  pure logical function Shears(own)
    type(elastic_t), intent(in) :: own
    associate (m => own%source%moment)
      Shears = own%source%kind == source_force .or. any(abs([m(4:), m(2:3) - m(1)]) > 1e-12_dp*maxval(abs(m)))
    end associate
  end function Shears

end module fd3d_nearfield_m

!> Finds what the grid lacks at the receivers of a shot, and adds it to their samples. Arguments stand in fd3d.f90.
submodule(fd3d_m) fd3d_nearfield
  use fd3d_nearfield_m, only: Fd3dNearHelped
  use nearfield3d_m, only: near3d_orders, near3d_place_t, near3d_source_t, near3d_t, Near3dNew, Near3dPlace, Near3dSeries, &
                           Near3dSource, Near3dTerms
  use source3d_m, only: source_fault, source_force, source_volume
  implicit none

  integer, parameter :: few = 8                   !< receivers for which another thread is worth while

contains

  module procedure MakeNearfield
    type(near3d_t) :: table
    type(near3d_source_t) :: source
    type(near3d_place_t) :: place, even
    character(32), allocatable :: names(:)
    integer, allocatable :: list(:)
    real(dp) :: at(3), bulk
    integer :: c, i, r, workers
    call NearBulk(self, bulk, error)
    if (allocated(error)) return
    allocate (names, source=SplitList(self%scheme%components))
    if (allocated(self%near)) deallocate (self%near)
    allocate (self%near(0:near3d_orders, size(self%shot%rx), size(names)), source=0.0_dp)
    if (self%own%source%kind == source_fault) return
    list = pack([(r, r=1, size(self%shot%rx))], [(Fd3dNearHelped(self%scheme, self%own, window, self%shot, r, &
                                                                                [1, 1, 1], window%medium), &
                                                  r=1, size(self%shot%rx))])
    if (size(list) == 0 .or. .not. self%gathers()) return
    call Near3dNew(table, self%grid%w(:self%grid%half_length), self%grid%d)
    call NearSource(self, window, bulk, table, source)
    workers = min(max(1, self%scheme%threads), 1 + size(list)/few)
    !$omp parallel do private(r, c, at, place, even) schedule(dynamic) num_threads(workers)
    do i = 1, size(list)
      r = list(i)
      at = [self%shot%rx(r), self%shot%ry(r), self%shot%rz(r)] - self%corner
      call Near3dPlace(table, at/self%grid%d, .false., place)
      even = place
      if (self%grid%even) call Near3dPlace(table, at/self%grid%d, .true., even)
      do c = 1, size(names)
        if (names(c)(1:1) == 'v') self%near(:, r, c) = Near3dTerms(table, source, place, trim(names(c)))
        if (names(c)(1:1) /= 'v') self%near(:, r, c) = Near3dTerms(table, source, even, trim(names(c)))
      end do
    end do
    !$omp end parallel do
  end procedure MakeNearfield

  !> The bulk modulus of the grid's cell that holds the source [Pa].
  subroutine NearBulk(self, bulk, error)
    class(fd3d_t), intent(inout) :: self
    real(dp), intent(out) :: bulk
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: here(1)
    integer :: c(3)
    here = -huge(1.0_dp)
    c = floor(([self%shot%sx, self%shot%sy, self%shot%sz] - self%corner)/self%grid%d) + 1 - self%around%first + 1
    if (all(c >= 0 .and. c <= self%around%n + 1)) here = self%lambda(c(1), c(2), c(3)) + self%mu(c(1), c(2), c(3))*2/3
    call OverAll(self, 'largest', here, error)
    bulk = here(1)
  end subroutine NearBulk

  subroutine NearSource(self, window, bulk, table, source)
    class(fd3d_t), intent(in) :: self
    type(window_t), intent(in) :: window
    real(dp), intent(in) :: bulk
    type(near3d_t), intent(in) :: table
    type(near3d_source_t), intent(out) :: source
    real(dp) :: at(3), force(3), moment(6)
    integer :: c(3)
    at = ([self%shot%sx, self%shot%sy, self%shot%sz] - self%corner)/self%grid%d
    c = floor(at) + 1
    force = 0
    moment = 0
    select case (self%own%source%kind)
    case (source_force)
      force = self%own%source%force
    case (source_volume)
      moment(:3) = bulk
    case default
      moment = self%own%source%moment
    end select
    c = max(1, min(c - self%pad, [window%nx, window%ny, window%nz]))
    call Near3dSource(table, at, self%grid%even .and. .not. any(abs(force) > 0), force, moment, &
                      real(window%medium(c(1), c(2), c(3), :3), dp), source)
  end subroutine NearSource

  module procedure add_near
    real(dp), allocatable :: series(:, :)
    integer :: r
    if (.not. any(abs(self%near(:, :, c)) > 0)) return
    series = Near3dSeries(scale(self%scheme%q(:size(samples, 1)), -self%exponent2), self%grid%dt, &
                          self%own%source%kind == source_force, self%at_whole(c))
    do r = 1, size(samples, 2)
      if (any(abs(self%near(:, r, c)) > 0)) samples(:, r) = samples(:, r) + real(matmul(series, self%near(:, r, c)), sp)
    end do
  end procedure add_near

end submodule fd3d_nearfield
