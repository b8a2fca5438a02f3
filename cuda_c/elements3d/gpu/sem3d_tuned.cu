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
#include "gpu_follow.cuh"
#include "sem3d_gpu_point.cuh"

using namespace sem3d_gpu_point;

enum {
    WARP = 32,
    BRICK = SEM3D_PATTERN_BRICK,
    THREADS = WARP * BRICK,
    LINES = (1 << FACE) - 1, /* the threads of a warp that have a line */
    OWN = PADDED,
    ROOM = BRICK * (int)POINTS,
    APART = BRICK * (int)OWN, /* from one component to the next */
    Y_FACE = FACE + 1,        /* in y, where lines along eta would meet in banks of shared memory otherwise */
    Y_OWN = 4 * Y_FACE + FACE,
    Y_APART = BRICK * (int)Y_OWN
};

struct line { /* of a thread: where it stands in its element */
    int lane, i, j;
    bool active;
};

/* Shared memory of a brick: numbers of each of its elements along xi and eta. */
template <int COMPONENTS> struct brick_lines { float x[COMPONENTS][APART], y[COMPONENTS][Y_APART]; };

template <int COMPONENTS> struct own_lines { /* those of a warp's element */
    float (*x)[APART], (*y)[Y_APART];
    __device__ __forceinline__ own_lines(brick_lines<COMPONENTS> *all, int warp)
        : x((float (*)[APART])(all->x[0] + warp * (int)OWN)), y((float (*)[Y_APART])(all->y[0] + warp * (int)Y_OWN)) {}
};

static __device__ __forceinline__ int along_xi(const line &l, int m) { return FACE * l.j + ALONG * l.i + m; }
static __device__ __forceinline__ int y_along_xi(const line &l, int m) { return Y_FACE * l.j + ALONG * l.i + m; }
static __device__ __forceinline__ int y_along_eta(const line &l, int m) { return Y_FACE * l.j + ALONG * m + l.i; }
static __device__ __forceinline__ int y_along_zeta(const line &l, int m) { return Y_FACE * m + l.lane; }
static __device__ __forceinline__ int along_zeta(const line &l, int m) { return FACE * m + l.lane; }

/* Derivatives of displacements, which stand in y, into x (along xi) and y (along eta). */
template <int COMPONENTS>
static __device__ __forceinline__ void derive_lines(const own_lines<COMPONENTS> &w, const line &l) {
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++) {
        float in[ALONG], xi[ALONG], eta[ALONG];
#pragma unroll
        for (int m = 0; m < ALONG; m++)
            in[m] = w.y[c][y_along_xi(l, m)];
        derive(in, xi);
#pragma unroll
        for (int m = 0; m < ALONG; m++)
            in[m] = w.y[c][y_along_eta(l, m)];
        derive(in, eta);
        __syncwarp(LINES);
#pragma unroll
        for (int m = 0; m < ALONG; m++) {
            w.x[c][along_xi(l, m)] = xi[m];
            w.y[c][y_along_eta(l, m)] = eta[m];
        }
    }
    __syncwarp(LINES);
}

/* Fluxes in x and y become forces along their lines, in place. */
template <int COMPONENTS>
static __device__ __forceinline__ void gather_lines(const own_lines<COMPONENTS> &w, const line &l) {
    __syncwarp(LINES);
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
            in[m] = w.y[c][y_along_eta(l, m)];
        gather_back(in, out);
#pragma unroll
        for (int m = 0; m < ALONG; m++)
            w.y[c][y_along_eta(l, m)] = out[m];
    }
    __syncwarp(LINES);
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
        const float4 one = __ldg((const float4 *)b + 2 * c), two = __ldg((const float4 *)b + 2 * c + 1);
        x->xi[c] = fmaf(two.x, eta, one.y);
        x->xi_zeta[c] = fmaf(two.w, eta, two.z);
        x->eta[c] = fmaf(two.x, xi, one.z);
        x->eta_zeta[c] = fmaf(two.w, xi, two.y);
        x->zeta[c] = fmaf(fmaf(two.w, eta, two.z), xi, fmaf(two.y, eta, one.w));
    }
}

