!> Windows are made for workers in turns: each once, a worker's own in their order, and nobody waits for two of another worker.
program t427_window_turns
  use check_m, only: Claim, Done, Seed
  use protocol_m, only: message_t
  use text_m, only: Str
  use windowqueue_m, only: windowqueue_t, WindowQueueAdd, WindowQueueNew, WindowQueueNext
  implicit none

  call AllAtOnce()
  call Random()
  call Done()

contains

  !> One worker asks for 16 windows, then another one for its first.
  subroutine AllAtOnce()
    type(windowqueue_t) :: queue
    type(message_t) :: message
    logical :: there
    integer :: i
    call WindowQueueNew(queue, 2)
    do i = 1, 16
      call Ask(queue, 1, i)
    end do
    call WindowQueueNext(queue, message, there)
    call Claim(there .and. message%from == 1, 'worker 1 asks first and is served first')
    call Ask(queue, 2, 1)
    call WindowQueueNext(queue, message, there)
    call Claim(there .and. message%from == 2, 'worker 2, which asks then, waits for none of the 15 others of worker 1')
  end subroutine AllAtOnce

  !> Workers ask at random, windows are made at random.
  subroutine Random()
    integer, parameter :: WORKERS = 7, MESSAGES = 5000
    type(windowqueue_t) :: queue
    type(message_t) :: message
    integer :: asked(WORKERS), made(WORKERS), others(WORKERS, WORKERS), w, n, worst
    logical :: there, in_order, none_lost
    real :: chance(2)
    call Seed(4270)
    call WindowQueueNew(queue, WORKERS)
    asked = 0
    made = 0
    others = 0                          ! windows made for a worker while another one, that waits, got none
    worst = 0
    in_order = .true.
    none_lost = .true.
    n = 0
    do while (n < MESSAGES .or. sum(made) < n)
      call random_number(chance)
      w = min(WORKERS, 1 + int(WORKERS*chance(2)**2))
      if (n < MESSAGES .and. chance(1) < 0.51) then
        asked(w) = asked(w) + 1
        n = n + 1
        call Ask(queue, w, asked(w))
        cycle
      end if
      call WindowQueueNext(queue, message, there)
      none_lost = none_lost .and. (there .eqv. sum(asked) > sum(made))
      if (.not. there) then
        if (n == MESSAGES) exit
        cycle
      end if
      w = message%from
      made(w) = made(w) + 1
      in_order = in_order .and. message%n(1) == made(w)
      others(:, w) = 0
      where (asked > made) others(w, :) = others(w, :) + 1
      others(w, w) = 0
      where (asked == made) others(w, :) = 0
      worst = max(worst, maxval(others))
    end do
    call Claim(none_lost .and. all(made == asked), Str(MESSAGES)//' messages of '//Str(WORKERS)//' workers: each is served once')
    call Claim(in_order, 'messages of a worker are served in their order')
    call Claim(worst == 1, 'while a worker waits, another one is served '//Str(worst)//' time(s) at most')
  end subroutine Random

  subroutine Ask(queue, worker, number)
    type(windowqueue_t), intent(inout) :: queue
    integer, intent(in) :: worker, number
    type(message_t) :: message
    message%from = worker
    message%n(1) = number
    call WindowQueueAdd(queue, worker, message)
  end subroutine Ask

end program t427_window_turns
