// Fields, halos and the state of the GPU variants of the 3D time loop, on their way from and to the host.
#include "fd3d_gpu.h"

static size_t cells_in(const int lo[3], const int hi[3]) {
    size_t cells = 1;
    for (int a = 0; a < 3; a++)
        cells *= (size_t)(hi[a] - lo[a]);
    return cells;
}

static int get_box(fd3d_gpu *o, float *field, const int lo[3], const int hi[3], float *out) {
    const size_t all = cells_in(lo, hi);
    for (size_t done = 0; done < all; done += FD3D_GPU_BUFFER) {
        const size_t count = all - done < (size_t)FD3D_GPU_BUFFER ? all - done : (size_t)FD3D_GPU_BUFFER;
        TRY(fd3d_gpu_copy(o, field, lo, hi, done, count, o->buffer, FD3D_GPU_OUT));
        TRY(gpu_download(&o->queue, out + done, o->buffer, count * sizeof(float)));
    }
    return 0;
}

static int set_box(fd3d_gpu *o, float *field, const int lo[3], const int hi[3], const float *in) {
    const size_t all = cells_in(lo, hi);
    for (size_t done = 0; done < all; done += FD3D_GPU_BUFFER) {
        const size_t count = all - done < (size_t)FD3D_GPU_BUFFER ? all - done : (size_t)FD3D_GPU_BUFFER;
        TRY(gpu_upload(&o->queue, o->buffer, in + done, count * sizeof(float)));
        TRY(fd3d_gpu_copy(o, field, lo, hi, done, count, o->buffer, FD3D_GPU_IN));
    }
    return 0;
}

int fd3d_gpu_get(fd3d *fd, int field, const int lo[3], const int hi[3], float *out) {
    fd3d_gpu *o = fd3d_gpu_own(&fd->h);
    return get_box(o, o->grid.f[field], lo, hi, out);
}

int fd3d_gpu_set(handle *h, int field, const float *in) {
    const int lo[3] = {0, 0, 0};
    fd3d_gpu *o = fd3d_gpu_own(h);
    o->core.ahead = o->core.partly = 0;
    return set_box(o, o->grid.f[field], lo, h->n, in);
}

int fd3d_gpu_halo(fd3d *fd, int what, int side, float *out, const float *in) {
    fd3d_gpu *o = fd3d_gpu_own(&fd->h);
    int lo[3], hi[3], number[3];
    fd3d_halo_box(&fd->cfg, side, out != nullptr, lo, hi);
    fd3d_halo_fields(what, side, number);
    const size_t cells = cells_in(lo, hi);
    const int direct = gpu_is_device(out != nullptr ? out : in); // MPI takes it from there, and brings it there
    for (size_t f = 0; f < 3; f++) {
        float *field = what == 0 && o->core.partly ? o->grid.next_v[f] : o->grid.f[number[f]];
        if (direct && out != nullptr)
            TRY(fd3d_gpu_copy(o, field, lo, hi, 0, cells, out + f * cells, FD3D_GPU_OUT));
        else if (direct)
            TRY(fd3d_gpu_copy(o, field, lo, hi, 0, cells, (float *)in + f * cells, FD3D_GPU_IN));
        else
            TRY(out != nullptr ? get_box(o, field, lo, hi, out + f * cells)
                               : set_box(o, field, lo, hi, in + f * cells));
    }
    // The wait ends when the halo that came before is read too: only then can MPI bring the next one.
    return direct && out != nullptr ? gpu_wait(&o->queue) : 0;
}

int fd3d_gpu_reset(handle *h) {
    fd3d_gpu *o = fd3d_gpu_own(h);
    state_part part[HANDLE_PARTS];
    TRY(gpu_restart(&o->queue));
    TRY(fd3d_gpu_core_reset(o));
    const int parts = fd3d_gpu_state(h, part);
    for (int p = 0; p < parts; p++)
        TRY(gpu_clear(&o->queue, part[p].at, part[p].width * part[p].rows, sizeof(float)));
    return 0;
}

// The state is the fields with their frames, memory variables, the increments of the core's velocities, the last rows
// that a one-way bottom keeps, and the map.
int fd3d_gpu_state(handle *h, state_part part[HANDLE_PARTS]) {
    fd3d_gpu *o = fd3d_gpu_own(h);
    const struct {
        float *at;
        size_t count;
    } pieces[] = {{o->grid.f[FD3D_VX] - o->origin, 3 * o->count},
                  {o->fields + 3 * o->count, FD3D_STRESSES * o->count},
                  {o->memory, fd3d_gpu_memory_count(o)},
                  {o->core.a, o->core.on ? 3 * o->count : 0},
                  {o->psi, o->psi_count},
                  {o->before, o->before_count},
                  {o->map.peak, 3 * (size_t)o->map.n}};
    int parts = 0;
    for (const auto &p : pieces)
        if (p.count > 0)
            part[parts++] = {p.at, p.count, 1, (ptrdiff_t)p.count};
    return parts;
}
