/* The `cpu` variant: memory, medium, layers and fields. The time loop is in fd2d_cpu_wave.c. */
#include "fd2d_cpu.h"

#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "err.h"

static const cpu_isa *const isas[] = {
#ifdef __x86_64__
    &fd2d_cpu_avx512, &fd2d_cpu_avx2,
#endif
    &fd2d_cpu_generic};

enum { ISAS = sizeof isas / sizeof isas[0], ARRAYS = 6, HUGE_PAGE = 2 << 20 };

static cpu_own *own(fd2d *fd) { return fd->own; }

static int round_up(int n) { return (n + LANES - 1) / LANES * LANES; }

/* --- new and free -------------------------------------------------------------------------------------------- */

/* Strips begin and end at multiples of LANES; at half points the right and lower layer begin one index earlier. */
static void set_strips(cpu_grid *g, const fd2d_cfg *c) {
    int right = c->nx - c->nright - 1, bottom = c->nz - c->nbottom - 1;
    g->left = round_up(c->nleft);
    g->right = c->nright == 0 ? g->nxp : right < 0 ? 0 : right / LANES * LANES;
    if (g->right < g->left)
        g->right = g->left;
    g->top = c->ntop;
    g->bottom = c->nbottom == 0 ? c->nz : bottom < c->ntop ? c->ntop : bottom;
    g->xpitch = g->left + (g->nxp - g->right);
}

/* Six arrays in one piece on huge pages where the system grants them, zeroed by the threads that will use them.
 * A row is 9 cache lines modulo 16: whatever the width, the rows of a vertical sum then spread over the sets of the
 * caches. */
static int make_arrays(fd2d *fd) {
    cpu_own *o = own(fd);
    cpu_grid *g = &o->grid;
    const size_t rows = (size_t)g->nz + 2 * DER_MAX;
    g->pitch = g->nxp + LANES;
    while (g->pitch / LANES % 16 != 9)
        g->pitch += LANES;
    const size_t one = rows * (size_t)g->pitch + 16 * LANES;
    REQUIRE(one < SIZE_MAX / (ARRAYS * sizeof(float)) / 2,
            "a grid of %d x %d cells is more than can be addressed: make it smaller", g->nx, g->nz);
    size_t bytes = (ARRAYS * one + LANES) * sizeof(float);
    bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    o->memory = aligned_alloc(HUGE_PAGE, bytes);
    REQUIRE(o->memory != NULL,
            "no memory for a grid of %d x %d cells (%.3f GB): use a smaller grid or fewer ranks a node", g->nx, g->nz,
            (double)bytes * 1e-9);
    o->memory_bytes = bytes;
    fd->bytes += bytes;
#ifdef MADV_HUGEPAGE
    madvise(o->memory, bytes, MADV_HUGEPAGE); /* a wish; without it the loop is slower, not wrong */
#endif
    float *base = o->memory, **arrays[ARRAYS] = {&g->field[0], &g->field[1], &g->field[2], &g->bx, &g->bz, &g->kk};
    for (int a = 0; a < ARRAYS; a++)
        *arrays[a] = base + a * one + LANES + DER_MAX * g->pitch;
#pragma omp parallel for schedule(static, 16) num_threads(o->threads)
    for (size_t row = 0; row < rows; row++)
        for (int a = 0; a < ARRAYS; a++)
            memset(base + a * one + row * (size_t)g->pitch, 0,
                   (row + 1 < rows ? (size_t)g->pitch : one - row * (size_t)g->pitch) * sizeof(float));
    return 0;
}

static int make_strips(fd2d *fd) {
    cpu_own *o = own(fd);
    cpu_grid *g = &o->grid;
    const size_t x = (size_t)g->xpitch * (size_t)g->nz, z = (size_t)g->nxp * (size_t)(g->top + g->nz - g->bottom);
    o->psi_count = 2 * (x + z);
    TRY(fd2d_alloc(fd, &o->psi, o->psi_count, sizeof(float), "memory variables of the absorbing layers"));
    g->psix_v = o->psi;
    g->psix_s = g->psix_v + x;
    g->psiz_v = g->psix_s + x;
    g->psiz_s = g->psiz_v + z;
    return 0;
}

