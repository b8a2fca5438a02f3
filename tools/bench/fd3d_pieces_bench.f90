!> Speed of a 3D shot in pieces, a rank of one thread each, beside the whole of it on one rank with as many threads, variant `cpu`.
!> Both take turns, as the speed of a machine that others use drifts; ranks whose turn it is not sleep.
!>
!>     fd3d_pieces_bench [CELLS [PIECES [SORTS [REPEATS]]]]     160 cells along each axis, layers with them; 2x1x1, 1x2x1, 1x1x2
!>
!> PIECES joined by commas; SORTS: sponge, pml, sponge-q, pml-q, joined by commas. Half-length 2, layers of 20 cells on five sides
!> below a free surface, a double couple, 100 receivers. A line has medians of the repetitions:
!>
!>     SORT  CUT  ms a step of the whole, of the pieces;  part of its speed that pieces reach: median, least, largest of all turns;
!>     processor time a step of the whole and of all pieces, the least of all turns, and the same part by that
!>
!> Started without a launcher the program launches itself.
program fd3d_pieces_bench
  use, intrinsic :: iso_fortran_env, only: output_unit
  use barrier_m, only: Barrier, Rest
  use bench_median_m, only: Median
  use error_m, only: error_t
  use fd3d_m, only: fd3d_t
  use group_m, only: group_t, GroupFree, GroupNew, GroupShotBegins
  use host_c, only: host_seconds
  use kinds_m, only: dp, sp
  use parameter_table_m, only: SplitList
  use protocol_m, only: link_t, LinkFlush, LinkReceive, LinkReply, message_t, MSG_NOTE
  use roles_m, only: role_t, RolesGroups, RolesStart, RolesStop
  use scheme3d_m, only: scheme3d_t
  use shot_m, only: shot_t
  use source3d_m, only: source_moment
  use text_m, only: Str
  use window_m, only: window_t
  implicit none
  integer, parameter :: layer = 20, receivers = 100, steps = 36

  type :: turns_t
    real(dp), allocatable :: wall(:), work(:)       !< seconds, of processors, a step
  end type turns_t

  character(4096) :: self
  character(32), allocatable :: sorts(:), cuts(:)
  character(80) :: word
  integer :: cells, repeats, status, sort, cut

  cells = Number(1, 160)
  cuts = Words(2, '2x1x1,1x2x1,1x1x2')
  sorts = Words(3, 'sponge,pml,sponge-q,pml-q')
  repeats = Number(4, 9)
  call get_environment_variable('OMPI_COMM_WORLD_RANK', word, status=status)
  if (status == 0) then
    call EachCase()
  else
    call get_command_argument(0, self)
    call execute_command_line("mpirun --oversubscribe --bind-to none -n "//Str(1 + maxval([(product(Parts(cuts(cut))), &
                              cut=1, size(cuts))]))//" '"//trim(self)//"' "//Arguments(), exitstat=status)
    if (status /= 0) error stop 1
  end if

