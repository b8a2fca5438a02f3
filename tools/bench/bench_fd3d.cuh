// Common parts of the benchmarks of the 3D time loop: a medium, weights, layers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "bench_random.h"

namespace bench_fd3d {

inline const float taylor[4][4] = {{1},
                                   {9.0f / 8, -1.0f / 24},
                                   {75.0f / 64, -25.0f / 384, 3.0f / 640},
                                   {1225.0f / 1024, -245.0f / 3072, 49.0f / 5120, -5.0f / 7168}};

// A rough medium with its ring and a random field, made once a size by all cores.
struct volume {
    int n[3] = {0, 0, 0};
    std::vector<float> rho, lambda, mu, qp, qs, field;
    double cells() const { return (double)n[0] * n[1] * n[2]; }

    void fill_part(size_t from, size_t to) {
        for (size_t m = from; m < to; m++) {
            const float r = bench_random(m), vs = 1800 + 300 * r, vp = 1.8f * vs;
            rho[m] = 2000 + 300 * bench_random(m + 77);
            mu[m] = rho[m] * vs * vs;
            lambda[m] = rho[m] * vp * vp - 2 * mu[m];
            qp[m] = 0.01f + 0.01f * r;
            qs[m] = 2 * qp[m];
        }
    }

    void make(const int size[3]) {
        if (memcmp(n, size, sizeof n) == 0)
            return;
        memcpy(n, size, sizeof n);
        const size_t all = ((size_t)n[0] + 2) * ((size_t)n[1] + 2) * ((size_t)n[2] + 2);
        for (std::vector<float> *v : {&rho, &lambda, &mu, &qp, &qs, &field})
            v->resize(all);
        std::vector<std::thread> team;
        const size_t parts = std::max(1u, std::thread::hardware_concurrency());
        for (size_t p = 0; p < parts; p++)
            team.emplace_back([this, p, parts, all] {
                fill_part(all * p / parts, all * (p + 1) / parts);
                for (size_t m = all * p / parts; m < all * (p + 1) / parts; m++)
                    field[m] = bench_random(m + 991) - 0.5f;
            });
        for (std::thread &t : team)
            t.join();
    }
};

// Profiles of `layer` cells beside the sides that have any.
inline void layer_profile(std::vector<float> &p, int layer, int n, int low, int high) {
    p.assign(6 * (size_t)n, 0.0f);
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < n; i++) {
            const int in = std::max(low - i, i - (n - 1 - high));
            const double depth = in > 0 ? (double)in / layer : 0, decay = 0.3 * depth * depth;
            float *a = p.data() + 3 * half * n + i;
            a[0] = in > 0 ? (float)(decay / (decay + 0.01) * (exp(-decay - 0.01) - 1)) : 0.0f;
            a[n] = in > 0 ? (float)exp(-decay - 0.01) : 0.0f;
            a[2 * n] = 1.0f;
        }
}

} // namespace bench_fd3d
