/* The `tuned` variant: a thread marches down z with two or four cells side by side.
 *
 *         x ->                       Rows come as vectors. What is differentiated along z goes through a queue of
 *     .. [c c c c] ..   queue        2L vectors, rows in front and behind come through the cache, the cells to the
 *     .. [c c c c] ..     |          left and right as pairs. No shared memory and no barrier: warps run ahead of each
 *     .. [c c c c] ..     v z        other, and a thread has all its loads of a plane under way before it needs one.
 *
 * In the other variants a store to a field stands before loads of memory variables, and the load has to wait: nobody
 * told the compiler that they never meet. Here all that a plane needs is loaded before the first store. Cells in
 * layers are a launch of their own, next to the others' on a second stream, with small blocks that fit thin slabs.
 *
 * The same formulas as `global`, cell by cell. */
#include <cstdlib>
#include <cstring>

#include "fd3d_gpu_cell.cuh"

using namespace fd3d_gpu_cell;

enum { BLOCK = 128, ALIGN = 32, SHELL_VECTOR = 2, SHELL_BLOCKS = 3 }; // threads at most; cells; blocks an SM

// --- vectors ---------------------------------------------------------------------------------------------------------

template <int V> struct vec {
    float at[V];
};

// Of what the kernel only reads.
template <int V> static __device__ vec<V> load(const float *p) {
    vec<V> r;
    if constexpr (V == 4) {
        const float4 t = __ldg((const float4 *)p);
        r.at[0] = t.x, r.at[1] = t.y, r.at[2] = t.z, r.at[3] = t.w;
    } else {
        const float2 t = __ldg((const float2 *)p);
        r.at[0] = t.x, r.at[1] = t.y;
    }
    return r;
}

// Of what it also writes.
template <int V> static __device__ vec<V> load_own(const float *p) {
    vec<V> r;
    if constexpr (V == 4) {
        const float4 t = *(const float4 *)p;
        r.at[0] = t.x, r.at[1] = t.y, r.at[2] = t.z, r.at[3] = t.w;
    } else {
        const float2 t = *(const float2 *)p;
        r.at[0] = t.x, r.at[1] = t.y;
    }
    return r;
}

// The cells of the mask.
template <int V> static __device__ void store(float *p, const vec<V> &v, unsigned mask) {
    if (mask == (1u << V) - 1) {
        if constexpr (V == 4)
            *(float4 *)p = make_float4(v.at[0], v.at[1], v.at[2], v.at[3]);
        else
            *(float2 *)p = make_float2(v.at[0], v.at[1]);
    } else {
#pragma unroll
        for (int n = 0; n < V; n++)
            if (mask >> n & 1)
                p[n] = v.at[n];
    }
}

// A field differentiated along z: 2L planes.
template <int L, int V> struct queue {
    vec<V> q[2 * L];
    __device__ void push(const vec<V> &next) {
#pragma unroll
        for (int m = 0; m < 2 * L - 1; m++)
            q[m] = q[m + 1];
        q[2 * L - 1] = next;
    }
    // Before the first plane: all but the last of what it needs, from plane `first` on.
    __device__ queue(const float *field, int z, int first) {
        q[0] = {};
#pragma unroll
        for (int m = 1; m < 2 * L; m++)
            q[m] = load<V>(field + (first + m - 1) * z);
    }
};

// A row from H cells before the thread's on.
template <int L, int V> struct row {
    static constexpr int H = L <= 2 ? 2 : 4;
    float at[V + 2 * H];
    __device__ row(const float *p, const vec<V> &centre) {
#pragma unroll
        for (int n = 0; n < H; n += 2) {
            const vec<2> left = load<2>(p - H + n), right = load<2>(p + V + n);
            at[n] = left.at[0], at[n + 1] = left.at[1];
            at[H + V + n] = right.at[0], at[H + V + n + 1] = right.at[1];
        }
#pragma unroll
        for (int n = 0; n < V; n++)
            at[H + n] = centre.at[n];
    }
    __device__ void backward(float (&d)[V], const fd3d_gpu_grid &g) const {
#pragma unroll
        for (int n = 0; n < V; n++) {
            d[n] = 0;
#define AT(o) at[H + n + (o)]
            DER_BACKWARD(d[n], L, g.w, AT);
        }
    }
    __device__ void forward(float (&d)[V], const fd3d_gpu_grid &g) const {
#pragma unroll
        for (int n = 0; n < V; n++) {
            d[n] = 0;
            DER_FORWARD(d[n], L, g.w, AT);
#undef AT
        }
    }
};