static const cpu_isa *best_isa(void) {
    int n = 0;
    while (!isas[n]->supported())
        n++;
    return isas[n];
}

static int make(fd2d *fd) {
    const fd2d_cfg *c = &fd->cfg;
    TRY(fd2d_alloc(fd, &fd->own, 1, sizeof(cpu_own), "the cpu variant"));
    cpu_own *o = own(fd);
    cpu_grid *g = &o->grid;
    o->isa = best_isa();
    o->threads = c->threads > 0 ? c->threads : omp_get_max_threads();
    g->nx = c->nx;
    g->nz = c->nz;
    g->nxp = round_up(c->nx);
    g->L = c->half_length;
    g->free_top = c->free_top;
    g->ratio = (float)((double)c->dx / c->dz);
    memcpy(g->w, c->w, sizeof(float) * (size_t)g->L);
    set_strips(g, c);
    TRY(make_arrays(fd));
    return make_strips(fd);
}

static void release(fd2d *fd) {
    cpu_own *o = own(fd);
    if (o == NULL)
        return;
    fd->bytes -= o->memory_bytes;
    free(o->memory);
    fd2d_release(fd, &o->columns);
    fd2d_release(fd, &o->psi);
    fd2d_release(fd, &o->samples);
    fd2d_release(fd, &fd->own);
}

/* --- medium and layers --------------------------------------------------------------------------------------- */

static int model(fd2d *fd, const float *kappa, const float *rho) {
    cpu_own *o = own(fd);
    cpu_grid *g = &o->grid;
#pragma omp parallel for schedule(static, 16) num_threads(o->threads)
    for (int k = 0; k < g->nz; k++) {
        const ptrdiff_t row = k * g->pitch;
        fd2d_coefficients(&fd->cfg, kappa, rho, k, g->bx + row, g->bz + row, g->kk + row);
    }
    return 0;
}

/* Profiles along x padded to whole vectors: a = b = 0 and 1/k = 1 there. */
static int pml(fd2d *fd) {
    cpu_own *o = own(fd);
    cpu_grid *g = &o->grid;
    const size_t nxp = (size_t)g->nxp, nx = (size_t)g->nx, nz = (size_t)g->nz;
    TRY(fd2d_alloc(fd, &o->columns, 6 * nxp, sizeof(float), "layer profiles along x"));
    for (size_t c = 0; c < 6; c++) {
        for (size_t i = 0; i < nxp; i++)
            o->columns[c * nxp + i] = i < nx ? fd->px[c * nx + i] : c % 3 == 2 ? 1.0f : 0.0f;
        g->px[c] = o->columns + c * nxp;
        g->pz[c] = fd->pz + c * nz;
    }
    return 0;
}

static int nothing(fd2d *fd) {
    (void)fd;
    return 0;
}

/* --- fields -------------------------------------------------------------------------------------------------- */

static int get(fd2d *fd, int field, float *out) {
    const cpu_grid *g = &own(fd)->grid;
    for (int k = 0; k < g->nz; k++)
        memcpy(out + (size_t)k * (size_t)g->nx, g->field[field] + k * g->pitch, sizeof(float) * (size_t)g->nx);
    return 0;
}

static int set(fd2d *fd, int field, const float *in) {
    const cpu_grid *g = &own(fd)->grid;
    for (int k = 0; k < g->nz; k++)
        memcpy(g->field[field] + k * g->pitch, in + (size_t)k * (size_t)g->nx, sizeof(float) * (size_t)g->nx);
    if (g->free_top) {
        if (field == FD2D_SIGMA)
            memset(g->field[field], 0, sizeof(float) * (size_t)g->nx);
        fd2d_cpu_mirror(g, field, 0, g->nz, 0, g->nxp);
    }
    return 0;
}

