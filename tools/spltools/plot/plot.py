"""spl-plot: figures of gathers, models, spectra and snapshots. The drawing is in figures.py."""
import os
import re
import shutil

import numpy as np

from spltools import cli
from spltools.earth.modelfile import coordinate, is_raw, raw_model, read_model
from spltools.earth.rawmodel import raw_options
from spltools.gathers import cdf5
from spltools.gathers.gathers import Gathers, VARIABLES
from spltools.geometry import keymap
from spltools.netcdf import open_dataset
from spltools.plot import figures, plot3d, sections
from spltools.plot.figures import QUANTITY, plt

ABOUT = """Draws figures: time and depth run down, amplitudes are clipped symmetrically at a stated percentile, shots are named by
their record numbers. The ending of OUT tells the format (.png, .pdf, .svg, ...). spl-plot FIGURE --help tells the options."""
SIDE_BY_SIDE = 24
MOVIES = ('', '.mp4', '.gif', '.mkv', '.mov')               # no ending: .mp4 or .gif


def main(words):
    a = parse(words)
    cli.check_output(a.output, a.overwrite)
    if a.figure != 'snapshots' or os.path.splitext(a.output)[1].lower() not in MOVIES:
        figures.check_ending(a.output)
    a.draw(a)


def parse(words):
    p = cli.Parser(prog='spl-plot', description=ABOUT)
    sub = p.add_subparsers(dest='figure', required=True, metavar='FIGURE', parser_class=cli.Parser)

    def figure(name, draw, meaning):
        q = sub.add_parser(name, help=meaning, description=meaning)
        q.set_defaults(draw=draw)
        q.add_argument('-o', '--output', required=True, metavar='OUT', help='figure to write')
        q.add_argument('--overwrite', action='store_true', help='replace OUT if it exists')
        q.add_argument('--dpi', type=cli.number(20, 1200), default=150, help='dots per inch (default 150)')
        return q

    q = figure('gather', gather, 'one shot record: variable density or wiggles')
    q.add_argument('file', help='file of gathers')
    q.add_argument('--record', help='shot record (default: the middle one of those finished)')
    q.add_argument('--wiggle', action='store_true', help='wiggles, positive lobes filled, instead of variable density')
    amplitude_options(q)
    q = figure('gathers', gathers, f'all shot records side by side (every n-th where there are more than {SIDE_BY_SIDE})')
    q.add_argument('file', help='file of gathers')
    q.add_argument('--records', metavar='LIST', help='shot records, such as 1-12,20 or 1-100:10')
    amplitude_options(q)
    q = figure('section', section, 'a section of the survey: nearest traces, one offset, or all traces sorted by midpoint')
    q.add_argument('file', help='file of gathers')
    q.add_argument('--kind', choices=('near', 'offset', 'cmp'), default='near', help='near: the trace of each shot nearest to its '
                   'source (default); offset: that at --offset; cmp: all traces, sorted by midpoint, then offset')
    q.add_argument('--offset', type=cli.number(-1e8, 1e8, 'm'), metavar='X', help='signed offset of the section (default: the '
                   'middle one)')
    q.add_argument('--bin', type=cli.number(0, 1e6, 'm', above=True), metavar='D', help='width of the bins of midpoints '
                   '(default: half of the receiver interval)')
    q.add_argument('--from', dest='first', type=cli.number(unit='m'), metavar='X', help='only midpoints from this x')
    q.add_argument('--to', dest='last', type=cli.number(unit='m'), metavar='X', help='to this x')
    q.add_argument('--records', metavar='LIST', help='shot records, such as 1-12,20 or 1-100:10')
    amplitude_options(q, across=False)
    q = figure('model', model, 'velocity and density with the geometry')
    q.add_argument('model', help='NetCDF file with vp, rho or both (z, x); or, with --nx --nz --dx --dz, raw numbers')
    q.add_argument('--gathers', metavar='FILE', help='file of gathers: draw sources and receivers')
    q.add_argument('--keymap', metavar='FILE', help='key-map: draw its sources and receivers, before anything is modelled')
    q.add_argument('--record', help='shot record whose receivers are drawn (default: the middle one)')
    q.add_argument('--property', choices=('vp', 'rho'), help='only one of them (default: all that are there; of raw numbers vp)')
    raw_options(q, required=False)
    q = figure('spectrum', spectrum, 'amplitude spectrum of a gather or some of its traces, of all gathers, of a wavelet')
    q.add_argument('file', help='file of gathers, or a text file of a wavelet: one sample a line, or time [s] and value')
    q.add_argument('--record', help='shot record (default: the mean of all finished ones)')
    q.add_argument('--channels', metavar='LIST', help='only these channels, such as 1-10,20')
    q.add_argument('--component', choices=tuple(VARIABLES), help='default: p, or the first recorded')
    q.add_argument('--wavelet-dt', type=cli.number(0, 1, 's', above=True), metavar='DT',
                   help='interval of a one-column wavelet [s]')
    q.add_argument('--fmax', type=cli.number(0, unit='Hz', above=True), metavar='F',
                   help='end of the axis [Hz] (default: at -60 dB)')
    q.add_argument('--taper', type=cli.number(0, 50, '%'), default=5.0, metavar='PERCENT', help='end of each trace of a file of '
                   'gathers that goes to 0 by half a cosine, so that waves cut off at tmax are no step (default 5; 0: none)')
    q = figure('snapshots', snapshots, 'wavefields: a movie (.mp4, .gif) or a strip of frames (.png, .pdf)')
    q.add_argument('file', help='NetCDF file with a variable (time, z, x)')
    q.add_argument('--variable', help='default: the first with such dimensions')
    q.add_argument('--model', metavar='MODEL', help='NetCDF model to draw beneath')
    q.add_argument('--frames', type=cli.number(1, 1000, whole=True), help='frames of a strip (default 6), or most of a movie')
    q.add_argument('--fps', type=cli.number(0.1, 60), default=10, help='frames a second (default 10)')
    q.add_argument('--clip', type=cli.number(0, 100, '%', above=True), default=99.5, help='percentile of the clip (default 99.5)')
    plot3d.add_figures(figure)
    q = figure('demo', demo, 'one page: model with geometry, one gather, the gathers side by side')
    q.add_argument('file', help='file of gathers')
    q.add_argument('--model', required=True, help='NetCDF file with vp (z, x)')
    q.add_argument('--record', help='shot record of the single gather (default: the middle one)')
    amplitude_options(q, gain=1.0)
    return p.parse_args(words)


