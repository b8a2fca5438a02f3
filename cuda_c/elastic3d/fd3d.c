/* Handle, checks and dispatch of the 3D time loop; what the verbs mean is in interfaces/fd3d_c.f90. */
#include "fd3d.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "der3d.h"
#include "err.h"
#include "stencil_check.h"
#include "variants.h"

#define LARGEST 1000000 /* cells along one axis: keeps arithmetic on cells within long */

/* A reset forgets histories, and that steps were begun. */
static void forget(handle *h) {
    h->histories.first = h->histories.steps = h->histories.silent = 0;
    ((fd3d *)h)->half = 0;
    ((fd3d *)h)->ahead.steps = 0;
}

static const char *const axis_name[3] = {"x", "y", "z"};
static const char *const side_name[6] = {"left", "right", "front", "back", "top", "bottom"};

static int check_ready(const fd3d *fd, int it, int n) {
    int layers = 0;
    for (int s = 0; s < 6; s++)
        layers += fd->cfg.layer[s];
    TRY(handle_check_steps(&fd->h, it, n));
    REQUIRE(fd->has_quality || !fd->cfg.anelastic, "time stepping before the attenuation was set");
    REQUIRE(fd->has_pml || layers == 0, "time stepping before the profiles of the absorbing layers were set");
    return handle_check_histories(&fd->h, it, n);
}

/* For whole steps. */
static int ready(const handle *h, int it, int n) {
    const fd3d *fd = (const fd3d *)h;
    for (int s = 0; s < 6; s++)
        REQUIRE(fd->cfg.side[s] != FD3D_NEIGHBOUR || fd->open & 1 << s,
                "the subdomain has a neighbour at its %s side: step it in halves", side_name[s]);
    REQUIRE(fd->half == 0 && fd->ahead.steps == 0, "whole steps asked for in the middle of step %d", it);
    return check_ready(fd, it, n);
}

static const fd3d_verbs *verbs(const kernel_variant *v) { return (const fd3d_verbs *)v->verbs; }

/* --- new ----------------------------------------------------------------------------------------------------- */

static int check_side(const fd3d_cfg *c, int side) {
    const int kind = c->side[side], other = c->side[side ^ 1], n = c->n[side / 2];
    REQUIRE(kind >= 0 && kind < FD3D_KINDS, "kind %d of the %s side, must be 0..%d", kind, side_name[side],
            FD3D_KINDS - 1);
    REQUIRE(kind != FD3D_FREE || side == 4, "a free surface at the %s side: only the top can be one", side_name[side]);
    REQUIRE(kind != FD3D_ONE_WAY || side == 5, "a one-way boundary at the %s side: only the bottom can be one",
            side_name[side]);
    REQUIRE(kind != FD3D_PERIODIC || other == FD3D_PERIODIC,
            "the %s side is periodic, so the %s side must be periodic too", side_name[side], side_name[side ^ 1]);
    const int least = c->half_length + (kind == FD3D_FREE ? FD3D_TOP_ROWS : kind == FD3D_ONE_WAY);
    REQUIRE(kind == FD3D_OUTSIDE || n >= least,
            "%d cells along %s are too few for the %s side and half_length = %d, which need %d", n, axis_name[side / 2],
            side_name[side], c->half_length, least);
    REQUIRE(c->layer[side] >= 0 && c->layer[side] <= n, "absorbing layer of %d cells at the %s side, must be 0..%d",
            c->layer[side], side_name[side], n);
    REQUIRE(c->layer[side] == 0 || (kind != FD3D_FREE && kind != FD3D_PERIODIC),
            "absorbing layer of %d cells at the %s side, which is %s: must be 0", c->layer[side], side_name[side],
            kind == FD3D_FREE ? "a free surface" : "periodic");
    return 0;
}

/* A wide subdomain gives 2 half_length of its own cells; below a free surface its margin, which the neighbour computes
 * as any other rows, holds none of the first ones. */
