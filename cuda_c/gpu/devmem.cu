// Device and pinned memory by name; see devmem.h.
#include "devmem.h"

#include <cstdint>
#include <cstring>

#include "cuda_err.h"

static dm_pool::dm_block *find(dm_pool *pool, const void *memory) {
    for (int n = 0; n < DM_BLOCKS; n++)
        if (pool->block[n].memory == memory)
            return &pool->block[n];
    return nullptr;
}

static void give_back(dm_pool *pool, dm_pool::dm_block *b) {
    if (b->pinned) {
        cudaFreeHost(b->memory);
        pool->pinned_bytes -= b->bytes;
    } else {
        cudaFree(b->memory);
        pool->bytes -= b->bytes;
    }
    cudaGetLastError(); // a lost device fails here too, and has been told of before
    *b = dm_pool::dm_block();
}

void dm_release(dm_pool *pool, void *place) {
    void *memory;
    memcpy(&memory, place, sizeof memory);
    dm_pool::dm_block *b = memory == nullptr ? nullptr : find(pool, memory);
    if (b != nullptr)
        give_back(pool, b);
    memory = nullptr;
    memcpy(place, &memory, sizeof memory);
}

void dm_empty(dm_pool *pool) {
    for (int n = 0; n < DM_BLOCKS; n++)
        if (pool->block[n].memory != nullptr)
            give_back(pool, &pool->block[n]);
}

static int take(dm_pool *pool, void *place, size_t count, size_t size, const char *what, int pinned) {
    dm_release(pool, place);
    REQUIRE(size == 0 || count < SIZE_MAX / 4 / size, "%s of %zu times %zu bytes is more than can be addressed", what,
            count, size);
    const size_t bytes = count * size > 0 ? count * size : size;
    dm_pool::dm_block *b = find(pool, nullptr);
    REQUIRE(b != nullptr, "no place for %s: a handle keeps at most %d pieces of GPU memory", what, DM_BLOCKS);
    void *memory = nullptr;
    const cudaError_t rc = pinned ? cudaMallocHost(&memory, bytes) : cudaMalloc(&memory, bytes);
    if (rc != cudaSuccess) {
        size_t available = 0, total = 0;
        cudaGetLastError();
        if (cudaMemGetInfo(&available, &total) != cudaSuccess)
            cudaGetLastError();
        FAIL("no %s for %s (%.3f GB; %.3f of %.3f GB of the GPU are free): %s", pinned ? "pinned memory" : "GPU memory",
             what, (double)bytes * 1e-9, (double)available * 1e-9, (double)total * 1e-9, cudaGetErrorString(rc));
    }
    b->memory = memory;
    b->bytes = bytes;
    b->pinned = pinned;
    (pinned ? pool->pinned_bytes : pool->bytes) += bytes;
    memcpy(place, &memory, sizeof memory);
    if (pinned)
        memset(memory, 0, bytes);
    else
        CUDA_TRY(cudaMemset(memory, 0, bytes));
    return 0;
}

int dm_alloc(dm_pool *pool, void *place, size_t count, size_t size, const char *what) {
    return take(pool, place, count, size, what, 0);
}

int dm_pinned(dm_pool *pool, void *place, size_t count, size_t size, const char *what) {
    return take(pool, place, count, size, what, 1);
}
