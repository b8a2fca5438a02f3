!> Contacts of rock inside cells of the 3D grid. Waves across a contact see compliances, waves along it stiffnesses, so around it
!> both must have the right sum, and one cell with one modulus cannot have both: with the mean compliance, as thin layers ask for,
!> it is too soft for waves along it, which costs the more the farther they go. Here the cells on both sides help, as the samples
!> of a step do that was cut to the grid's band (Mittet 2017, Geophysics 82, T165-T178): the stiff one gets stiffer, the soft one
!> softer, so that the mean square of the logarithm of each modulus stays that of the earth at its own resolution, and the cell
!> between gets the compliance that then lacks. With u the mean logarithms, v the variance in the cell, - and + the cells beside it:
!>
!>     u(+) + d, u(-) - d       2 d (u(+) - u(-)) + 2 d**2 = v
!>
!> exact to second order in the contrast for all products of moduli that such sums have, whatever the place in the cell. Axes
!> share v by the squares of their differences. Thin layers, whose cell is no step between those beside it, keep the mean
!> compliance; so do cells beside fluid or air, and all that holds one medium is as it is.
!>
!> The outermost cells of a window go on in the absorbing layers. Stiffened ones would be a block of faster rock there, for which
!> the time step is too long, so across a side of the window the outermost are given nothing (t637).
!>
!> Planes are added from the top down, two more below the last one wanted; each has cells around those wanted, two on each side.
module contact_cells_m
  use iso_c_binding, only: c_int8_t
  use kinds_m, only: dp, sp
  use mixed_rows_c, only: contact_row_decide, contact_row_finish, contact_row_soften, contact_row_speeds
  use window_m, only: window_t
  implicit none
  private
  public :: contact_cells_t, ContactsBegin, ContactsAdd, ContactsFinish, contact_reach

  integer, parameter :: contact_reach = 2         !< a cell depends on those so far away along an axis
  !> So much stiffer at most [logarithm], P and S: the largest stable step is then shorter by less than the 1 % that the program
  !> stays below that of an even medium (eigenvalues of random contacts in cubes at half-lengths 1, 2, 4).
  real(sp), parameter :: most(2) = [0.12_sp, 0.30_sp]
  !> Waves along a sheet of stiffened cells see them alone, those across it softer ones too, of this part: so cells that are longer
  !> across a contact than along it must be stiffened less, that the squares of frequencies are larger by 2 % at most.
  real(dp), parameter :: softer = 0.805_dp, larger = 1.02_dp
  real(sp), parameter :: resists = 0.7499_sp      !< largest ratio of the moduli

  !> A plane of cells with a ring of one around, which holds nothing: rows along x of P, then of S waves; 0 where no rock is.
  type :: contact_plane_t
    real(sp), allocatable :: u(:, :, :), v(:, :, :)     !< mean and variance of logarithms, (0:nx+1, 2, 0:ny+1)
    real(sp), allocatable :: soft(:, :, :)              !< exp(-u)
    real(sp), allocatable :: push(:, :, :, :)           !< (0:nx+1, 2, 0:ny+1, 3) given to the cells beside it along each axis: d
    logical, allocatable :: gives(:)                    !< (0:ny+1) a cell of the row gives something
  end type contact_plane_t

  type :: contact_cells_t
    private
    integer :: n(2) = 0
    integer :: first(3) = 1                       !< number of the first cell in the window,
    integer :: whole(3) = 0                       !< which has so many cells
    logical :: layer_above = .false.              !< there is an absorbing layer above it
    real(sp) :: most(2, 3) = 0                    !< what P and S waves may be given along each axis
    integer :: added = 0                          !< planes
    type(contact_plane_t) :: plane(0:3)           !< the last four, plane k at modulo(k, 4)
  end type contact_cells_t

