!> Engines that only queue their steps, as a GPU does, without a GPU: they are done, as the readable Fortran does them, when somebody
!> waits, or asks for a field. Traces, maps and states are of what is done: a solver that does not wait first gets too little.
module queued_m
  use error_m, only: error_t
  use fd2d_fortran_m, only: fd2d_fortran_t
  use fd3d_fortran_m, only: fd3d_fortran_t
  use kinds_m, only: sp
  implicit none
  private
  public :: book_t, queue2d_t, queue3d_t

  !> Steps asked for, and those done of them.
  type :: book_t
    integer :: first(2000) = 0, n(2000) = 0       !< calls of timestep
    integer :: calls = 0, done = 0                !< so many were made; so many are finished
    integer :: most = 0                           !< so many were unfinished at once
    integer :: waits = 0                          !< times that somebody waited for all but one
  end type book_t

  type, extends(fd2d_fortran_t) :: queue2d_t
    type(book_t) :: book
  contains
    procedure :: timestep => Queue2d, pending => Wait2d, field => Field2d, maxabs => Maxabs2d, reset => Reset2d
  end type queue2d_t

  type, extends(fd3d_fortran_t) :: queue3d_t
    type(book_t) :: book
  contains
    procedure :: timestep => Queue3d, pending => Wait3d, slice => Slice3d, reset => Reset3d
  end type queue3d_t

contains

  subroutine Note(book, first, n)
    type(book_t), intent(inout) :: book
    integer, intent(in) :: first, n
    book%calls = book%calls + 1
    book%first(book%calls) = first
    book%n(book%calls) = n
    book%most = max(book%most, book%calls - book%done)
  end subroutine Note

  ! --- 2D -----------------------------------------------------------------------------------------------------------

  subroutine Queue2d(self, first, n, error)
    class(queue2d_t), intent(inout) :: self
    integer, intent(in) :: first, n
    type(error_t), allocatable, intent(inout) :: error
    call Note(self%book, first, n)
  end subroutine Queue2d

  subroutine Wait2d(self, most, error)
    class(queue2d_t), intent(inout) :: self
    integer, intent(in) :: most
    type(error_t), allocatable, intent(inout) :: error
    if (most == 1) self%book%waits = self%book%waits + 1
    do while (self%book%calls - self%book%done > most)
      self%book%done = self%book%done + 1
      call self%fd2d_fortran_t%timestep(self%book%first(self%book%done), self%book%n(self%book%done), error)
    end do
  end subroutine Wait2d

  subroutine Field2d(self, which, out, error)
    class(queue2d_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call self%pending(0, error)
    call self%fd2d_fortran_t%field(which, out, error)
  end subroutine Field2d

  subroutine Maxabs2d(self, value, place, error)
    class(queue2d_t), intent(inout) :: self
    real(sp), intent(out) :: value
    integer, intent(out) :: place(3)
    type(error_t), allocatable, intent(inout) :: error
    call self%pending(0, error)
    call self%fd2d_fortran_t%maxabs(value, place, error)
  end subroutine Maxabs2d

  subroutine Reset2d(self, error)
    class(queue2d_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    self%book = book_t()
    call self%fd2d_fortran_t%reset(error)
  end subroutine Reset2d

  ! --- 3D -----------------------------------------------------------------------------------------------------------

  subroutine Queue3d(self, first, n, error)
    class(queue3d_t), intent(inout) :: self
    integer, intent(in) :: first, n
    type(error_t), allocatable, intent(inout) :: error
    call Note(self%book, first, n)
  end subroutine Queue3d

  subroutine Wait3d(self, most, error)
    class(queue3d_t), intent(inout) :: self
    integer, intent(in) :: most
    type(error_t), allocatable, intent(inout) :: error
    if (most == 1) self%book%waits = self%book%waits + 1
    do while (self%book%calls - self%book%done > most)
      self%book%done = self%book%done + 1
      call self%fd3d_fortran_t%timestep(self%book%first(self%book%done), self%book%n(self%book%done), error)
    end do
  end subroutine Wait3d

  subroutine Slice3d(self, which, axis, index, out, error)
    class(queue3d_t), intent(inout) :: self
    integer, intent(in) :: which, axis, index
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call self%pending(0, error)
    call self%fd3d_fortran_t%slice(which, axis, index, out, error)
  end subroutine Slice3d

  subroutine Reset3d(self, error)
    class(queue3d_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    self%book = book_t()
    call self%fd3d_fortran_t%reset(error)
  end subroutine Reset3d

end module queued_m
