#!/usr/bin/env python3
"""spl-keymap turns P1/90, SPS and regular lines into key-maps with the positions that the files hold."""

import math
import os
import resource
import subprocess
import sys

ROOT = os.environ['ROOT']
import numpy as np  # noqa: E402
from check import claim, done  # noqa: E402
from spltools.geometry import keymap  # noqa: E402
from spltools.cli import Failure  # noqa: E402
from toolrun import Tool  # noqa: E402

AZIMUTH = 37.0  # of the made line
EAST, NORTH = 500000.0, 6700000.0
tool = Tool('spl-keymap', 'bad.keymap')
fine, refused = tool.fine, tool.refused


def put(path, text, **how):
    with open(path, 'w', **how) as file:
        file.write(text)


def map_position(x, y):
    a = math.radians(AZIMUTH)
    return EAST + x * math.sin(a) + y * math.cos(a), NORTH + x * math.cos(a) - y * math.sin(a)


# --- P1/90 --------------------------------------------------------------------------------------------------


def s_record(point, x, y, source='1'):
    e, n = map_position(x, y)
    return (
        f'{"S" + "LINE-1":<16s}1{source}{" "}{point:>6d}{"":21s}{e:9.1f}{n:9.1f}{50.0:6.1f}{"123010203":9s}\n'
    )


def r_records(groups):
    """groups: (number, x, y, depth text)"""
    lines = []
    for i in range(0, len(groups), 3):
        line = 'R'
        for number, x, y, depth in groups[i : i + 3]:
            e, n = map_position(x, y)
            line += f'{number:4d}{e:9.1f}{n:9.1f}{depth:>4s}'
        lines.append(f'{line:<79s}1\n')
    return ''.join(lines)


def p190(points=6, depth=lambda shot, group: '7.5'):
    """Shots 50 m apart along AZIMUTH, 24 groups from 200 m every 25 m without 10-12, feathered 2 degrees."""
    text = f'{"H0100SURVEY AREA":<32s}Made for a test\n{"H1100RECEIVER GROUPS PER SHOT":<32s}  24\n'
    text += f'{"H2000GRID UNITS":<32s}1METRES                   1.000000000000\n'
    drift = math.radians(2.0)
    for s in range(points):
        text += s_record(1001 + s, 50.0 * s, 0.0)
        groups = []
        for g in [g for g in range(1, 25) if g not in (10, 11, 12)]:
            r = 200.0 + 25.0 * (g - 1)
            groups.append((g, 50.0 * s - r * math.cos(drift), r * math.sin(drift), depth(s, g)))
        text += r_records(groups)
    return text


