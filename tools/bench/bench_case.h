/* The shot that all benchmarks of the 2D time loop run, in C and C++: random medium and fields, absorbing layers on
 * four sides, one source of 64 cells, 1000 receivers between nodes (8 cells each). Only the amount of work matters. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_random.h"
#include "iface.h"

enum { RECEIVERS = 1000, SOURCE = 64, RECEIVER_CELLS = 8 };

/* Ends the program with the sentence of the C side. */
static void bench_fail(const char *what) {
    fprintf(stderr, "fd2d_bench: %s: %s\n", what, (const char *)err_message());
    exit(1);
}

static void *bench_memory(size_t bytes) {
    void *p = malloc(bytes > 0 ? bytes : 1);
    if (p == NULL) {
        fprintf(stderr, "fd2d_bench: no memory for %.3f GB\n", (double)bytes * 1e-9);
        exit(1);
    }
    return p;
}

/* Taylor weights of all half-lengths: any stable weights would do. */
static const float bench_weights[9][8] = {
    {0},
    {1},
    {1.125f, -0.0416667f},
    {1.171875f, -0.0651042f, 0.0046875f},
    {1.196289f, -0.0797526f, 0.00957031f, -0.000697545f},
    {1.211243f, -0.0897217f, 0.0138428f, -0.00176566f, 0.000118679f},
    {1.221336f, -0.0969315f, 0.0174477f, -0.00296729f, 0.000359005f, -2.18478e-05f},
    {1.228606f, -0.102384f, 0.0204768f, -0.00417893f, 0.000689454f, -7.69225e-05f, 4.23651e-06f},
    {1.234091f, -0.106650f, 0.0230364f, -0.00534239f, 0.00107727f, -0.000166419f, 1.70217e-05f, -8.52346e-07f}};

static fd2d_cfg bench_cfg(int nx, int nz, int half_length, int threads, int layer) {
    fd2d_cfg c;
    memset(&c, 0, sizeof c);
    c.nx = nx, c.nz = nz, c.half_length = half_length, c.threads = threads;
    c.nleft = c.nright = c.ntop = c.nbottom = layer;
    c.dx = c.dz = 5, c.dt = 0.0003f;
    memcpy(c.w, bench_weights[half_length], sizeof c.w);
    return c;
}

/* Profiles p(n,6) of a layer at both ends. */
static void bench_profile(float *p, int n, int layer) {
    for (int half = 0; half < 2; half++)
        for (int j = 0; j < n; j++) {
            const int inside = j < layer || (layer > 0 && j >= n - layer - 1 + (half == 0));
            p[3 * half * n + j] = inside ? -0.05f : 0;
            p[(3 * half + 1) * n + j] = inside ? 0.93f : 0;
            p[(3 * half + 2) * n + j] = 1;
        }
}

static void bench_layers(void *h, int nx, int nz, int layer) {
    float *px = (float *)bench_memory(24 * (size_t)nx), *pz = (float *)bench_memory(24 * (size_t)nz);
    bench_profile(px, nx, layer), bench_profile(pz, nz, layer);
    if (fd2d_pml(h, px, pz))
        bench_fail("pml");
    free(px), free(pz);
}

/* Medium: kappa and rho (nx,nz); field: what sigma begins with. They may be used for many handles. */
static void bench_medium(float *kappa, float *rho, size_t cells) {
    for (size_t m = 0; m < cells; m++) {
        rho[m] = 1000 + 50 * bench_random(m);
        kappa[m] = rho[m] * 4e6f * (1 + 0.1f * bench_random(m + cells));
    }
}

static void bench_field(float *a, size_t cells, float scale) {
    for (size_t m = 0; m < cells; m++)
        a[m] = scale * (bench_random(m + 3 * cells) - 0.5f);
}

/* A source of nq samples, receivers along a line. */
static void bench_points(void *h, int nx, int nz, int nq) {
    int *i = (int *)bench_memory(RECEIVER_CELLS * RECEIVERS * sizeof(int));
    int *k = (int *)bench_memory(RECEIVER_CELLS * RECEIVERS * sizeof(int));
    int start[RECEIVERS + 1], field[RECEIVERS];
    float *w = (float *)bench_memory(RECEIVER_CELLS * RECEIVERS * sizeof(float));
    float *q = (float *)bench_memory((size_t)nq * sizeof(float));
    for (int n = 0; n < nq; n++)
        q[n] = bench_random((size_t)n) - 0.5f;
    for (int m = 0; m < SOURCE; m++)
        i[m] = nx / 2 + m % 8, k[m] = nz / 3 + m / 8, w[m] = 0.1f;
    if (fd2d_source(h, nq, q, SOURCE, i, k, w))
        bench_fail("source");
    for (int r = 0; r < RECEIVERS; r++) {
        start[r] = RECEIVER_CELLS * r, field[r] = 0;
        for (int m = 0; m < RECEIVER_CELLS; m++) {
            const int c = RECEIVER_CELLS * r + m;
            i[c] = 30 + (int)((long)(nx - 70) * r / RECEIVERS) + m, k[c] = nz / 10, w[c] = 0.1f;
        }
    }
    start[RECEIVERS] = RECEIVER_CELLS * RECEIVERS;
    if (fd2d_receivers(h, RECEIVERS, start, field, i, k, w))
        bench_fail("receivers");
    free(i), free(k), free(w), free(q);
}
