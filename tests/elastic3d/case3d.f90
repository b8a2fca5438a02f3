!> Small 3D cases for the tests of the time loop: random medium with water and air in it, layers, sponge, all sorts of sides,
!> sources of several entries, receivers of several cells that overlap, random fields to start from. Nothing is a multiple of
!> anything.
module case3d_m
  use, intrinsic :: iso_c_binding, only: c_int, c_null_char, c_ptr
  use check_m, only: Claim
  use error_m, only: error_t, FailFromC
  use fd3d_c, only: fd3d_cfg, fd3d_histories, fd3d_map, fd3d_field, fd3d_model, fd3d_new, fd3d_pml, fd3d_quality, &
                    fd3d_receivers, fd3d_set_field, fd3d_source, fd3d_sponge, fd3d_tune, fd3d_watch
  use fd3d_engine_m, only: fd3d_grid_t, fd3d_map_t
  use fd3d_fortran_m, only: fd3d_fortran_t
  use handle_c, only: handle_free, handle_timestep, handle_traces
  use kinds_m, only: dp, i8, sp
  use map3d_m, only: Map3dMake
  implicit none
  private
  public :: case3d_t, Case3dMake, Case3dNew, Case3dFine, Case3dFields, Case3dTraces, Case3dResults, Case3dWorst

  integer, parameter, public :: case3d_shapes = 14

  type :: case3d_t
    type(fd3d_cfg) :: cfg
    integer :: steps = 0, nh = 3, nrec = 14, watched = 1                      ! watched: row of the map, from 1
    logical :: sponge = .false., hilly = .false.                              ! hilly: the map has a row for each column
    real(sp), allocatable, dimension(:, :, :) :: rho, lambda, mu, qp, qs      ! with ring
    real(sp), allocatable :: begin(:, :, :, :)                                ! (nx, ny, nz, 0:8)
    real(sp) :: tau(8) = 1, y(8, 3) = 0, stiff(8) = 0
    real(sp), allocatable :: px(:, :), py(:, :), pz(:, :), gx(:), gy(:), gz(:), q(:, :)
    integer, allocatable :: sfield(:), si(:), sj(:), sk(:), sh(:), start(:), field(:), i(:), j(:), k(:)   ! from 0
    real(sp), allocatable :: sw(:), w(:)
  end type case3d_t

  integer :: seed = 1

