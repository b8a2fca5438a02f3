!> States of a shot: the engine's numbers, then the pictures taken; all else follows from the shot. Arguments stand in timeloop.f90.
submodule(timeloop_m) timeloop_state
  use error_m, only: Fail
  use state_identity_m, only: IdentityOf, IdentityText
  use text_m, only: Str
  implicit none

contains

  module procedure state_identity
    type(identity_t) :: identity
    identity = IdentityOf(self%scheme, self%shot)
    call self%identify(identity)
    text = IdentityText(identity, self%variant, self%scheme%nt)
  end procedure state_identity

  module procedure time_position
    position = time_position_t(self%steps, self%taken, self%seconds)
    if (self%queues .and. self%steps > 0) position%seconds = host_seconds() - self%began
  end procedure time_position

  module procedure state_size
    class(engine_t), pointer :: engine
    engine => self%any_engine()
    n = engine%state_size(position%step) + self%picture_size()*position%films
  end procedure state_size

  module procedure LoopSave
    class(engine_t), pointer :: engine
    integer(i8) :: at
    integer :: f, j, k
    if (merge(self%ahead, self%unchecked, self%queues) > 0) call CheckField(self, 0, error)
    if (allocated(error)) return
    engine => self%any_engine()
    at = engine%state_size(self%steps)
    call engine%save(state(:at), error)
    do f = 1, self%films
      associate (film => self%film(f))
        do j = 1, self%taken
          do k = 1, film%n(2)
            state(at + 1:at + film%n(1)) = film%a(:, k, j)
            at = at + film%n(1)
          end do
        end do
      end associate
    end do
  end procedure LoopSave

  module procedure LoopLoad
    class(engine_t), pointer :: engine
    character(:), allocatable :: what
    integer(i8) :: at
    integer :: f, j, k
    if (position%step < 1 .or. position%step > self%scheme%nt .or. position%films < 0 .or. position%films > self%pictures) then
      what = trim(merge(' pictures ', ' snapshots', self%scheme%dy > 0))
      call Fail(error, 'a state after step '//Str(position%step)//' with '//Str(position%films)//what//', but the shot has '// &
                Str(self%scheme%nt)//' steps and '//Str(self%pictures)//what)
    else if (size(state, kind=i8) /= self%state_size(position)) then
      call Fail(error, 'a state of '//Str(size(state, kind=i8))//' numbers, '//Str(self%state_size(position))//' expected')
    end if
    if (allocated(error)) return
    engine => self%any_engine()
    at = engine%state_size(position%step)
    call engine%load(position%step, state(:at), error)
    if (allocated(error)) return
    do f = 1, self%films
      associate (film => self%film(f))
        do j = 1, position%films
          do k = 1, film%n(2)
            film%a(:, k, j) = state(at + 1:at + film%n(1))
            at = at + film%n(1)
          end do
        end do
      end associate
    end do
    self%steps = position%step
    self%taken = position%films
    self%seconds = position%seconds
    self%mark = host_seconds()
    self%began = self%mark - position%seconds
  end procedure LoopLoad

end submodule timeloop_state
