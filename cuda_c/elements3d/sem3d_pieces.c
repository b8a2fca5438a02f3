/* A piece of a mesh: which sums of bricks go to other pieces and come from them, and a step in parts. Both ends of a
 * way list its sums in the order of bricks, elements and points of these, so nothing but numbers travels. */
#include <limits.h>
#include <string.h>

#include "err.h"
#include "sem3d.h"
#include "sem3d_colours.h"

static const sem3d_verbs *verbs(const sem3d *fd) { return (const sem3d_verbs *)fd->h.variant->verbs; }

/* --- slots ----------------------------------------------------------------------------------------------------- */

typedef struct lists { /* as the slots of all ways are listed */
    const int *at;     /* (125,elements) */
    int *wanted;       /* (points) of this way by its number from 1 */
    int *stamp;        /* (points) brick that met it last, from 1 */
    int *slot;         /* the next; null: they are counted */
    int n;
} lists;

/* Adds the slots of points of brick b, each once, as its elements meet them: all, or those wanted. */
static void list_brick(const sem3d *fd, lists *l, int b, int wanted) {
    const sem3d_order *o = &fd->order;
    const sem3d_brick *k = &o->brick[b];
    for (size_t m = (size_t)k->first * SEM_POINTS; m < (size_t)k->last * SEM_POINTS; m++) {
        const int point = l->at[m];
        if (point == SEM3D_ELSEWHERE || l->stamp[point] == b + 1 || (wanted && l->wanted[point] != wanted))
            continue;
        l->stamp[point] = b + 1;
        if (l->slot != NULL)
            l->slot[l->n] = k->outer + sem3d_seek(o->outer + k->outer, k->outers, o->place[point]);
        l->n++;
    }
}

/* Slots of all ways, in numbers(2 ways + 1): of bricks of this piece, or of the other pieces. */
static void list_ways(const sem3d *fd, lists *l, int gives, int *numbers) {
    const int *start = fd->pieces.start, *point = fd->pieces.point, *way = fd->pieces.way;
    const int solid = fd->order.solid_bricks, bricks = fd->cfg.bricks;
    for (int p = 0; p < fd->cfg.points; p++)
        l->wanted[p] = l->stamp[p] = 0;
    l->n = 0;
    for (int w = 0; w < fd->pieces.ways; w++) {
        for (int m = start[w]; m < start[w + 1]; m++)
            l->wanted[point[m]] = w + 1;
        for (int m = start[w]; m < start[w + 1]; m++)
            l->stamp[point[m]] = 0; /* of the way before */
        for (int fluid = 0; fluid < 2; fluid++) {
            numbers[2 * w + fluid] = l->n;
            for (int b = fluid ? solid : 0; b < (fluid ? bricks : solid); b++)
                if (gives ? way[b] == -1 && start[w + 1] > start[w] : way[b] == w)
                    list_brick(fd, l, b, gives ? w + 1 : 0);
        }
    }
    numbers[2 * fd->pieces.ways] = l->n;
}

/* Counts them, then lists them. */
static int make_slots(sem3d *fd, lists *l, int gives, int **numbers, int **slot) {
    TRY(host_alloc(&fd->h.memory, numbers, 2 * (size_t)fd->pieces.ways + 1, sizeof(int), "sums between pieces"));
    l->slot = NULL;
    list_ways(fd, l, gives, *numbers);
    TRY(host_alloc(&fd->h.memory, slot, (size_t)l->n, sizeof(int), "sums between pieces"));
    l->slot = *slot;
    list_ways(fd, l, gives, *numbers);
    return 0;
}

