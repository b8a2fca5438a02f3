!> The flat layers of rock, or of water over rock, around a source and receivers close to it, where that is all the medium there:
!> what a 3D grid lacks beside a contact, or below a free surface, is then known too (fd3d_flat_near.f90, fd3d_floor_near.f90).
!>
!> Rows of cells are told apart by their media, and a contact inside cells is where sums over them have it, those of density and of
!> compliances, which cells that stand for one keep (earth/contact_cells.f90). Where these do not agree it is not one contact.
module flat_near_m
  use kinds_m, only: dp
  use layers_waves_m, only: near_layers_t
  use window_m, only: box_t, window_t, WindowBox
  implicit none
  private
  public :: flat_near_t, FlatRange, FlatFind, FlatBeside, FlatMedia, flat_seen

  integer, parameter :: flat_seen = 18            !< cells above and below the source that are looked at
  integer, parameter :: ends = 4                  !< rows that are even above and below a contact, but below a free surface
  integer, parameter :: left_out = 8              !< outermost rows that may have a contact, which is too far away to matter
  integer, parameter :: most = 7                  !< rows between that are neither one nor the other
  integer, parameter :: floor_water = 4, floor_rock = 3                !< rows that stand for a sea floor inside a cell
  real(dp), parameter :: floor_agree = 0.4_dp     !< cells
  real(dp), parameter :: floor_differs = 0.1_dp   !< relative: density or compliance that differs by less does not tell where it is
  real(dp), parameter :: same = 1e-5_dp           !< relative
  real(dp), parameter :: differs = 0.02_dp        !< relative: what differs by less does not tell where a contact is
  real(dp), parameter :: agree = 0.03_dp          !< cells

  !> Layers as the window's media have them, and the rows between two of them that are of both.
  type :: flat_near_t
    logical :: flat = .false.
    logical :: sea = .false.                      !< water over rock in place of rock alone,
    integer :: wet = 0                            !< the last row of the grid's water
    type(near_layers_t) :: layers                 !< depths from the top of the window's first row [m]
    integer :: low = 0, high = 0                  !< rows that are so,
    real(dp), allocatable :: rows(:, :)           !< and their media, (parts, low:high)
    integer :: first = huge(1), last = -huge(1)   !< the rows above and below a contact that are of one medium
  end type flat_near_t

