!> The numerical scheme of a survey, derived once from the job, the wavelet and the model, the same for every shot.
module scheme_m
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: scheme_t

  type :: scheme_t
    real(dp) :: dx = 0, dz = 0                !< grid spacing [m]
    real(dp) :: dt = 0                        !< time step [s]
    integer :: nt = 0                         !< time steps of a shot
    real(dp) :: t_start = 0                   !< time of step 0 [s], <= 0
    real(dp) :: dt_out = 0                    !< sample interval of the gathers [s]
    integer :: nt_out = 0                     !< samples of a trace; the first is at t = 0
    real(dp) :: fmax = 0, fband = 0, fpeak = 0  !< highest frequency that must be right, end of the band, peak [Hz]
    real(dp) :: vmin = 0, vmax = 0            !< velocities of the whole model [m/s]
    real(dp) :: dt_limit = 0                  !< largest stable time step [s]
    real(dp) :: ppw = 0                       !< points per shortest wavelength
    real(dp) :: coeffs_error = 0              !< largest group-velocity error of the weights in band, 0.01 = 1 %
    integer :: half_length = 0                !< of the differentiators
    integer :: npml = 0                       !< width of the absorbing layers [cells]
    real(dp) :: w(8) = 0                      !< weights of the differentiators
    logical :: free_top = .false.             !< free surface at the top of the model
    logical :: time_correction = .true.       !< traces are corrected for time dispersion
    logical :: exact_positions = .true.       !< off-grid positions by sinc, else nearest node
    integer :: threads = 1
    real(dp) :: snapshot = 0                  !< time between snapshots [s], 0 = none for this shot
    integer :: snapshot_step = 1              !< [cells]
    character(:), allocatable :: components   !< of the gathers, e.g. 'p,vx,vz'
    character(:), allocatable :: variant      !< kernel variant
    real(sp), allocatable :: q(:)             !< volume injection rate [m2/s], (nt), sample n at t_start + (n - 1/2) dt
  end type scheme_t

end module scheme_m
