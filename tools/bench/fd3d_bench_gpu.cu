// Speed of the GPU variants of the 3D time loop beside the memory bandwidth of the same GPU.
//
//   fd3d_bench_gpu           the table: variants x elastic and anelastic x 384^3, 512^3, 128 x 128 x 960, half-length 2
//   fd3d_bench_gpu --quick   shorter repetitions, without the half-lengths 1, 3 and 4: about a minute
//   fd3d_bench_gpu VARIANT nx ny nz half_length anelastic [bx by bz]     one case, for tuning; anelastic: 0, 1 (coarse
//                                                                        memory variables), 2 (all of them in each
//                                                                        cell); bx, by, bz: fd3d_tune
//   fd3d_bench_gpu --shapes VARIANT nx ny nz half_length anelastic       the same with many shapes of blocks
//   fd3d_bench_gpu --dense VARIANT ...                                   one case with all stresses kept
//
// Grids are sparse, as those of jobs are that take no pictures of pressure; `tuned` then has a core without stresses,
// and the table has it with all stresses too. All boundaries are on: free surface, C-PML of 20 cells on the other five
// sides, 512 cells of moment sources with a history each, 64 receivers of three components between nodes, the map of
// ground velocity. Wall clock of one handle_timestep of many steps and handle_pending(0), median of the repetitions,
// after one that counts not. Before each, the velocities are random again. A cell and step is charged with 120 bytes,
// anelastic 176 (`tuned`, whose memory variables take less, 160), with all memory variables 416, where there is a core
// 60, whatever the variant really moves; layers, sources and receivers with nothing. GFLOP/s are counted as AWP-ODC
// does: 307 operations a cell and step of the anelastic loop. The triad a = b + s c moves 12 bytes a term.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench_fd3d.cuh"
#include "bench_gpu.cuh"

using bench_fd3d::volume, bench_gpu::effort, bench_gpu::seconds_now;

static const effort full = {5, 0.5}, quick = {3, 0.2};
// Cells of an absorbing layer: those of the environment, else the usual ones.
static const int layer = getenv("LAYER") != nullptr ? atoi(getenv("LAYER")) : 20;
enum {
    ELASTIC_BYTES = 120,
    MEMORY_BYTES = 56,
    PACKED_BYTES = 40,
    ALL_BYTES = 296,
    CORE_BYTES = 60,
    FLOPS = 307,
    SOURCES = 512,
    RECEIVERS = 64
};

static void bench_fail(const char *what) {
    fprintf(stderr, "fd3d_bench_gpu: %s: %s\n", what, (const char *)err_message());
    exit(1);
}

// --- the case ------------------------------------------------------------------------------------------------------

struct shot {
    int half_length, anelastic, sparse;
};

static fd3d_cfg make_cfg(const int n[3], const shot &s) {
    fd3d_cfg c = {};
    for (int a = 0; a < 3; a++) {
        c.n[a] = c.whole[a] = n[a];
        c.d[a] = 10;
        c.side[2 * a] = c.side[2 * a + 1] = 1;
        c.layer[2 * a] = c.layer[2 * a + 1] = layer;
    }
    c.side[4] = 2; // free
    c.layer[4] = 0;
    c.half_length = s.half_length;
    c.anelastic = s.anelastic;
    c.sparse = s.sparse;
    c.dt = 0.4f * 10 / (1.74f * 3780);
    memcpy(c.w, bench_fd3d::taylor[s.half_length - 1], sizeof c.w);
    return c;
}

static void give_layers(void *h, const fd3d_cfg &c) {
    std::vector<float> p[3];
    for (int a = 0; a < 3; a++)
        bench_fd3d::layer_profile(p[a], layer, c.n[a], c.layer[2 * a], c.layer[2 * a + 1]);
    if (fd3d_pml(h, p[0].data(), p[1].data(), p[2].data()))
        bench_fail("pml");
}

// A fault of SOURCES cells with six stresses each, RECEIVERS on the surface.
static void give_points(void *h, const fd3d_cfg &c, int steps) {
    std::vector<int> field, i, j, k, hist, start(1, 0);
    std::vector<float> w, q((size_t)SOURCES * (size_t)steps);
    for (int m = 0; m < SOURCES; m++)
        for (int f = 3; f < 9; f++) {
            field.push_back(f), hist.push_back(m), w.push_back(1e3f);
            i.push_back(c.n[0] / 2 + m % 32 - 16), j.push_back(c.n[1] / 2), k.push_back(c.n[2] / 2 + m / 32 - 8);
        }
    for (size_t m = 0; m < q.size(); m++)
        q[m] = bench_random(m) - 0.5f;
    if (fd3d_source(h, SOURCES, (int)w.size(), field.data(), i.data(), j.data(), k.data(), hist.data(), w.data()) ||
        fd3d_histories(h, 1, steps, q.data()))
        bench_fail("source");
    field.clear(), i.clear(), j.clear(), k.clear(), w.clear();
    for (int r = 0; r < RECEIVERS; r++)
        for (int f = 0; f < 3; f++) {
            for (int m = 0; m < 64; m++) {
                field.push_back(f), w.push_back(1.0f / 64);
                i.push_back(layer + (r * 37) % (c.n[0] - 2 * layer - 8) + m % 4);
                j.push_back(layer + (r * 53) % (c.n[1] - 2 * layer - 8) + m / 4 % 4);
                k.push_back(m / 16);
            }
            start.push_back((int)w.size());
        }
    if (fd3d_receivers(h, 3 * RECEIVERS, start.data(), field.data(), i.data(), j.data(), k.data(), w.data()))
        bench_fail("receivers");
}

