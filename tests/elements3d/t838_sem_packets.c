/* Which elements of a mesh stay on a GPU and in what packets the others come: whatever their bytes and the room for
 * them, what is planned fits into it and wastes little of it, packets cover all bricks, and what does not fit is
 * refused with the bytes that are needed and had.
 *
 *     t838_sem_packets [SEED] */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "err.h"
#include "sem3d_packets.h"

enum { CASES = 400, BRICKS = 3000, LARGEST = 8 };

static unsigned long long state;

static double chance(void) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(state >> 33) / (double)(1ull << 31);
}

static int between(int low, int high) { return low + (int)(chance() * (high - low + 1)); }

static double bytes_of(const sem3d_load *l, int elements) { return (double)elements * (double)l->each; }

/* 1 if a plan keeps to its room, and uses it: one of 256 of the elements more would not fit. */
static int is_sound(const sem3d_cfg *c, const sem3d_load load[2], size_t fixed, const sem3d_packets *p) {
    const double all = bytes_of(&load[0], load[0].elements) + bytes_of(&load[1], load[1].elements),
                 taken = (double)(fixed + sem3d_packets_device(p, load));
    for (int fluid = 0; fluid < 2; fluid++)
        if (p->kept[fluid] < 0 || p->kept[fluid] > load[fluid].elements ||
            (p->buffer > 0 && (double)p->packet[fluid] * (double)load[fluid].each > (double)p->buffer &&
             load[fluid].elements > 0))
            return 0;
    if (c->resident == SEM3D_RESIDENT_FIELDS)
        return p->kept[0] == 0 && p->kept[1] == 0 && p->buffer > 0 && taken <= c->room;
    if ((double)fixed + all <= c->room)
        return p->kept[0] == load[0].elements && p->kept[1] == load[1].elements && p->buffer == 0;
    const double spare = (double)(load[0].each + load[1].each) * LARGEST + all / 256;
    return taken <= c->room && taken + spare >= c->room;
}

static int refused(const sem3d_cfg *c, const sem3d_load load[2], size_t fixed) {
    sem3d_packets p;
    const int rc = sem3d_plan_packets(c, load, fixed, &p);
    return rc != 0 && strstr(err_message(), "GB of GPU memory") != NULL && strstr(err_message(), "granted") != NULL;
}

/* 1 if all elements that have no room are refused with what would help: those of a piece all stay, whatever resident
 * says. */
static int helps(sem3d_cfg c, const sem3d_load load[2], size_t fixed) {
    const char *help[] = {"use variant=tuned with resident=auto", "more ranks a shot"};
    int right = 0;
    for (c.piece = 0; c.piece < 2; c.piece++)
        right += refused(&c, load, fixed) && strstr(err_message(), help[c.piece]) != NULL &&
                 strstr(err_message(), help[1 - c.piece]) == NULL;
    return right == 2;
}

/* A random mesh with less and less room. */
static void try_mesh(int *wrong, int *unrefused, int *planned) {
    const int elements = between(1, chance() < 0.5 ? 200 : 2000000);
    sem3d_load load[2];
    sem3d_cfg c = {.elements = elements, .resident = SEM3D_RESIDENT_SOME};
    load[0] = (sem3d_load){(int)(elements * chance()), (size_t)between(100, 20000), 0};
    load[1] = (sem3d_load){elements - load[0].elements, (size_t)between(100, 6000), 0};
    load[0].back = load[0].each / 2;
    const size_t fixed = (size_t)between(1000, 2000000000);
    const double all = bytes_of(&load[0], load[0].elements) + bytes_of(&load[1], load[1].elements);
    for (int n = 0; n < 12; n++) {
        sem3d_packets p;
        c.room = (double)fixed + all * (1.1 - 0.1 * n);
        c.resident = n % 4 == 3 ? (int)SEM3D_RESIDENT_FIELDS : (int)SEM3D_RESIDENT_SOME;
        if (sem3d_plan_packets(&c, load, fixed, &p) == 0) {
            *wrong += !is_sound(&c, load, fixed, &p);
            *planned += 1;
        } else {
            *unrefused += !refused(&c, load, fixed);
        }
    }
    c.resident = SEM3D_RESIDENT_ALL;
    c.room = (double)fixed + 0.99 * all;
    *unrefused += !helps(c, load, fixed);
    c.resident = SEM3D_RESIDENT_FIELDS;
    c.room = (double)fixed;
    *unrefused += !refused(&c, load, fixed);
}

/* Number of bricks that are in no packet, or packets that are too large. */
static int try_packets(void) {
    static sem3d_brick brick[BRICKS];
    const int n = between(1, BRICKS), most = LARGEST * between(1, 100);
    int at = between(0, 100), from = 0, wrong = 0;
    for (int b = 0; b < n; b++) {
        brick[b].first = at;
        at += between(1, LARGEST);
        brick[b].last = at;
    }
    while (from < n) {
        const int to = sem3d_packet_end(brick, from, n, most);
        wrong += to <= from || to > n || brick[to - 1].last - brick[from].first > most;
        wrong += to < n && brick[to].last - brick[from].first <= most;
        from = to > from ? to : n;
    }
    return wrong;
}

int main(int argc, char **argv) {
    const unsigned long seed = given_seed(argc > 1 ? argv[1] : NULL);
    int wrong = 0, unrefused = 0, planned = 0, cut = 0;
    state = seed * 2 + 1;
    for (int n = 0; n < CASES; n++) {
        try_mesh(&wrong, &unrefused, &planned);
        cut += try_packets();
    }
    claim(planned > CASES && wrong == 0, "seed %lu: %d of %d plans do not fit their room, or leave much of it", seed,
          wrong, planned);
    claim(unrefused == 0, "seed %lu: %d plans without room are not refused with a sentence of bytes", seed, unrefused);
    claim(cut == 0, "seed %lu: %d packets of bricks are none", seed, cut);
    return check_failed;
}
