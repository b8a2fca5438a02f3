/* The 3D (visco)elastic time loop: what is common to all variants. The grid, the treaty and the meaning of each verb
 * are in interfaces/fd3d_c.f90, the formulas in der3d.h; fd3d.c checks arguments, keeps geometry and traces, and hands
 * on to a variant.
 *
 * A variant is one file with one exported constant, listed in fd3d_variants.def:
 *
 *   FD3D_VARIANT(cpu) = {"cpu", "SIMD and threads, ...", .make = ..., ...};
 *
 * What it is given and what it does where:
 *
 *   medium    cell volumes rho, lambda, mu (and q of P and S), with a ring of one cell. It may average them as it goes
 *             or keep the averages: d3_buoyancy, d3_shear_modulus, d3_mean4 say what they are. sxz and syz have mu = 0
 *             in row 0 under a free surface. In fd->cfg the sides' kinds say where the subdomain ends.
 *   velocity  first fills the halo of the stresses behind sides that are its own (free, periodic, one-way; outside is 0
 *             for good), in part 0 or 1; then updates the cells of the part, adds the sources of velocities there.
 *   stress    likewise: halo of the velocities, update, sources of stresses; in part 0 or 2 then samples the receivers
 *             and the map.
 */
#pragma once

#include <stddef.h>

#include "host_alloc.h"
#include "iface.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FD3D_VX, FD3D_VY, FD3D_VZ, FD3D_SXX, FD3D_SYY, FD3D_SZZ, FD3D_SXY, FD3D_SXZ, FD3D_SYZ, FD3D_FIELDS };
enum { FD3D_NEIGHBOUR, FD3D_OUTSIDE, FD3D_FREE, FD3D_PERIODIC, FD3D_ONE_WAY, FD3D_KINDS }; /* of sides */
enum { FD3D_ALL, FD3D_RIM, FD3D_INNER };                                                   /* parts of a half step */
enum { FD3D_MECHANISMS = 8 };

/* Different cells of one field, sorted by k, then j, then i: those of plane k are plane[k] .. plane[k+1]-1. */
typedef struct fd3d_cells {
    int n;
    int *plane;     /* (nz + 1) */
    int *i, *j, *k; /* (n) */
} fd3d_cells;

/* Cell c of a source grows by w[e] q[h[e]], e = start[c] .. start[c+1]-1 in this order. */
typedef struct fd3d_sources {
    fd3d_cells cells;
    int *start; /* (cells.n + 1) */
    int *h;     /* (start[cells.n]) */
    float *w;
} fd3d_sources;

/* Points at which the largest velocity is kept, as fd3d_watch is given them. */
typedef struct fd3d_given {
    int last; /* step that is looked at */
    int n;    /* points; 0: none */
    const int *i, *j, *k, *stencil;
    int stencils;
    const int *start;
    const short *away[3];
    const float *w;
} fd3d_given;

typedef struct fd3d_entry { /* of a stencil */
    int away;               /* from a point's cell */
    float w;
} fd3d_entry;

/* The same as a handle keeps them: by the distances of a variant's memory. */
typedef struct fd3d_watched {
    int last;            /* step that is looked at */
    int n;               /* points; 0: no map */
    ptrdiff_t *cell;     /* (n) from cell (0,0,0) */
    int *stencil;        /* (n) */
    int stencils;        /* c = 0, 1, 2 of stencil s: entries start[3 s + c] .. start[3 s + c + 1]-1 */
    int *start;          /* (3 stencils + 1) */
    fd3d_entry *entry;   /* (start[3 stencils]) */
    int low[3], high[3]; /* planes low <= k < high that vx, vy, vz are taken from */
} fd3d_watched;

