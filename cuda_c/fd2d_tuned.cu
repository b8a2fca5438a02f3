// The `tuned` variant: one launch a step, 24 bytes a cell, velocities eliminated; the step itself is in
// fd2d_tuned_step.cuh. Here: memory, medium, layers, points, and how steps follow each other.
//
// Two copies of s (read one, write the other) and of psi of grad s; steps come in pairs, so that a graph of pairs
// serves all chunks and s is always in the first copy at the end of a chunk; an odd step is followed by a copy back.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "fd2d_tuned_points.cuh"

using namespace tuned;

static constexpr int BLOCK = 256, SLAB = 1 << 20; // threads of simple kernels; numbers of a piece of the model
static constexpr int SMALL = 64, LARGE = 128;     // threads of a block of the step
static constexpr int LEAST_ROWS = 12;             // of a piece

struct own_t {
    fd2d_gpu_queue queue;
    fd2d_gpu_points points;
    args g;
    velocities v;
    size_t room_v, room_box;
    float *s[2], *e, *kk, *rho, *psix[2], *psix_s, *psiz[2], *psiz_s, *px, *pz, *slab, *box_w, *value[2];
    int *vi, *vk;
    unsigned *arrived;
    ptrdiff_t origin; // of cell (0,0) in the padded arrays
    size_t count, psix_count, psiz_count;
    int slab_rows, threads; // of the model at a time; of a block
    int moved;              // steps have been taken since the last reset
    size_t counted;
};

static own_t *own(fd2d *fd) { return (own_t *)fd->own; }

static void count_bytes(fd2d *fd) {
    own_t *o = own(fd);
    const size_t now = o->queue.pool.bytes + o->queue.pool.pinned_bytes;
    fd->bytes += now - o->counted;
    o->counted = now;
}

// --- the step of a half-length and a block size ----------------------------------------------------------------------

typedef void (*step_t)(args);
struct kernel {
    step_t step;
    size_t shared;
    int width; // columns a block writes
};

template <int L> static kernel kernel_of(int threads) {
    return threads == LARGE ? kernel{step<L, LARGE>, shape<L, LARGE>::bytes, shape<L, LARGE>::W}
                            : kernel{step<L, SMALL>, shape<L, SMALL>::bytes, shape<L, SMALL>::W};
}

static kernel find_kernel(int half_length, int threads) {
    static kernel (*const of[DER_MAX])(int) = {kernel_of<1>, kernel_of<2>, kernel_of<3>, kernel_of<4>,
                                               kernel_of<5>, kernel_of<6>, kernel_of<7>, kernel_of<8>};
    return of[half_length - 1](threads);
}

// Blocks of a kernel that the GPU holds at once.
static int find_slots(const kernel &k, int threads, int device, int *slots) {
    int processors = 0, each = 0;
    CUDA_TRY(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CUDA_TRY(cudaFuncSetAttribute(k.step, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)k.shared));
    CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, k.step, threads, k.shared));
    *slots = processors * each;
    return 0;
}

// Tiles of columns, and rows in as many pieces as fill the GPU once with the blocks of all handles that share it: the
// longest pieces that do. A tile at a side counts `side` times as much as an inner one, a row in a layer along z
// `weight` times.
static plan cut(const args &g, const kernel &k, int threads, int slots, double side, int weight) {
    plan p = {};
    p.weight = weight;
    p.tiles = (g.nx + k.width - 1) / k.width;
    for (int t = 0; t < p.tiles; t++) {
        const int x0 = t * k.width - HALO;
        if (x0 < g.left)
            p.left++;
        else if (x0 + V * threads > g.right)
            p.right++;
    }
    const int sides = p.left + p.right, most = g.nz > LEAST_ROWS ? g.nz / LEAST_ROWS : 1;
    const int n = (int)(slots / (p.tiles - sides + side * sides));
    p.pieces = n < 1 ? 1 : n > most ? most : n;
    const int m = (int)(side * p.pieces + 0.5);
    p.side_pieces = m < 1 ? 1 : m > most ? most : m;
    return p;
}

