/* Sources and receivers as cells sorted by row and column, so that the time loop meets them where it passes. */
#include "cellsort.h"
#include "err.h"
#include "fd2d.h"

enum { COLUMN, ROW, KEYS }; /* rows of one field after those of another */

static int sort_points(fd2d *fd, cell_place *p, int n) {
    const int values[KEYS] = {[COLUMN] = fd->cfg.nx, [ROW] = FD2D_FIELDS * fd->cfg.nz};
    return cell_sort(&fd->bytes, p, n, KEYS, values);
}

/* Turns n cells of field f, sorted by row, into the index of rows. */
static int index_rows(fd2d *fd, fd2d_cells *cells, int f, int n, const cell_place *p) {
    const int nz = fd->cfg.nz;
    TRY(fd2d_alloc(fd, &cells->row, (size_t)nz + 1, sizeof(int), "rows of source or receivers"));
    int m = 0;
    for (int k = 0; k <= nz; k++) {
        while (m < n && p[m].key[ROW] < f * nz + k)
            m++;
        cells->row[k] = m;
    }
    cells->n = n;
    return 0;
}

int fd2d_set_source_cells(fd2d *fd, int n, const int *i, const int *k, const float *w) {
    fd2d_cells *s = &fd->source;
    cell_place *p = NULL;
    s->n = 0;
    TRY(fd2d_alloc(fd, &p, (size_t)n, sizeof *p, "source cells"));
    int rc = fd2d_alloc(fd, &s->i, (size_t)n, sizeof(int), "source cells") ||
             fd2d_alloc(fd, &s->w, (size_t)n, sizeof(float), "source cells");
    if (!rc) {
        for (int m = 0; m < n; m++)
            p[m] = (cell_place){{[COLUMN] = i[m], [ROW] = k[m]}, m};
        rc = sort_points(fd, p, n);
    }
    if (!rc) {
        for (int m = 0; m < n; m++) {
            s->i[m] = p[m].key[COLUMN];
            /* sigma is 0 on a free surface, whatever is injected there */
            s->w[m] = fd->cfg.free_top && p[m].key[ROW] == 0 ? 0.0f : w[p[m].place];
        }
        rc = index_rows(fd, s, 0, n, p);
    }
    fd2d_release(fd, &p);
    return rc;
}

/* Drops cells that stand twice; tells each of the caller's cells where its value will be. */
static int unique(cell_place *p, int n, int offset, int *cell) {
    int kept = 0;
    for (int m = 0; m < n; m++) {
        const cell_place here = p[m];
        if (kept == 0 || !cell_same(&p[kept - 1], &here, KEYS))
            p[kept++] = here;
        cell[here.place] = offset + kept - 1;
    }
    return kept;
}

static int set_samples(fd2d *fd, cell_place *p, int n) {
    int m = 0, offset = 0;
    for (int f = 0; f < FD2D_FIELDS; f++) {
        fd2d_cells *s = &fd->sampled[f];
        cell_place *mine = p + m;
        int count = 0;
        while (m < n && p[m].key[ROW] < (f + 1) * fd->cfg.nz)
            m++, count++;
        count = unique(mine, count, offset, fd->cell);
        TRY(fd2d_alloc(fd, &s->i, (size_t)count, sizeof(int), "receiver cells"));
        for (int c = 0; c < count; c++)
            s->i[c] = mine[c].key[COLUMN];
        TRY(index_rows(fd, s, f, count, mine));
        offset += count;
    }
    return 0;
}

int fd2d_set_receiver_cells(fd2d *fd, int nrec, const int *start, const int *field, const int *i, const int *k,
                            const float *w) {
    const int n = start[nrec];
    cell_place *p = NULL;
    TRY(fd2d_alloc(fd, &fd->start, (size_t)nrec + 1, sizeof(int), "receivers"));
    TRY(fd2d_alloc(fd, &fd->cell, (size_t)n, sizeof(int), "receiver cells"));
    TRY(fd2d_alloc(fd, &fd->w, (size_t)n, sizeof(float), "receiver cells"));
    TRY(fd2d_alloc(fd, &p, (size_t)n, sizeof *p, "receiver cells"));
    for (int r = 0; r < nrec; r++)
        for (int m = start[r]; m < start[r + 1]; m++) {
            p[m] = (cell_place){{[COLUMN] = i[m], [ROW] = field[r] * fd->cfg.nz + k[m]}, m};
            fd->w[m] = w[m];
        }
    for (int r = 0; r <= nrec; r++)
        fd->start[r] = start[r];
    const int rc = sort_points(fd, p, n) || set_samples(fd, p, n);
    fd2d_release(fd, &p);
    if (!rc)
        fd->nrec = nrec;
    return rc;
}
