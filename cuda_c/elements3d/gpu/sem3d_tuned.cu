/* The `tuned` variant: a block has a brick of 8 elements at most, a warp an element, 25 of its threads a line of five
 * points along zeta each.
 *
 * The displacements of the brick's points come to shared memory once. Each warp takes those of its element, makes
 * derivatives along zeta in registers, along xi and eta by lines in shared memory of its own, then fluxes, then forces
 * the same way back. Forces are added by the points of the brick, in the order of elements, as the brick's pattern
 * tells (sem3d_patterns.h); points that no other brick has move at once, the others' sums go to slots, which are added
 * in the order of bricks.
 *
 *   an element of 8 nodes, bricks of 2 x 2 x 2: 96 bytes of its map (affine: 36), 1 kB of medium where that differs
 *   from point to point, some 6.4 kB in all */
#include <cuda_pipeline.h>

#include "sem3d_gpu_point.cuh"

using namespace sem3d_gpu_point;

enum { WARP = 32, BRICK = SEM3D_PATTERN_BRICK, THREADS = WARP * BRICK, OWN = PADDED };

struct line { /* of a thread: where it stands in its element */
    int lane, i, j;
    bool active;
};

/* What a warp has in shared memory: numbers of its element along xi and eta. */
template <int COMPONENTS> struct own_lines { float x[COMPONENTS][OWN], y[COMPONENTS][OWN]; };

static __device__ __forceinline__ int along_xi(const line &l, int m) { return FACE * l.j + ALONG * l.i + m; }
static __device__ __forceinline__ int along_eta(const line &l, int m) { return FACE * l.j + ALONG * m + l.i; }
static __device__ __forceinline__ int along_zeta(const line &l, int m) { return FACE * m + l.lane; }

/* Derivatives of displacements, which stand in y, into x (along xi) and y (along eta). */
template <int COMPONENTS> static __device__ __forceinline__ void derive_lines(own_lines<COMPONENTS> &w, const line &l) {
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++) {
        float in[ALONG], xi[ALONG], eta[ALONG];
        if (l.active) {
#pragma unroll
            for (int m = 0; m < ALONG; m++)
                in[m] = w.y[c][along_xi(l, m)];
            derive(in, xi);
#pragma unroll
            for (int m = 0; m < ALONG; m++)
                in[m] = w.y[c][along_eta(l, m)];
            derive(in, eta);
        }
        __syncwarp();
        if (l.active) {
#pragma unroll
            for (int m = 0; m < ALONG; m++) {
                w.x[c][along_xi(l, m)] = xi[m];
                w.y[c][along_eta(l, m)] = eta[m];
            }
        }
    }
    __syncwarp();
}

/* Fluxes in x and y become forces along their lines, in place. */
template <int COMPONENTS> static __device__ __forceinline__ void gather_lines(own_lines<COMPONENTS> &w, const line &l) {
    __syncwarp();
    if (l.active) {
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++) {
            float in[ALONG], out[ALONG];
#pragma unroll
            for (int m = 0; m < ALONG; m++)
                in[m] = w.x[c][along_xi(l, m)];
            gather_back(in, out);
#pragma unroll
            for (int m = 0; m < ALONG; m++)
                w.x[c][along_xi(l, m)] = out[m];
#pragma unroll
            for (int m = 0; m < ALONG; m++)
                in[m] = w.y[c][along_eta(l, m)];
            gather_back(in, out);
#pragma unroll
            for (int m = 0; m < ALONG; m++)
                w.y[c][along_eta(l, m)] = out[m];
        }
    }
    __syncwarp();
}

/* The map of an element along a line of points: dx/dxi = xi + zeta xi_zeta, dx/deta likewise, dx/dzeta is the same. */
struct line_map {
    float xi[3], xi_zeta[3], eta[3], eta_zeta[3], zeta[3];
};

