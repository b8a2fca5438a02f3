/* States of shots on disk; see interfaces/statefile_c.f90.
 *
 *   heading (padded by the caller) | n floats | tail: "state", n, checksum of heading and floats
 *
 * The thread that writes takes no part in anything else: it touches the writer alone, and keeps its own sentence. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "files.h"
#include "iface.h"

enum { PIECE = 1 << 20 };         /* floats: the checksum goes from piece to piece */
enum { SPARED = 16, STEPS = 64 }; /* a part of the memory left is not for states, which take it in so many steps */

static const char MARK[8] = "SPLstat", HALF[] = ".half";
static const char HEADING[] = "state of a shot"; /* headings begin so: checkpoint.f90 */

typedef struct tail {
    char mark[8];
    int64_t n, sum;
} tail;

typedef struct writer {
    float *state;
    long room, n;
    char *path, *half, *head;
    int length;
    int started;         /* a thread is to be joined */
    atomic_int finished; /* it is done */
    pthread_t thread;
    int failed;
    double seconds;
    char why[1024];
} writer;

static long head_sum(const char *head, int length) {
    long sum = 0;
    for (int at = 0; at < length; at += (int)sizeof(float)) { /* as floats, whatever the alignment */
        float four = 0;
        memcpy(&four, head + at, (size_t)(length - at) < sizeof four ? (size_t)(length - at) : sizeof four);
        sum = checksum_floats(sum, 1, &four);
    }
    return sum;
}

/* --- the thread ---------------------------------------------------------------------- */

static int complain(writer *w, const char *what, int reason) {
    snprintf(w->why, sizeof w->why, "cannot %s '%s': %s", what, w->path, strerror(reason));
    return 1;
}

static int put(writer *w, int fd, const void *bytes, size_t n) {
    for (size_t done = 0; done < n;) {
        ssize_t now = write(fd, (const char *)bytes + done, n - done);
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            return complain(w, "write", now < 0 ? errno : ENOSPC);
        done += (size_t)now;
    }
    return 0;
}

static int put_all(writer *w, int fd) {
    tail end = {.n = w->n, .sum = head_sum(w->head, w->length)};
    memcpy(end.mark, MARK, sizeof end.mark);
    if (put(w, fd, w->head, (size_t)w->length))
        return 1;
    for (long at = 0; at < w->n; at += PIECE) {
        const long now = w->n - at < PIECE ? w->n - at : PIECE;
        end.sum = checksum_floats(end.sum, now, w->state + at);
        if (put(w, fd, w->state + at, (size_t)now * sizeof(float)))
            return 1;
    }
    if (put(w, fd, &end, sizeof end))
        return 1;
    return fsync(fd) ? complain(w, "force onto the disk", errno) : 0;
}

