/* Handle, checks and dispatch of the time loop of spectral elements; what the verbs mean is in interfaces/sem3d_c.f90.
 */
#include "sem3d.h"

#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stddef.h>
#include <string.h>

#include "err.h"
#include "sem3d_packets.h"
#include "sem3d_tensor.h"
#include "variants.h"

#define LARGEST 2000000000 /* points */

/* A reset forgets histories. */
static void forget(handle *h) {
    h->histories.first = h->histories.steps = h->histories.silent = 0;
    ((sem3d *)h)->pieces.done = 0;
}

static int ready(const handle *h, int it, int n) {
    const sem3d *fd = (const sem3d *)h;
    TRY(handle_check_steps(h, it, n));
    REQUIRE(fd->pieces.ways == 0 || fd->pieces.linked > 0, "whole steps asked for of a piece of a mesh");
    REQUIRE(fd->has_quality || fd->cfg.mechanisms == 0, "time stepping before the attenuation was set");
    return handle_check_histories(h, it, n);
}

static const sem3d_verbs *verbs(const kernel_variant *v) { return (const sem3d_verbs *)v->verbs; }

/* --- new ----------------------------------------------------------------------------------------------------- */

static int check_cfg(const void *cfg) {
    const sem3d_cfg *c = cfg;
    REQUIRE(c->elements >= 1 && c->elements <= INT_MAX / SEM_POINTS, "%d elements, must be 1..%d", c->elements,
            INT_MAX / SEM_POINTS);
    REQUIRE(c->solid >= 0 && c->solid <= c->elements, "%d elements of solid, must be 0..%d", c->solid, c->elements);
    REQUIRE(c->points >= SEM_POINTS && c->points <= LARGEST, "%d points, must be %d..%d", c->points, SEM_POINTS,
            LARGEST);
    REQUIRE(c->solid_points >= 0 && c->solid_points <= c->points, "%d points of solid, must be 0..%d", c->solid_points,
            c->points);
    REQUIRE(c->bricks >= 1 && c->bricks <= c->elements, "%d bricks of %d elements, must be 1..%d", c->bricks,
            c->elements, c->elements);
    REQUIRE(c->contacts >= 0 && c->contacts <= c->elements * 6L, "%d contacts of %d elements: a side has one",
            c->contacts, c->elements);
    REQUIRE(c->per == 8 || c->per == SEM_NODES, "elements of %d nodes, must be 8 or %d", c->per, SEM_NODES);
    REQUIRE(c->media == 1 || c->media == SEM_POINTS, "media of %d numbers an element, must be 1 or %d", c->media,
            SEM_POINTS);
    REQUIRE(c->mechanisms >= 0 && c->mechanisms <= SEM3D_MECHANISMS, "%d mechanisms of attenuation, must be 0..%d",
            c->mechanisms, SEM3D_MECHANISMS);
    REQUIRE(c->shares == 1 || c->shares == SEM_POINTS, "shares of %d numbers an element, must be 1 or %d", c->shares,
            SEM_POINTS);
    REQUIRE(c->relaxing == SEM_POINTS || c->relaxing == SEM_RELAXING,
            "memory variables at %d points of an element, must be %d or %d", c->relaxing, SEM_POINTS, SEM_RELAXING);
    REQUIRE(c->tensors >= 0 && c->tensors <= c->elements, "%d anisotropic media, must be 0..%d", c->tensors,
            c->elements);
    REQUIRE(c->sum >= SEM3D_GATHER && c->sum < SEM3D_SUMS, "sum %d, must be 0..%d", c->sum, SEM3D_SUMS - 1);
    REQUIRE(c->piece >= 0 && c->piece <= 2, "piece %d, must be 0..2", c->piece);
    REQUIRE(c->resident >= SEM3D_RESIDENT_ALL && c->resident < SEM3D_RESIDENTS, "resident %d, must be 0..%d",
            c->resident, SEM3D_RESIDENTS - 1);
    REQUIRE(isfinite(c->room) && c->room >= 0, "room of %g bytes, must not be negative", c->room);
    REQUIRE(isfinite(c->dt) && c->dt > 0, "dt = %g s, must be positive", (double)c->dt);
    return handle_check_machine(c->threads, c->share);
}

