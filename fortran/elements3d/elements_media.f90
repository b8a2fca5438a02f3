!> Media of elements by point, from volumes (model3d.f90). A sample is what its cell consists of.
!>
!> An element is fluid where vs = 0 in the cells that its 27 inner points lie in, solid where vs > 0 in all of them; its block may
!> say
!> which it is. At each of its 125 points vp, vs, rho are interpolated linearly between the samples around that are of its phase, so
!> that sea floors which the mesh follows stay sharp; where none of these is, the next one of the column is taken: below in a solid,
!> above in a fluid. Of 1/Q an element has the mean of its points.
module elements_media_m
  use elements_m, only: elements_t, in_element
  use error_m, only: error_t, Fail
  use hexahedron_m, only: HexPoints
  use kinds_m, only: dp, sp
  use materials_m, only: from_fluid, from_solid, from_table, from_volume, Losses
  use mesh_m, only: mesh_t
  use model3d_m, only: model3d_t, Model3dPart, Model3dRead
  use model_samples_m, only: part_t
  use parameters_m, only: job_t
  use text_m, only: Str
  implicit none
  private
  public :: MediaRead, MediaPhases, MediaFill

  integer, parameter :: parts = 5                         !< vp, vs, rho, 1/Qp, 1/Qs
  integer, parameter :: inner(27) = 32 + [0, 1, 2, 5, 6, 7, 10, 11, 12, 25, 26, 27, 30, 31, 32, 35, 36, 37, 50, 51, 52, 55, 56, &
                                          57, 60, 61, 62]
  real(dp), parameter :: slack = 1.0e-6_dp                !< of a spacing: ends of the mesh come with rounding

