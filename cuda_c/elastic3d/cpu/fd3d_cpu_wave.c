/* The time loop of the `cpu` variant of the 3D solver: velocities and stresses, and several steps, in one sweep through
 * memory, in place; as fd2d_cpu_wave.c, with planes for rows and rows for columns.
 *
 * In place. Velocities of plane k need stresses of planes k-L .. k+L, and are needed by stresses of planes k-L .. k+L,
 * which then need not be old any more anywhere that is needed. So one copy of each field is enough if, going down, each
 * half step follows the one before it L planes behind. Along y the argument is the same.
 *
 * A tile is W rows deep and as long along x as the grid; half step h of it covers rows shifted to the front by h L, so
 * tiles done from front to back need nothing from behind. Going down a tile, half step after half step on `planes`
 * planes, only the last few planes are in use: they stay in the cache for all T steps, and memory is read and written
 * once in T steps.
 *
 *       rows ->   tile t-1  |  tile t              h = 0   velocities   planes  [j, j+planes)
 *              tile t-1 |  tile t                  h = 1   stresses     L above
 *          tile t-1 |  tile t                      h = 2   velocities   2L above ...
 *
 * Threads. Items (block of T steps, tile) are numbered block by block, front to back, and taken in this order. An item
 * at step j of its way down waits until its neighbour in front has finished step j, and until the tiles of the block
 * before that it reads (itself and behind) are done as far down as it reads. Items wait for lower numbers only, and
 * numbers are taken in order, so the lowest unfinished item can always go on: no deadlock, whatever the number of
 * threads and cores.
 *
 * Sides. A free surface and a periodic x are filled as their rows pass. Periodic y or z and a one-way bottom need
 * what a sweep has not reached or has left behind: with these each half step is a sweep of its own. */
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cpu_tiles.h"
#include "err.h"
#include "fd3d_cpu.h"

enum {
    MAX_STEPS = 8,    /* of a block */
    LEAST_STEPS = 64, /* of a pass, however many cells are sampled */
};

typedef struct wave {
    fd3d *fd;
    const cpu3_own *o;
    const cpu3_grid *g;
    int it, n;        /* first step and number of steps of this pass */
    int T, W, planes; /* steps a block, rows a tile, planes at a time */
    int tiles, blocks;
    atomic_int next;           /* item to take */
    atomic_int *progress;      /* steps downwards done, of each item */
    float *samples;            /* (sampled cells, n) */
    size_t sampled;            /* cells */
    size_t first[FD3D_FIELDS]; /* where the cells of a field begin */
    float *kept;               /* planes of velocities that the map is taken from, for each step of the pass */
    size_t kept_step;          /* floats of a step */
} wave;

/* --- one half step on a piece of the grid -------------------------------------------------------------------- */

typedef struct piece {
    int k0, k1, j0, j1; /* planes, rows */
} piece;

