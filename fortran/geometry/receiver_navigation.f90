!> Navigation of the receivers of all lists, held small: whole millimetres from a point nearby, and only what the lists hold.
module receiver_navigation_m
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use keymap_line_m, only: FaultHere, RealWord
  use kinds_m, only: dp
  use nametable_m, only: name_length, nametable_t, NameNumber
  use navigation_m, only: map_max
  use problems_m, only: problems_t
  use text_m, only: Str
  use textfile_m, only: textfile_t, Shown
  implicit none
  private
  public :: receiver_navigation_t, ReceiverPut, ReceiverGet, ReceiverKnown, ReceiverBytes, LineNumber, height_max, point_max

  real(dp), parameter :: height_max = 1.0e6_dp          !< [m]
  real(dp), parameter :: point_max = 1.0e12_dp          !< of shot points and stations
  real(dp), parameter :: millimetre = 1.0e-3_dp
  real(dp), parameter :: farthest = 2.0e6_dp            !< [m] that 32 bits count in millimetres
  integer, parameter :: unknown = -huge(1)
  integer, parameter :: words_max = 5                   !< e n h line station

  type :: receiver_navigation_t
    type(nametable_t) :: lines                          !< names of lines, of sources too
    logical, private :: begun = .false.
    real(dp), private :: e0 = 0, n0 = 0                 !< [m] from which the millimetres count
    integer, allocatable, private :: e(:), n(:)         !< [mm]
    integer, allocatable, private :: h(:)               !< [mm], where a list gives any
    integer, allocatable, private :: line(:)            !< where a list gives any; 0 = none
    real(dp), allocatable, private :: station(:)        !< where a list gives any
  end type receiver_navigation_t

