// The common part of the kernels of `tuned`: rows of cells as vectors, differences along the axes, and the work on a
// thread's cells once their differences and the medium there are known. The same formulas as `global`, cell by cell.
#pragma once

#include "fd3d_gpu_cell.cuh"
#include "gpu_follow.cuh"

/* fd3d_tuned_core.cu, as in fd3d_gpu_kind. */
int fd3d_tuned_core(fd3d_gpu *o);
int fd3d_tuned_core_fits(const fd3d_gpu *o);

namespace fd3d_tuned {

using namespace fd3d_gpu_cell;

enum { V = 2 }; // cells side by side that a thread has; four need too many registers

// --- vectors ---------------------------------------------------------------------------------------------------------

struct alignas(8) vec {
    float at[V];
};

// Of what the kernel only reads.
static __device__ vec load(const float *p) {
    const float2 t = __ldg((const float2 *)p);
    return {{t.x, t.y}};
}

// Of what the thread alone reads: not into the first cache.
static __device__ vec load_own(const float *p) {
    const float2 t = __ldcg((const float2 *)p);
    return {{t.x, t.y}};
}

enum { BOTH = 3 }; // masks: bit n is cell n of the vector

static __device__ void store(float *p, const vec &v, unsigned mask) {
    if (mask == BOTH)
        *(float2 *)p = make_float2(v.at[0], v.at[1]);
    else if (mask == 1)
        p[0] = v.at[0];
    else if (mask == 2)
        p[1] = v.at[1];
}

// --- differences -----------------------------------------------------------------------------------------------------

// Weights of the cells' differences along an axis, which may be narrow.
template <bool MAY> struct vec_weights {
    weights<true> cell[V];
    __device__ const weights<true> &of(int n) const { return cell[n]; }
};
template <> struct vec_weights<false> {
    const float (&w)[D3_MAX];
    __device__ const float (&of(int) const)[D3_MAX] { return w; }
};

// A field along z: 2L planes. Begins with all but the last of what it needs, from plane `first` on.
template <int L> struct queue {
    vec q[2 * L];
    __device__ queue(const float *field, int z, int first) {
        q[0] = {};
#pragma unroll
        for (int m = 1; m < 2 * L; m++)
            q[m] = load(field + (first + m - 1) * z);
    }
    __device__ void push(const vec &next) {
#pragma unroll
        for (int m = 0; m < 2 * L - 1; m++)
            q[m] = q[m + 1];
        q[2 * L - 1] = next;
    }
};

// A row from H cells before the thread's on.
template <int L> struct row {
    static constexpr int H = L <= 2 ? 2 : 4;
    float at[V + 2 * H];
    __device__ row(const float *p, const vec &centre) {
#pragma unroll
        for (int n = 0; n < H; n += 2)
            put(n, load(p - H + n)), put(H + V + n, load(p + V + n));
        put(H, centre);
    }
    __device__ void put(int n, const vec &v) {
#pragma unroll
        for (int e = 0; e < V; e++)
            at[n + e] = v.at[e];
    }
    template <class W> __device__ void backward(float (&d)[V], const W &w) const {
#pragma unroll
        for (int n = 0; n < V; n++) {
            d[n] = 0;
#define AT(o) at[H + n + (o)]
            DER_BACKWARD(d[n], L, w.of(n), AT);
        }
    }
    template <class W> __device__ void forward(float (&d)[V], const W &w) const {
#pragma unroll
        for (int n = 0; n < V; n++) {
            d[n] = 0;
            DER_FORWARD(d[n], L, w.of(n), AT);
#undef AT
        }
    }
};

// 2L rows or planes, L of them (backward) or L-1 (forward) before the thread's own.
template <int L, class W> static __device__ void backward(float (&d)[V], const vec *q, const W &w) {
#pragma unroll
    for (int n = 0; n < V; n++) {
        d[n] = 0;
#define AT(o) q[L + (o)].at[n]
        DER_BACKWARD(d[n], L, w.of(n), AT);
#undef AT
    }
}
template <int L, class W> static __device__ void forward(float (&d)[V], const vec *q, const W &w) {
#pragma unroll
    for (int n = 0; n < V; n++) {
        d[n] = 0;
#define AT(o) q[L - 1 + (o)].at[n]
        DER_FORWARD(d[n], L, w.of(n), AT);
#undef AT
    }
}

// Rows in front and behind, from the `first` on, the thread's own being known or not.
template <int L> struct rows {
    vec q[2 * L];
    __device__ rows(const float *p, int y, int first, const vec *own) {
#pragma unroll
        for (int m = 0; m < 2 * L; m++)
            q[m] = first + m == 0 && own != nullptr ? *own : load(p + (first + m) * y);
    }
};

// The first rows below a free surface have their differences along z in a list.
static __device__ void below_surface(const fd3d_gpu_grid &g, int i, int j, int k, float (&d)[3][3][V]) {
    if (k >= g.top_rows)
        return;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const vec z = load(g.top_d + ((c * FD3D_TOP_ROWS + k) * g.ny + j) * g.y + i);
#pragma unroll
        for (int n = 0; n < V; n++)
            d[c][2][n] = z.at[n];
    }
}

