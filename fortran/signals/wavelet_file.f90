!> A wavelet file: text, one sample a line, or two columns time [s] and value; '#' begins a comment, blank lines do not count.
module wavelet_file_m
  use checked_m, only: Between
  use kinds_m, only: dp
  use error_m, only: error_t, Fail
  use text_m, only: Str
  use textfile_m, only: NumberOf, Shown, textfile_t, TextAdvise, TextLine, TextOpen, TextWord, TitleAdvice
  implicit none
  private
  public :: WavefileRead

  integer, parameter :: fewest = 4, most = 100000    !< samples of a wavelet: a sweep, or the history of a long earthquake
  real(dp), parameter :: largest = 1.0e30_dp         !< of any number
  real(dp), parameter :: latest = 1.0e9_dp, shortest = 1.0e-12_dp   !< time and interval [s]

contains

  !> samples(:) at t0 + (i-1) dt [s]. column_dt: interval of a file with one column, whose first sample is at 0; a file with two
  !> columns tells its own times, which must be uniform to 1 % of the interval.
  !> Fails, naming the line, on anything that is not such a file.
  subroutine WavefileRead(path, column_dt, samples, t0, dt, error)
    character(*), intent(in) :: path
    real(dp), intent(in) :: column_dt
    real(dp), allocatable, intent(out) :: samples(:)
    real(dp), intent(out) :: t0, dt
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: table(:, :)
    integer, allocatable :: lines(:)
    integer :: columns, n
    t0 = 0
    dt = column_dt
    call ReadTable(path, table, lines, columns, n, error)
    if (allocated(error)) return
    if (n < fewest) then
      call Fail(error, 'wavelet file '//path//' holds '//Str(n)//' samples; a wavelet needs at least '//Str(fewest))
    else if (columns == 1 .and. .not. column_dt > 0) then
      call Fail(error, 'wavelet file '//path//' has one column and no sample interval: give wavelet_dt, or a first column with '// &
                'times in s')
    else if (columns == 2) then
      call CheckTimes(path, table(1, :n), lines, t0, dt, error)
      if (column_dt > 0 .and. abs(column_dt - dt) > 0.01_dp*dt) &
        call Fail(error, 'wavelet_dt = '//Str(column_dt)//' s, but the times in wavelet file '//path//' are '//Str(dt, 6)// &
                  ' s apart: leave wavelet_dt out, or the column of times')
    end if
    if (allocated(error)) return
    samples = table(columns, :n)
    if (maxval(abs(samples)) <= 0) call Fail(error, 'wavelet file '//path//': all '//Str(n)// &
                                             ' samples are 0; there is nothing to model')
  end subroutine WavefileRead

  !> First time and interval of uniform increasing times.
  subroutine CheckTimes(path, t, lines, t0, dt, error)
    character(*), intent(in) :: path
    real(dp), intent(in) :: t(:)
    integer, intent(in) :: lines(:)
    real(dp), intent(out) :: t0, dt
    type(error_t), allocatable, intent(inout) :: error
    integer :: i
    t0 = t(1)
    dt = (t(size(t)) - t(1))/(size(t) - 1)
    do i = 2, size(t)
      if (t(i) > t(i - 1)) cycle
      call Fail(error, Place(path, lines(i))//'time '//Str(t(i), 9)//' s does not come after '//Str(t(i - 1), 9)// &
                ' s; times must increase')
      return
    end do
    if (.not. all(Between(t, -latest, latest)) .or. dt < shortest) then
      call Fail(error, 'wavelet file '//path//': times run from '//Str(t(1))//' to '//Str(t(size(t)))//' s, must lie between '// &
                Str(-latest)//' and '//Str(latest)//' s and be '//Str(shortest)//' s or more apart: give them in s')
      return
    end if
    if (all(abs(t - t0 - [((i - 1)*dt, i=1, size(t))]) <= 0.01_dp*dt)) return
    ! The first interval, not the mean one, tells which line is the odd one.
    do i = 3, size(t)
      if (abs(t(i) - t(i - 1) - (t(2) - t0)) <= 0.01_dp*(t(2) - t0)) cycle
      call Fail(error, Place(path, lines(i))//'time '//Str(t(i), 9)//' s where '//Str(t(i - 1) + t(2) - t0, 9)// &
                ' s was expected; the samples must be '//Str(t(2) - t0)//' s apart throughout')
      return
    end do
    call Fail(error, Place(path, lines(size(t)))//'the samples drift away from equal intervals of '//Str(dt)// &
              ' s: write the times with more digits')
  end subroutine CheckTimes

  !> table(column, row) of a text file with one or two columns, and the line each row came from.
  subroutine ReadTable(path, table, lines, columns, n, error)
    character(*), intent(in) :: path
    real(dp), allocatable, intent(out) :: table(:, :)
    integer, allocatable, intent(out) :: lines(:)
    integer, intent(out) :: columns, n
    type(error_t), allocatable, intent(inout) :: error
    type(textfile_t) :: file
    real(dp) :: values(2)
    integer :: words
    allocate (table(2, most), source=0.0_dp)
    allocate (lines(most), source=0)
    columns = 0
    n = 0
    call TextOpen(file, path, 'wavelet file', error)
    if (allocated(error)) return
    do while (TextLine(file))
      call ReadRow(file, path, values, words, error)
      call TextAdvise(file, error)
      if (allocated(error)) return
      if (columns > 0 .and. words /= columns) then
        call Fail(error, Place(path, file%line)//Str(words)//' columns, where the lines before have '//Str(columns))
      else if (n == most) then
        call Fail(error, 'wavelet file '//path//' has more than '//Str(most)//' samples; is it a wavelet? (if so, thin it)')
      end if
      if (allocated(error)) return
      columns = words
      n = n + 1
      table(:, n) = values
      lines(n) = file%line
    end do
  end subroutine ReadTable

  !> One or two numbers of a line.
  subroutine ReadRow(file, path, values, words, error)
    type(textfile_t), intent(inout) :: file
    character(*), intent(in) :: path
    real(dp), intent(out) :: values(2)
    integer, intent(out) :: words
    type(error_t), allocatable, intent(inout) :: error
    integer :: first, last
    logical :: ok
    values = 0
    words = 0
    do while (TextWord(file, first, last))
      if (words == 2) then
        call Fail(error, Place(path, file%line)//'more than two columns: give the value, or time and value')
        return
      end if
      words = words + 1
      call NumberOf(file%text(first:last), values(words), ok)
      if (.not. ok) then
        call Fail(error, Place(path, file%line)//Shown(file%text(first:last))//' is not a finite number'// &
                  TitleAdvice(file%text(first:last)))
      else if (.not. Between(values(words), -largest, largest)) then
        call Fail(error, Place(path, file%line)//Shown(file%text(first:last))//' is too large for a time or a sample: at most '// &
                  Str(largest))
      end if
      if (allocated(error)) return
    end do
  end subroutine ReadRow

  pure function Place(path, line)
    character(*), intent(in) :: path
    integer, intent(in) :: line
    character(:), allocatable :: Place
    Place = 'wavelet file '//path//' line '//Str(line)//': '
  end function Place

end module wavelet_file_m