typedef struct fd3d {
    const struct fd3d_variant *variant;
    void *own; /* the variant's */
    fd3d_cfg cfg;
    size_t bytes; /* host memory held, the variant's included */
    int has_model, has_quality, has_pml, has_sponge;

    float *pml[3];    /* (n,6) of each axis, as given to fd3d_pml */
    float *sponge[3]; /* (n) */
    float tau[FD3D_MECHANISMS], y[3][FD3D_MECHANISMS];

    int nh; /* histories, */
    fd3d_sources source[FD3D_FIELDS];
    int q_first, q_steps,
        silent; /* known for steps q_first .. q_first+q_steps-1, and 0 from step `silent` on (0: not said) */
    float *q;   /* (nh, q_steps) */

    /* Receiver r = sum over c in start[r] .. start[r+1]-1 of w[c] * value of cell[c]. Cells that several receivers
     * share are sampled once: cell[c] counts through sampled[VX], then [VY], .... Summed in double in this order. */
    int nrec;
    int *start; /* (nrec + 1) */
    int *cell;  /* (start[nrec]) */
    float *w;   /* (start[nrec]) */
    fd3d_cells sampled[FD3D_FIELDS];

    fd3d_watched map;

    int next, half; /* the step that must come next, 0 = any; halves of it done: 0, 1 rim of velocity, 2 velocity, 3 rim
                       of stress */

    int first, steps; /* traces: step of the first row, rows filled */
    int expected;     /* rows there will be; 0: not known */
    size_t rows;      /* rows there is room for */
    float *trace;     /* (nrec, rows): receivers run fastest */
} fd3d;

/* What a handle has to keep beside its grid, for estimates of memory. */
typedef struct fd3d_counts {
    size_t entries, receivers, steps; /* of sources; traces */
    size_t points, stencil_entries;   /* of a map */
} fd3d_counts;

/* A piece of the state of a time loop, in the variant's memory: `rows` rows of `width` floats. */
typedef struct fd3d_part {
    float *at;
    size_t width, rows;
    ptrdiff_t pitch; /* from one row to the next */
} fd3d_part;

enum { FD3D_PARTS = 96 }; /* of a state, at most */

/* What a variant must offer; all return 0 or fail with err_set. `make` fills fd->own from fd->cfg; it is null where the
 * variant is not in this build. Members of the second part may be null. */
typedef struct fd3d_variant {
    const char *name, *about;
    int needs_gpu;
    int (*make)(fd3d *fd);
    void (*release)(fd3d *fd); /* fd->own may be null or half made */
    int (*model)(fd3d *fd, const float *rho, const float *lambda, const float *mu); /* (nx+2, ny+2, nz+2) */
    int (*quality)(fd3d *fd, const float *qp, const float *qs);                     /* likewise; fd->tau, y are new */
    int (*pml)(fd3d *fd);                                                           /* fd->pml is new */
    int (*sponge)(fd3d *fd);                                                        /* fd->sponge is new */
    int (*source)(fd3d *fd);                                                        /* fd->source is new */
    int (*histories)(fd3d *fd);                                                     /* fd->q is new */
    int (*receivers)(fd3d *fd);                                                     /* fd->start ... sampled are new */
    int (*timestep)(fd3d *fd, int it, int n, float *trace);  /* fills trace(nrec, n); no side is a neighbour's */
    int (*velocity)(fd3d *fd, int it, int part);             /* part: FD3D_ALL .. */
    int (*stress)(fd3d *fd, int it, int part, float *trace); /* fills trace(nrec) in part 0 or 2 */
    int (*halo)(fd3d *fd, int what, int side, float *out, const float *in); /* get where out is not null, else put */
    int (*get)(fd3d *fd, int field, const int lo[3], const int hi[3], float *out); /* the box lo .. hi-1 */
    int (*set)(fd3d *fd, int field, const float *in);                              /* in(nx,ny,nz) */
    int (*watch)(fd3d *fd, const fd3d_given *given);                               /* fills fd->map, from zero */
    int (*map)(fd3d *fd, float *out);                                              /* out(fd->map.n,3) */
    int (*maxabs)(fd3d *fd, float *value, int place[3]);
    int (*reset)(fd3d *fd);
    void (*device)(fd3d *fd, char *text, size_t length);
    int (*need)(const fd3d_cfg *cfg, const fd3d_counts *counts, size_t *host, size_t *device);
    int (*state)(fd3d *fd,
                 fd3d_part part[FD3D_PARTS]); /* the pieces that the next step depends on, and the map; their number */

    void (*threads)(fd3d *fd, int threads); /* of one that computes on CPU cores: from now on */
    int (*tune)(fd3d *fd, const char *isa, int bx, int by, int bz);
    int (*traces)(fd3d *fd, int it, int n, float *out); /* out(n,nrec), of a variant that keeps them itself */
    int (*pending)(fd3d *fd, int most);                 /* of one whose timestep only queues */
    int (*peak)(fd3d *fd, float *value, int place[3]);  /* likewise: of the newest finished chunk */
    int (*move)(fd3d *fd, const fd3d_part *part, float *host,
                int in);                         /* one from or to `host`, where it is no plain memory; waits */
    int (*rows)(fd3d *fd, int n, float **trace); /* room for the traces of n more steps, of a variant that keeps them */
} fd3d_variant;

