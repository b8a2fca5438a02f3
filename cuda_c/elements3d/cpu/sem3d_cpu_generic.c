/* The kernels of spectral elements for any processor. */
#include "simd_generic.h"

#include "sem3d_cpu_kernel.inc"

const cpu_isa sem3d_cpu_generic = {SIMD_ISA, &kernels};
