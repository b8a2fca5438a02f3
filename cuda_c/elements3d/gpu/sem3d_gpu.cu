// Memory and the order of a step of the GPU variants of spectral elements; see sem3d_gpu.h.
#include "sem3d_gpu.h"

#include <climits>
#include <cstring>

enum { ROW = SEM3D_GPU_ROW };

static sem3d_gpu *own(const handle *h) { return sem3d_gpu_own(h); }

// --- new and free --------------------------------------------------------------------------------------------------

static size_t whole_rows(size_t n) { return (n + ROW - 1) / ROW * ROW; }

static size_t fluid_points(const sem3d_cfg *c) { return (size_t)(c->points - c->solid_points); }

// From one field of a phase to the next.
static size_t field_step(const sem3d_cfg *c, int fluid) {
    return whole_rows(fluid ? fluid_points(c) : (size_t)c->solid_points);
}

static size_t field_floats(const sem3d_cfg *c) { return 6 * field_step(c, 0) + 2 * field_step(c, 1); }

// Room of a memory variable of an element.
static int lanes(const sem3d_cfg *c) { return c->relaxing == SEM_POINTS ? (int)SEM3D_PADDED : (int)SEM3D_FEW; }

// Numbers of an element's memory variables.
static size_t memory_size(const sem3d_cfg *c) { return (size_t)c->mechanisms * 6 * (size_t)lanes(c); }

// Numbers of the elements of solid and of fluid; the maps of affine ones have room as trilinear ones.
static void find_load(const sem3d_gpu_kind *kind, const sem3d_cfg *c, sem3d_load load[2]) {
    const sem3d_shape shape = sem3d_gpu_shape(kind, c, 0);
    for (int fluid = 0; fluid < 2; fluid++) {
        const size_t back = fluid ? 0 : memory_size(c), relaxing = fluid ? 0 : sem3d_share_size(c) + back;
        load[fluid].elements = fluid ? c->elements - c->solid : c->solid;
        load[fluid].each = sizeof(float) * (sem3d_geometry_size(shape) + sem3d_medium_size(c, shape, fluid) + relaxing);
        load[fluid].back = sizeof(float) * back;
    }
}

enum { ARRAYS = 10 };

// Device memory whose size follows from the configuration, with the numbers of the elements that stay.
static void list_arrays(sem3d_gpu *o, gpu_array list[ARRAYS]) {
    const sem3d_cfg *c = o->cfg;
    const sem3d_shape shape = sem3d_gpu_shape(o->kind, c, 0);
    const size_t solid = (size_t)c->solid, fluid = (size_t)(c->elements - c->solid), components = c->solid > 0 ? 3 : 1,
                 most = solid * 3 > fluid ? solid * 3 : fluid, rock = (size_t)o->kept[0], water = (size_t)o->kept[1];
    const int alone = !o->kind->bricks;
    const gpu_array made[ARRAYS] = {
        {&o->fields, field_floats(c), "fields"},
        {&o->geometry, (rock + water) * sem3d_geometry_size(shape), "geometry"},
        {&o->medium, rock * sem3d_medium_size(c, shape, 0) + water * sem3d_medium_size(c, shape, 1), "medium"},
        {&o->share, rock * sem3d_share_size(c), "attenuation"},
        {&o->memory, rock * memory_size(c), "memory variables"},
        {&o->few, c->mechanisms > 0 && c->relaxing != SEM_POINTS ? (size_t)(2 * SEM3D_PADDED) : 0, "memory variables"},
        {&o->relative, (size_t)c->tensors * SEM3D_TENSOR, "anisotropic media"},
        {&o->gain, (size_t)c->points, "masses"},
        {&o->part, alone && sem3d_gpu_gathers(c) ? most * SEM3D_PADDED : 0, "forces of elements"},
        {&o->force, alone && !sem3d_gpu_gathers(c) ? components * (size_t)c->points : 0, "forces"},
    };
    memcpy(list, made, sizeof made);
}

// Anisotropic media of elements; lists of elements that stand alone: their points, points of sums, colours.
enum { INTS = 4 };