def test_p190():
    put('line.p190', p190())
    said = fine('a P1/90 file becomes a key-map', 'p190', 'line.p190', '--source-depth', 6, '-o', 'line.keymap')
    shots = keymap.read_map('line.keymap')
    claim([s.record for s in shots] == list(range(1001, 1007)) and all(len(s.channel) == 21 for s in shots),
          f'{len(shots)} shots 1001 .. 1006 of {len(shots[0].channel)} of 24 groups')
    steps = np.diff([s.sx for s in shots])
    claim(np.abs(steps - 50).max() < 0.11,
          f'shots are 50 m apart to {np.abs(steps - 50).max():.3f} m (coordinates hold 0.1 m)')
    offset = np.hypot(shots[2].rx - shots[2].sx, shots[2].ry - shots[2].sy)
    true = 200 + 25.0 * (shots[2].channel - 1)
    claim(np.abs(offset - true).max() < 0.15, f'offsets are kept to {np.abs(offset - true).max():.3f} m')
    angle = float(said.split('azimuth of +x: ')[1].split()[0])
    claim(abs(angle - AZIMUTH) < 0.05, f'the azimuth is found: {angle} degrees, made with {AZIMUTH}')
    across = shots[0].ry[-1] - shots[0].sy
    true = (200 + 25 * 23) * math.sin(math.radians(2))
    claim(abs(across - true) < 0.3,
          f'y is positive to the right: the last group is {across:.2f} m across, made with {true:.2f} m')
    claim(
        '21 of 24 channels' in said
        and '1 gaps a shot, the largest 100.0' in said
        and 'feathering -2.0' in said,
        'absent groups, the gap of 100 m and the feathering of 2 degrees are told',
    )
    low = min(min(s.rx.min() for s in shots), min(s.sx for s in shots))
    claim(abs(low) < 1e-9 and all(np.all(s.rz == 7.5) and s.sz == 6 for s in shots),
          'x starts at 0; depths are 7.5 m and 6 m')
    text = open('line.receivers').read()
    e, n = map_position(-200 * math.cos(math.radians(2)), 200 * math.sin(math.radians(2)))
    claim(f'  {e:.1f} {n:.1f} - 1\n' in text,
          f'the original coordinates and the streamer stand beside each receiver: E {e:.1f} N {n:.1f}')
    status, text = tool('p190', 'line.p190', '--source-depth', 6, '-o', 'line.keymap')
    claim(status == 1 and 'exists already' in text, 'an existing key-map is not overwritten: ' + text.strip())
    said = fine('but with --overwrite it is', 'p190', 'line.p190', '--source-depth', 6, '-o', 'line.keymap',
                '--overwrite', '--keep-offset')
    shots = keymap.read_map('line.keymap')
    offset = shots[2].sx - shots[2].rx
    true = 200 + 25.0 * (shots[2].channel - 1)
    claim(np.abs(offset - true).max() < 0.15,
          f'--keep-offset keeps the true offset along x to {np.abs(offset - true).max():.3f} m')
    both = np.hypot(offset, shots[2].ry - shots[2].sy)
    claim(np.abs(both - true).max() < 0.15 and 'feathering -2.0' in said,
          f'and counts y no second time, to {np.abs(both - true).max():.3f} m; what the feathering was is told')
    fine('azimuth and origin can be given', 'p190', 'line.p190', '--source-depth', 6, '-o', 'given.keymap', '--azimuth',
         AZIMUTH + 180, '--origin', EAST, NORTH)
    shots = keymap.read_map('given.keymap')
    claim(abs(shots[0].sx) < 0.1 and abs(shots[5].sx + 250) < 0.1,
          f'sailing against +x: shots at {shots[0].sx:.2f} .. {shots[5].sx:.2f} m')


def test_p190_depths():
    put('blank.p190', p190(depth=lambda s, g: '' if s == 0 else f'{5 + 0.1 * g:.1f}'))
    said = fine('blank depths are filled', 'p190', 'blank.p190', '--source-depth', 6, '-o', 'blank.keymap')
    shots = keymap.read_map('blank.keymap')
    worst = np.abs(shots[0].rz - np.round(5 + 0.1 * shots[0].channel, 1)).max()
    claim('21 blank receiver depths in 1 of 6 shots' in said and worst < 1e-9,
          f'from the same group of the next shot, to {worst:g} m')
    fine('or by --depth', 'p190', 'blank.p190', '--source-depth', 6, '--depth', 9.5, '-o', 'blank.keymap',
         '--overwrite')
    shots = keymap.read_map('blank.keymap')
    claim(np.all(shots[0].rz == 9.5) and shots[1].rz[0] == 5.1, 'which fills the blank ones only')
    put('none.p190', p190(depth=lambda s, g: ''))
    refused('give --depth', 'no depth at all', 'p190', 'none.p190', '--source-depth', 6, '-o', 'bad.keymap')


def test_p190_order():
    """Shots in any order of the file, and a file that was cut amid the last one."""
    head, *shots = p190().replace('SLINE', '\0SLINE').split('\0')

    def read(order, *more):
        put('order.p190', head + ''.join(shots[i] for i in order))
        said = fine(f'shots in the order {order}', 'p190', 'order.p190', '--source-depth', 6, '-o', 'order.keymap', '--overwrite', *more)
        return said, [(s.record, s.sx, s.sy, s.rx.tolist()) for s in keymap.read_map('order.keymap')]

    told, right = read(range(6))
    said, mixed = read((2, 0, 5, 1, 4, 3))
    claim(mixed == right and 'not in the order of their records: sorted' in said and '(from 49.' in said and 'sorted' not in told,
          'shots that are mixed up are sorted, which is told, and the line runs as it does')
    said, falling = read(range(5, -1, -1))
    claim('sorted' not in said and falling[0][1] > falling[5][1], 'a line whose records fall runs from the first of the file to the last')
    shots[5] = ''.join(shots[5].splitlines(True)[:3])
    said, _ = read(range(6))
    claim('the last shot, record 1006, has 6 channels, each before it 21: was a file cut?' in said and 'was a file cut' not in told,
          'a file that is cut amid its last shot')


