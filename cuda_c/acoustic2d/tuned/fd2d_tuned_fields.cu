// The fields of the `tuned` variant and its state, as others read and write them.
#include "fd2d_tuned.h"

using namespace tuned;

// A field in its memory, and what makes of it the field that others know.
static int find_field(const handle *h, int field, float **at, double *scale) {
    const own_t *o = own(h);
    REQUIRE(((const fd2d *)h)->cfg.velocities || field == FD2D_SIGMA, NO_VELOCITIES);
    *at = (field == FD2D_SIGMA ? o->s[0] : field == FD2D_VX ? o->vx[0] : o->vz[0]) + o->origin;
    *scale = field == FD2D_SIGMA ? 1 : field == FD2D_VX ? o->g.scale_x : o->g.scale_z;
    return 0;
}

int tuned::get(fd2d *fd, int field, float *out) {
    own_t *o = own(&fd->h);
    const size_t n = (size_t)o->g.nx * (size_t)o->g.nz;
    float *from = nullptr;
    double scale = 1;
    TRY(find_field(&fd->h, field, &from, &scale));
    TRY(gpu_get_rows(&o->queue, out, from, o->g.pitch, o->g.nx, o->g.nz));
    if (field != FD2D_SIGMA)
        for (size_t j = 0; j < n; j++)
            out[j] = (float)(scale * out[j]);
    return 0;
}

int tuned::set(handle *h, int field, const float *in) {
    own_t *o = own(h);
    const size_t n = (size_t)o->g.nx * (size_t)o->g.nz;
    float *to = nullptr, *scaled = nullptr;
    double scale = 1;
    TRY(find_field(h, field, &to, &scale));
    TRY(host_alloc(&h->memory, &scaled, n, sizeof *scaled, "a field"));
    for (size_t j = 0; j < n; j++)
        scaled[j] = (float)(in[j] / scale);
    const int rc = gpu_put_rows(&o->queue, to, o->g.pitch, scaled, o->g.nx, o->g.nz) || gpu_wait(&o->queue);
    host_release(&h->memory, &scaled);
    TRY(rc);
    if (o->g.free_top && field == FD2D_SIGMA)
        TRY(gpu_clear(&o->queue, to, (size_t)o->g.nx, sizeof(float)));
    return gpu_restart(&o->queue);
}

int tuned::reset(handle *h) {
    own_t *o = own(h);
    const struct {
        float *at;
        size_t count;
    } all[] = {{o->s[0], o->count},           {o->s[1], o->count},         {o->e[0], o->count},
               {o->vx[0], o->count},          {o->vx[1], o->count},        {o->vz[0], o->count},
               {o->vz[1], o->count},          {o->psix[0], o->psix_count}, {o->psix[1], o->psix_count},
               {o->psix_s[0], o->psix_count}, {o->psiz[0], o->psiz_count}, {o->psiz[1], o->psiz_count},
               {o->psiz_s[0], o->psiz_count}};
    for (const auto &a : all)
        TRY(gpu_clear(&o->queue, a.at, a.count, sizeof(float)));
    return gpu_restart(&o->queue);
}

// --- the state -------------------------------------------------------------------------------------------------------

// A pair of steps reads this: at the end of a chunk all is in the first copies.
int tuned::state(handle *h, state_part *part) {
    const own_t *o = own(h);
    const state_part all[] = {{o->s[0], o->count, 1, 0},         {o->e[0], o->count, 1, 0},
                              {o->vx[0], o->count, 1, 0},        {o->vz[0], o->count, 1, 0},
                              {o->psix[0], o->psix_count, 1, 0}, {o->psix_s[0], o->psix_count, 1, 0},
                              {o->psiz[0], o->psiz_count, 1, 0}, {o->psiz_s[0], o->psiz_count, 1, 0}};
    int n = 0;
    for (const state_part &p : all)
        if (p.at != nullptr)
            part[n++] = p;
    return n;
}
