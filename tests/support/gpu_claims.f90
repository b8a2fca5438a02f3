!> Claims of the GPU variants of every solver, in the same words: results are the same bits, steps are only queued, memory is what
!> was announced and is given back, and a grid too large is refused.
module gpu_claims_m
  use check_m, only: Claim, ClaimFails, ClaimFine, Skip
  use device_c, only: device_memory
  use error_m, only: error_t, FailFromC
  use iso_c_binding, only: c_long
  use kinds_m, only: dp
  use text_m, only: Str
  implicit none
  private
  public :: Fine, ClaimSameNumbers, ClaimQueued, FreeMemory, TotalMemory, ClaimMemory, ClaimGivenBack, AllGridsFit, ClaimRefused

  real(dp), parameter :: MB = 1e6_dp

contains

  !> True if there is no error; one is a failed claim, and is gone then.
  logical function Fine(error, what)
    type(error_t), allocatable, intent(inout) :: error
    character(*), intent(in) :: what
    Fine = .not. allocated(error)
    if (.not. Fine) call ClaimFine(error, what)
  end function Fine

  subroutine ClaimSameNumbers(what, different, numbers)
    character(*), intent(in) :: what
    integer, intent(in) :: different, numbers
    call Claim(different == 0, what//': '//Str(different)//' of '//Str(numbers)//' numbers differ, must be 0')
  end subroutine ClaimSameNumbers

  !> Seconds from the call of timestep to its return, and to the end of its work.
  subroutine ClaimQueued(variant, steps, cells, queued, finished)
    character(*), intent(in) :: variant, cells
    integer, intent(in) :: steps
    real(dp), intent(in) :: queued, finished
    call Claim(queued < 0.5_dp*finished, variant//', '//Str(steps)//' steps of '//cells//' cells: queued in '//Str(1000*queued, 3)// &
               ' ms, computed in '//Str(1000*finished, 3)//' ms, must be more than twice as long')
  end subroutine ClaimQueued

  ! --- memory -------------------------------------------------------------------------------------------------------------

  !> Bytes of GPU 0; 0 after a failure.
  integer(c_long) function FreeMemory() result(available)
    integer(c_long) :: total
    if (device_memory(0, available, total) /= 0) available = 0
  end function FreeMemory

  integer(c_long) function TotalMemory(error) result(total)
    type(error_t), allocatable, intent(inout) :: error
    integer(c_long) :: available
    if (device_memory(0, available, total) /= 0) call FailFromC(1, error)
  end function TotalMemory

  !> Bytes that a handle took from the GPU and those that it counts itself, against the bytes of the GPU and of the host announced for it.
  subroutine ClaimMemory(variant, cells, taken, counted, device, host)
    character(*), intent(in) :: variant, cells
    integer(c_long), intent(in) :: taken, device, host
    real(dp), intent(in) :: counted
    call Claim(abs(taken - device) <= 0.05_dp*device + 16*MB, variant//', '//cells//' cells: announced '//Str(device/MB, 4)// &
               ' MB, taken from the GPU '//Str(taken/MB, 4)//' MB, must agree within 5 % and 16 MB')
    call Claim(counted >= 0.95_dp*device .and. counted <= 1.05_dp*(device + host) + 16*MB, variant//', the handle counts '// &
               Str(counted/MB, 4)//' MB with its host memory, announced '//Str((device + host)/MB, 4)//' MB')
  end subroutine ClaimMemory

  !> As much is free as before, within 4 MB.
  subroutine ClaimGivenBack(what, before)
    character(*), intent(in) :: what
    integer(c_long), intent(in) :: before
    call Claim(abs(before - FreeMemory()) <= 4*MB, what//' '//Str((before - FreeMemory())/MB, 3)// &
               ' MB of the GPU are not given back, must be within 4')
  end subroutine ClaimGivenBack

  !> True if even the largest grid that can be asked for fits: then nothing can be claimed of one that does not.
  logical function AllGridsFit(variant, need, total)
    character(*), intent(in) :: variant
    integer(c_long), intent(in) :: need, total
    AllGridsFit = need <= total
    if (AllGridsFit) call Skip(variant//': no grid is too large for a device with '//Str(1e-9_dp*total, 4)//' GB')
  end function AllGridsFit

  !> No handle was made for the grid, and the sentence of the library says why.
  subroutine ClaimRefused(variant, grid, refused, need, total)
    character(*), intent(in) :: variant, grid
    logical, intent(in) :: refused
    integer(c_long), intent(in) :: need, total
    type(error_t), allocatable :: error
    call Claim(refused, variant//', a grid of '//grid//' ('//Str(1e-9_dp*need, 4)//' GB) is refused by a GPU of '// &
               Str(1e-9_dp*total, 4)//' GB')
    if (refused) call FailFromC(1, error)
    call ClaimFails(error, 'no GPU memory for ', variant//', too large')
  end subroutine ClaimRefused

end module gpu_claims_m
