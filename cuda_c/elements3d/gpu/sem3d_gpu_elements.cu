// Elements of the GPU variants of spectral elements on their way to the device: geometry, medium, attenuation, and how
// their forces are summed.
#include <cmath>
#include <cstring>

#include "sem3d_gpu.h"

enum { CHUNK = 2048 }; // elements on their way at a time

sem3d_shape sem3d_gpu_shape(const sem3d_gpu_kind *kind, const sem3d_cfg *c, int affine) {
    return c->per != 8 || !kind->computes ? SEM3D_STORED : affine && kind->bricks ? SEM3D_AFFINE : SEM3D_TRILINEAR;
}

// --- geometry and medium ---------------------------------------------------------------------------------------------

// Elements from .. to-1 of one phase; `first` is its first.
static int put_numbers(sem3d *fd, const sem3d_given *given, int first, int from, int to, float *host) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    const int fluid = from >= fd->cfg.solid;
    const sem3d_gpu_elements *e = &o->phase[fluid].e;
    const size_t geometry = sem3d_geometry_size(o->shape), medium = sem3d_medium_size(&fd->cfg, o->shape, fluid),
                 n = (size_t)(to - from), before = (size_t)(from - first);
    sem3d_fill(fd, given, o->shape, from, to, host, host + n * geometry);
    TRY(gpu_upload(&o->queue, (float *)e->geometry + before * geometry, host, n * geometry * sizeof(float)));
    return gpu_upload(&o->queue, (float *)e->medium + before * medium, host + n * geometry, n * medium * sizeof(float));
}

static int put_geometry(sem3d *fd, const sem3d_given *given, int first, int n) {
    const sem3d_shape shape = sem3d_gpu_own(&fd->h)->shape;
    const size_t each = sem3d_geometry_size(shape) + sem3d_medium_size(&fd->cfg, shape, 0);
    float *host = nullptr;
    int rc = host_alloc(&fd->h.memory, &host, each * CHUNK, sizeof(float), "elements");
    for (int e = first; e < first + n && rc == 0; e += CHUNK)
        rc = put_numbers(fd, given, first, e, e + CHUNK < first + n ? e + CHUNK : first + n, host);
    host_release(&fd->h.memory, &host);
    return rc;
}

// --- attenuation -----------------------------------------------------------------------------------------------------

// Gain and place of the memory variables of each point; those without have the last place, and gain 0.
static int put_few(sem3d_gpu *o) {
    float few[2 * SEM3D_PADDED] = {};
    for (int p = 0; p < SEM_POINTS; p++) {
        few[2 * p] = (float)sem_memory_gain(p);
        few[2 * p + 1] = (float)(sem_memory(p) < 0 ? SEM3D_FEW - 1 : sem_memory(p));
    }
    return gpu_upload(&o->queue, o->few, few, sizeof few);
}

// Kernels get the mechanisms by value, and so do graphs.
int sem3d_gpu_quality(sem3d *fd, const float *tau, const float *bulk, const float *shear) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    sem3d_gpu_elements *e = &o->phase[0].e;
    const size_t each = sem3d_share_size(&fd->cfg);
    float *host = nullptr;
    gpu_forget_graphs(&o->queue);
    for (int m = 0; m < fd->cfg.mechanisms; m++)
        e->decay[m] = (float)exp(-(double)fd->cfg.dt / tau[m]);
    if (e->few != nullptr)
        TRY(put_few(o));
    int rc = host_alloc(&fd->h.memory, &host, each * CHUNK, sizeof(float), "attenuation");
    for (int from = 0; from < o->kept[0] && rc == 0; from += CHUNK) {
        const int to = from + CHUNK < o->kept[0] ? from + CHUNK : o->kept[0];
        sem3d_fill_shares(fd, e->decay, bulk, shear, from, to, host);
        rc = gpu_upload(&o->queue, o->share + (size_t)from * each, host, (size_t)(to - from) * each * sizeof(float));
    }
    host_release(&fd->h.memory, &host);
    sem3d_gpu_stream_quality(fd, bulk, shear);
    return rc;
}

