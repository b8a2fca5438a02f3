!> Made-up shots at the level of the 3D engine: rough medium with water and air in it, every kind of side, layers and sponge, sources
!> of all fields, receivers of several cells; run by the readable Fortran and by a C variant through the verbs of fd3d_c.f90.
module fd3dcase_m
  use der_m, only: DerSumAbs
  use handle_c, only: handle_device, handle_free, handle_timestep, handle_traces
  use taylor_m, only: Taylor
  use differs_m, only: Differs
  use error_m, only: error_t, FailFromC
  use fd3d_c, only: fd3d_cfg, fd3d_field, fd3d_histories, fd3d_map, fd3d_model, fd3d_new, fd3d_pml, fd3d_quality, &
                    fd3d_receivers, fd3d_source, fd3d_sponge, fd3d_tune, fd3d_watch
  use fd3d_engine_m, only: fd3d_fields, fd3d_grid_t, fd3d_map_t, field_sxx, side_free, side_one_way, side_outside, side_periodic
  use fd3d_fortran_m, only: fd3d_fortran_t
  use fd3d_absorb_m, only: fd3d_profiles_t, Fd3dLayerWidths, Fd3dProfiles, Fd3dSponge
  use iso_c_binding, only: c_associated, c_char, c_float, c_null_char, c_ptr
  use kinds_m, only: dp, sp
  use map3d_m, only: Map3dMake
  use text_m, only: CString, FString, Str
  implicit none
  private
  public :: case3d_t, result3d_t, Case3dNew, Case3dCfg, Case3dSource, Case3dHandle, Case3dPoints, Case3dSteps, Case3dResult
  public :: Case3dNative, Case3dFortran, Case3dDiffers, Case3dDifferent, Case3dProfiles
  public :: kinds_of_sides, SidesName

  integer, parameter :: kinds_of_sides = 8
  real(dp), parameter :: spacing(3) = [10.0_dp, 8.0_dp, 9.0_dp], vp_most = 4000

  type :: case3d_t
    type(fd3d_grid_t) :: grid
    integer :: width(6) = 0, sponge(6) = 0                            !< of layers and sponges of the whole grid
    real(sp), allocatable, dimension(:, :, :) :: rho, lambda, mu, qp, qs  !< (0:nx+1, 0:ny+1, 0:nz+1)
    real(sp) :: tau(8) = 1, y(8, 3) = 0, stiff(8) = 0
    real(sp), allocatable :: q(:, :), sw(:), rw(:)                    !< histories (nh, nt), weights
    integer, allocatable :: sf(:), si(:), sj(:), sk(:), sh(:)         !< source, from 1
    integer, allocatable :: start(:), rf(:), ri(:), rj(:), rk(:)      !< receivers, from 1
    integer :: nt = 0, block = 0                                      !< steps; of histories given at once (0: all)
    integer :: shape(3) = 0                                           !< of blocks, for fd3d_tune
    integer :: watched = 1, last = 0                                  !< row of the map, step it looks at last
    logical :: hilly = .false.                                        !< its row is another in each column of the whole grid
    logical :: narrow = .false.                                       !< its points have a cell's own velocities
  end type case3d_t

  type :: result3d_t
    real(sp), allocatable :: traces(:, :), fields(:, :, :, :), map(:, :, :)   !< (nt, nrec), (nx, ny, nz, 0:8), (nx, ny, 3)
    character(:), allocatable :: device
  end type result3d_t

