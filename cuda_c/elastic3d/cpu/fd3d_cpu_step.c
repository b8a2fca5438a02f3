/* Half steps of the `cpu` variant: rows in pieces inside and outside of layers, halos of sides that nobody else fills,
 * and the step in parts, for subdomains with neighbours and for sides that a sweep through the grid cannot serve. */
#include <omp.h>
#include <string.h>

#include "denormals.h"
#include "err.h"
#include "fd3d_cpu.h"
#include "sweep.h"

/* --- rows ---------------------------------------------------------------------------------------------------- */

/* Row (j,k) or its columns touch no layer along y and z and no sponge of theirs, and no free surface. */
static int calm_row(const cpu3_grid *g, int j, int k) {
    const int at[3] = {0, j, k};
    int calm = k >= g->top_rows;
    for (int a = 1; a < 3; a++) {
        calm &= at[a] >= g->strip[a].low && at[a] < g->strip[a].high;
        calm &= g->sponge[0] == NULL || (at[a] >= g->calm[a][0] && at[a] < g->calm[a][1]);
    }
    return calm;
}

/* The kernel of columns i0 and on, whole vectors: a sponge alone, that below a free surface, layers of one axis alone,
 * any. */
static int kind_of(const cpu3_grid *g, int j, int k, int i0) {
    const int at[3] = {i0, j, k};
    int layers = 0, kind = k < g->top_rows ? TOP : SPONGE;
    if (g->narrow)
        return NARROW;
    for (int a = 0; a < 3; a++)
        if (at[a] < g->strip[a].low || at[a] >= g->strip[a].high) {
            layers++;
            kind = LAYER_X + a;
        }
    return layers > 1 || (layers == 1 && (k < g->top_rows || g->sponge[0] != NULL)) ? LAYERS : kind;
}

/* Columns with layers or sponge, the ends that are no whole vectors apart. */
static void edges(const cpu3_grid *g, cpu3_kernel *const *kernel, int j, int k, int i0, int i1, const cpu3_next *next) {
    const int a = least((i0 + LANES - 1) / LANES * LANES, i1), b = most(i1 / LANES * LANES, a);
    cpu3_kernel *const part = kernel[g->narrow ? NARROW_EDGES : EDGES];
    if (i0 < a)
        part(g, j, k, i0, a, next);
    if (a < b)
        kernel[kind_of(g, j, k, a)](g, j, k, a, b, next);
    if (b < i1)
        part(g, j, k, b, i1, next);
}

void fd3d_cpu_row(const cpu3_own *o, int what, int j, int k, int i0, int i1, const cpu3_next *next) {
    const cpu3_grid *g = &o->grid;
    cpu3_kernel *const *kernel = fd3d_cpu_kernels(o)->half[what][g->anelastic];
    const cpu3_strip *s = &g->strip[0];
    const int end[3] = {least(s->low, i1), least(s->high, i1), i1};
    /* plain columns: whole lines between layers and sponge */
    int p0 = most(most(i0, s->low), g->sponge[0] != NULL ? g->calm[0][0] : 0);
    int p1 = least(least(i1, s->high), g->sponge[0] != NULL ? g->calm[0][1] : i1);
    p0 = (p0 + LANES - 1) / LANES * LANES;
    p1 = p1 / LANES * LANES;
    if (p1 <= p0 || !calm_row(g, j, k))
        p0 = p1 = end[1];
    for (int x = 0, i = i0; x < 3; i = most(i, end[x++])) {
        if (i >= end[x])
            continue;
        const int from = x == 1 ? p0 : end[x], to = x == 1 ? p1 : end[x];
        if (i < from)
            edges(g, kernel, j, k, i, from, next);
        if (from < to)
            kernel[PLAIN](g, j, k, from, to, next);
        if (to < end[x])
            edges(g, kernel, j, k, to, end[x], next);
    }
}

void fd3d_cpu_wrap_row(const cpu3_grid *g, int what, int j, int k) {
    int field[3];
    fd3d_halo_fields(what, 0, field);
    for (int f = 0; f < 3; f++) {
        float *row = g->field[field[f]] + k * g->z + j * g->y;
        for (int m = 0; m < g->L; m++) {
            row[-1 - m] = row[g->n[0] - 1 - m];
            row[g->n[0] + m] = row[m];
        }
    }
}

