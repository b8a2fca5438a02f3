!> Every GPU variant of the solver of spectral elements gives what `cpu` gives, whatever way forces are summed: random distorted meshes
!> with sources, receivers, free and absorbing sides, contacts of fluid and solid, media by element and by point, 27 nodes,
!> attenuation, a map.
!>
!>     t871_sem_gpu [SEED] [small | tiny] [VARIANT ...]   small: fewer meshes and steps; tiny: one, for checkers that slow all down
!>     t871_sem_gpu device                                says only why there is no GPU, or nothing
program t871_sem_gpu
  use check_m, only: Claim, Done
  use elements_m, only: elements_t, face_absorbs, face_free, in_element, in_memory
  use gpu_m, only: GpuAsked
  use kinds_m, only: dp, sp
  use mesh_case_m, only: AnySeed
  use sem3d_variants_m, only: sem3d_variants
  use semcase_m, only: periodic, semcase_t, SemBox, SemRelative
  use semrun_m, only: SemRun
  use text_m, only: Str
  implicit none

  real(dp), parameter :: bound = 1e-5_dp
  character(7), parameter :: sums(3) = ['gather ', 'colour ', 'atomic ']
  character(24), allocatable :: variants(:)
  logical :: small, tiny, has(4)
  integer :: begun, steps

  begun = AnySeed()
  call GpuAsked(sem3d_variants, variants, [character(24) :: 'small', 'tiny', 'device', Str(begun)], has)
  small = has(1) .or. has(2)
  tiny = has(2)
  steps = merge(merge(2, 12, tiny), 60, small)
  if (has(3)) variants = [character(24) ::]
  if (size(variants) > 0) call Walk()
  deallocate (variants)
  call Done()

