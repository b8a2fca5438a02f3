/* The machine under a rank: see interfaces/host_c.f90. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "err.h"
#include "files.h"
#include "iface.h"

enum { MANY_CORES = 1 << 20, HANDED_ON = 2 };

/* Signals that ask a job to end. Those of the second half come from some batch systems before they kill, from the
 * kernel at the soft limit of processor time, and from a terminal that is closed: one of these that is ignored, as
 * under nohup, stays so. */
static const struct {
    int number, always;
    const char *name;
} asks[] = {{SIGINT, 1, "SIGINT"},   {SIGTERM, 1, "SIGTERM"}, {SIGUSR1, 1, "SIGUSR1"},
            {SIGUSR2, 0, "SIGUSR2"}, {SIGXCPU, 0, "SIGXCPU"}, {SIGHUP, 0, "SIGHUP"}};

static volatile sig_atomic_t caught, terms, terminator, ends, resumed;
static volatile time_t first_term;

/* True of those that were ignored when the program began. Libraries have taken some for themselves before main: UCX,
 * which Open MPI 5 brings along, takes SIGHUP. So this comes before them, and asks the kernel: no libc is set up. */
static int ignored[sizeof asks / sizeof asks[0]];

__attribute__((no_sanitize("address", "undefined"))) static void note_ignored(void) {
    for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
        unsigned long action[8] = {0}; /* the kernel's: the handler, then flags and a mask of 8 bytes */
        ignored[i] = !syscall(SYS_rt_sigaction, asks[i].number, NULL, action, 8) && action[0] == (unsigned long)SIG_IGN;
    }
}

__attribute__((section(".preinit_array"), used)) static void (*const before_libraries)(void) = note_ignored;

/* A launcher hands on a SIGTERM that the whole job may get as well: what comes so soon after the first is the same. */
static int is_again(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!first_term)
        first_term = now.tv_sec;
    else if (now.tv_sec - first_term <= HANDED_ON)
        return 1;
    return 0;
}

static const char *name_of(int number) {
    for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++)
        if (asks[i].number == number)
            return asks[i].name;
    return "";
}

/* Called by a signal, so by calls alone that may be made there. */
static void end_early(void) {
    static const char words[] = ": stopped before the first shot was dealt; run the same command again to continue\n";
    const char *name = name_of(caught);
    if (write(STDERR_FILENO, name, strlen(name)) < 0 || write(STDERR_FILENO, words, sizeof words - 1) < 0)
        _exit(ends); /* nobody listens */
    launcher_hears();
    _exit(ends);
}

static void remember(int signal_number, siginfo_t *info, void *context) {
    (void)context;
    caught = signal_number;
    if (signal_number == SIGINT || (signal_number == SIGTERM && !is_again()))
        terms++;
    if (signal_number == SIGTERM && info->si_code <= 0 && info->si_pid > 0 && info->si_pid == getppid())
        terminator = 2;
    else if (signal_number == SIGTERM && !terminator)
        terminator = 1;
    if (ends)
        end_early();
}

void host_signals_end(int status) {
    ends = status;
    if (status && caught)
        end_early();
}

static void resume(int signal_number) {
    (void)signal_number;
    resumed++;
}

void host_catch_signals(void) {
    struct sigaction action = {.sa_sigaction = remember, .sa_flags = SA_RESTART | SA_SIGINFO};
    struct sigaction go_on = {.sa_handler = resume, .sa_flags = SA_RESTART};
    sigaction(SIGCONT, &go_on, NULL);
    for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++)
        if (asks[i].always || !ignored[i])
            sigaction(asks[i].number, &action, NULL);
        else
            signal(asks[i].number, SIG_IGN);
}

void host_standard_files(void) {
    int fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = dup(fd);
    if (fd >= 0)
        close(fd);
    file_limit_is_error(); /* MPI of Open MPI 5 makes files as it begins */
}