static int check_margins(const fd3d_cfg *c, int a) {
    int lo[3], hi[3];
    fd3d_own_box(c, lo, hi);
    const int own = hi[a] - lo[a], beside = own < c->n[a], top = a == 2 && c->side[4] == FD3D_FREE,
              rows = c->half_length + (top ? FD3D_TOP_ROWS : 0),
              least = rows > 2 * c->half_length ? rows : 2 * c->half_length;
    REQUIRE(!beside || own >= least,
            "%d own cells along %s are too few for wide halos and half_length = %d, which need %d", own, axis_name[a],
            c->half_length, least);
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
    TRY(check_margins(c, a));
    REQUIRE((long)c->layer[2 * a] + c->layer[2 * a + 1] <= c->n[a],
            "absorbing layers of %d and %d cells do not fit into n%s = %d", c->layer[2 * a], c->layer[2 * a + 1],
            axis_name[a], c->n[a]);
    return 0;
}

static int check_cfg(const void *cfg) {
    const fd3d_cfg *c = cfg;
    REQUIRE(c->half_length >= 1 && c->half_length <= D3_MAX, "half_length = %d, must be 1..%d", c->half_length, D3_MAX);
    for (int a = 0; a < 3; a++)
        TRY(check_axis(c, a));
    REQUIRE(c->anelastic >= 0 && c->anelastic <= FD3D_ALL_TOGETHER, "anelastic = %d, must be 0..%d", c->anelastic,
            FD3D_ALL_TOGETHER);
    TRY(handle_check_machine(c->threads, c->share));
    REQUIRE(c->narrow == 0 || c->narrow == 1, "narrow = %d, must be 0 or 1", c->narrow);
    REQUIRE(c->wet == 0 || c->wet == 1, "wet = %d, must be 0 or 1", c->wet);
    REQUIRE(c->wide == 0 || c->wide == 1, "wide = %d, must be 0 or 1", c->wide);
    REQUIRE(c->sparse >= 0 && c->sparse <= 2, "sparse = %d, must be 0..2", c->sparse);
    REQUIRE(isfinite(c->dt) && c->dt > 0, "dt = %g s, must be positive", (double)c->dt);
    return weights_check(c->half_length, c->w);
}

#define SOLVER   fd3d
#define NAME     "3D"
#define FIELDS   FD3D_FIELDS
#define FORGET   forget
#define VARIANTS "fd3d_variants.def"
#include "solver.inc"

void *fd3d_new(const char *name, const fd3d_cfg *cfg) { return handle_new(&solver, name, cfg, cfg->n); }

/* --- medium and layers --------------------------------------------------------------------------------------- */

typedef struct span {
    float least, most;
    const char *name, *unit;
} span;

/* Planes of a volume with its ring: finite, and within a span. A row is looked at without a branch. */
static int check_planes(const fd3d_cfg *c, int first, int planes, const float *a, const span *s) {
    const size_t nx = (size_t)c->n[0] + 2, ny = (size_t)c->n[1] + 2;
    for (size_t row = 0; row < ny * (size_t)planes; row++, a += nx) {
        int good = 1;
        for (size_t i = 0; i < nx; i++)
            good &= (a[i] >= s->least) & (a[i] <= s->most);
        for (size_t i = 0; i < nx && !good; i++)
            REQUIRE(a[i] >= s->least && a[i] <= s->most,
                    "%s = %g%s at cell (%zu, %zu, %zu) of the grid, must be %g..%g", s->name, (double)a[i], s->unit, i,
                    row % ny, (size_t)first + row / ny, (double)s->least, (double)s->most);
    }
    return 0;
}

static int check_volume(const fd3d_cfg *c, const float *a, const span *s) {
    return check_planes(c, 0, c->n[2] + 2, a, s);
}

static int is_medium(float rho, float lambda, float mu) {
    return ((rho > 0) & (3 * lambda + 2 * mu > 0)) | ((lambda == 0) & (mu == 0));
}

