!> The map of a job in words: which ranks of which host compute on what.
module rank_map_m
  use grouping_m, only: grouping_t
  use text_m, only: Ranges, Str
  implicit none
  private
  public :: rank_info_t, RankMap, RankWarnings, RanksIdle, RanksSpared

  character, parameter :: nl = new_line('a')
  integer, parameter :: hosts_listed = 8       !< up to so many hosts get a line each

  !> The host of a rank and the device that it computes on.
  type :: rank_info_t
    character(64) :: host = ''
    logical :: worker = .false.
    logical :: candidate = .false.           !< it was to get a GPU, whether it got one or not
    integer :: gpu = -1                      !< number of its GPU on the host, -1 = none
    character(64) :: gpu_name = ''
    integer :: threads = 1
  end type rank_info_t

contains

  !> A line a host; with many hosts, equal ones share a line. info(r + 1) is that of rank r; rank 0 deals shots unless it is alone.
  function RankMap(info) result(text)
    type(rank_info_t), intent(in) :: info(0:)
    character(:), allocatable :: text, what
    logical :: first(0:size(info) - 1), listed(0:size(info) - 1), same(0:size(info) - 1)
    integer :: r, j
    do r = 0, size(info) - 1
      first(r) = .not. any(info(:r - 1)%host == info(r)%host)
    end do
    text = ''
    listed = .false.
    do r = 0, size(info) - 1
      if (.not. first(r) .or. listed(r)) cycle
      same = .false.
      same(r) = .true.
      what = OfHost(info, trim(info(r)%host), count(first) <= hosts_listed)
      if (count(first) > hosts_listed) then
        do j = r + 1, size(info) - 1
          if (first(j) .and. .not. listed(j)) same(j) = OfHost(info, trim(info(j)%host), .false.) == what
        end do
      end if
      listed = listed .or. same
      j = findloc(same, .true., 1, back=.true.) - 1
      if (text /= '') text = text//nl
      if (count(same) > 1) then
        text = text//Str(count(same))//' hosts, '//trim(info(r)%host)//' .. '//trim(info(j)%host)//', each: '//what
      else
        text = text//trim(info(r)%host)//': '//what
      end if
    end do
  end function RankMap

  !> The roles of the ranks of a host: 'ranks 1-2 on GPU 0-1 (NVIDIA H200), ranks 3-16 on CPU, 2 threads each'; without `numbers`
  !> how many instead of which.
  function OfHost(info, host, numbers) result(text)
    type(rank_info_t), intent(in) :: info(0:)
    character(*), intent(in) :: host
    logical, intent(in) :: numbers
    character(:), allocatable :: text
    logical, dimension(0:size(info) - 1) :: here, todo, alike
    integer :: r
    here = info%host == host
    text = ''
    if (here(0) .and. .not. info(0)%worker) text = 'rank 0 deals shots and writes files'
    todo = here .and. info%worker
    do while (any(todo))
      r = findloc(todo, .true., 1) - 1
      if (info(r)%gpu >= 0) then
        alike = todo .and. info%gpu >= 0 .and. info%gpu_name == info(r)%gpu_name
        call Add(Who(alike, numbers)//' on GPU '//Ranges(pack(info%gpu, alike))//' ('//trim(info(r)%gpu_name)//')')
      else
        alike = todo .and. info%gpu < 0 .and. info%threads == info(r)%threads
        call Add(Who(alike, numbers)//' on CPU, '//Str(info(r)%threads)//' thread'// &
                 trim(merge('s', ' ', info(r)%threads > 1))//trim(merge(' each', '     ', count(alike) > 1)))
      end if
      todo = todo .and. .not. alike
    end do
    alike = here .and. .not. info%worker
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
  pure function Who(alike, numbers) result(text)
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
  function RankWarnings(info, gpn) result(text)
    type(rank_info_t), intent(in) :: info(0:)
    integer, intent(in) :: gpn
    character(:), allocatable :: text
    logical :: here(0:size(info) - 1), without(0:size(info) - 1)
    integer :: r, j, gpus
    text = ''
    do r = 0, size(info) - 1
      if (any(info(:r - 1)%host == info(r)%host)) cycle
      here = info%host == info(r)%host
      without = here .and. info%candidate .and. info%gpu < 0
      if (.not. any(without)) cycle
      gpus = 0
      do j = 0, size(info) - 1
        if (.not. here(j) .or. info(j)%gpu < 0) cycle
        if (.not. any(here(:j - 1) .and. info(:j - 1)%gpu == info(j)%gpu)) gpus = gpus + 1
      end do
      if (text /= '') text = text//nl
      text = text//trim(info(r)%host)//' has '//Str(gpus)//' GPU(s) for this job, gpn = '//Str(gpn)//' asks for more: '// &
             Who(without, .true.)//' on CPU cores instead'
    end do
  end function RankWarnings

  !> A sentence on ranks without a group, '' if all have one.
  pure function RanksIdle(groups) result(text)
    type(grouping_t), intent(in) :: groups
    character(:), allocatable :: text
    integer :: cores, left
    text = ''
    left = count(groups%works .and. groups%worker == 0)
    if (left == 0) return
    cores = count(groups%works .and. .not. groups%gpu)
    text = Who(groups%works .and. groups%worker == 0, .true.)//trim(merge(' is ', ' are', left == 1))//' idle: '//Str(cores)// &
           ' ranks compute on CPU cores, and groups of '//Str(groups%ranks)//' leave '//Str(left)//' over; start '//Str(left)// &
           ' process(es) less, or '//Str(groups%ranks - left)//' more'
  end function RanksIdle

  !> A sentence on ranks that leave their GPUs idle, '' if there are none.
  pure function RanksSpared(groups) result(text)
    type(grouping_t), intent(in) :: groups
    character(:), allocatable :: text
    integer :: n
    text = ''
    n = count(groups%spared)
    if (n > 0) text = Who(groups%spared, .true.)//': no GPU, though there is one for each; ranks of a group compute all on '// &
                      'GPUs or all on CPU cores, and groups of '//Str(groups%ranks)//' on one machine leave '//Str(n)//' over'
  end function RanksSpared

end module rank_map_m
