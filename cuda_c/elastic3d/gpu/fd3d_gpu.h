/* The common part of the GPU variants of the 3D time loop: fields in device memory, layers, edges, sources and
 * receivers, the order of a step. A variant's file has its two kernels, velocity and stress, and its constant.
 *
 *   <- pad -><----- nx -----><- pad ->     Rows of cells begin at a multiple of 128 bytes. Each field stands in a frame
 *      0 0 0 s s s s s s s s s 0 0 0       as wide as the half-length: rows and planes of zeros, or of what the side's
 *      0 0 0 s s s s s s s s s 0 0 0       kind puts there; along x the frame is the gap between two rows, half of it
 *                                          the end of one, half the beginning of the next. The medium lies likewise,
 *   its ring of one cell in the frame: rho, lambda, 1/mu of cells, averaged by the kernels as they go (120 bytes a cell
 *   and step, where averages kept in memory would take 140). 1/mu is infinite in a fluid, and the average becomes 0.
 *
 * Absorbing layers have memory variables in their slabs only: psi of axis 0 is (low+high, ny, nz), of axis 1
 * (pitch, low+high, nz), of axis 2 (pitch, ny, low+high); along axis 0 each of both begins at an even number and
 * has room up to the next, so that pairs of cells are pairs of numbers. Cells in no layer are a box of their
 * own, which kernels pass without looking for layers; the shell around it is another launch. */
#pragma once

#include "der3d.h"
#include "fd3d.h"
#include "gpu_frame.h"

enum { FD3D_GPU_THREADS = 256, FD3D_GPU_BOXES = 64, FD3D_STRESSES = 6, FD3D_GPU_BUFFER = 4 << 20 };
/* Of the core: cells a difference reaches over, cells of a tile. */
enum { FD3D_GPU_REACH = 2, FD3D_GPU_COLUMNS = 60, FD3D_GPU_ROWS = 16 };

typedef struct fd3d_gpu_medium { /* cell (0,0,0) of each */
    const float *rho, *lambda, *imu, *qp, *qs;
} fd3d_gpu_medium;

typedef struct fd3d_gpu_grid { /* as kernels get it */
    int nx, ny, nz;
    ptrdiff_t y, z;        /* to the next row and plane */
    float *f[FD3D_FIELDS]; /* cell (0,0,0) of each */
    float
        *r[FD3D_STRESSES]; /* memory variables of the stresses, likewise; of all mechanisms in each cell the first's, */
    ptrdiff_t next_r;      /* the next one's are so much further */
    uint2 *packed[2];      /* or, as fd3d_tuned.cuh has them, so */
    float *next_v[3];      /* where velocities of the next step go: in place, or as fd3d_gpu_core says */
    float *a[3];           /* of the core: what velocities grow by */
    fd3d_gpu_medium m;
    cudaTextureObject_t texture[5]; /* the medium in this order; of a variant that reads it so */
    int texture_origin;             /* cell (0,0,0) in a texture */

    int low[3], high[3];     /* in a layer: i < low, i >= high */
    int deep[3], shift[3];   /* of slabs: cells across; cell i >= high is number i - shift */
    float *psi[2][3][3];     /* of velocities, stresses; along axis a; of component c: s_ca or v_c */
    const float *profile[3]; /* (n,6) */
    const float *sponge[3];  /* (n); null: none */

    int top_rows; /* first ones below a free surface, else 0 */
    float *top_d; /* their differences along z, (y, ny, FD3D_TOP_ROWS, 3), of vx, vy, vz or of what moves them */
    int odd[3];   /* whether cell 0 has an odd number in the whole grid */
    float t[3], w[D3_MAX];
    float decay[FD3D_MECHANISMS], half[FD3D_MECHANISMS], strength[3][FD3D_MECHANISMS]; /* e, (1 - e)/2, y */
    float stiff[FD3D_MECHANISMS];
} fd3d_gpu_grid;

/* Cells of a launch: boxes, cut into blocks. Block b belongs to box m with first[m] <= b < first[m+1]. */
typedef struct fd3d_gpu_box {
    int lo[3], hi[3];
    int blocks[3]; /* along x, y, z */
    int axes;      /* of `apart`: its cells lie in layers along y (2), z (4) or neither, and along x (1) */
    int lean[2];   /* where i < lean[0] or i >= lean[1] */
} fd3d_gpu_box;

typedef struct fd3d_gpu_boxes {
    int n;
    int first[FD3D_GPU_BOXES + 1];
    fd3d_gpu_box box[FD3D_GPU_BOXES];
} fd3d_gpu_boxes;

typedef struct fd3d_gpu_range {
    int lo[3], hi[3];
} fd3d_gpu_range;

