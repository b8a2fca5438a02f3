// Scaling of a 3D shot over GPUs, a process each: pieces exchange halos from GPU to GPU or through the host.
//
// Without words: the table, weak 128^3, 256^3, 384^3 a process, elastic and with Q, strong 384^3 and 512^3; --quick:
// weak 128^3 and 256^3, elastic, shorter; or one case, see usage(), core being a sparse elastic grid.
//
// Processes: as many as there are GPUs, and 2 that share the GPU where there is one (such figures say nothing of
// scaling). The program starts its processes itself and needs no MPI; they share a piece of host memory. Pieces have 20
// cells of C-PML beside outer sides, a free surface, half-length 2, no sources and no receivers. `alone`: each process
// steps a piece of that size and those layers with nothing beyond the sides of neighbours, all at the same time;
// strong: one process the whole grid. A line: microseconds a step of the slowest process, and of them the part that
// `alone` takes; with Q, GFLOP/s a process by the 307 operations a cell and step of AWP-ODC. Ways: ipc, kernels store
// into the neighbour's memory beside the inner cells; host, into memory of the
// machine; ipc-after, host-after, the same after all cells; swap, halo_get and halo_put by hosts, as between machines,
// rim before, inner cells beside; stages, those one after the other, each waited for, which is no way to compute but
// tells what each of them takes, as Table 1 of Okamoto et al. does.
#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_fd3d.cuh"
#include "bench_gpu.cuh"

using bench_fd3d::volume, bench_gpu::seconds_now;

enum { LAYER = 20, HALF_LENGTH = 2, MOST = 8, TICKET = 512, SIDES = 6, WHATS = 2, REPEATS = 5 };
static const double patience = 60;    // seconds
static const double OPERATIONS = 307; // of a cell and step, counted by Zhou et al. (ICCS 2012), section 5

enum way { ALONE, IPC, IPC_AFTER, HOST, HOST_AFTER, SWAP, BY_STAGES };
static const char *const way_name[] = {"alone", "ipc", "ipc-after", "host", "host-after", "swap", "stages"};
enum stage { SIDE_POINTS, INNER_POINTS, FROM_GPU, PARTNERS, TO_GPU, STAGES };
static const char *const stage_name[] = {"side points", "inner points", "from the GPU", "wait for partners",
                                         "to the GPU"};
enum medium { ELASTIC, CORE, WITH_Q, MEDIA };
static const char *const medium_name[] = {"elastic", "core", "q"};

struct job {
    int processes, n[3], parts[3];
    medium of;
    bool strong;
    const char *variant;
    double seconds;   // of a repetition
    const char *only; // way; null: all
};

// --- memory that processes share -------------------------------------------------------------------------------------

struct board {
    std::atomic<int> arrived, turn, failed, there[MOST][SIDES][WHATS];
    char why[512], device[256], ticket[MOST][TICKET];
    double step[MOST], stage[MOST][STAGES]; // seconds
    int devices;
    size_t halo; // numbers of the largest
    float numbers[];
};
static board *shared;

static float *halo_of(int rank, int side, int what) {
    return shared->numbers + ((size_t)(rank * SIDES + side) * WHATS + (size_t)what) * shared->halo;
}

__attribute__((format(printf, 1, 2), noreturn)) static void give_up(const char *format, ...) {
    if (shared->failed.exchange(1) == 0) {
        va_list list;
        va_start(list, format);
        vsnprintf(shared->why, sizeof shared->why, format, list);
        va_end(list);
    }
    exit(1);
}
static void need(int rc, const char *what) {
    if (rc != 0)
        give_up("%s: %s", what, (const char *)err_message());
}

static void pause_until(const std::atomic<int> &word, int value) {
    const double start = seconds_now();
    for (long looks = 0; word.load(std::memory_order_acquire) != value; looks++) {
        if (shared->failed.load() != 0)
            exit(1);
        if (looks % 1000 == 999) {
            usleep(20);
            if (seconds_now() - start > 2 * patience)
                give_up("another process was not heard of for %g s", 2 * patience);
        }
    }
}

