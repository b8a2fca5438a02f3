/* Handle, checks and dispatch of the 3D time loop; what the verbs mean is in interfaces/fd3d_c.f90. */
#include "fd3d.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "der3d.h"
#include "err.h"
#include "variants.h"

#define LARGEST 1000000 /* cells along one axis: keeps arithmetic on cells within long */

static const fd3d_variant *const variants[] = {/* ends with null: a build may have none */
#define FD3D_ENTRY(name) &fd3d_variant_##name,
#ifdef SPL_CUDA
#define FD3D_GPU_ENTRY(word) FD3D_ENTRY(word)
#else
#define FD3D_GPU_ENTRY(word) &(const fd3d_variant){.name = #word, .about = "not in this build", .needs_gpu = 1},
#endif
#include "fd3d_variants.def"
#undef FD3D_ENTRY
#undef FD3D_GPU_ENTRY
                                               NULL};

enum { VARIANTS = sizeof variants / sizeof variants[0] - 1 };

/* --- variants ------------------------------------------------------------------------------------------------ */

static variant_words words(int n) {
    const fd3d_variant *v = variants[n];
    return (variant_words){v->name, v->about, v->needs_gpu, v->make != NULL};
}

static const variant_list list = {VARIANTS, words, " of the 3D solver"};

int fd3d_variant_count(void) { return VARIANTS; }

int fd3d_variant_name(int n, int length, char *text) { return variants_name(&list, n, length, text); }

int fd3d_variant_about(int n, int length, char *text) { return variants_about(&list, n, length, text); }

int fd3d_variant_needs_gpu(int n) { return variants_needs_gpu(&list, n); }

int fd3d_variant_built(int n) { return variants_built(&list, n); }

static const fd3d_variant *find_variant(const char *name) {
    const int n = variants_find(&list, name);
    return n < 0 ? NULL : variants[n];
}

/* --- new and free -------------------------------------------------------------------------------------------- */

static const char *const axis_name[3] = {"x", "y", "z"};
static const char *const side_name[6] = {"left", "right", "front", "back", "top", "bottom"};

static int check_side(const fd3d_cfg *c, int side) {
    const int kind = c->side[side], other = c->side[side ^ 1], n = c->n[side / 2];
    REQUIRE(kind >= 0 && kind < FD3D_KINDS, "kind %d of the %s side, must be 0..%d", kind, side_name[side],
            FD3D_KINDS - 1);
    REQUIRE(kind != FD3D_FREE || side == 4, "a free surface at the %s side: only the top can be one", side_name[side]);
    REQUIRE(kind != FD3D_ONE_WAY || side == 5, "a one-way boundary at the %s side: only the bottom can be one",
            side_name[side]);
    REQUIRE(kind != FD3D_PERIODIC || other == FD3D_PERIODIC,
            "the %s side is periodic, so the %s side must be periodic too", side_name[side], side_name[side ^ 1]);
    REQUIRE(kind == FD3D_OUTSIDE || n >= c->half_length + (kind != FD3D_NEIGHBOUR && kind != FD3D_PERIODIC),
            "%d cells along %s are too few for the %s side and half_length = %d", n, axis_name[side / 2],
            side_name[side], c->half_length);
    REQUIRE(c->layer[side] >= 0 && c->layer[side] <= n, "absorbing layer of %d cells at the %s side, must be 0..%d",
            c->layer[side], side_name[side], n);
    REQUIRE(c->layer[side] == 0 || (kind != FD3D_FREE && kind != FD3D_PERIODIC),
            "absorbing layer of %d cells at the %s side, which is %s: must be 0", c->layer[side], side_name[side],
            kind == FD3D_FREE ? "a free surface" : "periodic");
    return 0;
}

