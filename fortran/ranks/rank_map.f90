!> The map of a job in words: which ranks of which host compute on what.
module rank_map_m
  use text_m, only: Str
  implicit none
  private
  public :: station_t, RankMap, RankWarnings, Ranges

  character, parameter :: nl = new_line('a')
  integer, parameter :: hosts_told = 8       !< up to so many hosts get a line each

  !> Where a rank is and what it computes on.
  type :: station_t
    character(64) :: host = ''
    logical :: worker = .false.
    logical :: candidate = .false.           !< it was to get a GPU
    integer :: gpu = -1                      !< its number on the host, -1 = none
    character(64) :: gpu_name = ''
    integer :: threads = 1
  end type station_t

contains

  !> A line a host; with many hosts, equal ones share a line. Rank r is station r+1; rank 0 deals shots unless it is alone.
  function RankMap(station) result(text)
    type(station_t), intent(in) :: station(0:)
    character(:), allocatable :: text, what
    logical :: first(0:size(station) - 1), told(0:size(station) - 1), same(0:size(station) - 1)
    integer :: r, j
    do r = 0, size(station) - 1
      first(r) = .not. any(station(:r - 1)%host == station(r)%host)
    end do
    text = ''
    told = .false.
    do r = 0, size(station) - 1
      if (.not. first(r) .or. told(r)) cycle
      same = .false.
      same(r) = .true.
      what = OfHost(station, trim(station(r)%host), count(first) <= hosts_told)
      if (count(first) > hosts_told) then
        do j = r + 1, size(station) - 1
          if (first(j) .and. .not. told(j)) same(j) = OfHost(station, trim(station(j)%host), .false.) == what
        end do
      end if
      told = told .or. same
      j = findloc(same, .true., 1, back=.true.) - 1
      if (text /= '') text = text//nl
      if (count(same) > 1) then
        text = text//Str(count(same))//' hosts, '//trim(station(r)%host)//' .. '//trim(station(j)%host)//', each: '//what
      else
        text = text//trim(station(r)%host)//': '//what
      end if
    end do
  end function RankMap

  !> What the ranks of a host do: 'ranks 1-2 on GPU 0-1 (NVIDIA H200), ranks 3-16 on CPU, 2 threads each'; without `numbers` how
  !> many instead of which.
  function OfHost(station, host, numbers) result(text)
    type(station_t), intent(in) :: station(0:)
    character(*), intent(in) :: host
    logical, intent(in) :: numbers
    character(:), allocatable :: text
    logical, dimension(0:size(station) - 1) :: here, todo, alike
    integer :: r
    here = station%host == host
    text = ''
    if (here(0) .and. .not. station(0)%worker) text = 'rank 0 deals shots and writes files'
    todo = here .and. station%worker
    do while (any(todo))
      r = findloc(todo, .true., 1) - 1
      if (station(r)%gpu >= 0) then
        alike = todo .and. station%gpu >= 0 .and. station%gpu_name == station(r)%gpu_name
        call Add(Who(alike, numbers)//' on GPU '//Ranges(pack(station%gpu, alike))//' ('//trim(station(r)%gpu_name)//')')
      else
        alike = todo .and. station%gpu < 0 .and. station%threads == station(r)%threads
        call Add(Who(alike, numbers)//' on CPU, '//Str(station(r)%threads)//' thread'// &
                 trim(merge('s', ' ', station(r)%threads > 1))//trim(merge(' each', '     ', count(alike) > 1)))
      end if
      todo = todo .and. .not. alike
    end do
    alike = here .and. .not. station%worker
    alike(0) = .false.
    if (any(alike)) call Add(Who(alike, numbers)//' idle')
  contains
    subroutine Add(words)
      character(*), intent(in) :: words
      if (text /= '') text = text//', '
      text = text//words
    end subroutine Add
  end function OfHost

  !> 'rank 1', 'ranks 1-2', or '2 ranks'.
  function Who(alike, numbers) result(text)
    logical, intent(in) :: alike(0:)
    logical, intent(in) :: numbers
    character(:), allocatable :: text
    integer :: i
    text = 'rank'
    if (count(alike) > 1) text = 'ranks'
    if (numbers) then
      text = text//' '//Ranges(pack([(i, i=0, size(alike) - 1)], alike))
    else
      text = Str(count(alike))//' '//text
    end if
  end function Who

  !> A sentence for each host that has fewer GPUs than gpn asks for, a line each; '' if there is none.
  function RankWarnings(station, gpn) result(text)
    type(station_t), intent(in) :: station(0:)
    integer, intent(in) :: gpn
    character(:), allocatable :: text
    logical :: here(0:size(station) - 1), without(0:size(station) - 1)
    integer :: r, j, gpus
    text = ''
    do r = 0, size(station) - 1
      if (any(station(:r - 1)%host == station(r)%host)) cycle
      here = station%host == station(r)%host
      without = here .and. station%candidate .and. station%gpu < 0
      if (.not. any(without)) cycle
      gpus = 0
      do j = 0, size(station) - 1
        if (.not. here(j) .or. station(j)%gpu < 0) cycle
        if (.not. any(here(:j - 1) .and. station(:j - 1)%gpu == station(j)%gpu)) gpus = gpus + 1
      end do
      if (text /= '') text = text//nl
      text = text//trim(station(r)%host)//' has '//Str(gpus)//' GPU(s) for this job, gpn = '//Str(gpn)//' asks for more: '// &
             Who(without, .true.)//' on CPU cores instead'
    end do
  end function RankWarnings

  !> '1-4, 7' of whole numbers in rising order.
  pure function Ranges(n) result(text)
    integer, intent(in) :: n(:)
    character(:), allocatable :: text
    integer :: i, from
    text = ''
    from = 1
    do i = 1, size(n)
      if (i < size(n)) then
        if (n(i + 1) == n(i) .or. n(i + 1) == n(i) + 1) cycle
      end if
      if (text /= '') text = text//', '
      text = text//Str(n(from))
      if (n(i) > n(from)) text = text//'-'//Str(n(i))
      from = i + 1
    end do
  end function Ranges

end module rank_map_m
