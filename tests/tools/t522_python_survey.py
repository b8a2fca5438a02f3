#!/usr/bin/env python3
"""Python: surveys lazy and checked, models and key-maps that the programs read as given, programs as functions, faults as sentences."""
import math
import os
import pickle
import warnings
from pathlib import Path

import netCDF4
import numpy as np
import xarray as xr

import spltools as spl
from check import claim, claim_fails, done, given_seed
from spltools.geometry import keymap
from synthetic import line_of_shots, make_gathers

os.environ['SPL_BIN'] = str(Path(os.environ['B']) / 'bin')
seed = given_seed()
draw = np.random.default_rng(seed)

# --- a survey as a lazy Dataset: every value of the file, nothing unless asked for, no damage past it ---
shots = line_of_shots(n=5, nrec=6, nt=50, components=('pressure', 'vz'))
shots[1]['rx'], shots[1]['rz'] = shots[1]['rx'][:3], shots[1]['rz'][:3]
shots[1]['traces'] = {c: t[:3] for c, t in shots[1]['traces'].items()}
shots[3]['status'] = 0
make_gathers('line.nc', shots, nt=50, components=('pressure', 'vz'))
records = [s['record'] for s in shots]
ds = spl.open_survey('line.nc')
claim(ds.pressure.dims == ('record', 'receiver', 'time') and list(ds.record.values) == records and ds.pressure.units == 'Pa'
      and ds.time.units == 's', f'a Dataset on {ds.pressure.dims}, with records and units')
same = all(np.array_equal(ds[v].sel(record=records[i]).values, shots[i]['traces'][v]) for i in (0, 2, 4) for v in ('pressure', 'vz'))
short = ds.pressure.sel(record=records[1]).values
claim(same and np.array_equal(short[:3], shots[1]['traces']['pressure']) and np.isnan(short[3:]).all(),
      'whole gathers are those of the file, bit for bit; receivers that a shot does not have are NaN')
claim(np.isnan(ds.pressure.sel(record=records[3]).values).all() and list(spl.done(ds).record.values) == records[:3] + records[4:],
      'a shot that is not done is NaN, and done() leaves it out')
whole = ds.pressure.values
wrong = 0
for _ in range(200):
    key = []
    for n in whole.shape:
        kind = draw.integers(4)
        first, last = sorted(draw.integers(0, n + 1, 2))
        key.append(int(draw.integers(-n, n)) if kind == 0 else slice(first, last, int(draw.integers(1, 4))) if kind == 1 else
                   slice(None, None, -1) if kind == 2 else draw.integers(0, n, int(draw.integers(0, 5))))
    want = whole
    for axis in (2, 1, 0):
        want = want[(slice(None),) * axis + (key[axis],)]
    got = ds.pressure.isel(dict(zip(ds.pressure.dims, key))).values
    wrong += got.shape != want.shape or not np.array_equal(got, want, equal_nan=True)
claim(wrong == 0, f'200 random selections: {wrong} differ from those of the whole array, must be 0')
copy = pickle.loads(pickle.dumps(ds))
claim(np.array_equal(copy.vz.isel(record=0).values, shots[0]['traces']['vz']), 'a Dataset goes to other processes')
ds.to_netcdf('again.nc')
with xr.open_dataset('again.nc') as again:
    claim(np.array_equal(again.pressure.values, whole, equal_nan=True), 'xarray writes it as a file of its own, and reads that')

body = Path('line.nc').read_bytes()
samples = np.asarray(shots[2]['traces']['vz'], '>f4').tobytes()
place = body.find(samples)
bad = bytearray(body)
bad[place + int(draw.integers(0, len(samples)))] ^= 1 << int(draw.integers(0, 8))
Path('damaged.nc').write_bytes(bad)
damaged = spl.open_survey('damaged.nc')
claim(place > 0 and np.array_equal(damaged.pressure.isel(record=[0, 4]).values, whole[[0, 4]]),
      'of a file with one bit turned, opening it and whole shots are fine: other shots are not read')
