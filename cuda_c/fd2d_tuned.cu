// The `tuned` variant: one launch a step, 24 bytes a cell, velocities eliminated; the step itself is told in
// fd2d_tuned.cuh. Here: memory, medium, layers, points, and how steps follow each other.
//
// Two copies of s (read one, write the other) and of psi of grad s; steps come in pairs, so that a graph of pairs
// serves all chunks and s is always in the first copy at the end of a chunk; an odd step is followed by a copy back.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "fd2d_tuned_points.cuh"
#include "fd2d_tuned_shape.h"

using namespace tuned;

static constexpr int BLOCK = 256, SLAB = 1 << 20; // threads of simple kernels; numbers of a piece of the model

struct own_t {
    fd2d_gpu_queue queue;
    fd2d_gpu_points points;
    args g;
    launch now;
    velocities v;
    size_t room_v, room_box;
    float *s[2], *e, *kk, *rho, *psix[2], *psix_s, *psiz[2], *psiz_s, *px, *pz, *slab, *box_w;
    double *value[2];
    int *vi, *vk;
    int *second;      // steps after the first of a pair
    ptrdiff_t origin; // of cell (0,0) in the padded arrays
    size_t count, psix_count, psiz_count;
    int slab_rows; // of the model at a time
    int alone;     // steps may follow closely
    int moved;     // steps have been taken since the last reset
    size_t counted;
};

static own_t *own(fd2d *fd) { return (own_t *)fd->own; }

static void count_bytes(fd2d *fd) {
    own_t *o = own(fd);
    const size_t now = o->queue.pool.bytes + o->queue.pool.pinned_bytes;
    fd->bytes += now - o->counted;
    o->counted = now;
}

// --- new and free ----------------------------------------------------------------------------------------------------

static int up(int n, int to) { return (n + to - 1) / to * to; }

static void set_shapes(own_t *o, const fd2d_cfg *c) {
    args *g = &o->g;
    g->nx = c->nx;
    g->nz = c->nz;
    g->free_top = c->free_top;
    g->pitch = up(c->nx + 2 * MARGIN_X, 32);
    g->px_pitch = up(c->nx + V, 32);
    // strips widened to whole threads; at half points the right and the lower layer begin one index earlier
    const int end = up(c->nx, V), right = c->nright == 0 ? end : (c->nx - c->nright - 1) / V * V;
    const int bottom = c->nz - c->nbottom - 1;
    g->left = up(c->nleft, V);
    g->right = right < g->left ? g->left : right;
    g->top = c->ntop;
    g->bottom = c->nbottom == 0 ? c->nz : bottom < c->ntop ? c->ntop : bottom;
    g->strip_pitch = up(g->left + (end > g->right ? end - g->right : 0) + V, 32);
    // with the rounded ratio that the other variants multiply by, lest waves go down slower or faster than theirs
    const double ratio = (double)c->dx / c->dz, square = (float)ratio * ratio;
    g->ratio = (float)square;
    g->ratio_rest = (float)(square - g->ratio);
    for (int m = 0; m < c->half_length; m++)
        g->w[m] = c->w[m];
    o->v.scale_x = 2.0 * c->dt / c->dx;
    o->v.scale_z = 2.0 * c->dt / c->dz;
    o->origin = (ptrdiff_t)MARGIN_Z * g->pitch + MARGIN_X;
    o->count = ((size_t)c->nz + 2 * MARGIN_Z) * (size_t)g->pitch;
    o->psix_count = (size_t)g->strip_pitch * (size_t)c->nz;
    o->psiz_count = ((size_t)g->top + (size_t)(g->nz - g->bottom) + 1) * (size_t)g->pitch;
    const int fit = SLAB / c->nx;
    o->slab_rows = fit < 1 ? 1 : fit > c->nz ? c->nz : fit;
}

struct array {
    float **place;
    size_t count;
    const char *what;
};

enum { ARRAYS = 14 };

