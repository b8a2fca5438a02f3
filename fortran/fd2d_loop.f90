!> The time loop of a 2D shot in chunks of steps, a look at the field after each, and the snapshots between.
!>
!> A GPU only queues the steps: a turn waits until one chunk of the shot is left unfinished, then queues the next. So on return the
!> GPU has work for one to two chunks, during which the host makes set-up or traces of other shots, and a field that blows up is
!> seen soon.
module fd2d_loop_m
  use error_m, only: error_t
  use fd2d_blowup_m, only: Fd2dBlowUp
  use fd2d_engine_m, only: field_sigma
  use fd2d_state_m, only: fd2d_state_t
  use host_c, only: host_seconds
  use kinds_m, only: dp, sp
  use scheme_m, only: SchemePad
  use text_m, only: Str
  implicit none
  private
  public :: Fd2dTurn, Fd2dSteps, Fd2dFinish, Fd2dSettle

  integer, parameter :: chunk_cpu = 100         !< steps between looks at the field on CPU cores, and of a chunk at most
  real(dp), parameter :: turn_seconds = 0.1_dp  !< of a chunk there: so soon is heard that another worker has the shot
  integer, parameter :: turn_least = 24         !< steps at least: fewer would cost the `cpu` variant its sweeps of several steps
  integer, parameter :: chunk_least = 20        !< steps of the first; on a GPU at least so many, times a power of two
  real(dp), parameter :: chunk_seconds = 0.03_dp  !< of a chunk on a GPU at most: each slot is looked after once in this time

