// One time step of the `tuned` variant, tile by tile.
//
// A block takes a tile of W x H cells and does everything once for it, in shared memory: s with 2L-1 rows and columns
// around (a cross: div b grad has no corners), then w_x and w_z with L around, then the divergence and the update. A
// thread has 4 columns of R rows, whose sums along z grow while it goes through the rows.
#pragma once

#include "fd2d_tuned.cuh"

namespace tuned {

template <int L, int TX, int TZ, int R> struct tile_shape {
    static constexpr int N = TX * TZ, W = V * TX, H = R * TZ; // threads; columns, rows
    static constexpr int UP = 2 * L - 1;                      // rows of s above and below
    static constexpr int G = (H + UP + TZ - 1) / TZ;          // half rows of w_z of a thread
    static constexpr int P = W + 4 * HALO, PX = W + 2 * HALO; // pitch of s, of w_x
    __host__ __device__ static int tiles_x(const args &g) { return (g.nx + W - 1) / W; }
    __host__ __device__ static int tiles(const args &g) { return tiles_x(g) * ((g.nz + H - 1) / H); }
    static constexpr int ROWS = TZ * G + UP; // of s; those of w_z: TZ * G
    static constexpr bool STAGED = R <= 3;   // room for e and K in shared memory, with two blocks a processor
    static constexpr size_t bytes = (ROWS * P + H * PX + TZ * G * W + (STAGED ? 2 * H * W : 0)) * sizeof(float);
};

template <int L, int TX, int TZ, int R, bool LAYERS> struct tile {
    using S = tile_shape<L, TX, TZ, R>;
    static constexpr int P = S::P, PX = S::PX, W = S::W, H = S::H, N = S::N, UP = S::UP;

    const args &g;
    const int t, tx, tz, x0, first, c; // thread; where it is; first column and row of the tile; column of mine
    float *const s, *const wx, *const wz, *const own;

    __device__ __forceinline__ tile(const args &args_, float *shared)
        : g(args_), t(threadIdx.x), tx(t % TX), tz(t / TX), x0(blockIdx.x % S::tiles_x(args_) * W),
          first(blockIdx.x / S::tiles_x(args_) * H), c(x0 + V * tx), s(shared), wx(s + S::ROWS * P), wz(wx + H * PX),
          own(wz + TZ * S::G * W) {}

    // No layer, surface or end of the grid touches it.
    __device__ __forceinline__ bool inside() const {
        return x0 - HALO >= g.left && x0 + W + HALO <= g.right && x0 + W <= g.nx && first - L >= g.top &&
               first + H + L < g.bottom && (!g.free_top || first >= 2 * L);
    }

    __device__ __forceinline__ int column(int i) const { return min(i, (g.nx + 7) & ~3); }
    __device__ __forceinline__ int strip_column(int i) const {
        return i < 0 || i >= g.nx ? -1 : i < g.left ? i : i >= g.right ? g.left + i - g.right : -1;
    }
    __device__ __forceinline__ int strip_row(int k) const {
        return k < 0 || k >= g.nz ? -1 : k < g.top ? k : k >= g.bottom ? g.top + k - g.bottom : -1;
    }
    __device__ __forceinline__ int image(int k) const { return LAYERS && g.free_top && k < 0 ? -k : k; }
    __device__ __forceinline__ int below_surface(int h) const { return LAYERS && g.free_top && h < 0 ? -h - 1 : h; }

    // Four numbers of s into row n (from first - UP on) of the tile's.
    __device__ __forceinline__ void fetch(int n, int i) const {
        const int k = first - UP + n;
        float *to = s + n * P + 2 * HALO + i;
        if (LAYERS && g.free_top && k < 0) {
            quad x = load(g.s_in + (ptrdiff_t)-k * g.pitch + column(x0 + i));
#pragma unroll
            for (int v = 0; v < V; v++)
                x.v[v] = -x.v[v];
            store(to, x);
        } else
            copy(to, g.s_in + (ptrdiff_t)min(k, g.nz) * g.pitch + column(x0 + i));
    }

    __device__ __forceinline__ void fetch_all() const {
#pragma unroll
        for (int n = tz; n < H + 2 * UP; n += TZ)
            fetch(n, V * tx);
        constexpr int SIDE = 4 * HALO / V; // quads left and right of a row
#pragma unroll
        for (int n = t; n < SIDE * H; n += N) {
            const int q = n % SIDE;
            fetch(UP + n / SIDE, q < SIDE / 2 ? V * (q - SIDE / 2) : W + V * (q - SIDE / 2));
        }
        __pipeline_commit();
    }

    // --- absorbing layers: memory variables are asked for early, long before they are needed ---

    struct psi_along_x {
        int at; // column of a strip, or -1
        quad psi;
    };
    struct psi_along_z {
        int at; // row of a strip, or -1
        quad psi;
        float a, b, ik;
    };
    struct profile {
        quad a, b, ik;
    };
    __device__ __forceinline__ psi_along_x ask_x(const float *from, int k, int i) const {
        psi_along_x m;
        m.at = LAYERS && k < g.nz ? strip_column(i) : -1;
        if (m.at >= 0)
            m.psi = load(from + (ptrdiff_t)k * g.strip_pitch + m.at);
        return m;
    }
    __device__ __forceinline__ psi_along_z ask_z(const float *from, int k, int first_profile) const {
        psi_along_z m;
        m.at = LAYERS ? strip_row(k) : -1;
        if (m.at >= 0) {
            const float *p = g.pz + first_profile * g.nz + k;
            m.a = __ldg(p), m.b = __ldg(p + g.nz), m.ik = __ldg(p + 2 * g.nz);
            m.psi = load(from + (ptrdiff_t)m.at * g.pitch + column(c));
        }
        return m;
    }
    __device__ __forceinline__ profile ask_profile(int first_profile, int i) const {
        profile m;
        if (LAYERS && strip_column(i) >= 0) {
            const float *p = g.px + first_profile * g.px_pitch + i;
            m.a = load_constant(p), m.b = load_constant(p + g.px_pitch), m.ik = load_constant(p + 2 * g.px_pitch);
        }
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
            layer(d.v[v], m.psi.v[v], m.a, m.b, m.ik);
    }

    __device__ __forceinline__ void put(float *to, const quad &x) const {
        if (c + V <= g.nx) {
            store(to, x);
            return;
        }
#pragma unroll
        for (int v = 0; v < V; v++)
            if (c + v < g.nx)
                to[v] = x.v[v];
    }

    // --- velocities ---

    // w_x of row r of the tile at columns i .. i + 3 of the tile.
    __device__ __forceinline__ void velocity_x(int r, int i, psi_along_x &a, const profile &p, bool mine) const {
        const int k = first + r;
        const float *right = g.rho + (ptrdiff_t)min(k, g.nz + 1) * g.pitch + column(x0 + i);
        const quad rho = load_constant(right);
        const float beyond = __ldg(right + V);
        quad x = along_x<L, true>(s + (UP + r) * P + 2 * HALO + i, g.w);
        if (a.at >= 0) {
            layer_x(x, a, p);
            if (mine)
                store(g.psix_out + (ptrdiff_t)k * g.strip_pitch + a.at, a.psi);
        }
#pragma unroll
        for (int v = 0; v < V; v++)
            x.v[v] *= reciprocal(rho.v[v] + (v + 1 < V ? rho.v[v + 1 < V ? v + 1 : 0] : beyond));
        store(wx + r * PX + HALO + i, x);
    }

    __device__ __forceinline__ void all_velocities_x() const {
        constexpr int SIDE = 2 * HALO / V; // quads left and right of a row
        const profile p = ask_profile(3, c);
        psi_along_x m[R];
#pragma unroll
        for (int r = 0; r < R; r++)
            m[r] = ask_x(g.psix_in, first + tz * R + r, c);
#pragma unroll
        for (int r = 0; r < R; r++)
            velocity_x(tz * R + r, V * tx, m[r], p, true);
#pragma unroll
        for (int n = t; n < SIDE * H; n += N) {
            const int q = n % SIDE, i = q < SIDE / 2 ? V * (q - SIDE / 2) : W + V * (q - SIDE / 2);
            const profile beside = ask_profile(3, x0 + i);
            psi_along_x b = ask_x(g.psix_in, first + n / SIDE, x0 + i);
            velocity_x(n / SIDE, i, b, beside, false);
        }
    }

    // M derivatives along z of what is at f: number n is complete when row n + 2L-1 has come.
    template <int M, int PITCH, class END>
    __device__ __forceinline__ void along_z(const float *f, const float *w, END &&end) const {
        quad sum[M];
#pragma unroll
        for (int j = 0; j < M + UP; j++) {
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

    struct densities { // of rows whose w_z a thread computes
        quad rho[S::G + 1];
    };
    __device__ __forceinline__ densities ask_densities() const {
        densities m;
        const int h0 = first - L + tz * S::G;
#pragma unroll
        for (int n = 0; n <= S::G; n++) // above a free surface the image of what is below
            m.rho[n] = load_constant(g.rho + (ptrdiff_t)min(image(h0 + n), g.nz + 1) * g.pitch + column(c));
        return m;
    }

    __device__ __forceinline__ void all_velocities_z(const densities &m) const {
        const int n0 = tz * S::G, h0 = first - L + n0;
        if (n0 >= H + UP)
            return;
        psi_along_z a[S::G];
#pragma unroll
        for (int n = 0; n < S::G; n++)
            a[n] = ask_z(g.psiz_in, below_surface(h0 + n), 3);
        along_z<S::G, P>(s + n0 * P + 2 * HALO + V * tx, g.w, [&](int n, quad &d) {
            const int h = h0 + n;
            if (a[n].at >= 0) {
                layer_z(d, a[n]);
                if (h >= first && h < first + H)
                    put(g.psiz_out + (ptrdiff_t)a[n].at * g.pitch + c, a[n].psi);
            }
#pragma unroll
            for (int v = 0; v < V; v++)
                d.v[v] *= reciprocal(m.rho[n].v[v] + m.rho[n + 1].v[v]);
            store(wz + (n0 + n) * W + V * tx, d);
        });
    }

    // --- update ---

    struct cells { // of a row, as far as they are not in shared memory
        quad e, kk;
        psi_along_x x;
        psi_along_z z;
    };
    __device__ __forceinline__ cells ask(int k) const {
        const ptrdiff_t at = (ptrdiff_t)min(k, g.nz) * g.pitch + column(c);
        cells m;
        if (!S::STAGED)
            m.e = load(g.e + at), m.kk = load_constant(g.kk + at);
        m.x = ask_x(g.psix_s, k, c), m.z = ask_z(g.psiz_s, k, 0);
        return m;
    }

    // A thread's own e or K, of all rows, on their way to shared memory.
    __device__ __forceinline__ void stage(float *to, const float *field) const {
#pragma unroll
        for (int r = 0; r < R; r++)
            copy(to + (tz * R + r) * W + V * tx,
                 field + (ptrdiff_t)min(first + tz * R + r, g.nz) * g.pitch + column(c));
    }

    __device__ __forceinline__ void update(int r, quad &d, cells &m, const profile &p, float q) const {
        const int k = first + r;
        const ptrdiff_t at = (ptrdiff_t)k * g.pitch + c;
        if (S::STAGED)
            m.e = load(own + r * W + V * tx), m.kk = load(own + (H + r) * W + V * tx);
        quad x = along_x<L, false>(wx + r * PX + HALO + V * tx, g.w), now = load(s + (UP + r) * P + 2 * HALO + V * tx);
        if (m.x.at >= 0) {
            layer_x(x, m.x, p);
            store(g.psix_s + (ptrdiff_t)k * g.strip_pitch + m.x.at, m.x.psi);
        }
        if (m.z.at >= 0) {
            layer_z(d, m.z);
            put(g.psiz_s + (ptrdiff_t)m.z.at * g.pitch + c, m.z.psi);
        }
#pragma unroll
        for (int v = 0; v < V; v++) {
            m.e.v[v] = fmaf(m.kk.v[v], divergence(g, x.v[v], d.v[v]), m.e.v[v]);
            now.v[v] += m.e.v[v];
        }
        const box &b = g.source;
        if (q != 0 && k >= b.k && k < b.k + b.nk)
#pragma unroll
            for (int v = 0; v < V; v++)
                if (c + v >= b.i && c + v < b.i + b.ni)
                    now.v[v] += b.w[(k - b.k) * b.ni + c + v - b.i] * q;
        if (!LAYERS) {
            store(g.e + at, m.e);
            store(g.s_out + at, now);
        } else if (k < g.nz) {
            put(g.e + at, m.e);
            put(g.s_out + at, now);
        }
    }

    __device__ __forceinline__ float source_now() const {
        const box &b = g.source;
        if (b.i >= x0 + W || b.i + b.ni <= x0 || b.k >= first + H || b.k + b.nk <= first)
            return 0;
        const int it = *g.now + 1;
        return it >= 1 && it <= b.nq ? b.q[it - 1] : 0;
    }

    __device__ __forceinline__ void run() const {
        cells m[R];
        const densities rho = ask_densities();
        if (S::STAGED)
            stage(own + H * W, g.kk);
        take_turn(g);
        fetch_all();
        if (S::STAGED)
            stage(own, g.e);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        all_velocities_z(rho);
#pragma unroll
        for (int r = 0; r < R; r++)
            m[r] = ask(first + tz * R + r);
        const float q = source_now();
        all_velocities_x();
        const profile p = ask_profile(0, c);
        __pipeline_wait_prior(0);
        __syncthreads();
        along_z<R, W>(wz + tz * R * W + V * tx, g.w, [&](int n, quad &d) { update(tz * R + n, d, m[n], p, q); });
    }
};

template <int L, int TX, int TZ, int R, int BLOCKS>
__global__ void __launch_bounds__(TX *TZ, BLOCKS) step_tile(const __grid_constant__ args g) {
    extern __shared__ __align__(16) float shared[];
    if (samples(g))
        return;
    const tile<L, TX, TZ, R, true> now(g, shared);
    if (now.inside())
        tile<L, TX, TZ, R, false>(g, shared).run();
    else
        now.run();
}

} // namespace tuned
