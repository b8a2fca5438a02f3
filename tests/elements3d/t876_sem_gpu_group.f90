!> A shot of spectral elements on several processes that compute on GPUs, which may be one and the same, with each variant, sums from GPU
!> to GPU, through the host and in messages, which carry memory of the GPU where MPI takes that: the claims of semgroup.f90.
program t876_sem_gpu_group
  use check_m, only: Done
  use gpu_m, only: GpuThere, GpuVariants
  use partners_m, only: halo_host, halo_ipc, halo_mpi
  use sem3d_variants_m, only: sem3d_variants
  use semgroup_m, only: groups_t, GroupsRun
  implicit none
  type(groups_t) :: groups
  if (GpuThere()) then
    groups%gpu = .true.
    groups%variants = GpuVariants(sem3d_variants)
    groups%halos = [halo_ipc, halo_host, halo_mpi]
    call GroupsRun(groups)
  else
    call Done()
  end if
end program t876_sem_gpu_group
