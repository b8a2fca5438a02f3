!> The kernel variants of the 3D solver by name: those of C (cuda_c/fd3d_variants.def), and the readable Fortran.
module fd3d_variants_m
  use error_m, only: error_t, Fail, FailFromC
  use fd3d_c, only: fd3d_need, fd3d_variant_about, fd3d_variant_built, fd3d_variant_count, fd3d_variant_name, &
                    fd3d_variant_needs_gpu
  use fd3d_engine_m, only: fd3d_engine_t, fd3d_grid_t
  use fd3d_fortran_m, only: fd3d_fortran_t
  use fd3d_native_m, only: fd3d_native_t, Native3dCfg
  use iso_c_binding, only: c_char, c_long, c_null_char
  use kinds_m, only: dp
  use text_m, only: CString, FString
  implicit none
  private
  public :: Fd3dVariantNames, Fd3dVariantAbout, Fd3dVariantFor, Fd3dVariantNeedsGpu, Fd3dVariantBuilt
  public :: Fd3dEngineNew, Fd3dMemory, Fd3dVariantsWith, Fd3dGridCheck

  integer, parameter :: name_length = 24

contains

  !> Those of the variants that need a GPU, or are not in this build, joined by commas.
  function Fd3dVariantsWith(property) result(names)
    character(*), intent(in) :: property         !< 'gpu' or 'unbuilt'
    character(:), allocatable :: names, name
    logical :: has
    integer :: n
    names = ''
    do n = 0, fd3d_variant_count() - 1
      name = NativeName(n)
      has = .not. Fd3dVariantBuilt(name)
      if (property == 'gpu') has = Fd3dVariantNeedsGpu(name)
      if (.not. has) cycle
      if (names /= '') names = names//','
      names = names//name
    end do
  end function Fd3dVariantsWith

  !> All variants, joined by commas: 'fortran,cpu,...', those that are not in this build too; `variant` may also be 'auto'.
  function Fd3dVariantNames() result(names)
    character(:), allocatable :: names
    integer :: n
    names = 'fortran'
    do n = 0, fd3d_variant_count() - 1
      names = names//','//NativeName(n)
    end do
  end function Fd3dVariantNames

  !> One line on a variant; '' if there is none of that name.
  function Fd3dVariantAbout(name) result(about)
    character(*), intent(in) :: name
    character(:), allocatable :: about
    character(kind=c_char, len=256) :: buffer
    integer :: n
    about = ''
    if (name == 'auto') about = 'the fastest of this build for the processor at hand'
    if (name == 'fortran') about = 'plain Fortran: the readable reference'
    n = NativeNumber(name)
    if (n < 0) return
    buffer = c_null_char
    if (fd3d_variant_about(n, len(buffer), buffer) == 0) about = FString(buffer)
  end function Fd3dVariantAbout

  !> THE rule which variant a rank computes with: on a GPU the one asked for, `tuned` (or the last there is) for auto; on CPU cores
  !> `cpu`, unless another one for them was asked for; `fortran` where a build has no `cpu`.
  function Fd3dVariantFor(asked, has_gpu) result(name)
    character(*), intent(in) :: asked
    logical, intent(in) :: has_gpu
    character(:), allocatable :: name
    integer :: n
    name = asked
    if (asked == 'auto') name = 'cpu'
    if (asked == 'auto' .and. has_gpu) then
      do n = 0, fd3d_variant_count() - 1
        if (fd3d_variant_needs_gpu(n) == 1) name = NativeName(n)
      end do
    end if
    if (.not. has_gpu .and. Fd3dVariantNeedsGpu(name)) name = 'cpu'
    n = NativeNumber('cpu')
    if (name == 'cpu' .and. n < 0) name = 'fortran'
  end function Fd3dVariantFor

  logical function Fd3dVariantNeedsGpu(name)
    character(*), intent(in) :: name
    integer :: n
    n = NativeNumber(name)
    Fd3dVariantNeedsGpu = .false.
    if (n >= 0) Fd3dVariantNeedsGpu = fd3d_variant_needs_gpu(n) == 1
  end function Fd3dVariantNeedsGpu

  !> Whether the variant is in this build; one made without CUDA knows those for GPUs by name only.
  logical function Fd3dVariantBuilt(name) result(built)
    character(*), intent(in) :: name
    integer :: n
    built = name == 'fortran' .or. name == 'auto'
    n = NativeNumber(name)
    if (n >= 0) built = fd3d_variant_built(n) == 1
  end function Fd3dVariantBuilt

  !> Memory of its GPU that an engine takes [bytes]; 0 on CPU cores.
  real(dp) function Fd3dMemory(name, grid, entries, traces, steps) result(bytes)
    character(*), intent(in) :: name
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: entries, traces, steps
    integer(c_long) :: host, device
    bytes = 0
    if (.not. Fd3dVariantNeedsGpu(name)) return
    if (fd3d_need(CString(name), Native3dCfg(grid), entries, traces, steps, host, device) == 0) bytes = real(device, dp)
  end function Fd3dMemory

  !> Fails on a grid that no engine can take, as one too thin for its differentiators.
  subroutine Fd3dGridCheck(grid, error)
    type(fd3d_grid_t), intent(in) :: grid
    type(error_t), allocatable, intent(inout) :: error
    integer(c_long) :: host, device
    call FailFromC(fd3d_need(CString('cpu'), Native3dCfg(grid), 0, 0, 0, host, device), error)
  end subroutine Fd3dGridCheck

  !> An engine of the variant `name`, without a grid yet. Fails on an unknown name.
  subroutine Fd3dEngineNew(name, engine, error)
    character(*), intent(in) :: name
    class(fd3d_engine_t), allocatable, intent(out) :: engine
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_native_t), allocatable :: native
    character(:), allocatable :: variant
    variant = name
    if (name == 'auto') variant = Fd3dVariantFor(name, .false.)
    if (variant == 'fortran') then
      allocate (fd3d_fortran_t :: engine)
    else if (NativeNumber(variant) >= 0) then
      allocate (native)
      native%variant = variant
      native%gpu = Fd3dVariantNeedsGpu(variant)
      call move_alloc(native, engine)
    else
      call Fail(error, 'no kernel variant "'//name//'" in this build, which has: '//Fd3dVariantNames())
    end if
  end subroutine Fd3dEngineNew

  function NativeName(n) result(name)
    integer, intent(in) :: n
    character(:), allocatable :: name
    character(kind=c_char, len=name_length) :: buffer
    buffer = c_null_char
    name = ''
    if (fd3d_variant_name(n, len(buffer), buffer) == 0) name = FString(buffer)
  end function NativeName

  !> Number of a C variant, -1 if there is none of that name.
  integer function NativeNumber(name) result(n)
    character(*), intent(in) :: name
    do n = fd3d_variant_count() - 1, 0, -1
      if (NativeName(n) == name) return
    end do
  end function NativeNumber

end module fd3d_variants_m