/* --- halos --------------------------------------------------------------------------------------------------- */

/* Rows and planes of a periodic axis 1 or 2. */
static void wrap(const cpu3_grid *g, int what, int axis) {
    int field[3];
    fd3d_halo_fields(what, 2 * axis, field);
    const ptrdiff_t step = axis == 1 ? g->y : g->z, other = axis == 1 ? g->z : g->y;
    const int n = g->n[axis], lines = g->n[3 - axis];
    for (int f = 0; f < 3; f++)
        for (int l = 0; l < lines; l++)
            for (int m = 0; m < g->L; m++) {
                float *a = g->field[field[f]] + l * other;
                memcpy(a + (-1 - m) * step, a + (n - 1 - m) * step, (size_t)g->n[0] * sizeof(float));
                memcpy(a + (n + m) * step, a + m * step, (size_t)g->n[0] * sizeof(float));
            }
}

/* Waves that leave through the bottom; see der3d.h. */
static void leave(const fd3d *fd, int what) {
    static const int fields[2][3] = {{FD3D_VX, FD3D_VY, FD3D_VZ}, {FD3D_SXZ, FD3D_SYZ, FD3D_SZZ}};
    const cpu3_own *o = fd->h.own;
    const cpu3_grid *g = &o->grid;
    const ptrdiff_t nx = g->n[0], ny = g->n[1];
    for (int f = 0; f < 3; f++) {
        const float *speed = f == 2 ? o->bottom_gp : o->bottom_gs; /* vz and szz */
        float *before = o->bottom + (3 * what + f) * nx * ny, *last = g->field[fields[what][f]] + (g->n[2] - 1) * g->z;
        for (ptrdiff_t j = 0; j < ny; j++)
            for (ptrdiff_t i = 0; i < nx; i++) {
                float *at = last + j * g->y + i, above = before[j * nx + i];
                before[j * nx + i] = *at;
                for (int m = 1; m <= g->L; m++) {
                    const float old = at[m * g->z];
                    at[m * g->z] = D3_ONE_WAY(above, speed[j * nx + i], at[(m - 1) * g->z], old);
                    above = old;
                }
            }
    }
}

/* Fills the halo behind sides that are the subdomain's own, before velocities (what = 0: halo of stresses) or stresses.
 */
static void fill_halos(const fd3d *fd, int what) {
    const cpu3_own *o = fd->h.own;
    const cpu3_grid *g = &o->grid;
    const int needs = 1 - what; /* velocities need stresses */
    if (g->periodic_x)
        for (int k = 0; k < g->n[2]; k++)
            for (int j = 0; j < g->n[1]; j++)
                fd3d_cpu_wrap_row(g, needs, j, k);
    for (int a = 1; a < 3; a++)
        if (fd->cfg.side[2 * a] == FD3D_PERIODIC)
            wrap(g, needs, a);
    for (int j = 0; j < g->n[1]; j++)
        for (int k = 0; k < g->top_rows; k++)
            fd3d_cpu_kernels(o)->surface[what](g, j, k);
    if (fd->cfg.side[5] == FD3D_ONE_WAY)
        leave(fd, needs);
}

/* --- boxes --------------------------------------------------------------------------------------------------- */

enum { OFTEN = 1 << 14 }; /* cells of a thread from one call of `between` to the next: some tenths of a millisecond */

static void update(const cpu3_own *o, int what, const int lo[3], const int hi[3], int (*between)(void)) {
    const cpu3_next nothing = {.rows = 0};
    if (lo[0] >= hi[0])
        return;
#pragma omp parallel num_threads(o->frame.threads) if (o->frame.threads > 1)
    {
        const unsigned long old = flush_denormals();
        const int calls = between != NULL && omp_get_thread_num() == 0;
        int cells = 0;
#pragma omp for collapse(2) schedule(static)
        for (int k = lo[2]; k < hi[2]; k++)
            for (int j = lo[1]; j < hi[1]; j++) {
                fd3d_cpu_row(o, what, j, k, lo[0], hi[0], &nothing);
                cells += hi[0] - lo[0];
                if (calls && cells >= OFTEN) {
                    between();
                    cells = 0;
                }
            }
        restore_denormals(old);
    }
}

