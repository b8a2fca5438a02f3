/* A file system that fails when told to: LD_PRELOAD=badfs.so BADFS=FILE. As long as FILE holds a word, every call on a
 * path that contains BADFS_ONLY (default ".nc") fails as the word says:
 *
 *   full     writing: ENOSPC, after half of what was asked where more than one byte was; making a file: ENOSPC
 *   readonly writing, opening for writing, cutting: EROFS
 *   sync     fsync, fdatasync: EIO
 *   gone     everything: ESTALE, looking for a file: ENOENT
 *   slowsync N  each sync takes N ms more
 *   nodeal N    that, and a line of the journal that deals a shot fails with EIO
 *   nth N    the N-th write to output, journal or lock since the start fails with EIO, and FILE.hit appears
 *   die N    the process is killed before the N-th write, sync, cut, renaming, linking or removing of output, journal
 *            or lock since the start, and FILE.hit appears
 *   noflock  flock: ENOLCK
 *   nolink   flock: ENOLCK, link: EPERM
 *   slow N   renaming, linking and removing take up to N ms each, at random
 *   clock S  the clock of the day is S seconds off
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* The word in the file, read by system calls alone: the wrapped ones would come back here. errno stays as it is. */
static int fault(char *word, long *number) {
    static __thread char text[64];
    const char *path = getenv("BADFS");
    int before = errno;
    word[0] = 0;
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY) : -1;
    long n = fd < 0 ? 0 : syscall(SYS_read, fd, text, sizeof text - 1);
    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = before;
    text[n > 0 ? n : 0] = 0;
    *number = 0;
    return sscanf(text, "%15s %ld", word, number) > 0;
}

static int ours(const char *path) {
    const char *only = getenv("BADFS_ONLY");
    return path && strstr(path, only ? only : ".nc") != NULL;
}

/* 2: output, journal or lock, 1: another one of ours. */
static int ours_fd(int fd) {
    char name[64], path[4096];
    int before = errno;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    long n = syscall(SYS_readlinkat, AT_FDCWD, name, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    errno = before;
    return !ours(path) ? 0 : strstr(path, ".log") || strstr(path, ".par") ? 1 : 2;
}

static int says(const char *word, long *number) {
    char now[16];
    long n;
    int there = fault(now, &n) && !strcmp(now, word);
    if (there && number)
        *number = n;
    return there;
}

static void hit(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s.hit", getenv("BADFS"));
    syscall(SYS_close, (int)syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY, 0644));
}

/* One more step that is seen from outside. */
static void step(int kind) {
    static long steps;
    long last;
    if (kind == 2 && says("die", &last) && ++steps == last) {
        hit();
        syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    }
}

static int kind_of(const char *path) { return !ours(path) ? 0 : strstr(path, ".log") || strstr(path, ".par") ? 1 : 2; }

static void dawdle(void) {
    static unsigned seed;
    long most;
    if (!says("slow", &most) || most < 1)
        return;
    if (!seed)
        seed = (unsigned)syscall(SYS_getpid);
    const struct timespec nap = {0, rand_r(&seed) % (1000 * most) * 1000};
    syscall(SYS_nanosleep, &nap, NULL);
}

/* A sync that takes longer. */
static void linger(void) {
    long most;
    if (!says("slowsync", &most) && !says("nodeal", &most))
        return;
    const struct timespec nap = {most / 1000, most % 1000 * 1000000};
    syscall(SYS_nanosleep, &nap, NULL);
}

/* Bytes that may be written; -1: none, errno is set. */
static long allowed(int fd, const void *data, long bytes) {
    static long writes;
    long nth;
    int kind = ours_fd(fd), before = errno;
    if (!kind)
        return bytes;
    step(kind);
    writes += kind == 2;
    if (says("full", NULL)) {
        if (bytes > 1)
            return bytes / 2;
        errno = ENOSPC;
        return -1;
    }
    if (kind == 2 && says("nth", &nth) && nth == writes) {
        hit();
        errno = EIO;
        return -1;
    }
    errno = says("readonly", NULL) ? EROFS : says("gone", NULL) ? ESTALE : 0;
    if (kind == 2 && says("nodeal", NULL) && memmem(data, (size_t)bytes, " deal ", 6))
        errno = EIO;
    if (errno)
        return -1;
    errno = before;
    return bytes;
}

