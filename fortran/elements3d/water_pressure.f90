!> Close to a contact with water receivers in rock take the derivative of its motion across the contact from the traction there,
!> which is that of the pressure p of the water (sem3d_components.f90). So components have a multiple of p, those that are sampled
!> between whole steps, as rates of strain are, of its derivative by time. p is minus the derivative by time of dchi/dt, which is
!> sampled between whole steps: so it is taken from whole traces of that when they come home.
module water_pressure_m
  use kinds_m, only: dp, sp
  use sem3d_components_m, only: sem3d_list_t, sem3d_place_t, Sem3dAtWhole, Sem3dIsGradient, Sem3dPressed, Sem3dRecordWater
  implicit none
  private
  public :: pressed_t, PressedMost, PressedRecord, PressedAdd, PressedApply, PressedTrace

  !> Trace trace(i) has weight(i) times p, or its derivative by time; from(i) is the trace of dchi/dt.
  type :: pressed_t
    integer :: n = 0
    integer, allocatable :: trace(:), from(:)     !< at least (n)
    real(dp), allocatable :: weight(:)
    logical, allocatable :: rate(:)
    integer, allocatable :: water(:)              !< traces of dchi/dt at each place, 0: it is dry
  end type pressed_t

contains

  !> Traces that a receiver of these components samples beside them, at most.
  pure integer function PressedMost(names) result(most)
    character(*), intent(in) :: names(:)
    integer :: c
    most = merge(1, 0, any([(Sem3dIsGradient(names(c)), c=1, size(names))]))
  end function PressedMost

  !> Adds to a list that has all places of the first component, then of the next, what must be sampled beside them.
  subroutine PressedRecord(pressed, list, place, names)
    type(pressed_t), intent(out) :: pressed
    type(sem3d_list_t), intent(inout) :: list
    type(sem3d_place_t), intent(in) :: place(:)
    character(*), intent(in) :: names(:)
    integer :: r, c
    allocate (pressed%trace(0), pressed%from(0), pressed%weight(0), pressed%rate(0))
    allocate (pressed%water(size(place)), source=0)
    if (PressedMost(names) == 0) return
    do r = 1, size(place)
      if (.not. (place(r)%solid .and. allocated(place(r)%beyond))) cycle
      call Sem3dRecordWater(list, place(r))
      pressed%water(r) = list%receivers
      do c = 1, size(names)
        call PressedAdd(pressed, r, (c - 1)*size(place) + r, Sem3dPressed(place(r), names(c)), .not. Sem3dAtWhole(names(c)))
      end do
    end do
  end subroutine PressedRecord

  !> A trace at place r has so much of p, if that is wet; rate: of its derivative by time.
  subroutine PressedAdd(pressed, r, trace, weight, rate)
    type(pressed_t), intent(inout) :: pressed
    integer, intent(in) :: r, trace
    real(dp), intent(in) :: weight
    logical, intent(in) :: rate
    if (pressed%water(r) == 0) return
    if (.not. abs(weight) > 0) return
    if (pressed%n == size(pressed%trace)) then
      pressed%trace = [pressed%trace, 0, pressed%trace]
      pressed%from = [pressed%from, 0, pressed%from]
      pressed%weight = [pressed%weight, 0.0_dp, pressed%weight]
      pressed%rate = [pressed%rate, .false., pressed%rate]
    end if
    pressed%n = pressed%n + 1
    pressed%trace(pressed%n) = trace
    pressed%from(pressed%n) = pressed%water(r)
    pressed%weight(pressed%n) = weight
    pressed%rate(pressed%n) = rate
  end subroutine PressedAdd

  !> Adds to traces(samples, traces) of dt [s] what PressedAdd has noted.
  subroutine PressedApply(pressed, dt, traces)
    type(pressed_t), intent(in) :: pressed
    real(dp), intent(in) :: dt
    real(sp), intent(inout) :: traces(:, :)
    integer :: i
    do i = 1, pressed%n
      associate (trace => traces(:, pressed%trace(i)))
        trace = real(trace + pressed%weight(i)*PressedTrace(traces(:, pressed%from(i)), pressed%rate(i), dt), sp)
      end associate
    end do
  end subroutine PressedApply

  !> p at whole steps, or its derivative by time half a step before, of a trace of dchi/dt, which begins with 0. dt [s].
  pure function PressedTrace(trace, rate, dt) result(p)
    real(sp), intent(in) :: trace(:)
    logical, intent(in) :: rate
    real(dp), intent(in) :: dt
    real(dp) :: p(size(trace))
    integer :: n
    n = size(trace)
    p = 0
    p(:n - 1) = -(real(trace(2:), dp) - trace(:n - 1))/dt
    p(n) = p(max(1, n - 1))
    if (.not. rate) return
    p(2:) = (p(2:) - p(:n - 1))/dt
    p(1) = 0
  end function PressedTrace

end module water_pressure_m
