/* The `cpu` variant of spectral elements: memory, groups of elements, fields. */
#include "sem3d_cpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "sem3d_tensor.h"

static const cpu_isa *const isas[] = {
#ifdef __x86_64__
    &sem3d_cpu_avx512, &sem3d_cpu_avx2,
#endif
    &sem3d_cpu_generic, NULL};

static cpus_own *own(const handle *h) { return h->own; }

static int make(handle *h) { return cpu_make(h, sizeof(cpus_own), isas, ((sem3d *)h)->cfg.threads); }

/* --- groups ---------------------------------------------------------------------------------------------------- */

static int media_of(int solid) { return solid ? 2 : 1; }

static size_t group_vectors(int shape, int even, int solid) {
    const size_t media = (size_t)media_of(solid), geometry = (size_t)cpus_geometry(shape);
    return shape == SEM_STORED ? (geometry + media) * SEM_POINTS : geometry + media * (even ? 1 : SEM_POINTS);
}

static int shape_of(const sem3d *fd, const sem3d_given *given, const cpus_group *g) {
    if (fd->cfg.per != 8)
        return SEM_STORED;
    for (int l = 0; l < g->elements; l++)
        if (!sem_is_affine(sem3d_corner(fd, given, (size_t)(g->first + l)), 1e-6))
            return SEM_TRILINEAR;
    return SEM_AFFINE;
}

static int tensor_of(const sem3d_given *given, const cpus_group *g) {
    for (int l = 0; l < g->elements; l++)
        if (sem3d_relative(given, (size_t)(g->first + l)) != NULL)
            return SEM3D_TENSOR;
    return 0;
}

/* Groups of all bricks, and how many vectors of numbers they have. */
static int list_groups(sem3d *fd, const sem3d_given *given, size_t *vectors) {
    cpus_own *o = own(&fd->h);
    const int bricks = fd->cfg.bricks;
    *vectors = 0;
    TRY(host_alloc(&fd->h.memory, &o->groups, (size_t)bricks + 1, sizeof(int), "groups of elements"));
    for (int b = 0; b < bricks; b++) {
        const int n = fd->order.brick[b].elsewhere ? 0 : given->brick[b + 1] - given->brick[b];
        o->groups[b + 1] = o->groups[b] + (n + GROUP - 1) / GROUP;
    }
    TRY(host_alloc(&fd->h.memory, &o->group, (size_t)o->groups[bricks], sizeof(cpus_group), "groups of elements"));
#pragma omp parallel for schedule(static) num_threads(o->frame.threads)
    for (int b = 0; b < bricks; b++)
        for (int n = o->groups[b]; n < o->groups[b + 1]; n++) {
            cpus_group *g = &o->group[n];
            g->first = given->brick[b] + (n - o->groups[b]) * GROUP;
            g->elements = given->brick[b + 1] - g->first < GROUP ? given->brick[b + 1] - g->first : GROUP;
            g->shape = shape_of(fd, given, g);
            g->even = fd->cfg.media == 1 && g->shape != SEM_STORED;
            g->lanes = (size_t)n * SEM_POINTS * GROUP;
            g->tensor = tensor_of(given, g);
            g->tensor_at = group_vectors(g->shape, g->even, g->first < fd->cfg.solid) * GROUP;
        }
    for (int n = 0; n < o->groups[bricks]; n++) {
        o->group[n].at = *vectors * GROUP;
        *vectors += o->group[n].tensor_at / GROUP + (size_t)o->group[n].tensor;
    }
    return 0;
}

/* The medium of element l of a group at a point, times `by`. */
static void put_medium(const sem3d *fd, const sem3d_given *given, const cpus_group *g, int l, int p, double by,
                       float *m) {
    const size_t e = (size_t)(g->first + l);
    const int solid = g->first < fd->cfg.solid;
    m[l] = (float)(by * (solid ? sem3d_medium(&fd->cfg, given->lambda, e, p)
                               : 1 / sem3d_medium(&fd->cfg, given->rho, e, p)));
    if (solid)
        m[GROUP + l] = (float)(by * sem3d_medium(&fd->cfg, given->mu, e, p));
}