def test_p190_faults():
    good = p190(3).split('\n')
    at = next(i for i, line in enumerate(good) if line.startswith('S'))

    def bad(words, what, lines, *more):
        put('bad.p190', '\n'.join(lines))
        refused(words, what, 'p190', 'bad.p190', '--source-depth', 6, '-o', 'bad.keymap', *more)

    def changed(i, line):
        return good[:i] + [line] + good[i + 1 :]

    bad("bad.p190, line 4: easting (columns 47-55): '5000X0.0' is no number", 'a letter in a number',
        changed(at, good[at][:46] + ' 5000X0.0' + good[at][55:]))
    bad('line 5: northing (columns 15-23): is blank', 'a blank northing',
        changed(at + 1, good[at + 1][:14] + ' ' * 9 + good[at + 1][23:]))
    bad('line 5: the line ends in column 60', 'a cut line', changed(at + 1, good[at + 1][:60]))
    bad('line 5: the streamer (column 80) is blank, and of other lines it is 1: is the line cut?', 'a line cut behind a group',
        changed(at + 1, good[at + 1][:54]))
    bad('source point 1001 has receiver group 1 more than once', 'a group twice',
        good[: at + 2] + [good[at + 1]] + good[at + 2 :])
    bad('stands in line 4 already', 'a point twice', good + good[at : at + 8])
    bad('receivers (R) before any source', 'no source', good[:at] + good[at + 1 : at + 4])
    bad('is this a P1/90 file?', 'headers only', good[:at])
    bad('unknown record', 'a line of numbers', changed(at + 2, '12345'))
    bad('has no receivers', 'a shot without receivers', good + [s_record(2000, 0.0, 0.0)])
    bad("has no source '7'", 'a source that is not there', good, '--source', 7)
    put('empty.p190', '')
    refused('is empty', 'an empty file', 'p190', 'empty.p190', '--source-depth', 6, '-o', 'bad.keymap')
    refused('no such file', 'a missing file', 'p190', 'nosuch.p190', '--source-depth', 6, '-o', 'bad.keymap')
    refused('is a folder', 'a folder', 'p190', '.', '--source-depth', 6, '-o', 'bad.keymap')
    put('nul.p190', 'H\0\0\0')
    refused('is not a text file', 'a binary file', 'p190', 'nul.p190', '--source-depth', 6, '-o', 'bad.keymap')
    refused('--source-depth', 'no source depth', 'p190', 'line.p190', '-o', 'bad.keymap')
    refused('out of range', 'an infinite source depth', 'p190', 'line.p190', '--source-depth', 'inf', '-o',
            'bad.keymap')
    refused('does not exist', 'a folder that is not there', 'p190', 'line.p190', '--source-depth', 6, '-o',
            'nosuch/bad.keymap')
    refused('did you mean --source-depth', 'a misspelt option', 'p190', 'line.p190', '--source-dept', 6, '-o',
            'bad.keymap')
    refused('write auto, or degrees', 'azimuth north', 'p190', 'line.p190', '--source-depth', 6, '--azimuth', 'north',
            '-o', 'bad.keymap')


# --- SPS ----------------------------------------------------------------------------------------------------


def point(kind, line, number, east, north, depth, elevation, revision):
    if revision == '2.1':
        head = f'{kind}{line:10.2f}{number:10.2f}  1{"":2s}{"":4s}{depth:4.1f}'.ljust(46)
    else:
        head = f'{kind}{line:>16.0f}{number:>8.0f}1{"":2s}{"":4s}{depth:4.1f}'.ljust(46)
    return f'{head}{east:9.1f}{north:10.1f}{elevation:6.1f}001000000\n'


