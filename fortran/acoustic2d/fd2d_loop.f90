!> The time loop of a 2D shot: how long its chunks of steps are, and the snapshots between; the turns are those of timeloop.f90.
module fd2d_loop_m
  use error_m, only: error_t
  use fd2d_blowup_m, only: Fd2dBlowUp
  use fd2d_engine_m, only: field_sigma
  use fd2d_setup_m, only: fd2d_setup_t
  use host_c, only: host_seconds
  use kinds_m, only: dp, sp
  use scheme_m, only: SchemePad
  implicit none
  private
  public :: fd2d_loop_t

  integer, parameter :: chunk_cpu = 100         !< steps between looks at the field on CPU cores, and of a chunk at most
  real(dp), parameter :: turn_seconds = 0.1_dp  !< of a chunk there: so soon is heard that another worker has the shot
  integer, parameter :: turn_least = 24         !< steps at least: fewer would cost the `cpu` variant its sweeps of several steps
  integer, parameter :: chunk_least = 20        !< steps of the first; on a GPU at least so many, times a power of two
  real(dp), parameter :: chunk_seconds = 0.03_dp  !< of a chunk on a GPU at most: each slot is looked after once in this time

  type, abstract, extends(fd2d_setup_t) :: fd2d_loop_t
  contains
    procedure :: choose_chunk, next_chunk, blow_up
  end type fd2d_loop_t

contains

  !> By the pace of the steps before.
  subroutine choose_chunk(self, waited)
    class(fd2d_loop_t), intent(inout) :: self
    logical, intent(in) :: waited
    if (self%chunk == 0) then
      self%chunk = chunk_least
    else if (.not. self%queues) then
      self%chunk = max(turn_least, min(chunk_cpu, int(turn_seconds/max(self%pace, 1.0e-9_dp))))
    end if
    if (waited) call ChooseQueued(self)
  end subroutine choose_chunk

  !> The next chunk on a GPU: as many steps as take `chunk_seconds` at the pace seen, at most a quarter of the shot. A pace that
  !> drops at once is the host's, which was late.
  subroutine ChooseQueued(self)
    class(fd2d_loop_t), intent(inout) :: self
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
  end subroutine ChooseQueued

  !> Up to the next snapshot. On CPU cores the field is looked at when a hundred steps are done since the last look.
  subroutine next_chunk(self, error)
    class(fd2d_loop_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    integer :: n
    n = min(self%chunk, self%scheme%nt - self%steps)
    if (self%taken < self%pictures) n = min(n, max(1, SnapshotStep(self, self%taken + 1) - self%steps))
    call self%timestep(n, error, look=self%unseen + n >= chunk_cpu .or. self%steps + n == self%scheme%nt)
    if (.not. allocated(error)) call TakeSnapshots(self, error)
  end subroutine next_chunk

  subroutine blow_up(self, value, place, error)
    class(fd2d_loop_t), intent(inout) :: self
    real(sp), intent(in) :: value
    integer, intent(in) :: place(3)
    type(error_t), allocatable, intent(inout) :: error
    call Fd2dBlowUp(self, value, place(1), place(2), error)
  end subroutine blow_up

  !> Last step at or before snapshot j; the snapshot lies between it and the next.
  pure integer function SnapshotStep(self, j) result(n)
    class(fd2d_loop_t), intent(in) :: self
    integer, intent(in) :: j
    n = floor(((j - 1)*self%scheme%snapshot - self%scheme%t_start)/self%scheme%dt*(1 + 1e-12_dp))
  end function SnapshotStep

  !> Snapshots due between the step just done and the next: the mean of both, weighted by how near they are.
  subroutine TakeSnapshots(self, error)
    class(fd2d_loop_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: part
    integer :: j, from
    from = self%taken + 1
    do while (self%taken < self%pictures)
      if (SnapshotStep(self, self%taken + 1) > self%steps) exit
      self%taken = self%taken + 1
    end do
    if (self%taken < from) return
    do j = from, self%taken
      part = ((j - 1)*self%scheme%snapshot - self%scheme%t_start)/self%scheme%dt - self%steps
      call AddSnapshot(self, j, 1 - part, error)
    end do
    if (allocated(error) .or. self%steps == self%scheme%nt) return
    call self%timestep(1, error)
    do j = from, self%taken
      part = ((j - 1)*self%scheme%snapshot - self%scheme%t_start)/self%scheme%dt - (self%steps - 1)
      call AddSnapshot(self, j, part, error)
    end do
  end subroutine TakeSnapshots

  !> Adds `part` of the pressure of this moment to snapshot j.
  subroutine AddSnapshot(self, j, part, error)
    class(fd2d_loop_t), intent(inout) :: self
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
    associate (g => self%grid, s => self%film(1)%a(:, :, j))
      s = s - real(part, sp)*scale(sigma(pad(1) + 1:g%nx - pad(1):step, pad(2) + 1:g%nz - pad(1):step), self%exponent2)
    end associate
  end subroutine AddSnapshot

end module fd2d_loop_m
