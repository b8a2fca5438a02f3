!> Derives the scheme of a survey: source, attenuation, points per wavelength, time step. Arguments stand in elements3d.f90.
submodule(elements3d_m) elements3d_derive
  use anelastic_m, only: coarse_least_q
  use elements_cut_m, only: CutCan, CutFewest
  use elements_dt_m, only: ElementsDt
  use elements_m, only: degree, in_element, in_memory, least_ppw
  use elements_make_m, only: ElementsSlowest
  use elements_pictures_m, only: PictureSpacing
  use elements_relax_m, only: ElementsUnrelax
  use mesh_ground_m, only: from_level
  use model_rules_m, only: NoShearDoubt
  use partners_m, only: halo_auto, halo_host, halo_words
  use quality_band_m, only: QualityBand, QualityBandCheck
  use scheme_m, only: SchemeNew, SchemeTimes, SchemeWarn
  use source3d_m, only: SourceDerive
  use stress_relaxation_m, only: RelaxingMost
  use water_pressure_m, only: PressedMost
  use what_stays_m, only: LeavesDisplacement
  use zener_m, only: ZenerModulus, ZenerShares
  implicit none

  real(dp), parameter :: no_wave = 2.5_dp             !< with fewer there are no waves
  real(dp), parameter :: most_relaxing = 0.95_dp      !< of a modulus
  real(dp), parameter :: part_of_limit = 0.95_dp      !< default time step

