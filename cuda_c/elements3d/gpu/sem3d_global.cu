/* The `global` variant: a block of 128 threads an element; geometry, medium and displacement come from global memory
 * through the caches, the geometry stored, 9 cofactors a point.
 *
 *   an element of rock: 128 numbers of points, 3 x 64 .. 125 displacements, 9 + 2 numbers of 128 points, 3 x 128 forces
 *   written and read again, and its share of the sums: 13.6 kB; with three mechanisms 18.4 kB more */
#include "sem3d_gpu_plain.cuh"

using namespace sem3d_gpu_plain;

static int forces(sem3d_gpu *o, const sem3d_gpu_phase *, int fluid, const int *list, int n) {
    return launch_shape<SEM3D_STORED, loads>(o, fluid, list, n);
}

static const sem3d_gpu_kind kind = {.forces = forces};

SEM3D_VARIANT(global) = {"global", "GPU: a block of 128 threads an element, stored geometry from global memory", 1,
                         &sem3d_gpu_verbs.common, &kind};
