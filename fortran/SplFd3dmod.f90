!> 3D elastic and viscoelastic shot modelling by finite differences.
program SplFd3dmod
  use spl_m, only: SplMain
  implicit none
  call SplMain('SplFd3dmod', 'fd3d')
end program SplFd3dmod
