!> The scheme of a survey on spectral elements: what it has beyond times, and the way of that to other ranks.
module elements_scheme_m
  use checked_m, only: Finite, IsWhole, Whole
  use elements_m, only: in_element, in_memory
  use kinds_m, only: dp
  use mesh_ground_m, only: from_level, from_seafloor
  use parcel_m, only: parcel_t
  use parameter_table_m, only: SplitList
  use partners_m, only: halo_auto, halo_host
  use scheme_m, only: scheme_t
  use source3d_m, only: source3d_t, SourceFault, SourceFrom, SourceNumbers
  use text_m, only: Str
  use window_m, only: window_t
  implicit none
  private
  public :: elements_scheme_t

  integer, parameter, public :: points_of_element = 64        !< that an element adds to a mesh, about: 4 x 4 x 4

  type, extends(scheme_t) :: elements_scheme_t
    integer :: elements = 0, solid = 0        !< of the mesh, of which so many are solid
    real(dp) :: shortest = 0, longest = 0     !< edges [m]
    integer :: per = 8                        !< nodes of an element
    integer :: media = 1                      !< numbers of an element for each of rho, lambda, mu
    integer :: sum = 0                        !< of forces at points that elements share: as in sem3d_grid_t
    integer :: halo = halo_auto               !< the way of what pieces of a mesh give each other
    integer :: resident = 0                   !< what of them stays on a GPU: as in sem3d_grid_t
    integer :: slowest = 0, worst = 0         !< elements with the fewest points per wavelength, and that set the time step
    logical :: attenuates = .false.
    real(dp) :: q_band(2) = 0                 !< Q is constant in this band [Hz]
    real(dp) :: q_ref = 0                     !< there the velocities are phase velocities [Hz]
    integer :: relaxing = in_element          !< points of an element that have memory variables
    real(dp) :: sponge_width = 0                    !< width of the layer that damps before absorbing sides [m]
    type(source3d_t) :: source
    integer :: source_from = 0, receivers_from = 0   !< what their depths count from (mesh_ground.f90)
    integer :: free_sides = 0                 !< of the mesh
    real(dp) :: spacing = 0                   !< of the points of pictures [m]
    logical :: pgv = .false.                  !< the map of peak ground velocity is wanted
    real(dp) :: pgv_depth = -huge(1.0_dp)     !< at this depth, or at the top [m]
    character(:), allocatable :: planes, fields   !< of snapshots, as the job says
  contains
    procedure :: no_pictures, of_mesh, traces
    procedure :: cells, grid_words, layer_words, accuracy_words
    procedure :: pack => PackOwn
    procedure :: unpack => UnpackOwn
  end type elements_scheme_t

  integer, parameter :: numbers = 25          !< before those of the source
  integer, parameter :: most_beside = 16      !< an isotropic average's stress and pressure, two times 4 on a side, dchi/dt of water

