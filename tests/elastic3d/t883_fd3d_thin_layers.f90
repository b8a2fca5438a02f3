!> What layers of PML of 10, 12 and 20 cells send back, in rock beneath a free surface and in water, and in rock with a third argument:
!> source and receivers lie at random places within a few cells of the layers, so that waves graze them; those further along them than
!> `far` cells are told apart. What comes back is the difference from a grid whose sides are too far away to be heard. Half-length 2, 12
!> points per wavelength.
!>
!>     t883_fd3d_thin_layers [SEED [rock]]
program t883_fd3d_thin_layers
  use check_m, only: Claim, ClaimFine, Done, GivenSeed, Seed
  use error_m, only: error_t
  use fd3d_engine_m, only: field_vx, side_free
  use fd3d_point_lists_m, only: Fd3dMoment, Fd3dRecord
  use fullspace_m, only: Ricker
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dNew, Scene3dTraces
  use text_m, only: Str
  implicit none
  integer, parameter :: inner(3) = [48, 14, 14], far = 24, receivers = 12, wide(3) = [10, 12, 20]
  real(dp), parameter :: in_full(2, 3) = reshape([-63.0_dp, -59.0_dp, -68.0_dp, -65.0_dp, -100.0_dp, -95.0_dp], [2, 3])
  real(dp), parameter :: h = 10
  type(error_t), allocatable :: error
  character(16) :: word
  integer :: start

  call get_command_argument(1, word)
  start = GivenSeed()
  if (word /= '') read (word, *) start
  call Earth('rock beneath a free surface', 3000.0_dp, 1700.0_dp, .true., reshape([-57.0_dp, -49.0_dp, -62.0_dp, -53.0_dp, -76.0_dp, &
                                                                                   -65.0_dp], [2, 3]))
  call Earth('water', 1500.0_dp, 0.0_dp, .false., in_full)
  if (command_argument_count() > 1) call Earth('rock', 3000.0_dp, 1700.0_dp, .false., in_full)
  call Done()

contains

  !> most(:, m): dB that `wide`(m) cells may send back to near and to far receivers.
  subroutine Earth(what, vp, vs, free, most)
    character(*), intent(in) :: what
    real(dp), intent(in) :: vp, vs, most(:, :)
    logical, intent(in) :: free
    real(sp), allocatable :: exact(:, :), traces(:, :)
    real(dp) :: dB(2)
    integer :: m, margin
    margin = merge(72, 42, vs > 0)                                    ! cells: P waves are not back within the record
    call Traces3(margin, .false., vp, vs, free, exact)
    do m = 1, size(wide)
      if (allocated(error)) return
      call Traces3(wide(m), .true., vp, vs, free, traces)
      if (allocated(error)) return
      dB = 10*log10(SentBack(traces, exact))
      call Claim(all(dB <= most(:, m)), 'seed '//Str(start)//', '//what//': layers of '//Str(wide(m))//' cells send back '//Str(dB(1), 3)// &
                 ' dB of the energy, beyond '//Str(far)//' cells along them '//Str(dB(2), 3)//' <= '//Str(most(1, m), 3)//', '// &
                 Str(most(2, m), 3))
    end do
  end subroutine Earth

  !> A source in a corner of a long box, receivers along it, all within 6 cells of its sides.
  subroutine Traces3(more, layers, vp, vs, free, traces)
    integer, intent(in) :: more
    logical, intent(in) :: layers
    real(dp), intent(in) :: vp, vs
    logical, intent(in) :: free
    real(sp), allocatable, intent(out) :: traces(:, :)
    type(scene3d_t) :: scene
    integer :: r, c, m(3), i
    real(dp) :: x(3), fpeak, slow
    call Seed(start)
    slow = merge(vs, vp, vs > 0)
    fpeak = slow/(12*h)
    m = more
    if (free) m(3) = 0
    call Scene3dNew(scene, inner + m + more, h, 2, vp, vs, 2200.0_dp, 0.9_dp)
    scene%fpeak = fpeak
    scene%width = merge(more, 0, layers)
    if (free) scene%grid%side(5) = side_free
    if (free) scene%width(5) = 0
    scene%nt = nint((inner(1)*h/slow + 2.5_dp/fpeak)/scene%grid%dt)
    allocate (scene%q(1, scene%nt))
    scene%q(1, :) = [(real(Ricker((i - 0.5_dp)*scene%grid%dt, fpeak, 1.1_dp/fpeak), sp), i=1, scene%nt)]
    x = h*(m + [Drawn(2, 6), Drawn(2, 6), Drawn(2, 6)])
    if (vs > 0) call Fd3dMoment(scene%source, scene%grid, x, [1.0_dp, -0.4_dp, 0.3_dp, 0.8_dp, -0.5_dp, 0.6_dp], 1, error)
    if (.not. vs > 0) call Fd3dMoment(scene%source, scene%grid, x, [1.0_dp, 1.0_dp, 1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp], 1, error)
    do r = 1, receivers
      x = h*(m + [Drawn(8, far - 2) + merge(far, 0, r > receivers/2), Drawn(2, inner(2) - 2), Drawn(2, inner(3) - 2)])
      do c = 0, 2
        call Fd3dRecord(scene%receivers, scene%grid, x, field_vx + c, error)
      end do
    end do
    call Scene3dTraces(scene, 'cpu', traces, error)
    call ClaimFine(error, Str(more)//' cells around: '//Str(scene%nt)//' steps')
  end subroutine Traces3

  !> A place between nodes.
  real(dp) function Drawn(from, to)
    integer, intent(in) :: from, to
    real(dp) :: u
    call random_number(u)
    Drawn = from + u*(to - from)
  end function Drawn

  !> Parts of the energy of near receivers, and of far ones.
  function SentBack(traces, exact) result(part)
    real(sp), intent(in) :: traces(:, :), exact(:, :)
    real(dp) :: part(2)
    integer :: half
    half = size(exact, 2)/2
    part(1) = norm2(real(traces(:, :half), dp) - exact(:, :half))**2/norm2(real(exact(:, :half), dp))**2
    part(2) = norm2(real(traces(:, half + 1:), dp) - exact(:, half + 1:))**2/norm2(real(exact(:, half + 1:), dp))**2
  end function SentBack

end program t883_fd3d_thin_layers
