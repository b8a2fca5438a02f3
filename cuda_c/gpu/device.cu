// The GPUs of this process; the treaty is interfaces/device_c.f90. The twin without CUDA is device_none.c.
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "cuda_err.h"
#include "devmem.h"
#include "iface.h"

enum { OLDEST_MAJOR = 7, OLDEST_MINOR = 5 }; // the oldest architecture the kernels are made for
enum { MOST = 64 };                          // GPUs that are put in order

static int count_usable(cudaError_t *rc) {
    int n = 0;
    // Shots in flight have a stream each; with fewer connections to the GPU than streams they would wait for each
    // other. CUDA reads this once, when it is first called.
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    *rc = cudaGetDeviceCount(&n);
    if (*rc != cudaSuccess) {
        cudaGetLastError(); // so that nobody else stumbles over it
        return 0;
    }
    return n;
}

int device_count(void) {
    cudaError_t rc;
    return count_usable(&rc);
}

int device_why(int length, char *text) {
    cudaError_t rc;
    const int n = count_usable(&rc);
    snprintf(text, length > 0 ? (size_t)length : 0, "%s",
             n > 0               ? ""
             : rc == cudaSuccess ? "no GPU is visible to this process: see nvidia-smi and CUDA_VISIBLE_DEVICES"
                                 : cudaGetErrorString(rc));
    return 0;
}

// --- numbers -------------------------------------------------------------------------------------------------------

// 0 for the best of links; no link at all is the worst.
static int link_rank(int a, int b) {
    int access = 0, rank = 0;
    if (cudaDeviceGetP2PAttribute(&access, cudaDevP2PAttrAccessSupported, a, b) == cudaSuccess && access != 0 &&
        cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, a, b) == cudaSuccess)
        return rank;
    cudaGetLastError();
    return INT_MAX;
}

// CUDA's number of GPU n. Ranks of a node take GPUs one after the other, and those of a group follow each other: so
// each GPU is followed by the one of those left that it is linked best with; of equal ones by CUDA's next.
static int number_of(int n) {
    static int number[MOST], known = 0;
    cudaError_t rc;
    const int count = known > 0 ? known : count_usable(&rc);
    if (n >= count || count > (int)MOST)
        return n;
    if (known == 0) {
        for (int d = 0; d < count; d++)
            number[d] = d;
        for (int d = 1; d < count - 1; d++) {
            int best = d;
            for (int other = d + 1; other < count; other++)
                if (link_rank(number[d - 1], number[other]) < link_rank(number[d - 1], number[best]))
                    best = other;
            for (; best > d; best--)
                std::swap(number[best], number[best - 1]);
        }
        known = count;
    }
    return number[n];
}

static int check_number(int n) {
    cudaError_t rc;
    const int count = count_usable(&rc);
    REQUIRE(n >= 0 && n < count, "GPU %d asked for, but this process sees %d GPU(s)%s%s", n, count,
            rc == cudaSuccess ? "" : ": ", rc == cudaSuccess ? "" : cudaGetErrorString(rc));
    return 0;
}

static __global__ void any_kernel() {}

// GPU n is in use. A build has kernels for some kinds of GPUs (ARCH in the Makefile), and a job may meet others.
static int check_kernels(int n, int major, int minor) {
    cudaFuncAttributes attributes;
    const cudaError_t rc = cudaFuncGetAttributes(&attributes, any_kernel);
    if (rc == cudaErrorNoKernelImageForDevice || rc == cudaErrorInvalidDeviceFunction) {
        cudaGetLastError();
        FAIL("GPU %d has compute capability %d.%d, for which this program was built without kernels: build it with "
             "ARCH=sm_%d%d beside others, or ARCH=all",
             n, major, minor, major, minor);
    }
    CUDA_TRY(rc);
    return 0;
}

int device_use(int n) {
    TRY(check_number(n));
    int major = 0, minor = 0;
    const int number = number_of(n);
    CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, number));
    CUDA_TRY(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, number));
    REQUIRE(major > OLDEST_MAJOR || (major == OLDEST_MAJOR && minor >= OLDEST_MINOR),
            "GPU %d has compute capability %d.%d, the kernels need at least %d.%d", n, major, minor, OLDEST_MAJOR,
            OLDEST_MINOR);
    CUDA_TRY(
        cudaInitDevice(number, cudaDeviceScheduleBlockingSync, cudaInitDeviceFlagsAreValid)); // fails if it is lost
    CUDA_TRY(cudaSetDevice(number));
    return check_kernels(n, major, minor);
}

int device_name(int n, int length, char *text) {
    cudaDeviceProp properties;
    TRY(check_number(n));
    CUDA_TRY(cudaGetDeviceProperties(&properties, number_of(n)));
    snprintf(text, length > 0 ? (size_t)length : 0, "%s", properties.name);
    return 0;
}

int device_id(int n, int length, char *text) {
    cudaDeviceProp properties;
    char address[32], uuid[2 * sizeof properties.uuid.bytes + 1] = "";
    TRY(check_number(n));
    CUDA_TRY(cudaDeviceGetPCIBusId(address, sizeof address, number_of(n)));
    CUDA_TRY(cudaGetDeviceProperties(&properties, number_of(n)));
    for (size_t b = 0; b < sizeof properties.uuid.bytes; b++)
        snprintf(uuid + 2 * b, 3, "%02x", (unsigned)(unsigned char)properties.uuid.bytes[b]);
    snprintf(text, length > 0 ? (size_t)length : 0, "%s %s", address, uuid); // parts of a card (MIG) have its address
    return 0;
}

int device_memory(int n, long *available, long *total) {
    size_t now = 0, all = 0;
    int before = 0;
    *available = *total = 0;
    TRY(check_number(n));
    CUDA_TRY(cudaGetDevice(&before));
    CUDA_TRY(cudaSetDevice(number_of(n)));
    const cudaError_t rc = cudaMemGetInfo(&now, &all);
    CUDA_TRY(cudaSetDevice(before));
    CUDA_TRY(rc);
    *available = (long)now;
    *total = (long)all;
    return 0;
}

// --- rooms ---------------------------------------------------------------------------------------------------------

static dm_pool rooms;

int device_room(long bytes, void *room) {
    *(void **)room = nullptr;
    TRY(dm_alloc(&rooms, room, (size_t)bytes, 1, "what messages carry"));
    CUDA_TRY(cudaStreamSynchronize(cudaStreamLegacy)); // it was zeroed there
    return 0;
}

void device_room_free(void *room) { dm_release(&rooms, room); }
