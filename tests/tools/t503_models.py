#!/usr/bin/env python3
"""spl-model writes NetCDF models from SEG-Y, SU and raw sections without guessing, and a demo."""

import os
import resource
import subprocess
import sys

import netCDF4
import numpy as np
import segyio
from check import claim, done
from spltools.earth.model_tool import SALT, WATER
from toolrun import Tool

NX, NZ = 21, 15
tool = Tool('spl-model', 'bad.nc')
fine = tool.fine


def refused(words, what, *arguments):
    tool.refused(words, what, *arguments, '-o', 'bad.nc')


def section(scale=1.0):
    """A velocity section, (nz, nx): faster with depth and to the right."""
    z, x = np.meshgrid(np.arange(NZ), np.arange(NX), indexing='ij')
    return (scale * (1500 + 100 * z + 3 * x)).astype(np.float32)


def holds(path, variable, values, dx, dz, x0, z0, unit):
    """The file is as the modelling program wants it."""
    with netCDF4.Dataset(path) as file:
        v, x, z = file.variables[variable], file.variables['x'], file.variables['z']
        worst = float(np.abs(v[:] - values).max())
        axes = max(float(np.abs(x[:] - x0 - dx * np.arange(NX)).max()),
                   float(np.abs(z[:] - z0 - dz * np.arange(NZ)).max()))
        claim(
            v.dimensions == ('z', 'x')
            and v.dtype == np.float32
            and v.units == unit
            and x.units == z.units == 'm'
            and z.positive == 'down'
            and x.axis == 'X'
            and z.axis == 'Z',
            f'{path}: {variable}(z, x) in {unit}, axes in m, z down',
        )
        claim(worst <= 5e-7 * float(np.abs(values).max()) and axes < 1e-9,
              f'values right to {worst:.2g} {unit}, axes to {axes:.1g} m')


def segy(path, values, kind=1, cdp=True, feet=False, dt=4000, place=lambda i: (10000 + 125 * i, 0), scalar=-10):
    spec = segyio.spec()
    spec.format, spec.samples, spec.tracecount = kind, np.arange(NZ) * dt / 1000.0, NX
    with segyio.create(path, spec) as file:
        file.bin.update({segyio.BinField.MeasurementSystem: 2 if feet else 1, segyio.BinField.Interval: dt})
        for i in range(NX):
            words = {segyio.TraceField.TRACE_SAMPLE_COUNT: NZ, segyio.TraceField.SourceGroupScalar: scalar}
            if cdp:
                words.update(zip((segyio.TraceField.CDP_X, segyio.TraceField.CDP_Y), place(i)))
            file.header[i] = words
            file.trace[i] = np.ascontiguousarray(values[:, i])
    return path


def su(path, values, order='<', d1=5.0, d2=12.5):
    with open(path, 'wb') as file:
        for i in range(NX):
            head = bytearray(240)
            head[114:116] = np.array(NZ, dtype=order + 'i2').tobytes()
            head[180:196] = np.array([d1, 20.0, d2, 300.0], dtype=order + 'f4').tobytes()
            file.write(bytes(head) + values[:, i].astype(order + 'f4').tobytes())
    return path


