/* The `tuned` variant: a thread marches down z with two cells side by side.
 *
 *         x ->                   Fields differentiated along z go through a queue of 2L vectors, rows in front and
 *     .. [c c] ..   queue        behind come through the cache, the cells to the left and right as pairs. No shared
 *     .. [c c] ..     |          memory and no barrier: warps run ahead of each other, and a thread has all its loads
 *     .. [c c] ..     v z        of a plane under way before it needs one.
 *
 * In the other variants a store to a field stands before loads of memory variables, and the load has to wait: nobody
 * told the compiler that they never meet. Here all that a plane needs is loaded before the first store. Numbers that
 * a thread reads for itself alone pass by the first cache, where neighbours' rows are. Columns are short: the last
 * blocks of a launch leave few processors idle. All blocks are one launch, in the order of memory, whatever layers they
 * lie in. */
#include "fd3d_tuned.cuh"

using namespace fd3d_tuned;

enum { BLOCK = 128, ALIGN = 32 }; // threads; cells
enum { X = 1, Y = 2, Z = 4, NONE = 0, ANY = X | Y | Z };

// --- threads ---------------------------------------------------------------------------------------------------------

struct march {
    int i, j, k, to, at; // the first of the thread's cells; plane behind the last
    int y, z;
    unsigned mask; // which of them lie in the box
    int axes;      // along which the block's cells may lie in layers
};

// False: the thread has nothing to do.
static __device__ bool begin(const fd3d_gpu_grid &g, const fd3d_gpu_boxes &boxes, march &m) {
    int block[3];
    const fd3d_gpu_box &b = my_box(boxes, block);
    const int deep = (b.hi[2] - b.lo[2] + b.blocks[2] - 1) / b.blocks[2];
    const int first = b.lo[0] / ALIGN * ALIGN + block[0] * blockDim.x * V;
    m.axes = b.axes | (first < b.lean[0] || first + (int)blockDim.x * V > b.lean[1] ? X : NONE);
    m.i = first + threadIdx.x * V;
    m.j = b.lo[1] + block[1] * blockDim.y + threadIdx.y;
    m.k = b.lo[2] + block[2] * deep;
    m.to = min(m.k + deep, b.hi[2]);
    m.y = (int)g.y;
    m.z = (int)g.z;
    m.at = m.k * m.z + m.j * m.y + m.i;
    m.mask = 0;
#pragma unroll
    for (int n = 0; n < V; n++)
        if (m.i + n >= b.lo[0] && m.i + n < b.hi[0])
            m.mask |= 1u << n;
    return m.mask != 0 && m.j < b.hi[1];
}

// Memory variables of the layers that the thread's cells lie in, WHAT as in fd3d_gpu_grid. AXES: bit a is axis a; cells
// lie in layers along no other, and where it is one and not x, in its layer for certain.
template <int WHAT, int AXES> struct layers {
    vec psi[3][3]; // along the axis, of the component
    int at[3];
    bool in[3];

    __device__ layers(const fd3d_gpu_grid &g, const march &m) {
        const int last = min(m.i + V, g.nx) - 1; // behind the last cell there is no layer, and no room for one
        in[0] = (AXES & X) != 0 && (m.i < g.low[0] || last >= g.high[0]);
        in[1] = (AXES & Y) != 0 && (AXES == Y || m.j < g.low[1] || m.j >= g.high[1]);
        const int x = m.i < g.low[0] ? m.i : m.i - g.shift[0], y = m.j < g.low[1] ? m.j : m.j - g.shift[1];
        at[0] = (m.k * g.ny + m.j) * g.deep[0] + x;
        at[1] = (m.k * g.deep[1] + y) * m.y + m.i;
    }
    __device__ void fetch(const fd3d_gpu_grid &g, const march &m) {
        in[2] = (AXES & Z) != 0 && (AXES == Z || m.k < g.low[2] || m.k >= g.high[2]);
        at[2] = ((m.k < g.low[2] ? m.k : m.k - g.shift[2]) * g.ny + m.j) * m.y + m.i;
#pragma unroll
        for (int a = 0; a < 3; a++)
#pragma unroll
            for (int c = 0; c < 3; c++) {
                psi[a][c] = {};
                if (in[a])
                    psi[a][c] = load_own(g.psi[WHAT][a][c] + at[a]);
            }
    }
    __device__ void next(const fd3d_gpu_grid &g, const march &m) {
        at[0] += g.ny * g.deep[0];
        at[1] += g.deep[1] * m.y;
    }

    template <int A> __device__ void pass(const fd3d_gpu_grid &g, const march &m, float (&d)[3][3][V]) {
        if (!in[A])
            return;
        const int n = A == 0 ? g.nx : A == 1 ? g.ny : g.nz, first = A == 0 ? m.i : A == 1 ? m.j : m.k;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const bool half = (WHAT == 0) == (c == A);
            const float *profile = g.profile[A] + (half ? 3 * n : 0) + first;
            if (A == 0) {
#pragma unroll
                for (int e = 0; e < V; e++)
                    if (first + e < g.low[0] || (first + e >= g.high[0] && first + e < n))
                        DER_PML(d[c][A][e], psi[A][c].at[e], __ldg(profile + e), __ldg(profile + n + e),
                                __ldg(profile + 2 * n + e), 0.0f);
            } else {
                const float a = __ldg(profile), b = __ldg(profile + n), ik = __ldg(profile + 2 * n);
#pragma unroll
                for (int e = 0; e < V; e++)
                    DER_PML(d[c][A][e], psi[A][c].at[e], a, b, ik, 0.0f);
            }
        }
#pragma unroll
        for (int c = 0; c < 3; c++)
            store(g.psi[WHAT][A][c] + at[A], psi[A][c], m.mask);
    }
};

