#!/usr/bin/env python3
"""What spl-keymap tells of odd navigation is so: spreads of several receiver lines, streamers that count alike, P1/11, offsets along
a line to the north, large coordinates. A demo leaves alone what is in a folder that it was given."""
import os
import subprocess
from pathlib import Path

import numpy as np

from check import claim, done
from spltools.geometry import keymap
from spltools.geometry.segy_layout import FIELDS
from toolrun import Tool

tool = Tool('spl-keymap', 'bad.keymap')
ROOT = Path(os.environ['ROOT'])


def put(path, lines):
    Path(path).write_text('\n'.join(lines) + '\n')


# --- several receiver lines ---------------------------------------------------------------------------------------------------------

def point(kind, line, number, east, north):
    return f'{kind}{line:10.2f}{number:10.2f}  1{"":6s}{0:4.1f}'.ljust(46) + f'{east:9.1f}{north:10.1f}{0:6.1f}'


def relation(record, channel, line, number):
    return (f'X     1{record:8d}11{1:10.2f}{record:10.2f}1{channel:5d}{channel + 7:5d}1'
            f'{line:10.2f}{number:10.2f}{number + 7:10.2f}1')


def receivers_of_two_lines():
    """Two lines 60 m apart, points every 15 m, a split spread with a hole of 4 points on the first, nothing on end on the second."""
    head = [f'{"H00 SPS format version num.":<32s}SPS 2.1']
    put('s.sps', head + [point('S', 1, i, 15.0 * i, 30.0) for i in (1, 2, 3)])
    put('r.sps', head + [point('R', line, i, 15.0 * i, 60.0 * (line - 10)) for line in (10, 11) for i in range(40)])
    put('x.sps', head + [text for i in (1, 2, 3) for text in
                         (relation(i, 1, 10, 2 * i), relation(i, 9, 10, 2 * i + 11), relation(i, 17, 11, 2 * i))])
    told = tool.fine('SPS with spreads of two receiver lines', 'sps', 's.sps', 'r.sps', 'x.sps', '-o', 'two.keymap')
    claim('groups 15.00 m apart; 0 .. 1 gaps a receiver line, the largest 60.0 m' in told and 'feathering 0.00 degrees' in told,
          'neighbours are those of one line: ' + next(line for line in told.split('\n') if line.startswith('groups')))
    told = tool.fine('and info', 'info', 'two.keymap')
    claim('groups 15.00 m apart; 0 .. 1 gaps a receiver line' in told, 'tells the same of the key-map')


# --- P1/90 and P1/11 ----------------------------------------------------------------------------------------------------------------

def source(number, east, north):
    return f'{"S" + "LINE-1":<16s}11 {number:>6d}{"":21s}{east:9.1f}{north:9.1f}'.ljust(80)


def groups(streamer, east, north):
    return 'R' + ''.join(f'{i + 1:4d}{east - 12.5 * i:9.1f}{north:9.1f}{8.0:4.1f}' for i in range(3)).ljust(78) + streamer


