!> In a closed box of rough rock, water and air the scheme keeps its energy, and so it does beneath a free surface, where rows have their
!> shares of a cell.
program t602_fd3d_energy
  use check_m, only: Claim, ClaimFine, Done, Seed
  use error_m, only: error_t
  use fd3d_engine_m, only: fd3d_engine_t, field_sxx, field_sxy, field_vx, field_vz, part_all, side_free, side_outside, &
                           side_periodic
  use fd3d_medium_m, only: Fd3dBuoyancy, Fd3dShearModulus
  use fd3d_surface_m, only: fd3d_surface_t, Fd3dSurface, surface_rows
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dEngine, Scene3dNew, Scene3dSteps
  use stable3d_m, only: StableStep3d
  use text_m, only: Str
  implicit none
  integer, parameter :: n(3) = [20, 18, 19]

  call Seed(20260101)
  call Closed('a closed box, half-length 2', 2, side_outside)
  call Closed('a closed box, half-length 4', 4, side_outside)
  call Closed('periodic sides, half-length 1', 1, side_periodic)
  call Free('beneath a free surface, half-length 2', 2, 1.6_sp, 5.0_sp, .false., .false., .false.)
  call Free('beneath a free surface, half-length 2, soft, a lake and air', 2, 1.5_sp, 12.0_sp, .true., .true., .false.)
  call Free('beneath a free surface, half-length 4, a lake', 4, 1.5_sp, 4.0_sp, .true., .false., .false.)
  call Free('beneath a free surface, half-length 3, air', 3, 1.5_sp, 4.0_sp, .false., .true., .false.)
  call Free('beneath a free surface, half-length 1, soft', 1, 1.5_sp, 20.0_sp, .true., .true., .false.)
  call Free('beneath the surface of a fluid, half-length 4, though there is rock', 4, 1.5_sp, 4.0_sp, .true., .false., .true.)
  call Done()

