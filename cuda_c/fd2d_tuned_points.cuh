// Receivers of the `tuned` variant. Sigma is sampled where it is. Velocities are not kept by the time loop: the few
// cells that receivers need are summed up here, v(n+1/2) = v(n-1/2) + w, from the same s(n) and memory variables as in
// the step.
#pragma once

#include "fd2d_tuned.cuh"

namespace tuned {

constexpr int CELLS = 128, SAMPLERS = 256;

// Sampled cells of vx, then of vz.
struct velocities {
    const int *i, *k;
    const double *before; // v(n-1/2)
    double *after;        // v(n+1/2)
    int n, nx;            // all; of vx
    double scale_x, scale_z;
};

__device__ inline float sigma_at(const args &g, int i, int k) {
    const float s = g.s_in[(ptrdiff_t)(g.free_top && k < 0 ? -k : k) * g.pitch + i];
    return g.free_top && k < 0 ? -s : s;
}

__device__ inline float damped(float d, float psi, const float *p, ptrdiff_t n) {
    layer(d, psi, p[0], p[n], p[2 * n]);
    return d;
}

__device__ inline float increment_x(const args &g, int L, int i, int k) {
    float d = 0;
#define AT(o) g.s_in[(ptrdiff_t)k * g.pitch + i + (o)]
    for (int m = 1; m <= L; m++)
        d = DER_FORWARD_TERM(d, m, g.w, AT);
#undef AT
    const int x = i < g.left ? i : i >= g.right ? g.left + i - g.right : -1;
    if (x >= 0)
        d = damped(d, g.psix_in[(ptrdiff_t)k * g.strip_pitch + x], g.px + 3 * g.px_pitch + i, g.px_pitch);
    const float *rho = g.rho + (ptrdiff_t)k * g.pitch + i;
    return d * reciprocal(rho[0] + rho[1]);
}

__device__ inline float increment_z(const args &g, int L, int i, int k) {
    float d = 0;
#define AT(o) sigma_at(g, i, k + (o))
    for (int m = 1; m <= L; m++)
        d = DER_FORWARD_TERM(d, m, g.w, AT);
#undef AT
    const int z = k < g.top ? k : k >= g.bottom ? g.top + k - g.bottom : -1;
    if (z >= 0)
        d = damped(d, g.psiz_in[(ptrdiff_t)z * g.pitch + i], g.pz + 3 * g.nz + k, g.nz);
    const float *rho = g.rho + (ptrdiff_t)k * g.pitch + i;
    return d * reciprocal(rho[0] + rho[g.pitch]);
}

static __global__ void __launch_bounds__(CELLS) add_velocities(const __grid_constant__ args g, velocities v, int L) {
    const int c = blockIdx.x * CELLS + threadIdx.x;
    if (c >= v.n)
        return;
    const double w =
        c < v.nx ? v.scale_x * increment_x(g, L, v.i[c], v.k[c]) : v.scale_z * increment_z(g, L, v.i[c], v.k[c]);
    v.after[c] = v.before[c] + w;
}

// The last step of a chunk has no step after it that would do this.
static __global__ void __launch_bounds__(SAMPLERS) sample_last(const __grid_constant__ args g) {
    sample(g, blockIdx.x);
}

} // namespace tuned