def relation(record, line, number, first, last, rline, rfirst, rlast, revision):
    if revision == '2.1':
        source = f'X     1{record:8d}11{line:10.2f}{number:10.2f}1{first:5d}{last:5d}1'
        return source + f'{rline:10.2f}{rfirst:10.2f}{rlast:10.2f}1\n'
    source = f'X     1{record:4d}11{line:>16.0f}{number:>8.0f}1{first:4d}{last:4d}1'
    return source + f'{rline:>16.0f}{rfirst:>8.0f}{rlast:>8.0f}1\n'


def sps(revision, feet=False):
    """Land line to the north: receivers 25 m apart, shots between them, split spread of 10 with a gap."""
    head = f'{"H00 SPS format version num.":<32s}' + ('SPS 2.1' if revision == '2.1' else 'SPS001')
    head += ',12.10.93;\n'
    head += f'{"H201Factor to metre":<32s}0.3048\n' if feet else ''
    put(
        's.sps',
        head
        + ''.join(point('S', 10, 100 + i, 1000.0, 2012.5 + 25 * i, 3.0, 100.0, revision) for i in range(20)),
    )
    put(
        'r.sps',
        head
        + ''.join(point('R', 20, 100 + i, 1000.0, 2000.0 + 25 * i, 0.5, 100.0 + i, revision) for i in range(20)),
    )
    put(
        'x.sps',
        head
        + ''.join(
            relation(500 + i, 10, 100 + i, 1, 5, 20, 100 + i - 5, 100 + i - 1, revision)
            + relation(500 + i, 10, 100 + i, 6, 10, 20, 100 + i + 6, 100 + i + 2, revision)
            for i in range(5, 13)
        ),
    )


def test_sps():
    for revision in ('2.1', '0'):
        sps(revision)
        said = fine(f'SPS revision {revision} becomes a key-map', 'sps', 's.sps', 'r.sps', 'x.sps', '-o', 'sps.keymap',
                    '--overwrite')
        shots = keymap.read_map('sps.keymap')
        claim(
            f'SPS revision {revision}' in said
            and [s.record for s in shots] == list(range(505, 513))
            and '12 source points have no' in said,
            f'{len(shots)} shots 505 .. 512; source points without a relation are told',
        )
        s = shots[0]
        wanted = np.array([0, 1, 2, 3, 4, 11, 10, 9, 8, 7]) * 25.0
        claim(
            np.array_equal(s.channel, np.arange(1, 11))
            and np.abs(s.rx - wanted).max() < 1e-3
            and abs(s.sx - 137.5) < 1e-3,
            f'the relation file is honoured, backwards too: receivers at {s.rx.tolist()}',
        )
        claim(s.sz == -97.0 and s.rz[0] == -99.5 and s.rz[5] == -110.5,
              f'depths are point depth - elevation: {s.sz}, {s.rz[0]}, {s.rz[5]} m')
    fine('elevations can be left out', 'sps', 's.sps', 'r.sps', 'x.sps', '-o', 'sps.keymap', '--overwrite',
         '--no-elevation')
    claim(keymap.read_map('sps.keymap')[0].sz == 3.0, 'the source is then 3 m deep')
    sps('2.1', feet=True)
    fine('SPS in feet', 'sps', 's.sps', 'r.sps', 'x.sps', '-o', 'feet.keymap')
    step = keymap.read_map('feet.keymap')[0].rx[1]
    claim(abs(step - 25 * 0.3048) < 1e-3, f'25 ft are {step:.4f} m')


