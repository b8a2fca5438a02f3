/* A lock that is a file: see interfaces/lock_c.f90.
 *
 * Made by link(), which is one step on every file system that has links, NFS too, whatever its locks are worth. The
 * file is one line that tells who holds it, and a count that a thread of the owner raises every few seconds:
 *
 *   lock 1 user=ann host=n7 since=2026-11-21T09:00:00Z pid=4711 here=MACHINE token=0123456789abcdef
 *   does=deals beat=000000000012                                             (on the same line)
 *
 * MACHINE names the running system, the process space in it and the start of the process, so that on the same machine a
 * dead owner is known at once; from elsewhere only the count tells. No clock of two machines is ever compared.
 * The owner writes beside the count whether it deals or waits for its disk: that needs no room on the disk.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "counts.h"
#include "err.h"
#include "iface.h"
#include "process.h"

enum { LINE = 700, TOKEN = 16, TAIL = 23, HEIR_NAPS = 3000 }; /* naps of 0.01 s */
static const char tail_form[] = "%s beat=%012ld";             /* TAIL characters, whichever word */

struct lock {
    pthread_t thread;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t wake;
    int beating, stop, lost;
    atomic_int waits, news; /* for its disk; that has changed and is not written yet */
    long beats;
    double every; /* seconds between beats */
    char token[TOKEN + 1];
    char line[LINE];
    char path[];
};

/* --- processes ----------------------------------------------------------------------- */

static void read_word(const char *path, char *word, size_t n) {
    strcpy(word, "-");
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    if (fgets(word, (int)n, f))
        word[strcspn(word, "\n")] = 0;
    fclose(f);
}

static char here_it_runs[160];

static void find_machine(void) {
    char boot[64], space[64] = "-";
    read_word("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    ssize_t got = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    space[got < 0 ? 1 : got] = 0;
    snprintf(here_it_runs, sizeof here_it_runs, "%s/%s", boot, space);
}

/* The running system and the process space in it: process numbers mean something only within both. */
static const char *machine(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_machine);
    return here_it_runs;
}

static void user_name(uid_t user, char *name, size_t n) {
    struct passwd entry, *found = NULL;
    char buffer[2048];
    if (getpwuid_r(user, &entry, buffer, sizeof buffer, &found) || !found)
        snprintf(name, n, "%ld", (long)user);
    else
        snprintf(name, n, "%s", entry.pw_name);
    for (char *c = name; *c; c++)
        if (*c <= ' ')
            *c = '_';
}

void lock_self(int n, char *text) {
    unsigned long long ticks = 0;
    process_started(getpid(), &ticks);
    snprintf(text, (size_t)n, " pid=%ld here=%s/%llu", (long)getpid(), machine(), ticks);
}

static void describe(struct lock *l) {
    unsigned char noise[TOKEN / 2];
    char user[64], host[128], self[256], now[21] = {0};
    if (getrandom(noise, sizeof noise, 0) != sizeof noise) { /* never seen to fail; process and time tell apart too */
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        long mixed = t.tv_nsec ^ (t.tv_sec << 20) ^ ((long)getpid() << 40);
        memcpy(noise, &mixed, sizeof noise);
    }
    for (int i = 0; i < TOKEN / 2; i++)
        snprintf(l->token + 2 * i, 3, "%02x", noise[i]);
    user_name(getuid(), user, sizeof user);
    host_name(host, sizeof host);
    lock_self(sizeof self, self);
    clock_text(clock_seconds(), now);
    int n =
        snprintf(l->line, LINE, "lock 1 user=%s host=%s since=%s%s token=%s does=", user, host, now, self, l->token);
    snprintf(l->line + n, LINE - (size_t)n, tail_form, "deals", 0L);
    strcat(l->line, "\n");
}

/* The word after `name` in a line, "" if there is none. */
static void word_of(const char *line, const char *name, char *word, size_t n) {
    const char *at = strstr(line, name);
    size_t length = at ? strcspn(at + strlen(name), " \n") : 0;
    snprintf(word, n, "%.*s", (int)length, at ? at + strlen(name) : "");
}

