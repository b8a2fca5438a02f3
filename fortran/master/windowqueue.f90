!> Windows of the model that workers asked for and have not got. The master makes one at a time, while no other message waits, and
!> workers take turns: one that models many shots asks for several at once, and must not keep another GPU waiting for its first.
module windowqueue_m
  use protocol_m, only: message_t
  implicit none
  private
  public :: windowqueue_t, WindowQueueNew, WindowQueueAdd, WindowQueueNext

  type :: windowqueue_t
    private
    type(message_t), allocatable :: message(:)   !< requests, the oldest first
    integer, allocatable :: worker(:)           !< who sent each of them
    integer, allocatable :: turn(:)             !< number of a worker's latest window, 0 = it had none, (workers)
    integer :: turns = 0                        !< windows given out so far
  end type windowqueue_t

contains

  pure subroutine WindowQueueNew(queue, nworkers)
    type(windowqueue_t), intent(inout) :: queue
    integer, intent(in) :: nworkers
    allocate (queue%message(0), queue%worker(0))
    allocate (queue%turn(nworkers), source=0)
  end subroutine WindowQueueNew

  !> A worker (1 .. nworkers) asks for a window.
  pure subroutine WindowQueueAdd(queue, worker, message)
    type(windowqueue_t), intent(inout) :: queue
    integer, intent(in) :: worker
    type(message_t), intent(in) :: message
    queue%message = [queue%message, message]
    queue%worker = [queue%worker, worker]
  end subroutine WindowQueueAdd

  !> The oldest message of the worker that has been without a window for longest; false if none waits.
  pure subroutine WindowQueueNext(queue, message, there)
    type(windowqueue_t), intent(inout) :: queue
    type(message_t), intent(inout) :: message
    logical, intent(out) :: there
    integer :: i
    there = size(queue%worker) > 0
    if (.not. there) return
    i = minloc(queue%turn(queue%worker), 1)
    message = queue%message(i)
    queue%turns = queue%turns + 1
    queue%turn(queue%worker(i)) = queue%turns
    queue%message = [queue%message(:i - 1), queue%message(i + 1:)]
    queue%worker = [queue%worker(:i - 1), queue%worker(i + 1:)]
  end subroutine WindowQueueNext

end module windowqueue_m
