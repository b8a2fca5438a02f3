#!/usr/bin/env python3
"""Navigation and models of odd form: what cannot be placed is refused, what can is where the file says."""
import time

import numpy as np

from check import claim, done
from toolrun import Tool
from spltools.geometry import keymap
from spltools.geometry.p190 import fill_depths
from spltools.geometry.shots import Shot

tool = Tool('spl-keymap', 'bad.keymap')
FOOT = 0.304800609601
EAST, NORTH = 412000.0, 6700000.0


def put(path, lines, end='\n'):
    with open(path, 'w', newline='') as file:
        file.write(end.join(lines) + end)


# --- P1/90 --------------------------------------------------------------------------------------------------


def header(code, what, text):
    return f'{code + what:<32s}{text}'


def p190(blank=None):
    """3 shots 50 m apart, a streamer of 4 groups from 200 m on; at 0, 0: all, or of the second shot the group `blank`, 0 the source."""
    lines = []
    for shot in range(3):
        zero = blank if shot == 1 or blank == 'all' else None
        e, n = (0, 0) if zero in (0, 'all') else (EAST + 50 * shot, NORTH)
        lines.append(f'{"SLINE-1":<16s}11 {1001 + shot:6d}{"":21s}{e:9.1f}{n:9.1f}{50.0:6.1f}123010203')
        for first in (1, 4):
            line = 'R'
            for group in range(first, min(first + 3, 5)):
                e, n = (0, 0) if zero in (group, 'all') else (EAST + 50 * shot - 200 - 25 * group, NORTH)
                line += f'{group:4d}{e:9.1f}{n:9.1f} 7.5'
            lines.append(f'{line:<79s}1')
    return lines


def line_of(lines, out='bad.keymap', end='\n'):
    put('line.p190', lines, end)
    return ('p190', 'line.p190', '--source-depth', 6, '-o', out, '--overwrite')


GRID = header('H2000', 'GRID UNITS', '1METRES                   1.000000000000')
for name, text, factor in (('metres', '1METRES                  1.000000000000', 1), ('metres by a whole number', '1METRES  1', 1),
                           ('feet', '2US SURVEY FEET          0.304800609601', FOOT),
                           ('feet without a 0 before the point', '2US SURVEY FEET           .304800609601', FOOT),
                           ('feet with a comma', '2US SURVEY FEET          0,304800609601', FOOT)):
    tool.fine(f'P1/90 in {name}', *line_of([header('H2000', 'GRID UNITS', text)] + p190(), 'good.keymap'))
    shots = keymap.read_map('good.keymap')
    step = np.diff([s.sx for s in shots])
    claim(np.abs(step - 50 * factor).max() < 1e-3, f'shots are {step[0]:.4f} m apart, made with {50 * factor:.4f} m')
for name, code, text, words in (('feet without a factor', 'H2000', '2INTERNATIONAL FEET', 'no factor'),
                                ('feet a metre', 'H2000', '2FEET                    3.280839895013', 'the factor 3.28084'),
                                ('depths in feet without a factor', 'H2001', '2FEET', 'header H2001 says feet'),
                                ('chains without a factor', 'H2000', '2CHAINS', 'no factor')):
    tool.refused(words, f'P1/90, {name}', *line_of([header(code, 'GRID UNITS', text)] + p190()))
good = [GRID] + p190()
tool.fine('P1/90 with CR LF and blank lines', *line_of(good[:3] + ['', '  '] + good[3:] + [''], 'good.keymap', end='\r\n'))
claim([len(s.channel) for s in keymap.read_map('good.keymap')] == [4] * 3, 'has all its channels')
lower = [GRID] + [line.lower() if i == 4 else line for i, line in enumerate(p190())]
tool.refused("line 6: unknown record 'r", 'P1/90, a record in small letters, which was left out', *line_of(lower))
tabs = [line.replace(' ' * 16, ' ' * 14 + '\t', 1) if line[0] == 'S' else line for line in good]
tool.refused('line 2: a tab', 'P1/90, a tab for two blanks, which moved eastings by a column', *line_of(tabs))
tool.refused('1 trace with a source or receiver at easting 0, northing 0', 'P1/90, a group at 0, 0', *line_of([GRID] + p190(blank=3)))
tool.refused('the source of record 1002', 'P1/90, a source at 0, 0', *line_of([GRID] + p190(blank=0)))
tool.refused('all sources and receivers lie at easting 0', 'P1/90, no positions of a map', *line_of([GRID] + p190(blank='all')))


