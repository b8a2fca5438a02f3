!> The needs of a shot: memory, pieces of the mesh where ranks share it, room for pictures. Arguments stand in elements3d.f90.
submodule(elements3d_m) elements3d_needs
  use band_weights_m, only: band_points
  use elements_cut_m, only: CutWords, ElementsCut, touching
  use elements_m, only: in_element, tensor_numbers
  use elements_pictures_m, only: PicturePoints, PicturesCheck, PictureTotal => PictureNumbers
  use elements_scheme_m, only: points_of_element
  use elements_share_m, only: ShareGuess, ShareMost, SharesMake
  use elements_window_m, only: ElementsParts
  use near_patch_m, only: patch_bytes
  use window_m, only: window_at_once
  use zener_m, only: zener_mechanisms
  implicit none

contains

  module procedure CutFor
    integer, parameter :: by_colour = 1
    type(error_t), allocatable :: error
    logical :: far
    integer :: w
    far = FarShares(self, scheme)
    if (self%cut%pieces == scheme%ranks .and. allocated(self%shares%start)) then
      if (self%shares%far .eqv. far) return
    end if
    call ElementsCut(self%elements, scheme%ranks, merge(scheme%relaxing, 0, scheme%attenuates), self%cut, error)
    if (.not. allocated(error)) call SharesMake(self%elements, self%cut, far, scheme%sum == by_colour, self%shares, error)
    if (.not. allocated(error)) return
    self%cut%pieces = 0
    self%shares%start = [(1, w=0, scheme%ranks)]
  end procedure CutFor

  !> A map of ground velocity may lie in a fluid.
  pure logical function FarShares(self, scheme) result(far)
    class(elements3d_t), intent(in) :: self
    type(elements_scheme_t), intent(in) :: scheme
    far = scheme%pgv .and. self%elements%n > self%elements%solid
  end function FarShares

  module procedure memory
    integer, parameter :: stored = 14, made = 6    !< numbers of a point of an element: its number, geometry unless it is made, sums
    integer, parameter :: fields = 8               !< of a point
    integer, parameter :: found = 6                !< of a point, where ranks look for what is theirs
    integer, parameter :: making = 240             !< bytes of an element of rank 0 as it is made, beside it and the mesh,
    integer, parameter :: stepping = 310           !< as the time step is found,
    integer, parameter :: finding = 60, cutting = 110   !< to find places, for pieces and shares
    real(dp), parameter :: reading = 7.0e6_dp      !< of rank 0 beside: libraries that read a mesh
    real(dp), parameter :: most_sent = 5*4*window_at_once        !< at once, where it goes to another machine
    real(dp) :: nodes, relaxing, share, piece      !< relaxing: numbers of an element that attenuates
    real(dp) :: set_up, sending                    !< bytes of rank 0 at these times
    integer :: numbers
    numbers = merge(made, stored, scheme%variant == 'cpu' .and. self%elements%per == 8)
    nodes = 24.0_dp*self%elements%per + 64
    if (size(self%elements%rho, 1) > 1) nodes = nodes + 12*in_element
    if (allocated(self%elements%tensor)) nodes = nodes + 4*tensor_numbers
    if (allocated(self%elements%ocean)) nodes = nodes + 32
    if (allocated(self%to_side)) nodes = nodes + 64
    relaxing = 0
    set_up = self%elements%n*(nodes + 12*self%elements%per + making)
    if (self%attenuates) set_up = max(set_up, self%elements%n*(2*nodes + stepping))          ! with unrelaxed ones
    sending = self%elements%n*(nodes + finding)
    share = self%elements%n
    piece = share
    select type (scheme)
    type is (elements_scheme_t)
      if (self%attenuates) relaxing = 6*zener_mechanisms*scheme%relaxing
      if (scheme%ranks > 1) then
        share = ShareSize(self, scheme)
        piece = min(share, touching*piece/scheme%ranks)
        sending = sending + self%elements%n*real(cutting, dp)
      end if
      sending = sending + 2*min(most_sent, 4*share*ElementsParts(self%elements, allocated(self%to_side), scheme%ranks > 1))
    end select
    master = reading + max(set_up, sending)          ! what is sent is held twice for a moment
    worker = share*3*nodes + piece*4*(numbers*in_element + relaxing + fields*points_of_element)
    worker = worker + real(patch_bytes, dp)*self%told%patch
    if (scheme%ranks > 1) worker = worker + share*4.0_dp*(in_element + found*points_of_element) + piece*nodes
    if (pictures) worker = worker + 16*picture_numbers(scheme, window)
    if (pictures) worker = worker + MapBytes(scheme, window)
    if (pictures) master = master + 12*picture_numbers(scheme, window)
  end procedure memory

  !> Elements that a rank is sent, of the mesh as it is cut, or about, before it is.
  real(dp) function ShareSize(self, scheme) result(n)
    class(elements3d_t), intent(in) :: self
    type(elements_scheme_t), intent(in) :: scheme
    if (self%cut%pieces == scheme%ranks .and. allocated(self%shares%list)) then
      n = ShareMost(self%shares)
    else
      n = ShareGuess(self%elements%n, scheme%ranks, FarShares(self, scheme))
    end if
  end function ShareSize

  !> Weights of the points of a map, in the list and in the engine; of all points as of those inside of elements.
  real(dp) function MapBytes(scheme, window) result(bytes)
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    integer, parameter :: weight = 12, lists = 2
    real(dp) :: first(3)
    integer :: n(3)
    bytes = 0
    select type (scheme)
    type is (elements_scheme_t)
      if (.not. scheme%pgv) return
      call PicturePoints(window, scheme%spacing, first, n)
      bytes = 3.0_dp*weight*lists*in_element*n(1)*n(2)
    end select
  end function MapBytes

  module procedure sharing
    words = ''
    gain = 1
    exchange = 0
    select type (scheme)
    type is (elements_scheme_t)
      call CutFor(self, scheme)
      if (self%cut%pieces /= scheme%ranks) return ! `derive` has told it
      words = CutWords(self%cut)
      gain = self%cut%gain
      exchange = self%cut%exchange
    end select
  end procedure sharing

  module procedure wants_pictures
    wanted = job%snapshot > 0 .or. job%pgv
  end procedure wants_pictures

  module procedure picture_numbers
    numbers = 0
    select type (scheme)
    type is (elements_scheme_t)
      numbers = PictureTotal(scheme, window)
    end select
  end procedure picture_numbers

  module procedure check_pictures
    select type (scheme)
    type is (elements_scheme_t)
      call PicturesCheck(scheme, shot%record, window, error)
    end select
  end procedure check_pictures

  module procedure receiver
    cells = 3*band_points
    sorting = 42
  end procedure receiver

end submodule elements3d_needs
