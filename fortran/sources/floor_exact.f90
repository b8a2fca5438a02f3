!> The exact field of a source of volume in water over rock, of waves that go as exp(s t), Re s > 0: next to the source and beside
!> a sea floor what a grid or a mesh lacks is found with it (fd3d_floor_near.f90, sem3d_near.f90).
!>
!> Displacement in water is the gradient of a potential phi, p = -rho s**2 phi. Of the source phi = -m h/(rho c**2),
!>
!>     h = exp(-s r/c)/(4 pi r) = 1/(4 pi) integral k/a J0(k R) exp(-a |z - z_s|) dk,    a**2 = k**2 + (s/c)**2
!>
!> The floor sends back V times what comes down, and lets through P waves, of a potential, and S waves,
!>
!>     (u_R, u_z) = P (k, -p) exp(-p z) + S (-q, k) exp(-q z)     times -J1, J0;    p**2 = k**2 + (s/vp)**2, q**2 = k**2 + (s/vs)**2
!>
!> u_z and s_zz are continuous and s_Rz of the rock is 0 there, which gives, E = k**2 + q**2, R = E**2 - 4 k**2 p q,
!>
!>     N = mu R a + rho s**2 p (s/vs)**2,    V = (mu R a - rho s**2 p (s/vs)**2)/N,    P = 2 E a rho s**2/N,    S = 2 k p/E P
!>
!> (Brekhovskikh 1980, section 7). Where k is large R is the small difference of large numbers; it is made of small ones. Below a
!> free surface of the water waves go up and down between both.
!>
!> The grid's answer (floor_grid.f90) repeats itself along x and y with other signs: its images can be added here too.
module floor_exact_m
  use kinds_m, only: dp, pi
  use layers_exact_m, only: Damp, dampings, gauss_nodes, GaussRule, range
  implicit none
  private
  public :: floor_layers_t, FloorFields

  real(dp), parameter :: image_range = 14         !< exp(-image_range) is left out of images, whose field is weak

  !> Water over rock.
  type :: floor_layers_t
    real(dp) :: c = 0, rho = 0                    !< of the water
    real(dp) :: rock(3) = 0                       !< vp, vs, rho
    real(dp) :: depth = 0                         !< of the floor [m]
    logical :: free = .false.                     !< a free surface is at depth 0, else the water has no end
  end type floor_layers_t

  !> A place where the field is wanted.
  type :: place_t
    real(dp) :: x(3) = 0, z = 0, far = 0          !< from the source; depth; along the floor
    logical :: in_rock = .false., wanted = .true.
    integer :: n = 1                              !< dampings
    real(dp) :: damping(dampings) = 0, share(dampings) = 1
    real(dp) :: grows = 0, most = 0               !< of the exponent with k, and the largest k
    complex(dp) :: sums(7, dampings) = 0          !< u_R, u_z, du_R/dR, u_R/R, du_R/dz, du_z/dR, du_z/dz
  end type place_t

  !> A wave of the source as the layers answer it.
  type :: wave_t
    real(dp) :: k = 0
    complex(dp) :: a = 0, p = 0, q = 0            !< decays
    complex(dp) :: down = 0, up = 0               !< in the water besides what comes straight from the source
    complex(dp) :: of_p = 0, of_s = 0             !< in the rock
  end type wave_t

