/* The header of the classic NetCDF formats, read byte by byte with every length checked: damaged files must give a
 * sentence, not a crash. CDF-1, CDF-2 and CDF-5 differ in the widths of counts and of offsets. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "counts.h"
#include "err.h"
#include "fio.h"
#include "iface.h"

enum {
    HEADER_MAX = 1 << 26,
    DIMS_MAX = 1024,
    SMALLEST = 8192 /* what the library writes at least */,
    TAG_DIM = 10,
    TAG_VAR = 11,
    TAG_ATT = 12
};

struct bytes {
    const unsigned char *p;
    long n, at;
    int bad;
    int count, offset; /* bytes of a count and of an offset */
};

static long number(struct bytes *b, int width) {
    long value = 0;
    if (b->bad || b->n - b->at < width)
        return b->bad = 1, 0;
    for (int i = 0; i < width; i++)
        value = (long)((unsigned long)value << 8 | b->p[b->at++]);
    return value;
}

static void skip(struct bytes *b, long n) {
    if (b->bad || n < 0 || n > b->n - b->at)
        b->bad = 1;
    else
        b->at += n;
}

static long padded(long n) { return (n + 3) & ~3L; }

static int type_width(long type) {
    static const int width[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return type >= 1 && type <= 11 ? width[type] : 0;
}

/* A list is a tag and a length, both 0 when it is empty. */
static long list_length(struct bytes *b, int tag) {
    long t = number(b, 4), n = number(b, b->count);
    if (n < 0 || n > b->n || (t != tag && (t || n)))
        b->bad = 1;
    return b->bad ? 0 : n;
}

static int name_is(struct bytes *b, const char *name) {
    long n = number(b, b->count), at = b->at;
    if (n < 0 || n > HEADER_MAX)
        b->bad = 1, n = 0;
    skip(b, padded(n));
    return !b->bad && name && (long)strlen(name) == n && !memcmp(b->p + at, name, n);
}

static void attributes(struct bytes *b) {
    for (long i = list_length(b, TAG_ATT); i > 0 && !b->bad; i--) {
        name_is(b, NULL);
        int width = type_width(number(b, 4));
        long n = number(b, b->count);
        if (!width || n < 0 || n > HEADER_MAX)
            b->bad = 1, n = 0;
        skip(b, padded(n * width));
    }
}

struct shape {
    long dims[DIMS_MAX], ndims; /* a length of 0: the records */
    long records;               /* -1: as many as the file holds */
    long record_bytes, record_end;
    int record_variables;
};

/* Bytes of a variable from its dimensions, of a record if it has records. */
static long variable_bytes(struct bytes *b, const struct shape *s, int *has_records) {
    long size = 1, rank = number(b, b->count);
    *has_records = 0;
    if (rank < 0 || rank > DIMS_MAX) /* negative here is huge to the library */
        b->bad = 1;
    for (long i = 0; i < rank && !b->bad; i++) {
        long d = number(b, b->count);
        if (d < 0 || d >= s->ndims || (s->dims[d] == 0 && i > 0))
            b->bad = 1;
        else if (s->dims[d] == 0)
            *has_records = 1;
        else if (count_times(size, s->dims[d], &size))
            b->bad = 1;
    }
    return size;
}

static void variables(struct bytes *b, struct shape *s, const char *var, struct fio_layout *l) {
    for (long i = list_length(b, TAG_VAR); i > 0 && !b->bad; i--) {
        int found = name_is(b, var), in_records;
        long bytes = variable_bytes(b, s, &in_records), end = 0;
        attributes(b);
        if (count_times(bytes, type_width(number(b, 4)), &bytes) || bytes <= 0)
            b->bad = 1;
        number(b, b->count); /* the size again, padded */
        long begin = number(b, b->offset);
        if (count_plus(begin, bytes, &end) || end > INT64_MAX / 2)
            b->bad = 1;
        if (b->bad)
            return;
        if (found)
            l->begin = begin, l->bytes = bytes;
        if (in_records) {
            s->record_variables++;
            s->record_end = end > s->record_end ? end : s->record_end;
            if (count_plus(s->record_bytes, padded(bytes), &s->record_bytes))
                b->bad = 1;
        } else if (end > l->least) {
            l->least = end;
            l->total = padded(end);
        }
    }
}

/* Records lie one after the other behind all else; a single variable's are not padded. */
static void add_records(struct bytes *b, const struct shape *s, struct fio_layout *l) {
    long rest;
    if (b->bad || !s->record_variables || s->records <= 0)
        return;
    if (s->record_variables == 1)
        return; /* packed without padding: what is missing reads as zeros, which the readers refuse */
    if (count_times(s->records - 1, s->record_bytes, &rest) || count_plus(rest, s->record_end, &rest) ||
        rest > INT64_MAX / 2)
        b->bad = 1;
    else if (rest > l->total)
        l->least = l->total = rest;
}

static void parse(struct bytes *b, const char *var, struct fio_layout *l) {
    struct shape s = {.ndims = 0};
    long magic = number(b, 4), kind = magic & 255;
    if (magic >> 8 != 0x434446 || (kind != 1 && kind != 2 && kind != 5))
        b->bad = 1;
    b->count = kind == 5 ? 8 : 4;
    b->offset = kind == 1 ? 4 : 8;
    l->kind = (int)kind;
    s.records = number(b, b->count);
    if (b->count == 4 && s.records == 0xffffffff)
        s.records = -1;
    l->records = s.records;
    s.ndims = list_length(b, TAG_DIM);
    if (s.ndims > DIMS_MAX)
        b->bad = 1;
    for (long i = 0; i < s.ndims && !b->bad; i++) {
        name_is(b, NULL);
        s.dims[i] = number(b, b->count);
        if (s.dims[i] < 0)
            b->bad = 1;
        if (s.dims[i] == 0)
            l->records |= 1; /* whether or not it has any yet */
    }
    attributes(b);
    if (!b->bad)
        variables(b, &s, var, l);
    add_records(b, &s, l);
    l->header = b->at;
}

static int slurp(const char *path, long most, unsigned char **bytes, long *n, long *file_bytes) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    REQUIRE(fd >= 0, "cannot read '%s': %s", path, strerror(errno));
    *file_bytes = fstat(fd, &st) ? 0 : st.st_size;
    close(fd);
    *n = *file_bytes < most ? *file_bytes : most;
    *bytes = malloc(*n + 1);
    REQUIRE(*bytes, "out of memory for the header of '%s' (%ld bytes)", path, *n);
    if (file_read_bytes(path, 0, *n, (char *)*bytes))
        return free(*bytes), 1;
    return 0;
}

