/* Host memory that a handle holds: zeroed, beginning at a cache line, counted in bytes.
 *
 *   TRY(host_alloc(&h->memory, &fd->q, n, sizeof(float), "source histories"));
 *   host_release(&h->memory, &fd->q);
 *   host_release_all(&h->memory);
 *
 * `place` is the address of a pointer of any type: it must be null or come from here (then it is given back first). */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct host_pool {
    size_t bytes;              /* in use */
    struct host_block *newest; /* of the pieces, which are linked */
} host_pool;

int host_alloc(host_pool *m, void *place, size_t count, size_t size, const char *what);
/* The same, filled with what stands at `from`. */
int host_copy(host_pool *m, void *place, const void *from, size_t count, size_t size, const char *what);
void host_release(host_pool *m, void *place);
/* Gives all pieces back; pointers to them are left as they are. */
void host_release_all(host_pool *m);

/* Rows of `width` floats, `used` of them filled: room for n more. As many as are `expected` at once; beyond that room
 * grows by half, so that a run cut into many chunks copies little. */
int host_rows(host_pool *m, float **row, size_t *rows, int width, int used, int n, int expected, const char *what);

#ifdef __cplusplus
}
#endif
