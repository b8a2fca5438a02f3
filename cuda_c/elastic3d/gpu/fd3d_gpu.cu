// Memory and the order of a step of the GPU variants of the 3D time loop; see fd3d_gpu.h.
#include "fd3d_gpu.h"

#include <climits>
#include <cstdio>
#include <cstring>

enum { LINE = 32, TEXTURE = 128 }; // floats: rows and textures begin at multiples of 128 and 512 bytes
enum { VECTOR = 2, MEDIA = 5, ONE_WAY_FIELDS = 6 };

// --- new and free --------------------------------------------------------------------------------------------------

static int cells_of(const fd3d_gpu_grid &g, int a) { return a == 0 ? g.nx : a == 1 ? g.ny : g.nz; }

// Numbers in a slab of memory variables across axis a.
static size_t slab_count(const fd3d_gpu_grid &g, int a) {
    const size_t deep = (size_t)g.deep[a];
    const size_t n = deep * (a == 0 ? (size_t)g.ny * (size_t)g.nz : (size_t)g.y * (size_t)(a == 1 ? g.nz : g.ny));
    return (n + LINE - 1) / LINE * LINE;
}

static int down(int n) { return n / VECTOR * VECTOR; }
static int up(int n) { return down(n + VECTOR - 1); }

// Numbers cells in layers. Along x no vector may hold cells of both: where one would, all cells have numbers.
static void number_slabs(fd3d_gpu_grid *g) {
    for (int a = 0; a < 3; a++) {
        const int n = cells_of(*g, a), low = a == 0 ? up(g->low[a]) : g->low[a],
                  high = a == 0 ? down(g->high[a]) : g->high[a], end = a == 0 ? up(n) : n;
        g->shift[a] = high >= low ? high - low : 0;
        g->deep[a] = g->high[a] == n && high >= low ? low : end - g->shift[a];
    }
}

// All that follows from the configuration alone.
static void set_sizes(fd3d_gpu *o, const fd3d_cfg *c) {
    fd3d_gpu_grid *g = &o->grid;
    const int frame = c->half_length;
    o->cfg = c;
    g->nx = c->n[0];
    g->ny = c->n[1];
    g->nz = c->n[2];
    g->y = ((ptrdiff_t)g->nx + 2 * frame + LINE - 1) / LINE * LINE;
    g->z = g->y * (g->ny + 2 * frame);
    o->origin = LINE + frame * (g->z + g->y);
    const size_t rows = LINE + (size_t)(g->nz + 2 * frame) * (size_t)g->z;
    o->count = (rows + TEXTURE - 1) / TEXTURE * TEXTURE;
    o->psi_count = 0;
    for (int a = 0; a < 3; a++) {
        g->low[a] = c->layer[2 * a];
        g->high[a] = c->n[a] - c->layer[2 * a + 1];
        g->t[a] = (float)((double)c->dt / c->d[a]);
        g->odd[a] = c->first[a] & 1;
    }
    number_slabs(g);
    for (int a = 0; a < 3; a++)
        o->psi_count += 6 * slab_count(*g, a);
    memcpy(g->w, c->w, sizeof(float) * (size_t)c->half_length);
    g->top_rows = c->side[4] == FD3D_FREE ? FD3D_TOP_ROWS : 0;
    o->top_count = 3 * (size_t)g->top_rows * (size_t)g->ny * (size_t)g->y;
    fd3d_top_of(c, &o->top);
    o->before_count = c->side[5] == FD3D_ONE_WAY ? ONE_WAY_FIELDS * (size_t)g->nx * (size_t)g->ny : 0;
    memcpy(o->block, o->kind->shape, sizeof o->block);
}

enum { ARRAYS = 10 };

size_t fd3d_gpu_memory_count(const fd3d_gpu *o) {
    const size_t one = o->kind->memory > 0 ? (size_t)o->kind->memory : (size_t)FD3D_STRESSES;
    const size_t numbers[] = {0, one, (size_t)FD3D_TOGETHER * FD3D_STRESSES}; // of a cell
    return numbers[o->cfg->anelastic] * o->count;
}

// All device memory of the grid.
static void list_arrays(fd3d_gpu *o, gpu_array list[ARRAYS]) {
    const fd3d_gpu_grid *g = &o->grid;
    const size_t around = (size_t)g->nx + (size_t)g->ny + (size_t)g->nz;
    const int anelastic = o->cfg->anelastic;
    const gpu_array all[ARRAYS] = {
        {&o->fields, FD3D_FIELDS * o->count, "velocities and stresses"},
        {&o->memory, fd3d_gpu_memory_count(o), "memory variables"},
        {&o->medium, (anelastic ? MEDIA : 3) * o->count, "the medium"},
        {&o->psi, o->psi_count, "memory variables of the absorbing layers"},
        {&o->profiles, 6 * around, "layer profiles"},
        {&o->sponges, around, "sponge"},
        {&o->before, o->before_count, "the one-way bottom"},
        {&o->one_way, o->before_count / 3, "the one-way bottom"},
        {&o->grid.top_d, o->top_count, "the free surface"},
        {&o->buffer, FD3D_GPU_BUFFER, "transfers"},
    };
    memcpy(list, all, sizeof all);
}

