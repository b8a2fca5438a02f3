!> A window with a modulus and the densities of vx and vz, each at its points: every variant of this build gives the traces of the
!> readable Fortran, with and without velocities; and where those densities are the means of neighbours, the traces of one density.
program t266_fd2d_densities_apart
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd2d_variants_m, only: fd2d_variants
  use gather_m, only: gather_t
  use gpu_m, only: GpuThere
  use kinds_m, only: dp, sp
  use scene_m, only: scene_t, SceneApart, SceneRough, SceneRun, SceneScheme
  use text_m, only: Str
  implicit none
  type(error_t), allocatable :: error

  call Walk(fd2d_variants%list())
  call Means()
  call Done()

contains

  subroutine Walk(names)
    character(*), intent(in) :: names(:)
    logical :: gpu
    integer :: n, half_length, steps
    gpu = GpuThere()
    do n = 1, size(names)
      if (fd2d_variants%needs_gpu(trim(names(n))) .and. .not. gpu) cycle
      if (.not. fd2d_variants%built(trim(names(n)))) cycle
      if (trim(names(n)) == 'fortran') cycle
      do half_length = 1, 8
        call Compare(trim(names(n)), half_length, modulo(half_length, 2) == 0, 'p', 0)
        call Compare(trim(names(n)), half_length, modulo(half_length, 2) == 1, 'p,vx,vz', 0)
        if (names(n) /= 'tuned' .or. half_length > 4) cycle
        do steps = 2, 4
          call Compare('tuned', half_length, modulo(half_length + steps, 2) == 0, 'p', steps)
        end do
      end do
    end do
  end subroutine Walk

  !> A rough window with one density.
  type(scene_t) function RoughScene(half_length, free_top, components) result(scene)
    integer, intent(in) :: half_length
    logical, intent(in) :: free_top
    character(*), intent(in) :: components
    call SceneRough(scene, half_length, free_top)
    scene%job%npml = 12
    scene%job%components = components
    scene%job%tmax = 0.25_dp
    call SceneScheme(scene, error)
  end function RoughScene

  !> Its modulus, the mean densities between its nodes, and how far those of vx and vz are apart from them.
  subroutine Split(scene, apart)
    type(scene_t), intent(inout) :: scene
    real(sp), intent(in) :: apart
    real(sp), allocatable :: medium(:, :, :, :)
    integer :: i, k, nx, nz
    nx = scene%window%nx
    nz = scene%window%nz
    allocate (medium(nx, 1, nz, 3))
    associate (one => scene%window%medium)
      medium(:, :, :, 1) = one(:, :, :, 2)*one(:, :, :, 1)**2
      do k = 1, nz
        do i = 1, nx
          medium(i, 1, k, 2) = (one(i, 1, k, 2) + one(min(i + 1, nx), 1, k, 2))/2*(1 + apart*modulo(i*5 + k*3, 7)/6)
          medium(i, 1, k, 3) = (one(i, 1, k, 2) + one(i, 1, min(k + 1, nz), 2))/2*(1 + apart*modulo(i*3 + k*2, 5)/4)
        end do
      end do
    end associate
    call move_alloc(medium, scene%window%medium)
  end subroutine Split

  !> By so many steps a pass, 0 = as the variant chooses.
  subroutine Compare(variant, half_length, free_top, components, steps)
    character(*), intent(in) :: variant, components
    integer, intent(in) :: half_length, steps
    logical, intent(in) :: free_top
    type(scene_t) :: scene
    type(gather_t) :: a, b
    scene = RoughScene(half_length, free_top, components)
    call Split(scene, 0.5_sp)
    scene%scheme%variant = 'fortran'
    call SceneRun(scene, a, error)
    scene%scheme%variant = variant
    scene%scheme%steps_a_pass = steps
    call SceneRun(scene, b, error)
    if (allocated(error)) then
      call ClaimFine(error, variant//', half-length '//Str(half_length))
    else
      call Claim(SceneApart(a, b) <= 1e-5_dp, variant//' ('//b%device//') and fortran, half-length '//Str(half_length)//', '// &
                 components//merge(', free surface', ', layer on top', free_top)//': traces differ by '//Str(SceneApart(a, b), 2)// &
                 ' relative RMS at most, <= 1e-5')
    end if
  end subroutine Compare

  !> Beside the layers the medium is shifted by half a cell, so the window ends evenly there.
  subroutine Means()
    type(scene_t) :: scene
    type(gather_t) :: one, two
    scene = RoughScene(4, .false., 'p,vx,vz')
    scene%window%medium(:3, :, :, 2) = 1300
    scene%window%medium(:, :, :3, 2) = 1300
    associate (n => shape(scene%window%medium))
      scene%window%medium(n(1) - 2:, :, :, 2) = 1300
      scene%window%medium(:, :, n(3) - 2:, 2) = 1300
    end associate
    call SceneRun(scene, one, error)
    call Split(scene, 0.0_sp)
    call SceneRun(scene, two, error)
    call ClaimFine(error, 'a window with one density and with two')
    call Claim(SceneApart(one, two) <= 1e-5_dp, 'densities that are the means of neighbours make the traces of one density: they differ '// &
               'by '//Str(SceneApart(one, two), 2)//', at most 1e-5')
    scene = RoughScene(4, .false., 'p,vx,vz')
    call Split(scene, 0.5_sp)
    call SceneRun(scene, two, error)
    call Claim(SceneApart(one, two) > 0.05_dp, 'others do not: '//Str(SceneApart(one, two), 2)//', more than 0.05')
  end subroutine Means

end program t266_fd2d_densities_apart
