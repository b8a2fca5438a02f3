!> The media of the cells of a window (model3d_window.f90), made of layers or of volumes.
module model3d_fill_m
  use checked_m, only: Whole
  use contact_cells_m, only: contact_cells_t, contact_reach, ContactsAdd, ContactsBegin, ContactsFinish
  use error_m, only: error_t
  use flat_layers_m, only: flat_layers_t
  use iso_c_binding, only: c_int8_t
  use kinds_m, only: dp, sp
  use mixed_cells_m, only: medium_parts, MixedCellAdd, MixedCellMedium, MixedCellSpread, MixedCellWater, mixed_cell_t
  use mixed_rows_m, only: mixed_rows_t, MixedRowsAdd, MixedRowsBare, MixedRowsBegin, MixedRowsCells, one_air, one_fluid, one_rock
  use model3d_m, only: model3d_t, Model3dPart, Model3dSlab
  use model_checksum_m, only: model_checksum_t, ModelChecksumCheck
  use model_samples_m, only: part_t
  use parameters_m, only: job_t
  use regrid_axis_m, only: axis_t, RegridAxis
  use sea_floor_m, only: floor_reach, FloorAdd, FloorBegin, FloorFinish, sea_floor_t
  use text_m, only: Str
  use window_m, only: box_t, window_t
  implicit none
  private
  public :: Model3dLayers, Model3dVolumes, Model3dMayMix

  real(dp), parameter, public :: on_face = 1.0e-6_dp   !< of a spacing: closer than this is on the face of a cell

  !> The cells that a window is filled from, as far as they are made.
  type :: filling_t
    type(box_t) :: box                        !< cells of the window that are to be filled
    type(box_t) :: wide                       !< cells that are made, which reach beyond them where cells mix media
    logical :: mixes = .false.
    type(axis_t) :: axes(3)                   !< from the samples to the cells `wide`
    type(contact_cells_t) :: contacts
    type(sea_floor_t) :: floors
  end type filling_t

