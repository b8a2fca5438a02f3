!> Fields, traces and map of GPU variants of spectral elements are the same bits in each run, whatever the chunks of steps, with graphs
!> and without, and from a state that another engine saved: forces gathered by point and colour after colour. Gathered they are those
!> of the order of elements, whatever the variant computes its geometry from. A second mesh in the same engine leaves nothing of the
!> first; memory is as announced; a mesh of fluid alone has no fields of solid.
!>
!>     t872_sem_gpu_same_bits [VARIANT ...]
program t872_sem_gpu_same_bits
  use check_m, only: Claim, Done, Seed
  use elements_m, only: elements_t
  use error_m, only: error_t
  use gpu_m, only: GpuAsked
  use handle_c, only: handle_bytes
  use kinds_m, only: dp, sp
  use sem3d_engine_m, only: sem3d_engine_t, sem3d_grid_t, Sem3dGrid
  use sem3d_variants_m, only: sem3d_variants, Sem3dEngineNew, Sem3dMemory
  use semcase_m, only: semcase_t, SemBox, SemFine
  use semsame_m, only: how_t, SemSame
  use text_m, only: Str
  implicit none

  character(7), parameter :: sums(2) = ['gather ', 'colour ']
  character(24), allocatable :: variants(:)
  type(elements_t) :: mesh
  integer :: v, s

  call GpuAsked(sem3d_variants, variants)
  call Seed(872)
  if (size(variants) > 0) &
    call SemBox(semcase_t(n=[9, 8, 10], water=4, shake=0.2_dp, turn=.true., vary=0.2_dp, side=[2, 1, 2, 2, 1, 2]), mesh)
  do v = 1, size(variants)
    do s = 1, merge(1, size(sums), variants(v) == 'tuned')
      call Bits(trim(variants(v)), s)
    end do
    call Again(trim(variants(v)))
    call Memory(trim(variants(v)))
  end do
  if (size(variants) > 0) call SemBox(semcase_t(n=[5, 4, 6], water=1, shake=0.2_dp, turn=.true., vary=0.1_dp, tensors=3, &
                                                side=[2, 1, 2, 2, 1, 2]), mesh)
  do v = 1, size(variants)
    call Bits(trim(variants(v)), 1)
    call Memory(trim(variants(v)))
  end do
  if (size(variants) > 0) call SemBox(semcase_t(n=[5, 4, 6], water=6, shake=0.2_dp, turn=.true., vary=0.2_dp, side=[2, 1, 2, 2, 1, 2]), &
                                      mesh)
  do v = 1, size(variants)
    call Bits(trim(variants(v)), 1)
    call Fluid(trim(variants(v)))
  end do
  deallocate (variants)
  call Done()

contains

  subroutine Bits(variant, sum)
    character(*), intent(in) :: variant
    integer, intent(in) :: sum
    type(how_t) :: how(7)
    integer :: n
    do n = 1, size(how)
      how(n)%variant = variant
      how(n)%sum = sum - 1
    end do
    how(3)%chunk = 1
    how(4)%chunk = 7
    how(5)%saved = 5
    how(6)%saved = 23
    how(7)%chunk = 8
    call SemSame(mesh, variant//', '//trim(sums(sum))//': run again, chunks of 1, 7, 8 and 24 steps, a state saved after 5 and 23', &
                 how)
  end subroutine Bits

  !> An engine that gets its elements twice has fields of 0, and goes on as a new one.
  subroutine Again(variant)
    character(*), intent(in) :: variant
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    type(sem3d_grid_t) :: grid
    real(sp), allocatable :: field(:)
    real(sp) :: first, second, q(1, 20)
    integer :: it, place(3, 2)
    grid = Sem3dGrid(mesh)
    grid%dt = 4e-3_dp
    call Sem3dEngineNew(variant, engine, error)
    call engine%new(grid, error)
    q = 1
    do it = 1, 2
      if (.not. allocated(error)) call engine%elements(mesh, error)
      if (.not. allocated(error)) call engine%source(1, [2, 0], mesh%at([60, 61], 5 + it), [1, 1], [1e9, 1e9], error)
      if (.not. allocated(error)) call engine%source(1, [2], mesh%at([60], 5), [1], [1e9], error)
      if (.not. allocated(error)) call engine%histories(1, q, error)
      if (.not. allocated(error)) call engine%timestep(1, 20, error)
      if (it == 1 .and. .not. allocated(error)) call engine%maxabs(first, place(:, 1), error)
      if (it == 2 .and. .not. allocated(error)) call engine%maxabs(second, place(:, 2), error)
    end do
    call SemFine(error, variant//', elements twice')
    allocate (field(mesh%solid_points))
    call engine%field(2, field, error)
    call SemFine(error, variant//', a field')
    call Claim(first > 0 .and. first >= second .and. first <= second .and. all(place(:, 1) == place(:, 2)) .and. &
               maxval(abs(field)) <= second, variant//': elements and sources given twice: largest velocity '//Str(first)// &
               ' at point '//Str(place(1, 1))//', then '//Str(second)//' at '//Str(place(1, 2)))
    call engine%free()
  end subroutine Again

  !> The memory announced is enough, and at most twice of what is taken.
  subroutine Memory(variant)
    character(*), intent(in) :: variant
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    type(sem3d_grid_t) :: grid
    real(dp) :: host, device, taken
    grid = Sem3dGrid(mesh)
    grid%dt = 4e-3_dp
    grid%mechanisms = 3
    call Sem3dMemory(variant, grid, 100, 10, 100, 0, host, device)
    call Sem3dEngineNew(variant, engine, error)
    call engine%new(grid, error)
    if (.not. allocated(error)) call engine%elements(mesh, error)
    call SemFine(error, variant//', memory')
    taken = handle_bytes(engine%handle)
    call Claim(taken <= host + device .and. 2*taken >= host + device, variant//': takes '//Str(taken, 4)//' bytes of '// &
               Str(host + device, 4)//' announced, '//Str(device, 4)//' of the GPU')
    call engine%free()
  end subroutine Memory

  !> Of fluid alone a point has two numbers, in a state too.
  subroutine Fluid(variant)
    character(*), intent(in) :: variant
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    type(sem3d_grid_t) :: grid
    real(dp) :: host, device, taken
    grid = Sem3dGrid(mesh)
    grid%dt = 4e-3_dp
    call Sem3dMemory(variant, grid, 100, 10, 100, 0, host, device)
    call Sem3dEngineNew(variant, engine, error)
    call engine%new(grid, error)
    if (.not. allocated(error)) call engine%elements(mesh, error)
    call SemFine(error, variant//', fluid alone')
    taken = handle_bytes(engine%handle)
    call Claim(engine%state_size(0) == 2*mesh%points .and. taken <= host + device, variant//', fluid alone: a state of '// &
               Str(engine%state_size(0))//' numbers for '//Str(mesh%points)//' points, takes '//Str(taken, 4)//' bytes of '// &
               Str(host + device, 4)//' announced')
    call engine%free()
  end subroutine Fluid

end program t872_sem_gpu_same_bits