static int check_axis(const fd3d_cfg *c, int a) {
    REQUIRE(c->n[a] >= 1 && c->n[a] <= LARGEST, "n%s = %d cells, must be 1..%d", axis_name[a], c->n[a], LARGEST);
    REQUIRE(c->whole[a] <= LARGEST && c->first[a] >= 0 && (long)c->first[a] + c->n[a] <= c->whole[a],
            "cells %d..%ld along %s of a grid of %d cells", c->first[a] + 1, (long)c->first[a] + c->n[a], axis_name[a],
            c->whole[a]);
    REQUIRE(isfinite(c->d[a]) && c->d[a] > 0, "d%s = %g m, must be positive", axis_name[a], (double)c->d[a]);
    TRY(check_side(c, 2 * a));
    TRY(check_side(c, 2 * a + 1));
    REQUIRE((long)c->layer[2 * a] + c->layer[2 * a + 1] <= c->n[a],
            "absorbing layers of %d and %d cells do not fit into n%s = %d", c->layer[2 * a], c->layer[2 * a + 1],
            axis_name[a], c->n[a]);
    return 0;
}

static int check_cfg(const fd3d_cfg *c) {
    REQUIRE(c->half_length >= 1 && c->half_length <= D3_MAX, "half_length = %d, must be 1..%d", c->half_length, D3_MAX);
    for (int a = 0; a < 3; a++)
        TRY(check_axis(c, a));
    REQUIRE(c->anelastic == 0 || c->anelastic == 1, "anelastic = %d, must be 0 or 1", c->anelastic);
    REQUIRE(c->threads >= 0 && c->threads <= 4096, "threads = %d, must be 0..4096", c->threads);
    REQUIRE(c->share >= 0 && c->share <= 4096, "%d handles share the GPU, must be 0..4096", c->share);
    REQUIRE(c->sparse >= 0 && c->sparse <= 2, "sparse = %d, must be 0..2", c->sparse);
    for (int s = 0; s < 6 && c->sparse; s++)
        REQUIRE(c->side[s] != FD3D_NEIGHBOUR, "a sparse grid with a neighbour at its %s side: it is stepped whole",
                side_name[s]);
    REQUIRE(isfinite(c->dt) && c->dt > 0, "dt = %g s, must be positive", (double)c->dt);
    for (int m = 0; m < c->half_length; m++)
        REQUIRE(isfinite(c->w[m]), "weight %d of the differentiator is %g, must be finite", m + 1, (double)c->w[m]);
    return 0;
}

void *fd3d_new(const char *variant, const fd3d_cfg *cfg) {
    const fd3d_variant *v = find_variant(variant);
    if (v == NULL || check_cfg(cfg))
        return NULL;
    fd3d *fd = calloc(1, sizeof *fd);
    if (fd == NULL) {
        err_set("no memory for a handle of %zu bytes", sizeof *fd);
        return NULL;
    }
    fd->variant = v;
    fd->cfg = *cfg;
    fd->bytes = sizeof *fd;
    /* the fields first: a grid that is too large fails before anything else is filled */
    if (v->make(fd) || fd3d_set_source_cells(fd, 0, NULL, NULL, NULL, NULL, NULL, NULL) ||
        fd3d_set_receiver_cells(fd, 0, &(int){0}, NULL, NULL, NULL, NULL, NULL)) {
        fd3d_free(fd);
        return NULL;
    }
    return fd;
}

static void release_cells(fd3d *fd, fd3d_cells *cells) {
    fd3d_release(fd, &cells->plane);
    fd3d_release(fd, &cells->i);
    fd3d_release(fd, &cells->j);
    fd3d_release(fd, &cells->k);
}

void fd3d_free(void *handle) {
    fd3d *fd = handle;
    if (fd == NULL)
        return;
    fd->variant->release(fd);
    void *owned[] = {&fd->pml[0], &fd->pml[1], &fd->pml[2], &fd->sponge[0], &fd->sponge[1], &fd->sponge[2],
                     &fd->q,      &fd->start,  &fd->cell,   &fd->w,         &fd->trace};
    for (size_t n = 0; n < sizeof owned / sizeof owned[0]; n++)
        fd3d_release(fd, owned[n]);
    for (int f = 0; f < FD3D_FIELDS; f++) {
        release_cells(fd, &fd->sampled[f]);
        release_cells(fd, &fd->source[f].cells);
        fd3d_release(fd, &fd->source[f].start);
        fd3d_release(fd, &fd->source[f].h);
        fd3d_release(fd, &fd->source[f].w);
    }
    fd3d_release_map(fd);
    free(fd);
}