/* Bricks of this piece in their turn: of each phase those that have slots to give, then the others. gives(bricks). */
static void make_turn(sem3d *fd, int *gives) {
    sem3d_pieces *p = &fd->pieces;
    const int solid = fd->order.solid_bricks, bricks = fd->cfg.bricks;
    int n = 0;
    for (int b = 0; b < bricks; b++) {
        const sem3d_brick *k = &fd->order.brick[b];
        for (int m = k->outer; m < k->outer + k->outers; m++)
            gives[m] = b;
    }
    for (int m = 0; m < p->gives[2 * p->ways]; m++)
        gives[p->give[m]] = gives[p->give[m]] < 0 ? gives[p->give[m]] : -1 - gives[p->give[m]];
    for (int fluid = 0; fluid < 2; fluid++)
        for (int part = SEM3D_RIM; part <= SEM3D_INSIDE; part++) {
            p->rim[fluid][part] = n;
            for (int b = fluid ? solid : 0; b < (fluid ? bricks : solid); b++) {
                const sem3d_brick *k = &fd->order.brick[b];
                int given = 0;
                for (int m = k->outer; m < k->outer + k->outers; m++)
                    given = given || gives[m] < 0;
                if (p->way[b] == -1 && given == (part == SEM3D_RIM))
                    p->turn[n++] = b;
            }
            p->inner[fluid] = n;
        }
}

static int list_all(sem3d *fd, lists *l) {
    sem3d_pieces *p = &fd->pieces;
    int *gives = NULL;
    const size_t points = (size_t)fd->cfg.points;
    TRY(host_alloc(&fd->h.memory, &l->wanted, points, sizeof(int), "sums between pieces"));
    TRY(host_alloc(&fd->h.memory, &l->stamp, points, sizeof(int), "sums between pieces"));
    TRY(make_slots(fd, l, 1, &p->gives, &p->give));
    TRY(make_slots(fd, l, 0, &p->takes, &p->take));
    TRY(host_alloc(&fd->h.memory, &p->turn, (size_t)fd->cfg.bricks, sizeof(int), "sums between pieces"));
    TRY(host_alloc(&fd->h.memory, &gives, (size_t)fd->order.outers, sizeof(int), "sums between pieces"));
    make_turn(fd, gives);
    host_release(&fd->h.memory, &gives);
    return 0;
}

int sem3d_make_ways(sem3d *fd, const sem3d_given *given) {
    lists l = {given->at, NULL, NULL, NULL, 0};
    fd->pieces.done = 0;
    if (fd->pieces.ways == 0)
        return 0;
    const int rc = list_all(fd, &l);
    host_release(&fd->h.memory, &l.wanted);
    host_release(&fd->h.memory, &l.stamp);
    return rc;
}

int sem3d_ways(void *handle, int ways, int mine, const int *way, const int *start, const int *point) {
    sem3d *fd = handle;
    sem3d_pieces *p = &fd->pieces;
    TRY(handle_enter(fd));
    REQUIRE(ways >= 1 && ways < INT_MAX / 2, "%d ways between pieces of a mesh, must be 1 or more", ways);
    REQUIRE(mine >= 0 && mine < ways, "piece %d of a mesh, must be 1..%d", mine + 1, ways);
    REQUIRE(verbs(fd)->part != NULL, "the variant \"%s\" computes no piece of a mesh", fd->h.variant->name);
    for (int b = 0; b < fd->cfg.bricks; b++)
        REQUIRE(way[b] >= -1 && way[b] < ways, "brick %d has way %d, must be 1..%d, or 0 of this piece", b + 1,
                way[b] + 1, ways);
    TRY(handle_check_receivers(ways, start));
    for (int m = 0; m < start[ways]; m++)
        REQUIRE(point[m] >= 0 && point[m] < fd->cfg.points, "point %d that another piece has is %d, must be 1..%d",
                m + 1, point[m] + 1, fd->cfg.points);
    fd->h.has_model = p->ways = 0;
    TRY(host_copy(&fd->h.memory, &p->way, way, (size_t)fd->cfg.bricks, sizeof(int), "ways between pieces"));
    TRY(host_copy(&fd->h.memory, &p->start, start, (size_t)ways + 1, sizeof(int), "ways between pieces"));
    TRY(host_copy(&fd->h.memory, &p->point, point, (size_t)start[ways], sizeof(int), "ways between pieces"));
    p->ways = ways;
    p->mine = mine;
    p->linked = 0;
    return 0;
}