int lock_alive(const char *text) {
    char here[256], pid[32];
    const char *mine = machine();
    word_of(text, " here=", here, sizeof here);
    word_of(text, " pid=", pid, sizeof pid);
    char *start = strrchr(here, '/');
    if (!start || !pid[0] || mine[0] == '-' || strncmp(here, mine, strlen(mine)) || here + strlen(mine) != start)
        return -1;
    long number = 0; /* no process has it */
    count_read(pid, 1, INT_MAX, NULL, &number);
    unsigned long long ticks;
    int lives = number ? process_started(number, &ticks) : 0;
    return lives == 1 ? ticks == strtoull(start + 1, NULL, 10) : lives;
}

/* The number of its process, 0 if there is none. */
static long process_of(const char *text) {
    char pid[32];
    long number = 0;
    word_of(text, " pid=", pid, sizeof pid);
    count_read(pid, 1, INT_MAX, NULL, &number);
    return number;
}

int lock_stopped(const char *text) { return lock_alive(text) == 1 && process_stopped(process_of(text)); }

int lock_kill(const char *text) { return lock_alive(text) == 1 && kill((pid_t)process_of(text), SIGKILL) == 0; }

/* --- the file ------------------------------------------------------------------------ */

int lock_read(const char *path, int n, char *text) {
    text[0] = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC); /* opening asks the server of a network file system for what is new */
    if (fd < 0)
        return errno == ENOENT ? -1 : -2;
    ssize_t got = read(fd, text, (size_t)n - 1);
    close(fd);
    text[got < 0 ? 0 : got] = 0;
    return got < 0 ? -2 : (int)got;
}

double lock_age(const char *path) {
    struct stat st;
    double age = stat(path, &st) ? 0 : clock_seconds() - (double)st.st_mtime;
    return age > 0 ? age : 0;
}

/* 1 this lock stands there; 0 another one; -1 none; -2 that cannot be told. */
static int mine_there(const struct lock *l) {
    char text[LINE], token[64];
    int n = lock_read(l->path, sizeof text, text);
    if (n < 0)
        return n;
    word_of(text, " token=", token, sizeof token);
    return token[0] ? !strcmp(token, l->token) : -2;
}

static int write_new(const char *name, const char *line) {
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return errno;
    size_t n = strlen(line);
    ssize_t put = write(fd, line, n);
    int reason = put == (ssize_t)n ? 0 : put < 0 ? errno : ENOSPC;
    if (!reason && fsync(fd))
        reason = errno;
    close(fd);
    if (reason)
        unlink(name);
    return reason;
}

/* Makes a file with the line in one step, by way of LOCK.TOKEN, the shortest name that there is. 0, EEXIST if it is
 * there already, or another reason. */
static int put_file(const char *lock, const char *path, const char *token, const char *line) {
    char *own = NULL;
    if (asprintf(&own, "%s.%s", lock, token) < 0)
        return ENOMEM;
    int reason = write_new(own, line);
    for (int tries = 0; !reason && tries < 3; tries++) {
        struct stat st;
        reason = link(own, path) ? errno : 0;
        if (reason == ENOENT && access(own, F_OK)) { /* taken for one left over, empty as it was (lock_leftovers.c) */
            reason = write_new(own, line);
            continue;
        }
        if (reason && !stat(own, &st) && st.st_nlink == 2)
            reason = 0; /* the answer of a network file system was lost, the link is there */
        unlink(own);
        if (reason == EPERM || reason == EOPNOTSUPP || reason == ENOSYS || reason == EMLINK) /* no links here */
            reason = write_new(path, line);
        break;
    }
    free(own);
    return reason;
}

static int put_there(const struct lock *l) { return put_file(l->path, l->path, l->token, l->line); }

