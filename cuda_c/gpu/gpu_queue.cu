// A handle's queue on the GPU: uploads, chunks of steps, graphs, the largest |sigma|. See gpu_queue.h.
#include "gpu_queue.h"

#include <cmath>
#include <cstring>

static const int graph_steps[GPU_GRAPHS] = {64, 8}; // what is left over is launched kernel by kernel

// --- open and close ------------------------------------------------------------------------------------------------

// Waiting for such an event sleeps.
static int new_event(cudaEvent_t *event) {
    CUDA_TRY(cudaEventCreateWithFlags(event, cudaEventBlockingSync | cudaEventDisableTiming));
    return 0;
}

static __global__ void set_clock(gpu_clock *clock, int step, int first) {
    clock->step = clock->from = step;
    clock->first = first;
}

// By what kernels here were compiled for, rather than by what the GPU can; graphs know of it from CUDA 12.3 on.
static int find_close(gpu_queue *q) {
    cudaFuncAttributes kernel;
    int driver = 0, runtime = 0;
    CUDA_TRY(cudaFuncGetAttributes(&kernel, set_clock));
    CUDA_TRY(cudaDriverGetVersion(&driver));
    CUDA_TRY(cudaRuntimeGetVersion(&runtime));
    q->close = kernel.ptxVersion >= 90 && driver >= 12030 && runtime >= 12030;
    return 0;
}

int gpu_open(gpu_queue *q) {
    CUDA_TRY(cudaGetDevice(&q->device));
    TRY(find_close(q));
    CUDA_TRY(cudaStreamCreateWithFlags(&q->stream, cudaStreamNonBlocking));
    for (cudaEvent_t &event : q->done)
        TRY(new_event(&event));
    TRY(new_event(&q->asked));
    for (int s = 0; s < GPU_STAGES; s++) {
        TRY(new_event(&q->staged[s]));
        TRY(dm_pinned(&q->pool, &q->stage[s], GPU_STAGE, 1, "transfers to and from the GPU"));
    }
    TRY(dm_pinned(&q->pool, &q->peak, GPU_CHUNKS + 1, sizeof *q->peak, "the largest value of each chunk"));
    return gpu_alloc(q, &q->clock, 1, sizeof *q->clock, "the step number");
}

int gpu_enter(gpu_queue *q) {
    CUDA_TRY(cudaSetDevice(q->device));
    return 0;
}

// Looks at no result: what fails here has failed, and been told of, before.
void gpu_close(gpu_queue *q) {
    if (q->stream == nullptr)
        return; // never opened
    cudaSetDevice(q->device);
    cudaStreamSynchronize(q->stream);
    gpu_forget_graphs(q);
    for (cudaEvent_t &event : q->done)
        if (event != nullptr)
            cudaEventDestroy(event);
    for (cudaEvent_t &event : q->staged)
        if (event != nullptr)
            cudaEventDestroy(event);
    if (q->asked != nullptr)
        cudaEventDestroy(q->asked);
    cudaStreamDestroy(q->stream);
    cudaGetLastError();
    dm_empty(&q->pool);
    memset(q, 0, sizeof *q);
}

// --- memory and copies ---------------------------------------------------------------------------------------------

int gpu_alloc(gpu_queue *q, void *place, size_t count, size_t size, const char *what) {
    TRY(dm_alloc(&q->pool, place, count, size, what));
    CUDA_TRY(cudaStreamSynchronize(cudaStreamLegacy)); // it was zeroed there, and the queue's stream does not wait
    return 0;
}

int gpu_grow(gpu_queue *q, void *place, size_t *room, size_t count, size_t size, const char *what) {
    if (count <= *room)
        return 0;
    TRY(gpu_wait(q)); // what is queued may still read the old piece
    *room = 0;
    TRY(gpu_alloc(q, place, count, size, what));
    *room = count;
    return 0;
}

int gpu_stage(gpu_queue *q, int *slot) {
    *slot = (int)(q->turn++ % GPU_STAGES);
    CUDA_TRY(cudaEventSynchronize(q->staged[*slot]));
    return 0;
}

int gpu_staged(gpu_queue *q, int slot) {
    CUDA_TRY(cudaEventRecord(q->staged[slot], q->stream));
    return 0;
}

int gpu_upload(gpu_queue *q, void *device, const void *host, size_t bytes) {
    const size_t most = GPU_STAGE;
    for (size_t done = 0; done < bytes; done += most) {
        const size_t part = bytes - done < most ? bytes - done : most;
        int slot;
        TRY(gpu_stage(q, &slot));
        memcpy(q->stage[slot], (const char *)host + done, part);
        CUDA_TRY(cudaMemcpyAsync((char *)device + done, q->stage[slot], part, cudaMemcpyDefault, q->stream));
        TRY(gpu_staged(q, slot));
    }
    return 0;
}

