!> Shots of a Ricker wavelet on elements, from source and stations to traces, for tests that know the exact motion.
module semshot_m
  use check_m, only: ClaimFine
  use elements_scheme_m, only: elements_scheme_t
  use error_m, only: error_t
  use gather_m, only: gather_t
  use kinds_m, only: dp
  use parameters_m, only: job_t, JobBlank
  use scheme_m, only: SchemeNew, SchemeTimes
  use sem3d_m, only: sem3d_t
  use shot_m, only: shot_t
  use text_m, only: Str
  use wavelet_m, only: wavelet_t, WaveletMake
  use window_m, only: window_t
  implicit none
  private
  public :: semshot_t, SemShotBegin, SemShotRun

  !> A shot on its way: its scheme has yet to get a source and a time step.
  type :: semshot_t
    type(job_t) :: job
    type(wavelet_t) :: wavelet
    type(elements_scheme_t) :: scheme
    type(error_t), allocatable :: error
  end type semshot_t

contains

  !> Ten samples to a period of fmax, until tmax; the wavelet's time zero is at `delay` [s].
  subroutine SemShotBegin(s, fpeak, fmax, delay, tmax, components, variant)
    type(semshot_t), intent(out) :: s
    real(dp), intent(in) :: fpeak, fmax, delay, tmax
    character(*), intent(in) :: components, variant
    call JobBlank(s%job)
    s%job%wavelet = 'ricker'
    s%job%fpeak = fpeak
    s%job%amplitude = 1
    s%job%delay = delay
    s%job%tmax = tmax
    s%job%dt_out = 0.1_dp/fmax
    s%job%components = components
    s%job%variant = trim(variant)
    s%job%threads = 2
    call WaveletMake(s%job, s%wavelet, s%error)
    call SchemeNew(s%scheme, s%job, s%wavelet)
  end subroutine SemShotBegin

  !> Models the shot from `at` to the stations x(3, :) [m]; stops the test where that fails.
  subroutine SemShotRun(s, what, window, at, x, gather)
    type(semshot_t), intent(inout) :: s
    character(*), intent(in) :: what
    type(window_t), intent(in) :: window
    real(dp), intent(in) :: at(3), x(:, :)
    type(gather_t), intent(inout) :: gather
    type(shot_t) :: shot
    type(sem3d_t) :: solver
    integer :: i
    if (.not. allocated(s%error)) call SchemeTimes(s%scheme, s%job, s%wavelet, s%error)
    shot%record = 1
    shot%sx = at(1)
    shot%sy = at(2)
    shot%sz = at(3)
    shot%rx = x(1, :)
    shot%ry = x(2, :)
    shot%rz = x(3, :)
    shot%channel = [(i, i=1, size(x, 2))]
    if (.not. allocated(s%error)) call solver%setup(s%scheme, window, shot, s%error)
    if (.not. allocated(s%error)) call solver%modfd(s%error)
    if (.not. allocated(s%error)) call solver%gather(gather, s%error)
    call ClaimFine(s%error, what//': '//Str(s%scheme%nt)//' steps of '//Str(s%scheme%dt, 3)//' s')
    if (allocated(s%error)) error stop 1
    call solver%free()
  end subroutine SemShotRun

end module semshot_m
