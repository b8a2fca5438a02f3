!> Derives the scheme of a survey: wavelet, source, attenuation, time step. Arguments stand in elastic3d.f90.
submodule(elastic3d_m) elastic3d_derive
  use anelastic_m, only: anelastic_least_q, anelastic_t, AnelasticAuto, AnelasticFit, AnelasticStiffness, memory_words
  use elastic3d_parameters_m, only: Elastic3dPieces
  use finite_fault_m, only: FaultStart
  use model3d_window_m, only: Model3dGrid
  use partners_m, only: halo_auto, halo_host, halo_words
  use quality_band_m, only: QualityBand, QualityBandCheck
  use scheme3d_m, only: wide_auto, wide_no, wide_words
  use scheme_m, only: SchemeDerive, SchemeWarn
  use soft_ground_m, only: WantsDamped
  use source3d_m, only: source_force, SourceDerive
  use fd3d_surface_m, only: surface_rows
  use model3d_m, only: model3d_t, Model3dDown
  use stairs_m, only: WantsNarrow
  use wavelet_m, only: WaveletMake
  use what_stays_m, only: LeavesDisplacement
  implicit none

contains

  module procedure OwnWavelet
    if (job%source /= 'fault') then
      call WaveletMake(job, wavelet, error)
      return
    end if
    if (.not. job%fmax > 0) call Fail(error, 'source=fault: give fmax [Hz], the highest frequency that must be right')
    wavelet%name = 'histories of '//job%fault
    wavelet%q = [1.0_dp]
    wavelet%fpeak = 0.4_dp*job%fmax
    wavelet%fmax = job%fmax
    wavelet%fband = 1.5_dp*job%fmax
  end procedure OwnWavelet

  module procedure derive
    character(:), allocatable :: doubt
    real(dp) :: d(3), vmax
    integer :: way
    select type (scheme)
    type is (scheme3d_t)
      scheme%sponge = job%absorb == 'sponge'
      scheme%periodic = job%sides == 'periodic'
      scheme%one_way = job%bottom == 'one-way'
      scheme%own%pgv = job%pgv
      scheme%own%pgv_depth = job%pgv_depth
      call Elastic3dPieces(job%decomposition, scheme%own%decomposition)
      scheme%own%halo = findloc([(halo_words(way) == job%halo, way=halo_auto, halo_host)], .true., 1) - 1
      scheme%own%wide = findloc([(wide_words(way) == job%halo_wide, way=wide_auto, wide_no)], .true., 1) - 1
      scheme%own%planes = job%snapshot_planes
      scheme%own%fields = job%snapshot_fields
      scheme%own%attenuates = self%earth%attenuates
      scheme%own%qmin = self%earth%qmin
      scheme%own%memory = AnelasticAuto(self%earth%qmin)
      if (job%memory_variables /= 'auto') scheme%own%memory = findloc(memory_words == job%memory_variables, .true., 1)
      call QualityBand(job, wavelet, scheme%own%q_band, scheme%own%q_ref)
      call Model3dGrid(job, self%earth, d, error)
      doubt = ''
      if (self%earth%attenuates) call QualityBandCheck(scheme%own%q_band, wavelet, doubt, error)
      vmax = Fastest(self, scheme, error)
      if (.not. allocated(error)) call SourceDerive(job, scheme%own%source, error)
      if (allocated(error)) return
      scheme%histories = scheme%own%source%kind == source_fault
      if (scheme%histories) scheme%acts = FaultStart(scheme%own%source%fault)
      if (scheme%own%source%kind == source_force) scheme%early = 0.5_dp
      scheme%own%wet = Wet(self%earth, surface_rows*merge(job%dz, d(3), job%dz > 0))
      scheme%rock_top = job%top == 'free' .and. .not. scheme%own%wet
      call SchemeDerive(job, wavelet, self%vmin, vmax, d, scheme, error)
      if (doubt /= '') call SchemeWarn(scheme, doubt)
      scheme%own%narrow = WantsNarrow(job%layer_differences, self%earth, scheme)
      scheme%damped = WantsDamped(job%absorb, scheme, self%earth)
      if (LeavesDisplacement(scheme%own%source, wavelet) .and. .not. allocated(error)) call WarnOfFading(scheme)
    end select
  end procedure derive

  !> Tells of sides that do not hold what stays of the source. PML does: at rest it is rock, stretched as if its end were far away.
  subroutine WarnOfFading(scheme)
    type(scheme3d_t), intent(inout) :: scheme
    character(:), allocatable :: sides, by, cure
    sides = ''
    if (scheme%one_way) sides = 'bottom=one-way lets it go, by 5 to 15 %'
    cure = 'bottom=absorb'
    if (scheme%npml > 0 .and. (scheme%sponge .or. scheme%damped)) then
      by = 'layers of absorb=damped let it fade, by some per cent in ten seconds'
      if (scheme%sponge) by = 'layers of absorb=sponge let it go, by tens of per cent'
      if (sides /= '') by = by//', and '//sides
      cure = 'absorb=pml'//trim(merge(' and bottom=absorb', '                  ', sides /= ''))
      sides = by
    end if
    if (sides /= '') call SchemeWarn(scheme, 'the source leaves a displacement that stays: '//sides// &
      '; do not integrate velocities to displacements after the waves, or take '//cure)
  end subroutine WarnOfFading

  !> The fastest wave [m/s]: with attenuation that of very high frequencies, faster than the model's.
  real(dp) function Fastest(self, scheme, error) result(v)
    class(elastic3d_t), intent(in) :: self
    type(scheme3d_t), intent(in) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    type(anelastic_t) :: a
    v = self%vmax
    if (.not. scheme%own%attenuates .or. .not. scheme%own%qmin > 0 .or. allocated(error)) return
    call AnelasticFit(scheme%own%q_band(1), scheme%own%q_band(2), scheme%own%memory, a, error)
    if (scheme%own%qmin < anelastic_least_q*(1 - 1e-6_dp)) &             ! volumes have 1/Q in single precision
      call Fail(error, 'the smallest Q of the model is '//Str(scheme%own%qmin, 4)//', at least '//Str(anelastic_least_q)// &
                ' can be modelled: raise it there, or leave attenuation out (attenuation=n)')
    if (.not. allocated(error)) v = v*sqrt(AnelasticStiffness(a, 1/scheme%own%qmin, scheme%own%q_ref))
  end function Fastest

  !> All of the model's top is a fluid, down to `depth` [m] at least.
  pure logical function Wet(earth, depth)
    type(model3d_t), intent(in) :: earth
    real(dp), intent(in) :: depth
    integer :: rock
    if (earth%layers%n > 0) then
      rock = findloc(earth%layers%medium(2, :) > 0, .true., 1)     ! the first layer of it, below any number of fluids; 0: none
      Wet = rock /= 1
      if (rock > 1) Wet = earth%layers%top(rock) - earth%layers%top(1) >= depth
    else
      Wet = all(earth%ground == 1) .and. .not. any(earth%ground_vs > 0) .and. &
            all(earth%seabed == 0 .or. Model3dDown(earth, earth%seabed) >= depth)
    end if
  end function Wet

end submodule elastic3d_derive
