/* The `cpu` variant of spectral elements: memory, groups of elements, fields. */
#include "sem3d_cpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"

static const cpu_isa *const isas[] = {
#ifdef __x86_64__
    &sem3d_cpu_avx512, &sem3d_cpu_avx2,
#endif
    &sem3d_cpu_generic, NULL};

static cpus_own *own(const handle *h) { return h->own; }

static int make(handle *h) { return cpu_make(h, sizeof(cpus_own), isas, ((sem3d *)h)->cfg.threads); }

/* --- groups ---------------------------------------------------------------------------------------------------- */

static int media_of(int solid) { return solid ? 2 : 1; }

static size_t group_vectors(int kind, int solid) {
    const size_t media = (size_t)media_of(solid);
    return kind == SEM_EVEN     ? COFACTORS + media
           : kind == SEM_AFFINE ? COFACTORS + media * SEM_POINTS
                                : (COFACTORS + media) * SEM_POINTS;
}

static int kind_of(const sem3d *fd, const sem3d_given *given, const cpus_group *g) {
    for (int l = 0; l < g->elements; l++)
        if (fd->cfg.per != 8 || !sem_is_affine(sem3d_corner(fd, given, (size_t)(g->first + l)), 1e-6))
            return SEM_BENT;
    return fd->cfg.media == 1 ? SEM_EVEN : SEM_AFFINE;
}

/* Groups of all bricks, and how many vectors of numbers they have. */
static int list_groups(sem3d *fd, const sem3d_given *given, size_t *vectors) {
    cpus_own *o = own(&fd->h);
    const int bricks = fd->cfg.bricks;
    *vectors = 0;
    TRY(host_alloc(&fd->h.memory, &o->groups, (size_t)bricks + 1, sizeof(int), "groups of elements"));
    for (int b = 0; b < bricks; b++)
        o->groups[b + 1] = o->groups[b] + (given->brick[b + 1] - given->brick[b] + GROUP - 1) / GROUP;
    TRY(host_alloc(&fd->h.memory, &o->group, (size_t)o->groups[bricks], sizeof(cpus_group), "groups of elements"));
    for (int b = 0; b < bricks; b++)
        for (int n = o->groups[b]; n < o->groups[b + 1]; n++) {
            cpus_group *g = &o->group[n];
            g->first = given->brick[b] + (n - o->groups[b]) * GROUP;
            g->elements = given->brick[b + 1] - g->first < GROUP ? given->brick[b + 1] - g->first : GROUP;
            g->kind = kind_of(fd, given, g);
            g->at = *vectors * GROUP;
            *vectors += group_vectors(g->kind, g->first < fd->cfg.solid);
        }
    return 0;
}

/* Numbers of element l of a group at a point. */
static void put_point(const sem3d *fd, const sem3d_given *given, const cpus_group *g, int l, int p, const sem_place *x,
                      float *numbers) {
    const size_t e = (size_t)(g->first + l);
    const int solid = g->first < fd->cfg.solid, media = media_of(solid), once = g->kind == SEM_EVEN && p > 0;
    const double w = (g->kind == SEM_EVEN ? 1 : sem_point_weight(p)) / x->det;
    const double mu = sem3d_medium(&fd->cfg, given->mu, e, p), lambda = sem3d_medium(&fd->cfg, given->lambda, e, p),
                 rho = sem3d_medium(&fd->cfg, given->rho, e, p), medium[2] = {solid ? lambda : 1 / rho, mu};
    float *a = numbers + l + (g->kind == SEM_BENT ? p * (COFACTORS + media) * GROUP : 0);
    float *m = a + (COFACTORS + (g->kind == SEM_AFFINE ? p * media : 0)) * GROUP;
    for (int n = 0; n < COFACTORS && (g->kind == SEM_BENT || p == 0); n++)
        a[n * GROUP] = (float)x->a[n / 3][n % 3];
    for (int n = 0; n < media && !once; n++)
        m[n * GROUP] = (float)(w * medium[n]);
}

/* Lanes without an element have cofactors and media of 0: no force, whatever their displacement. */
static void fill_group(const sem3d *fd, const sem3d_given *given, cpus_group *g, float *numbers) {
    sem_place place[SEM_POINTS];
    memset(numbers, 0, group_vectors(g->kind, g->first < fd->cfg.solid) * GROUP * sizeof(float));
    for (int l = 0; l < g->elements; l++) {
        sem_places(fd->shapes, sem3d_corner(fd, given, (size_t)(g->first + l)), place);
        for (int p = 0; p < SEM_POINTS; p++)
            put_point(fd, given, g, l, p, &place[p], numbers);
    }
}

