/* The order of points: of the solid those inside bricks, then those that bricks share, then of the fluid likewise. */
#include <omp.h>
#include <string.h>

#include "err.h"
#include "sem3d.h"

enum { NOWHERE = -1, SHARED = -2, FIRST = -2 };

/* Points and bricks, as far as they are known. Before it has its place a point has FIRST less the first brick that has
 * it. */
typedef struct found {
    int *owner; /* (points) the brick that alone has a point; of one that several have, or that another piece has too,
                   SHARED less the last of these */
    int *met;   /* (bricks) points of each */
    int *next;  /* (bricks) place of the next shared point of which each is the first brick */
} found;

static void find_owners(sem3d *fd, const sem3d_given *g, found *f) {
    const sem3d_pieces *pieces = &fd->pieces;
    sem3d_order *o = &fd->order;
    for (int p = 0; p < fd->cfg.points; p++)
        f->owner[p] = o->place[p] = NOWHERE;
    for (int b = 0; b < g->bricks; b++)
        for (size_t m = (size_t)g->brick[b] * SEM_POINTS; m < (size_t)g->brick[b + 1] * SEM_POINTS; m++) {
            if (g->at[m] == SEM3D_ELSEWHERE)
                continue;
            int *of = &f->owner[g->at[m]];
            if (*of == b || *of == SHARED - b)
                continue;
            f->met[b]++;
            if (*of == NOWHERE)
                o->place[g->at[m]] = FIRST - b;
            *of = *of == NOWHERE && !sem3d_elsewhere(fd, b) ? b : SHARED - b;
        }
    for (int m = 0; pieces->ways > 0 && m < pieces->start[pieces->ways]; m++) {
        int *of = &f->owner[pieces->point[m]];
        *of = *of >= 0 ? SHARED - *of : *of;
    }
    for (int p = 0; p < fd->cfg.points; p++)
        if (f->owner[p] >= 0)
            o->brick[f->owner[p]].inners++;
        else if (f->owner[p] != NOWHERE)
            f->next[FIRST - o->place[p]]++;
}

/* Gives the bricks from .. to-1, those of a phase, the first of their points. */
static void part_phase(sem3d_order *o, found *f, int from, int to, int *next, int *shared) {
    for (int b = from; b < to; b++) {
        o->brick[b].inner = *next;
        *next += o->brick[b].inners;
    }
    *shared = *next;
    for (int b = from; b < to; b++) {
        const int firsts = f->next[b];
        f->next[b] = *next;
        *next += firsts;
    }
}

/* Gives all bricks the first of their points, and of their outer ones among all. */
static int part_bricks(sem3d *fd, const sem3d_given *g, found *f) {
    sem3d_order *o = &fd->order;
    const sem3d_cfg *c = &fd->cfg;
    int next = 0;
    o->solid_bricks = 0;
    while (o->solid_bricks < g->bricks && g->brick[o->solid_bricks] < c->solid)
        o->solid_bricks++;
    part_phase(o, f, 0, o->solid_bricks, &next, &o->shared[0]);
    const int solid = next;
    part_phase(o, f, o->solid_bricks, g->bricks, &next, &o->shared[1]);
    REQUIRE(solid == c->solid_points && next == c->points,
            "elements have %d points of solid and %d of fluid, of %d and %d: all must belong to an element", solid,
            next - solid, c->solid_points, c->points - c->solid_points);
    o->outers = 0;
    for (int b = 0; b < g->bricks; b++) {
        sem3d_brick *k = &o->brick[b];
        k->elsewhere = sem3d_elsewhere(fd, b);
        k->first = g->brick[b];
        k->last = g->brick[b + 1];
        k->outers = f->met[b] - k->inners;
        k->outer = o->outers;
        o->outers += k->outers;
    }
    return host_alloc(&fd->h.memory, &o->outer, (size_t)o->outers, sizeof(int), "order of points");
}

/* --- bricks, side by side ---------------------------------------------------------------------------------------- */

/* Numbers that are put in order by `key`. */
typedef struct keyed {
    unsigned key;
    int number;
} keyed;

/* Room of a thread for the points of a brick. */
typedef struct desk {
    keyed *met, *spare;
    int *rank, *seat; /* seat: a table of points by their places, which of `met` sits there, from 1 */
} desk;

enum { DIGIT = 8, DIGITS = 1 << DIGIT };

