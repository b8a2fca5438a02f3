!> Nodes that lose shots again and again. Losing a worker counts against its node at once, unless the shot is known to kill workers;
!> losing a shot counts when another node has modelled that shot: else the shot may be to blame. Pure procedures.
module quarantine_m
  implicit none
  private
  public :: quarantine_t, QuarantineNew, QuarantineDied, QuarantineBack, QuarantineLost, QuarantineDone, QuarantineLosses, &
            QuarantineBad

  integer, parameter :: name_length = 64

  type :: node_t
    character(name_length) :: host = ''
    integer :: losses = 0
  end type node_t

  !> A shot that was lost on a node and is not done yet.
  type :: suspicion_t
    integer :: slot = 0
    character(name_length) :: host = ''
  end type suspicion_t

  type :: quarantine_t
    integer :: most = 0                       !< losses after which a node is bad, 0 = never
    type(node_t), allocatable :: node(:)
    type(suspicion_t), allocatable :: suspicion(:)
  end type quarantine_t

contains

  pure subroutine QuarantineNew(q, most)
    type(quarantine_t), intent(out) :: q
    integer, intent(in) :: most
    q%most = most
    allocate (q%node(0), q%suspicion(0))
  end subroutine QuarantineNew

  !> A worker on `host` is lost.
  pure subroutine QuarantineDied(q, host)
    type(quarantine_t), intent(inout) :: q
    character(*), intent(in) :: host
    call Add(q, host, 1)
  end subroutine QuarantineDied

  !> A worker on `host` that was taken for lost came back.
  pure subroutine QuarantineBack(q, host)
    type(quarantine_t), intent(inout) :: q
    character(*), intent(in) :: host
    call Add(q, host, -1)
  end subroutine QuarantineBack

  !> A worker on `host` could not model a shot.
  pure subroutine QuarantineLost(q, slot, host)
    type(quarantine_t), intent(inout) :: q
    integer, intent(in) :: slot
    character(*), intent(in) :: host
    if (any(q%suspicion%slot == slot .and. q%suspicion%host == host)) return
    q%suspicion = [q%suspicion, suspicion_t(slot, host)]
  end subroutine QuarantineLost

  !> A worker on `host` modelled a shot.
  pure subroutine QuarantineDone(q, slot, host)
    type(quarantine_t), intent(inout) :: q
    integer, intent(in) :: slot
    character(*), intent(in) :: host
    integer :: i
    if (size(q%suspicion) == 0) return
    do i = 1, size(q%suspicion)
      if (q%suspicion(i)%slot == slot .and. q%suspicion(i)%host /= host) call Add(q, q%suspicion(i)%host, 1)
    end do
    q%suspicion = pack(q%suspicion, q%suspicion%slot /= slot)
  end subroutine QuarantineDone

  pure subroutine Add(q, host, n)
    type(quarantine_t), intent(inout) :: q
    character(*), intent(in) :: host
    integer, intent(in) :: n
    integer :: i
    i = findloc(q%node%host == host, .true., 1)
    if (i == 0) then
      q%node = [q%node, node_t(host, 0)]
      i = size(q%node)
    end if
    q%node(i)%losses = max(0, q%node(i)%losses + n)
  end subroutine Add

  pure integer function QuarantineLosses(q, host) result(n)
    type(quarantine_t), intent(in) :: q
    character(*), intent(in) :: host
    n = sum(q%node%losses, mask=q%node%host == host)
  end function QuarantineLosses

  pure logical function QuarantineBad(q, host) result(bad)
    type(quarantine_t), intent(in) :: q
    character(*), intent(in) :: host
    bad = q%most > 0 .and. QuarantineLosses(q, host) >= q%most
  end function QuarantineBad

end module quarantine_m
