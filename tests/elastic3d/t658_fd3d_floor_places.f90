!> A sea floor in a cell, at random places and over random rock, in a model that has rock of 4000 m/s somewhere: no more than 1.25
!> times the error of one on a face at half-lengths 1 to 4; a column is as it was where the floor is on a face;
!> over a rough floor, each column with a place of its own, the largest time step is stable. DRAWS=all: more of all.
program t658_fd3d_floor_places
  use check_m, only: Claim, ClaimFine, Done, Drawn, Seed
  use error_m, only: error_t
  use fd3d_engine_m, only: fd3d_engine_t, field_vx, field_vz, side_periodic
  use floor3d_m, only: FloorMisfits
  use kinds_m, only: dp, sp
  use mixed_cells_m, only: medium_parts
  use model3d_m, only: model3d_t
  use model3d_window_m, only: Model3dCutsFloor
  use parameters_m, only: job_t
  use scene3d_m, only: scene3d_t, Scene3dEngine, Scene3dMedium, Scene3dNew, Scene3dSteps
  use sea_floor_m, only: FloorCells
  use text_m, only: Str
  implicit none
  real(dp), parameter :: c = 1500, rho1 = 1000
  integer :: half_length, turns

  call Seed(20261126)
  turns = count(Drawn(1, 4, 0))
  call OnFaces(200)
  call Told()
  do half_length = 1, 4
    call Places(half_length, 4*turns, 2300.0_dp, 5500.0_dp, 1.25_dp, 2.0_dp)
    if (half_length == 2) call Places(half_length, 4*turns, 1700.0_dp, 2300.0_dp, 1.5_dp, 2.5_dp)
    call Rough(half_length, turns)
  end do
  call Done()