// Sets the shape to blocks of so many threads; `fits` tells whether the GPU has the shared memory for one.
static int use_shape(own_t *o, const fd2d_cfg *c, int threads, double side, int weight, bool *fits) {
    int most = 0, slots = 0;
    const kernel k = find_kernel(c->half_length, threads);
    CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, o->queue.device));
    *fits = (size_t)most >= k.shared;
    if (!*fits)
        return 0;
    TRY(find_slots(k, threads, o->queue.device, &slots));
    o->threads = threads;
    o->g.cut = cut(o->g, k, threads, slots / (c->share > 1 ? c->share : 1), side, weight);
    return 0;
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
    const double ratio = (double)c->dx / c->dz;
    for (int m = 0; m < c->half_length; m++) {
        g->w[m] = c->w[m];
        g->wz[m] = (float)(c->w[m] * ratio * ratio);
    }
    o->v.scale_x = (float)(2.0 * c->dt / c->dx);
    o->v.scale_z = (float)(2.0 * c->dt / c->dz / (ratio * ratio));
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

static int make_memory(own_t *o) {
    array list[ARRAYS];
    list_arrays(o, list);
    for (const array &a : list)
        TRY(fd2d_gpu_alloc(&o->queue, a.place, a.count, sizeof(float), a.what));
    TRY(fd2d_gpu_alloc(&o->queue, &o->arrived, 1, sizeof *o->arrived, "a counter"));
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

static int choose_shape(own_t *o, const fd2d_cfg *c);

static int make(fd2d *fd) {
    TRY(fd2d_alloc(fd, &fd->own, 1, sizeof(own_t), "the GPU's grid"));
    own_t *o = own(fd);
    TRY(check_size(&fd->cfg));
    set_shapes(o, &fd->cfg);
    const int rc = fd2d_gpu_open(&o->queue) || make_memory(o) || choose_shape(o, &fd->cfg);
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
    set_medium(int nx, int nz, int k0, const float *kappa, const float *from, double factor, int free_top,
               ptrdiff_t pitch, float *kk, float *rho) {
    const int i = blockIdx.x * BLOCK + threadIdx.x, k = k0 + (int)blockIdx.y;
    if (i >= nx)
        return;
    const ptrdiff_t at = (ptrdiff_t)blockIdx.y * nx + i, to = k * pitch + i;
    const float r = from[at];
    kk[to] = free_top && k == 0 ? 0.0f : (float)(factor * kappa[at]);
    rho[to] = r;
    if (i == nx - 1)
        rho[to + 1] = r;
    if (k == nz - 1)
        rho[to + pitch] = r;
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
                g->nx, g->nz, k + r, o->slab + (size_t)r * nx, slab_rho + (size_t)r * nx, 2 * tx * tx, g->free_top,
                g->pitch, o->kk + o->origin, o->rho + o->origin);
            CUDA_TRY(cudaGetLastError());
        }
    }
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
        TRY(fd2d_gpu_alloc(&o->queue, &o->value[0], n, sizeof(float), "velocities at receivers"));
        TRY(fd2d_gpu_alloc(&o->queue, &o->value[1], n, sizeof(float), "velocities at receivers"));
        o->room_v = n;
    }
    for (int j = 0; j < 2; j++) {
        o->v.value[j] = o->value[j];
        CUDA_TRY(cudaMemsetAsync(o->value[j], 0, n * sizeof(float), o->queue.stream));
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

// --- time ------------------------------------------------------------------------------------------------------------

static args args_of(const own_t *o, int phase) {
    args g = o->g;
    g.phase = phase;
    g.s_in = o->s[phase] + o->origin;
    g.s_out = o->s[1 - phase] + o->origin;
    g.psix_in = o->psix[phase];
    g.psix_out = o->psix[1 - phase];
    g.psiz_in = o->psiz[phase] + MARGIN_X;
    g.psiz_out = o->psiz[1 - phase] + MARGIN_X;
    g.psiz_s = o->psiz_s + MARGIN_X;
    return g;
}

static int one_step(own_t *o, int half_length, int phase) {
    const kernel k = find_kernel(half_length, o->threads);
    const args g = args_of(o, phase);
    if (o->v.n > 0) {
        add_velocities<<<(o->v.n + CELLS - 1) / CELLS, CELLS, 0, o->queue.stream>>>(g, o->v, half_length);
        CUDA_TRY(cudaGetLastError());
    }
    k.step<<<count_work(g.cut), o->threads, k.shared, o->queue.stream>>>(g);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

static int sample(own_t *o, int steps) {
    const unsigned each = SAMPLERS / LANES, blocks = ((unsigned)o->points.view.nrec + each - 1) / each;
    const samples s = {{o->s[1] + o->origin, o->s[0] + o->origin}, {o->value[0], o->value[1]}, steps, o->arrived};
    sample_pair<<<dim3(blocks > 0 ? blocks : 1, steps), SAMPLERS, 0, o->queue.stream>>>(o->points.view, o->queue.clock,
                                                                                        s);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

static int pair(void *self) {
    fd2d *fd = (fd2d *)self;
    TRY(one_step(own(fd), fd->cfg.half_length, 0));
    TRY(one_step(own(fd), fd->cfg.half_length, 1));
    return sample(own(fd), 2);
}

// One step, and everything back to where a pair begins.
static int odd(fd2d *fd) {
    own_t *o = own(fd);
    TRY(one_step(o, fd->cfg.half_length, 0));
    TRY(sample(o, 1));
    const struct {
        float *to, *from;
        size_t count;
    } copies[] = {{o->s[0], o->s[1], o->count},
                  {o->psix[0], o->psix[1], o->psix_count},
                  {o->psiz[0], o->psiz[1], o->psiz_count},
                  {o->value[1], o->value[0], (size_t)o->v.n}};
    for (const auto &c : copies)
        if (c.count > 0)
            CUDA_TRY(cudaMemcpyAsync(c.to, c.from, c.count * sizeof(float), cudaMemcpyDeviceToDevice, o->queue.stream));
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
    const struct {
        float *at;
        size_t count;
    } all[] = {{o->s[0], o->count},           {o->s[1], o->count},          {o->e, o->count},
               {o->psix[0], o->psix_count},   {o->psix[1], o->psix_count},  {o->psix_s, o->psix_count},
               {o->psiz[0], o->psiz_count},   {o->psiz[1], o->psiz_count},  {o->psiz_s, o->psiz_count},
               {o->value[0], (size_t)o->v.n}, {o->value[1], (size_t)o->v.n}};
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
    const fd2d_part all[] = {{o->s[0], o->count, 1, 0},          {o->e, o->count, 1, 0},
                             {o->psix[0], o->psix_count, 1, 0},  {o->psix_s, o->psix_count, 1, 0},
                             {o->psiz[0], o->psiz_count, 1, 0},  {o->psiz_s, o->psiz_count, 1, 0},
                             {o->value[1], (size_t)o->v.n, 1, 0}};
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

// --- the fastest shape -----------------------------------------------------------------------------------------------

// Time of a step in the present shape, on fields that are all zero and stay so [ms].
static int time_shape(own_t *o, int half_length, cudaEvent_t begin, cudaEvent_t end, float *ms) {
    const int steps = o->g.nx * (double)o->g.nz < 2e6 ? 16 : 4;
    for (int n = -2; n < steps; n++) {
        if (n == 0)
            CUDA_TRY(cudaEventRecord(begin, o->queue.stream));
        TRY(one_step(o, half_length, n & 1));
    }
    CUDA_TRY(cudaEventRecord(end, o->queue.stream));
    CUDA_TRY(cudaEventSynchronize(end));
    CUDA_TRY(cudaEventElapsedTime(ms, begin, end));
    *ms /= (float)steps;
    return 0;
}

static int find_fastest(own_t *o, const fd2d_cfg *c, cudaEvent_t begin, cudaEvent_t end) {
    static const double side[] = {1.0, 1.25, 1.4, 1.6, 1.8};
    static const int weight[] = {1, 2, 3, 4};
    int threads = 0;
    plan best = {};
    float least = INFINITY;
    for (int t = SMALL; t <= LARGE; t += LARGE - SMALL)
        for (double s : side)
            for (int w : weight) {
                bool fits = false;
                float ms = 0;
                TRY(use_shape(o, c, t, s, w, &fits));
                if (!fits)
                    continue;
                TRY(time_shape(o, c->half_length, begin, end, &ms));
                if (ms < least) {
                    least = ms;
                    threads = t;
                    best = o->g.cut;
                }
            }
    o->threads = threads;
    o->g.cut = best;
    return 0;
}

// What was found for a grid serves later handles of this process; of many grids the oldest are forgotten.
enum { REMEMBERED = 32 };
static struct found {
    fd2d_cfg c;
    int device, threads;
    plan cut;
} remembered[REMEMBERED];
static unsigned long long found_so_far;

static bool same_work(const fd2d_cfg *a, const fd2d_cfg *b) {
    return a->nx == b->nx && a->nz == b->nz && a->half_length == b->half_length && a->nleft == b->nleft &&
           a->nright == b->nright && a->ntop == b->ntop && a->nbottom == b->nbottom && a->free_top == b->free_top;
}

// A handle that has the GPU for itself is timed in forty shapes, a few milliseconds a million cells; one that shares
// it gets what was fastest for several at once on an H200.
static int choose_shape(own_t *o, const fd2d_cfg *c) {
    bool fits = false;
    TRY(use_shape(o, c, SMALL, 1.6, 3, &fits));
    REQUIRE(fits,
            "variant=tuned needs %zu bytes of shared memory a block, more than this GPU has: choose variant=shared",
            find_kernel(c->half_length, SMALL).shared);
    if (c->share > 1)
        return 0;
    for (unsigned n = 0; n < REMEMBERED && n < found_so_far; n++)
        if (remembered[n].device == o->queue.device && same_work(&remembered[n].c, c)) {
            o->threads = remembered[n].threads;
            o->g.cut = remembered[n].cut;
            return 0;
        }
    cudaEvent_t begin = nullptr, end = nullptr;
    CUDA_TRY(cudaEventCreateWithFlags(&begin, cudaEventBlockingSync));
    CUDA_TRY(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
    const int rc = find_fastest(o, c, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    TRY(rc);
    remembered[found_so_far++ % REMEMBERED] = {*c, o->queue.device, o->threads, o->g.cut};
    return 0;
}

// width: columns of a block with its margins, 256 or 512; rows: of a piece; 0 = chosen here. isa and steps do not
// apply.
static int tune(fd2d *fd, const char *, int width, int, int rows) {
    own_t *o = own(fd);
    bool fits = true;
    REQUIRE(width == 0 || width == V * SMALL || width == V * LARGE, "width = %d, must be %d, %d or 0 (as it is)", width,
            V * SMALL, V * LARGE);
    TRY(fd2d_gpu_enter(&o->queue));
    if (width > 0)
        TRY(use_shape(o, &fd->cfg, width / V, 1.6, 3, &fits));
    REQUIRE(fits, "blocks of %d columns do not fit on this GPU", width);
    if (rows > 0) {
        o->g.cut.pieces = (o->g.nz + rows - 1) / rows;
        o->g.cut.side_pieces = (int)(1.6 * o->g.cut.pieces + 0.5);
    }
    fd2d_gpu_forget_graphs(&o->queue);
    return 0;
}

// --- for the record --------------------------------------------------------------------------------------------------

static void device(fd2d *fd, char *text, size_t length) {
    const own_t *o = own(fd);
    cudaDeviceProp properties;
    const cudaError_t rc = cudaGetDeviceProperties(&properties, o->queue.device);
    snprintf(text, length, "%s, blocks of %d x %d", rc == cudaSuccess ? properties.name : "GPU", V * o->threads,
             (o->g.nz + o->g.cut.pieces - 1) / o->g.cut.pieces);
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
    .pending = pending,
    .peak = peak,
    .need = need,
    .state = state,
    .move = move,
    .rows = rows,
};
}
