/* The `shared` variant: a block of threads marches down z. Fields differentiated along x or y stand in shared memory,
 * one plane of it with a rim as wide as the half-length; what is differentiated along z goes through a queue of 2L
 * registers, which also gives its plane to shared memory, so that each field is read once:
 *
 *        <-L-> <--- 32 ---> <-L->
 *      ^      +------------+         tile of plane k; while it is used, that of plane k+1 comes in behind it by
 *      L      |            |         asynchronous copies: two tiles take turns, one barrier a plane
 *      v+-----+------------+-----+
 *       |     |            |     |   queue of a field that is differentiated backward along z: planes k-L .. k+L-1,
 *       |     |   cells    |     |   forward: k-L+1 .. k+L
 *       +-----+------------+-----+
 *             |            |         1/mu and 1/Q of the plane above stay in registers
 *             +------------+
 *
 * The same numbers as `global`, bit for bit. */
#include <cuda_pipeline.h>

#include "fd3d_gpu_cell.cuh"

using namespace fd3d_gpu_cell;

enum { BX = 32, BY = 8, DEEP = 32 }; // cells of a block along x and y, planes it goes through

template <int L> struct tile {
    static constexpr int wide = BX + 2 * L, high = BY + 2 * L, ring = 2 * L * (BX + BY); // the ring without corners
    float at[high][wide];
};

// A field differentiated along z: planes first .. first+2L-1 of the thread's column.
template <int L> struct queue {
    float q[2 * L];
    __device__ void push(float next) {
#pragma unroll
        for (int m = 0; m < 2 * L - 1; m++)
            q[m] = q[m + 1];
        q[2 * L - 1] = next;
    }
};

#define ALONG_X(o) p[o]
#define ALONG_Y(o) p[(o) * (BX + 2 * L)]
#define BACK_Z(o)  z.q[L + (o)]
#define FORE_Z(o)  z.q[L - 1 + (o)]

template <int L, class W> static __device__ float backward_x(const float *p, const W &w) {
    float d = 0;
    DER_BACKWARD(d, L, w, ALONG_X);
    return d;
}
template <int L, class W> static __device__ float forward_x(const float *p, const W &w) {
    float d = 0;
    DER_FORWARD(d, L, w, ALONG_X);
    return d;
}
template <int L, class W> static __device__ float backward_y(const float *p, const W &w) {
    float d = 0;
    DER_BACKWARD(d, L, w, ALONG_Y);
    return d;
}
template <int L, class W> static __device__ float forward_y(const float *p, const W &w) {
    float d = 0;
    DER_FORWARD(d, L, w, ALONG_Y);
    return d;
}
template <int L, class W> static __device__ float backward_z(const queue<L> &z, const W &w) {
    float d = 0;
    DER_BACKWARD(d, L, w, BACK_Z);
    return d;
}
template <int L, class W> static __device__ float forward_z(const queue<L> &z, const W &w) {
    float d = 0;
    DER_FORWARD(d, L, w, FORE_Z);
    return d;
}

// The march of a block down z, as a thread sees it. Threads beyond the box go along, on the last cells of the frame.
struct march {
    cell c;
    bool inside;
    int to;          // plane behind the last
    ptrdiff_t start; // the thread's cell in the first plane
};

template <int L, class BOXES> static __device__ march begin(const fd3d_gpu_grid &g, const BOXES &boxes) {
    int block[3];
    march m;
    const fd3d_gpu_box &b = my_box(boxes, block);
    const int i = b.lo[0] + block[0] * BX, j = b.lo[1] + block[1] * BY,
              deep = (b.hi[2] - b.lo[2] + b.blocks[2] - 1) / b.blocks[2];
    m.c.i = i + threadIdx.x;
    m.c.j = j + threadIdx.y;
    m.c.k = b.lo[2] + block[2] * deep;
    m.to = min(m.c.k + deep, b.hi[2]);
    m.inside = m.c.i < b.hi[0] && m.c.j < b.hi[1];
    m.start = m.c.k * g.z + min(m.c.j, g.ny + L - 1) * g.y + min(m.c.i, g.nx + L - 1);
    m.c.at = m.start;
    find_slabs(g, m.c);
    return m;
}