static void put_cofactors(const sem_place *x, float *a) {
    for (int n = 0; n < COFACTORS; n++)
        a[n * GROUP] = (float)x->a[n / 3][n % 3];
}

static void put_stored(const sem3d *fd, const sem3d_given *given, const cpus_group *g, int l, float *numbers) {
    const int step = (COFACTORS + media_of(g->first < fd->cfg.solid)) * GROUP;
    sem_place x[SEM_POINTS];
    sem_places(fd->shapes, sem3d_corner(fd, given, (size_t)(g->first + l)), x);
    for (int p = 0; p < SEM_POINTS; p++, numbers += step) {
        put_cofactors(&x[p], numbers + l);
        put_medium(fd, given, g, l, p, sem_point_weight(p) / x[p].det, numbers + COFACTORS * GROUP);
    }
}

/* Of an affine or trilinear element; det of the former is the same everywhere. */
static void put_plain(const sem3d *fd, const sem3d_given *given, const cpus_group *g, int l, float *numbers) {
    const double *corner = sem3d_corner(fd, given, (size_t)(g->first + l));
    float *m = numbers + cpus_geometry(g->shape) * GROUP;
    const int step = media_of(g->first < fd->cfg.solid) * GROUP;
    double b[8][3], by = 1;
    sem_trilinear(corner, b);
    for (int n = 0; n < TRILINEAR && g->shape == SEM_TRILINEAR; n++)
        numbers[n * GROUP + l] = (float)b[1 + n / 3][n % 3];
    if (g->shape == SEM_AFFINE) {
        sem_place x;
        sem_cofactors((const double(*)[3]) & b[1], &x);
        put_cofactors(&x, numbers + l);
        by = 1 / x.det;
    }
    for (int p = 0; p < (g->even ? 1 : SEM_POINTS); p++)
        put_medium(fd, given, g, l, p, by * (g->even ? 1 : sem_point_weight(p)), m + p * step);
}

/* Lanes without an element are copies of the last one. */
static void fill_group(const sem3d *fd, const sem3d_given *given, const cpus_group *g, float *numbers,
                       uint16_t *lanes) {
    for (int l = 0; l < GROUP; l++) {
        const int from = l < g->elements ? l : g->elements - 1;
        const uint16_t *local = fd->order.local + (size_t)(g->first + from) * SEM_POINTS;
        for (int p = 0; p < SEM_POINTS; p++)
            lanes[p * GROUP + l] = local[p];
    }
    for (int l = 0; l < g->elements; l++)
        (g->shape == SEM_STORED ? put_stored : put_plain)(fd, given, g, l, numbers);
    for (int l = 0; l < g->elements && g->tensor > 0; l++) {
        const float *relative = sem3d_relative(given, (size_t)(g->first + l));
        for (int m = 0; m < g->tensor; m++)
            numbers[g->tensor_at + (size_t)(m * GROUP + l)] = relative == NULL ? 0 : relative[m];
    }
    const size_t vectors = group_vectors(g->shape, g->even, g->first < fd->cfg.solid) + (size_t)g->tensor;
    for (size_t v = 0; v < vectors; v++)
        for (int l = g->elements; l < GROUP; l++)
            numbers[v * GROUP + (size_t)l] = numbers[v * GROUP + (size_t)g->elements - 1];
}

static void fill_groups(const sem3d *fd, const sem3d_given *given) {
    cpus_own *o = own(&fd->h);
    const int groups = o->groups[fd->cfg.bricks];
#pragma omp parallel for schedule(static) num_threads(o->frame.threads)
    for (int n = 0; n < groups; n++)
        fill_group(fd, given, &o->group[n], o->numbers + o->group[n].at, o->lanes + o->group[n].lanes);
}

/* --- attenuation ----------------------------------------------------------------------------------------------- */

/* Floats of a group. */
static size_t share_floats(const sem3d_cfg *c) {
    return (size_t)c->mechanisms * 2 * (size_t)(c->shares == 1 ? 1 : c->relaxing) * GROUP;
}

