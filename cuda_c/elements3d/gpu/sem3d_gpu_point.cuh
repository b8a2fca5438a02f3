/* A point of an element in all kernels: geometry, stress, attenuation. */
#pragma once

#include "sem3d_gpu.h"

namespace sem3d_gpu_point {

enum { PADDED = SEM3D_PADDED, ALONG = SEM_ALONG, FACE = SEM_FACE, POINTS = SEM_POINTS };

/* sem_gll, sem_weight and sem_slope as constants of the kernels' instructions. */
__host__ __device__ constexpr float gll(int i) {
    constexpr float x[ALONG] = {-1, -0.654653670707977143798f, 0, 0.654653670707977143798f, 1};
    return x[i];
}

__host__ __device__ constexpr float weight(int i) {
    constexpr float x[ALONG] = {0.1f, 49.0f / 90, 32.0f / 45, 49.0f / 90, 0.1f};
    return x[i];
}

__host__ __device__ constexpr float slope(int i, int j) { /* of polynomial j at point i */
    constexpr float x[ALONG][ALONG] = {
        {-5, 6.756502488724241f, -2.666666666666667f, 1.410164177942427f, -0.5f},
        {-1.240990253030983f, 0, 1.745743121887939f, -0.763762615825973f, 0.259009746969017f},
        {0.375f, -1.336584577695453f, 0, 1.336584577695453f, -0.375f},
        {-0.259009746969017f, 0.763762615825973f, -1.745743121887939f, 0, 1.240990253030983f},
        {0.5f, -1.410164177942427f, 2.666666666666667f, -6.756502488724241f, 5}};
    return x[i][j];
}

/* Derivatives along a line of five points, as the cpu variant makes them: an element that moves as a whole has none at
 * all. */
__device__ __forceinline__ void derive(const float *u, float *out) {
    const float e0 = fmaf(-2.0f, u[2], u[0] + u[4]), e1 = fmaf(-2.0f, u[2], u[1] + u[3]), o0 = u[0] - u[4],
                o1 = u[1] - u[3];
    float p[2], q[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        p[i] = fmaf(0.5f * (slope(i, 0) + slope(i, 4)), e0, 0.5f * (slope(i, 1) + slope(i, 3)) * e1);
        q[i] = fmaf(0.5f * (slope(i, 0) - slope(i, 4)), o0, 0.5f * (slope(i, 1) - slope(i, 3)) * o1);
    }
    out[0] = p[0] + q[0];
    out[1] = p[1] + q[1];
    out[2] = fmaf(slope(2, 0), o0, slope(2, 1) * o1);
    out[3] = q[1] - p[1];
    out[4] = q[0] - p[0];
}

/* The transpose. */
__device__ __forceinline__ void gather_back(const float *h, float *out) {
    const float e0 = h[0] + h[4], e1 = h[1] + h[3], o0 = h[0] - h[4], o1 = h[1] - h[3];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float p = fmaf(0.5f * (slope(0, i) + slope(4, i)), e0,
                             fmaf(0.5f * (slope(1, i) + slope(3, i)), e1, slope(2, i) * h[2])),
                    q = fmaf(0.5f * (slope(0, i) - slope(4, i)), o0, 0.5f * (slope(1, i) - slope(3, i)) * o1);
        out[i] = p + q;
        out[4 - i] = q - p;
    }
    out[2] = fmaf(slope(0, 2), o0, slope(1, 2) * o1);
}

__device__ __forceinline__ void cross(const float u[3], const float v[3], float w[3]) {
#pragma unroll
    for (int c = 0; c < 3; c++)
        w[c] = fmaf(u[(c + 1) % 3], v[(c + 2) % 3], -(u[(c + 2) % 3] * v[(c + 1) % 3]));
}