template <sem3d_shape SHAPE>
static __device__ __forceinline__ void map_line(const sem3d_gpu_elements &e, int element, const line &l, line_map *x) {
    const float *b = e.geometry + (ptrdiff_t)element * SEM3D_MAP;
    const float xi = l.i == 2   ? 0
                     : l.i == 0 ? -1
                     : l.i == 4 ? 1
                     : l.i == 1 ? gll(1)
                                : gll(3),
                eta = l.j == 2   ? 0
                      : l.j == 0 ? -1
                      : l.j == 4 ? 1
                      : l.j == 1 ? gll(1)
                                 : gll(3);
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const float xy = __ldg(b + 9 + c), yz = __ldg(b + 12 + c), xz = __ldg(b + 15 + c), all = __ldg(b + 18 + c);
        x->xi[c] = fmaf(xy, eta, __ldg(b + c));
        x->xi_zeta[c] = fmaf(all, eta, xz);
        x->eta[c] = fmaf(xy, xi, __ldg(b + 3 + c));
        x->eta_zeta[c] = fmaf(all, xi, yz);
        x->zeta[c] = fmaf(fmaf(all, eta, xz), xi, fmaf(yz, eta, __ldg(b + 6 + c)));
    }
}

/* Cofactors at point k of the line; returns what the medium is multiplied by. wij: of its weight, 1 where the medium
 * has that. */
template <sem3d_shape SHAPE>
static __device__ __forceinline__ float geometry_at(const sem3d_gpu_elements &e, int element, const line &l,
                                                    const line_map &map, float wij, int k, float a[3][3]) {
    const float w = e.by_point ? 1 : wij * weight(k);
    if (SHAPE == SEM3D_TRILINEAR) {
        float x[3][3];
#pragma unroll
        for (int c = 0; c < 3; c++) {
            x[0][c] = fmaf(gll(k), map.xi_zeta[c], map.xi[c]);
            x[1][c] = fmaf(gll(k), map.eta_zeta[c], map.eta[c]);
            x[2][c] = map.zeta[c];
        }
        return w * cofactors(x, a);
    }
    const float *from =
        e.geometry + (ptrdiff_t)element * (SHAPE == SEM3D_STORED ? (int)SEM3D_COFACTORS * (int)PADDED : (int)SEM3D_MAP);
#pragma unroll
    for (int n = 0; n < SEM3D_COFACTORS; n++)
        a[n / 3][n % 3] = __ldg(from + (SHAPE == SEM3D_STORED ? n * PADDED + along_zeta(l, k) : n));
    return SHAPE == SEM3D_STORED ? 1 : w;
}

/* From derivatives, along zeta in z, to fluxes in the same places; those along zeta become forces. */
template <int COMPONENTS, sem3d_shape SHAPE, bool RELAXES>
static __device__ __forceinline__ void do_points(const sem3d_gpu_phase &ph, int element, const line &l,
                                                 own_lines<COMPONENTS> &w, const float m[2][ALONG],
                                                 float z[COMPONENTS][ALONG]) {
    const sem3d_gpu_elements &e = ph.e;
    const float wi = l.i == 2               ? weight(2)
                     : l.i == 0 || l.i == 4 ? weight(0)
                                            : weight(1),
                wj = l.j == 2               ? weight(2)
                     : l.j == 0 || l.j == 4 ? weight(0)
                                            : weight(1);
    line_map map;
    if (SHAPE == SEM3D_TRILINEAR)
        map_line<SHAPE>(e, element, l, &map);
#pragma unroll
    for (int k = 0; k < ALONG; k++) {
        const int p = along_zeta(l, k);
        float a[3][3], d[COMPONENTS][3];
        const float by = geometry_at<SHAPE>(e, element, l, map, wi * wj, k, a);
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++) {
            d[c][0] = w.x[c][p];
            d[c][1] = w.y[c][p];
            d[c][2] = z[c][k];
        }
        if constexpr (COMPONENTS == 3) {
            const int step = e.shares_by_point ? PADDED : 1;
            const relaxation x = {e.mechanisms, step, e.decay,
                                  e.share + (ptrdiff_t)element * (2 * e.mechanisms * step) +
                                      (e.shares_by_point ? p : 0),
                                  e.memory + (ptrdiff_t)element * (6 * e.mechanisms * PADDED) + p};
            solid_point<RELAXES>(d, a, by * m[0][k], by * m[1][k], x);
        } else {
            fluid_point(d[0], a, by * m[0][k]);
        }
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++) {
            w.x[c][p] = d[c][0];
            w.y[c][p] = d[c][1];
            z[c][k] = d[c][2];
        }
    }
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++) {
        float out[ALONG];
        gather_back(z[c], out);
#pragma unroll
        for (int k = 0; k < ALONG; k++)
            z[c][k] = out[k];
    }
}

