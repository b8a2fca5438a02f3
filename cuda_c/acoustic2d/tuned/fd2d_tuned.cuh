// One time step of the `tuned` variant in one launch: what all ways to do it share.
//
// Velocities are eliminated, 24 bytes a cell. With w = v(n+1/2) - v(n-1/2) = b grad s(n) and e(n) = s(n) - s(n-1)
// (without the source)
//
//     e(n+1) = e(n) + K div w,    s(n+1) = s(n) + e(n+1) + source
//
// is the scheme of fd2d_cpu_kernel.inc in other variables: read s, e, K, rho, write s, e. Carrying e instead of s(n-1)
// keeps the rounding of the first-order scheme. Absorbing layers carry over by linearity: psi of grad s as it is, psi
// of div v by its increments.
//
// Velocities, though, must make up for what rounding takes from e: they end at some 2e-6 of their peak in place of 0.
// So where they are recorded they are kept, in place of e and with their own rounding, 32 bytes a cell:
//
//     v(n+1/2) = v(n-1/2) + w,    s(n+1) = s(n) + K div v(n+1/2) + source
//
// fd2d_tuned_tile.cuh: a block a tile, all at once. fd2d_tuned_march.cuh: blocks go down long strips of columns; the
// fewest instructions, for what fills the GPU for long; without velocities only. fd2d_tuned_pass.cuh: the same, several
// steps in one pass. fd2d_tuned_stay.cuh: tiles of small grids, many steps a launch. All round alike, to the last bit.
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "der.h"
#include "fd2d_gpu_points.h"
#include "gpu_follow.cuh"