#define SOLVER   sem3d
#define NAME     "SEM"
#define FIELDS   SEM3D_FIELDS
#define FORGET   forget
#define VARIANTS "sem3d_variants.def"
#include "solver.inc"

void *sem3d_new(const char *name, const sem3d_cfg *cfg) {
    return handle_new(&solver, name, cfg, (int[3]){cfg->points, 1, 1});
}

/* --- elements ------------------------------------------------------------------------------------------------ */

int sem3d_threads(const sem3d *fd) { return fd->cfg.threads > 0 ? fd->cfg.threads : omp_get_max_threads(); }

static int check_bricks(const sem3d_cfg *c, const int *brick) {
    REQUIRE(brick[0] == 0 && brick[c->bricks] == c->elements, "bricks of elements %d..%d, must be 1..%d", brick[0] + 1,
            brick[c->bricks], c->elements);
    for (int b = 0; b < c->bricks; b++) {
        const int n = brick[b + 1] - brick[b];
        REQUIRE(n >= 1 && n <= SEM3D_BRICK, "brick %d has %d elements, must be 1..%d", b + 1, n, SEM3D_BRICK);
        REQUIRE(brick[b] >= c->solid || brick[b + 1] <= c->solid, "brick %d has both solid and fluid", b + 1);
    }
    return 0;
}

static int check_points(const sem3d_cfg *c, const int *at) {
    const size_t solid = (size_t)c->solid * SEM_POINTS, all = (size_t)c->elements * SEM_POINTS;
    for (size_t m = 0; m < all; m++) {
        const int low = m < solid ? 0 : c->solid_points, high = m < solid ? c->solid_points : c->points;
        REQUIRE((at[m] >= low && at[m] < high) || at[m] == SEM3D_ELSEWHERE,
                "point %zu of element %zu is %d, must be %d..%d", m % SEM_POINTS + 1, m / SEM_POINTS + 1, at[m] + 1,
                low + 1, high);
    }
    return 0;
}

/* Of a piece of a mesh: elements of this piece have all their points. */
static int check_piece(const sem3d *fd, const int *brick, const int *at) {
    for (int b = 0; b < fd->cfg.bricks; b++)
        for (size_t m = (size_t)brick[b] * SEM_POINTS; m < (size_t)brick[b + 1] * SEM_POINTS; m++)
            REQUIRE(at[m] != SEM3D_ELSEWHERE || sem3d_elsewhere(fd, b),
                    "point %zu of element %zu is 0, must be one of this piece of the mesh", m % SEM_POINTS + 1,
                    m / SEM_POINTS + 1);
    return 0;
}

static int check_sides(const sem3d_cfg *c, const sem3d_given *g) {
    const size_t sides = (size_t)c->elements * SEM_SIDES, partners = (size_t)c->contacts * SEM_FACE;
    for (size_t m = 0; m < sides; m++)
        REQUIRE(g->face[m] >= 0 && g->face[m] < SEM3D_KINDS, "kind %d of side %zu of element %zu, must be 0..%d",
                g->face[m], m % SEM_SIDES + 1, m / SEM_SIDES + 1, SEM3D_KINDS - 1);
    for (int k = 0; k < c->contacts; k++) {
        const int e = g->contact[2 * k], side = g->contact[2 * k + 1];
        REQUIRE(e >= c->solid && e < c->elements && side >= 0 && side < SEM_SIDES,
                "contact %d is side %d of element %d, must be 1..6 of one of fluid, %d..%d", k + 1, side + 1, e + 1,
                c->solid + 1, c->elements);
    }
    for (size_t m = 0; m < partners; m++)
        REQUIRE(g->partner[m] >= SEM3D_ELSEWHERE && g->partner[m] < c->solid_points,
                "point %zu of contact %zu meets point %d of the solid, must be 1..%d", m % SEM_FACE + 1,
                m / SEM_FACE + 1, g->partner[m] + 1, c->solid_points);
    return 0;
}

