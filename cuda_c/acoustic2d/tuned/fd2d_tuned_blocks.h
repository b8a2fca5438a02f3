// The kernel that makes a step of the `tuned` variant, and the way it cuts the grid into blocks. Both decide speed, not
// numbers.
#pragma once

#include "fd2d_tuned.cuh"

namespace tuned {

enum form { MARCH_NARROW, MARCH_WIDE, TILE_LOW, TILE_HIGH, FORMS };

// Of a march: the blocks that the GPU holds at once, times `waves`, are shared out; a tile at a side, in a layer, gets
// `side` times as many pieces; a row in a layer along z counts `weight` times.
struct choice {
    form kind;
    int waves;
    double side;
    int weight;
};

struct launch {
    void (*step)(args);
    size_t shared;
    int threads;
    int columns, rows; // a block writes; rows 0: it marches
    int across, down;  // tiles side by side, one below the other
    int work;          // blocks that compute cells
    int receivers;     // that a warp samples
    plan cut;
    form kind;
};

// fd2d_tuned_cache.cu: forms by name; what an earlier run of these kernels found.
const char *form_name(form kind);
int find_form(const char *name, form *kind);
bool recall_choice(const fd2d_cfg *c, int device, choice *best);
void keep_choice(const fd2d_cfg *c, int device, const choice &best);

// The launch of a choice; `fits` tells whether there is one for this grid and the GPU has the shared memory for it.
int find_launch(const args &g, const fd2d_cfg *cfg, int device, const choice &c, launch *l, bool *fits);

// Chooses the launch that the handle's configuration names, else one that suits it. A handle that has the GPU for
// itself is timed: `steps` queues n steps with the launch in *l, on `stream`. The result serves later handles that
// compute the same.
int choose_launch(const args &g, const fd2d_cfg *c, int device, cudaStream_t stream, int (*steps)(void *self, int n),
                  void *self, launch *l);

} // namespace tuned
