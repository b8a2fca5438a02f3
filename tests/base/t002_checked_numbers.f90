!> Numbers from outside: whatever their bits, they become sizes and places without overflow and without a floating-point exception.
program t002_checked_numbers
  use, intrinsic :: ieee_arithmetic, only: ieee_divide_by_zero, ieee_flag_type, ieee_get_flag, ieee_invalid, ieee_overflow, &
                                           ieee_set_flag
  use check_m, only: Claim, Done, Seed
  use checked_m, only: Above, Below, Between, CountOf, Finite, IsWhole, Unpacked, Whole
  use kinds_m, only: dp, i4, i8, sp
  use text_m, only: Str
  implicit none
  integer, parameter :: quad = selected_real_kind(30), n = 200000
  integer(i8), parameter :: nan_bits(4) = [int(z'7ff0000000000001', i8), int(z'7ff8000000000000', i8), &
                                           ibset(int(z'7ff0000000000001', i8), 63), huge(0_i8)]
  integer(i8), parameter :: infinite = int(z'7ff0000000000000', i8)
  real(dp) :: x(n)

  call Seed(20261122)
  call Products()
  call MakeNumbers()
  call Quiet(.true.)
  call Reals()
  call Packed()
  call Longs()
  call Singles()
  call Quiet(.false.)
  call Done()

