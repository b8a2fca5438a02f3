// Kernels of the variants that compute a cell a thread, `global` and `texture`: they differ in how they fetch the
// medium, FETCH(array number as in fd3d_gpu_medium, distance from the thread's cell).
#pragma once

#include "fd3d_gpu_cell.cuh"

namespace fd3d_gpu_plain {

using namespace fd3d_gpu_cell;

enum { RHO, LAMBDA, IMU, QP, QS };

// Undivided differences at s along `step`, of what this kernel only reads.
template <int L> static __device__ float backward(const float *s, ptrdiff_t step, const fd3d_gpu_grid &g) {
    float d = 0;
#define AT(o) __ldg(s + (o)*step)
    DER_BACKWARD(d, L, g.w, AT);
    return d;
}
template <int L> static __device__ float forward(const float *s, ptrdiff_t step, const fd3d_gpu_grid &g) {
    float d = 0;
    DER_FORWARD(d, L, g.w, AT);
#undef AT
    return d;
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

template <class MEDIUM, int L, bool LAYERS, class BOXES>
static __global__ void __launch_bounds__(FD3D_GPU_THREADS) velocity(const fd3d_gpu_grid g, const BOXES boxes) {
    cell c;
    if (!my_cell(g, boxes, c))
        return;
    const float *sxx = g.f[FD3D_SXX] + c.at, *syy = g.f[FD3D_SYY] + c.at, *szz = g.f[FD3D_SZZ] + c.at;
    const float *sxy = g.f[FD3D_SXY] + c.at, *sxz = g.f[FD3D_SXZ] + c.at, *syz = g.f[FD3D_SYZ] + c.at;
    const MEDIUM m(g, c.at);
    float d[3][3] = {{backward<L>(sxx, 1, g), forward<L>(sxy, g.y, g), forward<L>(sxz, g.z, g)},
                     {forward<L>(sxy, 1, g), backward<L>(syy, g.y, g), forward<L>(syz, g.z, g)},
                     {forward<L>(sxz, 1, g), forward<L>(syz, g.y, g), backward<L>(szz, g.z, g)}};
    const float here = m(RHO, 0);
    const float b[3] = {buoyancy(here, m(RHO, -1)), buoyancy(here, m(RHO, -g.y)), buoyancy(here, m(RHO, -g.z))};
    const float v[3] = {g.f[FD3D_VX][c.at], g.f[FD3D_VY][c.at], g.f[FD3D_VZ][c.at]};
    update_velocity<LAYERS>(g, c, d, b, v);
}

template <class MEDIUM, bool ANELASTIC>
static __device__ moduli medium_at(const fd3d_gpu_grid &g, const cell &c, const MEDIUM &fetch) {
    moduli m = {};
    const float here = fetch(IMU, 0), x = fetch(IMU, -1), y = fetch(IMU, -g.y), z = fetch(IMU, -g.z);
    const bool surface = g.free_top && c.k == 0; // sxz and syz stay 0
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

template <class MEDIUM, int L, bool LAYERS, bool ANELASTIC, class BOXES>
static __global__ void __launch_bounds__(FD3D_GPU_THREADS) stress(const fd3d_gpu_grid g, const BOXES boxes) {
    cell c;
    if (!my_cell(g, boxes, c))
        return;
    const float *vx = g.f[FD3D_VX] + c.at, *vy = g.f[FD3D_VY] + c.at, *vz = g.f[FD3D_VZ] + c.at;
    float d[3][3] = {{forward<L>(vx, 1, g), backward<L>(vx, g.y, g), backward<L>(vx, g.z, g)},
                     {backward<L>(vy, 1, g), forward<L>(vy, g.y, g), backward<L>(vy, g.z, g)},
                     {backward<L>(vz, 1, g), backward<L>(vz, g.y, g), forward<L>(vz, g.z, g)}};
    const moduli m = medium_at<MEDIUM, ANELASTIC>(g, c, MEDIUM(g, c.at));
    float s[FD3D_STRESSES];
#pragma unroll
    for (int n = 0; n < FD3D_STRESSES; n++)
        s[n] = g.f[FD3D_SXX + n][c.at];
    update_stress<LAYERS, ANELASTIC>(g, c, d, m, s);
}

template <class MEDIUM, int L> static int velocity_step(fd3d_gpu *o, int part) {
    return launch(o, part, velocity<MEDIUM, L, true, fd3d_gpu_boxes>, velocity<MEDIUM, L, false, fd3d_gpu_box>);
}

template <class MEDIUM, int L> static int stress_step(fd3d_gpu *o, int part) {
    if (o->cfg->anelastic)
        return launch(o, part, stress<MEDIUM, L, true, true, fd3d_gpu_boxes>,
                      stress<MEDIUM, L, false, true, fd3d_gpu_box>);
    return launch(o, part, stress<MEDIUM, L, true, false, fd3d_gpu_boxes>,
                  stress<MEDIUM, L, false, false, fd3d_gpu_box>);
}

} // namespace fd3d_gpu_plain
