!> Navigation of a shot and of its receivers: what the lines of the key-map give, and the rest by the rule from model to map. Where
!> a line gives map coordinates the rule must agree with them.
module shot_navigation_m
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan, ieee_quiet_nan, ieee_value
  use keymap_shots_m, only: keymap_shots_t, source_navigation_t
  use kinds_m, only: dp
  use navigation_m, only: navigation_t, NavigationMap, NavigationModel
  use problems_m, only: problems_t, ProblemAdd
  use shot_m, only: shot_navigation_t, shot_t
  use spread_m, only: spreads_t, SpreadExpand, SpreadKnown, SpreadMap, SpreadPlace, SpreadSize
  use text_m, only: Str
  use textfile_m, only: Shown
  implicit none
  private
  public :: ShotNavigate, ShotNavigationCheck

  real(dp), parameter :: agrees = 0.01_dp     !< map and model may differ by so much [m]

contains

  !> Navigation of a shot: what its lines give, and the rest by the rule.
  subroutine ShotNavigate(rule, spreads, spread, source, shot, nav)
    type(navigation_t), intent(in) :: rule
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: spread
    type(source_navigation_t), intent(in) :: source
    type(shot_t), intent(in) :: shot
    type(shot_navigation_t), intent(out) :: nav
    integer :: n
    n = size(shot%rx)
    call NavigationMap(rule, shot%sx, shot%sy, nav%e, nav%n)
    if (.not. ieee_is_nan(source%e)) nav%e = source%e
    if (.not. ieee_is_nan(source%e)) nav%n = source%n
    nav%h = merge(-shot%sz, source%h, ieee_is_nan(source%h))
    nav%point = source%point
    nav%line = source%line
    allocate (nav%re(n), nav%rn(n), nav%rline(n), nav%station(n))
    nav%rh = -shot%rz
    nav%rline = 0
    nav%station = ieee_value(1.0_dp, ieee_quiet_nan)
    if (SpreadKnown(spreads, spread) == n) then
      call SpreadMap(spreads, spread, nav)
    else
      call NavigationMap(rule, shot%rx, shot%ry, nav%re, nav%rn)
    end if
  end subroutine ShotNavigate

  !> Checks that navigation is complete and that positions follow from it by the rule. The receivers of a list are looked at once,
  !> unless offsets were kept: then they depend on the source.
  subroutine ShotNavigationCheck(rule, spreads, found, path, problems)
    type(navigation_t), intent(in) :: rule
    type(spreads_t), intent(in) :: spreads
    type(keymap_shots_t), intent(in) :: found
    character(*), intent(in) :: path
    type(problems_t), intent(inout) :: problems
    logical, allocatable :: looked(:)
    type(shot_t) :: shot
    integer :: i
    allocate (looked(maxval(found%spread(:found%n))), source=.false.)
    do i = 1, found%n
      if (problems%full()) return
      associate (s => found%spread(i), source => found%source(i))
        if (.not. rule%given) then
          call CheckNone(spreads, found, i, path, problems)
          if (problems%n > 0) return
        else
          if (.not. rule%ruled .and. ieee_is_nan(source%e)) call ProblemAdd(problems, path, found%line(i), 'shot record '// &
            Str(found%record(i))//' has no e= n=, and navigation no rule to find them by: give them, or e0= n0= azimuth=')
          if (rule%ruled) call CheckSource(rule, found, i, path, problems)
          if (.not. looked(s)) call CheckList(rule, spreads, s, found%line(i), path, problems)
          if (rule%ruled .and. SpreadKnown(spreads, s) > 0 .and. (rule%kept .or. .not. looked(s))) then
            shot%sx = found%sx(i)
            shot%sy = found%sy(i)
            shot%sz = found%sz(i)
            shot%record = found%record(i)
            call SpreadExpand(spreads, s, shot)
            if (SpreadKnown(spreads, s) == size(shot%rx)) call CheckReceivers(rule, spreads, s, source, shot, problems)
          end if
        end if
        looked(s) = .true.
      end associate
    end do
  end subroutine ShotNavigationCheck

  !> Fails where a shot has navigation, but the key-map none.
  subroutine CheckNone(spreads, found, i, path, problems)
    type(spreads_t), intent(in) :: spreads
    type(keymap_shots_t), intent(in) :: found
    integer, intent(in) :: i
    character(*), intent(in) :: path
    type(problems_t), intent(inout) :: problems
    associate (source => found%source(i))
      if (all(ieee_is_nan([source%e, source%h, source%point])) .and. source%line == 0 .and. &
          SpreadKnown(spreads, found%spread(i)) == 0) return
    end associate
    call ProblemAdd(problems, path, found%line(i), 'shot record '//Str(found%record(i))//' or its receivers have navigation '// &
                    '(e, n, point ...), but the key-map has no line navigation: add "navigation crs=EPSG:CODE"')
  end subroutine CheckNone

  !> Checks that the list of a spread gives map coordinates for all of its receivers or for none.
  subroutine CheckList(rule, spreads, spread, line, path, problems)
    type(navigation_t), intent(in) :: rule
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: spread, line
    character(*), intent(in) :: path
    type(problems_t), intent(inout) :: problems
    character(:), allocatable :: file, name
    integer :: known, n, at
    known = SpreadKnown(spreads, spread)
    n = SpreadSize(spreads, spread)
    if (known == n .or. (known == 0 .and. rule%ruled)) return
    call SpreadPlace(spreads, spread, file, at, name)
    if (known > 0) then
      call ProblemAdd(problems, file, at, 'list '//Shown(name)//' gives e and n of '//Str(known)//' of its '//Str(n)// &
                      ' receivers: give them for all, or for none')
    else
      call ProblemAdd(problems, path, line, 'the receivers of '//Shown(name)//' have no e and n, and navigation no rule to '// &
                      'find them by: give them in a list, or e0= n0= azimuth=')
    end if
  end subroutine CheckList

  !> Checks that a source is where the rule puts it.
  subroutine CheckSource(rule, found, i, path, problems)
    type(navigation_t), intent(in) :: rule
    type(keymap_shots_t), intent(in) :: found
    integer, intent(in) :: i
    character(*), intent(in) :: path
    type(problems_t), intent(inout) :: problems
    real(dp) :: x, y
    if (ieee_is_nan(found%source(i)%e)) return
    call NavigationModel(rule, found%source(i)%e, found%source(i)%n, x, y)
    if (hypot(x - found%sx(i), y - found%sy(i)) > agrees) call ProblemAdd(problems, path, found%line(i), 'shot record '// &
      Str(found%record(i))//' is at '//Place(found%sx(i), found%sy(i))//', but by navigation, line '//Str(rule%line)//', at '// &
      Place(x, y)//Advice())
  end subroutine CheckSource

  !> Checks that the receivers of a shot are where the rule puts them, or as far from the source.
  subroutine CheckReceivers(rule, spreads, spread, source, shot, problems)
    type(navigation_t), intent(in) :: rule
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: spread
    type(source_navigation_t), intent(in) :: source
    type(shot_t), intent(in) :: shot
    type(problems_t), intent(inout) :: problems
    type(shot_navigation_t) :: nav
    character(:), allocatable :: file, name, sentence
    real(dp), allocatable :: x(:), y(:), off(:)
    integer :: at, r
    call ShotNavigate(rule, spreads, spread, source, shot, nav)
    allocate (x(size(shot%rx)), y(size(shot%rx)))
    if (rule%kept) then
      x = shot%sx + sign(hypot(nav%re - nav%e, nav%rn - nav%n), shot%rx - shot%sx)
      y = shot%sy
    else
      call NavigationModel(rule, nav%re, nav%rn, x, y)
    end if
    off = hypot(x - shot%rx, y - shot%ry)
    r = maxloc(off, 1)
    if (off(r) <= agrees) return
    call SpreadPlace(spreads, spread, file, at, name)
    sentence = 'channel '//Str(shot%channel(r))//' of list '//Shown(name)//' is at '//Place(shot%rx(r), shot%ry(r))//', but by '// &
               'navigation, line '//Str(rule%line)//' of the key-map, at '//Place(x(r), y(r))
    if (rule%kept) sentence = sentence//', for shot record '//Str(shot%record)
    call ProblemAdd(problems, file, at, sentence//Advice())
  end subroutine CheckReceivers

  pure function Place(x, y) result(words)
    real(dp), intent(in) :: x, y
    character(:), allocatable :: words
    words = 'x '//Str(x, 11)//' y '//Str(y, 11)//' m'
  end function Place

  pure function Advice() result(words)
    character(:), allocatable :: words
    words = '; they may differ by '//Str(agrees)//' m: make the key-map anew, or leave e0=, n0= and azimuth= out'
  end function Advice

end module shot_navigation_m
