!> Every variant of this build gives the traces of the readable Fortran: all half-lengths, absorbing layers and free surface, odd sizes,
!> rough media, pressure and velocities. And the way a run is cut into chunks changes no bit.
program t240_fd2d_variants_agree
  use check_m, only: Claim, ClaimFine, Done, Skip
  use error_m, only: error_t
  use fd2d_m, only: fd2d_t
  use fd2d_variants_m, only: fd2d_variants
  use gather_m, only: gather_t
  use gpu_m, only: GpuThere
  use kinds_m, only: dp
  use scene_m, only: scene_t, SceneApart, SceneLacks, SceneRough, SceneRun, SceneScheme
  use text_m, only: Str
  implicit none
  type(error_t), allocatable :: error

  call Walk(fd2d_variants%list())
  call Done()

contains

  subroutine Walk(names)
    character(*), intent(in) :: names(:)
    logical :: gpu
    integer :: n
    gpu = GpuThere()
    do n = 1, size(names)
      if (fd2d_variants%needs_gpu(trim(names(n))) .and. .not. gpu) cycle
      if (.not. fd2d_variants%built(trim(names(n)))) then
        call Skip('variant '//trim(names(n))//' is not in this build')
        cycle
      end if
      if (trim(names(n)) /= 'fortran') call Compare(trim(names(n)))
      call Chunks(trim(names(n)))
    end do
  end subroutine Walk

  type(scene_t) function RoughScene(half_length, free_top, npml) result(scene)
    integer, intent(in) :: half_length, npml
    logical, intent(in) :: free_top
    call SceneRough(scene, half_length, free_top)
    scene%job%npml = npml
    scene%job%components = 'p,vx,vz'
    scene%job%tmax = 0.3_dp
    call SceneLacks(scene)
    call SceneScheme(scene, error)
  end function RoughScene

  subroutine Compare(variant)
    character(*), intent(in) :: variant
    type(scene_t) :: scene
    type(gather_t) :: a, b
    real(dp) :: worst
    integer :: half_length, free_top
    do half_length = 1, 8
      do free_top = 0, 1
        scene = RoughScene(half_length, free_top == 1, merge(12, 17, free_top == 1))
        scene%scheme%variant = 'fortran'
        call SceneRun(scene, a, error)
        scene%scheme%variant = variant
        call SceneRun(scene, b, error)
        if (allocated(error)) then
          call ClaimFine(error, variant//', half-length '//Str(half_length))
          return
        end if
        worst = SceneApart(a, b)
        call Claim(worst <= 1e-5_dp, variant//' ('//b%device//') and fortran, half-length '//Str(half_length)// &
                   merge(', free surface', ', layer on top', free_top == 1)//': traces differ by '//Str(worst, 2)// &
                   ' relative RMS at most, <= 1e-5')
      end do
    end do
  end subroutine Compare

  !> One step at a time, odd chunks and all at once.
  subroutine Chunks(variant)
    character(*), intent(in) :: variant
    integer, parameter :: pieces(3) = [1, 37, 100000]
    type(scene_t) :: scene
    type(fd2d_t) :: solver
    type(gather_t), allocatable :: gather(:)
    integer :: i, left, n
    scene = RoughScene(5, .true., 10)
    scene%scheme%variant = variant
    allocate (gather(size(pieces)))
    do i = 1, size(pieces)
      if (.not. allocated(error)) call solver%setup(scene%scheme, scene%window, scene%shot, error)
      left = scene%scheme%nt
      do while (left > 0 .and. .not. allocated(error))
        n = min(pieces(i), left)
        call solver%timestep(n, error)
        left = left - n
      end do
      if (.not. allocated(error)) call solver%gather(gather(i), error)
    end do
    call solver%free()
    call ClaimFine(error, variant//': '//Str(scene%scheme%nt)//' steps in chunks of 1, 37 and all')
    call Claim(all(gather(1)%traces == gather(2)%traces) .and. all(gather(1)%traces == gather(3)%traces), &
               variant//': the traces are the same bit for bit')
  end subroutine Chunks

end program t240_fd2d_variants_agree
