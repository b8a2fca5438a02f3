!> Whether all ranks were started alike. A launcher takes a program and words for some ranks, others for others; but rank 0's words
!> hold for all.
module same_start_m
  use error_m, only: error_t, Fail
  use barrier_m, only: BroadcastText, LargestInteger
  use roles_m, only: role_t
  use text_m, only: Str
  implicit none
  private
  public :: SameStart

contains

  !> Fails on all ranks where one has another program or version (`identity`) than rank 0; `warning` tells of one with other words.
  !> Collective over all ranks.
  subroutine SameStart(role, identity, words, warning, error)
    type(role_t), intent(in) :: role
    character(*), intent(in) :: identity, words(:)
    character(:), allocatable, intent(out) :: warning
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: first
    integer :: at, odd(2)
    first = identity//new_line('a')//Line(words)
    call BroadcastText(role%world, first)
    at = index(first, new_line('a'))
    odd = merge(role%rank, 0, [first(:at - 1) /= identity, first(at + 1:) /= Line(words)])
    call LargestInteger(role%world, odd(1))
    call LargestInteger(role%world, odd(2))
    warning = ''
    if (odd(1) > 0) then
      call Fail(error, 'rank '//Str(odd(1))//' runs another program, or another version of it, than rank 0, which runs '// &
                first(:at - 1)//': start one and the same on all ranks')
    else if (odd(2) > 0) then
      warning = 'rank '//Str(odd(2))//' was started with other words than rank 0, whose words hold for all ranks: give the '// &
                'same to all'
    end if
  end subroutine SameStart

  function Line(words)
    character(*), intent(in) :: words(:)
    character(:), allocatable :: Line
    integer :: i
    Line = ''
    do i = 1, size(words)
      Line = Line//trim(words(i))//new_line('a')
    end do
  end function Line

end module same_start_m
