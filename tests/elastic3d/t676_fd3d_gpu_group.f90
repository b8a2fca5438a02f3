!> A shot on several processes that compute on GPUs, which may be one and the same, gives the bits of one process on a GPU: random cases
!> of everything that spans pieces (group3d.f90), of each variant, with halos from GPU to GPU, through the host and in messages, which
!> carry memory of the GPU where MPI takes that. Chunks of steps are of different length in each rank, and ranks are late by chance; the
!> last shot has so many steps that its pieces exchange halos thousands of times.
!>
!>     t676_fd3d_gpu_group [SEED [CASES [VARIANTS [STEPS OF THE LAST]]]]
program t676_fd3d_gpu_group
  use check_m, only: Done
  use fd3d_variants_m, only: fd3d_variants
  use gpu_m, only: GpuThere, GpuVariants
  use group3d_m, only: cases_t, CasesRun
  use partners_m, only: halo_auto, halo_host, halo_ipc, halo_mpi
  implicit none
  type(cases_t) :: cases
  if (GpuThere()) call Run()
  call Done()

contains

  subroutine Run()
    cases%gpu = .true.
    cases%ranks = 5
    cases%usual = 30
    cases%many = 1000
    cases%nap = 0.01
    cases%variants = [character(32) :: GpuVariants(fd3d_variants)]
    cases%halos = [halo_ipc, halo_ipc, halo_host, halo_mpi, halo_auto]
    call CasesRun(cases)
  end subroutine Run

end program t676_fd3d_gpu_group
