/* Host memory of a handle, counted. */
#include "host_alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"

typedef struct block { /* stands before each allocation, so that bytes can be counted back; memory begins at a cache
                          line */
    size_t bytes;
    char pad[64 - sizeof(size_t)];
} block;

/* `place` is read and written by memcpy, as aliasing it through void ** would not do. */
int host_alloc(size_t *in_use, void *place, size_t count, size_t size, const char *what) {
    size_t bytes = 0;
    host_release(in_use, place);
    REQUIRE(!__builtin_mul_overflow(count, size, &bytes) && bytes < SIZE_MAX / 4,
            "%s of %zu times %zu bytes is more than can be addressed: make the grid smaller", what, count, size);
    const size_t whole = (bytes / sizeof(block) + 2) * sizeof(block); /* what is returned lies inside, empty or not */
    block *b = aligned_alloc(sizeof(block), whole);
    REQUIRE(b != NULL, "no memory for %s (%.3f GB): make the grid smaller or use fewer ranks a node", what,
            (double)bytes * 1e-9);
    memset(b, 0, whole);
    b->bytes = bytes;
    *in_use += bytes;
    void *memory = b + 1;
    memcpy(place, &memory, sizeof memory);
    return 0;
}

void host_release(size_t *in_use, void *place) {
    void *memory;
    memcpy(&memory, place, sizeof memory);
    if (memory == NULL)
        return;
    block *b = (block *)memory - 1;
    *in_use -= b->bytes;
    free(b);
    memory = NULL;
    memcpy(place, &memory, sizeof memory);
}

int host_rows(size_t *in_use, float **row, size_t *rows, int width, int used, int n, int expected, const char *what) {
    size_t need = (size_t)used + (size_t)n, most = need <= (size_t)expected ? (size_t)expected : *rows + *rows / 2;
    if (width == 0 || need <= *rows)
        return 0;
    if (most < need)
        most = need;
    float *grown = NULL;
    const size_t size = (size_t)width * sizeof(float);
    TRY(host_alloc(in_use, &grown, most, size, what));
    if (used > 0)
        memcpy(grown, *row, (size_t)used * size);
    host_release(in_use, row);
    *row = grown;
    *rows = most;
    return 0;
}