static void meet(int processes) {
    const int turn = shared->turn.load();
    if (shared->arrived.fetch_add(1) + 1 == processes) {
        shared->arrived.store(0);
        shared->turn.store(turn + 1, std::memory_order_release);
    } else
        pause_until(shared->turn, turn + 1);
}

// --- a piece ---------------------------------------------------------------------------------------------------------

struct piece {
    int rank, beside[SIDES]; // the process at each side, -1: none
    fd3d_cfg cfg;
};

static piece cut(const job &j, int rank, way w) {
    piece p = {};
    const int at[3] = {rank % j.parts[0], rank / j.parts[0] % j.parts[1], rank / j.parts[0] / j.parts[1]},
              apart[3] = {1, j.parts[0], j.parts[0] * j.parts[1]};
    fd3d_cfg &c = p.cfg;
    p.rank = rank;
    for (int a = 0; a < 3; a++) {
        const int all = j.strong ? j.n[a] : j.n[a] * j.parts[a];
        c.whole[a] = all;
        c.first[a] = (int)((long)all * at[a] / j.parts[a]);
        c.n[a] = (int)((long)all * (at[a] + 1) / j.parts[a]) - c.first[a];
        c.d[a] = 10;
        for (int high = 0; high < 2; high++) {
            const int side = 2 * a + high;
            const bool outer = at[a] == (high ? j.parts[a] - 1 : 0);
            p.beside[side] = outer ? -1 : rank + (high ? apart[a] : -apart[a]);
            c.side[side] = outer || w == ALONE ? 1 : 0;
            c.layer[side] = outer ? LAYER : 0;
        }
    }
    if (at[2] == 0) {
        c.side[4] = 2; // free
        c.layer[4] = 0;
    }
    c.half_length = HALF_LENGTH;
    c.anelastic = j.of == WITH_Q;
    c.sparse = j.of == CORE;
    c.dt = 0.4f * 10 / (1.74f * 3780);
    memcpy(c.w, bench_fd3d::taylor[HALF_LENGTH - 1], sizeof c.w);
    return p;
}

static void *make(const job &j, const piece &p) {
    volume v;
    std::vector<float> profile[3];
    const fd3d_cfg &c = p.cfg;
    v.make(c.n);
    void *h = fd3d_new(j.variant, &c);
    need(h == nullptr, "new");
    need(fd3d_model(h, v.rho.data(), v.lambda.data(), v.mu.data()), "model");
    if (j.of == WITH_Q) {
        float tau[8], y[24] = {}, stiff[8] = {};
        for (int m = 0; m < 8; m++)
            tau[m] = 0.02f * (float)(1 << m), y[m] = 1.0f;
        need(fd3d_quality(h, tau, y, stiff, v.qp.data(), v.qs.data()), "quality");
    }
    for (int a = 0; a < 3; a++)
        bench_fd3d::layer_profile(profile[a], LAYER, c.n[a], c.layer[2 * a], c.layer[2 * a + 1]);
    need(fd3d_pml(h, profile[0].data(), profile[1].data(), profile[2].data()), "pml");
    for (int f = 0; f < 3; f++)
        need(fd3d_set_field(h, f, v.field.data() + f), "set_field");
    return h;
}

// --- steps -----------------------------------------------------------------------------------------------------------

static void open_ways(const job &j, const piece &p, void *h, way w) {
    need(fd3d_halo_offer(h, w == IPC || w == HOST, w >= HOST, patience, TICKET, shared->ticket[p.rank]), "offer");
    meet(j.processes);
    for (int side = 0; side < SIDES; side++)
        if (p.beside[side] >= 0)
            need(fd3d_halo_open(h, side, TICKET, shared->ticket[p.beside[side]]), "open");
    meet(j.processes);
    double bare, full;
    need(fd3d_halo_try(h, patience, &bare, &full), "try");
}