/* Measured in 2D and 3D: 160 kB end in a segmentation fault, 256 kB do not, with a million receivers too. */
int host_stack(void) {
    const rlim_t least = 512 << 10, usual = 8 << 20;
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= least)
        return 0;
    limit.rlim_cur = limit.rlim_max < usual ? limit.rlim_max : usual;
    setrlimit(RLIMIT_STACK, &limit);
    REQUIRE(limit.rlim_cur >= least,
            "the stack is limited to %ld kB, at least %ld kB are needed: raise the limit (ulimit -s %ld)",
            (long)(limit.rlim_cur >> 10), (long)(least >> 10), (long)(usual >> 10));
    return 0;
}

void host_outlive_readers(void) { signal(SIGPIPE, SIG_IGN); }

int host_print(long n, const char *text) {
    while (n > 0) {
        ssize_t written = write(STDOUT_FILENO, text, (size_t)n);
        if (written < 0 && errno == EINTR)
            continue;
        REQUIRE(written >= 0, "cannot write to standard output: %s", strerror(errno));
        text += written;
        n -= written;
    }
    return 0;
}

int host_signal(void) { return caught; }

void host_signal_name(int number, int n, char *name) { snprintf(name, (size_t)n, "%s", name_of(number)); }

int host_terms(void) { return terms; }

int host_resumed(void) { return resumed; }

int host_terminator(void) { return terminator; }

void host_folder(int n, char *path) {
    if (!getcwd(path, (size_t)n))
        path[0] = 0;
}

void host_program(int n, char *path) {
    ssize_t got = readlink("/proc/self/exe", path, (size_t)n - 1);
    path[got < 0 || got == n - 1 ? 0 : got] = 0;
}

static struct {
    char words[400];
    int status;
} last;

static void end_here(int signal_number) {
    (void)signal_number;
    if (write(STDERR_FILENO, last.words, strlen(last.words)) < 0)
        last.words[0] = 0; /* nobody listens */
    launcher_hears();
    _exit(last.status);
}

void host_alarm(int seconds, int status, const char *words) {
    struct sigaction action = {.sa_handler = end_here};
    alarm(0);
    last.status = status;
    snprintf(last.words, sizeof last.words, "%s\n", words);
    sigaction(SIGALRM, &action, NULL);
    alarm((unsigned)seconds);
}

void host_preset(const char *name, const char *value) {
    setenv(name, value, 0); /* where there is no room for it, nothing is preset */
}

/* The cores that this process may run on, of the first `most`; NULL where that cannot be told. The largest machines
 * have more than a cpu_set_t has room for, and say nothing to one who asks for so few. */
static cpu_set_t *cores(int *most) {
    for (*most = CPU_SETSIZE; *most <= MANY_CORES; *most *= 2) {
        cpu_set_t *set = CPU_ALLOC(*most);
        if (set && !sched_getaffinity(0, CPU_ALLOC_SIZE(*most), set))
            return set;
        CPU_FREE(set);
    }
    return NULL;
}

int host_cores(void) {
    int most;
    cpu_set_t *set = cores(&most);
    int n = set ? CPU_COUNT_S(CPU_ALLOC_SIZE(most), set) : 1;
    CPU_FREE(set);
    return n < 1 ? 1 : n;
}

long host_cores_hash(void) {
    int most;
    cpu_set_t *set = cores(&most);
    unsigned long hash = 5381;
    for (int i = 0; set && i < most; i++)
        if (CPU_ISSET_S(i, CPU_ALLOC_SIZE(most), set))
            hash = hash * 33 + (unsigned long)i;
    CPU_FREE(set);
    return (long)(hash >> 1);
}

void host_nap(double seconds) {
    static _Thread_local int naps;
    if (naps == 0) { /* else short naps last 50 us longer */
        prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
        naps = 1;
    }
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

double host_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int host_terminal(void) { return isatty(2); }

void host_name(char *name, int n) {
    if (gethostname(name, (size_t)n))
        strncpy(name, "unknown", (size_t)n);
    name[n - 1] = 0;
}

void host_processor(char *name, int n) {
    char line[256];
    strncpy(name, "CPU", (size_t)n);
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon)
            continue;
        line[strcspn(line, "\n")] = 0;
        strncpy(name, colon + 2, (size_t)n);
        break;
    }
    if (f)
        fclose(f);
    name[n - 1] = 0;
}
