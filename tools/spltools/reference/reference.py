"""spl-reference: a 3D run in flat layers of rock below a free surface against the exact motion, or against a published series."""
import os
import struct

import numpy as np

from spltools import cli
from spltools.gathers.gathers import Gathers
from spltools.reference.layered_motion import Layers, layered_velocity

ABOUT = """Compares stations of a 3D run in flat layers with the exact motion of these layers, found by a sum over
wavenumbers, or with a published series (--series). Misfits are relative L2 of velocity, radial, transverse and
vertical, after the band was cut (--low, --high), and of all three together.

The run must have layers= with top=free, or be one of SplSemmod with mesh=layers; source=moment, explosion or dc,
wavelet=gauss or ricker and the components vx, vy, vz. Its layers are read again: start this where the run was
started, or give --layers. Where they are no longer those that the run read it is refused, or told if they come
from --layers."""
NAMES = ('radial', 'transverse', 'vertical')
FADE = 0.2          # of a corner frequency: how wide the edge of the band is


def arguments(words):
    p = cli.Parser(prog='spl-reference', description=ABOUT)
    p.add_argument('file', help='file of gathers')
    p.add_argument('--record', help='shot record (default: the first finished one)')
    p.add_argument('--channels', metavar='LIST', help='only these channels, such as 1,4 (default: all)')
    p.add_argument('--layers', metavar='FILE', help='the layers of the run (default: the file it names)')
    p.add_argument('--series', metavar='FILE',
                   help='compare with this in place of exact motion: lines of time [s], radial, transverse and vertical (down) '
                        'velocity [m/s] of one station, blanks or commas between them')
    p.add_argument('--low', type=cli.number(0, 1e6, 'Hz'), default=0.0, metavar='F', help='leave out what is below [Hz]')
    p.add_argument('--high', type=cli.number(0, 1e6, 'Hz', above=True), metavar='F', help='and above [Hz]')
    p.add_argument('-o', '--output', metavar='OUT.csv', help='write the reference, in the form of --series, of one station')
    p.add_argument('--overwrite', action='store_true', help='replace OUT.csv if it exists')
    return p.parse_args(words)


def main(words):
    a = arguments(words)
    file = Gathers(a.file)
    check_band(a, file.dt)
    lacking = [c for c in ('vx', 'vy', 'vz') if c not in file.components]
    if lacking:
        cli.fail(f"{a.file} has no component '{lacking[0]}': model with components=vx,vy,vz")
    slot = file.chosen(a.record, done_only=a.record is None)[0][0]
    gathers = [file.gather(slot, c) for c in ('vx', 'vy', 'vz')]
    keep = chosen_channels(gathers[0], a.channels)
    if (a.series or a.output) and len(keep) != 1:
        cli.fail(f'{len(keep)} stations, but a series is of one: give its channel with --channels')
    g = gathers[0]
    east = np.stack([g.rx - g.sx, g.ry - g.sy, g.rz], 1)[keep]
    run = turned(np.stack([q.traces[keep] for q in gathers], 1).astype(float), east)
    exact = read_series(a.series, file.time) if a.series else turned(exact_motion(a, file, g.sz, east), east)
    if a.output:
        with cli.new_file(a.output, a.overwrite) as temporary:
            np.savetxt(temporary, np.vstack([file.time, exact[0]]).T, '%.9e', ',', comments='# ',
                       header='time [s], radial, transverse, vertical (down) velocity [m/s]')
        cli.say(f'written: {a.output}')
    report(g.channel[keep], east, cut(run, file.dt, a), cut(exact, file.dt, a), a)
    return 0


def check_band(a, dt):
    """The band must hold something: what is left of an empty one is rounding."""
    if a.high and a.low >= a.high:
        cli.fail(f'--low {a.low:g} Hz is not below --high {a.high:g} Hz, so the band is empty: lower --low or raise --high')
    if 2 * a.low * dt >= 1:
        cli.fail(f'--low {a.low:g} Hz must be below {0.5 / dt:g} Hz, the Nyquist frequency of the traces of {a.file}: lower it')


