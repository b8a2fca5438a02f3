!> Messages of more numbers than MPI counts travel in parts, and arrive as they were sent: with parts of a few numbers, messages of
!> random lengths, below, at and above a part and of several, or of nothing, between rank 0 and workers both ways at once; a large
!> one of which no more comes, which keeps none of another rank; one for which there is no memory, which is told, and keeps none of
!> the next; and what the ranks of a group share, compare, add and collect.
!> Three ranks; started without a launcher the program launches itself.
program t720_message_parts
  use check_m, only: Claim, Done, GivenSeed
  use error_m, only: error_t
  use group_m, only: group_t, GroupFree, GroupNew, GroupShare, GroupShotBegins
  use host_c, only: host_seconds
  use iso_c_binding, only: c_int, c_long
  use kinds_m, only: dp, i8, sp
  use mpi_f08, only: MPI_Bcast, MPI_INTEGER, MPI_INTEGER8, MPI_REAL, MPI_Send
  use message_check_m, only: MessageProblem
  use message_parts_m, only: part_most, PartBegin, PartLength, Parts
  use barrier_m, only: Barrier, Rest
  use protocol_m, only: link_t, LinkFlush, LinkReceive, LinkReply, message_t, MSG_NOTE
  use roles_m, only: role_t, RolesGroups, RolesStart, RolesStop
  use text_m, only: Str
  implicit none
  integer, parameter :: messages = 40, rounds = 12, large = 7       !< parts of the largest message
  interface
    integer(c_int) function setrlimit(resource, limits) bind(c)
      import :: c_int, c_long
      integer(c_int), value :: resource
      integer(c_long), intent(in) :: limits(2)
    end function setrlimit
  end interface
  character(4096) :: self
  character(20) :: word
  integer :: seed, status

  call get_environment_variable('OMPI_COMM_WORLD_RANK', word, status=status)
  if (status == 0) then
    call AllRanks()
  else
    seed = GivenSeed()
    call Counted()
    call get_command_argument(0, self)
    call execute_command_line("mpirun --oversubscribe -n 3 '"//trim(self)//"' "//Str(seed), exitstat=status)
    call Claim(status == 0, 'seed '//Str(seed)//': three ranks end with status '//Str(status))
    call Done()
  end if

contains

  !> Parts of a size that no test could send.
  subroutine Counted()
    integer(i8) :: n, next
    integer :: m
    logical :: good
    n = 5000000000_i8 + seed
    next = 1
    good = part_most < huge(1)
    do m = 1, Parts(n)
      good = good .and. PartBegin(m) == next .and. PartLength(n, m) > 0 .and. PartLength(n, m) <= part_most
      next = next + PartLength(n, m)
    end do
    call Claim(good .and. next == n + 1 .and. Parts(0_i8) == 0, Str(n)//' numbers travel in '//Str(Parts(n))//' parts without a gap')
  end subroutine Counted

  subroutine AllRanks()
    type(role_t) :: role
    type(link_t) :: link
    type(error_t), allocatable :: error
    call get_command_argument(1, word)
    read (word, *) seed
    part_most = 1 + Drawn(1, 0, 0)
    call RolesStart(role)
    link%world = role%world
    role%worker = role%rank > 0
    call RolesGroups(role, 2, error)
    call Claim(.not. allocated(error), 'rank '//Str(role%rank)//' has its part')
    call Talk(role, link)
    call Barrier(role%world)
    call Stuck(role, link)
    call Barrier(role%world)
    call get_environment_variable('B', self)
    if (index(self, 'debug') == 0) call NoMemory(role, link)     ! the sanitizer ends a process that has none
    call Barrier(role%world)
    if (role%worker) call Together(role)
    call Barrier(role%world)
    call RolesStop(role)
  end subroutine AllRanks

  !> Rank 0 and each of the others send each other as many messages, which come in their order.
  subroutine Talk(role, link)
    type(role_t), intent(in) :: role
    type(link_t), intent(inout) :: link
    type(message_t) :: message
    integer :: n, to, got(0:2), wrong, due
    real(dp) :: nap
    due = merge(2*messages, messages, role%master)
    got = 0
    wrong = 0
    do n = 1, messages
      do to = 0, 2
        if ((to == 0) .eqv. role%master) cycle
        message = Made(role%rank, to, n)
        call LinkReply(link, to, message)
      end do
      do while (LinkReceive(link, message))
        call Take(message, role%rank, got, wrong)
      end do
    end do
    nap = 0
    do while (sum(got) < due)
      if (LinkReceive(link, message)) then
        call Take(message, role%rank, got, wrong)
      else
        call Rest(nap)
      end if
    end do
    call LinkFlush(link)
    call Claim(wrong == 0, 'seed '//Str(seed)//', parts of '//Str(part_most)//': rank '//Str(role%rank)//' received '//Str(due)// &
               ' messages, '//Str(wrong)//' of them not as they were sent')
  end subroutine Talk

  !> Rank 1 begins a message that is larger than what rank 0 awaits at a time, and stands still until rank 0 has those of rank 2.
  subroutine Stuck(role, link)
    type(role_t), intent(in) :: role
    type(link_t), intent(inout) :: link
    integer, parameter :: numbers = 17000000, after = 100, header = 29, tag_header = 1, tag_body = 2
    real(dp), parameter :: patience = 60                  ! much less than another rank may be silent
    real(dp) :: nap, start
    real(sp), allocatable :: a(:)
    type(message_t) :: message
    integer(i8) :: h(header), usual
    integer :: n, wrong, got(0:2)
    allocate (a(numbers))
    do n = 1, numbers
      a(n) = real(n, sp)
    end do
    n = 0
    usual = part_most
    part_most = 2_i8**28
    got = 0
    if (role%rank == 1) then
      h = 0
      h(1) = MSG_NOTE
      h(header) = numbers
      call MPI_Send(h, header, MPI_INTEGER8, 0, tag_header, role%world)
      call Barrier(role%world)                            ! it has begun
      call MPI_Bcast(n, 1, MPI_INTEGER, 0, role%world)
      call MPI_Send(a, numbers, MPI_REAL, 0, tag_body, role%world)
    else
      call Barrier(role%world)
      if (role%rank == 2) then
        do n = 1, after
          message = message_t(kind=MSG_NOTE)
          call LinkReply(link, 0, message)
        end do
        call LinkFlush(link)
        call MPI_Bcast(n, 1, MPI_INTEGER, 0, role%world)
      end if
    end if
    if (role%master) then
      start = host_seconds()
      nap = 0
      do while (got(2) < after .and. host_seconds() - start < patience)
        if (LinkReceive(link, message)) then
          got(message%from) = got(message%from) + 1
        else
          call Rest(nap)
        end if
      end do
      call Claim(got(2) == after .and. got(1) == 0, Str(got(2))//' of '//Str(after)//' messages of a rank came while one of '// &
                 Str(numbers)//' numbers of another had begun and stood still')
      call MPI_Bcast(n, 1, MPI_INTEGER, 0, role%world)
      do while (sum(got) < after + 1)
        if (.not. LinkReceive(link, message)) cycle
        got(message%from) = got(message%from) + 1
        if (message%from == 1) wrong = count(abs(message%fields - a) > 0)
      end do
      call Claim(got(1) == 1 .and. wrong == 0, 'and that one came in the end')
    end if
    part_most = usual
  end subroutine Stuck

  !> Rank 1 sends rank 0 a message that it has no memory for, and a small one.
  subroutine NoMemory(role, link)
    type(role_t), intent(in) :: role
    type(link_t), intent(inout) :: link
    integer, parameter :: numbers = 17000000
    integer(c_int), parameter :: address_space = 9
    integer(c_long), parameter :: spare = 24000000        ! bytes, less than the message
    type(message_t) :: message, next
    integer(c_long) :: pages
    integer(i8) :: usual
    integer :: unit
    if (role%rank == 2) return
    usual = part_most
    part_most = 2_i8**22
    if (role%master) then
      open (newunit=unit, file='/proc/self/statm', action='read')
      read (unit, *) pages
      close (unit)
      if (setrlimit(address_space, [4096*pages + spare, -1_c_long]) /= 0) call Claim(.false., 'its memory cannot be limited')
      call Await(link, message)
      call Await(link, next)
      if (setrlimit(address_space, [-1_c_long, -1_c_long]) /= 0) call Claim(.false., 'its memory stays limited')
      call Claim(message%lost .and. message%n(1) == 4711 .and. size(message%fields) == 0 .and. Same(next, Small()), &
                 'of a message that there is no memory for, in '//Str(Parts(int(numbers, i8)))//' part(s), the numbers come: '// &
                 MessageProblem(message)//'; the next one is whole')
    else
      message = message_t(kind=MSG_NOTE, text='a', places=[1.0_dp])
      message%n(1) = 4711
      allocate (message%fields(numbers), source=1.0_sp)
      call LinkReply(link, 0, message)
      message = Small()
      call LinkReply(link, 0, message)
      call LinkFlush(link)
    end if
    part_most = usual
  end subroutine NoMemory

  type(message_t) function Small()
    Small%kind = MSG_NOTE
    Small%text = 'b'
    Small%places = [2.0_dp]
    Small%fields = [3.0_sp, 4.0_sp]
  end function Small

  subroutine Await(link, got)
    type(link_t), intent(inout) :: link
    type(message_t), intent(out) :: got
    real(dp) :: nap
    nap = 0
    do while (.not. LinkReceive(link, got))
      call Rest(nap)
    end do
  end subroutine Await

  !> The next message of its sender.
  subroutine Take(message, me, got, wrong)
    type(message_t), intent(in) :: message
    integer, intent(in) :: me
    integer, intent(inout) :: got(0:), wrong
    got(message%from) = got(message%from) + 1
    if (.not. Same(message, Made(message%from, me, got(message%from)))) wrong = wrong + 1
  end subroutine Take

  !> What the two ranks of a group do.
  subroutine Together(role)
    type(role_t), intent(in) :: role
    type(group_t) :: group
    type(error_t), allocatable :: error
    type(message_t) :: message
    real(dp), allocatable :: x(:), a(:), b(:)
    real(sp), allocatable :: all(:), one(:), two(:)
    integer(i8), allocatable :: count(:)
    integer :: n, wrong(4)
    call GroupNew(group, role, 60.0_dp)
    call GroupShotBegins(group)
    wrong = 0
    do n = 1, rounds
      message = message_t()
      if (group%mine == 1) message = Made(1, 7, n)
      call GroupShare(group, message)
      message%text = Text(1, 7, n)
      if (.not. Same(message, Made(1, 7, n))) wrong(1) = wrong(1) + 1
      a = Doubles(1, 8, n)
      b = Doubles(2, 9, n, size(a))
      x = merge(a, b, group%mine == 1)
      call group%largest(x, error)
      if (any(abs(x - max(a, b)) > 0)) wrong(2) = wrong(2) + 1
      x = merge(a, b, group%mine == 1)
      call group%total(x, error)
      if (any(abs(x - (a + b)) > 0)) wrong(3) = wrong(3) + 1
      one = real(Doubles(1, 10, n), sp)
      two = real(Doubles(2, 11, n), sp)
      if (group%mine == 1) call group%collect(one, all, count, error)
      if (group%mine == 2) call group%collect(two, all, count, error)
      if (group%mine == 2) cycle
      if (any(count /= [size(one), size(two)]) .or. size(all) /= size(one) + size(two)) then
        wrong(4) = wrong(4) + 1
      else if (any(abs(all - [one, two]) > 0)) then
        wrong(4) = wrong(4) + 1
      end if
    end do
    call Claim(.not. allocated(error) .and. sum(wrong) == 0, 'seed '//Str(seed)//': rank '//Str(group%mine)//' of a group, '//Str(rounds)// &
               ' times each: '//Str(wrong(1))//' messages, '//Str(wrong(2))//' largest numbers, '//Str(wrong(3))//' sums and '// &
               Str(wrong(4))//' collected not as they should be')
    call GroupFree(group, .false.)
  end subroutine Together

  !> Message n of a rank to another: both make it alike.
  type(message_t) function Made(from, to, n) result(message)
    integer, intent(in) :: from, to, n
    message%kind = MSG_NOTE
    message%n = n
    message%x = 0.5_dp*n
    message%text = Text(from, to, n)
    message%places = Doubles(from, to + 20, n)
    message%fields = real(Doubles(from, to + 40, n), sp)
  end function Made

  logical function Same(a, b)
    type(message_t), intent(in) :: a, b
    Same = a%kind == b%kind .and. all(a%n == b%n) .and. all(abs(a%x - b%x) <= 0) .and. len(a%text) == len(b%text) .and. &
           size(a%places) == size(b%places) .and. size(a%fields) == size(b%fields)
    if (Same) Same = a%text == b%text .and. all(a%places == b%places) .and. all(a%fields == b%fields)
  end function Same

  function Text(from, to, n) result(letters)
    integer, intent(in) :: from, to, n
    character(:), allocatable :: letters
    integer :: i
    letters = repeat(' ', Length(from, to, n))
    do i = 1, len(letters)
      letters(i:i) = achar(33 + modulo(Drawn(from + 3*i, to, n), 90))
    end do
  end function Text

  function Doubles(from, to, n, count) result(x)
    integer, intent(in) :: from, to, n
    integer, intent(in), optional :: count
    real(dp), allocatable :: x(:)
    integer :: i, m
    m = Length(from, to, n)
    if (present(count)) m = count
    x = [(Drawn(from + 3*i, to, n)/7.0_dp, i=1, m)]
  end function Doubles

  !> Nothing, a part, one number more or less, or several parts, as chance has it.
  integer function Length(from, to, n)
    integer, intent(in) :: from, to, n
    integer :: p
    p = int(part_most)
    select case (modulo(Drawn(from, to, n), 6))
    case (0)
      Length = 0
    case (1)
      Length = p - 1
    case (2)
      Length = p
    case (3)
      Length = p + 1
    case (4)
      Length = large*p
    case default
      Length = modulo(Drawn(from, to + 100, n), large*p)
    end select
  end function Length

  !> A number of 0 .. 99 that hangs on nothing but the seed and three others.
  integer function Drawn(a, b, c)
    integer, intent(in) :: a, b, c
    integer(i8) :: h
    integer :: i
    h = seed + 1
    do i = 1, 2
      h = modulo(h*69069_i8 + 7919_i8*a + 104729_i8*b + 1299709_i8*c + 12345, 2147483647_i8)
    end do
    Drawn = int(modulo(h/1000, 100_i8))
  end function Drawn

end program t720_message_parts
