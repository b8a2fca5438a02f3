!> What is recorded at a place, as weights of the fields at the points of its element, and where forces and moments act.
!>
!> The gradient of a field is that of its polynomial in the element. In a fluid velocity is 1/rho grad dchi/dt, displacement
!> 1/rho grad chi, pressure -d2chi/dt2.
module sem3d_components_m
  use elements_m, only: elements_t, in_element
  use error_m, only: error_t, Fail
  use hexahedron_m, only: HexGradient, HexWeights
  use kinds_m, only: dp, sp
  use sem3d_engine_m, only: field_chi, field_chi_t, field_ux, field_vx
  use source3d_m, only: source3d_t, source_force, source_volume
  implicit none
  private
  public :: sem3d_list_t, Sem3dRecord, Sem3dSource, Sem3dRecords, Sem3dAtWhole

  !> Entries of sources, or of receivers: those of receiver r are start(r) .. start(r+1)-1.
  type :: sem3d_list_t
    integer :: n = 0
    integer, allocatable :: field(:), point(:)
    real(sp), allocatable :: w(:)
    integer, allocatable :: start(:)
    logical, allocatable :: slope(:)              !< of a receiver: its derivative by time is wanted
  end type sem3d_list_t

  character(2), parameter :: pair(6) = ['xx', 'yy', 'zz', 'xy', 'xz', 'yz']
  integer, parameter :: first(6) = [1, 2, 3, 1, 1, 2], second(6) = [1, 2, 3, 2, 3, 3]

