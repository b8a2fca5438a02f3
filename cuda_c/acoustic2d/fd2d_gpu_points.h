/* Source and receivers of the 2D GPU variants: cells to the device, sources injected there. Cell (i,k) is k pitch + i.
 */
#pragma once

#include "fd2d.h"
#include "gpu_points.h"

/* As kernels get it. */
typedef struct fd2d_gpu_source_view {
    const ptrdiff_t *cell; /* (n), ascending */
    const float *w, *q;
    int n, nq;
} fd2d_gpu_source_view;

typedef struct fd2d_gpu_source_cells {
    fd2d_gpu_source_view view;
    ptrdiff_t pitch;
    int free_top;
    struct { /* elements there is room for */
        size_t cell, w, q;
    } room;
} fd2d_gpu_source_cells;

/* fd->q, source are new; fd->start ... sampled are new. */
int fd2d_gpu_put_source(gpu_queue *q, fd2d_gpu_source_cells *p, fd2d *fd);
int fd2d_gpu_put_receivers(gpu_queue *q, gpu_points *p, fd2d *fd, ptrdiff_t pitch);
/* The next step begins here as far as source and traces are concerned; sigma grows by w q(step). Below a free surface
 * the antisymmetric image above it follows. Each step contains it: it counts the steps. */
int fd2d_gpu_inject(gpu_queue *q, const fd2d_gpu_source_cells *p, float *sigma);
