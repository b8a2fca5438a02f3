/* Handle, checks and dispatch of the 2D time loop; what the verbs mean is in interfaces/fd2d_c.f90. */
#include "fd2d.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "der.h"
#include "err.h"
#include "variants.h"

#define LARGEST 100000000 /* cells along one axis: keeps column arithmetic within int */

static const fd2d_variant *const variants[] = {
#define FD2D_ENTRY(name) &fd2d_variant_##name,
#ifdef SPL_CUDA
#define FD2D_GPU_ENTRY(word) FD2D_ENTRY(word)
#else
#define FD2D_GPU_ENTRY(word) &(const fd2d_variant){.name = #word, .about = "not in this build", .needs_gpu = 1},
#endif
#include "fd2d_variants.def"
#undef FD2D_ENTRY
#undef FD2D_GPU_ENTRY
};

enum { VARIANTS = sizeof variants / sizeof variants[0] };

/* --- variants ------------------------------------------------------------------------------------------------ */

static variant_words words(int n) {
    const fd2d_variant *v = variants[n];
    return (variant_words){v->name, v->about, v->needs_gpu, v->make != NULL};
}

static const variant_list list = {VARIANTS, words, ""};

int fd2d_variant_count(void) { return VARIANTS; }

int fd2d_variant_name(int n, int length, char *text) { return variants_name(&list, n, length, text); }

int fd2d_variant_about(int n, int length, char *text) { return variants_about(&list, n, length, text); }

int fd2d_variant_needs_gpu(int n) { return variants_needs_gpu(&list, n); }

int fd2d_variant_built(int n) { return variants_built(&list, n); }

static const fd2d_variant *find_variant(const char *name) {
    const int n = variants_find(&list, name);
    return n < 0 ? NULL : variants[n];
}

/* --- new and free -------------------------------------------------------------------------------------------- */

static int check_cfg(const fd2d_cfg *c) {
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
    REQUIRE(!c->free_top || c->ntop == 0, "ntop = %d cells above a free surface, must be 0", c->ntop);
    REQUIRE(c->threads >= 0 && c->threads <= 4096, "threads = %d, must be 0..4096", c->threads);
    REQUIRE(c->share >= 0 && c->share <= 4096, "%d handles share the GPU, must be 0..4096", c->share);
    REQUIRE(memchr(c->shape, 0, sizeof c->shape) != NULL, "the name of a shape has no end");
    REQUIRE(isfinite(c->dx) && c->dx > 0, "dx = %g m, must be positive", (double)c->dx);
    REQUIRE(isfinite(c->dz) && c->dz > 0, "dz = %g m, must be positive", (double)c->dz);
    REQUIRE(isfinite(c->dt) && c->dt > 0, "dt = %g s, must be positive", (double)c->dt);
    for (int m = 0; m < c->half_length; m++)
        REQUIRE(isfinite(c->w[m]), "weight %d of the differentiator is %g, must be finite", m + 1, (double)c->w[m]);
    return 0;
}

void *fd2d_new(const char *variant, const fd2d_cfg *cfg) {
    const fd2d_variant *v = find_variant(variant);
    if (v == NULL || check_cfg(cfg))
        return NULL;
    fd2d *fd = calloc(1, sizeof *fd);
    if (fd == NULL) {
        err_set("no memory for a handle of %zu bytes", sizeof *fd);
        return NULL;
    }
    fd->variant = v;
    fd->cfg = *cfg;
    fd->bytes = sizeof *fd;
    /* the fields first: a grid that is too large fails before anything else is filled */
    if (v->make(fd) || fd2d_set_source_cells(fd, 0, NULL, NULL, NULL) ||
        fd2d_set_receiver_cells(fd, 0, &(int){0}, NULL, NULL, NULL, NULL)) {
        fd2d_free(fd);
        return NULL;
    }
    return fd;
}

