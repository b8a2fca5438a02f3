!> A shot on elements that goes on from a state has the same traces, films and maps bit for bit, also where the state is between the two
!> steps of a picture of pressure in a fluid; rates of rotation and strain are the two halves of the gradient of velocity.
program t861_sem_pictures_resumed
  use check_m, only: Claim, ClaimFine, Done
  use elements_scheme_m, only: elements_scheme_t
  use error_m, only: error_t
  use gather_m, only: gather_t
  use kinds_m, only: i8, sp
  use sem3d_m, only: sem3d_t
  use semjob_m, only: apart, SemJob
  use shot_m, only: shot_t
  use solver_m, only: time_position_t
  use text_m, only: Str
  use window_m, only: window_t
  implicit none
  type(window_t) :: window
  type(elements_scheme_t) :: scheme
  type(shot_t) :: shot
  type(sem3d_t) :: whole
  type(gather_t) :: reference
  type(error_t), allocatable :: error
  real(sp) :: off, largest
  integer :: f, picture, step
  logical :: done_all

  call SemJob(window, scheme, shot)
  call whole%setup(scheme, window, shot, error)
  done_all = .false.
  do while (.not. (done_all .or. allocated(error)))
    call whole%advance(done_all, error)
  end do
  if (.not. allocated(error)) call whole%gather(reference, error)
  call ClaimFine(error, Str(scheme%nt)//' steps with '//Str(whole%pictures)//' pictures every '//Str(whole%every)//' steps')
  do f = 1, size(reference%film)
    if (reference%film(f)%nt == 0) cycle
    largest = maxval(abs(reference%film(f)%a(:, :, whole%pictures)))
    if (reference%film(f)%name == 'p_top') call Claim(largest <= 0, 'there is no pressure on the free water')
    if (reference%film(f)%name /= 'p_top') call Claim(largest > 0, 'the last picture of '//reference%film(f)%name//' is not empty')
  end do
  picture = whole%first_picture + (whole%pictures/2)*whole%every
  do step = picture - 1, picture + 2
    call Resume(step)
  end do

  call Plain()
  associate (t => reference%traces)              ! stations 1, 2 at x -+ apart/2 of station 3; vy, exy, wz
    largest = maxval(abs(t(:, 3, 2) + t(:, 3, 3)))
    off = maxval(abs(t(:, 3, 2) + t(:, 3, 3) - (t(:, 2, 1) - t(:, 1, 1))/real(apart, sp)))
    call Claim(off <= 0.01_sp*largest .and. largest > 0, 'exy + wz is the derivative of vy along x: off by '// &
               Str(100*off/largest, 2)//' % of its largest, at most 1 %')
  end associate
  call Done()

contains

  !> The next shot of the same solver, without pictures.
  subroutine Plain()
    type(elements_scheme_t) :: plain_scheme
    type(gather_t) :: gather
    type(error_t), allocatable :: error
    logical :: finished
    integer(i8) :: numbers
    numbers = whole%state_size(time_position_t(step=1)) - 3*whole%map_points
    plain_scheme = scheme
    call plain_scheme%no_pictures()
    call whole%setup(plain_scheme, window, shot, error)
    call Claim(whole%state_size(time_position_t(step=1)) == numbers .and. whole%map_points == 0, &
               'a shot without pictures has no map in its state')
    finished = .false.
    do while (.not. (finished .or. allocated(error)))
      call whole%advance(finished, error)
    end do
    if (.not. allocated(error)) call whole%gather(gather, error)
    call ClaimFine(error, 'the next shot, without pictures')
    call Claim(gather%nsnap == 0 .and. all(gather%traces >= reference%traces .and. gather%traces <= reference%traces), &
               'has none, and the same traces')
  end subroutine Plain

  !> As the whole shot, but saved after a step and loaded into another solver.
  subroutine Resume(step)
    integer, intent(in) :: step
    type(sem3d_t) :: part, rest
    type(gather_t) :: gather
    type(time_position_t) :: position
    type(error_t), allocatable :: error
    real(sp), allocatable :: state(:)
    logical :: finished
    integer :: different, f
    call part%setup(scheme, window, shot, error)
    do while (part%steps < step .and. .not. allocated(error))
      part%chunk = min(10, step - part%steps)
      call part%advance(finished, error)
    end do
    position = part%time_position()
    allocate (state(part%state_size(position)))
    if (.not. allocated(error)) call part%save(state, error)
    if (.not. allocated(error)) call rest%setup(scheme, window, shot, error)
    if (.not. allocated(error)) call Claim(part%state_identity() == rest%state_identity(), 'the same identity')
    if (.not. allocated(error)) call rest%load(position, state, error)
    finished = .false.
    do while (.not. (finished .or. allocated(error)))
      call rest%advance(finished, error)
    end do
    if (.not. allocated(error)) call rest%gather(gather, error)
    call ClaimFine(error, 'saved after step '//Str(step)//', of '//Str(position%films)//' pictures')
    different = count(gather%traces /= reference%traces)
    do f = 1, size(gather%film)
      different = different + count(gather%film(f)%a /= reference%film(f)%a)
    end do
    call Claim(different == 0 .and. position%step == step, Str(different)//' numbers of traces, films and maps differ')
    call part%free()
    call rest%free()
  end subroutine Resume

end program t861_sem_pictures_resumed