namespace tuned {

constexpr int V = 4;    // cells of a thread, side by side
constexpr int HALO = 8; // columns a tile shares with each neighbour: wide enough for every half-length
constexpr int WARP = 32;
constexpr int MOST_STEPS = 4; // of a pass
constexpr int BUCKET = 64;    // columns of a row that are kept together for receivers, within a pass
constexpr int LEFT = 32, RIGHT = 96, ABOVE = 24, BELOW = 88; // margins of the grid: no fetch of a block leaves them

// The cut of the grid into blocks that march: strips of columns, of which those at the sides lie in absorbing layers.
// Strips are cut into pieces, those at the sides into more; rows in layers along z count `weight` times, so that all
// blocks end together. Of a pair a block takes a piece of the left and one of the right strip beside each other, which
// are half as wide.
struct plan {
    int left, inner, right;          // strips
    int left_at, inner_at, right_at; // first column of the first of them, margins included
    int inner_last;                  // and of the last inner one, at most: it may overlap the one before
    int columns, side_columns;       // that a strip writes
    int pieces, side_pieces;         // of an inner strip and of one at a side
    int pair, weight;
};

// The source: s grows by w q(step) in a box of cells.
struct box {
    const float *w, *q;
    int i, k, ni, nk, nq;
};

// Receivers find sigma of the steps within a pass here: buckets of cells one after the other, `count` floats a step.
struct tap_list {
    const int *slot; // of bucket (column / BUCKET, row) in them, or -1
    int first, end;  // rows where receivers are
    int across;      // buckets of a row
    ptrdiff_t count;
    const ptrdiff_t *cell; // of the receivers, in place of those of gpu_receivers
    const float *in;       // of the pass before, for which it is sampled
    float *out;
};

// Memory variables of layers after a step of a pass: of grad s and of div w.
struct memory_variables {
    float *psix, *psix_s, *psiz, *psiz_s;
};

// A launch of many steps by tiles that stay where they are: fd2d_tuned_stay.cuh.
constexpr int COPIES = 4; // of what tiles tell each other
constexpr int COUNTS = 8; // of steps whose receivers are being sampled

struct stay_board {
    unsigned turn;            // told with sigma as it is now
    unsigned sampled[COUNTS]; // blocks that are done with a step, by its number
};

struct staying {
    int steps; // even
    stay_board *board;
    unsigned long long *told; // sigma and turn of the cells, COPIES times, from cell (0,0) of the first on
    ptrdiff_t copy;           // from one to the next
};

// Arrays begin at cell (0,0) and have a margin around it. Outside the grid s, e and K are 0; rho is that of the edge in
// the column and row after the last, and infinite beyond and before the first: no velocity there. What acts between two
// cells is rho + both * rho of the next: their sum. Where the medium has densities of vx and of vz apart, rho holds
// twice the one and rho_z twice the other, both is 0, and outside the largest float stands for infinite, whose product
// with 0 is no number: 28 bytes a cell, 36 with velocities.
struct args {
    const float *s_in;
    float *s_out, *e;
    const float *vx_in, *vz_in; // where velocities are kept, in place of e: v / scale_x, v / scale_z
    float *vx_out, *vz_out;
    double scale_x, scale_z;
    const float *kk, *rho;    // kk = 2 dt^2 / dx^2 K
    const float *rho_z;       // rho, or that of vz
    float both;               // 1, or 0: each density stands for itself
    const float *px, *pz;     // profiles a, b, 1/k of layers along x and z: see profile_x, profile_z
    const float *psix_in;     // of d s/dx in the strips along x: (strip_pitch, nz + BELOW), read
    float *psix_out, *psix_s; // written; that of d w/dx
    const float *psiz_in;     // of d s/dz in the strips along z: (pitch, rows of both)
    float *psiz_out, *psiz_s;
    float *e_out;                           // of a pass of several steps, which reads e and writes this
    memory_variables after[MOST_STEPS + 1]; // its steps, from none on
    tap_list taps;
    plan cut;
    box source;
    gpu_receivers points;
    const gpu_clock *clock;
    const int *now;                           // steps there have been, n
    int *next;                                // to become n + 1
    int work, samplers;                       // blocks that compute cells, and those after them
    int down;                                 // tiles one below the other
    int nx, nz, pitch, strip_pitch, px_pitch; // px_pitch: columns of a profile
    int left, right, top, bottom; // strips: columns < left, >= right (multiples of V), rows < top, >= bottom
    int free_top;
    float w[DER_MAX];        // weights
    float ratio, ratio_rest; // (dx/dz)^2 and what float leaves of it
    staying stay;
};

struct alignas(16) quad {
    float v[V];
};

__device__ __forceinline__ quad load(const float *p) { return *reinterpret_cast<const quad *>(p); }
__device__ __forceinline__ quad load_constant(const float *p) { // what nobody writes in this launch
    const float4 x = __ldg(reinterpret_cast<const float4 *>(p));
    return {x.x, x.y, x.z, x.w};
}
__device__ __forceinline__ void store(float *p, const quad &x) { *reinterpret_cast<quad *>(p) = x; }
__device__ __forceinline__ void copy(float *to, const float *from) { __pipeline_memcpy_async(to, from, sizeof(quad)); }

__device__ __forceinline__ float reciprocal(float x) { // to the last bit but one; 0 of infinity
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Along z a row p enters the 2L sums it matters to one by one, in the order of the rows: term m = 1-L .. L, which is
// the row m - 1/2 below (m < 1: above) the point of the sum.
template <int L> __device__ __forceinline__ float add_row(const float *w, int m, float p, float sum) {
    return m == 1 - L ? -w[L - 1] * p : m < 1 ? fmaf(-w[m < 1 ? -m : 0], p, sum) : fmaf(w[m < 1 ? 0 : m - 1], p, sum);
}

// Derivative along x at the cells of a thread, whose first is at f; FORWARD: at half points.
template <int L, bool FORWARD> __device__ __forceinline__ quad along_x(const float *f, const float *w) {
    constexpr int O = FORWARD ? 1 : 0;
    float a[2 * HALO + V];
    quad d;
#pragma unroll
    for (int j = 0; j < 2 * HALO + V; j += V) {
        if (j + V - 1 < HALO - L + O || j > HALO + V + L - 2 + O)
            continue;
        const quad x = load(f - HALO + j);
#pragma unroll
        for (int v = 0; v < V; v++)
            a[j + v] = x.v[v];
    }
#pragma unroll
    for (int v = 0; v < V; v++) {
        d.v[v] = 0;
#define AT(o) a[HALO + v + (o)]
        if (FORWARD)
            DER_FORWARD(d.v[v], L, w, AT);
        else
            DER_BACKWARD(d.v[v], L, w, AT);
#undef AT
    }
    return d;
}

__device__ __forceinline__ float divergence(const args &g, float x, float z) {
    return fmaf(g.ratio, z, fmaf(g.ratio_rest, z, x));
}

// Profiles of layers, those of div w (half 0) and those half a cell further, of grad s (1). Along x: a, b and 1/k of V
// columns from i on follow each other; along z those of row k are a quad.
__device__ __forceinline__ const float *profile_x(const args &g, int half, int i) {
    return g.px + 3 * (half * g.px_pitch + i);
}
__device__ __forceinline__ const float *profile_z(const args &g, int half, int k) {
    return g.pz + V * (half * g.nz + k);
}

// One layer: psi = b psi + a d, d = d/k + psi, cell by cell; profiles vary along x or not.
__device__ __forceinline__ void layer(float &d, float &psi, float a, float b, float ik) {
    DER_PML(d, psi, a, b, ik, 0.0f);
}

// Column and row of a strip, or a negative number.
__device__ __forceinline__ int strip_column(const args &g, int i) {
    return i < g.left ? i : (i >= g.right) & (i < g.nx) ? i - g.right + g.left : -1;
}
__device__ __forceinline__ int strip_row(const args &g, int k) {
    return k < g.top ? k : (k >= g.bottom) & (k < g.nz) ? k - g.bottom + g.top : -1;
}

// Traces of step n, whose sigma is being read, before the next launch overwrites it. TEAM lanes a receiver: each adds
// every TEAM-th product, then their sums are added, in an order that is always the same. A lane asks for CELLS_AHEAD
// cells before it adds any: a receiver has 64, some 120 beside a contact, and the time to get one counts, not their
// number. Beyond the last cell that one is asked for again, for nothing.
constexpr int TEAM = 8, TEAMS = WARP / TEAM, CELLS_AHEAD = 8;

template <class FIELD>
__device__ double weighted_sum(const gpu_receivers &p, const FIELD &field, const ptrdiff_t *cell, int begin, int end) {
    double sum = 0;
    for (int first = begin + threadIdx.x % TEAM; first < end; first += CELLS_AHEAD * TEAM) {
        float w[CELLS_AHEAD], value[CELLS_AHEAD];
#pragma unroll
        for (int n = 0; n < CELLS_AHEAD; n++) {
            const int at = first + n * TEAM;
            w[n] = at < end ? p.w[at] : 0;
            value[n] = field(cell[min(at, end - 1)]);
        }
#pragma unroll
        for (int n = 0; n < CELLS_AHEAD; n++)
            sum += w[n] * (double)value[n];
    }
#pragma unroll
    for (int apart = 1; apart < TEAM; apart *= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, apart, TEAM);
    return sum;
}

// Fields in memory, and where receivers' cells are in them.
struct in_memory {
    const float *sigma, *vx, *vz;
    const ptrdiff_t *cell;

    struct field {
        const float *first;
        __device__ float operator()(ptrdiff_t cell) const { return first[cell]; }
    };
    __device__ field of(int kind) const { return {kind == FD2D_SIGMA ? sigma : kind == FD2D_VX ? vx : vz}; }
};

// Of step n, by warp `warp` of so many.
template <class FIELDS> __device__ void sample(const args &g, int warp, int warps, const FIELDS &from, int n) {
    const gpu_receivers &p = g.points;
    const int team = threadIdx.x % WARP / TEAM;
    if (n <= g.clock->from)
        return;
    float *trace = p.trace + (ptrdiff_t)(n - g.clock->first) * p.nrec;
    for (ptrdiff_t r0 = (ptrdiff_t)warp * TEAMS; r0 < p.nrec; r0 += (ptrdiff_t)warps * TEAMS) {
        const ptrdiff_t r = r0 + team;
        const int begin = r < p.nrec ? p.start[r] : 0, end = r < p.nrec ? p.start[r + 1] : 0;
        const int kind = r < p.nrec ? p.field[r] : FD2D_SIGMA;
        const double sum = weighted_sum(p, from.of(kind), from.cell, begin, end);
        if (r < p.nrec && threadIdx.x % TEAM == 0)
            trace[r] = (float)(kind == FD2D_SIGMA ? sum : kind == FD2D_VX ? g.scale_x * sum : g.scale_z * sum);
    }
}

// By block `block` of those that sample, of the step so many before the newest one.
__device__ inline void sample_by_block(const args &g, int block, const in_memory &from, int back) {
    const int warps = blockDim.x / WARP;
    sample(g, block * warps + (int)threadIdx.x / WARP, g.samplers * warps, from, *g.now - back);
}

__device__ inline void sample_newest(const args &g, int block) {
    sample_by_block(g, block, {g.s_in, g.vx_in, g.vz_in, g.points.cell}, 0);
}

// Of the steps within the pass before, which has `steps`.
__device__ inline void sample_within(const args &g, int block, int steps) {
#pragma unroll 1
    for (int back = steps - 1; back > 0; back--)
        sample_by_block(g, block, {g.taps.in + (steps - 1 - back) * g.taps.count, g.vx_in, g.vz_in, g.taps.cell}, back);
}

// The begin of a bucket in those that are kept for receivers, or a negative number.
__device__ __forceinline__ int bucket_of(const tap_list &taps, int row, int column) {
    return row < taps.first || row >= taps.end ? -1 : __ldg(taps.slot + (ptrdiff_t)row * taps.across + column / BUCKET);
}

__device__ __forceinline__ int block_number() { return blockIdx.y * gridDim.x + blockIdx.x; }

// Before a block reads what a step writes. One of them counts the steps.
__device__ __forceinline__ void take_turn(const args &g, int steps = 1) {
    gpu_follow();
    if (block_number() == 0 && threadIdx.x == 0)
        *g.next = *g.now + steps;
}

// Blocks behind those that have cells sample receivers; true of them.
__device__ __forceinline__ bool samples(const args &g) {
    if (block_number() < g.work)
        return false;
    take_turn(g);
    sample_newest(g, block_number() - g.work);
    return true;
}

} // namespace tuned
