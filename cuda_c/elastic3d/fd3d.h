/* The 3D (visco)elastic time loop: what is common to all variants, beside what all solvers have (handle.h). The grid,
 * the treaty and the meaning of each verb are in interfaces/fd3d_c.f90, the formulas in der3d.h; fd3d.c checks
 * arguments, keeps geometry and traces, and hands on to a variant.
 *
 * A variant is one file with one exported constant, listed in fd3d_variants.def:
 *
 *   FD3D_VARIANT(cpu) = {"cpu", "SIMD and threads, ...", 0, &verbs.common, NULL};
 *
 * A variant is given these and does this:
 *
 *   medium    cell volumes rho, lambda, mu, slab after slab (and q of P and S), with a ring of one cell. It may average
 *             them as it goes or keep the averages, which interfaces/fd3d_c.f90 describes. sxz and syz have mu = 0 in
 *             row 0 under a free surface. The sides' kinds in fd->cfg say where the subdomain ends.
 *
 *   velocity  first fills the halo of the stresses behind sides that are its own (periodic, one-way; outside is 0 for
 *             good), in part 0 or 1; then updates the cells of the part, adds the sources of velocities there. Below a
 *             free surface differences along z of the first FD3D_TOP_ROWS rows are those of fd3d_top.
 *
 *   stress    likewise: halo of the velocities, update, sources of stresses; in part 0 or 2 then samples the receivers
 *             and the map.
 *
 *   ahead     or null: of n steps, or fewer, does what needs nothing of neighbours; velocity and stress, called for
 *             each of these steps, then do the rest of a half step in part 0 or 1.
 */
#pragma once

#include "handle.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FD3D_VX, FD3D_VY, FD3D_VZ, FD3D_SXX, FD3D_SYY, FD3D_SZZ, FD3D_SXY, FD3D_SXZ, FD3D_SYZ, FD3D_FIELDS };
enum { FD3D_NEIGHBOUR, FD3D_OUTSIDE, FD3D_FREE, FD3D_PERIODIC, FD3D_ONE_WAY, FD3D_KINDS }; /* of sides */
enum { FD3D_ALL, FD3D_RIM, FD3D_INNER };                                                   /* parts of a half step */
enum { FD3D_MECHANISMS = 8, FD3D_TOGETHER = 6 }; /* one of them a cell; that a cell has all of */
enum { FD3D_ONE = 1, FD3D_ALL_TOGETHER };        /* cfg.anelastic */
enum { FD3D_TOP_ROWS = 5, FD3D_TOP_TAPS = 9 };   /* below a free surface: rows of their own, cells that they reach */

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

/* Planes of the medium with its ring, first .. first+planes-1 of nz+2 from 0 on, (nx+2, ny+2, planes): they come in
 * this order, and a medium is there with the last one. */
typedef struct fd3d_slab {
    int first, planes;
    const float *rho, *lambda, *mu;
} fd3d_slab;

typedef struct fd3d {
    handle h;
    fd3d_cfg cfg;
    int planes; /* of the medium that have come, of nz+2 */
    int has_quality, has_pml, has_sponge;
    float *pml[3];    /* (n,6) of each axis, as given to fd3d_pml */
    float *sponge[3]; /* (n) */
    float tau[FD3D_MECHANISMS], y[3][FD3D_MECHANISMS], stiff[FD3D_MECHANISMS];
    fd3d_watched map;
    struct {
        int first, steps; /* begun by `ahead` and not yet done; 0: none */
    } ahead;
    int (*between)(void); /* called now and then while inner cells are updated; or null */
    int open;             /* sides whose neighbour's memory is open, a bit each */
    int half;             /* halves of the next step that are done: 0, 1 rim of velocity, 2 velocity, 3 rim of stress */
} fd3d;

/* fd3d_surface.c: weights of differences along z in the first rows below a free surface, of the cells 0 .. L + 4 in the
 * column; [1 along layers where differences are narrow, else 0][backward, forward]. */
typedef struct fd3d_top {
    int taps;
    float w[2][2][FD3D_TOP_ROWS][FD3D_TOP_TAPS];
} fd3d_top;

void fd3d_top_of(const fd3d_cfg *cfg, fd3d_top *top);

/* Numbers of what a handle keeps beside its grid, for estimates of memory. */
typedef struct fd3d_counts {
    size_t entries, receivers, steps; /* of sources; traces */
    size_t points, stencil_entries;   /* of a map */
} fd3d_counts;

/* Subdomains whose memory each other's kernels store into: verbs of a variant that can, as fd3d_halo_offer ... say. */
typedef struct fd3d_link_verbs {
    int (*offer)(fd3d *fd, int beside, int host, double seconds, int length, char *ticket);
    int (*open)(fd3d *fd, int side, int length, const char *ticket);
    int (*tried)(fd3d *fd, double seconds, double *bare, double *full);
    int (*waited)(fd3d *fd, double seconds[6]);
    void (*close)(fd3d *fd);
    void (*give_up)(fd3d *fd);
    int (*left)(fd3d *fd, int *chunks);
} fd3d_link_verbs;

/* A variant offers these verbs beside handle_verbs, whose `timestep` takes whole steps: no side is a neighbour's, or
 * all those that are are open. The state begins with the fields and ends with the map. */
typedef struct fd3d_verbs {
    handle_verbs common;
    int (*model)(fd3d *fd, const fd3d_slab *part);
    int (*quality)(fd3d *fd, const float *qp, const float *qs); /* likewise; fd->tau, y, stiff are new */
    int (*sponge)(fd3d *fd);                                    /* fd->sponge is new */
    int (*velocity)(fd3d *fd, int it, int part);                /* part: FD3D_ALL .. */
    int (*stress)(fd3d *fd, int it, int part, float *trace);    /* fills trace(receivers) in part 0 or 2 */
    int (*ahead)(fd3d *fd, int it, int n, int *done);
    int (*halo)(fd3d *fd, int what, int side, float *out, const float *in); /* get where out is not null, else put */
    int (*get)(fd3d *fd, int field, const int lo[3], const int hi[3], float *out); /* the box lo .. hi-1 */
    int (*watch)(fd3d *fd, const fd3d_given *given);                               /* fills fd->map, from zero */
    int (*map)(fd3d *fd, float *out);                                              /* out(fd->map.n,3) */
    int (*need)(const kernel_variant *v, const fd3d_cfg *cfg, const fd3d_counts *counts, size_t *host, size_t *device);
    const fd3d_link_verbs *link; /* null: neighbours' numbers go through the host */
} fd3d_verbs;

#define FD3D_VARIANT(name) KERNEL_VARIANT(fd3d, name)

/* fd3d_halo.c: which cells. The box of cells lo .. hi-1 that the neighbour at `side` needs (own = 1), or that it gives
 * (own = 0; in the halo, so indices from -half_length); the three fields in it. */
void fd3d_halo_box(const fd3d_cfg *cfg, int side, int own, int lo[3], int hi[3]);
/* The cells without margins: only their velocities need be computed. All where halos are narrow. */
void fd3d_own_box(const fd3d_cfg *cfg, int lo[3], int hi[3]);
/* Cells beside a neighbour that make what it needs, margins among them; 0 at other sides. */
int fd3d_rim_depth(const fd3d_cfg *cfg, int side);
void fd3d_halo_fields(int what, int side, int field[3]);
/* 1 if the owned cell belongs to the part. The inner part is the box lo .. hi-1 of fd3d_inner_box. */
int fd3d_in_part(const fd3d_cfg *cfg, int part, int i, int j, int k);
void fd3d_inner_box(const fd3d_cfg *cfg, int lo[3], int hi[3]);

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
