#!/usr/bin/env python3
"""Exported SEG-Y and SU hold the traces bit for bit and the geometry in the headers; what does not fit is refused."""
import os
import struct

import numpy as np
import segyio

from check import claim, done, given_seed
from synthetic import line_of_shots, make_gathers
from toolrun import call

from spltools.gathers import ibmfloat, segyheader
from spltools.gathers.export import line_numbers
from spltools.geometry import axis
from spltools.geometry.shots import Shot

TOOL = os.path.join(os.environ['ROOT'], 'tools/spl-export')
F = segyio.TraceField


def export(*words):
    r = call(TOOL, *words)
    return r.returncode, r.stdout.strip(), r.stderr.strip()


def refused(sentence, words, *arguments, output='no.segy'):
    """Claims exit 1, one sentence with the words, no output file."""
    status, _, said = export(*arguments, '-o', output)
    missing = [w for w in words if w not in said]
    left = [n for n in os.listdir('.') if n.startswith(output.split('.')[0]) or n.endswith('.tmp')]
    claim(status == 1 and not missing and len(said.splitlines()) == 1 and not left, f'{sentence}: {said or "no error"}')


shots = line_of_shots(n=3, nrec=5, nt=40, components=('pressure', 'vz'))
for s in shots:
    s['sy'], s['ry'] = 4500000.5, np.full(5, 4500000.5)
shots[2]['rx'] = shots[2]['sx'] + 37.5 + 12.5 * np.arange(5)                # ahead of the source
make_gathers('line.nc', shots, nt=40, components=('pressure', 'vz'))
status, said, why = export('line.nc', '-o', 'p.segy')
claim(status == 0 and '3 shots, 15 traces of 40 samples at 4000 us' in said, f'export: {said}{why}')

with segyio.open('p.segy', ignore_geometry=True) as f:
    wanted = np.concatenate([s['traces']['pressure'] for s in shots])
    claim(f.tracecount == 15 and np.array_equal(f.trace.raw[:], wanted), 'segyio reads 15 traces, bit for bit those of the file')
    claim(f.bin[segyio.BinField.Format] == 5 and f.bin[segyio.BinField.Interval] == 4000 and f.bin[segyio.BinField.Samples] == 40
          and f.bin[segyio.BinField.SEGYRevision] in (1, 256), 'binary header: format 5, 4000 us, 40 samples, revision 1')
    h = f.header[6]
    s, r = shots[1], 1
    claim(h[F.FieldRecord] == 103 and h[F.EnergySourcePoint] == 103 and h[F.TraceNumber] == 2 and h[F.ShotPoint] == 103
          and h[F.TRACE_SEQUENCE_FILE] == 7, f'trace 7: record {h[F.FieldRecord]}, channel {h[F.TraceNumber]}')
    xy, z = -h[F.SourceGroupScalar], -h[F.ElevationScalar]
    claim(xy == 100 and z == 100 and h[F.SourceX] / xy == s['sx'] and h[F.GroupX] / xy == s['rx'][r]
          and h[F.SourceY] / xy == -4500000.5 and h[F.GroupY] / xy == -4500000.5,
          f'coordinates to the centimetre: source {h[F.SourceX] / xy}, group {h[F.GroupX] / xy}, y {h[F.GroupY] / xy} m')
    claim(h[F.ReceiverGroupElevation] / z == -8.5 and h[F.SourceDepth] / z == 6.0,
          f'receiver elevation {h[F.ReceiverGroupElevation] / z} m, source depth {h[F.SourceDepth] / z} m')
    ahead = f.header[11][F.offset]
    claim(h[F.offset] == round(-112.5) and ahead == 50, f'offset {h[F.offset]} m behind the source, {ahead} m ahead of it')
    claim(h[F.CDP_X] / xy == (s['sx'] + s['rx'][r]) / 2 and h[F.CoordinateUnits] == 1 and h[F.DelayRecordingTime] == 0
          and h[F.TraceIdentificationCode] == 1 and h[F.TRACE_SAMPLE_COUNT] == 40 and h[F.TRACE_SAMPLE_INTERVAL] == 4000
          and h[F.TraceValueMeasurementUnit] == 1, 'midpoint, units, delay 0, trace code 1, samples, interval, pascal')
    text = segyio.tools.wrap(f.text[0])
    claim(all(w in text for w in ('PRESSURE IN PA', 'RICKER, PEAK 25 HZ; FPEAK 25', 'DX, DZ 5, 5 M', 'HASH 0123456789ABCDEF',
                                  '4000 MICROSECONDS', 'DELTA(X - XS)', 'RECORDS 101 TO 105',
                                  'SEG Y REV1', 'END TEXTUAL HEADER')), 'textual header: unit, wavelet, interval, source term, records')

