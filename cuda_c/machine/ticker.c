/* A thread that does something at regular times: see interfaces/ticker_c.f90. */
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "iface.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static pthread_cond_t wake;
static int running, stop;
static double every;
static int (*routine)(void);

static void *tick(void *nothing) {
    pthread_mutex_lock(&mutex);
    while (!stop) {
        struct timespec t;
        pthread_mutex_unlock(&mutex);
        int over = routine();
        pthread_mutex_lock(&mutex);
        stop |= over;
        clock_gettime(CLOCK_MONOTONIC, &t);
        double until = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + every;
        t.tv_sec = (time_t)until;
        t.tv_nsec = (long)((until - (double)t.tv_sec) * 1e9);
        while (!stop && pthread_cond_timedwait(&wake, &mutex, &t) == 0)
            continue;
    }
    pthread_mutex_unlock(&mutex);
    return nothing;
}

int ticker_begin(int (*procedure)(void), double seconds) {
    pthread_condattr_t monotonic;
    sigset_t all, before;
    if (running)
        return 0;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    routine = procedure;
    every = seconds;
    stop = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the program's own thread */
    running = !pthread_create(&thread, NULL, tick, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!running)
        pthread_cond_destroy(&wake);
    return running;
}

int ticker_end(void) {
    if (!running)
        return 0;
    pthread_mutex_lock(&mutex);
    stop = 1;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&wake);
    running = 0;
    return 1;
}
