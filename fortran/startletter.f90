!> START: what rank 0 derived and every rank must have bit for bit, the scheme of the survey, as a message and back.
module startletter_m
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite
  use error_m, only: error_t, Fail
  use kinds_m, only: dp
  use letters_m, only: LetterWhole, SealLetter
  use protocol_m, only: message_t, MSG_START
  use scheme_m, only: scheme_t
  use table_m, only: SplitList
  use text_m, only: Str
  implicit none
  private
  public :: StartLetter, StartFrom

  integer, parameter :: REALS = 22, INTEGERS = 8, NUMBERS = REALS + INTEGERS
  character(*), parameter :: NAMES = 'dx,dz,dt,dt_out,fmax,fband,fpeak,vmin,vmax,dt_limit,ppw,coeffs_error,snapshot,t_start,'// &
                                     'a weight,a weight,a weight,a weight,a weight,a weight,a weight,a weight,'// &
                                     'nt,nt_out,half_length,npml,snapshot_step,free_top,time_correction,exact_positions'
  integer, parameter :: POSITIVE = 10, NOT_NEGATIVE = 13                     !< so many of the first are more than 0, at least 0
  real(dp), parameter :: LOW(INTEGERS) = [1, 1, 1, 0, 1, 0, 0, 0]            !< of the integers
  real(dp), parameter :: HIGH(INTEGERS) = [huge(1), huge(1), 8, 1000, 1000, 1, 1, 1]

contains

  !> With a `status` other than 0 there is nothing to do, and no scheme.
  subroutine StartLetter(status, scheme, message)
    integer, intent(in) :: status
    type(scheme_t), intent(in) :: scheme
    type(message_t), intent(inout) :: message
    message%kind = MSG_START
    message%n(1) = status
    if (status == 0) then
      message%places = Packed(scheme)
      message%text = scheme%components//achar(10)//scheme%variant
      message%fields = scheme%q
    end if
    call SealLetter(message)
  end subroutine StartLetter

  !> `scheme` is changed only where there is something to do. Fails, with `status` 0, where what came can be no scheme.
  subroutine StartFrom(message, status, scheme, error)
    type(message_t), intent(in) :: message
    integer, intent(out) :: status
    type(scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: why
    integer :: p
    status = 0
    if (LetterWhole(message)) then
      status = int(message%n(1))
      if (status /= 0) return
      why = NumberFault(message)
    else
      why = 'it came with wrong bits: its checksum is not the sender''s'
    end if
    if (why == '') then
      p = index(message%text, achar(10))
      scheme%components = message%text(:p - 1)
      scheme%variant = message%text(p + 1:)
      scheme%q = message%fields
      call Unpack(message%places, scheme)
      why = SchemeFault(scheme)
    end if
    if (why /= '') call Fail(error, 'what rank 0 says on how to model is not used: '//why//'; all nodes must run the same build')
  end subroutine StartFrom

  pure function Packed(scheme) result(x)
    type(scheme_t), intent(in) :: scheme
    real(dp) :: x(NUMBERS)
    x = [scheme%dx, scheme%dz, scheme%dt, scheme%dt_out, scheme%fmax, scheme%fband, scheme%fpeak, scheme%vmin, scheme%vmax, &
         scheme%dt_limit, scheme%ppw, scheme%coeffs_error, scheme%snapshot, scheme%t_start, scheme%w, &
         real([scheme%nt, scheme%nt_out, scheme%half_length, scheme%npml, scheme%snapshot_step, &
               merge(1, 0, [scheme%free_top, scheme%time_correction, scheme%exact_positions])], dp)]
  end function Packed

  subroutine Unpack(x, scheme)
    real(dp), intent(in) :: x(NUMBERS)
    type(scheme_t), intent(inout) :: scheme
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
    n = nint(x(REALS + 1:))
    scheme%nt = n(1)
    scheme%nt_out = n(2)
    scheme%half_length = n(3)
    scheme%npml = n(4)
    scheme%snapshot_step = n(5)
    scheme%free_top = n(6) == 1
    scheme%time_correction = n(7) == 1
    scheme%exact_positions = n(8) == 1
  end subroutine Unpack

  !> Which number of the message can be none of a scheme, '' = each can.
  function NumberFault(message) result(why)
    type(message_t), intent(in) :: message
    character(:), allocatable :: why
    character(32), allocatable :: name(:)
    logical :: good(NUMBERS)
    integer :: i
    why = ''
    associate (x => message%places)
      good = ieee_is_finite(x)
      do i = 1, NUMBERS
        if (.not. good(i)) exit
        if (i <= POSITIVE) good(i) = x(i) > 0
        if (i <= NOT_NEGATIVE) good(i) = good(i) .and. x(i) >= 0
        if (i > REALS) good(i) = x(i) >= LOW(i - REALS) .and. x(i) <= HIGH(i - REALS)
        if (i > REALS .and. good(i)) good(i) = abs(x(i) - aint(x(i))) <= 0
      end do
      i = findloc(good, .false., 1)
      if (i > 0) then
        allocate (name, source=SplitList(NAMES))
        why = trim(name(i))//' = '//Str(x(i))//' is impossible'
      else if (.not. all(ieee_is_finite(message%fields))) then
        why = 'a sample of the source is not a number'
      end if
    end associate
  end function NumberFault

  !> What does not go together, '' = all does.
  function SchemeFault(scheme) result(why)
    type(scheme_t), intent(in) :: scheme
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
    if (len(scheme%components) < 1 .or. len(scheme%components) > 7) then
      why = 'the components are none'
      return
    end if
    allocate (word, source=SplitList(scheme%components))
    do i = 1, size(word)
      if (all(word(i) /= ['p ', 'vx', 'vz']) .or. count(word == word(i)) > 1) why = 'the components are none'
    end do
  end function SchemeFault

end module startletter_m