// Velocities are in their first set.
void fd3d_gpu_set_pointers(fd3d_gpu *o) {
    fd3d_gpu_grid *g = &o->grid;
    const float **medium[MEDIA] = {&g->m.rho, &g->m.lambda, &g->m.imu, &g->m.qp, &g->m.qs};
    const int anelastic = o->cfg->anelastic, packed = anelastic == FD3D_ONE && o->kind->memory > 0;
    g->next_r = (ptrdiff_t)(FD3D_STRESSES * o->count);
    for (int f = 0; f < FD3D_FIELDS; f++)
        g->f[f] = o->fields + f * o->count + o->origin;
    for (int f = 0; f < FD3D_STRESSES && anelastic; f++)
        g->r[f] = packed ? nullptr : o->memory + f * o->count + o->origin;
    for (int h = 0; h < 2 && anelastic; h++)
        g->packed[h] = packed ? (uint2 *)o->memory + h * o->count + o->origin : nullptr;
    for (int m = 0; m < (anelastic ? MEDIA : 3); m++)
        *medium[m] = o->medium + m * o->count + o->origin;
    for (int f = 0; f < 3; f++) {
        g->next_v[f] = o->core.on ? o->core.v + f * o->count + o->origin : g->f[f];
        g->a[f] = o->core.on ? o->core.a + f * o->count + o->origin : nullptr;
    }
    const float *profile = o->profiles;
    float *psi = o->psi;
    for (int a = 0; a < 3; a++) {
        g->profile[a] = profile;
        profile += 6 * cells_of(*g, a);
        for (int n = 0; n < 6; n++, psi += slab_count(*g, a))
            g->psi[n / 3][a][n % 3] = psi;
    }
}

// Arrays follow each other, and textures begin at multiples of TEXTURE numbers.
static int make_textures(fd3d_gpu *o, const char *variant) {
    size_t most = 0;
    TRY(gpu_texture_limit(&o->queue, &most));
    REQUIRE(o->count <= most,
            "variant=%s reads the medium of %d x %d x %d cells as textures of %zu elements, this GPU's have at most "
            "%zu: choose variant=shared or global",
            variant, o->grid.nx, o->grid.ny, o->grid.nz, o->count, most);
    o->grid.texture_origin = (int)o->origin;
    for (int m = 0; m < (o->cfg->anelastic ? MEDIA : 3); m++)
        TRY(gpu_make_texture(o, o->medium + m * o->count, o->count, &o->grid.texture[m]));
    return 0;
}

// A cell's number in a field and in the three velocities, blocks along y and z: each has its largest.
static int check_size(const fd3d_gpu *o) {
    const fd3d_gpu_grid *g = &o->grid;
    const unsigned long long cells = (unsigned long long)g->nx * (unsigned)g->ny * (unsigned)g->nz;
    REQUIRE(o->count < INT_MAX && 3 * cells < 1ull << GPU_INDEX_BITS,
            "%d x %d x %d cells are more than a GPU variant can count (%.1e with the frame): divide the grid among "
            "more ranks",
            g->nx, g->ny, g->nz, (double)INT_MAX);
    REQUIRE(g->ny <= 65535 && g->nz <= 65535, "%d x %d x %d cells: a GPU variant has at most 65535 along y and z",
            g->nx, g->ny, g->nz);
    return 0;
}

static int make(handle *h) {
    gpu_array list[ARRAYS];
    TRY(gpu_frame_make(h, sizeof(fd3d_gpu)));
    fd3d_gpu *o = fd3d_gpu_own(h);
    o->kind = (const fd3d_gpu_kind *)h->variant->kind;
    set_sizes(o, &((fd3d *)h)->cfg);
    TRY(check_size(o));
    TRY(gpu_open(&o->queue));
    list_arrays(o, list);
    TRY(gpu_take_arrays(&o->queue, list, ARRAYS));
    TRY(gpu_alloc(&o->queue, &o->step_sources, 1, sizeof *o->step_sources, "the step's histories"));
    fd3d_gpu_set_pointers(o);
    if (o->kind->textures)
        TRY(make_textures(o, h->variant->name));
    fd3d_gpu_plan(o);
    return 0;
}

