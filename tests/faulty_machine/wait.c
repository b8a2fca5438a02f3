/* A process that opens a file whose path has the words WAIT_AT in it makes WAIT_HERE, and waits until that is gone;
 * with WAIT_AFTER=1 at the second such file, not at the first; or once it has renamed a file to a path that ends with
 * WAIT_RENAMED. With SPACES no rank sees processes of the others, as on machines of their own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void look(const char *path, const char *at) {
    static int waited;
    const char *here = getenv("WAIT_HERE"), *after = getenv("WAIT_AFTER");
    static int opened;
    if (!at || !here || waited || !strstr(path, at) || (after && opened++ < atoi(after)))
        return;
    waited = 1;
    int (*make)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    close(make(here, O_CREAT | O_WRONLY, 0644));
    while (!access(here, F_OK))
        usleep(2000);
}
int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    const char *at = getenv("WAIT_RENAMED");
    int failed = real(from, to);
    if (!failed && at && strlen(to) >= strlen(at) && !strcmp(to + strlen(to) - strlen(at), at))
        look(to, to);
    return failed;
}
ssize_t readlink(const char *path, char *target, size_t n) {
    ssize_t (*real)(const char *, char *, size_t) =
        (ssize_t(*)(const char *, char *, size_t))dlsym(RTLD_NEXT, "readlink");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!getenv("SPACES") || !rank || strcmp(path, "/proc/self/ns/pid"))
        return real(path, target, n);
    strncpy(target, rank, n);
    return (ssize_t)strlen(rank);
}
#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name);                \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, unsigned) : 0;                                    \
        va_end(more);                                                                                                  \
        look(path, getenv("WAIT_AT"));                                                                                 \
        return real(path, flags, mode);                                                                                \
    }
OPEN(open)
OPEN(open64)
#define FOPEN(name)                                                                                                    \
    FILE *name(const char *path, const char *how) {                                                                    \
        FILE *(*real)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, #name);  \
        look(path, getenv("WAIT_AT"));                                                                                 \
        return real(path, how);                                                                                        \
    }
FOPEN(fopen)
FOPEN(fopen64)
