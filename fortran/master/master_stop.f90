!> The end of a job before all is done: signals, the stop file, the deadline, workers that have to go, the time of grace.
module master_stop_m
  use workers_m, only: WorkersLeaves, WorkersOverstays
  use scheduler_m, only: SchedulerGone, SchedulerHalted, SchedulerLate
  use deadline_m, only: DeadlineKill, DeadlineMpirun
  use error_m, only: error_t
  use files_m, only: FileExists
  use host_c, only: host_resumed, host_seconds, host_signal, host_signal_name, host_terminator, host_terms
  use iso_c_binding, only: c_char, c_int
  use kinds_m, only: dp
  use log_m, only: LogInfo, LogWarn
  use lost_workers_m, only: LossesGiveUp
  use master_type_m, only: master_t, MasterStops
  use master_output_m, only: MasterOutputFails
  use protocol_m, only: message_t, MSG_DROP, MSG_LEAVE
  use runnote_m, only: cause_deadline, cause_launcher, cause_signal, cause_stop_file
  use store_m, only: StoreStopPath
  use text_m, only: Duration, FString, Str
  use progress_m, only: ProgressHalted, ProgressShow
  implicit none
  private
  public :: MasterCheckHalt, MasterCheckSignals, MasterCheckDeadline, MasterAllowLeave, MasterEndGrace

  real(dp), parameter :: LOOK = 0.1_dp         !< seconds between looks for a stop file
  real(dp), parameter :: HALT_LEAST = 2.0_dp   !< less is no halt: SIGCONT comes to processes that run, too [s]
  real(dp), parameter :: PRESSED = 2.0_dp     !< a further signal to end counts only so long after the first [s]

