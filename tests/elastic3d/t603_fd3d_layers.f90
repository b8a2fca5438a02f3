!> Absorbing layers reflect little of what leaves an elastic medium, sponge and one-way bottom what is known of them, and layers
!> stay stable in rock, water and strong contrasts beneath a free surface.
program t603_fd3d_layers
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd3d_engine_m, only: fd3d_engine_t, field_vx, side_free, side_one_way
  use fd3d_point_lists_m, only: Fd3dMoment, Fd3dRecord
  use fullspace_m, only: Ricker
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dEngine, Scene3dNew, Scene3dSteps, Scene3dTraces
  use stable3d_m, only: StableStep3d
  use text_m, only: Str
  implicit none
  integer, parameter :: inner = 12, far = 36, steps = 170
  real(dp), parameter :: h = 10, vp = 3000, vs = 1700, fpeak = vs/(12*h)
  type(error_t), allocatable :: error
  real(sp), allocatable :: exact(:, :)

  call Space(far, 'far')
  call Space(10, 'pml')
  call Space(20, 'sponge')
  call Space(10, 'one-way')
  call LongRun('rock and water, vp/vs 1.5 to 6', .true., 2, 13)
  call LongRun('rough rock, half-length 4', .false., 4, 4)
  call Done()

contains

  !> A double couple in a corner region of a box with `more` cells around it; receivers by the sides of the box.
  subroutine Space(more, kind)
    integer, intent(in) :: more
    character(*), intent(in) :: kind
    type(scene3d_t) :: scene
    real(sp), allocatable :: traces(:, :)
    integer :: i, c
    real(dp) :: worst, x(3)
    call Scene3dNew(scene, spread(inner + 2*more, 1, 3), h, 2, vp, vs, 2200.0_dp, 0.9_dp)
    scene%fpeak = fpeak
    if (kind == 'pml') scene%width = more
    if (kind == 'sponge') scene%sponge = more
    if (kind == 'one-way') scene%width(:5) = more
    if (kind == 'one-way') scene%grid%side(6) = side_one_way
    scene%nt = steps
    allocate (scene%q(1, steps))
    scene%q(1, :) = [(real(Ricker((i - 0.5_dp)*scene%grid%dt, fpeak, 1.1_dp/fpeak), sp), i=1, steps)]
    call Fd3dMoment(scene%source, scene%grid, h*(more + [4.3_dp, 5.1_dp, 3.8_dp]), [1.0_dp, -0.4_dp, 0.3_dp, 0.8_dp, -0.5_dp, 0.6_dp], &
                    1, error)
    do i = 1, 8
      x = h*(more + [2 + 8*iand(i, 1), 2 + 4*iand(i, 2), 2 + 2*iand(i, 4)])
      do c = 0, 2
        call Fd3dRecord(scene%receivers, scene%grid, x, field_vx + c, error)
      end do
    end do
    call Scene3dTraces(scene, 'cpu', traces, error)
    call ClaimFine(error, kind//': '//Str(steps)//' steps')
    if (kind == 'far') then
      exact = traces
      return
    end if
    worst = norm2(real(traces, dp) - exact)**2/norm2(real(exact, dp))**2
    select case (kind)
    case ('pml')
      call Claim(worst <= 1e-7_dp, '10 cells of PML send back '//Str(10*log10(worst), 3)//' dB of the energy at 8 receivers <= -70 dB')
    case ('sponge')
      call Claim(worst <= 10**(-3.5_dp), '20 cells of sponge send back '//Str(10*log10(worst), 3)//' dB <= -35 dB; without any it is -32')
    case default
      call Claim(worst <= 1e-3_dp, 'a one-way bottom sends back '//Str(10*log10(worst), 3)//' dB <= -30 dB')
    end select
  end subroutine Space

  !> Layers on five sides under a free surface; what slow cells hold fades, so single values may rise a little, but not grow.
  !> Twice `half` times 2,000 steps.
  subroutine LongRun(what, wet, half_length, half)
    character(*), intent(in) :: what
    logical, intent(in) :: wet
    integer, intent(in) :: half_length, half
    integer, parameter :: layer = 6, n(3) = [10 + 2*layer, 9 + 2*layer, 14 + layer]
    type(scene3d_t) :: s
    class(fd3d_engine_t), allocatable :: engine
    integer, parameter :: looks(0:3) = [200, 799, 1299, 1799]     ! steps
    real(sp) :: peak(0:2*half), first(0:3), early, late
    integer :: i, j, k, m, place(3)
    call Scene3dNew(s, n, h, half_length, vp, vs, 2000.0_dp, 0.9_dp)
    do k = 1, n(3)
      do j = 1, n(2)
        do i = 1, n(1)
          m = modulo((min(max(i - layer, 0), 10) + 10)*7 + (min(max(j - layer, 0), 10) + 10)*11 + min(k, 14)**2, 13)
          call Cell(s, i, j, k, vp - 60.0_dp*m, vp/(1.5_dp + 0.35_dp*m), 1800.0_dp + 50*m)
          if (wet .and. k <= 6 .and. i < 8 + layer) call Cell(s, i, j, k, 1500.0_dp, 0.0_dp, 1000.0_dp)
        end do
      end do
    end do
    s%grid%side(5) = side_free
    s%width = [layer, layer, layer, layer, 0, layer]
    s%fpeak = 15
    s%grid%dt = 0.95_dp*StableStep3d(s%grid, s%rho, s%lambda, s%mu)
    s%nt = 200
    allocate (s%q(1, 100))
    s%q(1, :) = [(real(Ricker(i*s%grid%dt, 15.0_dp, 0.08_dp), sp), i=1, 100)]
    call Fd3dMoment(s%source, s%grid, h*[5.2_dp + layer, 4.1_dp + layer, 9.3_dp], [1.0_dp, 1.0_dp, 1.0_dp, 0.8_dp, -0.5_dp, 0.6_dp], 1, error)
    call Scene3dEngine('cpu', engine, error)
    call Scene3dSteps(s, engine, error)
    if (.not. allocated(error)) call engine%maxabs(first(0), place, error)
    do m = 1, 3
      if (.not. allocated(error)) call engine%timestep(looks(m - 1) + 1, looks(m) - looks(m - 1), error)
      if (.not. allocated(error)) call engine%maxabs(first(m), place, error)
    end do
    peak(0) = first(0)
    do m = 1, 2*half
      if (.not. allocated(error)) call engine%timestep(looks(3) + 1 + (m - 1)*2000, 2000, error)
      if (.not. allocated(error)) call engine%maxabs(peak(m), place, error)
    end do
    call ClaimFine(error, what//': '//Str(looks(3) + 4000*half)//' steps')
    if (allocated(engine)) call engine%free()
    call Claim(all(first(1:) < 0.3_sp*first(0)) .and. first(2) < first(1) .and. first(3) < 0.8_sp*first(1), what//': largest velocity '// &
               'after 200, 799, ... steps '//Str(first(0), 3)//', '//Str(first(1), 3)//', '//Str(first(2), 3)//', '// &
               Str(first(3), 3)//' m/s: waves held between slow cells fade')
    early = maxval(peak(1:half))
    late = maxval(peak(half + 1:))
    call Claim(early < 0.1_sp*peak(0) .and. late <= 1.5_sp*early, what//', '//Str(looks(3) + 4000*half)//' steps: largest velocity '// &
               Str(peak(0), 3)//' m/s after 200, '//Str(early, 3)//' in the first half, must be a tenth of it, '//Str(late, 3)// &
               ' in the second, must be 1.5 times as much at most: waves held between slow cells remain')
  end subroutine LongRun

  !> One cell, and the ring where it is at an edge.
  subroutine Cell(s, i, j, k, vp, vs, rho)
    type(scene3d_t), intent(inout) :: s
    integer, intent(in) :: i, j, k
    real(dp), intent(in) :: vp, vs, rho
    integer :: a(3), b(3)
    a = merge(0, [i, j, k], [i, j, k] == 1)
    b = merge([i, j, k] + 1, [i, j, k], [i, j, k] == s%grid%n)
    s%rho(a(1):b(1), a(2):b(2), a(3):b(3)) = real(rho, sp)
    s%mu(a(1):b(1), a(2):b(2), a(3):b(3)) = real(rho*vs**2, sp)
    s%lambda(a(1):b(1), a(2):b(2), a(3):b(3)) = real(rho*(vp**2 - 2*vs**2), sp)
  end subroutine Cell

end program t603_fd3d_layers
