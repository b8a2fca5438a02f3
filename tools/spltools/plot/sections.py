"""Traces of a section: of every shot the nearest one or that of an offset, or all of them sorted by midpoint."""
import numpy as np

from spltools import cli
from spltools.plot import figures


class Section:
    """traces (n, nt) at positions `at` (rising) along the axis `name`; title; ticks (places, texts) or None; told: what was left
    out, ''."""


def choose(file, slots, component, a):
    if a.first is not None and a.last is not None and not a.first < a.last:
        cli.fail(f'no midpoints lie from {a.first:g} m to {a.last:g} m: --from must be less than --to')
    if a.offset is not None and a.kind != 'offset':
        cli.fail(f'--offset is of --kind offset, not of {a.kind}')
    if a.bin is not None and a.kind != 'cmp':
        cli.fail(f'--bin is of --kind cmp, not of {a.kind}')
    if a.kind == 'cmp':
        return by_midpoint(file, slots, component, a)
    return by_shot(file, slots, component, a)


def by_shot(file, slots, component, a):
    """One trace a shot: nearest to the source, or to an offset, if it is no farther from it than half the receiver interval."""
    middle = file.gather(slots[len(slots) // 2], component).offset()
    wanted = None if a.kind == 'near' else float(np.sort(middle)[len(middle) // 2]) if a.offset is None else a.offset
    steps = np.abs(np.diff(np.sort(middle)))
    steps = steps[steps > 1e-6]
    reach = 0.501 * float(np.median(steps)) if len(steps) else 1.0
    kept, places, offsets = [], [], []
    for slot in slots:
        g = file.gather(slot, component)
        offset = g.offset()
        r = int(np.argmin(np.abs(offset - wanted) if wanted is not None else np.abs(offset)))
        x = 0.5 * (g.sx + g.rx[r])
        if (wanted is None or abs(offset[r] - wanted) <= reach) and inside(x, a):
            kept.append((slot, r))
            places.append(x)
            offsets.append(offset[r])
    if not kept:
        where = f' within {reach:g} m of {wanted:g} m' if wanted is not None else ''
        cli.fail(f'{file.path}: no trace has an offset{where} at these midpoints; shot record '
                 f'{file.record[slots[len(slots) // 2]]} has offsets from {middle.min():g} to {middle.max():g} m')
    every = max(1, -(-len(kept) // figures.TRACES_MOST))
    s = Section()
    s.told = f'{len(slots) - len(kept)} of {cli.counted(len(slots), "shot")} without such a trace' if len(kept) < len(slots) else ''
    kept, places = kept[::every], np.array(places[::every])
    s.traces = np.stack([np.asarray(file.gather(slot, component).raw[r], np.float32) for slot, r in kept])
    s.name, s.at, s.ticks = 'midpoint x [m]', places, None
    if file.three_d or len(np.unique(np.round(places, 3))) < len(places):      # no line: shot beside shot
        s.name, s.at = 'shot record', np.arange(len(kept), dtype=float)
        at = np.unique(np.linspace(0, len(kept) - 1, min(9, len(kept))).astype(int))
        s.ticks = at, [str(file.record[kept[i][0]]) for i in at]
    what = 'Near traces' if wanted is None else f'Offset {wanted:,.6g} m'
    few = f', one shot in {every}' if every > 1 else ''
    s.title = f'{what}: {cli.counted(len(kept), "shot", form=",")}{few}, offsets {min(offsets):,.6g} to {max(offsets):,.6g} m'
    return s


def spaced(places, least):
    """Those of rising places that stand at least so far from the one before: bins have few traces or many."""
    kept = []
    for place in places:
        if not kept or place - kept[-1] >= least:
            kept.append(place)
    return np.array(kept)


def inside(x, a):
    return (a.first is None or x >= a.first) & (a.last is None or x <= a.last)


def by_midpoint(file, slots, component, a):
    """All traces, bin after bin of midpoints, the shortest offset first; where they are too many, some bins."""
    rows, steps = [], []
    for slot in slots:
        g = file.gather(slot, component)
        x, y = 0.5 * (g.sx + g.rx), 0.5 * (g.sy + g.ry) if g.three_d else np.zeros(g.nrec)
        rows.append(np.stack([np.full(g.nrec, slot), np.arange(g.nrec), x, y, np.abs(g.offset())]))
        steps.append(np.hypot(np.diff(g.rx), np.diff(g.ry) if g.three_d else 0.0))
    slot, r, x, y, offset = np.concatenate(rows, axis=1)
    step = np.concatenate(steps)
    step = float(np.median(step[step > 1e-6])) if (step > 1e-6).any() else 25.0
    width = a.bin or step / 2
    keep = np.broadcast_to(inside(x, a), x.shape)
    if not keep.any():
        cli.fail(f'{file.path}: no midpoint lies there; they reach from {x.min():g} to {x.max():g} m')
    slot, r, x, y, offset = (v[keep] for v in (slot, r, x, y, offset))
    bx, by = np.floor(x / width + 0.5), np.floor(y / width + 0.5)
    order = np.lexsort((offset, bx, by))
    bins, number = np.unique(np.stack([by, bx]), axis=1, return_inverse=True)
    number = np.ravel(number)[order]
    total, every = len(order), max(1, -(-len(order) // figures.TRACES_MOST))
    chosen = number % every == 0
    order, number = order[chosen][:figures.TRACES_MOST], number[chosen][:figures.TRACES_MOST]
    s = Section()
    s.traces = np.empty((len(order), file.nt), np.float32)
    place = np.argsort(slot[order], kind='stable')                             # shot after shot as they lie in the file
    for i in place:
        s.traces[i] = file.gather(int(slot[order[i]]), component).raw[int(r[order[i]])]
    s.at, s.name, s.told = np.arange(len(order), dtype=float), f'midpoint {"x, y" if file.three_d else "x"} [m]', ''
    first = np.flatnonzero(np.r_[True, np.diff(number) > 0])
    some = spaced(first, len(order) / (5 if file.three_d else 9))
    s.ticks = some, [', '.join(f'{v * width:,.6g}' for v in bins[::-1, number[i]][:2 if file.three_d else 1]) for i in some]
    few = f', one bin in {every} drawn' if every > 1 else ''
    s.title = (f'Sorted by midpoint, then offset: {cli.counted(total, "trace", form=",")} in '
               f'{cli.counted(bins.shape[1], "bin", form=",")} of {width:g} m{few}, '
               f'offsets {offset.min():,.6g} to {offset.max():,.6g} m')
    return s
