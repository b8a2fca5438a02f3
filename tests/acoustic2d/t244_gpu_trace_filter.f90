!> Traces filtered on the GPU are those that the host filters: of noise as long as a survey's record, with more receivers than are
!> filtered at a time; and of shots, near field included.
program t244_gpu_trace_filter
  use check_m, only: Claim, ClaimFails, ClaimFine, Done, Seed
  use error_m, only: error_t
  use fd2d_engine_m, only: fd2d_engine_t, fd2d_grid_t, field_sigma
  use fd2d_m, only: fd2d_t
  use fd2d_variants_m, only: fd2d_variants, Fd2dEngineNew
  use gather_m, only: gather_t
  use gpu_m, only: GpuThere, GpuVariants
  use host_c, only: host_seconds
  use kinds_m, only: dp, i8, sp
  use scene_m, only: scene_t, SceneLacks, SceneMedium, SceneNew, SceneScheme
  use text_m, only: Str
  use time_dispersion_m, only: TraceFilterApply, TraceFilterNew, tracefilter_t
  use trace_bands_m, only: band_t, TraceBands
  implicit none
  real(dp), parameter :: bound = 1.0e-6_dp
  type(error_t), allocatable :: error
  character(24), allocatable :: variants(:)
  integer :: v

  call Seed(20260101)
  call Refused('cpu')
  if (GpuThere()) then
    variants = GpuVariants(fd2d_variants)
    do v = 1, size(variants)
      call Refused(trim(variants(v)))
      call OfNoise(trim(variants(v)), 12053, 0.0005_dp, 1501, 0.004_dp, merge(1003, 40, v == size(variants)))
      call OfNoise(trim(variants(v)), 1203, 0.002_dp, 3001, 0.0007_dp, 33)
      call OfShot(trim(variants(v)))
    end do
    call NearField()
  end if
  call Done()

