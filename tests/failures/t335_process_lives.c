/* The state of a process, from the text that tells which it is (interfaces/lock_c.f90): one that stands still lives;
 * one that was killed does not, while the kernel still takes it down, while nobody has buried it, and when its number
 * belongs to another. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "iface.h"

enum { TEXT = 256 };

/* A child that waits for its end, and the text that it has of itself. */
static pid_t child(char *text) {
    int to[2];
    if (pipe(to))
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        lock_self(TEXT, text);
        if (write(to[1], text, TEXT) != TEXT)
            _exit(1);
        for (;;)
            pause();
    }
    close(to[1]);
    if (read(to[0], text, TEXT) != TEXT)
        text[0] = 0;
    close(to[0]);
    return pid;
}

static char state_of(pid_t pid) {
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return '-';
    char *rest = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    fclose(f);
    return rest ? rest[2] : '-';
}

static void wait_for(pid_t pid, char state) {
    for (int i = 0; i < 300000 && state_of(pid) != state; i++)
        usleep(1000);
}

int main(void) {
    char text[TEXT], other[TEXT], changed[TEXT + 8];
    lock_self(TEXT, text);
    claim(lock_alive(text) == 1, "this process lives: %s", text);

    pid_t pid = child(text);
    claim(pid > 0 && lock_alive(text) == 1, "so does a child");
    kill(pid, SIGSTOP);
    wait_for(pid, 'T');
    claim(state_of(pid) == 'T' && lock_alive(text) == 1, "which was stopped (state %c): it may go on", state_of(pid));
    kill(pid, SIGKILL);
    wait_for(pid, 'Z');
    claim(state_of(pid) == 'Z' && lock_alive(text) == 0, "killed, and not buried (state %c): it is dead",
          state_of(pid));
    waitpid(pid, NULL, 0);
    claim(lock_alive(text) == 0, "buried: it is dead");

    /* the same number with another start, and texts of elsewhere */
    pid = child(other);
    char *start = strrchr(other, '/');
    snprintf(changed, sizeof changed, "%.*s/%llu", (int)(start - other), other, strtoull(start + 1, NULL, 10) - 1);
    claim(lock_alive(other) == 1 && lock_alive(changed) == 0,
          "the same number, begun at another time: another process");
    snprintf(changed, sizeof changed, "%s", other);
    memcpy(strstr(changed, "here=") + 5, "0", 1);
    strstr(changed, "here=")[6] = strstr(changed, "here=")[6] == '0' ? '1' : '0';
    claim(lock_alive(changed) == -1 && lock_alive("") == -1 && lock_alive("nonsense") == -1,
          "of a process of another machine, or of no text, nothing can be told");

    claim(lock_kill(changed) == 0 && lock_kill("") == 0 && lock_kill("nonsense") == 0, "nor is one killed");
    snprintf(changed, sizeof changed, "%.*s/%llu", (int)(start - other), other, strtoull(start + 1, NULL, 10) - 1);
    claim(lock_kill(changed) == 0 && lock_alive(other) == 1, "nor one that has the number of another");
    pid_t victim = child(text);
    kill(victim, SIGSTOP);
    wait_for(victim, 'T');
    int killed = lock_kill(text);
    wait_for(victim, 'Z');
    claim(killed == 1 && lock_alive(text) == 0, "one that was stopped is killed");
    waitpid(victim, NULL, 0);
    claim(lock_kill(text) == 0, "once");

    /* no descriptor is left to look with */
    struct rlimit few, before;
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &few);
    int told = lock_alive(other), reason = open("/dev/null", O_RDONLY) < 0 ? errno : 0;
    setrlimit(RLIMIT_NOFILE, &before);
    claim(reason == EMFILE && told == -1, "no file can be opened: that is no death, lock_alive says %d, must be -1",
          told);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);

    /* killed, and held by a tracer before the kernel has begun to take it down: state t, not Z */
    pid = child(text);
    if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXIT)) {
        printf("SKIP - a process cannot be traced here, so none is held while it is taken down\n");
        kill(pid, SIGKILL);
    } else {
        kill(pid, SIGKILL);
        int status = 0;
        waitpid(pid, &status, 0);
        claim(status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8) && state_of(pid) == 't' && lock_alive(text) == 0,
              "killed, and still being taken down (state %c): dead, lock_alive says %d, must be 0", state_of(pid),
              lock_alive(text));
        ptrace(PTRACE_CONT, pid, 0, 0);
    }
    waitpid(pid, NULL, 0);
    return check_failed;
}
