// Memory, medium, layers and fields of the variants `global`, `shared` and `texture`; see fd2d_gpu.h.
#include "fd2d_gpu.h"

#include <cstring>

enum { LINE = 32, FRAME = DER_MAX, ROW = 256, ROWS_AT_A_TIME = 32768, SLAB = 1 << 20 };

static fd2d_gpu *own(const handle *h) { return (fd2d_gpu *)h->own; }

// --- new and free --------------------------------------------------------------------------------------------------

// All that follows from the configuration alone.
static void set_sizes(fd2d_gpu *o, const fd2d_cfg *c) {
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

enum { ARRAYS = 12 };

// All device memory of the grid.
static void list_arrays(fd2d_gpu *o, gpu_array list[ARRAYS]) {
    fd2d_gpu_grid *g = &o->grid;
    const size_t cells = (size_t)g->nz * (size_t)g->pitch;
    const size_t strip = (size_t)(g->top + g->nz - g->bottom) * (size_t)g->pitch;
    const size_t slab = (3 * (size_t)o->slab_rows + 1) * (size_t)g->nx;
    const gpu_array all[ARRAYS] = {
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

static int make_textures(fd2d_gpu *o, const char *variant) {
    size_t most = 0;
    TRY(gpu_texture_limit(&o->queue, &most));
    REQUIRE(o->field_count <= most,
            "variant=%s reads a field of %d x %d cells as one texture of %zu elements, this GPU's textures have at "
            "most %zu: choose variant=tuned, or global or shared",
            variant, o->grid.nx, o->grid.nz, o->field_count, most);
    o->grid.texture_origin = LINE + FRAME * (int)o->grid.pitch;
    for (int f = 0; f < FD2D_FIELDS; f++)
        TRY(gpu_make_texture(o, o->field[f], o->field_count, &o->grid.texture[f]));
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

static int make(handle *h) {
    gpu_array list[ARRAYS];
    TRY(gpu_frame_make(h, sizeof(fd2d_gpu)));
    fd2d_gpu *o = own(h);
    o->kind = (const fd2d_gpu_kind *)h->variant->kind;
    set_sizes(o, &((fd2d *)h)->cfg);
    TRY(check_size(o));
    TRY(gpu_open(&o->queue));
    list_arrays(o, list);
    TRY(gpu_take_arrays(&o->queue, list, ARRAYS));
    set_pointers(o);
    if (o->kind->textures)
        TRY(make_textures(o, h->variant->name));
    o->source.pitch = o->grid.pitch;
    o->source.free_top = o->grid.free_top;
    o->blocks = blocks_over(o->grid.nx, o->grid.nz);
    o->threads = dim3(FD2D_GPU_TILE, FD2D_GPU_TILE);
    return 0;
}

static int need(const kernel_variant *v, const fd2d_cfg *cfg, int receivers, int steps, size_t *bytes) {
    fd2d_gpu o = {};
    gpu_array list[ARRAYS];
    o.kind = (const fd2d_gpu_kind *)v->kind;
    set_sizes(&o, cfg);
    TRY(check_size(&o));
    list_arrays(&o, list);
    *bytes = gpu_points_need(receivers, steps) + gpu_array_bytes(list, ARRAYS);
    return 0;
}

// --- medium and layers ---------------------------------------------------------------------------------------------

// Rows k0 .. k0+rows-1 of the coefficients, from kappa(nx,rows), rho(nx,rows+1) and, unless null, rho_z(nx,rows), as
// fd2d_coefficients has them.
static __global__ void __launch_bounds__(ROW)
    coefficients(int nx, int nz, int k0, const float *kappa, const float *rho, const float *rho_z, double tx, double tz,
                 int free_top, ptrdiff_t pitch, float *bx, float *bz, float *kk) {
    const int i = blockIdx.x * ROW + threadIdx.x, k = k0 + (int)blockIdx.y;
    if (i >= nx)
        return;
    const int right = i + 1 < nx ? i + 1 : i;
    const ptrdiff_t row = (ptrdiff_t)blockIdx.y * nx, below = k + 1 < nz ? row + nx : row, to = k * pitch + i;
    const double r = rho[row + i];
    if (rho_z != nullptr) {
        bx[to] = (float)(tx / r);
        bz[to] = (float)(tz / rho_z[row + i]);
    } else {
        bx[to] = (float)(tx / (0.5 * (r + rho[row + right])));
        bz[to] = (float)(tz / (0.5 * (r + rho[below + i])));
    }
    kk[to] = free_top && k == 0 ? 0.0f : (float)(tx * kappa[row + i]);
}

// A slab of rows after the other: this handle's copies and another handle's time steps go on at the same time.
static int model(fd2d *fd, const float *kappa, const float *rho, const float *rho_z) {
    fd2d_gpu *o = own(&fd->h);
    const fd2d_gpu_grid *g = &o->grid;
    const fd2d_cfg *c = &fd->cfg;
    const double tx = (double)c->dt / c->dx, tz = (double)c->dt / c->dz;
    const size_t nx = (size_t)g->nx;
    float *slab_rho = o->slab + (size_t)o->slab_rows * nx, *slab_z = slab_rho + ((size_t)o->slab_rows + 1) * nx;
    for (int k = 0; k < g->nz; k += o->slab_rows) {
        const int left = g->nz - k, rows = left < o->slab_rows ? left : o->slab_rows;
        const size_t from = (size_t)k * nx, n = (size_t)rows * nx, more = left > rows ? nx : 0;
        TRY(gpu_upload(&o->queue, o->slab, kappa + from, n * sizeof(float)));
        TRY(gpu_upload(&o->queue, slab_rho, rho + from, (n + more) * sizeof(float)));
        if (rho_z != nullptr)
            TRY(gpu_upload(&o->queue, slab_z, rho_z + from, n * sizeof(float)));
        coefficients<<<dim3((g->nx + ROW - 1) / ROW, rows), ROW, 0, o->queue.stream>>>(
            g->nx, g->nz, k, o->slab, slab_rho, rho_z != nullptr ? slab_z : nullptr, tx, tz, g->free_top, g->pitch,
            o->bx, o->bz, o->kk);
        CUDA_TRY(cudaGetLastError());
    }
    return 0;
}

static int pml(handle *h) {
    const fd2d *fd = (const fd2d *)h;
    fd2d_gpu *o = own(h);
    TRY(gpu_upload(&o->queue, o->px, fd->px, 6 * (size_t)o->grid.nx * sizeof(float)));
    return gpu_upload(&o->queue, o->pz, fd->pz, 6 * (size_t)o->grid.nz * sizeof(float));
}

// --- source and receivers ------------------------------------------------------------------------------------------

static int source(handle *h) { return fd2d_gpu_put_source(gpu_queue_of(h), &own(h)->source, h); }

static int receivers(handle *h) {
    const int group[FD2D_FIELDS] = {FD2D_SIGMA, FD2D_VX, FD2D_VZ};
    const ptrdiff_t first[FD2D_FIELDS] = {};
    return gpu_frame_receivers(h, 0, own(h)->grid.pitch, first, group);
}

// --- time ----------------------------------------------------------------------------------------------------------

static gpu_plane sigma_of(const fd2d_gpu *o) { return {o->grid.sigma, o->grid.pitch, o->grid.nx, o->grid.nz}; }

static int timestep(handle *h, int it, int n, float *) {
    fd2d_gpu *o = own(h);
    const gpu_plane sigma = sigma_of(o);
    TRY(gpu_frame_begin(h, it, n));
    TRY(gpu_repeat(&o->queue, n, o->kind->step[((fd2d *)h)->cfg.half_length - 1], o));
    return gpu_end(&o->queue, &sigma);
}

int fd2d_gpu_points_step(fd2d_gpu *o) {
    const float *const field[FD2D_FIELDS] = {o->grid.sigma, o->grid.vx, o->grid.vz};
    TRY(fd2d_gpu_inject(&o->queue, &o->source, o->grid.sigma));
    return gpu_sample(&o->queue, &o->points, field);
}

static int peak(handle *h, float *value, int place[3]) {
    return gpu_newest(gpu_queue_of(h), own(h)->grid.nx, value, &place[0], &place[2]);
}

static int maxabs(handle *h, float *value, int place[3]) {
    const gpu_plane sigma = sigma_of(own(h));
    return gpu_largest(gpu_queue_of(h), &sigma, value, &place[0], &place[2]);
}

// --- fields --------------------------------------------------------------------------------------------------------

static float *field_of(const fd2d_gpu *o, int field) {
    return field == FD2D_SIGMA ? o->grid.sigma : field == FD2D_VX ? o->grid.vx : o->grid.vz;
}

static int get(fd2d *fd, int field, float *out) {
    fd2d_gpu *o = own(&fd->h);
    return gpu_get_rows(&o->queue, out, field_of(o, field), o->grid.pitch, o->grid.nx, o->grid.nz);
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

static int set(handle *h, int field, const float *in) {
    fd2d_gpu *o = own(h);
    TRY(gpu_put_rows(&o->queue, field_of(o, field), o->grid.pitch, in, o->grid.nx, o->grid.nz));
    if (o->grid.free_top && field != FD2D_VX) {
        mirror<<<(o->grid.nx + ROW - 1) / ROW, ROW, 0, o->queue.stream>>>(o->grid, field);
        CUDA_TRY(cudaGetLastError());
    }
    return gpu_wait(&o->queue);
}

static int reset(handle *h) {
    fd2d_gpu *o = own(h);
    TRY(gpu_restart(&o->queue));
    for (float *field : o->field)
        TRY(gpu_clear(&o->queue, field, o->field_count, sizeof(float)));
    return gpu_clear(&o->queue, o->psi, o->psi_count, sizeof(float));
}

// The state is the fields with their frames, which hold the images above a free surface, and the memory variables.
static int state(handle *h, state_part *part) {
    const fd2d_gpu *o = own(h);
    for (int f = 0; f < FD2D_FIELDS; f++)
        part[f] = {o->field[f], o->field_count, 1, 0};
    part[FD2D_FIELDS] = {o->psi, o->psi_count, 1, 0};
    return FD2D_FIELDS + 1;
}

const fd2d_verbs fd2d_gpu_verbs = {
    .common = {.frame = &gpu_frame_verbs,
               HANDLE_VERBS,
               .timestep = timestep,
               .pml = pml,
               .source = source,
               .receivers = receivers,
               .peak = peak},
    .model = model,
    .get = get,
    .need = need,
};
