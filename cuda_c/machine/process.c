/* Processes of this machine: see process.h and interfaces/siblings_c.f90. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counts.h"
#include "iface.h"
#include "launcher.h"
#include "process.h"

/* As process_started; `state`: the letter of the kernel (man 5 proc). */
static int look_at(long pid, unsigned long long *ticks, char *state) {
    enum { EXITING = 0x4, SIGNALED = 0x400 };
    char path[64], line[1024];
    unsigned flags;
    *state = '?';
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ESRCH ? 0 : -1;
    ssize_t got = read(fd, line, sizeof line - 1);
    int gone = got < 0 && errno == ESRCH;
    close(fd);
    if (got <= 0)
        return gone ? 0 : -1;
    line[got] = 0;
    char *rest = strrchr(line, ')');
    if (!rest || sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                        state, &flags, ticks) != 3)
        return -1;
    return *state != 'Z' && *state != 'X' && !(flags & (EXITING | SIGNALED));
}

int process_started(long pid, unsigned long long *ticks) {
    char state;
    return look_at(pid, ticks, &state);
}

int process_stopped(long pid) {
    unsigned long long ticks;
    char state;
    return look_at(pid, &ticks, &state) == 1 && state == 'T';
}

/* --- those that the same launcher has started ---------------------------------------- */

enum { PATH = 64 };
static const double look_every = 0.05; /* seconds: ranks of a machine start within a tenth of a second */
static const double still_most = 60;   /* seconds that one may be stopped while this one runs */
static const double still_at_end = 5;  /* the same when the job ends */
static const double pause_most = 1; /* seconds between two looks; all of it that is longer this one was stopped, too */

struct sibling {
    long pid;
    unsigned long long ticks; /* its start */
    double ended;             /* since when it has been seen to be gone [s], 0 = it lives */
    double still;             /* seconds that it has been seen to be stopped, as by SIGSTOP */
};

static struct { /* of the thread that watches; there is one at a time */
    struct sibling *all;
    size_t n;
    int here;      /* ranks of this job that the launcher has on this machine now, this one too */
    double fewer;  /* since when these are fewer than it should have [s], 0 = they are not */
    double looked; /* the latest look at them [s] */
    int stopped;   /* of them are stopped now */
} known;

static pthread_mutex_t one_watcher = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t verdict = PTHREAD_MUTEX_INITIALIZER; /* no watch that is over sets the alarm */
static atomic_int turn; /* raised where a watch begins or ends: a thread whose turn is over ends */
static double patience;
static int end_status;

static int same_program(long pid) {
    char path[PATH];
    struct stat its, mine;
    snprintf(path, sizeof path, "/proc/%ld/exe", pid);
    return !stat(path, &its) && !stat("/proc/self/exe", &mine) && its.st_ino == mine.st_ino &&
           its.st_dev == mine.st_dev;
}

static void meet(long pid) {
    unsigned long long ticks;
    int met = pid == getpid();
    for (size_t i = 0; i < known.n; i++)
        met |= known.all[i].pid == pid;
    if (!met && (process_started(pid, &ticks) != 1 || !launcher_same_job(pid)))
        return;
    known.here++;
    if (met || !same_program(pid))
        return;
    struct sibling *more = realloc(known.all, (known.n + 1) * sizeof *more);
    if (!more)
        return; /* one less is watched */
    known.all = more;
    known.all[known.n++] = (struct sibling){pid, ticks, 0, 0};
}

/* The kernel lists the children of each thread of the launcher. Where it does not, or hides them, nobody is watched. */
static void look_around(void) {
    char pattern[PATH];
    glob_t lists = {0};
    known.here = 0;
    snprintf(pattern, sizeof pattern, "/proc/%ld/task/*/children", (long)getppid());
    if (!glob(pattern, GLOB_NOSORT, NULL, &lists))
        for (size_t i = 0; i < lists.gl_pathc; i++) {
            long pid;
            FILE *f = fopen(lists.gl_pathv[i], "re");
            while (f && fscanf(f, "%ld", &pid) == 1)
                meet(pid);
            if (f)
                fclose(f);
        }
    globfree(&lists);
}

/* True if a launcher that leaves others alone has lacked ranks here for so long that it cannot still be starting them:
 * one was gone before it was seen. What stands between it and a rank, as a shell does, has the name of the job too:
 * children of that are not counted. */
