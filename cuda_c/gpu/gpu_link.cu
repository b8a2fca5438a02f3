// Memory that partners on GPUs of the same machine store into; see gpu_link.h.
#include "gpu_link.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "iface.h"

enum { BUFFER = 1024, PIECE = 2 << 20 }; // buffers begin, and memory ends, at multiples of these [bytes]
enum { MACHINE = 64, PROCESS = 128, PATH = sizeof(gpu_link_pinned::path) }; // characters
enum { HEAD = 4096 }; // bytes of shared memory before what is shared (interfaces/shared_c.f90)

// Processes that Slurm puts into cgroups of their own: others' GPUs cannot be reached by any handle.
static const char slurm[] = "where Slurm's --gpus-per-task or --gpu-bind hides the GPUs of a node from each other, "
                            "use --gpus-per-node and --gpu-bind=none";

struct ticket_t {
    char kind[8];
    char machine[MACHINE], process[PROCESS];
    unsigned run;
    int hosted;
    size_t bytes, at[GPU_SIDES][GPU_WHATS], count[GPU_SIDES];
    cudaIpcMemHandle_t memory; // or, if hosted,
    char path[PATH];
};
static const char kind[8] = "spllnk2";

// --- the ticket ----------------------------------------------------------------------------------------------------

// This machine since it was started.
static void name_machine(char name[MACHINE]) {
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    memset(name, 0, MACHINE);
    if (file != nullptr) {
        const size_t n = fread(name, 1, MACHINE - 1, file);
        name[n] = 0;
        fclose(file);
    }
    if (name[0] == 0)
        host_name(name, MACHINE);
}

static size_t up(size_t bytes, size_t piece) { return (bytes + piece - 1) / piece * piece; }

static size_t place(const size_t count[GPU_SIDES], size_t at[GPU_SIDES][GPU_WHATS]) {
    size_t bytes = up(sizeof(gpu_link_flags), BUFFER);
    for (int s = 0; s < GPU_SIDES; s++)
        for (int w = 0; w < GPU_WHATS; w++) {
            at[s][w] = bytes;
            bytes += up(count[s] * sizeof(float), BUFFER);
        }
    return up(bytes, PIECE); // what shares no piece with other memory can be given to others without showing more
}

size_t gpu_link_bytes(const size_t count[GPU_SIDES]) {
    size_t at[GPU_SIDES][GPU_WHATS];
    return place(count, at) + sizeof(gpu_link_state);
}

// --- memory of the machine ---------------------------------------------------------------------------------------

static void unpin(gpu_link_pinned *p) {
    if (p->at == nullptr)
        return;
    cudaHostUnregister(p->at);
    cudaGetLastError();
    shared_close(p->at, (long)p->bytes);
    *p = gpu_link_pinned();
}

static int pin(gpu_link_pinned *p, void *at, size_t bytes) {
    void *device = nullptr;
    cudaError_t rc = cudaHostRegister(at, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable);
    if (rc == cudaSuccess) {
        p->at = at;
        p->bytes = bytes;
        rc = cudaHostGetDevicePointer(&device, at, 0);
        p->device = (char *)device + (int)HEAD;
    } else {
        shared_close(at, (long)bytes);
    }
    if (rc == cudaSuccess)
        return 0;
    cudaGetLastError();
    unpin(p);
    FAIL("%zu bytes of memory that processes share cannot be pinned: %s", bytes, cudaGetErrorString(rc));
}

static int make_pinned(gpu_link_pinned *p, size_t bytes) {
    if (p->at != nullptr && p->bytes == HEAD + bytes)
        return 0;
    unpin(p);
    void *at = shared_new((long)(HEAD + bytes), PATH, p->path);
    return at == nullptr || pin(p, at, HEAD + bytes);
}

static int open_pinned(gpu_link *link, int side, const ticket_t *t, char **memory) {
    void *at = strnlen(t->path, PATH) < (size_t)PATH ? shared_open(t->path, (long)(HEAD + t->bytes)) : nullptr;
    REQUIRE(at != nullptr, "the partner's memory cannot be opened");
    TRY(pin(&link->their_pinned[side], at, HEAD + t->bytes));
    *memory = link->their_pinned[side].device;
    return 0;
}