/* The folder's entry must be on the disk too, where the file system can do that. */
static void sync_folder(const char *path) {
    char *folder = strdup(path), *slash = folder == NULL ? NULL : strrchr(folder, '/');
    if (slash != NULL)
        *slash = 0;
    int fd = slash == NULL ? -1 : open(slash == folder ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

static int write_file(writer *w) {
    unlink(w->half); /* of a process that had this number before */
    int fd = open(w->half, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return complain(w, "write", errno);
    int failed = put_all(w, fd);
    if (close(fd) && !failed)
        failed = complain(w, "write", errno);
    if (!failed && rename(w->half, w->path))
        failed = complain(w, "rename what was written for", errno);
    if (failed)
        unlink(w->half);
    else
        sync_folder(w->path);
    return failed;
}

static void *work(void *handle) {
    writer *w = handle;
    const double from = host_seconds();
    w->failed = write_file(w);
    w->seconds = host_seconds() - from;
    atomic_store(&w->finished, 1);
    return NULL;
}

/* --- the writer ---------------------------------------------------------------------- */

void *statefile_new(void) {
    writer *w = calloc(1, sizeof *w);
    if (w == NULL)
        err_set("no memory for a writer of states");
    return w;
}

static void join(writer *w) {
    if (w->started)
        pthread_join(w->thread, NULL);
    w->started = 0;
}

void statefile_free(void *handle) {
    writer *w = handle;
    if (w == NULL)
        return;
    join(w);
    free(w->state);
    free(w->path);
    free(w->half);
    free(w->head);
    free(w);
}

int statefile_busy(void *handle) {
    writer *w = handle;
    return w != NULL && w->started && !atomic_load(&w->finished);
}

/* Takes the pages of a room step by step. Ranks of a machine ask at the same moment, as their shots are alike, and each
 * sees memory that all of them want: whoever finds, as it goes on, that too little would be left gives up. */
static int take_pages(float *room, long n) {
    const long step = 1 + (n / STEPS < PIECE ? n / STEPS : PIECE);
    long total, left, available;
    host_memory("", &total, &left);
    for (long at = 0; at < n && total > 0; at += step) {
        const long now = n - at < step ? n - at : step;
        host_memory("", &total, &available);
        REQUIRE(available - (n - at) * (long)sizeof(float) >= left / SPARED,
                "a state of %.3g GB needs %.3g GB more of memory, and %.3g GB are available", 4e-9 * (double)n,
                4e-9 * (double)(n - at), 1e-9 * (double)available);
        memset(room + at, 0, (size_t)now * sizeof(float));
    }
    return 0;
}

void *statefile_room(void *handle, long n) {
    writer *w = handle;
    if (w == NULL || n < 0 || statefile_busy(w)) {
        err_set("the state before is still being written");
        return NULL;
    }
    join(w);
    if (n > w->room || w->state == NULL) {
        free(w->state);
        w->room = 0;
        w->state = (size_t)n < SIZE_MAX / sizeof(float) ? malloc(n > 0 ? (size_t)n * sizeof(float) : 1) : NULL;
        if (w->state == NULL) {
            err_set("no memory for a state of %ld numbers (%.3f GB)", n, 4e-9 * (double)n);
            return NULL;
        }
        if (take_pages(w->state, n)) {
            free(w->state);
            w->state = NULL;
            return NULL;
        }
        w->room = n;
    }
    return w->state;
}

/* FILE.HOST.PID.half: two processes that write the same state do not meet before the end. */
static char *half_name(const char *path) {
    char host[256], *name = NULL;
    host_name(host, sizeof host);
    for (char *c = host; *c; c++)
        if (*c == '/')
            *c = '_';
    return asprintf(&name, "%s.%s.%ld%s", path, host, (long)getpid(), HALF) < 0 ? NULL : name;
}

static int begin(writer *w) {
    sigset_t all, before;
    sigfillset(&all); /* signals are for the thread that computes */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int reason = pthread_create(&w->thread, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    REQUIRE(reason == 0, "cannot start a thread to write '%s': %s", w->path, strerror(reason));
    w->started = 1;
    return 0;
}

int statefile_write(void *handle, const char *path, int length, const char *head, long n) {
    writer *w = handle;
    REQUIRE(w != NULL && !statefile_busy(w), "the state before is still being written");
    join(w);
    REQUIRE(n >= 0 && n <= w->room && length >= 0, "a state of %ld numbers in room for %ld", n, w->room);
    file_limit_is_error();
    free(w->path);
    free(w->half);
    free(w->head);
    w->path = strdup(path);
    w->half = half_name(path);
    w->head = malloc(length > 0 ? (size_t)length : 1);
    REQUIRE(w->path && w->half && w->head, "no memory to write '%s'", path);
    memcpy(w->head, head, (size_t)length);
    w->length = length;
    w->n = n;
    w->failed = 0;
    atomic_store(&w->finished, 0);
    return begin(w);
}

int statefile_wait(void *handle, double *seconds) {
    writer *w = handle;
    *seconds = 0;
    if (w == NULL || !w->started)
        return 0;
    join(w);
    *seconds = w->seconds;
    return w->failed ? err_set("%s", w->why) : 0;
}

/* --- reading ------------------------------------------------------------------------- */

static int read_tail(const char *path, int length, tail *end) {
    long bytes;
    TRY(file_size(path, &bytes));
    const long numbers = bytes - length - (long)sizeof *end;
    REQUIRE(numbers >= 0 && numbers % (long)sizeof(float) == 0, "'%s' has %ld bytes, no state has", path, bytes);
    TRY(file_read_bytes(path, bytes - (long)sizeof *end, sizeof *end, (char *)end));
    REQUIRE(memcmp(end->mark, MARK, sizeof MARK) == 0 && end->n == numbers / (long)sizeof(float),
            "'%s' is damaged: its end is not that of a state", path);
    return 0;
}

int statefile_head(const char *path, int length, char *head, long *n) {
    tail end;
    *n = 0;
    TRY(read_tail(path, length, &end));
    TRY(file_read_bytes(path, 0, length, head));
    *n = end.n;
    return 0;
}

int statefile_read(const char *path, int length, long n, float *state) {
    tail end;
    TRY(read_tail(path, length, &end));
    REQUIRE(end.n == n, "'%s' has %ld numbers, %ld expected", path, (long)end.n, n);
    char *head = malloc(length > 0 ? (size_t)length : 1);
    REQUIRE(head, "no memory to read '%s'", path);
    int failed = file_read_bytes(path, 0, length, head);
    long sum = failed ? 0 : head_sum(head, length);
    free(head);
    TRY(failed);
    TRY(file_read_bytes(path, length, n * (long)sizeof(float), (char *)state));
    for (long at = 0; at < n; at += PIECE)
        sum = checksum_floats(sum, n - at < PIECE ? n - at : PIECE, state + at);
    REQUIRE(sum == end.sum, "'%s' is damaged: its checksum is %016lx, must be %016lx", path, sum, (long)end.sum);
    return 0;
}

/* --- the folder ---------------------------------------------------------------------- */

int statefile_folder(const char *path) {
    REQUIRE(mkdir(path, 0777) == 0 || errno == EEXIST, "cannot make the folder '%s': %s", path, strerror(errno));
    return 0;
}

enum kind { OTHER, WHOLE, HALF_WRITTEN };

/* A file's name tells the shot of its state, and how many ranks modelled that together. */
typedef struct maker {
    long shot;
    int ranks;
} maker;

static const char *number_at(const char *text, long *number) {
    const size_t n = strspn(text, "0123456789");
    *number = n > 0 ? strtol(text, NULL, 10) : 0;
    return n > 0 ? text + n : NULL;
}

/* Behind ".IofN", the part of rank I of N; where there is no such word, at its place, and one rank made the state. */
static const char *after_part(const char *text, maker *by) {
    long part, ranks;
    by->ranks = 1;
    const char *of = text[0] == '.' ? number_at(text + 1, &part) : NULL;
    const char *end = of != NULL && !strncmp(of, "of", 2) ? number_at(of + 2, &ranks) : NULL;
    if (end == NULL)
        return text;
    by->ranks = ranks < INT_MAX ? (int)ranks : INT_MAX;
    return end;
}

/* Tells names of states, shotNUMBER.a.state or .b.state, or shotNUMBER.IofN.a.state where N ranks have a part each,
 * from names of those that are being written and from others. */
static enum kind kind_of(const char *name, maker *by) {
    static const char *const endings[] = {".a.state", ".b.state"};
    const char *rest = strncmp(name, "shot", 4) ? NULL : number_at(name + 4, &by->shot);
    if (rest == NULL)
        return OTHER;
    rest = after_part(rest, by);
    for (int i = 0; i < 2; i++) {
        const size_t n = strlen(endings[i]), all = strlen(rest), half = sizeof HALF - 1;
        if (strncmp(rest, endings[i], n))
            continue;
        return rest[n] == 0                                                           ? WHOLE
               : rest[n] == '.' && all > n + half && !strcmp(rest + all - half, HALF) ? HALF_WRITTEN
                                                                                      : OTHER;
    }
    return OTHER;
}

/* True if a file with the name of a state is one, even if it is damaged at one end, or is empty, which loses nothing.
 */
static int is_state(int folder, const char *name) {
    char head[sizeof HEADING] = "", mark[sizeof MARK] = "";
    struct stat s;
    if (fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) || !S_ISREG(s.st_mode))
        return 0;
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const long end = (long)s.st_size - (long)sizeof(tail);
    int known = s.st_size == 0;
    if (fd >= 0 && pread(fd, head, sizeof HEADING - 1, 0) > 0)
        known |= !memcmp(head, HEADING, sizeof HEADING - 1);
    if (fd >= 0 && end >= 0 && pread(fd, mark, sizeof mark, end) > 0)
        known |= !memcmp(mark, MARK, sizeof mark);
    if (fd >= 0)
        close(fd);
    return known;
}

int statefile_foreign(const char *path, int n, char *name) {
    DIR *folder = opendir(path);
    maker by;
    int found = 0;
    name[0] = 0;
    for (struct dirent *e; folder != NULL && !found && (e = readdir(folder)) != NULL;) {
        found = kind_of(e->d_name, &by) == WHOLE && !is_state(dirfd(folder), e->d_name);
        if (found)
            snprintf(name, (size_t)n, "%s", e->d_name);
    }
    if (folder != NULL)
        closedir(folder);
    return found;
}

int statefile_others(const char *path, int shot, int ranks) {
    DIR *folder = opendir(path);
    maker by;
    int others = 0;
    for (struct dirent *e; folder != NULL && others == 0 && (e = readdir(folder)) != NULL;)
        if (kind_of(e->d_name, &by) == WHOLE && by.shot == shot && by.ranks != ranks)
            others = by.ranks;
    if (folder != NULL)
        closedir(folder);
    return others;
}

void statefile_drop(const char *path, int shot) {
    DIR *folder = opendir(path);
    maker by;
    if (folder == NULL)
        return;
    for (struct dirent *e; (e = readdir(folder)) != NULL;)
        if (kind_of(e->d_name, &by) == WHOLE && by.shot == shot)
            unlinkat(dirfd(folder), e->d_name, 0);
    closedir(folder);
}

int statefile_sweep(const char *path, int everything) {
    DIR *folder = opendir(path);
    maker by;
    if (folder == NULL)
        return 0;
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        const enum kind kind = kind_of(e->d_name, &by);
        if (kind == HALF_WRITTEN || (everything && kind == WHOLE && is_state(dirfd(folder), e->d_name)))
            unlinkat(dirfd(folder), e->d_name, 0);
    }
    closedir(folder);
    if (everything)
        rmdir(path); /* not if the user put something there */
    return 0;
}