contains

  !> Between steps 1 and 1500: kinetic energy from both half steps around the stresses is exact for the leap-frog.
  subroutine Closed(what, half_length, kind)
    character(*), intent(in) :: what
    integer, intent(in) :: half_length, kind
    type(scene3d_t) :: scene
    class(fd3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(dp) :: first, last, fastest
    call MakeScene(scene, half_length, 1.5_sp, 3.0_sp, .true., .true.)
    fastest = scene%grid%dt/0.9_dp
    scene%grid%side = kind
    scene%grid%dt = 0.99_dp*StableStep3d(scene%grid, scene%rho, scene%lambda, scene%mu)
    call Start(scene, 'fortran', engine, error)
    first = Energy(scene, engine, 1, error)
    if (.not. allocated(error)) call engine%timestep(2, 1498, error)
    last = Energy(scene, engine, 1500, error)
    call engine%free()
    call ClaimFine(error, what//': 1500 steps, '//Str(scene%grid%dt/fastest, 3)//' of the limit of its fastest cell')
    call Claim(first > 0 .and. abs(last/first - 1) <= 1e-6_dp, 'its energy has changed by '//Str(last/first - 1, 2)//' <= 1e-6 of '// &
               Str(first, 3)//' J')
  end subroutine Closed

  subroutine Free(what, half_length, lowest, highest, wet, airy, fluid)
    character(*), intent(in) :: what
    integer, intent(in) :: half_length
    real(sp), intent(in) :: lowest, highest
    logical, intent(in) :: wet, airy, fluid
    type(scene3d_t) :: scene
    class(fd3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(dp) :: e(4)
    integer :: i
    call MakeScene(scene, half_length, lowest, highest, wet, airy)
    scene%grid%side(5) = side_free
    scene%grid%wet = fluid
    scene%grid%dt = 0.95_dp*StableStep3d(scene%grid, scene%rho, scene%lambda, scene%mu)
    call Start(scene, 'cpu', engine, error)
    e(1) = Energy(scene, engine, 1, error)
    do i = 2, 4
      if (.not. allocated(error)) call engine%timestep(2 + 3000*(i - 2), 2999, error)
      e(i) = Energy(scene, engine, 1 + 3000*(i - 1), error)
    end do
    call engine%free()
    call ClaimFine(error, what//', vp/vs '//Str(lowest)//' to '//Str(highest)//': 9000 steps')
    call Claim(e(1) > 0 .and. all(abs(e(2:)/e(1) - 1) <= 1e-6_dp), 'its energy after 3000, 6000, 9000 steps has changed by '// &
               Str(e(2)/e(1) - 1, 2)//', '//Str(e(3)/e(1) - 1, 2)//', '//Str(e(4)/e(1) - 1, 2)//' of the first, <= 1e-6')
  end subroutine Free

  subroutine Start(scene, variant, engine, error)
    type(scene3d_t), intent(inout) :: scene
    character(*), intent(in) :: variant
    class(fd3d_engine_t), allocatable, intent(out) :: engine
    type(error_t), allocatable, intent(inout) :: error
    real(sp) :: noise(n(1), n(2), n(3))
    integer :: i, j, k, c
    call Scene3dEngine(variant, engine, error)
    allocate (scene%q(0, 0))
    scene%nt = 0
    call Scene3dSteps(scene, engine, error)
    do c = field_vx, field_vz
      call random_number(noise)
      noise = noise - 0.5_sp
      do concurrent(i=1:n(1), j=1:n(2), k=1:n(3))
        if (.not. Fd3dBuoyancy(scene%rho, c, i, j, k) > 0) noise(i, j, k) = 0         ! air does not move
      end do
      call engine%set_field(c, noise, error)
    end do
  end subroutine Start

  !> Does step it and returns the energy at its beginning.
  real(dp) function Energy(scene, engine, it, error)
    type(scene3d_t), intent(in) :: scene
    class(fd3d_engine_t), intent(inout) :: engine
    integer, intent(in) :: it
    type(error_t), allocatable, intent(inout) :: error
    real(sp) :: v(n(1), n(2), n(3), 3, 2), s(n(1), n(2), n(3), 6)
    real(dp) :: total, mu, lambda, b, share(n(3), 2)
    integer :: i, j, k, c
    type(fd3d_surface_t) :: surface
    if (allocated(error)) return
    share = 1
    if (scene%grid%side(5) == side_free) then
      surface = Fd3dSurface(scene%grid, .false.)
      share(:surface_rows, :) = surface%share
    end if
    do c = 1, 3
      call engine%field(field_vx + c - 1, v(:, :, :, c, 1), error)
    end do
    do c = 1, 6
      call engine%field(field_sxx + c - 1, s(:, :, :, c), error)
    end do
    call engine%velocity(it, part_all, error)
    do c = 1, 3
      call engine%field(field_vx + c - 1, v(:, :, :, c, 2), error)
    end do
    call engine%stress(it, part_all, error)
    total = 0
    do k = 1, n(3)
      do j = 1, n(2)
        do i = 1, n(1)
          do c = 1, 3
            b = Fd3dBuoyancy(scene%rho, field_vx + c - 1, i, j, k)
            if (b > 0) total = total + real(v(i, j, k, c, 1), dp)*v(i, j, k, c, 2)/b*share(k, merge(2, 1, c == 3))
            mu = Fd3dShearModulus(scene%mu, field_sxy + c - 1, i, j, k)
            if (mu > 0) total = total + real(s(i, j, k, 3 + c), dp)**2/mu*share(k, merge(1, 2, c == 1))
          end do
          mu = scene%mu(i, j, k)
          lambda = scene%lambda(i, j, k)
          if (mu > 0) then
            total = total + (sum(real(s(i, j, k, :3), dp)**2) - lambda/(3*lambda + 2*mu)*sum(real(s(i, j, k, :3), dp))**2)/(2*mu) &
                    *share(k, 1)
          else if (lambda > 0) then
            total = total + real(s(i, j, k, 1), dp)**2/lambda*share(k, 1)
          end if
        end do
      end do
    end do
    Energy = 0.5_dp*total*product(scene%grid%d)
  end function Energy

  !> Rough rock of vp/vs between two bounds; water in a corner at the top; air in another.
  subroutine MakeScene(s, half_length, lowest, highest, wet, airy)
    type(scene3d_t), intent(out) :: s
    integer, intent(in) :: half_length
    real(sp), intent(in) :: lowest, highest
    logical, intent(in) :: wet, airy
    real(sp) :: vp, ratio
    integer :: i, j, k
    call Scene3dNew(s, n, 10.0_dp, half_length, 3000.0_dp, 1500.0_dp, 2000.0_dp, 0.9_dp)
    do k = 0, n(3) + 1
      do j = 0, n(2) + 1
        do i = 0, n(1) + 1
          vp = 2000 + 1000*Rough(i, j, k, 13)
          ratio = lowest + (highest - lowest)*Rough(i, j, k, 7)**3
          s%rho(i, j, k) = 1800 + 700*Rough(i, j, k, 17)
          s%mu(i, j, k) = s%rho(i, j, k)*(vp/ratio)**2
          s%lambda(i, j, k) = s%rho(i, j, k)*vp**2 - 2*s%mu(i, j, k)
          if (wet .and. Wrap(k, 3) < 6 .and. Wrap(i, 1) > 12) then
            s%rho(i, j, k) = 1000
            s%lambda(i, j, k) = 1000*1500.0_sp**2
            s%mu(i, j, k) = 0
          end if
          if (airy .and. Wrap(k, 3) < 5 .and. Wrap(i, 1) < 7) then
            s%rho(i, j, k) = 0
            s%lambda(i, j, k) = 0
            s%mu(i, j, k) = 0
          end if
        end do
      end do
    end do
  end subroutine MakeScene

  elemental real(sp) function Rough(i, j, k, m)
    integer, intent(in) :: i, j, k, m
    Rough = real(modulo(Wrap(i, 1)**2*7 + Wrap(j, 2)*29 + Wrap(k, 3)**2*11 + Wrap(i, 1)*Wrap(j, 2)*3, m), sp)/(m - 1)
  end function Rough

  !> The ring of periodic sides is the other end.
  elemental integer function Wrap(i, axis)
    integer, intent(in) :: i, axis
    Wrap = 1 + modulo(i - 1, n(axis))
  end function Wrap

end program t602_fd3d_energy
