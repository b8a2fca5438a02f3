!> Modelling with spectral elements as the framework sees it (physics.f90): everything but its mesh, which elements3d_mesh.f90 gets,
!> and its numbers, which sem3d.f90 computes.
module elements3d_m
  use attributes_m, only: attributes_t
  use band_weights_m, only: band_points
  use element_finder_m, only: finder_t, FinderFind
  use elements3d_parameters_m, only: elements3d_components, Elements3dRules, Elements3dTable
  use elements3d_trial_m, only: TrialFiles, TrialJob
  use elements_cut_m, only: cut_t, CutCan, CutWords, ElementsCut, touching
  use elements_dt_m, only: ElementsDt
  use elements_m, only: degree, elements_t, in_element, in_memory, tensor_numbers
  use elements_relax_m, only: ElementsUnrelax
  use elements_make_m, only: counts_t, ElementsSlowest
  use elements_pictures_m, only: PicturePoints, PicturesCheck, PictureSpacing, PictureTotal => PictureNumbers
  use elements_scheme_m, only: elements_scheme_t, points_of_element
  use elements_share_m, only: ShareGuess, ShareMost, shares_t, SharesMake
  use elements_sponge_m, only: SpongeAt
  use elements_window_m, only: ElementsFill, ElementsOutline, ElementsParts
  use error_m, only: error_t, Fail
  use hexahedron_m, only: hex_edge
  use kinds_m, only: dp
  use mesh_blocks_m, only: block_t, BlockRows
  use mesh_ground_m, only: from_level, from_seafloor, from_surface, ground_t, GroundLower
  use parameter_table_m, only: SplitList, table_t
  use parameters_m, only: job_t
  use physics_m, only: physics_t
  use quality_band_m, only: QualityBand
  use partners_m, only: halo_auto, halo_host, halo_words
  use scheme_m, only: scheme_t, SchemeNew, SchemeTimes, SchemeWarn
  use sem3d_components_m, only: Sem3dRecords
  use sem3d_m, only: sem3d_t
  use shot_m, only: shot_t
  use solver_m, only: solver_t
  use stress_relaxation_m, only: RelaxingMost
  use source3d_m, only: source_force, source_moment, SourceDerive, SourceNumbers, SourceWords
  use text_m, only: Str
  use trial3d_m, only: TrialWave
  use version_m, only: VersionText
  use wavelet_m, only: wavelet_t
  use window_m, only: box_t, window_t
  use zener_m, only: zener_mechanisms, ZenerShares
  implicit none
  private
  public :: elements3d_t

  character, parameter :: nl = new_line('a')
  real(dp), parameter :: least_ppw = 4.5_dp           !< points per shortest wavelength with which waves are right to about 1 %
  real(dp), parameter :: no_wave = 2.5_dp             !< with fewer there are no waves
  real(dp), parameter :: most_relaxing = 0.95_dp      !< of a modulus
  real(dp), parameter :: part_of_limit = 0.95_dp      !< default time step
  real(dp), parameter :: near_edges = 2               !< closer than so many edges a source is not yet a point (README.md)

  type, extends(physics_t) :: elements3d_t
    type(elements_t) :: elements                      !< of the whole mesh, without points
    integer, allocatable :: number(:)                 !< of each in the file
    type(finder_t) :: finder
    type(counts_t) :: counts
    type(ground_t) :: surface, seafloor               !< the uppermost points of the mesh, of its solid
    logical :: attenuates = .false.
    real(dp) :: least_q = 0                           !< the smallest quality factor
    real(dp), allocatable :: to_side(:)               !< of each node, from absorbing sides, where a layer there damps [m]
    integer :: damped = 0                             !< sources and receivers in that layer, of the shots looked at
    character(:), allocatable :: first_damped         !< the first of them in words
    integer :: near = 0                               !< receivers too close to their source, of the shots looked at
    character(:), allocatable :: nearest              !< the first of them in words
    type(block_t), allocatable :: blocks(:)           !< what is told of the blocks
    type(cut_t), pointer :: cut => null()             !< of the mesh as it was cut last,
    type(shares_t), pointer :: shares => null()       !< and what ranks are sent of it
  contains
    procedure :: introduce
    procedure :: parameters => Table
    procedure :: check => Rules
    procedure :: read => ReadMesh
    procedure :: derive, window => WindowOf, check_shot, warn, own_words
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
  end interface

