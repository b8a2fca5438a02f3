"""Figures of gathers, models, spectra and wavefields, drawn as geophysicists expect them: time and depth downwards,
symmetric scales clipped at a stated percentile, units on everything, shots by record number."""
import functools
import importlib
import io
import os
import shutil

import numpy as np

from spltools import cli


class _Later:
    """A module of matplotlib, which takes half a second to come: it comes with the first figure, --help need not wait for it."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        load()
        return getattr(importlib.import_module(self._name), attribute)


@functools.lru_cache(None)
def load():
    """Imports matplotlib. Where it is missing a tool says so before it reads much."""
    importlib.import_module('matplotlib').use('Agg')          # the back end is chosen first
    importlib.import_module('matplotlib.pyplot').rcParams.update(STYLE)


matplotlib, plt = _Later('matplotlib'), _Later('matplotlib.pyplot')

QUANTITY = {'p': 'pressure', **{c: f'particle velocity {c}' for c in ('vx', 'vy', 'vz')},
            **{s + c: f'{name} {s + c}' for s, name in (('s', 'stress'), ('e', 'rate of strain'))
               for c in ('xx', 'yy', 'zz', 'xy', 'xz', 'yz')}, **{c: f'rate of rotation {c}' for c in ('wx', 'wy', 'wz')},
            **{s + c: f'{name} {s + c}' for s, name in (('u', 'displacement'), ('a', 'acceleration')) for c in 'xyz'}}
PREFIX = ((1e9, 'G'), (1e6, 'M'), (1e3, 'k'), (1.0, ''), (1e-3, 'm'), (1e-6, 'µ'), (1e-9, 'n'), (1e-12, 'p'), (1e-15, 'f'))
SEISMIC = {'grey': 'binary', 'seismic': 'seismic'}          # binary: positive is black
GAP = '#f2e3a0'                                              # where there is no trace: a colour that no amplitude has
MODEL = {'vp': ('P velocity', 'viridis'), 'rho': ('density', 'cividis')}      # perceptually even
TRACES_MOST = 4000                                           # drawn: more than a figure has columns of pixels
SAMPLES_MOST = 20000000                                      # of which a percentile is taken
SOURCE, RECEIVER = '#c8102e', '#111111'
STYLE = {'font.size': 9, 'axes.titlesize': 10, 'axes.labelsize': 9, 'axes.linewidth': 0.7, 'xtick.direction': 'out',
         'ytick.direction': 'out', 'legend.fontsize': 8, 'legend.framealpha': 0.9, 'figure.dpi': 100, 'axes.titlepad': 6,
         'image.interpolation': 'bilinear'}


def check_ending(path):
    """Fails, before anything is read, where no figure can be written to a file of this ending."""
    ending = os.path.splitext(path)[1]
    if not ending:
        cli.fail(f"{path}: the ending tells the format, give .png, .pdf or .svg")
    if ending[1:].lower() not in matplotlib.backend_bases.FigureCanvasBase.get_supported_filetypes():
        cli.fail(f"{path}: figures cannot be written as '{ending.lower()}'; give .png, .pdf or .svg")
    if ending.lower() == '.pgf' and not shutil.which(matplotlib.rcParams['pgf.texsystem']):
        cli.fail(f"{path}: a figure of this kind needs {matplotlib.rcParams['pgf.texsystem']}, which is not installed; give .png, "
                 '.pdf or .svg')


def save(figure, name, **words):
    """By way of memory: what writes PDF falls over itself where a disk is full."""
    drawn = io.BytesIO()
    figure.savefig(drawn, **words)
    plt.close(figure)
    with open(name, 'wb') as file:
        file.write(drawn.getbuffer())


# --- amplitudes ------------------------------------------------------------------------------------------------------

def gained(traces, time, power):
    """Traces (nrec, nt) times (t / 1 s)**power, up to t = 0 times 0."""
    return traces * np.where(time > 0, time, 0.0 if power > 0 else np.inf) ** power if power else traces


def clip_of(arrays, percentile):
    """The amplitude that `percentile` % of all samples do not exceed. The least positive number where all is silent."""
    every = max(1, sum(a.size for a in arrays) // SAMPLES_MOST)
    values = np.concatenate([np.abs(a.ravel()[::every]) for a in arrays])
    clip = float(np.percentile(values, percentile)) if values.size else 0.0
    if clip == 0.0:
        clip = float(values.max(initial=0.0))           # mostly silence: better the largest than nothing
    return clip or 1.0


def prefixed(units, clip):
    """(factor, unit text): the unit with the prefix that makes the clip a number from 1 to 1000; a power of ten before units that
    have none, as strain a second."""
    text = {'m s-1': 'm/s', 'm s-2': 'm/s²', 's-1': '1/s'}.get(units, units)
    size, letter = next(((size, letter) for size, letter in PREFIX if clip >= 0.9995 * size), (1e-15, 'f'))
    if text not in ('', '1', '1/s'):
        return 1.0 / size, letter + text
    if size == 1:
        return 1.0, '' if text == '1' else text
    power = f'{round(np.log10(size))}'.translate(str.maketrans('0123456789-', '⁰¹²³⁴⁵⁶⁷⁸⁹⁻'))
    return 1.0 / size, f'10{power}' + text[1:]


def bracketed(quantity, unit):
    """Label of an axis or bar: quantity [unit]; what has no unit gets no brackets."""
    return f'{quantity} [{unit}]' if unit else quantity


def amplitude_label(component, unit, power):
    return bracketed(QUANTITY[component], unit) + (f' × {gain_words(power, "(t / 1 s)")}' if power else '')


def quantity(variable, meaning=''):
    """Words for a variable of snapshots, pictures and maps: its component, else the beginning of what the file says it is."""
    return QUANTITY.get(variable.split('_')[0]) or meaning.split(' at ')[0].split(' in ')[0] or variable


# --- maps ------------------------------------------------------------------------------------------------------------

MAP_ATTRIBUTES = ('axes', 'mesh_z', 'navigation_y')         # of a file, that tell it


def side_of_y(attributes):
    """To which side of +x y points, seen from above, 'left' or 'right', as the attributes {name: value} of a file tell: the rule of
    its navigation first, which knows where its y comes from; '' where nothing tells."""
    side = attributes.get('navigation_y', '')
    if side in ('left', 'right'):
        return side
    if 'mesh_z' in attributes:
        return {'up': 'left', 'down': 'right'}.get(attributes['mesh_z'], '')
    return 'right' if 'y 90 degrees further' in str(attributes.get('axes', '')) else ''


def lay_map(ax, attributes, wanted=''):
    """Turns a map of x (right) and y such that it is seen from above, or as `wanted`: y 'up' or 'down' the page. Returns words that
    say from where it is seen."""
    side = side_of_y(attributes)
    down = wanted == 'down' or not wanted and side == 'right'
    if down:
        ax.invert_yaxis()
    if not side:
        return 'x and y as the survey has them'
    return 'x and y of the model, seen from ' + ('above' if down == (side == 'right') else 'below')


def gain_words(power, t='t'):
    return t if power == 1 else f'{t}$^{{{power:g}}}$'


def clip_note(clip, unit_factor, unit, percentile, power):
    gain = ' after gain' if power else ''
    return f'clipped at {clip * unit_factor:.3g} {unit}, percentile {percentile:g}{gain}'


def colours(name):
    """Colours of amplitudes, and of gaps."""
    return matplotlib.colormaps[SEISMIC[name]].with_extremes(bad=GAP)


# --- gathers ---------------------------------------------------------------------------------------------------------

AXIS = {'offset': 'offset [m]', 'channel': 'channel', 'x': 'receiver x [m]'}


def positions(g, axis):
    return {'offset': g.offset(), 'channel': np.asarray(g.channel, float), 'x': g.rx}[axis]


def on_regular_axis(traces, at):
    """Traces in order of position on an evenly spaced axis: (first, spacing, (n, nt)). NaN is drawn as a gap: where receivers of a
    regular spread are missing, and, where distances vary, what is farther from a trace than half of the usual gap."""
    order = np.argsort(at, kind='stable')
    order = order[:: max(1, -(-len(order) // TRACES_MOST))]
    at, traces = at[order], traces[order]
    steps = np.diff(at)
    steps = steps[steps > 1e-6 * max(1.0, np.ptp(at))]
    step = float(np.median(steps)) if steps.size else 1.0
    slot = np.concatenate(([0], np.cumsum(np.rint(np.diff(at) / step)))).astype(np.int64)
    if slot[-1] > 20 * len(at):                          # a list without any order: one trace beside the other
        return at[0], np.ptp(at) / max(1, len(at) - 1) or 1.0, np.array(traces, np.float32)
    first, usual = at[0], step
    if np.abs(at - first - step * slot).max() > 0.05 * step:                  # else the far end of a measured cable would lag
        step, first = (float(v) for v in np.polyfit(slot, at, 1))
    long = (steps > 1.5 * usual).sum()                   # dead receivers are few; many long steps are another interval
    uneven = np.abs(at - first - step * slot).max() > 0.25 * usual or len(np.unique(slot)) < len(at)
    if steps.size and (uneven or long > max(3, 0.1 * steps.size)):
        return halfway(traces, at, max(0.75 * usual, 0.5 * float(np.percentile(steps, 90))))
    image = np.full((slot[-1] + 1, traces.shape[1]), np.nan, np.float32)
    image[slot] = traces
    return first, step, image


def halfway(traces, at, reach):
    """Columns of traces at uneven positions (rising): each reaches half-way to its neighbours, but no farther than `reach`."""
    columns = min(TRACES_MOST, 4 * len(at))
    x, step = np.linspace(at[0], at[-1], columns, retstep=True)
    nearest = np.searchsorted(0.5 * (at[1:] + at[:-1]), x)
    image = np.asarray(traces, np.float32)[nearest]
    image[np.abs(x - at[nearest]) > reach + 1e-9 * abs(at[-1])] = np.nan
    return at[0], float(step), image


def density(ax, g, traces, at, clip, colour):
    first, step, image = on_regular_axis(traces, at)
    smooth = 'antialiased' if image.shape[0] > 400 or np.isnan(image).any() else 'bilinear'
    last = first + step * (image.shape[0] - 1)
    return ax.imshow(image.T, cmap=colours(colour), vmin=-clip, vmax=clip, aspect='auto', interpolation=smooth,
                     extent=(first - step / 2, last + step / 2, g.time[-1] + g.dt / 2, g.time[0] - g.dt / 2))


def wiggle(ax, g, traces, at, clip, most=150):
    """Wiggle traces, positive lobes filled; a trace at the clip is as wide as the space to the next one."""
    order = np.argsort(at, kind='stable')
    order = order[::max(1, int(np.ceil(len(order) / most)))]
    steps = np.diff(at[order])
    steps = steps[steps > 1e-6 * max(1.0, np.ptp(at))]               # several at one place, as around a source, tell none
    spacing = np.median(steps) if len(steps) else 1.0
    for j in order:
        x = at[j] + np.clip(traces[j] / clip, -1.5, 1.5) * spacing
        ax.plot(x, g.time, color='black', linewidth=0.4)
        ax.fill_betweenx(g.time, at[j], x, where=x > at[j], interpolate=True, color='black', linewidth=0)
    ax.set_xlim(at[order].min() - 1.5 * spacing, at[order].max() + 1.5 * spacing)


def draw_gather(ax, g, clip, power=0.0, axis='offset', colour='grey', wiggles=False, window=None, title=True):
    """One gather into `ax`; returns the image, or None of wiggles."""
    traces, at = gained(g.traces, g.time, power), positions(g, axis)
    image = wiggle(ax, g, traces, at, clip) if wiggles else density(ax, g, traces, at, clip, colour)
    ax.set_ylim(*(window or (g.time[0], g.time[-1]))[::-1])
    ax.set_xlabel(AXIS[axis])
    ax.set_ylabel('time [s]')
    if title:
        few = f', one in {-(-g.nrec // TRACES_MOST)} of {g.nrec:,} traces' if g.nrec > TRACES_MOST else ''
        ax.set_title(f'shot record {g.record}   source x {g.sx:,.1f} m' + (f', y {g.sy:,.1f} m' if g.three_d else '')
                     + f', z {g.sz:.1f} m{few}')
    return image


def draw_section(ax, traces, time, at, clip, colour='grey', window=None, name='x [m]'):
    """Traces (n, nt) at positions along one axis; returns the image."""
    first, step, image = on_regular_axis(traces, at)
    half = 0.5 * (time[1] - time[0]) if len(time) > 1 else 0.5
    drawn = ax.imshow(image.T, cmap=colours(colour), vmin=-clip, vmax=clip, aspect='auto', interpolation='antialiased',
                      extent=(first - step / 2, first + step * (image.shape[0] - 0.5), time[-1] + half, time[0] - half))
    ax.set_ylim(*(window or (time[0], time[-1]))[::-1])
    ax.set_xlabel(name)
    ax.set_ylabel('time [s]')
    return drawn


def head(figure, survey, what, path):
    """The title of a figure: survey, record and file. Names are no formulas."""
    words = [f'survey {survey}' if survey else '', what, f'file {os.path.basename(path)}']
    figure.suptitle('   '.join(w for w in words if w), fontsize=9, color='0.3', parse_math=False)


def draw_gathers(ax, gathers, clip, power=0.0, axis='offset', colour='grey', window=None):
    """Gathers side by side on one time axis, a white gap between them, record numbers above, spans of the axis below."""
    gap, left, centres = 0.06, 0.0, []
    for g in gathers:
        traces, at = gained(g.traces, g.time, power), positions(g, axis)
        image = on_regular_axis(traces, at)[2]
        smooth = 'antialiased' if image.shape[0] > 400 or np.isnan(image).any() else 'bilinear'
        drawn = ax.imshow(image.T, cmap=colours(colour), vmin=-clip, vmax=clip, aspect='auto', interpolation=smooth,
                          extent=(left, left + 1, g.time[-1] + g.dt / 2, g.time[0] - g.dt / 2))
        ax.plot([left, left, left + 1, left + 1], [g.time[-1], g.time[0], g.time[0], g.time[-1]], color='black', linewidth=0.4)
        centres.append(left + 0.5)
        left += 1 + gap
    ax.set_xlim(-gap / 2, left - gap / 2)
    ax.set_ylim(*(window or (gathers[0].time[0], gathers[0].time[-1]))[::-1])
    ax.set_xticks(centres, [str(g.record) for g in gathers])
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position('top')
    ax.tick_params(axis='x', length=0)
    ax.set_xlabel('shot record')
    ax.set_ylabel('time [s]')
    ax.annotate(span_words(gathers, axis), (0.5, 0), (0, -6), 'axes fraction', 'offset points', ha='center', va='top', fontsize=8)
    return drawn


def span_words(gathers, axis):
    """The quantity along the right axis of each gather, and its range if all are alike."""
    name, unit = (AXIS[axis].rstrip(']').split(' [') + [''])[:2]
    spans = [(positions(g, axis).min(), positions(g, axis).max()) for g in gathers]
    if max(np.ptp([s[i] for s in spans]) for i in (0, 1)) < 1:
        ends = ' to '.join(f'{v:,.0f}'.replace('-', '−') for v in spans[0])
        return f'{name} in each gather, left to right: {ends} {unit}'.rstrip()
    return f'{name} increases to the right in each gather'


def colour_bar(figure, image, axes, label, unit_factor=1.0, **words):
    """Colour bar in the prefixed unit."""
    bar = figure.colorbar(image, ax=axes, **{'pad': 0.015, 'aspect': 30, 'extend': 'both', **words})
    bar.set_label(label)
    bar.formatter = matplotlib.ticker.FuncFormatter(lambda v, _: f'{v * unit_factor:.4g}'.replace('-', '−'))
    low, high = image.get_clim()
    if low == -high:
        ticks = matplotlib.ticker.MaxNLocator(6, symmetric=True).tick_values(low * unit_factor, high * unit_factor) / unit_factor
        bar.set_ticks([t for t in ticks if low * 1.001 <= t <= high * 1.001])
    bar.update_ticks()
    bar.outline.set_linewidth(0.6)
    return bar


# --- model and geometry ----------------------------------------------------------------------------------------------

def draw_model(ax, model, name, geometry=(), spread=None, sources='sources'):
    """One property (nz, nx) of the model with depth down; geometry: gathers or shots whose sources are drawn, spread: whose
    receivers."""
    values, x, z = model.values[name], model.x, model.z
    dx, dz = (x[-1] - x[0]) / max(1, len(x) - 1), (z[-1] - z[0]) / max(1, len(z) - 1)
    image = ax.imshow(values, cmap=MODEL[name][1], aspect='auto', interpolation='antialiased',
                      extent=(x[0] - dx / 2, x[-1] + dx / 2, z[-1] + dz / 2, z[0] - dz / 2))
    ax.set_xlabel('x [m]')
    ax.set_ylabel('depth [m]')
    if spread is not None:
        draw_points(ax, spread.rx, spread.rz, 4, marker=7, color=RECEIVER, markeredgewidth=0, zorder=5,
                    label=f'{cli.counted(len(spread.rx), "receiver", form=",")} of record {spread.record}')
    if len(geometry):
        draw_points(ax, [g.sx for g in geometry], [g.sz for g in geometry], 9, marker='*', color=SOURCE, markeredgecolor='white',
                    markeredgewidth=0.5 if len(geometry) < 200 else 0.0, zorder=6, label=sources)
    if spread is not None or len(geometry):
        ax.legend(loc='lower right', borderpad=0.5, handletextpad=0.4)
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(z[-1], z[0])
    return image


def draw_points(ax, x, z, size, **words):
    """Points, smaller where there are many, at most some hundreds of them: more would hide each other and the model."""
    every = max(1, -(-len(x) // 600))
    size *= float(np.clip((120 / len(x)) ** 0.25, 0.4, 1))
    ax.plot(x[::every], z[::every], linestyle='none', clip_on=False, markersize=size, **words)


def model_label(model, name):
    return f'{MODEL[name][0]} {"$v_p$" if name == "vp" else "ρ"} [{model.units[name]}]'


# --- spectra and wavefields ------------------------------------------------------------------------------------------

def tapered(traces, part):
    """Traces whose last `part`, 0 .. 1, goes to 0 by half a cosine: waves that the end of the record cuts off would else be a step,
    whose spectrum falls by 1/f alone and hides what is weaker."""
    n = int(round(part * traces.shape[-1]))
    weight = np.ones(traces.shape[-1])
    weight[len(weight) - n:] = 0.5 * (1 + np.cos(np.pi * np.arange(1, n + 1) / n)) if n else 1
    return traces * weight


def spectrum(traces, dt):
    """(f [Hz], amplitude (nrec, nf)) of traces (nrec, nt): |integral of the trace times exp(-i 2 pi f t) dt|, unit times s."""
    n = 2 * traces.shape[-1]                             # padded, so that the curve is smooth
    return np.fft.rfftfreq(n, dt), np.abs(np.fft.rfft(traces.astype(np.float64), n, axis=-1)) * dt


def decibel(amplitude, reference):
    return 20 * np.log10(np.maximum(amplitude, 1e-300) / reference)


def band(f, level, floor=-60.0):
    """Highest frequency where the level [dB] is above the floor; all of it where it never falls."""
    above = np.nonzero(level > floor)[0]
    return f[min(len(f) - 1, above[-1] + 1)] if above.size else f[-1]


def draw_frame(ax, snapshot, x, z, clip, model=None, colour='seismic'):
    """One wavefield (nz, nx), depth down, over a pale velocity model where there is one."""
    box = (x[0], x[-1], z[-1], z[0])
    if model is not None:
        m = (model.x[0], model.x[-1], model.z[-1], model.z[0])
        ax.imshow(model.values['vp'], cmap='Greys', aspect='auto', extent=m, alpha=0.45, interpolation='antialiased')
    image = ax.imshow(snapshot, cmap=SEISMIC[colour], vmin=-clip, vmax=clip, aspect='auto', extent=box, interpolation='bilinear',
                      alpha=1.0 if model is None else np.clip(np.abs(snapshot) / clip * 3, 0, 1))
    ax.set_xlim(box[0], box[1])
    ax.set_ylim(box[2], box[3])
    return image
