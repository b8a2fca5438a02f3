!> Snapshots of the pressure of a 2D shot: the mean of the two time steps around each, weighted by how near they are.
submodule(fd2d_m) fd2d_snapshots
  use checked_m, only: Below, Whole
  implicit none

contains

  module procedure make_pictures
    integer :: n(2), status
    if (allocated(self%film)) deallocate (self%film)
    n = ([window%nx, window%nz] - 1)/self%scheme%snapshot_step + 1
    self%films = 1
    self%pictures = 0
    if (self%scheme%snapshot > 0) &
      self%pictures = Whole(Below((self%scheme%nt_out - 1)*self%scheme%dt_out/self%scheme%snapshot*(1 + 1e-9_dp)) + 1)
    allocate (self%film(1))
    self%film(1)%n = n
    self%film(1)%nt = self%pictures
    allocate (self%film(1)%a(n(1), n(2), self%pictures), source=0.0_sp, stat=status)
    if (status /= 0) call Fail(error, 'no memory for '//Str(self%pictures)//' snapshots of '//Str(n(1))//' x '//Str(n(2))// &
                               ' nodes ('//Str(4e-9_dp*n(1)*n(2)*self%pictures, 3)//' GB): take fewer (snapshot) or coarser '// &
                               'ones (snapshot_step)')
  end procedure make_pictures

  module procedure StepsToSnapshot
    n = huge(n)
    if (self%taken < self%pictures) n = max(0, SnapshotStep(self, self%taken + 1) - self%steps)
  end procedure StepsToSnapshot

  !> Last step at or before snapshot j; the snapshot lies between it and the next.
  pure integer function SnapshotStep(self, j) result(n)
    class(fd2d_t), intent(in) :: self
    integer, intent(in) :: j
    n = floor(((j - 1)*self%scheme%snapshot - self%scheme%t_start)/self%scheme%dt*(1 + 1e-12_dp))
  end function SnapshotStep

  module procedure TakeSnapshots
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
  end procedure TakeSnapshots

  !> Adds `part` of the pressure now to snapshot j.
  subroutine AddSnapshot(self, j, part, error)
    class(fd2d_t), intent(inout) :: self
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

end submodule fd2d_snapshots