static size_t list_ints(const sem3d_gpu_kind *kind, const sem3d_cfg *c, int which) {
    const size_t all = (size_t)c->elements;
    if (which == 3)
        return c->tensors > 0 ? (size_t)c->solid : 0;
    if (kind->bricks)
        return 0;
    if (which == 0)
        return all * SEM3D_PADDED;
    if (which == 1)
        return sem3d_gpu_gathers(c) ? 2 * (size_t)c->points : 0;
    return sem3d_gpu_gathers(c) || c->sum == SEM3D_ATOMIC ? 0 : all;
}

static int take_lists(sem3d_gpu *o) {
    void *list[INTS] = {&o->at, &o->pair, &o->colour_list, &o->tensor};
    for (int n = 0; n < INTS; n++) {
        const size_t count = list_ints(o->kind, o->cfg, n);
        if (count > 0)
            TRY(gpu_alloc(&o->queue, list[n], count, sizeof(int), "points of elements"));
    }
    return 0;
}

static void set_phase(sem3d_gpu *o, int fluid) {
    const sem3d_cfg *c = o->cfg;
    const sem3d_shape shape = sem3d_gpu_shape(o->kind, c, 0);
    const size_t before = fluid ? (size_t)c->solid : 0, kept = fluid ? (size_t)o->kept[0] : 0;
    sem3d_gpu_phase *ph = &o->phase[fluid];
    ph->e.n = fluid ? c->elements - c->solid : c->solid;
    ph->e.geometry = o->geometry + kept * sem3d_geometry_size(shape);
    ph->e.medium = o->medium + kept * sem3d_medium_size(c, shape, 0);
    ph->e.mechanisms = fluid ? 0 : c->mechanisms;
    ph->e.shares_by_point = c->shares != 1;
    ph->e.few = c->relaxing == SEM_POINTS ? nullptr : (const float2 *)o->few;
    ph->e.share = fluid ? nullptr : o->share;
    ph->e.memory = fluid ? nullptr : o->memory;
    ph->e.tensor = fluid ? nullptr : o->tensor;
    ph->e.relative = fluid ? nullptr : o->relative;
    ph->points = fluid ? c->points - c->solid_points : c->solid_points;
    for (int n = 0; n < (fluid ? 1 : 3); n++) {
        ph->v[n] = o->fields + (fluid ? 6 * o->field[0] : (size_t)n * o->field[0]);
        ph->u[n] = ph->v[n] + (fluid ? o->field[1] : 3 * o->field[0]);
    }
    ph->gain = o->gain + (fluid ? c->solid_points : 0);
    ph->dt = c->dt;
    ph->at = o->at + before * SEM3D_PADDED;
    ph->force = o->force;
    ph->atomic = c->sum == SEM3D_ATOMIC;
    ph->zero = !o->kind->bricks && c->sum == SEM3D_COLOUR;
    ph->part = o->part;
    ph->stride = (ptrdiff_t)ph->e.n * SEM3D_PADDED;
}

static int make_textures(sem3d_gpu *o, const handle *h) {
    gpu_array list[ARRAYS];
    size_t most = 0;
    list_arrays(o, list);
    const size_t fields = list[0].count, media = list[2].count;
    TRY(gpu_texture_limit(&o->queue, &most));
    REQUIRE(fields <= most && media <= most,
            "variant=%s reads the fields and the medium of %d elements as textures of %zu and %zu numbers, this GPU's "
            "have at most %zu: choose variant=shared or global",
            h->variant->name, o->cfg->elements, fields, media, most);
    TRY(gpu_make_texture(o, o->fields, fields, &o->displacement));
    return gpu_make_texture(o, o->medium, media, &o->media);
}

static int check_size(const sem3d_cfg *c) {
    REQUIRE(c->elements <= INT_MAX / SEM3D_PADDED && 3 * field_step(c, 0) < INT_MAX && 3 * field_step(c, 1) < INT_MAX,
            "%d elements with %d points are more than a GPU variant can count (%d, %d)", c->elements, c->points,
            INT_MAX / SEM3D_PADDED, INT_MAX / 3);
    return 0;
}

