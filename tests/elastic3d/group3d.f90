!> Random cases of everything that spans pieces of a 3D shot, each modelled by rank 0 alone and by a group of the other ranks: the same
!> bits. Cuts of any shape with uneven planes, half-lengths, sides, layers, attenuation, hills of air and seas cut through, every kind
!> of source, receivers on planes, edges and corners of cuts, components that are derivatives, films of planes and of the top,
!> maps; halos narrow and wide. The bytes that the group counts as sent are those of the cut planes of the grid.
module group3d_m
  use anelastic_m, only: memory_all, memory_coarse, memory_coarse2001
  use check_m, only: Claim, Done, GivenSeed, Seed
  use device_c, only: device_count, device_use
  use error_m, only: error_t, FailFromC
  use fd3d_m, only: fd3d_t
  use group_m, only: group_t, GroupAgree, GroupFree, GroupNew, GroupShotBegins
  use host_c, only: host_nap, host_seconds
  use kinds_m, only: dp, sp
  use parameter_table_m, only: SplitList
  use barrier_m, only: Barrier, Rest
  use protocol_m, only: link_t, LinkFlush, LinkReceive, LinkReply, message_t, MSG_NOTE
  use roles_m, only: role_t, RolesGroups, RolesStart, RolesStop
  use partners_m, only: halo_ipc, halo_words
  use scheme3d_m, only: scheme3d_t, wide_auto, wide_no, wide_words, wide_yes
  use shot_m, only: shot_t
  use source3d_m, only: source_fault
  use text_m, only: Str
  use window_m, only: box_t, window_t
  implicit none
  private
  public :: cases_t, CasesRun

  integer, parameter :: receivers = 14
  real(dp), parameter :: d(3) = [10.0_dp, 12.0_dp, 9.0_dp]
  character(*), parameter :: components = 'vx,vy,vz,p,sxz,exy,wz'

  !> Choices that cases are drawn from.
  type :: cases_t
    integer :: ranks = 9                      !< rank 0, and those of the largest group
    integer :: usual = 60                     !< cases, unless the command line says more
    integer :: steps = 24                     !< of most shots
    integer :: many = 24                      !< of the last one
    character(32), allocatable :: variants(:)
    integer, allocatable :: halos(:)          !< ways of halos
    logical :: gpu = .false.
    real(dp) :: nap = 0                       !< ranks are late by so much between chunks of steps [s]
  end type cases_t

  type :: case_t
    type(scheme3d_t) :: scheme
    type(window_t) :: window
    type(shot_t) :: shot
    integer :: parts(3) = 1
    logical :: boxed = .false.              !< each rank of the group has the media of its box alone
    character(:), allocatable :: about
  end type case_t

  real(dp) :: longest_nap = 0                 !< between chunks of steps [s]

