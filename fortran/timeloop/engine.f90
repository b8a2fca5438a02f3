!> An engine steps fields through time. Here are the verbs that every engine has; a physics adds those for its grid, medium, source
!> and fields (fd2d_engine.f90, fd3d_engine.f90).
!>
!> An engine in C is a handle: the verbs here call those of handle_c.f90. An engine in readable Fortran has no handle: it brings all
!> verbs itself except `threads`, `expect`, `pending`, `traces` and `filters`, which serve it too.
module engine_m
  use error_m, only: error_t, Fail, FailFromC
  use handle_c, only: handle_bytes, handle_device, handle_expect, handle_filter, handle_filtered, handle_filters, handle_free, &
                      handle_load, handle_maxabs, handle_peak, handle_pending, handle_receiver_parts, handle_reset, handle_save, &
                      handle_state_size, handle_threads, handle_timestep, handle_traces, trace_band
  use iso_c_binding, only: c_associated, c_char, c_loc, c_null_char, c_null_ptr, c_ptr
  use kinds_m, only: dp, i8, sp
  use text_m, only: FString, Str
  use trace_bands_m, only: band_t
  use variants_m, only: variants_t
  implicit none
  private
  public :: engine_t, EngineName, EngineCheck, EngineNumbers, EngineRoom, EngineState

  type, abstract :: engine_t
    character(:), allocatable :: variant              !< of the kernels
    logical :: gpu = .false.                          !< it computes on a GPU
    type(c_ptr) :: handle = c_null_ptr                !< of an engine in C
    real(sp), allocatable :: samples(:, :)            !< of the receivers of an engine in Fortran, (nrec, at least `steps`)
    integer :: first = 1, steps = 0                   !< samples of steps first .. first+steps-1 are there
  contains
    procedure :: free                                 !< gives its memory back; twice is harmless
    procedure :: threads                              !< from now on so many threads compute, where CPU cores do
    procedure :: receiver_part                        !< which part of its sum each receiver keeps, 0: the sum
    procedure :: expect                               !< there will be traces of so many steps
    procedure :: timestep                             !< steps first .. first+n-1; a GPU only queues them
    procedure :: pending                              !< waits, asleep, until at most `most` calls of timestep are unfinished
    procedure :: traces                               !< the samples of receivers, steps first ..
    procedure :: filters                              !< it can filter the traces itself, where they are
    procedure :: filter                               !< takes filter 0 or 1: raw samples -> band(1) -> band(2)
    procedure :: filtered                             !< traces through it, of receivers first, first + 1, ...
    procedure :: maxabs                               !< largest value and its cell; infinite if any is not a finite number
    procedure :: peak                                 !< the same after the newest finished call of timestep, without waiting
    procedure :: reset                                !< all fields zero, traces forgotten
    procedure :: state_size                           !< numbers in the state after so many steps
    procedure :: save => save_state                   !< a copy of all that later steps depend on, and of the traces
    procedure :: load                                 !< the way back: as if steps 1 .. steps had just been done here
    procedure :: bytes                                !< memory held
    procedure :: device                               !< what computes, for the record
    ! Of a piece of a shot on a GPU, where pieces give each other numbers from GPU to GPU (gpu_ways.f90):
    procedure :: halo_offer                           !< memory that partners' kernels may store into: a ticket for them
    procedure :: halo_open                            !< the partner's at a side, by its ticket
    procedure :: halo_try                             !< exchanges with all partners, timed
    procedure :: halo_waited                          !< how long the GPU waited for partners
    procedure :: halo_left                            !< calls of timestep that are unfinished, without waiting
    procedure :: halo_give_up                         !< ends what waits for partners
    procedure :: halo_close                           !< the partners' memory is used no longer
  end type engine_t

  integer, parameter, public :: halo_ticket = 512     !< bytes

