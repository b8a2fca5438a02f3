// One time step of the `tuned` variant, blocks that march down.
//
// A block marches down a strip of T threads x 4 columns. Rows come by asynchronous copies into rings in shared memory,
// each number of s, e, K and rho once (and the few columns and rows that neighbours share). Sums along z are not
// gathered but scattered: a row of s, once read, adds its share to the 2L half rows it matters to, which a thread
// keeps in registers; moving on by a row costs nothing, as each multiply-add writes one register further. Where
// densities of vx and vz are apart (APART), each is needed in one row only, and its ring is as short as that of K.
//
//     row k of s arrives            ->  z1: d s/dz of half rows k-L .. k+L-1;   half row h = k-L is complete: w_z
//     w_z of half row h             ->  z2: d w/dz of rows h-L+1 .. h+L;        row r = k-2L+1 is complete
//     row r+1: s -> w_x (shared memory), one row ahead, so that one barrier a row is enough
//     row r: d w_x/dx + z2, e, s
#pragma once

#include "fd2d_tuned_plan.cuh"

namespace tuned {

constexpr int AHEAD = 3;  // rows fetched ahead
constexpr int STRIP = 64; // columns of a layer along x that are fetched ahead; what is wider is loaded when needed

template <int L, int T, bool APART> struct march_shape {
    static constexpr int P = V * T + 2 * HALO, W = V * T - 2 * HALO; // pitch of a row here; columns a tile writes
    static constexpr int NS = 2 * L + AHEAD, NE = AHEAD + 1;         // rows of the rings of s, of all others
    static constexpr int NR = APART ? 2 * NE : L + AHEAD;            // of rho: of nodes, or of vx and then those of vz
    static constexpr size_t bytes = ((NS + NR + 4 * NE + 2) * P + 2 * HALO + (6 + 2 * NE) * STRIP) * sizeof(float);
};

template <int N, int P> __device__ __forceinline__ int next(int slot) { return slot == (N - 1) * P ? 0 : slot + P; }

// The march of a block. LAYERS: it touches an absorbing layer or the free surface; SOURCE: it may hold the source. Each
// is code that the others need not carry along.
template <int L, int T, bool APART, bool LAYERS, bool SOURCE> struct march {
    using S = march_shape<L, T, APART>;
    static constexpr int P = S::P;

    const args &g;
    const work job;
    const int t, x0, c, me, begin, end; // thread; column of thread 0, mine, mine in a row here; rows of s that are read
    int valid;                          // cells of mine that are written
    bool inner, idle, strip,
        near;      // not in the halo; nobody needs this warp; in a strip along x, and it is fetched ahead
    int xi, place; // column among those of the strips, place of its ring
    const float *s_from, *rho_from, *rho_z_from, *e_from, *kk_from, *rest_from;
    float *const s, *const rho, *const e, *const kk, *const psiz, *const psiz_s,
                                                                      *const wx, *const px, *const psix, *const psix_s;
    int s_fill = 0, rho_fill = 0, e_fill = 0; // slots that are filled next
    int s_k = 0, s_r = (S::NS - (2 * L - 1)) * P, rho_h = 0, rho_x = (S::NR - (L - 1)) % S::NR * P, e_r = 0, wx_r = 0;
    float z1[V][2 * L], z2[V][2 * L];
    quad rho_above;
    float q; // of the source, 0 if it is elsewhere

    __device__ __forceinline__ march(const args &args_, const work &w, float *shared)
        : g(args_), job(w), t(threadIdx.x), x0(w.x0), c(x0 + V * t), me(HALO + V * t), begin(w.first - (2 * L - 1)),
          end(w.end + 2 * L - 1), s(shared), rho(s + S::NS * P), e(rho + S::NR * P), kk(e + S::NE * P),
          psiz(kk + S::NE * P), psiz_s(psiz + S::NE * P), wx(psiz_s + S::NE * P + HALO), px(wx + 2 * P + HALO),
          psix(px + 6 * STRIP), psix_s(psix + S::NE * STRIP) {
        inner = t >= HALO / V && t < T - HALO / V;
        valid = inner ? min(max(g.nx - c, 0), V) : 0;
        idle = x0 + V * (t & ~31) >= g.nx + HALO;
        const int safe = (g.nx + 7) & ~3; // a column right of the grid that stands for all further ones
        const ptrdiff_t first_s = (ptrdiff_t)begin * g.pitch, first_rho = (ptrdiff_t)(begin - L + 1) * g.pitch,
                        first_e = (ptrdiff_t)(begin - 2 * L + 1) * g.pitch;
        s_from = g.s_in + first_s + min(c - HALO, safe);
        rho_from = g.rho + first_rho + min(c, safe);
        if (APART) { // rows of vx begin where w_x is needed next
            rho_from = g.rho + first_e + g.pitch + min(c, safe);
            rho_z_from = g.rho_z + first_rho - g.pitch + min(c, safe);
        }
        e_from = g.e + first_e + min(c, safe);
        kk_from = g.kk + first_e + min(c, safe);
        rest_from =
            t < 4 ? g.s_in + first_s + min(x0 - HALO + V * (T + t), safe) : g.rho + first_rho + min(x0 + V * T, safe);
        set_strip();
        set_source();
#pragma unroll
        for (int v = 0; v < V; v++) {
            rho_above.v[v] = 1;
#pragma unroll
            for (int j = 0; j < 2 * L; j++)
                z1[v][j] = z2[v][j] = 0;
        }
    }

    __device__ __forceinline__ void set_strip() {
        xi = strip_column(g, c);
        strip = LAYERS && xi >= 0;
        const int left = max(0, min(g.left, x0 + V * T) - max(x0, 0)); // columns of the left strip in this tile
        place = c < g.left ? c - max(x0, 0) : left + c - max(g.right, x0);
        near = strip && place < STRIP;
        if (near)
#pragma unroll
            for (int n = 0; n < 6; n++)
                store(px + n * STRIP + place, load(profile_x(g, n / 3, c) + n % 3 * V));
    }

    __device__ __forceinline__ void set_source() {
        const box &b = g.source;
        q = 0;
        if (!SOURCE)
            return;
        const int it = *g.now + 1;
        if (it >= 1 && it <= b.nq)
            q = b.q[it - 1];
    }

    __device__ __forceinline__ void inject(int r, quad &now) const {
        const box &b = g.source;
#pragma unroll
        for (int v = 0; v < V; v++)
            if (c + v >= b.i && c + v < b.i + b.ni)
                now.v[v] += b.w[(r - b.k) * b.ni + c + v - b.i] * q;
    }

    // The half row that a free surface mirrors into half row h above it.
    __device__ __forceinline__ int below_surface(int h) const { return g.free_top && h < 0 ? -h - 1 : h; }

    // Asks for all that is needed when row k of s is in use. STEADY: all of it is there; rows beyond the last are in
    // the margin.
    template <bool STEADY> __device__ __forceinline__ void fetch(int k) {
        if (STEADY || k < end) {
            const int r = k - 2 * L + 1, h = k - L;
            const bool mirror = LAYERS && !STEADY && g.free_top;
            const ptrdiff_t s_up = mirror && k < 0 ? (ptrdiff_t)(-2 * k) * g.pitch : 0;
            const ptrdiff_t rho_up = mirror && h + 1 < 0 ? (ptrdiff_t)(-2 * (h + 1)) * g.pitch : 0;
            copy(s + s_fill + V * t, s_from + s_up);
            if (APART) {
                copy(rho + S::NE * P + e_fill + me, rho_z_from);
                if (STEADY || (r + 1 >= job.first && r + 1 < job.end))
                    copy(rho + e_fill + me, rho_from);
                rho_z_from += g.pitch;
            } else {
                copy(rho + rho_fill + me, rho_from + rho_up);
            }
            if (t < (APART ? 4 : 5))
                copy(t < 4 ? s + s_fill + V * (T + t) : rho + rho_fill + HALO + V * T,
                     rest_from + (t < 4 ? s_up : rho_up));
            if (STEADY || (r >= job.first && r < job.end)) {
                copy(e + e_fill + me, e_from);
                copy(kk + e_fill + me, kk_from);
            }
            if (LAYERS)
                fetch_layers(h, r);
            s_from += g.pitch;
            rho_from += g.pitch;
            e_from += g.pitch;
            kk_from += g.pitch;
            rest_from += g.pitch;
        }
        __pipeline_commit();
        s_fill = next<S::NS, P>(s_fill);
        if (!APART)
            rho_fill = next<S::NR, P>(rho_fill);
        e_fill = next<S::NE, P>(e_fill);
    }

    __device__ __forceinline__ void fetch_layers(int h, int r) {
        const int zh = strip_row(g, below_surface(h)), zr = strip_row(g, r), column = min(c, (g.nx + 7) & ~3);
        if (zh >= 0)
            copy(psiz + e_fill + me, g.psiz_in + (ptrdiff_t)zh * g.pitch + column);
        if (zr >= 0 && r >= job.first && r < job.end)
            copy(psiz_s + e_fill + me, g.psiz_s + (ptrdiff_t)zr * g.pitch + column);
        if (near) {
            const int slot = e_fill / P * STRIP + place;
            if (r + 1 >= job.first && r + 1 < job.end)
                copy(psix + slot, g.psix_in + (ptrdiff_t)(r + 1) * g.strip_pitch + xi);
            if (r >= job.first && r < job.end)
                copy(psix_s + slot, g.psix_s + (ptrdiff_t)r * g.strip_pitch + xi);
        }
    }

    __device__ __forceinline__ void put(float *to, const quad &x) const {
        if (valid == V) {
            store(to, x);
            return;
        }
#pragma unroll
        for (int v = 0; v < V; v++)
            if (v < valid)
                to[v] = x.v[v];
    }

    // A layer along x at row k: profiles first .. first+2; psi from the ring or from memory.
    __device__ __forceinline__ void layer_x(quad &d, int first, const float *ring, const float *from, float *to,
                                            int k) {
        const ptrdiff_t at = (ptrdiff_t)k * g.strip_pitch + xi;
        quad psi, a, b, ik;
        if (near) {
            psi = load(ring + e_r / P * STRIP + place);
            a = load(px + first * STRIP + place), b = load(px + (first + 1) * STRIP + place);
            ik = load(px + (first + 2) * STRIP + place);
        } else {
            psi = load(from + at);
            const float *p = profile_x(g, first / 3, c);
            a = load(p), b = load(p + V), ik = load(p + 2 * V);
        }
#pragma unroll
        for (int v = 0; v < V; v++)
            layer(d.v[v], psi.v[v], a.v[v], b.v[v], ik.v[v]);
        if (inner)
            store(to + at, psi);
    }

    // A layer along z at row k: coefficients are those of the row.
    __device__ __forceinline__ void layer_z(float (&d)[V], const float *ring, float *to, int z, const quad &p,
                                            bool write) {
        quad psi = load(ring + e_r + me);
#pragma unroll
        for (int v = 0; v < V; v++)
            layer(d[v], psi.v[v], p.v[0], p.v[1], p.v[2]);
        if (write)
            put(to + (ptrdiff_t)z * g.pitch + c, psi);
    }

    // STEADY: all parts of a row are at work, and no layer along z or mirrored row is near.
    template <bool STEADY> __device__ __forceinline__ void row(int k) {
        constexpr bool EDGE = LAYERS && !STEADY;
        const int h = k - L, r = k - 2 * L + 1;
        __pipeline_wait_prior(AHEAD - 1);
        __syncthreads();
        fetch<STEADY>(k + AHEAD);
        if (idle)
            return;
        const int hm = EDGE ? below_surface(h) : h, zh = EDGE ? strip_row(g, hm) : -1,
                  zr = EDGE && r >= job.first ? strip_row(g, r) : -1;
        quad ph, pr;
        if (zh >= 0)
            ph = load_constant(profile_z(g, 1, hm));
        if (zr >= 0)
            pr = load_constant(profile_z(g, 0, r));
        const quad p = load(s + s_k + me), rho_below = load(APART ? rho + S::NE * P + e_r + me : rho + rho_h + me);
        const float sign = EDGE && g.free_top && k < 0 ? -1.0f : 1.0f;
        float d[V];
#pragma unroll
        for (int v = 0; v < V; v++)
            d[v] = scatter<L>(z1[v], g.w, EDGE ? sign * p.v[v] : p.v[v]);
        if (STEADY || h >= job.first - L) {
            if (zh >= 0)
                layer_z(d, psiz, g.psiz_out, zh, ph, h >= job.first && h < job.end);
#pragma unroll
            for (int v = 0; v < V; v++)
                d[v] =
                    scatter<L>(z2[v], g.w, d[v] * reciprocal(APART ? rho_below.v[v] : rho_above.v[v] + rho_below.v[v]));
        }
        rho_above = rho_below;
        if (STEADY || (r + 1 >= job.first && r + 1 < job.end))
            velocity_x(r + 1);
        if (STEADY || r >= job.first) {
            quad x = along_x<L, false>(wx + wx_r + V * t, g.w);
            if (strip && inner)
                layer_x(x, 0, psix_s, g.psix_s, g.psix_s, r);
            if (zr >= 0)
                layer_z(d, psiz_s, g.psiz_s, zr, pr, true);
            update(r, x, d);
        }
        wx_r = P - wx_r;
        s_k = next<S::NS, P>(s_k);
        s_r = next<S::NS, P>(s_r);
        if (!APART) {
            rho_h = next<S::NR, P>(rho_h);
            rho_x = next<S::NR, P>(rho_x);
        }
        e_r = next<S::NE, P>(e_r);
    }

    __device__ __forceinline__ void velocity_x(int k) {
        quad x = along_x<L, true>(s + next<S::NS, P>(s_r) + me, g.w);
        if (strip)
            layer_x(x, 3, psix, g.psix_in, g.psix_out, k);
        const float *right = rho + (APART ? e_r : rho_x) + me;
        const quad r = load(right);
#pragma unroll
        for (int v = 0; v < V; v++)
            x.v[v] *= reciprocal(APART ? r.v[v] : r.v[v] + (v + 1 < V ? r.v[v + 1 < V ? v + 1 : 0] : right[V]));
        store(wx + P - wx_r + V * t, x);
    }

    __device__ __forceinline__ void update(int r, const quad &x, const float (&d)[V]) {
        quad now = load(s + s_r + me), step = load(e + e_r + me);
        const quad k = load(kk + e_r + me);
#pragma unroll
        for (int v = 0; v < V; v++) {
            step.v[v] = fmaf(k.v[v], divergence(g, x.v[v], d[v]), step.v[v]);
            now.v[v] += step.v[v];
        }
        if (SOURCE && q != 0 && r >= g.source.k && r < g.source.k + g.source.nk)
            inject(r, now);
        const ptrdiff_t at = (ptrdiff_t)r * g.pitch + c;
        if (valid == V) {
            store(g.e + at, step);
            store(g.s_out + at, now);
        } else {
            put(g.e + at, step);
            put(g.s_out + at, now);
        }
    }

    __device__ __forceinline__ void run() {
#pragma unroll
        for (int n = 0; n < AHEAD; n++)
            fetch<false>(begin + n);
        const int from = max(job.first, LAYERS ? g.top : 0) + 2 * L - 1;
        const int to = min(job.end + 2 * L - 2, LAYERS ? g.bottom + L - 1 : end);
        int k = begin;
        for (; k < min(from, end); k++)
            row<false>(k);
        for (; k < to; k++)
            row<true>(k);
        for (; k < end; k++)
            row<false>(k);
    }
};

template <int L, int T, bool APART>
__global__ void __launch_bounds__(T, (L > 4   ? 256
                                      : L > 2 ? 384
                                              : 448) /
                                         T) step_march(const __grid_constant__ args g) {
    extern __shared__ __align__(16) float shared[];
    using S = march_shape<L, T, APART>;
    if (samples(g))
        return;
    take_turn(g);
    const work job = find_work(g, blockIdx.x);
    const int c0 = job.x0;
    const box &b = g.source;
    const bool source = b.i < c0 + V * T && b.i + b.ni > c0 && b.k < job.end && b.k + b.nk > job.first;
    const bool inside = c0 >= g.left && c0 + V * T <= g.right && job.first - L >= g.top && job.end + L < g.bottom &&
                        (!g.free_top || job.first >= 2 * L);
    if (source)
        march<L, T, APART, true, true>(g, job, shared).run();
    else if (inside)
        march<L, T, APART, false, false>(g, job, shared).run();
    else
        march<L, T, APART, true, false>(g, job, shared).run();
}

} // namespace tuned
