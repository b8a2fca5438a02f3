!> Few shots for several workers with many slots each: none takes what another could begin at once, and nothing is computed twice
!> without gain. All with shots that are set up one after another, and slots that ask when the first one knows its window.
program t423_few_shots
  use check_m, only: Claim, Done, GivenSeed, Seed
  use kinds_m, only: dp
  use simulation_m, only: Deterministic, LowerBound, mix_t, outcome_t, Simulate
  use text_m, only: Str
  implicit none

  real(dp), parameter :: late(5) = [0.0_dp, 0.1_dp, 0.5_dp, 1.0_dp, 3.0_dp]   !< [s]
  type(mix_t) :: mix
  integer :: i, n

  do i = 1, size(late)                          ! a shot takes 1 s, so the last comes after three of them
    call New(mix, 2, 0, 12, 1.0_dp)
    mix%comes(1) = late(i)                      ! the other one asks first
    call Judge('2 GPUs, the second '//Str(late(i))//' s later, 12 shots of 1 s', mix, 1.1_dp, 0.0_dp)
  end do
  do i = 1, size(late)                          ! they are over before the second comes
    call New(mix, 2, 0, 12, 0.07_dp)
    mix%setup = 0.02_dp
    mix%comes(1) = late(i)
    call Judge('2 GPUs, the second '//Str(late(i))//' s later, 12 shots of 0.07 s', mix, 1.15_dp, 0.1_dp)
  end do
  do n = 4, 32, 7
    call New(mix, 3, 0, n, 1.0_dp)
    mix%comes = [0.0_dp, 0.3_dp, 0.6_dp]
    call Judge('3 GPUs, one after another, '//Str(n)//' shots', mix, 1.1_dp, 0.0_dp)
  end do
  call New(mix, 3, 0, 7, 1.0_dp)
  call Judge('3 GPUs, 7 shots', mix, 1.1_dp, 0.0_dp)
  call New(mix, 8, 0, 20, 1.0_dp)
  mix%comes = [(0.1_dp*i, i=1, 8)]
  call Judge('8 GPUs, one after another, 20 shots', mix, 1.1_dp, 0.0_dp)
  call New(mix, 2, 0, 12, 1.0_dp)
  mix%rate(1) = mix%rate(1)/2
  call Judge('2 GPUs, one half as fast, 12 shots', mix, 1.15_dp, 0.1_dp)
  call New(mix, 2, 14, 12, 1.0_dp)
  mix%comes(:2) = [1.0_dp, 0.5_dp]
  call Judge('2 GPUs and 14 CPU ranks 50 times slower, 12 shots', mix, 1.15_dp, 0.5_dp)
  call New(mix, 2, 14, 12, 1.0_dp)
  mix%comes(:2) = [1.0_dp, 0.5_dp]
  mix%trial = 0*mix%trial
  call Judge('the same, the CPU ranks say nothing of their speed, and all begin a shot', mix, 1.15_dp, 1.0_dp)
  call New(mix, 2, 0, 14, 1.0_dp)
  mix%cost = [(0.1_dp + 1.8_dp*(i/14.0_dp)**2, i=1, 14)]
  mix%comes(1) = 0.5_dp
  call Judge('2 GPUs, 14 shots, the largest, 19 times the smallest, last', mix, 1.15_dp, 0.1_dp)
  call New(mix, 3, 0, 21, 1.0_dp)
  mix%cost = [(0.2_dp + 1.6_dp*Deterministic(i), i=1, 21)]
  mix%comes = [0.9_dp, 0.3_dp, 0.0_dp]
  call Judge('3 GPUs, 21 shots, unequal by a factor 9', mix, 1.15_dp, 0.1_dp)
  call New(mix, 2, 0, 100, 1.0_dp)
  mix%comes(1) = 1
  call Judge('2 GPUs, 100 shots', mix, 1.02_dp, 0.0_dp)
  call Nobody()
  call Any()
  call Done()

contains

  !> `gpus` GPUs with 16 slots, 3 of which compute, and CPU ranks 50 times slower; `n` shots of `seconds` on a GPU, set up in a fifth
  !> of that.
  subroutine New(mix, gpus, cpus, n, seconds)
    type(mix_t), intent(out) :: mix
    integer, intent(in) :: gpus, cpus, n
    real(dp), intent(in) :: seconds
    integer :: w
    mix%slots = [(merge(16, 1, w <= gpus), w=1, gpus + cpus)]
    mix%rate = [(merge(1/(16*seconds), 1/(50*seconds), w <= gpus), w=1, gpus + cpus)]
    mix%gpu = [(w <= gpus, w=1, gpus + cpus)]
    mix%trial = [(merge(0.0_dp, 1/(50*seconds), w <= gpus), w=1, gpus + cpus)]
    mix%comes = [(0.0_dp, w=1, gpus + cpus)]
    mix%computing = 3
    mix%alone = 0.8_dp
    mix%opens = 0.03_dp*seconds
    mix%setup = 0.2_dp*seconds
    mix%deaf = 0.1_dp
    allocate (mix%cost(n), source=1.0_dp)
  end subroutine New

  !> `best`: bound of makespan / lower bound; `vain`: of the work done twice, in shots of cost 1.
  subroutine Judge(what, mix, best, vain)
    character(*), intent(in) :: what
    type(mix_t), intent(in) :: mix
    real(dp), intent(in) :: best, vain
    type(outcome_t) :: o
    character(:), allocatable :: shots
    real(dp) :: ratio
    integer :: w
    call Simulate(mix, .false., o)
    shots = ''
    do w = 1, min(8, size(o%shots))
      shots = shots//' '//Str(o%shots(w))
    end do
    call Claim(o%all_done .and. o%answers == size(mix%cost), what//':'//shots//'; '//Str(o%takeovers)//' taken over')
    ratio = o%makespan/LowerBound(mix)
    call Claim(ratio <= best .and. ratio > 0.999_dp, '  '//Str(o%makespan, 4)//' s, '//Str(ratio, 4)// &
               ' of the least possible, bound '//Str(best, 4))
    call Claim(o%vain <= vain, '  work done twice: '//Str(o%vain, 3)//' shot(s), bound '//Str(vain, 3))
  end subroutine Judge

  !> Mixes at random, with shots of one size or unequal ones. The least possible knows nothing of shots that are slower alone, so
  !> where each GPU has few some time is lost of necessity.
  subroutine Any()
    integer, parameter :: mixes = 300
    type(mix_t) :: m
    type(outcome_t) :: o
    real(dp) :: x(8), seconds, over, longest, vain, most_vain
    integer :: i, gpus, n, done, number
    number = GivenSeed()
    call Seed(number)
    longest = 0
    most_vain = 0
    vain = 0
    done = 0
    do i = 1, mixes
      call random_number(x)
      gpus = 2 + int(7*x(1))
      n = gpus + int(60*x(2)**2)
      seconds = 0.05_dp*100**x(3)
      call New(m, gpus, 0, n, seconds)
      m%setup = seconds*(0.02_dp + 0.4_dp*x(4))
      m%computing = 2 + int(4*x(5))
      m%alone = 0.5_dp + 0.5_dp*x(6)
      call random_number(m%comes)
      m%comes = 3*m%comes*x(7)
      if (x(8) > 0.5_dp) call random_number(m%cost)
      if (x(8) > 0.5_dp) m%cost = 0.3_dp + 1.4_dp*m%cost
      call Simulate(m, .false., o)
      if (o%all_done .and. o%answers == n) done = done + 1
      over = (o%makespan - LowerBound(m))/(seconds*maxval(m%cost)/m%alone)
      longest = max(longest, over)
      vain = vain + o%vain/sum(m%cost)
      most_vain = max(most_vain, o%vain)
    end do
    call Claim(done == mixes, Str(mixes)//' mixes at random (seed '//Str(number)//'): all shots done once in '//Str(done))
    call Claim(longest < 2.5_dp, '  at most '//Str(longest, 3)//' shots longer than the least possible, bound 2.5')
    call Claim(vain/mixes < 0.03_dp, '  work done twice: '//Str(100*vain/mixes, 3)//' % on average, bound 3; at most '// &
               Str(most_vain, 3)//' shot(s)')
  end subroutine Any

  !> A worker that was expected and never comes does not keep the other one waiting.
  subroutine Nobody()
    type(mix_t) :: m
    type(outcome_t) :: o
    call New(m, 2, 0, 12, 1.0_dp)
    m%comes(2) = 1.0e5_dp
    call Simulate(m, .false., o)
    call Claim(o%all_done .and. o%shots(1) == 12, 'one of 2 GPUs never comes: '//Str(o%shots(1))//' shots by the other')
    call Claim(o%last_deal(1) < 13, '  the last of them dealt after '//Str(o%last_deal(1), 4)//' s of some 12')
  end subroutine Nobody

end program t423_few_shots
