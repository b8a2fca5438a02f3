!> A mesh in pieces on cores has the fields of the whole mesh bit for bit: random cases of sempieces.f90.
!>
!>     t830_sem_pieces [SEED [CASES]]
program t830_sem_pieces
  use check_m, only: Done
  use mesh_case_m, only: AnySeed
  use sempieces_m, only: PiecesCase
  implicit none
  integer :: seed, cases, c, io
  character(20) :: word
  seed = AnySeed()
  cases = 14
  call get_command_argument(2, word)
  read (word, *, iostat=io) cases
  do c = 1, cases
    call PiecesCase(seed, c, merge('fortran', 'cpu    ', modulo(c, 3) == 0), 0)
  end do
  call Done()
end program t830_sem_pieces