contains

  !> For planes of nx x ny cells, the first of them number first(1:3) of a window.
  pure subroutine ContactsBegin(state, nx, ny, first, window, layer_above)
    type(contact_cells_t), intent(out) :: state
    integer, intent(in) :: nx, ny, first(3)
    type(window_t), intent(in) :: window
    logical, intent(in) :: layer_above
    real(dp) :: along(3)
    integer :: p
    along = 1/[window%dx, window%dy, window%dz]**2
    along = 1 - along/sum(along)
    state%most = spread(most, 2, 3)
    state%most(1, :) = min(state%most(1, :), real(log((larger - softer*(1 - along))/along), sp))
    state%n = [nx, ny]
    state%first = first
    state%whole = [window%nx, window%ny, window%nz]
    state%layer_above = layer_above
    do p = 0, 3
      associate (a => state%plane(p))
        allocate (a%u(0:nx + 1, 2, 0:ny + 1), a%push(0:nx + 1, 2, 0:ny + 1, 3), source=0.0_sp)
        allocate (a%v, a%soft, source=a%u)
        allocate (a%gives(0:ny + 1), source=.false.)
      end associate
    end do
  end subroutine ContactsBegin

  !> The next plane below, (nx, 2, ny).
  subroutine ContactsAdd(state, u, v)
    type(contact_cells_t), intent(inout) :: state
    real(sp), intent(in) :: u(:, :, :), v(:, :, :)
    state%added = state%added + 1
    associate (a => state%plane(modulo(state%added, 4)), nx => state%n(1), ny => state%n(2))
      a%u(1:nx, :, 1:ny) = u
      call contact_row_soften(size(a%u), a%u, a%soft)
      a%v(1:nx, :, 1:ny) = v
      if (any(a%gives)) a%push = 0
      a%gives = .false.
    end associate
    if (state%added > 1) call Decide(state, state%added - 1)
  end subroutine ContactsAdd

  !> What each cell of plane k gives to those beside it.
  subroutine Decide(state, k)
    type(contact_cells_t), intent(inout) :: state
    integer, intent(in) :: k
    integer :: a, j, q
    associate (p => state%plane(modulo(k, 4)), above => state%plane(modulo(k - 1, 4)), below => state%plane(modulo(k + 1, 4)), &
               nx => state%n(1))
      do j = 1, state%n(2)
        if (.not. any(p%v(1:nx, :, j) > 0)) cycle
        do q = 1, 2
          call contact_row_decide(nx, most(q), p%u(:, q, j), p%u(1:nx, q, j - 1), p%u(1:nx, q, j + 1), above%u(1:nx, q, j), &
                                  below%u(1:nx, q, j), p%v(1:nx, q, j), p%push(1:nx, q, j, 1), p%push(1:nx, q, j, 2), &
                                  p%push(1:nx, q, j, 3))
          do a = 1, 3
            p%push(1:nx, q, j, a) = min(max(p%push(1:nx, q, j, a), -state%most(q, a)), state%most(q, a))
          end do
        end do
        p%gives(j) = any(abs(p%push(1:nx, :, j, :)) > 0)
      end do
    end associate
  end subroutine Decide

  !> True of the k-th plane of cells across an axis if it is an outermost one of the window, which goes on in a layer.
  pure logical function GoesOn(state, axis, k)
    type(contact_cells_t), intent(in) :: state
    integer, intent(in) :: axis, k
    associate (cell => state%first(axis) + k - 1)
      GoesOn = cell == state%whole(axis) .or. (cell == 1 .and. (axis < 3 .or. state%layer_above))
    end associate
  end function GoesOn

  !> Changes the medium (nx, ny, parts) of cells from (i0, j0) on, of the plane two above the last one, from that by means.
  subroutine ContactsFinish(state, i0, j0, medium)
    type(contact_cells_t), intent(in) :: state
    integer, intent(in) :: i0, j0
    real(sp), intent(inout) :: medium(:, :, :)
    integer :: j, k, at
    k = state%added - contact_reach
    associate (here => state%plane(modulo(k, 4)), above => state%plane(modulo(k - 1, 4)), below => state%plane(modulo(k + 1, 4)))
      do j = 1, size(medium, 2)
        at = j0 + j - 1
        if (any(here%gives(at - 1:at + 1)) .or. above%gives(at) .or. below%gives(at)) &
          call FinishRow(state, k, here, above, below, i0, at, size(medium, 1), medium(:, j, :))
      end do
    end associate
  end subroutine ContactsFinish

  !> vp, vs, rho of n cells of row j of plane k from cell i0 on.
  subroutine FinishRow(state, k, here, above, below, i0, j, n, medium)
    type(contact_cells_t), intent(in) :: state
    integer, intent(in) :: k
    type(contact_plane_t), intent(in) :: here, above, below
    integer, intent(in) :: i0, j, n
    real(sp), intent(inout) :: medium(:, :)
    real(sp) :: modulus(n, 2), soft_y(n, 2), soft_z(n, 2), got_y(n), got_z(n)
    integer(c_int8_t) :: changed(n)
    integer :: q, i, i1
    i1 = i0 + n - 1
    changed = 0
    do q = 1, 2
      modulus(:, q) = medium(:, 3)*medium(:, q)**2
      soft_y(:, 1) = here%soft(i0:i1, q, j - 1)
      soft_y(:, 2) = here%soft(i0:i1, q, j + 1)
      soft_z(:, 1) = above%soft(i0:i1, q, j)
      soft_z(:, 2) = below%soft(i0:i1, q, j)
      got_y = here%push(i0:i1, q, j - 1, 2) - here%push(i0:i1, q, j + 1, 2)
      got_z = above%push(i0:i1, q, j, 3) - below%push(i0:i1, q, j, 3)
      if (GoesOn(state, 2, j)) got_y = 0
      if (GoesOn(state, 3, k)) got_z = 0
      do i = i0, i1                               ! nothing of what comes along x
        if (GoesOn(state, 1, i)) got_y(i - i0 + 1) = got_y(i - i0 + 1) - (here%push(i - 1, q, j, 1) - here%push(i + 1, q, j, 1))
      end do
      call contact_row_finish(n, most(q), here%soft(i0 - 1:i1 + 1, q, j), soft_y, soft_z, here%push(i0 - 1:i1 + 1, q, j, 1), &
                              here%push(i0:i1, q, j, 2), here%push(i0:i1, q, j, 3), got_y, got_z, modulus(:, q), changed)
    end do
    call contact_row_speeds(n, resists, modulus, changed, here%u(i0:i1, 1, j), medium(:, 3), medium(:, 1), medium(:, 2))
  end subroutine FinishRow

end module contact_cells_m
