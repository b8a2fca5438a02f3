!> Made-up shots at the level of the engine: rough medium, absorbing layers of any width, sources and receivers of several cells,
!> run by the readable Fortran and by a C variant through the verbs of interfaces/fd2d_c.f90.
module fdcase_m
  use der_m, only: DerSumAbs, DerWeights
  use differs_m, only: Differs
  use error_m, only: error_t, FailFromC
  use fd2d_c, only: fd2d_cfg, fd2d_field, fd2d_model, fd2d_new, fd2d_pml, fd2d_receivers, fd2d_source, fd2d_tune
  use fd2d_engine_m, only: fd2d_grid_t, field_sigma
  use fd2d_fortran_m, only: fd2d_fortran_t
  use handle_c, only: handle_device, handle_free, handle_pending, handle_timestep, handle_traces
  use iso_c_binding, only: c_associated, c_char, c_float, c_int, c_null_char, c_ptr
  use kinds_m, only: dp, sp
  use pml_m, only: pml_shape_t, PmlProfile
  use text_m, only: CString, FString
  implicit none
  private
  public :: case_t, result_t, CaseNew, CaseSource, CaseHandle, CaseSteps, CaseResult, CaseNative, CaseFortran
  public :: CaseSigmaOnly, CasePoints, TracesDiffer, SigmaDiffers, CountDifferent, kinds_of_layers, LayerName

  integer, parameter :: kinds_of_layers = 8
  real(dp), parameter :: dx = 10, dz = 7.5_dp

  type :: case_t
    type(fd2d_cfg) :: cfg
    real(dp) :: dt = 0, w(8) = 0
    real(sp), allocatable :: kappa(:, :), rho(:, :), px(:, :), pz(:, :)   !< (nx, nz), (nx, 6), (nz, 6)
    real(sp), allocatable :: q(:), sw(:), rw(:)                           !< wavelet; weights of cells
    integer, allocatable :: si(:), sk(:)                                  !< source cells, from 1
    integer, allocatable :: start(:), field(:), ri(:), rk(:)              !< receivers, from 1, as in fd2d_engine.f90
    integer :: nt = 0
    integer :: width = 0, rows = 0                                        !< of blocks, for fd2d_tune; 0 = as chosen
  end type case_t

  type :: result_t
    real(sp), allocatable :: traces(:, :), sigma(:, :)                    !< (nt, nrec), (nx, nz)
    character(:), allocatable :: device
  end type result_t

