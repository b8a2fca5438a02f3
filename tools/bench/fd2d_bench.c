/* Speed of the 2D time loop beside the memory bandwidth of the same run.
 *
 *   fd2d_bench                 the table: sizes x half-lengths x 1 and 2 threads (about two minutes on 2 cores)
 *   fd2d_bench nx nz half_length threads [layer [isa [width steps rows]]]      one case, for tuning
 *
 * Random medium and fields, absorbing layers on four sides, one source of 64 cells, 1000 receivers between nodes (8
 * cells a receiver). Best of several repetitions. Memory: triad a = b + s c with non-temporal stores, arrays of
 * together as many bytes as the grid has (24 a cell), 12 bytes a term. Two passes a step move 48 bytes a cell: triad /
 * 48 bounds them. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "iface.h"

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

enum { REPEATS = 7, RECEIVERS = 1000, SOURCE = 64 };
static const double SECONDS = 0.5; /* of one repetition, about */

static void fail(const char *what) {
    fprintf(stderr, "fd2d_bench: %s: %s\n", what, (char *)err_message());
    exit(1);
}

static void *memory(size_t bytes) {
    const size_t page = 2 << 20;
    void *p = aligned_alloc(page, (bytes + page - 1) / page * page);
    if (p == NULL) {
        fprintf(stderr, "fd2d_bench: no memory for %.3f GB\n", (double)bytes * 1e-9);
        exit(1);
    }
#ifdef MADV_HUGEPAGE
    madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return p;
}

static float uniform(void) {
    static unsigned seed = 1;
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / 16777216.0f;
}

/* --- memory bandwidth ---------------------------------------------------------------------------------------- */

static void triad_part(float *a, const float *b, const float *c, size_t from, size_t to) {
#ifdef __SSE2__
    const __m128 s = _mm_set1_ps(0.5f);
    for (size_t i = from; i < to; i += 16)
        for (size_t j = i; j < i + 16; j += 4)
            _mm_stream_ps(a + j, _mm_add_ps(_mm_load_ps(b + j), _mm_mul_ps(s, _mm_load_ps(c + j))));
    _mm_sfence();
#else
    for (size_t i = from; i < to; i++)
        a[i] = b[i] + 0.5f * c[i];
#endif
}

/* GB/s of a triad whose three arrays hold `bytes` together. */
static double triad(size_t bytes, int threads) {
    size_t n = bytes / 12 / 4096 * 4096;
    float *a = memory(4 * n), *b = memory(4 * n), *c = memory(4 * n);
    double best = 0;
    int loops = (int)(2e9 / (double)bytes) + 1;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double start = 0;
#pragma omp parallel num_threads(threads)
        {
            size_t me = (size_t)omp_get_thread_num(), all = (size_t)omp_get_num_threads();
            size_t from = n / 16 * me / all * 16, to = n / 16 * (me + 1) / all * 16;
            if (repeat == 0)
                for (size_t i = from; i < to; i++)
                    a[i] = 0, b[i] = 1, c[i] = 2;
#pragma omp barrier
#pragma omp master
            start = omp_get_wtime();
#pragma omp barrier
            for (int l = 0; l < loops; l++)
                triad_part(a, b, c, from, to);
        }
        double rate = 12.0 * (double)n * loops / (omp_get_wtime() - start) * 1e-9;
        best = rate > best ? rate : best;
    }
    free(a), free(b), free(c);
    return best;
}

/* --- the time loop ------------------------------------------------------------------------------------------- */

static const float taylor[9][8] = {/* only the amount of work matters here: any stable weights will do */
                                   {0},
                                   {1},
                                   {1.125f, -0.0416667f},
                                   {1.171875f, -0.0651042f, 0.0046875f},
                                   {1.196289f, -0.0797526f, 0.00957031f, -0.000697545f},
                                   {1.211243f, -0.0897217f, 0.0138428f, -0.00176566f, 0.000118679f},
                                   {1.221336f, -0.0969315f, 0.0174477f, -0.00296729f, 0.000359005f, -2.18478e-05f},
                                   {1.228606f, -0.102384f, 0.0204768f, -0.00417893f, 0.000689454f, -7.69225e-05f,
                                    4.23651e-06f},
                                   {1.234091f, -0.106650f, 0.0230364f, -0.00534239f, 0.00107727f, -0.000166419f,
                                    1.70217e-05f, -8.52346e-07f}};

static void profile(float *p, int n, int layer) {
    for (int half = 0; half < 2; half++)
        for (int j = 0; j < n; j++) {
            int inside = j < layer || (layer > 0 && j >= n - layer - 1 + (half == 0));
            p[3 * half * n + j] = inside ? -0.05f : 0;
            p[(3 * half + 1) * n + j] = inside ? 0.93f : 0;
            p[(3 * half + 2) * n + j] = 1;
        }
}

