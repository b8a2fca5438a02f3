!> The role of a rank: master, worker in a group, or both when there is one process; its GPU and its threads.
module roles_m
  use device_c, only: device_count, device_id, device_memory, device_name, device_use, device_why
  use gpu_assignment_m, only: GpusAssign, GpusNumber, id_length
  use error_m, only: error_t, Fail, FailFromC
  use grouping_m, only: grouping_t, places_t, GroupingMake, GroupingRanks, ON_CORES, ON_GPU
  use host_c, only: host_alarm, host_cores, host_cores_hash, host_memory, host_name, host_preset, host_processor
  use iso_c_binding, only: c_char, c_long
  use kinds_m, only: dp, i8
  use lock_c, only: lock_self
  use mpi_f08
  use node_memory_m, only: node_t, NodesFind
  use peers_m, only: peers_t, PeersNew, PROCESS_NAME
  use rank_map_m, only: RankMap, RanksIdle, RanksSpared, RankWarnings, rank_info_t
  use siblings_c, only: siblings_watch
  use text_m, only: CString, FString, Str
  implicit none
  private
  public :: role_t, RolesLaunched, RolesStart, RolesPlaces, RolesMeet, RolesMet, RolesGroups, RolesDevices, RolesSingle
  public :: RolesDisband, RolesThreads, RolesUsable, RolesStop

  integer, parameter :: MEETING = 120         !< seconds that ranks wait for each other at the start, then they end
  real(dp), parameter :: GONE = 5.0_dp        !< seconds that they wait for one that has ended on their machine
  integer, parameter :: GPUS = 64             !< GPUs of a node that are looked at, at most
  real(dp), parameter :: USABLE = 0.95_dp     !< part of a GPU's free memory that shots may use: the driver takes some of it later

  type :: role_t
    type(MPI_Comm) :: world = MPI_COMM_NULL   !< all ranks
    type(MPI_Comm) :: group = MPI_COMM_NULL   !< the ranks that share this rank's shot
    type(MPI_Comm) :: node = MPI_COMM_NULL    !< the ranks of this host
    integer :: rank = 0, size = 1             !< in world
    logical :: master = .true.                !< deals shots and serves files
    logical :: worker = .true.                !< models shots
    logical :: alone = .true.                 !< one process: master and worker at once
    integer :: worker_id = 1                  !< number of the group, 1..nworkers; 0 = none
    integer :: nworkers = 1                   !< groups in the job
    integer :: group_rank = 0, group_size = 1
    integer, allocatable :: ranks(:)          !< ranks of the group; this one alone where it has none
    type(grouping_t) :: groups                !< groups of the job
    integer :: cores = 1                      !< cores this rank may use alone
    integer :: gpu = -1                       !< GPU this rank computes on, as numbered in this process; -1 = none
    integer :: gpu_users = 1                  !< ranks that compute on it
    integer :: drivers = 0                    !< ranks of the job that compute on GPUs
    real(dp) :: gpu_room = 0                  !< memory of that GPU for this rank [bytes]
    character(:), allocatable :: gpu_name, gpu_fault   !< gpu_fault: why a GPU that it was to use cannot be used; '' = none
    character(:), allocatable :: host, processor
    type(peers_t) :: peers                    !< the other ranks on this machine
    logical :: early_beats = .false.          !< rank 0 sends heartbeats before the first shot
    logical :: master_silent = .false.        !< rank 0, on another machine, gives no sign of life
    character(64), allocatable :: hosts(:)    !< of ranks 0, 1, ..., on rank 0, once it has the map
    character(:), allocatable :: map, warnings  !< on rank 0: what all ranks compute on, and what is not as asked, in lines
    type(places_t) :: places                  !< devices and memory of all ranks, where the size of groups is still to be found
    type(node_t), allocatable :: nodes(:)     !< machines of the job, on rank 0
    logical, allocatable :: gpus(:)           !< which workers compute on GPUs, on rank 0, (nworkers)
    integer, allocatable :: threads(:)        !< CPU threads of each worker, on rank 0, (nworkers)
  end type role_t

  !> The GPUs that ranks of this node see, (ranks of the node).
  type :: found_t
    integer :: me = 1                         !< place of this rank among those of the node
    logical :: candidate = .false.            !< this rank is to get a GPU
    integer, allocatable :: seen(:)           !< how many GPUs each rank sees
    character(id_length), allocatable :: id(:, :)   !< their addresses
    integer, allocatable :: chosen(:)         !< which of those that it sees each rank gets, 0 = none
  end type found_t

