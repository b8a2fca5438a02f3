/* CUDA calls fail like everything else here: one sentence, return 1. CUDA forgets the failure then, or a caller that
 * does without what failed would blame the next launch for it. */
#pragma once

#include <cuda_runtime.h>

#include "err.h"

#define CUDA_TRY(call)                                                                                                 \
    do {                                                                                                               \
        cudaError_t cuda_rc_ = (call);                                                                                 \
        if (cuda_rc_ != cudaSuccess) {                                                                                 \
            cudaGetLastError();                                                                                        \
            FAIL("GPU: %s (%s in %s:%d)", cudaGetErrorString(cuda_rc_), cudaGetErrorName(cuda_rc_), __FILE__,          \
                 __LINE__);                                                                                            \
        }                                                                                                              \
    } while (0)