/* The core of a sparse grid: cells whose stresses are not kept (fd3d_gpu_core.cu). */
typedef struct fd3d_gpu_core {
    int on;                     /* there is one */
    int begun;                  /* steps were taken since the last reset: it stays where it is, or away */
    int ahead;                  /* its next velocities are known */
    int partly;                 /* of the newest velocities those of the rim are known, in the second set */
    int rock[2];                /* planes without fluid or air: the first, the one behind the last */
    fd3d_gpu_range box, hole;   /* where it is, but for a hole around receivers of stresses; that may be empty */
    float *v, *a;               /* second set of velocities, what they grow by; null: no room for a core */
    struct fd3d_gpu_pace *pace; /* in device memory: by which its blocks stay side by side */
    const float *captured;      /* vx when the queue's graphs were made */
} fd3d_gpu_core;

/* Planes without fluid or air, while the medium comes: the first and the one behind the last of most of them, and the
 * first of those that were seen last. */
typedef struct fd3d_gpu_rock {
    int most[2], from;
} fd3d_gpu_rock;

typedef struct fd3d_gpu fd3d_gpu;

/* A variant describes itself by this: launches for half a step, by half-length. */
typedef struct fd3d_gpu_kind {
    int shape[3]; /* cells of a block along x, y, z */
    int marches;  /* threads stand along x and y and go through the cells along z; else a thread a cell */
    int textures;
    int wide;   /* cells along x of a thread; 0: 1 */
    int apart;  /* whole rows, all of them `plain`, in boxes that say along which axes they lie in layers */
    int memory; /* numbers a cell that memory variables take; 0: one each */
    int align;  /* blocks begin at multiples of it along x; 0: where their box does */
    int (*velocity[D3_MAX])(fd3d_gpu *o, int part);
    int (*stress[D3_MAX])(fd3d_gpu *o, int part);
    /* Null: no core. Its next velocities, from all newest ones; whether this GPU can. */
    int (*core)(fd3d_gpu *o);
    int (*core_fits)(const fd3d_gpu *o);
} fd3d_gpu_kind;

/* The map in device memory, as fd3d_watched has it. */
typedef struct fd3d_gpu_watched {
    int last, n; /* n = 0 until all is there */
    const ptrdiff_t *cell;
    const int *stencil, *start;
    const fd3d_entry *entry;
    float *peak; /* (n,3) */
} fd3d_gpu_watched;

/* Cells of sources in device memory: of velocities first, then of stresses. */
typedef struct fd3d_gpu_sources {
    const ptrdiff_t *cell; /* from cell (0,0,0) of vx on, through all fields */
    const int *part;       /* FD3D_RIM or FD3D_INNER */
    const int *start, *h;
    const float *w, *q;
    int velocities, n, nh;
} fd3d_gpu_sources;

/* In device memory: velocities of the core that grow by stresses of sources, vx in component[0] .. component[1]-1, and
 * so on. Number n grows by the sum over e = start[n] .. start[n+1]-1 of w[e] grown[from[e]], over its density. */
typedef struct fd3d_gpu_shaken {
    int known; /* all is there for the newest sources and core */
    int component[4];
    const ptrdiff_t *cell; /* from cell (0,0,0) on */
    const int *start, *from;
    const float *w;
    float *grown;    /* by what sources give each of their cells of stresses in a step */
    ptrdiff_t apart; /* from a component to the next, of v and of a */
} fd3d_gpu_shaken;

struct fd3d_gpu : gpu_frame { /* h->own; of receivers' fields velocities are one and stresses one */
    fd3d_gpu_grid grid;
    const fd3d_gpu_kind *kind;
    const fd3d_cfg *cfg;
    int block[3];                        /* cells of one, as kind->shape unless tuned */
    fd3d_gpu_boxes plain[3], layered[3]; /* cells without and with layers of each part of a half step */
    fd3d_gpu_boxes kept[3];              /* of each part, where there is a core: cells whose stresses are kept */
    fd3d_gpu_core core;
    fd3d_gpu_rock rock;
    size_t count;                    /* of a field with its frame */
    ptrdiff_t origin;                /* cell (0,0,0) in it */
    float *fields, *memory, *medium; /* all of a kind, one after the other */
    float *psi, *profiles, *sponges, *before, *one_way;
    size_t psi_count, before_count, top_count;
    fd3d_top top;
    float *buffer; /* of FD3D_GPU_BUFFER, on the way to and from the host */
    gpu_step_sources *step_sources;
    fd3d_gpu_sources source;
    fd3d_gpu_shaken shaken;
    struct {
        size_t cell, part, start, h, w, q;
    } room;
    struct {
        size_t cell, start, from, w, grown;
    } shaken_room;
    fd3d_gpu_watched map;
};

static inline fd3d_gpu *fd3d_gpu_own(const handle *h) { return (fd3d_gpu *)h->own; }

