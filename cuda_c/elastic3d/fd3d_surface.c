/* Differences along z in the first rows below a free surface, and the share of a cell that each row has.
 *
 * Half-cells: vx, vy, normal stresses, sxy stand at z = h/2, 3h/2, ..., vz, sxz, syz at 0, h, ... A free surface has
 * szz = sxz = syz = 0 at z = 0. D takes what stands at 0, h, ... to h/2, ..., G the other way. With positive shares P
 * of the rows at h/2, ... and R of those at 0, ..., and any Q,
 *
 *   D = Q / P,   G = -transposed Q / R
 *
 * are transposed to each other in sums weighted by the shares: the scheme keeps energy in any medium, and a source and
 * a receiver change places exactly (summation by parts; on staggered grids O'Reilly et al. 2017, J. Comput. Phys. 346,
 * 572-589, who have both kinds of numbers on the surface). No number above it is needed: that szz is 0 at z = 0 is in
 * G, that sxz and syz are 0 there in themselves.
 *
 * Q is that of inner rows but for the first 4 rows and 5 columns, which follow from what D and G are exact for: D for
 * 1, z, z^2; G for 1 .. z^3, in row 0, whose field is 0 at the surface, for z, z^2, z^3. Half-length 1 has 3 rows and
 * columns, exact for 1, z and 1, z, z^2, and one number to choose: 1/80 leaves the time step as it is to 0.9 %, where
 * one row less (1/8, 3/80 then 0) would take 4 %. Weights that are not Taylor's are not exact inside either: then least
 * squares, near the answer for Taylor's, without which rows for Holberg's weights of 5 % were 1.1 times as stiff as
 * inner ones.
 *
 * Eigenvalues of the half-space, horizontal differences of the same half-length, 2026-11-27: none above those of inner
 * rows from half-length 2 on, for vp/vs from 1.42 to 10. Rayleigh waves at vp/vs = 1.73 are slow by 1.2, 0.18, 0.01 %
 * with half-length 2 at 6, 10, 20 points per wavelength; 0.7, 0.11, 0.01 % with 4; 5.7, 1.9, 0.4 % with 1.
 *
 * Along layers with narrow differences the columns keep the shares of the others, or energy would be gained between
 * them, and Q is the inner rows' of half-length 1: the differences of rows as high as their shares, up to 0.15 h from
 * where the others have them. Nothing wider: a Q of four rows, exact for 1 and z to 0.3 %, let waves grow where a sea
 * floor lay 2 or 3 cells deep (t623).
 *
 * Below a fluid's surface p is odd and vz even, so inner rows go on with images: exact, transposed too, with half a
 * cell in row 0. But shares must be those of all columns, or waves along a shore grow: `wet` is a fluid in all columns.
 */
#include "fd3d.h"

#include <math.h>
#include <string.h>

#include "der3d.h"

enum { MOST_D = 4, MOST_G = 5, UNKNOWNS = MOST_D * MOST_G + MOST_D + MOST_G, REFINEMENTS = 2 };

typedef struct closure {
    int L, rows_d, rows_g;           /* rows that are not inner ones */
    int power_d, power_g;            /* D, G are exact up to these */
    const double *w, *toward;        /* an answer that this one is to be near, or null */
    double slope;                    /* of the inner difference of z: 1 of Taylor's weights */
    double a[UNKNOWNS][UNKNOWNS];    /* normal equations */
    double b[UNKNOWNS], x[UNKNOWNS]; /* Q row by row, P, R */
    double row[UNKNOWNS], equal;     /* an equation */
    int refining;                    /* b from what x leaves of each equation */
} closure;

/* Inner rows: what node j (z = j) has in the difference at half i (z = i + 1/2). */
static double inner(const closure *c, int i, int j) {
    const int ahead = j - i, behind = i + 1 - j;
    if (ahead >= 1 && ahead <= c->L)
        return c->w[ahead - 1];
    return behind >= 1 && behind <= c->L ? -c->w[behind - 1] : 0;
}

static int unknowns(const closure *c) { return c->rows_d * c->rows_g + c->rows_d + c->rows_g; }

