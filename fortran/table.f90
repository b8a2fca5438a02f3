!> The machinery under the parameter table: so far each parameter takes its default.
module table_m
  use kinds_m, only: dp
  implicit none
  private
  public :: table_t

  type :: table_t
  contains
    procedure :: section, file, text, word, flag, int, real
  end type table_t

contains

  subroutine section(self, title)
    class(table_t), intent(inout) :: self
    character(*), intent(in) :: title
  end subroutine section

  subroutine file(self, name, value, default, meaning)
    class(table_t), intent(inout) :: self
    character(:), allocatable, intent(inout) :: value
    character(*), intent(in) :: name, default, meaning
    value = default
  end subroutine file

  subroutine text(self, name, value, default, meaning)
    class(table_t), intent(inout) :: self
    character(:), allocatable, intent(inout) :: value
    character(*), intent(in) :: name, default, meaning
    value = default
  end subroutine text

  subroutine word(self, name, value, default, words, meaning)
    class(table_t), intent(inout) :: self
    character(:), allocatable, intent(inout) :: value
    character(*), intent(in) :: name, default, words, meaning
    value = default
  end subroutine word

  subroutine flag(self, name, value, default, meaning)
    class(table_t), intent(inout) :: self
    logical, intent(inout) :: value
    character(*), intent(in) :: name, meaning
    logical, intent(in) :: default
    value = default
  end subroutine flag

  subroutine int(self, name, value, default, lo, hi, unit, meaning)
    class(table_t), intent(inout) :: self
    integer, intent(inout) :: value
    character(*), intent(in) :: name, unit, meaning
    integer, intent(in) :: default, lo, hi
    value = default
  end subroutine int

  subroutine real(self, name, value, default, lo, hi, unit, meaning)
    class(table_t), intent(inout) :: self
    real(dp), intent(inout) :: value
    character(*), intent(in) :: name, unit, meaning
    real(dp), intent(in) :: default, lo, hi
    value = default
  end subroutine real

end module table_m
