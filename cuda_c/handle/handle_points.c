/* Cells of sources and receivers, sorted. */
#include "handle_points.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "cellsort.h"
#include "err.h"
#include "handle.h"

enum { X, Y, PLANE }; /* keys; planes of one field after those of another */

static int same_cell(const cell_place *p, const cell_place *q) { return memcmp(p->key, q->key, sizeof p->key) == 0; }

/* The n given cells, sorted; those of field f are p[from[f]] .. p[from[f+1]-1]. */
static int sort_cells(handle *h, int n, const given_cells *given, cell_place **p, int from[POINT_FIELDS + 1]) {
    const int nz = h->n[2], values[CELL_KEYS] = {h->n[0], h->n[1], h->solver->fields * nz};
    *p = NULL;
    TRY(host_alloc(&h->memory, p, (size_t)n, sizeof **p, "cells of source or receivers"));
    for (int m = 0; m < n; m++) {
        const int y = given->at[1] == NULL ? 0 : given->at[1][m];
        (*p)[m] = (cell_place){{given->at[0][m], y, given->field[m] * nz + given->at[2][m]}, m};
    }
    TRY(cell_sort(&h->memory, *p, n, values));
    int m = 0;
    for (int f = 0; f <= h->solver->fields; f++) {
        while (m < n && (*p)[m].key[PLANE] < f * nz)
            m++;
        from[f] = m;
    }
    return 0;
}

/* The different cells among n sorted ones. */
static int set_cells(handle *h, cell_list *list, const cell_place *p, int n) {
    const int nz = h->n[2];
    int count = 0, c = 0;
    for (int m = 0; m < n; m++)
        count += m == 0 || !same_cell(&p[m], &p[m - 1]);
    list->n = 0;
    TRY(host_alloc(&h->memory, &list->plane, (size_t)nz + 1, sizeof(int), "planes of source or receivers"));
    for (int a = 0; a < 3; a++)
        TRY(host_alloc(&h->memory, &list->at[a], (size_t)count, sizeof(int), "cells of source or receivers"));
    for (int m = 0; m < n; m++)
        if (m == 0 || !same_cell(&p[m], &p[m - 1])) {
            list->at[0][c] = p[m].key[X];
            list->at[1][c] = p[m].key[Y];
            list->at[2][c++] = p[m].key[PLANE] % nz;
        }
    c = 0;
    for (int k = 0; k <= nz; k++) {
        while (c < count && list->at[2][c] < k)
            c++;
        list->plane[k] = c;
    }
    list->n = count;
    return 0;
}