static int check_medium(const sem3d_cfg *c, const sem3d_given *g) {
    const size_t media = (size_t)c->media, all = (size_t)c->elements * media, solid = (size_t)c->solid * media;
    for (size_t m = 0; m < all; m++) {
        const double rho = g->rho[m], lambda = g->lambda[m], mu = g->mu[m];
        REQUIRE(
            rho > 0 && rho <= 1e6 && fabs(lambda) <= 1e15 && mu >= 0 && mu <= 1e15 && 3 * lambda + 2 * mu > 0 &&
                (m < solid) == (mu > 0),
            "density %g kg/m3, lambda %g, mu %g Pa of element %zu are no %s (rho > 0, 3 lambda + 2 mu > 0, mu %s 0)",
            rho, lambda, mu, m / media + 1, m < solid ? "solid" : "fluid", m < solid ? ">" : "=");
    }
    for (size_t m = 0; m < 3 * (size_t)c->per * (size_t)c->elements; m++)
        REQUIRE(isfinite(g->corner[m]), "a node of element %zu is nowhere (%g m)", m / 3 / (size_t)c->per + 1,
                g->corner[m]);
    return 0;
}

/* Bricks with more elements than the variant does at a time are cut near their middle, again and again, after a
 * multiple of its number: as the mesh was cut into bricks. The number of those from .. to-1; first(them) unless it is
 * null. */
static int cut_brick(int from, int to, int most, int *first) {
    const int n = to - from;
    if (n <= most) {
        if (first != NULL)
            *first = from;
        return 1;
    }
    const int units = (n + most) / (2 * most), cut = from + (units > 0 ? units : 1) * most;
    const int below = cut_brick(from, cut, most, first);
    return below + cut_brick(cut, to, most, first == NULL ? NULL : first + below);
}

static int cut_bricks(sem3d *fd, sem3d_given *g) {
    const int most = verbs(fd->h.variant)->most;
    int n = 0;
    if (most == 0)
        return 0;
    for (int b = 0; b < g->bricks; b++)
        n += cut_brick(g->brick[b], g->brick[b + 1], most, NULL);
    TRY(host_alloc(&fd->h.memory, &fd->cut, (size_t)n + 1, sizeof(int), "bricks of elements"));
    n = 0;
    for (int b = 0; b < g->bricks; b++)
        n += cut_brick(g->brick[b], g->brick[b + 1], most, fd->cut + n);
    fd->cut[n] = fd->cfg.elements;
    g->bricks = n;
    g->brick = fd->cut;
    return 0;
}

/* Bricks of a piece are cut in the whole mesh: here some of their elements may be missing. */
static int check_apart(const sem3d *fd, const sem3d_given *g) {
    const int most = verbs(fd->h.variant)->apart;
    for (int b = 0; b < fd->cfg.bricks && fd->pieces.ways > 0 && most > 0; b++)
        REQUIRE(g->brick[b + 1] - g->brick[b] <= most,
                "brick %d of a piece of a mesh has %d elements, variant=%s has %d at most", b + 1,
                g->brick[b + 1] - g->brick[b], fd->h.variant->name, most);
    return 0;
}

int sem3d_bricks(const char *name, int bricks, const int *brick, int *n, int *cut) {
    const kernel_variant *v = variants_find(&solver, name);
    *n = 0;
    if (v == NULL)
        return 1;
    const int most = verbs(v)->apart;
    for (int b = 0; b < bricks; b++)
        *n += cut_brick(brick[b], brick[b + 1], most > 0 ? most : SEM3D_BRICK, cut + *n);
    cut[*n] = brick[bricks];
    return 0;
}

