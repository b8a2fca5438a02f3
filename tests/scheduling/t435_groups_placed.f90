!> Groups of ranks that model shots together, in random jobs: machines with and without GPUs, ranks in any order; and the number of
!> ranks of a group where it is to be found from the memory there is.
program t435_groups_placed
  use check_m, only: Claim, Done, GivenSeed, Seed
  use grouping_m, only: grouping_t, GroupingFewest, GroupingMake, GroupingRanks, ON_CORES, ON_GPU, places_t
  use kinds_m, only: dp
  use rank_map_m, only: RanksIdle, RanksSpared
  use text_m, only: Str
  implicit none
  integer, parameter :: jobs = 4000

  call AtRandom()
  call Known()
  call Sizes()
  call KnownSizes()
  call Done()

contains

  subroutine AtRandom()
    type(grouping_t) :: g
    integer, allocatable :: node(:), ranks(:)
    logical, allocatable :: gpu(:), works(:)
    real :: x(4)
    integer :: job, n, nodes, group, w, broken(9), spans, with_gpu, r
    broken = 0
    spans = 0
    with_gpu = 0
    call random_init(.true., .false.)
    do job = 1, jobs
      call random_number(x)
      n = 2 + int(x(1)*30)
      nodes = 1 + int(x(2)*5)
      group = 1 + int(x(3)*x(3)*9)
      call Machines(n, nodes, x(4), node, gpu)
      allocate (works(0:n - 1), source=.true.)
      works(0) = .false.
      gpu(0) = .false.
      call GroupingMake(group, node, works, gpu, g)
      if (any(g%worker < 0 .or. g%worker > g%n) .or. g%worker(0) /= 0) broken(1) = broken(1) + 1
      if (g%n > 1) then
        if (any([(findloc(g%worker, w, 1) >= findloc(g%worker, w + 1, 1), w=1, g%n - 1)])) broken(2) = broken(2) + 1
      end if
      do w = 1, g%n
        ranks = GroupingRanks(g%worker, w)
        if (size(ranks) /= group) broken(3) = broken(3) + 1
        if (any(g%gpu(ranks)) .and. .not. all(g%gpu(ranks))) broken(4) = broken(4) + 1
        if (any(g%gpu(ranks) .and. .not. gpu(ranks))) broken(5) = broken(5) + 1
        if (all(node(ranks) == node(ranks(1)))) cycle
        spans = spans + 1
        ! Its ranks of a machine are too few for a group, and so are all of that kind there which are idle or in other such groups.
        if (any([(OnNode(g, node, node(ranks(r)), gpu, g%gpu(ranks(1))) >= group, r=1, group)])) broken(6) = broken(6) + 1
        if (g%gpu(ranks(1)) .and. any([(count(gpu .and. node == node(r)) >= group, r=0, n - 1)])) broken(7) = broken(7) + 1
      end do
      if (any(g%gpu)) with_gpu = with_gpu + 1
      if (count(works .and. .not. g%gpu .and. g%worker == 0) >= group) broken(8) = broken(8) + 1
      if (any(g%gpu .and. g%spared) .or. any(g%spared .neqv. (works .and. gpu .and. .not. g%gpu))) broken(9) = broken(9) + 1
      deallocate (works)
    end do
    call Claim(broken(1) == 0, Str(jobs)//' random jobs: each rank is in one group or in none, the master in none')
    call Claim(broken(2) == 0, 'groups count by their first ranks')
    call Claim(broken(3) == 0, 'every group is complete')
    call Claim(broken(4) == 0, 'none has ranks on GPUs and ranks on cores; '//Str(with_gpu)//' jobs have groups on GPUs')
    call Claim(broken(5) == 0, 'no rank computes on a GPU that has none')
    call Claim(broken(6) == 0 .and. spans > 100, Str(spans)//' groups span machines, none of which has enough ranks over for one')
    call Claim(broken(7) == 0, 'groups on GPUs span machines only where none has GPUs enough')
    call Claim(broken(8) == 0, 'fewer ranks are idle than make a group')
    call Claim(broken(9) == 0, 'the ranks that leave their GPUs idle are told')
    call Claim(with_gpu > 100, 'groups on GPUs occur')
  end subroutine AtRandom

  !> Ranks on a machine, on GPUs or on cores, that have no group there: idle ones, and those of groups that span machines.
  pure integer function OnNode(g, node, which, gpu, on_gpu) result(n)
    type(grouping_t), intent(in) :: g
    integer, intent(in) :: node(0:), which
    logical, intent(in) :: gpu(0:), on_gpu
    integer, allocatable :: ranks(:)
    integer :: r
    n = 0
    do r = 1, size(node) - 1
      if (node(r) /= which) cycle
      if (on_gpu .and. .not. gpu(r)) cycle
      if (.not. on_gpu .and. g%gpu(r)) cycle
      if (g%worker(r) > 0) then
        ranks = GroupingRanks(g%worker, g%worker(r))
        if (all(node(ranks) == which)) cycle
      end if
      n = n + 1
    end do
  end function OnNode

  !> Ranks that stand by turns, or one machine after the other; the first few of each have GPUs.
  subroutine Machines(n, nodes, x, node, gpu)
    integer, intent(in) :: n, nodes
    real, intent(in) :: x
    integer, allocatable, intent(out) :: node(:)
    logical, allocatable, intent(out) :: gpu(:)
    integer :: r, most
    real :: y(0:n - 1)
    allocate (node(0:n - 1), gpu(0:n - 1))
    call random_number(y)
    do r = 0, n - 1
      if (x < 0.3) node(r) = modulo(r, nodes)
      if (x >= 0.3 .and. x < 0.6) node(r) = r*nodes/n
      if (x >= 0.6) node(r) = int(y(r)*nodes)
    end do
    most = int(y(0)*6)
    do r = 0, n - 1
      gpu(r) = count(node(1:r) == node(r)) <= merge(most, 0, r > 0) .and. r > 0
    end do
  end subroutine Machines

  subroutine Known()
    logical, parameter :: yes = .true., no = .false.
    integer, parameter :: one(0:6) = 0
    type(grouping_t) :: g
    call GroupingMake(1, one, [no, yes, yes, yes, yes, yes, yes], [no, yes, no, no, no, no, no], g)
    call Claim(all(g%worker == [0, 1, 2, 3, 4, 5, 6]) .and. RanksIdle(g) == '' .and. RanksSpared(g) == '', &
               'single ranks are the workers of their numbers')
    call GroupingMake(1, [0], [yes], [yes], g)
    call Claim(g%n == 1 .and. g%worker(0) == 1 .and. g%gpu(0), 'one process is a worker')
    call GroupingMake(2, one, [no, yes, yes, yes, yes, yes, yes], [no, no, no, no, no, no, no], g)
    call Claim(all(g%worker == [0, 1, 1, 2, 2, 3, 3]), 'six ranks on cores: three groups in order')
    call GroupingMake(4, one, [no, yes, yes, yes, yes, yes, yes], [no, no, no, no, no, no, no], g)
    call Said(RanksIdle(g), 'ranks 5-6 are idle: 6 ranks compute on CPU cores, and groups of 4 leave 2 over; start 2 '// &
              'process(es) less, or 2 more')
    call GroupingMake(2, one, [no, yes, yes, yes, yes, yes, yes], [no, yes, yes, yes, no, no, no], g)
    call Claim(all(g%worker == [0, 1, 1, 2, 2, 3, 3]) .and. all(g%gpu .eqv. [no, yes, yes, no, no, no, no]), &
               'three GPUs, groups of 2: one on GPUs, two on cores')
    call Said(RanksSpared(g), 'rank 3: no GPU, though there is one for each; ranks of a group compute all on GPUs or all on CPU '// &
              'cores, and groups of 2 on one machine leave 1 over')
    call GroupingMake(2, [0, 0, 1, 0, 1, 0, 1], [no, yes, yes, yes, yes, yes, yes], [no, no, no, no, no, no, no], g)
    call Claim(all(g%worker == [0, 1, 2, 1, 2, 3, 3]), 'ranks that stand by turns on two machines: groups stay there, and what is '// &
               'left over on both makes one')
    call GroupingMake(2, [0, 0, 0, 1, 1], [no, yes, yes, yes, yes], [no, yes, no, yes, no], g)
    call Claim(all(g%worker == [0, 1, 2, 1, 2]) .and. all(g%gpu .eqv. [no, yes, no, yes, no]), &
               'a GPU on each of two machines: they make a group, for there is no other on GPUs')
  end subroutine Known

  !> The size of groups in random jobs, against a plain look at all groups of each size.
  subroutine Sizes()
    type(places_t) :: places
    real(dp), allocatable :: need(:, :)
    real :: x(4)
    integer :: job, first, n, most, kind, ranks, right, wrong, found(0:3)
    first = GivenSeed()
    call Seed(first)
    wrong = 0
    found = 0
    do job = 1, jobs
      call random_number(x)
      n = 2 + int(x(1)*16)
      call Machines(n, 1 + int(x(2)*3), x(3), places%node, places%gpu)
      if (x(4) < 0.4) places%gpu = .false.
      if (allocated(places%works)) deallocate (places%works, places%room)
      allocate (places%works(0:n - 1), source=.true.)
      places%works(0) = .false.
      places%gpu(0) = .false.
      allocate (places%room(0:n - 1, 2))
      call random_number(places%room)
      if (x(4) < 0.2 .or. x(4) > 0.8) places%room = 0.5_dp
      kind = merge(ON_GPU, ON_CORES, any(places%gpu))
      most = merge(count(places%gpu), n - 1, kind == ON_GPU)
      allocate (need(most, 2))
      call random_number(need)
      need = 0.2_dp*need + 2*x(1)*x(1)/spread([(ranks, ranks=1, most)], 2, 2)
      ranks = GroupingFewest(places, need, 1)
      right = Plain(places, need, kind)
      if (ranks /= right) wrong = wrong + 1
      found(min(3, ranks)) = found(min(3, ranks)) + 1
      deallocate (need)
    end do
    call Claim(wrong == 0, Str(jobs)//' random jobs from seed '//Str(first)//': as few ranks as hold a shot, '//Str(wrong)//' wrong')
    call Claim(all(found > jobs/50), 'of them none in '//Str(found(0))//', one rank in '//Str(found(1))//', two in '// &
               Str(found(2))//', more in '//Str(found(3)))
  end subroutine Sizes

  integer function Plain(places, need, kind) result(ranks)
    type(places_t), intent(in) :: places
    real(dp), intent(in) :: need(:, :)
    integer, intent(in) :: kind
    type(grouping_t) :: g
    integer, allocatable :: mine(:)
    integer :: n, w, there, hold, pass
    do pass = 1, 2
      do n = 1, size(need, 1)
        call GroupingMake(n, places%node, places%works, places%gpu, g)
        there = 0
        hold = 0
        do w = 1, g%n
          mine = GroupingRanks(g%worker, w)
          if (g%gpu(mine(1)) .neqv. kind == ON_GPU) cycle
          there = there + 1
          if (all(places%room(mine, kind) >= need(n, kind))) hold = hold + 1
        end do
        ranks = n
        if (kind == ON_CORES .and. hold == there) return
        if (kind == ON_GPU .and. hold > 0 .and. (2*hold >= there .or. pass == 2)) return
      end do
    end do
    ranks = 0
  end function Plain

  subroutine KnownSizes()
    logical, parameter :: yes = .true., no = .false.
    real(dp), parameter :: gb = 1e9_dp
    type(places_t) :: p
    real(dp) :: need(4, 2)
    p = places_t(node=[0, 0, 0, 0, 0], works=[no, yes, yes, yes, yes], gpu=[no, yes, yes, yes, yes])
    allocate (p%room(0:4, 2), source=20*gb)
    p%room(:, ON_GPU) = 141*gb
    need(:, ON_CORES) = [300, 155, 105, 80]*gb
    need(:, ON_GPU) = [153, 80, 55, 42]*gb
    call Fewest(p, need, 2, 'a shot of 153 GB, GPUs of 141 GB')
    need(:, ON_GPU) = [141, 80, 55, 42]*gb
    call Fewest(p, need, 1, 'a shot that just fits one GPU')
    call Claim(GroupingFewest(p, need, 2) == 2, 'a mesh of more elements than one rank numbers the points of: two ranks')
    call Claim(GroupingFewest(p, need, 5) == 0, 'one that five ranks hold at least: none of four')
    p%room(2:4, ON_GPU) = 24*gb
    call Fewest(p, need, 1, 'it fits one of four GPUs, and no other group holds it')
    p%room(1, ON_GPU) = 24*gb
    call Fewest(p, need, 0, 'four GPUs of 24 GB, and 42 GB on each of four ranks')
    p%gpu = no
    call Fewest(p, need, 0, '20 GB of memory for each of four ranks, and 80 GB on each')
    p%room(:, ON_CORES) = 110*gb
    call Fewest(p, need, 3, '110 GB of memory for each')
    p%room(4, ON_CORES) = 90*gb
    call Fewest(p, need, 3, 'the fourth rank, which would be idle, has less')
    p%room(2, ON_CORES) = 90*gb
    call Fewest(p, need, 4, 'another rank has less, too')
  end subroutine KnownSizes

  subroutine Fewest(p, need, ranks, words)
    type(places_t), intent(in) :: p
    real(dp), intent(in) :: need(:, :)
    integer, intent(in) :: ranks
    character(*), intent(in) :: words
    integer :: found
    found = GroupingFewest(p, need, 1)
    call Claim(found == ranks, words//': '//Str(found)//' rank(s), must be '//Str(ranks))
  end subroutine Fewest

  subroutine Said(text, expected)
    character(*), intent(in) :: text, expected
    call Claim(text == expected .and. len(text) == len(expected), 'told: "'//text//'"; expected "'//expected//'"')
  end subroutine Said

end program t435_groups_placed
