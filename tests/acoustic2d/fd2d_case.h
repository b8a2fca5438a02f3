/* Small 2D cases for the tests of the time loop: random medium, layers or a free surface, a source of several cells,
 * receivers of several cells that overlap, random fields to start from. Nothing is a multiple of anything. */
#pragma once

#include <math.h>
#include <stdlib.h>

#include "check.h"

typedef struct fd2d_case {
    fd2d_cfg cfg;
    int steps, nt, nsrc, nrec;
    float *kappa, *rho, *px, *pz, *q, *begin; /* begin: (nx nz, 3) fields at the start */
    int si[4], sk[4], *start, *field, *ri, *rk;
    float sw[4], *rw;
} fd2d_case;

static unsigned case_seed;

/* Uniform in 0..1, the same everywhere. */
static inline double case_random(void) {
    case_seed = case_seed * 1664525u + 1013904223u;
    return (case_seed >> 8) / 16777216.0;
}

static inline int case_random_int(int n) { return (int)(case_random() * n) % n; }

/* Weights of order 2L: Taylor. */
static inline void case_taylor(int L, float *w) {
    for (int m = 1; m <= L; m++) {
        double p = 1;
        for (int j = 1; j <= L; j++)
            if (j != m)
                p *= pow(2 * j - 1, 2) / fabs(pow(2 * m - 1, 2) - pow(2 * j - 1, 2));
        w[m - 1] = (float)((m % 2 ? 1 : -1) * p / (2 * m - 1));
    }
}

/* A strong layer: a and b as of a C-PML, stretching by up to 1.5. Half points of the far layer begin one index earlier.
 */
static inline void case_profile(float *p, int n, int low, int high) {
    for (int half = 0; half < 2; half++)
        for (int j = 0; j < n; j++) {
            double x = j + 0.5 * half, depth = 0;
            if (low > 0 && x < low)
                depth = (low - x) / low;
            if (high > 0 && x > n - 1 - high)
                depth = fmin(1, (x - (n - 1 - high)) / high);
            double k = 1 + 0.5 * depth, decay = 0.3 * depth * depth, b = exp(-decay - 0.01);
            p[3 * half * n + j] = depth > 0 ? (float)(decay / (decay + 0.01) * (b - 1)) : 0;
            p[(3 * half + 1) * n + j] = depth > 0 ? (float)b : 0;
            p[(3 * half + 2) * n + j] = depth > 0 ? (float)(1 / k) : 1;
        }
}

typedef struct case_shape {
    int nx, nz, nleft, nright, ntop, nbottom, free_top;
    float dx, dz;
} case_shape;

static const case_shape case_shapes[] = {
    {73, 61, 0, 0, 0, 0, 0, 5, 5},     {97, 83, 20, 20, 20, 20, 0, 5, 4}, {90, 51, 11, 7, 0, 13, 1, 3, 5},
    {33, 40, 17, 16, 20, 20, 0, 5, 5}, {1, 1, 0, 0, 0, 0, 0, 5, 5},       {1, 37, 1, 0, 3, 1, 0, 5, 5},
    {41, 1, 0, 1, 1, 0, 0, 5, 5},      {7, 5, 0, 0, 0, 0, 1, 5, 5},       {160, 19, 0, 30, 0, 0, 1, 5, 5},
};
enum { CASE_SHAPES = sizeof case_shapes / sizeof case_shapes[0] };

static inline void *case_memory(size_t count, size_t size) {
    void *p = calloc(count + 1, size);
    if (p == NULL)
        exit(2);
    return p;
}

static inline void case_receivers(fd2d_case *c) {
    const int cells = 9;
    c->nrec = 17;
    c->start = case_memory((size_t)c->nrec + 1, sizeof(int));
    c->field = case_memory((size_t)c->nrec, sizeof(int));
    c->ri = case_memory((size_t)(c->nrec * cells), sizeof(int));
    c->rk = case_memory((size_t)(c->nrec * cells), sizeof(int));
    c->rw = case_memory((size_t)(c->nrec * cells), sizeof(float));
    int m = 0;
    for (int r = 0; r < c->nrec; r++) {
        c->field[r] = r % 3;
        c->start[r] = m;
        for (int n = r % (cells + 1); n > 0; n--, m++) {
            c->ri[m] = case_random_int(c->cfg.nx);
            c->rk[m] = r % 2 ? c->cfg.nz / 2 : case_random_int(c->cfg.nz);
            c->rw[m] = (float)(case_random() + 0.5);
        }
    }
    c->start[c->nrec] = m;
}

