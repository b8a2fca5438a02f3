#!/usr/bin/env python3
"""spl-model reads npy, HDF5 and RSF, in feet too: every sample lies where its file says, and what is not said is asked for."""

import os

import h5py
import netCDF4
import numpy as np
from check import claim, done, given_seed
from toolrun import Tool

FOOT, SURVEY_FOOT = 0.3048, 1200 / 3937
tool = Tool('spl-model', 'bad.nc')
seed = given_seed()
draw = np.random.default_rng(seed)
N = {'x': 9, 'y': 5, 'z': 7}


def velocities(axes, low=1500, high=6000):
    return draw.uniform(low, high, [N[a] for a in axes])


def holds(path, variable, values, axes, factor, step, first, what):
    """Sample for sample, by indices, without a transposition: values in the unit `factor` [SI], step and first {axis: [m]}."""
    worst = far = 0.0
    with netCDF4.Dataset(path) as file:
        names = file[variable].dimensions
        stored, places = file[variable][:], {a: file[a][:] for a in names}
    for at in np.ndindex(values.shape):
        i = dict(zip(axes, at))
        worst = max(worst, abs(float(stored[tuple(i[a] for a in names)]) / (values[at] * factor) - 1))
    for a in names:
        far = max(far, float(abs(places[a] - [first[a] + k * step[a] for k in range(N[a])]).max()))
    claim(sorted(names) == sorted(axes) and worst <= 1.5e-7 and far <= 1e-6,
          f'{what}: samples right to {worst:.1e} (1.5e-7), places to {far:.1e} m (1e-6)')


def refused(words, what, *arguments):
    tool.refused(words, what, *arguments, '-o', 'bad.nc')


# --- NumPy ---
for axes, kind in (('xz', 'f4'), ('zx', 'f8'), ('xyz', 'f4'), ('zyx', '>f8'), ('yxz', 'f4')):
    values = velocities(axes).astype(kind)
    order = 'F' if axes == 'zyx' else 'C'
    np.save('a.npy', np.asarray(values, order=order))
    step, first = dict(zip('xyz', draw.uniform(5, 60, 3))), dict(zip('xyz', draw.uniform(-900, 900, 3)))
    words = [w for a in sorted(axes) for w in (f'--d{a}', str(step[a]), f'--{a}0={first[a]}')]
    tool.fine(f'npy, axes {axes}, {kind}', 'npy', 'a.npy', '--axes', axes, *words, '--lengths', 'ft', '--variable', 'vp', '--unit', 'ft/s',
              '-o', f'{axes}{kind[-2:]}.nc')
    holds(f'{axes}{kind[-2:]}.nc', 'vp', values, axes, FOOT, {a: step[a] * FOOT for a in axes}, {a: first[a] * FOOT for a in axes},
          f'npy in feet, {axes}')
common = ['--axes', 'xz', '--dx', 10, '--dz', 10, '--variable', 'vp', '--unit', 'm/s']
np.save('a.npy', velocities('xz'))
tool.fine('survey feet', 'npy', 'a.npy', *common, '--lengths', 'us-ft', '--x0', 2000000, '-o', 'us.nc')
with netCDF4.Dataset('us.nc') as file:
    claim(abs(float(file['x'][0]) - 2e6 * SURVEY_FOOT) < 1e-4 and 1 < abs(float(file['x'][0]) - 2e6 * FOOT) < 1.3,
          'at 2,000,000 feet those of the US survey are 1.2 m off the others, and are told apart')
np.save('objects.npy', np.array([[{}, 1], [2, 3]], object))
np.save('complex.npy', velocities('xz') + 1j)
np.save('line.npy', np.arange(9.0))
np.savez('many.npz', a=velocities('xz'))
with open('cut.npy', 'wb') as out:
    out.write(open('a.npy', 'rb').read()[:-8])
for name, words in (('objects.npy', 'numpy.save'), ('complex.npy', 'real numbers'), ('line.npy', '1 dimensions'), ('many.npz', 'archive'),
                    ('cut.npy', 'numpy.save'), ('none.npy', 'no such file')):
    refused(words, name, 'npy', name, *common)
refused('--dz', 'no spacing of z', 'npy', 'a.npy', *common[:4], *common[6:])
refused('belong to a volume', 'a spacing of y in a section', 'npy', 'a.npy', *common, '--dy', 5)
refused('outside', 'm/s called km/s', 'npy', 'a.npy', *common[:-1], 'km/s')
refused('--unit', 'no unit', 'npy', 'a.npy', *common[:-2])
refused('no unit of vp', 'a unit of density', 'npy', 'a.npy', *common[:-1], 'g/cm3')

# --- HDF5 ---
with h5py.File('m.h5', 'w') as file:
    vs = velocities('zyx', 500, 3000)
    file.create_dataset('model/vs', data=vs.astype('>f4'), chunks=(2, 2, 3), compression='gzip')
    file['model/name'] = 'text'
    file['axis'] = np.arange(5.0)
volume = ['--axes', 'zyx', '--dx', 82, '--dy', 82, '--dz', 41, '--lengths', 'ft', '--variable', 'vs', '--unit', 'ft/s']
said = tool.fine('the only dataset of an HDF5 file', 'hdf5', 'm.h5', *volume, '-o', 'vs.nc')
claim('dataset model/vs, 7 x 5 x 9' in said, 'it is named')
holds('vs.nc', 'vs', vs, 'zyx', FOOT, {'x': 82 * FOOT, 'y': 82 * FOOT, 'z': 41 * FOOT}, dict.fromkeys('xyz', 0.0), 'HDF5, big-endian, packed')
with h5py.File('m.h5', 'r+') as file:
    file['other'] = vs * 0 + 9000.0
    file['words'] = np.array([[b'a', b'b'], [b'c', b'd']])
