!> The time loop of spectral elements in C: one handle for the elements that a rank computes, with the verbs of handle_c.f90 and
!> those below. elements.f90 tells how corners, sides and the 125 points of an element are numbered; numbers count from 0 here.
!>
!> Solid (u: displacement) and fluid (chi: potential of displacement; Komatitsch, Barnes & Tromp 2000, Geophysics 65, 623-631),
!> degree 4, points of Gauss, Lobatto and Legendre, the mass lumped there (Komatitsch & Vilotte 1998, BSSA 88, 368-392):
!>
!>     rho d2u/dt2 = div s + f      s = lambda div u + mu (grad u + grad u^T)
!>     1/K d2chi/dt2 = div (1/rho grad chi) - V delta     u = 1/rho grad chi,  p = -d2chi/dt2
!>
!> Fields at the points of the solid: 0 vx, 1 vy, 2 vz [m/s], 3 ux, 4 uy, 5 uz [m]; of the fluid: 6 dchi/dt, 7 chi [kg/m s, kg/m].
!> The grid of the handle is a row of points, those of solid first: cell (i,0,0) is point i, in the fields 0..5 i < solid points.
!>
!> Step it (from 1), of the forces at (it-1) dt: dchi/dt and v from (it-3/2) dt to (it-1/2) dt, then chi and u from (it-1) dt to
!> it dt; the fluid first, which the solid's displacement drives, then the solid, which the fluid's pressure loads. Then the
!> receivers sample: dchi/dt and v at (it-1/2) dt, chi and u at it dt. At the sides:
!>   free:      no traction in the solid, chi = 0 in the fluid
!>   absorbing: traction -rho (vp n n + vs (1 - n n)) v, in the fluid u.n = -1/(rho c) dchi/dt; the velocity at (it-1) dt is the
!>              mean of that before and after the step, which keeps the step stable
!>   contact:   the normal displacement is the same on both sides, and the fluid's pressure is the solid's traction
!> Forces of the elements of a brick are added in their order, then those of bricks in theirs: no number of threads changes a bit.
!> On GPUs the variants global, shared and texture add those of elements as `sum` says: by point in the order of elements, or colour
!> after colour, both with the same bits each time; or as they come.
!> The variant tuned computes elements whose geometry, medium and memory variables are not all on its GPU: these come from the host
!> in each step (`resident`; sem3d_packets.h), with the same bits.
!>
!> A mesh may be in pieces, bricks of one each, for handles that each have the elements of one. A handle also gets those elements of
!> other pieces that touch its points, in the order of the whole mesh, for masses and sides; at points that it has not they have -1.
!> It has the points of its own elements, and their partners where fluid and solid meet. Pieces
!> give each other what their bricks have of points that others have too; each adds all in the order of bricks, and moves these
!> points by itself, so that all have the bits of the whole mesh. A step is then sem3d_part six times, with sem3d_give and
!> sem3d_take. On GPUs bricks of pieces are those of sem3d_bricks; pieces of colours gather forces in the order of the colours that
!> elements have in the whole mesh, which is the order of their sums there.
!>
!> Procedures return 0, or 1 with a sentence in err_message.
module sem3d_c
  use iso_c_binding, only: c_char, c_double, c_float, c_funptr, c_int, c_long, c_ptr
  implicit none
  private
  public :: sem3d_cfg, sem3d_solver, sem3d_new, sem3d_elements, sem3d_quality, sem3d_source, sem3d_histories, sem3d_receivers
  public :: sem3d_field, sem3d_set_field, sem3d_watch, sem3d_map, sem3d_need, sem3d_tune
  public :: sem3d_damping, sem3d_added_mass, sem3d_anisotropy
  public :: sem3d_ways, sem3d_way_size, sem3d_part, sem3d_give, sem3d_take, sem3d_between
  public :: sem3d_halo_offer, sem3d_halo_open, sem3d_halo_try, sem3d_halo_waited, sem3d_halo_close, sem3d_halo_give_up
  public :: sem3d_halo_left
  public :: sem3d_bricks, sem3d_coloured, sem3d_paint, sem3d_affine, sem3d_graph_parts

  type, bind(c) :: sem3d_cfg
    integer(c_int) :: elements, solid                 !< elements, of which the first ones are solid
    integer(c_int) :: points, solid_points            !< points, of which the first ones are of solid
    integer(c_int) :: bricks                          !< none has both solid and fluid
    integer(c_int) :: contacts                        !< sides of fluid elements at solid ones
    integer(c_int) :: per                             !< nodes of an element: 8, or 27
    integer(c_int) :: media                           !< numbers of an element for each of rho, lambda, mu: 1, or 125
    integer(c_int) :: mechanisms                      !< of attenuation, 0..8
    integer(c_int) :: shares                          !< numbers of an element for each of its shares: 1, or 125
    integer(c_int) :: relaxing                        !< points of an element that have memory variables: 125, or 57
    integer(c_int) :: threads                         !< 0: as many as OpenMP gives
    integer(c_int) :: tensors                         !< anisotropic media, 0: all is isotropic
    integer(c_int) :: share                           !< handles that compute on this GPU side by side; 0 or 1: this alone
    integer(c_int) :: sum                             !< of forces of elements that share a point: 0 gather, 1 colour, 2 atomic
    integer(c_int) :: piece                           !< 1: the handle has a piece of a mesh, 2: of one whose elements of 8 nodes
                                                      !< are all affine; 0: a whole mesh, or a piece on cores
    integer(c_int) :: resident                        !< on a GPU: 0 all, 1 only fields, 2 as many elements as there is room for
    real(c_double) :: room                            !< memory of the GPU [bytes]; 0: as much as there is
    real(c_float) :: dt                               !< [s]
  end type sem3d_cfg

  interface
    !> The solver, for its variants.
    type(c_ptr) function sem3d_solver() bind(c)
      import :: c_ptr
      implicit none
    end function sem3d_solver

    !> A handle, or null. `variant`: null-terminated name.
    type(c_ptr) function sem3d_new(variant, cfg) bind(c)
      import :: c_ptr, c_char, sem3d_cfg
      implicit none
      character(kind=c_char), intent(in) :: variant(*)
      type(sem3d_cfg), intent(in) :: cfg
    end function sem3d_new

    !> Elements and their medium, all copied: corner(3,per,elements) [m], z down; kinds of sides face(6,elements), 0 inner, 1 free,
    !> 2 absorbs, 3 contact; brick b is elements brick(b) .. brick(b+1)-1, brick(bricks+1); rho [kg/m3], lambda, mu [Pa] (media,
    !> elements), in a fluid mu = 0; the points at(125,elements) of each; fluid element and its side contact(2,contacts), and the
    !> points of the solid there in the order of those of the fluid, which is that of their numbers in the element,
    !> partner(25,contacts). Of an anelastic medium the moduli are the unrelaxed ones. Sets all fields to zero,
    !> and forgets sources, receivers and map.
    integer(c_int) function sem3d_elements(handle, corner, face, brick, rho, lambda, mu, at, contact, partner) bind(c)
      import :: c_ptr, c_int, c_double, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_double), intent(in) :: corner(*)
      integer(c_int), intent(in) :: face(*), brick(*), at(*), contact(*), partner(*)
      real(c_float), intent(in) :: rho(*), lambda(*), mu(*)
    end function sem3d_elements

    !> Anisotropic media, where there are `tensors`, told before sem3d_elements, whose elements they are of: the number of each
    !> element's medium tensor(elements), from 0, -1: isotropic; relative(21,tensors): constants c11 c12 .. c16 c22 .. c66 in the
    !> order of Voigt (xx yy zz yz xz xy, z down), by which
    !>   stress = lambda div u + mu (grad u + grad u^T + relative : strain).
    !> What relaxes is the stress of lambda and mu. Absorbing sides have the impedance of waves along their normal n, the root of
    !> rho Gamma(n), Gamma Christoffel's matrix.
    integer(c_int) function sem3d_anisotropy(handle, tensor, relative) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), intent(in) :: tensor(*)
      real(c_float), intent(in) :: relative(*)
    end function sem3d_anisotropy

    !> Attenuation in the solid by Zener mechanisms with relaxation times tau(mechanisms) [s]: of the bulk modulus K = lambda + 2/3
    !> mu and of mu the shares bulk and shear (mechanisms,shares,solid) relax,
    !>   tau dr/dt + r = share M strain,   stress = M strain - the sum of r,   M: the unrelaxed modulus.
    !> With relaxing = 57 the share of each such point is multiplied by sem_memory_gain of sem3d_geometry.h.
    !> After sem3d_elements, where there are mechanisms.
    integer(c_int) function sem3d_quality(handle, tau, bulk, shear) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(in) :: tau(*), bulk(*), shear(*)
    end function sem3d_quality

    !> Forces -rate M v at points, M their mass, of the potential likewise; rate(points) [1/s]. The velocity is the mean of that
    !> before
    !> and after the step, as at absorbing sides. Once after sem3d_elements, where anything damps.
    integer(c_int) function sem3d_damping(handle, rate) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(in) :: rate(*)
    end function sem3d_damping

    !> Masses of n points of the solid grow by symmetric matrices mass(6,n) [kg], xx yy zz xy xz yz, positive or zero: what moves
    !> with them along some direction. Once after sem3d_elements, and after sem3d_damping where anything damps.
    integer(c_int) function sem3d_added_mass(handle, n, point, mass) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: n
      integer(c_int), intent(in) :: point(*)
      real(c_float), intent(in) :: mass(*)
    end function sem3d_added_mass

    !> Sources of any kind are a list of n entries: in step it, field(m) at point(m) is driven by w(m) q(h(m), it), with q from
    !> sem3d_histories and h from 0, nh histories. Fields 0, 1, 2: a force [N] along x, y, z; 6: -V [m3] by the share of the point.
    !> A moment tensor is forces, w = M grad of the point's polynomial. q(it) is the value at (it-1) dt. n = 0: no source.
    integer(c_int) function sem3d_source(handle, nh, n, field, point, h, w) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: nh, n
      integer(c_int), intent(in) :: field(*), point(*), h(*)
      real(c_float), intent(in) :: w(*)
    end function sem3d_source

    !> The next block of histories, q(nh, n), of steps it .. it+n-1; replaces the block before, whose steps must have been asked
    !> for. n = 0: all are silent from step it on. A step whose histories are not known is refused.
    integer(c_int) function sem3d_histories(handle, it, n, q) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: it, n
      real(c_float), intent(in) :: q(*)
    end function sem3d_histories

    !> Receivers are weighted sums: receiver r samples the sum over its entries m = start(r) .. start(r+1)-1 of w(m) field(m) at
    !> point(m). Summed as receiver_sum.h says. Forgets all traces.
    integer(c_int) function sem3d_receivers(handle, nrec, start, field, point, w) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: nrec
      integer(c_int), intent(in) :: start(*), field(*), point(*)
      real(c_float), intent(in) :: w(*)
    end function sem3d_receivers

    !> Copies a field: out(solid points), of fields 6 and 7 out(points - solid points).
    integer(c_int) function sem3d_field(handle, which, out) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: which
      real(c_float), intent(out) :: out(*)
    end function sem3d_field

    !> Sets a field from as many numbers; chi and its rate stay 0 on free sides, whatever is given there.
    integer(c_int) function sem3d_set_field(handle, which, in) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: which
      real(c_float), intent(in) :: in(*)
    end function sem3d_set_field

    !> From the next step on, up to step `last`, keeps the largest velocity at n points, from zero; n = 0: no longer. Component c =
    !> 0, 1, 2 at p is the sum of w(m) field(m) at point(m) over m = start(3p+c) .. start(3p+c+1)-1; start(3n+1).
    integer(c_int) function sem3d_watch(handle, last, n, start, field, point, w) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: last, n
      integer(c_int), intent(in) :: start(*), field(*), point(*)
      real(c_float), intent(in) :: w(*)
    end function sem3d_watch

    !> The map that was kept: out(n,3), the largest sqrt(vx**2 + vy**2), |vz| and sqrt(vx**2 + vy**2 + vz**2) after a step at each
    !> point.
    integer(c_int) function sem3d_map(handle, out) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(out) :: out(*)
    end function sem3d_map

    !> The ways to the pieces of the mesh by their numbers, 1 or more, `mine` that of this piece, from 0: that of each brick,
    !> way(bricks), from 0, -1: it is this piece's; the points of this piece's elements that the piece at way w has too,
    !> point(start(w)) .. point(start(w+1)-1), start(ways+1). Before sem3d_elements.
    integer(c_int) function sem3d_ways(handle, ways, mine, way, start, point) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: ways, mine
      integer(c_int), intent(in) :: way(*), start(*), point(*)
    end function sem3d_ways

    !> The n bricks of a whole mesh as pieces of it have them on a variant: cut(n+1), room for elements + 1 numbers.
    integer(c_int) function sem3d_bricks(variant, bricks, brick, n, cut) bind(c)
      import :: c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: variant(*)
      integer(c_int), value :: bricks
      integer(c_int), intent(in) :: brick(*)
      integer(c_int), intent(out) :: n
      integer(c_int), intent(out) :: cut(*)
    end function sem3d_bricks

    !> 1 where all elements, of 8 nodes, are affine; corner(3,8,elements).
    integer(c_int) function sem3d_affine(elements, corner) bind(c)
      import :: c_double, c_int
      implicit none
      integer(c_int), value :: elements
      real(c_double), intent(in) :: corner(*)
    end function sem3d_affine

    !> The colour that each element of one phase of a whole mesh gets there, from 0; at(per,elements), its points 0 .. points-1: its
    !> nodes serve as well as all 125, as elements that share a point share a node.
    integer(c_int) function sem3d_paint(elements, per, at, points, colour) bind(c)
      import :: c_int
      implicit none
      integer(c_int), value :: elements, per, points
      integer(c_int), intent(in) :: at(*)
      integer(c_int), intent(out) :: colour(*)
    end function sem3d_paint

    !> Colours of the elements of a piece, colour(elements), before sem3d_elements, where forces are summed by colours.
    integer(c_int) function sem3d_coloured(handle, colour) bind(c)
      import :: c_int, c_ptr
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), intent(in) :: colour(*)
    end function sem3d_coloured

    !> Numbers that go out and come in at a way in each step, of the solid (fluid = 0) or of the fluid (1).
    integer(c_int) function sem3d_way_size(handle, fluid, way, out, in) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: fluid, way
      integer(c_int), intent(out) :: out, in
    end function sem3d_way_size

    !> A part of step it: fluid = 1, then 0; part = 0, bricks that have something to give, which sem3d_give then gets; 1, the other
    !> bricks; 2, points of several bricks, after sem3d_take of all ways, and last of all receivers and map.
    integer(c_int) function sem3d_part(handle, it, fluid, part) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: it, fluid, part
    end function sem3d_part

    !> What bricks here have of the points of a way. Of a mesh on a GPU `out`, and `in` below, may be memory of that GPU
    !> (device_room).
    integer(c_int) function sem3d_give(handle, fluid, way, out) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: fluid, way
      real(c_float), intent(out) :: out(*)
    end function sem3d_give

    integer(c_int) function sem3d_take(handle, fluid, way, in) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: fluid, way
      real(c_float), intent(in) :: in(*)
    end function sem3d_take

    !> A procedure that is called now and then while bricks are computed, so that messages under way advance; null: none.
    integer(c_int) function sem3d_between(handle, procedure) bind(c)
      import :: c_funptr, c_int, c_ptr
      implicit none
      type(c_ptr), value :: handle
      type(c_funptr), value :: procedure
    end function sem3d_between

    !> Pieces on GPUs of a machine give each other sums from kernel to kernel, as subdomains do halos: what these verbs mean is told
    !> in fd3d_c.f90. When all ways are open through which something goes, handle_timestep takes whole steps. A piece has such ways
    !> to the three pieces before and the three behind it, counted round: in a mesh of more than seven pieces not to all.
    integer(c_int) function sem3d_halo_offer(handle, beside, host, seconds, length, ticket) bind(c)
      import :: c_ptr, c_int, c_double, c_char
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: beside, host, length
      real(c_double), value :: seconds
      character(kind=c_char), intent(out) :: ticket(*)
    end function sem3d_halo_offer

    !> The memory of the piece at a way, from 0.
    integer(c_int) function sem3d_halo_open(handle, way, length, ticket) bind(c)
      import :: c_ptr, c_int, c_char
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: way, length
      character(kind=c_char), intent(in) :: ticket(*)
    end function sem3d_halo_open

    integer(c_int) function sem3d_halo_try(handle, seconds, bare, full) bind(c)
      import :: c_ptr, c_int, c_double
      implicit none
      type(c_ptr), value :: handle
      real(c_double), value :: seconds
      real(c_double), intent(out) :: bare, full
    end function sem3d_halo_try

    !> seconds(ways).
    integer(c_int) function sem3d_halo_waited(handle, seconds) bind(c)
      import :: c_ptr, c_int, c_double
      implicit none
      type(c_ptr), value :: handle
      real(c_double), intent(out) :: seconds(*)
    end function sem3d_halo_waited

    subroutine sem3d_halo_close(handle) bind(c)
      import :: c_ptr
      implicit none
      type(c_ptr), value :: handle
    end subroutine sem3d_halo_close

    subroutine sem3d_halo_give_up(handle) bind(c)
      import :: c_ptr
      implicit none
      type(c_ptr), value :: handle
    end subroutine sem3d_halo_give_up

    integer(c_int) function sem3d_halo_left(handle, chunks) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), intent(out) :: chunks
    end function sem3d_halo_left

    !> 1 where METIS is there (metis.h as this was built) and has divided n vertices into so many parts, else 0: those beside v are
    !> next(start(v):start(v+1)-1), by so many faces each. It keeps few faces between parts whose sums of cost are at most
    !> 1 + uneven/1000 times the mean, which it need not reach, nor fill each part. `recursive`: by bisections, else all at once.
    integer(c_int) function sem3d_graph_parts(n, start, next, faces, cost, parts, recursive, uneven, part) bind(c)
      import :: c_int
      implicit none
      integer(c_int), value :: n, parts, recursive, uneven
      integer(c_int), intent(in) :: start(*), next(*), faces(*), cost(*)
      integer(c_int), intent(out) :: part(*)
    end function sem3d_graph_parts

    !> Memory a handle would take [bytes] on the host and on the device, with so many source entries, receivers, steps, and points
    !> of a map.
    integer(c_int) function sem3d_need(variant, cfg, entries, receivers, steps, points, host, device) bind(c)
      import :: c_int, c_char, c_long, sem3d_cfg
      implicit none
      character(kind=c_char), intent(in) :: variant(*)
      type(sem3d_cfg), intent(in) :: cfg
      integer(c_int), value :: entries, receivers, steps, points
      integer(c_long), intent(out) :: host, device
    end function sem3d_need

    !> For tests and benchmarks; changes speed, never results (save that a build without fused multiply-add rounds twice).
    !> isa: "" = best of this processor, or a name such as "avx2".
    integer(c_int) function sem3d_tune(handle, isa) bind(c)
      import :: c_ptr, c_int, c_char
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: isa(*)
    end function sem3d_tune
  end interface
end module sem3d_c
