!> The number of threads for a piece of host work.
module threads_m
  use omp_lib, only: omp_get_max_threads
  implicit none
  private
  public :: ThreadsOf

contains

  !> The number asked for; 0 stands for as many as there are.
  integer function ThreadsOf(asked) result(threads)
    integer, intent(in) :: asked
    threads = asked
    if (asked <= 0) threads = omp_get_max_threads()
  end function ThreadsOf

end module threads_m
