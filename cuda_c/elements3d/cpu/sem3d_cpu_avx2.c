/* The kernels of spectral elements for AVX2. */
#include "simd_avx2.h"

#ifdef __x86_64__
#include "sem3d_cpu_kernel.inc"

const cpu_isa sem3d_cpu_avx2 = {SIMD_ISA, &kernels};
#endif
