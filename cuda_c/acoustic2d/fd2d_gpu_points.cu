// Source of the 2D GPU variants.
#include "fd2d_gpu_points.h"

#include <cstring>

#include "der.h"

enum { INJECTORS = 128 };

static int put_source(gpu_queue *q, fd2d_gpu_source_cells *p, const handle *h, ptrdiff_t *cell) {
    const source_cells *s = &h->source[FD2D_SIGMA];
    const source_histories *wavelet = &h->histories;
    const int n = s->start[s->cells.n];
    for (int c = 0; c < s->cells.n; c++)
        for (int e = s->start[c]; e < s->start[c + 1]; e++)
            cell[e] = s->cells.at[2][c] * p->pitch + s->cells.at[0][c];
    TRY(gpu_put(q, &p->view.cell, &p->room.cell, cell, (size_t)n, sizeof *cell, "source cells"));
    TRY(gpu_put(q, &p->view.w, &p->room.w, s->w, (size_t)n, sizeof(float), "source cells"));
    TRY(gpu_put(q, &p->view.q, &p->room.q, wavelet->q, (size_t)wavelet->steps, sizeof(float), "source wavelet"));
    p->view.n = n;
    p->view.nq = wavelet->steps;
    return 0;
}

int fd2d_gpu_put_source(gpu_queue *q, fd2d_gpu_source_cells *p, handle *h) {
    const source_cells *s = &h->source[FD2D_SIGMA];
    fd2d_gpu_source_view before;
    ptrdiff_t *cell = nullptr;
    memcpy(&before, &p->view, sizeof before);
    p->view.n = p->view.nq = 0; // until all is there
    const int rc = host_alloc(&h->memory, &cell, (size_t)s->start[s->cells.n], sizeof *cell, "source cells") ||
                   put_source(q, p, h, cell);
    host_release(&h->memory, &cell);
    if (memcmp(&before, &p->view, sizeof before) != 0)
        gpu_forget_graphs(q); // they hold the view by value
    return rc;
}

/* One block. Cells that stand several times stand next to each other: one thread adds them all, in their order. Product
 * and sum are rounded one by one, as on the CPU. */
static __global__ void __launch_bounds__(INJECTORS)
    inject(fd2d_gpu_source_view p, gpu_clock *clock, ptrdiff_t pitch, int free_top, float *sigma) {
    const int it = clock->step + 1;
    __syncthreads(); // all have read it
    if (threadIdx.x == 0)
        clock->step = it;
    if (it < 1 || it > p.nq)
        return;
    const float q = p.q[it - 1];
    for (int m = threadIdx.x; m < p.n; m += INJECTORS) {
        const ptrdiff_t cell = p.cell[m], k = cell / pitch;
        if (m > 0 && p.cell[m - 1] == cell)
            continue;
        float s = sigma[cell];
        for (int same = m; same < p.n && p.cell[same] == cell; same++)
            s = __fadd_rn(s, __fmul_rn(p.w[same], q));
        sigma[cell] = s;
        if (free_top && k > 0 && k < DER_MAX)
            sigma[cell - 2 * k * pitch] = -s;
    }
}

int fd2d_gpu_inject(gpu_queue *q, const fd2d_gpu_source_cells *p, float *sigma) {
    inject<<<1, INJECTORS, 0, q->stream>>>(p->view, q->clock, p->pitch, p->free_top, sigma);
    CUDA_TRY(cudaGetLastError());
    return 0;
}
