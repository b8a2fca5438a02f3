// The kernels of passes of several steps: strips as wide, and rows fetched as far ahead, as was found fastest on an
// H100 and an H200.
#include "fd2d_tuned_blocks.h"
#include "fd2d_tuned_pass.cuh"

namespace tuned {

template <int L, int T, int W, int AHEAD, int BLOCKS, bool APART = false> static launch pass_of() {
    using S = pass_shape<L, T, W, AHEAD, APART>;
    return {.step = step_pass<L, T, W, AHEAD, BLOCKS, APART>,
            .shared = S::bytes,
            .threads = S::N,
            .steps = T,
            .width = W,
            .margin = S::M,
            .columns = W - 2 * S::M,
            .receivers = 8};
}

template <int L, int T, int W, int AHEAD, int BLOCKS> static launch apart() {
    return pass_of<L, T, W, AHEAD, BLOCKS, true>();
}

launch pass_kernel(const fd2d_cfg *c, int steps) {
    static launch (*const of_one[PASS_LENGTH][MOST_STEPS - 1])() = {
        {pass_of<1, 2, 256, 3, 4>, pass_of<1, 3, 256, 2, 2>, pass_of<1, 4, 256, 3, 2>},
        {pass_of<2, 2, 256, 2, 4>, pass_of<2, 3, 256, 2, 2>, pass_of<2, 4, 256, 3, 2>},
        {pass_of<3, 2, 256, 2, 3>, pass_of<3, 3, 512, 2, 1>, pass_of<3, 4, 384, 2, 1>},
        {pass_of<4, 2, 256, 2, 3>, pass_of<4, 3, 512, 2, 1>, pass_of<4, 4, 384, 2, 1>},
    };
    static launch (*const of_two[PASS_LENGTH][MOST_STEPS - 1])() = {
        {apart<1, 2, 256, 3, 4>, apart<1, 3, 256, 2, 2>, apart<1, 4, 256, 3, 2>},
        {apart<2, 2, 256, 2, 4>, apart<2, 3, 256, 2, 2>, apart<2, 4, 256, 3, 2>},
        {apart<3, 2, 256, 2, 3>, apart<3, 3, 256, 2, 2>, apart<3, 4, 384, 2, 1>},
        {apart<4, 2, 256, 2, 3>, apart<4, 3, 256, 2, 2>, apart<4, 4, 384, 2, 1>},
    };
    return (c->apart ? of_two : of_one)[c->half_length - 1][steps - 2]();
}

} // namespace tuned
