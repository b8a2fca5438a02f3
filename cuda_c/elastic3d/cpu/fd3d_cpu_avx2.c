/* The 3D kernels for AVX2. */
#include "simd_avx2.h"

#ifdef __x86_64__
#include "fd3d_cpu_kernel.inc"

const cpu_isa fd3d_cpu_avx2 = {SIMD_ISA, kernels};
#endif
