#!/usr/bin/env python3
"""Figures show what the file holds where it belongs: time down, signed offsets, gaps as gaps, stated clips; faults are sentences."""
import os
import shutil
import subprocess

import matplotlib.image
import numpy as np
from netCDF4 import Dataset

from check import claim, claim_fails, done
from synthetic import line_of_shots, make_gathers, marine_line, marine_model, ricker, snapshots
from toolrun import call

from spltools.earth.modelfile import raw_model, read_model
from spltools.gathers.gathers import Gathers
from spltools.plot import figures
from spltools.plot.plot import among, main, parse

TOOL = os.path.join(os.environ['ROOT'], 'tools/spl-plot')


def plot(*words):
    r = call(TOOL, *words)
    return r.returncode, r.stdout.strip(), r.stderr.strip()


def drawn(name):
    """A grey image (rows, columns) of a PNG, 0 black .. 1 white."""
    return matplotlib.image.imread(name)[:, :, :3].mean(axis=2)


shots, sampling = marine_line(n=12, nrec=48, nt=376, dt=0.008)
make_gathers('line.nc', shots, **sampling)
marine_model('model.nc')
snapshots('snapshots.nc')
file = Gathers('line.nc')

with open('mark.txt', 'w', encoding='utf-8-sig') as text:
    text.writelines(f'{v:.6f}\n' for v in ricker(np.arange(-0.1, 0.1, 0.001), 20.0))
for words, least in ((['demo', 'line.nc', '--model', 'model.nc', '-o', 'demo.png'], 900), (['gather', 'line.nc', '-o', 'gather.png'], 700),
                     (['gather', 'line.nc', '-o', 'wiggle.png', '--wiggle', '--record', 1003, '--gain', 1], 700),
                     (['gathers', 'line.nc', '-o', 'gathers.png', '--axis', 'x', '--colour', 'seismic', '--tmax', 2], 700),
                     (['model', 'model.nc', '-o', 'model.png', '--gathers', 'line.nc'], 700),
                     (['spectrum', 'line.nc', '-o', 'spectrum.png', '--channels', '1-10'], 600),
                     (['spectrum', 'mark.txt', '--wavelet-dt', 0.001, '-o', 'mark.png'], 600),
                     (['snapshots', 'snapshots.nc', '-o', 'strip.png', '--model', 'model.nc'], 600)):
    status, said, why = plot(*words)
    image = drawn(words[words.index('-o') + 1]) if status == 0 else np.ones((1, 1))
    claim(status == 0 and image.shape[0] > 300 and image.shape[1] > least and image.std() > 0.05,
          f'{words[0]}: {image.shape[1]} x {image.shape[0]} pixels, not blank (deviation {image.std():.2f}) {why}')

status, _, why = plot('snapshots', 'snapshots.nc', '-o', 'movie.gif', '--frames', 5)
claim(status == 0 and open('movie.gif', 'rb').read(4) == b'GIF8', f'snapshots: a GIF of 5 frames {why}')
plot('gather', 'line.nc', '-o', 'gather.pdf')
claim(open('gather.pdf', 'rb').read(4) == b'%PDF', 'the ending tells the format: PDF')

# the direct wave runs where distance over velocity says, in the picture itself
figure, ax = figures.plt.subplots(figsize=(6, 6), dpi=100)
g = file.gather(6)
figures.draw_gather(ax, g, figures.clip_of([g.traces], 100.0))
figure.canvas.draw()
pixels = np.asarray(figure.canvas.buffer_rgba())[:, :, :3].mean(axis=2)
worst = 0.0
for offset in (-300.0, -600.0, -900.0):
    column, _ = ax.transData.transform((offset, 0.0))
    rows = [600 - int(round(ax.transData.transform((offset, t))[1])) for t in (0.03, -offset / 1500.0 + 0.14)]
    row = rows[0] + np.argmin(pixels[rows[0]:rows[1], int(round(column))])
    time = ax.transData.inverted().transform((0, 600 - row))[1]
    worst = max(worst, abs(time - (-offset / 1500.0 + 0.1)))
claim(worst < 0.012, f'the direct wave is drawn at its time, time running down: off by at most {worst * 1000:.1f} ms, bound 12')
figures.plt.close(figure)

