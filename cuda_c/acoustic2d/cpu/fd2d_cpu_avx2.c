/* The 2D kernels for AVX2. */
#include "simd_avx2.h"

#ifdef __x86_64__
/* Vectors at -8, -4, 0, 4, 8 floats from the middle, of which three are kept from the step before; those between come
 * from two neighbours, lane by lane. A shift costs a unit that adds or multiplies, a load one of two a cycle: some are
 * loaded. */
typedef struct window {
    vec v[5];
} window;

static inline __attribute__((always_inline)) vec shifted(const window *a, const float *row, int o) {
    const int n = (o + 8) / 4;
    const __m256i low = (__m256i)a->v[n], high = (__m256i)a->v[n < 4 ? n + 1 : 4];
    if (o == -1 || o == 1 || o == 2 || o == 3)
        return LOAD(row + o);
    switch (o & 3) {
    case 1:
        return (vec)_mm256_alignr_epi8(high, low, 4);
    case 2:
        return (vec)_mm256_alignr_epi8(high, low, 8);
    case 3:
        return (vec)_mm256_alignr_epi8(high, low, 12);
    }
    return a->v[n];
}

static inline __attribute__((always_inline)) void window_begin(window *a, const float *row, int L) {
    a->v[3] = LOAD(row - 4);
    if (L > 4)
        a->v[2] = LOAD(row - 8), a->v[4] = LOAD(row);
}

static inline __attribute__((always_inline)) void window_next(window *a, const float *row, int L) {
    a->v[1] = a->v[3];
    a->v[3] = LOAD(row + 4);
    a->v[0] = a->v[2];
    a->v[2] = L > 4 ? a->v[4] : LOAD(row);
    if (L > 4)
        a->v[4] = LOAD(row + 8);
}

static inline __attribute__((always_inline)) void window_at(window *a, const float *row, int L) {
    window_begin(a, row, L);
    window_next(a, row, L);
}

#define WINDOW_AT(a, row, L)    window_at(a, row, L)
#define WINDOW_BEGIN(a, row, L) window_begin(a, row, L)
#define WINDOW_NEXT(a, row, L)  window_next(a, row, L)
#define SHIFTED(a, row, o)      shifted(a, row, o)
#define HIDE_WEIGHTS(w)         OPAQUE(w)
#define SPLIT_FROM              5

#include "fd2d_cpu_kernel.inc"

const cpu_isa fd2d_cpu_avx2 = {SIMD_ISA, &kernels};
#endif