/* Cofactors at point k of the line; returns what the medium is multiplied by. */
template <sem3d_shape SHAPE>
static __device__ __forceinline__ float geometry_at(const sem3d_gpu_elements &e, int element, const line &l,
                                                    const line_map &map, int k, float a[3][3]) {
    if (SHAPE == SEM3D_TRILINEAR) {
        float x[3][3];
#pragma unroll
        for (int c = 0; c < 3; c++) {
            x[0][c] = 2 * k == ALONG - 1 ? map.xi[c] : fmaf(gll(k), map.xi_zeta[c], map.xi[c]);
            x[1][c] = 2 * k == ALONG - 1 ? map.eta[c] : fmaf(gll(k), map.eta_zeta[c], map.eta[c]);
            x[2][c] = map.zeta[c];
        }
        return cofactors(x, a);
    }
    const float *from =
        e.geometry + (ptrdiff_t)element * (SHAPE == SEM3D_STORED ? (int)SEM3D_COFACTORS * (int)PADDED : (int)SEM3D_MAP);
#pragma unroll
    for (int n = 0; n < SEM3D_COFACTORS; n++)
        a[n / 3][n % 3] = __ldg(from + (SHAPE == SEM3D_STORED ? n * PADDED + along_zeta(l, k) : n));
    return 1;
}

/* From derivatives, along zeta in z, to fluxes in the same places; those along zeta become forces. */
template <int COMPONENTS, sem3d_shape SHAPE, int MECHANISMS, int LANES, bool TENSOR>
static __device__ __forceinline__ void do_points(const sem3d_gpu_phase &ph, int element, const line &l,
                                                 const own_lines<COMPONENTS> &w, const float m[2][ALONG],
                                                 float z[COMPONENTS][ALONG]) {
    const sem3d_gpu_elements &e = ph.e;
    line_map map;
    if (SHAPE == SEM3D_TRILINEAR)
        map_line<SHAPE>(e, element, l, &map);
#pragma unroll
    for (int k = 0; k < ALONG; k++) {
        const int p = along_zeta(l, k);
        float a[3][3], d[COMPONENTS][3];
        const float by = geometry_at<SHAPE>(e, element, l, map, k, a);
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++) {
            d[c][0] = w.x[c][p];
            d[c][1] = w.y[c][y_along_zeta(l, k)];
            d[c][2] = z[c][k];
        }
        if constexpr (COMPONENTS == 3) {
            relaxation x = {};
            if (MECHANISMS != 0)
                x = relaxation_at<LANES>(e, element, p);
            solid_point<MECHANISMS, LANES, TENSOR>(e, element, d, a, by * m[0][k], by * m[1][k], x);
        } else {
            fluid_point(d[0], a, by * m[0][k]);
        }
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++) {
            w.x[c][p] = d[c][0];
            w.y[c][y_along_zeta(l, k)] = d[c][1];
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

/* The forces of a warp's element, into x of its lines; by the threads that have a line. */
template <int COMPONENTS, sem3d_shape SHAPE, int MECHANISMS, int LANES, bool TENSOR>
static __device__ __forceinline__ void do_element(const sem3d_gpu_phase &ph, int element, const line &l,
                                                  const own_lines<COMPONENTS> &w, const float *u, const int at[ALONG],
                                                  const float m[2][ALONG]) {
    float z[COMPONENTS][ALONG];
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++) {
        float in[ALONG];
#pragma unroll
        for (int k = 0; k < ALONG; k++)
            w.y[c][y_along_zeta(l, k)] = in[k] = u[c * (int)ROOM + at[k]];
        derive(in, z[c]);
    }
    __syncwarp(LINES);
    derive_lines(w, l);
    do_points<COMPONENTS, SHAPE, MECHANISMS, LANES, TENSOR>(ph, element, l, w, m, z);
    gather_lines(w, l);
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++)
#pragma unroll
        for (int k = 0; k < ALONG; k++) {
            const int p = along_zeta(l, k);
            w.x[c][p] = -(w.x[c][p] + w.y[c][y_along_zeta(l, k)] + z[c][k]);
        }
}

/* The forces that a word of a pattern's sums names, nobody's is 0, are f, or are added to it. */
template <int COMPONENTS, bool FIRST>
static __device__ __forceinline__ void add_word(unsigned word, const brick_lines<COMPONENTS> *w, float f[COMPONENTS]) {
    const float *one = (const float *)((const char *)w->x[0] + (word & 0xffff)),
                *two = (const float *)((const char *)w->x[0] + (word >> 16));
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++)
        f[c] = (FIRST ? one[c * (int)APART] : f[c] + one[c * (int)APART]) + two[c * (int)APART];
}

template <int COMPONENTS>
static __device__ __forceinline__ void sum_point(const sem3d_gpu_phase &ph, const sem3d_patterned &b, unsigned word,
                                                 const brick_lines<COMPONENTS> *w, float f[COMPONENTS]) {
    const unsigned *list = ph.sum + b.sum + (word >> 16);
    const bool listed = (word & 1) != 0;
    add_word<COMPONENTS, true>(listed ? __ldg(list) : word, w, f);
    if (!listed)
        return;
#pragma unroll 1
    for (int n = (int)(word >> 1 & 0x7fff); n > 1; n--)
        add_word<COMPONENTS, false>(__ldg(++list), w, f);
}

