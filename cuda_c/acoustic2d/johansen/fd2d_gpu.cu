// Memory, medium, layers and fields of the variants `global`, `shared` and `texture`; see fd2d_gpu.h.
#include "fd2d_gpu.h"

#include <cstdio>
#include <cstring>

enum { LINE = 32, FRAME = DER_MAX, ROW = 256, ROWS_AT_A_TIME = 32768, SLAB = 1 << 20 };

static fd2d_gpu *own(fd2d *fd) { return (fd2d_gpu *)fd->own; }

// Every verb begins here, and ends with count_bytes where it may have taken memory.
static int enter(fd2d *fd) { return gpu_enter(&own(fd)->queue); }

static void count_bytes(fd2d *fd) {
    fd2d_gpu *o = own(fd);
    const size_t now = o->queue.pool.bytes + o->queue.pool.pinned_bytes;
    fd->bytes += now - o->counted;
    o->counted = now;
}

// --- new and free --------------------------------------------------------------------------------------------------

// Shapes: all that follows from the configuration alone.
static void shape(fd2d_gpu *o, const fd2d_cfg *c) {
    fd2d_gpu_grid *g = &o->grid;
    g->nx = c->nx;
    g->nz = c->nz;
    g->free_top = c->free_top;
    g->ratio = (float)((double)c->dx / c->dz);
    memcpy(g->w, c->w, sizeof(float) * (size_t)c->half_length);
    g->pitch = ((ptrdiff_t)c->nx + FRAME + LINE - 1) / LINE * LINE;
    // at half points the right and the lower layer begin one index earlier
    const int right = c->nx - c->nright - 1, bottom = c->nz - c->nbottom - 1;
    g->left = c->nleft;
    g->right = c->nright == 0 ? c->nx : right < c->nleft ? c->nleft : right;
    g->top = c->ntop;
    g->bottom = c->nbottom == 0 ? c->nz : bottom < c->ntop ? c->ntop : bottom;
    o->field_count = ((size_t)c->nz + 2 * FRAME) * (size_t)g->pitch + LINE;
    const size_t x = (size_t)(g->left + c->nx - g->right) * (size_t)c->nz;
    const size_t z = (size_t)(g->top + c->nz - g->bottom) * (size_t)g->pitch;
    o->psi_count = 2 * (x + z);
    const int fit = SLAB / c->nx;
    o->slab_rows = fit < 1 ? 1 : fit > c->nz ? c->nz : fit > ROWS_AT_A_TIME ? ROWS_AT_A_TIME : fit;
}

struct array {
    float **place;
    size_t count;
    const char *what;
};

enum { ARRAYS = 12 };

// All device memory of the grid; count 0 = not of this variant.
static void list_arrays(fd2d_gpu *o, array list[ARRAYS]) {
    fd2d_gpu_grid *g = &o->grid;
    const size_t cells = (size_t)g->nz * (size_t)g->pitch;
    const size_t strip = (size_t)(g->top + g->nz - g->bottom) * (size_t)g->pitch;
    const size_t slab = (2 * (size_t)o->slab_rows + 1) * (size_t)g->nx;
    const array all[ARRAYS] = {
        {&o->field[FD2D_SIGMA], o->field_count, "sigma"},
        {&o->field[FD2D_VX], o->field_count, "vx"},
        {&o->field[FD2D_VZ], o->field_count, "vz"},
        {&o->bx, cells, "coefficients of vx"},
        {&o->bz, cells, "coefficients of vz"},
        {&o->kk, cells, "coefficients of sigma"},
        {&g->d, o->kind->keeps_d ? cells : 0, "derivatives"},
        {&g->dz, o->kind->keeps_dz ? strip : 0, "derivatives in the absorbing layers"},
        {&o->psi, o->psi_count, "memory variables of the absorbing layers"},
        {&o->px, 6 * (size_t)g->nx, "layer profiles along x"},
        {&o->pz, 6 * (size_t)g->nz, "layer profiles along z"},
        {&o->slab, slab, "rows of the model"},
    };
    memcpy(list, all, sizeof all);
}

