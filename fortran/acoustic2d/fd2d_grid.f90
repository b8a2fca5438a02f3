!> The grid of a 2D shot around its window.
module fd2d_grid_m
  use fd2d_engine_m, only: fd2d_grid_t
  use scheme_m, only: scheme_t, SchemeGrid
  implicit none
  private
  public :: Fd2dGrid, Fd2dSameGrid

contains

  !> The grid of a window of nx x nz nodes: absorbing layers around it, some cells away, or a free surface along its top row.
  pure type(fd2d_grid_t) function Fd2dGrid(scheme, nx, nz) result(grid)
    class(scheme_t), intent(in) :: scheme
    integer, intent(in) :: nx, nz
    integer :: n(2)
    n = SchemeGrid(scheme, nx, nz)
    associate (s => scheme)
      grid = fd2d_grid_t(nx=n(1), nz=n(2), nleft=s%npml, nright=s%npml, ntop=merge(0, s%npml, s%free_top), nbottom=s%npml, &
                         velocities=index(s%components, 'v') > 0, share=s%share, free_top=s%free_top, threads=s%threads, &
                         half_length=s%half_length, dx=s%dx, dz=s%dz, dt=s%dt, w=s%w, shape=s%shape, &
                         steps_a_pass=s%steps_a_pass)
    end associate
  end function Fd2dGrid

  !> An engine made for grid b serves grid a. Threads and `share` matter only to its speed.
  pure logical function Fd2dSameGrid(a, b)
    type(fd2d_grid_t), intent(in) :: a, b
    Fd2dSameGrid = a%nx == b%nx .and. a%nz == b%nz .and. a%nleft == b%nleft .and. a%nright == b%nright .and. a%ntop == b%ntop &
               .and. a%nbottom == b%nbottom .and. (a%free_top .eqv. b%free_top) .and. (a%velocities .eqv. b%velocities) &
               .and. a%half_length == b%half_length .and. a%dx == b%dx .and. a%dz == b%dz .and. a%dt == b%dt .and. &
               all(a%w == b%w) .and. a%shape == b%shape .and. a%steps_a_pass == b%steps_a_pass .and. (a%apart .eqv. b%apart)
  end function Fd2dSameGrid

end module fd2d_grid_m