// --- sums by point -------------------------------------------------------------------------------------------------

// Of n points, whose numbers are entry[start[p]] .. entry[start[p+1]-1], as kernels get them; `more` grows by what is
// more than two, or is only counted where it is null.
static size_t pair_up(int n, const int *start, const int *entry, int2 *pair, int *more) {
    size_t used = 0;
    for (int p = 0; p < n; p++) {
        const int from = start[p], count = start[p + 1] - from;
        if (more == nullptr) {
            used += count > 2 ? (size_t)count : 0;
            continue;
        }
        pair[p].x = entry[from];
        pair[p].y = count > 2 ? -2 - (int)used : count == 2 ? entry[from + 1] : -1;
        if (count <= 2)
            continue;
        more[used++] = count - 1;
        for (int m = 1; m < count; m++)
            more[used++] = entry[from + m];
    }
    return used;
}

// The sums of a phase, n points, to the device: pairs from `before` on.
static int put_sums(sem3d *fd, int fluid, size_t before, int n, const int *start, const int *entry) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    host_pool *pool = &fd->h.memory;
    const size_t all = pair_up(n, start, entry, nullptr, nullptr);
    int2 *pair = nullptr;
    int *more = nullptr;
    int rc = host_alloc(pool, &pair, (size_t)n, sizeof *pair, "sums of forces") ||
             host_alloc(pool, &more, all + 1, sizeof *more, "sums of forces") ||
             gpu_alloc(&o->queue, &o->more[fluid], all + 1, sizeof *more, "sums of forces");
    if (rc == 0) {
        pair_up(n, start, entry, pair, more);
        rc = gpu_upload(&o->queue, o->pair + before, pair, (size_t)n * sizeof *pair) ||
             gpu_upload(&o->queue, o->more[fluid], more, all * sizeof *more);
    }
    o->phase[fluid].pair = o->pair + before;
    o->phase[fluid].more = o->more[fluid];
    host_release(pool, &pair);
    host_release(pool, &more);
    return rc;
}

// --- elements that stand alone ---------------------------------------------------------------------------------------

static int place_of(const sem3d *fd, int point, int low) {
    return point == SEM3D_ELSEWHERE ? point : fd->order.place[point] - low;
}

// The points of the elements of a phase, from its first; (128,n).
static void find_points(const sem3d *fd, const sem3d_given *g, int fluid, int *at) {
    const int first = fluid ? fd->cfg.solid : 0, last = fluid ? fd->cfg.elements : fd->cfg.solid,
              low = fluid ? fd->cfg.solid_points : 0;
    for (int e = first; e < last; e++)
        for (int p = 0; p < SEM3D_PADDED; p++)
            at[(size_t)(e - first) * SEM3D_PADDED + (size_t)p] =
                p < SEM_POINTS ? place_of(fd, g->at[(size_t)e * SEM_POINTS + (size_t)p], low) : 0;
}

// Numbers of `part` of each point, in the order of elements, or of colours of these where they are told.
static void list_entries(const sem3d_gpu_phase *ph, const int *colour, const int *at, int *start, int *entry) {
    const size_t all = (size_t)ph->e.n * SEM3D_PADDED;
    for (size_t m = 0; m < all; m++)
        if (m % SEM3D_PADDED < SEM_POINTS && at[m] != SEM3D_ELSEWHERE)
            start[at[m] + 2]++;
    for (int p = 0; p < ph->points; p++)
        start[p + 2] += start[p + 1];
    for (int c = 0; c < (colour == nullptr ? 1 : (int)SEM3D_COLOURS); c++)
        for (size_t m = 0; m < all; m++)
            if (m % SEM3D_PADDED < SEM_POINTS && at[m] != SEM3D_ELSEWHERE &&
                (colour == nullptr || colour[m / SEM3D_PADDED] == c))
                entry[start[at[m] + 1]++] = (int)m;
}

