!> The one way a Fortran procedure fails: an allocatable error, last argument, looked at by the caller.
!>
!>     call KeymapRead(keymap, path, error)
!>     if (allocated(error)) return
module error_m
  use iso_c_binding, only: c_ptr, c_char, c_f_pointer, c_associated
  use err_c, only: err_message, err_message_length
  implicit none
  private
  public :: error_t, Fail, FailFromC, AddContext

  !> One sentence with the value, the limit and what to do.
  type :: error_t
    character(:), allocatable :: message
    logical :: device = .false.               !< a GPU failed; what it was to do may go well elsewhere
    logical :: followed = .false.             !< it comes of the failure of another rank of the group
    logical :: absent = .false.               !< files that were read before cannot be read now: they may come back
    logical :: agreed = .false.               !< all ranks of the group have it
  end type error_t

contains

  !> Sets `error`, unless an earlier one is already there: the first cause is the one to tell.
  pure subroutine Fail(error, message)
    type(error_t), allocatable, intent(inout) :: error
    character(*), intent(in) :: message
    if (allocated(error)) return
    allocate (error)
    error%message = message
  end subroutine Fail

  !> Turns a failing return code of a C procedure (anything but 0) into `error`.
  subroutine FailFromC(rc, error)
    integer, intent(in) :: rc
    type(error_t), allocatable, intent(inout) :: error
    if (rc /= 0) call Fail(error, MessageFromC())
  end subroutine FailFromC

  !> Puts "what was being done: " before the sentence of an error that passes by.
  pure subroutine AddContext(error, context)
    type(error_t), allocatable, intent(inout) :: error
    character(*), intent(in) :: context
    if (allocated(error)) error%message = context//': '//error%message
  end subroutine AddContext

  function MessageFromC() result(text)
    character(:), allocatable :: text
    character(kind=c_char), pointer :: chars(:)
    type(c_ptr) :: p
    integer :: i, n
    n = err_message_length()
    p = err_message()
    allocate (character(n) :: text)
    if (n == 0 .or. .not. c_associated(p)) return
    call c_f_pointer(p, chars, [n])
    do i = 1, n
      text(i:i) = chars(i)
    end do
  end function MessageFromC

end module error_m
