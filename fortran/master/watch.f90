!> Progress of a survey: one live line on a terminal, plain lines in a batch log, a table at the end.
module watch_m
  use host_c, only: host_seconds, host_terminal
  use kinds_m, only: dp
  use log_m, only: LogInfo, LogProgress
  use text_m, only: Str
  implicit none
  private
  public :: watch_t, WatchNew, WatchReady, WatchDeal, WatchPut, WatchDone, WatchLost, WatchAgain, WatchBye, WatchShow
  public :: WatchSummary, Clock

  real(dp), parameter :: LIVE_EVERY = 0.25_dp   !< seconds between rewrites of the live line

  !> What is known of a worker.
  type :: seat_t
    character(:), allocatable :: host
    integer :: shots = 0                        !< done in this run
    real(dp) :: updates = 0                     !< cell updates done
    real(dp) :: looping = 0                     !< seconds in time loops
    real(dp) :: compute = 0, wait = 0, io = 0   !< seconds, told at BYE
  end type seat_t

  !> A shot with a worker.
  type :: flight_t
    integer :: record = 0, worker = 0
    real(dp) :: since = 0                       !< when it was dealt
    real(dp) :: fraction = 0                    !< of its time loop
  end type flight_t

  type :: watch_t
    type(seat_t), allocatable :: seat(:)        !< (nworkers)
    type(flight_t), allocatable :: flight(:)    !< shots dealt and neither done nor lost
    integer :: total = 0, before = 0            !< shots of the survey; done before this run
    integer :: done = 0                         !< done in this run
    real(dp) :: start = 0, shown = 0, every = 10
    logical :: live = .false., quiet = .false.
  contains
    procedure :: host => WatchHost
  end type watch_t

