// Sources and receivers of the 3D GPU variants in device memory, for whole chunks of steps; the map of ground velocity.
// To receivers (gpu_points.h) velocities and stresses are a group each, fields one after the other being one.
#include "fd3d_gpu.h"
#include "gpu_follow.cuh"

#include <cstring>

enum { INJECTORS = 128, POINTS = 128 };

// --- sources -------------------------------------------------------------------------------------------------------

struct lists {
    ptrdiff_t *cell;
    int *part, *start, *h;
    float *w;
};

static int put_lists(fd3d_gpu *o, const fd3d *fd, const lists &l, size_t cells, size_t entries) {
    size_t c = 0, e = 0;
    for (int f = 0; f < FD3D_FIELDS; f++) {
        const source_cells *s = &fd->h.source[f];
        const int *const *at = s->cells.at;
        gpu_find_cells(&s->cells, o->grid.y, o->grid.z, l.cell + c);
        for (int m = 0; m < s->cells.n; m++, c++) {
            l.cell[c] += f * (ptrdiff_t)o->count;
            l.part[c] = fd3d_in_part(&fd->cfg, FD3D_RIM, at[0][m], at[1][m], at[2][m]) ? FD3D_RIM : FD3D_INNER;
            l.start[c] = (int)e;
            for (int n = s->start[m]; n < s->start[m + 1]; n++, e++) {
                l.h[e] = s->h[n];
                l.w[e] = s->w[n];
            }
        }
        if (f == FD3D_VZ)
            o->source.velocities = (int)c;
    }
    l.start[c] = (int)e;
    TRY(gpu_put(&o->queue, &o->source.cell, &o->room.cell, l.cell, cells, sizeof *l.cell, "source cells"));
    TRY(gpu_put(&o->queue, &o->source.part, &o->room.part, l.part, cells, sizeof(int), "source cells"));
    TRY(gpu_put(&o->queue, &o->source.start, &o->room.start, l.start, cells + 1, sizeof(int), "source cells"));
    TRY(gpu_put(&o->queue, &o->source.h, &o->room.h, l.h, entries, sizeof(int), "source cells"));
    TRY(gpu_put(&o->queue, &o->source.w, &o->room.w, l.w, entries, sizeof(float), "source cells"));
    o->source.n = (int)cells;
    return 0;
}

int fd3d_gpu_put_source(fd3d_gpu *o, fd3d *fd) {
    host_pool *pool = &fd->h.memory;
    size_t cells = 0, entries = 0;
    lists l = {};
    gpu_forget_graphs(&o->queue); // they hold the lists by value
    o->source.n = o->source.velocities = o->shaken.known = 0;
    o->source.nh = fd->h.histories.n;
    for (const source_cells &s : fd->h.source) {
        cells += (size_t)s.cells.n;
        entries += s.cells.n == 0 ? 0 : (size_t)s.start[s.cells.n];
    }
    const int rc = host_alloc(pool, &l.cell, cells, sizeof *l.cell, "source cells") ||
                   host_alloc(pool, &l.part, cells, sizeof(int), "source cells") ||
                   host_alloc(pool, &l.start, cells + 1, sizeof(int), "source cells") ||
                   host_alloc(pool, &l.h, entries, sizeof(int), "source cells") ||
                   host_alloc(pool, &l.w, entries, sizeof(float), "source cells") ||
                   put_lists(o, fd, l, cells, entries);
    host_release(pool, &l.cell);
    host_release(pool, &l.part);
    host_release(pool, &l.start);
    host_release(pool, &l.h);
    host_release(pool, &l.w);
    return rc;
}

// In the order of the queue: steps queued before still see the block before.
int fd3d_gpu_put_histories(fd3d_gpu *o, const source_histories *q) {
    const size_t count = (size_t)q->n * (size_t)q->steps;
    if (count > o->room.q)
        gpu_forget_graphs(&o->queue);
    return gpu_put(&o->queue, &o->source.q, &o->room.q, q->q, count, sizeof(float), "source histories");
}

// A thread a cell, which adds its entries in their order; to `grown` too, from zero, if there is one.
static __global__ void __launch_bounds__(INJECTORS) inject(fd3d_gpu_sources s, const gpu_step_sources *step_sources,
                                                           float *fields, float *grown, int from, int to, int part) {
    gpu_follow();
    const int c = from + blockIdx.x * INJECTORS + threadIdx.x, row = step_sources->row;
    if (c >= to || row < 0 || (part != FD3D_ALL && part != s.part[c]))
        return;
    const float *q = s.q + (ptrdiff_t)row * s.nh;
    float value = fields[s.cell[c]], alone = 0;
    for (int e = s.start[c]; e < s.start[c + 1]; e++) {
        value = fmaf(s.w[e], q[s.h[e]], value);
        alone = fmaf(s.w[e], q[s.h[e]], alone);
    }
    fields[s.cell[c]] = value;
    if (grown != nullptr)
        grown[c - from] = alone;
}

int fd3d_gpu_inject(fd3d_gpu *o, int what, int part) {
    const fd3d_gpu_sources *s = &o->source;
    const int from = what == 0 ? 0 : s->velocities, to = what == 0 ? s->velocities : s->n;
    if (from == to || s->nh == 0 || s->q == nullptr)
        return 0;
    const unsigned blocks = (unsigned)(to - from + INJECTORS - 1) / INJECTORS;
    float *const fields = what == 0 ? o->grid.next_v[0] : o->fields + o->origin;
    float *const grown = what == 1 && o->core.on ? o->shaken.grown : nullptr;
    return gpu_launch(&o->queue, o->queue.close, {blocks, INJECTORS, 0}, inject, *s, o->step_sources, fields, grown,
                      from, to, part);
}

