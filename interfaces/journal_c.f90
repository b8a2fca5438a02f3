!> Lines of a journal (fortran/files/journal_line.f90), read without copies of their words.
module journal_c
  use iso_c_binding, only: c_char, c_double, c_int, c_long_long
  implicit none
  private
  public :: journal_line, journal_line_length, journal_line_read

  !> What a line says; places count its characters from 0.
  type, bind(c) :: journal_line
    integer(c_int) :: event_length                !< of its first word
    integer(c_int) :: record, attempt, worker
    integer(c_int) :: host_at, host_length
    integer(c_int) :: note_at
    real(c_double) :: seconds, time               !< [s], [s since 1970]
    integer(c_long_long) :: checksum              !< that the note begins with, -1: it does not
  end type journal_line

  interface
    !> Length of the line that text begins with, without its end; -1 where that is missing. `whole`: 1 if the line begins with the
    !> checksum of what stands behind it, and a blank.
    integer(c_long_long) function journal_line_length(n, text, whole) bind(c)
      import :: c_char, c_int, c_long_long
      implicit none
      integer(c_long_long), value :: n
      character(kind=c_char), intent(in) :: text(*)             !< (n)
      integer(c_int), intent(out) :: whole
    end function journal_line_length

    !> Reads a line of n characters, without checksum and end. 1, or 0 where a number or time is not written as this program writes
    !> them: it may be right or wrong then.
    integer(c_int) function journal_line_read(n, line, l) bind(c)
      import :: c_char, c_int, c_long_long, journal_line
      implicit none
      integer(c_long_long), value :: n
      character(kind=c_char), intent(in) :: line(*)             !< (n)
      type(journal_line), intent(out) :: l
    end function journal_line_read
  end interface
end module journal_c
