/* THE formulas of the 3D scheme, once, for host (scalar and SIMD vectors) and device; the stencils are those of der.h.
 * The grid is drawn in interfaces/fd3d_c.f90. Variants differ only in how they fetch.
 *
 *   velocity   v += b (tx Dx + ty Dy + tz Dz)              b = 1/rho at the point
 *   normal     sxx += lambda (ex + ey + ez) + 2 mu ex      ex = tx Dx vx, ...
 *   shear      sxy += mu (ty Dy vx + tx Dx vy)             mu at the point
 *
 * D: undivided difference along an axis, DER_BACKWARD of a field on whole numbers (result at i-1/2), DER_FORWARD of one
 * on halves (result at i), after DER_PML where there is a layer. tx = dt/dx, ty = dt/dy, tz = dt/dz, rounded once from
 * double.
 *
 * Anelastic (memory variables): s' = (y M rate - s)/tau exactly for a rate that is constant over the step, and the
 * stress takes the mean of s before and after. With r = -(dt/2) s kept in place of s
 *
 *   r_new = e r - g y dM                     e = exp(-dt/tau), g = (1 - e)/2
 *   sigma += dM + stiff y dM + r + r_new     dM: increment by the modulus M
 *
 * for one mechanism; of several each adds its r + r_new.
 *
 *   shear      dM = mu (...) itself, y = y(qs)
 *   normal     y dM = y(qp) (lambda + 2 mu) tr - 2 y(qs) mu (tr - ex)      tr = ex + ey + ez
 *
 * An includer that computes on vectors defines DER_FMA first, see der.h.
 */
#pragma once

#include "der.h"

enum { D3_MAX = 4 }; /* largest half-length */

#define D3_SUM(tx, dx, ty, dy, tz, dz) DER_FMA(tz, dz, DER_FMA(ty, dy, (tx) * (dx)))
#define D3_VELOCITY(v, b, sum)         DER_FMA(b, sum, v)

#define D3_TRACE(ex, ey, ez)          (((ex) + (ey)) + (ez))
#define D3_NORMAL(lambda, tr, mu2, e) DER_FMA(lambda, tr, (mu2) * (e)) /* increment; mu2 = 2 mu */
#define D3_SHEAR(mu, ta, da, tb, db)  ((mu)*DER_FMA(ta, da, (tb) * (db)))

/* Strength of mechanism m at q = 1/Q: y1 .. y3 are its polynomial. */
#define D3_STRENGTH(q, y1, y2, y3) ((q)*DER_FMA(q, DER_FMA(q, y3, y2), y1))

/* Relaxing part of a normal increment; p = (lambda + 2 mu) y(qp), s = 2 mu y(qs). */
#define D3_RELAX_NORMAL(p, tr, s, e) DER_FMA(p, tr, -((s) * ((tr) - (e))))
#define D3_MEMORY(r, e, g, relax)    DER_FMA(e, r, -((g) * (relax)))
#define D3_STIFF(inc, stiff, relax)  DER_FMA(stiff, relax, inc) /* what the modulus lacks of the unrelaxed one */
#define D3_RELAXED(inc, r, rnew)     ((inc) + ((r) + (rnew)))
#define D3_ADD(sigma, inc, r, rnew)  ((sigma) + D3_RELAXED(inc, r, rnew))

#ifdef __CUDACC__
#define D3_FUNCTION static inline __host__ __device__
#else
#define D3_FUNCTION static inline
#endif

/* Of the four cells around a point. */
D3_FUNCTION float d3_mean4(float a, float b, float c, float d) { return 0.25f * (((a + b) + c) + d); }

/* One-way bottom (Clayton & Engquist 1977, BSSA 67, 1529-1540, A1): a field in the halo row k is what came down from
 * row k-1,
 *
 *   new(k) = old(k-1) + g (new(k-1) - old(k))        g = (c dt - dz)/(c dt + dz)
 *
 * row after row from the last owned one on, for vx, vy, vz, sxz, syz, szz. c: of P waves for vz and szz, else of S
 * waves (P in a fluid), in the last owned cell of the column. */
#define D3_ONE_WAY(old_above, g, new_above, old) DER_FMA(g, (new_above) - (old), old_above)
