// The grid of fd3d_ladder_gpu.cu in device memory: random fields and medium, the same numbers whatever the rows'
// length, and how far two sets of fields are apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "../bench_random.h"
#include "cuda_err.h"
#include "devmem.h"
#include "fd3d_gpu.h"

namespace ladder {

static constexpr int FRAME = 2, SPONGE = 20, MEDIA = 5;
// Arrays: fields, memory variables, medium.
static constexpr int FIRST_MEMORY = FD3D_FIELDS, FIRST_MEDIUM = FIRST_MEMORY + FD3D_STRESSES,
                     ARRAYS = FIRST_MEDIUM + MEDIA;

// Number n of the cell, 0 .. 1.
static __device__ float random_number(unsigned cell, unsigned n) { return bench_random(128u * cell + n); }

// Initial value of array `a`: rough rock, and fields at which velocities and stresses weigh alike.
static __device__ float first_value(int a, unsigned cell) {
    const float r = random_number(cell, 100), rho = 2000 + 300 * random_number(cell, 101), vs = 1800 + 300 * r;
    const float vp = 1.8f * vs, mu = rho * vs * vs, q = 0.01f + 0.01f * r;
    const float medium[MEDIA] = {rho, rho * vp * vp - 2 * mu, 1 / mu, q, 2 * q};
    if (a >= FIRST_MEDIUM)
        return medium[a - FIRST_MEDIUM];
    const float one = random_number(cell, a) - 0.5f;
    return a < FD3D_SXX ? one : a < FIRST_MEMORY ? 7e6f * one : 7e4f * one;
}

// The fields [0 .. FIRST_MEDIUM) or the medium [FIRST_MEDIUM .. ARRAYS): cells of the frame have a medium, fields are
// 0.
static __global__ void fill(const fd3d_gpu_grid g, float *origin, ptrdiff_t count, int first, int last) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) - FRAME, j = (int)blockIdx.y - FRAME,
              k = (int)blockIdx.z - FRAME;
    if (i >= g.nx + FRAME)
        return;
    const bool inside = i >= 0 && i < g.nx && j >= 0 && j < g.ny && k >= 0 && k < g.nz;
    const unsigned cell = ((unsigned)(k + FRAME) * (g.ny + 2 * FRAME) + (j + FRAME)) * (g.nx + 2 * FRAME) + (i + FRAME);
    for (int a = first; a < last; a++)
        if (a >= FIRST_MEDIUM || inside)
            origin[a * count + k * g.z + j * g.y + i] = first_value(a, cell);
}

// Of each array: sums of squares of its difference from the compact copy `kept`, and of that. Or makes the copy.
enum compare_way { KEEP, COMPARE };
static __global__ void compare(const fd3d_gpu_grid g, const float *origin, ptrdiff_t count, float *kept,
                               compare_way way, double *sums) {
    const ptrdiff_t cells = (ptrdiff_t)g.nx * g.ny * g.nz;
    const int a = blockIdx.y;
    double apart = 0, all = 0;
    for (ptrdiff_t m = blockIdx.x * (ptrdiff_t)blockDim.x + threadIdx.x; m < cells;
         m += (ptrdiff_t)gridDim.x * blockDim.x) {
        const ptrdiff_t i = m % g.nx, row = m / g.nx;
        const float value = origin[a * count + row / g.ny * g.z + row % g.ny * g.y + i];
        if (way == KEEP)
            kept[a * cells + m] = value;
        const double was = kept[a * cells + m], d = value - was;
        apart += d * d, all += was * was;
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        apart += __shfl_down_sync(0xffffffffu, apart, lanes);
        all += __shfl_down_sync(0xffffffffu, all, lanes);
    }
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sums[2 * a], apart), atomicAdd(&sums[2 * a + 1], all);
}

struct volume {
    fd3d_gpu_grid g = {}; // for the layout chosen last
    fd3d_gpu_grid *on_device = nullptr;
    dm_pool pool = {};
    float *arrays = nullptr, *kept = nullptr, *sponge = nullptr;
    double *sums = nullptr;
    ptrdiff_t count = 0, origin = 0; // numbers of an array, cell (0,0,0) in it
    cudaTextureObject_t textures[MEDIA] = {};

    double cells() const { return (double)g.nx * g.ny * g.nz; }
    float *cell() const { return arrays + origin; } // (0,0,0) of the first array

    int make(int nx, int ny, int nz);
    int lay_out(bool padded);
    int shake();
    int difference(compare_way way, int arrays_compared, double *largest);
    void release();

  private:
    int make_textures();
    int make_sponge();
};

// Texture m is the array of medium m from its first number on.
int volume::make_textures() {
    for (int m = 0; m < MEDIA; m++) {
        cudaResourceDesc memory = {};
        cudaTextureDesc reading = {};
        memory.resType = cudaResourceTypeLinear;
        memory.res.linear.devPtr = arrays + (FIRST_MEDIUM + m) * count;
        memory.res.linear.desc = cudaCreateChannelDesc<float>();
        memory.res.linear.sizeInBytes = (size_t)count * sizeof(float);
        reading.readMode = cudaReadModeElementType;
        CUDA_TRY(cudaCreateTextureObject(&textures[m], &memory, &reading, nullptr));
    }
    return 0;
}