contains

  ! --- program and parameters -----------------------------------------------------------------------------------------------

  subroutine introduce(self)
    class(elements3d_t), intent(inout) :: self
    self%program = 'SplSemmod'
    self%components = elements3d_components
    self%summary = 'vx, vy, vz, ux .. uz, ax .. az, p, sxx .. syz, exx .. eyz, wx, wy, wz'
    self%pictures = 'pictures'
    self%example = 'keymap=quake.keymap mesh=hill.exo materials=hill.materials source=dc mw=4.5 fpeak=1 tmax=10'
    self%far_field = 2
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

  subroutine Rules(self, job, verb, t)
    class(elements3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    character(*), intent(in) :: verb
    type(table_t), intent(inout) :: t
    call Elements3dRules(job, verb, t)
  end subroutine Rules

  ! --- a survey -------------------------------------------------------------------------------------------------------------

  subroutine derive(self, job, wavelet, shot, scheme, error)
    class(elements3d_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(in) :: wavelet
    type(shot_t), intent(in) :: shot
    class(scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
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
      scheme%relaxing = merge(in_memory, in_element, job%memory_variables == 'coarse')
      scheme%sponge_width = job%sponge
      scheme%halo = findloc([(halo_words(way) == job%halo, way=halo_auto, halo_host)], .true., 1) - 1
      scheme%resident = (index('all    fields auto', job%resident) - 1)/7
      if (scheme%attenuates) scheme%beside = RelaxingMost(SplitList(scheme%components), allocated(self%elements%tensor))
      if (scheme%attenuates) call CheckQuality(self, scheme, error)
      if (.not. allocated(error)) call Resolution(self, job, scheme, error)
      scheme%spacing = job%snapshot_dx
      if (.not. scheme%spacing > 0) scheme%spacing = PictureSpacing(scheme%longest)
      if (.not. allocated(error)) call TimeStep(self, job, scheme, error)
      call SchemeTimes(scheme, job, wavelet, error)
      if (.not. allocated(error)) call CutCan(self%elements, job%group, error)
    end select
  end subroutine derive

  pure integer function From(word)
    character(*), intent(in) :: word
    From = from_level
    if (word == 'surface') From = from_surface
    if (word == 'seafloor') From = from_seafloor
  end function From

  !> Fails where all of the modulus of a point, or more, would relax.
  subroutine CheckQuality(self, scheme, error)
    class(elements3d_t), intent(in) :: self
    type(elements_scheme_t), intent(in) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    real(dp), parameter :: most_gain = 1.69_dp     !< of a point that has memory variables where not all have them
    real(dp) :: relaxes
    relaxes = sum(ZenerShares(scheme%q_band, 1/self%least_q))
    if (scheme%relaxing < in_element .and. relaxes*most_gain >= most_relaxing) then
      call Fail(error, 'Q = '//Str(self%least_q, 4)// &
                ' of the bulk modulus or of mu is too small for memory_variables=coarse: of its '// &
                'modulus '//Str(100*relaxes, 3)//' % would relax in all and '//Str(100*most_gain*relaxes, 3)// &
                ' % at single points, '// &
                'at most '//Str(100*most_relaxing)//' %; use memory_variables=all')
    else if (relaxes >= most_relaxing) then
      call Fail(error, 'Q = '//Str(self%least_q, 4)//' of the bulk modulus or of mu is too small: '//Str(100*relaxes, 3)// &
                ' % of the modulus would relax, at most '//Str(100*most_relaxing)//' %; use a larger Q, or '// &
                'a narrower band q_f1 .. q_f2')
    end if
  end subroutine CheckQuality

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
           Str(least_ppw)//' keep waves right to about 1 %; use edges of at most '//Str(degree*v/(least_ppw*scheme%fmax), 4)// &
           ' m there, or fmax = '//Str(degree*v/(least_ppw*edge), 4)//' Hz or lower'
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
      call Fail(error, 'dt = '//Str(scheme%dt)//' s is unstable: the limit is '//Str(scheme%dt_limit, 5)//' s, set by element '// &
                Str(scheme%worst)//' at x = '//Str(x(1), 7)//', y = '//Str(x(2), 7)//', z = '//Str(x(3), 7)//' m; use '// &
                'dt=0 for the largest stable step')
    else if (scheme%dt > nyquist_limit) then
      call Fail(error, 'dt = '//Str(scheme%dt)//' s is too large for fmax = '//Str(scheme%fmax, 4)//' Hz: at most '// &
                Str(nyquist_limit, 4)//' s')
    end if
  end subroutine TimeStep

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

  !> The mesh is cut for the ranks of a scheme, unless it is so already. Where it has too few bricks, which `derive` has told, ranks
  !> have no share.
  subroutine CutFor(self, scheme)
    class(elements3d_t), intent(in) :: self
    type(elements_scheme_t), intent(in) :: scheme
    integer, parameter :: by_colour = 1
    type(error_t), allocatable :: error
    logical :: far
    integer :: w
    far = FarShares(self, scheme)
    if (self%cut%pieces == scheme%ranks .and. allocated(self%shares%start)) then
      if (self%shares%far .eqv. far) return
    end if
    call ElementsCut(self%elements, scheme%ranks, merge(scheme%relaxing, 0, scheme%attenuates), self%cut, error)
    if (.not. allocated(error)) call SharesMake(self%elements, self%cut, far, scheme%sum == by_colour, self%shares, error)
    if (.not. allocated(error)) return
    self%cut%pieces = 0
    self%shares%start = [(1, w=0, scheme%ranks)]
  end subroutine CutFor

  !> A map of ground velocity may lie in a fluid.
  pure logical function FarShares(self, scheme) result(far)
    class(elements3d_t), intent(in) :: self
    type(elements_scheme_t), intent(in) :: scheme
    far = scheme%pgv .and. self%elements%n > self%elements%solid
  end function FarShares

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
    real(dp) :: source(3), at(3), reach
    integer :: e, r, c
    where_to = 'shot record '//Str(shot%record)//': '
    call Place(where_to//'the source', [shot%sx, shot%sy, shot%sz], From(job%source_z), e, source)
    if (allocated(error)) return
    reach = near_edges*LongestEdge(self%elements%corner(:, :, e))
    select type (scheme)
    type is (elements_scheme_t)
      if (e > self%elements%solid .and. (scheme%source%kind == source_force .or. scheme%source%kind == source_moment .and. &
                                         .not. Isotropic(scheme%source%moment))) then
        call Fail(error, where_to//'the source at z = '//Str(shot%sz)//' m lies in a fluid, where a force or a moment '// &
                  'with shear cannot act: use source=volume or explosion, or another depth')
        return
      end if
    end select
    allocate (names, source=SplitList(scheme%components))
    do r = 1, size(shot%rx)
      call Place(where_to//'channel '//Str(shot%channel(r)), [shot%rx(r), shot%ry(r), shot%rz(r)], From(job%receiver_z), e, at)
      if (allocated(error)) return
      if (norm2(at - source) < reach) then
        if (self%near == 0) self%nearest = 'channel '//Str(shot%channel(r))//' of shot record '//Str(shot%record)//', '// &
          Str(norm2(at - source), 4)//' m away with an element of '//Str(reach/near_edges, 4)//' m'
        self%near = self%near + 1
      end if
      if (e <= self%elements%solid) cycle
      do c = 1, size(names)
        if (Sem3dRecords(trim(names(c)))) cycle
        call Fail(error, where_to//'channel '//Str(shot%channel(r))//' lies in a fluid, where '//trim(names(c))// &
                  ' is not recorded: leave it out of components')
        return
      end do
    end do

  contains

    !> The element that holds a place, whose depth counts `from`, and where that is, z down.
    subroutine Place(what, asked, from, element, x)
      character(*), intent(in) :: what
      real(dp), intent(in) :: asked(3)
      integer, intent(in) :: from
      integer, intent(out) :: element
      real(dp), intent(out) :: x(3)
      real(dp) :: xi(3), away
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
      if (self%damped == 0) self%first_damped = what
      self%damped = self%damped + 1
    end subroutine Place

  end subroutine check_shot

  subroutine warn(self, job, scheme, error)
    class(elements3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    if (self%damped > 0) call SchemeWarn(scheme, Str(self%damped)//' source(s) and receiver(s) lie in the layer that damps '// &
      'waves, sponge = '//Str(job%sponge)//' m before absorbing sides, the first of them '//self%first_damped// &
      ': what they send or record is too weak; use a larger mesh or a thinner layer')
    if (self%near > 0) call SchemeWarn(scheme, Str(self%near)//' receiver(s) are closer to their source than '//Str(near_edges)// &
      ' edges of its element, the first of them '//self%nearest//': so close the source is as wide as its element, which '// &
      'changes amplitudes by up to 1 % at 2 edges and tens of per cent at one; use smaller elements there, or do not trust '// &
      'them')
  end subroutine warn

  pure real(dp) function LongestEdge(corner)
    real(dp), intent(in) :: corner(:, :)
    integer :: k
    LongestEdge = maxval([(norm2(corner(:, hex_edge(2, k)) - corner(:, hex_edge(1, k))), k = 1, 12)])
  end function LongestEdge

  pure logical function Isotropic(moment)
    real(dp), intent(in) :: moment(6)
    Isotropic = all(abs(moment(2:3) - moment(1)) <= 0) .and. all(abs(moment(4:)) <= 0)
  end function Isotropic

  function own_words(self, job, scheme) result(words)
    class(elements3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    character(:), allocatable :: words
    real(dp), allocatable :: x(:)
    integer :: i
    words = ' '//job%mesh_z//' '//job%positions//' '//job%memory_variables//' '//Str(job%sponge, 12)
    select type (scheme)
    type is (elements_scheme_t)
      words = words//' '//Str(scheme%attenuates)//' '//Str(scheme%q_band(1), 12)//' '//Str(scheme%q_band(2), 12)//' '// &
              Str(scheme%q_ref, 12)
      if (scheme%attenuates .and. any(scan(SplitList(scheme%components), 'ps') == 1)) words = words//' relaxed stress'
      allocate (x, source=SourceNumbers(scheme%source))
      do i = 1, size(x)
        words = words//' '//Str(x(i), 17)
      end do
    end select
    if (job%source_z /= 'level') words = words//' source_z '//job%source_z
    if (job%receiver_z /= 'level') words = words//' receiver_z '//job%receiver_z
  end function own_words

  ! --- what it needs --------------------------------------------------------------------------------------------------------

  !> An element of a worker: its nodes, numbers and geometry at its points; and the fields of the points that it adds. A rank of
  !> those that share a shot has the nodes and the numbers of points of its share, and the rest of its piece. Rank 0 has all nodes.
  subroutine memory(self, scheme, window, pictures, worker, master)
    class(elements3d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    logical, intent(in) :: pictures
    real(dp), intent(out) :: worker, master
    integer, parameter :: stored = 14, made = 6    !< numbers of a point of an element: its number, geometry unless it is made, sums
    integer, parameter :: fields = 8               !< of a point
    integer, parameter :: found = 6                !< of a point, where ranks look for what is theirs
    integer, parameter :: cutting = 110            !< bytes of an element of rank 0, for pieces and shares
    real(dp) :: nodes, relaxing, share, piece      !< relaxing: numbers of an element that attenuates
    integer :: numbers
    numbers = merge(made, stored, scheme%variant == 'cpu' .and. self%elements%per == 8)
    nodes = 24.0_dp*self%elements%per + 64
    if (size(self%elements%rho, 1) > 1) nodes = nodes + 12*in_element
    if (allocated(self%elements%tensor)) nodes = nodes + 4*tensor_numbers
    if (allocated(self%elements%ocean)) nodes = nodes + 32
    if (allocated(self%to_side)) nodes = nodes + 64
    relaxing = 0
    master = self%elements%n*3*nodes
    share = self%elements%n
    piece = share
    select type (scheme)
    type is (elements_scheme_t)
      if (self%attenuates) relaxing = 6*zener_mechanisms*scheme%relaxing
      if (scheme%ranks > 1) then
        share = ShareSize(self, scheme)
        piece = min(share, touching*piece/scheme%ranks)
        master = master + self%elements%n*real(cutting, dp)
      end if
    end select
    master = master + 2*share*nodes                ! what is sent, held twice for a moment
    worker = share*3*nodes + piece*4*(numbers*in_element + relaxing + fields*points_of_element)
    if (scheme%ranks > 1) worker = worker + share*4.0_dp*(in_element + found*points_of_element) + piece*nodes
    if (pictures) worker = worker + 16*picture_numbers(scheme, window)
    if (pictures) worker = worker + MapBytes(scheme, window)
    if (pictures) master = master + 12*picture_numbers(scheme, window)
  end subroutine memory

  !> Elements that a rank is sent, of the mesh as it is cut, or about, before it is.
  real(dp) function ShareSize(self, scheme) result(n)
    class(elements3d_t), intent(in) :: self
    type(elements_scheme_t), intent(in) :: scheme
    if (self%cut%pieces == scheme%ranks .and. allocated(self%shares%list)) then
      n = ShareMost(self%shares)
    else
      n = ShareGuess(self%elements%n, scheme%ranks, FarShares(self, scheme))
    end if
  end function ShareSize

  !> Weights of the points of a map, in the list and in the engine; of all points as of those inside of elements.
  real(dp) function MapBytes(scheme, window) result(bytes)
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    integer, parameter :: weight = 12, lists = 2
    real(dp) :: first(3)
    integer :: n(3)
    bytes = 0
    select type (scheme)
    type is (elements_scheme_t)
      if (.not. scheme%pgv) return
      call PicturePoints(window, scheme%spacing, first, n)
      bytes = 3.0_dp*weight*lists*in_element*n(1)*n(2)
    end select
  end function MapBytes

  subroutine sharing(self, scheme, window, gpu, words, gain, exchange)
    class(elements3d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    logical, intent(in) :: gpu
    character(:), allocatable, intent(out) :: words
    real(dp), intent(out) :: gain, exchange
    words = ''
    gain = 1
    exchange = 0
    select type (scheme)
    type is (elements_scheme_t)
      call CutFor(self, scheme)
      if (self%cut%pieces /= scheme%ranks) return ! `derive` has told it
      words = CutWords(self%cut)
      gain = self%cut%gain
      exchange = self%cut%exchange
    end select
  end subroutine sharing

  pure logical function wants_pictures(job) result(wanted)
    type(job_t), intent(in) :: job
    wanted = job%snapshot > 0 .or. job%pgv
  end function wants_pictures

  real(dp) function picture_numbers(scheme, window) result(numbers)
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    numbers = 0
    select type (scheme)
    type is (elements_scheme_t)
      numbers = PictureTotal(scheme, window)
    end select
  end function picture_numbers

  subroutine check_pictures(self, scheme, shot, window, error)
    class(elements3d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    select type (scheme)
    type is (elements_scheme_t)
      call PicturesCheck(scheme, shot%record, window, error)
    end select
  end subroutine check_pictures

  pure subroutine receiver(component, scheme, cells, sorting)
    character(*), intent(in) :: component
    class(scheme_t), intent(in) :: scheme
    integer, intent(out) :: cells, sorting
    cells = 3*band_points
    sorting = 42
  end subroutine receiver

  ! --- in words -------------------------------------------------------------------------------------------------------------

  function WindowWords(self, scheme, window) result(words)
    class(elements3d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    character(:), allocatable :: words
    words = Str(self%elements%n)//' elements'
  end function WindowWords

  subroutine describe(self, scheme, list)
    class(elements3d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    class(attributes_t), intent(inout) :: list
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
    end select
  end subroutine describe

  subroutine describe_scheme(self, job, scheme, list)
    class(elements3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    class(attributes_t), intent(inout) :: list
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
  end subroutine describe_scheme

  function log_lines(self, scheme) result(lines)
    class(elements3d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    character(:), allocatable :: lines
    select type (scheme)
    type is (elements_scheme_t)
      lines = 'model    '//self%sources//', slowest and fastest wave '//Str(self%vmin)//' and '//Str(self%vmax)//' m/s, rho '// &
              Str(self%rhomin)//' .. '//Str(self%rhomax)//' kg/m3'//nl//'surface  '//Surfaces(self%counts)//nl// &
              'acts     '//SourceWords(scheme%source)
    end select
  end function log_lines

  function Surfaces(counts) result(words)
    type(counts_t), intent(in) :: counts
    character(:), allocatable :: words
    words = Str(counts%free)//' sides are free, '//Str(counts%absorbs)//' absorb'
    if (counts%unnamed > 0) words = words//'; '//Str(counts%unnamed)//' of them are in no side set of a name with free or abs: '// &
                                    'those that look up are free, the rest absorb'
    if (counts%contacts > 0) words = words//'; '//Str(counts%contacts)//' sides join fluid and solid'
  end function Surfaces

  function plan_rows(self, scheme) result(lines)
    class(elements3d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    character(:), allocatable :: lines
    select type (scheme)
    type is (elements_scheme_t)
      lines = 'model      '//self%sources//nl//'extent     x '//Str(self%low(1))//' .. '//Str(self%high(1))//' m, y '// &
              Str(self%low(2))//' .. '//Str(self%high(2))//' m, z '//Str(self%low(3))//' .. '//Str(self%high(3))//' m'//nl// &
              'surface    '//Surfaces(self%counts)//nl//'velocity   slowest wave '//Str(self%vmin)//' m/s, fastest '// &
              Str(self%vmax)//' m/s'//nl//'density    '//Str(self%rhomin)//' .. '//Str(self%rhomax)//' kg/m3'//nl// &
              Quality(self, scheme)//BlockRows(self%blocks, scheme%fmax)//nl//'source     '//SourceWords(scheme%source)
    end select
  end function plan_rows

  function Quality(self, scheme) result(line)
    class(elements3d_t), intent(in) :: self
    type(elements_scheme_t), intent(in) :: scheme
    character(:), allocatable :: line
    line = ''
    if (scheme%attenuates) line = 'quality    Q from '//Str(self%least_q, 4)//' on, constant from '//Str(scheme%q_band(1), 3)// &
                                  ' to '//Str(scheme%q_band(2), 3)//' Hz'//nl
  end function Quality

  subroutine new_scheme(self, scheme)
    class(elements3d_t), intent(in) :: self
    class(scheme_t), allocatable, intent(out) :: scheme
    allocate (elements_scheme_t :: scheme)
  end subroutine new_scheme

  ! --- what computes --------------------------------------------------------------------------------------------------------

  subroutine NewSolver(solver)
    class(solver_t), allocatable, intent(out) :: solver
    allocate (sem3d_t :: solver)
  end subroutine NewSolver

end module elements3d_m
