!> Fast and slow workers in one survey: how long it takes, against the best possible and against the fast ones alone.
program t420_makespan
  use check_m, only: Claim, Done
  use kinds_m, only: dp
  use simulation_m, only: Deterministic, LowerBound, mix_t, outcome_t, Simulate
  use text_m, only: Str
  implicit none

  real(dp), parameter :: GPU = 0.2_dp         !< a GPU needs 5 s for a shot of cost 1
  type(mix_t) :: mix
  integer :: i

  call New(mix, 1, 15, 100.0_dp, 100)
  call Judge('1 GPU + 15 CPU ranks 100 times slower, 100 shots', mix, 1.01_dp, 1.02_dp, 0)
  call New(mix, 1, 15, 100.0_dp, 130)
  call Judge('the same, 130 shots', mix, 1.01_dp, 1.02_dp, 0)
  call New(mix, 1, 15, 100.0_dp, 1000)
  call Judge('the same, 1000 shots', mix, 1.01_dp, 1.02_dp, 0)
  call New(mix, 4, 60, 30.0_dp, 400)
  call Judge('4 GPUs + 60 CPU ranks 30 times slower, 400 shots', mix, 1.01_dp, 1.02_dp, 0)
  call New(mix, 8, 100, 37.0_dp, 3000)
  call Judge('8 GPUs + 100 CPU ranks 37 times slower, 3000 shots', mix, 1.01_dp, 1.02_dp, 0)
  call New(mix, 2, 6, 3.0_dp, 200)
  call Judge('2 GPUs + 6 CPU ranks 3 times slower, 200 shots', mix, 1.01_dp, 1.02_dp, 0)

  call New(mix, 0, 16, 1.0_dp, 400)
  call Judge('16 equal CPU ranks, 400 shots', mix, 1.001_dp, 0.0_dp, 0)
  call New(mix, 0, 16, 1.0_dp, 403)
  call Judge('16 equal CPU ranks, 403 shots', mix, 1.001_dp, 0.0_dp, 0)

  call New(mix, 1, 15, 100.0_dp, 1000)
  mix%drift = 0.2_dp
  mix%period = 1777
  call Judge('1 GPU + 15 CPU ranks 100 times slower, rates swing by 20 %, 1000 shots', mix, 1.05_dp, 1.02_dp)
  call New(mix, 4, 60, 30.0_dp, 1200)
  mix%drift = 0.2_dp
  mix%period = 333
  call Judge('4 GPUs + 60 CPU ranks 30 times slower, rates swing by 20 %, 1200 shots', mix, 1.05_dp, 1.02_dp)
  call New(mix, 0, 16, 1.0_dp, 800)
  mix%drift = 0.2_dp
  mix%period = 100
  call Judge('16 equal CPU ranks, rates swing by 20 %, 800 shots', mix, 1.05_dp, 0.0_dp)

  call New(mix, 4, 60, 30.0_dp, 800)
  mix%cost = [(0.4_dp + 1.2_dp*Deterministic(i), i=1, 800)]
  call Judge('4 GPUs + 60 CPU ranks 30 times slower, shots unequal by a factor 4, 800 shots', mix, 1.05_dp, 1.02_dp)
  call New(mix, 0, 16, 1.0_dp, 320)
  mix%cost = [(0.2_dp + 1.6_dp*(i/320.0_dp)**2, i=1, 320)]
  call Judge('16 equal CPU ranks, the largest shots (9 times the smallest) last, 320 shots', mix, 1.05_dp, 0.0_dp)

  call New(mix, 0, 8, 1.0_dp, 800)
  mix%dies = 3
  mix%death = 203
  call Judge('8 equal CPU ranks, one dies, 800 shots', mix, 1.05_dp, 0.0_dp)
  call New(mix, 2, 30, 30.0_dp, 300)
  mix%dies = 1
  mix%death = 333
  call Judge('2 GPUs + 30 CPU ranks 30 times slower, one GPU dies, 300 shots', mix, 1.05_dp, 1.02_dp)
  call New(mix, 4, 60, 30.0_dp, 800)
  mix%lost = 0.02_dp
  call Judge('4 GPUs + 60 CPU ranks 30 times slower, 2 % of the shots are lost half-way, 800 shots', mix, 1.05_dp, 1.02_dp)
  call New(mix, 4, 60, 30.0_dp, 800)
  mix%slots(:4) = 3
  mix%rate(:4) = GPU/3
  call Judge('4 GPUs with 3 shots in flight each + 60 CPU ranks, 800 shots', mix, 1.05_dp, 1.02_dp)
  call Beside()
  call OnlySlowLeft()
  do i = 1, 12, 3
    call Tiny(i)
  end do
  call Done()

