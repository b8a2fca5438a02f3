!> The moduli that a grid makes of its window, box by box, are those of the window's cells at the frequency asked for: inside, beyond
!> its ends, where the outermost cells go on, and around a periodic axis; in one box or in many, with one thread or two. What a
!> window is said to hold is what it holds.
program t656_fd3d_moduli
  use anelastic_m, only: anelastic_t, AnelasticFactor, AnelasticFit, memory_coarse2001
  use check_m, only: Claim, ClaimFine, Done, GivenSeed, RandomBelow, Seed
  use error_m, only: error_t
  use fd3d_moduli_m, only: fd3d_moduli_t, fd3d_range_t, Fd3dBulk, Fd3dCell, Fd3dModuli, Fd3dPart, Fd3dRange
  use kinds_m, only: dp, sp
  use text_m, only: Str
  use window_m, only: window_t
  implicit none
  integer, parameter :: n(3) = [1100, 5, 7]      !< longer along x than what is made at a time
  real(dp), parameter :: bound = 2e-7_dp, with_q = 1e-6_dp, q_ref = 8
  integer :: number

  number = GivenSeed()
  call Seed(number)
  call OneWindow(.false., .false.)
  call OneWindow(.false., .true.)
  call OneWindow(.true., .false.)
  call Range()
  call Done()