static int check_handle(const void *handle) {
    REQUIRE(handle != NULL, "the 3D solver is used before it is made (null handle)");
    return 0;
}

/* --- medium and layers --------------------------------------------------------------------------------------- */

/* A volume with its ring: finite, at least `least` and at most `most`. */
static int check_volume(const fd3d_cfg *c, const float *a, float least, float most, const char *name,
                        const char *unit) {
    const size_t nx = (size_t)c->n[0] + 2, ny = (size_t)c->n[1] + 2, nz = (size_t)c->n[2] + 2;
    for (size_t k = 0; k < nz; k++)
        for (size_t j = 0; j < ny; j++)
            for (size_t i = 0; i < nx; i++) {
                const float value = a[(k * ny + j) * nx + i];
                REQUIRE(value >= least && value <= most,
                        "%s = %g%s at cell (%zu, %zu, %zu) of the grid, must be %g..%g", name, (double)value, unit, i,
                        j, k, (double)least, (double)most);
            }
    return 0;
}

int fd3d_model(void *handle, const float *rho, const float *lambda, const float *mu) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    TRY(check_volume(&fd->cfg, rho, 0, 1e6f, "density", " kg/m3"));
    TRY(check_volume(&fd->cfg, lambda, -1e15f, 1e15f, "lambda", " Pa"));
    TRY(check_volume(&fd->cfg, mu, 0, 1e15f, "mu", " Pa"));
    const size_t cells = ((size_t)fd->cfg.n[0] + 2) * ((size_t)fd->cfg.n[1] + 2) * ((size_t)fd->cfg.n[2] + 2);
    for (size_t m = 0; m < cells; m++)
        REQUIRE((rho[m] > 0 && 3 * lambda[m] + 2 * mu[m] > 0) || (lambda[m] == 0 && mu[m] == 0),
                "density %g kg/m3, lambda %g, mu %g Pa are no rock or fluid (rho > 0, 3 lambda + 2 mu > 0) nor air "
                "(moduli 0)",
                (double)rho[m], (double)lambda[m], (double)mu[m]);
    TRY(fd->variant->model(fd, rho, lambda, mu));
    fd->has_model = 1;
    return 0;
}

int fd3d_quality(void *handle, const float *tau, const float *y, const float *qp, const float *qs) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    REQUIRE(fd->cfg.anelastic, "attenuation of a grid made without memory variables (anelastic = 0)");
    for (int m = 0; m < FD3D_MECHANISMS; m++) {
        REQUIRE(isfinite(tau[m]) && tau[m] > 0, "relaxation time %d is %g s, must be positive", m + 1, (double)tau[m]);
        fd->tau[m] = tau[m];
        for (int p = 0; p < 3; p++) {
            const float value = y[p * FD3D_MECHANISMS + m];
            REQUIRE(isfinite(value), "coefficient %d of relaxation mechanism %d is %g, must be finite", p + 1, m + 1,
                    (double)value);
            fd->y[p][m] = value;
        }
    }
    TRY(check_volume(&fd->cfg, qp, 0, 1, "1/Qp", ""));
    TRY(check_volume(&fd->cfg, qs, 0, 1, "1/Qs", ""));
    TRY(fd->variant->quality(fd, qp, qs));
    fd->has_quality = 1;
    return 0;
}

/* Columns of p(n,6) finite, and without effect outside the layers of `low` and `high` cells. */
static int check_profile(const float *p, int n, int low, int high, const char *axis) {
    for (int c = 0; c < 6; c++)
        for (int j = 0; j < n; j++) {
            float value = p[(size_t)c * (size_t)n + (size_t)j];
            REQUIRE(isfinite(value), "column %d of the absorbing layer along %s is %g at cell %d, must be finite",
                    c + 1, axis, (double)value, j + 1);
            int inside = j < low || j >= n - high;
            float neutral = c % 3 == 2 ? 1.0f : 0.0f;
            REQUIRE(inside || c % 3 == 1 || value == neutral,
                    "column %d of the absorbing layer along %s is %g at cell %d, outside the layers of %d and %d "
                    "cells: must be %g",
                    c + 1, axis, (double)value, j + 1, low, high, (double)neutral);
        }
    return 0;
}