/* Grid `s` with a stable time step; `steps` steps. */
static inline fd2d_case case_of(const case_shape *s, int L, int steps) {
    fd2d_case c = {.cfg = {.nx = s->nx,
                           .nz = s->nz,
                           .half_length = L,
                           .nleft = s->nleft,
                           .nright = s->nright,
                           .ntop = s->ntop,
                           .nbottom = s->nbottom,
                           .free_top = s->free_top,
                           .threads = 2,
                           .dx = s->dx,
                           .dz = s->dz},
                   .steps = steps,
                   .nt = steps - 5,
                   .nsrc = 4};
    case_seed = 12345u + (unsigned)(L * 1000 + s->nx * 7 + s->nz);
    case_taylor(L, c.cfg.w);
    c.cfg.dt = 0.3f * fminf(s->dx, s->dz) / 3000;
    size_t n = (size_t)s->nx * (size_t)s->nz;
    c.kappa = case_memory(n, sizeof(float));
    c.rho = case_memory(n, sizeof(float));
    c.begin = case_memory(3 * n, sizeof(float));
    for (size_t m = 0; m < n; m++) {
        double rho = 1000 + 1500 * case_random(), v = 1500 + 1500 * case_random();
        c.rho[m] = (float)rho;
        c.kappa[m] = (float)(rho * v * v);
        int surface = s->free_top && m < (size_t)s->nx;
        for (int f = 0; f < 3; f++)
            c.begin[f * n + m] = f == 0 && surface ? 0 : (float)((case_random() - 0.5) * (f ? 1e-6 : 4));
    }
    c.px = case_memory(6 * (size_t)s->nx, sizeof(float));
    c.pz = case_memory(6 * (size_t)s->nz, sizeof(float));
    case_profile(c.px, s->nx, s->nleft, s->nright);
    case_profile(c.pz, s->nz, s->ntop, s->nbottom);
    c.q = case_memory((size_t)c.nt, sizeof(float));
    for (int t = 0; t < c.nt; t++)
        c.q[t] = (float)sin(0.3 * t);
    for (int m = 0; m < c.nsrc; m++) {
        c.si[m] = case_random_int(s->nx);
        c.sk[m] = m == 0 ? 0 : case_random_int(s->nz);
        c.sw[m] = (float)(1 + case_random());
    }
    c.si[3] = c.si[2], c.sk[3] = c.sk[2]; /* a cell twice */
    case_receivers(&c);
    return c;
}

static inline fd2d_case case_make(int L, int shape, int steps) { return case_of(&case_shapes[shape], L, steps); }

static inline void case_free(fd2d_case *c) {
    void *all[] = {c->kappa, c->rho, c->px, c->pz, c->q, c->begin, c->start, c->field, c->ri, c->rk, c->rw};
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        free(all[n]);
}

/* The fields at the start, in double. */
static inline void case_start(const fd2d_case *c, double *s, double *vx, double *vz) {
    size_t n = (size_t)c->cfg.nx * (size_t)c->cfg.nz;
    double *to[3] = {s, vx, vz};
    for (int f = 0; f < 3; f++)
        for (size_t m = 0; m < n; m++)
            to[f][m] = c->begin[f * n + m];
}

/* A handle with everything set. */
static inline void *case_new(const fd2d_case *c) {
    size_t n = (size_t)c->cfg.nx * (size_t)c->cfg.nz;
    void *h = fd2d_new("cpu", &c->cfg);
    claim_fine(h == NULL, "new");
    claim_fine(fd2d_model(h, c->kappa, c->rho), "model");
    claim_fine(fd2d_pml(h, c->px, c->pz), "pml");
    claim_fine(fd2d_source(h, c->nt, c->q, c->nsrc, c->si, c->sk, c->sw), "source");
    claim_fine(fd2d_receivers(h, c->nrec, c->start, c->field, c->ri, c->rk, c->rw), "receivers");
    for (int f = 0; f < 3; f++)
        claim_fine(fd2d_set_field(h, f, c->begin + f * n), "set_field");
    return h;
}

/* True if this build and processor have an instruction set. */
static inline int case_has_isa(const char *isa) {
    fd2d_cfg cfg = {.nx = 1, .nz = 1, .half_length = 1, .dx = 1, .dz = 1, .dt = 1, .w = {1}};
    void *h = fd2d_new("cpu", &cfg);
    int rc = fd2d_tune(h, isa, 0, 0, 0);
    handle_free(h);
    return rc == 0;
}
