/* Memory of a handle that processes on GPUs of the same machine, or on the same GPU, store into while time steps run:
 * buffers for what comes through the sides of a subdomain, and a flag for each, which counts steps. No host has a part
 * in a step. The memory is the GPU's or, where GPUs do not reach each other, the machine's, pinned by both processes.
 *
 *   gpu_link_offer      memory for the buffers, a new run begins; a ticket for the partners
 *   gpu_link_open       the partner's memory at a side, by its ticket
 *   gpu_link_check      whether a wait was in vain
 *   gpu_link_close      gives up waits, waits for the queue, closes the partners' memory: harmless at any time
 *
 * A kernel that stores ends with gpu_links::told, one that waits calls gpu_links::wait (gpu_link.cuh). A wait ends by
 * itself: when the flag comes, after `seconds`, or when the host gives up; then all waits and stores of the link are
 * over at once, until the next offer.
 *
 * A flag holds the number of the run and the step. The receiver counts its runs and tells the partner by the ticket: so
 * what was stored in a run before cannot be taken for news. A partner's stores of a run before are done when its ticket
 * for the next one is made. All functions return 0, or 1 with a sentence. */
#pragma once

#include "gpu_queue.h"

enum { GPU_SIDES = 6, GPU_WHATS = 2 }; /* sides of a subdomain; what travels through them */

/* Before the buffers; partners set the flags. Each flag has 128 bytes of its own. */
typedef struct gpu_link_flags {
    unsigned long long at[GPU_SIDES][GPU_WHATS][16];
} gpu_link_flags;

/* In this process' device memory, for itself alone. */
typedef struct gpu_link_state {
    int over;                             /* a wait was in vain: no more stores, no more waits */
    unsigned done[GPU_SIDES][GPU_WHATS];  /* blocks that have stored */
    unsigned long long waited[GPU_SIDES]; /* nanoseconds */
} gpu_link_state;

/* In pinned memory. */
typedef struct gpu_link_words {
    volatile int give_up;          /* the host's word to the kernels */
    volatile int late, side, what; /* the kernels' word to the host: the step whose numbers did not come */
} gpu_link_words;

/* A side as kernels get it. */
typedef struct gpu_link_side {
    int side;
    float *to[GPU_WHATS]; /* the partner's buffers; null: the side is not open */
    unsigned long long *to_flag[GPU_WHATS];
    const float *from[GPU_WHATS]; /* this process' */
    const unsigned long long *flag[GPU_WHATS];
    unsigned to_run; /* number of the partner's run */
} gpu_link_side;

/* Data common to all sides, as kernels get them. */
typedef struct gpu_link_wait_for {
    unsigned run;
    unsigned long long nanoseconds;
    gpu_link_state *state;
    gpu_link_words *words;
    const gpu_clock *clock;
} gpu_link_wait_for;

/* Memory of the machine, as this process has it. */
typedef struct gpu_link_pinned {
    void *at; /* null: none */
    char *device;
    size_t bytes;
    char path[64]; /* by which other processes open it */
} gpu_link_pinned;

typedef struct gpu_link {
    int open;     /* sides, a bit each */
    int hosted;   /* 1: the next offer is of memory of the machine; else of the GPU's */
    char *memory; /* of the GPU */
    size_t bytes;
    gpu_link_pinned pinned;
    char *base;                                        /* the one of both that was offered, as kernels have it */
    size_t at[GPU_SIDES][GPU_WHATS], count[GPU_SIDES]; /* bytes before a buffer; numbers in it */
    gpu_link_words *words;
    gpu_link_wait_for common;
    gpu_link_side side[GPU_SIDES];
    void *theirs[GPU_SIDES]; /* partners' memory that was opened for a side, */
    gpu_link_pinned their_pinned[GPU_SIDES];
    double seconds;
    int bare;                 /* flags alone are stored, to see what they take */
    int close;                /* the queue's before a side was open; 0 there meanwhile, if beside */
    int beside;               /* what is forked runs beside the queue */
    cudaStream_t stream;      /* of the highest priority */
    cudaEvent_t fork, joined; /* from the queue to that stream, and back */
} gpu_link;

/* Bytes of device memory for so many numbers of each kind at the sides. */
size_t gpu_link_bytes(const size_t count[GPU_SIDES]);
int gpu_link_offer(gpu_queue *q, gpu_link *link, const size_t count[GPU_SIDES], int beside, double seconds, int length,
                   char *ticket);
int gpu_link_open(gpu_queue *q, gpu_link *link, int side, int length, const char *ticket);
/* Harmless in any thread at any time. */
void gpu_link_give_up(gpu_link *link);
int gpu_link_check(const gpu_link *link); /* of one that is open */
/* Exchanges as they are, of steps up to 0, waited for so long each: an exchange, of which `step` queues so many, took
 * the seconds `bare`, of flags alone, and `full`. */
int gpu_link_try(gpu_queue *q, gpu_link *link, double seconds, int exchanges, int (*step)(void *self), void *self,
                 double *bare, double *full);
/* Seconds of waits at each side since the offer, or since they were forgotten; waits for the queue. */
int gpu_link_waited(gpu_queue *q, gpu_link *link, double seconds[GPU_SIDES]);
int gpu_link_forget_waits(gpu_queue *q, gpu_link *link);
void gpu_link_close(gpu_queue *q, gpu_link *link);
/* gpu_link_close, and gives back all but the memory, which belongs to the queue. */
void gpu_link_free(gpu_queue *q, gpu_link *link);

/* The stream that stores and waits belong to from here on: what is queued is done before. Then the queue goes on, and
 * waits for them in gpu_link_join. */
int gpu_link_fork(gpu_queue *q, gpu_link *link, cudaStream_t *stream);
int gpu_link_joins(gpu_queue *q, gpu_link *link); /* all stores and waits are queued */
int gpu_link_join(gpu_queue *q, gpu_link *link);
