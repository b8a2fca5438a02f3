!> Navigation of a survey: the map coordinates that positions of the modelling came from, and the rule that leads from one to the
!> other.
!>
!>     navigation crs=EPSG:32618 e0=412000.00 n0=4498000.00 azimuth=129.5 offset=projected
!>
!> x is the distance along `azimuth` (clockwise from north) from easting e0, northing n0; y the distance to the right of +x, or to
!> its left. offset=kept: receivers were moved along x to their true distance from the source, as 2D modelling likes it.
module navigation_m
  use keymap_line_m, only: mapline_t, FaultHere, MaplineKeys, MaplineRead, MaplineReal, MaplineValue, MaplineWord
  use kinds_m, only: dp, i8, pi
  use problems_m, only: problems_t
  use text_m, only: Lower, Str
  use textfile_m, only: textfile_t, IntegerOf, Shown
  implicit none
  private
  public :: navigation_t, NavigationRead, NavigationMap, NavigationModel, NavigationWords, map_max

  real(dp), parameter :: map_max = 1.0e9_dp   !< largest easting and northing [m]
  integer, parameter :: crs_length = 400      !< characters that name a system of coordinates

  type :: navigation_t
    logical :: given = .false.                !< the key-map has navigation
    logical :: ruled = .false.                !< positions follow from it by origin and azimuth
    logical :: left = .false.                 !< y is positive to the left of +x
    logical :: kept = .false.                 !< receivers were moved to their true offset
    character(:), allocatable :: crs          !< EPSG:CODE, or words; allocated where it is given
    real(dp) :: e0 = 0, n0 = 0                !< [m] of x = y = 0
    real(dp) :: azimuth = 0                   !< of +x [degrees]
    integer :: line = 0                       !< of the key-map
  end type navigation_t

contains

  !> Reads the rest of a line "navigation crs=... [e0=... n0=... azimuth=... [y=right|left] [offset=projected|kept]]".
  subroutine NavigationRead(nav, file, problems)
    type(navigation_t), intent(inout) :: nav
    type(textfile_t), intent(inout) :: file
    type(problems_t), intent(inout) :: problems
    character(7), parameter :: rule(3) = [character(7) :: 'e0', 'n0', 'azimuth']
    type(mapline_t) :: line
    integer :: i, n
    call MaplineRead(line, file, problems)
    if (nav%given) then
      call FaultHere(problems, file, 'the line navigation stands in line '//Str(nav%line)//' already: a key-map has one')
      return
    end if
    nav%given = .true.
    nav%line = file%line
    if (line%nwords > 0) call FaultHere(problems, file, 'unexpected word '//Shown(MaplineWord(line, file, 1))// &
                                       ': values are written name=value')
    call MaplineKeys(line, file, 'navigation', [character(7) :: 'crs', rule, 'y', 'offset'], ['crs'], problems)
    call MaplineReal(line, file, 'e0', -map_max, map_max, 'm', nav%e0, problems)
    call MaplineReal(line, file, 'n0', -map_max, map_max, 'm', nav%n0, problems)
    call MaplineReal(line, file, 'azimuth', -360.0_dp, 360.0_dp, 'degrees', nav%azimuth, problems)
    nav%left = Either('y', 'right', 'left')
    nav%kept = Either('offset', 'projected', 'kept')
    nav%crs = MaplineValue(line, file, 'crs')
    call CheckCrs(nav%crs, file, problems)
    n = count([(MaplineValue(line, file, trim(rule(i))) /= '', i=1, size(rule))])
    nav%ruled = n == size(rule)
    if (n > 0 .and. .not. nav%ruled) call FaultHere(problems, file, 'a rule from map to model needs e0= n0= azimuth=, all three')
    if (n == 0 .and. (MaplineValue(line, file, 'y') /= '' .or. MaplineValue(line, file, 'offset') /= '')) &
      call FaultHere(problems, file, 'y= and offset= belong to a rule: give e0= n0= azimuth= too, or leave them out')

  contains

    !> Finds whether key= has its second value; the first one is the default.
    logical function Either(key, first, second)
      character(*), intent(in) :: key, first, second
      character(:), allocatable :: word
      word = Lower(MaplineValue(line, file, key))
      Either = word == second
      if (word /= '' .and. word /= first .and. word /= second) &
        call FaultHere(problems, file, key//' is '//Shown(MaplineValue(line, file, key))//': must be '//first//' or '//second)
    end function Either

  end subroutine NavigationRead

  !> Checks the name of a system of coordinates: an EPSG code must be one.
  subroutine CheckCrs(crs, file, problems)
    character(*), intent(in) :: crs
    type(textfile_t), intent(in) :: file
    type(problems_t), intent(inout) :: problems
    integer(i8) :: code
    logical :: ok
    if (len(crs) > crs_length) call FaultHere(problems, file, 'crs= has '//Str(len(crs))//' characters, at most '// &
                                             Str(crs_length)//' are kept: give an EPSG code, such as crs=EPSG:32618')
    if (len(crs) < 4) return
    if (Lower(crs(:4)) /= 'epsg') return
    ok = .false.
    code = 0
    if (len(crs) > 5) call IntegerOf(crs(6:), code, ok)
    if (ok) ok = crs(5:5) == ':' .and. code >= 1024 .and. code <= 32767
    if (.not. ok) call FaultHere(problems, file, 'crs is '//Shown(crs)//': an EPSG code is written EPSG:1024 .. EPSG:32767')
  end subroutine CheckCrs

  !> Easting and northing [m] of a position by the rule.
  elemental subroutine NavigationMap(nav, x, y, e, n)
    type(navigation_t), intent(in) :: nav
    real(dp), intent(in) :: x, y
    real(dp), intent(out) :: e, n
    real(dp) :: a, right
    a = Radians(nav%azimuth)
    right = merge(-y, y, nav%left)
    e = nav%e0 + x*sin(a) + right*cos(a)
    n = nav%n0 + x*cos(a) - right*sin(a)
  end subroutine NavigationMap

  !> The position [m] that easting and northing have by the rule.
  elemental subroutine NavigationModel(nav, e, n, x, y)
    type(navigation_t), intent(in) :: nav
    real(dp), intent(in) :: e, n
    real(dp), intent(out) :: x, y
    real(dp) :: a
    a = Radians(nav%azimuth)
    x = (e - nav%e0)*sin(a) + (n - nav%n0)*cos(a)
    y = (e - nav%e0)*cos(a) - (n - nav%n0)*sin(a)
    if (nav%left) y = -y
  end subroutine NavigationModel

  elemental real(dp) function Radians(degrees)
    real(dp), intent(in) :: degrees
    Radians = degrees*pi/180
  end function Radians

  !> The rule in words.
  pure function NavigationWords(nav) result(words)
    type(navigation_t), intent(in) :: nav
    character(:), allocatable :: words
    words = 'positions of the modelling stand beside those of the map, without a rule'
    if (.not. nav%ruled) return
    words = 'x along azimuth '//Str(nav%azimuth, 9)//' degrees from E '//Str(nav%e0, 12)//' N '//Str(nav%n0, 12)// &
            ' m, y to the '//trim(merge('left ', 'right', nav%left))//' of +x; '
    if (nav%kept) then
      words = words//'offsets kept: receivers moved along x to their true distance from the source'
    else
      words = words//'offsets projected'
    end if
  end function NavigationWords

end module navigation_m
