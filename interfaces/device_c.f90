!> The GPUs of this process: how many, which, how much memory. A build without CUDA has none and says why.
!>
!> Procedures that return integer(c_int) return 0, or 1 with a sentence in err_message, unless stated otherwise.
module device_c
  use iso_c_binding, only: c_char, c_int, c_long, c_ptr
  implicit none
  private
  public :: device_count, device_why, device_use, device_name, device_id, device_memory
  public :: device_room, device_room_free

  interface
    !> Number of GPUs this process can use (CUDA_VISIBLE_DEVICES respected); 0 without CUDA, driver or GPU. Never fails.
    integer(c_int) function device_count() bind(c)
      import :: c_int
      implicit none
    end function device_count

    !> The reason why device_count is 0, as a null-terminated sentence of at most `length` characters; empty if it is not.
    integer(c_int) function device_why(length, text) bind(c)
      import :: c_int, c_char
      implicit none
      integer(c_int), value :: length
      character(kind=c_char), intent(out) :: text(*)
    end function device_why

    !> This process computes on GPU n = 0..device_count-1 from now on; waiting for it sleeps instead of spinning.
    integer(c_int) function device_use(n) bind(c)
      import :: c_int
      implicit none
      integer(c_int), value :: n
    end function device_use

    !> Name of GPU n, e.g. "NVIDIA H200".
    integer(c_int) function device_name(n, length, text) bind(c)
      import :: c_int, c_char
      implicit none
      integer(c_int), value :: n, length
      character(kind=c_char), intent(out) :: text(*)
    end function device_name

    !> PCI address and UUID of GPU n: a card, or a part of one that is a GPU of its own (MIG), has the same ones in every process of
    !> a node, whatever its number there; parts of a card have its address, and their own UUID. Less than 64 characters.
    integer(c_int) function device_id(n, length, text) bind(c)
      import :: c_int, c_char
      implicit none
      integer(c_int), value :: n, length
      character(kind=c_char), intent(out) :: text(*)
    end function device_id

    !> Memory of GPU n [bytes]: free now, and all.
    integer(c_int) function device_memory(n, free, total) bind(c)
      import :: c_int, c_long
      implicit none
      integer(c_int), value :: n
      integer(c_long), intent(out) :: free, total
    end function device_memory

    !> Zeroed memory on the GPU in use, which only kernels and MPI read and write (ranks/gpu_messages.f90).
    integer(c_int) function device_room(bytes, room) bind(c)
      import :: c_int, c_long, c_ptr
      implicit none
      integer(c_long), value :: bytes
      type(c_ptr), intent(out) :: room
    end function device_room

    !> Gives it back; a null one is harmless.
    subroutine device_room_free(room) bind(c)
      import :: c_ptr
      implicit none
      type(c_ptr), intent(inout) :: room
    end subroutine device_room_free
  end interface
end module device_c
