/* Tables of degree 4, and the geometry of hexahedra. */
#include "sem3d_geometry.h"

#include <math.h>
#include <string.h>

/* Canuto, Hussaini, Quarteroni & Zang 1988, eqs 2.3.12 and 2.4.35. */
#define ROOT_3_7 0.65465367070797714380 /* sqrt(3/7) */

const double sem_gll[SEM_ALONG] = {-1, -ROOT_3_7, 0, ROOT_3_7, 1};
const double sem_weight[SEM_ALONG] = {1.0 / 10, 49.0 / 90, 32.0 / 45, 49.0 / 90, 1.0 / 10};

#define LEGENDRE_0          1.0 /* of degree 4, at the points */
#define LEGENDRE_1          (-3.0 / 7)
#define LEGENDRE_2          0.375
#define RATIO(p, q, xp, xq) (LEGENDRE_##p / LEGENDRE_##q / ((xp) - (xq)))

const double sem_slope[SEM_ALONG][SEM_ALONG] = {
    {-5, RATIO(0, 1, -1, -ROOT_3_7), RATIO(0, 2, -1, 0), RATIO(0, 1, -1, ROOT_3_7), RATIO(0, 0, -1, 1)},
    {RATIO(1, 0, -ROOT_3_7, -1), 0, RATIO(1, 2, -ROOT_3_7, 0), RATIO(1, 1, -ROOT_3_7, ROOT_3_7),
     RATIO(1, 0, -ROOT_3_7, 1)},
    {RATIO(2, 0, 0, -1), RATIO(2, 1, 0, -ROOT_3_7), 0, RATIO(2, 1, 0, ROOT_3_7), RATIO(2, 0, 0, 1)},
    {RATIO(1, 0, ROOT_3_7, -1), RATIO(1, 1, ROOT_3_7, -ROOT_3_7), RATIO(1, 2, ROOT_3_7, 0), 0,
     RATIO(1, 0, ROOT_3_7, 1)},
    {RATIO(0, 0, 1, -1), RATIO(0, 1, 1, -ROOT_3_7), RATIO(0, 2, 1, 0), RATIO(0, 1, 1, ROOT_3_7), 5}};

