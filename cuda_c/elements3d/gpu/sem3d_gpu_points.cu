// Points of the GPU variants of spectral elements: sums of forces, special points, sources, receivers, the map.
#include <algorithm>
#include <cstring>

#include "gpu_follow.cuh"
#include "sem3d_gpu_point.cuh"

using namespace sem3d_gpu_point;

enum { THREADS = 128 };

static unsigned blocks_of(int n) { return (unsigned)((n + THREADS - 1) / THREADS); }

// --- sums by point -------------------------------------------------------------------------------------------------

template <int COMPONENTS>
static __device__ __forceinline__ void add_part(const sem3d_gpu_phase &ph, int from, float f[COMPONENTS]) {
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++)
        f[c] += ph.part[c * ph.stride + from];
}

/* Forces of a point are added in the order of elements, or of bricks. */
template <int COMPONENTS>
static __global__ void __launch_bounds__(THREADS) gather(const __grid_constant__ sem3d_gpu_phase ph) {
    gpu_follow();
    const int n = blockIdx.x * THREADS + threadIdx.x, point = ph.from + n;
    if (point >= ph.points)
        return;
    const int2 pair = __ldg(ph.pair + n);
    const point_values<COMPONENTS> now(ph, point);
    float f[COMPONENTS];
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++)
        f[c] = ph.zero ? ph.part[c * ph.stride + pair.x] + 0.0f : ph.part[c * ph.stride + pair.x];
    if (pair.y >= 0)
        add_part<COMPONENTS>(ph, pair.y, f);
    const int *more = pair.y < -1 ? ph.more - 2 - pair.y : nullptr;
    for (int m = 1; more != nullptr && m <= __ldg(more); m++)
        add_part<COMPONENTS>(ph, __ldg(more + m), f);
    now.move(ph, point, f);
}

/* Forces of all points were added where they are; they become 0 again. */
template <int COMPONENTS>
static __global__ void __launch_bounds__(THREADS) take_forces(const __grid_constant__ sem3d_gpu_phase ph) {
    gpu_follow();
    const int point = blockIdx.x * THREADS + threadIdx.x;
    if (point >= ph.points)
        return;
    float f[COMPONENTS];
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++) {
        float *at = ph.force + (ptrdiff_t)c * ph.points + point;
        f[c] = *at;
        *at = 0;
    }
    point_values<COMPONENTS>(ph, point).move(ph, point, f);
}

template <int COMPONENTS> static int sums(const sem3d_gpu *o, const sem3d_gpu_phase &ph) {
    const int n = ph.force == nullptr ? ph.points - ph.from : ph.points;
    if (n <= 0)
        return 0;
    const auto kernel = ph.force == nullptr ? gather<COMPONENTS> : take_forces<COMPONENTS>;
    return gpu_launch(&o->queue, o->queue.close, {(unsigned)blocks_of(n), THREADS, 0}, kernel, ph);
}

int sem3d_gpu_sums(sem3d_gpu *o, int fluid) { return fluid ? sums<1>(o, o->phase[1]) : sums<3>(o, o->phase[0]); }

// --- special points ------------------------------------------------------------------------------------------------

// Special points need these beside their phase.
struct surroundings {
    sem3d_gpu_sides sides;
    const float *u[3]; // of the solid
    const float *q;    // histories
    int nh;
};

static __device__ __forceinline__ void drag_solid(const sem3d_drag &d, const float v[3], float f[3]) {
    const float *b = d.b, *t = d.s;
    const float x = f[0] - (b[0] * v[0] + b[3] * v[1] + b[4] * v[2]),
                y = f[1] - (b[3] * v[0] + b[1] * v[1] + b[5] * v[2]),
                z = f[2] - (b[4] * v[0] + b[5] * v[1] + b[2] * v[2]);
    f[0] = t[0] * x + t[3] * y + t[4] * z;
    f[1] = t[3] * x + t[1] * y + t[5] * z;
    f[2] = t[4] * x + t[5] * y + t[2] * z;
}

template <int COMPONENTS>
static __device__ __forceinline__ void meet(const surroundings &a, int contact, float f[COMPONENTS]) {
    const float *area = a.sides.area + 3 * contact;
    if constexpr (COMPONENTS == 3) {
        for (int c = 0; c < 3; c++)
            f[c] -= area[c] * a.sides.press[contact];
    } else {
        const int solid = a.sides.solid[contact];
        f[0] += area[0] * a.u[0][solid] + area[1] * a.u[1][solid] + area[2] * a.u[2][solid];
    }
}

