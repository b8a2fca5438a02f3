!> Gathers that are written and not committed yet, and the replies to those that are.
!>
!> A commit costs two syncs, whatever it holds, so gathers wait for each other: until the oldest has waited some times as long as a
!> commit takes, or they are many. Where syncs are fast each gather has its own; where they are slow most of the time goes into
!> what comes meanwhile. What waits is kept in memory, for after a sync that failed it has to be written again.
module commits_m
  use gather_m, only: gather_t, SealedCount
  use host_c, only: host_seconds
  use kinds_m, only: dp
  implicit none
  private
  public :: commits_t, written_t, verdict_t, CommitsDue, CommitsNext, CommitsAdd, CommitsMade, CommitsClear, CommitsVerdict
  public :: CommitsMemory, CommitsShare

  integer, parameter :: MOST = 256              !< gathers of one commit
  real(dp), parameter :: LARGEST = 128.0e6_dp   !< bytes of traces in it
  real(dp), parameter :: WAIT = 4               !< times as long as a commit takes a gather waits for others

  type :: written_t
    type(gather_t) :: gather
    integer :: worker = 0, rank = 0             !< it came from
    integer :: attempt = 0
  end type written_t

  !> A reply that is due.
  type :: verdict_t
    integer :: rank = 0, record = 0, slot = 0
    character(:), allocatable :: why            !< '' = it is written
  end type verdict_t

  type :: commits_t
    type(written_t), allocatable :: written(:)
    integer :: n = 0                            !< of them wait
    logical :: again = .false.                  !< they have to be written again
    real(dp), private :: bytes = 0              !< of their traces
    real(dp), private :: since = 0              !< when the oldest was written [s]
    real(dp), private :: cost = 0               !< time that the last commit took [s]
    type(verdict_t), allocatable, private :: verdict(:)
    integer, private :: first = 0, last = 0     !< of these are due
  end type commits_t

contains

  !> True when it is time to commit. `last`: nothing more will come to be committed with.
  logical function CommitsDue(commits, last) result(due)
    type(commits_t), intent(in) :: commits
    logical, intent(in) :: last
    due = .false.
    if (commits%n == 0) return
    due = last .or. commits%n == MOST .or. commits%bytes >= LARGEST
    if (.not. due) due = host_seconds() - commits%since >= WAIT*commits%cost
  end function CommitsDue

  !> The place of the next gather: it counts once CommitsAdd was called.
  integer function CommitsNext(commits) result(i)
    type(commits_t), intent(inout) :: commits
    if (.not. allocated(commits%written)) allocate (commits%written(MOST))
    i = commits%n + 1
  end function CommitsNext

  subroutine CommitsAdd(commits)
    type(commits_t), intent(inout) :: commits
    commits%n = commits%n + 1
    if (commits%n == 1) commits%since = host_seconds()
    commits%bytes = commits%bytes + 4.0_dp*SealedCount(commits%written(commits%n)%gather%sealed)
  end subroutine CommitsAdd

  !> All that waits is committed, which took so long.
  subroutine CommitsMade(commits, seconds)
    type(commits_t), intent(inout) :: commits
    real(dp), intent(in) :: seconds
    commits%cost = seconds
    call CommitsClear(commits, '')
  end subroutine CommitsMade

  !> Nothing waits any more; the replies are due, of what could not be written with the reason `why`.
  subroutine CommitsClear(commits, why)
    type(commits_t), intent(inout) :: commits
    character(*), intent(in) :: why
    type(verdict_t), allocatable :: more(:)
    integer :: i
    if (.not. allocated(commits%verdict)) allocate (commits%verdict(MOST))
    allocate (more(commits%last - commits%first + MOST))
    more(:commits%last - commits%first) = commits%verdict(commits%first + 1:commits%last)
    commits%last = commits%last - commits%first
    commits%first = 0
    do i = 1, commits%n
      associate (w => commits%written(i))
        commits%last = commits%last + 1
        more(commits%last) = verdict_t(w%rank, w%gather%record, w%gather%slot, why)
        w%gather = gather_t()
      end associate
    end do
    call move_alloc(more, commits%verdict)
    commits%n = 0
    commits%bytes = 0
    commits%again = .false.
  end subroutine CommitsClear

  !> The oldest reply that is due; false if there is none.
  logical function CommitsVerdict(commits, verdict) result(there)
    type(commits_t), intent(inout) :: commits
    type(verdict_t), intent(out) :: verdict
    there = commits%first < commits%last
    if (.not. there) return
    commits%first = commits%first + 1
    verdict = commits%verdict(commits%first)
  end function CommitsVerdict

  !> Memory of what waits at most, where a gather has so many bytes.
  pure real(dp) function CommitsMemory(gather) result(bytes)
    real(dp), intent(in) :: gather
    bytes = min(LARGEST, (MOST - 1)*gather) + gather
  end function CommitsMemory

  !> Of the `seconds` that the syncs of a commit take a gather has so many for itself, where gathers of so many bytes come `every`
  !> so many seconds; 0: as fast as they can be committed.
  elemental real(dp) function CommitsShare(seconds, gather, every) result(share)
    real(dp), intent(in) :: seconds, gather, every
    share = min(seconds, max(every/WAIT, seconds/max(1.0_dp, min(real(MOST, dp), LARGEST/max(gather, 1.0_dp)))))
  end function CommitsShare

end module commits_m