static void half_step(const piece &p, void *h, int it, int what) {
    int (*const update)(void *, int, int) = what == 0 ? fd3d_velocity : fd3d_stress;
    need(update(h, it, 1), "rim");
    for (int side = 0; side < SIDES; side++)
        if (p.beside[side] >= 0) {
            need(fd3d_halo_get(h, what, side, halo_of(p.rank, side, what)), "halo_get");
            shared->there[p.rank][side][what].store(it, std::memory_order_release);
        }
    need(update(h, it, 2), "inner");
    for (int side = 0; side < SIDES; side++)
        if (p.beside[side] >= 0) {
            pause_until(shared->there[p.beside[side]][side ^ 1][what], it);
            need(fd3d_halo_put(h, what, side, halo_of(p.beside[side], side ^ 1, what)), "halo_put");
        }
}

// The same, each stage by itself; adds the seconds that it took.
static void half_step_by_stages(const piece &p, void *h, int it, int what, double (&took)[STAGES]) {
    int (*const update)(void *, int, int) = what == 0 ? fd3d_velocity : fd3d_stress;
    double last = seconds_now();
    const auto ends = [&](stage s) {
        need(cudaDeviceSynchronize() != cudaSuccess, "synchronize");
        const double now = seconds_now();
        took[s] += now - last;
        last = now;
    };
    need(update(h, it, 1), "rim");
    ends(SIDE_POINTS);
    need(update(h, it, 2), "inner");
    ends(INNER_POINTS);
    for (int side = 0; side < SIDES; side++)
        if (p.beside[side] >= 0)
            need(fd3d_halo_get(h, what, side, halo_of(p.rank, side, what)), "halo_get");
    ends(FROM_GPU);
    for (int side = 0; side < SIDES; side++)
        if (p.beside[side] >= 0)
            shared->there[p.rank][side][what].store(it, std::memory_order_release);
    for (int side = 0; side < SIDES; side++)
        if (p.beside[side] >= 0)
            pause_until(shared->there[p.beside[side]][side ^ 1][what], it);
    ends(PARTNERS);
    for (int side = 0; side < SIDES; side++)
        if (p.beside[side] >= 0)
            need(fd3d_halo_put(h, what, side, halo_of(p.beside[side], side ^ 1, what)), "halo_put");
    ends(TO_GPU);
}

// Wall clock of steps it .. it+n-1, which all begin together.
static double run(const job &j, const piece &p, void *h, way w, int it, int n) {
    meet(j.processes);
    const double start = seconds_now();
    if (w == SWAP || w == BY_STAGES) {
        double took[STAGES] = {};
        for (int s = it; s < it + n; s++)
            for (int what = 0; what < WHATS; what++)
                if (w == SWAP)
                    half_step(p, h, s, what);
                else
                    half_step_by_stages(p, h, s, what, took);
        need(handle_pending(h, 0), "pending");
        for (int s = 0; s < STAGES; s++)
            shared->stage[p.rank][s] = took[s] / n;
    } else {
        need(handle_timestep(h, it, n), "timestep");
        need(handle_pending(h, 0), "pending");
    }
    float value;
    int place[3];
    const double seconds = seconds_now() - start;
    need(handle_maxabs(h, &value, place), "maxabs"); // waits for the host's way
    const double waited = seconds_now() - start;
    need(handle_peak(h, &value, place), "peak"); // fails where a halo did not come
    if (!(value > 0 && value < 1e30f))
        give_up("the fields are not what they should be: largest velocity %g", (double)value);
    return w >= SWAP ? waited : seconds;
}

// A process: its median of the repetitions goes to the board.
static void work(const job &j, int rank, way w) {
    const int devices = device_count();
    if (devices == 0)
        give_up("no GPU");
    need(device_use(rank % devices), "device");
    const piece p = cut(j, rank, w);
    void *h = make(j, p);
    if (rank == 0) {
        shared->devices = devices;
        need(handle_device(h, sizeof shared->device, shared->device), "device");
    }
    if (w != ALONE && w < SWAP)
        open_ways(j, p, h, w);
    int it = 1, n = 72;
    run(j, p, h, w, it, n); // makes graphs, fills caches
    it += n;
    shared->step[rank] = run(j, p, h, w, it, n) / n;
    it += n;
    meet(j.processes);
    double slowest = 0;
    for (int r = 0; r < j.processes; r++)
        slowest = std::max(slowest, shared->step[r]);
    n = 64 * std::max(1, (int)(j.seconds / slowest / 64 + 0.5));
    meet(j.processes);
    std::vector<double> each;
    for (int r = 0; r < REPEATS; r++, it += n)
        each.push_back(run(j, p, h, w, it, n) / n);
    std::sort(each.begin(), each.end());
    shared->step[rank] = each[each.size() / 2];
    fd3d_halo_close(h);
    meet(j.processes); // nobody gives memory back that another has open
    handle_free(h);
}