contains

  !> Displacement u(:, r) and its gradient g(i, l, r) = du_i/dx_l at the places x(:, r), in rock or not, that are `wanted`, of a
  !> moment that pushes to all sides [N m] at `from` in the water, and of its images `period` [m] apart along x and y, 0: it has
  !> none. All places decide on panels, so that no bit depends on how they are dealt.
  subroutine FloorFields(layers, s, from, moment, period, x, in_rock, wanted, threads, u, g)
    type(floor_layers_t), intent(in) :: layers
    complex(dp), intent(in) :: s
    real(dp), intent(in) :: from(3), moment, period(2), x(:, :)
    logical, intent(in) :: in_rock(:), wanted(:)
    integer, intent(in) :: threads
    complex(dp), intent(out) :: u(:, :), g(:, :, :)
    type(place_t), allocatable :: place(:, :, :)
    integer :: i, j, r, images
    images = merge(1, 0, any(period > 0))
    allocate (place(-images:images, -images:images, size(x, 2)))
    do r = 1, size(x, 2)
      do j = -images, images
        do i = -images, images
          place(i, j, r) = PlaceOf(layers, x(:, r) - from - [i*period(1), j*period(2), 0.0_dp], from(3), in_rock(r), &
                                   abs(i) + abs(j))
          place(i, j, r)%wanted = wanted(r)
        end do
      end do
    end do
    call AddWaves(layers, s, from(3), threads, size(place), place)
    u = 0
    g = 0
    do r = 1, size(x, 2)
      do j = -images, images
        do i = -images, images
          call OfPlace(place(i, j, r), s/layers%c, -moment*(-1)**(i + j)/(layers%rho*layers%c**2), u(:, r), g(:, :, r))
        end do
      end do
    end do
  end subroutine FloorFields

  !> Sums over panels of wavenumbers, which serve all places. Branch points and the pole of waves along the floor lie Re s over a
  !> velocity beside the axis, not beyond twice |s| over the least.
  subroutine AddWaves(layers, s, zs, threads, n, place)
    type(floor_layers_t), intent(in) :: layers
    complex(dp), intent(in) :: s
    real(dp), intent(in) :: zs
    integer, intent(in) :: threads, n
    type(place_t), intent(inout) :: place(n)
    type(wave_t), allocatable :: wave(:, :)
    real(dp), allocatable :: k(:), length(:)
    real(dp) :: node(gauss_nodes), weight(gauss_nodes)
    integer :: m, p, r
    call GaussRule(node, weight)
    call Panels()
    allocate (wave(gauss_nodes, size(k)))
    !$omp parallel do private(m) num_threads(threads)
    do p = 1, size(k)
      do m = 1, gauss_nodes
        wave(m, p) = WaveOf(layers, s, k(p) + length(p)*node(m), zs)
      end do
    end do
    !$omp end parallel do
    !$omp parallel do private(m, p) schedule(dynamic, 4) num_threads(threads)
    do r = 1, n
      if (.not. place(r)%wanted) cycle
      do p = 1, count(k < place(r)%most)
        do m = 1, gauss_nodes
          call AddWave(layers, wave(m, p), length(p)*weight(m), place(r))
        end do
      end do
    end do
    !$omp end parallel do

  contains

    !> Panels from k(:) on, as short as those places need for which there still is a field.
    subroutine Panels()
      real(dp), allocatable :: ends(:)
      real(dp) :: long
      integer :: at
      allocate (ends(0:1023), source=0.0_dp)
      long = real(s)/max(layers%c, layers%rock(1))
      at = 0
      do while (ends(at) < maxval(place%most))
        if (ends(at) > 2*abs(s)/min(layers%c, layers%rock(2))) long = 1.5_dp*long
        long = min(long, minval(min(2*pi/max(place%far, 0.1_dp*place%grows), 4/place%grows), ends(at) < place%most))
        if (at == ubound(ends, 1)) call Lengthen(ends)
        at = at + 1
        ends(at) = ends(at - 1) + long
      end do
      k = ends(:at - 1)
      length = ends(1:at) - k
    end subroutine Panels

    pure subroutine Lengthen(ends)
      real(dp), allocatable, intent(inout) :: ends(:)
      real(dp), allocatable :: more(:)
      allocate (more(0:2*size(ends) - 1), source=0.0_dp)
      more(:size(ends) - 1) = ends
      call move_alloc(more, ends)
    end subroutine Lengthen

  end subroutine AddWaves

  !> x: from the source, at depth zs; images: 0 of the place itself.
  pure type(place_t) function PlaceOf(layers, x, zs, in_rock, images) result(place)
    type(floor_layers_t), intent(in) :: layers
    real(dp), intent(in) :: x(3), zs
    logical, intent(in) :: in_rock
    integer, intent(in) :: images
    real(dp) :: way
    place%x = x
    place%z = zs + x(3)
    place%in_rock = in_rock
    place%far = norm2(x(:2))
    way = x(3)
    if (.not. in_rock) way = 2*layers%depth - zs - place%z
    if (.not. in_rock .and. layers%free) way = min(way, zs + place%z)
    way = max(way, 0.0_dp)
    call Damp(way, place%far, place%n, place%damping, place%share)
    place%grows = way + minval(place%damping(:place%n))
    place%most = merge(range, image_range, images == 0)/place%grows
  end function PlaceOf

  !> Of wavenumber k, from depth zs.
  pure type(wave_t) function WaveOf(layers, s, k, zs) result(wave)
    type(floor_layers_t), intent(in) :: layers
    complex(dp), intent(in) :: s
    real(dp), intent(in) :: k, zs
    complex(dp) :: kp2, ks2, e, r, solid, fluid, back, comes, mu
    kp2 = (s/layers%rock(1))**2
    ks2 = (s/layers%rock(2))**2
    wave%k = k
    wave%a = sqrt(k**2 + (s/layers%c)**2)
    wave%p = sqrt(k**2 + kp2)
    wave%q = sqrt(k**2 + ks2)
    mu = layers%rock(3)*layers%rock(2)**2
    e = 2*k**2 + ks2
    r = 4*k**2*ks2 + ks2**2 - 4*k**2*(k**2*(kp2 + ks2) + kp2*ks2)/(wave%p*wave%q + k**2)
    solid = mu*r*wave%a
    fluid = layers%rho*s**2*wave%p*ks2
    back = (solid - fluid)/(solid + fluid)
    associate (a => wave%a, d => layers%depth)
      comes = exp(-a*(d - zs))
      wave%up = back*comes
      if (layers%free) then
        comes = (comes - exp(-a*(d + zs)))/(1 + back*exp(-2*a*d))
        wave%up = back*comes
        wave%down = -exp(-a*zs) - wave%up*exp(-a*d)
      end if
    end associate
    wave%of_p = 2*e*wave%a*layers%rho*s**2/(solid + fluid)*comes
    wave%of_s = 2*k*wave%p/e*wave%of_p
  end function WaveOf

  !> Adds a wave, over the strength of the source, to the sums of a place.
  pure subroutine AddWave(layers, wave, weight, place)
    type(floor_layers_t), intent(in) :: layers
    type(wave_t), intent(in) :: wave
    real(dp), intent(in) :: weight
    type(place_t), intent(inout) :: place
    complex(dp) :: along, across, along_z, across_z, part(7), down, up, p, s
    real(dp) :: k, j0, j1, j1_over
    integer :: e
    k = wave%k
    if (place%in_rock) then
      p = wave%of_p*exp(-wave%p*max(0.0_dp, place%z - layers%depth))
      s = wave%of_s*exp(-wave%q*max(0.0_dp, place%z - layers%depth))
      along = k*p - wave%q*s
      across = -wave%p*p + k*s
      along_z = -wave%p*k*p + wave%q**2*s
      across_z = wave%p**2*p - wave%q*k*s
    else
      down = wave%down*exp(-wave%a*place%z)
      up = wave%up*exp(-wave%a*(layers%depth - place%z))
      along = k*(down + up)
      across = wave%a*(up - down)
      along_z = k*across
      across_z = wave%a**2*(down + up)
    end if
    j0 = bessel_j0(k*place%far)
    j1 = bessel_j1(k*place%far)
    j1_over = 0.5_dp
    if (k*place%far > 1e-8_dp) j1_over = j1/(k*place%far)
    part = [-along*j1, across*j0, -along*k*(j0 - j1_over), -along*k*j1_over, -along_z*j1, -across*k*j1, across_z*j0]
    part = part*(weight*k/(4*pi))/wave%a
    do e = 1, place%n
      place%sums(:, e) = place%sums(:, e) + exp(-k*place%damping(e))*part
    end do
  end subroutine AddWave

  !> Adds motion and its gradient from the sums of a place, and in water what comes straight from the source, kappa = s/c.
  pure subroutine OfPlace(place, kappa, strength, u, g)
    type(place_t), intent(in) :: place
    complex(dp), intent(in) :: kappa
    real(dp), intent(in) :: strength
    complex(dp), intent(inout) :: u(3), g(3, 3)
    complex(dp) :: f(7), h(0:2)
    real(dp) :: n(2), r
    integer :: i, l
    f = 0
    do i = 1, place%n
      f = f + strength*place%share(i)*place%sums(:, i)
    end do
    n = 0
    if (place%far > 0) n = place%x(:2)/place%far
    u = u + [f(1)*n, f(2)]
    do l = 1, 2
      g(:2, l) = g(:2, l) + n*n(l)*(f(3) - f(4))
      g(l, l) = g(l, l) + f(4)
      g(l, 3) = g(l, 3) + f(5)*n(l)
      g(3, l) = g(3, l) + f(6)*n(l)
    end do
    g(3, 3) = g(3, 3) + f(7)
    if (place%in_rock) return
    r = norm2(place%x)
    h(0) = strength*exp(-kappa*r)/(4*pi*r)        ! and its derivatives by r**2/2
    h(1) = -h(0)*(1 + kappa*r)/r**2
    h(2) = (-3*h(1) + kappa**2*h(0))/r**2
    u = u + h(1)*place%x
    do i = 1, 3
      g(:, i) = g(:, i) + h(2)*place%x*place%x(i)
      g(i, i) = g(i, i) + h(1)
    end do
  end subroutine OfPlace

end module floor_exact_m
