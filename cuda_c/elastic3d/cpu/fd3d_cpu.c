/* The `cpu` variant of the 3D solver: memory, medium, layers and fields. */
#include "fd3d_cpu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "stencil_check.h"

static const cpu_isa *const isas[] = {
#ifdef __x86_64__
    &fd3d_cpu_avx512, &fd3d_cpu_avx2,
#endif
    &fd3d_cpu_generic, NULL};

enum { MEDIUM = 3, QUALITY = 2 };

static cpu3_own *own(const handle *h) { return h->own; }

static int round_up(int n) { return (n + LANES - 1) / LANES * LANES; }

/* --- sizes --------------------------------------------------------------------------------------------------- */

/* A row is an odd number of cache lines, and so is a plane: rows and planes of one sum spread over the sets of the
 * caches. */
static void set_sizes(cpu3_grid *g, const fd3d_cfg *c) {
    memcpy(g->n, c->n, sizeof g->n);
    g->nxp = round_up(c->n[0]);
    g->L = c->half_length;
    g->anelastic = c->anelastic;
    g->narrow = c->narrow;
    g->between[0] = c->layer[0];
    g->between[1] = c->n[0] - c->layer[1];
    g->top_rows = c->side[4] == FD3D_FREE ? FD3D_TOP_ROWS : 0;
    g->top_wait = g->top_rows == 0 ? 0 : g->L == 1 ? 2 : FD3D_TOP_ROWS - g->L;
    fd3d_top_of(c, &g->top);
    g->periodic_x = c->side[0] == FD3D_PERIODIC;
    g->y = g->nxp + LANES;
    if (g->y / LANES % 2 == 0)
        g->y += LANES;
    g->rows = (c->n[1] + 2 * g->L) | 1;
    g->z = g->rows * g->y;
    for (int a = 0; a < 3; a++) {
        g->t[a] = (float)((double)c->dt / c->d[a]);
        cpu3_strip *s = &g->strip[a];
        s->low = a == 0 ? round_up(c->layer[0]) : c->layer[2 * a];
        s->high = c->n[a] - c->layer[2 * a + 1];
        if (a == 0)
            s->high = c->layer[1] == 0 ? g->nxp : s->high / LANES * LANES;
        if (s->high < s->low)
            s->high = s->low;
        s->width = s->low + (a == 0 ? g->nxp : c->n[a]) - s->high;
        g->calm[a][1] = c->n[a];
    }
    memcpy(g->w, c->w, sizeof(float) * (size_t)g->L);
}

static size_t arrays_of(const fd3d_cfg *c) {
    return FD3D_FIELDS + MEDIUM + (c->anelastic ? QUALITY : 0) + (c->anelastic == FD3D_ONE ? STRESSES : 0);
}

/* Floats of one array: 31 lines more from one to the next, so that their rows spread over the sets of the caches. */
static size_t array_floats(const cpu3_grid *g) {
    return ((size_t)g->n[2] + 2 * (size_t)g->L) * (size_t)g->z + 31 * LANES;
}

static size_t psi_floats(const cpu3_grid *g) {
    const size_t x = (size_t)g->strip[0].width * (size_t)g->n[1] * (size_t)g->n[2],
                 y = (size_t)g->nxp * (size_t)g->strip[1].width * (size_t)g->n[2],
                 z = (size_t)g->nxp * (size_t)g->n[1] * (size_t)g->strip[2].width;
    return 6 * (x + y + z) + LANES;
}

/* Of all mechanisms in each cell. */
static size_t memories_floats(const fd3d_cfg *c, const cpu3_grid *g) {
    return c->anelastic == FD3D_ALL_TOGETHER ? MEMORIES * (size_t)g->nxp * (size_t)g->n[1] * (size_t)g->n[2] : 0;
}

static size_t all_floats(const fd3d_cfg *c, const cpu3_grid *g) {
    return arrays_of(c) * array_floats(g) + memories_floats(c, g) + LANES;
}

/* --- new and free -------------------------------------------------------------------------------------------- */

enum { FIRST_TOUCH = 2 << 20 }; /* bytes that a thread zeroes at a time, a huge page */

