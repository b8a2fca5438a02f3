!> Sentences on a fault for plan and log: its release, the points that do nothing and why, and suspicious values of its file.
module faultwords_m
  use finite_fault_m, only: fault_moment_t, finite_fault_t, fault_why, FaultAfter, FaultEnd, FaultMoment, FaultStart
  use moment_tensor_m, only: MomentMagnitude, MomentNorm
  use kinds_m, only: dp
  use text_m, only: PlaceText, Str
  implicit none
  private
  public :: release_t, FaultRelease, FaultLines, FaultDoubts, FaultPoint

  !> The release of a fault in the shots of a survey: the same in all, unless its rigidity is that of the model where they stand.
  type :: release_t
    type(fault_moment_t) :: least, most       !< the least and the largest release of all shots
    integer :: records(2) = 0                 !< which shots these are
    real(dp), allocatable :: rigidity(:)      !< of the first shot [Pa], at each point
    integer :: first = 0                      !< which shot this is
    real(dp) :: from(3) = 0                   !< and its position [m], from which places of the file count
    logical :: moves = .false.                !< other shots stand elsewhere
  end type release_t

contains

  !> One more shot at x, y, z [m]; `rigidity`: of the model at each point [Pa].
  pure subroutine FaultRelease(fault, rigidity, record, from, release)
    type(finite_fault_t), intent(in) :: fault
    real(dp), intent(in) :: rigidity(:)
    integer, intent(in) :: record
    real(dp), intent(in) :: from(3)
    type(release_t), intent(inout) :: release
    type(fault_moment_t) :: moment
    moment = FaultMoment(fault, rigidity)
    if (.not. allocated(release%rigidity)) then
      release = release_t(moment, moment, record, rigidity, record, from)
    else if (moment%norm < release%least%norm) then
      release%least = moment
      release%records(1) = record
    else if (moment%norm > release%most%norm) then
      release%most = moment
      release%records(2) = record
    end if
    release%moves = release%moves .or. any(abs(from - release%from) > 0)
  end subroutine FaultRelease

  !> Place in the model, moments with their magnitudes, points used, points dropped and why: a line each.
  pure function FaultLines(fault, release) result(s)
    type(finite_fault_t), intent(in) :: fault
    type(release_t), intent(in) :: release
    character(:), allocatable :: s, from
    integer :: used, potent, r
    used = count([.true., fault%point(2:fault%n) /= fault%point(:fault%n - 1)])
    potent = count(fault%potency)
    from = 'rigidity from the file'
    if (potent > 0) from = 'rigidity from the model'
    if (potent > 0 .and. potent < fault%n) from = 'rigidity from the file, or from the model where the file has none'
    s = Lies(fault, release)//new_line('a')//'moment '//Strength(release%least)
    if (release%records(1) /= release%records(2)) &
      s = 'moment of shot record '//Str(release%records(1))//', the least of all: '//Strength(release%least)//new_line('a')// &
          'moment of shot record '//Str(release%records(2))//', the largest: '//Strength(release%most)
    s = s//new_line('a')//from//'; Mw = (log10 M0 - 9.1)/1.5'//new_line('a')//Str(used)//' of '//Str(fault%points)//' points used'
    if (used < fault%points) s = s//', dropped:'
    do r = 1, size(fault_why)
      if (fault%dropped(r) > 0) s = s//' '//Str(fault%dropped(r))//' '//trim(fault_why(r))//','
    end do
    if (s(len(s):) == ',') s = s(:len(s) - 1)
  end function FaultLines

  !> The extent of the points that slip in the model, and the shot's position that puts them there.
  pure function Lies(fault, release) result(s)
    type(finite_fault_t), intent(in) :: fault
    type(release_t), intent(in) :: release
    character(:), allocatable :: s
    real(dp) :: low(3), high(3)
    low = minval(fault%x(:, :fault%n), 2) + release%from
    high = maxval(fault%x(:, :fault%n), 2) + release%from
    s = 'the fault lies at x = '//Extent(low(1), high(1))//', y = '//Extent(low(2), high(2))//', z = '//Extent(low(3), high(3))// &
        ' m of the model: its file counts from the position of shot record '//Str(release%first)//', '//PlaceText(release%from)
    if (abs(release%from(3)) > 0) s = s//', so it lies '//Str(abs(release%from(3)), 9)//' m '// &
                                      trim(merge('deeper    ', 'less deep ', release%from(3) > 0))//' than the file says'
    if (release%moves) s = s//'; with other shots it moves'
  end function Lies

  pure function Extent(a, b) result(s)
    real(dp), intent(in) :: a, b
    character(:), allocatable :: s
    s = Str(a, 9)
    if (b > a) s = s//' .. '//Str(b, 9)
  end function Extent

  !> The place of point i in the file, for sentences on its place in the model.
  pure function FaultPoint(fault, i) result(s)
    type(finite_fault_t), intent(in) :: fault
    integer, intent(in) :: i
    character(:), allocatable :: s
    s = 'by the fault file '//PlaceText(fault%x(:, i))//' from the shot''s position'
  end function FaultPoint

  pure function Strength(moment) result(s)
    type(fault_moment_t), intent(in) :: moment
    character(:), allocatable :: s
    s = Str(moment%norm, 5)//' N m'//Magnitude(moment%norm)//' of the sum of all tensors, |sum M|/sqrt(2); the points'' scalar '// &
        'moments sum to '//Str(moment%scalars, 5)//' N m'//Magnitude(moment%scalars)
  end function Strength

  pure function Magnitude(m0) result(s)
    real(dp), intent(in) :: m0
    character(:), allocatable :: s
    s = ''
    if (m0 > 0) s = ' (Mw '//Str(MomentMagnitude(m0), 3)//')'
  end function Magnitude

  !> Warnings before the run, a sentence a line, '' = none. `t_last`: the end of the record [s].
  function FaultDoubts(fault, path, release, t_last) result(s)
    type(finite_fault_t), intent(in) :: fault
    character(*), intent(in) :: path
    type(release_t), intent(in) :: release
    real(dp), intent(in) :: t_last
    character(:), allocatable :: s
    s = Differing(fault, path)
    if (fault%unread > 0) call Add('fault file '//path//' goes on at line '//Str(fault%unread)//' after the '//Str(fault%points)// &
                                   ' points that it announces: what follows is not read; correct the number after POINTS if it '// &
                                   'should be')
    if (FaultStart(fault) < 0) call Add('the fault begins to slip at '//Str(FaultStart(fault), 5)//' s: the modelling begins '// &
                                        'there, but traces begin at t = 0; add to its times to record all')
    call Add(Late(fault, release, t_last))

  contains

    pure subroutine Add(text)
      character(*), intent(in) :: text
      if (s /= '' .and. text /= '') s = s//new_line('a')
      s = s//text
    end subroutine Add

  end function FaultDoubts

  !> Points whose history does not make their slip.
  pure function Differing(fault, path) result(s)
    type(finite_fault_t), intent(in) :: fault
    character(*), intent(in) :: path
    character(:), allocatable :: s
    s = ''
    if (fault%differ == 0) return
    s = 'fault file '//path//': '//Str(fault%differ)//' of '//Str(fault%points)//' points have histories whose dt * sum(rate) '// &
        'differs from their slip by more than 1 %; the worst is point '//Str(fault%worst)//', slip '//Str(100*fault%told, 5)// &
        ' cm, dt * sum(rate) '//Str(100*fault%made, 5)//' cm; the histories are modelled: correct them if the slips are right'
  end function Differing

  !> A warning of what is released too late to be recorded; none for a ten-thousandth.
  pure function Late(fault, release, t_last) result(s)
    type(finite_fault_t), intent(in) :: fault
    type(release_t), intent(in) :: release
    real(dp), intent(in) :: t_last
    character(:), allocatable :: s
    real(dp) :: m0, all, after, part
    integer :: i, n
    s = ''
    all = 0
    after = 0
    n = 0
    do i = 1, fault%n
      m0 = MomentNorm(fault%m(:, i))*abs(fault%area(i))*merge(release%rigidity(i), 1.0_dp, fault%potency(i))
      part = FaultAfter(fault, i, t_last)
      all = all + m0
      after = after + m0*abs(part)
      if (abs(part) > 1e-4_dp) n = n + 1
    end do
    if (.not. after > 1e-4_dp*all) return
    s = Str(100*after/all, 3)//' % of the moment of the fault is released after the end of the record at '//Str(t_last, 5)// &
        ' s, by '//Str(n)//' of its points, the last of which slips until '//Str(FaultEnd(fault), 5)//' s: give a larger '// &
        'tmax to record all'
  end function Late

end module faultwords_m
