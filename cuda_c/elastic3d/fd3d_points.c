/* Sources and receivers as cells sorted by plane, row and column, so that the time loop meets them where it passes;
 * what they do in host memory. */
#include <math.h>
#include <string.h>

#include "cellsort.h"
#include "err.h"
#include "fd3d.h"

enum { X, Y, PLANE, KEYS }; /* planes of one field after those of another */

static int same_cell(const cell_place *p, const cell_place *q) { return cell_same(p, q, KEYS); }

/* The caller's n points, sorted; those of field f are p[from[f]] .. p[from[f+1]-1]. */
static int sort_points(fd3d *fd, int n, const int *field, const int *i, const int *j, const int *k, cell_place **p,
                       int from[FD3D_FIELDS + 1]) {
    const int *n3 = fd->cfg.n, values[KEYS] = {n3[0], n3[1], FD3D_FIELDS * n3[2]};
    *p = NULL;
    TRY(fd3d_alloc(fd, p, (size_t)n, sizeof **p, "cells of source or receivers"));
    for (int m = 0; m < n; m++)
        (*p)[m] = (cell_place){{i[m], j[m], field[m] * n3[2] + k[m]}, m};
    TRY(cell_sort(&fd->bytes, *p, n, KEYS, values));
    int m = 0;
    for (int f = 0; f <= FD3D_FIELDS; f++) {
        while (m < n && (*p)[m].key[PLANE] < f * n3[2])
            m++;
        from[f] = m;
    }
    return 0;
}

/* The different cells among n sorted points. */
static int set_cells(fd3d *fd, fd3d_cells *s, const cell_place *p, int n) {
    const int nz = fd->cfg.n[2];
    int count = 0, c = 0;
    for (int m = 0; m < n; m++)
        count += m == 0 || !same_cell(&p[m], &p[m - 1]);
    s->n = 0;
    TRY(fd3d_alloc(fd, &s->plane, (size_t)nz + 1, sizeof(int), "planes of source or receivers"));
    TRY(fd3d_alloc(fd, &s->i, (size_t)count, sizeof(int), "cells of source or receivers"));
    TRY(fd3d_alloc(fd, &s->j, (size_t)count, sizeof(int), "cells of source or receivers"));
    TRY(fd3d_alloc(fd, &s->k, (size_t)count, sizeof(int), "cells of source or receivers"));
    for (int m = 0; m < n; m++)
        if (m == 0 || !same_cell(&p[m], &p[m - 1])) {
            s->i[c] = p[m].key[X];
            s->j[c] = p[m].key[Y];
            s->k[c++] = p[m].key[PLANE] % nz;
        }
    c = 0;
    for (int k = 0; k <= nz; k++) {
        while (c < count && s->k[c] < k)
            c++;
        s->plane[k] = c;
    }
    s->n = count;
    return 0;
}

/* --- sources ------------------------------------------------------------------------------------------------- */

static int set_source(fd3d *fd, int f, const cell_place *p, int n, const int *h, const float *w) {
    fd3d_sources *s = &fd->source[f];
    const int free_stress = fd->cfg.side[4] == FD3D_FREE && (f == FD3D_SXZ || f == FD3D_SYZ);
    TRY(set_cells(fd, &s->cells, p, n));
    TRY(fd3d_alloc(fd, &s->start, (size_t)s->cells.n + 1, sizeof(int), "source"));
    TRY(fd3d_alloc(fd, &s->h, (size_t)n, sizeof(int), "source"));
    TRY(fd3d_alloc(fd, &s->w, (size_t)n, sizeof(float), "source"));
    int c = 0;
    for (int m = 0; m < n; m++) {
        if (m == 0 || !same_cell(&p[m], &p[m - 1]))
            s->start[c++] = m;
        s->h[m] = h[p[m].place];
        /* sxz and syz are 0 on a free surface, whatever is added there */
        s->w[m] = free_stress && p[m].key[PLANE] % fd->cfg.n[2] == 0 ? 0.0f : w[p[m].place];
    }
    s->start[c] = n;
    return 0;
}

