/* Sources of stress in the core of a sparse grid, which keeps no stresses: an increment ds of a stress gives the
 * velocities around it the increments that its differences make of it,
 *
 *   a += b D ds     after the core's next increments a are there, and then its next velocities; D as in der3d.h
 *
 * for good, as the stress would. Sources of velocities need nothing of their own: they shake the second set, in which
 * the core's next velocities are. Cells that keep their stresses get the increments there too, as everywhere.
 *
 *   source cells of a stress, sorted:       1 . . 2 3        a difference moves the list by a constant, so the lists of
 *   velocities that grow by w(1) ds, w(2):  . 1 . . 2 3      all differences that make a velocity are merged, cell by
 *                                           2 3 . . . 1 . .  cell, and each cell adds in one fixed order. */
#include "fd3d_gpu.h"
#include "gpu_follow.cuh"

#include <climits>

enum { THREADS = 128, REACH = FD3D_GPU_REACH, STREAMS = 3 * 2 * REACH };

// --- which velocities ------------------------------------------------------------------------------------------------

// Source cells of a stress, moved to the velocities that one weight of a difference takes them to.
struct stream {
    const cell_list *cells;
    int first, next; // number of its first cell among those of all stresses; of its cells the next one
    int axis, away;
    float w;
};

struct lists {
    ptrdiff_t *cell;
    int *start, *from;
    float *w;
};

// To the next one that is in the core: its place, LLONG_MAX behind the last.
static long long place_of(const fd3d_gpu *o, const fd3d_gpu_core *core, stream *s) {
    for (; s->next < s->cells->n; s->next++) {
        int at[3];
        for (int a = 0; a < 3; a++)
            at[a] = s->cells->at[a][s->next] + (a == s->axis ? s->away : 0);
        if (fd3d_gpu_within(&core->box, at) && !fd3d_gpu_within(&core->hole, at))
            return at[0] + at[1] * (long long)o->grid.y + at[2] * (long long)o->grid.z;
    }
    return LLONG_MAX;
}

// All that makes a component of velocity, by weights of differences along the axes, forward but for the normal stress.
static int streams_of(const fd3d_gpu *o, const fd3d *fd, const int first[FD3D_FIELDS], int component, stream *s) {
    static const int stress[3][3] = {
        {FD3D_SXX, FD3D_SXY, FD3D_SXZ}, {FD3D_SXY, FD3D_SYY, FD3D_SYZ}, {FD3D_SXZ, FD3D_SYZ, FD3D_SZZ}};
    int n = 0;
    for (int axis = 0; axis < 3; axis++)
        for (int m = 0; m < o->cfg->half_length; m++)
            for (int sign = 1; sign >= -1; sign -= 2) {
                const int f = stress[component][axis], backward = axis == component;
                const int away = sign > 0 ? -m - 1 + backward : m + backward;
                s[n++] = {
                    &fd->h.source[f].cells, first[f], 0, axis, away, (float)sign * o->grid.w[m] * o->grid.t[axis]};
            }
    return n;
}

// Velocities, and entries of all of them; into lists, or only counted.
static void merge(const fd3d_gpu *o, const fd3d *fd, const fd3d_gpu_core *core, const lists *l, int component[4],
                  size_t *entries) {
    int first[FD3D_FIELDS] = {}, targets = 0;
    size_t e = 0;
    for (int f = FD3D_SXX; f + 1 < FD3D_FIELDS; f++)
        first[f + 1] = first[f] + fd->h.source[f].cells.n;
    for (int c = 0; c < 3; c++) {
        stream s[STREAMS];
        const int n = streams_of(o, fd, first, c, s);
        component[c] = targets;
        for (;;) {
            long long place[STREAMS], least = LLONG_MAX;
            for (int m = 0; m < n; m++) {
                place[m] = place_of(o, core, &s[m]);
                least = place[m] < least ? place[m] : least;
            }
            if (least == LLONG_MAX)
                break;
            if (l != nullptr) {
                l->cell[targets] = (ptrdiff_t)least;
                l->start[targets] = (int)e;
            }
            for (int m = 0; m < n; m++) {
                if (place[m] != least)
                    continue;
                if (l != nullptr) {
                    l->from[e] = s[m].first + s[m].next;
                    l->w[e] = s[m].w;
                }
                s[m].next++;
                e++;
            }
            targets++;
        }
    }
    component[3] = targets;
    if (l != nullptr)
        l->start[targets] = (int)e;
    *entries = e;
}

