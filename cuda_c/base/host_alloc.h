/* Host memory that a handle holds: zeroed, beginning at a cache line, counted in bytes.
 *
 *   TRY(host_alloc(&fd->bytes, &fd->q, n, sizeof(float), "source histories"));
 *   host_release(&fd->bytes, &fd->q);
 *
 * `place` is the address of a pointer of any type: it must be null or come from here (then it is given back first). */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

int host_alloc(size_t *bytes, void *place, size_t count, size_t size, const char *what);
void host_release(size_t *bytes, void *place);

/* Rows of `width` floats, `used` of them filled: room for n more. As many as are `expected` at once; beyond that room
 * grows by half, so that a run cut into many chunks copies little. */
int host_rows(size_t *bytes, float **row, size_t *rows, int width, int used, int n, int expected, const char *what);

#ifdef __cplusplus
}
#endif
