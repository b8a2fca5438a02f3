/* Memory bandwidth of this machine: triad a = b + s c with non-temporal stores, 12 bytes a term. Each repetition of a
 * time loop has one beside it: on a shared host the bandwidth of memory changes by a factor of two within seconds. */
#pragma once

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

static void *bench_pages(size_t bytes) {
    const size_t page = 2 << 20;
    void *p = aligned_alloc(page, (bytes + page - 1) / page * page);
    if (p == NULL) {
        fprintf(stderr, "no memory for %.3f GB\n", (double)bytes * 1e-9);
        exit(1);
    }
#ifdef MADV_HUGEPAGE
    madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return p;
}

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

typedef struct bench_triad {
    size_t n;
    int threads, loops;
    float *a, *b, *c;
} bench_triad;

/* A run of the triad: GB/s. */
static double bench_triad_run(const bench_triad *t, int first) {
    double start = 0;
#pragma omp parallel num_threads(t->threads)
    {
        size_t me = (size_t)omp_get_thread_num(), all = (size_t)omp_get_num_threads();
        size_t from = t->n / 16 * me / all * 16, to = t->n / 16 * (me + 1) / all * 16;
        if (first)
            for (size_t i = from; i < to; i++)
                t->a[i] = 0, t->b[i] = 1, t->c[i] = 2;
#pragma omp barrier
#pragma omp master
        start = omp_get_wtime();
#pragma omp barrier
        for (int l = 0; l < t->loops; l++)
            triad_part(t->a, t->b, t->c, from, to);
    }
    return 12.0 * (double)t->n * t->loops / (omp_get_wtime() - start) * 1e-9;
}

/* Three arrays that hold `bytes` together. */
static bench_triad bench_triad_new(size_t bytes, int threads) {
    bench_triad t = {.n = bytes / 12 / 4096 * 4096, .threads = threads, .loops = (int)(2e9 / (double)bytes) + 1};
    t.a = bench_pages(4 * t.n), t.b = bench_pages(4 * t.n), t.c = bench_pages(4 * t.n);
    bench_triad_run(&t, 1);
    return t;
}

static void bench_triad_free(bench_triad *t) { free(t->a), free(t->b), free(t->c); }