// The cells of a plane's rim that a thread fetches, as distances in the tile and in the field.
template <int L> struct rim {
    static constexpr int most = (tile<L>::ring + BX * BY - 1) / (BX * BY);
    int in_tile[most];
    ptrdiff_t in_field[most];

    __device__ rim(const fd3d_gpu_grid &g, const march &m) {
#pragma unroll
        for (int n = 0; n < most; n++) {
            int e = threadIdx.y * BX + threadIdx.x + n * BX * BY, x, y;
            if (e < 2 * L * BX) { // above and below
                x = e % BX;
                y = e / BX;
                y = y < L ? y - L : y - L + BY;
            } else { // left and right
                e -= 2 * L * BX;
                x = e % (2 * L);
                y = e / (2 * L);
                x = x < L ? x - L : x - L + BX;
            }
            in_tile[n] = y < BY + L ? (y + L) * tile<L>::wide + x + L : -1;
            const int i = min(m.c.i - (int)threadIdx.x + x, g.nx + L - 1),
                      j = min(m.c.j - (int)threadIdx.y + y, g.ny + L - 1);
            in_field[n] = m.c.k * g.z + j * g.y + i;
        }
    }
    __device__ void fetch(tile<L> &t, const float *field, ptrdiff_t planes) const {
#pragma unroll
        for (int n = 0; n < most; n++)
            if (in_tile[n] >= 0)
                __pipeline_memcpy_async(&t.at[0][0] + in_tile[n], field + in_field[n] + planes, sizeof(float));
    }
};

template <int L> static __device__ float *mine(tile<L> &t) { return &t.at[threadIdx.y + L][threadIdx.x + L]; }

// Queues before the first plane: all but the last of what the first plane needs. `first`: the first plane's distance.
template <int L> static __device__ queue<L> fill(const float *field, ptrdiff_t z, int first) {
    queue<L> q;
    q.q[0] = 0;
#pragma unroll
    for (int m = 1; m < 2 * L; m++)
        q.q[m] = __ldg(field + (first + m - 1) * z);
    return q;
}

// --- velocities ------------------------------------------------------------------------------------------------------

enum { XX, YY, XY, XZ, YZ, TILES };

template <int L, int KIND, class BOXES>
static __global__ void __launch_bounds__(BX *BY, L <= 2 ? 4 : 3) velocity(const fd3d_gpu_grid g, const BOXES boxes) {
    __shared__ tile<L> tiles[2][TILES];
    march m = begin<L>(g, boxes);
    const rim<L> edge(g, m);
    const reach<KIND> r(g, m.c.i, m.c.j);
    const float *const from[TILES] = {g.f[FD3D_SXX], g.f[FD3D_SYY], g.f[FD3D_SXY], g.f[FD3D_SXZ], g.f[FD3D_SYZ]};
    const float *sxz = from[XZ] + m.start, *syz = from[YZ] + m.start, *szz = g.f[FD3D_SZZ] + m.start;
    const auto fetch = [&](tile<L> *t, ptrdiff_t planes) {
#pragma unroll
        for (int n = 0; n < TILES; n++)
            edge.fetch(t[n], from[n], planes);
#pragma unroll
        for (int n = 0; n <= XY; n++)
            __pipeline_memcpy_async(mine<L>(t[n]), from[n] + m.start + planes, sizeof(float));
        __pipeline_commit();
    };
    queue<L> xz = fill<L>(sxz, g.z, 1 - L), yz = fill<L>(syz, g.z, 1 - L), zz = fill<L>(szz, g.z, -L);
    float next[3] = {__ldg(sxz + L * g.z), __ldg(syz + L * g.z), __ldg(szz + (L - 1) * g.z)};
    float above = __ldg(g.m.rho + m.start - g.z);
    ptrdiff_t planes = 0; // gone
    fetch(tiles[0], planes);
    for (int turn = 0; m.c.k < m.to; m.c.k++, turn ^= 1) {
        tile<L> *t = tiles[turn];
        xz.push(next[0]);
        yz.push(next[1]);
        zz.push(next[2]);
        *mine<L>(t[XZ]) = xz.q[L - 1];
        *mine<L>(t[YZ]) = yz.q[L - 1];
        __pipeline_wait_prior(0);
        __syncthreads();
        const float *rho = g.m.rho + m.c.at;
        const float here = __ldg(rho), left = __ldg(rho - 1), front = __ldg(rho - g.y);
        const float v[3] = {g.f[FD3D_VX][m.c.at], g.f[FD3D_VY][m.c.at], g.f[FD3D_VZ][m.c.at]};
        planes += g.z;
        if (m.c.k + 1 < m.to) {
            fetch(tiles[turn ^ 1], planes);
            next[0] = __ldg(sxz + planes + L * g.z);
            next[1] = __ldg(syz + planes + L * g.z);
            next[2] = __ldg(szz + planes + (L - 1) * g.z);
        }
        const auto wx = r.template along<0>(), wy = r.template along<1>(), wz = r.template along<2>();
        float d[3][3] = {{backward_x<L>(mine<L>(t[XX]), wx), forward_y<L>(mine<L>(t[XY]), wy), forward_z<L>(xz, wz)},
                         {forward_x<L>(mine<L>(t[XY]), wx), backward_y<L>(mine<L>(t[YY]), wy), forward_z<L>(yz, wz)},
                         {forward_x<L>(mine<L>(t[XZ]), wx), forward_y<L>(mine<L>(t[YZ]), wy), backward_z<L>(zz, wz)}};
        const float b[3] = {buoyancy(here, left), buoyancy(here, front), buoyancy(here, above)};
        above = here;
        m.c.slab[2] = slab_of(g, 2, m.c.k);
        if (m.inside) {
            below_surface(g, m.c, d);
            update_velocity<KIND>(g, m.c, d, b, v);
        }
        m.c.at += g.z;
    }
}

