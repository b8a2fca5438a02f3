// Memory and the order of a step of the GPU variants of the 3D time loop; see fd3d_gpu.h.
#include "fd3d_gpu.h"

#include <climits>
#include <cstdio>
#include <cstring>

enum { LINE = 32, TEXTURE = 128 }; // floats: rows and textures begin at multiples of 128 and 512 bytes
enum { VECTOR = 2, MEDIA = 5, ONE_WAY_FIELDS = 6 };

int fd3d_gpu_enter(fd3d *fd) { return gpu_enter(&fd3d_gpu_own(fd)->queue); }

int fd3d_gpu_count(fd3d *fd, int rc) {
    fd3d_gpu *o = fd3d_gpu_own(fd);
    const size_t now = o->queue.pool.bytes + o->queue.pool.pinned_bytes;
    fd->bytes += now - o->counted;
    o->counted = now;
    return rc;
}

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

// How cells in layers are numbered. Along x no vector may hold cells of both: where one would, all cells have numbers.
static void number_slabs(fd3d_gpu_grid *g) {
    for (int a = 0; a < 3; a++) {
        const int n = cells_of(*g, a), low = a == 0 ? up(g->low[a]) : g->low[a],
                  high = a == 0 ? down(g->high[a]) : g->high[a], end = a == 0 ? up(n) : n;
        g->shift[a] = high >= low ? high - low : 0;
        g->deep[a] = g->high[a] == n && high >= low ? low : end - g->shift[a];
    }
}

// All that follows from the configuration alone.
static void shape(fd3d_gpu *o, const fd3d_cfg *c) {
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
    g->ratio[0] = (float)((double)c->d[2] / c->d[0]);
    g->ratio[1] = (float)((double)c->d[2] / c->d[1]);
    memcpy(g->w, c->w, sizeof(float) * (size_t)c->half_length);
    g->free_top = c->side[4] == FD3D_FREE;
    o->before_count = c->side[5] == FD3D_ONE_WAY ? ONE_WAY_FIELDS * (size_t)g->nx * (size_t)g->ny : 0;
    memcpy(o->shape, o->kind->shape, sizeof o->shape);
}

struct array {
    float **place;
    size_t count;
    const char *what;
};

enum { ARRAYS = 9 };

size_t fd3d_gpu_memory_count(const fd3d_gpu *o) {
    return o->cfg->anelastic ? (size_t)(o->kind->memory > 0 ? o->kind->memory : (int)FD3D_STRESSES) * o->count : 0;
}

// All device memory of the grid; count 0: not needed.
static void list_arrays(fd3d_gpu *o, array list[ARRAYS]) {
    const fd3d_gpu_grid *g = &o->grid;
    const size_t around = (size_t)g->nx + (size_t)g->ny + (size_t)g->nz;
    const int anelastic = o->cfg->anelastic;
    const array all[ARRAYS] = {
        {&o->fields, FD3D_FIELDS * o->count, "velocities and stresses"},
        {&o->memory, fd3d_gpu_memory_count(o), "memory variables"},
        {&o->medium, (anelastic ? MEDIA : 3) * o->count, "the medium"},
        {&o->psi, o->psi_count, "memory variables of the absorbing layers"},
        {&o->profiles, 6 * around, "layer profiles"},
        {&o->sponges, around, "sponge"},
        {&o->before, o->before_count, "the one-way bottom"},
        {&o->one_way, o->before_count / 3, "the one-way bottom"},
        {&o->buffer, FD3D_GPU_BUFFER, "transfers"},
    };
    memcpy(list, all, sizeof all);
}