/* By the lowest digit, then the next ...; what has the same key stays as it came. */
static void sort_keys(keyed *x, keyed *spare, int n) {
    unsigned differ = 0;
    for (int m = 1; m < n; m++)
        differ |= x[m].key ^ x[0].key;
    for (int shift = 0; shift < 32; shift += DIGIT) {
        int place[DIGITS] = {0}, next = 0;
        if ((differ >> shift & (DIGITS - 1)) == 0)
            continue;
        for (int m = 0; m < n; m++)
            place[x[m].key >> shift & (DIGITS - 1)]++;
        for (int d = 0; d < DIGITS; d++) {
            const int count = place[d];
            place[d] = next;
            next += count;
        }
        for (int m = 0; m < n; m++)
            spare[place[x[m].key >> shift & (DIGITS - 1)]++] = x[m];
        memcpy(x, spare, (size_t)n * sizeof *x);
    }
}

static void place_inner(sem3d_order *o, const sem3d_given *g, const found *f, int b) {
    int next = o->brick[b].inner;
    for (size_t m = (size_t)g->brick[b] * SEM_POINTS; m < (size_t)g->brick[b + 1] * SEM_POINTS; m++) {
        const int point = g->at[m];
        if (point == SEM3D_ELSEWHERE || f->owner[point] != b || o->place[point] >= 0)
            continue;
        o->place[point] = next;
        o->point[next++] = point;
    }
}

/* A shared point's place is written by the thread of its first brick alone, and looked at by others. */
static int peek(const int *at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }

static void poke(int *at, int value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }

/* Shared points that brick b is the first to have, by the last brick that has each, then as they come: those of a face
 * follow each other, so that both bricks find them so. */
static void place_shared(sem3d_order *o, const sem3d_given *g, const found *f, int b, desk *d) {
    int n = 0;
    for (size_t m = (size_t)g->brick[b] * SEM_POINTS; m < (size_t)g->brick[b + 1] * SEM_POINTS; m++) {
        const int point = g->at[m];
        if (point == SEM3D_ELSEWHERE || f->owner[point] >= 0 || peek(&o->place[point]) != FIRST - b)
            continue;
        poke(&o->place[point], NOWHERE); /* met once */
        d->met[n++] = (keyed){(unsigned)(SHARED - f->owner[point]), point};
    }
    sort_keys(d->met, d->spare, n);
    for (int k = 0; k < n; k++) {
        poke(&o->place[d->met[k].number], f->next[b] + k);
        o->point[f->next[b] + k] = d->met[k].number;
    }
}

/* The seat of a place in a table of 2**bits, or a free one where it is to sit. */
static int *seat_of(const desk *d, int place, int bits) {
    const unsigned mask = (1u << bits) - 1;
    unsigned s = (unsigned)place * 2654435769u >> (32 - bits);
    while (d->seat[s] > 0 && d->met[d->seat[s] - 1].key != (unsigned)place)
        s = (s + 1) & mask;
    return &d->seat[s];
}

static int bits_for(int points) { return 33 - __builtin_clz((unsigned)points); }

/* Outer points of a brick, rising, and the numbers of all in it. */
static void number_brick(sem3d_order *o, const sem3d_given *g, int b, desk *d) {
    const sem3d_brick *k = &o->brick[b];
    const size_t from = (size_t)k->first * SEM_POINTS, to = (size_t)k->last * SEM_POINTS;
    const int bits = bits_for(k->outers + 1);
    int n = 0;
    memset(d->seat, 0, sizeof(int) << bits);
    for (size_t m = from; m < to; m++) {
        if (g->at[m] == SEM3D_ELSEWHERE)
            continue;
        const int p = o->place[g->at[m]], inner = p >= k->inner && p < k->inner + k->inners;
        int *seat = inner ? NULL : seat_of(d, p, bits);
        if (!inner && *seat == 0) {
            d->met[n] = (keyed){(unsigned)p, n};
            *seat = ++n;
        }
        o->local[m] = (uint16_t)(inner ? p - k->inner : k->inners + *seat - 1);
    }
    sort_keys(d->met, d->spare, n);
    for (int m = 0; m < n; m++) {
        o->outer[k->outer + m] = (int)d->met[m].key;
        d->rank[d->met[m].number] = m;
    }
    for (size_t m = from; m < to; m++)
        if (g->at[m] != SEM3D_ELSEWHERE && o->local[m] >= k->inners)
            o->local[m] = (uint16_t)(k->inners + d->rank[o->local[m] - k->inners]);
}

