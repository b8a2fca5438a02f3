/* The order of points: of the solid those inside bricks, then those that bricks share, then of the fluid likewise. */
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "sem3d.h"

enum { NOWHERE = -1, SHARED = -2, MET = -2 };

/* The brick that alone has a point; of one that several have, or that another piece has too, SHARED less the last of
 * these. */
static void find_owners(const sem3d *fd, const sem3d_given *g, int *owner) {
    const sem3d_pieces *pieces = &fd->pieces;
    for (int p = 0; p < fd->cfg.points; p++)
        owner[p] = NOWHERE;
    for (int b = 0; b < g->bricks; b++)
        for (size_t m = (size_t)g->brick[b] * SEM_POINTS; m < (size_t)g->brick[b + 1] * SEM_POINTS; m++) {
            if (g->at[m] == SEM3D_ELSEWHERE)
                continue;
            int *of = &owner[g->at[m]];
            const int alone = (*of == NOWHERE || *of == b) && !sem3d_elsewhere(fd, b);
            *of = alone ? b : SHARED - b;
        }
    for (int m = 0; pieces->ways > 0 && m < pieces->start[pieces->ways]; m++) {
        int *of = &owner[pieces->point[m]];
        *of = *of >= 0 ? SHARED - *of : *of;
    }
}

static void put(sem3d_order *o, int point, int *next) {
    if (o->place[point] != NOWHERE)
        return;
    o->place[point] = *next;
    o->point[(*next)++] = point;
}

/* A shared point, and how it is sorted: by the last brick that has it, then as it comes. */
typedef struct seen {
    int last, turn, point;
} seen;

static int by_last(const void *a, const void *b) {
    const seen *x = a, *y = b;
    const int less = x->last != y->last ? x->last < y->last : x->turn < y->turn;
    return less ? -1 : 1;
}

/* Shared points that brick b is the first to have: those of a face follow each other, so that both bricks find them so.
 */
static void place_shared(sem3d_order *o, const sem3d_given *g, const int *owner, int b, seen *met, int *next) {
    int n = 0;
    for (size_t m = (size_t)g->brick[b] * SEM_POINTS; m < (size_t)g->brick[b + 1] * SEM_POINTS; m++) {
        const int point = g->at[m];
        if (point == SEM3D_ELSEWHERE || o->place[point] != NOWHERE)
            continue;
        o->place[point] = MET;
        met[n] = (seen){SHARED - owner[point], n, point};
        n++;
    }
    qsort(met, (size_t)n, sizeof *met, by_last);
    for (int k = 0; k < n; k++) {
        o->place[met[k].point] = NOWHERE;
        put(o, met[k].point, next);
    }
}

/* Places of one phase, whose bricks are from .. to-1; met: room for the points of a brick. */
static void place_phase(sem3d_order *o, const sem3d_given *g, const int *owner, int from, int to, seen *met, int *next,
                        int *shared) {
    for (int b = from; b < to; b++) {
        o->brick[b].inner = *next;
        for (size_t m = (size_t)g->brick[b] * SEM_POINTS; m < (size_t)g->brick[b + 1] * SEM_POINTS; m++)
            if (g->at[m] >= 0 && owner[g->at[m]] == b)
                put(o, g->at[m], next);
        o->brick[b].inners = *next - o->brick[b].inner;
    }
    *shared = *next;
    for (int b = from; b < to; b++)
        place_shared(o, g, owner, b, met, next);
}

static int place_points(sem3d *fd, const sem3d_given *g) {
    sem3d_order *o = &fd->order;
    const sem3d_cfg *c = &fd->cfg;
    int *owner = NULL, next = 0;
    seen *met = NULL;
    TRY(host_alloc(&fd->h.memory, &owner, (size_t)c->points, sizeof *owner, "order of points"));
    TRY(host_alloc(&fd->h.memory, &met, SEM3D_BRICK * SEM_POINTS, sizeof *met, "order of points"));
    find_owners(fd, g, owner);
    for (int p = 0; p < c->points; p++)
        o->place[p] = NOWHERE;
    for (int b = 0; b < g->bricks; b++)
        o->brick[b].elsewhere = sem3d_elsewhere(fd, b);
    o->solid_bricks = 0;
    while (o->solid_bricks < g->bricks && g->brick[o->solid_bricks] < c->solid)
        o->solid_bricks++;
    place_phase(o, g, owner, 0, o->solid_bricks, met, &next, &o->shared[0]);
    const int solid = next;
    place_phase(o, g, owner, o->solid_bricks, g->bricks, met, &next, &o->shared[1]);
    host_release(&fd->h.memory, &met);
    host_release(&fd->h.memory, &owner);
    REQUIRE(solid == c->solid_points && next == c->points,
            "elements have %d points of solid and %d of fluid, of %d and %d: all must belong to an element", solid,
            next - solid, c->solid_points, c->points - c->solid_points);
    return 0;
}

