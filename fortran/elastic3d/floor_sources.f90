!> Sources in rock right below water, said before the first shot: differences of half-length 2 and more reach across the sea floor,
!> where motion along it jumps, so the strain of the uppermost rock, with which a moment changes places, is wrong, and so is what a
!> force along the floor sends into the water. Where a sea floor lies in a cell the rock that makes up for it is not the earth's
!> (accuracy.md, t894, t655).
module floor_sources_m
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use model3d_m, only: model3d_t
  use model3d_window_m, only: Model3dCutsFloor, Model3dRow
  use parameters_m, only: job_t
  use scheme3d_m, only: scheme3d_t
  use scheme_m, only: scheme_t, SchemeWarn
  use shot_m, only: shot_t
  use source3d_m, only: source_fault, source_force
  use text_m, only: Str
  use told_receivers_m, only: told_receivers_t, ToldSource
  use window_m, only: window_t, WindowCell
  implicit none
  private
  public :: floor_sources_t, FloorSources, FloorSourcesSay

  integer, parameter :: reach = 2, made_up = 1    !< cells from water; so many more where sea floors lie in cells
  real(dp), parameter :: along = 0.5_dp           !< a force with a smaller part than this along the floor is not told

  type :: floor_sources_t
    type(told_receivers_t) :: told, forces        !< of moment or volume, and forces
    logical :: cut = .false.                      !< sea floors lie in cells
  end type floor_sources_t

contains

  !> Looks at a shot in its window; `told`: its source is one of them, and no force. Of faults points are not looked at.
  subroutine FloorSources(sources, earth, job, scheme, shot, window, told, error)
    type(floor_sources_t), intent(inout) :: sources
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    logical, intent(out) :: told
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: line(:, :)
    real(dp) :: place(3), most
    integer :: c(3), low, a, far
    told = .false.
    if (scheme%own%source%kind == source_fault) return
    sources%cut = Model3dCutsFloor(job, earth, [window%dx, window%dy, window%dz])
    if (scheme%half_length == 1 .and. .not. sources%cut) return
    c = WindowCell(window, [shot%sx, shot%sy, shot%sz])
    if (any(c < 1 .or. c > [window%nx, window%ny, window%nz])) return
    place = ([shot%sx, shot%sy, shot%sz] - [window%x0, window%y0, window%z0])/[window%dx, window%dy, window%dz]
    do a = 1, 3
      far = reach
      if (a == 3 .and. sources%cut) far = reach + made_up
      call Model3dRow(earth, job, window, c, a, far, far, line, low, error)
      if (allocated(error)) return
      most = far
      told = told .or. ToWater(line, c(a) - low + 1, place(a) - low + 1) < most
    end do
    associate (s => scheme%own%source)
      if (s%kind == source_force) then
        if (told .and. norm2(s%force(:2)) >= along*norm2(s%force)) call ToldSource(sources%forces, shot)
        told = .false.
      else if (told) then
        call ToldSource(sources%told, shot)
      end if
    end associate
  end subroutine FloorSources

  !> Cells from a place in cell c of a line of vp, vs, rho, at `place` along it, to the nearest of water; huge where c is no rock.
  pure real(dp) function ToWater(medium, c, place) result(cells)
    real(sp), intent(in) :: medium(:, :)
    integer, intent(in) :: c
    real(dp), intent(in) :: place
    integer :: k
    cells = huge(cells)
    if (.not. medium(c, 2) > 0) return
    do k = 1, size(medium, 1)
      if (medium(k, 1) > 0 .and. .not. medium(k, 2) > 0) cells = min(cells, max(k - 1 - place, place - k))
    end do
  end function ToWater

  !> Adds to scheme%warnings what should be known.
  subroutine FloorSourcesSay(sources, scheme)
    type(floor_sources_t), intent(in) :: sources
    class(scheme_t), intent(inout) :: scheme
    character(:), allocatable :: what, remedy
    if (sources%forces%n > 0) then
      what = 'half-length '//Str(scheme%half_length)//' reaches across the sea floor'
      if (sources%cut) what = 'the sea floor lies in a cell, and cells around it make up for that'
      remedy = 'take half_length=1, or put them more than '//Str(reach)//' cells below the sea floor'
      if (sources%cut) remedy = 'take a spacing with which the sea floor is on a face of the cells, and half_length=1'
      call SchemeWarn(scheme, Str(sources%forces%n)//' force(s) along a sea floor act on rock within '// &
                Str(merge(reach + made_up, reach, sources%cut))//' cells of water, the first of them '//sources%forces%first// &
                ': '//what//', so the waves that they send into the water, pressure and velocity, are off by 10 to 40 %, more '// &
                'right above them; waves in rock are right; '//remedy)
    end if
    if (sources%told%n == 0) return
    what = 'half-length '//Str(scheme%half_length)//' reaches across the sea floor: waves in rock are off by some 10 %, '// &
           'pressure above it by 20 to 40 % of an explosion, and of a tensor by as much as it is'
    remedy = 'take half_length=1, put them more than '//Str(reach)//' cells below the sea floor, or take a smaller spacing'
    if (sources%cut) then
      what = 'the sea floor lies in a cell, and the rock around it that makes up for that is not the earth''s: waves may be '// &
             'off by half and more'
      remedy = 'take a spacing with which the sea floor is on a face of the cells, and half_length=1; or put them more than '// &
               Str(reach + made_up)//' cells below it'
    end if
    call SchemeWarn(scheme, Str(sources%told%n)//' source(s) of moment or volume lie in rock within '// &
              Str(merge(reach + made_up, reach, sources%cut))//' cells of water, the first of them '//sources%told%first// &
              ', and '//what//'; '//remedy)
  end subroutine FloorSourcesSay

end module floor_sources_m
