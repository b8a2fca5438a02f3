/* The cells that a neighbour needs, and those at the rim of a subdomain. Halos are as wide as the differentiators are
 * long; stencils run along one axis, so edges and corners of the halo are never read. */
#include "fd3d.h"

void fd3d_halo_box(const fd3d_cfg *c, int side, int own, int lo[3], int hi[3]) {
    const int a = side / 2, high = side % 2, width = c->half_length;
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

void fd3d_inner_box(const fd3d_cfg *c, int lo[3], int hi[3]) {
    for (int a = 0; a < 3; a++) {
        lo[a] = c->side[2 * a] == FD3D_NEIGHBOUR ? c->half_length : 0;
        hi[a] = c->n[a] - (c->side[2 * a + 1] == FD3D_NEIGHBOUR ? c->half_length : 0);
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
