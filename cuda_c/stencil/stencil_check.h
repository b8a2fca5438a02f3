/* Weights of differentiators and profiles of absorbing layers, as a caller gives them: checks, and the profiles padded.
 */
#pragma once

int weights_check(int half_length, const float *w);

/* Profiles along an axis of n cells: a, b, 1/k at whole numbers, then at half points; p(n,6). Columns are finite, and
 * without effect outside the layers of `low` and `high` cells; at half points the one at the end of the axis may begin
 * `earlier` cells before. */
int profile_check(const float *p, int n, int low, int high, int earlier, const char *axis);

/* padded(length,6): behind cell n - 1 the profiles do nothing, a = b = 0 and 1/k = 1. */
void profile_pad(const float *p, int n, float *padded, int length);