/* Places of points are others now. */
static int forget_points(sem3d *fd) {
    const given_cells none = {NULL, {NULL, NULL, NULL}};
    fd->h.histories.n = 0;
    fd->map.n = 0;
    TRY(handle_source(&fd->h, 0, &none, NULL, NULL));
    TRY(handle_receivers(&fd->h, 0, NULL, &none, NULL));
    return verbs(fd->h.variant)->watch(fd);
}

int sem3d_anisotropy(void *handle, const int *tensor, const float *relative) {
    sem3d *fd = handle;
    TRY(handle_enter(fd));
    const sem3d_cfg *c = &fd->cfg;
    const size_t numbers = (size_t)c->tensors * SEM3D_TENSOR;
    REQUIRE(c->tensors > 0, "anisotropic media for elements made without any");
    for (int e = 0; e < c->elements; e++)
        REQUIRE(tensor[e] >= -1 && tensor[e] < c->tensors, "element %d has anisotropic medium %d, must be 0..%d", e + 1,
                tensor[e] + 1, c->tensors);
    for (size_t m = 0; m < numbers; m++)
        REQUIRE(isfinite(relative[m]), "number %zu of anisotropic medium %zu is none", m % SEM3D_TENSOR + 1,
                m / SEM3D_TENSOR + 1);
    TRY(host_copy(&fd->h.memory, &fd->tensor, tensor, (size_t)c->elements, sizeof *tensor, "anisotropic media"));
    TRY(host_copy(&fd->h.memory, &fd->relative, relative, numbers, sizeof *relative, "anisotropic media"));
    fd->has_tensors = 1;
    return 0;
}

int sem3d_elements(void *handle, const double *corner, const int *face, const int *brick, const float *rho,
                   const float *lambda, const float *mu, const int *at, const int *contact, const int *partner) {
    sem3d *fd = handle;
    sem3d_given given = {corner, face, fd->cfg.bricks, brick,   rho,        lambda,
                         mu,     at,   contact,        partner, fd->tensor, fd->relative};
    TRY(handle_enter(fd));
    REQUIRE(fd->has_tensors || fd->cfg.tensors == 0, "elements before the anisotropic media were set");
    TRY(check_bricks(&fd->cfg, brick));
    TRY(check_points(&fd->cfg, at));
    TRY(check_piece(fd, brick, at));
    TRY(check_sides(&fd->cfg, &given));
    TRY(check_medium(&fd->cfg, &given));
    TRY(sem3d_check_tensors(fd, &given));
    fd->h.has_model = fd->has_quality = 0;
    TRY(host_alloc(&fd->h.memory, &fd->shapes, 1, sizeof(sem_shapes), "shapes of elements"));
    sem_shapes_of(fd->shapes, fd->cfg.per);
    TRY(cut_bricks(fd, &given));
    TRY(check_apart(fd, &given));
    TRY(sem3d_make_order(fd, &given));
    TRY(sem3d_make_ways(fd, &given));
    TRY(sem3d_make_mass(fd, &given));
    TRY(sem3d_make_sides(fd, &given));
    TRY(forget_points(fd));
    TRY(verbs(fd->h.variant)->elements(fd, &given));
    fd->h.has_model = 1;
    return handle_reset(fd);
}

