!> Numbers that MPI takes from a GPU's memory and brings to another's, without the host: where it says at run time that it can, as
!> Open MPI does by an extension. An MPI that has no word on it is not asked to.
module gpu_messages_m
  use device_c, only: device_room, device_room_free
  use iso_c_binding, only: c_associated, c_char, c_f_procpointer, c_funptr, c_int, c_null_char, c_null_ptr, c_ptr
  use kinds_m, only: i8
  implicit none
  private
  public :: GpuRoom, GpuRoomFree

  interface
    !> The library's: address of a procedure of any library of this process, null if none has it. library: null.
    type(c_funptr) function dlsym(library, name) bind(c)
      import :: c_char, c_funptr, c_ptr
      implicit none
      type(c_ptr), value :: library
      character(kind=c_char), intent(in) :: name(*)
    end function dlsym
  end interface

  abstract interface
    integer(c_int) function query_i() bind(c)
      import :: c_int
    end function query_i
  end interface

contains

  !> MPI takes memory of GPUs.
  logical function GpuMessages() result(can)
    procedure(query_i), pointer :: query
    type(c_funptr) :: at
    at = dlsym(c_null_ptr, 'MPIX_Query_cuda_support'//c_null_char)
    can = c_associated(at)
    if (.not. can) return
    call c_f_procpointer(at, query)
    can = query() == 1
  end function GpuMessages

  !> Memory of the GPU in use; null where MPI takes none, or there is none.
  type(c_ptr) function GpuRoom(bytes) result(room)
    integer(i8), intent(in) :: bytes
    room = c_null_ptr
    if (bytes == 0) return
    if (.not. GpuMessages()) return
    if (device_room(bytes, room) /= 0) room = c_null_ptr
  end function GpuRoom

  subroutine GpuRoomFree(room)
    type(c_ptr), intent(inout) :: room
    if (c_associated(room)) call device_room_free(room)
    room = c_null_ptr
  end subroutine GpuRoomFree

end module gpu_messages_m
