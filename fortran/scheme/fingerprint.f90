!> The fingerprint of a job: it differs where the traces would. A job that is resumed must have the fingerprint it began with.
module fingerprint_m
  use text_crc32_m, only: Crc32, Hex
  use hash_m, only: hash_t, HashAdd, HashText
  use kinds_m, only: dp, sp
  use parameters_m, only: job_t
  use scheme_m, only: scheme_t, SchemePad
  use text_m, only: Str
  implicit none
  private
  public :: Fingerprint

contains

  !> KEYMAP-MODEL-SCHEME: the fingerprints of key-map and model, and that of the scheme. `own`: what else decides the traces of this
  !> physics.
  function Fingerprint(job, scheme, keymap, model, own) result(s)
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    character(*), intent(in) :: keymap, model, own
    character(:), allocatable :: s
    associate (c => scheme, j => job)
      s = Str(c%dx, 17)//' '//Str(c%dz, 17)//' '//Str(c%dt, 17)//' '//Str(c%nt)//' '//Str(c%t_start, 17)//' '//Str(c%dt_out, 17)// &
          ' '//Str(c%nt_out)//' '//Str(c%half_length)//' '//Str(c%w(1), 17)//' '//Str(c%npml)//' '//Str(maxval(SchemePad(c)))// &
          ' '//j%top//' '//c%components//' '//j%positions//' '//j%regrid//' '//Str(j%aperture, 17)//' '//Str(j%depth, 17)// &
          ' '//Str(c%time_correction)//' '//HistoryHash(c%q)//own
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

end module fingerprint_m
