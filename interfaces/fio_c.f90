!> NetCDF files as C sees them: named dimensions, variables and attributes. All indices count from 0, slowest first.
module fio_c
  use iso_c_binding, only: c_ptr, c_int, c_char, c_long_long, c_double, c_float
  implicit none
  private
  public :: fio_tally, fio_tally_bytes, fio_create, fio_open, fio_close, fio_abandon, fio_sync, fio_enddef
  public :: fio_dim, fio_var, fio_text, fio_numbers
  public :: fio_put_floats, fio_put_doubles, fio_put_longs, fio_put_text, fio_put_summed, fio_put_sealed
  public :: fio_get_floats, fio_get_doubles, fio_get_longs, fio_get_text
  public :: fio_dim_length, fio_var_count, fio_var_name, fio_var_rank, fio_var_dim, fio_var_type, fio_var_real
  public :: fio_get_att_text, fio_get_att_numbers, fio_get_default_fill
  public :: fio_crc_floats, fio_crc_slots, fio_header_checksum, fio_header_check, fio_unstretch

  interface
    !> New CDF-5 file, in define mode, never pre-filled. Replaces a file of that name. NULL on failure.
    type(c_ptr) function fio_create(path) bind(c)
      import :: c_ptr, c_char
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end function fio_create

    !> Takes dimensions, variables and attributes as fio_create's handle does, but makes no file: fio_tally_bytes tells how long the
    !> file would be. NULL on failure.
    type(c_ptr) function fio_tally() bind(c)
      import :: c_ptr
      implicit none
    end function fio_tally

    !> Bytes of the file that was defined; of a handle of fio_tally only.
    real(c_double) function fio_tally_bytes(handle) bind(c)
      import :: c_ptr, c_double
      implicit none
      type(c_ptr), value :: handle
    end function fio_tally_bytes

    !> Existing NetCDF file of any kind; `writable` = 1 to put data, which only CDF-5 files without records take then: blocks that
    !> lie in one piece, each at its place in the file at once. NULL on failure.
    type(c_ptr) function fio_open(path, writable) bind(c)
      import :: c_ptr, c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: writable
    end function fio_open

    !> Closes and frees; NULL is harmless. Fails if buffered data could not be written.
    integer(c_int) function fio_close(handle) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
    end function fio_close

    !> Closes a file that was created, after a write that failed: nothing more of it reaches the file. NULL is harmless.
    integer(c_int) function fio_abandon(handle) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
    end function fio_abandon

    !> All that was put is on the disk on return.
    integer(c_int) function fio_sync(handle) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
    end function fio_sync

    !> Ends the definitions.
    integer(c_int) function fio_enddef(handle) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
    end function fio_enddef

    integer(c_int) function fio_dim(handle, name, length) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      integer(c_long_long), value :: length
    end function fio_dim

    !> type: float, double, int, int64, uint, byte or char. dims: names joined by blanks, slowest first; '' = scalar.
    integer(c_int) function fio_var(handle, name, type, dims) bind(c)
      import :: c_ptr, c_int, c_char
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*), type(*), dims(*)
    end function fio_var

    !> Text attribute; var '' = of the file.
    integer(c_int) function fio_text(handle, var, name, text) bind(c)
      import :: c_ptr, c_int, c_char
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*), name(*), text(*)
    end function fio_text

    !> Attribute of n numbers of a type as in fio_var; var '' = of the file.
    integer(c_int) function fio_numbers(handle, var, name, type, n, values) bind(c)
      import :: c_ptr, c_int, c_char, c_double
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*), name(*), type(*)
      integer(c_int), value :: n
      real(c_double), intent(in) :: values(*)                  !< (n)
    end function fio_numbers

    !> Puts a block: start and count have one number a dimension of the variable.
    integer(c_int) function fio_put_floats(handle, var, start, count, values) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long, c_float
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
      integer(c_long_long), intent(in) :: start(*), count(*)
      real(c_float), intent(in) :: values(*)
    end function fio_put_floats

    !> The same, to a file that was opened to be written to, and goes on with a CRC-32 over the bytes that it writes.
    integer(c_int) function fio_put_summed(handle, var, start, count, values, crc) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long, c_float
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
      integer(c_long_long), intent(in) :: start(*), count(*)
      real(c_float), intent(in) :: values(*)
      integer(c_long_long), intent(inout) :: crc
    end function fio_put_summed

    !> The same with floats that are sealed (sealed_c.f90): their bytes go into the file as they are.
    integer(c_int) function fio_put_sealed(handle, var, start, count, bytes) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long, c_float
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
      integer(c_long_long), intent(in) :: start(*), count(*)
      real(c_float), intent(in) :: bytes(*)
    end function fio_put_sealed

    integer(c_int) function fio_put_doubles(handle, var, start, count, values) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long, c_double
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
      integer(c_long_long), intent(in) :: start(*), count(*)
      real(c_double), intent(in) :: values(*)
    end function fio_put_doubles

    integer(c_int) function fio_put_longs(handle, var, start, count, values) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
      integer(c_long_long), intent(in) :: start(*), count(*), values(*)
    end function fio_put_longs

    integer(c_int) function fio_put_text(handle, var, start, count, values) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
      integer(c_long_long), intent(in) :: start(*), count(*)
      character(kind=c_char), intent(in) :: values(*)
    end function fio_put_text

    integer(c_int) function fio_get_floats(handle, var, start, count, values) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long, c_float
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
      integer(c_long_long), intent(in) :: start(*), count(*)
      real(c_float), intent(out) :: values(*)
    end function fio_get_floats

    integer(c_int) function fio_get_doubles(handle, var, start, count, values) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long, c_double
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
      integer(c_long_long), intent(in) :: start(*), count(*)
      real(c_double), intent(out) :: values(*)
    end function fio_get_doubles

    integer(c_int) function fio_get_longs(handle, var, start, count, values) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
      integer(c_long_long), intent(in) :: start(*), count(*)
      integer(c_long_long), intent(out) :: values(*)
    end function fio_get_longs

    integer(c_int) function fio_get_text(handle, var, start, count, values) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
      integer(c_long_long), intent(in) :: start(*), count(*)
      character(kind=c_char), intent(out) :: values(*)
    end function fio_get_text

    integer(c_int) function fio_dim_length(handle, name, length) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      integer(c_long_long), intent(out) :: length
    end function fio_dim_length

    !> Number of variables; their names are asked for by number, 0 .. count-1.
    integer(c_int) function fio_var_count(handle) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
    end function fio_var_count

    integer(c_int) function fio_var_name(handle, i, name) bind(c)
      import :: c_ptr, c_int, c_char
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: i
      character(kind=c_char), intent(out) :: name(257)          !< null-terminated
    end function fio_var_name

    !> Number of dimensions of a variable, -1 if there is no such variable.
    integer(c_int) function fio_var_rank(handle, var) bind(c)
      import :: c_ptr, c_int, c_char
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
    end function fio_var_rank

    !> Name and length of dimension i (from 0, slowest first) of a variable.
    integer(c_int) function fio_var_dim(handle, var, i, name, length) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
      integer(c_int), value :: i
      character(kind=c_char), intent(out) :: name(257)          !< null-terminated
      integer(c_long_long), intent(out) :: length
    end function fio_var_dim

    !> Bytes of a number of the variable, 0 if it holds text or anything else that is no number.
    integer(c_int) function fio_var_type(handle, var) bind(c)
      import :: c_ptr, c_int, c_char
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
    end function fio_var_type

    !> Length of a text attribute (var '' = of the file), -1 if there is none; up to n characters of it, without a null.
    integer(c_long_long) function fio_get_att_text(handle, var, name, n, text) bind(c)
      import :: c_ptr, c_char, c_long_long
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*), name(*)
      integer(c_long_long), value :: n
      character(kind=c_char), intent(out) :: text(*)
    end function fio_get_att_text

    !> Bytes of a number of the variable if it holds floating-point numbers, else 0.
    integer(c_int) function fio_var_real(handle, var) bind(c)
      import :: c_ptr, c_int, c_char
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
    end function fio_var_real

    !> How many numbers the attribute holds (var '' = of the file): 0 if there is none of that name, -1 if it is no numbers. Up to n
    !> of them come in values; real: bytes of one if they are floating-point numbers, else 0.
    integer(c_int) function fio_get_att_numbers(handle, var, name, n, values, real) bind(c)
      import :: c_ptr, c_int, c_char, c_double
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*), name(*)
      integer(c_int), value :: n
      real(c_double), intent(out) :: values(*)
      integer(c_int), intent(out) :: real
    end function fio_get_att_numbers

    !> 1 and the value that the library gives to numbers of the variable that nobody writes, if there is one, else 0.
    integer(c_int) function fio_get_default_fill(handle, var, value) bind(c)
      import :: c_ptr, c_int, c_char, c_double
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
      real(c_double), intent(out) :: value
    end function fio_get_default_fill

    !> Goes on with a CRC-32 over n floats as they stand on disk (big-endian).
    integer(c_long_long) function fio_crc_floats(crc, n, values) bind(c)
      import :: c_long_long, c_float
      implicit none
      integer(c_long_long), value :: crc, n
      real(c_float), intent(in) :: values(*)
    end function fio_crc_floats

    !> Goes on with the CRC-32 of each of n slots, from `slot` on, over the bytes of a variable as they stand on disk: all of
    !> var[slot, ...]. slot < 0, with n = 1: the whole variable.
    integer(c_int) function fio_crc_slots(handle, var, slot, n, crc) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
      integer(c_long_long), value :: slot, n
      integer(c_long_long), intent(inout) :: crc(*)             !< (n)
    end function fio_crc_slots

    !> For a CDF-5 file with scalars header_bytes and header_crc32, after its fixed variables are put and synced: puts
    !> both, and tells the bytes up to their end and those of the complete file.
    integer(c_int) function fio_header_checksum(handle, fixed, bytes) bind(c)
      import :: c_ptr, c_int, c_long_long
      implicit none
      type(c_ptr), value :: handle
      integer(c_long_long), intent(out) :: fixed, bytes
    end function fio_header_checksum

    !> Cuts off what a writer that was killed may have left beyond the end of a file of gathers whose header is whole.
    integer(c_int) function fio_unstretch(path) bind(c)
      import :: c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end function fio_unstretch

    !> Checks the length of a file and the checksum of its header before anything trusts it.
    integer(c_int) function fio_header_check(path) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end function fio_header_check
  end interface
end module fio_c
