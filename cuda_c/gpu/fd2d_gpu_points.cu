// Source and receivers of a GPU variant: cells in device memory, injected and sampled there for a whole chunk of steps;
// traces stay there as (step, receiver) and come home, transposed, when they are asked for.
#include <cstring>

#include "der.h"
#include "fd2d_gpu_queue.h"

enum { INJECTORS = 128, WARP = 32, SAMPLERS = 256, TILE = 32, TILE_ROWS = 8 };

// --- lists to the device -------------------------------------------------------------------------------------------

// Room (a quarter more than asked for, as the next shot may need a little more) and content.
static int put(fd2d_gpu_queue *q, void *place, size_t *room, const void *from, size_t count, size_t size,
               const char *what) {
    if (count > *room)
        TRY(fd2d_gpu_grow(q, place, room, count + count / 4, size, what));
    void *memory;
    memcpy(&memory, place, sizeof memory);
    return fd2d_gpu_upload(q, memory, from, count * size);
}

static void find_cells(const fd2d_cells *c, int nz, ptrdiff_t pitch, ptrdiff_t *cell) {
    for (int k = 0; k < nz; k++)
        for (int m = c->row[k]; m < c->row[k + 1]; m++)
            cell[m] = k * pitch + c->i[m];
}

static int put_source(fd2d_gpu_queue *q, fd2d_gpu_points *p, const fd2d *fd, ptrdiff_t *cell) {
    const fd2d_cells *s = &fd->source;
    const size_t n = (size_t)s->n;
    find_cells(s, fd->cfg.nz, p->pitch, cell);
    TRY(put(q, &p->view.source, &p->room.source, cell, n, sizeof *cell, "source cells"));
    TRY(put(q, &p->view.source_w, &p->room.source_w, s->w, n, sizeof(float), "source cells"));
    TRY(put(q, &p->view.q, &p->room.q, fd->q, (size_t)fd->nq, sizeof(float), "source wavelet"));
    p->view.nsource = s->n;
    p->view.nq = fd->nq;
    return 0;
}

static int put_receivers(fd2d_gpu_queue *q, fd2d_gpu_points *p, const fd2d *fd, ptrdiff_t *sampled, ptrdiff_t *cell,
                         int *field) {
    const size_t n = (size_t)fd->start[fd->nrec], nrec = (size_t)fd->nrec;
    int first[FD2D_FIELDS + 1] = {0};
    for (int f = 0; f < FD2D_FIELDS; f++) {
        find_cells(&fd->sampled[f], fd->cfg.nz, p->pitch, sampled + first[f]);
        first[f + 1] = first[f] + fd->sampled[f].n;
    }
    for (size_t c = 0; c < n; c++)
        cell[c] = sampled[fd->cell[c]];
    for (size_t r = 0; r < nrec; r++) { // its cells tell its field; without cells any will do
        const int some = fd->start[r] < fd->start[r + 1] ? fd->cell[fd->start[r]] : 0;
        field[r] = some < first[FD2D_VX] ? FD2D_SIGMA : some < first[FD2D_VZ] ? FD2D_VX : FD2D_VZ;
    }
    TRY(put(q, &p->view.start, &p->room.start, fd->start, nrec + 1, sizeof(int), "receivers"));
    TRY(put(q, &p->view.field, &p->room.field, field, nrec, sizeof(int), "receivers"));
    TRY(put(q, &p->view.cell, &p->room.cell, cell, n, sizeof *cell, "receiver cells"));
    TRY(put(q, &p->view.w, &p->room.w, fd->w, n, sizeof(float), "receiver cells"));
    p->view.nrec = fd->nrec;
    return 0;
}

// Graphs hold the view by value: pointers stay as long as there is room, so most shots keep their graphs.
static void check_graphs(fd2d_gpu_queue *q, const fd2d_gpu_view *before, const fd2d_gpu_view *now) {
    if (memcmp(before, now, sizeof *now) != 0)
        fd2d_gpu_forget_graphs(q);
}