// 2L rows or planes; `first` of them before the thread's own.
template <int L, int V> static __device__ void backward(float (&d)[V], const vec<V> (&q)[2 * L], const float (&w)[D3_MAX]) {
#pragma unroll
    for (int n = 0; n < V; n++) {
        d[n] = 0;
#define AT(o) q[L + (o)].at[n]
        DER_BACKWARD(d[n], L, w, AT);
#undef AT
    }
}
template <int L, int V> static __device__ void forward(float (&d)[V], const vec<V> (&q)[2 * L], const float (&w)[D3_MAX]) {
#pragma unroll
    for (int n = 0; n < V; n++) {
        d[n] = 0;
#define AT(o) q[L - 1 + (o)].at[n]
        DER_FORWARD(d[n], L, w, AT);
#undef AT
    }
}

// Rows in front and behind, the thread's own being known or not.
template <int L, int V> struct rows {
    vec<V> q[2 * L];
    __device__ rows(const float *p, int y, int first, const vec<V> *own) {
#pragma unroll
        for (int m = 0; m < 2 * L; m++)
            q[m] = first + m == 0 && own != nullptr ? *own : load<V>(p + (first + m) * y);
    }
};

// Asks for what a later plane needs: it comes as far as the second cache and costs no registers on the way.
static __device__ void expect(const float *p) {
#ifdef __CUDA_ARCH__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#else
    (void)p;
#endif
}

// --- threads ---------------------------------------------------------------------------------------------------------

struct march {
    int i, j, k, to, at; // the first of the thread's cells; plane behind the last
    int y, z;
    unsigned mask; // which of them lie in the box
};