/* Cofactors from dx/dxi_d; returns 1/det. */
__device__ __forceinline__ float cofactors(const float x[3][3], float a[3][3]) {
    cross(x[1], x[2], a[0]);
    cross(x[2], x[0], a[1]);
    cross(x[0], x[1], a[2]);
    return __fdividef(1.0f, fmaf(x[0][2], a[0][2], fmaf(x[0][1], a[0][1], x[0][0] * a[0][0])));
}

/* Memory variables of a point, LANES apart, those of all mechanisms. Where not all points have them (LANES < PADDED)
 * the others share the last lane, where nothing relaxes, so that no thread has a way of its own. */
struct relaxation {
    int mechanisms, step; /* step: from one share to the next */
    const float *decay, *share;
    float *memory, gain; /* gain: of the shares */
};

template <int LANES>
__device__ __forceinline__ relaxation relaxation_at(const sem3d_gpu_elements &e, int element, int p) {
    const int step = e.shares_by_point ? PADDED : 1;
    const float2 few = LANES < PADDED ? __ldg(e.few + p) : make_float2(1, 0);
    return {e.mechanisms,
            step,
            e.decay,
            e.share + (ptrdiff_t)element * (2 * e.mechanisms * step) + (e.shares_by_point ? p : 0),
            e.memory + (ptrdiff_t)element * (6 * e.mechanisms * LANES) + (LANES < PADDED ? (int)few.y : p),
            few.x};
}

enum { SOME = -1 }; /* mechanisms: known when it runs; 0: none */

template <int LANES> __device__ __forceinline__ float gained(const relaxation &x, int share) {
    const float all = __ldg(x.share + share * x.step);
    return LANES < PADDED ? x.gain * all : all;
}

/* As relax_point of the cpu variant. */
template <int MECHANISMS, int LANES>
__device__ __forceinline__ void relax(const relaxation &x, float bulk, const float deviator[5], float s[3][3]) {
    float sum[6] = {};
    const int mechanisms = MECHANISMS > 0 ? MECHANISMS : x.mechanisms;
#pragma unroll(MECHANISMS > 0 ? MECHANISMS : 1)
    for (int m = 0; m < mechanisms; m++) {
        const float e = x.decay[m], of_bulk = gained<LANES>(x, 2 * m), of_shear = gained<LANES>(x, 2 * m + 1);
        float *z = x.memory + 6 * m * LANES;
#pragma unroll
        for (int c = 0; c < 6; c++) {
            const float b = c == 0 ? of_bulk * bulk : of_shear * deviator[c == 0 ? 0 : c - 1], r = z[c * LANES] + b;
            sum[c] += r;
            z[c * LANES] = fmaf(e, r, b);
        }
    }
    s[0][0] -= sum[0] + sum[1];
    s[1][1] -= sum[0] + sum[2];
    s[2][2] -= sum[0] - (sum[1] + sum[2]);
    s[0][1] = s[1][0] = s[0][1] - sum[3];
    s[0][2] = s[2][0] = s[0][2] - sum[4];
    s[1][2] = s[2][1] = s[1][2] - sum[5];
}

/* Adds to a stress what an anisotropic element's constants times mu make of slopes g[m][c] = du_m/dx_c. */
__device__ __forceinline__ void add_tensor(const sem3d_gpu_elements &e, int element, float mu, const float g[3][3],
                                           float s[3][3]) {
    const int medium = __ldg(e.tensor + e.from + element);
    if (medium < 0)
        return;
    const float *c = e.relative + (ptrdiff_t)medium * SEM3D_TENSOR;
    const float strain[6] = {mu * g[0][0],
                             mu * g[1][1],
                             mu * g[2][2],
                             mu * (g[1][2] + g[2][1]),
                             mu * (g[0][2] + g[2][0]),
                             mu * (g[0][1] + g[1][0])};
    float sum[6] = {};
#pragma unroll
    for (int i = 0; i < 6; i++)
#pragma unroll
        for (int j = i; j < 6; j++) {
            const float one = __ldg(c + i * (11 - i) / 2 + j);
            sum[i] = fmaf(one, strain[j], sum[i]);
            if (j > i)
                sum[j] = fmaf(one, strain[i], sum[j]);
        }
    s[0][0] += sum[0];
    s[1][1] += sum[1];
    s[2][2] += sum[2];
    s[1][2] = s[2][1] = s[1][2] + sum[3];
    s[0][2] = s[2][0] = s[0][2] + sum[4];
    s[0][1] = s[1][0] = s[0][1] + sum[5];
}

