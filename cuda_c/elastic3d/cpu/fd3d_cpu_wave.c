/* The time loop of the `cpu` variant of the 3D solver: velocities and stresses, and several steps, in one sweep through
 * memory, in place; as fd2d_cpu_wave.c, with planes for rows and rows for columns.
 *
 * In place. Velocities of plane k need stresses of planes k-L .. k+L, and are needed by stresses of planes k-L .. k+L,
 * which then need not be old any more anywhere that is needed. So one copy of each field is enough if, going down, each
 * half step follows the one before it L planes behind. Along y the argument is the same.
 *
 * Tiles, their order and threads are told in sweep.h, where planes are rows and rows are columns. Half step h of a tile
 * covers rows shifted to the front by h L.
 *
 *       rows ->   tile t-1  |  tile t              h = 0   velocities   planes  [j, j+planes)
 *              tile t-1 |  tile t                  h = 1   stresses     L above
 *          tile t-1 |  tile t                      h = 2   velocities   2L above ...
 *
 * Sides. A periodic x is filled as its rows pass. Rows below a free surface read planes 0 .. 4 (half-length 1: 0 .. 2)
 * at least, so the first of them wait until these are there. Periodic y or z and a one-way bottom need what a sweep has
 * not reached or has left behind: with these each half step is a sweep of its own.
 *
 * Neighbours. A block of T steps is swept of what needs nothing of them: half step h gives up h L cells beside each.
 * The rest follows in half steps, each when the neighbours have given what it reads. It still finds what it needs, as a
 * half step two later begins L cells further in at least than this one reads.
 *
 *       h = 0   swept  swept  swept        h L cells: velocities or stresses that wait for the neighbour
 *       h = 1   rest | swept  swept
 *       h = 2   rest   rest | swept */
#include <string.h>
#include <unistd.h>

#include "denormals.h"
#include "err.h"
#include "fd3d_cpu.h"
#include "sweep.h"

typedef struct wave {
    sweep s;
    fd3d *fd;
    const cpu3_own *o;
    const cpu3_grid *g;
    float *kept;      /* planes of velocities that the map is taken from, for each step of the pass */
    size_t kept_step; /* floats of a step */
} wave;

/* --- one half step on a piece of the grid -------------------------------------------------------------------- */

/* Sources of fields first .. last. */
static void inject(const wave *w, int it, int first, int last, sweep_piece p) {
    const int some = p.x0 > 0 || p.x1 < w->g->n[0];
    const float *q = history_row(&w->fd->h.histories, it);
    for (int f = first; f <= last && q != NULL; f++) {
        const source_cells *s = &w->fd->h.source[f];
        const int *const *at = (const int *const *)s->cells.at;
        if (s->cells.plane[p.k0] == s->cells.plane[p.k1])
            continue;
        for (int k = p.k0; k < p.k1; k++)
            for (int c = cells_seek(&s->cells, 1, k, p.i0); c < s->cells.plane[k + 1] && at[1][c] < p.i1; c++)
                if (!some || (at[0][c] >= p.x0 && at[0][c] < p.x1))
                    fd3d_cpu_add_source(s, c, q, w->g->field[f] + k * w->g->z + at[1][c] * w->g->y + at[0][c]);
    }
}

/* Copies out what the map is taken from, as its points reach beyond the piece; rows and planes as far apart. */
static void keep(const wave *w, int it, sweep_piece p) {
    const fd3d_watched *m = &w->fd->map;
    const cpu3_grid *g = w->g;
    float *to = w->kept + (size_t)(it - w->s.it) * w->kept_step;
    for (int c = 0; c < 3; c++) {
        for (int k = most(p.k0, m->low[c]); k < least(p.k1, m->high[c]); k++)
            for (int j = p.i0; j < p.i1; j++)
                memcpy(to + (k - m->low[c]) * g->z + j * g->y + p.x0, g->field[c] + k * g->z + j * g->y + p.x0,
                       (size_t)(p.x1 - p.x0) * sizeof(float));
        to += (m->high[c] - m->low[c]) * g->z;
    }
}

