!> A shot on elements that goes on from a state has the same traces, films and maps bit for bit, also where the state is between the two
!> steps of a picture of pressure in a fluid; rates of rotation and strain are the two halves of the gradient of velocity.
program t861_sem_pictures_resumed
  use check_m, only: Claim, ClaimFine, Done
  use elements_dt_m, only: ElementsDt
  use elements_m, only: elements_t
  use elements_make_m, only: counts_t, ElementsMake
  use elements_scheme_m, only: elements_scheme_t
  use elements_window_m, only: ElementsFill, ElementsOutline
  use error_m, only: error_t
  use gather_m, only: gather_t
  use kinds_m, only: dp, i8, sp
  use mesh_box_m, only: MeshBox
  use mesh_m, only: mesh_block_t, mesh_t
  use parameters_m, only: job_t, JobBlank
  use scheme_m, only: SchemeNew, SchemeTimes
  use sem3d_m, only: sem3d_t
  use shot_m, only: shot_t
  use solver_m, only: time_position_t
  use source3d_m, only: source_moment
  use text_m, only: Str
  use wavelet_m, only: wavelet_t, WaveletMake
  use window_m, only: window_t
  implicit none
  type(window_t) :: window
  type(elements_scheme_t) :: scheme
  type(shot_t) :: shot
  type(sem3d_t) :: whole
  type(gather_t) :: reference
  type(error_t), allocatable :: error
  real(dp), parameter :: apart = 4, middle(3) = [310, 205, 110]
  real(sp) :: off, largest
  integer :: f, i, picture, step
  logical :: done_all

  call MakeJob()
  call whole%setup(scheme, window, shot, error)
  done_all = .false.
  do while (.not. (done_all .or. allocated(error)))
    call whole%advance(done_all, error)
  end do
  if (.not. allocated(error)) call whole%gather(reference, error)
  call ClaimFine(error, Str(scheme%nt)//' steps with '//Str(whole%pictures)//' pictures every '//Str(whole%every)//' steps')
  do f = 1, size(reference%film)
    if (reference%film(f)%nt == 0) cycle
    largest = maxval(abs(reference%film(f)%a(:, :, whole%pictures)))
    if (reference%film(f)%name == 'p_top') call Claim(largest <= 0, 'there is no pressure on the free water')
    if (reference%film(f)%name /= 'p_top') call Claim(largest > 0, 'the last picture of '//reference%film(f)%name//' is not empty')
  end do
  picture = whole%first_picture + (whole%pictures/2)*whole%every
  do step = picture - 1, picture + 2
    call Resume(step)
  end do

  call Plain()
  associate (t => reference%traces)              ! stations 1, 2 at x -+ apart/2 of station 3; vy, exy, wz
    largest = maxval(abs(t(:, 3, 2) + t(:, 3, 3)))
    off = maxval(abs(t(:, 3, 2) + t(:, 3, 3) - (t(:, 2, 1) - t(:, 1, 1))/real(apart, sp)))
    call Claim(off <= 0.01_sp*largest .and. largest > 0, 'exy + wz is the derivative of vy along x: off by '// &
               Str(100*off/largest, 2)//' % of its largest, at most 1 %')
  end associate
  call Done()

contains

  !> Water over rock, a double couple below.
  subroutine MakeJob()
    type(mesh_t) :: mesh
    type(elements_t) :: elements
    type(counts_t) :: counts
    type(job_t) :: job
    type(wavelet_t) :: wavelet
    integer, allocatable :: number(:)
    integer, parameter :: n(3) = [6, 5, 5]
    real(dp) :: dt
    integer :: e
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
    shot%record = 1
    shot%sx = 230
    shot%sy = 260
    shot%sz = 320
    shot%rx = middle(1) + [-apart/2, apart/2, 0.0_dp]
    shot%ry = spread(middle(2), 1, 3)
    shot%rz = spread(middle(3), 1, 3)
    shot%channel = [(i, i=1, 3)]
  end subroutine MakeJob

  !> The next shot of the same solver, without pictures.
  subroutine Plain()
    type(elements_scheme_t) :: plain_scheme
    type(gather_t) :: gather
    type(error_t), allocatable :: error
    logical :: finished
    integer(i8) :: numbers
    numbers = whole%state_size(time_position_t(step=1)) - 3*whole%map_points
    plain_scheme = scheme
    call plain_scheme%no_pictures()
    call whole%setup(plain_scheme, window, shot, error)
    call Claim(whole%state_size(time_position_t(step=1)) == numbers .and. whole%map_points == 0, &
               'a shot without pictures has no map in its state')
    finished = .false.
    do while (.not. (finished .or. allocated(error)))
      call whole%advance(finished, error)
    end do
    if (.not. allocated(error)) call whole%gather(gather, error)
    call ClaimFine(error, 'the next shot, without pictures')
    call Claim(gather%nsnap == 0 .and. all(gather%traces >= reference%traces .and. gather%traces <= reference%traces), &
               'has none, and the same traces')
  end subroutine Plain

  !> As the whole shot, but saved after a step and loaded into another solver.
  subroutine Resume(step)
    integer, intent(in) :: step
    type(sem3d_t) :: part, rest
    type(gather_t) :: gather
    type(time_position_t) :: position
    type(error_t), allocatable :: error
    real(sp), allocatable :: state(:)
    logical :: finished
    integer :: different, f
    call part%setup(scheme, window, shot, error)
    do while (part%steps < step .and. .not. allocated(error))
      part%chunk = min(10, step - part%steps)
      call part%advance(finished, error)
    end do
    position = part%time_position()
    allocate (state(part%state_size(position)))
    if (.not. allocated(error)) call part%save(state, error)
    if (.not. allocated(error)) call rest%setup(scheme, window, shot, error)
    if (.not. allocated(error)) call Claim(part%state_identity() == rest%state_identity(), 'the same identity')
    if (.not. allocated(error)) call rest%load(position, state, error)
    finished = .false.
    do while (.not. (finished .or. allocated(error)))
      call rest%advance(finished, error)
    end do
    if (.not. allocated(error)) call rest%gather(gather, error)
    call ClaimFine(error, 'saved after step '//Str(step)//', of '//Str(position%films)//' pictures')
    different = count(gather%traces /= reference%traces)
    do f = 1, size(gather%film)
      different = different + count(gather%film(f)%a /= reference%film(f)%a)
    end do
    call Claim(different == 0 .and. position%step == step, Str(different)//' numbers of traces, films and maps differ')
    call part%free()
    call rest%free()
  end subroutine Resume

end program t861_sem_pictures_resumed
