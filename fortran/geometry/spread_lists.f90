!> Reads files of receiver lists. Arguments stand in spread.f90.
submodule(spread_m) spread_lists
  use error_m, only: error_t
  use keymap_line_m, only: mapline_t, FaultHere, MaplineRead, MaplineWord, QuoteEnds, RealWord, WholeWord
  use problems_m, only: ProblemAdd
  use receiver_navigation_m, only: ReceiverPut
  use sort_m, only: SortOrder
  use text_m, only: Lower, Str
  use textfile_m, only: Shown, TextLine, TextOpen, TextWord, TitleAdvice
  implicit none

contains

  module procedure SpreadLists
    type(mapline_t) :: line
    integer :: before
    before = problems%n
    call MaplineRead(line, file, problems)
    if (line%nwords /= 1 .or. line%nkeys > 0) then
      call FaultHere(problems, file, 'the file of receiver lists is written: lists FILE (in quotes if it has blanks or =)')
    else
      call ReadListFile(spreads, MaplineWord(line, file, 1), '', file, problems)
    end if
    spreads%incomplete = spreads%incomplete .or. problems%n > before
  end procedure SpreadLists

  module procedure ReadListFile
    type(textfile_t) :: file
    type(error_t), allocatable :: error
    character(:), allocatable :: path
    integer :: word(2), current, nlists, before
    path = name_of_file
    if (index(path, '/') /= 1) path = map%path(:index(map%path, '/', back=.true.))//path
    call Remember(spreads, path)
    call TextOpen(file, path, 'receiver list', error)
    if (allocated(error)) then
      call FaultHere(problems, map, error%message)
      return
    end if
    spreads%longest = max(spreads%longest, len(file%text))
    before = problems%n
    nlists = 0
    current = 0
    do while (TextLine(file))
      if (.not. TextWord(file, word(1), word(2))) cycle
      if (Lower(file%text(word(1):word(2))) == 'list') then
        call EndList(spreads, current, problems)
        call NextList(spreads, only, file, current, problems)
        nlists = nlists + 1
      else
        if (nlists == 0) then                 ! a file of bare rows is the one list asked for
          if (only == '') then
            call FaultHere(problems, file, 'receivers before the first line "list NAME": whose are they?')
            return
          end if
          nlists = 1
          current = Number(spreads, only)
          call BeginList(spreads, current, file)
        end if
        call ReadReceiver(spreads, current, file, word, problems)
      end if
    end do
    call EndList(spreads, current, problems)
    if (problems%n > before) return
    if (nlists == 0) then
      call ProblemAdd(problems, path, 0, 'holds no receivers: lines "list NAME", then "channel x z [y]"')
    else if (only /= '') then
      if (spreads%item(Number(spreads, only))%kind == is_faulty) &
        call FaultHere(problems, map, 'no list '//Shown(only)//' in '//path// &
                       ': its lists have other names, give the spread one of these')
    end if
  end procedure ReadListFile

  !> One more file of lists. Not by an array constructor: gfortran leaves what that holds of allocatable parts behind.
  subroutine Remember(spreads, path)
    type(spreads_t), intent(inout) :: spreads
    character(*), intent(in) :: path
    type(path_t), allocatable :: files(:)
    integer :: n
    n = 0
    if (allocated(spreads%files)) n = size(spreads%files)
    allocate (files(n + 1))
    if (n > 0) files(:n) = spreads%files
    files(n + 1)%path = path
    call move_alloc(files, spreads%files)
  end subroutine Remember

  !> Begins the list of a line "list NAME": its number goes to `current`, 0 if it is not wanted or faulty.
  subroutine NextList(spreads, only, file, current, problems)
    type(spreads_t), intent(inout) :: spreads
    character(*), intent(in) :: only
    type(textfile_t), intent(inout) :: file
    integer, intent(out) :: current
    type(problems_t), intent(inout) :: problems
    character(:), allocatable :: name
    current = 0
    call ListName(file, name, problems)
    if (only == '') then
      current = Define(spreads, name, file, problems)
    else if (name == only) then
      current = Number(spreads, only)
      if (spreads%item(current)%kind == is_list) then
        call FaultHere(problems, file, 'list '//Shown(name)//' stands in this file twice')
        current = 0
      end if
    end if
    if (current > 0) call BeginList(spreads, current, file)
  end subroutine NextList

  !> The name in a line "list NAME".
  subroutine ListName(file, name, problems)
    type(textfile_t), intent(inout) :: file
    character(:), allocatable, intent(out) :: name
    type(problems_t), intent(inout) :: problems
    integer :: first, last
    name = ''
    if (TextWord(file, first, last)) name = file%text(first:last)
    call QuoteEnds(file, [first, last], problems)
    if (TextWord(file, first, last)) &
      call FaultHere(problems, file, 'unexpected word '//Shown(file%text(first:last))//' after list NAME')
  end subroutine ListName

  subroutine BeginList(spreads, i, file)
    type(spreads_t), intent(inout) :: spreads
    integer, intent(in) :: i
    type(textfile_t), intent(in) :: file
    associate (s => spreads%item(i))
      s%kind = is_list
      s%start = spreads%npool
      s%n = 0
      s%line = file%line
      s%path = file%path
    end associate
  end subroutine BeginList

  !> Checks the list that ends here: not empty, no channel twice.
  subroutine EndList(spreads, i, problems)
    type(spreads_t), intent(inout) :: spreads
    integer, intent(in) :: i
    type(problems_t), intent(inout) :: problems
    integer, allocatable :: channels(:), order(:)
    character(:), allocatable :: name
    integer :: j, n
    if (i == 0) return
    name = trim(spreads%names%name(i))
    n = spreads%item(i)%n
    if (n == 0) then
      call ProblemAdd(problems, spreads%item(i)%path, spreads%item(i)%line, 'list '//Shown(name)//' has no receivers')
      return
    else if (n > channels_max) then
      call ProblemAdd(problems, spreads%item(i)%path, spreads%item(i)%line, 'list '//Shown(name)//' has '//Str(n)// &
                    ' receivers, at most '//Str(channels_max)//': split it, and its shots')
      return
    end if
    channels = spreads%channel(spreads%item(i)%start + 1:spreads%item(i)%start + n)
    if (all(channels(2:) > channels(:n - 1)) .or. all(channels(2:) < channels(:n - 1))) return
    call SortOrder(channels, order)
    do j = 2, n
      if (channels(order(j)) /= channels(order(j - 1))) cycle
      call ProblemAdd(problems, spreads%item(i)%path, spreads%item(i)%line, 'list '//Shown(name)//' has channel '// &
                    Str(channels(order(j)))//' more than once')
      return
    end do
  end subroutine EndList

  !> A line "channel x z [y [e n [h [line [station]]]]]" whose first word is at `first`; list 0 is checked but not kept.
  subroutine ReadReceiver(spreads, i, file, first, problems)
    type(spreads_t), intent(inout) :: spreads
    integer, intent(in) :: i, first(2)
    type(textfile_t), intent(inout) :: file
    type(problems_t), intent(inout) :: problems
    integer, parameter :: most = 8
    real(dp) :: x(3)
    integer :: word(2), words(2, most), channel, n, before
    character(1), parameter :: names(3) = ['x', 'z', 'y']
    before = problems%n
    channel = 0
    x = 0
    if (TitleAdvice(file%text(first(1):first(2))) /= '') then
      call FaultHere(problems, file, 'channel is '//Shown(file%text(first(1):first(2)))//': a whole number is needed'// &
                     TitleAdvice(file%text(first(1):first(2))))
      return
    end if
    call WholeWord(file, first, 'channel', 1, huge(1), channel, problems)
    n = 0
    do while (TextWord(file, word(1), word(2)))
      n = n + 1
      call QuoteEnds(file, word, problems)
      if (n <= most) words(:, n) = word
      if (n <= 3) call RealWord(file, word, names(n), merge(-z_max, -x_max, n == 2), merge(z_max, x_max, n == 2), 'm', x(n), &
                                problems)
    end do
    if ((n < 2 .or. n == 4 .or. n > most) .and. problems%n == before) &
      call FaultHere(problems, file, Str(n + 1)//' columns; a receiver has 3 or 4: channel x z [y], or up to 9 with '// &
                     'navigation: channel x z y e n [h [line [station]]]')
    if (i == 0) return
    call Reserve(spreads)
    spreads%npool = spreads%npool + 1
    spreads%item(i)%n = spreads%item(i)%n + 1
    spreads%channel(spreads%npool) = merge(channel, -spreads%item(i)%n, problems%n == before)   ! clashes with no other
    spreads%x(spreads%npool) = x(1)
    spreads%z(spreads%npool) = x(2)
    spreads%y(spreads%npool) = x(3)
    if (n > 4 .and. problems%n == before) &
      call ReceiverPut(spreads%navigation, spreads%npool, size(spreads%x), file, words(:, 4:n), n - 3, problems)
  end subroutine ReadReceiver

  !> Room for one more receiver of a list.
  subroutine Reserve(spreads)
    type(spreads_t), intent(inout) :: spreads
    integer, allocatable :: whole(:)
    if (.not. allocated(spreads%channel)) allocate (spreads%channel(1024), spreads%x(1024), spreads%y(1024), spreads%z(1024))
    if (spreads%npool < size(spreads%channel)) return
    call move_alloc(spreads%channel, whole)
    allocate (spreads%channel(2*size(whole)))
    spreads%channel(:size(whole)) = whole
    call GrowReal(spreads%x)
    call GrowReal(spreads%y)
    call GrowReal(spreads%z)
  end subroutine Reserve

  subroutine GrowReal(a)
    real(dp), allocatable, intent(inout) :: a(:)
    real(dp), allocatable :: old(:)
    call move_alloc(a, old)
    allocate (a(2*size(old)))
    a(:size(old)) = old
  end subroutine GrowReal

end submodule spread_lists
