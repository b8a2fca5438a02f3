/* Tables of degree 4, and the geometry of hexahedra. */
#include "sem3d_geometry.h"

#include <math.h>

/* Canuto, Hussaini, Quarteroni & Zang 1988, eqs 2.3.12 and 2.4.35. */
#define ROOT_3_7 0.65465367070797714380 /* sqrt(3/7) */

static const double point[SEM_ALONG] = {-1, -ROOT_3_7, 0, ROOT_3_7, 1};
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

/* Where the nodes are along xi, eta, zeta: corners, edges, centre, sides. */
static const signed char node[SEM_NODES][3] = {
    {-1, -1, -1}, {1, -1, -1}, {1, 1, -1},  {-1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {1, 1, 1},  {-1, 1, 1}, {0, -1, -1},
    {1, 0, -1},   {0, 1, -1},  {-1, 0, -1}, {-1, -1, 0}, {1, -1, 0},  {1, 1, 0},  {-1, 1, 0}, {0, -1, 1}, {1, 0, 1},
    {0, 1, 1},    {-1, 0, 1},  {0, 0, 0},   {0, 0, -1},  {0, 0, 1},   {-1, 0, 0}, {1, 0, 0},  {0, -1, 0}, {0, 1, 0}};

/* The function of the node at n = -1, 0, 1 along one axis, and its derivative. */
static void shape(int per, int n, double xi, double *value, double *slope) {
    if (per == 8) {
        *value = 0.5 * (1 + n * xi);
        *slope = 0.5 * n;
    } else {
        *value = n == 0 ? (1 - xi) * (1 + xi) : 0.5 * xi * (xi + n);
        *slope = n == 0 ? -2 * xi : xi + 0.5 * n;
    }
}

static void indices(int p, int at[3]) {
    at[0] = p % SEM_ALONG;
    at[1] = p / SEM_ALONG % SEM_ALONG;
    at[2] = p / SEM_FACE;
}

void sem_shapes_of(sem_shapes *s, int per) {
    s->per = per;
    for (int p = 0; p < SEM_POINTS; p++)
        for (int n = 0; n < per; n++) {
            int at[3];
            double v[3], d[3];
            indices(p, at);
            for (int a = 0; a < 3; a++)
                shape(per, node[n][a], point[at[a]], &v[a], &d[a]);
            for (int a = 0; a < 3; a++)
                s->slope[p][n][a] = d[a] * v[(a + 1) % 3] * v[(a + 2) % 3];
        }
}

void sem_places(const sem_shapes *s, const double *corner, sem_place place[SEM_POINTS]) {
    for (int p = 0; p < SEM_POINTS; p++) {
        double x[3][3] = {{0}}; /* [d]: dx/dxi_d */
        sem_place *at = &place[p];
        for (int n = 0; n < s->per; n++)
            for (int d = 0; d < 3; d++)
                for (int c = 0; c < 3; c++)
                    x[d][c] += s->slope[p][n][d] * corner[3 * n + c];
        for (int d = 0; d < 3; d++)
            for (int c = 0; c < 3; c++) {
                const double *u = x[(d + 1) % 3], *v = x[(d + 2) % 3];
                at->a[d][c] = u[(c + 1) % 3] * v[(c + 2) % 3] - u[(c + 2) % 3] * v[(c + 1) % 3];
            }
        at->det = x[0][0] * at->a[0][0] + x[0][1] * at->a[0][1] + x[0][2] * at->a[0][2];
    }
}

double sem_point_weight(int p) {
    int at[3];
    indices(p, at);
    return sem_weight[at[0]] * sem_weight[at[1]] * sem_weight[at[2]];
}

/* --- sides --------------------------------------------------------------------------------------------------- */

int sem_side_axis(int side) { return (const int[]){1, 0, 1, 0, 2, 2}[side]; }

int sem_side_sign(int side) { return (const int[]){-1, 1, 1, -1, -1, 1}[side]; }

int sem_side_point(int side, int n) {
    static const int step[3] = {1, SEM_ALONG, SEM_FACE};
    const int axis = sem_side_axis(side), u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
    return (sem_side_sign(side) > 0 ? (SEM_ALONG - 1) * step[axis] : 0) + n % SEM_ALONG * step[u] +
           n / SEM_ALONG * step[v];
}

void sem_side_area(const sem_place place[SEM_POINTS], int side, int n, double area[3]) {
    const double w = sem_weight[n % SEM_ALONG] * sem_weight[n / SEM_ALONG] * sem_side_sign(side);
    const double *a = place[sem_side_point(side, n)].a[sem_side_axis(side)];
    for (int c = 0; c < 3; c++)
        area[c] = w * a[c];
}

/* --- affine elements ----------------------------------------------------------------------------------------- */

/* The four differences of opposite edges that an affine map has not. */
int sem_is_affine(const double *corner, double most) {
    static const int edge[9][2][2] = {{{0, 1}, {3, 2}}, {{0, 1}, {4, 5}}, {{0, 1}, {7, 6}},
                                      {{0, 3}, {1, 2}}, {{0, 3}, {4, 7}}, {{0, 3}, {5, 6}},
                                      {{0, 4}, {1, 5}}, {{0, 4}, {2, 6}}, {{0, 4}, {3, 7}}};
    double size = 0, apart = 0;
    for (int e = 0; e < 9; e++)
        for (int c = 0; c < 3; c++) {
            const double u = corner[3 * edge[e][0][1] + c] - corner[3 * edge[e][0][0] + c],
                         v = corner[3 * edge[e][1][1] + c] - corner[3 * edge[e][1][0] + c];
            size = fmax(size, fabs(u));
            apart = fmax(apart, fabs(u - v));
        }
    return apart <= most * size;
}
