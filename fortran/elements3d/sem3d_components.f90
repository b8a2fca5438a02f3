!> Components recorded at a place, as weights of the fields at the points around it; and points on which forces and moments act
!> (band_weights.f90). Rates of rotation are wz = (dvy/dx - dvx/dy)/2, x, y, z in this order. In a fluid velocity is 1/rho grad
!> dchi/dt, displacement 1/rho grad chi, pressure -d2chi/dt2.
!>
!> On a free side of rock there is no traction. Points on one side alone say little of the derivative of motion across it (ten
!> times as wrong as the others), so that is taken from those along it: the stress of a gradient g of displacement is c : g, and d n
!> is added to g, n the normal of the side, so that (c : (g + d n)) n = 0. On a contact with water it is -p n, p the pressure of the
!> water: what this adds to a component is a multiple of p (water_pressure.f90). Close to the side that derivative is one more value
!> of the field, from which gradients are predicted (band_weights.f90). By reciprocity a moment M at a contact opens the water by a
!> volume too, that of a crack: what p adds to M : g is minus this volume times p. In the water the derivative of chi across the
!> contact is rho times the rock's displacement along the normal.
module sem3d_components_m
  use anisotropy_m, only: AnisoIsotropic, AnisoMatrix, voigt
  use band_weights_m, only: band_points, band_side_t, BandPoints, BandWeights
  use elements_m, only: elements_t, face_contact, face_free, in_element, on_face
  use elements_tensors_m, only: SlowestIn, TensorOf
  use element_finder_m, only: rounding
  use error_m, only: error_t, Fail
  use hexahedron_m, only: HexAt, HexBox, HexGradient, HexJacobian, HexLongest, HexPoints, HexWeights, hex_side, hex_side_axis, &
                          hex_side_end, hex_side_point
  use kinds_m, only: dp, pi, sp
  use linear_m, only: SolvePositive
  use meetings_m, only: meetings_t
  use off_grid_points_m, only: Lengthen
  use sem3d_engine_m, only: field_chi, field_chi_t, field_ux, field_vx
  use source3d_m, only: source3d_t, source_force, source_volume
  use text_m, only: Str
  implicit none
  private
  public :: sem3d_list_t, sem3d_place_t, Sem3dPlace, Sem3dRecord, Sem3dRecordWater, Sem3dRecordOnSide, Sem3dSource
  public :: Sem3dRecords, Sem3dAtWhole, Sem3dIsGradient, Sem3dPressed, Sem3dPressedOnSide, Sem3dAcross, Sem3dChristoffel
  public :: Sem3dTraction, Sem3dOfGradient, Sem3dBySource

  !> Entries of sources, or of receivers: those of receiver r are start(r) .. start(r+1)-1.
  type :: sem3d_list_t
    integer :: n = 0
    integer, allocatable :: field(:), point(:)    !< at least (n)
    real(sp), allocatable :: w(:)
    integer :: receivers = 0
    integer, allocatable :: start(:)              !< at least (receivers+1)
    logical, allocatable :: slope(:)              !< at least (receivers); its derivative by time is wanted
  end type sem3d_list_t

  !> A place: the medium there, the points around it, their weights for a value and for its derivatives along x, y, z.
  type :: sem3d_place_t
    logical :: solid = .true.
    real(dp) :: rho = 0, lambda = 0, mu = 0       !< [kg/m3, Pa]
    real(dp) :: loss(2) = 0                       !< 1/Q of bulk modulus and mu
    integer, allocatable :: point(:)
    real(dp), allocatable :: w(:, :)              !< (points, 0:3)
    real(dp), allocatable :: stiffness(:, :)      !< of an anisotropic medium, all constants [Pa], (6, 6)
    real(dp) :: normal(3) = 0                     !< of a side close to it, free one of rock or a contact; 0: there is none
    real(dp), allocatable :: side(:, :)           !< weights for the derivatives on that side, (points, 3),
    real(dp) :: across = 0                        !< and of that across it for the one along the normal at the place
    real(dp), allocatable :: beyond(:)            !< weights for chi, or motion, of what is beyond a contact, (points)
    logical :: by_source = .false.                !< these weights serve beside a source alone
  end type sem3d_place_t

  integer, parameter, public :: place_points = band_points + on_face    !< of a place, at most
  integer, parameter, public :: part_average = 1, part_rest = 2         !< of a source of volume

  real(dp), parameter :: close_to_side = 1      !< of half an element; further away the side says nothing new
  real(dp), parameter :: too_near = 2           !< elements between a source and a receiver: points of both reach half as far
  character(2), parameter :: pair(6) = ['xx', 'yy', 'zz', 'xy', 'xz', 'yz']
  integer, parameter :: first(6) = [1, 2, 3, 1, 1, 2], second(6) = [1, 2, 3, 2, 3, 3]
  real(dp), parameter, public :: even(3, 3) = reshape(real([1, 0, 0, 0, 1, 0, 0, 0, 1], dp), [3, 3])

