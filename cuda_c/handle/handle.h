/* The common part of solvers' handles, whatever their physics: the kernel variant, host memory, sources, receivers, the
 * order of steps, traces, filters of traces, and the state. A solver's own handle begins with it,
 *
 *   typedef struct fd2d { handle h; fd2d_cfg cfg; ... } fd2d;
 *
 * its file describes the solver (solver_kind) and adds the verbs that only it has: they check arguments, keep geometry,
 * and hand on to the variant. Those that all have are here; interfaces/handle_c.f90 tells what they mean.
 *
 * A variant is one file with one exported constant, KERNEL_VARIANT(solver, name) = {...}, and a line in the solver's
 * list of variants (solver.inc). A build without CUDA keeps the names of the GPU variants, so that parameter
 * files and help are the same everywhere, and no more. */
#pragma once

#include <stddef.h>

#include "handle_points.h"
#include "host_pool.h"
#include "iface.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HANDLE_PARTS = 96, HANDLE_FILTERS = 2 }; /* of a state, at most; of traces */

typedef struct handle handle;

/* A piece of the state of a time loop, in the variant's memory: `rows` rows of `width` floats. */
typedef struct state_part {
    float *at;
    size_t width, rows;
    ptrdiff_t pitch; /* from one row to the next */
} state_part;

/* Verbs by where a variant computes, whatever it computes: cpu_frame_verbs or gpu_frame_verbs. All but `release` and
 * `device` may be null. */
typedef struct frame_verbs {
    void (*release)(handle *h); /* h->own may be null or half made; memory of h->memory is given back later */
    void (*device)(handle *h, char *text, size_t length);
    int (*enter)(handle *h);                 /* called before all others: the calling thread works for this handle */
    size_t (*bytes)(const handle *h);        /* memory held beside h->memory */
    void (*threads)(handle *h, int threads); /* of cores: from now on */
    int (*tune)(handle *h, const char *isa, const int tile[3]);
    int (*pending)(handle *h, int most);                 /* of one whose timestep only queues */
    int (*traces)(handle *h, int it, int n, float *out); /* out(n,receivers), of one that keeps them itself */
    int (*rows)(handle *h, int n, float **trace);        /* likewise: room for n more steps; *trace(receivers,rows) */
    /* one piece from or to `host`, where it is no plain memory; waits for what is queued */
    int (*move)(handle *h, const state_part *part, float *host, int in);
    int (*filter)(handle *h, int which, const trace_band band[2]); /* of one that filters its traces too */
    int (*filtered)(handle *h, int which, int first, int n, float *out);
} frame_verbs;

/* Verbs of a variant; all return 0 or fail with err_set. A solver's verbs begin with these and go on with its own.
 * Members of the second part may be null. */
typedef struct handle_verbs {
    const frame_verbs *frame;
    int (*make)(handle *h);                                  /* fills h->own from the configuration */
    int (*set)(handle *h, int field, const float *in);       /* a whole field */
    int (*maxabs)(handle *h, float *value, int place[3]);    /* the largest |value| and its cell */
    int (*reset)(handle *h);                                 /* fields are 0 */
    int (*state)(handle *h, state_part part[HANDLE_PARTS]);  /* what the next step depends on; the number of pieces */
    int (*timestep)(handle *h, int it, int n, float *trace); /* fills trace(receivers,n) unless the frame keeps them */

    int (*pml)(handle *h);       /* profiles of the absorbing layers are new */
    int (*source)(handle *h);    /* h->source is new */
    int (*histories)(handle *h); /* h->histories are new */
    int (*receivers)(handle *h); /* h->receivers are new */
    int (*peak)(handle *h, float *value,
                int place[3]); /* maxabs of the newest finished chunk, if timestep only queues */
    int (*tune)(handle *h, const char *isa, const int tile[3]); /* these two in place of the frame's */
    void (*device)(handle *h, char *text, size_t length);
} handle_verbs;

