// The kernels of the `tuned` variant and how a grid is cut for them: fd2d_tuned_shape.h.
#include "fd2d_tuned_shape.h"

#include <cmath>
#include <mutex>

#include "fd2d_tuned_march.cuh"
#include "fd2d_tuned_tile.cuh"

namespace tuned {

static constexpr int LEAST_ROWS = 12;   // of a piece
static constexpr int RESERVED = 16;     // blocks that sample receivers while others march
static constexpr size_t RUNTIME = 1024; // bytes of shared memory a block that CUDA takes for itself
static constexpr double MARCHES = 8e6;  // cells of a grid from which on shots side by side had better march (H200)

// --- kernels ---------------------------------------------------------------------------------------------------------

template <int L, int T> static launch march_of() {
    using S = march_shape<L, T>;
    return {step_march<L, T>, S::bytes, T, S::W, 0, 0, 32, {}, FORMS};
}

template <int L, int R> static launch tile_of() { // two blocks of 32 x 8 threads a processor: registers for their rows
    using S = tile_shape<L, 32, 8, R>;
    return {step_tile<L, 32, 8, R, 2>, S::bytes, S::N, S::W, S::H, 0, 8, {}, FORMS};
}

template <int L> static launch launch_of(form kind) {
    switch (kind) {
    case MARCH_NARROW:
        return march_of<L, 64>();
    case MARCH_WIDE:
        return march_of<L, 128>();
    case TILE_LOW:
        return tile_of<L, 2>();
    case TILE_MIDDLE:
        return tile_of<L, 3>();
    default:
        return tile_of<L, 4>();
    }
}

static launch find_kernel(int half_length, form kind) {
    static launch (*const of[DER_MAX])(form) = {launch_of<1>, launch_of<2>, launch_of<3>, launch_of<4>,
                                                launch_of<5>, launch_of<6>, launch_of<7>, launch_of<8>};
    return of[half_length - 1](kind);
}

// --- how a grid is cut -----------------------------------------------------------------------------------------------

// Blocks of a kernel that the GPU holds at once.
static int find_slots(const launch &l, int device, int *slots) {
    int processors = 0, each = 0;
    CUDA_TRY(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, l.step, l.threads, l.shared));
    *slots = processors * each;
    return 0;
}

// Tiles of columns, and rows in as many pieces as there are slots: the longest pieces that fill the GPU.
static plan cut(const args &g, const launch &l, int slots, const choice &c) {
    plan p = {};
    p.weight = c.weight;
    p.tiles = (g.nx + l.columns - 1) / l.columns;
    for (int t = 0; t < p.tiles; t++) {
        const int x0 = t * l.columns - HALO;
        if (x0 < g.left)
            p.left++;
        else if (x0 + V * l.threads > g.right)
            p.right++;
    }
    const int sides = p.left + p.right, most = g.nz > LEAST_ROWS ? g.nz / LEAST_ROWS : 1;
    const int n = (int)(slots / (p.tiles - sides + c.side * sides));
    p.pieces = n < 1 ? 1 : n > most ? most : n;
    const int m = (int)(c.side * p.pieces + 0.5);
    p.side_pieces = m < 1 ? 1 : m > most ? most : m;
    return p;
}

int find_launch(const args &g, int half_length, int device, const choice &c, launch *l, bool *fits) {
    int most = 0, slots = 0;
    launch found = find_kernel(half_length, c.kind);
    CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    *fits = (size_t)most >= found.shared;
    if (!*fits)
        return 0;
    CUDA_TRY(cudaFuncSetAttribute(found.step, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)found.shared));
    if (found.rows > 0)
        found.work = (g.nx + found.columns - 1) / found.columns * ((g.nz + found.rows - 1) / found.rows);
    else {
        TRY(find_slots(found, device, &slots));
        found.cut = cut(g, found, slots * c.waves - RESERVED, c);
        found.work = count_work(found.cut);
    }
    found.kind = c.kind;
    *l = found;
    return 0;
}

// --- the fastest -----------------------------------------------------------------------------------------------------

struct stopwatch {
    cudaEvent_t begin, end;
    cudaStream_t stream;
    int (*steps)(void *self, int n);
    void *self;
};

// Time of a step [ms].
static int time_step(const stopwatch &w, int n, float *ms) {
    TRY(w.steps(w.self, 2));
    CUDA_TRY(cudaEventRecord(w.begin, w.stream));
    TRY(w.steps(w.self, n));
    CUDA_TRY(cudaEventRecord(w.end, w.stream));
    CUDA_TRY(cudaEventSynchronize(w.end));
    CUDA_TRY(cudaEventElapsedTime(ms, w.begin, w.end));
    *ms /= (float)n;
    return 0;
}

