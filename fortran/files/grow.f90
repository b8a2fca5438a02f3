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
!>
!> This file tells the story; the submodules compare shots (grow_compare.f90) and write output and journal (grow_write.f90).
module grow_m
  use error_m, only: AddContext, error_t, Fail
  use fiofile_m, only: fio_done, fio_t, FioAttribute, FioClose, FioOpen
  use fioget_m, only: FioStatus
  use files_m, only: FileExists, FileText
  use gather_header_m, only: gather_header_t
  use journal_m, only: journal_done, journal_t, JournalFind, JournalHead, JournalRead
  use keymap_m, only: keymap_t
  use host_c, only: host_signals_end
  use lock_m, only: lock_t, STOPPED
  use log_m, only: LogInfo
  use sides_m, only: SidePath
  use text_m, only: Str
  implicit none
  private
  public :: Grow, GrowForetell, GrowWords

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

  interface
    ! --- grow_compare.f90

    !> True where the key-map is another one than that of the output, or its navigation is.
    pure module logical function Other(growth, header)
      type(growth_t), intent(in) :: growth
      type(gather_header_t), intent(in) :: header
    end function Other

    !> Compares the finished shots of the output with the key-map. Without a word where model or parameters are others.
    module subroutine Compare(path, header, keymap, growth, error)
      character(*), intent(in) :: path
      type(gather_header_t), intent(in) :: header
      type(keymap_t), intent(in) :: keymap
      type(growth_t), intent(inout) :: growth
      type(error_t), allocatable, intent(inout) :: error
    end subroutine Compare

    ! --- grow_write.f90

    !> What becomes of n shots, in words.
    pure module function Words_(growth, n) result(text)
      type(growth_t), intent(in) :: growth
      integer, intent(in) :: n
      character(:), allocatable :: text
    end function Words_

    !> Steps 1 and 2.
    module subroutine Write(path, header, keymap, growth, lock, error)
      character(*), intent(in) :: path
      type(gather_header_t), intent(in) :: header
      type(keymap_t), intent(in) :: keymap
      type(growth_t), intent(inout) :: growth
      type(lock_t), intent(inout) :: lock
      type(error_t), allocatable, intent(inout) :: error
    end subroutine Write

    !> Step 3.
    module subroutine Follow(path, growth, host, lock, error)
      character(*), intent(in) :: path, host
      type(growth_t), intent(inout) :: growth
      type(lock_t), intent(inout) :: lock
      type(error_t), allocatable, intent(inout) :: error
    end subroutine Follow
  end interface

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
    logical :: there, followed
    if (allocated(error)) return
    followed = .false.
    call Look(path, growth, there)
    if (there) there = InStep(path, growth, error)
    if (there) there = growth%old%grown > growth%grown .or. Other(growth, header)
    if (there) call Read(path, growth, there)
    if (there .and. growth%journal%running) &
      call Fail(error, "'"//SidePath(path, 'journal')//"' is in use by another run: wait for it, or choose another output")
    if (there .and. growth%old%grown > growth%grown) then
      call Follow(path, growth, host, lock, error)
      call Look(path, growth, there)
      if (there) call Read(path, growth, there)
    end if
    if (there .and. .not. allocated(error)) call Compare(path, header, keymap, growth, error)
    if (there .and. growth%other .and. .not. allocated(error)) then
      if (growth%moves) then
        call host_signals_end(STOPPED)          ! it may take an hour, and outlives a kill
        call Write(path, header, keymap, growth, lock, error)
        call host_signals_end(0)
        call AddContext(error, "'"//path//"' cannot grow, and is as it was")
        if (.not. allocated(error)) call Look(path, growth, there)
        if (there) followed = growth%old%grown == growth%grown   ! by another run, while this one slept
        if (.not. (followed .or. allocated(error))) call Follow(path, growth, host, lock, error)
      else
        header%fingerprint = growth%fingerprint
        header%navigation = growth%old%navigation
        call LogInfo("'"//path//"' has the shots of this key-map, in other words, and is left as it is")
      end if
    end if
    call FioClose(growth%old, ignored)
  end subroutine Grow

  !> Tells what a run of this job would do with the output, for `plan`: in words, '' where there is no output.
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
    type(error_t), allocatable :: absence
    there = FileExists(path)
    if (there) there = FileExists(SidePath(path, 'journal'))
    if (.not. there) return
    call FileText(SidePath(path, 'journal'), growth%text, absence)
    call FioOpen(growth%old, path, absence, readonly=.true.)
    call JournalHead(growth%text, growth%fingerprint, growth%grown)
    there = .not. allocated(absence)
  end subroutine Look

  !> Reads the journal.
  subroutine Read(path, growth, there)
    character(*), intent(in) :: path
    type(growth_t), intent(inout) :: growth
    logical, intent(out) :: there
    type(error_t), allocatable :: absence
    call JournalRead(growth%journal, SidePath(path, 'journal'), absence, growth%old%record)
    there = .not. allocated(absence)
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

end module grow_m