static int check_medium(const fd3d_cfg *c, const fd3d_slab *p) {
    static const span density = {0, 1e6f, "density", " kg/m3"}, lambda = {-1e15f, 1e15f, "lambda", " Pa"},
                      mu = {0, 1e15f, "mu", " Pa"};
    TRY(check_planes(c, p->first, p->planes, p->rho, &density));
    TRY(check_planes(c, p->first, p->planes, p->lambda, &lambda));
    TRY(check_planes(c, p->first, p->planes, p->mu, &mu));
    const size_t cells = ((size_t)c->n[0] + 2) * ((size_t)c->n[1] + 2) * (size_t)p->planes;
    int good = 1;
    for (size_t m = 0; m < cells; m++)
        good &= is_medium(p->rho[m], p->lambda[m], p->mu[m]);
    for (size_t m = 0; m < cells && !good; m++)
        REQUIRE(is_medium(p->rho[m], p->lambda[m], p->mu[m]),
                "density %g kg/m3, lambda %g, mu %g Pa are no rock or fluid (rho > 0, 3 lambda + 2 mu > 0) nor air "
                "(moduli 0)",
                (double)p->rho[m], (double)p->lambda[m], (double)p->mu[m]);
    return 0;
}

int fd3d_model(void *handle, const float *rho, const float *lambda, const float *mu) {
    return fd3d_model_part(handle, 0, ((fd3d *)handle)->cfg.n[2] + 2, rho, lambda, mu);
}

int fd3d_model_part(void *handle, int first, int planes, const float *rho, const float *lambda, const float *mu) {
    fd3d *fd = handle;
    TRY(handle_enter(fd));
    if (first == 0)
        fd->planes = 0;
    REQUIRE(planes > 0 && first == fd->planes && planes <= fd->cfg.n[2] + 2 - first,
            "planes %d..%ld of a medium of %d, of which %d have come", first + 1, (long)first + planes,
            fd->cfg.n[2] + 2, fd->planes);
    const fd3d_slab part = {first, planes, rho, lambda, mu};
    TRY(check_medium(&fd->cfg, &part));
    fd->h.has_model = 0;
    TRY(verbs(fd->h.variant)->model(fd, &part));
    fd->planes += planes;
    fd->h.has_model = fd->planes == fd->cfg.n[2] + 2;
    return 0;
}

int fd3d_quality(void *handle, const float *tau, const float *y, const float *stiff, const float *qp, const float *qs) {
    fd3d *fd = handle;
    TRY(handle_enter(fd));
    REQUIRE(fd->cfg.anelastic, "attenuation of a grid made without memory variables (anelastic = 0)");
    for (int m = 0; m < FD3D_MECHANISMS; m++) {
        REQUIRE(isfinite(tau[m]) && tau[m] > 0, "relaxation time %d is %g s, must be positive", m + 1, (double)tau[m]);
        fd->tau[m] = tau[m];
        REQUIRE(stiff[m] >= 0 && stiff[m] <= 1, "relaxation mechanism %d has stiff = %g, must be 0..1", m + 1,
                (double)stiff[m]);
        fd->stiff[m] = stiff[m];
        for (int p = 0; p < 3; p++) {
            const float value = y[p * FD3D_MECHANISMS + m];
            REQUIRE(isfinite(value), "coefficient %d of relaxation mechanism %d is %g, must be finite", p + 1, m + 1,
                    (double)value);
            fd->y[p][m] = value;
        }
    }
    TRY(check_volume(&fd->cfg, qp, &(span){0, 1, "1/Qp", ""}));
    TRY(check_volume(&fd->cfg, qs, &(span){0, 1, "1/Qs", ""}));
    TRY(verbs(fd->h.variant)->quality(fd, qp, qs));
    fd->has_quality = 1;
    return 0;
}

