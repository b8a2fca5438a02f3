/* Patterns: how the elements of a brick meet. Bricks that are made alike have one pattern, so that a regular mesh has
 * few, whose tables stay in caches.
 *
 *   local  (128,elements of the brick) the number of each of an element's points in the brick
 *   sum    a word for each point of the brick: which points of which elements have a force there, rising. A half of it
 *          names one as 4 (128 e + p), the distance in bytes of its force from the first, or nobody. Where there are
 *          more than two the lower half is 1 + 2 n, and the upper tells where n such words stand, in words from the
 *          pattern's first. */
#pragma once

#include "sem3d.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SEM3D_PATTERN_BRICK = 8, SEM3D_NOBODY = 4 * 1023 }; /* elements of a brick, at most */

typedef struct sem3d_patterned { /* a brick as kernels get it */
    int first, elements;         /* number of its first element, in its phase */
    int inner, inners;           /* points it alone has, from the first of its phase */
    int outer, outers;           /* slots */
    unsigned local, sum;         /* where its pattern's tables begin */
} sem3d_patterned;

typedef struct sem3d_patterns {
    sem3d_patterned *brick; /* (bricks) */
    uint16_t *local;
    unsigned *sum;
    size_t locals, sums, room_locals, room_sums;
    int n;    /* patterns */
    int most; /* points of a brick that it alone has, or shares, at most */
} sem3d_patterns;

int sem3d_make_patterns(sem3d *fd, int bricks, sem3d_patterns *t);
void sem3d_drop_patterns(sem3d *fd, sem3d_patterns *t);

#ifdef __cplusplus
}
#endif
