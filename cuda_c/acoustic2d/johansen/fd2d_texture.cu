/* The `texture` variant: the third implementation of O. Johansen, Seismic Shot Processing on GPU, NTNU 2009, section
 * 4.2.3 and its figure 4.10: both directions in one kernel, stencils read sigma, vx and vz through 1D textures of
 * linear memory, weights in shared memory.
 *
 *   kernel  what it does                                                                          launches a step
 *   1       dx, dz = forward differences of sigma, absorbed; vx += bx dx, vz += bz dz             1
 *   2       adds the source to sigma                                                              1, the last
 *   3       dx, dz = backward differences of vx, vz, absorbed; sigma += kk (dx + dz)              1
 *                                                                                                 3
 *   A fourth launch samples the receivers. Blocks of 16 x 16 threads, one cell a thread, no tiles: the texture cache
 *   takes their place.
 *
 * The thesis' texture references are gone from CUDA 12 on; these are texture objects. A 1D texture of linear memory
 * has at most 2^27 or 2^28 elements, depending on the GPU: larger grids are refused with the limit. A kernel never
 * reads through a texture what it writes. */
#include "fd2d_gpu.h"

enum { N = FD2D_GPU_TILE };

#define ALONG_X(o) tex1Dfetch<float>(from, at + (o))
#define ALONG_Z(o) tex1Dfetch<float>(from, at + (o)*pitch)

template <int L> static __device__ void load_weights(const fd2d_gpu_grid &g, float *w) {
    if (threadIdx.y == 0 && threadIdx.x < L)
        w[threadIdx.x] = g.w[threadIdx.x];
    __syncthreads();
}

template <int L> static __global__ void __launch_bounds__(N *N) kernel_1(fd2d_gpu_grid g) {
    __shared__ float w[L];
    load_weights<L>(g, w);
    const fd2d_gpu_cell c = fd2d_gpu_my_cell(g);
    if (!c.inside)
        return;
    const int at = g.texture_origin + (int)c.at, pitch = (int)g.pitch;
    const cudaTextureObject_t from = g.texture[FD2D_SIGMA];
    float dx = 0, dz = 0;
    DER_FORWARD(dx, L, w, ALONG_X);
    if (fd2d_gpu_in_strip_x(g, c.i))
        dx = fd2d_gpu_layer_x(g, c.i, c.k, dx, g.psix_v, 1);
    fd2d_gpu_update_vx(g, c.at, dx);
    DER_FORWARD(dz, L, w, ALONG_Z);
    if (fd2d_gpu_in_strip_z(g, c.k))
        dz = fd2d_gpu_layer_z(g, c.i, c.k, dz, g.psiz_v, 1);
    fd2d_gpu_update_vz(g, c.k, c.at, dz);
}

template <int L> static __global__ void __launch_bounds__(N *N) kernel_3(fd2d_gpu_grid g) {
    __shared__ float w[L];
    load_weights<L>(g, w);
    const fd2d_gpu_cell c = fd2d_gpu_my_cell(g);
    if (!c.inside)
        return;
    const int at = g.texture_origin + (int)c.at, pitch = (int)g.pitch;
    cudaTextureObject_t from = g.texture[FD2D_VX];
    float dx = 0, dz = 0;
    DER_BACKWARD(dx, L, w, ALONG_X);
    if (fd2d_gpu_in_strip_x(g, c.i))
        dx = fd2d_gpu_layer_x(g, c.i, c.k, dx, g.psix_s, 0);
    from = g.texture[FD2D_VZ];
    DER_BACKWARD(dz, L, w, ALONG_Z);
    if (fd2d_gpu_in_strip_z(g, c.k))
        dz = fd2d_gpu_layer_z(g, c.i, c.k, dz, g.psiz_s, 0);
    fd2d_gpu_update_sigma(g, c.k, c.at, dx, dz);
}

template <int L> static int step(void *self) {
    fd2d_gpu *o = (fd2d_gpu *)self;
    FD2D_GPU_LAUNCH(o, kernel_1<L>);
    FD2D_GPU_LAUNCH(o, kernel_3<L>);
    return fd2d_gpu_points_step(o); // kernel 2, receivers
}

static const fd2d_gpu_kind kind = {
    .textures = 1,
    .step = {step<1>, step<2>, step<3>, step<4>, step<5>, step<6>, step<7>, step<8>},
};

FD2D_VARIANT(texture) = {"texture", "GPU: thesis' third, 1D textures, 3 launches a step", 1, &fd2d_gpu_verbs.common,
                         &kind};
