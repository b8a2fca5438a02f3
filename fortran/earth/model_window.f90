!> The piece of the 2D earth (model.f90) that a shot sees: grid spacings, where its window lies, and the medium of its nodes.
module model_window_m
  use checked_m, only: Above, Below, Finite, Whole
  use checksum_c, only: checksum_floats
  use error_m, only: error_t, Fail
  use kinds_m, only: dp, i8, sp
  use model_checksum_m, only: ModelChecksumCheck
  use model_m, only: model_t, on_node, recent_t, same_step
  use parameters_m, only: job_t
  use regrid_axis_m, only: axis_t, RegridAxis
  use regrid_m, only: BetweenSamples, PlacesBetween, Regrid, RegridDensity, RegridEffective, RegridModulus, ring
  use shot_m, only: shot_t
  use text_m, only: Counted, Str
  use threads_m, only: ThreadsOf
  use window_m, only: box_t, window_t, WindowClip
  implicit none
  private
  public :: ModelGrid, ModelShape, ModelWindow, ModelApart, SameStep

  real(dp), parameter :: nodes_most = 1.0e9_dp   !< of a window; nobody has tried more
  integer, parameter :: farthest = 1000000000 !< number of a node

contains

  !> Spacing of the modelling grid [m]: the job's, or that of the model where the job says 0.
  subroutine ModelGrid(job, model, dx, dz, error)
    type(job_t), intent(in) :: job
    type(model_t), intent(in) :: model
    real(dp), intent(out) :: dx, dz
    type(error_t), allocatable, intent(inout) :: error
    dx = GridStep('dx', job%dx, model%dx, model%nx, error)
    dz = GridStep('dz', job%dz, model%dz, model%nz, error)
  end subroutine ModelGrid

  real(dp) function GridStep(name, asked, own, n, error) result(d)
    character(*), intent(in) :: name
    real(dp), intent(in) :: asked, own
    integer, intent(in) :: n
    type(error_t), allocatable, intent(inout) :: error
    d = asked
    if (asked == 0 .or. SameStep(asked, own)) d = own
    if (d > own*(n - 1)) call Fail(error, name//' = '//Str(d)//' m is larger than the model, '//Str(own*(n - 1))//' m: lower it')
    if (own*(n - 1)/d > 1.0e8_dp) call Fail(error, name//' = '//Str(d)//' m cuts the model of '//Str(own*(n - 1))// &
      ' m into more than 1e8 cells: raise it')
  end function GridStep

  !> Finds the window of a shot on the lattice x0 + i*dx, z0 + k*dz, without its medium: `aperture` beyond source and receivers
  !> in x, down to `depth`, clipped to the model. The lattice reaches the first node at or beyond the last sample, so all of the
  !> model lies inside.
  subroutine ModelShape(model, job, shot, dx, dz, window, error)
    type(model_t), intent(in) :: model
    type(job_t), intent(in) :: job
    type(shot_t), intent(in) :: shot
    real(dp), intent(in) :: dx, dz
    type(window_t), intent(out) :: window
    type(error_t), allocatable, intent(inout) :: error
    integer :: i0, i1, k1
    call CheckGeometry(model, job, shot, error)
    if (allocated(error)) return
    i0 = 0
    i1 = Upwards((model%nx - 1)*model%dx/dx)
    k1 = Upwards((model%nz - 1)*model%dz/dz)
    if (job%depth > 0) k1 = min(k1, Upwards(job%depth/dz))
    if (job%aperture >= 0) then
      i0 = max(0, -Upwards(-(min(shot%sx, minval(shot%rx)) - job%aperture - model%x0)/dx))
      i1 = min(i1, Upwards((max(shot%sx, maxval(shot%rx)) + job%aperture - model%x0)/dx))
    end if
    window%nx = i1 - i0 + 1
    window%nz = k1 + 1
    window%dx = dx
    window%dz = dz
    window%x0 = model%x0 + i0*dx
    window%z0 = model%z0
    window%parts = merge(3, 2, ModelApart(model, job, dx, dz))
    call CheckShape(window, shot%record, error)
  end subroutine ModelShape

  subroutine CheckShape(window, record, error)
    type(window_t), intent(in) :: window
    integer, intent(in) :: record
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: nodes
    character(:), allocatable :: begin
    nodes = real(window%nx, dp)*window%nz
    begin = 'the window of shot record '//Str(record)//' has '//Str(window%nx)//' x '//Str(window%nz)//' nodes'
    if (window%nx < 2 .or. window%nz < 2) then
      call Fail(error, begin//', must have 2 x 2 or more: widen aperture or depth, or check its geometry')
    else if (nodes > nodes_most) then
      call Fail(error, begin//' ('//Str(8*nodes/1.0e9_dp, 3)//' GB), at most 1e9 nodes: lower aperture or depth, or '// &
        'raise dx and dz')
    end if
  end subroutine CheckShape

  !> The window of a shot with its medium, or that of a box of it; a window of any aperture equals that piece of the window of the
  !> whole. Fails where the model is not any more what was read. Its parts are vp and rho [m/s, kg/m3] at the nodes (i, k); or, by
  !> regrid=cell on a grid that is not the model's, K [Pa] there and rho at (i + 1/2, k) and (i, k + 1/2).
  subroutine ModelWindow(model, job, shot, dx, dz, window, error, box)
    type(model_t), intent(in) :: model
    type(job_t), intent(in) :: job
    type(shot_t), intent(in) :: shot
    real(dp), intent(in) :: dx, dz
    type(window_t), intent(out) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(box_t), intent(in), optional :: box
    type(box_t) :: b
    type(axis_t) :: x, z
    integer :: rc, n(3)
    call ModelShape(model, job, shot, dx, dz, window, error)
    call CheckSamples(model, window, merge(9, 1, job%regrid == 'cell'), error)
    if (allocated(error)) return
    b = box_t()
    if (present(box)) b = box
    b = WindowClip(window, b)
    n = b%high - b%low + 1
    allocate (window%medium(b%low(1):b%high(1), 1, b%low(3):b%high(3), window%parts), stat=rc)
    if (rc /= 0) call Fail(error, 'the window of shot record '//Str(shot%record)//', '//Str(window%nx)//' x '//Str(window%nz)// &
                           ' nodes: out of memory for '//Str(4.0e-9_dp*window%parts*n(1)*n(3), 3)//' GB')
    if (allocated(error)) return
    if (window%parts == 3) then
      call MediumKnown(model, job, window, b)
      return
    end if
    call RegridAxis(model%nx, model%dx, FirstColumn(model, window, b), n(1), dx, 0.0_dp, job%regrid, x)
    call RegridAxis(model%nz, model%dz, b%low(3) - 1, n(3), dz, 0.0_dp, job%regrid, z)
    call Regrid(model%rho, x, z, .false., window%medium(:, 1, :, 2))
    if (job%regrid == 'effective') then
      call RegridEffective(model%vp, model%rho, x, z, window%medium(:, 1, :, 2), window%medium(:, 1, :, 1))
    else
      call Regrid(model%vp, x, z, .true., window%medium(:, 1, :, 1))
    end if
  end subroutine ModelWindow

  !> The medium of a box of a window by regrid=cell: columns that the last one had are taken from there, if they are what they were.
  subroutine MediumKnown(model, job, window, box)
    type(model_t), intent(in) :: model
    type(job_t), intent(in) :: job
    type(window_t), intent(inout) :: window
    type(box_t), intent(in) :: box
    type(box_t) :: rest
    integer :: first, last, from, to, shift
    first = FirstColumn(model, window, box)
    last = first + box%high(1) - box%low(1)
    if (.not. associated(model%recent)) then
      call MediumApart(model, job, window, box)
      return
    end if
    associate (r => model%recent)
      from = first
      to = first - 1                          ! columns known: none
      if (Holds(r)) then
        from = max(first, r%first)
        to = min(last, r%last)
      end if
      shift = box%low(1) - first
      if (from > to) then
        call MediumApart(model, job, window, box)
      else
        window%medium(from + shift:to + shift, 1, :, :) = r%medium(from - r%first + 1:to - r%first + 1, :, :)
        rest = box
        rest%high(1) = from - 1 + shift
        if (from > first) call MediumApart(model, job, window, rest)
        rest = box
        rest%low(1) = to + 1 + shift
        if (to < last) call MediumApart(model, job, window, rest)
      end if
      if (from == first .and. to == last) return
      r%first = first
      r%last = last
      r%rows = [box%low(3), box%high(3)]
      r%d = [window%dx, window%dz]
      r%medium = window%medium(:, 1, :, :)
      r%checksum = SumOf(r)
    end associate

  contains

    logical function Holds(r)
      type(recent_t), intent(in) :: r
      Holds = allocated(r%medium)
      if (Holds) Holds = all(r%rows == [box%low(3), box%high(3)]) .and. all(r%d == [window%dx, window%dz]) .and. &
                         r%first <= last .and. r%last >= first
      if (Holds) Holds = SumOf(r) == r%checksum
    end function Holds

    integer(i8) function SumOf(r)
      type(recent_t), intent(in) :: r
      SumOf = checksum_floats(0_i8, size(r%medium, kind=i8), r%medium)
    end function SumOf

  end subroutine MediumKnown

  !> The medium of a box of a window by regrid=cell, by threads that have some columns each.
  subroutine MediumApart(model, job, window, box)
    type(model_t), intent(in) :: model
    type(job_t), intent(in) :: job
    type(window_t), intent(inout) :: window
    type(box_t), intent(in) :: box
    real(dp), parameter :: worth = 1.5e5_dp                ! nodes for a thread, 40 to 60 ms
    type(box_t) :: columns
    real(dp) :: nodes
    integer :: n, team, t
    n = box%high(1) - box%low(1) + 1
    nodes = real(n, dp)*(box%high(3) - box%low(3) + 1)
    team = max(1, min(ThreadsOf(job%threads), n, Whole(Below(nodes/worth))))
    !$omp parallel do private(columns) num_threads(team) if (team > 1)
    do t = 1, team
      columns = box
      columns%low(1) = box%low(1) + int(int(n, i8)*(t - 1)/team)
      columns%high(1) = box%low(1) + int(int(n, i8)*t/team) - 1
      call MediumOfColumns(model, job, window, columns)
    end do
    !$omp end parallel do
  end subroutine MediumApart

  !> The medium of a box of a window by regrid=cell, some rows at a time. On a grid finer than the model the earth is that between
  !> samples, as ever so fine a grid would have it, taken at so many more places that the mean over a cell of the grid is known.
  !> Above a free surface, where fields are images of those below, it is the image of the earth below: a sea floor within four
  !> cells of the surface would be another one otherwise.
  subroutine MediumOfColumns(model, job, window, box)
    type(model_t), intent(in) :: model
    type(job_t), intent(in) :: job
    type(window_t), intent(inout) :: window
    type(box_t), intent(in) :: box
    integer, parameter :: rows = 64                        ! of nodes at a time
    type(axis_t) :: x(2), z(2)                             ! of nodes, and of points between them
    real(sp), allocatable :: vp(:, :), rho(:, :)
    integer :: more(2), low(2), high(2), k, last
    more = [PlacesBetween(model%dx, window%dx), PlacesBetween(model%dz, window%dz)]
    call AxisX(0.0_dp, x(1))
    call AxisX(window%dx/2, x(2))
    call Used(x, low(1), high(1))
    do k = box%low(3), box%high(3), rows
      last = min(box%high(3), k + rows - 1)
      call AxisZ(0.0_dp, z(1))
      call AxisZ(window%dz/2, z(2))
      if (all(more == 1)) then
        call Means(model%vp, model%rho, window%medium(box%low(1):box%high(1), 1, k:last, :))
      else
        call Used(z, low(2), high(2))
        call BetweenSamples(model%vp, .true., more, low, high, vp)
        call BetweenSamples(model%rho, .false., more, low, high, rho)
        call Means(vp, rho, window%medium(box%low(1):box%high(1), 1, k:last, :))
      end if
    end do

  contains

    subroutine Means(vp, rho, medium)
      real(sp), intent(in) :: vp(:, :), rho(:, :)
      real(sp), intent(inout) :: medium(:, :, :)
      call RegridModulus(vp, rho, x(1), z(1), medium(:, :, 1))
      call RegridDensity(rho, x(2), z(1), [window%dx, window%dz], 1, medium(:, :, 2))
      call RegridDensity(rho, x(1), z(2), [window%dx, window%dz], 2, medium(:, :, 3))
    end subroutine Means

    !> For the box's columns and the ring around them.
    subroutine AxisX(shift, axis)
      real(dp), intent(in) :: shift
      type(axis_t), intent(out) :: axis
      call RegridAxis((model%nx - 1)*more(1) + 1, model%dx/more(1), FirstColumn(model, window, box) - ring, &
                      box%high(1) - box%low(1) + 1 + 2*ring, window%dx, shift, Rule(more(1)), axis)
    end subroutine AxisX

    subroutine AxisZ(shift, axis)
      real(dp), intent(in) :: shift
      type(axis_t), intent(out) :: axis
      call RegridAxis((model%nz - 1)*more(2) + 1, model%dz/more(2), k - 1 - ring, last - k + 1 + 2*ring, window%dz, shift, &
                      Rule(more(2)), axis, mirrored=job%top == 'free')
    end subroutine AxisZ

    pure function Rule(more)
      integer, intent(in) :: more
      character(:), allocatable :: Rule
      Rule = merge('lines', 'cell ', more > 1)
    end function Rule

    !> The first and the last place that axes use; they count from the first then, if there are places between samples.
    subroutine Used(axis, low, high)
      type(axis_t), intent(inout) :: axis(:)
      integer, intent(out) :: low, high
      integer :: a
      low = minval([(minval(axis(a)%first), a=1, size(axis))])
      high = maxval([(maxval(axis(a)%first + axis(a)%count), a=1, size(axis))]) - 1
      if (all(more == 1)) return
      do a = 1, size(axis)
        axis(a)%first = axis(a)%first - low + 1
      end do
    end subroutine Used

  end subroutine MediumOfColumns

  !> The number of the first column of a box on the lattice that begins with the model, from 0.
  pure integer function FirstColumn(model, window, box)
    type(model_t), intent(in) :: model
    type(window_t), intent(in) :: window
    type(box_t), intent(in) :: box
    FirstColumn = Whole((window%x0 - model%x0)/window%dx) + box%low(1) - 1
  end function FirstColumn

  !> The densities of vx and vz are means of their own cells: where the grid is not the model's, along x or z.
  pure logical function ModelApart(model, job, dx, dz)
    type(model_t), intent(in) :: model
    type(job_t), intent(in) :: job
    real(dp), intent(in) :: dx, dz
    ModelApart = job%regrid == 'cell' .and. .not. (SameStep(dx, model%dx) .and. SameStep(dz, model%dz))
  end function ModelApart

  pure logical function SameStep(d, own)
    real(dp), intent(in) :: d, own
    SameStep = abs(d - own) <= same_step*own
  end function SameStep

  !> The samples that a window is made from: those of so many cells more on each side.
  subroutine CheckSamples(model, window, more, error)
    type(model_t), intent(in) :: model
    type(window_t), intent(in) :: window
    integer, intent(in) :: more
    type(error_t), allocatable, intent(inout) :: error
    integer :: i0, i1, k1
    if (allocated(error)) return
    i0 = Whole(Below((window%x0 - more*window%dx - model%x0)/model%dx))
    i1 = Whole(Above((window%x0 + (window%nx - 1 + more)*window%dx - model%x0)/model%dx) + 2)
    k1 = Whole(Above((window%nz - 1 + more)*window%dz/model%dz) + 2)
    call ModelChecksumCheck(model%checksum, model%vp, model%rho, i0, i1, 1, k1, error)
  end subroutine CheckSamples

  !> The smallest node number at or beyond a place given in spacings.
  pure integer function Upwards(place)
    real(dp), intent(in) :: place
    Upwards = Whole(Above(place - on_node), -farthest, farthest)
  end function Upwards

  !> Fails where source or receivers of a shot lie outside the modelled part of the earth, with one sentence for all of them.
  subroutine CheckGeometry(model, job, shot, error)
    type(model_t), intent(in) :: model
    type(job_t), intent(in) :: job
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: problems, why, cure
    integer :: j, n
    problems = Outside(model, job, shot%sx, shot%sz)
    if (problems /= '') problems = '; source '//problems
    if (problems == '' .and. job%top == 'free') then
      if (abs(shot%sz - model%z0) < on_node*model%dz) then
        problems = '; source at z = '//Str(shot%sz)//' m lies on the free surface and would radiate nothing: give it a depth'
      else if (job%positions == 'nearest' .and. shot%sz - model%z0 < 0.5_dp*merge(job%dz, model%dz, job%dz > 0)) then
        problems = '; positions=nearest moves the source at z = '//Str(shot%sz)//' m onto the free surface, where it would '// &
          'radiate nothing: use positions=exact, or a greater depth'
      end if
    end if
    if (.not. allocated(shot%rx)) then
      problems = problems//'; no receivers'
    else if (size(shot%rx) == 0) then
      problems = problems//'; no receivers'
    else
      n = 0
      do j = 1, size(shot%rx)
        why = Outside(model, job, shot%rx(j), shot%rz(j))
        if (why == '') cycle
        n = n + 1
        if (n == 1) problems = problems//'; receiver '//Str(j)//' of '//Str(size(shot%rx))//' '//why
      end do
      if (n > 1) problems = problems//' (and '//Counted(n - 1, 'more receiver')//')'
    end if
    if (problems == '') return
    cure = ''
    if (index(problems, 'below the model') > 0) cure = ': check its depth (in m, downwards), or give a deeper model'
    if (index(problems, 'below the modelled part') > 0) cure = ': check its depth, or give a larger depth or none'
    if (index(problems, 'above the top') > 0) cure = ': depths of key-map and model count from the same zero, shift one of them'
    if (index(problems, 'beside the model') > 0) cure = ': shift the key-map or the model along x, or give a longer model'
    call Fail(error, 'shot record '//Str(shot%record)//': '//problems(3:)//cure)
  end subroutine CheckGeometry

  !> '' if (x, z) [m] lies in the model, else how it does not.
  pure function Outside(model, job, x, z) result(why)
    type(model_t), intent(in) :: model
    type(job_t), intent(in) :: job
    real(dp), intent(in) :: x, z
    character(:), allocatable :: why
    real(dp) :: x1, z1, deepest
    x1 = model%x0 + (model%nx - 1)*model%dx
    z1 = model%z0 + (model%nz - 1)*model%dz
    deepest = z1
    if (job%depth > 0) deepest = min(z1, model%z0 + job%depth)
    why = ''
    if (.not. (Finite(x) .and. Finite(z))) then
      why = 'at x = '//Str(x)//' m, z = '//Str(z)//' m is nowhere'
    else if (x < model%x0 - on_node*model%dx .or. x > x1 + on_node*model%dx) then
      why = 'at x = '//Str(x, 9)//' m lies beside the model, x = '//Str(model%x0, 9)//' .. '//Str(x1, 9)//' m'
    else if (z < model%z0 - on_node*model%dz) then
      why = 'at z = '//Str(z, 9)//' m lies above the top of the model, z = '//Str(model%z0, 9)//' m'
    else if (z > z1 + on_node*model%dz) then
      why = 'at z = '//Str(z, 9)//' m lies below the model, which ends at z = '//Str(z1, 9)//' m'
    else if (z > deepest + on_node*model%dz) then
      why = 'at z = '//Str(z, 9)//' m lies below the modelled part, which depth = '//Str(job%depth)//' m ends at z = '// &
        Str(deepest, 9)//' m'
    end if
  end function Outside

end module model_window_m
