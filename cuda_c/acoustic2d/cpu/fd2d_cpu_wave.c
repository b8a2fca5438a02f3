/* The time loop of the `cpu` variant: several steps in one sweep through memory, in place.
 *
 * In place. v(n+1/2) of row j needs sigma(n) of rows j-L+1 .. j+L; sigma(n+1) of row k needs v(n+1/2) of rows k-L ..
 * k+L-1. These are also the only readers of what is overwritten: sigma(n+1) of row k replaces sigma(n), which v(n+1/2)
 * of rows k-L .. k+L-1 read, and just these are done. So one copy of each field is enough if, going down, each half
 * step follows the one before it L-1 rows (v -> sigma) or L rows (sigma -> v) behind. Along x the argument is the same.
 *
 * Tiles, their order and threads are told in sweep.h. Half step h of a tile covers columns shifted left by h vectors,
 * or h times 8 where a vector is shorter than the longest half-length.
 *
 *        columns ->   tile t-1  |  tile t           h = 0   v(n+1/2)     rows  [j, j+rows)
 *                  tile t-1 |  tile t               h = 1   sigma(n+1)   L-1 above
 *              tile t-1 |  tile t                   h = 2   v(n+3/2)     2L-1 above ...
 *
 * A cell's arithmetic does not depend on any of this: results are the same bits for every tile, thread and chunk. */
#include <string.h>
#include <unistd.h>

#include "fd2d_cpu.h"
#include "sweep.h"

