!> Progress of a survey: one live line on a terminal, plain lines in a batch log, a table at the end.
module progress_m
  use host_c, only: host_seconds, host_terminal
  use kinds_m, only: dp
  use log_m, only: LogInfo, LogProgress
  use text_m, only: Counted, Duration, Str
  implicit none
  private
  public :: progress_t, ProgressNew, ProgressReady, ProgressDeal, ProgressPut, ProgressDone, ProgressUndone, ProgressLost
  public :: ProgressAgain, ProgressBye, ProgressHalted, ProgressShow, ProgressSummary

  real(dp), parameter :: LIVE_EVERY = 0.25_dp   !< seconds between rewrites of the live line

  !> A worker of the summary.
  type :: worker_times_t
    character(:), allocatable :: host
    integer :: shots = 0                        !< done in this run
    real(dp) :: updates = 0                     !< cell updates done
    real(dp) :: looping = 0                     !< seconds in time loops
    real(dp) :: compute = 0, wait = 0, io = 0   !< seconds, as BYE tells them
  end type worker_times_t

  !> A shot that a worker has.
  type :: running_shot_t
    integer :: record = 0, worker = 0
    real(dp) :: since = 0                       !< when it was dealt
    real(dp) :: fraction = 0                    !< part of its time loop that is done
  end type running_shot_t

  type :: progress_t
    type(worker_times_t), allocatable :: worker(:)    !< (nworkers)
    type(running_shot_t), allocatable :: running(:)   !< shots dealt and neither done nor lost
    integer :: total = 0, before = 0            !< shots of the survey; done before this run
    integer :: done = 0                         !< done in this run
    real(dp) :: start = 0, shown = 0, every = 10
    logical :: live = .false., quiet = .false.
  contains
    procedure :: host => ProgressHost
  end type progress_t

