!> The kernel variants of the 2D solver (variants.f90), and engines of them.
module fd2d_variants_m
  use engine_m, only: EngineName
  use error_m, only: error_t
  use fd2d_c, only: fd2d_need, fd2d_solver
  use fd2d_engine_m, only: fd2d_engine_t, fd2d_grid_t, Fd2dCfg
  use fd2d_fortran_m, only: fd2d_fortran_t
  use iso_c_binding, only: c_long
  use kinds_m, only: dp
  use text_m, only: CString
  use variants_m, only: variants_t
  implicit none
  private
  public :: fd2d_variants, Fd2dKernels, Fd2dEngineNew, Fd2dMemory

  type, extends(variants_t) :: fd2d_variants_t
  contains
    procedure, nopass :: solver => fd2d_solver
  end type fd2d_variants_t

  type(fd2d_variants_t), protected :: fd2d_variants

contains

  subroutine Fd2dKernels(variants)
    class(variants_t), allocatable, intent(out) :: variants
    allocate (fd2d_variants_t :: variants)
  end subroutine Fd2dKernels

  !> Memory of its GPU that an engine takes [bytes] with `traces` traces of `steps` steps; 0 on CPU cores, huge() where it cannot
  !> take such a grid at all.
  real(dp) function Fd2dMemory(name, grid, traces, steps) result(bytes)
    character(*), intent(in) :: name
    type(fd2d_grid_t), intent(in) :: grid
    integer, intent(in) :: traces, steps
    integer(c_long) :: n
    bytes = 0
    if (.not. fd2d_variants%needs_gpu(name)) return
    if (fd2d_need(CString(name), Fd2dCfg(grid), traces, steps, n) == 0) then
      bytes = real(n, dp)
    else
      bytes = huge(bytes)
    end if
  end function Fd2dMemory

  !> An engine of the variant `name` ('auto' too), without a grid yet. Fails on an unknown name.
  subroutine Fd2dEngineNew(name, engine, error)
    character(*), intent(in) :: name
    class(fd2d_engine_t), allocatable, intent(out) :: engine
    type(error_t), allocatable, intent(inout) :: error
    if (name == 'fortran') then
      allocate (fd2d_fortran_t :: engine)
    else
      allocate (fd2d_engine_t :: engine)
    end if
    call EngineName(engine, fd2d_variants, name, error)
  end subroutine Fd2dEngineNew

end module fd2d_variants_m
