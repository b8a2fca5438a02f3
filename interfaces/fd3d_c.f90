!> The 3D (visco)elastic time loop in C: one handle a subdomain of the grid, with the verbs of handle_c.f90 and those below.
!>
!> One cell, its centre at (i, j, k); x to the right, y to the back, z down; indices count from 0 here, x runs fastest:
!>
!>             _______________________
!>            /                      /|        sxx, syy, szz  at (i,     j,     k    )  centre
!>          sxz        vz           / |        vx             at (i-1/2, j,     k    )  left face (hidden here)
!>          /                      /  |        vy             at (i,     j-1/2, k    )  front face
!>         +---------syz----------+   |        vz             at (i,     j,     k-1/2)  upper face
!>         |                      |   |        sxy            at (i-1/2, j-1/2, k    )  left front edge
!>        sxy         vy          |   /        sxz            at (i-1/2, j,     k-1/2)  left upper edge
!>         |                      |  /         syz            at (i,     j-1/2, k-1/2)  front upper edge
!>         |                      | /
!>         +----------------------+            stresses at whole time steps, velocities at half ones
!>
!> So the derivative of what stands on whole numbers along an axis is wanted at i-1/2, of what stands on halves at i, along all
!> three axes alike. A free surface is the upper face of the cells k = 0: z = 0 goes through vz, sxz, syz of that row.
!>
!> A subdomain is a box of `n` cells of a grid of `whole` cells, its first cell being cell `first` of the grid. Around it lies a
!> halo as wide as the half-length, where a side's kind says what stands there. One subdomain may be the whole grid: then nothing
!> is exchanged, and handle_timestep does it all.
!>
!> Subdomains may overlap (`wide`): then the outermost cells of a subdomain at a neighbour's side, half_length deep, its margin, are
!> the neighbour's own too, and each has the neighbour's stresses there because it computes them itself. Only velocities are
!> exchanged, twice as deep, margin and halo, once a step.
!>
!> Step it (from 1): velocities from (it-3/2) dt to (it-1/2) dt by the stresses at (it-1) dt, then the sources of velocity; stresses
!> from (it-1) dt to it dt by the velocities at (it-1/2) dt, then the sources of stress; then the receivers sample.
!>
!> Procedures return 0, or 1 with a sentence in err_message.
module fd3d_c
  use iso_c_binding, only: c_char, c_double, c_float, c_funptr, c_int, c_long, c_long_long, c_ptr, c_short
  implicit none
  private
  public :: fd3d_cfg, fd3d_solver, fd3d_surface, fd3d_new, fd3d_model, fd3d_model_part, fd3d_quality, fd3d_pml, fd3d_sponge
  public :: fd3d_source, fd3d_histories, fd3d_receivers, fd3d_velocity, fd3d_stress, fd3d_ahead, fd3d_between
  public :: fd3d_halo_size, fd3d_halo_get, fd3d_halo_put
  public :: fd3d_halo_offer, fd3d_halo_open, fd3d_halo_try, fd3d_halo_waited, fd3d_halo_close, fd3d_halo_give_up, fd3d_halo_left
  public :: fd3d_field, fd3d_set_field, fd3d_slice, fd3d_watch, fd3d_map, fd3d_need, fd3d_tune

  !> A subdomain. Sides are numbered x low, x high, y low, y high, z low (top), z high (bottom); kinds of sides:
  !>   0 neighbour: another subdomain follows; its cells come through fd3d_halo_put
  !>   1 outside:   all fields are 0 beyond (the end of the grid, behind absorbing layers if there are any)
  !>   2 free:      free surface (z low only)
  !>   3 periodic:  the other end of the same subdomain follows, which spans the axis (a cut axis has neighbours instead)
  !>   4 one-way:   waves leave by Clayton & Engquist's A1 (z high only)
  type, bind(c) :: fd3d_cfg
    integer(c_int) :: n(3)                            !< cells owned along x, y, z
    integer(c_int) :: first(3)                        !< cell of the whole grid that cell 0 is
    integer(c_int) :: whole(3)                        !< cells of the whole grid
    integer(c_int) :: side(6)                         !< kinds of the six sides
    integer(c_int) :: layer(6)                        !< absorbing layers: cells i < layer(1), i >= n(1)-layer(2), ...
    integer(c_int) :: half_length                     !< 1..4; also the width of the halo
    integer(c_int) :: narrow                          !< 1: in layers of x and y differences along the layer, those of the other two
                                                      !< axes, are of half-length 1, at all points of cells that `layer` counts
    integer(c_int) :: anelastic                       !< 1: with memory variables of one mechanism a cell; 2: of several in each
    integer(c_int) :: threads                         !< 0: as many as OpenMP gives
    integer(c_int) :: share                           !< handles that compute on this GPU side by side; 0 or 1: this alone
    integer(c_int) :: sparse                          !< 1: stresses are 0 at first and wanted by receivers only.
                                                      !< 2: the same, and left out even where that takes longer (for tests)
    integer(c_int) :: wet                             !< 1: all that a free surface lies on is a fluid, in the whole grid
    integer(c_int) :: wide                            !< 1: n, first and layer are those of the cells with their margins, and halos
                                                      !< of velocities alone are exchanged, of half_length cells more
    real(c_float) :: d(3), dt                         !< dx, dy, dz [m], [s]
    real(c_float) :: w(4)                             !< weights of the differentiators, (half_length)
  end type fd3d_cfg

  interface
    !> The solver, for its variants.
    type(c_ptr) function fd3d_solver() bind(c)
      import :: c_ptr
      implicit none
    end function fd3d_solver

    !> Differences along z in the first rows k = 0 .. 4 below a free surface, for weights w(half_length), and the share of a cell
    !> that each row has: sum over t of top(t, k, b) field(t), t = 0 .. half_length + 4 counting cells down the column. b = 1
    !> backward, of what stands at centres, wanted at the upper face of cell k; 2 forward, of what stands at upper faces, wanted at
    !> the centre. share(k, 1) of what stands at centres along z, share(k, 2) at upper faces: a source there acts on less than a
    !> cell, and its weights are divided by it. `wet`: as in fd3d_cfg; narrow = 1: in columns whose differences are narrow, of the
    !> same shares. cuda_c/elastic3d/fd3d_surface.c says where they come from.
    pure subroutine fd3d_surface(half_length, w, wet, narrow, top, share) bind(c)
      import :: c_int, c_double
      implicit none
      integer(c_int), value :: half_length, wet, narrow
      real(c_double), intent(in) :: w(*)
      real(c_double), intent(out) :: top(0:8, 0:4, 2), share(0:4, 2)
    end subroutine fd3d_surface

    !> A handle, or null. `variant`: null-terminated name.
    type(c_ptr) function fd3d_new(variant, cfg) bind(c)
      import :: c_ptr, c_char, fd3d_cfg
      implicit none
      character(kind=c_char), intent(in) :: variant(*)
      type(fd3d_cfg), intent(in) :: cfg
    end function fd3d_new

    !> The medium: rho [kg/m3], lambda, mu [Pa] at the centres, of the owned cells and one more all around: (nx+2, ny+2, nz+2).
    !> The ring holds the neighbour's cells; where there is no neighbour a copy of the owned cell beside it (periodic: of the other
    !> end). Of an anelastic medium they are what fd3d_quality says. mu = 0 is a fluid, rho = lambda = mu = 0 is air. Averages:
    !>   1/rho at a velocity point: one over the mean of rho of the 2 cells beside it; 0 where both are air;
    !>   mu at a shear point: harmonic mean of the 4 cells around; 0 where any of them is 0;
    !>   lambda and mu at a centre: the cell's own.
    !> So contacts of rock, water and air are nothing special (vacuum formulation; Okamoto et al. 2011, section 2).
    integer(c_int) function fd3d_model(handle, rho, lambda, mu) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(in) :: rho(*), lambda(*), mu(*)
    end function fd3d_model

    !> The same in parts, so that the volumes need not be in memory: their planes first .. first+planes-1 along z, of nz+2 from 0
    !> on. Parts come in this order, without a gap; the medium is there with the last one.
    integer(c_int) function fd3d_model_part(handle, first, planes, rho, lambda, mu) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: first, planes
      real(c_float), intent(in) :: rho(*), lambda(*), mu(*)      !< (nx+2, ny+2, planes)
    end function fd3d_model_part

    !> Attenuation of an anelastic medium. anelastic = 1: coarse-grained memory variables (Day & Bradley 2001, BSSA 91, 520-531): at
    !> index (i,j,k) each of the six stresses has one, with mechanism m = I mod 2 + 2 (J mod 2) + 4 (K mod 2), (I,J,K) the index in
    !> the whole grid. anelastic = 2: each has one of each of the first six mechanisms. Relaxation time tau(m) [s] and strength
    !> y = q (y(m,1) + q (y(m,2) + q y(m,3))), q = 1/Q at the stress, y(8,3):
    !>   tau ds/dt + s = y M strain rate,   dstress/dt = (1 + sum of stiff(m) y) M strain rate - sum of s,
    !> M: the modulus at the stress, the unrelaxed one if stiff(m) is 0; sums are over the mechanisms that the stress has.
    !> qp, qs: 1/Q of P and S waves, with a ring as in fd3d_model; 0 = elastic. q of lambda + 2 mu is qp; of mu at a centre the
    !> cell's qs, at a shear point the mean of the 4 cells around. anelastic.f90 fits tau and y to constant Q in a band.
    integer(c_int) function fd3d_quality(handle, tau, y, stiff, qp, qs) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(in) :: tau(*), y(*), stiff(*), qp(*), qs(*)
    end function fd3d_quality

    !> Absorbing layers: px(nx,6), py(ny,6), pz(nz,6) of the owned cells; columns a, b, 1/k at whole numbers i, then a, b, 1/k at
    !> i-1/2. psi = b psi + a d, d becomes d/k + psi, for each of the 18 derivatives. Outside the ranges in cfg%layer a must be 0
    !> and 1/k must be 1. Where there are no layers it need not be called.
    integer(c_int) function fd3d_pml(handle, px, py, pz) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(in) :: px(*), py(*), pz(*)
    end function fd3d_pml

    !> Cerjan's sponge: each step velocities and stresses of cell (i,j,k) are multiplied by (gx(i) gy(j)) gz(k), in this order,
    !> as the last part of their update, before sources are added. gx(nx), gy(ny), gz(nz), 0 < g <= 1. Never called: none.
    integer(c_int) function fd3d_sponge(handle, gx, gy, gz) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(in) :: gx(*), gy(*), gz(*)
    end function fd3d_sponge

    !> Sources of any kind are a list of n entries: in step it, field(m) at owned cell (i,j,k)(m), from 0, grows by
    !> w(m) q(h(m), it), with q from fd3d_histories and h from 0, nh histories. Fields: 0 vx, 1 vy, 2 vz, 3 sxx, 4 syy, 5 szz, 6
    !> sxy, 7 sxz, 8 syz. Entries at the same field and cell are added in the order given, one fused multiply-add each. n = 0: no
    !> source. Weights contain all factors: a force is dt/(rho V) at its velocity point, a moment tensor -dt/V, with V = dx dy dz.
    !> Forces act at (it-1) dt, moment rates at (it-1/2) dt. On a free surface sxz and syz stay 0 whatever is added.
    integer(c_int) function fd3d_source(handle, nh, n, field, i, j, k, h, w) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: nh, n
      integer(c_int), intent(in) :: field(*), i(*), j(*), k(*), h(*)
      real(c_float), intent(in) :: w(*)
    end function fd3d_source

    !> The next block of histories, q(nh, n), of steps it .. it+n-1; replaces the block before, whose steps must have been asked
    !> for. n = 0: all are silent from step it on. A step whose histories are not known is refused.
    integer(c_int) function fd3d_histories(handle, it, n, q) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: it, n
      real(c_float), intent(in) :: q(*)
    end function fd3d_histories

    !> Receiver r samples the sum of w field(i,j,k) over its entries start(r)..start(r+1)-1 (from 0), start(nrec+1), whose order
    !> does not change a bit of it (cuda_c/handle/receiver_sum.h); fields as in fd3d_source, cells owned. Pressure,
    !> strain and rotation are such sums too. Forgets all
    !> traces.
    integer(c_int) function fd3d_receivers(handle, nrec, start, field, i, j, k, w) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: nrec
      integer(c_int), intent(in) :: start(*), field(*), i(*), j(*), k(*)
      real(c_float), intent(in) :: w(*)
    end function fd3d_receivers

    !> The same step in pieces, for a subdomain with neighbours; each step in this order, other work and messages in between:
    !>   fd3d_velocity(it, 1)   cells within half_length of a neighbour (the rim)     then get velocities, send them
    !>   fd3d_velocity(it, 2)   all other cells, while they travel                    then put what came
    !>   fd3d_stress(it, 1)     the rim                                               then get stresses, send them
    !>   fd3d_stress(it, 2)     all other cells; receivers sample                     then put what came
    !> part = 0 does both parts at once. The bits are those of handle_timestep on the undivided grid.
    !>
    !> A wide subdomain gives no stresses, and what it gives along y holds what it got along x, along z both, as corners of margins
    !> need that:
    !>   fd3d_velocity(it, 1)   its own cells within 2 half_length of its margins     then get velocities across x, send them
    !>   fd3d_velocity(it, 2)   its other cells, while they travel                    then put what came; likewise across y, then z
    !>   fd3d_stress(it, 0)     all cells; receivers sample
    !> Velocities in its margins are right once all halos are put, and stresses always.
    integer(c_int) function fd3d_velocity(handle, it, part) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: it, part
    end function fd3d_velocity

    integer(c_int) function fd3d_stress(handle, it, part) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: it, part
    end function fd3d_stress

    !> For a subdomain with neighbours, before the halves of step `it`: does of steps it .. it+done-1, n at most, all that needs
    !> nothing of the neighbours but what is in the halos now, several steps in one sweep through memory. The halves of these steps
    !> must follow, as they do without: part 1 is then what is left of each, further into the subdomain with each half step, part 2
    !> nothing, or what samples and maps take. Meanwhile fields inside are of later steps; what neighbours get is not.
    !> done = 0: the variant, or a side of the subdomain, cannot; nor can a wide one.
    integer(c_int) function fd3d_ahead(handle, it, n, done) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: it, n
      integer(c_int), intent(out) :: done
    end function fd3d_ahead

    !> From now on `procedure`, int (*)(void) whose result says nothing, or null: none, is called now and then, by the thread that
    !> called, while part 2 of a half step is done on cores: what the rim has sent may need it to travel.
    integer(c_int) function fd3d_between(handle, procedure) bind(c)
      import :: c_ptr, c_int, c_funptr
      implicit none
      type(c_ptr), value :: handle
      type(c_funptr), value :: procedure
    end function fd3d_between

    !> Numbers in the halo of side 0..5: three fields, half_length cells deep, over the owned face; velocities and stresses alike.
    !> Of a wide subdomain 2 half_length cells deep, and over margins and halos of the axes before.
    integer(c_long_long) function fd3d_halo_size(handle, side) bind(c)
      import :: c_ptr, c_int, c_long_long
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: side
    end function fd3d_halo_size

    !> Copies what the neighbour at `side` needs of this subdomain: what = 0: vx, vy, vz; 1: the three stresses that are
    !> differentiated along the axis (sxx, sxy, sxz; sxy, syy, syz; sxz, syz, szz), which a wide subdomain refuses; one field after
    !> the other, each (x, y, z) in the order of the grid. out(fd3d_halo_size). A contiguous copy; edges and corners are never
    !> needed but by wide ones. Of a subdomain on a GPU `out`, and `in` below, may be memory of that GPU (device_room), which is
    !> full when this returns; what came in it is read before the next fd3d_halo_get returns.
    integer(c_int) function fd3d_halo_get(handle, what, side, out) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: what, side
      real(c_float), intent(out) :: out(*)
    end function fd3d_halo_get

    !> Puts into the halo what the neighbour at `side` gave, its fd3d_halo_get for the opposite side.
    integer(c_int) function fd3d_halo_put(handle, what, side, in) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: what, side
      real(c_float), intent(in) :: in(*)
    end function fd3d_halo_put

    !> Subdomains on GPUs of a machine need no host in their steps: their kernels store straight into each other's memory, or into
    !> memory of the machine that both have pinned.
    !> When all sides with a neighbour are open, handle_timestep takes whole steps, which are only queued, as of an undivided grid
    !> and with its bits. A run:
    !>   fd3d_halo_offer   this subdomain's ticket, which goes to the partner at each side; nothing is queued. Fields are 0, or
    !>                     their halos were put. A wide subdomain has none
    !>   fd3d_halo_open    each partner's
    !>   fd3d_halo_try     all together: some exchanges, so that a way that does not carry is found before the first step
    !>   handle_timestep, fd3d_halo_left, handle_pending, handle_peak, ...
    !>   fd3d_halo_close   all partners should have, before one of them gives its memory back by handle_free
    !> A wait for a neighbour ends by itself. One in vain is told by the verbs that come then; all that is queued runs out at once
    !> and stores nothing more, and fields and traces are of no use.
    !>
    !> A ticket is `length` bytes that mean nothing to others. `beside`: 1 the exchange runs beside the inner
    !> cells, 0 after all cells. `host`: 0 the memory is this GPU's, 1 the machine's. `seconds`: a neighbour is waited for so long.
    integer(c_int) function fd3d_halo_offer(handle, beside, host, seconds, length, ticket) bind(c)
      import :: c_ptr, c_int, c_double, c_char
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: beside, host, length
      real(c_double), value :: seconds
      character(kind=c_char), intent(out) :: ticket(*)
    end function fd3d_halo_offer

    !> Opens the memory of the partner at `side`, 0..5; fails where its GPU cannot be reached, and where it is this process.
    integer(c_int) function fd3d_halo_open(handle, side, length, ticket) bind(c)
      import :: c_ptr, c_int, c_char
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: side, length
      character(kind=c_char), intent(in) :: ticket(*)
    end function fd3d_halo_open

    !> Exchanges rims as they are some times, and waits; fails where nothing comes within `seconds`. An exchange through all sides
    !> at once took so many seconds: `bare` where nothing but flags is sent, `full` of all numbers.
    integer(c_int) function fd3d_halo_try(handle, seconds, bare, full) bind(c)
      import :: c_ptr, c_int, c_double
      implicit none
      type(c_ptr), value :: handle
      real(c_double), value :: seconds
      real(c_double), intent(out) :: bare, full
    end function fd3d_halo_try

    !> Seconds that kernels have waited at each side since the exchange was tried; waits for what is queued.
    integer(c_int) function fd3d_halo_waited(handle, seconds) bind(c)
      import :: c_ptr, c_int, c_double
      implicit none
      type(c_ptr), value :: handle
      real(c_double), intent(out) :: seconds(6)
    end function fd3d_halo_waited

    !> Ends waits, waits for what is queued, and closes the partners' memory. Harmless at any time.
    subroutine fd3d_halo_close(handle) bind(c)
      import :: c_ptr
      implicit none
      type(c_ptr), value :: handle
    end subroutine fd3d_halo_close

    !> Ends all waits of this run at once. Harmless at any time.
    subroutine fd3d_halo_give_up(handle) bind(c)
      import :: c_ptr
      implicit none
      type(c_ptr), value :: handle
    end subroutine fd3d_halo_give_up

    !> The calls of handle_timestep that are unfinished, without waiting. Fails after a wait in vain.
    integer(c_int) function fd3d_halo_left(handle, chunks) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), intent(out) :: chunks
    end function fd3d_halo_left

    !> A copy out(nx,ny,nz) of a field, numbered as in fd3d_source.
    integer(c_int) function fd3d_field(handle, which, out) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: which
      real(c_float), intent(out) :: out(*)
    end function fd3d_field

    !> Sets a field of the owned cells from in(nx,ny,nz). Halos of neighbours must be put anew.
    integer(c_int) function fd3d_set_field(handle, which, in) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: which
      real(c_float), intent(in) :: in(*)
    end function fd3d_set_field

    !> A plane of a field: axis 0 x: out(ny,nz) at i = index; 1 y: out(nx,nz); 2 z: out(nx,ny).
    integer(c_int) function fd3d_slice(handle, which, axis, index, out) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: which, axis, index
      real(c_float), intent(out) :: out(*)
    end function fd3d_slice

    !> From the next step on, up to step `last`, keeps the largest velocity at n points, from zero; n = 0: no longer. Point p
    !> belongs to the owned cell (i,j,k)(p), from 0, and has the stencil s = stencil(p), 0 .. stencils-1, which points alike share:
    !> its velocity c = 0, 1, 2 is the sum of w vx, vy or vz of the owned cells (i+di, j+dj, k+dk) over entries start(3s+c) ..
    !> start(3s+c+1)-1, summed in double in this order; start(3 stencils + 1).
    integer(c_int) function fd3d_watch(handle, last, n, i, j, k, stencil, stencils, start, di, dj, dk, w) bind(c)
      import :: c_ptr, c_int, c_short, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: last, n, stencils
      integer(c_int), intent(in) :: i(*), j(*), k(*), stencil(*), start(*)
      integer(c_short), intent(in) :: di(*), dj(*), dk(*)
      real(c_float), intent(in) :: w(*)
    end function fd3d_watch

    !> The map that was kept: out(n,3), the largest sqrt(vx**2 + vy**2), |vz| and sqrt(vx**2 + vy**2 + vz**2) after a step at each
    !> point.
    integer(c_int) function fd3d_map(handle, out) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(out) :: out(*)
    end function fd3d_map

    !> Memory a handle would take [bytes] on the host and on the device, with so many source entries, receivers and steps, points of
    !> a map and entries of their stencils.
    integer(c_int) function fd3d_need(variant, cfg, entries, receivers, steps, points, stencil_entries, host, device) bind(c)
      import :: c_int, c_char, c_long, fd3d_cfg
      implicit none
      character(kind=c_char), intent(in) :: variant(*)
      type(fd3d_cfg), intent(in) :: cfg
      integer(c_int), value :: entries, receivers, steps, points, stencil_entries
      integer(c_long), intent(out) :: host, device
    end function fd3d_need

    !> For tests and benchmarks; changes speed, never results (save that a build without fused multiply-add rounds twice).
    !> isa: "" = best of this processor, or a name such as "avx2"; bx, by, bz: shape of blocks [cells], 0 = as chosen.
    integer(c_int) function fd3d_tune(handle, isa, bx, by, bz) bind(c)
      import :: c_ptr, c_int, c_char
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: isa(*)
      integer(c_int), value :: bx, by, bz
    end function fd3d_tune
  end interface
end module fd3d_c
