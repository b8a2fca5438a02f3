/* The common part of the GPU variants of spectral elements: fields, sources, receivers, sides and the order of a step.
 * A variant's file has the kernels that make the forces of elements, and its constant.
 *
 * Fields, in the order of sem3d_order: vx vy vz ux uy uz of the points of the solid, then dchi/dt and chi of those of
 * the fluid, each with zeros up to a multiple of SEM3D_GPU_ROW. sem3d_gpu_first tells where a field begins.
 *
 * A step: the fluid, then the solid; of each
 *   elements  their forces; `tuned` also moves the points that one brick alone has
 *   sums      the forces of each of the other points, which then moves; a special point keeps its force
 *   specials  points of contacts, absorbing sides and sources, as sem3d.h says; then they move
 * then the map, and receivers.
 *
 * The numbers `gain` tell special points apart: where their sign is negative the other bits are those of the special
 * point's number, inverted. */
#pragma once

#include "gpu_frame.h"
#include "sem3d.h"
#include "sem3d_colours.h"
#include "sem3d_numbers.h"
#include "sem3d_patterns.h"
#include "sem3d_stream.h"

enum { SEM3D_FEW = SEM3D_PADDED / 2 }; /* room of the points of an element that have memory, where not all do */
enum { SEM3D_GPU_ROW = 1024, SEM3D_GPU_BUFFER = 4 << 20 /* numbers on their way */ };

/* Elements whose geometry and medium kernels read; those of a phase count from 0. */
typedef struct sem3d_gpu_elements {
    int n;
    int from;                       /* bricks: the element that geometry, medium, share and memory begin with */
    int by_point;                   /* the medium */
    const float *geometry, *medium; /* sem3d_numbers.h */
    const float *share;             /* null: no attenuation */
    float *memory;                  /* (128 or SEM3D_FEW,6,mechanisms,n) */
    const float2 *few;              /* of each point: gain of its shares, place of its memory; null: all have memory */
    int mechanisms, shares_by_point;
    const int *tensor;     /* anisotropic media of elements, -1: isotropic; null: all are */
    const float *relative; /* (SEM3D_TENSOR,media) */
    float decay[SEM3D_MECHANISMS];
} sem3d_gpu_elements;

/* Solid, or fluid, as kernels get it; points count from its first. */
typedef struct sem3d_gpu_phase {
    sem3d_gpu_elements e;
    int points;
    float *u[3], *v[3]; /* of the fluid one */
    const float *gain;  /* dt/M, or of a special point its number */
    float *kept;        /* (specials,components): forces at special points */
    int specials;
    float dt;

    /* Sums by point: those from .. points-1, of numbers of `part`: two of them, the second of which is -1 where there
     * is none. Where there are more it is -2 - m, and more[m] tells how many there are beside the first, which follow.
     */
    int from;
    const int2 *pair;
    const int *more;
    float *part; /* (stride,components) */
    ptrdiff_t stride;
    int zero; /* sums begin with 0, as those of colours do */

    /* of elements that stand alone */
    const int *at; /* (128,n) their points */
    float *force;  /* (points,components), for colours and atomic sums: 0 between steps; null: forces go to `part` */
    int atomic;

    /* of bricks */
    const sem3d_patterned *brick;
    const uint16_t *local;
    const unsigned *sum;
    const int *outer; /* (slots) */
    int bricks, most; /* most: points of a brick that it alone has, or shares, at most */
    int ahead;        /* a block asks for what the brick so much further on reads */
} sem3d_gpu_phase;

/* Special points of a phase. */
typedef struct sem3d_gpu_specials {
    int n;
    int *point;
    float *gain;
    int *drag, *contact; /* numbers in the lists of sem3d_sides; -1: none */
    int *start;          /* (n+1) sources */
    int *component, *h;
    float *w;
    struct {
        size_t point, gain, drag, contact, start, component, h, w, kept;
    } room;
} sem3d_gpu_specials;

typedef struct sem3d_gpu_sides {
    sem3d_drag *drag;
    float *area, *press; /* (3,contacts), (contacts) */
    int *solid;          /* (contacts) points of the solid */
} sem3d_gpu_sides;

typedef struct sem3d_gpu_map {
    int last, n; /* n = 0 until all is there */
    int *start;
    ptrdiff_t *cell;
    float *w, *peak; /* peak(n,3) */
} sem3d_gpu_map;

/* Of a piece of a mesh. The lists of way w and phase f are those of sem3d_pieces, their entries numbers of `part`. */
typedef struct sem3d_gpu_pieces {
    int *turn; /* elements that stand alone, from the first of their phase, as sem3d_pieces has them */
    int *give, *take;
    float *numbers; /* on their way from or to the host */
    size_t turns, gives, takes, room;
    int early; /* sums are stored before the other bricks */
} sem3d_gpu_pieces;

typedef struct sem3d_gpu sem3d_gpu;

/* A variant describes itself by this: launches. */
typedef struct sem3d_gpu_kind {
    int bricks;   /* elements in bricks of SEM3D_PATTERN_BRICK; else they stand alone */
    int computes; /* the geometry of elements of 8 nodes, from their corners; else it is stored */
    int textures; /* displacement and medium are read through these */
    /* All elements or bricks of a phase, or n elements of a list. */
    int (*forces)(sem3d_gpu *o, const sem3d_gpu_phase *ph, int fluid, const int *list, int n);
} sem3d_gpu_kind;