/* In the order of sem3d.h: contact, sources, absorbing side. The fluid's second derivative presses on the solid. */
template <int COMPONENTS>
static __global__ void __launch_bounds__(THREADS)
    move_specials(const __grid_constant__ sem3d_gpu_phase ph, const sem3d_gpu_specials sp, const surroundings a,
                  const gpu_step_sources *step_sources) {
    gpu_follow();
    const int s = blockIdx.x * THREADS + threadIdx.x;
    if (s >= sp.n)
        return;
    const int point = sp.point[s], contact = sp.contact[s], drag = sp.drag[s], row = step_sources->row;
    const float gain = sp.gain[s];
    float f[COMPONENTS], v[COMPONENTS];
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++) {
        f[c] = ph.kept[(ptrdiff_t)c * ph.specials + s];
        v[c] = ph.v[c][point];
    }
    if (contact >= 0)
        meet<COMPONENTS>(a, contact, f);
    for (int e = sp.start[s]; e < sp.start[s + 1] && row >= 0; e++) {
        const float added = sp.w[e] * a.q[(ptrdiff_t)row * a.nh + sp.h[e]];
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++)
            f[c] += c == sp.component[e] ? added : 0.0f;
    }
    if (drag >= 0) {
        if constexpr (COMPONENTS == 3)
            drag_solid(a.sides.drag[drag], v, f);
        else
            f[0] = a.sides.drag[drag].s[0] * (f[0] - a.sides.drag[drag].b[0] * v[0]);
    }
    if (COMPONENTS == 1 && contact >= 0)
        a.sides.press[contact] = gain / ph.dt * f[0];
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++) {
        v[c] = fmaf(gain, f[c], v[c]);
        ph.v[c][point] = v[c];
        ph.u[c][point] = fmaf(ph.dt, v[c], ph.u[c][point]);
    }
}

int sem3d_gpu_move_specials(sem3d_gpu *o, int fluid) {
    const sem3d_gpu_specials &sp = o->special[fluid];
    const sem3d_gpu_phase &solid = o->phase[0];
    const surroundings a = {o->sides, {solid.u[0], solid.u[1], solid.u[2]}, o->q, o->nh};
    if (sp.n == 0)
        return 0;
    const auto kernel = fluid ? move_specials<1> : move_specials<3>;
    return gpu_launch(&o->queue, o->queue.close, {(unsigned)blocks_of(sp.n), THREADS, 0}, kernel, o->phase[fluid], sp,
                      a, o->step_sources);
}

// --- lists of special points ---------------------------------------------------------------------------------------

// Special points are no longer, or are now.
static __global__ void __launch_bounds__(THREADS) mark(const sem3d_gpu_specials sp, float *gain, bool special) {
    const int s = blockIdx.x * THREADS + threadIdx.x;
    if (s < sp.n)
        gain[sp.point[s]] = special ? __int_as_float(~s) : sp.gain[s];
}