static size_t memory_floats(const sem3d_cfg *c) { return (size_t)c->mechanisms * 6 * (size_t)c->relaxing * GROUP; }

static int solid_groups(const sem3d *fd) { return own(&fd->h)->groups[fd->order.solid_bricks]; }

cpus_relaxation sem3d_cpu_relaxation(const sem3d *fd, int group) {
    const cpus_own *o = own(&fd->h);
    if (o->memory == NULL || group >= solid_groups(fd))
        return (cpus_relaxation){0, 0, NULL, NULL, NULL, NULL};
    return (cpus_relaxation){fd->cfg.mechanisms,
                             fd->cfg.shares == 1 ? 0 : fd->cfg.mechanisms * 2 * GROUP,
                             &o->with,
                             o->decay,
                             o->shares + (size_t)group * share_floats(&fd->cfg),
                             o->memory + (size_t)group * memory_floats(&fd->cfg)};
}

static void list_memory(const sem3d_cfg *c, cpus_memory *m) {
    m->points = c->relaxing;
    for (int p = 0; p < SEM_POINTS; p++) {
        m->number[p] = c->relaxing == SEM_POINTS ? p : sem_memory(p);
        m->gain[p] = c->relaxing == SEM_POINTS ? 1 : (float)sem_memory_gain(p);
    }
}

static void fill_shares(const sem3d *fd, int group, const float *bulk, const float *shear) {
    const cpus_own *o = own(&fd->h);
    const cpus_group *g = &o->group[group];
    const size_t mechanisms = (size_t)fd->cfg.mechanisms, shares = (size_t)fd->cfg.shares;
    float *to = o->shares + (size_t)group * share_floats(&fd->cfg);
    for (size_t p = 0; p < shares; p++)
        for (size_t m = 0; m < mechanisms && (shares == 1 || o->with.number[p] >= 0); m++, to += 2 * GROUP)
            for (int l = 0; l < GROUP; l++) {
                const size_t e = (size_t)(g->first + (l < g->elements ? l : g->elements - 1)),
                             at = (e * shares + p) * mechanisms + m;
                const float half = 0.5f * (1 - o->decay[m]);
                to[l] = half * bulk[at];
                to[GROUP + l] = half * shear[at];
            }
}

static int quality(sem3d *fd, const float *tau, const float *bulk, const float *shear) {
    cpus_own *o = own(&fd->h);
    const int groups = solid_groups(fd);
    list_memory(&fd->cfg, &o->with);
    for (int m = 0; m < fd->cfg.mechanisms; m++)
        o->decay[m] = (float)exp(-(double)fd->cfg.dt / tau[m]);
    TRY(host_alloc(&fd->h.memory, &o->shares, (size_t)groups * share_floats(&fd->cfg), sizeof(float), "attenuation"));
    TRY(host_alloc(&fd->h.memory, &o->memory, (size_t)groups * memory_floats(&fd->cfg), sizeof(float), "attenuation"));
#pragma omp parallel for schedule(static) num_threads(o->frame.threads)
    for (int n = 0; n < groups; n++)
        fill_shares(fd, n, bulk, shear);
    return 0;
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
    host_release(&fd->h.memory, &o->memory);
    const size_t lanes = (size_t)o->groups[fd->cfg.bricks] * SEM_POINTS * GROUP;
    TRY(host_alloc(&fd->h.memory, &o->lanes, lanes, sizeof(uint16_t), "points of elements"));
    fill_groups(fd, given);
    host_release(&fd->h.memory, &fd->order.local); /* `lanes` has the same */
    return sem3d_cpu_room(fd);
}

