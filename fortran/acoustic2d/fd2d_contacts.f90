!> Pressure and velocity at a place beside contacts, as sums over cells. Arguments stand in fd2d.f90.
!>
!> Weights over eight nodes read a field as if it were smooth. It is not: along a contact velocity jumps with 1/density, across it
!> velocity bends with compressibility 1/K, and pressure with density. Smooth are rho v along a contact, v across it, and pressure.
!> Let n be the direction across, in which the medium on the grid changes around the place, W the weights of the place, rho the
!> model's density there, o the other axis than a. Then
!>
!>     p   = W(p) + sum_a n_a² (X_a W(1/rho dp/da) + C_a W(K div (1/rho grad p)) - B_a W(d²p/do²))
!>     v_a = sum_b n_a n_b W(v_b) + (δ_ab - n_a n_b) W(rho v_b)/rho
!>           + n_a² (Y_a W(K div v - K q) - F_a W(d(rho v_o)/do))
!>           + n_o² (X_o W(dv_o/da) + C_o W(K div (1/rho grad (rho v_a))) - B_o W(d²(rho v_a)/da²))/rho
!>
!> X, Y, F are the integrals of density, 1/K and 1/rho along an axis up to the place less those of the grid (receiver_earth.f90): so
!> much more than on the grid a field bends on its way there, by dp/da = -rho dv_a/dt and dv_a/da = -1/K dp/dt - dv_o/do. C and B
!> are those of density times the integrals of 1/K and 1/rho over the rest of the way: v_a is another there than at the place; 0 on
!> the model's own grid. Third integrals, of density times those, add as C and B do, of 1/rho d/da of a field (AddThird). Where the
!> medium is even all of it is W. A source is spread by the weights of pressure: it and a receiver may change places.
!>
!> Two kinds of contacts are too strong for it. The error of W grows with the bend of pressure over a cell, density times
!> compressibility times the square of frequency: beside gas and air it is larger than what is cured, and W reads all fields. In
!> rock beside a medium a hundred times softer, K div of short differences is no rate, so Y, C and B are left out (t880).
submodule(fd2d_m) fd2d_contacts
  use kinds_m, only: pi
  use off_grid_points_m, only: OffGridAdd, OffGridStart
  use receiver_earth_m, only: lacks_c, lacks_flow, lacks_mass, lacks_mass_c, lacks_mass_flow, lacks_rho, lacks_third_c, &
                              lacks_third_flow
  implicit none

  real(dp), parameter :: slope_w(contact_slopes) = [9/8.0_dp, -1/24.0_dp]   !< of differences in what is a small part of a field
  integer, parameter :: beyond = sinc_nodes/2 + contact_slopes   !< cells that a place reads to each side
  integer, parameter :: around = 3            !< cells around a place that tell how the medium changes
  real(dp), parameter :: amid = 0.5_dp + 1.0e-6_dp      !< and so much: a place amid two nodes has as many on both sides
  real(dp), parameter :: even = 1.0e-3_dp     !< of a cell of the medium: less is none
  real(dp), parameter :: even_mass = 1.05_dp  !< of densities in reach of W, the largest over the least: likewise
  real(dp), parameter :: bend_most = 5        !< of pressure at fpeak over a cell, more than in an even medium: more is not cured
  real(dp), parameter :: softer_most = 100    !< of compressibilities around a place: more is not cured by Y, C, B