static double stages[STAGES]; // of the newest case

// Seconds a step of the slowest process; negative with a reason on the board. The parent never calls CUDA: a process
// that did may not be divided.
static double measure(const job &j, way w) {
    size_t halo = 1;
    for (int rank = 0; rank < j.processes; rank++) {
        const piece p = cut(j, rank, SWAP);
        const size_t n[3] = {(size_t)p.cfg.n[0], (size_t)p.cfg.n[1], (size_t)p.cfg.n[2]};
        for (int a = 0; a < 3; a++)
            halo = std::max(halo, 3 * HALF_LENGTH * n[(a + 1) % 3] * n[(a + 2) % 3]);
    }
    const size_t bytes = sizeof(board) + sizeof(float) * halo * (size_t)(j.processes * SIDES * WHATS);
    shared = (board *)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        fprintf(stderr, "fd3d_group_bench: no memory of %zu bytes for processes to share\n", bytes);
        exit(1);
    }
    shared->halo = halo;
    fflush(stdout);
    for (int rank = 0; rank < j.processes; rank++) {
        const pid_t child = fork();
        if (child == 0) {
            work(j, rank, w);
            exit(0);
        }
        if (child < 0) {
            perror("fd3d_group_bench");
            shared->failed.store(1);
            break;
        }
    }
    int status, bad = 0;
    while (wait(&status) > 0)
        bad += status != 0;
    static char why[512];
    double slowest = 0;
    for (int r = 0; r < j.processes; r++)
        slowest = std::max(slowest, shared->step[r]);
    if (bad > 0 || shared->failed.load() != 0) {
        snprintf(why, sizeof why, "%s", shared->why);
        printf("  %-11s failed: %s\n", way_name[w], why[0] != 0 ? why : "a process ended");
        slowest = -1;
    }
    for (int s = 0; s < STAGES; s++) {
        stages[s] = 0;
        for (int r = 0; r < j.processes; r++)
            stages[s] = std::max(stages[s], shared->stage[r][s]);
    }
    munmap(shared, bytes);
    return slowest;
}

// --- the table -------------------------------------------------------------------------------------------------------

static int failures;

static void line(const job &j, way w, double step, double alone) {
    const double cells = (double)j.n[0] * j.n[1] * j.n[2] * (j.strong ? 1 : j.processes);
    if (step < 0) {
        failures++;
        return;
    }
    printf("  %-11s %9.1f us/step %7.2f Gcell/s", way_name[w], step * 1e6, cells / step * 1e-9);
    if (alone > 0 && j.strong)
        printf("  %5.2f times one process", alone / step);
    else if (alone > 0)
        printf("  %5.1f %% of alone", 100 * alone / step);
    if (j.of == WITH_Q)
        printf("  %5.0f GFLOP/s a process", OPERATIONS * cells / step / j.processes * 1e-9);
    for (int s = 0; s < STAGES && w == BY_STAGES; s++)
        printf("%s%s %.1f", s == 0 ? "\n              " : ", ", stage_name[s], stages[s] * 1e6);
    printf("\n");
    fflush(stdout);
}

static void one(const job &j) {
    printf("%s %s: %d process%s, %dx%dx%d, %s %d x %d x %d, %s\n", j.variant, j.strong ? "strong" : "weak", j.processes,
           j.processes == 1 ? "" : "es", j.parts[0], j.parts[1], j.parts[2], j.strong ? "all" : "each", j.n[0], j.n[1],
           j.n[2], medium_name[j.of]);
    job single = j;
    if (j.strong)
        single.processes = single.parts[0] = single.parts[1] = single.parts[2] = 1;
    double alone = 0;
    for (way w : {ALONE, IPC, IPC_AFTER, HOST, HOST_AFTER, SWAP, BY_STAGES}) {
        if ((w >= SWAP && j.processes == 1) || (j.only != nullptr && strcmp(j.only, way_name[w]) != 0))
            continue;
        const job &of = w == ALONE ? single : j;
        const double step = measure(of, w);
        line(of, w, step, alone);
        if (w == ALONE)
            alone = step;
    }
}