// Weights of differences of the thread's cells along an axis, in blocks as above; narrow: along layers of x and y.
template <int AXES, bool NARROWS> struct reaches {
    static constexpr bool MAY = (AXES & (X | Y)) != 0;
    const float (&w)[D3_MAX];
    bool in_x[V], in_y;

    __device__ reaches(const fd3d_gpu_grid &g, const march &m) : w(g.w) {
        in_y = (AXES & Y) != 0 && (AXES == Y || m.j < g.low[1] || m.j >= g.high[1]);
#pragma unroll
        for (int n = 0; n < V; n++)
            in_x[n] = (AXES & X) != 0 && (m.i + n < g.low[0] || m.i + n >= g.high[0]);
    }
    template <int A> __device__ vec_weights<MAY> along() const {
        static_assert(V == 2, "weights of two cells");
        if constexpr (MAY)
            return {{{w, (A != 0 && in_x[0]) || (A != 1 && in_y)}, {w, (A != 0 && in_x[1]) || (A != 1 && in_y)}}};
        else
            return {w};
    }
};
// Apart, or one of the kernels that have no narrow ones spills registers (CUDA 13.0, sm_90).
template <int AXES> struct reaches<AXES, false> {
    const fd3d_gpu_grid &g;
    __device__ reaches(const fd3d_gpu_grid &grid, const march &) : g(grid) {}
    template <int A> __device__ vec_weights<false> along() const { return {g.w}; }
};

// --- velocities ------------------------------------------------------------------------------------------------------

