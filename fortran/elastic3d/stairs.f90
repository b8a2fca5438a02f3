!> Ground that is made of stairs: of air and rock, and how far off it makes motion on slopes; of water and rock, how far off it
!> makes waves along it, how layers let grow what is held there, and where narrow differences are to prevent it.
module stairs_m
  use kinds_m, only: dp
  use model3d_m, only: model3d_t
  use scheme_m, only: scheme_t, SchemeWarn
  use text_m, only: Str
  implicit none
  private
  public :: StairsWarn, SeabedWarn, FloorStairsWarn, WantsNarrow

  real(dp), parameter :: stairs_most = 0.04_dp    !< of the motion of the ground: errors above are told

  !> Largest growth measured in layers of PML that a sea floor with steps runs through, by half-length, decades in 1000 steps.
  real(dp), parameter :: growth(4) = [0.0_dp, 0.5_dp, 1.0_dp, 1.5_dp]
  real(dp), parameter :: growth_most = 3          !< decades in a record: more is told. Late waves are some thousandth of the first

contains

  !> Differences along layers of PML at the sides are to be narrow in them (accuracy.md, t623): where that is something else
  !> and `word` (layer_differences) asks for it; with `auto` where the sea floor has steps, whatever the length of the record: a
  !> longer one begins with the same samples.
  pure logical function WantsNarrow(word, earth, scheme)
    character(*), intent(in) :: word
    type(model3d_t), intent(in) :: earth
    class(scheme_t), intent(in) :: scheme
    WantsNarrow = .false.
    if (word == 'full' .or. .not. SidesGrow(scheme)) return
    WantsNarrow = word == 'narrow'
    if (.not. WantsNarrow) WantsNarrow = Steps(earth)
  end function WantsNarrow

  !> A sea floor with steps runs through layers of PML: they let slow waves grow that differences longer than one cell hold there
  !> (elastic3d/accuracy.md, t623). `narrow`: not these.
  subroutine SeabedWarn(earth, scheme, narrow)
    type(model3d_t), intent(in) :: earth
    class(scheme_t), intent(inout) :: scheme
    logical, intent(in) :: narrow
    real(dp) :: rate
    if (narrow .or. .not. SidesGrow(scheme)) return
    rate = growth(min(scheme%half_length, size(growth)))
    if (.not. rate*scheme%nt/1000 > growth_most) return
    if (.not. Steps(earth)) return
    call SchemeWarn(scheme, 'the sea floor has steps, and with half_length = '//Str(scheme%half_length)//' layers of '// &
              'absorb=pml let slow waves along them grow, up to tenfold in '//Str(nint(1000/rate))//' steps: the record has '// &
              Str(scheme%nt)//' steps, more than '//Str(nint(1000*growth_most/rate))//'; give layer_differences=narrow, '// &
              'half_length=1 or absorb=sponge, or a shorter tmax, if a shot blows up or traces grow towards their end')
  end subroutine SeabedWarn

  !> A sea floor with steps scatters waves and holds them back. Pressure in the water and motion of rock, up to 40 cells along
  !> floors that dip by up to 15 degrees, are off by up to 41 % at 10 points per shortest wavelength and 9.5 % at 20, most where S
  !> waves of the rock are about as fast as sound in the water (elastic3d/accuracy.md, t628).
  subroutine FloorStairsWarn(earth, scheme)
    type(model3d_t), intent(in) :: earth
    class(scheme_t), intent(inout) :: scheme
    real(dp), parameter :: points = 10, off = 0.41_dp, order = log(0.41_dp/0.095_dp)/log(2.0_dp)
    real(dp) :: error
    error = off*(points/scheme%ppw)**order
    if (.not. error > 0.1_dp .or. .not. Steps(earth)) return
    call SchemeWarn(scheme, 'the sea floor is made of stairs of cells, which scatter: at '//Str(scheme%ppw, 3)//' points per '// &
              'shortest wavelength waves along it are off by up to '//Str(min(100*error, 100.0_dp), 2)//' %, over sand by a '// &
              'third of that; 20 points leave 10 %: a spacing of '//Str(scheme%vmin/(20*scheme%fmax), 3)//' m')
  end subroutine FloorStairsWarn

  !> The sides are layers of PML, and differences reach over more than one cell.
  pure logical function SidesGrow(scheme)
    class(scheme_t), intent(in) :: scheme
    SidesGrow = scheme%npml > 0 .and. scheme%half_length > 1 .and. .not. (scheme%sponge .or. scheme%periodic)
  end function SidesGrow

  pure logical function Steps(earth)
    type(model3d_t), intent(in) :: earth
    Steps = .false.
    if (allocated(earth%seabed)) Steps = HasSteps(earth%seabed)
  end function Steps

  !> Rock below water begins at another depth than beside it.
  pure logical function HasSteps(seabed)
    integer, intent(in) :: seabed(:, :)
    integer :: n(2)
    n = shape(seabed)
    HasSteps = any(Differ(seabed(2:, :), seabed(:n(1) - 1, :))) .or. any(Differ(seabed(:, 2:), seabed(:, :n(2) - 1)))
  end function HasSteps

  elemental logical function Differ(a, b)
    integer, intent(in) :: a, b
    Differ = a /= b .and. a > 0 .and. b > 0
  end function Differ

  !> Ground made of air above rock is made of stairs. On a hill with slopes to 32 degrees stations are off by 15 % with 16 points
  !> per shortest S wavelength, by 3.9 % with 32 (elastic3d/accuracy.md).
  subroutine StairsWarn(earth, scheme)
    type(model3d_t), intent(in) :: earth
    class(scheme_t), intent(inout) :: scheme
    real(dp), parameter :: points = 16, off = 0.15_dp, order = log(0.15_dp/0.039_dp)/log(2.0_dp)
    real(dp) :: slowest, n, error
    if (earth%layers%n > 0) return
    slowest = SlowestStair(earth)
    if (.not. slowest > 0) return
    n = slowest/(scheme%fmax*max(scheme%dx, scheme%dy, scheme%dz))
    error = off*(points/n)**order
    if (.not. error > stairs_most*(1 + 1e-6_dp)) return
    call SchemeWarn(scheme, 'the ground is made of stairs of air and rock: at '//Str(n, 3)//' points per shortest S '// &
              'wavelength, vs = '//Str(slowest, 4)//' m/s at fmax = '//Str(scheme%fmax, 3)//' Hz, motion on slopes is off by '// &
              'some '//Str(min(100*error, 100.0_dp), 2)//' %; 16 points leave 15 %, 32 points 4 %: a spacing of '// &
              Str(slowest/(32*scheme%fmax), 3)//' m')
  end subroutine StairsWarn

  !> The slowest S wave [m/s] of rock that begins, under air, at another depth than beside it; 0: the ground is flat, or none.
  pure real(dp) function SlowestStair(e) result(slowest)
    type(model3d_t), intent(in) :: e
    integer :: i, j
    slowest = 0
    do j = 1, e%n(2)
      do i = 1, e%n(1)
        call Step(i, j, min(i + 1, e%n(1)), j)
        call Step(i, j, i, min(j + 1, e%n(2)))
      end do
    end do

  contains

    !> Both columns of a step are its rock.
    pure subroutine Step(i, j, m, n)
      integer, intent(in) :: i, j, m, n
      if (e%ground(i, j) == e%ground(m, n)) return
      call Slower(real(e%ground_vs(i, j), dp))
      call Slower(real(e%ground_vs(m, n), dp))
    end subroutine Step

    pure subroutine Slower(vs)
      real(dp), intent(in) :: vs
      if (.not. vs > 0) return
      if (slowest > 0) slowest = min(slowest, vs)
      if (.not. slowest > 0) slowest = vs
    end subroutine Slower

  end function SlowestStair

end module stairs_m
