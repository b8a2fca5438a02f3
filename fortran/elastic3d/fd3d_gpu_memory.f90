!> Memory of a GPU that a shot takes. Arguments stand in fd3d.f90.
submodule(fd3d_m) fd3d_gpu_memory
  use checked_m, only: Whole
  use fd3d_components_m, only: Fd3dCells
  use fd3d_variants_m, only: Fd3dMemory
  implicit none

  integer, parameter :: entries = 1024              !< cells that a source or receiver is spread over, about, or more at contacts
  integer, parameter :: entries_fault = 3072        !< of a point of a fault: six parts of a tensor, 8 x 8 x 8 cells each
  integer, parameter :: entries_hill = 640          !< of the stencil of a map's point on a hill, about

contains

  module procedure need
    bytes = 0
    select type (scheme)
    type is (scheme3d_t)
      bytes = Memory(scheme, window, traces)
    end select
  end procedure need

  real(dp) function Memory(scheme, window, traces) result(bytes)
    type(scheme3d_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    integer, intent(in) :: traces
    type(fd3d_grid_t) :: grid, piece
    type(cuts_t) :: cuts
    type(error_t), allocatable :: error
    real(dp) :: all, points
    integer :: width(6), pad(3), stencils, p
    bytes = 0
    if (.not. fd3d_variants%needs_gpu(scheme%variant)) return
    call Fd3dGrid(scheme, scheme%own, window, grid, width, pad)
    if (scheme%ranks > 1) call Fd3dCuts(grid, width, scheme%ranks, scheme%own%decomposition, .true., cuts, error)
    if (allocated(error)) bytes = huge(bytes)
    if (allocated(error)) return
    all = entries + max(real(entries, dp), Reads(scheme))*traces + real(entries_fault, dp)*scheme%own%source%fault%n
    do p = 1, scheme%ranks
      piece = grid
      if (scheme%ranks > 1) piece = Fd3dPiece(grid, width, cuts, p)
      ! halo_wide=auto widens but small ones
      if (scheme%ranks > 1 .and. scheme%own%wide == wide_yes) piece = Fd3dWiden(grid, width, piece)
      points = 0
      if (scheme%own%pgv) points = product((min([window%nx, window%ny], piece%n(:2)) - 1)/scheme%snapshot_step + 1.0_dp)
      stencils = entries
      if (scheme%ranks > 1 .or. HasHills(window)) stencils = Whole(points*entries_hill)   ! all ranks find the same memory
      bytes = max(bytes, Fd3dMemory(scheme%variant, piece, Whole(all), traces, scheme%nt, Whole(points), &
                                    merge(stencils, 0, scheme%own%pgv)))
    end do
  end function Memory

  !> Cells that a trace is read from on average.
  pure real(dp) function Reads(scheme)
    type(scheme3d_t), intent(in) :: scheme
    character(32), allocatable :: names(:)
    integer :: c
    allocate (names, source=SplitList(scheme%components))
    Reads = scheme%own%reads*sum([(Fd3dCells(trim(names(c)), scheme%half_length), c=1, size(names))])/size(names)
  end function Reads

  !> Air makes ground of any shape, as far as the window is known.
  pure logical function HasHills(window)
    type(window_t), intent(in) :: window
    integer, allocatable :: rows(:, :)
    HasHills = .false.
    if (.not. (WindowHas(window, 3) .or. WindowHas(window, 5))) return
    rows = count(window%medium(:, :, :, 3) > 0, dim=3)
    HasHills = any(rows /= rows(1, 1))
  end function HasHills

end submodule fd3d_gpu_memory