int fd2d_gpu_put_source(fd2d_gpu_queue *q, fd2d_gpu_points *p, fd2d *fd) {
    fd2d_gpu_view before;
    ptrdiff_t *cell = nullptr;
    memcpy(&before, &p->view, sizeof before);
    p->view.nsource = p->view.nq = 0; // until all is there
    const int rc =
        fd2d_alloc(fd, &cell, (size_t)fd->source.n, sizeof *cell, "source cells") || put_source(q, p, fd, cell);
    fd2d_release(fd, &cell);
    check_graphs(q, &before, &p->view);
    return rc;
}

int fd2d_gpu_put_receivers(fd2d_gpu_queue *q, fd2d_gpu_points *p, fd2d *fd) {
    fd2d_gpu_view before;
    ptrdiff_t *sampled = nullptr, *cell = nullptr;
    int *field = nullptr;
    size_t different = 0;
    for (const fd2d_cells &c : fd->sampled)
        different += (size_t)c.n;
    memcpy(&before, &p->view, sizeof before);
    p->view.nrec = 0; // until all is there
    const int rc = fd2d_alloc(fd, &sampled, different, sizeof *sampled, "receiver cells") ||
                   fd2d_alloc(fd, &cell, (size_t)fd->start[fd->nrec], sizeof *cell, "receiver cells") ||
                   fd2d_alloc(fd, &field, (size_t)fd->nrec, sizeof *field, "receivers") ||
                   put_receivers(q, p, fd, sampled, cell, field);
    fd2d_release(fd, &sampled);
    fd2d_release(fd, &cell);
    fd2d_release(fd, &field);
    check_graphs(q, &before, &p->view);
    return rc;
}

// --- parts of a time step ------------------------------------------------------------------------------------------

/* One block. Cells that stand several times stand next to each other: one thread adds them all, in their order. Product
 * and sum are rounded one by one, as on the CPU. */
static __global__ void __launch_bounds__(INJECTORS)
    inject(fd2d_gpu_view p, fd2d_gpu_clock *clock, ptrdiff_t pitch, int free_top, float *sigma, float *increment) {
    const int it = clock->step + 1;
    __syncthreads(); // all have read it
    if (threadIdx.x == 0)
        clock->step = it;
    if (it < 1 || it > p.nq)
        return;
    const float q = p.q[it - 1];
    for (int m = threadIdx.x; m < p.nsource; m += INJECTORS) {
        const ptrdiff_t cell = p.source[m], k = cell / pitch;
        if (m > 0 && p.source[m - 1] == cell)
            continue;
        float s = sigma[cell], d = increment != nullptr ? increment[cell] : 0.0f;
        for (int same = m; same < p.nsource && p.source[same] == cell; same++) {
            const float more = __fmul_rn(p.source_w[same], q);
            s = __fadd_rn(s, more);
            d = __fadd_rn(d, more);
        }
        sigma[cell] = s;
        if (increment != nullptr)
            increment[cell] = d;
        if (free_top && k > 0 && k < DER_MAX)
            sigma[cell - 2 * k * pitch] = -s;
    }
}

