/* Elements that stand alone, as Komatitsch, Michea & Erlebacher (2009) have them: a block of 128 threads an element, a
 * thread a point, three threads idle; arrays of elements are padded to 128. Threads exchange displacements, then
 * fluxes, through shared memory. Forces go to a local array, which sums by point read, or to those of the points:
 * colour after colour, or by atomic additions. */
#pragma once

#include "sem3d_gpu_point.cuh"

namespace sem3d_gpu_plain {

using namespace sem3d_gpu_point;

static __device__ const float slopes[ALONG * ALONG] = {
    slope(0, 0), slope(0, 1), slope(0, 2), slope(0, 3), slope(0, 4), slope(1, 0), slope(1, 1), slope(1, 2), slope(1, 3),
    slope(1, 4), slope(2, 0), slope(2, 1), slope(2, 2), slope(2, 3), slope(2, 4), slope(3, 0), slope(3, 1), slope(3, 2),
    slope(3, 3), slope(3, 4), slope(4, 0), slope(4, 1), slope(4, 2), slope(4, 3), slope(4, 4)};

static __device__ const float points_along[ALONG] = {gll(0), gll(1), gll(2), gll(3), gll(4)};
static __device__ const float weights_along[ALONG] = {weight(0), weight(1), weight(2), weight(3), weight(4)};

/* dx/dxi_d at a point of a trilinear map. */
__device__ __forceinline__ void map_slopes(const float *b, float xi, float eta, float zeta, float x[3][3]) {
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const float *m = b + 8 * c, xy = m[4], yz = m[5], xz = m[6], all = m[7];
        x[0][c] = fmaf(fmaf(all, eta, xz), zeta, fmaf(xy, eta, m[1]));
        x[1][c] = fmaf(fmaf(all, xi, yz), zeta, fmaf(xy, xi, m[2]));
        x[2][c] = fmaf(fmaf(all, eta, xz), xi, fmaf(yz, eta, m[3]));
    }
}

/* The geometry of an element as a block keeps it, if it computes it: `map` is in shared memory. */
template <sem3d_shape SHAPE>
__device__ __forceinline__ float geometry_of(const sem3d_gpu_elements &e, int element, int p, const float *map,
                                             float a[3][3]) {
    if (SHAPE == SEM3D_STORED) {
        const float *x = e.geometry + (ptrdiff_t)element * (SEM3D_COFACTORS * PADDED) + p;
#pragma unroll
        for (int n = 0; n < SEM3D_COFACTORS; n++)
            a[n / 3][n % 3] = __ldg(x + n * PADDED);
        return 1;
    }
    float x[3][3];
    map_slopes(map, points_along[p % ALONG], points_along[p / ALONG % ALONG], points_along[p / FACE], x);
    return cofactors(x, a);
}

