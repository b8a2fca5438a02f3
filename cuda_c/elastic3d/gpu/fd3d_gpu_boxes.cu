// The cells that each launch updates: those without absorbing layers apart from those with, in each part of a half
// step. See fd3d_gpu.h.
#include "fd3d_gpu.h"

#include <climits>
#include <cstring>

enum { ALIGN = 32 }; // cells: boxes begin where cache lines do

struct box {
    int lo[3], hi[3];
};

static bool empty(const box &b) { return b.lo[0] >= b.hi[0] || b.lo[1] >= b.hi[1] || b.lo[2] >= b.hi[2]; }

static void add(fd3d_gpu_boxes *list, const box &b, const fd3d_gpu_box &like, const int shape[3], int align) {
    if (empty(b) || list->n == FD3D_GPU_BOXES)
        return;
    fd3d_gpu_box *to = &list->box[list->n];
    *to = like;
    memcpy(to->lo, b.lo, sizeof b.lo);
    memcpy(to->hi, b.hi, sizeof b.hi);
    for (int a = 0; a < 3; a++) {
        const int from = a == 0 && align > 0 ? b.lo[a] / align * align : b.lo[a];
        to->blocks[a] = (b.hi[a] - from + shape[a] - 1) / shape[a];
    }
    list->first[list->n + 1] = list->first[list->n] + to->blocks[0] * to->blocks[1] * to->blocks[2];
    list->n++;
}

static int clamp(int value, int lo, int hi) { return value < lo ? lo : value > hi ? hi : value; }

// Calls `take` with what of `b` lies outside of `hole`, in slabs across z, then y, then x; returns what lies inside.
template <class TAKE> static box split(box b, const box &hole, TAKE take) {
    for (int a = 2; a >= 0; a--) {
        box before = b, after = b;
        const int lo = clamp(hole.lo[a], b.lo[a], b.hi[a]), hi = clamp(hole.hi[a], lo, b.hi[a]);
        before.hi[a] = lo;
        after.lo[a] = hi;
        take(before);
        take(after);
        b.lo[a] = lo;
        b.hi[a] = hi;
    }
    return b;
}

// Cells in no layer; along x in whole cache lines where that leaves some.
static box without_layers(const fd3d_gpu_grid &g) {
    box b = {{g.low[0], g.low[1], g.low[2]}, {g.high[0], g.high[1], g.high[2]}};
    const int lo = (b.lo[0] + ALIGN - 1) / ALIGN * ALIGN, hi = b.hi[0] == g.nx ? g.nx : b.hi[0] / ALIGN * ALIGN;
    if (lo < hi) {
        b.lo[0] = lo;
        b.hi[0] = hi;
    }
    return b;
}

// Piece `range` of b along an axis: before, in or behind `lean`.
static void cut(box *b, const box &lean, int a, int range) {
    const int lo = clamp(lean.lo[a], b->lo[a], b->hi[a]), hi = clamp(lean.hi[a], lo, b->hi[a]), end = b->hi[a];
    if (range > 0)
        b->lo[a] = range == 1 ? lo : hi;
    b->hi[a] = range == 0 ? lo : range == 1 ? hi : end;
}

// Whole rows, apart by the axes along which they lie in layers.
static void sort_rows(fd3d_gpu *o, fd3d_gpu_boxes *to, const box &b, box lean) {
    const int align = o->kind->align;
    if (lean.lo[0] % align != 0 || (lean.hi[0] % align != 0 && lean.hi[0] != o->grid.nx))
        lean.lo[0] = lean.hi[0] = 0;                                  // no block has only cells without layers along x
    const int last = lean.hi[0] == o->grid.nx ? INT_MAX : lean.hi[0]; // no layer: blocks may reach behind the end
    for (int piece = 0; piece < 9; piece++) {
        box rows = b;
        cut(&rows, lean, 1, piece % 3);
        cut(&rows, lean, 2, piece / 3);
        add(to, rows, {{}, {}, {}, (piece % 3 == 1 ? 0 : 2) + (piece / 3 == 1 ? 0 : 4), {lean.lo[0], last}}, o->block,
            align);
    }
}

// Cells of b, in which the core lies, outside of it and those in a hole in it; `wider`: and those as near to them.
static void sort_outside(fd3d_gpu *o, fd3d_gpu_boxes *to, const box &b, int wider, const box &lean) {
    const fd3d_gpu_core &c = o->core;
    box core;
    to->n = to->first[0] = 0;
    for (int a = 0; a < 3; a++) {
        core.lo[a] = c.box.lo[a] + wider;
        core.hi[a] = c.box.hi[a] - wider;
    }
    split(b, core, [&](const box &outside) {
        if (!empty(outside))
            sort_rows(o, to, outside, lean);
    });
    box hole;
    for (int a = 0; a < 3; a++) {
        hole.lo[a] = clamp(c.hole.lo[a] - wider, core.lo[a], core.hi[a]);
        hole.hi[a] = c.hole.lo[a] < c.hole.hi[a] ? clamp(c.hole.hi[a] + wider, core.lo[a], core.hi[a]) : hole.lo[a];
    }
    if (!empty(hole))
        sort_rows(o, to, hole, lean);
}

// The cells of a part that is no box are not sorted by axes: there would be too many boxes.
void fd3d_gpu_plan(fd3d_gpu *o) {
    const box all = {{0, 0, 0}, {o->grid.nx, o->grid.ny, o->grid.nz}}, lean = without_layers(o->grid);
    const fd3d_gpu_box like = {};
    box inner;
    fd3d_inner_box(o->cfg, inner.lo, inner.hi);
    for (int part = FD3D_ALL; part <= FD3D_INNER; part++) {
        fd3d_gpu_boxes *plain = &o->plain[part], *layered = &o->layered[part];
        plain->n = layered->n = 0;
        plain->first[0] = layered->first[0] = 0;
        const auto with_layers = [&](const box &b) { add(layered, b, like, o->block, o->kind->align); };
        const auto sort = [&](const box &b) {
            add(plain, split(b, lean, with_layers), like, o->block, o->kind->align);
        };
        const box &whole = part == FD3D_INNER ? inner : all;
        if (o->kind->apart && part == FD3D_RIM)
            split(all, inner, [&](const box &b) { add(plain, b, {{}, {}, {}, 7, {}}, o->block, o->kind->align); });
        else if (part == FD3D_RIM)
            split(all, inner, [&](const box &b) {
                if (!empty(b))
                    sort(b);
            });
        else if (o->core.on)
            sort_outside(o, plain, whole, 0, lean);
        else if (o->kind->apart)
            sort_rows(o, plain, whole, lean);
        else
            sort(whole);
        if (o->core.on && part == FD3D_RIM)
            o->kept[part] = *plain;
        else if (o->core.on)
            sort_outside(o, &o->kept[part], whole, FD3D_GPU_REACH, lean);
    }
}