static void list_arrays(own_t *o, array list[ARRAYS]) {
    const size_t nx = (size_t)o->g.nx, rows = (size_t)o->slab_rows;
    const array all[ARRAYS] = {
        {&o->s[0], o->count, "sigma"},
        {&o->s[1], o->count, "sigma of the next step"},
        {&o->e, o->count, "increments of sigma"},
        {&o->kk, o->count, "bulk modulus"},
        {&o->rho, o->count, "density"},
        {&o->psix[0], o->psix_count, "memory variables of the layers along x"},
        {&o->psix[1], o->psix_count, "memory variables of the layers along x"},
        {&o->psix_s, o->psix_count, "memory variables of the layers along x"},
        {&o->psiz[0], o->psiz_count, "memory variables of the layers along z"},
        {&o->psiz[1], o->psiz_count, "memory variables of the layers along z"},
        {&o->psiz_s, o->psiz_count, "memory variables of the layers along z"},
        {&o->px, 6 * (size_t)o->g.px_pitch, "layer profiles along x"},
        {&o->pz, 6 * (size_t)o->g.nz, "layer profiles along z"},
        {&o->slab, 2 * rows * nx, "rows of the model"},
    };
    memcpy(list, all, sizeof all);
}

static int check_size(const fd2d_cfg *c) {
    REQUIRE((unsigned long long)c->nx * (unsigned long long)c->nz < 1ull << FD2D_GPU_INDEX_BITS && c->nz < 1 << 29 &&
                c->nx < 1 << 29,
            "a grid of %d x %d cells is more than a GPU variant can count (%.1e cells): make it smaller", c->nx, c->nz,
            (double)(1ull << FD2D_GPU_INDEX_BITS));
    return 0;
}

static __global__ void __launch_bounds__(BLOCK) fill(float *a, size_t n, float value) {
    for (size_t j = (size_t)blockIdx.x * BLOCK + threadIdx.x; j < n; j += (size_t)gridDim.x * BLOCK)
        a[j] = value;
}

static __global__ void __launch_bounds__(BLOCK) fill_with_noise(float *a, size_t n) {
    for (size_t j = (size_t)blockIdx.x * BLOCK + threadIdx.x; j < n; j += (size_t)gridDim.x * BLOCK)
        a[j] = (float)((unsigned)j * 2654435761u >> 8) * 0x1p-24f;
}

static int make_memory(own_t *o) {
    array list[ARRAYS];
    list_arrays(o, list);
    for (const array &a : list)
        TRY(fd2d_gpu_alloc(&o->queue, a.place, a.count, sizeof(float), a.what));
    TRY(fd2d_gpu_alloc(&o->queue, &o->second, 1, sizeof *o->second, "the step number"));
    fill<<<1024, BLOCK, 0, o->queue.stream>>>(o->rho, o->count, INFINITY); // outside: no velocity
    CUDA_TRY(cudaGetLastError());
    args *g = &o->g;
    g->e = o->e + o->origin;
    g->kk = o->kk + o->origin;
    g->rho = o->rho + o->origin;
    g->px = o->px;
    g->pz = o->pz;
    g->psix_s = o->psix_s;
    g->psiz_s = o->psiz_s;
    g->clock = o->queue.clock;
    return 0;
}

static int find_shape(fd2d *fd);

static int make(fd2d *fd) {
    TRY(fd2d_alloc(fd, &fd->own, 1, sizeof(own_t), "the GPU's grid"));
    own_t *o = own(fd);
    TRY(check_size(&fd->cfg));
    set_shapes(o, &fd->cfg);
    const int rc = fd2d_gpu_open(&o->queue) || make_memory(o) || find_shape(fd);
    count_bytes(fd);
    o->points.pitch = o->g.pitch;
    return rc;
}

static void release(fd2d *fd) {
    if (own(fd) == nullptr)
        return;
    fd2d_gpu_close(&own(fd)->queue);
    count_bytes(fd);
    fd2d_release(fd, &fd->own);
}

static int need(const fd2d_cfg *cfg, int receivers, int steps, size_t *bytes) {
    own_t o = {};
    array list[ARRAYS];
    TRY(check_size(cfg));
    set_shapes(&o, cfg);
    list_arrays(&o, list);
    *bytes = fd2d_gpu_queue_need(receivers, steps);
    for (const array &a : list)
        *bytes += a.count * sizeof(float);
    return 0;
}

// --- medium and layers -----------------------------------------------------------------------------------------------

