// Receivers in device memory, and the begin of a step. Traces stay there as (step, receiver) and come home, transposed,
// when they are asked for.
#include "gpu_points.h"

#include "gpu_follow.cuh"

#include <cstring>

#include "receiver_sum.h"

enum { WARP = 32, SAMPLERS = 256, TILE = 32, TILE_ROWS = 8 };

// --- lists to the device -------------------------------------------------------------------------------------------

int gpu_put(gpu_queue *q, void *place, size_t *room, const void *from, size_t count, size_t size, const char *what) {
    if (count > *room)
        TRY(gpu_grow(q, place, room, count + count / 4, size, what));
    void *memory;
    memcpy(&memory, place, sizeof memory);
    return gpu_upload(q, memory, from, count * size);
}

// Graphs hold the view by value: pointers stay as long as there is room, so most shots keep their graphs.
int gpu_put_receivers(gpu_queue *q, gpu_points *p, int nrec, const int *start, const int *field, const int *part,
                      const ptrdiff_t *cell, const float *w) {
    const size_t n = (size_t)start[nrec], receivers = (size_t)nrec;
    gpu_receivers before;
    memcpy(&before, &p->view, sizeof before);
    p->view.nrec = 0; // until all is there
    TRY(gpu_put(q, &p->view.start, &p->room.start, start, receivers + 1, sizeof(int), "receivers"));
    TRY(gpu_put(q, &p->view.field, &p->room.field, field, receivers, sizeof(int), "receivers"));
    TRY(gpu_put(q, &p->view.part, &p->room.part, part, receivers, sizeof(int), "receivers"));
    TRY(gpu_put(q, &p->view.cell, &p->room.cell, cell, n, sizeof *cell, "receiver cells"));
    TRY(gpu_put(q, &p->view.w, &p->room.w, w, n, sizeof(float), "receiver cells"));
    p->view.nrec = nrec;
    if (memcmp(&before, &p->view, sizeof before) != 0)
        gpu_forget_graphs(q);
    return 0;
}

// --- the begin of a time step --------------------------------------------------------------------------------------

static __global__ void set_step_sources(gpu_step_sources *s, int first, int steps, int silent) {
    s->first = first;
    s->steps = steps;
    s->silent = silent;
}

int gpu_set_step_sources(gpu_queue *q, gpu_step_sources *s, int first, int steps, int silent) {
    set_step_sources<<<1, 1, 0, q->stream>>>(s, first, steps, silent);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

static __global__ void tick(gpu_clock *clock, gpu_step_sources *s) {
    gpu_follow();
    const int it = ++clock->step, row = it - s->first;
    s->row = (s->silent > 0 && it >= s->silent) || row < 0 || row >= s->steps ? -1 : row;
}

int gpu_tick(gpu_queue *q, gpu_step_sources *s) { return gpu_launch(q, q->close, {1, 1, 0}, tick, q->clock, s); }

// --- the end of a time step ----------------------------------------------------------------------------------------

struct fields { // an array would go to the stack, as its index is not a constant
    const float *first, *second, *third;
};

/* A warp a receiver: each lane adds every 32nd product, which is exact in double, then the lanes' sums are added. */
static __global__ void __launch_bounds__(SAMPLERS) sample(gpu_receivers p, const gpu_clock *clock, fields f) {
    gpu_follow();
    const int lane = threadIdx.x % WARP;
    const ptrdiff_t r = (ptrdiff_t)blockIdx.x * (SAMPLERS / WARP) + threadIdx.x / WARP;
    if (r >= p.nrec) // the whole warp
        return;
    const int begin = p.start[r], end = p.start[r + 1];
    const int field = p.field[r];
    const float *from = field == 0 ? f.first : field == 1 ? f.second : f.third;
    receiver_sum sum = {0, 0};
    for (int c = begin + lane; c < end; c += WARP)
        receiver_add(&sum, (double)p.w[c] * from[p.cell[c]]);
    for (unsigned lanes = WARP / 2; lanes > 0; lanes /= 2) {
        const double other = __shfl_down_sync(0xffffffffu, sum.sum, lanes);
        receiver_join(&sum, {other, __shfl_down_sync(0xffffffffu, sum.rest, lanes)});
    }
    if (lane == 0)
        p.trace[(ptrdiff_t)(clock->step - clock->first) * p.nrec + r] = receiver_part(sum, p.part[r]);
}

int gpu_sample(gpu_queue *q, const gpu_points *p, const float *const field[GPU_FIELDS]) {
    if (p->view.nrec == 0)
        return 0;
    const unsigned blocks = (unsigned)((p->view.nrec + SAMPLERS / WARP - 1) / (SAMPLERS / WARP));
    const fields f = {field[0], field[1], field[2]};
    return gpu_launch(q, q->close, {blocks, SAMPLERS, 0}, sample, p->view, q->clock, f);
}

// --- traces --------------------------------------------------------------------------------------------------------

// As many rows as the whole run has, at once; beyond that room grows by half.
int gpu_trace_room(gpu_queue *q, gpu_points *p, int nrec, int steps, int expected, int n) {
    gpu_receivers *v = &p->view;
    REQUIRE(v->nrec == nrec, "%d receivers, but %ld on the GPU: give the receivers again", nrec, (long)v->nrec);
    const size_t row = (size_t)nrec, used = (size_t)steps * row, need = used + (size_t)n * row;
    if (need <= p->room.trace)
        return 0;
    const size_t all = (size_t)expected * row, more = p->room.trace + p->room.trace / 2;
    const size_t count = need <= all ? all : need <= more ? more : need;
    gpu_forget_graphs(q);
    if (used == 0)
        return gpu_grow(q, &v->trace, &p->room.trace, count, sizeof(float), "traces");
    float *grown = nullptr;
    TRY(gpu_alloc(q, &grown, count, sizeof(float), "traces"));
    CUDA_TRY(cudaMemcpyAsync(grown, v->trace, used * sizeof(float), cudaMemcpyDeviceToDevice, q->stream));
    TRY(gpu_wait(q));
    dm_release(&q->pool, &v->trace);
    v->trace = grown;
    p->room.trace = count;
    return 0;
}

// to(nt, receivers) = from(nrec, nt), receivers r0 ... : read and written along memory, turned in shared memory.
static __global__ void __launch_bounds__(TILE *TILE_ROWS)
    transpose(const float *from, ptrdiff_t nrec, ptrdiff_t r0, int receivers, int nt, float *to) {
    __shared__ float tile[TILE][TILE + 1];
    const int r = blockIdx.y * TILE, t = blockIdx.x * TILE;
    for (int y = threadIdx.y; y < TILE; y += TILE_ROWS)
        if (t + y < nt && r + (int)threadIdx.x < receivers)
            tile[y][threadIdx.x] = from[(ptrdiff_t)(t + y) * nrec + r0 + r + threadIdx.x];
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += TILE_ROWS)
        if (r + y < receivers && t + (int)threadIdx.x < nt)
            to[(ptrdiff_t)(r + y) * nt + t + threadIdx.x] = tile[threadIdx.x][y];
}