static int put_entries(sem3d *fd, int fluid, const int *at, int *start, int *entry) {
    const sem3d_gpu_phase *ph = &sem3d_gpu_own(&fd->h)->phase[fluid];
    const int *colour = fd->cfg.sum == SEM3D_COLOUR ? fd->pieces.colour + (fluid ? fd->cfg.solid : 0) : nullptr;
    list_entries(ph, colour, at, start, entry);
    return put_sums(fd, fluid, fluid ? (size_t)fd->cfg.solid_points : 0, ph->points, start, entry);
}

static int put_colours(sem3d *fd, int fluid, const sem3d_given *g, int *at) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    const sem3d_gpu_phase *ph = &o->phase[fluid];
    const int first = fluid ? fd->cfg.solid : 0, low = fluid ? fd->cfg.solid_points : 0;
    sem3d_colours c = {};
    for (size_t m = 0; m < (size_t)ph->e.n * SEM_POINTS; m++)
        at[m] = fd->order.place[g->at[(size_t)first * SEM_POINTS + m]] - low;
    int rc = sem3d_make_colours(&fd->h.memory, ph->e.n, SEM_POINTS, at, ph->points, &c);
    if (rc == 0 && c.n > 0)
        rc = gpu_upload(&o->queue, o->colour_list + first, c.element, (size_t)ph->e.n * sizeof(int));
    o->colours[fluid] = c.n;
    memcpy(o->colour_first[fluid], c.first, sizeof c.first);
    host_release(&fd->h.memory, &c.element);
    return rc;
}

static int put_alone(sem3d *fd, const sem3d_given *g, int fluid) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    sem3d_gpu_phase *ph = &o->phase[fluid];
    host_pool *pool = &fd->h.memory;
    const size_t all = (size_t)ph->e.n * SEM3D_PADDED;
    int *at = nullptr, *start = nullptr, *entry = nullptr;
    int rc = host_alloc(pool, &at, all, sizeof(int), "points of elements");
    if (rc == 0) {
        find_points(fd, g, fluid, at);
        rc = gpu_upload(&o->queue, (int *)ph->at, at, all * sizeof(int));
    }
    if (sem3d_gpu_gathers(&fd->cfg))
        rc = rc || host_alloc(pool, &start, (size_t)ph->points + 2, sizeof(int), "points of elements") ||
             host_alloc(pool, &entry, all, sizeof(int), "points of elements") ||
             put_entries(fd, fluid, at, start, entry);
    else if (fd->cfg.sum == SEM3D_COLOUR)
        rc = rc || put_colours(fd, fluid, g, at);
    host_release(pool, &at);
    host_release(pool, &start);
    host_release(pool, &entry);
    return rc;
}

// --- bricks --------------------------------------------------------------------------------------------------------

static void share_patterns(sem3d_gpu *o, const sem3d *fd, int bricks, const sem3d_patterns &t) {
    for (int fluid = 0; fluid < 2; fluid++) {
        sem3d_gpu_phase *ph = &o->phase[fluid];
        const sem3d_pieces *p = &fd->pieces;
        const int first = fluid ? fd->order.solid_bricks : 0, last = fluid ? bricks : fd->order.solid_bricks;
        ph->brick = o->brick + (p->ways > 0 ? p->rim[fluid][0] : first);
        ph->bricks = p->ways > 0 ? p->inner[fluid] - p->rim[fluid][0] : last - first;
        ph->local = o->local;
        ph->sum = o->sum;
        ph->outer = o->outer;
        ph->most = t.most;
        ph->part = o->part;
        ph->stride = fd->order.outers;
        ph->from = fd->order.shared[fluid] - (fluid ? fd->cfg.solid_points : 0);
        ph->ahead = o->processors;
    }
}

