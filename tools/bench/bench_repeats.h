/* Repetitions of a benchmark: their order, and the processor time that they took. */
#pragma once

#include <time.h>

/* For qsort: the smallest first. */
static inline int bench_ascending(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Seconds of processor time of all threads so far. */
static inline double bench_processor(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
