!> Whether this process has a GPU to test on; said once, and a failure where NEED_GPU=1 promises one.
module gpu_m
  use check_m, only: Claim, Skip
  use device_c, only: device_count, device_name, device_use, device_why
  use error_m, only: error_t, FailFromC
  use fd2d_c, only: fd2d_variant_built, fd2d_variant_count, fd2d_variant_name, fd2d_variant_needs_gpu
  use iso_c_binding, only: c_char, c_null_char
  use text_m, only: FString
  implicit none
  private
  public :: GpuThere, GpuVariants, VariantBuilt

contains

  !> True if there is a GPU, which this process then uses. If not, a SKIP says why, or a FAIL where NEED_GPU=1.
  logical function GpuThere() result(there)
    character(kind=c_char, len=256) :: why
    character(8) :: need
    integer :: status
    there = device_count() > 0
    if (there) then
      there = device_use(0) == 0
      if (.not. there) call Claim(.false., 'GPU 0 can be used: '//Sentence())
      return
    end if
    why = c_null_char
    if (device_why(len(why), why) /= 0) why = 'no reason given'//c_null_char
    call get_environment_variable('NEED_GPU', need, status=status)
    if (status == 0 .and. need /= '0' .and. need /= '') then
      call Claim(.false., 'NEED_GPU='//trim(need)//', but there is no GPU: '//FString(why))
    else
      call Skip('no GPU: '//FString(why))
    end if
  end function GpuThere

  !> Names of the GPU variants in this build.
  function GpuVariants() result(names)
    character(24), allocatable :: names(:)
    integer :: n
    allocate (names(0))
    do n = 0, fd2d_variant_count() - 1
      if (fd2d_variant_needs_gpu(n) == 0) cycle
      if (fd2d_variant_built(n) == 1) names = [character(24) :: names, NameOf(n)]
    end do
  end function GpuVariants

  !> Whether a variant of C is in this build (a GPU variant can be known by name only); true for 'fortran'.
  logical function VariantBuilt(name)
    character(*), intent(in) :: name
    integer :: n
    VariantBuilt = name == 'fortran'
    do n = 0, fd2d_variant_count() - 1
      if (NameOf(n) == name) VariantBuilt = fd2d_variant_built(n) == 1
    end do
  end function VariantBuilt

  function NameOf(n) result(name)
    integer, intent(in) :: n
    character(:), allocatable :: name
    character(kind=c_char, len=24) :: buffer
    buffer = c_null_char
    name = ''
    if (fd2d_variant_name(n, len(buffer), buffer) == 0) name = FString(buffer)
  end function NameOf

  function Sentence() result(text)
    character(:), allocatable :: text
    type(error_t), allocatable :: error
    call FailFromC(1, error)
    text = error%message
  end function Sentence

end module gpu_m
