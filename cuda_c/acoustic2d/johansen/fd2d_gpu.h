/* The common part of `global`, `shared` and `texture`: the three CUDA implementations of O. Johansen, Seismic Shot
 * Processing on GPU, NTNU 2009, section 4.2. Each variant's file has its kernels, the order in which a step launches
 * them, and its constant; the rest is here and in fd2d_gpu.cu.
 *
 *   16 x 16 threads a block, one cell a thread, blocks over the whole grid for every kernel (thesis figure 4.4).
 *
 *      <------------ pitch ------------>
 *      0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0     Each field stands in a frame of zeros, DER_MAX rows above and below and at
 *      0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0     least DER_MAX columns at the right, which are the next row's left frame:
 *   0  s s s s s s s s s s s 0 0 0 0 0 0     the thesis shortened the differentiators near the border (its figure 4.6),
 *      s s s s s s s s s s s 0 0 0 0 0 0     which gives the same numbers with more branches (its section 6.1.2).
 *      0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0     Above a free surface the frame holds the image of what is below it.
 *
 * Where the three differ from the thesis: sources come after the stress update, not before, so that all variants of
 * this project round alike, bit for bit; receivers are sampled on the device by a launch of their own at the end of a
 * step, where the thesis copied a line of the model to the host; steps are replayed from a CUDA graph. */
#pragma once

#include "der.h"
#include "fd2d_gpu_points.h"

enum { FD2D_GPU_TILE = 16 }; /* width and height of a block, N_b of the thesis */

/* Memory variables exist in strips only, columns [0,left) and [right,nx), rows [0,top) and [bottom,nz): wide enough for
 * the layers at integer and at half points. psix (left+nx-right, nz): column i of the left strip at i, of the right one
 * at left+i-right. psiz and dz (pitch, top+nz-bottom): row k of the upper strip at k, of the lower one at top+k-bottom.
 */
typedef struct fd2d_gpu_grid { /* as kernels get it */
    int nx, nz, free_top;
    int left, right, top, bottom;
    ptrdiff_t pitch; /* of fields, coefficients and derivatives */
    float *sigma, *vx, *vz;
    const float *bx, *bz, *kk; /* see fd2d_coefficients */
    float *psix_v, *psix_s, *psiz_v, *psiz_s;
    const float *px, *pz; /* (nx,6), (nz,6) profiles */
    float *d;             /* derivative along x, on its way from one kernel to the next */
    float *dz;            /* derivative along z in the strips, likewise */
    cudaTextureObject_t texture[FD2D_FIELDS];
    int texture_origin; /* cell (0,0) in a texture */
    float ratio, w[DER_MAX];
} fd2d_gpu_grid;

/* A variant describes itself by this. step[L-1] launches one step; self is the fd2d_gpu. */
typedef struct fd2d_gpu_kind {
    int keeps_d, keeps_dz, textures;
    int (*step[DER_MAX])(void *self);
} fd2d_gpu_kind;

struct fd2d_gpu : gpu_frame { /* h->own */
    fd2d_gpu_source_cells source;
    fd2d_gpu_grid grid;
    const fd2d_gpu_kind *kind;
    dim3 blocks, threads;
    float *field[FD2D_FIELDS]; /* with their frames */
    float *bx, *bz, *kk, *psi, *px, *pz;
    size_t field_count, psi_count;
    float *slab; /* rows of kappa, rho and rho_z on their way to coefficients */
    int slab_rows;
};

/* The verbs of the three, whose `kind` is a fd2d_gpu_kind. */
extern const fd2d_verbs fd2d_gpu_verbs;

/* The end of every step: source and receivers. */
int fd2d_gpu_points_step(fd2d_gpu *o);

