!> Assignment of a node's GPUs to its ranks.
module gpu_assignment_m
  implicit none
  private
  public :: GpusAssign, GpusNumber, id_length

  integer, parameter :: id_length = 64

contains

  !> chosen(r): which of the GPUs that rank r sees it takes, counted from 1; 0 = none, it computes on CPU cores. Ranks in order.
  !> worker(r): it computes; the first gpn*per_gpu of these take GPUs. seen(r): GPUs that rank r sees; id(:, r): their addresses,
  !> the same for the same card whatever its number in a process. gpn: GPUs of the node used at most. per_gpu: ranks that may
  !> share one. Ranks that see one GPU only, as some schedulers have it, choose first.
  pure subroutine GpusAssign(worker, seen, id, gpn, per_gpu, chosen)
    logical, intent(in) :: worker(:)
    integer, intent(in) :: seen(:), gpn, per_gpu
    character(id_length), intent(in) :: id(:, :)
    integer, intent(out) :: chosen(:)
    character(id_length) :: taken(size(worker))
    logical :: candidate(size(worker))
    integer :: r, pass
    chosen = 0
    taken = ''
    candidate = .false.
    do r = 1, size(worker)
      candidate(r) = worker(r) .and. count(worker(:r)) <= gpn*per_gpu
    end do
    do pass = 1, 2
      do r = 1, size(worker)
        if (.not. candidate(r) .or. chosen(r) > 0 .or. seen(r) == 0 .or. (pass == 1 .and. seen(r) > 1)) cycle
        chosen(r) = Best(id(:seen(r), r), taken, gpn, per_gpu)
        if (chosen(r) > 0) taken(r) = id(chosen(r), r)
      end do
    end do
  end subroutine GpusAssign

  !> The GPU with the fewest ranks on it that has room for one more; 0 = none. No more than `gpn` different ones are begun.
  pure integer function Best(id, taken, gpn, per_gpu)
    character(id_length), intent(in) :: id(:), taken(:)
    integer, intent(in) :: gpn, per_gpu
    integer :: d, users, fewest
    Best = 0
    fewest = per_gpu
    do d = 1, size(id)
      users = count(taken == id(d))
      if (users == 0 .and. Different(taken) >= gpn) cycle
      if (users >= fewest) cycle
      fewest = users
      Best = d
    end do
  end function Best

  !> The number of different addresses, blanks left out.
  pure integer function Different(id) result(n)
    character(id_length), intent(in) :: id(:)
    integer :: i
    n = 0
    do i = 1, size(id)
      if (id(i) /= '' .and. .not. any(id(:i - 1) == id(i))) n = n + 1
    end do
  end function Different

  !> Number of a card on its node, from 0: its place among all addresses that ranks of the node see, in order.
  pure integer function GpusNumber(seen, id, mine) result(number)
    integer, intent(in) :: seen(:)
    character(id_length), intent(in) :: id(:, :), mine
    character(id_length) :: lower(size(id))
    integer :: r, d, n
    n = 0
    do r = 1, size(seen)
      do d = 1, seen(r)
        if (.not. id(d, r) < mine) cycle
        n = n + 1
        lower(n) = id(d, r)
      end do
    end do
    number = Different(lower(:n))
  end function GpusNumber

end module gpu_assignment_m