// Of bricks of 8 elements as a box has them: 27 x 27 less 7 x 7 x 7 points of 729 are shared, by 2.4 bricks on average;
// patterns as if no two bricks had the same.
static size_t brick_bytes(const sem3d_cfg *c) {
    const size_t bricks = (size_t)c->elements / SEM3D_PATTERN_BRICK + (size_t)c->bricks,
                 outers = bricks * (9 * 9 * 9 - 7 * 7 * 7), components = c->solid > 0 ? 3 : 1;
    return bricks * (sizeof(sem3d_patterned) + 9 * 9 * 9 * sizeof(unsigned)) +
           outers * (sizeof(int) + components * sizeof(float)) + outers / 2 * 3 * sizeof(int) +
           (size_t)c->elements * SEM3D_PADDED * sizeof(uint16_t);
}

// Device memory beside the numbers of elements.
static size_t fixed_need(const kernel_variant *v, const sem3d_cfg *c, const sem3d_counts *n) {
    sem3d_gpu o = {};
    gpu_array list[ARRAYS];
    o.kind = (const sem3d_gpu_kind *)v->kind;
    o.cfg = c;
    list_arrays(&o, list);
    size_t bytes = gpu_array_bytes(list, ARRAYS) + sizeof(gpu_step_sources);
    for (int k = 0; k < INTS; k++)
        bytes += list_ints(o.kind, c, k) * sizeof(int);
    if (!o.kind->bricks && sem3d_gpu_gathers(c))
        bytes += (size_t)c->elements * 40 * sizeof(int); // sums of more than two, at edges and corners
    const double sides = 6 * 16 * 1.5 * pow((double)c->elements, 2.0 / 3); // points of all sides of a cube
    bytes += o.kind->bricks ? brick_bytes(c) : 0;
    if (c->piece > 0) // sums of two bricks at half of the sides: lists, buffers for a step and the next
        bytes += (size_t)sides * (2 * sizeof(int) + 6 * sizeof(float));
    bytes += (size_t)sides * (sizeof(sem3d_drag) + 10 * sizeof(float)) + (size_t)c->contacts * 17 * 60;
    bytes +=
        gpu_points_need(n->receivers, n->steps) + (size_t)n->receivers * SEM_POINTS * 2 * 12 + (size_t)n->entries * 60;
    return bytes + (size_t)n->points * (15 + 3 * SEM_POINTS * 12);
}

// Plans which elements stay on the device and which come in packets.
static int plan(const kernel_variant *v, const sem3d_cfg *c, const sem3d_load load[2], sem3d_packets *p) {
    const sem3d_counts none = {};
    REQUIRE(((const sem3d_gpu_kind *)v->kind)->bricks || c->resident != SEM3D_RESIDENT_FIELDS,
            "variant=%s keeps all of a mesh on the GPU: resident=fields is for variant=tuned", v->name);
    sem3d_cfg all = *c;
    all.resident = ((const sem3d_gpu_kind *)v->kind)->bricks ? c->resident : (int)SEM3D_RESIDENT_ALL;
    return sem3d_plan_packets(&all, load, fixed_need(v, c, &none), p);
}

// Device memory of a plan; of the smallest one if there is no room for any.
static size_t device_need(const kernel_variant *v, const sem3d_cfg *c, const sem3d_counts *n) {
    const sem3d_gpu_kind *kind = (const sem3d_gpu_kind *)v->kind;
    sem3d_load load[2];
    sem3d_packets p;
    sem3d_cfg any = *c;
    find_load(kind, c, load);
    any.resident = kind->bricks ? c->resident : (int)SEM3D_RESIDENT_ALL;
    any.room = c->resident == SEM3D_RESIDENT_SOME ? c->room : 0;
    if (sem3d_plan_packets(&any, load, fixed_need(v, c, n), &p)) {
        any.room = 0;
        any.resident = SEM3D_RESIDENT_FIELDS;
        if (sem3d_plan_packets(&any, load, 0, &p))
            return 0;
    }
    return fixed_need(v, c, n) + sem3d_packets_device(&p, load);
}

