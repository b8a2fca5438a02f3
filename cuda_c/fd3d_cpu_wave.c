/* The time loop of the `cpu` variant. */
#include "err.h"
#include "fd3d_cpu.h"

int fd3d_cpu_timestep(fd3d *fd, int it, int n, float *trace) {
    for (int step = 0; step < n; step++) {
        TRY(fd3d_cpu_velocity(fd, it + step, FD3D_ALL));
        TRY(fd3d_cpu_stress(fd, it + step, FD3D_ALL, trace == NULL ? NULL : trace + (size_t)step * (size_t)fd->nrec));
    }
    return 0;
}
