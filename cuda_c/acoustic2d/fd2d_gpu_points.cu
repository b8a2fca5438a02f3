// Source and receivers of the 2D GPU variants.
#include "fd2d_gpu_points.h"

#include <cstring>

#include "der.h"

enum { INJECTORS = 128 };

static void find_cells(const fd2d_cells *c, int nz, ptrdiff_t pitch, ptrdiff_t *cell) {
    for (int k = 0; k < nz; k++)
        for (int m = c->row[k]; m < c->row[k + 1]; m++)
            cell[m] = k * pitch + c->i[m];
}

static int put_source(gpu_queue *q, fd2d_gpu_source_cells *p, const fd2d *fd, ptrdiff_t *cell) {
    const fd2d_cells *s = &fd->source;
    const size_t n = (size_t)s->n;
    find_cells(s, fd->cfg.nz, p->pitch, cell);
    TRY(gpu_put(q, &p->view.cell, &p->room.cell, cell, n, sizeof *cell, "source cells"));
    TRY(gpu_put(q, &p->view.w, &p->room.w, s->w, n, sizeof(float), "source cells"));
    TRY(gpu_put(q, &p->view.q, &p->room.q, fd->q, (size_t)fd->nq, sizeof(float), "source wavelet"));
    p->view.n = s->n;
    p->view.nq = fd->nq;
    return 0;
}

int fd2d_gpu_put_source(gpu_queue *q, fd2d_gpu_source_cells *p, fd2d *fd) {
    fd2d_gpu_source_view before;
    ptrdiff_t *cell = nullptr;
    memcpy(&before, &p->view, sizeof before);
    p->view.n = p->view.nq = 0; // until all is there
    const int rc =
        fd2d_alloc(fd, &cell, (size_t)fd->source.n, sizeof *cell, "source cells") || put_source(q, p, fd, cell);
    fd2d_release(fd, &cell);
    if (memcmp(&before, &p->view, sizeof before) != 0)
        gpu_forget_graphs(q); // they hold the view by value
    return rc;
}

// Cells and fields of receivers as gpu_points.h has them. The cells of a receiver tell its field; without cells any
// will do.
static void find_receivers(const fd2d *fd, ptrdiff_t pitch, ptrdiff_t *sampled, ptrdiff_t *cell, int *field) {
    const size_t n = (size_t)fd->start[fd->nrec], nrec = (size_t)fd->nrec;
    int first[FD2D_FIELDS + 1] = {0};
    for (int f = 0; f < FD2D_FIELDS; f++) {
        find_cells(&fd->sampled[f], fd->cfg.nz, pitch, sampled + first[f]);
        first[f + 1] = first[f] + fd->sampled[f].n;
    }
    for (size_t c = 0; c < n; c++)
        cell[c] = sampled[fd->cell[c]];
    for (size_t r = 0; r < nrec; r++) {
        const int some = fd->start[r] < fd->start[r + 1] ? fd->cell[fd->start[r]] : 0;
        field[r] = some < first[FD2D_VX] ? FD2D_SIGMA : some < first[FD2D_VZ] ? FD2D_VX : FD2D_VZ;
    }
}

int fd2d_gpu_put_receivers(gpu_queue *q, gpu_points *p, fd2d *fd, ptrdiff_t pitch) {
    ptrdiff_t *sampled = nullptr, *cell = nullptr;
    int *field = nullptr;
    size_t different = 0;
    for (const fd2d_cells &c : fd->sampled)
        different += (size_t)c.n;
    int rc = fd2d_alloc(fd, &sampled, different, sizeof *sampled, "receiver cells") ||
             fd2d_alloc(fd, &cell, (size_t)fd->start[fd->nrec], sizeof *cell, "receiver cells") ||
             fd2d_alloc(fd, &field, (size_t)fd->nrec, sizeof *field, "receivers");
    if (rc == 0) {
        find_receivers(fd, pitch, sampled, cell, field);
        rc = gpu_put_receivers(q, p, fd->nrec, fd->start, field, cell, fd->w);
    }
    fd2d_release(fd, &sampled);
    fd2d_release(fd, &cell);
    fd2d_release(fd, &field);
    if (rc != 0)
        p->view.nrec = 0; // not all is there
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