static int rising(const void *a, const void *b) {
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The shared points of a brick, rising; `outer` grows by them, or they are only counted where it is null. */
static int list_outers(sem3d_order *o, const sem3d_given *g, int b, int *stamp, int next) {
    sem3d_brick *k = &o->brick[b];
    k->first = g->brick[b];
    k->last = g->brick[b + 1];
    k->outer = next;
    for (size_t m = (size_t)k->first * SEM_POINTS; m < (size_t)k->last * SEM_POINTS; m++) {
        if (g->at[m] == SEM3D_ELSEWHERE)
            continue;
        const int p = o->place[g->at[m]];
        if ((p >= k->inner && p < k->inner + k->inners) || stamp[p] == b + 1)
            continue;
        stamp[p] = b + 1;
        if (o->outer != NULL)
            o->outer[next] = p;
        next++;
    }
    k->outers = next - k->outer;
    return next;
}

/* Numbers of points in their bricks. */
static void number_brick(sem3d_order *o, const sem3d_given *g, int b, int *number) {
    const sem3d_brick *k = &o->brick[b];
    qsort(o->outer + k->outer, (size_t)k->outers, sizeof(int), rising);
    for (int n = 0; n < k->outers; n++)
        number[o->outer[k->outer + n]] = k->inners + n;
    if (k->elsewhere)
        return; /* nothing is computed there */
    for (size_t m = (size_t)k->first * SEM_POINTS; m < (size_t)k->last * SEM_POINTS; m++) {
        const int p = o->place[g->at[m]], inner = p >= k->inner && p < k->inner + k->inners;
        o->local[m] = (uint16_t)(inner ? p - k->inner : number[p]);
    }
}

static int number_bricks(sem3d *fd, const sem3d_given *g) {
    sem3d_order *o = &fd->order;
    int *stamp = NULL, *number = NULL;
    const size_t points = (size_t)fd->cfg.points;
    TRY(host_alloc(&fd->h.memory, &number, points, sizeof *number, "order of points"));
    host_release(&fd->h.memory, &o->outer);
    for (int pass = 0; pass < 2; pass++) {
        TRY(host_alloc(&fd->h.memory, &stamp, points, sizeof *stamp, "order of points"));
        o->outers = 0;
        for (int b = 0; b < g->bricks; b++)
            o->outers = list_outers(o, g, b, stamp, o->outers);
        if (pass == 0)
            TRY(host_alloc(&fd->h.memory, &o->outer, (size_t)o->outers, sizeof(int), "order of points"));
    }
    for (int b = 0; b < g->bricks; b++)
        number_brick(o, g, b, number);
    host_release(&fd->h.memory, &stamp);
    host_release(&fd->h.memory, &number);
    return 0;
}

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

int sem3d_make_order(sem3d *fd, const sem3d_given *given) {
    sem3d_order *o = &fd->order;
    host_pool *m = &fd->h.memory;
    const size_t points = (size_t)fd->cfg.points;
    TRY(host_alloc(m, &o->place, points, sizeof(int), "order of points"));
    TRY(host_alloc(m, &o->point, points, sizeof(int), "order of points"));
    TRY(host_alloc(m, &o->brick, (size_t)given->bricks, sizeof(sem3d_brick), "bricks of elements"));
    TRY(host_alloc(m, &o->local, (size_t)fd->cfg.elements * SEM_POINTS, sizeof(uint16_t), "points of elements"));
    TRY(place_points(fd, given));
    TRY(number_bricks(fd, given));
    return list_slots(fd);
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