int sem3d_quality(void *handle, const float *tau, const float *bulk, const float *shear) {
    sem3d *fd = handle;
    TRY(handle_enter(fd));
    const size_t mechanisms = (size_t)fd->cfg.mechanisms,
                 all = mechanisms * (size_t)fd->cfg.shares * (size_t)fd->cfg.solid;
    REQUIRE(fd->h.has_model, "attenuation before the elements were set");
    REQUIRE(mechanisms > 0, "attenuation of elements made without mechanisms");
    REQUIRE(verbs(fd->h.variant)->quality != NULL, "the variant \"%s\" knows no attenuation", fd->h.variant->name);
    for (size_t m = 0; m < mechanisms; m++)
        REQUIRE(isfinite(tau[m]) && tau[m] > 0, "relaxation time %zu is %g s, must be positive", m + 1, (double)tau[m]);
    for (size_t m = 0; m < all; m++)
        REQUIRE(bulk[m] >= 0 && bulk[m] <= 1 && shear[m] >= 0 && shear[m] <= 1,
                "shares %g and %g of the moduli of element %zu relax, must be 0..1", (double)bulk[m], (double)shear[m],
                m / mechanisms / (size_t)fd->cfg.shares + 1);
    TRY(verbs(fd->h.variant)->quality(fd, tau, bulk, shear));
    fd->has_quality = 1;
    return 0;
}

int sem3d_damping(void *handle, const float *rate) {
    sem3d *fd = handle;
    TRY(handle_enter(fd));
    REQUIRE(fd->h.has_model, "damping before the elements were set");
    REQUIRE(verbs(fd->h.variant)->sides != NULL, "the variant \"%s\" knows no layer that damps: use sponge = 0",
            fd->h.variant->name);
    for (int p = 0; p < fd->cfg.points; p++)
        REQUIRE(isfinite(rate[p]) && rate[p] >= 0, "damping of point %d is %g 1/s, must be 0 or more", p + 1,
                (double)rate[p]);
    TRY(sem3d_add_damping(fd, rate));
    return verbs(fd->h.variant)->sides(fd);
}

int sem3d_added_mass(void *handle, int n, const int *point, const float *mass) {
    sem3d *fd = handle;
    TRY(handle_enter(fd));
    REQUIRE(fd->h.has_model, "added mass before the elements were set");
    REQUIRE(verbs(fd->h.variant)->sides != NULL, "the variant \"%s\" knows no added mass", fd->h.variant->name);
    REQUIRE(n >= 0, "added mass at %d points: must not be negative", n);
    for (int m = 0; m < n; m++) {
        REQUIRE(point[m] >= 0 && point[m] < fd->cfg.solid_points, "added mass at point %d, must be 1..%d", point[m] + 1,
                fd->cfg.solid_points);
        for (int c = 0; c < 6; c++)
            REQUIRE(isfinite(mass[6 * m + c]) && (c > 2 || mass[6 * m + c] >= 0), "added mass of point %d is %g kg",
                    point[m] + 1, (double)mass[6 * m + c]);
    }
    TRY(sem3d_add_mass(fd, n, point, mass));
    return verbs(fd->h.variant)->sides(fd);
}

/* --- source and receivers ------------------------------------------------------------------------------------ */

static int check_entries(const sem3d_cfg *c, int n, const int *field, const int *point, const float *w,
                         const char *what) {
    for (int m = 0; m < n; m++) {
        REQUIRE(field[m] >= 0 && field[m] < SEM3D_FIELDS, "field %d of point %d of the %s, must be 0..%d", field[m],
                m + 1, what, SEM3D_FIELDS - 1);
        const int low = field[m] < SEM3D_CHI_T ? 0 : c->solid_points,
                  high = field[m] < SEM3D_CHI_T ? c->solid_points : c->points;
        REQUIRE(point[m] >= low && point[m] < high, "point %d of the %s is %d, which has no field %d: must be %d..%d",
                m + 1, what, point[m] + 1, field[m], low + 1, high);
        REQUIRE(isfinite(w[m]), "weight %d of the %s is %g, must be finite", m + 1, what, (double)w[m]);
    }
    return 0;
}