contains

  pure function LayerName(layers) result(name)
    integer, intent(in) :: layers
    character(:), allocatable :: name
    character(32), parameter :: names(kinds_of_layers) = [character(32) :: 'layers on four sides', 'free surface and layers', &
                                                          'free surface, no layers', 'no layers', 'a layer at the left', &
                                                          'a layer at the right', 'a layer at the bottom', 'layers of 70 cells']
    name = trim(names(layers))
  end function LayerName

  !> A shot on nx x nz cells of nt steps; layers = 1 .. kinds_of_layers.
  subroutine CaseNew(c, nx, nz, half_length, layers, nt, error)
    type(case_t), intent(out) :: c
    integer, intent(in) :: nx, nz, half_length, layers, nt
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: used_error
    real(sp) :: vp
    integer :: i, k
    call DerWeights(half_length, 'holberg', 0.1_dp, 1.0_dp, c%w, used_error, error)
    allocate (c%kappa(nx, nz), c%rho(nx, nz))
    do k = 1, nz
      do i = 1, nx
        vp = 1500 + 1700*real(modulo(i*i*7 + k*29, 13), sp)/12
        c%rho(i, k) = 1000 + 900*real(modulo(i*37 + k*k*11, 17), sp)/16
        c%kappa(i, k) = c%rho(i, k)*vp**2
      end do
    end do
    c%dt = 0.7_dp/(3200*DerSumAbs(c%w(:half_length))*sqrt(1/dx**2 + 1/dz**2))
    c%nt = nt
    associate (g => c%cfg)
      g%nx = nx
      g%nz = nz
      g%half_length = half_length
      g%free_top = merge(1, 0, layers == 2 .or. layers == 3)
      g%dx = real(dx, c_float)
      g%dz = real(dz, c_float)
      g%dt = real(c%dt, c_float)
      g%w = real(c%w, c_float)
      g%threads = 0
      g%velocities = 1
      g%share = 0
      call SetLayers(g, layers)
      allocate (c%px(nx, 6), c%pz(nz, 6))
      call PmlProfile(nx, g%nleft, g%nright, dx, c%dt, 2500.0_dp, 30.0_dp, c%px, WeakShape(max(g%nleft, g%nright)))
      call PmlProfile(nz, g%ntop, g%nbottom, dz, c%dt, 2500.0_dp, 30.0_dp, c%pz, WeakShape(max(g%ntop, g%nbottom)))
    end associate
    call SetWavelet(c)
    call CaseSource(c, CentreX(c%cfg, layers), CentreZ(c%cfg, layers))
    call SetReceivers(c, CentreX(c%cfg, layers), CentreZ(c%cfg, layers))
  end subroutine CaseNew

  !> Layers weaker than those of shots, or traces deep in them are but rounding.
  pure type(pml_shape_t) function WeakShape(cells)
    integer(c_int), intent(in) :: cells
    WeakShape = pml_shape_t(power=merge(3, 4, cells < 12), r0=10.0_dp**(-min(8.0_dp, 2 + 0.4_dp*cells)))
  end function WeakShape

  subroutine SetLayers(g, layers)
    type(fd2d_cfg), intent(inout) :: g
    integer, intent(in) :: layers
    integer, parameter :: widths(4, kinds_of_layers) = reshape( &                   ! left, right, top, bottom
                          [11, 13, 9, 10, 13, 11, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 6, 70, 70, 70, 70], &
                          [4, kinds_of_layers])
    g%nleft = min(widths(1, layers), g%nx/2)
    g%nright = min(widths(2, layers), g%nx/2)
    g%ntop = min(widths(3, layers), g%nz/2)
    g%nbottom = min(widths(4, layers), g%nz/2)
  end subroutine SetLayers

  !> The source stands where something happens: near the surface, near the one layer, else right of the middle.
  pure integer function CentreX(g, layers) result(i)
    type(fd2d_cfg), intent(in) :: g
    integer, intent(in) :: layers
    real(dp) :: part
    part = 0.8_dp
    if (layers == 5) part = 0.1_dp
    if (layers == 6) part = 0.9_dp
    if (g%nx > 400) part = 0.47_dp
    i = min(g%nx, max(1, nint(part*g%nx)))
  end function CentreX

  pure integer function CentreZ(g, layers) result(k)
    type(fd2d_cfg), intent(in) :: g
    integer, intent(in) :: layers
    k = max(1, nint(merge(0.9_dp, 0.4_dp, layers == 7)*g%nz))
    if (g%free_top == 1) k = min(g%nz, 3)
  end function CentreZ

  !> Ricker of 30 Hz on a hum, so that no grid falls silent; it ends shortly before the shot does.
  subroutine SetWavelet(c)
    type(case_t), intent(inout) :: c
    real(dp) :: a
    integer :: n
    allocate (c%q(max(1, c%nt - 5)))
    do n = 1, size(c%q)
      a = (acos(-1.0_dp)*30*(n*c%dt - 0.9_dp/30))**2
      c%q(n) = real((1 - 2*a)*exp(-a) + 0.2_dp*cos(0.3_dp*n), sp)
    end do
  end subroutine SetWavelet

  !> Twelve cells around (i,k), two of them twice; with odd half-lengths the last cell of the grid too.
  subroutine CaseSource(c, i, k)
    type(case_t), intent(inout) :: c
    integer, intent(in) :: i, k
    integer :: n
    c%si = [(InGrid(i + modulo(5*n, 9) - 4, c%cfg%nx), n=1, 12)]
    c%sk = [(InGrid(k + modulo(7*n, 8) - 3, c%cfg%nz), n=1, 12)]
    c%si = [c%si, c%si(3:4)]
    c%sk = [c%sk, c%sk(3:4)]
    if (modulo(c%cfg%half_length, 2) == 1) then
      c%si = [c%si, c%cfg%nx]
      c%sk = [c%sk, c%cfg%nz]
    end if
    c%sw = [(real(0.1_dp + 0.07_dp*modulo(n*n, 11), sp), n=1, size(c%si))]
  end subroutine CaseSource

  !> Nine receivers of one to nine cells near (i,k), of sigma, vx and vz in turn; with odd half-lengths three in the last cell.
  subroutine SetReceivers(c, i, k)
    type(case_t), intent(inout) :: c
    integer, intent(in) :: i, k
    integer :: r, n, nrec
    c%start = [1]
    c%ri = [integer ::]
    c%rk = [integer ::]
    nrec = 9 + merge(3, 0, modulo(c%cfg%half_length, 2) == 1)
    do r = 1, nrec
      do n = 1, merge(r, 1, r <= 9)
        c%ri = [c%ri, merge(InGrid(i + modulo(13*r + n, 47) - 23, c%cfg%nx), c%cfg%nx, r <= 9)]
        c%rk = [c%rk, merge(InGrid(k + modulo(19*r + 2*n, 41) - 20, c%cfg%nz), c%cfg%nz, r <= 9)]
      end do
      c%start = [c%start, size(c%ri) + 1]
    end do
    c%field = [(modulo(r, 3), r=1, nrec)]
    c%rw = [(real(0.2_dp + 0.1_dp*modulo(3*n, 7), sp), n=1, size(c%ri))]
  end subroutine SetReceivers

  !> The same with receivers of sigma only: `tuned` then keeps no velocities.
  pure subroutine CaseSigmaOnly(c)
    type(case_t), intent(inout) :: c
    c%field = field_sigma
    c%cfg%velocities = 0
  end subroutine CaseSigmaOnly

  pure integer function InGrid(n, most)
    integer, intent(in) :: n, most
    InGrid = min(max(n, 1), most)
  end function InGrid

  ! --- a C variant ------------------------------------------------------------------------------------------------------

  !> A handle ready for the first step; null after a failure.
  type(c_ptr) function CaseHandle(variant, c, error) result(h)
    character(*), intent(in) :: variant
    type(case_t), intent(in) :: c
    type(error_t), allocatable, intent(inout) :: error
    h = fd2d_new(CString(variant), c%cfg)
    if (.not. c_associated(h)) then
      call FailFromC(1, error)
      return
    end if
    if (c%width > 0 .and. variant == 'tuned') call FailFromC(fd2d_tune(h, CString(''), c%width, 0, c%rows), error)
    if (.not. allocated(error)) call FailFromC(fd2d_model(h, c%kappa, c%rho), error)
    if (.not. allocated(error)) call FailFromC(fd2d_pml(h, c%px, c%pz), error)
    call CasePoints(h, c, error)
  end function CaseHandle

  !> Source and receivers of the case.
  subroutine CasePoints(h, c, error)
    type(c_ptr), intent(in) :: h
    type(case_t), intent(in) :: c
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    call FailFromC(fd2d_source(h, size(c%q), c%q, size(c%sw), c%si - 1, c%sk - 1, c%sw), error)
    if (allocated(error)) return
    call FailFromC(fd2d_receivers(h, size(c%field), c%start - 1, c%field, c%ri - 1, c%rk - 1, c%rw), error)
  end subroutine CasePoints

  !> All steps in chunks of so many.
  subroutine CaseSteps(h, c, chunk, error)
    type(c_ptr), intent(in) :: h
    type(case_t), intent(in) :: c
    integer, intent(in) :: chunk
    type(error_t), allocatable, intent(inout) :: error
    integer :: it
    do it = 1, c%nt, chunk
      if (allocated(error)) return
      call FailFromC(handle_timestep(h, it, min(chunk, c%nt - it + 1)), error)
      if (.not. allocated(error)) call FailFromC(handle_pending(h, 1), error)
    end do
  end subroutine CaseSteps

  subroutine CaseResult(h, c, r, error)
    type(c_ptr), intent(in) :: h
    type(case_t), intent(in) :: c
    type(result_t), intent(out) :: r
    type(error_t), allocatable, intent(inout) :: error
    character(kind=c_char, len=256) :: device
    allocate (r%traces(c%nt, size(c%field)), r%sigma(c%cfg%nx, c%cfg%nz), source=0.0_sp)
    device = c_null_char
    if (.not. allocated(error)) call FailFromC(handle_traces(h, 1, c%nt, r%traces), error)
    if (.not. allocated(error)) call FailFromC(fd2d_field(h, field_sigma, r%sigma), error)
    if (.not. allocated(error)) call FailFromC(handle_device(h, len(device), device), error)
    r%device = FString(device)
  end subroutine CaseResult

  !> A whole shot in a fresh handle.
  subroutine CaseNative(variant, c, chunk, r, error)
    character(*), intent(in) :: variant
    type(case_t), intent(in) :: c
    integer, intent(in) :: chunk
    type(result_t), intent(out) :: r
    type(error_t), allocatable, intent(inout) :: error
    type(c_ptr) :: h
    h = CaseHandle(variant, c, error)
    call CaseSteps(h, c, chunk, error)
    call CaseResult(h, c, r, error)
    call handle_free(h)
  end subroutine CaseNative

  ! --- the readable Fortran -----------------------------------------------------------------------------------------------

  subroutine CaseFortran(c, r, error)
    type(case_t), intent(in) :: c
    type(result_t), intent(out) :: r
    type(error_t), allocatable, intent(inout) :: error
    type(fd2d_fortran_t) :: engine
    type(fd2d_grid_t) :: grid
    associate (g => c%cfg)
      grid = fd2d_grid_t(nx=g%nx, nz=g%nz, nleft=g%nleft, nright=g%nright, ntop=g%ntop, nbottom=g%nbottom, &
                         free_top=g%free_top == 1, half_length=g%half_length, dx=dx, dz=dz, dt=c%dt, w=c%w)
      allocate (r%traces(c%nt, size(c%field)), r%sigma(g%nx, g%nz))
    end associate
    call engine%new(grid, error)
    call engine%model(c%kappa, c%rho, error)
    call engine%pml(c%px, c%pz, error)
    call engine%source(c%q, c%si, c%sk, c%sw, error)
    call engine%receivers(c%start, c%field, c%ri, c%rk, c%rw, error)
    if (.not. allocated(error)) call engine%timestep(1, c%nt, error)
    if (.not. allocated(error)) call engine%traces(1, r%traces, error)
    if (.not. allocated(error)) call engine%field(field_sigma, r%sigma, error)
    r%device = engine%device()
    call engine%free()
  end subroutine CaseFortran

  ! --- comparing --------------------------------------------------------------------------------------------------------

  !> Largest relative RMS difference of a trace, and of which; a trace weaker than a hundredth of the strongest of
  !> its field (a wave that cannot travel in a grid one cell wide, say) counts as that hundredth.
  pure subroutine TracesDiffer(c, a, b, difference, worst)
    type(case_t), intent(in) :: c
    type(result_t), intent(in) :: a, b
    real(dp), intent(out) :: difference
    integer, intent(out) :: worst
    real(dp) :: strongest(0:2), d
    integer :: r
    strongest = 0
    do r = 1, size(c%field)
      strongest(c%field(r)) = max(strongest(c%field(r)), norm2(real(b%traces(:, r), dp)))
    end do
    difference = -1
    do r = 1, size(c%field)
      d = Differs(a%traces(:, r), b%traces(:, r), 0.01_dp*strongest(c%field(r)))
      if (d > difference) worst = r
      difference = max(difference, d)
    end do
  end subroutine TracesDiffer

  !> The same for the fields of sigma; one weaker than a single cell at the strongest receiver (in a grid of one cell, say, which
  !> just passes zero) counts as that.
  pure real(dp) function SigmaDiffers(c, a, b)
    type(case_t), intent(in) :: c
    type(result_t), intent(in) :: a, b
    real(dp) :: cell
    integer :: r
    cell = 0
    do r = 1, size(c%field)
      if (c%field(r) == field_sigma) cell = max(cell, norm2(real(b%traces(:, r), dp))/sqrt(real(c%nt, dp)))
    end do
    SigmaDiffers = Differs(pack(a%sigma, .true.), pack(b%sigma, .true.), cell)
  end function SigmaDiffers

  !> Count of numbers that differ in any bit between two results.
  pure integer function CountDifferent(a, b)
    type(result_t), intent(in) :: a, b
    CountDifferent = count(a%traces /= b%traces .or. a%traces /= a%traces) + count(a%sigma /= b%sigma .or. a%sigma /= a%sigma)
  end function CountDifferent

end module fdcase_m
