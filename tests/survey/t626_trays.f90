!> Media that rank 0 puts straight into memory of the rank that asks for them are those of a window that is made whole, bit for bit,
!> whatever the slabs: of flat layers and of volumes, of their own spacing and of another, with and without attenuation. A reply for
!> memory that is gone is of no use, a wrong bit is noticed, and memory that is too small or not there is not written to.
program t626_trays
  use, intrinsic :: iso_c_binding, only: c_associated, c_ptr
  use check_m, only: Claim, ClaimFails, ClaimFine, Done, GivenSeed, RandomBelow, Seed
  use error_m, only: error_t
  use kinds_m, only: dp, i8, sp
  use lent_memory_m, only: tray_t, TrayClose, TrayFind, TrayFree, TrayNew, TrayOpen
  use model3d_m, only: model3d_t
  use model3d_window_m, only: Model3dFill, Model3dMedia
  use model_samples_m, only: part_t
  use parameters_m, only: job_t
  use protocol_m, only: message_t
  use shot_m, only: shot_t
  use shot_messages_m, only: MediaMessage, ModelMessage, WindowFrom
  use text_m, only: Str
  use window_m, only: box_t, window_t
  implicit none
  real(dp), parameter :: h = 10
  integer, parameter :: n(3) = [21, 17, 30]
  integer :: number

  number = GivenSeed()
  call Seed(number)
  call OneModel('layers', .false., 1.0_dp)
  call OneModel('layers', .true., 1.0_dp)
  call OneModel('volumes', .false., 1.0_dp)
  call OneModel('volumes', .true., 1.0_dp)
  call OneModel('volumes', .false., 1.5_dp)
  call OneModel('volumes', .true., 0.7_dp)
  call Wrong()
  call Done()