// --- velocities ------------------------------------------------------------------------------------------------------

// Factors of the sponge at the thread's cells.
static __device__ vec sponge(const fd3d_gpu_grid &g, int i, int j, int k) {
    vec f = {{1.0f, 1.0f}};
    if (g.sponge[0] != nullptr)
#pragma unroll
        for (int n = 0; n < V; n++)
            f.at[n] = (__ldg(g.sponge[0] + min(i + n, g.nx - 1)) * __ldg(g.sponge[1] + j)) * __ldg(g.sponge[2] + k);
    return f;
}

// d[c][a]: differences of s_ca along a; rho here, in front and above; of the cell to the left.
static __device__ void grow_velocity(const fd3d_gpu_grid &g, vec (&v)[3], const float (&d)[3][3][V], const vec &here,
                                     float left, const vec &front, const vec &above, const vec &factor) {
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
}

// --- memory variables ------------------------------------------------------------------------------------------------

// The six of a cell in 16 bytes: each 20 bits, as a whole number of units of 2^-19 of the power of two above the
// largest. Rounding adds less than the stresses' own to traces, which get these numbers divided by Q.
//
//     .x  number 4, low 12 bits  |             number 0       .z  number 5, low 12 bits  |             number 2
//     .y  unit, low 4 | 4, high 8 |            number 1       .w  unit, high 4 | 5, high 8 |           number 3
//
// The unit is 2^(its 8 bits - UNIT): all bits 0 are six zeros, and numbers below 2^-122 become 0. Conversions add to a
// float what makes its last bit worth 1, and take it off again.
struct packed {
    uint4 w;

    static constexpr unsigned BITS = 20, EXPONENT = 23, LEAST = 24, UNIT = 121, LOW = (1u << BITS) - 1;
    static constexpr unsigned SHIFT = 0x4b000000u, SIGN = 1u << (BITS - 1); // 2^23 as a float; of a number
    static constexpr float WHOLE = 0x1.8p23f, BEGIN = 0x1.1p23f;            // 2^23 + 2^22, 2^23 + 2^19

    __device__ void get(float (&r)[FD3D_STRESSES]) const {
        const unsigned n[FD3D_STRESSES] = {
            w.x, w.y, w.z, w.w, w.x >> BITS | (w.y >> 8 & 0xff000u), w.z >> BITS | (w.w >> 8 & 0xff000u)};
        const unsigned unit = (w.y >> 5 & 0x07800000u) | (w.w >> 1 & 0x78000000u);
        const float scale = __uint_as_float(unit + ((127 - UNIT) << EXPONENT)), begin = -BEGIN * scale;
#pragma unroll
        for (int c = 0; c < FD3D_STRESSES; c++)
            r[c] = fmaf(__uint_as_float((n[c] & LOW) ^ (SHIFT | SIGN)), scale, begin);
    }
    __device__ void put(const float (&r)[FD3D_STRESSES]) {
        float most = 0;
#pragma unroll
        for (const float one : r)
            most = fmaxf(most, fabsf(one));
        // the largest may be rounded up to the next power of two
        const unsigned top = max(__float_as_uint(most) + (1u << (EXPONENT - BITS + 1)), LEAST << EXPONENT),
                       unit = (top & 0xffu << EXPONENT) - (LEAST << EXPONENT);
        const float per = __uint_as_float(((127 + UNIT) << EXPONENT) - unit);
        unsigned n[FD3D_STRESSES];
#pragma unroll
        for (int c = 0; c < FD3D_STRESSES; c++)
            n[c] = __float_as_uint(fmaf(r[c], per, WHOLE));
        w.x = (n[0] & LOW) | n[4] << BITS;
        w.y = (n[1] & LOW) | (n[4] << 8 & 0x0ff00000u) | (unit << 5 & 0xf0000000u);
        w.z = (n[2] & LOW) | n[5] << BITS;
        w.w = (n[3] & LOW) | (n[5] << 8 & 0x0ff00000u) | (unit << 1 & 0xf0000000u);
    }
};

// Of a pair of cells: half of the words in one array, half in another, so that a thread has 16 bytes of each.
static __device__ void load_own(packed (&r)[V], uint2 *const (&from)[2], int at) {
    const uint4 a = __ldcg((const uint4 *)(from[0] + at)), b = __ldcg((const uint4 *)(from[1] + at));
    r[0].w = make_uint4(a.x, a.y, b.x, b.y);
    r[1].w = make_uint4(a.z, a.w, b.z, b.w);
}
static __device__ void store(uint2 *const (&to)[2], int at, const packed (&r)[V], unsigned mask) {
    if (mask == BOTH) {
        *(uint4 *)(to[0] + at) = make_uint4(r[0].w.x, r[0].w.y, r[1].w.x, r[1].w.y);
        *(uint4 *)(to[1] + at) = make_uint4(r[0].w.z, r[0].w.w, r[1].w.z, r[1].w.w);
        return;
    }
#pragma unroll
    for (int n = 0; n < V; n++)
        if (mask & 1u << n) {
            to[0][at + n] = make_uint2(r[n].w.x, r[n].w.y);
            to[1][at + n] = make_uint2(r[n].w.z, r[n].w.w);
        }
}