// --- stresses --------------------------------------------------------------------------------------------------------

// Shear points take this from the plane above: of the cell, its left and its front neighbour.
struct three {
    float here, left, front;
};

static __device__ three corner(const float *a, ptrdiff_t y) { return {__ldg(a), __ldg(a - 1), __ldg(a - y)}; }

enum { X, Y, Z };

template <int L, int KIND, bool ANELASTIC, class BOXES>
static __global__ void __launch_bounds__(BX *BY, ANELASTIC || L > 2 ? 2 : 3)
    stress(const fd3d_gpu_grid g, const BOXES boxes) {
    __shared__ tile<L> tiles[2][3];
    march m = begin<L>(g, boxes);
    const rim<L> edge(g, m);
    const reach<KIND> r(g, m.c.i, m.c.j);
    const float *const from[3] = {g.f[FD3D_VX], g.f[FD3D_VY], g.f[FD3D_VZ]};
    const float *vx = from[X] + m.start, *vy = from[Y] + m.start, *vz = from[Z] + m.start;
    const auto fetch = [&](tile<L> *t, ptrdiff_t planes) {
#pragma unroll
        for (int n = 0; n < 3; n++)
            edge.fetch(t[n], from[n], planes);
        __pipeline_commit();
    };
    queue<L> qx = fill<L>(vx, g.z, -L), qy = fill<L>(vy, g.z, -L), qz = fill<L>(vz, g.z, 1 - L);
    float next[3] = {__ldg(vx + (L - 1) * g.z), __ldg(vy + (L - 1) * g.z), __ldg(vz + L * g.z)};
    three imu_above = corner(g.m.imu + m.start - g.z, g.y), qs_above = {};
    if (ANELASTIC)
        qs_above = corner(g.m.qs + m.start - g.z, g.y);
    ptrdiff_t planes = 0; // gone
    fetch(tiles[0], planes);
    for (int turn = 0; m.c.k < m.to; m.c.k++, turn ^= 1) {
        tile<L> *t = tiles[turn];
        qx.push(next[X]);
        qy.push(next[Y]);
        qz.push(next[Z]);
        *mine<L>(t[X]) = qx.q[L];
        *mine<L>(t[Y]) = qy.q[L];
        *mine<L>(t[Z]) = qz.q[L - 1];
        __pipeline_wait_prior(0);
        __syncthreads();
        float s[FD3D_STRESSES];
#pragma unroll
        for (int n = 0; n < FD3D_STRESSES; n++)
            s[n] = g.f[FD3D_SXX + n][m.c.at];
        const three imu = corner(g.m.imu + m.c.at, g.y);
        const bool surface = g.top_rows > 0 && m.c.k == 0; // sxz and syz stay 0
        moduli medium = {};
        medium.lambda = __ldg(g.m.lambda + m.c.at);
        medium.mu = reciprocal(imu.here);
        medium.shear[0] = shear_modulus(imu.here, imu.left, imu.front, __ldg(g.m.imu + m.c.at - g.y - 1));
        medium.shear[1] = surface ? 0.0f : shear_modulus(imu.here, imu.left, imu_above.here, imu_above.left);
        medium.shear[2] = surface ? 0.0f : shear_modulus(imu.here, imu.front, imu_above.here, imu_above.front);
        imu_above = imu;
        if (ANELASTIC) {
            const three qs = corner(g.m.qs + m.c.at, g.y);
            medium.qp = __ldg(g.m.qp + m.c.at);
            medium.qs = qs.here;
            medium.shear_q[0] = d3_mean4(qs.here, qs.left, qs.front, __ldg(g.m.qs + m.c.at - g.y - 1));
            medium.shear_q[1] = d3_mean4(qs.here, qs.left, qs_above.here, qs_above.left);
            medium.shear_q[2] = d3_mean4(qs.here, qs.front, qs_above.here, qs_above.front);
            qs_above = qs;
        }
        planes += g.z;
        if (m.c.k + 1 < m.to) {
            fetch(tiles[turn ^ 1], planes);
            next[X] = __ldg(vx + planes + (L - 1) * g.z);
            next[Y] = __ldg(vy + planes + (L - 1) * g.z);
            next[Z] = __ldg(vz + planes + L * g.z);
        }
        const float *px = mine<L>(t[X]), *py = mine<L>(t[Y]), *pz = mine<L>(t[Z]);
        const auto wx = r.template along<0>(), wy = r.template along<1>(), wz = r.template along<2>();
        float d[3][3] = {{forward_x<L>(px, wx), backward_y<L>(px, wy), backward_z<L>(qx, wz)},
                         {backward_x<L>(py, wx), forward_y<L>(py, wy), backward_z<L>(qy, wz)},
                         {backward_x<L>(pz, wx), backward_y<L>(pz, wy), forward_z<L>(qz, wz)}};
        m.c.slab[2] = slab_of(g, 2, m.c.k);
        if (m.inside) {
            below_surface(g, m.c, d);
            update_stress<KIND, ANELASTIC>(g, m.c, d, medium, s);
        }
        m.c.at += g.z;
    }
}