int fd2d_gpu_inject(fd2d_gpu_queue *q, const fd2d_gpu_points *p, float *sigma, float *increment) {
    inject<<<1, INJECTORS, 0, q->stream>>>(p->view, q->clock, p->pitch, p->free_top, sigma, increment);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

struct fields { // an array would go to the stack, as its index is not a constant
    const float *sigma, *vx, *vz;
};

/* A warp a receiver: its lanes fetch up to 32 cells at once, then the products are added one by one, in their order.
 * A product of two float32 is exact in double. */
static __global__ void __launch_bounds__(SAMPLERS) sample(fd2d_gpu_view p, const fd2d_gpu_clock *clock, fields f) {
    const int lane = threadIdx.x % WARP;
    const ptrdiff_t r = (ptrdiff_t)blockIdx.x * (SAMPLERS / WARP) + threadIdx.x / WARP;
    if (r >= p.nrec) // the whole warp
        return;
    const int begin = p.start[r], end = p.start[r + 1];
    const int field = p.field[r];
    const float *from = field == FD2D_SIGMA ? f.sigma : field == FD2D_VX ? f.vx : f.vz;
    double sum = 0;
    for (int done = begin; done < end; done += WARP) {
        const int n = end - done < WARP ? end - done : WARP;
        const double mine = lane < n ? (double)p.w[done + lane] * from[p.cell[done + lane]] : 0.0;
        for (int c = 0; c < n; c++)
            sum += __shfl_sync(0xffffffffu, mine, c);
    }
    if (lane == 0)
        p.trace[(ptrdiff_t)(clock->step - clock->first) * p.nrec + r] = (float)sum;
}

int fd2d_gpu_sample(fd2d_gpu_queue *q, const fd2d_gpu_points *p, const float *const field[FD2D_FIELDS]) {
    if (p->view.nrec == 0)
        return 0;
    const unsigned blocks = (unsigned)((p->view.nrec + SAMPLERS / WARP - 1) / (SAMPLERS / WARP));
    const fields f = {field[FD2D_SIGMA], field[FD2D_VX], field[FD2D_VZ]};
    sample<<<blocks, SAMPLERS, 0, q->stream>>>(p->view, q->clock, f);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

// --- traces --------------------------------------------------------------------------------------------------------

// As many rows as the wavelet has samples, which is commonly the whole run; beyond that room grows by half.
int fd2d_gpu_trace_room(fd2d_gpu_queue *q, fd2d_gpu_points *p, const fd2d *fd, int n) {
    fd2d_gpu_view *v = &p->view;
    REQUIRE(v->nrec == fd->nrec, "%d receivers, but %ld on the GPU: give the receivers again", fd->nrec, (long)v->nrec);
    const size_t nrec = (size_t)v->nrec, used = (size_t)fd->steps * nrec, need = used + (size_t)n * nrec;
    if (need <= p->room.trace)
        return 0;
    const size_t all = (size_t)fd->nq * nrec, more = p->room.trace + p->room.trace / 2;
    const size_t count = need <= all ? all : need <= more ? more : need;
    fd2d_gpu_forget_graphs(q);
    if (used == 0)
        return fd2d_gpu_grow(q, &v->trace, &p->room.trace, count, sizeof(float), "traces");
    float *grown = nullptr;
    TRY(fd2d_gpu_alloc(q, &grown, count, sizeof(float), "traces"));
    CUDA_TRY(cudaMemcpyAsync(grown, v->trace, used * sizeof(float), cudaMemcpyDeviceToDevice, q->stream));
    TRY(fd2d_gpu_wait(q));
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

static int queue_piece(fd2d_gpu_queue *q, const float *from, ptrdiff_t pitch, piece *s) {
    TRY(fd2d_gpu_stage(q, &s->slot));
    const dim3 blocks((s->nt + TILE - 1) / TILE, (s->receivers + TILE - 1) / TILE);
    transpose<<<blocks, dim3(TILE, TILE_ROWS), 0, q->stream>>>(from + s->t0 * pitch, pitch, s->r0, s->receivers, s->nt,
                                                               (float *)q->stage[s->slot]);
    CUDA_TRY(cudaGetLastError());
    return fd2d_gpu_staged(q, s->slot);
}

static int take_piece(fd2d_gpu_queue *q, const piece *s, int n, float *out) {
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
int fd2d_gpu_bring(fd2d_gpu_queue *q, const float *from, ptrdiff_t pitch, ptrdiff_t nrec, int n, float *out) {
    const int most = FD2D_GPU_STAGE / (int)sizeof(float);
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
    return fd2d_gpu_wait(q);
}

int fd2d_gpu_get_traces(fd2d_gpu_queue *q, const fd2d_gpu_points *p, const fd2d *fd, int it, int n, float *out) {
    const fd2d_gpu_view *v = &p->view;
    REQUIRE(v->nrec == fd->nrec && v->trace != nullptr, "no traces on the GPU: give the receivers again");
    return fd2d_gpu_bring(q, v->trace + (it - fd->first) * v->nrec, v->nrec, v->nrec, n, out);
}

size_t fd2d_gpu_queue_need(int receivers, int steps) {
    const size_t nrec = (size_t)receivers, nt = (size_t)steps;
    const size_t cells = nrec * FD2D_GPU_SAMPLE_CELLS * (sizeof(ptrdiff_t) + sizeof(float));
    const size_t filters = nrec > 0 ? FD2D_GPU_SCRATCH : 0;
    return sizeof(fd2d_gpu_clock) + (nrec * nt + nt) * sizeof(float) + cells * 5 / 4 + filters;
}
