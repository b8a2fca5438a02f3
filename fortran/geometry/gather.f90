!> The result of a shot: traces, the positions used, and how it was computed.
module gather_m
  use kinds_m, only: dp, i8, sp
  implicit none
  private
  public :: gather_t, film_t, sealed_t, SealedCount

  real(dp), parameter, public :: numbers_most = 2.0e9_dp   !< of the traces of a shot, or all its pictures; nobody has tried more
  real(sp), parameter, public :: film_missing = 9.96920997e36_sp   !< of a point where there is nothing, as NetCDF has it

  !> Pictures of a 3D shot: a plane of a field at some times, or a map; of elements also all points of their sides, or of them.
  type :: film_t
    character(:), allocatable :: name         !< of the variable, and its meaning and unit
    character(:), allocatable :: about, unit
    integer :: axis = 3                       !< 1, 2, 3: the plane lies across x, y, z; 0: of sides of elements, -1: of elements
    integer :: n(2) = 0, nt = 0               !< nt = 0: a map, not a film
    real(dp) :: place = 0                     !< of the plane along its axis [m]; of places of points: what a counts from
    real(sp), allocatable :: a(:, :, :)       !< (n(1), n(2), max(nt, 1)): (y, z), (x, z) or (x, y); of elements (points, elements)
  end type film_t

  !> Traces as they travel and stand in the output: its bytes, and a CRC-32 of those of each component. Whoever computed the traces
  !> makes it (gather_seal.f90), so that nobody else has to go through them but to compare.
  type :: sealed_t
    real(sp), allocatable :: bytes(:)         !< (nt*nrec*ncomp), big-endian: no numbers to compute with
    real(sp), pointer, contiguous :: lent(:) => null()   !< instead of bytes: the same, in memory that is somebody else's
    integer :: memory = 0                     !< number of that memory (lent_memory.f90)
    integer(i8), allocatable :: crc(:)        !< (ncomp)
  end type sealed_t

  type :: gather_t
    integer :: record = 0                     !< shot record number
    integer :: slot = 0                       !< place in the output, 1..n
    integer :: nt = 0, nrec = 0, ncomp = 0
    real(sp), allocatable :: traces(:, :, :)  !< (nt, nrec, ncomp): p [Pa], vx, vz [m/s], in the order of the job's components
    type(sealed_t) :: sealed                  !< the same, once they are sealed: then there are no traces here
    real(dp) :: sx = 0, sz = 0                !< source position used [m]
    real(dp), allocatable :: rx(:), rz(:)     !< receiver positions used [m], (nrec)
    real(dp) :: sy = 0                        !< of a 3D shot
    real(dp), allocatable :: ry(:)            !< of a 3D shot, (nrec)
    real(dp) :: seconds = 0                   !< wall time of the time loop [s]
    integer :: steps = 0                      !< time steps done
    real(dp) :: cells = 0                     !< cells of the grid, layers included
    character(:), allocatable :: variant      !< kernel variant that computed it
    character(:), allocatable :: device       !< processor that computed it
    integer :: nxs = 0, nzs = 0, nsnap = 0    !< shape of the snapshots, 0 = none taken
    real(dp) :: xs0 = 0, zs0 = 0, dxs = 0, dzs = 0, dts = 0   !< first node and spacings of the snapshots [m, s]
    type(film_t), allocatable :: film(:)      !< of a 3D shot; they share the centres of cells and the times that follow
    integer :: nf(3) = 0                      !< along x, y, z, every so many of the window
    real(dp) :: xf(3) = 0, df(3) = 0          !< the first of them and their spacings [m]
    real(dp) :: tf = 0, dtf = 0               !< first time and interval [s]
    real(sp), allocatable :: snapshots(:, :, :)  !< pressure [Pa], (nxs, nzs, nsnap); snapshot j is at time (j-1)*dts
  end type gather_t

contains

  !> The number of sealed samples, 0 if there are none.
  pure integer(i8) function SealedCount(sealed) result(n)
    type(sealed_t), intent(in) :: sealed
    n = 0
    if (associated(sealed%lent)) then
      n = size(sealed%lent, kind=i8)
    else if (allocated(sealed%bytes)) then
      n = size(sealed%bytes, kind=i8)
    end if
  end function SealedCount

end module gather_m
