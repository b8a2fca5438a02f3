// Device code of links; see gpu_link.h.
//
// Order of memory: each thread's stores, a fence of the system, a barrier of the block, a count with acquire and
// release; the thread that counts the last block fences again and stores the flag with release for the system. The
// other side loads the flag with acquire for the system in a kernel of its own, and kernels behind that one read what
// was stored by loads for the system, which take nothing of it from a cache of this GPU if it is the machine's memory.
#pragma once

#include "gpu_link.h"

namespace gpu_links {

inline __device__ unsigned long long flag_of(unsigned run, int step) {
    return (unsigned long long)run << 32 | (unsigned)step;
}

inline __device__ unsigned long long nanoseconds() {
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}

inline __device__ unsigned long long load_flag(const unsigned long long *flag) {
    unsigned long long value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(flag) : "memory");
    return value;
}

inline __device__ void store_flag(unsigned long long *flag, unsigned long long value) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
}

// A number that a partner has stored.
inline __device__ float load_given(const float *from) {
    float value;
    asm volatile("ld.relaxed.sys.global.f32 %0, [%1];" : "=f"(value) : "l"(from));
    return value;
}

inline __device__ unsigned count_block(unsigned *done) {
    unsigned before;
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(done) : "memory");
    return before;
}

inline __device__ bool is_over(const gpu_link_wait_for &w) { return *(volatile int *)&w.state->over != 0; }

// All threads of a block call it when they have stored their part of what goes through a side; `blocks` do.
inline __device__ void told(const gpu_link_wait_for &w, const gpu_link_side &s, int what, unsigned blocks) {
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    unsigned *done = &w.state->done[s.side][what];
    if (count_block(done) + 1 < blocks)
        return;
    *done = 0; // for the next launch, which begins when this one has ended
    __threadfence_system();
    store_flag(s.to_flag[what], flag_of(s.to_run, w.clock->step));
}

// One thread of a side. False: in vain, and all is over.
inline __device__ bool wait(const gpu_link_wait_for &w, const gpu_link_side &s, int what) {
    const unsigned long long wanted = flag_of(w.run, w.clock->step);
    if (is_over(w))
        return false;
    if (load_flag(s.flag[what]) == wanted)
        return true;
    const unsigned long long start = nanoseconds();
    for (unsigned looks = 0, nap = 32;; looks++) {
        if (load_flag(s.flag[what]) == wanted) {
            w.state->waited[s.side] += nanoseconds() - start;
            return true;
        }
        __nanosleep(nap);
        nap = nap < 256 ? 2 * nap : nap;
        if (looks % 16 != 15) // what follows looks at the host's memory
            continue;
        if (is_over(w))
            return false;
        const bool late = nanoseconds() - start > w.nanoseconds;
        if (!late && w.words->give_up == 0)
            continue;
        if (atomicExch(&w.state->over, 1) == 0 && late) {
            w.words->side = s.side;
            w.words->what = what;
            __threadfence_system();
            w.words->late = w.clock->step > 0 ? w.clock->step : -1;
            __threadfence_system();
        }
        return false;
    }
}

} // namespace gpu_links