contains

  pure function SidesName(sides) result(name)
    integer, intent(in) :: sides
    character(:), allocatable :: name
    character(48), parameter :: names(kinds_of_sides) = [character(48) :: &
                                'layers on six sides', 'free surface and layers', 'free surface and sponge', 'no layers', &
                                'periodic sides, free surface, one-way bottom', 'periodic on three axes', &
                                'layers everywhere, one-way bottom', 'a layer at the left and at the bottom, sponge']
    name = trim(names(sides))
  end function SidesName

  !> A shot of nt steps on n(3) cells; sides = 1 .. kinds_of_sides.
  subroutine Case3dNew(c, n, half_length, sides, anelastic, nt, together)
    type(case3d_t), intent(out) :: c
    integer, intent(in) :: n(3), half_length, sides, nt
    logical, intent(in) :: anelastic
    logical, intent(in), optional :: together                         !< cells have all mechanisms
    integer :: m
    associate (g => c%grid)
      g%n = n
      g%whole = n
      g%half_length = half_length
      g%anelastic = anelastic
      if (present(together)) g%together = together
      g%d = spacing
      g%w(:half_length) = Taylor(half_length)
      g%dt = 0.8_dp/(vp_most*DerSumAbs(g%w(:half_length))*norm2(1/spacing))
      call SetSides(c, sides)
      g%layer = Fd3dLayerWidths(g, c%width)
    end associate
    c%nt = nt
    c%last = nt - 3                                                   ! the map does not see the last steps
    c%watched = min(2, n(3))
    c%tau = [(real(0.004_dp*2.0_dp**(0.9_dp*m), sp), m=1, 8)]
    c%y(:, 1) = [(real(0.9_dp + 0.11_dp*modulo(3*m, 8), sp), m=1, 8)]
    c%y(:, 2) = [(real(-0.8_dp + 0.1_dp*m, sp), m=1, 8)]
    c%y(:, 3) = 0.4_sp
    c%stiff = [(0.1_sp*m, m=1, 8)]
    call SetMedium(c)
    call SetHistories(c)
    call Case3dSource(c, 0.55_dp)
    call SetReceivers(c)
  end subroutine Case3dNew

  subroutine SetSides(c, sides)
    type(case3d_t), intent(inout) :: c
    integer, intent(in) :: sides
    integer :: n(3)
    n = c%grid%n
    c%grid%side = side_outside
    select case (sides)
    case (1)
      c%width = Least([5, 6, 4, 5, 6, 4], n)
    case (2)
      c%width = Least([5, 4, 6, 5, 0, 7], n)
      c%grid%side(5) = side_free
    case (3)
      c%grid%side(5) = side_free
      c%grid%wet = .true.                                            ! though there is rock, and stable all the same
      c%sponge = Least([6, 5, 7, 6, 0, 8], n)
    case (5)
      c%grid%side = [side_periodic, side_periodic, side_periodic, side_periodic, side_free, side_one_way]
    case (6)
      c%grid%side = side_periodic
    case (7)
      c%width = n([1, 1, 2, 2, 3, 3])/2
      c%grid%side(6) = side_one_way
    case (8)
      c%width = Least([7, 0, 0, 0, 0, 5], n)
      c%sponge = Least([0, 6, 5, 0, 4, 0], n)
    end select
  contains
    pure function Least(width, n) result(least_of)
      integer, intent(in) :: width(6), n(3)
      integer :: least_of(6)
      least_of = min(width, n([1, 1, 2, 2, 3, 3])/3)
    end function Least
  end subroutine SetSides

  !> Rough rock; water and air in corners of it, at the surface too.
  subroutine SetMedium(c)
    type(case3d_t), intent(inout) :: c
    integer :: i, j, k, n(3)
    real(dp) :: r, vp, vs
    n = c%grid%n
    allocate (c%rho(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1))
    allocate (c%lambda, c%mu, c%qp, c%qs, mold=c%rho)
    do k = 0, n(3) + 1
      do j = 0, n(2) + 1
        do i = 0, n(1) + 1
          r = Random(Within(i, 1), Within(j, 2), Within(k, 3))
          vp = 3300 + 600*r
          vs = 1700 + 500*modulo(7.3_dp*r, 1.0_dp)
          c%rho(i, j, k) = real(2000 + 400*modulo(3.1_dp*r, 1.0_dp), sp)
          if (5*Within(i, 1) > 4*n(1) .and. 3*Within(k, 3) < n(3)) then       ! water
            vp = 1500
            vs = 0
            c%rho(i, j, k) = 1000
          end if
          if (5*Within(j, 2) > 4*n(2) .and. 4*Within(k, 3) < n(3)) then       ! air
            vp = 0
            vs = 0
            c%rho(i, j, k) = 0
          end if
          c%mu(i, j, k) = real(c%rho(i, j, k)*vs**2, sp)
          c%lambda(i, j, k) = real(c%rho(i, j, k)*(vp**2 - 2*vs**2), sp)
          c%qp(i, j, k) = real(0.01_dp + 0.01_dp*r, sp)
          c%qs(i, j, k) = real(0.02_dp + 0.02_dp*modulo(5.7_dp*r, 1.0_dp), sp)
        end do
      end do
    end do
  contains
    !> Rings hold copies of what is beside them, or of the other end of a periodic axis.
    pure integer function Within(i, a)
      integer, intent(in) :: i, a
      Within = min(max(i, 1), n(a))
      if (c%grid%side(2*a) == side_periodic) Within = 1 + modulo(i - 1, n(a))
    end function Within
  end subroutine SetMedium

  !> A number in 0 .. 1 that looks random, the same everywhere.
  pure real(dp) function Random(i, j, k)
    integer, intent(in) :: i, j, k
    Random = modulo(sin(12.9898_dp*i + 78.233_dp*j + 37.719_dp*k)*43758.5453_dp, 1.0_dp)
  end function Random

  !> Three histories that end shortly before the shot does.
  subroutine SetHistories(c)
    type(case3d_t), intent(inout) :: c
    real(dp) :: a
    integer :: n, h
    allocate (c%q(3, max(1, c%nt - 3)))
    do n = 1, size(c%q, 2)
      do h = 1, 3
        a = (acos(-1.0_dp)*(20 + 5*h)*(n*c%grid%dt - 0.015_dp))**2
        c%q(h, n) = real((1 - 2*a)*exp(-a) + 0.2_dp*cos(0.3_dp*n*h), sp)
      end do
    end do
  end subroutine SetHistories

  !> Forty entries around a point at `part` of each axis, of every field, some cells twice, two of them in the corners of the grid.
  subroutine Case3dSource(c, part)
    type(case3d_t), intent(inout) :: c
    real(dp), intent(in) :: part
    integer, parameter :: entries = 40
    integer :: n, at(3)
    c%sf = [(modulo(n, fd3d_fields), n=1, entries)]
    c%sh = [(1 + modulo(n, 3), n=1, entries)]
    allocate (c%si(0), c%sj(0), c%sk(0), c%sw(0))
    do n = 1, entries
      at = nint(part*c%grid%n) + modulo([5, 7, 3]*(n/2), [7, 5, 6]) - 3
      if (n > entries - 10) at = nint(part*c%grid%n) + 1                     ! one cell, again and again
      if (n == 7) at = c%grid%n
      if (n == 16) at = 1
      at = min(max(at, 1), c%grid%n)
      c%si = [c%si, at(1)]
      c%sj = [c%sj, at(2)]
      c%sk = [c%sk, at(3)]
      c%sw = [c%sw, real((0.3_dp + 0.1_dp*modulo(n*n, 11))*merge(5e6_dp, 1.0_dp, c%sf(n) >= field_sxx), sp)]
    end do
  end subroutine Case3dSource

  !> Thirteen receivers of one to twelve cells of a field, which overlap; one in a corner, one of pressure.
  subroutine SetReceivers(c)
    type(case3d_t), intent(inout) :: c
    integer :: r, n, at(3)
    allocate (c%rf(0), c%ri(0), c%rj(0), c%rk(0), c%rw(0))
    c%start = [1]
    do r = 1, 13
      do n = 1, merge(r, 3, r <= 12)
        at = nint(0.5_dp*c%grid%n) + modulo([13, 11, 7]*r + [1, 2, 3]*n, [17, 13, 15]) - 7
        if (r == 11) at = c%grid%n
        if (r == 13) at = nint(0.5_dp*c%grid%n)
        at = min(max(at, 1), c%grid%n)
        c%rf = [c%rf, merge(field_sxx + n - 1, modulo(r, fd3d_fields), r == 13)]
        c%ri = [c%ri, at(1)]
        c%rj = [c%rj, at(2)]
        c%rk = [c%rk, at(3)]
        c%rw = [c%rw, real(0.2_dp + 0.1_dp*modulo(3*n, 7), sp)]
      end do
      c%start = [c%start, size(c%rf) + 1]
    end do
  end subroutine SetReceivers

  ! --- a C variant ------------------------------------------------------------------------------------------------------------

  !> A grid as C gets it.
  pure type(fd3d_cfg) function Case3dCfg(g) result(cfg)
    type(fd3d_grid_t), intent(in) :: g
    cfg%n = g%n
    cfg%first = g%first - 1
    cfg%whole = g%whole
    cfg%side = g%side
    cfg%layer = g%layer
    cfg%half_length = g%half_length
    cfg%narrow = merge(1, 0, g%narrow)
    cfg%anelastic = merge(merge(2, 1, g%together), 0, g%anelastic)
    cfg%threads = g%threads
    cfg%share = 0
    cfg%sparse = merge(2, 0, g%sparse)
    cfg%wet = merge(1, 0, g%wet)
    cfg%wide = merge(1, 0, g%wide)
    cfg%d = real(g%d, c_float)
    cfg%dt = real(g%dt, c_float)
    cfg%w = real(g%w, c_float)
  end function Case3dCfg

  !> A volume with its ring, (0:nx+1, 0:ny+1, 0:nz+1) of the whole grid, for a subdomain.
  pure function Case3dCut(g, volume) result(part)
    type(fd3d_grid_t), intent(in) :: g
    real(sp), intent(in) :: volume(0:, 0:, 0:)
    real(sp), allocatable :: part(:, :, :)
    integer :: a(3), b(3)
    a = g%first - 1
    b = g%first + g%n
    part = volume(a(1):b(1), a(2):b(2), a(3):b(3))
  end function Case3dCut

  !> A handle for subdomain g of the case, with medium, layers and map; null after a failure. Source and receivers are for the caller.
  type(c_ptr) function Bare(variant, c, g, error) result(h)
    character(*), intent(in) :: variant
    type(case3d_t), intent(in) :: c
    type(fd3d_grid_t), intent(in) :: g
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_map_t) :: map
    type(fd3d_profiles_t) :: p
    h = fd3d_new(CString(variant), Case3dCfg(g))
    if (.not. c_associated(h)) then
      call FailFromC(1, error)
      return
    end if
    if (any(c%shape > 0)) call FailFromC(fd3d_tune(h, CString(''), c%shape(1), c%shape(2), c%shape(3)), error)
    if (.not. allocated(error)) &
      call FailFromC(fd3d_model(h, Case3dCut(g, c%rho), Case3dCut(g, c%lambda), Case3dCut(g, c%mu)), error)
    if (.not. allocated(error) .and. g%anelastic) &
      call FailFromC(fd3d_quality(h, c%tau, c%y, c%stiff, Case3dCut(g, c%qp), Case3dCut(g, c%qs)), error)
    if (.not. allocated(error) .and. any(c%width > 0)) then
      call Case3dProfiles(c, g, p)
      call FailFromC(fd3d_pml(h, p%x, p%y, p%z), error)
    end if
    if (.not. allocated(error) .and. any(c%sponge > 0)) then
      call Fd3dSponge(g, c%sponge, p, 0.03_dp)
      call FailFromC(fd3d_sponge(h, p%x, p%y, p%z), error)
    end if
    if (.not. allocated(error) .and. (c%hilly .or. (c%watched >= g%first(3) .and. c%watched < g%first(3) + g%n(3)))) then
      call MakeMap(c, g, map)
      call FailFromC(fd3d_watch(h, map%last, size(map%i), map%i - 1, map%j - 1, map%k - 1, map%stencil - 1, size(map%start)/3, &
                                map%start - 1, map%di, map%dj, map%dk, map%w), error)
    end if
  end function Bare

  !> A point for each column of a subdomain.
  subroutine MakeMap(c, g, map)
    type(case3d_t), intent(in) :: c
    type(fd3d_grid_t), intent(in) :: g
    type(fd3d_map_t), intent(out) :: map
    integer :: k(g%n(1), g%n(2)), i, j
    k = c%watched - g%first(3) + 1
    if (c%hilly) k = reshape([((1 + modulo(5*i + 3*j, g%n(3)), i=1, g%n(1)), j=1, g%n(2))], shape(k))
    call Map3dMake(map, g%n, k, .not. c%narrow)
    map%last = c%last
  end subroutine MakeMap

  !> Profiles of the layers.
  subroutine Case3dProfiles(c, g, p)
    type(case3d_t), intent(in) :: c
    type(fd3d_grid_t), intent(in) :: g
    type(fd3d_profiles_t), intent(out) :: p
    call Fd3dProfiles(g, c%width, 3500.0_dp, 25.0_dp, p)
  end subroutine Case3dProfiles

  !> A handle ready for the first step, its part of sources and receivers with it; null after a failure.
  type(c_ptr) function Case3dHandle(variant, c, error, subdomain) result(h)
    character(*), intent(in) :: variant
    type(case3d_t), intent(in) :: c
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_grid_t), intent(in), optional :: subdomain
    if (present(subdomain)) then
      h = Bare(variant, c, subdomain, error)
      if (.not. allocated(error)) call Case3dPoints(h, c, subdomain, error)
    else
      h = Bare(variant, c, c%grid, error)
      if (.not. allocated(error)) call Case3dPoints(h, c, c%grid, error)
    end if
  end function Case3dHandle

  !> The parts of source and receivers in a subdomain: receivers keep their number, and sum the nodes that are here.
  subroutine Case3dPoints(h, c, g, error)
    type(c_ptr), intent(in) :: h
    type(case3d_t), intent(in) :: c
    type(fd3d_grid_t), intent(in) :: g
    type(error_t), allocatable, intent(inout) :: error
    logical :: here(size(c%sf)), heard(size(c%rf))
    integer :: start(size(c%start)), r
    here = Inside(c%si, 1) .and. Inside(c%sj, 2) .and. Inside(c%sk, 3)
    heard = Inside(c%ri, 1) .and. Inside(c%rj, 2) .and. Inside(c%rk, 3)
    start = [(count(heard(:c%start(r) - 1)), r=1, size(start))]
    call FailFromC(fd3d_source(h, size(c%q, 1), count(here), pack(c%sf, here), pack(c%si - g%first(1), here), &
                               pack(c%sj - g%first(2), here), pack(c%sk - g%first(3), here), pack(c%sh - 1, here), &
                               pack(c%sw, here)), error)
    if (allocated(error)) return
    call FailFromC(fd3d_receivers(h, size(start) - 1, start, pack(c%rf, heard), pack(c%ri - g%first(1), heard), &
                                  pack(c%rj - g%first(2), heard), pack(c%rk - g%first(3), heard), pack(c%rw, heard)), error)
  contains
    pure elemental logical function Inside(i, a)
      integer, intent(in) :: i, a
      Inside = i >= g%first(a) .and. i < g%first(a) + g%n(a)
    end function Inside
  end subroutine Case3dPoints

  !> Histories for step it, where a new block of them begins; silent after the last.
  subroutine Case3dHistories(h, c, it, error)
    type(c_ptr), intent(in) :: h
    type(case3d_t), intent(in) :: c
    integer, intent(in) :: it
    type(error_t), allocatable, intent(inout) :: error
    integer :: block, n
    block = merge(c%block, size(c%q, 2), c%block > 0)
    if (allocated(error) .or. it > size(c%q, 2) .or. modulo(it - 1, block) /= 0) return
    n = min(block, size(c%q, 2) - it + 1)
    call FailFromC(fd3d_histories(h, it, n, c%q(:, it:it + n - 1)), error)
    if (.not. allocated(error) .and. it + n > size(c%q, 2)) call FailFromC(fd3d_histories(h, it + n, 0, c%q), error)
  end subroutine Case3dHistories

  !> Steps first .. last in chunks of so many; blocks of histories end where chunks do.
  subroutine Case3dSteps(h, c, chunk, error, first, last)
    type(c_ptr), intent(in) :: h
    type(case3d_t), intent(in) :: c
    integer, intent(in) :: chunk
    type(error_t), allocatable, intent(inout) :: error
    integer, intent(in), optional :: first, last
    integer :: it, n, until, block
    it = 1
    until = c%nt
    if (present(first)) it = first
    if (present(last)) until = last
    block = merge(c%block, size(c%q, 2), c%block > 0)
    if (it > 1 .and. it <= size(c%q, 2) .and. modulo(it - 1, block) /= 0 .and. .not. allocated(error)) &
      call FailFromC(fd3d_histories(h, it, size(c%q, 2) - it + 1, c%q(:, it:)), error)
    if (it > 1 .and. .not. allocated(error)) call FailFromC(fd3d_histories(h, max(it, size(c%q, 2) + 1), 0, c%q), error)
    do while (it <= until)
      call Case3dHistories(h, c, it, error)
      n = min(chunk, until - it + 1)
      if (c%block > 0 .and. it <= size(c%q, 2)) n = min(n, min(size(c%q, 2), ((it - 1)/block + 1)*block) - it + 1)
      if (.not. allocated(error)) call FailFromC(handle_timestep(h, it, n), error)
      if (allocated(error)) return
      it = it + n
    end do
  end subroutine Case3dSteps

  subroutine Case3dResult(h, c, r, error)
    type(c_ptr), intent(in) :: h
    type(case3d_t), intent(in) :: c
    type(result3d_t), intent(out) :: r
    type(error_t), allocatable, intent(inout) :: error
    character(kind=c_char, len=256) :: device
    integer :: f
    call Room(c, r)
    device = c_null_char
    if (.not. allocated(error)) call FailFromC(handle_traces(h, 1, c%nt, r%traces), error)
    do f = 0, merge(2, fd3d_fields - 1, c%grid%sparse)
      if (.not. allocated(error)) call FailFromC(fd3d_field(h, f, r%fields(:, :, :, f)), error)
    end do
    if (.not. allocated(error)) call FailFromC(fd3d_map(h, r%map), error)
    if (.not. allocated(error)) call FailFromC(handle_device(h, len(device), device), error)
    r%device = FString(device)
  end subroutine Case3dResult

  subroutine Room(c, r)
    type(case3d_t), intent(in) :: c
    type(result3d_t), intent(inout) :: r
    associate (n => c%grid%n)
      allocate (r%traces(c%nt, size(c%start) - 1), r%fields(n(1), n(2), n(3), 0:fd3d_fields - 1), r%map(n(1), n(2), 3), &
                source=0.0_sp)
    end associate
  end subroutine Room

  !> A whole shot in a fresh handle.
  subroutine Case3dNative(variant, c, chunk, r, error)
    character(*), intent(in) :: variant
    type(case3d_t), intent(in) :: c
    integer, intent(in) :: chunk
    type(result3d_t), intent(out) :: r
    type(error_t), allocatable, intent(inout) :: error
    type(c_ptr) :: h
    h = Case3dHandle(variant, c, error)
    call Case3dSteps(h, c, chunk, error)
    call Case3dResult(h, c, r, error)
    call handle_free(h)
  end subroutine Case3dNative

  ! --- the readable Fortran ---------------------------------------------------------------------------------------------------

  subroutine Case3dFortran(c, r, error)
    type(case3d_t), intent(in) :: c
    type(result3d_t), intent(out) :: r
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_fortran_t) :: engine
    type(fd3d_profiles_t) :: p
    type(fd3d_map_t) :: map
    real(sp), allocatable :: peaks(:, :)
    integer :: f
    call Room(c, r)
    call engine%new(c%grid, error)
    if (.not. allocated(error)) call engine%model(c%rho, c%lambda, c%mu, error)
    if (.not. allocated(error) .and. c%grid%anelastic) call engine%quality(c%tau, c%y, c%stiff, c%qp, c%qs, error)
    if (.not. allocated(error) .and. any(c%width > 0)) then
      call Case3dProfiles(c, c%grid, p)
      call engine%pml(p%x, p%y, p%z, error)
    end if
    if (.not. allocated(error) .and. any(c%sponge > 0)) then
      call Fd3dSponge(c%grid, c%sponge, p, 0.03_dp)
      call engine%sponge(p%x(:, 1), p%y(:, 1), p%z(:, 1), error)
    end if
    if (.not. allocated(error)) call engine%source(size(c%q, 1), c%sf, c%si, c%sj, c%sk, c%sh, c%sw, error)
    if (.not. allocated(error)) call engine%histories(1, c%q, error)
    if (.not. allocated(error)) call engine%histories(size(c%q, 2) + 1, c%q(:, 1:0), error)
    if (.not. allocated(error)) call engine%receivers(c%start, c%rf, c%ri, c%rj, c%rk, c%rw, error)
    call MakeMap(c, c%grid, map)
    if (.not. allocated(error)) call engine%watch(map, error)
    if (.not. allocated(error)) call engine%timestep(1, c%nt, error)
    if (.not. allocated(error)) call engine%traces(1, r%traces, error)
    do f = 0, fd3d_fields - 1
      if (.not. allocated(error)) call engine%field(f, r%fields(:, :, :, f), error)
    end do
    allocate (peaks(size(map%i), 3))
    if (.not. allocated(error)) call engine%map(peaks, error)
    if (.not. allocated(error)) r%map = reshape(peaks, shape(r%map))
    r%device = engine%device()
    call engine%free()
  end subroutine Case3dFortran

  ! --- comparing --------------------------------------------------------------------------------------------------------------

  !> Largest relative RMS difference of a trace, a field (of a sparse grid: velocities only) or the map, and which it is. One
  !> weaker than a hundredth of the strongest of its unit counts as that hundredth; the map, which is a plane, is measured by a
  !> plane's share of the fields.
  subroutine Case3dDiffers(c, a, b, difference, worst)
    type(case3d_t), intent(in) :: c
    type(result3d_t), intent(in) :: a, b
    real(dp), intent(out) :: difference
    character(:), allocatable, intent(out) :: worst
    real(dp) :: trace(0:1), field(0:1)
    integer :: r, f
    trace = 0
    field = 0
    do r = 1, size(c%start) - 1
      f = Unit(c%rf(c%start(r)))
      trace(f) = max(trace(f), norm2(real(b%traces(:, r), dp)))
    end do
    do f = 0, merge(2, fd3d_fields - 1, c%grid%sparse)
      field(Unit(f)) = max(field(Unit(f)), norm2(real(b%fields(:, :, :, f), dp)))
    end do
    difference = -1
    worst = 'nothing'
    do r = 1, size(c%start) - 1
      call Take(Differs(a%traces(:, r), b%traces(:, r), 0.01_dp*trace(Unit(c%rf(c%start(r))))), 'receiver '//Str(r))
    end do
    do f = 0, merge(2, fd3d_fields - 1, c%grid%sparse)
      call Take(Differs(pack(a%fields(:, :, :, f), .true.), pack(b%fields(:, :, :, f), .true.), 0.01_dp*field(Unit(f))), &
                'field '//Str(f))
    end do
    do r = 1, 3
      call Take(Differs(pack(a%map(:, :, r), .true.), pack(b%map(:, :, r), .true.), &
                        max(0.01_dp*norm2(real(b%map, dp)), 0.01_dp*field(0)/sqrt(real(size(b%fields, 3), dp)))), 'map '//Str(r))
    end do
  contains
    pure integer function Unit(f)
      integer, intent(in) :: f
      Unit = merge(1, 0, f >= field_sxx)
    end function Unit

    subroutine Take(d, what)
      real(dp), intent(in) :: d
      character(*), intent(in) :: what
      if (d <= difference) return
      difference = d
      worst = what
    end subroutine Take
  end subroutine Case3dDiffers

  !> Count of numbers that differ in any bit between two results.
  pure integer function Case3dDifferent(a, b)
    type(result3d_t), intent(in) :: a, b
    Case3dDifferent = count(a%traces /= b%traces .or. a%traces /= a%traces) &
                      + count(a%fields /= b%fields .or. a%fields /= a%fields) + count(a%map /= b%map .or. a%map /= a%map)
  end function Case3dDifferent

end module fd3dcase_m
