#!/usr/bin/env python3
"""Volumes in SEG-Y as segyio writes them: traces by inline or crossline or in any order, other byte positions, feet, numbers that step,
grids along east and north or turned, without coordinates. Each node has the value that its easting, northing and depth have in the
formula of the model; the words for spl-keymap that are told place a source where the same formula holds."""
import re

import netCDF4
import numpy as np
import segyio

from check import claim, done, given_seed
from toolrun import Tool

SEED = given_seed()
rng = np.random.default_rng(SEED)
NZ, DZ = 11, 8.0
tool = Tool('spl-model', 'bad.nc')
keymap = Tool('spl-keymap', 'bad.keymap')
WORDS = ('--variable', 'vs', '--unit', 'm/s', '--dz', DZ, '--overwrite')


def speed(e, n, z):
    """Each place of its own value: a plane."""
    return 900 + 0.7 * (e - 5000) + 0.31 * (n - 7000) + 0.9 * z


def cube(path, order, turn, steps=(25.0, 40.0), mirror=1, number=(1, 2), bytes_at=(189, 193, 181, 185), scalar=-100, feet=False,
         leave=(), twice=(), places=True, ni=7, nj=9):
    """Inlines `steps[0]` apart across, crosslines steps[1] along the direction `turn` [degrees from east]; order: of traces."""
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    index = [(i, j) for i in range(ni) for j in range(nj)]
    index = {'inline': index, 'crossline': sorted(index, key=lambda k: k[::-1]), 'any': list(rng.permutation(index))}[order]
    index = [k for k in map(tuple, index) if k not in leave] + list(twice)
    spec = segyio.spec()
    spec.format, spec.samples, spec.tracecount = 5, np.arange(NZ) * 4.0, len(index)
    metre = 0.3048 if feet else 1.0
    with segyio.create(path, spec) as file:
        for t, (i, j) in enumerate(index):
            e = 5000 + steps[1] * j * c - mirror * steps[0] * i * s
            n = 7000 + steps[1] * j * s + mirror * steps[0] * i * c
            head = {bytes_at[0]: 100 + number[0] * int(i), bytes_at[1]: 500 + number[1] * int(j), 71: scalar}
            if places:
                head.update({bytes_at[2]: round(-scalar * e / metre), bytes_at[3]: round(-scalar * n / metre)})
            file.header[t] = head
            file.trace[t] = speed(e, n, DZ * np.arange(NZ)).astype(np.float32)
        file.bin.update({segyio.BinField.MeasurementSystem: 2 if feet else 1})
    return path


def holds(path, told, what, off):
    """Claims that the values are those of the formula at the places of the coordinates."""
    words = re.search(r'--azimuth (\S+)(?: --origin (\S+) (\S+))?', told)
    with netCDF4.Dataset(path) as file:
        x, y, z, v = (np.asarray(file[name][:], float) for name in ('x', 'y', 'z', 'vs'))
    e, n = np.meshgrid(x, y)
    if words[1] != 'none':
        a, (x_, y_) = np.radians(float(words[1])), (e, n)
        e = float(words[2]) + x_ * np.sin(a) + y_ * np.cos(a)          # y to the right of x
        n = float(words[3]) + x_ * np.cos(a) - y_ * np.sin(a)
    worst = np.abs(v - speed(e, n, z[:, None, None])).max()
    claim(worst < off, f'{what}: {v.shape[2]} x {v.shape[1]} x {v.shape[0]} values, the worst {worst:.2g} m/s off (at most {off})')
    return words


def node_of(words, path):
    """Claims that a source that spl-keymap puts into x and y by these words is at the node that it stood at."""
    with netCDF4.Dataset(path) as file:
        x, y = float(file['x'][3]), float(file['y'][2])
    given = [words[1]] if words[1] == 'none' else [words[1], '--origin', words[2], words[3]]
    if words[1] == 'none':
        e, n = x, y
    else:
        a = np.radians(float(words[1]))
        e, n = float(words[2]) + x * np.sin(a) + y * np.cos(a), float(words[3]) + x * np.cos(a) - y * np.sin(a)
    spec = segyio.spec()
    spec.format, spec.samples, spec.tracecount = 5, np.arange(NZ) * 4.0, 2
    with segyio.create('shot.segy', spec) as file:
        for t in range(2):
            file.header[t] = {9: 1, 13: t + 1, 71: -100, 73: round(100 * e), 77: round(100 * n), 81: round(100 * e) + 500 * t,
                              85: round(100 * n), 49: 5, 41: -5}
            file.trace[t] = np.zeros(NZ, np.float32)
    keymap.fine('a key-map by these words', 'segy', 'shot.segy', '--azimuth', *given, '--depth', 5, '--overwrite', '-o', 'shot.keymap')
    with open('shot.keymap') as file:
        shot = next(line.split() for line in file if line.startswith('shot '))
    at = float(shot[2]), float(next(w[2:] for w in shot if w.startswith('y=')))
    claim(np.hypot(at[0] - x, at[1] - y) < 0.05, f'a source at the node x = {x:.2f}, y = {y:.2f} m stands at {at[0]:.2f}, {at[1]:.2f} m')