/* Rows that the next step downwards is the first to use are asked for: each half step asks for a share of the arrays, a
 * line with each line that it computes, so that memory works while later half steps find all in the cache. Whole rows
 * between two pieces of work come in gusts, which hold the core up: 160^3, cells by time of requests as here to that,
 * two threads of Zen 3: sponge 1.25, PML 1.1, Q 1.5. One thread of Sapphire Rapids, without requests and with these:
 * sponge 257 and 286 Mcell/s, PML 193 and 211, Q 162 and 183 (AVX-512); 211 and 227, 163 and 172, 142 and 151 (AVX2);
 * 2026-11-26 and 28. */
typedef struct ahead {
    const cpu3_grid *g;
    int half, halves;                                  /* at work; of the block */
    int planes;                                        /* of a step downwards */
    const float *from[FD3D_FIELDS + 3 + 2 + STRESSES]; /* arrays, at the first plane */
    int arrays, early; /* arrays; of which velocities of the first half step are the first to read these */
} ahead;

static ahead ahead_of(const cpu3_grid *g, int planes, int halves) {
    ahead a = {.g = g, .halves = halves, .planes = planes};
    for (int f = 0; f < FD3D_FIELDS; f++)
        a.from[a.arrays++] = g->field[f] + (f == FD3D_SXZ || f == FD3D_SYZ || f == FD3D_SZZ ? g->L * g->z : 0);
    a.from[a.arrays++] = g->rho;
    a.early = a.arrays;
    a.from[a.arrays++] = g->lambda;
    a.from[a.arrays++] = g->softness;
    if (g->anelastic) {
        a.from[a.arrays++] = g->qp;
        a.from[a.arrays++] = g->qs;
    }
    for (int s = 0; s < STRESSES && g->anelastic == FD3D_ONE; s++)
        a.from[a.arrays++] = g->memory[s];
    return a;
}

/* Rows that the half step at work asks for beside row j of plane k. */
static cpu3_next ahead_beside(const ahead *a, int j, int k) {
    const cpu3_grid *g = a->g;
    const int first = a->arrays * a->half / a->halves, last = a->arrays * (a->half + 1) / a->halves;
    cpu3_next next = {.rows = 0};
    for (int n = first; n < last; n++) {
        const int back = (a->half - (n >= a->early)) * g->L, to_j = j + back, to_k = k + back + a->planes;
        if (to_j >= 0 && to_j < g->n[1] && to_k >= 0 && to_k < g->n[2])
            next.row[next.rows++] = a->from[n] + to_k * g->z + to_j * g->y;
    }
    return next;
}

/* Sources, halo, and copies for the map and for receivers, after the update of cells. */
static void follow(const wave *w, int it, int what, sweep_piece p) {
    const cpu3_grid *g = w->g;
    const fd3d_watched *map = &w->fd->map;
    const int first = what == 0 ? FD3D_VX : FD3D_SXX, last = what == 0 ? FD3D_VZ : FD3D_SYZ;
    inject(w, it, first, last, p);
    if (g->periodic_x)
        for (int k = p.k0; k < p.k1; k++)
            for (int j = p.i0; j < p.i1; j++)
                fd3d_cpu_wrap_row(g, what, j, k);
    if (what == 0 && map->n > 0 && it <= map->last)
        keep(w, it, p);
    if (w->s.sampled > 0)
        sweep_sample(&w->s, it, first, last, p);
}

/* A piece with the rows below a free surface that have waited for it, or without them. */
static sweep_piece with_top(const cpu3_grid *g, sweep_piece p) {
    if (p.k0 < g->top_wait && p.k0 < p.k1)
        p.k0 = p.k1 < g->top_wait ? p.k1 : 0;
    return p;
}

static int some(sweep_piece p) { return p.k0 < p.k1 && p.i0 < p.i1 && p.x0 < p.x1; }

static void half_step(const wave *w, const ahead *a, int it, int what, sweep_piece p) {
    const cpu3_grid *g = w->g;
    for (int j = p.i0; j < p.i1; j++)
        for (int k = p.k0; k < p.k1; k++) {
            const cpu3_next next = ahead_beside(a, j, k);
            if (k < g->top_rows)
                fd3d_cpu_kernels(w->o)->surface[what](g, j, k);
            fd3d_cpu_row(w->o, what, j, k, p.x0, p.x1, &next);
        }
    follow(w, it, what, p);
}

