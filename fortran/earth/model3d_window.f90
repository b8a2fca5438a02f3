!> The piece of a 3D job's earth (model3d.f90) that a shot sees: grid spacings, where its window lies, and the media of its cells,
!> which model3d_fill.f90 makes.
module model3d_window_m
  use checked_m, only: Above, Below, Whole
  use model3d_fill_m, only: Model3dLayers, Model3dMayMix, Model3dVolumes, on_face
  use model3d_m, only: model3d_t
  use error_m, only: error_t, Fail
  use kinds_m, only: dp, sp
  use mixed_cells_m, only: medium_parts
  use parameters_m, only: job_t
  use shot_m, only: shot_t
  use text_m, only: PlaceText, Str
  use window_m, only: box_t, window_t, WindowCell, WindowClip, WindowHas
  implicit none
  private
  public :: Model3dGrid, Model3dShape, Model3dWindow, Model3dCell, Model3dRow, Model3dAround, Model3dFill, Model3dMedia
  public :: Model3dCutsFloor

  real(dp), parameter :: layer_most = 4.0e8_dp    !< cells of a layer of a window: five numbers each travel in one message
  real(dp), parameter :: finest = 1.0e8_dp        !< cells of the model along an axis, at most

contains

  !> Spacings of the modelling grid [m]: the job's, or those of the volumes where the job says 0.
  subroutine Model3dGrid(job, earth, d, error)
    type(job_t), intent(in) :: job
    type(model3d_t), intent(in) :: earth
    real(dp), intent(out) :: d(3)
    type(error_t), allocatable, intent(inout) :: error
    d = [job%dx, job%dy, job%dz]
    if (earth%layers%n > 0) then
      where (.not. d > 0) d = d(1)
      if (.not. d(1) > 0) then
        call Fail(error, 'flat layers have no spacing of their own: give dx (dy and dz are the same unless given)')
      else if (job%aperture < 0) then
        call Fail(error, 'flat layers have no end: give aperture, how far the grid goes beyond source and receivers')
      else if (.not. job%depth > 0) then
        call Fail(error, 'flat layers have no bottom: give depth, how far the grid goes down')
      end if
    else
      where (.not. d > 0) d = earth%d
      if (any(d > earth%high - earth%low)) call Fail(error, 'grid spacings '//Str(d(1))//', '//Str(d(2))//', '//Str(d(3))// &
                                                   ' m are larger than the model')
      if (any(earth%high - earth%low > finest*d)) &
        call Fail(error, 'grid spacings '//Str(d(1))//', '//Str(d(2))//', '//Str(d(3))//' m cut the model into more than '// &
                  Str(finest, 2)//' cells along an axis: raise them')
    end if
  end subroutine Model3dGrid

  !> Sea floors may lie in cells of a grid with these spacings, which then has sea_floor.f90's media.
  pure logical function Model3dCutsFloor(job, earth, d) result(cuts)
    type(job_t), intent(in) :: job
    type(model3d_t), intent(in) :: earth
    real(dp), intent(in) :: d(3)
    real(dp) :: place
    integer :: l
    cuts = .false.
    associate (layers => earth%layers)
      do l = 2, layers%n
        if (.not. (layers%medium(1, l - 1) > 0 .and. layers%medium(2, l) > 0) .or. layers%medium(2, l - 1) > 0) cycle
        place = (layers%top(l) - layers%top(1))/d(3)
        cuts = cuts .or. abs(place - anint(place)) > on_face
      end do
    end associate
    if (.not. allocated(earth%seabed)) return
    if (.not. Model3dMayMix(job, earth, d)) return
    if (any(d > earth%d*(1 + on_face)) .or. job%model_at == 'nodes') cuts = any(earth%seabed > 0)   ! cells from node to node
  end function Model3dCutsFloor

  !> Place and size of a shot's window, without its media: whole cells that cover source and receivers and `aperture` beyond,
  !> clipped to the model, from its top down to `depth`.
  subroutine Model3dShape(earth, job, shot, window, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(shot_t), intent(in) :: shot
    type(window_t), intent(out) :: window
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: d(3), low(3), high(3), begin(3)
    real(dp) :: first(3), last(3), lo(3), hi(3)
    call Model3dGrid(job, earth, d, error)
    if (.not. allocated(error)) call CheckInside(earth, job, shot, d, error)
    if (allocated(error)) return
    lo = [min(shot%sx, minval(shot%rx)), min(shot%sy, minval(shot%ry)), earth%low(3)]
    hi = [max(shot%sx, maxval(shot%rx)), max(shot%sy, maxval(shot%ry)), earth%high(3)]
    low = earth%low
    high = earth%high
    if (job%aperture >= 0) then
      low(:2) = max(low(:2), lo(:2) - job%aperture)
      high(:2) = min(high(:2), hi(:2) + job%aperture)
    end if
    if (job%depth > 0) high(3) = min(high(3), low(3) + job%depth)
    begin = earth%low
    if (earth%layers%n > 0) begin(:2) = 0
    first = Below((low - begin)/d + on_face)
    last = Above((high - begin)/d - on_face)
    if (product(max(last(:2) - first(:2), 0.0_dp)) > layer_most) then
      call Fail(error, 'the window of shot record '//Str(shot%record)//' has '//Str(last(1) - first(1), 7)//' x '// &
                Str(last(2) - first(2), 7)//' x '//Str(last(3) - first(3), 7)//' cells, at most '//Str(layer_most, 2)// &
                ' along x and y together: lower aperture, or raise the spacings')
    else if (any(last - first < 4)) then
      call Fail(error, 'the window of shot record '//Str(shot%record)//' has '//Str(last(1) - first(1), 7)//' x '// &
                Str(last(2) - first(2), 7)//' x '//Str(last(3) - first(3), 7)//' cells, at least 4 along each axis: widen '// &
                'aperture or depth, or lower the spacings')
    end if
    if (allocated(error)) return
    window%nx = Whole(last(1) - first(1))
    window%ny = Whole(last(2) - first(2))
    window%nz = Whole(last(3) - first(3))
    window%x0 = begin(1) + first(1)*d(1)
    window%y0 = begin(2) + first(2)*d(2)
    window%z0 = begin(3) + first(3)*d(3)
    window%dx = d(1)
    window%dy = d(2)
    window%dz = d(3)
  end subroutine Model3dShape

  !> Source and receivers must lie in the modelled part of the earth: one sentence for all that does not.
  subroutine CheckInside(earth, job, shot, d, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(shot_t), intent(in) :: shot
    real(dp), intent(in) :: d(3)              !< spacings of the grid [m]
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: bottom
    integer :: r, n
    bottom = earth%high(3)
    if (job%depth > 0) bottom = min(bottom, earth%low(3) + job%depth)
    if (.not. Inside(shot%sx, shot%sy, shot%sz)) then
      call Fail(error, 'shot record '//Str(shot%record)//': the source at '//PlaceText([shot%sx, shot%sy, shot%sz])// &
                ' lies outside '//Extent()//Advice(shot%sz))
      return
    end if
    n = 0
    do r = size(shot%rx), 1, -1
      if (Inside(shot%rx(r), shot%ry(r), shot%rz(r))) cycle
      n = n + 1
      if (allocated(error)) deallocate (error)
      call Fail(error, 'shot record '//Str(shot%record)//': '//Str(n)//' receiver(s), the first of them channel '// &
                Str(shot%channel(r))//' at '//PlaceText([shot%rx(r), shot%ry(r), shot%rz(r)])//', lie outside '// &
                Extent()//Advice(shot%rz(r)))
    end do
  contains
    pure logical function Inside(x, y, z)
      real(dp), intent(in) :: x, y, z
      real(dp) :: room(3)                     ! ends of the model come from its coordinates with rounding
      room = on_face*merge(d, earth%d, earth%layers%n > 0)
      Inside = all([x, y, z] >= earth%low - room) .and. all([x, y, z] <= [earth%high(:2), bottom] + room)
    end function Inside

    pure function Advice(z) result(s)
      real(dp), intent(in) :: z
      character(:), allocatable :: s
      s = ': move what lies outside, or give a larger model'
      if (z > bottom .and. bottom < earth%high(3)) s = ': raise depth, now '//Str(job%depth)//' m'
    end function Advice

    pure function Extent() result(s)
      character(:), allocatable :: s
      s = 'the model, z = '//Str(earth%low(3), 9)//' .. '//Str(bottom, 9)//' m'
      if (earth%layers%n == 0) s = 'the model, x = '//Str(earth%low(1), 9)//' .. '//Str(earth%high(1), 9)//', y = '// &
                                   Str(earth%low(2), 9)//' .. '//Str(earth%high(2), 9)//', z = '//Str(earth%low(3), 9)//' .. '// &
                                   Str(bottom, 9)//' m'
    end function Extent
  end subroutine CheckInside

  !> The window of a shot with its media, or those of a box of it. Fails where the model is not any more what was read.
  subroutine Model3dWindow(earth, job, shot, window, error, box)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(shot_t), intent(in) :: shot
    type(window_t), intent(out) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(box_t), intent(in), optional :: box
    call Model3dShape(earth, job, shot, window, error)
    if (allocated(error)) return
    if (present(box)) call Model3dFill(earth, job, WindowClip(window, box), window, error)
    if (.not. present(box)) call Model3dFill(earth, job, WindowClip(window, box_t()), window, error)
  end subroutine Model3dWindow

  !> The medium of cell c of a window, as Model3dWindow has it; without attenuation the last two parts are 0.
  subroutine Model3dCell(earth, job, window, c, medium, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(window_t), intent(in) :: window
    integer, intent(in) :: c(3)
    real(sp), intent(out) :: medium(medium_parts)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: row(:, :)
    integer :: low
    call Model3dRow(earth, job, window, c, 3, 0, 0, row, low, error)
    medium = 0
    if (.not. allocated(error)) medium(:size(row, 2)) = row(1, :)
  end subroutine Model3dCell

  !> The media of cells in a row, as far as they are in the window: of c, of `before` ones before it along an axis, of `after` ones
  !> after it.
  subroutine Model3dRow(earth, job, window, c, axis, before, after, row, low, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(window_t), intent(in) :: window
    integer, intent(in) :: c(3), axis, before, after
    real(sp), allocatable, intent(out) :: row(:, :)         !< (cells, parts)
    integer, intent(out) :: low                             !< number of the first along the axis
    type(error_t), allocatable, intent(inout) :: error
    type(box_t) :: box
    integer :: n(3)
    n = [window%nx, window%ny, window%nz]
    box = box_t(c, c)
    low = max(1, c(axis) - before)
    box%low(axis) = low
    box%high(axis) = min(n(axis), c(axis) + after)
    allocate (row(box%high(axis) - low + 1, PartsOf(earth)))
    if (WindowHas(window, PartsOf(earth), box)) then
      row = reshape(window%medium(box%low(1):box%high(1), box%low(2):box%high(2), box%low(3):box%high(3), :), shape(row))
    else
      call Model3dMedia(earth, job, window, box, row, error)
    end if
  end subroutine Model3dRow

  !> A window with the media of the cells around the receivers of a shot, and around its source where it is near them: looked up
  !> cell by cell, those of volumes take several times as long. Without them where the receivers lie far apart, or they cannot be
  !> read.
  subroutine Model3dAround(earth, job, shot, window, around)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(window_t), intent(out) :: around
    integer, parameter :: beside = 2                        ! cells to all sides
    real(dp), parameter :: each = 200, most = 1.0e6_dp      ! cells a receiver, and in all: more take longer than one by one
    type(error_t), allocatable :: error
    type(box_t) :: box, wider
    integer :: source(3)
    around = window
    if (earth%layers%n > 0) return
    box = box_t(WindowCell(window, [minval(shot%rx), minval(shot%ry), minval(shot%rz)]) - beside, &
                WindowCell(window, [maxval(shot%rx), maxval(shot%ry), maxval(shot%rz)]) + beside)
    source = WindowCell(window, [shot%sx, shot%sy, shot%sz])
    wider = box_t(min(box%low, source - beside), max(box%high, source + beside))
    if (Few(wider)) box = wider
    if (Few(box)) call Model3dFill(earth, job, WindowClip(window, box), around, error)
    if (allocated(error) .and. allocated(around%medium)) deallocate (around%medium)
  contains
    logical function Few(box)
      type(box_t), intent(in) :: box
      Few = product(real(box%high - box%low + 1, dp)) <= min(most, each*size(shot%rx))
    end function Few
  end subroutine Model3dAround

  !> Gives a window the media of a box of its cells, which are there.
  subroutine Model3dFill(earth, job, box, window, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(box_t), intent(in) :: box
    type(window_t), intent(inout) :: window
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: media(:, :, :, :)
    integer :: rc
    if (allocated(window%medium)) deallocate (window%medium)
    allocate (media(box%low(1):box%high(1), box%low(2):box%high(2), box%low(3):box%high(3), PartsOf(earth)), stat=rc)
    if (rc == 0) then
      call Model3dMedia(earth, job, window, box, media, error)
      call move_alloc(media, window%medium)
    else
      call Fail(error, 'out of memory for '//Str(4.0e-9_dp*PartsOf(earth)*product(real(box%high - box%low + 1, dp)), 3)// &
                ' GB of a window')
    end if
  end subroutine Model3dFill

  !> Parts of the medium of a window.
  pure integer function PartsOf(earth)
    type(model3d_t), intent(in) :: earth
    PartsOf = merge(5, 3, earth%attenuates)
  end function PartsOf

  !> The media of a box of the cells of a window, which are there.
  subroutine Model3dMedia(earth, job, window, box, media, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(window_t), intent(in) :: window
    type(box_t), intent(in) :: box
    real(sp), intent(inout) :: media(box%low(1):box%high(1), box%low(2):box%high(2), box%low(3):box%high(3), PartsOf(earth))
    type(error_t), allocatable, intent(inout) :: error
    if (earth%layers%n > 0) then
      call Model3dLayers(earth%layers, job, earth%vmax, window, box, media)
    else
      call Model3dVolumes(earth, job, window, box, media, error)
    end if
  end subroutine Model3dMedia

end module model3d_window_m