contains

  !> For each row of a box the largest of each part of the media, and of its negative, as far as they are known here. Beyond the
  !> window its outermost cells go on.
  pure subroutine FlatRange(window, box, range)
    type(window_t), intent(in) :: window
    type(box_t), intent(in) :: box
    real(dp), intent(out) :: range(:, :)          !< (twice the parts, rows)
    type(box_t) :: known
    integer :: a(3), b(3), k, p, parts
    known = WindowBox(window)
    range = -huge(1.0_dp)
    parts = size(range, 1)/2
    a(:2) = max(1, min(box%low(:2), [window%nx, window%ny]))
    b(:2) = max(1, min(box%high(:2), [window%nx, window%ny]))
    a(:2) = max(a(:2), known%low(:2))
    b(:2) = min(b(:2), known%high(:2))
    if (any(a(:2) > b(:2))) return
    do k = box%low(3), box%high(3)
      a(3) = max(1, min(k, window%nz))
      if (a(3) < known%low(3) .or. a(3) > known%high(3)) cycle
      do p = 1, parts
        associate (part => window%medium(a(1):b(1), a(2):b(2), a(3), p))
          range(p, k - box%low(3) + 1) = maxval(part)
          range(p + parts, k - box%low(3) + 1) = -minval(part)
        end associate
      end do
    end do
  end subroutine FlatRange

  !> The layers of rows from `low` on; `free`: the first one lies below a free surface. dz: of a row [m].
  pure subroutine FlatFind(range, low, free, dz, found)
    real(dp), intent(in) :: range(:, :), dz
    integer, intent(in) :: low
    logical, intent(in) :: free
    type(flat_near_t), intent(out) :: found
    real(dp) :: all_rows(size(range, 1)/2, size(range, 2)), contact, top
    real(dp), allocatable :: m(:, :)
    integer :: n, first, last
    all_rows = range(:size(all_rows, 1), :)
    found%flat = all(abs(all_rows + range(size(all_rows, 1) + 1:, :)) <= same*abs(all_rows))
    if (.not. found%flat) return
    first = 1
    last = size(range, 2)
    do while (.not. free .and. first <= left_out)
      if (Even(all_rows(:, first:min(first + ends - 1, last)))) exit
      first = first + 1
    end do
    do while (size(range, 2) - last < left_out)
      if (Even(all_rows(:, max(last - ends + 1, first):last))) exit
      last = last - 1
    end do
    m = all_rows(:, first:last)
    n = size(m, 2)
    found%flat = all(m(2, :) > 0)
    if (.not. found%flat) then
      call FindFloor(all_rows, low, free, dz, found)
      return
    end if
    found%low = low + first - 1
    found%high = low + last - 1
    allocate (found%rows(size(m, 1), found%low:found%high), source=m)
    top = -huge(1.0_dp)
    if (free) top = 0
    first = 1
    do while (first <= n)
      if (Apart(m(:, first), m(:, 1))) exit
      first = first + 1
    end do
    last = n
    do while (last >= 1)
      if (Apart(m(:, last), m(:, n))) exit
      last = last - 1
    end do
    if (first > n) then                           ! one medium
      found%layers = near_layers_t(1, free, [top], m(:3, :1))
      return
    end if
    found%flat = last - first < most .and. n - last >= ends .and. first - 1 >= merge(1, ends, free)
    if (.not. found%flat) return
    call FindContact(m(:3, 1), m(:3, n), m(:3, first:last), contact, found%flat)
    found%layers = near_layers_t(2, free, [top, (found%low + first - 2 + contact)*dz], m(:3, [1, n]))
    found%first = found%low + first - 2
    found%last = found%low + last
  end subroutine FlatFind

  !> Finds a sea floor between even water and even rock: on a face, or where the cells around have it that stand for one inside a
  !> cell (earth/sea_floor.f90), by their sums of density and of compliance across it, which have to agree.
  pure subroutine FindFloor(m, low, free, dz, found)
    real(dp), intent(in) :: m(:, :), dz
    integer, intent(in) :: low
    logical, intent(in) :: free
    type(flat_near_t), intent(inout) :: found
    real(dp) :: water(2), own
    integer :: wet, first, last, above, below, q
    wet = findloc(m(2, :) > 0, .true., 1) - 1              ! the last row of water
    above = wet
    below = wet + 1
    if (wet < 1) return
    found%sea = m(1, wet) > 0
    if (wet > floor_water .and. wet + floor_rock < size(m, 2)) then
      if (Apart(m(:, wet), m(:, wet - floor_water)) .or. Apart(m(:, wet + 1), m(:, wet + 1 + floor_rock))) then
        above = wet - floor_water
        below = wet + 1 + floor_rock
      end if
    end if
    first = above
    do while (first > 1)
      if (Apart(m(:, first - 1), m(:, above))) exit
      first = first - 1
    end do
    last = below
    do while (last < size(m, 2))
      if (Apart(m(:, last + 1), m(:, below))) exit
      last = last + 1
    end do
    found%sea = found%sea .and. above - first + 1 >= ends .and. last - below + 1 >= ends .and. &
                first - 1 <= merge(0, left_out, free) .and. size(m, 2) - last <= left_out
    if (.not. found%sea) return
    water = 0                                              ! rows that are water in the earth, by both sums
    do q = 1, 2
      associate (a => Told(m(:3, above), q), b => Told(m(:3, below), q))
        own = SumOf(m(:3, above + 1:below - 1), q) - (below - above - 1)*b
        if (abs(a - b) > floor_differs*max(a, b)) water(q) = own/(a - b)
        if (.not. abs(a - b) > floor_differs*max(a, b)) water(q) = -huge(1.0_dp)
      end associate
    end do
    where (water <= -huge(1.0_dp)) water = maxval(water)
    found%sea = abs(water(1) - water(2)) <= floor_agree
    if (.not. found%sea) return
    found%low = low + first - 1
    found%high = low + last - 1
    allocate (found%rows(size(m, 1), found%low:found%high), source=m(:, first:last))
    found%first = low + above - 1
    found%last = low + below - 1
    found%wet = low + wet - 1
    found%layers = near_layers_t(2, free, [merge(0.0_dp, -huge(1.0_dp), free), (found%first + water(2))*dz], m(:3, [first, last]))
  end subroutine FindFloor

  !> True of rows of the same rock.
  pure logical function Even(m)
    real(dp), intent(in) :: m(:, :)
    integer :: k
    Even = all(m(2, :) > 0)
    do k = 2, size(m, 2)
      Even = Even .and. .not. Apart(m(:, k), m(:, 1))
    end do
  end function Even

  pure logical function Apart(a, b)
    real(dp), intent(in) :: a(:), b(:)
    Apart = any(abs(a - b) > same*max(abs(a), abs(b)))
  end function Apart

  !> Finds the number of rows between two media that belong to the upper one, if density and compliances agree on it.
  pure subroutine FindContact(upper, lower, between, rows, found)
    real(dp), intent(in) :: upper(3), lower(3), between(:, :)
    real(dp), intent(out) :: rows
    logical, intent(out) :: found
    real(dp) :: least, highest, best, a, b, own
    integer :: q
    found = .false.
    rows = 0
    best = differs
    least = huge(1.0_dp)
    highest = -huge(1.0_dp)
    do q = 1, 3
      a = Told(upper, q)
      b = Told(lower, q)
      if (abs(a - b) < differs*max(a, b)) cycle
      own = SumOf(between, q) - size(between, 2)*b
      own = own/(a - b)
      least = min(least, own)
      highest = max(highest, own)
      if (abs(a - b)/max(a, b) < best) cycle
      best = abs(a - b)/max(a, b)
      rows = own
    end do
    found = best > differs .and. highest - least <= agree .and. least > -0.5_dp .and. highest < size(between, 2) + 0.5_dp
  end subroutine FindContact

  !> Density (1) and compliances (2, 3), which sums over cells keep.
  pure real(dp) function Told(medium, q)
    real(dp), intent(in) :: medium(3)
    integer, intent(in) :: q
    if (q == 1) Told = medium(3)
    if (q == 2) Told = 1/(medium(3)*medium(1)**2)
    if (q == 3) Told = 1/(medium(3)*medium(2)**2)
  end function Told

  pure real(dp) function SumOf(media, q) result(total)
    real(dp), intent(in) :: media(:, :)
    integer, intent(in) :: q
    integer :: k
    total = 0
    do k = 1, size(media, 2)
      total = total + Told(media(:, k), q)
    end do
  end function SumOf

  !> True of a box with more than one medium, or `under` a free surface, of which all is known.
  pure logical function FlatBeside(found, box, under) result(beside)
    type(flat_near_t), intent(in) :: found
    type(box_t), intent(in) :: box
    logical, intent(in) :: under
    beside = (found%flat .or. found%sea) .and. box%low(3) >= found%low .and. box%high(3) <= found%high .and. &
             (under .or. (box%low(3) < found%last .and. box%high(3) > found%first))
  end function FlatBeside

  !> The medium of a row; beyond those looked at the outermost go on.
  pure function FlatMedia(found, row) result(medium)
    type(flat_near_t), intent(in) :: found
    integer, intent(in) :: row
    real(dp) :: medium(size(found%rows, 1))
    medium = found%rows(:, min(max(row, found%low), found%high))
  end function FlatMedia

end module flat_near_m
