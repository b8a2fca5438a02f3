!> The largest stable time step is told, a little below the true one: that of the highest frequency of all elements together.
program t804_sem_time_step
  use check_m, only: Claim, Done
  use elements_dt_m, only: ElementsDt
  use elements_m, only: elements_t, face_free, in_element
  use elements_points_m, only: ElementsNumber
  use kinds_m, only: dp, sp
  use mesh_case_m, only: AnySeed, BoxMesh, Chance, MixMesh
  use mesh_m, only: mesh_t, MeshOrder, MeshSort
  use sem3d_element_m, only: ElementGeometry, FluidForce, SolidForce
  use text_m, only: Str
  implicit none
  character(:), allocatable :: from
  integer :: seed, trial
  seed = AnySeed()
  from = ' (seed '//Str(seed)//')'
  call Limit([3, 3, 3], 0.0_dp, 8, 3000.0_dp, 1700.0_dp, 0.97_dp)
  do trial = 1, 3
    call Limit([3, 3, 3], 0.15_dp, 8, 3000.0_dp, 1700.0_dp, 0.85_dp)
    call Limit([3, 3, 3], 0.2_dp, 8, 3000.0_dp, 600.0_dp, 0.8_dp)
    call Limit([3, 3, 3], 0.1_dp, 27, 3000.0_dp, 1700.0_dp, 0.85_dp)
    call Limit([3, 3, 3], 0.2_dp, 8, 1500.0_dp, 0.0_dp, 0.8_dp)
  end do
  call Limit([9, 8, 8], 0.15_dp, 8, 3000.0_dp, 1700.0_dp, 0.85_dp)
  deallocate (from)
  call Done()

contains

  !> Elements of random media, some of them with media by point; dt over the true limit must be `least` .. 1.
  subroutine Limit(n, shake, per, vp, vs, least)
    integer, intent(in) :: n(3), per
    real(dp), intent(in) :: shake, vp, vs, least
    type(elements_t) :: elements
    real(dp) :: dt, true
    integer :: element
    call Make(n, shake, per, vp, vs, elements)
    call ElementsDt(elements, dt, element)
    true = TrueLimit(elements)
    call Claim(dt <= true .and. dt >= least*true .and. element >= 1 .and. element <= elements%n, Str(elements%n)//' elements of '// &
      Str(per)//' nodes moved by '//Str(shake)//', vs = '//Str(vs)//' m/s: dt is '//Str(dt/true, 4)//' of the true limit '// &
      Str(true, 4)//' s, must be '//Str(least)//' .. 1'//from)
  end subroutine Limit

  subroutine Make(n, shake, per, vp, vs, elements)
    integer, intent(in) :: n(3), per
    real(dp), intent(in) :: shake, vp, vs
    type(elements_t), intent(out) :: elements
    type(mesh_t) :: mesh
    integer, allocatable :: order(:), brick(:)
    real(dp) :: p, s, rho
    integer :: e, i
    mesh = BoxMesh(n, [100.0_dp, 90.0_dp, 60.0_dp], [1.0e5_dp, 2.0e5_dp, 0.0_dp], shake, per, 1)
    call MixMesh(mesh)
    call MeshOrder(mesh, spread(vs <= 0, 1, product(n)), order, brick)
    call MeshSort(mesh, order)
    elements%n = product(n)
    elements%solid = merge(elements%n, 0, vs > 0)
    elements%per = per
    elements%node = mesh%node(:8, :)
    elements%brick = brick
    associate (points => merge(1, in_element, shake < 0.18_dp))
      allocate (elements%corner(3, per, elements%n), elements%rho(points, elements%n), elements%lambda(points, elements%n), &
        elements%mu(points, elements%n))
      do e = 1, elements%n
        elements%corner(:, :, e) = mesh%x(:, mesh%node(:, e))
        p = vp*merge(Chance(0.7_dp, 1.0_dp), 1.0_dp, shake > 0)
        s = vs*merge(Chance(0.7_dp, 1.0_dp), 1.0_dp, shake > 0)
        do i = 1, points
          rho = 2000*merge(Chance(0.9_dp, 1.0_dp), 1.0_dp, shake > 0)
          elements%rho(i, e) = real(rho, sp)
          elements%mu(i, e) = real(rho*s**2, sp)
          elements%lambda(i, e) = real(rho*(p**2 - 2*s**2), sp)
        end do
      end do
    end associate
    allocate (elements%face(6, elements%n), source=face_free)
    call ElementsNumber(elements)
  end subroutine Make

  !> 2/omega by the power method on all elements.
  real(dp) function TrueLimit(elements)
    type(elements_t), intent(in) :: elements
    real(dp), allocatable :: u(:, :), a(:, :), mass(:), slope(:, :, :, :), volume(:, :)
    real(dp) :: own(3, in_element), square
    integer :: e, i
    allocate (u(3, elements%points), a(3, elements%points), mass(elements%points), source=0.0_dp)
    allocate (slope(3, 3, in_element, elements%n), volume(in_element, elements%n))
    do e = 1, elements%n
      call ElementGeometry(elements%corner(:, :, e), slope(:, :, :, e), volume(:, e))
      associate (at => elements%at(:, e))
        if (e <= elements%solid) then
          mass(at) = mass(at) + volume(:, e)*Spread125(elements%rho(:, e))
        else
          mass(at) = mass(at) + volume(:, e)/Spread125(elements%lambda(:, e))
        end if
      end associate
    end do
    call random_number(u)
    u = u - 0.5_dp
    do i = 1, 400
      a = 0
      do e = 1, elements%n
        associate (at => elements%at(:, e))
          if (e <= elements%solid) then
            call SolidForce(u(:, at), slope(:, :, :, e), volume(:, e), real(elements%lambda(:, e), dp), real(elements%mu(:, e), dp), own)
            a(:, at) = a(:, at) - own
          else
            call FluidForce(u(1, at), slope(:, :, :, e), volume(:, e), real(elements%rho(:, e), dp), own(1, :))
            a(1, at) = a(1, at) - own(1, :)
          end if
        end associate
      end do
      square = sum(u*a)/sum(u**2*spread(mass, 1, 3))      ! Rayleigh's quotient
      if (elements%solid == 0) square = sum(u(1, :)*a(1, :))/sum(u(1, :)**2*mass)
      u = a/spread(mass, 1, 3)
      u = u/maxval(abs(u))
    end do
    TrueLimit = 2/sqrt(square)
  end function TrueLimit

  pure function Spread125(values) result(all)
    real(sp), intent(in) :: values(:)
    real(dp) :: all(in_element)
    all = values(1)
    if (size(values) > 1) all = values
  end function Spread125

end program t804_sem_time_step