void fd3d_cpu_update(const cpu3_own *o, int what, const int lo[3], const int hi[3]) { update(o, what, lo, hi, NULL); }

/* The rim is what the inner box leaves of the subdomain: slab after slab. Velocities in margins are the neighbours'. */
static void update_part(const fd3d *fd, int what, int part) {
    const cpu3_own *o = fd->h.own;
    int lo[3], hi[3], from[3] = {0, 0, 0}, to[3];
    memcpy(to, fd->cfg.n, sizeof to);
    if (what == 0)
        fd3d_own_box(&fd->cfg, from, to);
    fd3d_inner_box(&fd->cfg, lo, hi);
    if (part == FD3D_ALL)
        fd3d_cpu_update(o, what, from, to);
    if (part == FD3D_INNER)
        update(o, what, lo, hi, fd->between);
    if (part != FD3D_RIM)
        return;
    for (int a = 2; a >= 0; a--) {
        const int end = to[a];
        to[a] = lo[a];
        fd3d_cpu_update(o, what, from, to);
        to[a] = end;
        from[a] = most(lo[a], hi[a]);
        fd3d_cpu_update(o, what, from, to);
        from[a] = lo[a];
        to[a] = hi[a];
    }
}

/* --- the step in parts --------------------------------------------------------------------------------------- */

static void inject(const fd3d *fd, int it, int part, int first, int last) {
    const cpu3_grid *g = &((const cpu3_own *)fd->h.own)->grid;
    const float *q = history_row(&fd->h.histories, it);
    for (int f = first; f <= last && q != NULL; f++) {
        const source_cells *s = &fd->h.source[f];
        for (int c = 0; c < s->cells.n; c++) {
            const int i = s->cells.at[0][c], j = s->cells.at[1][c], k = s->cells.at[2][c];
            if (fd3d_in_part(&fd->cfg, part, i, j, k))
                fd3d_cpu_add_source(s, c, q, g->field[f] + k * g->z + j * g->y + i);
        }
    }
}

static int half_step(fd3d *fd, int what, int it, int part) {
    const unsigned long old = flush_denormals();
    if (part != FD3D_INNER)
        fill_halos(fd, what);
    update_part(fd, what, part);
    inject(fd, it, part, what == 0 ? FD3D_VX : FD3D_SXX, what == 0 ? FD3D_VZ : FD3D_SYZ);
    restore_denormals(old);
    return 0;
}

/* The map, from the fields as they are. */
static void keep_largest(fd3d *fd) {
    enum { POINTS = 4096 };
    const cpu3_own *o = fd->h.own;
    const cpu3_grid *g = &o->grid;
    const float *v[3] = {g->field[FD3D_VX], g->field[FD3D_VY], g->field[FD3D_VZ]};
#pragma omp parallel for schedule(static) num_threads(o->frame.threads)
    for (int from = 0; from < fd->map.n; from += POINTS)
        fd3d_keep_largest(fd, v, (ptrdiff_t[3]){0}, from, fd->map.n - from < POINTS ? fd->map.n : from + POINTS,
                          o->peaks);
}

int fd3d_cpu_velocity(fd3d *fd, int it, int part) {
    return fd->ahead.steps > 0 ? fd3d_cpu_rest(fd, 0, it, part, NULL) : half_step(fd, 0, it, part);
}

int fd3d_cpu_stress(fd3d *fd, int it, int part, float *trace) {
    const cpu3_grid *g = &((cpu3_own *)fd->h.own)->grid;
    if (fd->ahead.steps > 0)
        return fd3d_cpu_rest(fd, 1, it, part, trace);
    TRY(half_step(fd, 1, it, part));
    if (part == FD3D_RIM)
        return 0;
    if (fd->h.receivers.n > 0)
        cpu_sample(&fd->h, g->field, g->y, g->z, trace);
    if (fd->map.n > 0 && it <= fd->map.last)
        keep_largest(fd);
    return 0;
}
