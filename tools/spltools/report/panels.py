"""Gathers to leaf through: SVG with axes around an image of few greys, or, of few receivers, a line a trace."""
import io
from html import escape

import numpy as np
from PIL import Image

from spltools import cli
from spltools.plot import figures
from spltools.plot.figures import matplotlib
from spltools.report.charts import data_uri

LEAVES = 24                        # gathers shown
BYTES_MOST = 2200000               # of all their images
LINES_MOST = 24                    # receivers drawn a line each
WIDE, HIGH = 340, 520              # largest image
GREYS = 48
CLIP = 98.0
LEFT, TOP, RIGHT, BOTTOM, W, H = 70, 40, 730, 560, 750, 620


class Leaf:
    """record, component, svg."""


def leaves(file, slots, components):
    """Gathers of `slots`, which are whole, thinned until they fit; (leaves, one in how many)."""
    slots = [s for s in slots if file.nrec[s] > 0]
    every = max(1, -(-len(slots) * len(components) // LEAVES))
    while slots:
        found = [leaf(file, s, c) for s in slots[::every] for c in components]
        if sum(len(one.svg) for one in found) <= BYTES_MOST or len(slots) <= every:
            return found, every
        every *= 2
    return [], 1


def leaf(file, slot, component):
    g = file.gather(slot, component)
    one = Leaf()
    one.record, one.component = g.record, component
    traces, at, name = chosen(g)
    if not np.isfinite(traces).all():
        traces = np.nan_to_num(traces, nan=0.0, posinf=0.0, neginf=0.0)
    clip = figures.clip_of([traces], CLIP)
    factor, unit = figures.prefixed(g.units, clip)
    source = f'source x {g.sx:,.1f} m' + (f', y {g.sy:,.1f} m' if g.three_d else '') + f', depth {g.sz:,.1f} m'
    title = f'shot record {g.record}, {component}; {source}'
    note = cli.counted(g.nrec, 'trace', form=',') + (f', {len(at)} drawn' if len(at) < g.nrec else '') \
        + f'; clipped at {clip * factor:.3g} {unit}, percentile {CLIP:g}'
    if g.nrec > LINES_MOST:
        body = picture(g, traces, at, clip, name)
    else:
        top = float(np.abs(traces).max(initial=0.0))
        body = lines(g, traces, top or 1.0)
        factor, unit = figures.prefixed(g.units, top or 1.0)
        note = f'{cli.counted(g.nrec, "trace", form=",")} on one scale; the largest sample is {top * factor:.3g} {unit}'
    one.svg = (f'<svg viewBox="0 0 {W} {H}" role="img" aria-label="{escape(title)}">'
               f'<text x="{LEFT}" y="24" class="t">{escape(title)}</text>{body}'
               f'<text x="{(LEFT + RIGHT) / 2}" y="{H - 4}" class="n" text-anchor="middle">{escape(note)}</text></svg>')
    return one


def chosen(g):
    """(traces, their position across, name of that): by offset, in 3D with several azimuths by channel. At most so many as the
    image has columns."""
    side, name = g.offset(), 'offset [m]'
    if g.three_d and len(np.unique(np.round(side, 1))) < len(side):
        side, name = np.asarray(g.channel, float), 'channel'
    order = np.argsort(side, kind='stable')
    order = order[:: max(1, -(-len(order) // (2 * WIDE)))]
    return np.asarray(g.raw[np.sort(order)], np.float32), side[np.sort(order)], name


def picture(g, traces, at, clip, name):
    first, step, image = figures.on_regular_axis(traces, at)
    gap = np.isnan(image)
    grey = Image.fromarray(np.uint8(np.round(127.5 * (1 - np.clip(np.where(gap, 0, image) / clip, -1, 1)))).T)
    size = min(WIDE, image.shape[0]), min(HIGH, image.shape[1])
    values = np.asarray(grey.resize(size, Image.Resampling.BOX), np.int32) * (GREYS - 1) // 255
    missing = np.asarray(Image.fromarray(np.uint8(gap.T) * 255).resize(size, Image.Resampling.NEAREST)) > 0
    values[missing] = GREYS
    out = Image.fromarray(np.uint8(values), 'P')
    rgb = [int(round(255 * c)) for c in matplotlib.colors.to_rgb(figures.GAP)]
    out.putpalette([v for i in range(GREYS) for v in [i * 255 // (GREYS - 1)] * 3] + rgb)
    png = io.BytesIO()
    out.save(png, 'PNG', optimize=True)
    low, high = first - step / 2, first + step * (image.shape[0] - 0.5)
    drawn = (f'<image x="{LEFT}" y="{TOP}" width="{RIGHT - LEFT}" height="{BOTTOM - TOP}" preserveAspectRatio="none" '
             f'href="{data_uri(png.getvalue())}"/>')
    return drawn + frame() + ticks_across(low, high, name) + ticks_down(float(g.time[0]), float(g.time[-1]), 'time [s]')


def lines(g, traces, top):
    """Time to the right, a row a trace, the first receiver on top."""
    many = 450
    n = len(traces)
    row = (BOTTOM - TOP) / n
    per = max(1, -(-traces.shape[1] // many))
    padded = np.pad(traces, ((0, 0), (0, -traces.shape[1] % per)))
    groups = padded.reshape(n, -1, per)
    values = np.take_along_axis(groups, np.abs(groups).argmax(axis=2)[:, :, None], axis=2)[:, :, 0]
    x = LEFT + (RIGHT - LEFT) * (np.arange(values.shape[1]) * per) / max(1, traces.shape[1] - 1)
    y = np.round(TOP + row * (np.arange(n)[:, None] + 0.5 - 0.48 * values / top), 1)
    steps = np.round(np.diff(np.round(x, 1)), 1)
    paths = ''
    for i in range(n):
        down = np.round(np.diff(y[i]), 1)
        paths += f'M{x[0]:.1f} {y[i, 0]:g}l' + ' '.join(f'{a:g} {b:g}' for a, b in zip(steps, down))
    labels = ''.join(f'<text x="{LEFT - 6}" y="{TOP + row * (i + 0.5) + 4:.1f}" text-anchor="end">{int(c)}</text>'
                     for i, c in enumerate(g.channel))
    label = f'<text transform="translate(16 {(TOP + BOTTOM) / 2}) rotate(-90)" text-anchor="middle">channel</text>'
    return (f'<path d="{paths}" class="w"/>' + frame() + labels + label
            + ticks_across(float(g.time[0]), float(g.time[-1]), 'time [s]'))


def frame():
    return f'<rect x="{LEFT}" y="{TOP}" width="{RIGHT - LEFT}" height="{BOTTOM - TOP}" class="f"/>'


def marks(low, high):
    at = matplotlib.ticker.MaxNLocator(7).tick_values(low, high) if high > low else np.array([low])
    return [v for v in at if low - 1e-9 <= v <= high + 1e-9]


def ticks_across(low, high, name):
    out = f'<text x="{(LEFT + RIGHT) / 2}" y="{BOTTOM + 36}" text-anchor="middle">{escape(name)}</text>'
    for v in marks(low, high):
        x = LEFT + (RIGHT - LEFT) * (v - low) / max(high - low, 1e-30)
        out += f'<path d="M{x:.1f} {BOTTOM}v5" class="f"/><text x="{x:.1f}" y="{BOTTOM + 18}" text-anchor="middle">{said(v)}</text>'
    return out


def ticks_down(low, high, name):
    out = f'<text transform="translate(16 {(TOP + BOTTOM) / 2}) rotate(-90)" text-anchor="middle">{escape(name)}</text>'
    for v in marks(low, high):
        y = TOP + (BOTTOM - TOP) * (v - low) / max(high - low, 1e-30)
        out += f'<path d="M{LEFT} {y:.1f}h-5" class="f"/><text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{said(v)}</text>'
    return out


def said(value):
    return f'{value:.10g}'.replace('-', '−')
