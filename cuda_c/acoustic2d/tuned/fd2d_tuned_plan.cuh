// Blocks that march down have this in common, those of one step and those of several: their share of the grid, and sums
// along z that move on with them.
#pragma once

#include "fd2d_tuned.cuh"

namespace tuned {

struct work {           // of a block
    int x0, first, end; // first column, margins included; rows [first, end)
};

// First row of piece n of m.
__host__ __device__ inline int cut_row(const args &g, int n, int m) {
    const long long whole = g.nz + (long long)(g.cut.weight - 1) * (g.top + g.nz - g.bottom), part = whole * n / m;
    const long long above = (long long)g.cut.weight * g.top, inner = above + g.bottom - g.top;
    return (int)(part < above   ? part / g.cut.weight
                 : part < inner ? part - above + g.top
                                : g.bottom + (part - inner) / g.cut.weight);
}

__host__ __device__ inline int side_strips(const plan &p) { return p.pair ? 1 : p.left + p.right; } // of blocks

__host__ __device__ inline int count_work(const plan &p) { return side_strips(p) * p.side_pieces + p.inner * p.pieces; }

__host__ __device__ inline bool is_pair(const plan &p, int block) { return p.pair && block < p.side_pieces; }

// Sides first: they take longest. Of a pair that of the left half.
__host__ __device__ inline work find_work(const args &g, int block) {
    const plan &p = g.cut;
    const int first = side_strips(p) * p.side_pieces;
    const bool side = block < first;
    const int strips = side ? side_strips(p) : p.inner, m = side ? p.side_pieces : p.pieces;
    const int n = side ? block : block - first, piece = n / strips, strip = n % strips;
    const int inner = p.inner_at + strip * p.columns;
    return {!side            ? inner < p.inner_last ? inner : p.inner_last
            : strip < p.left ? p.left_at + strip * p.side_columns
                             : p.right_at + (strip - p.left) * p.side_columns,
            cut_row(g, piece, m), cut_row(g, piece + 1, m)};
}

// A value p enters the 2L sums it matters to; all move on by one; the first is complete.
template <int L> __device__ __forceinline__ float scatter(float (&sum)[2 * L], const float *w, float p) {
#pragma unroll
    for (int j = 0; j < 2 * L; j++)
        sum[j] = add_row<L>(w, L - j, p, sum[j + 1 < 2 * L ? j + 1 : j]);
    return sum[0];
}

} // namespace tuned
