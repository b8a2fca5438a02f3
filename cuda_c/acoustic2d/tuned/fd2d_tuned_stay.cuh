// Many steps of the `tuned` variant in one launch, for grids whose tiles find room on the GPU all at once.
//
// A block keeps its tile of W x H cells: sigma, what it grows by, the medium and memory variables stay in shared memory
// and registers. Only sigma around the tile comes from other blocks (fd2d_tuned_told.cuh). Velocities and memory
// variables beside a tile are computed by both neighbours. All as in fd2d_tuned_tile.cuh, to the same bits.
//
// All blocks must be there at once, which a cooperative launch vouches for.
#pragma once

#include "fd2d_tuned_told.cuh"

namespace tuned {

template <int L, int R> struct stay_shape {
    static constexpr int N = TX * TZ, W = V * TX, H = R * TZ, ALL = WARPS * WARP; // threads with cells; all
    static constexpr int UP = 2 * L - 1;                                          // rows of s above and below
    static constexpr int G = (H + UP + TZ - 1) / TZ;                              // rows of w_z of a thread
    static constexpr int HX = L <= V ? V : 2 * V; // columns of w_x left and right; s: twice as many
    static constexpr int P = W + 4 * HX, PX = W + 2 * HX;
    static constexpr int ROWS = TZ * G + UP;
    static constexpr int SIDE = 2 * HX / V; // quads of w_x left and right of a row
    static constexpr int ABOVE_BELOW = 2 * UP * TX, AROUND = ABOVE_BELOW + 2 * SIDE * H; // quads of s around
    static constexpr int MINE = (AROUND + N - 1) / N;                                    // of them a thread's
    static constexpr int OWN = 2 * R + 3 * R + 1 + G; // quads that a thread keeps: K, e, memory variables
    static_assert(SIDE * H <= N && UP <= H && UP < TZ + 1 && W + 2 * HX + V <= RIGHT && UP <= ABOVE && TZ * G <= BELOW);
    static constexpr size_t bytes = (ROWS * P + H * PX + TZ * G * W + OWN * V * N) * sizeof(float);
};

template <int L, int R, bool LAYERS> struct staying_tile {
    using S = stay_shape<L, R>;
    static constexpr int P = S::P, PX = S::PX, W = S::W, H = S::H, N = S::N, UP = S::UP, G = S::G, HX = S::HX;
    static constexpr int MINE = S::MINE;
    // Places of a thread's own quads.
    static constexpr int K = 0, E = R, PSI_XS = 2 * R, PSI_ZS = 3 * R, PSI_X = 4 * R, PSI_Z = 5 * R + 1;

    const args &g;
    const int across, x0, first; // tiles of a row; first column and row of the tile
    float *const s, *const wx, *const wz;
    int t, tx, tz, c;      // thread; where it is; column of mine
    float *mine;           // the first of the thread's own quads
    quad bx[R + 1], bz[G]; // 1/rho

    __device__ __forceinline__ staying_tile(const args &args_, float *shared)
        : g(args_), across(g.work / g.down), x0((int)blockIdx.x % across * W), first((int)blockIdx.x / across * H),
          s(shared), wx(s + S::ROWS * P), wz(wx + H * PX), t(threadIdx.x) {
        find_place();
    }

    // Anew in each step, and hidden from the compiler: addresses that it keeps from step to step take registers, and
    // spilled ones take longer than to find them again.
    __device__ __forceinline__ void find_place() {
        asm volatile("" : "+r"(t));
        tx = t % TX, tz = t / TX, c = x0 + V * tx, mine = wz + TZ * G * W + V * t;
    }

    // No layer, surface or end of the grid touches it.
    __device__ __forceinline__ bool inside() const {
        return x0 - HX >= g.left && x0 + W + HX <= g.right && x0 + W <= g.nx && first - L >= g.top &&
               first + H + L < g.bottom && (!g.free_top || first >= 2 * L);
    }

    __device__ __forceinline__ ptrdiff_t at(int k, int i) const { return (ptrdiff_t)k * g.pitch + i; }
    __device__ __forceinline__ float *own(int n) const { return mine + n * V * N; }
    static __device__ __forceinline__ void barrier() { asm volatile("bar.sync 1, %0;" ::"n"(S::N) : "memory"); }
    __device__ __forceinline__ bool below_free_surface() const { return LAYERS && g.free_top && first == 0; }

    // --- places ---

    // Of w_x those of the thread's cells and then, as far as there are enough, one left or right of the tile.
    __device__ __forceinline__ int row_of_wx(int n) const { return n < R ? tz * R + n : t / S::SIDE; }
    __device__ __forceinline__ int column_of_wx(int n) const {
        const int q = t % S::SIDE;
        return n < R ? V * tx : V * (q - S::SIDE / 2) + (q < S::SIDE / 2 ? 0 : W);
    }
    __device__ __forceinline__ bool has_wx(int n) const { return n < R || t < S::SIDE * H; }
    __device__ __forceinline__ int row_of_wz(int n) const { return tz * G + n; } // from first - L on
    __device__ __forceinline__ bool has_wz() const { return tz * G < H + UP; }

    // Of s around the tile: quad m of rows above and below, then of columns left and right.
    __device__ __forceinline__ void find_around(int m, int &row, int &column) const {
        const int n = m / TX, beside = m - S::ABOVE_BELOW, q = beside % (2 * S::SIDE);
        const bool vertical = beside < 0;
        row = vertical ? (n < UP ? n - UP : H + n - UP) : beside / (2 * S::SIDE);
        column = vertical ? m % TX * V : V * (q - S::SIDE) + (q < S::SIDE ? 0 : W);
    }
    __device__ __forceinline__ float *place_of(int row, int column) const {
        return s + (UP + row) * P + 2 * HX + column;
    }

    // --- begin and end of a launch ---

    // Calls `take` for the memory variables that the thread has: number of the quad, where it is in memory, and if the
    // tile is the one that leaves it there.
    template <class TAKE> __device__ __forceinline__ void each_memory_variable(TAKE &&take) const {
        if constexpr (LAYERS) {
#pragma unroll
            for (int n = 0; n <= R; n++) {
                const int in_strip = strip_column(g, x0 + column_of_wx(n));
                if (has_wx(n) && in_strip >= 0)
                    take(PSI_X + n, const_cast<float *>(g.psix_in) + in_strip_x(first + row_of_wx(n), in_strip), n < R);
            }
#pragma unroll
            for (int n = 0; n < G; n++) {
                const int h = first - L + row_of_wz(n), in_strip = strip_row(g, h);
                if (has_wz() && in_strip >= 0)
                    take(PSI_Z + n, const_cast<float *>(g.psiz_in) + at(in_strip, c), h >= first && h < first + H);
            }
#pragma unroll
            for (int r = 0; r < R; r++) {
                const int k = first + tz * R + r, column = strip_column(g, c), row = strip_row(g, k);
                if (column >= 0)
                    take(PSI_XS + r, g.psix_s + in_strip_x(k, column), true);
                if (row >= 0)
                    take(PSI_ZS + r, g.psiz_s + at(row, c), true);
            }
        }
    }
    __device__ __forceinline__ ptrdiff_t in_strip_x(int k, int column) const {
        return (ptrdiff_t)k * g.strip_pitch + column;
    }

    __device__ __forceinline__ static quad over(const quad &a, const quad &b, float both) { // 1/rho between two
        quad x;
#pragma unroll
        for (int v = 0; v < V; v++)
            x.v[v] = reciprocal(fmaf(b.v[v], both, a.v[v]));
        return x;
    }
    __device__ __forceinline__ void find_buoyancies() {
#pragma unroll
        for (int n = 0; n <= R; n++)
            if (has_wx(n)) {
                const float *rho = g.rho + at(first + row_of_wx(n), x0 + column_of_wx(n));
                const quad a = load_constant(rho);
                bx[n] = over(a, {a.v[1], a.v[2], a.v[3], __ldg(rho + V)}, g.both);
            }
#pragma unroll
        for (int n = 0; n < G; n++) {
            const float *rho = g.rho_z + at(first - L + row_of_wz(n), c);
            bz[n] = over(load_constant(rho), load_constant(rho + g.pitch), g.both);
        }
    }

    __device__ __forceinline__ void begin() {
#pragma unroll
        for (int r = 0; r < R; r++) {
            const int row = tz * R + r;
            store(own(K + r), load(g.kk + at(first + row, c)));
            store(own(E + r), load(g.e + at(first + row, c)));
            store(place_of(row, V * tx), load(g.s_in + at(first + row, c)));
        }
        for (int m = t; m < S::AROUND; m += N) {
            int row, column;
            find_around(m, row, column);
            store(place_of(row, column), load(g.s_in + at(first + row, x0 + column)));
        }
        each_memory_variable([&](int n, const float *from, bool) { store(own(n), load(from)); });
        find_buoyancies();
    }
    __device__ __forceinline__ void end() const {
#pragma unroll
        for (int r = 0; r < R; r++) {
            const int row = tz * R + r;
            store(g.e + at(first + row, c), load(own(E + r)));
            store(const_cast<float *>(g.s_in) + at(first + row, c), load(place_of(row, V * tx)));
        }
        each_memory_variable([&](int n, float *to, bool is_mine) {
            if (is_mine)
                store(to, load(own(n)));
        });
    }

    // --- a step ---

    // Sigma around the tile after step n, told with `turn`.
    __device__ __forceinline__ void hear_around(int n, unsigned turn) const {
        const unsigned long long *told = g.stay.told + n % COPIES * g.stay.copy, *from[MINE];
        told_quad q[MINE];
        int row, column;
#pragma unroll
        for (int m = 0; m < MINE; m++) {
            find_around(t + m * N, row, column);
            const int k = first + row, i = x0 + column;
            const bool there = t + m * N < S::AROUND && k >= 0 && k < g.down * H && i >= 0 && i < across * W;
            from[m] = there ? told + at(k, i) : nullptr;
            if (there)
                q[m].hear(from[m]);
        }
#pragma unroll
        for (int m = 0; m < MINE; m++)
            if (from[m] != nullptr) {
                while (!q[m].is_of(turn))
                    q[m].hear(from[m]);
                find_around(t + m * N, row, column);
                store(place_of(row, column), q[m].sigma());
            }
    }

    // Rows above the free surface are the image of those below.
    __device__ __forceinline__ void mirror() const {
        if (tz < UP) {
            quad x = load(place_of(UP - tz, V * tx));
#pragma unroll
            for (int v = 0; v < V; v++)
                x.v[v] = -x.v[v];
            store(place_of(tz - UP, V * tx), x);
        }
        barrier();
    }

    __device__ __forceinline__ void layer_x(quad &d, int n, int half, int i) const {
        const float *p = profile_x(g, half, i);
        const quad a = load_constant(p), b = load_constant(p + V), ik = load_constant(p + 2 * V);
        quad psi = load(own(n));
#pragma unroll
        for (int v = 0; v < V; v++)
            layer(d.v[v], psi.v[v], a.v[v], b.v[v], ik.v[v]);
        store(own(n), psi);
    }
    __device__ __forceinline__ void layer_z(quad &d, int n, int half, int k) const {
        const quad p = load_constant(profile_z(g, half, k));
        quad psi = load(own(n));
#pragma unroll
        for (int v = 0; v < V; v++)
            layer(d.v[v], psi.v[v], p.v[0], p.v[1], p.v[2]);
        store(own(n), psi);
    }

    __device__ __forceinline__ static void times(quad &x, const quad &b) {
#pragma unroll
        for (int v = 0; v < V; v++)
            x.v[v] *= b.v[v];
    }

    __device__ __forceinline__ void velocities_z() const {
        if (!has_wz())
            return;
        along_z<L, G, P>(s + tz * G * P + 2 * HX + V * tx, g.w, [&](int n, quad &d) {
            const int h = first - L + row_of_wz(n);
            if (LAYERS && strip_row(g, h) >= 0)
                layer_z(d, PSI_Z + n, 1, h);
            times(d, bz[n]);
            store(wz + row_of_wz(n) * W + V * tx, d);
        });
    }
    __device__ __forceinline__ void velocities_x() const {
#pragma unroll
        for (int n = 0; n <= R; n++)
            if (has_wx(n)) {
                const int r = row_of_wx(n), i = column_of_wx(n);
                quad x = along_x<L, true>(place_of(r, i), g.w);
                if (LAYERS && strip_column(g, x0 + i) >= 0)
                    layer_x(x, PSI_X + n, 1, x0 + i);
                times(x, bx[n]);
                store(wx + r * PX + HX + i, x);
            }
    }

    // q of step n of the launch, counted from 1; 0 if no cell of the source is in the tile.
    __device__ __forceinline__ float source_of(int n) const {
        const box &b = g.source;
        if (b.i >= x0 + W || b.i + b.ni <= x0 || b.k >= first + H || b.k + b.nk <= first)
            return 0;
        const int it = *g.now + n;
        return it >= 1 && it <= b.nq ? b.q[it - 1] : 0;
    }
    __device__ __forceinline__ void inject(quad &now, int k, float q) const {
        const box &b = g.source;
        if (q == 0 || k < b.k || k >= b.k + b.nk)
            return;
#pragma unroll
        for (int v = 0; v < V; v++)
            if (c + v >= b.i && c + v < b.i + b.ni)
                now.v[v] += b.w[(k - b.k) * b.ni + c + v - b.i] * q;
    }

    // Step n of a row of the thread's cells: kept for the tile, told to its neighbours.
    __device__ __forceinline__ void update(int row, quad &d, int n, unsigned turn, float q) const {
        const int k = first + row, r = row - tz * R;
        const quad kk = load(own(K + r));
        quad e = load(own(E + r)), now = load(place_of(row, V * tx));
        quad x = along_x<L, false>(wx + row * PX + HX + V * tx, g.w);
        if (LAYERS && strip_column(g, c) >= 0)
            layer_x(x, PSI_XS + r, 0, c);
        if (LAYERS && strip_row(g, k) >= 0)
            layer_z(d, PSI_ZS + r, 0, k);
#pragma unroll
        for (int v = 0; v < V; v++) {
            e.v[v] = fmaf(kk.v[v], divergence(g, x.v[v], d.v[v]), e.v[v]);
            now.v[v] += e.v[v];
        }
        inject(now, k, q);
        unsigned long long *to = g.stay.told + n % COPIES * g.stay.copy + at(k, c);
        tell(to, now.v, turn), tell(to + 2, now.v + 2, turn);
        store(own(E + r), e);
        store(place_of(row, V * tx), now);
    }

    __device__ __forceinline__ void run(unsigned turn) {
        begin();
#pragma unroll 1
        for (int n = 1; n <= g.stay.steps; n++) {
            find_place();
            if (n > 1)
                hear_around(n - 1, turn + n - 1);
            if (t == 0)
                wait_for_samples(g, n);
            barrier();
            if (below_free_surface())
                mirror();
            velocities_z();
            velocities_x();
            const float q = source_of(n);
            barrier();
            along_z<L, R, W>(wz + tz * R * W + V * tx, g.w,
                             [&](int r, quad &d) { update(tz * R + r, d, n, turn + n, q); });
        }
        if (t == 0)
            wait_for_samples(g, COPIES); // step 0 is sampled where this launch leaves its last one
        barrier();
        end();
    }
};

template <int L, int R>
__global__ void __launch_bounds__(stay_shape<L, R>::ALL, 2) stay_in_tiles(const __grid_constant__ args g) {
    extern __shared__ __align__(16) float shared[];
    const unsigned turn = g.stay.board->turn;
    const int sampler = find_sampler(g);
    if (sampler >= 0)
        return sample_all_steps(g, sampler, turn);
    staying_tile<L, R, true> tile(g, shared);
    if (tile.inside())
        staying_tile<L, R, false>(g, shared).run(turn);
    else
        tile.run(turn);
}

} // namespace tuned
