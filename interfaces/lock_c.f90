!> A lock that is a file, as C makes and keeps it: works on network file systems too. Paths and texts end with a null.
module lock_c
  use iso_c_binding, only: c_char, c_double, c_int, c_ptr
  implicit none
  private
  public :: lock_try, lock_read, lock_age, lock_self, lock_alive, lock_stopped, lock_kill, lock_break, &
            lock_keep, lock_lost, lock_tell, lock_release, lock_sweep

  interface
    !> Makes the lock file at `path`. NULL if that failed: `held` = 1 because somebody has the lock, else 0 and the error is set.
    type(c_ptr) function lock_try(path, held) bind(c)
      import :: c_char, c_int, c_ptr
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), intent(out) :: held
    end function lock_try

    !> Reads the lock at `path`: at most n - 1 characters and a null. Their number; -1: there is none, -2: unreadable.
    integer(c_int) function lock_read(path, n, text) bind(c)
      import :: c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: n
      character(kind=c_char), intent(out) :: text(n)
    end function lock_read

    !> Seconds since the lock at `path` was written, by its file's time and the clock of this machine, which may not agree: for
    !> words, never to decide by. 0 where that cannot be told.
    real(c_double) function lock_age(path) bind(c)
      import :: c_char, c_double
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end function lock_age

    !> This process as a lock names it: at most n - 1 characters and a null.
    subroutine lock_self(n, text) bind(c)
      import :: c_char, c_int
      implicit none
      integer(c_int), value :: n
      character(kind=c_char), intent(out) :: text(n)
    end subroutine lock_self

    !> State of the owner of the lock with this text: 1 it lives, 0 it is dead, -1 it is no process of this machine, or that cannot
    !> be told now. One that was killed is dead at once, one that was stopped lives.
    integer(c_int) function lock_alive(text) bind(c)
      import :: c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: text(*)
    end function lock_alive

    !> 1 if the process with this text lives, is of this machine and was stopped by a signal (SIGSTOP).
    integer(c_int) function lock_stopped(text) bind(c)
      import :: c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: text(*)
    end function lock_stopped

    !> Kills the process with this text, if it lives and is of this machine: 1 if that was done, 0 otherwise.
    integer(c_int) function lock_kill(text) bind(c)
      import :: c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: text(*)
    end function lock_kill

    !> Removes the files that dead owners of the lock at `path`, which is held, have left beside it.
    subroutine lock_sweep(path) bind(c)
      import :: c_char
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end subroutine lock_sweep

    !> Takes the lock with this text away from its owner, who is gone. One that somebody took meanwhile stays. Of several that do it
    !> at once one does; the others wait until it has, half a minute at most.
    integer(c_int) function lock_break(path, text) bind(c)
      import :: c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: path(*), text(*)
    end function lock_break

    !> From now on a thread raises the count in the lock every so many seconds.
    integer(c_int) function lock_keep(handle, seconds) bind(c)
      import :: c_double, c_int, c_ptr
      implicit none
      type(c_ptr), value :: handle
      real(c_double), value :: seconds
    end function lock_keep

    !> 1 if another one has taken the lock over, else 0. Looks at the file; NULL is nobody's.
    integer(c_int) function lock_lost(handle) bind(c)
      import :: c_int, c_ptr
      implicit none
      type(c_ptr), value :: handle
    end function lock_lost

    !> Tells in the lock, at its next count, which comes at once: `waits` = 1 the owner waits for its disk, 0 it deals shots.
    subroutine lock_tell(handle, waits) bind(c)
      import :: c_int, c_ptr
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: waits
    end subroutine lock_tell

    !> Removes the lock if it is still this one; NULL is harmless.
    subroutine lock_release(handle) bind(c)
      import :: c_ptr
      implicit none
      type(c_ptr), value :: handle
    end subroutine lock_release
  end interface
end module lock_c
