!> A writer killed at any moment loses no shot that its journal calls done, and the same command goes on until all are.
program t331_killed
  use check_m, only: Claim, Done
  use error_m, only: error_t
  use files_m, only: FileExists
  use host_c, only: host_nap
  use fio_m, only: fio_t, FioClose, FioCreate, FioOpen, FioPut, FioSync, FioVerify
  use gather_m, only: gather_t
  use journal_line_m, only: event_deal, event_done, event_start, event_stop, event_t
  use journal_m, only: journal_done, journal_t, JournalAppend, JournalClose, JournalOpen, JournalRead
  use kinds_m, only: dp, i8, sp
  use shot_m, only: shot_t
  use gather_header_m, only: gather_header_t
  use text_m, only: Str
  implicit none
  integer, parameter :: nshots = 60, nrec = 24, nt = 700
  character(*), parameter :: output = 'survey.nc', ledger = 'survey.journal'

  if (command_argument_count() == 1) then
    call Writer()
  else
    call Killer()
    call Done()
  end if

contains

  !> Kills the writer of a survey again and again, then lets it finish.
  subroutine Killer()
    character(4096) :: self
    integer :: status, kills, lost, after, survey
    call get_command_argument(0, self)
    lost = 0
    do survey = 1, 6                     ! another one where the machine was too busy to kill the writer in time
      call execute_command_line('rm -f '//output//' '//ledger)
      kills = 0
      after = 0
      call Starts14(trim(self), kills, after, lost)
      if (kills >= 3 .or. lost > 0) exit
    end do
    call Claim(lost == 0, Str(after)//' of '//Str(nshots)//' shots done after 14 starts, '//Str(kills)// &
      ' of them killed; shots lost: '//Str(lost)//', must be 0')
    call Claim(kills >= 3, 'at least 3 of them were killed at work: '//Str(kills))
    call execute_command_line("'"//trim(self)//"' write", exitstat=status)
    call Survivors(after, lost)
    call Claim(status == 0 .and. after == nshots .and. lost == 0, 'the last start finishes: '//Str(after)//' done, exit status '// &
      Str(status))
    call Once()
  end subroutine Killer

  !> Kills it some milliseconds after so and so many further lines of its journal, and checks what it left.
  subroutine Starts14(self, kills, after, lost)
    character(*), intent(in) :: self
    integer, intent(inout) :: kills, after, lost
    integer :: i, before, status
    do i = 1, 14
      before = after
      call execute_command_line('lines() { wc -l 2>/dev/null <'//ledger//' || echo 0; }; n=$(lines); '// &
        "'"//self//"' write & p=$!; while [ -e /proc/$p/exe ] && [ $(lines) -lt $((n + "//Str(modulo(i*5, 14))//' + 1)) ]; do :; done; '// &
        'sleep 0.00'//Str(modulo(i, 7))//'; kill -KILL $p; wait $p', exitstat=status)
      if (status == 137) kills = kills + 1
      call Survivors(after, lost)
      if (after < before) lost = lost + 1
    end do
  end subroutine Starts14

  !> Counts the shots done by the journal, and those among them that the file does not hold.
  subroutine Survivors(n, lost)
    integer, intent(out) :: n
    integer, intent(inout) :: lost
    type(error_t), allocatable :: error
    type(journal_t) :: journal
    type(fio_t) :: fio
    integer(i8) :: sum
    integer :: i
    n = 0
    if (FileExists(ledger)) call JournalRead(journal, ledger, error)
    if (allocated(error) .or. journal%done == 0) return
    call FioOpen(fio, output, error, 'killed', readonly=.true.)
    do i = 1, journal%n
      if (journal%entry(i)%status /= journal_done) cycle
      n = n + 1
      call FioVerify(fio, journal%entry(i)%record, sum, error)
      if (allocated(error) .or. sum /= journal%entry(i)%checksum) lost = lost + 1
      if (allocated(error)) deallocate (error)
    end do
    call FioClose(fio, error)
  end subroutine Survivors

  !> No shot is written twice: that one was found done is remembered over all the kills.
  subroutine Once()
    type(error_t), allocatable :: error
    type(journal_t) :: journal
    call JournalRead(journal, ledger, error)
    call Claim(all(journal%entry(:nshots)%deals >= 1) .and. journal%starts >= 4, Str(journal%starts)//' starts, '// &
      Str(sum(journal%entry(:nshots)%deals))//' deals for '//Str(nshots)//' shots')
    call Claim(sum(journal%entry(:nshots)%deals) - nshots <= journal%starts, 'at most one shot a kill is modelled again')
  end subroutine Once

  subroutine Stop1(error)
    type(error_t), allocatable, intent(in) :: error
    if (.not. allocated(error)) return
    call Claim(.false., 'writer: '//error%message)
    call Done()
  end subroutine Stop1

  !> The protocol of a run: journal, file, then for each shot to do: deal, put, sync, done.
  subroutine Writer()
    type(error_t), allocatable :: error
    type(journal_t) :: journal
    type(fio_t) :: fio
    type(gather_header_t) :: header
    type(shot_t) :: shot
    type(gather_t) :: gather
    integer(i8) :: checksum
    integer :: i
    header%record = [(i, i=1, nshots)]
    header%nrec_max = nrec
    header%nt = nt
    header%dt_out = 0.001_dp
    header%components = 'p'
    header%fingerprint = 'killed'
    call JournalOpen(journal, ledger, 'killed', header%record, .false., error)
    call Stop1(error)
    if (FileExists(output)) then
      call FioOpen(fio, output, error, 'killed')
    else
      call FioCreate(fio, output, header, .false., error)
    end if
    call Stop1(error)
    call JournalAppend(journal, event_t(event_start), 'h', '', error)
    do i = 1, nshots
      if (journal%entry(i)%status == journal_done) cycle
      call JournalAppend(journal, event_t(event_deal, i, journal%entry(i)%deals + 1, 1), 'h', '', error)
      call Model(i, shot, gather)
      call FioPut(fio, shot, gather, checksum, error)
      call FioSync(fio, error)
      call JournalAppend(journal, event_t(event_done, i, journal%entry(i)%deals, 1, checksum=checksum), 'h', '', error)
      call Stop1(error)
    end do
    call JournalAppend(journal, event_t(event_stop), 'h', '', error)
    call FioClose(fio, error)
    call JournalClose(journal)
    call Stop1(error)
  end subroutine Writer

  subroutine Model(record, shot, gather)
    integer, intent(in) :: record
    type(shot_t), intent(out) :: shot
    type(gather_t), intent(out) :: gather
    integer :: j
    shot%record = record
    shot%slot = record
    shot%rx = [(real(j, dp), j=1, nrec)]
    shot%ry = shot%rx
    shot%rz = shot%rx
    shot%channel = [(j, j=1, nrec)]
    gather%record = record
    gather%nrec = nrec
    gather%rx = shot%rx
    gather%rz = shot%rx
    allocate (gather%traces(nt, nrec, 1))
    call host_nap(0.006_dp)   ! so that the whole takes longer than most of the killed runs
    gather%traces(:, :, 1) = reshape([(sin(0.01_sp*j*record), j=1, nt*nrec)], [nt, nrec])
  end subroutine Model

end program t331_killed