// --- stresses --------------------------------------------------------------------------------------------------------

// Shear points need this of a plane of 1/mu or 1/Q: the cells, those in front, the cells to the left of both.
struct plane {
    vec here, front;
    float left, corner;
    __device__ plane(const float *p, int y)
        : here(load(p)), front(load(p - y)), left(__ldg(p - 1)), corner(__ldg(p - y - 1)) {}
    __device__ float left_of(int n) const { return n == 0 ? left : here.at[n - (n > 0)]; }
    __device__ float corner_of(int n) const { return n == 0 ? corner : front.at[n - (n > 0)]; }
};

// The medium at the thread's cells and in the plane above.
struct stuff {
    vec lambda, qp;
    plane imu, imu_above, qs, qs_above; // qp, qs: anelastic only
};

struct stresses {
    vec s[FD3D_STRESSES];
    packed r[V]; // memory variables, anelastic only
};

// s grows by `inc`, of which `relaxing` relaxes.
template <bool ANELASTIC>
static __device__ void grow(float &s, float &r, float inc, float relaxing, float e, float half, float stiff,
                            float factor) {
    if (ANELASTIC) {
        const float before = r;
        r = D3_MEMORY(before, e, half, relaxing);
        s = D3_ADD(s, D3_STIFF(inc, stiff, relaxing), before, r);
    } else {
        s += inc;
    }
    s *= factor;
}

// d[c][a]: differences of v_c along a. The first cell has an even i.
template <bool ANELASTIC>
static __device__ void grow_stresses(const fd3d_gpu_grid &g, stresses &o, const float (&d)[3][3][V], const stuff &m,
                                     int j, int k, const vec &factor) {
    const bool surface = g.top_rows > 0 && k == 0; // sxz and syz stay 0
#pragma unroll
    for (int n = 0; n < V; n++) {
        const float here = m.imu.here.at[n], left = m.imu.left_of(n), front = m.imu.front.at[n];
        const float mu = reciprocal(here);
        const float shear[3] = {
            shear_modulus(here, left, front, m.imu.corner_of(n)),
            surface ? 0.0f : shear_modulus(here, left, m.imu_above.here.at[n], m.imu_above.left_of(n)),
            surface ? 0.0f : shear_modulus(here, front, m.imu_above.here.at[n], m.imu_above.front.at[n])};
        float e = 0, half = 0, stiff = 0, relax_p = 0, relax_s = 0, strength[3] = {0, 0, 0}, r[FD3D_STRESSES];
        if (ANELASTIC) {
            o.r[n].get(r);
            const int mechanism = ((g.odd[0] + n) & 1) + 2 * ((g.odd[1] + j) & 1) + 4 * ((g.odd[2] + k) & 1);
            const float y1 = g.strength[0][mechanism], y2 = g.strength[1][mechanism], y3 = g.strength[2][mechanism];
            const float q = m.qs.here.at[n], ql = m.qs.left_of(n), qf = m.qs.front.at[n];
            e = g.decay[mechanism], half = g.half[mechanism], stiff = g.stiff[mechanism];
            relax_p = (m.lambda.at[n] + 2 * mu) * D3_STRENGTH(m.qp.at[n], y1, y2, y3);
            relax_s = 2 * mu * D3_STRENGTH(q, y1, y2, y3);
            const float mean[3] = {d3_mean4(q, ql, qf, m.qs.corner_of(n)),
                                   d3_mean4(q, ql, m.qs_above.here.at[n], m.qs_above.left_of(n)),
                                   d3_mean4(q, qf, m.qs_above.here.at[n], m.qs_above.front.at[n])};
#pragma unroll
            for (int c = 0; c < 3; c++)
                strength[c] = D3_STRENGTH(mean[c], y1, y2, y3);
        }
        const float ex[3] = {g.t[0] * d[0][0][n], g.t[1] * d[1][1][n], g.t[2] * d[2][2][n]};
        const float trace = D3_TRACE(ex[0], ex[1], ex[2]);
#pragma unroll
        for (int a = 0; a < 3; a++)
            grow<ANELASTIC>(o.s[a].at[n], r[a], D3_NORMAL(m.lambda.at[n], trace, 2 * mu, ex[a]),
                            D3_RELAX_NORMAL(relax_p, trace, relax_s, ex[a]), e, half, stiff, factor.at[n]);
#pragma unroll
        for (int c = 0; c < 3; c++) { // sxy, sxz, syz
            const int a = c == 2 ? 1 : 0, b = c == 0 ? 1 : 2;
            const float inc = D3_SHEAR(shear[c], g.t[b], d[a][b][n], g.t[a], d[b][a][n]);
            grow<ANELASTIC>(o.s[3 + c].at[n], r[3 + c], inc, strength[c] * inc, e, half, stiff, factor.at[n]);
        }
        if (ANELASTIC)
            o.r[n].put(r);
    }
}

} // namespace fd3d_tuned
