/* A checksum of floats; see interfaces/checksum_c.f90. Each of four lanes takes every fourth pair of floats:
 * h = rotate((h xor pair) * odd), which is one to one in h and in the pair, so that a change of one pair cannot vanish;
 * the rotation brings the high bits, which a product only moves up, back to where they matter. */
#include <stdint.h>
#include <string.h>

#include "iface.h"

enum { LANES = 4, PAIR = 2 };

static uint64_t mix(uint64_t h, uint64_t pair) {
    h = (h ^ pair) * 0x9e3779b97f4a7c15u;
    return h << 31 | h >> 33;
}

long checksum_floats(long start, long n, const float *values) {
    uint64_t h[LANES], pair = 0;
    const long whole = n / (LANES * PAIR) * (LANES * PAIR);
    for (int lane = 0; lane < LANES; lane++)
        h[lane] = mix((uint64_t)start, (uint64_t)lane + 1);
    for (long i = 0; i < whole; i += LANES * PAIR)
        for (int lane = 0; lane < LANES; lane++) {
            memcpy(&pair, values + i + lane * PAIR, sizeof pair);
            h[lane] = mix(h[lane], pair);
        }
    for (long i = whole; i < n; i += PAIR) {
        pair = 0;
        memcpy(&pair, values + i, (n - i < PAIR ? (size_t)(n - i) : PAIR) * sizeof *values);
        h[0] = mix(h[0], pair);
    }
    uint64_t sum = mix((uint64_t)start, (uint64_t)n);
    for (int lane = 0; lane < LANES; lane++)
        sum = mix(sum, h[lane]);
    return (long)sum;
}