def streamers(first):
    """The shots with a second streamer 100 m south of the first one and 1 m deeper, whose groups begin at `first`."""
    lines = []
    for line in p190():
        lines.append(line)
        if line[0] == 'R':
            other = 'R' + ''.join(f'{int(line[k:k + 4]) + first - 1:4d}{line[k + 4:k + 13]}{NORTH - 100:9.1f} 8.5'
                                  for k in range(1, 79, 26) if line[k:k + 26].strip())
            lines.append(f'{other:<79s}2')
    return lines


tool.refused('holds the streamers 1, 2: choose one with --streamer, or for modelling in 3D --streamer all', 'P1/90 of two streamers',
             *line_of([GRID] + streamers(1)))
for first, told in ((1, 'channels are their groups, plus 4 for 2'), (5, 'all their groups have numbers of their own')):
    said = tool.fine(f'P1/90 of two streamers, groups of the second from {first}',
                     *line_of([GRID] + streamers(first), 'good.keymap'), '--streamer', 'all', '--azimuth', 'none')
    shots = keymap.read_map('good.keymap')
    order = [np.argsort(s.channel) for s in shots]
    claim(told in said and all(list(s.channel[k]) == list(range(1, 9)) and list(s.rz[k]) == [7.5] * 4 + [8.5] * 4
                               and np.allclose(s.ry[k] - s.sy, [0] * 4 + [-100] * 4) and np.allclose(s.rx[k][:4], s.rx[k][4:])
                               for s, k in zip(shots, order)), 'has a channel for each group of both, each at its place')
    claim('--keep-offset' not in said, 'which --azimuth none refuses is not advised')
second = [line.replace('SLINE-1', 'SLINE-2') for line in p190()]
tool.refused("source point 1001 of line 'LINE-2' stands in line 2 as one of line 'LINE-1': give --renumber",
             'P1/90, two lines with the same points', *line_of([GRID] + p190() + second))
tool.fine('P1/90, two lines with the same points', *line_of([GRID] + p190() + second, 'good.keymap'), '--renumber')
claim([(s.record, s.point) for s in keymap.read_map('good.keymap')] == [(i + 1, 1001 + i % 3) for i in range(6)], 'are six shots')
tool.refused('stands in line 2 already', 'P1/90, a line twice', *line_of([GRID] + p190() + p190()), '--renumber')
many = [Shot(i + 1, 50.0 * i, 0.0, 6.0, np.arange(1, 4), np.zeros(3), np.zeros(3), np.array([np.nan if i % 2 else 7.0, 8.0 + i, np.nan]))
        for i in range(40000)]
begun = time.process_time()
fill_depths(many, None)
took = time.process_time() - begun
claim(took < 30 and many[1].rz[0] == 7.0, f'blank depths of 40000 shots are filled in {took:.1f} s, from neighbours')


# --- SPS ----------------------------------------------------------------------------------------------------


def sps(sources, receivers, relation, units=((), ()), out='bad.keymap'):
    """Files of SPS 2.1: sources and receivers {point: easting}, relation (source, first, last receiver, channels) a record."""
    head = [header('H00 ', 'SPS format version num.', 'SPS 2.1')]
    for path, kind, points, unit in (('f.s', 'S', sources, units[0]), ('f.r', 'R', receivers, units[1])):
        put(path, head + list(unit) + [f'{kind}{"1.00":>10s}{p:>10s}  1{"":22s}{e:9.1f}{7000.0:10.1f}{0.0:6.1f}' for p, e in points.items()])
    put('f.x', head + [f'X{"1":>6s}{900 + i:8d}1 {"1.00":>10s}{s:>10s}1{1:5d}{n:5d}1{"1.00":>10s}{a:>10s}{b:>10s}1'
                       for i, (s, a, b, n) in enumerate(relation)])
    return 'sps', 'f.s', 'f.r', 'f.x', '--azimuth', 'none', '-o', out, '--overwrite'


SOURCES = {'101.00': 5000.0, '102.00': 5050.0}
FINE = {f'{201 + k / 100:.2f}': 5000.0 + 2 * k for k in range(11)}
tool.fine('SPS points a hundredth apart', *sps(SOURCES, FINE, [('101.00', '201.00', '201.10', 11), ('102.00', '201.02', '201.06', 3)], out='good.keymap'))
shots = keymap.read_map('good.keymap')
claim([list(s.rx) for s in shots] == [[5000.0 + 2 * k for k in range(11)], [5004.0, 5008.0, 5012.0]], 'are where they should be')
for path in ('f.s', 'f.r', 'f.x'):
    with open(path, 'a') as file:
        file.write('EOF\n')