contains

  !> Keeps the navigation of receiver i of the pool, which has room for `room`; words: "e n [h [line [station]]]", '-' = unknown.
  subroutine ReceiverPut(nav, i, room, file, words, nwords, problems)
    type(receiver_navigation_t), intent(inout) :: nav
    integer, intent(in) :: i, room, nwords
    type(textfile_t), intent(in) :: file
    integer, intent(in) :: words(:, :)                  !< (2, nwords)
    type(problems_t), intent(inout) :: problems
    real(dp) :: e, n, h, station
    integer :: before
    before = problems%n
    call RealWord(file, words(:, 1), 'e', -map_max, map_max, 'm', e, problems)
    call RealWord(file, words(:, 2), 'n', -map_max, map_max, 'm', n, problems)
    if (Given(3)) call RealWord(file, words(:, 3), 'h', -height_max, height_max, 'm', h, problems)
    if (Given(5)) call RealWord(file, words(:, 5), 'station', -point_max, point_max, '', station, problems)
    if (problems%n > before) return
    if (.not. nav%begun) then
      nav%begun = .true.
      nav%e0 = anint(e)
      nav%n0 = anint(n)
    end if
    if (max(abs(e - nav%e0), abs(n - nav%n0)) > farthest) then
      call FaultHere(problems, file, 'E '//Str(e, 12)//' N '//Str(n, 12)//' is farther than '//Str(farthest/1000)// &
                     ' km from E '//Str(nav%e0, 12)//' N '//Str(nav%n0, 12)//' of the first receiver: one of them is wrong')
      return
    end if
    call Room4(nav%e, room, unknown)
    call Room4(nav%n, room, unknown)
    nav%e(i) = nint((e - nav%e0)/millimetre)
    nav%n(i) = nint((n - nav%n0)/millimetre)
    if (Given(3)) then
      call Room4(nav%h, room, unknown)
      nav%h(i) = nint(h/millimetre)
    end if
    if (Given(4)) then
      call Room4(nav%line, room, 0)
      nav%line(i) = LineNumber(nav%lines, file%text(words(1, 4):words(2, 4)), file, problems)
    end if
    if (Given(5)) then
      call Room8(nav%station, room)
      nav%station(i) = station
    end if

  contains

    logical function Given(k)
      integer, intent(in) :: k
      Given = k <= min(nwords, words_max)
      if (Given) Given = file%text(words(1, k):words(2, k)) /= '-'
    end function Given

  end subroutine ReceiverPut

  !> Number of the line `name`, 0 where it is too long, which is a problem.
  integer function LineNumber(lines, name, file, problems) result(number)
    type(nametable_t), intent(inout) :: lines
    character(*), intent(in) :: name
    type(textfile_t), intent(in) :: file
    type(problems_t), intent(inout) :: problems
    number = 0
    if (len(name) > name_length) then
      call FaultHere(problems, file, 'the name of the line '//Shown(name)//' is longer than '//Str(name_length)//' characters')
    else if (name /= '' .and. name /= '-') then
      number = NameNumber(lines, name)
    end if
  end function LineNumber

  !> Room for n numbers; those beyond the old ones are `fill`.
  subroutine Room4(a, n, fill)
    integer, allocatable, intent(inout) :: a(:)
    integer, intent(in) :: n, fill
    integer, allocatable :: more(:)
    integer :: had
    had = 0
    if (allocated(a)) had = size(a)
    if (had >= n) return
    allocate (more(n))
    if (had > 0) more(:had) = a
    more(had + 1:) = fill
    call move_alloc(more, a)
  end subroutine Room4

  subroutine Room8(a, n)
    real(dp), allocatable, intent(inout) :: a(:)
    integer, intent(in) :: n
    real(dp), allocatable :: more(:)
    integer :: had
    had = 0
    if (allocated(a)) had = size(a)
    if (had >= n) return
    allocate (more(n))
    if (had > 0) more(:had) = a
    more(had + 1:) = ieee_value(1.0_dp, ieee_quiet_nan)
    call move_alloc(more, a)
  end subroutine Room8

  !> Number of receivers first..last of the pool that have map coordinates.
  pure integer function ReceiverKnown(nav, first, last) result(known)
    type(receiver_navigation_t), intent(in) :: nav
    integer, intent(in) :: first, last
    known = 0
    if (.not. allocated(nav%e)) return
    if (first <= size(nav%e)) known = count(nav%e(first:min(last, size(nav%e))) /= unknown)
  end function ReceiverKnown

  !> Navigation of receivers first, first + 1, ... of the pool, all known: what the lists do not give stays as it is.
  pure subroutine ReceiverGet(nav, first, e, n, h, line, station)
    type(receiver_navigation_t), intent(in) :: nav
    integer, intent(in) :: first
    real(dp), intent(inout) :: e(:), n(:), h(:), station(:)
    integer, intent(inout) :: line(:)
    integer :: last, some
    last = first + size(e) - 1
    e = nav%e0 + nav%e(first:last)*millimetre
    n = nav%n0 + nav%n(first:last)*millimetre
    if (allocated(nav%h)) then
      some = min(last, size(nav%h)) - first + 1
      if (some > 0) h(:some) = merge(nav%h(first:first + some - 1)*millimetre, h(:some), nav%h(first:first + some - 1) /= unknown)
    end if
    if (allocated(nav%line)) then
      some = min(last, size(nav%line)) - first + 1
      if (some > 0) line(:some) = nav%line(first:first + some - 1)
    end if
    if (allocated(nav%station)) then
      some = min(last, size(nav%station)) - first + 1
      if (some > 0) station(:some) = nav%station(first:first + some - 1)
    end if
  end subroutine ReceiverGet

  !> Memory [bytes].
  pure real(dp) function ReceiverBytes(nav) result(bytes)
    type(receiver_navigation_t), intent(in) :: nav
    bytes = 0
    if (allocated(nav%e)) bytes = 8.0_dp*size(nav%e)
    if (allocated(nav%h)) bytes = bytes + 4.0_dp*size(nav%h)
    if (allocated(nav%line)) bytes = bytes + 4.0_dp*size(nav%line)
    if (allocated(nav%station)) bytes = bytes + 8.0_dp*size(nav%station)
    if (allocated(nav%lines%name)) bytes = bytes + real(name_length + 8, dp)*size(nav%lines%name)
  end function ReceiverBytes

end module receiver_navigation_m
