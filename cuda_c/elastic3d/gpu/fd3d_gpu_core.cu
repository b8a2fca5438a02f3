/* The place of the core of a sparse grid, and all that it needs beside the kernel of a variant that has one.
 *
 *   +-----------------------+   Outside of the core, and in a hole in it, all is as in other variants: sides,
 *   | +-------------------+ |   absorbing layers, sponges, stresses that receivers are told of. Inside,
 *   | |    +----+  core   | |   v(n+1) = v(n) + a(n+1) is computed with the stresses of step n, which are on chip only
 *   | |    |hole|         | |   (fd3d_tuned_core.cu). So a step is
 *   | |    +----+         | |
 *   | +-------------------+ |   velocities: of cells outside, from their stresses, into the second set of velocities,
 *   +-----------------------+               where the core's already are; then the sets change places;
 *                               stresses:   of cells outside; those of the core grow into a and the second set; then
 *                                           what stresses of sources give these (fd3d_gpu_core_sources.cu).
 *
 * Beside a neighbour the rim of the velocities goes into the second set before the others do, and is given away from
 * there; the core begins as far from that side as from any other, so it needs nothing of the neighbour, and behind the
 * rim where that is deeper (`wide`).
 *
 * Stresses of the core begin at 0: a run begins with reset. Differences reach over FD3D_GPU_REACH cells: cells of the
 * core as near to others keep their stresses as those do, and no layer may be as near from outside.
 *
 * The core is rock. Rounding errors of a stay there unless a stress opposes it; in a fluid nothing opposes shear,
 * and v would grow with time, to some 1e-4 of its peak in 10,000 steps. In rock of vp/vs from 1.7 to 20 the error is
 * that of other variants (t674). */
#include "fd3d_gpu.h"
#include "fd3d_gpu_pace.cuh"

#include <algorithm>
#include <cstring>
#include <utility>

enum { REACH = FD3D_GPU_REACH, COLUMNS = FD3D_GPU_COLUMNS, ROWS = FD3D_GPU_ROWS, TILE = COLUMNS * ROWS };
enum { PIECE = 4, LEAST = 16, THREADS = 128, SHARE = 4, WHEREVER = 2 };

// Of a cell outside and one of a tile, an idle one too: from the times of the kernels at 384^3 on an H200 (58 and 21 ps
// a cell, 37 without a core; tools/bench/history.md, 2026-11-22).
static const double OUTSIDE_COST = 1.55, TILE_COST = 0.55;
static const float SOFTEST = 400; // (vp/vs)^2 of rock

typedef fd3d_gpu_range range;

static bool empty(const range &b) { return b.lo[0] >= b.hi[0] || b.lo[1] >= b.hi[1] || b.lo[2] >= b.hi[2]; }

static double cells_in(const range &b) {
    return empty(b) ? 0 : (double)(b.hi[0] - b.lo[0]) * (b.hi[1] - b.lo[1]) * (b.hi[2] - b.lo[2]);
}

static void hold(range *b, const int cell[3]) {
    for (int a = 0; a < 3; a++) {
        b->lo[a] = std::min(b->lo[a], cell[a]);
        b->hi[a] = std::max(b->hi[a], cell[a] + 1);
    }
}

// --- where -----------------------------------------------------------------------------------------------------------

// Cells at both ends of an axis that a sponge damps.
static void damped(const float *factor, int n, int *low, int *high) {
    *low = *high = 0;
    if (factor == nullptr)
        return;
    int first = n, last = -1; // of the cells around the middle that it does not
    for (int i = n / 2; i >= 0 && factor[i] == 1; i--)
        first = i;
    for (int i = n / 2; i < n && factor[i] == 1; i++)
        last = i;
    *low = first;
    *high = n - 1 - last;
}

// The cost of a step with the core, in cells of a grid without one.
static double cost_of(const range &b, const fd3d_cfg *c) {
    const double across = (b.hi[0] - b.lo[0] + COLUMNS - 1) / COLUMNS, down = (b.hi[1] - b.lo[1] + ROWS - 1) / ROWS;
    const double all = (double)c->n[0] * c->n[1] * c->n[2], tiles = across * down * (int)TILE * (b.hi[2] - b.lo[2]);
    return OUTSIDE_COST * (all - cells_in(b)) + TILE_COST * tiles;
}

// Clear of layers and sponges.
static range clear_of_sides(const fd3d_cfg *c, const float *const sponge[3]) {
    range b;
    for (int a = 0; a < 3; a++) {
        int low, high;
        damped(sponge[a], c->n[a], &low, &high);
        b.lo[a] = std::max({std::max(low, c->layer[2 * a]) + REACH, 2 * REACH, fd3d_rim_depth(c, 2 * a)});
        b.hi[a] =
            c->n[a] - std::max({std::max(high, c->layer[2 * a + 1]) + REACH, 2 * REACH, fd3d_rim_depth(c, 2 * a + 1)});
    }
    if (c->side[4] == FD3D_FREE)
        b.lo[2] = std::max(b.lo[2], (int)FD3D_TOP_ROWS + (int)REACH); // rows of their own are none of its
    b.lo[0] = (b.lo[0] + PIECE - 1) / PIECE * PIECE;
    b.hi[0] = b.hi[0] / PIECE * PIECE;
    return b;
}

