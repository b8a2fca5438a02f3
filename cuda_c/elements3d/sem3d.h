/* The time loop of spectral elements: what is common to all variants, beside what all solvers have (handle.h). The
 * treaty and the meaning of each verb are in interfaces/sem3d_c.f90; sem3d.c checks arguments, sem3d_order.c puts the
 * points in the order in which a step meets them, sem3d_mass.c makes their masses and sides; then a variant takes over.
 *
 * Sums. Bricks of elements are what a thread (or a block of threads) does at a time: the forces of its elements are
 * added, in their order, into an array of the points of the brick. Points that no other brick has are updated at once.
 * What the brick has of the others goes into slots, which are added in the order of bricks when all bricks are done.
 *
 * A force F at a point becomes: F grows by what the contact brings, then by sources; at an absorbing side it then is
 * S (F - B v), S = 1/(1 + dt B / (2 M) + A/M), A: added mass; the velocity at the step's middle is the mean of both.
 * v += dt/M F, u += dt v.
 */
#pragma once

#include <stdint.h>

#include "handle.h"
#include "sem3d_geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SEM3D_VX, SEM3D_VY, SEM3D_VZ, SEM3D_UX, SEM3D_UY, SEM3D_UZ, SEM3D_CHI_T, SEM3D_CHI, SEM3D_FIELDS };
enum { SEM3D_INNER, SEM3D_FREE, SEM3D_ABSORBS, SEM3D_CONTACT, SEM3D_KINDS }; /* of sides */
enum { SEM3D_GATHER, SEM3D_COLOUR, SEM3D_ATOMIC, SEM3D_SUMS };               /* as the configuration has them */
enum { SEM3D_MECHANISMS = 8, SEM3D_BRICK = 512 };                            /* elements of a brick, at most */
enum { SEM3D_TENSOR = 21 };                                                  /* numbers of an anisotropic medium */

/* Arguments of sem3d_elements. */
typedef struct sem3d_given {
    const double *corner;
    const int *face;
    int bricks; /* as the variant has them: the configuration's, cut where they are too large */
    const int *brick;
    const float *rho, *lambda, *mu;
    const int *at, *contact, *partner;
    const int *tensor; /* sem3d_anisotropy; null: all is isotropic */
    const float *relative;
} sem3d_given;

typedef struct sem3d_brick {
    int first, last;   /* elements first .. last-1 */
    int inner, inners; /* the points that it alone has: inner .. inner+inners-1 */
    int outer, outers; /* its others: sem3d_order.outer[outer .. outer+outers-1] */
    int elsewhere;     /* another piece of the mesh has it; all its points that are known here are outer ones */
} sem3d_brick;

/* Points in the order in which a step meets them: of the solid those inside bricks, brick after brick, then those that
 * bricks share; of the fluid likewise. All below is in this order. */
typedef struct sem3d_order {
    int *place;         /* (points) of a point of the caller */
    int *point;         /* (points) the caller's */
    sem3d_brick *brick; /* (bricks) */
    int solid_bricks;
    int outers;      /* slots */
    int *outer;      /* (outers) */
    int shared[2];   /* first point that bricks share: in the solid, in the fluid */
    int *slots;      /* (shared points + 1) slots of each */
    int *slot;       /* (outers) */
    uint16_t *local; /* (125,elements) number in its brick: inner points, then others */
} sem3d_order;

/* At a point that absorbs, or has an added mass: xx yy zz xy xz yz of B [kg/s] and S; in the fluid the first of each.
 */
typedef struct sem3d_drag {
    float b[6], s[6];
} sem3d_drag;

typedef struct sem3d_sides {
    int drags, *drag_at; /* absorbing points, rising */
    sem3d_drag *drag;
    int contacts, *fluid, *solid; /* points of the fluid, rising; of the solid */
    float *area;                  /* (3,contacts) [m2], out of the fluid */
    int *solid_at, *of_solid;     /* points of the solid, rising, and their numbers in the lists above */
} sem3d_sides;

/* What bricks of this piece have of points that other pieces have too goes there, and theirs comes here: slots, of way
 * w and phase f (0 solid, 1 fluid) number 2w+f. Bricks whose slots are given come first. */
typedef struct sem3d_pieces {
    int ways, mine;                 /* ways 0: the mesh is whole; mine: this piece's number */
    int linked;                     /* ways that are open from GPU to GPU */
    int *way;                       /* (bricks) -1: this piece's */
    int *start, *point;             /* (ways + 1), points of this piece's elements that another piece has too */
    int *gives, *give;              /* (2 ways + 1), (gives[2 ways]) */
    int *takes, *take;              /* likewise */
    int *turn, rim[2][2], inner[2]; /* bricks; of phase f the first with slots to give, the first without, the end */
    int *colour;                    /* (elements) sums on a GPU go by; null: by their numbers */
    int done;                       /* parts of the step, of the six that sem3d_part does */
    int (*between)(void);           /* called now and then while bricks are computed; or null */
} sem3d_pieces;

typedef struct sem3d_map_points { /* entries of component c at p: start[3p+c] .. start[3p+c+1]-1 */
    int last, n, *start, *field, *at;
    float *w;
} sem3d_map_points;

