!> Receivers of stress, strain and rotation, and sources of moment, beside a contact of rock, said before the first shot.
!>
!> A contact that is even along the axes of the grid is heeded (fd3d_contacts.f90), and nothing is said of it. Of others, those with
!> a fluid, air or the surface in reach, of points of faults, and of models that stay on disk it is, as weights over eight cells may
!> read all fields there as if they were smooth. Stress across a contact is continuous, that along it jumps by the ratio of moduli:
!> at d cells from it traces are off by
!>     1/2 (larger modulus/smaller - 1) exp(-1.2 d)
!> or so, three times that where parts nearly cancel; velocity by at most 3 % (accuracy.md, t881). Where a contact dips, and is
!> flat, it is 0.1 to 0.7 of that. Beside fluids and air other
!> weights do not reach across (fd3d_ground.f90), but differences of the scheme do, unless half_length is 1: in rock below a sea
!> floor what is made of motion along and across it is off by 10 to 40 %, strain and rotation in the water too (t631).
!>
!> Moduli that grow or fall evenly are no contact, however steeply: where they treble within four cells, and evenly, stress, strain
!> and rotation are as right as in even rock, within 3 %, and waves of a moment there within 1.1 %; within two cells it is many
!> times as much (accuracy.md, t889).
!>
!> A moment beside a contact makes waves that are as far off, wherever they are recorded, as it changes places with a strain (t889).
module stress_contacts_m
  use error_m, only: error_t
  use fd3d_contacts_m, only: rock_even, rock_reach
  use kinds_m, only: dp, sp
  use model3d_m, only: model3d_t
  use model3d_place_m, only: Model3dTells
  use model3d_window_m, only: Model3dRow
  use parameters_m, only: job_t
  use scheme3d_m, only: scheme3d_t
  use scheme_m, only: scheme_t, SchemeWarn
  use shot_m, only: shot_t
  use source3d_m, only: source_fault, source_force
  use text_m, only: Str
  use told_receivers_m, only: told_receivers_t, fade, off_most, ToldAdd, ToldAgain, ToldBegin, ToldSource
  use window_m, only: window_t, WindowCell
  implicit none
  private
  public :: beside_t, StressContacts, StressContactsSay

  integer, parameter :: reach = 2                 !< cells
  real(dp), parameter :: uneven = 3               !< times the smallest step of moduli: the largest is a contact beyond that
  real(dp), parameter :: none = 0.01_dp           !< of a modulus: steps that are nothing to tell of, even or not
  integer, parameter :: nowhere = 0, in_water = 1, in_rock = 2         !< where a place beside a sea floor is

  !> By how much stress may be `off` at a depth z [m], and the side of a sea floor it is beside: in flat layers they are the same
  !> for a million shots.
  type :: known_t
    real(dp) :: z = -huge(1.0_dp), off = 0
    integer :: side = nowhere
  end type known_t

  type :: beside_t
    type(told_receivers_t) :: receivers
    type(told_receivers_t) :: floor               !< receivers at a sea floor
    type(told_receivers_t) :: sources             !< of moment
    type(known_t) :: source, receiver             !< the last ones that were looked at in flat layers
  end type beside_t

