!> Stations so far from the rest of their shot that they alone make its window large, as mistyped positions do: each window reaches
!> to all receivers of its shot, and memory and time go with it.
!>
!> Told is of stations without which the grid of the shot would have an eighth of its cells, or fewer, where they are few beside
!> many others, or so far that no wave comes to them within the record. Spreads that are long everywhere, or whose record is short
!> for half of them, are not told of; nor are few stations that all lie apart, as those of an earthquake.
module far_stations_m
  use error_m, only: error_t
  use kinds_m, only: dp
  use parameters_m, only: job_t
  use physics_m, only: physics_t
  use scheme_m, only: scheme_t, SchemeWarn
  use shot_m, only: shot_t
  use text_m, only: Str
  use window_m, only: window_t
  implicit none
  private
  public :: far_stations_t, FarLook, FarBlame, FarSay, FarAdvice

  real(dp), parameter :: times = 8            !< as many cells with them as without
  integer, parameter :: fewest = 10           !< receivers of a shot, of which
  integer, parameter :: one_in = 20           !< one in so many, or one, is few
  integer, parameter :: bins = 64             !< along an axis

  type :: far_stations_t
    integer :: n = 0, shots = 0               !< receivers told of, and their shots
    real(dp) :: worst = 0                     !< the window of a shot is so many times as large with them
    character(:), allocatable :: first        !< the sentence of that shot; not allocated: none
  end type far_stations_t