static void descend(const sweep *s, int block, int tile, int j) {
    const wave *w = (const wave *)s;
    const cpu3_grid *g = w->g;
    const int halves = 2 * sweep_block_steps(s, block);
    ahead a = ahead_of(g, s->rows, halves);
    for (int h = 0; h < halves; h++) {
        const sweep_piece p = with_top(g, sweep_piece_of(s, tile, j, h));
        a.half = h;
        if (some(p))
            half_step(w, &a, s->it + block * s->T + h / 2, h % 2, p);
    }
}

/* --- tiles --------------------------------------------------------------------------------------------------- */

/* Bytes of a cache; 0 where the system does not tell. */
static long cache(int level) {
#ifdef _SC_LEVEL3_CACHE_SIZE
    return sysconf(level == 2 ? _SC_LEVEL2_CACHE_SIZE : _SC_LEVEL3_CACHE_SIZE);
#else
    return 0 * level;
#endif
}

/* Cache for the rows in use of one thread's tile: 4 MB of the L3 cache, less where the cores have less. The number
 * that the system tells is the upper bound only: 402 MB on a virtual machine of two cores whose processor has 32 MB for
 * each eight. */
static long room(int threads) {
    const long all = cache(3), bytes = all > 0 ? all / (4 * (long)threads) : 4 << 20;
    return bytes < 1 << 20 ? 1 << 20 : bytes > 4 << 20 ? 4 << 20 : bytes;
}

/* Rows of a tile of T steps whose planes in use, and the rows that it shares with its neighbours, fit into `bytes`. */
static int rows_that_fit(const cpu3_own *o, int T, int planes_at_once, long bytes) {
    const cpu3_grid *g = &o->grid;
    const long own[] = {0, 2 + STRESSES, 2 + MEMORIES}, arrays = FD3D_FIELDS + 3 + own[g->anelastic],
               planes = 2 * T * g->L + planes_at_once;
    return (int)(bytes / (arrays * planes * (long)sizeof(float) * g->y)) - 2 * T * g->L;
}

/* True where a block of T steps leaves more than an eighth of the cells to half steps, which are slower. */
static int gives_up_much(const sweep *w, int T) {
    const int n[3] = {w->deep, w->across, w->along};
    double part = 0;
    for (int a = 0; a < 3; a++)
        part += (T - 0.5) * (w->give[a][0] + w->give[a][1]) / n[a];
    return part > 0.125;
}

/* Up to three steps, fewer where the rows in use of a tile of 6 L rows would not fit. Planes one by one: then rows of
 * one array follow each other in memory, as prefetchers like it. Half-length 2, 160^3, sponge, Mcell/s and second of
 * processor time at (steps, rows, planes): (1,40,1) 191, (2,40,1) 267, (2,40,2) 246, (2,40,4) 227; 2026-11-21. Two
 * threads of Zen 3 at (1,.), (2,.), (3,.), each with the rows that fit, Mcell/s beside other work: 256^3, sponge 99,
 * 146, 164, PML 57, 114, 111; 160^3, sponge (2,47,1) 126, (3,26,1) 147, PML 63, 89; four steps were slower; 2026-11-28.
 *
 * Where the L3 cache is far the L2 cache of a core is to hold them: AVX-512 of Sapphire Rapids, (2,54,1) 187,
 * (2,15,1) 245, (3,12,1) 248, (4,12,1) 236; 2026-11-26. By this count half of what a tile has in use is counted twice.
 */
static void choose_tiles(sweep *w) {
    const cpu3_own *o = w->h->own;
    const int *tile = o->frame.tile, least_rows = 6 * o->grid.L, far = cpu_level3_is_far();
    const long second = most((int)cache(2), 1 << 20), most_bytes = far ? 2 * second : room(o->frame.threads),
               bytes = far ? second + second / 4 : most_bytes;
    int T = 3;
    w->rows = tile[TILE_PLANES] > 0 ? tile[TILE_PLANES] : 1;
    while (T > 1 && (rows_that_fit(o, T, w->rows, most_bytes) < least_rows || gives_up_much(w, T)))
        T--;
    sweep_set_steps(w, tile[TILE_STEPS] > 0 ? tile[TILE_STEPS] : T);
    const int fit = most(rows_that_fit(o, w->T, w->rows, bytes), least_rows);
    sweep_set_width(w, tile[TILE_WIDTH] > 0 ? tile[TILE_WIDTH] : fit, 1, tile[TILE_WIDTH] == 0);
}

/* --- passes -------------------------------------------------------------------------------------------------- */