// --- offer ---------------------------------------------------------------------------------------------------------

static int make_once(gpu_queue *q, gpu_link *link) {
    if (link->stream != nullptr)
        return 0;
    int least = 0, greatest = 0;
    TRY(dm_pinned(&q->pool, &link->words, 1, sizeof *link->words, "words between host and waits"));
    TRY(gpu_alloc(q, &link->common.state, 1, sizeof *link->common.state, "the state of links"));
    for (cudaEvent_t *event : {&link->fork, &link->joined})
        if (*event == nullptr)
            CUDA_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    CUDA_TRY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CUDA_TRY(cudaStreamCreateWithPriority(&link->stream, cudaStreamNonBlocking, greatest));
    return 0;
}

int gpu_link_offer(gpu_queue *q, gpu_link *link, const size_t count[GPU_SIDES], int beside, double seconds, int length,
                   char *ticket) {
    ticket_t mine = {};
    REQUIRE((size_t)length >= sizeof mine, "a ticket of %zu bytes does not fit into %d", sizeof mine, length);
    REQUIRE(std::isfinite(seconds) && seconds > 0, "a wait of %g s, must be positive", seconds);
    gpu_link_close(q, link);
    TRY(make_once(q, link));
    const size_t bytes = place(count, link->at);
    link->base = nullptr;
    if (link->hosted) {
        TRY(make_pinned(&link->pinned, bytes));
        memcpy(mine.path, link->pinned.path, sizeof mine.path);
    } else if (link->memory == nullptr || link->bytes != bytes) {
        link->bytes = 0;
        TRY(gpu_alloc(q, &link->memory, bytes, 1, "what comes through the sides of a subdomain"));
        link->bytes = bytes;
    }
    link->base = link->hosted ? link->pinned.device : link->memory;
    memcpy(link->count, count, sizeof link->count);
    link->beside = beside;
    link->seconds = seconds < 1e6 ? seconds : 1e6;
    link->common.nanoseconds = (unsigned long long)(link->seconds * 1e9);
    link->common.words = link->words;
    link->common.clock = q->clock;
    link->common.run++;
    link->words->give_up = 0;
    link->words->late = 0;
    CUDA_TRY(cudaMemsetAsync(link->common.state, 0, sizeof *link->common.state, q->stream));
    TRY(gpu_wait(q));
    memcpy(mine.kind, kind, sizeof kind);
    name_machine(mine.machine);
    lock_self(PROCESS, mine.process);
    mine.run = link->common.run;
    mine.hosted = link->hosted;
    mine.bytes = bytes;
    memcpy(mine.at, link->at, sizeof mine.at);
    memcpy(mine.count, link->count, sizeof mine.count);
    const cudaError_t rc = link->hosted ? cudaSuccess : cudaIpcGetMemHandle(&mine.memory, link->memory);
    if (rc != cudaSuccess) {
        cudaGetLastError();
        FAIL("this GPU's memory cannot be shared with other processes: %s", cudaGetErrorString(rc));
    }
    memset(ticket, 0, (size_t)length);
    memcpy(ticket, &mine, sizeof mine);
    return 0;
}

// --- open and close ------------------------------------------------------------------------------------------------

static int check_ticket(const gpu_link *link, int side, const ticket_t *t) {
    char machine[MACHINE], process[PROCESS] = {};
    const size_t bytes = t->bytes;
    REQUIRE(memcmp(t->kind, kind, sizeof kind) == 0, "the partner cannot share its GPU's memory");
    name_machine(machine);
    REQUIRE(memcmp(t->machine, machine, MACHINE) == 0, "the partner is on another machine");
    lock_self(PROCESS, process);
    REQUIRE(strncmp(t->process, process, PROCESS) != 0, "the partner is this process itself");
    REQUIRE(t->hosted == link->hosted, "one of two partners offers memory of its GPU, the other of the machine");
    for (int w = 0; w < GPU_WHATS; w++)
        REQUIRE(t->count[side ^ 1] == link->count[side] && t->at[side ^ 1][w] <= bytes &&
                    t->count[side ^ 1] <= (bytes - t->at[side ^ 1][w]) / sizeof(float),
                "the partner expects %zu numbers, but it would get %zu", t->count[side ^ 1], link->count[side]);
    return 0;
}