contains

  !> Products of two to four random counts, from 0 to 64 bits long, against quadruple precision, which holds their order of size.
  subroutine Products()
    integer(i8) :: c(4), count
    real(quad) :: exact
    real(dp) :: u(8)
    integer :: i, k, wrong, beyond
    wrong = 0
    beyond = 0
    do i = 1, n
      call random_number(u)
      k = 2 + int(3*u(8))
      c = int(2.0_dp**(u(:4)*merge(63.0_dp, 24.0_dp, u(5) < 0.3_dp)) - 1, i8)
      count = CountOf(c(:k))
      exact = product(real(c(:k), quad))
      if (exact > real(huge(count), quad)*(1 - 1e-30_quad)) beyond = beyond + 1
      if (exact > real(huge(count), quad)*(1 - 1e-30_quad)) then
        if (count /= -1) wrong = wrong + 1
      else if (abs(real(count, quad) - exact) > 0.5_quad) then
        wrong = wrong + 1
      end if
    end do
    call Claim(wrong == 0 .and. beyond > n/50, Str(n)//' random products of counts, '//Str(beyond)//' beyond 64 bits: '// &
               Str(wrong)//' wrong')
    call Claim(CountOf([huge(0_i8), 3_i8]) == -1 .and. CountOf([3_i8, -1_i8]) == -1 .and. CountOf([-huge(0_i8), 0_i8]) == -1 .and. &
               CountOf([huge(0_i8), 0_i8, huge(0_i8)]) == 0 .and. CountOf([huge(0_i8)]) == huge(0_i8) .and. &
               CountOf([integer(i8) ::]) == 1, 'the largest counts, none, and negative ones')
    call Claim(CountOf([huge(1), huge(1)]) == int(huge(1), i8)**2 .and. CountOf([huge(1), huge(1), 2, 2]) == -1, &
               'products of default integers have 64 bits')
  end subroutine Products

  !> Any bits; every sixteenth a NaN, quiet or signalling, an infinity, or a number near a limit of default integers.
  subroutine MakeNumbers()
    real(dp) :: u(3)
    integer(i8) :: bits
    integer :: i
    do i = 1, n
      call random_number(u)
      bits = ior(ishft(int(u(1)*2.0_dp**32, i8), 32), int(u(2)*2.0_dp**32, i8))
      select case (mod(i, 16))
      case (0)
        bits = nan_bits(1 + int(4*u(3)))
      case (1)
        bits = merge(infinite, ibset(infinite, 63), u(3) < 0.5_dp)
      case (2)
        bits = transfer(sign(real(huge(1), dp), u(1) - 0.5_dp) + 4*(u(3) - 0.5_dp), bits)
      case (3, 4)
        bits = transfer((u(3) - 0.5_dp)*10.0_dp**(20*u(1)), bits)
      end select
      x(i) = transfer(bits, x(i))
    end do
  end subroutine MakeNumbers

  subroutine Reals()
    integer(i8) :: bits
    integer :: i, wrong(5), whole_x
    real(dp) :: low, high
    logical :: none, unbounded
    wrong = 0
    do i = 1, n
      bits = iand(transfer(x(i), bits), huge(bits))
      none = bits > infinite
      unbounded = bits >= infinite
      if (Finite(x(i)) .eqv. unbounded) wrong(1) = wrong(1) + 1
      if (unbounded .and. Between(x(i), -huge(x), huge(x))) wrong(2) = wrong(2) + 1
      whole_x = Whole(x(i), -5, 1000)
      if (none .and. whole_x /= -5) wrong(3) = wrong(3) + 1
      if (unbounded .and. IsWhole(x(i), -huge(1), huge(1))) wrong(4) = wrong(4) + 1
      low = Below(x(i))
      high = Above(x(i))
      if (none) cycle
      if (.not. unbounded) then
        if (Between(x(i), -1000.0_dp, 1.0e9_dp) .neqv. (x(i) >= -1000 .and. x(i) <= 1.0e9_dp)) wrong(2) = wrong(2) + 1
        if (low > x(i) .or. high < x(i) .or. x(i) - low > 1 .or. high - x(i) > 1 .or. abs(low - aint(low)) > 0) &
          wrong(5) = wrong(5) + 1
      end if
      if (whole_x < -5 .or. whole_x > 1000 .or. (x(i) < -5 .and. whole_x /= -5) .or. (x(i) > 1000 .and. whole_x /= 1000)) &
        wrong(3) = wrong(3) + 1
      if (x(i) >= -5 .and. x(i) <= 1000) then
        if (abs(whole_x - x(i)) > 0.5_dp) wrong(3) = wrong(3) + 1
      end if
      whole_x = Whole(x(i))
      if (abs(x(i)) < 2.0e9_dp) then
        if (abs(whole_x - x(i)) > 0.5_dp) wrong(3) = wrong(3) + 1
        if (IsWhole(x(i), -2000000000, 2000000000) .neqv. abs(x(i) - anint(x(i))) <= 0) wrong(4) = wrong(4) + 1
      else if (abs(x(i)) > 2.2e9_dp) then
        if (whole_x /= merge(huge(1), -huge(1), x(i) > 0)) wrong(3) = wrong(3) + 1
      end if
    end do
    call Claim(all(wrong == 0), Str(n)//' numbers of any bits: '//Str(wrong(1))//' wrong as finite, '//Str(wrong(2))// &
               ' as between limits, '//Str(wrong(3))//' as integers, '//Str(wrong(4))//' as whole, '//Str(wrong(5))//' rounded')
  end subroutine Reals

  !> A packed number is what it is in quadruple precision, or infinite where that is beyond.
  subroutine Packed()
    real(dp) :: y
    real(quad) :: exact
    integer :: i, wrong
    wrong = 0
    do i = 1, n - 2
      y = Unpacked(x(i), x(i + 1), x(i + 2))
      if (.not. Finite(x(i))) then
        if (transfer(y, 0_i8) /= transfer(x(i), 0_i8)) wrong = wrong + 1
      else if (Finite(x(i + 1)) .and. Finite(x(i + 2))) then
        exact = real(x(i), quad)*x(i + 1) + x(i + 2)
        if (Finite(y)) then
          if (abs(y - exact) > 1e-15_quad*(abs(real(x(i), quad)*x(i + 1)) + abs(x(i + 2))) + tiny(1.0_dp)) wrong = wrong + 1
        else if (max(abs(exact), real(maxval(abs(x(i:i + 2))), quad)) < 1e299_quad) then
          wrong = wrong + 1
        end if
      else if (Finite(y)) then
        wrong = wrong + 1
      end if
    end do
    call Claim(wrong == 0, Str(n)//' packed numbers of any bits, unpacked: '//Str(wrong)//' wrong')
    call Claim(abs(Unpacked(1000.0_dp, 0.5_dp, 20.0_dp) - 520) <= 0, 'a plain one')
  end subroutine Packed

  subroutine Longs()
    call Claim(Whole(huge(0_i8)) == huge(1) .and. Whole(-huge(0_i8) - 1) == -huge(1) .and. Whole(3000000000_i8, 0, 9) == 9 .and. &
               Whole(-3000000000_i8, 0, 9) == 0 .and. Whole(7_i8, 0, 9) == 7, 'integers of 64 bits are limited, not cut')
  end subroutine Longs

  subroutine Singles()
    real(sp) :: s(4)
    s = transfer([int(z'7f800001', i4), int(z'7fc00000', i4), int(z'7f800000', i4), int(z'7f7fffff', i4)], s)
    call Claim(all(Finite(s) .eqv. [.false., .false., .false., .true.]), 'NaN, infinite and largest number of single precision')
    call Claim(Str(s(1)) == 'NaN' .and. Str(s(3)) == 'Infinity' .and. Str(-s(3)) == '-Infinity' .and. &
               Str(transfer(nan_bits(1), 0.0_dp)) == 'NaN', 'they are told in words, a signalling NaN too')
  end subroutine Singles

  !> Forgets exceptions, or claims that there was none since.
  subroutine Quiet(begin)
    logical, intent(in) :: begin
    type(ieee_flag_type), parameter :: flags(3) = [ieee_invalid, ieee_overflow, ieee_divide_by_zero]
    logical :: raised(3)
    if (begin) call ieee_set_flag(flags, .false.)
    if (begin) return
    call ieee_get_flag(flags, raised)
    call Claim(.not. any(raised), 'no floating-point exception: invalid '//Str(raised(1))//', overflow '//Str(raised(2))// &
               ', division '//Str(raised(3)))
  end subroutine Quiet

end program t002_checked_numbers