contains

  module procedure ContactPoint
    real(dp) :: n(2, 2), d(2), place(2), bend, softer, heavier
    integer :: at(2), a, o
    d = [self%grid%dx, self%grid%dz]
    place = [(x - self%ax%x0)/self%ax%h, (z - self%az%x0)/self%az%h] + 1
    at = nint(place)
    beside = any(abs(lacks(lacks_rho + 1:)) > 0)
    if (.not. beside) return
    call Strength(self, place, bend, softer, heavier)
    beside = (heavier > even_mass .or. Uneven()) .and. bend <= bend_most
    if (.not. beside) return
    n = Directions(self, place)
    point%low = at - beyond
    allocate (point%w(2*beyond + 1, 2*beyond + 1, 0:2), source=0.0_dp)
    if (field == field_sigma) then
      call AddPressure()
    else
      a = field
      o = 3 - a
      call AddSmooth()
      call AddBent()
    end if

  contains

    !> The place in a field whose points are so many half cells off the nodes.
    type(points_t) function CellsOf(halves) result(cells)
      integer, intent(in) :: halves(2)
      call OffGridStart(cells)
      call OffGridAdd(cells, self%ax, self%az, x, z, 0.5_dp*halves(1), 0.5_dp*halves(2), 1.0_dp)
    end function CellsOf

    !> True where what the grid lacks is worth its weights.
    pure logical function Uneven()
      associate (rho => lacks(lacks_rho), k => self%kappa(at(1), at(2)))
        Uneven = any(max(abs(lacks(lacks_c))*k, abs(lacks(lacks_flow))*rho, abs(lacks(lacks_mass))/rho)/d > even)
      end associate
    end function Uneven

    subroutine AddPressure()
      type(points_t) :: cells
      integer :: a, c
      cells = CellsOf([0, 0])
      do c = 1, cells%start(2) - 1
        call Add(field_sigma, [cells%i(c), cells%k(c)], real(cells%w(c), dp))
        do a = 1, 2
          call AddBend(field_sigma, a, [cells%i(c), cells%k(c)], real(cells%w(c), dp), Twice(a), point%bent(:, 0))
        end do
      end do
      do a = 1, 2
        cells = CellsOf([2 - a, a - 1])
        do c = 1, cells%start(2) - 1
          point%moved(a) = point%moved(a) + n(a, a)*lacks(lacks_mass(a))*cells%w(c)/Density(self, a, cells%i(c), cells%k(c))/d(a)
          call AddSlope(field_sigma, a, 1, [cells%i(c), cells%k(c)], &
                        n(a, a)*lacks(lacks_mass(a))*cells%w(c)/Density(self, a, cells%i(c), cells%k(c)))
          call AddThird(field_sigma, a, [cells%i(c), cells%k(c)], real(cells%w(c), dp))
        end do
      end do
    end subroutine AddPressure

    !> C and B of the contact across an axis,
    pure function Twice(across)
      integer, intent(in) :: across
      real(dp) :: Twice(2)
      Twice = lacks([lacks_mass_c(across), lacks_mass_flow(across)])
    end function Twice

    !> and w times the terms with third integrals, from the difference between the cells around the point of the velocity across.
    subroutine AddThird(of, across, cell, w)
      integer, intent(in) :: of, across, cell(2)
      real(dp), intent(in) :: w
      real(dp) :: bent(2)
      integer :: side, to(2)
      do side = -1, 1, 2
        to = cell
        to(across) = to(across) + (1 + side)/2
        if (any(to > shape(self%rho))) cycle
        bent = 0
        call AddBend(of, across, to, side*w/d(across)/DensityOf(of, across, cell), &
                     lacks([lacks_third_c(across), lacks_third_flow(across)]), bent)
        point%bent(:, 0) = point%bent(:, 0) + bent
        point%bent(:, across) = point%bent(:, across) + 0.5_dp*side*bent
      end do
    end subroutine AddThird

    !> Adds w times the terms with C and B, or those of the third power, of the contact across an axis, of pressure or of density
    !> times the velocity along it, from differences between a cell and those beside it.
    subroutine AddBend(of, across, cell, w, numbers, bent)
      integer, intent(in) :: of, across, cell(2)
      real(dp), intent(in) :: w, numbers(2)
      real(dp), intent(inout) :: bent(2)
      real(dp) :: part
      integer :: b, side, to(2), between(2)
      if (softer > softer_most .or. n(across, across) <= 0 .or. all(abs(numbers) <= 0)) return
      do b = 1, 2
        do side = -1, 1, 2
          to = cell
          to(b) = to(b) + side
          between = min(to, cell)
          if (self%az%surface) between(2) = max(between(2), 1)
          if (any(between < 1) .or. any(to > shape(self%rho))) cycle
          part = numbers(1)*ModulusOf(of, cell)/DensityOf(of, b, between)
          if (b /= across) part = part - numbers(2)
          part = w*n(across, across)*part/d(b)**2
          bent(b) = bent(b) + 0.5_dp*part*merge(1.0_dp, lacks(lacks_rho), of == field_sigma)
          call AddImaged(of, cell, -part, of /= field_sigma)
          call AddImaged(of, to, part, of /= field_sigma)
        end do
      end do
    end subroutine AddBend

    !> The modulus where a field is in a cell; of a velocity the mean of both nodes beside it,
    pure real(dp) function ModulusOf(of, cell) result(k)
      integer, intent(in) :: of, cell(2)
      integer :: to(2)
      to = NextCell(of, cell)
      k = 2/(1/real(self%kappa(cell(1), cell(2)), dp) + 1/real(self%kappa(to(1), to(2)), dp))
    end function ModulusOf

    !> and the density half a cell beyond along an axis.
    pure real(dp) function DensityOf(of, axis, cell) result(rho)
      integer, intent(in) :: of, axis, cell(2)
      integer :: to(2)
      to = NextCell(of, cell)
      rho = 0.5_dp*(Density(self, axis, cell(1), cell(2)) + Density(self, axis, to(1), to(2)))
    end function DensityOf

    !> The cell in whose middle a field is together with one: that one itself, of a velocity the next along its axis.
    pure function NextCell(of, cell) result(to)
      integer, intent(in) :: of, cell(2)
      integer :: to(2)
      to = cell
      if (of /= field_sigma) to(of) = min(to(of) + 1, size(self%rho, of))
    end function NextCell

    !> The part that is smooth: v across a contact, rho v along it.
    subroutine AddSmooth()
      type(points_t) :: cells
      real(dp) :: ratio
      integer :: b, c
      do b = 1, 2
        cells = CellsOf([2 - b, b - 1])
        do c = 1, cells%start(2) - 1
          ratio = Density(self, b, cells%i(c), cells%k(c))/lacks(lacks_rho)
          call Add(b, [cells%i(c), cells%k(c)], cells%w(c)*(n(a, b)*(1 - ratio) + merge(ratio, 0.0_dp, a == b)))
          if (a == b) call AddBend(a, o, [cells%i(c), cells%k(c)], cells%w(c)/lacks(lacks_rho), Twice(o), point%bent(:, 0))
        end do
      end do
    end subroutine AddSmooth

    !> The part by which fields bend on their way to the place.
    subroutine AddBent()
      type(points_t) :: cells
      real(dp) :: w
      integer :: b, c
      cells = CellsOf([0, 0])
      do c = 1, cells%start(2) - 1
        associate (i => cells%i(c), k => cells%k(c))
          w = merge(n(a, a)*lacks(lacks_c(a)), 0.0_dp, softer <= softer_most)*self%kappa(i, k)*cells%w(c)
          do b = 1, 2
            call AddSlope(b, b, 0, [i, k], w)
          end do
          point%q = point%q - w*SourceAt(i, k)/product(d)
          call AddSlope(o, o, 0, [i, k], -n(a, a)*lacks(lacks_flow(a))*cells%w(c), times_density=.true.)
        end associate
      end do
      cells = CellsOf([1, 1])
      do c = 1, cells%start(2) - 1
        call AddSlope(o, a, 1, [cells%i(c), cells%k(c)], n(o, o)*lacks(lacks_mass(o))*cells%w(c)/lacks(lacks_rho))
        call AddThird(a, o, [cells%i(c), cells%k(c)], cells%w(c)/lacks(lacks_rho))
      end do
    end subroutine AddBent

    !> Adds w times the difference of a field along an axis around a cell: `up` 1 half a cell beyond it, else at it.
    subroutine AddSlope(of, axis, up, cell, w, times_density)
      integer, intent(in) :: of, axis, up, cell(2)
      real(dp), intent(in) :: w
      logical, intent(in), optional :: times_density
      integer :: to(2), l, side
      if (abs(w) <= 0) return
      do l = 1, contact_slopes
        do side = -1, 1, 2
          to = cell
          to(axis) = to(axis) + up + merge(l - 1, -l, side > 0)
          call AddImaged(of, to, side*w*slope_w(l)/d(axis), present(times_density))
        end do
      end do
    end subroutine AddSlope

    !> Adds a cell; what lies above a free surface is the image of what lies below, what lies beyond the grid is nothing.
    subroutine AddImaged(of, cell, w, times_density)
      integer, intent(in) :: of, cell(2)
      real(dp), intent(in) :: w
      logical, intent(in) :: times_density
      real(dp) :: part
      integer :: to(2)
      to = cell
      part = w
      if (self%az%surface .and. to(2) < 1) then
        to(2) = merge(1, 2, of == field_vz) - to(2)
        if (of /= field_vz) part = -part
      end if
      if (any(to < 1) .or. any(to > shape(self%rho))) return
      if (times_density) part = part*Density(self, of, to(1), to(2))
      call Add(of, to, part)
    end subroutine AddImaged

    !> The weight that the source has in a cell.
    pure real(dp) function SourceAt(i, k) result(w)
      integer, intent(in) :: i, k
      integer :: m
      w = 0
      do m = 1, source%start(2) - 1
        if (source%i(m) == i .and. source%k(m) == k) w = w + source%w(m)
      end do
    end function SourceAt

    subroutine Add(of, cell, w)
      integer, intent(in) :: of, cell(2)
      real(dp), intent(in) :: w
      associate (to => point%w(cell(1) - point%low(1) + 1, cell(2) - point%low(2) + 1, of))
        to = to + w
      end associate
    end subroutine Add

  end procedure ContactPoint

  module procedure Density
    if (self%grid%apart) then
      if (axis == 1) Density = real(self%rho(i, k), dp)
      if (axis == 2) Density = real(self%rho_z(i, k), dp)
    else if (axis == 1) then
      Density = 0.5_dp*(real(self%rho(i, k), dp) + self%rho(min(i + 1, self%grid%nx), k))
    else
      Density = 0.5_dp*(real(self%rho(i, k), dp) + self%rho(i, min(k + 1, self%grid%nz)))
    end if
  end procedure Density

  !> Of contacts in reach of W around a place: the differences of density and of compressibility, times the square of what a wave of
  !> fpeak does over a cell; and of compressibility and of density the largest over the least.
  pure subroutine Strength(self, place, bend, softer, heavier)
    class(fd2d_t), intent(in) :: self
    real(dp), intent(in) :: place(2)
    real(dp), intent(out) :: bend, softer, heavier
    integer :: low(2), high(2), i, k
    real(dp), dimension(3) :: least, most, one
    low = max(1, ceiling(place - sinc_nodes/2 - amid))
    high = min(shape(self%rho), floor(place + sinc_nodes/2 + amid))
    least = huge(least)
    most = 0
    do k = low(2), high(2)
      do i = low(1), high(1)
        one = [1/real(self%kappa(i, k), dp), Density(self, 1, i, k), Density(self, 2, i, k)]
        least = min(least, one)
        most = max(most, one)
      end do
    end do
    softer = most(1)/least(1)
    heavier = maxval(most(2:))/minval(least(2:))
    bend = (most(1) - least(1))*(maxval(most(2:)) - minval(least(2:)))*(2*pi*self%scheme%fpeak)**2* &
           self%grid%dx*self%grid%dz
  end subroutine Strength

  !> n_a n_b: of how the logarithms of density and modulus change from node to node around a place, the shares of the axes.
  pure function Directions(self, place) result(n)
    class(fd2d_t), intent(in) :: self
    real(dp), intent(in) :: place(2)
    real(dp) :: n(2, 2)
    real(dp) :: slope(2, 2)
    integer :: i, k
    n = 0
    do k = max(2, ceiling(place(2) - around - amid)), min(self%grid%nz - 1, floor(place(2) + around + amid))
      do i = max(2, ceiling(place(1) - around - amid)), min(self%grid%nx - 1, floor(place(1) + around + amid))
        slope(:, 1) = log([Density(self, 1, i, k)/Density(self, 1, i - 1, k), Density(self, 2, i, k)/Density(self, 2, i, k - 1)])
        slope(:, 2) = 0.5_dp*log(real([self%kappa(i + 1, k)/self%kappa(i - 1, k), self%kappa(i, k + 1)/self%kappa(i, k - 1)], dp))
        slope = slope/spread([self%grid%dx, self%grid%dz], 2, 2)
        n = n + exp(-0.25_dp*sum((place - [i, k])**2))*matmul(slope, transpose(slope))
      end do
    end do
    n = n/max(n(1, 1) + n(2, 2), tiny(1.0_dp))
  end function Directions

end submodule fd2d_contacts