# a gap has a colour that no amplitude has, clipped ones least of all
for colour in figures.SEISMIC:
    for draw in (lambda ax, g: figures.draw_gather(ax, g, 1.0, colour=colour), lambda ax, g: figures.draw_gathers(ax, [g], 1.0, colour=colour)):
        gappy = Gathers('line.nc').gather(6)
        gappy.raw = np.linspace(-3, 3, gappy.raw.size).reshape(gappy.raw.shape).astype('>f4')
        keep = ~np.isin(np.arange(gappy.nrec), (20, 21, 22, 23))
        gappy.raw, gappy.rx, gappy.ry, gappy.channel, gappy.nrec = (gappy.raw[keep], gappy.rx[keep], gappy.ry[keep], gappy.channel[keep],
                                                                    int(keep.sum()))
        figure, ax = figures.plt.subplots(figsize=(6, 6), dpi=100)
        draw(ax, gappy)
        ax.set_axis_off()
        figure.canvas.draw()
        pixels = np.asarray(figure.canvas.buffer_rgba())[:, :, :3] / 255.0
        gap = np.abs(pixels - figures.matplotlib.colors.to_rgb(figures.GAP)).max(axis=2) < 0.01
        scale = figures.matplotlib.colormaps[figures.SEISMIC[colour]](np.linspace(0, 1, 256))[:, :3]
        away = np.abs(scale - figures.matplotlib.colors.to_rgb(figures.GAP)).max(axis=1).min()
        width = gap[300].mean() / 0.775                  # axes fill 77.5 % of the figure
        claim(away > 0.1 and 0.5 < width / (4 / 48) < 1.5, f'{colour}: 4 of 48 traces missing: {100 * width:.1f} % of the width in a colour '
              f'{away:.2f} away from those of amplitudes, bound 0.1')
        figures.plt.close(figure)

# gaps stay gaps, order is by position
at = np.array([-100.0, -125.0, -150.0, -225.0, -250.0])
first, step, image = figures.on_regular_axis(np.arange(5.0)[:, None] * np.ones((1, 3)), at)
claim(first == -250 and step == 25 and image.shape == (7, 3), f'positions {at.tolist()}: axis from {first} by {step} m')
claim(image[0, 0] == 4 and image[6, 0] == 0 and np.isnan(image[2:4]).all(), 'missing receivers stay blank, the others stand in order of position')
claim(figures.on_regular_axis(np.ones((1, 4)), np.array([7.0]))[2].shape == (1, 4), 'a single receiver is an axis too')
claim(figures.on_regular_axis(np.ones((3, 4)), np.array([7.0, 7.0, 7.0]))[2].shape[0] >= 1, 'receivers at one place do not break it')

# amplitudes
values = np.arange(-1000.0, 1001.0)
claim(abs(figures.clip_of([values], 98.0) - 980) < 1, f'98 % of -1000..1000 lie within {figures.clip_of([values], 98.0):g}')
claim(figures.clip_of([np.zeros(10)], 98.0) == 1.0 and figures.clip_of([np.r_[np.zeros(1000), 5.0]], 98.0) == 5.0, 'silence does not break the clip')
claim(figures.prefixed('Pa', 0.0032) == (1e3, 'mPa') and np.isclose(figures.prefixed('m s-1', 2.5e-9)[0], 1e9) and
      figures.prefixed('Pa', 1.0) == (1.0, 'Pa'), 'units get the prefix that fits: mPa, nm/s, Pa')
claim(figures.prefixed('s-1', 2.5e-9) == (1 / 1e-9, '10⁻⁹/s') and figures.prefixed('s-1', 1.5) == (1.0, '1/s') and
      figures.prefixed('m s-2', 0.02) == (1 / 1e-3, 'mm/s²') and figures.prefixed('', 3e-3) == (1 / 1e-3, '10⁻³') and figures.prefixed('', 3.0) == (1.0, ''),
      'rates of strain and numbers without unit get powers of ten: ns-1 would be a thousand million a second, m a metre')
claim(figures.bracketed('pressure', 'Pa') == 'pressure [Pa]' and figures.bracketed('amplitude', '') == 'amplitude', 'labels: quantity [unit]')
claim(figures.quantity('vz_top', 'velocity vz at the top, z = 0 m') == 'particle velocity vz' and figures.quantity('p') == 'pressure' and
      figures.quantity('pgv_horizontal', 'largest horizontal velocity at the top, z = 0 m') == 'largest horizontal velocity', 'variables get words')