// Rows k0 .. of kk and rho from kappa(nx,rows) and rho(nx,rows); the edge of rho once more beyond the last column and
// row.
static __global__ void __launch_bounds__(BLOCK)
    set_medium(int nx, int nz, int k0, const float *kappa, const float *from, double tx, int free_top, ptrdiff_t pitch,
               float *kk, float *rho) {
    const int i = blockIdx.x * BLOCK + threadIdx.x, k = k0 + (int)blockIdx.y;
    if (i >= nx)
        return;
    const ptrdiff_t at = (ptrdiff_t)blockIdx.y * nx + i, to = k * pitch + i;
    const float r = from[at];
    kk[to] = free_top && k == 0 ? 0.0f : (float)(tx * kappa[at]);
    rho[to] = r;
    if (i == nx - 1)
        rho[to + 1] = r;
    if (k == nz - 1)
        rho[to + pitch] = r;
}

// kk from K dt/dx, as all variants have it, to 2 K dt^2/dx^2, so that its product with the reciprocals that the step
// takes is that with the buoyancies of fd2d_coefficients, in the mean of the sides of a cell: a last bit that all of a
// layer has in common would make waves arrive sooner or later, 1e-5 of a trace after some thousand steps.
static __global__ void __launch_bounds__(BLOCK)
    match_medium(int nx, int nz, ptrdiff_t pitch, double tx, double tz, float *kk, const float *rho) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= nx)
        return;
    for (int k = blockIdx.y; k < nz; k += gridDim.y) {
        const ptrdiff_t at = k * pitch + i, beside[4] = {-1, 1, -pitch, pitch};
        const bool there[4] = {i > 0, true, k > 0, true}; // after the last ones stands the edge once more
        double sum = 0;
        int n = 0;
        for (int side = 0; side < 4; side++) {
            if (!there[side])
                continue;
            const float other = rho[at + beside[side]];
            const double t = side < 2 ? tx : tz, buoyancy = (float)(t / (0.5 * ((double)rho[at] + other)));
            sum += buoyancy * (tx / t) / reciprocal(rho[at] + other);
            n++;
        }
        kk[at] = (float)(kk[at] * (sum / n));
    }
}

