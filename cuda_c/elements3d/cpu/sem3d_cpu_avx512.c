/* The kernels of spectral elements for AVX-512. */
#include "simd_avx512.h"

#ifdef __x86_64__
#include "sem3d_cpu_kernel.inc"

const cpu_isa sem3d_cpu_avx512 = {SIMD_ISA, &kernels};
#endif
