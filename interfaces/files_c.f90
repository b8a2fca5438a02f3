!> Plain files as C sees them: sizes, durable writing, checksums; and the clock. Paths end with a null.
module files_c
  use iso_c_binding, only: c_ptr, c_int, c_char, c_long_long, c_double, c_float
  implicit none
  private
  public :: file_exists, file_size, file_space, file_commit, file_sync, file_rename, file_appear, file_remove, file_reserve
  public :: file_read_floats, file_read_bytes
  public :: file_cut, file_numbers, file_token, file_halves_remove
  public :: append_open, append_write, append_truncate, append_reserve, append_close, append_locked, append_others
  public :: crc32_bytes, clock_seconds, clock_text, clock_parse

  interface
    !> 1 if there is anything of this name, else 0.
    integer(c_int) function file_exists(path) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end function file_exists

    !> Bytes of a file that can be read; folders, missing and unreadable files fail.
    integer(c_int) function file_size(path, bytes) bind(c)
      import :: c_int, c_char, c_long_long
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_long_long), intent(out) :: bytes
    end function file_size

    !> Bytes that may still be written to the disk of a file, -1 where nobody knows.
    real(c_double) function file_space(path) bind(c)
      import :: c_char, c_double
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end function file_space

    !> Seconds until so many bytes, at most 16 MB, and then a line are safe on the disk of a folder, tried three times with a file
    !> that has no name; -1 where that cannot be tried.
    real(c_double) function file_commit(folder, bytes) bind(c)
      import :: c_char, c_double, c_long_long
      implicit none
      character(kind=c_char), intent(in) :: folder(*)
      integer(c_long_long), value :: bytes
    end function file_commit

    !> Forces what was written to the file onto the disk.
    integer(c_int) function file_sync(path) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end function file_sync

    !> Renames in one step, replacing what is there, and forces the folder entry onto the disk.
    integer(c_int) function file_rename(from, to) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: from(*), to(*)
    end function file_rename

    !> Lets a new file appear under its name, unless there is one already, and forces the folder entry onto the disk. After a
    !> failure it has not appeared.
    integer(c_int) function file_appear(from, to) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: from(*), to(*)
    end function file_appear

    !> Removes a file; one that is not there is no failure.
    integer(c_int) function file_remove(path) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end function file_remove

    !> Gives a file its full length and, where the file system can, its disk space. Says the bytes when they do not fit; `name` is
    !> what the file is going to be called.
    integer(c_int) function file_reserve(path, name, bytes) bind(c)
      import :: c_int, c_char, c_long_long
      implicit none
      character(kind=c_char), intent(in) :: path(*), name(*)
      integer(c_long_long), value :: bytes
    end function file_reserve

    !> Cuts a file to its first `bytes` bytes.
    integer(c_int) function file_cut(path, bytes) bind(c)
      import :: c_int, c_char, c_long_long
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_long_long), value :: bytes
    end function file_cut

    !> n numbers of `width` = 4 or 8 bytes, from byte `offset` on, swapped end for end if `swap` is 1, as single precision.
    integer(c_int) function file_read_floats(path, offset, n, width, swap, values) bind(c)
      import :: c_int, c_char, c_long_long, c_float
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_long_long), value :: offset, n
      integer(c_int), value :: width, swap
      real(c_float), intent(out) :: values(*)             !< (n)
    end function file_read_floats

    integer(c_int) function file_read_bytes(path, offset, n, bytes) bind(c)
      import :: c_int, c_char, c_long_long
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_long_long), value :: offset, n
      character(kind=c_char), intent(out) :: bytes(*)     !< (n)
    end function file_read_bytes

    !> The number of ordinary files HEADnumberTAIL; `numbers` gets the first n of theirs, in any order.
    integer(c_long_long) function file_numbers(head, tail, n, numbers) bind(c)
      import :: c_int, c_char, c_long_long
      implicit none
      character(kind=c_char), intent(in) :: head(*), tail(*)
      integer(c_long_long), value :: n
      integer(c_int), intent(out) :: numbers(*)           !< (n)
    end function file_numbers

    !> 16 hexadecimal digits that no other process has, and a null.
    subroutine file_token(token) bind(c)
      import :: c_char
      implicit none
      character(kind=c_char), intent(out) :: token(17)
    end subroutine file_token

    !> Removes what processes that were killed left half-made of an output, of its record, journal and snapshots: ordinary files
    !> OUTPUT.TOKEN.half, OUTPUT.par.TOKEN.half, OUTPUT.journal.TOKEN.half, OUTPUT.snapNUMBER.nc.TOKEN.half.
    subroutine file_halves_remove(output) bind(c)
      import :: c_char
      implicit none
      character(kind=c_char), intent(in) :: output(*)
    end subroutine file_halves_remove

    !> Opens a file for appending only, made if missing; locked against other writers. NULL on failure.
    type(c_ptr) function append_open(path) bind(c)
      import :: c_ptr, c_char
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end function append_open

    !> Appends n bytes, in one write where they are fewer than 2 GB; with `sync` = 1 they are on the disk on return. After a
    !> failure none of them stays.
    integer(c_int) function append_write(handle, bytes, n, sync) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: bytes(*)
      integer(c_long_long), value :: n
      integer(c_int), value :: sync
    end function append_write

    !> Takes disk space for so many more bytes, where the file system can: a disk that fills up then does not stop the appending.
    subroutine append_reserve(handle, bytes) bind(c)
      import :: c_ptr, c_long_long
      implicit none
      type(c_ptr), value :: handle
      integer(c_long_long), value :: bytes
    end subroutine append_reserve

    !> Cuts the file to its first `bytes` bytes.
    integer(c_int) function append_truncate(handle, bytes) bind(c)
      import :: c_ptr, c_int, c_long_long
      implicit none
      type(c_ptr), value :: handle
      integer(c_long_long), value :: bytes
    end function append_truncate

    !> Closes and unlocks; NULL is harmless.
    subroutine append_close(handle) bind(c)
      import :: c_ptr
      implicit none
      type(c_ptr), value :: handle
    end subroutine append_close

    !> 1 if others have appended text with this word since the file was opened; 0 if not, or if that cannot be told.
    integer(c_int) function append_others(handle, word) bind(c)
      import :: c_ptr, c_int, c_char
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: word(*)
    end function append_others

    !> 1 if some process has the file open by append_open, 0 if none, -1 if that cannot be told.
    integer(c_int) function append_locked(path) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end function append_locked

    !> CRC-32 as zlib.crc32(bytes, crc) gives it; start with 0.
    integer(c_long_long) function crc32_bytes(crc, n, bytes) bind(c)
      import :: c_char, c_long_long
      implicit none
      integer(c_long_long), value :: crc, n
      character(kind=c_char), intent(in) :: bytes(*)
    end function crc32_bytes

    !> Seconds since 1970-01-01 00:00:00 UTC.
    real(c_double) function clock_seconds() bind(c)
      import :: c_double
      implicit none
    end function clock_seconds

    !> "2026-01-31T23:59:59Z", 20 characters without a null.
    subroutine clock_text(seconds, text) bind(c)
      import :: c_char, c_double
      implicit none
      real(c_double), value :: seconds
      character(kind=c_char), intent(out) :: text(20)
    end subroutine clock_text

    !> The way back; -1 if the text is no such time.
    real(c_double) function clock_parse(text) bind(c)
      import :: c_char, c_double
      implicit none
      character(kind=c_char), intent(in) :: text(20)
    end function clock_parse
  end interface
end module files_c
