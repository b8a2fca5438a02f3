/* The sum that a receiver samples, whatever the order of its terms: the cells of a receiver may lie in several
 * subdomains, and their partial sums must give the bits of the whole.
 *
 * Terms are products of two floats, exact in double. They are added without error (two-sum, Knuth 1969, The Art of
 * Computer Programming 2, section 4.2.2, theorem B): 106 bits, of which a float keeps 24, so that two orders of the
 * same terms round apart with odds of 1e-20 a sample. A partial sum leaves its subdomain as three floats, 72 bits,
 * scaled up so that none of them is too small for a float while the sum is not. */
#pragma once

#include <float.h>
#include <math.h>

#ifdef __CUDACC__
#define RECEIVER_SUM static __host__ __device__ __forceinline__
#else
#define RECEIVER_SUM static inline
#endif

enum { RECEIVER_PARTS = 3, RECEIVER_BITS = 24, RECEIVER_SCALE = 40 };

typedef struct receiver_sum {
    double sum, rest; /* rest: what rounding left of the sum so far */
} receiver_sum;

RECEIVER_SUM void receiver_add(receiver_sum *s, double term) {
    const double sum = s->sum + term, added = sum - s->sum;
    s->rest += (s->sum - (sum - added)) + (term - added);
    s->sum = sum;
}

/* Adds the sum of other terms. */
RECEIVER_SUM void receiver_join(receiver_sum *s, receiver_sum other) {
    receiver_add(s, other.sum);
    s->rest += other.rest;
}

/* Part 0 is the sum as a float, 0 where that would be denormal: cores count denormal numbers as 0 in a time loop, and
 * not where parts of several subdomains are added. Parts 1, 2, 3 times 2**-40, 2**-64, 2**-88 add up to it: the sum as
 * a float, what that leaves, what both leave. */
RECEIVER_SUM float receiver_part(receiver_sum s, int part) {
    double left = s.sum + s.rest;
    if (part == 0)
        return fabs(left) < FLT_MIN ? (float)copysign(0.0, left) : (float)left;
    s.rest += s.sum - left;
    left = ldexp(left, RECEIVER_SCALE);
    s.rest = ldexp(s.rest, RECEIVER_SCALE);
    float value = (float)left;
    for (int p = 1; p < part; p++) {
        const double less = left - (double)value; /* exact */
        left = ldexp(less + s.rest, RECEIVER_BITS);
        s.rest = ldexp(s.rest + (less - ldexp(left, -RECEIVER_BITS)), RECEIVER_BITS);
        value = (float)left;
    }
    return value;
}