// Rows t0 .. t0+nt-1 (from 0) of `receivers` receivers from r0 on, as they go through one stage.
struct piece {
    int slot, t0, nt;
    ptrdiff_t r0;
    int receivers;
};

static int queue_piece(gpu_queue *q, const float *from, ptrdiff_t pitch, piece *s) {
    TRY(gpu_stage(q, &s->slot));
    const dim3 blocks((s->nt + TILE - 1) / TILE, (s->receivers + TILE - 1) / TILE);
    transpose<<<blocks, dim3(TILE, TILE_ROWS), 0, q->stream>>>(from + s->t0 * pitch, pitch, s->r0, s->receivers, s->nt,
                                                               (float *)q->stage[s->slot]);
    CUDA_TRY(cudaGetLastError());
    return gpu_staged(q, s->slot);
}

static int take_piece(gpu_queue *q, const piece *s, int n, float *out) {
    if (s->receivers == 0)
        return 0;
    CUDA_TRY(cudaEventSynchronize(q->staged[s->slot]));
    const float *from = (const float *)q->stage[s->slot];
    for (int r = 0; r < s->receivers; r++)
        memcpy(out + (size_t)(s->r0 + r) * (size_t)n + (size_t)s->t0, from + (size_t)r * (size_t)s->nt,
               (size_t)s->nt * sizeof(float));
    return 0;
}

// While one piece is on its way, the one before it is put in its place.
int gpu_bring(gpu_queue *q, const float *from, ptrdiff_t pitch, ptrdiff_t nrec, int n, float *out) {
    const int most = GPU_STAGE / (int)sizeof(float);
    piece before = {}, now = {};
    for (now.t0 = 0; now.t0 < n; now.t0 += now.nt) {
        now.nt = n - now.t0 < most ? n - now.t0 : most;
        for (now.r0 = 0; now.r0 < nrec; now.r0 += now.receivers) {
            const ptrdiff_t left = nrec - now.r0;
            now.receivers = left < most / now.nt ? (int)left : most / now.nt;
            TRY(queue_piece(q, from, pitch, &now));
            TRY(take_piece(q, &before, n, out));
            before = now;
        }
    }
    TRY(take_piece(q, &before, n, out));
    return gpu_wait(q);
}

int gpu_get_traces(gpu_queue *q, const gpu_points *p, int nrec, int row, int n, float *out) {
    const gpu_receivers *v = &p->view;
    REQUIRE(v->nrec == nrec && v->trace != nullptr, "no traces on the GPU: give the receivers again");
    return gpu_bring(q, v->trace + row * v->nrec, v->nrec, v->nrec, n, out);
}

size_t gpu_points_need(int receivers, int steps) {
    const size_t nrec = (size_t)receivers, nt = (size_t)steps;
    const size_t cells = nrec * GPU_SAMPLE_CELLS * (sizeof(ptrdiff_t) + sizeof(float));
    const size_t filters = nrec > 0 ? GPU_SCRATCH : 0;
    return sizeof(gpu_clock) + (nrec * nt + nt) * sizeof(float) + cells * 5 / 4 + filters;
}
