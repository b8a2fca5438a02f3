!> States of shots on disk: a heading, numbers, a checksum, written by a thread of their own while the shot goes on.
!>
!> A file appears under its name only when all of it is on the disk (temporary, sync, rename); so what is there is whole, and its
!> checksum tells what has changed since. Paths end with a null. Procedures return 0, or 1 with a sentence in err_message.
module statefile_c
  use iso_c_binding, only: c_char, c_double, c_float, c_int, c_long_long, c_ptr
  implicit none
  private
  public :: statefile_new, statefile_free, statefile_room, statefile_write, statefile_busy, statefile_wait
  public :: statefile_head, statefile_read, statefile_folder, statefile_foreign, statefile_sweep
  public :: statefile_others, statefile_drop

  interface
    !> A writer with room for one state; NULL where memory is short.
    type(c_ptr) function statefile_new() bind(c)
      import :: c_ptr
      implicit none
    end function statefile_new

    !> Waits for what is being written, and gives all back; NULL is harmless.
    subroutine statefile_free(writer) bind(c)
      import :: c_ptr
      implicit none
      type(c_ptr), value :: writer
    end subroutine statefile_free

    !> Room for n numbers, kept from state to state; NULL where memory is short, or other ranks of the machine take it at the same
    !> moment, or the last state is still being written.
    type(c_ptr) function statefile_room(writer, n) bind(c)
      import :: c_ptr, c_long_long
      implicit none
      type(c_ptr), value :: writer
      integer(c_long_long), value :: n
    end function statefile_room

    !> Begins to write the n numbers put into the room, under a heading of `length` bytes. Returns at once.
    integer(c_int) function statefile_write(writer, path, length, head, n) bind(c)
      import :: c_ptr, c_char, c_int, c_long_long
      implicit none
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: path(*), head(*)
      integer(c_int), value :: length
      integer(c_long_long), value :: n
    end function statefile_write

    !> 1 while a state is being written.
    integer(c_int) function statefile_busy(writer) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: writer
    end function statefile_busy

    !> Waits until it is written; fails if it could not be. `seconds`: how long it took. Each state is told of once.
    integer(c_int) function statefile_wait(writer, seconds) bind(c)
      import :: c_ptr, c_int, c_double
      implicit none
      type(c_ptr), value :: writer
      real(c_double), intent(out) :: seconds
    end function statefile_wait

    !> The first `length` bytes, and how many numbers follow; fails where the file is no state or not whole.
    integer(c_int) function statefile_head(path, length, head, n) bind(c)
      import :: c_char, c_int, c_long_long
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: length
      character(kind=c_char), intent(out) :: head(*)
      integer(c_long_long), intent(out) :: n
    end function statefile_head

    !> Its n numbers; fails where heading or numbers are not what was written.
    integer(c_int) function statefile_read(path, length, n, state) bind(c)
      import :: c_char, c_float, c_int, c_long_long
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: length
      integer(c_long_long), value :: n
      real(c_float), intent(out) :: state(*)              !< (n)
    end function statefile_read

    !> Makes a folder; one that is there is no failure.
    integer(c_int) function statefile_folder(path) bind(c)
      import :: c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end function statefile_folder

    !> 1 if something in a folder has the name of a state and is none: `name`, n characters with the null. 0 otherwise.
    integer(c_int) function statefile_foreign(path, n, name) bind(c)
      import :: c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: n
      character(kind=c_char), intent(out) :: name(*)
    end function statefile_foreign

    !> The number of ranks that made a state of a shot in a folder together, if these are not `ranks`; 0 if there is none.
    integer(c_int) function statefile_others(path, shot, ranks) bind(c)
      import :: c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: shot, ranks
    end function statefile_others

    !> Removes all states of a shot, whoever has made them, from a folder.
    subroutine statefile_drop(path, shot) bind(c)
      import :: c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: shot
    end subroutine statefile_drop

    !> Removes half-written states of killed writers; with everything = 1 all states, and the folder if nothing else is in it. Files
    !> that have another name, or are no states, stay. A folder that is not there is no failure.
    integer(c_int) function statefile_sweep(path, everything) bind(c)
      import :: c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: everything
    end function statefile_sweep
  end interface
end module statefile_c