tool.fine('SPS files that end with EOF', 'sps', 'f.s', 'f.r', 'f.x', '--azimuth', 'none', '-o', 'good.keymap', '--overwrite')
tool.refused('point 201.025 index 1 is not in the receiver file', 'channels between points a hundredth apart, which the nearest were taken for',
             *sps(SOURCES, FINE, [('101.00', '201.00', '201.10', 5)]))
tool.fine('SPS points a thousandth apart',
          *sps({'101.001': 5000.0, '101.002': 5050.0}, FINE, [(point, '201.00', '201.02', 3) for point in ('101.001', '101.002')],
               out='good.keymap'))
claim([s.sx for s in keymap.read_map('good.keymap')] == [5000.0, 5050.0], 'are two')
ONE = [('101.00', '201.00', '201.00', 1)]
FEET, FACTOR = header('H20 ', 'Coordinate units', 'US SURVEY FEET'), header('H201', 'Factor to metre', '0.30480061')
HOLES = [('101.00', '201.00', '201.10', 11), ('102.00', '201.02', '201.02', 1), ('103.00', '201.00', '201.10', 11)]
lacking = {point: at for point, at in FINE.items() if point not in ('201.02', '201.07')}
tool.refused('source line 1.00 point 103 index 1 is not in the source file', 'SPS, relations of points that are missing',
             *sps(SOURCES, lacking, HOLES))
said = tool.fine('SPS, relations of points that are missing', *sps(SOURCES, lacking, HOLES, out='good.keymap'), '--skip-missing')
shots = keymap.read_map('good.keymap')
claim([list(s.channel) for s in shots] == [[1, 2, 4, 5, 6, 7, 9, 10, 11]] and list(shots[0].rx) == [5000.0 + 2 * (c - 1) for c in shots[0].channel]
      and '1 relation record left out whose source is not' in said and '3 channels left out whose receiver is not' in said,
      'are left out, which is told; channels keep their numbers and places')
tool.refused('point 201.025 index 1 is not in the receiver file', 'channels between points, whatever may be missing',
             *sps(SOURCES, FINE, [('101.00', '201.00', '201.10', 5)]), '--skip-missing')
tool.refused('2 of 3 channels are on receivers that the receiver file lacks', 'receivers of another survey',
             *sps(SOURCES, lacking, [('101.00', p, p, 1) for p in ('201.02', '201.07')] + [('102.00', '201.00', '201.00', 1)]), '--skip-missing')
words = sps(SOURCES, FINE, ONE, out='good.keymap')
with open('f.r') as file:
    lines = [line[:40] + '1234.5' + line[46:] if line[0] == 'R' else line for line in file]
with open('f.r', 'w') as file:
    file.writelines(lines)
said = tool.fine('SPS of nodes', *words)
claim('all receivers are at depth 0, in water of up to 1234.5: give --on-floor' in said, 'the water above them is told')
said = tool.fine('SPS of nodes on the sea floor', *words, '--on-floor')
claim('all receivers are' not in said and list(keymap.read_map('good.keymap')[0].rz) == [1234.5], 'they are at its depth')
OTHER = [header('H200', 'Description of grid units', 'American Feet;'), header('H120', 'Geodetic datum', 'N/A,N/A;'),
         header('H180', 'Projection type', 'Lambert;')]
for feet in ([FEET], OTHER):
    tool.refused('header H201 says feet', f'SPS in feet without a factor, {feet[0][:4]}', *sps(SOURCES, FINE, ONE, (feet, feet)))
tool.fine('SPS, headers of four characters', *sps(SOURCES, FINE, ONE, (OTHER + [FACTOR], OTHER + [FACTOR]), 'good.keymap'))
claim('crs=Lambert ' in open('good.keymap').read(), 'tell the projection, without what is N/A')
tool.fine('SPS in feet', *sps(SOURCES, FINE, ONE, ([FEET, FACTOR], [FEET, FACTOR]), 'good.keymap'))
claim(abs(keymap.read_map('good.keymap')[0].sx - 5000 * FOOT) < 1e-2, 'are metres')
tool.refused('f.s gives the factor 0.30480061 to metres and f.r 1 ', 'SPS, only sources in feet', *sps(SOURCES, FINE, ONE, ([FEET, FACTOR], [])))
done()