static int open_ipc(gpu_link *link, int side, const ticket_t *t, char **memory) {
    const cudaError_t rc = cudaIpcOpenMemHandle(&link->theirs[side], t->memory, cudaIpcMemLazyEnablePeerAccess);
    if (rc != cudaSuccess) {
        cudaGetLastError();
        link->theirs[side] = nullptr;
        FAIL("the memory of the partner's GPU cannot be opened: %s; %s", cudaGetErrorString(rc), slurm);
    }
    *memory = (char *)link->theirs[side];
    return 0;
}

int gpu_link_open(gpu_queue *q, gpu_link *link, int side, int length, const char *ticket) {
    ticket_t t;
    char *memory = nullptr;
    REQUIRE(side >= 0 && side < GPU_SIDES && link->base != nullptr && link->words->give_up == 0,
            "the memory at side %d opened before this one's was offered", side);
    REQUIRE((size_t)length >= sizeof t, "a ticket of %d bytes, must have %zu", length, sizeof t);
    REQUIRE((link->open & 1 << side) == 0, "the memory at side %d is open already", side);
    memcpy(&t, ticket, sizeof t);
    TRY(check_ticket(link, side, &t));
    TRY(link->hosted ? open_pinned(link, side, &t, &memory) : open_ipc(link, side, &t, &memory));
    gpu_link_side *s = &link->side[side];
    const gpu_link_flags *mine = (const gpu_link_flags *)link->base;
    gpu_link_flags *flags = (gpu_link_flags *)memory;
    s->side = side;
    s->to_run = t.run;
    for (int w = 0; w < GPU_WHATS; w++) {
        s->to[w] = (float *)(memory + t.at[side ^ 1][w]);
        s->to_flag[w] = flags->at[side ^ 1][w];
        s->from[w] = (const float *)(link->base + link->at[side][w]);
        s->flag[w] = mine->at[side][w];
    }
    if (link->open == 0)
        link->close = q->close;
    if (link->beside)
        q->close = 0;
    link->open |= 1 << side;
    gpu_forget_graphs(q);
    return 0;
}

void gpu_link_give_up(gpu_link *link) {
    if (link->words != nullptr)
        link->words->give_up = 1;
}

int gpu_link_check(const gpu_link *link) {
    static const char *const side_name[GPU_SIDES] = {"left", "right", "front", "back", "top", "bottom"};
    if (link->open == 0)
        return 0;
    const gpu_link_words *w = link->words;
    const int step = w->late;
    REQUIRE(step == 0, "%s of step %d did not come through the %s side within %g s: its GPU or process is late or dead",
            w->what == 0 ? "velocities" : "stresses", step > 0 ? step : 0, side_name[(unsigned)w->side % GPU_SIDES],
            link->seconds);
    REQUIRE(w->give_up == 0, "the exchange of halos was given up");
    return 0;
}

int gpu_link_waited(gpu_queue *q, gpu_link *link, double seconds[GPU_SIDES]) {
    unsigned long long nanoseconds[GPU_SIDES];
    TRY(gpu_download(q, nanoseconds, link->common.state->waited, sizeof nanoseconds));
    for (int s = 0; s < GPU_SIDES; s++)
        seconds[s] = 1e-9 * (double)nanoseconds[s];
    return 0;
}

int gpu_link_forget_waits(gpu_queue *q, gpu_link *link) {
    CUDA_TRY(cudaMemsetAsync(link->common.state->waited, 0, sizeof link->common.state->waited, q->stream));
    return gpu_wait(q);
}

