/* Plain files: sizes, writing that survives a power cut, checksums; and the clock. Every failure names path and reason.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "err.h"
#include "files.h"
#include "iface.h"

enum { TOKEN = 16 }; /* hexadecimal digits */

int file_exists(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

int file_size(const char *path, long *bytes) {
    struct stat st;
    *bytes = 0;
    REQUIRE(path[0], "the name of a file is empty");
    REQUIRE(stat(path, &st) == 0, "cannot read '%s': %s", path, strerror(errno));
    REQUIRE(!S_ISDIR(st.st_mode), "cannot read '%s': it is a folder, not a file", path);
    REQUIRE(S_ISREG(st.st_mode), "cannot read '%s': it is not an ordinary file", path);
    REQUIRE(access(path, R_OK) == 0, "cannot read '%s': %s", path, strerror(errno));
    *bytes = st.st_size;
    return 0;
}

/* --- durable ------------------------------------------------------------------------- */

int file_sync(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    REQUIRE(fd >= 0, "cannot open '%s' to force it onto the disk: %s", path, strerror(errno));
    int failed = fsync(fd), reason = errno;
    close(fd);
    REQUIRE(!failed, "cannot force '%s' onto the disk: %s", path, strerror(reason));
    return 0;
}

/* A new or renamed file survives a power cut only when the folder that names it is synced too. */
static int folder_sync(const char *path) {
    char *folder = strdup(path);
    REQUIRE(folder, "out of memory for the name '%s'", path);
    char *slash = strrchr(folder, '/');
    if (slash == folder)
        slash[1] = 0;
    else if (slash)
        *slash = 0;
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    REQUIRE(fd >= 0, "cannot open the folder of '%s': %s", path, strerror(errno));
    /* some file systems cannot sync a folder and say EINVAL: they keep names in order by themselves */
    int failed = fsync(fd) && errno != EINVAL, reason = errno;
    close(fd);
    REQUIRE(!failed, "cannot force the folder of '%s' onto the disk: %s", path, strerror(reason));
    return 0;
}

int file_rename(const char *from, const char *to) {
    REQUIRE(rename(from, to) == 0, "cannot rename '%s' to '%s': %s", from, to, strerror(errno));
    return folder_sync(to);
}

/* By a link, which replaces nothing. Over NFS its answer may be lost though it was made; some file systems have none.
 */
int file_appear(const char *from, const char *to) {
    struct stat its;
    int linked = !link(from, to) || (errno == EEXIST && !stat(from, &its) && its.st_nlink == 2);
    REQUIRE(linked || (errno != EEXIST && access(to, F_OK)), "'%s' is there already: another run has made it meanwhile",
            to);
    if (linked)
        unlink(from);
    else
        REQUIRE(!rename(from, to), "cannot rename '%s' to '%s': %s", from, to, strerror(errno));
    if (!folder_sync(to))
        return 0;
    unlink(to);
    return 1;
}

int file_remove(const char *path) {
    REQUIRE(unlink(path) == 0 || errno == ENOENT, "cannot remove '%s': %s", path, strerror(errno));
    return 0;
}

double file_space(const char *path) {
    struct statvfs vfs;
    return statvfs(path, &vfs) || !vfs.f_blocks ? -1 : (double)vfs.f_bavail * vfs.f_frsize;
}

/* 45.6 MB, as memory_need.f90 writes it. */
static const char *bytes_text(double bytes, char text[32]) {
    const double unit = bytes >= 1e12 ? 1e12 : bytes >= 1e9 ? 1e9 : 1e6;
    snprintf(text, 32, "%.4g %s", bytes / unit, unit > 1e9 ? "TB" : unit > 1e6 ? "GB" : "MB");
    return text;
}

static double steady_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Writes as fioput.f90 and the journal do, and takes the time. The first write makes the file longer, as the start
 * of a job does, so it is not counted. */
static double commit_seconds(int fd, const char *data, size_t bytes) {
    enum { LINE = 128, TIMES = 3 };
    double start = 0;
    for (int n = 0; n <= TIMES; n++) {
        if (pwrite(fd, data, bytes, 0) != (ssize_t)bytes || fsync(fd))
            return -1;
        if (pwrite(fd, data, LINE, (off_t)bytes + n * LINE) != LINE || fdatasync(fd))
            return -1;
        if (n == 0)
            start = steady_seconds();
    }
    return (steady_seconds() - start) / TIMES;
}

double file_commit(const char *folder, long bytes) {
    const size_t room = bytes < 128 ? 128 : bytes > 16 << 20 ? 16 << 20 : (size_t)bytes;
    char *data = calloc(room, 1);
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    double seconds = fd >= 0 && data != NULL ? commit_seconds(fd, data, room) : -1;
    if (fd >= 0)
        close(fd);
    free(data);
    return seconds;
}

int file_reserve(const char *path, const char *name, long bytes) {
    char need[32], have[32];
    int fd = open(path, O_RDWR | O_CLOEXEC);
    REQUIRE(fd >= 0, "cannot open '%s' to reserve its disk space: %s", path, strerror(errno));
    /* asked before: a reservation that fails half-way has filled the disk for everybody else meanwhile */
    double available = file_space(path);
    if (available >= 0 && available < (double)bytes && !syncfs(fd)) /* Btrfs: what was removed is free from then on */
        available = file_space(path);
    int failed = available > 0 && available < (double)bytes, reason = ENOSPC;
    if (!failed) {
        failed = fallocate(fd, 0, 0, bytes);
        if (failed && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL))
            failed = ftruncate(fd, bytes);
        reason = errno;
    }
    close(fd);
    REQUIRE(!failed || reason != EFBIG,
            "'%s' needs %s: %s for ulimit -f, or for its file system: raise the limit, or choose another disk", name,
            bytes_text((double)bytes, need), strerror(reason));
    REQUIRE(!failed, "'%s' needs %s of disk, %s are free: %s: choose a larger disk, or fewer samples", name,
            bytes_text((double)bytes, need), bytes_text(available > 0 ? available : 0, have), strerror(reason));
    return 0;
}

