/* Constants of anisotropic elements: whether they are of a medium, and the impedance of their waves. */
#include "sem3d_tensor.h"

#include <math.h>
#include <string.h>

#include "err.h"

static const int voigt[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};

/* All constants at a point of an anisotropic element [Pa]. */
static void stiffness(const sem3d *fd, const sem3d_given *g, size_t e, int p, double c[6][6]) {
    const double lambda = sem3d_medium(&fd->cfg, g->lambda, e, p), mu = sem3d_medium(&fd->cfg, g->mu, e, p);
    const float *relative = sem3d_relative(g, e);
    for (int i = 0; i < 6; i++)
        for (int j = i; j < 6; j++) {
            const double isotropic = (j < 3 ? lambda : 0) + (i == j ? (i < 3 ? 2 : 1) * mu : 0);
            c[i][j] = c[j][i] = isotropic + mu * (double)*relative++;
        }
}

/* The pivots of a symmetric matrix are positive. */
static int is_positive(double c[6][6]) {
    double largest = 0;
    for (int i = 0; i < 6; i++)
        largest = fmax(largest, c[i][i]);
    for (int i = 0; i < 6; i++) {
        if (!(c[i][i] > 1e-9 * largest))
            return 0;
        for (int j = i + 1; j < 6; j++) {
            const double f = c[j][i] / c[i][i];
            for (int k = i; k < 6; k++)
                c[j][k] -= f * c[i][k];
        }
    }
    return 1;
}

int sem3d_check_tensors(const sem3d *fd, const sem3d_given *given) {
    double c[6][6], last[6][6] = {{0}};
    for (size_t e = 0; given->tensor != NULL && e < (size_t)fd->cfg.elements; e++) {
        REQUIRE(e < (size_t)fd->cfg.solid || given->tensor[e] < 0, "element %zu of fluid has an anisotropic medium",
                e + 1);
        for (int p = 0; p < fd->cfg.media && given->tensor[e] >= 0; p++) {
            stiffness(fd, given, e, p, c);
            if (memcmp(c, last, sizeof c) == 0)
                continue;
            memcpy(last, c, sizeof c);
            REQUIRE(is_positive(c), "the constants of element %zu are of no medium: a strain would set energy free",
                    e + 1);
        }
    }
    return 0;
}

/* --- impedance --------------------------------------------------------------------------------------------------- */

static void inverse(const double a[3][3], double b[3][3]) {
    double det = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int r = (j + 1) % 3, s = (j + 2) % 3, k = (i + 1) % 3, l = (i + 2) % 3;
            b[i][j] = a[r][k] * a[s][l] - a[r][l] * a[s][k];
        }
    for (int i = 0; i < 3; i++)
        det += a[0][i] * b[i][0];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            b[i][j] /= det;
}

/* The root of a symmetric positive matrix by the iteration of Denman & Beavers (1976). */
static void root(double a[3][3]) {
    double other[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, of_a[3][3], of_other[3][3];
    const double scale = (a[0][0] + a[1][1] + a[2][2]) / 3;
    for (int m = 0; m < 9; m++)
        a[m / 3][m % 3] /= scale;
    for (int turn = 0; turn < 20; turn++) {
        inverse((const double(*)[3])a, of_a);
        inverse((const double(*)[3])other, of_other);
        for (int m = 0; m < 9; m++) {
            a[m / 3][m % 3] = (a[m / 3][m % 3] + of_other[m / 3][m % 3]) / 2;
            other[m / 3][m % 3] = (other[m / 3][m % 3] + of_a[m / 3][m % 3]) / 2;
        }
    }
    for (int m = 0; m < 9; m++)
        a[m / 3][m % 3] *= sqrt(scale);
}

void sem3d_impedance(const sem3d *fd, const sem3d_given *g, size_t element, int p, const double n[3], double z[6]) {
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const double rho = sem3d_medium(&fd->cfg, g->rho, element, p);
    double c[6][6], a[3][3] = {{0}};
    stiffness(fd, g, element, p, c);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++)
                for (int l = 0; l < 3; l++)
                    a[i][k] += rho * c[voigt[i][j]][voigt[k][l]] * n[j] * n[l];
    root(a);
    for (int m = 0; m < 6; m++)
        z[m] = a[row[m]][column[m]];
}