// Factors of each axis; the paper keeps their product as a volume of its own.
int volume::make_sponge() {
    const int n[3] = {g.nx, g.ny, g.nz};
    TRY(dm_alloc(&pool, &sponge, (size_t)(n[0] + n[1] + n[2]), sizeof(float), "the sponge"));
    float *to = sponge;
    for (int a = 0; a < 3; to += n[a++]) {
        std::vector<float> factor((size_t)n[a]);
        for (int i = 0; i < n[a]; i++) {
            const float deep = (float)std::max(0, SPONGE - std::min(i, n[a] - 1 - i)) / (float)SPONGE;
            factor[(size_t)i] = std::exp(-0.09f * deep * deep);
        }
        CUDA_TRY(cudaMemcpy(to, factor.data(), factor.size() * sizeof(float), cudaMemcpyHostToDevice));
        g.sponge[a] = to;
    }
    return 0;
}

int volume::make(int nx, int ny, int nz) {
    release();
    g.nx = nx, g.ny = ny, g.nz = nz;
    const size_t row = (size_t)(nx + 2 * FRAME + 31) / 32 * 32, planes = (size_t)(ny + 2 * FRAME) * (nz + 2 * FRAME);
    count = (ptrdiff_t)((row * planes + 64 + 127) / 128 * 128);
    TRY(dm_alloc(&pool, &arrays, ARRAYS * (size_t)count, sizeof(float), "fields and medium"));
    TRY(dm_alloc(&pool, &kept, FIRST_MEDIUM * (size_t)cells(), sizeof(float), "the fields of the first rung"));
    TRY(dm_alloc(&pool, &sums, 2 * FIRST_MEDIUM, sizeof(double), "sums"));
    TRY(dm_alloc(&pool, &on_device, 1, sizeof g, "the grid"));
    TRY(make_textures());
    TRY(make_sponge());
    const float dt_over_dx = 0.4f / (1.74f * 3780);
    g.w[0] = 9.0f / 8, g.w[1] = -1.0f / 24;
    for (int a = 0; a < 3; a++)
        g.t[a] = dt_over_dx;
    for (int m = 0; m < FD3D_MECHANISMS; m++) {
        g.decay[m] = std::exp(-0.03f / (float)(1 << m));
        g.half[m] = (1 - g.decay[m]) / 2;
        g.strength[0][m] = 1 + 0.1f * (float)m;
    }
    return 0;
}

// The rows' beginnings: behind each other as they come, or padded to multiples of 128 bytes. Fills the medium.
int volume::lay_out(bool padded) {
    const int row = g.nx + 2 * FRAME;
    g.y = padded ? (row + 31) / 32 * 32 : row;
    g.z = g.y * (g.ny + 2 * FRAME);
    origin = (padded ? 32 : FRAME) + FRAME * (g.y + g.z);
    for (int f = 0; f < FD3D_FIELDS; f++)
        g.f[f] = cell() + f * count;
    for (int f = 0; f < FD3D_STRESSES; f++)
        g.r[f] = cell() + (FIRST_MEMORY + f) * count;
    const float **medium[MEDIA] = {&g.m.rho, &g.m.lambda, &g.m.imu, &g.m.qp, &g.m.qs};
    for (int m = 0; m < MEDIA; m++)
        *medium[m] = cell() + (FIRST_MEDIUM + m) * count, g.texture[m] = textures[m];
    g.texture_origin = (int)origin;
    CUDA_TRY(cudaMemcpy(on_device, &g, sizeof g, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemset(arrays, 0, ARRAYS * (size_t)count * sizeof(float)));
    fill<<<dim3((row + 255) / 256, g.ny + 2 * FRAME, g.nz + 2 * FRAME), 256>>>(g, cell(), count, FIRST_MEDIUM, ARRAYS);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

// Random fields again.
int volume::shake() {
    fill<<<dim3((g.nx + 2 * FRAME + 255) / 256, g.ny + 2 * FRAME, g.nz + 2 * FRAME), 256>>>(g, cell(), count, 0,
                                                                                            FIRST_MEDIUM);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

// Largest over the arrays of the relative root mean square difference from the fields kept; or keeps these.
int volume::difference(compare_way way, int arrays_compared, double *largest) {
    double sum[2 * FIRST_MEDIUM];
    CUDA_TRY(cudaMemset(sums, 0, sizeof sum));
    compare<<<dim3(1024, arrays_compared), 256>>>(g, cell(), count, kept, way, sums);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaMemcpy(sum, sums, sizeof sum, cudaMemcpyDeviceToHost));
    *largest = 0;
    for (int a = 0; a < arrays_compared; a++) {
        const double apart = std::sqrt(sum[2 * a] / sum[2 * a + 1]);
        *largest = std::isfinite(apart) ? std::max(*largest, apart) : INFINITY;
    }
    return 0;
}

void volume::release() {
    for (cudaTextureObject_t &t : textures) {
        if (t != 0)
            cudaDestroyTextureObject(t);
        t = 0;
    }
    dm_empty(&pool);
    arrays = kept = sponge = nullptr, sums = nullptr, on_device = nullptr;
    g = {};
}

} // namespace ladder