static size_t need(const kernel_variant *v, const sem3d_cfg *c) {
    sem3d_load load[2];
    sem3d_packets p;
    const sem3d_gpu_kind *kind = (const sem3d_gpu_kind *)v->kind;
    find_load(kind, c, load);
    const size_t pinned =
        c->resident == SEM3D_RESIDENT_ALL || !kind->bricks || plan(v, c, load, &p) ? 0 : sem3d_packets_host(&p, load);
    return sizeof(sem3d_gpu) + GPU_STAGES * (size_t)GPU_STAGE + pinned;
}

static int make(handle *h) {
    const sem3d *fd = (const sem3d *)h;
    gpu_array list[ARRAYS];
    sem3d_load load[2];
    TRY(gpu_frame_make(h, sizeof(sem3d_gpu)));
    sem3d_gpu *o = own(h);
    o->kind = (const sem3d_gpu_kind *)h->variant->kind;
    o->cfg = &fd->cfg;
    o->ways = &fd->pieces;
    for (int fluid = 0; fluid < 2; fluid++)
        o->field[fluid] = field_step(o->cfg, fluid);
    TRY(check_size(o->cfg));
    find_load(o->kind, o->cfg, load);
    TRY(plan(h->variant, o->cfg, load, &o->stream.plan));
    memcpy(o->kept, o->stream.plan.kept, sizeof o->kept);
    TRY(gpu_open(&o->queue));
    CUDA_TRY(cudaDeviceGetAttribute(&o->processors, cudaDevAttrMultiProcessorCount, o->queue.device));
    list_arrays(o, list);
    TRY(gpu_take_arrays(&o->queue, list, ARRAYS));
    TRY(take_lists(o));
    TRY(sem3d_gpu_stream_make(o, load));
    TRY(gpu_alloc(&o->queue, &o->step_sources, 1, sizeof *o->step_sources, "the step's histories"));
    for (int fluid = 0; fluid < 2; fluid++)
        set_phase(o, fluid);
    return o->kind->textures ? make_textures(o, h) : 0;
}

// --- fields --------------------------------------------------------------------------------------------------------

static float *field_of(const handle *h, int field, int *first, int *n) {
    const sem3d_cfg *c = &((const sem3d *)h)->cfg;
    const int fluid = field >= SEM3D_CHI_T;
    *first = fluid ? c->solid_points : 0;
    *n = fluid ? c->points - c->solid_points : c->solid_points;
    return own(h)->fields + (sem3d_gpu_first(own(h), field) + *first);
}

static int get(sem3d *fd, int field, float *out) {
    int first, n;
    float *host = nullptr;
    const float *at = field_of(&fd->h, field, &first, &n);
    TRY(host_alloc(&fd->h.memory, &host, (size_t)n, sizeof(float), "a field"));
    const int rc = gpu_download(gpu_queue_of(&fd->h), host, at, (size_t)n * sizeof(float));
    for (int p = 0; p < n && rc == 0; p++)
        out[p] = host[fd->order.place[first + p] - first];
    host_release(&fd->h.memory, &host);
    return rc;
}

static int set(handle *h, int field, const float *in) {
    const sem3d *fd = (const sem3d *)h;
    int first, n;
    float *host = nullptr, *at = field_of(h, field, &first, &n);
    TRY(host_alloc(&h->memory, &host, (size_t)n, sizeof(float), "a field"));
    for (int p = 0; p < n; p++)
        host[fd->order.place[first + p] - first] = in[p];
    const int rc = gpu_upload(gpu_queue_of(h), at, host, (size_t)n * sizeof(float));
    host_release(&h->memory, &host);
    return rc;
}

static int state(handle *h, state_part part[HANDLE_PARTS]) {
    sem3d_gpu *o = own(h);
    const sem3d_cfg *c = o->cfg;
    const size_t memory = memory_size(c), kept = (size_t)o->kept[0];
    const struct {
        float *at;
        size_t count;
    } pieces[] = {{o->fields, 6 * o->field[0]},
                  {o->phase[1].v[0], fluid_points(c)},
                  {o->phase[1].u[0], fluid_points(c)},
                  {o->memory, kept * memory},
                  {o->stream.memory, ((size_t)c->solid - kept) * memory},
                  {o->map.peak, 3 * (size_t)o->map.n}};
    int parts = 0;
    for (const auto &p : pieces)
        if (p.count > 0)
            part[parts++] = {p.at, p.count, 1, (ptrdiff_t)p.count};
    return parts;
}

