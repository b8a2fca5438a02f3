/* Sources and receivers of a handle as cells sorted by plane, row and column, so that the time loop meets them where it
 * passes. */
#pragma once

#include <stddef.h>

#include "host_pool.h"
#include "receiver_sum.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { POINT_FIELDS = 9 }; /* of a solver, at most */

/* Cells as a caller gives them, of a field each, in any order; at[1] may be null in 2D. */
typedef struct given_cells {
    const int *field, *at[3];
} given_cells;

/* Different cells of one field, sorted by z, then y, then x: those of plane k are plane[k] .. plane[k+1]-1. */
typedef struct cell_list {
    int n;
    int *plane; /* (nz + 1) */
    int *at[3]; /* (n) along x, y, z */
} cell_list;

/* Cell c of a source grows by w[e] q[h[e]], e = start[c] .. start[c+1]-1 in this order. */
typedef struct source_cells {
    cell_list cells;
    int *start; /* (cells.n + 1) */
    int *h;     /* (start[cells.n]) */
    float *w;
} source_cells;

typedef struct source_histories {
    int n;            /* histories, */
    int first, steps; /* known for steps first .. first+steps-1, */
    int silent;       /* and 0 from this step on (0: not said) */
    float *q;         /* (n, steps) */
} source_histories;

/* Receiver r = part[r] (receiver_sum.h) of the sum over c in start[r] .. start[r+1]-1 of w[c] * value of cell[c]. Cells
 * that several receivers share are sampled once: cell[c] counts through the cells of field 0, then those of field 1,
 * .... */
typedef struct receiver_cells {
    int n;
    int *start; /* (n + 1) */
    int *cell;  /* (start[n]) */
    float *w;   /* (start[n]) */
    int *part;  /* (n); null: all are 0 */
    cell_list sampled[POINT_FIELDS];
} receiver_cells;

static inline int receiver_kept(const receiver_cells *r, int n) { return r->part == NULL ? 0 : r->part[n]; }

/* Its weights in the uppermost plane are 0: of a field that is 0 on a free surface, whatever is added there. */
void source_silence_top(source_cells *s);

/* The first cell of plane k whose index along `axis` is `from` or more; along x cells of a plane must be one row. */
int cells_seek(const cell_list *c, int axis, int k, int from);

const float *history_row(const source_histories *q, int it); /* q(n) of step it; null: all are 0 */

#ifdef __cplusplus
}
#endif
