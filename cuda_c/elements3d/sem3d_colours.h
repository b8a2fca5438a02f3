/* Colours of elements: no two elements of a colour share a point, so those of a colour add their forces side by side
 * (Komatitsch, Michea & Erlebacher 2009, J. Parallel Distrib. Comput. 69, section 4.1.1). */
#pragma once

#include "host_pool.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SEM3D_COLOURS = 64 }; /* at most */

typedef struct sem3d_colours {
    int n;
    int first[SEM3D_COLOURS + 1]; /* elements of colour c: element[first[c]] .. element[first[c+1]-1], rising */
    int *element;
} sem3d_colours;

/* at(per,elements): the points of each element, 0 .. points-1. First every element gets the first colour that none of
 * its neighbours has; then rich colours give elements to poor ones. */
int sem3d_make_colours(host_pool *pool, int elements, int per, const int *at, int points, sem3d_colours *c);

#ifdef __cplusplus
}
#endif
