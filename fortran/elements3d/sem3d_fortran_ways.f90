!> Ways between pieces of a mesh: what travels, to whom. Arguments stand in sem3d_engine.f90.
submodule(sem3d_fortran_m) sem3d_fortran_ways
  use elements_m, only: in_element
  use sem3d_engine_m, only: phase_fluid, phase_solid
  implicit none

  integer, parameter :: per_slot = 6                            !< floats with the bits of three doubles

contains

  module procedure ways
    self%given = given
  end procedure ways

  module procedure ListWays
    logical :: wanted(self%mesh%points)
    integer :: w, b
    if (allocated(self%gives)) deallocate (self%gives, self%takes)
    allocate (self%gives(0:1, self%given%n), self%takes(0:1, self%given%n))
    self%elsewhere = self%mesh%at(1, :) < 0              ! no element
    if (self%given%n == 0) return
    do b = 1, size(self%given%way)
      self%elsewhere(self%mesh%brick(b):self%mesh%brick(b + 1) - 1) = self%given%way(b) > 0
    end do
    associate (given => self%given, mesh => self%mesh)
      do w = 1, given%n
        wanted = .false.
        wanted(given%point(given%start(w):given%start(w + 1) - 1)) = .true.
        do b = 1, size(given%way)
          if (given%way(b) == 0) call Add(mesh, self%gives(:, w), b, wanted)
          if (given%way(b) == w) call Add(mesh, self%takes(:, w), b)
        end do
      end do
    end associate

  contains

    !> The points of a brick, all that are here or those wanted.
    subroutine Add(mesh, slots, b, wanted)
      type(elements_t), intent(in) :: mesh
      type(slots_t), intent(inout) :: slots(0:)
      integer, intent(in) :: b
      logical, intent(in), optional :: wanted(:)
      logical :: here(in_element)
      integer :: e, p
      do e = mesh%brick(b), mesh%brick(b + 1) - 1
        here = mesh%at(:, e) > 0
        if (present(wanted)) here = wanted(mesh%at(:, e))
        associate (s => slots(merge(phase_solid, phase_fluid, e <= mesh%solid)))
          if (.not. allocated(s%p)) allocate (s%element(0), s%p(0))
          s%element = [s%element, spread(e, 1, count(here))]
          s%p = [s%p, pack([(p, p=1, in_element)], here)]
        end associate
      end do
    end subroutine Add
  end procedure ListWays

  pure integer function Numbers(slots)
    type(slots_t), intent(in) :: slots
    Numbers = 0
    if (allocated(slots%p)) Numbers = per_slot*size(slots%p)
  end function Numbers

  module procedure way_size
    out = Numbers(self%gives(phase, way))
    in = Numbers(self%takes(phase, way))
  end procedure way_size

  module procedure give_slots
    integer :: m
    associate (s => self%gives(phase, way))
      do m = 1, Numbers(s)/per_slot
        out(per_slot*(m - 1) + 1:per_slot*m) = transfer(self%own(:, s%p(m), s%element(m)), out, per_slot)
      end do
    end associate
  end procedure give_slots

  module procedure take_slots
    integer :: m
    associate (s => self%takes(phase, way))
      do m = 1, Numbers(s)/per_slot
        self%own(:, s%p(m), s%element(m)) = transfer(in(per_slot*(m - 1) + 1:per_slot*m), self%own, 3)
      end do
    end associate
  end procedure take_slots

  module procedure between
  end procedure between

end submodule sem3d_fortran_ways
