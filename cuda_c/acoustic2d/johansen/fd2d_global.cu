/* The `global` variant: the first implementation of O. Johansen, Seismic Shot Processing on GPU, NTNU 2009, section
 * 4.2.1: global memory only, a kernel for each box of its figure 4.5, launched in the order of its section 4.2.1.
 *
 *   kernel  what it does                                                              launches a step, as number
 *   1       dx = forward difference of sigma along x; vx += bx dx outside layers      1     1
 *   2       dz = forward difference of sigma along z; vz += bz dz outside layers      1     3
 *   3       dx = backward difference of vx along x                                    1     5
 *   4       dz = backward difference of vz along z; sigma += kk (dx + dz) outside     1     7
 *   5       adds the source to sigma                                                  1     9
 *   6       left and right layer: dx absorbed; vx += bx dx after kernel 1             2     2, 6
 *   7       upper and lower layer: dz absorbed; finishes what kernel 2 or 4 left      2     4, 8
 *                                                                                     9
 *   Blocks of 16 x 16 threads, one cell a thread, over the whole grid for 1-4, 6 and 7; kernel 5 is one small block.
 *   A tenth launch samples the receivers. In the thesis kernel 5 is the fifth launch: see fd2d_gpu.h.
 *
 * Derivatives that a later kernel needs pass through global memory: dx of the whole grid, dz of the layers. */
#include "fd2d_gpu.h"

enum { N = FD2D_GPU_TILE };

template <int L> static __global__ void __launch_bounds__(N *N) kernel_1(fd2d_gpu_grid g) {
    const fd2d_gpu_cell c = fd2d_gpu_my_cell(g);
    if (!c.inside)
        return;
    const float *s = g.sigma + c.at;
    float d = 0;
#define AT(o) s[o]
    DER_FORWARD(d, L, g.w, AT);
#undef AT
    if (fd2d_gpu_in_strip_x(g, c.i))
        g.d[c.at] = d;
    else
        fd2d_gpu_update_vx(g, c.at, d);
}

template <int L> static __global__ void __launch_bounds__(N *N) kernel_2(fd2d_gpu_grid g) {
    const fd2d_gpu_cell c = fd2d_gpu_my_cell(g);
    if (!c.inside)
        return;
    const float *s = g.sigma + c.at;
    float d = 0;
#define AT(o) s[(o)*g.pitch]
    DER_FORWARD(d, L, g.w, AT);
#undef AT
    if (fd2d_gpu_in_strip_z(g, c.k))
        g.dz[fd2d_gpu_strip_z(g, c.i, c.k)] = d;
    else
        fd2d_gpu_update_vz(g, c.k, c.at, d);
}

template <int L> static __global__ void __launch_bounds__(N *N) kernel_3(fd2d_gpu_grid g) {
    const fd2d_gpu_cell c = fd2d_gpu_my_cell(g);
    if (!c.inside)
        return;
    const float *v = g.vx + c.at;
    float d = 0;
#define AT(o) v[o]
    DER_BACKWARD(d, L, g.w, AT);
#undef AT
    g.d[c.at] = d;
}

template <int L> static __global__ void __launch_bounds__(N *N) kernel_4(fd2d_gpu_grid g) {
    const fd2d_gpu_cell c = fd2d_gpu_my_cell(g);
    if (!c.inside)
        return;
    const float *v = g.vz + c.at;
    float d = 0;
#define AT(o) v[(o)*g.pitch]
    DER_BACKWARD(d, L, g.w, AT);
#undef AT
    if (fd2d_gpu_in_strip_z(g, c.k))
        g.dz[fd2d_gpu_strip_z(g, c.i, c.k)] = d;
    else
        fd2d_gpu_update_sigma(g, c.k, c.at, g.d[c.at], d);
}

static __global__ void __launch_bounds__(N *N) kernel_6(fd2d_gpu_grid g, bool velocity) {
    const fd2d_gpu_cell c = fd2d_gpu_my_cell(g);
    if (!c.inside || !fd2d_gpu_in_strip_x(g, c.i))
        return;
    const float d = fd2d_gpu_layer_x(g, c.i, c.k, g.d[c.at], velocity ? g.psix_v : g.psix_s, velocity);
    if (velocity)
        fd2d_gpu_update_vx(g, c.at, d);
    else
        g.d[c.at] = d;
}

static __global__ void __launch_bounds__(N *N) kernel_7(fd2d_gpu_grid g, bool velocity) {
    const fd2d_gpu_cell c = fd2d_gpu_my_cell(g);
    if (!c.inside || !fd2d_gpu_in_strip_z(g, c.k))
        return;
    const float d =
        fd2d_gpu_layer_z(g, c.i, c.k, g.dz[fd2d_gpu_strip_z(g, c.i, c.k)], velocity ? g.psiz_v : g.psiz_s, velocity);
    if (velocity)
        fd2d_gpu_update_vz(g, c.k, c.at, d);
    else
        fd2d_gpu_update_sigma(g, c.k, c.at, g.d[c.at], d);
}

template <int L> static int step(void *self) {
    fd2d_gpu *o = (fd2d_gpu *)self;
    FD2D_GPU_LAUNCH(o, kernel_1<L>);
    FD2D_GPU_LAUNCH(o, kernel_6, true);
    FD2D_GPU_LAUNCH(o, kernel_2<L>);
    FD2D_GPU_LAUNCH(o, kernel_7, true);
    FD2D_GPU_LAUNCH(o, kernel_3<L>);
    FD2D_GPU_LAUNCH(o, kernel_6, false);
    FD2D_GPU_LAUNCH(o, kernel_4<L>);
    FD2D_GPU_LAUNCH(o, kernel_7, false);
    return fd2d_gpu_points_step(o); // kernel 5, receivers
}

static const fd2d_gpu_kind kind = {
    .keeps_d = 1,
    .keeps_dz = 1,
    .step = {step<1>, step<2>, step<3>, step<4>, step<5>, step<6>, step<7>, step<8>},
};

FD2D_VARIANT(global) = {"global", "GPU: thesis' first, global memory, 7 kernels, 9 launches a step", 1,
                        &fd2d_gpu_verbs.common, &kind};