# maps are seen from above: y of finite differences lies to the right of x, that of a mesh whose z points up to the left
FD, LEFT = {'axes': 'x points x_azimuth degrees clockwise from north, y 90 degrees further, z down'}, {'navigation_y': 'left'}
claim({*FD, *LEFT, 'mesh_z'} == {*figures.MAP_ATTRIBUTES}, f'what tells how y lies is read: {figures.MAP_ATTRIBUTES}')
for attributes, wanted, turned, words in ((FD, '', True, 'seen from above'), (FD, 'up', False, 'seen from below'), ({**FD, **LEFT}, '', False, 'from above'),
                                          ({'mesh_z': 'up', 'axes': 'x and y of the mesh, z down'}, '', False, 'seen from above'),
                                          ({'mesh_z': 'down'}, '', True, 'seen from above'), ({}, '', False, 'as the survey has them'),
                                          ({'mesh_z': 'up'}, 'down', True, 'seen from below'), ({'mesh_z': b'?'}, 'down', True, 'as the survey has them')):
    figure, ax = figures.plt.subplots()
    ax.plot([0, 1], [0, 1])
    said = figures.lay_map(ax, attributes, wanted)
    claim((ax.get_ylim()[0] > ax.get_ylim()[1]) == turned and words in said, f'map of {attributes} {wanted}: y {"down" if turned else "up"}, {said}')
    figures.plt.close(figure)

# a record cut at its end
t = np.arange(1000) * 0.004
cut = np.sin(2 * np.pi * 5.03 * t)[None, :]
f, plain = figures.spectrum(cut, 0.004)
level = [figures.decibel(figures.spectrum(figures.tapered(cut, part), 0.004)[1][0], plain.max())[f > 60].max() for part in (0, 0.05)]
whole = ricker(t - 1.0, 15.0)[None, :]
claim(level[0] - level[1] > 10 and np.array_equal(figures.tapered(whole, 0.0), whole),
      f'cut waves leave {level[1]:.1f} dB above 60 Hz, {level[0]:.1f} dB without taper')
claim(np.array_equal(figures.tapered(whole, 0.05)[:, :950], whole[:, :950]) and figures.tapered(whole + 1, 0.05)[0, -1] < 1e-6 and
      np.abs(figures.spectrum(figures.tapered(whole, 0.05), 0.004)[1] - figures.spectrum(whole, 0.004)[1]).max() < 1e-9 * 0.03,
      'the taper leaves what is before the last 5 % of the record')
gained = figures.gained(np.ones((1, 3), 'f4'), np.array([0.0, 1.0, 2.0]), 2.0)
claim(gained.tolist() == [[0.0, 1.0, 4.0]], 'gain t^2 is t^2')
around = Gathers('line.nc').gather(0)
around.rx = around.sx + np.repeat([100.0, 200.0, 300.0], 16)
figure, ax = figures.plt.subplots()
figures.wiggle(ax, around, around.traces, around.offset(), float(np.abs(around.traces).max()))
wide = max(np.ptp(line.get_xdata()) for line in ax.lines)
claim(wide >= 50, f'wiggles of receivers at one offset have room: {wide:g} m')
figures.plt.close(figure)
gained = figures.gained(np.ones((1, 3), 'f4'), np.array([0.0, 1.0, 2.0]), -1.0)
claim(gained.tolist() == [[0.0, 1.0, 0.5]], 'gain 1/t is 1/t, and nothing is infinite at t = 0')
channels = np.array([2, 3, 5, 7, 2147483647])
claim(among(channels, '1-2, 5-2147483647').tolist() == [True, False, True, True, True], 'lists of channels may have any ends')
t = np.arange(2000) * 0.001
f, amplitude = figures.spectrum(ricker(t - 1.0, 25.0)[None, :], 0.001)
wanted = 2 * f ** 2 / (np.sqrt(np.pi) * 25.0 ** 3) * np.exp(-(f / 25.0) ** 2)
error = np.max(np.abs(amplitude[0] - wanted)) / wanted.max()
claim(error < 1e-6, f'spectrum of a Ricker wavelet equals the formula, absolute amplitude: error {error:.1e}, bound 1e-6')
np.savetxt('wavelet.txt', np.c_[t, ricker(t - 1.0, 25.0)])
claim(plot('spectrum', 'wavelet.txt', '-o', 'wavelet.png')[0] == 0, 'spectrum of a wavelet in a text file')

# shots that do not count are not drawn, and said
for s in shots[:2]:
    s['status'] = 0
make_gathers('partly.nc', shots, **sampling)
status, _, why = plot('gathers', 'partly.nc', '-o', 'partly.png')
claim(status == 0 and '2 shots left out' in why and '1001' in why, f'unfinished shots are left out and told: {why}')
many = line_of_shots(n=60, nrec=4, nt=10)
make_gathers('many.nc', many, nt=10)
status, said, _ = plot('gathers', 'many.nc', '-o', 'many.png')
claim(status == 0 and 'one in 3' in said, f'60 shots: {said.splitlines()[0]}')

