// Elements whose numbers come from the host in each step; see sem3d_stream.h.
#include <cstdio>
#include <cstring>

#include "sem3d_gpu.h"

enum { ROW = 32 };                              // floats: parts of a packet begin with a row
enum { COPIES, CAME, WAITS, GOES_ON, WATCHES }; // times that are watched of a packet

static const char *const what = "elements that come from the host";

static size_t rows_of(size_t floats) { return (floats + ROW - 1) / ROW * ROW; }

// --- new and free --------------------------------------------------------------------------------------------------

static int new_event(cudaEvent_t *event, unsigned flags) {
    CUDA_TRY(cudaEventCreateWithFlags(event, flags));
    return 0;
}

int sem3d_gpu_stream_make(sem3d_gpu *o, const sem3d_load load[2]) {
    sem3d_gpu_stream *s = &o->stream;
    s->variables = load[0].back / sizeof(float);
    if (s->plan.buffer == 0)
        return 0;
    const size_t coming = (size_t)(load[0].elements - o->kept[0] + SEM3D_PATTERN_BRICK);
    s->room =
        (sem3d_packets_host(&s->plan, load) - (load[0].elements == 0 ? 0 : coming * load[0].back)) / sizeof(float);
    TRY(dm_pinned(&o->queue.pool, &s->numbers, s->room, sizeof(float), what));
    if (s->variables > 0)
        TRY(dm_pinned(&o->queue.pool, &s->memory, coming * s->variables, sizeof(float), "memory variables"));
    for (float *&buffer : s->buffer)
        TRY(gpu_alloc(&o->queue, &buffer, s->plan.buffer, 1, what));
    CUDA_TRY(cudaStreamCreateWithFlags(&s->in, cudaStreamNonBlocking));
    CUDA_TRY(cudaStreamCreateWithFlags(&s->out, cudaStreamNonBlocking));
    o->queue.close = 0; // copies of other streams go between kernels
    for (int b = 0; b < SEM3D_BUFFERS; b++)
        TRY(new_event(&s->here[b], cudaEventDisableTiming) || new_event(&s->done[b], cudaEventDisableTiming) ||
            new_event(&s->left[b], cudaEventDisableTiming));
    return new_event(&s->joined, cudaEventDisableTiming);
}

static void drop_events(cudaEvent_t *event, int n) {
    for (int m = 0; m < n && event != nullptr; m++) {
        if (event[m] != nullptr)
            cudaEventDestroy(event[m]);
        event[m] = nullptr;
    }
}

// Looks at no result, as gpu_close.
void sem3d_gpu_stream_free(sem3d_gpu *o) {
    sem3d_gpu_stream *s = &o->stream;
    if (s->in == nullptr || cudaSetDevice(o->queue.device) != cudaSuccess)
        return;
    cudaStreamSynchronize(s->in);
    cudaStreamSynchronize(o->queue.stream);
    if (s->out != nullptr)
        cudaStreamSynchronize(s->out);
    drop_events(s->home, s->n);
    drop_events(s->watch, WATCHES * s->n);
    for (cudaEvent_t *events : {s->here, s->done, s->left})
        drop_events(events, SEM3D_BUFFERS);
    drop_events(&s->joined, 1);
    cudaStreamDestroy(s->in);
    if (s->out != nullptr)
        cudaStreamDestroy(s->out);
    s->in = s->out = nullptr;
    s->n = 0;
    cudaGetLastError();
}

// --- packets ---------------------------------------------------------------------------------------------------------

// The packet of bricks from .. to-1 and the places of its parts; the bricks of its phase begin with `first`.
static sem3d_packet packet_of(const sem3d *fd, int fluid, int first, int from, int to, size_t at) {
    const sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    const sem3d_brick *brick = fd->order.brick;
    const int before = fluid ? fd->cfg.solid : 0;
    sem3d_packet p = {};
    p.fluid = fluid;
    p.first = brick[from].first - before;
    p.elements = brick[to - 1].last - brick[from].first;
    p.brick = from - first;
    p.bricks = to - from;
    p.at = at;
    const size_t n = (size_t)p.elements;
    p.medium = rows_of(n * sem3d_geometry_size(o->shape));
    p.share = p.medium + rows_of(n * sem3d_medium_size(&fd->cfg, o->shape, fluid));
    p.floats = p.share + (fluid ? 0 : rows_of(n * sem3d_share_size(&fd->cfg)));
    p.memory = p.floats;
    p.memories = fluid ? 0 : n * o->stream.variables;
    p.home = fluid ? 0 : (size_t)(p.first - o->kept[0]) * o->stream.variables;
    return p;
}

