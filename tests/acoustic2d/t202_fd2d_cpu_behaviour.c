/* Claims: the grid at rest stays at rest, energy in a closed box is kept, reset and set_field do what they say, quiet
 * grids are no slower than busy ones, and wrong arguments give a sentence. */
#include <limits.h>
#include <omp.h>

#include "fd2d_case.h"

/* The address sanitizer then returns null where memory is refused, as the system does, instead of stopping. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

/* --- rest and energy ----------------------------------------------------------------------------------------- */

static void rest(void) {
    fd2d_case c = case_make(4, 1, 30);
    void *h = case_new(&c);
    float value = 1, sum = 0, *a = case_memory((size_t)(c.cfg.nx * c.cfg.nz), sizeof(float));
    int at[3];
    claim_fine(fd2d_source(h, 0, NULL, 0, NULL, NULL, NULL), "no source");
    claim_fine(handle_reset(h), "reset");
    claim_fine(handle_timestep(h, 1, 30), "timestep");
    for (int f = 0; f < 3; f++) {
        claim_fine(fd2d_field(h, f, a), "field");
        for (int m = 0; m < c.cfg.nx * c.cfg.nz; m++)
            sum += fabsf(a[m]);
    }
    claim_fine(handle_maxabs(h, &value, at), "maxabs");
    claim(value == 0 && sum == 0,
          "without a source the grid stays at rest: sum of all fields %g, largest sigma %g, both 0", (double)sum,
          (double)value);
    handle_free(h), free(a), case_free(&c);
}

/* Energy kept exactly by leap-frog: sum of rho v(n+1/2)^2 / 2 + sigma(n) sigma(n+1) / (2 kappa). */
static double energy(void *h, const fd2d_case *c, int it) {
    const int nx = c->cfg.nx, nz = c->cfg.nz;
    size_t n = (size_t)nx * (size_t)nz;
    float *s0 = case_memory(n, 4), *s1 = case_memory(n, 4), *vx = case_memory(n, 4), *vz = case_memory(n, 4);
    claim_fine(fd2d_field(h, 0, s0) || handle_timestep(h, it, 1) || fd2d_field(h, 0, s1), "step");
    claim_fine(fd2d_field(h, 1, vx) || fd2d_field(h, 2, vz), "fields");
    double sum = 0;
    for (int k = 0; k < nz; k++)
        for (int i = 0; i < nx; i++) {
            int m = k * nx + i, right = i + 1 < nx ? m + 1 : m, below = k + 1 < nz ? m + nx : m;
            double rx = 0.5 * ((double)c->rho[m] + c->rho[right]), rz = 0.5 * ((double)c->rho[m] + c->rho[below]);
            sum += 0.5 * (rx * vx[m] * vx[m] + rz * vz[m] * vz[m] + (double)s0[m] * s1[m] / c->kappa[m]);
        }
    free(s0), free(s1), free(vx), free(vz);
    return sum;
}

static void closed_box(void) {
    for (int L = 1; L <= 8; L += 7) {
        fd2d_case c = case_make(L, 0, 30);
        void *h = case_new(&c);
        claim_fine(fd2d_source(h, 0, NULL, 0, NULL, NULL, NULL), "no source");
        double first = energy(h, &c, 1);
        claim_fine(handle_timestep(h, 2, 3000), "timestep");
        double drift = energy(h, &c, 3002) / first - 1;
        claim(fabs(drift) <= 2e-5, "closed box, half-length %d: energy changes by %.1e in 3000 steps, bound 2e-5", L,
              drift);
        handle_free(h), case_free(&c);
    }
}

/* --- reset, maxabs, quiet grids ------------------------------------------------------------------------------ */

