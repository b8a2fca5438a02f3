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
!> Planes are added from the top down, two more below the last one wanted; each has cells around those wanted, two on each side.
module contact_cells_m
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: contact_cells_t, ContactsBegin, ContactsAdd, ContactsFinish, contact_reach

  integer, parameter :: contact_reach = 2         !< a cell depends on those so far away along an axis
  !> So much stiffer at most [logarithm], P and S: the largest stable step is then shorter by less than the 1 % that the program
  !> stays below that of an even medium (eigenvalues of random contacts at half-lengths 1, 2, 4).
  real(dp), parameter :: most(2) = [0.12_dp, 0.30_dp]
  real(dp), parameter :: resists = 0.7499_dp      !< largest ratio of the moduli

  !> A plane of cells: mean and variance of logarithms, (2, nx, ny), 0 where no rock is.
  type :: contact_plane_t
    real(sp), allocatable :: u(:, :, :), v(:, :, :)
    real(sp), allocatable :: push(:, :, :, :)     !< (2, 3, nx, ny) given to the cells beside it along each axis: d
  end type contact_plane_t

  type :: contact_cells_t
    private
    integer :: n(2) = 0
    integer :: added = 0                          !< planes
    type(contact_plane_t) :: plane(0:3)           !< the last four, plane k at modulo(k, 4)
  end type contact_cells_t

contains

  pure subroutine ContactsBegin(state, nx, ny)
    type(contact_cells_t), intent(out) :: state
    integer, intent(in) :: nx, ny
    integer :: p
    state%n = [nx, ny]
    do p = 0, 3
      associate (a => state%plane(p))
        allocate (a%u(2, nx, ny), a%v(2, nx, ny), a%push(2, 3, nx, ny), source=0.0_sp)
      end associate
    end do
  end subroutine ContactsBegin

  !> The next plane below.
  pure subroutine ContactsAdd(state, u, v)
    type(contact_cells_t), intent(inout) :: state
    real(sp), intent(in) :: u(:, :, :), v(:, :, :)
    state%added = state%added + 1
    associate (a => state%plane(modulo(state%added, 4)))
      a%u = u
      a%v = v
      a%push = 0
    end associate
    if (state%added > 1) call Decide(state, state%added - 1)
  end subroutine ContactsAdd

  !> Changes the medium (nx, ny, parts) of cells from (i0, j0) on, of the plane two above the last one, from that by means.
  pure subroutine ContactsFinish(state, i0, j0, medium)
    type(contact_cells_t), intent(in) :: state
    integer, intent(in) :: i0, j0
    real(sp), intent(inout) :: medium(:, :, :)
    integer :: i, j, k
    k = state%added - contact_reach
    associate (here => state%plane(modulo(k, 4)))
      do j = 1, size(medium, 2)
        do i = 1, size(medium, 1)
          if (here%u(1, i0 + i - 1, j0 + j - 1) > 0) call FinishCell(state, [i0 + i - 1, j0 + j - 1, k], medium(i, j, :3))
        end do
      end do
    end associate
  end subroutine ContactsFinish

  !> What each cell of plane k gives to those beside it.
  pure subroutine Decide(state, k)
    type(contact_cells_t), intent(inout) :: state
    integer, intent(in) :: k
    real(dp) :: lo(2, 3), hi(2, 3)
    integer :: i, j, q, above
    above = max(k - 1, 1)
    associate (p => state%plane(modulo(k, 4)), n => state%n)
      do j = 1, n(2)
        do i = 1, n(1)
          if (all(p%v(:, i, j) <= 0)) cycle
          lo(:, 1) = p%u(:, max(1, i - 1), j)
          hi(:, 1) = p%u(:, min(n(1), i + 1), j)
          lo(:, 2) = p%u(:, i, max(1, j - 1))
          hi(:, 2) = p%u(:, i, min(n(2), j + 1))
          lo(:, 3) = state%plane(modulo(above, 4))%u(:, i, j)
          hi(:, 3) = state%plane(modulo(k + 1, 4))%u(:, i, j)
          do q = 1, 2
            p%push(q, :, i, j) = real(Pushed(lo(q, :), real(p%u(q, i, j), dp), hi(q, :), real(p%v(q, i, j), dp), most(q)), sp)
          end do
        end do
      end do
    end associate
  end subroutine Decide

  !> d along each axis, with the sign of hi - lo.
  pure function Pushed(lo, u, hi, v, most) result(d)
    real(dp), intent(in) :: lo(3), u, hi(3), v, most
    real(dp) :: d(3), step(3), share
    integer :: a
    d = 0
    step = 0
    where (lo > 0 .and. hi > 0 .and. (u - lo)*(hi - u) > 0) step = hi - lo    ! others are no steps
    do a = 1, 3
      if (.not. abs(step(a)) > 0) cycle
      share = min(v*step(a)**2/sum(step**2), (u - lo(a))*(hi(a) - u))
      d(a) = sign(min(most, (sqrt(step(a)**2 + 2*share) - abs(step(a)))/2), step(a))
    end do
  end function Pushed

  !> vp, vs, rho of cell c.
  pure subroutine FinishCell(state, c, medium)
    type(contact_cells_t), intent(in) :: state
    integer, intent(in) :: c(3)
    real(sp), intent(inout) :: medium(3)
    real(dp) :: modulus(2), got(2), given(2), stiffest(2), rho
    integer :: side, a, n(3)
    associate (here => state%plane(modulo(c(3), 4)))
      got = 0
      given = 0
      stiffest = 0
      do a = 1, 3
        do side = -1, 1, 2
          n = c
          n(a) = n(a) + side
          if (any(n < 1) .or. any(n(:2) > state%n)) cycle
          associate (there => state%plane(modulo(n(3), 4)))
            if (.not. there%u(1, n(1), n(2)) > 0) cycle
            got = got - side*there%push(:, a, n(1), n(2))
            given = given + exp(-real(there%u(:, n(1), n(2)), dp))*(1 - exp(-side*real(here%push(:, a, c(1), c(2)), dp)))
            stiffest = max(stiffest, exp(real(there%u(:, n(1), n(2)), dp)))
          end associate
        end do
      end do
      if (all(abs(got) <= 0) .and. all(abs(here%push(:, :, c(1), c(2))) <= 0)) return
      rho = medium(3)
      modulus = rho*real(medium(:2), dp)**2
      where (any(abs(here%push(:, :, c(1), c(2))) > 0, 2)) modulus = 1/max(1/modulus + given, 1/stiffest)
      modulus = modulus*exp(min(max(got, -most), most))
      modulus(2) = min(modulus(2), resists*modulus(1))
      medium(:2) = real(sqrt(modulus/rho), sp)
    end associate
  end subroutine FinishCell

end module contact_cells_m