refused('choose one with --dataset', 'three datasets', 'hdf5', 'm.h5', *volume)
refused("no dataset 'vp'", 'a dataset that is not there', 'hdf5', 'm.h5', '--dataset', 'vp', *volume)
refused('real numbers', 'a dataset of text', 'hdf5', 'm.h5', '--dataset', 'words', *volume)
refused('no HDF5 file', 'a file that is none', 'hdf5', 'a.npy', *volume)
tool.fine('one of three', 'hdf5', 'm.h5', '--dataset', 'other', *volume, '-o', 'other.nc')
with open('cut.h5', 'wb') as out:
    out.write(open('m.h5', 'rb').read()[:2000])
refused('cut.h5', 'a file that is cut', 'hdf5', 'cut.h5', *volume)


# --- RSF: header and data as Madagascar writes them; n1 runs fastest ---
def rsf(name, header, data, joined=False):
    """Header lines after those of a history, in which a name may come twice."""
    source = 'stdin' if joined else f'/elsewhere/{name}.rsf@'
    text = f'4.0\tsfspike\tdata:\tuser@host\tMon Jan 1 2024\n\n\tn1=3 d1=0.5 # older\n\t{header}\n\tin="{source}"\n'
    with open(f'{name}.rsf', 'wb') as out:
        out.write(text.encode() + (b'\x0c\x0c\x04' + data if joined else b''))
    if not joined:
        with open(f'{name}.rsf@', 'wb') as out:
            out.write(data)


vp = velocities('xz', 1.5, 6.0).astype('<f4')
plane = 'n1=7 d1=0.004 o1=0.1 unit1="km" label1="Depth" n2=9 d2=12.5 o2=-50 unit2="m" label2="Distance" esize=4 data_format="{}"'
want = ({'z': 4.0, 'x': 12.5}, {'z': 100.0, 'x': -50.0})
asked = ['--variable', 'vp', '--unit', 'km/s']
for joined, form, data in ((False, 'native_float', vp.tobytes()), (True, 'xdr_float', vp.astype('>f4').tobytes()),
                           (False, 'ascii_float', ' '.join(f'{v:.9g}' for v in vp.reshape(-1)).encode())):
    rsf('v', plane.format(form), data, joined)
    tool.fine(f'RSF, {form}', 'rsf', 'v.rsf', *asked, '-o', 'v.nc', '--overwrite')
    holds('v.nc', 'vp', vp.astype(float), 'xz', 1000.0, *want, f'RSF, {form}{", data in the header file" if joined else ""}')
os.makedirs('line #7 \u00e4', exist_ok=True)
rsf('line #7 \u00e4/v', plane.format('native_float'), vp.tobytes())
with open('line #7 \u00e4/v.rsf', encoding='utf-8') as file:
    text = file.read().replace('/elsewhere/', f'{os.getcwd()}/')
with open('elsewhere.rsf', 'w', encoding='utf-8') as file:
    file.write(text)
tool.fine('RSF, data in a folder whose name has blanks and #', 'rsf', 'elsewhere.rsf', *asked, '-o', 'v.nc', '--overwrite')
holds('v.nc', 'vp', vp.astype(float), 'xz', 1000.0, *want, 'RSF, such a folder')
vol = velocities('yxz').astype('<f4')
cube = 'n1=7 d1=20 o1=0 label1=Z n2=9 d2=40 label2=inline n3=5 d3=50 o3=100 label3=crossline unit1=ft unit2=ft unit3=ft esize=4'
rsf('w', cube + ' data_format=native_float', vol.tobytes())
tool.fine('RSF, a volume', 'rsf', 'w.rsf', '--variable', 'vp', '--unit', 'm/s', '-o', 'w.nc')
holds('w.nc', 'vp', vol.astype(float), 'yxz', 1.0, {'z': 20 * FOOT, 'x': 40 * FOOT, 'y': 50 * FOOT}, {'z': 0.0, 'x': 0.0, 'y': 100 * FOOT},
      'RSF, a volume in feet')
for words, what, change, data, more in (
        ('is cut', 'too few data', {}, vp.tobytes()[:-4], []), ('is cut', 'too many', {}, vp.tobytes() + b'1234', []),
        ('says time', 'a section of time', {'label1="Depth"': 'label1="Time"'}, vp.tobytes(), []),
        ("unit1 is 's'", 'a unit that is no length', {'unit1="km"': 'unit1=s'}, vp.tobytes(), []),
        ('does not say the unit', 'no unit', {'unit1="km"': ''}, vp.tobytes(), []),
        ('leave --lengths out', 'units that differ', {}, vp.tobytes(), ['--lengths', 'ft']),
        ("d2 is 'wide'", 'a spacing that is no number', {'d2=12.5': 'd2=wide'}, vp.tobytes(), []),
        ('data_format', 'complex numbers', {'_float': '_complex'}, vp.tobytes(), []),
        ('2 or 3 axes', 'one axis', {'n2=9': 'n2=1'}, vp.tobytes(), [])):
    header = plane.format('native_float')
    for old, new in change.items():
        header = header.replace(old, new)
    rsf('bad', header, data)
    refused(words, f'RSF with {what}', 'rsf', 'bad.rsf', *asked, *more)
refused('which is text', 'data for a header', 'rsf', 'w.rsf@', *asked)
done()
