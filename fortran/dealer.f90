!> Which shot goes next: the states of the shots and how often each was tried.
module dealer_m
  implicit none
  private
  public :: dealer_t, DealerNew, DealerNext, DealerDone, DealerLost, DealerIdle, DealerParked

  type :: dealer_t
    logical, allocatable :: finished(:)         !< done or parked, (slots)
    logical, allocatable :: flying(:)           !< with a worker, (slots)
    integer, allocatable :: attempts(:)         !< how often lost, (slots)
    integer, allocatable :: again(:)            !< lost shots to be dealt again, oldest first
    integer :: next = 1                         !< first slot never dealt
    integer :: left = 0                         !< shots neither done nor parked
    integer :: parked = 0
    integer :: retries = 0
  end type dealer_t

contains

  !> All shots not `done` are to be dealt, each at most 1 + `retries` times.
  subroutine DealerNew(dealer, done, retries)
    type(dealer_t), intent(out) :: dealer
    logical, intent(in) :: done(:)
    integer, intent(in) :: retries
    dealer%finished = done
    allocate (dealer%flying(size(done)), source=.false.)
    allocate (dealer%attempts(size(done)), source=0)
    allocate (dealer%again(0))
    dealer%left = count(.not. done)
    dealer%retries = retries
  end subroutine DealerNew

  !> The slot to model next, 0 if there is none now. Fresh shots go before lost ones.
  integer function DealerNext(dealer) result(slot)
    type(dealer_t), intent(inout) :: dealer
    slot = 0
    do while (dealer%next <= size(dealer%finished))
      if (.not. dealer%finished(dealer%next)) exit
      dealer%next = dealer%next + 1
    end do
    if (dealer%next <= size(dealer%finished)) then
      slot = dealer%next
      dealer%next = dealer%next + 1
    else if (size(dealer%again) > 0) then
      slot = dealer%again(1)
      dealer%again = dealer%again(2:)
    end if
    if (slot > 0) dealer%flying(slot) = .true.
  end function DealerNext

  subroutine DealerDone(dealer, slot)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: slot
    if (.not. dealer%finished(slot)) dealer%left = dealer%left - 1
    dealer%finished(slot) = .true.
    dealer%flying(slot) = .false.
  end subroutine DealerDone

  !> Takes a shot back. `innocent` losses (the I/O server's own) do not count as attempts. `parked` if it was the last one.
  subroutine DealerLost(dealer, slot, innocent, parked)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: slot
    logical, intent(in) :: innocent
    logical, intent(out) :: parked
    parked = .false.
    dealer%flying(slot) = .false.
    if (.not. innocent) dealer%attempts(slot) = dealer%attempts(slot) + 1
    if (dealer%attempts(slot) > dealer%retries) then
      parked = .true.
      dealer%parked = dealer%parked + 1
      dealer%left = dealer%left - 1
      dealer%finished(slot) = .true.
    else
      dealer%again = [dealer%again, slot]
    end if
  end subroutine DealerLost

  !> Nothing is left to deal and nothing is with a worker.
  pure logical function DealerIdle(dealer) result(idle)
    type(dealer_t), intent(in) :: dealer
    idle = dealer%left == 0
  end function DealerIdle

  !> The slot was lost too often and is not dealt again in this run.
  pure logical function DealerParked(dealer, slot) result(parked)
    type(dealer_t), intent(in) :: dealer
    integer, intent(in) :: slot
    parked = dealer%attempts(slot) > dealer%retries
  end function DealerParked

end module dealer_m
