!> The grid lacks something of the earth at source and receivers: only rank 0, which has the model's own samples, can tell. A
!> contact of the model is a step, on the grid it is some cells wide; fd2d_contacts.f90 tells what follows for pressure and
!> velocities.
!>
!> Along an axis velocity is the integral of -1/K dp/dt and of other smooth fields times 1/density, pressure that of -rho dv/dt.
!> The grid's velocity is what its differentiator D makes of the medium at nodes, D v = -1/K dp/dt; between its points the weights
!> W of a receiver read it. What the medium of one node does is so the sum over W of D⁻¹, which is half a sign and ripples that
!> wane over some cells; likewise for pressure and density between nodes. Nodes are means of samples, and cut as regrid.f90 does.
module receiver_earth_m
  use der_inverse_m, only: DerInverseAt, DerInverseRipples
  use kinds_m, only: dp, sp
  use model_m, only: model_t
  use model_window_m, only: ModelApart, SameStep
  use parameters_m, only: job_t
  use regrid_axis_m, only: kernel_reach, RegridShare
  use regrid_m, only: BetweenSamples, given, least_part, PlacesBetween
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use sinc_m, only: sinc_nodes, SincWeights
  implicit none
  private
  public :: EarthOfShot, EarthShare, EarthTold, PlaceUsed

  !> Numbers of a place: its density [kg/m3]; of the lines through it along x and z, from far outside up to it, the integrals of
  !> compressibility [m/Pa], of 1/density [m4/kg], and of density [kg/m2] less those of the grid; of density times the first two
  !> from the place back to where it is [s2, m2], less those of the grid; and of density times these times density [s2 kg/m2, kg].
  integer, parameter, public :: lacks_rho = 1, lacks_c(2) = [2, 9], lacks_flow(2) = [3, 10], lacks_mass(2) = [4, 11], &
                                lacks_mass_c(2) = [5, 12], lacks_mass_flow(2) = [6, 13], lacks_third_c(2) = [7, 14], &
                                lacks_third_flow(2) = [8, 15]
  integer, parameter :: lacks_numbers = 15

  integer, parameter :: reach = 12            !< cells: samples and ripples farther away are left out
  integer, parameter :: ripples = 2*reach, ring = 256   !< nodes
  integer, parameter :: near_ripples = 8      !< nodes: what D is off at long waves adds up in third integrals of longer ones
  real(dp), parameter :: third_part = 0.75_dp !< of third integrals: about what higher powers, left out, leave of them at 5 points
  real(dp), parameter :: full_to = 1, none_from = 2.5_dp         !< cells: third integrals count to here in full, beyond not at all
  integer, parameter :: few = 16              !< receivers for which another thread is worth while

  !> The grid and the lattice of samples, the same for all receivers.
  type :: grid_t
    real(dp) :: d(2)                          !< its spacings, those of the model,
    real(dp) :: own(2)
    real(dp) :: step(2)                       !< and of the lattice of samples and places between them [m]
    integer :: more(2), last(2)
    integer :: mean(2)                        !< cells: a node is a mean over less to each side
    logical :: mirrored(2)                    !< before the first sample there is the image of the earth, as above a free surface
    real(dp) :: ripple(0:ripples)             !< what D⁻¹ has besides 1/2 at 1/2, 3/2, ... cells
  end type grid_t

  !> Means of the samples along a line, (numbers, node), and how much of each is of samples of it.
  type :: means_t
    integer :: first                          !< number of the first node, from 0
    real(dp), allocatable :: a(:, :), known(:)
  end type means_t

