// The `tuned` variant: one launch a step, velocities eliminated where nobody asks for them; the step itself is told in
// fd2d_tuned.cuh. Here: memory, points, and how steps follow each other.
//
// Steps come in pairs, so that a graph of pairs serves all chunks and what the next one reads is always in the first
// copies at the end of a chunk; an odd step is followed by a copy back.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "fd2d_tuned.h"
#include "fd2d_tuned_plan.cuh"

using namespace tuned;

static constexpr int SLAB = 1 << 20;                       // numbers of a piece of the model
static constexpr int SAMPLERS = 256, MOST_SAMPLERS = 4096; // threads that sample receivers; blocks of a step that do

// --- new and free ----------------------------------------------------------------------------------------------------

static int up(int n, int to) { return (n + to - 1) / to * to; }

static void set_sizes(own_t *o, const fd2d_cfg *c) {
    args *g = &o->g;
    g->nx = c->nx;
    g->nz = c->nz;
    g->free_top = c->free_top;
    g->pitch = up(LEFT + c->nx + RIGHT, 32);
    g->px_pitch = up(c->nx + V, 32);
    // strips widened to whole threads; at half points the right and the lower layer begin one index earlier
    const int end = up(c->nx, V), right = c->nright == 0 ? end : (c->nx - c->nright - 1) / V * V;
    const int bottom = c->nz - c->nbottom - 1;
    g->left = up(c->nleft, V);
    g->right = right < g->left ? g->left : right;
    g->top = c->ntop;
    g->bottom = c->nbottom == 0 ? c->nz : bottom < c->ntop ? c->ntop : bottom;
    g->strip_pitch = up(g->left + (end > g->right ? end - g->right : 0) + V, 32);
    // with the rounded ratio that the other variants multiply by, lest waves go down slower or faster than theirs
    const double ratio = (double)c->dx / c->dz, square = (float)ratio * ratio;
    g->ratio = (float)square;
    g->ratio_rest = (float)(square - g->ratio);
    for (int m = 0; m < c->half_length; m++)
        g->w[m] = c->w[m];
    g->scale_x = 2.0 * c->dt / c->dx;
    g->scale_z = 2.0 * c->dt / c->dz;
    o->origin = (ptrdiff_t)ABOVE * g->pitch + LEFT;
    o->count = ((size_t)ABOVE + (size_t)c->nz + BELOW) * (size_t)g->pitch;
    o->psix_count = (size_t)g->strip_pitch * ((size_t)c->nz + BELOW);
    o->psiz_count = ((size_t)g->top + (size_t)(g->nz - g->bottom) + 1) * (size_t)g->pitch;
    const int fit = SLAB / c->nx;
    o->slab_rows = fit < 1 ? 1 : fit > c->nz ? c->nz : fit;
}

enum { ARRAYS = 24 };

// Those that a configuration does not need have no elements.
static void list_arrays(own_t *o, const fd2d_cfg *c, gpu_array list[ARRAYS]) {
    const size_t velocities = c->velocities ? o->count : 0;
    const size_t nx = (size_t)o->g.nx, rows = (size_t)o->slab_rows, several = may_pass(o->g, c) ? 1 : 0;
    const gpu_array all[ARRAYS] = {
        {&o->s[0], o->count, "sigma"},
        {&o->s[1], o->count, "sigma of the next step"},
        {&o->e[0], o->count - velocities, "increments of sigma"},
        {&o->e[1], several * o->count, "increments of sigma after a pass"},
        {&o->vx[0], velocities, "vx"},
        {&o->vx[1], velocities, "vx of the next step"},
        {&o->vz[0], velocities, "vz"},
        {&o->vz[1], velocities, "vz of the next step"},
        {&o->kk, o->count, "bulk modulus"},
        {&o->rho, o->count, "density"},
        {&o->rho_z, c->apart ? o->count : 0, "density of vz"},
        {&o->psix[0], o->psix_count, "memory variables of the layers along x"},
        {&o->psix[1], o->psix_count, "memory variables of the layers along x"},
        {&o->psix_s[0], o->psix_count, "memory variables of the layers along x"},
        {&o->psix_s[1], several * o->psix_count, "memory variables of the layers along x"},
        {&o->psiz[0], o->psiz_count, "memory variables of the layers along z"},
        {&o->psiz[1], o->psiz_count, "memory variables of the layers along z"},
        {&o->psiz_s[0], o->psiz_count, "memory variables of the layers along z"},
        {&o->psiz_s[1], several * o->psiz_count, "memory variables of the layers along z"},
        {&o->within, several * (MOST_STEPS - 1) * 2 * (o->psix_count + o->psiz_count),
         "memory variables within a pass"},
        {&o->told, may_stay(o->g, c) ? 2 * COPIES * o->count : 0, "sigma that tiles tell each other"},
        {&o->px, 6 * (size_t)o->g.px_pitch, "layer profiles along x"},
        {&o->pz, 2 * V * (size_t)o->g.nz, "layer profiles along z"},
        {&o->slab, (c->apart ? 3 : 2) * rows * nx, "rows of the model"},
    };
    memcpy(list, all, sizeof all);
}

