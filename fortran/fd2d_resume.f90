!> The state of a 2D shot in its time loop, from which the same shot goes on elsewhere or later with the same bits.
!>
!> A state is the engine's fields, memory variables and samples, then the snapshots taken. All else follows from the shot, and the
!> passport tells whether it is the same: variant, code, grid, medium, source and receivers, times.
module fd2d_resume_m
  use checksum_c, only: checksum_floats
  use error_m, only: error_t, Fail
  use fd2d_loop_m, only: Fd2dSettle
  use fd2d_state_m, only: fd2d_state_t
  use hash_m, only: hash_t, HashAdd, HashText
  use host_c, only: host_seconds
  use kinds_m, only: dp, i8, sp
  use solver_m, only: moment_t
  use text_m, only: Str
  use version_m, only: VersionText
  implicit none
  private
  public :: Fd2dPassport, Fd2dMoment, Fd2dStateSize, Fd2dSave, Fd2dLoad

contains

  !> A line each. Bits depend on the code too; they do not on threads, chunks, or the shape of tiles and blocks.
  function Fd2dPassport(self) result(text)
    class(fd2d_state_t), intent(in) :: self
    character(:), allocatable :: text
    character(*), parameter :: nl = new_line('a')
    text = 'variant '//self%variant//nl//'code '//VersionText()//nl//'grid '//Str(self%grid%nx)//' x '//Str(self%grid%nz)// &
           ' '//GridHash(self)//nl//'medium '//MediumHash(self)//nl//'positions '//PositionsHash(self)//nl// &
           'times '//Str(self%scheme%nt)//' '//TimesHash(self)
  end function Fd2dPassport

  function GridHash(self) result(text)
    class(fd2d_state_t), intent(in) :: self
    character(16) :: text
    type(hash_t) :: hash
    integer :: m
    associate (g => self%grid)
      call HashAdd(hash, g%nleft)
      call HashAdd(hash, g%nright)
      call HashAdd(hash, g%ntop)
      call HashAdd(hash, g%nbottom)
      call HashAdd(hash, merge(1, 0, g%free_top))
      call HashAdd(hash, g%half_length)
      do m = 1, size(g%w)
        call HashAdd(hash, g%w(m))
      end do
      call HashAdd(hash, g%dx)
      call HashAdd(hash, g%dz)
      call HashAdd(hash, g%dt)
    end associate
    text = HashText(hash)
  end function GridHash

  !> With what the absorbing layers are made from.
  function MediumHash(self) result(text)
    class(fd2d_state_t), intent(in) :: self
    character(16) :: text
    type(hash_t) :: hash
    call AddSum(hash, checksum_floats(0_i8, size(self%kappa, kind=i8), self%kappa))
    call AddSum(hash, checksum_floats(0_i8, size(self%rho, kind=i8), self%rho))
    call HashAdd(hash, self%scheme%fpeak)
    text = HashText(hash)
  end function MediumHash

  !> Source and receivers, and what is recorded there.
  function PositionsHash(self) result(text)
    class(fd2d_state_t), intent(in) :: self
    character(16) :: text
    type(hash_t) :: hash
    integer :: r
    call HashAdd(hash, self%shot%record)
    call HashAdd(hash, self%ax%x0)
    call HashAdd(hash, self%az%x0)
    call HashAdd(hash, self%shot%sx)
    call HashAdd(hash, self%shot%sz)
    call HashAdd(hash, merge(1, 0, self%scheme%exact_positions))
    do r = 1, size(self%shot%rx)
      call HashAdd(hash, self%shot%rx(r))
      call HashAdd(hash, self%shot%rz(r))
    end do
    do r = 1, size(self%fields)
      call HashAdd(hash, self%fields(r))
    end do
    text = HashText(hash)
  end function PositionsHash

  !> Wavelet, time steps and snapshots.
  function TimesHash(self) result(text)
    class(fd2d_state_t), intent(in) :: self
    character(16) :: text
    type(hash_t) :: hash
    call AddSum(hash, checksum_floats(0_i8, size(self%scheme%q, kind=i8), self%scheme%q))
    call HashAdd(hash, self%scheme%nt)
    call HashAdd(hash, self%scheme%t_start)
    call HashAdd(hash, self%scheme%snapshot)
    call HashAdd(hash, self%scheme%snapshot_step)
    call HashAdd(hash, size(self%snapshots, 3))
    text = HashText(hash)
  end function TimesHash

  pure subroutine AddSum(hash, sum)
    type(hash_t), intent(inout) :: hash
    integer(i8), intent(in) :: sum
    call HashAdd(hash, int(ibits(sum, 0, 31)))
    call HashAdd(hash, int(ibits(sum, 31, 31)))
    call HashAdd(hash, int(ibits(sum, 62, 2)))
  end subroutine AddSum

  type(moment_t) function Fd2dMoment(self) result(moment)
    class(fd2d_state_t), intent(in) :: self
    moment%step = self%steps
    moment%films = self%taken
    moment%seconds = self%seconds
    if (self%queues .and. self%steps > 0) moment%seconds = host_seconds() - self%began
  end function Fd2dMoment

  !> Numbers in the state at a moment.
  integer(i8) function Fd2dStateSize(self, moment) result(n)
    class(fd2d_state_t), intent(in) :: self
    type(moment_t), intent(in) :: moment
    n = self%engine%state_size(moment%step) + FilmSize(self)*moment%films
  end function Fd2dStateSize

  pure integer(i8) function FilmSize(self)
    class(fd2d_state_t), intent(in) :: self
    FilmSize = size(self%snapshots, 1, kind=i8)*size(self%snapshots, 2)
  end function FilmSize

  !> Waits for the steps that are queued and looks at the field: a state that has blown up is none.
  subroutine Fd2dSave(self, state, error)
    class(fd2d_state_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: at
    integer :: j, k
    call Fd2dSettle(self, error)
    if (allocated(error)) return
    at = self%engine%state_size(self%steps)
    call self%engine%save(state(:at), error)
    do j = 1, self%taken
      do k = 1, size(self%snapshots, 2)
        state(at + 1:at + size(self%snapshots, 1)) = self%snapshots(:, k, j)
        at = at + size(self%snapshots, 1)
      end do
    end do
  end subroutine Fd2dSave

  !> Goes on from a state whose passport is that of this shot, which is set up.
  subroutine Fd2dLoad(self, moment, state, error)
    class(fd2d_state_t), intent(inout) :: self
    type(moment_t), intent(in) :: moment
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: at
    integer :: j, k
    if (moment%step < 1 .or. moment%step > self%scheme%nt .or. moment%films < 0 .or. moment%films > size(self%snapshots, 3)) then
      call Fail(error, 'a state after step '//Str(moment%step)//' with '//Str(moment%films)//' snapshots, but the shot has '// &
                Str(self%scheme%nt)//' steps and '//Str(size(self%snapshots, 3))//' snapshots')
    else if (size(state, kind=i8) /= Fd2dStateSize(self, moment)) then
      call Fail(error, 'a state of '//Str(size(state, kind=i8))//' numbers, '//Str(Fd2dStateSize(self, moment))//' expected')
    end if
    if (allocated(error)) return
    at = self%engine%state_size(moment%step)
    call self%engine%load(moment%step, state(:at), error)
    if (allocated(error)) return
    do j = 1, moment%films
      do k = 1, size(self%snapshots, 2)
        self%snapshots(:, k, j) = state(at + 1:at + size(self%snapshots, 1))
        at = at + size(self%snapshots, 1)
      end do
    end do
    self%steps = moment%step
    self%taken = moment%films
    self%seconds = moment%seconds
    self%mark = host_seconds()
    self%began = self%mark - moment%seconds
  end subroutine Fd2dLoad

end module fd2d_resume_m