static int model(fd2d *fd, const float *kappa, const float *rho) {
    own_t *o = own(fd);
    const args *g = &o->g;
    const double tx = (double)fd->cfg.dt / fd->cfg.dx;
    const size_t nx = (size_t)g->nx;
    float *slab_rho = o->slab + (size_t)o->slab_rows * nx;
    TRY(fd2d_gpu_enter(&o->queue));
    for (int k = 0; k < g->nz; k += o->slab_rows) {
        const int left = g->nz - k, rows = left < o->slab_rows ? left : o->slab_rows;
        TRY(fd2d_gpu_upload(&o->queue, o->slab, kappa + (size_t)k * nx, (size_t)rows * nx * sizeof(float)));
        TRY(fd2d_gpu_upload(&o->queue, slab_rho, rho + (size_t)k * nx, (size_t)rows * nx * sizeof(float)));
        for (int r = 0; r < rows; r += 32768) {
            const int part = rows - r < 32768 ? rows - r : 32768;
            set_medium<<<dim3((g->nx + BLOCK - 1) / BLOCK, part), BLOCK, 0, o->queue.stream>>>(
                g->nx, g->nz, k + r, o->slab + (size_t)r * nx, slab_rho + (size_t)r * nx, tx, g->free_top, g->pitch,
                o->kk + o->origin, o->rho + o->origin);
            CUDA_TRY(cudaGetLastError());
        }
    }
    const int blocks = g->nz < 32768 ? g->nz : 32768;
    match_medium<<<dim3((g->nx + BLOCK - 1) / BLOCK, blocks), BLOCK, 0, o->queue.stream>>>(
        g->nx, g->nz, g->pitch, tx, (double)fd->cfg.dt / fd->cfg.dz, o->kk + o->origin, o->rho + o->origin);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

// Profiles along x continued to whole threads without effect: a = b = 0, 1/k = 1.
static int pml(fd2d *fd) {
    own_t *o = own(fd);
    const size_t nx = (size_t)o->g.nx, pitch = (size_t)o->g.px_pitch;
    float *px = nullptr;
    TRY(fd2d_gpu_enter(&o->queue));
    TRY(fd2d_alloc(fd, &px, 6 * pitch, sizeof *px, "layer profiles along x"));
    for (size_t n = 0; n < 6; n++)
        for (size_t i = 0; i < pitch; i++)
            px[n * pitch + i] = i < nx ? fd->px[n * nx + i] : n % 3 == 2 ? 1.0f : 0.0f;
    const int rc = fd2d_gpu_upload(&o->queue, o->px, px, 6 * pitch * sizeof(float)) ||
                   fd2d_gpu_upload(&o->queue, o->pz, fd->pz, 6 * (size_t)o->g.nz * sizeof(float));
    fd2d_release(fd, &px);
    return rc;
}

// --- source and receivers --------------------------------------------------------------------------------------------

// Weights of all cells in the smallest box around them.
static int fill_box(fd2d *fd, box *b, float **w) {
    const fd2d_cells *s = &fd->source;
    int i0 = fd->cfg.nx, i1 = -1, k0 = fd->cfg.nz, k1 = -1;
    for (int k = 0; k < fd->cfg.nz; k++)
        for (int m = s->row[k]; m < s->row[k + 1]; m++) {
            i0 = s->i[m] < i0 ? s->i[m] : i0;
            i1 = s->i[m] > i1 ? s->i[m] : i1;
            k0 = k < k0 ? k : k0;
            k1 = k;
        }
    b->i = b->k = b->ni = b->nk = 0;
    if (i1 < 0)
        return 0;
    b->i = i0, b->ni = i1 - i0 + 1;
    b->k = k0, b->nk = k1 - k0 + 1;
    REQUIRE((long long)b->ni * b->nk < 1ll << 31,
            "source cells lie in a box of %d x %d cells, more than variant=tuned can count: choose variant=shared",
            b->ni, b->nk);
    TRY(fd2d_alloc(fd, w, (size_t)b->ni * (size_t)b->nk, sizeof **w, "source cells"));
    for (int k = k0; k <= k1; k++)
        for (int m = s->row[k]; m < s->row[k + 1]; m++)
            (*w)[(size_t)(k - k0) * (size_t)b->ni + (size_t)(s->i[m] - i0)] += s->w[m];
    return 0;
}

static int source(fd2d *fd) {
    own_t *o = own(fd);
    box b = {};
    float *w = nullptr;
    TRY(fd2d_gpu_enter(&o->queue));
    int rc = fd2d_gpu_put_source(&o->queue, &o->points, fd) || fill_box(fd, &b, &w);
    const size_t n = (size_t)b.ni * (size_t)b.nk;
    rc = rc || fd2d_gpu_grow(&o->queue, &o->box_w, &o->room_box, n, sizeof(float), "source cells") ||
         fd2d_gpu_upload(&o->queue, o->box_w, w, n * sizeof(float));
    fd2d_release(fd, &w);
    b.w = o->box_w;
    b.q = o->points.view.q;
    b.nq = fd->nq;
    o->g.source = rc ? box{} : b;
    fd2d_gpu_forget_graphs(&o->queue);
    count_bytes(fd);
    return rc;
}

// Rows of sampled cells.
static void find_rows(const fd2d_cells *c, int nz, int *k) {
    for (int row = 0; row < nz; row++)
        for (int m = c->row[row]; m < c->row[row + 1]; m++)
            k[m] = row;
}

static int make_velocities(own_t *o, size_t n) {
    if (n > o->room_v) {
        TRY(fd2d_gpu_wait(&o->queue)); // what is queued may still use the old ones
        TRY(fd2d_gpu_alloc(&o->queue, &o->vi, n, sizeof(int), "receiver cells"));
        TRY(fd2d_gpu_alloc(&o->queue, &o->vk, n, sizeof(int), "receiver cells"));
        TRY(fd2d_gpu_alloc(&o->queue, &o->value[0], n, sizeof(double), "velocities at receivers"));
        TRY(fd2d_gpu_alloc(&o->queue, &o->value[1], n, sizeof(double), "velocities at receivers"));
        o->room_v = n;
    }
    for (int j = 0; j < 2; j++) {
        CUDA_TRY(cudaMemsetAsync(o->value[j], 0, n * sizeof(double), o->queue.stream));
    }
    o->v.i = o->vi;
    o->v.k = o->vk;
    return 0;
}

// Sampled cells stand in the order sigma, vx, vz. Those of sigma are found in the field, those of velocities in their
// list.
static int put_velocities(fd2d *fd, int *k, ptrdiff_t *cell) {
    own_t *o = own(fd);
    const int sigma = fd->sampled[FD2D_SIGMA].n, entries = fd->start[fd->nrec];
    int first = 0;
    for (const fd2d_cells &c : fd->sampled) {
        find_rows(&c, fd->cfg.nz, k + first);
        if (first >= sigma)
            TRY(fd2d_gpu_upload(&o->queue, o->vi + first - sigma, c.i, (size_t)c.n * sizeof(int)));
        first += c.n;
    }
    for (int e = 0; e < entries; e++) {
        const int c = fd->cell[e];
        cell[e] = c < sigma ? k[c] * (ptrdiff_t)o->g.pitch + fd->sampled[FD2D_SIGMA].i[c] : c - sigma;
    }
    TRY(fd2d_gpu_upload(&o->queue, o->vk, k + sigma, (size_t)o->v.n * sizeof(int)));
    return fd2d_gpu_upload(&o->queue, (void *)o->points.view.cell, cell, (size_t)entries * sizeof *cell);
}

static int set_velocities(fd2d *fd) {
    own_t *o = own(fd);
    int *k = nullptr;
    ptrdiff_t *cell = nullptr;
    const size_t all = (size_t)fd->sampled[FD2D_SIGMA].n + (size_t)o->v.n;
    REQUIRE(!o->moved,
            "variant=tuned keeps velocities at the receivers only, and sums them up from the first step on: give "
            "receivers of vx and vz before it, or use variant=shared");
    TRY(make_velocities(o, (size_t)o->v.n));
    const int rc = fd2d_alloc(fd, &k, all, sizeof *k, "receiver cells") ||
                   fd2d_alloc(fd, &cell, (size_t)fd->start[fd->nrec], sizeof *cell, "receiver cells") ||
                   put_velocities(fd, k, cell);
    fd2d_release(fd, &k);
    fd2d_release(fd, &cell);
    return rc;
}

static int receivers(fd2d *fd) {
    own_t *o = own(fd);
    TRY(fd2d_gpu_enter(&o->queue));
    o->v.nx = fd->sampled[FD2D_VX].n;
    o->v.n = o->v.nx + fd->sampled[FD2D_VZ].n;
    const int rc = fd2d_gpu_put_receivers(&o->queue, &o->points, fd) || (o->v.n > 0 && set_velocities(fd));
    if (rc) // cells of velocities would be sought in lists that are not there
        o->v.n = 0, o->points.view.nrec = 0;
    fd2d_gpu_forget_graphs(&o->queue);
    count_bytes(fd);
    return rc;
}

static int traces(fd2d *fd, int it, int n, float *out) {
    TRY(fd2d_gpu_enter(&own(fd)->queue));
    return fd2d_gpu_get_traces(&own(fd)->queue, &own(fd)->points, fd, it, n, out);
}

static int filter(fd2d *fd, int which, const fd2d_band band[2]) {
    TRY(fd2d_gpu_enter(&own(fd)->queue));
    const int rc = fd2d_gpu_put_filter(&own(fd)->queue, &own(fd)->points, which, band);
    count_bytes(fd);
    return rc;
}

static int filtered(fd2d *fd, int which, int first, int nrec, float *out) {
    TRY(fd2d_gpu_enter(&own(fd)->queue));
    const int rc = fd2d_gpu_get_filtered(&own(fd)->queue, &own(fd)->points, fd, which, first, nrec, out);
    count_bytes(fd);
    return rc;
}

// --- time ------------------------------------------------------------------------------------------------------------

// Of the first (0) or the second (1) step of a pair.
static args args_of(const own_t *o, int phase) {
    args g = o->g;
    g.s_in = o->s[phase] + o->origin;
    g.s_out = o->s[1 - phase] + o->origin;
    g.psix_in = o->psix[phase];
    g.psix_out = o->psix[1 - phase];
    g.psiz_in = o->psiz[phase] + MARGIN_X;
    g.psiz_out = o->psiz[1 - phase] + MARGIN_X;
    g.psiz_s = o->psiz_s + MARGIN_X;
    g.points = o->points.view;
    g.velocity = o->value[1 - phase];
    g.now = phase == 0 ? &o->queue.clock->step : o->second;
    g.next = phase == 0 ? o->second : &o->queue.clock->step;
    return g;
}

// Alone on the GPU a step's blocks queue up before the step before is done; beside other shots they would only take
// the places that those could use.
static int launch_step(const own_t *o, const args &g) {
    cudaLaunchAttribute early = {};
    cudaLaunchConfig_t config = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3((unsigned)(g.work + g.samplers));
    config.blockDim = dim3((unsigned)o->now.threads);
    config.dynamicSmemBytes = o->now.shared;
    config.stream = o->queue.stream;
    config.attrs = &early;
    config.numAttrs = o->alone ? 1 : 0;
    CUDA_TRY(cudaLaunchKernelEx(&config, o->now.step, g));
    return 0;
}

static int one_step(own_t *o, int half_length, int phase) {
    const launch &l = o->now;
    args g = args_of(o, phase);
    if (o->v.n > 0) {
        velocities v = o->v;
        v.before = o->value[1 - phase];
        v.after = o->value[phase];
        add_velocities<<<(v.n + CELLS - 1) / CELLS, CELLS, 0, o->queue.stream>>>(g, v, half_length);
        CUDA_TRY(cudaGetLastError());
    }
    const ptrdiff_t each = (ptrdiff_t)l.threads / WARP * l.receivers;
    g.cut = l.cut;
    g.work = l.work;
    g.samplers = (int)((g.points.nrec + each - 1) / each);
    return launch_step(o, g);
}

static int some_steps(void *self, int n) {
    fd2d *fd = (fd2d *)self;
    for (int step = 0; step < n; step++)
        TRY(one_step(own(fd), fd->cfg.half_length, step & 1));
    return 0;
}

static int pair(void *self) { return some_steps(self, 2); }

// Steps are timed on noise, as zeros cost a GPU less power; without a velocity anywhere it stays what it is.
static int find_shape(fd2d *fd) {
    own_t *o = own(fd);
    float *const fields[] = {o->s[0], o->s[1], o->e, o->kk};
    int capability = 0;
    CUDA_TRY(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, o->queue.device));
    o->alone = fd->cfg.share <= 1 && capability >= 9;
    if (fd->cfg.share <= 1)
        for (float *field : fields) {
            fill_with_noise<<<1024, BLOCK, 0, o->queue.stream>>>(field, o->count);
            CUDA_TRY(cudaGetLastError());
        }
    TRY(choose_launch(o->g, &fd->cfg, o->queue.device, o->queue.stream, some_steps, fd, &o->now));
    for (float *field : fields)
        CUDA_TRY(cudaMemsetAsync(field, 0, o->count * sizeof(float), o->queue.stream));
    return 0;
}

