/* The common part of variants on CPU cores, whatever their physics: an instruction set chosen at run time, threads,
 * memory on huge pages, the largest value of a field, receivers. A variant's own struct, h->own, begins with a
 * cpu_frame; its verbs begin with cpu_frame_verbs. */
#pragma once

#include "handle.h"

enum { LANES = 16 }; /* floats a cache line: rows begin at multiples of it for every instruction set */

/* Kernels compiled for an instruction set: simd_generic.h, simd_avx2.h or simd_avx512.h, then the solver's kernels. */
typedef struct cpu_isa {
    const char *name, *label;
    int (*supported)(void);
    int lanes;           /* floats of a vector */
    const void *kernels; /* the solver's table */
} cpu_isa;

int cpu_has_generic(void);
int cpu_has_avx2(void);
int cpu_has_avx512(void);

/* True where the L3 cache is far from the cores, which have large L2 caches: measured on Sapphire Rapids. */
int cpu_level3_is_far(void);

typedef struct cpu_frame {
    const cpu_isa *const *isas; /* best first; the last one, generic, always works */
    const cpu_isa *isa;         /* in use */
    int threads;
    int tile[3]; /* as `tune` is given them, 0 = automatic */
    void *pages; /* all fields and the medium */
    size_t page_bytes;
    float *samples; /* (sampled cells, steps) */
    size_t samples_count;
} cpu_frame;

static inline cpu_frame *cpu_frame_of(const handle *h) { return (cpu_frame *)h->own; }

/* h->own of `size` bytes, the best instruction set of this processor, threads (0: as many as OpenMP gives). */
int cpu_make(handle *h, size_t size, const cpu_isa *const *isas, int threads);
/* As many bytes, and up to a whole huge page. */
size_t cpu_whole_pages(size_t bytes);
/* Takes o->pages, not yet zeroed: the threads that will use them do that. `floats` are the same as a number that does
 * not overflow, `grid` what the sentence calls the grid: "300 x 200". */
int cpu_take_pages(handle *h, double floats, size_t bytes, const char *grid);

extern const frame_verbs cpu_frame_verbs;

/* The largest |value| of `rows` rows of n floats, and the first row and column that hold it. Infinities are above all
 * numbers, and NaN counts as infinity. */
typedef const float *cpu_row(const void *grid, long row);
void cpu_largest(const cpu_frame *o, const void *grid, cpu_row *row, long rows, int n, float *value, long *at,
                 int *column);

/* trace(receivers) from fields in host memory, whose cell (0,0,0) is at field[f]; y and z are the distances to the next
 * row and plane. */
void cpu_sample(const handle *h, float *const *field, ptrdiff_t y, ptrdiff_t z, float *trace);
/* The same from values of all sampled cells. */
void cpu_sum_receivers(const receiver_cells *r, const float *value, float *trace);