contains

  !> The volumes of a job, those on disk as far as the mesh reaches. room [m]: how far the mesh may reach beyond their sides and
  !> bottom, where the outermost samples go on.
  subroutine MediaRead(job, mesh, room, earth, error)
    type(job_t), intent(in) :: job
    type(mesh_t), intent(in) :: mesh
    real(dp), intent(in) :: room
    type(model3d_t), intent(out) :: earth
    type(error_t), allocatable, intent(inout) :: error
    type(model3d_t) :: whole
    type(part_t) :: part
    real(dp) :: low(3), high(3), most(3, 2)
    integer :: a
    call Model3dRead(job, earth, error)
    if (allocated(error)) return
    low = minval(mesh%x, 2)
    high = maxval(mesh%x, 2)
    most(:, 1) = earth%low - room - slack*earth%d
    most(:, 2) = earth%high + room + slack*earth%d
    most(3, 1) = earth%low(3) - slack*earth%d(3)
    do a = 1, 3
      if (low(a) >= most(a, 1) .and. high(a) <= most(a, 2)) cycle
      call Fail(error, 'the mesh reaches from '//'xyz'(a:a)//' = '//Str(low(a), 9)//' to '//Str(high(a), 9)// &
                ' m (z down), the volume '// &
                job%vp//' from '//Str(earth%low(a), 9)//' to '//Str(earth%high(a), 9)//' m'//Beyond()// &
                ': give a larger volume, '// &
                'or check model_x0, model_y0, model_z0 and mesh_z')
      return
    end do
    if (.not. earth%on_disk) return
    part%low = max(1, min(earth%n, floor((low - earth%x0)/earth%d) + 1))
    part%high = max(1, min(earth%n, ceiling((high - earth%x0)/earth%d) + 1))
    whole = earth
    call Model3dPart(job, whole, part, earth, error)

  contains

    function Beyond() result(words)
      character(:), allocatable :: words
      words = ''
      if (room > 0) words = ', and beyond its sides and bottom at most '//Str(room)//' m of sponge are possible'
    end function Beyond
  end subroutine MediaRead

  !> Sample of the volumes: 1, 2, ... along x, y, z, at a place [m]; beyond the ends the last one.
  pure function PlaceIn(earth, x) result(at)
    type(model3d_t), intent(in) :: earth
    real(dp), intent(in) :: x(3)
    real(dp) :: at(3)
    at = min(real(earth%part%high, dp), max(real(earth%part%low, dp), (x - earth%x0)/earth%d + 1))
  end function PlaceIn

  pure integer function Row(earth, j, k)
    type(model3d_t), intent(in) :: earth
    integer, intent(in) :: j, k
    Row = (k - earth%part%low(3))*(earth%part%high(2) - earth%part%low(2) + 1) + j - earth%part%low(2) + 1
  end function Row

  !> vp, vs, rho, 1/Qp, 1/Qs of a sample.
  pure function Sample(earth, at) result(medium)
    type(model3d_t), intent(in) :: earth
    integer, intent(in) :: at(3)
    real(dp) :: medium(parts)
    integer :: i, r
    i = at(1) - earth%part%low(1) + 1
    r = Row(earth, at(2), at(3))
    medium(:3) = [earth%vp(i, r), earth%vs(i, r), earth%rho(i, r)]
    medium(4:) = 0
    if (earth%attenuates) medium(4:) = [earth%qp(i, r), earth%qs(i, r)]
  end function Sample

  pure logical function IsOf(medium, fluid)
    real(dp), intent(in) :: medium(parts)
    logical, intent(in) :: fluid
    IsOf = medium(1) > 0 .and. (fluid .neqv. medium(2) > 0)
  end function IsOf

  !> wet: true for the elements of the mesh that are fluid. part: media of its blocks, from: the source of each (materials.f90).
  subroutine MediaPhases(earth, mesh, part, from, fluid, error)
    type(model3d_t), intent(in) :: earth
    type(mesh_t), intent(in) :: mesh
    real(dp), intent(in) :: part(:, :)
    integer, intent(in) :: from(:)
    logical, allocatable, intent(out) :: fluid(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: wet(size(mesh%block)), e
    real(dp) :: x(3)
    allocate (fluid(size(mesh%block)))
    wet = -1
    !$omp parallel do schedule(dynamic, 64)
    do e = 1, size(mesh%block)
      select case (from(mesh%block(e)))
      case (from_volume)
        wet(e) = CountWet(earth, mesh%x(:, mesh%node(:, e)))
      case (from_fluid)
        wet(e) = size(inner)
      case (from_solid)
        wet(e) = 0
      case default
        wet(e) = merge(0, size(inner), part(2, mesh%block(e)) > 0)
      end select
    end do
    !$omp end parallel do
    fluid = wet == size(inner)
    e = findloc(wet > 0 .and. wet < size(inner), .true., dim=1)
    if (e == 0) return
    x = sum(mesh%x(:, mesh%node(:8, e)), 2)/8
    call Fail(error, 'element '//Str(mesh%number(e))//' at x = '//Str(x(1), 7)//', y = '//Str(x(2), 7)//', z = '//Str(x(3), 7)// &
              ' m is fluid (vs = 0 in the volume) at '//Str(wet(e))// &
              ' of 27 points and solid at the others: let the mesh follow the '// &
              'contact, or say in the table of materials which its block is: NAME volume solid, or NAME volume fluid')
  end subroutine MediaPhases

  !> Inner points of an element that lie in fluid; air is as what is next below it.
  pure integer function CountWet(earth, corner)
    type(model3d_t), intent(in) :: earth
    real(dp), intent(in) :: corner(:, :)
    real(dp) :: x(3, in_element), medium(parts)
    integer :: i, at(3)
    call HexPoints(corner, x)
    CountWet = 0
    do i = 1, size(inner)
      at = nint(PlaceIn(earth, x(:, inner(i))))
      do
        medium = Sample(earth, at)
        if (medium(1) > 0 .or. at(3) == earth%part%high(3)) exit
        at(3) = at(3) + 1
      end do
      if (.not. medium(2) > 0) CountWet = CountWet + 1
    end do
  end function CountWet

  !> Sets the media of elements that come from volumes. order: the element of the mesh of each.
  !> passive: elements whose Qp is larger, by more than rounding, than their Qs and velocities allow; their bulk modulus does not
  !> attenuate.
  subroutine MediaFill(earth, mesh, order, from, elements, passive, error)
    type(model3d_t), intent(in) :: earth
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: order(:), from(:)
    type(elements_t), intent(inout) :: elements
    integer, intent(out) :: passive
    type(error_t), allocatable, intent(inout) :: error
    real(sp), parameter :: rounding = 0.05_sp
    logical :: found(elements%n)
    integer :: e
    real(dp) :: x(3)
    found = .true.
    !$omp parallel do schedule(dynamic, 64)
    do e = 1, elements%n
      if (from(mesh%block(order(e))) /= from_table) call FillOne(earth, elements, e, found(e))
    end do
    !$omp end parallel do
    passive = count(elements%loss(1, :) < -rounding*elements%loss(2, :))
    elements%loss(1, :) = max(0.0_sp, elements%loss(1, :))
    e = findloc(found, .false., dim=1)
    if (e == 0) return
    x = sum(elements%corner(:, :8, e), 2)/8
    call Fail(error, 'element '//Str(mesh%number(order(e)))//' at x = '//Str(x(1), 7)//', y = '//Str(x(2), 7)//', z = '// &
              Str(x(3), 7)// &
              ' m is '//trim(merge('fluid', 'solid', e > elements%solid))// &
              ', and the volume has nothing of that kind there, above or '// &
              'below: correct the volume, or the table of materials')
  end subroutine MediaFill

  pure subroutine FillOne(earth, elements, e, found)
    type(model3d_t), intent(in) :: earth
    type(elements_t), intent(inout) :: elements
    integer, intent(in) :: e
    logical, intent(out) :: found
    real(dp) :: x(3, in_element), medium(parts), loss(2)
    integer :: p
    call HexPoints(elements%corner(:, :, e), x)
    loss = 0
    do p = 1, in_element
      call Between(earth, x(:, p), e > elements%solid, medium, found)
      if (.not. found) return
      elements%rho(p, e) = real(medium(3), sp)
      elements%mu(p, e) = real(medium(3)*medium(2)**2, sp)
      elements%lambda(p, e) = real(medium(3)*(medium(1)**2 - 2*medium(2)**2), sp)
      if (medium(5) > 0) loss = loss + Losses(medium(1), medium(2), medium(4), medium(5))/in_element
    end do
    elements%loss(:, e) = real(loss, sp)
  end subroutine FillOne

  !> The medium of a phase at a place [m].
  pure subroutine Between(earth, x, fluid, medium, found)
    type(model3d_t), intent(in) :: earth
    real(dp), intent(in) :: x(3)
    logical, intent(in) :: fluid
    real(dp), intent(out) :: medium(parts)
    logical, intent(out) :: found
    real(dp) :: place(3), beside(3), w, total, here(parts)
    integer :: first(3), n, corner(3)
    place = PlaceIn(earth, x)
    first = min(int(place), earth%part%high - 1)
    first = max(first, earth%part%low)
    beside = place - first
    medium = 0
    total = 0
    do n = 0, 7
      corner = [ibits(n, 0, 1), ibits(n, 1, 1), ibits(n, 2, 1)]
      w = product(merge(beside, 1 - beside, corner == 1))
      if (.not. w > 0) cycle
      here = Sample(earth, first + corner)
      if (.not. IsOf(here, fluid)) cycle
      medium = medium + w*here
      total = total + w
    end do
    found = total > 0
    if (found) then
      medium = medium/total
    else
      call InColumn(earth, nint(place), fluid, medium, found)
    end if
  end subroutine Between

  !> The next sample of a phase: of a solid below, else above, of a fluid above, else below.
  pure subroutine InColumn(earth, at, fluid, medium, found)
    type(model3d_t), intent(in) :: earth
    integer, intent(in) :: at(3)
    logical, intent(in) :: fluid
    real(dp), intent(out) :: medium(parts)
    logical, intent(out) :: found
    integer :: way, step, k
    found = .false.
    do way = 1, 2
      step = merge(1, -1, fluid .neqv. way == 1)
      k = at(3) + step
      do while (k >= earth%part%low(3) .and. k <= earth%part%high(3))
        medium = Sample(earth, [at(:2), k])
        found = IsOf(medium, fluid)
        if (found) return
        k = k + step
      end do
    end do
  end subroutine InColumn

end module elements_media_m