/* Numbers of a thread's desk, for bricks of so many points that others have too. */
static size_t desk_size(int most) { return 5 * (size_t)most + (1ul << bits_for(most + 1)); }

static desk desk_at(int *numbers, int most) {
    keyed *met = (keyed *)(void *)numbers;
    return (desk){met, met + most, numbers + 4 * most, numbers + 5 * most};
}

static int place_points(sem3d *fd, const sem3d_given *g, const found *f) {
    sem3d_order *o = &fd->order;
    const int threads = sem3d_threads(fd);
    int most = 0, *numbers = NULL;
    for (int b = 0; b < g->bricks; b++)
        most = o->brick[b].outers > most ? o->brick[b].outers : most;
    const size_t size = (desk_size(most) + 15) / 16 * 16;
    TRY(host_alloc(&fd->h.memory, &numbers, (size_t)threads * size, sizeof(int), "order of points"));
#pragma omp parallel num_threads(threads)
    {
        desk d = desk_at(numbers + (size_t)omp_get_thread_num() * size, most);
#pragma omp for schedule(static)
        for (int b = 0; b < g->bricks; b++) {
            place_inner(o, g, f, b);
            place_shared(o, g, f, b, &d);
        }
#pragma omp for schedule(static)
        for (int b = 0; b < g->bricks; b++)
            number_brick(o, g, b, &d);
    }
    host_release(&fd->h.memory, &numbers);
    return 0;
}

/* --- all --------------------------------------------------------------------------------------------------------- */

/* The number of a shared point among all that are. */
static int shared_number(const sem3d *fd, int p) {
    const sem3d_order *o = &fd->order;
    return p < fd->cfg.solid_points ? p - o->shared[0] : fd->cfg.solid_points - o->shared[0] + p - o->shared[1];
}

/* Slots of the shared points, in the order of bricks. */
static int list_slots(sem3d *fd) {
    sem3d_order *o = &fd->order;
    const int shared = shared_number(fd, fd->cfg.points);
    TRY(host_alloc(&fd->h.memory, &o->slots, (size_t)shared + 2, sizeof(int), "order of points"));
    TRY(host_alloc(&fd->h.memory, &o->slot, (size_t)o->outers, sizeof(int), "order of points"));
    for (int m = 0; m < o->outers; m++)
        o->slots[shared_number(fd, o->outer[m]) + 2]++;
    for (int s = 0; s < shared; s++)
        o->slots[s + 2] += o->slots[s + 1];
    for (int m = 0; m < o->outers; m++)
        o->slot[o->slots[shared_number(fd, o->outer[m]) + 1]++] = m;
    return 0;
}

static int make_places(sem3d *fd, const sem3d_given *given, found *f) {
    host_pool *m = &fd->h.memory;
    TRY(host_alloc(m, &f->owner, (size_t)fd->cfg.points, sizeof(int), "order of points"));
    TRY(host_alloc(m, &f->met, (size_t)given->bricks, sizeof(int), "order of points"));
    TRY(host_alloc(m, &f->next, (size_t)given->bricks, sizeof(int), "order of points"));
    find_owners(fd, given, f);
    TRY(part_bricks(fd, given, f));
    return place_points(fd, given, f);
}

int sem3d_make_order(sem3d *fd, const sem3d_given *given) {
    sem3d_order *o = &fd->order;
    host_pool *m = &fd->h.memory;
    const size_t points = (size_t)fd->cfg.points;
    found f = {NULL, NULL, NULL};
    TRY(host_alloc(m, &o->place, points, sizeof(int), "order of points"));
    TRY(host_alloc(m, &o->point, points, sizeof(int), "order of points"));
    TRY(host_alloc(m, &o->brick, (size_t)given->bricks, sizeof(sem3d_brick), "bricks of elements"));
    TRY(host_alloc(m, &o->local, (size_t)fd->cfg.elements * SEM_POINTS, sizeof(uint16_t), "points of elements"));
    const int rc = make_places(fd, given, &f);
    host_release(m, &f.owner);
    host_release(m, &f.met);
    host_release(m, &f.next);
    return rc || list_slots(fd);
}

int sem3d_seek(const int *rising, int n, int least) {
    int low = 0, high = n;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (rising[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
