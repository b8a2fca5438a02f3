!> Sources and receivers between the nodes: a Kaiser-windowed sinc of half-width 4 (Hicks 2002, Geophysics 67, 156-166), refined.
!>
!> Hicks' criterion, the least largest error of a plane wave at any offset from the node up to kh = π/2 (4 points per wavelength),
!> gives b = 6.31 for half-width 4, with an error of 1.3e-3 at 4 and 1.0e-3 at 5 points per wavelength: no b gets below 1.3e-3.
!> So the eight weights are then moved, as little as it takes, to the least-squares fit over the band: 9e-4 and 4e-4.
!>
!> Where each cell has one mechanism of attenuation of eight (Day 1998, Bulletin of the Seismological Society of America 88,
!> 1051-1062), stress at a node is that of its mechanism, and a source there acts upon that mechanism alone. The even weights share
!> a point among all eight alike: they are fitted to leave out what changes its sign from node to node.
module sinc_m
  use kinds_m, only: dp, pi
  use kaiser_m, only: Kaiser, Sinc
  use linear_m, only: SolvePositive
  implicit none
  private
  public :: SincWeights, SincEven, sinc_nodes

  integer, parameter :: half_width = 4
  integer, parameter :: sinc_nodes = 2*half_width                        !< nodes a position is spread over, along one axis
  real(dp), parameter :: b_hicks = 6.31_dp                               !< Kaiser parameter, by Hicks' criterion for kh <= π/2
  real(dp), parameter :: band = 2*pi/4.1_dp                              !< end of the fitted band [radians per cell]
  real(dp), parameter :: end_weight = 0.15_dp                            !< of the end of the band, relative to the whole band
  real(dp), parameter :: damping = 1.0e-6_dp                             !< of the change of the weights
  real(dp), parameter :: on_node = 1.0e-9_dp                             !< closer than this is on the node [cells]
  real(dp), parameter :: even_band = 2*pi/8, even_quiet = even_band/2    !< of even weights: band of kh; width left out below π
  real(dp), parameter :: quiet_weight = 0.003_dp                         !< of what is left out, relative to the band

  integer :: i
  real(dp), parameter :: apart(0:sinc_nodes - 1) = [(real(i, dp), i=0, sinc_nodes - 1)]
  real(dp), parameter :: band_means(0:sinc_nodes - 1) = &                !< BandMean(apart)
                         [1 + end_weight, sin(band*apart(1:))/(band*apart(1:)) + end_weight*cos(band*apart(1:))]

contains

  !> Weights w(1:8) of the nodes first_node .. first_node+7 for a point at `position` [cells: node n is at n]; a field has there the
  !> value sum w(m) field(first_node-1+m). On a node the weights are exactly 0 but for a 1. Nodes may lie outside the grid: what
  !> then happens (zero, mirror) is the caller's matter. The same weights spread a point source.
  pure subroutine SincWeights(position, first_node, w)
    real(dp), intent(in) :: position
    integer, intent(out) :: first_node
    real(dp), intent(out) :: w(sinc_nodes)
    real(dp) :: x(sinc_nodes)
    integer :: m
    first_node = floor(position) - half_width + 1
    x = [(first_node - 1 + m - position, m=1, sinc_nodes)]
    if (minval(abs(x)) < on_node) then
      w = 0
      w(minloc(abs(x), dim=1)) = 1
    else
      w = Sinc(x)*Kaiser(x/half_width, b_hicks)
      call Refine(band_means, BandMean(x), w)
    end if
  end subroutine SincWeights

  !> The same by even weights: they sum to 0 with alternating signs within 2e-4, on nodes too, and pass at most 2 % of a wave within
  !> 0.3 of kh = π. Plane waves of 8 and more points per wavelength are right to 2e-3.
  pure subroutine SincEven(position, first_node, w)
    real(dp), intent(in) :: position
    integer, intent(out) :: first_node
    real(dp), intent(out) :: w(sinc_nodes)
    real(dp) :: x(sinc_nodes)
    integer :: m
    first_node = floor(position + on_node) - half_width + 1
    x = [(first_node - 1 + m - position, m=1, sinc_nodes)]
    w = Sinc(x)*Kaiser(x/half_width, b_hicks)
    call Refine(EvenMean(apart) + QuietMean(apart), EvenMean(x), w)
  end subroutine SincEven

  !> Least squares: minimises a mean of |sum w exp(i kh x) - 1|² over all kh that matter, the change of w damped. `products`: that
  !> mean of exp(i kh x) for nodes 0, 1, .. apart; `wanted`: for the nodes and the point.
  pure subroutine Refine(products, wanted, w)
    real(dp), intent(in) :: products(0:), wanted(:)
    real(dp), intent(inout) :: w(:)
    real(dp) :: a(sinc_nodes, sinc_nodes), d(sinc_nodes)
    integer :: i, j
    d = wanted
    do j = 1, sinc_nodes
      do i = 1, sinc_nodes
        a(i, j) = products(abs(i - j))
        d(i) = d(i) - a(i, j)*w(j)
      end do
      a(j, j) = a(j, j) + damping
    end do
    call SolvePositive(a, d)
    w = w + d
  end subroutine Refine

  !> Weighted mean of cos(kh x) over the band.
  elemental real(dp) function BandMean(x)
    real(dp), intent(in) :: x
    BandMean = Sinc(x*band/pi) + end_weight*cos(band*x)
  end function BandMean

  !> The same for the band of even weights and, with a weight of 1, kh = 0.
  elemental real(dp) function EvenMean(x)
    real(dp), intent(in) :: x
    EvenMean = 1 + Sinc(x*even_band/pi) + end_weight*cos(even_band*x)
  end function EvenMean

  !> Weighted mean of cos(kh x) over what even weights leave out and, with a weight of 1, kh = π.
  elemental real(dp) function QuietMean(x)
    real(dp), intent(in) :: x
    QuietMean = cos(pi*x) + quiet_weight*cos((pi - even_quiet/2)*x)*Sinc(x*even_quiet/(2*pi))
  end function QuietMean

end module sinc_m
