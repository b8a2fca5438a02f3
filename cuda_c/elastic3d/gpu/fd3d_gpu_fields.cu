// Fields, halos and the state of the GPU variants of the 3D time loop, on their way from and to the host.
#include "fd3d_gpu.h"

static size_t cells_in(const int lo[3], const int hi[3]) {
    size_t cells = 1;
    for (int a = 0; a < 3; a++)
        cells *= (size_t)(hi[a] - lo[a]);
    return cells;
}

static int get_box(fd3d_gpu *o, int field, const int lo[3], const int hi[3], float *out) {
    const size_t all = cells_in(lo, hi);
    for (size_t done = 0; done < all; done += FD3D_GPU_BUFFER) {
        const size_t count = all - done < (size_t)FD3D_GPU_BUFFER ? all - done : (size_t)FD3D_GPU_BUFFER;
        TRY(fd3d_gpu_copy(o, o->grid.f[field], lo, hi, done, count, o->buffer, FD3D_GPU_OUT));
        TRY(gpu_download(&o->queue, out + done, o->buffer, count * sizeof(float)));
    }
    return 0;
}

static int set_box(fd3d_gpu *o, int field, const int lo[3], const int hi[3], const float *in) {
    const size_t all = cells_in(lo, hi);
    for (size_t done = 0; done < all; done += FD3D_GPU_BUFFER) {
        const size_t count = all - done < (size_t)FD3D_GPU_BUFFER ? all - done : (size_t)FD3D_GPU_BUFFER;
        TRY(gpu_upload(&o->queue, o->buffer, in + done, count * sizeof(float)));
        TRY(fd3d_gpu_copy(o, o->grid.f[field], lo, hi, done, count, o->buffer, FD3D_GPU_IN));
    }
    return 0;
}

int fd3d_gpu_get(fd3d *fd, int field, const int lo[3], const int hi[3], float *out) {
    TRY(fd3d_gpu_enter(fd));
    return get_box(fd3d_gpu_own(fd), field, lo, hi, out);
}

int fd3d_gpu_set(fd3d *fd, int field, const float *in) {
    TRY(fd3d_gpu_enter(fd));
    const int lo[3] = {0, 0, 0};
    fd3d_gpu_own(fd)->core.ahead = 0;
    return set_box(fd3d_gpu_own(fd), field, lo, fd->cfg.n, in);
}

int fd3d_gpu_halo(fd3d *fd, int what, int side, float *out, const float *in) {
    TRY(fd3d_gpu_enter(fd));
    int lo[3], hi[3], field[3];
    fd3d_halo_box(&fd->cfg, side, out != nullptr, lo, hi);
    fd3d_halo_fields(what, side, field);
    const size_t cells = cells_in(lo, hi);
    for (size_t f = 0; f < 3; f++)
        TRY(out != nullptr ? get_box(fd3d_gpu_own(fd), field[f], lo, hi, out + f * cells)
                           : set_box(fd3d_gpu_own(fd), field[f], lo, hi, in + f * cells));
    return 0;
}

static int clear(fd3d_gpu *o, float *memory, size_t count) {
    if (count > 0)
        CUDA_TRY(cudaMemsetAsync(memory, 0, count * sizeof(float), o->queue.stream));
    return 0;
}

int fd3d_gpu_reset(fd3d *fd) {
    TRY(fd3d_gpu_enter(fd));
    fd3d_gpu *o = fd3d_gpu_own(fd);
    fd3d_part part[FD3D_PARTS];
    TRY(gpu_restart(&o->queue));
    TRY(fd3d_gpu_core_reset(o));
    const int parts = fd3d_gpu_state(fd, part);
    for (int p = 0; p < parts; p++)
        TRY(clear(o, part[p].at, part[p].width * part[p].rows));
    return 0;
}

// Fields with their frames, memory variables, what velocities of the core grow by, what a one-way bottom remembers, the
// map.
int fd3d_gpu_state(fd3d *fd, fd3d_part part[FD3D_PARTS]) {
    fd3d_gpu *o = fd3d_gpu_own(fd);
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

int fd3d_gpu_move(fd3d *fd, const fd3d_part *part, float *host, int in) {
    TRY(fd3d_gpu_enter(fd));
    const size_t bytes = part->width * part->rows * sizeof(float);
    return in ? gpu_upload(&fd3d_gpu_own(fd)->queue, part->at, host, bytes)
              : gpu_download(&fd3d_gpu_own(fd)->queue, host, part->at, bytes);
}
