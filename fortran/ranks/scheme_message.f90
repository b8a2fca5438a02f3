!> START: what rank 0 derived and every rank must have bit for bit, the scheme of the survey, as a message and back.
module scheme_message_m
  use checked_m, only: Finite, IsWhole, Whole
  use error_m, only: error_t, Fail
  use kinds_m, only: dp
  use shot_messages_m, only: MessageWhole, ChecksumMessage
  use parcel_m, only: parcel_t, ParcelEmpty
  use physics_m, only: physics_t, PhysicsKnows
  use protocol_m, only: message_t, MSG_START
  use scheme_m, only: scheme_t
  use parameter_table_m, only: SplitList
  use text_m, only: Str
  implicit none
  private
  public :: SchemeMessage, SchemeFrom

  integer, parameter :: REALS = 22, INTEGERS = 8, NUMBERS = REALS + INTEGERS
  character(*), parameter :: NAMES = 'dx,dz,dt,dt_out,fmax,fband,fpeak,vmin,vmax,dt_limit,ppw,coeffs_error,snapshot,t_start,'// &
                                     'a weight,a weight,a weight,a weight,a weight,a weight,a weight,a weight,'// &
                                     'nt,nt_out,half_length,npml,snapshot_step,free_top,time_correction,exact_positions'
  integer, parameter :: POSITIVE = 10, NOT_NEGATIVE = 13 !< leading reals above 0, and not below 0
  integer, parameter :: LOW(INTEGERS) = [1, 1, 0, 0, 1, 0, 0, 0]            !< least values of the integers
  integer, parameter :: HIGH(INTEGERS) = [huge(1), huge(1), 8, 1000, 1000, 1, 1, 1]

