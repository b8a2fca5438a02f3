// The medium and the layers of the GPU variants of the 3D time loop, on their way to the device.
#include "fd3d_gpu.h"

// Planes of a volume with its ring, in pieces through the buffer.
static int put_planes(fd3d_gpu *o, int first, int planes, const float *to, const float *from, fd3d_gpu_way way) {
    const fd3d_gpu_grid *g = &o->grid;
    const int lo[3] = {-1, -1, first - 1}, hi[3] = {g->nx + 1, g->ny + 1, first - 1 + planes};
    const size_t all = ((size_t)g->nx + 2) * ((size_t)g->ny + 2) * (size_t)planes;
    for (size_t done = 0; done < all; done += FD3D_GPU_BUFFER) {
        const size_t count = all - done < (size_t)FD3D_GPU_BUFFER ? all - done : (size_t)FD3D_GPU_BUFFER;
        TRY(gpu_upload(&o->queue, o->buffer, from + done, count * sizeof(float)));
        TRY(fd3d_gpu_copy(o, (float *)to, lo, hi, done, count, o->buffer, way));
    }
    return 0;
}

// (c dt - dz)/(c dt + dz) of P, then of S waves, in the last row of each column, which is plane `last` of a slab.
static int put_one_way(fd3d *fd, const fd3d_slab *p, int last) {
    fd3d_gpu *o = fd3d_gpu_own(&fd->h);
    const fd3d_gpu_grid *g = &o->grid;
    const size_t wide = (size_t)g->nx + 2, cells = (size_t)g->nx * (size_t)g->ny;
    const double dt = fd->cfg.dt, dz = fd->cfg.d[2];
    float *factor = nullptr;
    TRY(host_alloc(&fd->h.memory, &factor, 2 * cells, sizeof(float), "the one-way bottom"));
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t from = ((size_t)last * ((size_t)g->ny + 2) + (size_t)j + 1) * wide + (size_t)i + 1;
            const size_t to = (size_t)j * (size_t)g->nx + (size_t)i;
            const double r = p->rho[from], m = p->mu[from];
            const double cp = r > 0 ? sqrt((p->lambda[from] + 2 * m) / r) : 0, cs = r > 0 && m > 0 ? sqrt(m / r) : cp;
            factor[to] = (float)((cp * dt - dz) / (cp * dt + dz));
            factor[cells + to] = (float)((cs * dt - dz) / (cs * dt + dz));
        }
    const int rc = gpu_upload(&o->queue, o->one_way, factor, 2 * cells * sizeof(float));
    host_release(&fd->h.memory, &factor);
    return rc;
}

int fd3d_gpu_model(fd3d *fd, const fd3d_slab *p) {
    fd3d_gpu *o = fd3d_gpu_own(&fd->h);
    const int last = o->grid.nz - p->first;
    TRY(put_planes(o, p->first, p->planes, o->grid.m.rho, p->rho, FD3D_GPU_IN));
    TRY(put_planes(o, p->first, p->planes, o->grid.m.lambda, p->lambda, FD3D_GPU_IN));
    TRY(put_planes(o, p->first, p->planes, o->grid.m.imu, p->mu, FD3D_GPU_INVERTED));
    if (o->before_count > 0 && last >= 0 && last < p->planes)
        TRY(put_one_way(fd, p, last));
    return fd3d_gpu_core_model(o, fd, p);
}

// Kernels get the mechanisms by value, and so do graphs.
int fd3d_gpu_quality(fd3d *fd, const float *qp, const float *qs) {
    fd3d_gpu *o = fd3d_gpu_own(&fd->h);
    gpu_forget_graphs(&o->queue);
    for (int m = 0; m < FD3D_MECHANISMS; m++) {
        const double e = exp(-(double)fd->cfg.dt / fd->tau[m]);
        o->grid.decay[m] = (float)e;
        o->grid.half[m] = (float)(0.5 * (1 - e));
        for (int p = 0; p < 3; p++)
            o->grid.strength[p][m] = fd->y[p][m];
        o->grid.stiff[m] = fd->stiff[m];
    }
    TRY(put_planes(o, 0, o->grid.nz + 2, o->grid.m.qp, qp, FD3D_GPU_IN));
    return put_planes(o, 0, o->grid.nz + 2, o->grid.m.qs, qs, FD3D_GPU_IN);
}

int fd3d_gpu_pml(handle *h) {
    const fd3d *fd = (const fd3d *)h;
    fd3d_gpu *o = fd3d_gpu_own(h);
    for (int a = 0; a < 3; a++)
        TRY(gpu_upload(&o->queue, (float *)o->grid.profile[a], fd->pml[a], 6 * (size_t)fd->cfg.n[a] * sizeof(float)));
    return 0;
}

int fd3d_gpu_sponge(fd3d *fd) {
    fd3d_gpu *o = fd3d_gpu_own(&fd->h);
    float *to = o->sponges;
    gpu_forget_graphs(&o->queue);
    for (int a = 0; a < 3; to += fd->cfg.n[a], a++) {
        TRY(gpu_upload(&o->queue, to, fd->sponge[a], (size_t)fd->cfg.n[a] * sizeof(float)));
        o->grid.sponge[a] = to;
    }
    return fd3d_gpu_core_plan(o, fd, o->core.rock);
}
