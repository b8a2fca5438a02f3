!> Mutated parameter files never crash the reader: each gives a job or an error with a sentence.
program t014_params_mutated
  use acoustic2d_m, only: acoustic2d_t
  use check_m, only: Claim, Done, Seed
  use error_m, only: error_t
  use job_m, only: JobFromText, JobRead
  use kinds_m, only: dp
  use parameters_m, only: job_t
  use parameter_table_m, only: table_t
  use parameter_help_m, only: TableText
  use text_m, only: Str
  implicit none
  type(acoustic2d_t) :: physics
  character(*), parameter :: lf = achar(10)
  integer, parameter :: rounds = 1000
  character(*), parameter :: pieces = ' =#!''",/&$*()'//achar(9)//lf//achar(13)//achar(0)//'0123456789+-.eEdDnaif_xz'// &
                              char(255)//char(194)
  character(:), allocatable :: plain, namelist

  plain = '# a job'//lf//'dx = 10 # metres'//lf//'vp = "my model.nc"'//lf//'rho = ''it''''s.nc'''//lf//'half_length = 4'//lf// &
          'overwrite = yes'//lf//'wavelet=ormsby'//lf//'f1 = 1e0'//lf//'components = p,vx'//lf//'snapshot = 0.1'//lf// &
          'snapshot_shots = 1,2,3'//lf//'amplitude = -2.5d-3'//lf
  namelist = '&job dx = 10, ! metres'//lf//' vp = "my model.nc", rho = ''it''''s.nc'''//lf//' half_length = 4 overwrite = T'//lf// &
             ' wavelet = ormsby, f1 = 1e0'//lf//' components = ''p,vx'', # both'//lf//' amplitude = -2.5d-3 /'//lf
  call Seed(314159)
  call Mutate(plain, 'plain')
  call Mutate(namelist, 'namelist')
  call Rubbish()
  call Words()
  deallocate (plain, namelist)
  call Done()

contains

  subroutine Mutate(original, what)
    character(*), intent(in) :: original, what
    character(:), allocatable :: text
    integer :: i, j, good, bad, lost
    good = 0
    bad = 0
    lost = 0
    do i = 1, rounds
      text = original
      do j = 1, 1 + Below(4)
        call Change(text)
      end do
      call Try(text, good, bad, lost)
    end do
    call Claim(good + bad == rounds .and. good > rounds/50 .and. bad > rounds/50, &
               Str(rounds)//' mutated '//what//' files: '//Str(good)//' give a job, '//Str(bad)//' an error')
    call Claim(lost == 0, 'resolved parameters of those jobs that do not read back: '//Str(lost)//' of '//Str(good))
  end subroutine Mutate

  subroutine Rubbish()
    character(:), allocatable :: text
    integer :: i, j, n, good, bad, lost
    good = 0
    bad = 0
    lost = 0
    do i = 1, rounds
      n = Below(300)
      allocate (character(n) :: text)
      do j = 1, len(text)
        text(j:j) = char(Below(256))
        if (mod(i, 2) == 0) text(j:j) = Piece()
      end do
      if (mod(i, 3) == 0) text = '&job '//text
      call Try(text, good, bad, lost)
      deallocate (text)
    end do
    call Claim(good + bad == rounds .and. bad > rounds/2, Str(rounds)//' texts of random bytes: '// &
               Str(good)//' empty ones give a job, '// &
               Str(bad)//' an error')
  end subroutine Rubbish

  !> Mutated words of a command line.
  subroutine Words()
    character(*), parameter :: original(4) = [character(24) :: 'dx=10', 'vp=my model.nc', 'components=p,vx', 'wavelet=ormsby']
    character(24) :: args(4)
    character(:), allocatable :: word
    type(table_t) :: t, fresh
    type(job_t) :: job
    type(error_t), allocatable :: error
    integer :: i, k, good, bad
    good = 0
    bad = 0
    do i = 1, rounds
      args = original
      k = 1 + Below(4)
      word = trim(args(k))
      call Change(word)
      args(k) = word
      t = fresh
      call JobRead(physics, args, 'status', job, t, error)
      if (allocated(error)) then
        bad = bad + merge(1, 0, len(error%message) > 20)
        deallocate (error)
      else
        good = good + 1
      end if
    end do
    call Claim(good + bad == rounds .and. good > 10 .and. bad > 10, &
               Str(rounds)//' mutated command lines: '//Str(good)//' give a job, '//Str(bad)//' an error')
  end subroutine Words

  !> Counts a job, or an error that says something; `lost` counts jobs whose resolved text does not give the same text again.
  subroutine Try(text, good, bad, lost)
    character(*), intent(in) :: text
    integer, intent(inout) :: good, bad, lost
    type(table_t) :: t, t2
    type(job_t) :: job, job2
    type(error_t), allocatable :: error
    integer :: i
    call JobFromText(physics, text, job, t, error)
    if (allocated(error)) then
      bad = bad + merge(1, 0, len(error%message) > 20)
      return
    end if
    good = good + 1
    call JobFromText(physics, TableText(t), job2, t2, error)
    if (allocated(error)) then
      lost = lost + 1
      return
    end if
    do i = 1, t%n
      if (t%row(i)%value == t2%row(i)%value) cycle
      lost = lost + 1
      return
    end do
  end subroutine Try

  !> Inserts, deletes, replaces, doubles or cuts.
  subroutine Change(text)
    character(:), allocatable, intent(inout) :: text
    integer :: p, q
    p = 1 + Below(len(text) + 1)
    q = min(len(text), p + Below(12))
    select case (Below(5))
    case (0)
      text = text(:p - 1)//Piece()//text(p:)
    case (1)
      text = text(:p - 1)//text(q + 1:)
    case (2)
      if (p <= len(text)) text(p:p) = Piece()
    case (3)
      text = text(:q)//text(p:)
    case default
      if (Below(8) == 0) text = text(:p - 1)
    end select
  end subroutine Change

  character function Piece()
    integer :: p
    p = 1 + Below(len(pieces))
    Piece = pieces(p:p)
  end function Piece

  !> A random number of 0..n-1.
  integer function Below(n)
    integer, intent(in) :: n
    real(dp) :: u
    call random_number(u)
    Below = min(n - 1, int(u*n))
  end function Below

end program t014_params_mutated
