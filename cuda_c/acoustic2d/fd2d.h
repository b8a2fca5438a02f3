/* The 2D acoustic time loop: what is common to all variants. The grid, the treaty and the meaning of each verb are in
 * interfaces/fd2d_c.f90; fd2d.c checks arguments, keeps geometry and traces, and hands on to a variant.
 *
 * A variant is one file with one exported constant, listed in fd2d_variants.def:
 *
 *   FD2D_VARIANT(cpu) = {"cpu", "SIMD and threads, ...", .make = ..., ...};
 *
 * A build without CUDA keeps the names of the GPU variants, so that decks and help are the same everywhere, and no
 * more.
 */
#pragma once

#include <stddef.h>

#include "host_alloc.h"
#include "iface.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FD2D_SIGMA, FD2D_VX, FD2D_VZ, FD2D_FIELDS };

/* Cells sorted by row, then column: those of row k are row[k] .. row[k+1]-1. */
typedef struct fd2d_cells {
    int n;
    int *row; /* (nz + 1) */
    int *i;   /* (n) column */
    float *w; /* (n) weight: of a source's cells only */
} fd2d_cells;

typedef struct fd2d {
    const struct fd2d_variant *variant;
    void *own; /* the variant's */
    fd2d_cfg cfg;
    size_t bytes; /* host memory held, the variant's included */
    int has_model, has_pml;

    float *px, *pz; /* (nx,6), (nz,6) as given to fd2d_pml */

    int nq; /* source: wavelet q(nq) at cells with weights */
    float *q;
    fd2d_cells source;

    /* Receiver r = sum over c in start[r] .. start[r+1]-1 of w[c] * value of cell[c]. Cells that several receivers
     * share are sampled once: cell[c] counts through sampled[SIGMA], then [VX], then [VZ]. Summed in double in this
     * order. */
    int nrec;
    int *start; /* (nrec + 1) */
    int *cell;  /* (start[nrec]) */
    float *w;   /* (start[nrec]) */
    fd2d_cells sampled[FD2D_FIELDS];

    int next; /* the step that must come next; 0 = any */

    int filter_columns[2]; /* samples that the filters take, 0 = not given */

    int first, steps; /* traces: step of the first row, rows filled */
    size_t rows;      /* rows there is room for */
    float *trace;     /* (nrec, rows): receivers run fastest */
} fd2d;

/* A piece of the state of a time loop, in the variant's memory: `rows` rows of `width` floats. */
typedef struct fd2d_part {
    float *at;
    size_t width, rows;
    ptrdiff_t pitch; /* from one row to the next */
} fd2d_part;

enum { FD2D_PARTS = 12 }; /* of a state, at most */

/* What a variant must offer; all return 0 or fail with err_set. `make` fills fd->own from fd->cfg; it is null where the
 * variant is not in this build. Members of the second part may be null. */
typedef struct fd2d_variant {
    const char *name, *about;
    int needs_gpu;
    int (*make)(fd2d *fd);
    void (*release)(fd2d *fd);                                    /* fd->own may be null or half made */
    int (*model)(fd2d *fd, const float *kappa, const float *rho); /* see fd2d_coefficients */
    int (*pml)(fd2d *fd);                                         /* fd->px, pz are new */
    int (*source)(fd2d *fd);                                      /* fd->q, source are new */
    int (*receivers)(fd2d *fd);                                   /* fd->start ... sampled are new */
    int (*timestep)(fd2d *fd, int it, int n, float *trace);       /* fills trace(nrec, n) */
    int (*get)(fd2d *fd, int field, float *out);                  /* out(nx,nz) */
    int (*set)(fd2d *fd, int field, const float *in);             /* in(nx,nz) */
    int (*maxabs)(fd2d *fd, float *value, int *i, int *k);
    int (*reset)(fd2d *fd);
    void (*device)(fd2d *fd, char *text, size_t length);

    void (*threads)(fd2d *fd, int threads); /* of one that computes on CPU cores: from now on */
    int (*tune)(fd2d *fd, const char *isa, int width, int steps, int rows);
    int (*traces)(fd2d *fd, int it, int n, float *out);           /* out(n,nrec), of a variant that keeps them itself */
    int (*filter)(fd2d *fd, int which, const trace_band band[2]); /* of one that filters its traces too */
    int (*filtered)(fd2d *fd, int which, int first, int nrec, float *out);
    int (*pending)(fd2d *fd, int most);                  /* of one whose timestep only queues */
    int (*peak)(fd2d *fd, float *value, int *i, int *k); /* likewise: of the newest finished chunk */
    int (*need)(const fd2d_cfg *cfg, int receivers, int steps, size_t *bytes); /* device memory of a handle */

    int (*state)(fd2d *fd, fd2d_part part[FD2D_PARTS]); /* the pieces that the next step depends on; their number */
    int (*move)(fd2d *fd, const fd2d_part *part, float *host, int in); /* one from or to `host`, where it is no plain
                                                                          memory; waits for what is queued */
    int (*rows)(fd2d *fd, int n, float **trace); /* room for the traces of n more steps, of a variant that keeps them;
                                                  *trace(nrec, rows) */
} fd2d_variant;

#define FD2D_VARIANT(name) const fd2d_variant fd2d_variant_##name

#define FD2D_ENTRY(name)     extern FD2D_VARIANT(name);
#define FD2D_GPU_ENTRY(name) extern FD2D_VARIANT(name);
#include "fd2d_variants.def"
#undef FD2D_ENTRY
#undef FD2D_GPU_ENTRY

/* Host memory of the handle, as host_alloc.h has it. */
static inline int fd2d_alloc(fd2d *fd, void *p, size_t count, size_t size, const char *what) {
    return host_alloc(&fd->bytes, p, count, size, what);
}
static inline void fd2d_release(fd2d *fd, void *p) { host_release(&fd->bytes, p); }

/* Coefficients of row k: bx = dt/(dx rho) at (i+1/2,k), bz = dt/(dz rho) at (i,k+1/2), kk = kappa dt/dx, each (nx);
 * kk of a free surface's row is 0. `cpu` takes them from here; GPU variants that keep velocities form the same numbers
 * on the GPU (fd2d_gpu.cu); `tuned` keeps density instead and other coefficients (fd2d_tuned_medium.cu). */
void fd2d_coefficients(const fd2d_cfg *cfg, const float *kappa, const float *rho, int k, float *bx, float *bz,
                       float *kk);

/* fd2d_state.c: traces that the handle keeps. Room for n more rows; *trace(nrec, rows). Where the next n rows begin,
 * null for a variant that keeps its traces itself. */
int fd2d_trace_rows(fd2d *fd, int n, float **trace);
int fd2d_next_rows(fd2d *fd, int n, float **row);

/* fd2d_points.c: sorting cells by row. */
int fd2d_set_source_cells(fd2d *fd, int n, const int *i, const int *k, const float *w);
int fd2d_set_receiver_cells(fd2d *fd, int nrec, const int *start, const int *field, const int *i, const int *k,
                            const float *w);

#ifdef __cplusplus
}
#endif
