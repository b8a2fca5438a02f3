!> The head of a file of gathers, known before the first shot: its shape and all its attributes.
module gather_header_m
  use attributes_m, only: attributes_t
  use kinds_m, only: dp
  use nametable_m, only: name_length
  implicit none
  private
  public :: gather_header_t

  type, extends(attributes_t) :: gather_header_t
    integer, allocatable :: record(:)         !< shot record numbers, rising, (nshots)
    integer :: nrec_max = 0                   !< most receivers of a shot
    integer :: nt = 0                         !< samples of a trace
    real(dp) :: dt_out = 0                    !< sample interval [s]; the first sample is at t = 0
    logical :: y_used = .false.               !< waves travel along y too: positions used have a y
    character(16) :: navigation = ''          !< fingerprint of map coordinates, shot points and such; '' = there are none
    character(name_length), allocatable :: line(:)   !< names of lines, where there is navigation
    character(:), allocatable :: components   !< of a trace, joined by commas
    character(:), allocatable :: fingerprint  !< of the job: a file goes on only under the same one
  end type gather_header_t

end module gather_header_m
