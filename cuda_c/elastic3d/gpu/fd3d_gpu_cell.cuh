// The work of a thread of a 3D GPU variant on its cell once it has the derivatives and the medium there: absorbing
// layers, update, sponge. The stencils are those of der.h, the formulas those of der3d.h; each variant fetches fields
// and medium in its own way.
#pragma once

#include "fd3d_gpu.h"

namespace fd3d_gpu_cell {

// The thread's cell. Slabs: its number among the cells of the layers along each axis, -1 outside of them.
struct cell {
    int i, j, k;
    ptrdiff_t at;
    int slab[3];
};

__device__ inline int slab_of(const fd3d_gpu_grid &g, int a, int i) {
    return i < g.low[a] ? i : i >= g.high[a] ? i - g.shift[a] : -1;
}

__device__ inline void find_slabs(const fd3d_gpu_grid &g, cell &c) {
    c.slab[0] = slab_of(g, 0, c.i);
    c.slab[1] = slab_of(g, 1, c.j);
    c.slab[2] = slab_of(g, 2, c.k);
}

// The block of the launch among all boxes (layered) or in one (its place in the grid of blocks tells).
__device__ inline const fd3d_gpu_box &my_box(const fd3d_gpu_boxes &list, int block[3]) {
    int m = 0;
    while (list.first[m + 1] <= (int)blockIdx.x)
        m++;
    const fd3d_gpu_box &b = list.box[m];
    const unsigned n = blockIdx.x - list.first[m], row = n / (unsigned)b.blocks[0], plane = row / (unsigned)b.blocks[1];
    block[0] = (int)(n - row * b.blocks[0]);
    block[1] = (int)(row - plane * b.blocks[1]);
    block[2] = (int)plane;
    return b;
}
__device__ inline const fd3d_gpu_box &my_box(const fd3d_gpu_box &b, int block[3]) {
    block[0] = blockIdx.x;
    block[1] = blockIdx.y;
    block[2] = blockIdx.z;
    return b;
}

// --- differences -----------------------------------------------------------------------------------------------------

// Cells that a kernel is for: in no layer; in layers; in layers along which differences are narrow.
enum { PLAIN, LAYERED, NARROW };

// Weights of a difference; narrow, if it may be: of half-length 1.
template <bool MAY> struct weights {
    const float (&w)[D3_MAX];
    bool narrow;
    __device__ float operator[](int m) const { return MAY && narrow ? (m == 0 ? 1.0f : 0.0f) : w[m]; }
};

// Of differences along an axis at a cell: along layers of x and y they are narrow.
template <int KIND> struct reach {
    const float (&w)[D3_MAX];
    bool in_x, in_y;
    __device__ reach(const fd3d_gpu_grid &g, int i, int j)
        : w(g.w), in_x(i < g.low[0] || i >= g.high[0]), in_y(j < g.low[1] || j >= g.high[1]) {}
    template <int A> __device__ weights<KIND == NARROW> along() const {
        return {w, (A != 0 && in_x) || (A != 1 && in_y)};
    }
};

// The first rows below a free surface have their differences along z in a list; d[c][2] of component c.
__device__ inline void below_surface(const fd3d_gpu_grid &g, const cell &p, float (&d)[3][3]) {
    if (p.k >= g.top_rows)
        return;
#pragma unroll
    for (int c = 0; c < 3; c++)
        d[c][2] = __ldg(g.top_d + ((c * FD3D_TOP_ROWS + p.k) * g.ny + p.j) * g.y + p.i);
}

// --- the medium at a point -------------------------------------------------------------------------------------------

// 1/x, x >= 0: rounded as division rounds but for a few x that are off by one bit; of 0 infinite, of infinite 0.
// Without the branches of __frcp_rn.
__device__ inline float reciprocal(float x) {
#ifdef __CUDA_ARCH__
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    const float better = fmaf(r, fmaf(-x, r, 1.0f), r);
    return isnan(better) ? r : better;
#else
    return 1.0f / x;
#endif
}

// 1/rho: one over the mean of two cells; 0 between air and air.
__device__ inline float buoyancy(float a, float b) {
    const float sum = a + b;
    return sum > 0 ? 2 * reciprocal(sum) : 0.0f;
}
// Harmonic mean of mu from 1/mu of four cells; 0 where one is infinite.
__device__ inline float shear_modulus(float a, float b, float c, float d) { return 4 * reciprocal(((a + b) + c) + d); }

struct moduli {
    float lambda, mu, shear[3]; // of the cell; at sxy, sxz, syz
    float qp, qs, shear_q[3];   // 1/Q, anelastic only
};

// --- layers and updates ----------------------------------------------------------------------------------------------

// Derivative d along axis A, of component c, after the layer. A velocity's stands on a half where it is that of s_cc,
// a stress' where the component is another than the axis.
template <int WHAT, int A> __device__ inline float layer(const fd3d_gpu_grid &g, const cell &p, int c, float d) {
    const int s = p.slab[A];
    if (s < 0)
        return d;
    const bool half = (WHAT == 0) == (c == A);
    const int n = A == 0 ? g.nx : A == 1 ? g.ny : g.nz, at = A == 0 ? p.i : A == 1 ? p.j : p.k;
    const int deep = g.deep[A];
    const ptrdiff_t to = A == 0   ? ((ptrdiff_t)p.k * g.ny + p.j) * deep + s
                         : A == 1 ? ((ptrdiff_t)p.k * deep + s) * g.y + p.i
                                  : ((ptrdiff_t)s * g.ny + p.j) * g.y + p.i;
    const float *profile = g.profile[A] + (half ? 3 * (ptrdiff_t)n : 0) + at;
    float psi = g.psi[WHAT][A][c][to];
    DER_PML(d, psi, profile[0], profile[n], profile[2 * (ptrdiff_t)n], 0.0f);
    g.psi[WHAT][A][c][to] = psi;
    return d;
}

__device__ inline float sponge(const fd3d_gpu_grid &g, const cell &p) {
    return (g.sponge[0][p.i] * g.sponge[1][p.j]) * g.sponge[2][p.k];
}

// d[c][a]: derivative of s_ca along a; b[c]: 1/rho at v_c; v[c]: what it was.
template <int KIND>
__device__ inline void update_velocity(const fd3d_gpu_grid &g, const cell &p, float (&d)[3][3], const float (&b)[3],
                                       const float (&v)[3]) {
    const float factor = g.sponge[0] != nullptr ? sponge(g, p) : 1.0f;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        if (KIND != PLAIN) {
            d[c][0] = layer<0, 0>(g, p, c, d[c][0]);
            d[c][1] = layer<0, 1>(g, p, c, d[c][1]);
            d[c][2] = layer<0, 2>(g, p, c, d[c][2]);
        }
        const float sum = D3_SUM(g.t[0], d[c][0], g.t[1], d[c][1], g.t[2], d[c][2]);
        g.f[FD3D_VX + c][p.at] = D3_VELOCITY(v[c], b[c], sum) * factor;
    }
}