static int need(const kernel_variant *v, const fd3d_cfg *cfg, const fd3d_counts *counts, size_t *host, size_t *device) {
    fd3d_gpu o = {};
    gpu_array list[ARRAYS];
    size_t beyond[GPU_SIDES];
    o.kind = (const fd3d_gpu_kind *)v->kind;
    set_sizes(&o, cfg);
    TRY(check_size(&o));
    list_arrays(&o, list);
    fd3d_gpu_link_counts(cfg, beyond);
    *device = fd3d_gpu_points_need(counts) + sizeof(gpu_step_sources) + gpu_array_bytes(list, ARRAYS);
    for (size_t count : beyond)
        if (count > 0) {
            *device += gpu_link_bytes(beyond);
            break;
        }
    *host = sizeof(fd3d) + sizeof(fd3d_gpu) + GPU_STAGES * (size_t)GPU_STAGE + fd3d_map_bytes(counts) +
            counts->entries * (4 * sizeof(int) + 2 * sizeof(float)) +
            counts->receivers * GPU_SAMPLE_CELLS * (4 * sizeof(int) + sizeof(float));
    return 0;
}

static int tune(handle *h, const char *, const int asked[3]) {
    fd3d_gpu *o = fd3d_gpu_own(h);
    int now[3];
    for (int a = 0; a < 3; a++)
        now[a] = asked[a] > 0 ? asked[a] : o->kind->shape[a];
    if (o->kind->marches) {
        REQUIRE(now[0] == o->kind->shape[0] && now[1] == o->kind->shape[1] && now[2] <= 4096,
                "blocks of %d x %d x %d cells: variant=%s has %d x %d, and at most 4096 along z", now[0], now[1],
                now[2], h->variant->name, o->kind->shape[0], o->kind->shape[1]);
    } else {
        const long threads = (long)now[0] * now[1] * now[2];
        REQUIRE(threads <= FD3D_GPU_THREADS && threads % 32 == 0 && now[2] <= 64,
                "blocks of %d x %d x %d cells have %ld threads: must be a multiple of 32, at most %d, and at most 64 "
                "along z",
                now[0], now[1], now[2], threads, FD3D_GPU_THREADS);
    }
    memcpy(o->block, now, sizeof now);
    fd3d_gpu_plan(o);
    gpu_forget_graphs(&o->queue);
    return 0;
}

// --- source and receivers ------------------------------------------------------------------------------------------

static int plan_core(handle *h) { return fd3d_gpu_core_plan(fd3d_gpu_own(h), (fd3d *)h, fd3d_gpu_own(h)->core.rock); }

static int source(handle *h) { return fd3d_gpu_put_source(fd3d_gpu_own(h), (fd3d *)h) || plan_core(h); }

static int histories(handle *h) { return fd3d_gpu_put_histories(fd3d_gpu_own(h), &h->histories); }

static int receivers(handle *h) { return fd3d_gpu_put_receivers(fd3d_gpu_own(h), (fd3d *)h) || plan_core(h); }

static int watch(fd3d *fd, const fd3d_given *given) { return fd3d_gpu_put_map(fd3d_gpu_own(&fd->h), fd, given); }

static int map(fd3d *fd, float *out) {
    const fd3d_gpu_watched *m = &fd3d_gpu_own(&fd->h)->map;
    REQUIRE(m->n == fd->map.n, "the map has %d points, but %d on the GPU: give them again", fd->map.n, m->n);
    return gpu_download(gpu_queue_of(&fd->h), out, m->peak, 3 * (size_t)m->n * sizeof(float));
}

// --- time ----------------------------------------------------------------------------------------------------------

// Cells of a part, when what stands behind our own sides is there; the core with those that are not the rim.
static int update(fd3d_gpu *o, int what, int part) {
    const int length = o->cfg->half_length - 1;
    const auto stresses = o->cfg->anelastic == FD3D_ALL_TOGETHER ? fd3d_gpu_stress_together : o->kind->stress[length];
    TRY(what == 0 ? o->kind->velocity[length](o, part) : stresses(o, part));
    TRY(fd3d_gpu_inject(o, what, part));
    if (!o->core.on || part == FD3D_RIM)
        return 0;
    return what == 0 ? fd3d_gpu_core_turn(o) : o->kind->core(o) || fd3d_gpu_shake(o);
}

static int half_step(fd3d_gpu *o, int what, int part) {
    if (part != FD3D_INNER)
        TRY(fd3d_gpu_edges(o, what));
    return update(o, what, part);
}

static int step(void *self) {
    fd3d_gpu *o = (fd3d_gpu *)self;
    TRY(gpu_tick(&o->queue, o->step_sources));
    for (int what = 0; what < 2; what++)
        TRY(o->link.open ? fd3d_gpu_half_step_swapped(o, what, update) : half_step(o, what, FD3D_ALL));
    return fd3d_gpu_end_step(o);
}

