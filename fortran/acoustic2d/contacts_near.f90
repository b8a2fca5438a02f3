!> Receivers and sources that are nearer to a contact of the model, or to each other, than the grid can tell: said before shots.
!>
!> Velocity along a contact jumps with the density, that across it bends where moduli differ. Where the grid has other averages
!> than receiver_earth.f90 knows, weights over eight nodes read both as if they were smooth; pressure is smooth. Beside flat
!> contacts, 0.1 to 3 cells away at 5 and 10 points per shortest wavelength, traces of velocity are off then by some
!>     along    1/2 |rho here/rho there - 1| exp(-1.2 d)
!>     across   1.5 (2 pi fpeak h/c) |K here - K there|/(K here + K there) exp(-1.2 d)
!> and more at d cells of size h, c the slower of both (t880). What the grid lacks within some cells of a source (nearfield.f90) is
!> that of an even medium: a contact of densities nearer than a cell to the source makes some 15 % of the pressure next to it, and a
!> third of the velocities (t208); with half-length 1, whose short waves are of the second order, one two cells away makes some 18 %
!> of the velocities, one cell away 60 %. Up to 2.5 cells away, 3.5 of flat cells, it makes up to a third of a velocity beyond it,
!> unless it is flat and the medium of the grid even between it and others (fd2d_flat_contact.f90, t880). Below a free surface a sea
!> floor 1 to 1.5 cells below the source and less than two below the surface makes up to 10 % of the pressure next to the source (by
!> hand, against an integral over wavenumber). On the source itself the field is infinite (t888).
module contacts_near_m
  use kinds_m, only: dp, i8, pi
  use model_m, only: model_t
  use model_window_m, only: SameStep
  use nearfield_m, only: near_least, near_most
  use parameters_m, only: job_t
  use receiver_earth_m, only: EarthShare, EarthTold, PlaceUsed
  use scheme_m, only: scheme_t, SchemePad, SchemeWarn
  use shot_m, only: shot_t
  use text_m, only: Str
  use told_receivers_m, only: told_receivers_t, fade, off_most, ToldAdd
  implicit none
  private
  public :: contacts_near_t, ContactsShot, ContactsSay

  real(dp), parameter :: reach = 2                !< cells: farther away less than a tenth of it is left
  real(dp), parameter :: dense = 1, dense_second_order = 2.5_dp   !< cells: contacts so near a source show; half-length 1
  real(dp), parameter :: dense_thin = 1.5_dp             !< likewise above a sea floor that is nearer than
  real(dp), parameter :: floor_thin = 2           !< so many cells to a free surface
  real(dp), parameter :: dense_less = 2.5_dp      !< likewise, in velocities beyond them
  real(dp), parameter :: bend = 1.5_dp*2*pi
  real(dp), parameter :: seen_most = 15           !< cells that fd2d_flat_contact.f90 sees, with one to spare
  real(dp), parameter :: smeared = 5, smeared_own = 2      !< cells to each side of a contact; on the model's own grid

  !> Errors at a place by the contacts that one axis crosses: parts of the RMS of a trace.
  type :: seen_t
    real(dp) :: jump = 0                          !< off along a contact that this axis crosses
    real(dp) :: bend = 0                          !< off across it
    real(dp) :: dense = 0                         !< half the jump of density close by (Close)
    real(dp) :: less = 0                          !< the same farther off (LessClose)
    logical :: thin = .false.                     !< some of `dense` is there below a free surface alone
  end type seen_t

  type :: contacts_near_t
    private
    type(told_receivers_t) :: receivers       !< near a contact
    type(told_receivers_t) :: sources         !< of a source near one
    type(told_receivers_t) :: beyond          !< of a source less near one, beyond it
    type(told_receivers_t) :: on_source       !< on their source
    logical :: thin = .false.                 !< some of `sources` are so below a free surface alone
    integer(i8) :: shots = 0                  !< that were there
    real(dp) :: share = 0                     !< part of receivers that read more cells, of the shot where it is most
    integer :: told = 0                       !< numbers of the earth at each
  end type contacts_near_t

