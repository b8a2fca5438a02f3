!> What the machine gives to gathers on their way to a file: messages of 10 MB from all ranks but the first, which receives them,
!> or receives them and writes them, into room that is reserved; or it sums and writes them in memory that the others share with it
!> and fill anew each time. Nothing else is done, memory is used again and again. run-frame runs it beside a survey:
!> mpirun -n 5 frame_ceiling FILE MESSAGES
program frame_ceiling
  use, intrinsic :: iso_fortran_env, only: output_unit
  use files_c, only: append_close, append_open, append_reserve, append_write
  use host_c, only: host_nap, host_seconds
  use iso_c_binding, only: c_associated, c_char, c_f_pointer, c_ptr
  use kinds_m, only: dp, i8, sp
  use mpi_f08, only: MPI_Barrier, MPI_CHARACTER, MPI_COMM_WORLD, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize, MPI_Init, &
                     MPI_Irecv, MPI_Isend, MPI_Recv, MPI_Request, MPI_STATUS_IGNORE, MPI_Send, MPI_Test
  use sealed_c, only: sealed_sum
  use shared_c, only: shared_close, shared_data, shared_name, shared_new, shared_open
  use text_m, only: CString
  implicit none
  integer, parameter :: BYTES = 10000000, TAG = 1
  real(dp), parameter :: NAP = 2.0e-5_dp        !< between looks, as ranks of a job sleep [s]
  character(1000) :: path, word
  integer :: rank, ranks, messages

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_command_argument(1, path)
  call get_command_argument(2, word)
  read (word, *) messages
  messages = messages/(ranks - 1)*(ranks - 1)
  call Shared()
  call Measure('received and written', .true.)
  call Measure('received', .false.)
  call MPI_Finalize()

