!> A rank of a group asks for the box of the window around its piece: the boxes cover the window, none is much larger than its piece,
!> and a rank takes no window that lacks a layer of its box.
program t617_fd3d_box
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use error_m, only: error_t
  use fd3d_m, only: fd3d_t
  use group_m, only: group_t
  use kinds_m, only: dp, sp
  use scheme3d_m, only: scheme3d_t
  use shot_m, only: shot_t
  use text_m, only: Str
  use window_m, only: box_t, window_t
  implicit none
  integer, parameter :: ring = 29             !< 12 cells that a point touches, 16 more whose medium decides its weights, 1 of the grid
  type(scheme3d_t) :: scheme
  type(window_t) :: window

  scheme%dx = 10
  scheme%dy = 10
  scheme%dz = 10
  scheme%dt = 1e-3_dp
  scheme%half_length = 2
  scheme%w(:2) = [9/8.0_dp, -1/24.0_dp]
  scheme%npml = 10
  scheme%fpeak = 25
  scheme%variant = 'cpu'
  scheme%components = 'vz'
  window%nx = 200
  window%ny = 180
  window%nz = 160
  window%dx = 10
  window%dy = 10
  window%dz = 10
  call Boxes([1, 1, 1])
  call Boxes([1, 1, 2])
  call Boxes([2, 2, 1])
  call Boxes([2, 2, 2])
  call Boxes([1, 1, 20])                      ! the last pieces lie below the window
  scheme%periodic = .true.
  call Boxes([2, 1, 2])
  call Lacks()
  call Done()

contains

  !> Boxes of all ranks of a group.
  subroutine Boxes(parts)
    integer, intent(in) :: parts(3)
    type(group_t), target :: group
    type(fd3d_t) :: solver
    type(box_t) :: box
    type(error_t), allocatable :: error
    logical, allocatable :: covered(:, :, :)
    logical :: inside, small
    integer :: p, most(3)
    real(dp) :: largest
    allocate (covered(window%nx, window%ny, window%nz), source=.false.)
    inside = .true.
    small = .true.
    largest = 0
    group%n = product(parts)
    solver%partners => group
    scheme%own%decomposition = parts
    do p = 1, group%n
      group%mine = p
      call solver%box(scheme, window, box, error)
      if (allocated(error)) exit
      associate (l => box%low, h => box%high)
        inside = inside .and. all(l >= 1) .and. all(h >= l) .and. all(h <= shape(covered))
        if (.not. inside) exit
        covered(l(1):h(1), l(2):h(2), l(3):h(3)) = .true.
        most = shape(covered)
        if (scheme%periodic) then
          most(3) = solver%cuts%last(solver%cuts%parts(3), 3)/parts(3) + 12 + 2*ring      ! layers at the ends make pieces uneven
        else
          most = (shape(covered) + 28)/parts + 12 + 2*ring
        end if
        small = small .and. all(h - l + 1 <= most)
        largest = max(largest, product(real(h - l + 1, dp)))
      end associate
    end do
    call ClaimFine(error, 'boxes of '//Words(parts))
    call Claim(inside .and. all(covered), Words(parts)//': the boxes lie in the window and cover it')
    call Claim(small, Words(parts)//': the largest has '//Str(100*largest/size(covered), 3)//' % of the window, no side is longer '// &
               'than its piece with a ring of '//Str(ring)//' cells')
  end subroutine Boxes

  pure function Words(parts) result(text)
    integer, intent(in) :: parts(3)
    character(:), allocatable :: text
    text = Str(parts(1))//'x'//Str(parts(2))//'x'//Str(parts(3))
    if (scheme%periodic) text = text//' periodic'
  end function Words

  !> A window that came from elsewhere may be any.
  subroutine Lacks()
    type(fd3d_t) :: solver
    type(shot_t) :: shot
    type(error_t), allocatable :: error
    character(*), parameter :: words = 'the medium of the model window is not'
    window%nx = 12
    window%ny = 12
    window%nz = 12
    allocate (window%medium(12, 12, 2:12, 3), source=1500.0_sp)
    call solver%setup(scheme, window, shot, error)
    call ClaimFails(error, words, 'a window without its first layer')
    deallocate (window%medium)
    allocate (window%medium(12, 12, 12, 2), source=1500.0_sp)
    call solver%setup(scheme, window, shot, error)
    call ClaimFails(error, words, 'a window without densities')
    deallocate (window%medium)
    call solver%setup(scheme, window, shot, error)
    call ClaimFails(error, words, 'a window without media')
  end subroutine Lacks

end program t617_fd3d_box
