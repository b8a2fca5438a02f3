/* Handle, checks and dispatch of the 2D time loop; what the verbs mean is in interfaces/fd2d_c.f90. */
#include "fd2d.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "der.h"
#include "err.h"
#include "stencil_check.h"
#include "variants.h"

#define LARGEST 100000000 /* cells along one axis: keeps column arithmetic within int */

static int ready(const handle *h, int it, int n) {
    const fd2d *fd = (const fd2d *)h;
    const fd2d_cfg *c = &fd->cfg;
    TRY(handle_check_steps(h, it, n));
    REQUIRE(fd->has_pml || c->nleft + c->nright + c->ntop + c->nbottom == 0,
            "time stepping before the profiles of the absorbing layers were set");
    return 0;
}

static const fd2d_verbs *verbs(const kernel_variant *v) { return (const fd2d_verbs *)v->verbs; }

/* --- new ----------------------------------------------------------------------------------------------------- */

static int check_cfg(const void *cfg) {
    const fd2d_cfg *c = cfg;
    REQUIRE(c->nx >= 1 && c->nx <= LARGEST, "nx = %d cells, must be 1..%d", c->nx, LARGEST);
    REQUIRE(c->nz >= 1 && c->nz <= LARGEST, "nz = %d cells, must be 1..%d", c->nz, LARGEST);
    REQUIRE(c->half_length >= 1 && c->half_length <= DER_MAX, "half_length = %d, must be 1..%d", c->half_length,
            DER_MAX);
    REQUIRE(c->nleft >= 0 && c->nright >= 0 && c->ntop >= 0 && c->nbottom >= 0,
            "absorbing layers of %d, %d, %d, %d cells (left, right, top, bottom): must not be negative", c->nleft,
            c->nright, c->ntop, c->nbottom);
    REQUIRE((long)c->nleft + c->nright <= c->nx, "absorbing layers of %d and %d cells do not fit into nx = %d",
            c->nleft, c->nright, c->nx);
    REQUIRE((long)c->ntop + c->nbottom <= c->nz, "absorbing layers of %d and %d cells do not fit into nz = %d", c->ntop,
            c->nbottom, c->nz);
    REQUIRE(c->free_top == 0 || c->free_top == 1, "free_top = %d, must be 0 or 1", c->free_top);
    REQUIRE(c->apart == 0 || c->apart == 1, "apart = %d, must be 0 or 1", c->apart);
    REQUIRE(!c->free_top || c->ntop == 0, "ntop = %d cells above a free surface, must be 0", c->ntop);
    TRY(handle_check_machine(c->threads, c->share));
    REQUIRE(c->steps_a_pass >= 0 && c->steps_a_pass <= 4, "steps_a_pass = %d, must be 1..4, or 0: chosen",
            c->steps_a_pass);
    REQUIRE(memchr(c->shape, 0, sizeof c->shape) != NULL, "the name of a shape has no end");
    REQUIRE(isfinite(c->dx) && c->dx > 0, "dx = %g m, must be positive", (double)c->dx);
    REQUIRE(isfinite(c->dz) && c->dz > 0, "dz = %g m, must be positive", (double)c->dz);
    REQUIRE(isfinite(c->dt) && c->dt > 0, "dt = %g s, must be positive", (double)c->dt);
    return weights_check(c->half_length, c->w);
}

#define SOLVER   fd2d
#define NAME     "2D"
#define FIELDS   FD2D_FIELDS
#define FORGET   NULL
#define VARIANTS "fd2d_variants.def"
#include "solver.inc"

void *fd2d_new(const char *name, const fd2d_cfg *cfg) {
    return handle_new(&solver, name, cfg, (const int[3]){cfg->nx, 1, cfg->nz});
}

/* --- medium and layers --------------------------------------------------------------------------------------- */

static int check_positive(const fd2d_cfg *c, const float *a, const char *name, const char *unit) {
    for (int k = 0; k < c->nz; k++) {
        const float *row = a + (size_t)k * c->nx;
        int good = 0; /* counted first: that takes no branch */
        for (int i = 0; i < c->nx; i++)
            good += row[i] > 0 && row[i] <= FLT_MAX;
        for (int i = 0; i < c->nx && good < c->nx; i++) {
            const float value = row[i];
            REQUIRE(value > 0 && isfinite(value), "%s = %g %s at cell (%d, %d) of the grid, must be positive", name,
                    (double)value, unit, i + 1, k + 1);
        }
    }
    return 0;
}