static void set_pointers(fd2d_gpu *o) {
    fd2d_gpu_grid *g = &o->grid;
    const ptrdiff_t origin = LINE + FRAME * g->pitch;
    const size_t x = (size_t)(g->left + g->nx - g->right) * (size_t)g->nz;
    const size_t z = (size_t)(g->top + g->nz - g->bottom) * (size_t)g->pitch;
    g->sigma = o->field[FD2D_SIGMA] + origin;
    g->vx = o->field[FD2D_VX] + origin;
    g->vz = o->field[FD2D_VZ] + origin;
    g->bx = o->bx;
    g->bz = o->bz;
    g->kk = o->kk;
    g->px = o->px;
    g->pz = o->pz;
    g->psix_v = o->psi;
    g->psix_s = g->psix_v + x;
    g->psiz_v = g->psix_s + x;
    g->psiz_s = g->psiz_v + z;
}

static int make_textures(fd2d_gpu *o) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    size_t most = 0;
    CUDA_TRY(cudaDeviceGetTexture1DLinearMaxWidth(&most, &format, o->queue.device));
    REQUIRE(o->field_count <= most,
            "variant=%s reads a field of %d x %d cells as one texture of %zu elements, this GPU's textures have at "
            "most %zu: choose variant=tuned, or global or shared",
            o->kind->name, o->grid.nx, o->grid.nz, o->field_count, most);
    o->grid.texture_origin = LINE + FRAME * (int)o->grid.pitch;
    for (int f = 0; f < FD2D_FIELDS; f++) {
        cudaResourceDesc memory = {};
        cudaTextureDesc reading = {};
        memory.resType = cudaResourceTypeLinear;
        memory.res.linear.devPtr = o->field[f];
        memory.res.linear.desc = format;
        memory.res.linear.sizeInBytes = o->field_count * sizeof(float);
        reading.readMode = cudaReadModeElementType;
        CUDA_TRY(cudaCreateTextureObject(&o->grid.texture[f], &memory, &reading, nullptr));
    }
    return 0;
}

static int check_size(const fd2d_gpu *o) {
    const fd2d_gpu_grid *g = &o->grid;
    REQUIRE((unsigned long long)g->nx * (unsigned long long)g->nz < 1ull << GPU_INDEX_BITS,
            "a grid of %d x %d cells is more than a GPU variant can count (%.1e cells): make it smaller", g->nx, g->nz,
            (double)(1ull << GPU_INDEX_BITS));
    return 0;
}

static dim3 blocks_over(int nx, int nz) {
    const unsigned most = 65535, x = ((unsigned)nx + FD2D_GPU_TILE - 1) / FD2D_GPU_TILE,
                   z = ((unsigned)nz + FD2D_GPU_TILE - 1) / FD2D_GPU_TILE;
    return dim3(x, z < most ? z : most, (z + most - 1) / most);
}

static int make(fd2d_gpu *o) {
    array list[ARRAYS];
    TRY(check_size(o));
    TRY(gpu_open(&o->queue));
    list_arrays(o, list);
    for (const array &a : list)
        if (a.count > 0)
            TRY(gpu_alloc(&o->queue, a.place, a.count, sizeof(float), a.what));
    set_pointers(o);
    if (o->kind->textures)
        TRY(make_textures(o));
    o->source.pitch = o->grid.pitch;
    o->source.free_top = o->grid.free_top;
    o->blocks = blocks_over(o->grid.nx, o->grid.nz);
    o->threads = dim3(FD2D_GPU_TILE, FD2D_GPU_TILE);
    return 0;
}

int fd2d_gpu_make(fd2d *fd, const fd2d_gpu_kind *kind) {
    TRY(fd2d_alloc(fd, &fd->own, 1, sizeof(fd2d_gpu), "the GPU's grid"));
    fd2d_gpu *o = own(fd);
    o->kind = kind;
    shape(o, &fd->cfg);
    const int rc = make(o);
    count_bytes(fd);
    return rc;
}

