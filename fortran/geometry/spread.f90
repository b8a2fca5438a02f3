!> Receiver spreads of a key-map: moving streamers, fixed lines, and lists of receivers from a file.
!>
!>     streamer   channel c at  x = sx + direction*(first + (c-1)*interval),  y = sy,  z = depth
!>     fixed      channel c at  x = x0 + (c-1)*interval,                      y = y,   z = depth
!>     list       channel, x, z, y as they stand in the file, and navigation beside them
!>
!> This file tells the receivers of a spread; submodules read lines (spread_read.f90) and files of lists (spread_lists.f90).
module spread_m
  use hash_m, only: hash_t, HashAdd
  use kinds_m, only: dp
  use nametable_m, only: name_length, nametable_t
  use problems_m, only: problems_t
  use receiver_navigation_m, only: receiver_navigation_t, LineNumber, ReceiverBytes, ReceiverGet, ReceiverKnown
  use shot_m, only: shot_navigation_t, shot_t
  use textfile_m, only: textfile_t
  implicit none
  private
  public :: spreads_t, SpreadRead, SpreadLists, SpreadUse, SpreadsCheck, SpreadSize, SpreadExpand, SpreadHash, SpreadFiles
  public :: SpreadBytes, SpreadKnown, SpreadLine, SpreadLines, SpreadMap, SpreadPlace, x_max, z_max

  real(dp), parameter :: x_max = 1.0e8_dp     !< largest position along and across the line [m]
  real(dp), parameter :: z_max = 1.0e6_dp     !< largest depth [m]
  integer, parameter :: channels_max = 1000000 !< channels of a spread
  integer, parameter :: is_faulty = 0, is_streamer = 1, is_fixed = 2, is_list = 3

  type :: spread_t
    integer :: kind = is_faulty
    integer :: n = 0                          !< receivers
    real(dp) :: x0 = 0                        !< first receiver [m]: from the source (streamer) or on the line (fixed)
    real(dp) :: dx = 0                        !< from one receiver to the next [m], signed
    real(dp) :: y = 0, z = 0                  !< [m]
    integer :: start = 0                      !< list: its receivers follow this place in the pool
    integer :: line = 0                       !< where it is defined, 0 = nowhere
    character(:), allocatable :: path         !< ... and in which file
    integer :: uses = 0, used_line = 0        !< lines that name it, and the first of them
  end type spread_t

  type :: spreads_t
    type(nametable_t), private :: names
    type(spread_t), allocatable, private :: item(:)
    logical, private :: incomplete = .false.  !< a definition is faulty: its name may be missing
    integer, private :: npool = 0             !< receivers of all lists
    integer, allocatable, private :: channel(:)
    real(dp), allocatable, private :: x(:), y(:), z(:)
    type(receiver_navigation_t), private :: navigation
    type(path_t), allocatable, private :: files(:)   !< files of lists
    integer, private :: longest = 0           !< characters of the longest of them
  end type spreads_t

  type :: path_t
    character(:), allocatable :: path
  end type path_t

  interface
    ! --- spread_read.f90

    !> Reads the rest of a line "spread NAME KIND ...".
    module subroutine SpreadRead(spreads, file, problems)
      type(spreads_t), intent(inout) :: spreads
      type(textfile_t), intent(inout) :: file
      type(problems_t), intent(inout) :: problems
    end subroutine SpreadRead

    !> Enters a new spread of this name; 0 if it cannot be (the problem is reported).
    module integer function Define(spreads, name, file, problems) result(i)
      type(spreads_t), intent(inout) :: spreads
      character(*), intent(in) :: name
      type(textfile_t), intent(in) :: file
      type(problems_t), intent(inout) :: problems
    end function Define

    !> Number of the spread `name`, defined or not.
    module integer function Number(spreads, name)
      type(spreads_t), intent(inout) :: spreads
      character(*), intent(in) :: name
    end function Number

    !> Number of the spread that a line of shots names; it may be defined later. 0 if no spread can have that name (the problem is
    !> reported).
    module integer function SpreadUse(spreads, name, file, problems) result(i)
      type(spreads_t), intent(inout) :: spreads
      character(*), intent(in) :: name
      type(textfile_t), intent(in) :: file
      type(problems_t), intent(inout) :: problems
    end function SpreadUse

    !> Problems of names that are used but nowhere defined.
    module subroutine SpreadsCheck(spreads, path, problems)
      type(spreads_t), intent(in) :: spreads
      character(*), intent(in) :: path
      type(problems_t), intent(inout) :: problems
    end subroutine SpreadsCheck

    ! --- spread_lists.f90

    !> Reads the rest of a line "lists FILE": every list of the file becomes a spread of its name.
    module subroutine SpreadLists(spreads, file, problems)
      type(spreads_t), intent(inout) :: spreads
      type(textfile_t), intent(inout) :: file
      type(problems_t), intent(inout) :: problems
    end subroutine SpreadLists

    !> Reads lists from `name_of_file` (relative to the folder of the key-map): all of them, or the one called `only`.
    module subroutine ReadListFile(spreads, name_of_file, only, map, problems)
      type(spreads_t), intent(inout) :: spreads
      character(*), intent(in) :: name_of_file, only
      type(textfile_t), intent(in) :: map
      type(problems_t), intent(inout) :: problems
    end subroutine ReadListFile
  end interface

