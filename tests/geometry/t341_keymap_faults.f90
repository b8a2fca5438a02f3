!> A bad key-map is refused with line number, value and what to do; all its faults come at once.
program t341_keymap_faults
  use check_m, only: Claim, ClaimFails, Done
  use error_m, only: error_t
  use keymap_m, only: keymap_t, KeymapRead
  use put_m, only: Put
  use text_m, only: Str
  implicit none
  character, parameter :: lf = new_line('a')
  character(*), parameter :: cable = 'spread cable streamer first=100 interval=12.5 channels=10 depth=8'//lf
  character(*), parameter :: shot = 'shot 1 5000 6 cable'//lf
  type(error_t), allocatable :: error
  integer :: nbad = 0

  call Files()
  call ShotLines()
  call ShotsLines()
  call SpreadLines()
  call ListFiles()
  call Skips()
  call AllAtOnce()
  call Claim(nbad >= 60, Str(nbad)//' distinct bad maps were refused')
  call Done()

contains

  subroutine Files()
    call BadPath('', 'no key-map given', 'no name')
    call BadPath('nosuch.keymap', 'No such file', 'a missing file')
    call BadPath('.', 'is a folder', 'a folder')
    call Bad('', 'is empty', 'an empty file')
    call Bad('# only a comment'//lf//lf, 'has no shots', 'a file of comments')
    call Bad(cable, 'has no shots', 'a spread but no shot')
    call Bad('CDF'//char(5)//char(0)//char(0), 'is not plain text', 'a NetCDF file')
    call Bad(char(255)//char(254)//'s'//char(0)//'h'//char(0), 'is not plain text', 'a UTF-16 file')
    call Bad(cable//'shot 1 5000 6 cable skip'//lf, 'is marked skip: nothing is left', 'nothing to do')
    call Bad('sht 1 5000 6 cable'//lf//cable//shot, 'did you mean shot', 'a misspelt first word')
    call Bad('list A'//lf//'1 5000 6'//lf, 'the key-map names it: lists FILE', 'a file of receiver lists')
    call Bad('1 5000 6 cable'//lf, 'line 1: unknown word ''1''', 'a line without its first word')
    call Bad(repeat('x', 200000)//lf//cable//shot, '(200000 characters)', 'a word of 200,000 characters')
    call Bad(cable//'shot 1 5000 6 "cable'//lf, 'is never closed', 'an open quote')
    call Bad(cable//'shot 1 5000 6 x'//repeat(char(195)//char(169), 30)//lf, repeat(char(195)//char(169), 19)//'...', &
             'a name that is shown in part, of whole letters')
  end subroutine Files

  subroutine ShotLines()
    call Bad(cable//'shot 1 5000 6 cabel'//lf, 'line 2: unknown spread ''cabel'': did you mean cable?', 'an unknown spread')
    call Bad('shot 1 5000 6 cable'//lf//'shot 2 5000 6 cable'//lf, '(in 2 lines): define it', 'no spread at all')
    call Bad(cable//shot//'shot 1 6000 6 cable'//lf, 'line 3: record 1 is in line 2 already', 'a record twice')
    call Bad(cable//'shot 1 5O00 6 cable'//lf, 'sx is ''5O00''', 'a letter in a number')
    call Bad(cable//'shot 1 5000,0 6 cable'//lf, 'finite decimal number', 'a decimal comma')
    call Bad(cable//'shot 1 nan 6 cable'//lf, 'sx is ''nan''', 'not a number')
    call Bad(cable//'shot 1 5000 Infinity cable'//lf, 'sz is ''Infinity''', 'an infinite depth')
    call Bad(cable//'shot 1 1e9 6 cable'//lf, 'sx = 1e9 is out of range', 'a source a million km away')
    call Bad(cable//'shot 1 5000 1e290 cable'//lf, 'sz = 1e290 is out of range', 'a depth of 1e290 m')
    call Bad(cable//'shot 1 1e999 6 cable'//lf, 'sx is ''1e999''', 'a number that overflows')
    call Bad(cable//'shot 1 5000 cable'//lf, '3 column(s) after the word shot', 'a missing column')
    call Bad(cable//'shot'//lf, '0 column(s) after the word shot', 'nothing after shot')
    call Bad(cable//'shot 1 5000 6 cable todo 7'//lf, '6 column(s) after the word shot', 'a column too many')
    call Bad(cable//'shot 1 5000 6 cable done'//lf, 'unknown status ''done''', 'an unknown status')
    call Bad(cable//'shot 0 5000 6 cable'//lf, 'record = 0 is out of range 1..2147483647', 'record 0')
    call Bad(cable//'shot -5 5000 6 cable'//lf, 'record = -5', 'a negative record')
    call Bad(cable//'shot 2147483648 5000 6 cable'//lf, 'record = 2147483648 is out of range', 'record 2**31')
    call Bad(cable//'shot 99999999999999999999999 0 6 cable'//lf, 'is out of range', 'a record of 23 digits')
    call Bad(cable//'shot 1.5 5000 6 cable'//lf, 'a whole number is needed', 'record 1.5')
    call Bad(cable//'shot 1 5000 6 cable x=3'//lf, 'unknown word ''x''', 'an unknown key')
    call Bad(cable//'shot 1 5000 6 cable y='//lf, 'a value is missing after y=', 'a key without value')
    call Bad(cable//'shot 1 5000 6 cable y=""'//lf, 'y is '''': a finite decimal number', 'a value of two quotes')
    call Bad('spread '//repeat('n', 64)//' fixed x0=0 interval=25 channels=4 depth=5'//lf//'shot 1 5000 6 '//repeat('n', 65)//lf, &
             'line 2: the name', 'a longer name than that of the spread')
    call Bad(cable//'shot 1 5000 6 cable y=1 y=2'//lf, 'y= is given twice', 'a key twice')
    call Bad(cable//'shot 1 5000 6 cable 1 2 3 4 5 6 7 8 9 10 11 12 13'//lf, 'more than 16 words', 'two lines in one')
  end subroutine ShotLines

  subroutine ShotsLines()
    character(*), parameter :: rest = ' x0=0 dx=25 z=6 spread=cable'//lf
    call Bad(cable//'shots n=10'//rest, 'first_record= is missing', 'no first record')
    call Bad(cable//'shots first_record=1 n=0'//rest, 'n = 0 is out of range', 'no shots')
    call Bad(cable//'shots first_record=1 n=-3'//rest, 'n = -3 is out of range', 'minus three shots')
    call Bad(cable//'shots first_record=1 n=99999999999'//rest, 'is out of range 1..1000000', 'a hundred thousand million shots')
    call Bad(cable//'shots first_record=2147483600 n=100'//rest, 'the last record would be 2147483699', 'records beyond the limit')
    call Bad(cable//'shots first_record=1 n=10 x0=0 dx=0 z=6 spread=cable'//lf, 'dx = 0', 'ten shots in one place')
    call Bad(cable//'shots first_record=1 n=1000 x0=0 dx=1e6 z=6 spread=cable'//lf, 'the last shot would be at', &
        'a line to the moon')
    call Bad(cable//'shots frist_record=1 n=10'//rest, 'did you mean first_record=?', 'a misspelt key')
    call Bad(cable//'shots first_record=1 n=5'//rest//'shot 3 0 6 cable'//lf, 'line 3: record 3 is in line 2 already', 'an overlap')
    call Bad(cable//'shots first_record=1 n=5 step=0'//rest, 'step = 0 is out of range', 'step 0')
    call Bad(cable//'shots 7 first_record=1 n=5'//rest, 'unknown status ''7''', 'a bare word')
    call Bad(cable//'shots first_record=1 n=5 x0=0 dx=25 z=6 spread='//lf, 'a value is missing after spread=', 'an empty spread')
    call Bad(cable//repeat('shots first_record=1 n=600000 x0=0 dx=1 z=6 spread=cable'//lf, 2), 'more than 1000000 shots', &
        'too many shots')
    call Bad(cable//'shots first_record=1 n=1000000 x0=0 dx=1 z=6 spread=cable'//lf//'shot 2000000 0 6 cable'//lf, &
             'has 1000001 shots, at most 1000000', 'one shot too many')
  end subroutine ShotsLines

  subroutine SpreadLines()
    call Bad(cable//cable//shot, 'line 2: spread ''cable'' is defined already', 'a spread twice')
    call Bad('spread'//lf//shot, 'a name is missing', 'a spread without name')
    call Bad('spread cable'//lf//shot, 'needs a kind', 'a spread without kind')
    call Bad('spread cable steamer first=1'//lf//shot, 'did you mean streamer', 'a misspelt kind')
    call Bad('spread cable streamer first=1 interval=0 channels=4 depth=8'//lf//shot, 'interval = 0 is out of range', 'interval 0')
    call Bad('spread cable streamer first=1 interval=-5 channels=4 depth=8'//lf//shot, 'interval = -5', 'a negative interval')
    call Bad('spread cable streamer first=1 interval=5 channels=0 depth=8'//lf//shot, 'channels = 0', 'no channels')
    call Bad('spread cable streamer first=1 interval=5 channels=-4 depth=8'//lf//shot, 'channels = -4', 'minus four channels')
    call Bad('spread cable streamer first=1 interval=5 channels=4294967297 depth=8'//lf//shot, 'channels = 4294967297 is out', &
        '2**32 + 1 channels')
    call Bad('spread cable streamer first=1 interval=5 channels=1e3 depth=8'//lf//shot, 'channels is ''1e3''', 'channels as a real')
    call Bad('spread cable streamer first=1 interval=1000 channels=1000000 depth=8'//lf//shot, 'end beyond', &
        'a streamer around the Earth')
    call Bad('spread cable streamer first=1 channels=4 depth=8'//lf//shot, 'interval= is missing', 'no interval')
    call Bad('spread cable streamer first=1 interval=5 channels=4 depht=8'//lf//shot, 'did you mean depth=?', 'a misspelt depth')
    call Bad('spread cable streamer first=1 interval=5 channels=4 depth=8 direction=0'//lf//shot, 'must be -1', 'direction 0')
    call Bad('spread cable streamer first=1 interval=5 channels=4 depth=8 direction=left'//lf//shot, 'direction is ''left''', &
        'direction left')
    call Bad('spread cable streamer first=1 interval=5 channels="" depth=8'//lf//shot, 'channels is '''': a whole number', &
             'channels of two quotes')
    call Bad('spread cable fixed x0=1 interval="" channels=4 depth=8'//lf//shot, 'interval is ''''', 'an interval of two quotes')
    call Bad('spread cable streamer 1 5 4 8'//lf//shot, 'unexpected word ''1''', 'values without names')
    call Bad('spread cable fixed x0=0 interval=25 channels=4'//lf//shot, 'depth= is missing', 'a fixed spread without depth')
    call Bad('spread cable fixed first=0 interval=25 channels=4 depth=5'//lf//shot, 'unknown word ''first'' in a fixed spread', &
             'a streamer''s word in a fixed spread')
    call Bad('spread '//repeat('n', 80)//' fixed x0=0 interval=25 channels=4 depth=5'//lf//shot, 'longer than 64', 'a long name')
  end subroutine SpreadLines

  subroutine ListFiles()
    character(*), parameter :: use = 'lists r.txt'//lf//'shot 1 0 6 a'//lf
    call Bad('lists'//lf//shot, 'lists FILE', 'lists without a file')
    call Bad('lists nosuch.txt'//lf//'shot 1 0 6 a'//lf, 'line 1: receiver list nosuch.txt cannot be opened', 'a missing list file')
    call Bad('lists .'//lf//'shot 1 0 6 a'//lf, 'is a folder', 'a folder of lists')
    call BadList(use, '# nothing'//lf, 'holds no receivers', 'a list file of comments')
    call BadList(use, '1 10 5'//lf, 'r.txt, line 1: receivers before the first line', 'a receiver of no list')
    call BadList(use, 'list a'//lf//'list b'//lf//'1 10 5'//lf, 'list ''a'' has no receivers', 'an empty list')
    call BadList(use, 'list a'//lf//'channel x z'//lf//'1 10 5'//lf//'2 20 5'//lf, 'line 2: channel is ''channel'': a whole '// &
                 'number is needed; a line of titles begins with #', 'a line of titles in a list', alone=.true.)
    call BadList(use, 'list a'//lf//'1 10 5'//lf//'2 20m 5'//lf, 'x is ''20m'': a finite decimal number is needed, in m', &
                 'a unit behind a number', alone=.true.)
    call BadList(use, 'list a'//lf//'1 10 5'//lf//lf//'x 20 5'//lf, 'r.txt, line 4: channel is ''x''', &
        'a channel that is no number')
    call BadList(use, 'list a'//lf//'1 10'//lf, '2 columns; a receiver has 3 or 4', 'a missing column of a receiver')
    call BadList(use, 'list a'//lf//'1 10 5 0 0'//lf, '5 columns', 'a column too many of a receiver')
    call BadList(use, 'list a'//lf//'0 10 5'//lf, 'channel = 0', 'channel 0')
    call BadList(use, 'list a'//lf//'1 10 -'//lf, 'z is ''-''', 'a depth that is no number')
    call BadList(use, 'list a'//lf//'1 10 5'//lf//'2 20 5'//lf//'1 30 5'//lf, 'channel 1 more than once', 'a channel twice')
    call BadList(use, 'list a'//lf//'1 10 5'//lf//'list a'//lf//'1 10 5'//lf, 'spread ''a'' is defined already', 'a list twice')
    call BadList(use, 'list a b'//lf//'1 10 5'//lf, 'unexpected word ''b'' after list NAME', 'a list of two names')
    call BadList(use, 'list "a # b'//lf//'1 10 5'//lf, 'the quote that opens at ''a # b'' is never', 'a list with an open quote')
    call BadList(use, 'list a'//lf//'1 10 5 0 9 9 1 "LINE 7 100'//lf, 'is never closed', 'a receiver with an open quote')
    call BadList(use, 'list'//lf//'1 10 5'//lf, 'a name is missing', 'a list without name')
    call BadList('spread a list r.txt'//lf//'shot 1 0 6 a'//lf, 'list b'//lf//'1 10 5'//lf, 'no list ''a'' in r.txt', &
        'a list that is not there')
    call BadList('spread a list'//lf//'shot 1 0 6 a'//lf, 'list b'//lf, 'spread NAME list FILE', 'a list without file')
    call BadList('spread a list r.txt'//lf//'shot 1 0 6 a'//lf, 'list a'//lf//'1 1 1'//lf//'list a'//lf//'1 1 1'//lf, &
                 'stands in this file twice', 'a picked list twice')
    call BadList(use, 'list a'//lf//'1 10 5'//char(0)//lf, 'is not plain text', 'a binary list')
  end subroutine ListFiles

  subroutine Skips()
    call Bad(cable//shot//'skip 2'//lf, 'line 3: skip 2: there is no such shot', 'skipping a shot that is not there')
    call Bad(cable//shot//'skip'//lf, 'skip needs record numbers', 'skip without numbers')
    call Bad(cable//shot//'redo 2'//lf, 'line 3: redo 2: there is no such shot', 'redoing a shot that is not there')
    call Bad(cable//shot//'redo'//lf, 'redo needs record numbers', 'redo without numbers')
    call Bad(cable//shot//'skip 5-2'//lf, 'the first record is above the last', 'a range backwards')
    call Bad(cable//shot//'skip one'//lf, 'record is ''one''', 'skip one')
    call Bad(cable//shot//'skip "1'//lf, 'is never closed', 'skip with an open quote')
    call Bad(cable//shot//'skip 1-'//lf, 'record is ''''', 'half a range')
  end subroutine Skips

  !> Eighty faults: fifty are shown, in one error, and thirty counted.
  subroutine AllAtOnce()
    type(keymap_t) :: map
    character(:), allocatable :: text
    integer :: i, lines
    call Put('bad.keymap', cable//repeat('shot x 0 6 cable'//lf, 80))
    call KeymapRead(map, 'bad.keymap', error)
    if (.not. allocated(error)) then
      call Claim(.false., 'eighty faults were not seen')
      return
    end if
    text = error%message
    deallocate (error)
    lines = count([(text(i:i) == lf, i=1, len(text))]) + 1
    call Claim(lines == 52 .and. index(text, '80 faults in') > 0 .and. index(text, 'bad.keymap, line 51:') > 0 .and. &
               index(text, 'and 30 more') > 0, 'eighty faults: fifty lines between a title and a count of the rest, '// &
               Str(lines)//' lines')
    call Put('bad.keymap', cable//'shot 1 0 6 cabel'//lf//'shot 1 x 6 cable'//lf//'shoot 2 0 6 cable'//lf)
    call KeymapRead(map, 'bad.keymap', error)
    call ClaimFails(error, '3 faults in', 'three kinds of faults come together')
  end subroutine AllAtOnce

  subroutine Bad(text, words, what)
    character(*), intent(in) :: text, words, what
    call Put('bad.keymap', text)
    call BadPath('bad.keymap', words, what)
  end subroutine Bad

  !> `alone`: nothing else is told.
  subroutine BadList(map, list, words, what, alone)
    character(*), intent(in) :: map, list, words, what
    logical, intent(in), optional :: alone
    type(keymap_t) :: read
    call Put('r.txt', list)
    call Bad(map, words, what)
    if (.not. present(alone)) return
    call KeymapRead(read, 'bad.keymap', error)
    if (allocated(error)) call Claim(index(error%message, 'faults in') == 0, what//' is told alone: '//error%message)
    if (allocated(error)) deallocate (error)
  end subroutine BadList

  subroutine BadPath(path, words, what)
    character(*), intent(in) :: path, words, what
    type(keymap_t) :: map
    call KeymapRead(map, path, error)
    call ClaimFails(error, words, what)
    nbad = nbad + 1
  end subroutine BadPath

end program t341_keymap_faults
