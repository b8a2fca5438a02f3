!> The actions of the master on each kind of message.
submodule(master_type_m) master_handle_m
  use scheduler_m, only: SchedulerGone, SchedulerReady
  use host_c, only: host_seconds
  use lent_memory_m, only: BorrowerOpen
  use log_m, only: LogInfo, LogKeep, LogWarn
  use master_workers_m, only: MasterReceiveProgress
  use master_deal_m, only: MasterDeal, MasterReplyFirst
  use master_output_m, only: MasterCommit, MasterReads, MasterReadSome, MasterRecover, MasterVerdict
  use master_stop_m, only: MasterAllowLeave, MasterCheckSignals, MasterEndGrace
  use master_model_m, only: MasterModelAgain, MasterSendModel
  use master_receive_m, only: MasterReceiveGather, MasterReceiveLost, MasterReceiveSnaps
  use output_pause_m, only: PauseKeep
  use protocol_m, only: MSG_BYE, MSG_DEAD, MSG_GATHER, MSG_LEAVE, MSG_LOST, MSG_MEMORY, MSG_MODEL, MSG_NONE, MSG_NOTE, &
                        MSG_PROGRESS, MSG_READY, MSG_SNAPS
  use progress_m, only: ProgressBye, ProgressReady
  use workers_m, only: WorkersEnded
  implicit none

contains

  module procedure MasterHandle
    integer :: rank
    logical :: took
    if (self%pause%on .and. any(message%kind == [MSG_GATHER, MSG_SNAPS, MSG_LOST])) then
      call PauseKeep(self%pause, message)
      call MasterCheckSignals(self)
      return
    end if
    select case (message%kind)
    case (MSG_READY)
      call ProgressReady(self%progress, int(message%n(1)), message%text)
      call SchedulerReady(self%scheduler, int(message%n(1)), message%n(2) == 1, int(message%n(3)), host_seconds(), &
                       message%x(1))
      self%rank(int(message%n(1))) = message%from
      call MasterDeal(self, message%from, int(message%n(1)), reply)
    case (MSG_MODEL)
      call MasterSendModel(self, message, reply)
    case (MSG_MEMORY)
      call BorrowerOpen(self%borrower, message, reply)
    case (MSG_GATHER)
      call MasterReceiveGather(self, message, reply)
    case (MSG_SNAPS)
      call MasterReceiveSnaps(self, message, reply)
    case (MSG_LOST)
      call MasterReceiveLost(self, message)
    case (MSG_PROGRESS)
      if (message%n(2) > 0) call MasterReceiveProgress(self, message, reply)
    case (MSG_NOTE)
      if (message%n(1) == 0) call LogWarn(message%text)
      if (message%n(1) == 1) call LogInfo(message%text)
      if (message%n(1) == 2) call LogKeep(message%text)
    case (MSG_LEAVE)
      call MasterAllowLeave(self, int(message%n(1)), int(message%n(2)), reply)
    case (MSG_NONE)
      call MasterCommit(self)
      took = MasterVerdict(self, rank, reply)
      if (.not. took) took = MasterRecover(self, rank, reply)
      if (.not. took) took = MasterModelAgain(self, rank, reply)
      if (.not. took) then
        call MasterEndGrace(self, reply)
        if (reply%kind == MSG_NONE .and. MasterReads(self)) call MasterReadSome(self)
        if (reply%kind == MSG_NONE) call MasterReplyFirst(self, reply)
      end if
    case (MSG_DEAD)
      if (all(self%peers%rank /= message%n(1))) call WorkersEnded(self%workers, int(message%n(1)), int(message%n(2)))
    case (MSG_BYE)
      self%workers%going(int(message%n(1))) = .true.
      self%workers%gone(int(message%n(1))) = .true.
      call SchedulerGone(self%scheduler, int(message%n(1)))
      call ProgressBye(self%progress, int(message%n(1)), message%x(1:3))
    end select
    call MasterCheckSignals(self)
  end procedure MasterHandle

end submodule master_handle_m
