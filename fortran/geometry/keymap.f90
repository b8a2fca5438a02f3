!> The key-map: a text file with one line a shot, which a person can read and edit. keymaps/README.md describes it.
!>
!>     spread cable streamer first=163 interval=12.5 channels=468 depth=8
!>     shot   1001  5000.0  6.0  cable
!>     shots  first_record=1002 n=99 x0=5050 dx=50 z=6 spread=cable
!>     skip   1007  1020-1024
!>     redo   1003
!>     navigation crs=EPSG:32618 e0=412000 n0=4498000 azimuth=129.5
module keymap_m
  use error_m, only: error_t, Fail
  use keymap_reader_m, only: KeymapLine
  use keymap_shots_m, only: keymap_shots_t, record_ranges_t, source_navigation_t, ShotsCheckLeft, ShotsCheckRecords, ShotsMark, &
                            ShotsReserve
  use kinds_m, only: dp, i8
  use nametable_m, only: name_length
  use navigation_m, only: navigation_t, NavigationModel, NavigationWords
  use problems_m, only: problems_t, ProblemsRaise
  use shot_m, only: shot_t
  use shot_navigation_m, only: ShotNavigate, ShotNavigationCheck
  use sort_m, only: SortFind, SortOrder
  use spread_m, only: spreads_t, SpreadBytes, SpreadExpand, SpreadFiles, SpreadLines, SpreadsCheck, SpreadSize
  use text_m, only: Str
  use textfile_m, only: textfile_t, TextLine, TextOpen
  implicit none
  private
  public :: keymap_t, KeymapRead, KeymapShot, KeymapFind, KeymapFiles, KeymapBytes
  public :: KeymapNavigate, KeymapLines, KeymapRule, KeymapUnmoved

  integer(i8), parameter :: traces_max = 1000000000_i8

  !> Shots to be modelled, in the order of their record numbers.
  type :: keymap_t
    character(:), allocatable :: path
    integer :: n = 0                          !< shots to be modelled
    integer :: nskipped = 0                   !< shots marked skip
    integer, allocatable :: record(:)         !< shot record numbers, ascending, (n)
    integer, allocatable :: redo(:)           !< how often a shot is to be modelled again, (n)
    integer :: nrec_max = 0                   !< most receivers of a shot
    integer(i8) :: ntraces = 0                !< receivers of all shots together
    integer, private :: length = 0            !< characters of the file
    character(16) :: hash = ''                !< of records, positions and receivers; not of names, comments, spacing
    character(16) :: navigation_hash = ''     !< of all navigation; '' = the key-map has none
    type(navigation_t), private :: navigation
    real(dp), allocatable, private :: sx(:), sy(:), sz(:)
    type(source_navigation_t), allocatable, private :: source(:)   !< where there is navigation
    integer, allocatable, private :: spread(:)
    type(spreads_t), private :: spreads
  end type keymap_t

  interface
    ! --- keymap_fingerprint.f90

    !> Fingerprint of all that decides which traces come out. Each spread is mixed once, then by its own fingerprint.
    module subroutine Fingerprint(keymap)
      type(keymap_t), intent(inout) :: keymap
    end subroutine Fingerprint

    !> Fingerprint of all navigation. Names of lines count by their letters, lists once.
    module subroutine MapFingerprint(keymap)
      type(keymap_t), intent(inout) :: keymap
    end subroutine MapFingerprint
  end interface

