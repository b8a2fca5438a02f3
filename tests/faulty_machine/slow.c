/* A machine whose shots take long and no processor time: LD_PRELOAD=slow.so SLOW=MICROSECONDS [SLOW_RANK=MICROSECONDS
 * ...]
 *
 * Each loop that threads share begins so much later, on RANK by its own number: 17 loops a small shot.
 *
 * GATE=FILE GATE_AT=N: a process, of several ranks a worker, stands still before its N-th such loop and each later one
 * as long as FILE is there, and FILE.RANK tells that it does. So a test that is late itself finds it in the midst of
 * the same shot. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK = 2000 }; /* microseconds between two looks */

static const char *rank_here(void) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank != NULL ? rank : "0";
}

static void linger(void) {
    char name[32];
    snprintf(name, sizeof name, "SLOW_%.16s", rank_here());
    const char *own = getenv(name), *all = getenv("SLOW");
    const long us = atol(own != NULL ? own : all != NULL ? all : "0");
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

static void stand(void) {
    static long loops;
    char path[4096];
    const char *gate = getenv("GATE"), *at = getenv("GATE_AT");
    const char *ranks = getenv("OMPI_COMM_WORLD_SIZE");
    if (gate == NULL || at == NULL || ++loops < atol(at) || access(gate, F_OK) != 0)
        return;
    if (ranks != NULL && atoi(ranks) > 1 && !strcmp(rank_here(), "0"))
        return;
    snprintf(path, sizeof path, "%s.%s", gate, rank_here());
    FILE *here = fopen(path, "w");
    if (here != NULL)
        fclose(here);
    while (access(gate, F_OK) == 0)
        usleep(LOOK);
}

void GOMP_parallel(void (*loop)(void *), void *data, unsigned threads, unsigned flags) {
    __typeof__(&GOMP_parallel) real = (__typeof__(&GOMP_parallel))dlsym(RTLD_NEXT, "GOMP_parallel");
    linger();
    stand();
    real(loop, data, threads, flags);
}
