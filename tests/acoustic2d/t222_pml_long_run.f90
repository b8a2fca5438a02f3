!> Absorbing layers stay stable for 100,000 steps: in a homogeneous medium, in a rough one, under a free surface, with short and long
!> differentiators.
program t222_pml_long_run
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd2d_engine_m, only: fd2d_engine_t, fd2d_grid_t
  use fd2d_variants_m, only: Fd2dEngineNew
  use kinds_m, only: dp, sp
  use pml_m, only: PmlProfile
  use scene_m, only: scene_t, SceneNew, SceneScheme
  use text_m, only: Str
  implicit none
  integer, parameter :: npml = 20, nx = 41, nz = 33
  type(error_t), allocatable :: error

  call LongRun(8, .false., .false.)
  call LongRun(8, .true., .true.)
  call LongRun(2, .true., .false.)
  call Done()

contains

  subroutine LongRun(half_length, rough, free_top)
    integer, intent(in) :: half_length
    logical, intent(in) :: rough, free_top
    class(fd2d_engine_t), allocatable :: engine
    type(fd2d_grid_t) :: g
    type(scene_t) :: scene
    real(sp) :: peak, middle, last
    integer :: i, place(3)
    call SceneNew(scene, nx, nz, 10.0_dp, 2000.0_dp, 1000.0_dp)
    scene%job%half_length = half_length
    scene%job%dispersion = 'warn'
    call SceneScheme(scene, error)
    g%nx = nx + 2*npml
    g%nz = nz + merge(1, 2, free_top)*npml
    g%nleft = npml
    g%nright = npml
    g%nbottom = npml
    g%ntop = merge(0, npml, free_top)
    g%free_top = free_top
    g%threads = 1
    g%half_length = half_length
    g%dx = 10
    g%dz = 10
    g%dt = scene%scheme%dt
    g%w = scene%scheme%w
    call Fd2dEngineNew('cpu', engine, error)
    if (.not. allocated(error)) call engine%new(g, error)
    if (.not. allocated(error)) call SetMedium(engine, g, rough)
    if (.not. allocated(error)) call engine%source(scene%scheme%q(:200), [(npml + 10, i=1, 1)], [(g%ntop + 9, i=1, 1)], [1.0_sp], error)
    if (.not. allocated(error)) call engine%timestep(1, 100, error)
    if (.not. allocated(error)) call engine%maxabs(peak, place, error)
    if (.not. allocated(error)) call engine%timestep(101, 19900, error)
    if (.not. allocated(error)) call engine%maxabs(middle, place, error)
    if (.not. allocated(error)) call engine%timestep(20001, 80000, error)
    if (.not. allocated(error)) call engine%maxabs(last, place, error)
    call ClaimFine(error, 'half-length '//Str(half_length)//merge(', rough medium', ', homogeneous ', rough)// &
                   merge(', free surface', ', layer on top', free_top))
    call Claim(middle <= 1e-3*peak .and. last <= middle, '100,000 steps: largest |sigma| '//Str(peak, 3)//' after 100, '// &
               Str(middle, 3)//' after 20,000, '//Str(last, 3)//' after 100,000: still decays')
    if (allocated(engine)) call engine%free()
  end subroutine LongRun

  subroutine SetMedium(engine, g, rough)
    class(fd2d_engine_t), intent(inout) :: engine
    type(fd2d_grid_t), intent(in) :: g
    logical, intent(in) :: rough
    real(sp) :: vp(g%nx, g%nz), rho(g%nx, g%nz), px(g%nx, 6), pz(g%nz, 6)
    integer :: i, k
    do k = 1, g%nz
      do i = 1, g%nx
        vp(i, k) = 2000
        rho(i, k) = 1000
        if (rough) vp(i, k) = 1200 + 800*real(modulo(max(i, 25)*37 + k*k*11, 17))/16
        if (rough) rho(i, k) = 1000 + 1500*real(modulo(i*i*7 + k*29, 13))/12
      end do
    end do
    call engine%model(rho*vp**2, rho, error)
    call PmlProfile(g%nx, g%nleft, g%nright, g%dx, g%dt, 2000.0_dp, 25.0_dp, px)
    call PmlProfile(g%nz, g%ntop, g%nbottom, g%dz, g%dt, 2000.0_dp, 25.0_dp, pz)
    if (.not. allocated(error)) call engine%pml(px, pz, error)
  end subroutine SetMedium

end program t222_pml_long_run
