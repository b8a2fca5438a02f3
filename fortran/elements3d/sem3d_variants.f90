!> The kernel variants of the solver of spectral elements (variants.f90), and engines of them.
module sem3d_variants_m
  use engine_m, only: EngineName
  use error_m, only: error_t
  use iso_c_binding, only: c_long
  use kinds_m, only: dp
  use sem3d_c, only: sem3d_need, sem3d_solver
  use sem3d_engine_m, only: sem3d_engine_t, sem3d_grid_t, Sem3dCfg
  use sem3d_fortran_m, only: sem3d_fortran_t
  use text_m, only: CString
  use variants_m, only: variants_t
  implicit none
  private
  public :: sem3d_variants, Sem3dKernels, Sem3dEngineNew, Sem3dMemory

  type, extends(variants_t) :: sem3d_variants_t
  contains
    procedure, nopass :: solver => sem3d_solver
  end type sem3d_variants_t

  type(sem3d_variants_t), protected :: sem3d_variants

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

end module sem3d_variants_m