void fd2d_gpu_release(fd2d *fd) {
    fd2d_gpu *o = own(fd);
    if (o == nullptr)
        return;
    for (cudaTextureObject_t t : o->grid.texture)
        if (t != 0 && cudaSetDevice(o->queue.device) == cudaSuccess) {
            cudaStreamSynchronize(o->queue.stream); // it may still be read
            cudaDestroyTextureObject(t);
        }
    gpu_close(&o->queue);
    count_bytes(fd);
    fd2d_release(fd, &fd->own);
}

int fd2d_gpu_need(const fd2d_gpu_kind *kind, const fd2d_cfg *cfg, int receivers, int steps, size_t *bytes) {
    fd2d_gpu o = {};
    array list[ARRAYS];
    o.kind = kind;
    shape(&o, cfg);
    TRY(check_size(&o));
    list_arrays(&o, list);
    *bytes = gpu_points_need(receivers, steps);
    for (const array &a : list)
        *bytes += a.count * sizeof(float);
    return 0;
}

// --- medium and layers ---------------------------------------------------------------------------------------------

// Rows k0 .. k0+rows-1 of the coefficients, from kappa(nx,rows) and rho(nx,rows+1), as fd2d_coefficients has them.
static __global__ void __launch_bounds__(ROW)
    coefficients(int nx, int nz, int k0, const float *kappa, const float *rho, double tx, double tz, int free_top,
                 ptrdiff_t pitch, float *bx, float *bz, float *kk) {
    const int i = blockIdx.x * ROW + threadIdx.x, k = k0 + (int)blockIdx.y;
    if (i >= nx)
        return;
    const int right = i + 1 < nx ? i + 1 : i;
    const ptrdiff_t row = (ptrdiff_t)blockIdx.y * nx, below = k + 1 < nz ? row + nx : row, to = k * pitch + i;
    const double r = rho[row + i];
    bx[to] = (float)(tx / (0.5 * (r + rho[row + right])));
    bz[to] = (float)(tz / (0.5 * (r + rho[below + i])));
    kk[to] = free_top && k == 0 ? 0.0f : (float)(tx * kappa[row + i]);
}

// A slab of rows after the other: this handle's copies and another handle's time steps go on at the same time.
int fd2d_gpu_model(fd2d *fd, const float *kappa, const float *rho) {
    TRY(enter(fd));
    fd2d_gpu *o = own(fd);
    const fd2d_gpu_grid *g = &o->grid;
    const fd2d_cfg *c = &fd->cfg;
    const double tx = (double)c->dt / c->dx, tz = (double)c->dt / c->dz;
    const size_t nx = (size_t)g->nx;
    float *slab_rho = o->slab + (size_t)o->slab_rows * nx;
    for (int k = 0; k < g->nz; k += o->slab_rows) {
        const int left = g->nz - k, rows = left < o->slab_rows ? left : o->slab_rows;
        const size_t from = (size_t)k * nx, n = (size_t)rows * nx, more = left > rows ? nx : 0;
        TRY(gpu_upload(&o->queue, o->slab, kappa + from, n * sizeof(float)));
        TRY(gpu_upload(&o->queue, slab_rho, rho + from, (n + more) * sizeof(float)));
        coefficients<<<dim3((g->nx + ROW - 1) / ROW, rows), ROW, 0, o->queue.stream>>>(
            g->nx, g->nz, k, o->slab, slab_rho, tx, tz, g->free_top, g->pitch, o->bx, o->bz, o->kk);
        CUDA_TRY(cudaGetLastError());
    }
    return 0;
}

int fd2d_gpu_pml(fd2d *fd) {
    TRY(enter(fd));
    fd2d_gpu *o = own(fd);
    TRY(gpu_upload(&o->queue, o->px, fd->px, 6 * (size_t)o->grid.nx * sizeof(float)));
    return gpu_upload(&o->queue, o->pz, fd->pz, 6 * (size_t)o->grid.nz * sizeof(float));
}

