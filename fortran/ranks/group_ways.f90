!> The ways through the sides of pieces: ranks of a machine share the memory that numbers travel in, so that nobody copies them;
!> others send them by MPI. Arguments stand in partners.f90 and group.f90.
submodule(group_m) group_ways
  use gpu_messages_m, only: GpuRoom, GpuRoomFree
  use iso_c_binding, only: c_associated, c_f_pointer, c_null_char
  use partners_m, only: PartnersSides
  use shared_c, only: PATH => shared_name, shared_close, shared_data, shared_new, shared_open, shared_post, shared_wait
  use text_m, only: FString
  implicit none

  integer, parameter :: TURNS = 2000000       !< that a flag counts within a shot, then from the first again

contains

  module procedure GroupOpen
    character(PATH) :: mine
    call GroupAgree(self, error)
    if (allocated(error)) return
    if (size(with) /= size(self%way)) call WaysNew(self, size(with))
    call WaysClose(self)
    self%with = with
    self%theirs = theirs
    call MakeMemory(self, n, mine)
    call Meet(self, n, mine, error)
    if (allocated(error)) return
    self%carried = merge(merge(by_gpu_messages, by_messages, self%way%on_gpu), 0, self%with > 0)
    where (self%with > 0 .and. self%way%shared) self%carried = by_memory
    call CountWays(self, error)
    self%latency = self%found(1, :)
    self%rate = self%found(2, :)
  end procedure GroupOpen

  module procedure WaysNew
    if (allocated(group%way)) call WaysClose(group)
    call PartnersSides(group, sides)
    if (allocated(group%way)) deallocate (group%way, group%measured, group%found)
    allocate (group%way(sides), group%measured(sides), group%found(2, sides))
    group%measured = -1
    group%found = 0
    call WaysClose(group)
  end procedure WaysNew

  !> Counts the ways of all partners, by their kinds, and measures them all where one is new.
  subroutine CountWays(group, error)
    class(group_t), intent(inout) :: group
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: ways(3)
    ways(1) = count(group%carried == by_memory)
    ways(2) = count(group%carried == by_messages .or. group%carried == by_gpu_messages)
    ways(3) = count(KindOf(group) /= group%measured)
    call group%total(ways, error)
    group%ways = nint(ways(:2))
    if (ways(3) > 0 .and. .not. allocated(error)) call MeasureWays(group, error)
  end subroutine CountWays

  !> Measures the ways, one after the other: all partners take pairs in the same order, so no two wait for each other at different
  !> ones.
  subroutine MeasureWays(group, error)
    class(group_t), intent(inout) :: group
    type(error_t), allocatable, intent(inout) :: error
    integer :: low, high, side
    do low = 1, group%n
      do high = low + 1, group%n
        do side = 1, size(group%way)          ! of the first of the pair
          if (group%mine == low .and. group%with(side) == high) call MeasureWay(group, side, error)
          if (group%mine == high) call MeasureTheir(side)
          if (allocated(error)) return
        end do
      end do
    end do
    group%measured = KindOf(group)

  contains

    !> The way through a side of the other one of the pair.
    subroutine MeasureTheir(side)
      integer, intent(in) :: side
      integer :: s
      do s = 1, size(group%way)
        if (group%with(s) == low .and. group%theirs(s) == side) call MeasureWay(group, s, error)
      end do
    end subroutine MeasureTheir
  end subroutine MeasureWays

  !> The partner at each side and the way to it, as one number.
  pure function KindOf(group) result(kind)
    class(group_t), intent(in) :: group
    integer :: kind(size(group%with))
    kind = 8*group%with + group%carried
  end function KindOf

  !> Both partners send at once and wait for each other, some times one after the other; the fastest of several such series counts.
  subroutine MeasureWay(group, side, error)
    class(group_t), intent(inout) :: group
    integer, intent(in) :: side
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: bare, full, bytes
    bare = Fastest(2, 1)
    full = Fastest(1, size(group%in(side, 1)%a))
    bytes = 4.0_dp*size(group%in(side, 1)%a)
    group%found(:, side) = [bare, bytes/full]            ! at least
    if (full > 1.1_dp*bare) group%found(2, side) = bytes/(full - bare)

  contains

    !> Seconds that it takes to send n numbers. On the host all are written before and read behind if they are more than one.
    real(dp) function Fastest(turns, n) result(seconds)
      integer, intent(in) :: turns, n
      integer, parameter :: series = 2
      real(sp), allocatable :: taken(:)
      real(dp) :: start
      integer :: s, turn, what
      logical :: touch
      touch = n > 1 .and. .not. group%way(side)%on_gpu
      allocate (taken(n), source=0.0_sp)
      seconds = huge(seconds)
      do s = 1, series
        start = host_seconds()
        do turn = 1, turns
          do what = 1, WHATS                  ! in turns, so that none is sent again before the partner has it
            if (touch) group%out(side, what)%a = 0
            call Post(group, side, what, n, n)
            call group%await(side, what, error)
            if (allocated(error)) return
            if (touch) taken = group%in(side, what)%a
          end do
        end do
        seconds = min(seconds, (host_seconds() - start)/(WHATS*turns))
      end do
      seconds = seconds + taken(1)            ! they are 0, and are read
    end function Fastest
  end subroutine MeasureWay

  module procedure WaysClose
    integer :: side, what
    do side = 1, size(group%way)
      do what = 1, WHATS
        associate (way => group%way(side), in => group%in(side, what), out => group%out(side, what))
          if (.not. (way%shared .or. way%on_gpu) .and. associated(in%a)) deallocate (in%a)
          if (.not. (c_associated(group%memory) .or. way%on_gpu) .and. associated(out%a)) deallocate (out%a)
          nullify (in%a, out%a)
        end associate
      end do
      call shared_close(group%way(side)%memory, group%way(side)%bytes)
      call Unused(group%way(side))
    end do
    call shared_close(group%memory, group%bytes)
    group%memory = c_null_ptr
    call GpuRoomFree(group%room)
    group%with = 0
  end procedure WaysClose

  subroutine Unused(way)
    type(way_t), intent(out) :: way
    way%sending = MPI_REQUEST_NULL
    way%getting = MPI_REQUEST_NULL
  end subroutine Unused

  !> Makes room for numbers that go out, in memory that others can read, named `mine`; where there is none, '', in this rank's own.
  subroutine MakeMemory(group, n, mine)
    class(group_t), intent(inout) :: group
    integer(i8), intent(in) :: n(:)
    character(PATH), intent(out) :: mine
    character(kind=c_char, len=PATH) :: buffer
    integer :: side, what
    buffer = c_null_char
    group%bytes = shared_data + 4*WHATS*sum(n)
    if (.not. group%messages) group%memory = shared_new(group%bytes, PATH, buffer)
    mine = FString(buffer)
    do side = 1, size(group%way)
      do what = 1, WHATS
        if (c_associated(group%memory)) then
          call Within(group%memory, shared_data/4 + WHATS*sum(n(:side - 1)) + (what - 1)*n(side), n(side), group%out(side, what)%a)
        else
          allocate (group%out(side, what)%a(n(side)))
        end if
      end do
    end do
  end subroutine MakeMemory

  !> n numbers after the first `from` of a memory.
  subroutine Within(memory, from, n, a)
    type(c_ptr), intent(in) :: memory
    integer(i8), intent(in) :: from, n
    real(sp), pointer, contiguous, intent(out) :: a(:)
    real(sp), pointer, contiguous :: all(:)
    call c_f_pointer(memory, all, [from + n])
    a => all(from + 1:from + n)
  end subroutine Within

  !> Partners tell each other where their memory is, and whether they can read it.
  subroutine Meet(group, n, mine, error)
    class(group_t), intent(inout) :: group
    integer(i8), intent(in) :: n(:)
    character(PATH), intent(in) :: mine
    type(error_t), allocatable, intent(inout) :: error
    character(PATH), pointer, contiguous :: names(:)
    integer(i8), pointer, contiguous :: sizes(:, :)
    type(MPI_Request) :: request(1)
    integer :: sides
    sides = size(n)
    allocate (names(0:group%n), sizes(sides, 0:group%n))
    names(0) = mine
    sizes(:, 0) = n
    call MPI_Iallgather(names(0), PATH, MPI_CHARACTER, names(1:), PATH, MPI_CHARACTER, group%comm, request(1))
    call Await(group, request, error)
    if (allocated(error)) return
    call MPI_Iallgather(sizes(:, 0), sides, MPI_INTEGER8, sizes(:, 1:), sides, MPI_INTEGER8, group%comm, request(1))
    call Await(group, request, error)
    if (allocated(error)) return
    call Attach(group, names(1:), sizes(:, 1:))
    call Confirm(group, error)
    if (allocated(error)) return
    call MakeOwn(group, n)
    deallocate (names, sizes)
  end subroutine Meet

  !> Room for what messages bring; and on the GPU, if it can be there, for what they take too.
  subroutine MakeOwn(group, n)
    class(group_t), intent(inout) :: group
    integer(i8), intent(in) :: n(:)
    integer(i8) :: from
    integer :: side, what
    if (group%on_gpu) group%room = GpuRoom(4*2*WHATS*sum(n, mask=.not. group%way%shared))
    from = 0
    do side = 1, size(group%way)
      if (group%way(side)%shared) cycle
      group%way(side)%on_gpu = c_associated(group%room)
      do what = 1, WHATS
        if (.not. group%way(side)%on_gpu) then
          allocate (group%in(side, what)%a(n(side)))
          cycle
        end if
        if (.not. c_associated(group%memory)) deallocate (group%out(side, what)%a)
        call Within(group%room, from, n(side), group%out(side, what)%a)
        call Within(group%room, from + n(side), n(side), group%in(side, what)%a)
        from = from + 2*n(side)
      end do
    end do
  end subroutine MakeOwn

  !> Opens the memory of the partners.
  subroutine Attach(group, names, sizes)
    class(group_t), intent(inout) :: group
    character(PATH), intent(in) :: names(:)
    integer(i8), intent(in) :: sizes(:, :)
    integer :: side, what, theirs
    integer(i8) :: from
    do side = 1, size(group%way)
      if (group%with(side) == 0) cycle
      associate (way => group%way(side), size => sizes(:, group%with(side)))
        theirs = group%theirs(side)
        way%bytes = shared_data + 4*WHATS*sum(size)
        way%memory = shared_open(trim(names(group%with(side)))//c_null_char, way%bytes)
        way%shared = c_associated(way%memory) .and. c_associated(group%memory)
        way%flag = WHATS*(theirs - 1)
        from = shared_data/4 + WHATS*sum(size(:theirs - 1))
        do what = 1, WHATS
          if (way%shared) call Within(way%memory, from + (what - 1)*size(theirs), size(theirs), group%in(side, what)%a)
        end do
      end associate
    end do
  end subroutine Attach

  !> A way is shared if both partners can read the other's memory.
  subroutine Confirm(group, error)
    class(group_t), intent(inout) :: group
    type(error_t), allocatable, intent(inout) :: error
    integer, pointer, contiguous :: mine(:), theirs(:)
    type(MPI_Request) :: request(2*size(group%way))
    integer :: side, what
    allocate (mine(size(group%way)), theirs(size(group%way)))
    mine = merge(1, 0, group%way%shared)
    theirs = 0
    request = MPI_REQUEST_NULL
    do side = 1, size(group%way)
      if (group%with(side) == 0) cycle
      call MPI_Irecv(theirs(side:side), 1, MPI_INTEGER, group%with(side) - 1, TAG_OPEN + Lane(side), group%comm, &
                     request(2*side - 1))
      call MPI_Isend(mine(side:side), 1, MPI_INTEGER, group%with(side) - 1, &
                     TAG_OPEN + Lane(group%theirs(side)), group%comm, request(2*side))
    end do
    call Await(group, request, error)
    if (allocated(error)) return
    do side = 1, size(group%way)
      if (group%way(side)%shared .and. theirs(side) == 0) then
        group%way(side)%shared = .false.
        do what = 1, WHATS
          nullify (group%in(side, what)%a)
        end do
      end if
    end do
    deallocate (mine, theirs)
  end subroutine Confirm

  !> Tells a side from the others between the same two partners.
  pure integer function Lane(side)
    integer, intent(in) :: side
    Lane = 1 + modulo(side - 1, LANES)
  end function Lane

  module procedure GroupTrade
    character(kind=c_char), pointer, contiguous :: mine(:, :), theirs(:, :)
    type(MPI_Request) :: request(2*size(self%way))
    integer :: side, n
    call GroupAgree(self, error)
    if (allocated(error)) return
    n = size(out, 1)
    allocate (mine, source=out)
    allocate (theirs, source=in)
    request = MPI_REQUEST_NULL
    do side = 1, size(self%way)
      if (self%with(side) == 0) cycle
      call MPI_Irecv(theirs(:, side), n, MPI_CHARACTER, self%with(side) - 1, TAG_TRADE + Lane(side), self%comm, request(2*side - 1))
      call MPI_Isend(mine(:, side), n, MPI_CHARACTER, self%with(side) - 1, &
                     TAG_TRADE + Lane(self%theirs(side)), self%comm, request(2*side))
    end do
    call Await(self, request, error)
    if (allocated(error)) return
    in = theirs
    deallocate (mine, theirs)
  end procedure GroupTrade

  module procedure GroupSend
    integer :: numbers
    numbers = size(self%out(side, what)%a)
    if (present(n)) numbers = n
    associate (traffic => self%traffic(side))
      traffic%bytes = traffic%bytes + 4*int(numbers, i8)
      traffic%messages = traffic%messages + 1
    end associate
    call Post(self, side, what, numbers, size(self%in(side, what)%a))
  end procedure GroupSend

  !> The first n numbers go to the partner, and up to `most` are expected of it.
  subroutine Post(group, side, what, n, most)
    class(group_t), intent(inout) :: group
    integer, intent(in) :: side, what, n, most
    associate (way => group%way(side), out => group%out(side, what)%a, in => group%in(side, what)%a, with => group%with(side) - 1)
      way%sent(what) = modulo(way%sent(what), TURNS) + 1
      if (way%shared) then
        call shared_post(group%memory, WHATS*(side - 1) + what - 1, FlagOf(group, way%sent(what)))
      else
        call MPI_Irecv(in, most, MPI_REAL, with, TagOf(group, side, what), group%comm, way%getting(what))
        call MPI_Isend(out, n, MPI_REAL, with, TagOf(group, group%theirs(side), what), group%comm, way%sending(what))
      end if
    end associate
  end subroutine Post

  module procedure GroupAwait
    type(MPI_Request) :: request(2)
    if (allocated(error)) return
    associate (way => self%way(side))
      way%got(what) = modulo(way%got(what), TURNS) + 1
      if (way%shared) then
        call AwaitFlag(self, way, what, error)
      else
        request = [way%getting(what), way%sending(what)]
        call Await(self, request, error)
        way%getting(what) = request(1)
        way%sending(what) = request(2)
      end if
    end associate
  end procedure GroupAwait

  module procedure GroupProgress
    integer :: side, what
    logical :: done
    do side = 1, size(self%way)
      do what = 1, WHATS
        associate (way => self%way(side))
          if (way%getting(what) /= MPI_REQUEST_NULL) call MPI_Test(way%getting(what), done, MPI_STATUS_IGNORE)
          if (way%sending(what) /= MPI_REQUEST_NULL) call MPI_Test(way%sending(what), done, MPI_STATUS_IGNORE)
        end associate
      end do
    end do
  end procedure GroupProgress

  module procedure WaysAbandon
    type(MPI_Status) :: status
    integer :: side, what
    logical :: done
    do side = 1, size(group%way)
      if (group%with(side) == 0 .or. group%way(side)%shared) cycle
      associate (way => group%way(side))
        do what = 1, WHATS
          call MPI_Test(way%getting(what), done, status)
          if (.not. done) call MPI_Cancel(way%getting(what))
          if (.not. done) call AwaitAll(group, way%getting(what:what))
          call MPI_Test(way%sending(what), done, status)
          if (.not. done) call MPI_Request_free(way%sending(what))
        end do
      end associate
    end do
  end procedure WaysAbandon

  module procedure TagOf
    tag = TAG_SHOTS + TAGS*group%shot
    if (side > 0) tag = tag + WHATS*(Lane(side) - 1) + what
  end procedure TagOf

  !> Turn number `turn` of this shot, as flags tell it.
  pure integer function FlagOf(group, turn) result(value)
    class(group_t), intent(in) :: group
    integer, intent(in) :: turn
    value = group%shot*TURNS + turn
  end function FlagOf

  !> Waits until the partner has sent what this rank is to receive next.
  subroutine AwaitFlag(group, way, what, error)
    class(group_t), intent(inout) :: group
    type(way_t), intent(in) :: way
    integer, intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: start
    logical :: aborted
    aborted = .false.
    start = host_seconds()
    do while (shared_wait(way%memory, way%flag + what - 1, FlagOf(group, way%got(what)), LATE) == 0)
      call LookAround(group, host_seconds() - start, aborted)
      if (aborted .or. group%broken) exit
    end do
    call GiveUp(group, aborted, error)
  end subroutine AwaitFlag

end submodule group_ways
