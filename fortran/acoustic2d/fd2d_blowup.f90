!> A field that has blown up: when, where, how fast the earth is there, and the likely cause, in one sentence.
!>
!> The field is checked some hundred steps late, when cells without a number have spread far. So a short shot is repeated at once,
!> with a check after each of the last steps: either it blows up again, at its first bad step and cell, or it stays sound, and then
!> memory or processor are to blame. A long shot is not repeated; its field tells the place: bad cells spread by 2L - 1 cells a step
!> to all sides (L the half-length), so they fill a box whose middle is the place of the first, unless the box fills the grid.
!> Arguments of blow_up stand in fd2d.f90.
submodule(fd2d_m) fd2d_blowup
  implicit none

  real(dp), parameter :: REPEAT_MOST = 20    !< a shot that took longer so far is not repeated [s]: its worker would seem dead

  integer, parameter :: UNKNOWN = 0, REPEATED = 1, SOUND = 2, MIDDLE = 3

  !> Cell and step at which the blow-up began, as far as they are known.
  type :: origin_t
    integer :: how = UNKNOWN                 !< REPEATED: exactly; SOUND: it did not come again; MIDDLE: of the bad cells
    integer :: i = 0, k = 0, step = 0        !< else cell and step of the check that found it
    real(sp) :: value = 0                    !< largest |σ|
  end type origin_t

contains

  module procedure blow_up
    type(origin_t) :: origin
    type(error_t), allocatable :: ignored
    origin = origin_t(UNKNOWN, place(1), place(2), self%steps, value)
    if (self%peak <= self%limit/growth) call FindMiddle(self, origin, ignored)
    if (.not. allocated(ignored)) call Repeat(self, origin, ignored)
    call Fail(error, Sentence(self, origin)//'; likely cause: '//Cause(self, origin))
  end procedure blow_up

  !> Models the shot once more from the first step.
  subroutine Repeat(self, origin, error)
    class(fd2d_t), intent(inout) :: self
    type(origin_t), intent(inout) :: origin
    type(error_t), allocatable, intent(inout) :: error
    real(sp) :: value
    integer :: step, first, place(3)
    if (merge(host_seconds() - self%began, self%seconds, self%queues) > REPEAT_MOST) return
    first = max(1, self%steps - max(2*self%chunk, sum(self%queued), 200))
    call self%engine%reset(error)
    if (.not. allocated(error)) call self%engine%timestep(1, first, error)
    do step = first, self%steps
      if (step > first .and. .not. allocated(error)) call self%engine%timestep(step, 1, error)
      if (.not. allocated(error)) call self%engine%maxabs(value, place, error)
      if (allocated(error)) return
      if (value <= self%limit) cycle
      origin = origin_t(REPEATED, place(1), place(2), step, value)
      return
    end do
    origin%how = SOUND
  end subroutine Repeat

  !> The middle of the bad cells, if they do not fill the grid; their box must end within the grid on both sides of one axis.
  subroutine FindMiddle(self, origin, error)
    class(fd2d_t), intent(inout) :: self
    type(origin_t), intent(inout) :: origin
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: sigma(:, :)
    integer :: low(2), high(2), n(2), cell(2), half, k, i, axis
    logical :: clear(2)
    allocate (sigma(self%grid%nx, self%grid%nz))
    call self%engine%field(field_sigma, sigma, error)
    if (allocated(error)) return
    n = shape(sigma)
    low = n + 1
    high = 0
    do k = 1, n(2)
      do i = 1, n(1)
        if (abs(sigma(i, k)) <= self%limit) cycle                ! false for what is not a number
        low = min(low, [i, k])
        high = max(high, [i, k])
      end do
    end do
    clear = low > 1 .and. high < n .and. high > 0
    if (.not. any(clear)) return
    half = minval((high - low)/2, mask=clear)
    do axis = 1, 2
      cell(axis) = (low(axis) + high(axis))/2
      if (clear(axis)) cycle
      if (high(axis) < n(axis)) cell(axis) = max(1, high(axis) - half)
      if (low(axis) > 1) cell(axis) = min(n(axis), low(axis) + half)
    end do
    origin = origin_t(MIDDLE, cell(1), cell(2), max(0, self%steps - half/(2*self%grid%half_length - 1)), origin%value)
  end subroutine FindMiddle

  function Sentence(self, origin) result(text)
    class(fd2d_t), intent(in) :: self
    type(origin_t), intent(in) :: origin
    character(:), allocatable :: text
    text = 'the field blew up '//trim(merge('at', 'by', origin%how == REPEATED))//' step '//Str(origin%step)//' of '// &
           Str(self%scheme%nt)//' (t = '//Str(self%scheme%t_start + origin%step*self%scheme%dt, 6)//' s): |p| = '// &
           Str(scale(origin%value, self%exponent2), 3)//' Pa at x = '//Str(self%ax%x0 + (origin%i - 1)*self%ax%h, 8)//' m, z = '// &
           Str(self%az%x0 + (origin%k - 1)*self%az%h, 8)//' m (cell '//Str(origin%i)//', '//Str(origin%k)//' of '// &
           Str(self%grid%nx)//' x '//Str(self%grid%nz)//'), where vp = '// &
           Str(sqrt(real(self%kappa(origin%i, origin%k), dp)/self%rho(origin%i, origin%k)), 5)//' m/s'
  end function Sentence

  function Cause(self, origin) result(text)
    class(fd2d_t), intent(in) :: self
    type(origin_t), intent(in) :: origin
    character(:), allocatable :: text
    real(dp) :: dt_limit
    logical :: in_layer
    associate (g => self%grid)
      in_layer = origin%i <= g%nleft .or. origin%i > g%nx - g%nright .or. origin%k <= g%ntop .or. origin%k > g%nz - g%nbottom
      dt_limit = 1/(maxval(sqrt(self%kappa/self%rho))*sum(abs(g%w))*sqrt(1/g%dx**2 + 1/g%dz**2))
    end associate
    if (origin%how == SOUND) then
      text = 'a wrong bit in memory or processor of this node, as the same steps stayed sound when they were repeated'
    else if (self%grid%dt > dt_limit) then
      text = 'dt = '//Str(self%grid%dt)//' s exceeds the stability limit of '//Str(dt_limit)//' s of this window'
    else if (in_layer) then
      text = 'an instability of the absorbing layer it lies in: try another npml or a slightly smaller dt'
    else
      text = 'a contrast of velocity or density near this place: try a smaller dt'
    end if
    if (origin%how == MIDDLE) text = 'a wrong bit in memory or processor of this node, as the field was sound a look before; '// &
                                     'if it comes again at this place, '//text
  end function Cause

end submodule fd2d_blowup
