#!/usr/bin/env python3
"""spl-keymap finds the geometry in trace headers of SEG-Y and SU, however they are filled in."""

import os

import numpy as np
import segyio
from check import claim, done
from spltools.geometry import keymap
from toolrun import Tool

F = segyio.TraceField
SHOTS, CHANNELS, NS = 5, 12, 30
tool = Tool('spl-keymap', 'bad.keymap')


def fine(sentence, path, *arguments):
    """Imports the file. Returns its shots and what was said."""
    text = tool.fine(sentence, 'segy', path, '-o', 'out.keymap', '--overwrite', *arguments)
    return (keymap.read_map('out.keymap') if 'error: ' not in text else []), text


def refused(words, what, path, *arguments):
    tool.refused(words, what, 'segy', path, '-o', 'bad.keymap', *arguments)


def headers(scale=1.0, scalar=1):
    """Header words of a streamer line: shots from 1000 m every 50 m, channels from 150 m every 25 m."""
    rows = []
    for s in range(SHOTS):
        for c in range(CHANNELS):
            sx, offset = 1000.0 + 50 * s, -(150.0 + 25 * c)
            rows.append(
                {
                    F.FieldRecord: 11 + s,
                    F.TraceNumber: c + 1,
                    F.EnergySourcePoint: 201 + s,
                    F.TraceIdentificationCode: 1,
                    F.offset: round(offset),
                    F.SourceX: round(sx * scale),
                    F.GroupX: round((sx + offset) * scale),
                    F.SourceDepth: round(6 * scale),
                    F.ReceiverGroupElevation: round(-8 * scale),
                    F.ElevationScalar: scalar,
                    F.SourceGroupScalar: scalar,
                    F.CoordinateUnits: 1,
                    F.TRACE_SAMPLE_COUNT: NS,
                    F.TRACE_SAMPLE_INTERVAL: 4000,
                }
            )
    return rows


def segy(path, rows, feet=False, system=True):
    spec = segyio.spec()
    spec.format, spec.samples, spec.tracecount = 1, np.arange(NS) * 4.0, len(rows)
    with segyio.create(path, spec) as file:
        file.bin.update(
            {
                segyio.BinField.MeasurementSystem: (2 if feet else 1) if system else 0,
                segyio.BinField.Interval: 4000,
            }
        )
        for i, row in enumerate(rows):
            file.header[i] = row
            file.trace[i] = np.zeros(NS, dtype=np.float32)
    return path


def su(path, rows, order):
    with open(path, 'wb') as file:
        for row in rows:
            head = bytearray(240)
            for word, value in row.items():
                length = 2 if int(word) in (29, 69, 71, 89, 115, 117) else 4
                head[int(word) - 1 : int(word) - 1 + length] = np.array(value, dtype=f'{order}i{length}').tobytes()
            file.write(bytes(head) + np.zeros(NS, dtype=order + 'f4').tobytes())
    return path


def agrees(shots, what, tolerance=0.0):
    """The shots are those of headers()."""
    if not shots:
        return
    worst = max(
        max(np.abs(s.rx - (s.sx - 150 - 25.0 * np.arange(CHANNELS))).max(), abs(s.sx - 1000 - 50.0 * i), abs(s.sz - 6),
            np.abs(s.rz - 8).max())
        for i, s in enumerate(shots)
    )
    claim(len(shots) == SHOTS and worst <= tolerance + 1e-9,
          f'{what}: {len(shots)} shots, positions right to {worst:.3g} m')