contains

  !> True of a component that a receiver in a fluid records.
  pure logical function Sem3dRecords(component) result(records)
    character(*), intent(in) :: component
    records = all(component(1:1) /= ['e', 'w'])
  end function Sem3dRecords

  !> True of a component that is made of the gradient of motion in rock.
  pure logical function Sem3dIsGradient(component) result(gradient)
    character(*), intent(in) :: component
    gradient = any(component(1:1) == ['p', 's', 'e', 'w'])
  end function Sem3dIsGradient

  !> True of a component that is sampled at whole time steps.
  pure logical function Sem3dAtWhole(component) result(whole)
    character(*), intent(in) :: component
    whole = all(component(1:1) /= ['v', 'e', 'w'])
  end function Sem3dAtWhole

  !> A place x [m], xi in element e, for waves up to fmax [Hz], 0: by the polynomials of the element. These serve a receiver too
  !> whose points would be those of the `source` [m] as well, as the field there is none of waves up to fmax, where it does not get
  !> what is lacking (sem3d_near.f90).
  pure subroutine Sem3dPlace(elements, meetings, e, xi, x, fmax, place, source)
    type(elements_t), intent(in) :: elements
    type(meetings_t), intent(in) :: meetings
    integer, intent(in) :: e
    real(dp), intent(in) :: xi(3), x(3), fmax
    type(sem3d_place_t), intent(out) :: place
    real(dp), intent(in), optional :: source(3)
    real(dp), allocatable :: at(:, :), image(:, :)
    type(band_side_t) :: side
    real(dp) :: v, low(3), high(3)
    integer :: s
    logical :: near
    place%solid = e <= elements%solid
    place%rho = Inside(elements%rho(:, e), xi)
    place%lambda = Inside(elements%lambda(:, e), xi)
    place%mu = Inside(elements%mu(:, e), xi)
    if (allocated(elements%loss)) place%loss = elements%loss(:, e)
    v = sqrt(merge(place%mu, place%lambda, place%solid)/place%rho)
    if (TensorOf(elements, e) > 0) then
      v = SlowestIn(elements, e)
      place%stiffness = AnisoIsotropic(place%lambda, place%mu) &
                        + place%mu*AnisoMatrix(real(elements%relative(:, elements%tensor(e)), dp))
    end if
    near = .not. fmax > 0
    if (present(source)) place%by_source = Sem3dBySource(elements, e, x, source)
    if (near .or. place%by_source) then
      place%point = elements%at(:, e)
      allocate (place%w(in_element, 0:3))
      call HexWeights(xi, place%w(:, 0))
      call HexGradient(elements%corner(:, :, e), xi, place%w(:, 1:3))
    else
      call HexBox(elements%corner(:, :, e), low, high)
      s = SideCloseTo(elements, e, xi)
      if (s > 0) then
        if (.not. place%solid .and. elements%face(s, e) == face_free) s = 0              ! there images serve
      end if
      if (s > 0) then
        call BandPoints(elements, meetings, e, x, band_points, at, place%point)
        call BandSide(elements%corner(:, :, e), s, xi, side)
        call BandWeights(at, x, 2*pi*fmax/v, maxval(high - low), place%w, side=side)
        place%normal = side%normal
        place%across = side%across
        call move_alloc(side%w, place%side)
        if (elements%face(s, e) == face_contact) call Beyond(elements, meetings, e, s, xi, place)
      else
        call BandPoints(elements, meetings, e, x, band_points, at, place%point, image)
        call BandWeights(at, x, 2*pi*fmax/v, maxval(high - low), place%w, image)
      end if
    end if
  end subroutine Sem3dPlace

  !> Place x [m] in element e is so near to a source that points of both would be the same.
  pure logical function Sem3dBySource(elements, e, x, source) result(by_source)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e
    real(dp), intent(in) :: x(3), source(3)
    by_source = norm2(x - source) < too_near*HexLongest(elements%corner(:, :, e))
  end function Sem3dBySource

  !> The free side of an element, or contact of rock and water, that is closest to xi; of several that one before this. 0 where
  !> there is none or the weight of an ocean presses on it.
  pure integer function SideCloseTo(elements, e, xi) result(side)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e
    real(dp), intent(in) :: xi(3)
    real(dp) :: away, least
    integer :: kind, s
    side = 0
    if (allocated(elements%ocean)) then
      if (any(elements%ocean(:, e) > 0)) return
    end if
    least = close_to_side
    do kind = face_free, face_contact, face_contact - face_free
      do s = 1, 6
        away = abs(xi(hex_side_axis(s)) - hex_side_end(s))
        if (elements%face(s, e) /= kind .or. away > least - rounding) cycle
        side = s
        least = away
      end do
    end do
  end function SideCloseTo

  !> Place and normal on side s of an element, closest to xi.
  pure subroutine BandSide(corner, s, xi, side)
    real(dp), intent(in) :: corner(:, :), xi(3)
    integer, intent(in) :: s
    type(band_side_t), intent(out) :: side
    real(dp) :: on(3), j(3, 3)
    on = xi
    on(hex_side_axis(s)) = hex_side_end(s)
    side%x = HexAt(corner, on)
    j = cshift(HexJacobian(corner, on), hex_side_axis(s), 2)
    side%normal = [j(2, 1)*j(3, 2) - j(3, 1)*j(2, 2), j(3, 1)*j(1, 2) - j(1, 1)*j(3, 2), j(1, 1)*j(2, 2) - j(2, 1)*j(1, 2)]
    side%normal = side%normal/norm2(side%normal)
  end subroutine BandSide

  !> Adds the points beyond side s of element e, and their weights for what is there, closest to xi, by its polynomials.
  pure subroutine Beyond(elements, meetings, e, s, xi, place)
    type(elements_t), intent(in) :: elements
    type(meetings_t), intent(in) :: meetings
    integer, intent(in) :: e, s
    real(dp), intent(in) :: xi(3)
    type(sem3d_place_t), intent(inout) :: place
    real(dp) :: on(3), value(in_element), here(3, in_element), there(3, in_element)
    integer :: nearest(on_face), k, m, t
    associate (node => elements%node(hex_side(:, s), e))
      do k = meetings%start(node(1)), meetings%start(node(1) + 1) - 1
        associate (f => meetings%list(k))
          if (f <= elements%solid .eqv. place%solid) cycle
          do t = 1, 6
            if (all([(any(elements%node(hex_side(m, t), f) == node), m=1, 4)])) exit
          end do
          if (t > 6) cycle
          on = xi
          on(hex_side_axis(s)) = hex_side_end(s)
          call HexWeights(on, value)
          call HexPoints(elements%corner(:, :, e), here)
          call HexPoints(elements%corner(:, :, f), there)
          associate (from => hex_side_point(:, s), to => hex_side_point(:, t))
            place%beyond = [spread(0.0_dp, 1, size(place%point)), value(from)]
            nearest = [(minloc(norm2(there(:, to) - spread(here(:, from(m)), 2, on_face), 1), 1), m=1, on_face)]
            place%point = [place%point, elements%at(to(nearest), f)]
          end associate
          return
        end associate
      end do
    end associate
  end subroutine Beyond

  !> A medium at a place of its element.
  pure real(dp) function Inside(medium, xi)
    real(sp), intent(in) :: medium(:)             !< (1 or 125)
    real(dp), intent(in) :: xi(3)
    real(dp) :: w(in_element)
    Inside = medium(1)
    if (size(medium) == 1) return
    call HexWeights(xi, w)
    Inside = min(max(dot_product(w, real(medium, dp)), real(minval(medium), dp)), real(maxval(medium), dp))
  end function Inside

  !> Adds a receiver of a component at a place. Where there is no room for it there will be for twice as many: 10**5 of them are not
  !> copied for each one more. average: a stress or pressure is that of the isotropic average of the medium.
  subroutine Sem3dRecord(list, place, component, error, average)
    type(sem3d_list_t), intent(inout) :: list
    type(sem3d_place_t), intent(in) :: place
    character(*), intent(in) :: component
    type(error_t), allocatable, intent(inout) :: error
    logical, intent(in), optional :: average
    if (.not. allocated(list%start)) then
      list%start = [1]
      allocate (list%slope(0), list%field(0), list%point(0), list%w(0))
    end if
    if (list%n > huge(1) - 3*size(place%point)) then
      call Fail(error, 'receivers take more than 2.1e9 weights, those of '//Str(list%receivers)//' traces are all that fit: '// &
                'take fewer receivers, or fewer components')
      return
    end if
    if (place%solid) then
      call InSolid(list, place, component, average)
    else if (Sem3dRecords(component)) then
      call InFluid(list, place, component)
    else
      call Fail(error, component//' is not recorded in a fluid: leave it out of components')
    end if
    call EndReceiver(list, component(1:1) == 'a' .or. (component == 'p' .or. component(1:1) == 's') .and. .not. place%solid)
  end subroutine Sem3dRecord

  !> Adds dchi/dt of the water at a place, from which its pressure follows.
  subroutine Sem3dRecordWater(list, place)
    type(sem3d_list_t), intent(inout) :: list
    type(sem3d_place_t), intent(in) :: place
    call Add(list, place%point, field_chi_t, place%beyond)
    call EndReceiver(list, .false.)
  end subroutine Sem3dRecordWater

  !> Adds the sum of of(c, l) times the derivative of motion c along l on the side of a place; rate: of velocity.
  subroutine Sem3dRecordOnSide(list, place, of, rate)
    type(sem3d_list_t), intent(inout) :: list
    type(sem3d_place_t), intent(in) :: place
    real(dp), intent(in) :: of(3, 3)
    logical, intent(in) :: rate
    call AddGradient(list, Sem3dOnSide(place), merge(field_vx, field_ux, rate), of)
    call EndReceiver(list, .false.)
  end subroutine Sem3dRecordOnSide

  !> The place on its side that is closest to it.
  pure function Sem3dOnSide(place) result(side)
    type(sem3d_place_t), intent(in) :: place
    type(sem3d_place_t) :: side
    integer :: n
    side = place
    n = size(place%side, 1)
    side%across = 1
    side%w(:n, 1:) = place%side - Outer(matmul(place%side, place%normal), place%normal)
  end function Sem3dOnSide

  !> All entries of a receiver are there.
  subroutine EndReceiver(list, slope)
    type(sem3d_list_t), intent(inout) :: list
    logical, intent(in) :: slope
    if (list%receivers == size(list%slope)) list%slope = [list%slope, .false., list%slope]
    if (list%receivers + 1 == size(list%start)) call Lengthen(list%start, 2*size(list%start))
    list%receivers = list%receivers + 1
    list%start(list%receivers + 1) = list%n + 1
    list%slope(list%receivers) = slope
  end subroutine EndReceiver

  subroutine InSolid(list, place, component, average)
    type(sem3d_list_t), intent(inout) :: list
    type(sem3d_place_t), intent(in) :: place
    character(*), intent(in) :: component
    logical, intent(in), optional :: average
    real(dp) :: of(3, 3)
    select case (component(1:1))
    case ('v', 'a')
      call Add(list, place%point, field_vx + index('xyz', component(2:2)) - 1, place%w(:, 0))
    case ('u')
      call Add(list, place%point, field_ux + index('xyz', component(2:2)) - 1, place%w(:, 0))
    case default
      of = Sem3dOfGradient(place, component, average)
      call AddGradient(list, place, merge(field_ux, field_vx, Sem3dAtWhole(component)), of)
    end select
  end subroutine InSolid

  !> The component is the sum of of(c, l) times the derivative of motion c along l.
  pure function Sem3dOfGradient(place, component, average) result(of)
    type(sem3d_place_t), intent(in) :: place
    character(*), intent(in) :: component
    logical, intent(in), optional :: average
    real(dp) :: of(3, 3)
    integer :: a, b, p
    of = 0
    p = findloc(pair, component(2:min(3, len(component))), 1)
    if (p > 0) then
      of(first(p), second(p)) = 0.5_dp
      of(second(p), first(p)) = of(second(p), first(p)) + 0.5_dp
    end if
    select case (component(1:1))
    case ('e')
      if (p == 0) of = even                                                  ! the rate of dilatation
    case ('w')
      p = index('xyz', component(2:2))
      a = modulo(p, 3) + 1
      b = modulo(p + 1, 3) + 1
      of(b, a) = 0.5_dp
      of(a, b) = -0.5_dp
    case ('s')
      of = Stress(place, of, average)
    case default
      of = -Stress(place, even, average)/3
    end select
  end function Sem3dOfGradient

  !> The stress of a gradient of displacement g(c, l), component c along l.
  pure function Stress(place, g, average) result(s)
    type(sem3d_place_t), intent(in) :: place
    real(dp), intent(in) :: g(3, 3)
    logical, intent(in), optional :: average
    real(dp) :: s(3, 3)
    logical :: isotropic
    integer :: a, b, c
    isotropic = .not. allocated(place%stiffness)
    if (present(average)) isotropic = isotropic .or. average
    if (.not. isotropic) then
      s = 0
      do a = 1, 3
        do b = 1, 3
          do c = 1, 3
            s(a, b) = s(a, b) + dot_product(place%stiffness(voigt(a, b), voigt(:, c)), g(c, :))
          end do
        end do
      end do
    else
      s = place%mu*(g + transpose(g))
      do a = 1, 3
        s(a, a) = s(a, a) + place%lambda*(g(1, 1) + g(2, 2) + g(3, 3))
      end do
    end if
  end function Stress

  !> Adds the sum of of(c, l) times the derivative along l of component c of a field of motion. Close to a side it has a part of the
  !> derivative across this, which leaves no traction there, on a contact but that of the water: (c : (g + d n)) n = 0 gives d, and
  !> what that makes a sum of the derivatives g on the side.
  subroutine AddGradient(list, place, field, of)
    type(sem3d_list_t), intent(inout) :: list
    type(sem3d_place_t), intent(in) :: place
    integer, intent(in) :: field
    real(dp), intent(in) :: of(3, 3)
    real(dp) :: w(size(place%w, 1)), side(3, 3)
    integer :: c
    if (any(abs(place%normal) > 0)) &
      side = place%across*Outer(matmul(of, place%normal), place%normal) - Stress(place, Outer(OfTraction(place, of), place%normal))
    do c = 1, 3
      w = matmul(place%w(:, 1:3), of(c, :))
      if (any(abs(place%normal) > 0)) w = w + matmul(place%side, side(c, :))
      call Add(list, place%point, field + c - 1, w)
    end do
  end subroutine AddGradient

  !> A traction of 1 along each axis on the side of a place adds so much to the sum of of(c, l) times the derivative of motion c
  !> along l; 0 of a place without one.
  pure function OfTraction(place, of) result(d)
    type(sem3d_place_t), intent(in) :: place
    real(dp), intent(in) :: of(3, 3)
    real(dp) :: d(3)
    real(dp) :: christoffel(3, 3)
    d = 0
    if (all(abs(place%normal) <= 0)) return
    christoffel = Sem3dChristoffel(place)
    d = place%across*matmul(of, place%normal)
    call SolvePositive(christoffel, d)
  end function OfTraction

  !> The traction on the side of its place that a derivative of 1 along the normal makes, column c: of motion c.
  pure function Sem3dChristoffel(place, average) result(christoffel)
    type(sem3d_place_t), intent(in) :: place
    logical, intent(in), optional :: average
    real(dp) :: christoffel(3, 3)
    integer :: c
    do c = 1, 3
      christoffel(:, c) = matmul(Sem3dTraction(place, c, average), place%normal)
    end do
  end function Sem3dChristoffel

  !> Component c of the traction on the side of a place is the sum of of(c, l) times the derivative of motion c along l there.
  pure function Sem3dTraction(place, c, average) result(of)
    type(sem3d_place_t), intent(in) :: place
    integer, intent(in) :: c
    logical, intent(in), optional :: average
    real(dp) :: of(3, 3)
    real(dp) :: unit(3)
    unit = 0
    unit(c) = 1
    of = Stress(place, Outer(unit, place%normal), average)
  end function Sem3dTraction

  pure function Outer(x, y) result(xy)
    real(dp), intent(in) :: x(:), y(:)
    real(dp) :: xy(size(x), size(y))
    xy = spread(x, 2, size(y))*spread(y, 1, size(x))
  end function Outer

  !> The weight in a component of the pressure of the water on the side of its place, or of its derivative by time (Sem3dAtWhole).
  pure real(dp) function Sem3dPressed(place, component, average) result(weight)
    type(sem3d_place_t), intent(in) :: place
    character(*), intent(in) :: component
    logical, intent(in), optional :: average
    weight = 0
    if (Sem3dIsGradient(component)) &
      weight = -dot_product(OfTraction(place, Sem3dOfGradient(place, component, average)), place%normal)
  end function Sem3dPressed

  !> The same of the sum of of(c, l) times the derivative of motion c along l on the side.
  pure real(dp) function Sem3dPressedOnSide(place, of) result(weight)
    type(sem3d_place_t), intent(in) :: place
    real(dp), intent(in) :: of(3, 3)
    weight = -dot_product(OfTraction(Sem3dOnSide(place), of), place%normal)
  end function Sem3dPressedOnSide

  !> Weights in a component of the derivative of each motion along the normal, on the side of its place.
  pure function Sem3dAcross(place, component, average) result(weight)
    type(sem3d_place_t), intent(in) :: place
    character(*), intent(in) :: component
    logical, intent(in), optional :: average
    real(dp) :: weight(3)
    real(dp) :: of(3, 3)
    of = Sem3dOfGradient(place, component, average)
    weight = place%across*matmul(of, place%normal)
  end function Sem3dAcross

  subroutine InFluid(list, place, component)
    type(sem3d_list_t), intent(inout) :: list
    type(sem3d_place_t), intent(in) :: place
    character(*), intent(in) :: component
    associate (w => place%w)
      select case (component(1:1))
      case ('v', 'a')
        call AlongAxis(field_chi_t, field_vx)
      case ('u')
        call AlongAxis(field_chi, field_ux)
      case ('p')
        call Add(list, place%point, field_chi_t, -w(:, 0))
      case default
        if (findloc(pair, component(2:3), 1) <= 3) call Add(list, place%point, field_chi_t, w(:, 0))
      end select
    end associate

  contains

    !> The part of the derivative across a contact is that of the rock's motion there.
    subroutine AlongAxis(fluid, solid)
      integer, intent(in) :: fluid, solid
      integer :: a, c
      a = index('xyz', component(2:2))
      call Add(list, place%point, fluid, place%w(:, a)/place%rho)
      if (.not. allocated(place%beyond)) return
      do c = 1, 3
        call Add(list, place%point, solid + c - 1, place%normal(a)*place%across*place%normal(c)*place%beyond)
      end do
    end subroutine AlongAxis

  end subroutine InFluid

  !> Adds a source at a place. The history of a moment is the moment, that of a volume the volume, in place of its rate. part: of a
  !> volume in anisotropic rock what its isotropic average makes, or the rest.
  subroutine Sem3dSource(list, place, source, error, part)
    type(sem3d_list_t), intent(inout) :: list
    type(sem3d_place_t), intent(in) :: place
    type(source3d_t), intent(in) :: source
    type(error_t), allocatable, intent(inout) :: error
    integer, intent(in), optional :: part
    real(dp), parameter :: even_moment(6) = [1, 1, 1, 0, 0, 0]
    real(dp) :: moment(6), tensor(3, 3), bulk
    integer :: a, p
    bulk = place%lambda + 2*place%mu/3
    moment = source%moment
    if (source%kind == source_volume) moment = bulk*even_moment
    if (source%kind == source_volume .and. allocated(place%stiffness)) &
      moment = [(sum(place%stiffness(voigt(first(p), second(p)), :3))/3, p=1, 6)]     ! what an even opening of that volume needs
    if (present(part)) then
      if (part == part_average) moment = bulk*even_moment
      if (part == part_rest) moment = moment - bulk*even_moment
    end if
    if (.not. place%solid) then
      if (source%kind == source_force .or. any(abs(moment(2:3) - moment(1)) > 0) .or. any(abs(moment(4:)) > 0)) then
        call Fail(error, 'a force or a moment with shear cannot act in a fluid')
      else
        call Add(list, place%point, field_chi_t, -moment(1)/bulk*place%w(:, 0))
      end if
      return
    end if
    do p = 1, 6
      tensor(first(p), second(p)) = moment(p)
      tensor(second(p), first(p)) = moment(p)
    end do
    if (source%kind /= source_force) then
      call AddGradient(list, place, field_vx, tensor)
      if (allocated(place%beyond)) &
        call Add(list, place%point, field_chi_t, -dot_product(OfTraction(place, tensor), place%normal)*place%beyond)
      return
    end if
    do a = 1, 3
      call Add(list, place%point, field_vx + a - 1, source%force(a)*place%w(:, 0))
    end do
  end subroutine Sem3dSource

  !> Adds entries of a field at points; those without weight are left out.
  subroutine Add(list, points, field, w)
    type(sem3d_list_t), intent(inout) :: list
    integer, intent(in) :: points(:), field
    real(dp), intent(in) :: w(:)
    integer :: m, room
    if (.not. allocated(list%w)) allocate (list%field(0), list%point(0), list%w(0))
    if (list%n + size(w) > size(list%w)) then
      room = list%n + max(size(w), min(list%n, huge(1) - list%n))
      call Lengthen(list%field, room)
      call Lengthen(list%point, room)
      call Lengthen(list%w, room)
    end if
    do m = 1, size(w)
      if (.not. abs(w(m)) > 0) cycle
      list%n = list%n + 1
      list%field(list%n) = field
      list%point(list%n) = points(m)
      list%w(list%n) = real(w(m), sp)
    end do
  end subroutine Add

end module sem3d_components_m
