!> Weights of points for the value and the gradient of a field are right for plane waves of all directions at places anywhere in
!> distorted elements, in corners, on edges and faces too; points beyond a contact of media are not used, unless these are almost the
!> same. SEED may be given.
program t852_sem_weights
  use band_weights_m, only: band_points, BandPoints, BandWeights
  use check_m, only: Claim, Done, Seed
  use elements_m, only: elements_t
  use elements_make_m, only: counts_t, ElementsMake
  use elements_points_m, only: ElementsNumber
  use elements_relax_m, only: ElementsUnrelax
  use element_finder_m, only: finder_t, FinderFind, FinderMake
  use kinds_m, only: dp
  use meetings_m, only: meetings_t, MeetingsMake
  use mesh_box_m, only: MeshBox
  use mesh_m, only: mesh_block_t, mesh_t
  use text_m, only: Str
  implicit none
  integer, parameter :: n = 6
  real(dp), parameter :: pi = acos(-1.0_dp), wavelength = 1.25_dp        ! of the highest frequency, in elements
  type(mesh_t) :: mesh
  type(elements_t) :: elements
  type(counts_t) :: counts
  type(meetings_t) :: meetings
  type(finder_t) :: finder
  integer, allocatable :: numbers(:)
  real(dp) :: shake(3), x(3)
  integer :: number, a, i
  character(32) :: word
  call get_environment_variable('SEED', word)
  number = 1
  if (word /= '') read (word, *) number
  call Seed(number)
  call MeshBox([0, 0, 0]*1.0_dp, [1, 1, 1]*real(n, dp), [n, n, n], mesh)
  do a = 1, size(mesh%x, 2)
    call random_number(shake)
    if (all(mesh%x(:, a) > 0.5_dp .and. mesh%x(:, a) < n - 0.5_dp)) mesh%x(:, a) = mesh%x(:, a) + (2*shake - 1)/6
  end do
  deallocate (mesh%blocks)
  mesh%blocks = [mesh_block_t(id=1, name='', elements=n**3/2), mesh_block_t(id=2, name='', elements=n**3/2)]
  mesh%block = [(merge(1, 2, a <= n**3/2), a=1, n**3)]                   ! a contact at z = n/2
  call MakeElements()
  do i = 1, 6
    call random_number(x)
    call Look('a random place', n/2 + [1, 1, 0]*(x - 0.5_dp) + [0.0_dp, 0.0_dp, -1.2_dp + 0.5_dp*x(3)], 1e-3_dp, 3e-3_dp)
  end do
  a = 1 + n/2 + (n + 1)*(n/2 + (n + 1)*(n/2 - 1))                        ! the node at (3, 3, 2)
  call Look('a corner', mesh%x(:, a), 1e-3_dp, 3e-3_dp)
  call Look('an edge', (mesh%x(:, a) + mesh%x(:, a + 1))/2, 1e-3_dp, 3e-3_dp)
  call Look('beside a contact', n/2 + [0.1_dp, 0.2_dp, -0.4_dp], 1e-3_dp, 3e-3_dp)
  call MakeElements(1.006_dp)
  call random_number(x)
  call Look('a corner at a contact of media that differ by 1.8 % in moduli', mesh%x(:, a + (n + 1)**2), 1e-3_dp, 3e-3_dp, .true.)
  call Look('a place on it', [2.1_dp + 1.8_dp*x(1), 2.1_dp + 1.8_dp*x(2), n/2 - 0.001_dp], 1e-3_dp, 3e-3_dp, .true.)
  call MakeElements()
  if (.not. allocated(elements%loss)) allocate (elements%loss(2, n**3))
  call random_number(elements%loss)
  elements%loss = (0.2 + 0.8*elements%loss)/20                               ! 1/Q: moduli that do not relax differ by several per cent
  call ElementsUnrelax(elements, [0.5_dp, 20.0_dp], 3.0_dp)
  call Look('a corner of elements each with a Q of its own', mesh%x(:, a), 1e-3_dp, 3e-3_dp)
  mesh%x(3, :) = 0.4_dp*mesh%x(3, :)
  call MakeElements()
  call Look('a corner of flat elements', mesh%x(:, a), 1e-3_dp, 3e-3_dp)
  call Look('a place in one', mesh%x(:, a) + [0.4_dp, -0.3_dp, 0.1_dp], 1e-3_dp, 3e-3_dp)
  call Done()

