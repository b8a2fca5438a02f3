!> The ranks that model a shot together, as a solver sees them: each has a piece of the grid. The room
!> `ranks` carries their numbers. All of them call these verbs in the same order, but send and await, which are between two.
!>
!> No verb waits for ever: where a partner is dead or silent it fails. Where a partner has failed at something of its own, and so
!> does not come to the verb that the others wait in, those fail too, with its error: whoever gets an error calls no verb any more,
!> and the worker agrees on it with the others at the end of the turn.
module partners_m
  use error_m, only: error_t
  use iso_c_binding, only: c_char
  use kinds_m, only: dp, i8, sp
  implicit none
  private
  public :: partners_t, traffic_t, PartnersSides

  integer, parameter :: whats = 2                   !< kinds of numbers through a side, which take turns: velocities, stresses

  !> Ways of numbers to a partner.
  integer, parameter, public :: by_memory = 1, by_messages = 2, by_gpu = 3, by_pinned = 4, by_gpu_messages = 5
  character(*), parameter, public :: carried_words(5) = [character(32) :: 'through shared memory', 'by messages', &
                                                         'from GPU to GPU', 'through pinned memory', &
                                                         'by messages from GPU to GPU']

  !> What pieces give each other goes: by the best way found; from GPU to GPU; as messages; through memory of the host that the
  !> ranks of a machine share, as messages between machines.
  integer, parameter, public :: halo_auto = 0, halo_ipc = 1, halo_mpi = 2, halo_host = 3
  character(*), parameter, public :: halo_words(0:3) = [character(4) :: 'auto', 'ipc', 'mpi', 'host']

  !> Bytes and messages sent through a side, and the time that this rank spent sending, receiving and waiting there [s].
  type :: traffic_t
    integer(i8) :: bytes = 0, messages = 0
    real(dp) :: seconds = 0
  end type traffic_t

  !> Buffer of a side: numbers to be sent, or received ones.
  type :: numbers_t
    real(sp), pointer, contiguous :: a(:) => null()
  end type numbers_t

  type, abstract :: partners_t
    integer :: n = 1                          !< of them
    integer :: mine = 1                       !< number of this one, 1..n; what comes home does so to the first
    integer, allocatable :: with(:)           !< the partner at each side, 0: none
    integer, allocatable :: theirs(:)         !< and the number that the side has there
    type(numbers_t), allocatable :: out(:, :), in(:, :)   !< (sides, whats)
    integer :: ways(2) = 0                    !< sides of all pieces whose numbers go through shared memory, and those by messages
    integer, allocatable :: carried(:)        !< how numbers of each side travel, 0: there is no partner
    real(dp), allocatable :: latency(:)       !< from sending to receiving next to no bytes, as `open` found [s]
    real(dp), allocatable :: rate(:)          !< bytes over the time that they take beyond that [bytes/s]
    type(traffic_t), allocatable :: traffic(:)   !< since this was last set to nothing
    logical :: messages = .false.             !< from the next `open` on all numbers travel as messages, within a machine too,
    logical :: on_gpu = .false.               !< and those in messages lie on this rank's GPU, where MPI takes them there
  contains
    procedure(open_i), deferred :: open
    procedure(send_i), deferred :: send
    procedure(await_i), deferred :: await
    procedure(progress_i), deferred :: progress
    procedure(combine_i), deferred :: largest
    procedure(combine_i), deferred :: total
    procedure(collect_i), deferred :: collect
    procedure(trade_i), deferred :: trade
    procedure(patience_i), deferred :: waits
    procedure(look_i), deferred :: look
  end type partners_t

  abstract interface
    !> From now on partner with(side) is beside a side of this piece, 0: none, where that side is number theirs(side); and up to
    !> n(side) numbers of each kind travel both ways: `out` and `in` are there. All partners have as many sides. Two partners have
    !> several sides between them only among the first six of each. Where partners are not those of the `open` before, each way is
    !> tried for a few milliseconds: `latency`, `rate`. Numbers carried by_gpu_messages are out of the host's reach.
    subroutine open_i(self, with, theirs, n, error)
      import :: partners_t, error_t, i8
      class(partners_t), intent(inout) :: self
      integer, intent(in) :: with(:), theirs(:)
      integer(i8), intent(in) :: n(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine open_i

    !> out(side, what) is there and goes to the partner at that side, all of it or its first n numbers.
    subroutine send_i(self, side, what, error, n)
      import :: partners_t, error_t
      class(partners_t), intent(inout) :: self
      integer, intent(in) :: side, what
      type(error_t), allocatable, intent(inout) :: error
      integer, intent(in), optional :: n
    end subroutine send_i

    !> Waits, asleep, until its numbers are in in(side, what), where they stay until the next send of the same kind.
    subroutine await_i(self, side, what, error)
      import :: partners_t, error_t
      class(partners_t), intent(inout) :: self
      integer, intent(in) :: side, what
      type(error_t), allocatable, intent(inout) :: error
    end subroutine await_i

    !> Lets messages under way advance while the caller computes. Quick, does not wait, and cannot fail.
    subroutine progress_i(self)
      import :: partners_t
      class(partners_t), intent(inout) :: self
    end subroutine progress_i

    !> The largest, or the sum, of what the partners have, element by element, to all of them; sums are formed in their order.
    subroutine combine_i(self, x, error)
      import :: partners_t, dp, error_t
      class(partners_t), intent(inout) :: self
      real(dp), contiguous, intent(inout) :: x(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine combine_i

    !> The numbers of all partners, one after the other, to the first; count(n) of each. The others get none.
    subroutine collect_i(self, mine, all, count, error)
      import :: partners_t, error_t, i8, sp
      class(partners_t), intent(inout) :: self
      real(sp), contiguous, intent(in) :: mine(:)
      real(sp), allocatable, intent(out) :: all(:)
      integer(i8), allocatable, intent(out) :: count(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine collect_i

    !> After `open`: bytes out(:, side) go to the partner at each side, in(:, side) are what it gave; where there is none they stay.
    subroutine trade_i(self, out, in, error)
      import :: partners_t, c_char, error_t
      class(partners_t), intent(inout) :: self
      character(kind=c_char), contiguous, intent(in) :: out(:, :)
      character(kind=c_char), contiguous, intent(inout) :: in(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine trade_i

    !> So long is a partner waited for [s].
    pure real(dp) function patience_i(self) result(seconds)
      import :: partners_t, dp
      class(partners_t), intent(in) :: self
    end function patience_i

    !> For one who waits for partners by other means: fails where one is dead or has failed.
    subroutine look_i(self, error)
      import :: partners_t, error_t
      class(partners_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine look_i
  end interface

contains

  !> Sides of a piece that nothing goes through yet.
  subroutine PartnersSides(partners, sides)
    class(partners_t), intent(inout) :: partners
    integer, intent(in) :: sides
    integer :: s
    partners%with = [(0, s=1, sides)]
    partners%theirs = partners%with
    partners%carried = partners%with
    partners%latency = [(0.0_dp, s=1, sides)]
    partners%rate = partners%latency
    if (allocated(partners%out)) deallocate (partners%out, partners%in, partners%traffic)
    allocate (partners%out(sides, whats), partners%in(sides, whats), partners%traffic(sides))
  end subroutine PartnersSides

end module partners_m