__device__ inline int mechanism(const fd3d_gpu_grid &g, const cell &p) {
    return ((g.odd[0] + p.i) & 1) + 2 * ((g.odd[1] + p.j) & 1) + 4 * ((g.odd[2] + p.k) & 1);
}

// Stress n (0 sxx .. 5 syz) grows by `inc`, of which `relaxing` relaxes.
template <bool ANELASTIC>
__device__ inline void add_stress(const fd3d_gpu_grid &g, const cell &p, int n, float s, float inc, float relaxing,
                                  float e, float half, float stiff, float factor) {
    if (ANELASTIC) {
        const float r = g.r[n][p.at], next = D3_MEMORY(r, e, half, relaxing);
        g.r[n][p.at] = next;
        s = D3_ADD(s, D3_STIFF(inc, stiff, relaxing), r, next);
    } else {
        s += inc;
    }
    g.f[FD3D_SXX + n][p.at] = s * factor;
}

// d[c][a]: derivative of v_c along a; s[n]: what the stresses were.
template <int KIND, bool ANELASTIC>
__device__ inline void update_stress(const fd3d_gpu_grid &g, const cell &p, float (&d)[3][3], const moduli &m,
                                     const float (&s)[FD3D_STRESSES]) {
    const float factor = g.sponge[0] != nullptr ? sponge(g, p) : 1.0f;
    float decay = 0, half = 0, stiff = 0, y1 = 0, y2 = 0, y3 = 0, relax_p = 0, relax_s = 0;
    if (KIND != PLAIN)
#pragma unroll
        for (int c = 0; c < 3; c++) {
            d[c][0] = layer<1, 0>(g, p, c, d[c][0]);
            d[c][1] = layer<1, 1>(g, p, c, d[c][1]);
            d[c][2] = layer<1, 2>(g, p, c, d[c][2]);
        }
    if (ANELASTIC) {
        const int n = mechanism(g, p);
        decay = g.decay[n], half = g.half[n], stiff = g.stiff[n], y1 = g.strength[0][n], y2 = g.strength[1][n],
        y3 = g.strength[2][n];
        relax_p = (m.lambda + 2 * m.mu) * D3_STRENGTH(m.qp, y1, y2, y3);
        relax_s = 2 * m.mu * D3_STRENGTH(m.qs, y1, y2, y3);
    }
    const float e[3] = {g.t[0] * d[0][0], g.t[1] * d[1][1], g.t[2] * d[2][2]};
    const float trace = D3_TRACE(e[0], e[1], e[2]);
#pragma unroll
    for (int a = 0; a < 3; a++)
        add_stress<ANELASTIC>(g, p, a, s[a], D3_NORMAL(m.lambda, trace, 2 * m.mu, e[a]),
                              D3_RELAX_NORMAL(relax_p, trace, relax_s, e[a]), decay, half, stiff, factor);
#pragma unroll
    for (int n = 0; n < 3; n++) { // sxy, sxz, syz
        const int a = n == 2 ? 1 : 0, b = n == 0 ? 1 : 2;
        const float inc = D3_SHEAR(m.shear[n], g.t[b], d[a][b], g.t[a], d[b][a]);
        const float strength = ANELASTIC ? D3_STRENGTH(m.shear_q[n], y1, y2, y3) : 0.0f;
        add_stress<ANELASTIC>(g, p, 3 + n, s[3 + n], inc, strength * inc, decay, half, stiff, factor);
    }
}

