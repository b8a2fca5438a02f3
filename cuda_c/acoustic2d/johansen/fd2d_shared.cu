/* The `shared` variant: the second implementation of O. Johansen, Seismic Shot Processing on GPU, NTNU 2009, section
 * 4.2.2 and its figure 4.9: differentiator and absorbing layer in one kernel, tiles and weights in shared memory,
 * pinned host memory for all that goes to the GPU and comes back (gpu_queue.h; here of all GPU variants).
 *
 *   kernel  what it does                                                                    launches a step
 *   1       dx = forward difference of sigma along x, absorbed; vx += bx dx                 1
 *   2       dz = forward difference of sigma along z, absorbed; vz += bz dz                 1
 *   3       adds the source to sigma                                                        1, the last
 *   4       dx = backward difference of vx along x, absorbed; kept in global memory         1
 *   5       dz = backward difference of vz along z, absorbed; sigma += kk (dx + dz)         1
 *                                                                                           5
 *   A sixth launch samples the receivers. Blocks of N x N = 16 x 16 threads, one cell a thread; tiles (thesis figures
 *   4.7 and 4.8; L = half-length, 8 there):
 *
 *     kernels 1 and 4:   <-L-> <-- N --> <-L->        kernels 2 and 5:  <-- N -->
 *                      +------+---------+------+                       +---------+
 *                    ^ |      |         |      |                     ^ |         |  the thread of a cell fetches it;
 *                    N |      |  cells  |      |                     L |         |  the first L of a row or column
 *                    v |      |         |      |                     v |         |  fetch the cells L before and N
 *                      +------+---------+------+                       +---------+  after theirs too
 *                                                                    ^ |         |
 *                                                                    N |  cells  |
 *                                                                    v |         |
 *                                                                      +---------+
 *                                                                    ^ |         |
 *                                                                    L |         |
 *                                                                    v |         |
 *                                                                      +---------+ */
#include "fd2d_gpu.h"

/* Floats from one row of a horizontal tile to the next: N + 2L and some, an odd multiple of 16, as the two rows of a
 * warp then lie in different banks. */
enum { N = FD2D_GPU_TILE, ROW = 3 * N };

template <int L> static __device__ void load_weights(const fd2d_gpu_grid &g, float *w) {
    if (threadIdx.y == 0 && threadIdx.x < L)
        w[threadIdx.x] = g.w[threadIdx.x];
}

// Cells outside the grid on the far sides are 0; those on the near sides are in the frame.
static __device__ float fetch(const fd2d_gpu_grid &g, const float *f, int i, int k) {
    return i < g.nx && k < g.nz ? f[k * g.pitch + i] : 0.0f;
}

// Returns the cell in the tile, from where o goes along the axis. All threads of the block must come here.
template <int L>
static __device__ const float *load_row_tile(const fd2d_gpu_grid &g, const fd2d_gpu_cell &c, const float *f,
                                             float (*tile)[ROW]) {
    float *mine = &tile[threadIdx.y][threadIdx.x + L];
    *mine = fetch(g, f, c.i, c.k);
    if (threadIdx.x < L) {
        mine[-L] = fetch(g, f, c.i - L, c.k);
        mine[N] = fetch(g, f, c.i + N, c.k);
    }
    __syncthreads();
    return mine;
}

template <int L>
static __device__ const float *load_column_tile(const fd2d_gpu_grid &g, const fd2d_gpu_cell &c, const float *f,
                                                float (*tile)[N]) {
    float *mine = &tile[threadIdx.y + L][threadIdx.x];
    *mine = fetch(g, f, c.i, c.k);
    if (threadIdx.y < L) {
        mine[-L * N] = fetch(g, f, c.i, c.k - L);
        mine[N * N] = fetch(g, f, c.i, c.k + N);
    }
    __syncthreads();
    return mine;
}

#define ALONG_X(o) mine[o]
#define ALONG_Z(o) mine[(o)*N]

template <int L> static __global__ void __launch_bounds__(N *N) kernel_1(fd2d_gpu_grid g) {
    __shared__ float w[L], tile[N][ROW];
    const fd2d_gpu_cell c = fd2d_gpu_my_cell(g);
    load_weights<L>(g, w);
    const float *mine = load_row_tile<L>(g, c, g.sigma, tile);
    if (!c.inside)
        return;
    float d = 0;
    DER_FORWARD(d, L, w, ALONG_X);
    if (fd2d_gpu_in_strip_x(g, c.i))
        d = fd2d_gpu_layer_x(g, c.i, c.k, d, g.psix_v, 1);
    fd2d_gpu_update_vx(g, c.at, d);
}

template <int L> static __global__ void __launch_bounds__(N *N) kernel_2(fd2d_gpu_grid g) {
    __shared__ float w[L], tile[N + 2 * L][N];
    const fd2d_gpu_cell c = fd2d_gpu_my_cell(g);
    load_weights<L>(g, w);
    const float *mine = load_column_tile<L>(g, c, g.sigma, tile);
    if (!c.inside)
        return;
    float d = 0;
    DER_FORWARD(d, L, w, ALONG_Z);
    if (fd2d_gpu_in_strip_z(g, c.k))
        d = fd2d_gpu_layer_z(g, c.i, c.k, d, g.psiz_v, 1);
    fd2d_gpu_update_vz(g, c.k, c.at, d);
}

template <int L> static __global__ void __launch_bounds__(N *N) kernel_4(fd2d_gpu_grid g) {
    __shared__ float w[L], tile[N][ROW];
    const fd2d_gpu_cell c = fd2d_gpu_my_cell(g);
    load_weights<L>(g, w);
    const float *mine = load_row_tile<L>(g, c, g.vx, tile);
    if (!c.inside)
        return;
    float d = 0;
    DER_BACKWARD(d, L, w, ALONG_X);
    if (fd2d_gpu_in_strip_x(g, c.i))
        d = fd2d_gpu_layer_x(g, c.i, c.k, d, g.psix_s, 0);
    g.d[c.at] = d;
}

template <int L> static __global__ void __launch_bounds__(N *N) kernel_5(fd2d_gpu_grid g) {
    __shared__ float w[L], tile[N + 2 * L][N];
    const fd2d_gpu_cell c = fd2d_gpu_my_cell(g);
    load_weights<L>(g, w);
    const float *mine = load_column_tile<L>(g, c, g.vz, tile);
    if (!c.inside)
        return;
    float d = 0;
    DER_BACKWARD(d, L, w, ALONG_Z);
    if (fd2d_gpu_in_strip_z(g, c.k))
        d = fd2d_gpu_layer_z(g, c.i, c.k, d, g.psiz_s, 0);
    fd2d_gpu_update_sigma(g, c.k, c.at, g.d[c.at], d);
}

template <int L> static int step(void *self) {
    fd2d_gpu *o = (fd2d_gpu *)self;
    FD2D_GPU_LAUNCH(o, kernel_1<L>);
    FD2D_GPU_LAUNCH(o, kernel_2<L>);
    FD2D_GPU_LAUNCH(o, kernel_4<L>);
    FD2D_GPU_LAUNCH(o, kernel_5<L>);
    return fd2d_gpu_points_step(o); // kernel 3, receivers
}

static const fd2d_gpu_kind kind = {
    .keeps_d = 1,
    .step = {step<1>, step<2>, step<3>, step<4>, step<5>, step<6>, step<7>, step<8>},
};

FD2D_VARIANT(shared) = {"shared", "GPU: thesis' second, tiles in shared memory, 5 launches a step", 1,
                        &fd2d_gpu_verbs.common, &kind};
