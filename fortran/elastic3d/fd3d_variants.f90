!> The kernel variants of the 3D solver (variants.f90), and engines of them.
module fd3d_variants_m
  use engine_m, only: EngineName
  use error_m, only: error_t, FailFromC
  use fd3d_c, only: fd3d_need, fd3d_solver
  use fd3d_engine_m, only: fd3d_engine_t, fd3d_grid_t, Fd3dCfg
  use fd3d_fortran_m, only: fd3d_fortran_t
  use iso_c_binding, only: c_long
  use kinds_m, only: dp
  use text_m, only: CString
  use variants_m, only: variants_t
  implicit none
  private
  public :: fd3d_variants, Fd3dKernels, Fd3dEngineNew, Fd3dMemory, Fd3dGridCheck

  type, extends(variants_t) :: fd3d_variants_t
  contains
    procedure, nopass :: solver => fd3d_solver
  end type fd3d_variants_t

  type(fd3d_variants_t), protected :: fd3d_variants

contains

  subroutine Fd3dKernels(variants)
    class(variants_t), allocatable, intent(out) :: variants
    allocate (fd3d_variants_t :: variants)
  end subroutine Fd3dKernels

  !> Memory of its GPU that an engine takes [bytes]; 0 on CPU cores, huge() where it cannot take such a grid at all.
  real(dp) function Fd3dMemory(name, grid, entries, traces, steps, points, stencil_entries) result(bytes)
    character(*), intent(in) :: name
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: entries, traces, steps
    integer, intent(in) :: points, stencil_entries           !< of a map
    integer(c_long) :: host, device
    bytes = 0
    if (.not. fd3d_variants%needs_gpu(name)) return
    if (fd3d_need(CString(name), Fd3dCfg(grid), entries, traces, steps, points, stencil_entries, host, device) == 0) then
      bytes = real(device, dp)
    else
      bytes = huge(bytes)
    end if
  end function Fd3dMemory

  !> Fails on a grid that no engine can take, as one too thin for its differentiators.
  subroutine Fd3dGridCheck(grid, error)
    type(fd3d_grid_t), intent(in) :: grid
    type(error_t), allocatable, intent(inout) :: error
    integer(c_long) :: host, device
    call FailFromC(fd3d_need(CString('cpu'), Fd3dCfg(grid), 0, 0, 0, 0, 0, host, device), error)
  end subroutine Fd3dGridCheck

  !> An engine of the variant `name`, without a grid yet. Fails on an unknown name.
  subroutine Fd3dEngineNew(name, engine, error)
    character(*), intent(in) :: name
    class(fd3d_engine_t), allocatable, intent(out) :: engine
    type(error_t), allocatable, intent(inout) :: error
    if (name == 'fortran') then
      allocate (fd3d_fortran_t :: engine)
    else
      allocate (fd3d_engine_t :: engine)
    end if
    call EngineName(engine, fd3d_variants, name, error)
  end subroutine Fd3dEngineNew

end module fd3d_variants_m
