!> 2D acoustic shot modelling by finite differences.
program SplFd2dmod
  use spl_m, only: SplMain
  implicit none
  call SplMain('SplFd2dmod', 'fd2d')
end program SplFd2dmod
