"""Charts of a report: PNG as text that stands in the page itself."""
import base64
import io

import numpy as np
from PIL import Image

from spltools import cli
from spltools.gathers.gathers import DONE, PARKED
from spltools.plot.figures import decibel, lay_map, matplotlib, plt, prefixed
from spltools.report import coverage, quality

COLOURS = {DONE: '#0b6e4f', PARKED: '#c8102e', 0: '#9a9a9a'}
NAMES = {DONE: 'done', PARKED: 'parked', 0: 'to do'}
RECEIVER, INK, PLANNED = '#3b6fb6', '#0b3c5d', '#c9c9c9'
DEVICES = ('#0b6e4f', '#e08e0b', '#3b6fb6', '#8e44ad', '#7f5539', '#c8102e', '#2ec4b6', '#555555')
EMPTY = 'viridis'
ROWS_MOST = 64                     # workers drawn one by one


class Chart:
    """name, title, caption, image (PNG as data: text)."""

    def __init__(self, name, title, figure, caption):
        self.name, self.title, self.caption, self.image = name, title, caption, encoded(figure)


def encoded(figure):
    """The figure as PNG of at most 128 colours: a third of the bytes, and no eye sees it."""
    out, small = io.BytesIO(), io.BytesIO()
    figure.savefig(out, dpi=100, format='png')
    plt.close(figure)
    Image.open(out).convert('RGB').quantize(128, dither=Image.Dither.NONE).save(small, 'PNG', optimize=True)
    return data_uri(small.getvalue())


def data_uri(png):
    return 'data:image/png;base64,' + base64.b64encode(png).decode()


def new(width=7.6, height=4.2):
    figure, ax = plt.subplots(figsize=(width, height), constrained_layout=True)
    ax.grid(color='0.92', linewidth=0.6)
    ax.set_axisbelow(True)
    return figure, ax


# --- geometry --------------------------------------------------------------------------------------------------------

def geometry(c):
    """All charts of the geometry."""
    if not len(c.record):
        return []
    found = [map_of(c)]
    if not c.three_d and np.ptp(c.record) > 0:
        found.append(stacking(c))
    if len(c.x):
        found += [fold_map(c) if c.three_d else fold_line(c), offsets(c), offset_coverage(c)]
    return found


def draw_sources(ax, x, y, c):
    size = float(np.clip(2500 / max(1, len(x)), 4, 110))
    for status in (0, DONE, PARKED):
        of = c.status == status
        if of.any():
            ax.scatter(x[of], y[of], s=size * (2 if status == PARKED else 1), marker='*', color=COLOURS[status], linewidths=0,
                       zorder=3 + status, label=f'{cli.counted(of.sum(), "source", form=",")} {NAMES[status]}', rasterized=True)


def map_of(c):
    flat = not c.three_d and np.ptp(np.r_[c.source[:, 1], c.receiver[:, 1]]) < 0.01
    across = 2 if flat else 1
    figure, ax = new(7.6, 3.4 if flat else 5.6)
    ax.scatter(c.receiver[:, 0], c.receiver[:, across], s=float(np.clip(3000 / max(1, len(c.receiver)), 0.6, 36)), marker='v',
               color=RECEIVER, linewidths=0, label=f'{c.positions:,} receiver positions', rasterized=True)
    draw_sources(ax, c.source[:, 0], c.source[:, across], c)
    ax.set(xlabel='x [m]', ylabel='depth [m]' if flat else 'y [m]')
    seen = lay_map(ax, c.attributes) if not flat else ''
    if flat:
        ax.invert_yaxis()
    elif c.three_d:
        ax.set_aspect('equal', adjustable='datalim')
    ax.legend(loc='lower right', bbox_to_anchor=(1, 1), ncols=4, fontsize=7, frameon=False, markerscale=1.5)
    thin = f' One in {-(-c.positions // len(c.receiver))} receivers is drawn.' if c.positions > len(c.receiver) else ''
    what = 'The line from the side: all positions have the same y.' if flat else \
        f'{seen[0].upper()}{seen[1:]}' + ('; 2D modelling takes x alone.' if not c.three_d else '.')
    return Chart('map', 'Map of shots and receivers', figure, what + thin + (' ' + c.note if c.note else ''))


