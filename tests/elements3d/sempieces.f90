!> A mesh in pieces has the fields of the whole mesh bit for bit, at every point of every piece: random boxes of solid and fluid, of 8
!> and 27 nodes, with attenuation, damping, anisotropic media, the weight of an ocean, absorbing and free sides, whose bricks belong to
!> 2, 3, 4 or 8 pieces as chance will have it or as the mesh is cut; all pieces in this process, one after the other.
module sempieces_m
  use check_m, only: Claim
  use elements_cut_m, only: cut_t, ElementsCut
  use elements_m, only: elements_t, face_absorbs, face_free, in_element, in_memory
  use elements_pieces_m, only: piece_t, PieceMake
  use elements_ocean_m, only: OceanMass, OceanOver
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use meetings_m, only: meetings_t, MeetingsMake
  use mesh_case_m, only: Chance
  use sem3d_engine_m, only: field_chi_t, part_inside, part_rim, part_shared, phase_fluid, phase_solid, sem3d_engine_t, &
                            sem3d_fields, sem3d_ways_t
  use sem3d_variants_m, only: sums_t, Sem3dSums
  use semcase_m, only: semcase_t, SemBox, SemEngine, SemFine
  use text_m, only: Str
  implicit none
  private
  public :: PiecesCase

  integer, parameter :: steps = 16, mechanisms = 2
  real(dp), parameter :: dt = 4e-3_dp

  type :: engine_of_t
    class(sem3d_engine_t), allocatable :: engine
    type(piece_t) :: piece
  end type engine_of_t

  type :: numbers_t
    real(sp), allocatable :: a(:)
  end type numbers_t

  type(elements_t) :: mesh
  real(sp), allocatable :: share(:, :, :), rate(:)
  integer :: way_of_sums = 0                !< as in sem3d_grid_t

