!> The largest stable time step is told, a little below the true one: that of the highest frequency of all elements together.
program t804_sem_time_step
  use check_m, only: Claim, Done
  use anisotropy_m, only: AnisoMatrix
  use elements_dt_m, only: ElementsDt
  use elements_m, only: elements_t, face_free, in_element, on_face, tensor_numbers
  use elements_points_m, only: ElementsNumber
  use elements_tensors_m, only: TensorOf, TensorsSet
  use hexahedron_m, only: hex_side_point
  use kinds_m, only: dp, sp
  use mesh_case_m, only: AnySeed, BoxMesh, Chance, MixMesh
  use mesh_m, only: mesh_t, MeshOrder, MeshSort
  use sem3d_element_m, only: ElementGeometry, FluidForce, SideArea, SolidForce
  use text_m, only: Str
  implicit none
  character(:), allocatable :: from
  integer :: seed, trial
  seed = AnySeed()
  from = ' (seed '//Str(seed)//')'
  call Limit([3, 3, 3], 0.0_dp, 8, 3000.0_dp, 1700.0_dp, 0.97_dp)
  do trial = 1, 2
    call Limit([3, 3, 3], 0.15_dp, 8, 3000.0_dp, 1700.0_dp, 0.85_dp)
    call Limit([3, 3, 3], 0.2_dp, 8, 3000.0_dp, 600.0_dp, 0.8_dp)
    call Limit([3, 3, 3], 0.1_dp, 27, 3000.0_dp, 1700.0_dp, 0.85_dp)
    call Limit([3, 3, 3], 0.2_dp, 8, 1500.0_dp, 0.0_dp, 0.8_dp)
  end do
  call Limit([7, 7, 6], 0.15_dp, 8, 3000.0_dp, 1700.0_dp, 0.85_dp)
  call Limit([3, 3, 4], 0.0_dp, 8, 1600.0_dp, 300.0_dp, 0.85_dp, wet=.true.)
  call Limit([3, 3, 4], 0.1_dp, 8, 3000.0_dp, 1700.0_dp, 0.85_dp, wet=.true.)
  call Limit([3, 3, 4], 0.1_dp, 8, 1700.0_dp, 300.0_dp, 0.8_dp, wet=.true.)
  call Limit([17, 17, 2], 0.0_dp, 8, 1600.0_dp, 900.0_dp, 0.85_dp, wet=.true.)     ! more at the contact than are tried
  call Limit([3, 3, 4], 0.15_dp, 8, 3000.0_dp, 1700.0_dp, 0.8_dp, tensors=3)
  deallocate (from)
  call Done()

