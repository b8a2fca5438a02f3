!> Receivers of stress, strain and rotation beside a contact of rock, said before the first shot.
!>
!> Stress across a contact is continuous, that along it jumps by the ratio of moduli: weights over eight cells read both as if they
!> were smooth. At d cells from it traces are off by
!>     1/2 (larger modulus/smaller - 1) exp(-1.2 d)
!> or so, three times that where parts nearly cancel; velocity by at most 3 % (README.md, t881). Beside fluids and air other weights
!> do not reach across (fd3d_ground.f90).
module stress_contacts_m
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use model3d_m, only: model3d_t
  use model3d_window_m, only: Model3dRow
  use parameters_m, only: job_t
  use scheme3d_m, only: scheme3d_t
  use scheme_m, only: scheme_t, SchemeWarn
  use shot_m, only: shot_t
  use text_m, only: Str
  use told_receivers_m, only: told_receivers_t, fade, off_most, ToldAdd
  use window_m, only: window_t, WindowCell
  implicit none
  private
  public :: StressContacts, StressContactsSay

  integer, parameter :: reach = 2                 !< cells

contains

  !> Looks at a shot in its window.
  subroutine StressContacts(told, earth, job, scheme, shot, window, error)
    type(told_receivers_t), intent(inout) :: told
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: line(:, :)
    real(dp) :: place(3), off
    integer :: c(3), n(3), low, r, a
    if (scan(scheme%components, 'sewp') == 0) return
    n = [window%nx, window%ny, window%nz]
    do r = 1, size(shot%rx)
      c = WindowCell(window, [shot%rx(r), shot%ry(r), shot%rz(r)])
      if (any(c < 1 .or. c > n)) cycle
      place = ([shot%rx(r), shot%ry(r), shot%rz(r)] - [window%x0, window%y0, window%z0])/[window%dx, window%dy, window%dz] - c + 1
      off = 0
      do a = 1, 3
        call Model3dRow(earth, job, window, c, a, reach, reach, line, low, error)
        if (allocated(error)) return
        off = max(off, Jump(line(:, :3), c(a) - low + 1, place(a)))
      end do
      if (off > off_most) call ToldAdd(told, shot, r, off, .true.)
    end do
  end subroutine StressContacts

  !> By how much a trace may be off along a line of cells with vp, vs, rho, at `place` 0 .. 1 of cell c.
  pure real(dp) function Jump(medium, c, place) result(off)
    real(sp), intent(in) :: medium(:, :)
    integer, intent(in) :: c
    real(dp), intent(in) :: place
    integer :: k
    off = 0
    do k = 1, size(medium, 1)
      off = max(off, Half(medium(k, :), medium(c, :))*exp(-fade*max(0.0_dp, k - c - place, c - k - 1 + place)))
    end do
    if (c == 1 .or. c == size(medium, 1)) return
    off = max(off, min(Half(medium(c - 1, :), medium(c + 1, :)), &                     ! the contact lies within the cell
                       4*min(Half(medium(c - 1, :), medium(c, :)), Half(medium(c, :), medium(c + 1, :)))))
  end function Jump

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
  subroutine StressContactsSay(told, scheme)
    type(told_receivers_t), intent(in) :: told
    class(scheme_t), intent(inout) :: scheme
    if (told%n == 0) return
    call SchemeWarn(scheme, Str(told%n)//' receiver(s) of stress, pressure, strain or rotation stand within two cells, '// &
              Str(reach*max(scheme%dx, scheme%dy, scheme%dz), 4)//' m, of a contact of rock, the first of them '//told%first// &
              ': these jump there, and what is read between the cells is off by some '//Str(100*min(told%off, 1.0_dp), 2)// &
              ' % and more; record velocity, which is within some 3 %, put them farther away from the contact, or take a '// &
              'smaller spacing')
  end subroutine StressContactsSay

end module stress_contacts_m
