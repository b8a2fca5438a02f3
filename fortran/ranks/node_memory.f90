!> The machines a job runs on, and what memory they have.
module node_memory_m
  use host_c, only: host_memory
  use kinds_m, only: i8
  use mpi_f08
  use text_m, only: CString
  implicit none
  private
  public :: node_t, NodesFind

  integer, parameter :: name_length = 64

  type :: node_t
    character(name_length) :: host = ''
    integer :: workers = 0             !< ranks here that model shots
    logical :: master = .false.        !< rank 0 is here
    integer(i8) :: total = 0           !< memory the ranks here may use [bytes], 0 = unknown
    integer(i8) :: available = 0       !< memory that is not in use now [bytes]
  end type node_t

contains

  !> Every node of the job, on rank 0 of `world`; others get none. `node`: the ranks of this host; worker, master: what this rank
  !> is. Collective over `world`.
  subroutine NodesFind(world, node, host, worker, master, nodes)
    type(MPI_Comm), intent(in) :: world, node
    character(*), intent(in) :: host
    logical, intent(in) :: worker, master
    type(node_t), allocatable, intent(out) :: nodes(:)
    integer(i8) :: mine(5), counts(2)
    integer(i8), allocatable :: all(:, :)
    character(name_length) :: name
    character(name_length), allocatable :: names(:)
    integer :: rank, n, i
    counts = [merge(1, 0, worker), merge(1, 0, master)]
    mine = 0
    call MPI_Allreduce(counts, mine(2:3), 2, MPI_INTEGER8, MPI_SUM, node)
    call MPI_Comm_rank(node, rank)
    mine(1) = merge(1, 0, rank == 0)         ! one rank speaks for the node
    call host_memory(CString(''), mine(4), mine(5))
    call MPI_Comm_size(world, n)
    allocate (all(5, n), names(n))
    name = host
    call MPI_Gather(mine, 5, MPI_INTEGER8, all, 5, MPI_INTEGER8, 0, world)
    call MPI_Gather(name, name_length, MPI_CHARACTER, names, name_length, MPI_CHARACTER, 0, world)
    if (.not. master) all = 0
    nodes = pack([(node_t(names(i), int(all(2, i)), all(3, i) > 0, all(4, i), all(5, i)), i=1, n)], all(1, :) == 1)
  end subroutine NodesFind

end module node_memory_m
