/* The core of `tuned`: away from sides and receivers of stresses nobody asks for stresses, and they are not
 * kept. Velocities grow by what they grew by in the step before and by what the stresses have grown by since:
 *
 *   v(n+1) = v(n) + a(n+1)     a(n+1) = a(n) + b D C D v(n)     60 bytes a cell, where keeping six stresses takes
 *                                                               120 (D: differences times dx over the spacing;
 *                                                               b: (dt/dx)^2/rho)
 *
 * A block has a tile of cells and marches down z, a warp a row of pairs of cells. Increments of the stresses live in
 * shared memory for a plane; those of the rim of two cells around the tile are computed by the neighbours too.
 *
 *     rr rr rr rr     The next planes are on their way from memory to shared memory while a plane is computed.
 *     rr cc cc rr     Along z, velocities stand in queues of four; a plane of stresses adds at once to the sums
 *     rr cc cc rr     of all planes that it belongs to.
 *     rr rr rr rr */
#include "fd3d_gpu_pace.cuh"
#include "fd3d_tuned.cuh"

#include <climits>
#include <cstring>

#include <cuda_pipeline.h>

using namespace fd3d_tuned;

enum {
    REACH = FD3D_GPU_REACH,
    COLUMNS = FD3D_GPU_COLUMNS,
    ROWS = FD3D_GPU_ROWS,
    PITCH = COLUMNS + 4 * REACH, // of what neighbours read in shared memory
    WARP = 32,
    WARPS = ROWS + 2 * REACH,
    THREADS = WARPS * WARP,
    VELOCITY_ROWS = ROWS + 4 * REACH,
    MORE = VELOCITY_ROWS - WARPS, // rows without a warp
    OWN = WARP * (int)V,
    STAGED = 5, // stresses in shared memory
    START = 5   // planes' time that a block takes to begin
};
static_assert(COLUMNS + 2 * REACH == OWN, "a warp has a row of a tile and its rim");

// Shared memory: what neighbours read, columns from cell -4 of the tile on, rows from the first that is needed on; and
// what a thread reads for itself, a pair a lane. Planes take turns: two are on their way.
struct alignas(16) room {
    float vx[4][VELOCITY_ROWS][PITCH], vy[4][VELOCITY_ROWS][PITCH], vz[5][VELOCITY_ROWS][PITCH];
    float imu[3][WARPS + 1][PITCH], rho[3][ROWS + 1][PITCH];
    float s[2][STAGED][WARPS][PITCH]; // increments of sxx, syy, sxy, sxz, syz
    float a[2][3][ROWS][OWN], lambda[2][WARPS][OWN];
};

// Turns of planes in iteration s: s modulo 2, 3, 4, 5.
struct turns {
    int two = 0, three = 0, four = 0, five = 0;
    __device__ void next() {
        two ^= 1;
        three = three == 2 ? 0 : three + 1;
        four = (four + 1) & 3;
        five = five == 4 ? 0 : five + 1;
    }
};
static __device__ int after(int turn, int n, int steps) { return turn + steps < n ? turn + steps : turn + steps - n; }

// A launch. Distances in bytes from a cell of vx in plane s of iteration s.
struct launch_of {
    int lo[3], hi[3];
    fd3d_gpu_range hole;
    int across, down, deep; // tiles along x, y; planes of a block
    fd3d_gpu_pace *pace;
    unsigned processors;                            // of the GPU: blocks that run at the same time
    ptrdiff_t plane, from_v[3], from_imu, from_rho; // of neighbours: from the first row that is needed on
    ptrdiff_t a[3], lambda, next_v[3];              // of the own pair
    float w[3][2];                                  // weights of differences along the axes, times dx over the spacing
    float twice;                                    // 2 (dt/dx)^2
};

// --- pairs of cells --------------------------------------------------------------------------------------------------

static __device__ vec get(const float *p) {
    const float2 t = *(const float2 *)p;
    return {{t.x, t.y}};
}
static __device__ void put(void *p, const vec &v) { *(float2 *)p = make_float2(v.at[0], v.at[1]); }