contains

  !> Elements of random media, some of them with media by point; dt over the true limit must be `least` .. 1.
  !> wet: the upper layer is water. tensors: so many anisotropic media, each far from isotropic.
  subroutine Limit(n, shake, per, vp, vs, least, wet, tensors)
    integer, intent(in) :: n(3), per
    real(dp), intent(in) :: shake, vp, vs, least
    logical, intent(in), optional :: wet
    integer, intent(in), optional :: tensors
    type(elements_t) :: elements
    real(dp) :: dt, true
    integer :: element
    call Make(n, shake, per, vp, vs, present(wet), elements)
    if (present(tensors)) call MakeAnisotropic(tensors, elements)
    call ElementsDt(elements, dt, element)
    true = TrueLimit(elements)
    call Claim(dt <= true .and. dt >= least*true .and. element >= 1 .and. element <= elements%n, Str(elements%n)//' elements of '// &
      Str(per)//' nodes, '//Str(elements%n - elements%solid)//' of fluid, moved by '//Str(shake)// &
      ', vs = '//Str(vs)// &
      ' m/s'//trim(merge(', anisotropic', '             ', present(tensors)))//': dt is '// &
      Str(dt/true, 4)//' of the true limit '//Str(true, 4)//' s, must be '//Str(least)//' .. 1'//from)
  end subroutine Limit

  subroutine Make(n, shake, per, vp, vs, wet, elements)
    integer, intent(in) :: n(3), per
    real(dp), intent(in) :: shake, vp, vs
    logical, intent(in) :: wet
    type(elements_t), intent(out) :: elements
    type(mesh_t) :: mesh
    integer, allocatable :: order(:), brick(:)
    real(dp) :: p, s, rho
    integer :: e, i
    mesh = BoxMesh(n, [100.0_dp, 90.0_dp, 60.0_dp], [1.0e5_dp, 2.0e5_dp, 0.0_dp], shake, per, 1)
    call MixMesh(mesh)
    call MeshOrder(mesh, vs <= 0 .or. (wet .and. mesh%block == 1), order, brick)
    call MeshSort(mesh, order)
    elements%n = product(n)
    elements%solid = merge(count(.not. wet .or. mesh%block == 2), 0, vs > 0)
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
        if (e > elements%solid) then
          p = 1500
          s = 0
        end if
        do i = 1, points
          rho = merge(2000, 1000, e <= elements%solid)*merge(Chance(0.9_dp, 1.0_dp), 1.0_dp, shake > 0)
          elements%rho(i, e) = real(rho, sp)
          elements%mu(i, e) = real(rho*s**2, sp)
          elements%lambda(i, e) = real(rho*(p**2 - 2*s**2), sp)
        end do
      end do
    end associate
    allocate (elements%face(6, elements%n), source=face_free)
    call ElementsNumber(elements)
  end subroutine Make

  !> Constants whose rows are up to mu away from isotropic ones in all.
  subroutine MakeAnisotropic(media, elements)
    integer, intent(in) :: media
    type(elements_t), intent(inout) :: elements
    real(sp) :: relative(tensor_numbers, media)
    integer :: e
    call random_number(relative)
    relative = 0.16_sp*(2*relative - 1)
    relative([1, 7], :) = relative([1, 7], :) + 2
    call TensorsSet(elements, [(modulo(e, media + 1), e=1, elements%n)], relative)
  end subroutine MakeAnisotropic

  !> 2/omega by the power method on all elements, as they are stepped: fluid first, then the solid with its pressure.
  real(dp) function TrueLimit(elements)
    type(elements_t), intent(in) :: elements
    real(dp), allocatable :: u(:, :), a(:, :), mass(:), slope(:, :, :, :), volume(:, :), area(:, :, :)
    real(dp) :: own(3, in_element), square
    integer :: e, i, c
    allocate (u(3, elements%points), a(3, elements%points), mass(elements%points), source=0.0_dp)
    allocate (slope(3, 3, in_element, elements%n), volume(in_element, elements%n), area(3, on_face, size(elements%contact, 2)))
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
    do c = 1, size(area, 3)
      call SideArea(elements%corner(:, :, elements%contact(1, c)), elements%contact(2, c), area(:, :, c))
    end do
    call random_number(u)
    u = u - 0.5_dp
    u(2:, elements%solid_points + 1:) = 0
    do i = 1, min(400, 80000/elements%n)
      a = 0
      do e = elements%solid + 1, elements%n
        associate (at => elements%at(:, e))
          call FluidForce(u(1, at), slope(:, :, :, e), volume(:, e), real(elements%rho(:, e), dp), own(1, :))
          a(1, at) = a(1, at) + own(1, :)
        end associate
      end do
      do c = 1, size(area, 3)
        associate (at => elements%at(hex_side_point(:, elements%contact(2, c)), elements%contact(1, c)))
          a(1, at) = a(1, at) + sum(area(:, :, c)*u(:, elements%partner(:, c)), 1)
        end associate
      end do
      a(1, elements%solid_points + 1:) = a(1, elements%solid_points + 1:)/mass(elements%solid_points + 1:)
      do e = 1, elements%solid
        associate (at => elements%at(:, e))
          if (TensorOf(elements, e) > 0) then
            call SolidForce(u(:, at), slope(:, :, :, e), volume(:, e), real(elements%lambda(:, e), dp), real(elements%mu(:, e), dp), &
                            own, relative=AnisoMatrix(real(elements%relative(:, elements%tensor(e)), dp)))
          else
            call SolidForce(u(:, at), slope(:, :, :, e), volume(:, e), real(elements%lambda(:, e), dp), real(elements%mu(:, e), dp), own)
          end if
          a(:, at) = a(:, at) + own
        end associate
      end do
      do c = 1, size(area, 3)
        associate (at => elements%at(hex_side_point(:, elements%contact(2, c)), elements%contact(1, c)))
          a(:, elements%partner(:, c)) = a(:, elements%partner(:, c)) - area(:, :, c)*spread(a(1, at), 1, 3)
        end associate
      end do
      do c = 1, 3
        a(c, :elements%solid_points) = a(c, :elements%solid_points)/mass(:elements%solid_points)
      end do
      square = norm2(a)/norm2(u)
      u = a/norm2(a)
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
