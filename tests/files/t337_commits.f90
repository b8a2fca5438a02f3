!> Gathers of a commit: when it is due, that each worker hears of each gather once, in order, and what waits is bounded.
program t337_commits
  use check_m, only: Claim, Done
  use commits_m, only: commits_t, CommitsAdd, CommitsClear, CommitsDue, CommitsMade, CommitsMemory, CommitsNext, CommitsVerdict, &
                       verdict_t
  use kinds_m, only: dp
  use text_m, only: Str
  implicit none
  integer, parameter :: most = 256
  real(dp), parameter :: long = 3600.0_dp        !< a commit takes so long that its time is never due here [s]
  type(commits_t) :: commits
  integer :: i

  call ClaimDue(.false., .true., 'nothing waits: nothing is to be committed')
  call Add(1, 10)
  call ClaimDue(.true., .false., 'before the time of a commit is known the first gather is committed at once')
  call CommitsMade(commits, long)
  call ClaimTold(1, 1, '', 'its worker hears of it')
  call Add(2, 10)
  call ClaimDue(.false., .false., 'after a slow commit it waits for others')
  call ClaimDue(.true., .true., 'unless no others will come')
  do i = 3, most + 1
    call Add(i, 10)
  end do
  call ClaimDue(commits%n == most, .false., Str(most)//' gathers are enough')
  call CommitsMade(commits, long)
  call ClaimTold(2, 101, '', 'a hundred replies are given')
  call Add(1000, 40000000)
  call ClaimDue(.true., .false., 'so are 160 MB')
  call CommitsClear(commits, 'disk full')
  call ClaimTold(102, most + 1, '', 'those given before come first, in order')
  call ClaimTold(1000, 1000, 'disk full', 'then the one that could not be written, with the reason')
  call ClaimNothing('nobody hears twice')
  call Claim(CommitsMemory(1.0e3_dp) == most*1.0e3_dp, 'of small gathers that many are kept in memory')
  call Claim(abs(CommitsMemory(1.0e9_dp)/1.128e9_dp - 1) < 1.0e-12_dp, 'of large ones one more than 128 MB')
  call Done()

contains

  !> A gather of shot record `record`, from rank record + 1.
  subroutine Add(record, samples)
    integer, intent(in) :: record, samples
    integer :: i
    i = CommitsNext(commits)
    associate (w => commits%written(i))
      w%rank = record + 1
      w%gather%record = record
      w%gather%slot = record
      allocate (w%gather%sealed%bytes(samples))
    end associate
    call CommitsAdd(commits)
  end subroutine Add

  subroutine ClaimDue(is_due, last, what)
    logical, intent(in) :: is_due, last
    character(*), intent(in) :: what
    logical :: due
    due = CommitsDue(commits, last)
    call Claim(due .eqv. is_due, what)
  end subroutine ClaimDue

  !> The next replies are about these records, with this reason.
  subroutine ClaimTold(first, last, why, what)
    integer, intent(in) :: first, last
    character(*), intent(in) :: why, what
    type(verdict_t) :: verdict
    integer :: record
    logical :: there, right
    right = .true.
    do record = first, last
      there = CommitsVerdict(commits, verdict)
      if (there) there = verdict%record == record .and. verdict%slot == record .and. verdict%rank == record + 1 .and. &
                         verdict%why == why
      right = right .and. there
    end do
    call Claim(right, what)
  end subroutine ClaimTold

  subroutine ClaimNothing(what)
    character(*), intent(in) :: what
    type(verdict_t) :: verdict
    logical :: there
    there = CommitsVerdict(commits, verdict)
    call Claim(.not. there, what)
  end subroutine ClaimNothing

end program t337_commits