def amplitude_options(q, gain=0.0, across=True):
    q.add_argument('--component', choices=tuple(VARIABLES), help='default: p, or the first recorded')
    if across:
        q.add_argument('--axis', choices=tuple(figures.AXIS), default='offset',
                       help='across: signed offset, channel or receiver x')
    q.add_argument('--clip', type=cli.number(0, 100, '%', above=True), default=98.0,
                   help='percentile of the clip (default 98)')
    q.add_argument('--gain', type=cli.number(-10, 10), default=gain, metavar='N', help=f'amplitudes times t^N (default {gain:g})')
    q.add_argument('--colour', choices=tuple(figures.SEISMIC), default='grey',
                   help='grey: positive is black; seismic: is red')
    q.add_argument('--tmin', type=cli.number(unit='s'), help='first time shown [s]')
    q.add_argument('--tmax', type=cli.number(unit='s'), help='last time shown [s]')


# --- what is asked for -----------------------------------------------------------------------------------------------

def finished(path, records=None):
    """The file and its finished shots; those left out are told."""
    file = Gathers(path)
    slots, left = file.chosen(records, done_only=True)
    if left:
        cli.warn(f'{cli.counted(len(left), "shot")} left out: {left[0]}' + (', ...' if len(left) > 1 else ''))
    slots = [s for s in slots if file.nrec[s] > 0]
    if not slots:
        cli.fail(f'{path}: the shots chosen have no receivers')
    return file, slots