/* The map grows by a step of the pass, its points from .. to-1. */
static void grow(const wave *w, int step, int from, int to) {
    const fd3d_watched *m = &w->fd->map;
    const float *v[3] = {w->kept + (size_t)step * w->kept_step};
    ptrdiff_t first[3] = {m->low[0] * w->g->z};
    for (int c = 1; c < 3; c++) {
        v[c] = v[c - 1] + (m->high[c - 1] - m->low[c - 1]) * w->g->z;
        first[c] = m->low[c] * w->g->z;
    }
    fd3d_keep_largest(w->fd, v, first, from, to, w->o->peaks);
}

/* By the steps of a pass. */
static void finish(const sweep *s) {
    const wave *w = (const wave *)s;
    const fd3d_watched *m = &w->fd->map;
    const int chunks = 4 * w->o->frame.threads;
    if (m->n == 0)
        return;
#pragma omp for schedule(static)
    for (int chunk = 0; chunk < chunks; chunk++) {
        const int from = (int)((long)m->n * chunk / chunks), to = (int)((long)m->n * (chunk + 1) / chunks);
        for (int step = 0; step < s->n && s->it + step <= m->last; step++)
            grow(w, step, from, to);
    }
}

/* Most steps of a pass: with a map few, as it keeps planes of each, but some blocks of them. */
static int pass_steps(wave *w, int n) {
    const fd3d_watched *m = &w->fd->map;
    w->kept_step = 0;
    for (int c = 0; c < 3 && m->n > 0; c++)
        w->kept_step += (size_t)(m->high[c] - m->low[c]) * (size_t)w->g->z;
    return m->n == 0 ? n : least(n, FD3D_CPU_KEPT);
}

static const sweep_kind kind = {
    .most_steps = 8,
    .least_steps = 64,
    .choose_tiles = choose_tiles,
    .descend = descend,
    .finish = finish,
};

/* The halo along a periodic x: fields may have been set since. */
static void wrap_all(const wave *w) {
    for (int k = 0; k < w->g->n[2]; k++)
        for (int j = 0; j < w->g->n[1]; j++)
            for (int what = 0; what < 2; what++)
                fd3d_cpu_wrap_row(w->g, what, j, k);
}

static int kept_room(wave *w, int steps) {
    cpu3_own *o = w->fd->h.own;
    const size_t count = w->fd->map.n > 0 ? (size_t)steps * w->kept_step : 0;
    if (count > o->kept_count) {
        o->kept_count = 0;
        TRY(host_alloc(&w->fd->h.memory, &o->kept, count, sizeof(float), "planes of the map"));
        o->kept_count = count;
    }
    w->kept = o->kept;
    return 0;
}

static wave wave_of(fd3d *fd) {
    const cpu3_own *o = fd->h.own;
    const cpu3_grid *g = &o->grid;
    wave w = {.s = {.kind = &kind,
                    .h = &fd->h,
                    .deep = g->n[2],
                    .across = g->n[1],
                    .along = g->n[0],
                    .shift = g->L,
                    .lag = {g->L, g->L},
                    .reach = g->L,
                    .field = g->field,
                    .y = g->y,
                    .z = g->z,
                    .axis = 1},
              .fd = fd,
              .o = o,
              .g = g,
              .kept = o->kept};
    for (int side = 0; side < 6; side++)
        w.s.give[2 - side / 2][side % 2] = fd->cfg.side[side] == FD3D_NEIGHBOUR ? g->L : 0;
    return w;
}

/* Several half steps can follow each other down the grid. */
static int sweeps(const fd3d *fd) {
    const int *side = fd->cfg.side;
    return side[2] != FD3D_PERIODIC && side[4] != FD3D_PERIODIC && side[5] != FD3D_ONE_WAY;
}

static int sweep_all(handle *h, int it, int n, float *trace) {
    wave w = wave_of((fd3d *)h);
    if (w.g->periodic_x)
        wrap_all(&w);
    const int steps = pass_steps(&w, n);
    TRY(kept_room(&w, steps));
    return sweep_steps(&w.s, it, n, steps, trace);
}

