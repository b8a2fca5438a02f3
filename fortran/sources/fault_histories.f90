!> The histories of a fault as the leap-frog scheme must be given them, so that its time dispersion cancels
!> (time_dispersion.f90): each by itself, at the time steps at which it acts.
module fault_histories_m
  use checked_m, only: Whole
  use finite_fault_m, only: finite_fault_t
  use kinds_m, only: dp, i8, sp
  use time_dispersion_m, only: TimedispHistory
  implicit none
  private
  public :: fault_histories_t, FaultHistoriesMake, FaultHistoriesSample

  !> Point i acts at steps first(i), first(i)+1, ...: q(start(i) : start(i+1)-1).
  type :: fault_histories_t
    integer, allocatable :: first(:)
    integer(i8), allocatable :: start(:)       !< of many points and steps
    real(sp), allocatable :: q(:)              !< [1/s]
  end type fault_histories_t

  type :: piece_t
    real(sp), allocatable :: q(:)
  end type piece_t

contains

  !> fband: beyond it histories are left out [Hz]; steps are centred at t_start + (n-1/2) dt [s].
  subroutine FaultHistoriesMake(fault, t_start, dt, fband, threads, turned)
    type(finite_fault_t), intent(in) :: fault
    real(dp), intent(in) :: t_start, dt, fband
    integer, intent(in) :: threads
    type(fault_histories_t), intent(out) :: turned
    type(piece_t), allocatable :: piece(:)
    integer :: i
    allocate (piece(fault%n), turned%first(fault%n), turned%start(fault%n + 1))
    !$omp parallel do schedule(dynamic) num_threads(threads)
    do i = 1, fault%n
      associate (samples => fault%rate(fault%start(i):fault%start(i + 1) - 1))
        call TimedispHistory(samples, fault%t0(i), fault%dt(i), t_start, dt, fband, turned%first(i), piece(i)%q)
      end associate
    end do
    !$omp end parallel do
    turned%start(1) = 1
    do i = 1, fault%n
      turned%start(i + 1) = turned%start(i) + size(piece(i)%q, kind=i8)
    end do
    allocate (turned%q(turned%start(fault%n + 1) - 1))
    do i = 1, fault%n
      turned%q(turned%start(i):turned%start(i + 1) - 1) = piece(i)%q
      deallocate (piece(i)%q)
    end do
  end subroutine FaultHistoriesMake

  !> q(n, steps): all histories at steps `first`, first+1, ...
  pure subroutine FaultHistoriesSample(turned, first, q)
    type(fault_histories_t), intent(in) :: turned
    integer, intent(in) :: first
    real(sp), intent(out) :: q(:, :)
    integer(i8) :: at, most
    integer :: i, s
    q = 0
    do i = 1, size(q, 1)
      most = turned%first(i) - first + turned%start(i + 1) - turned%start(i)
      do s = max(1, turned%first(i) - first + 1), Whole(most, 0, size(q, 2))
        at = turned%start(i) + first + s - 1 - turned%first(i)
        q(i, s) = turned%q(at)
      end do
    end do
  end subroutine FaultHistoriesSample

end module fault_histories_m