contains

  subroutine MakeElements(times)
    real(dp), intent(in), optional :: times                !< the other medium is this one, velocities and density times so much
    real(dp) :: medium(5, 2)
    medium = reshape([3000.0_dp, 1800.0_dp, 2300.0_dp, 0.0_dp, 0.0_dp, 3000.0_dp, 1800.0_dp, 2500.0_dp, 0.0_dp, 0.0_dp], [5, 2])
    if (present(times)) medium(:, 2) = times*medium(:, 1)
    call ElementsMake(mesh, medium, elements, numbers, counts)
    call ElementsNumber(elements)
    call MeetingsMake(elements, meetings)
    call FinderMake(finder, elements%corner)
  end subroutine MakeElements

  !> RMS errors over waves of all directions and of a Ricker's spectrum that is 2 % at the highest frequency.
  subroutine Look(what, x, value, slope, across)
    character(*), intent(in) :: what
    real(dp), intent(in) :: x(3), value, slope
    logical, intent(in), optional :: across                !< points of both sides of the contact serve
    integer, allocatable :: point(:)
    real(dp), allocatable :: at(:, :), w(:, :), image(:, :)
    real(dp) :: xi(3), away, k(3), r(2), f, weight, errors(0:1), size2(0:1), strongest
    complex(dp) :: wave(band_points), exact(0:3), found(0:3)
    integer :: e, c, j
    call FinderFind(finder, elements%corner, x, e, xi, away)
    call BandPoints(elements, meetings, e, x, band_points, at, point, image)
    if (present(across)) then
      call Claim(size(point) == band_points .and. minval(at(3, :)) < n/2 - 0.5_dp .and. maxval(at(3, :)) > n/2 + 0.5_dp, &
                 what//': '//Str(size(point))//' points on both sides')
    else
      call Claim(size(point) == band_points .and. all(at(3, :) < n/2 + 0.2_dp), what//': '//Str(size(point))//' points on its side')
    end if
    call BandWeights(at, x, 2*pi/wavelength, 1.0_dp, w)
    errors = 0
    size2 = 0
    do j = 1, 400
      call random_number(r)
      f = 1.2_dp*mod(j*0.618034_dp, 1.0_dp)
      weight = (2.5_dp*f)**4*exp(-2*(2.5_dp*f)**2)
      k = 2*pi*f/wavelength*[sqrt(1 - (2*r(1) - 1)**2)*[cos(2*pi*r(2)), sin(2*pi*r(2))], 2*r(1) - 1]
      wave = exp(cmplx(0.0_dp, matmul(k, at), dp))
      exact = exp(cmplx(0.0_dp, dot_product(k, x), dp))*[(1.0_dp, 0.0_dp), cmplx(0.0_dp, k, dp)]
      found = [(sum(w(:, c)*wave), c=0, 3)]
      errors = errors + weight*[abs(found(0) - exact(0))**2, sum(abs(found(1:) - exact(1:))**2)]
      size2 = size2 + weight*[abs(exact(0))**2, sum(abs(exact(1:))**2)]
    end do
    errors = sqrt(errors/size2)
    strongest = norm2(w(:, 0))
    call Claim(errors(0) <= value .and. errors(1) <= slope .and. strongest <= 1.5_dp, what//', seed '//Str(number)//': '// &
               Str(100*errors(0), 2)//' % of the value <= '//Str(100*value)//' %, '//Str(100*errors(1), 2)//' % of the gradient <= '// &
               Str(100*slope)//' %, norm of the weights '//Str(strongest, 3))
  end subroutine Look

end program t852_sem_weights
