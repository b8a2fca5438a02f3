/* Memory of the `cpu` variant of spectral elements.
 *
 * Elements stand in groups of 16, the last of a brick filled up with copies that are computed for nothing; each vector
 * of a group's arrays has a number of 16 elements side by side. What a group has of geometry and medium depends on its
 * kind:
 *
 *   stored:    for each point its cofactors (9) and medium: elements of 27 nodes
 *   affine:    cofactors (9)                                         then its medium,
 *   trilinear: all numbers of sem_trilinear but the first (21)       or that of each point
 *
 * The medium is lambda and mu, in the fluid 1/rho; over det where that is stored; times the weight of the point where
 * each point has its own. A group with anisotropic elements has their 21 numbers (sem3d_tensor.h) behind all that, 0 of
 * others. */
#pragma once

#include "cpu_frame.h"
#include "sem3d.h"

enum { GROUP = 16, COFACTORS = 9, TRILINEAR = 21 };
enum { SEM_STORED, SEM_AFFINE, SEM_TRILINEAR, SEM_SHAPES };

/* Places of the numbers of a group, in vectors. */
static inline int cpus_geometry(int shape) { return shape == SEM_TRILINEAR ? TRILINEAR : COFACTORS; }

typedef struct cpus_group {
    int first, elements; /* 1..16 */
    int shape, even;     /* even: one medium for all points */
    int tensor;          /* vectors of it; 0: all elements are isotropic */
    size_t tensor_at;    /* in its numbers */
    size_t at;           /* in the numbers of all */
    size_t lanes;        /* in the points of all: (16,125) */
} cpus_group;

/* Points that have memory variables. */
typedef struct cpus_memory {
    int points;             /* 125, or 57 */
    int number[SEM_POINTS]; /* of a point among them, or -1 */
    float gain[SEM_POINTS]; /* sem_memory_gain, or 1 */
} cpus_memory;

/* Attenuation of a group: shares of each mechanism times (1 - e)/2, of the bulk modulus and of mu, for each point that
 * has memory variables or once; and six numbers of each of these points and each mechanism. */
typedef struct cpus_relaxation {
    int mechanisms, each; /* each: floats from one point's shares to the next's, or 0 */
    const cpus_memory *memory;
    const float *decay; /* e = exp(-dt/tau), (mechanisms) */
    const float *share; /* (16,2,mechanisms,points or 1) */
    float *z;           /* (16,6,mechanisms,points) */
} cpus_relaxation;

typedef struct cpus_work { /* of a thread */
    float a[3 * SEM_POINTS * GROUP] __attribute__((aligned(64)));
    float z[3 * SEM_POINTS * GROUP] __attribute__((aligned(64)));
    float *u, *f; /* of the points of a brick, 4 or in the fluid 1 a point: displacement or potential; force */
} cpus_work;

/* Solid: 0, fluid: 1. */
typedef struct cpus_kernels {
    /* Adds the forces of a group to work->f. */
    void (*group[2])(const cpus_group *g, const float *numbers, const uint16_t *at, const cpus_relaxation *relaxation,
                     cpus_work *work); /* relaxation: null of an elastic medium */
    /* n points: v += gain f, u += dt v; f(4 or 1, n) */
    void (*update[2])(int n, float dt, const float *gain, const float *f, float *v, float *u);
} cpus_kernels;

extern const cpu_isa sem3d_cpu_generic, sem3d_cpu_avx2, sem3d_cpu_avx512;

typedef struct cpus_own {
    cpu_frame frame;
    float *v, *u;       /* (3, points of solid) and a row of zeros */
    float *chi_t, *chi; /* (points of fluid), likewise */
    float *slot;        /* (4 or 1, outers): what bricks have of the points that they share */
    float *press;       /* (contacts) d2chi/dt2 */
    cpus_group *group;
    int *groups; /* of brick b: groups[b] .. groups[b+1]-1 */
    float *numbers;
    uint16_t *lanes; /* points of groups in their brick */
    float decay[SEM3D_MECHANISMS];
    cpus_memory with;       /* memory variables */
    float *shares, *memory; /* of attenuation, those of solid groups; null: none */
    cpus_work *work;        /* (rooms), each with its share of `room` */
    float *room;
    size_t rooms, brick_points; /* points of a brick, at most */
    float *peaks;               /* (map.n,3) */
} cpus_own;

enum { SEM_ROW = 3 * 1024 }; /* floats that are looked at together for the largest */

int sem3d_cpu_timestep(handle *h, int it, int n, float *trace);
int sem3d_cpu_part(sem3d *fd, int it, int fluid, int part, float *trace);
cpus_relaxation sem3d_cpu_relaxation(const sem3d *fd, int group);
int sem3d_cpu_room(sem3d *fd);                                /* of each thread */
float sem3d_cpu_value(const handle *h, int field, int place); /* in the order of steps */
