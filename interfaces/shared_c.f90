!> Memory that processes of a machine share, and flags in it that one sets and others wait for, asleep.
!>
!> The memory has no name in any folder: it is there as long as a process uses it, and is gone with the last of them, however that
!> ends. Its first shared_data bytes hold the flags. All of it is there from the beginning, and stays as long as somebody has it
!> open.
module shared_c
  use iso_c_binding, only: c_ptr, c_int, c_long_long, c_double, c_char
  implicit none
  private
  public :: shared_new, shared_open, shared_close, shared_post, shared_wait

  integer, parameter, public :: shared_data = 4096, shared_flags = 1000, shared_name = 64

  interface
    !> `bytes` of memory, all 0, or null with a sentence in err_message; `path`, null-terminated and at most `length` characters:
    !> the name that other processes of this machine give to shared_open while this one lives; shared_name characters are enough.
    type(c_ptr) function shared_new(bytes, length, path) bind(c)
      import :: c_ptr, c_int, c_long_long, c_char
      implicit none
      integer(c_long_long), value :: bytes
      integer(c_int), value :: length
      character(kind=c_char), intent(out) :: path(*)
    end function shared_new

    !> The same memory in another process, to read; null where that cannot be, as on another machine, or is another one.
    type(c_ptr) function shared_open(path, bytes) bind(c)
      import :: c_ptr, c_long_long, c_char
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_long_long), value :: bytes
    end function shared_open

    !> This process uses it no longer; null is harmless.
    subroutine shared_close(memory, bytes) bind(c)
      import :: c_ptr, c_long_long
      implicit none
      type(c_ptr), value :: memory
      integer(c_long_long), value :: bytes
    end subroutine shared_close

    !> Sets flag number `flag` (from 0) at the beginning of this process' memory, after all that was written there before, and wakes
    !> those who wait for it.
    subroutine shared_post(memory, flag, value) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: memory
      integer(c_int), value :: flag, value
    end subroutine shared_post

    !> Waits, asleep, until a flag has the value, about `seconds` at most: 1 if it has it then, 0 if not. Data that
    !> its process wrote before can then be read.
    integer(c_int) function shared_wait(memory, flag, value, seconds) bind(c)
      import :: c_ptr, c_int, c_double
      implicit none
      type(c_ptr), value :: memory
      integer(c_int), value :: flag, value
      real(c_double), value :: seconds
    end function shared_wait
  end interface
end module shared_c