contains

  !> Number of receivers of spread i.
  pure integer function SpreadSize(spreads, i)
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: i
    SpreadSize = spreads%item(i)%n
  end function SpreadSize

  !> Receivers of spread i for the source of `shot`: fills rx, ry, rz [m] and channel, each (n).
  subroutine SpreadExpand(spreads, i, shot)
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: i
    type(shot_t), intent(inout) :: shot
    integer :: c, n
    associate (s => spreads%item(i))
      n = s%n
      if (s%kind == is_list) then
        shot%channel = spreads%channel(s%start + 1:s%start + n)
        shot%rx = spreads%x(s%start + 1:s%start + n)
        shot%ry = spreads%y(s%start + 1:s%start + n)
        shot%rz = spreads%z(s%start + 1:s%start + n)
      else
        shot%channel = [(c, c=1, n)]
        shot%rx = [(s%x0 + (c - 1)*s%dx, c=1, n)]
        shot%ry = [(s%y, c=1, n)]
        shot%rz = [(s%z, c=1, n)]
        if (s%kind == is_streamer) then
          shot%rx = shot%sx + shot%rx
          shot%ry = shot%sy
        end if
      end if
    end associate
  end subroutine SpreadExpand

  !> Receivers of spread i whose map coordinates its list gives.
  pure integer function SpreadKnown(spreads, i) result(known)
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: i
    known = 0
    associate (s => spreads%item(i))
      if (s%kind == is_list) known = ReceiverKnown(spreads%navigation, s%start + 1, s%start + s%n)
    end associate
  end function SpreadKnown

  !> Navigation of the receivers of spread i, all of which must be known: what its list does not give stays as it is.
  pure subroutine SpreadMap(spreads, i, nav)
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: i
    type(shot_navigation_t), intent(inout) :: nav
    call ReceiverGet(spreads%navigation, spreads%item(i)%start + 1, nav%re, nav%rn, nav%rh, nav%rline, nav%station)
  end subroutine SpreadMap

  !> Number of the line `name` of a shot, 0 for ''.
  integer function SpreadLine(spreads, name, file, problems) result(number)
    type(spreads_t), intent(inout) :: spreads
    character(*), intent(in) :: name
    type(textfile_t), intent(in) :: file
    type(problems_t), intent(inout) :: problems
    number = LineNumber(spreads%navigation%lines, name, file, problems)
  end function SpreadLine

  !> Names of the lines of sources and receivers, by their numbers.
  pure function SpreadLines(spreads) result(names)
    type(spreads_t), intent(in) :: spreads
    character(name_length), allocatable :: names(:)
    allocate (names(0))
    associate (t => spreads%navigation%lines)
      if (t%n > 0) names = t%name(:t%n)
    end associate
  end function SpreadLines

  !> File, line and name of a list, for problems of it.
  pure subroutine SpreadPlace(spreads, i, path, line, name)
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: i
    character(:), allocatable, intent(out) :: path, name
    integer, intent(out) :: line
    path = spreads%item(i)%path
    line = spreads%item(i)%line
    name = trim(spreads%names%name(i))
  end subroutine SpreadPlace

  !> The i-th file of receiver lists that was read; '' beyond the last.
  function SpreadFiles(spreads, i) result(path)
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: i
    character(:), allocatable :: path
    path = ''
    if (.not. allocated(spreads%files)) return
    if (i <= size(spreads%files)) path = spreads%files(i)%path
  end function SpreadFiles

  !> Memory that receiver lists take, and took while they were read [bytes].
  pure subroutine SpreadBytes(spreads, held, reading)
    type(spreads_t), intent(in) :: spreads
    real(dp), intent(out) :: held, reading
    integer, parameter :: receiver = 4 + 3*8
    held = ReceiverBytes(spreads%navigation)
    if (allocated(spreads%channel)) held = held + real(receiver, dp)*size(spreads%channel)
    reading = 1.15_dp*held + spreads%longest        ! x, y and z grow one after the other
  end subroutine SpreadBytes

  !> Fingerprint of the receivers of spread i: channels and positions, not the name.
  type(hash_t) function SpreadHash(spreads, i) result(hash)
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: i
    type(shot_t) :: at_zero
    integer :: c
    call SpreadExpand(spreads, i, at_zero)
    call HashAdd(hash, merge(1, 0, spreads%item(i)%kind == is_streamer))   ! moves with the source
    do c = 1, size(at_zero%rx)
      call HashAdd(hash, at_zero%channel(c))
      call HashAdd(hash, at_zero%rx(c))
      call HashAdd(hash, at_zero%ry(c))
      call HashAdd(hash, at_zero%rz(c))
    end do
  end function SpreadHash

end module spread_m
