!> Fields, traces, map and state of spectral elements on a GPU are the same bits whether all of their numbers stay there, only their
!> fields, or some of them besides, in as many packets as their bytes make: fluid over solid with attenuation at 57 points and at
!> all, 27 nodes, any chunks, and from a state that an engine with another choice saved. A mesh of 2.5 times the memory that is
!> granted runs, with the same bits. What there is no room for is refused with the bytes, before anything is taken.
!>
!>     t874_sem_gpu_resident [small]     small: without the large mesh, for checkers that slow all down
program t874_sem_gpu_resident
  use check_m, only: Claim, Done, Seed
  use device_c, only: device_memory
  use elements_m, only: elements_t, in_element, in_memory
  use error_m, only: error_t
  use gpu_m, only: GpuAsked
  use iso_c_binding, only: c_long
  use kinds_m, only: dp
  use sem3d_engine_m, only: resident_all, resident_fields, resident_some, sem3d_engine_t, sem3d_grid_t, Sem3dGrid
  use sem3d_variants_m, only: sem3d_variants, Sem3dEngineNew, Sem3dMemory
  use semcase_m, only: semcase_t, SemBox
  use semsame_m, only: how_t, SemSame
  use text_m, only: Str
  implicit none

  integer, parameter :: sides(6) = [2, 1, 2, 2, 1, 2]
  character(24), allocatable :: variants(:)
  type(elements_t) :: mesh
  logical :: small(1)

  call GpuAsked(sem3d_variants, variants, [character(24) :: 'small'], small)
  call Seed(874)
  if (any(variants == 'tuned')) then
    call SemBox(semcase_t(n=[9, 8, 10], water=4, shake=0.2_dp, turn=.true., vary=0.2_dp, side=sides), mesh)
    call Same('fluid over solid', in_memory)
    call Refused()
    call SemBox(semcase_t(n=[8, 9, 9], shake=0.2_dp, turn=.true., vary=0.2_dp, media=125, water=1, side=sides), mesh)
    call Same('attenuation at all points, media by point', in_element)
    call SemBox(semcase_t(n=[7, 6, 6], shake=0.05_dp, turn=.true., vary=0.1_dp, water=2, per=27, side=sides), mesh)
    call Same('27 nodes', in_memory)
    call SemBox(semcase_t(n=[4, 4, 4], water=1, vary=0.2_dp, side=sides), mesh)
    call Same('few elements', in_element)
    if (.not. small(1)) then
      call SemBox(semcase_t(n=[36, 35, 35], water=1, vary=0.1_dp, per=27, brick=4, side=sides), mesh)
      call Larger(2.5_dp)
    end if
  end if
  deallocate (variants)
  call Done()

