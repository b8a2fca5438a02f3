// One time step of the `tuned` variant, tile by tile.
//
// A block takes a tile of W x H cells and does everything once for it, in shared memory: s with 2L-1 rows and columns
// around (a cross: div b grad has no corners), then w_x and w_z with L around, then the divergence and the update. A
// thread has 4 columns of R rows, whose sums along z grow while it goes through the rows.
//
// Instructions are as dear as memory here: a block runs through all of them once, and what does not fit the
// instruction cache is waited for. So margins are wide enough for any tile, no address is clamped, loops have lengths
// that the compiler knows, and tiles in layers are one code for all sides.
#pragma once

#include "fd2d_tuned.cuh"

namespace tuned {

constexpr int TX = 16, TZ = 16; // threads of a block along x and z

template <int L, int R, bool KEEP_V> struct tile_shape {
    static constexpr int N = TX * TZ, W = V * TX, H = R * TZ; // threads; columns, rows
    static constexpr int UP = 2 * L - 1;                      // rows of s above and below
    static constexpr int G = (H + UP + TZ - 1) / TZ;          // half rows of w_z of a thread
    static constexpr int P = W + 4 * HALO, PX = W + 2 * HALO; // pitch of s, of w_x
    static constexpr int ROWS = TZ * G + UP;                  // of s; those of w_z: TZ * G
    static constexpr bool LOW = R <= 2;                       // three blocks a processor, else two
    static constexpr bool K_STAGED = LOW;                     // room for K too, beside e, in shared memory
    static_assert(W + 2 * HALO + V <= RIGHT && UP <= ABOVE && H + UP <= BELOW && TZ * G <= BELOW);
    static constexpr size_t bytes = (ROWS * P + H * PX + TZ * G * W + (K_STAGED + !KEEP_V) * H * W) * sizeof(float);
};

// M derivatives along z of what is at f: number n is complete when row n + 2L-1 has come.
template <int L, int M, int PITCH, class END>
__device__ __forceinline__ void along_z(const float *f, const float *w, END &&end) {
    quad sum[M];
#pragma unroll
    for (int j = 0; j < M + 2 * L - 1; j++) {
        const quad now = load(f + j * PITCH);
#pragma unroll
        for (int n = 0; n < M; n++) {
            const int m = j - (n + L - 1);
#pragma unroll
            for (int v = 0; v < V; v++)
                if (m > -L && m <= L)
                    sum[n].v[v] = add_row<L>(w, m, now.v[v], sum[n].v[v]);
        }
        if (j >= 2 * L - 1)
            end(j - 2 * L + 1, sum[j - 2 * L + 1 < 0 ? 0 : j - 2 * L + 1]);
    }
}

template <int L, int R, bool KEEP_V, bool LAYERS> struct tile {
    using S = tile_shape<L, R, KEEP_V>;
    static constexpr int P = S::P, PX = S::PX, W = S::W, H = S::H, N = S::N, UP = S::UP;

    const args &g;
    const unsigned t, tx, tz; // thread; where it is
    const int x0, first, c;   // first column and row of the tile; column of mine
    float *const s, *const wx, *const wz, *const own;

    // Tiles at the lower end come first, as layers take longest.
    __device__ __forceinline__ tile(const args &args_, float *shared)
        : g(args_), t(threadIdx.x), tx(t % TX), tz(t / TX), x0(blockIdx.x * W),
          first(H * (blockIdx.y > 0 ? blockIdx.y - 1 : args_.down - 1)), c(x0 + V * tx), s(shared), wx(s + S::ROWS * P),
          wz(wx + H * PX), own(wz + TZ * S::G * W) {}

    // No layer, surface or end of the grid touches it.
    __device__ __forceinline__ bool inside() const {
        return x0 - HALO >= g.left && x0 + W + HALO <= g.right && x0 + W <= g.nx && first - L >= g.top &&
               first + H + L < g.bottom && (!g.free_top || first >= 2 * L);
    }

    __device__ __forceinline__ ptrdiff_t at(int k, int i) const { return (ptrdiff_t)k * g.pitch + i; }
    __device__ __forceinline__ int below_surface(int h) const { return g.free_top && h < 0 ? -h - 1 : h; }

    // Four numbers of s into row n (from first - UP on) of the tile's.
    __device__ __forceinline__ void fetch(int n, int i) const {
        copy(s + n * P + 2 * HALO + i, g.s_in + at(first - UP + n, x0 + i));
    }

    // Column of quad q of those left and right of a row.
    template <int ALL> __device__ __forceinline__ static int beside(int q) {
        return V * (q - ALL / 2) + (q < ALL / 2 ? 0 : W);
    }

    // Of w_x a thread has its cells and then, as far as there are enough of them, a quad left or right of the tile.
    static constexpr int SIDE = 2 * HALO / V; // of a row
    static_assert(SIDE * H <= N);
    __device__ __forceinline__ int row_of_wx(int n) const { return n < R ? tz * R + n : t / SIDE; }
    __device__ __forceinline__ int column_of_wx(int n) const { return n < R ? V * tx : beside<SIDE>(t % SIDE); }

    __device__ __forceinline__ void fetch_all() const {
#pragma unroll
        for (int m = 0; m < H + 2 * UP; m += TZ)
            if (m + TZ <= H + 2 * UP || tz + m < H + 2 * UP)
                fetch(tz + m, V * tx);
        constexpr int TWICE = 2 * SIDE; // quads left and right of a row
#pragma unroll
        for (int m = 0; m < TWICE * H; m += N)
            if (m + N <= TWICE * H || t + m < TWICE * H)
                fetch(UP + (t + m) / TWICE, beside<TWICE>(t % TWICE));
        if (KEEP_V)
            fetch_velocities();
        __pipeline_commit();
    }

    // Velocities of the step before wait where the new ones will be: threads find those that they change.
    __device__ __forceinline__ void fetch_velocities() const {
#pragma unroll
        for (int n = 0; n <= R; n++)
            if (n < R || t < SIDE * H) {
                const int r = row_of_wx(n), i = column_of_wx(n);
                copy(wx + r * PX + HALO + i, g.vx_in + at(first + r, x0 + i));
            }
        const int n0 = tz * S::G, h0 = first - L + n0;
#pragma unroll
        for (int n = 0; n < S::G; n++)
            copy(wz + (n0 + n) * W + V * tx, g.vz_in + at(LAYERS ? below_surface(h0 + n) : h0 + n, c));
    }

    // Rows above the free surface are the image of those below.
    __device__ __forceinline__ void mirror() const {
        static_assert(UP <= TZ && UP < H);
        if (tz < UP) {
            quad x = load(s + (2 * UP - tz) * P + 2 * HALO + V * tx);
#pragma unroll
            for (int v = 0; v < V; v++)
                x.v[v] = -x.v[v];
            store(s + tz * P + 2 * HALO + V * tx, x);
        }
        __syncthreads();
    }

    // --- absorbing layers: memory variables are asked for early, long before they are needed ---

    struct psi_along_x {
        int at; // column of a strip, or negative
        quad psi;
    };
    struct psi_along_z {
        int at; // row of a strip, or negative
        quad psi, p;
    };
    struct profile {
        quad a, b, ik;
    };
    __device__ __forceinline__ static ptrdiff_t offset(int n, int pitch) { // neither is negative: cheaper so
        return (ptrdiff_t)((size_t)(unsigned)n * (unsigned)pitch);
    }
    __device__ __forceinline__ ptrdiff_t at_strip_x(int k, int column) const {
        return offset(k, g.strip_pitch) + column;
    }
    __device__ __forceinline__ ptrdiff_t at_strip_z(int row) const { return offset(row, g.pitch) + c; }
    __device__ __forceinline__ psi_along_x ask_x(const float *from, int k, int i) const {
        psi_along_x m;
        m.at = LAYERS ? strip_column(g, i) : -1;
        if (m.at >= 0)
            m.psi = load(from + at_strip_x(k, m.at));
        return m;
    }
    __device__ __forceinline__ psi_along_z ask_z(const float *from, int k, int half) const {
        psi_along_z m;
        m.at = LAYERS ? strip_row(g, k) : -1;
        if (m.at >= 0) {
            m.p = load_constant(profile_z(g, half, k));
            m.psi = load(from + at_strip_z(m.at));
        }
        return m;
    }
    __device__ __forceinline__ profile ask_profile(int half, int i) const {
        profile m;
        const float *p = profile_x(g, half, i);
        m.a = load_constant(p), m.b = load_constant(p + V), m.ik = load_constant(p + 2 * V);
        return m;
    }

    __device__ __forceinline__ void layer_x(quad &d, psi_along_x &m, const profile &p) const {
#pragma unroll
        for (int v = 0; v < V; v++)
            layer(d.v[v], m.psi.v[v], p.a.v[v], p.b.v[v], p.ik.v[v]);
    }
    __device__ __forceinline__ void layer_z(quad &d, psi_along_z &m) const {
#pragma unroll
        for (int v = 0; v < V; v++)
            layer(d.v[v], m.psi.v[v], m.p.v[0], m.p.v[1], m.p.v[2]);
    }

    // --- velocities, or what they grow by ---

    __device__ __forceinline__ quad velocity_before(const float *at) const {
        return KEEP_V ? load(at) : quad{-0.0f, -0.0f, -0.0f, -0.0f};
    }

    struct place_of_wx {
        int r, i; // row and column of the tile
        quad rho;
        float beyond;
        psi_along_x x;
    };
    __device__ __forceinline__ place_of_wx ask_wx(int n) const {
        place_of_wx m;
        m.r = row_of_wx(n), m.i = column_of_wx(n);
        const float *right = g.rho + at(first + m.r, x0 + m.i);
        m.rho = load_constant(right);
        m.beyond = __ldg(right + V);
        m.x = ask_x(g.psix_in, first + m.r, x0 + m.i);
        return m;
    }

    __device__ __forceinline__ void velocity_x(place_of_wx &m, bool mine) const {
        quad x = along_x<L, true>(s + (UP + m.r) * P + 2 * HALO + m.i, g.w);
        if (m.x.at >= 0) {
            layer_x(x, m.x, ask_profile(1, x0 + m.i));
            if (mine)
                store(g.psix_out + at_strip_x(first + m.r, m.x.at), m.x.psi);
        }
        float *to = wx + m.r * PX + HALO + m.i;
        const quad before = velocity_before(to);
#pragma unroll
        for (int v = 0; v < V; v++)
            x.v[v] = fmaf(x.v[v],
                          reciprocal(fmaf(v + 1 < V ? m.rho.v[v + 1 < V ? v + 1 : 0] : m.beyond, g.both, m.rho.v[v])),
                          before.v[v]);
        store(to, x);
        if (KEEP_V && mine)
            store(g.vx_out + at(first + m.r, x0 + m.i), x);
    }

    __device__ __forceinline__ void all_velocities_x() const {
        place_of_wx now = ask_wx(0), next;
#pragma unroll
        for (int n = 0; n <= R; n++) {
            if (n < R)
                next = ask_wx(n + 1);
            if (n < R || t < SIDE * H)
                velocity_x(now, n < R);
            now = next;
        }
    }

    struct densities { // of rows whose w_z a thread computes
        quad rho[S::G + 1];
    };
    __device__ __forceinline__ densities ask_densities() const {
        densities m;
        const int h0 = first - L + tz * S::G;
#pragma unroll
        for (int n = 0; n <= S::G; n++)
            m.rho[n] = load_constant(g.rho_z + at(h0 + n, c));
        return m;
    }

    __device__ __forceinline__ void all_velocities_z(const densities &m) const {
        const int n0 = tz * S::G, h0 = first - L + n0;
        if (n0 >= H + UP)
            return;
        psi_along_z a[S::G];
#pragma unroll
        for (int n = 0; n < S::G; n++)
            a[n] = ask_z(g.psiz_in, below_surface(h0 + n), 1);
        along_z<L, S::G, P>(s + n0 * P + 2 * HALO + V * tx, g.w, [&](int n, quad &d) {
            const int h = h0 + n;
            if (a[n].at >= 0) {
                layer_z(d, a[n]);
                if (h >= first && h < first + H)
                    store(g.psiz_out + at_strip_z(a[n].at), a[n].psi);
            }
            float *to = wz + (n0 + n) * W + V * tx;
            const quad before = velocity_before(to);
#pragma unroll
            for (int v = 0; v < V; v++)
                d.v[v] = fmaf(d.v[v], reciprocal(fmaf(m.rho[n + 1].v[v], g.both, m.rho[n].v[v])), before.v[v]);
            store(to, d);
            if (KEEP_V && h >= first && h < first + H)
                store(g.vz_out + at(h, c), d);
        });
    }

    // --- update ---

    struct cells { // of a row, as far as they are not in shared memory
        quad kk;
        psi_along_x x;
        psi_along_z z;
    };
    __device__ __forceinline__ cells ask(int k) const {
        const ptrdiff_t here = at(k, c);
        cells m;
        if (!S::K_STAGED)
            m.kk = load_constant(g.kk + here);
        m.x = ask_x(g.psix_s, k, c), m.z = ask_z(g.psiz_s, k, 0);
        return m;
    }

    // A thread's own e or K, of all rows, on their way to shared memory.
    __device__ __forceinline__ void stage(float *to, const float *field) const {
#pragma unroll
        for (int r = 0; r < R; r++)
            copy(to + (tz * R + r) * W + V * tx, field + at(first + tz * R + r, c));
    }

    // Beyond the grid, where K is 0, this writes the zeros that are there.
    __device__ __forceinline__ void update(int r, quad &d, cells &m) const {
        const int k = first + r;
        if (S::K_STAGED)
            m.kk = load(own + r * W + V * tx);
        quad e = KEEP_V ? quad{} : load(own + (S::K_STAGED * H + r) * W + V * tx);
        quad x = along_x<L, false>(wx + r * PX + HALO + V * tx, g.w), now = load(s + (UP + r) * P + 2 * HALO + V * tx);
        if (m.x.at >= 0) {
            layer_x(x, m.x, ask_profile(0, c));
            store(g.psix_s + at_strip_x(k, m.x.at), m.x.psi);
        }
        if (m.z.at >= 0) {
            layer_z(d, m.z);
            store(g.psiz_s + at_strip_z(m.z.at), m.z.psi);
        }
#pragma unroll
        for (int v = 0; v < V; v++) {
            float &grows = KEEP_V ? now.v[v] : e.v[v];
            grows = fmaf(m.kk.v[v], divergence(g, x.v[v], d.v[v]), grows);
            if (!KEEP_V)
                now.v[v] += e.v[v];
        }
        if (!KEEP_V)
            store(g.e + at(k, c), e);
        store(g.s_out + at(k, c), now);
    }

    __device__ __forceinline__ float source_now() const {
        const box &b = g.source;
        if (b.i >= x0 + W || b.i + b.ni <= x0 || b.k >= first + H || b.k + b.nk <= first)
            return 0;
        const int it = *g.now + 1;
        return it >= 1 && it <= b.nq ? b.q[it - 1] : 0;
    }

    // Into what this thread has just written.
    __device__ __forceinline__ void inject() const {
        const box &b = g.source;
        const float q = source_now();
        if (q == 0)
            return;
#pragma unroll 1
        for (int k = max(first + tz * R, b.k); k < min(first + tz * R + R, b.k + b.nk); k++)
#pragma unroll 1
            for (int i = max(c, b.i); i < min(c + V, b.i + b.ni); i++)
                g.s_out[(ptrdiff_t)k * g.pitch + i] += b.w[(k - b.k) * b.ni + i - b.i] * q;
    }

    __device__ __forceinline__ void run() const {
        cells m[R];
        const densities rho = ask_densities();
        if (S::K_STAGED)
            stage(own, g.kk);
        take_turn(g);
        fetch_all();
        if (!KEEP_V)
            stage(own + S::K_STAGED * H * W, g.e);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        if (LAYERS && g.free_top && first == 0)
            mirror();
        all_velocities_z(rho);
#pragma unroll
        for (int r = 0; r < R; r++)
            m[r] = ask(first + tz * R + r);
        all_velocities_x();
        __pipeline_wait_prior(0);
        __syncthreads();
        along_z<L, R, W>(wz + tz * R * W + V * tx, g.w, [&](int n, quad &d) { update(tz * R + n, d, m[n]); });
    }
};

template <int L, int R, bool KEEP_V>
__global__ void __launch_bounds__(TX *TZ, tile_shape<L, R, KEEP_V>::LOW ? 3 : 2)
    step_tile(const __grid_constant__ args g) {
    extern __shared__ __align__(16) float shared[];
    if (samples(g))
        return;
    const tile<L, R, KEEP_V, true> now(g, shared);
    if (now.inside())
        tile<L, R, KEEP_V, false>(g, shared).run();
    else
        now.run();
    now.inject();
}

} // namespace tuned
