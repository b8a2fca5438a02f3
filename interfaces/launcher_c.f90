!> The launcher of this job, and its ways when a rank dies.
module launcher_c
  use iso_c_binding, only: c_int
  implicit none
  private
  public :: launcher_hears, launcher_leaves_others

  interface
    !> 1 below a launcher of Open MPI that leaves the other ranks alone when one dies (mpirun --enable-recovery), else 0. Open MPI
    !> 4.1 says so in the environment of its ranks. 5.0 does not: there the words it was started with tell, where it runs on this
    !> machine.
    integer(c_int) function launcher_leaves_others() bind(c)
      import :: c_int
      implicit none
    end function launcher_leaves_others

    !> Back when the launcher has taken what this process said on standard error, or after a second: that of Open MPI 5 loses it
    !> where the process ends at once, without MPI_Finalize. A signal handler may call it.
    subroutine launcher_hears() bind(c)
      implicit none
    end subroutine launcher_hears
  end interface
end module launcher_c