// The packets of a phase, whose bricks are first .. last-1, or only their number; o->kept becomes what it is.
static int cut_phase(sem3d *fd, int fluid, int first, int last, size_t *at, sem3d_packet *list) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    const sem3d_brick *brick = fd->order.brick;
    const int before = fluid ? fd->cfg.solid : 0, most = o->stream.plan.kept[fluid];
    int n = 0, from = first;
    while (from < last && brick[from].last - before <= most)
        from++;
    o->kept[fluid] = from < last ? brick[from].first - before : o->phase[fluid].e.n;
    o->stream.kept_bricks[fluid] = from - first;
    for (int to; from < last; from = to, n++) {
        to = sem3d_packet_end(brick, from, last, o->stream.plan.packet[fluid]);
        if (list == nullptr)
            continue;
        list[n] = packet_of(fd, fluid, first, from, to, *at);
        *at += list[n].floats;
    }
    return n;
}

// The fluid's packets come first, as a step begins with them.
int sem3d_gpu_stream_cut(sem3d *fd, int bricks) {
    sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    sem3d_gpu_stream *s = &o->stream;
    const int solid = fd->order.solid_bricks;
    size_t at = 0;
    if (s->plan.buffer == 0)
        return 0;
    drop_events(s->home, s->n);
    drop_events(s->watch, WATCHES * s->n);
    s->n = s->watched = s->chunks = 0;
    const int n = cut_phase(fd, 1, solid, bricks, &at, nullptr) + cut_phase(fd, 0, 0, solid, &at, nullptr);
    TRY(host_alloc(&fd->h.memory, &s->packet, (size_t)n, sizeof *s->packet, what));
    TRY(host_alloc(&fd->h.memory, &s->home, (size_t)n, sizeof *s->home, what));
    TRY(host_alloc(&fd->h.memory, &s->watch, (size_t)(WATCHES * n), sizeof *s->watch, what));
    const int fluid = cut_phase(fd, 1, solid, bricks, &at, s->packet);
    cut_phase(fd, 0, 0, solid, &at, s->packet + fluid);
    REQUIRE(at <= s->room, "packets of %d elements are larger than was planned", fd->cfg.elements);
    s->n = n;
    for (int p = 0; p < n; p++)
        TRY(new_event(&s->home[p], cudaEventDisableTiming));
    for (int p = 0; p < WATCHES * n; p++)
        TRY(new_event(&s->watch[p], cudaEventDefault));
    return 0;
}

void sem3d_gpu_stream_fill(sem3d *fd, const sem3d_given *given) {
    const sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    for (int n = 0; n < o->stream.n; n++) {
        const sem3d_packet *p = &o->stream.packet[n];
        const int first = p->first + (p->fluid ? fd->cfg.solid : 0);
        float *at = o->stream.numbers + p->at;
        sem3d_fill(fd, given, o->shape, first, first + p->elements, at, at + p->medium);
    }
}

void sem3d_gpu_stream_quality(sem3d *fd, const float *bulk, const float *shear) {
    const sem3d_gpu *o = sem3d_gpu_own(&fd->h);
    for (int n = 0; n < o->stream.n; n++) {
        const sem3d_packet *p = &o->stream.packet[n];
        if (!p->fluid)
            sem3d_fill_shares(fd, o->phase[0].e.decay, bulk, shear, p->first, p->first + p->elements,
                              o->stream.numbers + p->at + p->share);
    }
}

// --- a step ----------------------------------------------------------------------------------------------------------

static int watch(sem3d_gpu_stream *s, int packet, int which, cudaStream_t stream) {
    if (s->measures)
        CUDA_TRY(cudaEventRecord(s->watch[WATCHES * packet + which], stream));
    return 0;
}

static int bring(sem3d_gpu_stream *s, int packet, int b) {
    const sem3d_packet &p = s->packet[packet];
    CUDA_TRY(cudaStreamWaitEvent(s->in, s->left[b], 0));
    if (p.memories > 0)
        CUDA_TRY(cudaStreamWaitEvent(s->in, s->home[packet], 0));
    TRY(watch(s, packet, COPIES, s->in));
    CUDA_TRY(cudaMemcpyAsync(s->buffer[b], s->numbers + p.at, p.floats * sizeof(float), cudaMemcpyHostToDevice, s->in));
    if (p.memories > 0)
        CUDA_TRY(cudaMemcpyAsync(s->buffer[b] + p.memory, s->memory + p.home, p.memories * sizeof(float),
                                 cudaMemcpyHostToDevice, s->in));
    TRY(watch(s, packet, CAME, s->in));
    CUDA_TRY(cudaEventRecord(s->here[b], s->in));
    return 0;
}

static int compute(sem3d_gpu *o, int packet, int b) {
    sem3d_gpu_stream *s = &o->stream;
    const sem3d_packet &p = s->packet[packet];
    sem3d_gpu_phase ph = o->phase[p.fluid];
    ph.brick += p.brick;
    ph.bricks = p.bricks;
    ph.e.from = p.first;
    ph.e.geometry = s->buffer[b];
    ph.e.medium = s->buffer[b] + p.medium;
    ph.e.share = s->buffer[b] + p.share;
    ph.e.memory = s->buffer[b] + p.memory;
    TRY(watch(s, packet, WAITS, o->queue.stream));
    CUDA_TRY(cudaStreamWaitEvent(o->queue.stream, s->here[b], 0));
    TRY(watch(s, packet, GOES_ON, o->queue.stream));
    TRY(o->kind->forces(o, &ph, p.fluid, nullptr, p.elements));
    CUDA_TRY(cudaEventRecord(s->done[b], o->queue.stream));
    return 0;
}