/* The forces of a warp's element, into x of its lines. */
template <int COMPONENTS, sem3d_shape SHAPE, bool RELAXES>
static __device__ __forceinline__ void do_element(const sem3d_gpu_phase &ph, int element, const line &l,
                                                  own_lines<COMPONENTS> &w, const float *u, const int at[ALONG],
                                                  const float m[2][ALONG]) {
    float z[COMPONENTS][ALONG];
#pragma unroll
    for (int c = 0; c < COMPONENTS && l.active; c++) {
        float in[ALONG];
#pragma unroll
        for (int k = 0; k < ALONG; k++)
            w.y[c][along_zeta(l, k)] = in[k] = u[c * ph.room + at[k]];
        derive(in, z[c]);
    }
    __syncwarp();
    derive_lines(w, l);
    if (l.active)
        do_points<COMPONENTS, SHAPE, RELAXES>(ph, element, l, w, m, z);
    gather_lines(w, l);
#pragma unroll
    for (int c = 0; c < COMPONENTS && l.active; c++)
#pragma unroll
        for (int k = 0; k < ALONG; k++) {
            const int p = along_zeta(l, k);
            w.x[c][p] = -(w.x[c][p] + w.y[c][p] + z[c][k]);
        }
}

/* What a word of a pattern's sums names, added to f. */
template <int COMPONENTS>
static __device__ __forceinline__ void add_word(unsigned word, const own_lines<COMPONENTS> *w, float f[COMPONENTS]) {
#pragma unroll
    for (int n = 0; n < 3; n++) {
        const unsigned from = word >> (10 * n) & 1023;
        if (from == SEM3D_NOBODY)
            continue;
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++)
            f[c] += w[from / PADDED].x[c][from % PADDED];
    }
}

template <int COMPONENTS>
static __device__ __forceinline__ void sum_point(const sem3d_gpu_phase &ph, const sem3d_patterned &b, int q,
                                                 const own_lines<COMPONENTS> *w, float f[COMPONENTS]) {
    const unsigned *sum = ph.sum + b.sum, word = __ldg(sum + q);
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++)
        f[c] = 0;
    if ((word >> 31) == 0) {
        add_word<COMPONENTS>(word, w, f);
        return;
    }
    const int words = (int)(word >> 16 & 0x7fff);
    for (int n = 0; 3 * n < words; n++)
        add_word<COMPONENTS>(__ldg(sum + (word & 0xffff) + n), w, f);
}

/* The displacements of a brick's points on their way to shared memory, u(room,components). */
template <int COMPONENTS>
static __device__ __forceinline__ void fetch(const sem3d_gpu_phase &ph, const sem3d_patterned &b, float *u) {
    for (int q = threadIdx.x; q < b.inners; q += THREADS)
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++)
            __pipeline_memcpy_async(u + c * ph.room + q, ph.u[c] + b.inner + q, sizeof(float));
    for (int q = threadIdx.x; q < b.outers; q += THREADS) {
        const int at = __ldg(ph.outer + b.outer + q);
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++)
            __pipeline_memcpy_async(u + c * ph.room + b.inners + q, ph.u[c] + at, sizeof(float));
    }
    __pipeline_commit();
}