def stacking(c):
    figure, ax = new()
    low, high = np.array(c.spread).T
    for status in (0, DONE, PARKED):
        of = np.flatnonzero(c.status == status)
        of = of[:: max(1, -(-len(of) // 1500))]
        ax.hlines(c.record[of], low[of], high[of], color=RECEIVER if status == DONE else COLOURS[status],
                  linewidth=float(np.clip(250 / len(c.record), 0.3, 3)), alpha=0.8)
    draw_sources(ax, c.source[:, 0], c.record, c)
    ax.set(xlabel='x [m]', ylabel='shot record')
    ax.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(8, integer=True))
    return Chart('stacking', 'Stacking chart', figure,
                 'A row a shot: its source (star), and from its first receiver to its last (bar).')


def fold_line(c):
    x, done, every, width = coverage.fold_2d(c)
    figure, ax = new()
    ax.fill_between(x, every, step='mid', color=PLANNED, linewidth=0, label='all shots known')
    ax.fill_between(x, done, step='mid', color=COLOURS[DONE], linewidth=0, label='shots done')
    ax.set(xlabel='midpoint x [m]', ylabel='fold', ylim=(0, None))
    ax.legend(loc='upper right')
    return Chart('fold', 'Fold', figure, f'Traces a bin of {width:.6g} m; at most {every.max():,.0f}, of shots done '
                 f'{done.max():,.0f}.{thinned(c)}')


def thinned(c):
    return f' Estimated from one trace in {c.weight} of {c.traces:,}.' if c.weight > 1 else ''


def fold_map(c):
    x, y, fold = coverage.fold_3d(c)
    figure, ax = new(7.6, 5.6)
    image = ax.pcolormesh(x, y, fold, cmap=EMPTY, rasterized=True)
    figure.colorbar(image, ax=ax, label='fold', shrink=0.9)
    ax.set(xlabel='midpoint x [m]', ylabel='midpoint y [m]')
    ax.set_aspect('equal', adjustable='datalim')
    seen = lay_map(ax, c.attributes)
    return Chart('fold', 'Fold', figure, f'Traces of shots done, a bin of {x[1] - x[0]:g} m by {y[1] - y[0]:g} m; {seen}.'
                 + thinned(c))


def offsets(c):
    figure, ax = new()
    low, high = float(c.offset.min()), float(c.offset.max())
    bins = bins_of(c.offset, c.interval, 80)
    weights = np.full(len(c.offset), float(c.weight))
    ax.hist(c.offset, bins, weights=weights, color=PLANNED, label='all shots known')
    ax.hist(c.offset[~c.to_do], bins, weights=weights[~c.to_do], color=COLOURS[DONE], label='shots done')
    ax.set(xlabel='offset [m]' + ('' if c.three_d else ', negative where the receiver has the smaller x'), ylabel='traces')
    ax.legend(loc='upper right')
    return Chart('offsets', 'Offsets', figure,
                 f'From {low:,.5g} to {high:,.5g} m, {cli.counted(c.traces, "trace", form=",")}.' + thinned(c))


def bins_of(values, step, most):
    """Edges of at most so many bins, each as wide as some steps: else bins would have now more, now fewer traces."""
    low, high = float(values.min()), float(values.max())
    step = step or max(1.0, (high - low) / most)
    width = step * max(1, int(np.ceil((high - low) / step / most)))
    return low - step / 2 + width * np.arange(int((high - low) / width + 1e-6) + 2)


def offset_coverage(c):
    done = ~c.to_do
    figure, ax = new()
    across, words = (c.azimuth, 'azimuth of the receiver from the source, from +y to +x [degrees]') if c.three_d else \
        (c.x, 'midpoint x [m]')
    far = np.abs(c.offset)
    turns = np.linspace(0, 360, 73)
    each = np.unique(np.round(c.source[:, 0], 2))
    step = max(c.interval, float(np.median(np.diff(each))) if len(each) > 1 else 0.0)
    edges = turns if c.three_d else bins_of(c.x, step, 150), bins_of(far, c.interval, 60)
    h, a, o = np.histogram2d(across[done], far[done], edges)
    image = ax.pcolormesh(a, o, np.where(h > 0, h * c.weight, np.nan).T, cmap=EMPTY, rasterized=True)
    figure.colorbar(image, ax=ax, label='traces')
    ax.set(xlabel=words, ylabel='offset, without sign [m]')
    return Chart('coverage', 'Coverage', figure, 'Offsets that the shots done have '
                 + ('at each azimuth.' if c.three_d else 'at each midpoint.') + thinned(c))


# --- amplitudes and spectra ------------------------------------------------------------------------------------------

def amplitude(file, qualities, component):
    units = file.units(component)
    slots = [s for s, q in qualities.items() if not q.fault]
    if not slots:
        return []
    record = file.record[slots]
    rms, peak = (np.array([getattr(qualities[s], name) for s in slots]) for name in ('rms', 'peak'))
    figure, ax = new()
    factor, unit = prefixed(units, float(np.median(peak)) or 1.0)
    style = dict(linewidth=0.8, marker='.', markersize=float(np.clip(600 / len(slots), 1, 6)))
    ax.semilogy(record, np.where(peak > 0, peak, np.nan) * factor, color='#e08e0b', label='largest', **style)
    ax.semilogy(record, np.where(rms > 0, rms, np.nan) * factor, color=INK, label='root mean square', **style)
    ax.set(xlabel='shot record', ylabel=f'{component} [{unit}]')
    low, high = ax.get_ylim()
    if high / low < 300:
        ax.yaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda v, _: f'{v:g}'))
        ax.yaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
    ax.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(8, integer=True))
    ax.legend(loc='lower right', bbox_to_anchor=(1, 1), ncols=2, frameon=False)
    text = f'All samples of all traces of {component}: {cli.counted(len(slots), "shot", form=",")}.'
    faulty = len(qualities) - len(slots)
    text += f' Left out: {cli.counted(faulty, "damaged shot", form=",")}.' if faulty else ''
    found = [Chart('amplitude', 'Amplitude by shot', figure, text)]
    spectrum = spectra(file, [qualities[s] for s in slots], record, units)
    return found + ([spectrum] if spectrum else [])


