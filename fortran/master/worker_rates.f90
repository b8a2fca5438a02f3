!> The rate of each worker, in cell updates a second, so that shots of different windows compare.
!>
!> A worker may model several shots at once; its rate is that of all together, from the deal to the traces on disk.
module worker_rates_m
  use kinds_m, only: dp
  implicit none
  private
  public :: rates_t, RatesNew, RatesKind, RatesTake, RatesMean, RatesHint, RatesTrial, RatesAll, RatesPresumed

  real(dp), parameter :: NEWEST = 0.25_dp     !< weight of the newest shot: a rate follows a worker that slows down
  real(dp), parameter :: GPU_GAIN = 1000      !< a GPU not measured yet is presumed so much faster than a CPU rank: worth a try

  real(dp), parameter :: NO_UNIT = 1.0e-20_dp

  type :: rates_t
    integer, allocatable :: shots(:)          !< measured so far, (workers)
    real(dp), allocatable :: pace(:)          !< seconds an update, averaged over these shots, (workers)
    real(dp), allocatable :: hint(:)          !< updates a second in a trial, then in a first shot so far; 0 = none, (workers)
    logical, allocatable :: gpu(:)            !< it computes on a GPU, (workers)
    integer, allocatable :: threads(:)        !< CPU threads it computes with, (workers)
  end type rates_t

contains

  pure subroutine RatesNew(rates, nworkers)
    type(rates_t), intent(out) :: rates
    integer, intent(in) :: nworkers
    allocate (rates%shots(nworkers), source=0)
    allocate (rates%pace(nworkers), source=0.0_dp)
    allocate (rates%hint(nworkers), source=0.0_dp)
    allocate (rates%gpu(nworkers), source=.false.)
    allocate (rates%threads(nworkers), source=1)
  end subroutine RatesNew

  !> Sets the device and threads of a worker. One that changed (its GPU failed and it goes on with the CPU) is measured anew:
  !> `changed`.
  pure subroutine RatesKind(rates, worker, gpu, threads, changed)
    type(rates_t), intent(inout) :: rates
    integer, intent(in) :: worker, threads
    logical, intent(in) :: gpu
    logical, intent(out) :: changed
    changed = (rates%gpu(worker) .neqv. gpu) .or. rates%threads(worker) /= max(1, threads)
    if (.not. changed) return
    rates%gpu(worker) = gpu
    rates%threads(worker) = max(1, threads)
    rates%shots(worker) = 0
    rates%hint(worker) = 0
  end subroutine RatesKind

  !> A worker took `seconds` for `cost` updates.
  pure subroutine RatesTake(rates, worker, cost, seconds)
    type(rates_t), intent(inout) :: rates
    integer, intent(in) :: worker
    real(dp), intent(in) :: cost, seconds
    real(dp) :: weight, pace
    pace = max(seconds, 1.0e-9_dp)/max(cost, 1.0_dp)
    rates%shots(worker) = rates%shots(worker) + 1
    weight = max(NEWEST, 1.0_dp/rates%shots(worker))
    rates%pace(worker) = (1 - weight)*rates%pace(worker) + weight*pace
  end subroutine RatesTake

  !> A worker with several shots at once has finished another; together it did `work` updates in `seconds` of late.
  pure subroutine RatesMean(rates, worker, work, seconds)
    type(rates_t), intent(inout) :: rates
    integer, intent(in) :: worker
    real(dp), intent(in) :: work, seconds
    rates%shots(worker) = rates%shots(worker) + 1
    rates%pace(worker) = max(seconds, 1.0e-9_dp)/max(work, 1.0_dp)
  end subroutine RatesMean

  !> A worker has done `cost` updates while a shot that is not finished went on for `seconds`: counts until a whole one is measured.
  pure subroutine RatesHint(rates, worker, cost, seconds)
    type(rates_t), intent(inout) :: rates
    integer, intent(in) :: worker
    real(dp), intent(in) :: cost, seconds
    rates%hint(worker) = cost/max(seconds, 1.0e-9_dp)
  end subroutine RatesHint

  !> Updates a second that a worker found in a trial of a few steps: counts until a shot tells more. 0 = it made none.
  pure subroutine RatesTrial(rates, worker, rate)
    type(rates_t), intent(inout) :: rates
    integer, intent(in) :: worker
    real(dp), intent(in) :: rate
    if (rate > 0 .and. rates%shots(worker) == 0 .and. .not. rates%hint(worker) > 0) rates%hint(worker) = rate
  end subroutine RatesTrial

  !> Updates a second of each worker, (workers): its own measured rate, else the mean of its kind (of CPU ranks that of
  !> a thread), else, for a GPU, a presumed one, unless `presume` is false. 0 = nothing is known.
  pure function RatesAll(rates, presume) result(rate)
    type(rates_t), intent(in) :: rates
    logical, intent(in), optional :: presume
    real(dp) :: rate(size(rates%pace))
    real(dp) :: gpu, thread
    logical :: may
    may = .true.
    if (present(presume)) may = presume
    rate = rates%hint
    where (rates%shots > 0) rate = 1/max(rates%pace, tiny(1.0_dp))
    gpu = sum(rate, mask=rates%gpu)/max(1, count(rates%gpu .and. rate > 0))
    thread = sum(rate/rates%threads, mask=.not. rates%gpu)/max(1, count(.not. rates%gpu .and. rate > 0))
    if (may .and. .not. gpu > 0) gpu = GPU_GAIN*maxval([0.0_dp, pack(rate, .not. rates%gpu)])
    where (.not. rate > 0) rate = merge(gpu, thread*rates%threads, rates%gpu)
  end function RatesAll

  !> Relative rates as long as none is measured, (workers): all GPUs are alike, and so are all threads. They have no unit and are so
  !> small that seconds that pass meanwhile do not count.
  pure function RatesPresumed(rates) result(rate)
    type(rates_t), intent(in) :: rates
    real(dp) :: rate(size(rates%pace))
    rate = NO_UNIT*merge(GPU_GAIN, real(rates%threads, dp), rates%gpu)
  end function RatesPresumed

end module worker_rates_m
