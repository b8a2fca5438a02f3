!> Receivers within a few cells of the source of a 3D shot get what the grid lacks there (nearfield3d.f90), where that is known:
!> which they are. The solver adds it (fd3d_nearfield.f90).
module near_receivers_m
  use anelastic_m, only: memory_all
  use model3d_m, only: model3d_t
  use model3d_window_m, only: Model3dCutsFloor, Model3dFill
  use error_m, only: error_t
  use flat_near_m, only: flat_near_t, flat_seen, FlatBeside, FlatFind, FlatRange
  use kinds_m, only: dp, sp
  use nearfield3d_m, only: near3d_flat, near3d_least, near3d_slender, Near3dReach
  use parameters_m, only: job_t
  use scheme3d_m, only: elastic_t, scheme3d_t
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use source3d_m, only: source_fault, source_force
  use window_m, only: box_t, window_t, WindowBox
  implicit none
  private
  public :: Fd3dNear, Fd3dNearAway, Fd3dNearTold, Fd3dOnSource, Fd3dNearAsks, Fd3dNearRange, Fd3dNearHelps, Fd3dNearSlopes
  public :: Fd3dNearFlat, Fd3dNearBeside, Fd3dNearShears

  real(dp), parameter :: near = 6, near_second_order = 10  !< cells: closer to a source its spread shows; half-length 1
  real(sp), parameter, public :: varies_most = 0.7_sp     !< part of its largest that a medium may vary by and still be helped
  real(sp), parameter, public :: varies_little = 0.05_sp  !< the same where what is added is right to a few per cent
  real(dp), parameter, public :: on_floor = 1e-3_dp       !< cells above a sea floor: on it, which is of the rock
  integer, parameter :: floor_cell_most = 2               !< half-length with which it is known beside one in a cell
  integer, parameter :: flat_around = 13          !< cells around source and receivers that must be flat layers
  real(sp), parameter :: relaxes = 1/500.0_sp     !< 1/Q above which memory variables, each of a cell in eight, show

