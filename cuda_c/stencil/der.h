/* THE formulas of the 2D scheme, once, for host (scalar and SIMD vectors) and device. Variants differ only in how they
 * fetch.
 *
 *   sigma---vx--sigma      forward  (sigma -> v):  d(i+1/2) = sum w[m-1] (s(i+m)   - s(i-m+1)),  m = 1..L
 *     |           |        backward (v -> sigma):  d(i)     = sum w[m-1] (v(i+m-1) - v(i-m))
 *     vz          vz       thesis eq. 4.6 and 4.7; the division by the spacing sits in the coefficients
 *
 * Each sum runs from m = 1 upwards with one fused multiply-add a term, starting from zero: every variant, tile and cell
 * then rounds alike. An includer that computes on vectors defines DER_FMA(a, b, c) = a b + c for them first; `-` must
 * work on them.
 *
 *   at(o) fetches the field o points away along the axis of the derivative;  w[] may be any indexable weights.
 */
#pragma once

#define DER_MAX 8 /* largest half-length */

#ifdef __CUDACC__
#define DER_UNROLL _Pragma("unroll")
#else
#define DER_UNROLL _Pragma("GCC unroll 8")
#endif

#ifndef DER_FMA
#include <math.h>
#define DER_FMA(a, b, c) fmaf(a, b, c)
#endif

/* Term m = 1..L added to d. */
#define DER_FORWARD_TERM(d, m, w, at)  DER_FMA((w)[(m)-1], at(m) - at(1 - (m)), d)
#define DER_BACKWARD_TERM(d, m, w, at) DER_FMA((w)[(m)-1], at((m)-1) - at(-(m)), d)

/* All terms; L should be a constant, so that the loop unrolls. */
#define DER_FORWARD(d, L, w, at)  DER_UNROLL for (int m_ = 1; m_ <= (L); m_++)(d) = DER_FORWARD_TERM(d, m_, w, at)
#define DER_BACKWARD(d, L, w, at) DER_UNROLL for (int m_ = 1; m_ <= (L); m_++)(d) = DER_BACKWARD_TERM(d, m_, w, at)

/* Absorbing layer (convolutional PML): psi = b psi + a d, and d becomes d/k + psi. `zero` is 0 of the type at hand. */
#define DER_PML(d, psi, a, b, ik, zero)                                                                                \
    do {                                                                                                               \
        (psi) = DER_FMA(b, psi, DER_FMA(a, d, zero));                                                                  \
        (d) = DER_FMA(d, ik, psi);                                                                                     \
    } while (0)

/* Velocity: v += b d, b = dt / (rho h).   Sigma: s += k (dx + ratio dz), k = K dt / dx, ratio = dx / dz. */
#define DER_VELOCITY(v, b, d)          DER_FMA(b, d, v)
#define DER_SIGMA(s, k, dx, ratio, dz) DER_FMA(k, DER_FMA(ratio, dz, dx), s)