contains

  subroutine OneWindow(q, periodic)
    logical, intent(in) :: q, periodic
    type(window_t) :: window
    type(fd3d_moduli_t) :: moduli, two
    type(anelastic_t) :: a
    type(error_t), allocatable :: error
    integer, parameter :: low(3) = [-13, -2, -3], high(3) = n + [9, 6, 4]
    real(sp), allocatable, dimension(:, :, :) :: rho, lambda, mu, rho2, lambda2, mu2, part
    real(dp) :: worst, m(5), p, s
    real(sp) :: one(3)
    integer :: i, differ, c(3), at(3), k
    call MakeWindow(q, window)
    moduli%before = [0, 2, -1]
    moduli%periodic = periodic
    moduli%anelastic = q
    if (q) then
      call AnelasticFit(1.0_dp, 20.0_dp, memory_coarse2001, a, error)
      call ClaimFine(error, 'mechanisms')
      moduli%most = maxval(window%medium(:, :, :, 4:))
      moduli%table = [(AnelasticFactor(a, i*moduli%most/ubound(moduli%table, 1), q_ref), i=0, ubound(moduli%table, 1))]
    end if
    two = moduli
    two%threads = 2
    allocate (rho(low(1):high(1), low(2):high(2), low(3):high(3)))
    allocate (lambda, mu, rho2, lambda2, mu2, part, mold=rho)
    call Fd3dModuli(moduli, window, low, high, rho, lambda, mu)
    do k = low(3), high(3), 3
      associate (l => min(k + 2, high(3)))
        call Fd3dModuli(two, window, [low(:2), k], [high(:2), l], rho2(:, :, k:l), lambda2(:, :, k:l), mu2(:, :, k:l))
      end associate
    end do
    call Fd3dPart(two, window, 2, low, high, part)
    worst = 0
    differ = count(rho /= rho2) + count(lambda /= lambda2) + count(mu /= mu2)
    do i = 1, 20000
      c = low + [RandomBelow(high(1) - low(1) + 1), RandomBelow(high(2) - low(2) + 1), RandomBelow(high(3) - low(3) + 1)]
      if (i <= 200) c(1) = merge(low(1), high(1), modulo(i, 2) > 0)
      at = c + moduli%before
      if (periodic) then
        do while (at(1) > n(1))
          at(1) = at(1) - n(1)
        end do
        do while (at(1) < 1)
          at(1) = at(1) + n(1)
        end do
        do while (at(2) > n(2))
          at(2) = at(2) - n(2)
        end do
        do while (at(2) < 1)
          at(2) = at(2) + n(2)
        end do
      end if
      at = max(1, min(n, at))
      m = 0
      m(:size(window%medium, 4)) = window%medium(at(1), at(2), at(3), :)
      p = m(3)*m(1)*m(1)
      s = m(3)*m(2)*m(2)
      if (q) p = p*AnelasticFactor(a, m(4), q_ref)
      if (q) s = s*AnelasticFactor(a, m(5), q_ref)
      worst = max(worst, abs(rho(c(1), c(2), c(3)) - m(3))/m(3), abs(mu(c(1), c(2), c(3)) - s)/p, &
                  abs(lambda(c(1), c(2), c(3)) - (p - s - s))/p, abs(Fd3dBulk(moduli, window, c) - (p - s*4/3))/p)
      call Fd3dCell(moduli, window, c, one(1), one(2), one(3))
      if (any(one /= [rho(c(1), c(2), c(3)), lambda(c(1), c(2), c(3)), mu(c(1), c(2), c(3))])) differ = differ + 1
      if (part(c(1), c(2), c(3)) /= window%medium(at(1), at(2), at(3), 2)) differ = differ + 1
    end do
    call Claim(worst < merge(with_q, bound, q), 'moduli'//trim(merge(' with Q', '       ', q))//' are off by '// &
               Str(worst, 2)//' of that of P waves, at most '//Str(merge(with_q, bound, q), 2)//', periodic: '// &
               trim(merge('yes', 'no ', periodic))//', seed '//Str(number))
    call Claim(differ == 0, Str(differ)//' differ between one box, many, single cells, one thread and two')
  end subroutine OneWindow

  subroutine MakeWindow(q, window)
    logical, intent(in) :: q
    type(window_t), intent(out) :: window
    window = window_t(nx=n(1), ny=n(2), nz=n(3), dx=10.0_dp, dy=10.0_dp, dz=10.0_dp)
    allocate (window%medium(n(1), n(2), n(3), merge(5, 3, q)))
    call random_number(window%medium)
    associate (m => window%medium)
      m(:, :, :, 1) = 2000 + 3000*m(:, :, :, 1)
      m(:, :, :, 2) = m(:, :, :, 1)*(0.3_sp + 0.3_sp*m(:, :, :, 2))
      m(:, :, :, 3) = 1500 + 1000*m(:, :, :, 3)
      if (q) m(:, :, :, 4:) = 0.02_sp*m(:, :, :, 4:)
    end associate
  end subroutine MakeWindow

  !> A window with rock, water and air in one cell each, or not; and its checksum.
  subroutine Range()
    type(window_t) :: window
    type(fd3d_range_t) :: r, changed
    integer :: kind, c(3)
    logical :: fine, noticed
    fine = .true.
    noticed = .true.
    do kind = 0, 7
      call MakeWindow(.true., window)
      c = [1 + RandomBelow(n(1)), 1 + RandomBelow(n(2)), 1 + RandomBelow(n(3))]
      if (kind >= 4) window%medium(:, :, :, 2) = 0
      if (btest(kind, 0)) window%medium(c(1), c(2), c(3), 2) = merge(0.0_sp, 900.0_sp, kind < 4)
      if (btest(kind, 1)) window%medium(c(1), c(2), :2, :3) = 0
      call Fd3dRange(window, 2, r)
      associate (m => window%medium)
        fine = fine .and. abs(r%vp - maxval(m(:, :, :, 1))) <= 0 .and. abs(r%q - maxval(m(:, :, :, 4:))) <= 0 .and. &
               abs(r%lightest - minval(m(:, :, :, 3), m(:, :, :, 3) > 0)) <= 0 .and. (r%air .eqv. any(m(:, :, :, 3) <= 0)) .and. &
               (r%rigid .eqv. any(m(:, :, :, 2) > 0)) .and. (r%soft .eqv. any(m(:, :, :, 2) <= 0))
        m(c(1), c(2), c(3), 1 + RandomBelow(5)) = 0.5_sp
      end associate
      call Fd3dRange(window, 1, changed)
      noticed = noticed .and. changed%checksum /= r%checksum
      call Fd3dRange(window, 2, r)
      noticed = noticed .and. changed%checksum == r%checksum
    end do
    call Claim(fine, 'the range of eight windows is what it is by looking at all, seed '//Str(number))
    call Claim(noticed, 'their checksum changes with a number, and not with the threads')
  end subroutine Range

end program t656_fd3d_moduli