int fd3d_pml(void *handle, const float *px, const float *py, const float *pz) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    const float *p[3] = {px, py, pz};
    fd->has_pml = 0;
    for (int a = 0; a < 3; a++) {
        const size_t n = (size_t)fd->cfg.n[a];
        TRY(check_profile(p[a], fd->cfg.n[a], fd->cfg.layer[2 * a], fd->cfg.layer[2 * a + 1], axis_name[a]));
        TRY(fd3d_alloc(fd, &fd->pml[a], 6 * n, sizeof(float), "layer profiles"));
        memcpy(fd->pml[a], p[a], 6 * n * sizeof(float));
    }
    TRY(fd->variant->pml(fd));
    fd->has_pml = 1;
    return 0;
}

int fd3d_sponge(void *handle, const float *gx, const float *gy, const float *gz) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    const float *g[3] = {gx, gy, gz};
    fd->has_sponge = 0;
    for (int a = 0; a < 3; a++) {
        const size_t n = (size_t)fd->cfg.n[a];
        for (size_t m = 0; m < n; m++)
            REQUIRE(g[a][m] > 0 && g[a][m] <= 1, "sponge factor along %s is %g at cell %zu, must be above 0, at most 1",
                    axis_name[a], (double)g[a][m], m + 1);
        TRY(fd3d_alloc(fd, &fd->sponge[a], n, sizeof(float), "sponge"));
        memcpy(fd->sponge[a], g[a], n * sizeof(float));
    }
    fd->has_sponge = 1;
    return fd->variant->sponge(fd);
}

/* --- source and receivers ------------------------------------------------------------------------------------ */

static int check_cells(const fd3d_cfg *c, int n, const int *field, const int *i, const int *j, const int *k,
                       const float *w, const char *what) {
    for (int m = 0; m < n; m++) {
        REQUIRE(field[m] >= 0 && field[m] < FD3D_FIELDS, "field %d of cell %d of the %s, must be 0..%d", field[m],
                m + 1, what, FD3D_FIELDS - 1);
        REQUIRE(i[m] >= 0 && i[m] < c->n[0] && j[m] >= 0 && j[m] < c->n[1] && k[m] >= 0 && k[m] < c->n[2],
                "cell %d of the %s is (%d, %d, %d), must lie in 1..%d, 1..%d, 1..%d", m + 1, what, i[m] + 1, j[m] + 1,
                k[m] + 1, c->n[0], c->n[1], c->n[2]);
        REQUIRE(isfinite(w[m]), "weight %d of the %s is %g, must be finite", m + 1, what, (double)w[m]);
    }
    return 0;
}

static int forget_histories(fd3d *fd) {
    fd->q_first = fd->q_steps = fd->silent = 0;
    return 0;
}

int fd3d_source(void *handle, int nh, int n, const int *field, const int *i, const int *j, const int *k, const int *h,
                const float *w) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    REQUIRE(nh >= 0 && n >= 0, "source of %d histories at %d cells: must not be negative", nh, n);
    TRY(check_cells(&fd->cfg, n, field, i, j, k, w, "source"));
    for (int m = 0; m < n; m++)
        REQUIRE(h[m] >= 0 && h[m] < nh, "cell %d of the source has history %d, must be 1..%d", m + 1, h[m] + 1, nh);
    fd->nh = 0;
    forget_histories(fd);
    TRY(fd3d_set_source_cells(fd, n, field, i, j, k, h, w));
    fd->nh = nh;
    return fd->variant->source(fd);
}

int fd3d_histories(void *handle, int it, int n, const float *q) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    REQUIRE(it >= 1 && n >= 0 && n < INT_MAX - it, "histories of %d steps from step %d: steps count from 1", n, it);
    if (n == 0) {
        fd->silent = it;
        return 0;
    }
    const size_t count = (size_t)fd->nh * (size_t)n;
    for (size_t m = 0; m < count; m++)
        REQUIRE(isfinite(q[m]), "sample of step %zu of history %zu is %g, must be finite",
                (size_t)it + m / (size_t)fd->nh, m % (size_t)fd->nh + 1, (double)q[m]);
    forget_histories(fd);
    TRY(fd3d_alloc(fd, &fd->q, count, sizeof(float), "source histories"));
    if (count > 0)
        memcpy(fd->q, q, count * sizeof(float));
    fd->q_first = it;
    fd->q_steps = n;
    return fd->variant->histories(fd);
}

