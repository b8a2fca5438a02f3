!> Model and scheme in words: for the log, the plan, the files, and to know a job again. Arguments stand in elastic3d.f90.
submodule(elastic3d_m) elastic3d_words
  use anelastic_m, only: memory_all, memory_coarse2001, memory_words
  use faultwords_m, only: FaultLines
  use fd3d_grid_m, only: even_q
  use finite_fault_m, only: FaultHash
  use source3d_m, only: SourceNumbers, SourceWords
  use text_m, only: Counted
  use version_m, only: VersionText
  implicit none

  character, parameter :: nl = new_line('a')
  character(*), parameter :: narrow_words = 'differences along those of the sides have half-length 1 in them '// &
                             '(layer_differences), as longer ones let slow waves grow at a sea floor with steps'
  character(*), parameter :: damped_words = 'they damp along themselves too (absorb), as others let waves grow that soft '// &
                             'ground beside hard rock holds; they send back more'

contains

  module procedure own_words
    real(dp), allocatable :: x(:)
    integer :: i
    select type (scheme)
    type is (scheme3d_t)
      associate (c => scheme, j => job)
        words = ' '//Str(c%dy, 17)//' '//Absorbs(c)//' '//j%sides//' '//j%bottom//' '//j%model_at//' '// &
                Str(c%own%attenuates)//' '//Str(c%own%q_band(1), 12)//' '//Str(c%own%q_band(2), 12)//' '//Str(c%own%q_ref, 12)
        if (c%own%attenuates .and. c%own%memory /= memory_coarse2001) words = words//' '//trim(memory_words(c%own%memory))
        if (Model3dTells(self%earth)) words = words//' contacts and bends'           ! not heeded before 2026-11-30
        if (Model3dTells(self%earth) .and. self%earth%vsmax > 0 .and. self%earth%layers%n /= 1) &
          words = words//' apart'                         ! at ends of lines shared before 2026-12-01
        if (Model3dTells(self%earth) .and. j%coeffs == 'holberg') words = words//' of short waves'   ! of all before 2026-12-01
        if (c%own%narrow) words = words//' narrow'
        if (c%own%narrow .and. c%free_top .and. .not. c%own%wet .and. c%half_length > 1) &
          words = words//' rows as high as their shares'                               ! rows of four before 2026-11-30
        if (c%free_top .and. .not. c%own%wet) words = words//' surface by parts'     ! by images before 2026-11-27
        if (c%free_top .and. c%own%wet) words = words//' weights by images'            ! by a cubic before 2026-11-29
        if (Model3dCutsFloor(j, self%earth, [c%dx, c%dy, c%dz])) words = words//' sea floor by 7 cells'   ! 5 before 2026-11-30
        if (self%earth%deeper) words = words//' layers of the grid'                     ! all of the model before 2026-12-01
        ! Of single cells before 2026-12-01.
        if (j%snapshot > 0 .and. c%own%attenuates .and. c%own%memory /= memory_all .and. c%own%qmin < even_q .and. &
            any(SplitList(c%own%fields) == 'p')) words = words//' pressure of films as of receivers'
        if (c%half_length == 1 .and. c%own%source%kind /= source_fault) words = words//' near to 20 cells'   ! 8 before 2026-11-29
        if (c%own%source%kind /= source_fault .and. (self%earth%layers%n /= 1 .or. (c%free_top .and. .not. c%own%wet))) &
          words = words//' near field in flat layers'                                  ! none before 2026-12-01
        if (c%own%source%kind /= source_fault .and. self%earth%vsmax > 0 .and. self%earth%fluidmin < real(huge(1.0_sp), dp)) then
          if (.not. Fd3dNearShears(c%own)) words = words//' beside sea floors'         ! none before 2026-12-01
        end if
        if (c%own%source%kind == source_fault) then
          words = words//' '//FaultHash(c%own%source%fault)
          return
        end if
        allocate (x, source=SourceNumbers(c%own%source))
        do i = 1, size(x)
          words = words//' '//Str(x(i), 17)
        end do
      end associate
    end select
  end procedure own_words

  module procedure describe
    select type (scheme)
    type is (scheme3d_t)
      call list%add('title', 'Shot gathers modelled by 3D elastic finite differences')
      call list%add('source', 'SplFd3dmod '//VersionText())
      call list%add('equations', 'rho dv/dt = div s + f;  ds/dt = lambda div v + mu (grad v + its transpose) - what '// &
                    'relaxes - moment rate;  p = -(sxx + syy + szz)/3')
      call list%add('source_term', Acts(self, scheme))
      call list%add('absorb', Absorbs(scheme))
      if (scheme%own%narrow) call list%add('layer_differences', 'narrow')
      call list%add('axes', 'x points x_azimuth degrees clockwise from north, y 90 degrees further, z down')
      if (.not. scheme%own%attenuates) return
      call list%add('band_of_constant_Q_Hz', scheme%own%q_band)
      call list%add('smallest_Q', scheme%own%qmin)
      call list%add('memory_variables', trim(memory_words(scheme%own%memory)))
    end select
  end procedure describe

  !> The kind of the absorbing layers, whatever word of the parameter `absorb` chose it.
  pure function Absorbs(scheme) result(word)
    type(scheme3d_t), intent(in) :: scheme
    character(:), allocatable :: word
    word = 'pml'
    if (scheme%sponge) word = 'sponge'
    if (scheme%damped) word = 'damped'
  end function Absorbs

  !> Smallest Q, its band, and what the memory variables are and cost, as cells without layers have it (fd3d_cpu.c).
  function Quality(scheme) result(words)
    type(scheme3d_t), intent(in) :: scheme
    character(:), allocatable :: words
    integer, parameter :: elastic = 12, both = 2, variables(3) = [6, 6, 36]        ! numbers of a cell
    associate (s => scheme%own)
      words = 'Q from '//Str(s%qmin, 4)//' on, constant from '//Str(s%q_band(1), 3)//' to '//Str(s%q_band(2), 3)// &
              ' Hz; memory_variables='//trim(memory_words(s%memory))//': '//Str(4*(elastic + both + variables(s%memory)))// &
              ' bytes a cell, '//Str(4*elastic)//' without attenuation'
    end associate
  end function Quality

  !> Lines on the source, and on the moment that a fault releases.
  function Acts(self, scheme) result(s)
    class(elastic3d_t), intent(in) :: self
    type(scheme3d_t), intent(in) :: scheme
    character(:), allocatable :: s
    s = SourceWords(scheme%own%source)
    if (scheme%own%source%kind == source_fault) s = s//nl//FaultLines(scheme%own%source%fault, self%told%release)
  end function Acts

  module procedure log_lines
    select type (scheme)
    type is (scheme3d_t)
      lines = 'model    '//self%sources//', slowest and fastest wave '//Str(self%vmin)//' and '//Str(self%vmax)//' m/s, rho '// &
              Str(self%rhomin)//' .. '//Str(self%rhomax)//' kg/m3'
      if (self%earth%on_disk) lines = lines//nl//'         more than rank 0 has memory for: parts are read from disk '// &
                                      'as shots need them'
      if (scheme%own%attenuates) lines = lines//nl//'quality  '//Quality(scheme)
      if (scheme%own%narrow) lines = lines//nl//'layers   '//narrow_words
      if (scheme%damped) lines = lines//nl//'layers   '//damped_words
      lines = lines//nl//Labelled('acts     ', Acts(self, scheme))
    end select
  end procedure log_lines

  module procedure plan_rows
    select type (scheme)
    type is (scheme3d_t)
      associate (e => self%earth)
        if (e%layers%n > 0) then
          lines = 'model      '//Counted(e%layers%n, 'flat layer')//', the first begins at z = '//Str(e%low(3))//' m'
          if (e%below > 0) lines = lines//', '//Str(e%below)//' of them below the grid'
        else
          lines = 'model      '//Str(e%n(1))//' x '//Str(e%n(2))//' x '//Str(e%n(3))//' samples of '//Str(e%d(1))//' x '// &
                  Str(e%d(2))//' x '//Str(e%d(3))//' m, x '//Str(e%low(1))//' .. '//Str(e%high(1))//' m, y '// &
                  Str(e%low(2))//' .. '//Str(e%high(2))//' m, z '//Str(e%low(3))//' .. '//Str(e%high(3))//' m'
          if (e%below > 0) lines = lines//', the lowest '//Str(e%below)//' planes of samples below the grid'
        end if
        lines = lines//nl//'velocity   slowest wave '//Str(e%vmin)//' m/s, fastest '//Str(e%vmax)//' m/s'//nl// &
                'density    '//Str(e%rhomin)//' .. '//Str(e%rhomax)//' kg/m3'
        if (e%attenuates) lines = lines//nl//'quality    '//Quality(scheme)
        if (scheme%own%narrow) lines = lines//nl//'layers     '//narrow_words
        if (scheme%damped) lines = lines//nl//'layers     '//damped_words
      end associate
      lines = lines//nl//Labelled('source     ', Acts(self, scheme))
    end select
  end procedure plan_rows

  !> The label before the first line, and as much room before the others.
  pure function Labelled(label, lines) result(s)
    character(*), intent(in) :: label, lines
    character(:), allocatable :: s
    integer :: i
    s = label
    do i = 1, len(lines)
      s = s//lines(i:i)
      if (lines(i:i) == nl) s = s//repeat(' ', len(label))
    end do
  end function Labelled

end submodule elastic3d_words
