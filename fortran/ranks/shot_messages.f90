!> The contents of messages about shots: types to messages and back. The only place that knows the order of the numbers.
!> Messages with shots, model windows, gathers and snapshots carry a checksum of all that is in them but their sender: one wrong
!> bit on the way, or in the memory of either side meanwhile, and they are refused. Into that of a gather go the CRC-32s that its
!> sender took as it sealed the traces: the receiver takes them once more, and does nothing else with the traces but write them.
module shot_messages_m
  use checked_m, only: CountOf, Whole
  use checksum_c, only: checksum_floats
  use error_m, only: error_t, Fail
  use gather_m, only: gather_t
  use kinds_m, only: dp, i8, sp
  use sealed_c, only: sealed_sum
  use protocol_m, only: message_t, MSG_GATHER, MSG_MODEL, MSG_REFUSED, MSG_SHOT, MSG_SNAPS, MSG_WRITTEN
  use shot_m, only: shot_t
  use text_m, only: Str
  use window_m, only: box_t, window_t, WindowBox
  implicit none
  private
  public :: ShotMessage, ShotFrom, ModelMessage, ModelFrom, WindowMessage, MediaMessage, WindowFrom, VerdictMessage, VerdictFrom
  public :: GatherMessage, GatherFrom, SnapsMessage, SnapsFrom, ChecksumMessage, MessageWhole

  integer, parameter :: CHECKSUM_AT = 11       !< number of the header that holds the checksum; 12 is the sender's
  integer(i8), parameter :: PIECE = 2_i8**20   !< numbers under one checksum, so that threads have some each

