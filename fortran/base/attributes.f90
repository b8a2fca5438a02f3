!> Attributes of a file: names, each with a text or with numbers.
module attributes_m
  use kinds_m, only: dp
  implicit none
  private
  public :: attribute_t, attributes_t

  type :: attribute_t
    character(:), allocatable :: name
    character(:), allocatable :: text         !< allocated: a text attribute
    real(dp), allocatable :: values(:)        !< allocated: a numeric attribute
  end type attribute_t

  type :: attributes_t
    type(attribute_t), allocatable :: attribute(:)
  contains
    procedure, private :: AddText, AddNumber, AddNumbers, AddInteger
    generic :: add => AddText, AddNumber, AddNumbers, AddInteger   !< list%add(name, value)
  end type attributes_t

contains

  subroutine AddText(self, name, value)
    class(attributes_t), intent(inout) :: self
    character(*), intent(in) :: name, value
    type(attribute_t) :: a
    a%name = name
    a%text = value
    call Append(self, a)
  end subroutine AddText

  subroutine AddNumber(self, name, value)
    class(attributes_t), intent(inout) :: self
    character(*), intent(in) :: name
    real(dp), intent(in) :: value
    call self%AddNumbers(name, [value])
  end subroutine AddNumber

  subroutine AddInteger(self, name, value)
    class(attributes_t), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value
    call self%AddNumbers(name, [real(value, dp)])
  end subroutine AddInteger

  subroutine AddNumbers(self, name, value)
    class(attributes_t), intent(inout) :: self
    character(*), intent(in) :: name
    real(dp), intent(in) :: value(:)
    type(attribute_t) :: a
    a%name = name
    a%values = value
    call Append(self, a)
  end subroutine AddNumbers

  subroutine Append(self, a)
    class(attributes_t), intent(inout) :: self
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

end module attributes_m