contains

  integer function Number(place, usual)
    integer, intent(in) :: place, usual
    integer :: wrong
    call get_command_argument(place, word)
    Number = usual
    if (word /= '') read (word, *, iostat=wrong) Number
  end function Number

  function Words(place, usual) result(list)
    integer, intent(in) :: place
    character(*), intent(in) :: usual
    character(32), allocatable :: list(:)
    call get_command_argument(place, word)
    if (word == '') word = usual
    allocate (list, source=SplitList(trim(word)))
  end function Words

  function Arguments() result(all)
    character(:), allocatable :: all
    integer :: n
    all = ''
    do n = 1, command_argument_count()
      call get_command_argument(n, word)
      all = all//' '//trim(word)
    end do
  end function Arguments

  !> '2x1x1': pieces along x, y, z.
  function Parts(cut_) result(parts_)
    character(*), intent(in) :: cut_
    integer :: parts_(3), n
    character(len(cut_)) :: text
    text = cut_
    do n = 1, len(text)
      if (text(n:n) == 'x') text(n:n) = ' '
    end do
    read (text, *) parts_
  end function Parts

  subroutine EachCase()
    type(role_t) :: role
    type(link_t) :: link
    call RolesStart(role)
    link%world = role%world
    do sort = 1, size(sorts)
      do cut = 1, size(cuts)
        call OneCase(role, link, trim(sorts(sort)), Parts(cuts(cut)))
        call Barrier(role%world)
      end do
    end do
    call RolesStop(role)
  end subroutine EachCase

  !> Rank 0 has the whole, the next ones a piece each, others nothing.
  subroutine OneCase(role, link, name, parts_)
    type(role_t), intent(inout) :: role
    type(link_t), intent(inout) :: link
    character(*), intent(in) :: name
    integer, intent(in) :: parts_(3)
    type(error_t), allocatable :: error
    type(group_t), target :: group
    type(fd3d_t), target :: solver
    type(turns_t) :: whole, pieces
    type(message_t) :: message
    real(dp) :: took(2), nap
    logical :: grouped
    integer :: turn
    role%worker = role%rank > 0
    call RolesGroups(role, product(parts_), error)
    if (allocated(error)) call Stop_(error%message)
    grouped = role%rank > 0 .and. role%rank <= product(parts_)
    allocate (whole%wall(repeats), whole%work(repeats), pieces%wall(repeats), pieces%work(repeats))
    if (grouped) then
      call GroupNew(group, role, 60.0_dp)
      call GroupShotBegins(group)
      solver%partners => group
    end if
    if (role%master .or. grouped) call SetUp(solver, name, parts_, merge(product(parts_), 1, role%master), error)
    if (allocated(error)) call Stop_(error%message)
    do turn = 0, repeats                      ! the first one warms up
      call Barrier(role%world)
      if (role%master) call Steps_(solver, took)
      if (role%master .and. turn > 0) call Keep(whole, turn, took)
      call Barrier(role%world)
      if (grouped) then
        call Steps_(solver, took)
        call group%largest(took(1:1), error)
        call group%total(took(2:2), error)
        if (allocated(error)) call Stop_(error%message)
        if (role%rank == 1) then
          message%kind = MSG_NOTE
          message%text = ''
          message%fields = real(took, sp)
          call LinkReply(link, 0, message)
          call LinkFlush(link)
        end if
      else if (role%master) then
        nap = 0
        do while (.not. LinkReceive(link, message))
          call Rest(nap)
        end do
        if (turn > 0) call Keep(pieces, turn, real(message%fields, dp))
      end if
    end do
    if (role%master) call Report(name, parts_, whole, pieces)
    call solver%free()
    if (grouped) call GroupFree(group, .false.)
  end subroutine OneCase

  subroutine Keep(turns, turn, took)
    type(turns_t), intent(inout) :: turns
    integer, intent(in) :: turn
    real(dp), intent(in) :: took(2)
    turns%wall(turn) = took(1)
    turns%work(turn) = took(2)
  end subroutine Keep

  !> About `steps` steps, as a worker does them; took: seconds and seconds of processors a step.
  subroutine Steps_(solver, took)
    type(fd3d_t), intent(inout), target :: solver
    real(dp), intent(out) :: took(2)
    type(error_t), allocatable :: error
    real(dp) :: from, work(2)
    integer :: first
    logical :: done
    first = solver%steps
    from = host_seconds()
    call cpu_time(work(1))
    do while (solver%steps < first + steps)
      call solver%advance(done, error)
      if (allocated(error)) call Stop_(error%message)
    end do
    call cpu_time(work(2))
    took = [host_seconds() - from, work(2) - work(1)]/(solver%steps - first)
  end subroutine Steps_

  subroutine Report(name, parts_, whole, pieces)
    character(*), intent(in) :: name
    integer, intent(in) :: parts_(3)
    type(turns_t), intent(in) :: whole, pieces
    real(dp) :: part(repeats)
    part = 100*whole%wall/pieces%wall
    write (output_unit, '(a, i0, "^3  ", a10, i2, 2("x", i0), 2(a, f7.2), a, 3(a, f5.1), 2(a, f7.2), a, f5.1, " %")') 'cpu  ', &
      cells, name, parts_, '  whole', 1e3_dp*Median(whole%wall), ' pieces', 1e3_dp*Median(pieces%wall), ' ms/step', '  ', &
      Median(part), ' % (', minval(part), ' .. ', maxval(part), ')  processors', 1e3_dp*minval(whole%work), ',', &
      1e3_dp*minval(pieces%work), ' ms/step ', 100*minval(whole%work)/minval(pieces%work)
    flush (output_unit)
  end subroutine Report

  subroutine Stop_(why)
    character(*), intent(in) :: why
    write (output_unit, '(a)') 'fd3d_pieces_bench: '//why
    flush (output_unit)
    error stop 1
  end subroutine Stop_

  ! --- the shot -------------------------------------------------------------------------------------------------------

  subroutine SetUp(solver, name, parts_, threads, error)
    type(fd3d_t), intent(inout), target :: solver
    character(*), intent(in) :: name
    integer, intent(in) :: parts_(3), threads
    type(error_t), allocatable, intent(inout) :: error
    type(scheme3d_t) :: s
    type(window_t) :: w
    type(shot_t) :: shot
    real(dp), parameter :: d = 10
    integer :: n(3), i
    n = cells - [2, 2, 1]*layer
    s%dx = d
    s%dy = d
    s%dz = d
    s%dt = 7.0e-4_dp
    s%nt = 3*steps*(repeats + 2)
    s%nt_out = s%nt
    s%dt_out = s%dt
    s%fband = 60
    s%fpeak = 25
    s%vmin = 1200
    s%vmax = 3300
    s%half_length = 2
    s%w(:2) = [9/8.0_dp, -1/24.0_dp]
    s%time_correction = .false.
    s%npml = layer
    s%sponge = index(name, 'sponge') > 0
    s%free_top = .true.
    s%variant = 'cpu'
    s%threads = threads
    s%components = 'vz'
    s%q = [(real(sin(0.05_dp*i), sp), i=1, s%nt)]
    s%own%attenuates = index(name, '-q') > 0
    s%own%q_band = [1.0_dp, 50.0_dp]
    s%own%q_ref = 7
    s%own%qmin = 20
    s%own%decomposition = parts_
    s%own%planes = ''
    s%own%fields = 'vz'
    s%own%source%kind = source_moment
    s%own%source%moment = [0, 0, 0, 1, 0, 0]*1e10_dp
    w%nx = n(1)
    w%ny = n(2)
    w%nz = n(3)
    w%dx = d
    w%dy = d
    w%dz = d
    w%serial = 1
    allocate (w%medium(n(1), n(2), n(3), merge(5, 3, s%own%attenuates)))
    call random_number(w%medium)
    w%medium(:, :, :, 1) = 2600 + 400*w%medium(:, :, :, 1)
    w%medium(:, :, :, 2) = 1400 + 300*w%medium(:, :, :, 2)
    w%medium(:, :, :, 3) = 2000 + 300*w%medium(:, :, :, 3)
    if (s%own%attenuates) w%medium(:, :, :, 4:) = 0.01 + 0.02*w%medium(:, :, :, 4:)
    shot%record = 1
    shot%sx = n(1)*d/2
    shot%sy = n(2)*d/2
    shot%sz = n(3)*d/2
    shot%rx = [((i - 0.5_dp)*n(1)*d/receivers, i=1, receivers)]
    shot%ry = spread(0.3_dp*n(2)*d, 1, receivers)
    shot%rz = spread(20.0_dp, 1, receivers)
    shot%channel = [(i, i=1, receivers)]
    call solver%setup(s, w, shot, error)
  end subroutine SetUp

end program fd3d_pieces_bench
