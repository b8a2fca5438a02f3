/* Random numbers for fields and media of benchmarks, the same in every run; in C, C++ and on GPUs. */
#pragma once

#include <stddef.h>

#ifdef __CUDACC__
#define BENCH_FUNCTION static inline __host__ __device__
#else
#define BENCH_FUNCTION static inline
#endif

/* Number m of a random row, 0 .. 1. */
BENCH_FUNCTION float bench_random(size_t m) {
    unsigned x = (unsigned)m * 2654435761u + 12345u;
    x = (x ^ x >> 15) * 2246822519u;
    x = (x ^ x >> 13) * 3266489917u;
    return (float)((x ^ x >> 16) >> 8) / 16777216.0f;
}
