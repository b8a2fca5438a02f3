!> A forecast is made of its parts: what a shot costs its worker, how shots are spread over workers, and what rank 0 writes meanwhile.
program t425_forecast
  use check_m, only: Claim, Done
  use files_m, only: FileCommit
  use forecast_m, only: cost_t, ForecastCommit, ForecastRun, ForecastShot, ForecastWait
  use kinds_m, only: dp
  use text_m, only: Str
  implicit none

  type(cost_t) :: cost
  real(dp), allocatable :: many(:)
  real(dp) :: seconds
  integer :: i

  cost = cost_t(setup=1.0e-7_dp, step=2.0e-9_dp, trace=1.0e-4_dp, commit=0.004_dp)
  call Near(ForecastShot(cost, 1.0e6_dp, 1000.0_dp, 500.0_dp), 2.15_dp, 'a million cells set up in 0.1 s, stepped in 2 s, 500 traces')
  call Near(ForecastShot(cost, 1.0e6_dp, 1000.0_dp, 500.0_dp, .true.), 2.0_dp, 'on a GPU set-up and traces happen meanwhile')
  call Near(ForecastShot(cost, 1.0e6_dp, 10.0_dp, 500.0_dp, .true.), 0.15_dp, 'or, of few steps, these happen meanwhile')
  call Near(ForecastShot(cost, 1.0e4_dp, 300.0_dp, 20.0_dp), 0.009_dp, 'a small shot: as much for its traces and set-up as for a third of its steps')
  call Near(ForecastRun([(1.0_dp, i=1, 12)], 0.1_dp, 0), 13.2_dp, 'one process models and writes twelve')
  call Near(ForecastRun([(1.0_dp, i=1, 12)], 0.1_dp, 1), 12.1_dp, 'beside one worker rank 0 writes meanwhile, but for the last')
  call Near(ForecastRun([(1.0_dp, i=1, 12)], 0.0_dp, 8), 2.0_dp, 'eight workers: twelve shots in two rounds')
  call Near(ForecastRun([(1.0_dp, i=1, 12)], 0.0_dp, 100), 1.0_dp, 'a hundred: not below one shot')
  call Near(ForecastRun([(0.01_dp, i=1, 600)], 0.004_dp, 64), 2.41_dp, '64 workers bring small shots faster than they are written')
  call Near(ForecastRun([3.0_dp, 1.0_dp, 1.0_dp, 1.0_dp], 0.0_dp, 2), 3.0_dp, 'unequal shots: whoever is free first')
  allocate (many(3000000), source=1.0e-3_dp)
  call Near(ForecastRun(many, 1.0e-5_dp, 100), 30.0_dp, 'millions are spread evenly')
  many(7) = 50
  call Near(ForecastRun(many, 1.0e-5_dp, 100), 50.0_dp, 'though not below the longest')
  deallocate (many)
  call Near(ForecastRun([real(dp) ::], 0.1_dp, 3), 0.0_dp, 'none')
  cost = cost_t(commit=0.07_dp, sync=0.06_dp, gather=1.0e5_dp)
  call Near(ForecastCommit(cost, 1.0_dp), 0.07_dp, 'a shot a second: each has a commit of its own')
  call Near(ForecastCommit(cost, 0.04_dp), 0.02_dp, 'one each 40 ms, 60 ms of syncs: several have them together, a fifth of the time')
  call Near(ForecastCommit(cost, 0.0_dp), 0.01_dp + 0.06_dp/256, 'as fast as can be: 256 have them together')
  call Near(ForecastWait(cost, 0.04_dp), 0.07_dp/3, 'a worker finds rank 0 a third of the time amid a commit of 70 ms, twice a shot')
  call Near(ForecastWait(cost, 6.93_dp), 0.0007_dp, 'where shots come each 7 s hardly ever')
  cost%gather = 64.0e6_dp
  call Near(ForecastCommit(cost, 0.0_dp), 0.04_dp, 'large ones: two have them together')
  cost%gather = 1.0e9_dp
  call Near(ForecastCommit(cost, 0.0_dp), 0.07_dp, 'the largest: each has its own')
  seconds = FileCommit('.', 1.0e5_dp)
  call Claim(seconds > 0 .or. seconds == -1, 'a commit of 100 kB takes '//Str(1000*seconds, 3)//' ms, or is not to be tried here')
  call Claim(FileCommit('/no/such/folder', 1.0e5_dp) == -1, 'in a folder that is not there it cannot be tried')
  call Done()

contains

  subroutine Near(x, y, what)
    real(dp), intent(in) :: x, y
    character(*), intent(in) :: what
    call Claim(abs(x - y) <= 1.0e-6_dp*max(1.0_dp, abs(y)), what//': '//Str(x, 6)//' s, must be '//Str(y, 6))
  end subroutine Near

end program t425_forecast
