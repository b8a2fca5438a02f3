!> A summary of a 3D earth once it is read: slowest and fastest waves, checksums, where ground and sea bed are. It is gathered
!> slab by slab of volumes that stay on disk. Arguments stand in model3d.f90.
submodule(model3d_m) model3d_summary
  use contact_cells_m, only: contact_reach
  use fio_c, only: fio_crc_floats
  use hash_m, only: hash_t, HashAdd, HashText
  use model_checksum_m, only: ModelChecksumAdd, ModelChecksumRoom
  use sea_floor_m, only: floor_reach
  implicit none

  real(dp), parameter :: thin_most = 4.0e6_dp     !< samples of a model on disk that are kept

contains

  module procedure SummariseVolumes
    type(model3d_t) :: told
    integer(i8) :: crc(5)
    crc = 0
    call BeginSummary(job, earth, told)
    call Summarise(earth, told, crc)
    call EndSummary(told, crc)
    earth%earth_t = told%earth_t
    earth%below = told%below
    earth%deeper = told%deeper
    earth%vsmin = told%vsmin
    earth%vsmax = told%vsmax
    earth%vpmin = told%vpmin
    earth%fluidmin = told%fluidmin
    earth%stiffest = told%stiffest
    earth%qmin = told%qmin
    earth%gaining = told%gaining
    earth%checksum = told%checksum
    call move_alloc(told%ground, earth%ground)
    call move_alloc(told%ground_vs, earth%ground_vs)
    call move_alloc(told%seabed, earth%seabed)
  end procedure SummariseVolumes

  module procedure BeginSummary
    integer :: m(3), c, k
    told%earth_t = first%earth_t
    told%n = first%n
    told%d = first%d
    told%x0 = first%x0
    told%attenuates = first%attenuates
    told%below = count([(Model3dDown(told, k - 1) > Reach(job, told%d(3)), k=1, told%n(3))])
    call StartSummary(told)
    allocate (told%ground(told%n(1), told%n(2)), source=0)
    allocate (told%ground_vs(told%n(1), told%n(2)), source=0.0_sp)
    allocate (told%seabed(told%n(1), told%n(2)), source=0)
    do c = 1, merge(3, 2, told%attenuates)
      call ModelChecksumRoom(told%n(1), told%n(2)*told%n(3), told%checksum(c))
    end do
    if (.not. told%on_disk) return
    told%thin_step = 1
    do while (product(real((told%n - 1)/told%thin_step + 1, dp)) > thin_most)
      told%thin_step = told%thin_step + 1
    end do
    m = (told%n - 1)/told%thin_step + 1
    allocate (told%thin(m(1), m(2), m(3), 2), source=0.0_sp)
  end procedure BeginSummary

  module procedure Summarise
    type(model3d_t) :: deep                   !< ranges of what is told and of all that lies below the grid
    integer :: i, j, k, row, last
    row = 0
    last = told%n(3) - told%below
    do k = slab%part%low(3), slab%part%high(3)
      if (k == max(last + 1, slab%part%low(3))) call CopyRanges(told, deep)
      do j = 1, told%n(2)
        row = row + 1
        do i = 1, told%n(1)
          if (.not. slab%vp(i, row) > 0) cycle
          if (k <= last) call WidenBy(told)
          if (k > last) call WidenBy(deep)
          if (told%ground(i, j) == 0) then
            told%ground(i, j) = k
            told%ground_vs(i, j) = slab%vs(i, row)
          else if (told%seabed(i, j) == 0 .and. slab%vs(i, row) > 0 .and. .not. told%ground_vs(i, j) > 0) then
            if (k <= last) told%seabed(i, j) = k
            told%deeper = told%deeper .or. k > last
          end if
        end do
        if (told%on_disk) call Thin(j, k, row)
      end do
    end do
    if (slab%part%high(3) > last) told%deeper = told%deeper .or. any(abs(RangesOf(deep) - RangesOf(told)) > 0)
    associate (before => (slab%part%low(3) - 1)*told%n(2))
      call AddSum(slab%vp, crc(1))
      call AddSum(slab%vs, crc(2))
      call AddSum(slab%rho, crc(3))
      call ModelChecksumAdd(slab%vp, slab%vs, before, told%checksum(1))
      call ModelChecksumAdd(slab%rho, slab%rho, before, told%checksum(2))
      if (.not. told%attenuates) return
      call AddSum(slab%qp, crc(4))
      call AddSum(slab%qs, crc(5))
      call ModelChecksumAdd(slab%qp, slab%qs, before, told%checksum(3))
    end associate

  contains

    subroutine WidenBy(ranges)
      type(model3d_t), intent(inout) :: ranges
      call Widen(ranges, real(slab%vp(i, row), dp), real(slab%vs(i, row), dp), real(slab%rho(i, row), dp))
      if (told%attenuates) call WidenQ(ranges, real([slab%vp(i, row), slab%vs(i, row), slab%qp(i, row), slab%qs(i, row)], dp))
    end subroutine WidenBy

    subroutine Thin(j, k, row)
      integer, intent(in) :: j, k, row
      associate (s => told%thin_step)
        if (modulo(j - 1, s) > 0 .or. modulo(k - 1, s) > 0) return
        told%thin(:, (j - 1)/s + 1, (k - 1)/s + 1, 1) = slab%vp(::s, row)
        told%thin(:, (j - 1)/s + 1, (k - 1)/s + 1, 2) = slab%vs(::s, row)
      end associate
    end subroutine Thin
  end procedure Summarise

  !> Goes on with the checksum of a volume.
  subroutine AddSum(values, crc)
    real(sp), contiguous, intent(in) :: values(:, :)
    integer(i8), intent(inout) :: crc
    crc = fio_crc_floats(crc, size(values, kind=i8), values)
  end subroutine AddSum

  module procedure EndSummary
    type(hash_t) :: hash
    integer :: a
    do a = 1, 3
      call HashAdd(hash, told%n(a))
      call HashAdd(hash, told%d(a))
      call HashAdd(hash, told%low(a))
    end do
    do a = 1, merge(5, 3, told%attenuates)
      call HashAdd(hash, int(ibits(crc(a), 0, 31)))
      call HashAdd(hash, int(ibits(crc(a), 31, 1)))
    end do
    told%hash = HashText(hash)
  end procedure EndSummary

  module procedure SummariseLayers
    type(hash_t) :: hash
    integer :: l, p
    earth%below = count(earth%layers%top - earth%layers%top(1) > Reach(job, job%dx))
    earth%deeper = earth%below > 0
    call StartSummary(earth)
    do l = 1, earth%layers%n
      associate (m => earth%layers%medium(:, l))
        if (l <= earth%layers%n - earth%below) then
          call Widen(earth, m(1), m(2), m(3))
          if (earth%attenuates) call WidenQ(earth, m([1, 2, 4, 5]))
        end if
        call HashAdd(hash, earth%layers%top(l))
        do p = 1, merge(5, 3, earth%attenuates)
          call HashAdd(hash, m(p))
        end do
      end associate
    end do
    earth%hash = HashText(hash)
  end procedure SummariseLayers

  !> The depth below the top at which the last cell ends that one of the grid is made from [m]. d: spacing along z where the job
  !> has none of its own.
  pure real(dp) function Reach(job, d)
    type(job_t), intent(in) :: job
    real(dp), intent(in) :: d
    real(dp) :: dz
    dz = merge(job%dz, d, job%dz > 0)
    Reach = huge(Reach)
    if (dz > 0 .and. job%depth > 0) Reach = job%depth + (1 + max(contact_reach, floor_reach))*dz
  end function Reach

  !> Ranges of media, as a model is told of.
  pure function RangesOf(earth) result(ranges)
    type(model3d_t), intent(in) :: earth
    real(dp) :: ranges(9)
    ranges = [earth%vmin, earth%vmax, earth%vsmin, earth%vsmax, earth%vpmin, earth%fluidmin, earth%rhomin, earth%rhomax, earth%qmin]
  end function RangesOf

  pure subroutine CopyRanges(from, to)
    type(model3d_t), intent(in) :: from
    type(model3d_t), intent(inout) :: to
    to%vmin = from%vmin
    to%vmax = from%vmax
    to%vsmin = from%vsmin
    to%vsmax = from%vsmax
    to%vpmin = from%vpmin
    to%fluidmin = from%fluidmin
    to%rhomin = from%rhomin
    to%rhomax = from%rhomax
    to%qmin = from%qmin
  end subroutine CopyRanges

  !> Nothing was told yet.
  pure subroutine StartSummary(earth)
    type(model3d_t), intent(inout) :: earth
    earth%vmin = huge(1.0_dp)
    earth%vmax = 0
    earth%vsmin = 0
    earth%vsmax = 0
    earth%vpmin = real(huge(1.0_sp), dp)
    earth%fluidmin = real(huge(1.0_sp), dp)
    earth%stiffest = 0
    earth%rhomin = huge(1.0_dp)
    earth%rhomax = 0
    earth%qmin = 0
    earth%gaining = 0
  end subroutine StartSummary

  !> Widens what is told by a medium that is not air.
  pure subroutine Widen(earth, vp, vs, rho)
    type(model3d_t), intent(inout) :: earth
    real(dp), intent(in) :: vp, vs, rho
    earth%vmax = max(earth%vmax, vp)
    earth%vmin = min(earth%vmin, merge(vs, vp, vs > 0))
    earth%vpmin = min(earth%vpmin, vp)
    if (.not. vs > 0) earth%fluidmin = min(earth%fluidmin, vp)
    if (vs > 0) earth%vsmin = merge(min(earth%vsmin, vs), vs, earth%vsmin > 0)
    earth%vsmax = max(earth%vsmax, vs)
    earth%stiffest = max(earth%stiffest, vs/vp)
    earth%rhomin = min(earth%rhomin, rho)
    earth%rhomax = max(earth%rhomax, rho)
  end subroutine Widen

  !> The same by its vp, vs, 1/Qp and 1/Qs.
  pure subroutine WidenQ(earth, m)
    type(model3d_t), intent(inout) :: earth
    real(dp), intent(in) :: m(4)
    real(dp) :: inverse
    inverse = maxval(m(3:))
    if (inverse > 0) earth%qmin = merge(min(earth%qmin, 1/inverse), 1/inverse, earth%qmin > 0)
    if (Gain(m) > Gain(earth%gaining)) earth%gaining = m
  end subroutine WidenQ

  !> Evenly compressed rock gains 4/3 (vs/vp)**2/Qs - 1/Qp, as shear in P waves is told to lose more than these do. 0 where it
  !> loses, or gains by the rounding of a table.
  pure real(dp) function Gain(m)
    real(dp), intent(in) :: m(4)
    real(dp), parameter :: rounding = 0.02_dp
    real(dp) :: sheared
    Gain = 0
    if (.not. m(1) > 0) return
    sheared = 4*(m(2)/m(1))**2*m(4)/3
    if (m(3) < (1 - rounding)*sheared) Gain = sheared - m(3)
  end function Gain

end submodule model3d_summary
