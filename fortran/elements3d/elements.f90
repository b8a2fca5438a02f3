!> The spectral elements that a rank computes: their corners, media, faces and points.
!>
!> Corners and sides are numbered as Exodus II numbers those of HEX8 and HEX27 (Schoof & Yarberry 1994, SAND92-2137): corners
!> 1 2 3 4 around the side zeta = -1, 5 6 7 8 around zeta = +1, xi from 1 to 2, eta from 1 to 4, zeta from 1 to 5. Sides: 1 eta =
!> -1, 2 xi = +1, 3 eta = +1, 4 xi = -1, 5 zeta = -1, 6 zeta = +1. Point i, j, k = 0..4 along xi, eta, zeta is number
!> 1 + i + 5 j + 25 k of its element.
!> Positions are those of the framework, z down; a Jacobian is positive.
module elements_m
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: elements_t

  integer, parameter, public :: tensor_numbers = 21   !< constants of an anisotropic medium
  integer, parameter, public :: degree = 4, along = degree + 1, on_face = along**2, in_element = along**3
  real(dp), parameter, public :: least_ppw = 4.5_dp   !< points per shortest wavelength with which waves are right to about 1 %
  integer, parameter, public :: in_memory = 57    !< points of an element that have memory variables where not all have them
  real(dp), parameter, public :: looks_up = 0.3_dp  !< cosine between up and the normal of a side that looks up: 73 degrees
  integer, parameter, public :: face_inner = 0, face_free = 1, face_absorbs = 2, face_contact = 3

  !> Elements in the order in which their forces are summed. Those of solid come first, then those of fluid.
  type :: elements_t
    integer :: n = 0                              !< elements,
    integer :: solid = 0                          !< of which so many are solid
    integer :: per = 8                            !< nodes of an element: 8, or 27
    real(dp), allocatable :: corner(:, :, :)      !< [m], (3, per, n)
    integer, allocatable :: node(:, :)            !< numbers in the mesh of its corners, (8, n)
    integer, allocatable :: face(:, :)            !< kinds of its sides, (6, n)
    integer, allocatable :: brick(:)              !< brick b is elements brick(b) .. brick(b+1)-1; none has both solid and fluid
    real(sp), allocatable :: rho(:, :)            !< [kg/m3], (1 or 125, n): of the element, or of each of its points
    real(sp), allocatable :: lambda(:, :), mu(:, :)   !< [Pa]; mu = 0 in a fluid
    real(sp), allocatable :: loss(:, :)           !< 1/Q of bulk modulus and mu, (2, n); moduli are then those of phase velocities

    ! Anisotropic media: stress = lambda div u + mu (grad u + its transpose + `relative` : strain). lambda and mu are those of the
    ! isotropic average, `relative` is what the 21 constants (anisotropy.f90; z down) differ from them, over mu.
    integer, allocatable :: tensor(:)             !< number of the medium of each solid element, 0: isotropic; not there: all are
    real(sp), allocatable :: relative(:, :)       !< (tensor_numbers, media)
    real(dp), allocatable :: speeds(:, :)         !< of the slowest and the fastest wave [m/s], (2, media)

    real(sp), allocatable :: ocean(:, :)          !< mass of water above corners of free sides [kg/m2], (8, n); not there: none
    real(dp), allocatable :: to_side(:, :)        !< from corners to absorbing sides, where a layer there damps [m], (8, n)

    ! Points. Those that solid and fluid share are two, one of each.
    integer :: points = 0                         !< all,
    integer :: solid_points = 0                   !< of which the first ones are of solid
    integer, allocatable :: at(:, :)              !< of an element, (125, n)
    integer, allocatable :: contact(:, :)         !< contacts: fluid element, its side, (2, contacts)
    integer, allocatable :: partner(:, :)         !< the solid's points there, in the order of the fluid's, (25, contacts)
  end type elements_t

end module elements_m
