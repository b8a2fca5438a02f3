/* Room for states where several ranks of a machine ask for it at the same moment: together they take no more memory
 * than there is, and each gets its room where there is enough. Ranks are threads here, and the machine has what it is
 * told to. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "iface.h"

enum { RANKS = 8, NUMBERS = 4 << 20 }; /* floats of a state */
static const long STATE = NUMBERS * (long)sizeof(float);

static long machine, taken_before; /* bytes */
static pthread_barrier_t all_here;

static long taken(void) {
    long all, mine = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld", &all, &mine) != 2)
        mine = 0;
    if (f != NULL)
        fclose(f);
    return mine * sysconf(_SC_PAGESIZE);
}

void host_memory(const char *root, long *total, long *available) {
    (void)root;
    *total = 1000 * STATE;
    *available = machine - (taken() - taken_before);
}

/* As a rank does: room, then a state in it. */
static void *rank(void *writer) {
    pthread_barrier_wait(&all_here);
    float *room = statefile_room(writer, NUMBERS);
    if (room != NULL)
        memset(room, 1, (size_t)STATE);
    pthread_barrier_wait(&all_here);
    return room;
}

/* The number of ranks that got room at once, and what they took together. */
static int together(int ranks, long *took) {
    pthread_t thread[RANKS];
    void *writer[RANKS], *room;
    int n = 0;
    taken_before = taken();
    pthread_barrier_init(&all_here, NULL, (unsigned)ranks + 1);
    for (int i = 0; i < ranks; i++) {
        writer[i] = statefile_new();
        pthread_create(&thread[i], NULL, rank, writer[i]);
    }
    pthread_barrier_wait(&all_here);
    pthread_barrier_wait(&all_here);
    *took = taken() - taken_before;
    for (int i = 0; i < ranks; i++) {
        pthread_join(thread[i], &room);
        n += room != NULL;
        statefile_free(writer[i]);
    }
    pthread_barrier_destroy(&all_here);
    return n;
}

int main(void) {
    long took;
    mallopt(M_MMAP_THRESHOLD, 1 << 20); /* what is given back is seen to be */
    machine = 10 * RANKS * STATE;
    int n = together(RANKS, &took);
    claim(n == RANKS, "memory for all: %d of %d ranks have room for a state of %ld MB", n, RANKS, STATE >> 20);
    machine = 4 * STATE;
    n = together(RANKS, &took);
    claim(took <= machine, "memory for four: %d of %d that ask at once get it, and take %ld MB of %ld", n, RANKS,
          took >> 20, machine >> 20);
    n = together(1, &took);
    claim(n == 1 && took >= STATE, "one alone gets its room: %d, %ld MB", n, took >> 20);
    machine = STATE / 2;
    void *writer = statefile_new();
    taken_before = taken();
    float *room = statefile_room(writer, NUMBERS);
    claim(room == NULL && strstr(err_message(), "state"), "half as much memory as a state: %s",
          room ? "there is room" : (char *)err_message());
    machine = 4 * STATE;
    room = statefile_room(writer, NUMBERS);
    claim(room != NULL, "and room where there is memory again: %s", room ? "yes" : (char *)err_message());
    statefile_free(writer);
    return check_failed;
}
