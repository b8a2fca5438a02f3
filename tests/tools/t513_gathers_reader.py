#!/usr/bin/env python3
"""The reader of gathers gives what is in the file, and no damage passes it."""
import os
import random
import subprocess
import netCDF4
import numpy as np

from check import claim, claim_fails, done
from synthetic import GEOMETRY, line_of_shots, make_gathers

from spltools.gathers.gathers import Gathers
from spltools.cli import Failure

shots = line_of_shots(n=3, nrec=5, nt=40, components=('pressure', 'vz'))
shots[1]['rx'], shots[1]['rz'] = shots[1]['rx'][:3], shots[1]['rz'][:3]
shots[1]['traces'] = {c: t[:3] for c, t in shots[1]['traces'].items()}
shots[1]['sx_used'] = shots[1]['sx'] + 1.75
make_gathers('good.nc', shots, nt=40, components=('pressure', 'vz'))

f = Gathers('good.nc')
slots, left = f.chosen()
claim(slots == [0, 1, 2] and not left and f.components == ['p', 'vz'], f'3 shots, components {f.components}')
same = all(np.array_equal(f.gather(i, c).traces, shots[i]['traces'][v]) for i in slots for c, v in (('p', 'pressure'), ('vz', 'vz')))
claim(same, 'all traces come back bit for bit, short gathers included')
g = f.gather(1, 'vz')
claim(g.nrec == 3 and g.units == 'm s-1' and list(g.channel) == [1, 2, 3], f'a short gather has its {g.nrec} receivers; unit {g.units}')
asked, used = f.gather(1, 'p', positions='asked').sx, f.gather(1, 'p').sx
claim(asked == 1050.25 and used == 1052.0, f'source asked at {asked} m and used at {used} m are told apart')
claim(np.allclose(g.offset(), g.rx - g.sx) and (g.offset() < 0).all(), 'offsets behind the source are negative')
claim(abs(f.dt - 0.004) < 1e-15 and f.text('fpeak') == '25' and f.parameters()['wavelet'] == 'ricker'
      and f.text('grid_spacing_m') == '5, 5', 'dt, and parameters out of the header')
PARAMETERS = 'keymap = \'l\'\'aquila "7".keymap\'  # job.par:3; a map\nvp = "say ""a"".nc"  # here\ntmax = 4\n'
make_gathers('quoted.nc', shots[:1], nt=40, components=('pressure', 'vz'), attributes={'parameters': PARAMETERS})
claim(Gathers('quoted.nc').parameters() == {'keymap': 'l\'aquila "7".keymap', 'vp': 'say "a".nc', 'tmax': '4'}, 'names with quotes, too')
claim(f.words('variant', 0) == 'cpu', 'variant and device are read as text')
with netCDF4.Dataset('good.nc') as ds:
    claim(np.array_equal(ds['pressure'][2], shots[2]['traces']['pressure']), 'netCDF4 reads the same traces')

claim(f.chosen('103')[0] == [1] and f.chosen('101-105:4')[0] == [0, 2] and f.chosen('105,101')[0] == [0, 2], 'records by number and range')
claim_fails(lambda: f.chosen('7'), ['no shot record 7', '101 .. 105'], 'a record that is not there')
claim_fails(lambda: f.chosen('x-3'), "'x-3'", 'records that are no numbers')
claim_fails(lambda: f.chosen('105-101'), 'first <= last', 'a range backwards')
claim_fails(lambda: f.gather(0, 'vx'), "no component 'vx'", 'a component that was not recorded')

todo = [dict(s) for s in shots]
todo[0]['status'], todo[2]['status'] = 0, 2
make_gathers('partly.nc', todo, nt=40, components=('pressure', 'vz'))
partly = Gathers('partly.nc')
claim_fails(partly.chosen, ['101', 'not modelled yet', '--done-only', 'and 1 more'], 'shots to do')
slots, left = partly.chosen(done_only=True)
claim(slots == [1] and len(left) == 2 and 'given up' in left[1], f'done only: {left}')
claim_fails(lambda: partly.chosen('101', done_only=True), 'no finished shot', 'nothing finished among the records')

# what the modelling itself writes, by the program that tests its writer
written = subprocess.run([os.path.join(os.environ['B'], 'tests/t310_fio_roundtrip')], stdout=subprocess.DEVNULL).returncode
real = Gathers('gathers.nc')
slots, left = real.chosen()
with netCDF4.Dataset('gathers.nc') as ds:
    same = all(np.array_equal(real.gather(s, 'p').traces, ds['pressure'][s, :real.nrec[s]].filled(0)) for s in slots)
    order = set(ds['checksum'].order.split())
claim(written == 0 and len(slots) == 3 and same, f'the modelling\'s own file: {len(slots)} whole shots, traces as netCDF4 reads them')
claim(order == set(GEOMETRY) | {'pressure', 'vz'}, 'its checksum covers what these tests take it to cover')

# files that are no gathers
open('empty.nc', 'w').close()
open('text.nc', 'w').write('hello\n' * 100)
with netCDF4.Dataset('four.nc', 'w', format='NETCDF4') as ds:
    ds.createDimension('x', 2)
with netCDF4.Dataset('model.nc', 'w', format='NETCDF3_64BIT_DATA') as ds:
    ds.createDimension('x', 2)
    ds.createVariable('vp', 'f4', ('x',))[:] = 1
for name, words in (('none.nc', 'no such file'), ('empty.nc', 'is empty'), ('text.nc', 'no file of gathers'),
                    ('four.nc', 'NetCDF-4'), ('model.nc', "no variable 'record'"), ('.', 'is a folder')):
    claim_fails(lambda: Gathers(name), words, f'{name} is refused')

# no damage passes: each bit of the header, and of what a shot is, is under a checksum
data = open('good.nc', 'rb').read()
header = f._header
first = {name: header.variables[name] for name in ('status', 'header_bytes', 'header_crc32')}
random.seed(7)


def survives(damaged):
    """The sentence with which damaged bytes are refused, or None if they pass."""
    with open('damaged.nc', 'wb') as out:
        out.write(damaged)
    try:
        Gathers('damaged.nc').chosen()
    except Failure as failure:
        return str(failure)
    return None


passed = []
for _ in range(1000):
    at, bit = random.randrange(len(data)), random.randrange(8)
    damaged = bytearray(data)
    damaged[at] ^= 1 << bit
    if survives(bytes(damaged)) is None:
        passed.append(at)
claim(not passed, f'1000 files with one random bit turned: {len(passed)} pass unnoticed, must be 0')
head = header.header_bytes
passed = [at for at in range(head) if survives(data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1:]) is None]
claim(not passed, f'each of the {head} bytes of the header changed in turn: {len(passed)} pass unnoticed, must be 0')
lengths = random.sample(range(len(data)), 200)
passed = [n for n in lengths if survives(data[:n]) is None]
claim(not passed, f'200 truncations: {len(passed)} pass unnoticed, must be 0')
claim(survives(data + b'\0\0\0\0') is not None, 'four bytes too many are noticed')
claim(survives(data) is None, 'and the undamaged bytes pass')
done()