raw = open('p.segy', 'rb').read()
claim(len(raw) == 3600 + 15 * (240 + 160), f'{len(raw)} bytes: 3600 + 15 x 400')
claim(raw[:3].decode('cp037') == 'C 1' and all(raw[i * 80:i * 80 + 3].decode('cp037') == f'C{i + 1:2d}' for i in range(40)),
      'the textual header is EBCDIC, 40 lines numbered')
words = 'MODEL: VP: ' + 'A' * 60 + '.NC (M/S), HASH 0123456789ABCDEF'
long = segyheader.textual(['X', '', words, 'B' * 999, *['', 'Y'] * 18]).decode('cp037')
claim('HASH 0123456789ABCDEF' in long and long.count('C') > 40 and long.count('Y ') == 19 and len(long) == 3200 and 'SEG Y REV1' in long[-160:],
      'what is longer than a line of it goes on in the next, in the place of blank ones')
claim('VP (M/S), 1?000' in segyheader.textual(['VP [M/S], 1~000']).decode('cp037'), 'units in square brackets stand in round ones')
at = 3600 + 6 * 400
claim(struct.unpack('>i', raw[at + 72:at + 76])[0] == 105025 and struct.unpack('>h', raw[at + 70:at + 72])[0] == -100
      and struct.unpack('>H', raw[at + 114:at + 116])[0] == 40 and struct.unpack('>f', raw[at + 240:at + 244])[0]
      == shots[1]['traces']['pressure'][1, 0], 'bytes 73-76, 71-72, 115-116 and the first sample of trace 7 stand where the standard says')
known = {**segyheader.TRACE, **segyheader.TRACE_SEGY}
places = {int(k) for k in segyio.TraceField.enums()}
claim(all(b in places for b, _ in known.values()) and all(b in {int(k) for k in segyio.BinField.enums()} for b, _ in
      segyheader.BINARY.values()), f'all {len(known)} trace fields and {len(segyheader.BINARY)} binary fields begin where segyio has one')

status, _, why = export('line.nc', '-o', 'vz.sgy', '--component', 'vz', '--records', '103-105', '--cdp', '6.25', '--cdp-origin', '900')
with segyio.open('vz.sgy', ignore_geometry=True) as f:
    claim(np.array_equal(f.trace.raw[:], np.concatenate([s['traces']['vz'] for s in shots[1:]])), f'vz of two records {why}')
    s = shots[1]
    number = [int(np.floor(((s['sx'] + x) / 2 - 900) / 6.25 + 0.5)) + 1 for x in s['rx']]
    claim([f.header[i][F.CDP] for i in range(5)] == number and f.header[0][F.TraceValueMeasurementUnit] == 6,
          f'midpoint bins {number}, unit m/s')

status, _, why = export('line.nc', '-o', 'ibm.segy', '--ibm')
with segyio.open('ibm.segy', ignore_geometry=True) as f:
    err = np.max(np.abs(f.trace.raw[:] - wanted) / np.abs(wanted))
    claim(f.bin[segyio.BinField.Format] == 1 and 0 < err <= 2.0 ** -21, f'IBM floats: largest relative error {err:.2e}, at most {2.0 ** -21:.2e}')
some = np.array([0.0, -0.0, 1.0, -118.625, 1e-30, 3.4e38, 1.17e-38, 0.99999994, 15.999999], 'f4')
words = [int(w) for w in ibmfloat.from_ieee(some)]
claim(words[2] == 0x41100000 and words[3] == 0xC276A000 and words[0] == words[1] == 0, 'IBM: 1.0 = 41100000, -118.625 = C276A000, 0 = 0')
back = [(-1.0) ** (w >> 31) * (w & 0xFFFFFF) / 2.0 ** 24 * 16.0 ** ((w >> 24 & 127) - 64) for w in words]
claim(np.allclose(back, some, rtol=2.0 ** -21, atol=0), 'IBM: from 1e-38 to 3e38 within 24 bits of hexadecimal fraction')

for order, option, name in (('little', [], 'le.su'), ('big', ['--big-endian'], 'be.su')):
    status, said, why = export('line.nc', '-o', name, *option)
    with segyio.su.open(name, endian=order, ignore_geometry=True) as f:
        h = f.header[6]
        claim(np.array_equal(f.trace.raw[:], wanted) and h[F.FieldRecord] == 103 and h[F.SourceX] == 105025 and h[F.offset] == -112
              and h[F.TRACE_SAMPLE_COUNT] == 40 and h[F.TRACE_SAMPLE_INTERVAL] == 4000, f'SU, {order}-endian: traces bit for bit, headers {why}')
    claim(os.path.getsize(name) == 15 * 400, f'SU, {order}-endian: traces only')