// A map of level ground: a point a column, vx and vy of 8 cells along x or y in 4 rows, vz of a cell.
static void watch_top(void *h, const fd3d_cfg &c) {
    std::vector<int> point[4], start(1);
    std::vector<short> away[3];
    std::vector<float> w;
    for (int j = 3; j + 4 < c.n[1]; j++)
        for (int i = 3; i + 4 < c.n[0]; i++) {
            const int at[4] = {i, j, 0, 0}; // and its stencil
            for (int a = 0; a < 4; a++)
                point[a].push_back(at[a]);
        }
    for (int v = 0; v < 3; v++) {
        for (int m = 0; m < (v < 2 ? 32 : 1); m++) {
            const int to[3] = {v == 0 ? m % 8 - 3 : 0, v == 1 ? m % 8 - 3 : 0, m / 8};
            for (int a = 0; a < 3; a++)
                away[a].push_back((short)to[a]);
            w.push_back(0.1f);
        }
        start.push_back((int)w.size());
    }
    if (fd3d_watch(h, 1 << 30, (int)point[0].size(), point[0].data(), point[1].data(), point[2].data(), point[3].data(),
                   1, start.data(), away[0].data(), away[1].data(), away[2].data(), w.data()))
        bench_fail("watch");
}

// A handle with everything but points; null with a sentence if the GPU refuses it.
static void *make(const char *name, const volume &v, const shot &s) {
    const fd3d_cfg c = make_cfg(v.n, s);
    void *h = fd3d_new(name, &c);
    if (h == nullptr)
        return nullptr;
    if (fd3d_model(h, v.rho.data(), v.lambda.data(), v.mu.data()))
        bench_fail("model");
    if (s.anelastic) {
        float tau[8], y[24] = {}, stiff[8] = {};
        for (int m = 0; m < 8; m++)
            tau[m] = 0.02f * (float)(1 << m), y[m] = 1.0f;
        if (fd3d_quality(h, tau, y, stiff, v.qp.data(), v.qs.data()))
            bench_fail("quality");
    }
    give_layers(h, c);
    watch_top(h, c);
    return h;
}

static void shake(void *h, const volume &v) {
    for (int f = 0; f < 3; f++)
        if (fd3d_set_field(h, f, v.field.data() + f))
            bench_fail("set_field");
}

// Wall clock of n steps.
static double run(void *h, const volume &v, int n) {
    shake(h, v);
    if (handle_pending(h, 0))
        bench_fail("pending");
    const double start = seconds_now();
    if (handle_timestep(h, 1, n) || handle_pending(h, 0))
        bench_fail("timestep");
    return seconds_now() - start;
}

// Seconds a step: median of the repetitions.
static double measure(void *h, const volume &v, const shot &s, effort e) {
    const fd3d_cfg c = make_cfg(v.n, s);
    int n = 64, at[3];
    float value;
    give_points(h, c, n);
    run(h, v, n); // makes graphs, fills caches
    const double took = run(h, v, n);
    n = 64 * std::max(1, (int)(e.seconds / took + 0.5));
    give_points(h, c, n);
    std::vector<double> each;
    for (int r = -1; r < e.repeats; r++) {
        const double seconds = run(h, v, n);
        if (r >= 0)
            each.push_back(seconds / n);
    }
    if (handle_maxabs(h, &value, at))
        bench_fail("maxabs");
    if (!(value > 0 && value < 1e30f))
        printf("        the fields are not what they should be: largest velocity %g at %d, %d, %d\n", (double)value,
               at[0], at[1], at[2]);
    std::sort(each.begin(), each.end());
    return each[each.size() / 2];
}

// --- the table -----------------------------------------------------------------------------------------------------

static void report(const char *name, const volume &v, const shot &s, double step, double triad_rate, void *h) {
    char how[256] = "";
    if (handle_device(h, sizeof how, how))
        bench_fail("device");
    const int memory = s.anelastic == 2 ? ALL_BYTES : strcmp(name, "tuned") == 0 ? PACKED_BYTES : MEMORY_BYTES;
    static const char *const sorts[] = {"elastic", "anelastic", "all"};
    const double rate = v.cells() / step,
                 bytes = (strstr(how, "core") != nullptr ? CORE_BYTES : ELASTIC_BYTES) + (s.anelastic ? memory : 0);
    const char *blocks = strstr(how, "blocks"); // the GPU's name stands above the table
    printf("%-8s %4d x %4d x %4d  L %d  %-9s %9.1f us/step %6.2f Gcell/s  %3.0f B/cell  %3.0f %% of triad", name,
           v.n[0], v.n[1], v.n[2], s.half_length, sorts[s.anelastic], step * 1e6, rate * 1e-9, bytes,
           100 * rate * bytes / triad_rate);
    if (s.anelastic == 1 && s.half_length == 2)
        printf("  %6.0f GFLOP/s", rate * (int)FLOPS * 1e-9);
    printf("  %s\n", blocks == nullptr ? "" : blocks);
    fflush(stdout);
}

