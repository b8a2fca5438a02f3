!> Below a free surface forces and velocities may change places: in heterogeneous rock that attenuates, with points in the surface,
!> half a cell, one cell and several cells below it, between the nodes: only rounding is left. Each point has a direction of its own, in
!> which its force acts and its velocity is taken: no component can be wrong and all pairs agree.
program t614_fd3d_reciprocity
  use anelastic_m, only: anelastic_t, AnelasticFit, memory_coarse
  use check_m, only: Claim, ClaimFine, Done, Seed
  use error_m, only: error_t
  use fd3d_engine_m, only: field_vx, side_free
  use fd3d_point_lists_m, only: fd3d_list_t, Fd3dForce, Fd3dRecord
  use fullspace_m, only: Ricker
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dMedium, Scene3dNew, Scene3dTraces
  use text_m, only: Str
  implicit none
  integer, parameter :: n(3) = [38, 36, 26], npml = 6, points = 5
  real(dp), parameter :: h = 10, vp = 3000, vs = 1732, rho = 2200
  real(dp), parameter :: x(points) = [13.3_dp, 24.1_dp, 19.6_dp, 15.8_dp, 23.4_dp]*h
  real(dp), parameter :: y(points) = [13.2_dp, 15.7_dp, 22.4_dp, 21.4_dp, 12.1_dp]*h
  real(dp), parameter :: z(points) = [0.0_dp, 0.5_dp, 1.1_dp, 4.3_dp, 8.8_dp]*h
  type(error_t), allocatable :: error
  real(dp) :: way(3, points)                     !< directions

  call Seed(209846)
  call random_number(way)
  way = sign(0.3_dp + 0.7_dp*abs(2*way - 1), 2*way - 1)
  call Swap(2, 8.0_dp, 0.001_dp, 0.001_dp)
  call Swap(1, 8.0_dp, 0.001_dp, 0.001_dp)
  call Swap(4, 8.0_dp, 0.001_dp, 0.001_dp)
  call Swap(3, 5.0_dp, 0.001_dp, 0.001_dp)
  call Swap(1, 8.0_dp, 0.01_dp, 0.01_dp, wet=.true.)
  call Swap(2, 8.0_dp, 0.01_dp, 0.01_dp, wet=.true.)
  call Done()

contains

  !> ppw: cells to the shortest S wavelength of most of the rock, of water where `wet`; bounds [%] of all pairs of points, and of the pair of buried ones.
  subroutine Swap(half_length, ppw, shallow, buried, wet)
    integer, intent(in) :: half_length
    real(dp), intent(in) :: ppw, shallow, buried
    logical, intent(in), optional :: wet
    type(scene3d_t) :: s
    type(anelastic_t) :: q
    real(sp), allocatable :: traces(:, :)
    real(dp), allocatable :: g(:, :, :)
    real(dp) :: fpeak, t0, table(points, points)
    integer :: i, j, a, c, m, lumps
    call Scene3dNew(s, n, h, half_length, vp, merge(0.0_dp, vs, present(wet)), rho, 0.7_dp)
    lumps = merge(0, 12, present(wet))
    do c = 1, lumps                                          ! lumps of softer and harder rock, some at the surface
      i = 3 + modulo(c*17, 26)
      j = 3 + modulo(c*29, 24)
      m = 1 + modulo(c*7, 14)
      call Scene3dMedium(s, [i, j, m], [i + 6, j + 6, m + 4], vp*(1 + 0.06_dp*modulo(c, 5)), vs*(1 - 0.05_dp*modulo(c, 4)), &
                         rho*(1 + 0.05_dp*modulo(c, 3)))
    end do
    s%width = [npml, npml, npml, npml, 0, npml]
    s%grid%side(5) = side_free
    s%grid%wet = present(wet)
    fpeak = merge(vp, vs, present(wet))/(ppw*h)/2.5_dp
    t0 = 1.2_dp/fpeak
    s%fpeak = fpeak
    s%grid%anelastic = .not. present(wet)
    call AnelasticFit(0.1_dp*fpeak, 10*fpeak, memory_coarse, q, error)
    s%tau = real(q%tau, sp)
    s%y = real(q%y, sp)
    s%stiff = real(q%stiff, sp)
    s%qp = 1/80.0_sp
    s%qs = 1/50.0_sp
    s%qs(20:, :, :) = 1/35.0_sp
    s%nt = nint((2*t0 + 22*h/vs)/s%grid%dt)
    allocate (s%q(1, s%nt), g(s%nt, points, points))
    s%q(1, :) = [(real(Ricker((i - 1)*s%grid%dt, fpeak, t0), sp), i=1, s%nt)]
    do i = 1, points
      do a = 1, 3
        call Fd3dRecord(s%receivers, s%grid, Place(i), field_vx + a - 1, error)
      end do
    end do
    do j = 1, points
      s%source = fd3d_list_t()
      call Fd3dForce(s%source, s%grid, s%rho, Place(j), 1e9_dp*way(:, j), 1, error)
      call Scene3dTraces(s, 'cpu', traces, error)
      do i = 1, points
        g(:, i, j) = matmul(traces(:, 3*i - 2:3*i), way(:, i))
      end do
    end do
    call ClaimFine(error, merge('water', 'rock ', present(wet))//', half-length '//Str(half_length)//', '//Str(ppw)//' points per shortest wavelength')
    table = 0
    do i = 1, points
      do j = 1, i - 1
        table(i, j) = 100*norm2(g(:, i, j) - g(:, j, i))/norm2(g(:, i, j))
      end do
    end do
    call Claim(maxval(table) <= shallow, 'forces and velocities that change places, 0, 0.5, 1.1, 4.3, 8.8 cells deep: traces of '// &
               'a pair differ by '//Str(maxval(table), 2)//' % at most (relative L2), <= '//Str(shallow)//' %')
    call Claim(table(5, 4) <= buried, 'both buried: '//Str(table(5, 4), 2)//' % <= '//Str(buried)//' %')
  end subroutine Swap

  pure function Place(i)
    integer, intent(in) :: i
    real(dp) :: Place(3)
    Place = [x(i), y(i), z(i)]
  end function Place

end program t614_fd3d_reciprocity