/* --- colours ----------------------------------------------------------------------------------------------------- */

int sem3d_paint(int elements, int per, const int *at, int points, int *colour) {
    host_pool pool = {0};
    sem3d_colours c = {0};
    for (size_t m = 0; m < (size_t)elements * (size_t)per; m++)
        REQUIRE(at[m] >= 0 && at[m] < points, "point %d to be coloured, must be 1..%d", at[m] + 1, points);
    const int rc = sem3d_make_colours(&pool, elements, per, at, points, &c);
    for (int k = 0; k < c.n && rc == 0; k++)
        for (int m = c.first[k]; m < c.first[k + 1]; m++)
            colour[c.element[m]] = k;
    host_release_all(&pool);
    return rc;
}

int sem3d_coloured(void *handle, const int *colour) {
    sem3d *fd = handle;
    TRY(handle_enter(fd));
    for (int e = 0; e < fd->cfg.elements; e++)
        REQUIRE(colour[e] >= 0 && colour[e] < SEM3D_COLOURS, "colour %d of element %d, must be 1..%d", colour[e] + 1,
                e + 1, SEM3D_COLOURS);
    return host_copy(&fd->h.memory, &fd->pieces.colour, colour, (size_t)fd->cfg.elements, sizeof *colour,
                     "colours of elements");
}

/* --- a step ------------------------------------------------------------------------------------------------------ */

static int check_way(sem3d *fd, int fluid, int way) {
    TRY(handle_enter(fd));
    REQUIRE(way >= 0 && way < fd->pieces.ways && (fluid == 0 || fluid == 1), "way %d of phase %d, must be 1..%d, 0..1",
            way + 1, fluid, fd->pieces.ways);
    return 0;
}

int sem3d_way_size(void *handle, int fluid, int way, int *out, int *in) {
    sem3d *fd = handle;
    const int width = fluid ? 1 : 3, f = 2 * way + fluid;
    TRY(check_way(fd, fluid, way));
    *out = width * (fd->pieces.gives[f + 1] - fd->pieces.gives[f]);
    *in = width * (fd->pieces.takes[f + 1] - fd->pieces.takes[f]);
    return 0;
}

int sem3d_give(void *handle, int fluid, int way, float *out) {
    sem3d *fd = handle;
    TRY(check_way(fd, fluid, way));
    return verbs(fd)->give(fd, fluid, way, out);
}

int sem3d_take(void *handle, int fluid, int way, const float *in) {
    sem3d *fd = handle;
    TRY(check_way(fd, fluid, way));
    return verbs(fd)->take(fd, fluid, way, in);
}

/* Nothing to do there: no bricks in their turn, no points. */
static int is_empty(const sem3d *fd, int fluid, int part) {
    const sem3d_pieces *p = &fd->pieces;
    if (part != SEM3D_SHARED)
        return p->rim[fluid][part] == (part == SEM3D_RIM ? p->rim[fluid][SEM3D_INSIDE] : p->inner[fluid]);
    return fluid && fd->cfg.points == fd->cfg.solid_points;
}

