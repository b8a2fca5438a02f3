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
#include "fio_slots.h"
#include "iface.h"

enum { RANK_MAX = 8, PLACES = 64 };
/* Chunks of a variable that NetCDF-4 keeps, as by default in 4.9.0; 4.9.3 would keep 64 MB, of each variable. */
enum { CHUNKS_BYTES = 16 << 20, CHUNKS = 4133 };

/* The place of a variable in a CDF-5 file. */
struct place {
    char name[32];
    enum fio_kind kind;
    int rank;
    long dims[RANK_MAX], begin;
};

struct fio {
    int ncid;
    int fd;                  /* a descriptor of our own, for fsync: the library has no call for it */
    int named;               /* numbers of files mean something on this file system */
    int direct;              /* what is put goes to its place by `fd`, past the library, which only reads */
    struct fio_tally *tally; /* it is only counted, nothing is made; else NULL */
    int places;
    struct place place[PLACES]; /* those that were asked for */
    struct fio_uncached uncached;
    char path[];
};

static size_t io_bytes = 1 << 14; /* that the library reads and writes at once */

#define NC(call, ...)                                                                                                  \
    do {                                                                                                               \
        int nc_rc = (call);                                                                                            \
        if (nc_rc != NC_NOERR)                                                                                         \
            return nc_fail(handle, nc_rc, __VA_ARGS__);                                                                \
    } while (0)

static int nc_fail(const struct fio *f, int rc, const char *doing, const char *what) {
    const char *cure =
        rc == EFBIG ? " for ulimit -f, or for its file system: raise the limit, or choose another disk" : "";
    return err_set("cannot %s %s of '%s': %s%s", doing, what, f->path, nc_strerror(rc), cure);
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
    f->direct = f->places = 0;
    f->uncached = (struct fio_uncached){.fd = -1};
    f->tally = NULL;
    return f;
}

