/* Kernels for any processor: four floats at a time in the compiler's own vectors (SSE2 on x86-64, NEON on aarch64).
 * Without fused multiply-add (x86-64 baseline) each term rounds twice, so results differ from the other builds by
 * rounding. */
#include <string.h>

#ifdef __aarch64__
#include <arm_neon.h>
typedef float32x4_t vec;
#define DER_FMA(a, b, c) vfmaq_f32(c, a, b)
#else
typedef float vec __attribute__((vector_size(16)));
#define DER_FMA(a, b, c) ((a) * (b) + (c))
#endif

#include "fd2d_cpu.h"

#define VL 4
static inline __attribute__((always_inline)) vec LOAD(const float *p) {
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline __attribute__((always_inline)) void STORE(float *p, vec v) { memcpy(p, &v, sizeof v); }
#define SPLAT(x) ((vec){(x), (x), (x), (x)})

#include "fd2d_cpu_kernel.inc"

static int supported(void) { return 1; }

#if defined(__x86_64__)
#define LABEL "SSE2"
#elif defined(__aarch64__)
#define LABEL "NEON"
#else
#define LABEL "generic"
#endif

const cpu_isa fd2d_cpu_generic = {"generic", LABEL, supported, &kernels};
