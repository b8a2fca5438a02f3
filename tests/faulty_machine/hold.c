/* A rank that stands still, or fails, at a certain place: LD_PRELOAD=hold.so HOLD=FILE. As FILE.RANK says:
 *
 *   group    it stands still before it makes the communicator of its group
 *   setup    it stands still before it makes memory that it shares with others, as a group's shot is set up
 *   state N  it stands still in the midst of writing a state, the N-th of the process
 *   full     writing a state: ENOSPC
 *   memory   memory of more than a page for fields: none
 *   alone    memory that processes share: none
 *   blind    of other processes it sees nothing
 *   put      it stands still before it writes more than a page to a place in a file
 *
 * While it stands still FILE.RANK.here is there; it goes on when FILE.RANK is gone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, LOOK = 2000 }; /* microseconds between two looks */

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static const char *place(char *path, size_t n, const char *ending) {
    const char *hold = getenv("HOLD"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    path[0] = 0;
    if (hold && rank)
        snprintf(path, n, "%s.%s%s", hold, rank, ending);
    return path;
}

/* True where the file says `word`; `number`: the one behind it, 0 = there is none. */
static int says(const char *word, long *number) {
    char path[4096], now[16] = "";
    FILE *f = fopen(place(path, sizeof path, ""), "r");
    *number = 0;
    if (f != NULL) {
        if (fscanf(f, "%15s %ld", now, number) < 1)
            now[0] = 0;
        fclose(f);
    }
    return !strcmp(now, word);
}

static void stand(void) {
    char path[4096];
    FILE *here = fopen(place(path, sizeof path, ".here"), "w");
    if (here != NULL)
        fclose(here);
    while (access(place(path, sizeof path, ""), F_OK) == 0)
        usleep(LOOK);
}

/* MPI's start makes none: what Fortran calls comes here. */
int PMPI_Comm_idup(void *comm, void *copy, void *request) {
    REAL(PMPI_Comm_idup);
    long n;
    if (says("group", &n))
        stand();
    return real(comm, copy, request);
}

int memfd_create(const char *name, unsigned flags) {
    REAL(memfd_create);
    long n;
    if (!says("alone", &n))
        return real(name, flags);
    errno = ENOSYS;
    return -1;
}

/* The first page alone is for the question whether others can read it. */
int fallocate(int fd, int mode, off_t from, off_t bytes) {
    REAL(fallocate);
    long n;
    if (bytes > PAGE && says("setup", &n))
        stand();
    return real(fd, mode, from, bytes);
}

ssize_t readlink(const char *path, char *target, size_t n) {
    REAL(readlink);
    long number;
    if (strncmp(path, "/proc/", 6) != 0 || strncmp(path, "/proc/self/", 11) == 0 || !says("blind", &number))
        return real(path, target, n);
    errno = EACCES;
    return -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) {
    REAL(pwrite);
    long number;
    if (n > PAGE && says("put", &number))
        stand();
    return real(fd, bytes, n, at);
}

void *aligned_alloc(size_t alignment, size_t size) {
    REAL(aligned_alloc);
    long n;
    if (size <= PAGE || !says("memory", &n))
        return real(alignment, size);
    errno = ENOMEM;
    return NULL;
}

/* The first numbers of a state follow its heading, which is a page. */
static int in_state(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    path[n < 0 ? 0 : n] = 0;
    return n > 5 && strstr(path, ".states/") && !strcmp(path + n - 5, ".half") && lseek(fd, 0, SEEK_CUR) == PAGE;
}

ssize_t write(int fd, const void *bytes, size_t n) {
    static long states;
    REAL(write);
    long number;
    if (getenv("HOLD") == NULL || !in_state(fd))
        return real(fd, bytes, n);
    states++;
    if (says("full", &number)) {
        errno = ENOSPC;
        return -1;
    }
    if (says("state", &number) && number == states)
        stand();
    return real(fd, bytes, n);
}
