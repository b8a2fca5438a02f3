/* Speed of the time loop of spectral elements on cores.
 *
 *   sem3d_bench                                     the table: 13,824 elements, 1 and 2 threads (about a minute)
 *   sem3d_bench WHAT n threads [isa [repeats]]      one case: WHAT affine, bent, points, water; n elements along an
 * axis
 *
 * A cube of elements in bricks of 4 x 4 x 4, its top free, its other sides absorbing; `bent`: nodes moved at random,
 * `points`: a medium by point as well, `q`: affine with three mechanisms of attenuation at 57 points,
 * `qall`: at all, `water`: all fluid. Random
 * fields, a source of 125 points, 100 receivers of 125 points. Microseconds an element and step; GFLOP/s at 42,590
 * floating-point operations an element of rock. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_random.h"
#include "bench_repeats.h"
#include "bench_triad.h"
#include "iface.h"

enum { MOST = 30, POINTS = 125, RECEIVERS = 100, BRICK = 4 };

static void fail(const char *what) {
    fprintf(stderr, "sem3d_bench: %s: %s\n", what, (const char *)err_message());
    exit(1);
}

typedef struct sort {
    const char *name;
    int media, mechanisms, relaxing, water;
    double shake;
} sort;

static const sort sorts[] = {{"affine", 1, 0, POINTS, 0, 0},         {"bent", 1, 0, POINTS, 0, 0.15},
                             {"points", POINTS, 0, POINTS, 0, 0.15}, {"q", 1, 3, 57, 0, 0},
                             {"qall", 1, 3, POINTS, 0, 0},           {"water", 1, 0, POINTS, 1, 0}};
enum { SORTS = sizeof sorts / sizeof sorts[0] };

/* Element e of the cube stands at (at[0], at[1], at[2]), brick after brick. */
static void place(int e, int n, int at[3]) {
    const int side = n / BRICK, brick = e / (BRICK * BRICK * BRICK), in = e % (BRICK * BRICK * BRICK);
    at[0] = brick % side * BRICK + in % BRICK;
    at[1] = brick / side % side * BRICK + in / BRICK % BRICK;
    at[2] = brick / side / side * BRICK + in / BRICK / BRICK;
}

