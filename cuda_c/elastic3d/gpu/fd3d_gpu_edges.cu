// Fills the frame of a subdomain behind sides without a neighbour, before each half step: with the other end of a
// periodic axis, the waves that left through a one-way bottom. Differences along z in the first rows below a free
// surface.
#include "fd3d_gpu.h"
#include "gpu_follow.cuh"

#include <cstring>

enum { ROW = 128, COPIERS = 256 };

// --- boxes of cells --------------------------------------------------------------------------------------------------

struct span { // of a field: numbers first .. first+count-1 of a box `wide` x `high` x ... cells from `at` on
    float *at;
    ptrdiff_t y, z;
    int wide, high;
    size_t first, count;
};

static __device__ float *cell_of(const span &s, size_t n) {
    const size_t row = n / s.wide, plane = row / s.high;
    return s.at + (ptrdiff_t)plane * s.z + (ptrdiff_t)(row - plane * s.high) * s.y + (ptrdiff_t)(n - row * s.wide);
}

static __global__ void __launch_bounds__(COPIERS) copy(span s, float *row, fd3d_gpu_way way) {
    const size_t m = (size_t)blockIdx.x * COPIERS + threadIdx.x;
    if (m >= s.count)
        return;
    float *cell = cell_of(s, s.first + m);
    if (way == FD3D_GPU_OUT)
        row[m] = *cell;
    else
        *cell = way == FD3D_GPU_IN ? row[m] : __frcp_rn(row[m]); // 1/0 is infinite
}

