/* The order of points: of the solid those inside bricks, then those that bricks share, then of the fluid likewise. */
#include <string.h>

#include "err.h"
#include "sem3d.h"

enum { NOWHERE = -1, SHARED = -2 };

/* The brick that alone has a point. */
static void find_owners(const sem3d_cfg *c, const sem3d_given *g, int *owner) {
    for (int p = 0; p < c->points; p++)
        owner[p] = NOWHERE;
    for (int b = 0; b < g->bricks; b++)
        for (size_t m = (size_t)g->brick[b] * SEM_POINTS; m < (size_t)g->brick[b + 1] * SEM_POINTS; m++) {
            int *of = &owner[g->at[m]];
            *of = *of == NOWHERE || *of == b ? b : SHARED;
        }
}

static void put(sem3d_order *o, int point, int *next) {
    if (o->place[point] != NOWHERE)
        return;
    o->place[point] = *next;
    o->point[(*next)++] = point;
}

/* Places of one phase, whose bricks are from .. to-1. */
static void place_phase(sem3d_order *o, const sem3d_given *g, const int *owner, int from, int to, int *next,
                        int *shared) {
    for (int b = from; b < to; b++) {
        o->brick[b].inner = *next;
        for (size_t m = (size_t)g->brick[b] * SEM_POINTS; m < (size_t)g->brick[b + 1] * SEM_POINTS; m++)
            if (owner[g->at[m]] == b)
                put(o, g->at[m], next);
        o->brick[b].inners = *next - o->brick[b].inner;
    }
    *shared = *next;
    for (size_t m = (size_t)g->brick[from] * SEM_POINTS; m < (size_t)g->brick[to] * SEM_POINTS; m++)
        put(o, g->at[m], next);
}

static int place_points(sem3d *fd, const sem3d_given *g) {
    sem3d_order *o = &fd->order;
    const sem3d_cfg *c = &fd->cfg;
    int *owner = NULL, next = 0;
    TRY(host_alloc(&fd->h.memory, &owner, (size_t)c->points, sizeof *owner, "order of points"));
    find_owners(c, g, owner);
    for (int p = 0; p < c->points; p++)
        o->place[p] = NOWHERE;
    o->solid_bricks = 0;
    while (o->solid_bricks < g->bricks && g->brick[o->solid_bricks] < c->solid)
        o->solid_bricks++;
    place_phase(o, g, owner, 0, o->solid_bricks, &next, &o->shared[0]);
    const int solid = next;
    place_phase(o, g, owner, o->solid_bricks, g->bricks, &next, &o->shared[1]);
    host_release(&fd->h.memory, &owner);
    REQUIRE(solid == c->solid_points && next == c->points,
            "elements have %d points of solid and %d of fluid, of %d and %d: all must belong to an element", solid,
            next - solid, c->solid_points, c->points - c->solid_points);
    return 0;
}

/* Numbers of points in their bricks; `outer` grows by those that others have too, or is only counted where it is null.
 */
static int number_brick(sem3d_order *o, const sem3d_given *g, int b, int *stamp, int *number, int next) {
    sem3d_brick *k = &o->brick[b];
    k->first = g->brick[b];
    k->last = g->brick[b + 1];
    k->outer = next;
    for (size_t m = (size_t)k->first * SEM_POINTS; m < (size_t)k->last * SEM_POINTS; m++) {
        const int p = o->place[g->at[m]];
        if (p >= k->inner && p < k->inner + k->inners) {
            o->local[m] = (uint16_t)(p - k->inner);
            continue;
        }
        if (stamp[p] != b + 1) {
            stamp[p] = b + 1;
            number[p] = k->inners + next - k->outer;
            if (o->outer != NULL)
                o->outer[next] = p;
            next++;
        }
        o->local[m] = (uint16_t)number[p];
    }
    k->outers = next - k->outer;
    return next;
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
            o->outers = number_brick(o, g, b, stamp, number, o->outers);
        if (pass == 0)
            TRY(host_alloc(&fd->h.memory, &o->outer, (size_t)o->outers, sizeof(int), "order of points"));
    }
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
