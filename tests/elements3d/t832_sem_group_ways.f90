!> A shot of spectral elements on several ranks on cores, sums through shared memory and as messages: the claims of semgroup.f90.
program t832_sem_group_ways
  use partners_m, only: halo_host, halo_mpi
  use semgroup_m, only: groups_t, GroupsRun
  implicit none
  type(groups_t) :: groups
  groups%variants = [character(24) :: 'cpu']
  groups%halos = [halo_host, halo_mpi]
  call GroupsRun(groups)
end program t832_sem_group_ways
