/* Counting sort, key by key: a survey with a thousand receivers a shot sorts tens of thousands of cells before each. */
#include "cellsort.h"

#include <string.h>

/* Equal keys keep their order. start(values): scratch. */
static void by_key(const cell_place *from, cell_place *to, int n, int d, int values, int *start) {
    memset(start, 0, (size_t)values * sizeof *start);
    for (int m = 0; m < n; m++)
        start[from[m].key[d]]++;
    int before = 0;
    for (int v = 0; v < values; v++) {
        const int here = start[v];
        start[v] = before;
        before += here;
    }
    for (int m = 0; m < n; m++)
        to[start[from[m].key[d]]++] = from[m];
}

int cell_sort(host_pool *memory, cell_place *p, int n, const int values[CELL_KEYS]) {
    cell_place *other = NULL, *from = p;
    int *start = NULL, most = 0;
    for (int d = 0; d < CELL_KEYS; d++)
        most = values[d] > most ? values[d] : most;
    const int rc = host_alloc(memory, &other, (size_t)n, sizeof *other, "cells of source or receivers") ||
                   host_alloc(memory, &start, (size_t)most, sizeof *start, "cells of source or receivers");
    for (int d = 0; d < CELL_KEYS && !rc; d++) {
        if (values[d] == 1)
            continue; /* nothing to sort by */
        by_key(from, from == p ? other : p, n, d, values[d], start);
        from = from == p ? other : p;
    }
    if (from == other && n > 0)
        memcpy(p, other, (size_t)n * sizeof *p);
    host_release(memory, &other);
    host_release(memory, &start);
    return rc;
}
