!> Memory of a GPU that a shot takes. Arguments stand in sem3d.f90.
submodule(sem3d_m) sem3d_gpu_memory
  use band_weights_m, only: band_points
  use elements_cut_m, only: touching
  use sem3d_engine_m, only: resident_all
  use sem3d_variants_m, only: sem3d_variants, Sem3dMemory
  use zener_m, only: zener_mechanisms
  implicit none

contains

  module procedure Room
    real(dp) :: host, bare, full
    bytes = 0
    if (.not. (sem3d_variants%needs_gpu(variant) .and. scheme%gpu_room > 0)) return
    call Sem3dMemory(variant, grid, 0, 0, 0, 0, host, bare)
    call Sem3dMemory(variant, grid, 3*band_points, traces, scheme%nt, 0, host, full)
    bytes = max(1.0_dp, scheme%gpu_room - (full - bare))
  end procedure Room

  module procedure need
    type(sem3d_grid_t) :: grid
    real(dp) :: host
    bytes = 0
    select type (scheme)
    type is (elements_scheme_t)
      if (.not. sem3d_variants%needs_gpu(scheme%variant)) return
      grid = Cube(scheme, window)
      call Sem3dMemory(scheme%variant, grid, 3*band_points, scheme%traces(traces), scheme%nt, 0, host, bytes)
    end select
  end procedure need

  module procedure need_words
    type(sem3d_grid_t) :: grid
    real(dp) :: host, bare, all, some
    words = ''
    select type (scheme)
    type is (elements_scheme_t)
      if (.not. sem3d_variants%needs_gpu(scheme%variant) .or. scheme%ranks > 1) return
      grid = Cube(scheme, window)
      call Sem3dMemory(scheme%variant, grid, 3*band_points, 0, scheme%nt, 0, host, some)
      grid%resident = resident_all
      call Sem3dMemory(scheme%variant, grid, 3*band_points, 0, scheme%nt, 0, bare, all)
      if (host > bare) words = Str(1.0e-9_dp*all, 3)//' GB would hold all; '//Str(1.0e-9_dp*(host - bare), 3)// &
                               ' GB come from the host in each step'
    end select
  end procedure need_words

  !> The elements of a window, or a rank's piece of them, as those of a cube of solid and one of fluid, which meet at a side. A
  !> piece may be all of solid, which takes more.
  type(sem3d_grid_t) function Cube(scheme, window) result(grid)
    type(elements_scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    integer :: n
    n = scheme%of_mesh(window)
    if (scheme%ranks > 1) n = min(n, 1 + int(touching*n/scheme%ranks))
    grid%elements = n
    grid%solid = min(n, scheme%solid)
    grid%solid_points = Points(grid%solid)
    grid%points = int(min(real(grid%solid_points, dp) + Points(n - grid%solid), 2.0e9_dp))
    grid%contacts = nint(min(grid%solid, n - grid%solid)**(2/3.0_dp))
    grid%bricks = 1 + n/32
    grid%piece = merge(1, 0, scheme%ranks > 1)
    grid%per = scheme%per
    grid%media = scheme%media
    grid%relaxing = scheme%relaxing
    if (scheme%attenuates) grid%mechanisms = zener_mechanisms
    grid%sum = scheme%sum
    grid%dt = scheme%dt
    grid%resident = merge(resident_all, scheme%resident, scheme%ranks > 1)
    grid%room = scheme%gpu_room
  end function Cube

  !> Points of a cube of n elements, or 2e9.
  pure integer function Points(n)
    integer, intent(in) :: n
    Points = 0
    if (n > 0) Points = nint(min((4*real(n, dp)**(1/3.0_dp) + 1)**3, 2.0e9_dp))
  end function Points

end submodule sem3d_gpu_memory
