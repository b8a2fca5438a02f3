!> The piece of a 3D job's earth (model3d.f90) that a shot sees: grid spacings, where its window lies, and the media of its cells.
module model3d_window_m
  use checked_m, only: Above, Below, Whole
  use contact_cells_m, only: contact_cells_t, contact_reach, ContactsAdd, ContactsBegin, ContactsFinish
  use model3d_m, only: model3d_t, Model3dPart, Model3dSlab
  use error_m, only: error_t, Fail
  use kinds_m, only: dp, sp
  use flat_layers_m, only: flat_layers_t
  use mixed_cells_m, only: medium_parts, MixedCellAdd, MixedCellMedium, MixedCellSpread, MixedCellWater, mixed_cell_t
  use iso_c_binding, only: c_int8_t
  use mixed_rows_m, only: mixed_rows_t, MixedRowsAdd, MixedRowsBare, MixedRowsBegin, MixedRowsCells, one_air, one_fluid, one_rock
  use parameters_m, only: job_t
  use regrid_m, only: axis_t, RegridAxis
  use model_checksum_m, only: model_checksum_t, ModelChecksumCheck
  use model_samples_m, only: part_t
  use sea_floor_m, only: floor_reach, FloorAdd, FloorBegin, FloorFinish, sea_floor_t
  use shot_m, only: shot_t
  use text_m, only: Str
  use window_m, only: box_t, window_t, WindowClip
  implicit none
  private
  public :: Model3dGrid, Model3dShape, Model3dWindow, Model3dCell, Model3dFill, Model3dMedia, Model3dCutsFloor

  real(dp), parameter :: layer_most = 4.0e8_dp    !< cells of a layer of a window: five numbers each travel in one message
  real(dp), parameter :: finest = 1.0e8_dp        !< cells of the model along an axis, at most
  real(dp), parameter :: on_face = 1.0e-6_dp      !< of a spacing: closer than this is on the face of a cell

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
    if (allocated(earth%seabed)) &
      cuts = any(earth%seabed > 0) .and. MayMix(job, earth, d) .and. any(d > earth%d*(1 + on_face))
  end function Model3dCutsFloor

  !> Cells of the grid are not smaller than the model's, and what lies in them is put together.
  pure logical function MayMix(job, earth, d)
    type(job_t), intent(in) :: job
    type(model3d_t), intent(in) :: earth
    real(dp), intent(in) :: d(3)
    MayMix = job%regrid /= 'nearest' .and. all(d > earth%d*(1 - on_face))
  end function MayMix

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
    if (.not. allocated(error)) call CheckInside(earth, job, shot, error)
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
  subroutine CheckInside(earth, job, shot, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: bottom
    integer :: r, n
    bottom = earth%high(3)
    if (job%depth > 0) bottom = min(bottom, earth%low(3) + job%depth)
    if (.not. Inside(shot%sx, shot%sy, shot%sz)) then
      call Fail(error, 'shot record '//Str(shot%record)//': the source at '//Place(shot%sx, shot%sy, shot%sz)//' lies outside '// &
                Extent()//Advice(shot%sz))
      return
    end if
    n = 0
    do r = size(shot%rx), 1, -1
      if (Inside(shot%rx(r), shot%ry(r), shot%rz(r))) cycle
      n = n + 1
      if (allocated(error)) deallocate (error)
      call Fail(error, 'shot record '//Str(shot%record)//': '//Str(n)//' receiver(s), the first of them channel '// &
                Str(shot%channel(r))//' at '//Place(shot%rx(r), shot%ry(r), shot%rz(r))//', lie outside '// &
                Extent()//Advice(shot%rz(r)))
    end do
  contains
    pure logical function Inside(x, y, z)
      real(dp), intent(in) :: x, y, z
      real(dp) :: room(3)                     ! ends of the model come from its coordinates with rounding
      room = on_face*earth%d
      Inside = all([x, y, z] >= earth%low - room) .and. all([x, y, z] <= [earth%high(:2), bottom] + room)
    end function Inside

    pure function Place(x, y, z) result(s)
      real(dp), intent(in) :: x, y, z
      character(:), allocatable :: s
      s = 'x = '//Str(x, 9)//', y = '//Str(y, 9)//', z = '//Str(z, 9)//' m'
    end function Place

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
    type(window_t) :: one
    one = window
    call Model3dFill(earth, job, box_t(c, c), one, error)
    medium = 0
    if (.not. allocated(error)) medium(:size(one%medium, 4)) = one%medium(c(1), c(2), c(3), :)
  end subroutine Model3dCell

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
      call FillLayers(earth%layers, earth%vmax, window, box, media)
    else
      call FillVolumes(earth, job, window, box, media, error)
    end if
  end subroutine Model3dMedia

  subroutine FillLayers(layers, fastest, window, box, media)
    type(flat_layers_t), intent(in) :: layers
    real(dp), intent(in) :: fastest
    type(window_t), intent(in) :: window
    type(box_t), intent(in) :: box
    real(sp), contiguous, intent(inout) :: media(box%low(1):, box%low(2):, box%low(3):, :)
    type(contact_cells_t) :: contacts
    type(sea_floor_t) :: floors
    type(mixed_cell_t) :: mixture
    real(sp), allocatable :: column(:, :, :, :)
    real(sp) :: medium(medium_parts, 1, 1)
    real(dp) :: above, below, part, bottom, mean(2), variance(2), water(1, 1)
    integer :: k, l, k0
    k0 = max(1, box%low(3) - floor_reach)
    allocate (column(1, 1, box%low(3):box%high(3), size(media, 4)))
    call ContactsBegin(contacts, 1, 1)
    call FloorBegin(floors, 1, 1, fastest, [window%dx, window%dy, window%dz])
    do k = k0, box%high(3) + floor_reach
      mixture = mixed_cell_t()
      above = window%z0 + (k - 1)*window%dz
      below = above + window%dz
      do l = 1, layers%n
        bottom = huge(1.0_dp)
        if (l < layers%n) bottom = layers%top(l + 1)
        part = min(below, bottom) - max(above, layers%top(l))
        if (part > on_face*window%dz) call MixedCellAdd(mixture, part, layers%medium(:, l))
      end do
      call MixedCellSpread(mixture, mean, variance)
      call ContactsAdd(contacts, reshape(real(mean, sp), [1, 2, 1]), reshape(real(variance, sp), [1, 2, 1]))
      medium(:, 1, 1) = MixedCellMedium(mixture)
      water = MixedCellWater(mixture)
      call FloorAdd(floors, water, medium)
      if (k >= box%low(3) .and. k <= box%high(3)) column(1, 1, k, :) = medium(:size(column, 4), 1, 1)
      l = k - contact_reach
      if (l >= box%low(3) .and. l <= box%high(3)) call ContactsFinish(contacts, 1, 1, column(:, :, l, :))
      call FloorFinish(floors, 1, 1, box%low(3) - k0 + 1, column)
    end do
    do l = 1, size(column, 4)
      do k = box%low(3), box%high(3)
        media(:, :, k, l) = column(1, 1, k, l)
      end do
    end do
  end subroutine FillLayers

  !> Of a model on disk the samples are read that so many layers of the window need as fit into a slab.
  subroutine FillVolumes(earth, job, window, box, media, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(window_t), intent(in) :: window
    type(box_t), intent(in) :: box
    real(sp), contiguous, intent(inout) :: media(:, :, :, :)
    type(error_t), allocatable, intent(inout) :: error
    type(model3d_t) :: slab
    type(part_t) :: part
    type(axis_t) :: axes(3)
    type(contact_cells_t) :: contacts
    type(sea_floor_t) :: floors
    type(box_t) :: wide
    integer :: k, last, n(3), layers
    logical :: mixes
    wide = box
    call MakeAxes(earth, job, window, wide, axes)
    mixes = MayMix(job, earth, [window%dx, window%dy, window%dz])
    if (mixes) then
      wide = box_t(box%low - [contact_reach, contact_reach, floor_reach], box%high + [contact_reach, contact_reach, floor_reach])
      wide%low(3) = max(1, wide%low(3))       ! beyond the model its outermost cells go on, but nothing does above its top
      call MakeAxes(earth, job, window, wide, axes)
      mixes = any([any(axes(1)%count > 1), any(axes(2)%count > 1), any(axes(3)%count > 1)])
      if (.not. mixes) wide = box
      if (.not. mixes) call MakeAxes(earth, job, window, wide, axes)
    end if
    n = wide%high - wide%low + 1
    if (mixes) call ContactsBegin(contacts, n(1), n(2))
    if (mixes) call FloorBegin(floors, n(1), n(2), earth%vmax, [window%dx, window%dy, window%dz])
    if (.not. earth%on_disk) then
      call FillFrom(earth, earth%checksum, axes, wide, 1, n(3), box, mixes, contacts, floors, media, error)
      return
    end if
    part%low(2) = minval(axes(2)%first)
    part%high(2) = maxval(axes(2)%first + axes(2)%count - 1)
    layers = Model3dSlab(earth, part%high(2) - part%low(2) + 1)
    k = 1
    do while (k <= n(3) .and. .not. allocated(error))
      part%low(3) = axes(3)%first(k)
      last = k
      do while (last < n(3))
        if (LastOf(axes(3), last + 1) >= part%low(3) + layers) exit
        last = last + 1
      end do
      part%high(3) = LastOf(axes(3), last)
      call Model3dPart(job, earth, part, slab, error)
      if (.not. allocated(error)) &
        call FillFrom(slab, earth%checksum, axes, wide, k, last, box, mixes, contacts, floors, media, error)
      k = last + 1
    end do
  end subroutine FillVolumes

  !> From the samples to the cells of a box of the window, or beyond it.
  subroutine MakeAxes(earth, job, window, box, axes)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(window_t), intent(in) :: window
    type(box_t), intent(in) :: box
    type(axis_t), intent(out) :: axes(3)
    real(dp) :: begin(3), d(3)
    integer :: a
    begin = [window%x0, window%y0, window%z0]
    d = [window%dx, window%dy, window%dz]
    do a = 1, 3
      call RegridAxis(earth%n(a), earth%d(a), Whole((begin(a) - earth%low(a))/d(a)) + box%low(a) - 1, &
                      box%high(a) - box%low(a) + 1, d(a), earth%low(a) + d(a)/2 - earth%x0(a), job%regrid, axes(a))
    end do
  end subroutine MakeAxes

  !> The last sample that cell k along an axis is made from.
  pure integer function LastOf(axis, k)
    type(axis_t), intent(in) :: axis
    integer, intent(in) :: k
    LastOf = axis%first(k) + axis%count(k) - 1
  end function LastOf

  !> Makes layers k0 .. k1 of those that `axes` make of the cells `wide`, from samples, which must have the checksums of the model,
  !> and fills those cells of the window that lie in the box and are then known: of cells that mix media (`mixes`), layers are known
  !> that lie two above the last one made.
  subroutine FillFrom(earth, checksum, axes, wide, k0, k1, box, mixes, contacts, floors, media, error)
    type(model3d_t), intent(in) :: earth
    type(model_checksum_t), intent(in) :: checksum(:)
    type(axis_t), intent(in) :: axes(3)
    type(box_t), intent(in) :: wide, box
    integer, intent(in) :: k0, k1
    logical, intent(in) :: mixes
    type(contact_cells_t), intent(inout) :: contacts
    type(sea_floor_t), intent(inout) :: floors
    real(sp), contiguous, intent(inout) :: media(box%low(1):, box%low(2):, box%low(3):, :)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: u(:, :, :), v(:, :, :), medium(:, :, :)
    real(dp), allocatable :: water(:, :)
    integer(c_int8_t), allocatable :: kind(:)
    type(mixed_rows_t) :: samples
    integer :: j, k, rows, parts, c(3), at(3)
    parts = size(media, 4)
    rows = earth%part%high(2) - earth%part%low(2) + 1
    associate (x => axes(1), y => axes(2), z => axes(3))
      if (.not. mixes .and. all(x%count == 1) .and. all(y%count == 1) .and. all(z%count(k0:k1) == 1)) then
        do k = k0, k1
          call CheckRows(z%first(k), z%first(k))
          if (allocated(error)) return
          call CopyPlane(k, box%low(3) + k - 1)
        end do
        return
      end if
      allocate (u(size(x%first), 2, size(y%first)), v(size(x%first), 2, size(y%first)), source=0.0_sp)
      allocate (medium(medium_parts, size(x%first), size(y%first)), source=0.0_sp)
      allocate (water(size(x%first), size(y%first)), source=0.0_dp)
      allocate (kind(size(x%first)))
      call MixedRowsBegin(samples, x, y)
      at = box%low - wide%low + 1
      do k = k0, k1
        call CheckRows(z%first(k), LastOf(z, k))
        if (allocated(error)) return
        samples%made = y%first(1) - 1
        c = wide%low + k - 1
        do j = 1, size(y%first)
          call CellRow(j, k)
          c(2) = wide%low(2) + j - 1
          if (all(c(2:) >= box%low(2:) .and. c(2:) <= box%high(2:))) &
            media(:, c(2), c(3), :) = transpose(medium(:parts, at(1):at(1) + size(media, 1) - 1, j))
        end do
        if (.not. mixes) cycle
        call ContactsAdd(contacts, u, v)
        c = wide%low + k - 1 - contact_reach
        if (c(3) >= box%low(3) .and. c(3) <= box%high(3)) call ContactsFinish(contacts, at(1), at(2), media(:, :, c(3), :))
        call FloorAdd(floors, water, medium)
        call FloorFinish(floors, at(1), at(2), at(3), media)
      end do
    end associate

  contains

    !> The row of samples at j, k along y, z.
    pure integer function Row(j, k)
      integer, intent(in) :: j, k
      Row = (k - earth%part%low(3))*rows + j - earth%part%low(2) + 1
    end function Row

    !> Plane k, each cell of which is one sample, which is layer `to` of the box.
    subroutine CopyPlane(k, to)
      integer, intent(in) :: k, to
      integer :: j, at, r
      associate (first => axes(1)%first, low => box%low)
        do j = 1, size(axes(2)%first)
          r = Row(axes(2)%first(j), axes(3)%first(k))
          at = low(2) + j - 1
          media(:, at, to, 1) = earth%vp(first, r)
          media(:, at, to, 2) = earth%vs(first, r)
          media(:, at, to, 3) = earth%rho(first, r)
          if (parts == 3) cycle
          media(:, at, to, 4) = earth%qp(first, r)
          media(:, at, to, 5) = earth%qs(first, r)
        end do
      end associate
    end subroutine CopyPlane

    !> The samples that a row of cells is made from.
    subroutine CheckRows(first, last)
      integer, intent(in) :: first, last
      integer :: i0, i1, j0, j1, at, shift
      i0 = minval(axes(1)%first)
      i1 = maxval(axes(1)%first + axes(1)%count - 1)
      j0 = minval(axes(2)%first)
      j1 = maxval(axes(2)%first + axes(2)%count - 1)
      do at = first, last
        shift = (at - 1)*earth%n(2) + j0 - Row(j0, at)
        call ModelChecksumCheck(checksum(1), earth%vp, earth%vs, i0, i1, Row(j0, at), Row(j1, at), error, shift)
        call ModelChecksumCheck(checksum(2), earth%rho, earth%rho, i0, i1, Row(j0, at), Row(j1, at), error, shift)
        if (parts > 3) call ModelChecksumCheck(checksum(3), earth%qp, earth%qs, i0, i1, Row(j0, at), Row(j1, at), error, shift)
      end do
    end subroutine CheckRows

    !> Cells of row j of plane k: all at once, then one after the other those that are one sample or mix kinds of earth.
    subroutine CellRow(j, k)
      integer, intent(in) :: j, k
      integer :: i, m, n, r
      associate (x => axes(1), y => axes(2), z => axes(3), i0 => samples%i0, i1 => samples%i1)
        do m = samples%made + 1, LastOf(y, j)
          call MixedRowsBare(samples, m)
          do n = 1, z%count(k)
            r = Row(m, z%first(k) + n - 1)
            if (parts > 3) then
              call MixedRowsAdd(samples, z%w(n, k), earth%vp(i0:i1, r), earth%vs(i0:i1, r), earth%rho(i0:i1, r), &
                                earth%qp(i0:i1, r), earth%qs(i0:i1, r))
            else
              call MixedRowsAdd(samples, z%w(n, k), earth%vp(i0:i1, r), earth%vs(i0:i1, r), earth%rho(i0:i1, r))
            end if
          end do
        end do
        call MixedRowsCells(samples, y, j, kind, medium(:, :, j), u(:, :, j), v(:, :, j))
        do i = 1, size(x%first)
          if (all(kind(i) /= [one_air, one_fluid, one_rock]) .or. &
              (x%count(i) == 1 .and. y%count(j) == 1 .and. z%count(k) == 1)) then
            call Cell(i, j, k, medium(:, i, j), water(i, j), u(i, :, j), v(i, :, j))
          else
            water(i, j) = merge(merge(1, -1, kind(i) == one_fluid), 0, kind(i) /= one_rock)
          end if
        end do
      end associate
    end subroutine CellRow

    !> The medium of a cell by means; the share of water, mean and variance of the logarithms of moduli if these are asked for.
    pure subroutine Cell(i, j, k, medium, water, u, v)
      integer, intent(in) :: i, j, k
      real(sp), intent(out) :: medium(medium_parts), u(2), v(2)
      real(dp), intent(out) :: water
      type(mixed_cell_t) :: mixture
      real(dp) :: mean(2), variance(2)
      integer :: l, m, n
      u = 0
      v = 0
      water = 0
      associate (x => axes(1), y => axes(2), z => axes(3))
        if (x%count(i) == 1 .and. y%count(j) == 1 .and. z%count(k) == 1) then
          medium = real(Sample(x%first(i), Row(y%first(j), z%first(k))), sp)
          if (.not. medium(2) > 0) water = merge(1, -1, medium(1) > 0)
          if (mixes .and. medium(2) > 0) u = real(log(real(medium(3), dp)*real(medium(:2), dp)**2), sp)
        else
          do n = 1, z%count(k)
            do m = 1, y%count(j)
              do l = 1, x%count(i)
                call MixedCellAdd(mixture, x%w(l, i)*y%w(m, j)*z%w(n, k), &
                                  Sample(x%first(i) + l - 1, Row(y%first(j) + m - 1, z%first(k) + n - 1)))
              end do
            end do
          end do
          medium = MixedCellMedium(mixture)
          if (.not. mixes) return
          water = MixedCellWater(mixture)
          call MixedCellSpread(mixture, mean, variance)
          u = real(mean, sp)
          v = real(variance, sp)
        end if
      end associate
    end subroutine Cell

    pure function Sample(i, row) result(medium)
      integer, intent(in) :: i, row
      real(dp) :: medium(medium_parts)
      medium = 0
      medium(:3) = [earth%vp(i, row), earth%vs(i, row), earth%rho(i, row)]
      if (parts > 3) medium(4:5) = [earth%qp(i, row), earth%qs(i, row)]
    end function Sample

  end subroutine FillFrom

end module model3d_window_m
