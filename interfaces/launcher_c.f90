!> The launcher of this job, and its ways when a rank dies.
module launcher_c
  use iso_c_binding, only: c_int
  implicit none
  private
  public :: launcher_leaves_others

  interface
    !> 1 below a launcher of Open MPI that leaves the other ranks alone when one dies (mpirun --enable-recovery), else 0. Open MPI
    !> 4.1 says so in the environment of its ranks. 5.0 does not: there the words it was started with tell, where it runs on this
    !> machine.
    integer(c_int) function launcher_leaves_others() bind(c)
      import :: c_int
      implicit none
    end function launcher_leaves_others
  end interface
end module launcher_c