contains

  !> Makes an engine that of a solver's variant `name` ('auto' too). Fails on an unknown name.
  subroutine EngineName(self, variants, name, error)
    class(engine_t), intent(inout) :: self
    class(variants_t), intent(in) :: variants
    character(*), intent(in) :: name
    type(error_t), allocatable, intent(inout) :: error
    call variants%known(name, self%variant, error)
    if (.not. allocated(error)) self%gpu = variants%needs_gpu(self%variant)
  end subroutine EngineName

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
    if (c_associated(self%handle)) call handle_free(self%handle)
    self%handle = c_null_ptr
  end subroutine free

  !> The threads of an engine in Fortran are those of its grid.
  subroutine threads(self, number, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: number
    type(error_t), allocatable, intent(inout) :: error
    if (c_associated(self%handle)) call EngineCheck(self, handle_threads(self%handle, number), error)
  end subroutine threads

  subroutine receiver_part(self, part, error)
    class(engine_t), intent(inout) :: self
    integer, contiguous, intent(in) :: part(:)        !< (nrec)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, handle_receiver_parts(self%handle, part), error)
  end subroutine receiver_part

  subroutine expect(self, steps, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: steps
    type(error_t), allocatable, intent(inout) :: error
    if (c_associated(self%handle)) then
      call EngineCheck(self, handle_expect(self%handle, steps), error)
    else
      call EngineRoom(self, steps)
    end if
  end subroutine expect

  subroutine timestep(self, first, n, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: first, n
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, handle_timestep(self%handle, first, n), error)
  end subroutine timestep

  !> In Fortran a call of timestep that has returned is finished.
  subroutine pending(self, most, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: most
    type(error_t), allocatable, intent(inout) :: error
    if (c_associated(self%handle)) call EngineCheck(self, handle_pending(self%handle, most), error)
  end subroutine pending

  subroutine traces(self, first, out, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: first
    real(sp), contiguous, intent(out) :: out(:, :)    !< (steps, nrec)
    type(error_t), allocatable, intent(inout) :: error
    integer :: n
    n = first - self%first
    if (c_associated(self%handle)) then
      call EngineCheck(self, handle_traces(self%handle, first, size(out, 1), out), error)
    else if (n < 0 .or. n + size(out, 1) > self%steps) then
      call Fail(error, 'traces of steps '//Str(first)//'..'//Str(first + size(out, 1) - 1)//' asked for, but steps '// &
                Str(self%first)//'..'//Str(self%first + self%steps - 1)//' were computed')
    else
      out = transpose(self%samples(:, n + 1:n + size(out, 1)))
    end if
  end subroutine traces

  logical function filters(self)
    class(engine_t), intent(in) :: self
    filters = .false.
    if (c_associated(self%handle)) filters = handle_filters(self%handle) == 1
  end function filters

  subroutine filter(self, which, band, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: which
    type(band_t), target, intent(in) :: band(2)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, handle_filter(self%handle, which, [AsBand(band(1)), AsBand(band(2))]), error)
  end subroutine filter

  !> The band as C knows it.
  type(trace_band) function AsBand(band) result(b)
    type(band_t), target, intent(in) :: band
    b%columns = band%columns
    b%rows = band%rows
    b%groups = size(band%first)
    b%n = size(band%m, 2)
    b%gain = c_null_ptr
    if (allocated(band%gain)) b%gain = c_loc(band%gain)
    b%first = c_loc(band%first)
    b%count = c_loc(band%count)
    b%at = c_loc(band%at)
    b%m = c_loc(band%m)
  end function AsBand

  subroutine filtered(self, which, first, out, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: which, first
    real(sp), contiguous, intent(out) :: out(:, :)       !< (rows of band(2), receivers)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, handle_filtered(self%handle, which, first - 1, size(out, 2), out), error)
  end subroutine filtered

  subroutine maxabs(self, value, place, error)
    class(engine_t), intent(inout) :: self
    real(sp), intent(out) :: value
    integer, intent(out) :: place(3)                  !< counted from 1; 2D: (x, z, 1)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, handle_maxabs(self%handle, value, place), error)
    place = place + 1
  end subroutine maxabs

  subroutine peak(self, value, place, error)
    class(engine_t), intent(inout) :: self
    real(sp), intent(out) :: value
    integer, intent(out) :: place(3)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, handle_peak(self%handle, value, place), error)
    place = place + 1
  end subroutine peak

  subroutine reset(self, error)
    class(engine_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, handle_reset(self%handle), error)
  end subroutine reset

  integer(i8) function state_size(self, steps)
    class(engine_t), intent(in) :: self
    integer, intent(in) :: steps
    state_size = handle_state_size(self%handle, steps)
  end function state_size

  subroutine save_state(self, state, error)
    class(engine_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: state(:)     !< (state_size)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, handle_save(self%handle, size(state, kind=i8), state), error)
  end subroutine save_state

  subroutine load(self, steps, state, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: steps
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, handle_load(self%handle, 1, steps, size(state, kind=i8), state), error)
  end subroutine load

  integer(i8) function bytes(self)
    class(engine_t), intent(in) :: self
    bytes = 0
    if (c_associated(self%handle)) bytes = handle_bytes(self%handle)
  end function bytes

  function device(self) result(text)
    class(engine_t), intent(in) :: self
    character(:), allocatable :: text
    character(kind=c_char, len=256) :: buffer
    buffer = c_null_char
    text = ''
    if (handle_device(self%handle, len(buffer), buffer) == 0) text = FString(buffer)
  end function device

  ! --- from GPU to GPU ------------------------------------------------------------------------------------------------

  subroutine halo_offer(self, beside, host, seconds, ticket, error)
    class(engine_t), intent(inout) :: self
    logical, intent(in) :: beside                     !< exchanges run beside what needs nothing of them
    logical, intent(in) :: host                       !< the machine's memory, else the GPU's
    real(dp), intent(in) :: seconds                   !< that a partner is waited for
    character(kind=c_char), contiguous, intent(out) :: ticket(:)         !< (halo_ticket)
    type(error_t), allocatable, intent(inout) :: error
    ticket = c_null_char
    call Fail(error, 'the engine '//self%variant//' has no way from GPU to GPU')
  end subroutine halo_offer

  subroutine halo_open(self, side, ticket, error)
    class(engine_t), intent(inout) :: self
    integer, intent(in) :: side
    character(kind=c_char), contiguous, intent(in) :: ticket(:)
    type(error_t), allocatable, intent(inout) :: error
    call Fail(error, 'the engine '//self%variant//' has no way from GPU to GPU')
  end subroutine halo_open

  subroutine halo_try(self, seconds, bare, full, error)
    class(engine_t), intent(inout) :: self
    real(dp), intent(in) :: seconds
    real(dp), intent(out) :: bare, full               !< an exchange took, of nothing and of all numbers [s]
    type(error_t), allocatable, intent(inout) :: error
    bare = 0
    full = 0
  end subroutine halo_try

  subroutine halo_waited(self, seconds, error)
    class(engine_t), intent(inout) :: self
    real(dp), intent(out) :: seconds(:)               !< at each side
    type(error_t), allocatable, intent(inout) :: error
    seconds = 0
  end subroutine halo_waited

  subroutine halo_left(self, chunks, error)
    class(engine_t), intent(inout) :: self
    integer, intent(out) :: chunks
    type(error_t), allocatable, intent(inout) :: error
    chunks = 0
  end subroutine halo_left

  subroutine halo_give_up(self)
    class(engine_t), intent(in) :: self
  end subroutine halo_give_up

  subroutine halo_close(self)
    class(engine_t), intent(in) :: self
  end subroutine halo_close

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