/* One more equation of least squares. */
static void take(closure *c) {
    const int n = unknowns(c);
    double left = c->equal;
    for (int m = 0; m < UNKNOWNS; m++)
        left -= c->row[m] * c->x[m];
    for (int m = 0; m < n; m++) {
        c->b[m] += c->row[m] * left;
        for (int l = 0; l < n && !c->refining; l++)
            c->a[m][l] += c->row[m] * c->row[l];
    }
    memset(c->row, 0, sizeof c->row);
    c->equal = 0;
}

/* D in row i is exact for z^power. */
static void exact_d(closure *c, int i, int power) {
    for (int j = 0; j < c->rows_g; j++)
        c->row[i * c->rows_g + j] = pow(j, power);
    for (int j = c->rows_g; j <= i + c->L; j++)
        c->equal -= inner(c, i, j) * pow(j, power);
    c->row[c->rows_d * c->rows_g + i] = power > 0 ? -c->slope * power * pow(i + 0.5, power - 1) : 0;
    take(c);
}

/* G in row j likewise. */
static void exact_g(closure *c, int j, int power) {
    for (int i = 0; i < c->rows_d; i++)
        c->row[i * c->rows_g + j] = -pow(i + 0.5, power);
    for (int i = c->rows_d; i < j + c->L; i++)
        c->equal += inner(c, i, j) * pow(i + 0.5, power);
    c->row[c->rows_d * c->rows_g + c->rows_d + j] = power > 0 ? -c->slope * power * pow(j, power - 1) : 0;
    take(c);
}

/* The number that half-length 1 leaves to choose. */
static void chosen(closure *c) {
    c->row[c->rows_g] = 1;
    c->equal = c->w[0] / 80;
    take(c);
}

static void all_equations(closure *c) {
    memset(c->b, 0, sizeof c->b);
    for (int i = 0; i < c->rows_d; i++)
        for (int power = 0; power <= c->power_d; power++)
            exact_d(c, i, power);
    for (int j = 0; j < c->rows_g; j++)
        for (int power = j > 0 ? 0 : 1; power <= c->power_g; power++)
            exact_g(c, j, power);
    if (c->L == 1)
        chosen(c);
    for (int m = 0; m < unknowns(c) && c->toward != NULL; m++) {
        c->row[m] = 0.1;
        c->equal = 0.1 * c->toward[m];
        take(c);
    }
}

/* Adds to x the solution of a x = b, a symmetric and positive; a stays. */
static void add_solution(closure *c) {
    const int n = unknowns(c);
    double a[UNKNOWNS][UNKNOWNS], b[UNKNOWNS];
    memcpy(a, c->a, sizeof a);
    memcpy(b, c->b, sizeof b);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            const double f = a[j][i] / a[i][i];
            for (int m = i; m < n; m++)
                a[j][m] -= f * a[i][m];
            b[j] -= f * b[i];
        }
    for (int i = n - 1; i >= 0; i--) {
        for (int m = i + 1; m < n; m++)
            b[i] -= a[i][m] * b[m];
        b[i] /= a[i][i];
        c->x[i] += b[i];
    }
}

/* Q of all rows and columns that are asked for, and shares. */
static double q_of(const closure *c, int i, int j) {
    return i < c->rows_d && j < c->rows_g ? c->x[i * c->rows_g + j] : inner(c, i, j);
}

/* Weights of all rows, and shares. */
static void put(const closure *c, double top[2][FD3D_TOP_ROWS][FD3D_TOP_TAPS], double share[2][FD3D_TOP_ROWS]) {
    const double *p = c->x + c->rows_d * c->rows_g, *r = p + c->rows_d;
    for (int k = 0; k < FD3D_TOP_ROWS; k++) {
        share[0][k] = k < c->rows_d ? p[k] : 1;
        share[1][k] = k < c->rows_g ? r[k] : 1;
        for (int t = 0; t < FD3D_TOP_TAPS; t++) {
            top[0][k][t] = -q_of(c, t, k) / share[1][k];
            top[1][k][t] = q_of(c, k, t) / share[0][k];
        }
    }
}

