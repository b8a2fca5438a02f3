!> Receivers of shear stress in a fluid, which has none: their traces are 0. Refused where all of a shot are, told otherwise.
module shear_in_fluids_m
  use error_m, only: error_t, Fail
  use kinds_m, only: dp
  use shot_m, only: shot_t
  use text_m, only: Str
  use told_receivers_m, only: told_receivers_t, ToldAdd
  implicit none
  private
  public :: RecordsShear, ShearInFluids, ShearInFluidsWords

contains

  !> sxy, sxz or syz.
  elemental logical function RecordsShear(component)
    character(*), intent(in) :: component
    RecordsShear = any(component == [character(3) :: 'sxy', 'sxz', 'syz'])
  end function RecordsShear

  !> Looks at a shot that records these components; wet: those of its receivers that stand in a fluid.
  subroutine ShearInFluids(told, shot, components, wet, error)
    type(told_receivers_t), intent(inout) :: told
    type(shot_t), intent(in) :: shot
    character(*), intent(in) :: components(:)
    logical, intent(in) :: wet(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: r
    if (.not. any(RecordsShear(components))) return
    if (all(RecordsShear(components)) .and. all(wet)) then
      call Fail(error, 'shot record '//Str(shot%record)//': every trace would be 0: all receivers stand in a fluid, which '// &
                'has no shear stress: record pressure (components=p), or put them into rock')
      return
    end if
    do r = 1, size(wet)
      if (wet(r)) call ToldAdd(told, shot, r, 1.0_dp, .true.)
    end do
  end subroutine ShearInFluids

  !> The warning of the shots looked at.
  function ShearInFluidsWords(told) result(words)
    type(told_receivers_t), intent(in) :: told
    character(:), allocatable :: words
    words = Str(told%n)//' receiver(s) stand in a fluid, which has no shear stress, the first of them '//told%first// &
            ': their traces of sxy, sxz and syz will be 0; leave these out of components, or put the receivers into rock'
  end function ShearInFluidsWords

end module shear_in_fluids_m
