/* The map of ground velocity: points with stencils, as fd3d_watch has them, and what they keep in host memory. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "err.h"
#include "fd3d.h"

void fd3d_release_map(fd3d *fd) {
    fd->map.n = 0;
    fd3d_drop_lists(fd);
}

void fd3d_drop_lists(fd3d *fd) {
    fd3d_watched *m = &fd->map;
    void *owned[] = {&m->cell, &m->stencil, &m->start, &m->entry};
    for (size_t n = 0; n < sizeof owned / sizeof owned[0]; n++)
        host_release(&fd->h.memory, owned[n]);
}

size_t fd3d_map_bytes(const fd3d_counts *c) {
    return c->points * (sizeof(ptrdiff_t) + sizeof(int) + 3 * sizeof(float)) + c->stencil_entries * sizeof(fd3d_entry);
}

/* --- points as given ------------------------------------------------------------------------------------------ */

static int check_lists(const fd3d_given *g) {
    REQUIRE(g->start[0] == 0, "entries of stencil 1 of the map start at %d, must be 0", g->start[0]);
    for (size_t c = 0; c < 3 * (size_t)g->stencils; c++)
        REQUIRE(g->start[c + 1] >= g->start[c], "stencil %zu of the map has %ld entries: must not be negative",
                c / 3 + 1, (long)g->start[c + 1] - g->start[c]);
    for (int e = 0; e < g->start[3 * (size_t)g->stencils]; e++)
        REQUIRE(isfinite(g->w[e]), "weight %d of the map is %g, must be finite", e + 1, (double)g->w[e]);
    return 0;
}

/* Finds how far each component of each stencil reaches: reach[6 (3 s + c) + 2 a], first and last cell along axis a. */
static void find_reach(const fd3d_given *g, int *reach) {
    for (size_t c = 0; c < 3 * (size_t)g->stencils; c++)
        for (int a = 0; a < 3; a++) {
            int *r = reach + 6 * c + 2 * (size_t)a;
            r[0] = INT_MAX;
            r[1] = INT_MIN;
            for (int e = g->start[c]; e < g->start[c + 1]; e++) {
                r[0] = g->away[a][e] < r[0] ? g->away[a][e] : r[0];
                r[1] = g->away[a][e] > r[1] ? g->away[a][e] : r[1];
            }
        }
}

/* All cells of point p are owned; the planes they are in. */
static int check_point(fd3d *fd, const fd3d_given *g, int p, const int *reach) {
    fd3d_watched *m = &fd->map;
    const int at[3] = {g->i[p], g->j[p], g->k[p]}, s = g->stencil[p];
    REQUIRE(s >= 0 && s < g->stencils, "point %d of the map has stencil %d, must be 1..%d", p + 1, s + 1, g->stencils);
    for (int a = 0; a < 3; a++)
        REQUIRE(at[a] >= 0 && at[a] < fd->cfg.n[a], "point %d of the map is in cell %d along %c, must be 1..%d", p + 1,
                at[a] + 1, 'x' + a, fd->cfg.n[a]);
    for (int c = 0; c < 3; c++) {
        const int *r = reach + 6 * (3 * (size_t)s + (size_t)c);
        if (r[0] > r[1])
            continue; /* no entry */
        for (int a = 0; a < 3; a++)
            REQUIRE((long)at[a] + r[2 * a] >= 0 && (long)at[a] + r[2 * a + 1] < fd->cfg.n[a],
                    "point %d of the map needs cells %ld..%ld along %c, must be 1..%d", p + 1,
                    (long)at[a] + r[2 * a] + 1, (long)at[a] + r[2 * a + 1] + 1, 'x' + a, fd->cfg.n[a]);
        const int low = at[2] + r[4], high = at[2] + r[5] + 1, none = m->low[c] == m->high[c];
        m->low[c] = none || low < m->low[c] ? low : m->low[c];
        m->high[c] = none || high > m->high[c] ? high : m->high[c];
    }
    return 0;
}