def test_lines():
    """Sections whose traces do not simply run to larger x."""
    words = ('--variable', 'vp', '--unit', 'm/s', '--dz', 5, '--overwrite', '-o', 'line.nc')
    falling = segy('falling.segy', section(), place=lambda i: (10000 - 125 * i, 70))
    said = fine('traces towards smaller x', 'segy', falling, *words)
    holds('line.nc', 'vp', section()[:, ::-1], 12.5, 5, 750, 0, 'm/s')
    claim('turned round' in said, 'they are turned round, which is told')
    fine('the same with --x0, the x of the first trace', 'segy', falling, *words, '--x0', 5)
    holds('line.nc', 'vp', section(), 12.5, 5, 5, 0, 'm/s')
    rounded = segy('rounded.segy', section(), place=lambda i: (round(100 + 12.5 * i), 0), scalar=1)
    fine('coordinates in whole metres', 'segy', rounded, *words)
    holds('line.nc', 'vp', section(), 12.5, 5, 100, 0, 'm/s')
    slanted = segy('slanted.segy', section(), place=lambda i: (50000 + 75 * i, 8000 - 100 * i))
    said = fine('a line across the map', 'segy', slanted, *words)
    holds('line.nc', 'vp', section(), 12.5, 5, 0, 0, 'm/s')
    claim('--azimuth 143.130 --origin 5000.00 800.00' in said, 'how to put shots on it is told')
    for scalar, warned in ((-100, False), (1, True)):
        far = segy('far.segy', section(), place=lambda i: (32000000 + 750 * i, 536000000 - 1000 * i), scalar=scalar)
        claim(('more than those of any map: is their scalar' in fine(f'northings in centimetres, scalar {scalar}', 'segy', far, *words)) == warned,
              f'a northing of 536,000 km is told of with the scalar: {warned}')
    uneven = segy('uneven.segy', section(), place=lambda i: (10000 + 125 * i + 60 * (i == 7), 0))
    refused('give --dx', 'one trace 6 m off', 'segy', uneven, '--variable', 'vp', '--unit', 'm/s', '--dz', 5)


def test_odd_sections():
    """Files of colleagues: swapped bytes, dead traces, traces out of order, depths in odd places, floats of another kind."""
    words = ('--variable', 'vp', '--unit', 'm/s', '--dz', 5)
    for kind in (1, 5):
        path = segy('order.segy', section(), kind)
        with open(path, 'rb') as file:
            data = bytearray(file.read())
        swap(data, 3200, 2, 30)
        for start in range(3600, len(data), 240 + 4 * NZ):
            swap(data, start + 108, 2, 20)
            swap(data, start + 70, 2, 1)
            swap(data, start + 180, 4, 2)
            swap(data, start + 240, 4, NZ)
        with open('swapped.segy', 'wb') as file:
            file.write(data)
        said = fine(f'a little-endian SEG-Y section, format {kind}', 'segy', 'swapped.segy', *words, '--overwrite', '-o', 'swapped.nc')
        holds('swapped.nc', 'vp', section(), 12.5, 5, 1000, 0, 'm/s')
        claim('byte-swapped: read as little-endian' in said, 'that it is one is told')
    dead = section()
    dead[:, [4, 9]] = 0
    refused('2 of 21 columns are all zero, the first of them column 5', 'dead traces', 'segy', segy('dead.segy', dead), *words)
    dead[:, [4, 9]], dead[3, 6] = 2000, 0
    refused('1 of 315 samples, the first in column 7, sample 4', 'a dead sample', 'segy', segy('dead.segy', dead), *words)
    mixed = segy('mixed.segy', section(), place=lambda i: (125 * (i * 8 % NX), 0))
    refused('the traces go back and forth: sort them', 'traces out of order', 'segy', mixed, *words)
    said = fine('traces out of order, spacing given', 'segy', mixed, *words, '--dx', 12.5, '-o', 'mixed.nc')
    claim('warning: mixed.segy: by their CDP coordinates the traces go back and forth' in said and '12.5 m apart in the order of the file' in said,
          'a spacing that is given hides them, with a warning')
    twice = segy('double.segy', section(), place=lambda i: (125 * (i - (i > 7)), 0))
    refused('traces 8 and 9 stand at the same place: keep one', 'a trace twice', 'segy', twice, *words)
    with segyio.open(segy('mute.segy', section()), 'r+', ignore_geometry=True) as file:
        file.bin.update({segyio.BinField.MeasurementSystem: 0})
    for more, unit in (((), 1), (('--lengths', 'ft'), 0.3048), (('--lengths', 'us-ft'), 1200 / 3937)):
        said = fine(f'a file that says neither metres nor feet {more}', 'segy', 'mute.segy', *words, *more, '--overwrite', '-o', 'mute.nc')
        with netCDF4.Dataset('mute.nc') as file:
            step = float(file['x'][1] - file['x'][0])
        claim(abs(step - 12.5 * unit) < 1e-5 and 'the file does not say metres or feet: taken as' in said, f'traces are {step:.5f} m apart, which is told')
    said = fine('another spacing than in the headers', 'segy', segy('plain.segy', section()), *words, '--dx', 25, '-o', 'wide.nc')
    claim('12.5 m apart by their headers, and 25 m by --dx' in said, 'which is told')
    with segyio.open(segy('delay.segy', section()), 'r+', ignore_geometry=True) as file:
        for i in range(NX):
            file.header[i].update({segyio.TraceField.DelayRecordingTime: 250})
    said = fine('a section with delays', 'segy', 'delay.segy', *words, '-o', 'delay.nc')
    claim('delays of 250 .. 250' in said and '--z0' in said, 'they are told of')
    said = fine('the same with --z0', 'segy', 'delay.segy', *words, '--z0', 250, '--overwrite', '-o', 'delay.nc')
    claim('warning' not in said, 'is taken at its word')
    with open(segy('ibm.segy', section()), 'r+b') as file:
        file.seek(3224)
        file.write(b'\0\5')
    said = fine('IBM floats called IEEE', 'segy', 'ibm.segy', *words, '-o', 'ibm.nc')
    claim('IBM floats that are called IEEE' in said, 'are suspected: ' + said.splitlines()[0])
    with open(segy('ieee.segy', section(), 5), 'r+b') as file:
        file.seek(3224)
        file.write(b'\0\1')
    refused('the format of samples (IBM or IEEE floats)', 'IEEE floats called IBM', 'segy', 'ieee.segy', *words)
    for angle, name in ((2, 'seconds of arc'), (3, 'decimal degrees'), (4, 'degrees, minutes, seconds')):
        with segyio.open(segy('angle.segy', section(), place=lambda i: (3600 * 3 + i, 3600 * 60), scalar=-10000 if angle == 3 else 1),
                         'r+', ignore_geometry=True) as file:
            for i in range(NX):
                file.header[i].update({segyio.TraceField.CoordinateUnits: angle})
        refused(f'are {name}', f'coordinates of code {angle}', 'segy', 'angle.segy', *words)
        fine('the same with --dx', 'segy', 'angle.segy', *words, '--dx', 12.5, '--overwrite', '-o', 'angle.nc')
        holds('angle.nc', 'vp', section(), 12.5, 5, 0, 0, 'm/s')
    said = fine('a file in feet, --dz in metres', 'segy', segy('feet.segy', section(), feet=True), *words, '--overwrite', '-o', 'feet.nc')
    claim('--dz 5 is taken in metres: give --lengths ft' in said, 'is told of')
    said = fine('--dz in feet', 'segy', 'feet.segy', *words, '--lengths', 'ft', '--overwrite', '-o', 'feet.nc')
    claim('taken in metres' not in said, 'is not')