int fd3d_gpu_copy(fd3d_gpu *o, float *field, const int lo[3], const int hi[3], size_t first, size_t count, float *row,
                  fd3d_gpu_way way) {
    const fd3d_gpu_grid *g = &o->grid;
    const span s = {
        field + lo[2] * g->z + lo[1] * g->y + lo[0], g->y, g->z, hi[0] - lo[0], hi[1] - lo[1], first, count};
    if (count == 0)
        return 0;
    copy<<<(unsigned)((count + COPIERS - 1) / COPIERS), COPIERS, 0, o->queue.stream>>>(s, row, way);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

// --- periodic axes ---------------------------------------------------------------------------------------------------

struct three {
    float *at[3];
};

// The frame at both ends of an axis, each from the opposite end: `apart` numbers away.
static __global__ void __launch_bounds__(COPIERS) wrap(span low, span high, three f, ptrdiff_t apart) {
    const size_t m = (size_t)blockIdx.x * COPIERS + threadIdx.x;
    if (m >= low.count)
        return;
    const ptrdiff_t to_low = cell_of(low, m) - low.at, to_high = cell_of(high, m) - high.at;
    float *field = f.at[blockIdx.y] + (low.at - f.at[0]);
    field[to_low] = field[to_low + apart];
    field = f.at[blockIdx.y] + (high.at - f.at[0]);
    field[to_high] = field[to_high - apart];
}

static int wrap_axis(fd3d_gpu *o, int what, int a) {
    const fd3d_gpu_grid *g = &o->grid;
    const ptrdiff_t steps[3] = {1, g->y, g->z};
    int field[3], lo[3], hi[3];
    span s[2];
    three f;
    fd3d_halo_fields(what, 2 * a, field);
    for (int c = 0; c < 3; c++)
        f.at[c] = g->f[field[c]];
    for (int end = 0; end < 2; end++) {
        fd3d_halo_box(o->cfg, 2 * a + end, 0, lo, hi);
        const size_t count = (size_t)(hi[0] - lo[0]) * (size_t)(hi[1] - lo[1]) * (size_t)(hi[2] - lo[2]);
        s[end] = {f.at[0] + lo[2] * g->z + lo[1] * g->y + lo[0], g->y, g->z, hi[0] - lo[0], hi[1] - lo[1], 0, count};
    }
    const dim3 blocks((unsigned)((s[0].count + COPIERS - 1) / COPIERS), 3);
    wrap<<<blocks, COPIERS, 0, o->queue.stream>>>(s[0], s[1], f, o->cfg->n[a] * steps[a]);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

// --- free surface ----------------------------------------------------------------------------------------------------

// True if the thread has a column; `at` is its cell in row 0.
static __device__ bool my_column(const fd3d_gpu_grid &g, ptrdiff_t *at) {
    const int i = blockIdx.x * ROW + threadIdx.x;
    *at = blockIdx.y * g.y + i;
    return i < g.nx;
}

struct surface { // three fields of which differences along z are wanted; their weights, [narrow][component]
    const float *at[3];
    int taps;
    float w[2][3][FD3D_TOP_ROWS][FD3D_TOP_TAPS];
};

// Differences of all rows of one component in a column.
static __global__ void __launch_bounds__(ROW) top_differences(fd3d_gpu_grid g, surface s, int narrows) {
    gpu_follow();
    ptrdiff_t at;
    if (!my_column(g, &at))
        return;
    const int c = blockIdx.z, i = blockIdx.x * ROW + threadIdx.x, j = blockIdx.y;
    const bool narrow = narrows && (i < g.low[0] || i >= g.high[0] || j < g.low[1] || j >= g.high[1]);
    const auto &w = s.w[narrow][c];
    float d[FD3D_TOP_ROWS] = {};
#pragma unroll
    for (int t = 0; t < FD3D_TOP_TAPS; t++) {
        if (t >= s.taps)
            break;
        const float f = s.at[c][at + t * g.z];
#pragma unroll
        for (int k = 0; k < FD3D_TOP_ROWS; k++)
            d[k] = fmaf(w[k][t], f, d[k]);
    }
#pragma unroll
    for (int k = 0; k < FD3D_TOP_ROWS; k++)
        g.top_d[(c * FD3D_TOP_ROWS + k) * g.ny * g.y + at] = d[k];
}

// Before velocities (what = 0) of stresses, before stresses of velocities.
static int surface_rows(fd3d_gpu *o, int what) {
    static const int fields[2][3] = {{FD3D_SXZ, FD3D_SYZ, FD3D_SZZ}, {FD3D_VX, FD3D_VY, FD3D_VZ}};
    const fd3d_gpu_grid *g = &o->grid;
    surface s;
    s.taps = o->top.taps;
    for (int c = 0; c < 3; c++) {
        s.at[c] = g->f[fields[what][c]];
        const int forward = (what == 0) != (c == 2);
        for (int narrow = 0; narrow < 2; narrow++)
            memcpy(s.w[narrow][c], o->top.w[narrow][forward], sizeof s.w[narrow][c]);
    }
    const dim3 blocks((g->nx + ROW - 1) / ROW, g->ny, 3);
    return gpu_launch(&o->queue, o->queue.close, {blocks, ROW, 0}, top_differences, *g, s, o->cfg->narrow);
}

// --- one-way bottom --------------------------------------------------------------------------------------------------

struct leaving { // three fields, what their last row was, their factors
    float *at[3], *before[3];
    const float *g[3];
};

static __global__ void __launch_bounds__(ROW) one_way(fd3d_gpu_grid g, leaving f, int deep) {
    ptrdiff_t at;
    if (!my_column(g, &at))
        return;
    const ptrdiff_t column = (ptrdiff_t)blockIdx.y * g.nx + blockIdx.x * ROW + threadIdx.x;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        float *row = f.at[c] + at + (g.nz - 1) * g.z;
        float above = f.before[c][column], now = *row;
        const float factor = f.g[c][column];
        f.before[c][column] = now;
        for (int m = 0; m < deep; m++) {
            row += g.z;
            const float old = *row;
            now = D3_ONE_WAY(above, factor, now, old);
            *row = now;
            above = old;
        }
    }
}

static int bottom(fd3d_gpu *o, int what) {
    const fd3d_gpu_grid *g = &o->grid;
    static const int fields[2][3] = {{FD3D_SXZ, FD3D_SYZ, FD3D_SZZ}, {FD3D_VX, FD3D_VY, FD3D_VZ}};
    const size_t cells = (size_t)g->nx * (size_t)g->ny;
    leaving f;
    for (int c = 0; c < 3; c++) {
        f.at[c] = g->f[fields[what][c]];
        f.before[c] = o->before + (size_t)(3 * what + c) * cells;
        f.g[c] = o->one_way + (c == 2 ? 0 : cells); // P, S
    }
    one_way<<<dim3((g->nx + ROW - 1) / ROW, g->ny), ROW, 0, o->queue.stream>>>(*g, f, o->cfg->half_length);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

// what = 0: before velocities, so stresses; 1: before stresses.
int fd3d_gpu_edges(fd3d_gpu *o, int what) {
    for (int a = 0; a < 3; a++)
        if (o->cfg->side[2 * a] == FD3D_PERIODIC)
            TRY(wrap_axis(o, 1 - what, a));
    if (o->cfg->side[4] == FD3D_FREE)
        TRY(surface_rows(o, what));
    return o->cfg->side[5] == FD3D_ONE_WAY ? bottom(o, what) : 0;
}