static void solve(closure *c) {
    for (int m = 1; m <= c->L; m++)
        c->slope += (2 * m - 1) * c->w[m - 1];
    for (c->refining = 0; c->refining <= REFINEMENTS; c->refining++) {
        all_equations(c);
        add_solution(c);
    }
}

static void of_rock(int L, const double *w, double top[2][FD3D_TOP_ROWS][FD3D_TOP_TAPS],
                    double share[2][FD3D_TOP_ROWS]) {
    static const double taylor[D3_MAX][D3_MAX] = {{1},
                                                  {9 / 8.0, -1 / 24.0},
                                                  {75 / 64.0, -25 / 384.0, 3 / 640.0},
                                                  {1225 / 1024.0, -245 / 3072.0, 49 / 5120.0, -5 / 7168.0}};
    closure c[2] = {{.L = L, .rows_d = MOST_D, .rows_g = MOST_G, .power_d = 2, .power_g = 3, .w = taylor[L - 1]}};
    if (L == 1)
        c->rows_d = c->rows_g = 3, c->power_d = 1, c->power_g = 2;
    c[1] = c[0];
    c[1].w = w, c[1].toward = c[0].x;
    solve(&c[0]);
    solve(&c[1]);
    put(&c[1], top, share);
}

/* Half-length 1 with the shares of another one, which stay. */
static void of_narrow(double top[2][FD3D_TOP_ROWS][FD3D_TOP_TAPS], double share[2][FD3D_TOP_ROWS]) {
    static const double w[] = {1};
    const closure c = {.L = 1, .w = w};
    for (int k = 0; k < FD3D_TOP_ROWS; k++)
        for (int t = 0; t < FD3D_TOP_TAPS; t++) {
            top[0][k][t] = -inner(&c, t, k) / share[1][k];
            top[1][k][t] = inner(&c, k, t) / share[0][k];
        }
}

static void of_fluid(int L, const double *w, double top[2][FD3D_TOP_ROWS][FD3D_TOP_TAPS],
                     double share[2][FD3D_TOP_ROWS]) {
    memset(top, 0, 2 * sizeof *top);
    for (int k = 0; k < FD3D_TOP_ROWS; k++) {
        share[0][k] = 1;
        share[1][k] = k == 0 ? 0.5 : 1;
        for (int m = 1; m <= L; m++) {
            const int above = k - m; /* centre above face k */
            top[0][k][k + m - 1] += w[m - 1];
            top[0][k][above >= 0 ? above : -1 - above] += above >= 0 ? -w[m - 1] : w[m - 1];
            top[1][k][k + m] += w[m - 1];
            top[1][k][k >= m - 1 ? k - m + 1 : m - 1 - k] -= w[m - 1];
        }
    }
}

void fd3d_surface(int half_length, const double *w, int wet, int narrow, double *top, double *share) {
    static const double one[] = {1};
    double(*t)[FD3D_TOP_ROWS][FD3D_TOP_TAPS] = (double(*)[FD3D_TOP_ROWS][FD3D_TOP_TAPS])top;
    double(*s)[FD3D_TOP_ROWS] = (double(*)[FD3D_TOP_ROWS])share;
    if (wet) {
        of_fluid(narrow ? 1 : half_length, narrow ? one : w, t, s);
        return;
    }
    of_rock(half_length, w, t, s);
    if (narrow && half_length > 1)
        of_narrow(t, s);
}

void fd3d_top_of(const fd3d_cfg *cfg, fd3d_top *top) {
    double w[D3_MAX], exact[2][FD3D_TOP_ROWS][FD3D_TOP_TAPS], share[2][FD3D_TOP_ROWS];
    for (int m = 0; m < cfg->half_length; m++)
        w[m] = cfg->w[m];
    top->taps = cfg->half_length + FD3D_TOP_ROWS;
    for (int narrow = 0; narrow < 2; narrow++) {
        fd3d_surface(cfg->half_length, w, cfg->wet, narrow, &exact[0][0][0], &share[0][0]);
        for (int b = 0; b < 2; b++)
            for (int k = 0; k < FD3D_TOP_ROWS; k++)
                for (int m = 0; m < FD3D_TOP_TAPS; m++)
                    top->w[narrow][b][k][m] = (float)exact[b][k][m];
    }
}
