/* Sources and receivers as cells sorted by row and column, so that the time loop meets them where it passes. */
#include <limits.h>
#include <stdlib.h>

#include "err.h"
#include "fd2d.h"

typedef struct point {
    int field, k, i, place; /* place: in the caller's list */
} point;

static int by_place(const void *a, const void *b) {
    const point *p = a, *q = b;
    if (p->field != q->field)
        return p->field < q->field ? -1 : 1;
    if (p->k != q->k)
        return p->k < q->k ? -1 : 1;
    if (p->i != q->i)
        return p->i < q->i ? -1 : 1;
    return p->place < q->place ? -1 : p->place > q->place;
}

/* Turns cells sorted by row into the index of rows. k(n): rows of the cells, ascending. */
static int index_rows(fd2d *fd, fd2d_cells *cells, int n, const point *p) {
    const int nz = fd->cfg.nz;
    TRY(fd2d_alloc(fd, &cells->row, (size_t)nz + 1, sizeof(int), "rows of source or receivers"));
    int m = 0;
    for (int k = 0; k <= nz; k++) {
        while (m < n && p[m].k < k)
            m++;
        cells->row[k] = m;
    }
    cells->n = n;
    return 0;
}

int fd2d_set_source_cells(fd2d *fd, int n, const int *i, const int *k, const float *w) {
    fd2d_cells *s = &fd->source;
    point *p = NULL;
    s->n = 0;
    TRY(fd2d_alloc(fd, &p, (size_t)n, sizeof *p, "source cells"));
    int rc = fd2d_alloc(fd, &s->i, (size_t)n, sizeof(int), "source cells") ||
             fd2d_alloc(fd, &s->w, (size_t)n, sizeof(float), "source cells");
    if (!rc) {
        for (int m = 0; m < n; m++)
            p[m] = (point){0, k[m], i[m], m};
        if (n > 1)
            qsort(p, (size_t)n, sizeof *p, by_place);
        for (int m = 0; m < n; m++) {
            s->i[m] = p[m].i;
            /* sigma is 0 on a free surface, whatever is injected there */
            s->w[m] = fd->cfg.free_top && p[m].k == 0 ? 0.0f : w[p[m].place];
        }
        rc = index_rows(fd, s, n, p);
    }
    fd2d_release(fd, &p);
    return rc;
}

/* Drops cells that stand twice; tells each of the caller's cells where its value will be. */
static int unique(point *p, int n, int offset, int *cell) {
    int kept = 0;
    for (int m = 0; m < n; m++) {
        point here = p[m];
        if (kept == 0 || p[kept - 1].k != here.k || p[kept - 1].i != here.i)
            p[kept++] = here;
        cell[here.place] = offset + kept - 1;
    }
    return kept;
}

static int sort_samples(fd2d *fd, point *p, int n) {
    int m = 0, offset = 0;
    for (int f = 0; f < FD2D_FIELDS; f++) {
        fd2d_cells *s = &fd->sampled[f];
        point *mine = p + m;
        int count = 0;
        while (m < n && p[m].field == f)
            m++, count++;
        count = unique(mine, count, offset, fd->cell);
        TRY(fd2d_alloc(fd, &s->i, (size_t)count, sizeof(int), "receiver cells"));
        for (int c = 0; c < count; c++)
            s->i[c] = mine[c].i;
        TRY(index_rows(fd, s, count, mine));
        offset += count;
    }
    return 0;
}

int fd2d_set_receiver_cells(fd2d *fd, int nrec, const int *start, const int *field, const int *i, const int *k,
                            const float *w) {
    const int n = start[nrec];
    point *p = NULL;
    TRY(fd2d_alloc(fd, &fd->start, (size_t)nrec + 1, sizeof(int), "receivers"));
    TRY(fd2d_alloc(fd, &fd->cell, (size_t)n, sizeof(int), "receiver cells"));
    TRY(fd2d_alloc(fd, &fd->w, (size_t)n, sizeof(float), "receiver cells"));
    TRY(fd2d_alloc(fd, &p, (size_t)n, sizeof *p, "receiver cells"));
    for (int r = 0; r < nrec; r++)
        for (int m = start[r]; m < start[r + 1]; m++) {
            p[m] = (point){field[r], k[m], i[m], m};
            fd->w[m] = w[m];
        }
    for (int r = 0; r <= nrec; r++)
        fd->start[r] = start[r];
    if (n > 1)
        qsort(p, (size_t)n, sizeof *p, by_place);
    int rc = sort_samples(fd, p, n);
    fd2d_release(fd, &p);
    if (!rc)
        fd->nrec = nrec;
    return rc;
}