static size_t need(const kernel_variant *v, const sem3d_cfg *c) {
    (void)v;
    const size_t solid = (size_t)c->solid_points, fluid = (size_t)c->points - solid,
                 groups = ((size_t)c->elements + GROUP - 1) / GROUP + (size_t)c->bricks;
    const size_t floats = 2 * (field_floats(3 * solid) + field_floats(fluid)) +
                          groups * group_vectors(c->per == 8 ? SEM_TRILINEAR : SEM_STORED, c->media == 1, 1) * GROUP +
                          (c->tensors > 0 ? groups * SEM3D_TENSOR * GROUP : 0) +
                          4 * (size_t)c->elements * SEM_POINTS / 4;
    const size_t relaxing = groups * (share_floats(c) + memory_floats(c));
    return sizeof(cpus_own) + cpu_whole_pages(floats * sizeof(float)) + relaxing * sizeof(float) +
           groups * SEM_POINTS * GROUP * sizeof(uint16_t);
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

/* By all threads. */
static void clear(const cpus_own *o, float *numbers, size_t n) {
    const size_t parts = (n + SEM_ROW - 1) / SEM_ROW;
#pragma omp parallel for schedule(static) num_threads(o->frame.threads)
    for (size_t p = 0; p < parts; p++)
        memset(numbers + p * SEM_ROW, 0, (p + 1 < parts ? SEM_ROW : n - p * SEM_ROW) * sizeof(float));
}

static int reset(handle *h) {
    const sem3d *fd = (const sem3d *)h;
    cpus_own *o = own(h);
    if (o->v == NULL)
        return 0;
    clear(o, o->v, 2 * (field_floats(solid_floats(fd)) + field_floats(fluid_floats(fd))));
    if (o->memory != NULL)
        clear(o, o->memory, (size_t)solid_groups(fd) * memory_floats(&fd->cfg));
    if (o->peaks != NULL)
        memset(o->peaks, 0, 3 * (size_t)fd->map.n * sizeof(float));
    return 0;
}

static int state(handle *h, state_part *part) {
    const sem3d *fd = (const sem3d *)h;
    const cpus_own *o = own(h);
    if (o->v == NULL)
        return 0;
    part[0] = (state_part){o->v, solid_floats(fd), 1, 0};
    part[1] = (state_part){o->u, solid_floats(fd), 1, 0};
    part[2] = (state_part){o->chi_t, fluid_floats(fd), 1, 0};
    part[3] = (state_part){o->chi, fluid_floats(fd), 1, 0};
    part[4] = (state_part){o->peaks, 3 * (size_t)fd->map.n, 1, 0};
    part[5] = (state_part){o->memory, o->memory == NULL ? 0 : (size_t)solid_groups(fd) * memory_floats(&fd->cfg), 1, 0};
    return 6;
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

/* --- pieces of a mesh -------------------------------------------------------------------------------------------- */

static int give(sem3d *fd, int fluid, int way, float *out) {
    const sem3d_pieces *p = &fd->pieces;
    const int width = fluid ? 1 : 3;
    for (int m = p->gives[2 * way + fluid]; m < p->gives[2 * way + fluid + 1]; m++, out += width)
        memcpy(out, own(&fd->h)->slot + 4 * (size_t)p->give[m], (size_t)width * sizeof(float));
    return 0;
}

static int take(sem3d *fd, int fluid, int way, const float *in) {
    const sem3d_pieces *p = &fd->pieces;
    const int width = fluid ? 1 : 3;
    for (int m = p->takes[2 * way + fluid]; m < p->takes[2 * way + fluid + 1]; m++, in += width)
        memcpy(own(&fd->h)->slot + 4 * (size_t)p->take[m], in, (size_t)width * sizeof(float));
    return 0;
}

static int sides(sem3d *fd) {
    (void)fd; /* a step reads them where they are */
    return 0;
}

static const sem3d_verbs verbs = {
    .common = {.frame = &cpu_frame_verbs, HANDLE_VERBS, .timestep = sem3d_cpu_timestep},
    .elements = elements,
    .quality = quality,
    .sides = sides,
    .get = get,
    .watch = watch,
    .map = map,
    .need = need,
    .part = sem3d_cpu_part,
    .give = give,
    .take = take,
};

SEM3D_VARIANT(cpu) = {"cpu", "C, SIMD over elements and threads over bricks of them", 0, &verbs.common, NULL};