contains

  !> Case c of those of a seed. sum: 0 gather, 1 colour.
  subroutine PiecesCase(seed, c, variant, sum)
    integer, intent(in) :: seed, c, sum
    character(*), intent(in) :: variant
    type(semcase_t) :: box
    type(cut_t) :: cut
    type(error_t), allocatable :: error
    type(engine_of_t), allocatable :: part(:)
    class(sem3d_engine_t), allocatable :: whole
    character(:), allocatable :: about
    integer, parameter :: pieces(4) = [2, 3, 4, 8]
    integer :: a, n, b, wrong, points, relaxing
    logical :: chosen
    way_of_sums = sum
    box%n = [(nint(Chance(2.0_dp, 6.0_dp)), a=1, 3)]
    box%water = nint(Chance(0.0_dp, min(2.0_dp, box%n(3) - 1.0_dp)))
    if (Chance(0.0_dp, 1.0_dp) < 0.1_dp) box%water = box%n(3)
    box%size = 800.0_dp*box%n
    box%shake = merge(0.0_dp, 0.1_dp, Chance(0.0_dp, 1.0_dp) < 0.3_dp)
    box%turn = .true.
    box%side = [(merge(face_free, face_absorbs, Chance(0.0_dp, 1.0_dp) < 0.4_dp), a=1, 6)]
    box%brick = [(nint(Chance(1.0_dp, 2.4_dp)), a=1, 3)]
    box%media = merge(1, in_element, Chance(0.0_dp, 1.0_dp) < 0.6_dp)
    box%per = merge(8, 27, Chance(0.0_dp, 1.0_dp) < 0.7_dp)
    if (box%per == 27) box%shake = box%shake/3
    box%vary = 0.05_dp
    chosen = Chance(0.0_dp, 1.0_dp) < 0.4_dp
    if (chosen .and. box%water < box%n(3)) box%tensors = 3
    call SemBox(box, mesh)
    if (box%water == 0 .and. box%side(5) == face_free) then
      call OceanOver(mesh, '300', 1025.0_dp, error)
      call SemFine(error, 'ocean')
    end if
    n = min(pieces(min(4, 1 + int(Chance(0.0_dp, 4.0_dp)))), size(mesh%brick) - 1)
    call ElementsCut(mesh, n, 0, cut, error)
    call SemFine(error, 'cut')
    chosen = Chance(0.0_dp, 1.0_dp) < 0.5_dp
    do b = 1, size(mesh%brick) - 1
      if (chosen) exit
      cut%owner(mesh%brick(b):mesh%brick(b + 1) - 1) = merge(b, min(n, 1 + int(Chance(0.0_dp, real(n, dp)))), b <= n)
    end do
    if (allocated(share)) deallocate (share, rate)
    allocate (share(merge(0, mechanisms, Chance(0.0_dp, 1.0_dp) < 0.4_dp), box%media, mesh%solid), source=0.08_sp)
    relaxing = merge(in_memory, in_element, Chance(0.0_dp, 1.0_dp) < 0.5_dp)
    allocate (rate(merge(mesh%points, 0, Chance(0.0_dp, 1.0_dp) < 0.5_dp)))
    call random_number(rate)
    rate = max(0.0_sp, 10*rate - 5)
    about = trim(variant)//trim(merge(', colour', '        ', sum == 1))//', '// &
            Str(box%n(1))//' x '//Str(box%n(2))//' x '//Str(box%n(3))//' elements of '//Str(box%per)//' nodes, '// &
            Str(box%water)//' layers of water, '//Str(size(mesh%brick) - 1)//' bricks in '//Str(n)//trim(merge(' pieces     ', &
                                                                                         ' random ones', chosen))// &
            trim(merge(' with Q', '       ', size(share) > 0))//trim(merge(', anisotropic', '             ', box%tensors > 0))// &
            trim(merge(', ocean', '       ', allocated(mesh%ocean)))//trim(merge(', damped', '        ', size(rate) > 0))
    call WholeRun(trim(variant), relaxing, whole)
    call PiecesRun(trim(variant), relaxing, cut, part)
    wrong = 0
    points = 0
    do a = 1, n
      call Compare(whole, part(a), wrong, points)
    end do
    call Claim(wrong == 0 .and. points > mesh%points, 'seed '//Str(seed)//', case '//Str(c)//', '//about//': '//Str(wrong)//' numbers of '// &
               Str(points)//' points of pieces, of '//Str(mesh%points)//' of the whole, differ')
    call whole%free()
    do a = 1, n
      call part(a)%engine%free()
    end do
  end subroutine PiecesCase

  subroutine Make(variant, relaxing, elements, shares, engine, ways)
    character(*), intent(in) :: variant
    integer, intent(in) :: relaxing
    type(elements_t), intent(in) :: elements
    real(sp), intent(in) :: shares(:, :, :)
    class(sem3d_engine_t), allocatable, intent(out) :: engine
    type(sem3d_ways_t), intent(in), optional :: ways
    if (size(share) == 0) call SemEngine(variant, elements, dt, 2, engine, sum=way_of_sums, ways=ways)
    if (size(share) > 0) call SemEngine(variant, elements, dt, 2, engine, [0.02, 0.2], shares, shares, relaxing, way_of_sums, ways=ways)
  end subroutine Make

  !> Damping comes before added mass (sem3d_engine.f90).
  subroutine Weigh(elements, engine)
    type(elements_t), intent(in) :: elements
    class(sem3d_engine_t), intent(inout) :: engine
    type(error_t), allocatable :: error
    integer, allocatable :: point(:)
    real(sp), allocatable :: mass(:, :)
    if (.not. allocated(elements%ocean)) return
    call OceanMass(elements, point, mass)
    call engine%added_mass(point, mass, error)
    call SemFine(error, 'weight of an ocean')
  end subroutine Weigh

  !> Forces and volumes all over the mesh.
  subroutine Drive(engine, place)
    class(sem3d_engine_t), intent(inout) :: engine
    integer, intent(in) :: place(:)                       !< of each point of the whole mesh, or 0
    type(error_t), allocatable :: error
    integer :: point(1 + (mesh%points - 1)/7), field(1 + (mesh%points - 1)/7), n
    logical :: here(size(point))
    real(sp) :: q(1, steps)
    integer :: p, m
    point = [(p, p=1, mesh%points, 7)]
    field = [(merge(modulo(p, 3), field_chi_t, p <= mesh%solid_points), p=1, mesh%points, 7)]
    here = place(point) > 0
    n = count(here)
    field(:n) = pack(field, here)
    point(:n) = pack(place(point), here)
    call engine%source(1, field(:n), point(:n), [(1, m=1, n)], [(merge(1e2, 1e9, field(m) == field_chi_t), m=1, n)], error)
    q(1, :) = [(sin(0.4*m), m=1, steps)]
    if (.not. allocated(error)) call engine%histories(1, q, error)
    call SemFine(error, 'sources')
  end subroutine Drive

  subroutine WholeRun(variant, relaxing, engine)
    character(*), intent(in) :: variant
    integer, intent(in) :: relaxing
    class(sem3d_engine_t), allocatable, intent(out) :: engine
    type(error_t), allocatable :: error
    integer :: p
    call Make(variant, relaxing, mesh, share, engine)
    if (size(rate) > 0) call engine%damping(rate, error)
    call Weigh(mesh, engine)
    call Drive(engine, [(p, p=1, mesh%points)])
    if (.not. allocated(error)) call engine%timestep(1, steps, error)
    call SemFine(error, 'the whole mesh')
  end subroutine WholeRun

  subroutine PiecesRun(variant, relaxing, cut, part)
    character(*), intent(in) :: variant
    integer, intent(in) :: relaxing
    type(cut_t), intent(in) :: cut
    type(engine_of_t), allocatable, intent(out) :: part(:)
    type(meetings_t) :: meetings
    type(sums_t) :: sums
    type(error_t), allocatable :: error
    type(numbers_t) :: sent(cut%pieces, cut%pieces)
    logical :: wide(mesh%n)
    integer :: a, b, it, phase, out, in
    call MeetingsMake(mesh, meetings)
    wide = .false.
    if (Chance(0.0_dp, 1.0_dp) < 0.3_dp) wide(mesh%solid + 1:) = .true.
    call Sem3dSums(variant, way_of_sums, mesh, sums, error)
    call SemFine(error, 'sums')
    allocate (part(cut%pieces))
    do a = 1, cut%pieces
      call PieceMake(mesh, meetings, cut, a, wide, sums, part(a)%piece)
      call Make(variant, relaxing, part(a)%piece%elements, share(:, :, pack(part(a)%piece%from, part(a)%piece%from <= mesh%solid)), part(a)%engine, &
                part(a)%piece%ways)
      if (size(rate) > 0 .and. .not. allocated(error)) call part(a)%engine%damping(rate(part(a)%piece%point), error)
      call SemFine(error, 'a piece')
      call Weigh(part(a)%piece%elements, part(a)%engine)
      call Drive(part(a)%engine, part(a)%piece%place)
    end do
    do it = 1, steps
      do phase = phase_fluid, phase_solid, -1
        do a = 1, cut%pieces
          call part(a)%engine%step_part(it, phase, part_rim, error)
          do b = 1, cut%pieces
            if (.not. allocated(error)) call part(a)%engine%way_size(phase, b, out, in, error)
            if (allocated(sent(a, b)%a)) deallocate (sent(a, b)%a)
            allocate (sent(a, b)%a(out))
            if (.not. allocated(error)) call part(a)%engine%give(phase, b, sent(a, b)%a, error)
          end do
          if (.not. allocated(error)) call part(a)%engine%step_part(it, phase, part_inside, error)
        end do
        do a = 1, cut%pieces
          do b = 1, cut%pieces
            if (.not. allocated(error)) call part(a)%engine%way_size(phase, b, out, in, error)
            if (in /= size(sent(b, a)%a)) call Claim(.false., 'piece '//Str(a)//' expects '//Str(in)//' numbers of piece '//Str(b)// &
                                                     ', which gives '//Str(size(sent(b, a)%a)))
            if (.not. allocated(error)) call part(a)%engine%take(phase, b, sent(b, a)%a, error)
          end do
          if (.not. allocated(error)) call part(a)%engine%step_part(it, phase, part_shared, error)
        end do
        call SemFine(error, 'step '//Str(it))
      end do
    end do
  end subroutine PiecesRun

  subroutine Compare(whole, part, wrong, points)
    class(sem3d_engine_t), intent(inout) :: whole
    type(engine_of_t), intent(inout) :: part
    integer, intent(inout) :: wrong, points
    type(error_t), allocatable :: error
    real(sp), allocatable :: all(:), mine(:)
    integer, allocatable :: at(:)
    integer :: f, solid
    solid = part%piece%elements%solid_points
    do f = 0, sem3d_fields - 1
      if (f < field_chi_t) at = part%piece%point(:solid)
      if (f >= field_chi_t) at = part%piece%point(solid + 1:) - mesh%solid_points
      if (size(at) == 0) cycle
      if (allocated(all)) deallocate (all, mine)
      allocate (all(merge(mesh%solid_points, mesh%points - mesh%solid_points, f < field_chi_t)), mine(size(at)))
      call whole%field(f, all, error)
      if (.not. allocated(error)) call part%engine%field(f, mine, error)
      call SemFine(error, 'field')
      wrong = wrong + count(transfer(mine, 1, size(at)) /= transfer(all(at), 1, size(at)))
      if (.not. maxval(abs(all)) > 0) call Claim(.false., 'field '//Str(f)//' is silent')
    end do
    points = points + size(part%piece%point)
  end subroutine Compare

end module sempieces_m
