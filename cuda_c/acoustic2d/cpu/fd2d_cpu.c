/* The `cpu` variant: memory, medium, layers and fields. The time loop is in fd2d_cpu_wave.c. */
#include "fd2d_cpu.h"

#include <stdio.h>
#include <string.h>

#include "err.h"
#include "stencil_check.h"

static const cpu_isa *const isas[] = {
#ifdef __x86_64__
    &fd2d_cpu_avx512, &fd2d_cpu_avx2,
#endif
    &fd2d_cpu_generic, NULL};

enum { ARRAYS = 6 };

static cpu_own *own(handle *h) { return h->own; }

static int round_up(int n) { return (n + LANES - 1) / LANES * LANES; }

/* --- new and free -------------------------------------------------------------------------------------------- */

/* Strips begin and end at multiples of LANES; at half points the right and lower layer begin one index earlier. */
static void set_strips(cpu_grid *g, const fd2d_cfg *c) {
    int right = c->nx - c->nright - 1, bottom = c->nz - c->nbottom - 1;
    g->left = round_up(c->nleft);
    g->right = c->nright == 0 ? g->nxp : right < 0 ? 0 : right / LANES * LANES;
    if (g->right < g->left)
        g->right = g->left;
    g->low_x = c->nleft;
    g->high_x = c->nright == 0 ? g->nxp : right > 0 ? right : 0;
    g->top = c->ntop;
    g->bottom = c->nbottom == 0 ? c->nz : bottom < c->ntop ? c->ntop : bottom;
    g->xpitch = g->left + (g->nxp - g->right);
}

/* Six arrays in one piece, zeroed by the threads that will use them, and behind them the memory variables of the
 * layers, so that these too lie on huge pages. A row is 9 cache lines modulo 16: whatever the
 * width, the rows of a vertical sum then spread over the sets of the caches. */
static int make_arrays(handle *h) {
    cpu_own *o = own(h);
    cpu_grid *g = &o->grid;
    char cells[32];
    const size_t rows = (size_t)g->nz + 2 * DER_MAX;
    g->pitch = g->nxp + LANES;
    while (g->pitch / LANES % 16 != 9)
        g->pitch += LANES;
    const size_t one = rows * (size_t)g->pitch + 16 * LANES, x = (size_t)g->xpitch * (size_t)g->nz,
                 z = (size_t)g->nxp * (size_t)(g->top + g->nz - g->bottom);
    o->psi_count = 2 * (x + z);
    const size_t floats = ARRAYS * one + LANES + o->psi_count;
    snprintf(cells, sizeof cells, "%d x %d", g->nx, g->nz);
    TRY(cpu_take_pages(h, (double)floats, floats * sizeof(float), cells));
    float *base = o->frame.pages, **arrays[ARRAYS] = {&g->field[0], &g->field[1], &g->field[2], &g->bx, &g->bz, &g->kk};
    for (int a = 0; a < ARRAYS; a++)
        *arrays[a] = base + a * one + LANES + DER_MAX * g->pitch;
    o->psi = base + ARRAYS * one + LANES;
    g->psix_v = o->psi;
    g->psix_s = g->psix_v + x;
    g->psiz_v = g->psix_s + x;
    g->psiz_s = g->psiz_v + z;
    memset(o->psi, 0, o->psi_count * sizeof(float));
#pragma omp parallel for schedule(static, 16) num_threads(o->frame.threads)
    for (size_t row = 0; row < rows; row++)
        for (int a = 0; a < ARRAYS; a++)
            memset(base + a * one + row * (size_t)g->pitch, 0,
                   (row + 1 < rows ? (size_t)g->pitch : one - row * (size_t)g->pitch) * sizeof(float));
    return 0;
}

static int make(handle *h) {
    const fd2d_cfg *c = &((fd2d *)h)->cfg;
    TRY(cpu_make(h, sizeof(cpu_own), isas, c->threads));
    cpu_grid *g = &own(h)->grid;
    g->nx = c->nx;
    g->nz = c->nz;
    g->nxp = round_up(c->nx);
    g->L = c->half_length;
    g->free_top = c->free_top;
    g->ratio = (float)((double)c->dx / c->dz);
    memcpy(g->w, c->w, sizeof(float) * (size_t)g->L);
    set_strips(g, c);
    return make_arrays(h);
}

