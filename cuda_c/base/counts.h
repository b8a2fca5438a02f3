/* Numbers that came from a file or a text, on their way to sizes: nothing here overflows. As in err.h 0 is success. */
#pragma once
#include <stdlib.h>

/* a*b, of counts: 1 where one is negative or the product exceeds a long. */
static inline int count_times(long a, long b, long *product) {
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, product);
}

static inline int count_plus(long a, long b, long *sum) { return a < 0 || b < 0 || __builtin_add_overflow(a, b, sum); }

/* The whole number at the begin of a text, behind blanks; `rest`, if it is not NULL, is what follows. 1, and `value` is
 * left alone, where there is none, or it is out of lo .. hi. */
static inline int count_read(const char *text, long lo, long hi, const char **rest, long *value) {
    char *end;
    const long number = strtol(text, &end, 10); /* the largest or smallest of its kind where it is beyond */
    if (end == text || number < lo || number > hi)
        return 1;
    *value = number;
    if (rest != NULL)
        *rest = end;
    return 0;
}
