!> A mesh in pieces on a GPU, which all share, has the fields of the whole mesh on that GPU bit for bit, with each variant: random cases
!> of sempieces.f90, forces gathered by point and, where elements stand alone, added by colours.
!>
!>     t875_sem_gpu_pieces [SEED [CASES OF A VARIANT]]   or: device, nothing but whether there is a GPU; small, tiny: few cases
program t875_sem_gpu_pieces
  use check_m, only: Done
  use gpu_m, only: GpuThere, GpuVariants
  use mesh_case_m, only: AnySeed
  use sem3d_variants_m, only: sem3d_variants
  use sempieces_m, only: PiecesCase
  implicit none
  character(24), allocatable :: variants(:)
  integer :: seed, cases, c, io, v
  character(20) :: word
  seed = AnySeed()
  cases = 10
  call get_command_argument(2, word)
  read (word, *, iostat=io) cases
  call get_command_argument(1, word)
  if (word == 'small') cases = 2
  if (word == 'tiny') cases = 1
  allocate (variants(0))
  if (GpuThere()) variants = GpuVariants(sem3d_variants)
  if (word == 'device') stop
  if (word == 'tiny') variants = pack(variants, variants == 'tuned')
  do c = 1, cases
    do v = 1, size(variants)
      call PiecesCase(seed, c, trim(variants(v)), merge(0, modulo(c, 2), variants(v) == 'tuned'))
    end do
  end do
  call Done()
end program t875_sem_gpu_pieces