/* A header is small, so its first megabyte is tried before all that a header may have. */
static int layout_and_size(const char *path, const char *var, struct fio_layout *layout, long *file_bytes) {
    struct bytes b = {.bad = 1};
    for (long most = 1 << 20; b.bad && most <= HEADER_MAX; most *= HEADER_MAX >> 20) {
        unsigned char *head;
        long n;
        TRY(slurp(path, most, &head, &n, file_bytes));
        b = (struct bytes){.p = head, .n = n};
        *layout = (struct fio_layout){.begin = -1};
        parse(&b, var, layout);
        free(head);
    }
    REQUIRE(!b.bad, "'%s' is damaged, or not NetCDF: its header does not read near byte %ld of %ld", path, b.at,
            *file_bytes);
    return 0;
}

int fio_classic_check(const char *path) {
    struct fio_layout l;
    char magic[4] = "";
    long bytes;
    TRY(file_size(path, &bytes));
    if (bytes >= 4)
        TRY(file_read_bytes(path, 0, 4, magic));
    if (memcmp(magic, "CDF", 3) || (magic[3] != 1 && magic[3] != 2 && magic[3] != 5))
        return 0;
    TRY(layout_and_size(path, NULL, &l, &bytes));
    REQUIRE(bytes >= l.least, "'%s' was cut short: it has %ld bytes, its header says %ld", path, bytes, l.least);
    return 0;
}