contains

  !> `total` shots, `before` of them done earlier; plain lines come every `every` seconds.
  subroutine ProgressNew(progress, nworkers, total, before, every, quiet)
    type(progress_t), intent(out) :: progress
    integer, intent(in) :: nworkers, total, before
    real(dp), intent(in) :: every
    logical, intent(in) :: quiet
    allocate (progress%worker(nworkers), progress%running(0))
    progress%quiet = quiet
    progress%total = total
    progress%before = before
    progress%live = host_terminal() == 1
    progress%every = merge(LIVE_EVERY, every, progress%live)
    progress%start = host_seconds()
    progress%shown = progress%start
  end subroutine ProgressNew

  subroutine ProgressReady(progress, worker, host)
    type(progress_t), intent(inout) :: progress
    integer, intent(in) :: worker
    character(*), intent(in) :: host
    progress%worker(worker)%host = host
  end subroutine ProgressReady

  subroutine ProgressDeal(progress, worker, record)
    type(progress_t), intent(inout) :: progress
    integer, intent(in) :: worker, record
    progress%running = [progress%running, running_shot_t(record, worker, host_seconds(), 0.0_dp)]
  end subroutine ProgressDeal

  subroutine ProgressPut(progress, worker, record, fraction)
    type(progress_t), intent(inout) :: progress
    integer, intent(in) :: worker, record
    real(dp), intent(in) :: fraction
    integer :: i
    i = findloc(progress%running%record == record .and. progress%running%worker == worker, .true., 1)
    if (i > 0) progress%running(i)%fraction = fraction
  end subroutine ProgressPut

  !> A shot is on disk: `updates` cell updates in `seconds` of its time loop.
  subroutine ProgressDone(progress, worker, record, updates, seconds)
    type(progress_t), intent(inout) :: progress
    integer, intent(in) :: worker, record
    real(dp), intent(in) :: updates, seconds
    call ProgressLost(progress, worker, record)
    associate (w => progress%worker(worker))
      progress%done = progress%done + 1
      w%shots = w%shots + 1
      w%updates = w%updates + updates
      w%looping = w%looping + seconds
    end associate
  end subroutine ProgressDone

  !> A shot that a worker has done cannot be written.
  subroutine ProgressUndone(progress, worker)
    type(progress_t), intent(inout) :: progress
    integer, intent(in) :: worker
    progress%done = progress%done - 1
    progress%worker(worker)%shots = progress%worker(worker)%shots - 1
  end subroutine ProgressUndone

  !> The worker has the shot no more.
  subroutine ProgressLost(progress, worker, record)
    type(progress_t), intent(inout) :: progress
    integer, intent(in) :: worker, record
    progress%running = pack(progress%running, .not. (progress%running%record == record .and. progress%running%worker == worker))
  end subroutine ProgressLost

  !> A shot of an earlier run is not done after all.
  subroutine ProgressAgain(progress)
    type(progress_t), intent(inout) :: progress
    progress%before = progress%before - 1
  end subroutine ProgressAgain

  subroutine ProgressBye(progress, worker, seconds)
    type(progress_t), intent(inout) :: progress
    integer, intent(in) :: worker
    real(dp), intent(in) :: seconds(3)
    progress%worker(worker)%compute = seconds(1)
    progress%worker(worker)%wait = seconds(2)
    progress%worker(worker)%io = seconds(3)
  end subroutine ProgressBye

  pure function ProgressHost(self, worker) result(host)
    class(progress_t), intent(in) :: self
    integer, intent(in) :: worker
    character(:), allocatable :: host
    host = 'unknown'
    if (worker < 1 .or. worker > size(self%worker)) return
    if (allocated(self%worker(worker)%host)) host = self%worker(worker)%host
  end function ProgressHost

  !> The job stood still for so many seconds: they are none of this run.
  subroutine ProgressHalted(progress, seconds)
    type(progress_t), intent(inout) :: progress
    real(dp), intent(in) :: seconds
    progress%start = progress%start + seconds
    progress%running%since = progress%running%since + seconds
  end subroutine ProgressHalted

  !> The progress line, when it is time for one.
  subroutine ProgressShow(progress, parked)
    type(progress_t), intent(inout) :: progress
    integer, intent(in) :: parked
    real(dp) :: now
    now = host_seconds()
    if (progress%quiet .or. now - progress%shown < progress%every) return
    progress%shown = now
    call LogProgress(Line(progress, parked, now), progress%live)
  end subroutine ProgressShow

  !> "shots 12/100 (1 parked)  31.2 shots/h  2:49:11 left  slowest: shot 1013 on n7, 41 %, 0:03:12"
  function Line(progress, parked, now) result(s)
    type(progress_t), intent(in) :: progress
    integer, intent(in) :: parked
    real(dp), intent(in) :: now
    character(:), allocatable :: s
    real(dp) :: finished, rate, longest
    integer :: i, slowest
    s = 'shots '//Str(progress%before + progress%done)//'/'//Str(progress%total)
    if (parked > 0) s = s//' ('//Str(parked)//' parked)'
    finished = progress%done
    longest = -1
    slowest = 0
    do i = 1, size(progress%running)
      finished = finished + progress%running(i)%fraction
      if (now - progress%running(i)%since <= longest) cycle
      longest = now - progress%running(i)%since
      slowest = i
    end do
    rate = finished/max(now - progress%start, 1.0e-3_dp)
    if (rate > 0) then
      s = s//'  '//Str(3600*rate, 3)//' shots/h  '// &
          Duration((progress%total - progress%before - parked - finished)/rate)//' left'
    end if
    if (slowest > 0) then
      associate (f => progress%running(slowest))
        s = s//'  slowest: shot '//Str(f%record)//' on '//progress%host(f%worker)//', '//Str(nint(100*f%fraction))//' %, '// &
            Duration(longest)
      end associate
    end if
  end function Line

  !> A line a worker: shots, shots/h, Mcell/s of its compute time, time in compute, wait and I/O. A worker with several shots in
  !> flight computes one while another waits: its time loops overlap, its compute time counts once.
  subroutine ProgressSummary(progress)
    type(progress_t), intent(in) :: progress
    character(120) :: line
    real(dp) :: hours
    integer :: i
    if (progress%quiet) return
    hours = max((host_seconds() - progress%start)/3600, 1.0e-9_dp)
    call LogInfo('')
    call LogInfo('  worker  host                    shots   shots/h   Mcell/s   compute      wait       I/O')
    do i = 1, size(progress%worker)
      associate (w => progress%worker(i))
        write (line, '(i8,2x,a22,i7,f10.1,f10.1,3(f9.1," s"))') i, progress%host(i), w%shots, w%shots/hours, &
          1.0e-6_dp*w%updates/max(merge(w%compute, w%looping, w%compute > 0), 1.0e-9_dp), w%compute, &
          w%wait, w%io
      end associate
      call LogInfo(trim(line))
    end do
    call LogInfo('  '//Counted(progress%done, 'shot')//' in '//Duration(3600*hours)//', '//Str(progress%done/hours, 4)//' shots/h')
  end subroutine ProgressSummary

end module progress_m
