!> What is known of a file of gathers before the first shot: its shape and everything it says about itself.
module gather_header_m
  use kinds_m, only: dp
  implicit none
  private
  public :: gather_header_t, attribute_t

  !> A name with a text or with numbers.
  type :: attribute_t
    character(:), allocatable :: name
    character(:), allocatable :: text         !< allocated: a text attribute
    real(dp), allocatable :: values(:)        !< allocated: a numeric attribute
  end type attribute_t

  type :: gather_header_t
    integer, allocatable :: record(:)         !< shot record numbers, rising, (nshots)
    integer :: nrec_max = 0                   !< most receivers of a shot
    integer :: nt = 0                         !< samples of a trace
    real(dp) :: dt_out = 0                    !< sample interval [s]; the first sample is at t = 0
    logical :: three_d = .false.
    character(:), allocatable :: components   !< joined by commas: any of p, vx, vz, in 3D of those in fd3d_components.f90
    character(:), allocatable :: fingerprint  !< of the job: a file goes on only under the same one
    type(attribute_t), allocatable :: attribute(:)
  contains
    procedure, private :: AddText, AddNumber, AddNumbers, AddInteger
    generic :: add => AddText, AddNumber, AddNumbers, AddInteger   !< survey%add(name, value): a global attribute
  end type gather_header_t

contains

  subroutine AddText(self, name, value)
    class(gather_header_t), intent(inout) :: self
    character(*), intent(in) :: name, value
    type(attribute_t) :: a
    a%name = name
    a%text = value
    call Append(self, a)
  end subroutine AddText

  subroutine AddNumber(self, name, value)
    class(gather_header_t), intent(inout) :: self
    character(*), intent(in) :: name
    real(dp), intent(in) :: value
    call self%AddNumbers(name, [value])
  end subroutine AddNumber

  subroutine AddInteger(self, name, value)
    class(gather_header_t), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value
    call self%AddNumbers(name, [real(value, dp)])
  end subroutine AddInteger

  subroutine AddNumbers(self, name, value)
    class(gather_header_t), intent(inout) :: self
    character(*), intent(in) :: name
    real(dp), intent(in) :: value(:)
    type(attribute_t) :: a
    a%name = name
    a%values = value
    call Append(self, a)
  end subroutine AddNumbers

  subroutine Append(self, a)
    class(gather_header_t), intent(inout) :: self
    type(attribute_t), intent(in) :: a
    type(attribute_t), allocatable :: more(:)
    integer :: n
    n = 0
    if (allocated(self%attribute)) n = size(self%attribute)
    allocate (more(n + 1))
    if (n > 0) more(:n) = self%attribute
    more(n + 1) = a
    call move_alloc(more, self%attribute)
  end subroutine Append

end module gather_header_m
