// Speed of the GPU variants of the 2D time loop beside the memory bandwidth of the same GPU, and beside this machine's
// `cpu`.
//
//   fd2d_bench_gpu             the table: variants x sizes, half-lengths 8, 4, 2, several handles in flight
//   fd2d_bench_gpu --quick     fewer sizes, shorter repetitions: under a minute
//   fd2d_bench_gpu VARIANT nx nz half_length [handles [width rows [steps]]]      one case; the last three: fd2d_tune
//
// Wall clock of one handle_timestep of many steps and handle_pending(0), median of the repetitions, after one that
// counts not. Before each repetition sigma is random again, so that no field fades to zeros. A cell and step is charged
// with 48 bytes where velocity and stress take a pass each, with 24 in `tuned`, with 32 in `tuned-v`, which is `tuned`
// where velocities are recorded too; layers, source and receivers with nothing. The triad a = b + s c moves 12 bytes a
// term. `tuned-1` to `tuned-4` take so many steps a pass; they too are charged 24 bytes a cell and step. `tuned-apart`,
// and `tuned-apart-1` to `-4` by so many steps a pass: densities of their own at vx and vz, as `regrid=cell` makes them
// on grids coarser than the model; 28 bytes.
// `tiles-32`, `stay-32`...: `tuned` with that shape.
#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "bench_case.h"
#include "bench_gpu.cuh"

using bench_gpu::effort, bench_gpu::seconds_now;

static const effort full = {5, 0.3}, quick = {3, 0.15};
enum { LAYER = 20, CHUNK = 200, TWO_PASSES = 48, ONE_PASS = 24, APART = 28, WITH_VELOCITIES = 32 };

// Launches a step, receivers included; see the heads of cuda_c/fd2d_*.cu.
struct variant {
    const char *name;
    int bytes;
    double launches;
    int steps_a_pass = 0;
    const char *shape = "";
};
static const variant variants[] = {{"global", TWO_PASSES, 10},
                                   {"shared", TWO_PASSES, 6},
                                   {"texture", TWO_PASSES, 4},
                                   {"tuned", ONE_PASS, 1},
                                   {"tuned-v", WITH_VELOCITIES, 1},
                                   {"tuned-1", ONE_PASS, 1, 1},
                                   {"tuned-2", ONE_PASS, 1, 2},
                                   {"tuned-3", ONE_PASS, 1, 3},
                                   {"tuned-4", ONE_PASS, 1, 4},
                                   {"tuned-apart", APART, 1},
                                   {"tuned-apart-1", APART, 1, 1},
                                   {"tuned-apart-2", APART, 1, 2},
                                   {"tuned-apart-3", APART, 1, 3},
                                   {"tuned-apart-4", APART, 1, 4},
                                   {"stay-16", ONE_PASS, 1, 0, "stay-16"},
                                   {"stay-32", ONE_PASS, 1, 0, "stay-32"},
                                   {"tiles-32", ONE_PASS, 1, 0, "tiles-32"},
                                   {"tiles-64", ONE_PASS, 1, 0, "tiles-64"}};
// Of them: steps a pass as it chooses, one; the same with densities apart.
enum { TUNED = 3, ONE_BY_ONE = 5, TUNED_APART = 9, ONE_BY_ONE_APART = 10 };

static const variant *find_variant(const char *name) {
    for (const variant &v : variants)
        if (strcmp(v.name, name) == 0)
            return &v;
    return nullptr;
}

// --- the time loop -------------------------------------------------------------------------------------------------

// Random numbers of a grid, made once a size by all cores.
struct grid {
    int nx = 0, nz = 0;
    std::vector<float> kappa, rho, sigma;
    size_t cells() const { return (size_t)nx * (size_t)nz; }

    void make(int nx_, int nz_) {
        if (nx == nx_ && nz == nz_)
            return;
        nx = nx_, nz = nz_;
        for (std::vector<float> *v : {&kappa, &rho, &sigma})
            v->resize(cells() + 1); // one more: densities apart are a cell apart
        std::vector<std::thread> team;
        const size_t parts = std::max(1u, std::thread::hardware_concurrency());
        for (size_t p = 0; p < parts; p++)
            team.emplace_back([this, p, parts] {
                const size_t from = cells() * p / parts, n = cells() * (p + 1) / parts - from;
                bench_medium(kappa.data() + from, rho.data() + from, n);
                bench_field(sigma.data() + from, n, 1);
            });
        for (std::thread &t : team)
            t.join();
        rho[cells()] = rho[0];
    }
};