contains

  !> GPU memory of this mesh with two mechanisms [bytes], and what its numbers take of the host.
  subroutine Need(resident, room, relaxing, device, host)
    integer, intent(in) :: resident, relaxing
    real(dp), intent(in) :: room
    real(dp), intent(out) :: device, host
    type(sem3d_grid_t) :: grid
    grid = Grid2(resident, room, relaxing)
    call Sem3dMemory('tuned', grid, 0, 0, 0, 0, host, device)
  end subroutine Need

  type(sem3d_grid_t) function Grid2(resident, room, relaxing) result(grid)
    integer, intent(in) :: resident, relaxing
    real(dp), intent(in) :: room
    grid = Sem3dGrid(mesh)
    grid%shares = 1
    grid%mechanisms = 2
    grid%dt = 4e-3_dp
    grid%resident = resident
    grid%relaxing = relaxing
    grid%room = room
  end function Grid2

  subroutine Same(what, relaxing)
    character(*), intent(in) :: what
    integer, intent(in) :: relaxing
    type(how_t) :: how(9)
    real(dp) :: all, least, host
    integer :: n
    call Need(resident_all, 0.0_dp, relaxing, all, host)
    call Need(resident_fields, 0.0_dp, relaxing, least, host)
    do n = 1, size(how)
      how(n)%variant = 'tuned'
      how(n)%relaxing = relaxing
    end do
    how(2)%resident = resident_fields
    how(3)%resident = resident_fields
    how(3)%chunk = 1
    how(4:7)%saved = 5
    how(4)%resident = [resident_all, resident_fields]
    how(5)%resident = [resident_fields, resident_all]
    how(6)%resident = resident_some
    how(6)%room = least + 0.1_dp*(all - least)
    how(7)%resident = [resident_fields, resident_some]
    how(7)%room = least + 0.6_dp*(all - least)
    how(8)%resident = resident_some
    how(8)%room = least + 0.95_dp*(all - least)
    how(8)%chunk = 7
    how(9)%resident = resident_some
    how(9)%room = all
    call SemSame(mesh, what//', '//Str(mesh%n)//' elements: all stay, none, 0.1, 0.6, 0.95 of what there is to save; chunks of '// &
                 '1, 7 and 24 steps, states saved after 5', how)
  end subroutine Same

  !> With room for a part of the mesh: the same bits, and no more memory than that.
  subroutine Larger(times)
    real(dp), intent(in) :: times
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    type(how_t) :: how(2)
    real(dp) :: all, host, some, bare, taken
    integer(c_long) :: free(2), total
    integer :: rc
    call Need(resident_all, 0.0_dp, in_element, all, bare)
    call Need(resident_some, all/times, in_element, some, host)
    rc = device_memory(0, free(1), total)
    call Sem3dEngineNew('tuned', engine, error)
    call engine%new(Grid2(resident_some, all/times, in_element), error)
    if (.not. allocated(error)) call engine%elements(mesh, error)
    rc = rc + device_memory(0, free(2), total)
    taken = real(free(1) - free(2), dp)
    if (allocated(error)) call Claim(.false., error%message)
    call Claim(rc == 0 .and. .not. allocated(error) .and. taken > 0 .and. taken <= all/times, Str(mesh%n)//' elements that need '// &
               Str(1e-9_dp*all, 4)//' GB take '//Str(1e-9_dp*taken, 4)//' of the GPU, '//Str(1e-9_dp*all/times, 4)// &
               ' are granted; '//Str(1e-9_dp*(host - bare), 4)//' of the host')
    if (allocated(engine)) call engine%free()
    if (allocated(error)) return
    how(:)%variant = 'tuned'
    how(:)%relaxing = in_element
    how(2)%resident = resident_some
    how(2)%room = all/times
    call SemSame(mesh, 'a mesh of '//Str(times)//' times the memory granted', how)
  end subroutine Larger

  subroutine Refused()
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(dp) :: all, least, host
    integer :: resident
    call Need(resident_all, 0.0_dp, in_memory, all, host)
    call Need(resident_fields, 0.0_dp, in_memory, least, host)
    call Claim(least < 0.9_dp*all, 'fields need '//Str(least, 4)//' bytes, all '//Str(all, 4))
    do resident = resident_all, resident_some
      if (allocated(error)) deallocate (error)
      call Sem3dEngineNew('tuned', engine, error)
      call engine%new(Grid2(resident, 0.9_dp*merge(all, least, resident == resident_all), in_memory), error)
      call Claim(allocated(error), 'resident '//Str(resident)//' with too little room is refused')
      if (allocated(error)) call Claim(index(error%message, 'GB of GPU memory') > 0 .and. index(error%message, 'granted') > 0, &
                                       error%message)
    end do
    if (allocated(error)) deallocate (error)
    call Sem3dEngineNew('global', engine, error)
    call engine%new(Grid2(resident_fields, 0.0_dp, in_memory), error)
    call Claim(allocated(error), 'variant=global keeps all')
    if (allocated(error)) call Claim(index(error%message, 'variant=tuned') > 0, error%message)
  end subroutine Refused

end program t874_sem_gpu_resident
