/* Cells of sources and receivers, brought into the order in which the time loop meets them. */
#pragma once

#include <stddef.h>

enum { CELL_KEYS = 3 };

typedef struct cell_place {
    int key[CELL_KEYS]; /* where the cell is, from 0; the last key used rules, then the one before it */
    int place;          /* in the caller's list */
} cell_place;

static inline int cell_same(const cell_place *p, const cell_place *q, int keys) {
    int same = 1;
    for (int d = 0; d < keys; d++)
        same = same && p->key[d] == q->key[d];
    return same;
}

/* Sorts p(n) by its first `keys` keys, key d being 0 .. values[d]-1; equal ones keep their order. Working memory counts
 * in *held. */
int cell_sort(size_t *held, cell_place *p, int n, int keys, const int *values);
