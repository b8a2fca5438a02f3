/* THE cudaMalloc: device and pinned memory by name, with the bytes in use.
 *
 *   dm_pool pool = {0};
 *   TRY(dm_alloc(&pool, &sigma, n, sizeof *sigma, "sigma"));   "no GPU memory for sigma (12.3 GB, 9.8 GB are free)"
 *   dm_release(&pool, &sigma);
 *
 * `place` is the address of a pointer of any type: it must be null or come from here (then it is given back first). */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DM_BLOCKS = 64 };

typedef struct dm_pool {
    struct dm_block {
        void *memory;
        size_t bytes;
        int pinned;
    } block[DM_BLOCKS];
    size_t bytes, pinned_bytes; /* in use on the device, in pinned host memory */
} dm_pool;

/* Zeroed device memory. */
int dm_alloc(dm_pool *pool, void *place, size_t count, size_t size, const char *what);
/* Zeroed host memory that the GPU reads and writes at full speed. */
int dm_pinned(dm_pool *pool, void *place, size_t count, size_t size, const char *what);
void dm_release(dm_pool *pool, void *place);
/* Gives everything back. */
void dm_empty(dm_pool *pool);

#ifdef __cplusplus
}
#endif
