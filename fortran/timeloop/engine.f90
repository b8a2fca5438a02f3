!> An engine steps fields through time. Here are the verbs that every engine has; a physics adds those for its grid, medium, source
!> and fields (fd2d_engine.f90, fd3d_engine.f90).
!>
!> An engine in C is a handle: the verbs here call those of C, which the physics names in `c`. An engine in readable Fortran has no
!> handle: it brings all verbs itself except `threads`, `pending` and `traces`, which serve it too.
module engine_m
  use c_verbs_m, only: c_verbs_t
  use error_m, only: error_t, Fail, FailFromC
  use iso_c_binding, only: c_associated, c_char, c_null_char, c_null_ptr, c_ptr
  use kinds_m, only: i8, sp
  use text_m, only: FString, Str
  implicit none
  private
  public :: engine_t, EngineCheck, EngineNumbers, EngineRoom, EngineState

  type, abstract :: engine_t
    character(:), allocatable :: variant              !< of the kernels
    logical :: gpu = .false.                          !< it computes on a GPU
    type(c_ptr) :: handle = c_null_ptr                !< of an engine in C
    type(c_verbs_t) :: c
    real(sp), allocatable :: samples(:, :)            !< of the receivers of an engine in Fortran, (nrec, at least `steps`)
    integer :: first = 1, steps = 0                   !< samples of steps first .. first+steps-1 are there
  contains
    procedure :: free                                 !< gives its memory back; twice is harmless
    procedure :: threads                              !< from now on so many threads compute, where CPU cores do
    procedure :: timestep                             !< steps first .. first+n-1; a GPU only queues them
    procedure :: pending                              !< waits, asleep, until at most `most` calls of timestep are unfinished
    procedure :: traces                               !< the samples of receivers, steps first ..
    procedure :: maxabs                               !< largest value and its cell; infinite if any is not a finite number
    procedure :: peak                                 !< the same after the newest finished call of timestep, without waiting
    procedure :: reset                                !< all fields zero, traces forgotten
    procedure :: state_size                           !< numbers in the state after so many steps
    procedure :: save => save_state                   !< a copy of all that later steps depend on, and of the traces
    procedure :: load                                 !< the way back: as if steps 1 .. steps had just been done here
    procedure :: bytes                                !< memory held
    procedure :: device                               !< what computes, for the record
  end type engine_t

contains

  !> Turns a return code of C into an error that says whether a GPU is to blame.
  subroutine EngineCheck(self, rc, error)
    class(engine_t), intent(in) :: self
    integer, intent(in) :: rc
    type(error_t), allocatable, intent(inout) :: error
    if (rc == 0 .or. allocated(error)) return
    call FailFromC(rc, error)
    error%device = self%gpu
  end subroutine EngineCheck

  subroutine free(self)
    class(engine_t), intent(inout) :: self
    if (c_associated(self%handle)) call self%c%free(self%handle)
    self%handle = c_null_ptr
  end subroutine free

  !> The threads of an engine in Fortran are those of its grid.
  subroutine threads(self, number, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: number
    type(error_t), allocatable, intent(inout) :: error
    if (c_associated(self%handle)) call EngineCheck(self, self%c%threads(self%handle, number), error)
  end subroutine threads

  subroutine timestep(self, first, n, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: first, n
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, self%c%timestep(self%handle, first, n), error)
  end subroutine timestep

  !> In Fortran a call of timestep that has returned is finished.
  subroutine pending(self, most, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: most
    type(error_t), allocatable, intent(inout) :: error
    if (c_associated(self%handle)) call EngineCheck(self, self%c%pending(self%handle, most), error)
  end subroutine pending

  subroutine traces(self, first, out, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: first
    real(sp), contiguous, intent(out) :: out(:, :)    !< (steps, nrec)
    type(error_t), allocatable, intent(inout) :: error
    integer :: n
    n = first - self%first
    if (c_associated(self%handle)) then
      call EngineCheck(self, self%c%traces(self%handle, first, size(out, 1), out), error)
    else if (n < 0 .or. n + size(out, 1) > self%steps) then
      call Fail(error, 'traces of steps '//Str(first)//'..'//Str(first + size(out, 1) - 1)//' asked for, but steps '// &
                Str(self%first)//'..'//Str(self%first + self%steps - 1)//' were computed')
    else
      out = transpose(self%samples(:, n + 1:n + size(out, 1)))
    end if
  end subroutine traces

  subroutine maxabs(self, value, place, error)
    class(engine_t), intent(inout) :: self
    real(sp), intent(out) :: value
    integer, intent(out) :: place(3)                  !< counted from 1; 2D: (x, z, 1)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, self%c%maxabs(self%handle, value, place(1), place(2), place(3)), error)
    place = place + 1
  end subroutine maxabs

  subroutine peak(self, value, place, error)
    class(engine_t), intent(inout) :: self
    real(sp), intent(out) :: value
    integer, intent(out) :: place(3)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, self%c%peak(self%handle, value, place(1), place(2), place(3)), error)
    place = place + 1
  end subroutine peak

  subroutine reset(self, error)
    class(engine_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, self%c%reset(self%handle), error)
  end subroutine reset

  integer(i8) function state_size(self, steps)
    class(engine_t), intent(in) :: self
    integer, intent(in) :: steps
    state_size = self%c%state_size(self%handle, steps)
  end function state_size

  subroutine save_state(self, state, error)
    class(engine_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: state(:)     !< (state_size)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, self%c%save(self%handle, size(state, kind=i8), state), error)
  end subroutine save_state

  subroutine load(self, steps, state, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: steps
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, self%c%load(self%handle, 1, steps, size(state, kind=i8), state), error)
  end subroutine load

  integer(i8) function bytes(self)
    class(engine_t), intent(in) :: self
    bytes = 0
    if (c_associated(self%handle)) bytes = self%c%bytes(self%handle)
  end function bytes

  function device(self) result(text)
    class(engine_t), intent(in) :: self
    character(:), allocatable :: text
    character(kind=c_char, len=256) :: buffer
    buffer = c_null_char
    text = ''
    if (self%c%device(self%handle, len(buffer), buffer) == 0) text = FString(buffer)
  end function device

  ! --- what engines in Fortran share ----------------------------------------------------------------------------------

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

  !> Fails on a state of another size than that after so many steps.
  subroutine EngineState(self, steps, numbers, error)
    class(engine_t), intent(in) :: self
    integer, intent(in) :: steps
    integer(i8), intent(in) :: numbers
    type(error_t), allocatable, intent(inout) :: error
    if (numbers == self%state_size(steps)) return
    call Fail(error, 'a state of '//Str(numbers)//' numbers, after '//Str(steps)//' steps it has '//Str(self%state_size(steps)))
  end subroutine EngineState

  !> Copies n numbers of an engine to a state that is saved (out), or back from one that is loaded (in), and moves on within it.
  subroutine EngineNumbers(a, n, at, out, in)
    integer(i8), intent(in) :: n
    real(sp), intent(inout) :: a(*)
    integer(i8), intent(inout) :: at                  !< numbers of the state that are done
    real(sp), intent(inout), optional :: out(:)
    real(sp), intent(in), optional :: in(:)
    if (present(out)) out(at + 1:at + n) = a(:n)
    if (present(in)) a(:n) = in(at + 1:at + n)
    at = at + n
  end subroutine EngineNumbers

end module engine_m
