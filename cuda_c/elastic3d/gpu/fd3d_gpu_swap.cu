// Subdomains on GPUs give each other their rims while time steps run: kernels pack what a neighbour needs straight into
// its memory (gpu_link.h), wait for what it gives, and put that into the halo.
//
//   queue        inner velocities -------------------------------------------> inner stresses --> ...
//   link         \-> rim, store, flag | wait for the neighbour's, halo -/      \-> ...
//
// A buffer is free when it is stored into: its neighbour stores velocities of the next step after it has seen this
// step's stresses, which this subdomain stores after it has read the velocities before; stresses likewise. Halos are
// written while inner cells are updated, which read no halo of a neighbour.
#include "fd3d_gpu.h"
#include "gpu_link.cuh"
#include "iface.h"

using namespace gpu_links;

enum { THREADS = 256, EACH = 4, MOST_BLOCKS = 32, ALL_BLOCKS = 96 }; // cells of a thread at once; of a side, of all

// Three boxes of cells of a side.
struct face {
    float *at[3]; // the box's first cell in each field
    ptrdiff_t y, z;
    unsigned wide, high, cells;
};

struct sides {
    gpu_link_side side[GPU_SIDES];
    face box[GPU_SIDES];
};

static __device__ ptrdiff_t place_of(const face &f, unsigned n) {
    const unsigned row = n / f.wide, plane = row / f.high;
    return (ptrdiff_t)plane * f.z + (ptrdiff_t)(row - plane * f.high) * f.y + (ptrdiff_t)(n - row * f.wide);
}

// Blocks along y are sides. A thread has its loads under way before it stores.
static __global__ void __launch_bounds__(THREADS) store(sides all, gpu_link_wait_for w, int what) {
    const gpu_link_side &s = all.side[blockIdx.y];
    const face &f = all.box[blockIdx.y];
    if (is_over(w))
        return; // of all blocks: waits stand before and behind
    const unsigned stride = gridDim.x * THREADS;
    float *to = s.to[what];
    for (int c = 0; c < 3; c++, to += f.cells)
        for (unsigned n = blockIdx.x * THREADS + threadIdx.x; n < f.cells; n += EACH * stride) {
            float value[EACH];
#pragma unroll
            for (unsigned e = 0; e < EACH; e++)
                value[e] = n + e * stride < f.cells ? f.at[c][place_of(f, n + e * stride)] : 0;
#pragma unroll
            for (unsigned e = 0; e < EACH; e++)
                if (n + e * stride < f.cells)
                    to[n + e * stride] = value[e];
        }
    told(w, s, what, gridDim.x);
}

static __global__ void __launch_bounds__(32) await(sides all, gpu_link_wait_for w, int what) {
    if (threadIdx.x == 0)
        wait(w, all.side[blockIdx.x], what);
}

static __global__ void __launch_bounds__(THREADS) unpack(sides all, gpu_link_wait_for w, int what) {
    const gpu_link_side &s = all.side[blockIdx.y];
    const face &f = all.box[blockIdx.y];
    if (is_over(w))
        return;
    const unsigned stride = gridDim.x * THREADS;
    const float *from = s.from[what];
    for (int c = 0; c < 3; c++, from += f.cells)
        for (unsigned n = blockIdx.x * THREADS + threadIdx.x; n < f.cells; n += EACH * stride) {
            float value[EACH];
#pragma unroll
            for (unsigned e = 0; e < EACH; e++)
                value[e] = n + e * stride < f.cells ? load_given(from + n + e * stride) : 0;
#pragma unroll
            for (unsigned e = 0; e < EACH; e++)
                if (n + e * stride < f.cells)
                    f.at[c][place_of(f, n + e * stride)] = value[e];
        }
}

// --- launches --------------------------------------------------------------------------------------------------------

static face face_of(const fd3d_gpu *o, int what, int side, int own, float *const velocities[3]) {
    const fd3d_gpu_grid *g = &o->grid;
    int lo[3], hi[3], field[3];
    face f = {};
    fd3d_halo_box(o->cfg, side, own, lo, hi);
    fd3d_halo_fields(what, side, field);
    for (int c = 0; c < 3; c++)
        f.at[c] = (what == 0 ? velocities[c] : g->f[field[c]]) + lo[2] * g->z + lo[1] * g->y + lo[0];
    f.y = g->y;
    f.z = g->z;
    f.wide = (unsigned)(hi[0] - lo[0]);
    f.high = (unsigned)(hi[1] - lo[1]);
    f.cells = o->link.bare ? 0 : f.wide * f.high * (unsigned)(hi[2] - lo[2]);
    return f;
}

// The sides that are open; the number of them. Blocks of a launch: so many for each.
static int collect(const fd3d_gpu *o, int what, int own, float *const velocities[3], sides *all, unsigned *blocks) {
    int n = 0;
    unsigned most = 1;
    *all = {};
    for (int side = 0; side < GPU_SIDES; side++)
        if (o->link.open & 1 << side) {
            all->side[n] = o->link.side[side];
            all->box[n] = face_of(o, what, side, own, velocities);
            most = all->box[n].cells > most ? all->box[n].cells : most;
            n++;
        }
    *blocks = (most + THREADS * EACH - 1) / (THREADS * EACH);
    if (*blocks > MOST_BLOCKS)
        *blocks = MOST_BLOCKS;
    if (n > 0 && *blocks > (unsigned)ALL_BLOCKS / (unsigned)n)
        *blocks = (unsigned)ALL_BLOCKS / (unsigned)n;
    return n;
}

