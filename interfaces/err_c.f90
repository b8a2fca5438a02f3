!> Failures of C procedures: they return 1 (or a null handle) and leave one sentence here.
module err_c
  use iso_c_binding, only: c_ptr, c_int
  implicit none
  private
  public :: err_message, err_message_length

  interface
    !> The sentence of the last failure in this process; valid until the next failure.
    type(c_ptr) function err_message() bind(c)
      import :: c_ptr
      implicit none
    end function err_message

    integer(c_int) function err_message_length() bind(c)
      import :: c_int
      implicit none
    end function err_message_length
  end interface
end module err_c