static void one_case(const char *name, const volume &v, const shot &s, double triad_rate, effort e,
                     const int blocks[3]) {
    void *h = make(name, v, s);
    if (h == nullptr || (blocks != nullptr && fd3d_tune(h, "", blocks[0], blocks[1], blocks[2]))) {
        printf("%-8s %4d x %4d x %4d: %s\n", name, v.n[0], v.n[1], v.n[2], (const char *)err_message());
        handle_free(h);
        return;
    }
    report(name, v, s, measure(h, v, s, e), triad_rate, h);
    handle_free(h);
}

static std::vector<const char *> gpu_variants() {
    static char names[16][32];
    std::vector<const char *> list;
    void *solver = fd3d_solver();
    for (int n = 0; n < variants_count(solver) && n < 16; n++)
        if (variants_needs_gpu(solver, n) && variants_built(solver, n) &&
            !variants_name(solver, n, sizeof names[n], names[n]))
            list.push_back(names[n]);
    return list;
}

static void table(double triad_rate, effort e, bool brief) {
    static const int sizes[3][3] = {{384, 384, 384}, {512, 512, 512}, {128, 128, 960}};
    volume v;
    for (const auto &size : sizes) {
        v.make(size);
        for (const char *name : gpu_variants())
            for (int anelastic = 0; anelastic < 2; anelastic++)
                for (int sparse = strcmp(name, "tuned") == 0; sparse >= 0; sparse--)
                    one_case(name, v, {2, anelastic, sparse}, triad_rate, e, nullptr);
        if (size[0] == 384)
            one_case("tuned", v, {2, 2, 1}, triad_rate, e, nullptr);
        for (int L : {1, 3, 4})
            if (!brief && size[0] == 384)
                for (const char *name : gpu_variants())
                    one_case(name, v, {L, 0, 1}, triad_rate, e, nullptr);
    }
}

static void shapes(const char *name, const volume &v, const shot &s, double triad_rate) {
    static const int list[][3] = {{32, 8, 1},  {32, 4, 2},  {32, 2, 4},  {64, 4, 1},  {64, 2, 2},  {128, 2, 1},
                                  {16, 4, 4},  {32, 4, 1},  {64, 2, 1},  {32, 8, 16}, {32, 8, 32}, {32, 8, 64},
                                  {64, 4, 16}, {64, 4, 32}, {64, 4, 64}, {32, 4, 32}, {32, 4, 64}};
    for (const auto &blocks : list)
        one_case(name, v, s, triad_rate, quick, blocks);
}

static int usage() {
    fprintf(stderr, "usage: fd3d_bench_gpu [--quick | [--shapes | --dense] VARIANT nx ny nz half_length anelastic "
                    "[bx by bz]]\n");
    return 1;
}

static int single(double triad_rate, int argc, char **argv) {
    const bool many = strcmp(argv[1], "--shapes") == 0, dense = strcmp(argv[1], "--dense") == 0;
    argc -= many || dense, argv += many || dense;
    if (argc != 7 && argc != 10)
        return usage();
    int n[8] = {};
    for (int a = 2; a < argc; a++)
        n[a - 2] = atoi(argv[a]);
    if (n[0] < 80 || n[1] < 80 || n[2] < 80 || n[3] < 1 || n[3] > 4 || n[4] < 0 || n[4] > 2) {
        fprintf(stderr,
                "fd3d_bench_gpu: %d x %d x %d cells, half-length %d, anelastic %d: need at least 80 each, 1..4, 0..2\n",
                n[0], n[1], n[2], n[3], n[4]);
        return 1;
    }
    volume v;
    v.make(n);
    const shot s = {n[3], n[4], !dense};
    if (many)
        shapes(argv[1], v, s, triad_rate);
    else
        one_case(argv[1], v, s, triad_rate, full, argc == 10 ? n + 5 : nullptr);
    return 0;
}

int main(int argc, char **argv) {
    const bool brief = argc == 2 && strcmp(argv[1], "--quick") == 0;
    double triad_rate = 0;
    if (argc == 2 && !brief)
        return usage();
    if (device_count() == 0)
        return bench_gpu::unable();
    if (bench_gpu::begin(&triad_rate))
        bench_fail("GPU 0");
    if (argc > 2)
        return single(triad_rate, argc, argv);
    table(triad_rate, brief ? quick : full, brief);
    return 0;
}