contains

  !> Puts the checksum of a message into it, when all else is there.
  subroutine ChecksumMessage(message)
    type(message_t), intent(inout) :: message
    message%n(CHECKSUM_AT) = SumOf(message)
  end subroutine ChecksumMessage

  !> True where a message is what was sent.
  logical function MessageWhole(message, crc, threads)
    type(message_t), intent(in) :: message
    integer(i8), intent(in), optional :: crc(:)     !< as of SumOf
    integer, intent(in), optional :: threads        !< as of SumOf
    MessageWhole = SumOf(message, crc, threads) == message%n(CHECKSUM_AT)
  end function MessageWhole

  !> Fails where a message is not what was sent. `what`: its name in the sentence.
  subroutine CheckWhole(message, what, error, crc, threads)
    type(message_t), intent(in) :: message
    character(*), intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
    integer(i8), intent(in), optional :: crc(:)     !< as of SumOf
    integer, intent(in), optional :: threads        !< as of SumOf
    if (.not. MessageWhole(message, crc, threads)) &
      call Fail(error, what//' of shot '//Str(message%n(1))//' came with wrong bits: its checksum is not the sender''s')
  end subroutine CheckWhole

  !> `crc`: of the traces of a gather, by components, where they are known. By so many threads, or by one.
  integer(i8) function SumOf(message, crc, threads) result(sum)
    type(message_t), intent(in) :: message
    integer(i8), intent(in), optional :: crc(:)
    integer, intent(in), optional :: threads
    sum = 0
    if (present(crc)) then
      sum = Add(sum, transfer(crc, [0.0_sp]))
    else if (message%kind == MSG_GATHER) then
      sum = Add(sum, transfer(Sums(message), [0.0_sp]))
    else if (associated(message%lent)) then
      sum = AddPieces(sum, message%lent, threads)
    else if (allocated(message%fields)) then
      sum = AddPieces(sum, message%fields, threads)
    end if
    if (allocated(message%places)) sum = Add(sum, transfer(message%places, [0.0_sp]))
    sum = Add(sum, transfer(message%x, [0.0_sp]))
    sum = Add(sum, transfer(message%n(:CHECKSUM_AT - 1), [0.0_sp]))
    if (allocated(message%text)) sum = Add(sum, transfer(message%text//repeat(' ', modulo(-len(message%text), 4)), [0.0_sp]))
  end function SumOf

  !> The CRC-32s of the traces of a gather, by components.
  function Sums(message) result(crc)
    type(message_t), target, intent(in) :: message
    integer(i8), allocatable :: crc(:)
    real(sp), pointer, contiguous :: bytes(:)
    integer(i8) :: n, c, last
    bytes => message%lent
    if (.not. associated(bytes) .and. allocated(message%fields)) bytes => message%fields
    n = 0
    if (associated(bytes)) n = size(bytes, kind=i8)
    allocate (crc(max(0_i8, min(message%n(5), n))))
    do c = 1, size(crc)
      last = merge(n, c*(n/size(crc)), c == size(crc))
      crc(c) = sealed_sum(last - (c - 1)*(n/size(crc)), bytes((c - 1)*(n/size(crc)) + 1:last))
    end do
  end function Sums

  integer(i8) function AddPieces(sum, values, threads) result(all)
    integer(i8), intent(in) :: sum
    real(sp), contiguous, intent(in) :: values(:)
    integer, intent(in), optional :: threads
    integer(i8) :: pieces((size(values, kind=i8) + PIECE - 1)/PIECE), p
    integer :: team
    team = 1
    if (present(threads)) team = max(1, min(threads, size(pieces)))
    !$omp parallel do num_threads(team) if (team > 1)
    do p = 1, size(pieces)
      pieces(p) = Add(0_i8, values((p - 1)*PIECE + 1:min(p*PIECE, size(values, kind=i8))))
    end do
    !$omp end parallel do
    all = Add(sum, transfer(pieces, [0.0_sp]))
  end function AddPieces

  integer(i8) function Add(sum, values)
    integer(i8), intent(in) :: sum
    real(sp), contiguous, intent(in) :: values(:)
    Add = sum                           ! what is not sent arrives as nothing
    if (size(values) > 0) Add = checksum_floats(sum, size(values, kind=i8), values)
  end function Add

  !> SHOT, with the outline of its window; `snapshots` asks for snapshots of it.
  subroutine ShotMessage(shot, window, snapshots, message)
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    logical, intent(in) :: snapshots
    type(message_t), intent(inout) :: message
    message%kind = MSG_SHOT
    message%n(1:4) = [shot%record, shot%slot, size(shot%rx), merge(1, 0, snapshots)]
    message%n(5:8) = [window%nx, window%ny, window%nz, window%parts]
    message%x(1:3) = [shot%sx, shot%sy, shot%sz]
    message%x(4:9) = [window%x0, window%y0, window%z0, window%dx, window%dy, window%dz]
    message%places = [shot%rx, shot%ry, shot%rz, real(shot%channel, dp)]
    if (allocated(shot%at_places)) then
      message%n(9) = size(shot%at_places, 1)
      message%places = [message%places, shot%at_places]
    end if
    call ChecksumMessage(message)
  end subroutine ShotMessage

  !> Fails where it came with wrong bits.
  subroutine ShotFrom(message, shot, window, snapshots, error)
    type(message_t), intent(in) :: message
    type(shot_t), intent(out) :: shot
    type(window_t), intent(out) :: window
    logical, intent(out) :: snapshots
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: n
    call CheckWhole(message, 'the positions', error)
    shot%record = Whole(message%n(1))
    shot%slot = Whole(message%n(2))
    n = message%n(3)
    snapshots = message%n(4) == 1
    shot%sx = message%x(1)
    shot%sy = message%x(2)
    shot%sz = message%x(3)
    window = window_t(nx=Whole(message%n(5)), ny=Whole(message%n(6)), nz=Whole(message%n(7)), parts=Whole(message%n(8)), &
                      x0=message%x(4), y0=message%x(5), z0=message%x(6), dx=message%x(7), dy=message%x(8), dz=message%x(9))
    shot%rx = message%places(1:n)
    shot%ry = message%places(n + 1:2*n)
    shot%rz = message%places(2*n + 1:3*n)
    shot%channel = Whole(message%places(3*n + 1:4*n))
    if (message%n(9) > 0) shot%at_places = reshape(message%places(4*n + 1:), [message%n(9), n + 1])
  end subroutine ShotFrom

  !> MODEL, of a worker: asks for the media of a box of a shot's window, to be put into its memory number `memory`, which has a
  !> `name` and so many `bytes`, or to be sent, where that is not given.
  subroutine ModelMessage(shot, box, message, memory, name, bytes)
    type(shot_t), intent(in) :: shot
    type(box_t), intent(in) :: box
    type(message_t), intent(inout) :: message
    integer, intent(in), optional :: memory
    character(*), intent(in), optional :: name
    integer(i8), intent(in), optional :: bytes
    call BoxMessage(shot%record, shot%slot, box, message)
    if (present(memory)) message%n(6) = memory
    if (present(bytes)) message%n(10) = bytes
    if (present(name)) message%text = name
  end subroutine ModelMessage

  subroutine BoxMessage(record, slot, box, message)
    integer, intent(in) :: record, slot
    type(box_t), intent(in) :: box
    type(message_t), intent(inout) :: message
    message%kind = MSG_MODEL
    message%n(1:2) = [record, slot]
    message%n(3:5) = box%low
    message%n(7:9) = box%high
  end subroutine BoxMessage

  subroutine ModelFrom(message, record, slot, box)
    type(message_t), intent(in) :: message
    integer, intent(out) :: record, slot
    type(box_t), intent(out) :: box
    record = Whole(message%n(1))
    slot = Whole(message%n(2))
    box = BoxFrom(message)
  end subroutine ModelFrom

  type(box_t) function BoxFrom(message) result(box)
    type(message_t), intent(in) :: message
    box%low = Whole(message%n(3:5))
    box%high = Whole(message%n(7:9))
  end function BoxFrom

  !> MODEL, the reply: the media that `window` of shot `record` has.
  subroutine WindowMessage(record, window, message)
    integer, intent(in) :: record
    type(window_t), intent(in) :: window
    type(message_t), intent(inout) :: message
    message%fields = reshape(window%medium, [size(window%medium, kind=i8)])
    call MediaMessage(record, WindowBox(window), size(window%medium, 4), 0, message)
  end subroutine WindowMessage

  !> MODEL, the reply: the media of a box, of so many parts, which are in the message, or, where it points to them, in memory number
  !> `memory` of the rank that asked for them.
  subroutine MediaMessage(record, box, parts, memory, message)
    integer, intent(in) :: record, parts, memory
    type(box_t), intent(in) :: box
    type(message_t), intent(inout) :: message
    call BoxMessage(record, 0, box, message)
    message%n(6) = parts
    message%n(10) = memory
    call ChecksumMessage(message)
  end subroutine MediaMessage

  !> Puts the media of a reply into `window`, where there is room then for all of `box`, which they are a part of: layers up to
  !> `last` along z are there. `next`: the reply had the next ones; others were asked for before the shot was lost and dealt again,
  !> and are of no use. Fails where they came with wrong bits or are not of the box. By so many threads: new memory costs as much as
  !> what is put there.
  subroutine WindowFrom(message, box, threads, window, last, next, error)
    type(message_t), target, intent(in) :: message
    type(box_t), intent(in) :: box
    integer, intent(in) :: threads
    type(window_t), intent(inout) :: window
    integer, intent(inout) :: last
    logical, intent(out) :: next
    type(error_t), allocatable, intent(inout) :: error
    type(box_t) :: came
    integer :: rc
    next = .false.
    call CheckWhole(message, 'the model window', error, threads=threads)
    if (allocated(error)) return
    came = BoxFrom(message)
    next = came%low(3) == last + 1
    if (.not. next) return
    rc = 0
    associate (b => box, parts => Whole(message%n(6)))
      if (.not. allocated(window%medium)) &
        allocate (window%medium(b%low(1):b%high(1), b%low(2):b%high(2), b%low(3):b%high(3), parts), stat=rc)
      if (rc /= 0) then
        call Fail(error, 'no memory for '//Str(4.0e-9_dp*parts*product(real(b%high - b%low + 1, dp)), 3)//' GB of the model window')
      else if (size(window%medium, 4) /= parts .or. any(came%low < b%low) .or. any(came%high > b%high)) then
        call Fail(error, 'the model window of shot '//Str(message%n(1))//' is not what was asked for')
      end if
      if (allocated(error)) return
      if (associated(message%lent)) then
        call PutMedia(message%lent, came, threads, window)
      else
        call PutMedia(message%fields, came, threads, window)
      end if
    end associate
    last = came%high(3)
  end subroutine WindowFrom

  !> Media of a box into a window, which has room for them.
  subroutine PutMedia(media, box, threads, window)
    type(box_t), intent(in) :: box
    integer, intent(in) :: threads
    type(window_t), intent(inout) :: window
    real(sp), intent(in) :: media(box%low(1):box%high(1), box%low(2):box%high(2), box%low(3):box%high(3), size(window%medium, 4))
    integer :: k, p, team
    team = max(1, min(threads, int(size(media, kind=i8)/PIECE)))
    associate (l => box%low, h => box%high)
      !$omp parallel do collapse(2) num_threads(team) if (team > 1)
      do p = 1, size(media, 4)
        do k = l(3), h(3)
          window%medium(l(1):h(1), l(2):h(2), k, p) = media(:, :, k, p)
        end do
      end do
      !$omp end parallel do
    end associate
  end subroutine PutMedia

  !> WRITTEN, or REFUSED with the reason `why`: the reply to the message `kind` of a shot; `why` empty: all is well.
  subroutine VerdictMessage(kind, record, slot, why, message)
    integer, intent(in) :: kind, record, slot
    character(*), intent(in) :: why
    type(message_t), intent(inout) :: message
    message%kind = merge(MSG_WRITTEN, MSG_REFUSED, why == '')
    message%n(1:3) = [record, slot, kind]
    message%text = why
  end subroutine VerdictMessage

  subroutine VerdictFrom(message, kind, record, slot)
    type(message_t), intent(in) :: message
    integer, intent(out) :: kind, record, slot
    record = Whole(message%n(1))
    slot = Whole(message%n(2))
    kind = Whole(message%n(3))
  end subroutine VerdictFrom

  !> GATHER: traces, positions used and how it was computed. Moves the sealed traces out of `gather`; those that are lent stay where
  !> they are.
  subroutine GatherMessage(gather, message)
    type(gather_t), intent(inout) :: gather
    type(message_t), intent(inout) :: message
    message%kind = MSG_GATHER
    message%n(1:7) = [gather%record, gather%slot, gather%nt, gather%nrec, gather%ncomp, gather%steps, gather%sealed%memory]
    message%x(1:5) = [gather%sx, gather%sy, gather%sz, gather%seconds, gather%cells]
    message%text = gather%variant//achar(10)//gather%device
    message%places = [gather%rx, gather%rz]
    if (allocated(gather%ry)) message%places = [gather%rx, gather%rz, gather%ry]
    call move_alloc(gather%sealed%bytes, message%fields)
    message%lent => gather%sealed%lent
    message%n(CHECKSUM_AT) = SumOf(message, gather%sealed%crc)
  end subroutine GatherMessage

  !> Moves the sealed traces out of the message. Fails where it came with wrong bits: then it has its numbers, but no traces.
  subroutine GatherFrom(message, gather, error)
    type(message_t), intent(inout) :: message
    type(gather_t), intent(out) :: gather
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: n
    integer :: p
    gather%sealed%crc = Sums(message)
    call ShotOf(message, 'the gather', gather, error, gather%sealed%crc)
    gather%nt = Whole(message%n(3))
    gather%nrec = Whole(message%n(4))
    gather%ncomp = Whole(message%n(5))
    gather%steps = Whole(message%n(6))
    gather%seconds = message%x(4)
    gather%cells = message%x(5)
    if (allocated(error)) return
    p = index(message%text, achar(10))
    gather%variant = message%text(:p - 1)
    gather%device = message%text(p + 1:)
    n = message%n(4)
    gather%rx = message%places(:n)
    gather%rz = message%places(n + 1:2*n)
    if (size(message%places, kind=i8) == 3*n) gather%ry = message%places(2*n + 1:)
    call move_alloc(message%fields, gather%sealed%bytes)
    gather%sealed%lent => message%lent
    gather%sealed%memory = Whole(message%n(7))
  end subroutine GatherFrom

  !> The shot of a gather or of snapshots, and where its source is. Fails where `what` it is came with wrong bits.
  subroutine ShotOf(message, what, gather, error, crc)
    type(message_t), intent(in) :: message
    character(*), intent(in) :: what
    type(gather_t), intent(inout) :: gather
    type(error_t), allocatable, intent(inout) :: error
    integer(i8), intent(in), optional :: crc(:)     !< as of SumOf
    call CheckWhole(message, what, error, crc)
    gather%record = Whole(message%n(1))
    gather%slot = Whole(message%n(2))
    gather%sx = message%x(1)
    gather%sy = message%x(2)
    gather%sz = message%x(3)
  end subroutine ShotOf

  !> SNAPS: the snapshots of a shot.
  subroutine SnapsMessage(gather, message)
    type(gather_t), intent(in) :: gather
    type(message_t), intent(inout) :: message
    message%kind = MSG_SNAPS
    if (allocated(gather%film)) then
      call FilmsMessage(gather, message)
      return
    end if
    message%n(1:5) = [gather%record, gather%slot, gather%nxs, gather%nzs, gather%nsnap]
    message%x(1:8) = [gather%sx, gather%sy, gather%sz, gather%xs0, gather%zs0, gather%dxs, gather%dzs, gather%dts]
    message%fields = reshape(gather%snapshots, [size(gather%snapshots, kind=i8)])
    call ChecksumMessage(message)
  end subroutine SnapsMessage

  !> As GatherFrom.
  subroutine SnapsFrom(message, gather, error)
    type(message_t), intent(in) :: message
    type(gather_t), intent(out) :: gather
    type(error_t), allocatable, intent(inout) :: error
    call ShotOf(message, 'the snapshots', gather, error)
    if (message%n(6) > 0) then
      if (.not. allocated(error)) call FilmsFrom(message, gather)
      return
    end if
    gather%nxs = Whole(message%n(3))
    gather%nzs = Whole(message%n(4))
    gather%nsnap = Whole(message%n(5))
    gather%xs0 = message%x(4)
    gather%zs0 = message%x(5)
    gather%dxs = message%x(6)
    gather%dzs = message%x(7)
    gather%dts = message%x(8)
    if (allocated(error)) return
    gather%snapshots = reshape(message%fields, [gather%nxs, gather%nzs, gather%nsnap])
  end subroutine SnapsFrom

  !> SNAPS of a 3D shot: n(6) films; n(3:5) tell all numbers in them as a product.
  subroutine FilmsMessage(gather, message)
    type(gather_t), intent(in) :: gather
    type(message_t), intent(inout) :: message
    integer(i8) :: n, m, at
    integer :: i
    n = 0
    message%text = ''
    allocate (message%places(5*size(gather%film) + 12))
    do i = 1, size(gather%film)
      associate (f => gather%film(i))
        message%places(12 + 5*i - 4:12 + 5*i) = [real([f%axis, f%n, f%nt], dp), f%place]
        message%text = message%text//f%name//achar(10)//f%about//achar(10)//f%unit//achar(10)
        n = n + size(f%a, kind=i8)
      end associate
    end do
    message%places(:12) = [gather%xf, gather%df, gather%tf, gather%dtf, real(gather%nf, dp), 0.0_dp]
    allocate (message%fields(n))
    at = 0
    do i = 1, size(gather%film)
      m = size(gather%film(i)%a, kind=i8)
      message%fields(at + 1:at + m) = reshape(gather%film(i)%a, [m])
      at = at + m
    end do
    message%n(1:6) = [int(gather%record, i8), int(gather%slot, i8), n, 1_i8, 1_i8, size(gather%film, kind=i8)]
    message%x(1:3) = [gather%sx, gather%sy, gather%sz]
    call ChecksumMessage(message)
  end subroutine FilmsMessage

  subroutine FilmsFrom(message, gather)
    type(message_t), intent(in) :: message
    type(gather_t), intent(inout) :: gather
    character(:), allocatable :: rest
    integer(i8) :: at, m
    integer :: i
    gather%xf = message%places(1:3)
    gather%df = message%places(4:6)
    gather%tf = message%places(7)
    gather%dtf = message%places(8)
    gather%nf = Whole(message%places(9:11))
    allocate (gather%film(message%n(6)))
    rest = message%text
    at = 0
    do i = 1, size(gather%film)
      associate (f => gather%film(i))
        call Cut(f%name)
        call Cut(f%about)
        call Cut(f%unit)
        f%axis = Whole(message%places(12 + 5*i - 4))
        f%n = Whole(message%places(12 + 5*i - 3:12 + 5*i - 2))
        f%nt = Whole(message%places(12 + 5*i - 1))
        f%place = message%places(12 + 5*i)
        m = CountOf([f%n, max(1, f%nt)])
        f%a = reshape(message%fields(at + 1:at + m), [f%n, max(1, f%nt)])
        at = at + m
      end associate
    end do
    gather%nsnap = size(gather%film)
  contains
    subroutine Cut(word)
      character(:), allocatable, intent(out) :: word
      integer :: p
      p = index(rest, achar(10))
      word = rest(:p - 1)
      rest = rest(p + 1:)
    end subroutine Cut
  end subroutine FilmsFrom

end module shot_messages_m
