/* Patterns of bricks, each kept once. */
#include "sem3d_patterns.h"

#include <string.h>

#include "err.h"
#include "sem3d_numbers.h"

enum {
    LOCALS = SEM3D_PATTERN_BRICK * SEM3D_PADDED,
    POINTS = SEM3D_PATTERN_BRICK * SEM_POINTS,
    WORDS = POINTS + POINTS, /* of sums: of points, and of those that more than two elements have */
    IN_WORD = 2,
    HALF = 16 /* bits */
};

typedef struct pattern {
    uint16_t local[LOCALS];
    unsigned sum[WORDS];
    size_t locals, sums;
} pattern;

/* Patterns by their hash: where the tables of each begin. */
typedef struct shelf {
    struct kept {
        unsigned local, sum;
        int locals, sums;
    } * kept;
    size_t room;
} shelf;

static unsigned word_of(const int *from, int n) {
    unsigned word = 0;
    for (int m = 0; m < IN_WORD; m++)
        word |= (unsigned)(m < n ? from[m] : SEM3D_NOBODY) << (HALF * m);
    return word;
}

/* The elements that have a force at each point, in their order. */
static int list_sums(pattern *x, int elements, int points) {
    int count[POINTS] = {0}, from[POINTS][SEM3D_PATTERN_BRICK];
    for (int e = 0; e < elements; e++)
        for (int p = 0; p < SEM_POINTS; p++) {
            const int at = x->local[e * SEM3D_PADDED + p];
            REQUIRE(count[at] < SEM3D_PATTERN_BRICK, "an element of a brick has a point more than once");
            from[at][count[at]++] = (int)sizeof(float) * (e * SEM3D_PADDED + p);
        }
    x->sums = (size_t)points;
    for (int q = 0; q < points; q++) {
        x->sum[q] = word_of(from[q], count[q]);
        if (count[q] <= IN_WORD)
            continue;
        x->sum[q] = (unsigned)x->sums << HALF | (unsigned)((count[q] + 1) / IN_WORD) << 1 | 1;
        for (int m = 0; m < count[q]; m += IN_WORD)
            x->sum[x->sums++] = word_of(from[q] + m, count[q] - m);
    }
    return 0;
}

static int make_pattern(const sem3d *fd, const sem3d_brick *b, pattern *x) {
    const int elements = b->last - b->first;
    memset(x->local, 0, sizeof x->local);
    for (int e = 0; e < elements; e++)
        memcpy(x->local + e * SEM3D_PADDED, fd->order.local + (size_t)(b->first + e) * SEM_POINTS,
               SEM_POINTS * sizeof *x->local);
    x->locals = (size_t)elements * SEM3D_PADDED;
    return list_sums(x, elements, b->inners + b->outers);
}

static uint64_t mix(uint64_t hash, const void *from, size_t bytes) {
    const unsigned char *at = from;
    for (size_t n = 0; n < bytes; n++)
        hash = (hash ^ at[n]) * 1099511628211ull;
    return hash;
}

/* The place on the shelf of a pattern, or of nothing where it is to stand. */
static struct kept *seek(const shelf *s, const sem3d_patterns *t, const pattern *x) {
    uint64_t hash = mix(14695981039346656037ull, x->local, x->locals * sizeof *x->local);
    hash = mix(hash, x->sum, x->sums * sizeof *x->sum);
    for (size_t n = (size_t)(hash ^ hash >> 32) % s->room;; n = (n + 1) % s->room) {
        struct kept *k = &s->kept[n];
        if (k->locals == 0 || (k->locals == (int)x->locals && k->sums == (int)x->sums &&
                               memcmp(t->local + k->local, x->local, x->locals * sizeof *x->local) == 0 &&
                               memcmp(t->sum + k->sum, x->sum, x->sums * sizeof *x->sum) == 0))
            return k;
    }
}

/* Room for so many more, of which all so far stay. */
static int grow(host_pool *pool, void *place, size_t used, size_t *room, size_t more, size_t size) {
    void *old, *grown = NULL;
    if (used + more <= *room)
        return 0;
    const size_t count = 2 * (used + more);
    memcpy(&old, place, sizeof old);
    TRY(host_alloc(pool, &grown, count, size, "patterns of bricks"));
    if (used > 0)
        memcpy(grown, old, used * size);
    host_release(pool, place);
    memcpy(place, &grown, sizeof grown);
    *room = count;
    return 0;
}

static int keep(sem3d *fd, sem3d_patterns *t, const pattern *x, struct kept *k) {
    TRY(grow(&fd->h.memory, &t->local, t->locals, &t->room_locals, x->locals, sizeof *t->local));
    TRY(grow(&fd->h.memory, &t->sum, t->sums, &t->room_sums, x->sums, sizeof *t->sum));
    REQUIRE(t->locals + x->locals <= UINT32_MAX && t->sums + x->sums <= UINT32_MAX,
            "bricks of elements meet in more ways than can be counted");
    *k = (struct kept){(unsigned)t->locals, (unsigned)t->sums, (int)x->locals, (int)x->sums};
    memcpy(t->local + t->locals, x->local, x->locals * sizeof *x->local);
    memcpy(t->sum + t->sums, x->sum, x->sums * sizeof *x->sum);
    t->locals += x->locals;
    t->sums += x->sums;
    t->n++;
    return 0;
}

static int put_bricks(sem3d *fd, int bricks, sem3d_patterns *t, const shelf *s, pattern *x) {
    for (int b = 0; b < bricks; b++) {
        const sem3d_brick *from = &fd->order.brick[b];
        const int fluid = b >= fd->order.solid_bricks;
        if (from->elsewhere)
            continue;
        TRY(make_pattern(fd, from, x));
        struct kept *k = seek(s, t, x);
        if (k->locals == 0)
            TRY(keep(fd, t, x, k));
        t->brick[b] = (sem3d_patterned){from->first - (fluid ? fd->cfg.solid : 0),
                                        from->last - from->first,
                                        from->inner - (fluid ? fd->cfg.solid_points : 0),
                                        from->inners,
                                        from->outer,
                                        from->outers,
                                        k->local,
                                        k->sum};
        t->most = from->inners > t->most ? from->inners : t->most;
        t->most = from->outers > t->most ? from->outers : t->most;
    }
    return 0;
}

int sem3d_make_patterns(sem3d *fd, int bricks, sem3d_patterns *t) {
    shelf s = {NULL, 2 * (size_t)bricks + 1};
    pattern *x = NULL;
    host_pool *pool = &fd->h.memory;
    memset(t, 0, sizeof *t);
    int rc = host_alloc(pool, &s.kept, s.room, sizeof *s.kept, "patterns of bricks") ||
             host_alloc(pool, &x, 1, sizeof *x, "patterns of bricks") ||
             host_alloc(pool, &t->brick, (size_t)bricks, sizeof *t->brick, "patterns of bricks") ||
             put_bricks(fd, bricks, t, &s, x);
    host_release(pool, &s.kept);
    host_release(pool, &x);
    return rc;
}

void sem3d_drop_patterns(sem3d *fd, sem3d_patterns *t) {
    host_release(&fd->h.memory, &t->brick);
    host_release(&fd->h.memory, &t->local);
    host_release(&fd->h.memory, &t->sum);
}
