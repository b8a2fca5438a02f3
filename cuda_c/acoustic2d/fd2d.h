/* The 2D acoustic time loop: what is common to all variants, beside what all solvers have (handle.h). The grid, the
 * treaty and the meaning of each verb are in interfaces/fd2d_c.f90; fd2d.c checks arguments, keeps geometry and traces,
 * and hands on to a variant.
 *
 * A variant is one file with one exported constant, listed in fd2d_variants.def:
 *
 *   FD2D_VARIANT(cpu) = {"cpu", "SIMD and threads, ...", 0, &verbs.common, NULL};
 */
#pragma once

#include "handle.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FD2D_SIGMA, FD2D_VX, FD2D_VZ, FD2D_FIELDS };

typedef struct fd2d {
    handle h; /* the source is of sigma, with one history from step 1 on */
    fd2d_cfg cfg;
    int has_pml;
    float *px, *pz; /* (nx,6), (nz,6) as given to fd2d_pml */
} fd2d;

/* A variant offers these verbs beside handle_verbs. `need` may be null. */
typedef struct fd2d_verbs {
    handle_verbs common;
    /* see fd2d_coefficients */
    int (*model)(fd2d *fd, const float *kappa, const float *rho, const float *rho_z);
    int (*get)(fd2d *fd, int field, float *out); /* out(nx,nz) */
    /* device memory of a handle */
    int (*need)(const kernel_variant *v, const fd2d_cfg *cfg, int receivers, int steps, size_t *bytes);
} fd2d_verbs;

#define FD2D_VARIANT(name) KERNEL_VARIANT(fd2d, name)

/* Coefficients of row k: bx = dt/(dx rho) at (i+1/2,k), bz = dt/(dz rho) at (i,k+1/2), kk = kappa dt/dx, each (nx);
 * kk of a free surface's row is 0. With rho_z, rho is the density at the points of vx and rho_z that at those of vz;
 * without, rho is at the points of sigma and the mean of two neighbours acts between them. `cpu` takes them from here;
 * GPU variants that keep velocities form the same numbers on the GPU (fd2d_gpu.cu); `tuned` keeps density instead and
 * other coefficients (fd2d_tuned_medium.cu). */
void fd2d_coefficients(const fd2d_cfg *cfg, const float *kappa, const float *rho, const float *rho_z, int k, float *bx,
                       float *bz, float *kk);

#ifdef __cplusplus
}
#endif
