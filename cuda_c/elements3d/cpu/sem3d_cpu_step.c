/* The step of the `cpu` variant: forces of bricks, then of the points that bricks share; the fluid first. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "denormals.h"
#include "err.h"
#include "sem3d_cpu.h"

enum { CHUNK = 2048 }; /* shared points that a thread does at a time */

typedef struct step_of { /* what one step is made with */
    const sem3d *fd;
    cpus_own *o;
    const cpus_kernels *kernels;
    const float *q; /* histories of this step; null: silent */
} step_of;

/* --- forces at points besides those of elements ------------------------------------------------------------------ */

/* Sources of a field at points from .. to-1; f of the first, then every `width`. */
static void add_sources(const step_of *s, int field, int from, int to, float *f, int width) {
    const source_cells *c = &s->fd->h.source[field];
    if (s->q == NULL || c->cells.n == 0)
        return;
    for (int n = cells_seek(&c->cells, 0, 0, from); n < c->cells.n && c->cells.at[0][n] < to; n++)
        for (int e = c->start[n]; e < c->start[n + 1]; e++)
            f[(size_t)(c->cells.at[0][n] - from) * (size_t)width] += c->w[e] * s->q[c->h[e]];
}

static void drag_solid(const sem3d_drag *d, const float *v, float *f) {
    const float *b = d->b, *t = d->s;
    const float x = f[0] - (b[0] * v[0] + b[3] * v[1] + b[4] * v[2]),
                y = f[1] - (b[3] * v[0] + b[1] * v[1] + b[5] * v[2]),
                z = f[2] - (b[4] * v[0] + b[5] * v[1] + b[2] * v[2]);
    f[0] = t[0] * x + t[3] * y + t[4] * z;
    f[1] = t[3] * x + t[1] * y + t[5] * z;
    f[2] = t[4] * x + t[5] * y + t[2] * z;
}

/* The fluid presses on the solid with p = -d2chi/dt2. */
static void pull_solid(const step_of *s, int from, int to, float *f) {
    const sem3d_sides *sides = &s->fd->sides;
    for (int n = sem3d_seek(sides->solid_at, sides->contacts, from); n < sides->contacts && sides->solid_at[n] < to;
         n++) {
        const int k = sides->of_solid[n];
        for (int c = 0; c < 3; c++)
            f[4 * (sides->solid_at[n] - from) + c] -= sides->area[3 * k + c] * s->o->press[k];
    }
    for (int c = 0; c < 3; c++)
        add_sources(s, SEM3D_VX + c, from, to, f + c, 4);
    for (int n = sem3d_seek(sides->drag_at, sides->drags, from); n < sides->drags && sides->drag_at[n] < to; n++)
        drag_solid(&sides->drag[n], s->o->v + 3 * (size_t)sides->drag_at[n], f + 4 * (sides->drag_at[n] - from));
}

/* The solid's normal displacement drives the fluid. */
static void pull_fluid(const step_of *s, int from, int to, float *f) {
    const sem3d *fd = s->fd;
    const sem3d_sides *sides = &fd->sides;
    const int first = sem3d_seek(sides->fluid, sides->contacts, from);
    for (int k = first; k < sides->contacts && sides->fluid[k] < to; k++) {
        const float *u = s->o->u + 3 * (size_t)sides->solid[k], *a = sides->area + 3 * k;
        f[sides->fluid[k] - from] += a[0] * u[0] + a[1] * u[1] + a[2] * u[2];
    }
    add_sources(s, SEM3D_CHI_T, from, to, f, 1);
    for (int n = sem3d_seek(sides->drag_at, sides->drags, from); n < sides->drags && sides->drag_at[n] < to; n++) {
        const sem3d_drag *d = &sides->drag[n];
        float *at = f + (sides->drag_at[n] - from);
        *at = d->s[0] * (*at - d->b[0] * s->o->chi_t[sides->drag_at[n] - fd->cfg.solid_points]);
    }
    for (int k = first; k < sides->contacts && sides->fluid[k] < to; k++)
        s->o->press[k] = fd->gain[sides->fluid[k]] / fd->cfg.dt * f[sides->fluid[k] - from];
}

/* Forces f(4 or 1, n) of elements are known at points `from` and on: they take their step. */
static void move(const step_of *s, int fluid, int from, int n, float *f) {
    const size_t at = (size_t)(fluid ? from - s->fd->cfg.solid_points : 3L * from);
    (fluid ? pull_fluid : pull_solid)(s, from, from + n, f);
    s->kernels->update[fluid](n, s->fd->cfg.dt, s->fd->gain + from, f, (fluid ? s->o->chi_t : s->o->v) + at,
                              (fluid ? s->o->chi : s->o->u) + at);
}

