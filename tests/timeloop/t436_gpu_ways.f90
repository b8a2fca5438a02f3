!> Ways from GPU to GPU, on ranks whose GPUs are pretended: when ranks of a group give memory back, none has that of another open any
!> more, whatever fails while ways are opened and tried, and however late a rank is. Started without a launcher the program launches
!> itself: rank 0 judges, two others are the group.
module pretended_m
  use engine_m, only: engine_t
  use error_m, only: error_t, Fail
  use fd3d_m, only: fd3d_t
  use host_c, only: host_nap, host_seconds
  use iso_c_binding, only: c_char
  use kinds_m, only: dp
  implicit none
  private
  public :: piece_t, closed_at, NOTHING, OPENING, SWAPPING

  integer, parameter :: NOTHING = 0, OPENING = 1, SWAPPING = 2     !< what fails
  real(dp) :: closed_at = 0                       !< when this rank closed what it had open last [s]
  real(dp), parameter :: LATE = 0.3_dp            !< it takes so long [s]

  type, extends(engine_t) :: card_t
    logical :: fails = .false., late = .false.
  contains
    procedure :: halo_offer, halo_open, halo_close
  end type card_t

  type, extends(fd3d_t) :: piece_t
    type(card_t) :: card
    logical :: fails = .false.
  contains
    procedure :: any_engine, swap_once
  end type piece_t

contains

  subroutine halo_offer(self, beside, host, seconds, ticket, error)
    class(card_t), intent(inout) :: self
    logical, intent(in) :: beside, host
    real(dp), intent(in) :: seconds
    character(kind=c_char), contiguous, intent(out) :: ticket(:)
    type(error_t), allocatable, intent(inout) :: error
    ticket = 't'
  end subroutine halo_offer

  subroutine halo_open(self, side, ticket, error)
    class(card_t), intent(inout) :: self
    integer, intent(in) :: side
    character(kind=c_char), contiguous, intent(in) :: ticket(:)
    type(error_t), allocatable, intent(inout) :: error
    if (self%fails) call Fail(error, 'the memory of the partner cannot be opened')
  end subroutine halo_open

  subroutine halo_close(self)
    class(card_t), intent(in) :: self
    if (self%late) call host_nap(LATE)
    closed_at = host_seconds()
  end subroutine halo_close

  function any_engine(self) result(engine)
    class(piece_t), intent(in), target :: self
    class(engine_t), pointer :: engine
    engine => self%card
  end function any_engine

  !> The GPU of one rank fails; the others hear of it.
  subroutine swap_once(self, n, error)
    class(piece_t), intent(inout) :: self
    integer, intent(out) :: n
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: x(1)
    n = 1
    x = 0
    if (self%fails) then
      call Fail(error, 'the GPU has failed')
      error%device = .true.
    end if
    call self%partners%largest(x, error)
  end subroutine swap_once

end module pretended_m

program t436_gpu_ways
  use check_m, only: Claim, Done
  use error_m, only: error_t
  use gpu_ways_m, only: GpuWaysClose, GpuWaysOpen
  use group_m, only: group_t, GroupFree, GroupNew, GroupShotBegins
  use host_c, only: host_seconds
  use kinds_m, only: dp, i8
  use mpi_f08, only: MPI_DOUBLE_PRECISION, MPI_Gather
  use partners_m, only: halo_auto
  use pretended_m, only: closed_at, NOTHING, OPENING, piece_t, SWAPPING
  use roles_m, only: role_t, RolesGroups, RolesStart, RolesStop
  use text_m, only: Str
  implicit none
  character(*), parameter :: words(NOTHING:SWAPPING) = [character(40) :: 'all goes well', 'the other rank cannot open the memory', &
                                                        'a GPU fails while an exchange is timed']
  logical, parameter :: fails_at_all(NOTHING:SWAPPING) = [.false., .false., .true.]
  type(role_t) :: role
  type(group_t), target :: group
  type(error_t), allocatable :: error
  character(4096) :: self
  integer :: status, what

  call get_environment_variable('OMPI_COMM_WORLD_RANK', self, status=status)
  if (status /= 0) then
    call get_command_argument(0, self)
    call execute_command_line("mpirun --oversubscribe -n 3 '"//trim(self)//"'", exitstat=status)
    call Claim(status == 0, 'three ranks: exit status '//Str(status))
    call Done()
  end if
  call RolesStart(role)
  role%worker = role%rank > 0
  call RolesGroups(role, 2, error)
  if (role%worker) call GroupNew(group, role, 20.0_dp)
  do what = NOTHING, SWAPPING
    call OneTrial(what)
  end do
  if (role%worker) call GroupFree(group, .false.)
  call RolesStop(role)
  if (role%master) call Done()

contains

  !> The first of two ranks is late when it closes memory, the second one meets what fails.
  subroutine OneTrial(what)
    integer, intent(in) :: what
    type(piece_t), target :: piece
    type(error_t), allocatable :: error, after
    real(dp) :: mine(4), got(4, 0:2)
    integer :: shared
    mine = 0
    if (role%worker) then
      piece%partners => group
      piece%variant = 'pretended'
      piece%card%gpu = .true.
      piece%card%late = group%mine == 1
      piece%card%fails = what == OPENING .and. group%mine == 2
      piece%fails = what == SWAPPING .and. group%mine == 2
      call GroupShotBegins(group)
      call group%open([3 - group%mine], [1], [100_i8], error)
      call GpuWaysOpen(piece, halo_auto, [100_i8], error)
      mine(1) = merge(1, 0, piece%linked)
      mine(2) = merge(1, 0, allocated(error))
      if (piece%linked) call GpuWaysClose(piece, after)        ! as solvers do before memory is given back
      mine(3:) = [closed_at, host_seconds()]
    end if
    call MPI_Gather(mine, size(mine), MPI_DOUBLE_PRECISION, got, size(mine), MPI_DOUBLE_PRECISION, 0, role%world)
    if (.not. role%master) return
    shared = nint(got(1, 1))
    call Claim(got(1, 1) + got(1, 2) == 2*shared .and. (shared == 1 .or. what == OPENING), trim(words(what))// &
               ': both ranks know alike of memory that may be open: '//Str(nint(got(1, 1)))//', '//Str(nint(got(1, 2))))
    call Claim(all(got(2, 1:) == merge(1, 0, fails_at_all(what))), trim(words(what))//': '//Str(nint(sum(got(2, 1:))))// &
               ' of 2 ranks have an error')
    call Claim(minval(got(4, 1:)) >= maxval(got(3, 1:)), trim(words(what))//': memory is given back '// &
               Str(minval(got(4, 1:)) - maxval(got(3, 1:)), 3)//' s after both have closed it, >= 0')
  end subroutine OneTrial

end program t436_gpu_ways
