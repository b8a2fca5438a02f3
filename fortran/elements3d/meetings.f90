!> The elements that meet at each node.
module meetings_m
  use elements_m, only: elements_t
  implicit none
  private
  public :: meetings_t, MeetingsMake

  !> Those at a node are list(start(node)) .. list(start(node+1)-1), rising.
  type :: meetings_t
    integer, allocatable :: start(:), list(:)
  end type meetings_t

contains

  pure subroutine MeetingsMake(elements, meetings)
    type(elements_t), intent(in) :: elements
    type(meetings_t), intent(out) :: meetings
    integer :: e, c
    associate (most => maxval(elements%node))
      allocate (meetings%start(most + 2), source=0)
      do e = 1, elements%n
        do c = 1, 8
          associate (count => meetings%start(elements%node(c, e) + 2))
            count = count + 1
          end associate
        end do
      end do
      meetings%start(1) = 1
      do c = 2, most + 2
        meetings%start(c) = meetings%start(c) + meetings%start(c - 1)
      end do
      allocate (meetings%list(8*elements%n))
      do e = 1, elements%n
        do c = 1, 8
          associate (next => meetings%start(elements%node(c, e) + 1))
            meetings%list(next) = e
            next = next + 1
          end associate
        end do
      end do
    end associate
  end subroutine MeetingsMake

end module meetings_m