// False: the thread has nothing to do.
template <int V, class BOXES>
static __device__ bool begin(const fd3d_gpu_grid &g, const BOXES &boxes, march &m) {
    int block[3];
    const fd3d_gpu_box &b = my_box(boxes, block);
    const int deep = (b.hi[2] - b.lo[2] + b.blocks[2] - 1) / b.blocks[2];
    m.i = b.lo[0] / ALIGN * ALIGN + (block[0] * blockDim.x + threadIdx.x) * V;
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

// Memory variables of the layers that the thread's cells lie in, WHAT as in fd3d_gpu_grid.
template <int WHAT, int V> struct layers {
    vec<V> psi[3][3]; // along the axis, of the component
    int at[3];
    bool in[3];

    __device__ layers(const fd3d_gpu_grid &g, const march &m) {
        const int last = min(m.i + V, g.nx) - 1; // behind the last cell there is no layer, and no room for one
        in[0] = m.i < g.low[0] || last >= g.high[0];
        in[1] = m.j < g.low[1] || m.j >= g.high[1];
        const int x = m.i < g.low[0] ? m.i : m.i - g.shift[0], y = m.j < g.low[1] ? m.j : m.j - g.shift[1];
        at[0] = (m.k * g.ny + m.j) * g.deep[0] + x;
        at[1] = (m.k * g.deep[1] + y) * m.y + m.i;
    }
    __device__ void fetch(const fd3d_gpu_grid &g, const march &m) {
        in[2] = m.k < g.low[2] || m.k >= g.high[2];
        at[2] = ((m.k < g.low[2] ? m.k : m.k - g.shift[2]) * g.ny + m.j) * m.y + m.i;
#pragma unroll
        for (int a = 0; a < 3; a++)
#pragma unroll
            for (int c = 0; c < 3; c++) {
                psi[a][c] = {};
                if (in[a])
                    psi[a][c] = load_own<V>(g.psi[WHAT][a][c] + at[a]);
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
            store<V>(g.psi[WHAT][A][c] + at[A], psi[A][c], m.mask);
    }
};

template <int V> static __device__ vec<V> sponge(const fd3d_gpu_grid &g, const march &m) {
    vec<V> f;
#pragma unroll
    for (int n = 0; n < V; n++)
        f.at[n] = 1.0f;
    if (g.sponge[0] != nullptr)
#pragma unroll
        for (int n = 0; n < V; n++)
            f.at[n] = (__ldg(g.sponge[0] + min(m.i + n, g.nx - 1)) * __ldg(g.sponge[1] + m.j)) * __ldg(g.sponge[2] + m.k);
    return f;
}

// --- velocities ------------------------------------------------------------------------------------------------------

template <int L, int V, int BLOCKS, bool LAYERS, class BOXES>
static __global__ void __launch_bounds__(BLOCK, BLOCKS) velocity(const fd3d_gpu_grid g, const BOXES boxes) {
    march m;
    if (!begin<V>(g, boxes, m))
        return;
    queue<L, V> xz(g.f[FD3D_SXZ] + m.at, m.z, 1 - L), yz(g.f[FD3D_SYZ] + m.at, m.z, 1 - L),
        zz(g.f[FD3D_SZZ] + m.at, m.z, -L);
    vec<V> above = load<V>(g.m.rho + m.at - m.z);
    layers<0, V> layer(g, m);
    for (; m.k < m.to; m.k++, m.at += m.z) {
        xz.push(load<V>(g.f[FD3D_SXZ] + m.at + L * m.z));
        yz.push(load<V>(g.f[FD3D_SYZ] + m.at + L * m.z));
        zz.push(load<V>(g.f[FD3D_SZZ] + m.at + (L - 1) * m.z));
        const rows<L, V> ry(g.f[FD3D_SYY] + m.at, m.y, -L, nullptr), rxy(g.f[FD3D_SXY] + m.at, m.y, 1 - L, nullptr),
            ryz(g.f[FD3D_SYZ] + m.at, m.y, 1 - L, &yz.q[L - 1]);
        const vec<V> xx = load<V>(g.f[FD3D_SXX] + m.at);
        const row<L, V> rx(g.f[FD3D_SXX] + m.at, xx), ryx(g.f[FD3D_SXY] + m.at, rxy.q[L - 1]),
            rzx(g.f[FD3D_SXZ] + m.at, xz.q[L - 1]);
        const vec<V> here = load<V>(g.m.rho + m.at), front = load<V>(g.m.rho + m.at - m.y);
        const float left = __ldg(g.m.rho + m.at - 1);
        vec<V> v[3];
#pragma unroll
        for (int c = 0; c < 3; c++)
            v[c] = load_own<V>(g.f[FD3D_VX + c] + m.at);
        if (LAYERS)
            layer.fetch(g, m);
        const vec<V> factor = sponge<V>(g, m);
        if (g.ahead > 0 && m.k + g.ahead < m.to) {
            const int there = m.at + g.ahead * m.z;
            expect(g.f[FD3D_SXZ] + there + L * m.z);
            expect(g.f[FD3D_SYZ] + there + L * m.z);
            expect(g.f[FD3D_SZZ] + there + (L - 1) * m.z);
            expect(g.f[FD3D_SXX] + there);
            expect(g.f[FD3D_SYY] + there);
            expect(g.f[FD3D_SXY] + there);
            expect(g.m.rho + there);
#pragma unroll
            for (int c = 0; c < 3; c++)
                expect(g.f[FD3D_VX + c] + there);
        }

        float d[3][3][V];
        rx.backward(d[0][0], g);
        forward<L, V>(d[0][1], rxy.q, g.w);
        forward<L, V>(d[0][2], xz.q, g.w);
        ryx.forward(d[1][0], g);
        backward<L, V>(d[1][1], ry.q, g.w);
        forward<L, V>(d[1][2], yz.q, g.w);
        rzx.forward(d[2][0], g);
        forward<L, V>(d[2][1], ryz.q, g.w);
        backward<L, V>(d[2][2], zz.q, g.w);
        if (LAYERS) {
            layer.template pass<0>(g, m, d);
            layer.template pass<1>(g, m, d);
            layer.template pass<2>(g, m, d);
            layer.next(g, m);
        }
#pragma unroll
        for (int n = 0; n < V; n++) {
            const float b[3] = {buoyancy(here.at[n], n == 0 ? left : here.at[n - (n > 0)]),
                                buoyancy(here.at[n], front.at[n]), buoyancy(here.at[n], above.at[n])};
#pragma unroll
            for (int c = 0; c < 3; c++) {
                const float sum = D3_SUM(g.t[0], d[c][0][n], g.t[1], d[c][1][n], g.t[2], d[c][2][n]);
                v[c].at[n] = D3_VELOCITY(v[c].at[n], b[c], sum) * factor.at[n];
            }
        }
        above = here;
#pragma unroll
        for (int c = 0; c < 3; c++)
            store<V>(g.f[FD3D_VX + c] + m.at, v[c], m.mask);
    }
}

// --- stresses --------------------------------------------------------------------------------------------------------

// What shear points need of a plane of 1/mu or 1/Q: the cells, those in front, the cell to the left.
template <int V> struct plane {
    vec<V> here, front;
    float left;
    __device__ plane(const float *p, int y) : here(load<V>(p)), front(load<V>(p - y)), left(__ldg(p - 1)) {}
    __device__ float left_of(int n) const { return n == 0 ? left : here.at[n - (n > 0)]; }
};

template <bool ANELASTIC>
static __device__ float grow(float s, float &r, float inc, float relaxing, float e, float half, float factor) {
    if (ANELASTIC) {
        const float next = D3_MEMORY(r, e, half, relaxing);
        s = D3_ADD(s, inc, r, next);
        r = next;
    } else {
        s += inc;
    }
    return s * factor;
}

template <int L, int V, int BLOCKS, bool LAYERS, bool ANELASTIC, class BOXES>
static __global__ void __launch_bounds__(BLOCK, BLOCKS) stress(const fd3d_gpu_grid g, const BOXES boxes) {
    march m;
    if (!begin<V>(g, boxes, m))
        return;
    queue<L, V> qx(g.f[FD3D_VX] + m.at, m.z, -L), qy(g.f[FD3D_VY] + m.at, m.z, -L),
        qz(g.f[FD3D_VZ] + m.at, m.z, 1 - L);
    plane<V> imu_above(g.m.imu + m.at - m.z, m.y), qs_above((ANELASTIC ? g.m.qs : g.m.imu) + m.at - m.z, m.y);
    layers<1, V> layer(g, m);
    for (; m.k < m.to; m.k++, m.at += m.z) {
        qx.push(load<V>(g.f[FD3D_VX] + m.at + (L - 1) * m.z));
        qy.push(load<V>(g.f[FD3D_VY] + m.at + (L - 1) * m.z));
        qz.push(load<V>(g.f[FD3D_VZ] + m.at + L * m.z));
        const rows<L, V> yx(g.f[FD3D_VX] + m.at, m.y, -L, &qx.q[L]), yy(g.f[FD3D_VY] + m.at, m.y, 1 - L, &qy.q[L]),
            yz(g.f[FD3D_VZ] + m.at, m.y, -L, &qz.q[L - 1]);
        const row<L, V> xx(g.f[FD3D_VX] + m.at, qx.q[L]), xy(g.f[FD3D_VY] + m.at, qy.q[L]),
            xz(g.f[FD3D_VZ] + m.at, qz.q[L - 1]);
        const plane<V> imu(g.m.imu + m.at, m.y);
        const float imu_corner = __ldg(g.m.imu + m.at - m.y - 1);
        const vec<V> lambda = load<V>(g.m.lambda + m.at);
        vec<V> s[FD3D_STRESSES], r[FD3D_STRESSES];
#pragma unroll
        for (int c = 0; c < FD3D_STRESSES; c++)
            s[c] = load_own<V>(g.f[FD3D_SXX + c] + m.at);
        const plane<V> qs = ANELASTIC ? plane<V>(g.m.qs + m.at, m.y) : imu;
        vec<V> qp = lambda;
        float qs_corner = 0;
        if (ANELASTIC) {
            qp = load<V>(g.m.qp + m.at);
            qs_corner = __ldg(g.m.qs + m.at - m.y - 1);
#pragma unroll
            for (int c = 0; c < FD3D_STRESSES; c++)
                r[c] = load_own<V>(g.r[c] + m.at);
        }
        if (LAYERS)
            layer.fetch(g, m);
        const vec<V> factor = sponge<V>(g, m);
        if (g.ahead > 0 && m.k + g.ahead < m.to) {
            const int there = m.at + g.ahead * m.z;
            expect(g.f[FD3D_VX] + there + (L - 1) * m.z);
            expect(g.f[FD3D_VY] + there + (L - 1) * m.z);
            expect(g.f[FD3D_VZ] + there + L * m.z);
            expect(g.m.lambda + there);
            expect(g.m.imu + there);
            if (ANELASTIC) {
                expect(g.m.qp + there);
                expect(g.m.qs + there);
            }
#pragma unroll
            for (int c = 0; c < FD3D_STRESSES; c++) {
                expect(g.f[FD3D_SXX + c] + there);
                if (ANELASTIC)
                    expect(g.r[c] + there);
            }
        }

        float d[3][3][V];
        xx.forward(d[0][0], g);
        backward<L, V>(d[0][1], yx.q, g.w);
        backward<L, V>(d[0][2], qx.q, g.w);
        xy.backward(d[1][0], g);
        forward<L, V>(d[1][1], yy.q, g.w);
        backward<L, V>(d[1][2], qy.q, g.w);
        xz.backward(d[2][0], g);
        backward<L, V>(d[2][1], yz.q, g.w);
        forward<L, V>(d[2][2], qz.q, g.w);
        if (LAYERS) {
            layer.template pass<0>(g, m, d);
            layer.template pass<1>(g, m, d);
            layer.template pass<2>(g, m, d);
            layer.next(g, m);
        }
        const bool surface = g.free_top && m.k == 0; // sxz and syz stay 0
#pragma unroll
        for (int n = 0; n < V; n++) {
            const float here = imu.here.at[n], left = imu.left_of(n), front = imu.front.at[n],
                        corner = n == 0 ? imu_corner : imu.front.at[n - (n > 0)];
            const float mu = __frcp_rn(here);
            const float shear[3] = {
                shear_modulus(here, left, front, corner),
                surface ? 0.0f : shear_modulus(here, left, imu_above.here.at[n], imu_above.left_of(n)),
                surface ? 0.0f : shear_modulus(here, front, imu_above.here.at[n], imu_above.front.at[n])};
            float e = 0, half = 0, relax_p = 0, relax_s = 0, strength[3] = {0, 0, 0};
            if (ANELASTIC) {
                const int mechanism =
                    ((g.odd[0] + n) & 1) + 2 * ((g.odd[1] + m.j) & 1) + 4 * ((g.odd[2] + m.k) & 1); // i is even
                const float y1 = g.strength[0][mechanism], y2 = g.strength[1][mechanism], y3 = g.strength[2][mechanism];
                const float q = qs.here.at[n], ql = qs.left_of(n), qf = qs.front.at[n],
                            qc = n == 0 ? qs_corner : qs.front.at[n - (n > 0)];
                e = g.decay[mechanism], half = g.half[mechanism];
                relax_p = (lambda.at[n] + 2 * mu) * D3_STRENGTH(qp.at[n], y1, y2, y3);
                relax_s = 2 * mu * D3_STRENGTH(q, y1, y2, y3);
                const float mean[3] = {d3_mean4(q, ql, qf, qc), d3_mean4(q, ql, qs_above.here.at[n], qs_above.left_of(n)),
                                       d3_mean4(q, qf, qs_above.here.at[n], qs_above.front.at[n])};
#pragma unroll
                for (int c = 0; c < 3; c++)
                    strength[c] = D3_STRENGTH(mean[c], y1, y2, y3);
            }
            const float ex[3] = {g.t[0] * d[0][0][n], g.t[1] * d[1][1][n], g.t[2] * d[2][2][n]};
            const float trace = D3_TRACE(ex[0], ex[1], ex[2]);
#pragma unroll
            for (int a = 0; a < 3; a++)
                s[a].at[n] = grow<ANELASTIC>(s[a].at[n], r[a].at[n], D3_NORMAL(lambda.at[n], trace, 2 * mu, ex[a]),
                                             D3_RELAX_NORMAL(relax_p, trace, relax_s, ex[a]), e, half, factor.at[n]);
#pragma unroll
            for (int c = 0; c < 3; c++) { // sxy, sxz, syz
                const int a = c == 2 ? 1 : 0, b = c == 0 ? 1 : 2;
                const float inc = D3_SHEAR(shear[c], g.t[b], d[a][b][n], g.t[a], d[b][a][n]);
                s[3 + c].at[n] = grow<ANELASTIC>(s[3 + c].at[n], r[3 + c].at[n], inc, strength[c] * inc, e, half,
                                                 factor.at[n]);
            }
        }
        imu_above = imu;
        qs_above = qs;
#pragma unroll
        for (int c = 0; c < FD3D_STRESSES; c++) {
            store<V>(g.f[FD3D_SXX + c] + m.at, s[c], m.mask);
            if (ANELASTIC)
                store<V>(g.r[c] + m.at, r[c], m.mask);
        }
    }
}

// --- launches --------------------------------------------------------------------------------------------------------

// The cells in layers on the second stream, the others meanwhile on the first.
template <class LAYERED, class PLAIN> static int launch_both(fd3d_gpu *o, int part, LAYERED layered, PLAIN plain) {
    const fd3d_gpu_boxes *shell = &o->layered[part], *rest = &o->plain[part];
    const dim3 few(o->shell[0] / SHELL_VECTOR, o->shell[1]), threads(o->shape[0] / o->vector, o->shape[1]);
    const bool both = o->together && shell->n > 0 && rest->n > 0;
    cudaStream_t stream = both ? o->side : o->queue.stream;
    if (both) {
        CUDA_TRY(cudaEventRecord(o->fork, o->queue.stream));
        CUDA_TRY(cudaStreamWaitEvent(o->side, o->fork, 0));
    }
    if (shell->n > 0)
        layered<<<shell->first[shell->n], few, 0, stream>>>(o->grid, *shell);
    for (int n = 0; n < rest->n; n++) {
        const fd3d_gpu_box &b = rest->box[n];
        plain<<<dim3(b.blocks[0], b.blocks[1], b.blocks[2]), threads, 0, o->queue.stream>>>(o->grid, b);
    }
    CUDA_TRY(cudaGetLastError());
    if (both) {
        CUDA_TRY(cudaEventRecord(o->join, o->side));
        CUDA_TRY(cudaStreamWaitEvent(o->queue.stream, o->join, 0));
    }
    return 0;
}

// Four cells a thread need too many registers at half-lengths above 2.
template <int L> static int velocity_step(fd3d_gpu *o, int part) {
    constexpr int WIDE = L <= 2 ? 4 : 2;
    const auto layered = velocity<L, SHELL_VECTOR, SHELL_BLOCKS, true, fd3d_gpu_boxes>;
    if constexpr (L == 2)
        if (o->tight)
            return launch_both(o, part, layered,
                               o->vector == WIDE ? velocity<L, WIDE, 3, false, fd3d_gpu_box>
                                                 : velocity<L, 2, 5, false, fd3d_gpu_box>);
    return launch_both(o, part, layered,
                       o->vector == WIDE ? velocity<L, WIDE, 2, false, fd3d_gpu_box>
                                         : velocity<L, 2, 4, false, fd3d_gpu_box>);
}

template <int L, bool ANELASTIC> static int stress_of(fd3d_gpu *o, int part) {
    constexpr int WIDE = L <= 2 ? 4 : 2;
    const auto layered = stress<L, SHELL_VECTOR, SHELL_BLOCKS, true, ANELASTIC, fd3d_gpu_boxes>;
    if constexpr (L == 2)
        if (o->tight)
            return launch_both(o, part, layered,
                               o->vector == WIDE ? stress<L, WIDE, 3, false, ANELASTIC, fd3d_gpu_box>
                                                 : stress<L, 2, 5, false, ANELASTIC, fd3d_gpu_box>);
    return launch_both(o, part, layered,
                       o->vector == WIDE ? stress<L, WIDE, 2, false, ANELASTIC, fd3d_gpu_box>
                                         : stress<L, 2, ANELASTIC ? 3 : 4, false, ANELASTIC, fd3d_gpu_box>);
}

template <int L> static int stress_step(fd3d_gpu *o, int part) {
    return o->cfg->anelastic ? stress_of<L, true>(o, part) : stress_of<L, false>(o, part);
}

// How kernels run, a word: cells a thread (2, 4), then any of: t fewer registers and more threads; +N prefetch N planes
// ahead; s cells in layers before the others, not at the same time; a b c d blocks of those. Empty: as now.
static int fits(fd3d_gpu *o, const char *isa, const int shape[3]) {
    static const int shells[4][3] = {{32, 8, 32}, {32, 4, 32}, {64, 4, 32}, {32, 8, 8}};
    const int most = o->cfg->half_length <= 2 ? 4 : 2;
    const bool as_now = isa == nullptr || isa[0] == 0;
    const int vector = as_now ? o->vector : atoi(isa);
    REQUIRE(vector == 2 || vector == most, "%s cells a thread: variant=tuned has 2%s", isa, most == 4 ? " or 4" : "");
    const long threads = (long)(shape[0] / vector) * shape[1];
    REQUIRE(shape[0] % ALIGN == 0 && threads <= BLOCK && threads % 32 == 0,
            "blocks of %d x %d x %d cells, %d a thread: must be a multiple of %d along x, and have 32..%d threads in "
            "warps of 32",
            shape[0], shape[1], shape[2], vector, ALIGN, BLOCK);
    o->vector = vector;
    if (as_now)
        return 0;
    const char *plus = strchr(isa, '+'), *letter = strpbrk(isa, "abcd");
    o->tight = strchr(isa, 't') != nullptr;
    o->together = strchr(isa, 's') == nullptr;
    o->grid.ahead = plus == nullptr ? 0 : atoi(plus + 1);
    memcpy(o->shell, shells[letter == nullptr ? 0 : *letter - 'a'], sizeof o->shell);
    return 0;
}

static const fd3d_gpu_kind kind = {
    .name = "tuned",
    .shape = {32, 8, 32},
    .marches = 1,
    .forks = 1,
    .shell = {32, 8, 32},
    .align = ALIGN,
    .fits = fits,
    .velocity = {velocity_step<1>, velocity_step<2>, velocity_step<3>, velocity_step<4>},
    .stress = {stress_step<1>, stress_step<2>, stress_step<3>, stress_step<4>},
};

static int make(fd3d *fd) {
    TRY(fd3d_gpu_make(fd, &kind));
    fd3d_gpu *o = (fd3d_gpu *)fd->own;
    o->vector = 2;
    o->together = 1;
    return 0;
}

static int need(const fd3d_cfg *cfg, int entries, int receivers, int steps, size_t *host, size_t *device) {
    return fd3d_gpu_need(&kind, cfg, entries, receivers, steps, host, device);
}

FD3D_VARIANT(tuned) = {
    .name = "tuned",
    .about = "GPU: marches down z with several cells a thread, layers beside the rest",
    .needs_gpu = 1,
    .make = make,
    FD3D_GPU_VERBS,
    .need = need,
    FD3D_GPU_MORE_VERBS,
};
