/* The time loop of the `cpu` variant: several steps in one sweep through memory, in place.
 *
 * In place. v(n+1/2) of row j needs sigma(n) of rows j-L+1 .. j+L; sigma(n+1) of row k needs v(n+1/2) of rows k-L ..
 * k+L-1. These are also the only readers of what is overwritten: sigma(n+1) of row k replaces sigma(n), which v(n+1/2)
 * of rows k-L .. k+L-1 read, and just these are done. So one copy of each field is enough if, going down, each half
 * step follows the one before it L-1 rows (v -> sigma) or L rows (sigma -> v) behind. Along x the argument is the same.
 *
 * A tile is W columns wide; half step h of it covers columns shifted left by h LANES (>= L, and whole vectors), so
 * tiles done from left to right need nothing from their right. Going down a tile, half step after half step on `rows`
 * rows, only the last few dozen rows of it are in use: they stay in the L2 cache for all T steps, and memory is read
 * and written once in T steps.
 *
 *        columns ->   tile t-1  |  tile t           h = 0   v(n+1/2)     rows  [j, j+rows)
 *                  tile t-1 |  tile t               h = 1   sigma(n+1)   L-1 above
 *              tile t-1 |  tile t                   h = 2   v(n+3/2)     2L-1 above ...
 *
 * Threads. Items (block of T steps, tile) are numbered block by block, left to right, and taken in this order. An item
 * at step j of its way down waits until its left neighbour has finished step j, and until the tiles of the block before
 * that it reads (itself and to the right) are done as far down as it reads. Items wait for lower numbers only, and
 * numbers are taken in order, so the lowest unfinished item can always go on: no deadlock, whatever the number of
 * threads and cores. There is no barrier between blocks.
 *
 * A cell's arithmetic does not depend on any of this: results are the same bits for every tile, thread and chunk. */
#include <omp.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cpu_tiles.h"
#include "err.h"
#include "fd2d_cpu.h"

enum {
    MAX_STEPS = 64,   /* of a block */
    LEAST_STEPS = 24, /* of a pass, however many cells are sampled */
    CHUNK = 128,      /* columns done at a time, so that the rows of a vertical sum stay in the L1 cache */
};

typedef struct wave {
    fd2d *fd;
    const cpu_own *o;
    const cpu_grid *g;
    const cpu_kernels *kernels;
    int it, n;      /* first step and number of steps of this pass */
    int T, W, rows; /* steps a block, columns a tile, rows at a time */
    int tiles, blocks;
    int lag[2 * MAX_STEPS];    /* rows half step h is behind */
    atomic_int next;           /* item to take */
    atomic_int *progress;      /* steps downwards done, of each item */
    float *samples;            /* (sampled cells, n) */
    size_t sampled;            /* cells */
    size_t first[FD2D_FIELDS]; /* where the cells of a field begin */
} wave;

/* --- fetching ahead ------------------------------------------------------------------------------------------ */

/* Pieces of arrays that will be used soon; a few cache lines of them are asked for between two pieces of work. Pieces
 * are too short, and come from too many rows, for the processor's own prefetcher. */
typedef struct ahead {
    int n, at, row;   /* pieces, the current one, its next row */
    int lines, share; /* of all pieces; to fetch after each kernel */
    struct {
        const float *from;
        ptrdiff_t pitch;
        int rows, lines;
    } piece[16];
} ahead;

/* Rows [k0,k1), columns [i0,i1) of an array. */
static void ahead_add(ahead *a, const cpu_grid *g, const float *array, int k0, int k1, int i0, int i1) {
    k0 = most(k0, 0), k1 = least(k1, g->nz), i0 = most(i0, 0), i1 = least(i1, g->nxp);
    if (k0 >= k1 || i0 >= i1)
        return;
    a->piece[a->n].from = array + k0 * g->pitch + i0;
    a->piece[a->n].pitch = g->pitch;
    a->piece[a->n].rows = k1 - k0;
    a->piece[a->n++].lines = (i1 - i0) / LANES;
    a->lines += (k1 - k0) * ((i1 - i0) / LANES);
}

static void ahead_fetch(ahead *a, int count) {
    while (count > 0 && a->at < a->n) {
        const float *from = a->piece[a->at].from + a->row * a->piece[a->at].pitch;
        for (int line = 0; line < a->piece[a->at].lines; line++)
            __builtin_prefetch(from + line * LANES, 0, 2);
        count -= a->piece[a->at].lines;
        if (++a->row == a->piece[a->at].rows)
            a->row = 0, a->at++;
    }
}

/* --- one half step on a piece of the grid -------------------------------------------------------------------- */

/* Rows [k0,k1), columns [i0,i1) lying all in or all out of each strip. */
static void sweep_piece(const wave *w, ahead *a, int what, int layer, int k0, int k1, int i0, int i1) {
    cpu_kernel *const *kernel = (*w->kernels)[w->g->L - 1][what][layer];
    for (int i = i0; i < i1; i += CHUNK) {
        int end = least(i + CHUNK, i1), k = k0;
        for (; k + BLOCK <= k1; k += BLOCK) {
            kernel[1](w->g, k, i, end);
            ahead_fetch(a, a->share);
        }
        for (; k < k1; k++)
            kernel[0](w->g, k, i, end);
    }
}

