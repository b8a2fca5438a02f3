/* The state of a time loop: all that the steps to come depend on, and the traces so far, as one row of floats that a
 * loop in another process goes on from, bit for bit. Only the variant knows what it is made of (fd3d.h). */
#include <limits.h>
#include <string.h>

#include "err.h"
#include "fd3d.h"

static int list_parts(fd3d *fd, fd3d_part part[FD3D_PARTS], int *parts, size_t *floats) {
    REQUIRE(fd != NULL, "the 3D solver is used before it is made (null handle)");
    REQUIRE(fd->variant->state != NULL, "variant=%s does not give its state away", fd->variant->name);
    *parts = fd->variant->state(fd, part);
    *floats = 0;
    for (int p = 0; p < *parts; p++)
        *floats += part[p].width * part[p].rows;
    return 0;
}

long fd3d_state_size(void *handle, int steps) {
    fd3d *fd = handle;
    fd3d_part part[FD3D_PARTS];
    int parts;
    size_t floats;
    if (steps < 0 || list_parts(fd, part, &parts, &floats))
        return -1;
    return (long)(floats + (size_t)steps * (size_t)fd->nrec);
}

static int check_size(fd3d *fd, int steps, long n) {
    const long size = fd3d_state_size(fd, steps);
    TRY(size < 0);
    REQUIRE(n == size, "a state of %ld numbers, after %d steps it has %ld", n, steps, size);
    return 0;
}

/* Between the variant's memory and `host`; plain memory unless the variant says otherwise. */
static int move(fd3d *fd, const fd3d_part *part, float *host, int in) {
    if (part->width == 0 || part->rows == 0)
        return 0;
    if (fd->variant->move != NULL)
        return fd->variant->move(fd, part, host, in);
    for (size_t row = 0; row < part->rows; row++) {
        float *own = part->at + (ptrdiff_t)row * part->pitch, *other = host + row * part->width;
        memcpy(in ? own : other, in ? other : own, part->width * sizeof(float));
    }
    return 0;
}

static int move_all(fd3d *fd, int steps, float *host, int in) {
    fd3d_part part[FD3D_PARTS];
    int parts;
    size_t floats;
    TRY(list_parts(fd, part, &parts, &floats));
    for (int p = 0; p < parts; p++) {
        TRY(move(fd, &part[p], host, in));
        host += part[p].width * part[p].rows;
    }
    float *trace = NULL;
    TRY((fd->variant->rows != NULL ? fd->variant->rows : fd3d_trace_rows)(fd, steps - fd->steps, &trace));
    const size_t count = (size_t)steps * (size_t)fd->nrec;
    return move(fd, &(fd3d_part){trace, count, count > 0, (ptrdiff_t)count}, host, in);
}

int fd3d_save(void *handle, long n, float *state) {
    fd3d *fd = handle;
    TRY(check_size(fd, fd == NULL ? 0 : fd->steps, n));
    REQUIRE(fd->next != INT_MAX, "the state of a time loop that failed is no use");
    return move_all(fd, fd->steps, state, 0);
}

int fd3d_load(void *handle, int first, int steps, long n, const float *state) {
    fd3d *fd = handle;
    TRY(check_size(fd, steps, n));
    REQUIRE(first >= 1 && steps <= INT_MAX - first, "a state of steps %d..%ld: must begin at 1 or later", first,
            (long)first + steps - 1);
    TRY(fd3d_reset(fd));
    fd->next = INT_MAX; /* until all went well */
    TRY(move_all(fd, steps, (float *)state, 1));
    fd->first = first;
    fd->steps = steps;
    fd->next = first + steps;
    return 0;
}
