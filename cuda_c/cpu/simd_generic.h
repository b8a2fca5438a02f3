/* Vectors of any processor for the file that includes this first: four floats at a time in the compiler's own vectors
 * (SSE2 on x86-64, NEON on aarch64). Without fused multiply-add (x86-64 baseline) each term rounds twice, so results
 * differ from the other builds by rounding. */
#pragma once

#include <string.h>

#ifdef __aarch64__
#include <arm_neon.h>
typedef float32x4_t vec;
#define DER_FMA(a, b, c) vfmaq_f32(c, a, b)
#else
typedef float vec __attribute__((vector_size(16)));
#define DER_FMA(a, b, c) ((a) * (b) + (c))
#endif

#define VL       4
#define SPLAT(x) ((vec){(x), (x), (x), (x)})
static inline __attribute__((always_inline)) vec LOAD(const float *p) {
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline __attribute__((always_inline)) void STORE(float *p, vec v) { memcpy(p, &v, sizeof v); }

static inline __attribute__((always_inline)) vec MAX(vec a, vec b) {
    typedef int mask __attribute__((vector_size(16)));
    const mask m = a > b;
    return (vec)(((mask)a & m) | ((mask)b & ~m));
}

#if defined(__x86_64__)
#define SIMD_LABEL "SSE2"
#elif defined(__aarch64__)
#define SIMD_LABEL "NEON"
#else
#define SIMD_LABEL "generic"
#endif

#define SIMD_ISA "generic", SIMD_LABEL, cpu_has_generic, VL