def test_whole_numbers():
    """Sample formats of whole numbers, of revision 2 too: each sample is the same number."""
    values = np.round(section())
    plain = open(segy('plain.segy', values, 5), 'rb').read()
    for code, kind in ((2, '>i4'), (3, '>i2'), (9, '>i8'), (10, '>u4'), (11, '>u2'), (12, '>u8')):
        size = 240 + 4 * NZ
        traces = [plain[at:at + 240] + values[:, i].astype(kind).tobytes() for i, at in enumerate(range(3600, 3600 + NX * size, size))]
        with open('whole.segy', 'wb') as file:
            file.write(plain[:3224] + bytes([0, code]) + plain[3226:3600] + b''.join(traces))
        fine(f'sample format {code}', 'segy', 'whole.segy', '--variable', 'vp', '--unit', 'm/s', '--dz', 5, '--overwrite', '-o', 'whole.nc')
        holds('whole.nc', 'vp', values, 12.5, 5, 1000, 0, 'm/s')


def swap(data, start, width, count):
    """Numbers end for end, in place."""
    words = np.frombuffer(bytes(data[start:start + width * count]), f'>u{width}')
    data[start:start + width * count] = words.astype(f'<u{width}').tobytes()


def test_segy():
    for kind, name in ((1, 'IBM'), (5, 'IEEE')):
        segy('vp.segy', section(), kind)
        said = fine(f'a SEG-Y section of {name} floats', 'segy', 'vp.segy', '--variable', 'vp', '--unit', 'm/s', '--dz',
                    5, '-o', 'vp.nc', '--overwrite')
        holds('vp.nc', 'vp', section(), 12.5, 5, 1000, 0, 'm/s')
        claim('CDP coordinates: traces 12.5 m apart' in said,
              'the trace spacing comes from CDP coordinates, which is told')
    refused('give --dz (the sample interval of SEG-Y is a time)', 'the sample interval is not taken as depth', 'segy',
            'vp.segy', '--variable', 'vp', '--unit', 'm/s')
    segy('nox.segy', section(), cdp=False)
    refused('give --dx', 'no coordinates', 'segy', 'nox.segy', '--variable', 'vp', '--unit', 'm/s', '--dz', 5)
    fine('km/s with spacings and origin given', 'segy', segy('km.segy', section(0.001), cdp=False), '--variable', 'vp',
         '--unit', 'km/s', '--dz', 5, '--dx', 7, '--x0', -50, '--z0', 30, '-o', 'km.nc')
    holds('km.nc', 'vp', section(0.001) * np.float32(1000), 7, 5, -50, 30, 'm/s')
    fine('coordinates in feet', 'segy', segy('feet.segy', section(), feet=True), '--variable', 'vp', '--unit', 'm/s',
         '--dz', 5, '-o', 'feet.nc')
    holds('feet.nc', 'vp', section(), 12.5 * 0.3048, 5, 304.8, 0, 'm/s')
    test_lines()
    fine('density in g/cm3', 'segy', segy('rho.segy', section(0.001)), '--variable', 'rho', '--unit', 'g/cm3', '--dz',
         5, '-o', 'rho.nc')
    holds('rho.nc', 'rho', section(0.001) * np.float32(1000), 12.5, 5, 1000, 0, 'kg/m3')
    said = fine('the same called kg/m3', 'segy', 'rho.segy', '--variable', 'rho', '--unit', 'kg/m3', '--dz', 5, '--overwrite', '-o', 'light.nc')
    claim('warning: rho.segy: the largest density is' in said and '--unit g/cm3?' in said, 'is told of')
    refused('no unit of vp', 'a density unit for a velocity', 'segy', 'vp.segy', '--variable', 'vp', '--unit', 'g/cm3',
            '--dz', 5)
    refused('would be 1.5e+06', 'm/s called km/s', 'segy', 'vp.segy', '--variable', 'vp', '--unit', 'km/s', '--dz', 5)
    refused('are required: --variable, --unit', 'no unit', 'segy', 'vp.segy', '--dz', 5)
    refused('out of range: >= 0.001 and <= 100000 m', 'dz = 0', 'segy', 'vp.segy', '--variable', 'vp', '--unit', 'm/s',
            '--dz', 0)
    holes = section()
    holes[3, 4] = np.nan
    refused('1 of 315 samples are not finite; the first in column 5, sample 4', 'a sample that is not a number', 'segy',
            segy('nan.segy', holes, 5), '--variable', 'vp', '--unit', 'm/s', '--dz', 5)
    status, text = tool('segy', 'vp.segy', '--variable', 'vp', '--unit', 'm/s', '--dz', 5, '-o', 'vp.nc')
    claim(status == 1 and 'exists already' in text, 'an existing file is not overwritten: ' + text.strip())


