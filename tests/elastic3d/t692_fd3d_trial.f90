!> A rank on CPU cores beside GPUs can tell at once how fast it is in 3D, with whatever layers and attenuation the job has.
program t692_fd3d_trial
  use check_m, only: Claim, Done
  use fd3d_m, only: fd3d_t
  use kinds_m, only: dp
  use scheme3d_m, only: scheme3d_t
  use text_m, only: Str
  implicit none
  type(fd3d_t) :: solver
  type(scheme3d_t) :: scheme
  real(dp) :: rate
  integer :: kind
  do kind = 1, 5
    scheme = scheme3d_t()
    scheme%dx = 10
    scheme%dy = 10
    scheme%dz = 10
    scheme%dt = 1.0e-3_dp
    scheme%half_length = 2
    scheme%w(:2) = [9.0_dp/8, -1.0_dp/24]
    scheme%npml = 10
    scheme%fpeak = 10
    scheme%vmax = 2000
    scheme%variant = trim(merge('auto   ', 'fortran', kind < 5))
    scheme%threads = 1
    scheme%free_top = kind == 2
    scheme%sponge = kind == 2
    scheme%periodic = kind == 3
    scheme%one_way = kind == 3
    scheme%own%attenuates = kind == 4
    scheme%own%q_band = [0.5_dp, 25.0_dp]
    rate = solver%trial(scheme)
    call Claim(rate > 1.0e5_dp .and. rate < 1.0e12_dp, 'a trial of kind '//Str(kind)//': '//Str(1.0e-6_dp*rate, 3)// &
               ' Mcell/s, must be a number of cells')
  end do
  call Done()
end program t692_fd3d_trial