contains

  subroutine Walk()
    call Agree('fluid over solid', semcase_t(n=[3, 4, 4], shake=0.2_dp, turn=.true., water=2, vary=0.2_dp, &
                                             side=[2, 2, 2, 2, 1, 2]))
    if (tiny) return
    call Agree('attenuation by point', semcase_t(n=3, shake=0.2_dp, turn=.true., vary=0.2_dp, media=125, water=1), 3)
    call Agree('27 nodes', semcase_t(n=3, shake=0.05_dp, turn=.true., per=27, side=face_absorbs))
    call Agree('attenuation at 57 points', semcase_t(n=3, shake=0.2_dp, turn=.true., vary=0.2_dp, side=face_absorbs), 3, in_memory)
    call Agree('water over rock, damped', semcase_t(n=[3, 4, 4], shake=0.2_dp, turn=.true., water=2, vary=0.2_dp, &
                                                    side=[2, 2, 2, 2, 1, 2]), damped=.true.)
    call Agree('anisotropic, water', semcase_t(n=[3, 4, 4], shake=0.2_dp, turn=.true., water=1, vary=0.1_dp, tensors=3, &
                                               side=[2, 2, 2, 2, 1, 2]))
    if (small) return
    call Agree('anisotropic, affine', semcase_t(n=[5, 4, 3], tensors=2, side=face_absorbs))
    call Agree('anisotropic, affine, by point', semcase_t(n=[3, 2, 4], tensors=2, media=125, vary=0.1_dp))
    call Agree('anisotropic, media by point, attenuation', semcase_t(n=3, shake=0.2_dp, turn=.true., vary=0.1_dp, tensors=4, &
                                                                     media=125), 3)
    call Agree('anisotropic, attenuation at 57 points', semcase_t(n=[4, 3, 3], shake=0.2_dp, turn=.true., vary=0.1_dp, tensors=4, &
                                                                  side=face_absorbs), 3, in_memory)
    call Agree('anisotropic, 27 nodes, attenuation', semcase_t(n=3, shake=0.05_dp, turn=.true., per=27, tensors=5), 2)
    call Agree('attenuation at 57 points, by point', semcase_t(n=[3, 2, 2], shake=0.1_dp, turn=.true., vary=0.2_dp, media=125), 2, &
               in_memory)
    call Agree('attenuation at 57 points, 27 nodes, by element in media by point', semcase_t(n=[2, 3, 2], per=27, vary=0.2_dp, &
                                                                                          media=125), 3, in_memory, once=.true.)
    call Agree('box', semcase_t())
    call Agree('bricks of 27', semcase_t(n=[6, 7, 5], shake=0.2_dp, turn=.true., vary=0.2_dp, brick=3))
    call Agree('sides absorb, media by point', semcase_t(n=[5, 3, 3], shake=0.2_dp, turn=.true., vary=0.2_dp, media=125, &
                                                         side=[2, 2, 2, 2, 1, 2]))
    call Agree('affine, media by point', semcase_t(n=3, vary=0.2_dp, media=125, side=[2, 2, 2, 2, 1, 2]))
    call Agree('fluid', semcase_t(n=3, shake=0.2_dp, turn=.true., water=3, vary=0.2_dp, side=[2, 2, 1, 2, 1, 2]))
    call Agree('fluid, affine, media by point', semcase_t(n=[3, 2, 4], water=4, media=125, vary=0.2_dp, side=face_absorbs))
    call Agree('fluid over solid, 27 nodes', semcase_t(n=[3, 3, 4], shake=0.05_dp, turn=.true., water=2, per=27, media=125, &
                                                       vary=0.1_dp))
    call Agree('fluid over solid, affine', semcase_t(n=[3, 3, 4], water=1, turn=.true., side=[2, 1, 1, 2, 1, 2]))
    call Agree('periodic', semcase_t(n=[3, 4, 3], shake=0.2_dp, turn=.true., water=1, &
                                     side=[periodic, periodic, periodic, periodic, face_free, face_absorbs]))
    call Agree('attenuation', semcase_t(n=3, shake=0.2_dp, turn=.true., vary=0.2_dp, side=face_absorbs), 3)
    call Agree('attenuation, affine', semcase_t(n=[3, 2, 2], vary=0.2_dp), 2)
    call Agree('attenuation, affine, by point', semcase_t(n=[3, 2, 2], vary=0.2_dp, media=125), 8)
    call Agree('attenuation, 27 nodes', semcase_t(n=[2, 3, 2], per=27, vary=0.2_dp), 1)
    call Agree('water over rock that attenuates', semcase_t(n=[9, 8, 7], shake=0.15_dp, turn=.true., water=2, vary=0.2_dp, &
                                                            brick=4, side=[2, 2, 2, 2, 1, 2]), 3)
  end subroutine Walk

  subroutine Agree(what, c, mechanisms, memory, once, damped)
    character(*), intent(in) :: what
    type(semcase_t), intent(in) :: c
    integer, intent(in), optional :: mechanisms           !< of attenuation
    integer, intent(in), optional :: memory               !< points of an element that have its variables
    logical, intent(in), optional :: once                 !< shares of an element are the same at all points
    logical, intent(in), optional :: damped               !< in a half of the points
    type(elements_t) :: mesh
    real(sp), allocatable :: reference(:), all(:), shares(:, :, :, :)
    character(:), allocatable :: worst
    real(dp) :: most, differs
    real(sp), allocatable :: rate(:)
    integer :: n, s, relaxing
    call SemBox(c, mesh)
    relaxing = in_element
    if (present(memory)) relaxing = memory
    allocate (rate(mesh%points), source=0.0_sp)
    if (present(damped)) then
      call random_number(rate)
      rate = 40*max(0.0_sp, rate - 0.5_sp)
    end if
    n = 0
    if (present(mechanisms)) n = mechanisms
    allocate (shares(n, merge(1, c%media, present(once)), mesh%solid, 2))
    call random_number(shares)
    call SemRun('cpu', '', mesh, 0.1*shares, steps, reference, relaxing, rate=rate)
    do n = 1, size(variants)
      most = -1
      do s = 1, merge(1, size(sums), variants(n) == 'tuned')
        call SemRun(trim(variants(n)), '', mesh, 0.1*shares, steps, all, relaxing, s - 1, rate)
        differs = SemRelative(all, reference)
        if (.not. differs <= most) worst = trim(sums(s))
        if (.not. differs <= most) most = differs
      end do
      call Claim(most <= bound .and. maxval(abs(reference)) > 0, trim(variants(n))//', '//what//', '//Str(mesh%n)// &
                 ' elements, seed '//Str(begun)//': differs from cpu by '//Str(most, 3)//' at most ('//worst//'), bound '//Str(bound))
    end do
  end subroutine Agree

end program t871_sem_gpu
