!> The parameters of a source in 3D, and their rules.
module source3d_parameters_m
  use kinds_m, only: dp
  use parameter_table_m, only: table_t
  use parameters_m, only: job_t
  implicit none
  private
  public :: SourceTable, SourceRules

  character(*), parameter, public :: source3d_kinds = 'volume,explosion,force,moment,dc'   !< without faults

contains

  !> The source of a 3D job, of one of the `kinds`, joined by commas. The x axis points to `azimuth` unless the job says another;
  !> `meaning`: where y points.
  subroutine SourceTable(t, job, kinds, azimuth, meaning)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    character(*), intent(in) :: kinds, meaning
    real(dp), intent(in) :: azimuth
    logical :: faults
    faults = index(kinds, 'fault') > 0
    ! @format(off)
    call t%word('source', job%source, 'volume', kinds, 'what acts at the source position: injection of volume (air gun), explosion of moment m0, force, moment tensor, double couple of strike, dip, rake'//trim(merge(', or a fault of many points', '                           ', faults)))
    call t%real('fx', job%fx, 0.0_dp, -1.0e30_dp, 1.0e30_dp, 'N', 'source=force: times the wavelet')
    call t%real('fy', job%fy, 0.0_dp, -1.0e30_dp, 1.0e30_dp, 'N', 'source=force: times the wavelet')
    call t%real('fz', job%fz, 0.0_dp, -1.0e30_dp, 1.0e30_dp, 'N', 'source=force: times the wavelet; downwards')
    call t%real('mxx', job%mxx, 0.0_dp, -1.0e30_dp, 1.0e30_dp, 'N m', 'source=moment: times the wavelet [1/s] the moment rate')
    call t%real('myy', job%myy, 0.0_dp, -1.0e30_dp, 1.0e30_dp, 'N m', 'source=moment')
    call t%real('mzz', job%mzz, 0.0_dp, -1.0e30_dp, 1.0e30_dp, 'N m', 'source=moment')
    call t%real('mxy', job%mxy, 0.0_dp, -1.0e30_dp, 1.0e30_dp, 'N m', 'source=moment')
    call t%real('mxz', job%mxz, 0.0_dp, -1.0e30_dp, 1.0e30_dp, 'N m', 'source=moment')
    call t%real('myz', job%myz, 0.0_dp, -1.0e30_dp, 1.0e30_dp, 'N m', 'source=moment')
    call t%real('strike', job%strike, 0.0_dp, -360.0_dp, 360.0_dp, 'degrees', 'source=dc: as Aki & Richards, clockwise from north')
    call t%real('dip', job%dip, 90.0_dp, 0.0_dp, 90.0_dp, 'degrees', 'source=dc')
    call t%real('rake', job%rake, 0.0_dp, -360.0_dp, 360.0_dp, 'degrees', 'source=dc')
    call t%real('m0', job%m0, 0.0_dp, 0.0_dp, 1.0e30_dp, 'N m', 'source=explosion, dc: moment; times the wavelet [1/s] the moment rate')
    call t%real('mw', job%mw, 0.0_dp, -10.0_dp, 10.0_dp, '', 'moment magnitude, instead of m0; 0 = not given')
    if (faults) call FaultTable(t, job)
    call t%real('x_azimuth', job%x_azimuth, azimuth, -360.0_dp, 360.0_dp, 'degrees', 'where the x axis points, clockwise from north; '//meaning)
    ! @format(on)
  end subroutine SourceTable

  subroutine FaultTable(t, job)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    ! @format(off)
    call t%file('fault', job%fault, '', 'source=fault: SRF 1.0 or 2.0, NetCDF, or plain text (inputs/faults.md); a point releases dt * sum(rate) of its history; give fmax too')
    call t%real('fault_lon', job%fault_lon, 0.0_dp, -360.0_dp, 360.0_dp, 'degrees', 'longitude of an SRF file that lies at the source position')
    call t%real('fault_lat', job%fault_lat, 0.0_dp, -90.0_dp, 90.0_dp, 'degrees', 'latitude of an SRF file that lies at the source position')
    ! @format(on)
  end subroutine FaultTable

  !> Blames parameters of the source that do not go together.
  subroutine SourceRules(job, t)
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    if (job%m0 > 0 .and. abs(job%mw) > 0) call t%blame('mw', 'tells the moment a second time, '//t%said('m0')//': give one of them')
    if (.not. t%sound('source')) return
    if (job%source == 'fault' .and. job%fault == '') call t%blame('source', 'needs the fault: give fault=FILE')
    if (job%source == 'fault' .and. t%sound('fmax') .and. .not. job%fmax > 0) &
      call t%blame('source', 'has no wavelet to tell the band: give fmax, the highest frequency that must be right')
    if (job%source /= 'fault') call t%idle('fault,fault_lon,fault_lat', 'give source=fault too')
    if (any(job%source == [character(9) :: 'explosion', 'dc']) .and. .not. (job%m0 > 0 .or. abs(job%mw) > 0)) &
      call t%blame('source', 'needs a moment: give m0 [N m] or mw')
    if (.not. any(job%source == [character(9) :: 'explosion', 'dc'])) &
      call t%idle('m0,mw', 'source='//job%source//' takes no such moment: leave it out')
    if (job%source /= 'dc') &
      call t%idle('strike,dip,rake', 'source='//job%source//' has no such direction: leave it out, or give source=dc')
    if (job%source /= 'force') &
      call t%idle('fx,fy,fz', 'source='//job%source//' is no force: leave it out, or give source=force')
    if (job%source /= 'moment') &
      call t%idle('mxx,myy,mzz,mxy,mxz,myz', 'source='//job%source//' takes no tensor: leave it out, or give source=moment')
  end subroutine SourceRules

end module source3d_parameters_m