claim_fails(lambda: damaged.pressure.isel(record=2).values, [f'record {records[2]}', 'checksum', 'must be'], 'a value of the damaged shot')
claim_fails(lambda: damaged.source_x.values, [f'record {records[2]}', 'checksum'], 'a position of the damaged shot')
claim_fails(lambda: spl.read_gather('damaged.nc', records[2]), [f'record {records[2]}', 'checksum'], 'read_gather of it')
claim(spl.open_survey('damaged.nc', verify=False).vz.isel(record=2).shape == (6, 50), 'verify=False reads what is there')
claim([g.record for g in spl.read_gathers('damaged.nc', done_only=True)] == [records[i] for i in (0, 1, 4)],
      'done_only leaves out what is not done and what is damaged')
claim_fails(lambda: list(spl.read_gathers('line.nc')), [f'record {records[3]}', 'not modelled yet', 'done_only=True'], 'a shot to do')
claim_fails(lambda: spl.open_survey('none.nc'), 'no such file', 'no file')
claim_fails(lambda: spl.read_gather('line.nc', 7), 'no shot record 7', 'no such record')

# --- models: positions and values of what the array holds at random places ---
nx, ny, nz = 7, 5, 6
axes = list('xyz')
draw.shuffle(axes)
axes = ''.join(axes)
n = {'x': nx, 'y': ny, 'z': nz}
step, first = dict(zip('xyz', draw.uniform(20, 90, 3))), dict(zip('xyz', draw.uniform(-500, 500, 3)))
vs = draw.uniform(1000, 9000, [n[a] for a in axes])
spl.write_model('volume.nc', vs=vs, vp=2 * vs, axes=axes, spacing=[step[a] for a in axes], origin=[first[a] for a in axes],
                lengths='ft', units={'vs': 'ft/s', 'vp': 'ft/s'})
with netCDF4.Dataset('volume.nc') as file:
    worst = 0.0
    for _ in range(50):
        i = {a: int(draw.integers(n[a])) for a in 'xyz'}
        value = vs[tuple(i[a] for a in axes)] * 0.3048
        worst = max(worst, abs(float(file['vs'][i['z'], i['y'], i['x']]) / value - 1),
                    *(abs(float(file[a][i[a]]) - (first[a] + i[a] * step[a]) * 0.3048) for a in 'xyz'))
claim(worst <= 1e-7, f'a volume in feet, axes {axes}: values and places right to {worst:.1e} (1e-7)')
spl.write_model('vp.nc', vp=np.full((81, 61), 2.0), axes='xz', spacing=10, units={'vp': 'km/s'})
for words, sentence, change in (
        (['outside', 'check units='], 'km/s called m/s', {'units': None}), (['exists', 'overwrite=True'], 'a file that is there', {'path': 'vp.nc'}),
        ("axes 'xq'", 'axes that are none', {'axes': 'xq'}), ("'vq'", 'a unit of no array', {'units': {'vp': 'km/s', 'vq': 'm/s'}}),
        ("units = 'km/s'", 'a unit without its array', {'units': 'km/s'}), ('differ in length', 'rows of two lengths', {'vp': [[2.0, 2.0], [2.0]]}),
        ('spacing', 'three spacings of two axes', {'spacing': (1, 2, 3)}), ('not finite', 'a NaN', {'vp': np.full((9, 9), np.nan)})):
    given = {'path': 'bad.nc', 'vp': np.full((81, 61), 2.0), 'axes': 'xz', 'spacing': 10, 'units': {'vp': 'km/s'}, **change}
    claim_fails(lambda: spl.write_model(given.pop('path'), **given), words, sentence)
claim(not os.path.exists('bad.nc'), 'what is refused leaves no file')

# Q in water and air may be anything, as for the programs; elsewhere it may not.
layers = np.array([0.0, 1500, 1500, 3000])[:, None, None] * np.ones((4, 3, 3))          # air, water, water, rock
rock = {'path': 'q.nc', 'vp': layers, 'vs': np.where(layers > 1500, layers / 2, 0), 'axes': 'zyx', 'spacing': 10}
spl.write_model(**rock, qp=np.where(layers > 0, 90.0, -1), qs=np.where(layers > 1500, 40.0, -1))
with netCDF4.Dataset('q.nc') as file:
    column = {q: file[q][:, 0, 0].tolist() for q in ('qp', 'qs')}
