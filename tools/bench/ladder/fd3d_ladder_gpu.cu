// The ladder of optimisations of AWP-ODC (Zhou et al., Hands-on performance tuning of 3D finite difference earthquake
// simulation on GPU Fermi chipset, ICCS 2012, section 4), step by step on the GPU of today.
//
//   fd3d_ladder_gpu             128 x 128 x 960, 256^3 and 384^3 cells, viscoelastic and elastic
//   fd3d_ladder_gpu --quick     128 x 128 x 960, viscoelastic, short repetitions: a few seconds
//   fd3d_ladder_gpu NX NY NZ    cells in the paper's order, the last side by side in memory
//
// The loop is the paper's: nine fields, six memory variables, velocities in one kernel and stresses in the other,
// Cerjan's sponge, nothing around but zeros. Differences: the grid is staggered and the medium averaged as in this
// solver, whose formulas these are, so that the coefficients are five volumes (rho, lambda, 1/mu, 1/Qp, 1/Qs) and a
// sponge of three rows, where the paper has six volumes. A cell and step is charged 176 bytes, elastic 120, each number
// touched once, and 307 operations as the paper counts them. Each rung begins with the same random fields and must come
// to those of the first rung.
//
// CUDA events around many steps, median of the repetitions, after one that counts not; fields are random again before
// each. The paper's figures: seconds a step from Table 2 (256^3, Tesla M2090) and section 4, step 5 (128 x 128 x 960),
// its 143.8 GFLOP/s from the abstract.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../bench_gpu.cuh"
#include "ladder_grid.cuh"
#include "ladder_kernels.cuh"

