!> A 3D scene at the level of the engine: a grid that may be cut into subdomains, a medium, layers, sources, receivers; run by any
!> engine.
module scene3d_m
  use der_m, only: DerSumAbs
  use taylor_m, only: Taylor
  use error_m, only: error_t
  use fd3d_engine_m, only: fd3d_engine_t, fd3d_grid_t
  use fd3d_absorb_m, only: fd3d_profiles_t, Fd3dLayerWidths, Fd3dProfiles, Fd3dSponge
  use fd3d_point_lists_m, only: fd3d_list_t
  use fd3d_variants_m, only: Fd3dEngineNew
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: scene3d_t, Scene3dNew, Scene3dMedium, Scene3dStart, Scene3dSteps, Scene3dTraces, Scene3dEngine

  type :: scene3d_t
    type(fd3d_grid_t) :: grid                                       !< of the whole grid
    integer :: width(6) = 0                                         !< of the absorbing layers
    integer :: sponge(6) = 0                                        !< of sponges
    real(dp) :: cpml = 0, fpeak = 0                                 !< what the layers are made for [m/s, Hz]
    real(dp) :: sponge_strength = 0                                 !< 0: as Fd3dSponge says
    real(sp), allocatable, dimension(:, :, :) :: rho, lambda, mu    !< (0:nx+1, 0:ny+1, 0:nz+1)
    real(sp), allocatable, dimension(:, :, :) :: qp, qs             !< 1/Q, likewise
    real(sp) :: tau(8) = 1, y(8, 3) = 0, stiff(8) = 0
    type(fd3d_list_t) :: source, receivers
    real(sp), allocatable :: q(:, :)                                !< histories, (nh, nt)
    integer :: nt = 0
  end type scene3d_t