raw = open('le.su', 'rb').read()
claim(raw[180:240] == bytes(60), 'SU: bytes 181-240, which SU gives other meanings, are zero')

# coordinates that centimetres do not keep
fine = line_of_shots(n=2, nrec=3, nt=8)
fine[0]['rx'] = fine[0]['rx'] + 0.0625
make_gathers('fine.nc', fine, nt=8)
export('fine.nc', '-o', 'fine.segy')
with segyio.open('fine.segy', ignore_geometry=True) as f:
    x = f.header[0][F.GroupX] / -f.header[0][F.SourceGroupScalar]
    claim(f.header[0][F.SourceGroupScalar] == -10000 and x == fine[0]['rx'][0], f'{x} m is kept exactly with scalar -10000')
fine[0]['rx'] = fine[0]['rx'] + 300000.0 + 1 / 3
make_gathers('fine2.nc', fine, nt=8)
export('fine2.nc', '-o', 'fine2.segy')
with segyio.open('fine2.segy', ignore_geometry=True) as f:
    x = f.header[0][F.GroupX] / -f.header[0][F.SourceGroupScalar]
    claim(f.header[0][F.SourceGroupScalar] == -1000 and abs(x - fine[0]['rx'][0]) <= 0.0005, 'thirds of a metre at 300 km: to half a millimetre')

# a feathered line at any azimuth: X, Y turn and shift onto easting, northing without a mirror; offsets are those of 2D
seed = given_seed()
rng = np.random.default_rng(seed)
azimuth, feather = rng.uniform(0, 360), rng.choice([-1, 1]) * rng.uniform(3, 9)
towards = np.exp(1j * np.radians(90 - azimuth))                             # easting + i northing
boat = complex(*rng.uniform(2e5, 8e5, 2)) + towards * 50 * np.arange(4)
groups = boat[:, None] - towards * np.exp(1j * np.radians(feather)) * (163.5 + 12.5 * np.arange(6))
moved = [Shot(101 + i, s.real, s.imag, 6.0, np.arange(1, 7), g.real, g.imag, np.full(6, 8.0))
         for i, (s, g) in enumerate(zip(boat, groups))]
axis.project_shots(moved)
feathered = [{'record': s.record, 'sx': s.sx, 'sy': s.sy, 'sz': s.sz, 'rx': s.rx, 'ry': s.ry, 'rz': s.rz,
              'traces': {'pressure': rng.standard_normal((6, 8))}} for s in moved]
make_gathers('feathered.nc', feathered, nt=8)
status, said, why = export('feathered.nc', '-o', 'feathered.segy')
with segyio.open('feathered.segy', ignore_geometry=True) as f:
    scale = -f.header[0][F.SourceGroupScalar]
    at = {xy: (f.attributes(x)[:] + 1j * f.attributes(y)[:]) / scale for xy, x, y in
          (('source', F.SourceX, F.SourceY), ('group', F.GroupX, F.GroupY), ('cdp', F.CDP_X, F.CDP_Y))}
    true = {'source': np.repeat(boat, 6), 'group': groups.ravel(), 'cdp': (np.repeat(boat, 6) + groups.ravel()) / 2}
    turn = (at['group'] - at['source'])[0] / (true['group'] - true['source'])[0]
    off = max(np.abs(at[k] - at['source'][0] - (true[k] - true['source'][0]) * turn / abs(turn)).max() for k in at)
    claim(status == 0 and off < 0.03, f'seed {seed}: azimuth {azimuth:.1f}, feathering {feather:.1f} degrees: X, Y are the survey turned and '
          f'shifted, to {off:.3f} m {why}')
    along = ((groups - boat[:, None]) / towards).real.ravel()
    off = np.abs(f.attributes(F.offset)[:] - along).max()
    claim(off <= 0.51, f'offsets are those along x, which 2D models, to {off:.2f} m')
    across = np.abs(((groups - boat[:, None]) / towards).imag).max()
    words = f'2D modelling ignored y: receivers up to {across:.2f} m across'
    claim(words in said and words.upper() in segyio.tools.wrap(f.text[0]), f'what 2D ignored is told there and in the textual header: {words}')
make_gathers('map.nc', feathered, nt=8)
export('map.nc', '-o', 'map.segy', '--y-left')
with segyio.open('map.segy', ignore_geometry=True) as f, segyio.open('feathered.segy', ignore_geometry=True) as g:
    claim(np.array_equal(f.attributes(F.GroupY)[:], -g.attributes(F.GroupY)[:]), '--y-left: Y is y')