static int take_home(sem3d_gpu_stream *s, int packet, int b) {
    const sem3d_packet &p = s->packet[packet];
    CUDA_TRY(cudaStreamWaitEvent(s->out, s->done[b], 0));
    if (p.memories > 0) {
        CUDA_TRY(cudaMemcpyAsync(s->memory + p.home, s->buffer[b] + p.memory, p.memories * sizeof(float),
                                 cudaMemcpyDeviceToHost, s->out));
        CUDA_TRY(cudaEventRecord(s->home[packet], s->out));
    }
    CUDA_TRY(cudaEventRecord(s->left[b], s->out));
    return 0;
}

// Part m of n of the bricks that stay.
static int compute_kept(sem3d_gpu *o, int fluid, int m, int n) {
    sem3d_gpu_phase ph = o->phase[fluid];
    const long all = o->stream.kept_bricks[fluid], from = all * m / n, to = all * (m + 1) / n;
    if (from == to)
        return 0;
    ph.brick += from;
    ph.bricks = (int)(to - from);
    return o->kind->forces(o, &ph, fluid, nullptr, ph.e.n);
}

int sem3d_gpu_stream_forces(sem3d_gpu *o, int fluid) {
    sem3d_gpu_stream *s = &o->stream;
    int first = 0, n = 0;
    while (first < s->n && s->packet[first].fluid != fluid)
        first++;
    while (first + n < s->n && s->packet[first + n].fluid == fluid)
        n++;
    for (int p = first; p < first + n; p++, s->turn++) {
        const int b = (int)(s->turn % SEM3D_BUFFERS);
        TRY(bring(s, p, b));
        TRY(compute(o, p, b));
        TRY(take_home(s, p, b));
        TRY(compute_kept(o, fluid, p - first, n));
    }
    s->watched |= s->measures;
    return n == 0 ? compute_kept(o, fluid, 0, 1) : 0;
}

// A chunk begins when all that was queued before is done, and ends when its packets are home.
static int join(sem3d_gpu_stream *s, cudaStream_t first, cudaStream_t second) {
    CUDA_TRY(cudaEventRecord(s->joined, first));
    CUDA_TRY(cudaStreamWaitEvent(second, s->joined, 0));
    return 0;
}

int sem3d_gpu_stream_begin(sem3d_gpu *o) {
    o->stream.chunks++;
    return join(&o->stream, o->queue.stream, o->stream.in);
}

int sem3d_gpu_stream_end(sem3d_gpu *o) {
    return join(&o->stream, o->stream.in, o->queue.stream) || join(&o->stream, o->stream.out, o->queue.stream);
}

// --- for the record --------------------------------------------------------------------------------------------------

// Of the step that was watched: time of copies to the GPU, and how long its queue waited for them [ms].
static bool measured(const sem3d_gpu_stream *s, double *copies, double *waits) {
    *copies = *waits = 0;
    for (int p = 0; p < s->n && s->watched; p++) {
        const cudaEvent_t *w = s->watch + WATCHES * p;
        float copy = 0, wait = 0;
        if (cudaEventElapsedTime(&copy, w[COPIES], w[CAME]) != cudaSuccess ||
            cudaEventElapsedTime(&wait, w[WAITS], w[GOES_ON]) != cudaSuccess) {
            cudaGetLastError();
            return false;
        }
        *copies += (double)copy;
        *waits += (double)wait;
    }
    return *copies > 0;
}

void sem3d_gpu_stream_device(handle *h, char *text, size_t length) {
    const sem3d_gpu *o = sem3d_gpu_own(h);
    const sem3d_gpu_stream *s = &o->stream;
    size_t in = 0, out = 0;
    double copies, waits;
    char name[256];
    gpu_device_name(h, name, sizeof name);
    const int written = snprintf(text, length, "%s", name);
    if (s->n == 0 || written < 0 || (size_t)written >= length)
        return;
    for (int p = 0; p < s->n; p++) {
        in += (s->packet[p].floats + s->packet[p].memories) * sizeof(float);
        out += s->packet[p].memories * sizeof(float);
    }
    const double stay = 100.0 * (o->kept[0] + o->kept[1]) / o->cfg->elements;
    const int more = snprintf(text + written, length - (size_t)written,
                              ", %.4g GB in and %.4g GB out a step in %d packets, %.0f %% of the elements stay",
                              1e-9 * (double)in, 1e-9 * (double)out, s->n, stay);
    if (more > 0 && (size_t)(written + more) < length && measured(s, &copies, &waits))
        snprintf(text + written + more, length - (size_t)(written + more),
                 ", in at %.1f GB/s, %.0f %% of that time behind kernels", 1e-6 * (double)in / copies,
                 100 * (waits < copies ? 1 - waits / copies : 0));
}
