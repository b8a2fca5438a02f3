!> Prepares a shot for the time loop, and keeps of the shot before what still holds: engine, medium, layers. Arguments stand in
!> timeloop.f90.
submodule(timeloop_m) timeloop_setup
  use error_m, only: Fail
  use team_m, only: TeamFor
  use variants_m, only: variants_t
  implicit none

contains

  module procedure LoopSetup
    logical :: same
    self%scheme = scheme
    self%shot = shot
    self%steps = 0
    self%peak = 0
    self%finished = .false.
    self%seconds = 0
    self%taken = 0
    self%ahead = 0
    self%unchecked = 0
    if (.not. self%queues) then                   ! on a GPU the pace of the shot before is known
      self%chunk = 0
      self%pace = 0
    end if
    call self%make_grid(window, error)
    same = .not. allocated(error)
    if (same) same = AllSame(self, SameMedium(self, window), error)
    if (.not. (allocated(error) .or. same)) call NewMedium(self, window, error)
    if (.not. allocated(error)) call self%make_source(window, error)
    if (.not. allocated(error)) call self%make_receivers(window, error)
    if (.not. allocated(error)) call self%make_pictures(window, error)
  end procedure LoopSetup

  !> Medium and layers were made from the same window, for the same numbers.
  pure logical function SameMedium(self, window)
    class(timeloop_t), intent(in) :: self
    type(window_t), intent(in) :: window
    SameMedium = window%serial /= 0 .and. window%serial == self%medium
    if (SameMedium) SameMedium = all(self%made_for == self%medium_needs())
  end function SameMedium

  !> It is so on all ranks that model the shot together; else all make their media anew, as they look together for what is largest
  !> in them.
  logical function AllSame(self, mine, error) result(same)
    class(timeloop_t), intent(inout) :: self
    logical, intent(in) :: mine
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: others(1)
    same = mine
    if (.not. associated(self%partners)) return
    others = merge(0, 1, mine)
    call self%partners%largest(others, error)
    same = others(1) <= 0
  end function AllSame

  subroutine NewMedium(self, window, error)
    class(timeloop_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    self%medium = 0
    call self%make_medium(window, error)
    if (allocated(error)) return
    self%medium = window%serial
    self%made_for = self%medium_needs()
  end subroutine NewMedium

  module procedure choose_engine
    class(engine_t), pointer :: engine
    class(variants_t), allocatable :: variants
    character(:), allocatable :: variant
    call self%kernels(variants)
    call TeamFor(self%team, self%scheme%threads, cells)
    variant = self%scheme%variant
    if (variant == 'auto') variant = variants%for_rank(variant, .false.)
    engine => self%any_engine()
    keeps = associated(engine) .and. same
    if (keeps) keeps = self%variant == variant
    if (keeps) then
      call engine%threads(self%team%threads, error)
      if (.not. allocated(error)) call engine%reset(error)
    else
      call self%free()
      self%variant = variant
      self%queues = variants%needs_gpu(variant)
    end if
  end procedure choose_engine

  module procedure forget
    class(engine_t), pointer :: engine
    engine => self%any_engine()
    if (associated(engine)) call engine%free()
    if (allocated(self%film)) deallocate (self%film)
    self%medium = 0
    self%chunk = 0
    self%pace = 0
  end procedure forget

  module procedure scale_fields
    if (strongest > 0 .and. strongest <= huge(1.0_sp)) then
      self%exponent2 = exponent(strongest)
    else
      call Fail(error, 'the source is '//trim(merge('nothing                        ', 'too strong for single precision', &
                                                    strongest <= 0))//': check amplitude and moment')
    end if
  end procedure scale_fields

end submodule timeloop_setup
