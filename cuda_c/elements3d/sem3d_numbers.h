/* Numbers of elements as kernels on a GPU get them: geometry, medium and attenuation, of each element one after the
 * other, 128 numbers for its 125 points. */
#pragma once

#include "sem3d.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SEM3D_PADDED = 128 };
enum { SEM3D_COFACTORS = 9, SEM3D_MAP = 24 }; /* of a point of a stored element; of an affine or trilinear element */

/* Geometry of an element:
 *   stored     (128,9): cofactors of each point
 *   affine     the cofactors, then numbers of no use
 *   trilinear  x of b[0] .. b[7] of sem_trilinear, then y, then z
 * Its medium, lambda and mu, in the fluid 1/rho: (128,2 or 1), each with the weight of its point, or once; over det
 * unless the element is trilinear. */
typedef enum sem3d_shape { SEM3D_STORED, SEM3D_AFFINE, SEM3D_TRILINEAR } sem3d_shape;

/* Numbers of an element. */
size_t sem3d_geometry_size(sem3d_shape shape);
int sem3d_by_point(const sem3d_cfg *c, sem3d_shape shape); /* 1: its medium differs from point to point */
size_t sem3d_medium_size(const sem3d_cfg *c, sem3d_shape shape, int fluid);
size_t sem3d_share_size(const sem3d_cfg *c);

int sem3d_all_affine(const sem3d *fd, const sem3d_given *given);

/* Elements from .. to-1, all of solid or all of fluid, by threads. */
void sem3d_fill(const sem3d *fd, const sem3d_given *given, sem3d_shape shape, int from, int to, float *geometry,
                float *medium);
/* Shares of each mechanism times (1 - e)/2, e = decay: (128,2,mechanisms), or (2,mechanisms): bulk, shear. */
void sem3d_fill_shares(const sem3d *fd, const float *decay, const float *bulk, const float *shear, int from, int to,
                       float *share);

#ifdef __cplusplus
}
#endif