def test_su():
    for order in '<>':
        said = fine('an SU section', 'su', su('vp.su', section(), order), '--variable', 'vp', '--unit', 'm/s', '-o',
                    'su.nc', '--overwrite')
        holds('su.nc', 'vp', section(), 12.5, 5, 300, 20, 'm/s')
        claim('d1 = 5, f1 = 20, d2 = 12.5, f2 = 300' in said, 'its axes come from d1, f1, d2, f2, which is told')
    su('nod.su', section(), d1=0.0, d2=0.0)
    refused('give --dz', 'an SU file without d1', 'su', 'nod.su', '--variable', 'vp', '--unit', 'm/s')
    fine('spacings given', 'su', 'nod.su', '--variable', 'vp', '--unit', 'm/s', '--dz', 5, '--dx', 10, '-o', 'nod.nc')
    holds('nod.nc', 'vp', section(), 10, 5, 0, 0, 'm/s')


def test_raw():
    shape = ['--nx', NX, '--nz', NZ, '--dx', 10, '--dz', 5, '--variable', 'vp', '--unit', 'm/s']
    for order, endian, kind in (
        ('zfast', 'little', 'float32'),
        ('xfast', 'big', 'float64'),
        ('zfast', 'big', 'float32'),
    ):
        values = section().T if order == 'zfast' else section()
        values.astype({'little': '<', 'big': '>'}[endian] + 'f' + str(int(kind[5:]) // 8)).tofile('vp.raw')
        fine(f'raw {kind}, {endian} endian, {order}', 'raw', 'vp.raw', *shape, '--order', order, '--endian', endian,
             '--type', kind, '-o', 'raw.nc', '--overwrite')
        holds('raw.nc', 'vp', section(), 10, 5, 0, 0, 'm/s')
    section().T.tofile('zfast.raw')
    np.full(NX * NZ, 2000, np.float32).tofile('even.raw')
    words = ['--dx', 10, '--dz', 5, '--variable', 'vp', '--unit', 'm/s', '-o', 'raw.nc', '--overwrite']
    for what, name, nx, nz, order, told in (
        ('nx and nz exchanged', 'zfast.raw', NZ, NX, 'zfast', f'jump every {NZ} and not every {NX}; exchange --nx and --nz, or give --order xfast'),
        ('another order', 'zfast.raw', NX, NZ, 'xfast', f'jump every {NZ} and not every {NX}; exchange --nx and --nz, or give --order zfast'),
        ('both, which is right', 'zfast.raw', NX, NZ, 'zfast', ''),
        ('a medium the same throughout', 'even.raw', NZ, NX, 'zfast', ''),
    ):
        text = fine(what, 'raw', name, '--nx', nx, '--nz', nz, '--order', order, *words)
        claim(told in text and ('mixed up' in text) == bool(told), f'{what}: {"is told" if told else "nothing is told"}')
    refused('check --unit, the byte order', 'the wrong byte order', 'raw', 'vp.raw', *shape)
    with open('vp.raw', 'ab') as file:
        file.write(b'\0\0\0\0')
    refused('has 1264 bytes, but nx = 21 times nz = 15 samples of float32 are 1260', 'a file of the wrong size', 'raw',
            'vp.raw', *shape)
    (-section()).tofile('minus.raw')
    refused('outside 100 .. 15000 m/s', 'negative velocities', 'raw', 'minus.raw', *shape)


def test_demo():
    said = fine('the demo model', 'demo', '-o', 'demo.nc')
    with netCDF4.Dataset('demo.nc') as file:
        vp, rho = np.array(file.variables['vp'][:]), np.array(file.variables['rho'][:])
        x, z = np.array(file.variables['x'][:]), np.array(file.variables['z'][:])
    claim(vp.shape == (241, 601) and x[-1] == 6000 and z[-1] == 2400,
          f'is {x[-1]:g} m x {z[-1]:g} m on {vp.shape} nodes')
    water = (vp == WATER[0]) & (rho == WATER[1])
    depth = water.sum(axis=0) * 10.0
    claim(
        np.all(water[0]) and 250 < depth.min() < depth.max() < 500 and np.ptp(depth) > 50,
        f'water of {WATER[0]:g} m/s and {WATER[1]:g} kg/m3, {depth.min():g} .. {depth.max():g} m deep, the'
        ' floor dips and undulates',
    )
    salt = vp == SALT[0]
    around = np.zeros_like(salt)
    for dz in range(-6, 7):
        for dx in range(-6, 7):
            around[6:-6, 6:-6] |= salt[6 + dz : salt.shape[0] - 6 + dz, 6 + dx : salt.shape[1] - 6 + dx]
    around &= ~salt
    claim(
        salt.sum() > 3000
        and rho[salt].max() == SALT[1]
        and rho[around].min() > SALT[1]
        and vp[around].max() < SALT[0],
        f'salt of {SALT[0]:g} m/s is lighter ({SALT[1]:g} kg/m3) than all sediments within 60 m'
        f' ({rho[around].min():.0f} kg/m3 or more)',
    )
    column_v, column_r = vp[:, 60], rho[:, 60]
    dv, dr = np.diff(column_v), np.diff(column_r)
    opposite = np.count_nonzero((dv * dr < 0) & (np.abs(dv) > 50) & (np.abs(dr) > 30))
    claim(
        opposite >= 3,
        f'density is independent of velocity: {opposite} interfaces of one column where they step opposite'
        ' ways',
    )
    claim('vp: P wave velocity, 1480 .. 4500 m/s' in said, 'ranges are told')
    said = fine('info tells grid, units and ranges', 'info', 'demo.nc')
    claim('x: 601 nodes, 0 .. 6000 m, spacing 10' in said and 'rho (z, x): 1020' in said and 'kg/m3' in said,
          said.split('\n')[2].strip())
    fine('a larger demo', 'demo', '--length', 20000, '--depth', 3000, '--spacing', 25, '-o', 'large.nc')
    refused('more than 2e8', 'a demo beyond memory', 'demo', '--spacing', 0.1)
    status, text = tool('info', 'vp.segy')
    claim(status == 1 and 'is no NetCDF file' in text, 'info of another file: ' + text.strip())
    claim(not [f for f in os.listdir('.') if f.endswith('.tmp')], 'no temporary file is left behind')


def test_memory():
    """A section larger than the memory that there is."""
    with open('huge.segy', 'wb') as file:
        file.write(b' ' * 3220 + (32767).to_bytes(2, 'big') + bytes(2) + b'\0\5')
        file.truncate(3600 + 16000 * (240 + 4 * 32767))
    words = [sys.executable, tool.path, 'segy', 'huge.segy', '--variable', 'vp', '--unit', 'm/s', '--dz', '5', '--dx', '5', '-o', 'bad.nc']
    ran = subprocess.run(words, capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)))
    claim(ran.returncode == 1 and ran.stderr.startswith('error: not enough memory'), f'a section beyond memory: {ran.stderr.strip()[-200:]}')


