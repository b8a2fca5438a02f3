/* The 3D kernels for any processor. */
#include "simd_generic.h"

#include "fd3d_cpu_kernel.inc"

const cpu_isa fd3d_cpu_generic = {SIMD_ISA, kernels};