static int reset(handle *h) {
    sem3d_gpu *o = own(h);
    state_part part[HANDLE_PARTS];
    TRY(gpu_restart(&o->queue));
    const int parts = state(h, part);
    for (int p = 0; p < parts; p++)
        TRY(gpu_clear(&o->queue, part[p].at, part[p].width * part[p].rows, sizeof(float)));
    return o->force == nullptr ? 0
                               : gpu_clear(&o->queue, o->force,
                                           (size_t)(o->cfg->solid > 0 ? 3 : 1) * (size_t)o->cfg->points, sizeof(float));
}

// --- time ----------------------------------------------------------------------------------------------------------

static int forces(sem3d_gpu *o, int fluid) {
    const sem3d_gpu_phase *ph = &o->phase[fluid];
    if (o->stream.n > 0)
        return sem3d_gpu_stream_forces(o, fluid);
    if (ph->force == nullptr || ph->atomic)
        return o->kind->forces(o, ph, fluid, nullptr, ph->e.n);
    const int *list = o->colour_list + (fluid ? o->cfg->solid : 0), *first = o->colour_first[fluid];
    for (int c = 0; c < o->colours[fluid]; c++)
        TRY(o->kind->forces(o, ph, fluid, list + first[c], first[c + 1] - first[c]));
    return 0;
}

static int step(void *self) {
    sem3d_gpu *o = (sem3d_gpu *)self;
    TRY(gpu_tick(&o->queue, o->step_sources));
    for (int fluid = 1; fluid >= 0; fluid--) {
        if (o->phase[fluid].e.n == 0)
            continue;
        TRY(o->link.open ? sem3d_gpu_swapped_forces(o, fluid) : forces(o, fluid));
        TRY(sem3d_gpu_sums(o, fluid));
        TRY(sem3d_gpu_move_specials(o, fluid));
    }
    return sem3d_gpu_end_step(o);
}

// Rows of |v|, then of |dchi/dt| as a velocity; zeros up to whole rows.
static gpu_plane velocities_of(const handle *h) {
    const sem3d *fd = (const sem3d *)h;
    const sem3d_gpu *o = own(h);
    gpu_plane p = {o->fields, ROW, ROW, (int)(3 * o->field[0] / ROW)};
    p.beside = o->phase[1].v[0];
    p.beside_rows = (int)(whole_rows(fluid_points(o->cfg)) / ROW);
    p.beside_by = fd->loudness;
    return p;
}

static void place_of(const handle *h, int column, int row, int place[3]) {
    const sem3d *fd = (const sem3d *)h;
    const sem3d_gpu *o = own(h);
    const long solid_rows = (long)(3 * o->field[0] / ROW), m = (long)row * ROW + column;
    const long point = row < solid_rows ? m % (long)o->field[0] : m - solid_rows * ROW + fd->cfg.solid_points;
    place[0] = point < fd->cfg.points ? fd->order.point[point] : 0;
    place[1] = place[2] = 0;
}

static int begin(handle *h, int it, int n) {
    const sem3d_gpu *o = own(h);
    const source_histories *q = &h->histories;
    TRY(gpu_frame_begin(h, it, n));
    return gpu_set_step_sources(gpu_queue_of(h), o->step_sources, q->first, q->n > 0 && o->q != nullptr ? q->steps : 0,
                                q->silent);
}

static int timestep(handle *h, int it, int n, float *) {
    sem3d_gpu *o = own(h);
    TRY(sem3d_gpu_check_link(o));
    TRY(begin(h, it, n));
    if (o->stream.n == 0) {
        TRY(gpu_repeat(&o->queue, n, step, o));
    } else { // three queues, each ahead of the others as it can be: no graph of some steps
        TRY(sem3d_gpu_stream_begin(o));
        for (int s = 0; s < n; s++) {
            o->stream.measures = s == n - 1 && o->stream.chunks == 3;
            TRY(step(o));
        }
        TRY(sem3d_gpu_stream_end(o));
    }
    const gpu_plane velocities = velocities_of(h);
    return gpu_end(&o->queue, &velocities);
}