/* Points in the order of a step, as cells of one row; `at` has room for the row's y and z, which are 0, behind them. */
static int find_places(sem3d *fd, int n, const int *point, int **at) {
    TRY(host_alloc(&fd->h.memory, at, 2 * (size_t)n, sizeof(int), "points of source or receivers"));
    for (int m = 0; m < n; m++)
        (*at)[m] = fd->order.place[point[m]];
    return 0;
}

static given_cells cells_of(const int *field, const int *at, int n) {
    return (given_cells){field, {at, at + n, at + n}};
}

static int check_model(const sem3d *fd) {
    TRY(handle_enter((void *)fd));
    REQUIRE(fd->h.has_model, "sources, receivers or fields before the elements were set");
    return 0;
}

int sem3d_source(void *handle, int nh, int n, const int *field, const int *point, const int *h, const float *w) {
    sem3d *fd = handle;
    int *at = NULL;
    TRY(check_model(fd));
    REQUIRE(nh >= 0 && n >= 0, "source of %d histories at %d points: must not be negative", nh, n);
    TRY(check_entries(&fd->cfg, n, field, point, w, "source"));
    for (int m = 0; m < n; m++) {
        REQUIRE(field[m] <= SEM3D_VZ || field[m] == SEM3D_CHI_T,
                "point %d of the source drives field %d: must be 0..%d or %d", m + 1, field[m], SEM3D_VZ, SEM3D_CHI_T);
        REQUIRE(h[m] >= 0 && h[m] < nh, "point %d of the source has history %d, must be 1..%d", m + 1, h[m] + 1, nh);
    }
    fd->h.histories.n = fd->h.histories.first = fd->h.histories.steps = fd->h.histories.silent = 0;
    TRY(find_places(fd, n, point, &at));
    const given_cells cells = cells_of(field, at, n);
    const int rc = handle_source(&fd->h, n, &cells, h, w);
    host_release(&fd->h.memory, &at);
    fd->h.histories.n = rc ? 0 : nh;
    return rc || handle_tell(&fd->h, fd->h.variant->verbs->source);
}

int sem3d_histories(void *handle, int it, int n, const float *q) {
    sem3d *fd = handle;
    TRY(handle_enter(fd));
    return handle_next_histories(&fd->h, it, n, q);
}

int sem3d_receivers(void *handle, int nrec, const int *start, const int *field, const int *point, const float *w) {
    sem3d *fd = handle;
    int *at = NULL;
    TRY(check_model(fd));
    TRY(handle_check_receivers(nrec, start));
    const int n = nrec == 0 ? 0 : start[nrec];
    TRY(check_entries(&fd->cfg, n, field, point, w, "receivers"));
    TRY(find_places(fd, n, point, &at));
    const given_cells cells = cells_of(field, at, n);
    const int rc = handle_receivers(&fd->h, nrec, start, &cells, w);
    host_release(&fd->h.memory, &at);
    return rc || handle_tell(&fd->h, fd->h.variant->verbs->receivers);
}

/* --- fields -------------------------------------------------------------------------------------------------- */

static int check_field(sem3d *fd, int which) {
    TRY(check_model(fd));
    REQUIRE(which >= 0 && which < SEM3D_FIELDS, "field %d, must be 0..%d", which, SEM3D_FIELDS - 1);
    return 0;
}

int sem3d_field(void *handle, int which, float *out) {
    sem3d *fd = handle;
    TRY(check_field(fd, which));
    return verbs(fd->h.variant)->get(fd, which, out);
}

/* A potential that is given where it is held at 0 would drift there. */
static int set_potential(sem3d *fd, int which, const float *in) {
    const int solid = fd->cfg.solid_points, n = fd->cfg.points - solid;
    float *held = NULL;
    TRY(host_copy(&fd->h.memory, &held, in, (size_t)n, sizeof *held, "a field"));
    for (int p = 0; p < n; p++)
        if (!(fd->gain[fd->order.place[solid + p]] > 0))
            held[p] = 0;
    const int rc = handle_set_field(&fd->h, which, held);
    host_release(&fd->h.memory, &held);
    return rc;
}