def test_sps_faults():
    sps('2.1')
    s, r, x = (open(f + '.sps').read() for f in 'srx')

    def bad(words, what, change, *more):
        for name, text in zip('srx', (s, r, x)):
            put(f'bad_{name}.sps', change(name, text))
        refused(words, what, 'sps', 'bad_s.sps', 'bad_r.sps', 'bad_x.sps', '-o', 'bad.keymap', *more)

    bad('has no header H00', 'no revision', lambda f, t: t.split('\n', 1)[1])
    bad('header H00 names no SPS revision', 'a nameless revision', lambda f, t: t.replace('SPS 2.1', '2.1'))
    bad('is not in the receiver file', 'a receiver that is not there',
        lambda f, t: t.replace('    103.00', '    903.00') if f == 'r' else t)
    bad('source line 10.00 point 106 index 1 is not in the source file', 'a source that is not there',
        lambda f, t: t.replace('    106.00', '    906.00') if f == 's' else t)
    bad("easting (columns 47-55): '10x0.0' is no number", 'a letter in a number',
        lambda f, t: t.replace('1000.0', '10x0.0', 1) if f == 's' else t)
    bad('must rise and come out even', 'channels backwards',
        lambda f, t: t.replace('    1    51', '    5    11', 1) if f == 'x' else t)
    bad('has another source point before', 'a record of two sources',
        lambda f, t: t.replace('     506', '     505') if f == 'x' else t)
    bad('only H and R records belong', 'the wrong file', lambda f, t: s if f == 'r' else t)
    bad('no relation records', 'no relations', lambda f, t: t.split('\n', 1)[0] + '\n' if f == 'x' else t)
    bad('with another position', 'a point in two places',
        lambda f, t: t + point('S', 10, 105, 1.0, 1.0, 3.0, 100.0, '2.1') if f == 's' else t)
    bad('point number (columns 18-25)', 'the other revision', lambda f, t: t, '--revision', '0')


# --- regular lines, info ------------------------------------------------------------------------------------


def most_memory(*arguments):
    """The largest memory of a run of the tool [bytes]."""
    child = subprocess.Popen([os.environ.get('PYTHON', sys.executable), tool.path, *map(str, arguments)], stdout=subprocess.DEVNULL)
    status, used = os.wait4(child.pid, 0)[1:]
    child.returncode = status
    claim(status == 0, f'{arguments[0]}, {arguments[-1]}: exit status {status}')
    return 1024 * used.ru_maxrss


def test_long_sps():
    """Memory of a shot of 100 channels on two lines, each shot with receivers of its own."""
    few, many = 2600, 5200                     # more than are looked at together
    used = []
    head = f'{"H00 SPS format version num.":<32s}SPS 2.1\n'
    for n in (few, many):
        put('long.s', head + ''.join(point('S', 10, 100 + i, 1000.0, 12.5 + 2.5 * i, 3.0, 100.0, '2.1') for i in range(n)))
        put('long.r', head + ''.join(point('R', line, 100 + i, 1000.0 + 10 * line, 2.5 * i, 0.5, 100.0 + i % 7, '2.1')
                                     for line in (20, 21) for i in range(n + 50)))
        put('long.x', head + ''.join(relation(1 + i, 10, 100 + i, 50 * k + 1, 50 * k + 50, 20 + k, 100 + i, 149 + i, '2.1')
                                     for i in range(n) for k in (0, 1)))
        used.append(most_memory('sps', 'long.s', 'long.r', 'long.x', '--overwrite', '-o', f'long{n}.keymap'))
    each = (used[1] - used[0]) / (many - few)
    claim(each < 17000, f'SPS, {many} shots of 100 channels: {used[1] / 1e6:.0f} MB, {each / 1e3:.1f} kB more for each more shot, bound 17 kB')


