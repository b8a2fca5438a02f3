/* Vectors of x86-64 with AVX2 and FMA for the file that includes this first; the kernels are chosen at run time, so the
 * build need not name the processor. Elsewhere the file is empty. */
#pragma once

typedef int simd_avx2_not_empty;

#ifdef __x86_64__
#pragma GCC target("avx2,fma")
#include <immintrin.h>

typedef __m256 vec;
#define VL               8
#define LOAD(p)          _mm256_loadu_ps(p)
#define STORE(p, v)      _mm256_storeu_ps(p, v)
#define SPLAT(x)         _mm256_set1_ps(x)
#define MAX(a, b)        _mm256_max_ps(a, b)
#define DER_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)

#define SIMD_ISA "avx2", "AVX2", cpu_has_avx2, VL
#endif
