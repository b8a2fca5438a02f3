/* Receivers of a handle in device memory: sampled there for a whole chunk of steps, their traces filtered there; and
 * which of the histories of its sources are those of a step. A solver knows what a cell is: here it is a distance from
 * where a field begins. All functions return 0, or 1 with a sentence. */
#pragma once

#include "gpu_queue.h"
#include "iface.h"

enum {
    GPU_FIELDS = 3,        /* that receivers may be of */
    GPU_SAMPLE_CELLS = 64, /* of an off-grid receiver, for estimates */
    GPU_FILTERS = 2,       /* of traces, each of two bands */
    GPU_SCRATCH = 8 << 20, /* bytes that filtering traces takes on its way */
};

/* As kernels get them. */
typedef struct gpu_receivers {
    const int *start, *field; /* (nrec+1), (nrec) */
    const int *part;          /* (nrec) */
    const ptrdiff_t *cell;    /* (start[nrec]) */
    const float *w;
    float *trace; /* (nrec, rows): receivers run fastest */
    ptrdiff_t nrec;
} gpu_receivers;

/* A filter's band in device memory. */
typedef struct gpu_band {
    int columns, rows, groups, has_gain;
    int *index;    /* (3 groups): first, count, at */
    float *number; /* (4 n + columns): m, gain */
    size_t n, room_index, room_number;
} gpu_band;

typedef struct gpu_points {
    gpu_receivers view;
    gpu_band filter[GPU_FILTERS][2];
    float *filtered[2]; /* what the bands of a filter make of some receivers: (receivers, rows) */
    size_t room_filtered[2];
    struct { /* elements there is room for */
        size_t start, field, part, cell, w, trace;
    } room;
} gpu_points;

/* In device memory: what a step needs to know of its sources. */
typedef struct gpu_step_sources {
    int first, steps, silent; /* histories known; as in handle_points.h */
    int row;                  /* of this step; -1: silent */
} gpu_step_sources;

/* A list of the host in device memory, with room for a quarter more than asked for, as the next shot may need a little
 * more; an empty one may have none. */
int gpu_put(gpu_queue *q, void *place, size_t *room, const void *from, size_t count, size_t size, const char *what);
/* Of the steps that are queued from now on `steps` from step `first` on have histories; they are silent from step
 * `silent` on, 0: not said. A step begins: its number, its row of the histories. */
int gpu_set_step_sources(gpu_queue *q, gpu_step_sources *s, int first, int steps, int silent);
int gpu_tick(gpu_queue *q, gpu_step_sources *s);
/* Receiver r is part[r] (receiver_sum.h) of the sum over c in start[r] .. start[r+1]-1 of w[c] times cell[c] of
 * field[r]. */
int gpu_put_receivers(gpu_queue *q, gpu_points *p, int nrec, const int *start, const int *field, const int *part,
                      const ptrdiff_t *cell, const float *w);
/* Room for n more steps of traces after `steps` of them, of a run of `expected` steps. */
int gpu_trace_room(gpu_queue *q, gpu_points *p, int nrec, int steps, int expected, int n);
/* out(n,nrec) of the rows of traces from `row` on. */
int gpu_get_traces(gpu_queue *q, const gpu_points *p, int nrec, int row, int n, float *out);
/* out(n,nrec) from rows of device memory: row t holds receivers at from + t pitch. */
int gpu_bring(gpu_queue *q, const float *from, ptrdiff_t pitch, ptrdiff_t nrec, int n, float *out);
/* A row of the traces, of the step that q->clock tells: cells of field[f] of receivers of field f. */
int gpu_sample(gpu_queue *q, const gpu_points *p, const float *const field[GPU_FIELDS]);

/* gpu_trace_filter.cu: a filter is new; traces of receivers first .. first+count-1 through it. */
int gpu_put_filter(gpu_queue *q, gpu_points *p, int which, const trace_band band[2]);
int gpu_get_filtered(gpu_queue *q, gpu_points *p, int nrec, int which, int first, int count, float *out);

/* Device memory of a queue, its receivers and a history of so many steps [bytes]. */
size_t gpu_points_need(int receivers, int steps);