// Cells are counted in 64 bits, what their profiles take, 6 and 8 values a column and a row, in an int.
static int check_size(const fd2d_cfg *c) {
    REQUIRE((unsigned long long)c->nx * (unsigned long long)c->nz < 1ull << GPU_INDEX_BITS && c->nz < 1 << 28 &&
                c->nx < 1 << 28,
            "a grid of %d x %d cells is more than a GPU variant can count (%.1e cells): make it smaller", c->nx, c->nz,
            (double)(1ull << GPU_INDEX_BITS));
    return 0;
}

static __global__ void __launch_bounds__(BLOCK) fill(float *a, size_t n, float value) {
    for (size_t j = (size_t)blockIdx.x * BLOCK + threadIdx.x; j < n; j += (size_t)gridDim.x * BLOCK)
        a[j] = value;
}

static int make_memory(own_t *o, const fd2d_cfg *c) {
    gpu_array list[ARRAYS];
    list_arrays(o, c, list);
    TRY(gpu_take_arrays(&o->queue, list, ARRAYS));
    TRY(gpu_alloc(&o->queue, &o->second, 1, sizeof *o->second, "the step number"));
    TRY(gpu_alloc(&o->queue, &o->board, 1, sizeof *o->board, "turns of tiles"));
    fill<<<1024, BLOCK, 0, o->queue.stream>>>(o->rho, o->count, c->apart ? FLT_MAX : INFINITY); // outside: no velocity
    CUDA_TRY(cudaGetLastError());
    if (c->apart)
        fill<<<1024, BLOCK, 0, o->queue.stream>>>(o->rho_z, o->count, FLT_MAX);
    CUDA_TRY(cudaGetLastError());
    args *g = &o->g;
    g->e = c->velocities ? nullptr : o->e[0] + o->origin;
    g->kk = o->kk + o->origin;
    g->rho = o->rho + o->origin;
    g->rho_z = c->apart ? o->rho_z + o->origin : g->rho;
    g->both = c->apart ? 0.0f : 1.0f;
    g->px = o->px;
    g->pz = o->pz;
    g->psix_s = o->psix_s[0];
    g->psiz_s = o->psiz_s[0] + LEFT;
    g->clock = o->queue.clock;
    return 0;
}

static int choose(handle *h);

static int make(handle *h) {
    const fd2d_cfg *c = &((fd2d *)h)->cfg;
    TRY(gpu_frame_make(h, sizeof(own_t)));
    own_t *o = own(h);
    TRY(check_size(c));
    set_sizes(o, c);
    TRY(check_pass(o->g, c));
    return gpu_open(&o->queue) || make_memory(o, c) || choose(h);
}

static int need(const kernel_variant *, const fd2d_cfg *cfg, int receivers, int steps, size_t *bytes) {
    own_t o = {};
    gpu_array list[ARRAYS];
    TRY(check_size(cfg));
    set_sizes(&o, cfg);
    list_arrays(&o, cfg, list);
    *bytes = gpu_points_need(receivers, steps) + gpu_array_bytes(list, ARRAYS);
    if (may_pass(o.g, cfg))
        *bytes += taps_need(cfg, receivers);
    return 0;
}

