/* Traces as the bytes that a file of gathers has, and their checksum: see interfaces/sealed_c.f90. */
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "iface.h"

enum { BLOCK = 1 << 13 }; /* floats that are turned round, looked at and summed while they are in the nearest cache */

static const uint32_t EXPONENT = 0x7f800000u; /* all of its bits are set in what is infinite or no number */

/* Turns floats round; returns the largest exponent among them. */
static uint32_t turned(long n, const float *from, float *to) {
    uint32_t most = 0;
    for (long i = 0; i < n; i++) {
        uint32_t u;
        memcpy(&u, from + i, sizeof u);
        const uint32_t exponent = u & EXPONENT;
        most = exponent > most ? exponent : most;
        u = __builtin_bswap32(u);
        memcpy(to + i, &u, sizeof u);
    }
    return most;
}

static long first_bad(long n, const float *values) {
    uint32_t u = 0;
    long i = 0;
    for (; i < n; i++) {
        memcpy(&u, values + i, sizeof u);
        if ((u & EXPONENT) == EXPONENT)
            break;
    }
    return i;
}

long sealed_floats(long n, const float *from, float *to, long *crc) {
    *crc = 0;
    for (long done = 0; done < n; done += BLOCK) {
        const long now = n - done < BLOCK ? n - done : BLOCK;
        if (turned(now, from + done, to + done) == EXPONENT)
            return done + first_bad(now, from + done) + 1;
        *crc = crc32_bytes(*crc, now * (long)sizeof *to, (const char *)(to + done));
    }
    return 0;
}

long sealed_sum(long n, const float *sealed) { return crc32_bytes(0, n * (long)sizeof *sealed, (const char *)sealed); }

long crc32_joined(long first, long second, long bytes) {
    return (long)crc32_combine((uLong)first, (uLong)second, (z_off_t)bytes);
}