// Weighted differences, added to d. Along x: of the pair before, the own, the pair behind.
static __device__ void forward_x(float (&d)[V], const float (&w)[2], const vec &l, const vec &o, const vec &r) {
    d[0] = fmaf(w[1], r.at[0] - l.at[1], fmaf(w[0], o.at[1] - o.at[0], d[0]));
    d[1] = fmaf(w[1], r.at[1] - o.at[0], fmaf(w[0], r.at[0] - o.at[1], d[1]));
}
static __device__ void backward_x(float (&d)[V], const float (&w)[2], const vec &l, const vec &o, const vec &r) {
    d[0] = fmaf(w[1], o.at[1] - l.at[0], fmaf(w[0], o.at[0] - l.at[1], d[0]));
    d[1] = fmaf(w[1], r.at[0] - l.at[1], fmaf(w[0], o.at[1] - o.at[0], d[1]));
}
// Of four rows or planes.
static __device__ void across(float (&d)[V], const float (&w)[2], const vec &p, const vec &q, const vec &r,
                              const vec &s) {
#pragma unroll
    for (int n = 0; n < V; n++)
        d[n] = fmaf(w[1], s.at[n] - p.at[n], fmaf(w[0], r.at[n] - q.at[n], d[n]));
}

// 1/x of what rock has: neither 0 nor infinite. Rounded as in other variants, as a last bit that all of a layer has in
// common would make waves arrive sooner or later.
static __device__ float one_over(float x) {
#ifdef __CUDA_ARCH__
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return fmaf(y, fmaf(-x, y, 1.0f), y);
#else
    return 1.0f / x;
#endif
}
static __device__ float lightness(float twice, float rho, float beside) { return twice * one_over(rho + beside); }

// --- a thread --------------------------------------------------------------------------------------------------------

// From `first` on so many planes.
struct planes {
    int first = 0;
    unsigned n = 0;
    __device__ void set(bool some, int lo, int hi) { first = lo, n = some && hi > lo ? (unsigned)(hi - lo) : 0; }
    __device__ bool have(int k) const { return (unsigned)(k - first) < n; }
};

// A thread's pair of cells.
struct place {
    int i, j, row, column; // in the grid; in shared memory
    int left, top;         // what the tile needs begins there
    int k0, k1;            // planes of the block
    bool interior;         // of the tile
    planes own, hole;      // where it advances, but for the hole

    __device__ place(const launch_of &l, int ny) {
        const int tiles = l.across * l.down, n = blockIdx.x % tiles, lane = threadIdx.x % WARP;
        row = threadIdx.x / WARP;
        column = V * lane + REACH;
        left = l.lo[0] + n % l.across * COLUMNS - 2 * REACH;
        top = l.lo[1] + n / l.across * ROWS - 2 * REACH;
        i = left + REACH + V * lane;
        j = top + REACH + row;
        k0 = l.lo[2] + blockIdx.x / tiles * l.deep;
        k1 = min(k0 + l.deep, l.hi[2]);
        interior = row >= REACH && row < WARPS - REACH && lane > 0 && lane < WARP - 1;
        own.set(interior && i < l.hi[0] && j < l.hi[1], k0, k1);
        const fd3d_gpu_range &b = l.hole; // empty: nothing is in it
        hole.set(i >= b.lo[0] && i < b.hi[0] && j >= b.lo[1] && j < b.hi[1], b.lo[2], b.hi[2]);
        j = min(j, ny - 1); // tiles may reach beyond the grid
    }
    __device__ bool advances(int k) const { return own.have(k) && !hole.have(k); }
};

// Fetches to shared memory what neighbours read: a warp one row of each field, 16 bytes a lane.
struct fetcher {
    room &m;
    const launch_of &l;
    int warp, piece, more_piece; // numbers from the beginning of a plane in shared memory
    const char *from, *more; // the lane's cells of vx in plane s: of row `warp` and of one of those beyond the warps
    bool fetches;

