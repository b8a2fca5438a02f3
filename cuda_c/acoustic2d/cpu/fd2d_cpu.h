/* The `cpu` variant inside: grid in memory, kernels, tiles. See fd2d_cpu_wave.c for the order of the work. */
#pragma once

#include "cpu_frame.h"
#include "der.h"
#include "fd2d.h"

/* Arrays are padded: column i of row k at a[k pitch + i], i = -LANES .. nxp + LANES - 1 (nxp = nx rounded up to LANES),
 * k = -DER_MAX .. nz + DER_MAX - 1. Padding is zero; it stays so as the coefficients there are zero. */
typedef struct cpu_grid {
    int nx, nz, nxp, L, free_top;
    ptrdiff_t pitch;
    float *field[FD2D_FIELDS]; /* sigma, vx, vz */
    float *bx, *bz, *kk;       /* see fd2d_coefficients */
    float w[DER_MAX], ratio;

    /* Memory variables live in strips: columns [0,left) and [right,nxp), whole cache lines, of which the layers take
     * [0,low_x) and [high_x,nx); rows [0,top) and [bottom,nz). */
    int left, right, low_x, high_x, top, bottom;
    ptrdiff_t xpitch;
    float *psix_v, *psix_s; /* (xpitch, nz): column i < left at i, else at left + i - right */
    float *psiz_v, *psiz_s; /* (nxp, rows in strips): row k < top at k, else at top + k - bottom */
    const float *px[6];     /* (nxp) a, b, 1/k at integer, at half points */
    const float *pz[6];     /* (nz) */
} cpu_grid;

/* Updates columns [i0,i1), multiples of LANES and at most CHUNK of them, of BLOCK rows or one from k on. */
typedef void cpu_kernel(const cpu_grid *g, int k, int i0, int i1);

enum { BLOCK = 4 };   /* rows a kernel keeps in registers */
enum { CHUNK = 128 }; /* columns done at a time, so that the rows of a vertical sum stay in the L1 cache */

/* [half_length - 1][0 velocity, 1 sigma][1 = BLOCK rows, 0 = one row] */
typedef cpu_kernel *cpu_kernels[DER_MAX][2][2];

extern const cpu_isa fd2d_cpu_generic, fd2d_cpu_avx2, fd2d_cpu_avx512; /* their kernels: cpu_kernels */

enum { TILE_WIDTH, TILE_STEPS, TILE_ROWS }; /* of frame.tile */

/* The variant's memory, h->own. */
typedef struct cpu_own {
    cpu_frame frame;
    cpu_grid grid;
    float *columns; /* px padded */
    float *psi;     /* all memory variables */
    size_t psi_count;
} cpu_own;

/* fd2d_cpu_wave.c: n steps from step it; trace(nrec, n). */
int fd2d_cpu_timestep(handle *h, int it, int n, float *trace);

/* Free surface: mirror rows k0..k1-1, columns [i0,i1) of a field into the rows above the surface. */
void fd2d_cpu_mirror(const cpu_grid *g, int field, int k0, int k1, int i0, int i1);