def test_good():
    shots, text = fine('a SEG-Y file becomes a key-map', segy('plain.segy', headers()))
    agrees(shots, 'metres, scalar 1')
    claim('spread cable streamer first=150.0 interval=25.0 channels=12' in open('out.keymap').read(),
          'a regular streamer is written as one')
    for scalar, scale in ((-100, 100), (-10, 10), (0, 1)):
        agrees(fine(f'coordinate scalar {scalar}', segy('scalar.segy', headers(scale, scalar)))[0], f'scalar {scalar}')
    for scale, scalar, said in ((100, 1, '100 times'), (1, -100, '0.01 times'), (10, -10, None)):
        text = fine(f'metres times {scale} with scalar {scalar}', segy('scale.segy', headers(scale, scalar)))[1]
        claim(('is the coordinate scalar' in text) == bool(said) and (said or '') in text, f'offsets disagree by a power of 10: {said}')
    agrees(fine('coordinate scalar 10', segy('scalar.segy', tens()))[0], 'scalar 10', 5.0)
    feet = headers(1 / 0.3048 * 100, -100)
    for row in feet:
        row[F.offset] = round(row[F.offset] / 0.3048)
    agrees(fine('a file in feet', segy('feet.segy', feet, feet=True))[0], 'feet by the file header', 0.01)
    agrees(fine('feet that the file does not tell', segy('feet.segy', feet, system=False), '--unit', 'ft')[0],
           '--unit ft', 0.01)
    for row in feet:                            # three million feet away, as state plane coordinates are
        for word in (F.SourceX, F.GroupX):
            row[word] += 300000000 - 100000
    away = [fine(f'feet far away {words}', segy('away.segy', feet, feet=True), *words) for words in ((), ('--unit', 'us-ft'))]
    far = [shots[0].sx - (1000 - 0.3048 * 1000 + length * 3e6) for (shots, _), length in zip(away, (0.3048, 1200 / 3937))]
    claim(max(map(abs, far)) < 0.02, f'are feet of 0.3048 m, or with --unit us-ft of 1200/3937 m: {far[0]:.3f} and {far[1]:.3f} m off')
    claim('us-ft if they are those of the US survey, which lie up to 1.8 m elsewhere' in away[0][1] and 'us-ft' not in away[1][1],
          'the other foot is told of where it lies elsewhere')
    claim('does not say metres or feet' in fine('no unit', segy('nounit.segy', headers(), system=False))[1],
          'metres are assumed aloud')
    shuffled = [headers()[i] for i in np.random.default_rng(1).permutation(SHOTS * CHANNELS)]
    shots, text = fine('unsorted traces', segy('shuffled.segy', shuffled))
    agrees(shots, 'sorted again')
    shots, text = fine('traces that stand there twice', segy('twice.segy', shuffled + shuffled[7:11]))
    agrees(shots, 'once each')
    claim(all(len(s.channel) == CHANNELS for s in shots) and '4 traces of the same record, channel and place' in text, 'which is told')
    claim('not sorted' in text, 'which is told')
    claim(
        [s.record for s in fine('records by source point', 'plain.segy', '--record-field', 'source_point')[0]]
        == list(range(201, 206)),
        'are 201 .. 205',
    )
    for order, name in (('<', 'little'), ('>', 'big')):
        shots, text = fine(f'SU, {name} endian', su('line.su', headers(), order))
        agrees(shots, 'SU')
        claim(f'{name} endian' in text, 'its byte order is found: ' + name)
    auxiliary = headers() + [headers()[0], headers()[0]]
    for row in auxiliary[-2:]:
        row.update({F.TraceIdentificationCode: 9, F.TraceNumber: 99})
    shots, text = fine('auxiliary traces', segy('auxiliary.segy', auxiliary))
    agrees(shots, 'left out')
    claim('2 traces left out' in text, 'which is told')
    for row, kind in zip(auxiliary[-2:], (10, 20)):
        row.update({F.TraceIdentificationCode: kind})
    shots, text = fine('a far-field signature and a ground force', segy('auxiliary.segy', auxiliary))
    agrees(shots, 'left out')
    claim('2 traces left out: identification codes [10, 20]' in text, 'which is told')
    shots, text = fine('depths as given', 'plain.segy', '--source-depth', 5, '--depth', 12.5)
    claim(shots[0].sz == 5 and shots[0].rz[0] == 12.5, f'are {shots[0].sz} and {shots[0].rz[0]} m')
    other = headers()
    for row in other:
        row[F.CDP_X], row[F.SourceX] = row[F.SourceX], 7
    agrees(fine('other byte positions', segy('other.segy', other), '--byte', 'sx=181')[0], '--byte sx=181')


def tens():
    """Coordinates in tens of metres: those that are no multiples are rounded."""
    rows = headers(0.1, 10)
    for row, true in zip(rows, headers()):
        row[F.SourceDepth], row[F.ReceiverGroupElevation], row[F.ElevationScalar] = 6, -8, 1
        row[F.offset] = true[F.offset]
    return rows


def test_long_interval():
    """Intervals beyond 32767 us, as programs write that take the number for one without a sign."""
    with open(segy('slow.segy', headers()), 'r+b') as file:
        file.seek(3216)
        file.write((40000).to_bytes(2, 'big'))
    claim('30 samples at 40000 us' in fine('an interval of 40 ms', 'slow.segy')[1], 'is told as it is')


def test_wrong_counts():
    rows = headers()
    for row in rows:
        row[F.TRACE_SAMPLE_COUNT] = 1500
    shots, text = fine('trace headers that say 1500 samples where 30 are stored', segy('count.segy', rows))
    agrees(shots, 'read by the size of the file')
    claim('the size of the file agrees with 30 (file header)' in text, 'which is told')
    segy('count2.segy', headers())
    with open('count2.segy', 'r+b') as file:
        file.seek(3220)
        file.write(np.array([77], dtype='>i2').tobytes())
    shots, text = fine('a file header that says 77 samples', 'count2.segy')
    agrees(shots, 'read by the trace headers')