contains

  !> Cells of the grid are not smaller than the model's, and what lies in them is put together.
  pure logical function Model3dMayMix(job, earth, d)
    type(job_t), intent(in) :: job
    type(model3d_t), intent(in) :: earth
    real(dp), intent(in) :: d(3)
    Model3dMayMix = job%regrid /= 'nearest' .and. all(d > earth%d*(1 - on_face))
  end function Model3dMayMix

  !> Media of the cells of a box from flat layers, along z alone: vp, vs [m/s], rho [kg/m3] and, where there are five, 1/Qp, 1/Qs.
  !> `fastest`: the fastest wave of the earth [m/s].
  subroutine Model3dLayers(layers, job, fastest, window, box, media)
    type(flat_layers_t), intent(in) :: layers
    type(job_t), intent(in) :: job
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
    call ContactsBegin(contacts, 1, 1, [box%low(:2), k0], window, job%top /= 'free')
    call FloorBegin(floors, 1, 1, fastest, [window%dx, window%dy, window%dz], job%half_length)
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
  end subroutine Model3dLayers

  !> Of a model on disk the samples are read that so many layers of the window need as fit into a slab.
  subroutine Model3dVolumes(earth, job, window, box, media, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(window_t), intent(in) :: window
    type(box_t), intent(in) :: box
    real(sp), contiguous, intent(inout) :: media(:, :, :, :)
    type(error_t), allocatable, intent(inout) :: error
    type(filling_t) :: f
    type(model3d_t) :: slab
    type(part_t) :: part
    integer :: k, last, n(3), layers
    f%box = box
    f%wide = box
    call MakeAxes(earth, job, window, f%wide, f%axes)
    f%mixes = Model3dMayMix(job, earth, [window%dx, window%dy, window%dz])
    if (f%mixes) then
      f%wide%low = box%low - [contact_reach, contact_reach, floor_reach]
      f%wide%high = box%high + [contact_reach, contact_reach, floor_reach]
      f%wide%low(3) = max(1, f%wide%low(3))   ! beyond the model its outermost cells go on, but nothing does above its top
      call MakeAxes(earth, job, window, f%wide, f%axes)
      f%mixes = any([any(f%axes(1)%count > 1), any(f%axes(2)%count > 1), any(f%axes(3)%count > 1)])
      if (.not. f%mixes) f%wide = box
      if (.not. f%mixes) call MakeAxes(earth, job, window, f%wide, f%axes)
    end if
    n = f%wide%high - f%wide%low + 1
    if (f%mixes) call ContactsBegin(f%contacts, n(1), n(2), f%wide%low, window, job%top /= 'free')
    if (f%mixes) call FloorBegin(f%floors, n(1), n(2), earth%vmax, [window%dx, window%dy, window%dz], job%half_length)
    if (.not. earth%on_disk) then
      call FillFrom(f, earth, earth%checksum, 1, n(3), media, error)
      return
    end if
    part%low(2) = minval(f%axes(2)%first)
    part%high(2) = maxval(f%axes(2)%first + f%axes(2)%count - 1)
    layers = Model3dSlab(earth, part%high(2) - part%low(2) + 1)
    k = 1
    do while (k <= n(3) .and. .not. allocated(error))
      part%low(3) = f%axes(3)%first(k)
      last = k
      do while (last < n(3))
        if (LastOf(f%axes(3), last + 1) >= part%low(3) + layers) exit
        last = last + 1
      end do
      part%high(3) = LastOf(f%axes(3), last)
      call Model3dPart(job, earth, part, slab, error)
      if (allocated(error)) then
        error%absent = .true.                       ! all of the model was read when the job began
      else
        call FillFrom(f, slab, earth%checksum, k, last, media, error)
        if (allocated(error)) error%message = Changed(job, part)
      end if
      k = last + 1
    end do
  end subroutine Model3dVolumes

  !> The sentence on samples of a model on disk whose checksums are others than when the job began.
  pure function Changed(job, part) result(text)
    type(job_t), intent(in) :: job
    type(part_t), intent(in) :: part
    character(:), allocatable :: text, files
    files = "'"//job%vp//"'"
    if (job%vs /= '') files = files//", '"//job%vs//"'"
    if (job%rho /= '') files = files//", '"//job%rho//"'"
    if (job%qp /= '') files = files//", '"//job%qp//"'"
    if (job%qs /= '') files = files//", '"//job%qs//"'"
    text = 'the model on disk is not what it was when the job began: samples '//Str(part%low(3))//' .. '//Str(part%high(3))// &
           ' along z of '//files//': put back the files that the job began with, and run the same command again'
  end function Changed

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

  !> Makes layers k0 .. k1 of those that the axes make, from samples, which must have the checksums of the model, and fills those
  !> cells of the window that lie in the box and are then known: of cells that mix media, layers are known that lie two above the
  !> last one made.
  subroutine FillFrom(f, earth, checksum, k0, k1, media, error)
    type(filling_t), intent(inout) :: f
    type(model3d_t), intent(in) :: earth
    type(model_checksum_t), intent(in) :: checksum(:)
    integer, intent(in) :: k0, k1
    real(sp), contiguous, intent(inout) :: media(f%box%low(1):, f%box%low(2):, f%box%low(3):, :)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: u(:, :, :), v(:, :, :), medium(:, :, :)
    real(dp), allocatable :: water(:, :)
    integer(c_int8_t), allocatable :: kind(:)
    type(mixed_rows_t) :: samples
    integer :: j, k, rows, parts, c(3), at(3)
    parts = size(media, 4)
    rows = earth%part%high(2) - earth%part%low(2) + 1
    associate (x => f%axes(1), y => f%axes(2), z => f%axes(3))
      if (.not. f%mixes .and. all(x%count == 1) .and. all(y%count == 1) .and. all(z%count(k0:k1) == 1)) then
        do k = k0, k1
          call CheckRows(z%first(k), z%first(k))
          if (allocated(error)) return
          call CopyPlane(k, f%box%low(3) + k - 1)
        end do
        return
      end if
      allocate (u(size(x%first), 2, size(y%first)), v(size(x%first), 2, size(y%first)), source=0.0_sp)
      allocate (medium(medium_parts, size(x%first), size(y%first)), source=0.0_sp)
      allocate (water(size(x%first), size(y%first)), source=0.0_dp)
      allocate (kind(size(x%first)))
      call MixedRowsBegin(samples, x, y)
      at = f%box%low - f%wide%low + 1
      do k = k0, k1
        call CheckRows(z%first(k), LastOf(z, k))
        if (allocated(error)) return
        samples%made = y%first(1) - 1
        c = f%wide%low + k - 1
        do j = 1, size(y%first)
          call CellRow(j, k)
          c(2) = f%wide%low(2) + j - 1
          if (all(c(2:) >= f%box%low(2:) .and. c(2:) <= f%box%high(2:))) &
            media(:, c(2), c(3), :) = transpose(medium(:parts, at(1):at(1) + size(media, 1) - 1, j))
        end do
        if (.not. f%mixes) cycle
        call ContactsAdd(f%contacts, u, v)
        c = f%wide%low + k - 1 - contact_reach
        if (c(3) >= f%box%low(3) .and. c(3) <= f%box%high(3)) call ContactsFinish(f%contacts, at(1), at(2), media(:, :, c(3), :))
        call FloorAdd(f%floors, water, medium)
        call FloorFinish(f%floors, at(1), at(2), at(3), media)
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
      associate (first => f%axes(1)%first, low => f%box%low)
        do j = 1, size(f%axes(2)%first)
          r = Row(f%axes(2)%first(j), f%axes(3)%first(k))
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
      i0 = minval(f%axes(1)%first)
      i1 = maxval(f%axes(1)%first + f%axes(1)%count - 1)
      j0 = minval(f%axes(2)%first)
      j1 = maxval(f%axes(2)%first + f%axes(2)%count - 1)
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
      associate (x => f%axes(1), y => f%axes(2), z => f%axes(3), i0 => samples%i0, i1 => samples%i1)
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
      associate (x => f%axes(1), y => f%axes(2), z => f%axes(3))
        if (x%count(i) == 1 .and. y%count(j) == 1 .and. z%count(k) == 1) then
          medium = real(Sample(x%first(i), Row(y%first(j), z%first(k))), sp)
          if (.not. medium(2) > 0) water = merge(1, -1, medium(1) > 0)
          if (f%mixes .and. medium(2) > 0) u = real(log(real(medium(3), dp)*real(medium(:2), dp)**2), sp)
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
          if (.not. f%mixes) return
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

end module model3d_fill_m
