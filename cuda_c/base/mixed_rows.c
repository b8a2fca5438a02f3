/* Rows of samples and of cells on rank 0, all of a row side by side; interfaces/mixed_rows_c.f90 tells what each does.
 * Loops are compiled for each processor without products and sums in one, so that all round alike. */
#include <math.h>
#include <stdint.h>

#include "each_processor.h"
#include "iface.h"

enum { RHO, P, S, LOG_P, LOG_S, SQUARE_P, SQUARE_S, QP, QS, SUMS };
enum { AIR = 1, FLUID = 2, ROCK = 4, PARTS = 5 };
#define TYPICAL  23.02585092994046 /* logarithm of a modulus, from which those of others are counted */
#define ROUNDING 1e-10             /* a variance below is but that */

union number {
    double real;
    uint64_t bits;
};

/* Of a positive number that is no denormal: a power of 2, and the series of artanh for the rest, 0.7 to 1.4. */
static inline __attribute__((always_inline)) double logarithm(double x) {
    const uint64_t root = 0x3fe6a09e667f3bcd, biased = (uint64_t)1024 << 52; /* of 0.5 */
    const union number given = {.real = x};
    const uint64_t count = given.bits - root + biased;
    const union number rest = {.bits = given.bits - (count & 0xfff0000000000000) + biased};
    const union number power = {.bits = count >> 52 | 0x4330000000000000};
    const double m = rest.real, e = power.real - (4503599627370496.0 + 1024);
    const double z = (m - 1) / (m + 1), s = z * z;
    double sum = 1 / 17.0;
    sum = sum * s + 1 / 15.0;
    sum = sum * s + 1 / 13.0;
    sum = sum * s + 1 / 11.0;
    sum = sum * s + 1 / 9.0;
    sum = sum * s + 1 / 7.0;
    sum = sum * s + 1 / 5.0;
    sum = sum * s + 1 / 3.0;
    sum = sum * s + 1;
    return e * 0.6931471805599453 + 2 * z * sum;
}

EACH_PROCESSOR void mixed_row_add(int n, int fresh, int q, double w, const float *restrict vp, const float *restrict vs,
                                  const float *restrict rho, const float *restrict qp, const float *restrict qs,
                                  double *restrict sums, int8_t *restrict kinds) {
    const size_t m = (size_t)n;
    const double keep = fresh ? 0 : 1;
    double *restrict r = sums + RHO * m, *restrict p = sums + P * m, *restrict s = sums + S * m;
    double *restrict lp = sums + LOG_P * m, *restrict ls = sums + LOG_S * m;
    double *restrict sp = sums + SQUARE_P * m, *restrict ss = sums + SQUARE_S * m;
#pragma GCC ivdep
    for (int i = 0; i < n; i++) {
        const double density = rho[i], a = vp[i], b = vs[i];
        double mp = density * (a * a), ms = density * (b * b);
        mp = mp > 0 ? mp : 1;
        ms = ms > 0 ? ms : 1;
        const double x = logarithm(mp) - TYPICAL, y = logarithm(ms) - TYPICAL;
        r[i] = keep * r[i] + w * density;
        p[i] = keep * p[i] + w / mp;
        s[i] = keep * s[i] + w / ms;
        lp[i] = keep * lp[i] + w * x;
        ls[i] = keep * ls[i] + w * y;
        sp[i] = keep * sp[i] + w * (x * x);
        ss[i] = keep * ss[i] + w * (y * y);
    }
    for (int i = 0; i < n; i++)
        kinds[i] = (int8_t)((fresh ? 0 : kinds[i]) | (vs[i] > 0 ? ROCK : vp[i] > 0 ? FLUID : AIR));
    if (q == 0)
        return;
    for (int i = 0; i < n; i++) {
        sums[QP * m + (size_t)i] = keep * sums[QP * m + (size_t)i] + w * qp[i];
        sums[QS * m + (size_t)i] = keep * sums[QS * m + (size_t)i] + w * qs[i];
    }
}