contains

  !> Looks at a shot in its window; not at its source if something else is `told` of it, nor at receivers that stand there `again`.
  subroutine StressContacts(beside, earth, job, scheme, shot, window, told, again, error)
    type(beside_t), intent(inout) :: beside
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    logical, intent(in) :: told, again
    type(error_t), allocatable, intent(inout) :: error
    integer :: r
    logical :: slopes, along
    if (all(scheme%own%source%kind /= [source_force, source_fault]) .and. .not. told) then
      call StressOff(earth, job, scheme, window, [shot%sx, shot%sy, shot%sz], beside%source, error)
      if (allocated(error)) return
      if (beside%source%off > off_most) call ToldSource(beside%sources, shot)
    end if
    if (scan(scheme%components, 'sewp') == 0) return
    slopes = scheme%half_length > 1 .and. scan(scheme%components, 'ew') > 0
    along = scheme%half_length > 1 .and. AlongFloor(scheme%components)
    if (again) then
      call ToldAgain(beside%receivers)
      call ToldAgain(beside%floor)
      return
    end if
    call ToldBegin(beside%receivers)
    call ToldBegin(beside%floor)
    do r = 1, size(shot%rx)
      call StressOff(earth, job, scheme, window, [shot%rx(r), shot%ry(r), shot%rz(r)], beside%receiver, error)
      if (allocated(error)) return
      associate (here => beside%receiver)
        if (here%off > off_most) call ToldAdd(beside%receivers, shot, r, here%off, .true.)
        if ((here%side == in_rock .and. (slopes .or. along)) .or. (here%side == in_water .and. slopes)) &
          call ToldAdd(beside%floor, shot, r, 1.0_dp, .true.)
      end associate
    end do
  end subroutine StressContacts

  !> True if there is pressure, or stress along a sea floor, among components.
  pure logical function AlongFloor(components) result(along)
    character(*), intent(in) :: components
    along = scan(components, 'p') > 0 .or. index(components, 'sxx') > 0 .or. index(components, 'syy') > 0 .or. &
            index(components, 'sxy') > 0
  end function AlongFloor

  !> Looks at the place x, y, z; in flat layers only if its depth is another than before.
  subroutine StressOff(earth, job, scheme, window, x, known, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    real(dp), intent(in) :: x(3)
    type(known_t), intent(inout) :: known
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: line(:, :)
    real(dp) :: place(3)
    integer :: c(3), low, a
    logical :: flat, heeded
    flat = earth%layers%n > 0
    if (flat .and. .not. abs(x(3) - known%z) > 0) return
    known = known_t()
    c = WindowCell(window, x)
    if (any(c < 1 .or. c > [window%nx, window%ny, window%nz])) return
    place = (x - [window%x0, window%y0, window%z0])/[window%dx, window%dy, window%dz] - c + 1
    do a = merge(3, 1, flat), 3
      call Model3dRow(earth, job, window, c, a, reach, reach, line, low, error)
      if (allocated(error)) return
      known%off = max(known%off, Jump(line(:, :3), c(a) - low + 1, place(a)))
      known%side = max(known%side, Side(line(:, :3), c(a) - low + 1, place(a)))
    end do
    if (known%off > off_most) call Heeds(earth, job, scheme, window, c, heeded, error)
    if (known%off > off_most .and. heeded) known%off = 0
    known%z = x(3)
  end subroutine StressOff

  !> True of a contact in reach of cell c that is even along two axes, with nothing else in reach.
  subroutine Heeds(earth, job, scheme, window, c, heeded, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    integer, intent(in) :: c(3)
    logical, intent(out) :: heeded
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: line(:, :)
    integer :: low, a, uneven_axes
    heeded = Model3dTells(earth)
    if (scheme%free_top) heeded = heeded .and. c(3) > rock_reach + scheme%half_length
    uneven_axes = 0
    do a = merge(3, 1, earth%layers%n > 0), 3
      if (.not. heeded) return
      call Model3dRow(earth, job, window, c, a, rock_reach, rock_reach, line, low, error)
      if (allocated(error)) return
      if (.not. Even(line(:, :3))) uneven_axes = uneven_axes + 1
      heeded = all(line(:, 2) > 0) .and. uneven_axes < 2
    end do
  end subroutine Heeds

  !> True where moduli along a line differ by next to nothing.
  pure logical function Even(medium)
    real(sp), intent(in) :: medium(:, :)
    integer :: wave
    Even = .true.
    do wave = 1, 2
      associate (m => real(medium(:, 3), dp)*medium(:, wave)**2)
        Even = Even .and. maxval(m) <= rock_even*minval(m)
      end associate
    end do
  end function Even

  !> The side of a sea floor within reach along such a line.
  pure integer function Side(medium, c, place)
    real(sp), intent(in) :: medium(:, :)
    integer, intent(in) :: c
    real(dp), intent(in) :: place
    integer :: k
    Side = nowhere
    if (.not. medium(c, 1) > 0) return
    do k = 1, size(medium, 1)
      if (.not. medium(k, 1) > 0 .or. (medium(k, 2) > 0 .eqv. medium(c, 2) > 0)) cycle
      if (max(k - c - place, c - k - 1 + place) <= reach) Side = merge(in_rock, in_water, medium(c, 2) > 0)
    end do
  end function Side

  !> By how much a trace may be off along a line of cells with vp, vs, rho, at `place` 0 .. 1 of cell c.
  pure real(dp) function Jump(medium, c, place) result(off)
    real(sp), intent(in) :: medium(:, :)
    integer, intent(in) :: c
    real(dp), intent(in) :: place
    integer :: k
    off = 0
    if (Evenly(medium)) return
    do k = 1, size(medium, 1)
      off = max(off, Half(medium(k, :), medium(c, :))*exp(-fade*max(0.0_dp, k - c - place, c - k - 1 + place)))
    end do
    if (c == 1 .or. c == size(medium, 1)) return
    off = max(off, min(Half(medium(c - 1, :), medium(c + 1, :)), &                     ! the contact lies within the cell
                       4*min(Half(medium(c - 1, :), medium(c, :)), Half(medium(c, :), medium(c + 1, :)))))
  end function Jump

  !> True where both moduli change by like steps along a whole line in rock. A contact, within a cell too, is one step or two.
  pure logical function Evenly(medium)
    real(sp), intent(in) :: medium(:, :)
    real(dp) :: m(size(medium, 1)), step(size(medium, 1) - 1)
    integer :: wave
    Evenly = size(medium, 1) == 2*reach + 1 .and. all(medium(:, 2) > 0)
    if (.not. Evenly) return
    do wave = 1, 2
      m = real(medium(:, 3), dp)*medium(:, wave)**2
      step = m(2:) - m(:size(step))
      step = sign(1.0_dp, sum(step))*step
      Evenly = Evenly .and. (maxval(step) <= uneven*minval(step) .or. maxval(abs(step)) <= none*minval(m))
    end do
  end function Evenly

  !> Half the jump of moduli between two media, 0 unless both are rock.
  pure real(dp) function Half(a, b)
    real(sp), intent(in) :: a(3), b(3)
    real(dp) :: s, p
    Half = 0
    if (.not. min(a(2), b(2)) > 0) return
    s = real(a(3), dp)*a(2)**2/(real(b(3), dp)*b(2)**2)
    p = real(a(3), dp)*a(1)**2/(real(b(3), dp)*b(1)**2)
    Half = 0.5_dp*(max(s, 1/s, p, 1/p) - 1)
  end function Half

  !> Adds to scheme%warnings what should be known.
  subroutine StressContactsSay(beside, scheme)
    type(beside_t), intent(in) :: beside
    class(scheme_t), intent(inout) :: scheme
    character(:), allocatable :: near, within, why
    near = 'within two cells, '//Str(reach*max(scheme%dx, scheme%dy, scheme%dz), 4)//' m, of '
    within = near//'a contact of rock'
    why = ' (it dips or ends, a fluid or the surface is within '//Str(rock_reach + scheme%half_length)// &
          ' cells, or the model stays on disk)'
    if (beside%floor%n > 0) &
      call SchemeWarn(scheme, Str(beside%floor%n)//' receiver(s) of pressure, stress along the floor, strain or rotation '// &
                'stand '//near//'a sea floor, in rock or, of the latter two, in water, the first of them '//beside%floor%first// &
                ': half-length '//Str(scheme%half_length)//' reaches across it, and they are off by 10 to 40 %; record '// &
                'velocity or stress across the floor, put them farther away, or take half_length=1 or a smaller spacing')
    if (beside%sources%n > 0) &
      call SchemeWarn(scheme, Str(beside%sources%n)//' source(s) of moment are '//within//', the first of them '// &
                beside%sources%first//why// &
                ': stress jumps there, and waves from between the cells may be off by tens of per cent '// &
                'at all receivers; put them farther away from the contact, or take a smaller spacing')
    associate (told => beside%receivers)
      if (told%n == 0) return
      call SchemeWarn(scheme, Str(told%n)//' receiver(s) of stress, pressure, strain or rotation stand '//within// &
                ', the first of them '//told%first//why// &
                ': these jump there, and what is read between the cells may be off by '// &
                'some '//Str(100*min(told%off, 1.0_dp), 2)//' % and more; record velocity, which is within some 3 %, put them '// &
                'farther away from the contact, or take a smaller spacing')
    end associate
  end subroutine StressContactsSay

end module stress_contacts_m
