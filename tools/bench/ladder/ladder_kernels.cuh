// Kernels of the ladder of fd3d_ladder_gpu.cu. The formulas of a cell are the solver's own (fd3d_gpu_cell.cuh,
// medium_at of fd3d_gpu_plain.cuh); rungs differ only in the cells that a thread goes through, and how it fetches.
//
//   Zhou et al. 2012 (ICCS, section 4)       here, where x is the axis whose cells lie side by side in memory
//   fast axis z, slow axis x, march along x  x, z, march along z
#pragma once

#include "fd3d_gpu_plain.cuh"

namespace ladder {

using namespace fd3d_gpu_cell;
using fd3d_gpu_plain::medium_at;

enum { L = 2, BX = 64, BY = 8 }; // half-length; threads of a block, as the paper has them

// --- where a rung's scalars and pointers are, and how it fetches the medium ------------------------------------------

static __constant__ fd3d_gpu_grid in_constant_memory;

struct scalars_from_global {
    static __device__ const fd3d_gpu_grid &grid(const fd3d_gpu_grid *in_global_memory) { return *in_global_memory; }
};
struct scalars_from_constant {
    static __device__ const fd3d_gpu_grid &grid(const fd3d_gpu_grid *) { return in_constant_memory; }
};

struct medium_from_global {
    const float *at[5];
    __device__ medium_from_global(const fd3d_gpu_grid &g, ptrdiff_t cell)
        : at{g.m.rho + cell, g.m.lambda + cell, g.m.imu + cell, g.m.qp + cell, g.m.qs + cell} {}
    __device__ float operator()(int array, ptrdiff_t o) const { return at[array][o]; }
};
struct medium_from_texture {
    const cudaTextureObject_t *texture;
    int at;
    __device__ medium_from_texture(const fd3d_gpu_grid &g, ptrdiff_t cell)
        : texture(g.texture), at(g.texture_origin + (int)cell) {}
    __device__ float operator()(int array, ptrdiff_t o) const { return tex1Dfetch<float>(texture[array], at + (int)o); }
};

// --- how a field is fetched around the thread's cell: at<A>(o) is o cells away along axis A --------------------------

struct in_memory {
    const float *p;
    ptrdiff_t y, z;
    template <int A> __device__ float at(int o) const { return A == 0 ? p[o] : A == 1 ? p[o * y] : p[o * z]; }
};

// Along z from registers: planes FIRST .. FIRST + 3 of the thread's column, one of them new with each step of the
// march.
template <int FIRST, class ACROSS> struct in_queue {
    ACROSS across; // along x and y
    const float *p;
    ptrdiff_t z;
    float q[2 * L];

    __device__ in_queue(const ACROSS &a, const float *field, ptrdiff_t plane) : across(a), p(field), z(plane) {
        q[0] = 0; // the first advance drops it
#pragma unroll
        for (int m = 1; m < 2 * L; m++)
            q[m] = p[(FIRST + m - 1) * z];
    }
    // To the plane at which `p` stands; before the first it stands there already.
    __device__ void advance() {
#pragma unroll
        for (int m = 0; m < 2 * L - 1; m++)
            q[m] = q[m + 1];
        q[2 * L - 1] = p[(FIRST + 2 * L - 1) * z];
        p += z;
    }
    template <int A> __device__ float at(int o) const { return A == 2 ? q[o - FIRST] : across.template at<A>(o); }
};
enum { BACKWARD = -L, FORWARD = 1 - L }; // FIRST of a queue, by the difference along z

// Along x and y from a plane in shared memory, with its rim.
struct tile {
    float cell[BY + 2 * L][BX + 2 * L];
};
struct in_tile {
    const float *p;
    template <int A> __device__ float at(int o) const { return A == 0 ? p[o] : p[o * (BX + 2 * L)]; }
};

template <int A, class F> static __device__ float backward(const F &f, const fd3d_gpu_grid &g) {
    float d = 0;
    DER_BACKWARD(d, L, g.w, f.template at<A>);
    return d;
}
template <int A, class F> static __device__ float forward(const F &f, const fd3d_gpu_grid &g) {
    float d = 0;
    DER_FORWARD(d, L, g.w, f.template at<A>);
    return d;
}

// --- a cell ----------------------------------------------------------------------------------------------------------

template <class MEDIUM, class XX, class YY, class ZZ, class XY, class XZ, class YZ>
static __device__ void velocity_cell(const fd3d_gpu_grid &g, const cell &c, const XX &sxx, const YY &syy, const ZZ &szz,
                                     const XY &sxy, const XZ &sxz, const YZ &syz) {
    using fd3d_gpu_plain::RHO;
    const MEDIUM m(g, c.at);
    float d[3][3] = {{backward<0>(sxx, g), forward<1>(sxy, g), forward<2>(sxz, g)},
                     {forward<0>(sxy, g), backward<1>(syy, g), forward<2>(syz, g)},
                     {forward<0>(sxz, g), forward<1>(syz, g), backward<2>(szz, g)}};
    const float here = m(RHO, 0);
    const float b[3] = {buoyancy(here, m(RHO, -1)), buoyancy(here, m(RHO, -g.y)), buoyancy(here, m(RHO, -g.z))};
    const float v[3] = {g.f[FD3D_VX][c.at], g.f[FD3D_VY][c.at], g.f[FD3D_VZ][c.at]};
    update_velocity<false>(g, c, d, b, v);
}

template <class MEDIUM, bool ANELASTIC, class X, class Y, class Z>
static __device__ void stress_cell(const fd3d_gpu_grid &g, const cell &c, const X &vx, const Y &vy, const Z &vz) {
    float d[3][3] = {{forward<0>(vx, g), backward<1>(vx, g), backward<2>(vx, g)},
                     {backward<0>(vy, g), forward<1>(vy, g), backward<2>(vy, g)},
                     {backward<0>(vz, g), backward<1>(vz, g), forward<2>(vz, g)}};
    const moduli m = medium_at<MEDIUM, ANELASTIC>(g, c, MEDIUM(g, c.at));
    float s[FD3D_STRESSES];
#pragma unroll
    for (int n = 0; n < FD3D_STRESSES; n++)
        s[n] = g.f[FD3D_SXX + n][c.at];
    update_stress<false, ANELASTIC>(g, c, d, m, s);
}

// --- which cells a thread goes through: n of them, `step` apart in memory --------------------------------------------

struct along_x { // the paper's (x, y) decomposition: threads along the two slow axes, the march along the fast one
    static __device__ int begin(const fd3d_gpu_grid &g, int, cell &c) {
        c.i = 0;
        c.k = blockIdx.x * blockDim.x + threadIdx.x;
        c.j = blockIdx.y * blockDim.y + threadIdx.y;
        c.at = c.k * g.z + c.j * g.y;
        return c.j < g.ny && c.k < g.nz ? g.nx : 0;
    }
    static __device__ void next(const fd3d_gpu_grid &, cell &c) { c.i++, c.at++; }
};

struct along_z { // the paper's (y, z) decomposition; blocks along z share the column, `deep` cells each
    static __device__ int begin(const fd3d_gpu_grid &g, int deep, cell &c) {
        c.i = blockIdx.x * blockDim.x + threadIdx.x;
        c.j = blockIdx.y * blockDim.y + threadIdx.y;
        c.k = blockIdx.z * deep;
        c.at = c.k * g.z + c.j * g.y + c.i;
        return c.i < g.nx && c.j < g.ny ? min(deep, g.nz - c.k) : 0;
    }
    static __device__ void next(const fd3d_gpu_grid &g, cell &c) { c.k++, c.at += g.z; }
};

// --- kernels; all take the grid in global memory and the length of a column ------------------------------------------

// The paper compiled for at most 63 registers a thread: two blocks of 512 threads on a multiprocessor, here as there.
// Queues may have twice as many in the last rung.
enum { PAPERS_BLOCKS = 2 };
#define LADDER_KERNEL(blocks) static __global__ void __launch_bounds__(BX *BY, blocks)

template <class SCALARS, class MEDIUM, class MARCH>
LADDER_KERNEL(PAPERS_BLOCKS)
velocity(const fd3d_gpu_grid *grid, int deep) {
    const fd3d_gpu_grid &g = SCALARS::grid(grid);
    cell c = {};
    for (int n = MARCH::begin(g, deep, c); n > 0; n--, MARCH::next(g, c)) {
        const auto field = [&](int f) { return in_memory{g.f[f] + c.at, g.y, g.z}; };
        velocity_cell<MEDIUM>(g, c, field(FD3D_SXX), field(FD3D_SYY), field(FD3D_SZZ), field(FD3D_SXY), field(FD3D_SXZ),
                              field(FD3D_SYZ));
    }
}

template <class SCALARS, class MEDIUM, class MARCH, bool ANELASTIC>
LADDER_KERNEL(PAPERS_BLOCKS)
stress(const fd3d_gpu_grid *grid, int deep) {
    const fd3d_gpu_grid &g = SCALARS::grid(grid);
    cell c = {};
    for (int n = MARCH::begin(g, deep, c); n > 0; n--, MARCH::next(g, c)) {
        const auto field = [&](int f) { return in_memory{g.f[f] + c.at, g.y, g.z}; };
        stress_cell<MEDIUM, ANELASTIC>(g, c, field(FD3D_VX), field(FD3D_VY), field(FD3D_VZ));
    }
}

// Step 4 of the paper: what is differentiated along the march stays in registers.
template <class MEDIUM, int BLOCKS> LADDER_KERNEL(BLOCKS) velocity_queue(const fd3d_gpu_grid *, int deep) {
    const fd3d_gpu_grid &g = in_constant_memory;
    cell c = {};
    int n = along_z::begin(g, deep, c);
    if (n <= 0)
        return;
    const auto field = [&](int f) { return in_memory{g.f[f] + c.at, g.y, g.z}; };
    in_queue<BACKWARD, in_memory> zz(field(FD3D_SZZ), g.f[FD3D_SZZ] + c.at, g.z);
    in_queue<FORWARD, in_memory> xz(field(FD3D_SXZ), g.f[FD3D_SXZ] + c.at, g.z);
    in_queue<FORWARD, in_memory> yz(field(FD3D_SYZ), g.f[FD3D_SYZ] + c.at, g.z);
    for (; n > 0; n--, along_z::next(g, c)) {
        zz.advance(), xz.advance(), yz.advance();
        xz.across = field(FD3D_SXZ), yz.across = field(FD3D_SYZ);
        velocity_cell<MEDIUM>(g, c, field(FD3D_SXX), field(FD3D_SYY), zz, field(FD3D_SXY), xz, yz);
    }
}

template <class MEDIUM, bool ANELASTIC, int BLOCKS>
LADDER_KERNEL(BLOCKS)
stress_queue(const fd3d_gpu_grid *, int deep) {
    const fd3d_gpu_grid &g = in_constant_memory;
    cell c = {};
    int n = along_z::begin(g, deep, c);
    if (n <= 0)
        return;
    const auto field = [&](int f) { return in_memory{g.f[f] + c.at, g.y, g.z}; };
    in_queue<BACKWARD, in_memory> x(field(FD3D_VX), g.f[FD3D_VX] + c.at, g.z);
    in_queue<BACKWARD, in_memory> y(field(FD3D_VY), g.f[FD3D_VY] + c.at, g.z);
    in_queue<FORWARD, in_memory> z(field(FD3D_VZ), g.f[FD3D_VZ] + c.at, g.z);
    for (; n > 0; n--, along_z::next(g, c)) {
        x.advance(), y.advance(), z.advance();
        x.across = field(FD3D_VX), y.across = field(FD3D_VY), z.across = field(FD3D_VZ);
        stress_cell<MEDIUM, ANELASTIC>(g, c, x, y, z);
    }
}

// Step 5 of the paper, the other way: the plane comes into shared memory first, its rim by some of the threads. All
// threads of a block go along; those outside the grid only fetch.
static __device__ void fetch(tile &t, const float *field, const fd3d_gpu_grid &g, int k) {
    enum { WIDE = BX + 2 * L, ALL = WIDE * (BY + 2 * L) };
    for (int e = threadIdx.y * BX + threadIdx.x; e < ALL; e += BX * BY) {
        const int x = e % WIDE, y = e / WIDE;
        const int i = min((int)blockIdx.x * BX + x - L, g.nx + L - 1),
                  j = min((int)blockIdx.y * BY + y - L, g.ny + L - 1);
        t.cell[y][x] = field[k * g.z + j * g.y + i];
    }
}
static __device__ in_tile mine(const tile &t) { return {&t.cell[threadIdx.y + L][threadIdx.x + L]}; }

// A thread outside the grid fetches the column of the last cell inside.
static __device__ cell begin_shared(const fd3d_gpu_grid &g, int deep, int &n, bool &inside) {
    cell c = {};
    inside = along_z::begin(g, deep, c) > 0;
    n = min(deep, g.nz - c.k);
    c.at = c.k * g.z + min(c.j, g.ny - 1) * g.y + min(c.i, g.nx - 1);
    return c;
}

template <class MEDIUM> LADDER_KERNEL(PAPERS_BLOCKS) velocity_shared(const fd3d_gpu_grid *, int deep) {
    __shared__ tile t[5];
    const fd3d_gpu_grid &g = in_constant_memory;
    int n;
    bool inside;
    cell c = begin_shared(g, deep, n, inside);
    in_queue<BACKWARD, in_memory> zz({}, g.f[FD3D_SZZ] + c.at, g.z);
    in_queue<FORWARD, in_tile> xz(mine(t[3]), g.f[FD3D_SXZ] + c.at, g.z), yz(mine(t[4]), g.f[FD3D_SYZ] + c.at, g.z);
    for (; n > 0; n--, along_z::next(g, c)) {
        const int plane[5] = {FD3D_SXX, FD3D_SYY, FD3D_SXY, FD3D_SXZ, FD3D_SYZ};
        __syncthreads();
#pragma unroll
        for (int m = 0; m < 5; m++)
            fetch(t[m], g.f[plane[m]], g, c.k);
        zz.advance(), xz.advance(), yz.advance();
        __syncthreads();
        if (inside)
            velocity_cell<MEDIUM>(g, c, mine(t[0]), mine(t[1]), zz, mine(t[2]), xz, yz);
    }
}

template <class MEDIUM, bool ANELASTIC> LADDER_KERNEL(PAPERS_BLOCKS) stress_shared(const fd3d_gpu_grid *, int deep) {
    __shared__ tile t[3];
    const fd3d_gpu_grid &g = in_constant_memory;
    int n;
    bool inside;
    cell c = begin_shared(g, deep, n, inside);
    in_queue<BACKWARD, in_tile> x(mine(t[0]), g.f[FD3D_VX] + c.at, g.z), y(mine(t[1]), g.f[FD3D_VY] + c.at, g.z);
    in_queue<FORWARD, in_tile> z(mine(t[2]), g.f[FD3D_VZ] + c.at, g.z);
    for (; n > 0; n--, along_z::next(g, c)) {
        __syncthreads();
#pragma unroll
        for (int m = 0; m < 3; m++)
            fetch(t[m], g.f[FD3D_VX + m], g, c.k);
        x.advance(), y.advance(), z.advance();
        __syncthreads();
        if (inside)
            stress_cell<MEDIUM, ANELASTIC>(g, c, x, y, z);
    }
}

} // namespace ladder