/* Points that the brick alone has move; the others' forces go to slots. */
template <int COMPONENTS>
static __device__ __forceinline__ void finish(const sem3d_gpu_phase &ph, const sem3d_patterned &b,
                                              const own_lines<COMPONENTS> *w, const float *u) {
    for (int q = threadIdx.x; q < b.inners; q += THREADS) {
        const int point = b.inner + q;
        const float gain = ph.gain[point];
        float f[COMPONENTS], v[COMPONENTS];
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++)
            v[c] = ph.v[c][point];
        sum_point<COMPONENTS>(ph, b, q, w, f);
        const int bits = __float_as_int(gain);
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++) {
            if (bits < 0) {
                ph.kept[(ptrdiff_t)c * ph.specials + ~bits] = f[c];
                continue;
            }
            v[c] = fmaf(gain, f[c], v[c]);
            ph.v[c][point] = v[c];
            ph.u[c][point] = fmaf(ph.dt, v[c], u[c * ph.room + q]);
        }
    }
    for (int q = threadIdx.x; q < b.outers; q += THREADS) {
        float f[COMPONENTS];
        sum_point<COMPONENTS>(ph, b, b.inners + q, w, f);
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++)
            ph.part[c * ph.stride + b.outer + q] = f[c];
    }
}

template <int COMPONENTS, sem3d_shape SHAPE, bool RELAXES>
static __global__ void __launch_bounds__(THREADS, SHAPE == SEM3D_STORED || RELAXES ? 3 : 4)
    brick(const __grid_constant__ sem3d_gpu_phase ph) {
    extern __shared__ float shared[];
    own_lines<COMPONENTS> *w = (own_lines<COMPONENTS> *)shared;
    float *u = (float *)(w + BRICK);
    const sem3d_patterned b = ph.brick[blockIdx.x];
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const line l = {lane, lane % ALONG, lane / ALONG, lane < FACE && warp < b.elements};
    const int element = b.first + warp;
    int at[ALONG] = {};
    float m[2][ALONG] = {};
    fetch<COMPONENTS>(ph, b, u);
    if (l.active) {
        constexpr int media = COMPONENTS == 3 ? 2 : 1;
        const sem3d_gpu_elements &e = ph.e;
        const int step = e.by_point ? PADDED : 1;
        const float *medium = e.medium + (ptrdiff_t)element * (media * step);
#pragma unroll
        for (int k = 0; k < ALONG; k++) {
            at[k] = __ldg(ph.local + b.local + warp * PADDED + along_zeta(l, k));
#pragma unroll
            for (int n = 0; n < media; n++)
                m[n][k] = __ldg(medium + n * step + (e.by_point ? along_zeta(l, k) : 0));
        }
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    do_element<COMPONENTS, SHAPE, RELAXES>(ph, element, l, w[warp], u, at, m);
    __syncthreads();
    finish<COMPONENTS>(ph, b, w, u);
}

template <int COMPONENTS, sem3d_shape SHAPE, bool RELAXES> static int launch(sem3d_gpu *o) {
    const sem3d_gpu_phase &ph = o->phase[COMPONENTS == 1];
    const size_t bytes = BRICK * sizeof(own_lines<COMPONENTS>) + (size_t)COMPONENTS * (size_t)ph.room * sizeof(float);
    CUDA_TRY(cudaFuncSetAttribute(brick<COMPONENTS, SHAPE, RELAXES>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  (int)bytes));
    CUDA_TRY(cudaFuncSetAttribute(brick<COMPONENTS, SHAPE, RELAXES>, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared));
    brick<COMPONENTS, SHAPE, RELAXES><<<(unsigned)ph.bricks, THREADS, bytes, o->queue.stream>>>(ph);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

template <sem3d_shape SHAPE> static int launch_shape(sem3d_gpu *o, int fluid) {
    if (fluid)
        return launch<1, SHAPE, false>(o);
    return o->phase[0].e.mechanisms > 0 ? launch<3, SHAPE, true>(o) : launch<3, SHAPE, false>(o);
}

static int forces(sem3d_gpu *o, int fluid, const int *, int) {
    switch (o->shape) {
    case SEM3D_STORED:
        return launch_shape<SEM3D_STORED>(o, fluid);
    case SEM3D_AFFINE:
        return launch_shape<SEM3D_AFFINE>(o, fluid);
    default:
        return launch_shape<SEM3D_TRILINEAR>(o, fluid);
    }
}

static const sem3d_gpu_kind kind = {.bricks = 1, .computes = 1, .forces = forces};

SEM3D_VARIANT(tuned) = {"tuned",
                        "GPU: bricks of elements in shared memory, geometry computed, points inside moved at once", 1,
                        &sem3d_gpu_brick_verbs.common, &kind};