contains

  subroutine no_pictures(self)
    class(elements_scheme_t), intent(inout) :: self
    self%snapshot = 0
    self%pgv = .false.
  end subroutine no_pictures

  !> Points of the elements of a window.
  pure real(dp) function cells(self, window)
    class(elements_scheme_t), intent(in) :: self
    type(window_t), intent(in) :: window
    cells = real(points_of_element, dp)*self%of_mesh(window)
  end function cells

  !> Elements of the mesh of a window.
  pure integer function of_mesh(self, window) result(n)
    class(elements_scheme_t), intent(in) :: self
    type(window_t), intent(in) :: window
    n = self%elements
    if (window%ny <= 1) n = window%nz
  end function of_mesh

  !> Traces that are sampled where n are asked for.
  pure integer function traces(self, n)
    class(elements_scheme_t), intent(in) :: self
    integer, intent(in) :: n
    traces = n + n/size(SplitList(self%components))*self%beside
  end function traces

  function grid_words(self) result(words)
    class(elements_scheme_t), intent(in) :: self
    character(:), allocatable :: words
    words = Str(self%elements)//' elements of degree 4, edges of '//Str(self%shortest, 4)//' .. '//Str(self%longest, 4)//' m'
  end function grid_words

  function layer_words(self) result(words)
    class(elements_scheme_t), intent(in) :: self
    character(:), allocatable :: words
    words = 'fewest points per wavelength in element '//Str(self%slowest)
  end function layer_words

  function accuracy_words(self) result(words)
    class(elements_scheme_t), intent(in) :: self
    character(:), allocatable :: words
    words = 'fewest in element '//Str(self%slowest)//'; element '//Str(self%worst)//' sets the time step'
  end function accuracy_words

  subroutine PackOwn(self, parcel)
    class(elements_scheme_t), intent(in) :: self
    type(parcel_t), intent(out) :: parcel
    parcel%numbers = [self%dy, real([self%elements, self%slowest, self%worst], dp), self%shortest, self%longest, &
                      merge(1.0_dp, 0.0_dp, self%attenuates), self%q_band, self%q_ref, &
                      real([self%source_from, self%receivers_from, self%free_sides, merge(1, 0, self%pgv)], dp), self%spacing, &
                      self%pgv_depth, real([self%per, self%sum, self%relaxing], dp), self%sponge_width, &
                      real([self%resident, self%media, self%halo, self%beside, self%solid], dp), &
                      SourceNumbers(self%source)]
    parcel%text = self%planes//achar(10)//self%fields
  end subroutine PackOwn

  subroutine UnpackOwn(self, parcel, why)
    class(elements_scheme_t), intent(inout) :: self
    type(parcel_t), intent(in) :: parcel
    character(:), allocatable, intent(out) :: why
    integer :: i
    why = ''
    if (count([(parcel%text(i:i) == achar(10), i=1, len(parcel%text))]) /= 1) then
      why = 'its words are not components, variant, planes and fields'
    else if (size(parcel%numbers) <= numbers) then
      why = 'the numbers of the source are none'
    else if (.not. all(Finite(parcel%numbers))) then
      why = 'a number of the source is none'
    else if (.not. (all(IsWhole(parcel%numbers(2:4), 0, huge(1))) .and. IsWhole(parcel%numbers(7), 0, 1) .and. &
                    IsWhole(parcel%numbers(17), 8, 27) .and. IsWhole(parcel%numbers(18), 0, 2))) then
      why = 'a number of elements that is none'
    else if (.not. (all(IsWhole(parcel%numbers(11:12), from_level, from_seafloor)) .and. IsWhole(parcel%numbers(13), 0, huge(1)) &
                    .and. IsWhole(parcel%numbers(14), 0, 1))) then
      why = 'a choice that is none'
    else if (.not. (IsWhole(parcel%numbers(19), in_memory, in_element) .and. parcel%numbers(20) >= 0 .and. &
                    IsWhole(parcel%numbers(21), 0, 2) .and. &
                    IsWhole(parcel%numbers(22), 1, in_element) .and. IsWhole(parcel%numbers(23), halo_auto, halo_host) .and. &
                    IsWhole(parcel%numbers(24), 0, most_beside) .and. IsWhole(parcel%numbers(25), 0, huge(1)))) then
      why = 'a number of memory variables or traces, a width or a choice that is none'
    else
      why = SourceFault(parcel%numbers(numbers + 1:), size(parcel%samples))
    end if
    if (why /= '') return
    associate (x => parcel%numbers)
      self%dy = x(1)
      self%elements = Whole(x(2))
      self%slowest = Whole(x(3))
      self%worst = Whole(x(4))
      self%shortest = x(5)
      self%longest = x(6)
      self%attenuates = x(7) > 0
      self%q_band = x(8:9)
      self%q_ref = x(10)
      self%source_from = Whole(x(11))
      self%receivers_from = Whole(x(12))
      self%free_sides = Whole(x(13))
      self%pgv = x(14) > 0
      self%spacing = x(15)
      self%pgv_depth = x(16)
      self%per = Whole(x(17))
      self%sum = Whole(x(18))
      self%relaxing = merge(in_memory, in_element, x(19) < in_element)
      self%sponge_width = x(20)
      self%resident = Whole(x(21))
      self%media = merge(1, in_element, x(22) < in_element)
      self%halo = Whole(x(23))
      self%beside = Whole(x(24))
      self%solid = Whole(x(25))
      i = index(parcel%text, achar(10))
      self%planes = parcel%text(:i - 1)
      self%fields = parcel%text(i + 1:)
      call SourceFrom(x(numbers + 1:), parcel%samples, self%source)
    end associate
  end subroutine UnpackOwn

end module elements_scheme_m
