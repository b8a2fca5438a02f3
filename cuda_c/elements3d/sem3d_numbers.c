/* Geometry, medium and attenuation of elements in the order of kernels on a GPU. */
#include "sem3d_numbers.h"

size_t sem3d_geometry_size(sem3d_shape shape) {
    return shape == SEM3D_STORED ? (size_t)SEM3D_COFACTORS * SEM3D_PADDED : SEM3D_MAP;
}

int sem3d_by_point(const sem3d_cfg *c, sem3d_shape shape) { return c->media != 1 || shape == SEM3D_STORED; }

size_t sem3d_medium_size(const sem3d_cfg *c, sem3d_shape shape, int fluid) {
    return (size_t)(fluid ? 1 : 2) * (sem3d_by_point(c, shape) ? SEM3D_PADDED : 1);
}

size_t sem3d_share_size(const sem3d_cfg *c) { return 2 * (size_t)c->mechanisms * (c->shares == 1 ? 1 : SEM3D_PADDED); }

int sem3d_all_affine(const sem3d *fd, const sem3d_given *given) {
    if (fd->cfg.per != 8 || fd->cfg.piece != 0)
        return fd->cfg.per == 8 && fd->cfg.piece == 2;
    return sem3d_affine(fd->cfg.elements, given->corner);
}

int sem3d_affine(int elements, const double *corner) {
    int bent = 0;
#pragma omp parallel for schedule(static) reduction(| : bent)
    for (int e = 0; e < elements; e++)
        bent |= !sem_is_affine(corner + 24 * (size_t)e, 1e-6);
    return !bent;
}

/* --- elements ------------------------------------------------------------------------------------------------ */

/* At each point, or once: times `by`, over det. */
static void put_medium(const sem3d *fd, const sem3d_given *g, size_t e, int points, const double *by, float *m) {
    const int fluid = e >= (size_t)fd->cfg.solid;
    for (int p = 0; p < points; p++) {
        const double first = fluid ? 1 / sem3d_medium(&fd->cfg, g->rho, e, p) : sem3d_medium(&fd->cfg, g->lambda, e, p);
        m[p] = (float)(by[p] * first);
        if (!fluid)
            m[p + (points > 1 ? SEM3D_PADDED : 1)] = (float)(by[p] * sem3d_medium(&fd->cfg, g->mu, e, p));
    }
}

static void fill_stored(const sem3d *fd, const sem3d_given *g, size_t e, float *geometry, float *medium) {
    sem_place x[SEM_POINTS];
    double by[SEM_POINTS];
    sem_places(fd->shapes, sem3d_corner(fd, g, e), x);
    for (int p = 0; p < SEM_POINTS; p++) {
        by[p] = sem_point_weight(p) / x[p].det;
        for (int n = 0; n < SEM3D_COFACTORS; n++)
            geometry[n * SEM3D_PADDED + p] = (float)x[p].a[n / 3][n % 3];
    }
    put_medium(fd, g, e, SEM_POINTS, by, medium);
}

static void fill_plain(const sem3d *fd, const sem3d_given *g, sem3d_shape shape, size_t e, float *geometry,
                       float *medium) {
    const int by_point = sem3d_by_point(&fd->cfg, shape);
    double b[8][3], by[SEM_POINTS], over = 1;
    sem_trilinear(sem3d_corner(fd, g, e), b);
    for (int n = 0; n < SEM3D_MAP; n++)
        geometry[n] = (float)b[n % 8][n / 8];
    if (shape == SEM3D_AFFINE) {
        sem_place x;
        sem_cofactors((const double(*)[3]) & b[1], &x);
        for (int n = 0; n < SEM3D_COFACTORS; n++)
            geometry[n] = (float)x.a[n / 3][n % 3];
        over = 1 / x.det;
    }
    for (int p = 0; p < SEM_POINTS; p++)
        by[p] = over * (by_point ? sem_point_weight(p) : 1);
    put_medium(fd, g, e, by_point ? SEM_POINTS : 1, by, medium);
}

void sem3d_fill(const sem3d *fd, const sem3d_given *given, sem3d_shape shape, int from, int to, float *geometry,
                float *medium) {
    const size_t numbers = sem3d_geometry_size(shape),
                 media = sem3d_medium_size(&fd->cfg, shape, from >= fd->cfg.solid);
#pragma omp parallel for schedule(static) num_threads(sem3d_threads(fd))
    for (int e = from; e < to; e++) {
        float *x = geometry + (size_t)(e - from) * numbers, *m = medium + (size_t)(e - from) * media;
        if (shape == SEM3D_STORED)
            fill_stored(fd, given, (size_t)e, x, m);
        else
            fill_plain(fd, given, shape, (size_t)e, x, m);
    }
}

/* --- attenuation --------------------------------------------------------------------------------------------- */

void sem3d_fill_shares(const sem3d *fd, const float *decay, const float *bulk, const float *shear, int from, int to,
                       float *share) {
    const int mechanisms = fd->cfg.mechanisms, shares = fd->cfg.shares, step = shares == 1 ? 1 : SEM3D_PADDED;
    const size_t each = sem3d_share_size(&fd->cfg);
#pragma omp parallel for schedule(static) num_threads(sem3d_threads(fd))
    for (int e = from; e < to; e++)
        for (int m = 0; m < mechanisms; m++)
            for (int p = 0; p < shares; p++) {
                const size_t at = ((size_t)e * (size_t)shares + (size_t)p) * (size_t)mechanisms + (size_t)m;
                float *to_share = share + (size_t)(e - from) * each + 2 * m * step + p;
                const float half = 0.5f * (1 - decay[m]);
                to_share[0] = half * bulk[at];
                to_share[step] = half * shear[at];
            }
}