static void set_element(const sort *s, int n, int e, double *corner, int *face, int *points) {
    static const int step[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                   {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    static const int axis[6] = {1, 0, 1, 0, 2, 2}, end[6] = {0, 1, 1, 0, 0, 1};
    int at[3];
    place(e, n, at);
    for (int c = 0; c < 8; c++) {
        const int node[3] = {at[0] + step[c][0], at[1] + step[c][1], at[2] + step[c][2]};
        for (int a = 0; a < 3; a++) {
            const size_t seed = (((size_t)node[2] * 1000 + (size_t)node[1]) * 1000 + (size_t)node[0]) * 3 + (size_t)a;
            const double moved = node[a] == 0 || node[a] == n ? 0 : s->shake * (2 * bench_random(seed) - 1);
            corner[3 * c + a] = 100 * (node[a] + moved);
        }
    }
    for (int f = 0; f < 6; f++)
        face[f] = at[axis[f]] == end[f] * (n - 1) ? (f == 4 ? 1 : 2) : 0;
    for (int p = 0; p < POINTS; p++)
        points[p] = 4 * at[0] + p % 5 + (4 * n + 1) * (4 * at[1] + p / 5 % 5 + (4 * n + 1) * (4 * at[2] + p / 25));
}

static void set_points(void *h, const sort *s, int points) {
    int field[RECEIVERS * POINTS], point[RECEIVERS * POINTS], none[POINTS] = {0}, start[RECEIVERS + 1];
    float w[RECEIVERS * POINTS], q[1] = {1e-3f};
    for (int e = 0; e < RECEIVERS * POINTS; e++) {
        field[e] = s->water ? 6 : e / POINTS % 3;
        point[e] = (int)((size_t)points / (RECEIVERS + 1) * (size_t)(e / POINTS)) + e % POINTS;
        w[e] = 0.01f;
    }
    for (int r = 0; r <= RECEIVERS; r++)
        start[r] = POINTS * r;
    if (sem3d_source(h, 1, POINTS, field, point, none, w) || sem3d_histories(h, 1, 1, q) || sem3d_histories(h, 2, 0, q))
        fail("source");
    if (sem3d_receivers(h, RECEIVERS, start, field, point, w))
        fail("receivers");
}

static void set_fields(void *h, const sort *s, int points) {
    float *a = bench_pages((size_t)points * sizeof(float));
    for (int f = s->water ? 6 : 0; f < (s->water ? 8 : 6); f++) {
        for (size_t m = 0; m < (size_t)points; m++)
            a[m] = 1e-6f * (bench_random(m + (size_t)f * (size_t)points) - 0.5f);
        if (sem3d_set_field(h, f, a))
            fail("set_field");
    }
    free(a);
}

static void *make(const sort *s, int n, int threads, const char *isa) {
    const size_t elements = (size_t)n * (size_t)n * (size_t)n, media = (size_t)s->media;
    const int points = (4 * n + 1) * (4 * n + 1) * (4 * n + 1), bricks = (int)elements / (BRICK * BRICK * BRICK);
    const sem3d_cfg c = {.elements = (int)elements,
                         .solid = s->water ? 0 : (int)elements,
                         .points = points,
                         .solid_points = s->water ? 0 : points,
                         .bricks = bricks,
                         .per = 8,
                         .media = s->media,
                         .mechanisms = s->mechanisms,
                         .shares = 1,
                         .relaxing = s->relaxing,
                         .threads = threads,
                         .dt = 1e-3f};
    double *corner = bench_pages(elements * 24 * sizeof(double));
    int *face = bench_pages(elements * 6 * sizeof(int)), *at = bench_pages(elements * POINTS * sizeof(int)),
        *brick = bench_pages(((size_t)bricks + 1) * sizeof(int));
    float *rho = bench_pages(elements * (media + 2) * sizeof(float)),
          *lambda = bench_pages(elements * media * sizeof(float)), *mu = bench_pages(elements * media * sizeof(float));
    for (size_t e = 0; e < elements; e++)
        set_element(s, n, (int)e, corner + 24 * e, face + 6 * e, at + POINTS * e);
    for (int b = 0; b <= bricks; b++)
        brick[b] = b * BRICK * BRICK * BRICK;
    for (size_t m = 0; m < elements * media; m++) {
        const float vs = s->water ? 0 : 1500 + 500 * bench_random(m), vp = s->water ? 1500 : vs * 1.8f;
        rho[m] = 2000 + 500 * bench_random(m + elements * media);
        lambda[m] = rho[m] * (vp * vp - 2 * vs * vs);
        mu[m] = rho[m] * vs * vs;
    }
    void *h = sem3d_new("cpu", &c);
    const double from = omp_get_wtime();
    if (h == NULL || sem3d_tune(h, isa) || sem3d_elements(h, corner, face, brick, rho, lambda, mu, at, at, at))
        fail("elements");
    if (s->mechanisms > 0) {
        const float tau[3] = {0.01f, 0.1f, 1};
        for (size_t m = 0; m < 3 * elements; m++)
            rho[m] = 0.02f;
        if (sem3d_quality(h, tau, rho, rho))
            fail("quality");
    }
    fprintf(stderr, "set up in %.2f s\n", omp_get_wtime() - from);
    free(corner), free(face), free(at), free(brick), free(rho), free(lambda), free(mu);
    set_fields(h, s, points);
    set_points(h, s, points);
    return h;
}

static void measure(const sort *s, void *h, int n, int threads, int repeats) {
    const double elements = (double)n * n * n;
    double wall[MOST], work[MOST], bandwidth[MOST], seconds = 0;
    bench_triad t = bench_triad_new((size_t)(elements * 4000), threads);
    int steps = 3, it = 1;
    for (int repeat = -1; repeat < repeats; repeat++) {
        if (repeat == 0)
            steps = (int)(0.3 / seconds * steps) + 2;
        const double beside = bench_triad_run(&t, 0), start = omp_get_wtime(), cpu = bench_processor();
        if (handle_timestep(h, it, steps))
            fail("timestep");
        seconds = omp_get_wtime() - start;
        it += steps;
        if (repeat < 0)
            continue;
        wall[repeat] = seconds / (elements * steps) * 1e6;
        work[repeat] = (bench_processor() - cpu) / (elements * steps) * 1e6;
        bandwidth[repeat] = beside;
    }
    float value;
    int place[3];
    if (handle_maxabs(h, &value, place))
        fail("maxabs");
    if (!(value < 1e10f))
        fprintf(stderr, "sem3d_bench: the fields blew up (%g)\n", (double)value);
    bench_triad_free(&t);
    qsort(wall, (size_t)repeats, sizeof *wall, bench_ascending);
    qsort(work, (size_t)repeats, sizeof *work, bench_ascending);
    qsort(bandwidth, (size_t)repeats, sizeof *bandwidth, bench_ascending);
    char device[80] = "", rate[32] = "";
    handle_device(h, sizeof device, device);
    if (!s->water)
        snprintf(rate, sizeof rate, "  %5.1f GFLOP/s", 42.59 / wall[0]);
    printf(
        "cpu  %6.0f elements  %-6s  %-18s  median %5.3f best %5.3f us an element and step%s  processor %5.3f us  triad "
        "%5.1f GB/s\n",
        elements, s->name, device, wall[repeats / 2], wall[0], rate, work[0], bandwidth[repeats / 2]);
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc == 1) {
        for (int threads = 1; threads <= 2; threads++)
            for (int m = 0; m < SORTS; m++) {
                void *h = make(&sorts[m], 24, threads, "");
                measure(&sorts[m], h, 24, threads, 9);
                handle_free(h);
            }
        return 0;
    }
    const sort *s = NULL;
    for (int m = 0; m < SORTS; m++)
        if (strcmp(argv[1], sorts[m].name) == 0)
            s = &sorts[m];
    const int n = argc < 4 ? 0 : atoi(argv[2]), repeats = argc > 5 ? atoi(argv[5]) : 5;
    if (s == NULL || n < BRICK || n % BRICK != 0 || n > 100 || repeats < 1 || repeats > MOST) {
        fprintf(stderr,
                "usage: sem3d_bench [affine|bent|points|q|water n threads [isa [repeats]]], n = 4, 8, ... 100\n");
        return 1;
    }
    void *h = make(s, n, atoi(argv[3]), argc > 4 ? argv[4] : "");
    measure(s, h, n, atoi(argv[3]), repeats);
    handle_free(h);
    return 0;
}
