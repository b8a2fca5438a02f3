/* Kernels for x86-64 with AVX-512; chosen at run time, so the build need not name the processor. */
typedef int fd3d_cpu_avx512_not_empty; /* elsewhere than on x86-64 this file is */

#ifdef __x86_64__
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,fma,prefer-vector-width=512")
#include <immintrin.h>

typedef __m512 vec;
#define DER_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)

#include "fd3d_cpu.h"

#define VL 16
#include "fd3d_cpu_kernel.inc"

static int supported(void) { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"); }

const cpu3_isa fd3d_cpu_avx512 = {"avx512", "AVX-512", supported, kernels};
#endif