claim(column == {'qp': [0, 90, 90, 90], 'qs': [0, 0, 0, 40]}, f'a negative Qs in water, and both in air, are written as 0: {column}')
for words, sentence, change in ((['qs', 'outside'], 'a negative Qs in rock', {'qs': np.where(layers > 1500, -1.0, 0)}),
                                (['qp', 'outside'], 'a negative Qp in water', {'qp': np.where(layers == 1500, -1.0, 50)}),
                                ('not finite', 'a NaN in water', {'qs': np.where(layers == 1500, np.nan, 50)}),
                                (['qs', 'outside'], 'a negative Qs without vs', {'vs': None, 'qs': np.where(layers > 1500, 40.0, -1)})):
    claim_fails(lambda: spl.write_model(**{**rock, **change, 'path': 'bad.nc'}), words, sentence)

# --- key-maps and programs: positions between nodes come back from a run as they were given ---
sources = np.column_stack([draw.uniform(200, 600, 3), draw.uniform(40, 90, 3)])
spreads = [np.column_stack([draw.uniform(100, 700, k), draw.uniform(40, 90, k)]) for k in (4, 2, 3)]
written = spl.write_keymap('k.keymap', sources, spreads, records=[30, 10, 20], channels=[[4, 3, 2, 1], [7, 9], [1, 2, 3]],
                           crs='EPSG:32618', origin=(4e5, 45e5), azimuth=30.0)
job = {'keymap': 'k.keymap', 'vp': 'vp.nc', 'fpeak': 10, 'tmax': 0.8, 'variant': 'cpu', 'threads': 1}
plan = spl.plan(output='g.nc', **job)
claim('memory' in plan.rows and len(plan.rows) > 5 and not os.path.exists('g.nc'), f'a plan has {len(plan.rows)} rows and models nothing')
spl.write_keymap('across.keymap', [[400, -50, 60]], [[500, 30, 60]])
warned = spl.plan(output='g.nc', **{**job, 'keymap': 'across.keymap'}).warnings
claim(not plan.warnings and len(warned) == 1 and '2D modelling ignores y' in warned[0], f'its warnings are a list: {warned}')
for name in ("it's.keymap", "it's here.keymap", 'the "x" line.keymap'):
    spl.write_keymap(name, sources, spreads)
    claim(spl.plan(output='g.nc', **{**job, 'keymap': name}).rows['shots'].startswith('3,'), f'lists beside {name} are found')
claim(spl.status('g.nc').state == 'not_begun', 'no survey yet')
ran = spl.run(output='g.nc', **job)
claim(ran.exit_status == 0 and ran.status.done == 3 and ran.status.left == 0 and not ran.status.running,
      f'run: exit status {ran.exit_status}, {ran.status.done} shots done')
gathers = {g.record: g for g in spl.read_gathers('g.nc', positions='asked')}
worst = max(max(abs(gathers[r].source[[0, 2]] - sources[i]).max(), abs(gathers[r].receivers[:, [0, 2]] - spreads[i]).max())
            for i, r in enumerate((30, 10, 20)))
claim(list(gathers) == [10, 20, 30] and worst <= 0.00051, f'positions come back to {worst * 1e3:.2f} mm (0.51: whole millimetres are kept)')
claim(list(gathers[10].channel) == [7, 9] and list(gathers[30].channel) == [4, 3, 2, 1], 'channels come back')
g, a = gathers[20], math.radians(30.0)
where = [4e5 + sources[2][0] * math.sin(a), 45e5 + sources[2][0] * math.cos(a)]
worst = max(abs(g.navigation.se - where[0]), abs(g.navigation.sn - where[1]))
claim(worst <= 0.002, f'easting and northing of a source by azimuth 30 are right to {worst * 1e3:.2f} mm (2)')
real = spl.open_survey('g.nc')
claim(np.array_equal(real.pressure.sel(record=20).values[:3], g.traces) and float(abs(g.traces).max()) > 0
      and abs(float(real.source_easting.sel(record=20)) - where[0]) <= 0.002, 'the Dataset of it has the same traces and eastings')
