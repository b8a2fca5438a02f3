/* Memory, threads and instruction sets of variants on CPU cores. */
#include "cpu_frame.h"

#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "each_processor.h"
#include "err.h"

enum { HUGE_PAGE = 2 << 20 };

/* --- instruction sets ---------------------------------------------------------------------------------------- */

int cpu_has_generic(void) { return 1; }

#ifdef __x86_64__
int cpu_has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

int cpu_has_avx512(void) { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"); }
#endif

int cpu_level3_is_far(void) {
#ifdef __x86_64__
    return __builtin_cpu_is("intel");
#else
    return 0;
#endif
}

static const cpu_isa *best_isa(const cpu_isa *const *isas) {
    while (!(*isas)->supported())
        isas++;
    return *isas;
}

static int tune(handle *h, const char *isa, const int tile[3]) {
    cpu_frame *o = cpu_frame_of(h);
    const cpu_isa *chosen = isa[0] == 0 ? best_isa(o->isas) : NULL;
    for (int n = 0; chosen == NULL && o->isas[n] != NULL; n++)
        if (strcmp(o->isas[n]->name, isa) == 0)
            chosen = o->isas[n];
    REQUIRE(chosen != NULL, "no instruction set \"%.40s\" in this build: use avx512, avx2 or generic", isa);
    REQUIRE(chosen->supported(), "this processor has no %s", chosen->label);
    o->isa = chosen;
    memcpy(o->tile, tile, sizeof o->tile);
    return 0;
}

/* --- new and free -------------------------------------------------------------------------------------------- */

int cpu_make(handle *h, size_t size, const cpu_isa *const *isas, int threads) {
    TRY(host_alloc(&h->memory, &h->own, 1, size, "the cpu variant"));
    cpu_frame *o = cpu_frame_of(h);
    o->isas = isas;
    o->isa = best_isa(isas);
    o->threads = threads > 0 ? threads : omp_get_max_threads();
    return 0;
}

size_t cpu_whole_pages(size_t bytes) { return (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE; }

int cpu_take_pages(handle *h, double floats, size_t bytes, const char *grid) {
    cpu_frame *o = cpu_frame_of(h);
    REQUIRE(floats * sizeof(float) < 0.25 * (double)SIZE_MAX,
            "a grid of %s cells is more than can be addressed: make it smaller", grid);
    const size_t whole = cpu_whole_pages(bytes);
    o->pages = aligned_alloc(HUGE_PAGE, whole);
    REQUIRE(o->pages != NULL, "no memory for a grid of %s cells (%.3f GB): use a smaller grid or fewer ranks a node",
            grid, (double)whole * 1e-9);
    o->page_bytes = whole;
#ifdef MADV_HUGEPAGE
    madvise(o->pages, whole, MADV_HUGEPAGE); /* a wish; without it the loop is slower, not wrong */
#endif
    return 0;
}

static void release(handle *h) {
    if (h->own != NULL)
        free(cpu_frame_of(h)->pages);
}

static size_t page_bytes(const handle *h) { return cpu_frame_of(h)->page_bytes; }

static void set_threads(handle *h, int threads) { cpu_frame_of(h)->threads = threads; }

static void device(handle *h, char *text, size_t length) {
    const cpu_frame *o = cpu_frame_of(h);
    snprintf(text, length, "%s, %d thread%s", o->isa->label, o->threads, o->threads == 1 ? "" : "s");
}

const frame_verbs cpu_frame_verbs = {
    .release = release,
    .device = device,
    .bytes = page_bytes,
    .threads = set_threads,
    .tune = tune,
};

/* --- the largest value --------------------------------------------------------------------------------------- */

/* The bits of |x|: ordered as |x| is, infinities above all numbers, NaN above infinity; and gcc vectorises the maximum.
 */
static int row_maximum(const float *row, int n) {
    int largest = 0;
    for (int i = 0; i < n; i++) {
        int bits;
        memcpy(&bits, row + i, sizeof bits);
        bits &= INT_MAX;
        largest = bits > largest ? bits : largest;
    }
    return largest;
}

void cpu_largest(const cpu_frame *o, const void *grid, cpu_row *row, long rows, int n, float *value, long *at,
                 int *column) {
    int largest = 0;
    *at = *column = 0;
#pragma omp parallel num_threads(o->threads)
    {
        int mine = -1;
        long mine_at = LONG_MAX;
#pragma omp for schedule(static) nowait
        for (long r = 0; r < rows; r++) {
            const int m = row_maximum(row(grid, r), n);
            if (m > mine)
                mine = m, mine_at = r;
        }
#pragma omp critical(cpu_largest)
        if (mine > largest || (mine == largest && mine > 0 && mine_at < *at))
            largest = mine, *at = mine_at;
    }
    while (*column + 1 < n && row_maximum(row(grid, *at) + *column, 1) != largest)
        ++*column;
    memcpy(value, &largest, sizeof *value);
    if (!isfinite(*value))
        *value = INFINITY;
}

/* --- receivers ----------------------------------------------------------------------------------------------- */

/* LANES sums side by side, as each addition waits for the one before; in any order they come to the same bits. */
EACH_PROCESSOR static receiver_sum sum_receiver(int cells, const float *w, const int *cell, const float *value) {
    enum { LANES = 8 };
    double sum[LANES] = {0}, rest[LANES] = {0};
    int c = 0;
    for (; c + LANES <= cells; c += LANES)
        for (int l = 0; l < LANES; l++) {
            receiver_sum s = {sum[l], rest[l]};
            receiver_add(&s, (double)w[c + l] * (double)value[cell[c + l]]);
            sum[l] = s.sum;
            rest[l] = s.rest;
        }
    receiver_sum all = {sum[0], rest[0]};
    for (; c < cells; c++)
        receiver_add(&all, (double)w[c] * (double)value[cell[c]]);
    for (int l = 1; l < LANES; l++)
        receiver_join(&all, (receiver_sum){sum[l], rest[l]});
    return all;
}

void cpu_sum_receivers(const receiver_cells *r, const float *value, float *trace) {
    for (int n = 0; n < r->n; n++) {
        const int from = r->start[n];
        const receiver_sum sum = sum_receiver(r->start[n + 1] - from, r->w + from, r->cell + from, value);
        trace[n] = receiver_part(sum, receiver_kept(r, n));
    }
}

void cpu_sample(const handle *h, float *const *field, ptrdiff_t y, ptrdiff_t z, float *trace) {
    const receiver_cells *r = &h->receivers;
    int offset[POINT_FIELDS + 1] = {0};
    for (int f = 0; f < h->solver->fields; f++)
        offset[f + 1] = offset[f] + r->sampled[f].n;
    for (int n = 0; n < r->n; n++) {
        receiver_sum sum = {0, 0};
        for (int m = r->start[n]; m < r->start[n + 1]; m++) {
            int f = 0;
            while (r->cell[m] >= offset[f + 1])
                f++;
            const int c = r->cell[m] - offset[f], *const *at = (const int *const *)r->sampled[f].at;
            receiver_add(&sum, (double)r->w[m] * (double)field[f][at[2][c] * z + at[1][c] * y + at[0][c]]);
        }
        trace[n] = receiver_part(sum, receiver_kept(r, n));
    }
}
