#!/usr/bin/env python3
"""Shot points with fractions come through key-map, modelling, SEG-Y and SU and back as finely as headers hold them."""
import os
from pathlib import Path

import segyio

from check import claim, done
from toolrun import Tool
import minisurvey
from spltools.geometry import keymap
import spltools as spl

F = segyio.TraceField
os.environ['SPL_BIN'] = os.path.join(os.environ['B'], 'bin')
keymap_tool, export = Tool('spl-keymap', 'bad.keymap'), Tool('spl-export', 'bad.segy')
minisurvey.make(shots=3)


def points_back(name, endings='segy'):
    """Shot points of a file of gathers after spl-export and spl-keymap, by the ending of the file between."""
    found = []
    for ending in endings.split():
        export.fine(f'{name}: exported', f'{name}.nc', '-o', f'{name}.{ending}')
        keymap_tool.fine('and made a key-map of', 'segy', f'{name}.{ending}', '-o', f'{name}_{ending}.keymap')
        found.append([shot.point for shot in keymap.read_map(f'{name}_{ending}.keymap')])
    return found


def headers(name):
    """Bytes 17, 197 and 201 of the first trace of each shot."""
    with segyio.open(f'{name}.segy', ignore_geometry=True) as f:
        return [(h[F.EnergySourcePoint], h[F.ShotPoint], h[F.ShotPointScalar]) for h in f.header[::2]]


def survey(name, points, first=1):
    rows = ''.join(f'shot {i + first} {300 + 20 * i} 20 near e={300 + 20 * i} n=0' + f' point={p}' * (p is not None) + '\n'
                   for i, p in enumerate(points))
    Path(f'{name}.keymap').write_text('navigation crs=local e0=0 n0=0 azimuth=90\n'
                                      'spread near streamer first=100 interval=20 channels=2 depth=20 direction=1\n' + rows)
    spl.run(par='job.par', keymap=f'{name}.keymap', output=f'{name}.nc')


survey('halves', [101.5, 102.5, 103.0])
segy, su = points_back('halves', 'segy su')
claim([row[1:] for row in headers('halves')] == [(10150, -100), (10250, -100), (10300, -100)],
      f'halves in hundredths: {headers("halves")}')
claim(segy == [101.5, 102.5, 103.0], f'come back: {segy}')
claim(su == [102.0, 102.0, 103.0], f'SU holds whole ones, the nearest: {su}')
survey('eighths', [0.5, 101.125, 102.0625])
segy, = points_back('eighths')
claim([row[1:] for row in headers('eighths')] == [(5000, -10000), (1011250, -10000), (1020625, -10000)],
      f'finer ones in ten thousandths: {headers("eighths")}')
claim(segy == [0.5, 101.125, 102.0625], f'come back: {segy}')
survey('large', [9000001.125, 9000002.0, 9000003.0])
segy, = points_back('large')
claim([row[2] for row in headers('large')] == [-100] * 3 and abs(segy[0] - 9000001.125) < 0.00501 and segy[1:] == [9000002.0, 9000003.0],
      f'in hundredths where ten thousandths do not fit 32 bits: {segy}')
survey('without', [101.5, None], first=6)
segy, = points_back('without')
claim(headers('without') == [(102, 10150, -100), (7, 700, -100)] and segy == [101.5, 7.0], f'a shot without one has its record: {headers("without")}')
survey('beyond', [101.5, None], first=91010999)
export.refused('shot point 91011000 does not fit the trace header', 'a record that hundredths of do not fit', 'beyond.nc', '-o', 'bad.segy')
done()
