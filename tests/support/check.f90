!> Claims of Fortran tests: one line a claim, "ok - ..." or "FAIL - ...", and an exit status.
module check_m
  use, intrinsic :: iso_fortran_env, only: output_unit
  use error_m, only: error_t
  implicit none
  private
  public :: Claim, ClaimFine, ClaimFails, Drawn, GivenSeed, RandomBelow, Seed, Skip, Done

  integer :: failed = 0

contains

  !> Prints the claim and remembers a failure. Put the measured number and the bound in the sentence.
  subroutine Claim(ok, sentence)
    logical, intent(in) :: ok
    character(*), intent(in) :: sentence
    if (.not. ok) failed = failed + 1
    write (output_unit, '(a)') trim(merge('ok   - ', 'FAIL - ', ok))//' '//sentence
    flush (output_unit)
  end subroutine Claim

  !> Claims that no error came back.
  subroutine ClaimFine(error, sentence)
    type(error_t), allocatable, intent(inout) :: error
    character(*), intent(in) :: sentence
    if (allocated(error)) then
      call Claim(.false., sentence//': '//error%message)
      deallocate (error)
    else
      call Claim(.true., sentence)
    end if
  end subroutine ClaimFine

  !> Claims that an error came back and that its sentence contains `words`.
  subroutine ClaimFails(error, words, sentence)
    type(error_t), allocatable, intent(inout) :: error
    character(*), intent(in) :: words, sentence
    if (.not. allocated(error)) then
      call Claim(.false., sentence//': no error')
    else
      call Claim(index(error%message, words) > 0, sentence//': '//error%message)
      deallocate (error)
    end if
  end subroutine ClaimFails

  !> Random numbers from here on are the same in every run.
  subroutine Seed(number)
    integer, intent(in) :: number
    integer :: n, i
    call random_seed(size=n)
    call random_seed(put=[(number, i=1, n)])
  end subroutine Seed

  !> SEED of the environment, or one of the clock.
  integer function GivenSeed() result(number)
    character(32) :: word
    integer :: status
    call get_environment_variable('SEED', word)
    read (word, *, iostat=status) number
    if (status /= 0) call system_clock(number)
    number = modulo(number, 1000000)
  end function GivenSeed

  !> Those of `all` cases that this run tries: `few` in a ring, from the place that the seed says; all of them where DRAWS=all.
  function Drawn(few, all, number) result(tried)
    integer, intent(in) :: few, all, number
    logical :: tried(all)
    character(8) :: word
    integer :: i
    call get_environment_variable('DRAWS', word)
    tried = [(modulo(i - number, all) < few .or. word == 'all', i=1, all)]
  end function Drawn

  !> A random number of 0 .. n-1.
  integer function RandomBelow(n) result(i)
    integer, intent(in) :: n
    double precision :: x
    call random_number(x)
    i = int(x*n)
  end function RandomBelow

  subroutine Skip(why)
    character(*), intent(in) :: why
    write (output_unit, '(a)') 'SKIP - '//why
  end subroutine Skip

  !> Last call of a test, which ends here: exit status 1 if any claim failed. Variables of the main program are still there, which a
  !> return of it would lose before the leak sanitizer looks.
  subroutine Done()
    if (failed > 0) error stop 1
    stop, quiet=.true.
  end subroutine Done

end module check_m
