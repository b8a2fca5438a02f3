!> Which ranks model shots together: the groups of a job, which are its workers.
module grouping_m
  implicit none
  private
  public :: grouping_t, GroupingMake, GroupingRanks

  type :: grouping_t
    integer :: ranks = 1                      !< of a group
    integer :: n = 0                          !< groups, in the order of their first ranks
    integer, allocatable :: worker(:)         !< the group that each rank belongs to, 0 = none, (0:ranks of the job - 1)
    logical, allocatable :: works(:)          !< ranks that could model shots; those without a group are idle
    logical, allocatable :: gpu(:)            !< ranks that compute on GPUs
    logical, allocatable :: spared(:)         !< ranks that do not, though there is a GPU for them
  end type grouping_t

contains

  !> Makes groups of so many `ranks`. node(r): the machine of rank r; works(r): it may model shots; gpu(r): there is a GPU for it.
  !>
  !> Ranks of a group compute all on GPUs or all on cores, and are on one machine. Ranks with a GPU that are left over compute on
  !> cores, and are grouped with the others of their machine. What is then left over makes groups across machines. Groups on GPUs
  !> across machines are made only where no machine has enough GPUs for one.
  pure subroutine GroupingMake(ranks, node, works, gpu, grouping)
    integer, intent(in) :: ranks, node(0:)
    logical, intent(in) :: works(0:), gpu(0:)
    type(grouping_t), intent(out) :: grouping
    grouping%ranks = ranks
    allocate (grouping%worker(0:size(node) - 1), source=0)
    allocate (grouping%works(0:size(node) - 1), source=works)
    call Within(grouping, node, gpu)
    if (grouping%n == 0) call Fill(grouping, node, gpu)
    allocate (grouping%gpu(0:size(node) - 1), source=grouping%worker > 0)
    allocate (grouping%spared(0:size(node) - 1), source=works .and. gpu .and. .not. grouping%gpu)
    call Within(grouping, node, works)
    call Fill(grouping, node, works)
    call Number(grouping)
  end subroutine GroupingMake

  !> Groups of those `wanted` that have none yet, each on one machine.
  pure subroutine Within(grouping, node, wanted)
    type(grouping_t), intent(inout) :: grouping
    integer, intent(in) :: node(0:)
    logical, intent(in) :: wanted(0:)
    integer :: r
    do r = 0, size(node) - 1
      if (any(node(:r - 1) == node(r))) cycle
      call Fill(grouping, node, wanted .and. node == node(r))
    end do
  end subroutine Within

  !> As many groups as there are enough ranks for, of those `wanted` that have none yet; machine after machine.
  pure subroutine Fill(grouping, node, wanted)
    type(grouping_t), intent(inout) :: grouping
    integer, intent(in) :: node(0:)
    logical, intent(in) :: wanted(0:)
    logical :: todo(0:size(node) - 1), here(0:size(node) - 1)
    integer :: r, n, left
    todo = wanted .and. grouping%works .and. grouping%worker == 0
    left = count(todo)/grouping%ranks*grouping%ranks
    n = grouping%ranks
    do while (left > 0)
      here = todo .and. node == node(findloc(todo, .true., 1) - 1)
      do r = 0, size(node) - 1
        if (.not. here(r) .or. left == 0) cycle
        if (n == grouping%ranks) grouping%n = grouping%n + 1
        if (n == grouping%ranks) n = 0
        n = n + 1
        left = left - 1
        grouping%worker(r) = grouping%n
        todo(r) = .false.
      end do
    end do
  end subroutine Fill

  !> Numbers the groups by their first ranks.
  pure subroutine Number(grouping)
    type(grouping_t), intent(inout) :: grouping
    integer :: number_of(0:grouping%n), r, n
    number_of = 0
    n = 0
    do r = 0, size(grouping%worker) - 1
      associate (w => grouping%worker(r))
        if (w > 0 .and. number_of(w) == 0) then
          n = n + 1
          number_of(w) = n
        end if
        w = number_of(w)
      end associate
    end do
  end subroutine Number

  !> The ranks of a worker in rising order; the first speaks for it. `worker`: of each rank of the job.
  pure function GroupingRanks(worker, number) result(ranks)
    integer, intent(in) :: worker(0:), number
    integer, allocatable :: ranks(:)
    integer :: r
    ranks = pack([(r, r=0, size(worker) - 1)], worker == number)
  end function GroupingRanks

end module grouping_m