// The rim is there, of velocities in the set given: gives it away, and takes what comes.
static int swap_rims(fd3d_gpu *o, int what, float *const velocities[3], cudaStream_t stream) {
    sides own, halo;
    unsigned blocks;
    const unsigned n = (unsigned)collect(o, what, 1, velocities, &own, &blocks);
    collect(o, what, 0, velocities, &halo, &blocks);
    store<<<dim3(blocks, n), THREADS, 0, stream>>>(own, o->link.common, what);
    CUDA_TRY(cudaGetLastError());
    await<<<n, 32, 0, stream>>>(halo, o->link.common, what);
    CUDA_TRY(cudaGetLastError());
    unpack<<<dim3(blocks, n), THREADS, 0, stream>>>(halo, o->link.common, what);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

// The rim's kernels are launched on the link's stream, beside those of the inner cells: they read nothing of each
// other's.
static int rim_beside(fd3d_gpu *o, int what, int (*update)(fd3d_gpu *o, int what, int part), cudaStream_t stream) {
    const cudaStream_t queue = o->queue.stream;
    o->queue.stream = stream;
    const int rc = update(o, what, FD3D_RIM);
    o->queue.stream = queue;
    return rc;
}

int fd3d_gpu_half_step_swapped(fd3d_gpu *o, int what, int (*update)(fd3d_gpu *o, int what, int part)) {
    cudaStream_t stream;
    TRY(fd3d_gpu_edges(o, what));
    if (!o->link.beside) {
        TRY(update(o, what, FD3D_ALL));
        return swap_rims(o, what, o->grid.f, o->queue.stream);
    }
    TRY(gpu_link_fork(&o->queue, &o->link, &stream));
    TRY(rim_beside(o, what, update, stream));
    TRY(swap_rims(o, what, o->grid.next_v, stream));
    TRY(gpu_link_joins(&o->queue, &o->link));
    TRY(update(o, what, FD3D_INNER));
    return gpu_link_join(&o->queue, &o->link);
}

// --- verbs -----------------------------------------------------------------------------------------------------------

void fd3d_gpu_link_counts(const fd3d_cfg *cfg, size_t count[GPU_SIDES]) {
    for (int side = 0; side < GPU_SIDES; side++) {
        int lo[3], hi[3];
        fd3d_halo_box(cfg, side, 1, lo, hi);
        count[side] = cfg->side[side] == FD3D_NEIGHBOUR
                          ? 3 * (size_t)(hi[0] - lo[0]) * (size_t)(hi[1] - lo[1]) * (size_t)(hi[2] - lo[2])
                          : 0;
    }
}

static int offer(fd3d *fd, int beside, int host, double seconds, int length, char *ticket) {
    fd3d_gpu *o = fd3d_gpu_own(&fd->h);
    size_t count[GPU_SIDES];
    fd3d_gpu_link_counts(&fd->cfg, count);
    o->link.hosted = host;
    return gpu_link_offer(&o->queue, &o->link, count, beside, seconds, length, ticket);
}

static int open_side(fd3d *fd, int side, int length, const char *ticket) {
    fd3d_gpu *o = fd3d_gpu_own(&fd->h);
    return gpu_link_open(&o->queue, &o->link, side, length, ticket);
}

// Rims as they are, of steps up to 0.
static int trial_step(void *self) {
    fd3d_gpu *o = (fd3d_gpu *)self;
    cudaStream_t stream;
    TRY(gpu_tick(&o->queue, o->step_sources));
    for (int what = 0; what < GPU_WHATS; what++) {
        TRY(gpu_link_fork(&o->queue, &o->link, &stream));
        TRY(swap_rims(o, what, o->grid.f, stream));
        TRY(gpu_link_joins(&o->queue, &o->link));
        TRY(gpu_link_join(&o->queue, &o->link));
    }
    return 0;
}

static int tried(fd3d *fd, double seconds, double *bare, double *full) {
    fd3d_gpu *o = fd3d_gpu_own(&fd->h);
    return gpu_link_try(&o->queue, &o->link, seconds, (int)GPU_WHATS, trial_step, o, bare, full);
}

static int waited(fd3d *fd, double seconds[GPU_SIDES]) {
    fd3d_gpu *o = fd3d_gpu_own(&fd->h);
    return gpu_link_waited(&o->queue, &o->link, seconds);
}

static void close_all(fd3d *fd) {
    fd3d_gpu *o = fd3d_gpu_own(&fd->h);
    gpu_link_close(&o->queue, &o->link);
}

static void give_up(fd3d *fd) { gpu_link_give_up(&fd3d_gpu_own(&fd->h)->link); }

static int left(fd3d *fd, int *chunks) {
    fd3d_gpu *o = fd3d_gpu_own(&fd->h);
    TRY(gpu_look(&o->queue));
    *chunks = (int)(o->queue.queued - o->queue.finished);
    return gpu_link_check(&o->link);
}

const fd3d_link_verbs fd3d_gpu_link_verbs = {offer, open_side, tried, waited, close_all, give_up, left};
