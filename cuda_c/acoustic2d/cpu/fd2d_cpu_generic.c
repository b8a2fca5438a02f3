/* The 2D kernels for any processor. */
#include "simd_generic.h"

#include "fd2d_cpu_kernel.inc"

const cpu_isa fd2d_cpu_generic = {SIMD_ISA, &kernels};
