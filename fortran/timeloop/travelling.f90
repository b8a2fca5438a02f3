!> Messages that travel while an engine computes: MPI moves nothing by itself, so an engine on cores calls MessagesOn now and then.
module travelling_m
  use iso_c_binding, only: c_int
  use partners_m, only: partners_t
  implicit none
  private
  public :: travelling, MessagesOn

  class(partners_t), pointer :: travelling => null()   !< whose messages travel now; one piece is stepped at a time

contains

  !> As the engines' interfaces want it: the result says nothing.
  integer(c_int) function MessagesOn() bind(c, name='messages_on')
    if (associated(travelling)) call travelling%progress()
    MessagesOn = 0
  end function MessagesOn

end module travelling_m
