!> Stress relaxes in rock that attenuates, but receivers sample it as it was: they read the gradient of displacement, which gives
!> the stress of the unrelaxed moduli. What has relaxed since hangs on the strain of the same place alone: so it is taken from whole
!> traces when they come home, with the mechanisms of zener.f90 and the steps of the engine (sem3d_element.f90).
!>
!> The isotropic average relaxes: of the pressure the shares of the bulk modulus, of what a stress differs from minus the pressure
!> those of mu. So of a normal stress those of mu relax and, of the pressure, those of mu less those of the bulk modulus. Where the
!> average's pressure or stress is not among what is recorded, it is sampled beside it, in traces that follow the others.
!>
!> Close to a free side receivers take the derivatives d of motion across it from those along it, by unrelaxed moduli
!> (sem3d_components.f90). As moduli relax, d is what leaves no traction in each step, on a contact that of the water's pressure p.
!> What that differs by, D, is added first to all that has to do with d: on level ground ezz, all normal stresses, pressure. With G
!> and A the tractions that d makes, of the medium and of its isotropic average, G D = R, what has relaxed of the traction A D + t
!> and of the mean stress K (e + n.D) of the average: t and e, its traction and dilatation by unrelaxed moduli, are sampled on the
!> side. Of isotropic rock t is -p n.
module stress_relaxation_m
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use hexahedron_m, only: Inverse
  use sem3d_components_m, only: even, sem3d_list_t, sem3d_place_t, Sem3dAcross, Sem3dAtWhole, Sem3dChristoffel, Sem3dIsGradient, &
                                Sem3dPressed, Sem3dPressedOnSide, Sem3dRecord, Sem3dRecordOnSide, Sem3dTraction
  use water_pressure_m, only: pressed_t, PressedAdd, PressedTrace
  use zener_m, only: zener_mechanisms, ZenerShares, ZenerTimes
  implicit none
  private
  public :: relaxing_t, RelaxingMost, RelaxingRecord, RelaxingApply, RelaxingVolume

  !> A place close to a free side or a contact: of D, or its rate, weight(:, i) is added to trace(i).
  type :: across_t
    integer :: e = 0, t(3) = 0                    !< traces; t(1) 0: t is -p n
    integer :: water = 0                          !< that of dchi/dt, 0: it is dry
    logical :: rate = .false.                     !< e and t are rates, and so is D
    integer, allocatable :: trace(:)
    real(dp), allocatable :: weight(:, :)
    real(dp) :: bulk = 0, normal(3) = 0           !< bulk modulus, unrelaxed [Pa]
    real(dp) :: own(3, 3) = 0, average(3, 3) = 0  !< G, A [Pa]
    real(dp) :: loss(2) = 0                       !< 1/Q of bulk modulus and mu
  end type across_t

  !> Shares share(:, i) of trace from(i) relax in trace(i), i in this order: a trace that others need is changed after them.
  type :: relaxing_t
    integer :: n = 0                              !< entries
    integer, allocatable :: trace(:), from(:)     !< at least (n)
    real(dp), allocatable :: share(:, :)          !< (zener_mechanisms, at least n)
    integer :: sides = 0                          !< places and kinds of traces that hang on D
    type(across_t), allocatable :: across(:)      !< at least (sides)
  end type relaxing_t

