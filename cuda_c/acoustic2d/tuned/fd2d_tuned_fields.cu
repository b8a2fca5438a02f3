// The fields of the `tuned` variant and its state, as others read and write them.
#include "fd2d_tuned.h"

using namespace tuned;

// A field in its memory, and what makes of it the field that others know.
static int find_field(fd2d *fd, int field, float **at, double *scale) {
    own_t *o = own(fd);
    REQUIRE(fd->cfg.velocities || field == FD2D_SIGMA, NO_VELOCITIES);
    *at = (field == FD2D_SIGMA ? o->s[0] : field == FD2D_VX ? o->vx[0] : o->vz[0]) + o->origin;
    *scale = field == FD2D_SIGMA ? 1 : field == FD2D_VX ? o->g.scale_x : o->g.scale_z;
    return 0;
}

int tuned::get(fd2d *fd, int field, float *out) {
    own_t *o = own(fd);
    const size_t nx = (size_t)o->g.nx, nz = (size_t)o->g.nz, width = nx * sizeof(float);
    float *from = nullptr;
    double scale = 1;
    TRY(find_field(fd, field, &from, &scale));
    TRY(gpu_enter(&o->queue));
    TRY(gpu_wait(&o->queue));
    CUDA_TRY(cudaMemcpy2DAsync(out, width, from, (size_t)o->g.pitch * sizeof(float), width, nz, cudaMemcpyDeviceToHost,
                               o->queue.stream));
    TRY(gpu_wait(&o->queue));
    if (field != FD2D_SIGMA)
        for (size_t j = 0; j < nx * nz; j++)
            out[j] = (float)(scale * out[j]);
    return 0;
}

static int put_field(fd2d *fd, float *to, const float *from) {
    own_t *o = own(fd);
    const size_t width = (size_t)o->g.nx * sizeof(float), pitch = (size_t)o->g.pitch * sizeof(float);
    CUDA_TRY(
        cudaMemcpy2DAsync(to, pitch, from, width, width, (size_t)o->g.nz, cudaMemcpyHostToDevice, o->queue.stream));
    return gpu_wait(&o->queue);
}

int tuned::set(fd2d *fd, int field, const float *in) {
    own_t *o = own(fd);
    const size_t n = (size_t)o->g.nx * (size_t)o->g.nz;
    float *to = nullptr, *scaled = nullptr;
    double scale = 1;
    TRY(find_field(fd, field, &to, &scale));
    TRY(gpu_enter(&o->queue));
    TRY(fd2d_alloc(fd, &scaled, n, sizeof *scaled, "a field"));
    for (size_t j = 0; j < n; j++)
        scaled[j] = (float)(in[j] / scale);
    const int rc = put_field(fd, to, scaled);
    fd2d_release(fd, &scaled);
    TRY(rc);
    if (o->g.free_top && field == FD2D_SIGMA)
        CUDA_TRY(cudaMemsetAsync(to, 0, (size_t)o->g.nx * sizeof(float), o->queue.stream));
    return gpu_restart(&o->queue);
}

int tuned::reset(fd2d *fd) {
    own_t *o = own(fd);
    TRY(gpu_enter(&o->queue));
    const struct {
        float *at;
        size_t count;
    } all[] = {{o->s[0], o->count},        {o->s[1], o->count},         {o->e, o->count},
               {o->vx[0], o->count},       {o->vx[1], o->count},        {o->vz[0], o->count},
               {o->vz[1], o->count},       {o->psix[0], o->psix_count}, {o->psix[1], o->psix_count},
               {o->psix_s, o->psix_count}, {o->psiz[0], o->psiz_count}, {o->psiz[1], o->psiz_count},
               {o->psiz_s, o->psiz_count}};
    for (const auto &a : all)
        if (a.at != nullptr)
            CUDA_TRY(cudaMemsetAsync(a.at, 0, a.count * sizeof(float), o->queue.stream));
    return gpu_restart(&o->queue);
}

// --- the state -------------------------------------------------------------------------------------------------------

// What a pair of steps reads: at the end of a chunk all is in the first copies.
int tuned::state(fd2d *fd, fd2d_part *part) {
    own_t *o = own(fd);
    const fd2d_part all[] = {{o->s[0], o->count, 1, 0},         {o->e, o->count, 1, 0},
                             {o->vx[0], o->count, 1, 0},        {o->vz[0], o->count, 1, 0},
                             {o->psix[0], o->psix_count, 1, 0}, {o->psix_s, o->psix_count, 1, 0},
                             {o->psiz[0], o->psiz_count, 1, 0}, {o->psiz_s, o->psiz_count, 1, 0}};
    int n = 0;
    for (const fd2d_part &p : all)
        if (p.at != nullptr)
            part[n++] = p;
    return n;
}

int tuned::move(fd2d *fd, const fd2d_part *part, float *host, int in) {
    own_t *o = own(fd);
    const size_t bytes = part->width * part->rows * sizeof(float);
    TRY(gpu_enter(&o->queue));
    return in ? gpu_upload(&o->queue, part->at, host, bytes) : gpu_download(&o->queue, host, part->at, bytes);
}
