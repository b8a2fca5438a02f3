!> The kernel variants of a solver by name: those of C (cuda_c/*_variants.def), and the readable Fortran, `fortran`.
module variants_m
  use error_m, only: error_t, Fail
  use handle_c, only: variants_about, variants_built, variants_count, variants_name, variants_needs_gpu
  use iso_c_binding, only: c_char, c_null_char, c_null_ptr, c_ptr
  use text_m, only: FString, Join
  implicit none
  private
  public :: variants_t

  integer, parameter :: name_length = 24

  !> One that has kernels in C extends this by the procedure of C that tells its solver.
  type :: variants_t
  contains
    procedure, nopass :: solver => NoSolver
    procedure :: list, names, with, about, needs_gpu, built, number, name, known, for_rank
  end type variants_t

contains

  !> Without kernels in C: `fortran` alone.
  type(c_ptr) function NoSolver() bind(c, name='')
    NoSolver = c_null_ptr
  end function NoSolver

  !> All variants, without 'auto', those that are not in this build too.
  function list(self) result(words)
    class(variants_t), intent(in) :: self
    character(name_length), allocatable :: words(:)
    integer :: n
    allocate (words(variants_count(self%solver()) + 1))
    do n = 1, size(words)
      words(n) = self%name(n - 2)
    end do
  end function list

  !> The same joined by commas: 'fortran,cpu,...'; `variant` may also be 'auto'.
  function names(self) result(words)
    class(variants_t), intent(in) :: self
    character(:), allocatable :: words
    words = self%with('name')
  end function names

  !> Those of the variants that have a name (all), need a GPU, or are not in this build, joined by commas.
  function with(self, property) result(words)
    class(variants_t), intent(in) :: self
    character(*), intent(in) :: property         !< 'name', 'gpu' or 'unbuilt'
    character(:), allocatable :: words, word
    logical :: has
    integer :: n
    words = ''
    do n = -1, variants_count(self%solver()) - 1
      word = self%name(n)
      has = property == 'name'
      if (property == 'gpu') has = self%needs_gpu(word)
      if (property == 'unbuilt') has = .not. self%built(word)
      if (.not. has) cycle
      if (words /= '') words = words//','
      words = words//word
    end do
  end function with

  !> One line on a variant; '' if there is none of that name.
  function about(self, word) result(line)
    class(variants_t), intent(in) :: self
    character(*), intent(in) :: word
    character(:), allocatable :: line
    character(kind=c_char, len=256) :: buffer
    integer :: n
    line = ''
    if (word == 'auto') line = 'the fastest of this build for the processor at hand'
    if (word == 'fortran') line = 'plain Fortran: the readable reference'
    n = self%number(word)
    if (n < 0) return
    buffer = c_null_char
    if (variants_about(self%solver(), n, len(buffer), buffer) == 0) line = FString(buffer)
  end function about

  logical function needs_gpu(self, word)
    class(variants_t), intent(in) :: self
    character(*), intent(in) :: word
    integer :: n
    n = self%number(word)
    needs_gpu = .false.
    if (n >= 0) needs_gpu = variants_needs_gpu(self%solver(), n) == 1
  end function needs_gpu

  !> True if the variant is in this build; one made without CUDA knows those for GPUs by name only.
  logical function built(self, word)
    class(variants_t), intent(in) :: self
    character(*), intent(in) :: word
    integer :: n
    built = word == 'fortran' .or. word == 'auto'
    n = self%number(word)
    if (n >= 0) built = variants_built(self%solver(), n) == 1
  end function built

  !> Number of a C variant, -1 if there is none of that name.
  integer function number(self, word)
    class(variants_t), intent(in) :: self
    character(*), intent(in) :: word
    do number = variants_count(self%solver()) - 1, 0, -1
      if (self%name(number) == word) return
    end do
  end function number

  !> The name of a variant by its number; -1: `fortran`.
  function name(self, n) result(word)
    class(variants_t), intent(in) :: self
    integer, intent(in) :: n
    character(:), allocatable :: word
    character(kind=c_char, len=name_length) :: buffer
    buffer = c_null_char
    word = ''
    if (n < 0) word = 'fortran'
    if (n < 0) return
    if (variants_name(self%solver(), n, len(buffer), buffer) == 0) word = FString(buffer)
  end function name

  !> The name of an engine's variant where `asked` is asked for, by itself or as 'auto'. Fails on an unknown name.
  subroutine known(self, asked, word, error)
    class(variants_t), intent(in) :: self
    character(*), intent(in) :: asked
    character(:), allocatable, intent(out) :: word
    type(error_t), allocatable, intent(inout) :: error
    word = asked
    if (asked == 'auto') word = self%for_rank(asked, .false.)
    if (word == 'fortran') return
    if (self%number(word) < 0) &
      call Fail(error, 'no kernel variant "'//asked//'" in this build, which has: '//Join(list(self)))
  end subroutine known

  !> THE rule which variant a rank computes with: on a GPU the one asked for, the best (the last there is) for auto; on CPU cores
  !> `cpu`, unless another one for them was asked for; without kernels in C `fortran`.
  function for_rank(self, asked, has_gpu) result(word)
    class(variants_t), intent(in) :: self
    character(*), intent(in) :: asked
    logical, intent(in) :: has_gpu
    character(:), allocatable :: word
    integer :: n
    word = asked
    if (variants_count(self%solver()) == 0) word = 'fortran'
    if (word == 'auto') word = 'cpu'
    if (asked == 'auto' .and. has_gpu) then
      do n = 0, variants_count(self%solver()) - 1
        if (variants_needs_gpu(self%solver(), n) == 1) word = self%name(n)
      end do
    end if
    if (has_gpu) return
    if (self%needs_gpu(word)) word = 'cpu'
  end function for_rank

end module variants_m