contains

  !> Looks at a shot in its window.
  subroutine FarLook(far, physics, job, scheme, shot, window)
    type(far_stations_t), intent(inout) :: far
    class(physics_t), intent(in) :: physics
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(window_t) :: without
    logical :: away(size(shot%rx)), silent
    real(dp) :: larger
    call FarOnes(physics, job, scheme, shot, scheme%cells(window)/times, away, silent, without)
    if (without%nx == 0) return
    larger = scheme%cells(window)/scheme%cells(without)
    far%n = far%n + count(away)
    far%shots = far%shots + 1
    if (.not. larger > far%worst) return
    far%worst = larger
    far%first = Words(job, shot, away, silent)//' makes its window '//Str(larger, 3)//' times as large, '// &
                physics%grid_words(scheme, window)//' where '//physics%grid_words(scheme, without)//' would do'
  end subroutine FarLook

  !> To the refusal of a window that is too large: the station that makes it so.
  subroutine FarBlame(physics, job, scheme, shot, problem)
    class(physics_t), intent(in) :: physics
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(error_t), intent(inout) :: problem
    type(window_t) :: without
    logical :: away(size(shot%rx)), silent
    if (index(problem%message, 'the window of shot record') /= 1) return      ! a receiver outside the model is told by itself
    call FarOnes(physics, job, scheme, shot, huge(1.0_dp), away, silent, without)
    if (without%nx > 0) problem%message = problem%message//'; '//Words(job, shot, away, silent)//' makes it so large, '// &
                                        physics%grid_words(scheme, without)//' would do without: '//Cure()
  end subroutine FarBlame

  !> Adds to scheme%warnings what should be known.
  subroutine FarSay(far, scheme)
    type(far_stations_t), intent(in) :: far
    class(scheme_t), intent(inout) :: scheme
    if (far%n > 0) call SchemeWarn(scheme, FarAdvice(far))
  end subroutine FarSay

  !> Tells of that which makes the largest shot so large, and what to do; '' if no station does.
  pure function FarAdvice(far) result(text)
    type(far_stations_t), intent(in) :: far
    character(:), allocatable :: text
    text = ''
    if (far%n == 0) return
    text = far%first
    if (far%n > 1) text = text//' ('//Str(far%n)//' such receivers in '//Str(far%shots)//' shot(s))'
    text = text//'; '//Cure()
  end function FarAdvice

  pure function Cure() result(text)
    character(:), allocatable :: text
    text = 'correct its position in the key-map or its list, or leave it out, unless it is meant'
  end function Cure

  !> 'channel 7 of shot record 11 at x = 1e6, y = 0 m, 1000 km from its source, where no wave comes within the record,'.
  function Words(job, shot, away, silent) result(text)
    type(job_t), intent(in) :: job
    type(shot_t), intent(in) :: shot
    logical, intent(in) :: away(:), silent
    character(:), allocatable :: text
    real(dp) :: distance(size(away))
    integer :: r
    distance = Distances(job, shot)
    r = maxloc(distance, 1, away)
    text = 'channel '//Str(shot%channel(r))//' of shot record '//Str(shot%record)//' at x = '//Str(shot%rx(r), 9)
    if (job%axes(2)) text = text//', y = '//Str(shot%ry(r), 9)
    text = text//' m, '//Str(distance(r)/1000, 4)//' km from its source'
    if (silent) text = text//', where no wave comes within the record of '//Str(job%tmax, 4)//' s'
    text = text//','
  end function Words

  !> From the source [m].
  pure function Distances(job, shot) result(distance)
    type(job_t), intent(in) :: job
    type(shot_t), intent(in) :: shot
    real(dp) :: distance(size(shot%rx))
    distance = hypot(shot%rx - shot%sx, shot%rz - shot%sz)
    if (job%axes(2)) distance = hypot(distance, shot%ry - shot%sy)
  end function Distances

  !> The receivers that lie `away` such that the shot has a window `without` them of at most so many `cells`; its nx is 0 where
  !> there are none. `silent`: no wave comes so far.
  subroutine FarOnes(physics, job, scheme, shot, cells, away, silent, without)
    class(physics_t), intent(in) :: physics
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    real(dp), intent(in) :: cells
    logical, intent(out) :: away(:), silent
    type(window_t), intent(out) :: without
    silent = .not. scheme%histories                ! a fault radiates from elsewhere too
    if (silent) then
      away = Distances(job, shot) > physics%vmax*(job%tmax - scheme%t_start)
      if (any(away) .and. count(away) <= size(away)/2) call Try()
      if (without%nx > 0) return
    end if
    silent = .false.
    if (size(away) < fewest) return
    away = Outlying(shot%rx)
    if (job%axes(2)) away = away .or. Outlying(shot%ry)
    if (any(away)) call Try()

  contains

    subroutine Try()
      type(error_t), allocatable :: problem
      type(shot_t) :: less
      less%record = shot%record
      less%sx = shot%sx
      less%sy = shot%sy
      less%sz = shot%sz
      less%rx = pack(shot%rx, .not. away)
      less%ry = pack(shot%ry, .not. away)
      less%rz = pack(shot%rz, .not. away)
      less%channel = pack(shot%channel, .not. away)
      call physics%window(job, scheme, less, .false., without, problem)
      if (.not. allocated(problem)) then
        if (scheme%cells(without) <= cells) return
      end if
      without%nx = 0
    end subroutine Try
  end subroutine FarOnes

  !> Few of the numbers x, or none, that lie apart from all others; looks at each of them twice.
  pure function Outlying(x) result(apart)
    real(dp), intent(in) :: x(:)
    logical :: apart(size(x))
    integer :: bin(size(x)), n(0:bins + 1), first, last, low, high, inside, few
    real(dp) :: width
    apart = .false.
    width = maxval(x) - minval(x)
    if (.not. width > 0) return
    bin = 1 + min(int(bins*((x - minval(x))/width)), bins - 1)
    n = 0
    do first = 1, size(x)
      n(bin(first)) = n(bin(first)) + 1
    end do
    few = max(1, size(x)/one_in)
    low = 1
    high = bins
    last = 0
    inside = 0
    do first = 1, bins                               ! the shortest run of bins that holds all but few
      do while (inside < size(x) - few .and. last < bins)
        last = last + 1
        inside = inside + n(last)
      end do
      if (inside < size(x) - few) exit
      if (last - first < high - low) low = first
      if (low == first) high = last
      inside = inside - n(first)
    end do
    do while (n(low - 1) > 0)
      low = low - 1
    end do
    do while (n(high + 1) > 0)
      high = high + 1
    end do
    apart = bin < low .or. bin > high
  end function Outlying

end module far_stations_m