// --- source and receivers --------------------------------------------------------------------------------------------

// Weights of all cells in the smallest box around them.
static int fill_box(handle *h, box *b, float **w) {
    const source_cells *s = &h->source[FD2D_SIGMA];
    const int *at_x = s->cells.at[0], *at_z = s->cells.at[2];
    int i0 = h->n[0], i1 = -1, k0 = h->n[2], k1 = -1;
    for (int c = 0; c < s->cells.n; c++) {
        i0 = std::min(i0, at_x[c]);
        i1 = std::max(i1, at_x[c]);
        k0 = std::min(k0, at_z[c]);
        k1 = std::max(k1, at_z[c]);
    }
    b->i = b->k = b->ni = b->nk = 0;
    if (i1 < 0)
        return 0;
    b->i = i0, b->ni = i1 - i0 + 1;
    b->k = k0, b->nk = k1 - k0 + 1;
    REQUIRE((long long)b->ni * b->nk < 1ll << 31,
            "source cells lie in a box of %d x %d cells, more than variant=tuned can count: choose variant=shared",
            b->ni, b->nk);
    TRY(host_alloc(&h->memory, w, (size_t)b->ni * (size_t)b->nk, sizeof **w, "source cells"));
    for (int c = 0; c < s->cells.n; c++)
        for (int e = s->start[c]; e < s->start[c + 1]; e++)
            (*w)[(size_t)(at_z[c] - k0) * (size_t)b->ni + (size_t)(at_x[c] - i0)] += s->w[e];
    return 0;
}

static int source(handle *h) {
    own_t *o = own(h);
    const source_histories *wavelet = &h->histories;
    box b = {};
    float *w = nullptr;
    int rc =
        gpu_put(&o->queue, &o->q, &o->room_q, wavelet->q, (size_t)wavelet->steps, sizeof(float), "source wavelet") ||
        fill_box(h, &b, &w);
    const size_t n = (size_t)b.ni * (size_t)b.nk;
    rc = rc || gpu_grow(&o->queue, &o->box_w, &o->room_box, n, sizeof(float), "source cells") ||
         gpu_upload(&o->queue, o->box_w, w, n * sizeof(float));
    host_release(&h->memory, &w);
    b.w = o->box_w;
    b.q = o->q;
    b.nq = wavelet->steps;
    o->g.source = rc ? box{} : b;
    gpu_forget_graphs(&o->queue);
    return rc;
}

static int receivers(handle *h) {
    const cell_list *sampled = h->receivers.sampled;
    const int group[FD2D_FIELDS] = {FD2D_SIGMA, FD2D_VX, FD2D_VZ};
    const ptrdiff_t first[FD2D_FIELDS] = {};
    REQUIRE(((fd2d *)h)->cfg.velocities || sampled[FD2D_VX].n + sampled[FD2D_VZ].n == 0, NO_VELOCITIES);
    TRY(gpu_frame_receivers(h, 0, own(h)->g.pitch, first, group));
    return own(h)->pass.steps > 0 ? put_taps(h) : 0;
}

// --- time ------------------------------------------------------------------------------------------------------------

// Of the first (0) or the second (1) step of a pair.
static args args_of(const own_t *o, int phase) {
    args g = o->g;
    g.s_in = o->s[phase] + o->origin;
    g.s_out = o->s[1 - phase] + o->origin;
    g.psix_in = o->psix[phase];
    g.psix_out = o->psix[1 - phase];
    g.psiz_in = o->psiz[phase] + LEFT;
    g.psiz_out = o->psiz[1 - phase] + LEFT;
    g.points = o->points.view;
    if (o->vx[0] != nullptr) {
        g.vx_in = o->vx[phase] + o->origin;
        g.vx_out = o->vx[1 - phase] + o->origin;
        g.vz_in = o->vz[phase] + o->origin;
        g.vz_out = o->vz[1 - phase] + o->origin;
    }
    g.now = phase == 0 ? &o->queue.clock->step : o->second;
    g.next = phase == 0 ? o->second : &o->queue.clock->step;
    return g;
}

