!> Parameters that were given and have no effect, as their user may not know: a deck may hold those of several wavelets, and of
!> attenuation beside a model without it. Where a choice was left open they are refused (job.f90).
module idle_parameters_m
  use parameter_table_m, only: SplitList
  use parameters_m, only: job_t
  implicit none
  private
  public :: IdleParameters

  character(*), parameter :: nl = new_line('a')

contains

  !> A line for each of them, '' if there is none. `attenuates`: something of the model does.
  function IdleParameters(job, attenuates) result(lines)
    type(job_t), intent(in) :: job
    logical, intent(in) :: attenuates
    character(:), allocatable :: lines
    lines = ''
    if (.not. allocated(job%changed)) return
    if (job%source == 'fault') then
      call Tell('wavelet,fpeak,f1,f2,f3,f4,sigma,wavelet_file,wavelet_dt,delay,amplitude', &
                'histories of a fault take the place of the wavelet')
    else
      if (job%wavelet /= 'ricker') call Tell('fpeak', OfOther('ricker'))
      if (index(job%wavelet, 'ormsby') /= 1) call Tell('f1,f2,f3,f4', OfOther('ormsby'))
      if (job%wavelet /= 'gauss') call Tell('sigma', OfOther('gauss'))
      if (job%wavelet /= 'file') call Tell('wavelet_file,wavelet_dt', OfOther('file'))
    end if
    if (job%attenuation .and. .not. attenuates) &       ! attenuation=n says so itself
      call Tell('q_f1,q_f2,q_ref,qp_qs,memory_variables', 'nothing attenuates, because the model tells no Q')

  contains

    !> Of those of `names` that were changed.
    subroutine Tell(names, why)
      character(*), intent(in) :: names, why
      character(32), allocatable :: list(:)
      integer :: i, at
      allocate (list, source=SplitList(names))
      do i = 1, size(list)
        at = index(job%changed, nl//trim(list(i))//' = ')
        if (at == 0) cycle
        if (lines /= '') lines = lines//nl
        lines = lines//job%changed(at + 1:at + index(job%changed(at + 1:), nl) - 1)//' has no effect: '//why
      end do
    end subroutine Tell

    function OfOther(wavelet) result(why)
      character(*), intent(in) :: wavelet
      character(:), allocatable :: why
      why = 'it is of wavelet='//wavelet//', and wavelet='//job%wavelet//' is modelled'
    end function OfOther

  end function IdleParameters

end module idle_parameters_m
