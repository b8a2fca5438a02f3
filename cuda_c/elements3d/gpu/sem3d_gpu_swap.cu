// Pieces of a mesh on GPUs give each other the sums of their bricks while time steps run: kernels pack what another
// piece needs straight into its memory (gpu_link.h), wait for what it gives, and put that into the slots of its bricks.
//
//   bricks that give --> store, flag --> the other bricks --> wait for theirs --> slots --> sums of shared points
//
// All in one queue: beside the other bricks stores came last on some GPUs, whatever the priorities, and each of these
// kernels cost more than its own time, which is 12, 3 and 6 us for 2 MB (tools/bench/history.md, 2026-11-26).
//
// A buffer is free when it is stored into: whoever stores has what the partner stored one exchange before, which the
// partner did after it had read the exchange before that. So two buffers that take turns do: solid and fluid where both
// travel, else those of odd and even steps.
#include "gpu_follow.cuh"
#include "gpu_link.cuh"
#include "iface.h"
#include "sem3d_gpu.h"

using namespace gpu_links;

enum {
    THREADS = 256,
    BLOCKS = 132, // of a way, of all: nothing else runs
    ALL_BLOCKS = 264,
    BATCH = 4 // points of a thread on their way at a time
};

// Ways that are open and through which a phase travels.
struct ways {
    gpu_link_side side[GPU_SIDES];
    const int *list[GPU_SIDES]; // numbers of `part`
    int n[GPU_SIDES];
    int turns[GPU_SIDES]; // no other phase travels there
};

// Pairs of pieces have sides that face each other: those whose numbers are d apart, counted round, 2d-2 and 2d-1. -1:
// none.
static int side_of(const sem3d_pieces *p, int way) {
    const int n = p->ways, d = (way - p->mine + n) % n, back = n - d;
    if (d == 0 || (d > GPU_SIDES / 2 && back > GPU_SIDES / 2))
        return -1;
    return 2 * d < n || (2 * d == n && p->mine < way) ? 2 * d - 2 : 2 * back - 1;
}

static __device__ int buffer_of(const ways &all, const gpu_link_wait_for &w, int fluid) {
    return all.turns[blockIdx.y] ? w.clock->step & 1 : fluid;
}

// Blocks along y are ways.
template <int COMPONENTS>
static __global__ void __launch_bounds__(THREADS)
    store(const __grid_constant__ ways all, gpu_link_wait_for w, int fluid, const float *part, ptrdiff_t stride) {
    gpu_follow();
    const gpu_link_side &s = all.side[blockIdx.y];
    const int *list = all.list[blockIdx.y], n = all.n[blockIdx.y], what = buffer_of(all, w, fluid);
    if (is_over(w))
        return; // of all blocks: waits stand before and behind
    float *to = s.to[what];
    const int step = gridDim.x * THREADS;
    for (int m = blockIdx.x * THREADS + threadIdx.x; m < n; m += BATCH * step) {
        float value[BATCH][COMPONENTS];
#pragma unroll
        for (int b = 0; b < BATCH; b++)
            if (m + b * step < n) {
                const int from = list[m + b * step];
#pragma unroll
                for (int c = 0; c < COMPONENTS; c++)
                    value[b][c] = part[c * stride + from];
            }
#pragma unroll
        for (int b = 0; b < BATCH; b++)
            if (m + b * step < n)
#pragma unroll
                for (int c = 0; c < COMPONENTS; c++)
                    to[(ptrdiff_t)c * n + (m + b * step)] = value[b][c];
    }
    told(w, s, what, gridDim.x);
}

static __global__ void __launch_bounds__(32) await(const __grid_constant__ ways all, gpu_link_wait_for w, int fluid) {
    gpu_follow();
    if (threadIdx.x == 0)
        wait(w, all.side[blockIdx.y], buffer_of(all, w, fluid));
}

template <int COMPONENTS>
static __global__ void __launch_bounds__(THREADS)
    unpack(const __grid_constant__ ways all, gpu_link_wait_for w, int fluid, float *part, ptrdiff_t stride) {
    gpu_follow();
    const int *list = all.list[blockIdx.y], n = all.n[blockIdx.y];
    if (is_over(w))
        return;
    const float *from = all.side[blockIdx.y].from[buffer_of(all, w, fluid)];
    for (int m = blockIdx.x * THREADS + threadIdx.x; m < n; m += gridDim.x * THREADS) {
        const int to = list[m];
        float value[COMPONENTS];
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++)
            value[c] = load_given(from + (ptrdiff_t)c * n + m);
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++)
            part[c * stride + to] = value[c];
    }
}

// --- launches --------------------------------------------------------------------------------------------------------

// The number of ways; blocks of a launch: so many for each.
static unsigned collect(const sem3d_gpu *o, int fluid, int gives, ways *all, unsigned *blocks) {
    const sem3d_pieces *p = o->ways;
    const int *first = gives ? p->gives : p->takes;
    unsigned n = 0;
    int most = 1;
    *all = {};
    for (int w = 0; w < p->ways; w++) {
        const int side = side_of(p, w), at = 2 * w + fluid;
        if (side < 0 || !(o->link.open & 1 << side) || !sem3d_travels(p, w, fluid))
            continue;
        all->side[n] = o->link.side[side];
        all->list[n] = (gives ? o->pieces.give : o->pieces.take) + first[at];
        all->n[n] = o->link.bare ? 0 : first[at + 1] - first[at];
        all->turns[n] = !sem3d_travels(p, w, !fluid);
        most = all->n[n] > most ? all->n[n] : most;
        n++;
    }
    *blocks = (unsigned)(most + THREADS - 1) / THREADS;
    if (*blocks > BLOCKS)
        *blocks = BLOCKS;
    if (n > 0 && *blocks > ALL_BLOCKS / n)
        *blocks = ALL_BLOCKS / n;
    return n;
}

