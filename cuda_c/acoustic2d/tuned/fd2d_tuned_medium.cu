// The `tuned` variant's model and the profiles of its layers, as its steps want them.
#include "fd2d_tuned.h"

using namespace tuned;

// Rows k0 .. of kk and rho from kappa(nx,rows) and rho(nx,rows); the edge of rho once more beyond the last column and
// row.
static __global__ void __launch_bounds__(BLOCK)
    set_medium(int nx, int nz, int k0, const float *kappa, const float *from, double tx, int free_top, ptrdiff_t pitch,
               float *kk, float *rho) {
    const int i = blockIdx.x * BLOCK + threadIdx.x, k = k0 + (int)blockIdx.y;
    if (i >= nx)
        return;
    const ptrdiff_t at = (ptrdiff_t)blockIdx.y * nx + i, to = k * pitch + i;
    const float r = from[at];
    kk[to] = free_top && k == 0 ? 0.0f : (float)(tx * kappa[at]);
    rho[to] = r;
    if (i == nx - 1)
        rho[to + 1] = r;
    if (k == nz - 1)
        rho[to + pitch] = r;
    if (free_top && k > 0 && k <= ABOVE) // the image above the surface
        rho[i - k * pitch] = r;
    if (free_top && k == nz - 1 && nz <= ABOVE)
        rho[i - nz * pitch] = r;
}

// The same where densities of vx and vz come apart: rho and rho_z are twice those.
static __global__ void __launch_bounds__(BLOCK)
    set_medium_apart(int nx, int k0, const float *kappa, const float *of_vx, const float *of_vz, double tx,
                     int free_top, ptrdiff_t pitch, float *kk, float *rho, float *rho_z) {
    const int i = blockIdx.x * BLOCK + threadIdx.x, k = k0 + (int)blockIdx.y;
    if (i >= nx)
        return;
    const ptrdiff_t at = (ptrdiff_t)blockIdx.y * nx + i, to = k * pitch + i;
    kk[to] = free_top && k == 0 ? 0.0f : (float)(tx * kappa[at]);
    rho[to] = 2 * of_vx[at];
    rho_z[to] = 2 * of_vz[at];
    if (free_top && k < ABOVE) // the image above the surface
        rho_z[i - (k + 1) * pitch] = 2 * of_vz[at];
}

// kk from K dt/dx, as all variants have it, to 2 K dt^2/dx^2, so that its product with the reciprocals that the step
// takes is that with the buoyancies of fd2d_coefficients, in the mean of the sides of a cell: a last bit that all of a
// layer has in common would make waves arrive sooner or later, 1e-5 of a trace after some thousand steps.
static __global__ void __launch_bounds__(BLOCK) match_medium(int nx, int nz, ptrdiff_t pitch, double tx, double tz,
                                                             float *kk, const float *rho, const float *rho_z) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= nx)
        return;
    for (int k = blockIdx.y; k < nz; k += gridDim.y) {
        const ptrdiff_t at = k * pitch + i, beside[4] = {-1, 1, -pitch, pitch};
        const bool there[4] = {i > 0, true, k > 0, true}; // after the last ones stands the edge once more
        double sum = 0;
        int n = 0;
        for (int side = 0; side < 4; side++) {
            if (!there[side])
                continue;
            const float other = rho[at + beside[side]];
            const double t = side < 2 ? tx : tz;
            double twice = (double)rho[at] + other;
            if (rho_z != rho) // the sides before a cell have the density of the cell there
                twice = (side < 2 ? rho : rho_z)[side % 2 == 0 ? at + beside[side] : at];
            const double buoyancy = (float)(t / (0.5 * twice));
            sum += buoyancy * (tx / t) / reciprocal((float)twice);
            n++;
        }
        kk[at] = (float)(kk[at] * (sum / n));
    }
}

int tuned::model(fd2d *fd, const float *kappa, const float *rho, const float *rho_z) {
    own_t *o = own(&fd->h);
    const args *g = &o->g;
    const double tx = (double)fd->cfg.dt / fd->cfg.dx;
    const size_t nx = (size_t)g->nx;
    float *slab_rho = o->slab + (size_t)o->slab_rows * nx, *slab_z = slab_rho + (size_t)o->slab_rows * nx;
    for (int k = 0; k < g->nz; k += o->slab_rows) {
        const int left = g->nz - k, rows = left < o->slab_rows ? left : o->slab_rows;
        TRY(gpu_upload(&o->queue, o->slab, kappa + (size_t)k * nx, (size_t)rows * nx * sizeof(float)));
        TRY(gpu_upload(&o->queue, slab_rho, rho + (size_t)k * nx, (size_t)rows * nx * sizeof(float)));
        if (rho_z != nullptr)
            TRY(gpu_upload(&o->queue, slab_z, rho_z + (size_t)k * nx, (size_t)rows * nx * sizeof(float)));
        for (int r = 0; r < rows; r += 32768) {
            const int part = rows - r < 32768 ? rows - r : 32768;
            const dim3 blocks((g->nx + BLOCK - 1) / BLOCK, part);
            const size_t from = (size_t)r * nx;
            if (rho_z == nullptr)
                set_medium<<<blocks, BLOCK, 0, o->queue.stream>>>(g->nx, g->nz, k + r, o->slab + from, slab_rho + from,
                                                                  tx, g->free_top, g->pitch, o->kk + o->origin,
                                                                  o->rho + o->origin);
            else
                set_medium_apart<<<blocks, BLOCK, 0, o->queue.stream>>>(
                    g->nx, k + r, o->slab + from, slab_rho + from, slab_z + from, tx, g->free_top, g->pitch,
                    o->kk + o->origin, o->rho + o->origin, o->rho_z + o->origin);
            CUDA_TRY(cudaGetLastError());
        }
    }
    const int blocks = g->nz < 32768 ? g->nz : 32768;
    match_medium<<<dim3((g->nx + BLOCK - 1) / BLOCK, blocks), BLOCK, 0, o->queue.stream>>>(
        g->nx, g->nz, g->pitch, tx, (double)fd->cfg.dt / fd->cfg.dz, o->kk + o->origin, g->rho, g->rho_z);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

// As the steps want them (profile_x, profile_z); along x continued to whole threads without effect: a = b = 0, 1/k = 1.
static void pack_profiles(const fd2d *fd, size_t pitch, float *px, float *pz) {
    const size_t nx = (size_t)fd->cfg.nx, nz = (size_t)fd->cfg.nz;
    for (size_t n = 0; n < 6; n++) {
        for (size_t i = 0; i < pitch; i++)
            px[3 * (n / 3 * pitch + i / V * V) + n % 3 * V + i % V] = i < nx       ? fd->px[n * nx + i]
                                                                      : n % 3 == 2 ? 1.0f
                                                                                   : 0.0f;
        for (size_t k = 0; k < nz; k++)
            pz[V * (n / 3 * nz + k) + n % 3] = fd->pz[n * nz + k];
    }
}

int tuned::pml(handle *h) {
    own_t *o = own(h);
    const size_t pitch = (size_t)o->g.px_pitch, nx = 6 * pitch, nz = 2 * V * (size_t)o->g.nz;
    float *p = nullptr;
    TRY(host_alloc(&h->memory, &p, nx + nz, sizeof *p, "layer profiles"));
    pack_profiles((const fd2d *)h, pitch, p, p + nx);
    const int rc =
        gpu_upload(&o->queue, o->px, p, nx * sizeof *p) || gpu_upload(&o->queue, o->pz, p + nx, nz * sizeof *p);
    host_release(&h->memory, &p);
    return rc;
}