// The core without holes: clear of sides and of all that is no rock; along x whole tiles only where that is cheaper.
// Empty if it is not worth it.
static range box_of(const fd3d_cfg *c, const float *const sponge[3], const int rock[2]) {
    range b = clear_of_sides(c, sponge);
    b.lo[2] = std::max(b.lo[2], rock[0] + REACH);
    b.hi[2] = std::min(b.hi[2], rock[1] - REACH);
    if (b.hi[0] - b.lo[0] < LEAST || b.hi[1] - b.lo[1] < LEAST || b.hi[2] - b.lo[2] < LEAST)
        return range();
    range whole = b;
    whole.hi[0] = b.lo[0] + (b.hi[0] - b.lo[0]) / COLUMNS * COLUMNS;
    if (!empty(whole) && cost_of(whole, c) < cost_of(b, c))
        b = whole;
    const double all = (double)c->n[0] * c->n[1] * c->n[2];
    return cost_of(b, c) < all || c->sparse == WHEREVER ? b : range();
}

// Around receivers of stresses.
static range around(const range &box, const cell_list *cells) {
    range b = {{box.hi[0], box.hi[1], box.hi[2]}, {box.lo[0], box.lo[1], box.lo[2]}};
    for (int f = FD3D_SXX; f < FD3D_FIELDS; f++)
        for (int m = 0; m < cells[f].n; m++) {
            const int cell[3] = {cells[f].at[0][m], cells[f].at[1][m], cells[f].at[2][m]};
            if (fd3d_gpu_within(&box, cell))
                hold(&b, cell);
        }
    if (empty(b))
        return range();
    b.lo[0] = b.lo[0] / 2 * 2; // kernels have pairs of cells
    b.hi[0] = (b.hi[0] + 1) / 2 * 2;
    return b;
}

// Receivers that mix velocities and stresses find them in different places.
static bool mixed(const receiver_cells *r) {
    int velocities = 0;
    for (int f = 0; f < FD3D_SXX; f++)
        velocities += r->sampled[f].n;
    for (int n = 0; n < r->n; n++)
        for (int c = r->start[n]; c < r->start[n + 1]; c++)
            if ((r->cell[c] < velocities) != (r->cell[r->start[n]] < velocities))
                return true;
    return false;
}

static fd3d_gpu_core find(const fd3d_gpu *o, const fd3d *fd, const int rock[2]) {
    fd3d_gpu_core c = o->core;
    memcpy(c.rock, rock, sizeof c.rock);
    c.box = box_of(o->cfg, fd->sponge, c.rock);
    c.hole = around(c.box, fd->h.receivers.sampled);
    c.on = !empty(c.box) && (int)SHARE * cells_in(c.hole) <= cells_in(c.box) && !mixed(&fd->h.receivers);
    return c;
}

int fd3d_gpu_core_plan(fd3d_gpu *o, fd3d *fd, const int rock[2]) {
    if (o->core.v == nullptr)
        return 0;
    fd3d_gpu_core now = find(o, fd, rock);
    const int same = memcmp(&now, &o->core, sizeof now) == 0;
    if (same && o->shaken.known)
        return 0;
    REQUIRE(!o->core.begun || same || (!o->core.on && !now.on),
            "receivers of stresses, a sponge or fluids elsewhere in the middle of a shot: a sparse grid keeps stresses "
            "only where they were when it began (reset comes first)");
    if (now.on && fd3d_gpu_put_shaken(o, fd, &now) != 0) {
        if (o->core.begun)
            return 1;
        now.on = 0; // no room
    }
    if (same && now.on == o->core.on)
        return 0;
    gpu_forget_graphs(&o->queue);
    o->core = now;
    if (now.on)
        o->queue.close = 0; // closely behind each other kernels of large grids are slower by 1 %
    fd3d_gpu_set_pointers(o);
    fd3d_gpu_plan(o);
    return 0;
}

// --- room ------------------------------------------------------------------------------------------------------------

// True if a plane of a slab is rock where the core may be, and as far as its differences reach.
static bool is_rock(const fd3d_cfg *c, const range &b, const fd3d_slab *p, int plane) {
    const size_t nx = (size_t)c->n[0] + 2, ny = (size_t)c->n[1] + 2;
    for (int j = b.lo[1] - REACH; j < b.hi[1] + REACH; j++) {
        const size_t row = ((size_t)plane * ny + (size_t)j + 1) * nx + 1;
        const float *lambda = p->lambda + row, *mu = p->mu + row;
        int soft = 0; // counted, rather than left at the first, so that cells go side by side
        for (int i = b.lo[0] - REACH; i < b.hi[0] + REACH; i++)
            soft += !(SOFTEST * mu[i] > lambda[i] + 2 * mu[i]);
        if (soft > 0)
            return false;
    }
    return true;
}

