/* Masses of points, absorbing sides and contacts: sums over elements in double, in their order. */
#include <math.h>
#include <string.h>

#include "err.h"
#include "sem3d_tensor.h"

enum { CHUNK = 1024 }; /* elements whose masses are made side by side */

static int is_solid(const sem3d *fd, size_t element) { return element < (size_t)fd->cfg.solid; }

/* Speeds [m/s] of P and S waves at a point. */
static void speeds(const sem3d *fd, const sem3d_given *g, size_t element, int p, double *vp, double *vs) {
    const sem3d_cfg *c = &fd->cfg;
    const double rho = sem3d_medium(c, g->rho, element, p), mu = sem3d_medium(c, g->mu, element, p);
    *vp = sqrt((sem3d_medium(c, g->lambda, element, p) + 2 * mu) / rho);
    *vs = sqrt(mu / rho);
}

/* Of a point of an element. */
static int place_of(const sem3d *fd, const sem3d_given *g, size_t element, int p) {
    const int at = g->at[element * SEM_POINTS + (size_t)p];
    return at == SEM3D_ELSEWHERE ? at : fd->order.place[at];
}

/* --- mass ---------------------------------------------------------------------------------------------------- */

/* Masses of an element's points: of rho, in the fluid of 1/K; and 1 / (rho c L) of the fluid's. A point where the
 * element is inside out, or -1. */
static int element_mass(const sem3d *fd, const sem3d_given *g, size_t e, double mass[SEM_POINTS], double *loudness) {
    const sem3d_cfg *c = &fd->cfg;
    double det[SEM_POINTS], volume = 0, loudest = 0;
    int wrong = -1;
    sem_determinants(fd->shapes, sem3d_corner(fd, g, e), det);
    for (int p = 0; p < SEM_POINTS; p++) {
        const double v = fd->shapes->weight[p] * det[p], rho = sem3d_medium(c, g->rho, e, p),
                     k = sem3d_medium(c, g->lambda, e, p);
        if (!(det[p] > 0) || !isfinite(det[p]))
            wrong = p;
        mass[p] = is_solid(fd, e) ? v * rho : v / k;
        volume += v;
        if (!is_solid(fd, e))
            loudest = fmax(loudest, 1 / sqrt(rho * k));
    }
    *loudness = wrong < 0 ? loudest / cbrt(volume) : 0;
    return wrong;
}

/* A point of an element, as a brick knows it: its place where the brick alone has it, else -1 less its place among
 * all outer points of bricks. */
static int known(const sem3d *fd, const sem3d_brick *k, size_t element, int p) {
    const int local = fd->order.local[element * SEM_POINTS + (size_t)p];
    return local < k->inners ? k->inner + local : -1 - (k->outer + local - k->inners);
}

typedef struct masses {
    double *sum;  /* (points) */
    double *part; /* (125,CHUNK) of elements from `from` on */
    double loudness[CHUNK];
    int wrong[CHUNK];
    size_t from;
} masses;

/* Masses of a brick's elements, summed where no other brick has the point. */
static void brick_masses(const sem3d *fd, const sem3d_given *g, masses *m, const sem3d_brick *k) {
    for (size_t e = (size_t)k->first; e < (size_t)k->last; e++) {
        double *part = m->part + (e - m->from) * SEM_POINTS;
        m->wrong[e - m->from] = element_mass(fd, g, e, part, &m->loudness[e - m->from]);
        for (int p = 0; p < SEM_POINTS && k->inners > 0; p++) {
            const int at = known(fd, k, e, p);
            if (at >= 0)
                m->sum[at] += part[p];
        }
    }
}

/* The others, element after element. */
static int shared_masses(sem3d *fd, const sem3d_given *g, masses *m, const sem3d_brick *k) {
    for (size_t e = (size_t)k->first; e < (size_t)k->last; e++) {
        const double *part = m->part + (e - m->from) * SEM_POINTS;
        REQUIRE(m->wrong[e - m->from] < 0,
                "element %zu has no positive Jacobian at its point %d: it is inside out or degenerate", e + 1,
                m->wrong[e - m->from] + 1);
        fd->loudness = fmaxf(fd->loudness, (float)m->loudness[e - m->from]);
        for (int p = 0; p < SEM_POINTS; p++) {
            if (g->at[e * SEM_POINTS + (size_t)p] == SEM3D_ELSEWHERE)
                continue;
            const int at = known(fd, k, e, p);
            if (at < 0)
                m->sum[fd->order.outer[-1 - at]] += part[p];
        }
    }
    return 0;
}

