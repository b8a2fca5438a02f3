/* Blocks of variables of an open CDF-5 file at their places in it, past the NetCDF library: it would read and write the
 * blocks around each of them (fio_slots.c). */
#pragma once

/* A number as it stands in the file, and as the caller has it. */
enum fio_kind { FIO_CHAR, FIO_INT, FIO_UINT, FIO_INT64, FIO_FLOAT, FIO_DOUBLE };

int fio_kind_width(enum fio_kind kind);

/* Numbers in the machine's order to those of the file, and back: the bytes of each are turned round. `to` may be
 * `from`. */
void fio_turned(int width, long n, const void *from, void *to);

/* Writes n numbers at byte `at` of the file; `values` are floats, doubles, longs or chars, whatever goes with `kind`.
 * `crc`, unless NULL, goes on over the bytes written. Fails, with errno set, where the system does, and where a number
 * is none of `kind`. */
int fio_slot_write(int fd, long at, enum fio_kind kind, long n, const void *values, long *crc);

/* The file that `fd` has open again, for writes that go to the disk past the page cache; `piece` NULL: there are none,
 * as on file systems that do not say how such writes have to be aligned: memory, most of the network, and before
 * Linux 6.1. */
struct fio_uncached {
    int fd;
    char *piece; /* aligned memory that they go by */
};

struct fio_uncached fio_uncached_open(const char *path, int fd);
void fio_uncached_close(struct fio_uncached *uncached);

/* Writes bytes as they are, a large block past the page cache, where `uncached` can: that costs less of a core than to
 * copy it into the cache page by page, and the disk is at work at once, not only from the commit on. */
int fio_slot_put(int fd, const struct fio_uncached *uncached, long at, long n, const char *bytes);

/* Goes on with the CRC-32 of each of n slots, of so many bytes, that lie one behind the other in the file. (n) */
int fio_slots_crc(int fd, long at, long bytes, long n, long *crc);
