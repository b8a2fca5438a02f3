#include "fio_slots.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "iface.h"

enum { BLOCK = 1 << 17 }; /* bytes turned round, summed and written while they are in the cache */

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

int fio_slot_put(int fd, long at, long n, const char *bytes) { return write_all(fd, bytes, n, at); }

int fio_slot_crc(int fd, long at, long bytes, long *crc) {
    char block[BLOCK];
    while (bytes > 0) {
        ssize_t got = pread(fd, block, (size_t)(bytes < BLOCK ? bytes : BLOCK), at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got < 0 ? errno : EIO;
            return 1;
        }
        *crc = crc32_bytes(*crc, got, block);
        at += got, bytes -= got;
    }
    return 0;
}