def one_slot(file, slots, record):
    """The slot of a record, the middle one by default."""
    if record is None:
        return slots[len(slots) // 2]
    return file.chosen(record)[0][0]


def component_of(file, a):
    return a.component or ('p' if 'p' in file.components else file.components[0])


def survey_of(file):
    """The name of a survey is that of its key-map."""
    return os.path.splitext(os.path.basename(file.text('keymap')))[0]


def window_of(a, time):
    first, last = (time[0] if a.tmin is None else a.tmin), (time[-1] if a.tmax is None else a.tmax)
    if not first < last:
        cli.fail(f'the time window {first:g} .. {last:g} s is empty; the gathers reach from {time[0]:g} to {time[-1]:g} s')
    if last <= time[0] or first >= time[-1]:
        cli.fail(f'the time window {first:g} .. {last:g} s lies outside the gathers, {time[0]:g} .. {time[-1]:g} s')
    return first, last


def clip(gathers, a):
    """(clip, factor, unit, note) of the samples shown."""
    window = window_of(a, gathers[0].time)
    shown = (gathers[0].time >= window[0]) & (gathers[0].time <= window[1])
    level = figures.clip_of([figures.gained(g.traces[:, shown], g.time[shown], a.gain) for g in gathers], a.clip)
    factor, unit = figures.prefixed(gathers[0].units, level)
    return level, factor, unit, figures.clip_note(level, factor, unit, a.clip, a.gain)


def tell_silent(gathers):
    """Warns of traces that are zero at every sample: receivers at a free surface, say, or a source that did not act."""
    silent = [(g, g.channel[~g.traces.any(axis=1)]) for g in gathers]
    found = [(g, channels) for g, channels in silent if len(channels)]
    if found:
        g, channels = found[0]
        cli.warn(f'{sum(len(c) for _, c in found)} of {sum(g.nrec for g in gathers)} traces of {QUANTITY[g.component]} are zero at '
                 f'every sample: record {g.record}, channels {channels[0]}' + (f' .. {channels[-1]}' if len(channels) > 1 else '')
                 + (', ...' if len(found) > 1 else ''))


def put(figure, a):
    with cli.new_file(a.output, a.overwrite) as name:
        figures.save(figure, name, dpi=a.dpi, format=os.path.splitext(a.output)[1][1:].lower())
    cli.say(a.output)


# --- the figures -----------------------------------------------------------------------------------------------------

def gather(a):
    file, slots = finished(a.file, a.record)
    g = file.gather(one_slot(file, slots, a.record), component_of(file, a))
    tell_silent([g])
    level, factor, unit, note = clip([g], a)
    figure, ax = plt.subplots(figsize=(7, 7.5), constrained_layout=True)
    image = figures.draw_gather(ax, g, level, a.gain, a.axis, a.colour, a.wiggle, window_of(a, g.time))
    label = figures.amplitude_label(g.component, unit, a.gain)
    if image is not None:
        figures.colour_bar(figure, image, ax, f'{label}, {note}', factor)
    else:
        ax.set_title(f'{ax.get_title()}\n{label}, {note} = one trace spacing')
    figures.head(figure, survey_of(file), f'record {g.record}', a.file)
    put(figure, a)


def gathers(a):
    file, slots = finished(a.file, a.records)
    every = -(-len(slots) // SIDE_BY_SIDE)
    if every > 1:
        cli.say(f'{cli.counted(len(slots), "shot")}: drawing one in {every}')
    shown = [file.gather(s, component_of(file, a)) for s in slots[::every]]
    tell_silent(shown)
    level, factor, unit, note = clip(shown, a)
    figure, ax = plt.subplots(figsize=(min(18, 3 + 0.95 * len(shown)), 6.5), constrained_layout=True)
    image = figures.draw_gathers(ax, shown, level, a.gain, a.axis, a.colour, window_of(a, file.time))
    figures.colour_bar(figure, image, ax, f'{figures.amplitude_label(shown[0].component, unit, a.gain)}, {note}', factor)
    figures.head(figure, survey_of(file), records_words(file, slots), a.file)
    put(figure, a)


def records_words(file, slots):
    first, last = (file.record[s] for s in (slots[0], slots[-1]))
    return f'record {first}' if first == last else f'{len(slots):,} records {first} .. {last}'


def section(a):
    file, slots = finished(a.file, a.records)
    component = component_of(file, a)
    one = sections.choose(file, slots, component, a)
    if one.told:
        cli.say(one.told)
    window = window_of(a, file.time)
    traces = figures.gained(one.traces, file.time, a.gain)
    shown = (file.time >= window[0]) & (file.time <= window[1])
    level = figures.clip_of([traces[:, shown]], a.clip)
    factor, unit = figures.prefixed(file.units(component), level)
    figure, ax = plt.subplots(figsize=(12, 6.5), constrained_layout=True)
    image = figures.draw_section(ax, traces, file.time, one.at, level, a.colour, window, one.name)
    if one.ticks:
        ax.set_xticks(*one.ticks)
    ax.set_title(one.title, loc='left')
    note = figures.clip_note(level, factor, unit, a.clip, a.gain)
    figures.colour_bar(figure, image, ax, f'{figures.amplitude_label(component, unit, a.gain)}, {note}', factor)
    figures.head(figure, survey_of(file), records_words(file, slots), a.file)
    put(figure, a)


def model(a):
    m = raw_model(a.model, a.property or 'vp', a) if is_raw(a) else read_model(
        a.model, [a.property] if a.property else None, instead='give a NetCDF file, or --nx, --nz, --dx and --dz of a raw model')
    shots, spread, survey = survey_drawn(a)
    figure, axes = plt.subplots(len(m.values), 1, figsize=(10, 3.6 * len(m.values)), constrained_layout=True, squeeze=False)
    for ax, name in zip(axes[:, 0], m.values):
        image = figures.draw_model(ax, m, name, shots, spread, cli.counted(len(shots), 'source'))
        figures.colour_bar(figure, image, ax, figures.model_label(m, name), extend='neither', aspect=20)
    figures.head(figure, survey, f'record {spread.record}' if spread else '', a.model)
    put(figure, a)


def survey_drawn(a):
    """(shots, the one whose receivers are drawn, name of the survey) of --gathers or --keymap."""
    if a.gathers and a.keymap:
        cli.fail('the survey is drawn from --gathers or from --keymap: give one of them')
    if a.gathers:
        file, slots = finished(a.gathers)
        shots = [file.gather(s, file.components[0]) for s in slots]
        return shots, file.gather(one_slot(file, slots, a.record), file.components[0]), survey_of(file)
    if not a.keymap:
        return [], None, ''
    shots = [s for s in keymap.read_map(a.keymap) if not s.skip]
    named = [s for s in shots if str(s.record) == a.record] if a.record else shots[len(shots) // 2:]
    if not named:
        cli.fail(f'{a.keymap} has no shot record {a.record} that is not skipped' if a.record else
                 f'{a.keymap}: all shots are skipped')
    return shots, named[0], os.path.splitext(os.path.basename(a.keymap))[0]


def spectrum(a):
    figure, ax = plt.subplots(figsize=(8, 5), constrained_layout=True)
    title, unit, f, each = wavelet_spectrum(a) if is_text(a.file) else gather_spectrum(a)
    mean = np.sqrt(np.mean(each ** 2, axis=0))
    peak = mean.max()
    if peak == 0.0:
        cli.fail(f'{a.file}: all samples are zero, there is no spectrum')
    level = figures.decibel(mean, peak)
    for one in each[::max(1, len(each) // 40)] if len(each) > 1 else []:
        ax.plot(f, figures.decibel(one, peak), color='0.85', linewidth=0.4)
    ax.plot(f, level, color='#0b3c5d', linewidth=1.6, label='root mean square' if len(each) > 1 else 'amplitude')
    factor, text = figures.prefixed(unit, peak)
    text += '/Hz' if text else '1/Hz'
    at = f[np.argmax(mean)]
    ax.axvline(at, color=figures.SOURCE, linewidth=0.8, linestyle='--', label=f'peak at {at:.3g} Hz: {peak * factor:.3g} {text}')
    ax.set(xlim=(0, a.fmax or figures.band(f, level)), ylim=(-60, 10), xlabel='frequency [Hz]',
           ylabel=f'amplitude [dB, 0 dB = {peak * factor:.3g} {text}]', title=title)
    ax.grid(color='0.9', linewidth=0.6)
    ax.legend(loc='lower left')
    put(figure, a)


def is_text(path):
    cli.check_input(path)
    with open(path, 'rb') as f:
        return not f.read(4).startswith((b'CDF', b'\x89HDF'))


def gather_spectrum(a):
    file, slots = finished(a.file, a.record)
    kept, title = [], f'record {a.record}' if a.record else cli.counted(len(slots), 'record')
    for slot in slots:
        g = file.gather(slot, component_of(file, a))
        kept.append(g.traces if a.channels is None else g.traces[among(g.channel, a.channels)])
    traces = np.concatenate(kept)
    if not len(traces):
        cli.fail(f'{a.file} has no channel among {a.channels} in {title}')
    if file.nt < 2:
        cli.fail(f'{a.file}: the gathers have a single sample, so no spectrum')
    f, each = figures.spectrum(figures.tapered(traces, a.taper / 100), file.dt)
    end = f'\nlast {a.taper / 100 * file.nt * file.dt:.3g} s ({a.taper:g} %) of the record tapered' if a.taper else ''
    return f'{figures.QUANTITY[g.component]}, {title}, {cli.counted(len(traces), "trace")}{end}', g.units, f, each


def among(channels, text):
    """Which of the channels a list such as '1-3,7' names."""
    named = np.zeros(len(channels), bool)
    for part in text.split(','):
        ends = part.split('-')
        if len(ends) > 2 or not all(re.fullmatch(r'\s*[0-9]+\s*', e) for e in ends):
            cli.fail(f"'{text}' are no channels: give numbers and ranges joined by commas, such as 1-10,20")
        named |= (channels >= float(ends[0])) & (channels <= float(ends[-1]))
    return named


def wavelet_spectrum(a):
    try:
        samples = np.loadtxt(a.file, ndmin=2, encoding='utf-8-sig')
    except UnicodeDecodeError:
        cli.fail(f'{a.file} is no file of gathers, and no text of a wavelet; is this the right file?')
    except ValueError as problem:
        cli.fail(f'{a.file} is no file of gathers and no wavelet of numbers in one or two columns parted by blanks, with decimal '
                 f'points and # before words: {problem}')
    if samples.shape[1] not in (1, 2) or len(samples) < 2:
        cli.fail(f'{a.file} has {samples.shape[1]} columns and {len(samples)} lines; a wavelet has 1 or 2 columns and at least '
                 '2 lines')
    if not np.isfinite(samples).all():
        at = int(np.argmin(np.isfinite(samples).all(axis=1)))
        cli.fail(f'{a.file}: sample {at + 1} of the wavelet is {" ".join(f"{v:g}" for v in samples[at])}, no finite number')
    if samples.shape[1] == 1 and not a.wavelet_dt:
        cli.fail(f'{a.file} has one column: give its sample interval with --wavelet-dt')
    dt = a.wavelet_dt if samples.shape[1] == 1 else float(np.mean(np.diff(samples[:, 0])))
    if not dt > 0:
        cli.fail(f'{a.file}: the times in its first column must rise')
    padded = np.zeros((1, max(4096, len(samples))))
    padded[0, :len(samples)] = samples[:, -1]
    f, each = figures.spectrum(padded, dt)
    return f'wavelet {os.path.basename(a.file)}, {cli.counted(len(samples), "sample")} at {dt:.6g} s', '', f, each


def demo(a):
    m = read_model(a.model, ['vp'])
    file, slots = finished(a.file)
    every = -(-len(slots) // SIDE_BY_SIDE)
    component = component_of(file, a)
    shown = [file.gather(s, component) for s in slots[::every]]
    one = file.gather(one_slot(file, slots, a.record), component)
    tell_silent(shown)
    level, factor, unit, note = clip(shown, a)
    window = window_of(a, file.time)
    figure = plt.figure(figsize=(14, 9.6), constrained_layout=True)
    figure.set_constrained_layout_pads(w_pad=0.06, h_pad=0.08, hspace=0.02, wspace=0.02)
    top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1.55))
    ax = top.subplots()
    image = figures.draw_model(ax, m, 'vp', [file.gather(s, component) for s in slots], one, cli.counted(len(slots), 'source'))
    figures.colour_bar(top, image, ax, figures.model_label(m, 'vp'), extend='neither', aspect=18)
    ax.set_title('Velocity model and geometry', loc='left', fontweight='bold')
    left, right = bottom.subplots(1, 2, gridspec_kw={'width_ratios': (1, 2.6)})
    figures.draw_gather(left, one, level, a.gain, a.axis, a.colour, window=window, title=False)
    left.set_title(f'Shot record {one.record}', loc='left', fontweight='bold', pad=18)     # level with its neighbour
    image = figures.draw_gathers(right, shown, level, a.gain, a.axis, a.colour, window)
    every_text = f' (one in {every} of {len(slots)})' if every > 1 else ''
    right.set_title(f'{cli.counted(len(shown), "gather")} by shot record{every_text}', loc='left', fontweight='bold')
    right.set_xlabel('')
    figures.colour_bar(bottom, image, [left, right], f'{figures.amplitude_label(component, unit, a.gain)}\n{note}', factor)
    put(figure, a)


# --- snapshots -------------------------------------------------------------------------------------------------------

def snapshots(a):
    fields, time, x, z, unit, name = read_snapshots(a)
    m = read_model(a.model, ['vp']) if a.model else None
    level = figures.clip_of([fields], a.clip)
    factor, text = figures.prefixed(unit, level)
    label = f'{figures.bracketed(figures.quantity(name), text)}, {figures.clip_note(level, factor, text, a.clip, 0)}'
    if os.path.splitext(a.output)[1].lower() in MOVIES:
        movie(a, fields, time, x, z, level, factor, label, m)
    else:
        strip(a, fields, time, x, z, level, factor, label, m)


def read_snapshots(a):
    cdf5.check_sealed(a.file)
    with open_dataset(a.file) as ds:
        found = [n for n, v in ds.variables.items() if v.ndim in (3, 4) and v.dimensions[-1].startswith('x')
                 and v.dimensions[-2].startswith('z')]
        name = a.variable or (found[0] if found else None)
        if name not in found:
            cli.fail(f"{a.file} has no variable {name + ' ' if name else ''}with dimensions (time, z, x); it has "
                     f"{', '.join(ds.variables) or 'none'}"
                     + ('; planes and maps of a 3D shot are drawn by spl-plot map' if 'y' in ds.dimensions else ''))
        v = ds[name]
        fields = np.ma.filled(v[0] if v.ndim == 4 else v[:], np.nan)
        a.head = f'record {ds.record}' if 'record' in ds.ncattrs() else ''
        t, z, x = v.dimensions[-3:]
        if not fields.shape[0]:
            cli.fail(f'{a.file}: {name} has no frames')
        return fields, coordinate(ds, t), coordinate(ds, x), coordinate(ds, z), getattr(v, 'units', ''), name


def strip(a, fields, time, x, z, level, factor, label, m):
    """Frames at even times, three a row."""
    n = min(a.frames or 6, len(fields))
    first = 0 if n >= len(fields) else len(fields) / (n + 1)
    chosen = np.unique(np.rint(np.linspace(first, len(fields) - 1, min(n, len(fields)))).astype(int))
    columns = min(3, len(chosen))
    rows = -(-len(chosen) // columns)
    shape = np.clip((z[-1] - z[0]) / max(x[-1] - x[0], 1e-9), 0.25, 1.2)
    figure, axes = plt.subplots(rows, columns, figsize=(4.2 * columns + 1, 4.2 * shape * rows + 1), sharex=True, sharey=True,
                                constrained_layout=True, squeeze=False)
    for ax in axes.flat[len(chosen):]:
        ax.set_axis_off()
    for ax, i in zip(axes.flat, chosen):
        image = figures.draw_frame(ax, fields[i], x, z, level, m)
        ax.set_title(f't = {time[i]:.3f} s')
    for ax in axes[-1]:
        ax.set_xlabel('x [m]')
    for ax in axes[:, 0]:
        ax.set_ylabel('depth [m]')
    bar_of(figure, image, axes, label, factor, level)
    figures.head(figure, '', a.head, a.file)
    put(figure, a)


def bar_of(figure, image, axes, label, factor, level):
    """A bar for images that fade out: the opaque colours."""
    plain = figures.matplotlib.cm.ScalarMappable(figures.matplotlib.colors.Normalize(-level, level), image.get_cmap())
    figures.colour_bar(figure, plain, axes, label, factor)


def movie(a, fields, time, x, z, level, factor, label, m):
    """All frames, by ffmpeg or, where that is not installed, as an animated GIF."""
    from matplotlib import animation
    stem, ending = os.path.splitext(a.output)
    if not ending:
        ending = '.mp4' if shutil.which('ffmpeg') else '.gif'
        a.output = stem + ending
        cli.check_output(a.output, a.overwrite)
    if ending != '.gif' and not shutil.which('ffmpeg'):
        cli.fail(f'{a.output}: a movie of this kind needs ffmpeg, which is not installed; give a name that ends in .gif')
    shape = np.clip((z[-1] - z[0]) / max(x[-1] - x[0], 1e-9), 0.25, 1.2)
    figure, ax = plt.subplots(figsize=(9, 7 * shape + 1.2), constrained_layout=True)
    step = max(1, -(-len(fields) // (a.frames or 1000)))
    image = figures.draw_frame(ax, fields[0], x, z, level, m)
    ax.set(xlabel='x [m]', ylabel='depth [m]')
    bar_of(figure, image, ax, label, factor, level)
    figures.head(figure, '', a.head, a.file)
    dpi = min(a.dpi, 100)
    with cli.new_file(a.output, a.overwrite) as name:
        writer = animation.PillowWriter(fps=a.fps) if ending == '.gif' else animation.FFMpegWriter(fps=a.fps)
        moving = name + ending                      # the writers look at the ending
        try:
            with writer.saving(figure, moving, dpi):
                for i in range(0, len(fields), step):
                    image.set_data(fields[i])
                    if m is not None:
                        image.set_alpha(np.clip(np.abs(fields[i]) / level * 3, 0, 1))
                    ax.set_title(f't = {time[i]:.3f} s', loc='left')
                    writer.grab_frame()
            os.replace(moving, name)
        finally:
            if os.path.exists(moving):
                os.unlink(moving)
    plt.close(figure)
    cli.say(a.output)
