!> The kernel variants of the solver of spectral elements (variants.f90), and engines of them.
module sem3d_variants_m
  use elements_m, only: elements_t
  use engine_m, only: EngineName
  use error_m, only: error_t, FailFromC
  use iso_c_binding, only: c_long
  use kinds_m, only: dp
  use sem3d_c, only: sem3d_affine, sem3d_bricks, sem3d_need, sem3d_paint, sem3d_solver
  use sem3d_engine_m, only: sem3d_engine_t, sem3d_grid_t, Sem3dCfg
  use sem3d_fortran_m, only: sem3d_fortran_t
  use text_m, only: CString
  use variants_m, only: variants_t
  implicit none
  private
  public :: sem3d_variants, sums_t, Sem3dKernels, Sem3dEngineNew, Sem3dMemory, Sem3dSums, Sem3dColours, Sem3dBricks, &
            Sem3dByColour, Sem3dAffine

  type, extends(variants_t) :: sem3d_variants_t
  contains
    procedure, nopass :: solver => sem3d_solver
  end type sem3d_variants_t

  type(sem3d_variants_t), protected :: sem3d_variants

  !> The way in which a variant adds forces in a whole mesh: engines of its pieces do it alike.
  type :: sums_t
    integer, allocatable :: brick(:)         !< first elements of bricks, as in elements_t
    integer :: piece = 0                     !< as in sem3d_ways_t
    integer, allocatable :: colour(:)        !< of elements, likewise
  end type sums_t

contains

  subroutine Sem3dKernels(variants)
    class(variants_t), allocatable, intent(out) :: variants
    allocate (sem3d_variants_t :: variants)
  end subroutine Sem3dKernels

  !> Memory that an engine takes [bytes], on the host and on its GPU; 0 where that is not known.
  subroutine Sem3dMemory(name, grid, entries, traces, steps, points, host, device)
    character(*), intent(in) :: name
    type(sem3d_grid_t), intent(in) :: grid
    integer, intent(in) :: entries, traces, steps
    integer, intent(in) :: points                            !< of a map
    real(dp), intent(out) :: host, device
    integer(c_long) :: bytes(2)
    host = 0
    device = 0
    if (name == 'fortran') return
    if (sem3d_need(CString(name), Sem3dCfg(grid), entries, traces, steps, points, bytes(1), bytes(2)) /= 0) return
    host = real(bytes(1), dp)
    device = real(bytes(2), dp)
  end subroutine Sem3dMemory

  !> An engine of the variant `name`, without elements yet. Fails on an unknown name.
  subroutine Sem3dEngineNew(name, engine, error)
    character(*), intent(in) :: name
    class(sem3d_engine_t), allocatable, intent(out) :: engine
    type(error_t), allocatable, intent(inout) :: error
    if (name == 'fortran') then
      allocate (sem3d_fortran_t :: engine)
    else
      allocate (sem3d_engine_t :: engine)
    end if
    call EngineName(engine, sem3d_variants, name, error)
  end subroutine Sem3dEngineNew

  !> Of a whole mesh; `sum`: as in sem3d_grid_t.
  subroutine Sem3dSums(name, sum, mesh, sums, error)
    character(*), intent(in) :: name
    integer, intent(in) :: sum
    type(elements_t), intent(in) :: mesh
    type(sums_t), intent(out) :: sums
    type(error_t), allocatable, intent(inout) :: error
    integer, allocatable :: brick(:)
    brick = mesh%brick
    call Sem3dBricks(name, brick, error)
    call move_alloc(brick, sums%brick)
    if (.not. sem3d_variants%needs_gpu(name) .or. allocated(error)) return
    sums%piece = 1
    if (Sem3dAffine(mesh)) sums%piece = 2
    if (Sem3dByColour(name, sum)) call Sem3dColours(mesh, sums%colour, error)
  end subroutine Sem3dSums

  !> All elements have 8 nodes and affine maps.
  logical function Sem3dAffine(mesh) result(affine)
    type(elements_t), intent(in) :: mesh
    affine = mesh%per == 8
    if (affine) affine = sem3d_affine(mesh%n, mesh%corner) == 1
  end function Sem3dAffine

  !> True where pieces on this variant add in the order of colours.
  logical function Sem3dByColour(name, sum) result(yes)
    character(*), intent(in) :: name
    integer, intent(in) :: sum
    integer, parameter :: by_colour = 1
    yes = sem3d_variants%needs_gpu(name) .and. sum == by_colour .and. name /= 'tuned'
  end function Sem3dByColour

  !> The bricks of a mesh, as in elements_t, become those of its pieces on a variant: each is cut for itself.
  subroutine Sem3dBricks(name, brick, error)
    character(*), intent(in) :: name
    integer, allocatable, intent(inout) :: brick(:)
    type(error_t), allocatable, intent(inout) :: error
    integer, allocatable :: cut(:)
    integer :: n, rc
    if (.not. sem3d_variants%needs_gpu(name)) return
    allocate (cut(brick(size(brick))))
    rc = sem3d_bricks(CString(name), size(brick) - 1, brick - 1, n, cut)
    call FailFromC(rc, error)
    if (.not. allocated(error)) brick = cut(:n + 1) + 1
  end subroutine Sem3dBricks

  !> The colours of the elements of a whole mesh: those that share a node have different ones.
  subroutine Sem3dColours(mesh, colour, error)
    type(elements_t), intent(in) :: mesh
    integer, allocatable, intent(out) :: colour(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: rc
    allocate (colour(mesh%n))
    associate (solid => mesh%solid, nodes => maxval(mesh%node))
      rc = sem3d_paint(solid, 8, mesh%node - 1, nodes, colour)
      if (rc == 0) rc = sem3d_paint(mesh%n - solid, 8, mesh%node(:, solid + 1:) - 1, nodes, colour(solid + 1:))
    end associate
    call FailFromC(rc, error)
  end subroutine Sem3dColours

end module sem3d_variants_m