/* The displacements of a brick's points on their way to shared memory, u(ROOM,components): all are asked for before the
 * first is there. ROUNDS: points of one sort that a thread has, at most. */
template <int COMPONENTS, int ROUNDS> struct fetched {
    float inner[ROUNDS][COMPONENTS], outer[ROUNDS][COMPONENTS];

    __device__ __forceinline__ fetched(const sem3d_gpu_phase &ph, const sem3d_patterned &b) {
        const int *outers = ph.outer + b.outer + threadIdx.x;
        int at[ROUNDS];
#pragma unroll
        for (int r = 0; r < ROUNDS; r++)
            at[r] = threadIdx.x + r * THREADS < b.outers ? __ldg(outers + r * THREADS) : -1;
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++) {
            const float *u = ph.u[c] + b.inner + threadIdx.x;
#pragma unroll
            for (int r = 0; r < ROUNDS; r++)
                inner[r][c] = threadIdx.x + r * THREADS < b.inners ? u[r * THREADS] : 0;
        }
#pragma unroll
        for (int r = 0; r < ROUNDS; r++)
#pragma unroll
            for (int c = 0; c < COMPONENTS; c++)
                outer[r][c] = at[r] >= 0 ? ph.u[c][at[r]] : 0;
    }

    __device__ __forceinline__ void put(const sem3d_patterned &b, float *u) const {
        float *inners = u + threadIdx.x, *outers = inners + b.inners;
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
#pragma unroll
            for (int c = 0; c < COMPONENTS; c++) {
                if (threadIdx.x + r * THREADS < b.inners)
                    inners[c * (int)ROOM + r * THREADS] = inner[r][c];
                if (threadIdx.x + r * THREADS < b.outers)
                    outers[c * (int)ROOM + r * THREADS] = outer[r][c];
            }
        }
    }
};

/* Points need these when their forces are known. */
template <int COMPONENTS, int ROUNDS> struct moved {
    unsigned inner[ROUNDS], outer[ROUNDS]; /* words of sums */
    float gain[ROUNDS], v[ROUNDS][COMPONENTS];

    __device__ __forceinline__ moved(const sem3d_gpu_phase &ph, const sem3d_patterned &b) {
        const unsigned *sum = ph.sum + b.sum + threadIdx.x, *other = sum + b.inners;
        const float *gains = ph.gain + b.inner + threadIdx.x;
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
            const bool in = threadIdx.x + r * THREADS < b.inners;
            inner[r] = in ? __ldg(sum + r * THREADS) : 0;
            outer[r] = threadIdx.x + r * THREADS < b.outers ? __ldg(other + r * THREADS) : 0;
            gain[r] = in ? gains[r * THREADS] : 0;
        }
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++) {
            const float *from = ph.v[c] + b.inner + threadIdx.x;
#pragma unroll
            for (int r = 0; r < ROUNDS; r++)
                v[r][c] = threadIdx.x + r * THREADS < b.inners ? from[r * THREADS] : 0;
        }
    }
};

/* Points that the brick alone has move; the others' forces go to slots. */
template <int COMPONENTS, int ROUNDS>
static __device__ __forceinline__ void finish(const sem3d_gpu_phase &ph, const sem3d_patterned &b,
                                              const moved<COMPONENTS, ROUNDS> &x, const brick_lines<COMPONENTS> *w,
                                              const float *u) {
    const int thread = threadIdx.x;
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        if (thread + r * THREADS < b.inners) {
            float f[COMPONENTS];
            sum_point<COMPONENTS>(ph, b, x.inner[r], w, f);
            if (__float_as_int(x.gain[r]) < 0) {
                float *kept = ph.kept + ~__float_as_int(x.gain[r]);
#pragma unroll
                for (int c = 0; c < COMPONENTS; c++)
                    kept[(ptrdiff_t)c * ph.specials] = f[c];
            } else {
#pragma unroll
                for (int c = 0; c < COMPONENTS; c++) {
                    const float v = fmaf(x.gain[r], f[c], x.v[r][c]);
                    (ph.v[c] + b.inner + thread)[r * THREADS] = v;
                    (ph.u[c] + b.inner + thread)[r * THREADS] =
                        fmaf(ph.dt, v, (u + thread)[c * (int)ROOM + r * THREADS]);
                }
            }
        }
        if (thread + r * THREADS < b.outers) {
            float f[COMPONENTS];
            sum_point<COMPONENTS>(ph, b, x.outer[r], w, f);
#pragma unroll
            for (int c = 0; c < COMPONENTS; c++)
                (ph.part + c * ph.stride + b.outer + thread)[r * THREADS] = f[c];
        }
    }
}