static int make_arrays(fd3d *fd) {
    cpu3_own *o = own(&fd->h);
    cpu3_grid *g = &o->grid;
    char cells[48];
    double floats = (double)arrays_of(&fd->cfg) * (double)g->rows * (double)g->y * ((double)g->n[2] + 2 * D3_MAX);
    if (g->anelastic == FD3D_ALL_TOGETHER)
        floats += (double)MEMORIES * g->nxp * g->n[1] * g->n[2];
    snprintf(cells, sizeof cells, "%d x %d x %d", g->n[0], g->n[1], g->n[2]);
    TRY(cpu_take_pages(&fd->h, floats, all_floats(&fd->cfg, g) * sizeof(float), cells));
    o->array = array_floats(g);
    float *at = (float *)o->frame.pages + LANES + g->L * (g->z + g->y);
    for (int f = 0; f < FD3D_FIELDS; f++, at += o->array)
        g->field[f] = at;
    float **medium[MEDIUM + QUALITY] = {&g->rho, &g->lambda, &g->softness, &g->qp, &g->qs};
    for (int m = 0; m < MEDIUM + (g->anelastic ? QUALITY : 0); m++, at += o->array)
        *medium[m] = at;
    for (int s = 0; s < STRESSES && g->anelastic == FD3D_ONE; s++, at += o->array)
        g->memory[s] = at;
    o->memories = memories_floats(&fd->cfg, g);
    if (o->memories > 0)
        g->memories = at - g->L * (g->z + g->y);
    char *pages = o->frame.pages;
    const size_t count = o->frame.page_bytes / FIRST_TOUCH;
#pragma omp parallel for schedule(static) num_threads(o->frame.threads)
    for (size_t page = 0; page < count; page++)
        memset(pages + page * FIRST_TOUCH, 0, FIRST_TOUCH);
    return 0;
}

static int make_strips(fd3d *fd) {
    cpu3_own *o = own(&fd->h);
    cpu3_grid *g = &o->grid;
    o->psi_count = psi_floats(g);
    TRY(host_alloc(&fd->h.memory, &o->psi, o->psi_count, sizeof(float), "memory variables of the absorbing layers"));
    const size_t ny = (size_t)g->n[1], nz = (size_t)g->n[2], nxp = (size_t)g->nxp;
    float *at = o->psi;
    for (int a = 0; a < 3; a++) {
        const size_t width = (size_t)g->strip[a].width,
                     cells[3] = {width * ny * nz, nxp * width * nz, nxp * ny * width};
        for (int n = 0; n < 6; n++, at += cells[a])
            g->strip[a].psi[n] = at;
    }
    return 0;
}

static int make_sides(fd3d *fd) {
    cpu3_own *o = own(&fd->h);
    cpu3_grid *g = &o->grid;
    const size_t plane = (size_t)g->n[0] * (size_t)g->n[1];
    if (g->top_rows > 0)
        TRY(host_alloc(&fd->h.memory, &o->top_d, 3 * (size_t)g->top_rows * (size_t)g->nxp * (size_t)g->n[1],
                       sizeof(float), "the free surface"));
    g->top_d = o->top_d;
    if (fd->cfg.side[5] == FD3D_ONE_WAY) {
        TRY(host_alloc(&fd->h.memory, &o->bottom, LEAVING * plane, sizeof(float), "the one-way bottom"));
        TRY(host_alloc(&fd->h.memory, &o->bottom_gp, plane, sizeof(float), "the one-way bottom"));
        TRY(host_alloc(&fd->h.memory, &o->bottom_gs, plane, sizeof(float), "the one-way bottom"));
    }
    return 0;
}

static int make(handle *h) {
    fd3d *fd = (fd3d *)h;
    TRY(cpu_make(h, sizeof(cpu3_own), isas, fd->cfg.threads));
    set_sizes(&own(h)->grid, &fd->cfg);
    TRY(make_arrays(fd));
    TRY(make_sides(fd));
    return make_strips(fd);
}

enum { MAP_PLANES = 24 }; /* of three velocities, that a level map is taken from, at most */

static int need(const kernel_variant *v, const fd3d_cfg *cfg, const fd3d_counts *c, size_t *host, size_t *device) {
    cpu3_grid g = {.nxp = 0};
    set_sizes(&g, cfg);
    const size_t plane = (size_t)g.nxp * (size_t)g.n[1], each = 6 * sizeof(int) + 28 /* while they are sorted */;
    (void)v;
    *host = sizeof(fd3d) + sizeof(cpu3_own) + cpu_whole_pages(all_floats(cfg, &g) * sizeof(float)) +
            psi_floats(&g) * sizeof(float);
    *host += (9 + 3 * (size_t)g.top_rows + LEAVING) * plane * sizeof(float); /* sides, a slice */
    *host += c->entries * each;
    *host += c->receivers * (8 * each + sizeof(float) * c->steps);
    *host += fd3d_map_bytes(c);
    if (c->points > 0)
        *host += FD3D_CPU_KEPT * (size_t)MAP_PLANES * (size_t)g.z * sizeof(float);
    *device = 0;
    return 0;
}