// Looks at no result: what fails here has failed, and been told of, before.
void gpu_link_close(gpu_queue *q, gpu_link *link) {
    if (link->stream == nullptr)
        return;
    cudaSetDevice(q->device);
    gpu_link_give_up(link);
    cudaStreamSynchronize(q->stream); // joined with the link's
    cudaStreamSynchronize(link->stream);
    for (int s = 0; s < GPU_SIDES; s++) {
        if (link->theirs[s] != nullptr)
            cudaIpcCloseMemHandle(link->theirs[s]);
        link->theirs[s] = nullptr;
        unpin(&link->their_pinned[s]);
        link->side[s] = gpu_link_side();
    }
    if (link->open != 0) {
        gpu_forget_graphs(q);
        q->close = link->close;
    }
    cudaGetLastError();
    link->open = 0;
}

void gpu_link_free(gpu_queue *q, gpu_link *link) {
    gpu_link_close(q, link);
    for (cudaEvent_t event : {link->fork, link->joined})
        if (event != nullptr)
            cudaEventDestroy(event);
    if (link->stream != nullptr)
        cudaStreamDestroy(link->stream);
    unpin(&link->pinned);
    cudaGetLastError();
    *link = gpu_link();
}

// --- trial -----------------------------------------------------------------------------------------------------------

enum { TRIALS = 8 }; // steps: those of a graph

struct trial {
    int exchanges; // of a step
    int (*step)(void *self);
    void *self;
};

// Twice TRIALS steps before step `it`; the seconds that an exchange of the second half took.
static int time_trials(gpu_queue *q, gpu_link *link, const trial &t, int it, double *seconds) {
    double start = 0;
    gpu_forget_graphs(q);
    for (int half = 0; half < 2; half++) {
        TRY(gpu_begin(q, it - (2 - half) * TRIALS, 1));
        start = host_seconds();
        TRY(gpu_repeat(q, TRIALS, t.step, t.self));
        TRY(gpu_wait(q));
        TRY(gpu_link_check(link));
    }
    *seconds = (host_seconds() - start) / (double)(TRIALS * t.exchanges);
    return 0;
}

static int time_both(gpu_queue *q, gpu_link *link, const trial &t, double *bare, double *full) {
    link->bare = 1;
    const int rc = time_trials(q, link, t, 1 - 2 * TRIALS, bare);
    link->bare = 0;
    TRY(rc);
    TRY(time_trials(q, link, t, 1, full));
    return gpu_link_forget_waits(q, link);
}

int gpu_link_try(gpu_queue *q, gpu_link *link, double seconds, int exchanges, int (*step)(void *self), void *self,
                 double *bare, double *full) {
    const unsigned long long nanoseconds = link->common.nanoseconds;
    const double patience = link->seconds;
    link->seconds = seconds;
    link->common.nanoseconds = (unsigned long long)(seconds * 1e9);
    const int rc = time_both(q, link, {exchanges, step, self}, bare, full);
    link->seconds = patience;
    link->common.nanoseconds = nanoseconds;
    gpu_forget_graphs(q); // they have the numbers of the trial
    return rc;
}

// --- the link's stream ---------------------------------------------------------------------------------------------

int gpu_link_fork(gpu_queue *q, gpu_link *link, cudaStream_t *stream) {
    *stream = link->beside ? link->stream : q->stream;
    if (!link->beside)
        return 0;
    CUDA_TRY(cudaEventRecord(link->fork, q->stream));
    CUDA_TRY(cudaStreamWaitEvent(link->stream, link->fork, 0));
    return 0;
}

int gpu_link_joins(gpu_queue *, gpu_link *link) {
    if (link->beside)
        CUDA_TRY(cudaEventRecord(link->joined, link->stream));
    return 0;
}

int gpu_link_join(gpu_queue *q, gpu_link *link) {
    if (link->beside)
        CUDA_TRY(cudaStreamWaitEvent(q->stream, link->joined, 0));
    return 0;
}