/* Verbs that a variant's file has as functions of the same names. */
#define HANDLE_VERBS .make = make, .set = set, .maxabs = maxabs, .reset = reset, .state = state

typedef struct kernel_variant {
    const char *name, *about;
    int needs_gpu;
    const handle_verbs *verbs; /* null: the variant is not in this build */
    const void *kind;          /* what its verbs read of this variant */
} kernel_variant;

#ifdef __cplusplus
#define KERNEL_VARIANT(solver, name)                                                                                   \
    extern "C" const kernel_variant solver##_variant_##name;                                                           \
    const kernel_variant solver##_variant_##name
#else
#define KERNEL_VARIANT(solver, name) const kernel_variant solver##_variant_##name
#endif

typedef struct solver_kind {
    const char *name; /* for sentences: "2D" */
    int variants;
    const kernel_variant *const *variant; /* (variants) */
    int fields;
    size_t size, cfg_at, cfg_size;                /* of a handle, and the configuration in it */
    int (*check)(const void *cfg);                /* fails on one that cannot be */
    int (*ready)(const handle *h, int it, int n); /* fails where steps it .. it+n-1 may not come now */
    void (*forget)(handle *h);                    /* what a reset forgets beside fields and traces; null: nothing */
} solver_kind;

struct handle {
    const solver_kind *solver;
    const kernel_variant *variant;
    void *own; /* the variant's */
    host_pool memory;
    int n[3]; /* cells along x, y, z of its grid, in which sources and receivers are; 1 along an axis it has not */
    int has_model;

    source_cells source[POINT_FIELDS]; /* of each field */
    source_histories histories;
    receiver_cells receivers;

    int next; /* the step that must come next; 0 = any; INT_MAX after a failure, from which only a reset helps */

    int first, steps;                   /* traces: step of the first row, rows filled */
    int expected;                       /* rows there will be; 0: not known */
    size_t rows;                        /* rows there is room for */
    float *trace;                       /* (receivers, rows): receivers run fastest */
    int filter_columns[HANDLE_FILTERS]; /* samples that the filters take, 0 = not given */
};

static inline const frame_verbs *handle_frame(const handle *h) { return h->variant->verbs->frame; }

/* A handle of the variant `name`, of a grid of n cells; null with a sentence. */
void *handle_new(const solver_kind *solver, const char *name, const void *cfg, const int n[3]);

/* Every verb begins with it: fails where there is no handle. */
int handle_enter(void *h);

/* Something is new, and the variant must know; one without that verb reads it from the handle. */
static inline int handle_tell(handle *h, int (*verb)(handle *h)) { return verb == NULL ? 0 : verb(h); }

/* Points are within the grid: the solver has checked that. `source` takes cells of any fields, with numbers of
 * histories (null: all the first) and weights. Receivers have cells start[r] .. start[r+1]-1. */
int handle_source(handle *h, int n, const given_cells *cells, const int *history, const float *w);
int handle_histories(handle *h, int number, int first, int steps, const float *q);
/* Those of the steps that come next, finite; no steps: the sources are silent from step `first` on. */
int handle_next_histories(handle *h, int first, int steps, const float *q);
int handle_check_histories(const handle *h, int it, int n); /* those of steps it .. it+n-1 are known */
int handle_check_machine(int threads, int share);           /* of a configuration */
int handle_check_receivers(int n, const int *start);
int handle_receivers(handle *h, int n, const int *start, const given_cells *cells, const float *w);

/* Steps it .. it+n-1 may come now, as far as it is common to all solvers. */
int handle_check_steps(const handle *h, int it, int n);

int handle_set_field(handle *h, int field, const float *in);
int handle_tune(handle *h, const char *isa, int a, int b, int c);

/* Room for n more rows of traces that the handle keeps; *row(receivers, n) begins there, and is null for a variant that
 * keeps its traces itself. */
int handle_next_rows(handle *h, int n, float **row);

#ifdef __cplusplus
}
#endif
