!> NetCDF models in 3D: volumes, parts of which are read.
module model3d_netcdf_m
  use checked_m, only: Whole
  use error_m, only: error_t, Fail, FailFromC
  use fio_c, only: fio_close, fio_get_doubles, fio_var_count, fio_var_name, fio_var_rank, fio_var_type
  use iso_c_binding, only: c_char, c_long_long, c_ptr
  use kinds_m, only: dp, i4, sp
  use model_samples_m, only: part_t, samples_t, SamplesVolume
  use netcdf_axes_m, only: side_t, NetcdfSides
  use netcdf_variable_m, only: packing_t, NetcdfHeld, NetcdfMissing, NetcdfOpen, NetcdfPacking, NetcdfUnit, &
                               NetcdfWhyMissing
  use text_m, only: CString, FString, Str
  implicit none
  private
  public :: NetcdfRead3d

  integer(i4), parameter :: no_number = int(z'7FC00000', i4)     !< bits of a NaN

contains

  !> Reads a part of the variable `name` of s%file into a(nx, ny*nz); n, d, x0: samples of all, spacings and place of the first
  !> one along x, y, z. The caller has set what and file of s; unit and cure come from the file, but for a quality factor, which has
  !> none, and may be missing where it says nothing: it is NaN there.
  subroutine NetcdfRead3d(name, s, part, n, d, x0, a, error)
    character(*), intent(in) :: name
    type(samples_t), intent(inout) :: s
    type(part_t), intent(in) :: part
    integer, intent(out) :: n(3)
    real(dp), intent(out) :: d(3), x0(3)             !< [m]
    real(sp), allocatable, intent(out) :: a(:, :)
    type(error_t), allocatable, intent(inout) :: error
    type(side_t) :: side(3)
    type(c_ptr) :: file
    integer :: i, of(3)
    n = 0
    d = 0
    x0 = 0
    call NetcdfOpen(s, file, error)
    if (allocated(error)) return
    if (.not. IsVolume(file, name)) then
      call Fail(error, s%what//" model '"//s%file//"' has no variable '"//name//"' of numbers in 3 dimensions, x, y and z: "// &
        'name one by the parameter that ends in _var; it has '//Volumes(file))
    else if (s%what /= 'quality factor') then
      call NetcdfUnit(file, name, s, error)
    end if
    call ReadSides3d(file, name, s, side, of, error)
    if (.not. allocated(error)) then
      s%slow = findloc(of, 1, 1)
      do i = 1, 3
        n(i) = Whole(side(of(i))%n)
        d(i) = side(of(i))%step
        x0(i) = side(of(i))%first
      end do
      call ReadVolume(file, name, s, part_t(max(1, part%low), min(n, part%high)), of, &
                      merge(n(3), 0, side(of(3))%upwards), a, error)
      if (side(of(3))%upwards) s%read_as = ', z counts upwards there: turned'
    end if
    if (fio_close(file) /= 0) continue   ! it was only read
  end subroutine NetcdfRead3d

  logical function IsVolume(file, name)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    IsVolume = fio_var_rank(file, CString(name)) == 3
    if (IsVolume) IsVolume = fio_var_type(file, CString(name)) /= 0
  end function IsVolume

  !> The names of those that could be meant, in words.
  function Volumes(file) result(words)
    type(c_ptr), intent(in) :: file
    character(:), allocatable :: words
    character(kind=c_char, len=257) :: buffer
    integer :: i
    words = ''
    do i = 0, fio_var_count(file) - 1
      if (fio_var_name(file, i, buffer) /= 0) exit
      if (IsVolume(file, FString(buffer))) words = words//', '//FString(buffer)
    end do
    if (words == '') words = '  none of that kind, unless in groups, which are not read'
    words = words(3:)
  end function Volumes

  !> of(1:3): the dimensions of the variable, slowest first, that are x, y and z.
  subroutine ReadSides3d(file, name, s, side, of, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    type(samples_t), intent(in) :: s
    type(side_t), intent(out) :: side(3)
    integer, intent(out) :: of(3)
    type(error_t), allocatable, intent(inout) :: error
    of = 0
    call NetcdfSides(file, name, s, side, error)
    if (allocated(error)) return
    of = [findloc(side%axis, 'x', 1), findloc(side%axis, 'y', 1), findloc(side%axis, 'z', 1)]
    if (any(of == 0)) call Fail(error, s%what//" model '"//s%file//"': cannot tell x, y and depth by the coordinates "// &
      side(1)%name//', '//side(2)%name//' and '//side(3)%name//': name them x, y and z, or give them the attribute axis = X, Y, Z')
  end subroutine ReadSides3d

  !> Plane by plane of the slowest dimension. up: samples along z where the last one of the file is the shallowest, else 0.
  subroutine ReadVolume(file, name, s, part, of, up, a, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    type(samples_t), intent(in) :: s
    type(part_t), intent(in) :: part
    integer, intent(in) :: of(3), up
    real(sp), allocatable, intent(out) :: a(:, :)
    type(error_t), allocatable, intent(inout) :: error
    type(packing_t) :: packing
    real(dp), allocatable :: plane(:, :)
    integer :: n(3), first(3), m(3), at(3), l, i, j
    n = part%high - part%low + 1
    first(of) = part%low - 1
    if (up > 0) first(of(3)) = up - part%high(3)
    m(of) = n
    call SamplesVolume(s, n, a, error)
    if (allocated(error)) return
    allocate (plane(m(3), m(2)))
    call NetcdfPacking(file, s%what//" model '"//s%file//"': ", name, packing, error)
    if (allocated(error)) return
    do l = 1, m(1)
      call FailFromC(fio_get_doubles(file, CString(name), int(first + [l - 1, 0, 0], c_long_long), &
        int([1, m(2), m(3)], c_long_long), plane), error)
      if (allocated(error)) return
      do j = 1, m(2)
        do i = 1, m(3)
          at = [l, j, i]
          at = at(of)
          if (up > 0) at(3) = n(3) + 1 - at(3)
          if (NetcdfMissing(plane(i, j), packing)) then
            if (s%what == 'quality factor') then
              a(at(1), (at(3) - 1)*n(2) + at(2)) = transfer(no_number, 0.0_sp)
              cycle
            end if
            at = at + part%low - 1
            call Fail(error, s%what//" model '"//s%file//"': sample ("//Str(at(1))//', '//Str(at(2))//', '//Str(at(3))//') of '// &
              name//NetcdfWhyMissing(plane(i, j), packing))
            return
          end if
          a(at(1), (at(3) - 1)*n(2) + at(2)) = real(NetcdfHeld(plane(i, j), packing), sp)
        end do
      end do
    end do
  end subroutine ReadVolume

end module model3d_netcdf_m