contains

  module procedure derive
    integer :: way
    select type (scheme)
    type is (elements_scheme_t)
      call SourceDerive(job, scheme%source, error)
      if (allocated(error)) return
      ! y is 90 degrees to the left of x where z of the mesh points up
      if (job%source == 'dc' .and. job%mesh_z == 'up') scheme%source%moment([4, 6]) = -scheme%source%moment([4, 6])
      if (scheme%source%kind == source_force) scheme%early = 0.5_dp
      call SchemeNew(scheme, job, wavelet)
      scheme%vmin = self%vmin
      scheme%vmax = self%vmax
      scheme%attenuates = self%attenuates
      call QualityBand(job, wavelet, scheme%q_band, scheme%q_ref)
      scheme%source_from = From(job%source_z)
      scheme%receivers_from = From(job%receiver_z)
      scheme%free_sides = self%counts%free
      scheme%pgv = job%pgv
      scheme%pgv_depth = job%pgv_depth
      scheme%planes = job%snapshot_planes
      scheme%fields = job%snapshot_fields
      scheme%relaxing = in_memory
      if (self%attenuates .and. self%least_q < coarse_least_q .and. job%memory_variables == 'auto') scheme%relaxing = in_element
      if (job%memory_variables == 'all') scheme%relaxing = in_element
      scheme%sponge_width = job%sponge
      scheme%halo = findloc([(halo_words(way) == job%halo, way=halo_auto, halo_host)], .true., 1) - 1
      scheme%resident = (index('all    fields auto', job%resident) - 1)/7
      if (self%counts%contacts > 0) scheme%beside = PressedMost(SplitList(scheme%components))
      if (scheme%attenuates) scheme%beside = scheme%beside + RelaxingMost(SplitList(scheme%components), &
                                                                          allocated(self%elements%tensor))
      if (scheme%attenuates) call CheckQuality(self, wavelet, scheme, error)
      call WarnOfMedia(self, job, scheme)
      if (LeavesDisplacement(scheme%source, wavelet) .and. self%counts%absorbs > 0 .and. index(scheme%components, 'u') > 0) &
        call SchemeWarn(scheme, 'the source leaves a displacement that stays, and sides that absorb do not hold it: after '// &
        'the waves ux, uy and uz drift, 3 to 20 % off where the sides are 2 to 4 times as far from the source as a receiver, '// &
        '1 to 4 % at 5 times; use a larger mesh, or SplFd3dmod with absorb=pml')
      if (.not. allocated(error)) call Resolution(self, job, scheme, error)
      scheme%spacing = job%snapshot_dx
      if (.not. (allocated(error) .or. scheme%spacing > 0)) scheme%spacing = PictureSpacing(scheme%longest)
      if (.not. allocated(error)) call TimeStep(self, job, scheme, error)
      call SchemeTimes(scheme, job, wavelet, error)
      if (.not. allocated(error)) call CutCan(self%elements, job%group, error)
      self%fewest = CutFewest(self%elements%n)
    end select
  end procedure derive

  module procedure From
    From = from_level
    if (word == 'surface') From = from_surface
    if (word == 'seafloor') From = from_seafloor
  end procedure From

  !> Tells of media that are not what the user may have meant.
  subroutine WarnOfMedia(self, job, scheme)
    class(elements3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    type(elements_scheme_t), intent(inout) :: scheme
    real(dp), parameter :: sound = 1500                 !< in water [m/s]
    real(dp), parameter :: thin = 0.01_dp               !< of the mesh,
    real(dp), parameter :: part = 0.1_dp                !< and of the shortest wave: hardly seen by it
    character(:), allocatable :: doubt
    real(dp) :: deepest, height
    height = self%high(3) - self%low(3)
    if (self%unused /= '') call SchemeWarn(scheme, 'the mesh has no block '//self%unused//', of which '//job%materials// &
      ' has a line: check the names, capitals too')
    if (self%lossy_fluids /= '') call SchemeWarn(scheme, 'fluids do not attenuate: Q of block '//self%lossy_fluids//' in '// &
      job%materials//' is not heeded')
    if (self%passive > 0) call SchemeWarn(scheme, 'in '//Str(self%passive)//' of '//Str(self%elements%n)//' elements Qp is too '// &
      'large beside Qs: waves that only compress would gain energy; there it is Qs*3/4*(vp/vs)**2, as if the bulk modulus did '// &
      'not attenuate: give a smaller Qp, or qp_qs')
    if (self%counts%inside > 0) call SchemeWarn(scheme, Str(self%counts%inside)//' sides in side sets of a name with free or '// &
      'abs lie between elements, where waves go on as if they were in none: only outer sides are free or absorb')
    if (self%counts%both > 0) call SchemeWarn(scheme, Str(self%counts%both)//' sides are free and absorb alike by the names of '// &
      'their side sets: free counts where a name has both words, else the set that comes last; give each side one name')
    if (self%counts%hollow > 0) call SchemeWarn(scheme, Str(self%counts%hollow)//' sides in no side set of a name with free '// &
      'or abs lie around hollows inside of the mesh, the first of them at x = '//Str(self%counts%hollow_at(1), 7)//', y = '// &
      Str(self%counts%hollow_at(2), 7)//', z = '//Str(self%counts%hollow_at(3), 7)//' m (z down): those that look '// &
      'up are free and the rest absorb; mesh what is there, or put these sides into a side set of the name free')
    if (maxval(self%high - self%low) < self%vmin/scheme%fmax) call SchemeWarn(scheme, 'the mesh is '// &
      Str(maxval(self%high - self%low), 4)//' m long, less than its shortest wave, of '//Str(self%vmin/scheme%fmax, 4)// &
      ' m: coordinates of a mesh are metres; are these kilometres?')
    if (self%skin < min(thin*height, part*self%vmin/scheme%fmax)) &
      call SchemeWarn(scheme, 'all layers of '//job%layers//' but the lowest end within '//Str(self%skin, 4)//' m, of '// &
      Str(height, 6)//' m that are meshed: give upper sides in metres if these are kilometres')
    doubt = NoShearDoubt(job, self%vmax)
    if (doubt /= '') call SchemeWarn(scheme, doubt)
    if (.not. allocated(self%elements%ocean)) return
    deepest = maxval(self%elements%ocean)/job%ocean_rho
    if (deepest > 0.1_dp*sound/scheme%fpeak) call SchemeWarn(scheme, 'the water of ocean_load is up to '//Str(deepest, 4)// &
      ' m deep, more than a tenth of the wavelength of its sound at '//Str(scheme%fpeak, 4)// &
      ' Hz, where the source is strongest, '//Str(sound/scheme%fpeak, 4)//' m: its load is off by 15 % and more, and no waves '// &
      'travel in it; mesh the water in its place')
  end subroutine WarnOfMedia

  !> Fails on a band of Q that is none, and where all of the modulus of a point, or more, would relax. Warns of bands that do not
  !> hold the wavelet, or are so wide that Q is not constant in them, and where the points without memory variables show.
  subroutine CheckQuality(self, wavelet, scheme, error)
    class(elements3d_t), intent(in) :: self
    type(wavelet_t), intent(in) :: wavelet
    type(elements_scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    real(dp), parameter :: most_gain = 1.69_dp     !< of a point that has memory variables where not all have them
    real(dp), parameter :: most_off = 0.06_dp      !< of Q
    character(:), allocatable :: doubt
    real(dp) :: relaxes, off
    call QualityBandCheck(scheme%q_band, wavelet, doubt, error)
    if (allocated(error)) return
    if (doubt /= '') call SchemeWarn(scheme, doubt)
    off = FarthestOff(scheme%q_band, 1/self%least_q)
    if (off > most_off) call SchemeWarn(scheme, 'Q is constant from '//Str(scheme%q_band(1), 4)//' to '// &
      Str(scheme%q_band(2), 4)//' Hz within '//Str(100*off, 2)//' %: a band of a factor of 50 holds it within 4 %; raise q_f1')
    relaxes = sum(ZenerShares(scheme%q_band, 1/self%least_q))
    if (scheme%relaxing < in_element .and. relaxes < most_relaxing .and. relaxes*most_gain >= most_relaxing) then
      call Fail(error, 'Q = '//Str(self%least_q, 4)// &
                ' of the bulk modulus or of mu is too small for memory_variables=coarse: of its '// &
                'modulus '//Str(100*relaxes, 3)//' % would relax in all and '//Str(100*most_gain*relaxes, 3)// &
                ' % at single points, '// &
                'at most '//Str(100*most_relaxing)//' %; use memory_variables=all')
    else if (relaxes >= most_relaxing) then
      call Fail(error, 'Q = '//Str(self%least_q, 4)//' of the bulk modulus or of mu is too small: '//Str(100*relaxes, 3)// &
                ' % of the modulus would relax, at most '//Str(100*most_relaxing)//' %; use a larger Q, or '// &
                'a narrower band q_f1 .. q_f2')
    else if (scheme%relaxing < in_element .and. self%least_q < coarse_least_q) then
      call SchemeWarn(scheme, 'Q = '//Str(self%least_q, 4)//' of the bulk modulus or of mu is below '//Str(coarse_least_q)// &
                      ', where memory_variables=coarse leaves velocities up to 3 %, stress, strain and rotation up to 6 % off '// &
                      'some wavelengths from the source; memory_variables=all leaves 1 to 2 %')
    end if
  end subroutine CheckQuality

  !> The largest relative difference in a band between the loss of waves and the one asked for.
  pure real(dp) function FarthestOff(band, loss) result(off)
    real(dp), intent(in) :: band(2), loss
    integer, parameter :: frequencies = 100
    complex(dp) :: modulus
    integer :: i
    off = 0
    do i = 0, frequencies
      modulus = ZenerModulus(band, loss, band(1)*(band(2)/band(1))**(i/real(frequencies, dp)))
      off = max(off, abs(aimag(modulus)/real(modulus)/loss - 1))
    end do
  end function FarthestOff

  !> Points per shortest wavelength: four intervals of an element along its longest edge.
  subroutine Resolution(self, job, scheme, error)
    class(elements3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    type(elements_scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: edge, v
    character(:), allocatable :: text
    integer :: e
    call ElementsSlowest(self%elements, e, v, edge, scheme%shortest, scheme%longest)
    scheme%elements = self%elements%n
    scheme%solid = self%elements%solid
    scheme%per = self%elements%per
    scheme%media = size(self%elements%rho, 1)
    scheme%sum = (index('gather colour atomic', job%sum) - 1)/7
    scheme%slowest = self%number(e)
    scheme%dx = edge/degree
    scheme%dy = scheme%dx
    scheme%dz = scheme%dx
    scheme%ppw = v/(scheme%fmax*scheme%dx)
    if (scheme%ppw >= least_ppw) return
    text = 'element '//Str(scheme%slowest)//' is too large for fmax = '//Str(scheme%fmax, 4)//' Hz: with an edge of '// &
           Str(edge, 4)//' m where v = '//Str(v, 5)//' m/s it has '//Str(scheme%ppw, 3)//' points per wavelength, and '// &
           Str(least_ppw)//' keep waves right to about 1 %; use edges of at most '// &
           StrAtMost(degree*v/(least_ppw*scheme%fmax), 4)//' m there, or '//SchemeLower(scheme, degree*v/(least_ppw*edge))
    if (scheme%ppw <= no_wave) then
      call Fail(error, text//' (even dispersion=warn needs more than '//Str(no_wave)//' points per wavelength)')
    else if (job%dispersion == 'warn') then
      call SchemeWarn(scheme, text)
    else
      call Fail(error, text//'; dispersion=warn models all the same')
    end if
  end subroutine Resolution

  subroutine TimeStep(self, job, scheme, error)
    class(elements3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    type(elements_scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    type(elements_t), allocatable :: unrelaxed
    real(dp) :: nyquist_limit, x(3)
    integer :: e
    if (scheme%attenuates) then
      unrelaxed = self%elements
      call ElementsUnrelax(unrelaxed, scheme%q_band, scheme%q_ref)
      call ElementsDt(unrelaxed, scheme%dt_limit, e)
      deallocate (unrelaxed)
    else
      call ElementsDt(self%elements, scheme%dt_limit, e)
    end if
    scheme%worst = self%number(e)
    nyquist_limit = 0.28_dp/scheme%fmax                     ! as of finite differences (scheme.f90)
    scheme%dt = job%dt
    if (job%dt <= 0) scheme%dt = min(part_of_limit*scheme%dt_limit, nyquist_limit)
    x = sum(self%elements%corner(:, :8, e), 2)/8
    if (scheme%dt > scheme%dt_limit) then
      call Fail(error, 'dt = '//Str(scheme%dt)//' s is unstable: the limit is '//StrAtMost(scheme%dt_limit, 5)// &
                ' s, set by element '//Str(scheme%worst)//' at x = '//Str(x(1), 7)//', y = '//Str(x(2), 7)//', z = '// &
                Str(x(3), 7)//' m; use dt=0 for the largest stable step')
    else if (scheme%dt > nyquist_limit) then
      call Fail(error, 'dt = '//Str(scheme%dt)//' s is too large for fmax = '//Str(scheme%fmax, 4)//' Hz: at most '// &
                StrAtMost(nyquist_limit, 4)//' s')
    end if
  end subroutine TimeStep

end submodule elements3d_derive
