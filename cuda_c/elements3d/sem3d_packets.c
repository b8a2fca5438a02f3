/* How many elements stay on a GPU, and in what packets the others come. */
#include "sem3d_packets.h"

#include "err.h"

enum {
    UNIT = 8,         /* elements of a brick, at most: packets and what stays are multiples */
    SLACK = 2048,     /* bytes between the numbers of a packet */
    PACKET = 8 << 20, /* bytes of a packet that a bus moves as fast as it can, */
    FEWEST = 8,       /* of so many, so that those on the GPU are few, */
    MOST = 64         /* and at most so many: three together last longer than the sums of a step */
};

static size_t bytes_of(const sem3d_load *l) { return (size_t)l->elements * l->each; }

static int whole_units(double elements) { return (int)(elements / UNIT) * UNIT; }

/* Packets of about equal bytes, of all elements. */
static void cut(const sem3d_load load[2], sem3d_packets *p) {
    const size_t all = bytes_of(&load[0]) + bytes_of(&load[1]);
    size_t packets = all / PACKET;
    packets = packets < FEWEST ? FEWEST : packets > MOST ? MOST : packets;
    p->buffer = 0;
    for (int fluid = 0; fluid < 2; fluid++) {
        const sem3d_load *l = &load[fluid];
        const int n = l->each == 0 ? 0 : whole_units((double)all / (double)packets / (double)l->each);
        p->packet[fluid] = n < UNIT ? UNIT : n;
        const size_t bytes = l->elements == 0 ? 0 : (size_t)p->packet[fluid] * l->each + SLACK;
        p->buffer = bytes > p->buffer ? bytes : p->buffer;
    }
}

int sem3d_plan_packets(const sem3d_cfg *c, const sem3d_load load[2], size_t fixed, sem3d_packets *p) {
    const double room = c->room, all = (double)(bytes_of(&load[0]) + bytes_of(&load[1])), beside = (double)fixed;
    *p = (sem3d_packets){.kept = {load[0].elements, load[1].elements}};
    if (c->resident == SEM3D_RESIDENT_ALL ||
        (c->resident == SEM3D_RESIDENT_SOME && (!(room > 0) || beside + all <= room))) {
        const int fits = !(room > 0) || beside + all <= room;
        REQUIRE(fits || c->piece == 0,
                "%d elements of a piece of a mesh need %.4g GB of GPU memory, %.4g are granted: use more ranks a shot "
                "(group), all of a piece stays on its GPU",
                c->elements, 1e-9 * (beside + all), 1e-9 * room);
        REQUIRE(fits,
                "%d elements need %.4g GB of GPU memory, %.4g are granted: use variant=tuned with resident=auto or "
                "fields, by which %.4g GB come from the host in each step",
                c->elements, 1e-9 * (beside + all), 1e-9 * room, 1e-9 * all);
        return 0;
    }
    cut(load, p);
    const double least = beside + SEM3D_BUFFERS * (double)p->buffer;
    REQUIRE(!(room > 0) || least <= room,
            "%d elements need %.4g GB of GPU memory for their fields and what comes to them from the host, %.4g are "
            "granted: use a smaller mesh, or a GPU with more memory",
            c->elements, 1e-9 * least, 1e-9 * room);
    const double part = c->resident == SEM3D_RESIDENT_FIELDS ? 0 : (room - least) / all;
    for (int fluid = 0; fluid < 2; fluid++)
        p->kept[fluid] = whole_units(part * load[fluid].elements);
    return 0;
}

size_t sem3d_packets_device(const sem3d_packets *p, const sem3d_load load[2]) {
    return (size_t)p->kept[0] * load[0].each + (size_t)p->kept[1] * load[1].each + SEM3D_BUFFERS * p->buffer;
}

/* What stays ends with a brick, so up to a brick more comes. */
size_t sem3d_packets_host(const sem3d_packets *p, const sem3d_load load[2]) {
    size_t bytes = 0;
    for (int fluid = 0; fluid < 2 && p->buffer > 0; fluid++)
        bytes += load[fluid].elements == 0
                     ? 0
                     : (size_t)(load[fluid].elements - p->kept[fluid] + UNIT) * load[fluid].each +
                           (size_t)(2 + 2 * (load[fluid].elements - p->kept[fluid]) / p->packet[fluid]) * SLACK;
    return bytes;
}

int sem3d_packet_end(const sem3d_brick *brick, int from, int to, int most) {
    int end = from + 1;
    while (end < to && brick[end].last - brick[from].first <= most)
        end++;
    return end;
}
