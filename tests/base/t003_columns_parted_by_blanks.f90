!> Tables whose columns are parted by commas or semicolons, or decimals by commas, are refused with the advice to write blanks and
!> points, by whichever reader; lines of titles with that to begin them with #. What is right, and commas that part nothing, get no such
!> advice.
program t003_columns_parted_by_blanks
  use check_m, only: Claim, Done
  use error_m, only: error_t
  use finite_fault_m, only: finite_fault_t, FaultRead
  use flat_layers_m, only: flat_layers_t, FlatLayersRead
  use keymap_m, only: keymap_t, KeymapRead
  use kinds_m, only: dp
  use layer_table_m, only: layer_table_t, LayersRead
  use materials_m, only: materials_t, MaterialsRead
  use put_m, only: Put
  use text_m, only: Str
  use wavelet_file_m, only: WavefileRead
  implicit none
  character, parameter :: lf = new_line('a'), tab = achar(9)
  character(*), parameter :: advice = 'columns are parted by blanks, not by commas or semicolons, and decimals have a point'
  character(*), parameter :: ascii = 'a blank or a minus sign there is not ASCII', remark = 'a remark begins with #'
  character(*), parameter :: cable = 'spread cable streamer first=100 interval=12.5 channels=10 depth=8'//lf

  call Table('keymap', cable//'shot 1 500 6 cable'//lf, 'shot 1 500 6 cable', [character(30) :: 'shot 1,500,6,cable', &
                                      'shot;1;500;6;cable', 'shot 1 500,0 6 cable', 'shot 1, 500, 6, cable', 'shot,1 500 6 cable'])
  call Table('list', 'list A'//lf//'1 100 5'//lf, '1 100 5', [character(30) :: '1,100,5', '1;100;5', '1 100,5 5', '1, 100, 5'])
  call Table('layers', '0 1500 0 1000'//lf//'100 2000 900 2000'//lf, '100 2000 900 2000', &
             [character(30) :: '100,2000,900,2000', '100; 2000; 900; 2000', '100 2000 900,5 2000', '100,'//tab//'2000 900 2000'])
  call Table('top', 'lake -20'//lf//'rock "40 - min(x, y)" 10'//lf, 'rock "40 - min(x, y)" 10', &
             [character(30) :: 'rock,40,10', 'rock; 40; 10', 'rock 40 10,5', 'rock 40, 10'])
  call Table('materials', 'rock 2000 900 2000'//lf//'* 2100 900 2000'//lf, '* 2100 900 2000', &
             [character(30) :: '*,2100,900,2000', '* 2100; 900; 2000', '* 2100 900 2000,5'])
  call Table('materials', 'block vp vs rho'//lf//'* 2100 900 2000'//lf, 'block vp vs rho', [character(30) :: 'block,vp,vs,rho', &
                                                                                           'block; vp; vs; rho'])
  call Table('wavelet', '0 1'//lf//'0.001 2'//lf//'0.002 3'//lf//'0.003 1'//lf, '0.001 2', [character(30) :: '0.001,2', &
                                                                                     '0.001;2', '0,001 2', '0.001, 2'])
  call Table('fault', 'dc 0 0 1000 10 80 20 1e15 0 0.1 2 1 1'//lf, 'dc 0 0 1000 10 80 20 1e15 0 0.1 2 1 1', &
             [character(60) :: 'dc,0,0,1000,10,80,20,1e15,0,0.1,2,1,1', 'dc 0 0 1000 10 80 20 1e15 0 0,1 2 1 1'])
  call Table('layers', '0 1500 0 1000'//lf//'100 2000 900 2000'//lf, '100 2000 900 2000', &
             [character(40) :: '100 2000 900'//char(194)//char(160)//'2000', char(226)//char(136)//char(146)//'100 2000 900 2000'], ascii)
  call Table('wavelet', '0 1'//lf//'0.001 2'//lf//'0.002 3'//lf//'0.003 1'//lf, '0.001 2', &
             [character(40) :: '0.001 '//char(226)//char(128)//char(147)//'2'], ascii)
  call Table('keymap', cable//'shot 1 500 6 cable'//lf, 'shot 1 500 6 cable', [character(40) :: 'shot 1 500 6 cable ! first', &
                                                                               '% shots', '// shots'], remark)
  call Table('materials', 'rock 2000 900 2000'//lf//'* 2100 900 2000'//lf, '* 2100 900 2000', &
             [character(40) :: '* 2100 900 2000 !water', '!rest'], remark)
  call Titled('layers', 'top vp vs rho'//lf//'0 1500 0 1000'//lf)
  call Titled('wavelet', 'time value'//lf//'0 1'//lf//'0.001 2'//lf)
  call Titled('materials', 'name vp vs rho'//lf//'* 2100 900 2000'//lf)
  call Titled('list', 'list A'//lf//'channel x z'//lf//'1 100 5'//lf)
  call Plain('keymap', cable//'shot 1 500 6 "ca,ble"'//lf, 'a comma in a quoted name')
  call Plain('keymap', cable//'shot 1 500 6 cabel   # 1,2;3'//lf, 'a comma in a comment')
  call Plain('top', 'lake -20'//lf//'rock min(x,z)'//lf, 'a comma between brackets')
  call Plain('keymap', cable//'shot 1 -5e9 6 ca,ble'//lf, 'a comma in a name')
  call Plain('keymap', cable//'spread node;7 streamer first=1e30 interval=12.5 channels=10 depth=8'//lf, 'a semicolon in a name')
  call LongLine('a word of a million characters', 'shot '//repeat('1,', 500000))
  call LongLine('300000 words, each at fault', 'skip '//repeat('7, ', 300000))
  call Plain('materials', 'rock,hard 2000 900 soft'//lf//'* 2100 900 2000'//lf, 'a comma in the name of a material')
  call Done()

contains

  !> Claims that the reader takes `text` and refuses it with `line` written as each of `wrong`, with the advice or `other` one.
  subroutine Table(reader, text, line, wrong, other)
    character(*), intent(in) :: reader, text, line, wrong(:)
    character(*), intent(in), optional :: other
    type(error_t), allocatable :: error
    character(:), allocatable :: words
    integer :: i, p
    words = advice
    if (present(other)) words = other
    call Read(reader, text, error)
    call Claim(.not. allocated(error), reader//': the right table is taken')
    p = index(text, line)
    do i = 1, size(wrong)
      call Read(reader, text(:p - 1)//trim(wrong(i))//text(p + len(line):), error)
      if (.not. allocated(error)) allocate (error, source=error_t('nothing, it was taken'))
      call Claim(index(error%message, words) > 0, reader//': "'//trim(wrong(i))//'" is told: '//error%message)
    end do
  end subroutine Table

  !> Claims that a line of titles is told how it is written.
  subroutine Titled(reader, text)
    character(*), intent(in) :: reader, text
    type(error_t), allocatable :: error
    call Read(reader, text, error)
    if (.not. allocated(error)) allocate (error, source=error_t('nothing, it was taken'))
    call Claim(index(error%message, 'a line of titles begins with #') > 0, reader//': a line of titles is told: '//error%message)
  end subroutine Titled

  !> Claims that `text` is refused without the advice.
  subroutine Plain(reader, text, what)
    character(*), intent(in) :: reader, text, what
    type(error_t), allocatable :: error
    call Read(reader, text, error)
    if (.not. allocated(error)) allocate (error, source=error_t(advice))
    call Claim(index(error%message, advice) == 0, what//' gets no advice: '//error%message)
  end subroutine Plain

  !> Claims that a key-map's `line` of a million characters is refused in time, as to copy it for each character is not.
  subroutine LongLine(what, line)
    character(*), intent(in) :: what, line
    type(error_t), allocatable :: error
    real :: begun, ended                      ! of this process alone, whatever else the machine does
    call cpu_time(begun)
    call Read('keymap', cable//'shot 1 500 6 cable'//lf//line//lf, error)
    call cpu_time(ended)
    if (.not. allocated(error)) allocate (error, source=error_t('nothing, it was taken'))
    call Claim(index(error%message, advice) > 0 .and. ended - begun < 5, what//': refused with the advice after '// &
               Str(real(ended - begun, dp))//' s (up to 5): '//error%message(:min(len(error%message), 200)))
  end subroutine LongLine

  subroutine Read(reader, text, error)
    character(*), intent(in) :: reader, text
    type(error_t), allocatable, intent(out) :: error
    type(keymap_t) :: keymap
    type(flat_layers_t) :: layers
    type(layer_table_t) :: tops
    type(materials_t) :: materials
    type(finite_fault_t) :: fault
    real(dp), allocatable :: samples(:)
    real(dp) :: t0, dt
    call Put('table.txt', text)
    select case (reader)
    case ('keymap')
      call KeymapRead(keymap, 'table.txt', error)
    case ('list')
      call Put('list.keymap', 'lists table.txt'//lf//'shot 1 500 6 A'//lf)
      call KeymapRead(keymap, 'list.keymap', error)
    case ('layers')
      call FlatLayersRead('table.txt', layers, error)
    case ('top')
      call LayersRead('table.txt', tops, error)
    case ('materials')
      call MaterialsRead('table.txt', materials, error, z_up=.false.)
    case ('wavelet')
      call WavefileRead('table.txt', 0.0_dp, samples, t0, dt, error)
    case ('fault')
      call FaultRead('table.txt', [0.0_dp, 0.0_dp], 0.0_dp, fault, error)
    end select
  end subroutine Read

end program t003_columns_parted_by_blanks
