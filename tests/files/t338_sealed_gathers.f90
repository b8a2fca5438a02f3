!> Workers seal traces: as the bytes of the file, with a sum that shows every wrong bit on the way, in the memory of
!> the I/O server, and in the file. The references turn bytes by hand and divide polynomials bit by bit.
program t338_sealed_gathers
  use, intrinsic :: iso_fortran_env, only: int8
  use, intrinsic :: ieee_arithmetic, only: ieee_negative_inf, ieee_positive_inf, ieee_quiet_nan, ieee_value
  use check_m, only: GivenSeed, Claim, ClaimFine, Done, RandomBelow, Seed
  use error_m, only: error_t
  use fio_m, only: fio_t, FioClose, FioCreate, FioGet, FioPut, FioVerify
  use gather_header_m, only: gather_header_t
  use gather_m, only: gather_t
  use gather_seal_m, only: GatherSeal
  use kinds_m, only: dp, i8, sp
  use protocol_m, only: message_t
  use sealed_c, only: crc32_joined
  use shot_m, only: shot_t
  use shot_messages_m, only: GatherFrom, GatherMessage
  use text_m, only: Str
  implicit none
  integer, parameter :: nrec_max = 7
  character(2), parameter :: names(3) = ['p ', 'vx', 'vz']
  type(error_t), allocatable :: error
  integer :: number

  number = GivenSeed()
  call Seed(number)
  call Bytes()
  call Refused()
  call SameFile()
  call WrongBits()
  call Done()