// Slots are points that a phase's bricks share, from its first.
static int put_slots(sem3d *fd, int bricks) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    const sem3d_order *r = &fd->order;
    const size_t outers = (size_t)r->outers, solid = (size_t)(fd->cfg.solid_points - r->shared[0]),
                 shared = solid + (size_t)(fd->cfg.points - r->shared[1]);
    int *outer = nullptr;
    TRY(gpu_alloc(&o->queue, &o->outer, outers, sizeof(int), "points that bricks share"));
    TRY(gpu_alloc(&o->queue, &o->pair, shared, sizeof *o->pair, "points that bricks share"));
    TRY(gpu_alloc(&o->queue, &o->part, (fd->cfg.solid > 0 ? 3 : 1) * outers, sizeof(float), "forces of bricks"));
    TRY(host_copy(&fd->h.memory, &outer, r->outer, outers, sizeof(int), "points that bricks share"));
    for (int b = r->solid_bricks; b < bricks; b++)
        for (int m = r->brick[b].outer; m < r->brick[b].outer + r->brick[b].outers; m++)
            outer[m] -= fd->cfg.solid_points;
    const int rc = gpu_upload(&o->queue, o->outer, outer, outers * sizeof(int)) ||
                   put_sums(fd, 0, 0, (int)solid, r->slots, r->slot) ||
                   put_sums(fd, 1, solid, (int)(shared - solid), r->slots + solid, r->slot);
    host_release(&fd->h.memory, &outer);
    return rc;
}

// Bricks in their turn: of a piece of a mesh its own alone.
static int put_turn(sem3d *fd, int bricks, const sem3d_patterns &t) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    const int n = fd->pieces.ways > 0 ? fd->pieces.inner[1] : 0;
    sem3d_patterned *own = nullptr;
    if (n == 0)
        return gpu_upload(&o->queue, o->brick, t.brick, (size_t)bricks * sizeof *t.brick);
    TRY(host_alloc(&fd->h.memory, &own, (size_t)n, sizeof *own, "bricks of elements"));
    for (int m = 0; m < n; m++)
        own[m] = t.brick[fd->pieces.turn[m]];
    const int rc = gpu_upload(&o->queue, o->brick, own, (size_t)n * sizeof *own);
    host_release(&fd->h.memory, &own);
    return rc;
}

static int put_patterns(sem3d *fd, int bricks, const sem3d_patterns &t) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    gpu_queue *q = &o->queue;
    TRY(gpu_alloc(q, &o->brick, (size_t)bricks, sizeof *t.brick, "bricks of elements"));
    TRY(gpu_alloc(q, &o->local, t.locals, sizeof *t.local, "points of bricks"));
    TRY(gpu_alloc(q, &o->sum, t.sums, sizeof *t.sum, "points of bricks"));
    TRY(put_turn(fd, bricks, t));
    TRY(gpu_upload(q, o->local, t.local, t.locals * sizeof *t.local));
    TRY(gpu_upload(q, o->sum, t.sum, t.sums * sizeof *t.sum));
    TRY(put_slots(fd, bricks));
    share_patterns(o, fd, bricks, t);
    return 0;
}

static int put_bricks(sem3d *fd, int bricks) {
    sem3d_patterns t = {};
    const int rc = sem3d_make_patterns(fd, bricks, &t) || put_patterns(fd, bricks, t);
    sem3d_drop_patterns(fd, &t);
    return rc;
}

// --- all of it -------------------------------------------------------------------------------------------------------

