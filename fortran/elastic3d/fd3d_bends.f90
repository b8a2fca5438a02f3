!> Motion and traction beside a contact of rock of the 3D grid: how much more they bend than weights over eight nodes can read.
!>
!> Let n be the direction across a contact, t and s along it, u motion, T the traction on it. u, T and derivatives along the contact
!> are continuous. Those across are
!>
!>     du_t/dn = T_t/m - du_n/dt
!>     du_n/dn = T_n/(l + 2 m) - r du_t/dt                                      r = l/(l + 2 m)
!>     dT_t/dn = rho d²u_t/dt² - d/ds m (du_t/ds + du_s/dt) - d/dt (2 m r du_s/ds + r T_n)
!>     dT_n/dn = rho d²u_n/dt² - dT_t/dt
!>
!> with sums over t and s, l and m Lame's moduli. So u bends with integrals of 1/m, 1/(l + 2 m) and r, T with those of m, 2 m r and
!> r: of the model up to the place (model3d_line.f90) less those of the grid. Density jumps by much less, and what T bends with it
!> is left out (trials.md). The grid's are what its differentiator D makes of the medium at its points, D⁻¹ summed over the weights
!> of a receiver: half a sign and ripples that wane over some cells (receiver_earth.f90 does likewise for 2D). What the grid has
!> less or more of in all, as cells beside a contact in a cell may have of r, is taken to be where the grid changes: so there is
!> nothing away from contacts. Of a contact at an end of a line that cuts its cells, it is there, as far as the grid changes there.
!> All moduli are those of the reference frequency.
module fd3d_bends_m
  use der_inverse_m, only: DerInverseAt, DerInverseRipples
  use fd3d_engine_m, only: fd3d_grid_t
  use fd3d_moduli_m, only: fd3d_moduli_t, Fd3dModuli
  use kinds_m, only: dp, sp
  use model3d_line_m, only: line_mu, line_parts, LineParts
  use sinc_m, only: sinc_nodes, SincEven, SincWeights
  use window_m, only: window_t
  implicit none
  private
  public :: Fd3dBends, bend_reach, line_reach

  integer, parameter :: bend_reach = sinc_nodes/2 + 1   !< cells to each side that count
  real(dp), parameter :: line_reach = bend_reach - 0.5_dp   !< cells from a place to the ends of its lines
  integer, parameter :: ripples = 2*bend_reach
  integer, parameter :: ring = 64               !< nodes

contains

  !> The lack of the grid at x [m], in cell c, of the parts of model3d_line.f90 on an axis; line: what the model has of them before
  !> and behind x; `even`: with even weights.
  function Fd3dBends(moduli, window, grid, x, c, axis, line, even) result(bends)
    type(fd3d_moduli_t), intent(in) :: moduli
    type(window_t), intent(in) :: window
    type(fd3d_grid_t), intent(in) :: grid
    real(dp), intent(in) :: x(3), line(:)
    integer, intent(in) :: c(3), axis
    logical, intent(in) :: even
    real(dp) :: bends(line_parts)
    type(fd3d_moduli_t) :: plain
    real(dp) :: cells(line_parts, -bend_reach:bend_reach), ripple(0:ripples), place
    real(sp), allocatable, dimension(:, :, :) :: rho, lambda, mu
    integer :: low(3), high(3), j, part
    plain = moduli
    plain%anelastic = .false.
    low = c
    high = c
    low(axis) = c(axis) - bend_reach
    high(axis) = c(axis) + bend_reach
    allocate (rho(low(1):high(1), low(2):high(2), low(3):high(3)))
    allocate (lambda, mu, mold=rho)
    call Fd3dModuli(plain, window, low, high, rho, lambda, mu)
    associate (l => real(reshape(lambda, [size(lambda)]), dp), m => real(reshape(mu, [size(mu)]), dp))
      do j = -bend_reach, bend_reach
        cells(:, j) = LineParts(l(j + bend_reach + 1), m(j + bend_reach + 1))
      end do
    end associate
    call DerInverseRipples(grid%w(:grid%half_length), ring, ripple)
    place = x(axis)/grid%d(axis) - (grid%first(axis) + c(axis) - 1) + 0.5_dp   ! the same on all ranks
    do part = 1, line_parts
      bends(part) = grid%d(axis)*Lack(cells(part, :), part /= line_mu, place, ripple, even, &
                                      line([part, part + line_parts])/grid%d(axis))
    end do
  end function Fd3dBends

  !> Along a line of cells, by how much the integral of the earth to `place`, counted in cells from the centre of the middle one, is
  !> more than the grid's; centred: of points at the centres of cells, else between them with means of two; before, behind: earth's.
  pure real(dp) function Lack(cells, centred, place, ripple, even, earth) result(off)
    real(dp), intent(in) :: cells(-bend_reach:), place, ripple(0:), earth(2)
    logical, intent(in) :: centred, even
    real(dp), dimension(-bend_reach:bend_reach) :: own, long, step, changes
    real(dp) :: w(sinc_nodes), least, most, cut, jumps
    integer :: j, m, first, from
    from = -bend_reach
    own = cells
    if (.not. centred) then                       ! point j is half a cell before cell j
      from = from + 1
      own(from:) = (cells(:bend_reach - 1) + cells(from:))/2
      own(-bend_reach) = own(from)
    end if
    long = 0
    step = 0
    changes = 0
    if (even) call SincEven(place + merge(0.5_dp, 0.0_dp, centred), first, w)
    if (.not. even) call SincWeights(place + merge(0.5_dp, 0.0_dp, centred), first, w)
    w = w/sum(w)
    do j = from, bend_reach
      least = j - merge(0.5_dp, 1.0_dp, centred)
      most = least + 1
      long(j) = max(0.0_dp, min(most, place + line_reach) - max(least, place - line_reach))
      step(j) = sum(w*[(DerInverseAt(ripple, first + m - j - merge(1, 0, centred)), m=0, sinc_nodes - 1)])
      if (j > from .and. j < bend_reach) changes(j) = abs(own(j + 1) - own(j - 1))
    end do
    off = 0
    if (.not. sum(changes) > 0) return
    associate (above => own - (own(from) + own(bend_reach))/2, all => earth(1) + earth(2) - sum(own*long))
      associate (ends => [from + 1, bend_reach - 1])
        jumps = sum(changes(ends))
        cut = sign(min(abs(all), jumps), all)
        off = (earth(1) - earth(2))/2 - sum(above*long*step) - (all - cut)*sum(changes*step)/sum(changes)
        if (jumps > 0) off = off - cut*sum(changes(ends)*step(ends))/jumps
      end associate
    end associate
  end function Lack

end module fd3d_bends_m