int cells_seek(const cell_list *c, int axis, int k, int from) {
    int low = c->plane[k], high = c->plane[k + 1];
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (c->at[axis][middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- sources ------------------------------------------------------------------------------------------------- */

static int set_source(handle *h, source_cells *s, const cell_place *p, int n, const int *history, const float *w) {
    TRY(set_cells(h, &s->cells, p, n));
    TRY(host_alloc(&h->memory, &s->start, (size_t)s->cells.n + 1, sizeof(int), "source"));
    TRY(host_alloc(&h->memory, &s->h, (size_t)n, sizeof(int), "source"));
    TRY(host_alloc(&h->memory, &s->w, (size_t)n, sizeof(float), "source"));
    int c = 0;
    for (int m = 0; m < n; m++) {
        if (m == 0 || !same_cell(&p[m], &p[m - 1]))
            s->start[c++] = m;
        s->h[m] = history == NULL ? 0 : history[p[m].place];
        s->w[m] = w[p[m].place];
    }
    s->start[c] = n;
    return 0;
}

int handle_source(handle *h, int n, const given_cells *cells, const int *history, const float *w) {
    cell_place *p = NULL;
    int from[POINT_FIELDS + 1];
    int rc = sort_cells(h, n, cells, &p, from);
    for (int f = 0; f < h->solver->fields && !rc; f++)
        rc = set_source(h, &h->source[f], p + from[f], from[f + 1] - from[f], history, w);
    host_release(&h->memory, &p);
    return rc;
}

void source_silence_top(source_cells *s) {
    const int top = s->cells.plane[1];
    for (int e = 0; e < s->start[top]; e++)
        s->w[e] = 0;
}

int handle_histories(handle *h, int number, int first, int steps, const float *q) {
    source_histories *s = &h->histories;
    s->first = s->steps = s->silent = 0;
    TRY(host_copy(&h->memory, &s->q, q, (size_t)number * (size_t)steps, sizeof(float), "source histories"));
    s->n = number;
    s->first = first;
    s->steps = steps;
    return 0;
}

int handle_next_histories(handle *h, int first, int steps, const float *q) {
    REQUIRE(first >= 1 && steps >= 0 && steps < INT_MAX - first,
            "histories of %d steps from step %d: steps count from 1", steps, first);
    if (steps == 0) {
        h->histories.silent = first;
        return 0;
    }
    const size_t number = (size_t)h->histories.n, count = number * (size_t)steps;
    for (size_t m = 0; m < count; m++)
        REQUIRE(isfinite(q[m]), "sample of step %zu of history %zu is %g, must be finite", (size_t)first + m / number,
                m % number + 1, (double)q[m]);
    TRY(handle_histories(h, h->histories.n, first, steps, q));
    return handle_tell(h, h->variant->verbs->histories);
}

const float *history_row(const source_histories *q, int it) {
    if (q->n == 0 || (q->silent > 0 && it >= q->silent) || it < q->first || it >= q->first + q->steps)
        return NULL;
    return q->q + (size_t)(it - q->first) * (size_t)q->n;
}

/* --- receivers ----------------------------------------------------------------------------------------------- */

int handle_check_receivers(int n, const int *start) {
    REQUIRE(n >= 0, "%d receivers: must not be negative", n);
    REQUIRE(n == 0 || start[0] == 0, "cells of receiver 1 start at %d, must be 0", start[0]);
    for (int r = 0; r < n; r++)
        REQUIRE(start[r + 1] >= start[r], "receiver %d has %ld cells: must not be negative", r + 1,
                (long)start[r + 1] - start[r]);
    return 0;
}

int handle_receivers(handle *h, int n, const int *start, const given_cells *cells, const float *w) {
    receiver_cells *r = &h->receivers;
    const int none = 0, *first = n == 0 ? &none : start, count = first[n];
    cell_place *p = NULL;
    int from[POINT_FIELDS + 1], cell = -1;
    h->first = h->steps = 0;
    host_release(&h->memory, &h->trace);
    h->rows = 0;
    r->n = 0;
    host_release(&h->memory, &r->part);
    TRY(host_copy(&h->memory, &r->start, first, (size_t)n + 1, sizeof(int), "receivers"));
    TRY(host_copy(&h->memory, &r->w, w, (size_t)count, sizeof(float), "receiver cells"));
    TRY(host_alloc(&h->memory, &r->cell, (size_t)count, sizeof(int), "receiver cells"));
    int rc = sort_cells(h, count, cells, &p, from);
    for (int m = 0; m < count && !rc; m++) {
        cell += m == 0 || !same_cell(&p[m], &p[m - 1]);
        r->cell[p[m].place] = cell;
    }
    for (int f = 0; f < h->solver->fields && !rc; f++)
        rc = set_cells(h, &r->sampled[f], p + from[f], from[f + 1] - from[f]);
    host_release(&h->memory, &p);
    if (!rc)
        r->n = n;
    return rc;
}

int handle_receiver_parts(void *own, const int *part) {
    handle *h = own;
    TRY(handle_enter(h));
    REQUIRE(h->steps == 0, "parts of the receivers' sums after %d steps: they are told with the receivers", h->steps);
    const int n = h->receivers.n;
    for (int r = 0; r < n; r++)
        REQUIRE(part[r] >= 0 && part[r] <= RECEIVER_PARTS, "part %d of the sum of receiver %d, must be 0..%d", part[r],
                r + 1, RECEIVER_PARTS);
    TRY(host_copy(&h->memory, &h->receivers.part, part, (size_t)n, sizeof(int), "receivers"));
    return handle_tell(h, h->variant->verbs->receivers);
}

int handle_expect(void *own, int steps) {
    handle *h = own;
    TRY(handle_enter(h));
    REQUIRE(steps >= 0, "traces of %d steps expected: must not be negative", steps);
    h->expected = steps;
    return 0;
}