/* Some bricks at a time, whose elements are made side by side. */
static int sum_masses(sem3d *fd, const sem3d_given *g, masses *m) {
    const sem3d_brick *brick = fd->order.brick;
    const int threads = sem3d_threads(fd);
    fd->loudness = 0;
    for (int from = 0, to; from < g->bricks; from = to) {
        m->from = (size_t)brick[from].first;
        for (to = from + 1; to < g->bricks && (size_t)brick[to].last - m->from <= CHUNK; to++)
            ;
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int b = from; b < to; b++)
            brick_masses(fd, g, m, &brick[b]);
        for (int b = from; b < to; b++)
            TRY(shared_masses(fd, g, m, &brick[b]));
    }
    return 0;
}

/* chi is 0 at free sides of the fluid: its points there never move. */
static void hold_free(sem3d *fd, const sem3d_given *g) {
    for (size_t e = (size_t)fd->cfg.solid; e < (size_t)fd->cfg.elements; e++)
        for (int side = 0; side < SEM_SIDES; side++)
            for (int n = 0; n < SEM_FACE && g->face[e * SEM_SIDES + (size_t)side] == SEM3D_FREE; n++) {
                const int at = place_of(fd, g, e, sem_side_point(side, n));
                if (at != SEM3D_ELSEWHERE)
                    fd->gain[at] = 0;
            }
}

static int make_gain(sem3d *fd, const sem3d_given *g, masses *m) {
    const size_t points = (size_t)fd->cfg.points;
    TRY(host_alloc(&fd->h.memory, &fd->gain, points, sizeof(float), "masses"));
    TRY(host_alloc(&fd->h.memory, &m->sum, points, sizeof *m->sum, "masses"));
    TRY(host_alloc(&fd->h.memory, &m->part, (size_t)CHUNK * SEM_POINTS, sizeof *m->part, "masses"));
    TRY(sum_masses(fd, g, m));
    for (size_t p = 0; p < points; p++)
        fd->gain[p] = (float)(fd->cfg.dt / m->sum[p]);
    hold_free(fd, g);
    return 0;
}

int sem3d_make_mass(sem3d *fd, const sem3d_given *given) {
    masses m = {.sum = NULL, .part = NULL};
    const int rc = make_gain(fd, given, &m);
    host_release(&fd->h.memory, &m.sum);
    host_release(&fd->h.memory, &m.part);
    return rc;
}

/* --- absorbing sides ------------------------------------------------------------------------------------------- */

/* The inverse of 1 + t, t symmetric: xx yy zz xy xz yz. */
static void invert(const double t[6], float s[6]) {
    const double a = 1 + t[0], b = 1 + t[1], c = 1 + t[2], d = t[3], e = t[4], f = t[5];
    const double m[6] = {b * c - f * f, a * c - e * e, a * b - d * d, e * f - c * d, d * f - b * e, d * e - a * f};
    const double det = a * m[0] + d * m[3] + e * m[4];
    for (int n = 0; n < 6; n++)
        s[n] = (float)(m[n] / det);
}

/* The part of a point of a side in B. */
static void add_drag(const sem3d *fd, const sem3d_given *g, const sem_place *place, size_t e, int side, int n,
                     double b[6]) {
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const int p = sem_side_point(side, n);
    double area[3], vp, vs;
    sem_side_area(place, side, n, area);
    speeds(fd, g, e, p, &vp, &vs);
    const double size = sqrt(area[0] * area[0] + area[1] * area[1] + area[2] * area[2]),
                 rho = sem3d_medium(&fd->cfg, g->rho, e, p);
    if (!is_solid(fd, e)) {
        b[0] += size / (rho * vp);
        return;
    }
    if (sem3d_relative(g, e) != NULL) {
        double z[6];
        sem3d_impedance(fd, g, e, p, (const double[3]){area[0] / size, area[1] / size, area[2] / size}, z);
        for (int m = 0; m < 6; m++)
            b[m] += size * z[m];
        return;
    }
    for (int m = 0; m < 6; m++)
        b[m] += rho * ((vp - vs) * area[row[m]] * area[column[m]] / size + (m < 3 ? vs * size : 0));
}

