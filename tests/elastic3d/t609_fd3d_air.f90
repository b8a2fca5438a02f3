!> A flat ground made of cells of air above rock is a free surface, but for an error of first order in the spacing (second at
!> half-length 1): in the rock and at the ground itself, off the grid, from sources deep in the rock and within a cell of the ground.
!> True is a free surface with half-length 4 on the same grid at a third of the step.
program t609_fd3d_air
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd3d_engine_m, only: field_vx, side_free, side_periodic
  use fd3d_point_lists_m, only: Fd3dMoment, Fd3dRecord
  use fullspace_m, only: Ricker
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dMedium, Scene3dNew, Scene3dTraces
  use text_m, only: Str
  implicit none
  real(dp), parameter :: vp = 3000, vs = 1732, rho = 2200, spacing(3) = [20.0_dp, 10.0_dp, 20/3.0_dp]
  real(dp), parameter :: fpeak = vs/(8*spacing(1))/2.5_dp, t0 = 1.2_dp/fpeak, away = 500
  integer, parameter :: air = 8, layer = 10         ! cells
  integer, parameter :: finer = 3                   ! steps of a true free surface in one of air
  character(*), parameter :: where_(3) = [character(30) :: 'on the ground', '7 m below it', '100 m below it']

  call Converges(110.0_dp, [2, 4, 1], [3.2_dp, 4.0_dp, 5.0_dp], [1.0_dp, 1.0_dp, 2.0_dp])
  call Converges(15.0_dp, [2], [3.0_dp], [1.0_dp])
  call Done()

contains

  !> Misfit at three spacings; it must fall with `order` between the finer two, where it is below `bound` per cent at the first.
  subroutine Converges(depth, half_length, bound, order)
    real(dp), intent(in) :: depth, bound(:), order(:)
    integer, intent(in) :: half_length(:)
    real(sp), allocatable :: free(:, :), airy(:, :)
    real(dp) :: misfit(3, 3, size(half_length)), seen
    integer :: m, r, h
    do m = 1, 3
      call Shoot(4, spacing(m), depth, .false., free)
      free = free(2::finer, :)                         ! velocities in the middle of steps
      do h = 1, size(half_length)
        call Shoot(half_length(h), spacing(m), depth, .true., airy)
        do r = 1, 3
          misfit(r, m, h) = 100*norm2(airy(:, 2*r - 1:2*r) - free(:, 2*r - 1:2*r))/norm2(free(:, 2*r - 1:2*r))
        end do
      end do
    end do
    do h = 1, size(half_length)
      do r = 1, 3
        seen = log(misfit(r, 2, h)/misfit(r, 3, h))/log(spacing(2)/spacing(3))
        call Claim(misfit(r, 2, h) <= bound(h) .and. seen >= order(h) - 0.3_dp, 'half-length '//Str(half_length(h))//', source '// &
                   Str(depth, 3)//' m deep, '//trim(where_(r))//': air differs from a free surface by '//Str(misfit(r, 1, h), 2)// &
                   ', '//Str(misfit(r, 2, h), 2)//', '//Str(misfit(r, 3, h), 2)//' % at 8, 16, 24 points to the shortest S '// &
                   'wavelength: at most '//Str(bound(h), 2)//' % at 16, order '//Str(seen, 3)//', at least '//Str(order(h) - 0.3_dp, 2))
      end do
    end do
  end subroutine Converges

  !> A line source, moment tensor with all parts of the plane, and the motion (x, z) at three points 500 m away.
  subroutine Shoot(half_length, h, depth, airy, traces)
    integer, intent(in) :: half_length
    real(dp), intent(in) :: h, depth
    logical, intent(in) :: airy
    real(sp), allocatable, intent(out) :: traces(:, :)
    type(scene3d_t), target :: s
    type(error_t), allocatable :: error
    real(dp) :: top, x(3), below(3)
    integer :: i, j, n(3)
    top = merge(air*h, 0.0_dp, airy)
    n = [nint(720/h) + 2*layer, half_length, nint((300 + top)/h) + layer]
    call Scene3dNew(s, n, h, half_length, vp, vs, rho, 0.85_dp)
    s%grid%threads = 1
    s%grid%dt = 0.6_dp*h/(vp*sqrt(3.0_dp))
    s%grid%side(3:4) = side_periodic
    s%width = layer*[1, 1, 0, 0, 0, 1]
    s%fpeak = fpeak
    if (airy) then
      call Scene3dMedium(s, [1, 1, 1], [n(1), n(2), air], 0.0_dp, 0.0_dp, 0.0_dp)
      s%source%rho => s%rho
      s%source%mu => s%mu
      s%receivers%rho => s%rho
      s%receivers%mu => s%mu
    else
      s%grid%side(5) = side_free
    end if
    s%nt = nint((t0 + (away + 200)/1500 + t0)/s%grid%dt)
    if (.not. airy) s%grid%dt = s%grid%dt/finer
    if (.not. airy) s%nt = finer*s%nt
    allocate (s%q(1, s%nt))
    s%q(1, :) = [(real(Ricker((i - 0.5_dp)*s%grid%dt, fpeak, t0), sp), i=1, s%nt)]
    do j = 1, n(2)
      x = [layer*h + 110, (j - 0.5_dp)*h, depth + top]
      call Fd3dMoment(s%source, s%grid, x, 1e9_dp*h*[1, 0, 2, 0, 1, 0], 1, error)
    end do
    below = [0.0_dp, 7.0_dp, 100.0_dp]
    do i = 1, 3
      do j = 0, 2, 2
        call Fd3dRecord(s%receivers, s%grid, [x(1) + away, 1.5_dp*h, top + below(i)], field_vx + j, error)
      end do
    end do
    call Scene3dTraces(s, 'cpu', traces, error)
    if (allocated(error)) call ClaimFine(error, 'half-length '//Str(half_length)//', spacing '//Str(h)//' m')
  end subroutine Shoot

end program t609_fd3d_air