    __device__ fetcher(room &room_, const fd3d_gpu_grid &g, const launch_of &l_, const place &p, int plane)
        : m(room_), l(l_), warp(p.row) {
        const int row = WARPS + warp % MORE, first = threadIdx.x % WARP * 4; // of its cells in a row
        const float *vx = g.f[FD3D_VX] + plane * g.z + p.left + first;
        fetches = first < PITCH;
        piece = warp * PITCH + first;
        more_piece = row * PITCH + first;
        from = (const char *)(vx + min(p.top + warp, g.ny - 1) * g.y);
        more = (const char *)(vx + min(p.top + row, g.ny - 1) * g.y);
    }
    // Rows of a plane; those that there are no warps for by warps from `first` on, a multiple of MORE.
    template <int N> __device__ void rows(float (&to)[N][PITCH], ptrdiff_t distance, int first) const {
        constexpr int left = N - WARPS;
        if (left >= 0 || warp < N)
            __pipeline_memcpy_async(&to[0][0] + piece, from + distance, 16);
        if (left > 0 && warp >= first && warp < first + left)
            __pipeline_memcpy_async(&to[0][0] + more_piece, more + distance, 16);
    }
    // vx, vy of plane s+1, vz of plane s+2; then the plane is over.
    __device__ void velocities(int four, int five, bool only_vz) {
        if (fetches && !only_vz) {
            rows(m.vx[four], l.from_v[0], 0);
            rows(m.vy[four], l.from_v[1], MORE);
        }
        if (fetches)
            rows(m.vz[five], l.from_v[2], 2 * MORE);
        from += l.plane;
        more += l.plane;
    }
    // All that iteration s wants of neighbours, in its turns.
    __device__ void all(int three, int four, int five) {
        if (fetches) {
            rows(m.imu[three], l.from_imu, 3 * MORE);
            rows(m.rho[three], l.from_rho, 0);
        }
        velocities(four, five, false);
    }
};

// The same of what a thread reads for itself; `at`: its pair of vx in plane s.
static __device__ void fetch_own(room &m, const launch_of &l, const place &p, int two, const char *at) {
    const int pair = V * (threadIdx.x % WARP), bytes = V * sizeof(float);
    __pipeline_memcpy_async(&m.lambda[two][p.row][pair], at + l.lambda, bytes);
    if (p.interior)
#pragma unroll
        for (int c = 0; c < 3; c++)
            __pipeline_memcpy_async(&m.a[two][c][p.row - REACH][pair], at + l.a[c], bytes);
}

// Sums of a value over pairs of cells that a shear point lies between, of the plane before: here and left, here and
// front.
struct neighbours {
    float left[V], front[V];
    __device__ void first(const float *p, int y) {
        const vec h = load(p), f = load(p - y);
        left[0] = h.at[0] + __ldg(p - 1), left[1] = h.at[1] + h.at[0];
        front[0] = h.at[0] + f.at[0], front[1] = h.at[1] + f.at[1];
    }
};

// Of cell n of the pair at p in shared memory: sums of the four cells around sxy, sxz, syz.
static __device__ void around(float (&four)[3][V], neighbours &above, const float *p) {
    const vec here = get(p), front = get(p - PITCH);
    const float before[V] = {p[-1], here.at[0]}, corner[V] = {p[-PITCH - 1], front.at[0]};
#pragma unroll
    for (int n = 0; n < V; n++) {
        const float left = here.at[n] + before[n], beside = here.at[n] + front.at[n];
        four[0][n] = left + (front.at[n] + corner[n]);
        four[1][n] = left + above.left[n];
        four[2][n] = beside + above.front[n];
        above.left[n] = left;
        above.front[n] = beside;
    }
}

// --- stresses --------------------------------------------------------------------------------------------------------

// Velocities along z, of the own pair: vx and vy of planes s-2 .. s+1, vz of s-1 .. s+2 in iteration s.
struct column {
    vec q[4];
    __device__ void push(const vec &next) { q[0] = q[1], q[1] = q[2], q[2] = q[3], q[3] = next; }
};

