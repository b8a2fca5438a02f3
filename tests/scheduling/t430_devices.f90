!> Assignment of GPUs to ranks, the number of shots that a rank models at once, and the words for all ranks of a job.
program t430_devices
  use check_m, only: Claim, Done
  use gpu_assignment_m, only: GpusAssign, GpusNumber, id_length
  use shots_per_gpu_m, only: ShotsAtOnce, ShotsComputing
  use fd2d_variants_m, only: fd2d_variants
  use kinds_m, only: dp
  use rank_map_m, only: RankMap, RankWarnings, rank_info_t
  use text_m, only: Str
  implicit none
  character(id_length), parameter :: card(4) = [character(id_length) :: '0000:04:00.0', '0000:1b:00.0', '0000:3d:00.0', &
                                                '0000:81:00.0']
  character, parameter :: nl = new_line('a')

  call Deals()
  call Parts()
  call Numbers()
  call Shots()
  call Variants()
  call Words()
  call Done()

contains

  !> Ranks of a node that see the first `seen(r)` of the cards from `from(r)` on; rank 1 is the master unless `workers` is larger.
  subroutine Expect(what, worker, from, seen, gpn, per_gpu, expected)
    character(*), intent(in) :: what
    logical, intent(in) :: worker(:)
    integer, intent(in) :: from(:), seen(:), gpn, per_gpu, expected(:)
    character(id_length) :: id(4, size(worker))
    integer :: chosen(size(worker)), r
    id = ''
    do r = 1, size(worker)
      id(:seen(r), r) = card(from(r):from(r) + seen(r) - 1)
    end do
    call GpusAssign(worker, seen, id, gpn, per_gpu, chosen)
    call Claim(all(chosen == expected), what//': '//List(chosen)//', expected '//List(expected))
  end subroutine Expect

  subroutine Deals()
    logical, parameter :: w5(5) = [.false., .true., .true., .true., .true.]
    call Expect('two of four GPUs for a master and four workers', w5, [1, 1, 1, 1, 1], [4, 4, 4, 4, 4], 2, 1, [0, 1, 2, 0, 0])
    call Expect('four GPUs asked for where two are', w5, [1, 1, 1, 1, 1], [2, 2, 2, 2, 2], 4, 1, [0, 1, 2, 0, 0])
    call Expect('no GPU', w5, [1, 1, 1, 1, 1], [0, 0, 0, 0, 0], 2, 1, [0, 0, 0, 0, 0])
    call Expect('one process alone', [.true.], [1], [4], 1, 1, [1])
    call Expect('a scheduler that shows each rank one GPU', w5, [1, 2, 3, 4, 1], [1, 1, 1, 1, 1], 3, 1, [0, 1, 1, 1, 0])
    call Expect('three ranks see the same one GPU', w5, [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], 3, 1, [0, 1, 0, 0, 0])
    call Expect('a rank that sees one GPU chooses before one that sees all', w5, [1, 1, 1, 3, 4], [4, 4, 1, 2, 1], 3, 1, &
                [0, 2, 1, 1, 0])
    call Expect('two ranks share each of two GPUs', w5, [1, 1, 1, 1, 1], [4, 4, 4, 4, 4], 2, 2, [0, 1, 2, 1, 2])
    call Expect('three ranks share one GPU', w5, [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], 1, 3, [0, 1, 1, 1, 0])
    call Expect('gpn=0', w5, [1, 1, 1, 1, 1], [4, 4, 4, 4, 4], 0, 1, [0, 0, 0, 0, 0])
    call Expect('all ranks are workers (another node than the master''s)', [.true., .true., .true.], [1, 1, 1], &
                [2, 2, 2], 1, 1, [1, 0, 0])
  end subroutine Deals

  !> Parts of a card (MIG) have its address, and a UUID each.
  subroutine Parts()
    character(*), parameter :: uuid = 'c6d4f1ef42e45de391c745d71c87eb3'
    character(id_length) :: id(1, 4)
    integer :: chosen(4)
    id(1, :) = [character(id_length) :: '', '0000:04:00.0 '//uuid//'f', '0000:04:00.0 '//uuid//'0', '0000:04:00.0 '//uuid//'f']
    call GpusAssign([.false., .true., .true., .true.], [0, 1, 1, 1], id, 3, 1, chosen)
    call Claim(all(chosen == [0, 1, 1, 0]) .and. GpusNumber([0, 1, 1, 1], id, id(1, 2)) == 1, 'ranks that see two parts of one '// &
               'card take one each, the third none: '//List(chosen))
  end subroutine Parts

  subroutine Numbers()
    character(id_length) :: id(2, 3)
    id = reshape([card(4), card(1), card(2), repeat(' ', id_length), card(4), repeat(' ', id_length)], [2, 3])
    call Claim(GpusNumber([2, 1, 1], id, card(1)) == 0 .and. GpusNumber([2, 1, 1], id, card(2)) == 1 .and. &
               GpusNumber([2, 1, 1], id, card(4)) == 2, 'cards of a node are numbered by their address, whatever ranks call them')
  end subroutine Numbers

  subroutine Shots()
    real(dp), parameter :: gb = 1.0e9_dp, busy = 2.0e6_dp
    call One('a grid that fills the GPU', 0, 16.0e6_dp, 0.7*gb, 130*gb, 2)
    call One('a quarter of what fills it', 0, 4.0e6_dp, 0.2*gb, 130*gb, 5)
    call One('a very small grid', 0, 1.0e4_dp, 1.0e6_dp, 130*gb, 16)
    call One('asked for', 7, 1.0e6_dp, 0.1*gb, 130*gb, 7)
    call One('asked for more than fit', 64, 16.0e6_dp, 3*gb, 10*gb, 3)
    call One('one fits, two do not', 0, 400.0e6_dp, 12*gb, 20*gb, 1)
    call One('larger than the GPU', 0, 1600.0e6_dp, 48*gb, 40*gb, 0)
    call One('larger than the GPU, but asked for', 1, 1600.0e6_dp, 48*gb, 40*gb, 0)
    call Claim(all([ShotsComputing(0, busy, 5.6e5_dp, 16), ShotsComputing(0, busy, 2.1e6_dp, 8), &
                    ShotsComputing(0, busy, 1.0e4_dp, 16), ShotsComputing(0, busy, 16.0e6_dp, 1), &
                    ShotsComputing(9, busy, 2.1e6_dp, 9), ShotsComputing(0, 1.6e7_dp, 1.0e6_dp, 16)] == [4, 2, 16, 1, 9, 16]), &
               'of 16 shots of half a million cells 4 compute where two million stay in a cache, of 8 of two million 2, all of 16 '// &
               'tiny ones, the only one, and all that were asked for; of 16 of a million all where no cache counts')
  end subroutine Shots

  subroutine One(what, asked, cells, need, room, expected)
    character(*), intent(in) :: what
    integer, intent(in) :: asked, expected
    real(dp), intent(in) :: cells, need, room
    integer :: n
    n = ShotsAtOnce(asked, cells, need, room)
    call Claim(n == expected, what//' ('//Str(1.0e-6_dp*cells, 3)//' Mcells, '//Str(1.0e-9_dp*need, 3)//' of '// &
               Str(1.0e-9_dp*room, 3)//' GB): '//Str(n)//' shot(s) at once, expected '//Str(expected))
  end subroutine One

  subroutine Variants()
    call Said('auto on a GPU', fd2d_variants%for_rank('auto', .true.), 'tuned')
    call Said('auto on CPU cores', fd2d_variants%for_rank('auto', .false.), 'cpu')
    call Said('global on a GPU', fd2d_variants%for_rank('global', .true.), 'global')
    call Said('global on CPU cores', fd2d_variants%for_rank('global', .false.), 'cpu')
    call Said('fortran on CPU cores', fd2d_variants%for_rank('fortran', .false.), 'fortran')
  end subroutine Variants

  subroutine Words()
    type(rank_info_t) :: node(0:4), eleven(0:10)
    type(rank_info_t), allocatable :: many(:)
    integer :: i
    eleven%host = 'node03'
    eleven([1, 2, 3, 7, 9, 10])%worker = .true.
    call Said('numbers in rising order', RankMap(eleven), 'node03: rank 0 deals shots and writes files, '// &
              'ranks 1-3, 7, 9-10 on CPU, 1 thread each, ranks 4-6, 8 idle')
    eleven([1, 2, 3])%gpu = [0, 0, 1]
    eleven([7, 9, 10])%worker = .false.
    call Said('the same number', RankMap(eleven(:3)), 'node03: rank 0 deals shots and writes files, ranks 1-3 on GPU 0-1 ()')
    node%host = 'node03'
    node(1:)%worker = .true.
    node(1:2)%gpu = [0, 1]
    node(1:2)%gpu_name = 'NVIDIA H200'
    node%threads = 2
    call Said('a node with GPUs and CPU ranks', RankMap(node), 'node03: rank 0 deals shots and writes files, ranks 1-2 on GPU '// &
              '0-1 (NVIDIA H200), ranks 3-4 on CPU, 2 threads each')
    node%candidate = node%worker
    call Said('too few GPUs', RankWarnings(node, 4), 'node03 has 2 GPU(s) for this job, gpn = 4 asks for more: ranks 3-4 on CPU '// &
              'cores instead')
    node(3:)%candidate = .false.
    call Said('enough GPUs', RankWarnings(node, 2), '')
    node(0:0) = rank_info_t('desk', .true., .true., 0, 'NVIDIA H200', 1)
    call Said('one process alone', RankMap(node(0:0)), 'desk: rank 0 on GPU 0 (NVIDIA H200)')
    allocate (many(0:40))
    do i = 0, 40
      many(i) = rank_info_t('n'//Str(100 + (i + 3)/4), i > 0, .false., merge(0, -1, mod(i, 4) == 1), &
                          merge('GPU X', '     ', mod(i, 4) == 1), 3)
    end do
    call Said('many hosts', RankMap(many), 'n100: rank 0 deals shots and writes files'//nl// &
              '10 hosts, n101 .. n110, each: 1 rank on GPU 0 (GPU X), 3 ranks on CPU, 3 threads each')
  end subroutine Words

  subroutine Said(what, text, expected)
    character(*), intent(in) :: what, text, expected
    if (text == expected .and. len(text) == len(expected)) then
      call Claim(.true., what//': '//text(:min(len(text), 100)))
    else
      call Claim(.false., what//': "'//text//'", expected "'//expected//'"')
    end if
  end subroutine Said

  function List(n) result(text)
    integer, intent(in) :: n(:)
    character(:), allocatable :: text
    integer :: i
    text = ''
    do i = 1, size(n)
      text = text//' '//Str(n(i))
    end do
  end function List

end program t430_devices