contains

  !> Receivers closer to their source than so many cells are told of, where what the grid lacks cannot be said.
  elemental real(dp) function Fd3dNearTold(half_length) result(cells)
    integer, intent(in) :: half_length
    cells = merge(near_second_order, near, half_length == 1)
  end function Fd3dNearTold

  !> Receivers of a shot that are closer to its source than the grid can tell, and for which what it lacks cannot be said exactly,
  !> from 6 cells on not at all, but not on it; `first`: one of them, 0 if there is none. `layered`: for some it is found in flat
  !> layers.
  subroutine Fd3dNear(earth, job, scheme, shot, window, n, first, layered, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    integer, intent(out) :: n, first
    logical, intent(out) :: layered
    type(error_t), allocatable, intent(inout) :: error
    type(window_t) :: known
    type(box_t) :: box, one
    real(dp) :: range(2, 3), within
    logical :: helped, far, looked, cuts, flat(size(shot%rx), 2)
    integer :: r, wider
    n = 0
    first = 0
    layered = .false.
    if (scheme%own%source%kind == source_fault) return
    wider = merge(scheme%half_length, 0, Fd3dNearSlopes(scheme%components))
    within = Fd3dNearTold(scheme%half_length)*(1 - 1e-6_dp)
    box = box_t(huge(1), 0)
    do r = 1, size(shot%rx)
      if (Cells(window, shot, r) >= within) then
        call Tell(Cells(window, shot, r, scheme%periodic) < within)
        cycle
      end if
      one = Around(window, shot, r, wider)
      box = box_t(min(box%low, one%low), max(box%high, one%high))
    end do
    if (any(box%high < box%low)) return
    known = window
    call Model3dFill(earth, job, box, known, error)
    if (allocated(error)) return
    looked = .false.
    cuts = Model3dCutsFloor(job, earth, [window%dx, window%dy, window%dz])
    do r = 1, size(shot%rx)
      if (Cells(window, shot, r) >= within) cycle
      if (Fd3dOnSource(window, shot, r)) cycle
      helped = Fd3dNearAsks(scheme%scheme_t, scheme%own, window, shot, r, wider)
      if (helped) call Fd3dNearRange(known, shot, r, wider, range)
      far = Cells(window, shot, r) >= near*(1 - 1e-6_dp)
      if (helped) helped = Fd3dNearHelps(scheme%own, range, merge(varies_most, varies_little, far))
      if (.not. helped) then
        if (.not. looked) call LookForLayers()
        if (allocated(error)) return
        helped = flat(r, merge(2, 1, wider > 0))
        layered = layered .or. any(flat(r, :))
      end if
      helped = helped .and. (far .or. scheme%own%memory == memory_all .or. .not. any(known%medium(:, :, :, 4:) > relaxes))
      call Tell(.not. helped)
    end do

  contains

    subroutine Tell(needed)
      logical, intent(in) :: needed
      if (.not. needed) return
      n = n + 1
      if (first == 0) first = r
    end subroutine Tell

    !> Finds the receivers for which it is known beside a contact of flat layers.
    subroutine LookForLayers()
      type(window_t) :: all_around
      type(flat_near_t) :: found
      type(box_t) :: layers
      real(dp), allocatable :: media(:, :)
      looked = .true.
      flat = .false.
      call Fd3dNearFlat(scheme%scheme_t, scheme%own, window, shot, layers)
      if (any(layers%high < layers%low)) return
      all_around = window
      call Model3dFill(earth, job, layers, all_around, error)
      if (allocated(error)) return
      allocate (media(2*size(all_around%medium, 4), layers%high(3) - layers%low(3) + 1))
      call FlatRange(all_around, layers, media)
      if (any(media <= -huge(1.0_dp))) return
      call FlatFind(media, layers%low(3), scheme%free_top, window%dz, found)
      ! Its face may be that next to the earth's floor; beside one in a cell long differences leave too much.
      if (cuts .and. found%sea .and. (found%last == found%first + 1 .or. scheme%half_length > floor_cell_most)) return
      call Fd3dNearBeside(scheme%scheme_t, scheme%own, window, shot, found, flat)
    end subroutine LookForLayers

  end subroutine Fd3dNear

  !> From the source to receiver r [m]; `periodic`: across sides where that is shorter.
  pure function Fd3dNearAway(window, shot, r, periodic) result(way)
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    integer, intent(in) :: r
    logical, intent(in) :: periodic
    real(dp) :: way(3), round(2)
    way = [shot%rx(r) - shot%sx, shot%ry(r) - shot%sy, shot%rz(r) - shot%sz]
    if (.not. periodic) return
    round = [window%nx*window%dx, window%ny*window%dy]
    way(:2) = way(:2) - round*anint(way(:2)/round)
  end function Fd3dNearAway

  !> True of a receiver so close to its source that what it records is not of the earth: there it is infinite, or nearly so.
  pure logical function Fd3dOnSource(window, shot, r) result(on)
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    integer, intent(in) :: r
    on = Cells(window, shot, r) < near3d_least
  end function Fd3dOnSource

  ! --- pieces ---------------------------------------------------------------------------------------------------------

  !> From the source to receiver r, unless `periodic` not across sides.
  pure real(dp) function Cells(window, shot, r, periodic)
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    integer, intent(in) :: r
    logical, intent(in), optional :: periodic
    logical :: across
    across = .false.
    if (present(periodic)) across = periodic
    Cells = norm2(Fd3dNearAway(window, shot, r, across)/[window%dx, window%dy, window%dz])
  end function Cells

  !> The window's cells that source and receiver r are spread over, those between, and `wider` cells around.
  pure type(box_t) function Around(window, shot, r, wider) result(box)
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    integer, intent(in) :: r, wider
    integer :: source(3), receiver(3)
    source = floor(OfWindow(window, shot%sx, shot%sy, shot%sz))
    receiver = floor(OfWindow(window, shot%rx(r), shot%ry(r), shot%rz(r)))
    box%low = max(min(source, receiver) - 3 - wider, 1)
    box%high = min(max(source, receiver) + 5 + wider, [window%nx, window%ny, window%nz])
  end function Around

  pure function OfWindow(window, x, y, z) result(cell)
    type(window_t), intent(in) :: window
    real(dp), intent(in) :: x, y, z
    real(dp) :: cell(3)
    cell = [(x - window%x0)/window%dx, (y - window%y0)/window%dy, (z - window%z0)/window%dz]
  end function OfWindow

  !> True if there are rates of strain or rotation among components: differences, which take half_length cells more around them.
  pure logical function Fd3dNearSlopes(components) result(slopes)
    character(*), intent(in) :: components
    slopes = scan(','//components, 'ew') > 0
  end function Fd3dNearSlopes

  !> True if receiver r gets what the grid lacks where the medium is even: it is close to the source, and no surface is near but
  !> that of water, where the image of the source is known.
  pure logical function Fd3dNearAsks(scheme, own, window, shot, r, wider) result(asks)
    type(scheme_t), intent(in) :: scheme
    type(elastic_t), intent(in) :: own
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    integer, intent(in) :: r, wider                !< cells that its components take more (Fd3dNearSlopes)
    type(box_t) :: box
    asks = .false.
    if (Cells(window, shot, r) < near3d_least .or. Cells(window, shot, r) > Near3dReach(scheme%half_length)) return
    if (max(window%dx, window%dy, window%dz) > near3d_slender*min(window%dx, window%dy, window%dz)) return
    box = Around(window, shot, r, wider)
    if (UnderSurface(scheme, window, shot, r, wider) .and. .not. own%wet) return
    asks = .not. scheme%periodic .or. (all(box%low(:2) > 1) .and. all(box%high(:2) < [window%nx, window%ny]))
  end function Fd3dNearAsks

  !> The largest of each part of the medium around source and receiver r, and the largest of its negative, as far as the window's
  !> medium is known here: the largest of several pieces is that of all.
  pure subroutine Fd3dNearRange(window, shot, r, wider, range)
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    integer, intent(in) :: r, wider
    real(dp), intent(out) :: range(2, 3)
    type(box_t) :: box, known
    integer :: p
    box = Around(window, shot, r, wider)
    known = WindowBox(window)
    range = -huge(1.0_dp)
    associate (a => max(box%low, known%low), b => min(box%high, known%high))
      if (any(a > b)) return
      do p = 1, 3
        associate (part => window%medium(a(1):b(1), a(2):b(2), a(3):b(3), p))
          range(:, p) = [maxval(part), -minval(part)]
        end associate
      end do
    end associate
  end subroutine Fd3dNearRange

  !> True if a medium of such a range varies by no more than `most` of it, and what the source does there can be told.
  pure logical function Fd3dNearHelps(own, range, most) result(helps)
    type(elastic_t), intent(in) :: own
    real(dp), intent(in) :: range(2, 3)
    real(sp), intent(in) :: most
    real(sp) :: low(3), high(3)
    high = real(range(1, :), sp)
    low = -real(range(2, :), sp)
    helps = all(high - low <= most*high) .and. high(3) > 0 .and. (high(2) > 0 .or. .not. Fd3dNearShears(own))
  end function Fd3dNearHelps

  !> The box in which all must be flat layers for what the grid lacks beside a contact to be known; empty where no receiver is
  !> close to the source.
  pure subroutine Fd3dNearFlat(scheme, own, window, shot, box)
    type(scheme_t), intent(in) :: scheme
    type(elastic_t), intent(in) :: own
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(box_t), intent(out) :: box
    integer :: r, cell(3)
    box = box_t(huge(1), -huge(1))
    if (own%source%kind == source_fault) return
    do r = 1, size(shot%rx)
      if (.not. AsksFlat(scheme, window, shot, r)) cycle
      cell = floor(OfWindow(window, shot%rx(r), shot%ry(r), shot%rz(r))) + 1
      box = box_t(min(box%low, cell), max(box%high, cell))
    end do
    if (any(box%high < box%low)) return
    cell = floor(OfWindow(window, shot%sx, shot%sy, shot%sz)) + 1
    box%low(:2) = min(box%low(:2), cell(:2)) - flat_around
    box%high(:2) = max(box%high(:2), cell(:2)) + flat_around
    box%low(3) = cell(3) - flat_seen
    box%high(3) = cell(3) + flat_seen
    if (scheme%free_top) box%low(3) = max(1, box%low(3))
  end subroutine Fd3dNearFlat

  !> Finds the receivers close to a source beside a contact of flat layers or a free surface of rock, or to one in the water that
  !> pushes to all sides beside a sea floor, done(:, 1) for what is read at points, (:, 2) for differences, which reach farther.
  pure subroutine Fd3dNearBeside(scheme, own, window, shot, found, done)
    type(scheme_t), intent(in) :: scheme
    type(elastic_t), intent(in) :: own
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(flat_near_t), intent(in) :: found
    logical, intent(out) :: done(:, :)
    integer :: r, of, wider
    logical :: under
    done = .false.
    if (.not. (found%flat .or. found%sea)) return
    if (found%sea) then
      if (Fd3dNearShears(own) .or. shot%sz - window%z0 > (found%wet - on_floor)*window%dz) return
    end if
    do r = 1, size(shot%rx)
      if (.not. AsksFlat(scheme, window, shot, r)) cycle
      do of = 1, 2
        wider = merge(0, scheme%half_length, of == 1)
        under = UnderSurface(scheme, window, shot, r, wider) .and. .not. own%wet
        done(r, of) = FlatBeside(found, Around(window, shot, r, wider), under .and. found%flat) .and. .not. (under .and. found%sea)
      end do
    end do
  end subroutine Fd3dNearBeside

  !> True of a receiver so close to the source that what the grid lacks beside a contact is asked for.
  pure logical function AsksFlat(scheme, window, shot, r) result(asks)
    type(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    integer, intent(in) :: r
    type(box_t) :: box
    asks = Cells(window, shot, r) >= near3d_least .and. Cells(window, shot, r) <= near3d_flat .and. &
           max(window%dx, window%dy, window%dz) <= near3d_slender*min(window%dx, window%dy, window%dz)
    if (.not. (asks .and. scheme%periodic)) return
    box = Around(window, shot, r, flat_around)
    asks = all(box%low(:2) > 1) .and. all(box%high(:2) < [window%nx, window%ny])
  end function AsksFlat

  !> True where a free surface is near both.
  pure logical function UnderSurface(scheme, window, shot, r, wider) result(under)
    type(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    integer, intent(in) :: r, wider
    under = scheme%free_top .and. min(shot%sz, shot%rz(r)) - window%z0 < (4 + wider)*window%dz
  end function UnderSurface

  !> True of a source that does more than push to all sides.
  pure logical function Fd3dNearShears(own) result(shears)
    type(elastic_t), intent(in) :: own
    associate (m => own%source%moment)
      Shears = own%source%kind == source_force .or. any(abs([m(4:), m(2:3) - m(1)]) > 1e-12_dp*maxval(abs(m)))
    end associate
  end function Fd3dNearShears

end module near_receivers_m
