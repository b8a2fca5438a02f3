/* The `cpu` variant of the 3D solver inside: subdomain in memory, kernels. fd3d_cpu.c keeps memory, fd3d_cpu_step.c
 * does half steps of boxes, fd3d_cpu_wave.c several steps in one sweep. */
#pragma once

#include <math.h>

#include "cpu_frame.h"
#include "der3d.h"
#include "fd3d.h"

enum { STRESSES = 6 }; /* sxx .. syz, numbered from 0 where memory variables are */
enum { RELAX = 6 };    /* numbers of a mechanism */
/* Memory variables of cells that have all mechanisms: those of LANES cells of a row stand together, mechanism by
 * mechanism, in each stress by stress: as few places in memory as there are rows. (LANES, STRESSES, FD3D_TOGETHER,
 * nxp/LANES, ny, nz) */
enum { MEMORIES = STRESSES * FD3D_TOGETHER };

/* Memory variables of the layers along one axis, six fields each over the cells of the layers alone: those of the
 * derivatives of sigma (0 vx, 1 vy, 2 vz) and of v (3 vx, 4 vy, 5 vz). Cells [0,low) and [high,n) of the axis; along x
 * low and high are rounded outwards to whole vectors, where the profiles do nothing. */
typedef struct cpu3_strip {
    int low, high;
    ptrdiff_t width;   /* cells of the axis that are stored */
    float *psi[6];     /* (width, ny, nz) along x, (nxp, width, nz) along y, (nxp, ny, width) along z */
    const float *p[6]; /* a, b, 1/k on whole numbers, on halves; along x padded to nxp */
} cpu3_strip;

/* Arrays are padded: cell (i, j, k) at a[k z + j y + i], i = -LANES .. nxp + LANES - 1 (nxp = nx rounded up to LANES),
 * j, k = -L .. n + L - 1. The halo lies in the padding: along x at -L .. -1 and nx .. nx+L-1. Kernels write owned cells
 * only. */
typedef struct cpu3_grid {
    int n[3], nxp, L, anelastic, narrow, periodic_x;
    int between[2];                           /* columns [between[0], between[1]) lie in no layer along x */
    int rows;                                 /* from one plane to the next */
    ptrdiff_t y, z;                           /* floats to the next row, plane */
    float *field[FD3D_FIELDS];                /* numbered as in the treaty */
    float *memory[STRESSES];                  /* r of der3d.h where a cell has one mechanism */
    float *memories;                          /* where it has all: see MEMORIES */
    float *rho, *lambda, *softness, *qp, *qs; /* with a ring of one cell; softness: 1/mu, infinite in a fluid */
    float w[D3_MAX], t[3];                    /* dt over dx, dy, dz */
    cpu3_strip strip[3];
    const float *sponge[3]; /* null: none */
    int calm[3][2];         /* cells [calm[0], calm[1]) of an axis, which no sponge touches */

    /* Attenuation of a row by the parities of its y and z in the whole grid: e, g, y1, y2, y3, stiff by turns along x.
     * Of all mechanisms: a mechanism in place of such a row. */
    float relax[FD3D_TOGETHER][RELAX][LANES];
    int parity[2]; /* of row 0, plane 0 */

    int top_rows; /* first rows below a free surface, whose differences along z are other ones; else 0 */
    int top_wait; /* of these in a sweep wait for each other, as they need more planes below than others do */
    fd3d_top top;
    float *top_d; /* these differences, (nxp, FD3D_TOP_ROWS, 3, ny), of vx, vy, vz or of stresses that move them */
} cpu3_grid;

/* Kinds of kernels: rows or columns that no layer and no sponge touches; a sponge alone; that below a free surface; the
 * layers of one axis alone; any, whole vectors; any columns at all; the latter two with narrow differences along
 * layers. */
enum { PLAIN, SPONGE, TOP, LAYER_X, LAYER_Y, LAYER_Z, LAYERS, EDGES, NARROW, NARROW_EDGES, KINDS };

/* Rows that memory is asked for while a kernel works, line by line beside its own columns. */
typedef struct cpu3_next {
    int rows;
    const float *row[FD3D_FIELDS + 3 + 2 + STRESSES]; /* column 0 */
} cpu3_next;