def chosen_channels(g, wanted):
    keep = np.arange(len(g.channel))
    if wanted:
        from spltools.plot.plot import among
        keep = np.flatnonzero(among(g.channel, wanted))
    if not len(keep):
        cli.fail(f'shot {g.record} has none of the channels {wanted}; it has {g.channel.min()} .. {g.channel.max()}')
    return keep


def turned(v, away):
    """(station, x y z, time) to radial, transverse, vertical."""
    azimuth = np.arctan2(away[:, 1], away[:, 0])[:, None]
    c, s = np.cos(azimuth), np.sin(azimuth)
    return np.stack([c * v[:, 0] + s * v[:, 1], c * v[:, 1] - s * v[:, 0], v[:, 2]], 1)


# --- what ought to come out ---------------------------------------------------------------------------------------------

def exact_motion(a, file, depth, away):
    job = file.parameters()
    if job.get('ocean_load'):
        cli.fail(f"{a.file} has ocean_load={job['ocean_load']}: exact motion is known without the weight of an ocean")
    if job.get('mesh') and (a.layers or job['mesh'] == 'layers'):
        rows = read_layers(a.layers) if a.layers else meshed_layers(job)
    elif job.get('top') == 'free' and job.get('layers'):
        path = a.layers or job['layers']
        rows = read_layers(path)
        lost = losses(rows, job)
        check_layers(a, path, rows, lost if job.get('attenuation') != 'no' else [[]] * len(rows), file)
        rows = [[*row[:4], *(1 / x if x else np.inf for x in loss)] for row, loss in zip(rows, lost)]
    else:
        cli.fail(f'{a.file} is no run in flat layers below a free surface (layers= with top=free, or mesh=layers): exact motion is '
                 'not known; for one on another mesh give the layers with --layers')
    layers = Layers(rows, job.get('attenuation') != 'no', q_reference(file))
    for what, z in (('the source', depth), ('a station', away[:, 2].min())):
        if z < layers.top[0]:
            cli.fail(f'{what} lies {layers.top[0] - z:g} m above the free surface, {layers.top[0]:g} m, where layers begin: '
                     'give the layers of the run with --layers')
    spectrum, highest = wavelet(file, job)
    return layered_velocity(layers, depth, moment(a, job), away, spectrum, highest, file.time)


def meshed_layers(job):
    """Of a run with mesh=layers: tops from its table, which must be depths; vp, vs, rho, Qp, Qs from that of materials."""
    media = {words[0]: words[1:] for _, words in lines_of(job['materials'])}
    rows = []
    for number, words in lines_of(job['layers']):
        medium = media.get(words[0], media.get('*'))
        try:
            rows.append([real(words[1]), *map(real, medium)])
        except (ValueError, TypeError):
            cli.fail(f"{job['layers']}, line {number}: layer {words[0]} has no plain depth, or no medium of numbers in "
                     f"{job['materials']}: give the layers with --layers")
        if len(rows) > 1 and rows[-1][0] <= rows[-2][0]:
            cli.fail(f"{job['layers']}, line {number}: layer {words[0]} begins above the one before and cuts it: give the layers "
                     'with --layers')
    return rows


def lines_of(path):
    """Number and words of each line that has more than a comment."""
    cli.check_input(path)
    with text_of(path) as f:
        lines = [(number, line.split('#')[0].split()) for number, line in enumerate(f, 1)]
    return [line for line in lines if line[1]]


def text_of(path):
    """A text as the programs take it: with the mark of UTF-8 or without, and any letters in comments."""
    return open(path, encoding='utf-8-sig', errors='replace')


def real(word):
    """A number, of which the programs take 1.5d3 too."""
    return float(word.lower().replace('d', 'e'))


def read_layers(path):
    cli.check_input(path)
    rows = []
    with text_of(path) as f:
        for number, line in enumerate(f, 1):
            words = line.split('#')[0].split()
            try:
                if words:
                    rows.append([real(w) for w in words])
            except ValueError:
                cli.fail(f'{path}, line {number}: these are no numbers')
            if words and (len(words) not in (4, 6) or len(words) != len(rows[0])):
                cli.fail(f'{path}, line {number}: {len(words)} numbers, must be 4 or 6 in every line alike')
            if words:
                check_row(f'{path}, line {number}: ', rows)
    if not rows:
        cli.fail(f'{path} holds no layer')
    return rows


