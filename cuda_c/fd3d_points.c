/* Sources and receivers as cells sorted by plane, row and column, so that the time loop meets them where it passes;
 * what they do in host memory. */
#include <limits.h>
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

/* --- map ----------------------------------------------------------------------------------------------------- */

void fd3d_release_map(fd3d *fd) {
    fd3d_watched *m = &fd->map;
    void *owned[] = {&m->i, &m->j, &m->k, &m->stencil, &m->start, &m->di, &m->dj, &m->dk, &m->w};
    m->n = m->stencils = 0;
    for (size_t n = 0; n < sizeof owned / sizeof owned[0]; n++)
        fd3d_release(fd, owned[n]);
}

size_t fd3d_map_bytes(const fd3d_counts *c) {
    return c->points * (4 * sizeof(int) + 3 * sizeof(float)) + c->stencil_entries * (3 * sizeof(int) + sizeof(float));
}

static int copy(fd3d *fd, void *place, const void *from, size_t count, size_t size) {
    TRY(fd3d_alloc(fd, place, count, size, "points of the map"));
    void *to;
    memcpy(&to, place, sizeof to);
    if (count > 0)
        memcpy(to, from, count * size);
    return 0;
}

static int copy_map(fd3d *fd, int n, const int *const point[4], int stencils, const int *start,
                    const int *const away[3], const float *w) {
    fd3d_watched *m = &fd->map;
    int **const points[4] = {&m->i, &m->j, &m->k, &m->stencil}, **const aways[3] = {&m->di, &m->dj, &m->dk};
    const size_t entries = (size_t)start[3 * (size_t)stencils];
    for (int a = 0; a < 4; a++)
        TRY(copy(fd, points[a], point[a], (size_t)n, sizeof(int)));
    for (int a = 0; a < 3; a++)
        TRY(copy(fd, aways[a], away[a], entries, sizeof(int)));
    TRY(copy(fd, &m->start, start, 3 * (size_t)stencils + 1, sizeof(int)));
    TRY(copy(fd, &m->w, w, entries, sizeof(float)));
    m->n = n;
    m->stencils = stencils;
    return 0;
}

/* How far each component of each stencil reaches: reach[6 (3 s + c) + 2 a], first and last cell along axis a. */
static void find_reach(const fd3d_watched *m, int *reach) {
    const int *away[3] = {m->di, m->dj, m->dk};
    for (size_t c = 0; c < 3 * (size_t)m->stencils; c++)
        for (int a = 0; a < 3; a++) {
            int *r = reach + 6 * c + 2 * a;
            r[0] = INT_MAX;
            r[1] = INT_MIN;
            for (int e = m->start[c]; e < m->start[c + 1]; e++) {
                r[0] = away[a][e] < r[0] ? away[a][e] : r[0];
                r[1] = away[a][e] > r[1] ? away[a][e] : r[1];
            }
        }
}

/* All cells of point p are owned; the planes they are in. */
static int check_point(fd3d *fd, int p, const int *reach) {
    fd3d_watched *m = &fd->map;
    const int at[3] = {m->i[p], m->j[p], m->k[p]};
    REQUIRE(m->stencil[p] >= 0 && m->stencil[p] < m->stencils, "point %d of the map has stencil %d, must be 1..%d",
            p + 1, m->stencil[p] + 1, m->stencils);
    for (int c = 0; c < 3; c++) {
        const int *r = reach + 6 * (3 * (size_t)m->stencil[p] + (size_t)c);
        if (r[0] > r[1])
            continue; /* no entry */
        for (int a = 0; a < 3; a++)
            REQUIRE(at[a] >= 0 && at[a] < fd->cfg.n[a] && (long)at[a] + r[2 * a] >= 0 &&
                        (long)at[a] + r[2 * a + 1] < fd->cfg.n[a],
                    "point %d of the map needs cells %ld..%ld along %c, must be 1..%d", p + 1,
                    (long)at[a] + r[2 * a] + 1, (long)at[a] + r[2 * a + 1] + 1, 'x' + a, fd->cfg.n[a]);
        const int low = at[2] + r[4], high = at[2] + r[5] + 1, none = m->low[c] == m->high[c];
        m->low[c] = none || low < m->low[c] ? low : m->low[c];
        m->high[c] = none || high > m->high[c] ? high : m->high[c];
    }
    return 0;
}

