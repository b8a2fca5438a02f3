!> A group: the ranks of a worker, which model a shot together. They are partners (partners.f90). The submodules hold the ways
!> through the sides of pieces (group_ways.f90), what all do together (group_together.f90), and the waits of both (group_waits.f90).
!>
!> A partner may die, stand still, or fail at something of its own at any moment. So every wait here is asleep, and it ends when a
!> process of this machine is seen to be dead, when a partner says that it has failed (ABORT), or after a lease. Messages carry the
!> number of the shot: a late one belongs to no other shot. Memory that MPI may still write to when a wait was given up is never
!> given back.
module group_m
  use error_m, only: error_t, Fail
  use host_c, only: host_nap, host_seconds
  use iso_c_binding, only: c_char, c_null_ptr, c_ptr
  use kinds_m, only: dp, i8, sp
  use message_parts_m, only: part_most, PartBegin, PartLength, Parts
  use mpi_f08, only: MPI_ANY_SOURCE, MPI_CHARACTER, MPI_Cancel, MPI_Comm, MPI_Comm_free, MPI_Comm_idup, &
                     MPI_DOUBLE_PRECISION, MPI_Iallgather, MPI_Iallreduce, MPI_Ibcast, MPI_INTEGER, MPI_INTEGER8, MPI_Iprobe, &
                     MPI_Irecv, MPI_Isend, MPI_MAX, MPI_REAL, MPI_Recv, MPI_Request, MPI_Request_free, MPI_REQUEST_NULL, &
                     MPI_Status, MPI_STATUS_IGNORE, MPI_Test, MPI_Testall, operator(/=)
  use partners_m, only: by_gpu_messages, by_memory, by_messages, partners_t
  use peers_m, only: peers_t, PeersDead, PeersLook
  use protocol_m, only: link_t, message_t, MSG_END, LinkReceive
  use roles_m, only: role_t
  use text_m, only: Str
  implicit none
  private
  public :: group_t, GroupNew, GroupFree, GroupShotBegins, GroupAgree, GroupListen, GroupShare, GroupTell

  integer, parameter :: LANES = 6             !< sides that may be between two partners
  integer, parameter :: WHATS = 2
  integer, parameter :: TAG_ABORT = 1, TAG_OPEN = 2, TAG_TRADE = 9, TAG_SHOTS = 16
  integer, parameter :: TAGS = LANES*WHATS + 1    !< of a shot: what travels through sides, and what is collected
  integer, parameter :: SHOTS = 1000          !< numbers of shots, then from the first again
  integer, parameter, public :: WISHES = 2    !< numbers that partners tell each other at each turn
  real(dp), parameter :: LATE = 0.1_dp        !< seconds after which a wait looks at processes and their failures

  !> A way through a side of a piece.
  type :: way_t
    logical :: shared = .false.               !< the partner reads this rank's memory, and this rank the partner's
    type(c_ptr) :: memory = c_null_ptr        !< the partner's
    integer(i8) :: bytes = 0                  !< of it
    integer :: flag = 0                       !< first of the flags there that tell of this side, one for each kind
    logical :: on_gpu = .false.               !< messages carry from and to `room`
    integer :: sent(WHATS) = 0, got(WHATS) = 0   !< times, in this shot
    type(MPI_Request) :: sending(WHATS) = MPI_Request(0), getting(WHATS) = MPI_Request(0)
  end type way_t

  type, extends(partners_t) :: group_t
    type(MPI_Comm) :: comm
    real(dp) :: patience = huge(1.0_dp)       !< a partner is waited for so long [s]
    type(peers_t) :: peers                    !< ranks on this machine
    integer, allocatable :: ranks(:)          !< of the job, that the partners are
    integer :: worker = 1                     !< the number of this worker
    logical :: broken = .false.               !< a partner is dead or silent: nothing can be done together any more
    character(:), allocatable :: why_broken
    type(link_t), pointer :: link => null()   !< to the master, whose messages may come while partners are waited for
    type(message_t), allocatable :: postponed(:)   !< such messages
    type(message_t) :: end                    !< END of a job that has lost ranks: for this rank alone, and at once
    integer :: shot = 0                       !< its number
    type(way_t), allocatable, private :: way(:)   !< (sides)
    integer, allocatable, private :: measured(:)  !< the partners and ways that were measured,
    real(dp), allocatable, private :: found(:, :) !< and what was found: latency, rate
    type(c_ptr), private :: memory = c_null_ptr   !< this rank's, which its partners read
    integer(i8), private :: bytes = 0         !< of it
    type(c_ptr), private :: room = c_null_ptr !< on the GPU, for what messages carry
  contains
    procedure :: open => GroupOpen
    procedure :: send => GroupSend
    procedure :: await => GroupAwait
    procedure :: progress => GroupProgress
    procedure :: largest => GroupLargest
    procedure :: total => GroupTotal
    procedure :: collect => GroupCollect
    procedure :: trade => GroupTrade
    procedure :: waits => GroupPatience
    procedure :: look => GroupLook
  end type group_t

  interface
    ! --- group_ways.f90

    module subroutine GroupOpen(self, with, theirs, n, error)
      class(group_t), intent(inout) :: self
      integer, intent(in) :: with(:), theirs(:)
      integer(i8), intent(in) :: n(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine GroupOpen

    module subroutine GroupSend(self, side, what, error, n)
      class(group_t), intent(inout) :: self
      integer, intent(in) :: side, what
      type(error_t), allocatable, intent(inout) :: error
      integer, intent(in), optional :: n
    end subroutine GroupSend

    module subroutine GroupAwait(self, side, what, error)
      class(group_t), intent(inout) :: self
      integer, intent(in) :: side, what
      type(error_t), allocatable, intent(inout) :: error
    end subroutine GroupAwait

    module subroutine GroupProgress(self)
      class(group_t), intent(inout) :: self
    end subroutine GroupProgress

    module subroutine GroupTrade(self, out, in, error)
      class(group_t), intent(inout) :: self
      character(kind=c_char), contiguous, intent(in) :: out(:, :)
      character(kind=c_char), contiguous, intent(inout) :: in(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine GroupTrade

    !> As many sides as there are, with no partner at them.
    module subroutine WaysNew(group, sides)
      class(group_t), intent(inout) :: group
      integer, intent(in) :: sides
    end subroutine WaysNew

    !> Gives back the memory of all ways.
    module subroutine WaysClose(group)
      class(group_t), intent(inout) :: group
    end subroutine WaysClose

    !> Gives up messages under way. Those that a partner does send arrive first; those that it never asks for stay here.
    module subroutine WaysAbandon(group)
      class(group_t), intent(inout) :: group
    end subroutine WaysAbandon

    !> The tag of messages that a partner receives through a side; side 0: of collected ones.
    pure module integer function TagOf(group, side, what) result(tag)
      class(group_t), intent(in) :: group
      integer, intent(in) :: side, what
    end function TagOf

    ! --- group_waits.f90

    !> Waits, asleep, until all requests are done. Fails where that cannot be, or a partner has failed at something else.
    module subroutine Await(group, request, error)
      class(group_t), intent(inout) :: group
      type(MPI_Request), intent(inout) :: request(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine Await

    !> Waits, asleep, until all requests are done, or the group is broken, or, where `aborted` is there, a partner has failed.
    module subroutine AwaitAll(group, request, aborted)
      class(group_t), intent(inout) :: group
      type(MPI_Request), intent(inout) :: request(:)
      logical, intent(inout), optional :: aborted
    end subroutine AwaitAll

    !> Looks for a dead partner of this machine, for one that is silent for too long, and for one that says that it has failed.
    module subroutine LookAround(group, waited, aborted)
      class(group_t), intent(inout) :: group
      real(dp), intent(in) :: waited
      logical, intent(inout), optional :: aborted
    end subroutine LookAround

    !> The error of a wait in vain, if it is one.
    module subroutine GiveUp(group, aborted, error)
      class(group_t), intent(in) :: group
      logical, intent(in) :: aborted
      type(error_t), allocatable, intent(inout) :: error
    end subroutine GiveUp

    module subroutine GroupLook(self, error)
      class(group_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine GroupLook

    !> Takes the messages of the master that are here.
    module subroutine GroupListen(group)
      class(group_t), intent(inout) :: group
    end subroutine GroupListen

    ! --- group_together.f90

    !> The error of the first partner that has one of its own becomes that of all. Whoever has agreed on it already does not ask
    !> again. `wish`, of WISHES numbers: the largest of what the partners have, element by element, to all; 0 with an error.
    module subroutine GroupAgree(group, error, wish)
      class(group_t), intent(inout) :: group
      type(error_t), allocatable, intent(inout) :: error
      integer, intent(inout), optional :: wish(:)
    end subroutine GroupAgree

    !> The sentence of the first partner that has one becomes that of all; '' if none has.
    module subroutine GroupTell(group, text, error)
      class(group_t), intent(inout) :: group
      character(:), allocatable, intent(inout) :: text
      type(error_t), allocatable, intent(inout) :: error
    end subroutine GroupTell

    !> The first partner's message becomes that of all, without its sender and text. Where that fails the group is broken.
    module subroutine GroupShare(group, message)
      class(group_t), intent(inout) :: group
      type(message_t), intent(inout) :: message
    end subroutine GroupShare

    module subroutine GroupLargest(self, x, error)
      class(group_t), intent(inout) :: self
      real(dp), contiguous, intent(inout) :: x(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine GroupLargest

    module subroutine GroupTotal(self, x, error)
      class(group_t), intent(inout) :: self
      real(dp), contiguous, intent(inout) :: x(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine GroupTotal

    module subroutine GroupCollect(self, mine, all, count, error)
      class(group_t), intent(inout) :: self
      real(sp), contiguous, intent(in) :: mine(:)
      real(sp), allocatable, intent(out) :: all(:)
      integer(i8), allocatable, intent(out) :: count(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine GroupCollect
  end interface

contains

  !> The group of a rank, which waits `patience` seconds for its partners. Collective over the group.
  subroutine GroupNew(group, role, patience)
    type(group_t), intent(out) :: group
    type(role_t), intent(in) :: role
    real(dp), intent(in) :: patience
    type(MPI_Request) :: request(1)
    group%n = role%group_size
    group%mine = role%group_rank + 1
    group%patience = patience
    group%peers = role%peers
    group%ranks = role%ranks
    group%worker = role%worker_id
    call MPI_Comm_idup(role%group, group%comm, request(1))
    call AwaitAll(group, request)
    call WaysNew(group, 0)
  end subroutine GroupNew

  !> Gives back the ways and the communicator; nothing where ranks are lost.
  subroutine GroupFree(group, broken)
    type(group_t), intent(inout) :: group
    logical, intent(in) :: broken
    if (group%n == 1 .or. broken .or. group%broken) return
    call WaysClose(group)
    call MPI_Comm_free(group%comm)
  end subroutine GroupFree

  pure real(dp) function GroupPatience(self) result(seconds)
    class(group_t), intent(in) :: self
    seconds = self%patience
  end function GroupPatience

  !> Another shot begins: messages of the one before are of no use any more.
  subroutine GroupShotBegins(group)
    type(group_t), intent(inout) :: group
    integer :: side
    group%shot = modulo(group%shot + 1, SHOTS)
    if (group%n == 1) return
    do side = 1, size(group%way)
      group%way(side)%sent = 0
      group%way(side)%got = 0
    end do
  end subroutine GroupShotBegins

end module group_m