contains

  !> Traces that a receiver of these components samples beside them, at most.
  pure integer function RelaxingMost(names, anisotropic) result(most)
    character(*), intent(in) :: names(:)
    logical, intent(in) :: anisotropic
    integer :: c
    if (anisotropic) then
      most = count(names(:)(1:1) == 's') + merge(1, 0, any(names == 'p' .or. [(Normal(names(c)), c=1, size(names))]))
    else
      most = merge(1, 0, any(names(:)(1:1) == 's') .and. all(names /= 'p'))
    end if
    most = most + merge(4, 1, anisotropic)*count([any(Slopes(names, .false.)), any(Slopes(names, .true.))])
  end function RelaxingMost

  !> Components that are made of gradients of displacement, or of velocity.
  pure function Slopes(names, rate)
    character(*), intent(in) :: names(:)
    logical, intent(in) :: rate
    logical :: slopes(size(names))
    integer :: c
    slopes = [(Sem3dIsGradient(names(c)) .and. (Sem3dAtWhole(names(c)) .neqv. rate), c=1, size(names))]
  end function Slopes

  pure logical function Normal(name)
    character(*), intent(in) :: name
    Normal = name(1:1) == 's' .and. name(2:2) == name(3:3)
  end function Normal

  !> Adds to a list that has all places of the first component, then of the next, what must be sampled beside them. band: there Q is
  !> constant [Hz].
  subroutine RelaxingRecord(relaxing, pressed, list, place, names, band, error)
    type(relaxing_t), intent(out) :: relaxing
    type(pressed_t), intent(inout) :: pressed
    type(sem3d_list_t), intent(inout) :: list
    type(sem3d_place_t), intent(in) :: place(:)
    character(*), intent(in) :: names(:)
    real(dp), intent(in) :: band(2)
    type(error_t), allocatable, intent(inout) :: error
    real(dp), dimension(zener_mechanisms) :: bulk, shear
    character(len(names)) :: of_beside(size(names) + 1)
    integer :: of_trace(size(names) + 1), others  !< traces of stress of a place beside those asked for
    integer :: r, c, from, pressure, asked, room
    logical :: isotropic
    allocate (relaxing%across(count([any(Slopes(names, .false.)), any(Slopes(names, .true.))])* &
                              count([(any(abs(place(r)%normal) > 0), r=1, size(place))])))
    room = size(place)*(count(names == 'p') + count(names(:)(1:1) == 's') + count([(Normal(names(c)), c=1, size(names))]))
    allocate (relaxing%trace(room), relaxing%from(room), relaxing%share(zener_mechanisms, room))
    asked = findloc(names, 'p', 1)
    do r = 1, size(place)
      if (.not. place(r)%solid .or. all(place(r)%loss <= 0)) cycle
      bulk = ZenerShares(band, place(r)%loss(1))
      shear = ZenerShares(band, place(r)%loss(2))
      isotropic = .not. allocated(place(r)%stiffness)
      pressure = merge(TraceOf(r, asked), 0, isotropic .and. asked > 0)
      others = 0
      do c = 1, size(names)
        if (names(c)(1:1) /= 's') cycle
        from = merge(TraceOf(r, c), 0, isotropic)
        call Relaxes(TraceOf(r, c), from, names(c), shear)
        if (Normal(names(c))) call Relaxes(TraceOf(r, c), pressure, 'p', shear - bulk)
      end do
      if (asked > 0) call Relaxes(TraceOf(r, asked), pressure, 'p', bulk)
      if (all(abs(place(r)%normal) <= 0)) cycle
      call Across(.false.)
      call Across(.true.)
    end do

  contains

    pure integer function TraceOf(r, c)
      integer, intent(in) :: r, c
      TraceOf = (c - 1)*size(place) + r
    end function TraceOf

    !> Shares of a component of the average, in trace `from`, relax in another; 0: it is sampled from now on.
    subroutine Relaxes(trace, from, name, share)
      integer, intent(in) :: trace
      integer, intent(inout) :: from
      character(*), intent(in) :: name
      real(dp), intent(in) :: share(zener_mechanisms)
      if (allocated(error) .or. all(abs(share) <= 0)) return
      if (from == 0) call Beside(name, from)
      relaxing%n = relaxing%n + 1
      relaxing%trace(relaxing%n) = trace
      relaxing%from(relaxing%n) = from
      relaxing%share(:, relaxing%n) = share
    end subroutine Relaxes

    !> Traces of receiver r that hang on d, or on its rate.
    subroutine Across(rate)
      logical, intent(in) :: rate
      type(across_t) :: one
      integer :: k, n
      logical :: hangs(size(names))
      hangs = Slopes(names, rate)
      if (.not. any(hangs)) return
      one%rate = rate
      one%water = pressed%water(r)
      one%loss = place(r)%loss
      one%bulk = place(r)%lambda + 2*place(r)%mu/3
      one%normal = place(r)%normal
      one%own = Sem3dChristoffel(place(r))
      one%average = Sem3dChristoffel(place(r), average=.true.)
      call OnSide(even, rate, one%e)
      do k = 1, merge(0, 3, isotropic)
        call OnSide(Sem3dTraction(place(r), k, average=.true.), rate, one%t(k))
      end do
      n = merge(0, others, rate)
      one%trace = [pack([(TraceOf(r, k), k=1, size(names))], hangs), of_trace(:n)]
      allocate (one%weight(3, 0))
      do k = 1, size(names)
        if (hangs(k)) one%weight = reshape([one%weight, Sem3dAcross(place(r), names(k))], [3, size(one%weight, 2) + 1])
      end do
      do k = 1, n
        one%weight = reshape([one%weight, Sem3dAcross(place(r), of_beside(k), average=.true.)], [3, size(one%weight, 2) + 1])
      end do
      relaxing%sides = relaxing%sides + 1
      relaxing%across(relaxing%sides) = one
    end subroutine Across

    !> Samples the sum of of(c, l) times the derivative of motion c along l on the side of receiver r.
    subroutine OnSide(of, rate, trace)
      real(dp), intent(in) :: of(3, 3)
      logical, intent(in) :: rate
      integer, intent(out) :: trace
      call Sem3dRecordOnSide(list, place(r), of, rate)
      trace = list%receivers
      call PressedAdd(pressed, r, trace, Sem3dPressedOnSide(place(r), of), rate)
    end subroutine OnSide

    subroutine Beside(name, from)
      character(*), intent(in) :: name
      integer, intent(out) :: from
      call Sem3dRecord(list, place(r), trim(name), error, average=.true.)
      from = list%receivers
      call PressedAdd(pressed, r, from, Sem3dPressed(place(r), trim(name), average=.true.), .false.)
      others = others + 1
      of_trace(others) = from
      of_beside(others) = name
    end subroutine Beside

  end subroutine RelaxingRecord

  !> Makes traces (steps, all of the list) of the stress of unrelaxed moduli, which are known from their first motion on, those of
  !> the stress. dt [s].
  pure subroutine RelaxingApply(relaxing, band, dt, traces)
    type(relaxing_t), intent(in) :: relaxing
    real(dp), intent(in) :: band(2), dt
    real(sp), intent(inout) :: traces(:, :)
    real(dp), allocatable :: d(:, :)
    integer :: i, k
    do i = 1, relaxing%sides
      associate (one => relaxing%across(i))
        d = Differs(one, band, dt, traces)
        do k = 1, size(one%trace)
          traces(:, one%trace(k)) = real(traces(:, one%trace(k)) + matmul(one%weight(:, k), d), sp)
        end do
      end associate
    end do
    do i = 1, relaxing%n
      call Relax(relaxing%share(:, i), band, dt, (traces(:, relaxing%from(i))), traces(:, relaxing%trace(i)))
    end do
  end subroutine RelaxingApply

  !> D in each step, (3, steps).
  pure function Differs(one, band, dt, traces) result(d)
    type(across_t), intent(in) :: one
    real(dp), intent(in) :: band(2), dt
    real(sp), intent(in) :: traces(:, :)
    real(dp) :: d(3, size(traces, 1))
    real(dp) :: t(3, size(traces, 1))
    real(dp) :: decay(zener_mechanisms), gain(zener_mechanisms, 2), z(3, zener_mechanisms, 2), b(3)
    real(dp) :: along(3, 3), left(3, 3), all(2), mean(3), known(3), strained(3, 2)
    integer :: n, m, k
    decay = exp(-dt/ZenerTimes(band))
    do m = 1, 2
      gain(:, m) = (1 - decay)/2*ZenerShares(band, one%loss(m))
    end do
    all = sum(gain, 1)
    t = 0
    if (one%t(1) > 0) then
      t = transpose(real(traces(:, one%t), dp))
    else if (one%water > 0) then
      t = -spread(one%normal, 2, size(t, 2))*spread(PressedTrace(traces(:, one%water), one%rate, dt), 1, 3)
    end if
    along = one%bulk*spread(one%normal, 2, 3)*spread(one%normal, 1, 3)      ! of D, the mean stress
    left = Inverse(one%own - all(1)*along - all(2)*(one%average - along))
    z = 0
    do n = 1, size(t, 2)
      mean = one%bulk*traces(n, one%e)*one%normal
      known = sum(z(:, :, 1), 2) + sum(z(:, :, 2), 2) + all(1)*mean + all(2)*(t(:, n) - mean)
      d(:, n) = matmul(left, known)
      strained(:, 1) = mean + matmul(along, d(:, n))
      strained(:, 2) = t(:, n) + matmul(one%average, d(:, n)) - strained(:, 1)
      do k = 1, 2
        do m = 1, zener_mechanisms
          b = gain(m, k)*strained(:, k)
          z(:, m, k) = decay(m)*(z(:, m, k) + b) + b
        end do
      end do
    end do
  end function Differs

  !> Makes of the volume that a source has released before each step the one whose stress by the unrelaxed bulk modulus is that of
  !> the modulus that relaxes. loss: its 1/Q; dt [s].
  pure subroutine RelaxingVolume(loss, band, dt, released)
    real(dp), intent(in) :: loss, band(2), dt
    real(sp), intent(inout) :: released(:)
    call Relax(ZenerShares(band, loss), band, dt, (released), released)
  end subroutine RelaxingVolume

  !> Takes from a trace of stress of the unrelaxed moduli what of the trace `of` has relaxed before each step.
  pure subroutine Relax(share, band, dt, of, trace)
    real(dp), intent(in) :: share(zener_mechanisms), band(2), dt
    real(sp), intent(in) :: of(:)
    real(sp), intent(inout) :: trace(:)
    real(dp), dimension(zener_mechanisms) :: decay, z, b
    integer :: n
    decay = exp(-dt/ZenerTimes(band))
    z = 0
    do n = 1, size(trace)
      b = (1 - decay)/2*share*of(n)
      trace(n) = real(trace(n) - sum(z + b), sp)
      z = decay*(z + b) + b
    end do
  end subroutine Relax

end module stress_relaxation_m
