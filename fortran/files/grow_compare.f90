!> The key-map against the finished shots of an output: these are kept, refused or modelled again. Arguments stand in grow.f90.
submodule(grow_m) grow_compare
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use fiofile_m, only: words
  use fioget_m, only: FioLines, FioShot
  use keymap_m, only: KeymapFind, KeymapNavigate, KeymapShot
  use kinds_m, only: dp
  use problems_m, only: ProblemAdd, problems_t, ProblemsRaise
  use shot_m, only: shot_t
  use sort_m, only: SortFind
  implicit none

  real(dp), parameter :: same = 1.0e-6_dp     !< positions that differ by less are the same [m]: they change no trace

contains

  module procedure Other
    Other = growth%fingerprint /= header%fingerprint .or. &
            (growth%old%navigation /= '' .and. growth%old%navigation /= header%navigation)
  end procedure Other

  module procedure Compare
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
  end procedure Compare

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
    if (what /= '' .or. (ieee_is_nan(was) .and. ieee_is_nan(is))) return
    if (.not. (ieee_is_nan(was) .or. ieee_is_nan(is))) then     ! debug builds trap comparisons of NaN
      if (abs(was - is) <= same) return
    end if
    what = title//' '//Str(was, 11)//unit//', which is '//Str(is, 11)//unit
  end subroutine Differ

  subroutine DifferLine(title, was, is, what)
    character(*), intent(in) :: title, was, is
    character(:), allocatable, intent(inout) :: what
    if (what == '' .and. was /= is) what = title//" '"//was//"', which is '"//is//"'"
  end subroutine DifferLine

end submodule grow_compare
