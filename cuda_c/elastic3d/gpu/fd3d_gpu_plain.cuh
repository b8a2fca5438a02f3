// Kernels of the variants that compute a cell a thread, `global` and `texture`: they differ in how they fetch the
// medium, FETCH(array number as in fd3d_gpu_medium, distance from the thread's cell).
#pragma once

#include "fd3d_gpu_cell.cuh"

namespace fd3d_gpu_plain {

using namespace fd3d_gpu_cell;

enum { RHO, LAMBDA, IMU, QP, QS };

// Undivided differences along axis A at s, of what this kernel only reads.
template <int KIND, int L> struct differences {
    const reach<KIND> r;
    const ptrdiff_t step[3];
    __device__ differences(const fd3d_gpu_grid &g, const cell &c) : r(g, c.i, c.j), step{1, g.y, g.z} {}
    template <int A> __device__ float backward(const float *s) const {
        const auto w = r.template along<A>();
        float d = 0;
#define AT(o) __ldg(s + (o)*step[A])
        DER_BACKWARD(d, L, w, AT);
        return d;
    }
    template <int A> __device__ float forward(const float *s) const {
        const auto w = r.template along<A>();
        float d = 0;
        DER_FORWARD(d, L, w, AT);
#undef AT
        return d;
    }
};

// Derivatives of the stresses, d[c][a] of s_ca along a, and of the velocities, of v_c.
template <int KIND, int L> static __device__ void of_stresses(float (&d)[3][3], const fd3d_gpu_grid &g, const cell &c) {
    const differences<KIND, L> to(g, c);
    const float *sxx = g.f[FD3D_SXX] + c.at, *syy = g.f[FD3D_SYY] + c.at, *szz = g.f[FD3D_SZZ] + c.at;
    const float *sxy = g.f[FD3D_SXY] + c.at, *sxz = g.f[FD3D_SXZ] + c.at, *syz = g.f[FD3D_SYZ] + c.at;
    d[0][0] = to.template backward<0>(sxx), d[0][1] = to.template forward<1>(sxy),
    d[0][2] = to.template forward<2>(sxz);
    d[1][0] = to.template forward<0>(sxy), d[1][1] = to.template backward<1>(syy),
    d[1][2] = to.template forward<2>(syz);
    d[2][0] = to.template forward<0>(sxz), d[2][1] = to.template forward<1>(syz),
    d[2][2] = to.template backward<2>(szz);
    below_surface(g, c, d);
}
template <int KIND, int L>
static __device__ void of_velocities(float (&d)[3][3], const fd3d_gpu_grid &g, const cell &c) {
    const differences<KIND, L> to(g, c);
    const float *vx = g.f[FD3D_VX] + c.at, *vy = g.f[FD3D_VY] + c.at, *vz = g.f[FD3D_VZ] + c.at;
    d[0][0] = to.template forward<0>(vx), d[0][1] = to.template backward<1>(vx), d[0][2] = to.template backward<2>(vx);
    d[1][0] = to.template backward<0>(vy), d[1][1] = to.template forward<1>(vy), d[1][2] = to.template backward<2>(vy);
    d[2][0] = to.template backward<0>(vz), d[2][1] = to.template backward<1>(vz), d[2][2] = to.template forward<2>(vz);
    below_surface(g, c, d);
}

// True if the thread has a cell.
template <class BOXES> static __device__ bool my_cell(const fd3d_gpu_grid &g, const BOXES &boxes, cell &c) {
    int block[3];
    const fd3d_gpu_box &b = my_box(boxes, block);
    c.i = b.lo[0] + block[0] * blockDim.x + threadIdx.x;
    c.j = b.lo[1] + block[1] * blockDim.y + threadIdx.y;
    c.k = b.lo[2] + block[2] * blockDim.z + threadIdx.z;
    c.at = c.k * g.z + c.j * g.y + c.i;
    find_slabs(g, c);
    return c.i < b.hi[0] && c.j < b.hi[1] && c.k < b.hi[2];
}

template <class MEDIUM, int L, int KIND, class BOXES>
static __global__ void __launch_bounds__(FD3D_GPU_THREADS) velocity(const fd3d_gpu_grid g, const BOXES boxes) {
    cell c;
    if (!my_cell(g, boxes, c))
        return;
    const MEDIUM m(g, c.at);
    float d[3][3];
    of_stresses<KIND, L>(d, g, c);
    const float here = m(RHO, 0);
    const float b[3] = {buoyancy(here, m(RHO, -1)), buoyancy(here, m(RHO, -g.y)), buoyancy(here, m(RHO, -g.z))};
    const float v[3] = {g.f[FD3D_VX][c.at], g.f[FD3D_VY][c.at], g.f[FD3D_VZ][c.at]};
    update_velocity<KIND>(g, c, d, b, v);
}

template <class MEDIUM, bool ANELASTIC>
static __device__ moduli medium_at(const fd3d_gpu_grid &g, const cell &c, const MEDIUM &fetch) {
    moduli m = {};
    const float here = fetch(IMU, 0), x = fetch(IMU, -1), y = fetch(IMU, -g.y), z = fetch(IMU, -g.z);
    const bool surface = g.top_rows > 0 && c.k == 0; // sxz and syz stay 0
    m.lambda = fetch(LAMBDA, 0);
    m.mu = reciprocal(here);
    m.shear[0] = shear_modulus(here, x, y, fetch(IMU, -g.y - 1));
    m.shear[1] = surface ? 0.0f : shear_modulus(here, x, z, fetch(IMU, -g.z - 1));
    m.shear[2] = surface ? 0.0f : shear_modulus(here, y, z, fetch(IMU, -g.z - g.y));
    if (ANELASTIC) {
        const float qx = fetch(QS, -1), qy = fetch(QS, -g.y), qz = fetch(QS, -g.z);
        m.qp = fetch(QP, 0);
        m.qs = fetch(QS, 0);
        m.shear_q[0] = d3_mean4(m.qs, qx, qy, fetch(QS, -g.y - 1));
        m.shear_q[1] = d3_mean4(m.qs, qx, qz, fetch(QS, -g.z - 1));
        m.shear_q[2] = d3_mean4(m.qs, qy, qz, fetch(QS, -g.z - g.y));
    }
    return m;
}

template <class MEDIUM, int L, int KIND, bool ANELASTIC, class BOXES>
static __global__ void __launch_bounds__(FD3D_GPU_THREADS) stress(const fd3d_gpu_grid g, const BOXES boxes) {
    cell c;
    if (!my_cell(g, boxes, c))
        return;
    float d[3][3];
    of_velocities<KIND, L>(d, g, c);
    const moduli m = medium_at<MEDIUM, ANELASTIC>(g, c, MEDIUM(g, c.at));
    float s[FD3D_STRESSES];
#pragma unroll
    for (int n = 0; n < FD3D_STRESSES; n++)
        s[n] = g.f[FD3D_SXX + n][c.at];
    update_stress<KIND, ANELASTIC>(g, c, d, m, s);
}

template <class MEDIUM, int L> static int velocity_step(fd3d_gpu *o, int part) {
    const auto layered =
        o->cfg->narrow ? velocity<MEDIUM, L, NARROW, fd3d_gpu_boxes> : velocity<MEDIUM, L, LAYERED, fd3d_gpu_boxes>;
    return launch(o, part, layered, velocity<MEDIUM, L, PLAIN, fd3d_gpu_box>);
}

template <class MEDIUM, int L, bool ANELASTIC> static int stress_of(fd3d_gpu *o, int part) {
    const auto layered = o->cfg->narrow ? stress<MEDIUM, L, NARROW, ANELASTIC, fd3d_gpu_boxes>
                                        : stress<MEDIUM, L, LAYERED, ANELASTIC, fd3d_gpu_boxes>;
    return launch(o, part, layered, stress<MEDIUM, L, PLAIN, ANELASTIC, fd3d_gpu_box>);
}

template <class MEDIUM, int L> static int stress_step(fd3d_gpu *o, int part) {
    return o->cfg->anelastic ? stress_of<MEDIUM, L, true>(o, part) : stress_of<MEDIUM, L, false>(o, part);
}

} // namespace fd3d_gpu_plain
