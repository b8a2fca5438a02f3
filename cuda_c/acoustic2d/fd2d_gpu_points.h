/* Source of the 2D GPU variants: cells to the device, injected there. Cell (i,k) is k pitch + i. */
#pragma once

#include "fd2d.h"
#include "gpu_frame.h"

/* As kernels get it. */
typedef struct fd2d_gpu_source_view {
    const ptrdiff_t *cell; /* (n), ascending; a cell stands as often as it has weights */
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

/* The source of the handle, which is new. */
int fd2d_gpu_put_source(gpu_queue *q, fd2d_gpu_source_cells *p, handle *h);
/* The next step begins here as far as source and traces are concerned; sigma grows by w q(step). Below a free surface
 * the antisymmetric image above it follows. Each step contains it: it counts the steps. */
int fd2d_gpu_inject(gpu_queue *q, const fd2d_gpu_source_cells *p, float *sigma);
