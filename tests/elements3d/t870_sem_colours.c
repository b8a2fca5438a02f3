/* Colours of elements: no two of a colour share a point, every element has one, and the colours are about as large as
 * each other; of a regular box there are eight, equal to one. On boxes with holes, whose elements stand in random
 * order.
 *
 *     t870_sem_colours [SEED] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "err.h"
#include "sem3d_colours.h"

enum { CORNERS = 8 };

static unsigned long long state;

static unsigned chance(unsigned below) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % below;
}

/* A box of n[0] x n[1] x n[2] elements by their corners, with so many per mille left out, in random order. */
static int *box(const int n[3], unsigned holes, int *elements, int *points) {
    int *at = malloc(sizeof(int) * CORNERS * (size_t)n[0] * (size_t)n[1] * (size_t)n[2]);
    *elements = 0;
    *points = (n[0] + 1) * (n[1] + 1) * (n[2] + 1);
    for (int m = 0; m < n[0] * n[1] * n[2]; m++) {
        const int x = m % n[0], y = m / n[0] % n[1], z = m / n[0] / n[1];
        if (chance(1000) < holes)
            continue;
        for (int c = 0; c < CORNERS; c++)
            at[CORNERS * *elements + c] = x + (c & 1) + (n[0] + 1) * (y + (c >> 1 & 1) + (n[1] + 1) * (z + (c >> 2)));
        ++*elements;
    }
    for (int e = *elements - 1; e > 0 && holes > 0; e--) {
        int swap[CORNERS], *a = at + CORNERS * e, *b = at + CORNERS * (int)chance((unsigned)e + 1);
        memcpy(swap, a, sizeof swap);
        memmove(a, b, sizeof swap);
        memcpy(b, swap, sizeof swap);
    }
    return at;
}

/* Number of points that two elements of a colour share. */
static int count_clashes(const sem3d_colours *c, const int *at, int points) {
    int *stamp = calloc((size_t)points, sizeof(int)), clashes = 0;
    for (int k = 0; k < c->n; k++)
        for (int m = c->first[k]; m < c->first[k + 1]; m++)
            for (int p = 0; p < CORNERS; p++) {
                int *of = &stamp[at[CORNERS * c->element[m] + p]];
                clashes += *of == k + 1;
                *of = k + 1;
            }
    free(stamp);
    return clashes;
}

/* Number of elements in no colour, or in two. */
static int count_wrong(const sem3d_colours *c, int elements) {
    int *seen = calloc((size_t)elements, sizeof(int)), wrong = 0;
    for (int m = 0; m < c->first[c->n]; m++)
        if (c->element[m] >= 0 && c->element[m] < elements)
            seen[c->element[m]]++;
    for (int e = 0; e < elements; e++)
        wrong += seen[e] != 1;
    free(seen);
    return wrong;
}

static void check_box(const int n[3], unsigned holes, double balance) {
    host_pool pool = {0};
    sem3d_colours c = {0};
    int elements, points, most = 0, least = 1 << 30;
    int *at = box(n, holes, &elements, &points);
    const int rc = sem3d_make_colours(&pool, elements, CORNERS, at, points, &c);
    for (int k = 0; k < c.n; k++) {
        const int count = c.first[k + 1] - c.first[k];
        most = count > most ? count : most;
        least = count < least ? count : least;
    }
    const double mean = c.n > 0 ? (double)elements / c.n : 0;
    claim(rc == 0 && count_clashes(&c, at, points) == 0 && count_wrong(&c, elements) == 0,
          "%d x %d x %d with %u per mille left out: %d elements in %d colours, %d share a point with one of theirs, %d "
          "have none or two (%s)",
          n[0], n[1], n[2], holes, elements, c.n, count_clashes(&c, at, points), count_wrong(&c, elements),
          (char *)err_message());
    claim(most <= balance * mean + 1 && least >= mean / balance - 1,
          "%d .. %d elements a colour, %.1f on average, allowed a factor of %.2f", least, most, mean, balance);
    if (holes == 0 && elements > 1)
        claim(c.n == 8, "a regular box has %d colours, expected 8", c.n);
    host_release_all(&pool);
    free(at);
}

int main(int argc, char **argv) {
    const unsigned long seed = given_seed(argc > 1 ? argv[1] : NULL);
    state = seed;
    printf("     seed %lu\n", seed);
    check_box((const int[3]){1, 1, 1}, 0, 1);
    check_box((const int[3]){16, 12, 20}, 0, 1);
    check_box((const int[3]){24, 24, 24}, 1, 1.05);
    for (int m = 0; m < 4; m++) {
        const int n[3] = {8 + (int)chance(20), 8 + (int)chance(20), 8 + (int)chance(20)};
        check_box(n, 1 + chance(300), 1.05);
    }
    return check_failed;
}
