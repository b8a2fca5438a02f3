/* A machine whose shots take long and no processor time: LD_PRELOAD=slow.so SLOW=MICROSECONDS [SLOW_RANK=MICROSECONDS
 * ...]
 *
 * Each loop that threads share begins so much later, on RANK by its own number: some 14 loops a small shot. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void linger(void) {
    char name[32];
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    snprintf(name, sizeof name, "SLOW_%.16s", rank != NULL ? rank : "0");
    const char *own = getenv(name), *all = getenv("SLOW");
    const long us = atol(own != NULL ? own : all != NULL ? all : "0");
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

void GOMP_parallel(void (*loop)(void *), void *data, unsigned threads, unsigned flags) {
    __typeof__(&GOMP_parallel) real = (__typeof__(&GOMP_parallel))dlsym(RTLD_NEXT, "GOMP_parallel");
    linger();
    real(loop, data, threads, flags);
}
