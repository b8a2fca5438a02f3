!> The framework without a physics: shots that cost next to nothing and give gathers of any size. tools/bench/run-frame runs it.
!>
!> It is the tube of tests/physics/tube.f90, but no steps are done, and the traces are a pattern. `mpirun -n 3 frame_bench run ...`
!> takes the parameters of that: tmax and dt_out make the samples of a trace, the key-map shots and receivers.
program frame_bench
  use nothing_m, only: nothing_t
  use spl_m, only: SplMain
  implicit none
  type(nothing_t), target :: nothing
  call SplMain(nothing)
end program frame_bench