static int find_fastest(const args &g, int half_length, int device, const stopwatch &w, launch *l, choice *best) {
    static const double sides[] = {1.3, 1.6, 1.9};
    const int n = g.nx * (double)g.nz < 2e6 ? 32 : 8;
    float least = INFINITY;
    for (int round = 0; round < 3; round++) // a GPU that has rested is slow at first
        for (int kind = 0; kind < FORMS; kind++)
            for (int waves = 1; waves <= 3; waves++)
                for (double side : sides) {
                    const choice c = {(form)kind, waves, side, 3};
                    bool fits = false;
                    float ms = 0;
                    TRY(find_launch(g, half_length, device, c, l, &fits));
                    if (!fits || (l->rows > 0 && (waves > 1 || side > sides[0])))
                        continue;
                    TRY(time_step(w, n, &ms));
                    if (ms < least) {
                        least = ms;
                        *best = c;
                    }
                }
    return 0;
}

static int measure(const args &g, int half_length, int device, stopwatch w, launch *l, choice *best) {
    CUDA_TRY(cudaEventCreateWithFlags(&w.begin, cudaEventBlockingSync));
    CUDA_TRY(cudaEventCreateWithFlags(&w.end, cudaEventBlockingSync));
    const int rc = find_fastest(g, half_length, device, w, l, best);
    cudaEventDestroy(w.begin);
    cudaEventDestroy(w.end);
    return rc;
}

// What was found; of many grids the oldest are forgotten.
enum { REMEMBERED = 32 };
static struct found {
    fd2d_cfg c;
    int device;
    choice best;
} remembered[REMEMBERED];
static unsigned long long found_so_far;
static std::mutex guard;

static bool same_work(const fd2d_cfg *a, const fd2d_cfg *b) {
    return a->nx == b->nx && a->nz == b->nz && a->half_length == b->half_length && a->nleft == b->nleft &&
           a->nright == b->nright && a->ntop == b->ntop && a->nbottom == b->nbottom && a->free_top == b->free_top;
}

static bool recall(const fd2d_cfg *c, int device, choice *best) {
    const std::lock_guard<std::mutex> lock(guard);
    for (unsigned n = 0; n < REMEMBERED && n < found_so_far; n++)
        if (remembered[n].device == device && same_work(&remembered[n].c, c)) {
            *best = remembered[n].best;
            return true;
        }
    return false;
}

static void remember(const fd2d_cfg *c, int device, const choice &best) {
    const std::lock_guard<std::mutex> lock(guard);
    remembered[found_so_far++ % REMEMBERED] = {*c, device, best};
}

// Shots side by side fill the ends of each other's steps: large grids march in one wave, small ones are done in tiles,
// two of them on a processor.
static int side_by_side(const args &g, int half_length, int device, choice *c) {
    int room = 0;
    CUDA_TRY(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    const bool two = 2 * (find_kernel(half_length, TILE_MIDDLE).shared + RUNTIME) <= (size_t)room;
    *c = {(double)g.nx * g.nz >= MARCHES ? MARCH_NARROW : two ? TILE_MIDDLE : TILE_LOW, 1, 1.3, 3};
    return 0;
}

int choose_launch(const args &g, const fd2d_cfg *c, int device, cudaStream_t stream, int (*steps)(void *self, int n),
                  void *self, launch *l) {
    bool fits = false;
    choice best;
    TRY(side_by_side(g, c->half_length, device, &best));
    const bool pinned = c->shape[0] != 0;
    if (pinned) {
        best = {FORMS, 1, 1.6, 3};
        TRY(find_form(c->shape, &best.kind));
    } else if (c->share <= 1 && !recall(c, device, &best)) {
        if (!recall_note(c, device, &best)) {
            TRY(measure(g, c->half_length, device, {nullptr, nullptr, stream, steps, self}, l, &best));
            keep_note(c, device, best);
        }
        remember(c, device, best);
    }
    TRY(find_launch(g, c->half_length, device, best, l, &fits));
    REQUIRE(fits || !pinned, "shape=%s does not fit on this GPU: choose another one, or auto", c->shape);
    if (!fits) { // older GPUs have shared memory for the narrow march only
        best.kind = MARCH_NARROW;
        TRY(find_launch(g, c->half_length, device, best, l, &fits));
    }
    REQUIRE(fits,
            "variant=tuned needs %zu bytes of shared memory a block, more than this GPU has: choose variant=shared",
            find_kernel(c->half_length, MARCH_NARROW).shared);
    return 0;
}

} // namespace tuned