static int has_side(const sem3d_given *g, size_t e, int kind) {
    for (int side = 0; side < SEM_SIDES; side++)
        if (g->face[e * SEM_SIDES + (size_t)side] == kind)
            return 1;
    return 0;
}

/* Numbers of absorbing points, rising, from 1; 0 elsewhere. */
static int number_drags(const sem3d *fd, const sem3d_given *g, int *number) {
    int drags = 0;
    for (size_t e = 0; e < (size_t)fd->cfg.elements; e++)
        for (int side = 0; side < SEM_SIDES; side++)
            for (int n = 0; n < SEM_FACE && g->face[e * SEM_SIDES + (size_t)side] == SEM3D_ABSORBS; n++) {
                const int at = place_of(fd, g, e, sem_side_point(side, n));
                if (at != SEM3D_ELSEWHERE)
                    number[at] = 1;
            }
    for (int p = 0; p < fd->cfg.points; p++)
        if (number[p])
            number[p] = ++drags;
    return drags;
}

static void sum_drags(const sem3d *fd, const sem3d_given *g, const int *number, double *b) {
    sem_place place[SEM_POINTS];
    for (size_t e = 0; e < (size_t)fd->cfg.elements; e++) {
        if (!has_side(g, e, SEM3D_ABSORBS))
            continue;
        sem_places(fd->shapes, sem3d_corner(fd, g, e), place);
        for (int side = 0; side < SEM_SIDES; side++)
            for (int n = 0; n < SEM_FACE && g->face[e * SEM_SIDES + (size_t)side] == SEM3D_ABSORBS; n++) {
                const int at = place_of(fd, g, e, sem_side_point(side, n));
                if (at != SEM3D_ELSEWHERE)
                    add_drag(fd, g, place, e, side, n, b + 6 * (size_t)(number[at] - 1));
            }
    }
}

static int make_drags(sem3d *fd, const sem3d_given *g, int *number) {
    sem3d_sides *s = &fd->sides;
    double *b = NULL;
    s->drags = 0;
    const int drags = number_drags(fd, g, number);
    TRY(host_alloc(&fd->h.memory, &s->drag_at, (size_t)drags, sizeof(int), "absorbing sides"));
    TRY(host_alloc(&fd->h.memory, &s->drag, (size_t)drags, sizeof(sem3d_drag), "absorbing sides"));
    TRY(host_alloc(&fd->h.memory, &b, 6 * (size_t)drags, sizeof *b, "absorbing sides"));
    sum_drags(fd, g, number, b);
    for (int p = 0; p < fd->cfg.points; p++) {
        if (number[p] == 0)
            continue;
        const int d = number[p] - 1;
        double t[6];
        for (int m = 0; m < 6; m++) {
            s->drag[d].b[m] = (float)b[6 * d + m];
            t[m] = 0.5 * (double)fd->gain[p] * b[6 * d + m];
        }
        invert(t, s->drag[d].s);
        s->drag_at[d] = p;
    }
    host_release(&fd->h.memory, &b);
    s->drags = drags;
    return 0;
}

/* The drag of point p with what is known of it so far (or null) and its damping. */
static sem3d_drag damped(const sem3d *fd, int p, const sem3d_drag *side, double rate) {
    const double gain = (double)fd->gain[p];
    sem3d_drag d;
    double t[6];
    for (int m = 0; m < 6; m++) {
        const double own = side == NULL ? 0 : (double)side->b[m], of_mass = m < 3 ? rate * fd->cfg.dt / gain : 0;
        d.b[m] = (float)(own + of_mass);
        t[m] = 0.5 * (gain * own + (m < 3 ? rate * fd->cfg.dt : 0));
    }
    if (p >= fd->cfg.solid_points)
        t[1] = t[2] = t[3] = t[4] = t[5] = 0;
    invert(t, d.s);
    return d;
}

