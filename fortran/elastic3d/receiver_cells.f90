!> Cells that receivers of a shot read on average, beside contacts of rock too, for the forecast of memory: counted where it will be
!> done alike (fd3d_components.f90), at some receivers of some shots, so that a survey of 10**5 shots is as quickly looked at.
module receiver_cells_m
  use error_m, only: error_t
  use fd3d_bends_m, only: line_reach
  use fd3d_components_m, only: Fd3dCells, Fd3dComponent
  use fd3d_contacts_m, only: rock_t, rock_reach, Fd3dRock
  use fd3d_engine_m, only: fd3d_grid_t
  use fd3d_grid_m, only: Fd3dGrid
  use fd3d_moduli_m, only: fd3d_moduli_t
  use fd3d_point_lists_m, only: fd3d_list_t
  use kinds_m, only: dp, i8
  use model3d_m, only: model3d_t
  use model3d_place_m, only: LinesOf, Model3dAt, Model3dTells, place_numbers
  use model3d_window_m, only: Model3dFill
  use parameter_table_m, only: SplitList
  use parameters_m, only: job_t
  use scheme3d_m, only: scheme3d_t
  use shot_m, only: shot_t
  use window_m, only: box_t, window_t, WindowCell, WindowClip
  implicit none
  private
  public :: receiver_cells_t, ReceiverCells

  integer, parameter :: some = 48                 !< receivers of a shot that are looked at
  real(dp), parameter :: notable = 1.05_dp        !< times as many receivers as shots before had: looked at too

  type :: receiver_cells_t
    integer(i8) :: shots = 0                      !< that were there
    integer :: most = 0                           !< receivers of one of those looked at
    real(dp) :: cells = 0                         !< most that the receivers of one of them read, all components
    real(dp) :: plain = 0                         !< where no contact is, of the shot with most receivers
  contains
    procedure :: times
  end type receiver_cells_t

contains

  !> Times as many cells as Fd3dCells tells, at least as many.
  pure real(dp) function times(self)
    class(receiver_cells_t), intent(in) :: self
    times = 1
    if (self%plain > 0) times = max(1.0_dp, self%cells/self%plain)
  end function times

  !> Looks at a shot if it is the first, second, fourth, eighth .., or has more receivers than those before.
  subroutine ReceiverCells(known, earth, job, scheme, shot, window)
    type(receiver_cells_t), intent(inout) :: known
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    character(32), allocatable :: names(:)
    real(dp) :: cells, plain
    integer :: n, looks, m, r, c
    if (.not. Model3dTells(earth)) return
    known%shots = known%shots + 1
    n = size(shot%rx)
    if (n == 0 .or. (popcnt(known%shots) > 1 .and. n < notable*known%most)) return
    allocate (names, source=SplitList(scheme%components))
    plain = sum([(real(Fd3dCells(trim(names(c)), scheme%half_length), dp), c=1, size(names))])
    looks = min(n, some)
    cells = 0
    do m = 1, looks
      r = 1 + int((m - 0.5_dp)*n/looks)
      cells = cells + CellsOf(earth, job, scheme, window, [shot%rx(r), shot%ry(r), shot%rz(r)], names)/looks
    end do
    known%most = max(known%most, n)
    known%cells = max(known%cells, n*cells)
    known%plain = max(known%plain, n*plain)
  end subroutine ReceiverCells

  !> Those of a receiver at x of all components.
  real(dp) function CellsOf(earth, job, scheme, window, x, names) result(cells)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    real(dp), intent(in) :: x(3)
    character(*), intent(in) :: names(:)
    type(fd3d_grid_t) :: grid
    type(fd3d_moduli_t) :: moduli
    type(fd3d_list_t) :: list
    type(window_t) :: around
    type(error_t), allocatable :: error             ! of what cannot be recorded there others tell
    type(rock_t) :: rock
    real(dp) :: at(3), numbers(place_numbers)
    integer :: width(6), pad(3), cell(3), c
    logical :: motion
    cells = 0
    call Fd3dGrid(scheme, scheme%own, window, grid, width, pad)
    moduli%before = -pad
    moduli%periodic = scheme%periodic
    at = x - [window%x0, window%y0, window%z0] + pad*grid%d
    numbers = Model3dAt(earth, x, line_reach*grid%d)
    cell = WindowCell(window, x)
    around = window
    call Model3dFill(earth, job, WindowClip(window, box_t(cell - rock_reach - 2, cell + rock_reach + 2)), around, error)
    do c = 1, size(names)
      motion = names(c)(1:1) == 'v'
      rock = rock_t()
      if (.not. allocated(error) .and. .not. (motion .and. all(abs(LinesOf(numbers)) <= 0)) .and. .not. Round()) &
        call Fd3dRock(moduli, around, grid, at, numbers, rock)
      if (.not. merge(rock%bent, rock%beside, motion)) then
        cells = cells + Fd3dCells(trim(names(c)), scheme%half_length)
        cycle
      end if
      list = fd3d_list_t(cut=.true.)
      call Fd3dComponent(list, grid, trim(names(c)), at, error, rock)
      cells = cells + list%n
    end do

  contains

    !> Across the ends of a periodic axis the box around it goes on at the other end, whose media are not here.
    logical function Round()
      integer :: n(3)
      n = [window%nx, window%ny, window%nz]
      Round = scheme%periodic .and. any(cell(:2) - rock_reach - 2 < 1 .or. cell(:2) + rock_reach + 2 > n(:2))
    end function Round
  end function CellsOf

end module receiver_cells_m
