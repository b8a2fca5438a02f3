!> The processes of this machine that the same launcher has started, before any of them knows of the others by MPI.
module siblings_c
  use iso_c_binding, only: c_double, c_int
  implicit none
  private
  public :: siblings_watch

  interface
    !> From now on a thread ends this process with `status`, and says why, once a process that was seen has been gone for so many
    !> `seconds`: one of the same program and job, started by the parent of this process. 0: not any more.
    subroutine siblings_watch(seconds, status) bind(c)
      import :: c_double, c_int
      implicit none
      real(c_double), value :: seconds
      integer(c_int), value :: status
    end subroutine siblings_watch
  end interface
end module siblings_c
