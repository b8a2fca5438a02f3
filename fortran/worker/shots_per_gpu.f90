!> The number of shots on a GPU at once, and how many of them compute.
module shots_per_gpu_m
  use kinds_m, only: dp
  implicit none
  private
  public :: ShotsAtOnce, ShotsComputing

  real(dp), parameter :: full = 1.6e7_dp   !< cells at hand for a large GPU, some of them in set-up or traces; fewer leave it idle
  integer, parameter :: least = 2          !< so that one shot is set up, or made traces of, while another computes
  integer, parameter :: most = 16          !< beyond, launches of many small shots stand in each other's way

contains

  !> 0 if not even one shot fits. asked: shots_per_gpu, 0 = as many as fill the GPU. cells: of the grid, layers included.
  !> need: memory one shot takes [bytes]. room: memory there is for this rank [bytes].
  pure integer function ShotsAtOnce(asked, cells, need, room) result(shots)
    integer, intent(in) :: asked
    real(dp), intent(in) :: cells, need, room
    real(dp) :: fit
    shots = asked
    if (asked <= 0) shots = int(min(real(most, dp), max(real(least, dp), aint(full/max(cells, 1.0_dp)) + 1)))
    fit = aint(room/max(need, 1.0_dp))
    if (fit < shots) shots = int(fit)
  end function ShotsAtOnce

  !> The number of `shots` that have their steps on the GPU at a time, while the others are set up or make traces. Shots that were
  !> asked for all compute. busy: cells whose steps keep a GPU busy.
  pure integer function ShotsComputing(asked, busy, cells, shots) result(computing)
    integer, intent(in) :: asked, shots
    real(dp), intent(in) :: busy, cells
    computing = shots
    if (asked <= 0) computing = int(min(real(shots, dp), max(real(least, dp), aint(busy/max(cells, 1.0_dp)) + 1)))
  end function ShotsComputing

end module shots_per_gpu_m
