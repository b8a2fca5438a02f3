/* Velocities and stresses in one march, for a box of cells without layers that touches no side with images.
 *
 *   y  + + + + + + + +      A block computes the velocities of its 60 x (ROWS - 2L) cells and of L more around (+), those
 *   |  + o o o o o o +      twice: its neighbours have them too. With these, L planes later, it computes the stresses.
 *   v  + o o o o o o +      So a cell's fields are read once and written once a step: 84 bytes, where two launches
 *      + + + + + + + +      move 120 (140 of 176 with memory variables).
 *
 * As neighbours compute from the same old values, new ones go elsewhere: velocities from g.to to g.f, stresses from g.f
 * to g.to (see step_of_both in fd3d_gpu.cu). Around the box new velocities are there already; they are read.
 *
 * A warp is a row of 64 cells; neighbours along x are those of the next lane, along y for velocities they come
 * through shared memory, for stresses through the cache; along z each thread keeps a queue. */
#pragma once

#include "fd3d_tuned.cuh"

namespace fd3d_tuned {

enum { EDGE = 2, WIDTH = 64 - 2 * EDGE, PLANES = 2 }; // cells before the block's first; cells of a block along x
enum { ELASTIC_ROWS = 16, ANELASTIC_ROWS = 12 };

static __device__ vec from_lane_before(const vec &v) {
    vec r;
#pragma unroll
    for (int n = 0; n < V; n++)
        r.at[n] = __shfl_up_sync(~0u, v.at[n], 1);
    return r;
}
static __device__ vec from_lane_behind(const vec &v) {
    vec r;
#pragma unroll
    for (int n = 0; n < V; n++)
        r.at[n] = __shfl_down_sync(~0u, v.at[n], 1);
    return r;
}

// A thread's place in its block and its first cell; where that lies behind the frame, it reads another one instead.
struct place {
    int lane, line, i, j;
    int y, z, at; // cell (i, j, 0)
    bool inside_y;
    unsigned inside, own; // cells in the box; those this thread is to store
};

template <int L, int ROWS> static __device__ place find_place(const fd3d_gpu_grid &g, const fd3d_gpu_box &b) {
    place p;
    p.lane = threadIdx.x;
    p.line = threadIdx.y;
    p.i = b.lo[0] + (int)blockIdx.x * WIDTH - EDGE + V * p.lane;
    p.j = b.lo[1] + (int)blockIdx.y * (ROWS - 2 * L) - L + p.line;
    p.y = (int)g.y;
    p.z = (int)g.z;
    p.at = min(p.j, g.ny + L - 1) * p.y + min(p.i, (g.nx + 1) / V * V);
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

// A row of stresses: what lies beyond the warp's is read.
template <int L> static __device__ row<L> row_of(const float *p, const vec &centre, const place &t) {
    vec left = from_lane_before(centre), right = from_lane_behind(centre);
    if (t.lane == 0)
        left = load(p - V);
    if (t.lane == 31)
        right = load(p + V);
    return row<L>(left, centre, right);
}

// Stresses along z.
template <int L> struct columns {
    queue<2 * L> xz, yz, zz;
    static __device__ int in_memory(const fd3d_gpu_grid &g, int k) { return min(max(k, -L), g.nz + L - 1); }
    __device__ void push(const fd3d_gpu_grid &g, const place &t, int k) {
        const int ahead = t.at + in_memory(g, k + L) * t.z;
        xz.push(load(g.f[FD3D_SXZ] + ahead));
        yz.push(load(g.f[FD3D_SYZ] + ahead));
        zz.push(load(g.f[FD3D_SZZ] + t.at + in_memory(g, k + L - 1) * t.z));
    }
};

// New velocities of plane k in the box.
template <int L>
static __device__ void velocities_of(const fd3d_gpu_grid &g, const place &t, int k, const columns<L> &s, vec &above,
                                     vec (&v)[3]) {
    const int at = t.at + k * t.z;
    const rows<L> ry(g.f[FD3D_SYY] + at, t.y, -L, nullptr), rxy(g.f[FD3D_SXY] + at, t.y, 1 - L, nullptr),
        ryz(g.f[FD3D_SYZ] + at, t.y, 1 - L, &s.yz.q[L - 1]);
    const vec xx = load(g.f[FD3D_SXX] + at), here = load(g.m.rho + at), front = load(g.m.rho + at - t.y);
#pragma unroll
    for (int c = 0; c < 3; c++)
        v[c] = load(g.to[FD3D_VX + c] + at);
    const row<L> rx = row_of<L>(g.f[FD3D_SXX] + at, xx, t), ryx = row_of<L>(g.f[FD3D_SXY] + at, rxy.q[L - 1], t),
                 rzx = row_of<L>(g.f[FD3D_SXZ] + at, s.xz.q[L - 1], t);
    float left = from_lane_before(here).at[V - 1];
    if (t.lane == 0)
        left = __ldg(g.m.rho + at - 1);
    float d[3][3][V];
    rx.backward(d[0][0], g);
    forward<L>(d[0][1], rxy.q, g.w);
    forward<L>(d[0][2], s.xz.q, g.w);
    ryx.forward(d[1][0], g);
    backward<L>(d[1][1], ry.q, g.w);
    forward<L>(d[1][2], s.yz.q, g.w);
    rzx.forward(d[2][0], g);
    forward<L>(d[2][1], ryz.q, g.w);
    backward<L>(d[2][2], s.zz.q, g.w);
    grow_velocity(g, v, d, here, left, front, above, sponge(g, t.i, t.j, k));
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

// Of a plane of 1/mu or 1/Q; the first lane's cells to the left are nobody's.
static __device__ plane plane_of(const float *p, int y) {
    const vec here = load(p), front = load(p - y);
    return plane(here, front, from_lane_before(here).at[V - 1], from_lane_before(front).at[V - 1]);
}

// Velocities of a plane, for neighbours along y.
template <int ROWS> using shared_plane = vec[3][ROWS][32];

// Differences of the velocities at plane k, of which the queues hold planes k-L .. k+L-1 (x, y) and k-L+1 .. k+L (z).
template <int L, int ROWS>
static __device__ void strain(const fd3d_gpu_grid &g, const place &t, const vec *qx, const vec *qy, const vec *qz,
                              const shared_plane<ROWS> &v, float (&d)[3][3][V]) {
    const vec x = qx[L], y = qy[L], z = qz[L - 1];
    vec rx[2 * L], ry[2 * L], rz[2 * L];
#pragma unroll
    for (int m = 0; m < 2 * L; m++) {
        rx[m] = m == L ? x : v[0][t.line + m - L][t.lane];
        ry[m] = m == L - 1 ? y : v[1][t.line + m - (L - 1)][t.lane];
        rz[m] = m == L ? z : v[2][t.line + m - L][t.lane];
    }
    row<L>(from_lane_before(x), x, from_lane_behind(x)).forward(d[0][0], g);
    backward<L>(d[0][1], rx, g.w);
    backward<L>(d[0][2], qx, g.w);
    row<L>(from_lane_before(y), y, from_lane_behind(y)).backward(d[1][0], g);
    forward<L>(d[1][1], ry, g.w);
    backward<L>(d[1][2], qy, g.w);
    row<L>(from_lane_before(z), z, from_lane_behind(z)).backward(d[2][0], g);
    backward<L>(d[2][1], rz, g.w);
    forward<L>(d[2][2], qz, g.w);
}

template <int L, bool ANELASTIC, int ROWS>
static __global__ void __launch_bounds__(32 * ROWS, 1) both(const fd3d_gpu_grid g, const fd3d_gpu_box b, const fd3d_gpu_sources forces) {
    __shared__ shared_plane<ROWS> shared[PLANES];
    const int deep = (b.hi[2] - b.lo[2] + (int)gridDim.z - 1) / (int)gridDim.z, from = b.lo[2] + (int)blockIdx.z * deep,
              to = min(from + deep, b.hi[2]);
    const place t = find_place<L, ROWS>(g, b);
    if (from >= to)
        return; // the whole block
    const bool has_stress = t.line >= L && t.line < ROWS - L && t.inside_y; // the whole warp

    columns<L> s;
    queue<2 * L + 1> qx, qy;
    queue<2 * L> qz;
    for (int k = from - 3 * L + 1; k < from - L; k++)
        s.push(g, t, k);
    vec above = load(g.m.rho + t.at + (max(from - L, b.lo[2]) - 1) * t.z);
    plane imu_above = plane_of(g.m.imu + t.at + (from - 1) * t.z, t.y),
          qs_above = ANELASTIC ? plane_of(g.m.qs + t.at + (from - 1) * t.z, t.y) : imu_above;

    for (int k = from - L; k < to + L; k++) {
        s.push(g, t, k);
        vec v[3];
        const bool computes = t.inside_y && k >= b.lo[2] && k < b.hi[2]; // the whole warp
        if (computes) {
            velocities_of<L>(g, t, k, s, above, v);
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

        const int below = k - L, at = t.at + below * t.z; // the plane of the stresses
        if (below < from)
            continue;
        stresses o;
        vec lambda = {}, qp = {};
        if (has_stress) {
#pragma unroll
            for (int c = 0; c < FD3D_STRESSES; c++) {
                o.s[c] = load(g.f[FD3D_SXX + c] + at);
                if (ANELASTIC)
                    o.r[c] = load_own(g.r[c] + at);
            }
            lambda = load(g.m.lambda + at);
            if (ANELASTIC)
                qp = load(g.m.qp + at);
        }
        shared_plane<ROWS> &plane_now = shared[k % PLANES];
        plane_now[0][t.line][t.lane] = qx.q[L];
        plane_now[1][t.line][t.lane] = qy.q[L];
        plane_now[2][t.line][t.lane] = qz.q[L - 1];
        __syncthreads();
        if (!has_stress)
            continue;
        const plane imu = plane_of(g.m.imu + at, t.y), qs = ANELASTIC ? plane_of(g.m.qs + at, t.y) : imu;
        float d[3][3][V];
        strain<L, ROWS>(g, t, qx.q, qy.q, qz.q, plane_now, d);
        grow_stresses<ANELASTIC>(g, o, d, {lambda, qp, imu, imu_above, qs, qs_above}, t.j, below,
                                 sponge(g, t.i, t.j, below));
        imu_above = imu;
        qs_above = qs;
#pragma unroll
        for (int c = 0; c < FD3D_STRESSES; c++) {
            store(g.to[FD3D_SXX + c] + at, o.s[c], t.own);
            if (ANELASTIC)
                store(g.r[c] + at, o.r[c], t.own);
        }
    }
}

} // namespace fd3d_tuned