// One step, and everything back to where a pair begins.
static int odd(fd2d *fd) {
    own_t *o = own(fd);
    TRY(one_step(o, fd->cfg.half_length, 0));
    const struct {
        void *to;
        const void *from;
        size_t bytes;
    } copies[] = {{o->s[0], o->s[1], o->count * sizeof(float)},
                  {o->psix[0], o->psix[1], o->psix_count * sizeof(float)},
                  {o->psiz[0], o->psiz[1], o->psiz_count * sizeof(float)},
                  {o->value[1], o->value[0], (size_t)o->v.n * sizeof(double)},
                  {&o->queue.clock->step, o->second, sizeof(int)}};
    for (const auto &c : copies)
        if (c.bytes > 0)
            CUDA_TRY(cudaMemcpyAsync(c.to, c.from, c.bytes, cudaMemcpyDeviceToDevice, o->queue.stream));
    return 0;
}

static int close_chunk(own_t *o) {
    args g = args_of(o, 0);
    g.samplers = (int)((g.points.nrec + SAMPLERS / TEAM - 1) / (SAMPLERS / TEAM));
    if (g.samplers > 0)
        sample_last<<<g.samplers, SAMPLERS, 0, o->queue.stream>>>(g);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

static fd2d_gpu_plane sigma_of(const own_t *o) { return {o->s[0] + o->origin, o->g.pitch, o->g.nx, o->g.nz}; }

static int timestep(fd2d *fd, int it, int n, float *) {
    own_t *o = own(fd);
    TRY(fd2d_gpu_enter(&o->queue));
    const int rc = fd2d_gpu_trace_room(&o->queue, &o->points, fd, n);
    count_bytes(fd);
    TRY(rc);
    o->moved = 1;
    const fd2d_gpu_plane sigma = sigma_of(o);
    TRY(fd2d_gpu_begin(&o->queue, it, fd->first));
    TRY(fd2d_gpu_repeat(&o->queue, n / 2, pair, fd));
    if (n % 2 == 1)
        TRY(odd(fd));
    TRY(close_chunk(o));
    return fd2d_gpu_end(&o->queue, &sigma);
}

static int pending(fd2d *fd, int most) {
    TRY(fd2d_gpu_enter(&own(fd)->queue));
    return fd2d_gpu_pending(&own(fd)->queue, most);
}

static int peak(fd2d *fd, float *value, int *i, int *k) {
    TRY(fd2d_gpu_enter(&own(fd)->queue));
    return fd2d_gpu_newest(&own(fd)->queue, own(fd)->g.nx, value, i, k);
}

static int maxabs(fd2d *fd, float *value, int *i, int *k) {
    TRY(fd2d_gpu_enter(&own(fd)->queue));
    const fd2d_gpu_plane sigma = sigma_of(own(fd));
    return fd2d_gpu_largest(&own(fd)->queue, &sigma, value, i, k);
}

// --- fields ----------------------------------------------------------------------------------------------------------

static int get(fd2d *fd, int field, float *out) {
    own_t *o = own(fd);
    REQUIRE(field == FD2D_SIGMA, "variant=tuned keeps no field of %s, only sigma: use variant=shared, or receivers",
            field == FD2D_VX ? "vx" : "vz");
    TRY(fd2d_gpu_enter(&o->queue));
    const size_t width = (size_t)o->g.nx * sizeof(float);
    TRY(fd2d_gpu_wait(&o->queue));
    CUDA_TRY(cudaMemcpy2DAsync(out, width, o->s[0] + o->origin, (size_t)o->g.pitch * sizeof(float), width,
                               (size_t)o->g.nz, cudaMemcpyDeviceToHost, o->queue.stream));
    return fd2d_gpu_wait(&o->queue);
}

static int set(fd2d *fd, int field, const float *in) {
    own_t *o = own(fd);
    REQUIRE(field == FD2D_SIGMA, "variant=tuned keeps no field of %s, only sigma: use variant=shared",
            field == FD2D_VX ? "vx" : "vz");
    TRY(fd2d_gpu_enter(&o->queue));
    const size_t width = (size_t)o->g.nx * sizeof(float), pitch = (size_t)o->g.pitch * sizeof(float);
    float *to = o->s[0] + o->origin;
    CUDA_TRY(cudaMemcpy2DAsync(to, pitch, in, width, width, (size_t)o->g.nz, cudaMemcpyHostToDevice, o->queue.stream));
    if (o->g.free_top)
        CUDA_TRY(cudaMemsetAsync(to, 0, width, o->queue.stream));
    return fd2d_gpu_restart(&o->queue);
}

static int reset(fd2d *fd) {
    own_t *o = own(fd);
    TRY(fd2d_gpu_enter(&o->queue));
    const size_t values = 2 * (size_t)o->v.n; // as many numbers of 4 bytes
    const struct {
        void *at;
        size_t count;
    } all[] = {{o->s[0], o->count},         {o->s[1], o->count},         {o->e, o->count},
               {o->psix[0], o->psix_count}, {o->psix[1], o->psix_count}, {o->psix_s, o->psix_count},
               {o->psiz[0], o->psiz_count}, {o->psiz[1], o->psiz_count}, {o->psiz_s, o->psiz_count},
               {o->value[0], values},       {o->value[1], values}};
    for (const auto &a : all)
        if (a.count > 0)
            CUDA_TRY(cudaMemsetAsync(a.at, 0, a.count * sizeof(float), o->queue.stream));
    o->moved = 0;
    return fd2d_gpu_restart(&o->queue);
}

// --- the state -------------------------------------------------------------------------------------------------------

// What a pair of steps reads: at the end of a chunk s and psi of grad s are in their first copies, the velocities at
// receivers in their second.
static int state(fd2d *fd, fd2d_part *part) {
    own_t *o = own(fd);
    const fd2d_part all[] = {{o->s[0], o->count, 1, 0},
                             {o->e, o->count, 1, 0},
                             {o->psix[0], o->psix_count, 1, 0},
                             {o->psix_s, o->psix_count, 1, 0},
                             {o->psiz[0], o->psiz_count, 1, 0},
                             {o->psiz_s, o->psiz_count, 1, 0},
                             {(float *)o->value[1], 2 * (size_t)o->v.n, 1, 0}}; // numbers of 4 bytes
    memcpy(part, all, sizeof all);
    return (int)(sizeof all / sizeof all[0]);
}

static int move(fd2d *fd, const fd2d_part *part, float *host, int in) {
    own_t *o = own(fd);
    const size_t bytes = part->width * part->rows * sizeof(float);
    TRY(fd2d_gpu_enter(&o->queue));
    o->moved = o->moved || in;
    return in ? fd2d_gpu_upload(&o->queue, part->at, host, bytes) : fd2d_gpu_download(&o->queue, host, part->at, bytes);
}

static int rows(fd2d *fd, int n, float **trace) {
    own_t *o = own(fd);
    TRY(fd2d_gpu_enter(&o->queue));
    const int rc = fd2d_gpu_trace_room(&o->queue, &o->points, fd, n);
    count_bytes(fd);
    *trace = o->points.view.trace;
    return rc;
}

// --- shape by hand ---------------------------------------------------------------------------------------------------

// width: 128 is tiles, of 16, 24 or 32 rows; 256 and 512 are columns of a block that marches, with its margins, and
// rows those of a piece. 0 = as it is. isa and steps do not apply.
static int tune(fd2d *fd, const char *, int width, int, int rows) {
    own_t *o = own(fd);
    const bool tiles = width == 128;
    bool fits = true;
    REQUIRE(width == 0 || tiles || width == 256 || width == 512, "width = %d, must be 128, 256, 512 or 0 (as it is)",
            width);
    REQUIRE(!tiles || rows == 0 || rows == 16 || rows == 24 || rows == 32, "rows = %d, tiles have 16, 24 or 32", rows);
    TRY(fd2d_gpu_enter(&o->queue));
    const form tile = rows == 16 ? TILE_LOW : rows == 32 ? TILE_HIGH : TILE_MIDDLE;
    const form kind = tiles ? tile : width == 256 ? MARCH_NARROW : MARCH_WIDE;
    if (width > 0)
        TRY(find_launch(o->g, fd->cfg.half_length, o->queue.device, {kind, 1, 1.6, 3}, &o->now, &fits));
    REQUIRE(fits, "blocks of %d columns do not fit on this GPU", width);
    if (rows > 0 && o->now.rows == 0) {
        plan *p = &o->now.cut;
        p->pieces = (o->g.nz + rows - 1) / rows;
        p->side_pieces = (int)(1.6 * p->pieces + 0.5);
        o->now.work = (p->left + p->right) * p->side_pieces + (p->tiles - p->left - p->right) * p->pieces;
    }
    fd2d_gpu_forget_graphs(&o->queue);
    return 0;
}

// --- for the record --------------------------------------------------------------------------------------------------

static void device(fd2d *fd, char *text, size_t length) {
    const launch &l = own(fd)->now;
    cudaDeviceProp properties;
    const cudaError_t rc = cudaGetDeviceProperties(&properties, own(fd)->queue.device);
    snprintf(text, length, "%s, %s of %d x %d", rc == cudaSuccess ? properties.name : "GPU", form_name(l.kind),
             l.columns, l.rows > 0 ? l.rows : (own(fd)->g.nz + l.cut.pieces - 1) / l.cut.pieces);
}

extern "C" {
FD2D_VARIANT(tuned) = {
    .name = "tuned",
    .about = "CUDA, one launch a step, velocities eliminated: the fewest bytes",
    .needs_gpu = 1,
    .make = make,
    .release = release,
    .model = model,
    .pml = pml,
    .source = source,
    .receivers = receivers,
    .timestep = timestep,
    .get = get,
    .set = set,
    .maxabs = maxabs,
    .reset = reset,
    .device = device,
    .tune = tune,
    .traces = traces,
    .filter = filter,
    .filtered = filtered,
    .pending = pending,
    .peak = peak,
    .need = need,
    .state = state,
    .move = move,
    .rows = rows,
};
}