static int check_map(fd3d *fd) {
    fd3d_watched *m = &fd->map;
    int *reach = NULL, rc;
    memset(m->low, 0, sizeof m->low);
    memset(m->high, 0, sizeof m->high);
    TRY(fd3d_alloc(fd, &reach, 18 * (size_t)m->stencils, sizeof(int), "points of the map"));
    find_reach(m, reach);
    rc = 0;
    for (int p = 0; p < m->n && !rc; p++)
        rc = check_point(fd, p, reach);
    fd3d_release(fd, &reach);
    return rc;
}

int fd3d_set_map(fd3d *fd, int n, const int *i, const int *j, const int *k, const int *stencil, int stencils,
                 const int *start, const int *di, const int *dj, const int *dk, const float *w) {
    REQUIRE(start[0] == 0, "entries of stencil 1 of the map start at %d, must be 0", start[0]);
    for (size_t c = 0; c < 3 * (size_t)stencils; c++)
        REQUIRE(start[c + 1] >= start[c], "stencil %zu of the map has %ld entries: must not be negative", c / 3 + 1,
                (long)start[c + 1] - start[c]);
    for (int e = 0; e < start[3 * (size_t)stencils]; e++)
        REQUIRE(isfinite(w[e]), "weight %d of the map is %g, must be finite", e + 1, (double)w[e]);
    const int rc =
        copy_map(fd, n, (const int *const[]){i, j, k, stencil}, stencils, start, (const int *const[]){di, dj, dk}, w) ||
        check_map(fd);
    if (rc)
        fd3d_release_map(fd);
    return rc;
}

enum { RUN = 128 }; /* points done together */

/* Points from p on that follow each other along x and have the same stencil. */
static int run_from(const fd3d_watched *m, int p, int to) {
    int n = 1;
    while (n < RUN && p + n < to && m->stencil[p + n] == m->stencil[p] && m->k[p + n] == m->k[p] &&
           m->j[p + n] == m->j[p] && m->i[p + n] == m->i[p] + n)
        n++;
    return n;
}

void fd3d_keep_largest(const fd3d *fd, const float *const v[3], const int first[3], ptrdiff_t y, ptrdiff_t z, int from,
                       int to, float *peak) {
    const fd3d_watched *m = &fd->map;
    double sum[3][RUN];
    for (int p = from, n; p < to; p += n) {
        n = run_from(m, p, to);
        for (int c = 0; c < 3; c++) {
            const float *at = v[c] + (m->k[p] - first[c]) * z + m->j[p] * y + m->i[p];
            const int *start = m->start + 3 * (size_t)m->stencil[p] + c;
            for (int r = 0; r < n; r++)
                sum[c][r] = 0;
            for (int e = start[0]; e < start[1]; e++) {
                const float *cell = at + m->dk[e] * z + m->dj[e] * y + m->di[e];
                const double w = m->w[e];
                for (int r = 0; r < n; r++)
                    sum[c][r] += w * (double)cell[r];
            }
        }
        for (int r = 0; r < n; r++) {
            const double level = sum[0][r] * sum[0][r] + sum[1][r] * sum[1][r], up = sum[2][r];
            const float now[3] = {(float)sqrt(level), (float)fabs(up), (float)sqrt(level + up * up)};
            for (size_t c = 0; c < 3; c++) {
                float *kept = peak + c * (size_t)m->n + p + r;
                *kept = fmaxf(*kept, now[c]);
            }
        }
    }
}