contains

  !> A handle with `nrec` receivers in a small grid.
  subroutine New(variant, nrec, engine)
    character(*), intent(in) :: variant
    integer, intent(in) :: nrec
    class(fd2d_engine_t), allocatable, intent(out) :: engine
    type(fd2d_grid_t) :: grid
    real(sp) :: ones(50, 40)
    integer :: r
    grid%nx = 50
    grid%nz = 40
    grid%share = 2
    grid%threads = 1
    grid%half_length = 1
    grid%dx = 10
    grid%dz = 10
    grid%dt = 0.001_dp
    grid%w(1) = 1
    ones = 1
    call Fd2dEngineNew(variant, engine, error)
    if (.not. allocated(error)) call engine%new(grid, error)
    if (.not. allocated(error)) call engine%model(1000*ones, ones, error)
    if (.not. allocated(error)) call engine%receivers([(r, r=1, nrec + 1)], [(field_sigma, r=1, nrec)], [(5, r=1, nrec)], &
                                                      [(5, r=1, nrec)], [(1.0_sp, r=1, nrec)], error)
    if (allocated(error)) call ClaimFine(error, variant//': a handle')
  end subroutine New

  !> Noise in place of samples, put there as a state.
  subroutine OfNoise(variant, nt, dt, nt_out, dt_out, nrec)
    character(*), intent(in) :: variant
    integer, intent(in) :: nt, nt_out, nrec
    real(dp), intent(in) :: dt, dt_out
    class(fd2d_engine_t), allocatable :: engine
    type(tracefilter_t) :: f(0:1)
    type(band_t) :: band(2)
    real(sp), allocatable :: state(:), raw(:, :), out(:, :), reference(:, :)
    real(dp) :: there, here, worst
    integer(i8) :: n
    integer :: which, i
    call New(variant, nrec, engine)
    if (allocated(error)) return
    n = engine%state_size(nt)
    allocate (state(n), source=0.0_sp)
    allocate (raw(nt, nrec), out(nt_out, nrec), reference(nt_out, nrec))
    call random_number(raw)
    raw = raw - 0.5_sp
    do i = 2, nt                                  ! most of it below the band that passes, as in traces
      raw(i, :) = 0.97_sp*raw(i - 1, :) + raw(i, :)
    end do
    state(n - int(nt, i8)*nrec + 1:) = reshape(transpose(raw), [nt*nrec])
    call engine%load(nt, state, error)
    there = 0
    worst = 0
    do which = 0, 1
      if (allocated(error)) exit
      call TraceFilterNew(f(which), nt, dt, -0.0123_dp, -0.5_dp*which, nt_out, dt_out, 90.0_dp, .true., error)
      call TraceBands(f(which), band)
      call engine%filter(which, band, error)
      if (.not. allocated(error)) call engine%filtered(which, 1, out, error)
      here = host_seconds()
      if (.not. allocated(error)) call engine%filtered(which, 1, out, error)
      there = host_seconds() - here
      call TraceFilterApply(f(which), raw, reference)
      here = host_seconds() - here - there
      worst = max(worst, real(maxval(abs(out - reference)), dp)/maxval(abs(reference)))
      if (.not. allocated(error)) call engine%filtered(which, 8, out(:, 3:5), error)
      worst = max(worst, real(maxval(abs(out(:, 3:5) - reference(:, 8:10))), dp)/maxval(abs(reference)))
    end do
    call ClaimFine(error, variant//': '//Str(nrec)//' traces of '//Str(nt)//' samples to '//Str(nt_out))
    call Claim(worst <= bound, '  they differ from those of the host by '//Str(worst, 2)//' of the largest, <= '//Str(bound)// &
               '; '//Str(1000*there, 3)//' ms here, '//Str(1000*here, 3)//' ms there')
    call engine%free()
  end subroutine OfNoise

  !> A shot with all components, its raw samples filtered by the host.
  subroutine OfShot(variant)
    character(*), intent(in) :: variant
    type(scene_t) :: scene
    type(fd2d_t) :: solver
    type(gather_t) :: gather
    type(tracefilter_t) :: f
    real(sp), allocatable :: raw(:, :), reference(:, :)
    real(dp) :: worst
    integer :: c, n
    call MakeScene(scene, variant, 0.0_dp)
    call solver%setup(scene%scheme, scene%window, scene%shot, error)
    if (.not. allocated(error)) call solver%modfd(error)
    if (.not. allocated(error)) call solver%gather(gather, error)
    n = size(scene%shot%rx)
    allocate (raw(scene%scheme%nt, 3*n + solver%beside), reference(scene%scheme%nt_out, n))
    if (.not. allocated(error)) call solver%samples(raw, error)
    call ClaimFine(error, variant//': a shot of '//Str(scene%scheme%nt)//' steps, '//Str(solver%beside)//' traces beside')
    worst = 0
    do c = 1, 3
      associate (s => scene%scheme)
        call TraceFilterNew(f, s%nt, s%dt, s%t_start, merge(0.0_dp, -0.5_dp, c == 1), s%nt_out, s%dt_out, s%fband, .true., error)
      end associate
      call TraceFilterApply(f, raw(:, (c - 1)*n + 1:c*n), reference)
      reference = scale(reference, solver%exponent2)
      worst = max(worst, real(maxval(abs(gather%traces(:, :, c) - reference)), dp)/maxval(abs(reference)))
    end do
    call Claim(solver%engine%filters() .and. solver%beside > 0 .and. worst <= bound, '  its p, vx, vz differ from those of the host by '//Str(worst, 2)// &
               ' of the largest, <= '//Str(bound))
    call solver%free()
  end subroutine OfShot

  !> Receivers a cell from the source, where what the grid lacks is added: global against cpu, whose samples have the same bits
  !> where the processor has fused multiply-adds.
  subroutine NearField()
    type(scene_t) :: scene
    type(fd2d_t) :: solver
    type(gather_t), allocatable :: g(:)
    real(dp) :: worst
    integer :: n
    allocate (g(2))
    do n = 1, 2
      call MakeScene(scene, trim(merge('global', 'cpu   ', n == 1)), 485.0_dp)
      if (.not. allocated(error)) call solver%setup(scene%scheme, scene%window, scene%shot, error)
      if (.not. allocated(error)) call solver%modfd(error)
      if (.not. allocated(error)) call solver%gather(g(n), error)
      call Claim(any(abs(solver%near) > 0), 'receivers '//Str(n)//' are in the near field')
      call solver%free()
    end do
    call ClaimFine(error, 'a shot with receivers beside the source, on the GPU and on the host')
    worst = maxval(abs(g(1)%traces - g(2)%traces)/spread(maxval(abs(g(2)%traces), 1), 1, size(g(2)%traces, 1)))
    call Claim(worst <= merge(bound, 1.0e-5_dp, index(g(2)%device, 'AVX') > 0), '  they differ by '//Str(worst, 2)// &
               ' of the largest of each trace, <= 1e-6 (1e-5 where '//g(2)%device//' has no fused multiply-add)')
  end subroutine NearField

  !> Five receivers of p, vx, vz in an even medium, from x = `first` on, or far from the source and beside a contact.
  subroutine MakeScene(scene, variant, first)
    type(scene_t), intent(out) :: scene
    character(*), intent(in) :: variant
    real(dp), intent(in) :: first
    integer :: r
    call SceneNew(scene, 150, 110, 8.0_dp, 2000.0_dp, 1000.0_dp)
    scene%job%variant = variant
    scene%job%tmax = 0.5_dp
    scene%job%components = 'p,vx,vz'
    scene%shot%sx = 500.3_dp
    scene%shot%sz = 300.7_dp
    deallocate (scene%shot%rx, scene%shot%ry, scene%shot%rz, scene%shot%channel)
    scene%shot%rx = [(merge(first + 7*r, 700.0_dp + 21*r, first > 0), r=1, 5)]
    scene%shot%ry = 0*scene%shot%rx
    scene%shot%rz = [(305.0_dp + 3*r, r=1, 5)]
    scene%shot%channel = [(r, r=1, 5)]
    if (.not. first > 0) then
      call SceneMedium(scene, 40, 2400.0_dp, 1700.0_dp)
      call SceneLacks(scene)
    end if
    call SceneScheme(scene, error)
  end subroutine MakeScene

  !> Requests that cannot be met.
  subroutine Refused(variant)
    character(*), intent(in) :: variant
    class(fd2d_engine_t), allocatable :: engine
    type(tracefilter_t) :: f
    type(band_t) :: band(2)
    real(sp), allocatable :: out(:, :)
    call New(variant, 2, engine)
    if (allocated(error)) return
    allocate (out(101, 2))
    call TraceFilterNew(f, 1203, 0.002_dp, 0.0_dp, 0.0_dp, 101, 0.02_dp, 90.0_dp, .true., error)
    call TraceBands(f, band)
    if (.not. engine%filters()) then
      call engine%filter(0, band, error)
      call ClaimFails(error, 'variant='//variant//' does not filter traces', variant//': a filter')
    else
      call engine%filtered(0, 1, out, error)
      call ClaimFails(error, 'filter 0 of traces is used before it is given', variant//': no filter')
      call engine%filter(2, band, error)
      call ClaimFails(error, 'filter 2 of traces, must be 0 or 1', variant//': a third filter')
      call engine%filter(1, [band(1), band(1)], error)
      call ClaimFails(error, 'samples and goes on with 1203', variant//': bands that do not fit')
      call engine%filter(1, band, error)
      call ClaimFine(error, variant//': a filter')
      call engine%filtered(1, 1, out, error)
      call ClaimFails(error, 'the filter takes traces of 1203 steps, 0 were computed', variant//': too few steps')
      call engine%filtered(1, 2, out, error)
      call ClaimFails(error, 'traces of receivers 2..3, there are 2', variant//': a receiver that is not there')
    end if
    call engine%free()
  end subroutine Refused

end program t244_gpu_trace_filter
