!> What every time loop must offer, whatever the physics and whoever computes it. A physics adds its grid, medium, source and fields
!> (fd2d_engine.f90, fd3d_engine.f90); its engines are written in readable Fortran or stand before a variant in C.
module engine_m
  use error_m, only: error_t, Fail
  use kinds_m, only: i8, sp
  use text_m, only: Str
  implicit none
  private
  public :: engine_t, EngineRoom

  !> An engine in Fortran keeps the samples of its receivers here; one in C has them elsewhere, and `traces` of its own.
  type, abstract :: engine_t
    real(sp), allocatable :: samples(:, :)            !< (nrec, at least `steps`)
    integer :: first = 1, steps = 0                   !< samples of steps first .. first+steps-1 are there
  contains
    procedure(free_i), deferred :: free               !< gives its memory back; twice is harmless
    procedure :: threads => AsManyAsBefore            !< from now on so many threads compute, where CPU cores do
    procedure(timestep_i), deferred :: timestep       !< steps first .. first+n-1; a GPU only queues them
    procedure :: pending => NonePending               !< waits, asleep, until at most `most` calls of timestep are unfinished
    procedure :: traces => KeptTraces                 !< the samples of receivers, steps first ..
    procedure(maxabs_i), deferred :: maxabs           !< largest value and its cell; infinite if any is not a finite number
    procedure(maxabs_i), deferred :: peak             !< the same after the newest finished call of timestep, without waiting
    procedure(reset_i), deferred :: reset             !< all fields zero, traces forgotten
    procedure(state_size_i), deferred :: state_size   !< numbers in the state after so many steps
    procedure(save_i), deferred :: save               !< a copy of all that later steps depend on, and of the traces
    procedure(load_i), deferred :: load               !< the way back: as if steps 1 .. steps had just been done here
    procedure(bytes_i), deferred :: bytes             !< memory held
    procedure(device_i), deferred :: device           !< what computes, for the record
  end type engine_t

  abstract interface
    subroutine free_i(self)
      import :: engine_t
      class(engine_t), intent(inout) :: self
    end subroutine free_i

    subroutine timestep_i(self, first, n, error)
      import :: engine_t, error_t
      class(engine_t), intent(inout) :: self
      integer, intent(in) :: first, n
      type(error_t), allocatable, intent(inout) :: error
    end subroutine timestep_i

    subroutine maxabs_i(self, value, place, error)
      import :: engine_t, error_t, sp
      class(engine_t), intent(inout) :: self
      real(sp), intent(out) :: value
      integer, intent(out) :: place(3)                !< counted from 1; 2D: (x, z, 1)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine maxabs_i

    subroutine reset_i(self, error)
      import :: engine_t, error_t
      class(engine_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine reset_i

    integer(i8) function state_size_i(self, steps)
      import :: engine_t, i8
      class(engine_t), intent(in) :: self
      integer, intent(in) :: steps
    end function state_size_i

    subroutine save_i(self, state, error)
      import :: engine_t, error_t, sp
      class(engine_t), intent(inout) :: self
      real(sp), contiguous, intent(out) :: state(:)   !< (state_size)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine save_i

    subroutine load_i(self, steps, state, error)
      import :: engine_t, error_t, sp
      class(engine_t), intent(inout) :: self
      integer, intent(in) :: steps
      real(sp), contiguous, intent(in) :: state(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine load_i

    integer(i8) function bytes_i(self)
      import :: engine_t, i8
      class(engine_t), intent(in) :: self
    end function bytes_i

    function device_i(self) result(text)
      import :: engine_t
      class(engine_t), intent(in) :: self
      character(:), allocatable :: text
    end function device_i
  end interface

contains

  !> An engine whose threads are those of its grid.
  subroutine AsManyAsBefore(self, number, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: number
    type(error_t), allocatable, intent(inout) :: error
  end subroutine AsManyAsBefore

  !> On CPU cores a call of timestep that has returned is finished.
  subroutine NonePending(self, most, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: most
    type(error_t), allocatable, intent(inout) :: error
  end subroutine NonePending

  subroutine KeptTraces(self, first, out, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: first
    real(sp), contiguous, intent(out) :: out(:, :)    !< (steps, nrec)
    type(error_t), allocatable, intent(inout) :: error
    integer :: n
    n = first - self%first
    if (n < 0 .or. n + size(out, 1) > self%steps) then
      call Fail(error, 'traces of steps '//Str(first)//'..'//Str(first + size(out, 1) - 1)//' asked for, but steps '// &
                Str(self%first)//'..'//Str(self%first + self%steps - 1)//' were computed')
    else
      out = transpose(self%samples(:, n + 1:n + size(out, 1)))
    end if
  end subroutine KeptTraces

  !> Makes room for the samples of so many steps.
  subroutine EngineRoom(self, steps)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: steps
    real(sp), allocatable :: more(:, :)
    if (steps <= size(self%samples, 2)) return
    allocate (more(size(self%samples, 1), max(steps, 3*size(self%samples, 2)/2)))
    more(:, :self%steps) = self%samples(:, :self%steps)
    call move_alloc(more, self%samples)
  end subroutine EngineRoom

end module engine_m