int sem3d_part(void *handle, int it, int fluid, int part) {
    sem3d *fd = handle;
    struct handle *h = &fd->h;
    sem3d_pieces *p = &fd->pieces;
    const int number = (fluid ? 0 : SEM3D_PARTS) + part;
    float *row = NULL;
    TRY(handle_enter(fd));
    REQUIRE(p->ways > 0 && p->linked == 0, "part of a step asked for of a whole mesh, or of a piece that is linked");
    REQUIRE(number == p->done, "part %d of a step is not what comes next, %d are done", number + 1, p->done);
    if (number == 0) {
        TRY(handle_check_steps(h, it, 1));
        REQUIRE(fd->has_quality || fd->cfg.mechanisms == 0, "time stepping before the attenuation was set");
        TRY(handle_check_histories(h, it, 1));
    }
    const int last = number == 2 * SEM3D_PARTS - 1;
    if (last)
        TRY(handle_next_rows(h, 1, &row));
    if (h->steps == 0)
        h->first = it;
    h->next = INT_MAX; /* until all went well */
    if (number == 0 || last || !is_empty(fd, fluid, part))
        TRY(verbs(fd)->part(fd, it, fluid, part, row));
    p->done = last ? 0 : number + 1;
    h->steps += last;
    h->next = last ? it + 1 : h->next;
    return 0;
}

/* --- from GPU to GPU --------------------------------------------------------------------------------------------- */

static int check_link(sem3d *fd) {
    TRY(handle_enter(fd));
    REQUIRE(verbs(fd)->link != NULL, "variant=%s computes on no GPU, whose memory others could store into",
            fd->h.variant->name);
    REQUIRE(fd->h.has_model && fd->pieces.ways > 0, "a link of what is no piece of a mesh");
    return 0;
}

int sem3d_halo_offer(void *handle, int beside, int host, double seconds, int length, char *ticket) {
    sem3d *fd = handle;
    TRY(check_link(fd));
    REQUIRE(fd->pieces.done == 0, "the exchange of sums begins in the middle of a step");
    fd->pieces.linked = 0;
    return verbs(fd)->link->offer(fd, beside, host, seconds, length, ticket);
}

int sem3d_halo_open(void *handle, int way, int length, const char *ticket) {
    sem3d *fd = handle;
    TRY(check_link(fd));
    REQUIRE(way >= 0 && way < fd->pieces.ways && sem3d_is_way(&fd->pieces, way),
            "the memory of piece %d opened, with which this one shares nothing", way + 1);
    TRY(verbs(fd)->link->open(fd, way, length, ticket));
    fd->pieces.linked++;
    return 0;
}

int sem3d_halo_try(void *handle, double seconds, double *bare, double *full) {
    sem3d *fd = handle;
    int ways = 0;
    *bare = *full = 0;
    TRY(check_link(fd));
    for (int w = 0; w < fd->pieces.ways; w++)
        ways += sem3d_is_way(&fd->pieces, w);
    REQUIRE(fd->pieces.linked == ways, "%d of %d ways to other pieces are open", fd->pieces.linked, ways);
    return ways == 0 ? 0 : verbs(fd)->link->tried(fd, seconds, bare, full);
}

int sem3d_halo_waited(void *handle, double *seconds) {
    sem3d *fd = handle;
    TRY(check_link(fd));
    memset(seconds, 0, (size_t)fd->pieces.ways * sizeof *seconds);
    return fd->pieces.linked == 0 ? 0 : verbs(fd)->link->waited(fd, seconds);
}

void sem3d_halo_close(void *handle) {
    sem3d *fd = handle;
    if (fd == NULL || verbs(fd)->link == NULL)
        return;
    verbs(fd)->link->close(fd);
    fd->pieces.linked = 0;
}

void sem3d_halo_give_up(void *handle) {
    sem3d *fd = handle;
    if (fd != NULL && verbs(fd)->link != NULL)
        verbs(fd)->link->give_up(fd);
}

int sem3d_halo_left(void *handle, int *chunks) {
    sem3d *fd = handle;
    *chunks = 0;
    TRY(handle_enter(fd));
    return verbs(fd)->link == NULL ? 0 : verbs(fd)->link->left(fd, chunks);
}

int sem3d_between(void *handle, int (*procedure)(void)) {
    TRY(handle_enter(handle));
    ((sem3d *)handle)->pieces.between = procedure;
    return 0;
}
