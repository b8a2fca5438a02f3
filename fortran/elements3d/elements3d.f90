!> Modelling with spectral elements as the framework sees it (physics.f90): everything but its numbers, which sem3d.f90 computes.
!> The submodules hold its mesh (elements3d_mesh.f90), the scheme of a survey (elements3d_derive.f90), what a shot needs
!> (elements3d_needs.f90), what a free side makes 0 (elements3d_surface.f90), and what is said of it (elements3d_words.f90).
module elements3d_m
  use attributes_m, only: attributes_t
  use element_finder_m, only: finder_t, FinderFind
  use elements3d_parameters_m, only: elements3d_components, Elements3dRules, Elements3dTable
  use elements3d_trial_m, only: TrialFiles, TrialJob
  use elements_cut_m, only: cut_t
  use elements_m, only: elements_t
  use elements_grazed_m, only: grazed_most, grazed_t, GrazedTake
  use elements_make_m, only: counts_t
  use elements_scheme_m, only: elements_scheme_t
  use elements_share_m, only: shares_t
  use elements_sponge_m, only: SpongeAt
  use elements_window_m, only: ElementsFill, ElementsOutline, ElementsParts
  use error_m, only: error_t, Fail
  use hexahedron_m, only: HexLongest
  use kinds_m, only: dp
  use mesh_blocks_m, only: block_t
  use mesh_ground_m, only: from_seafloor, from_surface, ground_t, GroundLower
  use near_patch_m, only: near_edges, near_slopes, PatchHelps, PatchReach
  use parameter_table_m, only: SplitList, table_t
  use parameters_m, only: job_t
  use physics_m, only: physics_t
  use scheme_m, only: scheme_t, SchemeLower, SchemeWarn
  use sem3d_components_m, only: Sem3dRecords
  use sem3d_m, only: sem3d_t
  use shear_in_fluids_m, only: ShearInFluids, ShearInFluidsWords
  use shot_m, only: shot_t
  use solver_m, only: solver_t
  use source3d_m, only: source3d_t, source_force, source_moment, source_volume, SourceStrength
  use text_m, only: Str, StrAtMost
  use told_receivers_m, only: told_receivers_t
  use trial3d_m, only: TrialWave
  use wavelet_m, only: wavelet_t
  use window_m, only: box_t, window_t
  implicit none
  private
  public :: elements3d_t

  character, parameter :: nl = new_line('a')
  real(dp), parameter :: sponge_least = 0.75_dp       !< of a wavelength: thinner ones send back more than bare sides (README.md)

  !> Receivers and sources that are to be told of, of the shots looked at.
  type :: told_t
    type(told_receivers_t) :: damped                  !< sources and receivers in the layer that damps
    type(told_receivers_t) :: near                    !< receivers too close to their source, for which nothing helps
    type(told_receivers_t) :: near_moment             !< others, too close to a moment in rock
    real(dp) :: near_reach = 0                        !< which is closer than so many edges
    integer :: patch = 0                              !< elements around a source, at most, whose field is found for others
    type(told_receivers_t) :: floored                 !< receivers of pressure on a contact with a fluid
    type(told_receivers_t) :: compressing             !< sources of volume or explosion on such a contact
    type(told_receivers_t) :: shearless               !< receivers of shear stress in a fluid
    type(told_receivers_t) :: kinked                  !< receivers of gradients of motion at a contact of rock
    type(told_receivers_t) :: parted                  !< sources made of these at one
    type(told_receivers_t) :: bent                    !< receivers of motion at a contact of fluids
    type(grazed_t) :: grazed                          !< receivers of waves that graze sides that absorb
  end type told_t

  type, extends(physics_t) :: elements3d_t
    type(elements_t) :: elements                      !< of the whole mesh, without points
    integer, allocatable :: number(:)                 !< of each in the file
    type(finder_t) :: finder
    type(counts_t) :: counts
    type(ground_t) :: surface, seafloor               !< the uppermost points of the mesh, of its solid
    real(dp) :: least_q = 0                           !< the smallest quality factor
    real(dp), allocatable :: to_side(:)               !< of each node, from absorbing sides, where a layer there damps [m]
    type(told_t) :: told
    type(block_t), allocatable :: blocks(:)           !< what is told of the blocks
    character(:), allocatable :: unused               !< lines of the table of materials for blocks that the mesh has not
    character(:), allocatable :: lossy_fluids         !< blocks of fluids that have a Q
    real(dp) :: skin = huge(1.0_dp)                   !< from the top down to where all layers but the lowest end [m]
    integer :: passive = 0                            !< elements whose bulk modulus does not attenuate, as Qp there is too large
    type(cut_t), pointer :: cut => null()             !< of the mesh as it was cut last,
    type(shares_t), pointer :: shares => null()       !< and what ranks are sent of it
  contains
    procedure :: introduce
    procedure :: parameters => Table
    procedure, nopass :: check => Elements3dRules
    procedure :: read => ReadMesh
    procedure :: derive, window => WindowOf, check_shot, silent, warn, own_words
    procedure, nopass :: receiver
    procedure :: memory, sharing
    procedure, nopass :: wants_pictures, picture_numbers
    procedure :: check_pictures
    procedure :: grid_words => WindowWords
    procedure :: own_verb => WriteMesh
    procedure :: describe, describe_scheme, log_lines, plan_rows, new_scheme
    procedure, nopass :: solver => NewSolver
    procedure, nopass :: trial_files => TrialFiles, trial_job => TrialJob, trial_wave => TrialWave
  end type elements3d_t

  interface
    ! --- elements3d_mesh.f90

    module subroutine ReadMesh(self, job, error)
      class(elements3d_t), intent(inout) :: self
      type(job_t), intent(in) :: job
      type(error_t), allocatable, intent(inout) :: error
    end subroutine ReadMesh

    !> The verb mesh: the mesh of a job is made and checked, told and written.
    module subroutine WriteMesh(self, job, text, error)
      class(elements3d_t), intent(inout) :: self
      type(job_t), intent(in) :: job
      character(:), allocatable, intent(out) :: text
      type(error_t), allocatable, intent(inout) :: error
    end subroutine WriteMesh

    ! --- elements3d_derive.f90

    module subroutine derive(self, job, wavelet, shot, scheme, error)
      class(elements3d_t), intent(inout) :: self
      type(job_t), intent(in) :: job
      type(wavelet_t), intent(in) :: wavelet
      type(shot_t), intent(in) :: shot
      class(scheme_t), intent(inout) :: scheme
      type(error_t), allocatable, intent(inout) :: error
    end subroutine derive

    pure module integer function From(word)
      character(*), intent(in) :: word
    end function From

    ! --- elements3d_needs.f90

    !> The mesh is cut for the ranks of a scheme, unless it is so already. Where it has too few bricks, which `derive` has told,
    !> ranks have no share.
    module subroutine CutFor(self, scheme)
      class(elements3d_t), intent(in) :: self
      type(elements_scheme_t), intent(in) :: scheme
    end subroutine CutFor

    !> An element of a worker: its nodes, numbers and geometry at its points; and the fields of the points that it adds. A rank of
    !> those that share a shot has the nodes and the numbers of points of its share, and the rest of its piece. Rank 0 has all
    !> nodes.
    module subroutine memory(self, scheme, window, pictures, worker, master)
      class(elements3d_t), intent(in) :: self
      class(scheme_t), intent(in) :: scheme
      type(window_t), intent(in) :: window
      logical, intent(in) :: pictures
      real(dp), intent(out) :: worker, master
    end subroutine memory

    module subroutine sharing(self, scheme, window, gpu, words, gain, exchange)
      class(elements3d_t), intent(in) :: self
      class(scheme_t), intent(in) :: scheme
      type(window_t), intent(in) :: window
      logical, intent(in) :: gpu
      character(:), allocatable, intent(out) :: words
      real(dp), intent(out) :: gain, exchange
    end subroutine sharing

    pure module logical function wants_pictures(job) result(wanted)
      type(job_t), intent(in) :: job
    end function wants_pictures

    module real(dp) function picture_numbers(scheme, window) result(numbers)
      class(scheme_t), intent(in) :: scheme
      type(window_t), intent(in) :: window
    end function picture_numbers

    module subroutine check_pictures(self, scheme, shot, window, error)
      class(elements3d_t), intent(in) :: self
      class(scheme_t), intent(in) :: scheme
      type(shot_t), intent(in) :: shot
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine check_pictures

    pure module subroutine receiver(component, scheme, cells, sorting)
      character(*), intent(in) :: component
      class(scheme_t), intent(in) :: scheme
      integer, intent(out) :: cells, sorting
    end subroutine receiver

    ! --- elements3d_surface.f90

    module subroutine silent(self, job, window, component, x, zero, error)
      class(elements3d_t), intent(in) :: self
      type(job_t), intent(in) :: job
      type(window_t), intent(in) :: window
      character(*), intent(in) :: component(:)
      real(dp), intent(in) :: x(3)
      logical, intent(out) :: zero(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine silent

    !> True of a place xi of element e, which is solid, on a side that it shares with a fluid.
    pure module logical function OnContact(self, e, xi) result(on)
      class(elements3d_t), intent(in) :: self
      integer, intent(in) :: e
      real(dp), intent(in) :: xi(3)
    end function OnContact

    !> A place xi of element e is at a side beyond which there is other rock, or of a fluid another one.
    pure module logical function AtOther(self, e, xi) result(at)
      class(elements3d_t), intent(in) :: self
      integer, intent(in) :: e
      real(dp), intent(in) :: xi(3)
    end function AtOther

    !> True of a source at xi in element e, on a free side of a fluid or a level one of rock, that moves nothing.
    pure module logical function RadiatesNothing(self, source, e, xi) result(nothing)
      class(elements3d_t), intent(in) :: self
      type(source3d_t), intent(in) :: source
      integer, intent(in) :: e
      real(dp), intent(in) :: xi(3)
    end function RadiatesNothing

    ! --- elements3d_words.f90

    module function own_words(self, job, scheme) result(words)
      class(elements3d_t), intent(in) :: self
      type(job_t), intent(in) :: job
      class(scheme_t), intent(in) :: scheme
      character(:), allocatable :: words
    end function own_words

    module function WindowWords(self, scheme, window) result(words)
      class(elements3d_t), intent(in) :: self
      class(scheme_t), intent(in) :: scheme
      type(window_t), intent(in) :: window
      character(:), allocatable :: words
    end function WindowWords

    module subroutine describe(self, scheme, list)
      class(elements3d_t), intent(in) :: self
      class(scheme_t), intent(in) :: scheme
      class(attributes_t), intent(inout) :: list
    end subroutine describe

    module subroutine describe_scheme(self, job, scheme, list)
      class(elements3d_t), intent(in) :: self
      type(job_t), intent(in) :: job
      class(scheme_t), intent(in) :: scheme
      class(attributes_t), intent(inout) :: list
    end subroutine describe_scheme

    module function log_lines(self, scheme) result(lines)
      class(elements3d_t), intent(in) :: self
      class(scheme_t), intent(in) :: scheme
      character(:), allocatable :: lines
    end function log_lines

    module function plan_rows(self, scheme) result(lines)
      class(elements3d_t), intent(in) :: self
      class(scheme_t), intent(in) :: scheme
      character(:), allocatable :: lines
    end function plan_rows
  end interface

contains

  ! --- program and parameters -----------------------------------------------------------------------------------------------

  subroutine introduce(self)
    class(elements3d_t), intent(inout) :: self
    self%program = 'SplSemmod'
    self%components = elements3d_components
    self%smaller = 'use a mesh of fewer elements, or lower fmax where mesh=layers makes it'
    self%summary = 'vx, vy, vz, ux .. uz, ax .. az, p, sxx .. syz, exx .. eyz, wx, wy, wz'
    self%pictures = 'pictures'
    self%example = 'keymap=quake.keymap mesh=hill.exo materials=hill.materials source=dc mw=4.5 fpeak=1 tmax=10'
    self%far_field = 2
    self%finds_surface = .true.
    self%groups = .true.
    self%verb = 'mesh'
    self%verb_does = 'the mesh of the job, checked, told, and written to mesh_out for ParaView and spl-mesh'
  end subroutine introduce

  subroutine Table(self, t, job)
    class(elements3d_t), intent(inout) :: self
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    call Elements3dTable(t, job)
  end subroutine Table

  ! --- a survey -------------------------------------------------------------------------------------------------------------

  !> All elements, whatever the shot; those of each rank where several share it.
  subroutine WindowOf(self, job, scheme, shot, filled, window, error, box)
    class(elements3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    logical, intent(in) :: filled
    type(window_t), intent(out) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(box_t), intent(in), optional :: box
    select type (scheme)
    type is (elements_scheme_t)
      if (scheme%ranks > 1) then
        call CutFor(self, scheme)
        call ElementsOutline(self%elements%n, self%low, self%high, window, self%shares)
        if (filled) call ElementsFill(self%elements, window, error, box, self%to_side, self%cut, self%shares)
      else
        call ElementsOutline(self%elements%n, self%low, self%high, window)
        if (filled) call ElementsFill(self%elements, window, error, box, self%to_side)
      end if
      window%parts = ElementsParts(self%elements, allocated(self%to_side), scheme%ranks > 1)
    end select
  end subroutine WindowOf

  !> Source and receivers in elements, and components that can be recorded there.
  subroutine check_shot(self, job, scheme, shot, window, error)
    class(elements3d_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    character(32), allocatable :: names(:)
    character(:), allocatable :: where_to
    real(dp) :: source(3), places(3, size(shot%rx)), at(3), xi(3), edge, reach
    logical :: wet(size(shot%rx)), worst
    integer :: e, r, c, source_in
    where_to = 'shot record '//Str(shot%record)//': '
    allocate (names, source=SplitList(scheme%components))
    call Place(where_to//'the source', [shot%sx, shot%sy, shot%sz], From(job%source_z), e, source, xi)
    if (allocated(error)) return
    edge = HexLongest(self%elements%corner(:, :, e))
    source_in = e
    select type (scheme)
    type is (elements_scheme_t)
      call CheckSource(scheme%source)
    end select
    if (allocated(error)) return
    do r = 1, size(shot%rx)
      call Place(where_to//'channel '//Str(shot%channel(r)), [shot%rx(r), shot%ry(r), shot%rz(r)], From(job%receiver_z), e, at, xi)
      if (allocated(error)) return
      places(:, r) = at
      if (any(names == 'p')) then
        if (OnContact(self, e, xi)) then
          if (self%told%floored%n == 0) self%told%floored%first = Channel()
          self%told%floored%n = self%told%floored%n + 1
        end if
      end if
      wet(r) = e > self%elements%solid
      if (any(scan(names, trim(merge('vua ', 'psew', wet(r)))) == 1)) then
        if (AtOther(self, e, xi)) then
          if (wet(r)) call Tell(self%told%bent)
          if (.not. wet(r)) call Tell(self%told%kinked)
        end if
      end if
      if (.not. wet(r)) cycle
      do c = 1, size(names)
        if (Sem3dRecords(trim(names(c)))) cycle
        call Fail(error, where_to//'channel '//Str(shot%channel(r))//' lies in a fluid, where '//trim(names(c))// &
                  ' is not recorded: leave it out of components')
        return
      end do
    end do
    call TellNear()
    if (.not. job%sponge > 0) then
      do r = 1, size(shot%rx)
        call GrazedTake(self%told%grazed, self%elements, self%finder, self%low, self%high, source, places(:, r), &
                        self%vmax*job%tmax, worst)
        if (worst) self%told%grazed%first = Channel()
      end do
    end if
    call ShearInFluids(self%told%shearless, shot, names, wet, error)

  contains

    !> Of receivers close to the source those that do not get what the mesh lacks there are told of.
    subroutine TellNear()
      real(dp) :: apart(size(shot%rx))
      logical :: helped(size(shot%rx))
      integer :: n
      apart = norm2(places - spread(source, 2, size(apart)), 1)
      if (.not. any(apart < reach*edge)) return
      call PatchHelps(self%elements, self%finder, source_in, source, places, scheme%exact_positions, reach, helped, n)
      self%told%patch = max(self%told%patch, n)
      do r = 1, size(apart)
        if (helped(r) .or. .not. apart(r) < reach*edge) cycle
        if (apart(r) < near_edges*edge) then
          call Note(self%told%near, apart(r))
        else
          call Note(self%told%near_moment, apart(r))
          self%told%near_reach = reach
        end if
      end do
    end subroutine TellNear

    !> Receiver r, so far from the source.
    subroutine Note(told, apart)
      type(told_receivers_t), intent(inout) :: told
      real(dp), intent(in) :: apart
      if (told%n == 0) told%first = Channel()//', '//Str(apart, 4)//' m away with an element of '//Str(edge, 4)//' m'
      told%n = told%n + 1
    end subroutine Note

    !> A source at xi in element e, and how far around it receivers are told of.
    subroutine CheckSource(s)
      type(source3d_t), intent(in) :: s
      logical :: shears
      shears = s%kind == source_moment .and. .not. Isotropic(s%moment)
      if (e > self%elements%solid .and. (s%kind == source_force .or. shears)) then
        call Fail(error, where_to//'the source at z = '//Str(shot%sz)//' m lies in a fluid, where a force or a moment '// &
                  'with shear cannot act: use source=volume or explosion, or another depth')
      else if (RadiatesNothing(self, s, e, xi)) then
        call Fail(error, where_to//'the source at z = '//Str(shot%sz)//' m lies on a free side and would radiate nothing: '// &
                  'give it a depth')
      end if
      if (allocated(error)) return
      reach = PatchReach(e <= self%elements%solid, s, names)
      if (s%kind /= source_force .and. e <= self%elements%solid) then
        if (AtOther(self, e, xi)) then
          if (self%told%parted%n == 0) self%told%parted%first = 'that of shot record '//Str(shot%record)
          self%told%parted%n = self%told%parted%n + 1
        end if
      end if
      if (s%kind /= source_volume .and. (s%kind /= source_moment .or. shears)) return
      if (.not. OnContact(self, e, xi)) return
      if (self%told%compressing%n == 0) self%told%compressing%first = 'that of shot record '//Str(shot%record)
      self%told%compressing%n = self%told%compressing%n + 1
    end subroutine CheckSource

    function Channel() result(words)
      character(:), allocatable :: words
      words = 'channel '//Str(shot%channel(r))//' of shot record '//Str(shot%record)
    end function Channel

    subroutine Tell(told)
      type(told_receivers_t), intent(inout) :: told
      if (told%n == 0) told%first = Channel()
      told%n = told%n + 1
    end subroutine Tell

    !> The element that holds a place, whose depth counts `from`, and where that is, z down, and in the element.
    subroutine Place(what, asked, from, element, x, xi)
      character(*), intent(in) :: what
      real(dp), intent(in) :: asked(3)
      integer, intent(in) :: from
      integer, intent(out) :: element
      real(dp), intent(out) :: x(3), xi(3)
      real(dp) :: away
      logical :: found
      x = asked
      found = .true.
      element = 0
      if (from == from_surface) call GroundLower(self%surface, self%elements%corner, x, found)
      if (from == from_seafloor) call GroundLower(self%seafloor, self%elements%corner, x, found)
      if (.not. found) call Fail(error, what//' at x = '//Str(x(1), 9)//', y = '//Str(x(2), 9)// &
                                 ' m lies beside the mesh: there is no ground that its depth could count from')
      if (allocated(error)) return
      call FinderFind(self%finder, self%elements%corner, x, element, xi, away)
      if (away > 0) call Fail(error, what//' at x = '//Str(x(1), 9)//', y = '//Str(x(2), 9)//', z = '//Str(x(3), 9)// &
                              ' m lies '//Str(away, 4)//' m outside of the mesh: x '//Str(self%low(1))//' .. '// &
                              Str(self%high(1))//', y '//Str(self%low(2))//' .. '//Str(self%high(2))//', z '// &
                              Str(self%low(3))//' .. '//Str(self%high(3))//' m (z down)')
      if (allocated(error) .or. .not. allocated(self%to_side)) return
      if (.not. SpongeAt(self%to_side(self%elements%node(:, element)), xi) < job%sponge) return
      if (self%told%damped%n == 0) self%told%damped%first = what
      self%told%damped%n = self%told%damped%n + 1
    end subroutine Place

  end subroutine check_shot

  subroutine warn(self, job, scheme, error)
    class(elements3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    associate (told => self%told)
      if (told%damped%n > 0) call SchemeWarn(scheme, Str(told%damped%n)//' source(s) and receiver(s) lie in the layer that '// &
        'damps waves, sponge = '//Str(job%sponge)//' m before absorbing sides, the first of them '//told%damped%first// &
        ': what they send or record is too weak; use a larger mesh or a thinner layer')
      if (told%floored%n > 0) call SchemeWarn(scheme, Str(told%floored%n)//' receiver(s) of p lie on a contact of fluid and '// &
        'solid, the first of them '//told%floored%first//': they record the mean stress of the solid, not the pressure of '// &
        'the water, which differs by as much; lift hydrophones by 0.01 m')
      if (told%shearless%n > 0) call SchemeWarn(scheme, ShearInFluidsWords(told%shearless))
      if (told%compressing%n > 0) call SchemeWarn(scheme, Str(told%compressing%n)//' source(s) of volume or explosion lie on '// &
        'a contact of fluid and solid, the first of them '//told%compressing%first//': they act in the solid, where they '// &
        'send out other waves than in the water; lift those of the water by 0.01 m')
      if (told%kinked%n > 0) call SchemeWarn(scheme, Str(told%kinked%n)//' receiver(s) of stress, pressure, strain or rotation '// &
        'lie within 0.02 edges of a contact of rock, the first of them '//told%kinked%first//': there these are 2 to 7 % off; '// &
        'move them away from it by 0.05 edges or more')
      if (told%bent%n > 0) call SchemeWarn(scheme, Str(told%bent%n)//' receiver(s) of velocity, displacement or acceleration '// &
        'lie within 0.02 edges of a contact of fluids, the first of them '//told%bent%first//': there motion across it is '// &
        '1 to 3 % off; move them away from it by 0.05 edges or more')
      if (told%parted%n > 0) call SchemeWarn(scheme, Str(told%parted%n)//' source(s) of moment or volume lie within 0.02 edges '// &
        'of a contact of rock, the first of them '//told%parted%first//': velocities are up to 4 %, stress and strain up to 8 '// &
        '% off; move them away from it by 0.05 edges or more')
      if (told%grazed%n > 0) call SchemeWarn(scheme, 'waves graze sides that absorb, at up to '//Str(told%grazed%angle, 3)// &
        ' degrees, from source to '//told%grazed%first//': these send back some '//Str(100*told%grazed%echo, 2)//' % of the '// &
        'peak of what comes directly ('//Str(told%grazed%n)//' receivers have over '//Str(100*grazed_most)//' %); use a '// &
        'larger mesh')
      if (job%sponge > 0 .and. job%sponge < sponge_least*scheme%vmax/scheme%fpeak) &
        call SchemeWarn(scheme, 'sponge = '//Str(job%sponge)//' m is less than '//Str(sponge_least)//' wavelengths of the '// &
        'fastest P wave, of '//Str(scheme%vmax/scheme%fpeak, 4)//' m at the peak frequency: so thin it sends back more than '// &
        'sides without one; make it 2 wavelengths wide or more, or leave it out')
      if (told%near%n > 0) call SchemeWarn(scheme, Str(told%near%n)//' receiver(s) are closer to their source than '// &
        Str(near_edges)//' edges of its element, on it or where the medium around both is not even'//NotEven()//', the first '// &
        'of them '//told%near%first//': so close the source is as wide as its element, which changes amplitudes by up to 3 % '// &
        'at 2 edges and tens of per cent at one; use smaller elements there, or do not trust them')
      if (told%near_moment%n > 0) call SchemeWarn(scheme, Str(told%near_moment%n)//' receiver(s) are closer than '// &
        Str(told%near_reach)//' edges to a source of moment or volume in rock, where the medium around both is not even'// &
        NotEven()//', the first of them '//told%near_moment%first//': there velocities are up to 3 % off'//Slopes()// &
        '; use smaller elements there, or do not trust them')
    end associate
    select type (scheme)
    type is (elements_scheme_t)
      call SourceStrength(scheme%source, scheme%q, scheme%dt, scheme%dx*scheme%dy*scheme%dz, error)
    end select

  contains

    function NotEven() result(words)
      character(:), allocatable :: words
      words = ' (a side of the mesh or another medium is near, and not just one plane free side, one plane contact of rock, or '// &
              'water over a plane floor of rock)'
    end function NotEven

    function Slopes() result(words)
      character(:), allocatable :: words
      words = ''
      if (self%told%near_reach >= near_slopes) words = ', pressure, stress, strain and rotation up to 20 %'
    end function Slopes
  end subroutine warn

  pure logical function Isotropic(moment)
    real(dp), intent(in) :: moment(6)
    Isotropic = all(abs(moment(2:3) - moment(1)) <= 0) .and. all(abs(moment(4:)) <= 0)
  end function Isotropic

  ! --- what computes --------------------------------------------------------------------------------------------------------

  subroutine new_scheme(self, scheme)
    class(elements3d_t), intent(in) :: self
    class(scheme_t), allocatable, intent(out) :: scheme
    allocate (elements_scheme_t :: scheme)
  end subroutine new_scheme

  subroutine NewSolver(solver)
    class(solver_t), allocatable, intent(out) :: solver
    allocate (sem3d_t :: solver)
  end subroutine NewSolver

end module elements3d_m