// Memory variables after step n of a pass: those it begins and ends with, or others within it.
static memory_variables after_step(const own_t *o, int phase, int n) {
    if (n == 0 || n == o->pass.steps) {
        const int of = n == 0 ? phase : 1 - phase;
        return {o->psix[of], o->psix_s[of], o->psiz[of] + LEFT, o->psiz_s[of] + LEFT};
    }
    float *const psix = o->within + (size_t)(n - 1) * 2 * (o->psix_count + o->psiz_count), *const psiz =
                                                                                               psix +
                                                                                               2 * o->psix_count + LEFT;
    return {psix, psix + o->psix_count, psiz, psiz + o->psiz_count};
}

// Of the first or the second pass of a pair.
static args args_of_pass(const own_t *o, int phase) {
    args g = args_of(o, phase);
    const int steps = o->pass.steps;
    g.e = o->e[phase] + o->origin;
    g.e_out = o->e[1 - phase] + o->origin;
    for (int n = 0; n <= steps; n++)
        g.after[n] = after_step(o, phase, n);
    g.taps = {o->taps.slot,
              o->taps.first,
              o->taps.end,
              (g.nx + BUCKET - 1) / BUCKET,
              o->taps.count,
              o->taps.cell,
              o->taps.sigma[1 - phase],
              o->taps.sigma[phase]};
    return g;
}

// Blocks that march stay long: closely behind the step before they would be in the way of other shots.
static int launch_step(const own_t *o, const launch &l, const args &g) {
    const int all = g.work + g.samplers, across = l.rows > 0 ? l.across : all;
    const gpu_shape shape = {dim3((unsigned)across, (unsigned)(all / across)), dim3((unsigned)l.threads), l.shared};
    return gpu_launch(&o->queue, o->queue.close && (o->alone || l.rows > 0), shape, l.step, g);
}

// One step, or one pass.
static int one_launch(const own_t *o, const launch &l, args g) {
    const ptrdiff_t each = (ptrdiff_t)l.threads / WARP * l.receivers, samplers = (g.points.nrec + each - 1) / each;
    g.cut = l.cut;
    g.work = l.work;
    g.down = l.down;
    g.samplers = up((int)std::min<ptrdiff_t>(samplers, MOST_SAMPLERS), l.rows > 0 ? l.across : 1);
    return launch_step(o, l, g);
}

static int one_step(own_t *o, int phase) { return one_launch(o, o->now, args_of(o, phase)); }

static int some_steps(void *self, int n) {
    for (int step = 0; step < n; step++)
        TRY(one_step((own_t *)self, step & 1));
    return 0;
}

static int pair(void *self) { return some_steps(self, 2); }

static int stay_long(void *self) {
    own_t *o = (own_t *)self;
    return stay_in(o, o->stay, args_of(o, 0), STAY_STEPS);
}

static int some_passes(void *self, int n) {
    own_t *o = (own_t *)self;
    for (int pass = 0; pass < n; pass++)
        TRY(stays(o->pass.kind) ? stay_in(o, o->pass, args_of(o, 0), STAY_STEPS)
                                : one_launch(o, o->pass, args_of_pass(o, pass & 1)));
    return 0;
}

static int pair_of_passes(void *self) { return some_passes(self, 2); }

// Memory that only passes need is given back.
static int forget_passes(own_t *o) {
    TRY(gpu_wait(&o->queue));
    for (float **memory : {&o->e[1], &o->psix_s[1], &o->psiz_s[1], &o->within})
        if (o->pass.steps == 0 && *memory != nullptr)
            dm_release(&o->queue.pool, memory);
    if (o->stay.steps == 0 && o->told != nullptr)
        dm_release(&o->queue.pool, &o->told);
    return 0;
}

static int choose(handle *h) {
    own_t *o = own(h);
    TRY(find_shape(h, some_steps, some_passes));
    if (stays(o->pass.kind)) {
        o->stay = o->pass;
        o->pass = {};
    }
    return forget_passes(o);
}