#define FD3D_VARIANT(name) const fd3d_variant fd3d_variant_##name

#define FD3D_ENTRY(name)     extern FD3D_VARIANT(name);
#define FD3D_GPU_ENTRY(name) extern FD3D_VARIANT(name);
#include "fd3d_variants.def"
#undef FD3D_ENTRY
#undef FD3D_GPU_ENTRY

/* Host memory of the handle, as host_alloc.h has it. */
static inline int fd3d_alloc(fd3d *fd, void *p, size_t count, size_t size, const char *what) {
    return host_alloc(&fd->bytes, p, count, size, what);
}
static inline void fd3d_release(fd3d *fd, void *p) { host_release(&fd->bytes, p); }

/* fd3d_state.c: traces that the handle keeps. Room for n more rows; *trace(nrec, rows). Where the next n rows begin,
 * null for a variant that keeps its traces itself. */
int fd3d_trace_rows(fd3d *fd, int n, float **trace);
int fd3d_next_rows(fd3d *fd, int n, float **row);

/* fd3d_halo.c: which cells. The box of cells lo .. hi-1 that the neighbour at `side` needs (own = 1), or that it gives
 * (own = 0; in the halo, so indices from -half_length); the three fields in it. */
void fd3d_halo_box(const fd3d_cfg *cfg, int side, int own, int lo[3], int hi[3]);
void fd3d_halo_fields(int what, int side, int field[3]);
/* 1 if the owned cell belongs to the part. The inner part is the box lo .. hi-1 of fd3d_inner_box. */
int fd3d_in_part(const fd3d_cfg *cfg, int part, int i, int j, int k);
void fd3d_inner_box(const fd3d_cfg *cfg, int lo[3], int hi[3]);

/* fd3d_points.c: sorting cells; adding sources and sampling receivers for variants in host memory. field[f] is the
 * address of cell (0,0,0), y and z the distances to the next row and plane. */
int fd3d_set_source_cells(fd3d *fd, int n, const int *field, const int *i, const int *j, const int *k, const int *h,
                          const float *w);
int fd3d_set_receiver_cells(fd3d *fd, int nrec, const int *start, const int *field, const int *i, const int *j,
                            const int *k, const float *w);
const float *fd3d_history(const fd3d *fd, int it); /* q(nh) of step it; null: all are 0 */
void fd3d_inject(const fd3d *fd, int it, int part, int from, int to, float *const field[FD3D_FIELDS], ptrdiff_t y,
                 ptrdiff_t z);
void fd3d_sample(const fd3d *fd, float *const field[FD3D_FIELDS], ptrdiff_t y, ptrdiff_t z, float *trace);

/* fd3d_map.c: for a variant whose rows and planes are y and z apart; without points, or after a failure: none. Its
 * lists are of no use any more to a variant that keeps them elsewhere. */
int fd3d_set_map(fd3d *fd, const fd3d_given *given, ptrdiff_t y, ptrdiff_t z);
void fd3d_release_map(fd3d *fd);
void fd3d_drop_lists(fd3d *fd);
size_t fd3d_map_bytes(const fd3d_counts *c); /* host memory of a map */
/* Points from .. to-1 of the map; velocity c begins with cell number first[c] at v[c]; peak(map.n,3). */
void fd3d_keep_largest(const fd3d *fd, const float *const v[3], const ptrdiff_t first[3], int from, int to,
                       float *peak);

#ifdef __cplusplus
}
#endif