contains

  !> `gpus` GPUs and `cpus` CPU ranks `slower` times slower; `n` shots of cost 1.
  subroutine New(mix, gpus, cpus, slower, n)
    type(mix_t), intent(out) :: mix
    integer, intent(in) :: gpus, cpus, n
    real(dp), intent(in) :: slower
    integer :: w
    mix%rate = [(merge(GPU, GPU/slower, w <= gpus), w=1, gpus + cpus)]
    mix%slots = [(1, w=1, gpus + cpus)]
    mix%gpu = [(w <= gpus, w=1, gpus + cpus)]
    allocate (mix%cost(n), source=1.0_dp)
  end subroutine New

  !> GPUs so fast that a survey takes seconds, with several shots in flight that share them, beside CPU ranks. The rates that
  !> these tell at first are wrong by a third, or they tell none; shots are unequal.
  subroutine Beside()
    integer, parameter :: slower(3) = [40, 200, 1000], n(3) = [30, 100, 500]
    type(mix_t) :: m
    real(dp) :: best, alone
    integer :: i, k, g, c
    character(:), allocatable :: what
    do g = 1, 2
      do c = 2, 14, 12
        do i = 1, size(slower)
          do k = 1, size(n)
            call New(m, g, c, real(slower(i), dp), n(k))
            m%cost = [(0.9_dp + 0.2_dp*Deterministic(i), i=1, n(k))]
            m%rate = m%rate/(GPU*0.15_dp)             ! 0.15 s a shot
            m%trial = m%rate*merge(0.67_dp, 1.5_dp, i == 2)
            m%trial(:g) = 0
            m%rate(:g) = m%rate(:g)/11
            m%slots(:g) = 11
            m%alone = 0.75_dp
            m%deaf = 0.05_dp
            alone = 1.02_dp + merge(real(g, dp)/n(k), 0.0_dp, n(k) < 100)     ! and a shot
            best = merge(1.05_dp, 0.0_dp, c == 2 .or. n(k) == 500)            ! else few shots of a CPU rank take all the time
            what = Str(g)//' GPU(s) with 11 shots in flight + '//Str(c)//' CPU ranks '//Str(slower(i))//' times slower, '// &
                   Str(n(k))//' shots of 0.15 s'
            call Judge(what, m, best, alone)
            m%computing = 2
            call Judge(what//', 2 of them computing', m, best, alone)
            m%computing = huge(1)
            if (c == 2) m%trial = 0
            if (c == 2) call Judge('the same, their speed is not known', m, best, alone)
          end do
        end do
      end do
    end do
  end subroutine Beside

  !> Runs a mix. `best`: bound of makespan / lower bound, 0 = not judged; `alone`: of makespan / GPUs alone, 0 = none; `vain`: bound
  !> of the shots taken over: with steady rates slow workers do not even begin what they cannot finish in time.
  subroutine Judge(what, mix, best, alone, vain)
    character(*), intent(in) :: what
    type(mix_t), intent(in) :: mix
    real(dp), intent(in) :: best, alone
    integer, intent(in), optional :: vain
    type(outcome_t) :: both, gpus
    real(dp) :: ratio
    call Simulate(mix, .false., both)
    call Claim(both%all_done .and. both%answers == size(mix%cost), what//': '//Str(both%answers)//' done, each once; '// &
               Str(both%takeovers)//' taken over, '//Str(both%late)//' late answers')
    if (present(vain)) call Claim(both%takeovers <= vain, '  '//Str(both%takeovers)//' shots begun in vain, bound '//Str(vain))
    ratio = both%makespan/LowerBound(mix)
    if (best > 0) call Claim(ratio <= best .and. ratio > 0.999_dp, '  '//Str(both%makespan, 5)//' s, '//Str(ratio, 5)// &
               ' of the least possible, bound '//Str(best, 4))
    if (alone <= 0) return
    call Simulate(mix, .true., gpus)
    ratio = both%makespan/gpus%makespan
    call Claim(ratio <= alone, '  '//Str(ratio, 5)//' of the GPUs alone ('//Str(gpus%makespan, 5)//' s), bound '//Str(alone, 4))
  end subroutine Judge

  !> The only GPU dies near the end: the CPU ranks that were held back finish the survey.
  subroutine OnlySlowLeft()
    type(mix_t) :: m
    type(outcome_t) :: outcome
    call New(m, 1, 10, 20.0_dp, 100)
    m%dies = 1
    m%death = 320
    call Simulate(m, .false., outcome)
    call Claim(outcome%all_done, 'the only GPU dies after '//Str(m%death, 4)//' s with '//Str(outcome%shots(1))// &
               ' shots done: the CPU ranks do the rest in '//Str(outcome%makespan, 5)//' s')
    call Claim(maxval(outcome%last_deal(2:)) >= m%death, '  they were dealt shots again after it died')
  end subroutine OnlySlowLeft

  !> Fewer shots than workers: every slow worker begins one, the GPU takes them over.
  subroutine Tiny(n)
    integer, intent(in) :: n
    type(mix_t) :: m
    type(outcome_t) :: outcome
    real(dp) :: seconds, bound
    call New(m, 1, 15, 100.0_dp, n)
    call Simulate(m, .false., outcome)
    seconds = n/GPU
    bound = seconds + 1/GPU + 2 + m%deaf
    call Claim(outcome%all_done .and. outcome%makespan <= bound, Str(n)//' shots for 1 GPU + 15 CPU ranks 100 times slower: '// &
               Str(outcome%makespan, 4)//' s, the GPU alone '//Str(seconds, 4)//' s, bound a shot and 3 s more')
  end subroutine Tiny

end program t420_makespan
