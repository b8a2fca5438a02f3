!> Checks that a model can be what it is said to be: axes in the order declared, velocities in m/s, densities in kg/m3.
!>
!> Water and sediments are 1450 to 3000 m/s, rock of the crust up to 7500, of the upper mantle to 8500; 400 km down it is 9000.
!> In ft/s that is 4757 to 28000: a model without anything below 4600 and with more than 9000, or with something as light as water,
!> is in ft/s; one whose slowest fluid is within 4750 .. 5100, water in ft/s, may be.
!>
!> Rock less than 300 km deep is no denser than 3500 kg/m3 (PREM), but for ores; what is lighter than 900, lighter than ice, has no
!> wave as fast as water has; and Poisson's ratio, below 0 where vs is above 0.707 vp, is so of hardly any rock.
module modelcheck_m
  use error_m, only: error_t, Fail
  use kinds_m, only: dp
  use parameters_m, only: job_t
  use model_samples_m, only: fastest_rock, velocity_feet
  use text_m, only: Str
  implicit none
  private
  public :: ranges_t, ModelCheck

  real(dp), parameter :: water_feet(2) = [4750.0_dp, 5100.0_dp]   !< 1448 .. 1554 m/s
  real(dp), parameter :: deep = 3.0e5_dp          !< [m]; above, no rock is faster than fastest_rock
  real(dp), parameter :: light = 1100             !< only water and mud are lighter, and no waves are fast there [kg/m3]
  real(dp), parameter :: denser = 1.3_dp          !< densities that differ so much are not a constant in place of the true ones
  real(dp), parameter :: grams = 10               !< below this density there is no fluid or rock [kg/m3] ...
  real(dp), parameter :: solid = 1000             !< ... with waves faster than this, as no gas has [m/s]
  real(dp), parameter :: heavy = 3700             !< hardly any rock is so dense that is not deep [kg/m3]
  real(dp), parameter :: ice = 900, water = 1400  !< what is lighter [kg/m3] is slower [m/s]
  real(dp), parameter :: odd = sqrt(0.5_dp)       !< vs/vp where Poisson's ratio is 0

  !> Ranges of a model.
  type :: ranges_t
    real(dp) :: slowest = 0, fastest = 0     !< P velocities [m/s]
    real(dp) :: fluid = 0                    !< of its slowest fluid; in 2D all may be fluid [m/s]
    real(dp) :: stiffest = 0                 !< largest vs/vp
    real(dp) :: bottom = 0                   !< where it ends [m]
    real(dp) :: rhomin = 0, rhomax = 0       !< [kg/m3]
    logical :: told = .false.                !< the user gave densities that differ from place to place
  end type ranges_t

contains

  !> Adds to `doubts`, a line each, what may be wrong with a model; enters with those of its files. Fails on what surely is, unless
  !> model_check=warn, which makes it a doubt.
  subroutine ModelCheck(job, ranges, doubts, error)
    type(job_t), intent(in) :: job
    type(ranges_t), intent(in) :: ranges
    character(:), allocatable, intent(inout) :: doubts
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: files
    files = doubts
    doubts = ''
    if (files /= '') call Certain(files)
    associate (slowest => ranges%slowest, fastest => ranges%fastest, fluid => ranges%fluid)
      if (slowest >= velocity_feet .and. fastest > fastest_rock .and. ranges%bottom < deep) then
        call Certain(Feet('nothing less than 300 km deep is faster than '//Str(fastest_rock)//' m/s'))
      else if (slowest >= velocity_feet .and. ranges%told .and. ranges%rhomin < light .and. &
               ranges%rhomax > denser*ranges%rhomin) then
        call Certain(Feet('nothing as light as '//Str(ranges%rhomin, 4)//' kg/m3 is so fast'))
      else if (fluid >= water_feet(1) .and. fluid <= water_feet(2) .and. fastest > 1.1_dp*fluid) then
        call Doubt(Feet(Str(fluid)//' ft/s would be water'))
      end if
      if (.not. ranges%told .and. job%rho_value < grams .and. slowest > solid) &
        call Certain('rho_value = '//Str(job%rho_value)//' kg/m3 looks like g/cm3: give kg/m3, 1000 for water')
    end associate
    call Exchanged()

  contains

    function Feet(why) result(text)
      character(*), intent(in) :: why
      character(:), allocatable :: text
      text = 'P velocities of '//Str(ranges%slowest)//' .. '//Str(ranges%fastest)//' m/s look like ft/s, '//why// &
             ': set vp_unit=ft/s, or correct the units of the file, and see that lengths are metres'
    end function Feet

    !> Numbers that are possible, but more likely those of another file.
    subroutine Exchanged()
      character(*), parameter :: question = ': is another file, or column, in its place?'
      if (ranges%stiffest > odd) call Doubt('vs is up to '//Str(ranges%stiffest, 3)//' vp, and 0.707 vp, where Poisson''s '// &
        'ratio is 0, is more than that of most rock'//question)
      if (.not. ranges%told) return
      if (ranges%rhomax > heavy .and. ranges%bottom < deep) call Doubt('rho is up to '//Str(ranges%rhomax, 5)// &
        ' kg/m3, and rock less than 300 km deep has at most '//Str(heavy)//', but for ores'//question)
      if (ranges%rhomin < ice .and. ranges%slowest > water) call Doubt('rho is down to '//Str(ranges%rhomin, 4)// &
        ' kg/m3, and nothing lighter than '//Str(ice)//', as ice is, has waves of '//Str(ranges%slowest, 5)//' m/s and more'// &
        question)
    end subroutine Exchanged

    subroutine Doubt(text)
      character(*), intent(in) :: text
      if (doubts /= '') doubts = doubts//new_line('a')
      doubts = doubts//text
    end subroutine Doubt

    subroutine Certain(text)
      character(*), intent(in) :: text
      if (job%model_check == 'warn') then
        call Doubt(text)
      else
        call Fail(error, text//'; model_check=warn takes it as it is')
      end if
    end subroutine Certain

  end subroutine ModelCheck

end module modelcheck_m
