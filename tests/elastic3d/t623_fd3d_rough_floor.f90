!> Layers over a rough sea floor: with half-length 1 what is left in them does not grow, whatever the rock, nor with a sponge and
!> half-length 4, nor with half-lengths 2 to 4 and narrow differences along layers, below 3 cells of water with a free surface
!> either; full ones let it grow, no faster than is told before a run (stairs.f90). DRAWS=all: more seeds.
program t623_fd3d_rough_floor
  use check_m, only: Claim, ClaimFine, Done, Drawn, Seed
  use error_m, only: error_t
  use fd3d_engine_m, only: fd3d_engine_t, field_vx, field_vz, side_free
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dEngine, Scene3dNew, Scene3dSteps
  use text_m, only: Str
  implicit none
  integer, parameter :: guard = 4                        !< cells between window and layers, as in a job
  real(dp), parameter :: h = 20
  integer :: i, half_length, turns

  call Seed(20261125)
  turns = count(Drawn(1, 6, 0))
  do i = 1, turns
    call Rough(1, [8, 8, 8, 8, 8, 8], .false., .false., 2, .false., 3.0_dp)
    call Rough(1, [20, 20, 8, 8, 0, 8], .false., .true., 1, .false., 3.0_dp)
    call Rough(4, [8, 8, 8, 8, 0, 8], .true., .true., 1, .false., 1.2_dp)
    call Rough(4, [8, 8, 8, 8, 8, 8], .false., .false., 1, .true., 1.5_dp)
    do half_length = 2, 4
      call Rough(half_length, [8, 8, 8, 8, merge(0, 8, half_length == 4), 8], .false., half_length == 4, 5, .true., 0.05_dp, narrow=.true.)
    end do
    if (turns > 1) call Rough(2, [8, 8, 8, 8, 8, 8], .false., .false., 1, .true., 0.5_dp)
    if (turns > 1) call Rough(3, [8, 8, 8, 8, 8, 8], .false., .false., 1, .true., 1.0_dp)
  end do
  do i = 1, turns
    do half_length = 2, 3
      call Rough(half_length, [8, 8, 8, 8, 0, 8], .false., .true., 17, .true., 0.05_dp, narrow=.true.)
    end do
  end do
  call Done()

contains

  !> A window of 8 x 8 columns of water over rock with random steps of 1 to 3 cells; beyond, its outermost cells go on. From random
  !> velocities of all points: the largest after 1000 steps and 2000 + 1000 more later. `most`: how many times as much there may be,
  !> or, of what grows, by how many decades in 1000 steps.
  subroutine Rough(half_length, width, sponge, free, more, grows, most, narrow)
    integer, intent(in) :: half_length, width(6), more
    logical, intent(in) :: sponge, free, grows
    real(dp), intent(in) :: most
    logical, intent(in), optional :: narrow
    integer, parameter :: wide = 8
    type(scene3d_t) :: s
    class(fd3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(sp), allocatable :: noise(:, :, :)
    real(sp) :: early, late
    real(dp) :: u(wide, wide), vp, chosen(2), rate
    integer :: n(3), floor_at(wide, wide), i, j, c, steps, place(3), k
    character(:), allocatable :: what
    call random_number(chosen)
    vp = 3500 + 2500*chosen(1)
    steps = 1 + int(3*chosen(2))
    call random_number(u)
    n = [wide, wide, 8] + width(1::2) + width(2::2) + 2*guard
    if (free) n(3) = n(3) - guard
    call Scene3dNew(s, n, h, half_length, vp, vp/1.75_dp, 2600.0_dp, 0.99_dp)
    floor_at = width(5) + merge(0, guard, free) + 3 + int(u*(steps + 1))
    do j = 0, n(2) + 1
      do i = 0, n(1) + 1
        k = floor_at(min(max(i - width(1) - guard, 1), wide), min(max(j - width(3) - guard, 1), wide))
        s%rho(i, j, :k) = 1000
        s%mu(i, j, :k) = 0
        s%lambda(i, j, :k) = 1000*1500.0_sp**2
      end do
    end do
    if (free) s%grid%side(5) = side_free
    if (present(narrow)) s%grid%narrow = narrow
    if (sponge) then
      s%sponge = width
    else
      s%width = width
    end if
    s%fpeak = 1500/(12.5_dp*h)
    allocate (s%q(1, 0))
    call Scene3dEngine('cpu', engine, error)
    call Scene3dSteps(s, engine, error)
    allocate (noise(n(1), n(2), n(3)))
    do c = field_vx, field_vz
      call random_number(noise)
      if (.not. allocated(error)) call engine%set_field(c, noise - 0.5_sp, error)
    end do
    if (.not. allocated(error)) call engine%timestep(1, 1000, error)
    if (.not. allocated(error)) call engine%maxabs(early, place, error)
    if (.not. allocated(error)) call engine%timestep(1001, 1000*(2 + more), error)
    if (.not. allocated(error)) call engine%maxabs(late, place, error)
    what = 'rock of '//Str(vp, 4)//' m/s, steps to '//Str(steps)//' cells, half-length '//Str(half_length)//', '// &
           trim(merge('sponge', 'PML   ', sponge))//' of '//Str(width(1))//' and '//Str(width(3))//' cells'//trim(merge(', free surface', &
           '              ', free))
    if (s%grid%narrow) what = what//', narrow differences along layers'
    call ClaimFine(error, what)
    if (allocated(engine)) call engine%free()
    if (.not. grows) then
      call Claim(late <= most*early, what//': after '//Str(3 + more)//'000 steps '//Str(late/early, 3)//' times what is left after 1000, '// &
                 'at most '//Str(most))
    else
      rate = log10(real(late/early, dp))/(2 + more)
      call Claim(rate <= most, what//': grows by '//Str(rate, 3)//' decades in 1000 steps, at most '//Str(most))
    end if
  end subroutine Rough

end program t623_fd3d_rough_floor