struct sem3d_gpu : gpu_frame { /* h->own */
    const sem3d_gpu_kind *kind;
    const sem3d_cfg *cfg;
    sem3d_shape shape;
    size_t field[2]; /* from one field of the solid, or of the fluid, to the next */
    float *fields;
    float *geometry, *medium, *share, *memory, *few, *gain, *part, *force;
    int *at, *colour_list, *tensor;
    float *relative;
    int2 *pair;   /* (sums of the solid, sums of the fluid) */
    int *more[2]; /* of each phase */
    sem3d_patterned *brick;
    uint16_t *local;
    unsigned *sum;
    int *outer;
    sem3d_gpu_phase phase[2]; /* solid, fluid */
    sem3d_gpu_specials special[2];
    sem3d_gpu_sides sides;
    int colours[2], colour_first[2][SEM3D_COLOURS + 1];
    cudaTextureObject_t displacement, media; /* of `fields`, of `medium` */
    float *buffer, *q;                       /* q: histories */
    size_t room_q;
    int nh;
    gpu_step_sources *step_sources;
    sem3d_gpu_map map;
    int kept[2]; /* elements of solid and of fluid whose numbers stay here */
    int processors;
    sem3d_gpu_stream stream;
    const sem3d_pieces *ways;
    sem3d_gpu_pieces pieces;
};

/* Forces of elements that stand alone are kept, then summed by point: of a piece of a mesh by colours too. */
static inline int sem3d_gpu_gathers(const sem3d_cfg *c) {
    return c->sum == SEM3D_GATHER || (c->piece && c->sum == SEM3D_COLOUR);
}

static inline sem3d_gpu *sem3d_gpu_own(const handle *h) { return (sem3d_gpu *)h->own; }

/* The number of `fields` that a field would have of point 0 of the mesh, if that were of its phase. */
static inline ptrdiff_t sem3d_gpu_first(const sem3d_gpu *o, int field) {
    const ptrdiff_t solid = (ptrdiff_t)o->field[0], fluid = (ptrdiff_t)o->field[1];
    return field < SEM3D_CHI_T ? field * solid
                               : SEM3D_CHI_T * solid + (field - SEM3D_CHI_T) * fluid - o->cfg->solid_points;
}

/* The verbs of all variants, whose `kind` is a sem3d_gpu_kind. */
extern const sem3d_verbs sem3d_gpu_verbs;
extern const sem3d_verbs sem3d_gpu_brick_verbs;

/* sem3d_gpu_elements.cu: verbs of these names; floats of geometry and medium. */
int sem3d_gpu_elements_are(sem3d *fd, const sem3d_given *given);
int sem3d_gpu_sides_are(sem3d *fd);
int sem3d_gpu_quality(sem3d *fd, const float *tau, const float *bulk, const float *shear);
sem3d_shape sem3d_gpu_shape(const sem3d_gpu_kind *kind, const sem3d_cfg *c, int affine);

/* sem3d_gpu_points.cu: lists to the device; parts of a time step. */
int sem3d_gpu_put_specials(sem3d *fd); /* sides or sources are new */
int sem3d_gpu_put_histories(sem3d_gpu *o, const source_histories *q);
int sem3d_gpu_put_receivers(sem3d *fd);
int sem3d_gpu_put_map(sem3d *fd);
int sem3d_gpu_sums(sem3d_gpu *o, int fluid);
int sem3d_gpu_move_specials(sem3d_gpu *o, int fluid);
int sem3d_gpu_end_step(sem3d_gpu *o);

/* sem3d_gpu_pieces.cu: lists to the device, when sums are known; forces of a part of a phase (SEM3D_RIM, SEM3D_INSIDE);
 * sums at a way to and from the host. */
int sem3d_gpu_put_pieces(sem3d *fd, const sem3d_given *given);
int sem3d_gpu_part_forces(sem3d_gpu *o, int fluid, int part);
int sem3d_gpu_give(sem3d *fd, int fluid, int way, float *out);
int sem3d_gpu_take(sem3d *fd, int fluid, int way, const float *in);

/* sem3d_gpu_swap.cu: forces of a phase of a piece that is linked to others, whose sums have come; whether a wait for
 * them was in vain. */
int sem3d_gpu_swapped_forces(sem3d_gpu *o, int fluid);
int sem3d_gpu_check_link(const sem3d_gpu *o);
extern const sem3d_link_verbs sem3d_gpu_link_verbs;

/* sem3d_stream.cu: what is needed of pinned memory and buffers; bricks are known, which tells o->kept; numbers and
 * shares of the elements that come; their forces and those that stay; begin and end of a chunk of steps. */
int sem3d_gpu_stream_make(sem3d_gpu *o, const sem3d_load load[2]);
void sem3d_gpu_stream_free(sem3d_gpu *o);
int sem3d_gpu_stream_cut(sem3d *fd, int bricks);
void sem3d_gpu_stream_fill(sem3d *fd, const sem3d_given *given);
void sem3d_gpu_stream_quality(sem3d *fd, const float *bulk, const float *shear);
int sem3d_gpu_stream_forces(sem3d_gpu *o, int fluid);
int sem3d_gpu_stream_begin(sem3d_gpu *o);
int sem3d_gpu_stream_end(sem3d_gpu *o);
void sem3d_gpu_stream_device(handle *h, char *text, size_t length);
