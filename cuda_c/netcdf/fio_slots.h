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

/* Writes bytes as they are. */
int fio_slot_put(int fd, long at, long n, const char *bytes);

/* Goes on with a CRC-32 over so many bytes of the file. */
int fio_slot_crc(int fd, long at, long bytes, long *crc);
