/* Claim: fields and traces of the cpu variant are the same bits whatever the threads, chunks, tiles and (with fused
 * multiply-add) instruction set. */
#include "fd2d_case.h"

typedef struct how {
    int threads; /* negative: other ones for each chunk, up to so many */
    int chunk, width, steps, rows;
    const char *isa;
} how;

static unsigned checksum(unsigned sum, const void *data, size_t bytes) {
    const unsigned char *p = data;
    for (size_t n = 0; n < bytes; n++)
        sum = (sum ^ p[n]) * 16777619u;
    return sum;
}

/* -0 and +0 are one number. */
static void no_minus_zero(float *a, size_t n) {
    for (size_t m = 0; m < n; m++)
        a[m] += 0.0f;
}

static unsigned run(fd2d_case *c, how h) {
    size_t cells = (size_t)c->cfg.nx * (size_t)c->cfg.nz, samples = (size_t)c->nrec * (size_t)c->steps;
    float *field = case_memory(cells, sizeof(float)), *traces = case_memory(samples, sizeof(float));
    c->cfg.threads = abs(h.threads);
    void *fd = case_new(c);
    claim_fine(fd2d_tune(fd, h.isa, h.width, h.steps, h.rows), "tune");
    for (int it = 1; it <= c->steps; it += h.chunk) {
        int n = it + h.chunk > c->steps + 1 ? c->steps + 1 - it : h.chunk;
        if (h.threads < 0)
            claim_fine(handle_threads(fd, 1 + it * 7 % -h.threads), "threads");
        claim_fine(handle_timestep(fd, it, n), "timestep");
    }
    claim_fine(handle_traces(fd, 1, c->steps, traces), "traces");
    no_minus_zero(traces, samples);
    unsigned sum = checksum(2166136261u, traces, samples * sizeof(float));
    for (int f = 0; f < 3; f++) {
        claim_fine(fd2d_field(fd, f, field), "field");
        no_minus_zero(field, cells);
        sum = checksum(sum, field, cells * sizeof(float));
    }
    handle_free(fd);
    free(field), free(traces);
    return sum;
}

/* All ways of running all shapes give the bits of the first way. */
static void same(const how *ways, int n, const char *what) {
    int runs = 0, different = 0, first = 0;
    for (int L = 1; L <= 8; L++)
        for (int shape = 0; shape < CASE_SHAPES; shape++) {
            fd2d_case c = case_make(L, shape, 40);
            unsigned expected = run(&c, ways[0]);
            for (int w = 1; w < n; w++, runs++)
                if (run(&c, ways[w]) != expected) {
                    if (different++ == 0)
                        first = w;
                }
            case_free(&c);
        }
    claim(different == 0, "%s: %d of %d runs differ in some bit (first: way %d)", what, different, runs, first);
}

/* A grid of many tiles, so that threads do meet. */
static void large(void) {
    const case_shape shape = {701, 333, 20, 20, 20, 20, 0, 5, 5};
    fd2d_case c = case_of(&shape, 8, 50);
    unsigned expected = run(&c, (how){1, 50, 4000, 1, 400, ""});
    int different = 0, runs = 0;
    for (int threads = 1; threads <= 8; threads *= 2)
        for (int width = 0; width <= 96; width += 48, runs++)
            different += run(&c, (how){threads, 50, width, 0, 8, ""}) != expected;
    claim(different == 0,
          "701 x 333 cells, 1..8 threads on tiles of several widths: %d of %d runs differ from one plain sweep a step",
          different, runs);
    case_free(&c);
}

/* Every cell of every field as a receiver: more samples than are kept at a time. */
static void all_cells(void) {
    fd2d_case c = case_make(6, 1, 400);
    const int n = c.cfg.nx * c.cfg.nz, nrec = 3 * n, different_chunks[2] = {400, 90};
    int *start = case_memory((size_t)nrec + 1, 4), *field = case_memory((size_t)nrec, 4),
        *i = case_memory((size_t)nrec, 4), *k = case_memory((size_t)nrec, 4), wrong = 0;
    float *w = case_memory((size_t)nrec, 4), *f = case_memory((size_t)n, 4), *t = case_memory((size_t)nrec * 400, 4);
    unsigned sums[2];
    for (int r = 0; r < nrec; r++)
        start[r] = r, field[r] = r / n, i[r] = r % n % c.cfg.nx, k[r] = r % n / c.cfg.nx, w[r] = 1;
    start[nrec] = nrec;
    for (int way = 0; way < 2; way++) {
        void *h = case_new(&c);
        claim_fine(fd2d_receivers(h, nrec, start, field, i, k, w), "receivers");
        for (int it = 1; it <= 400; it += different_chunks[way])
            claim_fine(handle_timestep(h, it, it + different_chunks[way] > 401 ? 401 - it : different_chunks[way]),
                       "timestep");
        claim_fine(handle_traces(h, 1, 400, t), "traces");
        sums[way] = checksum(2166136261u, t, (size_t)nrec * 400 * sizeof(float));
        for (int m = 0; m < 3; m++) {
            claim_fine(fd2d_field(h, m, f), "field");
            for (int r = 0; r < n; r++)
                wrong += t[(size_t)(m * n + r) * 400 + 399] != f[r];
        }
        handle_free(h);
    }
    claim(
        wrong == 0 && sums[0] == sums[1],
        "%d receivers, one a cell and field: %d last samples differ from the fields; chunks of 400 and 90 give %s bits",
        nrec, wrong, sums[0] == sums[1] ? "the same" : "different");
    free(start), free(field), free(i), free(k), free(w), free(f), free(t), case_free(&c);
}

int main(void) {
    const how threads[] = {{1, 40, 0, 0, 0, ""}, {2, 40, 0, 0, 0, ""}, {3, 40, 32, 0, 4, ""}, {4, 40, 16, 3, 1, ""}};
    const how chunks[] = {{2, 40, 0, 0, 0, ""}, {2, 1, 0, 0, 0, ""}, {2, 3, 0, 0, 0, ""}, {2, 17, 0, 0, 0, ""}};
    const how tiles[] = {
        {1, 40, 4000, 1, 100, ""}, {2, 40, 16, 8, 5, ""}, {2, 40, 64, 2, 16, ""}, {2, 40, 48, 40, 7, ""}};
    const how isas[] = {{2, 40, 0, 0, 0, "avx2"}, {2, 40, 0, 0, 0, "avx512"}};
    const how varied[] = {{1, 40, 0, 0, 0, ""}, {-4, 7, 0, 0, 0, ""}, {-3, 3, 32, 0, 4, ""}};
    same(threads, 4, "1, 2, 3, 4 threads");
    same(varied, 3, "1 to 4 threads, others for each chunk");
    same(chunks, 4, "chunks of 40, 1, 3, 17 steps");
    same(tiles, 4, "tiles of different width, steps and rows");
    if (case_has_isa("avx2") && case_has_isa("avx512"))
        same(isas, 2, "AVX2 and AVX-512");
    else
        printf("SKIP - this processor has not both AVX2 and AVX-512\n");
    large();
    all_cells();
    return check_failed;
}
