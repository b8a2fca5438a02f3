/* Claims: `tuned` gives the same bits whatever steps it takes in a pass through memory, in blocks that march or in a
 * launch of tiles that stay: random grids, layers, free surface, densities apart, sources, receivers, chunks; states
 * that are saved and loaded elsewhere, a second shot in the same handle. */
#include <stdlib.h>

#include "fd2d_case.h"

enum { MOST_RECEIVERS = 30, RECEIVER_CELLS = 12, SOURCE_CELLS = 20, MOST_STEPS = 4, HALF_LENGTHS = 4, ALL_LENGTHS = 8 };

typedef struct shot {
    int nt, nsrc, nrec, si[SOURCE_CELLS], sk[SOURCE_CELLS];
    int start[MOST_RECEIVERS + 1], field[MOST_RECEIVERS];
    int ri[MOST_RECEIVERS * RECEIVER_CELLS], rk[MOST_RECEIVERS * RECEIVER_CELLS];
    float q[100], sw[SOURCE_CELLS], rw[MOST_RECEIVERS * RECEIVER_CELLS];
} shot;

typedef struct earth {
    fd2d_cfg cfg;
    float *kappa, *rho, *px, *pz, *begin;
} earth;

typedef struct result {
    float *traces, *sigma;
    char device[256];
} result;

static int between(int low, int high) { return low + case_random_int(high - low + 1); }

static int width_in(int cells) {
    const int most = case_random() < 0.2 ? 80 : 25, width = case_random() < 0.3 ? 0 : between(0, most);
    return width < cells / 2 ? width : cells / 2;
}

static earth new_earth(int L, int large) {
    earth e = {.cfg = {.half_length = L, .dx = 5, .dz = 4.3f, .dt = 0.0003f}};
    fd2d_cfg *c = &e.cfg;
    c->nx = large ? between(400, 1500) : between(1, 250);
    c->nz = large ? between(150, 500) : between(1, 150);
    c->free_top = case_random() < 0.4;
    c->nleft = width_in(c->nx), c->nright = width_in(c->nx);
    c->ntop = c->free_top ? 0 : width_in(c->nz), c->nbottom = c->nz > 40 ? width_in(c->nz) : 0;
    case_taylor(L, c->w);
    const size_t n = (size_t)c->nx * (size_t)c->nz;
    e.kappa = case_memory(n, sizeof(float)), e.rho = case_memory(n + 1, sizeof(float));
    e.begin = case_memory(n, sizeof(float));
    e.px = case_memory(6 * (size_t)c->nx, sizeof(float)), e.pz = case_memory(6 * (size_t)c->nz, sizeof(float));
    e.rho[n] = 1000;
    for (size_t m = 0; m < n; m++) {
        e.rho[m] = (float)(1000 + 1500 * case_random());
        e.kappa[m] = (float)(e.rho[m] * 4e6 * (1 + 0.5 * case_random()));
        e.begin[m] = (float)(case_random() - 0.5);
    }
    case_profile(e.px, c->nx, c->nleft, c->nright), case_profile(e.pz, c->nz, c->ntop, c->nbottom);
    return e;
}

static void free_earth(earth *e) { free(e->kappa), free(e->rho), free(e->begin), free(e->px), free(e->pz); }

static int near(int at, int most) {
    const int i = at + case_random_int(8);
    return i < most ? i : most - 1;
}

static shot new_shot(const fd2d_cfg *c) {
    shot s = {.nt = between(1, 100), .nsrc = between(0, SOURCE_CELLS), .nrec = between(0, MOST_RECEIVERS)};
    const int i = case_random_int(c->nx), k = case_random_int(c->nz);
    for (int n = 0; n < s.nt; n++)
        s.q[n] = (float)(case_random() - 0.5);
    for (int m = 0; m < s.nsrc; m++)
        s.si[m] = near(i, c->nx), s.sk[m] = near(k, c->nz), s.sw[m] = (float)(case_random() - 0.5);
    int cell = 0;
    for (int r = 0; r < s.nrec; r++) {
        const int ri = case_random_int(c->nx), rk = case_random_int(c->nz);
        for (int n = between(0, RECEIVER_CELLS); n > 0; n--, cell++)
            s.ri[cell] = near(ri, c->nx), s.rk[cell] = near(rk, c->nz), s.rw[cell] = (float)(case_random() + 0.1);
        s.start[r + 1] = cell;
    }
    return s;
}

static int put_earth(void *h, const earth *e) {
    const float *rho = e->rho, *rho_z = e->rho + 1;
    return (e->cfg.apart ? fd2d_model_apart(h, e->kappa, rho, rho_z) : fd2d_model(h, e->kappa, rho)) ||
           fd2d_pml(h, e->px, e->pz);
}

static void *new_handle(const earth *e, int steps_a_pass, int share) {
    fd2d_cfg c = e->cfg;
    c.steps_a_pass = steps_a_pass, c.share = share;
    void *h = fd2d_new("tuned", &c);
    claim_fine(h == NULL || put_earth(h, e), "a handle");
    return h;
}