/* The reason why the file with the lock's name can never be read; NULL if it can be, or is gone. */
static const char *unreadable(const char *path) {
    struct stat st;
    if (lstat(path, &st))
        return NULL;
    if (!S_ISREG(st.st_mode))
        return "it is not an ordinary file";
    return access(path, R_OK) && errno != ENOENT ? strerror(errno) : NULL;
}

void *lock_try(const char *path, int *held) {
    *held = 0;
    struct lock *l = calloc(1, sizeof *l + strlen(path) + 1);
    if (!l)
        return err_set("out of memory for the name '%s'", path), NULL;
    strcpy(l->path, path);
    describe(l);
    int reason = put_there(l);
    if (!reason) {
        pthread_mutex_init(&l->mutex, NULL);
        pthread_condattr_t attribute;
        pthread_condattr_init(&attribute);
        pthread_condattr_setclock(&attribute, CLOCK_MONOTONIC);
        pthread_cond_init(&l->wake, &attribute);
        pthread_condattr_destroy(&attribute);
        return l;
    }
    const char *why = reason == EEXIST ? unreadable(path) : NULL;
    *held = reason == EEXIST && !why;
    if (why)
        err_set("cannot read the lock '%s': %s: ask its owner, or remove it if no job runs on this output", path, why);
    else
        err_set("cannot write '%s': %s", path, strerror(reason));
    free(l);
    return NULL;
}

/* --- taking over the lock of a dead owner ---------------------------------------------- */

static void token_of(const char *text, char *token, size_t n) {
    word_of(text, " token=", token, n);
    if (!token[0])
        snprintf(token, n, "unreadable");
}

/* Removes the lock if it is still that one. An owner elsewhere that was only thought to be gone may have given it up
 * and somebody else taken it between the look and now: then it goes back. `base`.`own`: a name that no file has.
 */
static int remove_lock(const char *base, const char *path, const char *token, const char *own) {
    char *away = NULL, found[64], now[LINE];
    int n = lock_read(path, sizeof now, now);
    token_of(now, found, sizeof found);
    if (n < 0 || strcmp(token, found))
        return 0;
    if (asprintf(&away, "%s.%s.old", base, own) < 0)
        return ENOMEM;
    int reason = rename(path, away) ? errno : 0;
    if (!reason) {
        n = lock_read(away, sizeof now, now);
        token_of(now, found, sizeof found);
        if (n >= 0 && strcmp(token, found) && link(away, path) && errno != EEXIST)
            rename(away, path);
        else
            unlink(away);
    }
    free(away);
    return reason == ENOENT ? 0 : reason;
}

/* Fails; if it is another user's file tells whose: in a folder like /tmp (sticky) nobody else may remove it, root
 * apart. */
static int not_taken(const char *path, const char *why) {
    char owner[64];
    struct stat st;
    REQUIRE(!lstat(path, &st) && st.st_uid != geteuid(), "cannot take the lock '%s' over: %s", path, why);
    user_name(st.st_uid, owner, sizeof owner);
    FAIL("cannot take the lock '%s' of user %s over: %s: ask %s to remove it, or choose another output", path, owner,
         why, owner);
}

static int break_lock(const char *base, const char *path, const char *text);

/* Another process is at it: waits until that is over. A process that died over it loses the right to it as a lock is
 * lost. */
static int wait_for_heir(const char *base, const char *right) {
    char first[LINE], now[LINE];
    const struct timespec nap = {0, 10000000};
    const char *why = unreadable(right);
    if (why)
        return not_taken(right, why); /* else it would be tried for ever */
    if (lock_read(right, sizeof first, first) < 0)
        return 0;
    for (int naps = 0; naps < HEIR_NAPS; naps++) {
        if (lock_read(right, sizeof now, now) < 0 || strcmp(first, now))
            return 0;
        if (lock_alive(first) == 0)
            return break_lock(base, right, first);
        nanosleep(&nap, NULL);
    }
    return lock_alive(first) == 1 ? 0 : break_lock(base, right, first);
}