template <int COMPONENTS> static int give(sem3d_gpu *o, int fluid) {
    const sem3d_gpu_phase &ph = o->phase[fluid];
    ways all;
    unsigned blocks;
    const unsigned n = collect(o, fluid, 1, &all, &blocks);
    if (n == 0)
        return 0;
    return gpu_launch(&o->queue, o->queue.close, {dim3(blocks, n), THREADS, 0}, store<COMPONENTS>, all, o->link.common,
                      fluid, ph.part, ph.stride);
}

template <int COMPONENTS> static int take(sem3d_gpu *o, int fluid) {
    const sem3d_gpu_phase &ph = o->phase[fluid];
    ways all;
    unsigned blocks;
    const unsigned n = collect(o, fluid, 0, &all, &blocks);
    if (n == 0)
        return 0;
    TRY(gpu_launch(&o->queue, o->queue.close, {dim3(1, n), 32, 0}, await, all, o->link.common, fluid));
    return gpu_launch(&o->queue, o->queue.close, {dim3(blocks, n), THREADS, 0}, unpack<COMPONENTS>, all, o->link.common,
                      fluid, ph.part, ph.stride);
}

static int give_sums(sem3d_gpu *o, int fluid) { return fluid ? give<1>(o, fluid) : give<3>(o, fluid); }
static int take_sums(sem3d_gpu *o, int fluid) { return fluid ? take<1>(o, fluid) : take<3>(o, fluid); }

int sem3d_gpu_swapped_forces(sem3d_gpu *o, int fluid) {
    TRY(sem3d_gpu_part_forces(o, fluid, SEM3D_RIM));
    if (o->pieces.early)
        TRY(give_sums(o, fluid));
    TRY(sem3d_gpu_part_forces(o, fluid, SEM3D_INSIDE));
    if (!o->pieces.early)
        TRY(give_sums(o, fluid));
    return take_sums(o, fluid);
}

int sem3d_gpu_check_link(const sem3d_gpu *o) {
    const gpu_link_words *w = o->link.words;
    REQUIRE(o->link.open == 0 || w->late == 0,
            "sums of step %d of another piece of the mesh did not come through within %g s: its GPU or process is late "
            "or dead",
            w->late > 0 ? w->late : 0, o->link.seconds);
    return gpu_link_check(&o->link);
}

// --- verbs -----------------------------------------------------------------------------------------------------------

static int offer(sem3d *fd, int beside, int host, double seconds, int length, char *ticket) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    const sem3d_pieces *p = &fd->pieces;
    size_t count[GPU_SIDES] = {};
    for (int w = 0; w < p->ways; w++) {
        const int side = side_of(p, w);
        if (!sem3d_is_way(p, w))
            continue;
        REQUIRE(
            side >= 0,
            "pieces %d and %d of a mesh in %d share points, but a piece has ways from GPU to GPU to the %d next alone",
            p->mine + 1, w + 1, p->ways, (int)GPU_SIDES);
        for (int fluid = 0; fluid < 2; fluid++)
            for (const int *first : {p->gives, p->takes}) {
                const size_t n = (size_t)(fluid ? 1 : 3) * (size_t)(first[2 * w + fluid + 1] - first[2 * w + fluid]);
                count[side] = n > count[side] ? n : count[side];
            }
    }
    o->link.hosted = host;
    o->pieces.early = beside;
    return gpu_link_offer(&o->queue, &o->link, count, 0, seconds, length, ticket);
}

static int open_way(sem3d *fd, int way, int length, const char *ticket) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    return gpu_link_open(&o->queue, &o->link, side_of(&fd->pieces, way), length, ticket);
}

// Sums as they are, of steps up to 0.
static int trial_step(void *self) {
    sem3d_gpu *o = (sem3d_gpu *)self;
    TRY(gpu_tick(&o->queue, o->step_sources));
    for (int fluid = 1; fluid >= 0; fluid--) {
        TRY(give_sums(o, fluid));
        TRY(take_sums(o, fluid));
    }
    return 0;
}

static int tried(sem3d *fd, double seconds, double *bare, double *full) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    int phases = 0;
    for (int fluid = 0; fluid < 2; fluid++)
        for (int w = 0, there = 0; w < fd->pieces.ways && !there; w++)
            phases += there = sem3d_travels(&fd->pieces, w, fluid);
    return gpu_link_try(&o->queue, &o->link, seconds, phases, trial_step, o, bare, full);
}

static int waited(sem3d *fd, double *seconds) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    double side[GPU_SIDES];
    TRY(gpu_link_waited(&o->queue, &o->link, side));
    for (int w = 0; w < fd->pieces.ways; w++)
        seconds[w] = sem3d_is_way(&fd->pieces, w) ? side[side_of(&fd->pieces, w)] : 0;
    return 0;
}

static void close_all(sem3d *fd) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    if (o != nullptr)
        gpu_link_close(&o->queue, &o->link);
}

static void give_up(sem3d *fd) {
    if (fd->h.own != nullptr)
        gpu_link_give_up(&sem3d_gpu_own(&fd->h)->link);
}

static int left(sem3d *fd, int *chunks) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    TRY(gpu_look(&o->queue));
    *chunks = (int)(o->queue.queued - o->queue.finished);
    return sem3d_gpu_check_link(o);
}

const sem3d_link_verbs sem3d_gpu_link_verbs = {offer, open_way, tried, waited, close_all, give_up, left};
