#define _GNU_SOURCE /* O_DIRECT, statx */
#include "fio_slots.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iface.h"

enum {
    BLOCK = 1 << 17, /* bytes turned round, summed and written while they are in the cache */
    PIECE = 1 << 22, /* bytes written at once past the page cache, and the least that are */
    ALIGNED = 4096   /* their place in memory and file, and their length: no disk has larger blocks */
};

int fio_kind_width(enum fio_kind kind) {
    return kind == FIO_CHAR ? 1 : kind == FIO_INT64 || kind == FIO_DOUBLE ? 8 : 4;
}

void fio_turned(int width, long n, const void *from, void *to) {
    uint32_t u4;
    uint64_t u8;
    if (width == 1)
        memmove(to, from, (size_t)n);
    for (long i = 0; width == 4 && i < n; i++) {
        memcpy(&u4, (const char *)from + 4 * i, 4);
        u4 = __builtin_bswap32(u4);
        memcpy((char *)to + 4 * i, &u4, 4);
    }
    for (long i = 0; width == 8 && i < n; i++) {
        memcpy(&u8, (const char *)from + 8 * i, 8);
        u8 = __builtin_bswap64(u8);
        memcpy((char *)to + 8 * i, &u8, 8);
    }
}

static int write_all(int fd, const char *bytes, long n, long at) {
    while (n > 0) {
        ssize_t put = pwrite(fd, bytes, (size_t)n, at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            errno = put < 0 ? errno : ENOSPC;
            return 1;
        }
        bytes += put, n -= put, at += put;
    }
    return 0;
}

/* Longs to the integers of the file. */
static int narrowed(enum fio_kind kind, long n, const long *values, char *to) {
    for (long i = 0; i < n; i++) {
        if (kind == FIO_INT ? values[i] < INT_MIN || values[i] > INT_MAX : values[i] < 0 || values[i] > UINT_MAX)
            return errno = ERANGE, 1;
        uint32_t u = (uint32_t)values[i];
        memcpy(to + 4 * i, &u, 4);
    }
    return 0;
}

int fio_slot_write(int fd, long at, enum fio_kind kind, long n, const void *values, long *crc) {
    _Alignas(64) char block[BLOCK];
    const int width = fio_kind_width(kind), integer = kind == FIO_INT || kind == FIO_UINT;
    for (long done = 0, most = BLOCK / width; done < n; done += most) {
        const long now = n - done < most ? n - done : most;
        const char *from = (const char *)values + done * (integer ? (long)sizeof(long) : width);
        if (integer && narrowed(kind, now, (const long *)(const void *)from, block))
            return 1;
        fio_turned(width, now, integer ? block : from, block);
        if (crc)
            *crc = crc32_bytes(*crc, now * width, block);
        if (write_all(fd, block, now * width, at + done * width))
            return 1;
    }
    return 0;
}

#ifdef STATX_DIOALIGN
static int divides(unsigned alignment) { return alignment > 0 && ALIGNED % alignment == 0; }
#endif

struct fio_uncached fio_uncached_open(const char *path, int fd) {
    struct fio_uncached u = {.fd = -1};
    struct stat one, other;
#ifdef STATX_DIOALIGN
    struct statx s;
    if (!statx(AT_FDCWD, path, 0, STATX_DIOALIGN, &s) && s.stx_mask & STATX_DIOALIGN &&
        divides(s.stx_dio_offset_align) && divides(s.stx_dio_mem_align))
        u.fd = open(path, O_WRONLY | O_DIRECT | O_CLOEXEC);
#else
    (void)path;
#endif
    if (u.fd >= 0 && !fstat(fd, &one) && !fstat(u.fd, &other) && one.st_ino == other.st_ino &&
        one.st_dev == other.st_dev)
        u.piece = aligned_alloc(ALIGNED, PIECE);
    return u;
}

void fio_uncached_close(struct fio_uncached *uncached) {
    if (uncached->fd >= 0)
        close(uncached->fd);
    free(uncached->piece);
    *uncached = (struct fio_uncached){.fd = -1};
}

/* The blocks of the disk that no other slot has a part in; what is before and behind them goes by the cache. */
int fio_slot_put(int fd, const struct fio_uncached *uncached, long at, long n, const char *bytes) {
    const long first = (at + ALIGNED - 1) / ALIGNED * ALIGNED, last = (at + n) / ALIGNED * ALIGNED;
    if (!uncached->piece || last - first < PIECE)
        return write_all(fd, bytes, n, at);
    for (long put = first, now; put < last; put += now) {
        now = last - put < PIECE ? last - put : PIECE;
        memcpy(uncached->piece, bytes + (put - at), (size_t)now);
        if (!write_all(uncached->fd, uncached->piece, now, put))
            continue;
        return errno == EINVAL ? write_all(fd, bytes, n, at) : 1; /* EINVAL: behind a part that is no whole block */
    }
    return write_all(fd, bytes, first - at, at) || write_all(fd, bytes + (last - at), at + n - last, last);
}

int fio_slots_crc(int fd, long at, long bytes, long n, long *crc) {
    char block[BLOCK];
    for (long done = 0, all = n * bytes; done < all;) {
        ssize_t got = pread(fd, block, (size_t)(all - done < BLOCK ? all - done : BLOCK), at + done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got < 0 ? errno : EIO;
            return 1;
        }
        for (long used = 0, now; used < got; used += now, done += now) { /* of one slot at a time */
            const long slot = done / bytes, rest = (slot + 1) * bytes - done;
            now = rest < got - used ? rest : got - used;
            crc[slot] = crc32_bytes(crc[slot], now, block + used);
        }
    }
    return 0;
}