namespace ladder {

static constexpr int FLOPS = 307, BYTES = 176, ELASTIC_BYTES = 120, CHECKED_STEPS = 10;
static const double tolerance = 1e-5; // relative root mean square of each field

typedef void (*kernel)(const fd3d_gpu_grid *, int);

struct rung {
    const char *name, *adds;
    bool padded;
    bool threads_on_slow_axes;
    int block[2];               // threads
    int deep;                   // cells of a column a block goes through; 0: all
    int shared_percent;         // of the memory that L1 and shared memory divide between them; -1: as the driver likes
    kernel velocity, stress[2]; // elastic, anelastic
    double paper_long, paper_cube; // seconds a step at 128 x 128 x 960, 256^3; 0: not told
};

// Block shapes: the paper's, but for a cell a thread, where columns need not be short.
#define PLAIN(scalars, medium, march)                                                                                  \
    velocity<scalars, medium, march>, { stress<scalars, medium, march, false>, stress<scalars, medium, march, true> }
#define QUEUE(medium, blocks)                                                                                          \
    velocity_queue<medium, blocks>, { stress_queue<medium, false, blocks>, stress_queue<medium, true, blocks> }
#define SHARED(medium)                                                                                                 \
    velocity_shared<medium>, { stress_shared<medium, false>, stress_shared<medium, true> }

static const rung rungs[] = {
    {"global, x-y",
     "threads along the two slow axes (Table 2, left)",
     false,
     true,
     {BX, BY},
     0,
     -1,
     PLAIN(scalars_from_global, medium_from_global, along_x),
     0,
     1.956},
    {"global, y-z",
     "threads along the fast axis (Table 2, right)",
     false,
     false,
     {BX, BY},
     0,
     -1,
     PLAIN(scalars_from_global, medium_from_global, along_z),
     0,
     0.086},
    {"1 texture, x-y",
     "medium through textures, scalars in constant memory",
     false,
     true,
     {BX, BY},
     0,
     -1,
     PLAIN(scalars_from_constant, medium_from_texture, along_x),
     0,
     0},
    {"2 texture, y-z",
     "and threads along the fast axis",
     false,
     false,
     {BX, BY},
     0,
     -1,
     PLAIN(scalars_from_constant, medium_from_texture, along_z),
     0,
     0},
    {"3 padded",
     "and rows begin at multiples of 128 bytes",
     true,
     false,
     {BX, BY},
     0,
     -1,
     PLAIN(scalars_from_constant, medium_from_texture, along_z),
     0,
     0},
    {"4 queue, L1",
     "and a queue of registers along the march; L1 as large as can be",
     true,
     false,
     {BX, BY},
     0,
     cudaSharedmemCarveoutMaxL1,
     QUEUE(medium_from_texture, PAPERS_BLOCKS),
     0.038,
     0},
    {"5 queue, small L1",
     "4 with L1 as small as can be",
     true,
     false,
     {BX, BY},
     0,
     cudaSharedmemCarveoutMaxShared,
     QUEUE(medium_from_texture, PAPERS_BLOCKS),
     0,
     0},
    {"5 shared",
     "4 with the plane in shared memory",
     true,
     false,
     {BX, BY},
     0,
     cudaSharedmemCarveoutMaxShared,
     SHARED(medium_from_texture),
     0.037,
     0},
    {"short columns",
     "4 with columns of 16 cells: more threads at a time",
     true,
     false,
     {BX, BY},
     16,
     cudaSharedmemCarveoutMaxL1,
     QUEUE(medium_from_texture, PAPERS_BLOCKS),
     0,
     0},
    {"no textures",
     "short columns, medium from global memory, twice the registers",
     true,
     false,
     {BX, BY},
     16,
     cudaSharedmemCarveoutMaxL1,
     QUEUE(medium_from_global, 1),
     0,
     0},
    {"a cell a thread",
     "3 without textures and without a march",
     true,
     false,
     {32, 8},
     1,
     -1,
     PLAIN(scalars_from_constant, medium_from_global, along_z),
     0,
     0},
};

struct bench {
    volume v;
    double triad = 0; // bytes a second
    bench_gpu::effort work = {5, 0.3};
    bool failed = false;
};

static void fail() {
    fprintf(stderr, "fd3d_ladder_gpu: %s\n", (const char *)err_message());
    exit(1);
}

static int prepare(bench *b, const rung &r) {
    TRY(b->v.lay_out(r.padded));
    CUDA_TRY(cudaMemcpyToSymbol(in_constant_memory, &b->v.g, sizeof b->v.g));
    if (r.shared_percent >= 0)
        for (kernel k : {r.velocity, r.stress[0], r.stress[1]})
            CUDA_TRY(cudaFuncSetAttribute((const void *)k, cudaFuncAttributePreferredSharedMemoryCarveout,
                                          r.shared_percent));
    return 0;
}

static unsigned parts(int n, int part) { return (unsigned)((n + part - 1) / part); }

static int steps(const bench &b, const rung &r, int anelastic, int n) {
    const fd3d_gpu_grid &g = b.v.g;
    const int deep = r.deep > 0 ? r.deep : g.nz;
    const dim3 threads((unsigned)r.block[0], (unsigned)r.block[1]);
    const dim3 blocks = r.threads_on_slow_axes
                            ? dim3(parts(g.nz, r.block[0]), parts(g.ny, r.block[1]))
                            : dim3(parts(g.nx, r.block[0]), parts(g.ny, r.block[1]), parts(g.nz, deep));
    for (int it = 0; it < n; it++) {
        r.velocity<<<blocks, threads>>>(b.v.on_device, deep);
        r.stress[anelastic]<<<blocks, threads>>>(b.v.on_device, deep);
    }
    CUDA_TRY(cudaGetLastError());
    return 0;
}

// Seconds that n steps from random fields take.
static int timed(bench *b, const rung &r, int anelastic, int n, double *seconds) {
    cudaEvent_t start, end;
    float ms = 0;
    TRY(b->v.shake());
    CUDA_TRY(cudaEventCreate(&start));
    CUDA_TRY(cudaEventCreate(&end));
    CUDA_TRY(cudaEventRecord(start));
    TRY(steps(*b, r, anelastic, n));
    CUDA_TRY(cudaEventRecord(end));
    CUDA_TRY(cudaEventSynchronize(end));
    CUDA_TRY(cudaEventElapsedTime(&ms, start, end));
    CUDA_TRY(cudaEventDestroy(start));
    CUDA_TRY(cudaEventDestroy(end));
    *seconds = ms * 1e-3;
    return 0;
}

// Seconds a step: median of the repetitions.
static int measure(bench *b, const rung &r, int anelastic, double *step) {
    double took;
    TRY(timed(b, r, anelastic, 4, &took));
    TRY(timed(b, r, anelastic, 4, &took));
    const int n = std::max(2, (int)(4 * b->work.seconds / took));
    std::vector<double> each;
    for (int repeat = -1; repeat < b->work.repeats; repeat++) {
        TRY(timed(b, r, anelastic, n, &took));
        if (repeat >= 0)
            each.push_back(took / n);
    }
    std::sort(each.begin(), each.end());
    *step = each[each.size() / 2];
    return 0;
}

// Largest relative difference of a rung's fields to those of the first, which keeps them. Fields that stayed as they
// were would agree with anything.
static int check(bench *b, const rung &r, int anelastic, double *apart) {
    const int arrays = anelastic ? FIRST_MEDIUM : FIRST_MEMORY;
    double moved = 0, none;
    *apart = 0;
    TRY(b->v.shake());
    if (&r == rungs)
        TRY(b->v.difference(KEEP, arrays, &none));
    TRY(steps(*b, r, anelastic, CHECKED_STEPS));
    if (&r != rungs)
        return b->v.difference(COMPARE, arrays, apart);
    TRY(b->v.difference(COMPARE, arrays, &moved));
    REQUIRE(moved > 0.1 && moved < 100, "the first rung changed its fields by a factor of %g in %d steps", moved,
            CHECKED_STEPS);
    return b->v.difference(KEEP, arrays, &none);
}

// --- the table -------------------------------------------------------------------------------------------------------

static void report(bench *b, const rung &r, int anelastic, double step, double apart, double paper) {
    const double rate = b->v.cells() / step, bytes = anelastic ? BYTES : ELASTIC_BYTES;
    printf("%-18s %10.1f us/step %6.2f Gcell/s", r.name, step * 1e6, rate * 1e-9);
    if (anelastic)
        printf(" %6.0f GFLOP/s", rate * FLOPS * 1e-9);
    printf("  %3.0f B/cell %4.0f %% of triad  off %.0e", bytes, 100 * rate * bytes / b->triad, apart);
    if (anelastic && paper > 0)
        printf("  paper %5.0f us/step = %5.1f GFLOP/s", paper * 1e6, b->v.cells() * FLOPS / paper * 1e-9);
    printf("\n");
    if (!(apart <= tolerance)) {
        printf("FAIL - %s: fields differ from those of '%s' by %.1e (bound %.0e)\n", r.name, rungs[0].name, apart,
               tolerance);
        b->failed = true;
    }
    fflush(stdout);
}

static int table(bench *b, const int size[3], int anelastic) {
    const bool is_long = size[0] == 128 && size[1] == 128 && size[2] == 960;
    const bool is_cube = size[0] == 256 && size[1] == 256 && size[2] == 256;
    printf("\n%d x %d x %d, %s%s\n", size[0], size[1], size[2], anelastic ? "viscoelastic" : "elastic",
           anelastic && is_long ? "; the paper's best: 143.8 GFLOP/s" : "");
    TRY(b->v.make(size[2], size[1], size[0]));
    for (const rung &r : rungs) {
        double apart, step;
        TRY(prepare(b, r));
        TRY(check(b, r, anelastic, &apart));
        TRY(measure(b, r, anelastic, &step));
        report(b, r, anelastic, step, apart, is_long ? r.paper_long : is_cube ? r.paper_cube : 0);
    }
    return 0;
}

static void legend() {
    for (const rung &r : rungs)
        printf("%-18s %s\n", r.name, r.adds);
}

static int tables(bench *b, bool brief) {
    static const int sizes[3][3] = {{128, 128, 960}, {256, 256, 256}, {384, 384, 384}};
    for (const auto &size : sizes)
        for (int anelastic = 1; anelastic >= 0; anelastic--)
            if (!brief || (&size == sizes && anelastic))
                TRY(table(b, size, anelastic));
    return 0;
}

static int usage() {
    fprintf(stderr,
            "usage: fd3d_ladder_gpu [--quick | NX NY NZ]      32..1024 cells each, NZ side by side in memory\n");
    return 1;
}

static int run(int argc, char **argv) {
    const bool brief = argc == 2 && strcmp(argv[1], "--quick") == 0;
    int size[3] = {};
    if (argc != 1 && !brief && argc != 4)
        return usage();
    for (int a = 1; a < argc && !brief; a++) {
        size[a - 1] = atoi(argv[a]);
        if (size[a - 1] < 32 || size[a - 1] > 1024)
            return usage();
    }
    if (device_count() == 0)
        return bench_gpu::unable();
    bench b;
    if (brief)
        b.work = {3, 0.05};
    if (bench_gpu::begin(&b.triad))
        fail();
    legend();
    if (argc == 4 ? table(&b, size, 1) || table(&b, size, 0) : tables(&b, brief))
        fail();
    b.v.release();
    if (!b.failed)
        printf("\nall rungs agree with the first within %.0e\n", tolerance);
    return b.failed;
}

} // namespace ladder

int main(int argc, char **argv) { return ladder::run(argc, argv); }