typedef struct wave {
    sweep s;
    const cpu_grid *g;
    const cpu_kernels *kernels;
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

/* Rows [k0,k1), columns [i0,i1), a chunk at a time. */
static void sweep_grid(const wave *w, ahead *a, int what, int k0, int k1, int i0, int i1) {
    cpu_kernel *const *kernel = (*w->kernels)[w->g->L - 1][what];
    for (int i = i0; i < i1; i += CHUNK) {
        const int end = least(i + CHUNK, i1);
        int k = k0;
        for (; k + BLOCK <= k1; k += BLOCK) {
            kernel[1](w->g, k, i, end);
            ahead_fetch(a, a->share);
        }
        for (; k < k1; k++)
            kernel[0](w->g, k, i, end);
    }
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

static void inject(const wave *w, int it, sweep_piece p) {
    const source_cells *s = &w->s.h->source[FD2D_SIGMA];
    const float *q = history_row(&w->s.h->histories, it);
    if (q == NULL)
        return;
    for (int k = p.k0; k < p.k1; k++)
        for (int c = cells_seek(&s->cells, 0, k, p.i0); c < s->cells.plane[k + 1] && s->cells.at[0][c] < p.i1; c++)
            for (int e = s->start[c]; e < s->start[c + 1]; e++)
                w->g->field[FD2D_SIGMA][k * w->g->pitch + s->cells.at[0][c]] += s->w[e] * q[0];
}

static void half_step(const wave *w, ahead *a, int it, int what, sweep_piece p) {
    const cpu_grid *g = w->g;
    const int *source = w->s.h->source[FD2D_SIGMA].cells.plane, surface = g->free_top && p.k0 < g->L;
    a->share = a->lines * (BLOCK * CHUNK) / ((p.k1 - p.k0) * (p.i1 - p.i0)) + 1;
    sweep_grid(w, a, what, p.k0, p.k1, p.i0, p.i1);
    ahead_fetch(a, a->lines);
    if (what == 1 && source[p.k0] < source[p.k1])
        inject(w, it, p);
    if (surface)
        fd2d_cpu_mirror(g, what == 0 ? FD2D_VZ : FD2D_SIGMA, p.k0, p.k1, p.i0, p.i1);
    if (w->s.sampled > 0)
        sweep_sample(&w->s, it, what == 0 ? FD2D_VX : FD2D_SIGMA, what == 0 ? FD2D_VZ : FD2D_SIGMA, p);
}

/* First column of the cache line that holds column i. */
static int line_of(int i) { return i >= 0 ? i / LANES * LANES : 0; }

/* During half step h of step j these are fetched: the columns at the left that the next half step is the first to use
 * in this tile, and a share of the rows that come new with the next step. (About x1.2, 4000 x 4000, half-length 8,
 * single runs on a machine in use, 2026-11-21.) */
static void look_ahead(const wave *w, ahead *a, int tile, int j, int h, int halves) {
    const cpu_grid *g = w->g;
    float *const *f = g->field;
    const int next = h + 1, what = next % 2, W = w->s.W, rows = w->s.rows, x = tile * W;
    if (next < halves) {
        const int reach = x - h * w->s.shift - g->L; /* from here on columns were fetched before */
        int k0 = j * rows - sweep_lag(&w->s, next), k1 = k0 + rows;
        int i0 = line_of(reach - w->s.shift), i1 = line_of(reach);
        ahead_add(a, g, f[FD2D_SIGMA], k0, what ? k1 : k1 + g->L, i0, i1);
        ahead_add(a, g, f[FD2D_VZ], k0, what ? k1 + g->L : k1, i0, i1);
        ahead_add(a, g, f[FD2D_VX], k0, k1, i0, i1);
        ahead_add(a, g, g->bx, k0, k1, i0, i1);
        ahead_add(a, g, g->bz, k0, k1, i0, i1);
        ahead_add(a, g, g->kk, k0, k1, i0, i1);
    }
    int k0 = (j + 1) * rows + rows * h / halves, k1 = (j + 1) * rows + rows * (h + 1) / halves;
    int i0 = x - LANES, i1 = x + W + LANES;
    ahead_add(a, g, f[FD2D_SIGMA], k0 + g->L, k1 + g->L, i0, i1);
    ahead_add(a, g, f[FD2D_VX], k0, k1, i0, i1);
    ahead_add(a, g, f[FD2D_VZ], k0, k1, i0, i1);
    ahead_add(a, g, g->bx, k0, k1, i0, i1);
    ahead_add(a, g, g->bz, k0, k1, i0, i1);
    ahead_add(a, g, g->kk, k0, k1, i0, i1);
}

static void descend(const sweep *s, int block, int tile, int j) {
    const wave *w = (const wave *)s;
    const int halves = 2 * sweep_block_steps(s, block);
    for (int h = 0; h < halves; h++) {
        const sweep_piece p = sweep_piece_of(s, tile, j, h);
        ahead a = {0};
        if (p.k0 >= p.k1 || p.i0 >= p.i1)
            continue;
        look_ahead(w, &a, tile, j, h, halves);
        half_step(w, &a, s->it + block * s->T + h / 2, h % 2, p);
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
 * runs on a machine in use, so differences of some per cent mean nothing; 2026-11-21.
 *
 * Where the L3 cache is far, fewer rows and half of the L2 cache, but
 * three times as wide as the tile is skewed: Sapphire Rapids, AVX-512, time by that of (1000,6,32), 2000 x 1000 and
 * 4000 x 2000: (1000,6,16) 0.95, 0.97, (672,6,16) 0.92, 0.87, (512,6,16) 0.87, 0.91, (336,6,16) 0.89, 0.89; half-length
 * 2 by (1000,12,32): (1000,12,16) 0.89, 0.82, (512,12,16) 1.02, 0.98, (336,12,16) 1.11, 1.21; 2026-11-26. */
static void choose_tiles(sweep *w) {
    const cpu_own *o = w->h->own;
    const int *tile = o->frame.tile, L = o->grid.L, far = cpu_level3_is_far();
    w->rows = tile[TILE_ROWS] > 0 ? tile[TILE_ROWS] : far ? 16 : 32;
    sweep_set_steps(w, tile[TILE_STEPS] > 0 ? tile[TILE_STEPS] : least(12, 96 / (2 * L - 1)));
    const long bytes = far ? level2_bytes() / 2 : level2_bytes() * 3 / 2,
               room = bytes / (24 * (sweep_lag(w, 2 * w->T - 1) + w->rows));
    const int fit = least(1024, most((int)room, far ? 3 * 2 * w->T * w->shift : 256));
    sweep_set_width(w, tile[TILE_WIDTH] > 0 ? tile[TILE_WIDTH] : fit, LANES, tile[TILE_WIDTH] == 0);
}

static const sweep_kind kind = {
    .most_steps = 64,
    .least_steps = 24,
    .choose_tiles = choose_tiles,
    .descend = descend,
};

int fd2d_cpu_timestep(handle *h, int it, int n, float *trace) {
    const cpu_own *o = h->own;
    const cpu_grid *g = &o->grid;
    wave w = {.s = {.kind = &kind,
                    .h = h,
                    .deep = g->nz,
                    .across = g->nxp,
                    .shift = most(o->frame.isa->lanes, DER_MAX),
                    .lag = {g->L - 1, g->L},
                    .reach = g->L,
                    .field = g->field,
                    .z = g->pitch},
              .g = g,
              .kernels = o->frame.isa->kernels};
    return sweep_steps(&w.s, it, n, n, trace);
}
