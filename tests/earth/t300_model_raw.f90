!> Raw models: every spelling of a sound one reads alike; every broken one gives one sentence with value, limit and cure.
program t300_model_raw
  use, intrinsic :: iso_fortran_env, only: int8
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use model_job_m, only: ClaimRefused, ModelJob
  use model_m, only: model_t, ModelForget, ModelRead
  use parameters_m, only: job_t
  use model_checksum_m, only: ModelChecksumCheck
  use put_m, only: Put
  use text_m, only: Str
  implicit none
  integer, parameter :: nx = 5, nz = 4
  real(sp) :: vp(nx, nz), rho(nx, nz)
  type(error_t), allocatable :: error
  type(model_t) :: sound
  type(job_t) :: job
  integer :: i, k

  vp = reshape([((1500.5_sp + 100*i + 10*k, i=1, nx), k=1, nz)], [nx, nz])
  rho = reshape([((1000.0_sp + 7*i + k, i=1, nx), k=1, nz)], [nx, nz])
  call Spellings()
  call Rules()
  call BadDeclarations()
  call BadSizes()
  call BadValues()
  call BadUnits()
  call Done()

contains

  subroutine SoundJob()
    job = ModelJob('vp.bin')
    job%model_order = 'zfast'
    job%model_endian = 'little'
    job%vp_unit = 'm/s'
    job%rho_unit = 'kg/m3'
    job%model_nx = nx
    job%model_nz = nz
    job%model_dx = 20
    job%model_dz = 10
    job%model_x0 = -40
    job%model_z0 = 5
  end subroutine SoundJob

  !> The bytes of a(:, :) as a raw file; swap: big-endian (this machine is little-endian).
  subroutine Raw(name, a, zfast, width, swap)
    character(*), intent(in) :: name
    real(sp), intent(in) :: a(:, :)
    logical, intent(in) :: zfast, swap
    integer, intent(in) :: width
    real(sp), allocatable :: ordered(:)
    integer(int8), allocatable :: bytes(:)
    integer :: j
    if (zfast) then
      ordered = reshape(transpose(a), [size(a)])
    else
      ordered = reshape(a, [size(a)])
    end if
    if (width == 4) then
      bytes = transfer(ordered, [0_int8])
    else
      bytes = transfer(real(ordered, dp), [0_int8])
    end if
    if (swap) bytes = [(bytes(width*j + width:width*j + 1:-1), j=0, size(a) - 1)]
    call Put(name, bytes)
  end subroutine Raw

  subroutine Same(how)
    character(*), intent(in) :: how
    type(model_t) :: m
    call ModelRead(job, m, error)
    call ClaimFine(error, how//' reads')
    if (allocated(m%vp)) &
      call Claim(all(m%vp == vp) .and. m%hash == sound%hash, how//' gives the same samples and hash '//m%hash)
    call ModelForget(m)
  end subroutine Same

  subroutine Spellings()
    call SoundJob()
    call Raw('vp.bin', vp, .true., 4, .false.)
    call ModelRead(job, sound, error)
    call ClaimFine(error, 'a raw model of little-endian float32, z fastest')
    call Claim(all(sound%vp == vp) .and. all(sound%rho == 1000) .and. sound%x0 == -40 .and. sound%dz == 10, &
      'has the samples written and density 1000 kg/m3')
    call ModelChecksumCheck(sound%checksum, sound%vp, sound%rho, 1, nx, 1, nz, error)
    call Claim(allocated(sound%checksum%sum) .and. .not. allocated(error), 'has checksums of what was read')
    call Claim(abs(sound%vmin - minval(vp)) < 1e-3_dp .and. abs(sound%vmax - maxval(vp)) < 1e-3_dp, &
      'and the range '//Str(sound%vmin)//' .. '//Str(sound%vmax)//' m/s')
    call Raw('vp.bin', vp, .false., 4, .false.)
    job%model_order = 'xfast'
    call Same('x fastest')
    call Raw('vp.bin', vp, .true., 4, .true.)
    job%model_order = 'zfast'
    job%model_endian = 'big'
    call Same('big-endian')
    job%model_format = 'raw64'
    call Raw('vp.bin', vp, .true., 8, .true.)
    call Same('big-endian float64')
    job%model_endian = 'little'
    call Raw('vp.bin', vp, .true., 8, .false.)
    call Same('little-endian float64')
    call SoundJob()
    job%vp_unit = 'km/s'
    vp = nint(vp)
    call Raw('vp.bin', vp/1000, .true., 4, .false.)
    call ModelRead(job, sound, error)
    call Claim(maxval(abs(sound%vp/vp - 1)) < 2e-7_sp, 'km/s become m/s, relative error '//Str(maxval(abs(sound%vp/vp - 1)))// &
      ', at most 2e-7')
    call Raw('vp.bin', vp, .true., 4, .false.)
  end subroutine Spellings

  subroutine Rules()
    type(model_t) :: m
    character(16) :: hash
    integer :: a, b
    call SoundJob()
    call ModelRead(job, m, error)
    hash = m%hash
    job%rho = 'rho.bin'
    call Raw('rho.bin', rho, .true., 4, .false.)
    call ModelRead(job, m, error)
    call Claim(.not. allocated(error) .and. all(m%rho == rho), 'density comes from a file of its own')
    call Claim(m%hash(1:8) == hash(1:8) .and. m%hash(9:16) /= hash(9:16), 'and changes its half of the hash: '//m%hash)
    job%rho = ''
    job%rho_rule = 'gardner'
    vp(1, 1) = 1500
    call Raw('vp.bin', vp, .true., 4, .false.)
    call ModelRead(job, m, error)
    a = count(vp > 1600)
    b = count(abs(m%rho - 310*vp**0.25_sp) < 0.01_sp)
    call Claim(m%rho(1, 1) == 1000 .and. a == b .and. a == nx*nz - 1, "Gardner's rule holds at "//Str(b)//' of '//Str(a)// &
      ' samples above 1600 m/s, 1000 kg/m3 below')
    call ModelForget(m)
  end subroutine Rules

  subroutine Refused(words, claim)
    character(*), intent(in) :: words, claim
    call ClaimRefused(job, words, claim)
    call SoundJob()
  end subroutine Refused

  subroutine BadDeclarations()
    call SoundJob()
    call Raw('vp.bin', vp, .true., 4, .false.)
    job%vp = ''
    call Refused('vp=FILE', 'no model at all')
    job%vp = 'missing.bin'
    call Refused("'missing.bin': No such file", 'a missing file')
    job%vp = '.'
    call Refused('is a folder', 'a folder')
    job%vp = '/dev/null'
    call Refused('not an ordinary file', 'a device')
    job%vp = 'line.segy'
    call Put('line.segy', [1_int8])
    call Refused('spl-model', 'a SEG-Y file')
    job%model_nx = 0
    job%model_dz = 0
    call Refused('set model_nx, model_dz', 'no shape')
    job%model_nx = 1
    job%model_nz = nx*nz
    call Refused('2 x 2 or more', 'a model one sample wide')
    job%rho = 'missing.bin'
    call Refused("density model: cannot read 'missing.bin'", 'a missing density')
  end subroutine BadDeclarations

  subroutine BadSizes()
    integer(int8) :: none(0)
    integer(int8), allocatable :: bytes(:)
    allocate (bytes(4*nx*nz))
    bytes(:) = transfer(reshape(transpose(vp), [size(vp)]), [0_int8])
    call Put('vp.bin', none)
    call Refused('has 0 bytes, 5 x 4 samples of 4 bytes are 80: it is empty', 'an empty file')
    call Put('vp.bin', bytes(:77))
    call Refused('3 bytes are missing', 'a truncated file')
    call Put('vp.bin', [bytes(:12), bytes])
    call Refused('12 bytes too many', 'a file with a header')
    call Put('vp.bin', [bytes(:8), bytes])
    call Refused('Fortran sequential', 'a Fortran sequential file')
    call Raw('vp.bin', vp, .true., 8, .false.)
    call Refused('set model_format=raw64', 'float64 declared as float32')
    call Raw('vp.bin', vp, .true., 4, .false.)
    job%model_format = 'raw64'
    call Refused('set model_format=raw32', 'float32 declared as float64')
    call Put('vp.bin', [([(bytes(:16), i=1, 15)], bytes(:16), k=1, 5)])
    call Refused('SU traces', 'the size of SU traces')
    call Put('vp.bin', [[(bytes(:16), i=1, 225)], [([(bytes(:16), i=1, 15)], bytes(:16), k=1, 5)]])
    call Refused('SEG-Y', 'the size of a SEG-Y file')
    bytes(:4) = [67_int8, 68_int8, 70_int8, 5_int8]
    call Put('vp.bin', bytes)
    call Refused('model_format=netcdf', 'a NetCDF file declared as raw')
    call Raw('vp.bin', vp, .true., 4, .false.)
    job%model_nx = 10000000
    job%model_nz = 10000000
    call Refused('400000000000000', 'a shape whose bytes overflow a 32-bit count')
  end subroutine BadSizes

  subroutine With(value)
    real(sp), intent(in) :: value
    real(sp) :: a(nx, nz)
    a = vp
    a(3, 2) = value
    call Raw('vp.bin', a, .true., 4, .false.)
  end subroutine With

  subroutine BadValues()
    real(sp) :: a(nx, nz)
    call With(transfer(2143289344, 1.0_sp))
    call Refused('sample (3, 2) of (5, 4) at x = 0 m, z = 15 m is NaN', 'a NaN')
    call With(transfer(2139095041, 1.0_sp))
    call Refused('sample (3, 2) of (5, 4) at x = 0 m, z = 15 m is NaN', 'a signalling NaN')
    call With(transfer(2139095040, 1.0_sp))
    call Refused('is Infinity', 'an infinity')
    call With(0.0_sp)
    call Refused('is 0, must be a number above 0 (1 such samples of 20)', 'a zero')
    call With(-2000.0_sp)
    call Refused('is -2000, must be a number above 0', 'a negative velocity')
    call With(49.0_sp)
    call Refused('is 49 m/s, must be 50 .. 15000 m/s', 'an absurdly low velocity')
    call With(15100.0_sp)
    call Refused('is 15100 m/s, must be 50 .. 15000 m/s', 'an absurdly high velocity')
    call Raw('vp.bin', vp, .true., 4, .true.)
    call Refused('set model_endian=big', 'big-endian declared as little')
    call Raw('vp.bin', vp, .true., 4, .false.)
    job%model_endian = 'big'
    call Refused('set model_endian=little', 'little-endian declared as big')
    job%model_format = 'raw64'
    call Raw('vp.bin', vp, .true., 8, .true.)
    call Refused('set model_endian=big', 'big-endian float64 declared as little')
    a = 1.0e30_sp
    call Raw('vp.bin', a, .true., 4, .false.)
    call Refused('is 1e30 m/s', 'nonsense in either byte order')
    call Raw('vp.bin', vp, .true., 4, .false.)
    a = rho
    a(1, 4) = 0.5_sp
    call Raw('rho.bin', a, .true., 4, .false.)
    job%rho = 'rho.bin'
    call Refused("density model 'rho.bin': sample (1, 4)", 'an absurdly low density')
    a(1, 4) = 30500
    call Raw('rho.bin', a, .true., 4, .false.)
    job%rho = 'rho.bin'
    call Refused('is 30500 kg/m3, must be 1 .. 30000 kg/m3', 'an absurdly high density')
    call Raw('rho.bin', rho(:4, :), .true., 4, .false.)
    job%rho = 'rho.bin'
    call Refused("density model 'rho.bin' has 64 bytes", 'a density of another shape')
  end subroutine BadValues

  subroutine BadUnits()
    call Raw('vp.bin', vp/1000, .true., 4, .false.)
    call Refused('look like km/s: set vp_unit=km/s', 'km/s declared as m/s')
    call Raw('vp.bin', vp, .true., 4, .false.)
    job%vp_unit = 'km/s'
    call Refused('look like m/s: set vp_unit=m/s', 'm/s declared as km/s')
    call Raw('rho.bin', rho/1000, .true., 4, .false.)
    job%rho = 'rho.bin'
    call Refused('look like g/cm3: set rho_unit=g/cm3', 'g/cm3 declared as kg/m3')
    call Raw('rho.bin', rho, .true., 4, .false.)
    job%rho = 'rho.bin'
    job%rho_unit = 'g/cm3'
    call Refused('look like kg/m3: set rho_unit=kg/m3', 'kg/m3 declared as g/cm3')
  end subroutine BadUnits

end program t300_model_raw