// --- receivers -----------------------------------------------------------------------------------------------------

// With a core no receiver has cells of both velocities and stresses.
int fd3d_gpu_put_receivers(fd3d_gpu *o, fd3d *fd) {
    const int group[FD3D_FIELDS] = {0, 0, 0, 1, 1, 1, 1, 1, 1};
    ptrdiff_t first[FD3D_FIELDS];
    for (int f = 0; f < FD3D_FIELDS; f++)
        first[f] = f * (ptrdiff_t)o->count;
    gpu_forget_graphs(&o->queue);
    o->points.view.nrec = 0; // until all is there
    return gpu_frame_receivers(&fd->h, o->grid.y, o->grid.z, first, group);
}

// --- map -----------------------------------------------------------------------------------------------------------

static int upload_map(fd3d_gpu *o, const fd3d_watched *m) {
    fd3d_gpu_watched *g = &o->map;
    const size_t n = (size_t)m->n, starts = 3 * (size_t)m->stencils + 1, entries = (size_t)m->start[starts - 1];
    const struct {
        void *place;
        const void *from;
        size_t count, size;
    } lists[] = {{&g->cell, m->cell, n, sizeof *m->cell},
                 {&g->stencil, m->stencil, n, sizeof(int)},
                 {&g->start, m->start, starts, sizeof(int)},
                 {&g->entry, m->entry, entries, sizeof *m->entry}};
    for (const auto &l : lists) {
        void *memory;
        if (l.count == 0)
            continue;
        TRY(gpu_alloc(&o->queue, l.place, l.count, l.size, "points of the map"));
        memcpy(&memory, l.place, sizeof memory);
        TRY(gpu_upload(&o->queue, memory, l.from, l.count * l.size));
    }
    TRY(gpu_alloc(&o->queue, &g->peak, 3 * n, sizeof(float), "map of ground velocity"));
    g->last = m->last;
    g->n = m->n; // all is there
    return 0;
}

int fd3d_gpu_put_map(fd3d_gpu *o, fd3d *fd, const fd3d_given *given) {
    fd3d_gpu_watched *g = &o->map;
    gpu_forget_graphs(&o->queue);
    TRY(gpu_wait(&o->queue)); // what is queued writes the old map
    g->n = 0;
    dm_release(&o->queue.pool, &g->cell);
    dm_release(&o->queue.pool, &g->stencil);
    dm_release(&o->queue.pool, &g->start);
    dm_release(&o->queue.pool, &g->entry);
    dm_release(&o->queue.pool, &g->peak);
    if (given->n == 0)
        return 0;
    TRY(fd3d_set_map(fd, given, o->grid.y, o->grid.z));
    const int rc = upload_map(o, &fd->map);
    fd3d_drop_lists(fd);
    return rc;
}

// --- the end of a step ---------------------------------------------------------------------------------------------

// A component of a point's velocity, as a receiver there records it.
static __device__ __forceinline__ double read_point(const fd3d_gpu_watched &m, const float *at, int stencil, int c) {
    receiver_sum sum = {0, 0};
    for (int e = m.start[3 * stencil + c]; e < m.start[3 * stencil + c + 1]; e++)
        receiver_add(&sum, (double)m.entry[e].w * (double)at[m.entry[e].away]);
    return receiver_part(sum, 0);
}

// A thread a point. Neighbours on level ground have the same stencil, so a warp fetches each entry once.
static __global__ void __launch_bounds__(POINTS)
    keep_largest(fd3d_gpu_watched m, const gpu_clock *clock, const float *vx, const float *vy, const float *vz) {
    gpu_follow();
    const int p = blockIdx.x * POINTS + threadIdx.x;
    if (p >= m.n || clock->step > m.last)
        return;
    const ptrdiff_t cell = m.cell[p];
    const int stencil = m.stencil[p];
    const double x = read_point(m, vx + cell, stencil, 0), y = read_point(m, vy + cell, stencil, 1),
                 z = read_point(m, vz + cell, stencil, 2), level = x * x + y * y;
    m.peak[p] = fmaxf(m.peak[p], (float)sqrt(level));
    float *up = m.peak + m.n + p, *vector = up + m.n;
    *up = fmaxf(*up, (float)fabs(z));
    *vector = fmaxf(*vector, (float)sqrt(level + z * z));
}

// Receivers sample, the map grows.
int fd3d_gpu_end_step(fd3d_gpu *o) {
    const float *const stresses = o->fields + o->origin, *const field[GPU_FIELDS] = {o->grid.f[FD3D_VX], stresses,
                                                                                     stresses};
    TRY(gpu_sample(&o->queue, &o->points, field));
    if (o->map.n == 0)
        return 0;
    float *const *const v = o->grid.f;
    return gpu_launch(&o->queue, o->queue.close, {(unsigned)(o->map.n + POINTS - 1) / POINTS, POINTS, 0}, keep_largest,
                      o->map, o->queue.clock, v[FD3D_VX], v[FD3D_VY], v[FD3D_VZ]);
}

size_t fd3d_gpu_points_need(const fd3d_counts *counts) {
    const size_t cell = sizeof(ptrdiff_t) + 3 * sizeof(int) + sizeof(float);
    const size_t map = counts->points * (sizeof(ptrdiff_t) + sizeof(int) + 3 * sizeof(float)) +
                       counts->stencil_entries * sizeof(fd3d_entry);
    return gpu_points_need((int)counts->receivers, (int)counts->steps) + counts->entries * cell * 5 / 4 + map;
}