def marine_files():
    each = [[source(100 + i, 435000.0 + 25 * i, 6613000.0), groups('1', 434900.0 + 25 * i, 6613000.0),
             groups('2', 434900.0 + 25 * i, 6613100.0)] for i in range(3)]
    put('two.p190', sum(each, []))
    tool.refused('holds the streamers 1, 2: choose one with --streamer', 'streamers that both count their groups from 1',
                 'p190', 'two.p190', '--source-depth', 6, '-o', 'bad.keymap')
    told = tool.fine('one of them', 'p190', 'two.p190', '--source-depth', 6, '--streamer', 1, '-o', 'one.keymap')
    claim('y = 6613000.00 m everywhere' in told, 'northings are told to 1 cm')
    told = tool.fine('on a line from an origin elsewhere', 'p190', 'two.p190', '--source-depth', 6, '--streamer', 1,
                     '--azimuth', 90, '--origin', 400000, 6600000, '-o', 'far.keymap')
    claim('0.00 m rms off the line, 0.00 m at most' in told, 'sources are compared with the line through them, not with y = 0')
    odd = f'{"H1800PROJECTION":<32s}UTM\x07 ZONE 31\x1a'
    put('bell.p190', [odd, *each[0], *each[1]])
    tool.fine('a header with control characters', 'p190', 'bell.p190', '--source-depth', 6, '--streamer', 1, '-o', 'bell.keymap')
    tool.fine('makes a key-map that can be read', 'info', 'bell.keymap')
    with open('utf8.p190', 'w', encoding='utf-8') as file:
        file.write('\n'.join([*each[0], *each[1]]).replace('LINE-1', 'L\xcdNE-1'))
    tool.refused('a letter of two bytes or more (UTF-8), behind which columns are not known', 'a name of a line in UTF-8, which moves columns',
                 'p190', 'utf8.p190', '--source-depth', 6, '--streamer', 1, '-o', 'bad.keymap')
    with open('mark.p190', 'w', encoding='utf-8-sig') as file:
        file.write('\n'.join([*each[0], *each[1]]))
    tool.fine('a file with the mark of UTF-8', 'p190', 'mark.p190', '--source-depth', 6, '--streamer', 1, '-o', 'mark.keymap')
    claim([(s.record, s.map_source) for s in keymap.read_map('mark.keymap')] == [(s.record, s.map_source) for s in keymap.read_map('bell.keymap')],
          'is the same survey')
    put('new.p111', ['OGP,OGP P1,1,1.1,1,2013:06:01,12:00:00,line.p111', 'HC,0,1,0,Project Name,1,EXAMPLE',
                     'S1,0,LINE7A,1,101,1,,1,4,G1,1,2013:06:01:12:00:00.0,435524.40,6613004.20'])
    tool.refused('is a P1/11 file', 'P1/11', 'p190', 'new.p111', '--source-depth', 6, '-o', 'bad.keymap')


# --- SEG-Y with offsets instead of receivers ----------------------------------------------------------------------------------------

def offsets_alone(path, azimuth):
    """Sources every 50 m along an azimuth, three channels at offsets -100, -125, -150 m, no coordinates of groups."""
    binary = np.zeros(200, '>i2')
    binary[[8, 10, 12, 27]] = 4000, 2, 5, 1
    with open(path, 'wb') as file:
        file.write(b' ' * 3200 + binary.tobytes())
        for shot in range(4):
            for channel in range(3):
                e = 435000 + 50 * shot * np.sin(np.radians(azimuth))
                n = 6613000 + 50 * shot * np.cos(np.radians(azimuth))
                header = bytearray(248)
                for name, value in {'record': 10 + shot, 'channel': channel + 1, 'kind': 1, 'ns': 2, 'offset': -100 - 25 * channel,
                                    'scalco': -100, 'sx': round(100 * e), 'sy': round(100 * n)}.items():
                    first, width = FIELDS[name]
                    header[first - 1:first - 1 + width] = value.to_bytes(width, 'big', signed=True)
                file.write(header)


def receivers_behind_the_boat():
    for azimuth in (0.0, 53.0, 270.0):
        offsets_alone('offsets.segy', azimuth)
        tool.fine(f'offsets alone, sources along {azimuth:g} degrees', 'segy', 'offsets.segy', '-o', 'offsets.keymap', '--overwrite')
        shots = keymap.read_map('offsets.keymap')
        along = -1 if azimuth == 270 else 1         # y is the same everywhere: x stays that of the file
        off = max(np.hypot(s.rx - s.sx + [100, 125, 150], s.ry - s.sy).max() for s in shots)
        step = max(abs(b.sx - a.sx - 50 * along) for a, b in zip(shots, shots[1:]))
        claim(off < 0.02 and step < 0.02, f'puts the receivers along x by their offsets, to {off:.4f} m')


# --- demos --------------------------------------------------------------------------------------------------------------------------

def demos_keep_folders():
    bin_folder = Path('programs/bin')
    bin_folder.mkdir(parents=True)
    for name in ('SplSemmod', 'SplFd3dmod', 'SplFd2dmod'):
        (bin_folder / name).write_text('#!/bin/sh\nexit 7\n')
        (bin_folder / name).chmod(0o755)
    kept = Path('kept')
    kept.mkdir()
    (kept / 'thesis.txt').write_text('years of work')
    for demo in ('demosem', 'demo3d'):
        ran = subprocess.run([ROOT / 'tools' / demo, 'programs', '1000'], env={**os.environ, 'FOLDER': 'kept'}, capture_output=True)
        claim(ran.returncode == 7 and (kept / 'thesis.txt').exists(), f'{demo} leaves what is in FOLDER')


receivers_of_two_lines()
marine_files()
receivers_behind_the_boat()
demos_keep_folders()
done()
