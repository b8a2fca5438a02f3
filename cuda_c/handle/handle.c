/* Handles of all solvers: from new to free, steps in their order, what is asked of any variant. */
#include "handle.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "variants.h"

int handle_check_machine(int threads, int share) {
    REQUIRE(threads >= 0 && threads <= 4096, "threads = %d, must be 0..4096", threads);
    REQUIRE(share >= 0 && share <= 4096, "%d handles share the GPU, must be 0..4096", share);
    return 0;
}

/* --- new and free -------------------------------------------------------------------------------------------- */

/* The fields first: a grid that is too large fails before anything else is filled. */
static int make(handle *h) {
    const given_cells none = {NULL, {NULL, NULL, NULL}};
    TRY(h->variant->verbs->make(h));
    TRY(handle_source(h, 0, &none, NULL, NULL));
    return handle_receivers(h, 0, NULL, &none, NULL);
}

void *handle_new(const solver_kind *solver, const char *name, const void *cfg, const int n[3]) {
    const kernel_variant *variant = variants_find(solver, name);
    if (variant == NULL || solver->check(cfg))
        return NULL;
    handle *h = calloc(1, solver->size);
    if (h == NULL) {
        err_set("no memory for a handle of %zu bytes", solver->size);
        return NULL;
    }
    h->solver = solver;
    h->variant = variant;
    h->memory.bytes = solver->size;
    memcpy(h->n, n, sizeof h->n);
    memcpy((char *)h + solver->cfg_at, cfg, solver->cfg_size);
    if (make(h) == 0)
        return h;
    handle_free(h);
    return NULL;
}

void handle_free(void *own) {
    handle *h = own;
    if (h == NULL)
        return;
    handle_frame(h)->release(h);
    host_release_all(&h->memory);
    free(h);
}

int handle_enter(void *own) {
    handle *h = own;
    REQUIRE(h != NULL, "a solver is used before it is made (null handle)");
    return handle_frame(h)->enter == NULL ? 0 : handle_frame(h)->enter(h);
}

/* --- time ---------------------------------------------------------------------------------------------------- */

int handle_check_histories(const handle *h, int it, int n) {
    const source_histories *s = &h->histories;
    if (s->n == 0)
        return 0;
    const int quiet = s->silent > 0 ? s->silent : INT_MAX, end = it + n < quiet ? it + n : quiet;
    REQUIRE(it >= end || (it >= s->first && end <= s->first + s->steps),
            "steps %d..%d need histories of the sources, which are known for steps %d..%d", it, end - 1, s->first,
            s->first + s->steps - 1);
    return 0;
}

int handle_check_steps(const handle *h, int it, int n) {
    REQUIRE(it >= 1 && n >= 0 && n < INT_MAX - it, "%d steps from step %d: steps count from 1", n, it);
    REQUIRE(h->next == 0 || it == h->next, "time stepping asked to go on with step %d, but the next step is %d", it,
            h->next);
    REQUIRE(h->has_model, "time stepping before the medium was set");
    return 0;
}

int handle_timestep(void *own, int it, int n) {
    handle *h = own;
    float *row;
    TRY(handle_enter(h));
    TRY(h->solver->ready(h, it, n));
    if (n == 0)
        return 0;
    TRY(handle_next_rows(h, n, &row));
    if (h->steps == 0)
        h->first = it;
    h->next = INT_MAX; /* until all went well */
    TRY(h->variant->verbs->timestep(h, it, n, row));
    h->steps += n;
    h->next = it + n;
    return 0;
}

int handle_pending(void *own, int most) {
    handle *h = own;
    TRY(handle_enter(h));
    REQUIRE(most >= 0, "wait until at most %d chunks are unfinished: must not be negative", most);
    return handle_frame(h)->pending == NULL ? 0 : handle_frame(h)->pending(h, most);
}

/* --- fields -------------------------------------------------------------------------------------------------- */

static void forget_steps(handle *h) {
    h->first = h->steps = 0;
    h->next = 0;
}

int handle_set_field(handle *h, int field, const float *in) {
    TRY(h->variant->verbs->set(h, field, in));
    forget_steps(h);
    return 0;
}

/* The largest value now, or with `newest` that of the newest finished chunk where it is known. */
static int largest(handle *h, int newest, float *value, int *place) {
    TRY(handle_enter(h));
    const handle_verbs *v = h->variant->verbs;
    place[0] = place[1] = place[2] = 0;
    return (newest && v->peak != NULL ? v->peak : v->maxabs)(h, value, place);
}

int handle_maxabs(void *own, float *value, int *place) { return largest(own, 0, value, place); }

int handle_peak(void *own, float *value, int *place) { return largest(own, 1, value, place); }

int handle_reset(void *own) {
    handle *h = own;
    TRY(handle_enter(h));
    TRY(h->variant->verbs->reset(h));
    forget_steps(h);
    if (h->solver->forget != NULL)
        h->solver->forget(h);
    return 0;
}

/* --- for the record ------------------------------------------------------------------------------------------ */

long handle_bytes(void *own) {
    const handle *h = own;
    if (h == NULL)
        return 0;
    const size_t beside = handle_frame(h)->bytes == NULL ? 0 : handle_frame(h)->bytes(h);
    return (long)(h->memory.bytes + beside);
}

int handle_device(void *own, int length, char *text) {
    handle *h = own;
    char device[256] = "";
    TRY(handle_enter(h));
    const handle_verbs *v = h->variant->verbs;
    (v->device != NULL ? v->device : v->frame->device)(h, device, sizeof device);
    return copy_text(device, length, text);
}

int handle_threads(void *own, int threads) {
    handle *h = own;
    TRY(handle_enter(h));
    REQUIRE(threads >= 1, "%d threads: must be 1 or more", threads);
    if (handle_frame(h)->threads != NULL)
        handle_frame(h)->threads(h, threads);
    return 0;
}

int handle_tune(handle *h, const char *isa, int a, int b, int c) {
    const handle_verbs *v = h->variant->verbs;
    int (*tune)(handle *, const char *, const int *) = v->tune != NULL ? v->tune : v->frame->tune;
    return tune == NULL ? 0 : tune(h, isa, (const int[3]){a, b, c});
}
