!> 2D acoustic shot modelling by finite differences.
program SplFd2dmod
  use acoustic2d_m, only: acoustic2d_t
  use elastic3d_m, only: elastic3d_t
  use spl_m, only: SplMain
  implicit none
  type(acoustic2d_t), target :: acoustic2d
  type(elastic3d_t), target :: elastic3d
  call SplMain(acoustic2d, sibling=elastic3d)
end program SplFd2dmod
