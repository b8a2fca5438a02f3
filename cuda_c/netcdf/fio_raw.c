/* Slots of a file of gathers as the bytes they are: how one file takes them over from another; interfaces/raw_c.f90. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counts.h"
#include "err.h"
#include "files.h"
#include "fio.h"
#include "iface.h"

enum { BLOCK = 1 << 20 }; /* bytes moved at once */

struct raw {
    int fd;
    char *block;
    char path[];
};

void *raw_open(const char *path, int writable) {
    file_limit_is_error();
    struct raw *r = calloc(1, sizeof *r + strlen(path) + 1);
    if (!r)
        return err_set("out of memory for the name '%s'", path), NULL;
    strcpy(r->path, path);
    r->fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    r->block = malloc(BLOCK);
    if (r->fd >= 0 && r->block)
        return r;
    err_set("cannot open '%s': %s", path, strerror(errno));
    raw_close(r);
    return NULL;
}

void raw_close(void *handle) {
    struct raw *r = handle;
    if (!r)
        return;
    if (r->fd >= 0)
        close(r->fd);
    free(r->block);
    free(r);
}

int raw_find(void *handle, const char *var, long shots, long *begin, long *bytes) {
    struct raw *r = handle;
    struct fio_layout layout;
    TRY(fio_layout_read(r->path, var, &layout));
    REQUIRE(layout.begin >= 0 && shots > 0 && layout.bytes % shots == 0,
            "'%s' has no variable %s with a slot for each shot", r->path, var);
    *begin = layout.begin;
    *bytes = layout.bytes / shots;
    return 0;
}

static int put(struct raw *r, const char *bytes, long n, long at) {
    for (long done = 0; done < n;) {
        ssize_t got = pwrite(r->fd, bytes + done, (size_t)(n - done), at + done);
        if (got < 0 && errno == EINTR)
            continue;
        REQUIRE(got > 0, "cannot write '%s' at byte %ld: %s", r->path, at + done, strerror(got < 0 ? errno : ENOSPC));
        done += got;
    }
    return 0;
}

int raw_sum(void *handle, long at, long n, long *crc) {
    struct raw *r = handle;
    for (long done = 0; done < n; done += BLOCK) {
        long now = n - done < BLOCK ? n - done : BLOCK;
        TRY(file_read_all(r->fd, r->block, now, at + done, r->path));
        *crc = crc32_bytes(*crc, now, r->block);
    }
    return 0;
}

int raw_copy(void *from, long from_at, void *to, long to_at, long n, long *crc_from, long *crc_to) {
    struct raw *r = from;
    for (long done = 0; done < n; done += BLOCK) {
        long now = n - done < BLOCK ? n - done : BLOCK;
        TRY(file_read_all(r->fd, r->block, now, from_at + done, r->path));
        *crc_from = crc32_bytes(*crc_from, now, r->block);
        *crc_to = crc32_bytes(*crc_to, now, r->block);
        TRY(put(to, r->block, now, to_at + done));
    }
    return 0;
}

int raw_fill(void *handle, long at, long n, int width, long value, long *crc) {
    struct raw *r = handle;
    for (long i = 0; i < (n < BLOCK ? n : BLOCK); i++) /* big-endian */
        r->block[i] = (char)((unsigned long)value >> 8 * (width - 1 - i % width));
    for (long done = 0; done < n; done += BLOCK) {
        long now = n - done < BLOCK ? n - done : BLOCK;
        *crc = crc32_bytes(*crc, now, r->block);
        TRY(put(r, r->block, now, at + done));
    }
    return 0;
}
