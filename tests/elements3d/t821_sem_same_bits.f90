!> Fields, traces and map of the cpu variant of spectral elements are the same bits whatever the threads, the chunks of steps, the
!> number of points of other bricks, and a state that is saved and loaded by another engine; those of the fortran variant too.
program t821_sem_same_bits
  use, intrinsic :: iso_c_binding, only: c_null_char
  use check_m, only: Done, Seed
  use elements_m, only: elements_t
  use kinds_m, only: dp
  use sem3d_c, only: sem3d_tune
  use sem3d_engine_m, only: sem3d_engine_t
  use semcase_m, only: semcase_t, SemBox, SemEngine
  use semsame_m, only: how_t, SemSame
  implicit none

  logical :: both(2)
  type(elements_t) :: mesh

  call Seed(821)
  call SemBox(semcase_t(n=[5, 4, 5], water=2, shake=0.2_dp, turn=.true., vary=0.2_dp, side=[2, 1, 2, 2, 1, 2]), mesh)
  call SemSame(mesh, '1, 2, 3, 7 threads', [how_t(), how_t(threads=2), how_t(threads=3), how_t(threads=7)])
  call SemSame(mesh, '1 to 4 threads, others for each chunk', [how_t(), how_t(chunk=2, varied=4), how_t(threads=4, chunk=5, varied=3)])
  call SemSame(mesh, 'chunks of 24, 1, 7 steps', [how_t(), how_t(chunk=1), how_t(threads=2, chunk=7)])
  call SemSame(mesh, 'a state saved after 5, 23 steps', [how_t(), how_t(saved=5), how_t(threads=2, saved=23)])
  call SemSame(mesh, 'fortran: threads, a state saved', [how_t(variant='fortran'), how_t(variant='fortran', threads=3, chunk=5, saved=10)])
  call SemBox(semcase_t(n=[4, 3, 3], water=3, shake=0.2_dp, turn=.true., vary=0.2_dp, side=[2, 1, 2, 2, 1, 2]), mesh)
  call SemSame(mesh, 'fluid alone: threads, chunks, a state saved', [how_t(), how_t(threads=2, chunk=7), how_t(saved=5)])
  both(1) = Has('avx2')
  both(2) = Has('avx512')
  if (all(both)) call SemSame(mesh, 'AVX2 and AVX-512', [how_t(isa='avx2'), how_t(isa='avx512')])
  call Done()

contains

  logical function Has(isa)
    character(*), intent(in) :: isa
    class(sem3d_engine_t), allocatable :: engine
    call SemEngine('cpu', mesh, 1e-3_dp, 1, engine)
    Has = sem3d_tune(engine%handle, isa//c_null_char) == 0
    call engine%free()
  end function Has

end program t821_sem_same_bits