contains

  !> n(3) cells of h [m], homogeneous; dt = share of the limit for vp.
  subroutine Scene3dNew(scene, n, h, half_length, vp, vs, rho, share)
    type(scene3d_t), intent(out) :: scene
    integer, intent(in) :: n(3), half_length
    real(dp), intent(in) :: h, vp, vs, rho, share
    scene%grid%n = n
    scene%grid%whole = n
    scene%grid%d = h
    scene%grid%half_length = half_length
    scene%grid%threads = merge(1, 0, product(n) < 60000)            ! too little for two
    scene%grid%w(:half_length) = Taylor(half_length)
    scene%grid%dt = share*h/(vp*sqrt(3.0_dp)*DerSumAbs(scene%grid%w(:half_length)))
    scene%cpml = vp
    allocate (scene%rho(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1))
    allocate (scene%lambda, scene%mu, scene%qp, scene%qs, mold=scene%rho)
    call Scene3dMedium(scene, [1, 1, 1], n, vp, vs, rho)
    scene%qp = 0
    scene%qs = 0
  end subroutine Scene3dNew

  !> Fills the cells lo .. hi, and the ring beside them.
  subroutine Scene3dMedium(scene, lo, hi, vp, vs, rho)
    type(scene3d_t), intent(inout) :: scene
    integer, intent(in) :: lo(3), hi(3)
    real(dp), intent(in) :: vp, vs, rho
    integer :: a(3), b(3)
    a = merge(0, lo, lo <= 1)
    b = merge(scene%grid%n + 1, hi, hi >= scene%grid%n)
    scene%rho(a(1):b(1), a(2):b(2), a(3):b(3)) = real(rho, sp)
    scene%mu(a(1):b(1), a(2):b(2), a(3):b(3)) = real(rho*vs**2, sp)
    scene%lambda(a(1):b(1), a(2):b(2), a(3):b(3)) = real(rho*(vp**2 - 2*vs**2), sp)
  end subroutine Scene3dMedium

  !> A fresh engine by name.
  subroutine Scene3dEngine(name, engine, error)
    character(*), intent(in) :: name
    class(fd3d_engine_t), allocatable, intent(out) :: engine
    type(error_t), allocatable, intent(inout) :: error
    call Fd3dEngineNew(name, engine, error)
  end subroutine Scene3dEngine

  !> The engine of one subdomain, ready for the first step. `source`, `receivers`: lists made for this subdomain.
  subroutine Scene3dStart(scene, grid, source, receivers, engine, error)
    type(scene3d_t), intent(in) :: scene
    type(fd3d_grid_t), intent(inout) :: grid                       !< its layers are set here
    type(fd3d_list_t), intent(in) :: source, receivers
    class(fd3d_engine_t), intent(inout) :: engine
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_profiles_t) :: p
    grid%layer = Fd3dLayerWidths(grid, scene%width)
    call engine%new(grid, error)
    if (.not. allocated(error)) call engine%model(Cut(scene%rho), Cut(scene%lambda), Cut(scene%mu), error)
    if (.not. allocated(error) .and. grid%anelastic) call engine%quality(scene%tau, scene%y, scene%stiff, Cut(scene%qp), &
                                                                         Cut(scene%qs), error)
    if (.not. allocated(error) .and. any(scene%width > 0)) then
      call Fd3dProfiles(grid, scene%width, scene%cpml, scene%fpeak, p)
      call engine%pml(p%x, p%y, p%z, error)
    end if
    if (.not. allocated(error) .and. any(scene%sponge > 0)) then
      if (scene%sponge_strength > 0) call Fd3dSponge(grid, scene%sponge, p, scene%sponge_strength)
      if (.not. scene%sponge_strength > 0) call Fd3dSponge(grid, scene%sponge, p)
      call engine%sponge(p%x(:, 1), p%y(:, 1), p%z(:, 1), error)
    end if
    if (.not. allocated(error) .and. source%n > 0) then
      call engine%source(size(scene%q, 1), source%field(:source%n), source%i(:source%n), source%j(:source%n), &
                         source%k(:source%n), source%h(:source%n), source%w(:source%n), error)
      if (.not. allocated(error)) call engine%histories(1, scene%q, error)
    end if
    if (.not. allocated(error) .and. allocated(receivers%start)) &
      call engine%receivers(receivers%start(:receivers%receivers + 1), receivers%field(:receivers%n), receivers%i(:receivers%n), &
                            receivers%j(:receivers%n), receivers%k(:receivers%n), receivers%w(:receivers%n), error)
  contains
    !> A volume for the subdomain, its ring with it.
    function Cut(volume) result(part)
      real(sp), intent(in) :: volume(0:, 0:, 0:)
      real(sp), allocatable :: part(:, :, :)
      integer :: a(3), b(3)
      a = grid%first - 1
      b = grid%first + grid%n
      part = volume(a(1):b(1), a(2):b(2), a(3):b(3))
    end function Cut
  end subroutine Scene3dStart

  !> Runs the whole grid in one engine; histories beyond the end of q are 0.
  subroutine Scene3dSteps(scene, engine, error)
    type(scene3d_t), intent(in) :: scene
    class(fd3d_engine_t), intent(inout) :: engine
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_grid_t) :: grid
    grid = scene%grid
    call Scene3dStart(scene, grid, scene%source, scene%receivers, engine, error)
    if (.not. allocated(error)) call engine%histories(size(scene%q, 2) + 1, scene%q(:, 1:0), error)
    if (.not. allocated(error)) call engine%timestep(1, scene%nt, error)
  end subroutine Scene3dSteps

  !> The same, with traces (nt, nrec).
  subroutine Scene3dTraces(scene, name, traces, error)
    type(scene3d_t), intent(in) :: scene
    character(*), intent(in) :: name
    real(sp), allocatable, intent(out) :: traces(:, :)
    type(error_t), allocatable, intent(inout) :: error
    class(fd3d_engine_t), allocatable :: engine
    allocate (traces(scene%nt, scene%receivers%receivers), source=0.0_sp)
    call Scene3dEngine(name, engine, error)
    if (.not. allocated(error)) call Scene3dSteps(scene, engine, error)
    if (.not. allocated(error)) call engine%traces(1, traces, error)
    if (allocated(engine)) call engine%free()
  end subroutine Scene3dTraces

end module scene3d_m