contains

  !> With a `status` other than 0 there is nothing to do, and no scheme.
  subroutine SchemeMessage(status, scheme, message)
    integer, intent(in) :: status
    class(scheme_t), intent(in) :: scheme
    type(message_t), intent(inout) :: message
    message%kind = MSG_START
    message%n(1) = status
    if (status == 0) then
      message%places = Packed(scheme)
      message%text = scheme%components//achar(10)//scheme%variant
      message%fields = scheme%q
      call AddParcel(scheme, message)
    end if
    call ChecksumMessage(message)
  end subroutine SchemeMessage

  !> `scheme` is changed only where there is something to do. Fails, with `status` 0, where what came can be no scheme.
  subroutine SchemeFrom(message, physics, status, scheme, error)
    type(message_t), intent(in) :: message
    class(physics_t), intent(in) :: physics
    integer, intent(out) :: status
    class(scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: why
    status = 0
    if (MessageWhole(message)) then
      status = Whole(message%n(1))
      if (status /= 0) return
      why = NumberFault(message)
    else
      why = 'it came with wrong bits: its checksum is not the sender''s'
    end if
    if (why == '') then
      call Unpack(message%places(:NUMBERS), scheme)
      call TakeParcel(message, scheme, why)
      if (why == '') why = SchemeFault(scheme, physics)
    end if
    if (why /= '') call Fail(error, 'what rank 0 says on how to model is not used: '//why//'; all nodes must run the same build')
  end subroutine SchemeFrom

  !> Adds what the physics has besides: n(2) numbers, n(3) samples, and lines of text.
  subroutine AddParcel(scheme, message)
    class(scheme_t), intent(in) :: scheme
    type(message_t), intent(inout) :: message
    type(parcel_t) :: parcel
    call scheme%pack(parcel)
    call ParcelEmpty(parcel)
    message%n(2:3) = [size(parcel%numbers), size(parcel%samples)]
    message%places = [message%places, parcel%numbers]
    message%fields = [message%fields, parcel%samples]
    if (parcel%text /= '') message%text = message%text//achar(10)//parcel%text
  end subroutine AddParcel

  !> Takes apart what AddParcel put together; `why` it cannot be, '' if it can.
  subroutine TakeParcel(message, scheme, why)
    type(message_t), intent(in) :: message
    class(scheme_t), intent(inout) :: scheme
    character(:), allocatable, intent(out) :: why
    type(parcel_t) :: parcel
    integer :: samples, first, second
    why = ''
    samples = Whole(message%n(3))
    if (samples < 0 .or. samples >= size(message%fields) .or. message%n(2) /= size(message%places) - NUMBERS) &
      why = 'what the physics has besides is not as long as it says'
    if (why /= '') return
    first = index(message%text, achar(10))
    second = first + index(message%text(first + 1:)//achar(10), achar(10))
    scheme%components = message%text(:first - 1)
    scheme%variant = message%text(first + 1:second - 1)
    if (second == len(message%text)) why = 'its words end in an empty line'
    if (why /= '') return
    parcel%text = message%text(second + 1:)
    parcel%numbers = message%places(NUMBERS + 1:)
    parcel%samples = message%fields(size(message%fields) - samples + 1:)
    scheme%q = message%fields(:size(message%fields) - samples)
    call scheme%unpack(parcel, why)
  end subroutine TakeParcel

  pure function Packed(scheme) result(x)
    class(scheme_t), intent(in) :: scheme
    real(dp) :: x(NUMBERS)
    x = [scheme%dx, scheme%dz, scheme%dt, scheme%dt_out, scheme%fmax, scheme%fband, scheme%fpeak, scheme%vmin, scheme%vmax, &
         scheme%dt_limit, scheme%ppw, scheme%coeffs_error, scheme%snapshot, scheme%t_start, scheme%w, &
         real([scheme%nt, scheme%nt_out, scheme%half_length, scheme%npml, scheme%snapshot_step, &
               merge(1, 0, [scheme%free_top, scheme%time_correction, scheme%exact_positions])], dp)]
  end function Packed

  subroutine Unpack(x, scheme)
    real(dp), intent(in) :: x(NUMBERS)
    class(scheme_t), intent(inout) :: scheme
    integer :: n(INTEGERS)
    scheme%dx = x(1)
    scheme%dz = x(2)
    scheme%dt = x(3)
    scheme%dt_out = x(4)
    scheme%fmax = x(5)
    scheme%fband = x(6)
    scheme%fpeak = x(7)
    scheme%vmin = x(8)
    scheme%vmax = x(9)
    scheme%dt_limit = x(10)
    scheme%ppw = x(11)
    scheme%coeffs_error = x(12)
    scheme%snapshot = x(13)
    scheme%t_start = x(14)
    scheme%w = x(15:REALS)
    n = Whole(x(REALS + 1:))
    scheme%nt = n(1)
    scheme%nt_out = n(2)
    scheme%half_length = n(3)
    scheme%npml = n(4)
    scheme%snapshot_step = n(5)
    scheme%free_top = n(6) == 1
    scheme%time_correction = n(7) == 1
    scheme%exact_positions = n(8) == 1
  end subroutine Unpack

  !> The first number of the message that no scheme can have, in words; '' = none.
  function NumberFault(message) result(why)
    type(message_t), intent(in) :: message
    character(:), allocatable :: why
    character(32), allocatable :: name(:)
    logical :: good(NUMBERS)
    integer :: i
    why = ''
    associate (x => message%places(:NUMBERS))
      good = Finite(x)
      do i = 1, NUMBERS
        if (.not. good(i)) exit
        if (i <= POSITIVE) good(i) = x(i) > 0
        if (i <= NOT_NEGATIVE) good(i) = good(i) .and. x(i) >= 0
        if (i > REALS) good(i) = IsWhole(x(i), LOW(i - REALS), HIGH(i - REALS))
      end do
      i = findloc(good, .false., 1)
      if (i > 0) then
        allocate (name, source=SplitList(NAMES))
        why = trim(name(i))//' = '//Str(x(i))//' is impossible'
      else if (.not. all(Finite(message%fields))) then
        why = 'a sample of the source is not a number'
      end if
    end associate
  end function NumberFault

  !> A phrase on parts of a scheme that contradict each other, '' = none do.
  function SchemeFault(scheme, physics) result(why)
    class(scheme_t), intent(in) :: scheme
    class(physics_t), intent(in) :: physics
    character(:), allocatable :: why
    character(32), allocatable :: word(:)
    integer :: i
    why = ''
    if (scheme%nt /= size(scheme%q)) why = Str(size(scheme%q))//' samples of the source for '//Str(scheme%nt)//' steps'
    if (scheme%vmin > scheme%vmax) why = 'vmin = '//Str(scheme%vmin)//' m/s, vmax = '//Str(scheme%vmax)//' m/s'
    if (scheme%dt > scheme%dt_limit) why = 'dt = '//Str(scheme%dt)//' s is unstable: the limit is '//Str(scheme%dt_limit)//' s'
    if (scheme%t_start > 0) why = 'the modelling begins at '//Str(scheme%t_start)//' s, after time zero'
    if (verify(scheme%variant, 'abcdefghijklmnopqrstuvwxyz_0123456789') > 0 .or. scheme%variant == '') &
      why = 'the variant is no name'
    if (len(scheme%components) < 1 .or. len(scheme%components) > 100) then
      why = 'the components are none'
      return
    end if
    allocate (word, source=SplitList(scheme%components))
    do i = 1, size(word)
      if (.not. PhysicsKnows(physics, trim(word(i))) .or. count(word == word(i)) > 1) why = 'the components are none'
    end do
  end function SchemeFault

end module scheme_message_m
