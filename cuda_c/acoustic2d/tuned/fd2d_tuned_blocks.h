// The kernel that makes a step of the `tuned` variant, and the way it cuts the grid into blocks. Both decide speed, not
// numbers.
#pragma once

#include "fd2d_tuned.cuh"

namespace tuned {

// Those of one step, by which a handle takes the steps that no pass fits into; passes of several; tiles that stay for
// many.
enum form {
    MARCH_NARROW,
    MARCH_WIDE,
    TILE_LOW,
    TILE_HIGH,
    FORMS,
    NO_PASS = FORMS,
    PASS_2,
    PASS_3,
    PASS_4,
    STAY_LOW,
    STAY_HIGH,
    ALL_FORMS
};

// Of a march: the blocks that the GPU holds at once, times `waves`, are shared out; a strip at a side, in a layer, gets
// at least `side` times as many pieces; a row in a layer along z counts `weight` times; `pair`: blocks take both sides.
struct choice {
    form kind;
    int waves;
    double side;
    int weight, pair;
};

constexpr int PASS_LENGTH = 4; // half-lengths that have passes of several steps

constexpr int STAY_STEPS = 64;     // of a launch of tiles that stay
constexpr int MOST_STAYING = 1024; // such tiles of 64 x 32 cells

inline bool stays(form kind) { return kind == STAY_LOW || kind == STAY_HIGH; }

struct launch {
    void (*step)(args);
    size_t shared;
    int threads;
    int steps;         // of a launch
    int width, margin; // of a strip: columns in all, those at each side that are not written
    int columns, rows; // a block writes; rows 0: it marches
    int across, down;  // tiles side by side, one below the other
    int work;          // blocks that compute cells
    int spare;         // beside tiles that stay: blocks that there is room for
    int receivers;     // that a warp samples
    plan cut;
    form kind;
};

// fd2d_tuned_cache.cu: forms by name; what an earlier run of these kernels found, of one step or of passes.
const char *form_name(form kind);
int find_form(const char *name, form *kind);
bool recall_choice(const fd2d_cfg *c, int device, bool of_passes, choice *best);
void keep_choice(const fd2d_cfg *c, int device, bool of_passes, const choice &best);

// fd2d_tuned_kernels.cu, fd2d_tuned_pass.cu, fd2d_tuned_stay.cu: the kernel of a step, of passes of so many steps, of
// tiles that stay.
launch step_kernel(const fd2d_cfg *c, form kind);
launch pass_kernel(const fd2d_cfg *c, int steps);
launch stay_kernel(int half_length, form kind);
// Tells if there are passes of several steps for this grid; what is asked for by hand and cannot be fails with a
// sentence.
bool may_pass(const args &g, const fd2d_cfg *c);
int check_pass(const args &g, const fd2d_cfg *c);
bool may_stay(const args &g, const fd2d_cfg *c);

// The launch of a choice; `fits` tells whether there is one for this grid and the GPU has the shared memory for it.
int find_launch(const args &g, const fd2d_cfg *cfg, int device, const choice &c, launch *l, bool *fits);

// Queues n launches.
typedef int (*queue_launches)(void *self, int n);

// Steps that a launch is timed by, at most: rows of traces that this takes.
constexpr int TIMED = 32, TIMED_ROWS = TIMED + 3;

// Chooses the launch that the handle's configuration names, else one that suits it. A handle that has the GPU for
// itself is timed: `steps` queues n of the launch in *l. The result serves later handles that compute the same. Then
// the same for passes, `steps` of *pass; pass->steps is 0 where one step a launch is faster.
int choose_launch(const args &g, const fd2d_cfg *c, gpu_queue *queue, queue_launches steps, void *self, launch *l);
int choose_pass(const args &g, const fd2d_cfg *c, gpu_queue *queue, queue_launches steps, queue_launches passes,
                void *self, launch *pass);

} // namespace tuned
