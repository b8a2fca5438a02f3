!> A shot on several ranks gives the same bits as on one: random cases of everything that spans pieces (group3d.f90), with halos through
!> shared memory and as messages.
!>
!> 15 of them, 200 where DRAWS=all.
!>
!>     t615_fd3d_group [SEED [CASES [VARIANTS]]]
program t615_fd3d_group
  use check_m, only: Drawn
  use group3d_m, only: cases_t, CasesRun
  use partners_m, only: halo_auto, halo_host, halo_mpi
  implicit none
  type(cases_t) :: cases
  cases%variants = [character(32) :: 'cpu', 'fortran']
  cases%halos = [halo_auto, halo_host, halo_mpi]
  cases%usual = 200
  cases%usual = count(Drawn(15, cases%usual, 0))
  call CasesRun(cases)
end program t615_fd3d_group
