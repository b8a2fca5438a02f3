/* Cells of sources and receivers, brought into the order in which the time loop meets them. */
#pragma once

#include "host_pool.h"

enum { CELL_KEYS = 3 };

typedef struct cell_place {
    int key[CELL_KEYS]; /* the cell's indices from 0; the last key rules, then the one before it */
    int place;          /* in the caller's list */
} cell_place;

/* Sorts p(n), key d being 0 .. values[d]-1; equal ones keep their order. Working memory counts in *m. */
int cell_sort(host_pool *m, cell_place *p, int n, const int values[CELL_KEYS]);
