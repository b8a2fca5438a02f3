!> The GPU to test on, or a SKIP that says why there is none, a failure where NEED_GPU=1 promises one; and the variants to test.
module gpu_m
  use check_m, only: Claim, Skip
  use device_c, only: device_count, device_use, device_why
  use error_m, only: error_t, FailFromC
  use iso_c_binding, only: c_char, c_null_char
  use parameter_table_m, only: SplitList
  use text_m, only: FString
  use variants_m, only: variants_t
  implicit none
  private
  public :: GpuThere, GpuVariants, GpuAsked

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
  function GpuVariants(variants) result(names)
    class(variants_t), intent(in) :: variants
    character(24), allocatable :: names(:)
    character(32), allocatable :: on_gpu(:)
    integer :: n
    allocate (on_gpu, source=SplitList(variants%with('gpu')))
    allocate (names(0))
    do n = 1, size(on_gpu)
      if (variants%built(trim(on_gpu(n)))) names = [character(24) :: names, on_gpu(n)]
    end do
  end function GpuVariants

  !> The variants that the command line names, else, where there is a GPU, all GPU variants of this build; and whether it has each of
  !> the other `words` that a test knows.
  subroutine GpuAsked(variants, names, words, has)
    class(variants_t), intent(in) :: variants
    character(24), allocatable, intent(out) :: names(:)
    character(*), intent(in), optional :: words(:)
    logical, intent(out), optional :: has(:)
    character(24) :: word
    integer :: n
    allocate (names(0))
    if (present(has)) has = .false.
    do n = 1, command_argument_count()
      call get_command_argument(n, word)
      if (present(words)) then
        if (any(words == word)) then
          where (words == word) has = .true.
          cycle
        end if
      end if
      names = [names, word]
    end do
    if (size(names) > 0) return
    if (GpuThere()) names = GpuVariants(variants)
  end subroutine GpuAsked

  function Sentence() result(text)
    character(:), allocatable :: text
    type(error_t), allocatable :: error
    call FailFromC(1, error)
    text = error%message
  end function Sentence

end module gpu_m