ssize_t write(int fd, const void *data, size_t n) {
    REAL(write);
    long most = allowed(fd, data, (long)n);
    return most < 0 ? -1 : real(fd, data, (size_t)most);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t offset) {
    REAL(pwrite);
    long most = allowed(fd, data, (long)n);
    return most < 0 ? -1 : real(fd, data, (size_t)most, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t offset) {
    REAL(pwrite64);
    long most = allowed(fd, data, (long)n);
    return most < 0 ? -1 : real(fd, data, (size_t)most, offset);
}

ssize_t read(int fd, void *data, size_t n) {
    REAL(read);
    if (ours_fd(fd) && says("gone", NULL))
        return errno = ESTALE, -1;
    return real(fd, data, n);
}

int fsync(int fd) {
    REAL(fsync);
    step(ours_fd(fd));
    if (ours_fd(fd))
        linger();
    if (ours_fd(fd) && (says("sync", NULL) || says("gone", NULL)))
        return errno = EIO, -1;
    return real(fd);
}

int fdatasync(int fd) {
    REAL(fdatasync);
    step(ours_fd(fd));
    if (ours_fd(fd))
        linger();
    if (ours_fd(fd) && (says("sync", NULL) || says("gone", NULL)))
        return errno = EIO, -1;
    return real(fd);
}

int ftruncate(int fd, off_t length) {
    REAL(ftruncate);
    step(ours_fd(fd));
    if (ours_fd(fd) && (says("readonly", NULL) || says("gone", NULL)))
        return errno = EROFS, -1;
    return real(fd, length);
}

int rename(const char *from, const char *to) {
    REAL(rename);
    dawdle();
    step(kind_of(to));
    return real(from, to);
}

int link(const char *from, const char *to) {
    REAL(link);
    dawdle();
    step(kind_of(to));
    if (ours(to) && says("nolink", NULL))
        return errno = EPERM, -1;
    return real(from, to);
}

int unlink(const char *path) {
    REAL(unlink);
    dawdle();
    step(kind_of(path));
    return real(path);
}

int flock(int fd, int operation) {
    REAL(flock);
    if (ours_fd(fd) && (says("noflock", NULL) || says("nolink", NULL)))
        return errno = ENOLCK, -1;
    return real(fd, operation);
}

static int may_open(const char *path, int flags) {
    if (!ours(path))
        return 1;
    if (says("gone", NULL))
        return errno = ENOENT, 0;
    if ((flags & O_ACCMODE) != O_RDONLY && says("readonly", NULL))
        return errno = EROFS, 0;
    if ((flags & O_CREAT) && says("full", NULL) && syscall(SYS_faccessat, AT_FDCWD, path, F_OK))
        return errno = ENOSPC, 0;
    return 1;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        REAL(name);                                                                                                    \
        va_list args;                                                                                                  \
        va_start(args, flags);                                                                                         \
        int mode = flags & O_CREAT ? va_arg(args, int) : 0;                                                            \
        va_end(args);                                                                                                  \
        return may_open(path, flags) ? real(path, flags, mode) : -1;                                                   \
    }
OPEN(open)
OPEN(open64)

int stat(const char *path, struct stat *st) {
    REAL(stat);
    if (ours(path) && says("gone", NULL))
        return errno = ENOENT, -1;
    return real(path, st);
}

int lstat(const char *path, struct stat *st) {
    REAL(lstat);
    if (ours(path) && says("gone", NULL))
        return errno = ENOENT, -1;
    return real(path, st);
}

int clock_gettime(clockid_t clock, struct timespec *t) {
    REAL(clock_gettime);
    long seconds;
    int rc = real(clock, t);
    if (clock == CLOCK_REALTIME && says("clock", &seconds))
        t->tv_sec += seconds;
    return rc;
}