/* The medium of a line of points, with their weights. */
template <int MEDIA>
static __device__ __forceinline__ void medium_of(const sem3d_gpu_elements &e, int element, const line &l,
                                                 float m[2][ALONG]) {
    if (e.by_point) {
        const float *from = e.medium + (ptrdiff_t)element * (MEDIA * (int)PADDED) + l.lane;
#pragma unroll
        for (int n = 0; n < MEDIA; n++)
#pragma unroll
            for (int k = 0; k < ALONG; k++)
                m[n][k] = __ldg(from + n * (int)PADDED + k * (int)FACE);
        return;
    }
    const float wi = l.i == 2               ? weight(2)
                     : l.i == 0 || l.i == 4 ? weight(0)
                                            : weight(1),
                wj = l.j == 2               ? weight(2)
                     : l.j == 0 || l.j == 4 ? weight(0)
                                            : weight(1);
#pragma unroll
    for (int n = 0; n < MEDIA; n++) {
        const float all = wi * wj * __ldg(e.medium + (ptrdiff_t)element * MEDIA + n);
#pragma unroll
        for (int k = 0; k < ALONG; k++)
            m[n][k] = weight(k) * all;
    }
}

/* n numbers that are wanted later begin their way from memory to its cache. */
static __device__ __forceinline__ void ask_for(const void *from, int n) {
#if __CUDA_ARCH__ >= 900
    const size_t at = __cvta_generic_to_global(from), first = at & ~(size_t)15;
    const int bytes = (int)(at - first) + n * (int)sizeof(float);
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(first), "r"((bytes + 15) & ~15));
#else
    for (int m = 0; m < n; m += 8)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global((const float *)from + m)));
#endif
}

/* A brick reads these first. */
template <int COMPONENTS, sem3d_shape SHAPE>
static __device__ __forceinline__ void ask_for_brick(const sem3d_gpu_phase &ph, const sem3d_patterned b) {
    const sem3d_gpu_elements &e = ph.e;
    constexpr int media = COMPONENTS == 3 ? 2 : 1;
    const ptrdiff_t element = b.first - e.from;
    ask_for(ph.outer + b.outer, b.outers);
    if (e.by_point)
        ask_for(e.medium + element * (media * (int)PADDED), b.elements * media * (int)PADDED);
    if (SHAPE == SEM3D_TRILINEAR)
        ask_for(e.geometry + element * (int)SEM3D_MAP, b.elements * (int)SEM3D_MAP);
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++) {
        ask_for(ph.u[c] + b.inner, b.inners);
        ask_for(ph.v[c] + b.inner, b.inners);
    }
}

template <int COMPONENTS, sem3d_shape SHAPE, int MECHANISMS, int LANES, int ROUNDS, bool TENSOR>
static __global__ void __launch_bounds__(THREADS, SHAPE == SEM3D_STORED || MECHANISMS != 0 || TENSOR ? 3 : 4)
    brick(const __grid_constant__ sem3d_gpu_phase ph) {
    extern __shared__ float shared[];
    brick_lines<COMPONENTS> *w = (brick_lines<COMPONENTS> *)shared;
    float *u = (float *)(w + 1);
    gpu_follow();
    const sem3d_patterned b = ph.brick[blockIdx.x];
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const line l = {lane, lane % ALONG, lane / ALONG, lane < FACE && warp < b.elements};
    const int element = b.first + warp - ph.e.from;
    int at[ALONG] = {};
    if (MECHANISMS != 0 && lane == 0 && warp < b.elements)
        ask_for(ph.e.memory + (ptrdiff_t)element * (6 * ph.e.mechanisms * LANES), 6 * ph.e.mechanisms * LANES);
    if (threadIdx.x < COMPONENTS)
        w->x[threadIdx.x][SEM3D_NOBODY / sizeof(float)] = 0;
    float m[2][ALONG] = {};
    {
        const fetched<COMPONENTS, ROUNDS> points(ph, b);
        if (l.active) {
            const uint16_t *local = ph.local + b.local + (warp * (int)PADDED + lane);
#pragma unroll
            for (int k = 0; k < ALONG; k++)
                at[k] = __ldg(local + FACE * k);
            medium_of<COMPONENTS == 3 ? 2 : 1>(ph.e, element, l, m);
        }
        if (threadIdx.x == THREADS - 1 && (int)blockIdx.x + ph.ahead < ph.bricks)
            ask_for_brick<COMPONENTS, SHAPE>(ph, ph.brick[blockIdx.x + ph.ahead]);
        points.put(b, u);
    }
    __syncthreads();
    if (l.active)
        do_element<COMPONENTS, SHAPE, MECHANISMS, LANES, TENSOR>(ph, element, l, own_lines<COMPONENTS>(w, warp), u, at,
                                                                 m);
    const sem3d_patterned again = ph.brick[blockIdx.x]; /* rather than in registers all the time */
    const moved<COMPONENTS, ROUNDS> x(ph, again);
    __syncthreads();
    finish<COMPONENTS, ROUNDS>(ph, again, x, w, u);
}

