!> The scheme of a 3D survey: what elastic modelling has beyond a grid, weights and times, and the way of that to other ranks.
module scheme3d_m
  use anelastic_m, only: memory_all, memory_coarse, memory_coarse2001
  use checked_m, only: Finite, IsWhole, Whole
  use kinds_m, only: dp
  use parcel_m, only: parcel_t
  use partners_m, only: halo_auto, halo_host
  use scheme_m, only: scheme_t
  use source3d_m, only: source3d_t, SourceFault, SourceFrom, SourceNumbers
  use text_m, only: Str
  implicit none
  private
  public :: scheme3d_t, elastic_t

  !> Halos between pieces: wide where messages take longer than what they save, always, never.
  integer, parameter, public :: wide_auto = 0, wide_yes = 1, wide_no = 2
  character(*), parameter, public :: wide_words(0:2) = [character(4) :: 'auto', 'y', 'n']

  type :: elastic_t
    logical :: attenuates = .false.           !< with memory variables
    real(dp) :: q_band(2) = 0                 !< Q is constant in this band [Hz]
    real(dp) :: q_ref = 0                     !< there the model's velocities are phase velocities [Hz]
    real(dp) :: qmin = 0                      !< smallest quality factor of the model
    integer :: memory = memory_coarse         !< way of memory variables (anelastic.f90)
    logical :: narrow = .false.               !< differences along layers of the sides are of half-length 1 in them
    logical :: wet = .false.                  !< all of the model's top is a fluid
    logical :: pgv = .false.                  !< the map of peak ground velocity is wanted
    real(dp) :: pgv_depth = -huge(1.0_dp)     !< at this depth, or at the top [m]
    integer :: decomposition(3) = 0           !< pieces of a shot along x, y, z; 0: as is fastest
    integer :: halo = halo_auto               !< the way of halos between pieces
    integer :: wide = wide_no                 !< of velocities alone, twice as deep
    logical :: layered = .false.              !< fields in flat layers are computed close to the source of some shot
    real(dp) :: reads = 1                     !< times as many cells as in even rock are read by receivers (receiver_cells.f90)
    type(source3d_t) :: source
    character(:), allocatable :: planes, fields   !< of snapshots, as the job says
  end type elastic_t

  type, extends(scheme_t) :: scheme3d_t
    type(elastic_t) :: own
  contains
    procedure :: gpu_busy
    procedure :: no_pictures
    procedure :: pack => PackOwn
    procedure :: unpack => UnpackOwn
  end type scheme3d_t

  real(dp), parameter :: reads_most = 1.0e3_dp            !< times as many cells: many times what there can be
  integer, parameter :: MORE = 21, FLAGS = 14             !< numbers before those of the source; from FLAGS on choices, 0 or 1

contains

  !> 3D shots do not stay in a GPU's cache: as many compute as there are at hand.
  pure real(dp) function gpu_busy(self) result(cells)
    class(scheme3d_t), intent(in) :: self
    cells = 1.6e7_dp
  end function gpu_busy

  subroutine no_pictures(self)
    class(scheme3d_t), intent(inout) :: self
    self%snapshot = 0
    self%own%pgv = .false.
  end subroutine no_pictures

  !> MORE numbers, then those of the source; samples of a fault; planes and fields, a line each.
  subroutine PackOwn(self, parcel)
    class(scheme3d_t), intent(in) :: self
    type(parcel_t), intent(out) :: parcel
    associate (own => self%own)
      parcel%text = own%planes//achar(10)//own%fields
      parcel%numbers = [self%dy, own%q_band, own%q_ref, own%qmin, own%pgv_depth, &
                        real([own%decomposition, own%halo, own%wide, own%memory], dp), own%reads, &
                        real(merge(1, 0, [self%sponge, self%periodic, self%one_way, own%attenuates, own%pgv, own%narrow, &
                                    own%wet, self%damped]), dp), &
                        SourceNumbers(own%source)]
      if (own%source%fault%n > 0) parcel%samples = own%source%fault%rate
    end associate
  end subroutine PackOwn

  subroutine UnpackOwn(self, parcel, why)
    class(scheme3d_t), intent(inout) :: self
    type(parcel_t), intent(in) :: parcel
    character(:), allocatable, intent(out) :: why
    logical :: on(MORE - FLAGS + 1)
    integer :: i
    why = ''
    if (count([(parcel%text(i:i) == achar(10), i=1, len(parcel%text))]) /= 1) then
      why = 'its words are not components, variant, planes and fields'
    else if (size(parcel%numbers) <= MORE) then
      why = 'the numbers of the source are none'
    else if (self%half_length < 1) then
      why = 'half_length = 0 is impossible'
    else if (.not. all(Finite(parcel%numbers))) then
      why = 'a number of the source is none'
    else
      why = SourceFault(parcel%numbers(MORE + 1:), size(parcel%samples))
      if (.not. all(IsWhole(parcel%numbers(FLAGS:MORE), 0, 1))) why = 'a choice that is none'
      if (.not. all(IsWhole(parcel%numbers(7:9), 0, huge(1)))) why = 'a number of pieces that is none'
      if (.not. IsWhole(parcel%numbers(10), halo_auto, halo_host)) why = 'a way of halos that is none'
      if (.not. IsWhole(parcel%numbers(11), wide_auto, wide_no)) why = 'a width of halos that is none'
      if (.not. IsWhole(parcel%numbers(12), memory_coarse2001, memory_all)) why = 'a way of memory variables that is none'
      if (.not. (parcel%numbers(13) >= 1 .and. parcel%numbers(13) < reads_most)) why = 'a number of cells that is none'
    end if
    if (why /= '') return
    associate (x => parcel%numbers, own => self%own)
      i = index(parcel%text, achar(10))
      own%planes = parcel%text(:i - 1)
      own%fields = parcel%text(i + 1:)
      self%dy = x(1)
      own%q_band = x(2:3)
      own%q_ref = x(4)
      own%qmin = x(5)
      own%pgv_depth = x(6)
      own%decomposition = Whole(x(7:9), 0)
      own%halo = Whole(x(10), 0)
      own%wide = Whole(x(11), 0)
      own%memory = Whole(x(12), 0)
      own%reads = x(13)
      on = x(FLAGS:MORE) > 0
      self%sponge = on(1)
      self%periodic = on(2)
      self%one_way = on(3)
      own%attenuates = on(4)
      own%pgv = on(5)
      own%narrow = on(6)
      own%wet = on(7)
      self%damped = on(8)
      call SourceFrom(x(MORE + 1:), parcel%samples, own%source)
    end associate
    if (.not. self%dy > 0) why = 'dy = '//Str(self%dy)//' is impossible'
  end subroutine UnpackOwn

end module scheme3d_m