/* NULL where such blocks are not for this grid or GPU. */
static void *new_shaped(const earth *e, const char *shape) {
    fd2d_cfg c = e->cfg;
    snprintf(c.shape, sizeof c.shape, "%s", shape);
    void *h = fd2d_new("tuned", &c);
    if (h == NULL && strstr((char *)err_message(), shape) != NULL)
        return NULL; /* too large, or a layer too near to the free surface */
    claim_fine(h == NULL || put_earth(h, e), "a handle with a shape");
    return h;
}

static void put_points(void *h, const shot *s) {
    claim_fine(fd2d_source(h, s->nt, s->q, s->nsrc, s->si, s->sk, s->sw) ||
                   fd2d_receivers(h, s->nrec, s->start, s->field, s->ri, s->rk, s->rw),
               "source and receivers");
}

/* Steps it .. end-1, in one chunk or in random ones. */
static void go_on(void *h, int it, int end, int cut) {
    while (it < end) {
        const int left = end - it, most = cut ? between(1, 40) : left, n = most < left ? most : left;
        claim_fine(handle_timestep(h, it, n), "steps");
        it += n;
    }
}

static result bring(void *h, const fd2d_cfg *c, const shot *s) {
    result r = {case_memory((size_t)(s->nt * s->nrec), sizeof(float)),
                case_memory((size_t)c->nx * (size_t)c->nz, sizeof(float)), ""};
    claim_fine(handle_pending(h, 0) || handle_traces(h, 1, s->nt, r.traces) || fd2d_field(h, 0, r.sigma) ||
                   handle_device(h, sizeof r.device, r.device),
               "results");
    return r;
}

static void free_result(result *r) { free(r->traces), free(r->sigma); }

static long count_different(const result *a, const result *b, const fd2d_cfg *c, const shot *s) {
    long n = 0;
    for (long m = 0; m < (long)c->nx * c->nz; m++)
        n += !(a->sigma[m] == b->sigma[m]);
    for (int m = 0; m < s->nt * s->nrec; m++)
        n += !(a->traces[m] == b->traces[m]);
    return n;
}

static result whole(void *h, const earth *e, const shot *s, int cut) {
    put_points(h, s);
    claim_fine(handle_reset(h) || fd2d_set_field(h, 0, e->begin), "a field to begin with");
    go_on(h, 1, s->nt + 1, cut);
    return bring(h, &e->cfg, s);
}

/* Saved after a random step and loaded into a handle that has done something else. */
static result resumed(void *h, void *other, const earth *e, const shot *s) {
    const int step = between(1, s->nt);
    put_points(h, s);
    claim_fine(handle_reset(h) || fd2d_set_field(h, 0, e->begin), "a field to begin with");
    go_on(h, 1, step + 1, 1);
    const long long n = handle_state_size(h, step);
    float *state = case_memory((size_t)n, sizeof(float));
    claim_fine(handle_save(h, n, state), "save");
    put_points(other, s);
    claim_fine(handle_load(other, 1, step, n, state), "load");
    free(state);
    go_on(other, step + 1, s->nt + 1, 1);
    return bring(other, &e->cfg, s);
}

static long compare(const char *what, int steps, const result *a, result *b, const earth *e, const shot *s) {
    const fd2d_cfg *c = &e->cfg;
    const long n = count_different(a, b, c, s);
    if (n > 0)
        printf(
            "       %s, %d steps a pass, half-length %d, %d x %d, layers %d %d %d %d, surface %d, densities apart %d, "
            "%d steps, %d receivers, %s: %ld numbers differ\n",
            what, steps, c->half_length, c->nx, c->nz, c->nleft, c->nright, c->ntop, c->nbottom, c->free_top, c->apart,
            s->nt, s->nrec, b->device, n);
    free_result(b);
    return n;
}

/* Both sides in one block, now and then, where that can be: 1 if it is so. */
static int pair_sides(void *h) { return case_random() < 0.7 && fd2d_tune(h, "", 0, 2, 0) == 0; }

/* One grid, two shots: numbers that differ from those of one step a pass; densities of vx and vz are apart by a cell,
 * or are one. */
static long one_grid(int L, int large, int timed, int apart, int *passes, int *pairs) {
    earth e = new_earth(L, large);
    e.cfg.apart = apart;
    const shot first = new_shot(&e.cfg), second = new_shot(&e.cfg);
    void *plain = new_handle(&e, 1, 2);
    result a = whole(plain, &e, &first, 0), b = whole(plain, &e, &second, 1);
    long differ = 0;
    for (int steps = timed ? 0 : 2; steps <= MOST_STEPS && plain != NULL; steps += steps == 0 ? 2 : 1) {
        if (e.cfg.free_top && e.cfg.nz < e.cfg.nbottom + 1 + L)
            break; /* no passes: the surface and a layer are too near */
        void *h = new_handle(&e, steps, timed ? 0 : 2), *other = new_handle(&e, steps, 2);
        if (h == NULL || other == NULL)
            break;
        if (!timed)
            *pairs += pair_sides(h), pair_sides(other);
        result r = whole(h, &e, &first, 0);
        *passes += strstr(r.device, "steps a pass") != NULL;
        differ += compare("at once", steps, &a, &r, &e, &first);
        r = whole(h, &e, &second, 1), differ += compare("a second shot, in chunks", steps, &b, &r, &e, &second);
        r = whole(h, &e, &first, 1), differ += compare("in chunks", steps, &a, &r, &e, &first);
        r = resumed(h, other, &e, &first), differ += compare("resumed", steps, &a, &r, &e, &first);
        handle_free(h), handle_free(other);
    }
    handle_free(plain), free_result(&a), free_result(&b), free_earth(&e);
    return differ;
}

