// Kernels of a step that follow each other closely: blocks of the next kernel take the places that those of the one
// before leave, and wait there for its last ones, where they would be launched when these are done otherwise. From
// compute capability 9.0 on.
#pragma once

#include "gpu_queue.h"

// A kernel that is launched so begins with it, in all threads: whatever was queued before is done behind it. The next
// kernel may come then, and no sooner: a processor that has begun a kernel keeps what that reads as constant, and of
// numbers that the last kernel but one left it might keep old ones.
__device__ __forceinline__ void gpu_follow() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

struct gpu_shape {
    dim3 blocks, threads;
    size_t shared; // bytes
};

// Closely behind the kernel that was queued before, if `close`.
template <class... TAKEN, class... GIVEN>
int gpu_launch(const gpu_queue *q, int close, const gpu_shape &s, void (*kernel)(TAKEN...), const GIVEN &...given) {
    cudaLaunchAttribute early = {};
    cudaLaunchConfig_t config = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = s.blocks;
    config.blockDim = s.threads;
    config.dynamicSmemBytes = s.shared;
    config.stream = q->stream;
    config.attrs = &early;
    config.numAttrs = close ? 1 : 0;
    CUDA_TRY(cudaLaunchKernelEx(&config, kernel, given...));
    return 0;
}
