!> How many threads a piece of host work gets.
module threads_m
  use omp_lib, only: omp_get_max_threads
  implicit none
  private
  public :: ThreadsOf

contains

  !> What was asked for; 0 stands for as many as there are.
  integer function ThreadsOf(asked) result(threads)
    integer, intent(in) :: asked
    threads = asked
    if (asked <= 0) threads = omp_get_max_threads()
  end function ThreadsOf

end module threads_m