// Strain increments in plane s: normal ones, and those of shear xy, xz, yz.
static __device__ void strain(float (&e)[3][V], float (&shear)[3][V], const room &m, const launch_of &l,
                              const column (&z)[3], const turns &t, int row, int column) {
    const float *x = &m.vx[after(t.four, 4, 3)][row + REACH][column],
                *y = &m.vy[after(t.four, 4, 3)][row + REACH][column],
                *v = &m.vz[after(t.five, 5, 3)][row + REACH][column];
    const vec vx = z[0].q[2], vy = z[1].q[2], vz = z[2].q[1];
    forward_x(e[0], l.w[0], get(x - V), vx, get(x + V));
    across(shear[0], l.w[1], get(x - 2 * PITCH), get(x - PITCH), vx, get(x + PITCH));
    across(shear[1], l.w[2], z[0].q[0], z[0].q[1], z[0].q[2], z[0].q[3]);
    backward_x(shear[0], l.w[0], get(y - V), vy, get(y + V));
    across(e[1], l.w[1], get(y - PITCH), vy, get(y + PITCH), get(y + 2 * PITCH));
    across(shear[2], l.w[2], z[1].q[0], z[1].q[1], z[1].q[2], z[1].q[3]);
    backward_x(shear[1], l.w[0], get(v - V), vz, get(v + V));
    across(shear[2], l.w[1], get(v - 2 * PITCH), get(v - PITCH), vz, get(v + PITCH));
    across(e[2], l.w[2], z[2].q[0], z[2].q[1], z[2].q[2], z[2].q[3]);
}

// Increments of the stresses: to shared memory, but for szz.
static __device__ void increments(vec &szz, room &m, const float (&e)[3][V], const float (&shear)[3][V],
                                  const float (&imu)[3][V], const turns &t, const place &p) {
    const vec own = get(&m.imu[t.three][p.row + 1][p.column]),
              lambda = get(&m.lambda[t.two][p.row][V * (threadIdx.x % WARP)]);
    vec s[STAGED];
#pragma unroll
    for (int n = 0; n < V; n++) {
        const float mu2 = 2 * one_over(own.at[n]), trace = D3_TRACE(e[0][n], e[1][n], e[2][n]);
        s[0].at[n] = D3_NORMAL(lambda.at[n], trace, mu2, e[0][n]);
        s[1].at[n] = D3_NORMAL(lambda.at[n], trace, mu2, e[1][n]);
        szz.at[n] = D3_NORMAL(lambda.at[n], trace, mu2, e[2][n]);
#pragma unroll
        for (int c = 0; c < 3; c++)
            s[2 + c].at[n] = 4 * one_over(imu[c][n]) * shear[c][n];
    }
#pragma unroll
    for (int c = 0; c < STAGED; c++)
        put(&m.s[t.two][c][p.row][p.column], s[c]);
}

// --- velocities ------------------------------------------------------------------------------------------------------

// Of each velocity the sums that are under way: what planes of stresses so far make of it in three planes.
struct sums {
    vec x[3], y[3], z[3]; // plane p-2 .. of vx and vy, p-1 .. of vz, before stresses of plane p
};

// Stresses of plane p, those of the tile in shared memory, are added. Gives the sums that are complete: of vx and vy in
// plane p-2, of vz in plane p-1.
template <class S>
static __device__ void gather(vec (&done)[3], sums &u, const S &stress, const vec &szz, const launch_of &l, int row,
                              int column) {
    const float *xx = &stress[0][row][column], *yy = &stress[1][row][column], *xy = &stress[2][row][column],
                *xz = &stress[3][row][column], *yz = &stress[4][row][column];
    const vec sxx = get(xx), syy = get(yy), sxy = get(xy), sxz = get(xz), syz = get(yz);
    float plane[3][V] = {};
    backward_x(plane[0], l.w[0], get(xx - V), sxx, get(xx + V));
    across(plane[0], l.w[1], get(xy - PITCH), sxy, get(xy + PITCH), get(xy + 2 * PITCH));
    forward_x(plane[1], l.w[0], get(xy - V), sxy, get(xy + V));
    across(plane[1], l.w[1], get(yy - 2 * PITCH), get(yy - PITCH), syy, get(yy + PITCH));
    forward_x(plane[2], l.w[0], get(xz - V), sxz, get(xz + V));
    across(plane[2], l.w[1], get(yz - PITCH), syz, get(yz + PITCH), get(yz + 2 * PITCH));
    const float w0 = l.w[2][0], w1 = l.w[2][1];
#pragma unroll
    for (int n = 0; n < V; n++) {
        const auto shift = [&](vec(&sum)[3], float f, float here, float next) { // of a plane and the one after it
            const float ready = fmaf(w1, f, sum[0].at[n]);
            sum[0].at[n] = fmaf(w0, f, sum[1].at[n]) + here;
            sum[1].at[n] = fmaf(-w0, f, sum[2].at[n]) + next;
            sum[2].at[n] = -w1 * f;
            return ready;
        };
        done[0].at[n] = shift(u.x, sxz.at[n], 0, plane[0][n]);
        done[1].at[n] = shift(u.y, syz.at[n], 0, plane[1][n]);
        done[2].at[n] = shift(u.z, szz.at[n], plane[2][n], 0);
    }
}

