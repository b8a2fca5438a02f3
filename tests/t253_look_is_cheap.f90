!> The look at the whole field after each chunk of steps costs less than 1 % of the steps; the shortest of several times counts.
program t253_look_is_cheap
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd2d_m, only: fd2d_t
  use host_c, only: host_seconds
  use kinds_m, only: dp, sp
  use scene_m, only: scene_t, SceneNew, SceneScheme
  use text_m, only: Str
  implicit none
  integer, parameter :: chunk = 100              !< steps, as in fd2d_loop.f90
  type(error_t), allocatable :: error
  type(scene_t) :: scene
  type(fd2d_t) :: solver
  real(dp) :: from, steps, look
  real(sp) :: value
  integer :: n, i, k, repeat

  call SceneNew(scene, 1200, 700, 8.0_dp, 2000.0_dp, 1000.0_dp)
  scene%job%tmax = 2
  scene%job%variant = 'cpu'
  scene%shot%sx = 4000
  scene%shot%sz = 2000
  call SceneScheme(scene, error)
  if (.not. allocated(error)) call solver%setup(scene%scheme, scene%window, scene%shot, error)
  call ClaimFine(error, 'the scene')
  steps = huge(steps)
  look = huge(look)
  do n = 0, 3
    from = host_seconds()
    call solver%engine%timestep(n*chunk + 1, chunk, error)
    steps = min(steps, host_seconds() - from)
    do repeat = 1, 5
      from = host_seconds()
      call solver%engine%peak(value, i, k, error)
      look = min(look, host_seconds() - from)
    end do
  end do
  call ClaimFine(error, 'steps and looks')
  call Claim(look <= 0.01_dp*steps, Str(chunk)//' steps take '//Str(steps, 3)//' s, a look '//Str(look, 3)//' s: '// &
             Str(100*look/steps, 2)//' %, must be at most 1 %')
  call Done()
end program t253_look_is_cheap
