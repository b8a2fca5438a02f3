/* The 2D kernels for AVX-512. */
#include "simd_avx512.h"

#ifdef __x86_64__
/* Sixteen floats from o floats after the middle of three vectors, two of which are kept from the step before. An
 * unaligned load of a whole cache line always crosses into the next and costs two; shifting two registers costs one,
 * but in the units that add and multiply. All loads, all shifts, shifts but for four loads: 57, 32, 30 cycles per 16
 * cells, half-length 8, L1, Zen 5, 2026-11-21. */
typedef struct window {
    vec v[3];
} window;

static inline __attribute__((always_inline)) vec shifted(const window *a, const float *row, int o) {
    const vec *v = a->v;
#define CASE(o)                                                                                                        \
    case o:                                                                                                            \
        return (vec)_mm512_alignr_epi32((__m512i)v[(o) < 0 ? 1 : 2], (__m512i)v[(o) < 0 ? 0 : 1], (o)&15);
    switch (o) {
        CASE(-6)
        CASE(-4) CASE(-3) CASE(-2) CASE(-1) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(7) case 0 : return v[1];
    }
    return LOAD(row + o);
#undef CASE
}
#define WINDOW_AT(a, row, L)    ((a)->v[0] = LOAD((row)-VL), (a)->v[1] = LOAD(row), (a)->v[2] = LOAD((row) + VL))
#define WINDOW_BEGIN(a, row, L) ((a)->v[1] = LOAD((row)-VL), (a)->v[2] = LOAD(row))
#define WINDOW_NEXT(a, row, L)  ((a)->v[0] = (a)->v[1], (a)->v[1] = (a)->v[2], (a)->v[2] = LOAD((row) + VL))
#define SHIFTED(a, row, o)      shifted(a, row, o)

#include "fd2d_cpu_kernel.inc"

const cpu_isa fd2d_cpu_avx512 = {SIMD_ISA, &kernels};
#endif