before = Path('g.nc').read_bytes()
again = spl.run(output='g.nc', **job)
claim(again.exit_status == 0 and Path('g.nc').read_bytes() == before, 'the same call again changes nothing')
for words, sentence, action in (
        (['fpeak', '-3'], 'a run with a bad number', lambda: spl.run(output='h.nc', **{**job, 'fpeak': -3})),
        (['fpaek', 'fpeak'], 'a plan with a misspelt name', lambda: spl.plan(fpaek=3, **job)),
        ('no program that can be run', 'a program that is not there', lambda: spl.plan(program='./none', **job)),
        (['launcher', 'nosuchrun'], 'a launcher that is not there', lambda: spl.run(output='h.nc', ranks=2, launcher='nosuchrun', **job)),
        ('ranks = 0', 'no ranks', lambda: spl.run(output='h.nc', ranks=0, **job)),
        ("ranks = '2'", 'ranks as a text', lambda: spl.run(output='h.nc', ranks='2', **job)),
        ("shot record 'x'", 'a record that is a text', lambda: spl.read_gather('g.nc', 'x')),
        ('shot record 10.7', 'a record between two', lambda: spl.read_gathers('g.nc', [10.7])),
        (['records=None numbers', '1 comes more than once'], 'a record twice',
         lambda: spl.write_keymap('b.keymap', sources, spreads, records=[1, 1, 2])),
        ('both kinds of quotes', 'a name that cannot be quoted', lambda: spl.write_keymap('b\'s "k.keymap', sources, spreads)),
        ('must be a number, a text', 'a parameter that is a function', lambda: spl.plan(fpeak=print)),
        ('for 2 shots, and there are 3', 'receivers of two of three shots', lambda: spl.write_keymap('b.keymap', sources, spreads[:2])),
        ('not finite', 'a place that is not finite', lambda: spl.write_keymap('b.keymap', [[np.nan, 1]], spreads[0])),
        ('whole numbers', 'channels of lists and numbers',
         lambda: spl.write_keymap('b.keymap', sources, spreads, channels=[[4, 3, 2, 1], 7, [1, 2, 3]])),
        ('written EPSG:1024', 'a code that is none',
         lambda: spl.write_keymap('b.keymap', sources, spreads[0], crs='EPSG:7', origin=(1, 2), azimuth=3)),
        ('crs = 32618', 'a code that is no text',
         lambda: spl.write_keymap('b.keymap', sources, spreads[0], crs=32618, origin=(1, 2), azimuth=3)),
        ('azimuth = north', 'an azimuth in words',
         lambda: spl.write_keymap('b.keymap', sources, spreads[0], crs='EPSG:32618', origin=(1, 2), azimuth='north')),
        ('receivers = None', 'no receivers', lambda: spl.write_keymap('b.keymap', sources, None)),
        ('are complex', 'complex positions', lambda: spl.write_keymap('b.keymap', 1j * sources, spreads[0])),
        ('all three', 'a rule without azimuth', lambda: spl.write_keymap('b.keymap', sources, spreads[0], crs='EPSG:1', origin=(1, 2)))):
    claim_fails(action, words, sentence)
stretched = -150 - np.cumsum(np.r_[0, 12.5, np.full(999, 12.5004)])
spl.write_keymap('stretched.keymap', [[20000, 6], [20050, 6]], [np.column_stack([x + stretched, np.full(1001, 8)]) for x in (20000, 20050)])
off = max(np.abs(s.rx - s.sx - stretched).max() for s in keymap.read_map('stretched.keymap'))
claim(off <= 0.0005 + 1e-9, f'a cable whose groups are 0.4 mm farther apart than the first two keeps its places, to {1000 * off:.2f} mm')
claim(not any(os.path.exists(name) for name in ('h.nc', 'b.keymap')), 'what is refused leaves no file')
try:
    spl.plan(fpaek=3, **job)
except spl.Error as error:
    claim(isinstance(error, spl.ProgramError) and error.exit_status == 1 and 'error:' in error.text, 'the error has exit status and text')
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter('always')
    spl.write_model('slow.nc', vp=np.full((9, 9), 400.0), axes='zx', spacing=10)
claim(len(told) == 1 and 'slower than any sea' in str(told[0].message), 'what the user should know is a Python warning')
done()
