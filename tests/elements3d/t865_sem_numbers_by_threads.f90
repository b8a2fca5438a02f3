!> Points of a mesh of thousands of elements, which several threads number: those at one place have one number, of solid and of
!> fluid each, those at others have others; of a phase those inside bricks come first, brick after brick, then those that bricks
!> share, both in the order of elements. The engine moves them alike, whatever the number of threads that set it up. Random boxes of
!> solid and fluid whose elements begin at random corners; numbers are looked at by places alone.
!>
!>     t865_sem_numbers_by_threads [SEED]
program t865_sem_numbers_by_threads
  use check_m, only: Claim, ClaimFine, Done
  use elements_m, only: elements_t, face_absorbs, face_free, in_element
  use elements_points_m, only: ElementsNumber
  use error_m, only: error_t
  use hexahedron_m, only: HexPoints
  use kinds_m, only: dp, sp
  use mesh_case_m, only: AnySeed, Chance
  use omp_lib, only: omp_set_num_threads
  use sem3d_engine_m, only: field_chi, field_uz, sem3d_engine_t, sem3d_grid_t, Sem3dGrid
  use sem3d_variants_m, only: Sem3dEngineNew
  use semcase_m, only: semcase_t, SemBox
  use text_m, only: Str
  implicit none
  integer, parameter :: threads(3) = [1, 2, 5]
  integer :: seed, c
  seed = AnySeed()
  do c = 1, 3
    call OneCase(c)
  end do
  call Done()