/* --- bricks --------------------------------------------------------------------------------------------------------
 */

/* Displacements of all its points, 4 numbers each of which the last is of no use, or potentials. */
static void fetch(const step_of *s, const sem3d_brick *b, int fluid, float *u) {
    const int *outer = s->fd->order.outer + b->outer, solid = s->fd->cfg.solid_points;
    if (fluid) {
        memcpy(u, s->o->chi + (b->inner - solid), (size_t)b->inners * sizeof(float));
        for (int n = 0; n < b->outers; n++)
            u[b->inners + n] = s->o->chi[outer[n] - solid];
        return;
    }
    const float *from = s->o->u + 3 * (size_t)b->inner;
    for (int n = 0; n < b->inners; n++)
        memcpy(u + 4 * n, from + 3 * (size_t)n, 4 * sizeof(float));
    for (int n = 0; n < b->outers; n++)
        memcpy(u + 4 * (b->inners + n), s->o->u + 3 * (size_t)outer[n], 4 * sizeof(float));
}

static void do_brick(const step_of *s, int number, cpus_work *w) {
    const sem3d_order *order = &s->fd->order;
    const sem3d_brick *b = &order->brick[number];
    const int fluid = number >= order->solid_bricks;
    const size_t width = fluid ? 1 : 4, points = (size_t)(b->inners + b->outers);
    fetch(s, b, fluid, w->u);
    memset(w->f, 0, width * points * sizeof(float));
    for (int n = s->o->groups[number]; n < s->o->groups[number + 1]; n++) {
        const cpus_group *g = &s->o->group[n];
        const cpus_relaxation x = sem3d_cpu_relaxation(s->fd, n);
        s->kernels->group[fluid](g, s->o->numbers + g->at, s->o->lanes + g->lanes, x.z == NULL ? NULL : &x, w);
    }
    move(s, fluid, b->inner, b->inners, w->f);
    for (size_t n = 0; n < (size_t)b->outers; n++)
        memcpy(s->o->slot + 4 * ((size_t)b->outer + n), w->f + width * ((size_t)b->inners + n), width * sizeof(float));
}

/* --- points that bricks share ----------------------------------------------------------------------------------------
 */

/* Sums of what bricks have of shared points, in the order of bricks. */
static void add_slots(const step_of *s, int fluid, int from, int n, float *f) {
    const sem3d_order *o = &s->fd->order;
    const int number = fluid ? s->fd->cfg.solid_points - o->shared[0] + from - o->shared[1] : from - o->shared[0];
    for (int p = 0; p < n; p++) {
        float sum[4] = {0, 0, 0, 0};
        for (int m = o->slots[number + p]; m < o->slots[number + p + 1]; m++) {
            const float *slot = s->o->slot + 4 * (size_t)o->slot[m];
            for (int c = 0; c < (fluid ? 1 : 4); c++)
                sum[c] += slot[c];
        }
        memcpy(f + (fluid ? 1 : 4) * p, sum, (fluid ? 1 : 4) * sizeof(float));
    }
}

/* --- steps ---------------------------------------------------------------------------------------------------------
 */

/* By all threads: n bricks, those of a list or from the first one on. */
static void do_bricks(const step_of *s, const int *list, int first, int n, cpus_work *w) {
    int (*const between)(void) = s->fd->pieces.between;
#pragma omp for schedule(dynamic)
    for (int m = 0; m < n; m++) {
        do_brick(s, list == NULL ? first + m : list[m], w);
        if (between != NULL && omp_get_thread_num() == 0)
            between();
    }
}

/* By all threads: the points of a phase that bricks share. */
static void do_shared(const step_of *s, int fluid) {
    const sem3d_order *o = &s->fd->order;
    const int low = o->shared[fluid], high = fluid ? s->fd->cfg.points : s->fd->cfg.solid_points;
#pragma omp for schedule(dynamic)
    for (int from = low; from < high; from += CHUNK) {
        float f[4 * CHUNK];
        const int n = high - from < CHUNK ? high - from : CHUNK;
        add_slots(s, fluid, from, n, f);
        move(s, fluid, from, n, f);
    }
}

/* By all threads: one phase, of which all bricks read displacements before points that they share take their step. */
static void do_phase(const step_of *s, int fluid, cpus_work *w) {
    const int solid = s->fd->order.solid_bricks;
    do_bricks(s, NULL, fluid ? solid : 0, fluid ? s->fd->cfg.bricks - solid : solid, w);
    do_shared(s, fluid);
}