/* Histories of steps it .. it+n-1 must be there. */
static int check_histories(const fd3d *fd, int it, int n) {
    if (fd->nh == 0)
        return 0;
    const int quiet = fd->silent > 0 ? fd->silent : INT_MAX, end = it + n < quiet ? it + n : quiet;
    REQUIRE(it >= end || (it >= fd->q_first && end <= fd->q_first + fd->q_steps),
            "steps %d..%d need histories of the sources, which are known for steps %d..%d", it, end - 1, fd->q_first,
            fd->q_first + fd->q_steps - 1);
    return 0;
}

static void forget_traces(fd3d *fd) { fd->first = fd->steps = 0; }

int fd3d_receivers(void *handle, int nrec, const int *start, const int *field, const int *i, const int *j, const int *k,
                   const float *w) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    REQUIRE(nrec >= 0, "%d receivers: must not be negative", nrec);
    static const int none[1] = {0};
    if (nrec == 0)
        start = none;
    REQUIRE(start[0] == 0, "cells of receiver 1 start at %d, must be 0", start[0]);
    for (int r = 0; r < nrec; r++)
        REQUIRE(start[r + 1] >= start[r], "receiver %d has %ld cells: must not be negative", r + 1,
                (long)start[r + 1] - start[r]);
    TRY(check_cells(&fd->cfg, start[nrec], field, i, j, k, w, "receivers"));
    forget_traces(fd);
    fd3d_release(fd, &fd->trace);
    fd->rows = 0;
    fd->nrec = 0;
    TRY(fd3d_set_receiver_cells(fd, nrec, start, field, i, j, k, w));
    return fd->variant->receivers(fd);
}

int fd3d_expect(void *handle, int steps) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    REQUIRE(steps >= 0, "traces of %d steps expected: must not be negative", steps);
    fd->expected = steps;
    return 0;
}

/* --- time ---------------------------------------------------------------------------------------------------- */

static int check_ready(const fd3d *fd, int it, int n) {
    int layers = 0;
    for (int s = 0; s < 6; s++)
        layers += fd->cfg.layer[s];
    REQUIRE(it >= 1 && n >= 0 && n < INT_MAX - it, "%d steps from step %d: steps count from 1", n, it);
    REQUIRE(fd->next == 0 || it == fd->next, "time stepping asked to go on with step %d, but the next step is %d", it,
            fd->next);
    REQUIRE(fd->has_model, "time stepping before the medium was set");
    REQUIRE(fd->has_quality || !fd->cfg.anelastic, "time stepping before the attenuation was set");
    REQUIRE(fd->has_pml || layers == 0, "time stepping before the profiles of the absorbing layers were set");
    return check_histories(fd, it, n);
}

int fd3d_timestep(void *handle, int it, int n) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    for (int s = 0; s < 6; s++)
        REQUIRE(fd->cfg.side[s] != FD3D_NEIGHBOUR, "the subdomain has a neighbour at its %s side: step it in halves",
                side_name[s]);
    REQUIRE(fd->half == 0, "whole steps asked for in the middle of step %d", it);
    TRY(check_ready(fd, it, n));
    if (n == 0)
        return 0;
    float *row;
    TRY(fd3d_next_rows(fd, n, &row));
    if (fd->steps == 0)
        fd->first = it;
    fd->next = INT_MAX; /* until all went well: after a failure only reset helps */
    TRY(fd->variant->timestep(fd, it, n, row));
    fd->steps += n;
    fd->next = it + n;
    return 0;
}

/* The order of the halves of a step: begins in state `from`, ends in `to`; part 0 is 1 and 2. */
static int check_half(const fd3d *fd, int part, int from, const char *name) {
    REQUIRE(part >= FD3D_ALL && part <= FD3D_INNER, "part %d of the %s, must be 0 (all), 1 (rim) or 2 (inner)", part,
            name);
    REQUIRE(fd->half == from + (part == FD3D_INNER),
            "part %d of the %s is not what comes next (%d of 4 quarters of the step are done)", part, name, fd->half);
    return 0;
}