/* Of all that find a lock's owner gone one has the right to remove it: the one that makes the file BASE.TOKEN.dead. So
 * nobody can take away what the next owner has put there meanwhile: that has another token. `path` is the lock `base`,
 * or a right to remove it, of whose name, as long as names may be, none is made unless it says nothing. */
static int break_lock(const char *base, const char *path, const char *text) {
    char token[64], *right = NULL;
    token_of(text, token, sizeof token);
    struct lock *me = calloc(1, sizeof *me);
    if (!strcmp(token, "unreadable"))
        base = path;
    REQUIRE(me && asprintf(&right, "%s.%s.dead", base, token) > 0, "out of memory for the name '%s'", path);
    describe(me);
    int reason = put_file(base, right, me->token, me->line), failed = 0;
    if (reason == EEXIST) {
        reason = 0;
        failed = wait_for_heir(base, right);
    } else if (!reason) {
        reason = remove_lock(base, path, token, me->token);
        unlink(right);
    }
    free(right);
    free(me);
    TRY(failed);
    return reason ? not_taken(path, strerror(reason)) : 0;
}

int lock_break(const char *path, const char *text) { return break_lock(path, path, text); }

/* --- keeping it ---------------------------------------------------------------------- */

/* Looks whether the lock is still there, and raises its count. Called with the mutex held. */
static void beat(struct lock *l) {
    char tail[32];
    int there = mine_there(l);
    if (there == -1 && !l->lost &&
        put_there(l) != EEXIST) /* removed by hand, or a file system that came back without */
        there = mine_there(l);
    if (there == 0)
        l->lost = 1;
    if (there != 1 || l->lost)
        return;
    int fd = open(l->path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return; /* the file system is away or read-only: next time */
    snprintf(tail, sizeof tail, tail_form, l->waits ? "waits" : "deals", ++l->beats);
    if (pwrite(fd, tail, TAIL, (off_t)strlen(l->line) - TAIL - 1) == TAIL)
        fsync(fd);
    close(fd);
}

static void *keep(void *handle) {
    struct lock *l = handle;
    pthread_mutex_lock(&l->mutex);
    while (!l->stop && !l->lost) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        double until = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + l->every;
        t.tv_sec = (time_t)until;
        t.tv_nsec = (long)((until - (double)t.tv_sec) * 1e9);
        while (!l->stop && !l->news && pthread_cond_timedwait(&l->wake, &l->mutex, &t) == 0)
            continue;
        l->news = 0;
        if (!l->stop)
            beat(l);
    }
    pthread_mutex_unlock(&l->mutex);
    return NULL;
}

int lock_keep(void *handle, double seconds) {
    struct lock *l = handle;
    sigset_t all, before;
    REQUIRE(l && !l->beating, "the lock is not held, or kept already");
    l->every = seconds;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the program's own thread */
    int reason = pthread_create(&l->thread, NULL, keep, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    REQUIRE(!reason, "cannot start the thread that keeps '%s': %s", l->path, strerror(reason));
    l->beating = 1;
    return 0;
}

/* Without the mutex, as the thread may hold it for as long as a file system hangs. A wake-up that it misses costs a
 * beat.
 */
void lock_tell(void *handle, int waits) {
    struct lock *l = handle;
    if (!l || l->waits == waits)
        return;
    l->waits = waits;
    l->news = 1;
    pthread_cond_signal(&l->wake);
}

int lock_lost(void *handle) {
    struct lock *l = handle;
    if (!l)
        return 0;
    pthread_mutex_lock(&l->mutex);
    if (!l->lost)
        beat(l);
    int lost = l->lost;
    pthread_mutex_unlock(&l->mutex);
    return lost;
}

void lock_release(void *handle) {
    struct lock *l = handle;
    if (!l)
        return;
    pthread_mutex_lock(&l->mutex);
    l->stop = 1;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->mutex);
    if (l->beating)
        pthread_join(l->thread, NULL);
    if (mine_there(l) == 1)
        unlink(l->path);
    pthread_cond_destroy(&l->wake);
    pthread_mutex_destroy(&l->mutex);
    free(l);
}