static int put_sides(sem3d *fd) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    gpu_queue *q = &o->queue;
    const sem3d_sides *s = &fd->sides;
    const size_t drags = (size_t)s->drags, contacts = (size_t)s->contacts;
    TRY(gpu_alloc(q, &o->sides.drag, drags, sizeof(sem3d_drag), "absorbing sides"));
    TRY(gpu_alloc(q, &o->sides.area, 3 * contacts, sizeof(float), "contacts"));
    TRY(gpu_alloc(q, &o->sides.press, contacts, sizeof(float), "contacts"));
    TRY(gpu_alloc(q, &o->sides.solid, contacts, sizeof(int), "contacts"));
    TRY(gpu_upload(q, o->sides.drag, s->drag, drags * sizeof(sem3d_drag)));
    TRY(gpu_upload(q, o->sides.area, s->area, 3 * contacts * sizeof(float)));
    TRY(gpu_upload(q, o->sides.solid, s->solid, contacts * sizeof(int)));
    for (int fluid = 0; fluid < 2; fluid++) // their marks go with the old gains
        o->special[fluid].n = 0;
    TRY(gpu_upload(q, o->gain, fd->gain, (size_t)fd->cfg.points * sizeof(float)));
    return sem3d_gpu_put_specials(fd);
}

int sem3d_gpu_sides_are(sem3d *fd) {
    gpu_queue *q = &sem3d_gpu_own(&fd->h)->queue;
    gpu_forget_graphs(q);
    TRY(gpu_wait(q)); // what is queued reads the old ones
    return put_sides(fd);
}

static int put_tensors(const sem3d *fd) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    if (fd->cfg.tensors == 0)
        return 0;
    TRY(gpu_upload(&o->queue, o->tensor, fd->tensor, (size_t)fd->cfg.solid * sizeof(int)));
    return gpu_upload(&o->queue, o->relative, fd->relative, (size_t)fd->cfg.tensors * SEM3D_TENSOR * sizeof(float));
}

static int check_piece(const sem3d *fd) {
    REQUIRE((fd->pieces.ways > 0) == (fd->cfg.piece > 0), "a piece of a mesh where a whole one was announced");
    if (fd->pieces.ways == 0)
        return 0;
    const int alone = !sem3d_gpu_own(&fd->h)->kind->bricks;
    REQUIRE(!alone || fd->cfg.sum != SEM3D_ATOMIC, "pieces of a mesh have no atomic sums: use sum=gather or colour");
    REQUIRE(!alone || fd->cfg.sum != SEM3D_COLOUR || fd->pieces.colour != nullptr,
            "elements before their colours were set");
    REQUIRE(sem3d_gpu_own(&fd->h)->stream.n == 0 && fd->cfg.resident == SEM3D_RESIDENT_ALL,
            "all of a piece of a mesh stays on its GPU: use resident=all");
    return 0;
}

int sem3d_gpu_elements_are(sem3d *fd, const sem3d_given *given) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    gpu_forget_graphs(&o->queue);
    TRY(gpu_wait(&o->queue)); // what is queued reads the old ones
    TRY(check_piece(fd));
    o->shape = sem3d_gpu_shape(o->kind, &fd->cfg, sem3d_all_affine(fd, given));
    TRY(sem3d_gpu_stream_cut(fd, given->bricks));
    sem3d_gpu_stream_fill(fd, given);
    for (int fluid = 0; fluid < 2; fluid++) {
        sem3d_gpu_phase *ph = &o->phase[fluid];
        ph->e.by_point = sem3d_by_point(&fd->cfg, o->shape);
        TRY(put_geometry(fd, given, fluid ? fd->cfg.solid : 0, o->kept[fluid]));
        if (!o->kind->bricks && ph->e.n > 0)
            TRY(put_alone(fd, given, fluid));
    }
    if (o->kind->bricks)
        TRY(put_bricks(fd, given->bricks));
    if (fd->pieces.ways > 0)
        TRY(sem3d_gpu_put_pieces(fd, given));
    TRY(put_tensors(fd));
    host_release(&fd->h.memory, &fd->order.local); // the device has the same
    TRY(put_sides(fd));
    return sem3d_gpu_put_receivers(fd);
}
