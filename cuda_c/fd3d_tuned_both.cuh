/* Velocities and stresses in one march down z, for a box of cells without layers that touches no side with images.
 *
 *   y  + + + + + + + +      A block computes the velocities of its 60 x (ROWS - 2L) cells and of L more around (+), those
 *   |  + o o o o o o +      twice: its neighbours have them too. With these, L planes later, it computes the stresses.
 *   v  + o o o o o o +      So a cell's fields are read once and written once a step: 84 bytes, where two launches
 *      + + + + + + + +      move 120 (140 of 176 with memory variables).
 *
 * As neighbours compute from the same old values, new ones go elsewhere: velocities from g.to to g.f, stresses from g.f
 * to g.to (see both_of_step in fd3d_gpu.cu). Around the box new velocities are there already; they are read.
 *
 * What the next plane needs is on its way to shared memory while this one is computed: a warp is a row of 64 cells, and
 * neighbours along x and y are found there. Along z a thread keeps what it had in queues. A field stays in a ring of
 * planes for as long as somebody reads it; plane k is in place k mod the number of places. */
#pragma once

#include "fd3d_tuned.cuh"

namespace fd3d_tuned {

enum { EDGE = 2, WIDTH = 64 - 2 * EDGE }; // cells before the block's first; cells of a block along x
enum { ELASTIC_ROWS = 16, ANELASTIC_ROWS = 12 };

// Rows in shared memory: lane l has vector l + 1; before and behind them, where somebody asks, their neighbours.
typedef vec shared_row[34];

template <int L, bool ANELASTIC, int ROWS> struct rings {
    static constexpr int MORE = ROWS + 2 * L;        // rows with L more in front and behind
    static constexpr int SLOTS = ANELASTIC ? 2 : 1; // else never used
    shared_row xx[4][ROWS], yy[4][MORE], xy[4][MORE], xz[4][ROWS], yz[4][MORE], zz[2][ROWS];
    shared_row v[2][3][ROWS], rho[2][ROWS + 1], lambda[2][ROWS], imu[2][ROWS + 1]; // old velocities; a row in front
    shared_row fresh[2][3][ROWS];                                                // new velocities
    shared_row qp[SLOTS][ROWS], qs[SLOTS][ROWS + 1], r[SLOTS][FD3D_STRESSES][ROWS];
};

// A vector on its way to shared memory.
static __device__ void fetch(vec &to, const float *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((unsigned)__cvta_generic_to_shared(&to)), "l"(from)
                 : "memory");
#else
    to = *(const vec *)from;
#endif
}
static __device__ void wait_for_fetched() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __syncthreads();
}

// A thread's place in its block and its first cell; what lies behind the frame it reads elsewhere.
struct place {
    int lane, line, i, j;
    int y, z, at; // cell (i, j, 0)
    bool inside_y;
    unsigned inside, own; // cells in the box; those this thread is to store
};

static __device__ int row_in_memory(const fd3d_gpu_grid &g, int L, int j) { return min(max(j, -L), g.ny + L - 1); }
static __device__ int plane_in_memory(const fd3d_gpu_grid &g, int L, int k) { return min(max(k, -L), g.nz + L - 1); }

template <int L, int ROWS> static __device__ place find_place(const fd3d_gpu_grid &g, const fd3d_gpu_box &b) {
    place p;
    p.lane = threadIdx.x;
    p.line = threadIdx.y;
    p.i = b.lo[0] + (int)blockIdx.x * WIDTH - EDGE + V * p.lane;
    p.j = b.lo[1] + (int)blockIdx.y * (ROWS - 2 * L) - L + p.line;
    p.y = (int)g.y;
    p.z = (int)g.z;
    p.at = row_in_memory(g, L, p.j) * p.y + min(p.i, (g.nx + 1) / V * V);
    p.inside_y = p.j >= b.lo[1] && p.j < b.hi[1];
    p.inside = 0;
#pragma unroll
    for (int n = 0; n < V; n++)
        if (p.inside_y && p.i + n >= b.lo[0] && p.i + n < b.hi[0])
            p.inside |= 1u << n;
    const bool mine = p.lane > 0 && p.lane < 31 && p.line >= L && p.line < ROWS - L;
    p.own = mine ? p.inside : 0;
    return p;
}

// A thread's vector of a row; those beyond the warp's as well.
static __device__ void fetch_own(shared_row &to, const float *from, const place &t) { fetch(to[t.lane + 1], from); }
static __device__ void fetch_row(shared_row &to, const float *from, const place &t) {
    fetch_own(to, from, t);
    if (t.lane == 0)
        fetch(to[0], from - V);
    if (t.lane == 31)
        fetch(to[33], from + V);
}

