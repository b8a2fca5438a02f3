!> All variants and instruction sets of the solver of spectral elements agree: traces and fields of random distorted meshes with
!> sources, receivers, free and absorbing sides, contacts of fluid and solid, media by element and by point, attenuation, and a map.
program t820_sem_variants
  use check_m, only: Claim, Done, Seed
  use elements_m, only: elements_t, face_absorbs, face_free, in_element, in_memory
  use kinds_m, only: dp, sp
  use semcase_m, only: periodic, semcase_t, SemBox, SemRelative
  use semrun_m, only: SemRun
  use text_m, only: Str
  implicit none

  integer, parameter :: steps = 60
  character(7), parameter :: isas(3) = ['generic', 'avx2   ', 'avx512 ']
  real(dp), parameter :: bound = 1e-5_dp

  call Seed(820)
  call Agree('box', semcase_t())
  call Agree('distorted, media by element', semcase_t(n=[3, 5, 4], shake=0.2_dp, turn=.true., vary=0.2_dp))
  call Agree('sides absorb, media by point', semcase_t(n=[5, 3, 3], shake=0.2_dp, turn=.true., vary=0.2_dp, media=125, &
                                                       side=[2, 2, 2, 2, 1, 2]))
  call Agree('affine, media by point', semcase_t(n=3, vary=0.2_dp, media=125, side=[2, 2, 2, 2, 1, 2]))
  call Agree('27 nodes', semcase_t(n=3, shake=0.1_dp, turn=.true., per=27, side=face_absorbs))
  call Agree('fluid', semcase_t(n=3, shake=0.2_dp, turn=.true., water=3, vary=0.2_dp, side=[2, 2, 1, 2, 1, 2]))
  call Agree('fluid, affine, media by point', semcase_t(n=[3, 2, 4], water=4, media=125, vary=0.2_dp, side=face_absorbs))
  call Agree('fluid over solid', semcase_t(n=[3, 4, 5], shake=0.2_dp, turn=.true., water=2, vary=0.2_dp, &
                                           side=[2, 2, 2, 2, 1, 2]))
  call Agree('fluid over solid, 27 nodes', semcase_t(n=[3, 3, 4], shake=0.1_dp, turn=.true., water=2, per=27, media=125, &
                                                     vary=0.1_dp))
  call Agree('fluid over solid, affine', semcase_t(n=[3, 3, 4], water=1, turn=.true., side=[2, 1, 1, 2, 1, 2]))
  call Agree('periodic', semcase_t(n=[3, 4, 3], shake=0.2_dp, turn=.true., water=1, &
                                   side=[periodic, periodic, periodic, periodic, face_free, face_absorbs]))
  call Agree('attenuation', semcase_t(n=3, shake=0.2_dp, turn=.true., vary=0.2_dp, side=face_absorbs), 3)
  call Agree('attenuation by point', semcase_t(n=3, shake=0.2_dp, turn=.true., vary=0.2_dp, media=125, water=1), 2)
  call Agree('attenuation, affine', semcase_t(n=[3, 2, 2], vary=0.2_dp), 3)
  call Agree('attenuation, affine, by point', semcase_t(n=[3, 2, 2], vary=0.2_dp, media=125), 8)
  call Agree('attenuation, 27 nodes', semcase_t(n=[2, 3, 2], per=27, vary=0.2_dp), 1)
  call Agree('attenuation at 57 points', semcase_t(n=3, shake=0.2_dp, turn=.true., vary=0.2_dp, side=face_absorbs), 3, in_memory)
  call Agree('attenuation at 57 points, affine, by point', semcase_t(n=[3, 2, 2], vary=0.2_dp, media=125), 2, in_memory)
  call Agree('attenuation at 57 points, 27 nodes', semcase_t(n=[2, 3, 2], per=27, vary=0.2_dp), 3, in_memory)
  call Agree('anisotropic', semcase_t(n=[5, 4, 3], shake=0.2_dp, turn=.true., vary=0.1_dp, tensors=4, side=[2, 2, 2, 2, 1, 2]))
  call Agree('anisotropic, water, media by point', semcase_t(n=[3, 3, 4], shake=0.2_dp, turn=.true., water=1, vary=0.1_dp, media=125, &
                                                             tensors=2, side=[2, 1, 2, 2, 1, 2]))
  call Agree('anisotropic, affine, attenuation', semcase_t(n=[3, 2, 3], tensors=1), 3)
  call Agree('anisotropic, affine, by point', semcase_t(n=[3, 2, 3], tensors=3, media=125, vary=0.1_dp))
  call Agree('anisotropic, 27 nodes, attenuation at 57 points', semcase_t(n=3, shake=0.05_dp, turn=.true., per=27, tensors=5, &
                                                                          side=face_absorbs), 2, in_memory)
  call Done()

contains

  subroutine Agree(what, c, mechanisms, memory)
    character(*), intent(in) :: what
    type(semcase_t), intent(in) :: c
    integer, intent(in), optional :: mechanisms, memory   !< of attenuation, points of an element that have its variables
    type(elements_t) :: mesh
    real(sp), allocatable :: reference(:), all(:), shares(:, :, :, :)
    real(dp) :: worst
    integer :: i, there, relaxing
    call SemBox(c, mesh)
    i = 0
    if (present(mechanisms)) i = mechanisms
    relaxing = in_element
    if (present(memory)) relaxing = memory
    allocate (shares(i, c%media, mesh%solid, 2))
    call random_number(shares)
    call SemRun('fortran', '', mesh, 0.1*shares, steps, reference, relaxing)
    worst = 0
    there = 0
    do i = 1, size(isas)
      call SemRun('cpu', trim(isas(i)), mesh, 0.1*shares, steps, all, relaxing)
      if (size(all) == 0) cycle
      there = there + 1
      worst = max(worst, SemRelative(all, reference))
    end do
    call Claim(worst <= bound .and. there > 0 .and. maxval(abs(reference)) > 0, what//': '//Str(there)// &
               ' instruction sets of cpu differ from fortran by '//Str(worst)//' at most, bound '//Str(bound))
  end subroutine Agree

end program t820_sem_variants
