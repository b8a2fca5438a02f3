// The common part of variants on a GPU, whatever their physics; see gpu_frame.h.
#include "gpu_frame.h"

#include <cstdio>

// --- new and free --------------------------------------------------------------------------------------------------

int gpu_frame_make(handle *h, size_t size) { return host_alloc(&h->memory, &h->own, 1, size, "the GPU's grid"); }

int gpu_take_arrays(gpu_queue *q, const gpu_array *list, int n) {
    for (int a = 0; a < n; a++)
        if (list[a].count > 0)
            TRY(gpu_alloc(q, list[a].place, list[a].count, sizeof(float), list[a].what));
    return 0;
}

size_t gpu_array_bytes(const gpu_array *list, int n) {
    size_t bytes = 0;
    for (int a = 0; a < n; a++)
        bytes += list[a].count * sizeof(float);
    return bytes;
}

int gpu_clear(gpu_queue *q, void *memory, size_t count, size_t size) {
    if (memory != nullptr && count > 0)
        CUDA_TRY(cudaMemsetAsync(memory, 0, count * size, q->stream));
    return 0;
}

static void release(handle *h) {
    gpu_frame *f = gpu_frame_of(h);
    if (f == nullptr)
        return;
    for (int t = 0; t < f->textures; t++)
        if (cudaSetDevice(f->queue.device) == cudaSuccess) {
            cudaStreamSynchronize(f->queue.stream); // it may still be read
            cudaDestroyTextureObject(f->texture[t]);
        }
    cudaGetLastError();
    gpu_link_free(&f->queue, &f->link);
    gpu_close(&f->queue);
}

static size_t pool_bytes(const handle *h) {
    const dm_pool *pool = &gpu_queue_of(h)->pool;
    return pool->bytes + pool->pinned_bytes;
}

// --- textures ------------------------------------------------------------------------------------------------------

int gpu_texture_limit(const gpu_queue *q, size_t *elements) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CUDA_TRY(cudaDeviceGetTexture1DLinearMaxWidth(elements, &format, q->device));
    return 0;
}

int gpu_make_texture(gpu_frame *f, float *memory, size_t count, cudaTextureObject_t *texture) {
    cudaResourceDesc resource = {};
    cudaTextureDesc reading = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = count * sizeof(float);
    reading.readMode = cudaReadModeElementType;
    CUDA_TRY(cudaCreateTextureObject(texture, &resource, &reading, nullptr));
    f->texture[f->textures++] = *texture;
    return 0;
}

// --- receivers -----------------------------------------------------------------------------------------------------

void gpu_find_cells(const cell_list *c, ptrdiff_t y, ptrdiff_t z, ptrdiff_t *cell) {
    for (int m = 0; m < c->n; m++)
        cell[m] = c->at[2][m] * z + c->at[1][m] * y + c->at[0][m];
}

// A receiver's first cell tells its group; without cells any will do.
static int put_receivers(handle *h, const int *group_of, const ptrdiff_t *sampled, ptrdiff_t *cell, int *group,
                         int *part) {
    const receiver_cells *r = &h->receivers;
    for (int c = 0; c < r->start[r->n]; c++)
        cell[c] = sampled[r->cell[c]];
    for (int n = 0; n < r->n; n++) {
        part[n] = receiver_kept(r, n);
        group[n] = r->start[n] < r->start[n + 1] ? group_of[r->cell[r->start[n]]] : 0;
    }
    return gpu_put_receivers(gpu_queue_of(h), &gpu_frame_of(h)->points, r->n, r->start, group, part, cell, r->w);
}

int gpu_frame_receivers(handle *h, ptrdiff_t y, ptrdiff_t z, const ptrdiff_t *first, const int *group) {
    const receiver_cells *r = &h->receivers;
    host_pool *pool = &h->memory;
    ptrdiff_t *sampled = nullptr, *cell = nullptr;
    int *sampled_group = nullptr, *own_group = nullptr, *part = nullptr;
    size_t different = 0, m = 0;
    for (const cell_list &c : r->sampled)
        different += (size_t)c.n;
    int rc = host_alloc(pool, &sampled, different, sizeof *sampled, "receiver cells") ||
             host_alloc(pool, &sampled_group, different, sizeof(int), "receiver cells") ||
             host_alloc(pool, &cell, (size_t)r->start[r->n], sizeof *cell, "receiver cells") ||
             host_alloc(pool, &own_group, (size_t)r->n, sizeof(int), "receivers") ||
             host_alloc(pool, &part, (size_t)r->n, sizeof(int), "receivers");
    for (int f = 0; f < h->solver->fields && rc == 0; f++) {
        gpu_find_cells(&r->sampled[f], y, z, sampled + m);
        for (int c = 0; c < r->sampled[f].n; c++, m++) {
            sampled[m] += first[f];
            sampled_group[m] = group[f];
        }
    }
    rc = rc || put_receivers(h, sampled_group, sampled, cell, own_group, part);
    host_release(pool, &sampled);
    host_release(pool, &sampled_group);
    host_release(pool, &cell);
    host_release(pool, &own_group);
    host_release(pool, &part);
    if (rc != 0)
        gpu_frame_of(h)->points.view.nrec = 0; // not all is there
    return rc;
}

// --- time and traces -----------------------------------------------------------------------------------------------

static int enter(handle *h) { return gpu_enter(gpu_queue_of(h)); }

static int rows(handle *h, int n, float **trace) {
    gpu_points *p = &gpu_frame_of(h)->points;
    const int rc = gpu_trace_room(gpu_queue_of(h), p, h->receivers.n, h->steps, h->expected, n);
    *trace = p->view.trace;
    return rc;
}

int gpu_frame_begin(handle *h, int it, int n) {
    float *trace;
    TRY(rows(h, n, &trace));
    return gpu_begin(gpu_queue_of(h), it, h->first);
}

static int pending(handle *h, int most) { return gpu_pending(gpu_queue_of(h), most); }

static int traces(handle *h, int it, int n, float *out) {
    return gpu_get_traces(gpu_queue_of(h), &gpu_frame_of(h)->points, h->receivers.n, it - h->first, n, out);
}

static int filter(handle *h, int which, const trace_band band[2]) {
    return gpu_put_filter(gpu_queue_of(h), &gpu_frame_of(h)->points, which, band);
}

static int filtered(handle *h, int which, int first, int n, float *out) {
    return gpu_get_filtered(gpu_queue_of(h), &gpu_frame_of(h)->points, h->receivers.n, which, first, n, out);
}

static int move(handle *h, const state_part *part, float *host, int in) {
    const size_t bytes = part->width * part->rows * sizeof(float);
    return in ? gpu_upload(gpu_queue_of(h), part->at, host, bytes)
              : gpu_download(gpu_queue_of(h), host, part->at, bytes);
}

// --- for the record ------------------------------------------------------------------------------------------------

void gpu_device_name(handle *h, char *text, size_t length) {
    cudaDeviceProp properties;
    text[0] = 0;
    if (cudaGetDeviceProperties(&properties, gpu_queue_of(h)->device) == cudaSuccess)
        snprintf(text, length, "%s", properties.name);
    else
        cudaGetLastError();
}

const frame_verbs gpu_frame_verbs = {
    .release = release,
    .device = gpu_device_name,
    .enter = enter,
    .bytes = pool_bytes,
    .pending = pending,
    .traces = traces,
    .rows = rows,
    .move = move,
    .filter = filter,
    .filtered = filtered,
};