/* From derivatives d[c][axis] of displacement c along xi, eta, zeta to fluxes, in their place. TENSOR: elements may be
 * anisotropic. */
template <int MECHANISMS, int LANES, bool TENSOR>
__device__ __forceinline__ void solid_point(const sem3d_gpu_elements &e, int element, float d[3][3],
                                            const float a[3][3], float lambda, float mu, const relaxation &x) {
    float g[3][3], s[3][3];
#pragma unroll
    for (int m = 0; m < 3; m++)
#pragma unroll
        for (int c = 0; c < 3; c++)
            g[m][c] = fmaf(a[2][c], d[m][2], fmaf(a[1][c], d[m][1], a[0][c] * d[m][0]));
    const float trace = g[0][0] + g[1][1] + g[2][2], pressure = lambda * trace, twice = mu + mu;
#pragma unroll
    for (int m = 0; m < 3; m++)
        s[m][m] = fmaf(twice, g[m][m], pressure);
    s[0][1] = s[1][0] = mu * (g[0][1] + g[1][0]);
    s[0][2] = s[2][0] = mu * (g[0][2] + g[2][0]);
    s[1][2] = s[2][1] = mu * (g[1][2] + g[2][1]);
    if (MECHANISMS != 0) {
        const float third = trace * (1.0f / 3), bulk = (s[0][0] + s[1][1] + s[2][2]) * (1.0f / 3);
        const float deviator[5] = {twice * (g[0][0] - third), twice * (g[1][1] - third), s[0][1], s[0][2], s[1][2]};
        relax<MECHANISMS, LANES>(x, bulk, deviator, s);
    }
    if (TENSOR)
        add_tensor(e, element, mu, g, s);
#pragma unroll
    for (int m = 0; m < 3; m++)
#pragma unroll
        for (int n = 0; n < 3; n++)
            d[m][n] = fmaf(a[n][2], s[m][2], fmaf(a[n][1], s[m][1], a[n][0] * s[m][0]));
}

__device__ __forceinline__ void fluid_point(float d[3], const float a[3][3], float light) {
    float t[3];
#pragma unroll
    for (int c = 0; c < 3; c++)
        t[c] = light * fmaf(a[2][c], d[2], fmaf(a[1][c], d[1], a[0][c] * d[0]));
#pragma unroll
    for (int n = 0; n < 3; n++)
        d[n] = fmaf(a[n][2], t[2], fmaf(a[n][1], t[1], a[n][0] * t[0]));
}

/* A point moves by the force on it, which may not be known yet; a special one keeps that for later. */
template <int COMPONENTS> struct point_values {
    float gain, u[COMPONENTS], v[COMPONENTS];

    __device__ __forceinline__ point_values(const sem3d_gpu_phase &ph, int point) : gain(ph.gain[point]) {
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++) {
            v[c] = ph.v[c][point];
            u[c] = ph.u[c][point];
        }
    }

    __device__ __forceinline__ void move(const sem3d_gpu_phase &ph, int point, const float *f) const {
        const int bits = __float_as_int(gain);
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++) {
            if (bits < 0) {
                ph.kept[(ptrdiff_t)c * ph.specials + ~bits] = f[c];
                continue;
            }
            const float now = fmaf(gain, f[c], v[c]);
            ph.v[c][point] = now;
            ph.u[c][point] = fmaf(ph.dt, now, u[c]);
        }
    }
};

} // namespace sem3d_gpu_point
