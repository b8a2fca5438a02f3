!> The word by which a job is known again: it differs when the traces would. A resumed job must have it in common with the first.
module fingerprint_m
  use finite_fault_m, only: FaultHash
  use files_m, only: Crc32, Hex
  use hash_m, only: hash_t, HashAdd, HashText
  use kinds_m, only: dp, sp
  use parameters_m, only: job_t
  use scheme_m, only: scheme_t, SchemePad
  use source3d_m, only: source_fault, SourceNumbers
  use text_m, only: Str
  implicit none
  private
  public :: Fingerprint, Positions

contains

  !> KEYMAP-MODEL-SCHEME; the first two as the key-map and the model say it.
  function Fingerprint(job, scheme, keymap, model) result(s)
    type(job_t), intent(in) :: job
    type(scheme_t), intent(in) :: scheme
    character(*), intent(in) :: keymap, model
    character(:), allocatable :: s
    associate (c => scheme, j => job)
      s = Str(c%dx, 17)//' '//Str(c%dz, 17)//' '//Str(c%dt, 17)//' '//Str(c%nt)//' '//Str(c%t_start, 17)//' '//Str(c%dt_out, 17)// &
          ' '//Str(c%nt_out)//' '//Str(c%half_length)//' '//Str(c%w(1), 17)//' '//Str(c%npml)//' '//Str(maxval(SchemePad(c)))// &
          ' '//j%top//' '//c%components//' '//Positions(j)//' '//j%regrid//' '//Str(j%aperture, 17)//' '//Str(j%depth, 17)// &
          ' '//Str(c%time_correction)//' '//HistoryHash(c%q)
      if (c%dy > 0) s = s//Words3d(job, scheme)
      s = keymap//'-'//model//'-'//Hex(Crc32(s))
    end associate
  end function Fingerprint

  !> 16 digits that differ when a history does, by 1e-4 of its peak or the peak by 1e-5; not by the last bits, which another
  !> machine may have otherwise.
  pure function HistoryHash(q) result(text)
    real(sp), intent(in) :: q(:)
    character(16) :: text
    type(hash_t) :: hash
    real(dp) :: peak
    integer :: n
    peak = max(real(maxval(abs(q)), dp), tiny(peak))
    call HashAdd(hash, anint(1.0e5_dp*log(peak)))
    do n = 1, size(q)
      call HashAdd(hash, nint(1.0e4_dp*q(n)/peak))
    end do
    text = HashText(hash)
  end function HistoryHash

  !> How a job takes positions: 3D always exactly.
  pure function Positions(job) result(s)
    type(job_t), intent(in) :: job
    character(:), allocatable :: s
    s = 'exact'
    if (.not. job%three_d) s = job%positions
  end function Positions

  !> What else decides the traces of a 3D job.
  function Words3d(job, scheme) result(s)
    type(job_t), intent(in) :: job
    type(scheme_t), intent(in) :: scheme
    character(:), allocatable :: s
    real(dp), allocatable :: x(:)
    integer :: i
    associate (c => scheme, j => job)
      s = ' '//Str(c%dy, 17)//' '//j%absorb//' '//j%sides//' '//j%bottom//' '//j%model_at//' '//Str(c%attenuates)//' '// &
          Str(c%q_band(1), 12)//' '//Str(c%q_band(2), 12)//' '//Str(c%q_ref, 12)
      if (c%source%kind == source_fault) then
        s = s//' '//FaultHash(c%source%fault)
        return
      end if
      allocate (x, source=SourceNumbers(c%source))
      do i = 1, size(x)
        s = s//' '//Str(x(i), 17)
      end do
    end associate
  end function Words3d

end module fingerprint_m