// A handle with medium, layers, source and receivers; null with a sentence if the GPU refuses it.
static void *make(const variant &v, const grid &g, int half_length, int share) {
    fd2d_cfg cfg = bench_cfg(g.nx, g.nz, half_length, 0, LAYER);
    cfg.share = share;
    cfg.velocities = strcmp(v.name, "tuned-v") == 0;
    cfg.steps_a_pass = v.steps_a_pass;
    snprintf(cfg.shape, sizeof cfg.shape, "%s", v.shape);
    cfg.apart = v.bytes == APART;
    void *h = fd2d_new(v.bytes != TWO_PASSES ? "tuned" : v.name, &cfg);
    if (h == nullptr)
        return nullptr;
    if (cfg.apart ? fd2d_model_apart(h, g.kappa.data(), g.rho.data(), g.rho.data() + 1)
                  : fd2d_model(h, g.kappa.data(), g.rho.data()))
        bench_fail("model");
    bench_layers(h, g.nx, g.nz, LAYER);
    return h;
}

static void shake(void *h, const grid &g) {
    if (fd2d_set_field(h, 0, g.sigma.data()))
        bench_fail("set_field");
}

// Wall clock of n steps of all handles, chunk by chunk in turn, to the end of the last.
static double run(const std::vector<void *> &h, int n, int chunk) {
    const double start = seconds_now();
    for (int it = 1; it <= n; it += chunk)
        for (void *one : h)
            if (handle_timestep(one, it, std::min(chunk, n - it + 1)))
                bench_fail("timestep");
    for (void *one : h)
        if (handle_pending(one, 0))
            bench_fail("pending");
    return seconds_now() - start;
}

static void check_fields(void *h) {
    float value;
    int at[3];
    if (handle_maxabs(h, &value, at))
        bench_fail("maxabs");
    if (!(value > 0 && value < 1e30f))
        printf("        the fields are not what they should be: largest sigma %g at %d, %d\n", (double)value, at[0],
               at[2]);
}

// Seconds a step of one handle: median of the repetitions.
static double measure(const std::vector<void *> &h, const grid &g, effort e, int chunk) {
    int n = 64;
    double took = 0;
    for (void *one : h)
        bench_points(one, g.nx, g.nz, n), shake(one, g);
    run(h, n, chunk); // makes graphs, fills caches
    do {              // how many steps take long enough
        for (void *one : h)
            shake(one, g);
        took = run(h, n, chunk);
        if (took < 0.1 * e.seconds)
            n *= 4;
    } while (took < 0.1 * e.seconds);
    n = std::max(1, (int)(1.1 * e.seconds / took)) * n;
    for (void *one : h)
        bench_points(one, g.nx, g.nz, n);
    std::vector<double> each;
    for (int r = -1; r < e.repeats; r++) {
        for (void *one : h)
            shake(one, g);
        took = run(h, n, chunk);
        if (r >= 0)
            each.push_back(took / n);
    }
    for (void *one : h)
        check_fields(one);
    std::sort(each.begin(), each.end());
    return each[each.size() / 2];
}

// --- the table -----------------------------------------------------------------------------------------------------

struct bench {
    double triad = 0;                            // bytes a second
    double cpu_small[9] = {}, cpu_large[9] = {}; // cells a second of `cpu`, by half-length: 2000 x 1000, 4096 x 4096
    grid g;

    double cpu(int half_length) const {
        const double small = cpu_small[half_length], large = cpu_large[half_length];
        return (g.cells() <= 4000000 && small > 0) || large == 0 ? small : large;
    }
};

static void report(const bench &b, const variant &v, int half_length, int handles, double step, const char *how) {
    const double rate = (double)b.g.cells() * handles / step, cpu = b.cpu(half_length);
    printf("%-13s %5d x %-5d  L %d  handles %2d %9.2f us/step %7.1f Gcell/s  %2d B/cell  %3.0f %% of triad  launches "
           "%4.1f",
           v.name, b.g.nx, b.g.nz, half_length, handles, step / handles * 1e6, rate * 1e-9, v.bytes,
           100 * rate * v.bytes / b.triad, v.launches);
    if (cpu > 0)
        printf("  %5.1f x cpu", rate / cpu);
    printf("%s%s\n", *how == 0 ? "" : "  ", how);
    fflush(stdout);
}

struct shape {
    int width, rows, steps;
};

static void one_case(bench *b, const variant &v, int half_length, int handles, effort e, const shape &s = {}) {
    std::vector<void *> h;
    char how[256] = "";
    for (int n = 0; n < handles; n++) {
        void *one = make(v, b->g, half_length, handles);
        if (one == nullptr) {
            printf("%-13s %5d x %-5d  L %d  handle %d: %s\n", v.name, b->g.nx, b->g.nz, half_length, n + 1,
                   (const char *)err_message());
            fflush(stdout);
            break;
        }
        h.push_back(one);
        if ((s.width > 0 || s.rows > 0 || s.steps > 0) && fd2d_tune(one, "", s.width, s.steps, s.rows))
            bench_fail("tune");
    }
    if ((int)h.size() == handles) {
        if (strncmp(v.name, "tuned", 5) == 0 && handle_device(h[0], sizeof how, how))
            bench_fail("device");
        const char *shape = strstr(how, ", "); // what is before it, the GPU's name, stands above the table
        const double step = measure(h, b->g, e, handles == 1 ? 1 << 30 : CHUNK);
        report(*b, v, half_length, handles, step, shape == nullptr ? "" : shape + 2);
    }
    for (void *one : h)
        handle_free(one);
}

