/* CRC-32 as zlib computes it, with carry-less products where the processor has them: 16 bytes a turn, 64, or 128. Bytes
 * are a polynomial over GF(2); a part of it that is multiplied by x^n mod P moves n bits on, where it is added to what
 * stands there (Gopal et al., Fast CRC Computation for Generic Polynomials Using PCLMULQDQ, Intel 2009). The last 16
 * bytes, which then stand for all before them, and what is too short, are zlib's. */
#include <stdint.h>
#include <zlib.h>

#include "iface.h"

#ifdef __x86_64__
#include <immintrin.h>

enum { LANES = 4, LANE = 16, TURN = LANES * LANE, WIDE = 2 * TURN };

/* x^n mod P for the two halves of a lane that moves on by `bytes`, reflected as the bits of the bytes are. */
static __m128i mover(int bytes) {
    return bytes == WIDE   ? _mm_set_epi64x(0x14a7fe880, 0x1e88ef372)
           : bytes == TURN ? _mm_set_epi64x(0x1c6e41596, 0x154442bd4)
                           : _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
}

__attribute__((target("pclmul,sse4.1"))) static __m128i moved(__m128i lane, __m128i by) {
    return _mm_xor_si128(_mm_clmulepi64_si128(lane, by, 0x00), _mm_clmulepi64_si128(lane, by, 0x11));
}

/* The CRC-32 of so many lanes. */
__attribute__((target("pclmul,sse4.1"))) static uint32_t joined(int lanes, __m128i *lane) {
    const __m128i next = mover(LANE);
    unsigned char last[LANE];
    for (int i = 1; i < lanes; i++)
        lane[i] = _mm_xor_si128(moved(lane[i - 1], next), lane[i]);
    _mm_storeu_si128((__m128i *)last, lane[lanes - 1]);
    return (uint32_t)crc32_z(0xffffffffu, last, LANE); /* begun with a remainder of 0 */
}

/* `n`: a multiple of LANE, and not 0. */
__attribute__((target("pclmul,sse4.1"))) static uint32_t crc_lane(uint32_t crc, long n, const char *bytes) {
    const __m128i next = mover(LANE);
    __m128i lane = _mm_xor_si128(_mm_loadu_si128((const __m128i *)bytes), _mm_cvtsi32_si128((int)~crc));
    for (long at = LANE; at < n; at += LANE)
        lane = _mm_xor_si128(moved(lane, next), _mm_loadu_si128((const __m128i *)(bytes + at)));
    return joined(1, &lane);
}

/* `n`: a multiple of TURN, and not 0. */
__attribute__((target("pclmul,sse4.1"))) static uint32_t crc_turns(uint32_t crc, long n, const char *bytes) {
    const __m128i turn = mover(TURN);
    __m128i lane[LANES];
    for (int i = 0; i < LANES; i++)
        lane[i] = _mm_loadu_si128((const __m128i *)(bytes + i * LANE));
    lane[0] = _mm_xor_si128(lane[0], _mm_cvtsi32_si128((int)~crc));
    for (long at = TURN; at < n; at += TURN)
        for (int i = 0; i < LANES; i++)
            lane[i] = _mm_xor_si128(moved(lane[i], turn), _mm_loadu_si128((const __m128i *)(bytes + at + i * LANE)));
    return joined(LANES, lane);
}

/* The same with two lanes in a register; `n`: a multiple of WIDE, and not 0. */
__attribute__((target("vpclmulqdq,avx2,pclmul"))) static uint32_t crc_wide(uint32_t crc, long n, const char *bytes) {
    const __m256i wide = _mm256_broadcastsi128_si256(mover(WIDE));
    __m256i pair[LANES];
    __m128i lane[2 * LANES];
    for (int i = 0; i < LANES; i++)
        pair[i] = _mm256_loadu_si256((const __m256i *)(bytes + i * 2 * LANE));
    pair[0] = _mm256_xor_si256(pair[0], _mm256_set_epi32(0, 0, 0, 0, 0, 0, 0, (int)~crc));
    for (long at = WIDE; at < n; at += WIDE)
        for (int i = 0; i < LANES; i++) {
            const __m256i come = _mm256_loadu_si256((const __m256i *)(bytes + at + i * 2 * LANE));
            const __m256i low = _mm256_clmulepi64_epi128(pair[i], wide, 0x00);
            pair[i] = _mm256_xor_si256(_mm256_xor_si256(low, come), _mm256_clmulepi64_epi128(pair[i], wide, 0x11));
        }
    for (int i = 0; i < LANES; i++)
        _mm256_storeu_si256((__m256i *)(lane + 2 * i), pair[i]);
    return joined(2 * LANES, lane);
}

static int has_products(void) { return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1"); }

static int has_wide(void) {
    return has_products() && __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx2");
}
#endif

long crc32_bytes(long crc, long n, const char *bytes) {
    long done = 0;
#ifdef __x86_64__
    if (n >= WIDE && has_wide()) {
        done = n / WIDE * WIDE;
        crc = crc_wide((uint32_t)crc, done, bytes);
    } else if (n >= TURN && has_products()) {
        done = n / TURN * TURN;
        crc = crc_turns((uint32_t)crc, done, bytes);
    } else if (n >= 2 * LANE && has_products()) { /* a line of a journal */
        done = n / LANE * LANE;
        crc = crc_lane((uint32_t)crc, done, bytes);
    }
#endif
    return (long)crc32_z((uLong)crc, (const Bytef *)bytes + done, (z_size_t)(n - done));
}
