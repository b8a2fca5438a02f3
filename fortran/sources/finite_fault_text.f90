!> Reads faults from text: SRF, and plain lines tensor and dc. Arguments stand in finite_fault.f90.
submodule(finite_fault_m) finite_fault_text
  use moment_tensor_m, only: MomentPlace, MomentTensor
  use text_m, only: Lower
  use textfile_m, only: IntegerOf, NumberOf, Shown, textfile_t, TextAdvise, TextLine, TextNumbers, TextOpen, TextWord
  implicit none

contains

  module procedure FaultRead
    type(textfile_t) :: file
    real(dp) :: version
    logical :: ok
    integer :: first, last
    call TextOpen(file, path, 'fault file', error)
    if (allocated(error)) return
    call FaultBegin(fault)
    if (.not. TextLine(file)) then
      call Fail(error, 'fault file '//path//' holds no line: give SRF, or lines tensor or dc')
      return
    end if
    if (TextWord(file, first, last)) call NumberOf(file%text(first:last), version, ok)
    if (ok) then
      call ReadSrf(file, Whole(version, -1, 1000), origin, azimuth, fault, error)
    else
      call ReadPlain(file, first, last, azimuth, fault, error)
    end if
    call TextAdvise(file, error)
    call FaultDone(fault, path, error)
  end procedure FaultRead

  subroutine ReadSrf(file, version, origin, azimuth, fault, error)
    type(textfile_t), intent(inout) :: file
    integer, intent(in) :: version
    real(dp), intent(in) :: origin(2), azimuth
    type(finite_fault_t), intent(inout) :: fault
    type(error_t), allocatable, intent(inout) :: error
    integer :: first, last, i, n
    real(dp) :: number
    logical :: planes, ok
    if (version < 1 .or. version > 2) then
      call Fail(error, 'fault file '//file%path//' is SRF version '//Str(version)//', known are 1.0 and 2.0')
      return
    end if
    planes = .false.
    do while (TextLine(file))
      if (.not. TextWord(file, first, last)) cycle
      select case (Lower(file%text(first:last)))
      case ('plane')
        n = Count_(file, error)
        planes = n > 0
      case ('points')
        n = Count_(file, error)
        planes = .false.
        do i = 1, n
          call ReadSrfPoint(file, version, origin, azimuth, fault, error)
          if (allocated(error)) return
        end do
        if (version == 1) then                      ! has one block; files made by cutting longer ones go on with half a point
          if (TextLine(file)) fault%unread = file%line
          return
        end if
      case default
        call NumberOf(file%text(first:last), number, ok)
        if (planes .and. ok) cycle                  ! what planes are like nothing asks for
        call Fail(error, Here(file)//Shown(file%text(first:last))//' stands where PLANE or POINTS must')
      end select
      if (allocated(error)) return
    end do
  end subroutine ReadSrf

  !> 15 or 17 numbers and the samples of up to three directions of slip: along the rake, 90 degrees from it, opening. A point begins
  !> on a line of its own, within it lines end where the writer liked. Units of the file: cm2, cm, cm/s, cm/s and g/cm3.
  subroutine ReadSrfPoint(file, version, origin, azimuth, fault, error)
    type(textfile_t), intent(inout) :: file
    integer, intent(in) :: version
    real(dp), intent(in) :: origin(2), azimuth
    type(finite_fault_t), intent(inout) :: fault
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: head(10), slip(7), xy(2), rigidity, m(6), made(3)
    real(sp), allocatable :: rate(:)
    integer :: n, d, nt, before, why
    if (.not. TextLine(file)) then
      call Fail(error, Here(file)//'the file ends before the last point')
      return
    end if
    n = HeadLength(file, version)
    head = 0
    call Numbers(file, head(:n), error)
    call Numbers(file, slip, error)
    if (allocated(error)) return
    rigidity = 0
    if (head(9) > 0 .and. head(10) > 0) rigidity = 1000*head(10)*(head(9)/100)**2
    if (.not. (head(8) > 0 .and. head(6) >= 0)) then
      call Fail(error, Here(file)//'area '//Str(head(6))//' cm2 and interval '//Str(head(8))//' s must be above 0')
      return
    end if
    xy = MomentPlace(head(1), head(2), origin(1), origin(2), azimuth)
    fault%points = fault%points + 1
    before = fault%n
    why = no_slip
    if (any(abs(slip(3::2) - anint(slip(3::2))) > 0)) then
      call Fail(error, Here(file)//'NT1, NT2, NT3 = '//Str(slip(3))//', '//Str(slip(5))//', '//Str(slip(7))// &
                ' must be whole numbers: are numbers of the point missing before them?')
      return
    end if
    do d = 1, 3
      nt = Whole(slip(2*d + 1), -100000000, 100000000)
      call Samples(file, nt, rate, error)
      if (d == 3) call LineEnds(file, sum(Whole(slip(3::2), 0, 100000000)), error)
      if (allocated(error)) return
      made(d) = 0.01_dp*head(8)*sum(real(rate, dp))
      if (.not. any(abs(rate) > 0)) then
        if (abs(slip(2*d)) > 0 .and. why == no_slip) why = no_history
        cycle
      end if
      if (d == 3) then
        call Fail(error, Here(file)//'the point opens (slip3): only slip along the fault can be modelled')
        return
      end if
      why = no_area
      if (.not. head(6) > 0) cycle
      m = MomentTensor(head(4), head(5), slip(1) + merge(0, 90, d == 1), azimuth)*1.0e-4_dp*head(6)   ! potency of 1 m: [m3]
      if (rigidity > 0) m = rigidity*m
      call FaultAdd(fault, [xy, 1000*head(3)], m, .not. rigidity > 0, head(7), head(8), 0.01_sp*rate, error)
    end do
    if (fault%n == before) fault%dropped(why) = fault%dropped(why) + 1
    if (head(6) > 0) call Compare(fault, 0.01_dp*slip(2:6:2), made)
  end subroutine ReadSrfPoint

  !> Numbers before the rake of the point that begins here: 8 of version 1.0; 10 of 2.0, which adds velocity and density. Where
  !> lines are the customary two, as many as stand on the first: some files of 2.0 lack these, some of 1.0 have them.
  integer function HeadLength(file, version) result(n)
    type(textfile_t), intent(inout) :: file
    integer, intent(in) :: version
    integer :: words(2), line, first, last, here(4)
    here = [file%line, file%next, file%at, file%last]
    words = 0
    do line = 1, 2
      do while (words(line) <= 10)
        if (.not. TextWord(file, first, last)) exit
        words(line) = words(line) + 1
      end do
      if (.not. TextLine(file)) exit
    end do
    file%line = here(1)
    file%next = here(2)
    file%at = here(3)
    file%last = here(4)
    n = merge(8, 10, version == 1)
    if (words(2) == 7 .and. (words(1) == 8 .or. words(1) == 10)) n = words(1)
  end function HeadLength

  !> Keeps what point fault%points makes of its slips [m], where that is more than a hundredth off.
  pure subroutine Compare(fault, told, made)
    type(finite_fault_t), intent(inout) :: fault
    real(dp), intent(in) :: told(3), made(3)
    real(dp) :: off(3)
    integer :: d
    off = 0
    where (abs(made - told) > max(slip_off*abs(told), slip_digit)) off = abs(made - told)/max(abs(made), abs(told))
    d = maxloc(off, 1)
    if (.not. off(d) > 0) return
    fault%differ = fault%differ + 1
    if (fault%worst > 0) then
      if (off(d) <= abs(fault%made - fault%told)/max(abs(fault%made), abs(fault%told))) return
    end if
    fault%worst = fault%points
    fault%told = told(d)
    fault%made = made(d)
  end subroutine Compare

  !> The first word of the first line is read already.
  subroutine ReadPlain(file, first, last, azimuth, fault, error)
    type(textfile_t), intent(inout) :: file
    integer, intent(inout) :: first, last
    real(dp), intent(in) :: azimuth
    type(finite_fault_t), intent(inout) :: fault
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: v(12), m(6)
    real(sp), allocatable :: rate(:)
    character(:), allocatable :: kind
    integer :: n, found
    do
      kind = Lower(file%text(first:last))
      if (kind /= 'tensor' .and. kind /= 'dc') then
        call Fail(error, Here(file)//Shown(file%text(first:last))//' stands where tensor or dc must, or an SRF version')
        return
      end if
      n = merge(12, 10, kind == 'tensor')
      call RestOfLine(file, n, v(:n), found, error)
      if (allocated(error)) return
      if (.not. (v(n - 1) > 0 .and. v(n) >= 1 .and. v(n) <= 1.0e8_dp)) then
        call Fail(error, Here(file)//'DT = '//Str(v(n - 1))//' s must be above 0, NT = '//Str(v(n))//' 1 or more')
        return
      end if
      if (kind == 'tensor') then
        m = v(4:9)
      else
        m = v(7)*MomentTensor(v(4), v(5), v(6), azimuth)
      end if
      call Samples(file, Whole(v(n)), rate, error)
      call LineEnds(file, Whole(v(n)), error)
      call FaultTake(fault, v(1:3), m, v(n - 2), v(n - 1), rate, error)
      if (allocated(error)) return
      if (.not. TextLine(file)) return
      if (.not. TextWord(file, first, last)) return
    end do
  end subroutine ReadPlain

  function Here(file) result(s)
    type(textfile_t), intent(in) :: file
    character(:), allocatable :: s
    s = 'fault file '//file%path//', line '//Str(file%line)//': '
  end function Here

  !> The number after PLANE or POINTS.
  integer function Count_(file, error) result(n)
    type(textfile_t), intent(inout) :: file
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: value
    integer :: first, last
    logical :: ok
    ok = TextWord(file, first, last)
    if (ok) call IntegerOf(file%text(first:last), value, ok)
    n = 0
    if (ok) ok = value >= 0 .and. value <= fault_points
    if (ok) n = Whole(value)
    if (.not. ok) call Fail(error, Here(file)//'how many follow? give a number of 0 .. '//Str(fault_points))
  end function Count_

  !> The next word, on this line or one after it; false at the end of the file.
  logical function NextWord(file, first, last) result(found)
    type(textfile_t), intent(inout) :: file
    integer, intent(out) :: first, last
    found = TextWord(file, first, last)
    if (found) return
    if (TextLine(file)) found = TextWord(file, first, last)
  end function NextWord

  !> The next size(v) numbers.
  subroutine Numbers(file, v, error)
    type(textfile_t), intent(inout) :: file
    real(dp), intent(out) :: v(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: i, first, last
    logical :: ok
    v = 0
    if (allocated(error)) return
    do i = 1, size(v)
      if (.not. NextWord(file, first, last)) then
        call Fail(error, Here(file)//'the file ends in the midst of a point')
        return
      end if
      call NumberOf(file%text(first:last), v(i), ok)
      if (ok) ok = abs(v(i)) <= 1.0e30_dp
      if (.not. ok) then
        call Fail(error, Here(file)//Shown(file%text(first:last))//' is no number up to 1e30')
        return
      end if
    end do
  end subroutine Numbers

  subroutine RestOfLine(file, least, v, found, error)
    type(textfile_t), intent(inout) :: file
    integer, intent(in) :: least
    real(dp), intent(out) :: v(:)
    integer, intent(out) :: found
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: bad
    call TextNumbers(file, v, found, bad, 1.0e30_dp)
    if (bad /= '') then
      call Fail(error, Here(file)//bad//' is no number up to 1e30')
    else if (found < least) then
      call Fail(error, Here(file)//Str(found)//' numbers, '//Str(least)//' must stand here')
    end if
  end subroutine RestOfLine

  !> The next nt numbers.
  subroutine Samples(file, nt, rate, error)
    type(textfile_t), intent(inout) :: file
    integer, intent(in) :: nt
    real(sp), allocatable, intent(out) :: rate(:)
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: value
    integer :: first, last, n
    logical :: ok
    if (allocated(error)) return
    if (nt < 0) then
      call Fail(error, Here(file)//Str(nt)//' samples: give 0 or more')
    else if (nt > len(file%text) - file%next + 1000000) then         ! no memory for what cannot be there
      call Fail(error, Here(file)//'the file ends before the '//Str(nt)//' samples of a point: is it cut short?')
    end if
    if (allocated(error)) return
    allocate (rate(nt))
    do n = 1, nt
      if (.not. NextWord(file, first, last)) then
        call Fail(error, Here(file)//'the file ends after '//Str(n - 1)//' of '//Str(nt)//' samples of a point')
        return
      end if
      call NumberOf(file%text(first:last), value, ok)
      if (ok) ok = abs(value) < 1.0e30_dp
      if (.not. ok) then
        call Fail(error, Here(file)//Shown(file%text(first:last))//' is no sample of a history')
        return
      end if
      rate(n) = real(value, sp)
    end do
  end subroutine Samples

  !> Nothing stands behind the nt samples of a point.
  subroutine LineEnds(file, nt, error)
    type(textfile_t), intent(inout) :: file
    integer, intent(in) :: nt
    type(error_t), allocatable, intent(inout) :: error
    integer :: first, last
    if (allocated(error)) return
    if (TextWord(file, first, last)) call Fail(error, Here(file)//'more samples than the '//Str(nt)//' announced')
  end subroutine LineEnds

end submodule finite_fault_text
