!> 3D shot modelling by spectral elements.
program SplSemmod
  use elastic3d_m, only: elastic3d_t
  use elements3d_m, only: elements3d_t
  use spl_m, only: SplMain
  implicit none
  type(elastic3d_t), target :: elastic3d
  type(elements3d_t), target :: elements3d
  call SplMain(elements3d, sibling=elastic3d)
end program SplSemmod