static int check_points(fd3d *fd, const fd3d_given *g) {
    int *reach = NULL, rc = 0;
    memset(fd->map.low, 0, sizeof fd->map.low);
    memset(fd->map.high, 0, sizeof fd->map.high);
    TRY(host_alloc(&fd->h.memory, &reach, 18 * (size_t)g->stencils, sizeof(int), "points of the map"));
    find_reach(g, reach);
    for (int p = 0; p < g->n && !rc; p++)
        rc = check_point(fd, g, p, reach);
    host_release(&fd->h.memory, &reach);
    return rc;
}

static int fill(fd3d *fd, const fd3d_given *g, ptrdiff_t y, ptrdiff_t z) {
    fd3d_watched *m = &fd->map;
    const size_t n = (size_t)g->n, starts = 3 * (size_t)g->stencils + 1, entries = (size_t)g->start[starts - 1];
    TRY(host_alloc(&fd->h.memory, &m->cell, n, sizeof *m->cell, "points of the map"));
    TRY(host_alloc(&fd->h.memory, &m->stencil, n, sizeof(int), "points of the map"));
    TRY(host_alloc(&fd->h.memory, &m->start, starts, sizeof(int), "points of the map"));
    TRY(host_alloc(&fd->h.memory, &m->entry, entries, sizeof *m->entry, "points of the map"));
    for (size_t p = 0; p < n; p++)
        m->cell[p] = g->k[p] * z + g->j[p] * y + g->i[p];
    memcpy(m->stencil, g->stencil, n * sizeof(int));
    memcpy(m->start, g->start, starts * sizeof(int));
    for (size_t e = 0; e < entries; e++) {
        const ptrdiff_t away = g->away[2][e] * z + g->away[1][e] * y + g->away[0][e];
        REQUIRE(away >= INT_MIN && away <= INT_MAX, "a point of the map needs a cell %td cells away, at most %d", away,
                INT_MAX);
        m->entry[e] = (fd3d_entry){(int)away, g->w[e]};
    }
    m->stencils = g->stencils;
    m->last = g->last;
    m->n = g->n; /* all is there */
    return 0;
}

int fd3d_set_map(fd3d *fd, const fd3d_given *g, ptrdiff_t y, ptrdiff_t z) {
    const int rc = check_lists(g) || check_points(fd, g) || fill(fd, g, y, z);
    if (rc)
        fd3d_release_map(fd);
    return rc;
}

/* --- largest values ---------------------------------------------------------------------------------------------- */

enum { RUN = 128 }; /* points done together */

/* Points from p on that follow each other along x and have the same stencil. */
static int run_from(const fd3d_watched *m, int p, int to) {
    int n = 1;
    while (n < RUN && p + n < to && m->stencil[p + n] == m->stencil[p] && m->cell[p + n] == m->cell[p] + n)
        n++;
    return n;
}

void fd3d_keep_largest(const fd3d *fd, const float *const v[3], const ptrdiff_t first[3], int from, int to,
                       float *peak) {
    const fd3d_watched *m = &fd->map;
    receiver_sum sum[3][RUN];
    for (int p = from, n; p < to; p += n) {
        n = run_from(m, p, to);
        for (int c = 0; c < 3; c++) {
            const float *at = v[c] + (m->cell[p] - first[c]);
            const int *start = m->start + 3 * (size_t)m->stencil[p] + c;
            for (int r = 0; r < n; r++)
                sum[c][r] = (receiver_sum){0, 0};
            for (int e = start[0]; e < start[1]; e++) {
                const float *cell = at + m->entry[e].away;
                const double w = (double)m->entry[e].w;
                for (int r = 0; r < n; r++)
                    receiver_add(&sum[c][r], w * (double)cell[r]);
            }
        }
        for (int r = 0; r < n; r++) {
            const double x = receiver_part(sum[0][r], 0), y = receiver_part(sum[1][r], 0),
                         up = receiver_part(sum[2][r], 0), level = x * x + y * y;
            const float now[3] = {(float)sqrt(level), (float)fabs(up), (float)sqrt(level + up * up)};
            for (size_t c = 0; c < 3; c++) {
                float *kept = peak + c * (size_t)m->n + p + r;
                *kept = fmaxf(*kept, now[c]);
            }
        }
    }
}