contains

  !> Looks at a shot.
  subroutine ContactsShot(near, model, job, scheme, shot)
    type(contacts_near_t), intent(inout) :: near
    type(model_t), intent(in) :: model
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(seen_t) :: seen(2)
    real(dp) :: off, share, source(2), place(2), apart(size(shot%rx))
    logical :: vx, vz, flat
    integer :: r, told
    near%shots = near%shots + 1
    if (popcnt(near%shots) == 1) then                   ! the 1st, 2nd, 4th, ..
      call EarthShare(model, job, scheme, shot, share, told)
      near%share = max(near%share, share)
      near%told = max(near%told, told)
    end if
    vx = index(','//scheme%components//',', ',vx,') > 0
    vz = index(','//scheme%components//',', ',vz,') > 0
    if ((vx .or. vz) .and. .not. EarthTold(model, job, scheme)) then
      do r = 1, size(shot%rx)
        seen = Around(model, job, scheme, PlaceUsed(model, scheme, shot%rx(r), shot%rz(r)))
        off = 0
        if (vx) off = max(off, seen(1)%bend, seen(2)%jump)
        if (vz) off = max(off, seen(1)%jump, seen(2)%bend)
        if (off > off_most) call ToldAdd(near%receivers, shot, r, off, .false.)
      end do
    end if
    source = PlaceUsed(model, scheme, shot%sx, shot%sz)
    do r = 1, size(shot%rx)
      apart(r) = norm2((PlaceUsed(model, scheme, shot%rx(r), shot%rz(r)) - source)/[scheme%dx, scheme%dz])
      if (apart(r) < near_least) call ToldAdd(near%on_source, shot, r, 1.0_dp, .false.)
    end do
    if (.not. any(apart <= near_most)) return
    seen = Around(model, job, scheme, source)
    if (maxval(seen%dense) > off_most) then
      near%thin = near%thin .or. any(seen%thin)
      do r = 1, size(shot%rx)
        if (apart(r) <= near_most) call ToldAdd(near%sources, shot, r, maxval(seen%dense), .false.)
      end do
    else if (maxval(seen%less) > off_most .and. (vx .or. vz)) then
      flat = FlatThere(model, job, scheme, source)
      do r = 1, size(shot%rx)
        if (apart(r) > near_most) cycle
        place = PlaceUsed(model, scheme, shot%rx(r), shot%rz(r))
        if (0.5_dp*abs(DensityAt(model, source)/DensityAt(model, place) - 1) <= off_most) cycle
        if (flat) then
          if (FlatThere(model, job, scheme, place)) cycle
        end if
        call ToldAdd(near%beyond, shot, r, maxval(seen%less), .false.)
      end do
    end if
  end subroutine ContactsShot

  !> Errors at a place, from the first sample on [m], by the contacts along x and along z.
  pure function Around(model, job, scheme, place) result(seen)
    type(model_t), intent(in) :: model
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    real(dp), intent(in) :: place(2)
    type(seen_t) :: seen(2)
    integer :: n(2), at(2), a
    real(dp) :: own(2), d(2)
    n = [model%nx, model%nz]
    own = [model%dx, model%dz]
    d = [scheme%dx, scheme%dz]
    at = min(max(nint(place/own) + 1, 1), n)
    do a = 1, 2
      call Look(a, place(a)/own(a) + 1, own(a)/d(a), seen(a))
    end do

  contains

    !> Along axis a from `from` [samples: sample n is at n], each of them `wide` cells.
    pure subroutine Look(a, from, wide, seen)
      integer, intent(in) :: a
      real(dp), intent(in) :: from, wide
      type(seen_t), intent(out) :: seen
      real(dp) :: rho, vp, here(2), there(2), far, left, cell, below, near
      integer :: s, j(2), most
      logical :: same
      same = abs(wide - 1) < 1.0e-9_dp                    ! the grid has the samples themselves
      cell = merge(0.5_dp, 0.0_dp, wide <= 1 + 1.0e-9_dp .or. job%regrid == 'nearest')   ! else lines join the samples
      call Medium(at, rho, vp)
      here = [rho, rho*vp**2]
      near = Close(scheme)
      below = near
      if (a == 2 .and. scheme%free_top) below = max(near, min(dense_thin, floor_thin - (from - 1)*wide))
      most = ceiling(max(reach, below, LessClose(scheme, a))/wide) + 1
      do s = -most, most
        j = at
        j(a) = at(a) + s
        if (j(a) < 1 .or. j(a) > n(a)) cycle
        far = max(0.0_dp, abs(j(a) - from) - cell)*wide
        if (far > max(reach, below, LessClose(scheme, a))) cycle
        call Medium(j, rho, vp)
        there = [rho, rho*vp**2]
        if (far < merge(below, near, s > 0)) then
          seen%dense = max(seen%dense, 0.5_dp*abs(here(1)/there(1) - 1))
          seen%thin = seen%thin .or. far >= near .and. 0.5_dp*abs(here(1)/there(1) - 1) > off_most
        end if
        if (far < LessClose(scheme, a)) seen%less = max(seen%less, 0.5_dp*abs(here(1)/there(1) - 1))
        if (far > reach) cycle
        left = exp(-fade*far)
        if (.not. (same .and. On(from))) seen%jump = max(seen%jump, 0.5_dp*abs(here(1)/there(1) - 1)*left)
        if (.not. (same .and. On(from + 0.5_dp))) &
          seen%bend = max(seen%bend, bend*scheme%fpeak*d(a)/min(vp, sqrt(here(2)/here(1)))*abs(here(2) - there(2))/ &
                          (here(2) + there(2))*left)
      end do
    end subroutine Look

    pure subroutine Medium(j, rho, vp)
      integer, intent(in) :: j(2)
      real(dp), intent(out) :: rho, vp
      rho = model%rho(j(1), j(2))
      vp = model%vp(j(1), j(2))
    end subroutine Medium

    !> At a node along an axis, where nothing is between the nodes.
    pure logical function On(place)
      real(dp), intent(in) :: place
      On = abs(place - nint(place)) < 1.0e-3_dp
    end function On

  end function Around

  !> Density of the sample around a place, from the first sample on [m].
  pure real(dp) function DensityAt(model, place) result(rho)
    type(model_t), intent(in) :: model
    real(dp), intent(in) :: place(2)
    integer :: at(2)
    at = min(max(nint(place/[model%dx, model%dz]) + 1, 1), [model%nx, model%nz])
    rho = model%rho(at(1), at(2))
  end function DensityAt

  !> True where the contact of densities nearest to a place is one that fd2d_flat_contact.f90 finds there, from the place on.
  logical function FlatThere(model, job, scheme, place)
    type(model_t), intent(in) :: model
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    real(dp), intent(in) :: place(2)
    real(dp) :: own(2), d(2)
    integer :: n(2), at(2), pad(2), a
    own = [model%dx, model%dz]
    d = [scheme%dx, scheme%dz]
    n = [model%nx, model%nz]
    at = min(max(nint(place/own) + 1, 1), n)
    pad = SchemePad(scheme)
    FlatThere = EarthTold(model, job, scheme) .and. pad(1) >= seen_most .and. place(2)/d(2) + pad(2) >= seen_most
    if (.not. FlatThere) return
    do a = 1, 2
      FlatThere = Across(a)
      if (FlatThere) return
    end do

  contains

    !> The same of one that axis a crosses. Where lines join the samples it is none.
    logical function Across(a)
      integer, intent(in) :: a
      real(dp), allocatable :: rho(:), away(:)
      logical, allocatable :: step(:), rows(:)
      real(dp) :: cells
      integer :: low(2), high(2), j, m, o
      o = 3 - a
      Across = own(a) <= d(a)*(1 + 1.0e-9_dp)
      if (.not. Across) return
      low = max(floor((place - seen_most*d)/own) + 1, 1)
      high = min(ceiling((place + seen_most*d)/own) + 1, n)
      rho = Line(a, at(o), low(a), high(a))
      away = [((j - 0.5_dp)*own(a) - place(a), j=low(a), high(a) - 1)]/d(a)
      step = abs(rho(2:)/rho(:size(rho) - 1) - 1) > 1.0e-5_dp
      Across = any(step)
      if (.not. Across) return
      m = minloc(abs(away), 1, step)
      cells = smeared
      if (SameStep(d(1), own(1)) .and. SameStep(d(2), own(2))) cells = smeared_own
      step(m) = .false.
      Across = .not. any(step .and. abs(away - away(m)) < 2*cells + 2) .and. abs(away(m)) + cells + 2 < seen_most
      if (.not. Across) return
      rows = [(abs((j - 1)*own(a) - place(a) - away(m)*d(a)) <= (cells + 2)*d(a), j=low(a), high(a))]
      do j = low(o), high(o)
        Across = all(abs(pack(Line(a, j, low(a), high(a))/rho - 1, rows)) <= 1.0e-5_dp)
        if (.not. Across) return
      end do
    end function Across

    !> Densities of samples along axis a.
    function Line(a, j, low, high) result(rho)
      integer, intent(in) :: a, j, low, high
      real(dp) :: rho(high - low + 1)
      if (a == 1) rho = model%rho(low:high, j)
      if (a == 2) rho = model%rho(j, low:high)
    end function Line

  end function FlatThere

  !> Cells to a contact of densities below which a source is told of.
  pure real(dp) function Close(scheme)
    class(scheme_t), intent(in) :: scheme
    Close = merge(dense_second_order, dense, scheme%half_length == 1)
  end function Close

  !> The same where receivers of velocity beyond it are told of: more in cells that are longer across the contact than along it.
  pure real(dp) function LessClose(scheme, across)
    class(scheme_t), intent(in) :: scheme
    integer, intent(in) :: across
    real(dp) :: d(2)
    d = [scheme%dx, scheme%dz]
    LessClose = dense_less*min(max(d(across)/d(3 - across), 1.0_dp), 1.4_dp)
  end function LessClose

  !> Adds to scheme%warnings what should be known; sets how many receivers are beside contacts.
  subroutine ContactsSay(near, scheme)
    type(contacts_near_t), intent(in) :: near
    class(scheme_t), intent(inout) :: scheme
    character(:), allocatable :: away, cells, off
    scheme%at_contacts = near%share
    scheme%places = near%told
    away = Str(reach*max(scheme%dx, scheme%dz), 4)//' m'
    if (near%receivers%n > 0) &
      call SchemeWarn(scheme, Str(near%receivers%n)//' receiver(s) of velocity stand within two cells, '//away// &
                ', of a contact, the first of them '//near%receivers%first//': what is read between the nodes there is off by '// &
                Str(100*min(near%receivers%off, 1.0_dp), 2)//' % and more; take regrid=cell, or put them farther away from '// &
                'the contact')
    if (near%on_source%n > 0) &
      call SchemeWarn(scheme, Str(near%on_source%n)//' receiver(s) stand on their source, the first of them '// &
                near%on_source%first//': the field there is infinite, and the traces hold what the spacing makes of it; put '// &
                'them '//Str(near_least*max(scheme%dx, scheme%dz), 2)//' m or more away from the source')
    cells = 'a cell'
    off = 'a third'
    if (scheme%half_length == 1) then
      cells = Str(dense_second_order, 2)//' cells'
      off = '60 %'
      away = Str(dense_second_order*max(scheme%dx, scheme%dz), 4)//' m'
    end if
    if (near%thin) cells = cells//' (below a free surface 1.5 cells)'
    if (near%sources%n > 0) &
      call SchemeWarn(scheme, Str(near%sources%n)//' receiver(s) are within '//Str(near_most, 2)//' cells of a source that is '// &
                'nearer than '//cells//' to a contact of densities, the first of them '//near%sources%first//': what the grid '// &
                'lacks next to a source is that of an even medium, so pressure may be off by some 15 % and velocity by '//off// &
                '; put the source '//away//' away from the contact, or take a smaller spacing')
    if (near%beyond%n > 0) &
      call SchemeWarn(scheme, Str(near%beyond%n)//' receiver(s) of velocity are within '//Str(near_most, 2)//' cells of a '// &
                'source and beyond a contact of densities less than '//Str(max(LessClose(scheme, 1), LessClose(scheme, 2)), 2)// &
                ' cells from it that dips, or has other contacts or a free surface near, the first of them '// &
                near%beyond%first//': what the grid lacks next to a source is that of an even medium, so velocity may be off '// &
                'by a third; put the source '//Str(max(LessClose(scheme, 1)*scheme%dx, LessClose(scheme, 2)*scheme%dz), 4)// &
                ' m away from the contact, or take a smaller spacing')
  end subroutine ContactsSay

end module contacts_near_m