contains

  !> Without a launcher the program launches itself: PROGRAM [SEED [CASES [VARIANTS [STEPS OF THE LAST]]]],
  !> variants joined by commas.
  subroutine CasesRun(cases)
    type(cases_t), intent(inout) :: cases
    character(4096) :: self
    character(80) :: word
    integer :: first, status, v
    call get_environment_variable('OMPI_COMM_WORLD_RANK', word, status=status)
    first = GivenSeed()
    call Read(1, first)
    call Read(2, cases%usual)
    call get_command_argument(3, word)
    if (word /= '') cases%variants = SplitList(trim(word))
    call Read(4, cases%many)
    if (status == 0) then
      longest_nap = cases%nap
      call EachCase(cases, first)
      return
    end if
    call get_command_argument(0, self)
    word = cases%variants(1)
    do v = 2, size(cases%variants)
      word = trim(word)//','//cases%variants(v)
    end do
    call execute_command_line("mpirun --oversubscribe -n "//Str(cases%ranks)//" '"//trim(self)//"' "//Str(first)//' '// &
                              Str(cases%usual)//' '//trim(word)//' '//Str(cases%many), exitstat=status)
    call Claim(status == 0, 'random cases from seed '//Str(first)//': exit status '//Str(status))
    call Done()
  end subroutine CasesRun

  !> A number of the command line, if it is there.
  subroutine Read(place, number)
    integer, intent(in) :: place
    integer, intent(inout) :: number
    character(16) :: word
    integer :: wrong
    call get_command_argument(place, word)
    if (word /= '') read (word, *, iostat=wrong) number
  end subroutine Read

  subroutine EachCase(cases, first)
    type(cases_t), intent(in) :: cases
    integer, intent(in) :: first
    type(role_t) :: role
    type(link_t) :: link
    type(case_t) :: case
    type(error_t), allocatable :: error
    integer :: c, same, silent, failed, wide
    call RolesStart(role)
    link%world = role%world
    if (cases%gpu) call FailFromC(device_use(modulo(max(0, role%rank - 1), max(1, device_count()))), error)
    if (allocated(error)) call Claim(.false., 'rank '//Str(role%rank)//' has a GPU: '//error%message)
    call Barrier(role%world)                  ! GPUs may take seconds to begin
    if (cases%gpu) call LateCase(cases, role, link, first)
    same = 0
    silent = 0
    failed = 0
    wide = 0
    do c = 1, cases%usual
      call Seed(first + c)
      call MakeCase(cases, case, merge(cases%many, cases%steps, c == cases%usual), deep=c == 1)
      call Seed(first + c + 1000*role%rank)
      call OneCase(role, link, case, same, silent, failed, wide)
      if (role%master .and. same + failed < c) then
        call Claim(.false., 'seed '//Str(first + c - 1)//' with one case of '//Str(case%scheme%nt)//' steps: '//case%about)
        same = same + 1
      end if
      call Barrier(role%world)
    end do
    if (role%master) then
      call Claim(failed*10 <= cases%usual, Str(failed)//' of '//Str(cases%usual)//' cases cannot be modelled, whole and in pieces alike')
      call Claim(silent*10 <= cases%usual, Str(silent)//' of '//Str(cases%usual)//' cases have silent traces')
      call Claim(wide > 0 .or. cases%usual < 100, Str(wide)//' of '//Str(cases%usual)//' cases have wide halos')
    end if
    call RolesStop(role)
    if (role%master) call Done()
  end subroutine EachCase

  ! --- one case -------------------------------------------------------------------------------------------------------

  !> Rank 0 models it alone, n others together; the first of these sends what it has to rank 0.
  subroutine OneCase(role, link, case, same, silent, failed, wide)
    type(role_t), intent(inout) :: role
    type(link_t), intent(inout) :: link
    type(case_t), intent(inout) :: case
    integer, intent(inout) :: same, silent, failed, wide
    type(error_t), allocatable :: error
    type(group_t), target :: group
    type(message_t) :: message
    real(sp), allocatable :: whole(:)
    real(dp) :: nap
    integer :: grid(3), parts(3)
    logical :: widened
    role%worker = role%rank > 0
    call RolesGroups(role, product(case%parts), error)
    if (role%master) then
      call Model(case, whole=whole, error=error, grid=grid)
      nap = 0
      do while (.not. LinkReceive(link, message))
        call Rest(nap)
      end do
      wide = wide + int(message%n(4))
      if (message%n(4) > 0) case%about = case%about//', wide'
      if (allocated(error)) then
        if (message%text == error%message) failed = failed + 1
        if (message%text /= error%message) case%about = case%about//': '//error%message//' / '//message%text
      else if (message%text /= '') then
        case%about = case%about//': '//message%text
      else if (any(abs(message%x(1:2) - Crossing(case, grid, int(message%n(1:3)), message%n(4) > 0)) > 0)) then
        case%about = case%about//': '//Str(message%x(1))//' bytes in '//Str(message%x(2))//' messages travelled'
      else if (size(whole) == size(message%fields)) then
        if (all(whole == message%fields)) same = same + 1
        case%about = case%about//': '//Str(count(whole /= message%fields))//' of '//Str(size(whole))//' numbers differ'
        if (.not. maxval(abs(whole)) > 0) silent = silent + 1
      end if
    else if (role%worker_id == 1) then
      call GroupNew(group, role, 60.0_dp)
      call Model(case, group, whole, error, travelled=message%x(1:2), parts=parts, wide=widened)
      if (role%group_rank == 0) then
        message%kind = MSG_NOTE
        message%n(1:4) = [parts, merge(1, 0, widened)]
        message%text = ''
        if (allocated(error)) message%text = error%message
        if (.not. allocated(error)) call move_alloc(whole, message%fields)
        call LinkReply(link, 0, message)
        call LinkFlush(link)
      end if
      call GroupFree(group, .false.)
    end if
  end subroutine OneCase

  !> Of two ranks on GPUs the second stops for longer than it is waited for: the wait of the first one's GPU ends by itself, and both
  !> get the error. The next cases on the same ranks show that nothing is left behind.
  subroutine LateCase(cases, role, link, first)
    type(cases_t), intent(in) :: cases
    type(role_t), intent(inout) :: role
    type(link_t), intent(inout) :: link
    integer, intent(in) :: first
    real(dp), parameter :: lease = 5
    type(case_t) :: case
    type(group_t), target :: group
    type(fd3d_t), target :: solver
    type(error_t), allocatable :: error
    type(message_t) :: message
    real(dp) :: nap, began
    integer :: c
    c = 0
    do
      call Seed(first - 1 - c)
      call MakeCase(cases, case, 900, deep=.false.)
      if (product(case%parts) == 2 .and. .not. case%scheme%one_way) exit
      c = c + 1
    end do
    case%scheme%own%halo = halo_ipc
    case%scheme%own%wide = wide_no                       ! wide halos are messages, for which a process waits
    role%worker = role%rank > 0
    call RolesGroups(role, 2, error)
    if (role%master) then
      nap = 0
      do while (.not. LinkReceive(link, message))
        call Rest(nap)
      end do
      call Claim(index(message%text, 'did not come through') > 0, 'a rank waits in vain for one that is late: '//message%text)
      call Claim(message%x(1) > lease - 0.5_dp .and. message%x(1) < 3*lease, 'the wait of '//Str(lease)//' s ends after '// &
                 Str(message%x(1), 3)//' s')
    else if (role%worker_id == 1) then
      call GroupNew(group, role, lease)
      solver%partners => group
      call GroupShotBegins(group)
      call solver%setup(case%scheme, case%window, case%shot, error)
      call GroupAgree(group, error)
      solver%chunk = 10
      began = host_seconds()
      if (role%group_rank == 0 .and. .not. allocated(error)) call solver%modfd(error, Delay)
      if (role%group_rank == 1 .and. .not. allocated(error)) call solver%modfd(error, Sleep)
      began = host_seconds() - began
      call GroupAgree(group, error)
      call solver%free()
      if (role%group_rank == 0) then
        message%kind = MSG_NOTE
        message%x(1) = began
        message%text = ''
        if (allocated(error)) message%text = error%message
        call LinkReply(link, 0, message)
        call LinkFlush(link)
      end if
      call GroupFree(group, .false.)
    end if
    call Barrier(role%world)

  contains

    subroutine Sleep(fraction, stop)
      real(dp), intent(in) :: fraction
      logical, intent(inout) :: stop
      if (fraction < 0.015_dp) call host_nap(1.5_dp*lease)   ! once, when ten steps are queued
    end subroutine Sleep
  end subroutine LateCase

  !> Bytes and messages that travel in a shot: both sides of each cut plane have half_length planes of cells, each of which gives 3
  !> velocities and 3 stresses of 4 bytes a step, or where halos are wide twice as many planes 3 velocities, the planes wider by two
  !> half-lengths at each cut of an axis before. A periodic axis is cut once more, where it is closed to a ring.
  pure function Crossing(case, n, parts, wide) result(travel)
    type(case_t), intent(in) :: case
    integer, intent(in) :: n(3), parts(3)       !< cells of the grid, pieces
    logical, intent(in) :: wide
    real(dp) :: travel(2), across(3)
    integer :: a, planes
    travel = 0
    across = n
    do a = 1, 3
      planes = parts(a) - 1
      if (case%scheme%periodic .and. a < 3 .and. parts(a) > 1) planes = parts(a)
      travel(1) = travel(1) + 2.0_dp*planes*product(across)/across(a)*case%scheme%half_length*6*4*case%scheme%nt
      travel(2) = travel(2) + 2.0_dp*planes*product(parts)/parts(a)*merge(1, 2, wide)*case%scheme%nt
      if (wide) across(a) = n(a) + 4*planes*case%scheme%half_length
    end do
  end function Crossing

  !> Samples of all receivers, then all pictures. On request the cells of the whole grid; bytes and messages that all ranks sent, and
  !> how many pieces there are along x, y, z; whether halos were wide.
  subroutine Model(case, group, whole, error, grid, travelled, parts, wide)
    type(case_t), intent(in) :: case
    type(group_t), intent(inout), target, optional :: group
    real(sp), allocatable, intent(out) :: whole(:)
    type(error_t), allocatable, intent(inout) :: error
    integer, intent(out), optional :: grid(3), parts(3)
    real(dp), intent(out), optional :: travelled(2)
    logical, intent(out), optional :: wide
    type(fd3d_t), target :: solver
    type(window_t) :: window
    real(sp), allocatable :: raw(:, :)
    integer :: f, traces
    window = case%window
    if (present(group)) solver%partners => group
    if (present(group)) call GroupShotBegins(group)
    if (present(group) .and. case%boxed) call Cut(case, solver, window, error)
    if (.not. allocated(error)) call solver%setup(case%scheme, window, case%shot, error)
    if (present(group) .and. longest_nap > 0) solver%chunk = Pick(5, 80)
    if (.not. allocated(error)) call solver%modfd(error, Delay)
    if (present(group)) call GroupAgree(group, error)
    traces = merge(size(case%shot%rx)*7, 0, solver%gathers())
    allocate (raw(case%scheme%nt, traces))
    if (.not. allocated(error)) call solver%samples(raw, error)
    whole = reshape(raw, [size(raw)])
    if (.not. allocated(error)) then
      do f = 1, size(solver%film)
        whole = [whole, reshape(solver%film(f)%a, [size(solver%film(f)%a)])]
      end do
    end if
    if (present(grid)) grid = solver%whole%n
    if (present(parts)) parts = solver%cuts%parts
    if (present(wide)) wide = solver%grid%wide
    if (present(travelled)) then
      travelled = [sum(real(group%traffic%bytes, dp)), sum(real(group%traffic%messages, dp))]
      if (.not. allocated(error)) call group%total(travelled, error)
    end if
    call solver%free()
  end subroutine Model

  !> Between chunks of a group ranks are late, each as chance will have it.
  subroutine Delay(fraction, stop)
    real(dp), intent(in) :: fraction
    logical, intent(inout) :: stop
    if (Often(0.3_dp)) call host_nap(Between(0.0_dp, longest_nap))
  end subroutine Delay

  !> Leaves of a window's media those of the box that a rank asks for.
  subroutine Cut(case, solver, window, error)
    type(case_t), intent(in) :: case
    type(fd3d_t), intent(inout) :: solver
    type(window_t), intent(inout) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(box_t) :: box
    deallocate (window%medium)
    call solver%box(case%scheme, window, box, error)
    if (allocated(error)) return
    associate (l => box%low, h => box%high)
      allocate (window%medium(l(1):h(1), l(2):h(2), l(3):h(3), size(case%window%medium, 4)), &
                source=case%window%medium(l(1):h(1), l(2):h(2), l(3):h(3), :))
    end associate
  end subroutine Cut

  ! --- chance ---------------------------------------------------------------------------------------------------------

  integer function Pick(from, to)
    integer, intent(in) :: from, to
    real(dp) :: r
    call random_number(r)
    Pick = from + min(int(r*(to - from + 1)), to - from)
  end function Pick

  real(dp) function Between(from, to)
    real(dp), intent(in) :: from, to
    real(dp) :: r
    call random_number(r)
    Between = from + r*(to - from)
  end function Between

  logical function Often(part)
    real(dp), intent(in) :: part
    real(dp) :: r
    r = Between(0.0_dp, 1.0_dp)
    Often = r < part
  end function Often

  !> `deep`: a hill below air in the upper of two pieces, and a lower one that knows nothing of air.
  subroutine MakeCase(cases, case, steps, deep)
    type(cases_t), intent(in) :: cases
    type(case_t), intent(out) :: case
    integer, intent(in) :: steps
    logical, intent(in) :: deep
    real(dp), parameter :: weights(4, 4) = reshape([1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 9/8.0_dp, -1/24.0_dp, 0.0_dp, 0.0_dp, &
                                                    75/64.0_dp, -25/384.0_dp, 3/640.0_dp, 0.0_dp, 1225/1024.0_dp, &
                                                    -245/3072.0_dp, 49/5120.0_dp, -5/7168.0_dp], [4, 4])
    integer :: i, n(3)
    n = [Pick(10, 18), Pick(10, 17), Pick(14, 18)]
    i = Pick(1, 3)
    if (Often(0.12_dp)) n(i) = Pick(40, 60)                      ! room for several steps at once beside neighbours
    do
      case%parts = [Pick(1, 3), Pick(1, 3), Pick(1, 4)]
      if (product(case%parts) > 1 .and. product(case%parts) < cases%ranks .and. all(n >= 5*case%parts)) exit
    end do
    if (deep) n(3) = 90
    if (deep) case%parts = [1, 1, 2]
    associate (s => case%scheme)
      s%dx = d(1)
      s%dy = d(2)
      s%dz = d(3)
      s%dt = 7.0e-4_dp
      s%nt = steps
      s%nt_out = steps
      s%dt_out = s%dt
      s%fband = 60
      s%fpeak = 25
      s%vmin = 800
      s%vmax = 3300
      s%half_length = Pick(1, 4)
      s%w(:4) = weights(:, s%half_length)
      s%time_correction = .false.
      s%npml = Pick(0, 4)
      s%sponge = Often(0.3_dp)
      s%sponge = s%sponge .and. s%npml > 0
      s%free_top = Often(0.5_dp) .and. .not. deep
      s%periodic = Often(0.25_dp)
      s%one_way = Often(0.2_dp)
      s%variant = trim(cases%variants(Pick(1, size(cases%variants))))
      s%own%halo = cases%halos(Pick(1, size(cases%halos)))
      s%components = components
      s%q = [(real(sin(0.3_dp*i)*exp(-0.003_dp*i*i), sp), i=1, s%nt)]
      s%snapshot = max(9, steps/10)*s%dt
      s%snapshot_step = Pick(1, 2)
      s%own%planes = 'top,x'//Str(Between(d(1), (n(1) - 1)*d(1)), 4)//',y'//Str(Between(d(2), (n(2) - 1)*d(2)), 4)//',z'// &
                     Str(Between(d(3), (n(3) - 1)*d(3)), 4)
      s%own%fields = 'vx,vz,p'
      s%own%pgv = Often(0.6_dp)
      if (Often(0.3_dp)) s%own%pgv_depth = Between(d(3), (n(3) - 3)*d(3))
      s%own%attenuates = Often(0.4_dp)
      s%own%q_band = [1.0_dp, 50.0_dp]
      s%own%q_ref = 7
      s%own%qmin = merge(20.0_dp, 2000.0_dp, Often(0.7_dp))
      s%own%memory = merge(memory_all, merge(memory_coarse, memory_coarse2001, Often(0.7_dp)), Often(0.4_dp))
      s%own%narrow = Often(0.4_dp)
      s%own%wet = Often(0.2_dp)
      if (s%free_top) n(3) = max(n(3), case%parts(3)*s%half_length + 6)        ! the uppermost piece needs five rows more, a one-way bottom one
      s%own%wide = Pick(wide_auto, wide_no)
      if (s%own%halo == halo_ipc .or. (s%periodic .and. any(case%parts(:2) > 1))) s%own%wide = wide_no
      if (s%own%wide == wide_yes) n = max(n, 2*s%half_length*case%parts)
      if (s%own%wide == wide_yes .and. s%free_top) n(3) = max(n(3), 2*s%half_length*case%parts(3) + 3)
      s%own%decomposition = merge(case%parts, 0, Often(0.7_dp) .or. deep)
      case%window = window_t(nx=n(1), ny=n(2), nz=n(3), dx=d(1), dy=d(2), dz=d(3), serial=1)
      call MakeMedium(case, deep)
      call MakeSource(case)
      call MakeReceivers(case)
      case%boxed = Often(0.5_dp) .or. deep
      case%about = About(case)
    end associate
  end subroutine MakeCase

  pure function About(case) result(words)
    type(case_t), intent(in) :: case
    character(:), allocatable :: words
    associate (s => case%scheme, w => case%window, parts => case%parts)
      words = s%variant//', halo '//trim(halo_words(s%own%halo))//', halo_wide '//trim(wide_words(s%own%wide))//', '// &
              Str(w%nx)//' x '//Str(w%ny)//' x '//Str(w%nz)//' in '//Str(parts(1))//'x'//Str(parts(2))//'x'//Str(parts(3))// &
              ', half-length '//Str(s%half_length)//', npml '//Str(s%npml)// &
              trim(merge(' sponge', '       ', s%sponge))//trim(merge(' free    ', '         ', s%free_top))// &
              trim(merge(' periodic', '         ', s%periodic))//trim(merge(' one-way ', '         ', s%one_way))// &
              trim(merge(' with Q  ', '         ', s%own%attenuates))//trim(merge(' narrow  ', '         ', s%own%narrow))// &
              trim(merge(' wet', '    ', s%own%wet))//', source '//Str(s%own%source%kind)//trim(merge(', boxes', '       ', case%boxed))
    end associate
  end function About

  !> Rough rock; often a sea or a hill below air.
  subroutine MakeMedium(case, hill)
    type(case_t), intent(inout) :: case
    logical, intent(in) :: hill
    integer :: i, j, k, ground, kind
    real(dp) :: rough, slope(3)
    kind = Pick(0, 3)
    if (hill) kind = 2
    slope = [Between(-0.3_dp, 0.3_dp), Between(-0.3_dp, 0.3_dp), Between(3.0_dp, 6.0_dp)]
    if (case%scheme%free_top .and. kind == 2) kind = 1
    associate (w => case%window)
      allocate (w%medium(w%nx, w%ny, w%nz, merge(5, 3, case%scheme%own%attenuates)))
      do k = 1, w%nz
        do j = 1, w%ny
          do i = 1, w%nx
            rough = Between(0.9_dp, 1.1_dp)
            w%medium(i, j, k, :3) = real([2800*rough, 1600*rough, 2000*rough], sp)
            if (size(w%medium, 4) == 5) w%medium(i, j, k, 4:) = real([0.02_dp, 0.04_dp]*rough, sp)
            ground = nint(slope(3) + slope(1)*(i - w%nx/2) + slope(2)*(j - w%ny/2))
            if (kind == 1 .and. k < ground) w%medium(i, j, k, :3) = [1500.0, 0.0, 1000.0]
            if (kind == 2 .and. k < ground) w%medium(i, j, k, :) = 0
          end do
        end do
      end do
    end associate
  end subroutine MakeMedium

  !> In the rock, away from the sides.
  subroutine MakeSource(case)
    type(case_t), intent(inout) :: case
    integer :: p, n
    associate (w => case%window, s => case%scheme%own%source, shot => case%shot)
      shot%record = 7
      shot%sx = Between(4.5_dp, w%nx - 4.5_dp)*w%dx
      shot%sy = Between(4.5_dp, w%ny - 4.5_dp)*w%dy
      shot%sz = Between(0.6_dp*w%nz, w%nz - 5.0_dp)*w%dz
      s%kind = Pick(1, 4)
      s%force = [Between(-1.0_dp, 1.0_dp), Between(-1.0_dp, 1.0_dp), 1.0_dp]*1e9_dp
      s%moment = [(Between(-1.0_dp, 1.0_dp)*1e10_dp, p=1, 6)]
      if (s%kind /= source_fault) return
      n = Pick(2, 6)
      s%fault%n = n
      s%fault%x = reshape([(Between(-1.0_dp, 1.0_dp)*d(1), p=1, 3*n)], [3, n])
      s%fault%m = reshape([(Between(-1.0_dp, 1.0_dp)*1e10_dp, p=1, 6*n)], [6, n])
      s%fault%potency = [(Often(0.5_dp), p=1, n)]
      where (spread(s%fault%potency, 1, 6)) s%fault%m = s%fault%m/5e9_dp
      s%fault%t0 = [(Between(0.0_dp, 0.005_dp), p=1, n)]
      s%fault%dt = [(0.002_dp, p=1, n)]
      s%fault%start = [(1 + 5*(p - 1), p=1, n + 1)]
      s%fault%rate = [(real(Between(0.1_dp, 1.0_dp), sp), p=1, 5*n)]
      s%fault%area = [(1.0_dp, p=1, n)]
      s%fault%point = [(p, p=1, n)]
      s%fault%points = n
    end associate
  end subroutine MakeSource

  !> Anywhere; some on faces, edges and corners of cells, which planes may lie in.
  subroutine MakeReceivers(case)
    type(case_t), intent(inout) :: case
    real(dp) :: x(3, receivers), low, high(3)
    integer :: r, a, n(3)
    n = [case%window%nx, case%window%ny, case%window%nz]
    low = max(0, case%scheme%half_length - case%scheme%npml)     ! nodes reach beyond the window as far as the grid does
    high = n - low
    if (case%scheme%one_way) high(3) = n(3) - 4 - case%scheme%half_length
    do r = 1, receivers
      do a = 1, 3
        x(a, r) = Between(low, high(a))
        if (Often(0.4_dp)) x(a, r) = nint(x(a, r))
      end do
      if (Often(0.3_dp) .and. case%scheme%free_top) x(3, r) = 0
    end do
    case%shot%rx = x(1, :)*d(1)
    case%shot%ry = x(2, :)*d(2)
    case%shot%rz = x(3, :)*d(3)
    case%shot%channel = [(r, r=1, receivers)]
  end subroutine MakeReceivers

end module group3d_m