many[7]['traces']['pressure'][2:] = 0
make_gathers('silent.nc', many, nt=10)
status, _, why = plot('gather', 'silent.nc', '--record', many[7]['record'], '-o', 'silent.png')
claim(status == 0 and f"2 of 4 traces of pressure are zero at every sample: record {many[7]['record']}, channels 3 .. 4" in why,
      f'silent traces are told: {why}')
section = np.linspace(1500.0, 4500.0, 41 * 23).reshape(41, 23)
section.astype('>f8').tofile('vp.raw')
status, _, why = plot('model', 'vp.raw', '--nx', 41, '--nz', 23, '--dx', 20, '--dz', 10, '--type', 'float64', '--endian', 'big', '-o', 'raw.png')
claim(status == 0 and drawn('raw.png').std() > 0.05, f'a raw model is drawn {why}')
section.T.astype('<f4').tofile('x.raw')
rock = np.random.default_rng(515).uniform(1500, 4000, (7, 11))
for name, heights, order in (('depths', None, 'zx'), ('heights that rise', -1, 'zx'), ('heights that fall', 1, 'zx'), ('heights that rise, x first', -1, 'xz')):
    with Dataset('turn.nc', 'w') as d:
        for axis, n in (('z', 7), ('x', 11)):
            called = {'x': 'easting', 'z': 'level'}[axis]
            d.createDimension(called, n)
            v = d.createVariable(called, 'f8', (called,))
            v.setncatts({'units': 'm', 'axis': axis.upper(), **({'positive': 'up'} if axis == 'z' and heights else {})})
            v[:] = 10.0 * np.arange(n)
        if heights:
            d['level'][:] = -10.0 * np.arange(7)[::heights]
        v = d.createVariable('vp', 'f8', [{'x': 'easting', 'z': 'level'}[axis] for axis in order])
        v.units = 'm/s'
        values = rock[::heights or 1]
        v[:] = values if order == 'zx' else values.T
    m = read_model('turn.nc')
    claim(np.array_equal(m.values['vp'], rock) and np.array_equal(m.z, 10.0 * np.arange(7)) and np.array_equal(m.x, 10.0 * np.arange(11)),
          f'a model with {name} is drawn with depth downwards')
a = parse(['model', 'x.raw', '--nx', '41', '--nz', '23', '--dx', '20', '--dz', '10', '--order', 'xfast', '-o', 'x.png'])
m = raw_model('x.raw', 'vp', a)
claim(np.array_equal(m.values['vp'], section.T.astype('f4')) and m.x[-1] == 800 and m.z[-1] == 220, 'x fastest: columns are columns')

make_gathers('single.nc', line_of_shots(n=1, nrec=2, nt=1), nt=1)
with Dataset('kilo.nc', 'w') as ds:
    for name, n in (('z', 5), ('x', 7)):
        ds.createDimension(name, n)
        ds.createVariable(name, 'f8', (name,))[:] = 0.01 * np.arange(n)
        ds[name].units = 'kilometres'
    ds.createVariable('vp', 'f4', ('z', 'x'))[:] = 1500.0
