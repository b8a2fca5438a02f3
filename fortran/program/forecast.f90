!> Forecasts the time of a survey from the costs of its parts, which rehearsal.f90 measures. Pure procedures.
!>
!> A shot costs its worker a set-up, by cells; steps, by cell updates; traces, each; and rank 0 the way onto the disk. Workers take
!> shots one after the other, whoever is free first, and rank 0 writes while they compute, those that come fast together. Without
!> workers beside it it does all that itself.
module forecast_m
  use commits_m, only: CommitsShare
  use kinds_m, only: dp
  implicit none
  private
  public :: cost_t, ForecastShot, ForecastCommit, ForecastWait, ForecastRun, EXCHANGE

  real(dp), parameter :: EXCHANGE = 4.0e-3_dp   !< a worker waits for rank 0's answers, a shot; measured where they share cores [s]
  real(dp), parameter :: MANY = 1.0e8_dp   !< shots times workers: so many are spread evenly

  type :: cost_t
    real(dp) :: setup = 0        !< seconds a cell
    real(dp) :: step = 0         !< seconds a cell update
    real(dp) :: trace = 0        !< seconds a trace
    real(dp) :: commit = 0       !< seconds a shot that is written by itself,
    real(dp) :: sync = 0         !< those of them that do not grow with what is written
    real(dp) :: gather = 0       !< bytes of the largest one
    real(dp) :: picture = 0      !< seconds a number of a picture or map; negative where that could not be tried
    integer :: threads = 1       !< that steps were done with in the end
    real(dp) :: state = 0        !< numbers in the last state of the largest shot but for pictures, 0 = it has none
  end type cost_t

contains

  !> Seconds that a worker has a shot of so many cells, steps and traces. On a GPU that has several shots at once (`beside`), steps
  !> of one hide set-up and traces of the others, or these hide the steps.
  elemental real(dp) function ForecastShot(cost, cells, steps, traces, beside) result(seconds)
    type(cost_t), intent(in) :: cost
    real(dp), intent(in) :: cells, steps, traces
    logical, intent(in), optional :: beside
    real(dp) :: host
    logical :: hidden
    hidden = .false.
    if (present(beside)) hidden = beside
    host = cells*cost%setup + traces*cost%trace
    seconds = cells*steps*cost%step
    seconds = merge(max(seconds, host), seconds + host, hidden)
  end function ForecastShot

  !> Seconds of rank 0 for the way of a shot onto the disk, where one comes `every` so many seconds; 0: as fast as it takes them.
  elemental real(dp) function ForecastCommit(cost, every) result(seconds)
    type(cost_t), intent(in) :: cost
    real(dp), intent(in) :: every
    seconds = cost%commit - cost%sync + CommitsShare(cost%sync, cost%gather, every)
  end function ForecastCommit

  !> Seconds that a worker waits, a shot, as rank 0 is amid a commit when it asks for it, and for its window: half of one each time.
  elemental real(dp) function ForecastWait(cost, every) result(seconds)
    type(cost_t), intent(in) :: cost
    real(dp), intent(in) :: every
    real(dp) :: each
    each = ForecastCommit(cost, every)
    seconds = cost%commit*each/max(every + each, tiny(each))
  end function ForecastWait

  !> Seconds of a run whose shots have their workers so long; `commit`: of rank 0, each. 0 workers: one process does all.
  pure real(dp) function ForecastRun(shot, commit, workers) result(seconds)
    real(dp), intent(in) :: shot(:)
    real(dp), intent(in) :: commit
    integer, intent(in) :: workers
    real(dp) :: free(max(1, workers)), written
    integer :: i, w
    free = 0
    written = 0
    seconds = sum(shot) + size(shot)*commit
    if (workers == 0 .or. size(shot) == 0) return
    seconds = max(sum(shot)/workers, maxval(shot), size(shot)*commit)
    if (real(size(shot), dp)*workers > MANY) return
    do i = 1, size(shot)
      w = i
      if (i > workers) w = minloc(free, 1)
      free(w) = free(w) + shot(i)
      written = max(written, free(w)) + commit
    end do
    seconds = max(maxval(free), written)
  end function ForecastRun

end module forecast_m