static void again(void) {
    fd2d_case c = case_make(3, 2, 30);
    void *h = case_new(&c);
    size_t n = (size_t)(c.nrec * c.steps);
    float *first = case_memory(n, sizeof(float)), *second = case_memory(n, sizeof(float));
    for (int run = 0; run < 2; run++) {
        claim_fine(handle_reset(h), "reset");
        claim_fine(handle_timestep(h, 1, c.steps), "timestep");
        claim_fine(handle_traces(h, 1, c.steps, run ? second : first), "traces");
    }
    claim(memcmp(first, second, n * sizeof(float)) == 0, "after reset the same shot gives the same %zu samples", n);
    float largest = 0, value, *s = case_memory((size_t)(c.cfg.nx * c.cfg.nz), sizeof(float));
    int at[3];
    claim_fine(fd2d_field(h, 0, s), "field");
    int where = 0;
    for (int m = 0; m < c.cfg.nx * c.cfg.nz; m++)
        if (fabsf(s[m]) > largest)
            largest = fabsf(s[m]), where = m;
    claim_fine(handle_maxabs(h, &value, at), "maxabs");
    claim(value == largest && at[2] * c.cfg.nx + at[0] == where,
          "largest sigma %g at (%d, %d), searched by hand %g at (%d, %d)", (double)value, at[0], at[2], (double)largest,
          where % c.cfg.nx, where / c.cfg.nx);
    s[5 * c.cfg.nx + 7] = NAN;
    claim_fine(fd2d_set_field(h, 0, s), "set_field");
    claim_fine(handle_maxabs(h, &value, at), "maxabs");
    claim(isinf(value) && at[0] == 7 && at[1] == 0 && at[2] == 5,
          "not a number in cell (7, 5) is reported as %g at (%d, %d)", (double)value, at[0], at[2]);
    handle_free(h), free(first), free(second), free(s), case_free(&c);
}

static double seconds(fd2d_case *c, float scale) {
    size_t n = (size_t)(c->cfg.nx * c->cfg.nz);
    for (size_t m = 0; m < 3 * n; m++)
        c->begin[m] = scale * (1 + (float)(m % 7));
    void *h = case_new(c);
    double best = 1e9;
    for (int r = 0; r < 5; r++) {
        double start = omp_get_wtime();
        claim_fine(handle_timestep(h, 1 + r * c->steps, c->steps), "timestep");
        best = fmin(best, omp_get_wtime() - start);
    }
    handle_free(h);
    return best;
}

static void quiet(void) {
    const case_shape shape = {301, 301, 20, 20, 20, 20, 0, 5, 5};
    fd2d_case c = case_of(&shape, 8, 12);
    c.cfg.threads = 1, c.nsrc = 0;
    double busy = seconds(&c, 1e-3f), tiny = seconds(&c, 1e-40f);
    claim(tiny < 4 * busy, "fields of denormal numbers take %.1f times as long as others, bound 4", tiny / busy);
    case_free(&c);
}

/* --- wrong arguments ----------------------------------------------------------------------------------------- */

static void bad_cfg(fd2d_cfg cfg, const char *words) {
    void *h = fd2d_new("cpu", &cfg);
    claim_fails(h == NULL, words, "new");
    handle_free(h);
}

static void bad_cfgs(void) {
    const fd2d_cfg good = {
        .nx = 30, .nz = 20, .half_length = 2, .nleft = 10, .dx = 5, .dz = 5, .dt = 0.001f, .w = {1, 0.1f}};
#define BAD(words, ...)                                                                                                \
    do {                                                                                                               \
        fd2d_cfg cfg = good;                                                                                           \
        __VA_ARGS__;                                                                                                   \
        bad_cfg(cfg, words);                                                                                           \
    } while (0)
    BAD("nx = 0", cfg.nx = 0);
    BAD("nz = -3", cfg.nz = -3);
    BAD("nx = 2147483647", cfg.nx = INT_MAX);
    BAD("half_length = 9", cfg.half_length = 9);
    BAD("half_length = 0", cfg.half_length = 0);
    BAD("must not be negative", cfg.nright = -1);
    BAD("do not fit into nx = 30", cfg.nright = 21);
    BAD("do not fit into nz = 20", cfg.ntop = 10, cfg.nbottom = 11);
    BAD("free_top = 2", cfg.free_top = 2);
    BAD("ntop = 4", cfg.free_top = 1, cfg.ntop = 4);
    BAD("threads = -1", cfg.threads = -1);
    BAD("dx = 0", cfg.dx = 0);
    BAD("dz = -5", cfg.dz = -5);
    BAD("dt = nan", cfg.dt = NAN);
    BAD("weight 2", cfg.w[1] = INFINITY);
    fd2d_cfg cfg = good;
    void *h = fd2d_new("gpu9", &cfg);
    claim_fails(h == NULL, "\"gpu9\"", "unknown variant");
    handle_free(h);
    /* 240 PB: more than any machine addresses */
    cfg.nx = 100000000, cfg.nz = 100000000;
    bad_cfg(cfg, "grid of 100000000 x 100000000 cells");
}