contains

  !> A batch system may suspend a job (SIGSTOP, SIGCONT) for hours: that says nothing of the speed of workers, and Slurm gives the
  !> job as much time more. To be called whenever this process has waited.
  subroutine MasterCheckHalt(self)
    class(master_t), intent(inout) :: self
    real(dp) :: now, halt
    logical :: resumed
    now = host_seconds()
    halt = now - self%awake
    resumed = host_resumed() /= self%resumed
    self%awake = now
    self%resumed = int(host_resumed())
    if (.not. resumed .or. halt < HALT_LEAST) return
    call LogInfo('rank 0 was stopped (SIGSTOP) for '//Duration(halt)//' and goes on')
    call SchedulerHalted(self%scheduler, halt, .not. self%survey%job%deadline > 0)
    call ProgressHalted(self%progress, halt)
  end subroutine MasterCheckHalt

  !> Looks for signals and the stop file, and shows progress.
  subroutine MasterCheckSignals(self)
    class(master_t), intent(inout) :: self
    character(:), allocatable :: limit
    real(dp) :: now
    integer :: terms
    call MasterCheckHalt(self)
    if (self%stopped < 0) then
      if (host_signal() /= 0) then
        if (DeadlineMpirun(int(host_terminator()))) then    ! which does so when a rank dies, too
          call AskedToStop(self, cause_launcher, SignalName(int(host_signal()))//' of mpirun')
        else
          call AskedToStop(self, cause_signal, SignalName(int(host_signal())))
        end if
      else if (StopFile(self)) then
        call AskedToStop(self, cause_stop_file, "stop file '"//StoreStopPath(self%survey%job%output)// &
                         "' found, remove it before the next run")
      end if
    else if (.not. self%workers%grace_ended) then
      now = host_seconds()
      terms = int(host_terms())
      self%workers%grace_ended = terms > self%term_signals .and. now - self%stopped > PRESSED
      if (self%workers%grace_ended) call LogInfo('another signal to end: shots in flight are given up')
      limit = ''
      if (.not. self%workers%grace_ended) call HeedLauncher(self, now, limit)
      if (limit /= '') call LogInfo('shots in flight have '//Str(self%stopped + self%grace - now, 3)//' s more to finish'//limit)
    end if
    call ProgressShow(self%progress, self%scheduler%parked)
  end subroutine MasterCheckSignals

  !> True where there is a stop file; it is looked for now and then.
  logical function StopFile(self) result(there)
    class(master_t), intent(inout) :: self
    real(dp) :: now
    now = host_seconds()
    there = .false.
    if (now - self%looked < LOOK) return
    self%looked = now
    there = FileExists(StoreStopPath(self%survey%job%output))
  end function StopFile

  !> Ends the dealing, and tells all workers to go.
  subroutine AskedToStop(self, cause, why)
    class(master_t), intent(inout) :: self
    character(*), intent(in) :: cause, why
    character(:), allocatable :: limit
    real(dp) :: left
    call MasterStops(self, cause, why)
    self%stopped = host_seconds()
    self%term_signals = int(host_terms())
    call WorkersLeaves(self%workers, self%stopped)
    limit = ''
    left = max(0.0_dp, self%scheduler%deadline - self%stopped)
    if (left < self%grace) limit = ', for then the job ends'
    self%grace = min(self%grace, left)
    call HeedLauncher(self, self%stopped, limit)
    call LogInfo(why//': no more shots are dealt; those in flight have '//Str(self%grace, 3)//' s to finish'//limit)
  end subroutine AskedToStop

  !> A launcher that ends a job sends SIGTERM and kills what is left soon after, whatever `grace` says: shots in flight are given up
  !> before, so that their states are kept and the journal is closed. `limit`: that, in words, if it is news.
  subroutine HeedLauncher(self, now, limit)
    class(master_t), intent(inout) :: self
    real(dp), intent(in) :: now
    character(:), allocatable, intent(inout) :: limit
    character(:), allocatable :: who
    real(dp) :: left
    integer :: sender
    sender = int(host_terminator())
    if (self%kill_announced .or. sender == 0) return
    self%kill_announced = .true.
    call DeadlineKill(sender, left, who)
    if (who == '' .or. now + left >= self%stopped + self%grace) return
    self%grace = now + left - self%stopped
    limit = ', for '//who
  end subroutine HeedLauncher

  !> No shot is dealt that would not be done at the deadline: the rest is for the next run.
  subroutine MasterCheckDeadline(self)
    class(master_t), intent(inout) :: self
    real(dp) :: now
    now = host_seconds()
    if (self%stopping .or. .not. SchedulerLate(self%scheduler, now)) return
    call LogInfo('no further shot would be done before the deadline, in '//Str(max(0.0_dp, self%scheduler%deadline - now), 3)// &
                 ' s: no more shots are dealt')
    call MasterStops(self, cause_deadline, 'no further shot would be done before the deadline')
  end subroutine MasterCheckDeadline

  !> 'signal 15 (SIGTERM)'
  function SignalName(number) result(s)
    integer, intent(in) :: number
    character(:), allocatable :: s
    character(kind=c_char, len=16) :: name
    call host_signal_name(int(number, c_int), len(name), name)
    s = 'signal '//Str(number)
    if (FString(name) /= '') s = s//' ('//FString(name)//')'
  end function SignalName

  !> A worker may leave before the end as long as another one stays. One that got a signal has to, whoever stays.
  subroutine MasterAllowLeave(self, worker, signal, reply)
    class(master_t), intent(inout) :: self
    integer, intent(in) :: worker, signal
    type(message_t), intent(inout) :: reply
    logical :: may
    integer :: i
    may = any(.not. (self%workers%going .or. self%workers%lost) .and. [(i, i=1, self%workers%n)] /= worker)
    if (signal > 0) then
      call MasterCheckSignals(self)                           ! most often all ranks got it
      if (.not. self%stopping) call LogWarn('worker '//Str(worker)//' on '//self%progress%host(worker)//' got '// &
                                            SignalName(signal)//': it finishes what it has and leaves')
      call WorkersLeaves(self%workers, host_seconds(), worker)
      may = .true.
    end if
    if (may) then
      self%workers%going(worker) = .true.
      call SchedulerGone(self%scheduler, worker)
    end if
    reply%kind = MSG_LEAVE
    reply%n(1) = merge(1, 0, may)
  end subroutine MasterAllowLeave

  !> The next worker whose time of grace is over: its shots are taken back, and it gets DROP for each, one a call.
  subroutine MasterEndGrace(self, reply, worker)
    class(master_t), intent(inout) :: self
    type(message_t), intent(inout) :: reply
    integer, intent(out), optional :: worker
    type(error_t), allocatable :: error
    integer :: w, i, slot
    do
      w = WorkersOverstays(self%workers, host_seconds(), self%grace)
      if (present(worker)) worker = w
      if (w == 0) return
      if (self%workers%grace_over(w)) return              ! MasterFindLost sees to it
      i = findloc(self%scheduler%dealt%worker, w, 1)
      if (i > 0) exit
      self%workers%grace_over(w) = .true.
      self%workers%leaves(w) = host_seconds()
    end do
    slot = self%scheduler%dealt(i)%slot
    call LossesGiveUp(self%scheduler, self%store, self%progress, w, slot, 'the time of grace is over', host_seconds(), &
                      error)
    if (allocated(error)) call MasterOutputFails(self, error)
    reply%kind = MSG_DROP
    reply%n(1:3) = [self%survey%keymap%record(slot), slot, merge(2, 1, self%store%taken)]   ! another run needs no state of it
  end subroutine MasterEndGrace

end module master_stop_m
