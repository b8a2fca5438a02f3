!> Sums that receivers sample and that several partners have parts of (receiver_sum.f90): these come to the first partner, who adds
!> them, so that each has the bits of a sum that one rank makes.
module shared_sums_m
  use error_m, only: error_t
  use kinds_m, only: dp, i8, sp
  use partners_m, only: partners_t
  use receiver_sum_m, only: receiver_scale, receiver_sum_t, ReceiverAdd, ReceiverPart
  implicit none
  private
  public :: SumsGather

  integer, parameter, public :: header = 3       !< numbers before those of a sum: its number, in two parts, and its part
  integer, parameter :: split = 4096             !< a number in two parts, each of which a float holds

contains

  !> Sums of samples to the first partner: mine(samples, sums) are of the sums `number`; each is of part(:) of them, 0: it is whole
  !> here. all(samples, sums), untouched where no partner has a part.
  subroutine SumsGather(partners, number, part, mine, all, error)
    class(partners_t), intent(inout) :: partners
    integer, intent(in) :: number(:), part(:)
    real(sp), contiguous, intent(in) :: mine(:, :)
    real(sp), intent(inout) :: all(:, :)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: sent(:), got(:)
    integer(i8), allocatable :: count(:)
    integer(i8) :: at
    integer :: p
    allocate (sent, source=Packed(number, part, mine))
    call partners%collect(sent, got, count, error)
    if (allocated(error) .or. partners%mine > 1) return
    at = 0
    do p = 1, size(count)
      call TakeWhole(got(at + 1:at + count(p)), size(mine, 1), all)
      at = at + count(p)
    end do
    call AddParts(got, size(mine, 1), all)
  end subroutine SumsGather

  !> One after the other, each with its header.
  pure function Packed(number, part, mine) result(sent)
    integer, intent(in) :: number(:), part(:)
    real(sp), intent(in) :: mine(:, :)
    real(sp), allocatable :: sent(:)
    integer(i8) :: at, n
    integer :: r
    n = size(mine, 1) + header
    allocate (sent(n*size(number)))
    do r = 1, size(number)
      at = n*(r - 1)
      sent(at + 1:at + header) = real([number(r)/split, modulo(number(r), split), part(r)], sp)
      sent(at + header + 1:at + n) = mine(:, r)
    end do
  end function Packed

  !> Sums that are whole.
  pure subroutine TakeWhole(got, samples, all)
    real(sp), intent(in) :: got(:)
    integer, intent(in) :: samples
    real(sp), intent(inout) :: all(:, :)
    integer(i8) :: at
    do at = 0, size(got, kind=i8) - 1, samples + header
      if (nint(got(at + 3)) == 0) all(:, NumberAt(got, at)) = got(at + header + 1:at + header + samples)
    end do
  end subroutine TakeWhole

  pure integer function NumberAt(got, at) result(number)
    real(sp), intent(in) :: got(:)
    integer(i8), intent(in) :: at
    number = nint(got(at + 1))*split + nint(got(at + 2))
  end function NumberAt

  !> Sums of which pieces have parts, added without error.
  pure subroutine AddParts(got, samples, all)
    real(sp), intent(in) :: got(:)
    integer, intent(in) :: samples
    real(sp), intent(inout) :: all(:, :)
    type(receiver_sum_t), allocatable :: sum(:, :)
    integer :: place(size(all, 2)), number(size(all, 2)), n, s
    integer(i8) :: at
    place = 0
    n = 0
    do at = 0, size(got, kind=i8) - 1, samples + header
      s = NumberAt(got, at)
      if (nint(got(at + 3)) == 0 .or. place(s) > 0) cycle
      n = n + 1
      place(s) = n
      number(n) = s
    end do
    allocate (sum(samples, n))
    do at = 0, size(got, kind=i8) - 1, samples + header
      s = place(NumberAt(got, at))
      if (nint(got(at + 3)) > 0) call ReceiverAdd(sum(:, s), receiver_scale(nint(got(at + 3)))* &
                                                  real(got(at + header + 1:at + header + samples), dp))
    end do
    do s = 1, n
      all(:, number(s)) = ReceiverPart(sum(:, s), 0)
    end do
  end subroutine AddParts

end module shared_sums_m