/* One grid in tiles that stay or strips that march, beside single steps as the handle chooses; densities now and then
 * apart. */
static long one_grid_shaped(int L, int large, const char *shape, int *shaped) {
    earth e = new_earth(L, large);
    const shot first = new_shot(&e.cfg), second = new_shot(&e.cfg);
    e.cfg.apart = case_random() < 0.5;
    void *plain = new_handle(&e, 1, 2), *h = new_shaped(&e, shape), *other = h == NULL ? NULL : new_shaped(&e, shape);
    long differ = 0;
    if (plain != NULL && h != NULL && other != NULL) {
        result a = whole(plain, &e, &first, 0), b = whole(plain, &e, &second, 1);
        result r = whole(h, &e, &first, 0);
        *shaped += strstr(r.device, shape) != NULL;
        differ += compare(shape, 1, &a, &r, &e, &first);
        r = whole(h, &e, &second, 1), differ += compare("a second shot, in chunks", 1, &b, &r, &e, &second);
        r = whole(h, &e, &first, 1), differ += compare("in chunks", 1, &a, &r, &e, &first);
        r = resumed(h, other, &e, &first), differ += compare("resumed", 1, &a, &r, &e, &first);
        free_result(&a), free_result(&b);
    }
    handle_free(plain), handle_free(h), handle_free(other), free_earth(&e);
    return differ;
}

static void refused(void) {
    fd2d_cfg c = {.nx = 50, .nz = 50, .half_length = 5, .dx = 5, .dz = 5, .dt = 0.0003f, .steps_a_pass = 2, .share = 2};
    case_taylor(5, c.w);
    claim_fails(fd2d_new("tuned", &c) == NULL, "half-lengths beyond 4", "two steps a pass at half-length 5");
    c.half_length = 2, c.velocities = 1;
    case_taylor(2, c.w);
    claim_fails(fd2d_new("tuned", &c) == NULL, "velocities", "two steps a pass with velocities");
    c.velocities = 0, c.steps_a_pass = 5;
    claim_fails(fd2d_new("tuned", &c) == NULL, "steps_a_pass = 5", "five steps a pass");
}

static void each_shape(int L, int grids, unsigned seed) {
    static const char *const shapes[] = {"stay-32", "stay-16", "strips-256", "strips-512"};
    for (int kind = 0; kind < 2; kind++) {
        long differ = 0;
        int shaped = 0;
        for (int n = 0; n < 2 * grids; n++)
            differ += one_grid_shaped(L, n % 3 == 2, shapes[2 * kind + n % 2], &shaped);
        claim(differ == 0 && shaped > 0,
              "half-length %d, %d random grids (seed %u), %d of them in %s: %ld numbers differ from single steps, must "
              "be 0",
              L, 2 * grids, seed, shaped, kind == 0 ? "tiles that stay" : "strips that march", differ);
    }
}

/* t246_fd2d_steps_a_pass [seed [grids of each half-length [timed]]] */
int main(int argc, char **argv) {
    const unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 246;
    const int grids = argc > 2 ? atoi(argv[2]) : 6, timed = argc > 3 ? atoi(argv[3]) : 1;
    char why[256] = "";
    const char *need = getenv("NEED_GPU");
    if (device_count() == 0) {
        device_why(sizeof why, why);
        printf("%s - no GPU: %s\n", need != NULL && *need != 0 && *need != '0' ? "FAIL" : "SKIP", why);
        return need != NULL && *need != 0 && *need != '0';
    }
    claim_fine(device_use(0), "GPU 0");
    case_seed = seed;
    for (int L = 1; L <= ALL_LENGTHS; L++)
        each_shape(L, grids, seed);
    for (int L = 1; L <= HALF_LENGTHS; L++)
        for (int apart = 0; apart < 2; apart++) {
            long differ = 0;
            int passes = 0, pairs = 0;
            for (int n = 0; n < grids; n++)
                differ += one_grid(L, n % 3 == 2, n < timed, apart, &passes, &pairs);
            claim(
                differ == 0 && passes > 0,
                "half-length %d, %d random grids (seed %u), %s, %d handles with several steps a pass, %d of them with "
                "both sides in one block: %ld numbers differ from one step a pass, must be 0",
                L, grids, seed, apart ? "densities apart" : "one density", passes, pairs, differ);
        }
    refused();
    return check_failed;
}
