!> The kernel variants of a physics that has none in C: `fortran` alone.
module plain_variants_m
  use iso_c_binding, only: c_char, c_int
  use variants_m, only: variants_t
  implicit none
  private
  public :: plain_variants_t

  type, extends(variants_t) :: plain_variants_t
  contains
    procedure, nopass :: c_count => NoCount
    procedure, nopass :: c_name => NoText
    procedure, nopass :: c_about => NoText
    procedure, nopass :: c_needs_gpu => NoFlag
    procedure, nopass :: c_built => NoFlag
  end type plain_variants_t

contains

  integer(c_int) function NoCount() bind(c)
    NoCount = 0
  end function NoCount

  integer(c_int) function NoText(n, length, text) bind(c)
    integer(c_int), value :: n, length
    character(kind=c_char), intent(out) :: text(*)
    NoText = 1
  end function NoText

  integer(c_int) function NoFlag(n) bind(c)
    integer(c_int), value :: n
    NoFlag = 0
  end function NoFlag

end module plain_variants_m