/* First cell of plane k in row j or behind it. */
static int seek(const fd3d_cells *c, int k, int j) {
    int low = c->plane[k], high = c->plane[k + 1];
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (c->j[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sources of fields first .. last, as fd3d_inject does it. */
static void inject(const wave *w, int it, int first, int last, piece p) {
    const float *q = fd3d_history(w->fd, it);
    for (int f = first; f <= last && q != NULL; f++) {
        const fd3d_sources *s = &w->fd->source[f];
        if (s->cells.plane[p.k0] == s->cells.plane[p.k1])
            continue;
        for (int k = p.k0; k < p.k1; k++)
            for (int c = seek(&s->cells, k, p.j0); c < s->cells.plane[k + 1] && s->cells.j[c] < p.j1; c++) {
                float *at = w->g->field[f] + k * w->g->z + s->cells.j[c] * w->g->y + s->cells.i[c];
                for (int e = s->start[c]; e < s->start[c + 1]; e++)
                    *at = fmaf(s->w[e], q[s->h[e]], *at);
            }
    }
}

/* Copies sampled cells out; they are summed when the pass is done, in one order whatever the tiles. */
static void sample(const wave *w, int it, int first, int last, piece p) {
    for (int f = first; f <= last; f++) {
        const fd3d_cells *c = &w->fd->sampled[f];
        float *to = w->samples + (size_t)(it - w->it) * w->sampled + w->first[f];
        if (c->plane[p.k0] == c->plane[p.k1])
            continue;
        for (int k = p.k0; k < p.k1; k++)
            for (int m = seek(c, k, p.j0); m < c->plane[k + 1] && c->j[m] < p.j1; m++)
                to[m] = w->g->field[f][k * w->g->z + c->j[m] * w->g->y + c->i[m]];
    }
}

/* Copies out what the map is taken from, as its points reach beyond the piece; rows and planes as far apart. */
static void keep(const wave *w, int it, piece p) {
    const fd3d_watched *m = &w->fd->map;
    const cpu3_grid *g = w->g;
    float *to = w->kept + (size_t)(it - w->it) * w->kept_step;
    for (int c = 0; c < 3; c++) {
        for (int k = most(p.k0, m->low[c]); k < least(p.k1, m->high[c]); k++)
            for (int j = p.j0; j < p.j1; j++)
                memcpy(to + (k - m->low[c]) * g->z + j * g->y, g->field[c] + k * g->z + j * g->y,
                       (size_t)g->n[0] * sizeof(float));
        to += (m->high[c] - m->low[c]) * g->z;
    }
}

/* Rows that the next step downwards is the first to use, asked for a few at a time between two pieces of work: rows are
 * short and come from many arrays and planes, too many for the processor's own prefetcher. */
typedef struct ahead {
    const cpu3_grid *g;
    piece p;               /* of planes and rows to come; fields differentiated along z: L planes on */
    int array, k, j;       /* the next one */
    long left, share;      /* rows of arrays: not yet asked for, to ask for at a time */
    const float *from[24]; /* arrays, at the first plane */
    int arrays;
} ahead;

static void ahead_start(ahead *a, const cpu3_grid *g, piece p, long shares) {
    *a = (ahead){.g = g, .p = p, .k = p.k0, .j = p.j0};
    for (int f = 0; f < FD3D_FIELDS; f++)
        a->from[a->arrays++] = g->field[f] + (f == FD3D_SXZ || f == FD3D_SYZ || f == FD3D_SZZ ? g->L * g->z : 0);
    a->from[a->arrays++] = g->rho;
    a->from[a->arrays++] = g->lambda;
    a->from[a->arrays++] = g->softness;
    if (g->anelastic) {
        a->from[a->arrays++] = g->qp;
        a->from[a->arrays++] = g->qs;
        for (int s = 0; s < STRESSES; s++)
            a->from[a->arrays++] = g->memory[s];
    }
    a->left = p.k0 < p.k1 && p.j0 < p.j1 ? (long)(p.k1 - p.k0) * (p.j1 - p.j0) * a->arrays : 0;
    a->share = a->left / (shares + 1) + 1;
}

static void ahead_fetch(ahead *a) {
    const int n = a->g->n[0];
    for (long m = least((int)a->share, (int)a->left); m > 0; m--, a->left--) {
        const float *row = a->from[a->array] + a->k * a->g->z + a->j * a->g->y;
        for (int i = 0; i < n; i += LANES)
            __builtin_prefetch(row + i, 0, 2);
        if (++a->array == a->arrays) {
            a->array = 0;
            if (++a->k == a->p.k1) {
                a->k = a->p.k0;
                a->j++;
            }
        }
    }
}

static void half_step(const wave *w, ahead *a, int it, int what, piece p) {
    const cpu3_grid *g = w->g;
    const int first = what == 0 ? FD3D_VX : FD3D_SXX, last = what == 0 ? FD3D_VZ : FD3D_SYZ;
    if (g->free_top && p.k0 == 0)
        for (int j = p.j0; j < p.j1; j++)
            w->o->isa->kernels[g->L - 1].surface[what](g, j);
    for (int j = p.j0; j < p.j1; j++)
        for (int k = p.k0; k < p.k1; k++) {
            fd3d_cpu_row(w->o, what, j, k, 0, g->n[0]);
            ahead_fetch(a);
        }
    inject(w, it, first, last, p);
    if (g->periodic_x)
        for (int k = p.k0; k < p.k1; k++)
            for (int j = p.j0; j < p.j1; j++)
                fd3d_cpu_wrap_row(g, what, j, k);
    if (what == 0 && w->fd->map.n > 0 && it <= w->fd->map.last)
        keep(w, it, p);
    if (w->sampled > 0)
        sample(w, it, first, last, p);
}

/* --- items and their order ----------------------------------------------------------------------------------- */

static int block_steps(const wave *w, int block) { return least(w->T, w->n - block * w->T); }

/* Steps downwards of an item. */
static int ways(const wave *w, int block) {
    return up(w->g->n[2] + (2 * block_steps(w, block) - 1) * w->g->L, w->planes);
}

static void run_item(wave *w, int item) {
    const cpu3_grid *g = w->g;
    const int block = item / w->tiles, tile = item % w->tiles, halves = 2 * block_steps(w, block), L = g->L;
    atomic_int *mine = w->progress + (size_t)item * COUNTER, *front = tile > 0 ? mine - COUNTER : NULL, *before = NULL;
    const int last = (2 * w->T - 1) * L; /* lag of the last half step of a full block, as all but the last are */
    if (block > 0) {                     /* the tile whose last half step reaches as far back as this item reads */
        const int reach = least((tile + 1) * w->W, g->n[1]) + L + last;
        before = w->progress + ((size_t)(block - 1) * w->tiles + least(up(reach, w->W), w->tiles) - 1) * COUNTER;
    }
    for (int j = 0, end = ways(w, block); j < end; j++) {
        if (front != NULL)
            wait_for(front, j + 1);
        if (before != NULL)
            wait_for(before, up(least(g->n[2], (j + 1) * w->planes + L) + last, w->planes));
        const piece next = {least((j + 1) * w->planes, g->n[2]), least((j + 2) * w->planes, g->n[2]),
                            most(tile * w->W - halves * L, 0), least((tile + 1) * w->W + L, g->n[1])};
        ahead a;
        ahead_start(&a, g, next, (long)halves * w->W * w->planes);
        for (int h = 0; h < halves; h++) {
            const piece p = {most(j * w->planes - h * L, 0), least((j + 1) * w->planes - h * L, g->n[2]),
                             most(tile * w->W - h * L, 0), least((tile + 1) * w->W - h * L, g->n[1])};
            if (p.k0 < p.k1 && p.j0 < p.j1)
                half_step(w, &a, w->it + block * w->T + h / 2, h % 2, p);
        }
        atomic_store_explicit(mine, j + 1, memory_order_release);
    }
}

/* --- tiles --------------------------------------------------------------------------------------------------- */

/* Cache for the rows in use of one thread's tile: 4 MB of the L3 cache, less where the cores have less. What the system
 * tells is the upper bound only: 402 MB on a virtual machine of two cores whose processor has 32 MB for each eight. */
static long room(int threads) {
    long bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    bytes = bytes > 0 ? bytes / (4 * (long)threads) : 4 << 20;
    return bytes < 1 << 20 ? 1 << 20 : bytes > 4 << 20 ? 4 << 20 : bytes;
}

/* Rows of a tile of T steps whose planes in use, and the rows that it shares with its neighbours, fit into the cache.
 */
static int rows_that_fit(const wave *w, int T) {
    const cpu3_grid *g = w->g;
    const long arrays = FD3D_FIELDS + 3 + (g->anelastic ? 2 + STRESSES : 0), planes = 2 * T * g->L + w->planes;
    return (int)(room(w->o->threads) / (arrays * planes * (long)sizeof(float) * g->y)) - 2 * T * g->L;
}

/* As many steps as leave a tile at least four times as deep as it is skewed. Planes one by one: then rows of one array
 * follow each other in memory, as the processor's prefetcher likes it. Half-length 2, 160^3, sponge, Mcell/s and second
 * of processor time at (steps, rows, planes): (1,40,1) 191, (2,40,1) 267, (2,40,2) 246, (2,40,4) 227, (3,40,1) 272,
 * (4,40,1) 272; a machine in heavy use, so differences of some per cent mean nothing; 2026-11-21. */
static void choose_tiles(wave *w) {
    const cpu3_own *o = w->o;
    const cpu3_grid *g = w->g;
    w->planes = o->planes > 0 ? o->planes : 1;
    w->T = 3;
    while (w->T > 1 && rows_that_fit(w, w->T) < 4 * (2 * w->T - 1) * g->L)
        w->T--;
    if (o->steps > 0)
        w->T = o->steps;
    w->T = most(1, least(w->T, least(MAX_STEPS, w->n)));
    w->blocks = up(w->n, w->T);
    w->T = up(w->n, w->blocks); /* no short block at the end */
    w->blocks = up(w->n, w->T);
    const int skew = (2 * w->T - 1) * g->L;
    w->W = o->width > 0 ? o->width : most(rows_that_fit(w, w->T), 16);
    w->W = least(w->W, g->n[1] + skew);
    w->tiles = up(g->n[1] + skew, w->W);
    if (o->width == 0)
        w->W = up(g->n[1] + skew, w->tiles); /* all of one width */
    w->tiles = up(g->n[1] + skew, w->W);
}

/* --- passes -------------------------------------------------------------------------------------------------- */

/* The map grows by the steps of a pass. */
static void finish(const wave *w) {
    const fd3d_watched *m = &w->fd->map;
    const int chunks = 4 * w->o->threads;
    if (m->n == 0)
        return;
#pragma omp for schedule(static)
    for (int chunk = 0; chunk < chunks; chunk++) {
        const int from = (int)((long)m->n * chunk / chunks), to = (int)((long)m->n * (chunk + 1) / chunks);
        for (int step = 0; step < w->n && w->it + step <= m->last; step++) {
            const float *v[3] = {w->kept + (size_t)step * w->kept_step};
            ptrdiff_t first[3] = {m->low[0] * w->g->z};
            for (int c = 1; c < 3; c++) {
                v[c] = v[c - 1] + (m->high[c - 1] - m->low[c - 1]) * w->g->z;
                first[c] = m->low[c] * w->g->z;
            }
            fd3d_keep_largest(w->fd, v, first, from, to, w->o->peaks);
        }
    }
}

/* Most steps of a pass: with a map few, as it keeps planes of each, but some blocks of them. */
static int pass_steps(wave *w, int n) {
    const fd3d_watched *m = &w->fd->map;
    w->kept_step = 0;
    for (int c = 0; c < 3 && m->n > 0; c++)
        w->kept_step += (size_t)(m->high[c] - m->low[c]) * (size_t)w->g->z;
    return m->n == 0 ? n : least(n, FD3D_CPU_KEPT);
}

#define HANDLE     fd3d
#define VERB(name) fd3d_##name
#define OWN        cpu3_own
#define FIELDS     FD3D_FIELDS
#include "fd_cpu_pass.inc"

/* The halo along a periodic x: fields may have been set since. */
static void wrap_all(const wave *w) {
    for (int k = 0; k < w->g->n[2]; k++)
        for (int j = 0; j < w->g->n[1]; j++)
            for (int what = 0; what < 2; what++)
                fd3d_cpu_wrap_row(w->g, what, j, k);
}

static int kept_room(fd3d *fd, wave *w, int steps) {
    cpu3_own *o = fd->own;
    const size_t count = fd->map.n > 0 ? (size_t)steps * w->kept_step : 0;
    if (count > o->kept_count) {
        o->kept_count = 0;
        TRY(fd3d_alloc(fd, &o->kept, count, sizeof(float), "planes of the map"));
        o->kept_count = count;
    }
    w->kept = o->kept;
    return 0;
}

static int sweep(fd3d *fd, int it, int n, float *trace) {
    const cpu3_own *o = fd->own;
    wave w = {.fd = fd, .o = o, .g = &o->grid};
    if (o->grid.periodic_x)
        wrap_all(&w);
    const int steps = pass_steps(&w, n);
    TRY(kept_room(fd, &w, steps));
    return passes(&w, it, n, steps, trace);
}

int fd3d_cpu_timestep(fd3d *fd, int it, int n, float *trace) {
    const int *side = fd->cfg.side;
    if (side[2] == FD3D_OUTSIDE && side[3] == FD3D_OUTSIDE && side[4] != FD3D_PERIODIC && side[5] == FD3D_OUTSIDE)
        return sweep(fd, it, n, trace);
    for (int step = 0; step < n; step++) {
        TRY(fd3d_cpu_velocity(fd, it + step, FD3D_ALL));
        TRY(fd3d_cpu_stress(fd, it + step, FD3D_ALL, trace == NULL ? NULL : trace + (size_t)step * (size_t)fd->nrec));
    }
    return 0;
}