int sem3d_add_damping(sem3d *fd, const float *rate) {
    sem3d_sides *s = &fd->sides;
    int drags = 0, *at = NULL;
    sem3d_drag *drag = NULL;
    TRY(host_alloc(&fd->h.memory, &at, (size_t)fd->cfg.points, sizeof *at, "damping"));
    TRY(host_alloc(&fd->h.memory, &drag, (size_t)fd->cfg.points, sizeof *drag, "damping"));
    for (int p = 0, n = 0; p < fd->cfg.points; p++) {
        const double here = (double)rate[fd->order.point[p]];
        const sem3d_drag *side = n < s->drags && s->drag_at[n] == p ? &s->drag[n++] : NULL;
        if (side == NULL && (!(here > 0) || !(fd->gain[p] > 0)))
            continue;
        at[drags] = p;
        drag[drags++] = here > 0 && fd->gain[p] > 0 ? damped(fd, p, side, here) : *side;
    }
    s->drags = 0;
    TRY(host_copy(&fd->h.memory, &s->drag_at, at, (size_t)drags, sizeof(int), "damping"));
    TRY(host_copy(&fd->h.memory, &s->drag, drag, (size_t)drags, sizeof(sem3d_drag), "damping"));
    host_release(&fd->h.memory, &at);
    host_release(&fd->h.memory, &drag);
    s->drags = drags;
    return 0;
}

/* Masses of points in the order of a step, from 1 on; `number` is 0 where there is none. */
static int add_mass(sem3d *fd, const int *number, const float *mass, int *at, sem3d_drag *drag) {
    const sem3d_sides *s = &fd->sides;
    int drags = 0;
    for (int p = 0, n = 0; p < fd->cfg.points; p++) {
        const sem3d_drag *side = n < s->drags && s->drag_at[n] == p ? &s->drag[n++] : NULL;
        if (side == NULL && number[p] == 0)
            continue;
        at[drags] = p;
        drag[drags] = side == NULL ? (sem3d_drag){{0}, {0}} : *side;
        if (number[p] > 0) {
            const float *more = mass + 6 * (size_t)(number[p] - 1);
            const double gain = (double)fd->gain[p];
            double t[6];
            for (int m = 0; m < 6; m++)
                t[m] = gain * (0.5 * (double)drag[drags].b[m] + (double)more[m] / fd->cfg.dt);
            invert(t, drag[drags].s);
        }
        drags++;
    }
    return drags;
}

int sem3d_add_mass(sem3d *fd, int n, const int *point, const float *mass) {
    sem3d_sides *s = &fd->sides;
    host_pool *pool = &fd->h.memory;
    int *at = NULL, *number = NULL;
    sem3d_drag *drag = NULL;
    TRY(host_alloc(pool, &at, (size_t)fd->cfg.points, sizeof *at, "added mass"));
    TRY(host_alloc(pool, &number, (size_t)fd->cfg.points, sizeof *number, "added mass"));
    TRY(host_alloc(pool, &drag, (size_t)(s->drags + n), sizeof *drag, "added mass"));
    for (int m = 0; m < n; m++)
        number[fd->order.place[point[m]]] = m + 1;
    const int drags = add_mass(fd, number, mass, at, drag);
    s->drags = 0;
    TRY(host_copy(pool, &s->drag_at, at, (size_t)drags, sizeof(int), "added mass"));
    TRY(host_copy(pool, &s->drag, drag, (size_t)drags, sizeof(sem3d_drag), "added mass"));
    host_release(pool, &at);
    host_release(pool, &number);
    host_release(pool, &drag);
    s->drags = drags;
    return 0;
}

/* --- contacts of fluid and solid -------------------------------------------------------------------------------- */

