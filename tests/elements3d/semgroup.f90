!> A shot of spectral elements on ranks that share it has the samples, films and maps of one rank bit for bit, whichever way sums travel,
!> also where the group goes on from the parts of a state, and in the next shot of the same solver, which has no map; the bytes that
!> the ranks count as sent are those of the sums.
module semgroup_m
  use check_m, only: Claim, Done
  use device_c, only: device_count, device_use
  use elements_m, only: elements_t
  use elements_scheme_m, only: elements_scheme_t
  use error_m, only: error_t, FailFromC
  use group_m, only: group_t, GroupAgree, GroupFree, GroupNew, GroupShotBegins
  use kinds_m, only: dp, sp
  use partners_m, only: halo_words
  use barrier_m, only: Barrier, Rest
  use protocol_m, only: link_t, LinkFlush, LinkReceive, LinkReply, message_t, MSG_NOTE
  use roles_m, only: role_t, RolesGroups, RolesStart, RolesStop
  use sem3d_m, only: sem3d_t
  use semjob_m, only: SemJob, SemShare
  use shot_m, only: shot_t
  use solver_m, only: time_position_t
  use text_m, only: Str
  use window_m, only: window_t
  implicit none
  private
  public :: groups_t, GroupsRun

  integer, parameter :: most = 4            !< ranks of a group

  type :: groups_t
    character(24), allocatable :: variants(:)
    integer, allocatable :: halos(:)        !< ways of sums, two at least
    logical :: gpu = .false.                !< ranks compute on GPUs, which may be one and the same
  end type groups_t

  type(window_t) :: whole_window
  type(elements_t) :: mesh
  type(elements_scheme_t) :: scheme
  type(shot_t) :: shot

