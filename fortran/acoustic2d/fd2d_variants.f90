!> The kernel variants of the 2D solver (variants.f90), which one a rank computes with, and engines of them.
module fd2d_variants_m
  use error_m, only: error_t
  use fd2d_c, only: fd2d_need, fd2d_variant_about, fd2d_variant_built, fd2d_variant_count, fd2d_variant_name, &
                    fd2d_variant_needs_gpu
  use fd2d_engine_m, only: fd2d_engine_t, fd2d_grid_t, Fd2dCfg
  use fd2d_fortran_m, only: fd2d_fortran_t
  use iso_c_binding, only: c_long
  use kinds_m, only: dp
  use text_m, only: CString
  use variants_m, only: variants_t
  implicit none
  private
  public :: fd2d_variants, fd2d_variants_t, Fd2dVariantFor, Fd2dEngineNew, Fd2dMemory

  type, extends(variants_t) :: fd2d_variants_t
  contains
    procedure, nopass :: c_count => fd2d_variant_count
    procedure, nopass :: c_name => fd2d_variant_name
    procedure, nopass :: c_about => fd2d_variant_about
    procedure, nopass :: c_needs_gpu => fd2d_variant_needs_gpu
    procedure, nopass :: c_built => fd2d_variant_built
  end type fd2d_variants_t

  type(fd2d_variants_t), protected :: fd2d_variants

contains

  !> The variant that a rank computes with where `asked` is asked for, on a GPU or without one.
  function Fd2dVariantFor(asked, has_gpu) result(name)
    character(*), intent(in) :: asked
    logical, intent(in) :: has_gpu
    character(:), allocatable :: name
    name = fd2d_variants%for_rank(asked, has_gpu)
  end function Fd2dVariantFor

  !> Memory of its GPU that an engine takes [bytes] with `traces` traces of `steps` steps; 0 on CPU cores.
  real(dp) function Fd2dMemory(name, grid, traces, steps) result(bytes)
    character(*), intent(in) :: name
    type(fd2d_grid_t), intent(in) :: grid
    integer, intent(in) :: traces, steps
    integer(c_long) :: n
    bytes = 0
    if (.not. fd2d_variants%needs_gpu(name)) return
    if (fd2d_need(CString(name), Fd2dCfg(grid), traces, steps, n) == 0) bytes = real(n, dp)
  end function Fd2dMemory

  !> An engine of the variant `name` ('auto' too), without a grid yet. Fails on an unknown name.
  subroutine Fd2dEngineNew(name, engine, error)
    character(*), intent(in) :: name
    class(fd2d_engine_t), allocatable, intent(out) :: engine
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: variant
    call fd2d_variants%known(name, variant, error)
    if (allocated(error)) return
    if (variant == 'fortran') then
      allocate (fd2d_fortran_t :: engine)
    else
      allocate (fd2d_engine_t :: engine)
    end if
    engine%variant = variant
    engine%gpu = fd2d_variants%needs_gpu(variant)
  end subroutine Fd2dEngineNew

end module fd2d_variants_m
