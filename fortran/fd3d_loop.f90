!> The time loop of a 3D shot in chunks of steps, a look at the field after each, and the pictures between.
!>
!> A GPU only queues the steps: a turn waits until one chunk of the shot is left unfinished, then queues the next.
module fd3d_loop_m
  use error_m, only: error_t, Fail
  use fd3d_films_m, only: FilmsMap, FilmsNext, FilmsTake
  use fd3d_setup_m, only: Fd3dHistories
  use fd3d_state_m, only: fd3d_state_t
  use host_c, only: host_seconds
  use kinds_m, only: dp, sp
  use text_m, only: Str
  implicit none
  private
  public :: Fd3dTurn, Fd3dFinish, Fd3dSettle

  integer, parameter :: chunk_least = 20, chunk_most = 500   !< steps of a chunk on a GPU
  real(dp), parameter :: chunk_gpu = 5.0e8_dp       !< cell updates of a chunk there: some hundredths of a second
  real(dp), parameter :: chunk_updates = 2.0e7_dp   !< cell updates of a chunk on CPU cores: some tenths of a second

contains

  !> The next chunk, or on a GPU, where none is left, a wait for the last. `done` when all steps are done and the field is sound.
  !> Fails when the field blows up.
  subroutine Fd3dTurn(self, done, error)
    class(fd3d_state_t), intent(inout) :: self
    logical, intent(out) :: done
    type(error_t), allocatable, intent(inout) :: error
    integer :: n
    done = .false.
    if (self%chunk == 0) then
      if (self%queues) then
        self%chunk = int(min(real(chunk_most, dp), max(real(chunk_least, dp), chunk_gpu/product(real(self%grid%n, dp)))))
      else
        self%chunk = int(min(100.0_dp, max(1.0_dp, chunk_updates/product(real(self%grid%n, dp)))))
      end if
    end if
    if (self%queues .and. self%ahead > 1) then
      call Look(self, 1, error)
      if (allocated(error)) return
    end if
    if (self%steps < self%scheme%nt) then
      call Fd3dHistories(self, error)
      n = min(self%chunk, self%known - self%steps, FilmsNext(self) - self%steps)
      call Steps(self, n, error)
      if (.not. allocated(error) .and. self%steps == FilmsNext(self)) call FilmsTake(self, error)
      if (self%queues .or. allocated(error)) return
    end if
    if (self%queues .or. self%steps == self%scheme%nt) call Fd3dFinish(self, error)
    done = self%finished
  end subroutine Fd3dTurn

  !> The next n steps, and, but on a GPU, a look at the whole field.
  subroutine Steps(self, n, error)
    class(fd3d_state_t), intent(inout) :: self
    integer, intent(in) :: n
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: from
    if (allocated(error)) return
    from = host_seconds()
    if (self%steps == 0) self%began = from
    call self%engine%timestep(self%steps + 1, n, error)
    if (allocated(error)) return
    self%steps = self%steps + n
    if (self%queues) then
      self%ahead = self%ahead + 1
    else
      call Look(self, 0, error)
      self%seconds = self%seconds + host_seconds() - from
    end if
  end subroutine Steps

  !> Waits, asleep, until all steps are done, looks at the field a last time, and takes the maps.
  subroutine Fd3dFinish(self, error)
    class(fd3d_state_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    if (self%finished) return
    if (self%queues) call Look(self, 0, error)
    call FilmsMap(self, error)
    if (allocated(error)) return
    if (self%queues) self%seconds = host_seconds() - self%began
    self%finished = .true.
  end subroutine Fd3dFinish

  !> Waits for the steps that are queued; the field must be sound after them.
  subroutine Fd3dSettle(self, error)
    class(fd3d_state_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    if (self%queues .and. self%ahead > 0) call Look(self, 0, error)
  end subroutine Fd3dSettle

  !> Waits until at most `most` chunks are unfinished; the field must be sound at the end of the newest finished one.
  subroutine Look(self, most, error)
    class(fd3d_state_t), intent(inout) :: self
    integer, intent(in) :: most
    type(error_t), allocatable, intent(inout) :: error
    real(sp) :: value
    integer :: at(3)
    call self%engine%pending(most, error)
    self%ahead = min(self%ahead, most)
    if (.not. allocated(error)) call self%engine%peak(value, at, error)
    if (allocated(error)) return
    if (.not. value <= self%limit) call BlowUp(self, value, at, error)
    self%peak = value
  end subroutine Look

  !> The sentence for a field that has blown up.
  subroutine BlowUp(self, value, at, error)
    class(fd3d_state_t), intent(in) :: self
    real(sp), intent(in) :: value
    integer, intent(in) :: at(3)
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: what
    real(dp) :: place(3)
    place = self%corner + (at - 0.5_dp)*self%grid%d
    what = Str(scale(value, self%exponent2), 4)//' m/s'
    if (.not. value <= huge(value)) what = 'no number'
    call Fail(error, 'the field blew up within the '//Str(self%chunk)//' steps before step '//Str(self%steps)//': velocity is '// &
              what//' in cell ('//Str(at(1))//', '//Str(at(2))//', '//Str(at(3))//') at x = '//Str(place(1), 7)//', y = '// &
              Str(place(2), 7)//', z = '//Str(place(3), 7)//' m: an instability; use a smaller dt, or look at the contrasts there')
  end subroutine BlowUp

end module fd3d_loop_m
