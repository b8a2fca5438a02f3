/* Speed of the 3D time loop on cores beside the memory bandwidth of the same run.
 *
 *   fd3d_bench                                           the table: 160^3 cells, 1 and 2 threads (about two minutes)
 *   fd3d_bench WHAT n threads [isa [steps width planes [repeats]]]     one case, for tuning: WHAT sponge, pml, q, all,
 * bare
 *
 * Random medium and fields, half-length 2; sides absorb by a sponge or a PML of 20 cells on five sides below a free
 * surface, `q` with memory variables and a sponge, `all` with those of all mechanisms in each cell; a source of 64
 * entries, 100 receivers of 8 cells. Medians and bests; a triad beside each repetition, arrays of together as many
 * bytes as the grid has. Bytes a cell and step are those of one sweep: fields read and written once, the medium read
 * once; what layers add is not counted. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_random.h"
#include "bench_repeats.h"
#include "bench_triad.h"
#include "iface.h"

enum { MOST = 30, LAYER = 20, ENTRIES = 64, RECEIVERS = 100, CELLS = 8 };

static void fail(const char *what) {
    fprintf(stderr, "fd3d_bench: %s: %s\n", what, (const char *)err_message());
    exit(1);
}

typedef struct sort {
    const char *name;
    int anelastic, sponge, pml, bytes; /* bytes a cell and step in one sweep */
} sort;

static const sort sorts[] = {
    {"sponge", 0, 1, 0, 84}, {"pml", 0, 0, 1, 84}, {"q", 1, 1, 0, 140}, {"all", 2, 1, 0, 380}, {"bare", 0, 0, 0, 84}};
enum { SORTS = sizeof sorts / sizeof sorts[0] };

static void set_medium(void *h, int n, int anelastic) {
    const size_t cells = (size_t)(n + 2) * (size_t)(n + 2) * (size_t)(n + 2);
    float *a[3];
    for (int m = 0; m < 3; m++)
        a[m] = bench_pages(cells * sizeof(float));
    for (size_t m = 0; m < cells; m++) {
        const float rho = 2000 + 500 * bench_random(m), vs = 1500 + 500 * bench_random(m + cells), vp = vs * 1.8f;
        a[0][m] = rho;
        a[1][m] = rho * (vp * vp - 2 * vs * vs);
        a[2][m] = rho * vs * vs;
    }
    if (fd3d_model(h, a[0], a[1], a[2]))
        fail("model");
    if (anelastic) {
        float tau[8], y[24], stiff[8] = {0};
        for (int m = 0; m < 8; m++)
            tau[m] = 0.01f * (float)(1 << m), y[m] = 0.8f, y[8 + m] = 0.1f, y[16 + m] = 0.01f;
        for (size_t m = 0; m < cells; m++)
            a[0][m] = 0.01f + 0.01f * bench_random(m), a[1][m] = 2 * a[0][m];
        if (fd3d_quality(h, tau, y, stiff, a[0], a[1]))
            fail("quality");
    }
    for (int m = 0; m < 3; m++)
        free(a[m]);
}

static void set_sides(void *h, int n, const sort *s) {
    float *g = bench_pages(sizeof(float) * (size_t)n), *p = bench_pages(sizeof(float) * 6 * (size_t)n),
          *down = bench_pages(sizeof(float) * 6 * (size_t)n), *gz = bench_pages(sizeof(float) * (size_t)n);
    for (int i = 0; i < n; i++) {
        const int depth = i < LAYER ? LAYER - i : i >= n - LAYER ? i - (n - 1 - LAYER) : 0;
        g[i] = (float)exp(-0.00005 * depth * depth);
        gz[i] = i < LAYER ? 1 : g[i];
        for (int c = 0; c < 6; c++) {
            p[c * n + i] = c % 3 == 2 ? 1 : depth == 0 ? 0 : c % 3 == 0 ? -0.05f : 0.93f;
            down[c * n + i] = i < LAYER ? (float)(c % 3 == 2) : p[c * n + i];
        }
    }
    if (s->sponge && fd3d_sponge(h, g, g, gz))
        fail("sponge");
    if (s->pml && fd3d_pml(h, p, p, down))
        fail("pml");
    free(g), free(p), free(down), free(gz);
}

static void set_points(void *h, int n) {
    int field[RECEIVERS * CELLS], i[RECEIVERS * CELLS], j[RECEIVERS * CELLS], k[RECEIVERS * CELLS],
        none[ENTRIES] = {0}, start[RECEIVERS + 1];
    float w[RECEIVERS * CELLS], q[1] = {1e-3f};
    for (int e = 0; e < ENTRIES; e++)
        field[e] = 3 + e % 6, i[e] = n / 2 + e % 4, j[e] = n / 2 + e / 4 % 4, k[e] = n / 2 + e / 16, w[e] = 0.1f;
    if (fd3d_source(h, 1, ENTRIES, field, i, j, k, none, w) || fd3d_histories(h, 1, 1, q) || fd3d_histories(h, 2, 0, q))
        fail("source");
    for (int e = 0; e < RECEIVERS * CELLS; e++)
        field[e] = e / CELLS % 3, i[e] = 4 + e / CELLS % 100 * (n - 12) / 100 + e % 8, j[e] = n / 2, k[e] = 2,
        w[e] = 0.1f;
    for (int r = 0; r <= RECEIVERS; r++)
        start[r] = CELLS * r;
    if (fd3d_receivers(h, RECEIVERS, start, field, i, j, k, w))
        fail("receivers");
}