def test_line():
    fine('a regular streamer line', 'line', '--shots', 12, '--first-x', 3500, '--shot-interval', 200, '--source-depth',
         6, '--first-record', 101, '--first-offset', 125, '--interval', 25, '--channels', 96, '--depth', 8, '-o',
         'demo.keymap')
    made, shipped = (
        keymap.read_map(p) for p in ('demo.keymap', os.path.join(ROOT, 'keymaps', 'demo12.keymap'))
    )
    same = all(
        a.record == b.record
        and a.sx == b.sx
        and a.sz == b.sz
        and np.array_equal(a.rx, b.rx)
        and np.array_equal(a.rz, b.rz)
        for a, b in zip(made, shipped)
    )
    claim(same and len(made) == len(shipped) == 12, 'it is the same as keymaps/demo12.keymap: 12 shots of 96 channels')
    claim('spread cable streamer' in open('demo.keymap').read() and not os.path.exists('demo.receivers'),
          'and is written as a streamer')
    fine('a fixed spread', 'line', '--shots', 3, '--first-x', 0, '--shot-interval', -50.5, '--source-depth', 6,
         '--spread-x', 100, '--interval', 12.5, '--channels', 20, '--depth', 900, '-o', 'fixed.keymap')
    shots = keymap.read_map('fixed.keymap')
    claim(shots[2].sx == -101 and shots[2].rx[19] == 337.5 and 'fixed' in open('fixed.keymap').read(),
          'is written as one')
    said = fine('info tells what a map holds', 'info', 'demo.keymap', '--shots')
    claim('12 shots to model, 0 skipped' in said and '96 channels' in said and said.count('\n') >= 17,
          'summary and a line a shot')
    refused('either --first-offset', 'no spread', 'line', '--shots', 3, '--first-x', 0, '--shot-interval', 5,
            '--source-depth', 6, '--interval', 12.5, '--channels', 20, '--depth', 900, '-o', 'bad.keymap')
    refused('need --shot-interval', 'no interval', 'line', '--shots', 3, '--first-x', 0, '--source-depth', 6,
            '--spread-x', 1, '--interval', 12.5, '--channels', 20, '--depth', 900, '-o', 'bad.keymap')
    refused('the last record would be', 'records beyond the limit', 'line', '--shots', 3, '--first-x', 0,
            '--source-depth', 6, '--spread-x', 1, '--interval', 12.5, '--channels', 20, '--depth', 9, '--shot-interval',
            5, '--first-record', 2147483647, '-o', 'bad.keymap')
    put('wrong.keymap', 'shot 1 2 3 nowhere\nshoot 2\nshot x 2 3 nowhere\n')
    status, text = tool('info', 'wrong.keymap')
    claim(status == 1 and '3 faults' in text and "unknown spread 'nowhere'" in text,
          'info tells all faults of a map: ' + text.strip())
    status, text = tool()
    claim(status == 0 and 'spl-keymap p190' in text, 'without arguments it describes itself')


def told_of(text, lists='list r\n1 10 5\n2 20 5\n'):
    """The faults of a key-map in words, '' if there is none."""
    put('some.lists', lists)
    put('some.keymap', text, newline='')
    try:
        keymap.read_map('some.keymap')
    except Failure as failure:
        return str(failure)
    return ''


def processor_time(*arguments):
    """The least of two runs of the tool [s], and what the last one printed."""
    spent = []
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ran = subprocess.run([os.environ.get('PYTHON', sys.executable), tool.path, *map(str, arguments)], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent), ran.stderr


def test_long_line():
    """A line of 20,000 shots costs little more than the start of the tool: some 0.5 s."""
    words = ('--first-x', 3000, '--shot-interval', 12.5, '--source-depth', 6, '--interval', 12.5, '--depth', 8)
    usual, _ = processor_time('info', 'demo.keymap')
    for kind in (('--first-offset', 150), ('--spread-x', 500)):
        spent, why = processor_time('line', '--shots', 20000, '--channels', 160, *words, *kind, '-o', 'long.keymap', '--overwrite')
        claim(spent < 8 * usual, f'20,000 shots of 160 channels, {kind[0]}: {spent:.2f} s of processor time, {spent / usual:.1f} times '
              f'that of info on 12 shots, bound 8 {why}')
        shots = keymap.read_map('long.keymap')
        start = np.array([s.sx for s in shots])
        first = np.array([s.rx[0] - (s.sx if kind[0] == '--first-offset' else 0) for s in shots])
        claim(len(shots) == 20000 and np.array_equal(start, 3000 + 12.5 * np.arange(20000)) and (np.abs(first) == kind[1]).all(),
              f'all {len(shots)} of them where they should be')
    for shots, channels, why in ((1, 10000000, '10000000'), (10000, 1000000, 'more than 1000000000 traces')):
        refused(why, f'{shots} shots of {channels} channels', 'line', '--shots', shots, '--channels', channels, *words, '--first-offset',
                150, '-o', 'bad.keymap')


