!> The memory of a machine, as far as a process may use it, and the sentences when a survey is too large for it.
program t413_memory
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use error_m, only: error_t
  use host_c, only: host_memory
  use kinds_m, only: i8
  use memory_need_m, only: memory_t, MemoryCheck
  use node_memory_m, only: node_t
  use text_m, only: CString, Str
  implicit none
  integer(i8), parameter :: GB = 1000000000_i8
  character(*), parameter :: lf = new_line('a')
  integer :: roots = 0

  call Machine()
  call Groups()
  call Sentences()
  call Done()

contains

  subroutine Machine()
    integer(i8) :: total, available
    call host_memory(CString(''), total, available)
    call Claim(total > GB/8 .and. available > 0 .and. available <= total, 'this machine: '//Str(available/1000000)//' of '// &
               Str(total/1000000)//' MB are available')
    call host_memory(CString('nowhere'), total, available)
    call Claim(total == 0 .and. available == 0, 'a system that does not say: 0 of 0')
  end subroutine Machine

  !> Control groups, from files as the system writes them: 8000 MiB of memory, 6000 MiB available.
  subroutine Groups()
    integer, parameter :: V1 = 1, V2 = 2
    call Expect(V2, '', '', '', '', 8000, 6000, 'no limit')
    call Expect(V2, 'max', '700', '100', '', 8000, 6000, 'limit "max"')
    call Expect(V2, '4000', '1000', '300', '', 4000, 3300, 'limit 4000, used 1000, of it 300 droppable')
    call Expect(V2, '4000', '4100', '0', '', 4000, 0, 'used beyond its limit')
    call Expect(V2, '7000', '100', '0', '', 7000, 6000, 'more left in the group than on the machine')
    call Expect(V2, 'max', '10', '0', '2000', 2000, 2000, 'the limit of the group above')
    call Expect(V1, '4000', '1000', '300', '', 4000, 3300, 'version 1, limit 4000')
    call Expect(V1, '8796093022207', '1000', '300', '', 8000, 6000, 'version 1, limit so large that it is none')
  end subroutine Groups

  !> Makes the files of a group `job/step` (limit, used, droppable in MiB; limit of `job` in above) and looks at them.
  subroutine Expect(version, limit, used, cache, above, total_MiB, available_MiB, sentence)
    integer, intent(in) :: version, total_MiB, available_MiB
    character(*), intent(in) :: limit, used, cache, above, sentence
    character(:), allocatable :: root, group, words
    character(*), parameter :: limits(2) = [character(21) :: 'memory.limit_in_bytes', 'memory.max'], &
                               usages(2) = [character(21) :: 'memory.usage_in_bytes', 'memory.current'], &
                               caches(2) = [character(20) :: 'total_inactive_file', 'inactive_file']
    integer(i8) :: total, available
    roots = roots + 1
    root = 'root'//Str(roots)
    group = root//'/sys/fs/cgroup'//trim(merge('/memory', '       ', version == 1))//'/job'
    call Put(root//'/proc', 'meminfo', 'MemTotal: 8192000 kB'//lf//'MemFree:  1 kB'//lf//'MemAvailable:    6144000 kB')
    words = merge('4:memory:/job/step', '0::/job/step      ', version == 1)
    call Put(root//'/proc/self', 'cgroup', '5:cpuset:/other'//lf//trim(words))
    if (limit /= '') then
      call Put(group//'/step', trim(limits(version)), Bytes(limit))
      call Put(group//'/step', trim(usages(version)), Bytes(used))
      call Put(group//'/step', 'memory.stat', 'anon 5'//lf//trim(caches(version))//' '//Bytes(cache))
    end if
    if (above /= '') call Put(group, trim(limits(version)), Bytes(above))
    call host_memory(CString(root), total, available)
    call Claim(total == total_MiB*1048576_i8 .and. available == available_MiB*1048576_i8, sentence//': '// &
               Str(available/1048576)//' of '//Str(total/1048576)//' MiB, must be '//Str(available_MiB)//' of '//Str(total_MiB))
  end subroutine Expect

  function Bytes(MiB) result(s)
    character(*), intent(in) :: MiB
    character(:), allocatable :: s
    integer(i8) :: n
    s = MiB
    if (s == 'max') return
    read (MiB, *) n
    s = Str(n*1048576)
  end function Bytes

  subroutine Put(folder, name, text)
    character(*), intent(in) :: folder, name, text
    integer :: unit
    call execute_command_line('mkdir -p '//folder)
    open (newunit=unit, file=folder//'/'//name, status='replace', action='write')
    write (unit, '(a)') text
    close (unit)
  end subroutine Put

  subroutine Sentences()
    type(error_t), allocatable :: error
    type(memory_t) :: memory
    type(node_t) :: nodes(2)
    character(:), allocatable :: warning
    memory = memory_t(worker=2.0d9, master=5.0d8, record=1007, grid='5000 x 4000 cells')
    nodes = [node_t('alpha', 3, .true., 16*GB, 7*GB), node_t('beta', 4, .false., 16*GB, 8*GB)]
    call MemoryCheck(memory, nodes, warning, error)
    call ClaimFine(error, 'two nodes with room')
    call Claim(warning == '', 'no warning where 6.5 of 7 and 8 of 8 GB are needed')
    nodes(1)%available = 6*GB
    call MemoryCheck(memory, nodes, warning, error)
    call Claim(index(warning, '3 worker(s) on alpha need 6.5 GB, 2 GB each (shot record 1007, 5000 x 4000 cells), but 6 GB') == 1 &
               .and. index(warning, 'fewer ranks') > 0 .and. index(warning, 'beta') == 0, 'a node too full: '//warning)
    call ClaimFine(error, 'which is no error')
    nodes(2)%available = 7*GB
    call MemoryCheck(memory, nodes, warning, error)
    call Claim(index(warning, lf//'4 worker(s) on beta need 8 GB') > 0, 'two nodes too full: a line each')
    nodes(2)%total = 19*GB/10
    call MemoryCheck(memory, nodes, warning, error)
    call ClaimFails(error, 'one worker needs 2 GB (shot record 1007, 5000 x 4000 cells), but beta has 1.9 GB', 'one rank too large')
    nodes(2) = node_t('beta', 400)
    call MemoryCheck(memory, nodes, warning, error)
    call Claim(index(warning, 'beta') == 0, 'a node that does not say how much it has is not judged')
    call ClaimFine(error, 'nor refused')
    nodes(1)%total = GB/4
    nodes(1)%workers = 0
    call MemoryCheck(memory, nodes, warning, error)
    call ClaimFails(error, 'rank 0 needs 500 MB', 'rank 0 too large')
  end subroutine Sentences

end program t413_memory
