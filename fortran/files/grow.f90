!> A survey grows: the key-map of an output was changed since. Shots that are finished and unchanged are kept; whatever would change
!> one silently is refused by its record number. Where slots move, a new file takes the finished shots over.
!>
!> Output and journal change in this order, so that a kill at any moment loses nothing:
!>
!>   1. The new output is made under a temporary name: its slots, the finished shots with their checksums, all of it synced. It says
!>      how often the survey has `grown`. The old output and the journal are untouched.
!>   2. It is renamed to the name of the output. Now it is one `grown` ahead of the journal.
!>   3. The journal follows: a new one, made of the lines of the old one and of what the output holds, is renamed to its name. It
!>      has a line `grow` for each time. Until then nothing else is written; a run that finds the output ahead does this first.
module grow_m
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use error_m, only: AddContext, error_t, Fail
  use fiocreate_m, only: FioCreate
  use fiofile_m, only: fio_done, fio_t, FioAttribute, FioClose, FioOpen, words
  use fioget_m, only: FioChecksums, FioLines, FioShot, FioStatus
  use fioput_m, only: FioNavigate, FioSeal
  use fiotake_m, only: FioTake
  use files_m, only: ClockSeconds, ClockText, FileExists, FileHalf, FileRemove, FileRename, FileText, FileWrite
  use gather_header_m, only: gather_header_t
  use journal_m, only: journal_done, journal_t, JournalFind, JournalGrown, JournalHead, JournalRead
  use keymap_m, only: keymap_t, KeymapFind, KeymapNavigate, KeymapShot
  use kinds_m, only: dp, i8
  use lock_m, only: lock_t, LockLost
  use log_m, only: LogInfo
  use path_c, only: path_file_by_link, path_kind
  use problems_m, only: ProblemAdd, problems_t, ProblemsRaise
  use shot_m, only: shot_t
  use sides_m, only: SidePath
  use snapshots_m, only: FioSnapshotsDrop
  use sort_m, only: SortFind
  use text_m, only: CString, Str
  use version_m, only: VersionText
  implicit none
  private
  public :: Grow, GrowForetell, GrowWords

  real(dp), parameter :: same = 1.0e-6_dp     !< positions that differ by less are the same [m]: they change no trace

  !> The change that a key-map makes to an output.
  type :: growth_t
    type(fio_t) :: old
    type(journal_t) :: journal
    character(:), allocatable :: text         !< of the journal
    character(:), allocatable :: fingerprint  !< of the journal
    integer :: grown = 0                      !< how often by the journal
    logical :: other = .false.                !< the key-map is another one than before
    logical :: moves = .false.                !< a new file is needed
    integer, allocatable :: from(:)           !< slot of the old file that is kept, 0 = none, (shots)
    integer :: done = 0                       !< finished shots
    integer :: kept = 0, added = 0, again = 0, dropped = 0   !< shots; dropped: unfinished ones that are in the key-map no more
  end type growth_t