def test_faults_of_maps():
    """info refuses the key-maps that the modelling refuses, and takes the others (t342 asks the modelling itself)."""
    cable = 'spread c streamer first=100 interval=12.5 channels=10 depth=8\n'
    shot = 'shot 1 0 6 c\n'
    rest = ' x0=0 dx=25 z=6 spread=c\n'
    for what, text, words in (
        ('an underscore in a number', 'shot 3 1_000 6 c\n', "line 2: sx is '1_000'"),
        ('a depth of 2000 km', 'shot 3 0 2e6 c\n', 'line 2: sz = 2e6 is out of range -1e6..1e6 m'),
        ('a source a million km away', 'shot 3 -1e9 6 c\n', 'sx = -1e9 is out of range -1e8..1e8 m'),
        ('a y beyond the Earth', 'shot 3 0 6 c y=2e8\n', 'y = 2e8 is out of range'),
        ('records backwards', 'shots first_record=9 n=3 step=-3' + rest, 'step = -3 is out of range 1..2147483647'),
        ('half a range', shot + 'skip 1-\n', "line 3: record is ''"),
        ('a range backwards', shot + 'shot 5 0 6 c\nskip 5-1\n', 'skip 5-1: the first record is above the last'),
        ('one of two that is not there', shot + 'shot 2 0 6 c\nskip 1 5\n', 'skip 5: there is no such shot'),
        ('no record to skip', shot + 'skip\n', 'skip needs record numbers'),
        ('digits of another script', 'shot \u0663 0 6 c\n', 'a whole number is needed'),
        ('a coordinate in them', 'shot 3 \u0661\u0660 6 c\n', 'a finite decimal number is needed'),
        ('a blank of another kind', 'shot 3\u00a00 6 c\n', '3 column(s) after the word shot'),
        ('a record twice', shot + shot, 'line 3: record 1 is in line 2 already'),
        ('an unknown status', 'shot 1 0 6 c done\n', "unknown status 'done'"),
        ('an unknown key', 'shot 1 0 6 c x=3\n', "unknown word 'x' in a shot"),
        ('a key twice', 'shot 1 0 6 c y=1 y=2\n', 'y= is given twice'),
        ('a key without value', 'shot 1 0 6 c y=\n', 'a value is missing after y='),
        ('an open quote', 'shot 1 0 6 "c\n', 'is never closed'),
        ('a spread twice', cable + shot, "line 2: spread 'c' is defined already"),
        ('all shots skipped', 'shot 1 0 6 c skip\n', 'nothing is left to model'),
        ('no shots', '\n', 'has no shots'),
        ('too many receivers', 'shots first_record=1 n=20000 x0=0 dx=1 z=6 spread=f\n'
         'spread f fixed x0=0 interval=0.01 channels=100000 depth=9\n', '2000000000 receivers together'),
        ('a list that is not there', shot + 'spread d list some.lists\n', "no list 'd' in some.lists"),
    ):
        told = told_of(cable + text)
        claim(words in told, f'{what}: {told or "nothing is said"}')
    told = told_of(cable + 'shot 0 0 6 c\nshot -1 0 6 c\nshot 99999999999 0 6 c\nshot 3 x 6 d\nshot 4 0 6 d\n')
    claim(all(w in told for w in ('5 faults', 'record = 0 ', 'record = -1 ', 'record = 99999999999 ', "sx is 'x'", "spread 'd'")),
          'records out of range are told beside other faults: ' + told)
    for what, lists, words in (
        ('a receiver 2000 km deep', 'list r\n1 10 2e6\n', 'some.lists, line 2: z = 2e6 is out of range'),
        ('channel 0', 'list r\n0 10 5\n', 'channel = 0 is out of range'),
        ('a channel twice', 'list r\n1 10 5\n1 20 5\n', "list 'r' has channel 1 more than once"),
        ('an empty list', 'list r\nlist s\n1 10 5\n', "list 'r' has no receivers"),
    ):
        told = told_of('lists some.lists\nshot 1 0 6 r\n', lists)
        claim(words in told, f'{what}: {told or "nothing is said"}')
    told = told_of('\ufeff' + cable + 'SHOT 0001 .5\f+6.d0 c Skip y = -3\rshot 2 5. 0e-99 c#k\r\n'
                   'lists some.lists\nshot 5 1e6 6 r\nshot 7 0 6 r\nskip 7 5-6\n')
    claim(told == '', f'odd but right: {told or "nothing is said"}')


test_p190()
test_p190_depths()
test_p190_order()
test_p190_faults()
test_sps()
test_sps_faults()
test_long_sps()
test_line()
test_long_line()
test_faults_of_maps()
done()
