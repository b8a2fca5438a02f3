/* What a GPU variant of the 2D time loop needs beside its kernels: a queue of its own on the GPU, uploads that overlap
 * with the work of other handles, time steps replayed from a graph, the largest |sigma| after each chunk; and sources
 * and receivers that live on the device. Nothing here knows how a variant keeps its fields.
 *
 *   fd2d_gpu_open                                                     a stream that waits for nobody else
 *   fd2d_gpu_upload ...                                               copied when it returns; queued, not finished
 *   fd2d_gpu_begin, fd2d_gpu_repeat, fd2d_gpu_end                     a chunk of steps: queued, not finished
 *   fd2d_gpu_pending, fd2d_gpu_newest, fd2d_gpu_largest, ..._wait     results; who waits sleeps
 *   fd2d_gpu_close                                                    harmless at any time, after any failure
 *
 * All functions return 0, or 1 with a sentence. The step number is kept in device memory, so that one graph serves all
 * chunks; a graph is made anew only when something changes that its kernels were given by value. */
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>

#include "cuda_err.h"
#include "devmem.h"
#include "fd2d.h"

enum {
    FD2D_GPU_CHUNKS = 8,        /* whose results are kept; one less can be unfinished */
    FD2D_GPU_STAGES = 2,        /* pieces of pinned memory: one is filled while the other is copied */
    FD2D_GPU_STAGE = 4 << 20,   /* bytes of each */
    FD2D_GPU_GRAPHS = 2,        /* of many and of few steps */
    FD2D_GPU_INDEX_BITS = 33,   /* of a cell's number in a `largest`; the 31 bits above are those of |sigma| */
    FD2D_GPU_SAMPLE_CELLS = 64, /* of an off-grid receiver, for estimates */
    FD2D_GPU_FILTERS = 2,       /* of traces, each of two bands */
    FD2D_GPU_SCRATCH = 8 << 20, /* bytes that filtering traces takes on its way */
};

/* In device memory. */
typedef struct fd2d_gpu_clock {
    int step;                   /* the newest step whose source has been injected */
    int first;                  /* step of the first row of the traces */
    int from;                   /* the newest step before this chunk */
    unsigned long long largest; /* |sigma| and its cell: fd2d_gpu_largest */
} fd2d_gpu_clock;

typedef struct fd2d_gpu_queue {
    int device;
    dm_pool pool;
    cudaStream_t stream;
    fd2d_gpu_clock *clock;

    long queued, finished;             /* chunks since the last reset */
    cudaEvent_t done[FD2D_GPU_CHUNKS]; /* end of chunk n: n % FD2D_GPU_CHUNKS */
    cudaEvent_t asked;                 /* what fd2d_gpu_wait waits for */
    unsigned long long *peak;          /* pinned: a `largest` for each `done`, one for fd2d_gpu_largest */

    void *stage[FD2D_GPU_STAGES]; /* pinned */
    cudaEvent_t staged[FD2D_GPU_STAGES];
    unsigned turn;

    cudaGraphExec_t graph[FD2D_GPU_GRAPHS];
} fd2d_gpu_queue;

/* Field of which the largest value is sought: cell (i,k) at at[k pitch + i]. In 3D nz counts the rows of all planes of
 * all fields: row k is row k mod ny of plane k/ny, plane p is plane p mod planes of field p/planes. */
typedef struct fd2d_gpu_plane {
    const float *at;
    ptrdiff_t pitch;
    int nx, nz;
    int ny, planes; /* 3D only, else 0 */
    ptrdiff_t plane, field;
} fd2d_gpu_plane;

/* --- fd2d_gpu_queue.cu ------------------------------------------------------------------------------------------ */

int fd2d_gpu_open(fd2d_gpu_queue *q); /* on the device in use; q is all zero */
void fd2d_gpu_close(fd2d_gpu_queue *q);
int fd2d_gpu_enter(fd2d_gpu_queue *q); /* every verb begins with it: the calling thread works on the queue's device */

/* Zeroed device memory that the stream may use at once. */
int fd2d_gpu_alloc(fd2d_gpu_queue *q, void *place, size_t count, size_t size, const char *what);
/* Room for `count` elements; kept if there is as much already, else waits and gets it anew, zeroed. *room: count. */
int fd2d_gpu_grow(fd2d_gpu_queue *q, void *place, size_t *room, size_t count, size_t size, const char *what);
/* Queues a copy to the device; `host` may be changed at once. */
int fd2d_gpu_upload(fd2d_gpu_queue *q, void *device, const void *host, size_t bytes);
/* A piece of pinned memory that nobody uses, *slot its number. Queue its use, then fd2d_gpu_staged. */
int fd2d_gpu_stage(fd2d_gpu_queue *q, int *slot);
int fd2d_gpu_staged(fd2d_gpu_queue *q, int slot);
/* Waits, asleep, for all that is queued. */
int fd2d_gpu_wait(fd2d_gpu_queue *q);
/* Waits for all that is queued and copies to the host. */
int fd2d_gpu_download(fd2d_gpu_queue *q, void *host, const void *device, size_t bytes);

