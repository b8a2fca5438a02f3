/* Colours of elements, balanced. */
#include "sem3d_colours.h"

#include <stdint.h>

#include "err.h"

typedef struct painting {
    int elements, per, colours;
    const int *at;
    uint64_t *taken;          /* (points) colours of the elements that have a point */
    unsigned char *colour;    /* (elements) */
    int count[SEM3D_COLOURS]; /* elements of each */
} painting;

static uint64_t around(const painting *p, int e) {
    uint64_t taken = 0;
    for (int m = 0; m < p->per; m++)
        taken |= p->taken[p->at[(size_t)e * (size_t)p->per + (size_t)m]];
    return taken;
}

static void turn(painting *p, int e, uint64_t bits) {
    for (int m = 0; m < p->per; m++)
        p->taken[p->at[(size_t)e * (size_t)p->per + (size_t)m]] ^= bits;
}

static int paint(painting *p) {
    for (int e = 0; e < p->elements; e++) {
        const uint64_t free = ~around(p, e);
        REQUIRE(free != 0, "element %d has neighbours of all %d colours", e + 1, SEM3D_COLOURS);
        const int c = __builtin_ctzll(free);
        p->colour[e] = (unsigned char)c;
        p->count[c]++;
        p->colours = c >= p->colours ? c + 1 : p->colours;
        turn(p, e, 1ull << c);
    }
    return 0;
}

/* The poorest colour that an element may change to; -1: none. */
static int poorest(const painting *p, int e) {
    const uint64_t taken = around(p, e);
    int best = -1;
    for (int c = 0; c < p->colours; c++)
        if ((taken >> c & 1) == 0 && (best < 0 || p->count[c] < p->count[best]))
            best = c;
    return best;
}

/* Elements go to colours that remain poorer than theirs, so that squares of counts shrink; whether any did. */
static int balance(painting *p) {
    int moved = 0;
    for (int e = 0; e < p->elements; e++) {
        const int from = p->colour[e], to = poorest(p, e);
        if (to < 0 || p->count[to] + 1 >= p->count[from])
            continue;
        turn(p, e, 1ull << from | 1ull << to);
        p->colour[e] = (unsigned char)to;
        p->count[from]--;
        p->count[to]++;
        moved = 1;
    }
    return moved;
}

static void list(const painting *p, sem3d_colours *c) {
    int next[SEM3D_COLOURS];
    c->n = p->colours;
    c->first[0] = 0;
    for (int k = 0; k < p->colours; k++) {
        next[k] = c->first[k];
        c->first[k + 1] = c->first[k] + p->count[k];
    }
    for (int e = 0; e < p->elements; e++)
        c->element[next[p->colour[e]]++] = e;
}

int sem3d_make_colours(host_pool *pool, int elements, int per, const int *at, int points, sem3d_colours *c) {
    painting p = {.elements = elements, .per = per, .at = at};
    c->n = 0;
    if (elements == 0)
        return 0;
    int rc = host_alloc(pool, &c->element, (size_t)elements, sizeof(int), "colours of elements") ||
             host_alloc(pool, &p.taken, (size_t)points, sizeof *p.taken, "colours of elements") ||
             host_alloc(pool, &p.colour, (size_t)elements, 1, "colours of elements") || paint(&p);
    while (rc == 0 && balance(&p))
        ;
    if (rc == 0)
        list(&p, c);
    host_release(pool, &p.taken);
    host_release(pool, &p.colour);
    return rc;
}
