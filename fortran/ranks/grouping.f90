!> Groups of ranks that model shots together: the workers of a job.
module grouping_m
  use kinds_m, only: dp
  implicit none
  private
  public :: grouping_t, places_t, GroupingMake, GroupingRanks, GroupingFewest, ON_CORES, ON_GPU

  integer, parameter :: ON_CORES = 1, ON_GPU = 2

  type :: grouping_t
    integer :: ranks = 1                      !< of a group
    integer :: n = 0                          !< groups, in the order of their first ranks
    integer, allocatable :: worker(:)         !< the group that each rank belongs to, 0 = none, (0:ranks of the job - 1)
    logical, allocatable :: works(:)          !< ranks that could model shots; those without a group are idle
    logical, allocatable :: gpu(:)            !< ranks that compute on GPUs
    logical, allocatable :: spared(:)         !< ranks that do not, though there is a GPU for them
  end type grouping_t

  !> Devices and memory that each rank of a job could compute on, (0:ranks of the job - 1).
  type :: places_t
    integer, allocatable :: node(:)           !< its machine
    logical, allocatable :: works(:)          !< it may model shots
    logical, allocatable :: gpu(:)            !< there is a GPU for it
    real(dp), allocatable :: room(:, :)       !< its part of the memory that is left on the machine, and of the GPU [bytes], (.., 2)
  end type places_t

contains

  !> The fewest ranks that hold a shot together, `least` or more, 0 = no group does. need(n, kind): what each of n ranks needs on
  !> cores or on a GPU [bytes]. A job with GPUs models on them: with so few ranks at least half of its groups there hold the shot,
  !> for the others can compute on cores; or, where that is never so, one group does. Without GPUs all groups must hold it.
  pure integer function GroupingFewest(places, need, least) result(ranks)
    type(places_t), intent(in) :: places
    real(dp), intent(in) :: need(:, :)
    integer, intent(in) :: least
    type(grouping_t) :: grouping
    integer :: n, kind, one, hold, groups
    kind = merge(ON_GPU, ON_CORES, any(places%gpu))
    one = 0
    do n = least, size(need, 1)
      call GroupingMake(n, places%node, places%works, places%gpu, grouping)
      call Holding(grouping, places%room(:, kind) >= need(n, kind), kind == ON_GPU, hold, groups)
      if (groups == 0) exit
      ranks = n
      if (hold == groups .or. (kind == ON_GPU .and. 2*hold >= groups)) return
      if (hold > 0 .and. one == 0 .and. kind == ON_GPU) one = n
    end do
    ranks = one
  end function GroupingFewest

  !> Groups on GPUs or on cores: how many there are, and in how many of them each rank has `enough`.
  pure subroutine Holding(grouping, enough, gpu, hold, groups)
    type(grouping_t), intent(in) :: grouping
    logical, intent(in) :: enough(0:), gpu
    integer, intent(out) :: hold, groups
    logical :: lacks(0:grouping%n), there(0:grouping%n)
    integer :: r
    there = .false.
    lacks = .false.
    do r = 0, size(enough) - 1
      associate (w => grouping%worker(r))
        if (w == 0 .or. (grouping%gpu(r) .neqv. gpu)) cycle
        there(w) = .true.
        lacks(w) = lacks(w) .or. .not. enough(r)
      end associate
    end do
    groups = count(there)
    hold = count(there .and. .not. lacks)
  end subroutine Holding

  !> Makes groups of so many `ranks`. node(r): the machine of rank r; works(r): it may model shots; gpu(r): there is a GPU for it.
  !>
  !> Ranks of a group compute all on GPUs or all on cores, and are on one machine. Ranks with a GPU that are left over compute on
  !> cores, and are grouped with the others of their machine. Ranks that are then left over make groups across machines. Groups on
  !> GPUs across machines are made only where no machine has enough GPUs for one.
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
      if (r > 0) then
        if (node(r) == node(r - 1)) cycle       ! most often: there may be thousands of ranks, and sizes of groups to try
      end if
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