/* The partner of each point of the fluid, from 1, and the area out of the fluid there. */
static int sum_contacts(const sem3d *fd, const sem3d_given *g, int *partner, double *area) {
    sem_place place[SEM_POINTS];
    for (int k = 0; k < fd->cfg.contacts; k++) {
        const int e = g->contact[2 * k], side = g->contact[2 * k + 1];
        sem_places(fd->shapes, sem3d_corner(fd, g, (size_t)e), place);
        for (int n = 0; n < SEM_FACE; n++) {
            const int at = place_of(fd, g, (size_t)e, sem_side_point(side, n)), solid = g->partner[k * SEM_FACE + n];
            REQUIRE((at == SEM3D_ELSEWHERE) == (solid == SEM3D_ELSEWHERE),
                    "point %d of contact %d is in this piece of the mesh on one side alone", n + 1, k + 1);
            if (at == SEM3D_ELSEWHERE)
                continue;
            const int p = at - fd->cfg.solid_points, other = fd->order.place[solid] + 1;
            double a[3];
            REQUIRE(partner[p] == 0 || partner[p] == other, "point %d of contact %d is another in another contact",
                    n + 1, k + 1);
            partner[p] = other;
            sem_side_area(place, side, n, a);
            for (int c = 0; c < 3; c++)
                area[3 * p + c] += a[c];
        }
    }
    return 0;
}

/* The same contacts in the order of the solid's points. */
static void sort_solid(const sem3d *fd, int *first) {
    const sem3d_sides *s = &fd->sides;
    for (int k = s->contacts - 1; k >= 0; k--)
        first[s->solid[k]] = k + 1;
    for (int p = 0, n = 0; n < s->contacts; p++)
        if (first[p]) {
            s->solid_at[n] = p;
            s->of_solid[n++] = first[p] - 1;
        }
}

static int list_contacts(sem3d *fd, const int *partner, const double *area, int contacts, int *first) {
    sem3d_sides *s = &fd->sides;
    host_pool *m = &fd->h.memory;
    int **list[4] = {&s->fluid, &s->solid, &s->solid_at, &s->of_solid};
    for (int l = 0; l < 4; l++)
        TRY(host_alloc(m, list[l], (size_t)contacts, sizeof(int), "contacts"));
    TRY(host_alloc(m, &s->area, 3 * (size_t)contacts, sizeof(float), "contacts"));
    for (int p = 0, n = 0; p < fd->cfg.points - fd->cfg.solid_points; p++) {
        if (partner[p] == 0)
            continue;
        s->fluid[n] = p + fd->cfg.solid_points;
        s->solid[n] = partner[p] - 1;
        REQUIRE(first[s->solid[n]] == 0, "point %d of the solid meets two points of the fluid", s->solid[n] + 1);
        first[s->solid[n]] = 1;
        for (int c = 0; c < 3; c++)
            s->area[3 * n + c] = (float)area[3 * p + c];
        n++;
    }
    s->contacts = contacts;
    sort_solid(fd, first);
    return 0;
}

static int make_contacts(sem3d *fd, const sem3d_given *g, int *partner, double *area, int *first) {
    fd->sides.contacts = 0;
    TRY(sum_contacts(fd, g, partner, area));
    int contacts = 0;
    for (int p = 0; p < fd->cfg.points - fd->cfg.solid_points; p++)
        contacts += partner[p] > 0;
    return list_contacts(fd, partner, area, contacts, first);
}

int sem3d_make_sides(sem3d *fd, const sem3d_given *given) {
    host_pool *m = &fd->h.memory;
    const size_t points = (size_t)fd->cfg.points, fluid = points - (size_t)fd->cfg.solid_points,
                 solid = fd->cfg.contacts > 0 ? points - fluid : 0;
    int *number = NULL, *partner = NULL, *first = NULL;
    double *area = NULL;
    int rc = host_alloc(m, &number, points, sizeof *number, "absorbing sides") || make_drags(fd, given, number);
    host_release(m, &number);
    rc = rc || host_alloc(m, &partner, fluid, sizeof *partner, "contacts") ||
         host_alloc(m, &area, 3 * fluid, sizeof *area, "contacts") ||
         host_alloc(m, &first, solid, sizeof *first, "contacts") || make_contacts(fd, given, partner, area, first);
    host_release(m, &partner);
    host_release(m, &area);
    host_release(m, &first);
    return rc;
}