// --- launches --------------------------------------------------------------------------------------------------------

// Kernels of a grid and of one box, or of a list of boxes in one launch.
inline dim3 threads_of(const fd3d_gpu *o) {
    const int wide = o->kind->wide > 0 ? o->kind->wide : 1;
    return dim3(o->block[0] / wide, o->block[1], o->kind->marches ? 1 : o->block[2]);
}
template <class KERNEL> void launch_list(fd3d_gpu *o, const fd3d_gpu_boxes *list, KERNEL kernel) {
    if (list->n > 0)
        kernel<<<list->first[list->n], threads_of(o), 0, o->queue.stream>>>(o->grid, *list);
}
template <class KERNEL> void launch_each(fd3d_gpu *o, const fd3d_gpu_boxes *list, KERNEL kernel) {
    for (int m = 0; m < list->n; m++) {
        const fd3d_gpu_box &b = list->box[m];
        kernel<<<dim3(b.blocks[0], b.blocks[1], b.blocks[2]), threads_of(o), 0, o->queue.stream>>>(o->grid, b);
    }
}

// A launch for the cells in layers, one for each box of the others.
template <class LAYERED, class PLAIN> int launch(fd3d_gpu *o, int part, LAYERED layered, PLAIN plain) {
    launch_list(o, &o->layered[part], layered);
    launch_each(o, &o->plain[part], plain);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

} // namespace fd3d_gpu_cell
