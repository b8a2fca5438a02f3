!> The resolved parameters read back to the same job, bit for bit, whatever numbers and texts it holds.
program t012_params_readback
  use acoustic2d_m, only: acoustic2d_t
  use check_m, only: Claim, ClaimFine, Done, Seed
  use error_m, only: error_t
  use job_m, only: JobFromText, JobRead
  use kinds_m, only: dp, i8
  use parameters_m, only: job_t
  use parameter_table_m, only: table_t
  use parameter_help_m, only: TableText
  use parameter_words_m, only: QuotedText
  use text_m, only: RealText, Str, ToReal
  implicit none
  type(acoustic2d_t) :: physics
  type(error_t), allocatable :: error

  call OddReals()
  call RandomReals()
  call WholeJobs()
  call Texts()
  call Done()

contains

  subroutine OddReals()
    real(dp) :: x(16)
    integer :: i
    x = [0.1_dp, 1.0_dp/3, 2.0_dp/3, 1.0e30_dp, 1.7e-300_dp, nearest(1.0_dp, 1.0_dp), nearest(1.0_dp, -1.0_dp), 1.0e-5_dp, &
         9.9999999999999995e22_dp, 123456789.123456789_dp, -0.0_dp, 4.0_dp*atan(1.0_dp), 1.0e-307_dp, 1.0e7_dp, &
         nearest(1.0e7_dp, -1.0_dp), -1.0e-4_dp]
    do i = 1, size(x)
      call Claim(SameBits(x(i)), RealText(x(i))//' reads back to the same bits')
    end do
    call Claim(RealText(0.004_dp) == '0.004' .and. RealText(25.0_dp) == '25', 'no more digits than needed: '//RealText(0.004_dp))
  end subroutine OddReals

  subroutine RandomReals()
    integer, parameter :: n = 5000
    real(dp) :: u(2), x
    integer :: i, same
    call Seed(20260101)
    same = 0
    do i = 1, n
      call random_number(u)
      x = (u(1) - 0.5_dp)*10.0_dp**(600*u(2) - 300)
      if (SameBits(x)) same = same + 1
    end do
    call Claim(same == n, Str(same)//' of '//Str(n)//' random reals of 1e-300..1e300 read back to the same bits')
  end subroutine RandomReals

  !> Random values of every real parameter that may be anything in its range.
  subroutine WholeJobs()
    integer, parameter :: n = 60
    type(table_t) :: t, t2, fresh
    type(job_t) :: job, job2
    character(40) :: args(12)
    character(:), allocatable :: text, text2
    real(dp) :: u(11)
    integer :: i, same
    same = 0
    do i = 1, n
      call random_number(u)
      args = [character(40) :: 'dx='//RealText(1.0e4_dp*u(1)), 'dz='//RealText(u(2)**9), 'aperture='//RealText(1.0e7_dp*u(3)), &
              'tmax='//RealText(5 + u(4)), 'dt='//RealText(u(5)*1.0e-3_dp), 'dt_out='//RealText(0.001_dp + u(6)*1.0e-3_dp), &
              'fpeak='//RealText(1 + 99*u(7)), 'amplitude='//RealText(10.0_dp**(60*u(8) - 30)), 'model_x0='// &
                  RealText(-1.0e8_dp*u(9)), &
              'rho_value='//RealText(1000 + 100*u(10)), 'depth='//RealText(1.0e6_dp*u(11)), 'components= P, vz']
      t = fresh
      t2 = fresh
      call JobRead(physics, args, 'verify', job, t, error)
      if (allocated(error)) exit
      text = TableText(t)
      call JobFromText(physics, text, job2, t2, error)
      if (allocated(error)) exit
      text2 = TableText(t2)
      if (SameJob(job, job2) .and. Stripped(text) == Stripped(text2)) same = same + 1
    end do
    call ClaimFine(error, 'random jobs read without fault')
    call Claim(same == n, Str(same)//' of '//Str(n)//' random jobs read back bit for bit')
    call Claim(job2%components == 'p,vz', 'lists lose their blanks: '//job2%components)
  end subroutine WholeJobs

  !> Texts that could be taken for something else.
  subroutine Texts()
    call Through('a b.nc', 'a blank')
    call Through('it''s "new" #3 = x!.nc', 'both quotes, #, = and !')
    call Through('''quoted', 'a leading quote')
    call Through('''', 'a lone quote')
    call Through('/abs/pa th/', 'slashes')
    call Through('  leading and trailing  ', 'blanks at both ends')
    call Through('tab'//achar(9)//'inside', 'a tab')
    call Through('M'//char(195)//char(188)//'ller.nc', 'UTF-8')
    call Through(repeat('long/', 2000)//'x.nc', '10004 characters')
    call Through('', 'nothing')
  end subroutine Texts

  subroutine Through(path, what)
    character(*), intent(in) :: path, what
    type(table_t) :: t, t2
    type(job_t) :: job, job2
    call JobFromText(physics, 'vp = '//QuotedText(path), job, t, error)
    if (.not. allocated(error)) call JobFromText(physics, TableText(t), job2, t2, error)
    call ClaimFine(error, 'a path with '//what//' reads without fault')
    call Claim(job%vp == path .and. job2%vp == path .and. len(job2%vp) == len(path), 'a path with '//what//' reads back')
  end subroutine Through

  logical function SameBits(x)
    real(dp), intent(in) :: x
    real(dp) :: y
    logical :: ok
    call ToReal(RealText(x), y, ok)
    SameBits = ok .and. transfer(x, 0_i8) == transfer(y, 0_i8)
  end function SameBits

  logical function SameJob(a, b)
    type(job_t), intent(in) :: a, b
    SameJob = all(transfer(Reals(a), [0_i8]) == transfer(Reals(b), [0_i8])) .and. a%components == b%components .and. &
              a%half_length == b%half_length .and. a%output == b%output .and. a%variant == b%variant .and. &
              (a%time_correction .eqv. b%time_correction)
  end function SameJob

  function Reals(a) result(x)
    type(job_t), intent(in) :: a
    real(dp) :: x(24)
    x = [a%model_dx, a%model_dz, a%model_x0, a%model_z0, a%rho_value, a%dx, a%dz, a%aperture, a%depth, a%tmax, a%dt, a%dt_out, &
         a%fpeak, a%f1, a%f2, a%f3, a%f4, a%delay, a%amplitude, a%fmax, a%wavelet_dt, a%coeffs_error, a%snapshot, a%progress]
  end function Reals

  !> The text without its comments, which tell origins.
  function Stripped(text) result(s)
    character(*), intent(in) :: text
    character(:), allocatable :: s
    integer :: i
    logical :: comment
    s = ''
    comment = .false.
    do i = 1, len(text)
      if (text(i:i) == '#') comment = .true.
      if (text(i:i) == new_line('a')) comment = .false.
      if (.not. comment) s = s//text(i:i)
    end do
  end function Stripped

end program t012_params_readback
