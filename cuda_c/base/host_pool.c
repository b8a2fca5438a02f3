/* Host memory of a handle, counted. */
#include "host_pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"

typedef struct host_block { /* stands before each piece; memory begins at a cache line */
    size_t bytes;
    struct host_block *older, *newer;
    char pad[64 - sizeof(size_t) - 2 * sizeof(void *)];
} host_block;

/* `place` is read and written by memcpy, as aliasing it through void ** would not do. */
int host_alloc(host_pool *m, void *place, size_t count, size_t size, const char *what) {
    size_t bytes = 0;
    host_release(m, place);
    REQUIRE(!__builtin_mul_overflow(count, size, &bytes) && bytes < SIZE_MAX / 4,
            "%s of %zu times %zu bytes is more than can be addressed: make the grid smaller", what, count, size);
    const size_t whole = (bytes / sizeof(host_block) + 2) * sizeof(host_block); /* `memory` lies inside, empty or not */
    host_block *b = aligned_alloc(sizeof(host_block), whole);
    REQUIRE(b != NULL, "no memory for %s (%.3f GB): make the grid smaller or use fewer ranks a node", what,
            (double)bytes * 1e-9);
    memset(b, 0, whole);
    b->bytes = bytes;
    b->older = m->newest;
    if (b->older != NULL)
        b->older->newer = b;
    m->newest = b;
    m->bytes += bytes;
    void *memory = b + 1;
    memcpy(place, &memory, sizeof memory);
    return 0;
}

int host_copy(host_pool *m, void *place, const void *from, size_t count, size_t size, const char *what) {
    void *memory;
    TRY(host_alloc(m, place, count, size, what));
    memcpy(&memory, place, sizeof memory);
    if (count > 0)
        memcpy(memory, from, count * size);
    return 0;
}

static void release_block(host_pool *m, host_block *b) {
    if (b->older != NULL)
        b->older->newer = b->newer;
    if (b->newer != NULL)
        b->newer->older = b->older;
    else
        m->newest = b->older;
    m->bytes -= b->bytes;
    free(b);
}

void host_release(host_pool *m, void *place) {
    void *memory;
    memcpy(&memory, place, sizeof memory);
    if (memory == NULL)
        return;
    release_block(m, (host_block *)memory - 1);
    memory = NULL;
    memcpy(place, &memory, sizeof memory);
}

void host_release_all(host_pool *m) {
    while (m->newest != NULL)
        release_block(m, m->newest);
}

int host_rows(host_pool *m, float **row, size_t *rows, int width, int used, int n, int expected, const char *what) {
    size_t need = (size_t)used + (size_t)n, most = need <= (size_t)expected ? (size_t)expected : *rows + *rows / 2;
    if (width == 0 || need <= *rows)
        return 0;
    if (most < need)
        most = need;
    float *grown = NULL;
    const size_t size = (size_t)width * sizeof(float);
    TRY(host_alloc(m, &grown, most, size, what));
    if (used > 0)
        memcpy(grown, *row, (size_t)used * size);
    host_release(m, row);
    *row = grown;
    *rows = most;
    return 0;
}
