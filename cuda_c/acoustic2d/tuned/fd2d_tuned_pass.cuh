// Several time steps of the `tuned` variant in one pass through memory, blocks that march down. No velocities,
// half-length 1 to 4.
//
// A block marches down a strip of W columns, of which it writes all but M at each side, with T groups of threads. Group
// t makes step t of the pass: it takes row k of s, completes row r = k - 2L+1 as fd2d_tuned_march.cuh does, operation
// by operation, and hands s and e of that row on to group t+1, which takes it in the next turn and so stands 2L rows
// behind. Only the first group reads s and e from memory, only the last one writes them, 24 bytes a cell and pass:
//
//     in shared memory       rings of rows of s and e of each group, those of the first one hold what is fetched too
//                            rings of rho and K, from the newest row to the oldest that the last group needs
//                            two rows of w_x of each group
//     in registers           the 2 x 2L sums along z of each column
//     in global memory       memory variables after each step of the pass, in layers only: they stay in the cache
//
// Each group needs both densities of a cell once, if those of vx and vz are apart (APART). They have no rings: a thread
// loads those of its next row while it computes, 28 bytes a cell and pass from memory and 8 a step from the L2 cache,
// to which the last group brings them some rows ahead.
//
// A pass reads nothing that it writes: s, e and memory variables have second arrays. Blocks compute what neighbours do
// too, 2L-1 columns and rows at each side a step: group t makes rows first(t+1) .. end(t+1)-1, and what is outside of
// them is never used. Neighbours write the same memory variables of a step within a pass, with the same bits.
//
// Rows of warps in a layer at a side take twice as long, and all others of a block wait for them. So one block marches
// down the strips of both sides where it may, half as wide, in place of two blocks.
//
// Above the first row all is 0, and so are sums that begin there. A free surface has images above it, -s of rows 2L-1
// .. 1: a group that begins at row 0 needs these first, from the group before it, which runs ahead for that and then
// waits (see `moves_at_surface`).
//
// Samples of steps within a pass: cells of receivers lie in buckets of BUCKET columns of a row, which each group but
// the last writes to a short list as it passes; the next pass makes traces of them (see `sample_within`).
#pragma once

#include "fd2d_tuned_plan.cuh"