/* The nodes along xi, eta, zeta: corners, edges, centre, sides. */
static const signed char node[SEM_NODES][3] = {
    {-1, -1, -1}, {1, -1, -1}, {1, 1, -1},  {-1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {1, 1, 1},  {-1, 1, 1}, {0, -1, -1},
    {1, 0, -1},   {0, 1, -1},  {-1, 0, -1}, {-1, -1, 0}, {1, -1, 0},  {1, 1, 0},  {-1, 1, 0}, {0, -1, 1}, {1, 0, 1},
    {0, 1, 1},    {-1, 0, 1},  {0, 0, 0},   {0, 0, -1},  {0, 0, 1},   {-1, 0, 0}, {1, 0, 0},  {0, -1, 0}, {0, 1, 0}};

/* The function of the node at n = -1, 0, 1 along one axis, and its derivative. */
static void shape(int n, double xi, double *value, double *slope) {
    *value = n == 0 ? (1 - xi) * (1 + xi) : 0.5 * xi * (xi + n);
    *slope = n == 0 ? -2 * xi : xi + 0.5 * n;
}

static void indices(int p, int at[3]) {
    at[0] = p % SEM_ALONG;
    at[1] = p / SEM_ALONG % SEM_ALONG;
    at[2] = p / SEM_FACE;
}

void sem_shapes_of(sem_shapes *s, int per) {
    s->per = per;
    for (int p = 0; p < SEM_POINTS; p++)
        s->weight[p] = sem_point_weight(p);
    for (int p = 0; p < SEM_POINTS; p++)
        for (int n = 0; n < per && per == SEM_NODES; n++) {
            int at[3];
            double v[3], d[3];
            indices(p, at);
            for (int a = 0; a < 3; a++)
                shape(node[n][a], sem_gll[at[a]], &v[a], &d[a]);
            for (int a = 0; a < 3; a++)
                s->slope[p][n][a] = d[a] * v[(a + 1) % 3] * v[(a + 2) % 3];
        }
}

void sem_cofactors(const double (*x)[3], sem_place *at) {
    for (int d = 0; d < 3; d++)
        for (int c = 0; c < 3; c++) {
            const double *u = x[(d + 1) % 3], *v = x[(d + 2) % 3];
            at->a[d][c] = u[(c + 1) % 3] * v[(c + 2) % 3] - u[(c + 2) % 3] * v[(c + 1) % 3];
        }
    at->det = x[0][0] * at->a[0][0] + x[0][1] * at->a[0][1] + x[0][2] * at->a[0][2];
}

/* dx/dxi_d of a trilinear map, which is the same along xi_d: at (eta,zeta), (xi,zeta), (eta,xi). */
static void trilinear_slopes(const double *corner, double x[3][SEM_FACE][3]) {
    static const int of[3][4] = {{1, 4, 6, 7}, {2, 4, 5, 7}, {3, 5, 6, 7}};
    double b[8][3];
    sem_trilinear(corner, b);
    for (int d = 0; d < 3; d++)
        for (int n = 0; n < SEM_FACE; n++) {
            const double one = sem_gll[n % SEM_ALONG], other = sem_gll[n / SEM_ALONG];
            for (int c = 0; c < 3; c++)
                x[d][n][c] = b[of[d][0]][c] + b[of[d][1]][c] * one + (b[of[d][2]][c] + b[of[d][3]][c] * one) * other;
        }
}

static void slopes(const sem_shapes *s, const double *corner, int p, double x[3][3]) {
    memset(x, 0, 9 * sizeof(double));
    for (int n = 0; n < s->per; n++)
        for (int d = 0; d < 3; d++)
            for (int c = 0; c < 3; c++)
                x[d][c] += s->slope[p][n][d] * corner[3 * n + c];
}

/* dx/dxi at point p of a trilinear map. */
static void slopes_at(double face[3][SEM_FACE][3], int p, double x[3][3]) {
    const int i = p % SEM_ALONG, j = p / SEM_ALONG % SEM_ALONG, k = p / SEM_FACE;
    memcpy(x[0], face[0][j + SEM_ALONG * k], sizeof x[0]);
    memcpy(x[1], face[1][i + SEM_ALONG * k], sizeof x[1]);
    memcpy(x[2], face[2][j + SEM_ALONG * i], sizeof x[2]);
}

void sem_places(const sem_shapes *s, const double *corner, sem_place place[SEM_POINTS]) {
    double face[3][SEM_FACE][3], x[3][3];
    if (s->per == 8)
        trilinear_slopes(corner, face);
    for (int p = 0; p < SEM_POINTS; p++) {
        if (s->per == 8)
            slopes_at(face, p, x);
        else
            slopes(s, corner, p, x);
        sem_cofactors((const double(*)[3])x, &place[p]);
    }
}

void sem_determinants(const sem_shapes *s, const double *corner, double det[SEM_POINTS]) {
    double face[3][SEM_FACE][3];
    if (s->per != 8) {
        sem_place place[SEM_POINTS];
        sem_places(s, corner, place);
        for (int p = 0; p < SEM_POINTS; p++)
            det[p] = place[p].det;
        return;
    }
    trilinear_slopes(corner, face);
    for (int k = 0; k < SEM_ALONG; k++)
        for (int j = 0; j < SEM_ALONG; j++)
            for (int i = 0; i < SEM_ALONG; i++) {
                const double *x = face[0][j + SEM_ALONG * k], *u = face[1][i + SEM_ALONG * k],
                             *v = face[2][j + SEM_ALONG * i];
                det[i + SEM_ALONG * j + SEM_FACE * k] = x[0] * (u[1] * v[2] - u[2] * v[1]) +
                                                        x[1] * (u[2] * v[0] - u[0] * v[2]) +
                                                        x[2] * (u[0] * v[1] - u[1] * v[0]);
            }
}

double sem_point_weight(int p) {
    int at[3];
    indices(p, at);
    return sem_weight[at[0]] * sem_weight[at[1]] * sem_weight[at[2]];
}

double sem_memory_gain(int point) {
    /* coordinates that are +-1: none, one; that are 0 */
    static const double gain[2][4] = {{1, 1.095, 1.09, 1.26}, {1.652, 0, 1.681874855324, 0}};
    int at[3], ends = 0, middles = 0;
    indices(point, at);
    for (int a = 0; a < 3; a++) {
        ends += at[a] % (SEM_ALONG - 1) == 0;
        middles += at[a] == SEM_ALONG / 2;
    }
    return ends > 1 ? 0 : gain[ends][middles];
}

int sem_memory(int point) {
    int number = 0;
    for (int p = 0; p < point; p++)
        number += sem_memory_gain(p) > 0;
    return sem_memory_gain(point) > 0 ? number : -1;
}

/* --- sides --------------------------------------------------------------------------------------------------- */

/* The axis across a side, and the sign that xi has there. */
static int side_axis(int side) { return (const int[]){1, 0, 1, 0, 2, 2}[side]; }
static int side_sign(int side) { return (const int[]){-1, 1, 1, -1, -1, 1}[side]; }

int sem_side_point(int side, int n) {
    static const int step[3] = {1, SEM_ALONG, SEM_FACE};
    const int axis = side_axis(side), u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
    return (side_sign(side) > 0 ? (SEM_ALONG - 1) * step[axis] : 0) + n % SEM_ALONG * step[u] + n / SEM_ALONG * step[v];
}

void sem_side_area(const sem_place place[SEM_POINTS], int side, int n, double area[3]) {
    const double w = sem_weight[n % SEM_ALONG] * sem_weight[n / SEM_ALONG] * side_sign(side);
    const double *a = place[sem_side_point(side, n)].a[side_axis(side)];
    for (int c = 0; c < 3; c++)
        area[c] = w * a[c];
}

/* --- trilinear maps ------------------------------------------------------------------------------------------ */

void sem_trilinear(const double *corner, double b[8][3]) {
    memset(b, 0, 8 * sizeof b[0]);
    for (int m = 0; m < 8; m++) {
        const int x = node[m][0], y = node[m][1], z = node[m][2];
        const double of[8] = {1, x, y, z, x * y, y * z, x * z, x * y * z};
        for (int n = 0; n < 8; n++)
            for (int c = 0; c < 3; c++)
                b[n][c] += of[n] * corner[3 * m + c] / 8;
    }
}

int sem_is_affine(const double *corner, double most) {
    double b[8][3], size = 0, rest = 0;
    sem_trilinear(corner, b);
    for (int n = 1; n < 8; n++)
        for (int c = 0; c < 3; c++)
            if (n < 4)
                size = fmax(size, fabs(b[n][c]));
            else
                rest = fmax(rest, fabs(b[n][c]));
    return rest <= most * size;
}