/* --- medium -------------------------------------------------------------------------------------------------- */

/* Planes of a volume with a ring of one cell into an array. */
static void put_planes(const cpu3_own *o, int first, int planes, const float *from, float *to) {
    const cpu3_grid *g = &o->grid;
    const size_t nx = (size_t)g->n[0] + 2, ny = (size_t)g->n[1] + 2;
#pragma omp parallel for schedule(static) num_threads(o->frame.threads) collapse(2)
    for (int k = 0; k < planes; k++)
        for (int j = -1; j <= g->n[1]; j++)
            memcpy(to + (first + k - 1) * g->z + j * g->y - 1, from + ((size_t)k * ny + (size_t)(j + 1)) * nx,
                   nx * sizeof(float));
}

static float one_way(double modulus, double rho, const fd3d_cfg *c) {
    const double step = rho > 0 ? sqrt(modulus / rho) * c->dt : 0;
    return (float)((step - c->d[2]) / (step + c->d[2]));
}

/* Sets the coefficients of sides, from the medium of the cells beside them, where that is in these planes. */
static void set_sides(fd3d *fd, const fd3d_slab *p) {
    cpu3_own *o = own(&fd->h);
    const size_t nx = (size_t)fd->cfg.n[0], ny = (size_t)fd->cfg.n[1];
    const int bottom = fd->cfg.n[2] - p->first;
    for (size_t j = 0; j < ny && o->bottom != NULL && bottom >= 0 && bottom < p->planes; j++)
        for (size_t i = 0; i < nx; i++) {
            const size_t at = ((size_t)bottom * (ny + 2) + j + 1) * (nx + 2) + i + 1;
            const double along = (double)p->lambda[at] + 2 * (double)p->mu[at];
            o->bottom_gp[j * nx + i] = one_way(along, p->rho[at], &fd->cfg);
            o->bottom_gs[j * nx + i] = one_way(p->mu[at] > 0 ? p->mu[at] : along, p->rho[at], &fd->cfg);
        }
}

/* 1/mu, infinite where there is no strength: beyond the ring too, where a medium may have been before, and above a free
 * surface, so that sxz and syz stay 0 there. */
static void put_softness(const cpu3_own *o, const fd3d_slab *p) {
    const cpu3_grid *g = &o->grid;
    const ptrdiff_t nx = g->n[0] + 2, ny = g->n[1] + 2, count = (ptrdiff_t)o->array;
    float *all = g->softness - g->L * (g->z + g->y) - LANES;
#pragma omp parallel for schedule(static) num_threads(o->frame.threads)
    for (ptrdiff_t m = 0; m < (p->first == 0 ? count : 0); m++)
        all[m] = INFINITY;
#pragma omp parallel for schedule(static) num_threads(o->frame.threads) collapse(2)
    for (int k = p->first == 0 && g->top_rows > 0 ? 1 : 0; k < p->planes; k++)
        for (ptrdiff_t j = 0; j < ny; j++) {
            const float *mu = p->mu + (k * ny + j) * nx;
            float *soft = g->softness + (p->first + k - 1) * g->z + (j - 1) * g->y - 1;
            for (ptrdiff_t i = 0; i < nx; i++)
                soft[i] = mu[i] > 0 ? 1.0f / mu[i] : INFINITY;
        }
}

static int model(fd3d *fd, const fd3d_slab *p) {
    const cpu3_own *o = own(&fd->h);
    put_planes(o, p->first, p->planes, p->rho, o->grid.rho);
    put_planes(o, p->first, p->planes, p->lambda, o->grid.lambda);
    put_softness(o, p);
    set_sides(fd, p);
    return 0;
}

static int quality(fd3d *fd, const float *qp, const float *qs) {
    cpu3_own *o = own(&fd->h);
    cpu3_grid *g = &o->grid;
    put_planes(o, 0, g->n[2] + 2, qp, g->qp);
    put_planes(o, 0, g->n[2] + 2, qs, g->qs);
    g->parity[0] = fd->cfg.first[1] & 1;
    g->parity[1] = fd->cfg.first[2] & 1;
    for (int row = 0; row < (g->anelastic == FD3D_ONE ? 4 : FD3D_TOGETHER); row++)
        for (int l = 0; l < LANES; l++) {
            const int m = g->anelastic == FD3D_ONE ? ((fd->cfg.first[0] + l) & 1) + 2 * row : row;
            const float e = (float)exp(-(double)fd->cfg.dt / fd->tau[m]);
            g->relax[row][0][l] = e;
            g->relax[row][1][l] = 0.5f * (1 - e);
            for (int p = 0; p < 3; p++)
                g->relax[row][2 + p][l] = fd->y[p][m];
            g->relax[row][5][l] = fd->stiff[m];
        }
    return 0;
}