// --- the variant -----------------------------------------------------------------------------------------------------

template <int L> static int velocity_step(fd3d_gpu *o, int part) {
    const auto layered = o->cfg->narrow ? velocity<L, NARROW, fd3d_gpu_boxes> : velocity<L, LAYERED, fd3d_gpu_boxes>;
    return launch(o, part, layered, velocity<L, PLAIN, fd3d_gpu_box>);
}

template <int L, bool ANELASTIC> static int stress_of(fd3d_gpu *o, int part) {
    const auto layered =
        o->cfg->narrow ? stress<L, NARROW, ANELASTIC, fd3d_gpu_boxes> : stress<L, LAYERED, ANELASTIC, fd3d_gpu_boxes>;
    return launch(o, part, layered, stress<L, PLAIN, ANELASTIC, fd3d_gpu_box>);
}

template <int L> static int stress_step(fd3d_gpu *o, int part) {
    return o->cfg->anelastic ? stress_of<L, true>(o, part) : stress_of<L, false>(o, part);
}

static const fd3d_gpu_kind kind = {
    .shape = {BX, BY, DEEP},
    .marches = 1,
    .velocity = {velocity_step<1>, velocity_step<2>, velocity_step<3>, velocity_step<4>},
    .stress = {stress_step<1>, stress_step<2>, stress_step<3>, stress_step<4>},
};

FD3D_VARIANT(shared) = {"shared", "GPU: marches down z with a plane in shared memory and a queue of registers", 1,
                        &fd3d_gpu_verbs.common, &kind};