static void sweep(const wave *w, ahead *a, int what, int k0, int k1, int i0, int i1) {
    const cpu_grid *g = w->g;
    const int k_end[3] = {least(g->top, k1), least(g->bottom, k1), k1};
    const int i_end[3] = {least(g->left, i1), least(g->right, i1), i1};
    for (int z = 0, k = k0; z < 3; k = most(k, k_end[z++]))
        for (int x = 0, i = i0; x < 3 && k < k_end[z]; i = most(i, i_end[x++]))
            if (i < i_end[x])
                sweep_piece(w, a, what, z != 1 || x != 1, k, k_end[z], i, i_end[x]);
}

void fd2d_cpu_mirror(const cpu_grid *g, int field, int k0, int k1, int i0, int i1) {
    if (field == FD2D_VX)
        return; /* no vertical sum reads it */
    float *f = g->field[field];
    for (int k = k0; k < least(k1, g->L); k++) {
        const float *from = f + k * g->pitch;
        float *to = f + (field == FD2D_VZ ? -k - 1 : -k) * g->pitch;
        for (int i = i0; i < i1; i++)
            to[i] = field == FD2D_VZ ? from[i] : -from[i];
    }
}

/* First cell of row k in column i or to the right of it. */
static int seek(const fd2d_cells *c, int k, int i) {
    int low = c->row[k], high = c->row[k + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (c->i[middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void inject(const wave *w, int it, int k0, int k1, int i0, int i1) {
    const fd2d *fd = w->fd;
    const fd2d_cells *c = &fd->source;
    if (it > fd->nq)
        return;
    for (int k = k0; k < k1; k++)
        for (int m = seek(c, k, i0); m < c->row[k + 1] && c->i[m] < i1; m++)
            w->g->field[FD2D_SIGMA][k * w->g->pitch + c->i[m]] += c->w[m] * fd->q[it - 1];
}

/* Copies sampled cells out; they are summed when the pass is done, in one order whatever the tiles. */
static void sample(const wave *w, int field, int it, int k0, int k1, int i0, int i1) {
    const fd2d_cells *c = &w->fd->sampled[field];
    float *to = w->samples + (size_t)(it - w->it) * w->sampled + w->first[field];
    if (c->row[k0] == c->row[k1])
        return;
    for (int k = k0; k < k1; k++)
        for (int m = seek(c, k, i0); m < c->row[k + 1] && c->i[m] < i1; m++)
            to[m] = w->g->field[field][k * w->g->pitch + c->i[m]];
}

static void half_step(const wave *w, ahead *a, int it, int what, int k0, int k1, int i0, int i1) {
    const cpu_grid *g = w->g;
    const int surface = g->free_top && k0 < g->L;
    a->share = a->lines * (BLOCK * CHUNK) / ((k1 - k0) * (i1 - i0)) + 1;
    sweep(w, a, what, k0, k1, i0, i1);
    ahead_fetch(a, a->lines);
    if (what == 0) {
        if (surface)
            fd2d_cpu_mirror(g, FD2D_VZ, k0, k1, i0, i1);
        if (w->sampled == 0)
            return;
        sample(w, FD2D_VX, it, k0, k1, i0, i1);
        sample(w, FD2D_VZ, it, k0, k1, i0, i1);
    } else {
        if (w->fd->source.row[k0] < w->fd->source.row[k1])
            inject(w, it, k0, k1, i0, i1);
        if (surface)
            fd2d_cpu_mirror(g, FD2D_SIGMA, k0, k1, i0, i1);
        if (w->sampled > 0)
            sample(w, FD2D_SIGMA, it, k0, k1, i0, i1);
    }
}

/* --- items and their order ----------------------------------------------------------------------------------- */

static int block_steps(const wave *w, int block) { return least(w->T, w->n - block * w->T); }

/* Steps downwards of an item. */
static int ways(const wave *w, int block) { return up(w->g->nz + w->lag[2 * block_steps(w, block) - 1], w->rows); }

/* What to fetch during half step h of step j: the columns at the left that the next half step is the first to use in
 * this tile, and a share of the rows that come new with the next step. (About x1.2, 4000 x 4000, half-length 8, single
 * runs on a machine in use, 2026-11-21.) */
static void look_ahead(const wave *w, ahead *a, int tile, int j, int h, int halves) {
    const cpu_grid *g = w->g;
    float *const *f = g->field;
    const int next = h + 1, what = next % 2, x = tile * w->W;
    if (next < halves) {
        int k0 = j * w->rows - w->lag[next], k1 = k0 + w->rows, i0 = x - (next + 1) * LANES, i1 = i0 + 2 * LANES;
        ahead_add(a, g, f[FD2D_SIGMA], k0, what ? k1 : k1 + g->L, i0, i1);
        ahead_add(a, g, f[FD2D_VZ], k0, what ? k1 + g->L : k1, i0, i1);
        ahead_add(a, g, f[FD2D_VX], k0, k1, i0, i1);
        ahead_add(a, g, what ? g->kk : g->bx, k0, k1, i0, i1);
        if (!what)
            ahead_add(a, g, g->bz, k0, k1, i0, i1);
    }
    int k0 = (j + 1) * w->rows + w->rows * h / halves, k1 = (j + 1) * w->rows + w->rows * (h + 1) / halves;
    int i0 = x - LANES, i1 = x + w->W + LANES;
    ahead_add(a, g, f[FD2D_SIGMA], k0 + g->L, k1 + g->L, i0, i1);
    ahead_add(a, g, f[FD2D_VX], k0, k1, i0, i1);
    ahead_add(a, g, f[FD2D_VZ], k0, k1, i0, i1);
    ahead_add(a, g, g->bx, k0, k1, i0, i1);
    ahead_add(a, g, g->bz, k0, k1, i0, i1);
    ahead_add(a, g, g->kk, k0, k1, i0, i1);
}

static void run_item(wave *w, int item) {
    const cpu_grid *g = w->g;
    const int block = item / w->tiles, tile = item % w->tiles, halves = 2 * block_steps(w, block);
    atomic_int *mine = w->progress + (size_t)item * COUNTER, *left = tile > 0 ? mine - COUNTER : NULL, *before = NULL;
    const int last = 2 * w->T - 1; /* of a full block, as all but the last are */
    if (block > 0) {               /* the tile whose last half step reaches as far right as this item reads */
        int reach = least((tile + 1) * w->W, g->nxp) + LANES + last * LANES;
        before = w->progress + ((size_t)(block - 1) * w->tiles + least(up(reach, w->W), w->tiles) - 1) * COUNTER;
    }
    for (int j = 0, end = ways(w, block); j < end; j++) {
        if (left != NULL)
            wait_for(left, j + 1);
        if (before != NULL)
            wait_for(before, up(least(g->nz, (j + 1) * w->rows + g->L) + w->lag[last], w->rows));
        for (int h = 0; h < halves; h++) {
            int k0 = most(j * w->rows - w->lag[h], 0), k1 = least((j + 1) * w->rows - w->lag[h], g->nz);
            int i0 = most(tile * w->W - h * LANES, 0), i1 = least((tile + 1) * w->W - h * LANES, g->nxp);
            ahead a = {0};
            look_ahead(w, &a, tile, j, h, halves);
            if (k0 < k1 && i0 < i1)
                half_step(w, &a, w->it + block * w->T + h / 2, h % 2, k0, k1, i0, i1);
        }
        atomic_store_explicit(mine, j + 1, memory_order_release);
    }
}

/* --- tiles --------------------------------------------------------------------------------------------------- */

static long level2_bytes(void) {
    long bytes = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return bytes > 0 ? bytes : 512 << 10;
}

/* Some 90 rows of lag, whatever the half-length; and a width with which the rows in use take 1.5 times the L2 cache, as
 * the rows and columns just left behind need not stay. Half-length 8, one thread, 4000 x 4000, Mcell/s of (width,
 * steps, rows): (256,4,16) 968, (512,4,16) 969, (512,4,32) 1085, (512,6,32) 1234, (1024,8,32) 1235; single
 * runs on a machine in use, so differences of some per cent mean nothing; 2026-11-21. */
static void choose_tiles(wave *w) {
    const cpu_own *o = w->o;
    const cpu_grid *g = w->g;
    w->rows = o->rows > 0 ? o->rows : 32;
    w->T = o->steps > 0 ? o->steps : least(12, 96 / (2 * g->L - 1));
    w->T = most(1, least(w->T, least(MAX_STEPS, w->n)));
    w->blocks = up(w->n, w->T);
    w->T = up(w->n, w->blocks); /* no short block at the end */
    w->blocks = up(w->n, w->T);
    for (int h = 0; h < 2 * w->T; h++)
        w->lag[h] = h / 2 * (2 * g->L - 1) + h % 2 * (g->L - 1);
    const int skew = (2 * w->T - 1) * LANES;
    const long room = level2_bytes() * 3 / 2 / (24 * (w->lag[2 * w->T - 1] + w->rows));
    w->W = o->width > 0 ? o->width : room > 1024 ? 1024 : most((int)room, 256);
    w->W = up(least(w->W, g->nxp + skew), LANES) * LANES;
    w->tiles = up(g->nxp + skew, w->W);
    if (o->width == 0)
        w->W = up(up(g->nxp + skew, w->tiles), LANES) * LANES; /* all of one width */
    w->tiles = up(g->nxp + skew, w->W);
}

/* --- passes -------------------------------------------------------------------------------------------------- */

static void finish(const wave *w) { (void)w; }

#define HANDLE     fd2d
#define VERB(name) fd2d_##name
#define OWN        cpu_own
#define FIELDS     FD2D_FIELDS
#include "fd_cpu_pass.inc"

int fd2d_cpu_timestep(fd2d *fd, int it, int n, float *trace) {
    const cpu_own *o = fd->own;
    wave w = {.fd = fd, .o = o, .g = &o->grid, .kernels = o->isa->kernels};
    return passes(&w, it, n, n, trace);
}