contains

  subroutine Measure(what, written)
    character(*), intent(in) :: what
    logical, intent(in) :: written
    real(dp) :: start, used, used_now
    start = host_seconds()
    if (rank > 0) then
      call SendAll()
      return
    end if
    call ReceiveAll(written, start, used)
    call cpu_time(used_now)
    call Say(what, start, used_now - used)
  end subroutine Measure

  subroutine SendAll()
    character(:), allocatable :: message
    type(MPI_Request) :: request
    integer :: i
    allocate (character(BYTES) :: message)
    message = repeat(achar(rank), BYTES)
    call MPI_Barrier(MPI_COMM_WORLD)
    do i = 1, messages/(ranks - 1)
      call MPI_Isend(message, BYTES, MPI_CHARACTER, 0, TAG, MPI_COMM_WORLD, request)
      do while (.not. Over(request))
        call host_nap(NAP)
      end do
    end do
  end subroutine SendAll

  !> `start` and `used`: the clock, and the processor time used, as the first message is awaited.
  subroutine ReceiveAll(written, start, used)
    logical, intent(in) :: written
    real(dp), intent(out) :: start, used
    character(BYTES), allocatable :: message(:)
    type(MPI_Request) :: request(ranks - 1)
    type(c_ptr) :: file
    integer :: i, n, left(ranks - 1), failed
    allocate (message(ranks - 1))
    do i = 1, ranks - 1
      message(i) = repeat(' ', BYTES)
    end do
    file = append_open(CString(trim(path)))
    if (.not. c_associated(file)) error stop 'no file'
    if (written) call append_reserve(file, int(BYTES, i8)*messages)
    call MPI_Barrier(MPI_COMM_WORLD)
    start = host_seconds()
    call cpu_time(used)
    left = messages/(ranks - 1)
    do i = 1, ranks - 1
      call MPI_Irecv(message(i), BYTES, MPI_CHARACTER, i, TAG, MPI_COMM_WORLD, request(i))
    end do
    n = 0
    do while (any(left > 0))
      do i = 1, ranks - 1
        if (left(i) == 0) cycle
        if (.not. Over(request(i))) cycle
        failed = 0
        if (written) failed = append_write(file, message(i), int(BYTES, i8), 0)
        if (failed /= 0) error stop 'not written'
        n = n + 1
        left(i) = left(i) - 1
        if (left(i) > 0) call MPI_Irecv(message(i), BYTES, MPI_CHARACTER, i, TAG, MPI_COMM_WORLD, request(i))
      end do
      call host_nap(NAP)
    end do
    call append_close(file)
  end subroutine ReceiveAll

  !> Summed and written where they lie. The word of a worker that its memory is full, and that of rank 0 that it is written, are
  !> messages of nothing.
  subroutine Shared()
    integer(i8), parameter :: ALL = BYTES + shared_data
    character(kind=c_char, len=shared_name) :: name
    character(kind=c_char), pointer, contiguous :: letter(:)
    real(sp), pointer, contiguous :: samples(:)
    type(c_ptr) :: memory(ranks), file
    type(MPI_Request) :: request
    real(dp) :: start, used, used_now
    integer(i8) :: sums
    integer :: i, k, unit
    if (rank > 0) then
      memory(1) = shared_new(ALL, shared_name, name)
      if (.not. c_associated(memory(1))) error stop 'no memory to share'
      call c_f_pointer(memory(1), letter, [ALL])
      call MPI_Send(name, shared_name, MPI_CHARACTER, 0, TAG, MPI_COMM_WORLD)
      call MPI_Barrier(MPI_COMM_WORLD)
      do i = 1, messages/(ranks - 1)
        letter(shared_data + 1:) = achar(modulo(rank + i, 128))
        call MPI_Send(name, 0, MPI_CHARACTER, 0, TAG, MPI_COMM_WORLD)
        call MPI_Irecv(name, 0, MPI_CHARACTER, 0, TAG, MPI_COMM_WORLD, request)
        do while (.not. Over(request))
          call host_nap(NAP)
        end do
      end do
      call shared_close(memory(1), ALL)
      return
    end if
    do k = 1, ranks - 1
      call MPI_Recv(name, shared_name, MPI_CHARACTER, k, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      memory(k) = shared_open(name, ALL)
      if (.not. c_associated(memory(k))) error stop 'memory that is shared cannot be opened'
    end do
    file = append_open(CString(trim(path)))
    if (.not. c_associated(file)) error stop 'no file'
    call append_reserve(file, int(BYTES, i8)*messages)
    call MPI_Barrier(MPI_COMM_WORLD)
    start = host_seconds()
    call cpu_time(used)
    sums = 0
    do i = 1, messages/(ranks - 1)
      do k = 1, ranks - 1
        call MPI_Irecv(name, 0, MPI_CHARACTER, k, TAG, MPI_COMM_WORLD, request)
        do while (.not. Over(request))
          call host_nap(NAP)
        end do
        call c_f_pointer(memory(k), samples, [ALL/4])
        call c_f_pointer(memory(k), letter, [ALL])
        sums = sums + sealed_sum(int(BYTES/4, i8), samples(shared_data/4 + 1:))
        if (append_write(file, letter(shared_data + 1:), int(BYTES, i8), 0) /= 0) error stop 'not written'
        call MPI_Send(name, 0, MPI_CHARACTER, k, TAG, MPI_COMM_WORLD)
      end do
    end do
    call cpu_time(used_now)
    if (sums == 0) error stop 'nothing came'
    call Say('summed and written', start, used_now - used)
    call append_close(file)
    open (newunit=unit, file=trim(path))
    close (unit, status='delete')              ! the next one is to have the same room
    do k = 1, ranks - 1
      call shared_close(memory(k), ALL)
    end do
  end subroutine Shared

  !> `used`: processor time [s].
  subroutine Say(what, start, used)
    character(*), intent(in) :: what
    real(dp), intent(in) :: start, used
    write (output_unit, '(a, f7.0, a, f6.3, a)') '  '//what//':', 1.0e-6_dp*BYTES*messages/(host_seconds() - start), ' MB/s,', &
      1.0e9_dp*used/(real(BYTES, dp)*messages), ' ns of processor time a byte'
  end subroutine Say

  logical function Over(request)
    type(MPI_Request), intent(inout) :: request
    call MPI_Test(request, Over, MPI_STATUS_IGNORE)
  end function Over

end program frame_ceiling
