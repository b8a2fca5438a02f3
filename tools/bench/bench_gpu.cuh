// Common parts of the benchmarks of GPU kernels: the bandwidth of memory measured in the same run, and the end of a
// benchmark without a GPU.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda_err.h"
#include "devmem.h"
#include "iface.h"

namespace bench_gpu {

struct effort { // of a measurement
    int repeats;
    double seconds; // of a repetition, at least
};

inline double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static __global__ void __launch_bounds__(256) triad(float4 *a, const float4 *b, const float4 *c, size_t n) {
    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256) {
        const float4 x = b[i], y = c[i];
        a[i] = make_float4(x.x + 0.5f * y.x, x.y + 0.5f * y.y, x.z + 0.5f * y.z, x.w + 0.5f * y.w);
    }
}

static __global__ void __launch_bounds__(256) fill(float *a, size_t n, unsigned seed) {
    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256)
        a[i] = (float)(((unsigned)i * 2654435761u + seed) >> 8) / 16777216.0f;
}

// Best of seven runs of 20 triads a = b + s c of arrays of 512 MB, 12 bytes a term: bytes a second.
static int measure_triad(double *rate) {
    const size_t n = 512u << 20 >> 2;
    const unsigned blocks = (unsigned)(n / 4 / 256);
    dm_pool pool = {};
    float *a = nullptr, *b = nullptr, *c = nullptr;
    cudaEvent_t start, end;
    TRY(dm_alloc(&pool, &a, n, 4, "the triad"));
    TRY(dm_alloc(&pool, &b, n, 4, "the triad"));
    TRY(dm_alloc(&pool, &c, n, 4, "the triad"));
    fill<<<4096, 256>>>(b, n, 1), fill<<<4096, 256>>>(c, n, 2);
    CUDA_TRY(cudaEventCreate(&start));
    CUDA_TRY(cudaEventCreate(&end));
    *rate = 0;
    for (int run = 0; run < 8; run++) {
        float ms = 0;
        CUDA_TRY(cudaEventRecord(start));
        for (int l = 0; l < 20; l++)
            triad<<<blocks, 256>>>((float4 *)a, (const float4 *)b, (const float4 *)c, n / 4);
        CUDA_TRY(cudaGetLastError());
        CUDA_TRY(cudaEventRecord(end));
        CUDA_TRY(cudaEventSynchronize(end));
        CUDA_TRY(cudaEventElapsedTime(&ms, start, end));
        if (run > 0)
            *rate = std::max(*rate, 20 * 12.0 * (double)n / (ms * 1e-3));
    }
    CUDA_TRY(cudaEventDestroy(start));
    CUDA_TRY(cudaEventDestroy(end));
    dm_empty(&pool);
    return 0;
}

// Says what stands in the way and what that means for the exit status.
static int unable() {
    char why[256] = "";
    const char *need = getenv("NEED_GPU");
    const bool must = need != nullptr && *need != 0 && strcmp(need, "0") != 0;
    device_why(sizeof why, why);
    printf("%s - no GPU: %s\n", must ? "FAIL" : "SKIP", why);
    return must;
}

// Takes GPU 0, measures its memory and prints the head of a table.
[[maybe_unused]] static int begin(double *triad_rate) {
    char name[256] = "";
    TRY(device_use(0));
    TRY(device_name(0, sizeof name, name));
    TRY(measure_triad(triad_rate));
    printf("%s, triad of 512 MB arrays %.2f TB/s\n", name, *triad_rate * 1e-12);
    fflush(stdout);
    return 0;
}

} // namespace bench_gpu
