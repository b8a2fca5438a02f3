!> The solver of spectral elements refuses wrong arguments with a sentence that names them and their place, and goes on to live.
program t826_sem_refused
  use check_m, only: Claim, ClaimFails, ClaimFine, Done, Seed
  use elements_m, only: elements_t
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use sem3d_engine_m, only: sem3d_engine_t, sem3d_grid_t, sem3d_map_t, Sem3dGrid
  use sem3d_variants_m, only: Sem3dEngineNew
  use semcase_m, only: semcase_t, SemBox
  implicit none

  type(elements_t) :: sound
  type(error_t), allocatable :: error
  class(sem3d_engine_t), allocatable :: engine

  call Seed(826)
  call SemBox(semcase_t(n=[2, 2, 3], water=1, shake=0.1_dp), sound)
  call Grids()
  call Meshes()
  call Uses()
  call Done()

contains

  !> An engine of this grid; error tells what became of it.
  subroutine Make(grid)
    type(sem3d_grid_t), intent(in) :: grid
    if (allocated(engine)) then
      call engine%free()
      deallocate (engine)
    end if
    call Sem3dEngineNew('cpu', engine, error)
    if (.not. allocated(error)) call engine%new(grid, error)
  end subroutine Make

  type(sem3d_grid_t) function Good() result(grid)
    grid = Sem3dGrid(sound)
    grid%dt = 1e-3_dp
    grid%threads = 1
  end function Good

  subroutine Grids()
    type(sem3d_grid_t) :: grid
    call Make(Good())
    call ClaimFine(error, 'a sound grid is taken')
    grid = Good()
    grid%dt = 0
    call Make(grid)
    call ClaimFails(error, 'dt = 0', 'no time step')
    grid = Good()
    grid%per = 20
    call Make(grid)
    call ClaimFails(error, '20 nodes', 'elements of 20 nodes')
    grid = Good()
    grid%mechanisms = 9
    call Make(grid)
    call ClaimFails(error, '9 mechanisms', 'nine mechanisms of attenuation')
    grid = Good()
    grid%bricks = 0
    call Make(grid)
    call ClaimFails(error, '0 bricks', 'no brick')
  end subroutine Grids

  !> Gives a mesh that is wrong to a new engine.
  subroutine Give(mesh, words, what)
    type(elements_t), intent(in) :: mesh
    character(*), intent(in) :: words, what
    call Make(Good())
    if (.not. allocated(error)) call engine%elements(mesh, error)
    call ClaimFails(error, words, what)
    call engine%timestep(1, 1, error)
    call ClaimFails(error, 'medium', what//': no step without elements')
  end subroutine Give

  subroutine Meshes()
    type(elements_t) :: mesh
    mesh = sound
    mesh%corner(:, [1, 5], 3) = mesh%corner(:, [5, 1], 3)
    call Give(mesh, 'element 3', 'an element inside out')
    mesh = sound
    mesh%at(7, 2) = mesh%solid_points + 1
    call Give(mesh, 'point 7 of element 2', 'a solid element with a point of the fluid')
    mesh = sound
    where (mesh%at == mesh%at(63, 2)) mesh%at = mesh%at(62, 2)
    call Give(mesh, 'must belong to an element', 'a point without an element')
    mesh = sound
    mesh%mu(1, mesh%n) = 1
    call Give(mesh, 'no fluid', 'a fluid that is stiff')
    mesh = sound
    mesh%rho(1, 2) = 0
    call Give(mesh, 'element 2', 'an element without mass')
    mesh = sound
    mesh%face(4, 5) = 7
    call Give(mesh, 'kind 7', 'a side of no kind')
    mesh = sound
    mesh%brick(2) = 1
    call Give(mesh, 'brick 1', 'a brick without elements')
    mesh = sound
    mesh%brick(3) = mesh%solid + 2
    call Give(mesh, 'both solid and fluid', 'a brick of solid and fluid')
    mesh = sound
    mesh%contact(1, 1) = 1
    call Give(mesh, 'contact 1', 'a contact of no fluid')
    mesh = sound
    mesh%partner(3, 2) = mesh%points
    call Give(mesh, 'contact 2', 'a contact with no point of the solid')
  end subroutine Meshes

  subroutine Uses()
    type(sem3d_map_t) :: map
    real(sp) :: value, traces(1, 1)
    integer :: place(3)
    call Make(Good())
    call engine%receivers([1, 2], [0], [1], [1.0_sp], error)
    call ClaimFails(error, 'before the elements', 'receivers before elements')
    call engine%elements(sound, error)
    call ClaimFine(error, 'a sound mesh is taken')
    call engine%receivers([1, 2], [6], [1], [1.0_sp], error)
    call ClaimFails(error, 'no field 6', 'potential of a solid point')
    call engine%receivers([1, 2], [0], [sound%points], [1.0_sp], error)
    call ClaimFails(error, 'no field 0', 'velocity of a fluid point')
    call engine%source(1, [3], [1], [1], [1.0_sp], error)
    call ClaimFails(error, 'drives field 3', 'a source of displacement')
    call engine%source(1, [0], [1], [2], [1.0_sp], error)
    call ClaimFails(error, 'history 2', 'a history that there is not')
    call engine%source(1, [0], [1], [1], [1.0_sp], error)
    call engine%timestep(1, 1, error)
    call ClaimFails(error, 'need histories', 'a step without its histories')
    map%start = [1, 2, 3, 4]
    map%field = [0, 1, 9]
    map%point = [1, 1, 1]
    map%w = [1.0_sp, 1.0_sp, 1.0_sp]
    call engine%watch(map, error)
    call ClaimFails(error, 'field 9', 'a map of no field')
    call engine%histories(1, reshape([1e30_sp], [1, 1]), error)
    call engine%receivers([1, 2], [0], [1], [1.0_sp], error)
    call engine%timestep(1, 1, error)
    call ClaimFine(error, 'after all that it steps')
    call engine%timestep(3, 1, error)
    call ClaimFails(error, 'step 3', 'a step left out')
    call engine%traces(2, traces, error)
    call ClaimFails(error, 'steps 1..1', 'traces of a step not done')
    call engine%histories(2, reshape([huge(1.0_sp)], [1, 1]), error)
    call engine%timestep(2, 1, error)
    call engine%histories(3, reshape([huge(1.0_sp)], [1, 1]), error)
    call engine%timestep(3, 1, error)
    call engine%maxabs(value, place, error)
    call Claim(value > 1e20_sp .and. place(1) >= 1 .and. place(1) <= sound%points, 'a field that blows up is told')
    call engine%free()
  end subroutine Uses

end program t826_sem_refused