int fd3d_set_source_cells(fd3d *fd, int n, const int *field, const int *i, const int *j, const int *k, const int *h,
                          const float *w) {
    cell_place *p = NULL;
    int from[FD3D_FIELDS + 1];
    int rc = sort_points(fd, n, field, i, j, k, &p, from);
    for (int f = 0; f < FD3D_FIELDS && !rc; f++)
        rc = set_source(fd, f, p + from[f], from[f + 1] - from[f], h, w);
    fd3d_release(fd, &p);
    return rc;
}

const float *fd3d_history(const fd3d *fd, int it) {
    if (fd->nh == 0 || (fd->silent > 0 && it >= fd->silent) || it < fd->q_first || it >= fd->q_first + fd->q_steps)
        return NULL;
    return fd->q + (size_t)(it - fd->q_first) * (size_t)fd->nh;
}

void fd3d_inject(const fd3d *fd, int it, int part, int first, int last, float *const field[FD3D_FIELDS], ptrdiff_t y,
                 ptrdiff_t z) {
    const float *q = fd3d_history(fd, it);
    for (int f = first; f <= last && q != NULL; f++) {
        const fd3d_sources *s = &fd->source[f];
        for (int c = 0; c < s->cells.n; c++) {
            const int i = s->cells.i[c], j = s->cells.j[c], k = s->cells.k[c];
            if (!fd3d_in_part(&fd->cfg, part, i, j, k))
                continue;
            float *at = field[f] + k * z + j * y + i;
            for (int e = s->start[c]; e < s->start[c + 1]; e++)
                *at = fmaf(s->w[e], q[s->h[e]], *at);
        }
    }
}

/* --- receivers ----------------------------------------------------------------------------------------------- */

int fd3d_set_receiver_cells(fd3d *fd, int nrec, const int *start, const int *field, const int *i, const int *j,
                            const int *k, const float *w) {
    const int n = start[nrec];
    cell_place *p = NULL;
    int from[FD3D_FIELDS + 1], cell = -1;
    TRY(fd3d_alloc(fd, &fd->start, (size_t)nrec + 1, sizeof(int), "receivers"));
    TRY(fd3d_alloc(fd, &fd->cell, (size_t)n, sizeof(int), "receiver cells"));
    TRY(fd3d_alloc(fd, &fd->w, (size_t)n, sizeof(float), "receiver cells"));
    memcpy(fd->start, start, ((size_t)nrec + 1) * sizeof(int));
    if (n > 0)
        memcpy(fd->w, w, (size_t)n * sizeof(float));
    int rc = sort_points(fd, n, field, i, j, k, &p, from);
    for (int m = 0; m < n && !rc; m++) {
        cell += m == 0 || !same_cell(&p[m], &p[m - 1]);
        fd->cell[p[m].place] = cell;
    }
    for (int f = 0; f < FD3D_FIELDS && !rc; f++)
        rc = set_cells(fd, &fd->sampled[f], p + from[f], from[f + 1] - from[f]);
    fd3d_release(fd, &p);
    if (!rc)
        fd->nrec = nrec;
    return rc;
}

void fd3d_sample(const fd3d *fd, float *const field[FD3D_FIELDS], ptrdiff_t y, ptrdiff_t z, float *trace) {
    int offset[FD3D_FIELDS + 1] = {0};
    for (int f = 0; f < FD3D_FIELDS; f++)
        offset[f + 1] = offset[f] + fd->sampled[f].n;
    for (int r = 0; r < fd->nrec; r++) {
        double sum = 0;
        for (int m = fd->start[r]; m < fd->start[r + 1]; m++) {
            int f = 0;
            while (fd->cell[m] >= offset[f + 1])
                f++;
            const int c = fd->cell[m] - offset[f];
            const fd3d_cells *s = &fd->sampled[f];
            sum += (double)fd->w[m] * (double)field[f][s->k[c] * z + s->j[c] * y + s->i[c]];
        }
        trace[r] = (float)sum;
    }
}