EACH_PROCESSOR void mixed_row_weigh(int n, int fresh, double w, const double *restrict from,
                                    const int8_t *restrict from_kinds, double *restrict sums, int8_t *restrict kinds) {
    for (size_t i = 0; i < SUMS * (size_t)n; i++)
        sums[i] = (fresh ? 0 : sums[i]) + w * from[i];
    for (int i = 0; i < n; i++)
        kinds[i] = (int8_t)((fresh ? 0 : kinds[i]) | from_kinds[i]);
}

EACH_PROCESSOR void mixed_row_cells(int cells, int n, int widest, const int *restrict at, const double *restrict w,
                                    const double *restrict sums, const int8_t *restrict kinds, double *restrict room,
                                    int8_t *restrict cell_kinds, float *restrict medium, float *restrict u,
                                    float *restrict v) {
    const size_t c = (size_t)cells;
    for (size_t f = 0; f < SUMS; f++) {
        double *restrict to = room + f * c;
        const double *restrict from = sums + f * (size_t)n;
        for (size_t i = 0; i < c; i++)
            to[i] = w[i] * from[at[i]];
        for (int l = 1; l < widest; l++)
            for (size_t i = 0; i < c; i++)
                to[i] += w[(size_t)l * c + i] * from[at[(size_t)l * c + i]];
    }
    for (size_t i = 0; i < c; i++) {
        int kind = 0;
        for (int l = 0; l < widest; l++)
            kind |= kinds[at[(size_t)l * c + i]];
        cell_kinds[i] = (int8_t)kind;
    }
    double *restrict rho = room + RHO * c, *restrict p = room + P * c, *restrict s = room + S * c;
    const double *restrict x = room + LOG_P * c, *restrict y = room + LOG_S * c;
    const double *restrict xx = room + SQUARE_P * c, *restrict yy = room + SQUARE_S * c;
#pragma GCC ivdep
    for (size_t i = 0; i < c; i++) {
        const int rock = cell_kinds[i] == ROCK;
        const double vx = xx[i] - x[i] * x[i], vy = yy[i] - y[i] * y[i];
        u[i] = rock ? (float)(x[i] + TYPICAL) : 0;
        u[c + i] = rock ? (float)(y[i] + TYPICAL) : 0;
        v[i] = rock && vx >= ROUNDING ? (float)vx : 0;
        v[c + i] = rock && vy >= ROUNDING ? (float)vy : 0;
    }
#pragma GCC ivdep
    for (size_t i = 0; i < c; i++) {
        const double mass = rho[i] > 0 ? rho[i] : 1;
        p[i] = sqrt(1 / (p[i] * mass));
        s[i] = sqrt(1 / (s[i] * mass));
    }
    for (size_t i = 0; i < c; i++) {
        const int rock = cell_kinds[i] == ROCK, some = cell_kinds[i] != AIR;
        medium[PARTS * i] = some ? (float)p[i] : 0;
        medium[PARTS * i + 1] = rock ? (float)s[i] : 0;
        medium[PARTS * i + 2] = some ? (float)rho[i] : 0;
        medium[PARTS * i + 3] = some ? (float)room[QP * c + i] : 0;
        medium[PARTS * i + 4] = some ? (float)room[QS * c + i] : 0;
    }
}

/* --- contacts --- */