contains

  subroutine OneModel(kind, q, finer)
    character(*), intent(in) :: kind
    logical, intent(in) :: q
    real(dp), intent(in) :: finer             !< samples a cell along an axis
    type(model3d_t) :: earth
    type(job_t) :: job
    type(window_t) :: outline, whole, window
    type(box_t) :: box, slab
    type(tray_t) :: tray
    type(message_t) :: ask, reply
    type(error_t), allocatable :: error
    type(c_ptr) :: at
    integer(i8) :: samples
    integer :: last, slabs, differ
    logical :: next, there
    job%regrid = 'average'
    call MakeEarth(kind, q, finer, earth)
    outline = Shape3d(merge(5, 3, q))
    box = box_t([2, 1, 3], [n(1), n(2) - 1, n(3)])
    whole = outline
    call Model3dFill(earth, job, box, whole, error)
    window = outline
    call TrayNew(tray, 1, 9*product(int(n(:2), i8))*outline%parts)
    last = box%low(3) - 1
    slabs = 0
    there = .true.
    do while (last < box%high(3) .and. there .and. .not. allocated(error))
      slab = box
      slab%low(3) = last + 1
      slab%high(3) = min(box%high(3), last + 1 + RandomBelow(9))
      ask = message_t()
      call ModelMessage(shot_t(record=7), slab, ask, tray%number, tray%name, tray%bytes)
      samples = product(int(slab%high - slab%low + 1, i8))*outline%parts
      reply = message_t()
      call TrayOpen(ask, samples, at, reply%lent)
      there = associated(reply%lent)
      if (.not. there) exit
      call Model3dMedia(earth, job, outline, slab, reply%lent, error)
      call MediaMessage(7, slab, outline%parts, int(ask%n(6)), reply)
      nullify (reply%lent)
      call TrayClose(ask, at)
      there = TrayFind(tray, reply)
      if (.not. there) exit
      call WindowFrom(reply, box, 2, window, last, next, error)
      slabs = slabs + 1
      there = next
    end do
    call ClaimFine(error, kind//trim(merge(' with Q', '       ', q))//', '//Str(finer)//' samples a cell, in '//Str(slabs)// &
                   ' slabs, seed '//Str(number))
    differ = -1
    if (there .and. .not. allocated(error)) differ = count(.not. window%medium == whole%medium)
    call Claim(differ == 0 .and. maxval(window%medium(:, :, :, 1)) > minval(window%medium(:, :, :, 1)), &
               Str(differ)//' of '//Str(size(whole%medium))//' numbers differ from the window made whole')
    call TrayFree(tray)
  end subroutine OneModel

  pure type(window_t) function Shape3d(parts) result(w)
    integer, intent(in) :: parts
    w = window_t(nx=n(1), ny=n(2), nz=n(3), dx=h, dy=h, dz=h, parts=parts)
  end function Shape3d

  subroutine MakeEarth(kind, q, finer, earth)
    character(*), intent(in) :: kind
    logical, intent(in) :: q
    real(dp), intent(in) :: finer
    type(model3d_t), intent(out) :: earth
    integer :: m(3)
    earth%attenuates = q
    earth%vmax = 5500
    if (kind == 'layers') then
      earth%layers%n = 3
      earth%layers%top = [0.0_dp, 47.0_dp, 183.0_dp]
      earth%layers%medium = reshape([1500.0_dp, 0.0_dp, 1000.0_dp, 0.0_dp, 0.0_dp, 4000.0_dp, 2300.0_dp, 2500.0_dp, 0.005_dp, &
                                     0.01_dp, 5500.0_dp, 3200.0_dp, 2700.0_dp, 0.002_dp, 0.004_dp], [5, 3])
      return
    end if
    m = ceiling(n*finer)
    earth%n = m
    earth%d = h/finer
    earth%x0 = earth%d/2
    earth%high = m*earth%d
    earth%part = part_t([1, 1, 1], m)
    allocate (earth%vp(m(1), m(2)*m(3)), earth%vs(m(1), m(2)*m(3)))
    call random_number(earth%vp)
    earth%vp = 2500 + 2000*earth%vp
    call random_number(earth%vs)
    earth%vs = merge(0.0_sp, earth%vp/2, earth%vs < 0.1_sp)          ! some of it is fluid
    earth%rho = 310*earth%vp**0.25
    if (.not. q) return
    earth%qs = 20/earth%vp
    earth%qp = earth%qs/2
  end subroutine MakeEarth

  !> What must not be believed.
  subroutine Wrong()
    type(tray_t) :: tray
    type(message_t) :: ask, reply
    type(window_t) :: window
    type(box_t) :: box
    type(error_t), allocatable :: error
    real(sp), pointer, contiguous :: media(:)
    type(c_ptr) :: at
    integer :: last
    logical :: next
    box = box_t([1, 1, 1], [4, 5, 6])
    call TrayNew(tray, 1, 360_i8)
    call ModelMessage(shot_t(record=7), box, ask, tray%number, tray%name, tray%bytes)
    call TrayOpen(ask, 361_i8, at, media)
    call Claim(.not. associated(media) .and. .not. c_associated(at), 'a tray for 360 numbers is not opened for 361')
    call TrayOpen(ask, 360_i8, at, media)
    media = 2
    reply%lent => media
    call MediaMessage(7, box, 3, tray%number, reply)
    nullify (reply%lent)
    media(100) = 3
    call TrayClose(ask, at)
    last = 0
    window = window_t(nx=4, ny=5, nz=6)
    if (TrayFind(tray, reply)) call WindowFrom(reply, box, 2, window, last, next, error)
    call ClaimFails(error, 'came with wrong bits', 'a number that has changed in the tray')
    reply%n(6) = 4
    call Claim(.not. TrayFind(tray, reply), 'a reply that tells of more numbers than the tray has is not used')
    reply%n(6) = 3
    call TrayNew(tray, 2, 360_i8)
    call Claim(.not. TrayFind(tray, reply), 'nor is one for the tray before')
    call TrayOpen(ask, 360_i8, at, media)
    call Claim(.not. associated(media), 'which rank 0 cannot open any more')
    ask%text = 'nowhere'
    call TrayOpen(ask, 360_i8, at, media)
    call Claim(.not. associated(media), 'nor memory of another name')
    call TrayFree(tray)
    reply%n(10) = tray%number
    call Claim(.not. TrayFind(tray, reply), 'and without a tray none is found')
  end subroutine Wrong

end program t626_trays
