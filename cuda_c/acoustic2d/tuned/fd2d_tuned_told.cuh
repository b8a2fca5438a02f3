// Words between tiles that stay (fd2d_tuned_stay.cuh), and to those who sample receivers.
//
// The board has the turn that launches before have come to; sigma after n steps of a launch is told with that + n, in
// copy n % COPIES, each number and its turn in one word of 64 bits: who reads it sees by itself if it is there, and
// nobody waits for a flag or for a fence. A block tells step n when its neighbours have told n-1, which they computed
// of its n-2: for them two copies would do.
//
// A warp of each block, and blocks for which there is no tile, have no cells but a share of the receivers, which they
// sample a few steps behind. A block tells step n when all have sampled n - COPIES, and none samples it sooner, so that
// of COUNTS counts none is for two steps at a time.
#pragma once

#include "fd2d_tuned_tile.cuh"

namespace tuned {

// Sigma of two cells with its turn.
struct told_pair {
    unsigned long long at[2];
};

__device__ __forceinline__ told_pair hear(const unsigned long long *p) {
    told_pair x;
    asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];" : "=l"(x.at[0]), "=l"(x.at[1]) : "l"(p) : "memory");
    return x;
}
__device__ __forceinline__ void tell(unsigned long long *p, const float *s, unsigned turn) {
    const unsigned long long high = (unsigned long long)turn << 32;
    asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(p), "l"(high | __float_as_uint(s[0])),
                 "l"(high | __float_as_uint(s[1]))
                 : "memory");
}

struct told_quad {
    told_pair half[2];
    __device__ __forceinline__ void hear(const unsigned long long *p) {
        half[0] = tuned::hear(p), half[1] = tuned::hear(p + 2);
    }
    __device__ __forceinline__ bool is_of(unsigned turn) const {
        unsigned other = 0;
#pragma unroll
        for (int v = 0; v < V; v++)
            other |= (unsigned)(half[v / 2].at[v % 2] >> 32) ^ turn;
        return other == 0;
    }
    __device__ __forceinline__ quad sigma() const {
        quad x;
#pragma unroll
        for (int v = 0; v < V; v++)
            x.v[v] = __uint_as_float((unsigned)half[v / 2].at[v % 2]);
        return x;
    }
};

// Counts go without a fence, which would empty the first cache: a warp counts a step after it has read it, and a tile
// overwrites that after it has seen the count.
__device__ __forceinline__ unsigned read_count(const unsigned *p) {
    unsigned n;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(n) : "l"(p) : "memory");
    return n;
}
__device__ __forceinline__ void add_to_count(unsigned *p) {
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(p) : "memory");
}

// Warps of a block. Its last one may sample receivers, and all of a block that has no tile.
constexpr int CELL_WARPS = TX * TZ / WARP, WARPS = CELL_WARPS + 1;

__device__ __forceinline__ int samplers(const args &g) {
    const ptrdiff_t shares = (g.points.nrec + TEAMS - 1) / TEAMS;
    return (int)min((ptrdiff_t)(g.work + g.samplers * WARPS), shares);
}
// The number of this warp among those that may, or a negative one.
__device__ __forceinline__ int find_sampler(const args &g) {
    const int warp = threadIdx.x / WARP, beyond = (int)blockIdx.x - g.work;
    return beyond >= 0 ? g.work + beyond * WARPS + warp : warp == CELL_WARPS ? (int)blockIdx.x : -1;
}

// All have sampled the step whose copy step n will overwrite.
__device__ __forceinline__ void wait_for_samples(const args &g, int n) {
    const int old = n - COPIES;
    if (old < 0 || g.points.nrec == 0)
        return;
    const unsigned all = samplers(g) * (old / COUNTS + 1);
    while (read_count(&g.stay.board->sampled[old % COUNTS]) < all)
        ;
}

// Sigma of a step as tiles tell it. Whoever samples has time, and does not ask all the while.
constexpr unsigned PATIENCE = 200; // ns

struct as_told {
    const unsigned long long *first;
    unsigned turn;
    const ptrdiff_t *cell;

    __device__ const as_told &of(int) const { return *this; }
    __device__ float operator()(ptrdiff_t cell) const {
        for (;;) {
            unsigned long long x;
            asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(x) : "l"(first + cell) : "memory");
            if ((unsigned)(x >> 32) == turn)
                return __uint_as_float((unsigned)x);
            __nanosleep(PATIENCE);
        }
    }
};

// Warp `warp` of those that sample: its share of the receivers, after each step but the last.
__device__ inline void sample_all_steps(const args &g, int warp, unsigned turn) {
    if (warp >= samplers(g))
        return;
#pragma unroll 1
    for (int n = 0; n < g.stay.steps; n++) {
        wait_for_samples(g, n);
        if (n == 0)
            sample(g, warp, samplers(g), in_memory{g.s_in, nullptr, nullptr, g.points.cell}, *g.now);
        else
            sample(g, warp, samplers(g), as_told{g.stay.told + n % COPIES * g.stay.copy, turn + n, g.points.cell},
                   *g.now + n);
        __syncwarp();
        if (threadIdx.x % WARP == 0)
            add_to_count(&g.stay.board->sampled[n % COUNTS]);
    }
}

} // namespace tuned
