/* The checksum of gathers is zlib's, whatever the length, the place in memory and the sum it goes on from. */
#include <stdlib.h>
#include <zlib.h>

#include "check.h"
#include "iface.h"

enum { BYTES = 1 << 16, SHORT = 300 };

static unsigned long state;

static unsigned random32(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33);
}

int main(void) {
    static char bytes[BYTES + 64];
    const unsigned long seed = given_seed(NULL);
    long wrong = 0, cases = 0;
    state = seed;
    for (int i = 0; i < (int)sizeof bytes; i++)
        bytes[i] = (char)(random32() >> 5);
    for (long n = 0; n <= SHORT; n++)
        for (long at = 0; at < 17; at++, cases++)
            wrong += crc32_bytes(0, n, bytes + at) != (long)crc32_z(0, (const Bytef *)bytes + at, (z_size_t)n);
    for (int i = 0; i < 2000; i++, cases++) {
        long n = random32() % BYTES, at = random32() % 64, from = random32();
        wrong += crc32_bytes(from, n, bytes + at) != (long)crc32_z((uLong)from, (const Bytef *)bytes + at, (z_size_t)n);
    }
    claim(wrong == 0, "seed %lu: %ld of %ld sums of up to %d bytes are not zlib's", seed, wrong, cases, BYTES);
    long parts = crc32_bytes(crc32_bytes(0, 1001, bytes), BYTES - 1001, bytes + 1001);
    claim(parts == crc32_bytes(0, BYTES, bytes), "in two parts: %08lx", parts);
    bytes[BYTES / 2] ^= 4;
    claim(parts != crc32_bytes(0, BYTES, bytes), "one bit changed shows");
    return check_failed;
}