static gpu_plane velocities_of(const fd3d_gpu *o) {
    const fd3d_gpu_grid *g = &o->grid;
    return {g->f[FD3D_VX], g->y, g->nx, 3 * g->nz * g->ny, g->ny, g->nz, g->z, (ptrdiff_t)o->count};
}

// The number of the row found: of plane and field.
static void place_of(const fd3d_gpu *o, int row, int place[3]) {
    place[1] = row % o->grid.ny;
    place[2] = row / o->grid.ny % o->grid.nz;
}

static int begin(handle *h, int it, int n) {
    const fd3d_gpu *o = fd3d_gpu_own(h);
    const source_histories *q = &h->histories;
    TRY(gpu_frame_begin(h, it, n));
    return o->source.n == 0 ? 0 : gpu_set_step_sources(gpu_queue_of(h), o->step_sources, q->first, q->steps, q->silent);
}

static int timestep(handle *h, int it, int n, float *) {
    fd3d_gpu *o = fd3d_gpu_own(h);
    TRY(gpu_link_check(&o->link));
    TRY(begin(h, it, n));
    TRY(fd3d_gpu_core_begin(o));
    TRY(gpu_repeat(&o->queue, n, step, o));
    const gpu_plane velocities = velocities_of(o);
    return gpu_end(&o->queue, &velocities);
}

// The first row of the traces is known when the first step ends: h->first may still be that of a shot before.
static int velocity(fd3d *fd, int it, int part) {
    fd3d_gpu *o = fd3d_gpu_own(&fd->h);
    if (fd->h.steps == 0)
        fd->h.first = it;
    if (part != FD3D_INNER) {
        TRY(begin(&fd->h, it, 1));
        TRY(fd3d_gpu_core_begin(o));
        TRY(gpu_tick(&o->queue, o->step_sources));
    }
    TRY(half_step(o, 0, part));
    o->core.partly = part == FD3D_RIM;
    return 0;
}

static int stress(fd3d *fd, int, int part, float *) {
    fd3d_gpu *o = fd3d_gpu_own(&fd->h);
    TRY(half_step(o, 1, part));
    return part == FD3D_RIM ? 0 : fd3d_gpu_end_step(o);
}

static int maxabs(handle *h, float *value, int place[3]) {
    const gpu_plane velocities = velocities_of(fd3d_gpu_own(h));
    int row;
    TRY(gpu_largest(gpu_queue_of(h), &velocities, value, &place[0], &row));
    place_of(fd3d_gpu_own(h), row, place);
    return 0;
}

// Steps in halves are no chunks of the queue: then there is nothing to look up.
static int peak(handle *h, float *value, int place[3]) {
    const fd3d_gpu *o = fd3d_gpu_own(h);
    int row;
    TRY(gpu_link_check(&o->link));
    for (int side : o->cfg->side)
        if (side == FD3D_NEIGHBOUR && o->link.open == 0)
            return maxabs(h, value, place);
    TRY(gpu_newest(gpu_queue_of(h), fd3d_gpu_own(h)->grid.nx, value, &place[0], &row));
    place_of(fd3d_gpu_own(h), row, place);
    return 0;
}

// --- for the record -------------------------------------------------------------------------------------------------

static void device(handle *h, char *text, size_t length) {
    const fd3d_gpu *o = fd3d_gpu_own(h);
    char name[256];
    gpu_device_name(h, name, sizeof name);
    text[0] = 0;
    if (name[0] == 0)
        return;
    const int written = snprintf(text, length, "%s, blocks %d x %d x %d", name, o->block[0], o->block[1], o->block[2]);
    const int *lo = o->core.box.lo, *hi = o->core.box.hi;
    if (o->core.on && (size_t)written < length)
        snprintf(text + written, length - (size_t)written, ", core of %d x %d x %d", hi[0] - lo[0], hi[1] - lo[1],
                 hi[2] - lo[2]);
}

const fd3d_verbs fd3d_gpu_verbs = {
    .common = {.frame = &gpu_frame_verbs,
               .make = make,
               .set = fd3d_gpu_set,
               .maxabs = maxabs,
               .reset = fd3d_gpu_reset,
               .state = fd3d_gpu_state,
               .timestep = timestep,
               .pml = fd3d_gpu_pml,
               .source = source,
               .histories = histories,
               .receivers = receivers,
               .peak = peak,
               .tune = tune,
               .device = device},
    .model = fd3d_gpu_model,
    .quality = fd3d_gpu_quality,
    .sponge = fd3d_gpu_sponge,
    .velocity = velocity,
    .stress = stress,
    .halo = fd3d_gpu_halo,
    .get = fd3d_gpu_get,
    .watch = watch,
    .map = map,
    .need = need,
    .link = &fd3d_gpu_link_verbs,
};
