!> Warnings on a survey before its first shot, in plan and run alike: records that are 0 on a free surface, or end before a wave
!> comes, key-maps in kilometres, positions across a 2D line, dispersion on the longest ways, waves that graze an absorbing layer.
!>
!> SurveyShot looks at one shot after another, SurveySays puts it into words. Limits stand here, what they rest on in
!> README.md beside this.
module surveycheck_m
  use der_m, only: DerWeights
  use error_m, only: error_t, Fail
  use kinds_m, only: dp, pi
  use parameters_m, only: job_t
  use physics_m, only: physics_t
  use phaseerror_m, only: PhaseOff, TraceOff, TraceOffAll
  use scheme_m, only: scheme_t, SchemeHalfMost, SchemePad, SchemeSpacing, SchemeWarn
  use shot_m, only: shot_t
  use straightpath_m, only: path_places, StraightPath
  use parameter_table_m, only: SplitList
  use text_m, only: Str
  use wavelet_m, only: wavelet_t
  use window_m, only: window_t
  use told_receivers_m, only: off_most
  implicit none
  private
  public :: surveycheck_t, SurveyBegin, SurveyShot, SurveySays

  real(dp), parameter :: on_surface = 1.0e-6_dp   !< part of a cell: what is closer to the surface is on it
  real(dp), parameter :: across_least = 0.05_dp   !< [m] in y, to which navigation is rounded: 2D warns of more
  real(dp), parameter :: echo_most = 0.02_dp      !< part of the peak: a larger echo of a layer is warned of
  real(dp), parameter :: grazing_sponge = 2.6_dp, grazing_damped = 7.9_dp  !< exponents of echoes, of absorb=damped too, see Echo
  real(dp), parameter :: sponge_most = 0.1_dp     !< instead of echo_most for a sponge, which is known to send back some per cent
  integer, parameter :: steps = 256               !< of the table of phase by slowness
  real(dp), parameter :: faster = 1.1_dp          !< what attenuates has waves faster than the phase velocity, by some per cent
  character(6), parameter :: names(6) = [character(6) :: 'left', 'right', 'front', 'back', 'top', 'bottom']

  !> A way from a source to a receiver.
  type :: way_t
    integer :: record = 0, channel = 0
    real(dp) :: from(3) = 0, to(3) = 0        !< [m]
    real(dp) :: length = 0                    !< [m], as far as it gets within the record
    real(dp) :: measure = 0                   !< what makes it the worst so far
  end type way_t

  type :: surveycheck_t
    private
    character(32), allocatable :: components(:)
    logical, allocatable :: silent(:)         !< these components have traces that are 0
    real(dp) :: traces = 0, zero = 0          !< traces of the survey, and those of them that are 0
    type(way_t) :: first                      !< of those that are 0
    real(dp) :: peak = 0, reach = huge(1.0_dp)     !< of the wavelet [s]; so far the fastest wave takes it within the record [m]
    integer :: receivers = 0, late_ones = 0   !< of the survey, and those of them farther away
    type(way_t) :: latest                     !< the longest way
    real(dp) :: low(3) = huge(1.0_dp), high(3) = -huge(1.0_dp)   !< what sources and receivers cover [m]
    real(dp) :: across = 0, shorter = 0       !< 2D: receivers are so far across from their source, offsets so much shorter [m]
    real(dp), allocatable :: late(:)          !< phase a metre at the peak frequency, (0:steps), slowness 1/vmax .. 1/vmin
    type(way_t) :: dispersed                  !< the way with the largest error of phase
    type(way_t) :: echo(6)                    !< the worst for each side
    real(dp) :: angle(6) = 0                  !< at which it meets the layer [degrees]
    integer :: echoes(6) = 0                  !< receivers that have too much of it
  end type surveycheck_t

