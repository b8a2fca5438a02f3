!> A wavelet file: text, one sample a line, or two columns time [s] and value; '#' begins a comment, blank lines do not count.
module wavefile_m
  use kinds_m, only: dp
  use error_m, only: error_t, Fail
  use text_m, only: Str, ToReal
  implicit none
  private
  public :: WavefileRead

  integer, parameter :: fewest = 4, most = 20000     !< samples of a wavelet
  integer, parameter :: longest = 1024                !< characters of a line

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
      call Fail(error, 'only '//Str(n)//' samples; a wavelet needs at least '//Str(fewest))
    else if (columns == 1 .and. .not. column_dt > 0) then
      call Fail(error, 'one column only and no sample interval: give wavelet_dt, or a first column with times in s')
    else if (columns == 2) then
      call CheckTimes(table(1, :n), lines, t0, dt, error)
    end if
    if (allocated(error)) return
    samples = table(columns, :n)
    if (maxval(abs(samples)) <= 0) call Fail(error, 'all '//Str(n)//' samples are 0; there is nothing to model')
  end subroutine WavefileRead

  !> First time and interval of uniform increasing times.
  subroutine CheckTimes(t, lines, t0, dt, error)
    real(dp), intent(in) :: t(:)
    integer, intent(in) :: lines(:)
    real(dp), intent(out) :: t0, dt
    type(error_t), allocatable, intent(inout) :: error
    integer :: i
    t0 = t(1)
    dt = (t(size(t)) - t(1))/(size(t) - 1)
    do i = 2, size(t)
      if (.not. t(i) > t(i - 1)) then
        call Fail(error, 'line '//Str(lines(i))//': time '//Str(t(i), 9)//' s does not come after '//Str(t(i - 1), 9)// &
                  ' s; times must increase')
        return
      end if
    end do
    do i = 2, size(t)
      if (abs(t(i) - t0 - (i - 1)*dt) > 0.01_dp*dt) then
        call Fail(error, 'line '//Str(lines(i))//': time '//Str(t(i), 9)//' s where '//Str(t0 + (i - 1)*dt, 9)// &
                  ' s was expected; the samples must be '//Str(dt)//' s apart throughout')
        return
      end if
    end do
  end subroutine CheckTimes

  !> table(column, row) of a text file with one or two columns, and the line each row came from.
  subroutine ReadTable(path, table, lines, columns, n, error)
    character(*), intent(in) :: path
    real(dp), allocatable, intent(out) :: table(:, :)
    integer, allocatable, intent(out) :: lines(:)
    integer, intent(out) :: columns, n
    type(error_t), allocatable, intent(inout) :: error
    character(longest) :: text
    character(200) :: reason
    integer :: unit, io, line
    logical :: is_folder
    columns = 0
    n = 0
    allocate (table(2, most), lines(most))
    if (len_trim(path) == 0) then
      call Fail(error, 'is empty: wavelet=file needs the name of a file there')
      return
    end if
    inquire (file=path//'/.', exist=is_folder)
    if (is_folder) then
      call Fail(error, 'is a folder, not a file')
      return
    end if
    open (newunit=unit, file=path, status='old', action='read', iostat=io, iomsg=reason)
    if (io /= 0) then
      call Fail(error, 'cannot be opened: '//trim(reason))
      return
    end if
    line = 0
    do
      text = ''
      read (unit, '(a)', iostat=io, iomsg=reason) text
      if (is_iostat_end(io) .and. len_trim(text) == 0) exit
      line = line + 1
      if (io > 0) call Fail(error, 'cannot be read at line '//Str(line)//': '//trim(reason))
      if (.not. allocated(error)) call TakeLine(text, line, table, lines, columns, n, error)
      if (allocated(error) .or. is_iostat_end(io)) exit
    end do
    close (unit)
  end subroutine ReadTable

  !> One line of the file into the next row of the table.
  subroutine TakeLine(text, line, table, lines, columns, n, error)
    character(longest), intent(inout) :: text
    integer, intent(in) :: line
    real(dp), intent(inout) :: table(:, :)
    integer, intent(inout) :: lines(:), columns, n
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: value(3)
    character(:), allocatable :: bad
    integer :: words
    if (.not. IsText(text)) then
      call Fail(error, 'line '//Str(line)//' holds bytes that are no text: the file must be text, one sample (or time and value) a line')
      return
    end if
    if (text(longest:longest) /= ' ') then
      call Fail(error, 'line '//Str(line)//' is longer than '//Str(longest)//' characters: put one sample (or time and value) on a line')
      return
    end if
    if (index(text, '#') > 0) text(index(text, '#'):) = ' '
    call SplitNumbers(text, value, words, bad)
    if (words == 0) return
    if (len(bad) > 0) then
      call Fail(error, 'line '//Str(line)//': "'//bad//'" is not a finite number')
    else if (words > 2) then
      call Fail(error, 'line '//Str(line)//' has more than two columns: give the value, or time and value')
    else if (columns > 0 .and. words /= columns) then
      call Fail(error, 'line '//Str(line)//' has '//Str(words)//' columns, the lines before have '//Str(columns))
    else if (n == most) then
      call Fail(error, 'more than '//Str(most)//' samples; a wavelet is shorter than that')
    end if
    if (allocated(error)) return
    columns = words
    n = n + 1
    table(:columns, n) = value(:columns)
    lines(n) = line
  end subroutine TakeLine

  pure logical function IsText(text)
    character(*), intent(in) :: text
    integer :: i, c
    IsText = .true.
    do i = 1, len_trim(text)
      c = iachar(text(i:i))
      if (c < 32 .and. c /= 9 .and. c /= 13) IsText = .false.
    end do
  end function IsText

  !> The first three numbers of a line, separated by blanks, tabs, commas or semicolons; `bad` is the first word that is no number.
  subroutine SplitNumbers(text, value, words, bad)
    character(*), intent(in) :: text
    real(dp), intent(out) :: value(3)
    integer, intent(out) :: words
    character(:), allocatable, intent(out) :: bad
    character(*), parameter :: gaps = ' ,;'//achar(9)//achar(13)
    integer :: first, last
    logical :: ok
    value = 0
    words = 0
    bad = ''
    last = 0
    do while (words < 3)
      first = verify(text(last + 1:), gaps)
      if (first == 0) exit
      first = last + first
      last = first + scan(text(first:)//' ', gaps) - 2
      words = words + 1
      call ToReal(text(first:last), value(words), ok)
      if (.not. ok .and. len(bad) == 0) bad = text(first:last)
      if (last >= len(text)) exit
    end do
  end subroutine SplitNumbers

end module wavefile_m