template <int COMPONENTS, sem3d_shape SHAPE, int LANES, bool TENSOR, class LOADS>
static __global__ void __launch_bounds__(PADDED, LANES > 0 ? 8 : 10)
    element(const __grid_constant__ sem3d_gpu_phase ph, const LOADS loads, const int *list) {
    __shared__ float d[ALONG * ALONG], map[SEM3D_MAP], u[COMPONENTS][PADDED], flux[COMPONENTS][3][PADDED];
    const sem3d_gpu_elements &e = ph.e;
    const int p = threadIdx.x, element = list == nullptr ? (int)blockIdx.x : list[blockIdx.x];
    const int i = p % ALONG, j = p / ALONG % ALONG, k = p / FACE, row = p - i, column = p - j * ALONG,
              pillar = p - k * FACE;
    const bool active = p < POINTS;
    int at = 0;
    float a[3][3], m[2] = {}, f[COMPONENTS];
    if (p < ALONG * ALONG)
        d[p] = slopes[p];
    if (SHAPE != SEM3D_STORED && p < SEM3D_MAP)
        map[p] = __ldg(e.geometry + (ptrdiff_t)element * SEM3D_MAP + p);
    if (active) {
        constexpr int media = COMPONENTS == 3 ? 2 : 1;
        at = __ldg(ph.at + (ptrdiff_t)element * PADDED + p);
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++)
            u[c][p] = loads.displacement(ph, c, at);
#pragma unroll
        for (int n = 0; n < media; n++)
            m[n] = loads.medium(e, e.by_point ? ((ptrdiff_t)element * media + n) * PADDED + p
                                              : (ptrdiff_t)element * media + n);
    }
    __syncthreads();
    if (active) {
        const float over = geometry_of<SHAPE>(e, element, p, map, a);
        if (SHAPE != SEM3D_STORED) {
            const float by = e.by_point ? over : over * weights_along[i] * weights_along[j] * weights_along[k];
            m[0] *= by;
            m[1] *= by;
        }
        float g[COMPONENTS][3];
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++) {
            const float here = u[c][p]; /* differences to it: an element that moves as a whole has no force */
            g[c][0] = g[c][1] = g[c][2] = 0;
#pragma unroll
            for (int l = 0; l < ALONG; l++) {
                g[c][0] = fmaf(d[ALONG * i + l], u[c][row + l] - here, g[c][0]);
                g[c][1] = fmaf(d[ALONG * j + l], u[c][column + ALONG * l] - here, g[c][1]);
                g[c][2] = fmaf(d[ALONG * k + l], u[c][pillar + FACE * l] - here, g[c][2]);
            }
        }
        if constexpr (COMPONENTS == 3) {
            relaxation x = {};
            if (LANES > 0)
                x = relaxation_at<LANES>(e, element, p);
            solid_point<(LANES > 0 ? SOME : 0), LANES, TENSOR>(e, element, g, a, m[0], m[1], x);
        } else {
            fluid_point(g[0], a, m[0]);
        }
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++)
#pragma unroll
            for (int n = 0; n < 3; n++)
                flux[c][n][p] = g[c][n];
    }
    __syncthreads();
    if (!active)
        return;
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++) {
        f[c] = 0;
#pragma unroll
        for (int l = 0; l < ALONG; l++) {
            f[c] = fmaf(-d[ALONG * l + i], flux[c][0][row + l], f[c]);
            f[c] = fmaf(-d[ALONG * l + j], flux[c][1][column + ALONG * l], f[c]);
            f[c] = fmaf(-d[ALONG * l + k], flux[c][2][pillar + FACE * l], f[c]);
        }
        if (ph.force == nullptr)
            ph.part[c * ph.stride + (ptrdiff_t)element * PADDED + p] = f[c];
        else if (ph.atomic)
            atomicAdd(ph.force + (ptrdiff_t)c * ph.points + at, f[c]);
        else
            ph.force[(ptrdiff_t)c * ph.points + at] += f[c];
    }
}

struct loads { /* through the caches of global memory */
    explicit loads(const sem3d_gpu *, int) {}
    __device__ float displacement(const sem3d_gpu_phase &ph, int c, int at) const { return ph.u[c][at]; }
    __device__ float medium(const sem3d_gpu_elements &e, ptrdiff_t at) const { return __ldg(e.medium + at); }
};

template <int COMPONENTS, sem3d_shape SHAPE, int LANES, bool TENSOR, class LOADS>
int launch(sem3d_gpu *o, const int *list, int n) {
    const int fluid = COMPONENTS == 1;
    element<COMPONENTS, SHAPE, LANES, TENSOR, LOADS>
        <<<(unsigned)n, PADDED, 0, o->queue.stream>>>(o->phase[fluid], LOADS(o, fluid), list);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

template <sem3d_shape SHAPE, bool TENSOR, class LOADS> int launch_solid(sem3d_gpu *o, const int *list, int n) {
    const sem3d_gpu_elements &e = o->phase[0].e;
    return e.mechanisms == 0  ? launch<3, SHAPE, 0, TENSOR, LOADS>(o, list, n)
           : e.few == nullptr ? launch<3, SHAPE, PADDED, TENSOR, LOADS>(o, list, n)
                              : launch<3, SHAPE, SEM3D_FEW, TENSOR, LOADS>(o, list, n);
}

template <sem3d_shape SHAPE, class LOADS> int launch_shape(sem3d_gpu *o, int fluid, const int *list, int n) {
    if (fluid)
        return launch<1, SHAPE, 0, false, LOADS>(o, list, n);
    return o->phase[0].e.tensor == nullptr ? launch_solid<SHAPE, false, LOADS>(o, list, n)
                                           : launch_solid<SHAPE, true, LOADS>(o, list, n);
}

} // namespace sem3d_gpu_plain
