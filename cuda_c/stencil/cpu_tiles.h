/* What the time loops of the `cpu` variants share that go through tiles in an order: small arithmetic, and waiting for
 * another tile's progress. */
#pragma once

#include <sched.h>
#include <stdatomic.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum {
    COUNTER = 16,           /* ints from one progress counter to the next: a cache line */
    SAMPLE_BYTES = 16 << 20 /* sampled cells of one pass */
};

static inline int least(int a, int b) { return a < b ? a : b; }
static inline int most(int a, int b) { return a > b ? a : b; }
static inline int up(int a, int b) { return (a + b - 1) / b; }

static inline void wait_for(atomic_int *counter, int value) {
    for (int spins = 0; atomic_load_explicit(counter, memory_order_acquire) < value; spins++) {
        if (spins > 2000)
            sched_yield(); /* more threads than cores: let the others work */
#ifdef __x86_64__
        else
            _mm_pause();
#endif
    }
}