int fd3d_pml(void *handle, const float *px, const float *py, const float *pz) {
    fd3d *fd = handle;
    TRY(handle_enter(fd));
    const float *p[3] = {px, py, pz};
    fd->has_pml = 0;
    for (int a = 0; a < 3; a++) {
        const size_t n = (size_t)fd->cfg.n[a];
        TRY(profile_check(p[a], fd->cfg.n[a], fd->cfg.layer[2 * a], fd->cfg.layer[2 * a + 1], 0, axis_name[a]));
        TRY(host_copy(&fd->h.memory, &fd->pml[a], p[a], 6 * n, sizeof(float), "layer profiles"));
    }
    TRY(handle_tell(&fd->h, fd->h.variant->verbs->pml));
    fd->has_pml = 1;
    return 0;
}

int fd3d_sponge(void *handle, const float *gx, const float *gy, const float *gz) {
    fd3d *fd = handle;
    TRY(handle_enter(fd));
    const float *g[3] = {gx, gy, gz};
    fd->has_sponge = 0;
    for (int a = 0; a < 3; a++) {
        const size_t n = (size_t)fd->cfg.n[a];
        for (size_t m = 0; m < n; m++)
            REQUIRE(g[a][m] > 0 && g[a][m] <= 1, "sponge factor along %s is %g at cell %zu, must be above 0, at most 1",
                    axis_name[a], (double)g[a][m], m + 1);
        TRY(host_copy(&fd->h.memory, &fd->sponge[a], g[a], n, sizeof(float), "sponge"));
    }
    fd->has_sponge = 1;
    return verbs(fd->h.variant)->sponge(fd);
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

int fd3d_source(void *handle, int nh, int n, const int *field, const int *i, const int *j, const int *k, const int *h,
                const float *w) {
    fd3d *fd = handle;
    TRY(handle_enter(fd));
    REQUIRE(nh >= 0 && n >= 0, "source of %d histories at %d cells: must not be negative", nh, n);
    TRY(check_cells(&fd->cfg, n, field, i, j, k, w, "source"));
    for (int m = 0; m < n; m++)
        REQUIRE(h[m] >= 0 && h[m] < nh, "cell %d of the source has history %d, must be 1..%d", m + 1, h[m] + 1, nh);
    fd->h.histories.n = fd->h.histories.first = fd->h.histories.steps = fd->h.histories.silent = 0;
    TRY(handle_source(&fd->h, n, &(given_cells){field, {i, j, k}}, h, w));
    for (int f = FD3D_SXZ; f <= FD3D_SYZ && fd->cfg.side[4] == FD3D_FREE; f++)
        source_silence_top(&fd->h.source[f]);
    fd->h.histories.n = nh;
    return handle_tell(&fd->h, fd->h.variant->verbs->source);
}

int fd3d_histories(void *handle, int it, int n, const float *q) {
    fd3d *fd = handle;
    TRY(handle_enter(fd));
    return handle_next_histories(&fd->h, it, n, q);
}

int fd3d_receivers(void *handle, int nrec, const int *start, const int *field, const int *i, const int *j, const int *k,
                   const float *w) {
    fd3d *fd = handle;
    TRY(handle_enter(fd));
    TRY(handle_check_receivers(nrec, start));
    TRY(check_cells(&fd->cfg, nrec == 0 ? 0 : start[nrec], field, i, j, k, w, "receivers"));
    TRY(handle_receivers(&fd->h, nrec, start, &(given_cells){field, {i, j, k}}, w));
    return handle_tell(&fd->h, fd->h.variant->verbs->receivers);
}

/* --- time ---------------------------------------------------------------------------------------------------- */

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
    TRY(handle_enter(fd));
    TRY(check_half(fd, part, 0, "velocities"));
    TRY(check_ready(fd, it, 1));
    const int next = fd->h.next;
    fd->h.next = INT_MAX;
    TRY(verbs(fd->h.variant)->velocity(fd, it, part));
    fd->h.next = next == 0 ? it : next;
    fd->half = part == FD3D_RIM ? 1 : 2;
    return 0;
}