/* --- medium and layers --------------------------------------------------------------------------------------- */

static int model(fd2d *fd, const float *kappa, const float *rho, const float *rho_z) {
    cpu_own *o = own(&fd->h);
    cpu_grid *g = &o->grid;
#pragma omp parallel for schedule(static, 16) num_threads(o->frame.threads)
    for (int k = 0; k < g->nz; k++) {
        const ptrdiff_t row = k * g->pitch;
        fd2d_coefficients(&fd->cfg, kappa, rho, rho_z, k, g->bx + row, g->bz + row, g->kk + row);
    }
    return 0;
}

/* Profiles along x are padded to whole vectors. */
static int pml(handle *h) {
    const fd2d *fd = (fd2d *)h;
    cpu_own *o = own(h);
    cpu_grid *g = &o->grid;
    TRY(host_alloc(&h->memory, &o->columns, 6 * (size_t)g->nxp, sizeof(float), "layer profiles along x"));
    profile_pad(fd->px, g->nx, o->columns, g->nxp);
    for (int c = 0; c < 6; c++) {
        g->px[c] = o->columns + c * g->nxp;
        g->pz[c] = fd->pz + (size_t)c * (size_t)g->nz;
    }
    return 0;
}

/* --- fields -------------------------------------------------------------------------------------------------- */

static int get(fd2d *fd, int field, float *out) {
    const cpu_grid *g = &own(&fd->h)->grid;
    for (int k = 0; k < g->nz; k++)
        memcpy(out + (size_t)k * (size_t)g->nx, g->field[field] + k * g->pitch, sizeof(float) * (size_t)g->nx);
    return 0;
}

static int set(handle *h, int field, const float *in) {
    const cpu_grid *g = &own(h)->grid;
    for (int k = 0; k < g->nz; k++)
        memcpy(g->field[field] + k * g->pitch, in + (size_t)k * (size_t)g->nx, sizeof(float) * (size_t)g->nx);
    if (g->free_top) {
        if (field == FD2D_SIGMA)
            memset(g->field[field], 0, sizeof(float) * (size_t)g->nx);
        fd2d_cpu_mirror(g, field, 0, g->nz, 0, g->nxp);
    }
    return 0;
}

static int reset(handle *h) {
    cpu_own *o = own(h);
    cpu_grid *g = &o->grid;
#pragma omp parallel for schedule(static, 16) num_threads(o->frame.threads)
    for (int k = -DER_MAX; k < g->nz + DER_MAX; k++)
        for (int f = 0; f < FD2D_FIELDS; f++)
            memset(g->field[f] + k * g->pitch, 0, sizeof(float) * (size_t)g->nxp);
    memset(o->psi, 0, o->psi_count * sizeof(float));
    return 0;
}

/* Fields with the images above a free surface and the padding at the right, as they are: then not even the sign of a
 * zero changes. */
static int state(handle *h, state_part *part) {
    cpu_own *o = own(h);
    const cpu_grid *g = &o->grid;
    const int k0 = g->free_top ? -DER_MAX : 0;
    for (int f = 0; f < FD2D_FIELDS; f++)
        part[f] = (state_part){g->field[f] + k0 * g->pitch, (size_t)g->nxp, (size_t)(g->nz - k0), g->pitch};
    part[FD2D_FIELDS] = (state_part){o->psi, o->psi_count, 1, 0};
    return FD2D_FIELDS + 1;
}

static const float *sigma_row(const void *grid, long k) {
    const cpu_grid *g = grid;
    return g->field[FD2D_SIGMA] + k * g->pitch;
}

static int maxabs(handle *h, float *value, int place[3]) {
    const cpu_own *o = own(h);
    long row;
    cpu_largest(&o->frame, &o->grid, sigma_row, o->grid.nz, o->grid.nx, value, &row, &place[0]);
    place[2] = (int)row;
    return 0;
}

static const fd2d_verbs verbs = {
    .common = {.frame = &cpu_frame_verbs, HANDLE_VERBS, .timestep = fd2d_cpu_timestep, .pml = pml},
    .model = model,
    .get = get,
};

FD2D_VARIANT(cpu) = {"cpu", "C, SIMD and threads, several time steps a sweep through the cache", 0, &verbs.common,
                     NULL};