// --- source and receivers ------------------------------------------------------------------------------------------

int fd2d_gpu_source(fd2d *fd) {
    TRY(enter(fd));
    const int rc = fd2d_gpu_put_source(&own(fd)->queue, &own(fd)->source, fd);
    count_bytes(fd);
    return rc;
}

int fd2d_gpu_receivers(fd2d *fd) {
    TRY(enter(fd));
    const int rc = fd2d_gpu_put_receivers(&own(fd)->queue, &own(fd)->points, fd, own(fd)->grid.pitch);
    count_bytes(fd);
    return rc;
}

int fd2d_gpu_traces(fd2d *fd, int it, int n, float *out) {
    TRY(enter(fd));
    return gpu_get_traces(&own(fd)->queue, &own(fd)->points, fd->nrec, it - fd->first, n, out);
}

int fd2d_gpu_filter(fd2d *fd, int which, const trace_band band[2]) {
    TRY(enter(fd));
    const int rc = gpu_put_filter(&own(fd)->queue, &own(fd)->points, which, band);
    count_bytes(fd);
    return rc;
}

int fd2d_gpu_filtered(fd2d *fd, int which, int first, int nrec, float *out) {
    TRY(enter(fd));
    const int rc = gpu_get_filtered(&own(fd)->queue, &own(fd)->points, fd->nrec, which, first, nrec, out);
    count_bytes(fd);
    return rc;
}

// --- time ----------------------------------------------------------------------------------------------------------

static gpu_plane sigma_of(const fd2d_gpu *o) { return {o->grid.sigma, o->grid.pitch, o->grid.nx, o->grid.nz}; }

int fd2d_gpu_timestep(fd2d *fd, int it, int n, float *) {
    TRY(enter(fd));
    fd2d_gpu *o = own(fd);
    const int rc = gpu_trace_room(&o->queue, &o->points, fd->nrec, fd->steps, fd->nq, n);
    count_bytes(fd);
    TRY(rc);
    const gpu_plane sigma = sigma_of(o);
    TRY(gpu_begin(&o->queue, it, fd->first));
    TRY(gpu_repeat(&o->queue, n, o->kind->step[fd->cfg.half_length - 1], o));
    return gpu_end(&o->queue, &sigma);
}

int fd2d_gpu_points_step(fd2d_gpu *o) {
    const float *const field[FD2D_FIELDS] = {o->grid.sigma, o->grid.vx, o->grid.vz};
    TRY(fd2d_gpu_inject(&o->queue, &o->source, o->grid.sigma));
    return gpu_sample(&o->queue, &o->points, field);
}

int fd2d_gpu_wait_chunks(fd2d *fd, int most) {
    TRY(enter(fd));
    return gpu_pending(&own(fd)->queue, most);
}

int fd2d_gpu_peak(fd2d *fd, float *value, int *i, int *k) {
    TRY(enter(fd));
    return gpu_newest(&own(fd)->queue, own(fd)->grid.nx, value, i, k);
}

int fd2d_gpu_maxabs(fd2d *fd, float *value, int *i, int *k) {
    TRY(enter(fd));
    const gpu_plane sigma = sigma_of(own(fd));
    return gpu_largest(&own(fd)->queue, &sigma, value, i, k);
}

// --- fields --------------------------------------------------------------------------------------------------------

static float *field_of(const fd2d_gpu *o, int field) {
    return field == FD2D_SIGMA ? o->grid.sigma : field == FD2D_VX ? o->grid.vx : o->grid.vz;
}

