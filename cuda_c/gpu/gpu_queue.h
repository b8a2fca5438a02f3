/* The queue of a handle on a GPU: uploads that overlap with the work of other handles, time steps replayed from a
 * graph, the largest value of a field after each chunk of steps. Nothing here knows what is stepped.
 *
 *   gpu_open                                                     a stream that waits for nobody else
 *   gpu_upload ...                                               copied when it returns; queued, not finished
 *   gpu_begin, gpu_repeat, gpu_end                               a chunk of steps: queued, not finished
 *   gpu_pending, gpu_newest, gpu_largest, gpu_wait               results; a thread that waits sleeps
 *   gpu_close                                                    harmless at any time, after any failure
 *
 * All functions return 0, or 1 with a sentence. The step number is kept in device memory, so that one graph serves all
 * chunks; a graph is made anew only when something changes that its kernels were given by value. */
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>

#include "cuda_err.h"
#include "devmem.h"

enum {
    GPU_CHUNKS = 8,      /* whose results are kept; one less can be unfinished */
    GPU_STAGES = 2,      /* pieces of pinned memory: one is filled while the other is copied */
    GPU_STAGE = 4 << 20, /* bytes of each */
    GPU_GRAPHS = 2,      /* of many and of few steps */
    GPU_INDEX_BITS = 33, /* of a cell's number in a `largest`; the 31 bits above are those of |sigma| */
};

/* In device memory. */
typedef struct gpu_clock {
    int step;                   /* the newest step whose source has been injected */
    int first;                  /* step of the first row of the traces */
    int from;                   /* the newest step before this chunk */
    unsigned long long largest; /* |sigma| and its cell: gpu_largest */
} gpu_clock;

typedef struct gpu_queue {
    int device;
    dm_pool pool;
    cudaStream_t stream;
    int close; /* kernels of a step may follow each other closely (gpu_follow.cuh): not beside another stream's */
    gpu_clock *clock;

    long queued, finished;        /* chunks since the last reset */
    cudaEvent_t done[GPU_CHUNKS]; /* end of chunk n: n % GPU_CHUNKS */
    cudaEvent_t asked;            /* what gpu_wait waits for */
    unsigned long long *peak;     /* pinned: a `largest` for each `done`, one for gpu_largest */

    void *stage[GPU_STAGES]; /* pinned */
    cudaEvent_t staged[GPU_STAGES];
    unsigned turn;

    cudaGraphExec_t graph[GPU_GRAPHS];
} gpu_queue;

/* Field of which the largest value is sought: cell (i,k) at at[k pitch + i]. In 3D nz counts the rows of all planes of
 * all fields: row k is row k mod ny of plane k/ny, plane p is plane p mod planes of field p/planes. */
typedef struct gpu_plane {
    const float *at;
    ptrdiff_t pitch;
    int nx, nz;
    int ny, planes; /* 3D only, else 0 */
    ptrdiff_t plane, field;
    const float *beside; /* more rows of nx numbers, one after the other, which count times `beside_by` */
    int beside_rows;
    float beside_by;
} gpu_plane;

int gpu_open(gpu_queue *q); /* on the device in use; q is all zero */
void gpu_close(gpu_queue *q);
int gpu_enter(gpu_queue *q); /* every verb begins with it: the calling thread works on the queue's device */

/* Zeroed device memory that the stream may use at once. */
int gpu_alloc(gpu_queue *q, void *place, size_t count, size_t size, const char *what);
/* Room for `count` elements; kept if there is as much already, else waits and gets it anew, zeroed. *room: count. */
int gpu_grow(gpu_queue *q, void *place, size_t *room, size_t count, size_t size, const char *what);
/* Queues a copy to the device, or to pinned memory; `host` may be changed at once. */
int gpu_upload(gpu_queue *q, void *device, const void *host, size_t bytes);
/* A piece of pinned memory that nobody uses, *slot its number. Queue its use, then gpu_staged. */
int gpu_stage(gpu_queue *q, int *slot);
int gpu_staged(gpu_queue *q, int slot);
/* 1: memory of a GPU, which kernels read and write in place; 0: the host's. */
int gpu_is_device(const void *memory);
/* Waits, asleep, for all that is queued. */
int gpu_wait(gpu_queue *q);
/* Waits for all that is queued and copies to the host, also from pinned memory. */
int gpu_download(gpu_queue *q, void *host, const void *device, size_t bytes);
/* A field of nz rows of nx cells, `pitch` apart on the device: waits and copies to the host; queues a copy from it. */
int gpu_get_rows(gpu_queue *q, float *host, const float *device, ptrdiff_t pitch, int nx, int nz);
int gpu_put_rows(gpu_queue *q, float *device, ptrdiff_t pitch, const float *host, int nx, int nz);

/* A chunk: begin, any number of repeats, end. `step` launches the kernels of one time step on q->stream and returns 0
 * or 1; one of them adds 1 to q->clock->step. */
int gpu_begin(gpu_queue *q, int it, int first);
int gpu_repeat(gpu_queue *q, int n, int (*step)(void *self), void *self);
int gpu_end(gpu_queue *q, const gpu_plane *sigma);
void gpu_forget_graphs(gpu_queue *q);
/* n steps as a graph of the caller's, who destroys it; null where it failed. */
int gpu_capture(gpu_queue *q, int n, int (*step)(void *self), void *self, cudaGraphExec_t *made);

int gpu_pending(gpu_queue *q, int most);
/* Looks, without waiting, which chunks are finished. */
int gpu_look(gpu_queue *q);
/* Largest |sigma|: of the newest finished chunk, without waiting; now, waiting. nx: cells of a row. */
int gpu_newest(gpu_queue *q, int nx, float *value, int *i, int *k);
int gpu_largest(gpu_queue *q, const gpu_plane *sigma, float *value, int *i, int *k);
/* Waits and forgets all chunks. */
int gpu_restart(gpu_queue *q);