contains

  !> Reads the key-map at `path` and the receiver lists it names; all problems come in one error.
  subroutine KeymapRead(keymap, path, error)
    type(keymap_t), intent(out) :: keymap
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    type(textfile_t) :: file
    type(problems_t) :: problems
    type(keymap_shots_t) :: found
    type(record_ranges_t) :: skips, redos
    integer, allocatable :: order(:)
    redos%word = 'redo'
    keymap%path = trim(path)
    call TextOpen(file, path, 'key-map', error)
    if (allocated(error)) return
    call ShotsReserve(found, 1024)
    do while (TextLine(file))
      call KeymapLine(keymap%spreads, keymap%navigation, found, skips, redos, file, problems)
    end do
    call SpreadsCheck(keymap%spreads, file%path, problems)
    call SortOrder(found%record(:found%n), order)
    call ShotsCheckRecords(found, order, file%path, problems)
    call ShotsMark(found, order, skips, file%path, problems)
    call ShotsMark(found, order, redos, file%path, problems)
    if (problems%n == 0) call ShotsCheckLeft(found, file%path, problems)
    if (problems%n == 0) call ShotNavigationCheck(keymap%navigation, keymap%spreads, found, file%path, problems)
    call ProblemsRaise(problems, 'key-map '//file%path, error)
    if (allocated(error)) return
    call KeepShots(keymap, found, order)
    keymap%length = len(file%text)
    if (keymap%ntraces > traces_max) call Fail(error, 'key-map '//file%path//': '//Str(keymap%n)//' shots with '// &
      Str(keymap%ntraces)//' receivers together, at most '//Str(traces_max)//': split the survey')
    if (allocated(error)) return
    call Fingerprint(keymap)
    if (keymap%navigation%given) call MapFingerprint(keymap)
  end subroutine KeymapRead

  !> Shot i, 1..keymap%n, with its receivers.
  subroutine KeymapShot(keymap, i, shot)
    type(keymap_t), intent(in) :: keymap
    integer, intent(in) :: i
    type(shot_t), intent(inout) :: shot
    shot%record = keymap%record(i)
    shot%slot = i
    shot%sx = keymap%sx(i)
    shot%sy = keymap%sy(i)
    shot%sz = keymap%sz(i)
    call SpreadExpand(keymap%spreads, keymap%spread(i), shot)
  end subroutine KeymapShot

  !> Gives shot i, as KeymapShot fills it, its navigation; without any in the key-map it gets none.
  subroutine KeymapNavigate(keymap, i, shot)
    type(keymap_t), intent(in) :: keymap
    integer, intent(in) :: i
    type(shot_t), intent(inout) :: shot
    if (allocated(shot%navigation)) deallocate (shot%navigation)
    if (.not. keymap%navigation%given) return
    allocate (shot%navigation)
    call ShotNavigate(keymap%navigation, keymap%spreads, keymap%spread(i), keymap%source(i), shot, shot%navigation)
  end subroutine KeymapNavigate

  !> Moves receivers that were moved to their true offset back to where they are, in x and y of the model. What 2D modelling leaves
  !> out shows there only.
  subroutine KeymapUnmoved(keymap, i, shot)
    type(keymap_t), intent(in) :: keymap
    integer, intent(in) :: i
    type(shot_t), intent(inout) :: shot
    if (.not. (keymap%navigation%ruled .and. keymap%navigation%kept)) return
    call KeymapNavigate(keymap, i, shot)
    call NavigationModel(keymap%navigation, shot%navigation%re, shot%navigation%rn, shot%rx, shot%ry)
  end subroutine KeymapUnmoved

  !> The rule from map to model: system of coordinates, easting and northing of x = y = 0 [m], azimuth of +x [degrees], whether y is
  !> positive to the left of +x, and whether offsets were kept. `ruled`: there is one; `words` say it in any case.
  subroutine KeymapRule(keymap, ruled, crs, origin, azimuth, left, kept, words)
    type(keymap_t), intent(in) :: keymap
    logical, intent(out) :: ruled, left, kept
    character(:), allocatable, intent(out) :: crs, words
    real(dp), intent(out) :: origin(2), azimuth
    associate (nav => keymap%navigation)
      ruled = nav%ruled
      left = nav%left
      kept = nav%kept
      origin = [nav%e0, nav%n0]
      azimuth = nav%azimuth
      crs = ''
      if (allocated(nav%crs)) crs = nav%crs
      words = NavigationWords(nav)
    end associate
  end subroutine KeymapRule

  !> Names of the lines of sources and receivers, by the numbers that a shot's navigation has.
  pure function KeymapLines(keymap) result(names)
    type(keymap_t), intent(in) :: keymap
    character(name_length), allocatable :: names(:)
    names = SpreadLines(keymap%spreads)
  end function KeymapLines

  !> The i-th file that the key-map names; '' beyond the last.
  function KeymapFiles(keymap, i) result(path)
    type(keymap_t), intent(in) :: keymap
    integer, intent(in) :: i
    character(:), allocatable :: path
    path = SpreadFiles(keymap%spreads, i)
  end function KeymapFiles

  !> Memory that a key-map takes, and took while it was read [bytes].
  pure subroutine KeymapBytes(keymap, held, reading)
    type(keymap_t), intent(in) :: keymap
    real(dp), intent(out) :: held, reading
    integer, parameter :: shot = 3*4 + 3*8, source = 5*8, line = 5*4 + 3*8 + source
    call SpreadBytes(keymap%spreads, held, reading)
    held = held + real(shot + merge(source, 0, keymap%navigation%given), dp)*keymap%n
    reading = reading + keymap%length + real(shot + 2*line, dp)*(keymap%n + keymap%nskipped)
  end subroutine KeymapBytes

  !> Slot of the shot with this record number, 0 if it is not to be modelled.
  pure integer function KeymapFind(keymap, record) result(slot)
    type(keymap_t), intent(in) :: keymap
    integer, intent(in) :: record
    slot = SortFind(keymap%record, record)
  end function KeymapFind

  !> Shots to be modelled go to the key-map in the order of their records.
  subroutine KeepShots(keymap, found, order)
    type(keymap_t), intent(inout) :: keymap
    type(keymap_shots_t), intent(in) :: found
    integer, intent(in) :: order(:)
    integer, allocatable :: kept(:)
    integer :: i
    kept = pack(order, .not. found%skip(order))
    keymap%n = size(kept)
    keymap%nskipped = found%n - keymap%n
    keymap%record = found%record(kept)
    keymap%redo = found%redo(kept)
    keymap%sx = found%sx(kept)
    keymap%sy = found%sy(kept)
    keymap%sz = found%sz(kept)
    keymap%spread = found%spread(kept)
    if (keymap%navigation%given) keymap%source = found%source(kept)
    do i = 1, keymap%n
      keymap%nrec_max = max(keymap%nrec_max, SpreadSize(keymap%spreads, keymap%spread(i)))
      keymap%ntraces = keymap%ntraces + SpreadSize(keymap%spreads, keymap%spread(i))
    end do
  end subroutine KeepShots

end module keymap_m