def spectra(file, whole, record, units):
    f, _ = quality.frequencies(file.nt, file.dt)
    each = np.array([q.spectrum for q in whole])
    groups = np.array_split(np.arange(len(each)), min(len(each), 900))
    columns = np.array([np.sqrt((each[g] ** 2).mean(axis=0)) for g in groups])
    mean = np.sqrt((each ** 2).mean(axis=0))
    if not mean.any():
        return None
    level = decibel(columns, columns.max())
    above = np.flatnonzero(level.max(axis=0) > -60)
    last = min(len(f) - 1, int(above[-1]) + 1)
    figure, (ax, side) = plt.subplots(1, 2, figsize=(7.6, 4.2), sharey=True, constrained_layout=True, width_ratios=(3.2, 1))
    image = ax.imshow(level.T[:last + 1], cmap=EMPTY, vmin=-50, vmax=0, aspect='auto', origin='lower', interpolation='nearest',
                      extent=(0, len(groups), f[0] - (f[1] - f[0]) / 2, f[last] + (f[1] - f[0]) / 2))
    at = np.linspace(0, len(groups) - 1, min(6, len(groups))).astype(int)
    ax.set_xticks(at + 0.5, [str(record[groups[i][0]]) for i in at])
    ax.set(xlabel='shot record', ylabel='frequency [Hz]')
    side.plot(decibel(mean, mean.max())[:last + 1], f[:last + 1], color=INK)
    side.set(xlim=(-60, 3), xlabel='all shots [dB]')
    side.grid(color='0.92', linewidth=0.6)
    figure.colorbar(image, ax=ax, label='[dB]', pad=0.01)
    factor, unit = prefixed(units, float(columns.max()))
    together = f' A column is {len(groups[0])} shots.' if len(groups[0]) > 1 else ''
    return Chart('spectrum', 'Spectrum by shot', figure, f'Up to {quality.SPECTRA} traces of each shot; 0 dB is '
                 f'{columns.max() * factor:.3g} {unit}/Hz, strongest at {f[mean.argmax()]:.3g} Hz; the last '
                 f'{100 * quality.TAPER:g} % of each record tapered.{together}')