static void bad_calls(void) {
    fd2d_case c = case_make(2, 1, 30);
    void *h = fd2d_new("cpu", &c.cfg);
    size_t n = (size_t)(c.cfg.nx * c.cfg.nz);
    float saved, one = 1, out[64];
    int zero = 0, start[2] = {0, 1}, nx = c.cfg.nx, minus = -1, nine = 9;
    claim_fails(handle_timestep(NULL, 1, 1), "null handle", "no handle");
    claim_fails(handle_timestep(h, 1, 1), "before the medium", "no medium");
    saved = c.rho[n - 1], c.rho[n - 1] = 0;
    claim_fails(fd2d_model(h, c.kappa, c.rho), "density = 0 kg/m3 at cell (97, 83)", "zero density");
    c.rho[n - 1] = saved, saved = c.kappa[3], c.kappa[3] = NAN;
    claim_fails(fd2d_model(h, c.kappa, c.rho), "bulk modulus = nan Pa at cell (4, 1)", "kappa not a number");
    c.kappa[3] = saved;
    claim_fine(fd2d_model(h, c.kappa, c.rho), "model");
    claim_fails(handle_timestep(h, 1, 1), "before the profiles", "no profiles");
    saved = c.px[50], c.px[50] = 0.1f;
    claim_fails(fd2d_pml(h, c.px, c.pz), "outside the layers", "damping inside the model");
    c.px[50] = saved;
    claim_fine(fd2d_pml(h, c.px, c.pz), "pml");
    claim_fails(fd2d_source(h, 1, &one, 1, &nx, &zero, &one), "must lie in 1..97, 1..83", "source outside");
    claim_fails(fd2d_source(h, -1, &one, 1, &zero, &zero, &one), "-1 samples", "negative samples");
    claim_fails(fd2d_source(h, 1, &(float){NAN}, 1, &zero, &zero, &one), "sample 1", "wavelet not a number");
    claim_fails(fd2d_receivers(h, 1, start, &zero, &zero, &minus, &one), "(1, 0)", "receiver outside");
    claim_fails(fd2d_receivers(h, 1, start, &nine, &zero, &zero, &one), "field 9", "field unknown");
    claim_fails(fd2d_receivers(h, 1, start, &zero, &zero, &zero, &(float){INFINITY}), "weight 1", "weight infinite");
    claim_fails(fd2d_receivers(h, -1, start, &zero, &zero, &zero, &one), "-1 receivers", "negative count");
    start[1] = -1;
    claim_fails(fd2d_receivers(h, 1, start, &zero, &zero, &zero, &one), "-1 cells", "negative cells");
    start[1] = 1;
    claim_fine(fd2d_receivers(h, 1, start, &zero, &zero, &zero, &one), "receivers");
    claim_fails(handle_traces(h, 1, 1, out), "none was computed", "traces before steps");
    claim_fails(handle_timestep(h, 0, 5), "count from 1", "step 0");
    claim_fails(handle_timestep(h, 1, -1), "-1 steps", "negative steps");
    claim_fine(handle_timestep(h, 1, 5), "timestep");
    claim_fails(handle_timestep(h, 5, 5), "next step is 6", "step done twice");
    claim_fails(handle_traces(h, 1, 6, out), "steps 1..5 were computed", "traces of the future");
    claim_fails(fd2d_field(h, 3, out), "field 3", "field unknown");
    claim_fails(fd2d_tune(h, "mmx", 0, 0, 0), "\"mmx\"", "instruction set unknown");
    claim_fails(fd2d_tune(h, "", -1, 0, 0), "-1 cells", "tile width negative");
    claim_fails(variants_name(fd2d_solver(), 99, 64, (char[64]){0}), "number 99", "variant number");
    handle_free(h), handle_free(NULL);
    case_free(&c);
}

static void bytes(void) {
    fd2d_case c = case_make(8, 1, 30);
    void *h = case_new(&c);
    double least = 24.0 * c.cfg.nx * c.cfg.nz, held = (double)handle_bytes(h);
    char device[64], name[8];
    claim(held > least && held < least + 8e6,
          "a grid of 97 x 83 cells holds %.2f MB, at least its arrays' %.2f MB, at most 8 MB more", held * 1e-6,
          least * 1e-6);
    claim_fine(handle_device(h, 64, device), "device");
    claim_fine(variants_name(fd2d_solver(), 0, 8, name), "variants_name");
    claim(strstr(device, "2 threads") != NULL && strcmp(name, "cpu") == 0, "variant 0 is \"%s\", running on %s", name,
          device);
    handle_free(h), case_free(&c);
}

int main(void) {
    rest();
    closed_box();
    again();
    quiet();
    bytes();
    bad_cfgs();
    bad_calls();
    return check_failed;
}