// What the step at plane k needs that is not there yet: stresses and medium for its velocities, medium for stresses of
// plane k - L.
template <int L, bool ANELASTIC, int ROWS>
static __device__ void fetch_plane(const fd3d_gpu_grid &g, const place &t, int k, bool stress, rings<L, ANELASTIC, ROWS> &s) {
    const int at = t.at + plane_in_memory(g, L, k) * t.z, ahead = t.at + plane_in_memory(g, L, k + L) * t.z;
    fetch_row(s.xx[k & 3][t.line], g.f[FD3D_SXX] + at, t);
    fetch_row(s.xz[(k + L) & 3][t.line], g.f[FD3D_SXZ] + ahead, t);
    fetch_own(s.zz[(k + L - 1) & 1][t.line], g.f[FD3D_SZZ] + t.at + plane_in_memory(g, L, k + L - 1) * t.z, t);
    fetch_own(s.yy[k & 3][t.line + L], g.f[FD3D_SYY] + at, t);
    fetch_row(s.xy[k & 3][t.line + L], g.f[FD3D_SXY] + at, t);
    fetch_own(s.yz[(k + L) & 3][t.line + L], g.f[FD3D_SYZ] + ahead, t);
    if (t.line < 2 * L) { // the rows around: L in front, L behind
        const int to = t.line < L ? t.line : t.line + ROWS, j = t.j - t.line + to - L;
        const int more = (row_in_memory(g, L, j) - row_in_memory(g, L, t.j)) * t.y;
        fetch_own(s.yy[k & 3][to], g.f[FD3D_SYY] + at + more, t);
        fetch_own(s.xy[k & 3][to], g.f[FD3D_SXY] + at + more, t);
        fetch_own(s.yz[(k + L) & 3][to], g.f[FD3D_SYZ] + ahead + more, t);
    }
#pragma unroll
    for (int c = 0; c < 3; c++)
        fetch_own(s.v[k & 1][c][t.line], g.to[FD3D_VX + c] + at, t);
    fetch_row(s.rho[k & 1][t.line + 1], g.m.rho + at, t);
    const int front = (row_in_memory(g, L, t.j - 1) - row_in_memory(g, L, t.j)) * t.y;
    if (t.line == 0)
        fetch_own(s.rho[k & 1][0], g.m.rho + at + front, t);
    if (!stress)
        return;
    const int below = k & 1, there = t.at + (k - L) * t.z;
    fetch_own(s.lambda[below][t.line], g.m.lambda + there, t);
    fetch_own(s.imu[below][t.line + 1], g.m.imu + there, t);
    if (t.line == 0)
        fetch_own(s.imu[below][0], g.m.imu + there + front, t);
    if constexpr (ANELASTIC) {
        fetch_own(s.qp[below][t.line], g.m.qp + there, t);
        fetch_own(s.qs[below][t.line + 1], g.m.qs + there, t);
        if (t.line == 0)
            fetch_own(s.qs[below][0], g.m.qs + there + front, t);
#pragma unroll
        for (int c = 0; c < FD3D_STRESSES; c++)
            fetch_own(s.r[below][c][t.line], g.r[c] + there, t);
    }
}

static __device__ vec own_of(const shared_row &r, const place &t) { return r[t.lane + 1]; }
template <int L> static __device__ row<L> row_of(const shared_row &r, const place &t) {
    return row<L>(r[t.lane], r[t.lane + 1], r[t.lane + 2]);
}
// 2L rows from the `first` on.
template <int L> struct column {
    vec q[2 * L];
    __device__ column(const shared_row *r, int first, const place &t) {
#pragma unroll
        for (int m = 0; m < 2 * L; m++)
            q[m] = own_of(r[first + m], t);
    }
};

// Stresses along z: xz and yz from plane k - L (one that only the stresses need) to k + L, zz from k - L to k + L - 1.
template <int L> struct columns {
    queue<2 * L + 1> xz, yz;
    queue<2 * L> zz;
};