contains

  !> `total` shots, `before` of them done earlier; plain lines come every `every` seconds.
  subroutine WatchNew(watch, nworkers, total, before, every, quiet)
    type(watch_t), intent(out) :: watch
    integer, intent(in) :: nworkers, total, before
    real(dp), intent(in) :: every
    logical, intent(in) :: quiet
    allocate (watch%seat(nworkers), watch%flight(0))
    watch%quiet = quiet
    watch%total = total
    watch%before = before
    watch%live = host_terminal() == 1
    watch%every = merge(LIVE_EVERY, every, watch%live)
    watch%start = host_seconds()
    watch%shown = watch%start
  end subroutine WatchNew

  subroutine WatchReady(watch, worker, host)
    type(watch_t), intent(inout) :: watch
    integer, intent(in) :: worker
    character(*), intent(in) :: host
    watch%seat(worker)%host = host
  end subroutine WatchReady

  subroutine WatchDeal(watch, worker, record)
    type(watch_t), intent(inout) :: watch
    integer, intent(in) :: worker, record
    watch%flight = [watch%flight, flight_t(record, worker, host_seconds(), 0.0_dp)]
  end subroutine WatchDeal

  subroutine WatchPut(watch, worker, record, fraction)
    type(watch_t), intent(inout) :: watch
    integer, intent(in) :: worker, record
    real(dp), intent(in) :: fraction
    integer :: i
    i = findloc(watch%flight%record == record .and. watch%flight%worker == worker, .true., 1)
    if (i > 0) watch%flight(i)%fraction = fraction
  end subroutine WatchPut

  !> A shot is on disk: `updates` cell updates in `seconds` of its time loop.
  subroutine WatchDone(watch, worker, record, updates, seconds)
    type(watch_t), intent(inout) :: watch
    integer, intent(in) :: worker, record
    real(dp), intent(in) :: updates, seconds
    call WatchLost(watch, worker, record)
    associate (seat => watch%seat(worker))
      watch%done = watch%done + 1
      seat%shots = seat%shots + 1
      seat%updates = seat%updates + updates
      seat%looping = seat%looping + seconds
    end associate
  end subroutine WatchDone

  !> A shot is with its worker no more.
  subroutine WatchLost(watch, worker, record)
    type(watch_t), intent(inout) :: watch
    integer, intent(in) :: worker, record
    watch%flight = pack(watch%flight, .not. (watch%flight%record == record .and. watch%flight%worker == worker))
  end subroutine WatchLost

  !> A shot of an earlier run is not done after all.
  subroutine WatchAgain(watch)
    type(watch_t), intent(inout) :: watch
    watch%before = watch%before - 1
  end subroutine WatchAgain

  subroutine WatchBye(watch, worker, seconds)
    type(watch_t), intent(inout) :: watch
    integer, intent(in) :: worker
    real(dp), intent(in) :: seconds(3)
    watch%seat(worker)%compute = seconds(1)
    watch%seat(worker)%wait = seconds(2)
    watch%seat(worker)%io = seconds(3)
  end subroutine WatchBye

  pure function WatchHost(self, worker) result(host)
    class(watch_t), intent(in) :: self
    integer, intent(in) :: worker
    character(:), allocatable :: host
    host = 'unknown'
    if (worker < 1 .or. worker > size(self%seat)) return
    if (allocated(self%seat(worker)%host)) host = self%seat(worker)%host
  end function WatchHost

  !> The progress line, when it is time for one.
  subroutine WatchShow(watch, parked)
    type(watch_t), intent(inout) :: watch
    integer, intent(in) :: parked
    real(dp) :: now
    now = host_seconds()
    if (watch%quiet .or. now - watch%shown < watch%every) return
    watch%shown = now
    call LogProgress(Line(watch, parked, now), watch%live)
  end subroutine WatchShow

  !> "shots 12/100 (1 parked)  31.2 shots/h  2:49:11 left  slowest: shot 1013 on n7, 41 %, 0:03:12"
  function Line(watch, parked, now) result(s)
    type(watch_t), intent(in) :: watch
    integer, intent(in) :: parked
    real(dp), intent(in) :: now
    character(:), allocatable :: s
    real(dp) :: finished, rate, longest
    integer :: i, slowest
    s = 'shots '//Str(watch%before + watch%done)//'/'//Str(watch%total)
    if (parked > 0) s = s//' ('//Str(parked)//' parked)'
    finished = watch%done
    longest = -1
    slowest = 0
    do i = 1, size(watch%flight)
      finished = finished + watch%flight(i)%fraction
      if (now - watch%flight(i)%since <= longest) cycle
      longest = now - watch%flight(i)%since
      slowest = i
    end do
    rate = finished/max(now - watch%start, 1.0e-3_dp)
    if (rate > 0) then
      s = s//'  '//Str(3600*rate, 3)//' shots/h  '// &
          Clock((watch%total - watch%before - parked - finished)/rate)//' left'
    end if
    if (slowest > 0) then
      associate (f => watch%flight(slowest))
        s = s//'  slowest: shot '//Str(f%record)//' on '//watch%host(f%worker)//', '//Str(nint(100*f%fraction))//' %, '// &
            Clock(longest)
      end associate
    end if
  end function Line

  !> A line a worker: shots, shots/h, Mcell/s of its compute time, time in compute, wait and I/O. A worker with several shots in
  !> flight computes one while another waits: its time loops overlap, its compute time counts once.
  subroutine WatchSummary(watch)
    type(watch_t), intent(in) :: watch
    character(120) :: line
    real(dp) :: hours
    integer :: i
    if (watch%quiet) return
    hours = max((host_seconds() - watch%start)/3600, 1.0e-9_dp)
    call LogInfo('')
    call LogInfo('  worker  host                    shots   shots/h   Mcell/s   compute      wait       I/O')
    do i = 1, size(watch%seat)
      associate (seat => watch%seat(i))
        write (line, '(i8,2x,a22,i7,f10.1,f10.1,3(f9.1," s"))') i, watch%host(i), seat%shots, seat%shots/hours, &
          1.0e-6_dp*seat%updates/max(merge(seat%compute, seat%looping, seat%compute > 0), 1.0e-9_dp), seat%compute, &
          seat%wait, seat%io
      end associate
      call LogInfo(trim(line))
    end do
    call LogInfo('  '//Str(watch%done)//' shots in '//Clock(3600*hours)//', '//Str(watch%done/hours, 4)//' shots/h')
  end subroutine WatchSummary

  !> Seconds as h:mm:ss.
  pure function Clock(seconds) result(s)
    real(dp), intent(in) :: seconds
    character(:), allocatable :: s
    character(24) :: buffer
    integer :: n
    n = nint(min(max(seconds, 0.0_dp), 3.0e8_dp))
    write (buffer, '(i0,":",i2.2,":",i2.2)') n/3600, mod(n, 3600)/60, mod(n, 60)
    s = trim(buffer)
  end function Clock

end module watch_m