def check_row(where, rows):
    """The last row must be one that the program would take (flat_layers.f90)."""
    top, vp, vs, rho, *quality = rows[-1]
    if not np.isfinite(rows[-1]).all():
        cli.fail(f'{where}a number is not finite')
    if len(rows) > 1 and top <= rows[-2][0]:
        cli.fail(f'{where}top = {top:g} m, must be below the layer before, {rows[-2][0]:g} m')
    if not (50 <= vp <= 15000 and 0 <= vs <= 0.8661 * vp and 1 <= rho <= 30000):
        cli.fail(f'{where}vp, vs, rho = {vp:g}, {vs:g} m/s, {rho:g} kg/m3, must be 50 .. 15000, at most 0.866 vp, 1 .. 30000')
    if vs > 0 and quality and min(quality) < 1:
        cli.fail(f'{where}Qp, Qs = {quality[0]:g}, {quality[1]:g}, must be 1 or more, 1e9 where nothing attenuates')


def losses(rows, job):
    """1/Qp, 1/Qs of each row as the program has them: of the file, else by the rule qs_vs; 0 where nothing is lost."""
    ratio = float(job.get('qs_vs', 0))
    if len(rows[0]) == 4 and ratio:
        by_rule = [1 / (ratio * row[2]) if row[2] else 0.0 for row in rows]
        return [[loss / float(job.get('qp_qs', 2)), loss] for loss in by_rule]
    return [[1 / q if q and (row[2] or n == 0) else 0.0 for n, q in enumerate(row[4:])] for row in rows]


def check_layers(a, path, rows, lost, file):
    """The layers must be those that the run read, by the fingerprint in its output; told only where the user chose others."""
    stored = file.text('model_hash')
    found = layers_hash(rows, lost)
    if not stored or found == stored:
        return
    what = f'{path} does not hold the layers of the run: their fingerprint is {found}, that in {a.file} is {stored}'
    if not a.layers:
        cli.fail(f'{what}; give the layers as they were then with --layers, or model again')
    cli.warn(f'{what}; the exact motion is that of {path}')


def layers_hash(rows, lost):
    """The fingerprint of layers as the program makes it (hash.f90, SummariseLayers in model3d.f90): two polynomials
    modulo 2**31 - 1 in the halves of the double precision numbers top, vp, vs, rho and, where they count, 1/Qp, 1/Qs."""
    h = [1, 2]
    for row, loss in zip(rows, lost):
        numbers = [x + 0.0 for x in (*row[:4], *loss)]             # -0 is 0
        for word in struct.unpack(f'<{2 * len(numbers)}I', struct.pack(f'<{len(numbers)}d', *numbers)):
            h = [(x * base + word) % 2147483647 for x, base in zip(h, (1103515245, 1664525))]
    return '%08X%08X' % tuple(h)


def q_reference(file):
    """The frequency at which the layers' velocities are phase velocities; by default the middle of the band of constant Q."""
    band = np.atleast_1d(file.attributes.get('band_of_constant_Q_Hz', 1.0)).astype(float)
    return float(file.parameters().get('q_ref', 0)) or float(np.sqrt(band[0] * band[-1]))


def wavelet(file, job):
    """Its spectrum as a function of angular frequency, and where it ends [Hz]."""
    delay = float(file.text('wavelet_time_zero'))
    amplitude = float(job.get('amplitude', 1))
    if job.get('wavelet') == 'gauss':
        sigma = float(job['sigma'])
        return lambda w: amplitude * np.exp(-((w * sigma) ** 2) / 2 - 1j * w * delay), 5.0 / (2 * np.pi * sigma)
    if job.get('wavelet') == 'ricker':
        peak = float(file.text('wavelet_peak_frequency_Hz'))
        return lambda w: amplitude * ricker(w / (2 * np.pi), peak) * np.exp(-1j * w * delay), 3.8 * peak
    cli.fail(f"wavelet={job.get('wavelet')}: exact motion is made with gauss or ricker only")


def ricker(f, peak):
    return 2 * f**2 / (np.sqrt(np.pi) * peak**3) * np.exp(-((f / peak) ** 2))


