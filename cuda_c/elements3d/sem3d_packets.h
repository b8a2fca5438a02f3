/* Elements of a mesh larger than the memory of its GPU. Fields, masses, points of bricks and their sums stay there; the
 * numbers of elements (geometry, medium, attenuation and, both ways, its memory variables) stand in pinned memory of
 * the host and come in packets, each a range of bricks, while others are computed (version 2 of Komatitsch, Michea &
 * Erlebacher 2009, where indices come too). As many elements as there is room for have theirs on the GPU all the time,
 * where that is wished. */
#pragma once

#include "sem3d.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SEM3D_RESIDENT_ALL,
    SEM3D_RESIDENT_FIELDS,
    SEM3D_RESIDENT_SOME,
    SEM3D_RESIDENTS
};                          /* as the configuration has them */
enum { SEM3D_BUFFERS = 3 }; /* packets on the GPU: one comes, one is computed, one goes */

/* Numbers of elements, of solid and of fluid. */
typedef struct sem3d_load {
    int elements;
    size_t each, back; /* bytes of an element; of these so many return after each step */
} sem3d_load;

typedef struct sem3d_packets {
    int kept[2];   /* elements of solid and of fluid that stay on the GPU, the first ones, at most */
    int packet[2]; /* elements of a packet, at most */
    size_t buffer; /* bytes of the largest packet; 0: there are none */
} sem3d_packets;

/* How elements stay or come where `fixed` bytes are needed beside them, of c->room. Fails where that is too few. */
int sem3d_plan_packets(const sem3d_cfg *c, const sem3d_load load[2], size_t fixed, sem3d_packets *p);

/* Bytes on the GPU, `fixed` not among them, and in pinned memory. */
size_t sem3d_packets_device(const sem3d_packets *p, const sem3d_load load[2]);
size_t sem3d_packets_host(const sem3d_packets *p, const sem3d_load load[2]);

/* Elements of a packet begin with brick `from` of the bricks from .. to-1: the end of the bricks that fit into it. */
int sem3d_packet_end(const sem3d_brick *brick, int from, int to, int most);

#ifdef __cplusplus
}
#endif