contains

  !> True of a component that a receiver in a fluid records.
  pure logical function Sem3dRecords(component) result(records)
    character(*), intent(in) :: component
    records = component(1:1) /= 'e'
  end function Sem3dRecords

  !> True of a component that is sampled at whole time steps.
  pure logical function Sem3dAtWhole(component) result(whole)
    character(*), intent(in) :: component
    whole = all(component(1:1) /= ['v', 'e'])
  end function Sem3dAtWhole

  !> Adds a receiver of a component at xi, eta, zeta of element e.
  subroutine Sem3dRecord(list, elements, component, e, xi, error)
    type(sem3d_list_t), intent(inout) :: list
    type(elements_t), intent(in) :: elements
    character(*), intent(in) :: component
    integer, intent(in) :: e
    real(dp), intent(in) :: xi(3)
    type(error_t), allocatable, intent(inout) :: error
    if (.not. allocated(list%start)) then
      list%start = [1]
      allocate (list%slope(0))
    end if
    if (e <= elements%solid) then
      call InSolid(list, elements, component, e, xi)
    else if (Sem3dRecords(component)) then
      call InFluid(list, elements, component, e, xi)
    else
      call Fail(error, component//' is not recorded in a fluid: leave it out of components')
    end if
    list%start = [list%start, list%n + 1]
    list%slope = [list%slope, component(1:1) == 'a' .or. (component == 'p' .or. component(1:1) == 's') .and. e > elements%solid]
  end subroutine Sem3dRecord

  subroutine InSolid(list, elements, component, e, xi)
    type(sem3d_list_t), intent(inout) :: list
    type(elements_t), intent(in) :: elements
    character(*), intent(in) :: component
    integer, intent(in) :: e
    real(dp), intent(in) :: xi(3)
    real(dp) :: value(in_element), slope(in_element, 3), lambda(in_element), mu(in_element), l, m
    integer :: a, b, c, p
    call HexWeights(xi, value)
    call HexGradient(elements%corner(:, :, e), xi, slope)
    select case (component(1:1))
    case ('v', 'a')
      call Add(list, elements%at(:, e), field_vx + index('xyz', component(2:2)) - 1, value)
    case ('u')
      call Add(list, elements%at(:, e), field_ux + index('xyz', component(2:2)) - 1, value)
    case ('e')
      p = findloc(pair, component(2:3), 1)
      a = first(p)
      b = second(p)
      call Add(list, elements%at(:, e), field_vx + b - 1, slope(:, a)/merge(1, 2, a == b))
      if (a /= b) call Add(list, elements%at(:, e), field_vx + a - 1, slope(:, b)/2)
    case default
      lambda = elements%lambda(:, e)
      mu = elements%mu(:, e)
      l = dot_product(value, lambda)
      m = dot_product(value, mu)
      p = findloc(pair, component(2:min(3, len(component))), 1)
      do c = 1, 3
        if (component == 'p') then
          call Add(list, elements%at(:, e), field_ux + c - 1, -(l + 2*m/3)*slope(:, c))
        else if (p <= 3) then
          call Add(list, elements%at(:, e), field_ux + c - 1, (l + merge(2*m, 0.0_dp, c == p))*slope(:, c))
        else if (c == first(p)) then
          call Add(list, elements%at(:, e), field_ux + c - 1, m*slope(:, second(p)))
        else if (c == second(p)) then
          call Add(list, elements%at(:, e), field_ux + c - 1, m*slope(:, first(p)))
        end if
      end do
    end select
  end subroutine InSolid

  subroutine InFluid(list, elements, component, e, xi)
    type(sem3d_list_t), intent(inout) :: list
    type(elements_t), intent(in) :: elements
    character(*), intent(in) :: component
    integer, intent(in) :: e
    real(dp), intent(in) :: xi(3)
    real(dp) :: value(in_element), slope(in_element, 3), rho(in_element)
    call HexWeights(xi, value)
    call HexGradient(elements%corner(:, :, e), xi, slope)
    rho = elements%rho(:, e)
    rho = dot_product(value, rho)
    select case (component(1:1))
    case ('v', 'a')
      call Add(list, elements%at(:, e), field_chi_t, slope(:, index('xyz', component(2:2)))/rho)
    case ('u')
      call Add(list, elements%at(:, e), field_chi, slope(:, index('xyz', component(2:2)))/rho)
    case ('p')
      call Add(list, elements%at(:, e), field_chi_t, -value)
    case default
      if (findloc(pair, component(2:3), 1) <= 3) call Add(list, elements%at(:, e), field_chi_t, value)
    end select
  end subroutine InFluid

  !> Adds a source at xi, eta, zeta of element e. `moment`: its history is the moment, or the volume in place of its rate.
  subroutine Sem3dSource(list, elements, source, e, xi, error)
    type(sem3d_list_t), intent(inout) :: list
    type(elements_t), intent(in) :: elements
    type(source3d_t), intent(in) :: source
    integer, intent(in) :: e
    real(dp), intent(in) :: xi(3)
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: value(in_element), slope(in_element, 3), bulk(in_element), moment(6), tensor(3, 3), k
    integer :: a, p
    call HexWeights(xi, value)
    call HexGradient(elements%corner(:, :, e), xi, slope)
    bulk = elements%lambda(:, e) + 2*elements%mu(:, e)/3
    k = dot_product(value, bulk)
    moment = source%moment
    if (source%kind == source_volume) moment = k*[1, 1, 1, 0, 0, 0]
    if (e > elements%solid) then
      if (source%kind == source_force .or. any(abs(moment(2:3) - moment(1)) > 0) .or. any(abs(moment(4:)) > 0)) then
        call Fail(error, 'a force or a moment with shear cannot act in a fluid')
        return
      end if
      call Add(list, elements%at(:, e), field_chi_t, -moment(1)/k*value)
      return
    end if
    do p = 1, 6
      tensor(first(p), second(p)) = moment(p)
      tensor(second(p), first(p)) = moment(p)
    end do
    do a = 1, 3
      if (source%kind == source_force) then
        call Add(list, elements%at(:, e), field_vx + a - 1, source%force(a)*value)
      else
        call Add(list, elements%at(:, e), field_vx + a - 1, matmul(slope, tensor(:, a)))
      end if
    end do
  end subroutine Sem3dSource

  !> Adds entries of a field at the points of an element; those without weight are left out.
  subroutine Add(list, points, field, w)
    type(sem3d_list_t), intent(inout) :: list
    integer, intent(in) :: points(:), field
    real(dp), intent(in) :: w(:)
    real(sp), allocatable :: some(:)
    if (.not. allocated(list%w)) allocate (list%field(0), list%point(0), list%w(0))
    some = pack(real(w, sp), abs(w) > 0)
    list%field = [list%field, spread(field, 1, size(some))]
    list%point = [list%point, pack(points, abs(w) > 0)]
    list%w = [list%w, some]
    list%n = size(list%w)
  end subroutine Add

end module sem3d_components_m
