// Speed of the GPU variants of spectral elements beside the memory bandwidth of the same GPU.
//
//   sem3d_bench_gpu           the table: variants x ways to sum x kinds of elements, 262,144 elements; the meshes of
//                             Komatitsch, Michea & Erlebacher (2009) by their number of elements
//   sem3d_bench_gpu --quick   shorter repetitions
//   sem3d_bench_gpu VARIANT WHAT nx ny nz [SUM [SHOTS [ROOM]]]
//                             one case; SUM gather, colour, atomic; ROOM: as much GPU memory [GB] is granted, the
//                             numbers of elements that it does not hold come from the host in each step; 0: all do
//
// A box of elements in the order and the bricks that SplSemmod gives it, its top free, its other sides absorbing; WHAT
// is
//   affine    each element has one medium
//   bent      nodes moved at random, a medium by point
//   even      bent, but each element has one medium
//   turned    bent; elements begin at a random corner and stand in random order within a brick of 8, as a mesh whose
//             nodes and elements are numbered at random comes out of the clustering
//   q         bent, three mechanisms of attenuation at 57 points of an element
//   qall      the same at all points
//   water     bent, all fluid
// Random fields, a source of 125 points, 100 receivers of 125 points. Wall clock of handle_timestep and
// handle_pending(0), median of the repetitions after one that counts not; SHOTS handles side by side. `bytes` counts
// each number that a step has to move once, `triad` is the share of the bandwidth of a = b + s c in the same run.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench_gpu.cuh"
#include "bench_random.h"

using bench_gpu::effort, bench_gpu::seconds_now;

static const effort full = {5, 0.3}, quick = {3, 0.1};
enum { POINTS = 125, RELAXING = 57, RECEIVERS = 100, BRICK = 64, LEAF = 8 };

static void bench_fail(const char *what) {
    fprintf(stderr, "sem3d_bench_gpu: %s: %s\n", what, (const char *)err_message());
    exit(1);
}

// --- the case ------------------------------------------------------------------------------------------------------

struct sort {
    const char *name;
    int by_point, mechanisms, relaxing, water, turned;
    double shake;
};

static const sort sorts[] = {{"affine", 0, 0, POINTS, 0, 0, 0},  {"bent", 1, 0, POINTS, 0, 0, 0.15},
                             {"even", 0, 0, POINTS, 0, 0, 0.15}, {"turned", 1, 0, POINTS, 0, 1, 0.15},
                             {"q", 1, 3, RELAXING, 0, 0, 0.15},  {"qall", 1, 3, POINTS, 0, 0, 0.15},
                             {"water", 1, 0, POINTS, 1, 0, 0.15}};

static const char *const sums[] = {"gather", "colour", "atomic"};

struct mesh {
    int n[3];
    sort s;
    std::vector<int> place; // (3, elements)
    std::vector<int> brick, face, at;
    std::vector<double> corner;
    std::vector<float> rho, lambda, mu;
    int elements() const { return n[0] * n[1] * n[2]; }
    int points() const { return (4 * n[0] + 1) * (4 * n[1] + 1) * (4 * n[2] + 1); }
};

// Elements of a part of the box in order: halves along its longest side, whole down to 2 x 2 x 2.
static void bisect(mesh *m, const int lo[3], const int hi[3], bool outer) {
    const int size[3] = {hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]}, all = size[0] * size[1] * size[2];
    if (outer && all <= BRICK) {
        m->brick.push_back((int)m->place.size() / 3);
        outer = false;
    }
    if (all <= LEAF) {
        for (int e = 0; e < all; e++)
            for (int a : {lo[0] + e % size[0], lo[1] + e / size[0] % size[1], lo[2] + e / size[0] / size[1]})
                m->place.push_back(a);
        return;
    }
    const int axis = (int)(std::max_element(size, size + 3) - size);
    int cut = 1;
    while (2 * cut < size[axis])
        cut *= 2;
    int middle[3] = {hi[0], hi[1], hi[2]};
    middle[axis] = lo[axis] + cut;
    bisect(m, lo, middle, outer);
    memcpy(middle, lo, sizeof middle);
    middle[axis] += cut;
    bisect(m, middle, hi, outer);
}

static void mix_bricks(mesh *m) {
    for (size_t from = 0; from < (size_t)m->elements(); from += LEAF)
        for (size_t e = std::min(from + LEAF, (size_t)m->elements()) - 1; e > from; e--) {
            const size_t other = from + (size_t)(bench_random(e * 7919) * (float)(e + 1 - from));
            for (size_t a = 0; a < 3; a++)
                std::swap(m->place[3 * e + a], m->place[3 * std::min(other, e) + a]);
        }
}

