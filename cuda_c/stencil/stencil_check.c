/* Weights and profiles. */
#include "stencil_check.h"

#include <math.h>
#include <stddef.h>

#include "err.h"

int weights_check(int half_length, const float *w) {
    for (int m = 0; m < half_length; m++)
        REQUIRE(isfinite(w[m]), "weight %d of the differentiator is %g, must be finite", m + 1, (double)w[m]);
    return 0;
}

int profile_check(const float *p, int n, int low, int high, int earlier, const char *axis) {
    const int last = high > 0 ? n - high - earlier : n;
    for (int c = 0; c < 6; c++)
        for (int j = 0; j < n; j++) {
            const float value = p[(size_t)c * (size_t)n + (size_t)j], neutral = c % 3 == 2 ? 1.0f : 0.0f;
            REQUIRE(isfinite(value), "column %d of the absorbing layer along %s is %g at cell %d, must be finite",
                    c + 1, axis, (double)value, j + 1);
            REQUIRE(j < low || j >= last || c % 3 == 1 || value == neutral,
                    "column %d of the absorbing layer along %s is %g at cell %d, outside the layers of %d and %d "
                    "cells: must be %g",
                    c + 1, axis, (double)value, j + 1, low, high, (double)neutral);
        }
    return 0;
}

void profile_pad(const float *p, int n, float *padded, int length) {
    for (int c = 0; c < 6; c++)
        for (int i = 0; i < length; i++)
            *padded++ = i < n ? p[(size_t)c * (size_t)n + (size_t)i] : c % 3 == 2 ? 1.0f : 0.0f;
}
