!> Checksums of a model in memory, one for each piece of a row: before a piece is used, it must be what was read. A model stays in
!> memory for days, and a bit that flips there would be wrong in every shot that sees it.
module model_checksum_m
  use checksum_c, only: checksum_floats
  use error_m, only: error_t, Fail
  use kinds_m, only: i8, sp
  use text_m, only: Str
  implicit none
  private
  public :: model_checksum_t, ModelChecksumMake, ModelChecksumRoom, ModelChecksumAdd, ModelChecksumCheck

  integer, parameter :: length = 512              !< samples under one checksum

  type :: model_checksum_t
    integer(i8), allocatable :: sum(:, :)         !< (pieces of a row, rows)
  end type model_checksum_t

contains

  !> Makes the checksums of two arrays of one shape, (nx, nz).
  subroutine ModelChecksumMake(a, b, checksum)
    real(sp), contiguous, intent(in) :: a(:, :), b(:, :)
    type(model_checksum_t), intent(out) :: checksum
    call ModelChecksumRoom(size(a, 1), size(a, 2), checksum)
    call ModelChecksumAdd(a, b, 0, checksum)
  end subroutine ModelChecksumMake

  !> Room for those of so many rows of nx samples.
  subroutine ModelChecksumRoom(nx, rows, checksum)
    integer, intent(in) :: nx, rows
    type(model_checksum_t), intent(out) :: checksum
    allocate (checksum%sum((nx + length - 1)/length, rows))
  end subroutine ModelChecksumRoom

  !> Makes those of whole rows of two arrays, with so many rows before them.
  subroutine ModelChecksumAdd(a, b, before, checksum)
    real(sp), contiguous, intent(in) :: a(:, :), b(:, :)
    integer, intent(in) :: before
    type(model_checksum_t), intent(inout) :: checksum
    integer :: j, k
    do k = 1, size(a, 2)
      do j = 1, size(checksum%sum, 1)
        checksum%sum(j, before + k) = SumOf(a, b, j, k)
      end do
    end do
  end subroutine ModelChecksumAdd

  integer(i8) function SumOf(a, b, j, k)
    real(sp), contiguous, intent(in) :: a(:, :), b(:, :)
    integer, intent(in) :: j, k
    integer :: i0, i1
    i0 = (j - 1)*length + 1
    i1 = min(j*length, size(a, 1))
    SumOf = checksum_floats(checksum_floats(0_i8, i1 - i0 + 1_i8, a(i0:i1, k)), i1 - i0 + 1_i8, b(i0:i1, k))
  end function SumOf

  !> Fails where samples i0..i1 of rows k0..k1 differ from what the checksums were made of; indices beyond the arrays are clipped.
  !> Without checksums nothing is looked at. before: rows of the model before the first of the arrays.
  subroutine ModelChecksumCheck(checksum, a, b, i0, i1, k0, k1, error, before)
    type(model_checksum_t), intent(in) :: checksum
    real(sp), contiguous, intent(in) :: a(:, :), b(:, :)
    integer, intent(in) :: i0, i1, k0, k1
    type(error_t), allocatable, intent(inout) :: error
    integer, intent(in), optional :: before
    integer :: j, k, shift
    if (allocated(error) .or. .not. allocated(checksum%sum)) return
    shift = 0
    if (present(before)) shift = before
    do k = max(1, k0), min(size(a, 2), k1)
      do j = (max(1, i0) - 1)/length + 1, (min(size(a, 1), i1) - 1)/length + 1
        if (SumOf(a, b, j, k) == checksum%sum(j, k + shift)) cycle
        call Fail(error, 'the model in memory is not what was read: row '//Str(k + shift)//', samples '//Str((j - 1)*length + 1)// &
                  '..'//Str(min(j*length, size(a, 1)))//' have another checksum: start the run again, on another machine '// &
                  'if this comes again')
        return
      end do
    end do
  end subroutine ModelChecksumCheck

end module model_checksum_m
