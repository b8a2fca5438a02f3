/* The common part of variants on a GPU, whatever their physics: a queue, receivers, arrays and textures. A variant's
 * own struct, h->own, begins with a gpu_frame; its verbs name gpu_frame_verbs, and a chunk of its steps is
 * gpu_frame_begin, gpu_repeat, gpu_end. All functions return 0, or 1 with a sentence. */
#pragma once

#include "gpu_link.h"
#include "gpu_points.h"
#include "handle.h"

enum { GPU_TEXTURES = 5 };

typedef struct gpu_frame {
    gpu_queue queue;
    gpu_points points; /* receivers */
    gpu_link link;     /* to other subdomains */
    cudaTextureObject_t texture[GPU_TEXTURES];
    int textures;
} gpu_frame;

static inline gpu_frame *gpu_frame_of(const handle *h) { return (gpu_frame *)h->own; }
static inline gpu_queue *gpu_queue_of(const handle *h) { return &gpu_frame_of(h)->queue; }

extern const frame_verbs gpu_frame_verbs;

/* h->own of `size` bytes, not yet open: gpu_open follows when the grid is known to be countable. */
int gpu_frame_make(handle *h, size_t size);

/* An array of a grid in device memory; count 0: it is not needed. */
typedef struct gpu_array {
    float **place;
    size_t count;
    const char *what;
} gpu_array;

int gpu_take_arrays(gpu_queue *q, const gpu_array *list, int n);
size_t gpu_array_bytes(const gpu_array *list, int n);
/* Zeros, in the order of the queue. */
int gpu_clear(gpu_queue *q, void *memory, size_t count, size_t size);

/* The largest number of elements of a 1D texture of linear memory; such a texture. */
int gpu_texture_limit(const gpu_queue *q, size_t *elements);
int gpu_make_texture(gpu_frame *f, float *memory, size_t count, cudaTextureObject_t *texture);

/* h->receivers to the device. The cell (0,0,0) of field f lies first[f] from where fields begin, y and z are the
 * distances to the next row and plane; group[f] is the number of the field in gpu_sample. All cells of a receiver are
 * of one group. */
int gpu_frame_receivers(handle *h, ptrdiff_t y, ptrdiff_t z, const ptrdiff_t *first, const int *group);
/* Distances of cells from cell (0,0,0). */
void gpu_find_cells(const cell_list *c, ptrdiff_t y, ptrdiff_t z, ptrdiff_t *cell);

/* A chunk of n steps from step it begins; there is room for its traces. */
int gpu_frame_begin(handle *h, int it, int n);

/* The GPU's name; empty where it does not tell. */
void gpu_device_name(handle *h, char *text, size_t length);
