!> Number of ranks that share a shot: as few as hold the largest one of a survey.
module group_size_m
  use error_m, only: error_t, Fail
  use far_stations_m, only: FarAdvice
  use grouping_m, only: GroupingFewest, places_t, ON_CORES, ON_GPU
  use keymap_m, only: KeymapShot
  use kinds_m, only: dp
  use memory_need_m, only: memory_t, MemoryBytes, MemoryNeed
  use node_memory_m, only: node_t
  use parameter_table_m, only: SplitList
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: solver_t
  use survey_m, only: survey_t, SurveyWindow
  use text_m, only: Str
  use window_m, only: window_t
  implicit none
  private
  public :: GroupSize, GroupFewest, GroupNeed, GroupSized, GroupAdvise

  integer, parameter :: MOST_RANKS = 64           !< of a group that is looked for where there are not so many

contains

  !> The `ranks` that share a shot, for group=auto, and `why`, in words; the scheme then knows them. Fails, with 0 ranks, where no
  !> group of these places holds the largest shot, or another shot cannot be cut so.
  subroutine GroupSize(survey, places, ranks, why, error)
    type(survey_t), intent(inout) :: survey
    type(places_t), intent(in) :: places
    integer, intent(out) :: ranks
    character(:), allocatable, intent(out) :: why
    type(error_t), allocatable, intent(inout) :: error
    type(places_t) :: left
    type(memory_t) :: memory
    real(dp), allocatable :: need(:, :)
    integer :: n, kind, most
    why = ''
    left = places
    call MemoryNeed(survey, memory)
    associate (here => places%works .and. places%node == places%node(0))      ! rank 0 is there too
      where (here) left%room(:, ON_CORES) = max(0.0_dp, left%room(:, ON_CORES) - memory%master/max(1, count(here)))
    end associate
    kind = merge(ON_GPU, ON_CORES, any(places%gpu))
    most = merge(count(places%gpu), count(places%works), kind == ON_GPU)
    if (.not. survey%physics%groups) most = min(1, most)
    allocate (need(most, 2), source=0.0_dp)
    do n = 1, most
      need(n, kind) = GroupNeed(survey, n, kind)
    end do
    ranks = GroupingFewest(left, need, survey%physics%fewest)
    if (ranks == 0) then
      call TooLarge(survey, left, need(:, kind), kind, error)
      return
    end if
    call GroupSized(survey, ranks, kind == ON_GPU, error)
    if (allocated(error)) ranks = 0
    if (allocated(error)) return
    why = 'auto: '//Needs(survey, need(1, kind), kind)//', '//Has(left, kind)
    if (ranks == 1) why = why//': one rank a shot'
    if (ranks > 1) why = why//': groups of '//Str(ranks)//' ranks, '//MemoryBytes(need(ranks, kind))//' each'
  end subroutine GroupSize

  !> The scheme of a survey knows that so many `ranks` share a shot, on GPUs or on cores. Fails where a shot cannot be cut so.
  subroutine GroupSized(survey, ranks, gpu, error)
    type(survey_t), intent(inout) :: survey
    integer, intent(in) :: ranks
    logical, intent(in) :: gpu
    type(error_t), allocatable, intent(inout) :: error
    type(window_t) :: window
    type(shot_t) :: shot
    character(:), allocatable :: words
    real(dp) :: gain, exchange
    integer :: i
    survey%scheme%ranks = ranks
    if (ranks == 1) return
    do i = 1, survey%keymap%n
      call KeymapShot(survey%keymap, i, shot)
      call SurveyWindow(survey, shot, .false., window, error)
      if (.not. allocated(error)) call survey%physics%sharing(survey%scheme, window, gpu, words, gain, exchange)
      if (allocated(error)) return
      if (words /= '') cycle
      call Fail(error, 'group = auto: the largest shot needs '//Str(ranks)//' ranks, but the grid of shot record '// &
                Str(shot%record)//' cannot be cut into as many pieces: model the small shots in a job of their own')
      return
    end do
  end subroutine GroupSized

  !> Memory that each of so many ranks needs for the largest shot on a GPU or on cores [bytes].
  real(dp) function GroupNeed(survey, ranks, kind) result(need)
    type(survey_t), intent(inout) :: survey
    integer, intent(in) :: ranks, kind
    class(solver_t), allocatable :: solver
    class(scheme_t), allocatable :: scheme
    type(memory_t) :: memory
    integer :: before
    if (kind == ON_GPU) then
      call survey%physics%solver(solver)
      allocate (scheme, source=survey%scheme)
      scheme%ranks = ranks
      scheme%variant = solver%choose(scheme%variant, .true.)
      need = solver%need(scheme, survey%window, survey%keymap%nrec_max*size(SplitList(scheme%components)))
    else
      before = survey%scheme%ranks
      survey%scheme%ranks = ranks
      call MemoryNeed(survey, memory)
      survey%scheme%ranks = before
      need = memory%worker
    end if
  end function GroupNeed

  !> The fewest ranks with so much `room` each [bytes] that hold the largest shot, 0 = none of MOST_RANKS.
  integer function GroupFewest(survey, room, kind) result(ranks)
    type(survey_t), intent(inout) :: survey
    real(dp), intent(in) :: room
    integer, intent(in) :: kind
    integer :: n
    ranks = 0
    do n = survey%physics%fewest, merge(MOST_RANKS, 1, survey%physics%groups)
      if (GroupNeed(survey, n, kind) > room) cycle
      ranks = n
      return
    end do
  end function GroupFewest

  !> Adds to an `error`, that the largest shot is too large for one rank, how many such machines would hold it.
  subroutine GroupAdvise(survey, nodes, error)
    type(survey_t), intent(inout) :: survey
    type(node_t), intent(in) :: nodes(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: fewest
    if (.not. allocated(error) .or. size(nodes) == 0) return
    fewest = GroupFewest(survey, maxval(real(nodes%total, dp)), ON_CORES)
    if (fewest <= survey%scheme%ranks) return
    error%message = error%message//'; or let '//Str(fewest)//' ranks share a shot, group='//Str(fewest)// &
                    ', each with as much memory'
  end subroutine GroupAdvise

  subroutine TooLarge(survey, places, need, kind, error)
    type(survey_t), intent(inout) :: survey
    type(places_t), intent(in) :: places
    real(dp), intent(in) :: need(:)
    integer, intent(in) :: kind
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: text
    integer :: most, fewest
    most = size(need)
    text = 'group = auto: '
    if (most == 0) then
      call Fail(error, text//'the job has no worker rank: start at least 2 processes')
      return
    end if
    if (most < survey%physics%fewest) then
      call Fail(error, text//'shot record '//Str(survey%largest)//' ('// &
                survey%physics%grid_words(survey%scheme, survey%window)//') is too large for '//Str(most)//' rank(s), whatever '// &
                'memory these have: start '//Str(survey%physics%fewest + 1)//' processes at least'// &
                trim(merge(' on as many GPUs, or gpn=0 to compute on CPU cores', repeat(' ', 50), kind == ON_GPU)))
      return
    end if
    text = text//Needs(survey, need(1), kind)
    if (most > 1) text = text//', '//MemoryBytes(need(most))//' on each of '//Str(most)//' ranks'
    text = text//', but '//Has(places, kind)//': '
    fewest = GroupFewest(survey, maxval(places%room(:, kind), places%works), kind)
    if (fewest > most) then
      text = text//Str(fewest)//' ranks with as much each would do; start as many'
      if (kind == ON_GPU) text = text//' on as many GPUs'
      text = text//', '
    end if
    call Fail(error, text//trim(survey%physics%smaller)// &
              trim(merge(', or gpn=0 to compute on CPU cores', repeat(' ', 34), kind == ON_GPU)))
    if (survey%far%n > 0) error%message = error%message//'; '//FarAdvice(survey%far)
  end subroutine TooLarge

  !> 'shot record 11 (20 x 30 x 40 cells) needs 1 GB of GPU memory'
  function Needs(survey, bytes, kind) result(text)
    type(survey_t), intent(in) :: survey
    real(dp), intent(in) :: bytes
    integer, intent(in) :: kind
    character(:), allocatable :: text
    text = 'shot record '//Str(survey%largest)//' ('//survey%physics%grid_words(survey%scheme, survey%window)//') needs '// &
           MemoryBytes(bytes)
    if (kind == ON_GPU) text = text//' of GPU memory'
  end function Needs

  !> 'a rank has 1 GB', 'a GPU has 80 GB to 141 GB'
  function Has(places, kind) result(text)
    type(places_t), intent(in) :: places
    integer, intent(in) :: kind
    character(:), allocatable :: text
    logical :: asked(0:size(places%works) - 1)
    real(dp) :: least, most
    asked = places%works .and. (places%gpu .or. kind == ON_CORES)
    least = minval(places%room(:, kind), asked)
    most = maxval(places%room(:, kind), asked)
    text = 'a rank has '
    if (kind == ON_GPU) text = 'a rank''s GPU has '
    if (MemoryBytes(least) /= MemoryBytes(most)) text = text//MemoryBytes(least)//' to '
    text = text//MemoryBytes(most)
    if (most >= huge(1.0_dp)) text = 'a rank has memory that the system does not tell'
  end function Has

end module group_size_m