contains

  !> Uniform in 0..1, the same everywhere.
  real(dp) function Chance()
    seed = int(modulo(seed*16807_i8, 2147483647_i8))
    Chance = seed/2147483647.0_dp
  end function Chance

  integer function Pick(n)
    integer, intent(in) :: n
    Pick = int(Chance()*n)
  end function Pick

  !> Case `shape` = 1..case3d_shapes with half-length L.
  subroutine Case3dMake(c, shape, L, anelastic, steps, together)
    type(case3d_t), intent(out) :: c
    integer, intent(in) :: shape, L, steps
    logical, intent(in) :: anelastic
    logical, intent(in), optional :: together              ! cells have all mechanisms
    integer :: n(3), side(6), layer(6), m
    seed = 4711 + 100*shape + L
    side = 1
    layer = 0
    select case (shape)
    case (1)
      n = [37, 22, 19]
    case (2, 11)                       ! layers everywhere; from 11 on differences along them are narrow
      n = [61, 31, 27]
      layer = [7, 9, 6, 5, 8, 4]
    case (3, 12)                       ! free surface, layers on the others
      n = [45, 20, 23]
      side(5) = 2
      layer = [5, 18, 0, 6, 0, 7]
    case (4)
      n = [40, 21, 18]
      side(5) = 2
    case (5)                           ! periodic along x
      n = [33, 17, 15]
      side(1:2) = 3
      side(5) = 2
      layer = [0, 0, 4, 3, 0, 5]
    case (6)                           ! periodic along all axes
      n = [19, 14, 12]
      side = 3
    case (7)                           ! one-way bottom, periodic along y
      n = [26, 15, 17]
      side(3:4) = 3
      side(5:6) = [2, 4]
      layer(1:2) = [3, 4]
    case (8, 13)                       ! layers that meet, whole vectors
      n = [32, 12, 9]
      layer = [16, 16, 6, 6, 4, 5]
    case (9)
      n = [6, 5, 7]                      ! as few rows as a free surface needs
      side(5) = 2
      layer = [1, 2, 2, 0, 0, 1]
    case default                       ! several tiles
      n = [52, 43, 25]
      side(5) = 2
      layer = [10, 10, 10, 10, 0, 6]
    end select
    c%steps = steps
    c%sponge = modulo(shape, 3) == 1
    call Configure(c, n, side, layer, L, anelastic)
    c%cfg%narrow = merge(1, 0, shape > 10)
    c%cfg%wet = merge(1, 0, shape == 4)    ! though there is rock, and stable all the same
    if (present(together)) c%cfg%anelastic = merge(2, c%cfg%anelastic, together)
    call Medium(c)
    call Points(c)
    allocate (c%q(c%nh, steps - 2))
    do m = 1, size(c%q)
      c%q(1 + modulo(m, c%nh), 1 + (m - 1)/c%nh) = real(sin(0.7_dp*m), sp)
    end do
    c%watched = merge(1, 1 + n(3)/2, shape < 3 .or. shape == 4)
    c%hilly = modulo(shape, 2) == 0
  end subroutine Case3dMake

  subroutine Configure(c, n, side, layer, L, anelastic)
    type(case3d_t), intent(inout) :: c
    integer, intent(in) :: n(3), side(6), layer(6), L
    logical, intent(in) :: anelastic
    integer :: m, p
    real(dp) :: w
    c%cfg%n = n
    c%cfg%first = [3, 4, 0]
    c%cfg%whole = n + [5, 4, 7]
    c%cfg%side = side
    c%cfg%layer = layer
    c%cfg%half_length = L
    c%cfg%anelastic = merge(1, 0, anelastic)
    c%cfg%threads = 2
    c%cfg%share = 0
    c%cfg%sparse = 0
    c%cfg%wet = 0
    c%cfg%wide = 0
    c%cfg%d = [10.0_sp, 11.0_sp, 9.0_sp]
    c%cfg%dt = 0.0005_sp
    c%cfg%w = 0
    do m = 1, L                        ! Taylor
      w = (-1)**(m + 1)/(2*m - 1.0_dp)
      do p = 1, L
        if (p /= m) w = w*(2*p - 1)**2/abs(real((2*p - 1)**2 - (2*m - 1)**2, dp))
      end do
      c%cfg%w(m) = real(w, sp)
    end do
    call Profile(c%px, n(1), layer(1), layer(2))
    call Profile(c%py, n(2), layer(3), layer(4))
    call Profile(c%pz, n(3), layer(5), layer(6))
    c%gx = [(1 - 0.02_sp*max(0, 5 - m)/5, m=1, n(1))]
    c%gy = [(1 - 0.03_sp*max(0, m - n(2) + 4)/5, m=1, n(2))]
    c%gz = [(1 - 0.02_sp*max(0, m - n(3) + 6)/5, m=1, n(3))]
  end subroutine Configure

  !> A strong layer: a and b as of a C-PML, stretching by up to 1.5.
  subroutine Profile(p, n, low, high)
    real(sp), allocatable, intent(out) :: p(:, :)
    integer, intent(in) :: n, low, high
    integer :: i, half
    real(dp) :: x, depth, decay
    allocate (p(n, 6))
    do half = 0, 1
      do i = 1, n
        x = i - 0.5_dp*half
        depth = 0
        if (i <= low) depth = (low + 1 - x)/(low + 1)
        if (i > n - high) depth = (x - (n - high))/(high + 1)
        depth = max(depth, 0.0_dp)
        decay = 0.3_dp*depth**2
        p(i, 3*half + 1:3*half + 3) = [0.0_sp, 0.4_sp, 1.0_sp]
        if (depth > 0) p(i, 3*half + 1) = real(decay/(decay + 0.01_dp)*(exp(-decay - 0.01_dp) - 1), sp)
        if (depth > 0) p(i, 3*half + 2) = real(exp(-decay - 0.01_dp), sp)
        if (depth > 0) p(i, 3*half + 3) = real(1/(1 + 0.5_dp*depth), sp)
      end do
    end do
  end subroutine Profile

  !> Rock with pockets of water and air; the ring a copy of what is beside it, or of the other end.
  subroutine Medium(c)
    type(case3d_t), intent(inout) :: c
    integer :: i, j, k, f, n(3), from(3)
    real(dp) :: rho, vp, vs
    real(sp), allocatable :: cells(:, :, :, :)
    n = c%cfg%n
    allocate (cells(n(1), n(2), n(3), 5), c%begin(n(1), n(2), n(3), 0:8))
    do k = 1, n(3)
      do j = 1, n(2)
        do i = 1, n(1)
          rho = 1800 + 700*Chance()
          vp = 2200 + 800*Chance()
          vs = vp*(0.4_dp + 0.2_dp*Chance())
          if (modulo(i/5 + j/4 + k/3, 7) == 0) vs = 0
          if (modulo(i/4 + 2*(j/3) + k/4, 11) == 0) rho = 0
          cells(i, j, k, 1) = real(rho, sp)
          cells(i, j, k, 2) = real(rho*(vp**2 - 2*vs**2), sp)
          cells(i, j, k, 3) = real(rho*vs**2, sp)
          cells(i, j, k, 4) = real(0.05_dp*Chance(), sp)
          cells(i, j, k, 5) = real(0.10_dp*Chance(), sp)
          c%begin(i, j, k, :2) = [(real(1e-6_dp*(Chance() - 0.5_dp), sp), f=0, 2)]
          c%begin(i, j, k, 3:) = [(real(4*(Chance() - 0.5_dp), sp), f=3, 8)]
        end do
      end do
    end do
    if (c%cfg%side(5) == 2) c%begin(:, :, 1, 7:8) = 0
    allocate (c%rho(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1))
    allocate (c%lambda, c%mu, c%qp, c%qs, mold=c%rho)
    do k = 0, n(3) + 1
      do j = 0, n(2) + 1
        do i = 0, n(1) + 1
          from = min(max([i, j, k], 1), n)
          where (c%cfg%side([1, 3, 5]) == 3) from = 1 + modulo([i, j, k] - 1, n)
          associate (at => cells(from(1), from(2), from(3), :))
            c%rho(i, j, k) = at(1)
            c%lambda(i, j, k) = at(2)
            c%mu(i, j, k) = at(3)
            c%qp(i, j, k) = at(4)
            c%qs(i, j, k) = at(5)
          end associate
        end do
      end do
    end do
    c%tau = [0.002_sp, 0.01_sp, 0.05_sp, 0.004_sp, 0.1_sp, 0.02_sp, 0.003_sp, 0.3_sp]
    c%y = reshape([(real(0.4_dp + Chance(), sp), i=1, 24)], [8, 3])
    c%stiff = [(0.12_sp*i, i=1, 8)]
  end subroutine Medium

  subroutine Points(c)
    type(case3d_t), intent(inout) :: c
    integer, parameter :: entries = 30, cells = 6
    integer :: m, n(3)
    n = c%cfg%n
    c%sfield = [(modulo(m, 9), m=1, entries)]
    c%si = [(Pick(n(1)), m=1, entries)]
    c%sj = [(Pick(n(2)), m=1, entries)]
    c%sk = [(merge(0, Pick(n(3)), modulo(m, 5) == 0), m=1, entries)]
    c%sh = [(Pick(c%nh), m=1, entries)]
    c%sw = [(real(merge(2e-7_dp, 1.0_dp, c%sfield(m) < 3)*Chance(), sp), m=1, entries)]
    c%si(9:10) = c%si(18)                ! a cell three times
    c%sj(9:10) = c%sj(18)
    c%sk(9:10) = c%sk(18)
    c%sfield(9:10) = c%sfield(18)
    c%start = [(cells*m, m=0, c%nrec)]
    c%field = [(modulo((m - 1)/cells, 9), m=1, c%nrec*cells)]
    c%i = [(Pick(n(1)), m=1, c%nrec*cells)]
    c%j = [(Pick(n(2)), m=1, c%nrec*cells)]
    c%k = [(merge(Pick(n(3)), n(3)/3, modulo(m, 2) == 0), m=1, c%nrec*cells)]
    c%w = [(real(0.5_dp + Chance(), sp), m=1, c%nrec*cells)]
  end subroutine Points

  subroutine Case3dFine(rc, what)
    integer(c_int), intent(in) :: rc
    character(*), intent(in) :: what
    type(error_t), allocatable :: error
    if (rc == 0) return
    call FailFromC(rc, error)
    call Claim(.false., what//': '//error%message)
  end subroutine Case3dFine

  !> A handle with everything set.
  type(c_ptr) function Case3dNew(c) result(h)
    type(case3d_t), intent(in) :: c
    type(fd3d_map_t) :: map
    integer :: f
    h = fd3d_new('cpu'//c_null_char, c%cfg)
    call Case3dFine(fd3d_model(h, c%rho, c%lambda, c%mu), 'model')
    if (c%cfg%anelastic > 0) call Case3dFine(fd3d_quality(h, c%tau, c%y, c%stiff, c%qp, c%qs), 'quality')
    if (any(c%cfg%layer > 0)) call Case3dFine(fd3d_pml(h, c%px, c%py, c%pz), 'pml')
    if (c%sponge) call Case3dFine(fd3d_sponge(h, c%gx, c%gy, c%gz), 'sponge')
    call Case3dFine(fd3d_source(h, c%nh, size(c%si), c%sfield, c%si, c%sj, c%sk, c%sh, c%sw), 'source')
    call Case3dFine(fd3d_histories(h, 1, size(c%q, 2), c%q), 'histories')
    call Case3dFine(fd3d_histories(h, size(c%q, 2) + 1, 0, c%q), 'silence')
    call Case3dFine(fd3d_receivers(h, c%nrec, c%start, c%field, c%i, c%j, c%k, c%w), 'receivers')
    call Case3dMap(c, map)
    call Case3dFine(fd3d_watch(h, map%last, size(map%i), map%i - 1, map%j - 1, map%k - 1, map%stencil - 1, size(map%start)/3, map%start - 1, &
                               map%di, map%dj, map%dk, map%w), 'watch')
    do f = 0, 8
      call Case3dFine(fd3d_set_field(h, f, c%begin(:, :, :, f)), 'set_field')
    end do
  end function Case3dNew

  subroutine Case3dMap(c, map)
    type(case3d_t), intent(in) :: c
    type(fd3d_map_t), intent(out) :: map
    integer :: k(c%cfg%n(1), c%cfg%n(2)), i, j
    k = c%watched
    if (c%hilly) k = reshape([((1 + modulo(5*i + 3*j, c%cfg%n(3)), i=1, c%cfg%n(1)), j=1, c%cfg%n(2))], shape(k))
    call Map3dMake(map, c%cfg%n, k, .true.)
    map%last = c%steps - 2
  end subroutine Case3dMap

  !> All fields and the map (nx, ny, nz, 0:9); the map stands in the first three planes of the last.
  subroutine Case3dFields(c, h, fields)
    type(case3d_t), intent(in) :: c
    type(c_ptr), intent(in) :: h
    real(sp), allocatable, intent(out) :: fields(:, :, :, :)
    integer :: f
    allocate (fields(c%cfg%n(1), c%cfg%n(2), c%cfg%n(3), 0:9), source=0.0_sp)
    do f = 0, 8
      call Case3dFine(fd3d_field(h, f, fields(:, :, :, f)), 'field')
    end do
    call Case3dFine(fd3d_map(h, fields(:, :, :, 9)), 'map')
  end subroutine Case3dFields

  subroutine Case3dTraces(c, h, traces)
    type(case3d_t), intent(in) :: c
    type(c_ptr), intent(in) :: h
    real(sp), allocatable, intent(out) :: traces(:, :)
    allocate (traces(c%steps, c%nrec), source=0.0_sp)
    call Case3dFine(handle_traces(h, 1, c%steps, traces), 'traces')
  end subroutine Case3dTraces

  !> Fields, map and traces of a handle, one after the other.
  subroutine Case3dResults(c, h, all)
    type(case3d_t), intent(in) :: c
    type(c_ptr), intent(in) :: h
    real(sp), allocatable, intent(out) :: all(:)
    real(sp), allocatable :: fields(:, :, :, :), traces(:, :)
    call Case3dFields(c, h, fields)
    call Case3dTraces(c, h, traces)
    all = [pack(fields, .true.), pack(traces, .true.)] + 0.0_sp
  end subroutine Case3dResults

  !> Fields and traces by the readable Fortran.
  subroutine Case3dReference(c, fields, traces, error)
    type(case3d_t), intent(in) :: c
    real(sp), allocatable, intent(out) :: fields(:, :, :, :), traces(:, :)
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_fortran_t) :: fd
    type(fd3d_grid_t) :: grid
    type(fd3d_map_t) :: map
    real(sp), allocatable :: peaks(:, :)
    integer :: f
    grid%n = c%cfg%n
    grid%first = c%cfg%first + 1
    grid%whole = c%cfg%whole
    grid%side = c%cfg%side
    grid%layer = c%cfg%layer
    grid%half_length = c%cfg%half_length
    grid%narrow = c%cfg%narrow == 1
    grid%wet = c%cfg%wet == 1
    grid%anelastic = c%cfg%anelastic > 0
    grid%together = c%cfg%anelastic == 2
    grid%threads = c%cfg%threads
    grid%d = c%cfg%d
    grid%dt = c%cfg%dt
    grid%w = c%cfg%w
    call fd%new(grid, error)
    call fd%model(c%rho, c%lambda, c%mu, error)
    if (grid%anelastic) call fd%quality(c%tau, c%y, c%stiff, c%qp, c%qs, error)
    if (any(grid%layer > 0)) call fd%pml(c%px, c%py, c%pz, error)
    if (c%sponge) call fd%sponge(c%gx, c%gy, c%gz, error)
    call fd%source(c%nh, c%sfield, c%si + 1, c%sj + 1, c%sk + 1, c%sh + 1, c%sw, error)
    call fd%histories(1, c%q, error)
    call fd%histories(size(c%q, 2) + 1, c%q(:, :0), error)
    call fd%receivers(c%start + 1, c%field, c%i + 1, c%j + 1, c%k + 1, c%w, error)
    call Case3dMap(c, map)
    call fd%watch(map, error)
    do f = 0, 8
      call fd%set_field(f, c%begin(:, :, :, f), error)
    end do
    call fd%timestep(1, c%steps, error)
    allocate (fields(grid%n(1), grid%n(2), grid%n(3), 0:9), traces(c%steps, c%nrec), source=0.0_sp)
    do f = 0, 8
      call fd%field(f, fields(:, :, :, f), error)
    end do
    allocate (peaks(grid%n(1)*grid%n(2), 3))
    call fd%map(peaks, error)
    fields(:, :, :3, 9) = reshape(peaks, [grid%n(1), grid%n(2), 3])
    call fd%traces(1, traces, error)
    call fd%free()
  end subroutine Case3dReference

  !> The cpu variant with every instruction set of this processor, `names`, against the readable Fortran: the largest relative rms
  !> difference of a field or the map, worst(1), and of a trace, worst(2).
  subroutine Case3dWorst(c, names, worst, error)
    type(case3d_t), intent(in) :: c
    character(:), allocatable, intent(out) :: names
    real(sp), intent(out) :: worst(2)
    type(error_t), allocatable, intent(inout) :: error
    character(*), parameter :: isa(3) = [character(8) :: 'generic', 'avx2', 'avx512']
    type(c_ptr) :: h
    real(sp), allocatable :: fields(:, :, :, :), traces(:, :), f(:, :, :, :), t(:, :)
    integer :: n, m
    call Case3dReference(c, fields, traces, error)
    worst = 0
    names = ''
    if (allocated(error)) return
    do n = 1, size(isa)
      h = Case3dNew(c)
      if (fd3d_tune(h, trim(isa(n))//c_null_char, 0, 0, 0) == 0) then
        names = names//' '//trim(isa(n))
        call Case3dFine(handle_timestep(h, 1, c%steps), 'timestep')
        call Case3dFields(c, h, f)
        call Case3dTraces(c, h, t)
        do m = 0, 9
          worst(1) = max(worst(1), Apart(pack(f(:, :, :, m), .true.), pack(fields(:, :, :, m), .true.)))
        end do
        do m = 1, c%nrec
          worst(2) = max(worst(2), Apart(t(:, m), traces(:, m)))
        end do
      end if
      call handle_free(h)
    end do
  end subroutine Case3dWorst

  !> Relative rms difference; not a number counts as a thousand.
  pure real(sp) function Apart(a, b)
    real(sp), intent(in) :: a(:), b(:)
    Apart = norm2(a - b)/max(norm2(b), tiny(1.0_sp))
    if (.not. Apart <= 1000) Apart = 1000
  end function Apart

end module case3d_m
