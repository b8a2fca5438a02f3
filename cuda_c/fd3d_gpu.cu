// Memory, medium, layers, fields and the order of a step of the GPU variants of the 3D time loop; see fd3d_gpu.h.
#include "fd3d_gpu.h"

#include <climits>
#include <cstdio>
#include <cstring>

enum {
    LINE = 32,
    VECTOR = 2,
    TEXTURE = 128,
    BUFFER = 4 << 20,
    MEDIA = 5,
    ONE_WAY_FIELDS = 6
}; // floats (TEXTURE: 512 bytes); arrays

static fd3d_gpu *own(fd3d *fd) { return (fd3d_gpu *)fd->own; }

// Every verb begins here, and ends with count_bytes where it may have taken memory.
static int enter(fd3d *fd) { return fd2d_gpu_enter(&own(fd)->queue); }

static int count_bytes(fd3d *fd, int rc) {
    fd3d_gpu *o = own(fd);
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

static size_t memory_count(const fd3d_gpu *o) {
    return o->cfg->anelastic ? (size_t)(o->kind->memory > 0 ? o->kind->memory : (int)FD3D_STRESSES) * o->count : 0;
}

// All device memory of the grid; count 0: not needed.
static void list_arrays(fd3d_gpu *o, array list[ARRAYS]) {
    const fd3d_gpu_grid *g = &o->grid;
    const size_t around = (size_t)g->nx + (size_t)g->ny + (size_t)g->nz;
    const int anelastic = o->cfg->anelastic;
    const array all[ARRAYS] = {
        {&o->fields, FD3D_FIELDS * o->count, "velocities and stresses"},
        {&o->memory, memory_count(o), "memory variables"},
        {&o->medium, (anelastic ? MEDIA : 3) * o->count, "the medium"},
        {&o->psi, o->psi_count, "memory variables of the absorbing layers"},
        {&o->profiles, 6 * around, "layer profiles"},
        {&o->sponges, around, "sponge"},
        {&o->before, o->before_count, "the one-way bottom"},
        {&o->one_way, o->before_count / 3, "the one-way bottom"},
        {&o->buffer, BUFFER, "transfers"},
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
    REQUIRE(o->count < INT_MAX && 3 * cells < 1ull << FD2D_GPU_INDEX_BITS,
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
    TRY(fd2d_gpu_open(&o->queue));
    list_arrays(o, list);
    for (const array &a : list)
        if (a.count > 0)
            TRY(fd2d_gpu_alloc(&o->queue, a.place, a.count, sizeof(float), a.what));
    TRY(fd2d_gpu_alloc(&o->queue, &o->hour, 1, sizeof *o->hour, "the step's histories"));
    fd3d_gpu_set_pointers(o);
    if (o->kind->textures)
        TRY(make_textures(o));
    fd3d_gpu_plan(o);
    return 0;
}

int fd3d_gpu_make(fd3d *fd, const fd3d_gpu_kind *kind) {
    TRY(fd3d_alloc(fd, &fd->own, 1, sizeof(fd3d_gpu), "the GPU's grid"));
    fd3d_gpu *o = own(fd);
    o->kind = kind;
    shape(o, &fd->cfg);
    return count_bytes(fd, make(o));
}

void fd3d_gpu_release(fd3d *fd) {
    fd3d_gpu *o = own(fd);
    if (o == nullptr)
        return;
    for (cudaTextureObject_t t : o->grid.texture)
        if (t != 0 && cudaSetDevice(o->queue.device) == cudaSuccess) {
            cudaStreamSynchronize(o->queue.stream); // it may still be read
            cudaDestroyTextureObject(t);
        }
    cudaGetLastError();
    fd2d_gpu_close(&o->queue);
    count_bytes(fd, 0);
    fd3d_release(fd, &fd->own);
}

int fd3d_gpu_need(const fd3d_gpu_kind *kind, const fd3d_cfg *cfg, int entries, int receivers, int steps, size_t *host,
                  size_t *device) {
    fd3d_gpu o = {};
    array list[ARRAYS];
    o.kind = kind;
    shape(&o, cfg);
    TRY(check_size(&o));
    list_arrays(&o, list);
    *device = fd3d_gpu_points_need(entries, receivers, steps) + sizeof(fd3d_gpu_hour);
    for (const array &a : list)
        *device += a.count * sizeof(float);
    *device += (size_t)cfg->n[0] * (size_t)cfg->n[1] * sizeof(int); // rows of the map
    *host = sizeof(fd3d) + sizeof(fd3d_gpu) + (size_t)cfg->n[0] * (size_t)cfg->n[1] * sizeof(int) +
            FD2D_GPU_STAGES * (size_t)FD2D_GPU_STAGE + (size_t)entries * (4 * sizeof(int) + 2 * sizeof(float)) +
            (size_t)receivers * FD2D_GPU_SAMPLE_CELLS * (4 * sizeof(int) + sizeof(float));
    return 0;
}

int fd3d_gpu_tune(fd3d *fd, const char *, int bx, int by, int bz) {
    fd3d_gpu *o = own(fd);
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
    TRY(enter(fd));
    memcpy(o->shape, now, sizeof now);
    fd3d_gpu_plan(o);
    fd2d_gpu_forget_graphs(&o->queue);
    return 0;
}

// --- medium and layers ---------------------------------------------------------------------------------------------

// A volume with its ring, in pieces through the buffer.
static int put_volume(fd3d_gpu *o, const float *to, const float *from, fd3d_gpu_way way) {
    const fd3d_gpu_grid *g = &o->grid;
    const int lo[3] = {-1, -1, -1}, hi[3] = {g->nx + 1, g->ny + 1, g->nz + 1};
    const size_t all = ((size_t)g->nx + 2) * ((size_t)g->ny + 2) * ((size_t)g->nz + 2);
    for (size_t done = 0; done < all; done += BUFFER) {
        const size_t count = all - done < (size_t)BUFFER ? all - done : (size_t)BUFFER;
        TRY(fd2d_gpu_upload(&o->queue, o->buffer, from + done, count * sizeof(float)));
        TRY(fd3d_gpu_copy(o, (float *)to, lo, hi, done, count, o->buffer, way));
    }
    return 0;
}

// (c dt - dz)/(c dt + dz) of P, then of S waves, in the last row of each column.
static int put_one_way(fd3d *fd, const float *rho, const float *lambda, const float *mu) {
    fd3d_gpu *o = own(fd);
    const fd3d_gpu_grid *g = &o->grid;
    const size_t wide = (size_t)g->nx + 2, cells = (size_t)g->nx * (size_t)g->ny;
    const double dt = fd->cfg.dt, dz = fd->cfg.d[2];
    float *factor = nullptr;
    TRY(fd3d_alloc(fd, &factor, 2 * cells, sizeof(float), "the one-way bottom"));
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t from = ((size_t)g->nz * ((size_t)g->ny + 2) + (size_t)j + 1) * wide + (size_t)i + 1;
            const size_t to = (size_t)j * (size_t)g->nx + (size_t)i;
            const double r = rho[from], m = mu[from];
            const double cp = r > 0 ? sqrt((lambda[from] + 2 * m) / r) : 0, cs = r > 0 && m > 0 ? sqrt(m / r) : cp;
            factor[to] = (float)((cp * dt - dz) / (cp * dt + dz));
            factor[cells + to] = (float)((cs * dt - dz) / (cs * dt + dz));
        }
    const int rc = fd2d_gpu_upload(&o->queue, o->one_way, factor, 2 * cells * sizeof(float));
    fd3d_release(fd, &factor);
    return rc;
}

int fd3d_gpu_model(fd3d *fd, const float *rho, const float *lambda, const float *mu) {
    TRY(enter(fd));
    fd3d_gpu *o = own(fd);
    TRY(put_volume(o, o->grid.m.rho, rho, FD3D_GPU_IN));
    TRY(put_volume(o, o->grid.m.lambda, lambda, FD3D_GPU_IN));
    TRY(put_volume(o, o->grid.m.imu, mu, FD3D_GPU_INVERTED));
    if (o->before_count > 0)
        TRY(put_one_way(fd, rho, lambda, mu));
    return count_bytes(fd, fd3d_gpu_core_model(o, fd, lambda, mu));
}

// Kernels get the mechanisms by value, and so do graphs.
int fd3d_gpu_quality(fd3d *fd, const float *qp, const float *qs) {
    TRY(enter(fd));
    fd3d_gpu *o = own(fd);
    fd2d_gpu_forget_graphs(&o->queue);
    for (int m = 0; m < FD3D_MECHANISMS; m++) {
        const double e = exp(-(double)fd->cfg.dt / fd->tau[m]);
        o->grid.decay[m] = (float)e;
        o->grid.half[m] = (float)(0.5 * (1 - e));
        for (int p = 0; p < 3; p++)
            o->grid.strength[p][m] = fd->y[p][m];
    }
    TRY(put_volume(o, o->grid.m.qp, qp, FD3D_GPU_IN));
    return put_volume(o, o->grid.m.qs, qs, FD3D_GPU_IN);
}

int fd3d_gpu_pml(fd3d *fd) {
    TRY(enter(fd));
    fd3d_gpu *o = own(fd);
    for (int a = 0; a < 3; a++)
        TRY(fd2d_gpu_upload(&o->queue, (float *)o->grid.profile[a], fd->pml[a],
                            6 * (size_t)fd->cfg.n[a] * sizeof(float)));
    return 0;
}

int fd3d_gpu_sponge(fd3d *fd) {
    TRY(enter(fd));
    fd3d_gpu *o = own(fd);
    float *to = o->sponges;
    fd2d_gpu_forget_graphs(&o->queue);
    for (int a = 0; a < 3; to += fd->cfg.n[a], a++) {
        TRY(fd2d_gpu_upload(&o->queue, to, fd->sponge[a], (size_t)fd->cfg.n[a] * sizeof(float)));
        o->grid.sponge[a] = to;
    }
    return fd3d_gpu_core_plan(o, fd, o->core.rock);
}

// --- source and receivers ------------------------------------------------------------------------------------------

int fd3d_gpu_source(fd3d *fd) {
    TRY(enter(fd));
    TRY(count_bytes(fd, fd3d_gpu_put_source(own(fd), fd)));
    return fd3d_gpu_core_plan(own(fd), fd, own(fd)->core.rock);
}

int fd3d_gpu_histories(fd3d *fd) {
    TRY(enter(fd));
    return count_bytes(fd, fd3d_gpu_put_histories(own(fd), fd));
}

int fd3d_gpu_receivers(fd3d *fd) {
    TRY(enter(fd));
    TRY(count_bytes(fd, fd3d_gpu_put_receivers(own(fd), fd)));
    return fd3d_gpu_core_plan(own(fd), fd, own(fd)->core.rock);
}

int fd3d_gpu_traces(fd3d *fd, int it, int n, float *out) {
    TRY(enter(fd));
    return fd3d_gpu_get_traces(own(fd), fd, it, n, out);
}

int fd3d_gpu_watch(fd3d *fd) {
    TRY(enter(fd));
    fd3d_gpu *o = own(fd);
    fd2d_gpu_forget_graphs(&o->queue);
    TRY(fd2d_gpu_wait(&o->queue)); // what is queued writes the old map
    dm_release(&o->queue.pool, &o->map);
    dm_release(&o->queue.pool, &o->rows);
    o->watched = fd->watched;
    o->map_count = fd->watched < 0 ? 0 : 2 * (size_t)o->grid.nx * (size_t)o->grid.ny;
    if (o->map_count == 0)
        return count_bytes(fd, 0);
    if (fd->watched_rows != NULL) {
        TRY(fd2d_gpu_alloc(&o->queue, &o->rows, o->map_count / 2, sizeof(int), "rows of the map"));
        TRY(fd2d_gpu_upload(&o->queue, o->rows, fd->watched_rows, o->map_count / 2 * sizeof(int)));
    }
    return count_bytes(fd, fd2d_gpu_alloc(&o->queue, &o->map, o->map_count, sizeof(float), "map of ground velocity"));
}

int fd3d_gpu_map(fd3d *fd, float *out) {
    TRY(enter(fd));
    return fd2d_gpu_download(&own(fd)->queue, out, own(fd)->map, own(fd)->map_count * sizeof(float));
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

static fd2d_gpu_plane velocities_of(const fd3d_gpu *o) {
    const fd3d_gpu_grid *g = &o->grid;
    return {g->f[FD3D_VX], g->y, g->nx, 3 * g->nz * g->ny, g->ny, g->nz, g->z, (ptrdiff_t)o->count};
}

// The number of the row found: of plane and field.
static void place_of(const fd3d_gpu *o, int row, int place[3]) {
    place[1] = row % o->grid.ny;
    place[2] = row / o->grid.ny % o->grid.nz;
}

static int begin(fd3d *fd, int it, int n) {
    TRY(enter(fd));
    fd3d_gpu *o = own(fd);
    TRY(count_bytes(fd, fd3d_gpu_trace_room(o, fd, n)));
    TRY(fd2d_gpu_begin(&o->queue, it, fd->first));
    return fd3d_gpu_set_hour(o, fd);
}

int fd3d_gpu_timestep(fd3d *fd, int it, int n, float *) {
    fd3d_gpu *o = own(fd);
    TRY(begin(fd, it, n));
    TRY(fd3d_gpu_core_begin(o));
    TRY(fd2d_gpu_repeat(&o->queue, n, step, o));
    const fd2d_gpu_plane velocities = velocities_of(o);
    return fd2d_gpu_end(&o->queue, &velocities);
}

// The first row of the traces is known when the first step ends: fd->first may still be that of a shot before.
int fd3d_gpu_velocity(fd3d *fd, int it, int part) {
    fd3d_gpu *o = own(fd);
    if (fd->steps == 0)
        fd->first = it;
    if (part == FD3D_INNER) {
        TRY(enter(fd));
    } else {
        TRY(begin(fd, it, 1));
        TRY(fd3d_gpu_tick(o));
    }
    return half_step(o, 0, part);
}

int fd3d_gpu_stress(fd3d *fd, int, int part, float *) {
    TRY(enter(fd));
    TRY(half_step(own(fd), 1, part));
    return part == FD3D_RIM ? 0 : fd3d_gpu_end_step(own(fd));
}

int fd3d_gpu_pending(fd3d *fd, int most) {
    TRY(enter(fd));
    return fd2d_gpu_pending(&own(fd)->queue, most);
}

int fd3d_gpu_maxabs(fd3d *fd, float *value, int place[3]) {
    TRY(enter(fd));
    const fd2d_gpu_plane velocities = velocities_of(own(fd));
    int row;
    TRY(fd2d_gpu_largest(&own(fd)->queue, &velocities, value, &place[0], &row));
    place_of(own(fd), row, place);
    return 0;
}

// Steps in halves are no chunks of the queue: then there is nothing to look up.
int fd3d_gpu_peak(fd3d *fd, float *value, int place[3]) {
    for (int side : fd->cfg.side)
        if (side == FD3D_NEIGHBOUR)
            return fd3d_gpu_maxabs(fd, value, place);
    TRY(enter(fd));
    int row;
    TRY(fd2d_gpu_newest(&own(fd)->queue, own(fd)->grid.nx, value, &place[0], &row));
    place_of(own(fd), row, place);
    return 0;
}

// --- fields --------------------------------------------------------------------------------------------------------

static size_t cells_in(const int lo[3], const int hi[3]) {
    size_t cells = 1;
    for (int a = 0; a < 3; a++)
        cells *= (size_t)(hi[a] - lo[a]);
    return cells;
}

static int get_box(fd3d_gpu *o, int field, const int lo[3], const int hi[3], float *out) {
    const size_t all = cells_in(lo, hi);
    for (size_t done = 0; done < all; done += BUFFER) {
        const size_t count = all - done < (size_t)BUFFER ? all - done : (size_t)BUFFER;
        TRY(fd3d_gpu_copy(o, o->grid.f[field], lo, hi, done, count, o->buffer, FD3D_GPU_OUT));
        TRY(fd2d_gpu_download(&o->queue, out + done, o->buffer, count * sizeof(float)));
    }
    return 0;
}

static int set_box(fd3d_gpu *o, int field, const int lo[3], const int hi[3], const float *in) {
    const size_t all = cells_in(lo, hi);
    for (size_t done = 0; done < all; done += BUFFER) {
        const size_t count = all - done < (size_t)BUFFER ? all - done : (size_t)BUFFER;
        TRY(fd2d_gpu_upload(&o->queue, o->buffer, in + done, count * sizeof(float)));
        TRY(fd3d_gpu_copy(o, o->grid.f[field], lo, hi, done, count, o->buffer, FD3D_GPU_IN));
    }
    return 0;
}

int fd3d_gpu_get(fd3d *fd, int field, const int lo[3], const int hi[3], float *out) {
    TRY(enter(fd));
    return get_box(own(fd), field, lo, hi, out);
}

int fd3d_gpu_set(fd3d *fd, int field, const float *in) {
    TRY(enter(fd));
    const int lo[3] = {0, 0, 0};
    own(fd)->core.ahead = 0;
    return set_box(own(fd), field, lo, fd->cfg.n, in);
}

int fd3d_gpu_halo(fd3d *fd, int what, int side, float *out, const float *in) {
    TRY(enter(fd));
    int lo[3], hi[3], field[3];
    fd3d_halo_box(&fd->cfg, side, out != nullptr, lo, hi);
    fd3d_halo_fields(what, side, field);
    const size_t cells = cells_in(lo, hi);
    for (size_t f = 0; f < 3; f++)
        TRY(out != nullptr ? get_box(own(fd), field[f], lo, hi, out + f * cells)
                           : set_box(own(fd), field[f], lo, hi, in + f * cells));
    return 0;
}

static int clear(fd3d_gpu *o, float *memory, size_t count) {
    if (count > 0)
        CUDA_TRY(cudaMemsetAsync(memory, 0, count * sizeof(float), o->queue.stream));
    return 0;
}

int fd3d_gpu_reset(fd3d *fd) {
    TRY(enter(fd));
    fd3d_gpu *o = own(fd);
    fd3d_part part[FD3D_PARTS];
    TRY(fd2d_gpu_restart(&o->queue));
    TRY(fd3d_gpu_core_reset(o));
    const int parts = fd3d_gpu_state(fd, part);
    for (int p = 0; p < parts; p++)
        TRY(clear(o, part[p].at, part[p].width * part[p].rows));
    return 0;
}

// --- the state -----------------------------------------------------------------------------------------------------

// Fields with their frames, memory variables, what velocities of the core grow by, what a one-way bottom remembers, the
// map.
int fd3d_gpu_state(fd3d *fd, fd3d_part part[FD3D_PARTS]) {
    fd3d_gpu *o = own(fd);
    const struct {
        float *at;
        size_t count;
    } pieces[] = {{o->grid.f[FD3D_VX] - o->origin, 3 * o->count},
                  {o->fields + 3 * o->count, FD3D_STRESSES * o->count},
                  {o->memory, memory_count(o)},
                  {o->core.a, o->core.on ? 3 * o->count : 0},
                  {o->psi, o->psi_count},
                  {o->before, o->before_count},
                  {o->map, o->map_count}};
    int parts = 0;
    for (const auto &p : pieces)
        if (p.count > 0)
            part[parts++] = {p.at, p.count, 1, (ptrdiff_t)p.count};
    return parts;
}

int fd3d_gpu_move(fd3d *fd, const fd3d_part *part, float *host, int in) {
    TRY(enter(fd));
    const size_t bytes = part->width * part->rows * sizeof(float);
    return in ? fd2d_gpu_upload(&own(fd)->queue, part->at, host, bytes)
              : fd2d_gpu_download(&own(fd)->queue, host, part->at, bytes);
}

int fd3d_gpu_rows(fd3d *fd, int n, float **trace) {
    TRY(enter(fd));
    TRY(count_bytes(fd, fd3d_gpu_trace_room(own(fd), fd, n)));
    *trace = own(fd)->points.view.trace;
    return 0;
}

void fd3d_gpu_device(fd3d *fd, char *text, size_t length) {
    const fd3d_gpu *o = own(fd);
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
