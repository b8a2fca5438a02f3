!> The needs of a shot: memory, pieces of the grid where ranks share it, room for pictures. Arguments stand in elastic3d.f90.
submodule(elastic3d_m) elastic3d_needs
  use anelastic_m, only: memory_all
  use fd3d_check_m, only: Fd3dCheckFilms, Fd3dFilmNumbers
  use fd3d_components_m, only: Fd3dCells
  use fd3d_engine_m, only: fd3d_grid_t
  use fd3d_grid_m, only: Fd3dGrid
  use fd3d_pieces_m, only: Fd3dAround, Fd3dCuts, Fd3dGain, Fd3dPiece, Fd3dWiden
  use fd3d_variants_m, only: fd3d_variants
  use scheme3d_m, only: wide_yes
  use subdomain_m, only: cuts_t, CutsWords
  use window_m, only: window_at_once, WindowTray
  implicit none

contains

  module procedure memory
    ! Floats a cell: fields, averaged media, memory variables of layers or of attenuation; 1/Q on its way to the engine.
    integer, parameter :: floats(4) = [18, 30, 60, 90], loss(4) = [0, 2, 2, 2]         ! elastic; coarse; all, and so in Fortran
    integer, parameter :: contact = 2                           ! of the medium, where rock, fluid and air meet
    ! Of a point of a fault: six parts of a tensor over 8 x 8 x 8 cells, six numbers each, in the list and in the engine.
    integer, parameter :: bytes_point = 2*6*512*24
    real(dp), parameter :: layered = 3.0e7_dp                   ! bytes, of fields in flat layers (fd3d_flat_near.f90)
    real(dp) :: inner, parts, own, around, box, slab, beside, model
    integer :: kind, n(3)
    select type (scheme)
    type is (scheme3d_t)
      associate (s => scheme, e => self%earth)
        inner = product(real([window%nx, window%ny, window%nz], dp))
        parts = merge(5, 3, s%own%attenuates)
        kind = merge(2, 1, s%own%attenuates)
        if (kind == 2 .and. s%own%memory == memory_all) kind = merge(4, 3, s%variant == 'fortran')
        call LargestPiece(s, window, own, around, n)
        box = min(inner, around)                         ! of the window; it comes in slabs
        slab = WindowTray(parts*box, 0.0_dp)
        beside = max(slab, (loss(kind) + merge(contact, 0, e%fluidmin < huge(1.0_sp) .or. HasAir(e)))*around)
        model = product(real(e%n, dp))
        if (e%on_disk) model = 3*min(model, window_at_once)
        if (fd3d_variants%needs_gpu(s%variant)) own = 0         ! they are there
        worker = 4*(floats(kind)*own + parts*box + beside + Filtered(scheme)) + merge(layered, 0.0_dp, s%own%layered)
        master = 4*(parts*model + slab)
        if (pictures) worker = worker + 16*Fd3dFilmNumbers(s, window) + OfTheTop(e, s, window, n)
        if (pictures) master = master + 12*Fd3dFilmNumbers(s, window)
        if (s%own%source%fault%n == 0) return
        worker = worker + real(bytes_point, dp)*s%own%source%fault%n + 8*real(size(s%own%source%fault%rate), dp)
        master = master + 8*real(size(s%own%source%fault%rate), dp)
      end associate
    end select
  end procedure memory

  !> Some column of the model begins with air.
  pure logical function HasAir(earth)
    type(model3d_t), intent(in) :: earth
    HasAir = .false.
    if (allocated(earth%ground)) HasAir = any(earth%ground > 1)
  end function HasAir

  !> Pictures of the top take these bytes beside their numbers. On cores maps of ground velocity keep planes of the steps of a pass
  !> (fd3d_cpu_wave.c), all that the ground's rows lie in. Points have weights, which they share where the ground is level
  !> (fd3d_map.f90). n: cells of a piece.
  pure real(dp) function OfTheTop(earth, scheme, window, n) result(bytes)
    type(model3d_t), intent(in) :: earth
    type(scheme3d_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    integer, intent(in) :: n(3)
    integer, parameter :: planes = 3*6, level = 8         ! of the velocities in a pass, for each row; rows on level ground
    integer, parameter :: weights = 450                   ! of a point, about
    integer, parameter :: made = 14, kept = 10, twice = 8 ! their bytes: as they are made, in the engine, for films or partners too
    real(dp) :: rows, points
    logical :: films
    bytes = 0
    films = scheme%snapshot > 0 .and. any(SplitList(scheme%own%planes) == 'top') .and. any(SplitList(scheme%own%fields) /= 'p')
    if (.not. (scheme%own%pgv .or. films)) return
    rows = level
    points = 1
    if (HasAir(earth) .and. (films .or. scheme%own%pgv_depth <= earth%x0(3))) then
      rows = rows + (maxval(earth%ground) - minval(earth%ground, earth%ground > 0))*earth%d(3)/scheme%dz
      points = Uneven(earth, 1, scheme%dx, min(window%nx, n(1)))*Uneven(earth, 2, scheme%dy, min(window%ny, n(2)))
      points = max(1.0_dp, points/scheme%snapshot_step**2)
    end if
    if (scheme%own%pgv .and. scheme%variant == 'cpu') bytes = 4*planes*min(rows, real(n(3), dp))*n(1)*n(2)
    bytes = bytes + points*weights*(made + merge(kept + twice*count([films, scheme%ranks > 1]), 0, scheme%own%pgv))
  end function OfTheTop

  !> Of `cells` along an axis those near a change of the ground, and one for all others.
  pure real(dp) function Uneven(earth, axis, spacing, cells)
    type(model3d_t), intent(in) :: earth
    integer, intent(in) :: axis, cells
    real(dp), intent(in) :: spacing
    integer, parameter :: near = 8                        ! cells; fd3d_map.f90
    logical :: marked(earth%n(axis)), changes
    integer :: i, reach
    reach = ceiling(near*spacing/earth%d(axis))
    marked = .false.
    do i = 2, earth%n(axis)
      if (axis == 1) changes = any(earth%ground(i, :) /= earth%ground(i - 1, :))
      if (axis == 2) changes = any(earth%ground(:, i) /= earth%ground(:, i - 1))
      if (changes) marked(max(1, i - reach):min(size(marked), i + reach - 1)) = .true.
    end do
    Uneven = min(1 + count(marked)*earth%d(axis)/spacing, real(cells, dp))
  end function Uneven

  !> Cells of the largest piece of a shot, and of the box around it whose medium its rank knows; n: its cells along each axis.
  subroutine LargestPiece(scheme, window, own, around, n)
    type(scheme3d_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    real(dp), intent(out) :: own, around
    integer, intent(out) :: n(3)
    type(fd3d_grid_t) :: whole, piece, box
    type(cuts_t) :: cuts
    type(error_t), allocatable :: error
    integer :: width(6), pad(3), p
    own = scheme%cells(window)
    around = own
    call Fd3dGrid(scheme, scheme%own, window, whole, width, pad)
    n = whole%n
    if (scheme%ranks == 1) return
    call CutShot(scheme, window, .false., whole, width, cuts, error)
    if (allocated(error)) return                  ! check_shot has told it
    own = 0
    around = 0
    n = 0
    do p = 1, scheme%ranks
      piece = Fd3dPiece(whole, width, cuts, p)
      if (scheme%own%wide == wide_yes) piece = Fd3dWiden(whole, width, piece)
      box = Fd3dAround(whole, piece)
      own = max(own, product(real(piece%n, dp)))
      n = max(n, piece%n)
      around = max(around, product(real(box%n, dp)))
    end do
  end subroutine LargestPiece

  !> The grid of a shot with layers of `width` cells, and how it is cut into pieces.
  subroutine CutShot(scheme, window, gpu, whole, width, cuts, error)
    type(scheme3d_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    logical, intent(in) :: gpu
    type(fd3d_grid_t), intent(out) :: whole
    integer, intent(out) :: width(6)
    type(cuts_t), intent(out) :: cuts
    type(error_t), allocatable, intent(inout) :: error
    integer :: pad(3)
    call Fd3dGrid(scheme, scheme%own, window, whole, width, pad)
    call Fd3dCuts(whole, width, scheme%ranks, scheme%own%decomposition, gpu, cuts, error)
  end subroutine CutShot

  module procedure sharing
    type(fd3d_grid_t) :: whole
    type(cuts_t) :: cuts
    type(error_t), allocatable :: error
    integer :: width(6)
    words = ''
    gain = 1
    exchange = 0
    select type (scheme)
    type is (scheme3d_t)
      call CutShot(scheme, window, gpu, whole, width, cuts, error)
      if (allocated(error)) return                ! check_shot has told it
      call Fd3dGain(whole, width, cuts, gpu, gain, exchange)
      words = CutsWords(cuts)
      if (whole%wide) words = words//', halos are wide'
    end select
  end procedure sharing

  !> Samples of the histories of a fault at time steps (fault_histories.f90), at most twice at a time.
  pure real(dp) function Filtered(scheme) result(n)
    type(scheme3d_t), intent(in) :: scheme
    integer :: i
    n = 0
    associate (s => scheme, f => scheme%own%source%fault)
      if (.not. s%time_correction) return
      do i = 1, f%n
        n = n + 2*((f%start(i + 1) - f%start(i))*f%dt(i) + 22/s%fband)/s%dt
      end do
    end associate
  end function Filtered

  module procedure receiver
    cells = Fd3dCells(component, scheme%half_length)
    select type (scheme)
    type is (scheme3d_t)
      cells = nint(cells*scheme%own%reads)
    end select
    sorting = 80                                  ! 24 in the list, which may be half as long again, and what sorts it
  end procedure receiver

  module procedure wants_pictures
    wanted = job%snapshot > 0 .or. job%pgv
  end procedure wants_pictures

  module procedure picture_numbers
    select type (scheme)
    type is (scheme3d_t)
      numbers = Fd3dFilmNumbers(scheme, window)
    end select
  end procedure picture_numbers

  module procedure check_pictures
    select type (scheme)
    type is (scheme3d_t)
      call Fd3dCheckFilms(scheme, shot, window, error)
    end select
  end procedure check_pictures

end submodule elastic3d_needs
