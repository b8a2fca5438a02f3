/* The `shared` variant: as `global`, but the block of an element of 8 nodes keeps 21 numbers of its map in shared
 * memory and computes its geometry, 8.8 kB an element. That of 27 nodes is stored. */
#include "sem3d_gpu_plain.cuh"

using namespace sem3d_gpu_plain;

static int forces(sem3d_gpu *o, const sem3d_gpu_phase *, int fluid, const int *list, int n) {
    return o->shape == SEM3D_STORED ? launch_shape<SEM3D_STORED, loads>(o, fluid, list, n)
                                    : launch_shape<SEM3D_TRILINEAR, loads>(o, fluid, list, n);
}

static const sem3d_gpu_kind kind = {.computes = 1, .forces = forces};

SEM3D_VARIANT(shared) = {"shared", "GPU: as global, the map of each element of 8 nodes in shared memory", 1,
                         &sem3d_gpu_verbs.common, &kind};
