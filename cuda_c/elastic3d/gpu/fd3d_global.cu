/* The `global` variant: a kernel for velocities, one for stresses, a thread a cell, everything read from global memory
 * through the caches. The ladder of AWP-ODC starts here today: rows are aligned and padded, coefficients averaged
 * from the cells' as they are needed, memory variables of layers only where layers are.
 *
 *   velocity   reads 6 stresses, 3 velocities, rho; writes 3 velocities            52 bytes a cell
 *   stress     reads 3 velocities, 6 stresses, lambda, 1/mu; writes 6 stresses     68, anelastic 124 */
#include "fd3d_gpu_plain.cuh"

using namespace fd3d_gpu_plain;

struct loads { // the thread's cell of each array
    const float *at[5];
    __device__ loads(const fd3d_gpu_grid &g, ptrdiff_t cell)
        : at{g.m.rho + cell, g.m.lambda + cell, g.m.imu + cell, g.m.qp + cell, g.m.qs + cell} {}
    __device__ float operator()(int array, ptrdiff_t o) const { return __ldg(at[array] + o); }
};

static const fd3d_gpu_kind kind = {
    .shape = {32, 4, 2},
    .velocity = {velocity_step<loads, 1>, velocity_step<loads, 2>, velocity_step<loads, 3>, velocity_step<loads, 4>},
    .stress = {stress_step<loads, 1>, stress_step<loads, 2>, stress_step<loads, 3>, stress_step<loads, 4>},
};

FD3D_VARIANT(global) = {"global", "GPU: global memory through the caches, a kernel for velocities and one for stresses",
                        1, &fd3d_gpu_verbs.common, &kind};
