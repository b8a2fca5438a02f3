!> A model, a job and a shot in the midst of it, of which tests make windows.
module window_case_m
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use model_m, only: model_t
  use parameters_m, only: job_t
  use shot_m, only: shot_t
  implicit none
  private
  public :: Fresh

  integer, parameter, public :: nx = 101, nz = 41
  type(error_t), allocatable, public :: error
  type(model_t), public :: model
  type(job_t), public :: job
  type(shot_t), public :: shot

contains

  !> All of them as at first.
  subroutine Fresh()
    integer :: i, k
    model%nx = nx
    model%nz = nz
    model%dx = 20
    model%dz = 10
    model%x0 = -500
    model%z0 = 0
    model%vp = reshape([((1500.0_sp + 13*modulo(i*7 + k*k, 101) + k, i=1, nx), k=1, nz)], [nx, nz])
    model%rho = reshape([((1000.0_sp + 3*modulo(i*i + k*5, 97), i=1, nx), k=1, nz)], [nx, nz])
    job = job_t()
    job%regrid = 'average'
    job%top = 'pml'
    job%aperture = -1
    shot = shot_t()
    shot%record = 12
    shot%sx = 203.3_dp
    shot%sz = 7
    shot%rx = [210.0_dp, 310.7_dp, 411.4_dp]
    shot%ry = [0.0_dp, 0.0_dp, 0.0_dp]
    shot%rz = [8.0_dp, 8.0_dp, 8.0_dp]
    shot%channel = [1, 2, 3]
  end subroutine Fresh

end module window_case_m
