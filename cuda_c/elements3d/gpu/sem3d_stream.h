/* Elements whose numbers come from pinned memory of the host in each step; see sem3d_packets.h.
 *
 *   in    waits until a buffer is free, copies a packet to it
 *   queue waits until it is here, computes the forces of its bricks
 *   out   waits for these, copies the packet's memory variables home; the buffer is free
 *
 * Pinned memory, like a buffer, has of each packet its elements' geometry, medium and shares; in an array of all
 * elements, as the state has them, their memory variables. Elements that stay on the GPU are computed between packets,
 * as many after each. */
#pragma once

#include "gpu_frame.h"
#include "sem3d_packets.h"

typedef struct sem3d_packet {
    int fluid, first, elements; /* numbers of elements in their phase */
    int brick, bricks;          /* likewise of bricks */
    size_t at, floats;          /* in `numbers` */
    size_t medium, share;       /* from there; geometry stands first */
    size_t memory;              /* in a buffer */
    size_t home, memories;      /* in `memory`: where, how many */
} sem3d_packet;

typedef struct sem3d_gpu_stream {
    sem3d_packets plan;
    int n; /* packets; 0: all elements stay */
    sem3d_packet *packet;
    int kept_bricks[2];
    size_t room, variables;  /* floats of `numbers`; memory variables of an element */
    float *numbers, *memory; /* pinned */
    float *buffer[SEM3D_BUFFERS];
    cudaStream_t in, out;
    cudaEvent_t here[SEM3D_BUFFERS], done[SEM3D_BUFFERS], left[SEM3D_BUFFERS], joined;
    cudaEvent_t *home; /* (n) a packet's memory variables are back */
    long turn;
    int chunks; /* of steps, since elements are known */
    /* of one step that is watched, as what is told of it must not change from shot to shot: when a copy began and
     * ended, when the queue began to wait and went on */
    cudaEvent_t *watch; /* (4,n) */
    int watched, measures;
} sem3d_gpu_stream;