namespace tuned {

constexpr int least_margin(int reach, int steps) { // multiples of V; what a step hands on is in whole threads
    int margin = 0;
    for (int t = 0; t < steps; t++) {
        const int after = (steps - 1 - t) * reach, need = (t + 1) * reach + (after + V - 1) / V * V;
        margin = need > margin ? need : margin;
    }
    return (margin + V - 1) / V * V;
}

template <int L, int T, int WIDTH, int AHEAD_, bool APART_> struct pass_shape {
    static constexpr bool APART = APART_;
    static constexpr int AHEAD = AHEAD_, REACH = 2 * L - 1, W = WIDTH;
    static constexpr int G = W / V, N = T * G; // threads of a step; of a block
    static constexpr int M = least_margin(REACH, T), P = W + 2 * HALO;
    static constexpr int S = 2 * L - 1 + AHEAD; // rows of rings: of s, e; of rho, K
    static constexpr int RHO = APART ? 2 * L * (T - 1) + 1 + AHEAD : 2 * L * T - L + AHEAD;
    static constexpr int ROW = P * (int)sizeof(float); // bytes
    // Rings of group t begin at row 2 t S (s) and S further (e); rho, if there is one, K and two rows of w_x of each
    // group follow them.
    static constexpr int E = S, NEXT = 2 * S, RHO_AT = 2 * T * S, K = APART ? 0 : RHO, WX_AT = RHO_AT + K + RHO;
    static constexpr int ROWS = WX_AT + 2 * T;
    static constexpr size_t bytes = (size_t)ROWS * ROW;
    static_assert(G % WARP == 0 && M <= LEFT && N <= 1024 && AHEAD >= 2);
};

__device__ __forceinline__ bool is_in(int row, int first, int rows) { return (unsigned)(row - first) < (unsigned)rows; }

// My columns of a row in a ring of RING rows, as an address in shared memory. Row n of a pass stands in row n of the
// ring or whole rings further: rings that begin with the same row share a place.
template <int ROW, int RING> struct slot {
    int at, last;
    __device__ __forceinline__ void set(int ring, int row) {
        row %= RING;
        at = ring;
        last = at + (RING - 1) * ROW;
        at += (row < 0 ? row + RING : row) * ROW;
    }
    __device__ __forceinline__ void move() { at += at == last ? -(RING - 1) * ROW : ROW; }
};

__device__ __forceinline__ void prefetch(const float *p) {
#ifdef __CUDA_ARCH__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#endif
}

// The part of a thread. Most rows of most warps are plain: no layer, free surface or source is near, and all of a row
// is needed. The others take a longer code (NEAR).
template <class S, int L, int T> struct pass {
    static constexpr int ROW = S::ROW, REACH = S::REACH, SOON = 4;

    const args &g;
    const work job;
    const int t, x0, c, me;       // step of the pass; columns of thread 0 and mine; mine in a row here
    int k, first, end;            // row of s that comes next; rows first .. end-1 are needed
    int out_first, out_end;       // of the rows that I complete, those that are needed
    int fetched, fetch_end;       // rows of s
    int plain, plain_rows;        // rows of s that are, from the first on; none of them has the source
    int source, source_rows;      // rows of s that complete one of the source, if that is in my warp's columns
    int tap_first, tap_rows;      // rows that I complete and of which receivers may want samples within the pass
    bool surface;                 // my block begins at a free surface
    bool idle, in_grid, hands_on; // right of the grid; in it; there, and needed by the next step
    int valid, xi;                // cells that I write in the end; column of a strip along x, or negative
    const float *from1, *from2;
    float *const shared;
    // Of row k of s and of e that it completes; of row r + 1 of s; of rho below half row k - L, K of row r; rho of row
    // r + 1 (not APART); row r of s for the next group; what is fetched.
    slot<ROW, S::S> s_k, s_x;
    slot<ROW, S::RHO> rho_h, rho_x;
    int s_out, fill, fill_last, wx_r, wx_w, next_tap;
    float z1[V][2 * L], z2[V][2 * L];
    quad above, now, step;
    quad of_vx, of_vz; // APART: densities of row r + 1 and of half row k - L

    __device__ __forceinline__ static int step_of(unsigned thread) { return thread / S::G; }
    __device__ __forceinline__ bool takes_first() const { return t == 0; }
    __device__ __forceinline__ bool writes() const { return t == T - 1; }

    __device__ __forceinline__ int first_row(int step) const { return max(job.first - (T - step) * REACH, 0); }
    __device__ __forceinline__ int end_row(int step) const { return job.end + (T - step) * REACH; }

    // Of a block, or of a part of its columns that is a strip of its own, `width` wide.
    __device__ __forceinline__ pass(const args &args_, const work &w, int width, float *shared_, unsigned thread)
        : g(args_), job(w), t(step_of(thread)), x0(w.x0), c(x0 + V * (thread % S::G)), me(HALO + V * (thread % S::G)),
          shared(shared_) {
        const int column = (me - HALO) % width;
        const int at = min(c, (g.nx + 7) & ~3); // one right of the grid stands for all further ones
        const int reach = (T - 1 - t) * REACH, out = (reach + V - 1) / V * V;
        surface = g.free_top && job.first <= T * REACH;
        idle = c_of_warp() >= g.nx + HALO;
        in_grid = c >= 0 && c < g.nx;
        hands_on = in_grid && column >= S::M - out && column < width - S::M + out;
        valid = column >= S::M && column < width - S::M ? min(max(g.nx - c, 0), V) : 0;
        xi = strip_column(g, c);
        first = first_row(t), end = end_row(t);
        out_first = first_row(t + 1), out_end = end_row(t + 1);
        const int begin = first_row(0);
        fetched = begin, fetch_end = takes_first() || writes() ? end_row(0) : begin;
        k = surface ? 0 : begin - 2 * L * t;
        set_rings(begin);
        set_plain();
        const ptrdiff_t row = (ptrdiff_t)(begin - 2 * L + 1) * g.pitch + at;
        from1 = takes_first() ? g.s_in + (ptrdiff_t)begin * g.pitch + at
                              : g.rho + (ptrdiff_t)(S::APART ? begin - 2 * L + 2 : begin - L + 1) * g.pitch + at;
        from2 = (takes_first() ? g.e : g.kk) + row;
        if (S::APART && k == first)
            ask_densities();
#pragma unroll
        for (int v = 0; v < V; v++) {
            above.v[v] = INFINITY;
            now.v[v] = 0;
#pragma unroll
            for (int j = 0; j < 2 * L; j++)
                z1[v][j] = z2[v][j] = 0;
        }
    }

    // The first column of my warp.
    __device__ __forceinline__ int c_of_warp() const { return x0 + ((me - HALO) & ~(V * WARP - 1)); }

    __device__ __forceinline__ void set_plain() {
        constexpr int LATER = 2 * L - 1; // row k of s completes row k - LATER
        const int left = c_of_warp(), right = left + V * WARP;
        const box &b = g.source;
        source = b.k + LATER;
        source_rows = b.i < right && b.i + b.ni > left ? b.nk : 0;
        plain = max(max(g.top, out_first) + LATER, first);
        const int last = min(min(g.bottom - SOON + L, out_end - 1 + LATER), end);
        plain_rows = idle || left < g.left || (right > g.right && left < g.nx) ? 0 : max(last - plain, 0);
        tap_first = max(g.taps.first, job.first);
        tap_rows = writes() || valid == 0 ? 0 : max(min(g.taps.end, job.end) - tap_first, 0);
    }

    __device__ __forceinline__ void set_rings(int begin) {
        const int row = k - begin, r = row - 2 * L + 1; // of row `begin` on
        const int mine = (int)__cvta_generic_to_shared(shared + me);
        const int of_s = mine + S::NEXT * t * ROW, of_rho = mine + S::RHO_AT * ROW;
        s_k.set(of_s, row);
        s_x.set(of_s, r + 1);
        rho_h.set(of_rho, row);
        if (!S::APART)
            rho_x.set(of_rho, r + L);
        s_out = s_x.at == of_s ? s_x.last : s_x.at - ROW;
        wx_r = mine + (S::WX_AT + 2 * t) * ROW, wx_w = wx_r + ROW;
        fill = takes_first() ? of_s : of_rho;
        fill_last = fill + (takes_first() ? S::S - 1 : S::RHO - 1) * ROW;
        next_tap = -1;
    }

    __device__ __forceinline__ static float *in_shared(int at) {
        return static_cast<float *>(__cvta_shared_to_generic((unsigned)at));
    }

    // True if group `step` moves on by a row in this turn. A group that begins at a free surface needs rows up to 2L-1
    // of the one before, which has just written that when it waits, until the usual 2L rows lie between them.
    __device__ __forceinline__ static bool moves_at_surface(int turn, int step) {
        const int begins = turn / (4 * L - 1), waits = turn % (4 * L - 1) <= 2 * L - 2; // the newest group to begin
        return begins >= T || begins == step || (begins > step && !waits);
    }

    __device__ __forceinline__ int turns() const {
        return surface ? (T - 1) * (4 * L - 1) + job.end + 2 * L - 1
                       : job.end + 2 * L - 1 - first_row(0) + 2 * L * (T - 1);
    }

    // The first group needs these with the next row of s: the first one fetches s and e, the last one rho and K.
    __device__ __forceinline__ void fetch() {
        if (fetched < fetch_end) {
            if (!S::APART || takes_first())
                copy(in_shared(fill), from1);
            copy(in_shared(fill + (takes_first() ? S::E : S::K) * ROW), from2);
            if (S::APART && !takes_first())
                expect_densities();
            from1 += g.pitch;
            from2 += g.pitch;
            fill = fill < fill_last ? fill + ROW : fill_last - (takes_first() ? S::S - 1 : S::RHO - 1) * ROW;
        }
        fetched++;
    }
    __device__ __forceinline__ void fetch_ahead() {
#pragma unroll
        for (int n = 0; n < S::AHEAD; n++) {
            fetch();
            __pipeline_commit();
        }
    }

    // After the barrier.
    __device__ __forceinline__ void take(int turn) {
        if (!surface || moves_at_surface(turn, 0))
            fetch();
        __pipeline_commit();
        if (surface && !moves_at_surface(turn, t))
            return;
        if (is_in(k, plain, plain_rows) && !is_in(k, source, source_rows))
            row<false>();
        else if (!idle && k >= first && k < end)
            row<true>();
        k++;
        const int wx = wx_r;
        wx_r = wx_w, wx_w = wx;
        s_out = s_x.at;
        s_k.move(), s_x.move(), rho_h.move();
        if (!S::APART)
            rho_x.move();
        else if (k == first)
            ask_densities();
    }

    // --- densities apart ---

    __device__ __forceinline__ quad ask_density(const float *of, int row) const {
        return load_constant(of + (ptrdiff_t)row * g.pitch + min(c, (g.nx + 7) & ~3));
    }
    // Those that row k of s needs.
    __device__ __forceinline__ void ask_densities() {
        of_vx = ask_density(g.rho, k - 2 * L + 2);
        of_vz = ask_density(g.rho_z, k - L);
    }
    // Those that the first group asks for in some rows' time come to the cache meanwhile. No third pointer that moves
    // on with the rows: nvcc 13.0 does not come to an end with one.
    __device__ __forceinline__ void expect_densities() const {
        const float *vz = g.rho_z + (from1 - g.rho) + (ptrdiff_t)(L - 2) * g.pitch;
        prefetch(vz + 2 * g.pitch);
        prefetch(from1 + 2 * g.pitch);
    }
    __device__ __forceinline__ static void divide(float (&d)[V], const quad &rho) {
#pragma unroll
        for (int v = 0; v < V; v++)
            d[v] *= reciprocal(rho.v[v]);
    }

    // --- layers ---

    // The place of memory variables of row r.
    __device__ __forceinline__ ptrdiff_t at_x(int r) const { return (ptrdiff_t)r * g.strip_pitch + xi; }
    __device__ __forceinline__ ptrdiff_t at_z(int z) const { return (ptrdiff_t)z * g.pitch + c; }
    __device__ __forceinline__ bool layer_at(int r) const { return xi >= 0 && r >= 0 && r < g.nz; }
    __device__ __forceinline__ int strip_of(int r) const { return in_grid ? strip_row(g, r) : -1; }

    // Numbers that the first group takes in some rows' time come to the cache meanwhile.
    __device__ __forceinline__ void expect(int h, int r) const {
        const memory_variables &m = g.after[0];
        const int zh = strip_of(h + SOON), zr = strip_of(r + SOON);
        if (layer_at(r + SOON))
            prefetch(m.psix + at_x(r + SOON)), prefetch(m.psix_s + at_x(r + SOON));
        if (zh >= 0)
            prefetch(m.psiz + at_z(zh));
        if (zr >= 0)
            prefetch(m.psiz_s + at_z(zr));
    }

    // Of row r: psi is what it was; it becomes what it is, where the next step needs it.
    __device__ __forceinline__ void layer_x(quad &d, quad psi, int half, int r, float *to) const {
        const float *p = profile_x(g, half, c);
        const quad a = load_constant(p), b = load_constant(p + V), ik = load_constant(p + 2 * V);
#pragma unroll
        for (int v = 0; v < V; v++)
            layer(d.v[v], psi.v[v], a.v[v], b.v[v], ik.v[v]);
        if (hands_on)
            store(to + at_x(r), psi);
    }
    __device__ __forceinline__ void layer_z(float (&d)[V], int half, int r, const float *from, float *to,
                                            bool needed) const {
        const int z = strip_of(r);
        if (z < 0)
            return;
        const quad p = load_constant(profile_z(g, half, r));
        quad psi = load(from + at_z(z));
#pragma unroll
        for (int v = 0; v < V; v++)
            layer(d[v], psi.v[v], p.v[0], p.v[1], p.v[2]);
        if (hands_on && needed)
            store(to + at_z(z), psi);
    }

    // --- free surface ---

    // Row `row` of s, which the group before has just written, while I stand at row 0.
    __device__ __forceinline__ int image_row(int row) const {
        const int at = s_k.at + row * ROW;
        return at > s_k.last ? at - S::S * ROW : at;
    }

    // Rows of the image above, uppermost first.
    __device__ __forceinline__ void begin_with_image() {
#pragma unroll 1
        for (int row = REACH; row > 0; row--) {
            const quad p = takes_first() ? load(g.s_in + (ptrdiff_t)row * g.pitch + min(c, (g.nx + 7) & ~3))
                                         : load(in_shared(image_row(row)));
#pragma unroll
            for (int v = 0; v < V; v++)
                scatter<L>(z1[v], g.w, -p.v[v]);
        }
    }

    // --- a row ---

    template <bool NEAR> __device__ __forceinline__ void row() {
        const int h = k - L, r = k - 2 * L + 1;
        const bool completes = !NEAR || r >= out_first,
                   next_completes = !NEAR || (r + 1 >= out_first && r + 1 < out_end);
        const memory_variables &before = g.after[t], &then = g.after[t + 1];
        const bool layer = NEAR && layer_at(r), next_layer = NEAR && layer_at(r + 1);
        quad psi, psi_s; // long before they are needed
        if (next_layer)
            psi = load(before.psix + at_x(r + 1));
        if (layer)
            psi_s = load(before.psix_s + at_x(r));
        if (NEAR && takes_first())
            expect(h, r);
        if (NEAR && surface && k == 0)
            begin_with_image();
        const int tap = next_tap; // of row r
        next_tap = is_in(r + 1, tap_first, tap_rows) ? bucket_of(g.taps, r + 1, c) : -1;
        const quad p = load(in_shared(s_k.at));
        quad below;
        if (!S::APART)
            below = load(in_shared(rho_h.at));
        if (!S::APART && NEAR && surface && h < 0) // of which not all are in the ring any more
            below = load_constant(g.rho + (ptrdiff_t)(h + 1) * g.pitch + min(c, (g.nx + 7) & ~3));
        float d[V];
#pragma unroll
        for (int v = 0; v < V; v++)
            d[v] = scatter<L>(z1[v], g.w, p.v[v]);
        if (NEAR)
            layer_z(d, 1, h, before.psiz, then.psiz, h >= out_first - L && h < out_end + L - 1);
        if (S::APART) {
            divide(d, of_vz);
            of_vz = ask_density(g.rho_z, h + 1);
        }
#pragma unroll
        for (int v = 0; v < V; v++)
            d[v] = scatter<L>(z2[v], g.w, S::APART ? d[v] : d[v] * reciprocal(above.v[v] + below.v[v]));
        above = below;
        const quad next = load(in_shared(s_x.at));
        if (next_completes)
            velocity_x(r + 1, next_layer, psi, then.psix);
        if (S::APART)
            of_vx = ask_density(g.rho, r + 2);
        if (completes) {
            quad x = along_x<L, false>(in_shared(wx_r), g.w);
            if (layer)
                layer_x(x, psi_s, 0, r, then.psix_s);
            if (NEAR)
                layer_z(d, 0, r, before.psiz_s, then.psiz_s, true);
            advance(x, d);
            if (NEAR && is_in(k, source, source_rows))
                inject(r);
            keep(r, tap);
        }
        now = next;
    }

    __device__ __forceinline__ void velocity_x(int row, bool in_layer, const quad &psi, float *to) {
        quad x = along_x<L, true>(in_shared(s_x.at), g.w);
        if (in_layer)
            layer_x(x, psi, 1, row, to);
        if constexpr (S::APART) {
            divide(x.v, of_vx);
        } else {
            const float *right = in_shared(rho_x.at);
            const quad r = load(right);
            const float beyond = right[V];
#pragma unroll
            for (int v = 0; v < V; v++)
                x.v[v] *= reciprocal(r.v[v] + (v + 1 < V ? r.v[v + 1 < V ? v + 1 : 0] : beyond));
        }
        store(in_shared(wx_w), x);
    }

    __device__ __forceinline__ void advance(const quad &x, const float (&d)[V]) {
        step = load(in_shared(s_k.at + S::E * ROW));
        const quad modulus = load(in_shared(rho_h.at + S::K * ROW));
#pragma unroll
        for (int v = 0; v < V; v++) {
            step.v[v] = fmaf(modulus.v[v], divergence(g, x.v[v], d[v]), step.v[v]);
            now.v[v] += step.v[v];
        }
    }

    // Row r is complete.
    __device__ __forceinline__ void keep(int r, int tap) {
        if (writes()) {
            const ptrdiff_t at = (ptrdiff_t)r * g.pitch + c;
            if (valid == V) {
                store(g.e_out + at, step);
                store(g.s_out + at, now);
            } else {
#pragma unroll
                for (int v = 0; v < V; v++)
                    if (v < valid)
                        g.e_out[at + v] = step.v[v], g.s_out[at + v] = now.v[v];
            }
            return;
        }
        store(in_shared(s_out + S::NEXT * ROW), now);
        store(in_shared(s_k.at + (S::NEXT + S::E) * ROW), step);
        if (tap >= 0)
            store(g.taps.out + t * g.taps.count + tap + c % BUCKET, now);
    }

    __device__ __forceinline__ void inject(int r) {
        const box &b = g.source;
        const int it = *g.now + 1 + t;
        if (it < 1 || it > b.nq || c + V <= b.i || c >= b.i + b.ni)
            return;
        const float q = b.q[it - 1];
        if (q == 0)
            return;
#pragma unroll
        for (int v = 0; v < V; v++)
            if (c + v >= b.i && c + v < b.i + b.ni)
                now.v[v] += b.w[(r - b.k) * b.ni + c + v - b.i] * q;
    }
};

template <int L, int T, int W, int AHEAD, int BLOCKS, bool APART>
__global__ void __launch_bounds__(T *W / V, BLOCKS) step_pass(const __grid_constant__ args g) {
    using S = pass_shape<L, T, W, AHEAD, APART>;
    extern __shared__ __align__(16) float shared[];
    if (block_number() >= g.work) {
        take_turn(g, T);
        sample_within(g, block_number() - g.work, T);
        sample_newest(g, block_number() - g.work);
        return;
    }
    for (int j = threadIdx.x; j < (int)(S::bytes / sizeof(quad)); j += S::N)
        store(shared + V * j, quad{});
    take_turn(g, T);
    __syncthreads();
    const bool pair = is_pair(g.cut, blockIdx.x);
    work job = find_work(g, blockIdx.x);
    if (pair && threadIdx.x % S::G >= S::G / 2)
        job.x0 = g.cut.right_at - W / 2;
    pass<S, L, T> mine(g, job, pair ? W / 2 : W, shared, threadIdx.x);
    const int turns = mine.turns();
    mine.fetch_ahead();
#pragma unroll 1
    for (int turn = 0; turn < turns; turn++) {
        __pipeline_wait_prior(AHEAD - 1);
        __syncthreads();
        mine.take(turn);
    }
}

} // namespace tuned