int fd3d_cpu_timestep(handle *h, int it, int n, float *trace) {
    fd3d *fd = (fd3d *)h;
    const size_t row = (size_t)h->receivers.n;
    if (sweeps(fd))
        return sweep_all(h, it, n, trace);
    for (int step = 0; step < n; step++) {
        TRY(fd3d_cpu_velocity(fd, it + step, FD3D_ALL));
        TRY(fd3d_cpu_stress(fd, it + step, FD3D_ALL, trace == NULL ? NULL : trace + (size_t)step * row));
    }
    return 0;
}

/* --- beside neighbours --------------------------------------------------------------------------------------- */

int fd3d_cpu_ahead(fd3d *fd, int it, int n, int *done) {
    wave w = wave_of(fd);
    *done = 0;
    if (!sweeps(fd))
        return 0;
    if (w.g->periodic_x)
        wrap_all(&w);
    w.s.n = pass_steps(&w, n);
    choose_tiles(&w.s);
    const int steps = w.s.T;
    TRY(kept_room(&w, steps));
    TRY(sweep_block(&w.s, it, steps));
    *done = steps;
    return 0;
}

/* Differences below a free surface, of rows with cells that were given up. Of others they may be of any step: they are
 * made again before they are next. */
static void fill_top(const wave *w, int what, sweep_piece kept) {
    const cpu3_grid *g = w->g;
    const int all = kept.x0 > 0 || kept.x1 < g->n[0];
    for (int j = 0; j < g->n[1]; j++)
        for (int k = all || j < kept.i0 || j >= kept.i1 ? 0 : kept.k1; k < g->top_rows; k++)
            fd3d_cpu_kernels(w->o)->surface[what](g, j, k);
}

/* A slab of what was given up, by all threads. */
static void slab(const wave *w, int it, int what, sweep_piece p) {
    if (!some(p))
        return;
    fd3d_cpu_update(w->o, what, (int[3]){p.x0, p.i0, p.k0}, (int[3]){p.x1, p.i1, p.k1});
    follow(w, it, what, p);
}

int fd3d_cpu_rest(fd3d *fd, int what, int it, int part, float *trace) {
    wave w = wave_of(fd);
    const cpu3_grid *g = w.g;
    const int step = it - fd->ahead.first, half = 2 * step + what;
    const unsigned long old = flush_denormals();
    pass_steps(&w, fd->ahead.steps);
    sweep_resume(&w.s, fd->ahead.first, fd->ahead.steps);
    sweep_piece kept = sweep_kept(&w.s, half);
    kept.k0 = least(kept.k0, g->n[2]), kept.k1 = most(kept.k1, kept.k0);
    if (kept.k0 < kept.k1 && kept.k1 < g->top_wait)
        kept.k0 = kept.k1 = 0;
    kept.i0 = least(kept.i0, g->n[1]), kept.i1 = most(kept.i1, kept.i0);
    kept.x0 = least(kept.x0, g->n[0]), kept.x1 = most(kept.x1, kept.x0);
    if (part != FD3D_INNER) {
        fill_top(&w, what, kept);
        slab(&w, it, what, (sweep_piece){0, kept.k0, 0, g->n[1], 0, g->n[0]});
        slab(&w, it, what, (sweep_piece){kept.k1, g->n[2], 0, g->n[1], 0, g->n[0]});
        slab(&w, it, what, (sweep_piece){kept.k0, kept.k1, 0, kept.i0, 0, g->n[0]});
        slab(&w, it, what, (sweep_piece){kept.k0, kept.k1, kept.i1, g->n[1], 0, g->n[0]});
        slab(&w, it, what, (sweep_piece){kept.k0, kept.k1, kept.i0, kept.i1, 0, kept.x0});
        slab(&w, it, what, (sweep_piece){kept.k0, kept.k1, kept.i0, kept.i1, kept.x1, g->n[0]});
    }
    restore_denormals(old);
    if (what == 0 || part == FD3D_RIM)
        return 0;
    if (fd->h.receivers.n > 0)
        cpu_sum_receivers(&fd->h.receivers, w.s.samples + (size_t)step * w.s.sampled, trace);
    if (fd->map.n == 0 || it > fd->map.last)
        return 0;
    const int chunks = 4 * w.o->frame.threads, points = fd->map.n;
#pragma omp parallel for schedule(static) num_threads(w.o->frame.threads)
    for (int chunk = 0; chunk < chunks; chunk++)
        grow(&w, step, (int)((long)points * chunk / chunks), (int)((long)points * (chunk + 1) / chunks));
    return 0;
}