// `cpu` of this machine with all its cores.
static double cpu_case(const grid &g, int half_length, effort e) {
    char device[128] = "";
    void *h = make({"cpu", TWO_PASSES, 0}, g, half_length, 0);
    if (h == nullptr || handle_device(h, sizeof device, device))
        bench_fail("cpu");
    const double rate = (double)g.cells() / measure({h}, g, e, 1 << 30);
    printf("%-13s %5d x %-5d  L %d  %27.2f Gcell/s  %s\n", "cpu", g.nx, g.nz, half_length, rate * 1e-9, device);
    fflush(stdout);
    handle_free(h);
    return rate;
}

struct size {
    int nx, nz;
};

struct crowd { // shots side by side
    int nx, nz, handles;
    bool brief;
};
static const crowd crowds[] = {{1000, 500, 2, false},  {1000, 500, 3, true},   {1000, 500, 4, false},
                               {1000, 500, 16, true},  {2000, 1000, 2, false}, {2000, 1000, 8, false},
                               {3072, 1600, 2, false}, {3072, 1600, 4, true},  {4096, 4096, 2, true},
                               {8192, 8192, 2, true}};

static void table(bench *b, const std::vector<size> &sizes, const std::vector<int> &lengths, effort e, bool brief) {
    for (int L : lengths) {
        if (brief && L != 8)
            continue;
        if (!brief) {
            b->g.make(2000, 1000);
            b->cpu_small[L] = cpu_case(b->g, L, e);
        }
        b->g.make(4096, 4096);
        b->cpu_large[L] = cpu_case(b->g, L, e);
    }
    for (const size &s : sizes) {
        printf("\n");
        b->g.make(s.nx, s.nz);
        for (int v = 0; v < ONE_BY_ONE; v++)
            one_case(b, variants[v], 8, 1, e);
        for (int L : lengths)
            for (int v : {TUNED, ONE_BY_ONE, TUNED_APART, ONE_BY_ONE_APART})
                if (L != 8 || v > ONE_BY_ONE)
                    one_case(b, variants[v], L, 1, e);
    }
    printf("\nseveral shots on one GPU, each in a handle of its own, %d steps of each in turn\n", CHUNK);
    for (const crowd &c : crowds) {
        if (brief && !c.brief)
            continue;
        b->g.make(c.nx, c.nz);
        one_case(b, variants[TUNED], 8, c.handles, e);
        for (int L : lengths)
            if (L != 8 && !brief && c.brief)
                for (int v : {TUNED, ONE_BY_ONE})
                    one_case(b, variants[v], L, c.handles, e);
    }
    b->g.make(1000, 500);
    if (!brief)
        for (int n = 0; n < 3; n++)
            one_case(b, variants[n], 8, 8, e);
}

static int usage() {
    fprintf(stderr, "usage: fd2d_bench_gpu [--quick | VARIANT nx nz half_length [handles [width rows [steps]]]]\n");
    return 1;
}

static int single(bench *b, int argc, char **argv) {
    const variant *v = find_variant(argv[1]);
    int n[7] = {0, 0, 0, 1, 0, 0, 0};
    if (v == nullptr || argc < 5 || argc > 9)
        return usage();
    for (int a = 2; a < argc; a++)
        n[a - 2] = atoi(argv[a]);
    if (n[0] < 200 || n[1] < 100 || n[2] < 1 || n[2] > 8 || n[3] < 1) {
        fprintf(stderr, "fd2d_bench_gpu: %d x %d cells, half-length %d, %d handles: need at least 200 x 100, 1..8, 1\n",
                n[0], n[1], n[2], n[3]);
        return 1;
    }
    b->g.make(n[0], n[1]);
    one_case(b, *v, n[2], n[3], full, {n[4], n[5], n[6]});
    return 0;
}

int main(int argc, char **argv) {
    const bool brief = argc == 2 && strcmp(argv[1], "--quick") == 0;
    bench b;
    if (argc == 2 && !brief)
        return usage();
    if (device_count() == 0)
        return bench_gpu::unable();
    if (bench_gpu::begin(&b.triad))
        bench_fail("GPU 0");
    if (argc > 2)
        return single(&b, argc, argv);
    if (brief)
        table(&b, {{1000, 500}, {4096, 4096}, {8192, 8192}}, {8, 4, 2}, quick, true);
    else
        table(&b, {{1000, 500}, {2000, 1000}, {3072, 1600}, {4096, 4096}, {8192, 8192}, {16384, 16384}}, {8, 4, 2},
              full, false);
    return 0;
}