contains

  !> Without a launcher the program launches itself.
  subroutine GroupsRun(groups)
    type(groups_t), intent(in) :: groups
    character(4096) :: self
    character(20) :: word
    integer :: status
    call get_environment_variable('OMPI_COMM_WORLD_RANK', word, status=status)
    if (status == 0) then
      call AllCases(groups)
      return
    end if
    call get_command_argument(0, self)
    call execute_command_line("mpirun --oversubscribe -n "//Str(most + 1)//" '"//trim(self)//"'", exitstat=status)
    call Claim(status == 0, 'a group of ranks: exit status '//Str(status))
    call Done()
  end subroutine GroupsRun

  subroutine AllCases(groups)
    type(groups_t), intent(in) :: groups
    type(role_t) :: role
    type(link_t) :: link
    real(sp), allocatable :: one(:)
    type(error_t), allocatable :: error
    integer :: v, h
    call RolesStart(role)
    link%world = role%world
    if (groups%gpu) call FailFromC(device_use(modulo(max(0, role%rank - 1), max(1, device_count()))), error)
    if (allocated(error)) call Claim(.false., 'rank '//Str(role%rank)//' has a GPU: '//error%message)
    call Barrier(role%world)                  ! GPUs may take seconds to begin
    do v = 1, size(groups%variants)
      call SemJob(whole_window, scheme, shot, mesh)
      scheme%variant = trim(groups%variants(v))
      scheme%snapshot = 60*scheme%dt
      scheme%nt = min(scheme%nt, 150)
      scheme%q = scheme%q(:scheme%nt)
      scheme%threads = 1
      if (role%master) call Model(one, error)
      if (role%master) call Claim(.not. allocated(error), 'one rank models '//Str(scheme%nt)//' steps')
      call OneCase(role, link, one, 2, groups%halos(1), 0)
      call OneCase(role, link, one, 4, groups%halos(2), 0)
      call OneCase(role, link, one, 3, groups%halos(1), 71)
      call OneCase(role, link, one, 3, groups%halos(2), 45)
      do h = 3, size(groups%halos)
        call OneCase(role, link, one, 3, groups%halos(h), 58)
      end do
      call scheme%no_pictures()
      if (role%master) call Model(one, error)
      call OneCase(role, link, one, 3, groups%halos(1), 0)
    end do
    call RolesStop(role)
    if (role%master) call Done()
  end subroutine AllCases

  !> The group models it, and another solver goes on from step `state`, 0: none does. Rank 0 compares.
  subroutine OneCase(role, link, one, n, halo, state)
    type(role_t), intent(inout) :: role
    type(link_t), intent(inout) :: link
    real(sp), allocatable, intent(in) :: one(:)
    integer, intent(in) :: n, halo, state
    type(error_t), allocatable :: error
    type(group_t), target :: group
    type(message_t) :: message
    real(sp), allocatable :: all(:)
    real(dp) :: nap
    integer :: off
    scheme%halo = halo
    role%worker = role%rank > 0
    call RolesGroups(role, n, error)
    if (role%master) then
      nap = 0
      do while (.not. LinkReceive(link, message))
        call Rest(nap)
      end do
      off = size(one)
      if (message%text == '' .and. size(message%fields) == size(one)) &
        off = count(transfer(one, 1, size(one)) /= transfer(message%fields, 1, size(one)))
      call Claim(off == 0, scheme%variant//', '//Str(n)//' ranks, halo '//trim(halo_words(halo))//', state of step '//Str(state)//': '// &
                 Str(off)//' of '//Str(size(one))//' numbers differ '//message%text)
      if (state == 0) call Claim(message%x(1) > 0 .and. abs(message%x(1) - message%x(2)) <= 0, Str(message%x(1), 9)// &
                                 ' bytes sent, of '//Str(message%x(2), 9)//' expected')
    else if (role%worker_id == 1) then
      call GroupNew(group, role, 60.0_dp)
      call Model(all, error, group, state, message%x(1:2))
      if (role%group_rank == 0) then
        message%kind = MSG_NOTE
        message%text = ''
        if (allocated(error)) message%text = error%message
        if (.not. allocated(error)) call move_alloc(all, message%fields)
        call LinkReply(link, 0, message)
        call LinkFlush(link)
      end if
      call GroupFree(group, .false.)
    end if
    call Barrier(role%world)
  end subroutine OneCase

  !> Samples, then all pictures, on the rank that gathers; bytes sent by all, and those that the engines say.
  subroutine Model(all, error, group, state, bytes)
    real(sp), allocatable, intent(out) :: all(:)
    type(error_t), allocatable, intent(inout) :: error
    type(group_t), intent(inout), target, optional :: group
    integer, intent(in), optional :: state
    real(dp), intent(out), optional :: bytes(2)
    type(sem3d_t), target :: solver, before
    type(time_position_t) :: position
    type(window_t) :: window
    real(sp), allocatable :: raw(:, :), saved(:)
    logical :: finished
    integer :: f, w, phase, out, in
    window = whole_window
    if (present(group)) then
      call SemShare(mesh, scheme, group%n, group%mine, window)
      solver%partners => group
      before%partners => group
      call GroupShotBegins(group)
      if (state > 0) then
        call before%setup(scheme, window, shot, error)
        do while (before%steps < state .and. .not. allocated(error))
          before%chunk = min(10, state - before%steps)
          call before%advance(finished, error)
        end do
        position = before%time_position()
        allocate (saved(before%state_size(position)))
        if (.not. allocated(error)) call before%save(saved, error)
        call before%free()
        call GroupShotBegins(group)
      end if
    end if
    if (.not. allocated(error)) call solver%setup(scheme, window, shot, error)
    if (allocated(saved) .and. .not. allocated(error)) call solver%load(position, saved, error)
    finished = .false.
    do while (.not. (finished .or. allocated(error)))
      call solver%advance(finished, error)
    end do
    if (present(group)) call GroupAgree(group, error)
    if (allocated(error)) return
    allocate (raw(scheme%nt, merge(3*size(shot%rx) + solver%beside, 0, solver%gathers())))
    call solver%samples(raw, error)
    if (allocated(error)) return
    all = reshape(raw, [size(raw)])
    do f = 1, size(solver%film)
      all = [all, reshape(solver%film(f)%a, [size(solver%film(f)%a)])]
    end do
    if (present(group)) then
      bytes = [sum(real(group%traffic%bytes, dp)), 0.0_dp]
      do w = 1, group%n
        do phase = 0, 1
          call solver%engine%way_size(phase, w, out, in, error)
          bytes(2) = bytes(2) + 4.0_dp*out*scheme%nt
        end do
      end do
      if (.not. allocated(error)) call group%total(bytes, error)
    end if
    call solver%free()
  end subroutine Model

end module semgroup_m
