/* The 3D kernels for AVX-512. */
#include "simd_avx512.h"

#ifdef __x86_64__
#include "fd3d_cpu_kernel.inc"

const cpu_isa fd3d_cpu_avx512 = {SIMD_ISA, kernels};
#endif
