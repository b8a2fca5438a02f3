!> The grid of a 3D shot around its window.
module fd3d_grid_m
  use anelastic_m, only: memory_all
  use fd3d_absorb_m, only: Fd3dLayerWidths
  use fd3d_engine_m, only: fd3d_grid_t, side_free, side_one_way, side_outside, side_periodic
  use kinds_m, only: dp
  use scheme3d_m, only: elastic_t, wide_yes
  use scheme_m, only: scheme_t, SchemePad
  use window_m, only: window_t
  implicit none
  private
  public :: Fd3dGrid, Fd3dSameGrid

  real(dp), parameter, public :: even_q = 1000   !< a smallest Q beyond: mechanisms differ by less than even weights from others

contains

  !> The grid around a window, all of it one subdomain; `width` of its layers, `pad`: its cells before the window.
  pure subroutine Fd3dGrid(scheme, own, window, grid, width, pad)
    class(scheme_t), intent(in) :: scheme
    type(elastic_t), intent(in) :: own
    type(window_t), intent(in) :: window
    type(fd3d_grid_t), intent(out) :: grid
    integer, intent(out) :: width(6), pad(3)
    integer :: both(2)
    both = SchemePad(scheme)
    pad = [both(1), both(1), both(2)]
    width = scheme%npml
    grid%side = side_outside
    if (scheme%periodic) then
      pad(:2) = 0
      width(:4) = 0
      grid%side(:4) = side_periodic
    end if
    if (scheme%free_top) then
      width(5) = 0
      grid%side(5) = side_free
    end if
    grid%n = [window%nx + 2*pad(1), window%ny + 2*pad(2), window%nz + pad(3) + both(1)]
    if (scheme%one_way) then
      width(6) = 0
      grid%side(6) = side_one_way
      grid%n(3) = window%nz + pad(3)
    end if
    grid%whole = grid%n
    grid%half_length = scheme%half_length
    grid%anelastic = own%attenuates
    grid%together = own%attenuates .and. own%memory == memory_all
    grid%even = own%attenuates .and. own%qmin < even_q .and. .not. grid%together
    grid%wide = own%wide == wide_yes
    grid%threads = scheme%threads
    grid%share = scheme%share
    grid%sparse = .true.
    if (scheme%snapshot > 0) grid%sparse = index(own%fields, 'p') == 0
    grid%d = [scheme%dx, scheme%dy, scheme%dz]
    grid%dt = scheme%dt
    grid%w = scheme%w(:4)
    if (.not. scheme%sponge) grid%layer = Fd3dLayerWidths(grid, width)
    grid%wet = own%wet
    grid%narrow = own%narrow .and. any(grid%layer(:4) > 0)
  end subroutine Fd3dGrid

  !> An engine made for grid b serves grid a. Threads and `share` matter only to its speed.
  pure logical function Fd3dSameGrid(a, b)
    type(fd3d_grid_t), intent(in) :: a, b
    Fd3dSameGrid = all(a%n == b%n) .and. all(a%first == b%first) .and. all(a%whole == b%whole) .and. all(a%side == b%side) &
               .and. all(a%layer == b%layer) .and. a%half_length == b%half_length &
               .and. (a%anelastic .eqv. b%anelastic) .and. (a%together .eqv. b%together) &
               .and. (a%narrow .eqv. b%narrow) .and. (a%even .eqv. b%even) .and. (a%sparse .eqv. b%sparse) &
               .and. (a%wet .eqv. b%wet) .and. (a%wide .eqv. b%wide) &
               .and. all(a%d == b%d) .and. a%dt == b%dt .and. all(a%w == b%w)
  end function Fd3dSameGrid

end module fd3d_grid_m
