/* NetCDF by names. The only file that calls the NetCDF library. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <limits.h>
#include <netcdf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counts.h"
#include "err.h"
#include "files.h"
#include "fio.h"
#include "iface.h"

struct fio {
    int ncid;
    int fd;                  /* a descriptor of our own, for fsync: the library has no call for it */
    int named;               /* numbers of files mean something on this file system */
    long total;              /* bytes of the file by its header, where it is open for writing; else 0 */
    struct fio_tally *tally; /* it is only counted, nothing is made; else NULL */
    char path[];
};

/*
 * Bytes the library reads and writes at once. It rewrites whole blocks around the few bytes of a slot that change, so
 * large ones cost small gathers dear and rewrite the slots of others; small ones make more writes of a large gather.
 * Measured 2026-11-21, ext4, SplFd2dmod: I/O of 2000 gathers of 50 bytes 2.4, 2.0, 1.55, 1.45 s and of 40 gathers of 4
 * MB 0.95, 0.85, 0.8, 0.9 s for 256, 64, 16, 8 KiB.
 */
static size_t io_bytes = 1 << 14;

#define NC(call, ...)                                                                                                  \
    do {                                                                                                               \
        int nc_rc = (call);                                                                                            \
        if (nc_rc != NC_NOERR)                                                                                         \
            return nc_fail(handle, nc_rc, __VA_ARGS__);                                                                \
    } while (0)

static int nc_fail(const struct fio *f, int rc, const char *doing, const char *what) {
    return err_set("cannot %s %s of '%s': %s", doing, what, f->path, nc_strerror(rc));
}

static int type_of(const char *word) {
    static const struct {
        const char *word;
        int type;
    } types[] = {{"float", NC_FLOAT}, {"double", NC_DOUBLE}, {"int", NC_INT},  {"int64", NC_INT64},
                 {"uint", NC_UINT},   {"byte", NC_BYTE},     {"char", NC_CHAR}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(word, types[i].word))
            return types[i].type;
    return NC_NAT;
}