/* --- layers -------------------------------------------------------------------------------------------------- */

/* Profiles along x are padded to whole vectors. */
static int pml(handle *h) {
    const fd3d *fd = (fd3d *)h;
    cpu3_own *o = own(h);
    cpu3_grid *g = &o->grid;
    TRY(host_alloc(&h->memory, &o->columns, 6 * (size_t)g->nxp, sizeof(float), "layer profiles along x"));
    profile_pad(fd->pml[0], g->n[0], o->columns, g->nxp);
    for (size_t c = 0; c < 6; c++) {
        g->strip[0].p[c] = o->columns + c * (size_t)g->nxp;
        for (int a = 1; a < 3; a++)
            g->strip[a].p[c] = fd->pml[a] + c * (size_t)g->n[a];
    }
    return 0;
}

static int sponge(fd3d *fd) {
    cpu3_own *o = own(&fd->h);
    cpu3_grid *g = &o->grid;
    TRY(host_alloc(&fd->h.memory, &o->sponge_x, (size_t)g->nxp, sizeof(float), "sponge along x"));
    memcpy(o->sponge_x, fd->sponge[0], (size_t)g->n[0] * sizeof(float));
    g->sponge[0] = o->sponge_x;
    for (int a = 0; a < 3; a++) {
        const float *s = fd->sponge[a];
        int low = 0, high = g->n[a];
        while (low < high && s[low] < 1)
            low++;
        while (high > low && s[high - 1] < 1)
            high--;
        for (int i = low; i < high; i++)
            if (s[i] < 1)
                low = high;
        g->calm[a][0] = low;
        g->calm[a][1] = high;
        if (a > 0)
            g->sponge[a] = s;
    }
    return 0;
}

/* --- fields -------------------------------------------------------------------------------------------------- */

static int get(fd3d *fd, int field, const int lo[3], const int hi[3], float *out) {
    const cpu3_grid *g = &own(&fd->h)->grid;
    const size_t n = (size_t)(hi[0] - lo[0]);
    for (int k = lo[2]; k < hi[2]; k++)
        for (int j = lo[1]; j < hi[1]; j++, out += n)
            memcpy(out, g->field[field] + k * g->z + j * g->y + lo[0], n * sizeof(float));
    return 0;
}

static void put(const cpu3_grid *g, int field, const int lo[3], const int hi[3], const float *in) {
    const size_t n = (size_t)(hi[0] - lo[0]);
    for (int k = lo[2]; k < hi[2]; k++)
        for (int j = lo[1]; j < hi[1]; j++, in += n)
            memcpy(g->field[field] + k * g->z + j * g->y + lo[0], in, n * sizeof(float));
}

static int set(handle *h, int field, const float *in) {
    put(&own(h)->grid, field, (int[3]){0, 0, 0}, h->n, in);
    return 0;
}

static int halo(fd3d *fd, int what, int side, float *out, const float *in) {
    int lo[3], hi[3], field[3];
    fd3d_halo_box(&fd->cfg, side, out != NULL, lo, hi);
    fd3d_halo_fields(what, side, field);
    const size_t cells = (size_t)(hi[0] - lo[0]) * (size_t)(hi[1] - lo[1]) * (size_t)(hi[2] - lo[2]);
    for (size_t f = 0; f < 3; f++)
        if (out != NULL)
            get(fd, field[f], lo, hi, out + f * cells);
        else
            put(&own(&fd->h)->grid, field[f], lo, hi, in + f * cells);
    return 0;
}

static size_t plane_cells(const fd3d *fd) { return (size_t)fd->cfg.n[0] * (size_t)fd->cfg.n[1]; }

static size_t map_floats(const fd3d *fd) { return 3 * (size_t)fd->map.n; }