contains

  !> True in a process that a launcher, mpirun or srun, has started.
  logical function RolesLaunched() result(launched)
    character(*), parameter :: names(4) = [character(22) :: 'OMPI_COMM_WORLD_SIZE', 'PMIX_RANK', 'PMI_RANK', 'SLURM_PROCID']
    integer :: i, status
    launched = .false.
    do i = 1, size(names)
      call get_environment_variable(trim(names(i)), status=status)
      launched = launched .or. status == 0
    end do
  end function RolesLaunched

  !> One process alone needs neither the daemon that Open MPI starts beside it nor its networks: to look for the networks of two
  !> vendors took 0.2 s of the 0.3 s that it needed to start, and the daemon 0.05 s more. Nor does it need Open MPI's folder in
  !> /tmp: without a daemon that has the same name for all processes of a user, and who starts while another ends and takes it
  !> away does not start. What the user has set stays.
  subroutine StartAlone()
    call host_preset(CString('OMPI_MCA_ess_singleton_isolated'), CString('1'))
    call host_preset(CString('OMPI_MCA_orte_create_session_dirs'), CString('0'))
    call host_preset(CString('OMPI_MCA_pml'), CString('ob1'))
  end subroutine StartAlone

  !> Starts MPI and finds this rank's place. One process is master and worker.
  subroutine RolesStart(role)
    type(role_t), intent(out) :: role
    integer :: provided
    if (.not. RolesLaunched()) call StartAlone()
    call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided)   ! early_beats.f90 looks what it is
    call MPI_Comm_dup(MPI_COMM_WORLD, role%world)
    call MPI_Comm_rank(role%world, role%rank)
    call MPI_Comm_size(role%world, role%size)
    role%alone = role%size == 1
    role%master = role%rank == 0
    role%worker = role%alone .or. role%rank > 0
    role%host = HostName()
    role%processor = Processor()
    call FindPeers(role)
    role%gpu_name = ''
    role%gpu_fault = ''
    role%map = ''
    role%warnings = ''
    call MPI_Comm_split_type(role%world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, role%node)
    role%cores = CoresAlone(role, .false.)
    call NodesFind(role%world, role%node, role%host, role%worker, role%master, role%nodes)
  end subroutine RolesStart

  !> From here on to RolesMet the ranks wait for each other: one that waits for too long, or for a process that has ended on this
  !> machine, ends itself.
  subroutine RolesMeet()
    call host_alarm(MEETING, 3, CString('error: the ranks did not find each other in '//Str(MEETING)//' s: one has died, or '// &
                                        'did not come; run the same command again'))   ! it would keep the others in there
    if (RolesLaunched()) call siblings_watch(GONE, 3)
  end subroutine RolesMeet

  subroutine RolesMet()
    call siblings_watch(0.0_dp, 0)
    call host_alarm(0, 0, CString(''))
  end subroutine RolesMet

  !> Finds the device that each rank could compute on, and its memory. Collective over all ranks.
  subroutine RolesPlaces(role, gpn, per_gpu)
    type(role_t), intent(inout) :: role
    integer, intent(in) :: gpn, per_gpu
    type(role_t) :: with_gpu
    type(found_t) :: found
    type(places_t) :: p
    real(dp) :: mine(2), all(2, 0:role%size - 1)
    integer(i8) :: total, left
    integer :: workers
    call FindGpus(role, gpn, per_gpu, found)
    with_gpu = role
    with_gpu%gpu_fault = ''
    call TakeDevice(with_gpu, found)
    call Tell(role, found%chosen(found%me) > 0 .and. with_gpu%gpu_fault == '', p)
    call host_memory(CString(''), total, left)
    workers = count(p%works .and. p%node == p%node(role%rank))
    mine = [merge(real(left, dp)/max(1, workers), huge(1.0_dp), total > 0), with_gpu%gpu_room]
    call MPI_Allgather(mine, size(mine), MPI_DOUBLE_PRECISION, all, size(mine), MPI_DOUBLE_PRECISION, role%world)
    allocate (p%room(0:role%size - 1, 2))
    p%room(:, ON_CORES) = all(1, :)
    p%room(:, ON_GPU) = all(2, :)
    role%places = p
  end subroutine RolesPlaces

  !> Each rank tells all its machine, whether it may model shots, and whether there is a GPU for it. Collective over all ranks.
  subroutine Tell(role, gpu, places)
    type(role_t), intent(in) :: role
    logical, intent(in) :: gpu
    type(places_t), intent(inout) :: places
    integer :: mine(3), all(3, 0:role%size - 1), node
    call MPI_Allreduce(role%rank, node, 1, MPI_INTEGER, MPI_MIN, role%node)
    mine = [node, merge(1, 0, [role%alone .or. role%rank > 0, gpu])]
    call MPI_Allgather(mine, size(mine), MPI_INTEGER, all, size(mine), MPI_INTEGER, role%world)
    allocate (places%node(0:role%size - 1), places%works(0:role%size - 1), places%gpu(0:role%size - 1))
    places%node = all(1, :)
    places%works = all(2, :) == 1
    places%gpu = all(3, :) == 1
  end subroutine Tell

  !> Makes groups of `group` ranks (grouping.f90); ranks that are left over have nothing to do. gpu: there is one for this rank.
  !> Collective over all ranks.
  subroutine RolesGroups(role, group, error, gpu)
    type(role_t), intent(inout) :: role
    integer, intent(in) :: group
    type(error_t), allocatable, intent(inout) :: error
    logical, intent(in), optional :: gpu
    type(places_t) :: places
    logical :: mine
    mine = .false.
    if (present(gpu)) mine = gpu
    call Tell(role, mine, places)
    call GroupingMake(group, places%node, places%works, places%gpu, role%groups)
    role%nworkers = role%groups%n
    if (role%nworkers < 1) then
      call Fail(error, 'group = '//Str(group)//' ranks a shot, but the job has '//Str(count(places%works))// &
                ' worker rank(s); start at least '//Str(group + 1)//' processes')
      return
    end if
    role%worker_id = role%groups%worker(role%rank)
    role%worker = role%worker_id > 0
    role%ranks = [role%rank]
    if (role%worker) role%ranks = GroupingRanks(role%groups%worker, role%worker_id)
    call MPI_Comm_split(role%world, role%worker_id, role%rank, role%group)
    call MPI_Comm_rank(role%group, role%group_rank)
    call MPI_Comm_size(role%group, role%group_size)
  end subroutine RolesGroups

  !> The same rank in the same job, whose workers are single ranks now. Collective over all ranks.
  subroutine RolesSingle(role, single)
    type(role_t), intent(in) :: role
    type(role_t), intent(out) :: single
    type(error_t), allocatable :: error       ! none: there is a rank that works
    single = role
    call RolesGroups(single, 1, error, role%gpu >= 0)
    call TellMaster(single, single%gpu >= 0, single%cores)
  end subroutine RolesSingle

  !> The groups of RolesSingle are not needed any more. Collective over all ranks.
  subroutine RolesDisband(single)
    type(role_t), intent(inout) :: single
    call MPI_Comm_free(single%group)
  end subroutine RolesDisband

  !> Makes groups of `group` ranks. The first gpn*per_gpu workers of each node get a GPU, per_gpu of them the same one, and the
  !> others the cores that are left: a rank that drives a GPU counts for one. A group gets GPUs for all of its ranks or for none.
  !> The GPUs that this process sees decide (CUDA_VISIBLE_DEVICES, schedulers that show each rank another one). Fails when no rank
  !> of the job finds a GPU though gpn > 0. Collective over all ranks.
  subroutine RolesDevices(role, group, gpn, per_gpu, threads, error)
    type(role_t), intent(inout) :: role
    integer, intent(in) :: group, gpn, per_gpu, threads    !< threads as asked for, 0 = derived
    type(error_t), allocatable, intent(inout) :: error
    logical, allocatable :: kept(:)
    type(found_t) :: found
    type(rank_info_t) :: info
    call FindGpus(role, gpn, per_gpu, found)
    info%candidate = found%candidate
    call RolesGroups(role, group, error, found%chosen(found%me) > 0)
    if (allocated(error)) return
    role%drivers = count(role%groups%gpu)
    if (gpn > 0 .and. role%drivers == 0) then
      if (any(role%groups%spared)) then
        call Fail(error, 'gpn = '//Str(gpn)//', ranks_per_gpu = '//Str(per_gpu)//': there are GPUs for '// &
                  Str(count(role%groups%spared))//' rank(s), but group = '//Str(group)//' ranks model a shot, all on GPUs or '// &
                  'all on CPU cores: give a smaller group, a larger gpn or ranks_per_gpu, or gpn=0')
      else
        call Fail(error, 'gpn = '//Str(gpn)//' asks for GPUs, but there is none: '//WhyNone(role, info%candidate)// &
                  '; give gpn=0 to compute on CPU cores')
      end if
      return
    end if
    call AskAll(role, role%groups%gpu(role%rank), kept)
    where (.not. kept) found%chosen = 0
    if (role%groups%spared(role%rank)) info%candidate = .false.
    associate (mine => found%chosen(found%me))
      if (mine > 0) info%gpu = GpusNumber(found%seen, found%id, found%id(mine, found%me))
      call TakeDevice(role, found)
      if (role%group_size > 1) call AgreeOnDevices(role)
      role%cores = CoresAlone(role, mine > 0)
    end associate
    info%host = role%host
    info%worker = role%worker
    info%gpu_name = role%gpu_name
    if (role%gpu_fault /= '') then            ! the worker says so and tells what it does about it
      info%gpu = -1
      info%candidate = .false.
    end if
    info%threads = RolesThreads(role, threads)
    call TellMaster(role, info%gpu >= 0, info%threads)
    call MakeMap(role, info, gpn)
  end subroutine RolesDevices

  !> The GPUs of this node, and which rank gets which. Collective over the node.
  subroutine FindGpus(role, gpn, per_gpu, found)
    type(role_t), intent(in) :: role
    integer, intent(in) :: gpn, per_gpu
    type(found_t), intent(out) :: found
    logical, allocatable :: worker(:)
    call AskAll(role, role%worker, worker)
    call LookAround(role, worker, gpn*per_gpu, found%me, found%candidate, found%seen, found%id)
    allocate (found%chosen(size(found%seen)))
    call GpusAssign(worker, found%seen, found%id, gpn, per_gpu, found%chosen)
  end subroutine FindGpus

  !> Where one rank of a group cannot use its GPU none of them does. They may all use as much of their GPUs as each of them can, so
  !> that a shot fits on all or on none. Collective over the group.
  subroutine AgreeOnDevices(role)
    type(role_t), intent(inout) :: role
    character(256) :: why
    integer :: first, at
    real(dp) :: room
    if (.not. role%worker) return
    at = merge(role%group_rank, role%group_size, role%gpu_fault /= '')
    call MPI_Allreduce(at, first, 1, MPI_INTEGER, MPI_MIN, role%group)
    call MPI_Allreduce(role%gpu_room, room, 1, MPI_DOUBLE_PRECISION, MPI_MIN, role%group)
    role%gpu_room = room
    if (first == role%group_size) return
    why = 'rank '//Str(role%rank)//': '//role%gpu_fault
    call MPI_Bcast(why, len(why), MPI_CHARACTER, first, role%group)
    role%gpu_fault = trim(why)
    role%gpu = -1
    role%gpu_name = ''
  end subroutine AgreeOnDevices

  !> Rank 0 gathers what each worker computes on.
  subroutine TellMaster(role, gpu, threads)
    type(role_t), intent(inout) :: role
    logical, intent(in) :: gpu
    integer, intent(in) :: threads
    integer :: mine(2), all(2, 0:role%size - 1), w, first
    mine = [merge(1, 0, gpu), threads]
    call MPI_Gather(mine, size(mine), MPI_INTEGER, all, size(mine), MPI_INTEGER, 0, role%world)
    if (.not. role%master) return
    if (allocated(role%gpus)) deallocate (role%gpus, role%threads)
    allocate (role%gpus(role%nworkers), role%threads(role%nworkers))
    do w = 1, role%nworkers
      first = findloc(role%groups%worker, w, 1) - 1
      role%gpus(w) = all(1, first) == 1
      role%threads(w) = all(2, first)
    end do
  end subroutine TellMaster

  !> The GPUs that all ranks of this node see: seen(rank of node + 1) GPUs with addresses id(:, rank of node + 1). Only the first
  !> `ranks` workers look, the others see none. `me`: this rank's place.
  subroutine LookAround(role, worker, ranks, me, candidate, seen, id)
    type(role_t), intent(in) :: role
    logical, intent(in) :: worker(:)
    integer, intent(in) :: ranks
    integer, intent(out) :: me
    logical, intent(out) :: candidate
    integer, allocatable, intent(out) :: seen(:)
    character(id_length), allocatable, intent(out) :: id(:, :)
    character(id_length) :: mine(GPUS)
    character(kind=c_char, len=id_length) :: buffer
    integer :: n, d
    call MPI_Comm_rank(role%node, me)
    me = me + 1
    candidate = role%worker .and. count(worker(:me)) <= ranks
    n = 0
    mine = ''
    if (candidate) n = min(GPUS, device_count())
    do d = 1, n
      mine(d) = Str(d)                      ! a card that hides its address has its number instead
      if (device_id(d - 1, len(buffer), buffer) == 0) mine(d) = FString(buffer)
    end do
    allocate (seen(size(worker)), id(GPUS, size(worker)))
    call MPI_Allgather(n, 1, MPI_INTEGER, seen, 1, MPI_INTEGER, role%node)
    call MPI_Allgather(mine, GPUS*id_length, MPI_CHARACTER, id, GPUS*id_length, MPI_CHARACTER, role%node)
  end subroutine LookAround

  !> The value `mine` of each rank of the node.
  subroutine AskAll(role, mine, all)
    type(role_t), intent(in) :: role
    logical, intent(in) :: mine
    logical, allocatable, intent(out) :: all(:)
    integer :: n
    call MPI_Comm_size(role%node, n)
    allocate (all(n))
    call MPI_Allgather(mine, 1, MPI_LOGICAL, all, 1, MPI_LOGICAL, role%node)
  end subroutine AskAll

  !> True for the ranks of the node that took the card `mine`.
  pure function TheSame(chosen, id, mine) result(same)
    integer, intent(in) :: chosen(:)
    character(id_length), intent(in) :: id(:, :), mine
    logical :: same(size(chosen))
    integer :: r
    do r = 1, size(chosen)
      same(r) = .false.
      if (chosen(r) > 0) same(r) = id(chosen(r), r) == mine
    end do
  end function TheSame

  !> From here on this process computes on the GPU that was found for it, if one was; it may share it with others. One that cannot
  !> be used leaves its reason in role%gpu_fault. Collective over the node: each process takes some of its GPU's memory as it
  !> begins, and what is free is looked at behind that.
  subroutine TakeDevice(role, found)
    type(role_t), intent(inout) :: role
    type(found_t), intent(in) :: found
    type(error_t), allocatable :: error
    character(kind=c_char, len=64) :: buffer
    logical, allocatable :: begun(:)
    integer(c_long) :: free, total
    integer :: device, users
    device = found%chosen(found%me) - 1
    if (device >= 0) call FailFromC(device_use(device), error)
    call AskAll(role, device >= 0, begun)
    if (device < 0) return
    users = count(TheSame(found%chosen, found%id, found%id(device + 1, found%me)))
    if (.not. allocated(error)) call FailFromC(device_name(device, len(buffer), buffer), error)
    if (.not. allocated(error)) call FailFromC(device_memory(device, free, total), error)
    if (allocated(error)) then
      role%gpu_fault = error%message
      return
    end if
    role%gpu = device
    role%gpu_name = FString(buffer)
    role%gpu_users = users
    role%gpu_room = RolesUsable(free, users)
  end subroutine TakeDevice

  !> The reason why the first rank that looked for a GPU found none. Collective over all ranks.
  function WhyNone(role, looked) result(why)
    type(role_t), intent(in) :: role
    logical, intent(in) :: looked
    character(:), allocatable :: why
    character(kind=c_char, len=256) :: buffer
    integer :: first
    call MPI_Allreduce(merge(role%rank, role%size, looked), first, 1, MPI_INTEGER, MPI_MIN, role%world)
    why = 'the job has no worker'
    if (first == role%size) return
    buffer = ' '
    if (role%rank == first) then
      if (device_why(len(buffer), buffer) == 0) buffer = FString(buffer)
    end if
    call MPI_Bcast(buffer, len(buffer), MPI_CHARACTER, first, role%world)
    why = trim(buffer)
  end function WhyNone

  !> Rank 0 gathers the hosts and devices of all ranks, and puts them into words.
  subroutine MakeMap(role, mine, gpn)
    type(role_t), intent(inout) :: role
    type(rank_info_t), intent(in) :: mine
    integer, intent(in) :: gpn
    type(rank_info_t), allocatable :: info(:)
    character(128) :: words
    character(128), allocatable :: all_words(:)
    integer :: numbers(4), r
    integer, allocatable :: all_numbers(:, :)
    allocate (info(0:role%size - 1), all_words(0:role%size - 1), all_numbers(size(numbers), 0:role%size - 1))
    words = mine%host//mine%gpu_name
    numbers = [merge(1, 0, [mine%worker, mine%candidate]), mine%gpu, mine%threads]
    call MPI_Gather(words, len(words), MPI_CHARACTER, all_words, len(words), MPI_CHARACTER, 0, role%world)
    call MPI_Gather(numbers, size(numbers), MPI_INTEGER, all_numbers, size(numbers), MPI_INTEGER, 0, role%world)
    if (.not. role%master) return
    do r = 0, role%size - 1
      info(r) = rank_info_t(all_words(r)(:64), all_numbers(1, r) == 1, all_numbers(2, r) == 1, all_numbers(3, r), &
                             all_words(r)(65:), all_numbers(4, r))
    end do
    role%map = RankMap(info)
    role%hosts = [info%host]
    role%warnings = Lines(Lines(RankWarnings(info, gpn), RanksSpared(role%groups)), RanksIdle(role%groups))
  end subroutine MakeMap

  pure function Lines(first, more) result(text)
    character(*), intent(in) :: first, more
    character(:), allocatable :: text
    text = first
    if (first /= '' .and. more /= '') text = text//new_line('a')
    text = text//more
  end function Lines

  !> Memory for a rank [bytes] on a GPU that has `free` and is shared by `users` ranks.
  pure real(dp) function RolesUsable(free, users) result(room)
    integer(c_long), intent(in) :: free
    integer, intent(in) :: users
    room = USABLE*real(free, dp)/max(1, users)
  end function RolesUsable

  !> Threads this rank computes with: what was asked for, else the cores it has for itself.
  pure integer function RolesThreads(role, asked) result(threads)
    type(role_t), intent(in) :: role
    integer, intent(in) :: asked
    threads = merge(asked, role%cores, asked > 0)
  end function RolesThreads

  subroutine RolesStop(role)
    type(role_t), intent(inout) :: role
    if (role%group /= MPI_COMM_NULL) call MPI_Comm_free(role%group)
    if (role%node /= MPI_COMM_NULL) call MPI_Comm_free(role%node)
    if (role%world /= MPI_COMM_NULL) call MPI_Comm_free(role%world)
    call MPI_Finalize()
  end subroutine RolesStop

  !> Cores that this rank shares with the workers bound to the same ones, divided among them: one for each that drives a GPU, the
  !> rest for the others; where all drive GPUs they share all. The sleeping master counts for nothing, and gets what a worker bound
  !> to its cores would. Collective over the node.
  integer function CoresAlone(role, gpu) result(cores)
    type(role_t), intent(in) :: role
    logical, intent(in) :: gpu
    integer(i8) :: mine, given
    integer(i8), allocatable :: all(:)
    logical, allocatable :: with_gpu(:)
    integer :: n, drivers, others
    mine = int(host_cores_hash(), i8)
    given = merge(mine, -1_i8, role%worker)
    call AskAll(role, gpu, with_gpu)
    n = size(with_gpu)
    allocate (all(n))
    call MPI_Allgather(given, 1, MPI_INTEGER8, all, 1, MPI_INTEGER8, role%node)
    drivers = count(all == mine .and. with_gpu)
    others = count(all == mine) - drivers
    if (others == 0) then
      cores = host_cores()/max(1, drivers)
    else
      cores = (host_cores() - drivers)/others
      if (gpu) cores = 1
    end if
    cores = max(1, cores)
  end function CoresAlone

  !> Each rank learns which others are on its machine. Collective.
  subroutine FindPeers(role)
    type(role_t), intent(inout) :: role
    character(kind=c_char, len=PROCESS_NAME) :: buffer
    character(PROCESS_NAME) :: mine
    character(PROCESS_NAME), allocatable :: all(:)
    allocate (all(role%size))
    call lock_self(len(buffer), buffer)
    mine = FString(buffer)
    call MPI_Allgather(mine, PROCESS_NAME, MPI_CHARACTER, all, PROCESS_NAME, MPI_CHARACTER, role%world)
    call PeersNew(role%peers, all, role%rank)
  end subroutine FindPeers

  function HostName() result(name)
    character(:), allocatable :: name
    character(kind=c_char, len=256) :: buffer
    call host_name(buffer, len(buffer))
    name = FString(buffer)
  end function HostName

  function Processor() result(name)
    character(:), allocatable :: name
    character(kind=c_char, len=128) :: buffer
    call host_processor(buffer, len(buffer))
    name = trim(adjustl(FString(buffer)))
  end function Processor

end module roles_m
