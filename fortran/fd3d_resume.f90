!> The state of a 3D shot in its time loop, from which the same shot goes on elsewhere or later with the same bits: the engine's
!> fields, memory variables, samples and map, then the pictures taken. All else follows from the shot; see fd2d_resume.f90.
module fd3d_resume_m
  use checksum_c, only: checksum_floats
  use error_m, only: error_t, Fail
  use fd3d_films_m, only: FilmsSize
  use fd3d_loop_m, only: Fd3dSettle
  use fd3d_state_m, only: fd3d_state_t
  use hash_m, only: hash_t, HashAdd, HashText
  use host_c, only: host_seconds
  use kinds_m, only: dp, i8, sp
  use solver_m, only: moment_t
  use source3d_m, only: SourceNumbers
  use text_m, only: Str
  use version_m, only: VersionText
  implicit none
  private
  public :: Fd3dPassport, Fd3dMoment, Fd3dStateSize, Fd3dSave, Fd3dLoad

contains

  !> A line each. Bits depend on the code too; they do not on threads, chunks, or the shape of tiles and blocks.
  function Fd3dPassport(self) result(text)
    class(fd3d_state_t), intent(in) :: self
    character(:), allocatable :: text
    character(*), parameter :: nl = new_line('a')
    text = 'variant '//self%variant//nl//'code '//VersionText()//nl//'grid '//Str(self%grid%n(1))//' x '//Str(self%grid%n(2))// &
           ' x '//Str(self%grid%n(3))//' '//GridHash(self)//nl//'medium '//self%medium_hash//nl//'positions '// &
           PositionsHash(self)//nl//'times '//Str(self%scheme%nt)//' '//TimesHash(self)
  end function Fd3dPassport

  function GridHash(self) result(text)
    class(fd3d_state_t), intent(in) :: self
    character(16) :: text
    type(hash_t) :: hash
    integer :: m
    associate (g => self%grid)
      do m = 1, 6
        call HashAdd(hash, g%side(m))
        call HashAdd(hash, self%width(m))
      end do
      call HashAdd(hash, g%half_length)
      call HashAdd(hash, merge(1, 0, g%anelastic))
      call HashAdd(hash, merge(1, 0, self%scheme%sponge))
      do m = 1, size(g%w)
        call HashAdd(hash, g%w(m))
      end do
      do m = 1, 3
        call HashAdd(hash, g%d(m))
        call HashAdd(hash, self%corner(m))
      end do
      call HashAdd(hash, g%dt)
    end associate
    text = HashText(hash)
  end function GridHash

  !> Source and receivers, and what is recorded there.
  function PositionsHash(self) result(text)
    class(fd3d_state_t), intent(in) :: self
    character(16) :: text
    type(hash_t) :: hash
    real(dp), allocatable :: x(:)
    integer :: r
    call HashAdd(hash, self%shot%record)
    call HashAdd(hash, self%shot%sx)
    call HashAdd(hash, self%shot%sy)
    call HashAdd(hash, self%shot%sz)
    do r = 1, size(self%shot%rx)
      call HashAdd(hash, self%shot%rx(r))
      call HashAdd(hash, self%shot%ry(r))
      call HashAdd(hash, self%shot%rz(r))
    end do
    do r = 1, len(self%scheme%components)
      call HashAdd(hash, ichar(self%scheme%components(r:r)))
    end do
    allocate (x, source=SourceNumbers(self%scheme%source))
    do r = 1, size(x)
      call HashAdd(hash, x(r))
    end do
    if (self%scheme%source%fault%n > 0) call AddSum(hash, self%scheme%source%fault%rate)
    text = HashText(hash)
  end function PositionsHash

  !> Wavelet, time steps and pictures.
  function TimesHash(self) result(text)
    class(fd3d_state_t), intent(in) :: self
    character(16) :: text
    type(hash_t) :: hash
    integer :: f
    call AddSum(hash, self%scheme%q)
    call HashAdd(hash, self%scheme%nt)
    call HashAdd(hash, self%scheme%t_start)
    call HashAdd(hash, merge(1, 0, self%scheme%time_correction))
    call HashAdd(hash, self%every)
    call HashAdd(hash, self%first_picture)
    call HashAdd(hash, self%scheme%snapshot_step)
    call HashAdd(hash, merge(1, 0, self%scheme%pgv))
    call HashAdd(hash, self%scheme%pgv_depth)
    do f = 1, size(self%frame)
      call HashAdd(hash, self%frame(f)%field)
      call HashAdd(hash, self%frame(f)%axis)
      call HashAdd(hash, self%frame(f)%index)
    end do
    text = HashText(hash)
  end function TimesHash

  subroutine AddSum(hash, values)
    type(hash_t), intent(inout) :: hash
    real(sp), contiguous, intent(in) :: values(:)
    integer(i8) :: sum
    sum = checksum_floats(0_i8, size(values, kind=i8), values)
    call HashAdd(hash, int(ibits(sum, 0, 31)))
    call HashAdd(hash, int(ibits(sum, 31, 31)))
    call HashAdd(hash, int(ibits(sum, 62, 2)))
  end subroutine AddSum

  type(moment_t) function Fd3dMoment(self) result(moment)
    class(fd3d_state_t), intent(in) :: self
    moment%step = self%steps
    moment%films = self%taken
    moment%seconds = self%seconds
    if (self%queues .and. self%steps > 0) moment%seconds = host_seconds() - self%began
  end function Fd3dMoment

  !> Numbers in the state at a moment.
  integer(i8) function Fd3dStateSize(self, moment) result(n)
    class(fd3d_state_t), intent(in) :: self
    type(moment_t), intent(in) :: moment
    n = self%engine%state_size(moment%step) + FilmsSize(self)*moment%films
  end function Fd3dStateSize

  !> Waits for the steps that are queued and looks at the field: a state that has blown up is none.
  subroutine Fd3dSave(self, state, error)
    class(fd3d_state_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: at
    integer :: f, j, k
    call Fd3dSettle(self, error)
    if (allocated(error)) return
    at = self%engine%state_size(self%steps)
    call self%engine%save(state(:at), error)
    do f = 1, size(self%frame)
      associate (film => self%film(f))
        do j = 1, self%taken
          do k = 1, film%n(2)
            state(at + 1:at + film%n(1)) = film%a(:, k, j)
            at = at + film%n(1)
          end do
        end do
      end associate
    end do
  end subroutine Fd3dSave

  !> Goes on from a state whose passport is that of this shot, which is set up.
  subroutine Fd3dLoad(self, moment, state, error)
    class(fd3d_state_t), intent(inout) :: self
    type(moment_t), intent(in) :: moment
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: at
    integer :: f, j, k
    if (moment%step < 1 .or. moment%step > self%scheme%nt .or. moment%films < 0 .or. moment%films > self%pictures) then
      call Fail(error, 'a state after step '//Str(moment%step)//' with '//Str(moment%films)//' pictures, but the shot has '// &
                Str(self%scheme%nt)//' steps and '//Str(self%pictures)//' pictures')
    else if (size(state, kind=i8) /= Fd3dStateSize(self, moment)) then
      call Fail(error, 'a state of '//Str(size(state, kind=i8))//' numbers, '//Str(Fd3dStateSize(self, moment))//' expected')
    end if
    if (allocated(error)) return
    at = self%engine%state_size(moment%step)
    call self%engine%load(moment%step, state(:at), error)
    if (allocated(error)) return
    do f = 1, size(self%frame)
      associate (film => self%film(f))
        do j = 1, moment%films
          do k = 1, film%n(2)
            film%a(:, k, j) = state(at + 1:at + film%n(1))
            at = at + film%n(1)
          end do
        end do
      end associate
    end do
    self%steps = moment%step
    self%known = moment%step                  ! histories are no part of a state: given anew before the next step
    self%taken = moment%films
    self%seconds = moment%seconds
    self%began = host_seconds() - moment%seconds
  end subroutine Fd3dLoad

end module fd3d_resume_m
