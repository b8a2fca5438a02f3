/* The bytes of a CDF-5 file (NetCDF classic format, 64-bit data):
 *
 *   magic "CDF\5" | record count | dimensions | global attributes | variables (name, dims, attributes, type, size,
 * begin) | data of the variables one after the other, big-endian, each padded to 4 bytes
 *
 * The format has no checksums of its own. This project adds one: the variable header_bytes holds the number n of the
 * first bytes of the file that never change (everything before header_bytes itself: the header proper and the fixed
 * variables), and header_crc32 holds zlib's CRC-32 of these n bytes.
 */
#pragma once

enum { FIO_STRETCH = 1 << 16 }; /* bytes that a file may be longer than its header says: whole blocks are written */

struct fio_layout {
    long header;       /* bytes of the header proper */
    long total;        /* bytes of the complete file */
    long least;        /* the same without padding behind the last number, which not all writers leave */
    long begin, bytes; /* where the variable asked for lies; begin = -1 if there is none of that name */
    long records;      /* 0: no dimension grows */
    int kind;          /* 1, 2 or 5: CDF-1, CDF-2, CDF-5 */
};

/* Reads the layout of a classic NetCDF file from its bytes alone, trusting none of them. var NULL: header and total
 * only. */
int fio_layout_read(const char *path, const char *var, struct fio_layout *layout);

/* Fails where a file of a classic format has a header that does not read, or ends before its data do. The library
 * believes a header: a few wrong bytes make it ask for gigabytes. Files of other formats pass. */
int fio_classic_check(const char *path);

/* Length and CRC-32 of the bytes of `path` that never change, and the bytes of the complete file. */
int fio_header_sum(const char *path, long *n, long *crc, long *fixed, long *total);

/* The bytes of a CDF-5 file that is defined as any other, but not made: see fio_tally in interfaces/fio_c.f90. */
struct fio_tally;
struct fio_tally *fio_tally_new(void);
int fio_tally_dim(struct fio_tally *tally, const char *name, long length);
int fio_tally_var(struct fio_tally *tally, const char *name, int width, const char *dims);
void fio_tally_attribute(struct fio_tally *tally, const char *name, int width, long n);
double fio_tally_total(const struct fio_tally *tally);
