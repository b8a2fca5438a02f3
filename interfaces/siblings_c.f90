!> The processes of this machine that the same launcher has started, before any of them knows of the others by MPI.
module siblings_c
  use iso_c_binding, only: c_double, c_int
  implicit none
  private
  public :: siblings_watch, siblings_part

  interface
    !> From now on a thread ends this process with `status`, and says why, once a process that was seen has been gone for so many
    !> `seconds`: one of the same program and job, started by the parent of this process. One of them that is stopped (SIGSTOP) for
    !> a minute is killed, where the launcher would wait for it for ever (--enable-recovery). 0: not any more.
    subroutine siblings_watch(seconds, status) bind(c)
      import :: c_double, c_int
      implicit none
      real(c_double), value :: seconds
      integer(c_int), value :: status
    end subroutine siblings_watch

    !> At the end: such a process that is stopped for 5 s is killed, where the launcher would wait for it for ever. `wait` 1: back
    !> when none is stopped; 0: at once, and a thread sees to it until this process ends.
    subroutine siblings_part(wait) bind(c)
      import :: c_int
      implicit none
      integer(c_int), value :: wait
    end subroutine siblings_part
  end interface
end module siblings_c