int fd3d_stress(void *handle, int it, int part) {
    fd3d *fd = handle;
    TRY(handle_enter(fd));
    TRY(check_half(fd, part, 2, "stresses"));
    TRY(check_ready(fd, it, 1));
    float *row = NULL;
    if (part != FD3D_RIM)
        TRY(handle_next_rows(&fd->h, 1, &row));
    if (fd->h.steps == 0)
        fd->h.first = it;
    fd->h.next = INT_MAX;
    TRY(verbs(fd->h.variant)->stress(fd, it, part, row));
    fd->h.next = part == FD3D_RIM ? it : it + 1;
    fd->half = part == FD3D_RIM ? 3 : 0;
    fd->h.steps += part != FD3D_RIM;
    if (part != FD3D_RIM && it == fd->ahead.first + fd->ahead.steps - 1)
        fd->ahead.steps = 0;
    return 0;
}

int fd3d_ahead(void *handle, int it, int n, int *done) {
    fd3d *fd = handle;
    *done = 0;
    TRY(handle_enter(fd));
    REQUIRE(fd->half == 0 && fd->ahead.steps == 0, "steps ahead asked for in the midst of step %d", it);
    TRY(check_ready(fd, it, n));
    if (n == 0 || verbs(fd->h.variant)->ahead == NULL || fd->cfg.wide)
        return 0;
    const int next = fd->h.next;
    fd->h.next = INT_MAX;
    TRY(verbs(fd->h.variant)->ahead(fd, it, n, done));
    fd->h.next = next;
    fd->ahead.first = it;
    fd->ahead.steps = *done;
    return 0;
}

int fd3d_between(void *handle, int (*procedure)(void)) {
    TRY(handle_enter(handle));
    ((fd3d *)handle)->between = procedure;
    return 0;
}

/* --- halos --------------------------------------------------------------------------------------------------- */

static int check_neighbour(fd3d *fd, int what, int side) {
    TRY(handle_enter(fd));
    REQUIRE(what == 0 || what == 1, "halo of kind %d, must be 0 (velocities) or 1 (stresses)", what);
    REQUIRE(what == 0 || !fd->cfg.wide, "halo of stresses of a wide subdomain, which computes them itself");
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
    return verbs(fd->h.variant)->halo(fd, what, side, out, NULL);
}

int fd3d_halo_put(void *handle, int what, int side, const float *in) {
    fd3d *fd = handle;
    TRY(check_neighbour(fd, what, side));
    return verbs(fd->h.variant)->halo(fd, what, side, NULL, in);
}

static const fd3d_link_verbs *link_of(fd3d *fd) { return verbs(fd->h.variant)->link; }

int fd3d_halo_offer(void *handle, int beside, int host, double seconds, int length, char *ticket) {
    fd3d *fd = handle;
    TRY(handle_enter(fd));
    REQUIRE(link_of(fd) != NULL, "variant=%s computes on no GPU, whose memory others could store into",
            fd->h.variant->name);
    REQUIRE(fd->half == 0, "the exchange of halos begins in the middle of a step");
    REQUIRE(!fd->cfg.wide, "kernels exchange no wide halos");
    fd->open = 0;
    return link_of(fd)->offer(fd, beside, host, seconds, length, ticket);
}

int fd3d_halo_open(void *handle, int side, int length, const char *ticket) {
    fd3d *fd = handle;
    TRY(check_neighbour(fd, 0, side));
    REQUIRE(link_of(fd) != NULL, "variant=%s computes on no GPU", fd->h.variant->name);
    TRY(link_of(fd)->open(fd, side, length, ticket));
    fd->open |= 1 << side;
    return 0;
}

int fd3d_halo_try(void *handle, double seconds, double *bare, double *full) {
    fd3d *fd = handle;
    *bare = *full = 0;
    TRY(handle_enter(fd));
    for (int s = 0; s < 6; s++)
        REQUIRE(fd->cfg.side[s] != FD3D_NEIGHBOUR || fd->open & 1 << s,
                "the memory of the neighbour at the %s side is not open", side_name[s]);
    return fd->open == 0 ? 0 : link_of(fd)->tried(fd, seconds, bare, full);
}