static void fill_groups(const sem3d *fd, const sem3d_given *given) {
    cpus_own *o = own(&fd->h);
    const int groups = o->groups[fd->cfg.bricks];
#pragma omp parallel for schedule(static) num_threads(o->frame.threads)
    for (int n = 0; n < groups; n++)
        fill_group(fd, given, &o->group[n], o->numbers + o->group[n].at);
}

/* --- memory ---------------------------------------------------------------------------------------------------- */

/* A field, and zeros up to a whole row. */
static size_t field_floats(size_t n) { return (n + SEM_ROW) / SEM_ROW * SEM_ROW; }

static size_t solid_floats(const sem3d *fd) { return 3 * (size_t)fd->cfg.solid_points; }

static size_t fluid_floats(const sem3d *fd) { return (size_t)(fd->cfg.points - fd->cfg.solid_points); }

/* Fields and numbers of groups in one piece. */
static int take_memory(sem3d *fd, size_t vectors) {
    cpus_own *o = own(&fd->h);
    const size_t solid = field_floats(solid_floats(fd)), fluid = field_floats(fluid_floats(fd)),
                 slots = 4 * (size_t)fd->order.outers, all = 2 * (solid + fluid) + slots + vectors * GROUP + LANES;
    char what[64];
    snprintf(what, sizeof what, "%d", fd->cfg.points);
    free(o->frame.pages);
    o->frame.pages = NULL;
    TRY(cpu_take_pages(&fd->h, (double)all, all * sizeof(float), what));
    float *at = o->frame.pages;
    float **array[4] = {&o->v, &o->u, &o->chi_t, &o->chi};
    for (int n = 0; n < 4; n++) {
        *array[n] = at;
        at += n < 2 ? solid : fluid;
    }
    o->numbers = at;
    o->slot = at + vectors * GROUP;
    return 0;
}

/* Room of each thread for the largest brick. */
int sem3d_cpu_room(sem3d *fd) {
    cpus_own *o = own(&fd->h);
    const size_t threads = (size_t)o->frame.threads;
    if (o->rooms >= threads)
        return 0;
    o->rooms = 0;
    TRY(host_alloc(&fd->h.memory, &o->work, threads, sizeof(cpus_work), "forces of elements"));
    TRY(host_alloc(&fd->h.memory, &o->room, threads * 8 * o->brick_points, sizeof(float), "forces of elements"));
    for (size_t t = 0; t < threads; t++) {
        o->work[t].u = o->room + t * 8 * o->brick_points;
        o->work[t].f = o->work[t].u + 4 * o->brick_points;
    }
    o->rooms = threads;
    return 0;
}

static int elements(sem3d *fd, const sem3d_given *given) {
    cpus_own *o = own(&fd->h);
    size_t vectors;
    TRY(list_groups(fd, given, &vectors));
    TRY(take_memory(fd, vectors));
    TRY(host_alloc(&fd->h.memory, &o->press, (size_t)fd->sides.contacts, sizeof(float), "contacts"));
    o->brick_points = 0;
    for (int b = 0; b < fd->cfg.bricks; b++) {
        const size_t points = (size_t)(fd->order.brick[b].inners + fd->order.brick[b].outers);
        o->brick_points = points > o->brick_points ? points : o->brick_points;
    }
    o->brick_points = (o->brick_points + LANES) / LANES * LANES;
    o->rooms = 0;
    fill_groups(fd, given);
    return sem3d_cpu_room(fd);
}

static size_t need(const sem3d_cfg *c) {
    const size_t solid = (size_t)c->solid_points, fluid = (size_t)c->points - solid,
                 groups = ((size_t)c->elements + GROUP - 1) / GROUP + (size_t)c->bricks;
    const size_t floats = 2 * (field_floats(3 * solid) + field_floats(fluid)) +
                          groups * group_vectors(SEM_BENT, 1) * GROUP + 4 * (size_t)c->elements * SEM_POINTS / 4;
    return sizeof(cpus_own) + cpu_whole_pages(floats * sizeof(float));
}

/* --- fields ---------------------------------------------------------------------------------------------------- */