/* A power of 2 times the series of exp around 0. */
EACH_PROCESSOR void contact_row_soften(int n, const float *restrict u, float *restrict soft) {
    for (int i = 0; i < n; i++) {
        const double x = u[i] > 0 ? -(double)u[i] : 0;
        const double power = (x * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0; /* a whole number */
        const double r = x - power * 0.6931471805599453;
        const union number biased = {.real = power + 4503599627370496.0 + 1023}, scale = {.bits = biased.bits << 52};
        double sum = 1 / 40320.0;
        sum = sum * r + 1 / 5040.0;
        sum = sum * r + 1 / 720.0;
        sum = sum * r + 1 / 120.0;
        sum = sum * r + 1 / 24.0;
        sum = sum * r + 1 / 6.0;
        sum = sum * r + 0.5;
        sum = sum * r + 1;
        sum = sum * r + 1;
        soft[i] = u[i] > 0 ? (float)(sum * scale.real) : 0;
    }
}

static inline __attribute__((always_inline)) float step_of(float lo, float u, float hi) {
    return lo > 0 && hi > 0 && (u - lo) * (hi - u) > 0 ? hi - lo : 0;
}

static inline __attribute__((always_inline)) float pushed(float step, float share, float most) {
    const float far = fabsf(step), some = far > 0 ? share : 0;
    const float d = some / (sqrtf(step * step + 2 * some) + (far > 0 ? far : 1)); /* half of: the root less far */
    return far > 0 ? copysignf(d < most ? d : most, step) : 0;
}

EACH_PROCESSOR void contact_row_decide(int n, float most, const float *restrict u, const float *restrict front,
                                       const float *restrict behind, const float *restrict above,
                                       const float *restrict below, const float *restrict v, float *restrict px,
                                       float *restrict py, float *restrict pz) {
    for (int i = 0; i < n; i++) {
        const float here = u[i + 1];
        const float x = step_of(u[i], here, u[i + 2]), y = step_of(front[i], here, behind[i]),
                    z = step_of(above[i], here, below[i]), all = x * x + y * y + z * z;
        const float part = v[i] / (all > 0 ? all : 1);
        const float mx = (here - u[i]) * (u[i + 2] - here), my = (here - front[i]) * (behind[i] - here),
                    mz = (here - above[i]) * (below[i] - here);
        const float sx = part * (x * x), sy = part * (y * y), sz = part * (z * z);
        px[i] = pushed(x, sx < mx ? sx : mx, most);
        py[i] = pushed(y, sy < my ? sy : my, most);
        pz[i] = pushed(z, sz < mz ? sz : mz, most);
    }
}

/* exp(x) - 1 of a small x. */
static inline __attribute__((always_inline)) float little(float x) {
    float s = 1 / 5040.0f;
    s = s * x + 1 / 720.0f;
    s = s * x + 1 / 120.0f;
    s = s * x + 1 / 24.0f;
    s = s * x + 1 / 6.0f;
    s = s * x + 0.5f;
    s = s * x + 1;
    return s * x;
}

static inline __attribute__((always_inline)) float least(float a, float b) { return b > 0 && b < a ? b : a; }

EACH_PROCESSOR void contact_row_finish(int n, float most, const float *restrict soft, const float *restrict soft_y,
                                       const float *restrict soft_z, const float *restrict px, const float *restrict py,
                                       const float *restrict pz, const float *restrict got_y,
                                       const float *restrict got_z, float *restrict modulus, int8_t *restrict changed) {
    const float *restrict behind = soft_y + n, *restrict below = soft_z + n;
    for (int i = 0; i < n; i++) {
        const float x = px[i + 1], y = py[i], z = pz[i];
        float got = (px[i] - px[i + 2]) + got_y[i] + got_z[i];
        const float given = -(soft[i] * little(x) + soft[i + 2] * little(-x) + soft_y[i] * little(y) +
                              behind[i] * little(-y) + soft_z[i] * little(z) + below[i] * little(-z));
        const int gives = x != 0 || y != 0 || z != 0, gets = got != 0;
        float hardest = least(HUGE_VALF, soft[i]);
        hardest = least(hardest, soft[i + 2]);
        hardest = least(hardest, soft_y[i]);
        hardest = least(hardest, behind[i]);
        hardest = least(hardest, soft_z[i]);
        hardest = least(hardest, below[i]);
        float m = modulus[i];
        const float softer = 1 / (m > 0 ? m : 1) + given, bound = softer > hardest ? softer : hardest;
        m = gives ? 1 / bound : m;
        got = got > most ? most : got < -most ? -most : got;
        modulus[i] = m * (1 + little(got));
        changed[i] = (int8_t)(changed[i] | gives | gets);
    }
}

EACH_PROCESSOR void contact_row_speeds(int n, float resists, const float *restrict modulus,
                                       const int8_t *restrict changed, const float *restrict u,
                                       const float *restrict rho, float *restrict vp, float *restrict vs) {
    for (int i = 0; i < n; i++) {
        const float most = resists * modulus[i], mu = modulus[n + i] < most ? modulus[n + i] : most;
        const int does = changed[i] != 0 && u[i] > 0;
        const float mass = rho[i] > 0 ? rho[i] : 1, a = sqrtf(modulus[i] / mass), b = sqrtf(mu / mass);
        vp[i] = does ? a : vp[i];
        vs[i] = does ? b : vs[i];
    }
}