int fd3d_halo_waited(void *handle, double *seconds) {
    fd3d *fd = handle;
    memset(seconds, 0, 6 * sizeof *seconds);
    TRY(handle_enter(fd));
    return fd->open == 0 ? 0 : link_of(fd)->waited(fd, seconds);
}

void fd3d_halo_close(void *handle) {
    fd3d *fd = handle;
    if (fd == NULL || link_of(fd) == NULL)
        return;
    link_of(fd)->close(fd);
    fd->open = 0;
}

void fd3d_halo_give_up(void *handle) {
    fd3d *fd = handle;
    if (fd != NULL && link_of(fd) != NULL)
        link_of(fd)->give_up(fd);
}

int fd3d_halo_left(void *handle, int *chunks) {
    fd3d *fd = handle;
    *chunks = 0;
    TRY(handle_enter(fd));
    return link_of(fd) == NULL ? 0 : link_of(fd)->left(fd, chunks);
}

/* --- fields -------------------------------------------------------------------------------------------------- */

static int check_field(fd3d *fd, int which) {
    TRY(handle_enter(fd));
    REQUIRE(which >= 0 && which < FD3D_FIELDS, "field %d, must be 0..%d", which, FD3D_FIELDS - 1);
    REQUIRE(!fd->cfg.sparse || which < FD3D_SXX,
            "stress %d of a sparse grid, where only receivers are told of stresses", which);
    return 0;
}

int fd3d_field(void *handle, int which, float *out) {
    fd3d *fd = handle;
    TRY(check_field(fd, which));
    return verbs(fd->h.variant)->get(fd, which, (int[3]){0, 0, 0}, fd->cfg.n, out);
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
    return verbs(fd->h.variant)->get(fd, which, lo, hi, out);
}

int fd3d_set_field(void *handle, int which, const float *in) {
    fd3d *fd = handle;
    TRY(check_field(fd, which));
    TRY(handle_set_field(&fd->h, which, in));
    fd->half = fd->ahead.steps = 0;
    return 0;
}

int fd3d_watch(void *handle, int last, int n, const int *i, const int *j, const int *k, const int *stencil,
               int stencils, const int *start, const short *di, const short *dj, const short *dk, const float *w) {
    fd3d *fd = handle;
    TRY(handle_enter(fd));
    REQUIRE(n >= 0 && stencils >= 0, "a map of %d points with %d stencils: must not be negative", n, stencils);
    fd3d_release_map(fd);
    if (verbs(fd->h.variant)->watch(fd, &(fd3d_given){last, n, i, j, k, stencil, stencils, start, {di, dj, dk}, w}) ==
        0)
        return 0;
    fd3d_release_map(fd);
    return 1;
}

int fd3d_map(void *handle, float *out) {
    fd3d *fd = handle;
    TRY(handle_enter(fd));
    REQUIRE(fd->map.n > 0, "map of ground velocity asked for, but no point was watched");
    return verbs(fd->h.variant)->map(fd, out);
}

/* --- for the record ------------------------------------------------------------------------------------------ */

int fd3d_need(const char *name, const fd3d_cfg *cfg, int entries, int receivers, int steps, int points,
              int stencil_entries, long *host, long *device) {
    const kernel_variant *v = variants_find(&solver, name);
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
    TRY(verbs(v)->need(v, cfg, &counts, &need[0], &need[1]));
    *host = (long)need[0];
    *device = (long)need[1];
    return 0;
}

int fd3d_tune(void *handle, const char *isa, int bx, int by, int bz) {
    TRY(handle_enter(handle));
    REQUIRE(bx >= 0 && bx <= LARGEST && by >= 0 && by <= LARGEST && bz >= 0 && bz <= LARGEST,
            "blocks of %d x %d x %d cells: must be 0..%d", bx, by, bz, LARGEST);
    return handle_tune(handle, isa, bx, by, bz);
}
