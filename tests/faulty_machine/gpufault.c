/* A GPU that fails when told to: LD_PRELOAD=gpufault.so GPUFAULT=FILE. Once the process computes on a GPU and FILE
 * exists, or FILE.R for rank R alone, a kernel of one instruction, trap, is launched in the context that the process
 * has there: from then on every call for that GPU fails, as after a fault of the card. Other processes do not notice.
 * Where FILE.full or FILE.full.R exists, all memory that the GPU has left at that time is taken instead, once.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOK = 5000 }; /* microseconds between two looks */

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry spoil() { trap; }\n";

/* Entries of the CUDA driver API, whose handles are pointers and whose devices are numbers. */
typedef int get_count(int *devices);
typedef int get_state(int device, unsigned *flags, int *active);
typedef int retain(void **context, int device);
typedef int set_current(void *context);
typedef int load_data(void **module, const void *image);
typedef int get_function(void **function, void *module, const char *name);
typedef int launch_kernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **arguments, void **extra);

typedef int get_memory(size_t *left, size_t *all);
typedef int take_memory(unsigned long long *at, size_t bytes);

enum { LEAST = 1 << 20 }; /* bytes that may be left */

/* The driver, once this process has a context on a GPU, and which that is. */
static void *wait_for_context(int *device) {
    for (;; usleep(LOOK)) {
        void *cuda = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
        unsigned flags = 0;
        int active = 0, devices = 0;
        if (cuda == NULL)
            continue;
        if (((get_count *)dlsym(cuda, "cuDeviceGetCount"))(&devices) == 0)
            for (*device = 0; *device < devices; ++*device)
                if (((get_state *)dlsym(cuda, "cuDevicePrimaryCtxGetState"))(*device, &flags, &active) == 0 && active)
                    return cuda;
        dlclose(cuda);
    }
}

static int there(const char *file, const char *more) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    char all[4096], own[4096];
    snprintf(all, sizeof all, "%s%s", file, more);
    snprintf(own, sizeof own, "%s%s.%s", file, more, rank != NULL ? rank : "0");
    return access(all, F_OK) == 0 || access(own, F_OK) == 0;
}

static int fill(void *cuda) {
    unsigned long long at;
    size_t left = 0, all = 0;
    int rc = ((get_memory *)dlsym(cuda, "cuMemGetInfo_v2"))(&left, &all);
    for (size_t bytes = left; bytes >= LEAST; bytes /= 2)
        while (((take_memory *)dlsym(cuda, "cuMemAlloc_v2"))(&at, bytes) == 0)
            ;
    return rc;
}

static int trap(void *cuda) {
    void *module = NULL, *kernel = NULL;
    int rc = ((load_data *)dlsym(cuda, "cuModuleLoadData"))(&module, ptx);
    rc = rc ? rc : ((get_function *)dlsym(cuda, "cuModuleGetFunction"))(&kernel, module, "spoil");
    return rc ? rc : ((launch_kernel *)dlsym(cuda, "cuLaunchKernel"))(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static void *spoil(void *word) {
    const char *file = word;
    int device, full = 0;
    void *cuda = wait_for_context(&device), *context = NULL;
    while (!there(file, "") && !(full = there(file, ".full")))
        usleep(LOOK);
    int rc = ((retain *)dlsym(cuda, "cuDevicePrimaryCtxRetain"))(&context, device);
    rc = rc ? rc : ((set_current *)dlsym(cuda, "cuCtxSetCurrent"))(context);
    rc = rc ? rc : full ? fill(cuda) : trap(cuda);
    if (rc != 0)
        fprintf(stderr, "gpufault: CUDA driver says %d, the GPU did not fail\n", rc);
    return NULL;
}

__attribute__((constructor)) static void begin(void) {
    static pthread_t thread;
    char *file = getenv("GPUFAULT");
    if (file != NULL)
        pthread_create(&thread, NULL, spoil, file);
}