static void sample(const sem3d *fd, float *value, float *trace) {
    const receiver_cells *r = &fd->h.receivers;
    int n = 0;
    for (int f = 0; f < SEM3D_FIELDS; f++)
        for (int c = 0; c < r->sampled[f].n; c++)
            value[n++] = sem3d_cpu_value(&fd->h, f, r->sampled[f].at[0][c]);
    cpu_sum_receivers(r, value, trace);
}

/* The largest velocity at the points of the map. */
static void keep_largest(const sem3d *fd, float *peaks) {
    const sem3d_map_points *m = &fd->map;
    const size_t n = (size_t)m->n;
#pragma omp for schedule(static)
    for (size_t p = 0; p < n; p++) {
        float v[3];
        for (size_t c = 0; c < 3; c++) {
            receiver_sum sum = {0, 0};
            for (int e = m->start[3 * p + c]; e < m->start[3 * p + c + 1]; e++)
                receiver_add(&sum, (double)m->w[e] * (double)sem3d_cpu_value(&fd->h, m->field[e], m->at[e]));
            v[c] = receiver_part(sum, 0);
        }
        const float level = v[0] * v[0] + v[1] * v[1], up = fabsf(v[2]);
        const float now[3] = {sqrtf(level), up, sqrtf(level + v[2] * v[2])};
        for (size_t c = 0; c < 3; c++)
            peaks[c * n + p] = now[c] > peaks[c * n + p] ? now[c] : peaks[c * n + p];
    }
}

/* By all threads, when all points have taken their step. */
static void look(const step_of *s, int it, float *trace, float *value) {
    const sem3d *fd = s->fd;
    if (fd->map.n > 0 && it <= fd->map.last)
        keep_largest(fd, s->o->peaks);
    if (fd->h.receivers.n == 0)
        return;
#pragma omp single
    sample(fd, value, trace);
}

static void do_step(step_of *s, int it, float *trace, float *value) {
    step_of mine = *s;
    cpus_work *w = &s->o->work[omp_get_thread_num()];
    mine.q = history_row(&s->fd->h.histories, it);
    do_phase(&mine, 1, w);
    do_phase(&mine, 0, w);
    look(&mine, it, trace, value);
}

/* Room for what receivers sample. */
static int take_room(sem3d *fd, float **value) {
    size_t cells = 0;
    for (int f = 0; f < SEM3D_FIELDS; f++)
        cells += (size_t)fd->h.receivers.sampled[f].n;
    TRY(sem3d_cpu_room(fd));
    return host_alloc(&fd->h.memory, value, cells, sizeof **value, "samples");
}

int sem3d_cpu_timestep(handle *h, int it, int n, float *trace) {
    sem3d *fd = (sem3d *)h;
    cpus_own *o = h->own;
    const receiver_cells *r = &h->receivers;
    float *value = NULL;
    TRY(take_room(fd, &value));
    step_of s = {fd, o, o->frame.isa->kernels, NULL};
#pragma omp parallel num_threads(o->frame.threads)
    {
        const unsigned long old = flush_denormals();
        for (int m = 0; m < n; m++)
            do_step(&s, it + m, trace == NULL ? NULL : trace + (size_t)m * (size_t)r->n, value);
        restore_denormals(old);
    }
    host_release(&h->memory, &value);
    return 0;
}

int sem3d_cpu_part(sem3d *fd, int it, int fluid, int part, float *trace) {
    cpus_own *o = fd->h.own;
    const sem3d_pieces *p = &fd->pieces;
    const int first = part == SEM3D_RIM ? p->rim[fluid][0] : p->rim[fluid][1],
              last = part == SEM3D_RIM ? p->rim[fluid][1] : p->inner[fluid];
    float *value = NULL;
    TRY(take_room(fd, &value));
    const step_of s = {fd, o, o->frame.isa->kernels, history_row(&fd->h.histories, it)};
#pragma omp parallel num_threads(o->frame.threads)
    {
        const unsigned long old = flush_denormals();
        if (part != SEM3D_SHARED)
            do_bricks(&s, p->turn + first, 0, last - first, &o->work[omp_get_thread_num()]);
        else
            do_shared(&s, fluid);
        if (part == SEM3D_SHARED && !fluid)
            look(&s, it, trace, value);
        restore_denormals(old);
    }
    host_release(&fd->h.memory, &value);
    return 0;
}