contains

  subroutine OneCase(c)
    integer, intent(in) :: c
    type(semcase_t) :: box
    type(elements_t) :: mesh
    integer, allocatable :: first(:, :)
    real(sp), allocatable :: before(:), now(:)
    character(:), allocatable :: what
    integer :: a, t, wrong, differ
    box%n = [(nint(Chance(12.0_dp, 15.0_dp)), a=1, 3)]
    box%water = nint(Chance(1.0_dp, box%n(3) - 1.0_dp))
    box%size = 800.0_dp*box%n
    box%shake = 0.05_dp
    box%turn = .true.
    box%side = [(merge(face_free, face_absorbs, Chance(0.0_dp, 1.0_dp) < 0.4_dp), a=1, 6)]
    box%brick = [(nint(Chance(1.0_dp, 4.0_dp)), a=1, 3)]
    box%vary = 0.05_dp
    call SemBox(box, mesh)
    what = 'seed '//Str(seed)//', case '//Str(c)//', '//Str(mesh%n)//' elements, '//Str(mesh%n - mesh%solid)//' of fluid'
    differ = 0
    do t = 1, size(threads)
      call omp_set_num_threads(threads(t))
      call ElementsNumber(mesh)
      if (t == 1) first = mesh%at
      wrong = Places(mesh) + Order(mesh)
      if (any(mesh%at /= first)) wrong = wrong + count(mesh%at /= first)
      call Claim(wrong == 0, what//', '//Str(threads(t))//' threads: '//Str(wrong)//' numbers of points are wrong')
      call Moved(mesh, threads(t), now)
      if (t == 1) before = now
      differ = differ + count(abs(now - before) > 0)
    end do
    call Claim(differ == 0 .and. maxval(abs(before)) > 0, what//': set up by 1, 2 or 5 threads '//Str(differ)//' numbers of fields differ')
  end subroutine OneCase

  !> Points whose place is not that of the first of their number, and places of a phase that have several numbers.
  integer function Places(mesh) result(wrong)
    type(elements_t), intent(in) :: mesh
    real(dp), allocatable :: place(:, :)
    real(dp) :: x(3, in_element), low(3)
    integer, allocatable :: box(:), next(:), head(:)
    integer :: e, p, n, other, key(3)
    logical, allocatable :: seen(:)
    real(dp), parameter :: close = 1.0e-3_dp, wide = 40.0_dp
    allocate (place(3, mesh%points), seen(mesh%points))
    seen = .false.
    wrong = 0
    low = huge(low)
    do e = 1, mesh%n
      call HexPoints(mesh%corner(:, :, e), x)
      low = min(low, minval(x, 2))
      do p = 1, in_element
        n = mesh%at(p, e)
        if (seen(n)) then
          if (norm2(place(:, n) - x(:, p)) > close) wrong = wrong + 1
        end if
        if ((n <= mesh%solid_points) .neqv. (e <= mesh%solid)) wrong = wrong + 1
        if (.not. seen(n)) place(:, n) = x(:, p)
        seen(n) = .true.
      end do
    end do
    wrong = wrong + count(.not. seen)
    allocate (head(0:2**20 - 1), next(mesh%points), box(mesh%points), source=0)
    do n = 1, mesh%points                         ! in boxes; of two at one place few are parted by a side of these
      key = floor((place(:, n) - low)/wide + 0.318_dp)
      box(n) = modulo(key(1)*7919 + key(2)*104729 + key(3)*1299709, size(head))
      other = head(box(n))
      do while (other > 0)
        if (norm2(place(:, n) - place(:, other)) <= close .and. ((n <= mesh%solid_points) .eqv. (other <= mesh%solid_points))) &
          wrong = wrong + 1
        other = next(other)
      end do
      next(n) = head(box(n))
      head(box(n)) = n
    end do
  end function Places

  !> Numbers that are not those in which points are met, of a phase first in the only brick that has them, then all others.
  integer function Order(mesh) result(wrong)
    type(elements_t), intent(in) :: mesh
    integer, allocatable :: low(:), high(:), expected(:)
    integer :: b, e, p, pass, phase, last
    logical :: alone
    allocate (low(mesh%points), source=huge(1))
    allocate (high(mesh%points), expected(mesh%points), source=0)
    do b = 1, size(mesh%brick) - 1
      do e = mesh%brick(b), mesh%brick(b + 1) - 1
        low(mesh%at(:, e)) = min(low(mesh%at(:, e)), b)
        high(mesh%at(:, e)) = max(high(mesh%at(:, e)), b)
      end do
    end do
    last = 0
    do phase = 1, 2
      do pass = 1, 2
        do e = merge(1, mesh%solid + 1, phase == 1), merge(mesh%solid, mesh%n, phase == 1)
          do p = 1, in_element
            associate (n => mesh%at(p, e))
              alone = low(n) == high(n)
              if (expected(n) > 0 .or. (alone .neqv. pass == 1)) cycle
              last = last + 1
              expected(n) = last
            end associate
          end do
        end do
      end do
    end do
    wrong = count(expected /= [(p, p=1, mesh%points)])
  end function Order

  !> Fields after some steps from random ones.
  subroutine Moved(mesh, threads, fields)
    type(elements_t), intent(in) :: mesh
    integer, intent(in) :: threads
    real(sp), allocatable, intent(out) :: fields(:)
    class(sem3d_engine_t), allocatable :: engine
    type(sem3d_grid_t) :: grid
    type(error_t), allocatable :: error
    real(sp) :: u(mesh%solid_points), chi(mesh%points - mesh%solid_points)
    integer :: i
    grid = Sem3dGrid(mesh)
    grid%dt = 1.0e-3_dp
    grid%threads = threads
    call Sem3dEngineNew('cpu', engine, error)
    if (.not. allocated(error)) call engine%new(grid, error)
    if (.not. allocated(error)) call engine%elements(mesh, error)
    u = [(real(modulo(0.618_dp*i, 1.0_dp), sp), i=1, size(u))]
    chi = [(real(modulo(0.414_dp*i, 1.0_dp), sp), i=1, size(chi))]
    if (.not. allocated(error)) call engine%set_field(field_uz, u, error)
    if (.not. allocated(error)) call engine%set_field(field_chi, chi, error)
    if (.not. allocated(error)) call engine%histories(1, reshape([real(sp) ::], [0, 3]), error)
    if (.not. allocated(error)) call engine%timestep(1, 3, error)
    if (.not. allocated(error)) call engine%field(field_uz, u, error)
    if (.not. allocated(error)) call engine%field(field_chi, chi, error)
    if (allocated(error)) call ClaimFine(error, 'three steps')
    fields = [u, chi]
    call engine%free()
  end subroutine Moved

end program t865_sem_numbers_by_threads