typedef struct sem3d {
    handle h;
    sem3d_cfg cfg;
    sem_shapes *shapes;
    sem3d_order order;
    sem3d_sides sides;
    float *gain;    /* (points) dt/M; 0 where chi is held at 0 */
    float loudness; /* times |dchi/dt| is a velocity: the largest 1 / (rho c L) of an element */
    int has_quality;
    int *tensor, has_tensors; /* of the elements that come next */
    float *relative;
    int *cut; /* bricks that were cut begin here */
    sem3d_map_points map;
    sem3d_pieces pieces;
} sem3d;

/* Memory depends on these beside the configuration. */
typedef struct sem3d_counts {
    int entries, receivers, steps, points; /* of sources, of the map */
} sem3d_counts;

/* Pieces whose memory each other's kernels store into: verbs of a variant that can, as sem3d_halo_offer ... say. */
typedef struct sem3d_link_verbs {
    int (*offer)(sem3d *fd, int beside, int host, double seconds, int length, char *ticket);
    int (*open)(sem3d *fd, int way, int length, const char *ticket);
    int (*tried)(sem3d *fd, double seconds, double *bare, double *full);
    int (*waited)(sem3d *fd, double *seconds); /* (ways) */
    void (*close)(sem3d *fd);
    void (*give_up)(sem3d *fd);
    int (*left)(sem3d *fd, int *chunks);
} sem3d_link_verbs;

/* A variant offers these verbs beside handle_verbs. */
typedef struct sem3d_verbs {
    handle_verbs common;
    int (*elements)(sem3d *fd, const sem3d_given *given); /* order, sides and gain are made; fields become 0 */
    int (*quality)(sem3d *fd, const float *tau, const float *bulk, const float *shear);
    int (*sides)(sem3d *fd);                      /* fd->sides is new; null: damping is refused */
    int (*get)(sem3d *fd, int field, float *out); /* in the caller's order, as `set` */
    int (*watch)(sem3d *fd);                      /* fd->map is new, from zero */
    int (*map)(sem3d *fd, float *out);            /* out(fd->map.n,3) */
    /* beside lists of points and traces */
    size_t (*need)(const kernel_variant *v, const sem3d_cfg *cfg);
    int most;  /* elements of a brick; 0: SEM3D_BRICK */
    int apart; /* likewise of a piece of a mesh; 0: as the mesh has them */
    /* Of a mesh in pieces; null: there are none. part: of one phase. */
    int (*part)(sem3d *fd, int it, int fluid, int part, float *trace);
    int (*give)(sem3d *fd, int fluid, int way, float *out); /* what slots at a way hold, 3 numbers or in the fluid 1 */
    int (*take)(sem3d *fd, int fluid, int way, const float *in);
    size_t (*device)(const kernel_variant *v, const sem3d_cfg *cfg, const sem3d_counts *n); /* its memory; or null */
    const sem3d_link_verbs *link; /* null: sums of pieces go through the host */
} sem3d_verbs;

enum { SEM3D_ELSEWHERE = -1 };                               /* a point that this piece has not */
enum { SEM3D_RIM, SEM3D_INSIDE, SEM3D_SHARED, SEM3D_PARTS }; /* bricks that give, the others, points of several */

#define SEM3D_VARIANT(name) KERNEL_VARIANT(sem3d, name)

int sem3d_threads(const sem3d *fd);                       /* that set it up */
int sem3d_make_ways(sem3d *fd, const sem3d_given *given); /* after sem3d_make_order */
int sem3d_make_order(sem3d *fd, const sem3d_given *given);
int sem3d_make_mass(sem3d *fd, const sem3d_given *given);                  /* gain, loudness */
int sem3d_make_sides(sem3d *fd, const sem3d_given *given);                 /* after sem3d_make_mass */
int sem3d_add_damping(sem3d *fd, const float *rate);                       /* to the drags of sides */
int sem3d_add_mass(sem3d *fd, int n, const int *point, const float *mass); /* to their S */

/* Number n of an element's rho, lambda or mu at point p. */
static inline double sem3d_medium(const sem3d_cfg *c, const float *of, size_t element, int p) {
    return of[c->media == 1 ? element : element * SEM_POINTS + (size_t)p];
}

static inline const double *sem3d_corner(const sem3d *fd, const sem3d_given *g, size_t element) {
    return g->corner + element * 3 * (size_t)fd->cfg.per;
}

/* Sums of a phase that go out or come in at a way; of both phases. */
static inline int sem3d_travels(const sem3d_pieces *p, int way, int fluid) {
    const int f = 2 * way + fluid;
    return p->gives[f + 1] > p->gives[f] || p->takes[f + 1] > p->takes[f];
}

static inline int sem3d_is_way(const sem3d_pieces *p, int way) {
    return sem3d_travels(p, way, 0) || sem3d_travels(p, way, 1);
}

/* Brick b is in another piece of the mesh. */
static inline int sem3d_elsewhere(const sem3d *fd, int b) { return fd->pieces.ways > 0 && fd->pieces.way[b] >= 0; }

/* The first of n rising numbers that is `least` or more. */
int sem3d_seek(const int *rising, int n, int least);

#ifdef __cplusplus
}
#endif