int sem3d_set_field(void *handle, int which, const float *in) {
    sem3d *fd = handle;
    TRY(check_field(fd, which));
    return which < SEM3D_CHI_T ? handle_set_field(&fd->h, which, in) : set_potential(fd, which, in);
}

/* --- map ------------------------------------------------------------------------------------------------------- */

static int set_map(sem3d *fd, int n, const int *start, const int *field, const int *point, const float *w) {
    sem3d_map_points *m = &fd->map;
    TRY(handle_check_receivers(3 * n, start));
    const size_t entries = n == 0 ? 0 : (size_t)start[3 * n];
    TRY(check_entries(&fd->cfg, (int)entries, field, point, w, "map"));
    TRY(host_copy(&fd->h.memory, &m->start, start, 3 * (size_t)n + (n > 0), sizeof(int), "map"));
    TRY(host_copy(&fd->h.memory, &m->field, field, entries, sizeof(int), "map"));
    TRY(host_alloc(&fd->h.memory, &m->at, entries, sizeof(int), "map"));
    TRY(host_copy(&fd->h.memory, &m->w, w, entries, sizeof(float), "map"));
    for (size_t e = 0; e < entries; e++)
        m->at[e] = fd->order.place[point[e]];
    m->n = n;
    return 0;
}

int sem3d_watch(void *handle, int last, int n, const int *start, const int *field, const int *point, const float *w) {
    sem3d *fd = handle;
    TRY(check_model(fd));
    REQUIRE(n >= 0 && n <= INT_MAX / 3 - 1, "a map of %d points, must be 0..%d", n, INT_MAX / 3 - 1);
    fd->map.n = 0;
    fd->map.last = last;
    TRY(set_map(fd, n, start, field, point, w));
    return verbs(fd->h.variant)->watch(fd);
}

int sem3d_map(void *handle, float *out) {
    sem3d *fd = handle;
    TRY(handle_enter(fd));
    REQUIRE(fd->map.n > 0, "map of ground velocity asked for, but no point was watched");
    return verbs(fd->h.variant)->map(fd, out);
}

/* --- for the record ------------------------------------------------------------------------------------------ */

int sem3d_need(const char *name, const sem3d_cfg *cfg, int entries, int receivers, int steps, int points, long *host,
               long *device) {
    const kernel_variant *v = variants_find(&solver, name);
    *host = *device = 0;
    if (v == NULL || check_cfg(cfg))
        return 1;
    REQUIRE(entries >= 0 && receivers >= 0 && steps >= 0 && points >= 0,
            "memory for %d source points, %d receivers, %d steps and a map of %d points: must not be negative", entries,
            receivers, steps, points);
    const size_t each = 6 * sizeof(int), at = SEM_POINTS; /* entries of an interpolation */
    size_t need = sizeof(sem3d) + sizeof(sem_shapes) + verbs(v)->need(v, cfg);
    need += (size_t)cfg->points * (2 * sizeof(int) + sizeof(float) + 20 /* while they are made */);
    need += (size_t)cfg->elements * SEM_POINTS * sizeof(uint16_t);
    need += cfg->tensors > 0 ? (size_t)cfg->elements * sizeof(int) + (size_t)cfg->tensors * SEM3D_TENSOR * sizeof(float)
                             : 0;
    need += (size_t)entries * each + (size_t)receivers * (at * each + (size_t)steps * sizeof(float));
    need += (size_t)points * 3 * at * (2 * sizeof(int) + sizeof(float));
    *host = (long)need;
    if (verbs(v)->device != NULL)
        *device = (long)verbs(v)->device(v, cfg, &(sem3d_counts){entries, receivers, steps, points});
    return 0;
}

int sem3d_tune(void *handle, const char *isa) {
    TRY(handle_enter(handle));
    return handle_tune(handle, isa, 0, 0, 0);
}
