/* Vectors of x86-64 with AVX-512 for the file that includes this first; the kernels are chosen at run time, so the
 * build need not name the processor. Elsewhere the file is empty. */
#pragma once

typedef int simd_avx512_not_empty;

#ifdef __x86_64__
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,fma,prefer-vector-width=512")
#include <immintrin.h>

typedef __m512 vec;
#define VL               16
#define LOAD(p)          _mm512_loadu_ps(p)
#define STORE(p, v)      _mm512_storeu_ps(p, v)
#define SPLAT(x)         _mm512_set1_ps(x)
#define MAX(a, b)        _mm512_max_ps(a, b)
#define DER_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)

#define SIMD_ISA "avx512", "AVX-512", cpu_has_avx512, VL
#endif
