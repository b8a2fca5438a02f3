/* Tiles in their order, done by all threads; passes. */
#include "sweep.h"

#include <sched.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "denormals.h"
#include "err.h"

enum {
    COUNTER = 16,           /* ints from one progress counter to the next: a cache line */
    SAMPLE_BYTES = 16 << 20 /* sampled cells of one pass */
};

/* --- tiles --------------------------------------------------------------------------------------------------- */

void sweep_set_steps(sweep *w, int T) {
    w->T = most(1, least(T, least(w->kind->most_steps, w->n)));
    w->blocks = up(w->n, w->T);
    w->T = up(w->n, w->blocks); /* no short block at the end */
    w->blocks = up(w->n, w->T);
}

void sweep_set_width(sweep *w, int W, int unit, int even) {
    const int all = w->across + (2 * w->T - 1) * w->shift;
    w->W = up(least(W, all), unit) * unit;
    w->tiles = up(all, w->W);
    if (even)
        w->W = up(up(all, w->tiles), unit) * unit;
    w->tiles = up(all, w->W);
}

/* --- items and their order ----------------------------------------------------------------------------------- */

static void wait_for(atomic_int *counter, int value) {
    for (int spins = 0; atomic_load_explicit(counter, memory_order_acquire) < value; spins++) {
        if (spins > 2000)
            sched_yield(); /* more threads than cores: let the others work */
#ifdef __x86_64__
        else
            _mm_pause();
#endif
    }
}

static void run_item(sweep *w, int item) {
    const int block = item / w->tiles, tile = item % w->tiles, halves = 2 * sweep_block_steps(w, block);
    const int lag = sweep_lag(w, 2 * w->T - 1); /* of a full block, as all but the last are */
    atomic_int *mine = w->progress + (size_t)item * COUNTER, *left = tile > 0 ? mine - COUNTER : NULL, *before = NULL;
    if (block > 0) { /* the tile whose last half step reaches as far right as this item reads */
        const int reach = least((tile + 1) * w->W, w->across) + 2 * w->T * w->shift;
        before = w->progress + ((size_t)(block - 1) * w->tiles + least(up(reach, w->W), w->tiles) - 1) * COUNTER;
    }
    for (int j = 0, end = up(w->deep + sweep_lag(w, halves - 1), w->rows); j < end; j++) {
        if (left != NULL)
            wait_for(left, j + 1);
        if (before != NULL)
            wait_for(before, up(least(w->deep, (j + 1) * w->rows + w->reach) + lag, w->rows));
        w->kind->descend(w, block, tile, j);
        atomic_store_explicit(mine, j + 1, memory_order_release);
    }
}

/* --- samples ------------------------------------------------------------------------------------------------- */

void sweep_sample(const sweep *w, int it, int first, int last, sweep_piece p) {
    for (int f = first; f <= last; f++) {
        const cell_list *c = &w->h->receivers.sampled[f];
        const int *side = c->at[w->axis];
        float *to = w->samples + (size_t)(it - w->it) * w->sampled + w->first[f];
        if (c->plane[p.k0] == c->plane[p.k1])
            continue;
        for (int k = p.k0; k < p.k1; k++)
            for (int m = cells_seek(c, w->axis, k, p.i0); m < c->plane[k + 1] && side[m] < p.i1; m++)
                if (c->at[0][m] >= p.x0 && c->at[0][m] < p.x1)
                    to[m] = w->field[f][k * w->z + c->at[1][m] * w->y + c->at[0][m]];
    }
}

static int samples_room(sweep *w) {
    cpu_frame *o = cpu_frame_of(w->h);
    const size_t count = w->sampled * (size_t)w->n;
    if (count > o->samples_count) {
        o->samples_count = 0;
        TRY(host_alloc(&w->h->memory, &o->samples, count, sizeof(float), "samples of the receivers' cells"));
        o->samples_count = count;
    }
    w->samples = o->samples;
    return 0;
}

static void count_samples(sweep *w) {
    w->sampled = 0;
    for (int f = 0; f < w->h->solver->fields; f++) {
        w->first[f] = w->sampled;
        w->sampled += (size_t)w->h->receivers.sampled[f].n;
    }
}

/* --- passes -------------------------------------------------------------------------------------------------- */

/* whole: nothing was given up. */
static int pass(sweep *w, int whole, float *trace) {
    const receiver_cells *r = &w->h->receivers;
    const int threads = cpu_frame_of(w->h)->threads;
    w->kind->choose_tiles(w);
    const int items = w->tiles * w->blocks;
    TRY(samples_room(w));
    TRY(host_alloc(&w->h->memory, &w->progress, (size_t)items * COUNTER, sizeof(int), "progress of tiles"));
    atomic_store(&w->next, 0);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        const unsigned long old = flush_denormals();
        for (int item; (item = atomic_fetch_add(&w->next, 1)) < items;)
            run_item(w, item);
#pragma omp barrier
        if (whole && r->n > 0) {
#pragma omp for schedule(static)
            for (int step = 0; step < w->n; step++)
                cpu_sum_receivers(r, w->samples + (size_t)step * w->sampled, trace + (size_t)step * (size_t)r->n);
        }
        if (whole && w->kind->finish != NULL)
            w->kind->finish(w);
        restore_denormals(old);
    }
    host_release(&w->h->memory, &w->progress);
    return 0;
}

int sweep_steps(sweep *w, int it, int n, int longest, float *trace) {
    int most_steps = longest;
    count_samples(w);
    if (w->sampled > 0) {
        const size_t fit = SAMPLE_BYTES / (w->sampled * sizeof(float));
        const int shortest = w->kind->least_steps;
        most_steps = least(longest, fit < (size_t)shortest ? shortest : fit > (size_t)n ? n : (int)fit);
    }
    for (int done = 0; done < n; done += w->n) {
        w->it = it + done;
        w->n = least(n - done, most_steps);
        TRY(pass(w, 1, trace == NULL ? NULL : trace + (size_t)done * (size_t)w->h->receivers.n));
    }
    return 0;
}

int sweep_block(sweep *w, int it, int n) {
    sweep_resume(w, it, n);
    return pass(w, 0, NULL);
}

void sweep_resume(sweep *w, int it, int n) {
    count_samples(w);
    w->it = it;
    w->n = n;
    w->samples = cpu_frame_of(w->h)->samples;
}