static int reset(handle *h) {
    const fd3d *fd = (fd3d *)h;
    cpu3_own *o = own(h);
    cpu3_grid *g = &o->grid;
    for (int f = 0; f < FD3D_FIELDS + STRESSES; f++) {
        float *a = f < FD3D_FIELDS ? g->field[f] : g->memory[f - FD3D_FIELDS];
        if (a == NULL)
            continue;
#pragma omp parallel for schedule(static) num_threads(o->frame.threads)
        for (int k = -g->L; k < g->n[2] + g->L; k++)
            memset(a + k * g->z - g->L * g->y - LANES, 0, (size_t)g->z * sizeof(float));
    }
    memset(o->psi, 0, o->psi_count * sizeof(float));
    const size_t plane = o->memories / (size_t)g->n[2];
#pragma omp parallel for schedule(static) num_threads(o->frame.threads)
    for (int k = 0; k < g->n[2]; k++)
        if (plane > 0)
            memset(g->memories + (size_t)k * plane, 0, plane * sizeof(float));
    if (o->bottom != NULL)
        memset(o->bottom, 0, LEAVING * plane_cells(fd) * sizeof(float));
    if (o->peaks != NULL)
        memset(o->peaks, 0, map_floats(fd) * sizeof(float));
    return 0;
}

/* Fields with all that stands in their halos. */
static int state(handle *h, state_part *part) {
    const fd3d *fd = (fd3d *)h;
    cpu3_own *o = own(h);
    const cpu3_grid *g = &o->grid;
    const size_t rows = (size_t)g->rows * ((size_t)g->n[2] + 2 * (size_t)g->L) - 1;
    int n = 0;
    for (int f = 0; f < FD3D_FIELDS; f++)
        part[n++] =
            (state_part){g->field[f] - g->L * (g->z + g->y + 1), (size_t)g->n[0] + 2 * (size_t)g->L, rows, g->y};
    for (int s = 0; s < STRESSES && g->anelastic == FD3D_ONE; s++)
        part[n++] = (state_part){g->memory[s], (size_t)g->n[0], rows - (size_t)g->L * (2 * (size_t)g->rows), g->y};
    if (o->memories > 0)
        part[n++] = (state_part){g->memories, o->memories, 1, 0};
    part[n++] = (state_part){o->psi, o->psi_count, 1, 0};
    if (o->bottom != NULL)
        part[n++] = (state_part){o->bottom, LEAVING * plane_cells(fd), 1, 0};
    if (o->peaks != NULL)
        part[n++] = (state_part){o->peaks, map_floats(fd), 1, 0};
    return n;
}

/* --- map and maximum ----------------------------------------------------------------------------------------- */

static int watch(fd3d *fd, const fd3d_given *given) {
    cpu3_own *o = own(&fd->h);
    host_release(&fd->h.memory, &o->peaks);
    host_release(&fd->h.memory, &o->kept);
    o->kept_count = 0;
    if (given->n == 0)
        return 0;
    TRY(fd3d_set_map(fd, given, o->grid.y, o->grid.z));
    return host_alloc(&fd->h.memory, &o->peaks, map_floats(fd), sizeof(float), "map");
}

static int map(fd3d *fd, float *out) {
    memcpy(out, own(&fd->h)->peaks, map_floats(fd) * sizeof(float));
    return 0;
}

/* Row r of the three velocities, plane by plane. */
static const float *velocity_row(const void *grid, long r) {
    const cpu3_grid *g = grid;
    const long ny = g->n[1], rows = ny * g->n[2];
    return g->field[FD3D_VX + r / rows] + r % rows / ny * g->z + r % ny * g->y;
}

/* The first cell in the order of the grid, field by field, that holds the largest. */
static int maxabs(handle *h, float *value, int place[3]) {
    const cpu3_own *o = own(h);
    const long ny = h->n[1], rows = ny * h->n[2];
    long row;
    cpu_largest(&o->frame, &o->grid, velocity_row, 3 * rows, h->n[0], value, &row, &place[0]);
    place[1] = (int)(row % ny);
    place[2] = (int)(row % rows / ny);
    return 0;
}

static const fd3d_verbs verbs = {
    .common = {.frame = &cpu_frame_verbs, HANDLE_VERBS, .timestep = fd3d_cpu_timestep, .pml = pml},
    .model = model,
    .quality = quality,
    .sponge = sponge,
    .velocity = fd3d_cpu_velocity,
    .stress = fd3d_cpu_stress,
    .ahead = fd3d_cpu_ahead,
    .halo = halo,
    .get = get,
    .watch = watch,
    .map = map,
    .need = need,
};

FD3D_VARIANT(cpu) = {"cpu", "C, SIMD and threads, velocities and stresses in one sweep through the cache", 0,
                     &verbs.common, NULL};
