!> Numbers become short text and back; misspelt names find their neighbour.
program t001_text
  use check_m, only: Claim, Done
  use kinds_m, only: dp
  use text_m, only: NearestName, Str, StrAtMost, ToInt, ToReal
  implicit none
  real(dp) :: x
  integer :: i
  logical :: ok

  call Claim(Str(12) == '12' .and. Str(0.5_dp) == '0.5' .and. Str(1500.0_dp) == '1500', 'plain numbers print plainly')
  call Claim(Str(-0.25_dp) == '-0.25' .and. Str(0.0_dp) == '0' .and. Str(1.0e-9_dp) == '1e-9', 'small and negative numbers: '// &
             Str(1.0e-9_dp))
  call Claim(Str(1.5e12_dp) == '1.5e12' .and. Str(123456.0_dp) == '123456', 'large numbers: '//Str(1.5e12_dp))
  call Claim(Str(9.9999999_dp) == '10' .and. Str(0.1_dp + 0.2_dp, 17) == '0.30000000000000004', 'rounding: '// &
             Str(0.1_dp + 0.2_dp, 17))
  call Limits()
  call ToInt('12', i, ok)
  call Claim(ok .and. i == 12, 'text to integer')
  call ToInt('12.5', i, ok)
  call Claim(.not. ok, '12.5 is no integer')
  call ToReal('1e-3', x, ok)
  call Claim(ok .and. x == 1.0e-3_dp, 'text to real')
  call ToReal('1,5', x, ok)
  call Claim(.not. ok, '1,5 is no real')
  call ToReal('nan', x, ok)
  call Claim(.not. ok, 'nan is no real')
  call ToReal('1-3', x, ok)
  call Claim(.not. ok, '1-3 is no real, although Fortran would read it as 1e-3')
  call ToReal('1e400', x, ok)
  call Claim(.not. ok, '1e400 is refused without a floating-point exception')
  call ToReal('1e99999999999', x, ok)
  call Claim(.not. ok, '1e99999999999 is refused')
  call ToReal('-0.000125d+2', x, ok)
  call Claim(ok .and. x == -0.0125_dp, '-0.000125d+2 is '//Str(x))
  call ToReal('0e500', x, ok)
  call Claim(ok .and. x == 0, '0e500 is 0')
  call ToReal('1e-320', x, ok)
  call Claim(.not. ok, '1e-320 is too small for a double and is not taken for 0')
  call ToReal(repeat('0', 4000)//'2.5'//repeat('0', 4000), x, ok)
  call Claim(ok .and. x == 2.5_dp, '8000 zeros around 2.5 do no harm')
  call Claim(NearestName('half_lenght', [character(12) :: 'npml', 'half_length']) == 'half_length', &
             'half_lenght is near half_length')
  call Claim(NearestName('zzz', [character(12) :: 'npml', 'half_length']) == '', 'zzz is near nothing')
  call Done()
contains

  !> Limits are rounded down, to the digits asked for: of numbers at random, of powers of ten and what lies just below them.
  subroutine Limits()
    real(dp) :: u(2), limit, back
    integer :: n, digits, wrong
    wrong = 0
    do n = 1, 2000
      call random_number(u)
      digits = 1 + mod(n, 6)
      limit = 10**(20*u(1) - 10)
      if (mod(n, 5) == 0) limit = 10.0_dp**(nint(20*u(1)) - 10)*(1 - merge(1.0e-7_dp, 0.0_dp, mod(n, 10) == 0))
      call ToReal(StrAtMost(limit, digits), back, ok)
      if (.not. (ok .and. back <= limit .and. back > limit*(1 - 10.0_dp**(1 - digits)*(1 + 1e-9_dp)))) wrong = wrong + 1
    end do
    call Claim(wrong == 0, '2000 limits rounded down: '//Str(wrong)//' wrong')
  end subroutine Limits

end program t001_text