int gpu_is_device(const void *memory) {
    cudaPointerAttributes of;
    const cudaError_t rc = cudaPointerGetAttributes(&of, memory);
    cudaGetLastError();
    return rc == cudaSuccess && of.type == cudaMemoryTypeDevice;
}

int gpu_wait(gpu_queue *q) {
    CUDA_TRY(cudaEventRecord(q->asked, q->stream));
    CUDA_TRY(cudaEventSynchronize(q->asked));
    q->finished = q->queued;
    return 0;
}

// While one piece is on its way, the one before it is put in its place.
int gpu_download(gpu_queue *q, void *host, const void *device, size_t bytes) {
    const size_t most = GPU_STAGE;
    size_t taken = 0;
    int before = -1;
    for (size_t done = 0; taken < bytes; done += most) {
        int slot = -1;
        if (done < bytes) {
            const size_t part = bytes - done < most ? bytes - done : most;
            TRY(gpu_stage(q, &slot));
            CUDA_TRY(cudaMemcpyAsync(q->stage[slot], (const char *)device + done, part, cudaMemcpyDefault, q->stream));
            TRY(gpu_staged(q, slot));
        }
        if (before >= 0) {
            const size_t part = bytes - taken < most ? bytes - taken : most;
            CUDA_TRY(cudaEventSynchronize(q->staged[before]));
            memcpy((char *)host + taken, q->stage[before], part);
            taken += part;
        }
        before = slot;
    }
    return gpu_wait(q);
}

int gpu_get_rows(gpu_queue *q, float *host, const float *device, ptrdiff_t pitch, int nx, int nz) {
    const size_t width = (size_t)nx * sizeof(float);
    TRY(gpu_wait(q)); // asleep, which the copy would not
    CUDA_TRY(cudaMemcpy2DAsync(host, width, device, (size_t)pitch * sizeof(float), width, (size_t)nz,
                               cudaMemcpyDeviceToHost, q->stream));
    return gpu_wait(q);
}

int gpu_put_rows(gpu_queue *q, float *device, ptrdiff_t pitch, const float *host, int nx, int nz) {
    const size_t width = (size_t)nx * sizeof(float);
    CUDA_TRY(cudaMemcpy2DAsync(device, (size_t)pitch * sizeof(float), host, width, width, (size_t)nz,
                               cudaMemcpyHostToDevice, q->stream));
    return 0;
}

// --- chunks --------------------------------------------------------------------------------------------------------

static __global__ void forget_largest(gpu_clock *clock) { clock->largest = 0; }

