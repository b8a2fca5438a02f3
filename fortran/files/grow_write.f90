!> The new output of a survey that has grown, and its journal. Arguments stand in grow.f90.
submodule(grow_m) grow_write
  use fiocreate_m, only: FioCreate
  use fioget_m, only: FioChecksums
  use fioput_m, only: FioNavigate, FioSeal
  use fiotake_m, only: FioTake
  use clock_m, only: ClockSeconds, ClockText
  use files_m, only: FileHalf, FileRemove, FileRename, FileWrite
  use journal_m, only: JournalGrown
  use keymap_m, only: KeymapNavigate, KeymapShot
  use kinds_m, only: i8
  use lock_m, only: LockLost
  use path_c, only: path_file_by_link, path_kind
  use shot_m, only: shot_t
  use snapshots_m, only: FioSnapshotsDrop
  use text_m, only: Counted, CString
  use version_m, only: VersionText
  implicit none

contains

  module procedure Words_
    text = ''
    if (.not. allocated(growth%from)) then
      text = 'there is one of other parameters, or of another model, and a run refuses to go on with it: give overwrite=y to '// &
             'start anew, or another output'
      return
    end if
    text = Str(growth%kept)//' of '//Str(n)//' shots are finished and kept'
    if (growth%added > 0) text = text//', '//Str(growth%added)//' are added'
    if (growth%again > 0) text = text//', '//Str(growth%again)//' are modelled again'
    if (growth%dropped > 0) text = text//', '//Str(growth%dropped)//' unfinished ones are dropped'
    if (growth%moves) text = text//'; a new file takes the finished ones over before it replaces this one'
  end procedure Words_

  module procedure Write
    type(error_t), allocatable :: ignored
    type(gather_header_t) :: head
    type(fio_t) :: new
    logical, allocatable :: taken(:)
    integer(i8), allocatable :: checksum(:), run_checksum(:)
    character(:), allocatable :: half
    call RefuseLinks(path, error)
    if (allocated(error)) return
    half = FileHalf(path)
    head = header
    call Describe(head, growth)
    call LogInfo("the key-map of '"//path//"' has changed: "//Words_(growth, keymap%n))
    call FioCreate(new, half, head, .true., error)
    if (header%navigation /= '') call PutNavigation(new, keymap, growth%from, error)
    call FioClose(new, error)
    if (.not. allocated(error)) call FioTake(growth%old, new, growth%from, Checksums(growth), taken, checksum, run_checksum, error)
    if (.not. allocated(error)) call FioOpen(new, half, error, header%fingerprint)
    if (.not. allocated(error)) call FioSeal(new, taken, checksum, run_checksum, error)
    call FioClose(new, error)
    call MustBeOurs(path, growth, lock, error)
    if (.not. allocated(error)) call DropSnapshots(path, keymap, growth, error)
    call MustBeOurs(path, growth, lock, error)
    call FioClose(growth%old, ignored)
    if (.not. allocated(error)) call FileRename(half, path, error)
    if (allocated(error)) call FileRemove(half, ignored)
  end procedure Write

  !> Fails once another run has the lock, or had it, if this one slept for long: then the journal is not the one that was read.
  subroutine MustBeOurs(path, growth, lock, error)
    character(*), intent(in) :: path
    type(growth_t), intent(in) :: growth
    type(lock_t), intent(inout) :: lock
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: text
    logical :: taken
    if (allocated(error)) return
    taken = LockLost(lock)
    if (.not. taken) call FileText(SidePath(path, 'journal'), text, error)
    if (allocated(error)) return
    if (.not. taken) taken = len(text, i8) /= len(growth%text, i8)
    if (.not. taken) taken = text /= growth%text
    if (taken) call Fail(error, 'another run has taken it over')
  end subroutine MustBeOurs

  !> A link would be replaced by a file beside it, on another disk perhaps.
  subroutine RefuseLinks(path, error)
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    integer :: kind(2)
    kind = [path_kind(CString(path)), path_kind(CString(SidePath(path, 'journal')))]
    if (any(kind == path_file_by_link)) &
      call Fail(error, "'"//path//"' or its journal is a link, and growing makes new files: give the output by the name of the "// &
                'file itself')
  end subroutine RefuseLinks

  subroutine Describe(head, growth)
    type(gather_header_t), intent(inout) :: head
    type(growth_t), intent(in) :: growth
    character(:), allocatable :: history, by
    associate (old => growth%old)
      by = FioAttribute(old, 'source')
      history = FioAttribute(old, 'history')
      if (history /= '') history = history//new_line('a')
      history = history//ClockText(ClockSeconds())//' '//VersionText()//': grown from '//Str(old%nshots)//' to '// &
                Counted(size(head%record), 'shot')//', '//Str(growth%kept)//' finished ones taken over, by '//by
      call head%add('grown', old%grown + 1)
      call head%add('grown_from', growth%journal%fingerprint)
      call head%add('history', history)
    end associate
  end subroutine Describe

  subroutine PutNavigation(new, keymap, from, error)
    type(fio_t), intent(inout) :: new
    type(keymap_t), intent(in) :: keymap
    integer, intent(in) :: from(:)
    type(error_t), allocatable, intent(inout) :: error
    type(shot_t) :: shot
    integer :: i
    do i = 1, size(from)
      if (allocated(error)) return
      if (from(i) == 0) cycle
      call KeymapShot(keymap, i, shot)
      call KeymapNavigate(keymap, i, shot)
      call FioNavigate(new, shot, error)
    end do
  end subroutine PutNavigation

  !> The journal's checksums of the shots that are kept, by their new slots.
  pure function Checksums(growth) result(checksum)
    type(growth_t), intent(in) :: growth
    integer(i8) :: checksum(size(growth%from))
    integer :: i
    checksum = 0
    do i = 1, size(growth%from)
      if (growth%from(i) == 0) cycle
      checksum(i) = growth%journal%entry(JournalFind(growth%journal, growth%old%record(growth%from(i))))%checksum
    end do
  end function Checksums

  !> Removes the snapshots of shots that are to be modelled again: beside new gathers they would pass for theirs.
  subroutine DropSnapshots(path, keymap, growth, error)
    character(*), intent(in) :: path
    type(keymap_t), intent(in) :: keymap
    type(growth_t), intent(in) :: growth
    type(error_t), allocatable, intent(inout) :: error
    integer :: i, entry
    do i = 1, keymap%n
      if (growth%from(i) > 0) cycle
      entry = JournalFind(growth%journal, keymap%record(i))
      if (entry == 0) cycle
      if (growth%journal%entry(entry)%status == journal_done) call FioSnapshotsDrop(path, keymap%record(i), error)
    end do
  end subroutine DropSnapshots

  module procedure Follow
    integer, allocatable :: status(:)
    integer(i8), allocatable :: checksum(:)
    type(error_t), allocatable :: ignored
    character(:), allocatable :: note, text, half
    integer :: i, entry, kept
    call RefuseLinks(path, error)
    call FioStatus(growth%old, status, error)
    call FioChecksums(growth%old, checksum, error)
    if (allocated(error)) return
    associate (old => growth%old, journal => growth%journal)
      kept = 0
      do i = 1, old%nshots
        entry = JournalFind(journal, old%record(i))
        if (entry == 0) cycle
        if (journal%entry(entry)%status == journal_done .and. status(i) == fio_done) kept = kept + 1
      end do
      note = 'from '//Str(journal%nshots)//' to '//Counted(old%nshots, 'shot')//' on '// &
             ClockText(ClockSeconds())//', '//Str(kept)//' finished ones taken over'
      text = JournalGrown(journal, growth%text, FioAttribute(old, 'fingerprint'), old%record, status == fio_done, checksum, host, &
                          note)
      half = FileHalf(SidePath(path, 'journal'))
      call FileWrite(half, text, error)
      call MustBeOurs(path, growth, lock, error)
      if (.not. allocated(error)) call FileRename(half, SidePath(path, 'journal'), error)
      if (allocated(error)) call FileRemove(half, ignored)
    end associate
  end procedure Follow

end submodule grow_write