// (dt/dx)^2/rho at vx, vy, vz; those at vx and vy come a plane later than the density does.
struct densities {
    vec x, y, above;
    __device__ void next(vec (&b)[3], const float *rho, float twice) {
        const vec here = get(rho), front = get(rho - PITCH);
        const float left[V] = {rho[-1], here.at[0]};
        b[0] = x, b[1] = y;
#pragma unroll
        for (int n = 0; n < V; n++) {
            b[2].at[n] = lightness(twice, here.at[n], above.at[n]);
            x.at[n] = lightness(twice, here.at[n], left[n]);
            y.at[n] = lightness(twice, here.at[n], front.at[n]);
        }
        above = here;
    }
};

// --- the march -------------------------------------------------------------------------------------------------------

// Iteration s finishes velocities with the stresses of plane s-1, then computes those of plane s.
static __global__ void __launch_bounds__(THREADS, 1) advance(const fd3d_gpu_grid g, const launch_of l) {
    extern __shared__ __align__(16) float memory[];
    __shared__ fd3d_pace pace;
    room &m = *(room *)memory;
    gpu_follow();
    const place p(l, g.ny);
    const int first = p.k0 - REACH, last = p.k1 + REACH, row = p.row, col = p.column, pair = V * (threadIdx.x % WARP);
    const ptrdiff_t own = (ptrdiff_t)p.j * g.y + p.i;
    char *at = (char *)(g.f[FD3D_VX] + own + (ptrdiff_t)first * g.z);
    fetcher fetch(m, g, l, p, first - 2);
    if (threadIdx.x == 0)
        pace.begin(l.pace, l.processors, l.deep + 2 * REACH + 1);
    turns t;
    fetch.velocities(2, 3, true); // planes s-2, s-1 before the first
    fetch.velocities(3, 4, false);
    fetch.all(0, 0, 0);
    fetch_own(m, l, p, 0, at);
    __pipeline_commit();
    fetch.all(1, 1, 1);
    fetch_own(m, l, p, 1, at + l.plane);
    __pipeline_commit();

    column z[3] = {};
#pragma unroll
    for (int c = 0; c < 3; c++)
#pragma unroll
        for (int n = 0; n < 3; n++)
            z[c].q[n + 1] = load(g.f[FD3D_VX + c] + own + (first + n - (c == 2 ? 1 : 2)) * g.z);
    neighbours imu_above;
    imu_above.first(g.m.imu + own + (first - 1) * g.z, (int)g.y);
    sums u = {};
    densities light = {};
    vec szz = {};
    unsigned advances = 0; // bit n: in plane s-1-n
    unsigned seen = 0;     // marks

    for (int s = first; s <= last; s++, at += l.plane, t.next()) {
        if (threadIdx.x == 0)
            pace.plane(seen);
        __pipeline_wait_prior(1);
        __syncthreads();
        if (s + 2 <= last)
            fetch.all(after(t.three, 3, 2), after(t.four, 4, 2), after(t.five, 5, 2));
        if (p.interior && s > first) {
            vec done[3], b[3];
            gather(done, u, m.s[t.two ^ 1], szz, l, row, col);
            light.next(b, &m.rho[t.three][row - 1][col], l.twice);
#pragma unroll
            for (int c = 0; c < 3; c++) {
                if (!(advances & (c == 2 ? 2 : 4)))
                    continue;
                const vec old = get(&m.a[t.two][c][row - REACH][pair]);
                vec a, v;
#pragma unroll
                for (int n = 0; n < V; n++) {
                    a.at[n] = fmaf(b[c].at[n], done[c].at[n], old.at[n]);
                    v.at[n] = z[c].q[0].at[n] + a.at[n];
                }
                put(at + l.a[c], a);
                put(at + l.next_v[c], v);
            }
        }
        if (s == last)
            break;
        z[0].push(get(&m.vx[t.four][row + REACH][col]));
        z[1].push(get(&m.vy[t.four][row + REACH][col]));
        z[2].push(get(&m.vz[t.five][row + REACH][col]));
        float e[3][V] = {}, shear[3][V] = {}, imu[3][V];
        strain(e, shear, m, l, z, t, row, col);
        around(imu, imu_above, &m.imu[t.three][row + 1][col]);
        increments(szz, m, e, shear, imu, t, p);
        advances = advances << 1 | p.advances(s);
        if (s + 2 <= last)
            fetch_own(m, l, p, t.two, at + 2 * l.plane); // where this plane's were
        __pipeline_commit();
    }
    if (threadIdx.x == 0)
        pace.end();
}

