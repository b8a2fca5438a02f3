/* The number of bytes that a CDF-5 file will have (NetCDF classic format specification; fio.h draws it): the forecast
 * of disk space comes from the very calls that define the file. */
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "fio.h"

enum { DIMS = 16, NAME = 64, COUNT = 8, TAG = 4, TYPE = 4, OFFSET = 8, LIST = TAG + COUNT };

struct fio_tally {
    double bytes;
    int dims;
    char name[DIMS][NAME];
    double length[DIMS];
};

static double padded(double n) { return n + (double)((4 - (long)n % 4) % 4); }

static double name_bytes(const char *name) { return COUNT + padded((double)strlen(name)); }

struct fio_tally *fio_tally_new(void) {
    struct fio_tally *t = calloc(1, sizeof *t);
    if (t == NULL)
        err_set("out of memory");
    else
        t->bytes = TAG + COUNT + 3 * LIST; /* magic, records, dimensions, attributes, variables */
    return t;
}

int fio_tally_dim(struct fio_tally *t, const char *name, long length) {
    REQUIRE(t->dims < DIMS && strlen(name) < NAME, "dimension %.80s is one too many, or its name too long", name);
    strcpy(t->name[t->dims], name);
    t->length[t->dims++] = (double)length;
    t->bytes += name_bytes(name) + COUNT;
    return 0;
}

/* The length of the dimension that a list of names begins with, and the rest of the list; 0: there is none of it. */
static double next_length(const struct fio_tally *t, const char **dims) {
    const size_t n = strcspn(*dims, " ");
    for (int i = 0; i < t->dims; i++)
        if (strlen(t->name[i]) == n && !strncmp(t->name[i], *dims, n)) {
            *dims += n + strspn(*dims + n, " ");
            return t->length[i];
        }
    return 0;
}

int fio_tally_var(struct fio_tally *t, const char *name, int width, const char *dims) {
    double data = width;
    t->bytes += name_bytes(name) + COUNT + LIST + TYPE + COUNT + OFFSET;
    while (*dims) {
        const double length = next_length(t, &dims);
        REQUIRE(length > 0, "variable %s has a dimension that is not defined: %s", name, dims);
        data *= length;
        t->bytes += COUNT;
    }
    t->bytes += data < 1e18 ? padded(data) : data;
    return 0;
}

void fio_tally_attribute(struct fio_tally *t, const char *name, int width, long n) {
    t->bytes += name_bytes(name) + TYPE + COUNT + padded((double)n * width);
}

double fio_tally_total(const struct fio_tally *t) { return t->bytes; }
