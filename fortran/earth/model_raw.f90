!> Raw models: float32 or float64 without a header; shape, order, spacing and byte order come from the job.
module model_raw_m
  use checked_m, only: CountOf, Finite
  use error_m, only: error_t, Fail, FailFromC
  use files_c, only: file_read_bytes, file_read_floats
  use files_m, only: FileSize
  use iso_c_binding, only: c_char, c_long_long
  use kinds_m, only: i8, sp
  use parameters_m, only: job_t
  use reading_told_m, only: ReadingTell
  use raw_layout_m, only: RawLayoutDoubt
  use model_samples_m, only: part_t, Plausible, samples_t, SamplesAllocate, SamplesVolume
  use text_m, only: CString, Str
  implicit none
  private
  public :: RawRead, RawRead3d

  character(3), parameter :: volume_orders(6) = [character(3) :: 'xyz', 'xzy', 'yxz', 'yzx', 'zxy', 'zyx']

contains

  !> Reads s%file into s%a; the caller has set what, file, unit and cure. format: raw32 or raw64.
  subroutine RawRead(job, format, s, error)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: format
    type(samples_t), intent(inout) :: s
    type(error_t), allocatable, intent(inout) :: error
    integer :: width
    logical :: swap
    width = merge(8, 4, format == 'raw64')
    call Declared(job, s, error)
    call CheckMagic(s, error)
    call CheckSize(s, width, error)
    call SamplesAllocate(s, error)
    if (allocated(error)) return
    swap = (job%model_endian == 'big') .neqv. (ichar(transfer(1, 'a')) == 0)
    call ReadOrdered(s, width, swap, job%model_order == 'zfast', error)
    if (allocated(error)) return
    if (.not. Plausible(s)) call CheckOrder(job, s, width, swap, error)
    if (.not. allocated(error)) call CheckLines(job, s%a, [s%nx, 1, s%nz], &
                                               merge([2, 3, 1], [1, 3, 2], job%model_order == 'zfast'), s)
  end subroutine RawRead

  !> Doubts that the axes are as declared, and says which would fit. Says nothing where other checks refuse the numbers anyway.
  subroutine CheckLines(job, a, n, of, s)
    type(job_t), intent(in) :: job
    real(sp), intent(in) :: a(:, :)
    integer, intent(in) :: n(3), of(3)
    type(samples_t), intent(inout) :: s
    s%doubt = ''
    if (all(Finite(a))) s%doubt = RawLayoutDoubt(a, n, of)
    if (s%doubt == '') return
    s%doubt = 'the axes of the '//s%what//" model '"//s%file//"' seem to be mixed up: "//s%doubt//'; '//Cure()
  contains

    function Cure()
      character(:), allocatable :: Cure, orders
      integer :: i
      orders = ''
      if (n(2) == 1) then
        orders = trim(merge('xfast', 'zfast', job%model_order == 'zfast'))
        Cure = 'set model_order='//orders//', or, where the model has '//Str(n(3))//' samples along x and '//Str(n(1))// &
               ' along z, exchange model_nx and model_nz'
        return
      end if
      do i = 1, size(volume_orders)
        if (volume_orders(i) == job%model_order) cycle
        if (RawLayoutDoubt(a, n, of, VolumePlaces(volume_orders(i))) == '') orders = orders//' or '//volume_orders(i)
      end do
      Cure = 'correct model_nx, model_ny and model_nz ('//Str(n(1))//', '//Str(n(2))//' and '//Str(n(3))//')'
      if (orders /= '') Cure = 'set model_order='//orders(5:)//', or '//Cure
      if (orders == '') Cure = Cure//' or model_order ('//job%model_order//')'
    end function Cure

  end subroutine CheckLines

  !> The axes of the file that are x, y and z; 1 runs fastest.
  pure function VolumePlaces(order) result(of)
    character(*), intent(in) :: order
    integer :: of(3)
    of = [index(order, 'x'), index(order, 'y'), index(order, 'z')]
  end function VolumePlaces

  !> Shape and spacing as the job declares them.
  subroutine Declared(job, s, error)
    type(job_t), intent(in) :: job
    type(samples_t), intent(inout) :: s
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: unset
    unset = ''
    if (job%model_nx <= 0) unset = unset//', model_nx'
    if (job%model_nz <= 0) unset = unset//', model_nz'
    if (.not. job%model_dx > 0) unset = unset//', model_dx'
    if (.not. job%model_dz > 0) unset = unset//', model_dz'
    if (unset /= '') call Fail(error, 'the raw '//s%what//" model '"//s%file// &
      "' has no header, so the job must tell its shape: set "//unset(3:))
    s%nx = job%model_nx
    s%nz = job%model_nz
    s%dx = job%model_dx
    s%dz = job%model_dz
    s%x0 = job%model_x0
    s%z0 = job%model_z0
  end subroutine Declared

  !> The size must be exactly that of the declared shape; near misses are recognised.
  subroutine CheckSize(s, width, error)
    type(samples_t), intent(in) :: s
    integer, intent(in) :: width
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: found, expected, n
    character(:), allocatable :: hint
    if (allocated(error)) return
    call FileSize(s%file, found, error)
    if (allocated(error)) return
    n = CountOf([s%nx, s%nz])
    expected = CountOf([s%nx, s%nz, width])
    if (found == expected) return
    hint = ''
    if (found == 0) then
      hint = ': it is empty'
    else if (found == n*8 .and. width == 4) then
      hint = ': this is the size of float64, set model_format=raw64'
    else if (found == n*4 .and. width == 8) then
      hint = ': this is the size of float32, set model_format=raw32'
    else if (found == s%nx*(4_i8*s%nz + 240)) then
      hint = ': this is the size of SU traces, convert them with spl-model'
    else if (found == s%nx*(4_i8*s%nz + 240) + 3600) then
      hint = ': this is the size of a SEG-Y file, convert it with spl-model'
    else if (found == expected + 8) then
      hint = ': 8 bytes more are the record marks of a Fortran sequential file, write it with access=''stream'''
    else if (found > expected) then
      hint = ': '//Str(found - expected)//' bytes too many (a header?), check model_nx and model_nz'
    else
      hint = ': '//Str(expected - found)//' bytes are missing (cut short?), check model_nx and model_nz'
    end if
    call Fail(error, s%what//" model '"//s%file//"' has "//Str(found)//' bytes, '//Str(s%nx)//' x '//Str(s%nz)// &
      ' samples of '//Str(width)//' bytes are '//Str(expected)//hint)
  end subroutine CheckSize

  !> Refuses a file that is no raw one by its first bytes, whatever its size.
  subroutine CheckMagic(s, error)
    type(samples_t), intent(in) :: s
    type(error_t), allocatable, intent(inout) :: error
    character(kind=c_char) :: bytes(4)
    integer(i8) :: found
    if (allocated(error)) return
    call FileSize(s%file, found, error)
    if (allocated(error) .or. found < size(bytes)) return
    call FailFromC(file_read_bytes(CString(s%file), 0_c_long_long, 4_c_long_long, bytes), error)
    if (allocated(error)) return
    if (all(bytes(:3) == ['C', 'D', 'F']) .or. all(bytes(2:) == ['H', 'D', 'F'])) call Fail(error, s%what//" model '"// &
      s%file//"' begins as a NetCDF file does: set model_format=netcdf")
  end subroutine CheckMagic

  subroutine ReadOrdered(s, width, swap, zfast, error)
    type(samples_t), intent(inout) :: s
    integer, intent(in) :: width
    logical, intent(in) :: swap, zfast
    type(error_t), allocatable, intent(inout) :: error
    integer, parameter :: at_once = 64        ! columns or rows: few calls, and whole cache lines of s%a
    real(sp), allocatable :: columns(:, :)
    integer(i8) :: offset
    integer :: i, n
    if (.not. zfast) then
      do i = 1, s%nz, at_once
        n = min(at_once, s%nz - i + 1)
        offset = int(i - 1, i8)*s%nx*width
        call FailFromC(file_read_floats(CString(s%file), offset, int(s%nx, i8)*n, width, merge(1, 0, swap), s%a(1, i)), error)
        if (allocated(error)) return
        call ReadingTell(s%told, s%file//' is read', i + n - 1, s%nz)
      end do
      return
    end if
    allocate (columns(s%nz, at_once))
    do i = 1, s%nx, at_once
      n = min(at_once, s%nx - i + 1)
      offset = int(i - 1, i8)*s%nz*width
      call FailFromC(file_read_floats(CString(s%file), offset, int(s%nz, i8)*n, width, merge(1, 0, swap), columns), error)
      if (allocated(error)) return
      s%a(i:i + n - 1, :) = transpose(columns(:, :n))
      call ReadingTell(s%told, s%file//' is read', i + n - 1, s%nx)
    end do
  end subroutine ReadOrdered

  !> Samples that make no sense as declared, but all do with their bytes swapped, are in the other byte order.
  subroutine CheckOrder(job, s, width, swap, error)
    type(job_t), intent(in) :: job
    type(samples_t), intent(inout) :: s
    integer, intent(in) :: width
    logical, intent(in) :: swap
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: kept(:, :)
    character(:), allocatable :: other
    allocate (kept, source=s%a)
    call ReadOrdered(s, width, .not. swap, job%model_order == 'zfast', error)
    if (allocated(error)) return
    other = trim(merge('little', 'big   ', job%model_endian == 'big'))
    if (Plausible(s)) call Fail(error, s%what//" model '"//s%file//"' makes no sense as "//job%model_endian// &
      '-endian numbers, but does as '//other//'-endian ones ('//Str(minval(s%a))//' .. '//Str(maxval(s%a))// &
      '): set model_endian='//other)
    call move_alloc(kept, s%a)
  end subroutine CheckOrder

  ! --- volumes -------------------------------------------------------------------------------------------------------

  !> Reads a part of s%file into a(nx, ny*nz), shape, order and byte order as the job says; the caller has set what and file.
  !> format: raw32 or raw64.
  subroutine RawRead3d(job, format, s, part, a, error)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: format
    type(samples_t), intent(inout) :: s
    type(part_t), intent(in) :: part
    real(sp), allocatable, intent(out) :: a(:, :)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: rows(:, :)
    type(part_t) :: there
    integer(i8) :: found, expected, first
    integer :: n(3), m(3), of(3), at(3), lo(3), hi(3), width, swap, i, j, l
    n = [job%model_nx, job%model_ny, job%model_nz]
    width = merge(8, 4, format == 'raw64')
    swap = merge(1, 0, (job%model_endian == 'big') .neqv. (ichar(transfer(1, 'a')) == 0))
    of = VolumePlaces(job%model_order)
    m(of) = n
    s%slow = findloc(of, 3, 1)
    call CheckMagic(s, error)
    if (.not. allocated(error)) call FileSize(s%file, found, error)
    if (allocated(error)) return
    expected = CountOf([n, width])
    if (found /= expected) then
      call Fail(error, s%what//" model '"//s%file//"' has "//Str(found)//' bytes, '//Str(n(1))//' x '//Str(n(2))//' x '// &
        Str(n(3))//' samples of '//Str(width)//' bytes are '//Bytes()//': check model_nx, model_ny, model_nz, model_format')
      return
    end if
    there%low = max(1, part%low)
    there%high = min(n, part%high)
    n = there%high - there%low + 1
    lo(of) = there%low
    hi(of) = there%high
    call SamplesVolume(s, n, a, error)
    if (.not. allocated(error)) allocate (rows(m(1), lo(2):hi(2)))
    do l = lo(3), hi(3)
      if (allocated(error)) return
      first = (int(l - 1, i8)*m(2) + lo(2) - 1)*m(1)
      call FailFromC(file_read_floats(CString(s%file), width*first, size(rows, kind=i8), width, swap, rows), error)
      do j = lo(2), hi(2)
        do i = lo(1), hi(1)
          at = [i, j, l] - lo + 1
          at = at(of)
          a(at(1), (at(3) - 1)*n(2) + at(2)) = rows(i, j)
        end do
      end do
    end do
    s%doubt = ''
    if (.not. allocated(error) .and. all(there%low == 1)) call CheckLines(job, a, n, of, s)

  contains

    function Bytes() result(text)
      character(:), allocatable :: text
      text = Str(expected)
      if (expected < 0) text = 'more than can be counted'
    end function Bytes

  end subroutine RawRead3d

end module model_raw_m
