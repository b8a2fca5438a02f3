/* Memory that processes share (interfaces/shared_c.f90): the other process reads what is there, also when the owner is
 * dead; nobody can make it shorter; a name that is another file's, another memory's or nobody's opens nothing; and
 * nothing of it is left. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "iface.h"

enum { NAME = 64, HEAD = 4096, BYTES = HEAD + 1000000 };

static int files_open(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    closedir(d);
    return n;
}

static char letter(long i, unsigned seed) { return (char)((unsigned)i * 2654435761u + seed); }

/* A child that has memory full of letters, whose name it tells; on a second word it tries to make it shorter, and tells
 * whether it could. */
static pid_t owner(unsigned seed, char *name, int *ask) {
    int out[2], in[2];
    if (pipe(out) || pipe(in))
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        char path[NAME] = "", word;
        char *memory = shared_new(BYTES, NAME, path);
        for (long i = HEAD; memory && i < BYTES; i++)
            memory[i] = letter(i, seed);
        if (write(out[1], path, NAME) != NAME || read(in[0], &word, 1) != 1)
            _exit(1);
        *strchr(path, ' ') = 0;
        const int file = open(path, O_RDWR), shorter = file >= 0 && ftruncate(file, HEAD) == 0;
        word = shorter || errno != EPERM ? 'y' : 'n';
        if (write(out[1], &word, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(out[1]), close(in[0]);
    if (read(out[0], name, NAME) != NAME)
        name[0] = 0;
    ask[0] = out[0], ask[1] = in[1];
    return pid;
}

static long wrong(const char *memory, unsigned seed) {
    long n = 0;
    for (long i = HEAD; i < BYTES; i++)
        n += memory[i] != letter(i, seed);
    return n;
}

static void end(pid_t pid, const int *ask) {
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(ask[0]), close(ask[1]);
}

static void outlives(unsigned seed) {
    char name[NAME], word = 0;
    int ask[2];
    const int before = files_open();
    pid_t pid = owner(seed, name, ask);
    char *memory = shared_open(name, BYTES);
    claim(memory != NULL, "the memory '%s' of another process can be opened", name);
    if (!memory)
        return end(pid, ask);
    claim(wrong(memory, seed) == 0, "seed %u: all %d bytes are what it wrote", seed, BYTES - HEAD);
    const int told = write(ask[1], "?", 1) == 1 && read(ask[0], &word, 1) == 1;
    claim(told && word == 'n', "its owner cannot make it shorter, which would kill whoever reads it");
    end(pid, ask);
    claim(wrong(memory, seed) == 0, "the owner is killed, all bytes are there");
    claim(shared_open(name, BYTES) == NULL, "then it cannot be opened once more");
    shared_close(memory, BYTES);
    claim(files_open() == before, "%d files are open, %d were before", files_open(), before);
}

/* Names of what is not that memory. */
static void others(unsigned seed) {
    char name[NAME], bad[2 * NAME], fifo[] = "a.fifo";
    int ask[2], opened = 0, tried = 0;
    pid_t pid = owner(seed, name, ask);
    const size_t n = strlen(name);
    for (size_t i = n - 16; i < n; i++) { /* a number of the sixteen that tell it from others */
        strcpy(bad, name);
        bad[i] = bad[i] == '0' ? '1' : '0';
        opened += shared_open(bad, BYTES) != NULL, tried++;
    }
    claim(opened == 0, "%d of %d other random numbers open it", opened, tried);
    const long lengths[] = {BYTES + 1, BYTES - 1, HEAD, 0};
    opened = 0;
    for (int i = 0; i < 4; i++)
        opened += shared_open(name, lengths[i]) != NULL;
    claim(opened == 0, "%d of 4 other lengths open it", opened);
    mkfifo(fifo, 0600);
    const int pipe = open(fifo, O_RDWR), file = open("a.file", O_RDWR | O_CREAT, 0600);
    const int loose = memfd_create("shared", 0); /* of that name and length, but not sealed */
    if (ftruncate(file, BYTES) || ftruncate(loose, BYTES))
        return;
    opened = 0;
    const int fd[] = {pipe, file, loose, 9999};
    for (int i = 0; i < 4; i++) {
        snprintf(bad, sizeof bad, "/proc/%d/fd/%d 0", (int)getpid(), fd[i]);
        opened += shared_open(bad, BYTES) != NULL;
    }
    const char *names[] = {"", " ", "0", "/dev/tty 0", "a.file 0", "a.fifo 0", "/proc/self/fd/0"};
    for (int i = 0; i < 7; i++)
        opened += shared_open(names[i], BYTES) != NULL;
    memset(bad, '/', sizeof bad - 1);
    bad[sizeof bad - 1] = 0;
    bad[sizeof bad - 3] = ' ';
    opened += shared_open(bad, BYTES) != NULL;
    claim(opened == 0, "%d of 12 names of a pipe, a file, memory that is not sealed, and worse, open something",
          opened);
    end(pid, ask);
    close(pipe), close(file), close(loose);
}

/* More than half of what the machine has left is refused before it is asked for: the system would give all of it, and
 * kill other processes. The limit of files, far below, holds should that not work; it is told, too, not a signal. */
static void limited(void) {
    char name[NAME] = "";
    long total, available;
    host_memory("", &total, &available);
    const struct rlimit most = {1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_FSIZE, &most))
        return;
    void *memory = shared_new(available / 4 * 3, NAME, name);
    claim(!memory && strstr(err_message(), strerror(ENOMEM)), "three quarters of it: %s", (char *)err_message());
    memory = shared_new(2 << 20, NAME, name);
    claim(!memory && strstr(err_message(), strerror(EFBIG)), "beyond a limit: %s", (char *)err_message());
    memory = shared_new(1 << 20, NAME, name);
    claim(memory != NULL, "within the limit there is some");
    shared_close(memory, 1 << 20);
}

int main(void) {
    const unsigned seed = (unsigned)given_seed(NULL);
    outlives(seed);
    others(seed);
    limited();
    return check_failed;
}