contains

  !> A gather whose numbers have random bits, but are finite.
  subroutine MakeGather(gather, nt, nrec, ncomp)
    type(gather_t), intent(out) :: gather
    integer, intent(in) :: nt, nrec, ncomp
    real(dp), allocatable :: x(:, :, :)
    allocate (x(nt, nrec, ncomp), gather%traces(nt, nrec, ncomp))
    call random_number(x)
    gather%traces = real((x - 0.5_dp)*10.0_dp**(30*x - 15), sp)
    gather%record = 5
    gather%slot = 1
    gather%nt = nt
    gather%nrec = nrec
    gather%ncomp = ncomp
    gather%steps = 3
    allocate (gather%rx(nrec), gather%rz(nrec))
    call random_number(gather%rx)
    call random_number(gather%rz)
    gather%variant = 'cpu'
    gather%device = 'a processor'
  end subroutine MakeGather

  !> The bytes of traces in the other order.
  function Turned(traces) result(bytes)
    real(sp), intent(in) :: traces(:, :, :)
    integer(int8), allocatable :: bytes(:)
    integer(int8), allocatable :: four(:, :)
    allocate (four(4, size(traces)))
    four = reshape(transfer(traces, four), shape(four))
    bytes = reshape(four(4:1:-1, :), [4*size(traces)])
  end function Turned

  !> CRC-32 by division, a bit at a time.
  integer(i8) function Divided(bytes) result(crc)
    integer(int8), intent(in) :: bytes(:)
    integer :: i, bit
    crc = int(z'ffffffff', i8)
    do i = 1, size(bytes)
      crc = ieor(crc, iand(int(bytes(i), i8), 255_i8))
      do bit = 1, 8
        crc = ieor(shiftr(crc, 1), merge(int(z'edb88320', i8), 0_i8, btest(crc, 0)))
      end do
    end do
    crc = ieor(crc, int(z'ffffffff', i8))
  end function Divided

  subroutine Bytes()
    type(gather_t) :: gather
    integer(int8), allocatable :: want(:), have(:)
    integer :: i, wrong_bytes, wrong_sums, wrong_joins, n, c, at
    wrong_bytes = 0
    wrong_sums = 0
    wrong_joins = 0
    do i = 1, 60
      call MakeGather(gather, 1 + RandomBelow(merge(20, 3000, i < 40)), 1 + RandomBelow(nrec_max), 1 + RandomBelow(3))
      want = Turned(gather%traces)
      call GatherSeal(gather, names, error)
      have = transfer(gather%sealed%bytes, want)
      if (size(have) /= size(want) .or. allocated(gather%traces)) then
        wrong_bytes = wrong_bytes + 1
        cycle
      end if
      if (any(have /= want)) wrong_bytes = wrong_bytes + 1
      n = size(want)/gather%ncomp
      do c = 1, gather%ncomp
        if (gather%sealed%crc(c) /= Divided(want((c - 1)*n + 1:c*n))) wrong_sums = wrong_sums + 1
      end do
      at = RandomBelow(size(want) + 1)
      if (crc32_joined(Divided(want(:at)), Divided(want(at + 1:)), int(size(want) - at, i8)) /= Divided(want)) &
        wrong_joins = wrong_joins + 1
    end do
    call ClaimFine(error, 'gathers with random numbers are sealed')
    call Claim(wrong_bytes == 0 .and. wrong_sums == 0 .and. wrong_joins == 0, 'seed '//Str(number)//': of 60 sealed gathers '// &
               Str(wrong_bytes)//' have other bytes, '//Str(wrong_sums)//' another sum than by hand, '//Str(wrong_joins)// &
               ' sums joined at a random byte differ')
  end subroutine Bytes

  !> What is not finite is found wherever it stands, and named.
  subroutine Refused()
    type(gather_t) :: gather
    integer :: i, j, r, c, told
    real(sp) :: bad(3)
    bad = [ieee_value(1.0_sp, ieee_quiet_nan), ieee_value(1.0_sp, ieee_positive_inf), ieee_value(1.0_sp, ieee_negative_inf)]
    told = 0
    do i = 1, 300
      call MakeGather(gather, 1 + RandomBelow(5000), 1 + RandomBelow(nrec_max), 3)
      j = 1 + RandomBelow(gather%nt)
      r = 1 + RandomBelow(gather%nrec)
      c = 1 + RandomBelow(3)
      gather%traces(j, r, c) = bad(1 + RandomBelow(3))
      call GatherSeal(gather, names, error)
      if (.not. allocated(error)) cycle
      if (index(error%message, trim(names(c))//' of receiver '//Str(r)//' of shot record 5 is not finite') == 1 .and. &
          allocated(gather%traces)) told = told + 1
      deallocate (error)
    end do
    call Claim(told == 300, 'seed '//Str(number)//': of 300 gathers with one number that is not finite '//Str(told)// &
               ' are not sealed, and component and receiver are named')
  end subroutine Refused

  !> A file of gathers that came sealed is one of gathers that came as numbers.
  subroutine SameFile()
    type(gather_header_t) :: header
    type(gather_t) :: gather, sealed, back
    type(shot_t) :: shot
    type(fio_t) :: fio(2)
    integer(i8) :: sums(2), found
    integer :: i, same, whole
    same = 0
    whole = 0
    do i = 1, 12
      call MakeGather(gather, 1 + RandomBelow(300), 1 + RandomBelow(nrec_max), 3)
      header = gather_header_t()
      header%record = [5]
      header%nrec_max = nrec_max
      header%nt = gather%nt
      header%dt_out = 0.004_dp
      header%components = 'p,vx,vz'
      header%fingerprint = 'job'
      shot = shot_t()
      shot%record = 5
      shot%slot = 1
      shot%rx = gather%rx
      shot%ry = gather%rx
      shot%rz = gather%rz
      shot%channel = nint(1000*gather%rx)
      call FioCreate(fio(1), 'numbers.nc', header, .true., error)
      call FioPut(fio(1), shot, gather, sums(1), error)
      sealed = gather
      call GatherSeal(sealed, names, error)
      call FioCreate(fio(2), 'sealed.nc', header, .true., error)
      call FioPut(fio(2), shot, sealed, sums(2), error)
      call FioGet(fio(2), 1, back, error)
      if (allocated(error)) exit
      if (sums(1) == sums(2) .and. all(Turned(back%traces) == Turned(gather%traces))) same = same + 1
      call FioVerify(fio(2), 1, found, error)
      if (.not. allocated(error) .and. found == sums(2)) whole = whole + 1
      sealed%sealed%bytes(RandomBelow(size(sealed%sealed%bytes)) + 1) = 0
      call FioPut(fio(2), shot, sealed, sums(2), error)
      if (allocated(error)) exit
      call FioVerify(fio(2), 1, found, error)
      if (allocated(error)) whole = whole + 1
      if (allocated(error)) deallocate (error)
      call FioClose(fio(1), error)
      call FioClose(fio(2), error)
    end do
    call ClaimFine(error, 'gathers are written as numbers and sealed')
    call Claim(same == 12, Str(same)//' of 12 have the same checksum and give back the same numbers')
    call Claim(whole == 24, Str(whole)//' of 24: the file is whole, and one whose bytes changed after the seal is told from it')
  end subroutine SameFile

  !> One wrong bit, or two traces in each other's place, anywhere in a message: it is refused, and brings no traces.
  subroutine WrongBits()
    type(gather_t) :: gather, came
    type(message_t) :: message
    character(26) :: where(6) = [character(26) :: 'a trace', 'a position', 'a number of the header', 'a real of the header', &
                                 'the text', 'traces that changed places']
    integer :: i, kind, at, refused(6), whole
    real(sp), allocatable :: trace(:)
    refused = 0
    whole = 0
    do i = 1, 300
      kind = modulo(i, 6) + 1
      call MakeGather(gather, 20 + RandomBelow(200), nrec_max, 1 + RandomBelow(3))
      call GatherSeal(gather, names, error)
      call GatherMessage(gather, message)
      select case (kind)
      case (1)
        at = RandomBelow(size(message%fields)) + 1
        message%fields(at) = transfer(ieor(transfer(message%fields(at), 1), shiftl(1, RandomBelow(32))), 1.0_sp)
      case (2)
        at = RandomBelow(size(message%places)) + 1
        message%places(at) = transfer(ieor(transfer(message%places(at), 1_i8), shiftl(1_i8, RandomBelow(64))), 1.0_dp)
      case (3)
        at = RandomBelow(11) + 1
        message%n(at) = ieor(message%n(at), shiftl(1_i8, merge(RandomBelow(2), RandomBelow(20), at == 5)))
      case (4)
        at = RandomBelow(12) + 1
        message%x(at) = transfer(ieor(transfer(message%x(at), 1_i8), shiftl(1_i8, RandomBelow(64))), 1.0_dp)
      case (5)
        at = RandomBelow(len(message%text)) + 1
        message%text(at:at) = achar(ieor(iachar(message%text(at:at)), 1))
      case (6)
        trace = message%fields(:gather%nt)
        message%fields(:gather%nt) = message%fields(gather%nt + 1:2*gather%nt)
        message%fields(gather%nt + 1:2*gather%nt) = trace
      end select
      call GatherFrom(message, came, error)
      if (allocated(error)) then
        if (index(error%message, 'wrong bits') > 0 .and. .not. allocated(came%sealed%bytes)) refused(kind) = refused(kind) + 1
        deallocate (error)
      end if
      call GatherSeal(gather, names, error)
    end do
    do kind = 1, 6
      call Claim(refused(kind) == 50, 'seed '//Str(number)//': '//Str(refused(kind))//' of 50 gathers with a change in '// &
                 trim(where(kind))//' are refused')
    end do
    do i = 1, 50
      call MakeGather(gather, 1 + RandomBelow(200), 1 + RandomBelow(nrec_max), 1 + RandomBelow(3))
      call GatherSeal(gather, names, error)
      message = message_t()
      call GatherMessage(gather, message)
      call GatherFrom(message, came, error)
      if (.not. allocated(error) .and. allocated(came%sealed%bytes)) whole = whole + 1
    end do
    call Claim(whole == 50, Str(whole)//' of 50 without a change are taken')
  end subroutine WrongBits

end program t338_sealed_gathers