static int set_model(fd2d *fd, const float *kappa, const float *rho, const float *rho_z) {
    TRY(handle_enter(fd));
    const fd2d_cfg *c = &fd->cfg;
    REQUIRE(c->apart == (rho_z != NULL), "apart = %d, but %s came", c->apart,
            rho_z != NULL ? "densities of both velocities" : "one density");
    TRY(check_positive(c, kappa, "bulk modulus", "Pa"));
    TRY(check_positive(c, rho, rho_z != NULL ? "density of vx" : "density", "kg/m3"));
    if (rho_z != NULL)
        TRY(check_positive(c, rho_z, "density of vz", "kg/m3"));
    TRY(verbs(fd->h.variant)->model(fd, kappa, rho, rho_z));
    fd->h.has_model = 1;
    return 0;
}

int fd2d_model(void *handle, const float *kappa, const float *rho) { return set_model(handle, kappa, rho, NULL); }

int fd2d_model_apart(void *handle, const float *kappa, const float *rho_x, const float *rho_z) {
    return set_model(handle, kappa, rho_x, rho_z);
}

void fd2d_coefficients(const fd2d_cfg *c, const float *kappa, const float *rho, const float *rho_z, int k, float *bx,
                       float *bz, float *kk) {
    const double tx = (double)c->dt / c->dx, tz = (double)c->dt / c->dz;
    const float *r = rho + (size_t)k * c->nx, *below = k + 1 < c->nz ? r + c->nx : r;
    const float *K = kappa + (size_t)k * c->nx;
    const int surface = c->free_top && k == 0;
    for (int i = 0; i < c->nx; i++) {
        int right = i + 1 < c->nx ? i + 1 : i;
        bx[i] = (float)(tx / (0.5 * ((double)r[i] + r[right])));
        bz[i] = (float)(tz / (0.5 * ((double)r[i] + below[i])));
        kk[i] = surface ? 0.0f : (float)(tx * K[i]);
    }
    if (rho_z == NULL)
        return;
    rho_z += (size_t)k * c->nx;
    for (int i = 0; i < c->nx; i++) {
        bx[i] = (float)(tx / r[i]);
        bz[i] = (float)(tz / rho_z[i]);
    }
}

int fd2d_pml(void *handle, const float *px, const float *pz) {
    fd2d *fd = handle;
    TRY(handle_enter(fd));
    const fd2d_cfg *c = &fd->cfg;
    TRY(profile_check(px, c->nx, c->nleft, c->nright, 1, "x"));
    TRY(profile_check(pz, c->nz, c->ntop, c->nbottom, 1, "z"));
    fd->has_pml = 0;
    TRY(host_copy(&fd->h.memory, &fd->px, px, 6 * (size_t)c->nx, sizeof(float), "layer profiles along x"));
    TRY(host_copy(&fd->h.memory, &fd->pz, pz, 6 * (size_t)c->nz, sizeof(float), "layer profiles along z"));
    TRY(handle_tell(&fd->h, fd->h.variant->verbs->pml));
    fd->has_pml = 1;
    return 0;
}

/* --- source and receivers ------------------------------------------------------------------------------------ */

static int check_cells(const fd2d_cfg *c, int n, const int *i, const int *k, const float *w, const char *what) {
    for (int m = 0; m < n; m++) {
        REQUIRE(i[m] >= 0 && i[m] < c->nx && k[m] >= 0 && k[m] < c->nz,
                "cell %d of the %s is (%d, %d), must lie in 1..%d, 1..%d", m + 1, what, i[m] + 1, k[m] + 1, c->nx,
                c->nz);
        REQUIRE(isfinite(w[m]), "weight %d of the %s is %g, must be finite", m + 1, what, (double)w[m]);
    }
    return 0;
}

