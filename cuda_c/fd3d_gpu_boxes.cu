// Which cells are updated in which launch: those without absorbing layers apart from those with, in each part of a half
// step. See fd3d_gpu.h.
#include "fd3d_gpu.h"

#include <cstring>

enum { ALIGN = 32 }; // cells: boxes begin where cache lines do

struct box {
    int lo[3], hi[3];
};

static bool empty(const box &b) { return b.lo[0] >= b.hi[0] || b.lo[1] >= b.hi[1] || b.lo[2] >= b.hi[2]; }

static void add(fd3d_gpu_boxes *list, const box &b, const int shape[3], int align) {
    if (empty(b) || list->n == FD3D_GPU_BOXES)
        return;
    fd3d_gpu_box *to = &list->box[list->n];
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

// Cells without layers and away from sides that are not simply the end; along x from an even cell on.
void fd3d_gpu_find_middle(fd3d_gpu *o) {
    const fd3d_gpu_grid *g = &o->grid;
    const int L = o->cfg->half_length;
    box b = {{(g->low[0] + 1) / 2 * 2, g->low[1], g->low[2]}, {g->high[0], g->high[1], g->high[2]}};
    bool may = o->kind->both[L - 1] != nullptr;
    for (int s = 0; s < 6; s++)
        may = may && (o->cfg->side[s] == FD3D_OUTSIDE || (s == 4 && g->free_top));
    if (g->free_top && b.lo[2] < L)
        b.lo[2] = L;
    o->has_middle = may && !empty(b);
    memcpy(o->middle.lo, b.lo, sizeof b.lo);
    memcpy(o->middle.hi, b.hi, sizeof b.hi);
}

// Cells outside of `lean` by the axes along which they are: x, y or z alone, or several. Those that are inside go to
// `plain`.
static void sort_by_axes(fd3d_gpu_boxes *layered, fd3d_gpu_boxes *plain, const box &b, const box &lean, const int shape[3],
                         int align) {
    static const int class_of[8] = {0, FD3D_GPU_X, FD3D_GPU_Y, FD3D_GPU_ANY, FD3D_GPU_Z, FD3D_GPU_ANY, FD3D_GPU_ANY,
                                    FD3D_GPU_ANY};
    for (int piece = 0; piece < 27; piece++) {
        const int range[3] = {piece % 3, piece / 3 % 3, piece / 9}; // before, in, behind lean
        box part = b;
        int axes = 0;
        for (int a = 0; a < 3; a++) {
            const int lo = clamp(lean.lo[a], b.lo[a], b.hi[a]), hi = clamp(lean.hi[a], lo, b.hi[a]);
            part.lo[a] = range[a] == 0 ? b.lo[a] : range[a] == 1 ? lo : hi;
            part.hi[a] = range[a] == 0 ? lo : range[a] == 1 ? hi : b.hi[a];
            axes += range[a] == 1 ? 0 : 1 << a;
        }
        add(axes == 0 ? plain : &layered[class_of[axes]], part, shape, align);
    }
}

static void forget(fd3d_gpu_boxes *list) { list->n = list->first[0] = 0; }

static void plan_around_middle(fd3d_gpu *o, const box &all, const box &lean) {
    box middle;
    memcpy(middle.lo, o->middle.lo, sizeof middle.lo);
    memcpy(middle.hi, o->middle.hi, sizeof middle.hi);
    split(all, middle, [&](const box &rest) {
        sort_by_axes(o->layered[FD3D_GPU_AROUND], &o->plain[FD3D_GPU_AROUND], rest, lean, o->shape, o->kind->align);
    });
    o->kind->cut_middle(o, &o->middle);
}

// Boxes of a part that is no box are not sorted further: they would be too many.
void fd3d_gpu_plan(fd3d_gpu *o) {
    const box all = {{0, 0, 0}, {o->grid.nx, o->grid.ny, o->grid.nz}}, lean = without_layers(o->grid);
    const int align = o->kind->align;
    box inner;
    fd3d_inner_box(o->cfg, inner.lo, inner.hi);
    for (int part = FD3D_ALL; part < FD3D_GPU_LISTS; part++) {
        fd3d_gpu_boxes *plain = &o->plain[part], *layered = o->layered[part];
        forget(plain);
        for (int c = 0; c < FD3D_GPU_CLASSES; c++)
            forget(&layered[c]);
        const auto sort = [&](const box &b) {
            if (o->kind->apart && part != FD3D_RIM)
                sort_by_axes(layered, plain, b, lean, o->shape, align);
            else if (!empty(b))
                add(plain,
                    split(b, lean, [&](const box &rest) { add(&layered[FD3D_GPU_ANY], rest, o->shape, align); }),
                    o->shape, align);
        };
        if (part == FD3D_RIM)
            split(all, inner, sort);
        else if (part != FD3D_GPU_AROUND)
            sort(part == FD3D_INNER ? inner : all);
    }
    if (o->has_middle)
        plan_around_middle(o, all, lean);
}