// --- launches --------------------------------------------------------------------------------------------------------

// Planes of a block: those that keep all processors busy to the end; a block takes as long as START planes to begin.
static int depth(int columns, int planes, int processors) {
    int best = planes;
    long least = LONG_MAX;
    for (int parts = 1; parts <= 32 && parts <= planes; parts++) {
        const int deep = (planes + parts - 1) / parts;
        const long turns = ((long)columns * parts + processors - 1) / processors, time = turns * (deep + START);
        if (time < least) {
            least = time;
            best = deep;
        }
    }
    return best;
}

static ptrdiff_t bytes(const void *to, const void *from) { return (const char *)to - (const char *)from; }

static launch_of make_launch(const fd3d_gpu *o) {
    const fd3d_gpu_grid &g = o->grid;
    const float *from = g.f[FD3D_VX];
    launch_of l = {};
    int processors = 1;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, o->queue.device);
    l.pace = o->core.pace;
    l.processors = (unsigned)processors;
    memcpy(l.lo, o->core.box.lo, sizeof l.lo);
    memcpy(l.hi, o->core.box.hi, sizeof l.hi);
    l.hole = o->core.hole;
    l.across = (l.hi[0] - l.lo[0] + COLUMNS - 1) / COLUMNS;
    l.down = (l.hi[1] - l.lo[1] + ROWS - 1) / ROWS;
    l.deep = depth(l.across * l.down, l.hi[2] - l.lo[2], processors);
    l.plane = (ptrdiff_t)sizeof(float) * g.z;
    for (int c = 0; c < 3; c++) {
        const int done = c == 2 ? 2 : 3; // planes before that of the iteration
        l.from_v[c] = bytes(g.f[FD3D_VX + c] + (c == 2 ? 2 : 1) * g.z, from);
        l.a[c] = bytes(g.a[c] - done * g.z, from);
        l.next_v[c] = bytes(g.next_v[c] - done * g.z, from);
        l.w[c][0] = g.w[0] * (g.t[c] / g.t[0]);
        l.w[c][1] = g.w[1] * (g.t[c] / g.t[0]);
    }
    l.twice = 2 * g.t[0] * g.t[0];
    l.from_imu = bytes(g.m.imu + (REACH - 1) * g.y, from);
    l.from_rho = bytes(g.m.rho + (2 * REACH - 1) * g.y - 2 * g.z, from);
    l.lambda = bytes(g.m.lambda, from);
    return l;
}

int fd3d_tuned_core(fd3d_gpu *o) {
    const launch_of l = make_launch(o);
    const int blocks = l.across * l.down * ((l.hi[2] - l.lo[2] + l.deep - 1) / l.deep);
    return gpu_launch(&o->queue, o->queue.close, {(unsigned)blocks, THREADS, sizeof(room)}, advance, o->grid, l);
}

int fd3d_tuned_core_fits(const fd3d_gpu *o) {
    int most = 0;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, o->queue.device);
    const bool fits =
        sizeof(room) <= (size_t)most &&
        cudaFuncSetAttribute(advance, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(room)) == cudaSuccess;
    cudaGetLastError();
    return fits;
}