def moment(a, job):
    kind = job.get('source')
    if kind == 'moment':
        return [float(job[n]) for n in ('mxx', 'myy', 'mzz', 'mxy', 'mxz', 'myz')]
    m0 = 10 ** (1.5 * float(job['mw']) + 9.1) if float(job.get('mw', 0)) else float(job.get('m0', 0))
    if kind == 'explosion':
        return [m0, m0, m0, 0.0, 0.0, 0.0]
    if kind == 'dc':
        strike, dip, rake, turn = (np.radians(float(job[n])) for n in ('strike', 'dip', 'rake', 'x_azimuth'))
        s = strike - turn
        left = -1 if job.get('mesh_z') == 'up' else 1           # y points 90 degrees to the left of x, not to the right
        return [m0 * part for part in (
            -np.sin(dip) * np.cos(rake) * np.sin(2 * s) - np.sin(2 * dip) * np.sin(rake) * np.sin(s) ** 2,
            np.sin(dip) * np.cos(rake) * np.sin(2 * s) - np.sin(2 * dip) * np.sin(rake) * np.cos(s) ** 2,
            np.sin(2 * dip) * np.sin(rake),
            left * (np.sin(dip) * np.cos(rake) * np.cos(2 * s) + np.sin(2 * dip) * np.sin(rake) * np.sin(2 * s) / 2),
            -np.cos(dip) * np.cos(rake) * np.cos(s) - np.cos(2 * dip) * np.sin(rake) * np.sin(s),
            left * (-np.cos(dip) * np.cos(rake) * np.sin(s) + np.cos(2 * dip) * np.sin(rake) * np.cos(s)))]
    cli.fail(f'{a.file} has source={kind}: exact motion is known for moment, explosion and dc')


def read_series(path, time):
    """(1, 3, time): linear between its samples, which must be fine."""
    cli.check_input(path)
    try:
        with text_of(path) as f:
            table = np.array([line.replace(',', ' ').split() for line in f if line.strip() and line.lstrip()[0] != '#'], float)
    except ValueError:
        cli.fail(f'{path}: must hold lines of four numbers: time, radial, transverse, vertical')
    if table.ndim != 2 or table.shape[1] != 4 or len(table) < 2 or not (np.diff(table[:, 0]) > 0).all():
        cli.fail(f'{path}: must hold lines of four numbers, the first a rising time')
    if table[-1, 0] < time[-1] - (time[1] - time[0]):
        cli.fail(f'{path} ends at {table[-1, 0]:g} s, the run at {time[-1]:g} s: model with a smaller tmax')
    return np.stack([np.interp(time, table[:, 0], table[:, c]) for c in (1, 2, 3)])[None]


# --- how far off it is --------------------------------------------------------------------------------------------------

def cut(v, dt, a):
    """The band, without change of phase."""
    if not a.low and not a.high:
        return v
    n = 1 << int(np.ceil(np.log2(2 * v.shape[-1])))
    f = np.fft.rfftfreq(n, dt)
    keep = np.ones_like(f)
    if a.low:
        keep *= np.clip(0.5 + (f / a.low - 1) / (2 * FADE), 0, 1)
    if a.high:
        keep *= np.clip(0.5 - (f / a.high - 1) / FADE, 0, 1)
    return np.fft.irfft(np.fft.rfft(v, n) * keep, n)[..., :v.shape[-1]]


def report(channel, away, run, exact, a):
    what = os.path.basename(a.series) if a.series else 'exact motion'
    cli.say(f'relative L2 misfit to {what}; peaks of the reference [m/s]')
    cli.say(f"{'channel':>8s} {'distance':>10s} {'radial':>9s} {'transverse':>11s} {'vertical':>9s} {'all':>9s}   peaks")
    for s, n in enumerate(channel):
        each = [misfit(run[s, c], exact[s, c]) for c in range(3)]
        peaks = ', '.join(f'{np.abs(exact[s, c]).max():.3g}' for c in range(3))
        cli.say(f'{n:8d} {np.hypot(*away[s, :2]):8.0f} m {each[0]:8.2f}% {each[1]:10.2f}% {each[2]:8.2f}% '
                f'{misfit(run[s], exact[s]):8.2f}%   {peaks}')


def misfit(a, b):
    size = np.linalg.norm(b)
    return 100 * np.linalg.norm(a - b) / size if size > 0 else np.inf
