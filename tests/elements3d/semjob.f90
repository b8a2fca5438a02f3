!> A small shot of spectral elements, as a solver gets it: water over rock, a double couple below, pictures and maps.
module semjob_m
  use check_m, only: ClaimFine
  use elements_cut_m, only: cut_t, ElementsCut
  use elements_dt_m, only: ElementsDt
  use elements_m, only: elements_t
  use elements_make_m, only: counts_t, ElementsMake
  use elements_scheme_m, only: elements_scheme_t
  use elements_share_m, only: shares_t, SharesMake
  use elements_window_m, only: ElementsFill, ElementsOutline
  use error_m, only: error_t
  use kinds_m, only: dp
  use mesh_box_m, only: MeshBox
  use mesh_m, only: mesh_block_t, mesh_t
  use parameters_m, only: job_t, JobBlank
  use scheme_m, only: SchemeNew, SchemeTimes
  use shot_m, only: shot_t
  use source3d_m, only: source_moment
  use wavelet_m, only: wavelet_t, WaveletMake
  use window_m, only: box_t, window_t
  implicit none
  private
  public :: SemJob, SemShare

  real(dp), parameter, public :: apart = 4                      !< [m] of stations 1 and 2, around station 3 at the middle
  real(dp), parameter :: middle(3) = [310, 205, 110]            !< [m]

contains

  !> Water over rock, a double couple below; `whole`: its elements, without points.
  subroutine SemJob(window, scheme, shot, whole)
    type(window_t), intent(out) :: window
    type(elements_scheme_t), intent(out) :: scheme
    type(shot_t), intent(out) :: shot
    type(elements_t), intent(out), optional :: whole
    type(error_t), allocatable :: error
    type(mesh_t) :: mesh
    type(elements_t) :: elements
    type(counts_t) :: counts
    type(job_t) :: job
    type(wavelet_t) :: wavelet
    integer, allocatable :: number(:)
    integer, parameter :: n(3) = [6, 5, 5]
    real(dp) :: dt
    integer :: e, i
    call MeshBox([0.0_dp, 0.0_dp, -30.0_dp], [600.0_dp, 500.0_dp, 470.0_dp], n, mesh)
    deallocate (mesh%blocks)
    allocate (mesh%blocks(2))
    mesh%blocks(1) = mesh_block_t(id=1, name='water', elements=n(1)*n(2))
    mesh%blocks(2) = mesh_block_t(id=2, name='rock', elements=n(1)*n(2)*(n(3) - 1))
    mesh%block = [(merge(1, 2, e <= n(1)*n(2)), e=1, product(n))]
    call ElementsMake(mesh, reshape([1500.0_dp, 0.0_dp, 1000.0_dp, 0.0_dp, 0.0_dp, 3000.0_dp, 1800.0_dp, 2300.0_dp, 0.0_dp, 0.0_dp], &
                                    [5, 2]), elements, number, counts)
    call ElementsDt(elements, dt, e)
    call ElementsOutline(elements%n, minval(mesh%x, 2), maxval(mesh%x, 2), window)
    call ElementsFill(elements, window, error)
    call JobBlank(job)
    job%wavelet = 'ricker'
    job%fpeak = 4
    job%amplitude = 1
    job%delay = 0.3_dp
    job%tmax = 0.55_dp
    job%dt_out = 0.002_dp
    job%components = 'vy,exy,wz'
    job%variant = 'cpu'
    job%threads = 2
    if (.not. allocated(error)) call WaveletMake(job, wavelet, error)
    call SchemeNew(scheme, job, wavelet)
    scheme%dt = 0.9_dp*dt
    scheme%source%kind = source_moment
    scheme%source%moment = [0, 0, 0, 1, 0, 0]*1e12_dp
    scheme%snapshot = 15*scheme%dt
    scheme%planes = 'top,y200,volume'
    scheme%fields = 'p,vz'
    scheme%spacing = 100
    scheme%pgv = .true.
    scheme%elements = elements%n
    if (.not. allocated(error)) call SchemeTimes(scheme, job, wavelet, error)
    call ClaimFine(error, 'a job')
    if (present(whole)) whole = elements
    shot%record = 1
    shot%sx = 230
    shot%sy = 260
    shot%sz = 320
    shot%rx = middle(1) + [-apart/2, apart/2, 0.0_dp]
    shot%ry = spread(middle(2), 1, 3)
    shot%rz = spread(middle(3), 1, 3)
    shot%channel = [(i, i=1, 3)]
  end subroutine SemJob

  !> The window of a rank, `mine` of n that share the mesh: as rank 0 sends it.
  subroutine SemShare(whole, scheme, n, mine, window)
    type(elements_t), intent(in) :: whole
    type(elements_scheme_t), intent(in) :: scheme
    integer, intent(in) :: n, mine
    type(window_t), intent(inout) :: window
    type(error_t), allocatable :: error
    type(cut_t) :: cut
    type(shares_t) :: shares
    type(window_t) :: row
    real(dp) :: low(3)
    low = [window%x0, window%y0, window%z0]
    call ElementsCut(whole, n, 0, cut, error)
    if (.not. allocated(error)) call SharesMake(whole, cut, scheme%pgv, scheme%sum == 1, shares, error)
    if (.not. allocated(error)) call ElementsOutline(whole%n, low, low + [window%nx*window%dx, window%ny*window%dy, window%nz*window%dz], &
                                                     row, shares)
    if (.not. allocated(error)) call ElementsFill(whole, row, error, box_t([1, mine, 1], [1, mine, row%nz]), cut=cut, shares=shares)
    if (allocated(error)) call ClaimFine(error, 'the share of a rank')
    window = row
  end subroutine SemShare

end module semjob_m