for order, turn, more in (('inline', 0, {}), ('crossline', 90, {'number': (5, 1)}), ('any', 180, {'mirror': -1}),
                          ('any', 270, {'bytes_at': (9, 21, 73, 77)}), ('inline', 33.0, {}), ('crossline', 213.7, {'mirror': -1}),
                          ('any', 301.0, {'feet': True}), ('any', float(rng.uniform(5, 85)), {'scalar': -1000, 'steps': (12.5, 30.0)})):
    path = cube('cube.segy', order, turn, **more)
    other = [w for name, at in zip(('inline', 'crossline', 'x', 'y'), more.get('bytes_at', ())) for w in ('--byte', f'{name}={at}')]
    said = tool.fine(f'traces by {order}, crosslines {turn:.1f} degrees from east {more}', 'segy3d', path, *WORDS, *other, '-o', 'cube.nc')
    node_of(holds('cube.nc', said, 'each value at its place', 0.05), 'cube.nc')

path = cube('feet.segy', 'any', 0, feet=True)                # to the centimetre of its headers
tool.fine('feet of the US survey', 'segy3d', path, *WORDS, '--lengths', 'us-ft', '-o', 'cube.nc')
with netCDF4.Dataset('cube.nc') as file:
    at = [float(file[name][0]) / (1200 / 3937) - place / 0.3048 for name, place in (('x', 5000), ('y', 7000))]
claim(max(map(abs, at)) < 0.01, f'coordinates are those of the file times 1200/3937 m: {at[0]:.4f} and {at[1]:.4f} feet off')
path = cube('bare.segy', 'crossline', 0, places=False)
tool.refused('does not say its spacing along x (coordinates in the trace headers are empty', 'no coordinates', 'segy3d', path, *WORDS, '-o', 'bad.nc')
said = tool.fine('no coordinates, but spacings', 'segy3d', path, *WORDS, '--dx', 40, '--dy', 25, '--x0', 5000, '--y0', 7000, '-o', 'bare.nc')
holds('bare.nc', '--azimuth none', 'x runs with crosslines', 0.01)
with segyio.open(cube('angle.segy', 'any', 0), 'r+', ignore_geometry=True) as file:
    for t in range(63):
        file.header[t].update({89: 2})
tool.refused('are seconds of arc (code 2 in bytes 89-90): not used', 'seconds of arc as metres', 'segy3d', 'angle.segy', *WORDS, '-o', 'bad.nc')

for words, what, more in (('1 of the 7 x 9 traces of the volume are missing, the first at inline 103, crossline 504', 'a hole', {'leave': [(3, 2)]}),
                          ('9 of the 7 x 9 traces of the volume are missing, the first at inline 104, crossline 500', 'an inline',
                           {'leave': [(4, j) for j in range(9)]}),
                          ('1 traces stand at places of others, the first at inline 106, crossline 516', 'a trace twice', {'twice': [(6, 8)]})):
    tool.refused(words, what, 'segy3d', cube('odd.segy', 'any', 20, **more), *WORDS, '-o', 'bad.nc')
with segyio.open(cube('odd.segy', 'inline', 20), 'r+', ignore_geometry=True) as file:
    file.header[11].update({181: file.header[11][181] + 300})
tool.refused('are not regular, trace 12 is', 'a trace 3 m off', 'segy3d', 'odd.segy', *WORDS, '-o', 'bad.nc')
with segyio.open(cube('odd.segy', 'inline', 20), 'r+', ignore_geometry=True) as file:
    file.trace[11] = 0 * file.trace[11]
tool.refused('from top to bottom in 1 of 63 columns', 'a dead trace, which was taken for air', 'segy3d', 'odd.segy', '--variable', 'vp',
             *WORDS[2:], '-o', 'bad.nc')
with segyio.open(cube('late.segy', 'inline', 20), 'r+', ignore_geometry=True) as file:
    for t in range(63):
        file.header[t].update({109: 200})
said = tool.fine('a volume whose headers have a delay', 'segy3d', 'late.segy', *WORDS, '-o', 'late.nc')
claim('delays of 200 .. 200' in said, 'tells that it is not used')
with segyio.open(cube('odd.segy', 'inline', 0), 'r+', ignore_geometry=True) as file:
    for t in range(63):
        file.header[t].update({181: file.header[t][181] + 250 * (t // 9)})
tool.refused('cross at 8', 'a skew grid', 'segy3d', 'odd.segy', *WORDS, '-o', 'bad.nc')
tool.refused('spl-model segy3d reads it', 'a volume as a section, whatever --dx', 'segy', cube('odd.segy', 'inline', 0), '--variable', 'vp',
             '--unit', 'm/s', '--dz', DZ, '--dx', 25, '-o', 'bad.nc')
tool.refused("unknown field 'il'", 'a field that is none', 'segy3d', 'odd.segy', *WORDS, '--byte', 'il=9', '-o', 'bad.nc')
tool.refused('are no volume', 'one inline', 'segy3d', cube('line.segy', 'inline', 0, ni=1), *WORDS, '-o', 'bad.nc')
with segyio.open(cube('gap.segy', 'inline', 0, ni=1), 'r+', ignore_geometry=True) as file:
    for t in range(5, 9):
        file.header[t].update({181: file.header[t][181] + 10000})
tool.refused('40 m apart, but 140 m from trace 5 to 6', 'a section with a gap', 'segy', 'gap.segy', '--variable', 'vp', '--unit', 'm/s',
             '--dz', DZ, '-o', 'bad.nc')
done()