# --- timing ----------------------------------------------------------------------------------------------------------

def timing(file, standing):
    """Charts of who did what when. Time is that of runs: nobody worked in between."""
    done = [e for e in standing.events if e.event == 'done' and e.run > 0]
    if not done:
        return []
    starts = np.cumsum([0.0] + [max(1.0, r.end - r.begin) for r in standing.runs])
    unit, name = (3600.0, 'h') if starts[-1] > 7200 else (60.0, 'min') if starts[-1] > 300 else (1.0, 's')

    def at(e):
        return (starts[e.run - 1] + max(0.0, e.at - standing.runs[e.run - 1].begin)) / unit
    device = {int(file.record[s]): device_of(file, s) for s in np.flatnonzero(file.status == DONE)}
    kinds = sorted({device.get(e.record, '') for e in done})
    colour = {k: DEVICES[i % len(DEVICES)] for i, k in enumerate(kinds)}
    found = [who_when(standing, done, at, starts / unit, name, device, colour)]
    figure, ax = new()
    for k in kinds:
        mine = [e for e in done if device.get(e.record, '') == k]
        ax.scatter([e.record for e in mine], [e.seconds for e in mine], s=float(np.clip(2000 / len(done), 2, 14)), color=colour[k],
                   linewidths=0, label=plain(k) or 'not noted', rasterized=True)
    ax.set(xlabel='shot record', ylabel='time of a shot [s]', ylim=(0, None))
    ax.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(8, integer=True))
    ax.legend(loc='lower right', fontsize=7)
    return found + [Chart('seconds', 'Time by shot and device', figure, 'From the deal to the traces, as the journal has it.')]


def plain(text):
    """Text in which matplotlib sees no formula."""
    return text.replace('$', r'\$')


def device_of(file, slot):
    return ' '.join(file.words('device', slot).split()) or 'not noted'


def who_when(standing, done, at, starts, unit, device, colour):
    rows = sorted({(e.host, e.worker) for e in done})
    row = {who: i for i, who in enumerate(rows)}
    figure, ax = new(7.6, float(np.clip(1.6 + 0.22 * len(rows), 2.6, 7.0)))
    height = 0.8 if len(rows) <= ROWS_MOST else 1.0
    scale = max(starts[-1], 1e-9) / max(1.0, sum(r.end - r.begin for r in standing.runs))
    boxes = [((at(e) - e.seconds * scale, row[e.host, e.worker] - height / 2), e.seconds * scale) for e in done]
    corners = np.array([[(x, y), (x + w, y), (x + w, y + height), (x, y + height)] for (x, y), w in boxes])
    ax.add_collection(matplotlib.collections.PolyCollection(
        corners, facecolors=[colour[device.get(e.record, '')] for e in done], edgecolors='white',
        linewidths=0.4 if len(done) < 1500 else 0.0, rasterized=True))
    lost = [e for e in standing.events if e.event == 'lost' and e.run > 0 and (e.host, e.worker) in row]
    ax.plot([at(e) for e in lost], [row[e.host, e.worker] for e in lost], linestyle='none', marker='x', color='#c8102e',
            markersize=6, label=f'{len(lost)} lost')
    for x in starts[1:-1]:
        ax.axvline(x, color='black', linewidth=0.7, linestyle=':')
    names = [f'{w} on {h}' for h, w in rows]
    every = max(1, -(-len(rows) // 24))
    ax.set_yticks(range(0, len(rows), every), [plain(n if len(n) < 30 else n[:28] + '…') for n in names[::every]], fontsize=7)
    ax.set(xlabel=f'time since the first start, breaks left out [{unit}]', ylabel='worker', xlim=(0, max(starts[-1], 1e-9)),
           ylim=(len(rows) - 0.4, -0.6))
    if lost:
        ax.legend(loc='lower right')
    runs = f' Dotted: {len(standing.runs)} runs.' if len(standing.runs) > 1 else ''
    return Chart('workers', 'Shots by worker', figure, 'A bar a shot, coloured by device as in the next figure.' + runs)
