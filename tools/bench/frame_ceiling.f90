!> What the machine gives to gathers on their way to a file: messages of 10 MB from all ranks but the first, which receives them,
!> or receives them and writes them, into room that is reserved. Nothing else is done, memory is used again and again. run-frame
!> runs it beside a survey: mpirun -n 5 frame_ceiling FILE MESSAGES
program frame_ceiling
  use, intrinsic :: iso_fortran_env, only: output_unit
  use files_c, only: append_close, append_open, append_reserve, append_write
  use host_c, only: host_nap, host_seconds
  use iso_c_binding, only: c_associated, c_ptr
  use kinds_m, only: dp, i8
  use mpi_f08
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
    write (output_unit, '(a, f7.0, a, f6.3, a)') '  '//what//':', 1.0e-6_dp*BYTES*messages/(host_seconds() - start), ' MB/s,', &
      1.0e9_dp*(used_now - used)/(real(BYTES, dp)*messages), ' ns of processor time a byte'
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

  logical function Over(request)
    type(MPI_Request), intent(inout) :: request
    call MPI_Test(request, Over, MPI_STATUS_IGNORE)
  end function Over

end program frame_ceiling
