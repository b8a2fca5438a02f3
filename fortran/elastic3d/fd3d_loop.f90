!> The time loop of a 3D shot: how long its chunks of steps are, the histories of its sources, the pictures between, and the
!> sentence for a field that blows up; the turns are those of timeloop.f90.
module fd3d_loop_m
  use error_m, only: error_t, Fail
  use fd3d_films_m, only: FilmsMap, FilmsNext, FilmsTake
  use fd3d_setup_m, only: fd3d_setup_t, Fd3dHistories
  use kinds_m, only: dp, sp
  use solver_m, only: time_position_t
  use text_m, only: Str
  use timeloop_m, only: LoopLoad
  implicit none
  private
  public :: fd3d_loop_t

  integer, parameter :: chunk_least = 20, chunk_most = 500   !< steps of a chunk on a GPU
  real(dp), parameter :: chunk_gpu = 5.0e8_dp       !< cell updates of a chunk there: some hundredths of a second
  real(dp), parameter :: chunk_updates = 2.0e7_dp   !< cell updates of a chunk on CPU cores: some tenths of a second

  type, abstract, extends(fd3d_setup_t) :: fd3d_loop_t
  contains
    procedure :: choose_chunk, next_chunk, take_maps, blow_up, load
  end type fd3d_loop_t

contains

  !> Once, by the size of the grid.
  subroutine choose_chunk(self, waited)
    class(fd3d_loop_t), intent(inout) :: self
    logical, intent(in) :: waited
    real(dp) :: cells
    if (self%chunk > 0) return
    cells = product(real(self%grid%n, dp))
    if (self%queues) then
      self%chunk = int(min(real(chunk_most, dp), max(real(chunk_least, dp), chunk_gpu/cells)))
    else
      self%chunk = int(min(100.0_dp, max(1.0_dp, chunk_updates/cells)))
    end if
  end subroutine choose_chunk

  !> Up to the next pictures.
  subroutine next_chunk(self, error)
    class(fd3d_loop_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    call Fd3dHistories(self, error)
    if (allocated(error)) return
    call self%timestep(min(self%chunk, self%known - self%steps, FilmsNext(self) - self%steps), error)
    if (.not. allocated(error) .and. self%steps == FilmsNext(self)) call FilmsTake(self, error)
  end subroutine next_chunk

  subroutine take_maps(self, error)
    class(fd3d_loop_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    call FilmsMap(self, error)
  end subroutine take_maps

  subroutine load(self, position, state, error)
    class(fd3d_loop_t), intent(inout), target :: self
    type(time_position_t), intent(in) :: position
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call LoopLoad(self, position, state, error)
    if (.not. allocated(error)) self%known = position%step      ! histories are no part of a state: given anew before the next step
  end subroutine load

  subroutine blow_up(self, value, place, error)
    class(fd3d_loop_t), intent(inout) :: self
    real(sp), intent(in) :: value
    integer, intent(in) :: place(3)
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: what
    real(dp) :: x(3)
    x = self%corner + (place - 0.5_dp)*self%grid%d
    what = Str(scale(value, self%exponent2), 4)//' m/s'
    if (.not. value <= huge(value)) what = 'no number'
    call Fail(error, 'the field blew up within the '//Str(self%chunk)//' steps before step '//Str(self%steps)//': velocity is '// &
              what//' in cell ('//Str(place(1))//', '//Str(place(2))//', '//Str(place(3))//') at x = '//Str(x(1), 7)//', y = '// &
              Str(x(2), 7)//', z = '//Str(x(3), 7)//' m: an instability; use a smaller dt, or look at the contrasts there')
  end subroutine blow_up

end module fd3d_loop_m