#define FD2D_GPU_LAUNCH(o, kernel, ...)                                                                                \
    do {                                                                                                               \
        kernel<<<(o)->blocks, (o)->threads, 0, (o)->queue.stream>>>((o)->grid, ##__VA_ARGS__);                         \
        CUDA_TRY(cudaGetLastError());                                                                                  \
    } while (0)

#ifdef __CUDACC__

/* The thread's cell. */
struct fd2d_gpu_cell {
    int i, k;
    ptrdiff_t at; /* in fields and coefficients */
    bool inside;
};

__device__ inline fd2d_gpu_cell fd2d_gpu_my_cell(const fd2d_gpu_grid &g) {
    fd2d_gpu_cell c;
    c.i = blockIdx.x * FD2D_GPU_TILE + threadIdx.x;
    const int row = blockIdx.z * gridDim.y + blockIdx.y; /* of blocks: more than y alone allows */
    c.k = row * FD2D_GPU_TILE + threadIdx.y;
    c.at = c.k * g.pitch + c.i;
    c.inside = c.i < g.nx && c.k < g.nz;
    return c;
}

__device__ inline bool fd2d_gpu_in_strip_x(const fd2d_gpu_grid &g, int i) { return i < g.left || i >= g.right; }
__device__ inline bool fd2d_gpu_in_strip_z(const fd2d_gpu_grid &g, int k) { return k < g.top || k >= g.bottom; }

/* Place in a strip, of a cell that is in one. */
__device__ inline ptrdiff_t fd2d_gpu_strip_x(const fd2d_gpu_grid &g, int i, int k) {
    return (ptrdiff_t)k * (g.left + g.nx - g.right) + (i < g.left ? i : g.left + i - g.right);
}
__device__ inline ptrdiff_t fd2d_gpu_strip_z(const fd2d_gpu_grid &g, int i, int k) {
    return (k < g.top ? k : g.top + k - g.bottom) * g.pitch + i;
}

/* Derivative d after the absorbing layer; half = 0 at integer, 1 at half points. */
__device__ inline float fd2d_gpu_layer(float d, float *psi, const float *profile, ptrdiff_t n, int half) {
    const float *p = profile + half * 3 * n;
    float m = *psi;
    DER_PML(d, m, p[0], p[n], p[2 * n], 0.0f);
    *psi = m;
    return d;
}
__device__ inline float fd2d_gpu_layer_x(const fd2d_gpu_grid &g, int i, int k, float d, float *psi, int half) {
    return fd2d_gpu_layer(d, psi + fd2d_gpu_strip_x(g, i, k), g.px + i, g.nx, half);
}
__device__ inline float fd2d_gpu_layer_z(const fd2d_gpu_grid &g, int i, int k, float d, float *psi, int half) {
    return fd2d_gpu_layer(d, psi + fd2d_gpu_strip_z(g, i, k), g.pz + k, g.nz, half);
}

/* New values from derivatives. Rows next to a free surface are mirrored into the frame: vz symmetric about row 0,
 * sigma antisymmetric. */
__device__ inline void fd2d_gpu_update_vx(const fd2d_gpu_grid &g, ptrdiff_t at, float d) {
    g.vx[at] = DER_VELOCITY(g.vx[at], g.bx[at], d);
}
__device__ inline void fd2d_gpu_update_vz(const fd2d_gpu_grid &g, int k, ptrdiff_t at, float d) {
    const float v = DER_VELOCITY(g.vz[at], g.bz[at], d);
    g.vz[at] = v;
    if (g.free_top && k < DER_MAX)
        g.vz[at - (2 * k + 1) * g.pitch] = v;
}
__device__ inline void fd2d_gpu_update_sigma(const fd2d_gpu_grid &g, int k, ptrdiff_t at, float dx, float dz) {
    const float s = DER_SIGMA(g.sigma[at], g.kk[at], dx, g.ratio, dz);
    g.sigma[at] = s;
    if (g.free_top && k > 0 && k < DER_MAX)
        g.sigma[at - 2 * k * g.pitch] = -s;
}

#endif
