// The kernel that makes the steps of the `tuned` variant, and the cut of a grid for it: fd2d_tuned_blocks.h.
#include "fd2d_tuned_blocks.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <mutex>

#include "fd2d_tuned_plan.cuh"

namespace tuned {

static constexpr int LEAST_ROWS = 12;   // of a piece
static constexpr int MOST_DOWN = 60000; // rows of tiles, of the 65535 rows of blocks that CUDA has
static constexpr int RESERVED = 16;     // blocks that sample receivers while others march a step; in passes they wait
static constexpr size_t RUNTIME = 1024; // bytes of shared memory a block that CUDA takes for itself
// Cells of a grid from which on shots side by side had better be done in high tiles, or march (H200).
static constexpr double HIGH = 1.5e6, MARCHES = 3e7;

// Blocks that march keep no velocities. Densities apart: single steps of those half-lengths that know no passes.
static bool may_march(const fd2d_cfg *c) { return !c->velocities && (!c->apart || c->half_length > PASS_LENGTH); }

static launch find_kernel(const fd2d_cfg *c, form kind) {
    return stays(kind)      ? stay_kernel(c->half_length, kind)
           : kind > NO_PASS ? pass_kernel(c, 2 + kind - PASS_2)
                            : step_kernel(c, kind);
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

static int count_strips(int columns, int each) { return (columns + each - 1) / each; }

// Strips all alike.
static void cut_evenly(const args &g, const launch &l, plan *p) {
    const int strips = count_strips(g.nx, l.columns);
    for (int n = 0; n < strips; n++) {
        const int x0 = n * l.columns - l.margin;
        if (x0 < g.left)
            p->left++;
        else if (x0 + l.width > g.right)
            p->right++;
        else
            p->inner++;
    }
    p->side_columns = l.columns;
    p->inner_at = p->left * l.columns - l.margin;
    p->inner_last = INT_MAX;
    p->right_at = (strips - p->right) * l.columns - l.margin;
}

// Strips of half the width at both sides, and as many whole ones as cover what is between: the last of them ends where
// the right one begins. All begin ALIGNED columns or a multiple behind the first inner one. False if there are no two
// layers, or the grid is too small.
static bool cut_pair(const args &g, const launch &l, plan *p) {
    enum { ALIGNED = 16 };
    const int side = (l.width / 2 - 3 * l.margin) / ALIGNED * ALIGNED + l.margin; // columns that a half writes
    const int end = side + count_strips(g.nx - 2 * side, ALIGNED) * ALIGNED;      // of the inner ones
    p->left = p->right = 1;
    p->inner = count_strips(end - side, l.columns);
    p->side_columns = side;
    p->inner_at = side - l.margin;
    p->right_at = end - l.margin;
    p->inner_last = p->right_at - l.columns;
    return side > 0 && l.width % (2 * V * WARP) == 0 && g.left > 0 && g.right < g.nx && end - side >= l.columns;
}

// Columns in strips, and rows in as many pieces as there are slots: the longest pieces that fill the GPU. Sides take
// all slots that inner strips leave. False if there is no such cut of this grid.
static bool cut(const args &g, const launch &l, int slots, const choice &c, plan *found) {
    plan p = {};
    p.weight = c.weight;
    p.pair = c.pair;
    p.left_at = -l.margin;
    p.columns = l.columns;
    if (!c.pair)
        cut_evenly(g, l, &p);
    else if (!cut_pair(g, l, &p))
        return false;
    const int sides = side_strips(p), most = g.nz > LEAST_ROWS ? g.nz / LEAST_ROWS : 1;
    const int n = (int)(slots / (p.inner + c.side * sides));
    p.pieces = n < 1 ? 1 : n > most ? most : n;
    const int rest = slots - p.pieces * p.inner, m = sides > 0 ? rest / sides : 0;
    p.side_pieces = m < 1 ? 1 : m > most ? most : m;
    *found = p;
    return true;
}

int find_launch(const args &g, const fd2d_cfg *cfg, int device, const choice &c, launch *l, bool *fits) {
    int most = 0, slots = 0;
    launch found = find_kernel(cfg, c.kind);
    CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    *fits = (size_t)most >= found.shared && (found.rows > 0 || found.steps > 1 || may_march(cfg));
    if (!*fits)
        return 0;
    CUDA_TRY(cudaFuncSetAttribute(found.step, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)found.shared));
    if (found.rows > 0) {
        found.across = (g.nx + found.columns - 1) / found.columns;
        found.down = (g.nz + found.rows - 1) / found.rows;
        found.work = found.across * found.down;
        *fits = found.down <= MOST_DOWN;
        if (stays(c.kind)) {
            int together = 0;
            CUDA_TRY(cudaDeviceGetAttribute(&together, cudaDevAttrCooperativeLaunch, device));
            TRY(find_slots(found, device, &slots));
            found.spare = slots - found.work;
            *fits = together && found.spare >= 0;
        }
    } else {
        TRY(find_slots(found, device, &slots));
        *fits = cut(g, found, slots * c.waves - (found.steps > 1 ? 0 : RESERVED), c, &found.cut);
        if (*fits)
            found.work = count_work(found.cut);
    }
    found.kind = c.kind;
    if (*fits)
        *l = found;
    return 0;
}

// --- the fastest -----------------------------------------------------------------------------------------------------

struct stopwatch {
    cudaEvent_t begin, end;
    gpu_queue *queue;
    queue_launches steps;
    void *self;
};

// Launches of fields to and fro, which leave the first ones where they were.
static int two_launches(void *self) {
    const stopwatch &w = *(const stopwatch *)self;
    return w.steps(w.self, 2);
}

static int time_graph(const stopwatch &w, cudaGraphExec_t launches, float *ms) {
    CUDA_TRY(cudaGraphUpload(launches, w.queue->stream));
    TRY(gpu_begin(w.queue, 1, 1)); // the first row of traces
    TRY(w.steps(w.self, 2));
    CUDA_TRY(cudaEventRecord(w.begin, w.queue->stream));
    CUDA_TRY(cudaGraphLaunch(launches, w.queue->stream));
    CUDA_TRY(cudaEventRecord(w.end, w.queue->stream));
    CUDA_TRY(cudaEventSynchronize(w.end));
    CUDA_TRY(cudaEventElapsedTime(ms, w.begin, w.end));
    return 0;
}

// Time of a launch [ms], of n (even) in a graph, which is how shots are run: one by one, those of a small grid would
// take what the host needs.
static int time_step(const stopwatch &w, int n, float *ms) {
    cudaGraphExec_t launches = nullptr;
    TRY(gpu_capture(w.queue, n / 2, two_launches, (void *)&w, &launches));
    const int rc = time_graph(w, launches, ms);
    cudaGraphExecDestroy(launches);
    *ms /= (float)n;
    return rc;
}

static int launches_to_time(const args &g) { return g.nx * (double)g.nz < 2e6 ? TIMED : TIMED / 4; }

// Times a choice, if it fits.
static int try_choice(const args &g, const fd2d_cfg *cfg, int device, const stopwatch &w, const choice &c, launch *l,
                      choice *best, float *least) {
    bool fits = false;
    float ms = 0;
    TRY(find_launch(g, cfg, device, c, l, &fits));
    if (!fits)
        return 0;
    TRY(time_step(w, launches_to_time(g), &ms));
    ms /= (float)l->steps;
    if (ms < *least) {
        *least = ms;
        *best = c;
    }
    return 0;
}

// Of the forms first .. end-1; *least: time of a step [ms], and what there is already.
static int find_fastest(const args &g, const fd2d_cfg *cfg, int device, const stopwatch &w, int first, int end,
                        launch *l, choice *best, float *least) {
    static const double sides[] = {1.3, 1.6, 1.9, 2.5, 3.5};
    for (int round = 0; round < 3; round++) // a GPU that has rested is slow at first
        for (int kind = first; kind < end; kind++)
            for (int waves = 1; waves <= 3; waves++)
                for (double side : sides)
                    for (int pair = 0; pair < 2; pair++) {
                        const bool tiles = kind == TILE_LOW || kind == TILE_HIGH || stays((form)kind),
                                   pass = kind > NO_PASS && !tiles;
                        if (!pass && (pair || side > 2 || (tiles && (waves > 1 || side > sides[0]))))
                            continue;
                        TRY(try_choice(g, cfg, device, w, {(form)kind, waves, side, 3, pair}, l, best, least));
                    }
    return 0;
}

static int open_stopwatch(stopwatch *w) {
    CUDA_TRY(cudaEventCreateWithFlags(&w->begin, cudaEventBlockingSync));
    CUDA_TRY(cudaEventCreateWithFlags(&w->end, cudaEventBlockingSync));
    return 0;
}

static void close_stopwatch(stopwatch *w) {
    cudaEventDestroy(w->begin);
    cudaEventDestroy(w->end);
}

static int measure(const args &g, const fd2d_cfg *cfg, int device, stopwatch w, launch *l, choice *best) {
    float least = INFINITY;
    TRY(open_stopwatch(&w));
    const int rc = find_fastest(g, cfg, device, w, 0, FORMS, l, best, &least);
    close_stopwatch(&w);
    return rc;
}

// The forms that passes may have: first .. end-1.
static int forms_of_passes(const args &g, const fd2d_cfg *c, int *end) {
    *end = may_stay(g, c) ? ALL_FORMS : STAY_LOW;
    if (c->steps_a_pass < 2)
        return may_pass(g, c) ? PASS_2 : STAY_LOW;
    *end = PASS_2 + c->steps_a_pass - 1;
    return *end - 1;
}

// A file may tell of passes for which this grid has no memory, or no kernels.
static bool recall_pass(const args &g, const fd2d_cfg *c, int device, choice *best) {
    int end;
    const int first = forms_of_passes(g, c, &end);
    return recall_choice(c, device, true, best) && (best->kind == NO_PASS || (best->kind >= first && best->kind < end));
}

// The fastest passes, if they are faster than the steps one by one that `one` times.
static int measure_passes(const args &g, const fd2d_cfg *cfg, int device, stopwatch one, stopwatch w, launch *l,
                          choice *best) {
    int end;
    const int n = launches_to_time(g), first = forms_of_passes(g, cfg, &end);
    float least = INFINITY;
    TRY(open_stopwatch(&w));
    one.begin = w.begin, one.end = w.end;
    int rc = 0;
    best->kind = NO_PASS;
    for (int round = 0; round < 3 && cfg->steps_a_pass == 0 && rc == 0; round++) {
        float ms = 0;
        rc = time_step(one, n, &ms);
        least = std::min(least, ms);
    }
    rc = rc || find_fastest(g, cfg, device, w, first, end, l, best, &least);
    close_stopwatch(&w);
    return rc;
}

// Choices found so far; of many grids the oldest are forgotten.
enum { REMEMBERED = 32 };
static struct found {
    fd2d_cfg c;
    int device;
    bool of_passes;
    choice best;
} remembered[REMEMBERED];
static unsigned long long found_so_far;
static std::mutex guard;

static bool same_work(const fd2d_cfg *a, const fd2d_cfg *b) {
    return a->nx == b->nx && a->nz == b->nz && a->half_length == b->half_length && a->nleft == b->nleft &&
           a->nright == b->nright && a->ntop == b->ntop && a->nbottom == b->nbottom && a->free_top == b->free_top &&
           a->velocities == b->velocities && a->apart == b->apart && a->steps_a_pass == b->steps_a_pass;
}

static bool recall(const fd2d_cfg *c, int device, bool of_passes, choice *best) {
    const std::lock_guard<std::mutex> lock(guard);
    for (unsigned n = 0; n < REMEMBERED && n < found_so_far; n++)
        if (remembered[n].device == device && remembered[n].of_passes == of_passes && same_work(&remembered[n].c, c)) {
            *best = remembered[n].best;
            return true;
        }
    return false;
}

static void remember(const fd2d_cfg *c, int device, bool of_passes, const choice &best) {
    const std::lock_guard<std::mutex> lock(guard);
    remembered[found_so_far++ % REMEMBERED] = {*c, device, of_passes, best};
}

// Shots side by side fill the ends of each other's steps: the choice goes by cells a second of blocks on a GPU that is
// full, not by the number of blocks of a grid.
static int side_by_side(const args &g, const fd2d_cfg *cfg, int device, choice *c) {
    int room = 0;
    CUDA_TRY(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    const bool two = 2 * (find_kernel(cfg, TILE_HIGH).shared + RUNTIME) <= (size_t)room;
    const double cells = (double)g.nx * g.nz;
    const bool marches = cells >= MARCHES && may_march(cfg) && !cfg->apart;
    *c = {marches ? MARCH_NARROW : two && cells >= HIGH ? TILE_HIGH : TILE_LOW, 1, 1.3, 3, 0};
    return 0;
}

int choose_launch(const args &g, const fd2d_cfg *c, gpu_queue *queue, queue_launches steps, void *self, launch *l) {
    const int device = queue->device;
    bool fits = false;
    choice best;
    TRY(side_by_side(g, c, device, &best));
    const bool pinned = c->shape[0] != 0;
    if (pinned) {
        best = {FORMS, 1, 1.6, 3, 0};
        TRY(find_form(c->shape, &best.kind));
        if (stays(best.kind))
            best.kind = TILE_LOW; // of a single step
    } else if (c->share <= 1 && !recall(c, device, false, &best)) {
        if (!recall_choice(c, device, false, &best)) {
            TRY(measure(g, c, device, {nullptr, nullptr, queue, steps, self}, l, &best));
            keep_choice(c, device, false, best);
        }
        remember(c, device, false, best);
    }
    TRY(find_launch(g, c, device, best, l, &fits));
    const bool marches = best.kind == MARCH_NARROW || best.kind == MARCH_WIDE;
    REQUIRE(fits || !pinned || !marches || may_march(c), "shape=%s keeps no velocities%s: choose another one, or auto",
            c->shape, c->velocities ? "" : ", and at half-lengths up to 4 knows no densities apart");
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

bool may_pass(const args &g, const fd2d_cfg *c) {
    const bool asked = c->steps_a_pass > 1 || (c->steps_a_pass == 0 && c->share <= 1); // side by side: by hand only
    return asked && !c->velocities && c->half_length <= PASS_LENGTH && c->shape[0] == 0 &&
           (!g.free_top || g.bottom >= c->half_length);
}

// By themselves those of a shot that has its GPU for itself.
bool may_stay(const args &g, const fd2d_cfg *c) {
    form kind = STAY_LOW;
    const long long tiles = (long long)count_strips(g.nx, 64) * count_strips(g.nz, 32);
    const bool asked = c->shape[0] == 0 ? c->share <= 1 : find_form(c->shape, &kind) == 0 && stays(kind);
    return asked && c->steps_a_pass == 0 && !c->velocities && tiles <= MOST_STAYING &&
           (!g.free_top || g.bottom >= c->half_length);
}

int check_pass(const args &g, const fd2d_cfg *c) {
    REQUIRE(c->steps_a_pass < 2 || may_pass(g, c), "steps_a_pass=%d, but %s: leave it out", c->steps_a_pass,
            c->half_length > PASS_LENGTH ? "half-lengths beyond 4 take one step a pass"
            : c->velocities              ? "where velocities are recorded there is one step a pass"
            : c->shape[0] != 0           ? "shapes by name are of one step a pass"
                                         : "the layer at the bottom is too near to the free surface");
    return 0;
}

int choose_pass(const args &g, const fd2d_cfg *c, gpu_queue *queue, queue_launches steps, queue_launches passes,
                void *self, launch *pass) {
    const int device = queue->device;
    const bool by_hand = c->steps_a_pass > 1, named = c->shape[0] != 0;
    choice best = {by_hand ? (form)(PASS_2 + c->steps_a_pass - 2) : NO_PASS, 1, 1.9, 3, 0};
    bool fits = false;
    *pass = {};
    if (named)
        TRY(find_form(c->shape, &best.kind));
    if (!may_pass(g, c) && !may_stay(g, c))
        return 0;
    if (!named && c->share <= 1 && !recall(c, device, true, &best)) {
        if (!recall_pass(g, c, device, &best)) {
            TRY(measure_passes(g, c, device, {nullptr, nullptr, queue, steps, self},
                               {nullptr, nullptr, queue, passes, self}, pass, &best));
            keep_choice(c, device, true, best);
        }
        remember(c, device, true, best);
    }
    if (best.kind > NO_PASS)
        TRY(find_launch(g, c, device, best, pass, &fits));
    if (!fits)
        *pass = {};
    return 0;
}

} // namespace tuned
