!> A job that reads a 2D model, and the claim that the model is refused.
module model_job_m
  use check_m, only: Claim, ClaimFails
  use error_m, only: error_t
  use model_m, only: model_t, ModelForget, ModelRead
  use parameters_m, only: job_t
  implicit none
  private
  public :: ModelJob, ClaimRefused

contains

  !> Reads velocities from a file, whose kind it finds out; density is 1000 kg/m3.
  pure type(job_t) function ModelJob(vp) result(job)
    character(*), intent(in) :: vp
    job%vp = vp
    job%rho = ''
    job%vp_var = 'vp'
    job%rho_var = 'rho'
    job%model_format = 'auto'
    job%rho_rule = 'constant'
    job%regrid = 'average'
    job%rho_value = 1000
  end function ModelJob

  !> The model of the job gives one sentence that holds the words.
  subroutine ClaimRefused(job, words, what)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: words, what
    type(model_t) :: model
    type(error_t), allocatable :: error
    call ModelRead(job, model, error)
    if (allocated(error)) then
      if (index(error%message, new_line('a')) > 0) call Claim(.false., what//': more than one line')
    end if
    call ClaimFails(error, words, what)
    call ModelForget(model)
  end subroutine ClaimRefused

end module model_job_m
