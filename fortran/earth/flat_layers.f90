!> Flat layers: a text, a line a layer from the top down, `#` begins a comment:
!>
!>     # top [m]   vp    vs [m/s]  rho [kg/m3]   Qp   Qs
!>          0    4000   2000      2600           155  40
!>       1000    6000   3464      2700           180  69.3
!>
!> Qp and Qs may be left out, in all lines or none; vs = 0 is a fluid, whose Qs may be any number, and whose Qp 0, none. The last
!> layer goes on for ever.
module flat_layers_m
  use error_m, only: error_t, Fail
  use heeded_quality_m, only: QsHeeded
  use kinds_m, only: dp
  use text_m, only: Str
  use textfile_m, only: textfile_t, TextAdvise, TextLine, TextNumbers, TextOpen, TextWord, TitleAdvice
  implicit none
  private
  public :: flat_layers_t, FlatLayersRead

  integer, parameter :: layers_most = 20000   !< each is moved as often as one follows it, and more are a volume
  real(dp), parameter :: LIGHT = 30.0_dp      !< no water or rock is so light in kg/m3, and none so heavy in g/cm3

  type :: flat_layers_t
    integer :: n = 0
    logical :: attenuates = .false.
    real(dp), allocatable :: top(:)           !< (n) [m], rising
    real(dp), allocatable :: medium(:, :)     !< (5, n) vp, vs [m/s], rho [kg/m3], 1/Qp, 1/Qs
  end type flat_layers_t

contains

  !> Fails on a line that is no layer, tops that do not rise, densities in g/cm3, and a file without a layer.
  subroutine FlatLayersRead(path, layers, error)
    character(*), intent(in) :: path
    type(flat_layers_t), intent(out) :: layers
    type(error_t), allocatable, intent(inout) :: error
    type(textfile_t) :: file
    real(dp) :: v(6)
    integer :: found, columns
    call TextOpen(file, path, 'table of layers', error)
    if (allocated(error)) return
    layers%top = [real(dp) ::]
    allocate (layers%medium(5, 0))
    columns = 0
    do while (TextLine(file))
      call ReadLine(file, v, found, error)
      call TextAdvise(file, error)
      if (allocated(error)) return
      if (columns == 0) columns = found
      if (found /= columns .or. .not. (found == 4 .or. found == 6)) then
        call Fail(error, Here(file)//Str(found)//' numbers, must be 4 (top, vp, vs, rho) or 6 (and Qp, Qs) in every line alike')
      else
        call Add(file, v, found == 6, layers, error)
      end if
      call TextAdvise(file, error)
      if (allocated(error)) return
    end do
    if (layers%n == 0) then
      call Fail(error, 'table of layers '//path//' holds no layer: give a line a layer, top, vp, vs, rho')
    else if (maxval(layers%medium(3, :)) < LIGHT) then
      call Fail(error, 'table of layers '//path//': densities '//Str(minval(layers%medium(3, :)))//' .. '// &
                Str(maxval(layers%medium(3, :)))//' kg/m3 look like g/cm3: give them in kg/m3')
    end if
    layers%attenuates = columns == 6
  end subroutine FlatLayersRead

  subroutine ReadLine(file, v, found, error)
    type(textfile_t), intent(inout) :: file
    real(dp), intent(out) :: v(6)
    integer, intent(out) :: found
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: bad
    integer :: first, last
    call TextNumbers(file, v, found, bad)
    if (bad /= '') then
      call Fail(error, Here(file)//bad//' is no number: a line holds top [m], vp, vs [m/s], rho [kg/m3] and, where waves '// &
                'attenuate, Qp, Qs'//TitleAdvice(bad(2:len(bad) - 1)))
    else if (found == size(v)) then
      if (TextWord(file, first, last)) call Fail(error, Here(file)//'more than '//Str(size(v))//' numbers')
    end if
  end subroutine ReadLine

  subroutine Add(file, v, attenuates, layers, error)
    type(textfile_t), intent(in) :: file
    real(dp), intent(in) :: v(6)
    logical, intent(in) :: attenuates
    type(flat_layers_t), intent(inout) :: layers
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: more(:, :)
    real(dp) :: q(2)
    logical :: heeded(2)
    character(:), allocatable :: what
    if (layers%n == layers_most) &
      call Fail(error, Here(file)//'more than '//Str(layers_most)//' layers: give fewer, or volumes (vp=, vs=, rho=)')
    if (allocated(error)) return
    heeded(2) = attenuates .and. QsHeeded(v(2), v(3))
    heeded(1) = heeded(2) .or. (attenuates .and. abs(v(5)) > 0)    ! 0: none in a fluid
    if (layers%n > 0) then
      if (v(1) <= layers%top(layers%n)) call Fail(error, Here(file)//'top = '//Str(v(1))//' m, must be below the layer before, '// &
                                                  Str(layers%top(layers%n))//' m')
    end if
    if (abs(v(1)) > 1.0e7_dp) then
      call Fail(error, Here(file)//'top = '//Str(v(1))//' m, must be -1e7 .. 1e7')
    else if (v(2) < 50 .or. v(2) > 15000 .or. v(4) < 1 .or. v(4) > 30000) then
      call Fail(error, Here(file)//'vp = '//Str(v(2))//' m/s, rho = '//Str(v(4))//' kg/m3, must be 50 .. 15000 and 1 .. 30000'// &
                trim(merge(' (km/s? give m/s)', '                 ', v(2) > 0.05_dp .and. v(2) < 15)))
    else if (v(3) < 0 .or. v(3) > sqrt(0.75_dp)*v(2)*(1 + 1e-12_dp)) then
      call Fail(error, Here(file)//'vs = '//Str(v(3))//' m/s, must be 0 (a fluid) or more, and less than 0.866 vp = '// &
                Str(sqrt(0.75_dp)*v(2), 6)//' m/s')
    else if (any(heeded .and. v(5:) < 1)) then
      what = 'Qp = '//Str(v(5))
      if (heeded(2)) what = what//', Qs = '//Str(v(6))
      call Fail(error, Here(file)//what//', must be 1 or more, 1e9 where nothing attenuates')
    end if
    if (allocated(error)) return
    q = 0
    where (heeded) q = 1/v(5:)
    layers%n = layers%n + 1
    layers%top = [layers%top, v(1)]
    allocate (more(5, layers%n))
    more(:, :layers%n - 1) = layers%medium
    more(:, layers%n) = [v(2:4), q]
    call move_alloc(more, layers%medium)
  end subroutine Add

  function Here(file) result(s)
    type(textfile_t), intent(in) :: file
    character(:), allocatable :: s
    s = 'table of layers '//file%path//', line '//Str(file%line)//': '
  end function Here

end module flat_layers_m
