// The kernels of the `tuned` variant and how a grid is cut for them: fd2d_tuned_blocks.h.
#include "fd2d_tuned_blocks.h"

#include <cmath>
#include <mutex>

#include "fd2d_tuned_march.cuh"
#include "fd2d_tuned_tile.cuh"

namespace tuned {

static constexpr int LEAST_ROWS = 12;   // of a piece
static constexpr int MOST_DOWN = 60000; // rows of tiles, of the 65535 rows of blocks that CUDA has
static constexpr int RESERVED = 16;     // blocks that sample receivers while others march
static constexpr size_t RUNTIME = 1024; // bytes of shared memory a block that CUDA takes for itself
// Cells of a grid from which on shots side by side had better be done in high tiles, or march (H200).
static constexpr double HIGH = 1.5e6, MARCHES = 3e7;

// --- kernels ---------------------------------------------------------------------------------------------------------

template <int L, int T> static launch march_of() {
    using S = march_shape<L, T>;
    return {.step = step_march<L, T>, .shared = S::bytes, .threads = T, .columns = S::W, .receivers = 32};
}

template <int L, int R, bool KEEP_V> static launch tile_of() {
    using S = tile_shape<L, R, KEEP_V>;
    return {.step = step_tile<L, R, KEEP_V>,
            .shared = S::bytes,
            .threads = S::N,
            .columns = S::W,
            .rows = S::H,
            .receivers = 8};
}

template <int L, bool KEEP_V> static launch launch_of(form kind) {
    switch (kind) {
    case MARCH_NARROW:
        return march_of<L, 64>();
    case MARCH_WIDE:
        return march_of<L, 128>();
    case TILE_LOW:
        return tile_of<L, 2, KEEP_V>();
    default:
        return tile_of<L, 4, KEEP_V>();
    }
}

template <bool KEEP_V> static launch find_kernel(int half_length, form kind) {
    static launch (*const of[DER_MAX])(form) = {launch_of<1, KEEP_V>, launch_of<2, KEEP_V>, launch_of<3, KEEP_V>,
                                                launch_of<4, KEEP_V>, launch_of<5, KEEP_V>, launch_of<6, KEEP_V>,
                                                launch_of<7, KEEP_V>, launch_of<8, KEEP_V>};
    return of[half_length - 1](kind);
}

// Blocks that march keep no velocities, and have one density.
static bool may_march(const fd2d_cfg *c) { return !c->velocities && !c->apart; }

static launch find_kernel(const fd2d_cfg *c, form kind) {
    return c->velocities ? find_kernel<true>(c->half_length, kind) : find_kernel<false>(c->half_length, kind);
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

int find_launch(const args &g, const fd2d_cfg *cfg, int device, const choice &c, launch *l, bool *fits) {
    int most = 0, slots = 0;
    launch found = find_kernel(cfg, c.kind);
    CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    *fits = (size_t)most >= found.shared && (found.rows > 0 || may_march(cfg));
    if (!*fits)
        return 0;
    CUDA_TRY(cudaFuncSetAttribute(found.step, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)found.shared));
    if (found.rows > 0) {
        found.across = (g.nx + found.columns - 1) / found.columns;
        found.down = (g.nz + found.rows - 1) / found.rows;
        found.work = found.across * found.down;
        *fits = found.down <= MOST_DOWN;
    } else {
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

static int find_fastest(const args &g, const fd2d_cfg *cfg, int device, const stopwatch &w, launch *l, choice *best) {
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
                    TRY(find_launch(g, cfg, device, c, l, &fits));
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

static int measure(const args &g, const fd2d_cfg *cfg, int device, stopwatch w, launch *l, choice *best) {
    CUDA_TRY(cudaEventCreateWithFlags(&w.begin, cudaEventBlockingSync));
    CUDA_TRY(cudaEventCreateWithFlags(&w.end, cudaEventBlockingSync));
    const int rc = find_fastest(g, cfg, device, w, l, best);
    cudaEventDestroy(w.begin);
    cudaEventDestroy(w.end);
    return rc;
}

// Choices found so far; of many grids the oldest are forgotten.
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
           a->nright == b->nright && a->ntop == b->ntop && a->nbottom == b->nbottom && a->free_top == b->free_top &&
           a->velocities == b->velocities && a->apart == b->apart;
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

// Shots side by side fill the ends of each other's steps: the choice goes by cells a second of blocks on a GPU that is
// full, not by the number of blocks of a grid.
static int side_by_side(const args &g, const fd2d_cfg *cfg, int device, choice *c) {
    int room = 0;
    CUDA_TRY(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    const bool two = 2 * (find_kernel(cfg, TILE_HIGH).shared + RUNTIME) <= (size_t)room;
    const double cells = (double)g.nx * g.nz;
    const bool marches = cells >= MARCHES && may_march(cfg);
    *c = {marches ? MARCH_NARROW : two && cells >= HIGH ? TILE_HIGH : TILE_LOW, 1, 1.3, 3};
    return 0;
}

int choose_launch(const args &g, const fd2d_cfg *c, int device, cudaStream_t stream, int (*steps)(void *self, int n),
                  void *self, launch *l) {
    bool fits = false;
    choice best;
    TRY(side_by_side(g, c, device, &best));
    const bool pinned = c->shape[0] != 0;
    if (pinned) {
        best = {FORMS, 1, 1.6, 3};
        TRY(find_form(c->shape, &best.kind));
    } else if (c->share <= 1 && !recall(c, device, &best)) {
        if (!recall_choice(c, device, &best)) {
            TRY(measure(g, c, device, {nullptr, nullptr, stream, steps, self}, l, &best));
            keep_choice(c, device, best);
        }
        remember(c, device, best);
    }
    TRY(find_launch(g, c, device, best, l, &fits));
    REQUIRE(fits || !pinned, "shape=%s does not fit on this GPU%s: choose another one, or auto", c->shape,
            may_march(c)    ? ""
            : c->velocities ? ", or keeps no velocities"
                            : ", or knows no densities apart");
    const form least = may_march(c) ? MARCH_NARROW : TILE_LOW; // older GPUs have less shared memory
    if (!fits) {
        best.kind = least;
        TRY(find_launch(g, c, device, best, l, &fits));
    }
    REQUIRE(fits,
            "variant=tuned needs %zu bytes of shared memory a block, more than this GPU has: choose variant=shared",
            find_kernel(c, least).shared);
    return 0;
}

} // namespace tuned