/* Columns [i0,i1) of row (j,k), all in or all out of the strips along x, multiples of LANES but for kinds of edges. */
typedef void cpu3_kernel(const cpu3_grid *g, int j, int k, int i0, int i1, const cpu3_next *next);
/* Differences along z of a row below a free surface. */
typedef void cpu3_surface(const cpu3_grid *g, int j, int k);

typedef struct cpu3_kernels {
    cpu3_kernel *half[2][3][KINDS]; /* [0 velocity, 1 stress][anelastic] */
    cpu3_surface *surface[2];       /* [0: of stresses, before velocities, 1: of velocities, before stresses] */
} cpu3_kernels;

extern const cpu_isa fd3d_cpu_generic, fd3d_cpu_avx2, fd3d_cpu_avx512; /* their kernels: cpu3_kernels(half_length) */

enum { TILE_STEPS, TILE_WIDTH, TILE_PLANES }; /* of frame.tile; tiles are as long along x as the grid */
enum { LEAVING = 6 };                         /* fields read across a one-way bottom */
enum { FD3D_CPU_KEPT = 6 };                   /* steps of a pass with a map, at most */

/* The variant's memory, h->own. */
typedef struct cpu3_own {
    cpu_frame frame;
    cpu3_grid grid;
    size_t array;    /* floats of one array */
    size_t memories; /* of all mechanisms in each cell */
    float *psi;      /* all memory variables of layers */
    size_t psi_count;
    float *columns;                        /* profiles along x padded */
    float *sponge_x;                       /* (nxp) */
    float *top_d;                          /* grid.top_d */
    float *bottom, *bottom_gp, *bottom_gs; /* (nx, ny, LEAVING) last row a half step ago; (nx, ny) */
    float *peaks;                          /* (map.n, 3) */
    float *kept;                           /* planes that the map is taken from, (nx, ny, planes, steps of a pass) */
    size_t kept_count;
} cpu3_own;

/* Memory variables of row (j,k) where a cell has all mechanisms. */
static inline float *fd3d_cpu_memories(const cpu3_grid *g, int j, int k) {
    return g->memories + ((ptrdiff_t)k * g->n[1] + j) * MEMORIES * g->nxp;
}

/* Differences below a free surface of row (j,k), of component c. */
static inline float *fd3d_cpu_top(const cpu3_grid *g, int j, int c, int k) {
    return g->top_d + (((ptrdiff_t)j * 3 + c) * FD3D_TOP_ROWS + k) * g->nxp;
}

static inline const cpu3_kernels *fd3d_cpu_kernels(const cpu3_own *o) {
    return (const cpu3_kernels *)o->frame.isa->kernels + o->grid.L - 1;
}

/* fd3d_cpu_step.c: one half step of rows [j0,j1) of plane k, columns [i0,i1), in pieces inside and outside of layers.
 */
void fd3d_cpu_row(const cpu3_own *o, int what, int j, int k, int i0, int i1, const cpu3_next *next);
/* Cells lo .. hi-1, by all threads. */
void fd3d_cpu_update(const cpu3_own *o, int what, const int lo[3], const int hi[3]);
int fd3d_cpu_velocity(fd3d *fd, int it, int part);
int fd3d_cpu_stress(fd3d *fd, int it, int part, float *trace);
/* The halo along x of periodic rows. */
void fd3d_cpu_wrap_row(const cpu3_grid *g, int what, int j, int k);

/* A cell of a source grows by its entries, in their order; q: histories of the step. */
static inline void fd3d_cpu_add_source(const source_cells *s, int c, const float *q, float *at) {
    for (int e = s->start[c]; e < s->start[c + 1]; e++)
        *at = fmaf(s->w[e], q[s->h[e]], *at);
}

/* fd3d_cpu_wave.c: n steps from step it; trace(nrec, n). */
int fd3d_cpu_timestep(handle *h, int it, int n, float *trace);
/* A block of steps beside neighbours: what needs nothing of them, and a part of a half step of the rest. */
int fd3d_cpu_ahead(fd3d *fd, int it, int n, int *done);
int fd3d_cpu_rest(fd3d *fd, int what, int it, int part, float *trace);
