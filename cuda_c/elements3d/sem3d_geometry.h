/* Points, weights and derivatives of Gauss, Lobatto and Legendre of degree 4, and the geometry of hexahedra of 8 or 27
 * nodes, numbered as Exodus II numbers them. In double; what a time loop keeps of it is float. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum { SEM_ALONG = 5, SEM_FACE = 25, SEM_POINTS = 125, SEM_SIDES = 6, SEM_NODES = 27 };

extern const double sem_gll[SEM_ALONG], sem_weight[SEM_ALONG]; /* points, weights */
extern const double sem_slope[SEM_ALONG][SEM_ALONG];           /* [i][j] of polynomial j at point i */

/* Weights of the points, and derivatives of the functions of 27 nodes along xi, eta, zeta there; 8 need none. */
typedef struct sem_shapes {
    int per;                   /* nodes: 8, or 27 */
    double weight[SEM_POINTS]; /* sem_point_weight */
    double slope[SEM_POINTS][SEM_NODES][3];
} sem_shapes;

void sem_shapes_of(sem_shapes *s, int per);

/* At a point of an element: its cofactors, a[d][c] = det dxi_d/dx_c, and det = |dx/dxi|. On a side along axis d a[d]
 * times the weights of its two axes is the area that points to higher xi_d. */
typedef struct sem_place {
    double a[3][3], det;
} sem_place;

void sem_cofactors(const double (*x)[3], sem_place *at);                                  /* x[d]: dx/dxi_d */
void sem_places(const sem_shapes *s, const double *corner, sem_place place[SEM_POINTS]);  /* corner(3,per) [m] */
void sem_determinants(const sem_shapes *s, const double *corner, double det[SEM_POINTS]); /* theirs alone */

double sem_point_weight(int point); /* of the volume: the product of three */

/* With memory variables at few points: number of a point among these 57, else -1; and the factor of its share, which
 * stands for points without. They are the points inside an element, and in the middle and on the diagonals of its
 * sides. The factors have the mean 1, so that long waves lose what they lose with variables at all points. An element
 * whose points relax unequally gives way where they relax most: waves see a modulus that is less by a part of the
 * square of what relaxes, which depends on their length and direction and on the shape of the element. What is the same
 * for all, 0.05 (of mu) to 0.085 (of the bulk modulus) of that square, elements_relax.f90 makes good. The factors are
 * those with which Bloch waves in cubes, flat and leaning elements, after up to 50 wavelengths at Q from 20 to 500,
 * differ least from waves with variables at all points. Where the means of x^2, x^4 and x^2 y^2 are right too, short
 * waves lose what they should, but of S waves the part of the square is 0.07 to 0.25, and waves of Q = 20 differ by up
 * to 2.5 %. The 8 points of van Driel & Nissen-Meyer (2014, GJI 199, 1078-1093) are wrong by 1.6 % of 1/Q at 2.5
 * elements a wavelength, and by 0.6 .. 2 of that square. */
enum { SEM_RELAXING = 57 };
int sem_memory(int point);
double sem_memory_gain(int point);

/* The 25 points of a side, rising. */
int sem_side_point(int side, int n);
/* The area [m2] of point n of a side, outwards. */
void sem_side_area(const sem_place place[SEM_POINTS], int side, int n, double area[3]);

/* Of 8 nodes: x is the sum of b[n] times 1, xi, eta, zeta, xi eta, eta zeta, xi zeta, xi eta zeta. */
void sem_trilinear(const double *corner, double b[8][3]);

/* 1 if the last four are at most `most` of the others: the map is affine. */
int sem_is_affine(const double *corner, double most);

#ifdef __cplusplus
}
#endif