template <int L, int AXES, bool NARROWS> static __device__ void march_velocity(const fd3d_gpu_grid &g, march m) {
    queue<L> xz(g.f[FD3D_SXZ] + m.at, m.z, 1 - L), yz(g.f[FD3D_SYZ] + m.at, m.z, 1 - L),
        zz(g.f[FD3D_SZZ] + m.at, m.z, -L);
    vec above = load(g.m.rho + m.at - m.z);
    layers<0, AXES> layer(g, m);
    const reaches<AXES, NARROWS> reach(g, m);
    const auto wx = reach.template along<0>(), wy = reach.template along<1>(), wz = reach.template along<2>();
    for (; m.k < m.to; m.k++, m.at += m.z) {
        xz.push(load(g.f[FD3D_SXZ] + m.at + L * m.z));
        yz.push(load(g.f[FD3D_SYZ] + m.at + L * m.z));
        zz.push(load(g.f[FD3D_SZZ] + m.at + (L - 1) * m.z));
        const rows<L> ry(g.f[FD3D_SYY] + m.at, m.y, -L, nullptr), rxy(g.f[FD3D_SXY] + m.at, m.y, 1 - L, nullptr),
            ryz(g.f[FD3D_SYZ] + m.at, m.y, 1 - L, &yz.q[L - 1]);
        const row<L> rx(g.f[FD3D_SXX] + m.at, load(g.f[FD3D_SXX] + m.at)), ryx(g.f[FD3D_SXY] + m.at, rxy.q[L - 1]),
            rzx(g.f[FD3D_SXZ] + m.at, xz.q[L - 1]);
        const vec here = load(g.m.rho + m.at), front = load(g.m.rho + m.at - m.y);
        const float left = __ldg(g.m.rho + m.at - 1);
        vec v[3];
#pragma unroll
        for (int c = 0; c < 3; c++)
            v[c] = load_own(g.f[FD3D_VX + c] + m.at);
        if (AXES != NONE)
            layer.fetch(g, m);
        const vec factor = sponge(g, m.i, m.j, m.k);

        float d[3][3][V];
        rx.backward(d[0][0], wx);
        forward<L>(d[0][1], rxy.q, wy);
        forward<L>(d[0][2], xz.q, wz);
        ryx.forward(d[1][0], wx);
        backward<L>(d[1][1], ry.q, wy);
        forward<L>(d[1][2], yz.q, wz);
        rzx.forward(d[2][0], wx);
        forward<L>(d[2][1], ryz.q, wy);
        backward<L>(d[2][2], zz.q, wz);
        below_surface(g, m.i, m.j, m.k, d);
        if (AXES != NONE) {
            layer.template pass<0>(g, m, d);
            layer.template pass<1>(g, m, d);
            layer.template pass<2>(g, m, d);
            layer.next(g, m);
        }
        grow_velocity(g, v, d, here, left, front, above, factor);
        above = here;
#pragma unroll
        for (int c = 0; c < 3; c++)
            store(g.next_v[c] + m.at, v[c], m.mask);
    }
}

// --- stresses --------------------------------------------------------------------------------------------------------

template <int L, int AXES, bool ANELASTIC, bool NARROWS>
static __device__ void march_stress(const fd3d_gpu_grid &g, march m) {
    queue<L> qx(g.f[FD3D_VX] + m.at, m.z, -L), qy(g.f[FD3D_VY] + m.at, m.z, -L), qz(g.f[FD3D_VZ] + m.at, m.z, 1 - L);
    plane imu_above(g.m.imu + m.at - m.z, m.y), qs_above((ANELASTIC ? g.m.qs : g.m.imu) + m.at - m.z, m.y);
    layers<1, AXES> layer(g, m);
    const reaches<AXES, NARROWS> reach(g, m);
    const auto wx = reach.template along<0>(), wy = reach.template along<1>(), wz = reach.template along<2>();
    for (; m.k < m.to; m.k++, m.at += m.z) {
        qx.push(load(g.f[FD3D_VX] + m.at + (L - 1) * m.z));
        qy.push(load(g.f[FD3D_VY] + m.at + (L - 1) * m.z));
        qz.push(load(g.f[FD3D_VZ] + m.at + L * m.z));
        const rows<L> yx(g.f[FD3D_VX] + m.at, m.y, -L, &qx.q[L]), yy(g.f[FD3D_VY] + m.at, m.y, 1 - L, &qy.q[L]),
            yz(g.f[FD3D_VZ] + m.at, m.y, -L, &qz.q[L - 1]);
        const row<L> xx(g.f[FD3D_VX] + m.at, qx.q[L]), xy(g.f[FD3D_VY] + m.at, qy.q[L]),
            xz(g.f[FD3D_VZ] + m.at, qz.q[L - 1]);
        const plane imu(g.m.imu + m.at, m.y), qs = ANELASTIC ? plane(g.m.qs + m.at, m.y) : imu;
        const vec lambda = load_own(g.m.lambda + m.at), qp = ANELASTIC ? load_own(g.m.qp + m.at) : lambda;
        stresses o;
#pragma unroll
        for (int c = 0; c < FD3D_STRESSES; c++)
            o.s[c] = load_own(g.f[FD3D_SXX + c] + m.at);
        if (ANELASTIC)
            load_own(o.r, g.packed, m.at);
        if (AXES != NONE)
            layer.fetch(g, m);
        const vec factor = sponge(g, m.i, m.j, m.k);

        float d[3][3][V];
        xx.forward(d[0][0], wx);
        backward<L>(d[0][1], yx.q, wy);
        backward<L>(d[0][2], qx.q, wz);
        xy.backward(d[1][0], wx);
        forward<L>(d[1][1], yy.q, wy);
        backward<L>(d[1][2], qy.q, wz);
        xz.backward(d[2][0], wx);
        backward<L>(d[2][1], yz.q, wy);
        forward<L>(d[2][2], qz.q, wz);
        below_surface(g, m.i, m.j, m.k, d);
        if (AXES != NONE) {
            layer.template pass<0>(g, m, d);
            layer.template pass<1>(g, m, d);
            layer.template pass<2>(g, m, d);
            layer.next(g, m);
        }
        grow_stresses<ANELASTIC>(g, o, d, {lambda, qp, imu, imu_above, qs, qs_above}, m.j, m.k, factor);
        imu_above = imu;
        qs_above = qs;
#pragma unroll
        for (int c = 0; c < FD3D_STRESSES; c++)
            store(g.f[FD3D_SXX + c] + m.at, o.s[c], m.mask);
        if (ANELASTIC)
            store(g.packed, m.at, o.r, m.mask);
    }
}

