!> Fields, map and traces of the cpu variant of the 3D solver are the same bits whatever the threads, tiles, chunks, parts of a
!> step, subdomains, widths of their halos and (with fused multiply-add) instruction set. What wide subdomains cannot is refused.
program t651_fd3d_cpu_same_bits
  use, intrinsic :: iso_c_binding, only: c_associated, c_null_char, c_ptr
  use case3d_m, only: case3d_shapes, case3d_t, Case3dFields, Case3dFine, Case3dMake, Case3dNew, Case3dTraces
  use check_m, only: Claim, ClaimFails, Done
  use error_m, only: error_t, FailFromC
  use fd3d_c, only: fd3d_ahead, fd3d_cfg, fd3d_field, fd3d_halo_get, fd3d_halo_put, fd3d_halo_size, fd3d_histories, fd3d_model, &
                    fd3d_new, fd3d_pml, fd3d_quality, fd3d_set_field, fd3d_source, fd3d_sponge, fd3d_stress, fd3d_tune, fd3d_velocity
  use handle_c, only: handle_free, handle_threads, handle_timestep
  use kinds_m, only: sp
  use text_m, only: Str
  implicit none

  type :: how_t
    integer :: threads = 1, chunk = 12, steps = 0, width = 0, planes = 0
    character(8) :: isa = ''
    logical :: parts = .false.
    integer :: varied = 0                     !< other threads for each chunk, up to so many
    logical :: wide = .false.                 !< halos of pieces
  end type how_t
  integer, parameter :: steps = 12
  logical :: both(2)
  integer :: swept = 0, overlapped = 0

  call Same('1, 2, 3, 5 threads', [how_t(), how_t(threads=2), how_t(threads=3, width=5), how_t(threads=5, width=3, steps=3)])
  call Same('1 to 4 threads, others for each chunk', [how_t(), how_t(chunk=2, varied=4), how_t(4, 5, varied=3)])
  call Same('chunks of 12, 1, 5, 11 steps', [how_t(2), how_t(2, 1), how_t(2, 5), how_t(2, 11)])
  call Same('tiles of several steps, rows and planes', &
            [how_t(1, 12, 1, 1000, 1000), how_t(2, 12, 8, 4, 1), how_t(2, 12, 2, 7, 3), how_t(3, 12, 5, 1, 2)])
  call Same('steps and their halves in two parts', [how_t(2), how_t(2, parts=.true.)])
  both(1) = Has('avx2')
  both(2) = Has('avx512')
  if (all(both)) call Same('AVX2 and AVX-512', [how_t(2, isa='avx2'), how_t(2, isa='avx512')])
  call Divided([2, 1, 1])
  call Divided([1, 2, 1])
  call Divided([1, 1, 2])
  call Divided([1, 1, 3])
  call Divided([3, 2, 2])
  call Claim(swept > 0, Str(swept)//' times several steps were swept at once beside neighbours')
  call Claim(overlapped >= 20, Str(overlapped)//' cases had wide halos')
  call Refusals()
  call Done()

contains

  logical function Has(isa)
    character(*), intent(in) :: isa
    type(case3d_t) :: c
    type(c_ptr) :: h
    call Case3dMake(c, 9, 1, .false., steps)
    h = Case3dNew(c)
    Has = fd3d_tune(h, isa//c_null_char, 0, 0, 0) == 0
    call handle_free(h)
  end function Has

  !> Fields, map and traces one after the other.
  subroutine Run(c, how, all)
    type(case3d_t), intent(inout) :: c
    type(how_t), intent(in) :: how
    real(sp), allocatable, intent(out) :: all(:)
    type(c_ptr) :: h
    real(sp), allocatable :: fields(:, :, :, :), traces(:, :)
    integer :: it, part
    c%cfg%threads = how%threads
    h = Case3dNew(c)
    call Case3dFine(fd3d_tune(h, trim(how%isa)//c_null_char, how%steps, how%width, how%planes), 'tune')
    do it = 1, steps, how%chunk
      if (how%varied > 0) call Case3dFine(handle_threads(h, 1 + modulo(it*7, how%varied)), 'threads')
      if (.not. how%parts) call Case3dFine(handle_timestep(h, it, min(how%chunk, steps + 1 - it)), 'timestep')
    end do
    do it = 1, merge(steps, 0, how%parts)
      do part = 1, 2
        call Case3dFine(fd3d_velocity(h, it, part), 'velocity')
      end do
      do part = 1, 2
        call Case3dFine(fd3d_stress(h, it, part), 'stress')
      end do
    end do
    call Case3dFields(c, h, fields)
    call Case3dTraces(c, h, traces)
    call handle_free(h)
    all = [pack(fields, .true.), pack(traces, .true.)] + 0.0_sp          ! -0 and +0 are one number
  end subroutine Run

  !> All ways of running all cases give the bits of the first way.
  subroutine Same(what, ways)
    character(*), intent(in) :: what
    type(how_t), intent(in) :: ways(:)
    type(case3d_t) :: c
    real(sp), allocatable :: first(:), other(:)
    integer :: shape, way, runs, different, L
    runs = 0
    different = 0
    do shape = 1, case3d_shapes
      L = 1 + modulo(shape, 4)
      if (shape == 9) L = 2
      call Case3dMake(c, shape, L, modulo(shape, 3) == 0, steps)
      call Run(c, ways(1), first)
      do way = 2, size(ways)
        call Run(c, ways(way), other)
        runs = runs + 1
        if (any(transfer(first, [0]) /= transfer(other, [0]))) different = different + 1
      end do
    end do
    call Claim(different == 0, what//': '//Str(different)//' of '//Str(runs)//' runs differ in some bit')
  end subroutine Same

  ! --- subdomains -----------------------------------------------------------------------------------------------------------

  !> Cut into cuts(:) pieces along each axis, pieces that exchange their halos: stepped half by half, then with steps ahead, then with
  !> wide halos.
  subroutine Divided(cuts)
    integer, intent(in) :: cuts(3)
    type(how_t) :: ways(5)
    integer, parameter :: shapes(7) = [1, 2, 3, 4, 5, 11, 14]      ! the last with narrow differences along layers
    integer :: shape, L, different, runs, f, way, m
    type(case3d_t) :: c
    type(c_ptr) :: h
    real(sp), allocatable :: one(:, :, :, :), many(:, :, :, :)
    ways = [how_t(parts=.true.), how_t(), how_t(2, 5, 2, 4, 1), how_t(1, 12, 4, 3, 2), how_t(2, parts=.true., wide=.true.)]
    different = 0
    runs = 0
    do m = 1, size(shapes)
      shape = shapes(m)
      L = merge(1, 1 + modulo(shape, 4), shape == 3)
      call Case3dMake(c, shape, L, modulo(shape, 2) == 1, steps)
      if (any(c%cfg%side([1, 3, 5]) == 3 .and. cuts > 1)) cycle
      h = Case3dNew(c)
      call Case3dFine(handle_timestep(h, 1, steps), 'timestep')
      call Case3dFields(c, h, one)
      call handle_free(h)
      do way = 1, size(ways)
        if (ways(way)%wide .and. any(cuts > 1 .and. c%cfg%n/cuts < 2*L)) cycle
        call Pieces(c, cuts, ways(way), many)
        if (ways(way)%wide) overlapped = overlapped + 1
        runs = runs + 1
        do f = 0, 8
          if (any(transfer(one(:, :, :, f) + 0.0_sp, [0]) /= transfer(many(:, :, :, f) + 0.0_sp, [0]))) exit
        end do
        if (f <= 8) different = different + 1
      end do
    end do
    call Claim(runs > 0 .and. different == 0, 'cut into '//Str(cuts(1))//' x '//Str(cuts(2))//' x '//Str(cuts(3))//' pieces: '// &
               Str(different)//' of '//Str(runs)//' cases differ in some bit from the whole')
  end subroutine Divided

  subroutine Pieces(c, cuts, how, fields)
    type(case3d_t), intent(inout) :: c
    integer, intent(in) :: cuts(3)
    type(how_t), intent(in) :: how
    real(sp), allocatable, intent(out) :: fields(:, :, :, :)
    type(c_ptr) :: h(product(cuts))
    integer :: begun(product(cuts))
    integer, dimension(3, product(cuts)) :: lo, hi, from, to       ! of the cells of pieces, with margins
    integer :: place(3), m, a, it, part, f
    real(sp), allocatable :: piece(:, :, :)
    c%cfg%threads = how%threads
    begun = 0
    do m = 1, product(cuts)
      place = [modulo(m - 1, cuts(1)), modulo((m - 1)/cuts(1), cuts(2)), (m - 1)/(cuts(1)*cuts(2))]
      do a = 1, 3
        lo(a, m) = Cut(c, cuts, a, place(a))
        hi(a, m) = Cut(c, cuts, a, place(a) + 1)
      end do
      from(:, m) = lo(:, m)
      to(:, m) = hi(:, m)
      if (how%wide) from(:, m) = lo(:, m) - merge(c%cfg%half_length, 0, lo(:, m) > 0)
      if (how%wide) to(:, m) = hi(:, m) + merge(c%cfg%half_length, 0, hi(:, m) < c%cfg%n)
      call Piece_(c, from(:, m), to(:, m), how%wide, h(m))
      call Case3dFine(fd3d_tune(h(m), c_null_char, how%steps, how%width, how%planes), 'tune')
    end do
    if (.not. how%wide) call Exchange(h, lo, hi, 1)
    do it = 1, steps
      do m = 1, merge(0, size(h), how%parts)      ! pieces need not take as many steps at once as others
        if (begun(m) > 0) cycle
        call Case3dFine(fd3d_ahead(h(m), it, min(how%chunk + modulo(m, 2), steps + 1 - it), begun(m)), 'steps ahead')
        if (begun(m) > 1) swept = swept + 1
      end do
      do part = 1, 2
        do m = 1, size(h)
          call Case3dFine(fd3d_velocity(h(m), it, part), 'velocity of a piece')
        end do
        if (part == 1) cycle
        call Exchange(h, lo, hi, 0)
      end do
      do part = 1, 2
        do m = 1, size(h)
          call Case3dFine(fd3d_stress(h(m), it, part), 'stress of a piece')
        end do
        if (part == 1 .or. how%wide) cycle
        call Exchange(h, lo, hi, 1)
      end do
      begun = max(0, begun - 1)
    end do
    allocate (fields(c%cfg%n(1), c%cfg%n(2), c%cfg%n(3), 0:8))
    do m = 1, size(h)
      allocate (piece(from(1, m) + 1:to(1, m), from(2, m) + 1:to(2, m), from(3, m) + 1:to(3, m)))
      do f = 0, 8
        call Case3dFine(fd3d_field(h(m), f, piece), 'field of a piece')
        fields(lo(1, m) + 1:hi(1, m), lo(2, m) + 1:hi(2, m), lo(3, m) + 1:hi(3, m), f) = &
          piece(lo(1, m) + 1:hi(1, m), lo(2, m) + 1:hi(2, m), lo(3, m) + 1:hi(3, m))
      end do
      deallocate (piece)
      call handle_free(h(m))
    end do
  end subroutine Pieces

  !> Cells of the whole before piece `place` of an axis, from 0: below a free surface the first one has the rows that it needs at least.
  pure integer function Cut(c, cuts, a, place)
    type(case3d_t), intent(in) :: c
    integer, intent(in) :: cuts(3), a, place
    integer :: first
    first = 0
    if (a == 3 .and. c%cfg%side(5) == 2 .and. c%cfg%n(3)/cuts(3) < c%cfg%half_length + 5) first = c%cfg%half_length + 5
    Cut = c%cfg%n(a)*place/cuts(a)
    if (first > 0 .and. place > 0) Cut = first + (c%cfg%n(a) - first)*(place - 1)/(cuts(a) - 1)
  end function Cut

  !> The handle of cells lo+1 .. hi of the case; `wide`: margins are some of them.
  subroutine Piece_(c, lo, hi, wide, h)
    type(case3d_t), intent(in) :: c
    integer, intent(in) :: lo(3), hi(3)
    logical, intent(in) :: wide
    type(c_ptr), intent(out) :: h
    type(fd3d_cfg) :: cfg
    integer :: a, f, x(2), y(2), z(2)
    logical, allocatable :: mine(:)
    real(sp), allocatable :: ring(:, :, :, :)
    cfg = c%cfg
    cfg%n = hi - lo
    cfg%first = c%cfg%first + lo
    cfg%wide = merge(1, 0, wide)
    do a = 1, 3
      if (lo(a) > 0) cfg%side(2*a - 1) = 0
      if (hi(a) < c%cfg%n(a)) cfg%side(2*a) = 0
      cfg%layer(2*a - 1) = min(max(c%cfg%layer(2*a - 1) - lo(a), 0), hi(a) - lo(a))
      cfg%layer(2*a) = min(max(hi(a) - (c%cfg%n(a) - c%cfg%layer(2*a)), 0), hi(a) - lo(a) - cfg%layer(2*a - 1))
    end do
    x = [lo(1), hi(1) + 1]                 ! with the ring
    y = [lo(2), hi(2) + 1]
    z = [lo(3), hi(3) + 1]
    h = fd3d_new('cpu'//c_null_char, cfg)
    allocate (ring(x(1):x(2), y(1):y(2), z(1):z(2), 5))
    ring(:, :, :, 1) = c%rho(x(1):x(2), y(1):y(2), z(1):z(2))
    ring(:, :, :, 2) = c%lambda(x(1):x(2), y(1):y(2), z(1):z(2))
    ring(:, :, :, 3) = c%mu(x(1):x(2), y(1):y(2), z(1):z(2))
    ring(:, :, :, 4) = c%qp(x(1):x(2), y(1):y(2), z(1):z(2))
    ring(:, :, :, 5) = c%qs(x(1):x(2), y(1):y(2), z(1):z(2))
    call Case3dFine(fd3d_model(h, ring(:, :, :, 1), ring(:, :, :, 2), ring(:, :, :, 3)), 'model of a piece')
    if (cfg%anelastic > 0) call Case3dFine(fd3d_quality(h, c%tau, c%y, c%stiff, ring(:, :, :, 4), ring(:, :, :, 5)), &
                                           'quality of a piece')
    call Case3dFine(fd3d_pml(h, c%px(x(1) + 1:x(2) - 1, :), c%py(y(1) + 1:y(2) - 1, :), c%pz(z(1) + 1:z(2) - 1, :)), 'pml')
    if (c%sponge) call Case3dFine(fd3d_sponge(h, c%gx(x(1) + 1:x(2) - 1), c%gy(y(1) + 1:y(2) - 1), c%gz(z(1) + 1:z(2) - 1)), &
                                  'sponge of a piece')
    mine = c%si >= lo(1) .and. c%si < hi(1) .and. c%sj >= lo(2) .and. c%sj < hi(2) .and. c%sk >= lo(3) .and. c%sk < hi(3)
    call Case3dFine(fd3d_source(h, c%nh, count(mine), pack(c%sfield, mine), pack(c%si, mine) - lo(1), pack(c%sj, mine) - lo(2), &
                                pack(c%sk, mine) - lo(3), pack(c%sh, mine), pack(c%sw, mine)), 'source of a piece')
    call Case3dFine(fd3d_histories(h, 1, size(c%q, 2), c%q), 'histories')
    call Case3dFine(fd3d_histories(h, size(c%q, 2) + 1, 0, c%q), 'silence')
    do f = 0, 8
      call Case3dFine(fd3d_set_field(h, f, c%begin(lo(1) + 1:hi(1), lo(2) + 1:hi(2), lo(3) + 1:hi(3), f)), 'set_field')
    end do
  end subroutine Piece_

  !> Halos of all pieces, axis after axis: what = 0 velocities, 1 stresses.
  subroutine Exchange(h, lo, hi, what)
    type(c_ptr), intent(in) :: h(:)
    integer, intent(in) :: lo(:, :), hi(:, :), what
    real(sp), allocatable :: halo(:)
    integer :: m, n, a
    do a = 1, 3
      do m = 1, size(h)
        do n = 1, size(h)                  ! n lies behind m along axis a
          if (lo(a, n) /= hi(a, m)) cycle
          if (any(lo(:, n) /= lo(:, m) .and. [1, 2, 3] /= a)) cycle
          allocate (halo(fd3d_halo_size(h(m), 2*a - 1)))
          call Case3dFine(fd3d_halo_get(h(m), what, 2*a - 1, halo), 'halo')
          call Case3dFine(fd3d_halo_put(h(n), what, 2*a - 2, halo), 'halo')
          call Case3dFine(fd3d_halo_get(h(n), what, 2*a - 2, halo), 'halo')
          call Case3dFine(fd3d_halo_put(h(m), what, 2*a - 1, halo), 'halo')
          deallocate (halo)
        end do
      end do
    end do
  end subroutine Exchange

  subroutine Refusals()
    type(case3d_t) :: c
    type(c_ptr) :: h
    integer :: begun
    real(sp) :: none(1)
    call Case3dMake(c, 1, 2, .false., steps)
    call Piece_(c, [0, 0, 0], [c%cfg%n(1)/2, c%cfg%n(2), c%cfg%n(3)], .true., h)
    call Refused(fd3d_halo_get(h, 1, 1, none), 'which computes them itself', 'stresses of a wide subdomain')
    call Case3dFine(fd3d_ahead(h, 1, steps, begun), 'steps ahead')
    call Claim(begun == 0, 'a wide subdomain does no steps ahead of its neighbours')
    call handle_free(h)
    c%cfg%wide = 1
    c%cfg%side(2) = 0
    c%cfg%layer = 0
    c%cfg%n(1) = 5
    h = fd3d_new('cpu'//c_null_char, c%cfg)
    call Refused(merge(0, 1, c_associated(h)), '3 own cells along x are too few for wide halos', 'a subdomain that cannot give so much')
    c%cfg%n(1) = 20
    c%cfg%wide = 2
    h = fd3d_new('cpu'//c_null_char, c%cfg)
    call Refused(merge(0, 1, c_associated(h)), 'wide = 2, must be 0 or 1', 'another width')
  end subroutine Refusals

  subroutine Refused(rc, words, what)
    integer, intent(in) :: rc
    character(*), intent(in) :: words, what
    type(error_t), allocatable :: error
    call FailFromC(rc, error)
    call ClaimFails(error, words, what)
  end subroutine Refused

end program t651_fd3d_cpu_same_bits
