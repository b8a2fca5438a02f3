!> The pictures of a shot on elements: regular points, planes, names, counts of numbers.
module elements_pictures_m
  use checked_m, only: Above, Below, Whole
  use elements_m, only: in_element, on_face
  use elements_scheme_m, only: elements_scheme_t
  use error_m, only: error_t, Fail
  use kinds_m, only: dp, i8
  use parameter_table_m, only: SplitList
  use text_m, only: Str, ToReal
  use window_m, only: window_t
  use gather_m, only: numbers_most
  implicit none
  private
  public :: PictureSpacing, PicturePoints, PicturePlane, PictureName, PicturesCheck, PictureNumbers

  real(dp), parameter :: rounding = 1.0e-6_dp      !< of the spacing: a multiple so close to the end is inside
  real(dp), parameter :: apart = 1.0e-3_dp         !< planes that are closer have the same name [m]
  integer, parameter :: maps = 4                   !< of ground velocity three, and the ground where it has hills

contains

  !> 1, 2 or 5 times a power of ten that is at most half the longest edge [m].
  pure real(dp) function PictureSpacing(longest) result(d)
    real(dp), intent(in) :: longest
    real(dp), parameter :: step(3) = [1, 2, 5]
    real(dp) :: tens
    tens = 10.0_dp**floor(log10(longest/2))
    d = tens*maxval(step, step*tens <= longest/2*(1 + rounding))
  end function PictureSpacing

  !> Along each axis of a mesh the first point and how many there are: at the multiples of the spacing d within.
  pure subroutine PicturePoints(window, d, first, n)
    type(window_t), intent(in) :: window
    real(dp), intent(in) :: d
    real(dp), intent(out) :: first(3)
    integer, intent(out) :: n(3)
    real(dp) :: low(3), high(3)
    call Ends(window, low, high)
    first = Above(low/d - rounding)*d
    n = Whole(Below(high/d + rounding) - Above(low/d - rounding) + 1, 0)
  end subroutine PicturePoints

  pure subroutine Ends(window, low, high)
    type(window_t), intent(in) :: window
    real(dp), intent(out) :: low(3), high(3)
    low = [window%x0, window%y0, window%z0]
    high = low + [window%nx, window%ny, window%nz]*[window%dx, window%dy, window%dz]
  end subroutine Ends

  !> The axis and place of a plane; axis 3 of the top, 0 of the surface, -1 of the volume.
  subroutine PicturePlane(word, axis, place)
    character(*), intent(in) :: word
    integer, intent(out) :: axis
    real(dp), intent(out) :: place
    logical :: ok
    place = 0
    select case (word)
    case ('top')
      axis = 3
    case ('surface')
      axis = 0
    case ('volume')
      axis = -1
    case default
      axis = index('xyz', word(1:1))
      call ToReal(word(2:), place, ok)
    end select
  end subroutine PicturePlane

  !> 'vz_top', 'vz_x1200', 'vz_zm20': of a picture of a field. A place that is no whole number of metres is
  !> told in millimetres.
  function PictureName(field, word) result(name)
    character(*), intent(in) :: field, word
    character(:), allocatable :: name
    real(dp) :: place
    integer :: axis
    name = field//'_'//word
    if (any(word == [character(7) :: 'top', 'surface', 'volume'])) return
    call PicturePlane(word, axis, place)
    name = field//'_'//word(1:1)//trim(merge('m', ' ', place < 0))
    if (abs(place - anint(place)) < apart/2) then
      name = name//Str(nint(abs(place), i8))
    else
      name = name//Str(nint(abs(place)/apart, i8))//'mm'
    end if
  end function PictureName

  !> Planes must lie in the mesh, and all pictures fit into one message.
  subroutine PicturesCheck(scheme, record, window, error)
    type(elements_scheme_t), intent(in) :: scheme
    integer, intent(in) :: record
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    character(32), allocatable :: planes(:)
    real(dp) :: low(3), high(3), first(3)
    real(dp), allocatable :: place(:)
    integer, allocatable :: axis(:)
    integer :: n(3), p, q, a
    if (.not. (scheme%snapshot > 0 .or. scheme%pgv)) return
    call Ends(window, low, high)
    call PicturePoints(window, scheme%spacing, first, n)
    a = minloc(n, 1)
    if (n(a) < 1) then
      call Fail(error, 'no multiple of snapshot_dx = '//Str(scheme%spacing)//' m lies in the mesh along '//'xyz'(a:a)//', '// &
                Str(low(a), 9)//' .. '//Str(high(a), 9)//' m: give a smaller one')
    else if (scheme%pgv .and. scheme%pgv_depth >= high(3)) then
      call Fail(error, 'pgv_depth = '//Str(scheme%pgv_depth)//' m lies below the mesh, which ends at '//Str(high(3), 9)// &
                ' m: give a depth inside')
    end if
    if (allocated(error)) return
    if (.not. scheme%snapshot > 0) then
      call CheckNumbers()
      return
    end if
    allocate (planes, source=SplitList(scheme%planes))
    allocate (place(size(planes)), axis(size(planes)))
    do p = 1, size(planes)
      call PicturePlane(trim(planes(p)), axis(p), place(p))
      if (planes(p) == 'surface' .and. scheme%free_sides == 0) then
        call Fail(error, 'snapshot_planes: the mesh has no free side, so that it has no surface')
        return
      end if
      if (planes(p) == 'top' .or. axis(p) < 1) cycle
      a = axis(p)
      if (place(p) < low(a) .or. place(p) > high(a)) then
        call Fail(error, "snapshot_planes: '"//trim(planes(p))//"' lies outside the mesh, "//Str(low(a), 9)//' .. '// &
                  Str(high(a), 9)//' m along '//planes(p)(1:1))
        return
      end if
      do q = 1, p - 1
        if (planes(q) == 'top' .or. axis(q) /= a .or. abs(place(q) - place(p)) > apart) cycle
        call Fail(error, "snapshot_planes: '"//trim(planes(q))//"' and '"//trim(planes(p))//"' are the same plane: leave one out")
        return
      end do
    end do
    call CheckNumbers()

  contains

    subroutine CheckNumbers()
      if (PictureNumbers(scheme, window) <= numbers_most) return
      call Fail(error, 'the pictures of shot record '//Str(record)//' are '//Str(PictureNumbers(scheme, window), 3)// &
                ' numbers, which are too large, at most 2e9: take '//trim(merge('fewer (snapshot), coarser (snapshot_dx) or '// &
                'fewer planes', 'coarser ones (snapshot_dx)'//repeat(' ', 29), scheme%snapshot > 0)))
    end subroutine CheckNumbers
  end subroutine PicturesCheck

  !> Numbers of all pictures of a shot.
  real(dp) function PictureNumbers(scheme, window) result(numbers)
    type(elements_scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    character(32), allocatable :: planes(:)
    real(dp) :: first(3), place, of, times
    integer :: n(3), p, axis
    numbers = 0
    if (.not. (scheme%snapshot > 0 .or. scheme%pgv)) return
    call PicturePoints(window, scheme%spacing, first, n)
    if (scheme%snapshot > 0) then
      times = size(SplitList(scheme%fields))*(Below((scheme%nt_out - 1)*scheme%dt_out/scheme%snapshot) + 1)
      allocate (planes, source=SplitList(scheme%planes))
      do p = 1, size(planes)
        call PicturePlane(trim(planes(p)), axis, place)
        of = 0
        if (axis > 0) of = product(real(n, dp))/max(1, n(max(1, axis)))
        if (axis == 0) of = real(on_face, dp)*scheme%free_sides
        if (axis < 0) of = real(in_element, dp)*scheme%elements
        numbers = numbers + of*(times + merge(3, 0, axis < 1))
      end do
    end if
    numbers = numbers + merge(maps, 1, scheme%pgv)*real(n(1), dp)*n(2)
  end function PictureNumbers

end module elements_pictures_m
