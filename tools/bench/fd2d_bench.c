/* Speed of the 2D time loop beside the memory bandwidth of the same run.
 *
 *   fd2d_bench                 the table: sizes x half-lengths x 1 and 2 threads (about two minutes on 2 cores)
 *   fd2d_bench nx nz half_length threads [layer [isa [width steps rows]]]      one case, for tuning
 *
 * Random medium and fields, absorbing layers on four sides, one source of 64 cells, 1000 receivers between nodes (8
 * cells a receiver). Medians, a triad beside each repetition. Memory: triad a = b + s c with non-temporal stores,
 * arrays of together as many bytes as the grid has (24 a cell), 12 bytes a term. Two passes a step move 48 bytes a
 * cell: triad / 48 bounds them. */
#include <omp.h>

#include "bench_case.h"
#include "bench_repeats.h"
#include "bench_triad.h"

enum { REPEATS = 15, BYTES = 48 };  /* BYTES a cell: two passes a step */
static const double SECONDS = 0.25; /* of one repetition, about */

/* --- the time loop ------------------------------------------------------------------------------------------- */

static void *make(int nx, int nz, int L, int threads, int layer) {
    const fd2d_cfg cfg = bench_cfg(nx, nz, L, threads, layer);
    void *h = fd2d_new("cpu", &cfg);
    if (h == NULL)
        bench_fail("new");
    const size_t n = (size_t)nx * (size_t)nz;
    float *a = bench_pages(n * sizeof(float)), *b = bench_pages(n * sizeof(float));
    bench_medium(a, b, n);
    if (fd2d_model(h, a, b))
        bench_fail("model");
    bench_layers(h, nx, nz, layer);
    for (int f = 0; f < 3; f++) {
        bench_field(a, n, f == 0 ? 1 : 1e-6f);
        if (fd2d_set_field(h, f, a))
            bench_fail("set_field");
    }
    bench_points(h, nx, nz, 2);
    free(a), free(b);
    return h;
}

typedef struct result {
    double median, best;                 /* Mcell/s */
    double triad, triad_low, triad_high; /* GB/s: median, least, largest */
    double bound;                        /* median of speed over two-pass bound, pair by pair */
    double look, save;                   /* a look at the field, part of 100 steps; a copy of the state, GB/s */
} result;

/* Times the work between chunks of 100 steps: the look at the whole field after each, and now and then a copy of the
 * state. */
static void between(void *h, double cells, int steps, result *r) {
    double look[REPEATS], save[REPEATS];
    const long n = handle_state_size(h, steps);
    float *state = bench_pages((size_t)n * sizeof *state), value;
    for (int repeat = -1; repeat < REPEATS; repeat++) {
        int place[3];
        double start = omp_get_wtime();
        if (handle_maxabs(h, &value, place))
            bench_fail("maxabs");
        double middle = omp_get_wtime();
        if (handle_save(h, n, state))
            bench_fail("save");
        if (repeat < 0)
            continue;
        look[repeat] = middle - start;
        save[repeat] = 4e-9 * (double)n / (omp_get_wtime() - middle);
    }
    free(state);
    if (!(value < 1e30f))
        fprintf(stderr, "fd2d_bench: the fields blew up (%g)\n", (double)value);
    qsort(look, REPEATS, sizeof *look, bench_ascending);
    qsort(save, REPEATS, sizeof *save, bench_ascending);
    r->look = look[REPEATS / 2] / (100 * cells / (r->median * 1e6));
    r->save = save[REPEATS / 2];
}

/* Each repetition of the time loop has a triad beside it: on a shared host the bandwidth of memory changes by a factor
 * of two within seconds (58 and 107 GB/s seen on two threads, 2026-11-21), so a maximum of the one taken now and of the
 * other taken then have no meaningful quotient. */
static result speed(void *h, int nx, int nz, int threads) {
    const double cells = (double)nx * nz;
    double rate[REPEATS], bandwidth[REPEATS], bound[REPEATS], seconds = 0;
    bench_triad t = bench_triad_new((size_t)(24 * cells), threads);
    int n = 48, it = 1;
    for (int repeat = -1; repeat < REPEATS; repeat++) {
        if (repeat == 0)
            n = (int)(SECONDS / seconds * n) / 48 * 48 + 48;
        double beside = bench_triad_run(&t, 0), start = omp_get_wtime();
        if (handle_timestep(h, it, n))
            bench_fail("timestep");
        seconds = omp_get_wtime() - start;
        it += n;
        if (repeat < 0)
            continue;
        rate[repeat] = cells * n / seconds * 1e-6;
        bandwidth[repeat] = beside;
        bound[repeat] = rate[repeat] * BYTES * 1e-3 / beside;
    }
    bench_triad_free(&t);
    qsort(rate, REPEATS, sizeof *rate, bench_ascending);
    qsort(bandwidth, REPEATS, sizeof *bandwidth, bench_ascending);
    qsort(bound, REPEATS, sizeof *bound, bench_ascending);
    result r = {.median = rate[REPEATS / 2],
                .best = rate[REPEATS - 1],
                .triad = bandwidth[REPEATS / 2],
                .triad_low = bandwidth[0],
                .triad_high = bandwidth[REPEATS - 1],
                .bound = bound[REPEATS / 2],
                .look = 0,
                .save = 0};
    between(h, cells, it - 1, &r);
    return r;
}

static void report(int nx, int nz, int L, int threads, result r) {
    printf(
        "cpu  %5d x %-5d  L %d  threads %d  median %5.0f best %5.0f Mcell/s  %d B/cell  triad %5.1f (%.1f..%.1f) GB/s  "
        "%4.0f %% of the two-pass bound  look %.2f %%  save %.1f GB/s\n",
        nx, nz, L, threads, r.median, r.best, BYTES, r.triad, r.triad_low, r.triad_high, 100 * r.bound, 100 * r.look,
        r.save);
    fflush(stdout);
}

static void table(void) {
    static const int sizes[][2] = {{1000, 500}, {2000, 1000}, {4000, 4000}}, lengths[] = {8, 4, 2};
    for (int s = 0; s < 3; s++)
        for (int threads = 1; threads <= 2; threads++) {
            const int nx = sizes[s][0], nz = sizes[s][1];
            for (int l = 0; l < 3; l++) {
                void *h = make(nx, nz, lengths[l], threads, 20);
                report(nx, nz, lengths[l], threads, speed(h, nx, nz, threads));
                handle_free(h);
            }
        }
}

int main(int argc, char **argv) {
    if (argc == 1) {
        table();
        return 0;
    }
    if (argc < 5) {
        fprintf(stderr, "usage: fd2d_bench [nx nz half_length threads [layer [isa [width steps rows]]]]\n");
        return 1;
    }
    int v[10] = {0};
    for (int n = 1; n < argc && n < 10; n++)
        v[n] = atoi(argv[n]);
    if (v[1] < 200 || v[2] < 100 || v[3] < 1 || v[3] > 8) {
        fprintf(stderr, "fd2d_bench: %d x %d cells, half-length %d: need at least 200 x 100 and 1..8\n", v[1], v[2],
                v[3]);
        return 1;
    }
    void *h = make(v[1], v[2], v[3], v[4], argc > 5 ? v[5] : 20);
    if (fd2d_tune(h, argc > 6 ? argv[6] : "", v[7], v[8], v[9]))
        bench_fail("tune");
    report(v[1], v[2], v[3], v[4], speed(h, v[1], v[2], v[4]));
    handle_free(h);
    return 0;
}
