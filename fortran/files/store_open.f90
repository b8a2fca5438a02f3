!> Opens output and journal as an earlier run of the same job left them, or makes both. Arguments stand in store.f90.
submodule(store_m) store_open
  use files_m, only: FileExists, FileHalvesRemove, FileRemove, FileSize, FileSpace, FileText
  use fio_m, only: FioCreate, FioOpen
  use fiocreate_m, only: FioBytes
  use grow_m, only: Grow
  use journal_line_m, only: event_start
  use journal_m, only: journal_done, JournalMark, JournalOpen
  use lock_m, only: LockTake
  use log_m, only: LogInfo, LogWarn
  use ours_m, only: OursCheck
  use parameter_changes_m, only: Changes
  use problems_m, only: problems_t, ProblemsRaise
  use snapshots_m, only: FioSnapshotsRemove
  use text_m, only: Counted, Str
  implicit none

contains

  module procedure StoreOpen
    character(:), allocatable :: log, mark
    type(error_t), allocatable :: ignored, taken
    type(gather_header_t) :: head
    type(problems_t) :: problems
    logical :: fresh, made, there
    log = StoreJournalPath(path)
    store%path = path
    store%host = host
    store%last_only = last_only
    call OursCheck(path, overwrite, problems)
    call ProblemsRaise(problems, "what lies beside '"//path//"'", error)
    fresh = .not. FileExists(log)
    if (FileExists(path) .and. fresh .and. .not. overwrite) call Fail(error, "'"//path//"' exists but its journal '"//log// &
      "' does not: restore it from a copy, let spl-merge keep the finished shots (inputs/running.md), set overwrite=y to start "// &
      'anew, or choose another output')
    call LockTake(store%lock, StoreLockPath(path), path, error)
    if (allocated(error)) return
    fresh = .not. FileExists(log)                   ! once more: the run that had the lock may have made its files meanwhile
    mark = ''
    there = FileExists(path)
    if (overwrite .or. .not. there) mark = JournalMark(log)        ! of what is forgotten, unless another run comes to it
    call FileHalvesRemove(path)
    if (there .and. .not. overwrite) call RefuseEmpty(path, log, error)
    head = header
    if (overwrite) call RefuseTooLarge(path, head, error)
    if (present(keymap)) store%redo = keymap%redo
    if (present(keymap) .and. .not. overwrite) call Grow(path, head, keymap, host, store%lock, error)
    made = .false.
    if (.not. allocated(error)) call OpenBoth(store, path, log, head, overwrite, mark, begun, made, error)
    if (.not. allocated(error)) return
    call CheckOurs(store, taken)                    ! what is there is another run's, if this one slept for long meanwhile
    fresh = fresh .and. .not. allocated(taken)
    if (allocated(taken)) call move_alloc(taken, error)
    call JournalClose(store%journal)
    call FioClose(store%fio, ignored)
    if (fresh .and. made) call FileRemove(path, ignored)
    if (fresh) call FileRemove(log, ignored)        ! nothing has begun
    call LockRelease(store%lock)
  end procedure StoreOpen

  !> The journal's first line is on the disk before the output is: one without any beside an output has lost what it said.
  subroutine RefuseEmpty(path, log, error)
    character(*), intent(in) :: path, log
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: text
    call FileText(log, text, error)
    if (allocated(error)) return
    if (index(text, new_line('a')) == 0) call Fail(error, "'"//path//"' exists but its journal '"//log// &
      "' is empty: restore it from a copy, let spl-merge keep the finished shots (inputs/running.md), set overwrite=y to start "// &
      'anew, or choose another output')
  end subroutine RefuseEmpty

  !> A new output must have room once the old one is gone; the old one stays where there is none.
  subroutine RefuseTooLarge(path, header, error)
    character(*), intent(in) :: path
    type(gather_header_t), intent(in) :: header
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: need, free
    integer(i8) :: old
    if (allocated(error)) return
    if (.not. FileExists(path)) return
    need = FioBytes(header, error)
    call FileSize(path, old, error)
    free = FileSpace(path)
    if (allocated(error) .or. free < 0) return
    free = free + real(old, dp)
    if (need > free) call Fail(error, "'"//path//"' needs "//Str(need/1e6_dp, 4)//' MB of disk, '//Str(free/1e6_dp, 4)// &
      ' MB are free beside and by the one that overwrite=y would replace, which is kept: choose a larger disk, or fewer samples')
  end subroutine RefuseTooLarge

  !> True where a run was ended between the first line of its journal and its output: whatever its job was, nothing stands there.
  logical function NothingBegun(path, log)
    character(*), intent(in) :: path, log
    type(error_t), allocatable :: error
    character(:), allocatable :: text
    NothingBegun = .not. FileExists(path)
    if (.not. NothingBegun) return
    call FileText(log, text, error)
    NothingBegun = .not. allocated(error)
    if (NothingBegun) NothingBegun = index(text, new_line('a')) == len(text)
  end function NothingBegun

  !> Opens the journal first, then the output, or makes it.
  subroutine OpenBoth(store, path, log, header, overwrite, mark, begun, made, error)
    type(store_t), intent(inout) :: store
    character(*), intent(in) :: path, log
    type(gather_header_t), intent(in) :: header
    logical, intent(in) :: overwrite
    character(*), intent(in) :: mark            !< of the journal, where it is to be forgotten
    character(*), intent(in), optional :: begun
    logical, intent(out) :: made                !< the output is new
    type(error_t), allocatable, intent(inout) :: error
    type(gather_header_t) :: head
    character(:), allocatable :: note
    logical :: anew
    note = ''
    if (present(begun)) note = begun
    made = .false.
    anew = NothingBegun(path, log)
    anew = anew .or. overwrite
    call CheckOurs(store, error)
    call JournalOpen(store%journal, log, header%fingerprint, header%record, anew, error, mark)
    call TellChanges(store, path, header, error)
    call CheckOurs(store, error)
    if (allocated(error)) return
    if (overwrite) call RemoveOutput(path, error)   ! after the journal: a kill in between leaves nothing that promises shots
    if (FileExists(path)) then
      call FioOpen(store%fio, path, error, header%fingerprint)
      call CompareNavigation(store%fio, header%navigation, error)
    else if (store%journal%done > 0) then
      call Fail(error, "the journal '"//log//"' tells of "//Counted(store%journal%done, 'finished shot')// &
                ", but the output '"//path//"' is gone: put it back, or set overwrite=y to start anew")
    else
      call CheckOurs(store, error)
      if (allocated(error)) return
      head = header
      if (store%journal%grown > 0) call head%add('grown', store%journal%grown)    ! of one time with its journal, see grow.f90
      call FioCreate(store%fio, path, head, .false., error, made)
    end if
    if (allocated(error)) return
    store%done = store%journal%entry(:store%journal%n)%status == journal_done
    call CheckOurs(store, error)                    ! what is noted from here on is of what was read
    call CompareStatus(store, error)
    call Redo(store, error)
    call CheckOurs(store, error)
    call JournalAppend(store%journal, event_t(event_start), store%host, note, error)
    if (any(store%done) .and. .not. allocated(error)) call LogInfo(Counted(count(store%done), 'shot is', 'shots are')// &
                                                                   ' done already; '//Str(count(store%unread))// &
                                                                   ' of them are read and verified')
  end subroutine OpenBoth

  !> One file has one navigation, which grow.f90 has seen to where there is a key-map. An output from before there was any goes on
  !> without it.
  subroutine CompareNavigation(fio, navigation, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: navigation
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    if (fio%navigation == navigation) return
    if (fio%navigation == '') then
      call LogWarn("'"//fio%path//"' was begun without navigation and goes on without it: its map coordinates and shot points "// &
                   'stay in the key-map alone (overwrite=y begins anew with them)')
    else
      call Fail(error, "'"//fio%path//"' holds another navigation of its shots than the key-map: repeat the job with the "// &
                'key-map that made it, or set overwrite=y to start anew')
    end if
  end subroutine CompareNavigation

  !> Removes the output and its snapshots, which beside new gathers would pass for theirs. The output goes last: after a run that is
  !> killed in between, the next one still asks for overwrite=y.
  subroutine RemoveOutput(path, error)
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    integer :: films
    call FioSnapshotsRemove(path, films, error)
    if (.not. allocated(error)) call FileRemove(path, error)
    if (films > 0 .and. .not. allocated(error)) call LogInfo('removed with the old output: '//Str(films)//' file(s) of snapshots')
  end subroutine RemoveOutput

  !> To the refusal of a journal of another job: what is other here, by the parameters that the last run kept and by what the
  !> fingerprint KEY-MAP-MODEL-SCHEME is made of.
  subroutine TellChanges(store, path, header, error)
    type(store_t), intent(in) :: store
    character(*), intent(in) :: path
    type(gather_header_t), intent(in) :: header
    type(error_t), allocatable, intent(inout) :: error
    character(*), parameter :: parts(3) = [character(10) :: 'key-map', 'model', 'parameters']
    type(error_t), allocatable :: none
    character(:), allocatable :: before, what, list
    character(16) :: was(3), is(3)
    integer :: i
    if (.not. allocated(error) .or. .not. allocated(store%journal%fingerprint)) return
    if (store%journal%fingerprint == header%fingerprint) return
    was = Parted(store%journal%fingerprint)
    is = Parted(header%fingerprint)
    what = ''
    do i = 1, 3
      if (was(i) /= is(i)) what = what//', '//trim(parts(i))
    end do
    error%message = error%message//'; other here: '//what(3:)
    call FileText(SidePath(path, 'par'), before, none)
    if (allocated(none) .or. .not. allocated(header%attribute)) return
    list = ''
    do i = 1, size(header%attribute)
      if (header%attribute(i)%name == 'parameters') list = Changes(before, header%attribute(i)%text)
    end do
    if (list == '' .and. was(3) /= is(3)) list = 'all as before: then a wavelet or fault file, or the program'
    if (index(list, 'all as before') == 1 .and. was(2) /= is(2)) list = 'given as before; the time step follows from the model'
    if (list /= '') error%message = error%message//' ('//list//')'
  end subroutine TellChanges

  !> The three parts of a fingerprint; what stands behind the third counts to it.
  pure function Parted(fingerprint) result(part)
    character(*), intent(in) :: fingerprint
    character(16) :: part(3)
    integer :: first, second
    first = index(fingerprint//'-', '-')
    second = first + index(fingerprint(min(first, len(fingerprint)) + 1:)//'-', '-')
    part(1) = fingerprint(:first - 1)
    part(2) = fingerprint(first + 1:second - 1)
    part(3) = fingerprint(second + 1:)
  end function Parted

end submodule store_open
