/* Claim: the cpu variant computes the scheme. Reference: plain loops in double, written from the equations, one grid
 * after the other; it knows nothing of padding, strips, tiles and vectors. */
#include "fd2d_case.h"

/* --- the reference ------------------------------------------------------------------------------------------- */

typedef struct reference {
    const fd2d_case *c;
    double *s, *vx, *vz, *pxv, *pzv, *pxs, *pzs;
} reference;

static double at(const reference *r, const double *f, int i, int k) {
    const fd2d_cfg *g = &r->c->cfg;
    double sign = 1;
    if (k < 0 && g->free_top) { /* images: sigma antisymmetric about row 0, vz symmetric (vz(k) lies at k + 1/2) */
        if (f == r->s)
            sign = -1, k = -k;
        if (f == r->vz)
            k = -k - 1;
    }
    if (i < 0 || i >= g->nx || k < 0 || k >= g->nz)
        return 0;
    return sign * f[k * g->nx + i];
}

static double layer(double d, double *psi, const float *p, int n, int j, int half) {
    const float *a = p + 3 * half * n, *b = a + n, *ik = b + n;
    *psi = b[j] * *psi + a[j] * d;
    return d * ik[j] + *psi;
}

static void reference_step(reference *r, int it) {
    const fd2d_case *c = r->c;
    const fd2d_cfg *g = &c->cfg;
    for (int k = 0; k < g->nz; k++)
        for (int i = 0; i < g->nx; i++) {
            int n = k * g->nx + i, right = i + 1 < g->nx ? n + 1 : n, below = k + 1 < g->nz ? n + g->nx : n;
            double dx = 0, dz = 0;
            for (int m = 1; m <= g->half_length; m++) {
                dx += g->w[m - 1] * (at(r, r->s, i + m, k) - at(r, r->s, i - m + 1, k)) / g->dx;
                dz += g->w[m - 1] * (at(r, r->s, i, k + m) - at(r, r->s, i, k - m + 1)) / g->dz;
            }
            dx = layer(dx, r->pxv + n, c->px, g->nx, i, 1);
            dz = layer(dz, r->pzv + n, c->pz, g->nz, k, 1);
            r->vx[n] += g->dt * 2 / (c->rho[n] + c->rho[right]) * dx;
            r->vz[n] += g->dt * 2 / (c->rho[n] + c->rho[below]) * dz;
        }
    for (int k = g->free_top; k < g->nz; k++)
        for (int i = 0; i < g->nx; i++) {
            int n = k * g->nx + i;
            double dx = 0, dz = 0;
            for (int m = 1; m <= g->half_length; m++) {
                dx += g->w[m - 1] * (at(r, r->vx, i + m - 1, k) - at(r, r->vx, i - m, k)) / g->dx;
                dz += g->w[m - 1] * (at(r, r->vz, i, k + m - 1) - at(r, r->vz, i, k - m)) / g->dz;
            }
            dx = layer(dx, r->pxs + n, c->px, g->nx, i, 0);
            dz = layer(dz, r->pzs + n, c->pz, g->nz, k, 0);
            r->s[n] += g->dt * c->kappa[n] * (dx + dz);
        }
    for (int m = 0; m < c->nsrc; m++)
        if (!(g->free_top && c->sk[m] == 0) && it <= c->nt)
            r->s[c->sk[m] * g->nx + c->si[m]] += (double)c->sw[m] * c->q[it - 1];
}

/* All traces into out(nt, nrec). */
static void reference_run(reference *r, double *out) {
    const fd2d_case *c = r->c;
    for (int it = 1; it <= c->steps; it++) {
        reference_step(r, it);
        double *field[3] = {r->s, r->vx, r->vz};
        for (int n = 0; n < c->nrec; n++) {
            double sum = 0;
            for (int m = c->start[n]; m < c->start[n + 1]; m++)
                sum += c->rw[m] * field[c->field[n]][c->rk[m] * c->cfg.nx + c->ri[m]];
            out[n * c->steps + it - 1] = sum;
        }
    }
}

/* --- comparing ----------------------------------------------------------------------------------------------- */

static double relative_rms(const double *a, const float *b, int n) {
    double difference = 0, size = 0;
    for (int m = 0; m < n; m++) {
        difference += (a[m] - b[m]) * (a[m] - b[m]);
        size += a[m] * a[m];
    }
    return size > 0 ? sqrt(difference / size) : sqrt(difference);
}

/* Worst relative RMS over the three fields and all traces. */
static double compare(fd2d_case *c, const char *isa) {
    int n = c->cfg.nx * c->cfg.nz;
    double *memory = calloc(7 * (size_t)n, sizeof(double)),
           *expected = calloc((size_t)c->nrec * c->steps, sizeof(double));
    float *traces = calloc((size_t)c->nrec * c->steps, sizeof(float)), *field = calloc((size_t)n, sizeof(float));
    reference r = {
        c, memory, memory + n, memory + 2 * n, memory + 3 * n, memory + 4 * n, memory + 5 * n, memory + 6 * n};
    case_start(c, r.s, r.vx, r.vz);
    reference_run(&r, expected);
    void *h = case_new(c);
    claim_fine(fd2d_tune(h, isa, 0, 0, 0), "tune");
    claim_fine(handle_timestep(h, 1, c->steps), "timestep");
    claim_fine(handle_traces(h, 1, c->steps, traces), "traces");
    double worst = 0, *fields[3] = {r.s, r.vx, r.vz};
    for (int f = 0; f < 3; f++) {
        claim_fine(fd2d_field(h, f, field), "field");
        worst = fmax(worst, relative_rms(fields[f], field, n));
    }
    for (int m = 0; m < c->nrec; m++)
        worst = fmax(worst, relative_rms(expected + m * c->steps, traces + m * c->steps, c->steps));
    handle_free(h);
    free(memory), free(expected), free(traces), free(field);
    return worst;
}

static const char *const isas[] = {"generic", "avx2", "avx512"};

int main(void) {
    for (int L = 1; L <= 8; L++) {
        double worst = 0;
        int cases = 0;
        for (int shape = 0; shape < CASE_SHAPES; shape++)
            for (int n = 0; n < 3; n++) {
                fd2d_case c = case_make(L, shape, 60);
                if (case_has_isa(isas[n]))
                    worst = fmax(worst, compare(&c, isas[n])), cases++;
                case_free(&c);
            }
        claim(worst <= 1e-5,
              "half-length %d: fields and traces within %.1e of double-precision loops in %d runs, bound 1e-5", L,
              worst, cases);
    }
    return check_failed;
}