// A part of a step; the first one begins it.
static int part(sem3d *fd, int it, int fluid, int number, float *) {
    sem3d_gpu *o = own(&fd->h);
    if (fluid && number == SEM3D_RIM) {
        TRY(begin(&fd->h, it, 1));
        TRY(gpu_tick(&o->queue, o->step_sources));
    }
    if (number != SEM3D_SHARED)
        return sem3d_gpu_part_forces(o, fluid, number);
    if (o->phase[fluid].e.n > 0) {
        TRY(sem3d_gpu_sums(o, fluid));
        TRY(sem3d_gpu_move_specials(o, fluid));
    }
    return fluid ? 0 : sem3d_gpu_end_step(o);
}

static int maxabs(handle *h, float *value, int place[3]) {
    const gpu_plane velocities = velocities_of(h);
    int row, column;
    place[0] = place[1] = place[2] = *value = 0;
    if (!h->has_model)
        return 0;
    TRY(gpu_largest(gpu_queue_of(h), &velocities, value, &column, &row));
    place_of(h, column, row, place);
    return 0;
}

// Steps in parts are no chunks of the queue: then there is nothing to look up.
static int peak(handle *h, float *value, int place[3]) {
    int row, column;
    TRY(sem3d_gpu_check_link(own(h)));
    if (own(h)->ways->ways > 0 && own(h)->link.open == 0)
        return maxabs(h, value, place);
    TRY(gpu_newest(gpu_queue_of(h), ROW, value, &column, &row));
    if (h->has_model)
        place_of(h, column, row, place);
    return 0;
}

// --- points --------------------------------------------------------------------------------------------------------

static int source(handle *h) { return h->has_model ? sem3d_gpu_put_specials((sem3d *)h) : 0; }

static int histories(handle *h) { return sem3d_gpu_put_histories(own(h), &h->histories); }

static int receivers(handle *h) { return sem3d_gpu_put_receivers((sem3d *)h); }

static int watch(sem3d *fd) { return sem3d_gpu_put_map(fd); }

static int map(sem3d *fd, float *out) {
    const sem3d_gpu_map *m = &own(&fd->h)->map;
    REQUIRE(m->n == fd->map.n, "the map has %d points, but %d on the GPU: give them again", fd->map.n, m->n);
    return gpu_download(gpu_queue_of(&fd->h), out, m->peak, 3 * (size_t)m->n * sizeof(float));
}

static void release(handle *h) {
    if (h->own != nullptr)
        sem3d_gpu_stream_free(own(h));
    gpu_frame_verbs.release(h);
}

static frame_verbs make_frame() {
    frame_verbs v = gpu_frame_verbs;
    v.release = release;
    v.device = sem3d_gpu_stream_device;
    return v;
}

static const frame_verbs frame = make_frame();

#define VERBS                                                                                                          \
    .common = {.frame = &frame,                                                                                        \
               .make = make,                                                                                           \
               .set = set,                                                                                             \
               .maxabs = maxabs,                                                                                       \
               .reset = reset,                                                                                         \
               .state = state,                                                                                         \
               .timestep = timestep,                                                                                   \
               .source = source,                                                                                       \
               .histories = histories,                                                                                 \
               .receivers = receivers,                                                                                 \
               .peak = peak},                                                                                          \
    .elements = sem3d_gpu_elements_are, .quality = sem3d_gpu_quality, .sides = sem3d_gpu_sides_are, .get = get,        \
    .watch = watch, .map = map, .need = need

#define MORE                                                                                                           \
    .part = part, .give = sem3d_gpu_give, .take = sem3d_gpu_take, .device = device_need, .link = &sem3d_gpu_link_verbs

const sem3d_verbs sem3d_gpu_verbs = {VERBS, .most = 0, .apart = 1, MORE};
const sem3d_verbs sem3d_gpu_brick_verbs = {VERBS, .most = SEM3D_PATTERN_BRICK, .apart = SEM3D_PATTERN_BRICK, MORE};
