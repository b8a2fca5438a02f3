// Blocks that march down have this in common, those of one step and those of several: their share of the grid, and sums
// along z that move on with them.
#pragma once

#include "fd2d_tuned.cuh"

namespace tuned {

struct work {             // of a block
    int tile, first, end; // columns, rows [first, end)
};

// First row of piece n of m.
__host__ __device__ inline int cut_row(const args &g, int n, int m) {
    const long long whole = g.nz + (long long)(g.cut.weight - 1) * (g.top + g.nz - g.bottom), part = whole * n / m;
    const long long above = (long long)g.cut.weight * g.top, inner = above + g.bottom - g.top;
    return (int)(part < above   ? part / g.cut.weight
                 : part < inner ? part - above + g.top
                                : g.bottom + (part - inner) / g.cut.weight);
}

__host__ __device__ inline int count_work(const plan &p) {
    const int sides = p.left + p.right;
    return sides * p.side_pieces + (p.tiles - sides) * p.pieces;
}

// Sides first: they take longest.
__host__ __device__ inline work find_work(const args &g, int block) {
    const plan &p = g.cut;
    const int sides = p.left + p.right, first = sides * p.side_pieces;
    const bool side = block < first;
    const int tiles = side ? sides : p.tiles - sides, n = side ? block : block - first,
              m = side ? p.side_pieces : p.pieces;
    const int tile = n % tiles, piece = n / tiles;
    return {side ? (tile < p.left ? tile : p.tiles - sides + tile) : p.left + tile, cut_row(g, piece, m),
            cut_row(g, piece + 1, m)};
}

// A value p enters the 2L sums it matters to; all move on by one; the first is complete.
template <int L> __device__ __forceinline__ float scatter(float (&sum)[2 * L], const float *w, float p) {
#pragma unroll
    for (int j = 0; j < 2 * L; j++)
        sum[j] = add_row<L>(w, L - j, p, sum[j + 1 < 2 * L ? j + 1 : j]);
    return sum[0];
}

} // namespace tuned
