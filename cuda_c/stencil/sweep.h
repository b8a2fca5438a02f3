/* Several time steps in one sweep through memory, in place, for solvers whose half steps read a few cells around: what
 * is common to their `cpu` variants. Rows (planes in 3D) follow each other downwards; tiles cut the columns (rows in
 * 3D) beside each other.
 *
 * A tile is W columns wide; half step h of it covers columns shifted left by h times `shift`, so tiles done from left
 * to right need nothing from their right. Going down a tile, each half step follows the one before it a few rows
 * (`lag`) behind, so that one copy of each field is enough; only the last few rows of a tile are in use: they stay in
 * the cache for all T steps, and memory is read and written once in T steps.
 *
 * Threads. Items (block of T steps, tile) are numbered block by block, left to right, and taken in this order. An item
 * at step j of its way down waits until its left neighbour has finished step j, and until the tiles of the block before
 * that it reads (itself and to the right) are done as far down as it reads. Items wait for lower numbers only, and
 * numbers are taken in order, so the lowest unfinished item can always go on: no deadlock, whatever the number of
 * threads and cores. There is no barrier between blocks.
 *
 * Passes. Cells that receivers need are copied out as the tiles pass, and summed when a pass is done, in one order
 * whatever the tiles; a pass has as many steps as their buffer holds.
 *
 * Neighbours. Beside a side whose cells come from elsewhere half step h gives up h times as many cells as a half step
 * reads beyond its own: a block so needs nothing but what was there before it. It leaves the cells that it gave up,
 * and all that these will read, as the half steps before them want it: each half step may follow there later. */
#pragma once

#include <limits.h>
#include <stdatomic.h>

#include "cpu_frame.h"

static inline int least(int a, int b) { return a < b ? a : b; }
static inline int most(int a, int b) { return a > b ? a : b; }
static inline int up(int a, int b) { return (a + b - 1) / b; }

typedef struct sweep sweep;

typedef struct sweep_kind {
    int most_steps;                 /* of a block */
    int least_steps;                /* of a pass, however many cells are sampled */
    void (*choose_tiles)(sweep *w); /* for w->n steps: w->rows, sweep_set_steps, sweep_set_width */
    void (*descend)(const sweep *w, int block, int tile,
                    int j);         /* the half steps of step j downwards, by sweep_piece */
    void (*finish)(const sweep *w); /* by all threads, when the items of a pass are done; or null */
} sweep_kind;

struct sweep {
    const sweep_kind *kind;
    handle *h;
    int deep, across;    /* rows, columns */
    int shift, lag[2];   /* of velocities to what follows, of what follows to velocities */
    int reach;           /* rows that a half step reads beyond its own */
    float *const *field; /* cell (0,0,0) of each */
    ptrdiff_t y, z;      /* to the next row and plane of cells in a field */
    int axis;            /* of cells, that tiles cut */
    int along;           /* cells along x, where ends of the third axis are given up too; else 0 */
    int give[3][2];      /* rows, columns, cells along x that each half step gives up at the low and the high end */

    int it, n;      /* first step and number of steps of this pass */
    int T, W, rows; /* steps a block, columns a tile, rows at a time */
    int tiles, blocks;
    atomic_int next;            /* item to take */
    atomic_int *progress;       /* steps downwards done, of each item */
    float *samples;             /* (sampled cells, n) */
    size_t sampled;             /* cells */
    size_t first[POINT_FIELDS]; /* where the cells of a field begin */
};

typedef struct sweep_piece {
    int k0, k1, i0, i1; /* rows, columns */
    int x0, x1;         /* cells along x, where that is the third axis */
} sweep_piece;

/* n steps from step it, in as many passes as it takes, of `longest` steps at most; trace(receivers, n). */
int sweep_steps(sweep *w, int it, int n, int longest, float *trace);
/* One block of n steps from step it, as many as choose_tiles takes at once, beside neighbours. Nothing is summed. */
int sweep_block(sweep *w, int it, int n);
/* The same sweep, made anew, for what follows of that block: sweep_sample knows where its samples are. */
void sweep_resume(sweep *w, int it, int n);

/* Steps of a block: about T. */
void sweep_set_steps(sweep *w, int T);
/* Columns of a tile: a multiple of `unit`, W or, with `even`, a little less if tiles are then of one width. */
void sweep_set_width(sweep *w, int W, int unit, int even);

static inline int sweep_lag(const sweep *w, int half) {
    return half / 2 * (w->lag[0] + w->lag[1]) + half % 2 * w->lag[0];
}

static inline int sweep_block_steps(const sweep *w, int block) { return least(w->T, w->n - block * w->T); }

/* Cells that half step `half` of a block does not give up; none where an end is not above its beginning. */
static inline sweep_piece sweep_kept(const sweep *w, int half) {
    return (sweep_piece){half * w->give[0][0], w->deep - half * w->give[0][1],
                         half * w->give[1][0], w->across - half * w->give[1][1],
                         half * w->give[2][0], w->along > 0 ? w->along - half * w->give[2][1] : INT_MAX};
}

/* Cells of half step `half` in step j downwards of a tile; none where an end is not above its beginning. */
static inline sweep_piece sweep_piece_of(const sweep *w, int tile, int j, int half) {
    const int lag = sweep_lag(w, half), left = half * w->shift;
    const sweep_piece all = sweep_kept(w, half);
    return (sweep_piece){most(j * w->rows - lag, all.k0),
                         least((j + 1) * w->rows - lag, all.k1),
                         most(tile * w->W - left, all.i0),
                         least((tile + 1) * w->W - left, all.i1),
                         all.x0,
                         all.x1};
}

/* Copies sampled cells of fields first .. last out. */
void sweep_sample(const sweep *w, int it, int first, int last, sweep_piece p);