// New velocities of plane k in the box.
template <int L, bool ANELASTIC, int ROWS>
static __device__ void velocities_of(const fd3d_gpu_grid &g, const place &t, int k, const rings<L, ANELASTIC, ROWS> &s,
                                     const columns<L> &z, vec &above, vec (&v)[3]) {
    float d[3][3][V];
    row_of<L>(s.xx[k & 3][t.line], t).backward(d[0][0], g);
    forward<L>(d[0][1], column<L>(s.xy[k & 3], t.line + 1, t).q, g.w);
    forward<L>(d[0][2], z.xz.q + 1, g.w);
    row_of<L>(s.xy[k & 3][t.line + L], t).forward(d[1][0], g);
    backward<L>(d[1][1], column<L>(s.yy[k & 3], t.line, t).q, g.w);
    forward<L>(d[1][2], z.yz.q + 1, g.w);
    row_of<L>(s.xz[k & 3][t.line], t).forward(d[2][0], g);
    forward<L>(d[2][1], column<L>(s.yz[k & 3], t.line + 1, t).q, g.w);
    backward<L>(d[2][2], z.zz.q, g.w);
#pragma unroll
    for (int c = 0; c < 3; c++)
        v[c] = own_of(s.v[k & 1][c][t.line], t);
    const shared_row &rho = s.rho[k & 1][t.line + 1];
    const vec here = own_of(rho, t);
    grow_velocity(g, v, d, here, rho[t.lane].at[V - 1], own_of(s.rho[k & 1][t.line], t), above, sponge(g, t.i, t.j, k));
    above = here;
}

// Forces that act on the thread's cells, at plane k.
static __device__ void push(const fd3d_gpu_sources &s, const place &t, int k, int planes, vec (&v)[3]) {
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const int *plane = s.plane + c * planes + k;
        for (int m = plane[0]; m < plane[1]; m++) {
            const ptrdiff_t n = s.cell[m] - c * s.count - (t.at + k * t.z);
            if (n == 0)
                v[c].at[0] = with_source(s, m, v[c].at[0]);
            else if (n == 1)
                v[c].at[1] = with_source(s, m, v[c].at[1]);
        }
    }
}

// Of 1/mu or 1/Q: rows in front and the thread's own.
static __device__ plane plane_of(const shared_row *r, const place &t) {
    return plane(own_of(r[t.line + 1], t), own_of(r[t.line], t), r[t.line + 1][t.lane].at[V - 1], r[t.line][t.lane].at[V - 1]);
}

// Differences of the velocities at plane k, of which the queues hold planes k-L .. (x, y) and k-L+1 .. (z).
template <int L, int ROWS>
static __device__ void strain(const fd3d_gpu_grid &g, const place &t, const vec *qx, const vec *qy, const vec *qz,
                              const shared_row (&v)[3][ROWS], float (&d)[3][3][V]) {
    row_of<L>(v[0][t.line], t).forward(d[0][0], g);
    backward<L>(d[0][1], column<L>(v[0], t.line - L, t).q, g.w);
    backward<L>(d[0][2], qx, g.w);
    row_of<L>(v[1][t.line], t).backward(d[1][0], g);
    forward<L>(d[1][1], column<L>(v[1], t.line - L + 1, t).q, g.w);
    backward<L>(d[1][2], qy, g.w);
    row_of<L>(v[2][t.line], t).backward(d[2][0], g);
    backward<L>(d[2][1], column<L>(v[2], t.line - L, t).q, g.w);
    forward<L>(d[2][2], qz, g.w);
}