int fd3d_velocity(void *handle, int it, int part) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    REQUIRE(!fd->cfg.sparse, "half of step %d of a sparse grid: it is stepped whole", it);
    TRY(check_half(fd, part, 0, "velocities"));
    TRY(check_ready(fd, it, 1));
    const int next = fd->next;
    fd->next = INT_MAX;
    TRY(fd->variant->velocity(fd, it, part));
    fd->next = next == 0 ? it : next;
    fd->half = part == FD3D_RIM ? 1 : 2;
    return 0;
}

int fd3d_stress(void *handle, int it, int part) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    TRY(check_half(fd, part, 2, "stresses"));
    TRY(check_ready(fd, it, 1));
    float *row = NULL;
    if (part != FD3D_RIM)
        TRY(fd3d_next_rows(fd, 1, &row));
    if (fd->steps == 0)
        fd->first = it;
    fd->next = INT_MAX;
    TRY(fd->variant->stress(fd, it, part, row));
    fd->next = part == FD3D_RIM ? it : it + 1;
    fd->half = part == FD3D_RIM ? 3 : 0;
    fd->steps += part != FD3D_RIM;
    return 0;
}

/* --- halos --------------------------------------------------------------------------------------------------- */

static int check_neighbour(const fd3d *fd, int what, int side) {
    TRY(check_handle(fd));
    REQUIRE(what == 0 || what == 1, "halo of kind %d, must be 0 (velocities) or 1 (stresses)", what);
    REQUIRE(side >= 0 && side < 6, "halo of side %d, must be 0..5", side);
    REQUIRE(fd->cfg.side[side] == FD3D_NEIGHBOUR, "halo of the %s side, where there is no neighbour", side_name[side]);
    return 0;
}

long fd3d_halo_size(void *handle, int side) {
    fd3d *fd = handle;
    int lo[3], hi[3];
    if (fd == NULL || side < 0 || side > 5)
        return 0;
    fd3d_halo_box(&fd->cfg, side, 1, lo, hi);
    return 3L * (hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]);
}

int fd3d_halo_get(void *handle, int what, int side, float *out) {
    fd3d *fd = handle;
    TRY(check_neighbour(fd, what, side));
    return fd->variant->halo(fd, what, side, out, NULL);
}

int fd3d_halo_put(void *handle, int what, int side, const float *in) {
    fd3d *fd = handle;
    TRY(check_neighbour(fd, what, side));
    return fd->variant->halo(fd, what, side, NULL, in);
}

/* --- fields -------------------------------------------------------------------------------------------------- */

static int check_field(const fd3d *fd, int which) {
    TRY(check_handle(fd));
    REQUIRE(which >= 0 && which < FD3D_FIELDS, "field %d, must be 0..%d", which, FD3D_FIELDS - 1);
    REQUIRE(!fd->cfg.sparse || which < FD3D_SXX,
            "stress %d of a sparse grid, where only receivers are told of stresses", which);
    return 0;
}

int fd3d_field(void *handle, int which, float *out) {
    fd3d *fd = handle;
    TRY(check_field(fd, which));
    return fd->variant->get(fd, which, (int[3]){0, 0, 0}, fd->cfg.n, out);
}

int fd3d_slice(void *handle, int which, int axis, int index, float *out) {
    fd3d *fd = handle;
    TRY(check_field(fd, which));
    REQUIRE(axis >= 0 && axis < 3, "slice along axis %d, must be 0..2", axis);
    REQUIRE(index >= 0 && index < fd->cfg.n[axis], "slice %d along %s, must be 1..%d", index + 1, axis_name[axis],
            fd->cfg.n[axis]);
    int lo[3] = {0, 0, 0}, hi[3];
    memcpy(hi, fd->cfg.n, sizeof hi);
    lo[axis] = index;
    hi[axis] = index + 1;
    return fd->variant->get(fd, which, lo, hi, out);
}

