!> A survey ready to be modelled: job, key-map, model, wavelet and scheme, every one checked.
module prospect_m
  use error_m, only: error_t, Fail
  use keymap_m, only: keymap_t, KeymapRead, KeymapShot
  use kinds_m, only: dp, i8
  use model_m, only: model_t, ModelCheckGeometry, ModelGrid, ModelRead
  use params_m, only: job_t
  use scheme_m, only: scheme_t, SchemeDerive
  use shot_m, only: shot_t
  use text_m, only: Str
  use wavelet_m, only: wavelet_t, WaveletMake
  implicit none
  private
  public :: prospect_t, ProspectRead, ProspectFingerprint, ProspectSnapshots, ProspectStopFile

  integer, parameter :: FAULTS_SHOWN = 20

  type :: prospect_t
    type(job_t) :: job
    type(keymap_t) :: keymap
    type(model_t) :: model
    type(wavelet_t) :: wavelet
    type(scheme_t) :: scheme
  end type prospect_t

contains

  !> Reads and checks all that the job names. Nothing is written. An error holds one line a fault.
  subroutine ProspectRead(job, prospect, error)
    type(job_t), intent(in) :: job
    type(prospect_t), intent(out) :: prospect
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: dx, dz
    prospect%job = job
    call KeymapRead(prospect%keymap, job%keymap, error)
    if (allocated(error)) return
    call ModelRead(job, prospect%model, error)
    if (allocated(error)) return
    call WaveletMake(job, prospect%wavelet, error)
    if (allocated(error)) return
    call ModelGrid(job, prospect%model, dx, dz)
    call SchemeDerive(job, prospect%wavelet, real(prospect%model%vmin, dp), real(prospect%model%vmax, dp), dx, dz, prospect%scheme, error)
    if (allocated(error)) return
    call CheckGeometry(prospect, error)
    if (allocated(error)) return
    call CheckSize(prospect, error)
  end subroutine ProspectRead

  !> Every geometry fault of the survey, the first twenty in words.
  subroutine CheckGeometry(prospect, error)
    type(prospect_t), intent(in) :: prospect
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: fault
    type(shot_t) :: shot
    character(:), allocatable :: list
    integer :: i, n
    n = 0
    list = ''
    do i = 1, prospect%keymap%n
      call KeymapShot(prospect%keymap, i, shot)
      call ModelCheckGeometry(prospect%model, prospect%job, shot, fault)
      if (.not. allocated(fault)) cycle
      n = n + 1
      if (n > 1 .and. n <= FAULTS_SHOWN) list = list//new_line('a')
      if (n <= FAULTS_SHOWN) list = list//fault%message
      deallocate (fault)
    end do
    if (n > FAULTS_SHOWN) list = list//new_line('a')//'and '//Str(n - FAULTS_SHOWN)//' more shots with faulty geometry'
    if (n > 0) call Fail(error, list)
  end subroutine CheckGeometry

  subroutine CheckSize(prospect, error)
    type(prospect_t), intent(in) :: prospect
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: samples
    samples = real(prospect%keymap%nrec_max, dp)*prospect%scheme%nt_out
    if (samples > 2.0e9_dp) call Fail(error, 'a gather of '//Str(prospect%keymap%nrec_max)//' receivers x '// &
                                      Str(prospect%scheme%nt_out)//' samples is too large; at most 2e9 samples: use a larger dt_out or fewer receivers')
  end subroutine CheckSize

  !> Text that differs when the traces would: what a resumed job must have in common with the first.
  function ProspectFingerprint(prospect) result(s)
    type(prospect_t), intent(in) :: prospect
    character(:), allocatable :: s
    associate (c => prospect%scheme, j => prospect%job)
      s = 'keymap='//prospect%keymap%hash//' model='//prospect%model%hash//' dx='//Str(c%dx, 17)//' dz='//Str(c%dz, 17)// &
          ' dt='//Str(c%dt, 17)//' nt='//Str(c%nt)//' t_start='//Str(c%t_start, 17)//' dt_out='//Str(c%dt_out, 17)// &
          ' nt_out='//Str(c%nt_out)//' half_length='//Str(c%half_length)//' w1='//Str(c%w(1), 17)//' npml='//Str(c%npml)// &
          ' top='//j%top//' components='//c%components//' positions='//j%positions//' regrid='//j%regrid// &
          ' aperture='//Str(j%aperture, 17)//' depth='//Str(j%depth, 17)//' time_correction='//Str(c%time_correction)// &
          ' wavelet='//Str(sum(real(c%q, dp)), 12)//','//Str(maxval(abs(c%q)), 9)//','//Str(maxloc(abs(c%q), 1))
    end associate
  end function ProspectFingerprint

  !> Whether snapshots are wanted of a shot: of those listed, else of the first.
  logical function ProspectSnapshots(prospect, record) result(wanted)
    type(prospect_t), intent(in) :: prospect
    integer, intent(in) :: record
    wanted = .false.
    if (prospect%job%snapshot <= 0) return
    if (len_trim(prospect%job%snapshot_shots) == 0) then
      wanted = record == prospect%keymap%record(1)
    else
      wanted = index(','//Squeezed(prospect%job%snapshot_shots)//',', ','//Str(record)//',') > 0
    end if
  end function ProspectSnapshots

  pure function Squeezed(s) result(t)
    character(*), intent(in) :: s
    character(:), allocatable :: t
    integer :: i
    t = ''
    do i = 1, len(s)
      if (s(i:i) /= ' ') t = t//s(i:i)
    end do
  end function Squeezed

  !> True when somebody made the file OUTPUT.stop.
  logical function ProspectStopFile(prospect) result(there)
    type(prospect_t), intent(in) :: prospect
    inquire (file=prospect%job%output//'.stop', exist=there)
  end function ProspectStopFile

end module prospect_m