static void *opened(struct fio *f, int rc, const char *doing) {
    if (rc != NC_NOERR) {
        f->ncid = -1;
        err_set("cannot %s '%s': %s", doing, f->path, nc_strerror(rc));
    } else {
        f->fd = open(f->path, (f->direct ? O_RDWR : O_RDONLY) | O_CLOEXEC);
        f->named = f->fd >= 0 && !file_same(f->path, f->fd);
        if (f->direct && f->named)
            f->uncached = fio_uncached_open(f->path, f->fd);
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
    /* Later numbers go past the library, so it must keep no bytes of the file: NC_SHARE */
    f->direct = writable;
    size_t bytes = io_bytes;
    nc_set_chunk_cache(CHUNKS_BYTES, CHUNKS, 0.75f);
    int rc = nc__open(path, writable ? NC_SHARE : NC_NOWRITE, &bytes, &f->ncid);
    return opened(f, rc, writable ? "open for writing" : "read");
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
    if (rc != NC_NOERR)
        err_set("cannot close '%s': %s", f->path, nc_strerror(rc));
    close(f->fd);
    fio_uncached_close(&f->uncached);
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

int fio_sync(void *handle) {
    struct fio *f = handle;
    if (!f->direct)
        NC(nc_sync(f->ncid), "write", "the data");
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

static enum fio_kind kind_of(int type) {
    return type == NC_DOUBLE  ? FIO_DOUBLE
           : type == NC_FLOAT ? FIO_FLOAT
           : type == NC_INT64 ? FIO_INT64
           : type == NC_UINT  ? FIO_UINT
           : type == NC_INT   ? FIO_INT
                              : FIO_CHAR;
}

/* The place of a variable, which never moves; NULL on failure. */
static const struct place *place_of(struct fio *f, const char *var) {
    for (int i = 0; i < f->places; i++)
        if (!strcmp(f->place[i].name, var))
            return &f->place[i];
    struct place p = {.rank = 0};
    struct fio_layout l;
    int id, type, dims[NC_MAX_VAR_DIMS], rc = nc_inq_varid(f->ncid, var, &id);
    if (rc == NC_NOERR)
        rc = nc_inq_var(f->ncid, id, NULL, &type, &p.rank, dims, NULL);
    if (rc != NC_NOERR)
        return nc_fail(f, rc, "find variable", var), NULL;
    if (fio_layout_read(f->path, var, &l))
        return NULL;
    const int known = p.rank <= RANK_MAX && (type == NC_CHAR || kind_of(type) != FIO_CHAR);
    if (!known || l.kind != 5 || l.records || strlen(var) >= sizeof p.name || f->places == PLACES)
        return err_set("variable %s of '%s' is not one of ours", var, f->path), NULL;
    for (int i = 0; i < p.rank; i++) {
        size_t length;
        if ((rc = nc_inq_dimlen(f->ncid, dims[i], &length)) != NC_NOERR)
            return nc_fail(f, rc, "ask the dimensions of", var), NULL;
        p.dims[i] = (long)length;
    }
    strcpy(p.name, var);
    p.kind = kind_of(type), p.begin = l.begin;
    f->place[f->places] = p;
    return &f->place[f->places++];
}

/* Finds a block that lies in one piece: of a dimension behind one that has several, all. `takes`: the kinds that the
 * caller's numbers can become. `at`: its first byte; `n`: the numbers in it. */
static int find_block(struct fio *f, const char *var, const long *start, const long *count, unsigned takes,
                      const struct place **place, long *at, long *n) {
    const struct place *p = *place = place_of(f, var);
    TRY(!p);
    REQUIRE(takes >> p->kind & 1, "variable %s of '%s' holds numbers of another kind", var, f->path);
    *at = 0, *n = 1;
    for (int i = 0; i < p->rank; i++) {
        REQUIRE(start[i] >= 0 && count[i] >= 0 && start[i] <= p->dims[i] - count[i],
                "cannot write variable %s of '%s': it ends before what is to be written", var, f->path);
        REQUIRE(*n == 1 || count[i] == p->dims[i], "cannot write a part of variable %s of '%s' that is in pieces", var,
                f->path);
        *at = *at * p->dims[i] + start[i], *n *= count[i];
    }
    *at = p->begin + *at * fio_kind_width(p->kind);
    return 0;
}

static int put_direct(struct fio *f, const char *var, const long *start, const long *count, const void *values,
                      unsigned takes, long *crc) {
    const struct place *p;
    long at, n;
    TRY(find_block(f, var, start, count, takes, &p, &at, &n));
    REQUIRE(!fio_slot_write(f->fd, at, p->kind, n, values, crc), "cannot write variable %s of '%s': %s", var, f->path,
            strerror(errno));
    return 0;
}

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

#define PUT_GET(name, ctype, nctype, real, takes)                                                                      \
    int fio_put_##name(void *handle, const char *var, const long *start, const long *count, const ctype *values) {     \
        int id;                                                                                                        \
        size_t s[RANK_MAX], c[RANK_MAX], n;                                                                            \
        if (((struct fio *)handle)->direct)                                                                            \
            return put_direct(handle, var, start, count, values, takes, NULL);                                         \
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
PUT_GET(floats, float, float, 4, 1u << FIO_FLOAT)
PUT_GET(doubles, double, double, 8, 1u << FIO_DOUBLE)
PUT_GET(longs, long, long, 0, 1u << FIO_INT | 1u << FIO_UINT | 1u << FIO_INT64)
PUT_GET(text, char, text, 0, 1u << FIO_CHAR)

int fio_put_summed(void *handle, const char *var, const long *start, const long *count, const float *values,
                   long *crc) {
    return put_direct(handle, var, start, count, values, 1u << FIO_FLOAT, crc);
}

int fio_put_sealed(void *handle, const char *var, const long *start, const long *count, const float *bytes) {
    struct fio *f = handle;
    const struct place *p;
    long at, n;
    REQUIRE(f->direct, "'%s' was not opened to be written to", f->path);
    TRY(find_block(f, var, start, count, 1u << FIO_FLOAT, &p, &at, &n));
    REQUIRE(!fio_slot_put(f->fd, &f->uncached, at, n * (long)sizeof *bytes, (const char *)bytes),
            "cannot write variable %s of '%s': %s", var, f->path, strerror(errno));
    return 0;
}

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

/* Bytes of a floating-point number, 0 for all other types. */
static int real_width(int type) { return type == NC_FLOAT || type == NC_DOUBLE ? type_width(type) : 0; }

int fio_var_real(void *handle, const char *var) {
    int id, type, ncid = ((struct fio *)handle)->ncid;
    if (nc_inq_varid(ncid, var, &id) != NC_NOERR || nc_inq_vartype(ncid, id, &type) != NC_NOERR)
        return 0;
    return real_width(type);
}

int fio_get_att_numbers(void *handle, const char *var, const char *name, int n, double *values, int *real) {
    int id = NC_GLOBAL, type, ncid = ((struct fio *)handle)->ncid;
    size_t length;
    memset(values, 0, (size_t)n * sizeof *values);
    *real = 0;
    if (var[0] && nc_inq_varid(ncid, var, &id) != NC_NOERR)
        return 0;
    if (nc_inq_att(ncid, id, name, &type, &length) != NC_NOERR || length == 0)
        return 0;
    *real = real_width(type);
    if (length >= INT_MAX || !type_width(type) || type == NC_CHAR)
        return -1;
    double *all = malloc(length * sizeof *all);
    if (!all)
        return -1;
    UNTRAPPED(nc_get_att_double(ncid, id, name, all));
    make_quiet(8, length, all);
    memcpy(values, all, (length < (size_t)n ? length : (size_t)n) * sizeof *all);
    free(all);
    return rc == NC_NOERR ? (int)length : -1;
}

/* The number that the library writes where a program writes nothing; bytes have none. */
static int default_fill(int type, double *value) {
    switch (type) {
    case NC_SHORT:
        *value = NC_FILL_SHORT;
        return 1;
    case NC_USHORT:
        *value = NC_FILL_USHORT;
        return 1;
    case NC_INT:
        *value = NC_FILL_INT;
        return 1;
    case NC_UINT:
        *value = NC_FILL_UINT;
        return 1;
    case NC_INT64:
        *value = (double)NC_FILL_INT64;
        return 1;
    case NC_UINT64:
        *value = (double)NC_FILL_UINT64;
        return 1;
    case NC_FLOAT:
        *value = (double)NC_FILL_FLOAT;
        return 1;
    case NC_DOUBLE:
        *value = NC_FILL_DOUBLE;
        return 1;
    default:
        *value = 0;
        return 0;
    }
}

int fio_get_default_fill(void *handle, const char *var, double *value) {
    int id, type, unfilled = 0, ncid = ((struct fio *)handle)->ncid;
    *value = 0;
    if (nc_inq_varid(ncid, var, &id) != NC_NOERR || nc_inq_vartype(ncid, id, &type) != NC_NOERR ||
        nc_inq_var_fill(ncid, id, &unfilled, NULL) != NC_NOERR || unfilled)
        return 0;
    return default_fill(type, value);
}

/* --- checksums ----------------------------------------------------------------------- */

long fio_crc_floats(long crc, long n, const float *values) {
    enum { BLOCK = 1 << 15 };
    float turned[BLOCK];
    for (long done = 0; done < n; done += BLOCK) {
        long now = n - done < BLOCK ? n - done : BLOCK;
        fio_turned(sizeof *values, now, values + done, turned);
        crc = crc32_bytes(crc, now * (long)sizeof *values, (const char *)turned);
    }
    return crc;
}

int fio_crc_slots(void *handle, const char *var, long slot, long n, long *crc) {
    const struct fio *f = handle;
    const struct place *p = place_of(handle, var);
    TRY(!p);
    REQUIRE(slot < 0 ? n == 1 : p->rank > 0 && n >= 0 && slot <= p->dims[0] - n,
            "variable %s of '%s' has no %ld slots from %ld on", var, f->path, n, slot);
    long bytes = fio_kind_width(p->kind);
    for (int i = slot < 0 ? 0 : 1; i < p->rank; i++)
        bytes *= p->dims[i];
    REQUIRE(!fio_slots_crc(f->fd, p->begin + (slot < 0 ? 0 : slot * bytes), bytes, n, crc),
            "cannot read variable %s of '%s': %s", var, f->path, strerror(errno));
    return 0;
}

int fio_header_checksum(void *handle, long *fixed, long *bytes) {
    long n, crc, zero = 0;
    TRY(fio_sync(handle));
    TRY(fio_header_sum(((struct fio *)handle)->path, &n, &crc, fixed, bytes));
    TRY(fio_put_longs(handle, "header_bytes", &zero, &zero, &n));
    return fio_put_longs(handle, "header_crc32", &zero, &zero, &crc);
}