# what is refused
far = line_of_shots(n=1, nrec=2, nt=8)
far[0]['rx'] = far[0]['rx'] + 3e7
make_gathers('far.nc', far, nt=8)
refused('a coordinate beyond 32 bits', ['3000', 'shift the origin', '21474836.47'], 'far.nc')
make_gathers('odd.nc', line_of_shots(n=1, nt=8), nt=8, dt=0.0012345678)
refused('an interval of 1234.57 us', ['1234.5678', 'whole microseconds'], 'odd.nc')
make_gathers('slow.nc', line_of_shots(n=1, nt=8), nt=8, dt=0.05)
refused('an interval of 50 ms in SEG-Y', ['50000', '32767'], 'slow.nc')
claim(export('slow.nc', '-o', 'slow.su')[0] == 0, 'SU, whose numbers have no sign, takes 50 ms')
long = line_of_shots(n=1, nrec=2, nt=40000)
make_gathers('long.nc', long, nt=40000, dt=0.0005)
refused('40000 samples in SEG-Y', ['40000', '32767', '--split'], 'long.nc')
status, said, why = export('long.nc', '-o', 'long.segy', '--split')
with segyio.open('long_1.segy', ignore_geometry=True) as a, segyio.open('long_2.segy', ignore_geometry=True) as b:
    joined = np.concatenate([a.trace.raw[:], b.trace.raw[:]], axis=1)
    delay = b.header[0][F.DelayRecordingTime]
    claim(np.array_equal(joined, long[0]['traces']['pressure']) and delay == len(a.samples) * 0.5,
          f'--split: {len(a.samples)} and {len(b.samples)} samples, the second delayed by {delay} ms, join to the trace')
claim(export('long.nc', '-o', 'long.su')[0] == 0 and os.path.getsize('long.su') == 2 * (240 + 160000), 'SU takes 40000 samples')
refused('more traces than a file may have', ['15 traces', '--split'], 'line.nc', '--max-traces', 12)
refused('a shot with more traces than that', ['5 traces', '4'], 'line.nc', '--max-traces', 4, '--split')
status, said, why = export('line.nc', '-o', 'many.segy', '--split', '--max-traces', 12)
with segyio.open('many_1.segy', ignore_geometry=True) as a, segyio.open('many_2.segy', ignore_geometry=True) as b:
    claim((a.tracecount, b.tracecount) == (10, 5) and b.header[0][F.TRACE_SEQUENCE_FILE] == 1, '--split: 10 and 5 traces, whole shots')

shots[1]['status'] = 0
make_gathers('partly.nc', shots, nt=40, components=('pressure', 'vz'))
refused('an unfinished shot', ['103', 'not modelled yet', '--done-only'], 'partly.nc')
status, _, why = export('partly.nc', '-o', 'done.segy', '--done-only')
with segyio.open('done.segy', ignore_geometry=True) as f:
    claim(status == 0 and 'left out: shot record 103' in why and set(f.attributes(F.FieldRecord)[:]) == {101, 105}, f'--done-only: {why}')
data = bytearray(open('line.nc', 'rb').read())
data[-50] ^= 4
open('hurt.nc', 'wb').write(data)
refused('a damaged shot', ['105', 'damaged'], 'hurt.nc')
refused('a component that is not there', ["no component 'vx'"], 'line.nc', '--component', 'vx')
refused('an unknown ending', ['.segy, .sgy or .su'], 'line.nc', output='no.sgz')
refused('--ibm for SU', ['IEEE floats only'], 'line.nc', '--ibm', output='no.su')
refused('a file that is not there', ['nothere.nc'], 'nothere.nc')
before = open('p.segy', 'rb').read()
status, _, why = export('line.nc', '-o', 'p.segy', '--component', 'vz')
claim(status == 1 and 'exists already' in why and open('p.segy', 'rb').read() == before, f'an output that exists is left alone: {why}')
claim(export('line.nc', '-o', 'p.segy', '--overwrite')[0] == 0 and open('p.segy', 'rb').read() == before, 'and rewritten byte for byte with --overwrite')
before = open('line.nc', 'rb').read()
os.link('line.nc', 'line.su')
for source in ('line.nc', 'line.su'):
    status, _, why = export(source, '-o', 'line.su', '--overwrite')
    claim(status == 1 and why == 'error: line.su would overwrite an input: choose another name' and open('line.su', 'rb').read() == before,
          f'{source} is not replaced by what is made of it, under any of its names: {why}')
claim(line_numbers(['7', '12']) == {'7': 7, '12': 12} and len(set(line_numbers(['007', '7', '12']).values())) == 3,
      f"lines 007 and 7 are two: {line_numbers(['007', '7', '12'])}")
done()