static int mark_points(sem3d_gpu *o, int fluid, bool special) {
    const sem3d_gpu_specials &sp = o->special[fluid];
    if (sp.n > 0)
        mark<<<blocks_of(sp.n), THREADS, 0, o->queue.stream>>>(sp, (float *)o->phase[fluid].gain, special);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

// On the host: special points of a phase, whose points are low .. high-1.
struct lists {
    int n, entries;
    int *point, *drag, *contact, *start, *component, *h;
    float *gain, *w;
};

static int fields_of(int fluid, const sem3d *fd, const source_cells *list[3]) {
    for (int c = 0; c < (fluid ? 1 : 3); c++)
        list[c] = &fd->h.source[fluid ? (int)SEM3D_CHI_T : (int)SEM3D_VX + c];
    return fluid ? 1 : 3;
}

static void add_points(lists *l, const int *from, int n, int low, int high) {
    for (int m = 0; m < n; m++)
        if (from[m] >= low && from[m] < high)
            l->point[l->n++] = from[m];
}

// All special points, rising, each once.
static void find_points(const sem3d *fd, int fluid, int low, int high, lists *l) {
    const source_cells *source[3];
    const int fields = fields_of(fluid, fd, source);
    add_points(l, fd->sides.drag_at, fd->sides.drags, low, high);
    add_points(l, fluid ? fd->sides.fluid : fd->sides.solid_at, fd->sides.contacts, low, high);
    for (int c = 0; c < fields; c++)
        add_points(l, source[c]->cells.at[0], source[c]->cells.n, low, high);
    std::sort(l->point, l->point + l->n);
    l->n = (int)(std::unique(l->point, l->point + l->n) - l->point);
}

// The place of a number in a rising list; -1 if it is not there.
static int place_in(const int *rising, int n, int value) {
    const int at = n == 0 ? 0 : sem3d_seek(rising, n, value);
    return at < n && rising[at] == value ? at : -1;
}

static void describe_points(const sem3d *fd, int fluid, int low, lists *l) {
    const sem3d_sides *s = &fd->sides;
    const source_cells *source[3];
    const int fields = fields_of(fluid, fd, source);
    for (int n = 0; n < l->n; n++) {
        const int p = l->point[n], meets = place_in(fluid ? s->fluid : s->solid_at, s->contacts, p);
        l->drag[n] = place_in(s->drag_at, s->drags, p);
        l->contact[n] = meets < 0 || fluid ? meets : s->of_solid[meets];
        l->gain[n] = fd->gain[p];
        l->start[n] = l->entries;
        for (int c = 0; c < fields; c++) {
            const int at = place_in(source[c]->cells.at[0], source[c]->cells.n, p);
            for (int e = at < 0 ? 0 : source[c]->start[at]; at >= 0 && e < source[c]->start[at + 1]; e++) {
                l->component[l->entries] = c;
                l->h[l->entries] = source[c]->h[e];
                l->w[l->entries++] = source[c]->w[e];
            }
        }
        l->point[n] = p - low;
    }
    l->start[l->n] = l->entries;
}

static int take_lists(host_pool *pool, size_t points, size_t entries, lists *l) {
    int **list[] = {&l->point, &l->drag, &l->contact, &l->start};
    for (int **each : list)
        TRY(host_alloc(pool, each, points + 1, sizeof(int), "special points"));
    TRY(host_alloc(pool, &l->gain, points, sizeof(float), "special points"));
    TRY(host_alloc(pool, &l->component, entries, sizeof(int), "sources"));
    TRY(host_alloc(pool, &l->h, entries, sizeof(int), "sources"));
    return host_alloc(pool, &l->w, entries, sizeof(float), "sources");
}

static void drop_lists(host_pool *pool, lists *l) {
    int **list[] = {&l->point, &l->drag, &l->contact, &l->start, &l->component, &l->h};
    for (int **each : list)
        host_release(pool, each);
    host_release(pool, &l->gain);
    host_release(pool, &l->w);
}

static int put_lists(sem3d_gpu *o, int fluid, const lists &l) {
    gpu_queue *q = &o->queue;
    sem3d_gpu_specials *sp = &o->special[fluid];
    sem3d_gpu_phase *ph = &o->phase[fluid];
    const size_t n = (size_t)l.n, entries = (size_t)l.entries;
    const char *what = "special points";
    TRY(gpu_put(q, &sp->point, &sp->room.point, l.point, n, sizeof(int), what));
    TRY(gpu_put(q, &sp->gain, &sp->room.gain, l.gain, n, sizeof(float), what));
    TRY(gpu_put(q, &sp->drag, &sp->room.drag, l.drag, n, sizeof(int), what));
    TRY(gpu_put(q, &sp->contact, &sp->room.contact, l.contact, n, sizeof(int), what));
    TRY(gpu_put(q, &sp->start, &sp->room.start, l.start, n + 1, sizeof(int), what));
    TRY(gpu_put(q, &sp->component, &sp->room.component, l.component, entries, sizeof(int), what));
    TRY(gpu_put(q, &sp->h, &sp->room.h, l.h, entries, sizeof(int), what));
    TRY(gpu_put(q, &sp->w, &sp->room.w, l.w, entries, sizeof(float), what));
    TRY(gpu_grow(q, &ph->kept, &sp->room.kept, n * (fluid ? 1 : 3), sizeof(float), what));
    sp->n = ph->specials = l.n;
    return mark_points(o, fluid, true);
}

static int put_phase(sem3d *fd, int fluid) {
    const sem3d_cfg *c = &fd->cfg;
    host_pool *pool = &fd->h.memory;
    const source_cells *source[3];
    const int low = fluid ? c->solid_points : 0, high = fluid ? c->points : c->solid_points,
              fields = fields_of(fluid, fd, source);
    size_t points = (size_t)fd->sides.drags + (size_t)fd->sides.contacts, entries = 0;
    lists l = {};
    for (int f = 0; f < fields; f++) {
        points += (size_t)source[f]->cells.n;
        entries += source[f]->cells.n == 0 ? 0 : (size_t)source[f]->start[source[f]->cells.n];
    }
    int rc = take_lists(pool, points, entries, &l);
    if (rc == 0) {
        find_points(fd, fluid, low, high, &l);
        describe_points(fd, fluid, low, &l);
        rc = put_lists(sem3d_gpu_own(&fd->h), fluid, l);
    }
    drop_lists(pool, &l);
    return rc;
}

int sem3d_gpu_put_specials(sem3d *fd) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    gpu_forget_graphs(&o->queue); // they hold the lists by value
    o->nh = fd->h.histories.n;
    for (int fluid = 0; fluid < 2; fluid++) {
        TRY(mark_points(o, fluid, false));
        o->special[fluid].n = o->phase[fluid].specials = 0;
        TRY(put_phase(fd, fluid));
    }
    return 0;
}

