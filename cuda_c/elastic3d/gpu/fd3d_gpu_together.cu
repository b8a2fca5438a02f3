// Stresses where each cell has all mechanisms, for all variants: a thread a cell, and layers looked for everywhere.
#include "fd3d_gpu_plain.cuh"

using namespace fd3d_gpu_plain;

enum { WIDE = 32, ROWS = 4, DEEP = 2 }; // a block

struct loads { // the thread's cell of each array
    const float *at[5];
    __device__ loads(const fd3d_gpu_grid &g, ptrdiff_t cell)
        : at{g.m.rho + cell, g.m.lambda + cell, g.m.imu + cell, g.m.qp + cell, g.m.qs + cell} {}
    __device__ float operator()(int array, ptrdiff_t o) const { return __ldg(at[array] + o); }
};

// All mechanisms of a cell, as add_stress does one: `grown` stresses, what relaxes of them by e[a] along the axes.
static __device__ void relax(const fd3d_gpu_grid &g, const cell &p, const moduli &m, const float (&e)[3], float trace,
                             float (&grown)[FD3D_STRESSES]) {
    const float elastic[3] = {grown[3], grown[4], grown[5]};
#pragma unroll 1
    for (int n = 0; n < FD3D_TOGETHER; n++) {
        const float y1 = g.strength[0][n], y2 = g.strength[1][n], y3 = g.strength[2][n];
        const float relax_p = (m.lambda + 2 * m.mu) * D3_STRENGTH(m.qp, y1, y2, y3),
                    relax_s = 2 * m.mu * D3_STRENGTH(m.qs, y1, y2, y3);
        float r[FD3D_STRESSES];
#pragma unroll
        for (int c = 0; c < FD3D_STRESSES; c++)
            r[c] = g.r[c][n * g.next_r + p.at];
#pragma unroll
        for (int c = 0; c < FD3D_STRESSES; c++) {
            const float relaxing = c < 3 ? D3_RELAX_NORMAL(relax_p, trace, relax_s, e[c % 3])
                                         : D3_STRENGTH(m.shear_q[c % 3], y1, y2, y3) * elastic[c % 3];
            const float next = D3_MEMORY(r[c], g.decay[n], g.half[n], relaxing);
            g.r[c][n * g.next_r + p.at] = next;
            grown[c] = D3_RELAXED(D3_STIFF(grown[c], g.stiff[n], relaxing), r[c], next);
        }
    }
}

template <int L, int KIND>
static __global__ void __launch_bounds__(WIDE *ROWS *DEEP) together(const fd3d_gpu_grid g, const fd3d_gpu_box b) {
    cell p;
    p.i = b.lo[0] + blockIdx.x * WIDE + threadIdx.x;
    p.j = b.lo[1] + blockIdx.y * ROWS + threadIdx.y;
    p.k = b.lo[2] + blockIdx.z * DEEP + threadIdx.z;
    if (p.i >= b.hi[0] || p.j >= b.hi[1] || p.k >= b.hi[2])
        return;
    p.at = p.k * g.z + p.j * g.y + p.i;
    find_slabs(g, p);
    float d[3][3];
    of_velocities<KIND, L>(d, g, p);
#pragma unroll
    for (int c = 0; c < 3; c++) {
        d[c][0] = layer<1, 0>(g, p, c, d[c][0]);
        d[c][1] = layer<1, 1>(g, p, c, d[c][1]);
        d[c][2] = layer<1, 2>(g, p, c, d[c][2]);
    }
    const moduli m = medium_at<loads, true>(g, p, loads(g, p.at));
    const float e[3] = {g.t[0] * d[0][0], g.t[1] * d[1][1], g.t[2] * d[2][2]}, trace = D3_TRACE(e[0], e[1], e[2]);
    float grown[FD3D_STRESSES] = {D3_NORMAL(m.lambda, trace, 2 * m.mu, e[0]),
                                  D3_NORMAL(m.lambda, trace, 2 * m.mu, e[1]),
                                  D3_NORMAL(m.lambda, trace, 2 * m.mu, e[2]),
                                  D3_SHEAR(m.shear[0], g.t[1], d[0][1], g.t[0], d[1][0]),
                                  D3_SHEAR(m.shear[1], g.t[2], d[0][2], g.t[0], d[2][0]),
                                  D3_SHEAR(m.shear[2], g.t[2], d[1][2], g.t[1], d[2][1])};
    relax(g, p, m, e, trace, grown);
    const float factor = g.sponge[0] != nullptr ? sponge(g, p) : 1.0f;
#pragma unroll
    for (int c = 0; c < FD3D_STRESSES; c++)
        g.f[FD3D_SXX + c][p.at] = (g.f[FD3D_SXX + c][p.at] + grown[c]) * factor;
}

template <int L> static void each(fd3d_gpu *o, const fd3d_gpu_boxes *list) {
    const dim3 threads(WIDE, ROWS, DEEP);
    const auto kernel = o->cfg->narrow ? together<L, NARROW> : together<L, LAYERED>;
    for (int m = 0; m < list->n; m++) {
        const fd3d_gpu_box &b = list->box[m];
        const auto blocks = [&](int a, int size) { return (unsigned)((b.hi[a] - b.lo[a] + size - 1) / size); };
        kernel<<<dim3(blocks(0, WIDE), blocks(1, ROWS), blocks(2, DEEP)), threads, 0, o->queue.stream>>>(o->grid, b);
    }
}

int fd3d_gpu_stress_together(fd3d_gpu *o, int part) {
    static void (*const lengths[D3_MAX])(fd3d_gpu *, const fd3d_gpu_boxes *) = {each<1>, each<2>, each<3>, each<4>};
    lengths[o->cfg->half_length - 1](o, &o->plain[part]);
    lengths[o->cfg->half_length - 1](o, &o->layered[part]);
    CUDA_TRY(cudaGetLastError());
    return 0;
}