m = read_model('kilo.nc')
claim(np.allclose(m.x, 10 * np.arange(7)) and np.allclose(m.z, 10 * np.arange(5)), 'coordinates in kilometres become metres')
for sentence, words, arguments in (
        ('no such file', ['nothere.nc', 'no such file'], ['gather', 'nothere.nc', '-o', 'x.png']),
        ('no such record', ['no shot record 7', '1012'], ['gather', 'line.nc', '--record', 7, '-o', 'x.png']),
        ('unfinished record', ['1001', 'no finished shot'], ['gather', 'partly.nc', '--record', 1001, '-o', 'x.png']),
        ('no such component', ["no component 'vz'"], ['gather', 'line.nc', '--component', 'vz', '-o', 'x.png']),
        ('an empty time window', ['2', '1', 'empty'], ['gather', 'line.nc', '--tmin', 2, '--tmax', 1, '-o', 'x.png']),
        ('a time window outside', ['outside', '0'], ['gather', 'line.nc', '--tmin', 20, '--tmax', 30, '-o', 'x.png']),
        ('a percentile above 100', ['120', '100 %'], ['gather', 'line.nc', '--clip', 120, '-o', 'x.png']),
        ('a format unknown', ['.xyz', '.png'], ['gather', 'line.nc', '-o', 'x.xyz']),
        ('no ending', ['.png'], ['gather', 'line.nc', '-o', 'x']),
        *([] if shutil.which('xelatex') else [('a figure for LaTeX', ['xelatex'], ['gather', 'line.nc', '-o', 'x.pgf'])]),
        ('an output that exists', ['exists already'], ['gather', 'line.nc', '-o', 'gather.png']),
        ('a model without vp', ['vp', 'pressure'], ['model', 'line.nc', '-o', 'x.png']),
        ('a raw model without its shape', ['--nx', '--dz'], ['model', 'x.raw', '-o', 'y.png']),
        ('a raw model without its spacing', ['--dz is missing'], ['model', 'x.raw', '--nx', 41, '--nz', 23, '--dx', 20, '-o', 'y.png']),
        ('a raw model of another shape', ['3772 bytes', 'nx = 40'], ['model', 'x.raw', '--nx', 40, '--nz', 23, '--dx', 20, '--dz', 10, '-o', 'y.png']),
        ('channels that are not there', ['99'], ['spectrum', 'line.nc', '--channels', '99', '-o', 'x.png']),
        ('a spectrum of one sample', ['single sample'], ['spectrum', 'single.nc', '-o', 'x.png']),
        ('channels that are no numbers', ["'one'"], ['spectrum', 'line.nc', '--channels', 'one', '-o', 'x.png']),
        ('a wavelet of one column', ['--wavelet-dt'], ['spectrum', 'one.txt', '-o', 'x.png']),
        ('a wavelet with a sample that is no number', ['sample 2', 'nan', 'no finite number'], ['spectrum', 'nan.txt', '-o', 'x.png']),
        ('a wavelet with commas', ['two columns parted by blanks, with decimal points'], ['spectrum', 'commas.txt', '-o', 'x.png']),
        ('a misspelt figure', ["invalid choice: 'gathre'", 'did you mean gather?'], ['gathre', 'line.nc', '-o', 'x.png']),
        ('a number with its unit', ["'50Hz' is no number, give it alone, in Hz"], ['spectrum', 'line.nc', '--fmax', '50Hz', '-o', 'x.png']),
        ('a decimal comma', ["'0,5' is no number, write decimals with a point"], ['gather', 'line.nc', '--tmax', '0,5', '-o', 'x.png']),
        ('snapshots without wavefields', ['time, z, x'], ['snapshots', 'model.nc', '-o', 'x.png'])):
    np.savetxt('one.txt', t)
    np.savetxt('commas.txt', np.c_[t, t], delimiter=',')
    np.savetxt('nan.txt', [[0, 1], [0.004, np.nan]])
    claim_fails(lambda: main([str(w) for w in arguments]), words, sentence)
    if os.path.exists('x.png') or os.path.exists('x.xyz'):
        claim(False, f'{sentence}: a file was written all the same')
for figure, names in (('gather', ['line.nc']), ('demo', ['line.nc', '--model', 'model.nc']), ('snapshots', ['snapshots.nc', '--model', 'model.nc']),
                      ('model', ['model.nc', '--gathers', 'line.nc'])):
    for name in [n for n in names if n[0] != '-']:
        before = open(name, 'rb').read()
        os.symlink(name, 'input.png')
        claim_fails(lambda: main([figure, *names, '-o', 'input.png', '--overwrite']), 'input.png would overwrite an input: choose another name',
                    f'{figure} {" ".join(names)}, onto a link to {name}')
        claim(os.path.islink('input.png') and open(name, 'rb').read() == before, 'link and file are left as they are')
        os.remove('input.png')
# sealed snapshots, as the modelling writes them
subprocess.run([os.path.join(os.environ['B'], 'tests/t320_snapshots')], stdout=subprocess.DEVNULL)
main(['snapshots', 'frames.nc', '-o', 'frames.png'])
claim(os.path.exists('frames.png'), 'snapshots of the modelling itself are drawn')
data = bytearray(open('frames.nc', 'rb').read())
data[-9] ^= 1
open('frames.nc', 'wb').write(data)
claim_fails(lambda: main(['snapshots', 'frames.nc', '-o', 'x.png']), 'damaged', 'damaged snapshots')
status, _, why = plot('gather', 'nothere.nc', '-o', 'x.png')
claim(status == 1 and why.startswith('error: nothere.nc') and len(why.splitlines()) == 1, f'on the command line: exit 1 and one line: {why}')
left = [n for n in os.listdir('.') if n.endswith('.tmp')]
claim(not left, f'no temporary files are left behind ({len(left)})')
done()
