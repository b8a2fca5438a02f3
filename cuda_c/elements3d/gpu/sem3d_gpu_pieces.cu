// A piece of a mesh on a GPU: its bricks or elements in their turn, and what they have of points of other pieces, which
// is packed for the host, or comes from there.
#include "sem3d_gpu.h"

enum { THREADS = 128 };

static unsigned blocks_of(int n) { return (unsigned)((n + THREADS - 1) / THREADS); }

// --- lists ---------------------------------------------------------------------------------------------------------

// The number of `part` that each slot is. Bricks have slots there; elements that stand alone, 128 numbers each.
static void find_numbers(const sem3d *fd, const sem3d_given *g, int *number) {
    const sem3d_order *o = &fd->order;
    for (int b = 0; b < g->bricks; b++) {
        const sem3d_brick *k = &o->brick[b];
        const size_t first = k->first < fd->cfg.solid ? 0 : (size_t)fd->cfg.solid;
        for (size_t p = 0; p < SEM_POINTS; p++) {
            const int point = g->at[(size_t)k->first * SEM_POINTS + p];
            const int place = point == SEM3D_ELSEWHERE ? -1 : o->place[point];
            const int slot = place < 0 ? 0 : k->outer + sem3d_seek(o->outer + k->outer, k->outers, place);
            if (place >= 0 && slot < k->outer + k->outers && o->outer[slot] == place)
                number[slot] = (int)(((size_t)k->first - first) * SEM3D_PADDED + p);
        }
    }
}

static int put_numbers(sem3d *fd, const int *number, const int *slot, int n, int **place, size_t *room) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    int *list = nullptr;
    TRY(host_alloc(&fd->h.memory, &list, (size_t)n, sizeof(int), "sums between pieces"));
    for (int m = 0; m < n; m++)
        list[m] = number == nullptr ? slot[m] : number[slot[m]];
    const int rc = gpu_put(&o->queue, place, room, list, (size_t)n, sizeof(int), "sums between pieces");
    host_release(&fd->h.memory, &list);
    return rc;
}

static int put_turn(sem3d *fd) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    const sem3d_pieces *p = &fd->pieces;
    const int n = p->inner[1];
    int *element = nullptr;
    TRY(host_alloc(&fd->h.memory, &element, (size_t)n, sizeof(int), "elements of a piece"));
    for (int m = 0; m < n; m++)
        element[m] = fd->order.brick[p->turn[m]].first - (m < p->rim[1][0] ? 0 : fd->cfg.solid);
    const int rc = gpu_put(&o->queue, &o->pieces.turn, &o->pieces.turns, element, (size_t)n, sizeof(int), "a piece");
    host_release(&fd->h.memory, &element);
    return rc;
}

static int put_ways(sem3d *fd, const int *number) {
    sem3d_gpu_pieces *own = &sem3d_gpu_own(&fd->h)->pieces;
    const sem3d_pieces *p = &fd->pieces;
    size_t most = 0;
    for (int f = 0; f < 2 * p->ways; f++) {
        const int out = p->gives[f + 1] - p->gives[f], in = p->takes[f + 1] - p->takes[f];
        most = (size_t)out > most ? (size_t)out : most;
        most = (size_t)in > most ? (size_t)in : most;
    }
    TRY(put_numbers(fd, number, p->give, p->gives[2 * p->ways], &own->give, &own->gives));
    TRY(put_numbers(fd, number, p->take, p->takes[2 * p->ways], &own->take, &own->takes));
    return gpu_grow(&sem3d_gpu_own(&fd->h)->queue, &own->numbers, &own->room, 3 * most, sizeof(float),
                    "sums between pieces");
}

int sem3d_gpu_put_pieces(sem3d *fd, const sem3d_given *given) {
    int *number = nullptr;
    if (sem3d_gpu_own(&fd->h)->kind->bricks)
        return put_ways(fd, nullptr);
    TRY(put_turn(fd));
    TRY(host_alloc(&fd->h.memory, &number, (size_t)fd->order.outers, sizeof(int), "sums between pieces"));
    find_numbers(fd, given, number);
    const int rc = put_ways(fd, number);
    host_release(&fd->h.memory, &number);
    return rc;
}

// --- a part of a step ------------------------------------------------------------------------------------------------

int sem3d_gpu_part_forces(sem3d_gpu *o, int fluid, int part) {
    const sem3d_pieces *p = o->ways;
    const int first = p->rim[fluid][part], last = part == SEM3D_RIM ? p->rim[fluid][SEM3D_INSIDE] : p->inner[fluid];
    sem3d_gpu_phase ph = o->phase[fluid];
    if (first == last)
        return 0;
    ph.brick += first - p->rim[fluid][0];
    ph.bricks = last - first;
    return o->kind->forces(o, &ph, fluid, o->kind->bricks ? nullptr : o->pieces.turn + first, last - first);
}

// --- through the host ------------------------------------------------------------------------------------------------

// n numbers of each component; those that travel stand component after component.
static __global__ void __launch_bounds__(THREADS)
    pack(const float *part, ptrdiff_t stride, const int *list, int n, float *out) {
    const int m = blockIdx.x * THREADS + threadIdx.x;
    if (m < n)
        out[(ptrdiff_t)blockIdx.y * n + m] = part[blockIdx.y * stride + list[m]];
}

static __global__ void __launch_bounds__(THREADS)
    unpack(float *part, ptrdiff_t stride, const int *list, int n, const float *in) {
    const int m = blockIdx.x * THREADS + threadIdx.x;
    if (m < n)
        part[blockIdx.y * stride + list[m]] = in[(ptrdiff_t)blockIdx.y * n + m];
}

int sem3d_gpu_give(sem3d *fd, int fluid, int way, float *out) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    const sem3d_gpu_phase &ph = o->phase[fluid];
    const int *first = fd->pieces.gives + 2 * way + fluid, n = first[1] - first[0];
    const unsigned components = fluid ? 1 : 3;
    const int direct = gpu_is_device(out); // MPI takes it from there
    if (n > 0)
        pack<<<dim3(blocks_of(n), components), THREADS, 0, o->queue.stream>>>(
            ph.part, ph.stride, o->pieces.give + first[0], n, direct ? out : o->pieces.numbers);
    CUDA_TRY(cudaGetLastError());
    if (direct)
        return gpu_wait(&o->queue); // what came before is read, too: more may come
    return gpu_download(&o->queue, out, o->pieces.numbers, components * (size_t)n * sizeof(float));
}

int sem3d_gpu_take(sem3d *fd, int fluid, int way, const float *in) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    const sem3d_gpu_phase &ph = o->phase[fluid];
    const int *first = fd->pieces.takes + 2 * way + fluid, n = first[1] - first[0];
    const unsigned components = fluid ? 1 : 3;
    if (n == 0)
        return 0;
    const int direct = gpu_is_device(in);
    if (!direct)
        TRY(gpu_upload(&o->queue, o->pieces.numbers, in, components * (size_t)n * sizeof(float)));
    unpack<<<dim3(blocks_of(n), components), THREADS, 0, o->queue.stream>>>(
        ph.part, ph.stride, o->pieces.take + first[0], n, direct ? in : o->pieces.numbers);
    CUDA_TRY(cudaGetLastError());
    return 0;
}