/* A field's first number and the distance to the next. */
static float *field_of(const handle *h, int field, size_t *step, int *first, int *n) {
    const sem3d *fd = (const sem3d *)h;
    const cpus_own *o = own(h);
    const int fluid = field >= SEM3D_CHI_T;
    *step = fluid ? 1 : 3;
    *first = fluid ? fd->cfg.solid_points : 0;
    *n = fluid ? fd->cfg.points - fd->cfg.solid_points : fd->cfg.solid_points;
    return fluid ? (field == SEM3D_CHI ? o->chi : o->chi_t) : (field >= SEM3D_UX ? o->u : o->v) + field % 3;
}

static int get(sem3d *fd, int field, float *out) {
    size_t step;
    int first, n;
    const float *at = field_of(&fd->h, field, &step, &first, &n);
    for (int p = 0; p < n; p++)
        out[p] = at[(size_t)(fd->order.place[first + p] - first) * step];
    return 0;
}

static int set(handle *h, int field, const float *in) {
    const sem3d *fd = (const sem3d *)h;
    size_t step;
    int first, n;
    float *at = field_of(h, field, &step, &first, &n);
    for (int p = 0; p < n; p++)
        at[(size_t)(fd->order.place[first + p] - first) * step] = in[p];
    return 0;
}

float sem3d_cpu_value(const handle *h, int field, int place) {
    size_t step;
    int first, n;
    const float *at = field_of(h, field, &step, &first, &n);
    return at[(size_t)(place - first) * step];
}

static int reset(handle *h) {
    const sem3d *fd = (const sem3d *)h;
    cpus_own *o = own(h);
    if (o->v == NULL)
        return 0;
    memset(o->v, 0, 2 * (field_floats(solid_floats(fd)) + field_floats(fluid_floats(fd))) * sizeof(float));
    if (o->peaks != NULL)
        memset(o->peaks, 0, 3 * (size_t)fd->map.n * sizeof(float));
    return 0;
}

static int state(handle *h, state_part *part) {
    const sem3d *fd = (const sem3d *)h;
    const cpus_own *o = own(h);
    part[0] = (state_part){o->v, solid_floats(fd), 1, 0};
    part[1] = (state_part){o->u, solid_floats(fd), 1, 0};
    part[2] = (state_part){o->chi_t, fluid_floats(fd), 1, 0};
    part[3] = (state_part){o->chi, fluid_floats(fd), 1, 0};
    part[4] = (state_part){o->peaks, 3 * (size_t)fd->map.n, 1, 0};
    return 5;
}

static const float *row_of(const void *field, long row) { return (const float *)field + row * SEM_ROW; }

static int maxabs(handle *h, float *value, int place[3]) {
    const sem3d *fd = (const sem3d *)h;
    const cpus_own *o = own(h);
    const size_t n[2] = {solid_floats(fd), fluid_floats(fd)};
    const float *field[2] = {o->v, o->chi_t};
    *value = 0;
    for (int f = 0; f < 2; f++) {
        long row;
        int column;
        float largest;
        if (n[f] == 0 || field[f] == NULL)
            continue;
        cpu_largest(&o->frame, field[f], row_of, (long)(field_floats(n[f]) / SEM_ROW), SEM_ROW, &largest, &row,
                    &column);
        largest *= f == 0 ? 1 : fd->loudness;
        if (f > 0 && !(largest > *value))
            continue;
        *value = largest;
        const long at = (row * SEM_ROW + column) / (f == 0 ? 3 : 1) + (f == 0 ? 0 : fd->cfg.solid_points);
        place[0] = at < fd->cfg.points ? fd->order.point[at] : 0;
    }
    return 0;
}

/* --- map --------------------------------------------------------------------------------------------------------- */

static int watch(sem3d *fd) {
    cpus_own *o = own(&fd->h);
    host_release(&fd->h.memory, &o->peaks);
    return fd->map.n == 0 ? 0 : host_alloc(&fd->h.memory, &o->peaks, 3 * (size_t)fd->map.n, sizeof(float), "map");
}

static int map(sem3d *fd, float *out) {
    memcpy(out, own(&fd->h)->peaks, 3 * (size_t)fd->map.n * sizeof(float));
    return 0;
}

static const sem3d_verbs verbs = {
    .common = {.frame = &cpu_frame_verbs, HANDLE_VERBS, .timestep = sem3d_cpu_timestep},
    .elements = elements,
    .get = get,
    .watch = watch,
    .map = map,
    .need = need,
};

SEM3D_VARIANT(cpu) = {"cpu", "C, SIMD over elements and threads over bricks of them", 0, &verbs.common, NULL};