// --- to the device ---------------------------------------------------------------------------------------------------

static int put_lists(fd3d_gpu *o, const fd3d *fd, const fd3d_gpu_core *core, const lists &l, size_t entries) {
    fd3d_gpu_shaken *s = &o->shaken;
    const size_t targets = (size_t)s->component[3], grown = (size_t)(o->source.n - o->source.velocities);
    size_t same;
    merge(o, fd, core, &l, s->component, &same);
    TRY(gpu_put(&o->queue, &s->cell, &o->shaken_room.cell, l.cell, targets, sizeof *l.cell, "sources in the core"));
    TRY(gpu_put(&o->queue, &s->start, &o->shaken_room.start, l.start, targets + 1, sizeof(int), "sources in the core"));
    TRY(gpu_put(&o->queue, &s->from, &o->shaken_room.from, l.from, entries, sizeof(int), "sources in the core"));
    TRY(gpu_put(&o->queue, &s->w, &o->shaken_room.w, l.w, entries, sizeof(float), "sources in the core"));
    if (grown > o->shaken_room.grown)
        TRY(gpu_grow(&o->queue, &s->grown, &o->shaken_room.grown, grown, sizeof(float), "sources in the core"));
    return 0;
}

int fd3d_gpu_put_shaken(fd3d_gpu *o, fd3d *fd, const fd3d_gpu_core *core) {
    host_pool *pool = &fd->h.memory;
    lists l = {};
    size_t entries = 0;
    gpu_forget_graphs(&o->queue); // they hold the lists by value
    merge(o, fd, core, nullptr, o->shaken.component, &entries);
    const size_t targets = (size_t)o->shaken.component[3];
    REQUIRE(entries < INT_MAX, "%zu numbers of sources in the core: at most %d", entries, INT_MAX);
    const int rc = host_alloc(pool, &l.cell, targets, sizeof *l.cell, "sources in the core") ||
                   host_alloc(pool, &l.start, targets + 1, sizeof(int), "sources in the core") ||
                   host_alloc(pool, &l.from, entries, sizeof(int), "sources in the core") ||
                   host_alloc(pool, &l.w, entries, sizeof(float), "sources in the core") ||
                   put_lists(o, fd, core, l, entries);
    host_release(pool, &l.cell);
    host_release(pool, &l.start);
    host_release(pool, &l.from);
    host_release(pool, &l.w);
    o->shaken.apart = (ptrdiff_t)o->count;
    o->shaken.known = rc == 0;
    return rc;
}

// --- in a step -------------------------------------------------------------------------------------------------------

// A thread a velocity.
static __global__ void __launch_bounds__(THREADS)
    shake(const fd3d_gpu_grid g, fd3d_gpu_shaken s, const gpu_step_sources *step_sources) {
    gpu_follow();
    const int n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= s.component[3] || step_sources->row < 0)
        return;
    const int c = n < s.component[1] ? 0 : n < s.component[2] ? 1 : 2;
    const ptrdiff_t at = s.cell[n], before = c == 0 ? 1 : c == 1 ? g.y : g.z, own = c * s.apart + at;
    float sum = 0;
    for (int e = s.start[n]; e < s.start[n + 1]; e++)
        sum = fmaf(s.w[e], s.grown[s.from[e]], sum);
    const float a = g.a[0][own] + 2 * sum / (g.m.rho[at] + g.m.rho[at - before]);
    g.a[0][own] = a;
    g.next_v[0][own] = g.f[FD3D_VX][own] + a; // as after a state, which has v and a alone
}

int fd3d_gpu_shake(fd3d_gpu *o) {
    const int n = o->shaken.component[3];
    if (n == 0 || o->source.nh == 0 || o->source.q == nullptr)
        return 0;
    return gpu_launch(&o->queue, o->queue.close, {(unsigned)(n + THREADS - 1) / THREADS, THREADS, 0}, shake, o->grid,
                      o->shaken, o->step_sources);
}
