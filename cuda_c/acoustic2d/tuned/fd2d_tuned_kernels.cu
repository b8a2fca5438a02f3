// The kernels of one step of the `tuned` variant.
#include "fd2d_tuned_blocks.h"
#include "fd2d_tuned_march.cuh"
#include "fd2d_tuned_tile.cuh"

namespace tuned {

template <int L, int T, bool APART> static launch march_of() {
    using S = march_shape<L, T, APART>;
    return {.step = step_march<L, T, APART>,
            .shared = S::bytes,
            .threads = T,
            .steps = 1,
            .width = V * T,
            .margin = HALO,
            .columns = S::W,
            .receivers = 32};
}

template <int L, int R, bool KEEP_V> static launch tile_of() {
    using S = tile_shape<L, R, KEEP_V>;
    return {.step = step_tile<L, R, KEEP_V>,
            .shared = S::bytes,
            .threads = S::N,
            .steps = 1,
            .columns = S::W,
            .rows = S::H,
            .receivers = 8};
}

template <int L, int T> static launch march_for(bool apart) {
    if constexpr (L > PASS_LENGTH)
        if (apart)
            return march_of<L, T, true>();
    return march_of<L, T, false>();
}

template <int L, bool KEEP_V> static launch launch_of(form kind, bool apart) {
    switch (kind) {
    case MARCH_NARROW:
        return march_for<L, 64>(apart);
    case MARCH_WIDE:
        return march_for<L, 128>(apart);
    case TILE_LOW:
        return tile_of<L, 2, KEEP_V>();
    default:
        return tile_of<L, 4, KEEP_V>();
    }
}

template <bool KEEP_V> static launch step_of(int half_length, form kind, bool apart) {
    static launch (*const of[DER_MAX])(form, bool) = {launch_of<1, KEEP_V>, launch_of<2, KEEP_V>, launch_of<3, KEEP_V>,
                                                      launch_of<4, KEEP_V>, launch_of<5, KEEP_V>, launch_of<6, KEEP_V>,
                                                      launch_of<7, KEEP_V>, launch_of<8, KEEP_V>};
    return of[half_length - 1](kind, apart);
}

launch step_kernel(const fd2d_cfg *c, form kind) {
    return c->velocities ? step_of<true>(c->half_length, kind, c->apart)
                         : step_of<false>(c->half_length, kind, c->apart);
}

} // namespace tuned