template <int COMPONENTS, sem3d_shape SHAPE, int MECHANISMS, int LANES, int ROUNDS, bool TENSOR>
static int launch(sem3d_gpu *o, const sem3d_gpu_phase &ph) {
    const auto kernel = brick<COMPONENTS, SHAPE, MECHANISMS, LANES, ROUNDS, TENSOR>;
    const size_t bytes = sizeof(brick_lines<COMPONENTS>) + (size_t)COMPONENTS * (size_t)ROOM * sizeof(float);
    int blocks = 0, most = 0;
    CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerMultiprocessor, o->queue.device));
    CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, THREADS, bytes));
    // what the blocks of a processor do not need of shared memory is cache
    const double share = 100.0 * blocks * ((double)bytes + 1024) / most;
    CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  share < 99 ? (int)share + 1 : 100));
    return gpu_launch(&o->queue, o->queue.close, {(unsigned)ph.bricks, THREADS, bytes}, kernel, ph);
}

template <int COMPONENTS, sem3d_shape SHAPE, int MECHANISMS, int LANES>
static int launch_rounds(sem3d_gpu *o, const sem3d_gpu_phase &ph) {
    return ph.most <= 2 * (int)THREADS ? launch<COMPONENTS, SHAPE, MECHANISMS, LANES, 2, false>(o, ph)
                                       : launch<COMPONENTS, SHAPE, MECHANISMS, LANES, 4, false>(o, ph);
}

/* Rock that may be anisotropic. */
template <sem3d_shape SHAPE> static int launch_tensor(sem3d_gpu *o, const sem3d_gpu_phase &ph) {
    return ph.e.mechanisms == 0  ? launch<3, SHAPE, 0, PADDED, 4, true>(o, ph)
           : ph.e.few == nullptr ? launch<3, SHAPE, SOME, PADDED, 4, true>(o, ph)
                                 : launch<3, SHAPE, SOME, SEM3D_FEW, 4, true>(o, ph);
}

template <sem3d_shape SHAPE> static int launch_shape(sem3d_gpu *o, const sem3d_gpu_phase &ph, int fluid) {
    const int mechanisms = ph.e.mechanisms;
    if (fluid)
        return launch_rounds<1, SHAPE, 0, PADDED>(o, ph);
    if (ph.e.tensor != nullptr)
        return launch_tensor<SHAPE>(o, ph);
    if (mechanisms == 0)
        return launch_rounds<3, SHAPE, 0, PADDED>(o, ph);
    if (ph.e.few != nullptr)
        return mechanisms == 3 ? launch_rounds<3, SHAPE, 3, SEM3D_FEW>(o, ph)
                               : launch_rounds<3, SHAPE, SOME, SEM3D_FEW>(o, ph);
    return mechanisms == 3 ? launch_rounds<3, SHAPE, 3, PADDED>(o, ph) : launch_rounds<3, SHAPE, SOME, PADDED>(o, ph);
}

static int forces(sem3d_gpu *o, const sem3d_gpu_phase *ph, int fluid, const int *, int) {
    switch (o->shape) {
    case SEM3D_STORED:
        return launch_shape<SEM3D_STORED>(o, *ph, fluid);
    case SEM3D_AFFINE:
        return launch_shape<SEM3D_AFFINE>(o, *ph, fluid);
    default:
        return launch_shape<SEM3D_TRILINEAR>(o, *ph, fluid);
    }
}

static const sem3d_gpu_kind kind = {.bricks = 1, .computes = 1, .forces = forces};

SEM3D_VARIANT(tuned) = {"tuned",
                        "GPU: bricks of elements in shared memory, geometry computed, points inside moved at once", 1,
                        &sem3d_gpu_brick_verbs.common, &kind};