def test_limits():
    """Spacings that coordinates could not hold, and an output that is an input."""
    segy('vp.segy', section())
    words = ['--variable', 'vp', '--unit', 'm/s']
    for name, other in (('--dx', '--dz'), ('--dz', '--dx')):
        for value in ('1e-300', '0', '1e6'):
            told = 'is out of range: >= 0.001 and <= 100000 m'
            refused(f'{name}: {value} {told}', f'{name} {value}', 'segy', 'vp.segy', *words, name, value, other, 5)
    section().T.tofile('in.raw')
    os.symlink('in.raw', 'soft.raw')
    os.link('in.raw', 'hard.raw')
    shape = ['--nx', NX, '--nz', NZ, '--dx', 10, '--dz', 5]
    for verb, path, output, more in (
        ('segy', 'vp.segy', 'vp.segy', ['--dz', 5]),
        ('raw', 'in.raw', './in.raw', shape),
        ('raw', 'in.raw', 'soft.raw', shape),
        ('raw', 'in.raw', 'hard.raw', shape),
    ):
        before = open(path, 'rb').read()
        status, text = tool(verb, path, *words, *more, '-o', output, '--overwrite')
        claim(
            status == 1
            and f'{output} would overwrite an input: choose another name' in text
            and open(path, 'rb').read() == before,
            f'spl-model {verb} {path} -o {output} --overwrite: {text.strip()}',
        )


test_segy()
test_odd_sections()
test_whole_numbers()
test_limits()
test_memory()
test_su()
test_raw()
test_demo()
done()
