/* Kernels for x86-64 with AVX2 and FMA; chosen at run time, so the build need not name the processor. */
typedef int fd2d_cpu_avx2_not_empty; /* elsewhere than on x86-64 this file is */

#ifdef __x86_64__
#pragma GCC target("avx2,fma")
#include <immintrin.h>

typedef __m256 vec;
#define DER_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)

#include "fd2d_cpu.h"

#define VL          8
#define LOAD(p)     _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define SPLAT(x)    _mm256_set1_ps(x)

#include "fd2d_cpu_kernel.inc"

static int supported(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

const cpu_isa fd2d_cpu_avx2 = {"avx2", "AVX2", supported, &kernels};
#endif