/* The verbs of all variants, whose `kind` is a fd3d_gpu_kind. */
extern const fd3d_verbs fd3d_gpu_verbs;
extern const fd3d_link_verbs fd3d_gpu_link_verbs;

/* fd3d_gpu.cu: numbers of all memory variables; pointers of the grid to the arrays, velocities to the first set. */
size_t fd3d_gpu_memory_count(const fd3d_gpu *o);
void fd3d_gpu_set_pointers(fd3d_gpu *o);

/* fd3d_gpu_medium.cu, fd3d_gpu_fields.cu: verbs of these names. */
int fd3d_gpu_model(fd3d *fd, const fd3d_slab *part);
int fd3d_gpu_quality(fd3d *fd, const float *qp, const float *qs);
int fd3d_gpu_pml(handle *h);
int fd3d_gpu_sponge(fd3d *fd);
int fd3d_gpu_halo(fd3d *fd, int what, int side, float *out, const float *in);
int fd3d_gpu_get(fd3d *fd, int field, const int lo[3], const int hi[3], float *out);
int fd3d_gpu_set(handle *h, int field, const float *in);
int fd3d_gpu_reset(handle *h);
int fd3d_gpu_state(handle *h, state_part part[HANDLE_PARTS]);

/* fd3d_gpu_together.cu: stresses of a part where cells have all mechanisms, for all variants: what it takes from and
 * gives to memory are memory variables above all, whatever else a variant does better. */
int fd3d_gpu_stress_together(fd3d_gpu *o, int part);

/* fd3d_gpu_boxes.cu: the cells of each part, for blocks of o->shape; all cells are those outside of the core. */
void fd3d_gpu_plan(fd3d_gpu *o);

/* fd3d_gpu_core.cu: where it can be, and room; where it is, then fd3d_gpu_plan; its next velocities from the
 * increments; sets change places; zeros. */
int fd3d_gpu_core_model(fd3d_gpu *o, fd3d *fd, const fd3d_slab *part);
int fd3d_gpu_core_plan(fd3d_gpu *o, fd3d *fd, const int rock[2]);
int fd3d_gpu_core_begin(fd3d_gpu *o);
int fd3d_gpu_core_turn(fd3d_gpu *o);
int fd3d_gpu_core_reset(fd3d_gpu *o);

/* fd3d_gpu_core_sources.cu: lists of velocities in a core to be; they grow, after its next velocities are there. */
int fd3d_gpu_put_shaken(fd3d_gpu *o, fd3d *fd, const fd3d_gpu_core *core);
int fd3d_gpu_shake(fd3d_gpu *o);

static inline int fd3d_gpu_within(const fd3d_gpu_range *b, const int cell[3]) {
    return cell[0] >= b->lo[0] && cell[0] < b->hi[0] && cell[1] >= b->lo[1] && cell[1] < b->hi[1] &&
           cell[2] >= b->lo[2] && cell[2] < b->hi[2];
}

/* fd3d_gpu_edges.cu: what stands in the frame behind sides of our own, before velocities (what = 0) or stresses (1). */
int fd3d_gpu_edges(fd3d_gpu *o, int what);
/* Cells lo .. hi-1 of a field, as one row from number `first` on, `count` of them: out of it or into it, as they are or
 * inverted. */
typedef enum fd3d_gpu_way { FD3D_GPU_OUT, FD3D_GPU_IN, FD3D_GPU_INVERTED } fd3d_gpu_way;
int fd3d_gpu_copy(fd3d_gpu *o, float *field, const int lo[3], const int hi[3], size_t first, size_t count, float *row,
                  fd3d_gpu_way way);

/* fd3d_gpu_swap.cu: half a step with the exchange of rims, by `update` of the cells of a part; numbers that go through
 * each side, 0 where it has no neighbour. */
int fd3d_gpu_half_step_swapped(fd3d_gpu *o, int what, int (*update)(fd3d_gpu *o, int what, int part));
void fd3d_gpu_link_counts(const fd3d_cfg *cfg, size_t count[GPU_SIDES]);

/* fd3d_gpu_points.cu: lists to the device; parts of a time step. */
int fd3d_gpu_put_source(fd3d_gpu *o, fd3d *fd);
int fd3d_gpu_put_histories(fd3d_gpu *o, const source_histories *q);
int fd3d_gpu_put_receivers(fd3d_gpu *o, fd3d *fd);
int fd3d_gpu_put_map(fd3d_gpu *o, fd3d *fd, const fd3d_given *given);
int fd3d_gpu_inject(fd3d_gpu *o, int what, int part);
int fd3d_gpu_end_step(fd3d_gpu *o);
size_t fd3d_gpu_points_need(const fd3d_counts *counts);