int fd2d_gpu_get(fd2d *fd, int field, float *out) {
    TRY(enter(fd));
    fd2d_gpu *o = own(fd);
    const size_t width = (size_t)o->grid.nx * sizeof(float);
    TRY(gpu_wait(&o->queue)); // asleep, which the copy would not
    CUDA_TRY(cudaMemcpy2DAsync(out, width, field_of(o, field), (size_t)o->grid.pitch * sizeof(float), width,
                               (size_t)o->grid.nz, cudaMemcpyDeviceToHost, o->queue.stream));
    return gpu_wait(&o->queue);
}

// Image of rows 0 .. DER_MAX-1 above the surface: as the updates in fd2d_gpu.h keep it.
static __global__ void __launch_bounds__(ROW) mirror(fd2d_gpu_grid g, int field) {
    const int i = blockIdx.x * ROW + threadIdx.x;
    if (i >= g.nx)
        return;
    for (int k = 0; k < DER_MAX && k < g.nz; k++) {
        const ptrdiff_t at = k * g.pitch + i;
        if (field == FD2D_VZ)
            g.vz[at - (2 * k + 1) * g.pitch] = g.vz[at];
        else if (k == 0)
            g.sigma[at] = 0;
        else
            g.sigma[at - 2 * k * g.pitch] = -g.sigma[at];
    }
}

int fd2d_gpu_set(fd2d *fd, int field, const float *in) {
    TRY(enter(fd));
    fd2d_gpu *o = own(fd);
    const size_t width = (size_t)o->grid.nx * sizeof(float);
    CUDA_TRY(cudaMemcpy2DAsync(field_of(o, field), (size_t)o->grid.pitch * sizeof(float), in, width, width,
                               (size_t)o->grid.nz, cudaMemcpyHostToDevice, o->queue.stream));
    if (o->grid.free_top && field != FD2D_VX) {
        mirror<<<(o->grid.nx + ROW - 1) / ROW, ROW, 0, o->queue.stream>>>(o->grid, field);
        CUDA_TRY(cudaGetLastError());
    }
    return gpu_wait(&o->queue);
}

int fd2d_gpu_reset(fd2d *fd) {
    TRY(enter(fd));
    fd2d_gpu *o = own(fd);
    TRY(gpu_restart(&o->queue));
    for (float *field : o->field)
        CUDA_TRY(cudaMemsetAsync(field, 0, o->field_count * sizeof(float), o->queue.stream));
    if (o->psi_count > 0)
        CUDA_TRY(cudaMemsetAsync(o->psi, 0, o->psi_count * sizeof(float), o->queue.stream));
    return 0;
}

// --- the state -----------------------------------------------------------------------------------------------------

// Fields with their frames, which hold the images above a free surface, and the memory variables.
int fd2d_gpu_state(fd2d *fd, fd2d_part *part) {
    fd2d_gpu *o = own(fd);
    for (int f = 0; f < FD2D_FIELDS; f++)
        part[f] = {o->field[f], o->field_count, 1, 0};
    part[FD2D_FIELDS] = {o->psi, o->psi_count, 1, 0};
    return FD2D_FIELDS + 1;
}

int fd2d_gpu_move(fd2d *fd, const fd2d_part *part, float *host, int in) {
    TRY(enter(fd));
    const size_t bytes = part->width * part->rows * sizeof(float);
    return in ? gpu_upload(&own(fd)->queue, part->at, host, bytes)
              : gpu_download(&own(fd)->queue, host, part->at, bytes);
}

int fd2d_gpu_rows(fd2d *fd, int n, float **trace) {
    TRY(enter(fd));
    const int rc = gpu_trace_room(&own(fd)->queue, &own(fd)->points, fd->nrec, fd->steps, fd->nq, n);
    count_bytes(fd);
    *trace = own(fd)->points.view.trace;
    return rc;
}

void fd2d_gpu_device(fd2d *fd, char *text, size_t length) {
    cudaDeviceProp properties;
    text[0] = 0;
    if (cudaGetDeviceProperties(&properties, own(fd)->queue.device) == cudaSuccess)
        snprintf(text, length, "%s", properties.name);
    else
        cudaGetLastError();
}