def test_without_coordinates():
    rows = headers()
    for row in rows:
        row.update({F.SourceX: 0, F.GroupX: 0})
    segy('offsets.segy', rows)
    refused('give --shot-interval', 'offsets only', 'offsets.segy')
    agrees(fine('offsets and a shot interval', 'offsets.segy', '--shot-interval', 50, '--first-x', 1000)[0], 'placed')
    for row in rows:
        row[F.offset] = abs(row[F.offset])
    shots, text = fine('offsets without sign', segy('unsigned.segy', rows), '--shot-interval', 50, '--first-x', 1000)
    agrees(shots, 'lie behind')
    claim('offsets have no sign' in text, 'which is told')
    shots, _ = fine('or ahead', 'unsigned.segy', '--shot-interval', 50, '--first-x', 1000, '--direction', 1)
    claim(shots[0].rx[0] == 1150, f'with --direction 1: {shots[0].rx[0]} m')
    rows = headers()
    for row in rows:
        row[F.GroupX] = 0
    agrees(fine('source coordinates and offsets', segy('half.segy', rows))[0], 'joined')
    claim('--shot-interval and --first-x are not used' in fine('and a shot interval', 'half.segy', '--shot-interval', 40)[1], 'which is told')
    for row in rows:
        row.update({F.SourceX: 0, F.offset: 0})
    refused('coordinates and offsets are all zero', 'nothing at all', segy('nothing.segy', rows))


def test_crossed_line():
    """Coordinates on a slant line are projected."""
    rows = headers(100, -100)
    for row in rows:
        for x, y in ((F.SourceX, F.SourceY), (F.GroupX, F.GroupY)):
            row[y] = round(0.8 * row[x]) + 100000000
            row[x] = round(0.6 * row[x]) + 50000000
    shots, text = fine('a slant line', segy('slant.segy', rows))
    worst = max(np.abs(s.sx - s.rx - 150 - 25.0 * np.arange(CHANNELS)).max() for s in shots)
    claim(worst < 0.02 and 'azimuth of +x: 36.87' in text,
          f'is projected to its azimuth of 36.87 degrees, offsets right to {worst:.3f} m')


def test_faults():
    def changed(name, *changes):
        rows = headers()
        for i, words in changes:
            rows[i].update(words)
        return segy(name, rows)

    refused('has channel 2 twice (traces 2 and 3)', 'a channel twice', changed('f1.segy', (2, {F.TraceNumber: 2})))
    refused('record 11 has two source positions', 'two sources in a record', changed('f2.segy', (3, {F.SourceX: 1})))
    rows = changed('f0.segy', (3, {F.SourceDepth: 9}))
    refused('record 11 has two source positions: sz = 6 m (trace 1) and 9 m (trace 4)', 'two depths of a source', rows)
    fine('the same with --source-depth', rows, '--source-depth', 7)
    rows = headers()
    for row in rows:
        row[F.FieldRecord] = 0
    refused('is zero in every trace', 'no record numbers', segy('f3.segy', rows))
    for row in rows:
        row.update({F.FieldRecord: 5, F.TraceNumber: 0})
    refused('two source positions', 'one record number for all', segy('f4.segy', rows))
    rows = headers()
    for row in rows:
        row.update({F.CoordinateUnits: 3, F.SourceGroupScalar: -10000})
    refused('decimal degrees', 'degrees', segy('f5.segy', rows))
    refused('record -3 is out of range', 'a negative record', segy('f6.segy', negative()))
    data = open('plain.segy', 'rb').read()
    for name, content, words, what in (
        ('cut.segy', data[:-50], 'is cut or its headers are wrong', 'a cut file'),
        ('short.segy', data[:2000], 'less than the headers', 'half a header'),
        ('empty.segy', b'', 'is empty', 'an empty file'),
        (
            'format.segy',
            data[:3224] + b'\0\x63' + data[3226:],
            'sample format 99',
            'an unknown sample format',
        ),
        ('swapped.segy', data[:3224] + b'\x01\0' + data[3226:], 'byte-swapped', 'a byte-swapped header'),
        ('noise.su', bytes(range(256)) * 40, 'no byte order', 'noise as SU'),
        ('cut.su', open('line.su', 'rb').read()[:-4], 'no byte order', 'a cut SU file'),
    ):
        with open(name, 'wb') as file:
            file.write(content)
        refused(words, what, name)
    refused('no such file', 'a missing file', 'nosuch.segy')
    os.symlink('line.su', 'line.receivers')
    for path, output, named in (
        ('plain.segy', 'plain.segy', 'plain.segy'),
        ('line.su', 'line.receivers', 'line.receivers'),
    ):
        before = open(path, 'rb').read()
        status, text = tool('segy', path, '-o', output, '--overwrite')
        claim(
            status == 1
            and f'{named} would overwrite an input: choose another name' in text
            and open(path, 'rb').read() == before,
            f'{path} -o {output} --overwrite: {text.strip()}',
        )
    refused("unknown field 'zz'", 'an unknown field', 'plain.segy', '--byte', 'zz=181')
    refused("unknown field 'ns'", 'a field that is not looked for elsewhere', 'plain.segy', '--byte', 'ns=181')
    refused('write FIELD=POS', 'a position beyond the header', 'plain.segy', '--byte', 'sx=300')


def negative():
    rows = headers()
    for row in rows[:CHANNELS]:
        row[F.FieldRecord] = -3
    return rows


test_good()
test_long_interval()
test_wrong_counts()
test_without_coordinates()
test_crossed_line()
test_faults()
done()