static int lacks_ranks(void) {
    const char *word = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    double now = host_seconds();
    long should = 0;
    count_read(word ? word : "", 1, INT_MAX, NULL, &should);
    if (!launcher_leaves_others() || !known.here || known.here >= should || launcher_same_job(getppid()))
        known.fewer = 0;
    else if (!known.fewer)
        known.fewer = now;
    return known.fewer > 0 && now - known.fewer >= 2 * patience;
}

/* Looks at all. The number of one that has been gone for longer than the patience, 0 if there is none. */
static long long_gone(void) {
    double now = host_seconds(), since = now - known.looked;
    long gone = 0;
    since = since < pause_most ? since : pause_most;
    known.looked = now;
    known.stopped = 0;
    for (size_t i = 0; i < known.n; i++) {
        struct sibling *s = &known.all[i];
        unsigned long long ticks = s->ticks;
        char state;
        int lives = look_at(s->pid, &ticks, &state);
        int stopped = lives == 1 && ticks == s->ticks && state == 'T';
        known.stopped += stopped;
        s->still = stopped ? s->still + since : 0;
        if (lives == 0 || (lives == 1 && ticks != s->ticks))
            s->ended = s->ended > 0 ? s->ended : now;
        if (!gone && s->ended > 0 && now - s->ended >= patience)
            gone = s->pid;
    }
    return gone;
}

/* Kills those that were stopped for so many seconds: they hear no alarm, the others end, and their launcher would wait
 * for them for ever. */
static void end_still(double most, const char *when) {
    char words[200];
    for (size_t i = 0; i < known.n && launcher_leaves_others(); i++) {
        struct sibling *s = &known.all[i];
        if (s->still < most || kill((pid_t)s->pid, SIGKILL))
            continue;
        s->still = 0;
        snprintf(words, sizeof words,
                 "warning: process %ld, a rank on this machine, was stopped for %.0f s %s: it is killed\n", s->pid,
                 most, when);
        if (write(STDERR_FILENO, words, strlen(words)) < 0)
            return; /* nobody listens */
    }
}

static void *watch(void *begun) {
    char words[300], who[32] = "";
    long gone = 0;
    pthread_mutex_lock(&one_watcher);
    known.fewer = 0;
    known.looked = host_seconds();
    while (!gone && turn == (int)(long)begun) {
        look_around();
        gone = long_gone();
        if (gone)
            snprintf(who, sizeof who, "process %ld, ", gone);
        gone = gone || lacks_ranks();
        end_still(still_most, "while the ranks found each other");
        host_nap(look_every);
    }
    while (gone && turn == (int)(long)begun && launcher_leaves_others() && known.stopped) { /* nobody is left later */
        look_around();
        long_gone();
        end_still(still_at_end, "as the job ended");
        host_nap(look_every);
    }
    snprintf(words, sizeof words,
             "error: %sa rank on this machine%s has ended before the ranks had found each other; run the same command "
             "again%s",
             who, *who ? "," : "", launcher_leaves_others() ? "; mpirun --enable-recovery may say 0 all the same" : "");
    pthread_mutex_lock(&verdict);
    if (gone && turn == (int)(long)begun)
        host_alarm(1, end_status, words);
    pthread_mutex_unlock(&verdict);
    pthread_mutex_unlock(&one_watcher);
    return NULL;
}

static void begin(void *(*routine)(void *), void *argument) {
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the program's own thread */
    if (!pthread_create(&thread, NULL, routine, argument))
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void siblings_watch(double seconds, int status) {
    pthread_mutex_lock(&verdict);
    long begun = ++turn;
    pthread_mutex_unlock(&verdict);
    if (seconds <= 0)
        return;
    patience = seconds;
    end_status = status;
    begin(watch, (void *)begun);
}

/* Until none is stopped, or, `always`, until this process ends. */
static void part(int always) {
    pthread_mutex_lock(&one_watcher);
    known.looked = host_seconds();
    do {
        host_nap(look_every);
        look_around();
        long_gone();
        end_still(still_at_end, "as the job ended");
    } while (always || known.stopped);
    pthread_mutex_unlock(&one_watcher);
}

static void *part_always(void *nothing) {
    part(1);
    return nothing;
}

void siblings_part(int wait) {
    if (!launcher_leaves_others())
        return;
    if (wait)
        part(0);
    else
        begin(part_always, NULL);
}