// --- launches --------------------------------------------------------------------------------------------------------

template <int L, int BLOCKS, bool NARROWS>
static __global__ void __launch_bounds__(BLOCK, BLOCKS) velocity(const fd3d_gpu_grid g, const fd3d_gpu_boxes boxes) {
    march m;
    gpu_follow();
    if (!begin(g, boxes, m))
        return;
    switch (m.axes) {
    case NONE:
        return march_velocity<L, NONE, NARROWS>(g, m);
    case X:
        return march_velocity<L, X, NARROWS>(g, m);
    case Y:
        return march_velocity<L, Y, NARROWS>(g, m);
    case Z:
        return march_velocity<L, Z, NARROWS>(g, m);
    default:
        return march_velocity<L, ANY, NARROWS>(g, m);
    }
}
template <int L, int BLOCKS, bool ANELASTIC, bool NARROWS>
static __global__ void __launch_bounds__(BLOCK, BLOCKS) stress(const fd3d_gpu_grid g, const fd3d_gpu_boxes boxes) {
    march m;
    gpu_follow();
    if (!begin(g, boxes, m))
        return;
    switch (m.axes) {
    case NONE:
        return march_stress<L, NONE, ANELASTIC, NARROWS>(g, m);
    case X:
        return march_stress<L, X, ANELASTIC, NARROWS>(g, m);
    case Y:
        return march_stress<L, Y, ANELASTIC, NARROWS>(g, m);
    case Z:
        return march_stress<L, Z, ANELASTIC, NARROWS>(g, m);
    default:
        return march_stress<L, ANY, ANELASTIC, NARROWS>(g, m);
    }
}
template <class KERNEL> static int launch_all(fd3d_gpu *o, const fd3d_gpu_boxes *list, KERNEL kernel) {
    if (list->n == 0)
        return 0;
    const gpu_shape shape = {(unsigned)list->first[list->n], threads_of(o), 0};
    return gpu_launch(&o->queue, o->queue.close, shape, kernel, o->grid, *list);
}

template <int L> static int velocity_step(fd3d_gpu *o, int part) {
    const auto kernel = o->cfg->narrow ? velocity<L, 4, true> : velocity<L, 4, false>;
    return launch_all(o, &o->plain[part], kernel);
}

template <int L> static int stress_step(fd3d_gpu *o, int part) {
    const fd3d_gpu_boxes *list = o->core.on ? &o->kept[part] : &o->plain[part];
    const bool narrow = o->cfg->narrow;
    if (o->cfg->anelastic)
        return launch_all(o, list, narrow ? stress<L, 3, true, true> : stress<L, 3, true, false>);
    return launch_all(o, list, narrow ? stress<L, 4, false, true> : stress<L, 4, false, false>);
}

static const fd3d_gpu_kind kind = {
    .shape = {ALIGN, (int)BLOCK *(int)V / ALIGN, 6},
    .marches = 1,
    .wide = V,
    .apart = 1,
    .memory = 4,
    .align = ALIGN,
    .velocity = {velocity_step<1>, velocity_step<2>, velocity_step<3>, velocity_step<4>},
    .stress = {stress_step<1>, stress_step<2>, stress_step<3>, stress_step<4>},
    .core = fd3d_tuned_core,
    .core_fits = fd3d_tuned_core_fits,
};

FD3D_VARIANT(tuned) = {"tuned",
                       "GPU: marches down z with pairs of cells; keeps stresses on chip where nobody asks for them", 1,
                       &fd3d_gpu_verbs.common, &kind};
