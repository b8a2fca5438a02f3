// The kernels of tiles that stay, and their launch.
#include "fd2d_tuned_stay.cuh"

#include <algorithm>

#include "fd2d_tuned.h"

namespace tuned {

template <int L, int R> static launch stay_of() {
    using S = stay_shape<L, R>;
    return {.step = stay_in_tiles<L, R>,
            .shared = S::bytes,
            .threads = S::ALL,
            .steps = STAY_STEPS,
            .columns = S::W,
            .rows = S::H,
            .receivers = TEAMS};
}

template <int L> static launch launch_of(form kind) { return kind == STAY_LOW ? stay_of<L, 1>() : stay_of<L, 2>(); }

launch stay_kernel(int half_length, form kind) {
    static launch (*const of[DER_MAX])(form) = {launch_of<1>, launch_of<2>, launch_of<3>, launch_of<4>,
                                                launch_of<5>, launch_of<6>, launch_of<7>, launch_of<8>};
    return of[half_length - 1](kind);
}

// The end of a launch: counts its steps, and forgets which of them were sampled.
static __global__ void leave_board(gpu_clock *clock, stay_board *board, int steps) {
    clock->step += steps;
    *board = {board->turn + (unsigned)steps};
}

int stay_in(own_t *o, const launch &l, args g, int steps) {
    const ptrdiff_t shares = (g.points.nrec + l.receivers - 1) / l.receivers, more = shares - l.work,
                    warps = l.threads / WARP;
    cudaLaunchAttribute together = {};
    cudaLaunchConfig_t config = {};
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    g.work = l.work;
    g.down = l.down;
    g.samplers = more > 0 ? (int)std::min<ptrdiff_t>(l.spare, (more + warps - 1) / warps) : 0;
    g.stay = {steps, o->board, (unsigned long long *)o->told + o->origin, (ptrdiff_t)o->count};
    config.gridDim = dim3((unsigned)(g.work + g.samplers));
    config.blockDim = dim3((unsigned)l.threads);
    config.dynamicSmemBytes = l.shared;
    config.stream = o->queue.stream;
    config.attrs = &together;
    config.numAttrs = 1;
    CUDA_TRY(cudaLaunchKernelEx(&config, l.step, g));
    leave_board<<<1, 1, 0, o->queue.stream>>>(o->queue.clock, o->board, steps);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

} // namespace tuned
