/* The CDF-5 header, read byte by byte with every length checked: damaged files must give a sentence, not a crash. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "err.h"
#include "fio.h"
#include "iface.h"

enum { HEADER_MAX = 1 << 26, TAG_DIM = 10, TAG_VAR = 11, TAG_ATT = 12 };

struct bytes {
    const unsigned char *p;
    long n, at;
    int bad;
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
    long t = number(b, 4), n = number(b, 8);
    if (n < 0 || n > b->n || (t != tag && (t || n)))
        b->bad = 1;
    return b->bad ? 0 : n;
}

static int name_is(struct bytes *b, const char *name) {
    long n = number(b, 8), at = b->at;
    if (n < 0 || n > HEADER_MAX)
        b->bad = 1, n = 0;
    skip(b, padded(n));
    return !b->bad && name && (long)strlen(name) == n && !memcmp(b->p + at, name, n);
}

static void attributes(struct bytes *b) {
    for (long i = list_length(b, TAG_ATT); i > 0 && !b->bad; i--) {
        name_is(b, NULL);
        int width = type_width(number(b, 4));
        long n = number(b, 8);
        if (!width || n < 0 || n > HEADER_MAX)
            b->bad = 1, n = 0;
        skip(b, padded(n * width));
    }
}

/* Bytes of a variable from its dimensions. */
static long variable_bytes(struct bytes *b, const long *dims, long ndims) {
    long size = 1;
    for (long rank = number(b, 8); rank > 0 && !b->bad; rank--) {
        long d = number(b, 8);
        if (d < 0 || d >= ndims || __builtin_mul_overflow(size, dims[d], &size))
            b->bad = 1;
    }
    return size;
}

static void variables(struct bytes *b, const long *dims, long ndims, const char *var, struct fio_layout *l) {
    for (long i = list_length(b, TAG_VAR); i > 0 && !b->bad; i--) {
        int found = name_is(b, var);
        long bytes = variable_bytes(b, dims, ndims), end = 0;
        attributes(b);
        if (__builtin_mul_overflow(bytes, (long)type_width(number(b, 4)), &bytes) || bytes <= 0)
            b->bad = 1;
        number(b, 8); /* the size again, padded */
        long begin = number(b, 8);
        if (begin < 0 || __builtin_add_overflow(begin, bytes, &end) || end > INT64_MAX - 3)
            b->bad = 1;
        if (b->bad)
            return;
        if (padded(end) > l->total)
            l->total = padded(end);
        if (found)
            l->begin = begin, l->bytes = bytes;
    }
}

static void parse(struct bytes *b, const char *var, struct fio_layout *l) {
    if (number(b, 4) != 0x43444605 || number(b, 8) != 0)
        b->bad = 1; /* "CDF\5", no records */
    long ndims = list_length(b, TAG_DIM);
    if (ndims > 1024)
        b->bad = 1;
    long dims[1024];
    for (long i = 0; i < ndims && !b->bad; i++) {
        name_is(b, NULL);
        dims[i] = number(b, 8);
        if (dims[i] <= 0)
            b->bad = 1;
    }
    attributes(b);
    if (!b->bad)
        variables(b, dims, ndims, var, l);
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
    struct bytes b = {NULL, 0, 0, 1};
    for (long most = 1 << 20; b.bad && most <= HEADER_MAX; most *= HEADER_MAX >> 20) {
        unsigned char *head;
        long n;
        TRY(slurp(path, most, &head, &n, file_bytes));
        b = (struct bytes){head, n, 0, 0};
        *layout = (struct fio_layout){0, 0, -1, 0};
        parse(&b, var, layout);
        free(head);
    }
    REQUIRE(!b.bad, "'%s' is damaged, or no file of gathers: its header does not read as CDF-5 near byte %ld of %ld",
            path, b.at, *file_bytes);
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
    REQUIRE(l->begin >= 0 && l->bytes == width, "'%s' is damaged, or no file of gathers: it has no variable %s", path,
            var);
    REQUIRE(*file_bytes == l->total, "'%s' is damaged: it has %ld bytes, its header says %ld", path, *file_bytes,
            l->total);
    TRY(file_read_bytes(path, l->begin, width, (char *)raw));
    struct bytes b = {raw, width, 0, 0};
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
    struct fio_layout l, seal;
    unsigned char raw[4];
    long file_bytes, found;
    if (layout_and_size(path, "header_bytes", &l, &file_bytes) ||
        layout_and_size(path, "header_crc32", &seal, &file_bytes))
        return 0;
    if (file_bytes <= l.total || file_bytes > l.total + FIO_STRETCH || l.begin < l.header || seal.bytes != 4)
        return 0;
    if (file_read_bytes(path, seal.begin, 4, (char *)raw) || head_crc(path, l.begin, &found))
        return 0;
    struct bytes b = {raw, 4, 0, 0};
    return found == number(&b, 4) ? file_cut(path, l.total) : 0;
}

/* The length and checksum to store in header_bytes and header_crc32 (used by fio_header_seal). */
int fio_header_sum(const char *path, long *n, long *crc, long *total) {
    struct fio_layout l;
    TRY(fio_layout_read(path, "header_bytes", &l));
    REQUIRE(l.begin >= l.header, "'%s' has no variable header_bytes behind its header", path);
    *n = l.begin;
    *total = l.total;
    return head_crc(path, l.begin, crc);
}