// Number of GPUs, as a child sees them: the parent must not ask.
static int count_devices() {
    int pipes[2], n = 0;
    if (pipe(pipes) != 0)
        return 0;
    if (fork() == 0) {
        const int seen = device_count();
        if (write(pipes[1], &seen, sizeof seen) != (ssize_t)sizeof seen)
            _exit(1);
        _exit(0);
    }
    if (read(pipes[0], &n, sizeof n) != (ssize_t)sizeof n)
        n = 0;
    wait(nullptr);
    close(pipes[0]);
    close(pipes[1]);
    return n;
}

// Planes across z first, then y: along x what crosses is strided.
static void choose_parts(job *j) {
    j->parts[0] = j->parts[1] = j->parts[2] = 1;
    for (int left = j->processes, a = 2; left > 1; a = a == 0 ? 2 : a - 1) {
        const int f = left % 2 == 0 ? 2 : left;
        j->parts[a] *= f;
        left /= f;
    }
}

static int usage() {
    fprintf(stderr, "usage: fd3d_group_bench [--quick | PROCESSES VARIANT weak|strong CELLS elastic|core|q [AxBxC "
                    "[WAY]]]; CELLS: n or AxBxC\n");
    return 1;
}

int main(int argc, char **argv) {
    const bool quick = argc == 2 && strcmp(argv[1], "--quick") == 0;
    if (argc != 1 && !quick && (argc < 6 || argc > 8))
        return usage();
    const int devices = count_devices();
    if (devices == 0)
        return bench_gpu::unable();
    job j = {};
    j.seconds = quick ? 0.1 : 0.25;
    if (argc >= 6) {
        j.processes = atoi(argv[1]);
        j.variant = argv[2];
        j.strong = strcmp(argv[3], "strong") == 0;
        if (sscanf(argv[4], "%dx%dx%d", &j.n[0], &j.n[1], &j.n[2]) != 3)
            j.n[0] = j.n[1] = j.n[2] = atoi(argv[4]);
        const int least = std::min({j.n[0], j.n[1], j.n[2]}), most = std::max({j.n[0], j.n[1], j.n[2]});
        while (j.of < MEDIA && strcmp(argv[5], medium_name[j.of]) != 0)
            j.of = (medium)(j.of + 1);
        if (j.of == MEDIA || j.processes < 1 || j.processes > MOST || least < 48 || most > 2048)
            return usage();
        choose_parts(&j);
        if (argc > 7)
            j.only = argv[7];
        if (argc > 6 && (sscanf(argv[6], "%dx%dx%d", &j.parts[0], &j.parts[1], &j.parts[2]) != 3 || j.parts[0] < 1 ||
                         j.parts[1] < 1 || j.parts[2] < 1 || j.parts[0] * j.parts[1] * j.parts[2] != j.processes))
            return usage();
        one(j);
        return failures > 0;
    }
    j.processes = std::max(2, std::min(devices, (int)MOST));
    j.variant = "tuned";
    if (devices == 1)
        printf("one GPU, which two processes share: this says that it works, not how it scales\n");
    choose_parts(&j);
    for (int n : {128, 256, 384})
        for (medium of : {ELASTIC, CORE, WITH_Q})
            if (quick ? of == ELASTIC && n < 384 : of != CORE || n > 256) {
                j.of = of;
                j.n[0] = j.n[1] = j.n[2] = n;
                one(j);
            }
    j.strong = true;
    j.of = CORE;
    for (int n : {384, 512})
        if (!quick) {
            j.n[0] = j.n[1] = j.n[2] = n;
            one(j);
        }
    return failures > 0;
}
