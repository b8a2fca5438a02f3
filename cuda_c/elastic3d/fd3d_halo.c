/* The cells that a neighbour needs, and those at the rim of a subdomain. Halos are as wide as the differentiators are
 * long; stencils run along one axis, so edges and corners of the halo are never read.
 *
 * Wide, along an axis with neighbours at both sides, L = half_length:
 *
 *       -L      0      L             3L                 n-3L             n-L     n      n+L
 *        | halo |margin|   given      |       inner       |    given      |margin| halo |
 *        |<-- what comes -->|                                             |<- what comes ->|
 *
 * A box across an axis covers margins and halos of the axes before, which the neighbour has by then, and of those
 * behind the own cells alone. */
#include "fd3d.h"

static int is_wide(const fd3d_cfg *c, int side) { return c->wide && c->side[side] == FD3D_NEIGHBOUR; }

void fd3d_own_box(const fd3d_cfg *c, int lo[3], int hi[3]) {
    for (int a = 0; a < 3; a++) {
        lo[a] = is_wide(c, 2 * a) ? c->half_length : 0;
        hi[a] = c->n[a] - (is_wide(c, 2 * a + 1) ? c->half_length : 0);
    }
}

static void wide_box(const fd3d_cfg *c, int side, int own, int lo[3], int hi[3]) {
    const int a = side / 2, high = side % 2, width = 2 * c->half_length;
    fd3d_own_box(c, lo, hi);
    for (int b = 0; b < a; b++) {
        lo[b] -= is_wide(c, 2 * b) ? width : 0;
        hi[b] += is_wide(c, 2 * b + 1) ? width : 0;
    }
    lo[a] = high ? hi[a] - (own ? width : 0) : lo[a] - (own ? 0 : width);
    hi[a] = lo[a] + width;
}

void fd3d_halo_box(const fd3d_cfg *c, int side, int own, int lo[3], int hi[3]) {
    const int a = side / 2, high = side % 2, width = c->half_length;
    if (is_wide(c, side)) {
        wide_box(c, side, own, lo, hi);
        return;
    }
    for (int b = 0; b < 3; b++) {
        lo[b] = 0;
        hi[b] = c->n[b];
    }
    lo[a] = high ? c->n[a] - (own ? width : 0) : own ? 0 : -width;
    hi[a] = lo[a] + width;
}

void fd3d_halo_fields(int what, int side, int field[3]) {
    static const int along[3][3] = {
        {FD3D_SXX, FD3D_SXY, FD3D_SXZ}, {FD3D_SXY, FD3D_SYY, FD3D_SYZ}, {FD3D_SXZ, FD3D_SYZ, FD3D_SZZ}};
    for (int f = 0; f < 3; f++)
        field[f] = what == 0 ? FD3D_VX + f : along[side / 2][f];
}

int fd3d_rim_depth(const fd3d_cfg *c, int side) {
    return c->side[side] != FD3D_NEIGHBOUR ? 0 : (c->wide ? 3 : 1) * c->half_length;
}

void fd3d_inner_box(const fd3d_cfg *c, int lo[3], int hi[3]) {
    for (int a = 0; a < 3; a++) {
        lo[a] = fd3d_rim_depth(c, 2 * a);
        hi[a] = c->n[a] - fd3d_rim_depth(c, 2 * a + 1);
        if (hi[a] < lo[a])
            hi[a] = lo[a];
    }
}

int fd3d_in_part(const fd3d_cfg *c, int part, int i, int j, int k) {
    int lo[3], hi[3];
    if (part == FD3D_ALL)
        return 1;
    fd3d_inner_box(c, lo, hi);
    const int inner = i >= lo[0] && i < hi[0] && j >= lo[1] && j < hi[1] && k >= lo[2] && k < hi[2];
    return inner == (part == FD3D_INNER);
}