// --- histories -----------------------------------------------------------------------------------------------------

// In the order of the queue: steps queued before still see the block before.
int sem3d_gpu_put_histories(sem3d_gpu *o, const source_histories *q) {
    const size_t count = (size_t)q->n * (size_t)q->steps;
    if (count > o->room_q || o->nh != q->n)
        gpu_forget_graphs(&o->queue);
    o->nh = q->n;
    return gpu_put(&o->queue, &o->q, &o->room_q, q->q, count, sizeof(float), "source histories");
}

// --- receivers and map ---------------------------------------------------------------------------------------------

int sem3d_gpu_put_receivers(sem3d *fd) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    const int group[SEM3D_FIELDS] = {};
    ptrdiff_t first[SEM3D_FIELDS];
    for (int f = 0; f < SEM3D_FIELDS; f++)
        first[f] = sem3d_gpu_first(o, f);
    gpu_forget_graphs(&o->queue);
    o->points.view.nrec = 0; // until all is there
    return gpu_frame_receivers(&fd->h, 0, 0, first, group);
}

static int upload_map(sem3d *fd, ptrdiff_t *cell) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    const sem3d_map_points *m = &fd->map;
    sem3d_gpu_map *g = &o->map;
    const size_t n = (size_t)m->n, entries = (size_t)m->start[3 * n];
    for (size_t e = 0; e < entries; e++)
        cell[e] = sem3d_gpu_first(o, m->field[e]) + m->at[e];
    TRY(gpu_alloc(&o->queue, &g->start, 3 * n + 1, sizeof(int), "points of the map"));
    TRY(gpu_alloc(&o->queue, &g->cell, entries, sizeof *cell, "points of the map"));
    TRY(gpu_alloc(&o->queue, &g->w, entries, sizeof(float), "points of the map"));
    TRY(gpu_alloc(&o->queue, &g->peak, 3 * n, sizeof(float), "map of ground velocity"));
    TRY(gpu_upload(&o->queue, g->start, m->start, (3 * n + 1) * sizeof(int)));
    TRY(gpu_upload(&o->queue, g->cell, cell, entries * sizeof *cell));
    TRY(gpu_upload(&o->queue, g->w, m->w, entries * sizeof(float)));
    g->last = m->last;
    g->n = m->n; // all is there
    return 0;
}

int sem3d_gpu_put_map(sem3d *fd) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    sem3d_gpu_map *g = &o->map;
    ptrdiff_t *cell = nullptr;
    gpu_forget_graphs(&o->queue);
    TRY(gpu_wait(&o->queue)); // what is queued writes the old map
    g->n = 0;
    dm_release(&o->queue.pool, &g->start);
    dm_release(&o->queue.pool, &g->cell);
    dm_release(&o->queue.pool, &g->w);
    dm_release(&o->queue.pool, &g->peak);
    if (fd->map.n == 0)
        return 0;
    const int rc = host_alloc(&fd->h.memory, &cell, (size_t)fd->map.start[3 * (size_t)fd->map.n], sizeof *cell,
                              "points of the map") ||
                   upload_map(fd, cell);
    host_release(&fd->h.memory, &cell);
    return rc;
}

// A thread a point.
static __global__ void __launch_bounds__(THREADS)
    keep_largest(const sem3d_gpu_map m, const gpu_clock *clock, const float *fields) {
    gpu_follow();
    const int p = blockIdx.x * THREADS + threadIdx.x;
    if (p >= m.n || clock->step > m.last)
        return;
    float v[3];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        receiver_sum sum = {0, 0};
        for (int e = m.start[3 * p + c]; e < m.start[3 * p + c + 1]; e++)
            receiver_add(&sum, (double)m.w[e] * (double)fields[m.cell[e]]);
        v[c] = receiver_part(sum, 0);
    }
    const float level = v[0] * v[0] + v[1] * v[1];
    float *up = m.peak + m.n + p, *vector = up + m.n;
    m.peak[p] = fmaxf(m.peak[p], sqrtf(level));
    *up = fmaxf(*up, fabsf(v[2]));
    *vector = fmaxf(*vector, sqrtf(level + v[2] * v[2]));
}

int sem3d_gpu_end_step(sem3d_gpu *o) {
    const float *const field[GPU_FIELDS] = {o->fields, o->fields, o->fields};
    TRY(gpu_sample(&o->queue, &o->points, field));
    if (o->map.n == 0)
        return 0;
    return gpu_launch(&o->queue, o->queue.close, {(unsigned)blocks_of(o->map.n), THREADS, 0}, keep_largest, o->map,
                      o->queue.clock, o->fields);
}