// One step, and everything back to where a pair begins.
static int odd(own_t *o) {
    const size_t velocities = o->vx[0] != nullptr ? o->count * sizeof(float) : 0;
    TRY(one_step(o, 0));
    const struct {
        void *to;
        const void *from;
        size_t bytes;
    } copies[] = {{o->s[0], o->s[1], o->count * sizeof(float)},
                  {o->psix[0], o->psix[1], o->psix_count * sizeof(float)},
                  {o->psiz[0], o->psiz[1], o->psiz_count * sizeof(float)},
                  {o->vx[0], o->vx[1], velocities},
                  {o->vz[0], o->vz[1], velocities},
                  {&o->queue.clock->step, o->second, sizeof(int)}};
    for (const auto &c : copies)
        if (c.bytes > 0)
            CUDA_TRY(cudaMemcpyAsync(c.to, c.from, c.bytes, cudaMemcpyDeviceToDevice, o->queue.stream));
    return 0;
}

// The last step of a chunk, or pass before single steps, has none after it that would do this; of a pass: all its steps
// or, as a step follows, those within it.
static __global__ void __launch_bounds__(SAMPLERS) sample_last(const __grid_constant__ args g, int steps, int newest) {
    sample_within(g, blockIdx.x, steps);
    if (newest)
        sample_newest(g, blockIdx.x);
}