int fd2d_source(void *handle, int nt, const float *q, int n, const int *i, const int *k, const float *w) {
    fd2d *fd = handle;
    TRY(handle_enter(fd));
    REQUIRE(nt >= 0 && n >= 0, "source of %d samples at %d cells: must not be negative", nt, n);
    for (int m = 0; m < nt; m++)
        REQUIRE(isfinite(q[m]), "sample %d of the source wavelet is %g, must be finite", m + 1, (double)q[m]);
    TRY(check_cells(&fd->cfg, n, i, k, w, "source"));
    int *field = NULL; /* sigma, of all cells */
    fd->h.histories.n = 0;
    TRY(host_alloc(&fd->h.memory, &field, (size_t)n, sizeof(int), "source cells"));
    const int rc = handle_source(&fd->h, n, &(given_cells){field, {i, NULL, k}}, NULL, w);
    host_release(&fd->h.memory, &field);
    TRY(rc);
    if (fd->cfg.free_top)
        source_silence_top(&fd->h.source[FD2D_SIGMA]);
    TRY(handle_histories(&fd->h, 1, 1, nt, q));
    fd->h.expected = nt;
    return handle_tell(&fd->h, fd->h.variant->verbs->source);
}

/* The field of each cell is that of its receiver. */
static int set_receivers(fd2d *fd, int nrec, const int *start, const int *field, const int *i, const int *k,
                         const float *w) {
    int *of = NULL;
    TRY(host_alloc(&fd->h.memory, &of, nrec == 0 ? 0 : (size_t)start[nrec], sizeof(int), "receiver cells"));
    for (int r = 0; r < nrec; r++)
        for (int m = start[r]; m < start[r + 1]; m++)
            of[m] = field[r];
    const int rc = handle_receivers(&fd->h, nrec, start, &(given_cells){of, {i, NULL, k}}, w);
    host_release(&fd->h.memory, &of);
    return rc;
}

int fd2d_receivers(void *handle, int nrec, const int *start, const int *field, const int *i, const int *k,
                   const float *w) {
    fd2d *fd = handle;
    TRY(handle_enter(fd));
    TRY(handle_check_receivers(nrec, start));
    for (int r = 0; r < nrec; r++)
        REQUIRE(field[r] >= 0 && field[r] < FD2D_FIELDS,
                "receiver %d samples field %d, must be 0 (sigma), 1 (vx) or 2 (vz)", r + 1, field[r]);
    TRY(check_cells(&fd->cfg, nrec == 0 ? 0 : start[nrec], i, k, w, "receivers"));
    TRY(set_receivers(fd, nrec, start, field, i, k, w));
    return handle_tell(&fd->h, fd->h.variant->verbs->receivers);
}

/* --- fields -------------------------------------------------------------------------------------------------- */

static int check_field(int which) {
    REQUIRE(which >= 0 && which < FD2D_FIELDS, "field %d, must be 0 (sigma), 1 (vx) or 2 (vz)", which);
    return 0;
}

int fd2d_field(void *handle, int which, float *out) {
    fd2d *fd = handle;
    TRY(handle_enter(fd) || check_field(which));
    return verbs(fd->h.variant)->get(fd, which, out);
}

int fd2d_set_field(void *handle, int which, const float *in) {
    return handle_enter(handle) || check_field(which) || handle_set_field(handle, which, in);
}

/* --- for the record ------------------------------------------------------------------------------------------ */

int fd2d_need(const char *name, const fd2d_cfg *cfg, int receivers, int steps, long *bytes) {
    const kernel_variant *v = variants_find(&solver, name);
    size_t need = 0;
    *bytes = 0;
    if (v == NULL || check_cfg(cfg))
        return 1;
    REQUIRE(receivers >= 0 && steps >= 0, "memory for %d receivers and %d steps: must not be negative", receivers,
            steps);
    if (verbs(v)->need != NULL)
        TRY(verbs(v)->need(v, cfg, receivers, steps, &need));
    *bytes = (long)need;
    return 0;
}

int fd2d_tune(void *handle, const char *isa, int width, int steps, int rows) {
    TRY(handle_enter(handle));
    REQUIRE(width >= 0 && width <= LARGEST && steps >= 0 && steps <= 64 && rows >= 0 && rows <= 4096,
            "tiles of %d cells, %d steps, %d rows: must be 0..%d, 0..64, 0..4096", width, steps, rows, LARGEST);
    return handle_tune(handle, isa, width, steps, rows);
}