int file_cut(const char *path, long bytes) {
    REQUIRE(truncate(path, bytes) == 0, "cannot cut '%s' to %ld bytes: %s", path, bytes, strerror(errno));
    return 0;
}

/* The number in a name HEADnumberTAIL, written as this program does, no zeros in front; -1 if it is no such name. */
static long number_in(const char *name, const char *head, const char *tail) {
    size_t n = strlen(head);
    if (strncmp(name, head, n) || name[n] < '0' || name[n] > '9' ||
        (name[n] == '0' && name[n + 1] >= '0' && name[n + 1] <= '9'))
        return -1;
    char *end;
    long number = strtol(name + n, &end, 10);
    return strcmp(end, tail) || number > INT_MAX ? -1 : number;
}

long file_numbers(const char *head, const char *tail, long n, int *numbers) {
    const char *slash = strrchr(head, '/'), *first = slash ? slash + 1 : head;
    char *path = strndup(head, (size_t)(first - head));
    DIR *folder = path ? opendir(*path ? path : ".") : NULL;
    free(path);
    long found = 0;
    for (struct dirent *e = folder ? readdir(folder) : NULL; e; e = readdir(folder)) {
        struct stat st;
        const long number = number_in(e->d_name, first, tail);
        if (number < 0 || fstatat(dirfd(folder), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
            continue;
        if (found < n)
            numbers[found] = (int)number;
        found++;
    }
    if (folder)
        closedir(folder);
    return found;
}

void file_token(char *token) {
    static unsigned char noise[TOKEN / 2];
    static int made;
    if (!made &&
        getrandom(noise, sizeof noise, 0) != sizeof noise) { /* never seen to fail; process and time tell apart too */
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        const long mixed = t.tv_nsec ^ (t.tv_sec << 20) ^ ((long)getpid() << 40);
        memcpy(noise, &mixed, sizeof noise);
    }
    made = 1;
    for (int i = 0; i < TOKEN / 2; i++)
        snprintf(token + 2 * i, 3, "%02x", noise[i]);
}

/* True if `rest`, the part of a name behind that of an output, is .TOKEN.half, for the output itself, its record,
 * journal or snapshots, or for a half itself, while that is made. */
static int is_half(const char *rest) {
    static const char ending[] = ".half";
    const size_t n = strlen(rest), whole = 1 + TOKEN + sizeof ending - 1;
    if (n < whole || strcmp(rest + n - (sizeof ending - 1), ending) || rest[n - whole] != '.' ||
        strspn(rest + n - whole + 1, "0123456789abcdef") != TOKEN)
        return 0;
    char of[32];
    if (n - whole >= sizeof of)
        return 0;
    memcpy(of, rest, n - whole);
    of[n - whole] = 0;
    if (!strncmp(of, ".snap", 5)) {
        const char *end = of + 5 + strspn(of + 5, "0123456789");
        return end > of + 5 && !strcmp(end, ".nc");
    }
    return !of[0] || !strcmp(of, ".par") || !strcmp(of, ".journal") || is_half(of);
}

void file_halves_remove(const char *output) {
    const char *slash = strrchr(output, '/'), *name = slash ? slash + 1 : output;
    char *path = strndup(output, (size_t)(name - output));
    DIR *folder = path ? opendir(*path ? path : ".") : NULL;
    const size_t n = strlen(name);
    struct stat st;
    free(path);
    for (struct dirent *e = folder ? readdir(folder) : NULL; e; e = readdir(folder))
        if (!strncmp(e->d_name, name, n) && is_half(e->d_name + n) &&
            fstatat(dirfd(folder), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            unlinkat(dirfd(folder), e->d_name, 0);
    if (folder)
        closedir(folder);
}

void file_limit_is_error(void) { signal(SIGXFSZ, SIG_IGN); }

/* --- reading ------------------------------------------------------------------------- */

int file_read_all(int fd, void *bytes, long n, long offset, const char *path) {
    for (long done = 0; done < n;) {
        ssize_t got = pread(fd, (char *)bytes + done, n - done, offset + done);
        if (got < 0 && errno == EINTR)
            continue;
        REQUIRE(got >= 0, "cannot read '%s' at byte %ld: %s", path, offset + done, strerror(errno));
        REQUIRE(got > 0, "'%s' ends at byte %ld, %ld more bytes expected", path, offset + done, n - done);
        done += got;
    }
    return 0;
}

int file_read_bytes(const char *path, long offset, long n, char *bytes) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    REQUIRE(fd >= 0, "cannot read '%s': %s", path, strerror(errno));
    int failed = file_read_all(fd, bytes, n, offset, path);
    close(fd);
    return failed;
}

/* A number that single precision cannot hold becomes infinite on purpose: the caller refuses it with its position. NaNs
 * are told by their bits and made quiet, so that looking at one never traps. */
static float float_of_4(uint32_t u) {
    float f;
    if ((u & 0x7fffffffu) > 0x7f800000u)
        u |= 0x00400000u;
    memcpy(&f, &u, 4);
    return f;
}

static float float_of_8(uint64_t u) {
    double d;
    if ((u & 0x7fffffffffffffffull) > 0x7ff0000000000000ull)
        return __builtin_nanf("");
    memcpy(&d, &u, 8);
    return d > 3.4e38 ? __builtin_inff() : d < -3.4e38 ? -__builtin_inff() : (float)d;
}

static void to_floats(const void *raw, long n, int width, int swap, float *values) {
    for (long i = 0; i < n; i++) {
        if (width == 4) {
            uint32_t u = ((const uint32_t *)raw)[i];
            values[i] = float_of_4(swap ? __builtin_bswap32(u) : u);
        } else {
            uint64_t u = ((const uint64_t *)raw)[i];
            values[i] = float_of_8(swap ? __builtin_bswap64(u) : u);
        }
    }
}

int file_read_floats(const char *path, long offset, long n, int width, int swap, float *values) {
    enum { BLOCK = 1 << 16 };
    REQUIRE(width == 4 || width == 8, "numbers of %d bytes, must be 4 or 8", width);
    void *block = malloc((size_t)BLOCK * width);
    REQUIRE(block, "out of memory for a block of %d numbers", BLOCK);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int failed = fd < 0 ? err_set("cannot read '%s': %s", path, strerror(errno)) : 0;
    for (long done = 0; done < n && !failed; done += BLOCK) {
        long now = n - done < BLOCK ? n - done : BLOCK;
        failed = file_read_all(fd, block, now * width, offset + done * width, path);
        if (!failed)
            to_floats(block, now, width, swap, values + done);
    }
    if (fd >= 0)
        close(fd);
    free(block);
    return failed;
}

/* --- appending ----------------------------------------------------------------------- */

struct append {
    int fd;
    int named;   /* numbers of files mean something on this file system */
    long length; /* bytes that it has by what was written here; -1: not known */
    char path[];
};

/* Whoever asks append_locked holds the lock for a moment: that must not stop a run from starting. */
static int lock_patiently(int fd) {
    struct timespec nap = {0, 20000000};
    for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB); tries++) {
        if (errno != EWOULDBLOCK || tries == 15)
            return 1;
        nanosleep(&nap, NULL);
    }
    return 0;
}

static long length_of(int fd) {
    struct stat st;
    return fstat(fd, &st) ? -1 : st.st_size;
}

void *append_open(const char *path) {
    file_limit_is_error();
    struct append *a = malloc(sizeof *a + strlen(path) + 1);
    if (!a)
        return err_set("out of memory for the name '%s'", path), NULL;
    strcpy(a->path, path);
    int is_new = !file_exists(path);
    a->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (a->fd < 0) {
        err_set("cannot write '%s': %s", path, strerror(errno));
    } else if (lock_patiently(a->fd) && errno == EWOULDBLOCK) { /* no locks on this file system: go on */
        err_set("'%s' is in use by another run: wait for it, or choose another output", path);
    } else if (!is_new || !folder_sync(path)) {
        a->named = !file_same(path, a->fd);
        a->length = length_of(a->fd);
        return a;
    }
    append_close(a);
    return NULL;
}

int file_same(const char *path, int fd) {
    struct stat open_one, named;
    REQUIRE(!stat(path, &named), "'%s' is gone while it was being written: %s: put it back", path, strerror(errno));
    REQUIRE(!fstat(fd, &open_one) && open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev,
            "'%s' is not the file any more that was being written: put that one back", path);
    return 0;
}

int append_write(void *handle, const char *bytes, long n, int sync) {
    struct append *a = handle;
    REQUIRE(a, "the file to append to is not open");
    const long length = length_of(a->fd);
    long done = 0;
    int failed = 0, reason = 0;
    while (done < n && !failed) { /* a second time after 2 GB; or where the disk is full, to learn that */
        const ssize_t put = write(a->fd, bytes + done, (size_t)(n - done));
        if (put > 0)
            done += put;
        else if (put == 0 || errno != EINTR)
            failed = 1, reason = put < 0 ? errno : ENOSPC;
    }
    if (!failed && sync && fdatasync(a->fd))
        failed = 1, reason = errno;
    if (failed) {
        /* half a line must not stay, a later line would be glued to it; nor one that is perhaps not on the disk: after
         * a failed sync the system takes its pages for written, and only writing them again brings them there */
        int cut = done > 0 && length >= 0 ? ftruncate(a->fd, length) : 0;
        a->length = length_of(a->fd);
        FAIL("cannot append %ld bytes to '%s': %s%s", n, a->path, strerror(reason), cut ? " (a line stays half)" : "");
    }
    if (length >= 0 && length == a->length)
        a->length += n;
    return sync && a->named ? file_same(a->path, a->fd) : 0;
}

int append_others(void *handle, const char *word) {
    struct append *a = handle;
    if (!a || a->length < 0)
        return 0;
    const long length = length_of(a->fd), n = length - a->length;
    char *text = n > 0 ? malloc((size_t)n + 1) : NULL;
    if (!text)
        return 0;
    int fd = open(a->path, O_RDONLY | O_CLOEXEC); /* the other one is for appending only */
    const ssize_t got = fd < 0 ? -1 : pread(fd, text, (size_t)n, a->length);
    text[got < 0 ? 0 : got] = 0;
    const int found = strstr(text, word) != NULL;
    if (fd >= 0)
        close(fd);
    free(text);
    return found;
}

void append_reserve(void *handle, long bytes) {
    struct append *a = handle;
    struct stat st;
    if (a && !fstat(a->fd, &st) && fallocate(a->fd, FALLOC_FL_KEEP_SIZE, st.st_size, bytes))
        errno = 0; /* not every file system can */
}

int append_truncate(void *handle, long bytes) {
    struct append *a = handle;
    REQUIRE(a, "the file to cut is not open");
    REQUIRE(ftruncate(a->fd, bytes) == 0, "cannot cut '%s' to %ld bytes: %s", a->path, bytes, strerror(errno));
    a->length = bytes;
    REQUIRE(fsync(a->fd) == 0, "cannot force '%s' onto the disk: %s", a->path, strerror(errno));
    return 0;
}

void append_close(void *handle) {
    struct append *a = handle;
    if (!a)
        return;
    if (a->fd >= 0)
        close(a->fd);
    free(a);
}

int append_locked(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int locked = !flock(fd, LOCK_SH | LOCK_NB) ? 0 : errno == EWOULDBLOCK ? 1 : -1;
    close(fd);
    return locked;
}

/* --- clock, host --------------------------------------------------------------------- */

double clock_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

void clock_text(double seconds, char *text) {
    time_t t = (time_t)seconds;
    struct tm tm;
    char buffer[64];
    gmtime_r(&t, &tm);
    strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", &tm);
    memcpy(text, buffer, 20);
}

double clock_parse(const char *text) {
    struct tm tm = {0};
    char buffer[21], *end;
    memcpy(buffer, text, 20);
    buffer[20] = 0;
    end = strptime(buffer, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return end == buffer + 20 ? (double)timegm(&tm) : -1;
}