static int reset(fd2d *fd) {
    cpu_own *o = own(fd);
    cpu_grid *g = &o->grid;
#pragma omp parallel for schedule(static, 16) num_threads(o->threads)
    for (int k = -DER_MAX; k < g->nz + DER_MAX; k++)
        for (int f = 0; f < FD2D_FIELDS; f++)
            memset(g->field[f] + k * g->pitch, 0, sizeof(float) * (size_t)g->nxp);
    memset(o->psi, 0, o->psi_count * sizeof(float));
    return 0;
}

/* Fields with the images above a free surface and the padding at the right, as they are: then not even the sign of a
 * zero changes. */
static int state(fd2d *fd, fd2d_part *part) {
    cpu_own *o = own(fd);
    const cpu_grid *g = &o->grid;
    const int k0 = g->free_top ? -DER_MAX : 0;
    for (int f = 0; f < FD2D_FIELDS; f++)
        part[f] = (fd2d_part){g->field[f] + k0 * g->pitch, (size_t)g->nxp, (size_t)(g->nz - k0), g->pitch};
    part[FD2D_FIELDS] = (fd2d_part){o->psi, o->psi_count, 1, 0};
    return FD2D_FIELDS + 1;
}

/* The bits of |x|: ordered as |x| is, infinities above all numbers, NaN above infinity; and gcc vectorises the maximum.
 */
static int row_maximum(const float *row, int n) {
    int largest = 0;
    for (int i = 0; i < n; i++) {
        int bits;
        memcpy(&bits, row + i, sizeof bits);
        bits &= INT_MAX;
        largest = bits > largest ? bits : largest;
    }
    return largest;
}

static int maxabs(fd2d *fd, float *value, int *i, int *k) {
    cpu_own *o = own(fd);
    const cpu_grid *g = &o->grid;
    const float *s = g->field[FD2D_SIGMA];
    int largest = 0, row = 0, column = 0;
#pragma omp parallel num_threads(o->threads)
    {
        int mine = -1, at = INT_MAX;
#pragma omp for schedule(static) nowait
        for (int r = 0; r < g->nz; r++) {
            int m = row_maximum(s + r * g->pitch, g->nx);
            if (m > mine)
                mine = m, at = r;
        }
#pragma omp critical(fd2d_cpu_maxabs)
        if (mine > largest || (mine == largest && mine > 0 && at < row))
            largest = mine, row = at;
    }
    while (column + 1 < g->nx && row_maximum(s + row * g->pitch + column, 1) != largest)
        column++;
    memcpy(value, &largest, sizeof *value);
    if (!isfinite(*value))
        *value = INFINITY;
    *i = column;
    *k = row;
    return 0;
}

/* --- tuning and record --------------------------------------------------------------------------------------- */

static void threads(fd2d *fd, int number) { own(fd)->threads = number; }

static int tune(fd2d *fd, const char *isa, int width, int steps, int rows) {
    cpu_own *o = own(fd);
    const cpu_isa *chosen = isa[0] == 0 ? best_isa() : NULL;
    for (int n = 0; n < ISAS && chosen == NULL; n++)
        if (strcmp(isas[n]->name, isa) == 0)
            chosen = isas[n];
    REQUIRE(chosen != NULL, "no instruction set \"%.40s\" in this build: use avx512, avx2 or generic", isa);
    REQUIRE(chosen->supported(), "this processor has no %s", chosen->label);
    o->isa = chosen;
    o->width = width;
    o->steps = steps;
    o->rows = rows;
    return 0;
}

static void device(fd2d *fd, char *text, size_t length) {
    const cpu_own *o = own(fd);
    snprintf(text, length, "%s, %d thread%s", o->isa->label, o->threads, o->threads == 1 ? "" : "s");
}

FD2D_VARIANT(cpu) = {
    .name = "cpu",
    .about = "C, SIMD and threads, several time steps a sweep through the cache",
    .make = make,
    .release = release,
    .model = model,
    .pml = pml,
    .source = nothing,
    .receivers = nothing,
    .timestep = fd2d_cpu_timestep,
    .get = get,
    .set = set,
    .maxabs = maxabs,
    .reset = reset,
    .state = state,
    .threads = threads,
    .tune = tune,
    .device = device,
};