// Velocities are in their first set.
void fd3d_gpu_set_pointers(fd3d_gpu *o) {
    fd3d_gpu_grid *g = &o->grid;
    const float **medium[MEDIA] = {&g->m.rho, &g->m.lambda, &g->m.imu, &g->m.qp, &g->m.qs};
    const int anelastic = o->cfg->anelastic;
    for (int f = 0; f < FD3D_FIELDS; f++)
        g->f[f] = o->fields + f * o->count + o->origin;
    for (int f = 0; f < FD3D_STRESSES && anelastic; f++)
        g->r[f] = o->kind->memory > 0 ? nullptr : o->memory + f * o->count + o->origin;
    for (int h = 0; h < 2 && anelastic; h++)
        g->packed[h] = o->kind->memory > 0 ? (uint2 *)o->memory + h * o->count + o->origin : nullptr;
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
static int make_textures(fd3d_gpu *o) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    size_t most = 0;
    CUDA_TRY(cudaDeviceGetTexture1DLinearMaxWidth(&most, &format, o->queue.device));
    REQUIRE(o->count <= most,
            "variant=%s reads the medium of %d x %d x %d cells as textures of %zu elements, this GPU's have at most "
            "%zu: choose variant=shared or global",
            o->kind->name, o->grid.nx, o->grid.ny, o->grid.nz, o->count, most);
    o->grid.texture_origin = (int)o->origin;
    for (int m = 0; m < (o->cfg->anelastic ? MEDIA : 3); m++) {
        cudaResourceDesc memory = {};
        cudaTextureDesc reading = {};
        memory.resType = cudaResourceTypeLinear;
        memory.res.linear.devPtr = o->medium + m * o->count;
        memory.res.linear.desc = format;
        memory.res.linear.sizeInBytes = o->count * sizeof(float);
        reading.readMode = cudaReadModeElementType;
        CUDA_TRY(cudaCreateTextureObject(&o->grid.texture[m], &memory, &reading, nullptr));
    }
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

static int make(fd3d_gpu *o) {
    array list[ARRAYS];
    TRY(check_size(o));
    TRY(gpu_open(&o->queue));
    list_arrays(o, list);
    for (const array &a : list)
        if (a.count > 0)
            TRY(gpu_alloc(&o->queue, a.place, a.count, sizeof(float), a.what));
    TRY(gpu_alloc(&o->queue, &o->step_sources, 1, sizeof *o->step_sources, "the step's histories"));
    fd3d_gpu_set_pointers(o);
    if (o->kind->textures)
        TRY(make_textures(o));
    fd3d_gpu_plan(o);
    return 0;
}

int fd3d_gpu_make(fd3d *fd, const fd3d_gpu_kind *kind) {
    TRY(fd3d_alloc(fd, &fd->own, 1, sizeof(fd3d_gpu), "the GPU's grid"));
    fd3d_gpu *o = fd3d_gpu_own(fd);
    o->kind = kind;
    shape(o, &fd->cfg);
    return fd3d_gpu_count(fd, make(o));
}

void fd3d_gpu_release(fd3d *fd) {
    fd3d_gpu *o = fd3d_gpu_own(fd);
    if (o == nullptr)
        return;
    for (cudaTextureObject_t t : o->grid.texture)
        if (t != 0 && cudaSetDevice(o->queue.device) == cudaSuccess) {
            cudaStreamSynchronize(o->queue.stream); // it may still be read
            cudaDestroyTextureObject(t);
        }
    cudaGetLastError();
    gpu_close(&o->queue);
    fd3d_gpu_count(fd, 0);
    fd3d_release(fd, &fd->own);
}

int fd3d_gpu_need(const fd3d_gpu_kind *kind, const fd3d_cfg *cfg, const fd3d_counts *counts, size_t *host,
                  size_t *device) {
    fd3d_gpu o = {};
    array list[ARRAYS];
    o.kind = kind;
    shape(&o, cfg);
    TRY(check_size(&o));
    list_arrays(&o, list);
    *device = fd3d_gpu_points_need(counts) + sizeof(fd3d_gpu_step_sources);
    for (const array &a : list)
        *device += a.count * sizeof(float);
    *host = sizeof(fd3d) + sizeof(fd3d_gpu) + GPU_STAGES * (size_t)GPU_STAGE + fd3d_map_bytes(counts) +
            counts->entries * (4 * sizeof(int) + 2 * sizeof(float)) +
            counts->receivers * GPU_SAMPLE_CELLS * (4 * sizeof(int) + sizeof(float));
    return 0;
}

int fd3d_gpu_tune(fd3d *fd, const char *, int bx, int by, int bz) {
    fd3d_gpu *o = fd3d_gpu_own(fd);
    const int asked[3] = {bx, by, bz};
    int now[3];
    for (int a = 0; a < 3; a++)
        now[a] = asked[a] > 0 ? asked[a] : o->kind->shape[a];
    if (o->kind->marches) {
        REQUIRE(now[0] == o->kind->shape[0] && now[1] == o->kind->shape[1] && now[2] <= 4096,
                "blocks of %d x %d x %d cells: variant=%s has %d x %d, and at most 4096 along z", now[0], now[1],
                now[2], o->kind->name, o->kind->shape[0], o->kind->shape[1]);
    } else {
        const long threads = (long)now[0] * now[1] * now[2];
        REQUIRE(threads <= FD3D_GPU_THREADS && threads % 32 == 0 && now[2] <= 64,
                "blocks of %d x %d x %d cells have %ld threads: must be a multiple of 32, at most %d, and at most 64 "
                "along z",
                now[0], now[1], now[2], threads, FD3D_GPU_THREADS);
    }
    TRY(fd3d_gpu_enter(fd));
    memcpy(o->shape, now, sizeof now);
    fd3d_gpu_plan(o);
    gpu_forget_graphs(&o->queue);
    return 0;
}

// --- source and receivers ------------------------------------------------------------------------------------------

int fd3d_gpu_source(fd3d *fd) {
    TRY(fd3d_gpu_enter(fd));
    TRY(fd3d_gpu_count(fd, fd3d_gpu_put_source(fd3d_gpu_own(fd), fd)));
    return fd3d_gpu_core_plan(fd3d_gpu_own(fd), fd, fd3d_gpu_own(fd)->core.rock);
}

int fd3d_gpu_histories(fd3d *fd) {
    TRY(fd3d_gpu_enter(fd));
    return fd3d_gpu_count(fd, fd3d_gpu_put_histories(fd3d_gpu_own(fd), fd));
}

int fd3d_gpu_receivers(fd3d *fd) {
    TRY(fd3d_gpu_enter(fd));
    TRY(fd3d_gpu_count(fd, fd3d_gpu_put_receivers(fd3d_gpu_own(fd), fd)));
    return fd3d_gpu_core_plan(fd3d_gpu_own(fd), fd, fd3d_gpu_own(fd)->core.rock);
}

int fd3d_gpu_traces(fd3d *fd, int it, int n, float *out) {
    TRY(fd3d_gpu_enter(fd));
    return fd3d_gpu_get_traces(fd3d_gpu_own(fd), fd, it, n, out);
}

int fd3d_gpu_rows(fd3d *fd, int n, float **trace) {
    TRY(fd3d_gpu_enter(fd));
    TRY(fd3d_gpu_count(fd, fd3d_gpu_trace_room(fd3d_gpu_own(fd), fd, n)));
    *trace = fd3d_gpu_own(fd)->points.view.trace;
    return 0;
}

int fd3d_gpu_watch(fd3d *fd, const fd3d_given *given) {
    TRY(fd3d_gpu_enter(fd));
    return fd3d_gpu_count(fd, fd3d_gpu_put_map(fd3d_gpu_own(fd), fd, given));
}

int fd3d_gpu_map(fd3d *fd, float *out) {
    TRY(fd3d_gpu_enter(fd));
    const fd3d_gpu_watched *m = &fd3d_gpu_own(fd)->map;
    REQUIRE(m->n == fd->map.n, "the map has %d points, but %d on the GPU: give them again", fd->map.n, m->n);
    return gpu_download(&fd3d_gpu_own(fd)->queue, out, m->peak, 3 * (size_t)m->n * sizeof(float));
}

// --- time ----------------------------------------------------------------------------------------------------------

static int half_step(fd3d_gpu *o, int what, int part) {
    const int length = o->cfg->half_length - 1;
    if (part != FD3D_INNER)
        TRY(fd3d_gpu_edges(o, what));
    TRY(what == 0 ? o->kind->velocity[length](o, part) : o->kind->stress[length](o, part));
    if (o->core.on)
        TRY(what == 0 ? fd3d_gpu_core_turn(o) : o->kind->core(o));
    return fd3d_gpu_inject(o, what, part);
}

static int step(void *self) {
    fd3d_gpu *o = (fd3d_gpu *)self;
    TRY(fd3d_gpu_tick(o));
    TRY(half_step(o, 0, FD3D_ALL));
    TRY(half_step(o, 1, FD3D_ALL));
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

static int begin(fd3d *fd, int it, int n) {
    TRY(fd3d_gpu_enter(fd));
    fd3d_gpu *o = fd3d_gpu_own(fd);
    TRY(fd3d_gpu_count(fd, fd3d_gpu_trace_room(o, fd, n)));
    TRY(gpu_begin(&o->queue, it, fd->first));
    return fd3d_gpu_set_step_sources(o, fd);
}

int fd3d_gpu_timestep(fd3d *fd, int it, int n, float *) {
    fd3d_gpu *o = fd3d_gpu_own(fd);
    TRY(begin(fd, it, n));
    TRY(fd3d_gpu_core_begin(o));
    TRY(gpu_repeat(&o->queue, n, step, o));
    const gpu_plane velocities = velocities_of(o);
    return gpu_end(&o->queue, &velocities);
}

// The first row of the traces is known when the first step ends: fd->first may still be that of a shot before.
int fd3d_gpu_velocity(fd3d *fd, int it, int part) {
    fd3d_gpu *o = fd3d_gpu_own(fd);
    if (fd->steps == 0)
        fd->first = it;
    if (part == FD3D_INNER) {
        TRY(fd3d_gpu_enter(fd));
    } else {
        TRY(begin(fd, it, 1));
        TRY(fd3d_gpu_tick(o));
    }
    return half_step(o, 0, part);
}

int fd3d_gpu_stress(fd3d *fd, int, int part, float *) {
    TRY(fd3d_gpu_enter(fd));
    TRY(half_step(fd3d_gpu_own(fd), 1, part));
    return part == FD3D_RIM ? 0 : fd3d_gpu_end_step(fd3d_gpu_own(fd));
}

int fd3d_gpu_pending(fd3d *fd, int most) {
    TRY(fd3d_gpu_enter(fd));
    return gpu_pending(&fd3d_gpu_own(fd)->queue, most);
}

int fd3d_gpu_maxabs(fd3d *fd, float *value, int place[3]) {
    TRY(fd3d_gpu_enter(fd));
    const gpu_plane velocities = velocities_of(fd3d_gpu_own(fd));
    int row;
    TRY(gpu_largest(&fd3d_gpu_own(fd)->queue, &velocities, value, &place[0], &row));
    place_of(fd3d_gpu_own(fd), row, place);
    return 0;
}

// Steps in halves are no chunks of the queue: then there is nothing to look up.
int fd3d_gpu_peak(fd3d *fd, float *value, int place[3]) {
    for (int side : fd->cfg.side)
        if (side == FD3D_NEIGHBOUR)
            return fd3d_gpu_maxabs(fd, value, place);
    TRY(fd3d_gpu_enter(fd));
    int row;
    TRY(gpu_newest(&fd3d_gpu_own(fd)->queue, fd3d_gpu_own(fd)->grid.nx, value, &place[0], &row));
    place_of(fd3d_gpu_own(fd), row, place);
    return 0;
}

// --- for the record -------------------------------------------------------------------------------------------------

void fd3d_gpu_device(fd3d *fd, char *text, size_t length) {
    const fd3d_gpu *o = fd3d_gpu_own(fd);
    cudaDeviceProp properties;
    text[0] = 0;
    if (cudaGetDeviceProperties(&properties, o->queue.device) != cudaSuccess) {
        cudaGetLastError();
        return;
    }
    const int written =
        snprintf(text, length, "%s, blocks %d x %d x %d", properties.name, o->shape[0], o->shape[1], o->shape[2]);
    const int *lo = o->core.box.lo, *hi = o->core.box.hi;
    if (o->core.on && (size_t)written < length)
        snprintf(text + written, length - (size_t)written, ", core of %d x %d x %d", hi[0] - lo[0], hi[1] - lo[1],
                 hi[2] - lo[2]);
}