contains

  !> Brings output and journal to the key-map of this job, whose lock is held. On return they are those of `header`, which may have
  !> got their fingerprints, or nothing has changed. Whatever else is wrong with them is left to those who open them. `host`: this
  !> one.
  subroutine Grow(path, header, keymap, host, lock, error)
    character(*), intent(in) :: path, host
    type(gather_header_t), intent(inout) :: header
    type(keymap_t), intent(in) :: keymap
    type(lock_t), intent(inout) :: lock
    type(error_t), allocatable, intent(inout) :: error
    type(growth_t) :: growth
    type(error_t), allocatable :: ignored
    logical :: there
    if (allocated(error)) return
    call Look(path, growth, there)
    if (there) there = InStep(path, growth, error)
    if (there) there = growth%old%grown > growth%grown .or. Other(growth, header)
    if (there) call Read(path, growth, there)
    if (there .and. growth%journal%running) &
      call Fail(error, "'"//SidePath(path, 'journal')//"' is in use by another run: wait for it, or choose another output")
    if (there .and. growth%old%grown > growth%grown) then
      call Follow(path, growth, host, error)
      call Look(path, growth, there)
      if (there) call Read(path, growth, there)
    end if
    if (there .and. .not. allocated(error)) call Compare(path, header, keymap, growth, error)
    if (there .and. growth%other .and. .not. allocated(error)) then
      if (growth%moves) then
        call Write(path, header, keymap, growth, lock, error)
        call AddContext(error, "'"//path//"' cannot grow, and is as it was")
        if (.not. allocated(error)) call Look(path, growth, there)
        if (.not. allocated(error)) call Follow(path, growth, host, error)
      else
        header%fingerprint = growth%fingerprint
        header%navigation = growth%old%navigation
        call LogInfo("'"//path//"' has the shots of this key-map, in other words, and is left as it is")
      end if
    end if
    call FioClose(growth%old, ignored)
  end subroutine Grow

  !> Tells what a run of this job would do with the output, for `plan`: in words, '' where there is no output, or none of this job.
  !> Nothing is written. Fails as the run would.
  subroutine GrowForetell(path, header, keymap, text, error)
    character(*), intent(in) :: path
    type(gather_header_t), intent(in) :: header
    type(keymap_t), intent(in) :: keymap
    character(:), allocatable, intent(out) :: text
    type(error_t), allocatable, intent(inout) :: error
    type(growth_t) :: growth
    type(error_t), allocatable :: ignored
    logical :: there
    text = ''
    call Look(path, growth, there)
    if (there) there = InStep(path, growth, error)
    if (there) call Read(path, growth, there)
    if (there) call Compare(path, header, keymap, growth, error)
    if (there .and. .not. allocated(error)) text = Words_(growth, keymap%n)
    call FioClose(growth%old, ignored)
  end subroutine GrowForetell

  pure function Words_(growth, n) result(text)
    type(growth_t), intent(in) :: growth
    integer, intent(in) :: n
    character(:), allocatable :: text
    text = ''
    if (.not. allocated(growth%from)) return
    text = Str(growth%kept)//' of '//Str(n)//' shots are finished and kept'
    if (growth%added > 0) text = text//', '//Str(growth%added)//' are added'
    if (growth%again > 0) text = text//', '//Str(growth%again)//' are modelled again'
    if (growth%dropped > 0) text = text//', '//Str(growth%dropped)//' unfinished ones are dropped'
    if (growth%moves) text = text//'; a new file takes the finished ones over before it replaces this one'
  end function Words_

  !> The last growth in words for `status`, '' if there was none: from the note of the journal's line `grow`.
  pure function GrowWords(journal) result(text)
    type(journal_t), intent(in) :: journal
    character(:), allocatable :: text
    text = ''
    if (journal%grown > 0) text = 'grown '//Str(journal%grown)//' time(s), last '//journal%growth
  end function GrowWords

  ! --- looking -------------------------------------------------------------------------------------------------------

  !> Opens the output and looks at the head of the journal. `there`: both are, and can be read.
  subroutine Look(path, growth, there)
    character(*), intent(in) :: path
    type(growth_t), intent(inout) :: growth
    logical, intent(out) :: there
    type(error_t), allocatable :: fault
    there = FileExists(path)
    if (there) there = FileExists(SidePath(path, 'journal'))
    if (.not. there) return
    call FileText(SidePath(path, 'journal'), growth%text, fault)
    call FioOpen(growth%old, path, fault, readonly=.true.)
    call JournalHead(growth%text, growth%fingerprint, growth%grown)
    there = .not. allocated(fault)
  end subroutine Look

  !> Reads the journal.
  subroutine Read(path, growth, there)
    character(*), intent(in) :: path
    type(growth_t), intent(inout) :: growth
    logical, intent(out) :: there
    type(error_t), allocatable :: fault
    call JournalRead(growth%journal, SidePath(path, 'journal'), fault, growth%old%record)
    there = .not. allocated(fault)
  end subroutine Read

  !> True where output and journal are of one survey, be the output one step ahead.
  logical function InStep(path, growth, error)
    character(*), intent(in) :: path
    type(growth_t), intent(in) :: growth
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: of
    associate (grown => growth%old%grown)
      of = FioAttribute(growth%old, 'fingerprint')
      if (grown == growth%grown + 1) of = FioAttribute(growth%old, 'grown_from')
      InStep = of == growth%fingerprint .and. (grown == growth%grown .or. grown == growth%grown + 1)
      if (.not. InStep .and. grown /= growth%grown) call Fail(error, "'"//path//"' has grown "//Str(grown)// &
        ' time(s), its journal '//Str(growth%grown)//': they are not of one time; put the journal or the output that belongs '// &
        'to the other back, or set overwrite=y to start anew')
    end associate
  end function InStep

  !> True where the key-map is another one than that of the output, or its navigation is.
  pure logical function Other(growth, header)
    type(growth_t), intent(in) :: growth
    type(gather_header_t), intent(in) :: header
    Other = growth%fingerprint /= header%fingerprint .or. &
            (growth%old%navigation /= '' .and. growth%old%navigation /= header%navigation)
  end function Other

  ! --- comparing -----------------------------------------------------------------------------------------------------

  !> Compares the finished shots of the output with the key-map. Without a word where model or parameters are others.
  subroutine Compare(path, header, keymap, growth, error)
    character(*), intent(in) :: path
    type(gather_header_t), intent(in) :: header
    type(keymap_t), intent(in) :: keymap
    type(growth_t), intent(inout) :: growth
    type(error_t), allocatable, intent(inout) :: error
    character(words), allocatable :: names(:)
    type(problems_t) :: problems
    integer, allocatable :: status(:)
    integer :: slot, at, entry
    logical :: equal
    associate (old => growth%old, journal => growth%journal)
      if (allocated(error)) return
      if (Physics(journal%fingerprint) /= Physics(header%fingerprint)) return
      growth%other = Other(growth, header)
      call FioLines(old, names, error)
      call FioStatus(old, status, error)
      if (growth%other) call CompareMaps(old, header, problems)
      allocate (growth%from(keymap%n), source=0)
      do slot = 1, old%nshots
        if (allocated(error)) return
        at = KeymapFind(keymap, old%record(slot))
        entry = JournalFind(journal, old%record(slot))
        if (entry > 0) then
          if (journal%entry(entry)%status /= journal_done .or. status(slot) /= fio_done) entry = 0
        end if
        if (entry > 0) growth%done = growth%done + 1
        if (at == 0 .and. entry == 0) growth%dropped = growth%dropped + 1
        if (entry == 0) cycle
        if (at == 0) then
          if (growth%other) call ProblemAdd(problems, 'shot record '//Str(old%record(slot))//" is finished in '"//path// &
            "', but is not to be modelled by "//keymap%path//' any more: give its line back; for a file without it choose '// &
            'another output, or let spl-split make one')
        else if (keymap%redo(at) > journal%entry(entry)%redo) then
          growth%again = growth%again + 1
        else
          if (growth%other) call CompareShot(path, old, slot, names, header, keymap, at, problems, error)
          growth%from(at) = slot
          growth%kept = growth%kept + 1
        end if
      end do
      do at = 1, keymap%n
        if (SortFind(old%record, keymap%record(at)) == 0) growth%added = growth%added + 1
      end do
      equal = size(header%record) == old%nshots .and. header%nrec_max == old%nrec_max
      if (equal) equal = all(header%record == old%record)
      if (equal) equal = journal%fingerprint == header%fingerprint .or. growth%kept == keymap%n
      if (equal .and. growth%other) equal = SameLines(old, header, names)
      growth%moves = growth%other .and. .not. equal
      call ProblemsRaise(problems, "the key-map, which would change finished shots of '"//path//"'", error)
    end associate
  end subroutine Compare

  !> A fingerprint without that of the key-map.
  pure function Physics(fingerprint) result(part)
    character(*), intent(in) :: fingerprint
    character(:), allocatable :: part
    part = fingerprint(index(fingerprint, '-') + 1:)
  end function Physics

  !> All shots of a file lie on one map.
  subroutine CompareMaps(old, header, problems)
    type(fio_t), intent(in) :: old
    type(gather_header_t), intent(in) :: header
    type(problems_t), intent(inout) :: problems
    character(*), parameter :: what(2) = [character(15) :: 'navigation_crs', 'navigation_rule']
    character(:), allocatable :: was, is
    integer :: i
    if (old%navigation == '') return
    if (header%navigation == '') then
      call ProblemAdd(problems, "'"//old%path//"' holds the navigation of its shots (map coordinates, shot points), the key-map"// &
                      ' has none any more: give its line navigation back, or choose another output')
      return
    end if
    do i = 1, size(what)
      was = FioAttribute(old, trim(what(i)))
      is = Text(header, trim(what(i)))
      if (was /= is) call ProblemAdd(problems, "'"//old%path//"' has "//trim(what(i))//" '"//was//"', the key-map '"//is// &
                              "': one survey has one map; give its line navigation back, or choose another output")
    end do
  end subroutine CompareMaps

  !> The text of an attribute of the header, '' if there is none.
  pure function Text(header, name)
    type(gather_header_t), intent(in) :: header
    character(*), intent(in) :: name
    character(:), allocatable :: Text
    integer :: i
    Text = ''
    do i = 1, size(header%attribute)
      if (header%attribute(i)%name == name) Text = header%attribute(i)%text
    end do
  end function Text

  pure logical function SameLines(old, header, names) result(equal)
    type(fio_t), intent(in) :: old
    type(gather_header_t), intent(in) :: header
    character(*), intent(in) :: names(:)
    equal = (old%navigation == '') .eqv. (header%navigation == '')
    if (.not. equal .or. old%navigation == '') return
    equal = max(1, size(header%line)) == size(names)
    if (equal .and. size(header%line) > 0) equal = all(header%line == names)
  end function SameLines

  !> A finished shot, of slot `slot`, must be what the key-map says of its shot `at`.
  subroutine CompareShot(path, old, slot, names, header, keymap, at, problems, error)
    character(*), intent(in) :: path, names(:)
    type(fio_t), intent(in) :: old
    type(gather_header_t), intent(in) :: header
    type(keymap_t), intent(in) :: keymap
    integer, intent(in) :: slot, at
    type(problems_t), intent(inout) :: problems
    type(error_t), allocatable, intent(inout) :: error
    type(shot_t) :: was, is
    character(:), allocatable :: what
    call FioShot(old, slot, was, error)
    if (allocated(error)) return
    call KeymapShot(keymap, at, is)
    what = Geometry(was, is)
    if (what == '' .and. old%navigation /= '' .and. header%navigation /= '') then
      call KeymapNavigate(keymap, at, is)
      what = Navigation(was, is, names, header%line)
    end if
    if (what /= '') call ProblemAdd(problems, 'shot record '//Str(is%record)//" is finished in '"//path//"' with "//what//' in '// &
      keymap%path//': give its line back as it was, mark it redo to model it again, or choose another output')
  end subroutine CompareShot

  !> The first difference in words, 'source x 640 m, which is 650 m'; '' if there is none.
  function Geometry(was, is) result(what)
    type(shot_t), intent(in) :: was, is
    character(:), allocatable :: what
    integer :: r
    what = ''
    call Differ('source x', was%sx, is%sx, ' m', what)
    call Differ('source y', was%sy, is%sy, ' m', what)
    call Differ('source z', was%sz, is%sz, ' m', what)
    if (what == '' .and. size(was%rx) /= size(is%rx)) what = Str(size(was%rx))//' receivers, which are '//Str(size(is%rx))
    if (what /= '') return
    do r = 1, size(was%rx)
      if (was%channel(r) /= is%channel(r)) what = 'receiver '//Str(r)//' as channel '//Str(was%channel(r))//', which is '// &
                                                  Str(is%channel(r))
      call Differ('x of channel '//Str(is%channel(r)), was%rx(r), is%rx(r), ' m', what)
      call Differ('y of channel '//Str(is%channel(r)), was%ry(r), is%ry(r), ' m', what)
      call Differ('z of channel '//Str(is%channel(r)), was%rz(r), is%rz(r), ' m', what)
      if (what /= '') return
    end do
  end function Geometry

  !> The same of navigation. `before`, `now`: names of lines.
  function Navigation(was, is, before, now) result(what)
    type(shot_t), intent(in) :: was, is
    character(*), intent(in) :: before(:), now(:)
    character(:), allocatable :: what
    integer :: r
    what = ''
    associate (w => was%navigation, i => is%navigation)
      call Differ('easting of the source', w%e, i%e, ' m', what)
      call Differ('northing of the source', w%n, i%n, ' m', what)
      call Differ('height of the source', w%h, i%h, ' m', what)
      call Differ('shot point', w%point, i%point, '', what)
      call DifferLine('line of the source', Name(before, w%line), Name(now, i%line), what)
      do r = 1, size(w%re)
        if (what /= '') return
        call Differ('easting of channel '//Str(is%channel(r)), w%re(r), i%re(r), ' m', what)
        call Differ('northing of channel '//Str(is%channel(r)), w%rn(r), i%rn(r), ' m', what)
        call Differ('height of channel '//Str(is%channel(r)), w%rh(r), i%rh(r), ' m', what)
        call Differ('station of channel '//Str(is%channel(r)), w%station(r), i%station(r), '', what)
        call DifferLine('line of channel '//Str(is%channel(r)), Name(before, w%rline(r)), Name(now, i%rline(r)), what)
      end do
    end associate
  end function Navigation

  pure function Name(names, number)
    character(*), intent(in) :: names(:)
    integer, intent(in) :: number
    character(:), allocatable :: Name
    Name = ''
    if (number >= 1 .and. number <= size(names)) Name = trim(names(number))
  end function Name

  subroutine Differ(title, was, is, unit, what)
    character(*), intent(in) :: title, unit
    real(dp), intent(in) :: was, is
    character(:), allocatable, intent(inout) :: what
    if (what /= '' .or. abs(was - is) <= same .or. (ieee_is_nan(was) .and. ieee_is_nan(is))) return
    what = title//' '//Str(was, 11)//unit//', which is '//Str(is, 11)//unit
  end subroutine Differ

  subroutine DifferLine(title, was, is, what)
    character(*), intent(in) :: title, was, is
    character(:), allocatable, intent(inout) :: what
    if (what == '' .and. was /= is) what = title//" '"//was//"', which is '"//is//"'"
  end subroutine DifferLine

  ! --- writing -------------------------------------------------------------------------------------------------------

  !> Steps 1 and 2.
  subroutine Write(path, header, keymap, growth, lock, error)
    character(*), intent(in) :: path
    type(gather_header_t), intent(in) :: header
    type(keymap_t), intent(in) :: keymap
    type(growth_t), intent(inout) :: growth
    type(lock_t), intent(inout) :: lock
    type(error_t), allocatable, intent(inout) :: error
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
    if (.not. allocated(error)) call DropSnapshots(path, keymap, growth, error)
    if (.not. allocated(error)) then
      if (LockLost(lock)) call Fail(error, 'another run has taken it over')
    end if
    call FioClose(growth%old, ignored)
    if (.not. allocated(error)) call FileRename(half, path, error)
    if (allocated(error)) call FileRemove(half, ignored)
  end subroutine Write

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
                Str(size(head%record))//' shots, '//Str(growth%kept)//' finished ones taken over, by '//by
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

  !> Step 3.
  subroutine Follow(path, growth, host, error)
    character(*), intent(in) :: path, host
    type(growth_t), intent(inout) :: growth
    type(error_t), allocatable, intent(inout) :: error
    integer, allocatable :: status(:)
    integer(i8), allocatable :: checksum(:)
    character(:), allocatable :: note
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
      note = 'from '//Str(journal%nshots)//' to '//Str(old%nshots)//' shots on '//ClockText(ClockSeconds())//', '//Str(kept)// &
             ' finished ones taken over'
      call FileWrite(SidePath(path, 'journal'), JournalGrown(journal, growth%text, FioAttribute(old, 'fingerprint'), old%record, &
                                                             status == fio_done, checksum, host, note), error)
    end associate
  end subroutine Follow

end module grow_m