static void set_points(void *h, int nx, int nz) {
    int *i = memory(8 * RECEIVERS * sizeof(int)), *k = memory(8 * RECEIVERS * sizeof(int));
    int start[RECEIVERS + 1], field[RECEIVERS];
    float *w = memory(8 * RECEIVERS * sizeof(float)), q[2] = {1, 2};
    for (int m = 0; m < SOURCE; m++)
        i[m] = nx / 2 + m % 8, k[m] = nz / 3 + m / 8, w[m] = 0.1f;
    if (fd2d_source(h, 2, q, SOURCE, i, k, w))
        fail("source");
    for (int r = 0; r < RECEIVERS; r++) {
        start[r] = 8 * r, field[r] = 0;
        for (int m = 0; m < 8; m++)
            i[8 * r + m] = 30 + (int)((nx - 70.0) * r / RECEIVERS) + m, k[8 * r + m] = nz / 10, w[8 * r + m] = 0.1f;
    }
    start[RECEIVERS] = 8 * RECEIVERS;
    if (fd2d_receivers(h, RECEIVERS, start, field, i, k, w))
        fail("receivers");
    free(i), free(k), free(w);
}

static void *make(int nx, int nz, int L, int threads, int layer) {
    fd2d_cfg cfg = {.nx = nx,
                    .nz = nz,
                    .half_length = L,
                    .nleft = layer,
                    .nright = layer,
                    .ntop = layer,
                    .nbottom = layer,
                    .threads = threads,
                    .dx = 5,
                    .dz = 5,
                    .dt = 0.0003f};
    memcpy(cfg.w, taylor[L], sizeof cfg.w);
    void *h = fd2d_new("cpu", &cfg);
    if (h == NULL)
        fail("new");
    size_t n = (size_t)nx * (size_t)nz;
    float *a = memory(n * sizeof(float)), *b = memory(n * sizeof(float)), *p = memory(12 * ((size_t)nx + (size_t)nz));
    float *px = memory(24 * (size_t)nx), *pz = memory(24 * (size_t)nz);
    for (size_t m = 0; m < n; m++)
        b[m] = 1000 + 50 * uniform(), a[m] = b[m] * 4e6f * (1 + 0.1f * uniform());
    if (fd2d_model(h, a, b))
        fail("model");
    profile(px, nx, layer), profile(pz, nz, layer);
    if (fd2d_pml(h, px, pz))
        fail("pml");
    for (int f = 0; f < 3; f++) {
        for (size_t m = 0; m < n; m++)
            a[m] = (uniform() - 0.5f) * (f == 0 ? 1 : 1e-6f);
        if (fd2d_set_field(h, f, a))
            fail("set_field");
    }
    set_points(h, nx, nz);
    free(a), free(b), free(p), free(px), free(pz);
    return h;
}

/* Best Mcell/s. */
static double speed(void *h, int nx, int nz) {
    const double cells = (double)nx * nz;
    double best = 0, seconds = 0;
    int n = 16, it = 1;
    for (int repeat = -1; repeat < REPEATS; repeat++) {
        if (repeat == 0)
            n = (int)(SECONDS / seconds * n) / 16 * 16 + 16;
        double start = omp_get_wtime();
        if (fd2d_timestep(h, it, n))
            fail("timestep");
        seconds = omp_get_wtime() - start;
        it += n;
        if (repeat >= 0 && cells * n / seconds > best)
            best = cells * n / seconds;
    }
    float value;
    int i, k;
    if (fd2d_maxabs(h, &value, &i, &k))
        fail("maxabs");
    if (!(value < 1e30f))
        fprintf(stderr, "fd2d_bench: the fields blew up (%g at %d, %d)\n", (double)value, i, k);
    return best * 1e-6;
}

static void report(int nx, int nz, int L, int threads, double rate, double bandwidth) {
    const double bytes = 48;
    printf("cpu  %5d x %-5d  L %d  threads %d  %7.0f Mcell/s  %5.1f GB/s at %.0f B/cell  triad %5.1f GB/s  %4.0f %% of "
           "the two-pass "
           "bound\n",
           nx, nz, L, threads, rate, rate * bytes * 1e-3, bytes, bandwidth, rate * bytes * 1e-1 / bandwidth);
    fflush(stdout);
}

static void table(void) {
    static const int sizes[][2] = {{1000, 500}, {2000, 1000}, {4000, 4000}}, lengths[] = {8, 4, 2};
    for (int s = 0; s < 3; s++)
        for (int threads = 1; threads <= 2; threads++) {
            const int nx = sizes[s][0], nz = sizes[s][1];
            double bandwidth = triad(24 * (size_t)nx * (size_t)nz, threads);
            for (int l = 0; l < 3; l++) {
                void *h = make(nx, nz, lengths[l], threads, 20);
                report(nx, nz, lengths[l], threads, speed(h, nx, nz), bandwidth);
                fd2d_free(h);
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
        fail("tune");
    printf("width %4d steps %2d rows %2d  %7.0f Mcell/s\n", v[7], v[8], v[9], speed(h, v[1], v[2]));
    fd2d_free(h);
    return 0;
}