// Goes on with the most planes of rock without another between them: the first, and the one behind the last.
static void find_rock(const fd3d_cfg *c, const fd3d_slab *p, fd3d_gpu_rock *r) {
    const float *const none[3] = {nullptr, nullptr, nullptr};
    const range b = clear_of_sides(c, none);
    if (p->first == 0)
        *r = fd3d_gpu_rock();
    for (int plane = 0; plane < p->planes; plane++) {
        const int k = p->first + plane - 1; // of the grid, without its ring
        if (k < 0 || k >= c->n[2])
            continue;
        if (!is_rock(c, b, p, plane)) {
            r->from = k + 1;
        } else if (k + 1 - r->from > r->most[1] - r->most[0]) {
            r->most[0] = r->from;
            r->most[1] = k + 1;
        }
    }
}

// Only what other handles on this GPU will not need; where a stranger takes it at this moment, there is no core.
static int take_room(fd3d_gpu *o) {
    const fd3d_cfg *c = o->cfg;
    const float *const none[3] = {nullptr, nullptr, nullptr};
    const size_t bytes = 6 * o->count * sizeof(float);
    size_t available = 0, total = 0;
    if (!c->sparse || o->kind->core == nullptr || c->anelastic || c->half_length > REACH ||
        c->side[5] == FD3D_ONE_WAY || empty(box_of(c, none, o->core.rock)) || !o->kind->core_fits(o))
        return 0;
    CUDA_TRY(cudaMemGetInfo(&available, &total));
    // `share` counts those that compute; some more may be set up and wait
    const size_t others = c->share > 1 ? (size_t)c->share * 4 / 3 * o->queue.pool.bytes : 0;
    if (available < others + bytes + bytes / 8)
        return 0;
    if (gpu_alloc(&o->queue, &o->core.pace, 1, sizeof(fd3d_gpu_pace), "the pace of the core") == 0 &&
        gpu_alloc(&o->queue, &o->core.v, 6 * o->count, sizeof(float), "the core") == 0)
        o->core.a = o->core.v + 3 * o->count;
    else
        o->core.v = nullptr;
    return 0;
}

int fd3d_gpu_core_model(fd3d_gpu *o, fd3d *fd, const fd3d_slab *p) {
    if (!o->cfg->sparse || o->kind->core == nullptr)
        return 0;
    find_rock(o->cfg, p, &o->rock);
    if (p->first + p->planes < o->cfg->n[2] + 2)
        return 0;
    if (o->core.v == nullptr) {
        memcpy(o->core.rock, o->rock.most, sizeof o->core.rock);
        TRY(take_room(o));
    }
    return fd3d_gpu_core_plan(o, fd, o->rock.most);
}

int fd3d_gpu_core_reset(fd3d_gpu *o) {
    if (o->core.v == nullptr)
        return 0;
    o->core.begun = o->core.ahead = o->core.partly = 0;
    fd3d_gpu_set_pointers(o);
    CUDA_TRY(cudaMemsetAsync(o->core.a, 0, 3 * o->count * sizeof(float), o->queue.stream));
    return 0;
}

// --- time ------------------------------------------------------------------------------------------------------------

// Next velocities of all cells of the core, as its kernel writes them.
static __global__ void __launch_bounds__(THREADS) look_ahead(const fd3d_gpu_grid g, const range b) {
    const int i = b.lo[0] + blockIdx.x * THREADS + threadIdx.x;
    if (i >= b.hi[0])
        return;
    const ptrdiff_t at = (b.lo[2] + (int)blockIdx.z) * g.z + (b.lo[1] + (int)blockIdx.y) * g.y + i;
#pragma unroll
    for (int c = 0; c < 3; c++)
        g.next_v[c][at] = g.f[FD3D_VX + c][at] + g.a[c][at];
}

// Before steps are queued. Graphs hold pointers: those of an odd number of steps before are no use.
int fd3d_gpu_core_begin(fd3d_gpu *o) {
    fd3d_gpu_core *c = &o->core;
    c->begun = 1;
    if (!c->on)
        return 0;
    if (c->captured != o->grid.f[FD3D_VX])
        gpu_forget_graphs(&o->queue);
    c->captured = o->grid.f[FD3D_VX];
    if (c->ahead)
        return 0;
    const int *lo = c->box.lo, *hi = c->box.hi;
    look_ahead<<<dim3((unsigned)(hi[0] - lo[0] + THREADS - 1) / THREADS, (unsigned)(hi[1] - lo[1]),
                      (unsigned)(hi[2] - lo[2])),
                 THREADS, 0, o->queue.stream>>>(o->grid, c->box);
    CUDA_TRY(cudaGetLastError());
    c->ahead = 1;
    return 0;
}

// The next velocities are the newest now.
int fd3d_gpu_core_turn(fd3d_gpu *o) {
    for (int c = 0; c < 3; c++)
        std::swap(o->grid.f[FD3D_VX + c], o->grid.next_v[c]);
    return 0;
}