template <int L, bool ANELASTIC, int ROWS>
static __global__ void __launch_bounds__(32 * ROWS, 1)
    both(const fd3d_gpu_grid g, const fd3d_gpu_box b, const fd3d_gpu_sources forces) {
    extern __shared__ double2 memory[];
    rings<L, ANELASTIC, ROWS> &s = *(rings<L, ANELASTIC, ROWS> *)memory;
    const int deep = (b.hi[2] - b.lo[2] + (int)gridDim.z - 1) / (int)gridDim.z, from = b.lo[2] + (int)blockIdx.z * deep,
              to = min(from + deep, b.hi[2]);
    const place t = find_place<L, ROWS>(g, b);
    if (from >= to)
        return; // the whole block
    const bool has_stress = t.line >= L && t.line < ROWS - L && t.inside_y; // the whole warp

    columns<L> z;
    queue<2 * L + 1> qx, qy;
    queue<2 * L> qz;
#pragma unroll
    for (int m = 1 - L; m < L; m++) { // of the first plane, from - L, all but what is fetched for it; and rows of planes between
        const int k = from - L + m, at = t.at + plane_in_memory(g, L, k) * t.z;
        z.xz.push(load(g.f[FD3D_SXZ] + at));
        z.yz.push(load(g.f[FD3D_SYZ] + at));
        if (m >= 0) {
            fetch_row(s.xz[k & 3][t.line], g.f[FD3D_SXZ] + at, t);
            fetch_own(s.yz[k & 3][t.line + L], g.f[FD3D_SYZ] + at, t);
            if (t.line < 2 * L) {
                const int to_row = t.line < L ? t.line : t.line + ROWS, j = t.j - t.line + to_row - L;
                fetch_own(s.yz[k & 3][to_row],
                          g.f[FD3D_SYZ] + at + (row_in_memory(g, L, j) - row_in_memory(g, L, t.j)) * t.y, t);
            }
        }
        z.zz.push(load(g.f[FD3D_SZZ] + t.at + plane_in_memory(g, L, k - 1) * t.z));
    }
    vec above = load(g.m.rho + t.at + (max(from - L, b.lo[2]) - 1) * t.z);
    const int before = t.at + (from - 1) * t.z;
    plane imu_above(g.m.imu + before, t.y), qs_above = ANELASTIC ? plane(g.m.qs + before, t.y) : imu_above;
    fetch_plane(g, t, from - L, false, s);

    for (int k = from - L; k < to + L; k++) {
        wait_for_fetched();
        if (k + 1 < to + L)
            fetch_plane(g, t, k + 1, k + 1 - L >= from, s);
        z.xz.push(own_of(s.xz[(k + L) & 3][t.line], t));
        z.yz.push(own_of(s.yz[(k + L) & 3][t.line + L], t));
        z.zz.push(own_of(s.zz[(k + L - 1) & 1][t.line], t));
        vec v[3];
        const bool computes = t.inside_y && k >= b.lo[2] && k < b.hi[2]; // the whole warp
        if (computes) {
            velocities_of(g, t, k, s, z, above, v);
            if (forces.velocities > 0)
                push(forces, t, k, g.nz + 1, v);
        }
        if (!computes || t.inside != BOTH)
#pragma unroll
            for (int c = 0; c < 3; c++) {
                const vec known = load(g.f[FD3D_VX + c] + t.at + k * t.z);
#pragma unroll
                for (int n = 0; n < V; n++)
                    if (!computes || !(t.inside >> n & 1))
                        v[c].at[n] = known.at[n];
            }
        if (k >= from && k < to)
#pragma unroll
            for (int c = 0; c < 3; c++)
                store(g.f[FD3D_VX + c] + t.at + k * t.z, v[c], t.own);
        qx.push(v[0]);
        qy.push(v[1]);
        qz.push(v[2]);
        shared_row(&next)[3][ROWS] = s.fresh[(k - L + 1) & 1];
        next[0][t.line][t.lane + 1] = qx.q[L + 1];
        next[1][t.line][t.lane + 1] = qy.q[L + 1];
        next[2][t.line][t.lane + 1] = qz.q[L];

        const int below = k - L; // the plane of the stresses
        if (below < from || !has_stress)
            continue;
        stresses o;
        o.s[0] = own_of(s.xx[below & 3][t.line], t);
        o.s[1] = own_of(s.yy[below & 3][t.line + L], t);
        o.s[2] = z.zz.q[0];
        o.s[3] = own_of(s.xy[below & 3][t.line + L], t);
        o.s[4] = z.xz.q[0];
        o.s[5] = z.yz.q[0];
        const vec lambda = own_of(s.lambda[k & 1][t.line], t);
        const plane imu = plane_of(s.imu[k & 1], t);
        vec qp = lambda;
        plane qs = imu;
        if constexpr (ANELASTIC) {
            qp = own_of(s.qp[k & 1][t.line], t);
            qs = plane_of(s.qs[k & 1], t);
#pragma unroll
            for (int c = 0; c < FD3D_STRESSES; c++)
                o.r[c] = own_of(s.r[k & 1][c][t.line], t);
        }
        float d[3][3][V];
        strain<L, ROWS>(g, t, qx.q, qy.q, qz.q, s.fresh[below & 1], d);
        grow_stresses<ANELASTIC>(g, o, d, {lambda, qp, imu, imu_above, qs, qs_above}, t.j, below,
                                 sponge(g, t.i, t.j, below));
        imu_above = imu;
        qs_above = qs;
        const int at = t.at + below * t.z;
#pragma unroll
        for (int c = 0; c < FD3D_STRESSES; c++) {
            store(g.to[FD3D_SXX + c] + at, o.s[c], t.own);
            if (ANELASTIC)
                store(g.r[c] + at, o.r[c], t.own);
        }
    }
}

} // namespace fd3d_tuned