int fio_layout_read(const char *path, const char *var, struct fio_layout *layout) {
    long file_bytes;
    return layout_and_size(path, var, layout, &file_bytes);
}

/* CRC-32 of the first n bytes of a file. */
static int head_crc(const char *path, long n, long *crc) {
    enum { BLOCK = 1 << 20 };
    char *block = malloc(BLOCK);
    REQUIRE(block, "out of memory for the checksum of '%s'", path);
    int failed = 0;
    *crc = 0;
    for (long at = 0; at < n && !failed; at += BLOCK) {
        long now = n - at < BLOCK ? n - at : BLOCK;
        failed = file_read_bytes(path, at, now, block);
        if (!failed)
            *crc = crc32_bytes(*crc, now, block);
    }
    free(block);
    return failed;
}

static int stored(const char *path, const char *var, int width, long *begin, long *value, struct fio_layout *l,
                  long *file_bytes) {
    unsigned char raw[8];
    TRY(layout_and_size(path, var, l, file_bytes));
    REQUIRE(l->kind == 5 && !l->records, "'%s' is no file of gathers: it is NetCDF, but not CDF-5 without records",
            path);
    REQUIRE(l->begin >= 0 && l->bytes == width, "'%s' is damaged, or no file of gathers: it has no variable %s", path,
            var);
    REQUIRE(*file_bytes == l->total || (l->total < SMALLEST && *file_bytes == SMALLEST),
            "'%s' is damaged: it has %ld bytes, its header says %ld", path, *file_bytes, l->total);
    TRY(file_read_bytes(path, l->begin, width, (char *)raw));
    struct bytes b = {.p = raw, .n = width};
    *value = number(&b, width);
    *begin = l->begin;
    return 0;
}

int fio_header_check(const char *path) {
    struct fio_layout l;
    long begin, crc_begin, n, crc, found, file_bytes;
    TRY(stored(path, "header_bytes", 8, &begin, &n, &l, &file_bytes));
    TRY(stored(path, "header_crc32", 4, &crc_begin, &crc, &l, &file_bytes));
    REQUIRE(n == begin, "'%s' is damaged: header_bytes is %ld, must be %ld", path, n, begin);
    TRY(head_crc(path, n, &found));
    REQUIRE(found == crc, "'%s' is damaged: the checksum of its first %ld bytes is %08lx, must be %08lx", path, n,
            found, crc);
    return 0;
}

/* A writer that was killed may leave the file longer by a block of the library's. Only under a header that is whole
 * does its length say where to cut; anything else is for fio_header_check to tell. */
int fio_unstretch(const char *path) {
    struct fio_layout l, sum;
    unsigned char raw[4];
    long file_bytes, found;
    if (layout_and_size(path, "header_bytes", &l, &file_bytes) ||
        layout_and_size(path, "header_crc32", &sum, &file_bytes))
        return 0;
    if (file_bytes <= l.total || file_bytes > l.total + FIO_STRETCH || l.begin < l.header || sum.bytes != 4)
        return 0;
    if (file_read_bytes(path, sum.begin, 4, (char *)raw) || head_crc(path, l.begin, &found))
        return 0;
    struct bytes b = {.p = raw, .n = 4};
    return found == number(&b, 4) ? file_cut(path, l.total) : 0;
}

/* The length and checksum to store in header_bytes and header_crc32 (used by fio_header_checksum), and where these
 * end. */
int fio_header_sum(const char *path, long *n, long *crc, long *fixed, long *total) {
    struct fio_layout l, sum;
    TRY(fio_layout_read(path, "header_bytes", &l));
    TRY(fio_layout_read(path, "header_crc32", &sum));
    REQUIRE(l.begin >= l.header, "'%s' has no variable header_bytes behind its header", path);
    *n = l.begin;
    *fixed = sum.begin + sum.bytes;
    *total = l.total;
    return head_crc(path, l.begin, crc);
}
