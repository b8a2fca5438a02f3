!> Plane standing waves across a periodic grid converge with the order of the differentiators, P and S alike.
program t607_fd3d_order
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd3d_engine_m, only: fd3d_engine_t, field_vx, side_periodic
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dEngine, Scene3dNew, Scene3dSteps
  use text_m, only: Str
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp), side = 100, vp = 3000, vs = 1700, rho = 2000
  integer :: half_length

  do half_length = 1, 4
    call Order('P', half_length)
    call Order('S', half_length)
  end do
  call Done()

contains

  !> Error with 8 and with 12 cells to the side. Up to half-length 2 the time step shrinks so that its error does alike; above that
  !> so many steps would show only rounding, and the wave is compared with one that has the leap-frog's frequency.
  subroutine Order(wave, half_length)
    character, intent(in) :: wave
    integer, intent(in) :: half_length
    real(dp) :: coarse, fine, seen
    coarse = Standing(wave, half_length, 8)
    fine = Standing(wave, half_length, 12)
    seen = log(coarse/fine)/log(1.5_dp)
    call Claim(abs(seen - 2*half_length) <= 0.3_dp, wave//' waves, half-length '//Str(half_length)//': errors '//Str(coarse, 2)// &
               ' and '//Str(fine, 2)//', order '//Str(seen, 3)//' within 0.3 of '//Str(2*half_length))
  end subroutine Order

  !> Relative error of the velocities after two periods, seen at the steepest; one wavelength a side along each axis.
  real(dp) function Standing(wave, half_length, cells)
    character, intent(in) :: wave
    integer, intent(in) :: half_length, cells
    type(scene3d_t) :: s
    class(fd3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(sp) :: v(cells, cells, cells), start(cells, cells, cells)
    real(dp) :: k(3), motion(3), w, x(3), t, error2, size2
    integer :: c, i, j, l, steps
    call Scene3dNew(s, spread(cells, 1, 3), side/cells, half_length, vp, vs, rho, 0.5_dp)
    k = 2*pi/side*[1, 1, 1]
    motion = k/norm2(k)
    if (wave == 'S') motion = [1, 0, -1]/sqrt(2.0_dp)
    w = norm2(k)*merge(vp, vs, wave == 'P')
    t = 2.25_dp*2*pi/w
    steps = nint(t/(0.02_dp*side/vp*8/cells))
    if (half_length < 3) steps = nint(t/(0.02_dp*side/vp*(8.0_dp/cells)**half_length/real(half_length**2, dp)))
    s%grid%side = side_periodic
    s%grid%dt = t/(steps - 0.5_dp)
    if (half_length > 2) w = 2/s%grid%dt*asin(w*s%grid%dt/2)
    allocate (s%q(0, 0))
    s%nt = 0
    call Scene3dEngine('fortran', engine, error)
    call Scene3dSteps(s, engine, error)
    error2 = 0
    size2 = 0
    do c = 1, 3
      do l = 1, cells
        do j = 1, cells
          do i = 1, cells
            x = [i, j, l]*s%grid%d
            x(c) = x(c) - 0.5_dp*s%grid%d(c)
            start(i, j, l) = real(motion(c)*sin(dot_product(k, x))*cos(0.5_dp*w*s%grid%dt), sp)
          end do
        end do
      end do
      call engine%set_field(field_vx + c - 1, start, error)
    end do
    call engine%timestep(1, steps, error)
    do c = 1, 3
      call engine%field(field_vx + c - 1, v, error)
      do l = 1, cells
        do j = 1, cells
          do i = 1, cells
            x = [i, j, l]*s%grid%d
            x(c) = x(c) - 0.5_dp*s%grid%d(c)
            error2 = error2 + (v(i, j, l) - motion(c)*sin(dot_product(k, x))*cos(w*t))**2
            size2 = size2 + (motion(c)*sin(dot_product(k, x)))**2
          end do
        end do
      end do
    end do
    if (allocated(error)) call ClaimFine(error, 'standing wave')
    Standing = sqrt(error2/size2)
  end function Standing

end program t607_fd3d_order
