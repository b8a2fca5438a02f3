!> Mesh and scheme in words: for the log, the plan, the files, and to know a job again. Arguments stand in elements3d.f90.
submodule(elements3d_m) elements3d_words
  use band_weights_m, only: band_alike, band_dispersion
  use elements_m, only: face_contact, face_free, in_element
  use mesh_blocks_m, only: BlockRows
  use source3d_m, only: source_force, source_volume, SourceNumbers, SourceWords
  use version_m, only: VersionText
  implicit none

contains

  module procedure own_words
    real(dp), allocatable :: x(:)
    integer :: i
    words = ' '//job%mesh_z//' '//job%positions//' '//MemoryWord(scheme)//' '//Str(job%sponge, 12)
    select type (scheme)
    type is (elements_scheme_t)
      words = words//' '//Str(scheme%attenuates)//' '//Str(scheme%q_band(1), 12)//' '//Str(scheme%q_band(2), 12)//' '// &
              Str(scheme%q_ref, 12)
      if (scheme%attenuates .and. any(scan(SplitList(scheme%components), 'ps') == 1)) words = words//' relaxed stress'
      if (scheme%attenuates .and. scheme%source%kind == source_volume) then
        words = words//' relaxed volume'
        if (allocated(self%elements%tensor)) words = words//' of the average'                          ! not before 2026-11-30
      end if
      if (scheme%attenuates .and. job%positions == 'exact') words = words//' whatever their Q'         ! not before 2026-11-30
      allocate (x, source=SourceNumbers(scheme%source))
      do i = 1, size(x)
        words = words//' '//Str(x(i), 17)
      end do
    end select
    if (job%positions == 'exact') then
      associate (face => self%elements%face, solid => self%elements%solid)
        if (any(face(:, solid + 1:) == face_free)) words = words//' images'
        if (any(face(:, :solid) == face_free .or. face(:, :solid) == face_contact) .and. Gradients(scheme)) &
          words = words//' traction of sides'
        if (any(face == face_contact)) words = words//' moved by rock'
      end associate
      if (size(self%elements%rho, 1) > 1) words = words//' media go on'
      if (SomeAlike(self)) words = words//' or almost'                                                 ! not before 2026-11-30
    end if
    words = words//' near the source'                                                                    ! not before 2026-12-01
    if (any(self%elements%face(:, :self%elements%solid) == face_free)) words = words//' and the ground'   ! not before 2026-12-01
    if (self%elements%solid > 0 .and. (size(self%blocks) > 1 .or. size(self%elements%rho, 1) > 1)) &
      words = words//' and contacts'                                                                     ! not before 2026-12-01
    if (any(self%elements%face == face_contact)) words = words//' and floors'                             ! not before 2026-12-01
    if (job%source_z /= 'level') words = words//' source_z '//job%source_z
    if (job%receiver_z /= 'level') words = words//' receiver_z '//job%receiver_z
  end procedure own_words

  !> Blocks may have different media that count as one around sources and receivers.
  pure logical function SomeAlike(self) result(alike)
    class(elements3d_t), intent(in) :: self
    real(dp) :: medium(3, size(self%blocks)), here(3), before(3), most
    integer :: e, n, m
    alike = size(self%elements%rho, 1) > 1 .and. size(self%blocks) > 1        ! by point: not looked at
    if (alike .or. size(self%elements%rho, 1) > 1) return
    most = band_alike
    if (self%attenuates) most = most + band_dispersion/self%least_q
    n = 0
    before = 0
    do e = 1, self%elements%n
      here = [self%elements%rho(1, e), self%elements%lambda(1, e) + 2*self%elements%mu(1, e), self%elements%mu(1, e)]
      if (maxval(abs(here - before)) <= 0) cycle
      before = here
      if (any([(maxval(abs(here - medium(:, m))) <= 0, m=1, n)])) cycle
      alike = any([(all(abs(here - medium(:, m)) <= most*max(here, medium(:, m))), m=1, n)])
      if (alike) return
      n = n + 1
      medium(:, n) = here
    end do
  end function SomeAlike

  !> The value of memory_variables that is used, where auto is given too.
  pure function MemoryWord(scheme) result(word)
    class(scheme_t), intent(in) :: scheme
    character(:), allocatable :: word
    word = 'coarse'
    select type (scheme)
    type is (elements_scheme_t)
      if (scheme%relaxing == in_element) word = 'all'
    end select
  end function MemoryWord

  !> Gradients of motion in rock, which follow from the traction on its sides, are recorded, or the source is made of them.
  pure logical function Gradients(scheme)
    class(scheme_t), intent(in) :: scheme
    Gradients = .false.
    select type (scheme)
    type is (elements_scheme_t)
      Gradients = scheme%source%kind /= source_force .or. any(scan(SplitList(scheme%components), 'psew') == 1)
    end select
  end function Gradients

  module procedure WindowWords
    words = Str(self%elements%n)//' elements'
  end procedure WindowWords

  module procedure describe
    select type (scheme)
    type is (elements_scheme_t)
      call list%add('title', 'Shot gathers modelled by spectral elements')
      call list%add('source', self%program//' '//VersionText())
      call list%add('equations', 'rho d2u/dt2 = div s + f;  s = lambda div u + mu (grad u + its transpose) - moment;  in '// &
                    'fluids 1/K d2chi/dt2 = div(1/rho grad chi) - volume, p = -d2chi/dt2')
      if (allocated(self%elements%tensor)) call list%add('anisotropy', 'some blocks have 21 constants: s = c : strain - moment')
      call list%add('source_term', SourceWords(scheme%source))
      call list%add('axes', 'x and y of the mesh, z down')
      if (.not. scheme%attenuates) return
      call list%add('band_of_constant_Q_Hz', scheme%q_band)
      call list%add('smallest_Q', self%least_q)
      call list%add('memory_variables', MemoryWord(scheme))
    end select
  end procedure describe

  module procedure describe_scheme
    select type (scheme)
    type is (elements_scheme_t)
      call list%add('points_per_shortest_wavelength', scheme%ppw)
      call list%add('elements', scheme%elements)
      call list%add('element_edges_m', [scheme%shortest, scheme%longest])
      call list%add('time_step_s', scheme%dt)
      call list%add('time_step_limit_s', scheme%dt_limit)
      call list%add('time_steps', scheme%nt)
      call list%add('time_of_first_step_s', scheme%t_start)
      call list%add('time_dispersion_removed', Str(scheme%time_correction))
      call list%add('positions', job%positions)
      call list%add('mesh_z', job%mesh_z)
    end select
  end procedure describe_scheme

  module procedure log_lines
    select type (scheme)
    type is (elements_scheme_t)
      lines = 'model    '//self%sources//', slowest and fastest wave '//Str(self%vmin)//' and '//Str(self%vmax)//' m/s, rho '// &
              Str(self%rhomin)//' .. '//Str(self%rhomax)//' kg/m3'//nl//'surface  '//Surfaces(self%counts)//nl// &
              'acts     '//SourceWords(scheme%source)
    end select
  end procedure log_lines

  function Surfaces(counts) result(words)
    type(counts_t), intent(in) :: counts
    character(:), allocatable :: words
    words = Str(counts%free)//' sides are free, '//Str(counts%absorbs)//' absorb'
    if (counts%unnamed > 0) words = words//'; '//Str(counts%unnamed)//' of them are in no side set of a name with free or abs: '// &
                                    'those that look up are free, the rest absorb'
    if (counts%contacts > 0) words = words//'; '//Str(counts%contacts)//' sides join fluid and solid'
  end function Surfaces

  module procedure plan_rows
    select type (scheme)
    type is (elements_scheme_t)
      lines = 'model      '//self%sources//nl//'extent     x '//Str(self%low(1))//' .. '//Str(self%high(1))//' m, y '// &
              Str(self%low(2))//' .. '//Str(self%high(2))//' m, z '//Str(self%low(3))//' .. '//Str(self%high(3))//' m'//nl// &
              'surface    '//Surfaces(self%counts)//nl//'velocity   slowest wave '//Str(self%vmin)//' m/s, fastest '// &
              Str(self%vmax)//' m/s'//nl//'density    '//Str(self%rhomin)//' .. '//Str(self%rhomax)//' kg/m3'//nl// &
              Quality(self, scheme)//BlockRows(self%blocks, scheme%fmax)//nl//'source     '//SourceWords(scheme%source)
    end select
  end procedure plan_rows

  function Quality(self, scheme) result(line)
    class(elements3d_t), intent(in) :: self
    type(elements_scheme_t), intent(in) :: scheme
    character(:), allocatable :: line
    line = ''
    if (scheme%attenuates) line = 'quality    Q from '//Str(self%least_q, 4)//' on, constant from '//Str(scheme%q_band(1), 3)// &
                                  ' to '//Str(scheme%q_band(2), 3)//' Hz; memory_variables='//MemoryWord(scheme)//nl
  end function Quality

end submodule elements3d_words