int fd3d_set_field(void *handle, int which, const float *in) {
    fd3d *fd = handle;
    TRY(check_field(fd, which));
    TRY(fd->variant->set(fd, which, in));
    forget_traces(fd);
    fd->next = fd->half = 0;
    return 0;
}

int fd3d_watch(void *handle, int last, int n, const int *i, const int *j, const int *k, const int *stencil,
               int stencils, const int *start, const short *di, const short *dj, const short *dk, const float *w) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    REQUIRE(n >= 0 && stencils >= 0, "a map of %d points with %d stencils: must not be negative", n, stencils);
    fd3d_release_map(fd);
    if (fd->variant->watch(fd, &(fd3d_given){last, n, i, j, k, stencil, stencils, start, {di, dj, dk}, w}) == 0)
        return 0;
    fd3d_release_map(fd);
    return 1;
}

int fd3d_map(void *handle, float *out) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    REQUIRE(fd->map.n > 0, "map of ground velocity asked for, but no point was watched");
    return fd->variant->map(fd, out);
}

static int place_out(int rc, const int place[3], int *i, int *j, int *k) {
    *i = place[0];
    *j = place[1];
    *k = place[2];
    return rc;
}

int fd3d_maxabs(void *handle, float *value, int *i, int *j, int *k) {
    fd3d *fd = handle;
    int place[3] = {0, 0, 0};
    TRY(check_handle(fd));
    return place_out(fd->variant->maxabs(fd, value, place), place, i, j, k);
}

int fd3d_peak(void *handle, float *value, int *i, int *j, int *k) {
    fd3d *fd = handle;
    int place[3] = {0, 0, 0};
    TRY(check_handle(fd));
    return place_out((fd->variant->peak != NULL ? fd->variant->peak : fd->variant->maxabs)(fd, value, place), place, i,
                     j, k);
}

int fd3d_reset(void *handle) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    TRY(fd->variant->reset(fd));
    forget_traces(fd);
    forget_histories(fd);
    fd->next = fd->half = 0;
    return 0;
}

/* --- for the record ------------------------------------------------------------------------------------------ */

long fd3d_bytes(void *handle) { return handle == NULL ? 0 : (long)((fd3d *)handle)->bytes; }

int fd3d_need(const char *variant, const fd3d_cfg *cfg, int entries, int receivers, int steps, int points,
              int stencil_entries, long *host, long *device) {
    const fd3d_variant *v = find_variant(variant);
    size_t need[2] = {0, 0};
    *host = *device = 0;
    if (v == NULL || check_cfg(cfg))
        return 1;
    REQUIRE(entries >= 0 && receivers >= 0 && steps >= 0,
            "memory for %d source cells, %d receivers and %d steps: must not be negative", entries, receivers, steps);
    REQUIRE(points >= 0 && stencil_entries >= 0, "memory for a map of %d points with %d entries: must not be negative",
            points, stencil_entries);
    const fd3d_counts counts = {(size_t)entries, (size_t)receivers, (size_t)steps, (size_t)points,
                                (size_t)stencil_entries};
    TRY(v->need(cfg, &counts, &need[0], &need[1]));
    *host = (long)need[0];
    *device = (long)need[1];
    return 0;
}

int fd3d_device(void *handle, int length, char *text) {
    fd3d *fd = handle;
    char device[256] = "";
    TRY(check_handle(fd));
    fd->variant->device(fd, device, sizeof device);
    return copy_text(device, length, text);
}

int fd3d_threads(void *handle, int threads) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    REQUIRE(threads >= 1, "%d threads: must be 1 or more", threads);
    if (fd->variant->threads != NULL)
        fd->variant->threads(fd, threads);
    return 0;
}

int fd3d_tune(void *handle, const char *isa, int bx, int by, int bz) {
    fd3d *fd = handle;
    TRY(check_handle(fd));
    REQUIRE(bx >= 0 && bx <= LARGEST && by >= 0 && by <= LARGEST && bz >= 0 && bz <= LARGEST,
            "blocks of %d x %d x %d cells: must be 0..%d", bx, by, bz, LARGEST);
    return fd->variant->tune == NULL ? 0 : fd->variant->tune(fd, isa, bx, by, bz);
}