static int type_width(int type) {
    static const int width[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return type >= NC_BYTE && type <= NC_UINT64 ? width[type] : 0;
}

static struct fio *new_handle(const char *path) {
    struct fio *f = malloc(sizeof *f + strlen(path) + 1);
    if (!f)
        return err_set("out of memory for the name '%s'", path), NULL;
    strcpy(f->path, path);
    f->ncid = f->fd = -1;
    f->total = 0;
    f->tally = NULL;
    return f;
}

static void *opened(struct fio *f, int rc, const char *doing) {
    if (rc != NC_NOERR) {
        f->ncid = -1;
        err_set("cannot %s '%s': %s", doing, f->path, nc_strerror(rc));
    } else {
        f->fd = open(f->path, O_RDONLY | O_CLOEXEC);
        f->named = f->fd >= 0 && !file_same(f->path, f->fd);
        if (f->fd >= 0)
            return f;
        err_set("cannot %s '%s': %s", doing, f->path, strerror(errno));
    }
    if (f->ncid >= 0)
        nc_close(f->ncid);
    free(f);
    return NULL;
}

void *fio_tally(void) {
    struct fio *f = new_handle("what is to be made");
    if (f && !(f->tally = fio_tally_new())) {
        free(f);
        return NULL;
    }
    return f;
}

double fio_tally_bytes(void *handle) { return fio_tally_total(((struct fio *)handle)->tally); }

void *fio_create(const char *path) {
    file_limit_is_error();
    if (file_remove(path)) /* and made exclusively: a link that somebody left under this name is not followed */
        return NULL;
    struct fio *f = new_handle(path);
    if (!f)
        return NULL;
    size_t bytes = io_bytes;
    int rc = nc__create(path, NC_NOCLOBBER | NC_64BIT_DATA, 0, &bytes, &f->ncid), old;
    if (rc == NC_NOERR)
        rc = nc_set_fill(f->ncid, NC_NOFILL, &old);
    return opened(f, rc, "create");
}

void *fio_open(const char *path, int writable) {
    long file_bytes; /* the library's words for a missing file or a folder are poorer than ours */
    if (file_size(path, &file_bytes) || fio_classic_check(path))
        return NULL;
    if (writable)
        file_limit_is_error();
    struct fio *f = new_handle(path);
    if (!f)
        return NULL;
    size_t bytes = io_bytes;
    int old, rc = nc__open(path, writable ? NC_WRITE : NC_NOWRITE, &bytes, &f->ncid);
    if (rc == NC_NOERR && writable)
        rc = nc_set_fill(f->ncid, NC_NOFILL, &old);
    struct fio_layout layout;
    if (writable && !fio_layout_read(path, NULL, &layout))
        f->total = layout.total;
    return opened(f, rc, writable ? "open for writing" : "read");
}

/* The library writes whole blocks, beyond the end of the file too; what it puts there is cut off again. */
static int unstretch(const struct fio *f) {
    struct stat st;
    if (!f->total || fstat(f->fd, &st) || st.st_size <= f->total)
        return 0;
    return file_cut(f->path, f->total);
}

int fio_close(void *handle) {
    struct fio *f = handle;
    if (!f)
        return 0;
    if (f->tally) {
        free(f->tally);
        free(f);
        return 0;
    }
    int rc = nc_close(f->ncid);
    if (rc == NC_NOERR)
        unstretch(f);
    if (rc != NC_NOERR)
        err_set("cannot close '%s': %s", f->path, nc_strerror(rc));
    close(f->fd);
    free(f);
    return rc != NC_NOERR;
}

/*
 * After a write that failed half-way the library's notion of its place in the file is wrong (posixio.c counts a write
 * only when all of it went well), so what it still holds would go over other gathers when it is closed. It is given a
 * place where that does no harm.
 */
int fio_abandon(void *handle) {
    struct fio *f = handle;
    if (!f)
        return 0;
    struct stat ours, other;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    DIR *fds = fstat(f->fd, &ours) ? NULL : opendir("/proc/self/fd");
    for (struct dirent *entry = fds ? readdir(fds) : NULL; entry && nowhere >= 0; entry = readdir(fds)) {
        long fd;
        if (count_read(entry->d_name, 0, INT_MAX, NULL, &fd) || fd == f->fd || fstat((int)fd, &other) ||
            other.st_ino != ours.st_ino || other.st_dev != ours.st_dev ||
            (fcntl((int)fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
            continue;
        dup2(nowhere, (int)fd);
    }
    if (fds)
        closedir(fds);
    if (nowhere >= 0)
        close(nowhere);
    return fio_close(handle);
}

int fio_flush(void *handle) {
    struct fio *f = handle;
    NC(nc_sync(f->ncid), "write", "the data");
    return unstretch(f);
}

int fio_sync(void *handle) {
    struct fio *f = handle;
    TRY(fio_flush(handle));
    REQUIRE(fsync(f->fd) == 0, "cannot force '%s' onto the disk: %s", f->path, strerror(errno));
    return f->named ? file_same(f->path, f->fd) : 0;
}

/* --- definitions --------------------------------------------------------------------- */

int fio_enddef(void *handle) {
    if (((struct fio *)handle)->tally)
        return 0;
    NC(nc_enddef(((struct fio *)handle)->ncid), "end", "the header");
    return 0;
}

int fio_dim(void *handle, const char *name, long length) {
    int id;
    REQUIRE(length > 0, "dimension %s of '%s' has length %ld, must be 1 or more", name, ((struct fio *)handle)->path,
            length);
    if (((struct fio *)handle)->tally)
        return fio_tally_dim(((struct fio *)handle)->tally, name, length);
    NC(nc_def_dim(((struct fio *)handle)->ncid, name, (size_t)length, &id), "define dimension", name);
    return 0;
}

int fio_var(void *handle, const char *name, const char *type, const char *dims) {
    int ids[NC_MAX_VAR_DIMS > 8 ? 8 : NC_MAX_VAR_DIMS], rank = 0, id, ncid = ((struct fio *)handle)->ncid;
    if (((struct fio *)handle)->tally)
        return fio_tally_var(((struct fio *)handle)->tally, name, type_width(type_of(type)), dims);
    char words[256], *save = NULL;
    REQUIRE(strlen(dims) < sizeof words, "too many dimensions for variable %s: %s", name, dims);
    strcpy(words, dims);
    for (char *d = strtok_r(words, " ", &save); d; d = strtok_r(NULL, " ", &save)) {
        REQUIRE(rank < 8, "too many dimensions for variable %s: %s", name, dims);
        NC(nc_inq_dimid(ncid, d, &ids[rank++]), "find dimension", d);
    }
    NC(nc_def_var(ncid, name, type_of(type), rank, ids, &id), "define variable", name);
    return 0;
}

static int var_id(void *handle, const char *var, int *id) {
    *id = NC_GLOBAL;
    if (var[0])
        NC(nc_inq_varid(((struct fio *)handle)->ncid, var, id), "find variable", var);
    return 0;
}

int fio_text(void *handle, const char *var, const char *name, const char *text) {
    int id;
    if (((struct fio *)handle)->tally) {
        fio_tally_attribute(((struct fio *)handle)->tally, name, 1, (long)strlen(text));
        return 0;
    }
    TRY(var_id(handle, var, &id));
    NC(nc_put_att_text(((struct fio *)handle)->ncid, id, name, strlen(text), text), "put attribute", name);
    return 0;
}

int fio_numbers(void *handle, const char *var, const char *name, const char *type, int n, const double *values) {
    int id;
    if (((struct fio *)handle)->tally) {
        fio_tally_attribute(((struct fio *)handle)->tally, name, type_width(type_of(type)), n);
        return 0;
    }
    TRY(var_id(handle, var, &id));
    /* NaN as float: converting it inside the library would trap where floating-point traps are on */
    if (n == 1 && type_of(type) == NC_FLOAT) {
        float value = (float)values[0];
        NC(nc_put_att_float(((struct fio *)handle)->ncid, id, name, NC_FLOAT, 1, &value), "put attribute", name);
        return 0;
    }
    NC(nc_put_att_double(((struct fio *)handle)->ncid, id, name, type_of(type), (size_t)n, values), "put attribute",
       name);
    return 0;
}

/* --- data ---------------------------------------------------------------------------- */

enum { RANK_MAX = 8 };

static int block(void *handle, const char *var, const long *start, const long *count, int *id, size_t *s, size_t *c,
                 size_t *n) {
    int rank;
    *n = 1; /* numbers in it */
    TRY(var_id(handle, var, id));
    NC(nc_inq_varndims(((struct fio *)handle)->ncid, *id, &rank), "ask", var);
    REQUIRE(rank <= RANK_MAX, "variable %s of '%s' has %d dimensions, at most %d are understood", var,
            ((struct fio *)handle)->path, rank, RANK_MAX);
    for (int i = 0; i < rank; i++)
        s[i] = (size_t)start[i], c[i] = (size_t)count[i], *n *= c[i];
    return 0;
}

/* The library converts numbers of files as they are, signalling NaNs too: nothing to trap at, the caller looks at them.
 */
#define UNTRAPPED(call)                                                                                                \
    fenv_t traps;                                                                                                      \
    feholdexcept(&traps);                                                                                              \
    int rc = (call);                                                                                                   \
    fesetenv(&traps)

/* NaNs that come from a file are made quiet, told by their bits: looking at one must not trap. `width`: 4 or 8 bytes of
 * a real number, 0 for what is none. */
static void make_quiet(int width, size_t n, void *values) {
    char *at = values;
    for (size_t i = 0; i < n && width == 4; i++, at += 4) {
        uint32_t u;
        memcpy(&u, at, sizeof u);
        u |= (u & 0x7fffffffu) > 0x7f800000u ? 0x00400000u : 0;
        memcpy(at, &u, sizeof u);
    }
    for (size_t i = 0; i < n && width == 8; i++, at += 8) {
        uint64_t u;
        memcpy(&u, at, sizeof u);
        u |= (u & 0x7fffffffffffffffu) > 0x7ff0000000000000u ? 0x0008000000000000u : 0;
        memcpy(at, &u, sizeof u);
    }
}

#define PUT_GET(name, ctype, nctype, real)                                                                             \
    int fio_put_##name(void *handle, const char *var, const long *start, const long *count, const ctype *values) {     \
        int id;                                                                                                        \
        size_t s[RANK_MAX], c[RANK_MAX], n;                                                                            \
        TRY(block(handle, var, start, count, &id, s, c, &n));                                                          \
        NC(nc_put_vara_##nctype(((struct fio *)handle)->ncid, id, s, c, values), "write variable", var);               \
        return 0;                                                                                                      \
    }                                                                                                                  \
    int fio_get_##name(void *handle, const char *var, const long *start, const long *count, ctype *values) {           \
        int id;                                                                                                        \
        size_t s[RANK_MAX], c[RANK_MAX], n;                                                                            \
        TRY(block(handle, var, start, count, &id, s, c, &n));                                                          \
        UNTRAPPED(nc_get_vara_##nctype(((struct fio *)handle)->ncid, id, s, c, values));                               \
        NC(rc, "read variable", var);                                                                                  \
        make_quiet(real, n, values);                                                                                   \
        return 0;                                                                                                      \
    }
PUT_GET(floats, float, float, 4)
PUT_GET(doubles, double, double, 8)
PUT_GET(longs, long, long, 0)
PUT_GET(text, char, text, 0)

/* --- questions ----------------------------------------------------------------------- */

int fio_dim_length(void *handle, const char *name, long *length) {
    int id;
    size_t n;
    NC(nc_inq_dimid(((struct fio *)handle)->ncid, name, &id), "find dimension", name);
    NC(nc_inq_dimlen(((struct fio *)handle)->ncid, id, &n), "ask dimension", name);
    *length = (long)n;
    return 0;
}

int fio_var_count(void *handle) {
    int n = 0;
    return nc_inq_nvars(((struct fio *)handle)->ncid, &n) == NC_NOERR ? n : 0;
}

int fio_var_name(void *handle, int i, char *name) {
    NC(nc_inq_varname(((struct fio *)handle)->ncid, i, name), "ask", "the name of a variable");
    return 0;
}

int fio_var_rank(void *handle, const char *var) {
    int id, rank, ncid = ((struct fio *)handle)->ncid;
    if (nc_inq_varid(ncid, var, &id) != NC_NOERR || nc_inq_varndims(ncid, id, &rank) != NC_NOERR)
        return -1;
    return rank;
}

int fio_var_dim(void *handle, const char *var, int i, char *name, long *length) {
    int id, rank, dims[NC_MAX_VAR_DIMS], ncid = ((struct fio *)handle)->ncid;
    size_t n;
    TRY(var_id(handle, var, &id));
    NC(nc_inq_varndims(ncid, id, &rank), "ask", var);
    REQUIRE(i >= 0 && i < rank, "variable %s has no dimension %d", var, i);
    NC(nc_inq_vardimid(ncid, id, dims), "ask", var);
    NC(nc_inq_dim(ncid, dims[i], name, &n), "ask the dimensions of", var);
    *length = (long)n;
    return 0;
}

int fio_var_type(void *handle, const char *var) {
    int id, type, ncid = ((struct fio *)handle)->ncid;
    if (nc_inq_varid(ncid, var, &id) != NC_NOERR || nc_inq_vartype(ncid, id, &type) != NC_NOERR)
        return 0;
    return type == NC_CHAR ? 0 : type_width(type);
}

/* NetCDF-4 files may hold their texts as strings instead of characters. */
static long string_attribute(int ncid, int id, const char *name, long n, char *text) {
    char *string = NULL;
    if (nc_get_att_string(ncid, id, name, &string) != NC_NOERR)
        return -1;
    long length = string ? (long)strlen(string) : 0;
    if (length)
        memcpy(text, string, length < n ? length : n);
    nc_free_string(1, &string);
    return length;
}

long fio_get_att_text(void *handle, const char *var, const char *name, long n, char *text) {
    int id = NC_GLOBAL, type, ncid = ((struct fio *)handle)->ncid;
    size_t length;
    if (var[0] && nc_inq_varid(ncid, var, &id) != NC_NOERR)
        return -1;
    if (nc_inq_att(ncid, id, name, &type, &length) != NC_NOERR)
        return -1;
    if (type == NC_STRING && length == 1)
        return string_attribute(ncid, id, name, n, text);
    if (type != NC_CHAR)
        return -1;
    char *whole = malloc(length + 1);
    if (!whole)
        return -1;
    int rc = nc_get_att_text(ncid, id, name, whole);
    if (rc == NC_NOERR)
        memcpy(text, whole, (long)length < n ? (long)length : n);
    free(whole);
    return rc == NC_NOERR ? (long)length : -1;
}

int fio_get_att_number(void *handle, const char *var, const char *name, double *value) {
    int id = NC_GLOBAL, type, ncid = ((struct fio *)handle)->ncid;
    size_t length;
    *value = 0;
    if (var[0] && nc_inq_varid(ncid, var, &id) != NC_NOERR)
        return 0;
    if (nc_inq_att(ncid, id, name, &type, &length) != NC_NOERR || length != 1 || type == NC_CHAR)
        return 0;
    UNTRAPPED(nc_get_att_double(ncid, id, name, value));
    make_quiet(8, 1, value);
    return rc == NC_NOERR;
}

/* --- checksums ----------------------------------------------------------------------- */

/* CRC-32 of n numbers of `width` bytes as they stand on disk: big-endian, so swapped here. */
static long crc_numbers(long crc, long n, int width, const void *values) {
    enum { BLOCK = 4096 };
    char swapped[BLOCK * 8];
    if (width == 1)
        return crc32_bytes(crc, n, values);
    for (long done = 0; done < n; done += BLOCK) {
        long now = n - done < BLOCK ? n - done : BLOCK;
        const char *from = (const char *)values + done * width;
        for (long i = 0; i < now; i++)
            for (int k = 0; k < width; k++)
                swapped[i * width + k] = from[i * width + width - 1 - k];
        crc = crc32_bytes(crc, now * width, swapped);
    }
    return crc;
}

long fio_crc_floats(long crc, long n, const float *values) { return crc_numbers(crc, n, 4, values); }

int fio_crc_slot(void *handle, const char *var, long slot, long *crc) {
    int id, rank, type, dims[NC_MAX_VAR_DIMS], ncid = ((struct fio *)handle)->ncid;
    size_t start[RANK_MAX] = {0}, count[RANK_MAX];
    long n = 1, bytes = 0;
    TRY(var_id(handle, var, &id));
    NC(nc_inq_var(ncid, id, NULL, &type, &rank, dims, NULL), "ask", var);
    REQUIRE(rank <= RANK_MAX && type_width(type), "variable %s of '%s' is not one of ours", var,
            ((struct fio *)handle)->path);
    for (int i = 0; i < rank; i++) {
        NC(nc_inq_dimlen(ncid, dims[i], &count[i]), "ask the dimensions of", var);
        if (i == 0 && slot >= 0)
            start[0] = (size_t)slot, count[0] = 1;
        REQUIRE(!count_times(n, (long)count[i], &n), "variable %s of '%s' is too large", var,
                ((struct fio *)handle)->path);
    }
    void *values = count_times(n, type_width(type), &bytes) ? NULL : malloc((size_t)bytes + 1);
    REQUIRE(values, "out of memory to check variable %s of '%s' (%ld numbers)", var, ((struct fio *)handle)->path, n);
    int rc = nc_get_vara(ncid, id, start, count, values);
    if (rc == NC_NOERR)
        *crc = crc_numbers(*crc, n, type_width(type), values);
    free(values);
    NC(rc, "read variable", var);
    return 0;
}

int fio_header_checksum(void *handle, long *bytes) {
    long n, crc, zero = 0;
    TRY(fio_sync(handle));
    TRY(fio_header_sum(((struct fio *)handle)->path, &n, &crc, bytes));
    TRY(fio_put_longs(handle, "header_bytes", &zero, &zero, &n));
    return fio_put_longs(handle, "header_crc32", &zero, &zero, &crc);
}