void fd2d_free(void *handle) {
    fd2d *fd = handle;
    if (fd == NULL)
        return;
    fd->variant->release(fd);
    void *owned[] = {&fd->px,       &fd->pz,    &fd->q,    &fd->source.row, &fd->source.i,
                     &fd->source.w, &fd->start, &fd->cell, &fd->w,          &fd->trace};
    for (size_t n = 0; n < sizeof owned / sizeof owned[0]; n++)
        fd2d_release(fd, owned[n]);
    for (int f = 0; f < FD2D_FIELDS; f++) {
        fd2d_release(fd, &fd->sampled[f].row);
        fd2d_release(fd, &fd->sampled[f].i);
    }
    free(fd);
}

static int check_handle(const void *handle) {
    REQUIRE(handle != NULL, "the 2D solver is used before it is made (null handle)");
    return 0;
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

int fd2d_model(void *handle, const float *kappa, const float *rho) {
    fd2d *fd = handle;
    TRY(check_handle(fd));
    TRY(check_positive(&fd->cfg, kappa, "bulk modulus", "Pa"));
    TRY(check_positive(&fd->cfg, rho, "density", "kg/m3"));
    TRY(fd->variant->model(fd, kappa, rho));
    fd->has_model = 1;
    return 0;
}

void fd2d_coefficients(const fd2d_cfg *c, const float *kappa, const float *rho, int k, float *bx, float *bz,
                       float *kk) {
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
}

/* Columns of p(n,6) finite, and without effect outside the layers of `low` and `high` cells. */
static int check_profile(const float *p, int n, int low, int high, char axis) {
    for (int c = 0; c < 6; c++)
        for (int j = 0; j < n; j++) {
            float value = p[(size_t)c * n + j];
            REQUIRE(isfinite(value), "column %d of the absorbing layer along %c is %g at cell %d, must be finite",
                    c + 1, axis, (double)value, j + 1);
            int inside = j < low || (high > 0 && j >= n - high - 1);
            float neutral = c % 3 == 2 ? 1.0f : 0.0f;
            REQUIRE(inside || c % 3 == 1 || value == neutral,
                    "column %d of the absorbing layer along %c is %g at cell %d, outside the layers of %d and %d "
                    "cells: must be "
                    "%g",
                    c + 1, axis, (double)value, j + 1, low, high, (double)neutral);
        }
    return 0;
}

int fd2d_pml(void *handle, const float *px, const float *pz) {
    fd2d *fd = handle;
    TRY(check_handle(fd));
    const fd2d_cfg *c = &fd->cfg;
    TRY(check_profile(px, c->nx, c->nleft, c->nright, 'x'));
    TRY(check_profile(pz, c->nz, c->ntop, c->nbottom, 'z'));
    fd->has_pml = 0;
    TRY(fd2d_alloc(fd, &fd->px, 6 * (size_t)c->nx, sizeof(float), "layer profiles along x"));
    TRY(fd2d_alloc(fd, &fd->pz, 6 * (size_t)c->nz, sizeof(float), "layer profiles along z"));
    memcpy(fd->px, px, 6 * (size_t)c->nx * sizeof(float));
    memcpy(fd->pz, pz, 6 * (size_t)c->nz * sizeof(float));
    TRY(fd->variant->pml(fd));
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
    TRY(check_handle(fd));
    REQUIRE(nt >= 0 && n >= 0, "source of %d samples at %d cells: must not be negative", nt, n);
    for (int m = 0; m < nt; m++)
        REQUIRE(isfinite(q[m]), "sample %d of the source wavelet is %g, must be finite", m + 1, (double)q[m]);
    TRY(check_cells(&fd->cfg, n, i, k, w, "source"));
    fd->nq = 0;
    TRY(fd2d_alloc(fd, &fd->q, (size_t)nt, sizeof(float), "source wavelet"));
    if (nt > 0)
        memcpy(fd->q, q, (size_t)nt * sizeof(float));
    TRY(fd2d_set_source_cells(fd, n, i, k, w));
    fd->nq = nt;
    return fd->variant->source(fd);
}

static void forget_traces(fd2d *fd) { fd->first = fd->steps = 0; }

int fd2d_receivers(void *handle, int nrec, const int *start, const int *field, const int *i, const int *k,
                   const float *w) {
    fd2d *fd = handle;
    TRY(check_handle(fd));
    REQUIRE(nrec >= 0, "%d receivers: must not be negative", nrec);
    static const int none[1] = {0};
    if (nrec == 0)
        start = none;
    REQUIRE(start[0] == 0, "cells of receiver 1 start at %d, must be 0", start[0]);
    for (int r = 0; r < nrec; r++) {
        REQUIRE(start[r + 1] >= start[r], "receiver %d has %ld cells: must not be negative", r + 1,
                (long)start[r + 1] - start[r]);
        REQUIRE(field[r] >= 0 && field[r] < FD2D_FIELDS,
                "receiver %d samples field %d, must be 0 (sigma), 1 (vx) or 2 (vz)", r + 1, field[r]);
    }
    TRY(check_cells(&fd->cfg, start[nrec], i, k, w, "receivers"));
    forget_traces(fd);
    fd2d_release(fd, &fd->trace);
    fd->rows = 0;
    fd->nrec = 0;
    TRY(fd2d_set_receiver_cells(fd, nrec, start, field, i, k, w));
    return fd->variant->receivers(fd);
}

/* --- time ---------------------------------------------------------------------------------------------------- */

int fd2d_timestep(void *handle, int it, int n) {
    fd2d *fd = handle;
    TRY(check_handle(fd));
    const fd2d_cfg *c = &fd->cfg;
    REQUIRE(it >= 1 && n >= 0 && n < INT_MAX - it, "%d steps from step %d: steps count from 1", n, it);
    REQUIRE(fd->next == 0 || it == fd->next, "time stepping asked to go on with step %d, but the next step is %d", it,
            fd->next);
    REQUIRE(fd->has_model, "time stepping before the medium was set");
    REQUIRE(fd->has_pml || c->nleft + c->nright + c->ntop + c->nbottom == 0,
            "time stepping before the profiles of the absorbing layers were set");
    if (n == 0)
        return 0;
    float *row;
    TRY(fd2d_next_rows(fd, n, &row));
    if (fd->steps == 0)
        fd->first = it;
    fd->next = INT_MAX; /* until all went well: after a failure only reset helps */
    TRY(fd->variant->timestep(fd, it, n, row));
    fd->steps += n;
    fd->next = it + n;
    return 0;
}

/* --- filters of traces ---------------------------------------------------------------------------------------- */

int fd2d_filters(void *handle) { return handle != NULL && ((fd2d *)handle)->variant->filtered != NULL; }

static int check_filter(const fd2d *fd, int which) {
    TRY(check_handle(fd));
    REQUIRE(fd->variant->filtered != NULL, "variant=%s does not filter traces", fd->variant->name);
    REQUIRE(which == 0 || which == 1, "filter %d of traces, must be 0 or 1", which);
    return 0;
}

static int check_band(const trace_band *b) {
    const int *first = b->first, *count = b->count, *at = b->at;
    REQUIRE(b->columns >= 1 && b->columns <= LARGEST && b->rows >= 1 && b->rows <= LARGEST && b->n >= 0,
            "a filter from %d to %d samples with %d numbers a row: must be 1..%d", b->columns, b->rows, b->n, LARGEST);
    REQUIRE(b->groups == (b->rows + 3) / 4, "a filter of %d rows has %d groups, must be %d", b->rows, b->groups,
            (b->rows + 3) / 4);
    for (int g = 0; g < b->groups; g++)
        REQUIRE(at[g] >= 0 && count[g] >= 0 && at[g] <= b->n - count[g] && first[g] >= -LARGEST && first[g] <= LARGEST,
                "group %d of a filter has numbers %d..%ld from column %d on, there are %d", g + 1, at[g],
                (long)at[g] + count[g] - 1, first[g], b->n);
    return 0;
}

int fd2d_filter(void *handle, int which, const trace_band *band) {
    fd2d *fd = handle;
    TRY(check_filter(fd, which));
    fd->filter_columns[which] = 0;
    for (int b = 0; b < 2; b++)
        TRY(check_band(&band[b]));
    REQUIRE(band[0].rows == band[1].columns, "a filter makes %d samples and goes on with %d", band[0].rows,
            band[1].columns);
    TRY(fd->variant->filter(fd, which, band));
    fd->filter_columns[which] = band[0].columns;
    return 0;
}

int fd2d_filtered(void *handle, int which, int first, int nrec, float *out) {
    fd2d *fd = handle;
    TRY(check_filter(fd, which));
    REQUIRE(first >= 0 && nrec >= 0 && first <= fd->nrec - nrec, "traces of receivers %d..%ld, there are %d", first + 1,
            (long)first + nrec, fd->nrec);
    REQUIRE(fd->filter_columns[which] > 0, "filter %d of traces is used before it is given", which);
    REQUIRE(fd->steps == fd->filter_columns[which], "the filter takes traces of %d steps, %d were computed",
            fd->filter_columns[which], fd->steps);
    return nrec == 0 ? 0 : fd->variant->filtered(fd, which, first, nrec, out);
}

/* --- fields -------------------------------------------------------------------------------------------------- */

static int check_field(int which) {
    REQUIRE(which >= 0 && which < FD2D_FIELDS, "field %d, must be 0 (sigma), 1 (vx) or 2 (vz)", which);
    return 0;
}

int fd2d_field(void *handle, int which, float *out) {
    fd2d *fd = handle;
    TRY(check_handle(fd));
    TRY(check_field(which));
    return fd->variant->get(fd, which, out);
}

int fd2d_set_field(void *handle, int which, const float *in) {
    fd2d *fd = handle;
    TRY(check_handle(fd));
    TRY(check_field(which));
    TRY(fd->variant->set(fd, which, in));
    forget_traces(fd);
    fd->next = 0;
    return 0;
}

int fd2d_maxabs(void *handle, float *value, int *i, int *k) {
    fd2d *fd = handle;
    TRY(check_handle(fd));
    return fd->variant->maxabs(fd, value, i, k);
}

int fd2d_peak(void *handle, float *value, int *i, int *k) {
    fd2d *fd = handle;
    TRY(check_handle(fd));
    return (fd->variant->peak != NULL ? fd->variant->peak : fd->variant->maxabs)(fd, value, i, k);
}

int fd2d_reset(void *handle) {
    fd2d *fd = handle;
    TRY(check_handle(fd));
    TRY(fd->variant->reset(fd));
    forget_traces(fd);
    fd->next = 0;
    return 0;
}

/* --- for the record ------------------------------------------------------------------------------------------ */

long fd2d_bytes(void *handle) { return handle == NULL ? 0 : (long)((fd2d *)handle)->bytes; }

int fd2d_need(const char *variant, const fd2d_cfg *cfg, int receivers, int steps, long *bytes) {
    const fd2d_variant *v = find_variant(variant);
    size_t need = 0;
    *bytes = 0;
    if (v == NULL || check_cfg(cfg))
        return 1;
    REQUIRE(receivers >= 0 && steps >= 0, "memory for %d receivers and %d steps: must not be negative", receivers,
            steps);
    if (v->need != NULL)
        TRY(v->need(cfg, receivers, steps, &need));
    *bytes = (long)need;
    return 0;
}

int fd2d_device(void *handle, int length, char *text) {
    fd2d *fd = handle;
    char device[256] = "";
    TRY(check_handle(fd));
    fd->variant->device(fd, device, sizeof device);
    return copy_text(device, length, text);
}

int fd2d_threads(void *handle, int threads) {
    fd2d *fd = handle;
    TRY(check_handle(fd));
    REQUIRE(threads >= 1, "%d threads: must be 1 or more", threads);
    if (fd->variant->threads != NULL)
        fd->variant->threads(fd, threads);
    return 0;
}

int fd2d_tune(void *handle, const char *isa, int width, int steps, int rows) {
    fd2d *fd = handle;
    TRY(check_handle(fd));
    REQUIRE(width >= 0 && width <= LARGEST && steps >= 0 && steps <= 64 && rows >= 0 && rows <= 4096,
            "tiles of %d cells, %d steps, %d rows: must be 0..%d, 0..64, 0..4096", width, steps, rows, LARGEST);
    return fd->variant->tune == NULL ? 0 : fd->variant->tune(fd, isa, width, steps, rows);
}
