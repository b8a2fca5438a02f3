!> What goes into fields at points and what is read off them: sources, receivers, the map, copies. Arguments stand in
!> sem3d_engine.f90.
submodule(sem3d_fortran_m) sem3d_fortran_points
  use receiver_sum_m, only: receiver_sum_t, ReceiverAdd, ReceiverPart
  use sem3d_engine_m, only: field_chi, field_chi_t, field_ux, field_uz, field_vx, field_vz, phase_fluid, sem3d_fields
  implicit none

contains

  !> Fails on a point that has not the field.
  subroutine Check(self, entries, what, error)
    class(sem3d_fortran_t), intent(in) :: self
    type(entries_t), intent(in) :: entries
    character(*), intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
    integer :: m, low, high
    do m = 1, size(entries%w)
      if (entries%field(m) < 0 .or. entries%field(m) >= sem3d_fields) then
        call Fail(error, 'field '//Str(entries%field(m))//' of point '//Str(m)//' of the '//what//', must be 0..'// &
                  Str(sem3d_fields - 1))
        return
      end if
      low = merge(1, self%grid%solid_points + 1, entries%field(m) < field_chi_t)
      high = merge(self%grid%solid_points, self%grid%points, entries%field(m) < field_chi_t)
      if (entries%point(m) >= low .and. entries%point(m) <= high) cycle
      call Fail(error, 'point '//Str(m)//' of the '//what//' is '//Str(entries%point(m))//', which has no field '// &
                Str(entries%field(m))//': must be '//Str(low)//'..'//Str(high))
      return
    end do
  end subroutine Check

  module procedure source
    self%sources = entries_t(field, point, w)
    self%history = h
    self%nh = nh
    self%q = reshape([real(sp) ::], [nh, 0])
    self%silent = huge(1)
    call Check(self, self%sources, 'source', error)
  end procedure source

  module procedure histories
    if (size(q, 2) == 0) then
      self%silent = first
    else
      self%q = q
      self%q_first = first
    end if
  end procedure histories

  module procedure receivers
    integer :: r
    self%sampled = entries_t(field, point, w)
    self%start = start
    self%part = [(0, r=1, size(start) - 1)]
    self%steps = 0
    deallocate (self%samples)
    allocate (self%samples(size(start) - 1, 0))
    call Check(self, self%sampled, 'receivers', error)
  end procedure receivers

  module procedure receiver_part
    self%part = part
  end procedure receiver_part

  !> The value of a field at a point.
  pure real(sp) function At(self, field, point)
    class(sem3d_fortran_t), intent(in) :: self
    integer, intent(in) :: field, point
    select case (field)
    case (field_vx:field_vz)
      At = self%v(1 + field, point)
    case (field_ux:field_uz)
      At = self%u(1 + field - field_ux, point)
    case (field_chi_t)
      At = self%chi_t(point)
    case default
      At = self%chi(point)
    end select
  end function At

  !> The sum over entries first .. last.
  pure type(receiver_sum_t) function Total(self, entries, first, last)
    class(sem3d_fortran_t), intent(in) :: self
    type(entries_t), intent(in) :: entries
    integer, intent(in) :: first, last
    integer :: m
    do m = first, last
      call ReceiverAdd(Total, real(entries%w(m), dp)*At(self, entries%field(m), entries%point(m)))
    end do
  end function Total

  module procedure EndStep
    integer :: r
    do r = 1, size(self%part)
      self%samples(r, self%steps + 1) = ReceiverPart(Total(self, self%sampled, self%start(r), self%start(r + 1) - 1), &
                                                    self%part(r))
    end do
    if (allocated(self%watched%start) .and. it <= self%watched%last) call KeepLargest(self)
    self%steps = self%steps + 1
  end procedure EndStep

  module procedure AddSources
    integer :: m, c
    if (it >= self%silent) return
    do m = 1, size(self%sources%w)
      if (phase == phase_fluid .neqv. self%sources%field(m) == field_chi_t) cycle
      c = merge(1, 1 + self%sources%field(m), self%sources%field(m) == field_chi_t)
      associate (f => self%force(c, self%sources%point(m)))
        f = f + real(self%sources%w(m), dp)*self%q(self%history(m), it - self%q_first + 1)
      end associate
    end do
  end procedure AddSources

  module procedure field
    integer :: p
    do p = 1, size(out)
      out(p) = At(self, which, p + merge(0, self%grid%solid_points, which < field_chi_t))
    end do
  end procedure field

  module procedure set_field
    if (which <= field_vz) self%v(1 + which, :) = in
    if (which >= field_ux .and. which <= field_uz) self%u(1 + which - field_ux, :) = in
    if (which == field_chi_t) self%chi_t(:) = merge(0.0_sp, in, self%held(size(self%held) - size(in) + 1:))
    if (which == field_chi) self%chi(:) = merge(0.0_sp, in, self%held(size(self%held) - size(in) + 1:))
    self%steps = 0
  end procedure set_field

  module procedure watch
    integer :: points
    points = 0
    self%watched = map
    if (allocated(map%start)) then
      call Check(self, entries_t(map%field, map%point, map%w), 'map', error)
      if (allocated(error)) return
      points = size(map%start)/3
    end if
    deallocate (self%peaks)
    allocate (self%peaks(points, 3), source=0.0_sp)
  end procedure watch

  subroutine KeepLargest(self)
    class(sem3d_fortran_t), intent(inout) :: self
    type(entries_t) :: entries
    real(sp) :: v(3)
    integer :: p, c, m
    entries = entries_t(self%watched%field, self%watched%point, self%watched%w)
    do p = 1, size(self%peaks, 1)
      do c = 1, 3
        m = 3*(p - 1) + c
        v(c) = ReceiverPart(Total(self, entries, self%watched%start(m), self%watched%start(m + 1) - 1), 0)
      end do
      self%peaks(p, :) = max(self%peaks(p, :), [norm2(v(:2)), abs(v(3)), norm2(v)])
    end do
  end subroutine KeepLargest

  module procedure map
    if (.not. allocated(self%watched%start)) then
      call Fail(error, 'map of ground velocity asked for, but no point was watched')
    else
      out = self%peaks
    end if
  end procedure map

  module procedure Forget
    integer :: none(0)
    real(sp) :: nothing(0)
    call self%source(0, none, none, none, nothing, error)
    call self%receivers([1], none, none, nothing, error)
    call self%watch(sem3d_map_t(), error)
  end procedure Forget

end submodule sem3d_fortran_points
