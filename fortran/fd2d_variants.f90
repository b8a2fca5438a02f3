!> The kernel variants of the 2D solver by name: those of C (cuda_c/fd2d_variants.def), and the readable Fortran.
module fd2d_variants_m
  use error_m, only: error_t, Fail
  use fd2d_c, only: fd2d_need, fd2d_variant_about, fd2d_variant_built, fd2d_variant_count, fd2d_variant_name, &
                    fd2d_variant_needs_gpu
  use fd2d_engine_m, only: fd2d_engine_t, fd2d_grid_t
  use fd2d_fortran_m, only: fd2d_fortran_t
  use fd2d_native_m, only: fd2d_native_t, NativeCfg
  use iso_c_binding, only: c_char, c_long, c_null_char
  use kinds_m, only: dp
  use text_m, only: CString, FString, Join
  implicit none
  private
  public :: Fd2dVariantNames, Fd2dVariantList, Fd2dVariantAbout, Fd2dVariantFor, Fd2dVariantNeedsGpu, Fd2dVariantBuilt
  public :: Fd2dEngineNew, Fd2dMemory, Fd2dVariantsWith

  integer, parameter :: name_length = 24

contains

  !> Those of the variants that need a GPU, or are not in this build, joined by commas.
  function Fd2dVariantsWith(property) result(names)
    character(*), intent(in) :: property         !< 'gpu' or 'unbuilt'
    character(:), allocatable :: names
    character(name_length), allocatable :: list(:)
    logical :: has
    integer :: n
    allocate (list, source=Fd2dVariantList())
    names = ''
    do n = 1, size(list)
      has = .not. Fd2dVariantBuilt(trim(list(n)))
      if (property == 'gpu') has = Fd2dVariantNeedsGpu(trim(list(n)))
      if (.not. has) cycle
      if (names /= '') names = names//','
      names = names//trim(list(n))
    end do
  end function Fd2dVariantsWith

  !> All variants, joined by commas: 'fortran,cpu,...', those that are not in this build too; `variant` may also be 'auto'.
  function Fd2dVariantNames() result(names)
    character(:), allocatable :: names
    character(name_length), allocatable :: list(:)
    integer :: n
    allocate (list, source=Fd2dVariantList())
    names = trim(list(1))
    do n = 2, size(list)
      names = names//','//trim(list(n))
    end do
  end function Fd2dVariantNames

  !> All variants, without 'auto'.
  function Fd2dVariantList() result(list)
    character(name_length), allocatable :: list(:)
    integer :: n
    allocate (list(0:fd2d_variant_count()))
    list(0) = 'fortran'
    do n = 1, size(list) - 1
      list(n) = NativeName(n - 1)
    end do
  end function Fd2dVariantList

  !> One line on a variant; '' if there is none of that name.
  function Fd2dVariantAbout(name) result(about)
    character(*), intent(in) :: name
    character(:), allocatable :: about
    character(kind=c_char, len=256) :: buffer
    integer :: n
    about = ''
    if (name == 'auto') about = 'the fastest of this build for the processor at hand'
    if (name == 'fortran') about = 'plain Fortran with DerDifxfw, DerDifyfw, DerDifxba, DerDifyba: the readable reference'
    n = NativeNumber(name)
    if (n < 0) return
    buffer = c_null_char
    if (fd2d_variant_about(n, len(buffer), buffer) == 0) about = FString(buffer)
  end function Fd2dVariantAbout

  !> THE rule which variant a rank computes with: on a GPU the one asked for, `tuned` for auto; on CPU cores `cpu`, unless
  !> another one for them was asked for.
  function Fd2dVariantFor(asked, has_gpu) result(name)
    character(*), intent(in) :: asked
    logical, intent(in) :: has_gpu
    character(:), allocatable :: name
    name = asked
    if (asked == 'auto') name = trim(merge('tuned', 'cpu  ', has_gpu))
    if (.not. has_gpu .and. Fd2dVariantNeedsGpu(asked)) name = 'cpu'
  end function Fd2dVariantFor

  logical function Fd2dVariantNeedsGpu(name)
    character(*), intent(in) :: name
    integer :: n
    n = NativeNumber(name)
    Fd2dVariantNeedsGpu = .false.
    if (n >= 0) Fd2dVariantNeedsGpu = fd2d_variant_needs_gpu(n) == 1
  end function Fd2dVariantNeedsGpu

  !> Whether the variant is in this build; one made without CUDA knows those for GPUs by name only.
  logical function Fd2dVariantBuilt(name) result(built)
    character(*), intent(in) :: name
    integer :: n
    built = name == 'fortran' .or. name == 'auto'
    n = NativeNumber(name)
    if (n >= 0) built = fd2d_variant_built(n) == 1
  end function Fd2dVariantBuilt

  !> Memory of its GPU that an engine takes [bytes] with `traces` traces of `steps` steps; 0 on CPU cores.
  real(dp) function Fd2dMemory(name, grid, traces, steps) result(bytes)
    character(*), intent(in) :: name
    type(fd2d_grid_t), intent(in) :: grid
    integer, intent(in) :: traces, steps
    integer(c_long) :: n
    bytes = 0
    if (.not. Fd2dVariantNeedsGpu(name)) return
    if (fd2d_need(CString(name), NativeCfg(grid), traces, steps, n) == 0) bytes = real(n, dp)
  end function Fd2dMemory

  !> An engine of the variant `name` ('auto' too), without a grid yet. Fails on an unknown name.
  subroutine Fd2dEngineNew(name, engine, error)
    character(*), intent(in) :: name
    class(fd2d_engine_t), allocatable, intent(out) :: engine
    type(error_t), allocatable, intent(inout) :: error
    type(fd2d_native_t), allocatable :: native
    character(:), allocatable :: variant
    variant = name
    if (name == 'auto') variant = Fd2dVariantFor(name, .false.)
    if (variant == 'fortran') then
      allocate (fd2d_fortran_t :: engine)
    else if (NativeNumber(variant) >= 0) then
      allocate (native)
      native%variant = variant
      native%gpu = Fd2dVariantNeedsGpu(variant)
      call move_alloc(native, engine)
    else
      call Fail(error, 'no kernel variant "'//name//'" in this build, which has: '//Join(Fd2dVariantList()))
    end if
  end subroutine Fd2dEngineNew

  function NativeName(n) result(name)
    integer, intent(in) :: n
    character(:), allocatable :: name
    character(kind=c_char, len=name_length) :: buffer
    buffer = c_null_char
    name = ''
    if (fd2d_variant_name(n, len(buffer), buffer) == 0) name = FString(buffer)
  end function NativeName

  !> Number of a C variant, -1 if there is none of that name.
  integer function NativeNumber(name) result(n)
    character(*), intent(in) :: name
    do n = fd2d_variant_count() - 1, 0, -1
      if (NativeName(n) == name) return
    end do
  end function NativeNumber

end module fd2d_variants_m
