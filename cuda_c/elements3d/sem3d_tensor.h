/* Anisotropic media: mu times SEM3D_TENSOR numbers, c11 c12 .. c16 c22 .. c66 in the order of Voigt (xx yy zz yz xz
 * xy), is what the constants of an element differ from those of lambda and mu. */
#pragma once

#include "sem3d.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers of an element's medium; null: it is isotropic. */
static inline const float *sem3d_relative(const sem3d_given *g, size_t element) {
    return g->tensor == NULL || g->tensor[element] < 0 ? NULL : g->relative + (size_t)g->tensor[element] * SEM3D_TENSOR;
}

/* Fails where a strain would set energy free. */
int sem3d_check_tensors(const sem3d *fd, const sem3d_given *given);

/* The impedance [kg/m2 s] of waves along n, of length 1, at a point of an anisotropic element: xx yy zz xy xz yz of the
 * root of rho Gamma(n), with Christoffel's matrix Gamma. */
void sem3d_impedance(const sem3d *fd, const sem3d_given *g, size_t element, int p, const double n[3], double z[6]);

#ifdef __cplusplus
}
#endif
