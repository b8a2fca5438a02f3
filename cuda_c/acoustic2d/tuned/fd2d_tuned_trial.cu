// Trials for a new grid of the `tuned` variant. Its steps are timed on noise, as zeros cost a GPU less power, and with
// receivers, as those of a shot take places on its processors. Without a velocity anywhere noise stays what it is.
#include <algorithm>

#include "fd2d_tuned.h"

using namespace tuned;

static constexpr int RECEIVERS = 1000, CELLS = 8; // of a receiver between nodes, half-length 4

static __global__ void __launch_bounds__(BLOCK) fill_with_noise(float *a, size_t n) {
    for (size_t j = (size_t)blockIdx.x * BLOCK + threadIdx.x; j < n; j += (size_t)gridDim.x * BLOCK)
        a[j] = (float)((unsigned)j * 2654435761u >> 8) * 0x1p-24f;
}

// A line of receivers, one a column as far as they go.
struct line {
    int start[RECEIVERS + 1], field[RECEIVERS], part[RECEIVERS];
    ptrdiff_t cell[RECEIVERS * CELLS];
    float w[RECEIVERS * CELLS];
};

static int put_line(own_t *o) {
    const int nx = o->g.nx, n = std::min(nx, (int)RECEIVERS);
    const ptrdiff_t row = (ptrdiff_t)(o->g.nz / 10) * o->g.pitch;
    line l = {};
    for (int r = 0; r < n; r++) {
        l.start[r + 1] = (r + 1) * CELLS;
        l.field[r] = FD2D_SIGMA;
        for (int c = 0; c < CELLS; c++) {
            l.cell[r * CELLS + c] = row + std::min(r + c, nx - 1);
            l.w[r * CELLS + c] = 1.0f / CELLS;
        }
    }
    TRY(gpu_put_receivers(&o->queue, &o->points, n, l.start, l.field, l.part, l.cell, l.w));
    return gpu_trace_room(&o->queue, &o->points, n, 0, TIMED_ROWS, TIMED_ROWS);
}

static int time_all(own_t *o, const fd2d_cfg *c, queue_launches steps, queue_launches passes) {
    if (o->alone)
        TRY(put_line(o));
    TRY(choose_launch(o->g, c, &o->queue, steps, o, &o->now));
    o->points.view.nrec = 0; // passes have lists of their own, which are not made yet
    return choose_pass(o->g, c, &o->queue, steps, passes, o, &o->pass);
}

int tuned::find_shape(handle *h, queue_launches steps, queue_launches passes) {
    const fd2d_cfg *c = &((fd2d *)h)->cfg;
    own_t *o = own(h);
    float *const fields[] = {o->s[0], o->s[1], o->e[0], o->e[1], o->vx[0], o->vx[1], o->vz[0], o->vz[1], o->kk};
    o->alone = c->share <= 1;
    if (o->alone)
        for (float *field : fields) {
            if (field != nullptr)
                fill_with_noise<<<1024, BLOCK, 0, o->queue.stream>>>(field, o->count);
            CUDA_TRY(cudaGetLastError());
        }
    TRY(time_all(o, c, steps, passes));
    for (float *field : fields)
        TRY(gpu_clear(&o->queue, field, o->count, sizeof(float)));
    return 0;
}
