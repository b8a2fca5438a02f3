!> Seals the traces of a gather: they become the bytes of the output, with their sums.
module gather_seal_m
  use error_m, only: error_t, Fail
  use gather_m, only: gather_t, sealed_t
  use kinds_m, only: i8, sp
  use sealed_c, only: sealed_floats
  use text_m, only: Str
  implicit none
  private
  public :: GatherSeal, TracesSeal

contains

  !> Seals the traces, where there are any, and frees them. Fails, and leaves them, where one is not finite. `names`: of components.
  !> `lent`, number `memory`: memory to put them in, of as many samples; where it is null they take their own.
  subroutine GatherSeal(gather, names, error, lent, memory)
    type(gather_t), intent(inout) :: gather
    character(*), intent(in) :: names(:)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), pointer, contiguous, intent(in), optional :: lent(:)
    integer, intent(in), optional :: memory
    if (allocated(error) .or. .not. allocated(gather%traces)) return
    gather%sealed = sealed_t()
    if (present(lent) .and. present(memory)) gather%sealed = sealed_t(lent=lent, memory=memory)
    call TracesSeal(gather%traces, gather%record, names, gather%sealed, error)
    if (.not. allocated(error)) deallocate (gather%traces)
  end subroutine GatherSeal

  !> Seals the traces of shot `record`, (nt, nrec, ncomp), into sealed%lent or, where that is null, sealed%bytes.
  subroutine TracesSeal(traces, record, names, sealed, error)
    real(sp), contiguous, intent(in) :: traces(:, :, :)
    integer, intent(in) :: record
    character(*), intent(in) :: names(:)
    type(sealed_t), target, intent(inout) :: sealed
    type(error_t), allocatable, intent(inout) :: error
    real(sp), pointer, contiguous :: bytes(:)
    integer(i8) :: n, bad
    integer :: c
    n = size(traces, 1, kind=i8)*size(traces, 2)
    bytes => sealed%lent
    if (.not. associated(bytes)) then
      allocate (sealed%bytes(n*size(traces, 3)))
      bytes => sealed%bytes
    end if
    allocate (sealed%crc(size(traces, 3)))
    do c = 1, size(traces, 3)
      bad = sealed_floats(n, traces(:, :, c), bytes((c - 1)*n + 1:c*n), sealed%crc(c))
      if (bad == 0) cycle
      call Fail(error, trim(names(c))//' of receiver '//Str((bad - 1)/size(traces, 1) + 1)//' of shot record '//Str(record)// &
                ' is not finite')
      return
    end do
  end subroutine TracesSeal

end module gather_seal_m
