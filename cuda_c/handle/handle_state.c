/* Traces that a handle keeps, and the state of its time loop: all that the steps to come depend on, and the traces so
 * far, as one row of floats that a loop in another process goes on from, bit for bit. Only the variant knows what it is
 * made of. */
#include <limits.h>
#include <string.h>

#include "err.h"
#include "handle.h"

/* --- traces -------------------------------------------------------------------------------------------------- */

/* Room for n more rows; *trace(receivers, rows). */
static int trace_rows(handle *h, int n, float **trace) {
    TRY(host_rows(&h->memory, &h->trace, &h->rows, h->receivers.n, h->steps, n, h->expected, "traces"));
    *trace = h->trace;
    return 0;
}

int handle_next_rows(handle *h, int n, float **row) {
    float *trace = NULL;
    if (handle_frame(h)->traces == NULL)
        TRY(trace_rows(h, n, &trace));
    *row = trace == NULL ? NULL : trace + (size_t)h->steps * (size_t)h->receivers.n;
    return 0;
}

int handle_traces(void *own, int it, int n, float *out) {
    handle *h = own;
    TRY(handle_enter(h));
    const int receivers = h->receivers.n;
    REQUIRE(n >= 0, "traces of %d samples: must not be negative", n);
    if (n == 0 || receivers == 0)
        return 0;
    REQUIRE(h->steps > 0, "traces of steps %d..%ld asked for, but none was computed yet", it, (long)it + n - 1);
    REQUIRE(it >= h->first && (long)it + n <= (long)h->first + h->steps,
            "traces of steps %d..%ld asked for, but steps %d..%d were computed", it, (long)it + n - 1, h->first,
            h->first + h->steps - 1);
    if (handle_frame(h)->traces != NULL)
        return handle_frame(h)->traces(h, it, n, out);
    const float *from = h->trace + (size_t)(it - h->first) * (size_t)receivers;
    enum { TILE = 32 }; /* transposed in blocks: both sides stay in the cache */
    for (int r0 = 0; r0 < receivers; r0 += TILE)
        for (int t0 = 0; t0 < n; t0 += TILE)
            for (int r = r0; r < receivers && r < r0 + TILE; r++)
                for (int t = t0; t < n && t < t0 + TILE; t++)
                    out[(size_t)r * (size_t)n + (size_t)t] = from[(size_t)t * (size_t)receivers + (size_t)r];
    return 0;
}

/* --- state --------------------------------------------------------------------------------------------------- */

static size_t list_parts(handle *h, state_part part[HANDLE_PARTS], int *parts) {
    size_t floats = 0;
    *parts = h->variant->verbs->state(h, part);
    for (int p = 0; p < *parts; p++)
        floats += part[p].width * part[p].rows;
    return floats;
}

long handle_state_size(void *own, int steps) {
    handle *h = own;
    state_part part[HANDLE_PARTS];
    int parts;
    return handle_enter(h) || steps < 0 ? -1
                                        : (long)(list_parts(h, part, &parts) + (size_t)steps * (size_t)h->receivers.n);
}

static int check_size(handle *h, int steps, long n) {
    const long size = handle_state_size(h, steps);
    REQUIRE(size >= 0, "a state after %d steps: must not be negative", steps);
    REQUIRE(n == size, "a state of %ld numbers, after %d steps it has %ld", n, steps, size);
    return 0;
}

/* Between the variant's memory and `host`; plain memory unless the variant says otherwise. */
static int move(handle *h, const state_part *part, float *host, int in) {
    if (part->width == 0 || part->rows == 0)
        return 0;
    if (handle_frame(h)->move != NULL)
        return handle_frame(h)->move(h, part, host, in);
    for (size_t row = 0; row < part->rows; row++) {
        float *own = part->at + (ptrdiff_t)row * part->pitch, *other = host + row * part->width;
        memcpy(in ? own : other, in ? other : own, part->width * sizeof(float));
    }
    return 0;
}

static int move_all(handle *h, int steps, float *host, int in) {
    const frame_verbs *v = handle_frame(h);
    state_part part[HANDLE_PARTS];
    int parts;
    list_parts(h, part, &parts);
    for (int p = 0; p < parts; p++) {
        TRY(move(h, &part[p], host, in));
        host += part[p].width * part[p].rows;
    }
    float *trace = NULL;
    TRY((v->rows != NULL ? v->rows : trace_rows)(h, steps - h->steps, &trace));
    const size_t count = (size_t)steps * (size_t)h->receivers.n;
    return move(h, &(state_part){trace, count, count > 0, (ptrdiff_t)count}, host, in);
}

int handle_save(void *own, long n, float *state) {
    handle *h = own;
    TRY(handle_enter(h));
    TRY(check_size(h, h->steps, n));
    REQUIRE(h->next != INT_MAX, "the state of a time loop that failed is no use");
    return move_all(h, h->steps, state, 0);
}

int handle_load(void *own, int first, int steps, long n, const float *state) {
    handle *h = own;
    TRY(handle_enter(h));
    TRY(check_size(h, steps, n));
    REQUIRE(first >= 1 && steps <= INT_MAX - first, "a state of steps %d..%ld: must begin at 1 or later", first,
            (long)first + steps - 1);
    TRY(handle_reset(h));
    h->next = INT_MAX; /* until all went well */
    TRY(move_all(h, steps, (float *)state, 1));
    h->first = first;
    h->steps = steps;
    h->next = first + steps;
    return 0;
}