contains

  subroutine SurveyBegin(check, physics, job, scheme, wavelet)
    type(surveycheck_t), intent(out) :: check
    class(physics_t), intent(in) :: physics
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(wavelet_t), intent(in) :: wavelet
    real(dp) :: slow
    integer :: i
    allocate (check%components, source=SplitList(scheme%components))
    allocate (check%silent(size(check%components)), source=.false.)
    if (allocated(wavelet%q) .and. .not. (scheme%histories .or. scheme%periodic)) then
      check%peak = wavelet%t0 + (maxloc(abs(wavelet%q), 1) - 1)*wavelet%dt
      if (job%tmax > check%peak) check%reach = faster*physics%vmax*(job%tmax - check%peak)
    end if
    allocate (check%late(0:steps), source=0.0_dp)
    if (scheme%half_length == 0) return
    do i = 0, steps
      slow = 1/physics%vmax + i*(1/physics%vmin - 1/physics%vmax)/steps
      check%late(i) = PhaseOff(scheme%w(:scheme%half_length), Coarsest(scheme), Step(scheme), scheme%fpeak, [slow], 1.0_dp)
    end do
  end subroutine SurveyBegin

  !> Looks at a shot in its window.
  subroutine SurveyShot(check, physics, job, scheme, shot, window, error)
    type(surveycheck_t), intent(inout) :: check
    class(physics_t), intent(in) :: physics
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    check%low = min(check%low, [shot%sx, shot%sy, shot%sz], [minval(shot%rx), minval(shot%ry), minval(shot%rz)])
    check%high = max(check%high, [shot%sx, shot%sy, shot%sz], [maxval(shot%rx), maxval(shot%ry), maxval(shot%rz)])
    check%traces = check%traces + real(size(shot%rx), dp)*size(check%components)
    if (scheme%free_top .or. physics%finds_surface) call LookAtReceivers()
    if (allocated(error)) return
    call LookAtTimes()
    if (.not. job%axes(2)) call LookAcross()
    if (scheme%half_length > 0) call LookAtWay()
    if (scheme%npml > 0) call LookAtLayers(check, physics, job, scheme, shot, window)

  contains

    !> Counts traces that are 0 because their receivers are on a free surface.
    subroutine LookAtReceivers()
      logical :: zero(size(check%components))
      real(dp) :: surface
      integer :: r
      surface = window%z0 + on_surface*window%dz
      if (.not. scheme%exact_positions) surface = window%z0 + 0.5_dp*window%dz      ! receivers above are moved onto it
      if (physics%finds_surface) surface = huge(surface)
      if (all(shot%rz > surface)) return
      do r = 1, size(shot%rx)
        if (shot%rz(r) > surface) cycle
        call physics%silent(job, window, check%components, [shot%rx(r), shot%ry(r), shot%rz(r)], zero, error)
        if (allocated(error)) return
        if (.not. any(zero)) cycle
        if (check%zero <= 0) check%first = way_t(record=shot%record, channel=shot%channel(r))
        check%zero = check%zero + count(zero)
        check%silent = check%silent .or. zero
      end do
    end subroutine LookAtReceivers

    !> Counts receivers that the peak of the wavelet cannot come to within the record, however straight the fastest wave goes.
    subroutine LookAtTimes()
      type(way_t) :: way
      integer :: r
      check%receivers = check%receivers + size(shot%rx)
      do r = 1, size(shot%rx)
        way = WayTo(shot, r, job%axes)
        if (.not. way%length > check%reach) cycle
        check%late_ones = check%late_ones + 1
        if (way%length > check%latest%length) check%latest = way
      end do
    end subroutine LookAtTimes

    !> Finds the offsets across the line, which 2D ignores.
    subroutine LookAcross()
      check%across = max(check%across, maxval(abs(shot%ry - shot%sy)))
      check%shorter = max(check%shorter, maxval(hypot(shot%rx - shot%sx, shot%ry - shot%sy) - abs(shot%rx - shot%sx)))
    end subroutine LookAcross

    !> Looks at the way from the source to the receiver farthest away from it.
    subroutine LookAtWay()
      type(way_t) :: way
      real(dp) :: slowness(path_places)
      way = WayTo(shot, maxloc((shot%rx - shot%sx)**2 + (shot%ry - shot%sy)**2*merge(1, 0, job%axes(2)) + &
                               (shot%rz - shot%sz)**2*merge(1, 0, job%axes(3)), 1), job%axes)
      if (.not. way%length > 0) return
      slowness = StraightPath(physics, way%from, way%to)
      way%length = min(way%length, job%tmax*path_places/sum(slowness))    ! what comes later is not recorded
      way%measure = way%length*abs(sum(Late(check, physics, slowness)))/path_places
      if (way%measure > check%dispersed%measure) check%dispersed = way
    end subroutine LookAtWay

  end subroutine SurveyShot

  ! --- on the way -------------------------------------------------------------------------------------------------------

  pure type(way_t) function WayTo(shot, r, axes) result(way)
    type(shot_t), intent(in) :: shot
    integer, intent(in) :: r
    logical, intent(in) :: axes(3)
    way%record = shot%record
    way%channel = shot%channel(r)
    way%from = [shot%sx, shot%sy, shot%sz]
    way%to = [shot%rx(r), shot%ry(r), shot%rz(r)]
    where (.not. axes) way%to = way%from
    way%length = norm2(way%to - way%from)
  end function WayTo

  !> Phase a metre at the peak frequency, from the table.
  elemental real(dp) function Late(check, physics, slowness)
    type(surveycheck_t), intent(in) :: check
    class(physics_t), intent(in) :: physics
    real(dp), intent(in) :: slowness
    real(dp) :: place
    integer :: at
    place = 0
    if (physics%vmax > physics%vmin) place = steps*(slowness - 1/physics%vmax)/(1/physics%vmin - 1/physics%vmax)
    place = min(max(place, 0.0_dp), real(steps, dp))
    at = min(int(place), steps - 1)
    Late = check%late(at) + (place - at)*(check%late(at + 1) - check%late(at))
  end function Late

  !> The coarsest spacing: along it the error of phase is largest.
  pure real(dp) function Coarsest(scheme)
    class(scheme_t), intent(in) :: scheme
    Coarsest = max(scheme%dx, scheme%dy, scheme%dz)
  end function Coarsest

  !> The time step whose dispersion stays in the traces, 0 if none does.
  pure real(dp) function Step(scheme)
    class(scheme_t), intent(in) :: scheme
    Step = merge(0.0_dp, scheme%dt, scheme%time_correction)
  end function Step

  ! --- along the layers -------------------------------------------------------------------------------------------------

  !> Finds for each side the receiver with the largest echo.
  subroutine LookAtLayers(check, physics, job, scheme, shot, window)
    type(surveycheck_t), intent(inout) :: check
    class(physics_t), intent(in) :: physics
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    real(dp) :: low(3), high(3), guard(3), d(3), y(size(shot%rx)), across(size(shot%rx)), along2(size(shot%rx)), reach, limit
    integer :: pad(2), side, a
    y = 0
    if (job%axes(2)) y = shot%ry - shot%sy
    d = [scheme%dx, scheme%dy, scheme%dz]
    pad = SchemePad(scheme)
    guard = (pad(1) - scheme%npml)*d
    low = [window%x0, window%y0, window%z0] - guard
    high = low + 2*guard + ([window%nx, window%ny, window%nz] - merge(1, 0, physics%nodes))*d
    limit = merge(sponge_most, echo_most, scheme%sponge)
    do side = 1, 6
      a = (side + 1)/2
      if (.not. job%axes(a) .or. a < 3 .and. scheme%periodic .or. side == 5 .and. scheme%free_top &
          .or. side == 6 .and. scheme%one_way) cycle
      select case (a)
      case (1)
        across = abs(shot%rx - Face(1)) + abs(shot%sx - Face(1))
        along2 = y**2 + (shot%rz - shot%sz)**2
      case (2)
        across = abs(shot%ry - Face(2)) + abs(shot%sy - Face(2))
        along2 = (shot%rx - shot%sx)**2 + (shot%rz - shot%sz)**2
      case default
        across = abs(shot%rz - Face(3)) + abs(shot%sz - Face(3))
        along2 = (shot%rx - shot%sx)**2 + y**2
      end select
      reach = -Grazing(scheme)/log(limit)   ! no layer does worse than one for the wave's own velocity
      if (.not. any(sqrt(along2) > reach*(across + 2*scheme%npml*d(a)))) cycle
      call TakeEcho(sqrt(along2), 2*scheme%npml*d(a))
    end do

  contains

    pure real(dp) function Face(a)
      integer, intent(in) :: a
      Face = merge(high(a), low(a), modulo(side, 2) == 0)
    end function Face

    !> Takes the worst echo of a side. `along` and `across` [m] lead from source to receiver by way of the layer's inner side;
    !> `width2`: twice the layer's width.
    subroutine TakeEcho(along, width2)
      real(dp), intent(in) :: along(:), width2
      type(way_t) :: way
      real(dp) :: slowness(path_places), faster, e(size(along))
      logical :: inside(size(along))
      integer :: r
      r = maxloc(along/(across + width2), 1)
      way = WayTo(shot, r, job%axes)
      slowness = StraightPath(physics, way%from, way%to)
      inside = sum(slowness)/path_places*hypot(along, across) <= job%tmax  ! what comes later is not recorded
      if (.not. any(inside)) return
      r = maxloc(along/(across + width2), 1, inside)
      way = WayTo(shot, r, job%axes)
      faster = 1
      if (.not. (scheme%sponge .or. scheme%damped)) faster = physics%vmax*sum(slowness)/path_places
      e = Echo(Grazing(scheme), along, across + width2, faster)
      check%echoes(side) = check%echoes(side) + count(e > limit .and. inside)
      way%measure = e(r)
      if (.not. way%measure > max(check%echo(side)%measure, limit)) return
      check%echo(side) = way
      check%angle(side) = atan2(along(r), across(r))*180/pi
    end subroutine TakeEcho

  end subroutine LookAtLayers

  !> The echo of a layer, of the peak of what comes directly: the wave goes `along` it and, if it went straight to the layer's end
  !> and back, `deep` [m] across. A layer made for waves `faster` times as fast as those that graze it damps them so much more.
  elemental real(dp) function Echo(power, along, deep, faster)
    real(dp), intent(in) :: power, along, deep, faster
    Echo = 0
    if (along > 0) Echo = exp(-power*faster*deep/along)
  end function Echo

  !> As measured in homogeneous media, 4 to 15 Hz, 6 to 20 cells, 1 to 14 km: PML of more cells are stronger, up to some 23
  !> (pml.f90).
  pure real(dp) function Grazing(scheme)
    class(scheme_t), intent(in) :: scheme
    Grazing = 25 + 4.75_dp*min(23, scheme%npml)
    if (scheme%damped) Grazing = grazing_damped
    if (scheme%sponge) Grazing = grazing_sponge
  end function Grazing

  ! --- in words ---------------------------------------------------------------------------------------------------------

  !> Adds to scheme%warnings, a line each, what should be known. Fails where all traces would be 0.
  subroutine SurveySays(check, physics, job, scheme, wavelet, error)
    type(surveycheck_t), intent(in) :: check
    class(physics_t), intent(in) :: physics
    type(job_t), intent(in) :: job
    class(scheme_t), intent(inout) :: scheme
    type(wavelet_t), intent(in) :: wavelet
    type(error_t), allocatable, intent(inout) :: error
    integer :: side
    if (check%zero > 0) call SayZero()
    if (allocated(error)) return
    if (check%late_ones > 0) call SayLate()
    call SayKilometres()
    if (check%across > across_least) &
      call SchemeWarn(scheme, '2D modelling ignores y: receivers are up to '//Str(check%across, 4)// &
                ' m across from their source, offsets along x are up to '//Str(check%shorter, 4)// &
                ' m shorter (spl-keymap --keep-offset keeps offsets)')
    if (check%dispersed%length > 0) call SayDispersion(check, physics, job, scheme, wavelet)
    do side = 1, 6
      if (check%echo(side)%record > 0) call SayEcho(side)
    end do
    if (job%depth > 0) call SayDepth()

  contains

    subroutine SayZero()
      character(:), allocatable :: which, place
      integer :: c
      which = ''
      do c = 1, size(check%components)
        if (check%silent(c)) which = which//', '//trim(check%components(c))
      end do
      place = which(3:)//' on the free surface'
      if (check%zero < check%traces) then
        place = place//', where channel '//Str(check%first%channel)//' of shot record '//Str(check%first%record)//' stands, is 0'
        which = ' traces will be 0: '//place
        if (physics%finds_surface) &
          which = ' traces vanish: '//place//' in the earth, and what is recorded there is rounding'
        call SchemeWarn(scheme, Str(check%zero, 12)//' of '//Str(check%traces, 12)//which//'; give receivers a depth')
      else
        call Fail(error, 'every trace would be 0: '//place//', where all receivers stand, is 0: give them a depth'//Instead())
      end if
    end subroutine SayZero

    subroutine SayLate()
      associate (way => check%latest)
        call SchemeWarn(scheme, 'the record ends before waves come to '//Str(check%late_ones)//' of '//Str(check%receivers)// &
          ' receivers: to channel '//Str(way%channel)//' of shot record '//Str(way%record)//', '//Str(way%length, 4)// &
          ' m from its source, the fastest wave, of '//Str(physics%vmax, 4)//' m/s, takes the peak of the wavelet until '// &
          Str(check%peak + way%length/physics%vmax, 4)//' s or later, and tmax = '//Str(job%tmax)//' s; give a larger tmax')
      end associate
    end subroutine SayLate

    function Instead() result(s)
      character(:), allocatable :: s
      s = ', or record vz (components=vz)'
      if (job%axes(2)) s = ', or record velocities (components=vx,vy,vz)'
    end function Instead

    subroutine SayEcho(side)
      integer, intent(in) :: side
      character(:), allocatable :: cure
      associate (e => check%echo(side))
        cure = 'give it a larger aperture, or a larger npml'
        if (side == 6) cure = 'give it a greater depth, or a larger npml'
        if (side == 5) cure = 'give top=free if it is the sea surface or the ground, else a model that begins higher up, or '// &
                              'a larger npml'
        if (scheme%sponge .or. scheme%damped) cure = cure//', or absorb=pml'
        call SchemeWarn(scheme, 'waves graze the absorbing layer at the '//trim(names(side))//', at up to '// &
                  Str(check%angle(side), 3)//' degrees, from source to channel '//Str(e%channel)//' of shot record '// &
                  Str(e%record)//': it sends back some '//Str(100*e%measure, 2)//' % of the peak of what comes directly ('// &
                  Str(check%echoes(side))//' receivers have over '//Str(100*merge(sponge_most, echo_most, scheme%sponge))// &
                  ' %); '//cure)
      end associate
    end subroutine SayEcho

    subroutine SayDepth()
      real(dp) :: bottom, top
      if (physics%endless) return
      top = physics%low(3)
      bottom = physics%high(3)
      if (job%depth <= (bottom - top)*(1 + 1e-6_dp) + max(scheme%dz, physics%beyond)) return
      call SchemeWarn(scheme, 'depth = '//Str(job%depth)//' m is deeper than the model, which ends '//Str(bottom - top)// &
                ' m below its top: the windows end there; depths are metres, depth=0 is the whole model')
    end subroutine SayDepth

    !> Positions in kilometres shrink a survey a thousandfold: to less than a few cells and a hundredth of the model, and a thousand
    !> times as large it lies in the model. Flat layers have no size; there less than a tenth of a cell tells.
    subroutine SayKilometres()
      real(dp), parameter :: kilo = 1000, cells = 3, part = 0.01_dp, tiny_part = 0.1_dp
      real(dp) :: low(2), high(2), extent
      integer :: m
      m = merge(2, 1, job%axes(2))
      extent = maxval(check%high(:m) - check%low(:m))
      if (.not. extent > 0 .or. check%traces < 3) return
      if (physics%endless) then
        if (extent >= tiny_part*min(scheme%dx, scheme%dz)) return
      else
        low = physics%low(:2)
        high = physics%high(:2)
        if (extent >= min(cells*max(scheme%dx, scheme%dy), part*maxval(high(:m) - low(:m)))) return
        if (any(kilo*check%low(:m) < low(:m)) .or. any(kilo*check%high(:m) > high(:m))) return
      end if
      call SchemeWarn(scheme, 'all sources and receivers lie within '//Str(extent, 4)//' m, in cells of '//SchemeSpacing(scheme)// &
                ' m: positions in the key-map are metres; are these kilometres?')
    end subroutine SayKilometres

  end subroutine SurveySays

  subroutine SayDispersion(check, physics, job, scheme, wavelet)
    type(surveycheck_t), intent(in) :: check
    class(physics_t), intent(in) :: physics
    type(job_t), intent(in) :: job
    class(scheme_t), intent(inout) :: scheme
    type(wavelet_t), intent(in) :: wavelet
    type(error_t), allocatable :: ignored
    real(dp) :: slowness(path_places), off, finer, longer, w(8), used
    character(:), allocatable :: text
    integer :: half, most
    associate (way => check%dispersed)
      slowness = StraightPath(physics, way%from, way%to)
      off = RmsOff(scheme%w(:scheme%half_length), Coarsest(scheme), Step(scheme))
      if (.not. off > off_most) return
      text = 'the grid carries waves off: straight from the source to channel '//Str(way%channel)//' of shot record '// &
             Str(way%record)//', '//Str(way%length, 4)//' m, a trace is off by '//Str(100*off, 2)//' % of its RMS ('// &
             Str(100*TraceOff(Phase(scheme%fpeak)), 2)//' % at the peak frequency of '//Str(scheme%fpeak, 3)//' Hz, '// &
             Str(100*TraceOff(Phase(scheme%fmax)), 2)//' % at fmax = '//Str(scheme%fmax, 3)//' Hz)'
      if (RmsOff(scheme%w(:scheme%half_length), Coarsest(scheme), 0.0_dp) < 0.5_dp*off) then
        text = text//'; time_correction=yes or a smaller dt makes it less'
      else
        most = SchemeHalfMost(scheme)
        do half = scheme%half_length + 1, most
          longer = Tried(half, 1.0_dp)
          if (longer <= off_most) exit
        end do
        if (half <= most) text = text//'; half_length='//Str(half)//' leaves '//Str(100*longer, 2)//' %'
        finer = Tried(scheme%half_length, 0.5_dp)
        if (finer < off) then
          text = text//'; half the spacing leaves '//Str(100*finer, 2)//' %'
        else if (job%coeffs_error > 0) then
          text = text//'; a smaller coeffs_error, now '//Str(job%coeffs_error)//' %, makes it less'
        end if
      end if
      call SchemeWarn(scheme, text)
    end associate

  contains

    real(dp) function RmsOff(weights, h, dt)
      real(dp), intent(in) :: weights(:), h, dt
      if (size(wavelet%q) > 1) then
        RmsOff = TraceOffAll(wavelet, physics%far_field, weights, h, dt, slowness, check%dispersed%length)
      else
        RmsOff = TraceOff(PhaseOff(weights, h, dt, scheme%fpeak, slowness, check%dispersed%length))   ! histories of a fault
      end if
    end function RmsOff

    real(dp) function Phase(f)
      real(dp), intent(in) :: f
      Phase = PhaseOff(scheme%w(:scheme%half_length), Coarsest(scheme), Step(scheme), f, slowness, check%dispersed%length)
    end function Phase

    !> With another half-length, or the spacing times `part`.
    real(dp) function Tried(half, part)
      integer, intent(in) :: half
      real(dp), intent(in) :: part
      call DerWeights(half, job%coeffs, job%coeffs_error, min(2*pi/scheme%ppw, 3.0_dp)*part, w, used, ignored)
      Tried = huge(Tried)
      if (.not. allocated(ignored)) Tried = RmsOff(w(:half), Coarsest(scheme)*part, Step(scheme))
    end function Tried

  end subroutine SayDispersion

end module surveycheck_m
