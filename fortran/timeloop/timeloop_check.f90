!> Waits for steps that are queued, and checks the field of a shot. Arguments stand in timeloop.f90.
submodule(timeloop_m) timeloop_check
  implicit none

contains

  module procedure CheckField
    class(engine_t), pointer :: engine
    real(sp) :: value
    integer :: place(3)
    engine => self%any_engine()
    call self%await_steps(most, error)
    self%ahead = min(self%ahead, most)
    self%unchecked = 0
    if (allocated(error)) return
    if (self%queues) call engine%peak(value, place, error)
    if (.not. self%queues) call engine%maxabs(value, place, error)
    if (allocated(error)) return
    if (.not. value <= self%limit) call self%blow_up(value, place, error)
    self%peak = value
  end procedure CheckField

  module procedure Finish
    if (self%finished) return
    if (self%queues) call CheckField(self, 0, error)
    if (.not. allocated(error)) call self%take_maps(error)
    if (allocated(error)) return
    if (self%queues) self%seconds = host_seconds() - self%began
    self%finished = .true.
  end procedure Finish

end submodule timeloop_check