contains

  !> True of a survey that is told this: the grid has the model's own samples or means of them (regrid=cell).
  pure logical function EarthTold(model, job, scheme)
    type(model_t), intent(in) :: model
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    EarthTold = ModelApart(model, job, scheme%dx, scheme%dz) .or. SameStep(scheme%dx, model%dx) .and. SameStep(scheme%dz, model%dz)
  end function EarthTold

  !> Sets shot%at_places where that is so and the earth is not even around all places: of receivers and, the last, source.
  subroutine EarthOfShot(model, job, scheme, shot)
    type(model_t), intent(in) :: model
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(inout) :: shot
    type(grid_t) :: grid
    integer :: r
    if (allocated(shot%at_places)) deallocate (shot%at_places)
    if (.not. EarthTold(model, job, scheme)) return
    grid%d = [scheme%dx, scheme%dz]
    grid%own = [model%dx, model%dz]
    grid%more = [PlacesBetween(model%dx, scheme%dx), PlacesBetween(model%dz, scheme%dz)]
    grid%step = grid%own/grid%more
    grid%last = ([model%nx, model%nz] - 1)*grid%more + 1
    grid%mirrored = [.false., scheme%free_top]
    grid%mean = ceiling(kernel_reach + 0.5_dp + grid%step/grid%d)
    call DerInverseRipples(scheme%w(:scheme%half_length), ring, grid%ripple)
    allocate (shot%at_places(lacks_numbers, size(shot%rx) + 1))
    !$omp parallel do schedule(dynamic, few) num_threads(min(scheme%threads, 1 + size(shot%rx)/few))
    do r = 1, size(shot%rx)
      shot%at_places(:, r) = EarthAt(model, grid, PlaceUsed(model, scheme, shot%rx(r), shot%rz(r)))
    end do
    !$omp end parallel do
    shot%at_places(:, size(shot%rx) + 1) = EarthAt(model, grid, PlaceUsed(model, scheme, shot%sx, shot%sz))
    if (all(abs(shot%at_places(lacks_rho + 1:, :)) <= 0)) deallocate (shot%at_places)
  end subroutine EarthOfShot

  !> For the forecast of memory, by some of the receivers of a shot: the `share` of them that read more cells, as beside contacts
  !> (fd2d_contacts.f90), and the numbers that are `told` of each.
  subroutine EarthShare(model, job, scheme, shot, share, told)
    type(model_t), intent(in) :: model
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    real(dp), intent(out) :: share
    integer, intent(out) :: told
    integer, parameter :: some = 48
    real(dp), parameter :: even = 1.0e-3_dp   ! of a cell: less is none
    type(shot_t) :: sample
    real(dp) :: lack(2), at(2), d(2)
    integer :: n, looks, r, m(2)
    share = 0
    told = 0
    n = size(shot%rx)
    looks = min(n, some)
    sample = shot
    sample%rx = [(shot%rx(1 + int((r - 0.5_dp)*n/looks)), r=1, looks)]
    sample%rz = [(shot%rz(1 + int((r - 0.5_dp)*n/looks)), r=1, looks)]
    call EarthOfShot(model, job, scheme, sample)
    if (.not. allocated(sample%at_places)) return
    told = lacks_numbers
    d = [scheme%dx, scheme%dz]
    do r = 1, looks
      at = PlaceUsed(model, scheme, sample%rx(r), sample%rz(r))
      m = min(max(nint(at/[model%dx, model%dz]) + 1, 1), [model%nx, model%nz])
      associate (lacks => sample%at_places(:, r))
        associate (rho => lacks(lacks_rho))
          lack = max(abs(lacks(lacks_c))*rho*real(model%vp(m(1), m(2)), dp)**2, abs(lacks(lacks_flow))*rho, &
                     abs(lacks(lacks_mass))/rho)/d
        end associate
      end associate
      if (any(lack > even)) share = share + 1.0_dp/looks
    end do
  end subroutine EarthShare

  !> The place at which a source or a receiver at (x, z) is modelled, from the model's first sample on [m].
  pure function PlaceUsed(model, scheme, x, z) result(place)
    type(model_t), intent(in) :: model
    class(scheme_t), intent(in) :: scheme
    real(dp), intent(in) :: x, z
    real(dp) :: place(2)
    place = [x - model%x0, z - model%z0]
    if (.not. scheme%exact_positions) place = [scheme%dx, scheme%dz]*nint(place/[scheme%dx, scheme%dz])
  end function PlaceUsed

  !> The numbers of a place, counted from the first sample [m].
  function EarthAt(model, grid, place) result(numbers)
    type(model_t), intent(in) :: model
    type(grid_t), intent(in) :: grid
    real(dp), intent(in) :: place(2)
    real(dp) :: numbers(lacks_numbers)
    integer :: here(2), a
    here = min(max(nint(place/grid%step) + 1, 1), grid%last)
    numbers = 0
    do a = 1, 2
      call AlongLine(a)
    end do

  contains

    subroutine AlongLine(a)
      integer, intent(in) :: a
      real(sp), allocatable :: samples(:, :)
      real(dp), allocatable :: rho(:), earth(:, :)
      type(means_t) :: means(0:1), turned(0:1)
      real(dp) :: slope(3), twice(2, 2), thrice(2), share
      integer :: low(2), high(2), wide, j, n
      wide = ceiling(reach*grid%d(a)/grid%step(a))
      low = here
      high = here
      low(a) = max(1, here(a) - wide)
      high(a) = min(grid%last(a), here(a) + wide)
      if (Even(model, grid, low, high)) then
        associate (first => (here - 1)/grid%more + 1)
          if (a == 1) numbers(lacks_rho) = real(model%rho(first(1), first(2)), dp)
        end associate
        return
      end if
      call BetweenSamples(model%rho, .false., grid%more, low, high, samples)
      allocate (rho, source=real(reshape(samples, [size(samples)]), dp))
      if (a == 1) numbers(lacks_rho) = rho(1 + here(a) - low(a))
      call BetweenSamples(model%vp, .true., grid%more, low, high, samples)
      allocate (earth(3, -wide:wide))
      associate (vp => reshape(samples, [size(samples)]))
        do j = -wide, wide                            ! beyond its ends the model goes on as it is there
          n = here(a) + j
          if (grid%mirrored(a) .and. n < 1) n = 2 - n
          associate (at => min(max(n, low(a)), high(a)) - low(a) + 1)
            earth(:, j) = [1/(rho(at)*real(vp(at), dp)**2), 1/rho(at), rho(at)]
          end associate
        end do
      end associate
      call MakeMeans(grid, a, place(a), here(a), wide, earth, means)
      numbers([lacks_c(a), lacks_flow(a)]) = Lack(grid, a, place(a), here(a), wide, earth(:2, :), 0, means(0))
      numbers(lacks_mass(a):lacks_mass(a)) = Lack(grid, a, place(a), here(a), wide, earth(3:, :), 1, means(1))
      associate (part => place(a)/grid%step(a) + 1 - here(a))
        if (grid%more(a) > 1) then                    ! lines join the samples
          numbers(lacks_rho) = numbers(lacks_rho) + abs(part)*(earth(3, merge(1, -1, part > 0)) - earth(3, 0))
        else
          slope = Slopes(earth(:, -1), earth(:, 0), earth(:, 1))
          numbers(lacks_rho) = numbers(lacks_rho) + slope(3)*part
          numbers([lacks_c(a), lacks_flow(a), lacks_mass(a)]) = numbers([lacks_c(a), lacks_flow(a), lacks_mass(a)]) + &
                                                                slope*grid%step(a)*(part**2 - 0.25_dp)/2
        end if
      end associate
      if (SameStep(grid%d(a), grid%own(a))) return    ! densities that are means of two keep no second moment
      call Turn(means, turned)
      associate (mass => numbers(lacks_mass(a)), x => place(a), back => earth(:, wide:-wide:-1))
        twice(:, 1) = LackTwice(grid, a, x, here(a), wide, earth, means, mass)
        twice(:, 2) = LackTwice(grid, a, -x, 2 - here(a), wide, back, turned, -mass)
        numbers([lacks_mass_c(a), lacks_mass_flow(a)]) = (twice(:, 1) + twice(:, 2))/2
        share = 0.5_dp                                ! from the lighter end
        if (abs(earth(3, wide) - earth(3, -wide)) > 0) share = merge(1, 0, earth(3, wide) > earth(3, -wide))
        thrice = 0
        if (share > 0) thrice = share*LackThrice(grid, a, x, here(a), wide, earth, means, mass, twice(:, 1))
        if (share < 1) thrice = thrice - (1 - share)*LackThrice(grid, a, -x, 2 - here(a), wide, back, turned, -mass, twice(:, 2))
        numbers([lacks_third_c(a), lacks_third_flow(a)]) = third_part*Nearness(grid, a, x, here(a), wide, earth(3, :))*thrice
      end associate
    end subroutine AlongLine

  end function EarthAt

  !> By how much numbers grow from sample to sample: the lesser of both sides. So a smooth earth has what lies between its samples,
  !> and beside a step both samples stand for all of their cells.
  elemental real(dp) function Slopes(before, own, behind) result(slope)
    real(dp), intent(in) :: before, own, behind
    slope = 0
    if ((own - before)*(behind - own) > 0) slope = sign(min(abs(own - before), abs(behind - own)), behind - own)
  end function Slopes

  !> True of places low .. high of the lattice whose samples are all the same.
  pure logical function Even(model, grid, low, high)
    type(model_t), intent(in) :: model
    type(grid_t), intent(in) :: grid
    integer, intent(in) :: low(2), high(2)
    integer :: first(2), last(2)
    first = (low - 1)/grid%more + 1
    last = min((high - 2)/grid%more + 2, [model%nx, model%nz])
    associate (vp => model%vp(first(1):last(1), first(2):last(2)), rho => model%rho(first(1):last(1), first(2):last(2)))
      Even = all(abs(rho - rho(1, 1)) <= 0) .and. all(abs(vp - vp(1, 1)) <= 0)
    end associate
  end function Even

  !> The integrals up to a place of what the earth has at the `wide` samples to both sides of number `here` along axis a, less
  !> those of the grid: of what acts at nodes, on velocity between them, or, `half` 1, between nodes, on pressure.
  function Lack(grid, a, place, here, wide, earth, half, means) result(lacks)
    type(grid_t), intent(in) :: grid
    integer, intent(in) :: a, here, wide, half
    real(dp), intent(in) :: place
    real(dp), intent(in) :: earth(:, -wide:)      !< (numbers, sample)
    type(means_t), intent(in) :: means
    real(dp) :: lacks(size(earth, 1))
    real(dp) :: w(sinc_nodes)
    integer :: first, j, k, m
    lacks = 0
    do j = -wide, wide
      lacks = lacks + UpTo(place - (here + j - 1)*grid%step(a))*earth(:, j)
    end do
    call SincWeights(place/grid%d(a) - 0.5_dp*(1 - half), first, w)
    w = w/sum(w)
    associate (own => means%a(1 + 2*half:2 + half, :))
      do k = 1, size(own, 2)
        lacks = lacks - grid%d(a)*own(:, k)*sum(w*[(DerInverseAt(grid%ripple, first + m - means%first - k + 1 - half), &
                                                    m=0, sinc_nodes - 1)])
      end do
    end associate

  contains

    !> Of a sample that is so far before a place, the integral up to there [m], less half of it.
    pure real(dp) function UpTo(away)
      real(dp), intent(in) :: away
      real(dp) :: part
      if (grid%more(a) > 1) then                      ! lines join the samples
        part = min(max(away/grid%step(a), -1.0_dp), 1.0_dp)
        UpTo = grid%step(a)*part*(1 - 0.5_dp*abs(part))
      else
        UpTo = 0.5_dp*(abs(away + grid%step(a)/2) - abs(away - grid%step(a)/2))
      end if
    end function UpTo

  end function Lack

  !> By how much pressure bends on its way to a place as what acts at nodes, the first two numbers of the earth, makes velocity
  !> grow: the integral of density times their integrals from the place back. `mass`: what the grid lacks of that of density.
  !> All of it counts from the line's first sample on; before it earth and grid have its medium. From the other end it is the same
  !> but for what the means of a contact lack of its second moment.
  function LackTwice(grid, a, place, here, wide, earth, means, mass) result(lacks)
    type(grid_t), intent(in) :: grid
    integer, intent(in) :: a, here, wide
    real(dp), intent(in) :: place, earth(:, -wide:), mass
    type(means_t), intent(in) :: means(0:1)
    real(dp) :: lacks(2)
    real(dp) :: nodes(2, size(means(0)%known)), between(size(means(1)%known))
    real(dp) :: begin(3), slope(3), grown(2), to_place(2), w(sinc_nodes), weight, from, long
    integer :: first, j, k, m, n
    begin = earth(:, -wide)
    lacks = 0
    grown = 0
    do j = -wide, wide
      from = (here + j - 1.5_dp)*grid%step(a) - place
      long = min(grid%step(a), -from)
      if (long <= 0) exit
      slope = Slopes(earth(:, max(j - 1, -wide)), earth(:, j), earth(:, min(j + 1, wide)))/grid%step(a)
      lacks = lacks + long*(Bends(0.0_dp) + 4*Bends(long/2) + Bends(long))/6     ! of the third power at most
      grown = Grows(long)
    end do
    nodes = means(0)%a(:2, :) - spread(begin(:2), 2, size(nodes, 2))*spread(means(0)%known, 1, 2)
    between = means(1)%a(3, :) - begin(3)*means(1)%known
    call SincWeights(place/grid%d(a) - 0.5_dp, first, w)
    w = w/sum(w)
    to_place = 0
    do k = 1, size(nodes, 2)
      to_place = to_place + grid%d(a)*nodes(:, k)*sum(w*[(Step(first + m - means(0)%first - k + 1), m=0, sinc_nodes - 1)])
    end do
    call SincWeights(place/grid%d(a), first, w)
    w = w/sum(w)
    do k = 1, size(between)
      grown = 0
      do n = 1, size(nodes, 2)
        grown = grown + grid%d(a)*nodes(:, n)*Step(k + means(1)%first - n - means(0)%first)
      end do
      weight = grid%d(a)*sum(w*[(Step(first + m - means(1)%first - k), m=0, sinc_nodes - 1)])
      from = (k + means(1)%first - 0.5_dp)*grid%d(a) - place
      lacks = lacks - weight*(between(k)*begin(:2)*from + (begin(3) + between(k))*grown)
    end do
    lacks = lacks - mass*to_place

  contains

    !> The growth of the first two numbers so far into the sample's cell.
    pure function Grows(x)
      real(dp), intent(in) :: x
      real(dp) :: Grows(2)
      Grows = grown + x*(earth(:2, j) - begin(:2) + slope(:2)*(x - grid%step(a))/2)
    end function Grows

    pure function Bends(x)
      real(dp), intent(in) :: x
      real(dp) :: Bends(2)
      associate (rho => earth(3, j) + slope(3)*(x - grid%step(a)/2))
        Bends = (rho - begin(3))*begin(:2)*(from + x) + rho*Grows(x)
      end associate
    end function Bends

    !> D⁻¹ at n + 1/2 of a 1 at node 0, and of 0 far before it.
    pure real(dp) function Step(n)
      integer, intent(in) :: n
      Step = DerInverseAt(grid%ripple, n) + 0.5_dp
    end function Step

  end function LackTwice

  !> Share of the changes of density along a line that are near a place.
  pure real(dp) function Nearness(grid, a, place, here, wide, rho) result(share)
    type(grid_t), intent(in) :: grid
    integer, intent(in) :: a, here, wide
    real(dp), intent(in) :: place, rho(-wide:)
    real(dp) :: away(-wide:wide - 1)
    integer :: j
    away = [(abs((here + j - 0.5_dp)*grid%step(a) - place)/grid%d(a), j=-wide, wide - 1)]
    associate (changes => abs(rho(-wide + 1:) - rho(:wide - 1)))
      share = sum(changes*min(max((none_from - away)/(none_from - full_to), 0.0_dp), 1.0_dp))/max(sum(changes), tiny(1.0_dp))
    end associate
  end function Nearness

  !> The same of the third power: by how much pressure bends as velocity, on the line's way to the place, bends with the pressure
  !> that velocity makes grow: density times what acts at nodes times density. `mass` and `twice`: what the grid lacks of the first
  !> and of the second integrals. From the lighter end of the line: what third integrals over the means of a contact lack beyond it
  !> is made up for by higher ones at 5 points per wavelength, as the kernel is fitted, and would be read at places beyond.
  function LackThrice(grid, a, place, here, wide, earth, means, mass, twice) result(lacks)
    type(grid_t), intent(in) :: grid
    integer, intent(in) :: a, here, wide
    real(dp), intent(in) :: place, earth(:, -wide:), mass, twice(2)
    type(means_t), intent(in) :: means(0:1)
    real(dp) :: lacks(2)
    real(dp) :: begin(3), slope(3), pressure, flow(2), from, long
    real(dp) :: nodes(2, size(means(0)%known)), between(size(means(1)%known)), risen(size(means(0)%known))
    real(dp) :: between_flow(2, size(means(1)%known)), w(sinc_nodes)
    integer :: first, j, k, m, n
    begin = earth(:, -wide)
    lacks = 0
    pressure = 0
    flow = 0
    do j = -wide, wide
      from = (here + j - 1.5_dp)*grid%step(a) - place
      long = min(grid%step(a), -from)
      if (long <= 0) exit
      slope = Slopes(earth(:, max(j - 1, -wide)), earth(:, j), earth(:, min(j + 1, wide)))/grid%step(a)
      lacks = lacks + long*(Bends(0.0_dp) + 4*Bends(long/2) + Bends(long))/6
      flow = Flows(long)
      pressure = Rises(long)
    end do
    nodes = means(0)%a(:2, :) - spread(begin(:2), 2, size(nodes, 2))*spread(means(0)%known, 1, 2)
    between = means(1)%a(3, :) - begin(3)*means(1)%known
    do n = 1, size(risen)
      risen(n) = grid%d(a)*sum(between*[(Step(n + means(0)%first - k - means(1)%first - 1), k=1, size(between))])
    end do
    between_flow = 0
    do k = 1, size(between)
      do n = 1, size(risen)
        from = (n + means(0)%first - 1)*grid%d(a) - place
        between_flow(:, k) = between_flow(:, k) + grid%d(a)*Step(k + means(1)%first - n - means(0)%first)* &
                      (nodes(:, n)*begin(3)*from + (begin(:2) + nodes(:, n))*risen(n))
      end do
    end do
    call SincWeights(place/grid%d(a) - 0.5_dp, first, w)
    w = w/sum(w)
    do m = 0, sinc_nodes - 1
      lacks = lacks - mass*w(m + 1)*between_flow(:, first + m - means(1)%first + 1)
    end do
    call SincWeights(place/grid%d(a), first, w)
    w = w/sum(w)
    do m = 0, sinc_nodes - 1
      lacks = lacks - twice*w(m + 1)*risen(first + m - means(0)%first + 1)
      do k = 1, size(between)
        from = (k + means(1)%first - 0.5_dp)*grid%d(a) - place
        lacks = lacks - w(m + 1)*grid%d(a)*Step(first + m - means(1)%first - k)* &
                (between(k)*begin(3)*begin(:2)*from**2/2 + (begin(3) + between(k))*between_flow(:, k))
      end do
    end do

  contains

    !> The rise of pressure so far into the sample's cell,
    pure real(dp) function Rises(x)
      real(dp), intent(in) :: x
      Rises = pressure + x*(earth(3, j) - begin(3) + slope(3)*(x - grid%step(a))/2)
    end function Rises

    !> the growth of velocity,
    pure function Flows(x)
      real(dp), intent(in) :: x
      real(dp) :: Flows(2)
      associate (own => earth(:2, j) + slope(:2)*(x - grid%step(a))/2)
        Flows = flow + x*((own - begin(:2))*begin(3)*(from + x/2) + own*Rises(x/2))
      end associate
    end function Flows

    !> and the bend of pressure there.
    pure function Bends(x)
      real(dp), intent(in) :: x
      real(dp) :: Bends(2)
      associate (rho => earth(3, j) + slope(3)*(x - grid%step(a)/2))
        Bends = (rho - begin(3))*begin(3)*begin(:2)*(from + x)**2/2 + rho*Flows(x)
      end associate
    end function Bends

    !> D⁻¹ at n + 1/2 of a 1 at node 0, and of 0 far before it.
    pure real(dp) function Step(n)
      integer, intent(in) :: n
      Step = DerInverseAt(grid%ripple(:near_ripples - 1), n) + 0.5_dp
    end function Step

  end function LackThrice

  !> Means at nodes (0) and between them (1), seen from the other end of the line.
  pure subroutine Turn(means, turned)
    type(means_t), intent(in) :: means(0:1)
    type(means_t), intent(out) :: turned(0:1)
    integer :: half
    do half = 0, 1
      associate (own => means(half), n => size(means(half)%known))
        turned(half)%first = 1 - own%first - n - half
        allocate (turned(half)%a, source=own%a(:, n:1:-1))
        allocate (turned(half)%known, source=own%known(n:1:-1))
      end associate
    end do
  end subroutine Turn

  !> The grid's means of samples as Lack has them, at nodes (0) and between them (1), around a place.
  subroutine MakeMeans(grid, a, place, here, wide, earth, means)
    type(grid_t), intent(in) :: grid
    integer, intent(in) :: a, here, wide
    real(dp), intent(in) :: place, earth(:, -wide:)
    type(means_t), intent(out) :: means(0:1)
    integer :: half, near
    do half = 0, 1
      near = nint(place/grid%d(a) - 0.5_dp*half)
      means(half)%first = near - grid%mean(a) - reach
      call NodesOf(grid, a, near, here, wide, half, earth, means(half)%a, means(half)%known)
    end do
  end subroutine MakeMeans

  !> The means at nodes around number `near` (from 0), and how much of each is of samples that are here.
  subroutine NodesOf(grid, a, near, here, wide, half, earth, means, shares)
    type(grid_t), intent(in) :: grid
    integer, intent(in) :: a, near, here, wide, half
    real(dp), intent(in) :: earth(:, -wide:)
    real(dp), allocatable, intent(out) :: means(:, :), shares(:)
    real(dp), dimension(size(earth, 1), -grid%mean(a) - reach:grid%mean(a) + reach) :: nodes, least, lacking
    real(dp) :: sample, share, known(lbound(nodes, 2):ubound(nodes, 2))
    integer :: j, k, n
    nodes = 0
    known = 0
    least = huge(least)
    do j = -wide, wide
      sample = (here + j - 1)*grid%step(a)
      n = nint(sample/grid%d(a) - 0.5_dp*half) - near
      do k = max(n - grid%mean(a), lbound(nodes, 2)), min(n + grid%mean(a), ubound(nodes, 2))
        share = ShareOf((k + near + 0.5_dp*half)*grid%d(a) - sample)
        if (abs(share) <= 0) cycle
        nodes(:, k) = nodes(:, k) + share*earth(:, j)
        least(:, k) = min(least(:, k), earth(:, j))
        known(k) = known(k) + share
      end do
    end do
    lacking = 0
    do k = lbound(nodes, 2), ubound(nodes, 2)         ! one whose samples are all here is raised
      if (abs(known(k) - 1) < 1.0e-9_dp) lacking(:, k) = max(least_part*least(:, k) - nodes(:, k), 0.0_dp)
    end do
    if (any(lacking > 0)) then
      do k = lbound(nodes, 2) + 2, ubound(nodes, 2) - 2
        do j = -2, 2
          nodes(:, k + j) = nodes(:, k + j) + given(j)*lacking(:, k)
        end do
      end do
      nodes = max(nodes, merge(least_part*least, -huge(least), spread(abs(known - 1) < 1.0e-9_dp, 1, size(least, 1))))
    end if
    allocate (means(size(nodes, 1), size(known)), source=nodes)
    allocate (shares(size(known)), source=known)

  contains

    !> The part that a sample has of the medium of the grid `off` from it [m].
    pure real(dp) function ShareOf(off) result(share)
      real(dp), intent(in) :: off
      if (.not. SameStep(grid%d(a), grid%own(a))) then
        share = RegridShare(grid%step(a), grid%d(a), off, grid%more(a) > 1)
      else                                            ! the sample itself, between nodes half of each
        share = merge(1/(1.0_dp + half), 0.0_dp, abs(off) < 0.75_dp*grid%d(a))
      end if
    end function ShareOf

  end subroutine NodesOf

end module receiver_earth_m