static int sample_rest(own_t *o, bool pass, bool newest) {
    args g = pass ? args_of_pass(o, 0) : args_of(o, 0);
    g.samplers = (int)((g.points.nrec + SAMPLERS / TEAM - 1) / (SAMPLERS / TEAM));
    if (g.samplers > 0)
        sample_last<<<g.samplers, SAMPLERS, 0, o->queue.stream>>>(g, pass ? o->pass.steps : 1, newest);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

static gpu_plane sigma_of(const own_t *o) { return {o->s[0] + o->origin, o->g.pitch, o->g.nx, o->g.nz}; }

// By tiles that stay, where there are such; *n: steps that are left.
static int stay_for(own_t *o, int *n) {
    if (o->stay.steps == 0)
        return 0;
    TRY(gpu_repeat(&o->queue, *n / STAY_STEPS, stay_long, o));
    const int rest = *n % STAY_STEPS;
    *n = rest % 2;
    return rest > 1 ? stay_in(o, o->stay, args_of(o, 0), rest - *n) : 0;
}

static int timestep(handle *h, int it, int n, float *) {
    own_t *o = own(h);
    const gpu_plane sigma = sigma_of(o);
    TRY(gpu_frame_begin(h, it, n));
    TRY(stay_for(o, &n));
    const int a_pair = 2 * std::max(o->pass.steps, 1), rest = n % a_pair;
    const bool passes = o->pass.steps > 0 && n >= a_pair;
    TRY(gpu_repeat(&o->queue, n / a_pair, o->pass.steps > 0 ? pair_of_passes : pair, o));
    if (passes && rest > 0)
        TRY(sample_rest(o, true, false));
    TRY(some_steps(o, rest - rest % 2));
    if (rest % 2 == 1)
        TRY(odd(o));
    TRY(sample_rest(o, passes && rest == 0, true));
    return gpu_end(&o->queue, &sigma);
}

static int peak(handle *h, float *value, int place[3]) {
    return gpu_newest(gpu_queue_of(h), own(h)->g.nx, value, &place[0], &place[2]);
}

static int maxabs(handle *h, float *value, int place[3]) {
    const gpu_plane sigma = sigma_of(own(h));
    return gpu_largest(gpu_queue_of(h), &sigma, value, &place[0], &place[2]);
}

// --- shape by hand ---------------------------------------------------------------------------------------------------

// width: 64 is tiles, of 32 or 64 rows; 256 and 512 are columns of a block that marches, with its margins, and rows
// those of a piece: one step a pass. Of passes `steps` 2 makes blocks take both sides, 1 one each. 0 = as it is. isa
// does not apply.
static int tune(handle *h, const char *, const int tile_of[3]) {
    own_t *o = own(h);
    const int width = tile_of[0], sides = tile_of[1], rows = tile_of[2];
    const bool tiles = width == 64;
    bool fits = true;
    REQUIRE(width == 0 || tiles || width == 256 || width == 512, "width = %d, must be 64, 256, 512 or 0 (as it is)",
            width);
    REQUIRE(!tiles || rows == 0 || rows == 32 || rows == 64, "rows = %d, tiles have 32 or 64", rows);
    const form tile = rows == 64 ? TILE_HIGH : TILE_LOW;
    const form kind = tiles ? tile : width == 256 ? MARCH_NARROW : MARCH_WIDE;
    if (width > 0)
        TRY(find_launch(o->g, &((fd2d *)h)->cfg, o->queue.device, {kind, 1, 1.6, 3, 0}, &o->now, &fits));
    REQUIRE(fits, "blocks of %d columns do not fit on this GPU", width);
    if (sides > 0 && o->pass.steps > 0)
        TRY(find_launch(o->g, &((fd2d *)h)->cfg, o->queue.device, {o->pass.kind, 1, 1.9, 3, sides == 2}, &o->pass,
                        &fits));
    REQUIRE(fits, "a grid of %d columns with these layers has no two sides for one block", o->g.nx);
    if (width > 0 || rows > 0)
        o->pass = o->stay = {};
    if (rows > 0 && o->now.rows == 0) {
        plan *p = &o->now.cut;
        p->pieces = (o->g.nz + rows - 1) / rows;
        p->side_pieces = (int)(1.6 * p->pieces + 0.5);
        o->now.work = count_work(*p);
    }
    gpu_forget_graphs(&o->queue);
    return 0;
}

// --- for the record --------------------------------------------------------------------------------------------------

// Blocks of one step.
static std::string words_of(const launch &l, int nz) {
    const int rows = l.rows > 0 ? l.rows : (nz + l.cut.pieces - 1) / l.cut.pieces;
    return std::string(form_name(l.kind)) + " of " + std::to_string(l.columns) + " x " + std::to_string(rows);
}

// A shape and steps a pass by hand that do not go on this GPU, or with this grid.
static std::string words_of_unused(const own_t *o, const fd2d_cfg *c) {
    form named = o->now.kind;
    std::string words;
    if (c->shape[0] != 0 && find_form(c->shape, &named) == 0 && named != o->now.kind &&
        (o->stay.steps == 0 || named != o->stay.kind))
        words = std::string(", as shape=") + c->shape + " does not fit";
    if (c->steps_a_pass > 1 && c->steps_a_pass != o->pass.steps)
        words += ", as steps_a_pass=" + std::to_string(c->steps_a_pass) + " does not fit";
    return words;
}

static void device(handle *h, char *text, size_t length) {
    const own_t *o = own(h);
    const int nz = o->g.nz;
    char name[256];
    gpu_device_name(h, name, sizeof name);
    std::string words = std::string(name[0] != 0 ? name : "GPU") + ", " + words_of(o->now, nz);
    if (o->stay.steps > 0)
        words += ", " + words_of(o->stay, nz) + " for up to " + std::to_string(STAY_STEPS) + " steps";
    if (o->pass.steps > 0) {
        const plan &p = o->pass.cut;
        words += ", " + std::to_string(o->pass.steps) + " steps a pass in strips of " +
                 std::to_string(o->pass.columns) + " x " + std::to_string((nz + p.pieces - 1) / p.pieces) +
                 ", at sides " + std::to_string(p.side_columns) + " x " +
                 std::to_string((nz + p.side_pieces - 1) / p.side_pieces);
    }
    words += words_of_unused(o, &((fd2d *)h)->cfg);
    snprintf(text, length, "%s", words.c_str());
}

static const fd2d_verbs verbs = {
    .common = {.frame = &gpu_frame_verbs,
               HANDLE_VERBS,
               .timestep = timestep,
               .pml = pml,
               .source = source,
               .receivers = receivers,
               .peak = peak,
               .tune = tune,
               .device = device},
    .model = model,
    .get = get,
    .need = need,
};

FD2D_VARIANT(tuned) = {"tuned",
                       "CUDA, one launch a step, velocities eliminated unless they are recorded: the fewest bytes", 1,
                       &verbs.common, nullptr};