contains

  !> Rock from sediments to basalt, vp/vs from 1.7, of slow rock more: vp, vs, rho.
  function Rock(slowest, fastest) result(medium)
    real(dp), intent(in) :: slowest, fastest
    real(dp) :: medium(3), u(3)
    call random_number(u)
    medium(1) = slowest*(fastest/slowest)**u(1)
    medium(2) = medium(1)/(1.7_dp + u(2)*(0.2_dp + 1.6_dp*(1600/medium(1))**2))
    medium(3) = 310*medium(1)**0.25_dp*(0.95_dp + 0.1_dp*u(3))
  end function Rock

  !> Media of such floors are not those that outputs begun before were made of: the scheme has a word where there are some.
  subroutine Told()
    type(model3d_t) :: earth
    type(job_t) :: job
    real(dp), parameter :: d(3) = [20.0_dp, 20.0_dp, 10.0_dp]
    logical :: cuts(6)
    earth%layers%n = 3
    allocate (earth%layers%top(3), earth%layers%medium(5, 3))
    earth%layers%medium = reshape([1500, 0, 1000, 0, 0, 2000, 800, 2000, 0, 0, 3000, 1500, 2300, 0, 0], [5, 3])
    earth%layers%top = [5, 85, 122]
    cuts(1) = Model3dCutsFloor(job, earth, d)                   ! a contact of rock in a cell, the floor on a face
    earth%layers%top = [5, 88, 125]
    cuts(2) = Model3dCutsFloor(job, earth, d)
    earth%layers%medium(:2, 1) = 0
    cuts(3) = Model3dCutsFloor(job, earth, d)                   ! air
    earth = model3d_t(n=[1, 1, 9], d=[10.0_dp, 10.0_dp, 10.0_dp], seabed=reshape([4], [1, 1]))
    job%regrid = 'cell'
    cuts(4) = Model3dCutsFloor(job, earth, d)
    cuts(5) = Model3dCutsFloor(job, earth, earth%d)
    job%regrid = 'nearest'
    cuts(6) = Model3dCutsFloor(job, earth, d)
    call Claim(all(cuts .eqv. [.false., .true., .false., .true., .false., .false.]), 'the scheme has a word for floors in cells, '// &
               'of layers and of volumes, and where there are none it has not')
  end subroutine Told

  subroutine OnFaces(n)
    integer, intent(in) :: n
    real(sp) :: cells(medium_parts, -4:3), before(medium_parts, -4:3)
    real(dp) :: medium(3)
    integer :: i, face, other
    other = 0
    do i = 1, n
      medium = Rock(1700.0_dp, 5500.0_dp)
      cells = 0
      cells(1, :) = real(c, sp)
      cells(3, :) = real(rho1, sp)
      cells(:3, modulo(i, 2) + 1:) = spread(real(medium, sp), 2, 3 - modulo(i, 2))
      before = cells
      call FloorCells(cells, modulo(i, 2) + 1.0_dp, .true., medium(1), 2.0_dp, 2, face)
      if (face /= modulo(i, 2) + 1 .or. any(abs(cells - before) > 0)) other = other + 1
    end do
    call Claim(other == 0, 'on a face of '//Str(n)//' columns: '//Str(other)//' are changed, must be none')
  end subroutine OnFaces

  !> Pressure in water and motion in rock at random places over n kinds of rock, P waves from `slow` to `fast`, over what they are
  !> with the floor on a face.
  subroutine Places(half_length, n, slow, fast, most, worst_most)
    integer, intent(in) :: half_length, n
    real(dp), intent(in) :: slow, fast, most, worst_most
    real(dp), parameter :: points = 10
    real(dp) :: medium(3), place, fastest, inside(2), flush(2), ratio(2), mean(2), worst(2)
    integer :: i
    mean = 0
    worst = 0
    do i = 1, n
      medium = Rock(slow, fast)
      call random_number(place)
      place = (i - 1 + place)/n
      fastest = max(4000.0_dp, medium(1))
      inside = FloorMisfits(medium, points, place, .true., half_length, fastest)
      flush = FloorMisfits(medium, points, 0.0_dp, .true., half_length, fastest)
      ratio = inside/flush
      mean = mean + ratio**2/n
      worst = max(worst, ratio)
      print '(a)', '  half-length '//Str(half_length)//', rock of '//Str(medium(1), 4)//', '//Str(medium(2), 4)//', '//Str(medium(3), 4)// &
        ', floor '//Str(place, 3)//' of a cell below a face: pressure within '//Str(100*inside(1), 3)//' %, motion '// &
        Str(100*inside(2), 3)//' %; on a face '//Str(100*flush(1), 3)//', '//Str(100*flush(2), 3)//' %'
    end do
    call Claim(all(sqrt(mean) <= most) .and. all(worst <= worst_most), 'half-length '//Str(half_length)//', '//Str(n)// &
               ' kinds of rock of '//Str(slow, 4)//' to '//Str(fast, 4)//' m/s and places: pressure and motion '// &
               Str(sqrt(mean(1)), 3)//' and '//Str(sqrt(mean(2)), 3)// &
               ' times the error on a face, root mean square, at most '//Str(most, 3)//'; '//Str(maxval(worst), 3)// &
               ' at worst, at most '//Str(worst_most, 2))
  end subroutine Places

  !> A box without layers, periodic along x and y, half water, half rock, the floor anywhere in each column: from random velocities
  !> nothing grows at the step chosen for the rock, the fastest there is.
  subroutine Rough(half_length, turns)
    integer, intent(in) :: half_length, turns
    integer, parameter :: n(3) = [12, 10, 24]
    integer, parameter :: steps = 4000
    real(dp), parameter :: grown = 1.1_dp
    type(scene3d_t) :: s
    class(fd3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(sp), allocatable :: noise(:, :, :)
    real(sp) :: cells(medium_parts, -4:3)
    real(dp) :: medium(3), u(3), early, late
    integer :: i, j, k, turn, face, at, mixed, f
    do turn = 1, turns
      medium = Rock(1700.0_dp, merge(2000.0_dp, 5500.0_dp, turn == 1))   ! of slow rock the step allows least
      call Scene3dNew(s, n, 20.0_dp, half_length, medium(1), medium(2), medium(3), 0.99_dp)
      s%grid%side(:4) = side_periodic
      call random_number(u)
      s%grid%d(:2) = s%grid%d(:2)*3**(2*u(:2) - 1)                    ! cells three times longer than thin, or wider
      s%grid%dt = s%grid%dt*sqrt(3/sum((s%grid%d(3)/s%grid%d)**2))
      call Scene3dMedium(s, [1, 1, 1], [n(1), n(2), 8], c, 0.0_dp, rho1)
      do j = 1, n(2)
        do i = 1, n(1)
          call random_number(u)
          at = 8 + int(3*u(1))                                      ! the last cell that is all water
          mixed = 1 + int(2*u(2))
          cells = 0
          cells(1, :-1) = real(c, sp)
          cells(3, :-1) = real(rho1, sp)
          cells(:3, 0:) = spread(real(medium, sp), 2, 4)
          call FloorCells(cells(:, :mixed + 1), mixed*u(3), modulo(i + turn, 2) == 0, medium(1), sum((s%grid%d(3)/s%grid%d(:2))**2), half_length, &
                          face)
          call Scene3dMedium(s, [i, j, 1], [i, j, at], c, 0.0_dp, rho1)
          do k = -4, mixed + 1
            call Scene3dMedium(s, [i, j, at + 1 + k], [i, j, at + 1 + k], real(cells(1, k), dp), real(cells(2, k), dp), &
                               real(cells(3, k), dp))
          end do
        end do
      end do
      call Around(s%rho)
      call Around(s%lambda)
      call Around(s%mu)
      s%fpeak = c/(12.5_dp*20)
      s%nt = 0
      allocate (s%q(1, 0))
      call Scene3dEngine('cpu', engine, error)
      call Scene3dSteps(s, engine, error)
      allocate (noise(n(1), n(2), n(3)))
      do f = field_vx, field_vz
        call random_number(noise)
        if (.not. allocated(error)) call engine%set_field(f, noise - 0.5_sp, error)
      end do
      if (.not. allocated(error)) call engine%timestep(1, steps, error)
      early = Motion(engine, noise, error)
      if (.not. allocated(error)) call engine%timestep(steps + 1, 3*steps, error)
      late = Motion(engine, noise, error)
      call ClaimFine(error, 'a rough floor')
      if (allocated(engine)) call engine%free()
      if (allocated(error)) return
      call Claim(late <= grown*early, 'half-length '//Str(half_length)//', a place of its own in each column, rock of '// &
                 Str(medium(1), 4)//', '//Str(medium(2), 4)//', '//Str(medium(3), 4)//', cells '//Str(s%grid%d(1)/s%grid%d(3), 2)//' and '// &
                 Str(s%grid%d(2)/s%grid%d(3), 2)//' times as long as high: velocities after '//Str(4*steps)// &
                 ' steps are '//Str(late/early, 3)//' times those after '//Str(steps)//', at most '//Str(grown, 2))
      deallocate (engine, noise, s%q)
    end do
  end subroutine Rough

  !> Root of the sum of squares of velocities, each over what the random ones had.
  real(dp) function Motion(engine, field, error) result(m)
    class(fd3d_engine_t), intent(inout) :: engine
    real(sp), intent(inout) :: field(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    integer :: f
    m = 0
    do f = field_vx, field_vz
      if (.not. allocated(error)) call engine%field(f, field, error)
      m = hypot(m, norm2(real(field, dp)))
    end do
  end function Motion

  !> Cells beside a periodic side are those of the other end.
  subroutine Around(a)
    real(sp), allocatable, intent(inout) :: a(:, :, :)
    integer :: m(3)
    m = ubound(a) - 1
    a(0, :, :) = a(m(1), :, :)
    a(m(1) + 1, :, :) = a(1, :, :)
    a(:, 0, :) = a(:, m(2), :)
    a(:, m(2) + 1, :) = a(:, 1, :)
  end subroutine Around

end program t658_fd3d_floor_places
