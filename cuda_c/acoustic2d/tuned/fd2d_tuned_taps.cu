// Receivers' cells in the steps within a pass: which buckets of columns are kept, and where cells are in them.
#include <algorithm>

#include "fd2d_tuned.h"

using namespace tuned;

static int across(int nx) { return (nx + BUCKET - 1) / BUCKET; }

// slot of bucket[n] becomes n BUCKET.
static __global__ void __launch_bounds__(BLOCK) set_slots(int n, const int *bucket, int *slot) {
    const int j = blockIdx.x * BLOCK + threadIdx.x;
    if (j < n)
        slot[bucket[j]] = j * BUCKET;
}

// Cells are sorted by row and column, buckets therefore too: cell c is place[c] in what is kept.
static int find_buckets(const cell_list *sampled, int nx, int *bucket, ptrdiff_t *place) {
    int n = 0;
    for (int c = 0; c < sampled->n; c++) {
        const int i = sampled->at[0][c], b = sampled->at[2][c] * across(nx) + i / BUCKET;
        if (n == 0 || bucket[n - 1] != b)
            bucket[n++] = b;
        place[c] = (ptrdiff_t)(n - 1) * BUCKET + i % BUCKET;
    }
    return n;
}

static int put_slots(own_t *o, const int *bucket, int n) {
    pass_taps *t = &o->taps;
    const size_t all = (size_t)o->g.nz * (size_t)across(o->g.nx);
    int *list = nullptr;
    TRY(gpu_grow(&o->queue, &t->slot, &t->room_slot, all, sizeof(int), "buckets of receivers"));
    CUDA_TRY(cudaMemsetAsync(t->slot, 0xff, all * sizeof(int), o->queue.stream));
    if (n == 0)
        return 0;
    TRY(gpu_alloc(&o->queue, &list, (size_t)n, sizeof(int), "buckets of receivers"));
    TRY(gpu_upload(&o->queue, list, bucket, (size_t)n * sizeof(int)));
    set_slots<<<(n + BLOCK - 1) / BLOCK, BLOCK, 0, o->queue.stream>>>(n, list, t->slot);
    CUDA_TRY(cudaGetLastError());
    TRY(gpu_wait(&o->queue));
    dm_release(&o->queue.pool, &list);
    return 0;
}

static int put_lists(handle *h, int *bucket, ptrdiff_t *place, ptrdiff_t *cell) {
    own_t *o = own(h);
    pass_taps *t = &o->taps;
    const receiver_cells *r = &h->receivers;
    const int n = find_buckets(&r->sampled[FD2D_SIGMA], o->g.nx, bucket, place), entries = r->start[r->n];
    const size_t before = t->room_sigma, within = (size_t)(o->pass.steps - 1);
    for (int c = 0; c < entries; c++)
        cell[c] = place[r->cell[c]];
    TRY(put_slots(o, bucket, n));
    TRY(gpu_put(&o->queue, &t->cell, &t->room_cell, cell, (size_t)entries, sizeof *cell, "receiver cells"));
    const size_t need = within * (size_t)n * BUCKET;
    size_t room = 0;
    t->room_sigma = 0; // until there is room in both
    for (float *&sigma : t->sigma) {
        room = before;
        TRY(gpu_grow(&o->queue, &sigma, &room, need, sizeof(float), "sigma at receivers"));
    }
    t->room_sigma = room;
    t->count = (ptrdiff_t)(t->room_sigma / within);
    t->first = n > 0 ? bucket[0] / across(o->g.nx) : 0;
    t->end = n > 0 ? bucket[n - 1] / across(o->g.nx) + 1 : 0;
    return 0;
}

// Graphs hold what is found here by value.
int tuned::put_taps(handle *h) {
    own_t *o = own(h);
    const size_t cells = (size_t)h->receivers.sampled[FD2D_SIGMA].n,
                 entries = (size_t)h->receivers.start[h->receivers.n];
    const pass_taps before = o->taps;
    int *bucket = nullptr;
    ptrdiff_t *place = nullptr, *cell = nullptr;
    const int rc = host_alloc(&h->memory, &bucket, cells, sizeof *bucket, "buckets of receivers") ||
                   host_alloc(&h->memory, &place, cells, sizeof *place, "receiver cells") ||
                   host_alloc(&h->memory, &cell, entries, sizeof *cell, "receiver cells") ||
                   put_lists(h, bucket, place, cell);
    host_release(&h->memory, &bucket);
    host_release(&h->memory, &place);
    host_release(&h->memory, &cell);
    if (memcmp(&before, &o->taps, sizeof before) != 0)
        gpu_forget_graphs(&o->queue);
    return rc;
}

// At most eight rows of two buckets a receiver.
size_t tuned::taps_need(const fd2d_cfg *c, int receivers) {
    const size_t all = (size_t)c->nz * (size_t)across(c->nx), buckets = std::min(all, (size_t)receivers * 16);
    return all * sizeof(int) + (size_t)receivers * GPU_SAMPLE_CELLS * sizeof(ptrdiff_t) +
           2 * (MOST_STEPS - 1) * buckets * BUCKET * sizeof(float);
}