contains

  !> The next chunk, or on a GPU, where none is left, a wait for the last but one, then for the last. `done` when all steps are done
  !> and the field is sound. Fails when the field blows up.
  subroutine Fd2dTurn(self, done, error)
    class(fd2d_state_t), intent(inout) :: self
    logical, intent(out) :: done
    type(error_t), allocatable, intent(inout) :: error
    integer :: n
    done = .false.
    if (self%chunk == 0) self%chunk = chunk_least
    if (self%queues .and. self%ahead > 1) then
      call Look(self, 1, error)
      if (allocated(error)) return
      call ChooseChunk(self)
      if (self%steps == self%scheme%nt) return
    end if
    if (self%steps < self%scheme%nt) then
      n = min(self%chunk, self%scheme%nt - self%steps)
      if (self%taken < size(self%snapshots, 3)) n = min(n, max(1, SnapshotStep(self, self%taken + 1) - self%steps))
      call Fd2dSteps(self, n, error, .true.)
      if (.not. allocated(error)) call TakeSnapshots(self, error)
      if (self%queues) return
      self%chunk = max(turn_least, min(chunk_cpu, int(turn_seconds/max(self%pace, 1.0e-9_dp))))
    end if
    if (self%queues .or. self%steps == self%scheme%nt) call Fd2dFinish(self, error)
    done = self%finished
  end subroutine Fd2dTurn

  !> The next n steps, and, but on a GPU, a look at the whole field; `rarely`: not before a hundred steps are done since the last.
  subroutine Fd2dSteps(self, n, error, rarely)
    class(fd2d_state_t), intent(inout) :: self
    integer, intent(in) :: n
    type(error_t), allocatable, intent(inout) :: error
    logical, intent(in), optional :: rarely
    real(dp) :: from
    logical :: due
    from = host_seconds()
    if (self%steps == 0) self%began = from
    if (self%queues .and. self%ahead > 1) call Look(self, 1, error)
    if (allocated(error)) return
    call self%engine%timestep(self%steps + 1, n, error)
    if (allocated(error)) return
    self%steps = self%steps + n
    if (self%queues) then
      self%ahead = self%ahead + 1
      self%queued = [self%queued(2:2), n]
    else
      self%pace = (host_seconds() - from)/n
      self%unseen = self%unseen + n
      due = .true.
      if (present(rarely)) due = .not. rarely .or. self%unseen >= chunk_cpu .or. self%steps == self%scheme%nt
      if (due) call Look(self, 0, error)
      self%seconds = self%seconds + host_seconds() - from
    end if
  end subroutine Fd2dSteps

  !> Waits, asleep, until all steps are done, and looks at the field a last time.
  subroutine Fd2dFinish(self, error)
    class(fd2d_state_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    if (self%finished) return
    if (self%queues) call Look(self, 0, error)
    if (allocated(error)) return
    if (self%queues) self%seconds = host_seconds() - self%began
    self%finished = .true.
  end subroutine Fd2dFinish

  !> Waits for the steps that are queued; the field must be sound after all.
  subroutine Fd2dSettle(self, error)
    class(fd2d_state_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    if (merge(self%ahead, self%unseen, self%queues) > 0) call Look(self, 0, error)
  end subroutine Fd2dSettle

  !> Waits until at most `most` chunks are unfinished; the field must be sound at the end of the newest finished one.
  subroutine Look(self, most, error)
    class(fd2d_state_t), intent(inout) :: self
    integer, intent(in) :: most
    type(error_t), allocatable, intent(inout) :: error
    real(sp) :: value
    integer :: i, k
    call self%engine%pending(most, error)
    self%ahead = min(self%ahead, most)
    self%unseen = 0
    if (.not. allocated(error)) call self%engine%peak(value, i, k, error)
    if (allocated(error)) return
    if (.not. value <= self%limit) call Fd2dBlowUp(self, value, i, k, error)
    self%peak = value
  end subroutine Look

  !> The next chunk on a GPU: as many steps as take `chunk_seconds` at the pace seen, at most a quarter of the shot. The chunk
  !> before the one queued last was finished just now. A pace that drops at once is the host's, which was late.
  subroutine ChooseChunk(self)
    class(fd2d_state_t), intent(inout) :: self
    real(dp) :: now, seen
    integer :: most
    now = host_seconds()
    seen = (now - max(self%mark, self%began))/self%queued(1)
    if (self%pace > 0) seen = min(seen, 1.25_dp*self%pace)
    self%pace = seen
    self%mark = now
    most = min(2*self%chunk, self%scheme%nt/4)
    if (seen*most > chunk_seconds) most = int(chunk_seconds/seen)
    self%chunk = chunk_least
    do while (2*self%chunk <= most)
      self%chunk = 2*self%chunk
    end do
  end subroutine ChooseChunk

  !> Last step at or before snapshot j; the snapshot lies between it and the next.
  pure integer function SnapshotStep(self, j) result(n)
    class(fd2d_state_t), intent(in) :: self
    integer, intent(in) :: j
    n = floor(((j - 1)*self%scheme%snapshot - self%scheme%t_start)/self%scheme%dt*(1 + 1e-12_dp))
  end function SnapshotStep

  !> Snapshots due between the step just done and the next: the mean of both, weighted by how near they are.
  subroutine TakeSnapshots(self, error)
    class(fd2d_state_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: part
    integer :: j, from
    from = self%taken + 1
    do while (self%taken < size(self%snapshots, 3))
      if (SnapshotStep(self, self%taken + 1) > self%steps) exit
      self%taken = self%taken + 1
    end do
    if (self%taken < from) return
    do j = from, self%taken
      part = ((j - 1)*self%scheme%snapshot - self%scheme%t_start)/self%scheme%dt - self%steps
      call AddSnapshot(self, j, 1 - part, error)
    end do
    if (allocated(error) .or. self%steps == self%scheme%nt) return
    call Fd2dSteps(self, 1, error)
    do j = from, self%taken
      part = ((j - 1)*self%scheme%snapshot - self%scheme%t_start)/self%scheme%dt - (self%steps - 1)
      call AddSnapshot(self, j, part, error)
    end do
  end subroutine TakeSnapshots

  !> Adds `part` of the pressure of this moment to snapshot j.
  subroutine AddSnapshot(self, j, part, error)
    class(fd2d_state_t), intent(inout) :: self
    integer, intent(in) :: j
    real(dp), intent(in) :: part
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: sigma(:, :)
    integer :: step, pad(2)
    if (allocated(error)) return
    allocate (sigma(self%grid%nx, self%grid%nz))
    call self%engine%field(field_sigma, sigma, error)
    step = self%scheme%snapshot_step
    pad = SchemePad(self%scheme)
    associate (g => self%grid, s => self%snapshots(:, :, j))
      s = s - real(part, sp)*scale(sigma(pad(1) + 1:g%nx - pad(1):step, pad(2) + 1:g%nz - pad(1):step), self%exponent2)
    end associate
  end subroutine AddSnapshot

end module fd2d_loop_m
