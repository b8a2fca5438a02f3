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
    real(dp) :: inner, parts, own, around, box, slab, beside, model
    integer :: kind
    select type (scheme)
    type is (scheme3d_t)
      associate (s => scheme, e => self%earth)
        inner = product(real([window%nx, window%ny, window%nz], dp))
        parts = merge(5, 3, s%own%attenuates)
        kind = merge(2, 1, s%own%attenuates)
        if (kind == 2 .and. s%own%memory == memory_all) kind = merge(4, 3, s%variant == 'fortran')
        call LargestPiece(s, window, own, around)
        box = min(inner, around)                         ! of the window; it comes in slabs
        slab = WindowTray(parts*box, 0.0_dp)
        beside = max(slab, (loss(kind) + merge(contact, 0, e%fluidmin < huge(1.0_sp) .or. HasAir(e)))*around)
        model = product(real(e%n, dp))
        if (e%on_disk) model = 3*min(model, window_at_once)
        if (fd3d_variants%needs_gpu(s%variant)) own = 0         ! they are there
        worker = 4*(floats(kind)*own + parts*box + beside + Filtered(scheme))
        master = 4*(parts*model + slab)
        if (pictures) worker = worker + 16*Fd3dFilmNumbers(s, window)
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

  !> Cells of the largest piece of a shot, and of the box around it whose medium its rank knows.
  subroutine LargestPiece(scheme, window, own, around)
    type(scheme3d_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    real(dp), intent(out) :: own, around
    type(fd3d_grid_t) :: whole, piece, box
    type(cuts_t) :: cuts
    type(error_t), allocatable :: error
    integer :: width(6), p
    own = scheme%cells(window)
    around = own
    if (scheme%ranks == 1) return
    call CutShot(scheme, window, .false., whole, width, cuts, error)
    if (allocated(error)) return                  ! check_shot has told it
    own = 0
    around = 0
    do p = 1, scheme%ranks
      piece = Fd3dPiece(whole, width, cuts, p)
      if (scheme%own%wide == wide_yes) piece = Fd3dWiden(whole, width, piece)
      box = Fd3dAround(whole, piece)
      own = max(own, product(real(piece%n, dp)))
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