int gpu_begin(gpu_queue *q, int it, int first) {
    // Of the pieces in `peak`, one is the newest finished chunk's and one will be this chunk's.
    TRY(gpu_pending(q, GPU_CHUNKS - 2));
    set_clock<<<1, 1, 0, q->stream>>>(q->clock, it - 1, first);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

void gpu_forget_graphs(gpu_queue *q) {
    for (cudaGraphExec_t &graph : q->graph) {
        if (graph != nullptr)
            cudaGraphExecDestroy(graph); // one that runs is given back when it ends
        graph = nullptr;
    }
}

// Between begin and end of a capture nothing is computed, only noted; the end must come, whatever fails in between.
int gpu_capture(gpu_queue *q, int n, int (*step)(void *self), void *self, cudaGraphExec_t *made) {
    cudaGraph_t graph = nullptr;
    int rc = 0;
    *made = nullptr;
    CUDA_TRY(cudaStreamBeginCapture(q->stream, cudaStreamCaptureModeThreadLocal));
    for (int s = 0; s < n && rc == 0; s++)
        rc = step(self);
    cudaError_t status = cudaStreamEndCapture(q->stream, &graph);
    if (rc == 0 && status == cudaSuccess)
        status = cudaGraphInstantiate(made, graph, cudaGraphInstantiateFlagUseNodePriority);
    if (graph != nullptr)
        cudaGraphDestroy(graph);
    if (status != cudaSuccess) {
        *made = nullptr;
        cudaGetLastError(); // the sentence may be that of a step
    }
    TRY(rc);
    CUDA_TRY(status);
    return 0;
}

int gpu_repeat(gpu_queue *q, int n, int (*step)(void *self), void *self) {
    for (int g = 0; g < GPU_GRAPHS; g++)
        for (; n >= graph_steps[g]; n -= graph_steps[g]) {
            if (q->graph[g] == nullptr)
                TRY(gpu_capture(q, graph_steps[g], step, self, &q->graph[g]));
            CUDA_TRY(cudaGraphLaunch(q->graph[g], q->stream));
        }
    for (; n > 0; n--)
        TRY(step(self));
    return 0;
}

// --- the largest |sigma| -------------------------------------------------------------------------------------------

/* Value and cell in one number, so that one maximum finds both. The bits of |x| are ordered as |x| is, infinities above
 * all numbers, NaN above infinity; of equal values the first cell wins. Cells are numbered k nx + i. */
static const unsigned long long last_cell = (1ull << GPU_INDEX_BITS) - 1;

enum { SEEKERS = 256, SEEKER_BLOCKS = 2048 };

static __device__ const float *row_of(const gpu_plane &s, int k) {
    if (k >= s.nz)
        return s.beside + (ptrdiff_t)(k - s.nz) * s.nx;
    if (s.ny == 0)
        return s.at + k * s.pitch;
    const int p = k / s.ny;
    return s.at + p / s.planes * s.field + p % s.planes * s.plane + k % s.ny * s.pitch;
}

static __global__ void __launch_bounds__(SEEKERS) seek_largest(gpu_plane s, gpu_clock *clock) {
    unsigned largest = 0;
    long long at = -1;
    for (int k = blockIdx.x; k < s.nz + s.beside_rows; k += gridDim.x) {
        const float *row = row_of(s, k);
        for (int i = threadIdx.x; i < s.nx; i += SEEKERS) {
            const unsigned bits = __float_as_uint(k < s.nz ? row[i] : s.beside_by * row[i]) & 0x7fffffffu;
            if (bits > largest || at < 0) {
                largest = bits;
                at = (long long)k * s.nx + i;
            }
        }
    }
    unsigned long long best =
        at < 0 ? 0 : (unsigned long long)largest << GPU_INDEX_BITS | (last_cell - (unsigned long long)at);
    for (int lane = 16; lane > 0; lane /= 2) {
        const unsigned long long other = __shfl_xor_sync(0xffffffffu, best, lane);
        best = other > best ? other : best;
    }
    if (threadIdx.x % 32 == 0)
        atomicMax(&clock->largest, best);
}

// Queues the search; the result arrives in peak[slot].
static int queue_largest(gpu_queue *q, const gpu_plane *sigma, int slot) {
    const int rows = sigma->nz + sigma->beside_rows, blocks = rows < SEEKER_BLOCKS ? rows : SEEKER_BLOCKS;
    forget_largest<<<1, 1, 0, q->stream>>>(q->clock);
    CUDA_TRY(cudaGetLastError());
    seek_largest<<<blocks, SEEKERS, 0, q->stream>>>(*sigma, q->clock);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaMemcpyAsync(&q->peak[slot], &q->clock->largest, sizeof *q->peak, cudaMemcpyDeviceToHost, q->stream));
    return 0;
}

static void unpack_largest(unsigned long long best, int nx, float *value, int *i, int *k) {
    const unsigned bits = (unsigned)(best >> GPU_INDEX_BITS);
    const unsigned long long cell = last_cell - (best & last_cell);
    memcpy(value, &bits, sizeof *value);
    if (!std::isfinite(*value))
        *value = INFINITY;
    *i = (int)(cell % (unsigned)nx);
    *k = (int)(cell / (unsigned)nx);
}

int gpu_end(gpu_queue *q, const gpu_plane *sigma) {
    const int slot = (int)(q->queued % GPU_CHUNKS);
    TRY(queue_largest(q, sigma, slot));
    CUDA_TRY(cudaEventRecord(q->done[slot], q->stream));
    q->queued++;
    return 0;
}

int gpu_largest(gpu_queue *q, const gpu_plane *sigma, float *value, int *i, int *k) {
    TRY(queue_largest(q, sigma, GPU_CHUNKS));
    TRY(gpu_wait(q));
    unpack_largest(q->peak[GPU_CHUNKS], sigma->nx, value, i, k);
    return 0;
}

int gpu_look(gpu_queue *q) {
    while (q->finished < q->queued) {
        const cudaError_t rc = cudaEventQuery(q->done[q->finished % GPU_CHUNKS]);
        if (rc == cudaErrorNotReady) {
            cudaGetLastError(); // not a failure
            break;
        }
        CUDA_TRY(rc);
        q->finished++;
    }
    return 0;
}

int gpu_newest(gpu_queue *q, int nx, float *value, int *i, int *k) {
    TRY(gpu_look(q));
    *value = 0;
    *i = *k = 0;
    if (q->finished > 0)
        unpack_largest(q->peak[(q->finished - 1) % GPU_CHUNKS], nx, value, i, k);
    return 0;
}

int gpu_pending(gpu_queue *q, int most) {
    if (q->queued - q->finished <= most)
        return 0;
    const long until = q->queued - most;
    CUDA_TRY(cudaEventSynchronize(q->done[(until - 1) % GPU_CHUNKS]));
    q->finished = until;
    return 0;
}

int gpu_restart(gpu_queue *q) {
    TRY(gpu_wait(q));
    q->queued = q->finished = 0;
    return 0;
}