/* A chunk: begin, any number of repeats, end. `step` launches the kernels of one time step on q->stream and returns 0
 * or 1; each step must contain fd2d_gpu_inject, which counts the steps. */
int fd2d_gpu_begin(fd2d_gpu_queue *q, int it, int first);
int fd2d_gpu_repeat(fd2d_gpu_queue *q, int n, int (*step)(void *self), void *self);
int fd2d_gpu_end(fd2d_gpu_queue *q, const fd2d_gpu_plane *sigma);
void fd2d_gpu_forget_graphs(fd2d_gpu_queue *q);

int fd2d_gpu_pending(fd2d_gpu_queue *q, int most);
/* Largest |sigma|: of the newest finished chunk, without waiting; now, waiting. nx: cells of a row. */
int fd2d_gpu_newest(fd2d_gpu_queue *q, int nx, float *value, int *i, int *k);
int fd2d_gpu_largest(fd2d_gpu_queue *q, const fd2d_gpu_plane *sigma, float *value, int *i, int *k);
/* Waits and forgets all chunks. */
int fd2d_gpu_restart(fd2d_gpu_queue *q);

/* --- fd2d_gpu_points.cu ----------------------------------------------------------------------------------------- */

/* Source and receivers as kernels get them, in device memory. Cell (i,k) is k pitch + i. */
typedef struct fd2d_gpu_view {
    const ptrdiff_t *source; /* (nsource) cells, ascending */
    const float *source_w, *q;
    int nsource, nq;

    const int *start, *field; /* (nrec+1), (nrec) */
    const ptrdiff_t *cell;    /* (start[nrec]) */
    const float *w;
    float *trace; /* (nrec, rows): receivers run fastest */
    ptrdiff_t nrec;
} fd2d_gpu_view;

/* A filter's band in device memory. */
typedef struct fd2d_gpu_band {
    int columns, rows, groups, has_gain;
    int *index;    /* (3 groups): first, count, at */
    float *number; /* (4 n + columns): m, gain */
    size_t n, room_index, room_number;
} fd2d_gpu_band;

typedef struct fd2d_gpu_points {
    fd2d_gpu_view view;
    fd2d_gpu_band filter[FD2D_GPU_FILTERS][2];
    float *filtered[2]; /* what the bands of a filter make of some receivers: (receivers, rows) */
    size_t room_filtered[2];
    ptrdiff_t pitch;
    int free_top;
    struct { /* elements there is room for */
        size_t source, source_w, q, start, field, cell, w, trace;
    } room;
} fd2d_gpu_points;

/* fd->q, source are new; fd->start ... sampled are new. */
int fd2d_gpu_put_source(fd2d_gpu_queue *q, fd2d_gpu_points *p, fd2d *fd);
int fd2d_gpu_put_receivers(fd2d_gpu_queue *q, fd2d_gpu_points *p, fd2d *fd);
/* Room for the traces of n more steps. */
int fd2d_gpu_trace_room(fd2d_gpu_queue *q, fd2d_gpu_points *p, const fd2d *fd, int n);
/* out(n,nrec) of steps it .. it+n-1. */
int fd2d_gpu_get_traces(fd2d_gpu_queue *q, const fd2d_gpu_points *p, const fd2d *fd, int it, int n, float *out);
/* out(n,nrec) from rows of device memory: row t holds receivers at from + t pitch. */
int fd2d_gpu_bring(fd2d_gpu_queue *q, const float *from, ptrdiff_t pitch, ptrdiff_t nrec, int n, float *out);
/* fd2d_gpu_filter.cu: a filter is new; traces of receivers first .. first+nrec-1 through it. */
int fd2d_gpu_put_filter(fd2d_gpu_queue *q, fd2d_gpu_points *p, int which, const fd2d_band band[2]);
int fd2d_gpu_get_filtered(fd2d_gpu_queue *q, fd2d_gpu_points *p, const fd2d *fd, int which, int first, int nrec,
                          float *out);

/* Parts of a time step. Inject: the next step begins here as far as source and traces are concerned; sigma grows by w
 * q(step), and so does `increment` where a variant keeps sigma(n+1) - sigma(n) too (else null). Below a free surface
 * the antisymmetric image above it follows. Sample: one row of the traces, of field[FD2D_SIGMA], [FD2D_VX], [FD2D_VZ].
 */
int fd2d_gpu_inject(fd2d_gpu_queue *q, const fd2d_gpu_points *p, float *sigma, float *increment);
int fd2d_gpu_sample(fd2d_gpu_queue *q, const fd2d_gpu_points *p, const float *const field[FD2D_FIELDS]);

/* Device memory of a queue, its source and its receivers [bytes]. */
size_t fd2d_gpu_queue_need(int receivers, int steps);
