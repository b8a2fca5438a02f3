/* The `global` variant: a kernel for velocities, one for stresses, a thread a cell, everything read from global memory
 * through the caches. Where the ladder of AWP-ODC starts today: rows are aligned and padded, coefficients averaged from
 * the cells' as they are needed, memory variables of layers only where layers are.
 *
 *   velocity   reads 6 stresses, 3 velocities, rho; writes 3 velocities            52 bytes a cell
 *   stress     reads 3 velocities, 6 stresses, lambda, 1/mu; writes 6 stresses     68, anelastic 124 */
#include "fd3d_gpu_cell.cuh"

using namespace fd3d_gpu_cell;

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

// Whether the thread has a cell.
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

template <int L, bool LAYERS, class BOXES>
static __global__ void __launch_bounds__(FD3D_GPU_THREADS) velocity(const fd3d_gpu_grid g, const BOXES boxes) {
    cell c;
    if (!my_cell(g, boxes, c))
        return;
    const float *sxx = g.f[FD3D_SXX] + c.at, *syy = g.f[FD3D_SYY] + c.at, *szz = g.f[FD3D_SZZ] + c.at;
    const float *sxy = g.f[FD3D_SXY] + c.at, *sxz = g.f[FD3D_SXZ] + c.at, *syz = g.f[FD3D_SYZ] + c.at;
    const float *rho = g.m.rho + c.at;
    float d[3][3] = {{backward<L>(sxx, 1, g), forward<L>(sxy, g.y, g), forward<L>(sxz, g.z, g)},
                     {forward<L>(sxy, 1, g), backward<L>(syy, g.y, g), forward<L>(syz, g.z, g)},
                     {forward<L>(sxz, 1, g), forward<L>(syz, g.y, g), backward<L>(szz, g.z, g)}};
    const float here = __ldg(rho);
    const float b[3] = {buoyancy(here, __ldg(rho - 1)), buoyancy(here, __ldg(rho - g.y)),
                        buoyancy(here, __ldg(rho - g.z))};
    const float v[3] = {g.f[FD3D_VX][c.at], g.f[FD3D_VY][c.at], g.f[FD3D_VZ][c.at]};
    update_velocity<LAYERS>(g, c, d, b, v);
}

template <bool ANELASTIC> static __device__ moduli medium_at(const fd3d_gpu_grid &g, const cell &c) {
    moduli m = {};
    const float *imu = g.m.imu + c.at;
    const float here = __ldg(imu), x = __ldg(imu - 1), y = __ldg(imu - g.y), z = __ldg(imu - g.z);
    const bool surface = g.free_top && c.k == 0; // sxz and syz stay 0
    m.lambda = __ldg(g.m.lambda + c.at);
    m.mu = __frcp_rn(here);
    m.shear[0] = shear_modulus(here, x, y, __ldg(imu - g.y - 1));
    m.shear[1] = surface ? 0.0f : shear_modulus(here, x, z, __ldg(imu - g.z - 1));
    m.shear[2] = surface ? 0.0f : shear_modulus(here, y, z, __ldg(imu - g.z - g.y));
    if (ANELASTIC) {
        const float *qs = g.m.qs + c.at;
        const float qx = __ldg(qs - 1), qy = __ldg(qs - g.y), qz = __ldg(qs - g.z);
        m.qp = __ldg(g.m.qp + c.at);
        m.qs = __ldg(qs);
        m.shear_q[0] = d3_mean4(m.qs, qx, qy, __ldg(qs - g.y - 1));
        m.shear_q[1] = d3_mean4(m.qs, qx, qz, __ldg(qs - g.z - 1));
        m.shear_q[2] = d3_mean4(m.qs, qy, qz, __ldg(qs - g.z - g.y));
    }
    return m;
}

template <int L, bool LAYERS, bool ANELASTIC, class BOXES>
static __global__ void __launch_bounds__(FD3D_GPU_THREADS) stress(const fd3d_gpu_grid g, const BOXES boxes) {
    cell c;
    if (!my_cell(g, boxes, c))
        return;
    const float *vx = g.f[FD3D_VX] + c.at, *vy = g.f[FD3D_VY] + c.at, *vz = g.f[FD3D_VZ] + c.at;
    float d[3][3] = {{forward<L>(vx, 1, g), backward<L>(vx, g.y, g), backward<L>(vx, g.z, g)},
                     {backward<L>(vy, 1, g), forward<L>(vy, g.y, g), backward<L>(vy, g.z, g)},
                     {backward<L>(vz, 1, g), backward<L>(vz, g.y, g), forward<L>(vz, g.z, g)}};
    const moduli m = medium_at<ANELASTIC>(g, c);
    float s[FD3D_STRESSES];
#pragma unroll
    for (int n = 0; n < FD3D_STRESSES; n++)
        s[n] = g.f[FD3D_SXX + n][c.at];
    update_stress<LAYERS, ANELASTIC>(g, c, d, m, s);
}

template <int L> static int velocity_step(fd3d_gpu *o, int part) {
    return launch(o, part, velocity<L, true, fd3d_gpu_boxes>, velocity<L, false, fd3d_gpu_box>);
}

template <int L> static int stress_step(fd3d_gpu *o, int part) {
    if (o->cfg->anelastic)
        return launch(o, part, stress<L, true, true, fd3d_gpu_boxes>, stress<L, false, true, fd3d_gpu_box>);
    return launch(o, part, stress<L, true, false, fd3d_gpu_boxes>, stress<L, false, false, fd3d_gpu_box>);
}

static const fd3d_gpu_kind kind = {
    .name = "global",
    .shape = {32, 4, 2},
    .velocity = {velocity_step<1>, velocity_step<2>, velocity_step<3>, velocity_step<4>},
    .stress = {stress_step<1>, stress_step<2>, stress_step<3>, stress_step<4>},
};

static int make(fd3d *fd) { return fd3d_gpu_make(fd, &kind); }

static int need(const fd3d_cfg *cfg, int entries, int receivers, int steps, size_t *host, size_t *device) {
    return fd3d_gpu_need(&kind, cfg, entries, receivers, steps, host, device);
}

FD3D_VARIANT(global) = {
    .name = "global",
    .about = "GPU: global memory through the caches, a kernel for velocities and one for stresses",
    .needs_gpu = 1,
    .make = make,
    FD3D_GPU_VERBS,
    .need = need,
    FD3D_GPU_MORE_VERBS,
};