// One of the rotations of a cube: the axis of each own axis, and whether it runs back.
static void turn_of(const mesh *m, int e, int axis[3], bool back[3]) {
    static const int even[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};
    const int which = m->s.turned ? (int)(bench_random((size_t)e * 31 + 5) * 12) % 12 : 0;
    memcpy(axis, even[which / 4], sizeof even[0]);
    back[0] = which % 4 == 1 || which % 4 == 2;
    back[1] = which % 4 == 2 || which % 4 == 3;
    back[2] = which % 4 == 1 || which % 4 == 3;
}

static double moved(const mesh *m, const int node[3], int a) {
    const size_t seed = (((size_t)node[2] * 1000 + (size_t)node[1]) * 1000 + (size_t)node[0]) * 3 + (size_t)a;
    return node[a] == 0 || node[a] == m->n[a] ? 0 : m->s.shake * (2 * bench_random(seed) - 1);
}

static void make_element(mesh *m, int e) {
    static const int own[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                  {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    static const int side_axis[6] = {1, 0, 1, 0, 2, 2}, side_end[6] = {0, 1, 1, 0, 0, 1};
    const int *place = &m->place[3 * (size_t)e];
    int axis[3];
    bool back[3];
    turn_of(m, e, axis, back);
    for (int c = 0; c < 8; c++) {
        int node[3];
        for (int a = 0; a < 3; a++)
            node[axis[a]] = place[axis[a]] + (back[a] ? 1 - own[c][a] : own[c][a]);
        for (int a = 0; a < 3; a++)
            m->corner[24 * (size_t)e + 3 * c + a] = 100 * (node[a] + moved(m, node, a));
    }
    for (int f = 0; f < 6; f++) {
        const int a = axis[side_axis[f]], end = back[side_axis[f]] ? 1 - side_end[f] : side_end[f];
        m->face[6 * (size_t)e + f] = place[a] != (end ? m->n[a] - 1 : 0) ? 0 : a == 2 && end == 0 ? 1 : 2;
    }
    for (int p = 0; p < POINTS; p++) {
        const int index[3] = {p % 5, p / 5 % 5, p / 25};
        size_t at[3];
        for (int a = 0; a < 3; a++)
            at[axis[a]] = (size_t)(4 * place[axis[a]] + (back[a] ? 4 - index[a] : index[a]));
        m->at[POINTS * (size_t)e + p] =
            (int)(at[0] + (size_t)(4 * m->n[0] + 1) * (at[1] + (size_t)(4 * m->n[1] + 1) * at[2]));
    }
}

static void make_mesh(mesh *m, const sort &s, const int n[3]) {
    const int lo[3] = {0, 0, 0};
    *m = mesh();
    memcpy(m->n, n, sizeof m->n);
    m->s = s;
    bisect(m, lo, n, true);
    if (s.turned)
        mix_bricks(m);
    const size_t elements = (size_t)m->elements(), media = s.by_point ? POINTS : 1;
    m->brick.push_back((int)elements);
    m->corner.resize(24 * elements), m->face.resize(6 * elements), m->at.resize(POINTS * elements);
    for (size_t e = 0; e < elements; e++)
        make_element(m, (int)e);
    for (std::vector<float> *v : {&m->rho, &m->lambda, &m->mu})
        v->resize(elements * media);
    for (size_t k = 0; k < elements * media; k++) {
        const float vs = s.water ? 0 : 1500 + 500 * bench_random(k), vp = s.water ? 1500 : vs * 1.8f;
        m->rho[k] = 2000 + 500 * bench_random(k + elements * media);
        m->lambda[k] = m->rho[k] * (vp * vp - 2 * vs * vs);
        m->mu[k] = m->rho[k] * vs * vs;
    }
}

static void give_points(void *h, const mesh &m) {
    std::vector<int> field(RECEIVERS * POINTS), point(RECEIVERS * POINTS), none(POINTS), start(RECEIVERS + 1);
    std::vector<float> w(RECEIVERS * POINTS, 0.01f);
    const float q[1] = {1e-3f};
    for (int e = 0; e < (int)RECEIVERS * (int)POINTS; e++) {
        field[e] = m.s.water ? 6 : e / (int)POINTS % 3;
        point[e] = (int)((size_t)m.points() / (RECEIVERS + 1) * (size_t)(e / (int)POINTS)) + e % (int)POINTS;
    }
    for (int r = 0; r <= (int)RECEIVERS; r++)
        start[r] = (int)POINTS * r;
    if (sem3d_source(h, 1, POINTS, field.data(), point.data(), none.data(), w.data()) ||
        sem3d_histories(h, 1, 1, (float *)q) || sem3d_histories(h, 2, 0, (float *)q))
        bench_fail("source");
    if (sem3d_receivers(h, RECEIVERS, start.data(), field.data(), point.data(), w.data()))
        bench_fail("receivers");
}

static void *make(const char *name, mesh &m, int sum, int shots, double room) {
    const int solid = m.s.water ? 0 : m.elements();
    sem3d_cfg c = {};
    c.elements = m.elements(), c.solid = solid, c.points = m.points(), c.solid_points = m.s.water ? 0 : m.points();
    c.bricks = (int)m.brick.size() - 1, c.per = 8, c.media = m.s.by_point ? POINTS : 1, c.mechanisms = m.s.mechanisms;
    c.shares = 1, c.relaxing = m.s.relaxing;
    c.share = shots, c.sum = sum, c.dt = 1e-3f;
    c.resident = room > 0 ? 2 : room < 0 ? 0 : 1, c.room = room > 0 ? room * 1e9 : 0; // as sem3d_packets.h has them
    void *h = sem3d_new((char *)name, &c);
    if (h == nullptr)
        return nullptr;
    if (sem3d_elements(h, m.corner.data(), m.face.data(), m.brick.data(), m.rho.data(), m.lambda.data(), m.mu.data(),
                       m.at.data(), m.at.data(), m.at.data()))
        bench_fail("elements");
    if (m.s.mechanisms > 0) {
        const std::vector<float> share((size_t)(m.s.mechanisms * solid), 0.02f);
        float tau[] = {0.01f, 0.1f, 1};
        if (sem3d_quality(h, tau, (float *)share.data(), (float *)share.data()))
            bench_fail("quality");
    }
    std::vector<float> a((size_t)m.points());
    for (int f = m.s.water ? 6 : 0; f < (m.s.water ? 8 : 6); f++) {
        for (size_t k = 0; k < a.size(); k++)
            a[k] = 1e-6f * (bench_random(k + (size_t)f * a.size()) - 0.5f);
        if (sem3d_set_field(h, f, a.data()))
            bench_fail("set_field");
    }
    give_points(h, m);
    return h;
}

// --- measurements --------------------------------------------------------------------------------------------------

static double run(const std::vector<void *> &handles, int *it, int n) {
    const int piece = 256;
    const double start = seconds_now();
    for (int done = 0; done < n; done += piece)
        for (void *h : handles)
            if (handle_timestep(h, *it + done, std::min(piece, n - done)))
                bench_fail("timestep");
    for (void *h : handles)
        if (handle_pending(h, 0))
            bench_fail("pending");
    *it += n;
    return seconds_now() - start;
}

// Seconds a step of all.
static double measure(const std::vector<void *> &handles, effort e) {
    int it = 1, place[3];
    float value;
    run(handles, &it, 64);
    const double took = run(handles, &it, 64);
    const int n = 64 * std::max(1, (int)(e.seconds / took + 0.5));
    std::vector<double> each;
    for (int r = -1; r < e.repeats; r++) {
        const double seconds = run(handles, &it, n);
        if (r >= 0)
            each.push_back(seconds / n);
    }
    for (void *h : handles) {
        if (handle_maxabs(h, &value, place))
            bench_fail("maxabs");
        if (!(value > 0 && value < 1e10f))
            printf("        the fields are not what they should be: largest velocity %g\n", (double)value);
    }
    std::sort(each.begin(), each.end());
    return each[each.size() / 2];
}

// Bytes that a step moves for an element, each number once: an element has 64 points of its own; a brick of 2 x 2 x 2
// has 343 that no other has and 386 others, of which 169 are its share.
static double count_bytes(const char *name, const mesh &m, int sum) {
    const double all = (int)POINTS, parts = m.s.water ? 1 : 3, points = 64, tuned = strcmp(name, "tuned") == 0,
                 inners = 343 / 8.0, outers = 386 / 8.0, shared = points - inners;
    const double stored = strcmp(name, "global") == 0 || strcmp(name, "texture") == 0, media = m.s.water ? 1 : 2;
    const double geometry = stored                                         ? 9 * all
                            : strcmp(name, "tuned") == 0 && m.s.shake <= 0 ? 9
                                                                           : 21,
                 medium = media * (m.s.by_point || stored ? all : 1),
                 memory = m.s.mechanisms * (12.0 * m.s.relaxing + 2);
    double numbers = geometry + medium + memory;
    if (tuned) {
        numbers += (inners + outers) * parts + outers + inners * (3 * parts + 1); // fetched; moved
        numbers += 2 * outers * parts + shared * (4 * parts + 3);                 // slots; sums
        numbers += m.s.turned ? all / 2.0 + (inners + outers) : 0;                // patterns
        return 4 * numbers;
    }
    numbers += all + points * parts + points * (4 * parts + 1);
    numbers += sum == 0   ? 2 * all * parts + 2.5 * points
               : sum == 1 ? 2 * all * parts + 2 * points * parts
                          : 4 * points * parts;
    return 4 * numbers;
}

static void one_case(const char *name, mesh &m, int sum, int shots, double triad_rate, effort e, double room = -1) {
    std::vector<void *> handles;
    const double from = seconds_now();
    for (int n = 0; n < shots; n++) {
        void *h = make(name, m, sum, shots, room);
        if (h == nullptr) {
            printf("%-8s %-7s %d x %d x %d: %s\n", name, m.s.name, m.n[0], m.n[1], m.n[2], (const char *)err_message());
            for (void *other : handles)
                handle_free(other);
            return;
        }
        handles.push_back(h);
    }
    const double set_up = (seconds_now() - from) / shots, step = measure(handles, e), bytes = count_bytes(name, m, sum),
                 rate = (double)m.elements() * shots / step;
    printf(
        "%-8s %-7s %-7s %7d elements x %d  %9.1f us/step  %6.1f M elements*steps/s  %6.4f us/element  %5.2f kB  %3.0f "
        "%% of triad  set up in %.1f s\n",
        name, m.s.name, strcmp(name, "tuned") == 0 ? "bricks" : sums[sum], m.elements(), shots, step * 1e6, rate * 1e-6,
        1e6 / rate, bytes * 1e-3, 100 * rate * bytes / triad_rate, set_up);
    char device[256] = "";
    if (room >= 0 && handle_device(handles[0], sizeof device, device) == 0)
        printf("        %s; %.3f GB of memory in all\n", device, 1e-9 * (double)handle_bytes(handles[0]));
    fflush(stdout);
    for (void *h : handles)
        handle_free(h);
}

static int sorted_as(const char *name) {
    for (int n = 0; n < (int)(sizeof sorts / sizeof sorts[0]); n++)
        if (strcmp(sorts[n].name, name) == 0)
            return n;
    return -1;
}

static const char *const variants[] = {"texture", "shared", "global", "tuned"};

static void table(double triad_rate, effort e) {
    static const int large[3] = {64, 64, 64}, paper[3][3] = {{16, 16, 29}, {32, 28, 52}, {40, 35, 52}};
    mesh m;
    for (const sort &s : sorts) {
        const bool all = strcmp(s.name, "bent") == 0;
        make_mesh(&m, s, large);
        for (const char *name : variants)
            for (int sum = 0; sum < (strcmp(name, "tuned") == 0 || !all ? 1 : 3); sum++)
                if (all || strcmp(name, "texture") != 0)
                    one_case(name, m, sum, 1, triad_rate, e);
        for (double room : {0.0, 1.6}) // [GB]
            if (all || s.mechanisms > 0)
                one_case("tuned", m, 0, 1, triad_rate, e, room);
    }
    for (const auto &n : paper) {
        make_mesh(&m, sorts[sorted_as("bent")], n);
        for (const char *name : variants)
            for (int sum = 0; sum < (strcmp(name, "tuned") == 0 ? 1 : 3); sum++)
                one_case(name, m, sum, 1, triad_rate, e);
        one_case("tuned", m, 0, 4, triad_rate, e);
    }
}

static int usage() {
    fprintf(stderr, "usage: sem3d_bench_gpu [--quick | VARIANT affine|bent|even|turned|q|water nx ny nz "
                    "[gather|colour|atomic [SHOTS [ROOM]]]]\n");
    return 1;
}

static int single(double triad_rate, int argc, char **argv) {
    const int which = sorted_as(argv[2]), n[3] = {atoi(argv[3]), atoi(argv[4]), atoi(argv[5])},
              shots = argc > 7 ? atoi(argv[7]) : 1;
    int sum = 0;
    for (int k = 0; k < 3 && argc > 6; k++)
        if (strcmp(argv[6], sums[k]) == 0)
            sum = k;
    if (which < 0 || n[0] < 2 || n[1] < 2 || n[2] < 2 || (double)n[0] * n[1] * n[2] > 8e6 || shots < 1 || shots > 16)
        return usage();
    mesh m;
    make_mesh(&m, sorts[which], n);
    one_case(argv[1], m, sum, shots, triad_rate, full, argc > 8 ? atof(argv[8]) : -1);
    return 0;
}

int main(int argc, char **argv) {
    const bool brief = argc == 2 && strcmp(argv[1], "--quick") == 0;
    double triad_rate = 0;
    if ((argc != 1 && !brief && argc < 6) || argc > 9)
        return usage();
    if (device_count() == 0)
        return bench_gpu::unable();
    if (bench_gpu::begin(&triad_rate))
        bench_fail("GPU 0");
    if (argc > 2)
        return single(triad_rate, argc, argv);
    table(triad_rate, brief ? quick : full);
    return 0;
}