static void *make(const sort *s, int n, int threads) {
    fd3d_cfg c;
    memset(&c, 0, sizeof c);
    for (int a = 0; a < 3; a++)
        c.n[a] = c.whole[a] = n, c.d[a] = 10;
    for (int side = 0; side < 6; side++) {
        c.side[side] = side == 4 ? 2 : 1;
        c.layer[side] = s->pml && side != 4 ? LAYER : 0;
    }
    c.half_length = 2, c.anelastic = s->anelastic, c.threads = threads, c.dt = 0.0007f;
    c.w[0] = 9.0f / 8, c.w[1] = -1.0f / 24;
    void *h = fd3d_new("cpu", &c);
    if (h == NULL)
        fail("new");
    set_medium(h, n, s->anelastic);
    set_sides(h, n, s);
    const size_t cells = (size_t)n * (size_t)n * (size_t)n;
    float *a = bench_pages(cells * sizeof(float));
    for (int f = 0; f < 9; f++) {
        for (size_t m = 0; m < cells; m++)
            a[m] = (f < 3 ? 1e-6f : 1) * (bench_random(m + (size_t)f * cells) - 0.5f);
        if (fd3d_set_field(h, f, a))
            fail("set_field");
    }
    free(a);
    set_points(h, n);
    return h;
}

/* Repetitions of the time loop with a triad beside each: see fd2d_bench.c. */
static void measure(const sort *s, void *h, int n, int threads, int repeats) {
    const double cells = (double)n * n * n;
    double rate[MOST], work[MOST], bandwidth[MOST], part[MOST], seconds = 0;
    bench_triad t = bench_triad_new((size_t)(cells * (s->anelastic == 2 ? 200 : s->anelastic ? 80 : 48)), threads);
    int steps = 6, it = 1;
    for (int repeat = -1; repeat < repeats; repeat++) {
        if (repeat == 0)
            steps = (int)(0.5 / seconds * steps) / 12 * 12 + 12;
        const double beside = bench_triad_run(&t, 0), start = omp_get_wtime(), cpu = bench_processor();
        if (handle_timestep(h, it, steps))
            fail("timestep");
        seconds = omp_get_wtime() - start;
        it += steps;
        if (repeat < 0)
            continue;
        rate[repeat] = cells * steps / seconds * 1e-6;
        work[repeat] = cells * steps / (bench_processor() - cpu) * 1e-6;
        bandwidth[repeat] = beside;
        part[repeat] = rate[repeat] * s->bytes * 1e-3 / beside;
    }
    float value;
    int place[3];
    if (handle_maxabs(h, &value, place))
        fail("maxabs");
    if (!(value < 1e10f))
        fprintf(stderr, "fd3d_bench: the fields blew up (%g)\n", (double)value);
    bench_triad_free(&t);
    qsort(rate, (size_t)repeats, sizeof *rate, bench_ascending);
    qsort(work, (size_t)repeats, sizeof *work, bench_ascending);
    qsort(bandwidth, (size_t)repeats, sizeof *bandwidth, bench_ascending);
    qsort(part, (size_t)repeats, sizeof *part, bench_ascending);
    const int middle = repeats / 2;
    printf("cpu  %4d^3  L 2  %-6s  threads %d  median %5.0f best %5.0f Mcell/s  %5.0f a core  %3d B/cell  triad %5.1f "
           "(%.1f..%.1f) "
           "GB/s  "
           "%4.0f %% of one sweep a step\n",
           n, s->name, threads, rate[middle], rate[repeats - 1], work[repeats - 1], s->bytes, bandwidth[middle],
           bandwidth[0], bandwidth[repeats - 1], 100 * part[middle]);
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc == 1) {
        for (int threads = 1; threads <= 2; threads++)
            for (int m = 0; m < SORTS - 1; m++) {
                void *h = make(&sorts[m], 160, threads);
                measure(&sorts[m], h, 160, threads, 9);
                handle_free(h);
            }
        return 0;
    }
    int v[10] = {0};
    for (int m = 2; m < argc && m < 10; m++)
        v[m] = atoi(argv[m]);
    const sort *s = NULL;
    for (int m = 0; m < SORTS; m++)
        if (strcmp(argv[1], sorts[m].name) == 0)
            s = &sorts[m];
    if (argc < 4 || s == NULL || v[2] < 40 || v[8] > MOST) {
        fprintf(stderr,
                "usage: fd3d_bench [sponge|pml|q|all|bare n threads [isa [steps width planes [repeats]]]], n from 40, "
                "at most %d repeats\n",
                MOST);
        return 1;
    }
    void *h = make(s, v[2], v[3]);
    if (fd3d_tune(h, argc > 4 ? argv[4] : "", v[5], v[6], v[7]))
        fail("tune");
    measure(s, h, v[2], v[3], v[8] > 0 ? v[8] : 5);
    handle_free(h);
    return 0;
}
