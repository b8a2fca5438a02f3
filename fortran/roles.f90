!> Who a rank is: master, worker in a group, or both when there is one process. Threads a rank are derived here.
module roles_m
  use error_m, only: error_t, Fail
  use host_c, only: host_cores, host_cores_hash, host_name, host_processor
  use iso_c_binding, only: c_char, c_long
  use kinds_m, only: i8
  use mpi_f08
  use nodes_m, only: node_t, NodesFind
  use text_m, only: FString, Str
  implicit none
  private
  public :: role_t, RolesStart, RolesGroups, RolesThreads, RolesStop

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
    integer :: cores = 1                      !< cores this rank may use alone
    character(:), allocatable :: host, processor
    type(node_t), allocatable :: nodes(:)     !< machines of the job, on rank 0
  end type role_t

contains

  !> Starts MPI and finds this rank's place. One process is master and worker.
  subroutine RolesStart(role)
    type(role_t), intent(out) :: role
    integer :: provided
    call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
    call MPI_Comm_dup(MPI_COMM_WORLD, role%world)
    call MPI_Comm_rank(role%world, role%rank)
    call MPI_Comm_size(role%world, role%size)
    role%alone = role%size == 1
    role%master = role%rank == 0
    role%worker = role%alone .or. role%rank > 0
    role%host = HostName()
    role%processor = Processor()
    call MPI_Comm_split_type(role%world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, role%node)
    role%cores = CoresAlone(role)
    call NodesFind(role%world, role%node, role%host, role%worker, role%master, role%nodes)
  end subroutine RolesStart

  !> Splits the workers into groups of `group` ranks; leftover ranks have nothing to do.
  subroutine RolesGroups(role, group, error)
    type(role_t), intent(inout) :: role
    integer, intent(in) :: group
    type(error_t), allocatable, intent(inout) :: error
    integer :: workers, id
    workers = max(1, role%size - 1)
    role%nworkers = workers/group
    if (role%nworkers < 1) then
      call Fail(error, 'group = '//Str(group)//' ranks a shot, but the job has '//Str(workers)// &
                ' worker rank(s); start at least '//Str(group + 1)//' processes')
      return
    end if
    id = 0
    if (role%worker) id = merge(1, (role%rank - 1)/group + 1, role%alone)
    if (id > role%nworkers) id = 0
    role%worker = id > 0
    role%worker_id = id
    call MPI_Comm_split(role%world, id, role%rank, role%group)
    call MPI_Comm_rank(role%group, role%group_rank)
    call MPI_Comm_size(role%group, role%group_size)
  end subroutine RolesGroups

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

  !> Cores of this rank divided by the workers that are bound to the same cores. The sleeping master counts for nothing.
  integer function CoresAlone(role) result(cores)
    type(role_t), intent(in) :: role
    integer(i8) :: mine, one
    integer(i8), allocatable :: all(:)
    integer :: n
    mine = int(host_cores_hash(), i8)
    if (.not. role%worker) mine = -1
    call MPI_Comm_size(role%node, n)
    allocate (all(n))
    one = mine
    call MPI_Allgather(one, 1, MPI_INTEGER8, all, 1, MPI_INTEGER8, role%node)
    cores = max(1, host_cores()/max(1, count(all == mine)))
  end function CoresAlone

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
